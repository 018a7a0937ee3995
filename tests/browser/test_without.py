"""Without a browser: which one is looked for, and that a run says plainly what it left out."""

import os
import subprocess
import sys

import pytest

from browser.conftest import ROOT, WITHOUT, find_chromium


def test_a_browser_is_found_or_named():
    on_path = {"google-chrome": "/opt/chrome", "mine": "/mine"}.get
    assert find_chromium(None, on_path) == "/opt/chrome"
    assert find_chromium("mine", on_path) == "/mine"
    assert find_chromium(None, {}.get) is None
    with pytest.raises(pytest.UsageError, match="COURSE_CHROMIUM=elsewhere"):
        find_chromium("elsewhere", on_path)


@pytest.mark.slow
def test_a_run_without_a_browser_says_so_at_its_end():
    environment = {**os.environ, "PATH": "", "COURSE_CHROMIUM": ""}
    command = [sys.executable, "-P", "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/browser/test_judges.py"]
    ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout
    *_, said, closing = ran.stdout.splitlines()
    assert said == WITHOUT and "skipped" in closing
