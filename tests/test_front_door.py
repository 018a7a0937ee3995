"""The way in: verbs, targets, set-up, start page, links, and how lessons are executed and saved."""

import json
import os
import re
import shutil
import subprocess
import sys
import urllib.request
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
import yaml
from running_lab import Lab, own_copy

import course_lib
from course_lib import __main__ as front_door
from course_lib import claims, speed
from course_lib.tools import lessons

ROOT = Path(__file__).parent.parent


def run(*command):
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


# ---- verbs and targets ----


def test_every_verb_has_one_line_of_help():
    listing = run(sys.executable, "-m", "course_lib")
    for name, verb in front_door.VERBS.items():
        assert "\n" not in verb.__doc__
        assert re.search(rf"^  {name} +{re.escape(verb.__doc__)}$", listing, re.MULTILINE)


def test_an_unknown_verb_is_named_and_the_verbs_are_listed(capsys):
    assert front_door.main(["labb"]) == 2
    printed = capsys.readouterr()
    assert "'labb'" in printed.err and "lab " in printed.out


@pytest.mark.parametrize(
    ("verb", "lessons_too", "marks"),
    [
        (front_door.test, True, ["not large"]),
        (front_door.test_all, True, []),
        (front_door.check, False, ["not notebook and not browser and not slow and not large"]),
    ],
)
def test_checks_are_strict_and_end_with_the_first_failure(verb, lessons_too, marks, monkeypatch):
    ran = []

    def pretend(command, env):
        ran.append((command[2:], env["COURSE_MODE"]))
        return SimpleNamespace(returncode=3 if command[2] == "pytest" else 0)

    monkeypatch.setattr(front_door.subprocess, "run", pretend)
    assert verb(["-x"]) == 3
    assert [(command[0], mode) for command, mode in ran] == [(tool, "strict") for tool in ("ruff", "ruff", "pytest")]
    options = ran[-1][0]
    assert options[-1] == "-x"
    assert ("--nbval-lax" in options) == lessons_too
    assert [value for option, value in pairwise(options) if option == "-m"] == marks


def test_what_ruff_found_is_told_after_the_tests_too(monkeypatch, capsys):
    codes = iter([1, 0, 0])
    monkeypatch.setattr(front_door.subprocess, "run", lambda *given, **named: SimpleNamespace(returncode=next(codes)))
    assert front_door.check([]) == 1
    assert capsys.readouterr().out.startswith("ruff found something: see the first lines.")


@pytest.fixture(autouse=True)
def seconds_of_trials_are_not_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(speed, "MINUTES", tmp_path / "minutes.json")


@pytest.mark.parametrize("verb", [front_door.notebooks, front_door.record])
def test_lessons_are_executed_in_strict_mode(verb, monkeypatch, tmp_path):
    def execute(path, environment, notebook=None):
        seen.append((environment["COURSE_MODE"], [cell.source for cell in notebook.cells] if notebook else "as it is"))

    seen = []
    monkeypatch.setattr(lessons, "NOTEBOOKS", tmp_path)
    sources = (
        "lesson = Lesson('a')",
        "@lesson.experiment(variants={})\ndef f(seed): return seed",
        "f.recorded()",
    )
    lesson(tmp_path, *sources, "what follows")
    lesson(tmp_path, "1 + 1", name="02_without_experiment")
    monkeypatch.setattr(lessons, "execute", execute)
    monkeypatch.setattr(lessons, "save", lambda *_: None)
    monkeypatch.setattr(front_door, "pages", lambda _: seen.append("the pages"))
    verb([])
    if verb is front_door.notebooks:
        assert seen == [("strict", "as it is")] * 2 + ["the pages"]
    else:
        ((mode, (first, *before)),) = seen
        assert mode == "strict" and tuple(before) == sources and first.endswith("recording.before_checking()")


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_make_has_every_verb_and_alone_lists_them():
    for verb in set(front_door.VERBS) - {"setup"}:
        assert run("make", "-n", "--no-print-directory", verb, "ARGS=01").split()[-2:] == [verb, "01"]
    listed = re.findall(r"^  ([\w-]+) +\S", run("make", f"PYTHON={sys.executable}"), re.MULTILINE)
    assert listed == list(front_door.VERBS)


# ---- make lab ----


@pytest.fixture(scope="module")
def running_lab(tmp_path_factory):
    """The address that `lab --no-browser` prints, and all that it printed."""
    folder = tmp_path_factory.mktemp("lab")
    with Lab(own_copy(ROOT, folder / "course"), folder) as lab:
        yield lab.address, lab.log


@pytest.mark.slow
def test_lab_answers_on_the_start_page_and_prints_little_else(running_lab):
    address, log = running_lab
    assert urllib.request.urlopen(address, timeout=30).status == 200
    token = address.split("?")[1]
    front = urllib.request.urlopen(f"{address.split('/lab')[0]}/?{token}", timeout=30)
    assert front.url.split("?")[0].endswith("/lab/tree/workbook/start.md")
    printed = log.read_text()
    assert printed.count(address) == 1
    assert len(printed.splitlines()) <= 10, printed


@pytest.mark.slow
def test_kernels_of_the_lab_are_encrypted_and_do_not_complain(tmp_path):
    with Lab(own_copy(ROOT, tmp_path / "course"), tmp_path) as lab:
        for _ in range(2):
            kernel = lab.ask("api/kernels", method="POST")["id"]
        file = next(Path(lab.environment["JUPYTER_RUNTIME_DIR"]).glob(f"*{kernel}.json"))
        assert "curve_publickey" in json.loads(file.read_text())
        lab.end_kernels()
    assert "without encryption" not in lab.log.read_text()


