"""The set-up: what it installs and when, what it says meanwhile, and that every verb works right after it."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from functools import partial
from pathlib import Path

import jupyter_server
import jupyterlab
import pytest
from running_lab import own_copy
from sweeps import sweep

from course_lib import __main__ as front_door
from course_lib.tools import environment

ROOT = Path(__file__).parent.parent


def v(version):
    return ".".join(map(str, version))


SUPPORTED = [(3, minor) for minor in range(11, 15)]
OTHERS = [(2, 7), *((3, minor) for minor in (*range(6, 11), 15, 16)), (4, 0)]


@pytest.mark.parametrize("version", OTHERS)
def test_a_python_too_old_or_too_new_is_told_what_to_do(version, monkeypatch):
    monkeypatch.setattr(environment, "in_venv", lambda: False)
    said = (
        rf"^This is Python {version[0]}\.{version[1]}, but the course needs 3\.11 to 3\.14\. Install .*make lab PYTHON="
    )
    with pytest.raises(SystemExit, match=said):
        environment.require_python((*version, 0))


def test_every_supported_python_goes_on():
    for version in SUPPORTED:
        environment.require_python((*version, 9))


def found(minor):
    """Returns a Python 3 of this minor version that starts, from PATH or beside the one that runs the tests."""
    beside = Path(sys.base_prefix).parent.glob(f"3.{minor}.*/bin/python3")
    for python in filter(None, [shutil.which(f"python3.{minor}"), *beside]):
        if environment.version_of(python) == (3, minor):
            return str(python)
    return pytest.skip(f"there is no Python 3.{minor} on this machine")


@pytest.fixture(scope="module")
def front(tmp_path_factory):
    """A clone with the course's Python files, and no .venv."""
    folder = tmp_path_factory.mktemp("front")
    shutil.copytree(ROOT / "course_lib", folder / "course_lib", ignore=shutil.ignore_patterns("data", "__pycache__"))
    return folder


@pytest.mark.parametrize("minor", range(6, 15))
def test_each_python_lists_the_verbs_and_says_if_it_does_not_fit(minor, front):
    python = found(minor)

    def said(*arguments):
        bare = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        command = [python, "-B", "-m", "course_lib", *arguments]
        return subprocess.run(command, cwd=front, env=bare, capture_output=True, text=True)

    listed = said()
    assert all(f"  {verb} " in listed.stdout for verb in front_door.VERBS) and listed.stderr == ""
    if (3, minor) not in SUPPORTED:
        for verb in ("setup", "lab", "test", "restamp"):
            assert re.fullmatch(rf"This is Python 3\.{minor}, but .* lab\n", said(verb).stderr)


def test_an_old_python_can_read_the_front_door():
    for name in ("__init__.py", "__main__.py", "files.py", "tools/__init__.py", "tools/environment.py"):
        ast.parse((ROOT / "course_lib" / name).read_text(encoding="utf-8"), feature_version=(3, 6))


# ---- another Python in .venv ----


@pytest.fixture
def own_venv(tmp_path, monkeypatch):
    """Puts a .venv with a student's file into an empty clone; returns its python, which isn't there yet."""
    monkeypatch.setattr(environment, "ROOT", tmp_path)
    monkeypatch.setattr(environment, "VENV", tmp_path / ".venv")
    python = tmp_path / ".venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    python.parent.mkdir(parents=True)
    (tmp_path / ".venv" / "notes.txt").write_text("mine")
    return python


@pytest.fixture
def ran(monkeypatch):
    """The commands that would replace this process."""
    commands = []
    monkeypatch.setattr(environment.os, "execv", lambda _, command: commands.append(command))
    return commands


def pretended(python, version):
    """Makes a python that says that it has this version."""
    python.write_text(f"#!/bin/sh\necho {version[0]} {version[1]}\n")
    python.chmod(0o755)


def dangling(python):
    python.symlink_to("/nowhere/python3")


def no_program(python):
    python.write_bytes(b"no program")
    python.chmod(0o755)


def without_its_library(python):
    python.write_text("#!/bin/sh\necho \"No module named 'encodings'\" >&2; exit 1\n")
    python.chmod(0o755)


def silent(python):
    python.write_text("#!/bin/sh\nexit 0\n")
    python.chmod(0o755)


