"""Sets up all tests: no network, shapes checked at run time, a small corpus, a separate cache."""

import dataclasses
import importlib.util
import linecache
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import jaxtyping
import last_lines
import pytest
from filelock import FileLock
from hypothesis import settings
from jaxtyping import install_import_hook

os.environ.setdefault("OMP_NUM_THREADS", "1")  # more threads only slow down small matrices
OFFLINE = Path(__file__).parent / "offline"
LONG = {"test_site", "test_lab"}  # the longest tests in the browser

early = [name for name in sys.modules if name.startswith("course_lib.")]
if early:
    raise RuntimeError(
        f"shapes cannot be checked, because {early} was imported before tests/conftest.py; import it later"
    )
install_import_hook("course_lib", "run_time_types.check")

settings.register_profile("course", deadline=None, max_examples=50)
settings.load_profile("course")


def pytest_configure(config):
    config.pluginmanager.register(Lessons())
    paths = [str(OFFLINE), os.environ.get("PYTHONPATH")]
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    spec = importlib.util.spec_from_file_location("offline", OFFLINE / "sitecustomize.py")
    spec.loader.exec_module(importlib.util.module_from_spec(spec))

    if "COURSE_CACHE" not in os.environ:
        folder = tempfile.TemporaryDirectory(prefix="course-cache-")
        config.add_cleanup(folder.cleanup)
        os.environ["COURSE_CACHE"] = folder.name


@pytest.hookimpl(tryfirst=True)  # before pytest reads -m
def pytest_collection_modifyitems(items):
    """Runs lessons late and marks their cells, which nbval collects, like other tests that run a notebook.

    The browser comes last, since it uses the models that the lessons have trained. Its longest tests come first. What
    needs the built site is slow.
    """
    for item in items:
        if is_cell(item):
            item.add_marker("notebook")
        elif "built_site" in item.fixturenames:
            item.add_marker("slow")
    late = "browser", "notebook"
    items.sort(
        key=lambda item: (*(item.get_closest_marker(mark) is not None for mark in late), item.path.stem not in LONG)
    )


def is_cell(item):
    return type(item).__module__.startswith("nbval")


class Lessons:
    """Tests each cell that nbval runs. It is a plugin, since hooks in this folder see only its own tests."""

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item):
        """Requires the verdicts that a lesson's cell had when it was saved."""
        yield
        if is_cell(item):
            now = {"cells": [{"outputs": item.test_outputs or []}]}
            assert verdicts_of(now) == verdicts_of({"cells": [item.cell]})


def verdicts_of(notebook):
    from course_lib.claims import boxes

    return [(box["id"], box["verdict"]) for box in boxes(notebook)]


@pytest.fixture
def verdicts():
    """Returns the verdicts of a notebook's boxes, in order."""
    return verdicts_of


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport():
    """Makes logs valid UTF-8, since processes exchange them and an invalid file name would end the whole run."""
    report = yield
    report.sections = [(title, text.encode(errors="backslashreplace").decode()) for title, text in report.sections]
    return report


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(terminalreporter):
    yield
    failed = [*terminalreporter.stats.get("error", []), *terminalreporter.stats.get("failed", [])]
    for report in failed[:1]:
        for line in last_lines.told(report):
            terminalreporter.write_line(line)


@pytest.fixture(scope="session")
def corpus():
    from course_lib.corpus import toy_french

    return toy_french(pairs=300, tests=20)


@pytest.fixture(scope="session")
def tiny(corpus):
    """Returns the small corpus with ten sentences for validation."""
    return dataclasses.replace(corpus, validation=corpus.validation[:10])


@pytest.fixture
def unchecked(monkeypatch):
    """Turns off the checks of shapes, so that the library raises its own errors, as for a user."""
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)


@pytest.fixture(scope="session")
def built_site(tmp_path_factory, worker_id):
    """Builds the site once for all processes with `make site`, without this process's checks of shapes."""
    from course_lib.files import ROOT
    from course_lib.tools import site

    shared = tmp_path_factory.getbasetemp()
    shared = shared if worker_id == "master" else shared.parent
    with FileLock(shared / "site.lock"):
        if not (shared / "site-is-built").exists():
            command = [sys.executable, "-m", "course_lib", "site"]
            done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
            assert done.returncode == 0, done.stdout + done.stderr
            (shared / "site-is-built").touch()
    return site.FOLDER


@pytest.fixture
def notebook():
    """Runs cells like IPython: in one namespace, with source that only `linecache` knows."""
    names = {"__name__": "__main__", "__builtins__": __builtins__}
    added = []

    def cell(source, **given):
        file = f"/a/kernel/{id(names)}/{len(added)}.py"
        linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
        added.append(file)
        names.update(given)
        exec(compile(source, file, "exec"), names)
        return names

    yield cell
    for file in added:
        del linecache.cache[file]