@pytest.mark.slow
def test_lab_settings_are_in_force(running_lab):
    address, _ = running_lab
    base, token = address.split("/lab")[0], address.split("?")[1]

    def setting(plugin):
        return json.load(urllib.request.urlopen(f"{base}/lab/api/settings/{plugin}?{token}", timeout=30))

    viewers = setting("@jupyterlab/docmanager-extension:plugin")["schema"]["properties"]["defaultViewers"]
    assert viewers["default"] == {"markdown": "Markdown Preview"}
    news = setting("@jupyterlab/apputils-extension:notification")["schema"]["properties"]
    assert news["fetchNews"]["default"] == "false" and news["checkForUpdates"]["default"] is False
    widgets = setting("@jupyter-widgets/jupyterlab-manager:plugin")["schema"]["properties"]
    assert widgets["saveState"]["default"] is True


# ---- pages ----


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "HUB.md", "INSTRUCTORS.md", "notebooks/start.md"])
def test_links_and_images_exist(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    targets = re.findall(r"\]\(([^)#]+)[^)]*\)", text)
    local = [target for target in targets if "://" not in target]
    missing = [target for target in local if not (ROOT / page).parent.joinpath(target).exists()]
    assert missing == []


def test_citation_is_complete_and_of_this_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert {"cff-version", "message", "title", "authors"} <= citation.keys()
    assert citation["version"] == course_lib.__version__


# ---- lessons ----


def lesson(tmp_path, *sources, name="01_trial"):
    path = tmp_path / f"{name}.ipynb"
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
    notebook.metadata["widgets"] = {"state": "old"}
    notebook.metadata["title"] = "kept"
    nbformat.write(notebook, path)
    return path


def test_a_lesson_is_executed_where_it_lies_and_saved_without_noise(tmp_path):
    box = {claims.MIME: {"id": "N8", "verdict": "holds"}}
    sources = (
        "import os; print(os.environ['COURSE_SEED']); print(os.getcwd())",
        f"display({box!r}, raw=True)",
    )
    path = lesson(tmp_path, *sources)
    before = nbformat.read(path, as_version=4)
    executed = lessons.execute(path, {**os.environ, "COURSE_SEED": "7"})
    assert claims.boxes(executed) == [{"id": "N8", "verdict": "holds"}]

    executed.cells[0].metadata["execution"] = {"iopub.status.busy": "now"}
    lessons.save(path, executed)
    saved = nbformat.read(path, as_version=4)
    assert saved.cells[0].outputs[0].text == f"7\n{tmp_path}\n"
    assert [cell.id for cell in saved.cells] == [cell.id for cell in before.cells]
    assert all(cell.metadata == {} for cell in saved.cells)
    assert set(saved.metadata) == {"kernelspec", "language_info", "title"}
    assert re.fullmatch(r"3\.\d+", saved.metadata.language_info.version)


@pytest.mark.slow
def test_the_widgets_of_a_lesson_are_saved_and_a_new_run_gives_the_same_file(tmp_path):
    path = lesson(tmp_path, "import ipywidgets; ipywidgets.IntSlider(value=7)")
    texts = []
    for _ in range(2):
        lessons.save(path, lessons.execute(path, os.environ))
        texts.append(path.read_text(encoding="utf-8"))
    assert texts[0] == texts[1]
    state = json.loads(texts[0])["metadata"]["widgets"][lessons.WIDGET_STATE]["state"]
    view = json.loads(texts[0])["cells"][0]["outputs"][0]["data"]["application/vnd.jupyter.widget-view+json"]
    assert state[view["model_id"]]["state"]["value"] == 7


@pytest.mark.slow
def test_a_lesson_runs_in_a_kernel_that_is_encrypted_and_does_not_complain(tmp_path, capfd):
    source = "from ipykernel.kernelapp import IPKernelApp; print(IPKernelApp.instance().curve_publickey)"
    (cell,) = lessons.execute(lesson(tmp_path, source), os.environ).cells
    assert "None" not in cell.outputs[0].text
    assert capfd.readouterr().err == ""


@pytest.mark.slow
def test_a_lesson_that_raises_is_not_saved(tmp_path, monkeypatch):
    path = lesson(tmp_path, "print('fine')", "1 / 0")
    before = path.read_bytes()
    monkeypatch.setattr(lessons, "NOTEBOOKS", tmp_path)
    with pytest.raises(SystemExit, match="(?s)01_trial.ipynb: a cell raised.*ZeroDivisionError"):
        front_door.notebooks(["01"])
    assert path.read_bytes() == before


def test_lessons_are_found_by_the_beginning_of_their_names(tmp_path, monkeypatch):
    monkeypatch.setattr(lessons, "NOTEBOOKS", tmp_path)
    for name in ("02_b.ipynb", "01_a.ipynb", "start.md"):
        (tmp_path / name).touch()
    assert [path.name for path in lessons.find()] == ["01_a.ipynb", "02_b.ipynb"]
    assert [path.name for path in lessons.find(["02"])] == ["02_b.ipynb"]
    with pytest.raises(lessons.LessonError, match=r"'03'.*there are: 01_a, 02_b"):
        lessons.find(["03"])


def test_seeds_without_a_number_says_what_to_do():
    with pytest.raises(SystemExit, match="make seeds N=10"):
        front_door.seeds([])


def test_runs_share_no_cache_and_one_thread(monkeypatch):
    monkeypatch.setenv("COURSE_CACHE", "mine")
    with front_door.clean_run(COURSE_MODE="record") as environment:
        assert Path(environment["COURSE_CACHE"]).is_dir()
        assert environment["OMP_NUM_THREADS"] == environment["MKL_NUM_THREADS"] == "1"
        assert environment["COURSE_MODE"] == "record"
    assert not Path(environment["COURSE_CACHE"]).exists()