BROKEN = {make.__name__: make for make in (dangling, no_program, without_its_library, silent)}
DOES_NOT_START = "has a Python that doesn't start, perhaps because the one that it was made with is gone"
posix = pytest.mark.skipif(os.name == "nt", reason="the python in this .venv is a script of the shell")


def advice(why, name=".venv-old"):
    return (
        f"The folder .venv {why}. Move it away with: mv .venv {name}\n"
        "Then repeat the command with Python 3.11 to 3.14, and the course makes a new .venv."
    )


@posix
@pytest.mark.parametrize(
    ("make", "why"),
    [
        *((make, DOES_NOT_START) for make in BROKEN.values()),
        *(
            (partial(pretended, version=version), f"has Python {v(version)}, but the course needs 3.11 to 3.14")
            for version in OTHERS
        ),
    ],
)
def test_a_venv_that_does_not_fit_is_moved_away_by_the_command_that_is_told(make, why, own_venv, ran, tmp_path):
    make(own_venv)
    (tmp_path / ".venv-old").mkdir()
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(SystemExit) as told:
        environment.rerun_in_venv(["lab"])
    assert told.value.code == advice(why, ".venv-old1") and ran == []
    assert sorted(tmp_path.rglob("*")) == before  # nothing was deleted or made
    command = told.value.code.splitlines()[0].split(": ")[1]
    subprocess.run(command, shell=True, cwd=tmp_path, check=True)
    assert (tmp_path / ".venv-old1" / "notes.txt").read_text() == "mine" and not (tmp_path / ".venv").exists()


def test_a_new_venv_is_made_where_there_is_none(own_venv, ran, tmp_path):
    environment.rerun_in_venv(["lab"])
    assert ran == [[str(own_venv), "-m", "course_lib", "lab"]]
    assert environment.version_of(own_venv) == sys.version_info[:2]
    assert (tmp_path / ".venv" / "notes.txt").read_text() == "mine"


@posix
@pytest.mark.parametrize("version", SUPPORTED)
def test_a_venv_that_fits_is_used(version, own_venv, ran):
    pretended(own_venv, version)
    environment.rerun_in_venv(["lab"])
    assert ran == [[str(own_venv), "-m", "course_lib", "lab"]]


@posix
@pytest.mark.parametrize("version", OTHERS)
def test_a_python_that_runs_in_such_a_venv_says_the_same(version, monkeypatch, own_venv):
    monkeypatch.setattr(sys, "prefix", str(environment.VENV))
    with pytest.raises(SystemExit) as told:
        environment.require_python((*version, 1))
    assert told.value.code == advice(f"has Python {v(version)}, but the course needs 3.11 to 3.14")


def no_links(*_, **__):
    raise PermissionError("no links on this file system")


def test_a_venv_is_made_where_no_link_can_be_made(own_venv, ran, tmp_path, monkeypatch):
    shutil.rmtree(tmp_path / ".venv")
    refusing = tmp_path / "refusing"
    refusing.mkdir()
    (refusing / "sitecustomize.py").write_text("import os\n\ndef no_links(*_, **__):\n    raise PermissionError\n"
                                               "\nos.symlink = no_links\n")  # fmt: skip
    monkeypatch.setenv("PYTHONPATH", str(refusing))  # for venv's own process
    monkeypatch.setattr(os, "symlink", no_links)
    environment.rerun_in_venv(["lab"])
    assert ran == [[str(own_venv), "-m", "course_lib", "lab"]]
    assert not any(path.is_symlink() for path in (tmp_path / ".venv").rglob("*"))


def test_a_venv_that_cannot_be_made_says_why(own_venv, tmp_path, capfd):
    shutil.rmtree(tmp_path / ".venv")
    (tmp_path / ".venv").touch()
    with pytest.raises(SystemExit, match="can't be made, for the reason above. Fix that and repeat the command"):
        environment.rerun_in_venv(["lab"])
    assert ".venv" in capfd.readouterr().err


# ---- what is installed, and when ----


@pytest.fixture
def fresh_venv(tmp_path, monkeypatch):
    """The set-up with a stamp file of its own; returns the list of the commands that it would have run."""
    commands = []
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(environment, "STAMP", tmp_path / "stamp.txt")
    monkeypatch.setattr(environment, "is_installed", lambda: True)
    monkeypatch.setattr(environment, "cpu_index", list)
    monkeypatch.setattr(environment, "watched", lambda arguments, _: commands.append(" ".join(arguments[1:])))
    return commands


