"""The course as a wheel: built and installed away from any clone, where it opens, runs and grades."""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import unquote

import nbformat
import psutil
import pytest
from conftest import OFFLINE
from running_lab import Lab, own_copy

from course_lib import __main__ as front_door
from course_lib import files, glossary
from course_lib.checks import places
from course_lib.grading import sandbox
from course_lib.tools import environment, lessons

ROOT = Path(__file__).parent.parent
SCRIPTS = "Scripts" if os.name == "nt" else "bin"


# ---- without a clone ----


def test_the_learners_folder_is_the_clone_or_below_the_current_folder_or_the_named_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COURSE_LEARNER", raising=False)
    assert files.learner_folder() == ROOT
    monkeypatch.setattr(files, "IN_CLONE", False)
    own = tmp_path / "attention-measured"
    assert files.learner_folder() == own
    own.mkdir()
    monkeypatch.chdir(own)
    assert files.learner_folder() == own
    monkeypatch.setenv("COURSE_LEARNER", "mine")
    assert files.learner_folder() == own / "mine"


def test_links_of_a_box_lead_to_the_glossary_next_to_the_workbook(tmp_path, monkeypatch):
    here = tmp_path / "workbook" / "exercises"
    here.mkdir(parents=True)
    monkeypatch.chdir(here)
    (tmp_path / "glossary").mkdir()
    (tmp_path / "glossary" / "README.md").touch()
    see = places.linked('glossary.show("query")', "scaled_dot_product", tmp_path / "workbook", here)
    assert see.endswith("](../../glossary/query.md)")


@pytest.mark.parametrize("verb", [verb for verb in front_door.ALL if verb not in front_door.WITHOUT_CLONE])
def test_a_verb_that_needs_the_clone_says_so_in_one_sentence(verb, monkeypatch):
    monkeypatch.setattr(front_door, "IN_CLONE", False)
    name = verb.__name__.replace("_", "-")
    with pytest.raises(SystemExit) as ended:
        front_door.main([name, "03"])
    said = ended.value.code
    assert said.startswith(f"{name} works on the course's sources, which only a clone has")
    assert said.endswith(f"python3 -m course_lib {name} 03") and "\n" not in said


def test_only_verbs_that_work_are_listed(monkeypatch, capsys):
    monkeypatch.setattr(front_door, "IN_CLONE", False)
    front_door.main([])
    listed = re.findall(r"^  ([\w-]+) +\S", capsys.readouterr().out, re.MULTILINE)
    assert listed == [name for name, verb in front_door.VERBS.items() if verb in front_door.WITHOUT_CLONE]


def test_what_is_missing_comes_with_the_wheel(monkeypatch):
    monkeypatch.setattr(environment, "IN_CLONE", False)
    monkeypatch.setattr(environment, "missing_dependencies", lambda extras: [("nbgrader", extra) for extra in extras])
    monkeypatch.setattr(environment.sys, "prefix", environment.sys.base_prefix)  # others may use this Python
    with pytest.raises(SystemExit, match=r'lacks nbgrader.*pip install "attention_measured-[\d.]+-py3.*whl\[teach\]"$'):
        environment.go_where_complete({"teach"}, ["grade"])
    assert environment.go_where_complete(set(), ["lab"]) is None


def test_what_is_missing_is_added_to_a_virtual_environment(monkeypatch, capsys):
    """As `make lab` does in a clone: there the verb was asked for, and nobody else uses that environment."""
    called, needed = [], [('x>=1; extra == "lab"', "lab"), ("y<3", None), ('z; extra == "teach"', "teach")]
    monkeypatch.setattr(environment, "IN_CLONE", False)
    monkeypatch.setattr(environment.sys, "prefix", "/of/my/own")
    monkeypatch.setattr(environment, "requirements", lambda: needed)
    monkeypatch.setattr(environment, "watched", lambda command, progress: called.append(command[-2:]))
    monkeypatch.setattr(environment, "rerun", lambda python, arguments: called.append(arguments) or 0)
    assert environment.go_where_complete({"lab"}, ["lab", "--no-browser"]) == 0
    assert called == [["x>=1", "y<3"], ["lab", "--no-browser"]]
    assert capsys.readouterr().out.startswith("Adding x, y and what they need to /of/my/own, about 120 MB.")