NOTHING, LAB, TEACH, TESTS = set(), {"lab"}, {"teach"}, set(environment.EXTRAS_MB)


def test_a_complete_environment_is_left_alone(fresh_venv):
    assert environment.complete_venv(NOTHING)
    assert "-c constraints.txt -e ." in fresh_venv[-1]
    assert not fresh_venv[-1].endswith("]")
    before = len(fresh_venv)
    assert not environment.complete_venv(NOTHING)
    assert len(fresh_venv) == before


def test_what_a_verb_needs_is_added_once_and_stays(fresh_venv):
    environment.complete_venv(NOTHING)
    environment.complete_venv(TEACH)
    assert fresh_venv[-1].endswith("-e .[teach]")
    environment.complete_venv({"web"})
    assert fresh_venv[-1].endswith("-e .[teach,web]")
    before = len(fresh_venv)
    for extras in (NOTHING, TEACH, {"teach", "web"}):
        environment.complete_venv(extras)
    assert len(fresh_venv) == before


def test_the_tests_have_what_every_verb_needs(fresh_venv):
    environment.complete_venv(TESTS)
    assert fresh_venv[-1].endswith("-e .[lab,real,teach,test,web]")
    before = len(fresh_venv)
    for extras in [*front_door.NEEDED.values(), NOTHING]:
        environment.complete_venv(extras)
    assert len(fresh_venv) == before


def test_front_end_packages_are_fetched_when_their_lock_changes(fresh_venv, monkeypatch, tmp_path):
    monkeypatch.setattr(environment, "PACKAGES", tmp_path)
    monkeypatch.setattr(environment, "LOCK", tmp_path / "lock.json")
    for lock, fetched in (("one", 1), ("one", 1), ("two", 2)):
        environment.LOCK.write_text(json.dumps({"packages": {"": {}, lock: {}}}))
        environment.fetch_packages()
        assert sum("npm" in command for command in fresh_venv) == fetched


def test_the_lock_names_no_host(front_end=ROOT / "package-lock.json"):
    packages = json.loads(front_end.read_text())["packages"]
    assert all("integrity" in package for name, package in packages.items() if name)
    assert not any("resolved" in package for package in packages.values())


def test_an_interrupted_installation_is_taken_up_again(fresh_venv, monkeypatch):
    environment.complete_venv(NOTHING)

    def fail(*_):
        raise SystemExit

    monkeypatch.setattr(environment, "watched", fail)
    with pytest.raises(SystemExit):
        environment.complete_venv(TESTS)
    assert not environment.STAMP.exists()


def test_a_python_without_ensurepip_names_the_package(fresh_venv, monkeypatch):
    monkeypatch.setattr(environment.importlib.util, "find_spec", lambda _: None)
    with pytest.raises(SystemExit, match=r"apt install python3\.\d+-venv"):
        environment.complete_venv(NOTHING)
    assert fresh_venv == []


def test_the_cpu_index_is_asked_only_without_a_card_and_may_be_silent(monkeypatch):
    def silent(*_, **__):
        raise TimeoutError

    monkeypatch.setattr(environment.sys, "platform", "linux")
    monkeypatch.setattr(environment.urllib.request, "urlopen", silent)
    monkeypatch.setattr(environment.shutil, "which", lambda _: None)
    assert environment.cpu_index() == []
    monkeypatch.setattr(environment.urllib.request, "urlopen", lambda *_, **__: open(os.devnull))
    monkeypatch.setattr(environment.Path, "exists", lambda _: False)
    assert environment.cpu_index() == ["--extra-index-url", environment.CPU_INDEX]
    monkeypatch.setattr(environment.shutil, "which", lambda _: "nvidia-smi")
    assert environment.cpu_index() == []


# ---- what it says ----


def test_the_first_set_up_says_what_comes_and_how_large_it_is(monkeypatch):
    monkeypatch.setattr(environment, "is_installed", lambda: False)
    assert "PyTorch, JupyterLab and others, about 1.7 GB" in environment.announcement(LAB, cuda=False)
    assert "about 2.6 GB" in environment.announcement(TESTS, cuda=False)
    assert "up to 6 GB (PyTorch with CUDA)" in environment.announcement(LAB, cuda=True)


def test_what_is_added_later_is_named_with_its_own_size(monkeypatch):
    monkeypatch.setattr(environment, "is_installed", lambda: True)
    monkeypatch.setattr(environment, "missing_dependencies", lambda _: [("furo", "web"), ("sphinx", "web")])
    said = environment.announcement({"web", "teach"}, cuda=True)
    assert said == "Adding furo, sphinx and what they need to .venv, about 275 MB."
    monkeypatch.setattr(environment, "missing_dependencies", lambda _: [])
    assert environment.announcement({"web"}, cuda=True) == "Updating .venv to this version of the course."


PIP_SAYS = """Collecting torch<2.14,>=2.6
Downloading https://host/cpu/torch-2.13.0%2Bcpu-cp311-cp311-linux_x86_64.whl (190.1 MB)
Collecting sympy
Downloading sympy-1.14.0-py3-none-any.whl.metadata (12 kB)
Installing collected packages: sympy, torch
  Attempting uninstall: torch""".splitlines()


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (0, "finding out what is needed, 0 packages so far"),
        (1, "finding out what is needed, 1 packages so far"),
        (2, "downloading torch (190.1 MB), 1 packages so far"),
        (4, "downloading torch (190.1 MB), 2 packages so far"),
        (6, "installing, 0 of 2 packages"),
    ],
)
def test_pips_lines_become_one_that_says_how_far_it_is(lines, said):
    assert environment.pip_progress(PIP_SAYS[:lines], len(environment.installed())) == said


SLOW = "import time; print('one', flush=True); time.sleep(1.5); print('two', flush=True); time.sleep(1.5)"


@pytest.mark.slow
def test_an_installation_is_never_silent(monkeypatch, capsys):
    monkeypatch.setattr(environment, "BETWEEN_LINES", 0)
    environment.watched(["-c", SLOW], lambda said: " and ".join(said))
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) > 2 and re.fullmatch(r"  one and two \(\d+ s\)", lines[-1])


@pytest.mark.slow
def test_in_a_terminal_one_line_is_replaced_and_goes_at_the_end(monkeypatch, capsys):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    environment.watched(["-c", SLOW], lambda said: " and ".join(said))
    printed = capsys.readouterr().out
    assert "\n" not in printed and "\r  one and two" in printed
    assert printed.split("\r")[-2].strip() == "" and printed.endswith("\r")


def test_a_failed_installation_says_why(capsys):
    with pytest.raises(SystemExit, match="for the reason above"):
        environment.watched(["-c", "import sys; sys.exit('no space left on device')"], lambda _: "")
    assert "no space left on device" in capsys.readouterr().out


PIP_UNHEARD = """\
WARNING: Retrying (Retry(total={left}, connect=None)) after connection broken by 'ProxyError(...)'
ERROR: ResolutionImpossible: for help visit the page on dealing with dependency conflicts"""


@pytest.mark.parametrize(("left", "said"), [(0, "the proxy couldn't be reached"), (3, "for the reason above")])
def test_pip_that_reaches_nobody_is_not_left_to_blame_the_versions(left, said):
    code = f"import sys; print({PIP_UNHEARD.format(left=left)!r}); sys.exit(1)"
    with pytest.raises(SystemExit, match=f"^The installation failed, .*{said}.*it resumes"):
        environment.watched(["-c", code], lambda _: "")


# ---- every verb right after it ----