@pytest.mark.parametrize(
    ("origin", "named"),
    [
        (None, "attention_measured-0.1.0-py3-none-any.whl[real]"),
        ({"url": "file:///x.whl", "archive_info": {}}, "attention_measured-0.1.0-py3-none-any.whl[real]"),
        ({"url": "https://github.com/you/course", "vcs_info": {"vcs": "git"}},
         "attention-measured[real] @ git+https://github.com/you/course"),
    ],
)  # fmt: skip
def test_what_is_missing_comes_from_where_the_course_came_from(origin, named, monkeypatch):
    told = SimpleNamespace(read_text=lambda name: origin and json.dumps(origin), version="0.1.0")
    monkeypatch.setattr("importlib.metadata.distribution", lambda name: told)
    assert environment.from_wheel({"real"}) == named


# ---- the wheel itself ----


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """The wheel, an environment that has it, and a folder outside the clone in which its verbs run.

    What the course depends on comes from the environment of the tests.
    """
    folder = tmp_path_factory.mktemp("wheel")
    fresh, sources, place = folder / "fresh", own_copy(ROOT, folder / "sources"), folder / "place"
    variables = {name: value for name, value in os.environ.items() if not name.startswith("COURSE_")}
    variables |= {"PYTHONPATH": str(OFFLINE), "PATH": str(fresh / SCRIPTS)}  # no git, no make, no clone
    variables |= {name: str(folder / name) for name in ("COURSE_CACHE", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR")}

    def call(*command, cwd=place):
        done = subprocess.run(command, cwd=cwd, env=variables, text=True, capture_output=True)
        return SimpleNamespace(code=done.returncode, said=done.stdout, complained=done.stderr)

    def verb(*arguments):
        return call(fresh / SCRIPTS / "attention-measured", *arguments)

    place.mkdir()
    built = call(sys.executable, "-m", "course_lib", "wheel", "--no-build-isolation", cwd=sources)
    assert built.code == 0, built
    (wheel,) = (sources / "dist").iterdir()
    call(sys.executable, "-m", "venv", "--without-pip", fresh)
    python = fresh / SCRIPTS / Path(sys.executable).name
    call(sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", "--no-index", wheel)
    packages = Path(call(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").said.strip())
    (packages / "tests.pth").write_text(sysconfig.get_path("purelib"))
    for name in ("share", f"{SCRIPTS}/alembic"):
        (fresh / name).symlink_to(Path(sys.prefix) / name)
    if sandbox.missing() is None:
        (fresh / SCRIPTS / "bwrap").symlink_to(shutil.which("bwrap"))
    own = place / "attention-measured"
    return SimpleNamespace(**locals())


def run(course, notebook, folder):
    """Executes a notebook with the environment's python3 kernel; returns the outputs of its cells as text."""
    file = course.folder / "run.ipynb"
    nbformat.write(notebook, file)
    execute = (
        "import nbformat, sys; from nbclient import NotebookClient; n = nbformat.read(sys.argv[1], 4); "
        "NotebookClient(n, kernel_name='python3', resources={'metadata': {'path': sys.argv[2]}}).execute(); "
        "nbformat.write(n, sys.argv[1])"
    )
    done = course.call(course.python, "-c", execute, file, folder)
    assert done.code == 0, done.complained[-3000:]
    return [json.dumps(cell.get("outputs", [])) for cell in nbformat.read(file, 4).cells]


WHERE = "import course_lib, sys; print(sys.executable, course_lib.__file__)"


@pytest.mark.notebook
def test_the_wheel_carries_the_course_and_nothing_for_its_authors(course):
    with zipfile.ZipFile(course.wheel) as content:
        names = {name.removeprefix("course_lib/carried/"): name for name in content.namelist()}
        taught = [*lessons.find(), *lessons.find(folder="exercises"), *glossary.FOLDER.glob("*.md")]
        assert {path.relative_to(ROOT).as_posix() for path in taught} <= names.keys()
        for name in names:
            if name.endswith(".ipynb"):
                cells = json.loads(content.read(names[name]))["cells"]
                assert not any(cell.get("outputs") for cell in cells), name
    assert {name.split("/")[0] for name in names.values()} == {"course_lib", course.wheel.name[:24] + ".dist-info"}
    assert not [name for name in names if re.search("data/(graded|site|slides|web)/|__pycache__|node_modules", name)]
    assert course.wheel.stat().st_size < 8_000_000


@pytest.mark.notebook
def test_a_file_of_an_earlier_build_does_not_come_along(course):
    old = course.sources / "build" / "lib" / "course_lib" / "old.py"
    old.parent.mkdir(parents=True, exist_ok=True)
    old.touch()
    course.call(sys.executable, "-m", "course_lib", "wheel", "--no-build-isolation", cwd=course.sources)
    assert "course_lib/old.py" not in zipfile.ZipFile(course.wheel).namelist()


@pytest.mark.notebook
def test_lab_opens_the_workbook_and_its_kernel_is_the_environments_python(course, tmp_path):
    lab = Lab(course.place, tmp_path)
    lab.command[: lab.command.index("lab")] = [course.fresh / SCRIPTS / "attention-measured"]
    lab.environment = {**lab.environment, **course.variables}
    with lab:
        assert lab.ask("api/contents/workbook/start.md")["type"] == "file"
        assert lab.ask("api/contents/glossary/query.md")["type"] == "file"
        assert lab.address.split("?")[0].endswith("/lab/tree/workbook/start.md")
        lab.ask("api/kernels", "POST")
        running = [child.cmdline() for child in psutil.Process(lab.process.pid).children(recursive=True)]
        assert [command[0] for command in running if "ipykernel_launcher" in command] == [str(course.python)]
        lab.end_kernels()
    assert "attention-measured/workbook/ has" in lab.log.read_text()
    assert [path.name for path in course.place.iterdir()] == ["attention-measured"]
    assert sorted(path.name for path in course.own.iterdir()) == ["build", "glossary", "workbook"]


@pytest.mark.notebook
def test_what_a_learner_has_changed_stays(course):
    course.verb("workbook")
    for mine in (course.own / "workbook" / "00_warm_up.ipynb", course.own / "glossary" / "query.md"):
        before = mine.read_text(encoding="utf-8")
        mine.write_text("mine", encoding="utf-8")
        assert course.verb("workbook").code == 0
        assert mine.read_text(encoding="utf-8") == "mine"
        mine.write_text(before, encoding="utf-8")


@pytest.mark.notebook
def test_links_of_the_glossary_lead_to_cells_of_the_workbook(course):
    course.verb("workbook")
    for page in (course.own / "glossary").glob("*.md"):
        for _, target in glossary.LINK.findall(page.read_text(encoding="utf-8")):
            path, _, cell = unquote(target).partition("#cell-id=")
            if path.endswith((".md", ".ipynb")) and "://" not in path:
                there = (page.parent / path).read_text(encoding="utf-8")
                assert f'"id": "{cell}"' in there or not cell, (page.name, target)


@pytest.mark.notebook
def test_lesson_0_runs(course):
    course.verb("workbook")
    lesson = nbformat.read(course.own / "workbook" / "00_warm_up.ipynb", 4)
    lesson.cells.insert(0, nbformat.v4.new_code_cell(WHERE))
    where, *_ = run(course, lesson, course.own / "workbook")
    assert f"{course.python} {course.packages}" in where


@pytest.mark.notebook
def test_an_exercise_runs_and_is_remembered(course):
    course.verb("workbook")
    exercises = nbformat.read(ROOT / "notebooks" / "exercises" / "01_rnn_bottleneck.ipynb", 4)
    last = next(at for at, cell in enumerate(exercises.cells) if "checks.check(" in cell.source)
    exercises.cells = exercises.cells[: last + 1]
    (name,) = set(re.findall(r'checks\.check\("(\w+)"', exercises.cells[-1].source))
    run(course, exercises, course.own / "workbook" / "exercises")
    assert name in json.loads((course.own / "workbook" / "progress.json").read_text())
    assert f"`{name}`" not in (course.own / "workbook" / "start.md").read_text(encoding="utf-8").split("| exercises")[0]


@pytest.mark.notebook
def test_a_submission_is_graded(course):
    released = course.verb("release", "01")
    assert "20 points" in released.said, released
    solved = nbformat.read(ROOT / "notebooks" / "exercises" / "01_rnn_bottleneck.ipynb", 4)
    solutions = {cell.id: cell.source for cell in solved.cells if "### BEGIN SOLUTION" in cell.source}
    handed_out = course.place / "course" / "release" / "01_rnn_bottleneck" / "01_rnn_bottleneck.ipynb"
    submission = nbformat.read(handed_out, 4)
    for cell in submission.cells:
        cell.source = solutions.get(cell.id, cell.source)
    there = course.place / "course" / "submitted" / "ada" / "01_rnn_bottleneck" / handed_out.name
    there.parent.mkdir(parents=True)
    nbformat.write(submission, there)
    graded = course.verb("grade", *(["--unsandboxed"] if sandbox.missing() else []))
    assert "01_rnn_bottleneck ada: 20 of 20" in graded.said, graded