# In place of pip: what is installed for the tests is there from the next process on, as after an installation.
FAKE_PIP = f"""
import shutil, sys, sysconfig
from pathlib import Path
here, there = Path(sysconfig.get_path("purelib")), Path({sysconfig.get_path("purelib")!r})
(here / "tests.pth").write_text(f"import site; site.addsitedir({{str(there)!r}})")
for about in there.glob("attention_measured-*.dist-info"):
    shutil.copytree(about, here / about.name, dirs_exist_ok=True)
for name in ("share", "bin/alembic"):
    if not (Path(sys.prefix) / name).exists():
        (Path(sys.prefix) / name).symlink_to(Path({sys.prefix!r}) / name)
"""
# By verb: arguments with which it soon ends, and what it says when it has begun its work.
FIRST_CALLS = {
    "setup": ([], "The environment is ready"),
    "lab": (["--version"], jupyter_server.__version__),
    "workbook": ([], "new files"),
    "model": ([], "The model is at"),
    "test": (["--version"], "pytest "),
    "test-all": (["--version"], "pytest "),
    "check": (["--version"], "pytest "),
    "notebooks": (["99"], "No notebook begins with '99'"),
    "widgets": ([], "0 notebooks had old widgets"),
    "format": ([], "left unchanged"),
    "record": (["99"], "No notebook begins with '99'"),
    "restamp": (["nowhere"], "There is no revision 'nowhere'"),
    "seeds": (["1", "99"], "No notebook begins with '99'"),
    "freeze": ([], "they are frozen now"),
    "confirm": (["1", "99"], "No notebook begins with '99'"),
    "pages": ([], "up to date"),
    "bench": ([], "the one of the README's table"),
    "mutants": (["99"], "No notebook begins with '99'"),
    "slides": (["00"], "00_warm_up.slides.html"),
    "site": ([], "Making the site from"),
    "translate": (["xx"], "It needs the code of a language"),
    "book": ([], "Making the book from"),
    "warm": (["99"], "No notebook begins with '99'"),
    "wheel": ([], "The wheel is in dist/"),
    "release": (["01"], "01_rnn_bottleneck.ipynb: 20 points"),
    "collect": (["none.zip"], "none.zip"),
    "grade": (["--unsandboxed"], "0 graded"),
    "formgrader": (["--version"], jupyterlab.__version__),
    "feedback": ([], "0 pages"),
    "grades": ([], "01_rnn_bottleneck.csv"),
}
# One verb for each set of packages that verbs need beyond what `setup` installs, the first that is quick.
ONE_OF_EACH_NEED = {frozenset(needed): verb.__name__ for verb, needed in reversed(front_door.NEEDED.items())}


@pytest.fixture(scope="module")
def handed_out(tmp_path_factory):
    """A course of which one exercise has been handed out."""
    from course_lib.grading import course

    folder = tmp_path_factory.mktemp("course")
    here = course.Course(folder, f"sqlite:///{folder / 'gradebook.db'}")
    list(course.release(here, ROOT / "notebooks" / "exercises", ["01"]))
    return folder


@pytest.fixture(scope="module")
def fresh_clone(tmp_path_factory):
    """A clone of the course in which nothing is installed, and beside it what `setup` makes of its .venv."""
    clone = own_copy(ROOT, tmp_path_factory.mktemp("fresh") / "clone")
    (clone / "node_modules").symlink_to(ROOT / "node_modules")
    (clone.parent / "pip").mkdir()
    (clone.parent / "pip" / "__init__.py").touch()  # without it the true pip would go before
    (clone.parent / "pip" / "__main__.py").write_text(FAKE_PIP)
    said = said_by(clone, ["setup"], "is ready")
    assert "Setting up the course" in said and "The environment is ready" in said
    (clone / ".venv").rename(clone.parent / "after setup")
    return clone


def said_by(clone, arguments, until, **variables):
    """What `python -m course_lib` says until it has said `until` or ends; it is not left running."""
    path = os.pathsep.join([str(clone.parent), os.environ["PYTHONPATH"]])
    command, environment = [sys._base_executable, "-m", "course_lib"], {**os.environ, "PYTHONPATH": path, **variables}
    said, both = "", {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with subprocess.Popen([*command, *arguments], cwd=clone, env=environment, text=True, **both) as process:
        for line in process.stdout:
            said += line
            if until in said:
                process.terminate()
    return said


def test_every_verb_is_called_first():
    assert FIRST_CALLS.keys() == front_door.VERBS.keys()


@pytest.mark.notebook  # it takes minutes, as lessons do
@pytest.mark.skipif(sys.prefix == sys.base_prefix, reason="only beside a Python without the course a clone is fresh")
@pytest.mark.parametrize(
    "first",
    sweep(
        [*((verb, "nothing") for verb in front_door.VERBS), *((verb, "setup") for verb in ONE_OF_EACH_NEED.values())],
        "lab after nothing",
        "release after setup",
        named=" after ".join,
    ),
)
def test_a_verb_works_right_after_what_it_needs_is_installed(first, fresh_clone, handed_out, tmp_path):
    verb, before = first
    for made in (".venv", "workbook", "course"):
        shutil.rmtree(fresh_clone / made, ignore_errors=True)
    if before == "setup":
        shutil.copytree(fresh_clone.parent / "after setup", fresh_clone / ".venv", symlinks=True)
    course = {} if verb == "release" else {"COURSE_DIRECTORY": str(handed_out)}
    arguments, wanted = FIRST_CALLS[verb]
    said = said_by(fresh_clone, [verb, *arguments], wanted, JUPYTER_CONFIG_DIR=str(tmp_path), **course)
    assert wanted in said and "Traceback" not in said, said
