"""The walk-through of INSTRUCTORS.md is done: each of its commands prints what stands there."""

import os
import re
import shutil
import subprocess
import sys
import urllib.request
import zipfile
from pathlib import Path

import made_up_class as made
import nbformat
import pytest
import torch
from bs4 import BeautifulSoup

pytest.importorskip("nbgrader")

from nbgrader.api import Gradebook

from course_lib import __main__ as front_door
from course_lib.checks.engine import Wrong, examine
from course_lib.grading import sandbox
from course_lib.grading.course import exercises, release
from course_lib.grading.grade import grade_one
from course_lib.grading.report import table

pytestmark = pytest.mark.notebook  # they execute notebooks

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "INSTRUCTORS.md").read_text(encoding="utf-8")
TIMES_TEMPERATURE = "def softmax_at(scores, mask, temperature):\n    closed = (scores * temperature)"
TEMPLATE = ROOT / "course_lib" / "data" / "graded"
ANSWERS = {
    "softmax_at": "def softmax_at(scores, mask, temperature):\n    closed = (scores / temperature)",
    "mat_score": "mat_score = 0.25",
    "in_words": "They become equal.",
}
REST = ".masked_fill(~mask, -torch.inf)\n    return torch.softmax(closed, -1)"


def steps():
    """Command and wanted output, in the page's order."""
    for block in re.findall(r"^```console\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL):
        yield from re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE)


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """A copy of what the verbs need, as a clone has it."""
    folder = tmp_path_factory.mktemp("clone")
    for name in ("course_lib", "notebooks/exercises"):
        if (ROOT / name).exists():
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("Makefile", "pyproject.toml", "constraints.txt", "nbgrader_config.py"):
        shutil.copy(ROOT / name, folder)
    return folder


def answered(clone, **answers):
    notebook = nbformat.read(clone / "course/release/03_graded/03_graded.ipynb", as_version=4)
    for cell in notebook.cells:
        name = cell.metadata.get("nbgrader", {}).get("grade_id")
        if name in ANSWERS:
            cell.source = {**ANSWERS, **answers}[name] + (REST if name == "softmax_at" else "")
    return nbformat.writes(notebook)


def pack(clone):
    """What Moodle gives: its worksheet, and an archive: one right, one wrong and late, one broken, one nameless."""
    people = "".join(
        f"Participant {number},{name},6.00,,-\n" for number, name in ((11, "A L"), (12, "C B"), (13, "G H"))
    )
    (clone / "grades.csv").write_text(f"Identifier,Full name,Maximum Grade,Grade,Last modified (grade)\n{people}")
    path = "{}_assignsubmission_file_/{}"
    on_time, late = (2026, 10, 30, 12, 0, 0), (2026, 11, 2, 23, 59, 0)
    with zipfile.ZipFile(clone / "moodle.zip", "w") as out:
        for name, content, date in (
            (path.format("Ada Lovelace_11", "03_graded.ipynb"), answered(clone), on_time),
            (path.format("Ada Lovelace_11", "draft.txt"), "x", on_time),
            (path.format("Charles Babbage_12", "03_graded.ipynb"), answered(clone, softmax_at=TIMES_TEMPERATURE), late),
            (path.format("Grace Hopper_13", "03_graded.ipynb"), "{", on_time),
            ("stray.ipynb", answered(clone), on_time),
        ):
            out.writestr(zipfile.ZipInfo(name, date), content)


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_the_walk_through_prints_what_the_page_says(clone):
    environment = {**os.environ, "PYTHON": sys.executable, "TZ": "UTC"}
    # Nor does make know that it runs inside of another, which it would say.
    not_passed_on = ("ARGS", "COURSE_", "MAKE", "MFLAGS")
    environment = {name: value for name, value in environment.items() if not name.startswith(not_passed_on)}
    environment["PYTHONPATH"] = os.pathsep.join([str(clone), environment["PYTHONPATH"]])
    done = list(steps())
    assert [command.split()[:2] for command, _ in done if command.startswith("make")] == [
        ["make", verb] for verb in ("release", "collect", "grade", "grade", "feedback", "grades", "grades")
    ]
    for command, wanted in done:
        if "moodle.zip" in command:
            pack(clone)
        if command.startswith("export "):
            name, _, value = command.removeprefix("export ").partition("=")
            environment[name] = value
            continue
        if command == "make grade" and sandbox.missing():
            command, wanted = "make grade ARGS=--unsandboxed", wanted.replace("in a sandbox", "without a sandbox")
        ran = subprocess.run(command, shell=True, cwd=clone, env=environment, capture_output=True, text=True)
        assert ran.returncode == 0, (command, ran.stderr)
        assert ran.stdout.lstrip("\ufeff").replace("\r", "") == wanted, command


def test_the_template_says_what_its_checks_accept():
    """In lesson 3's words, which are true of the template's exercise."""
    named = "<summary>What the checks pass in, and what they accept</summary>\n\n(.*?\\.)\n"
    texts = [TEMPLATE / "03_graded.ipynb", ROOT / "notebooks/exercises/03_scaled_dot_product.ipynb"]
    own, lessons = (
        re.search(named, "\n".join(cell.source for cell in nbformat.read(file, as_version=4).cells))[1]
        for file in texts
    )
    assert lessons.startswith(own) and "don't change them in place. You may return a tensor, a NumPy array or a" in own
    asked = exercises(TEMPLATE)["softmax_at"]

    def right(first, second, third):
        return torch.softmax((first / third).masked_fill(~second, -torch.inf), -1)

    def in_place(scores, mask, temperature):
        scores /= temperature
        return right(scores, mask, 1)

    for answer in (right, lambda *given: right(*given).numpy(), lambda *given: right(*given).tolist()):
        examine(asked, answer)
    with pytest.raises(Wrong, match="it changes its argument scores in place"):
        examine(asked, in_place)


def test_the_defences_are_handed_out_without_their_answers_and_wait_for_a_reader(tmp_path):
    course = made._course(tmp_path)
    (told,) = release(course, TEMPLATE, ["controls"])
    assert told.endswith("controls.ipynb: 5 points")
    answers = [cell.source for cell in nbformat.read(TEMPLATE / "controls.ipynb", 4).cells if cell.metadata]
    handed_out = nbformat.read(course.path("release", "controls", "controls.ipynb"), 4)
    blank = [cell for cell in handed_out.cells if cell.metadata.get("nbgrader")]
    assert len(blank) == len(answers) == 3
    assert {cell.source for cell in blank} == {"YOUR ANSWER HERE"}
    for cell in blank[:2]:
        cell.source = "The share is 0.0625, and the line is 0.05."
    there = course.path("submitted", "ada", "controls")
    there.mkdir(parents=True)
    nbformat.write(handed_out, there / "controls.ipynb")
    assert grade_one(course, "controls", "ada")["state"] == "graded"
    (row,) = table(course, "controls")
    assert (row["state"], row["max"], row["points"]) == ("graded, to be read", 5.0, 0.0)


def options_of(verb, capsys):
    with pytest.raises(SystemExit):
        front_door.VERBS[verb](["--help"])
    return set(re.findall(r"^  (--[\w-]+)", capsys.readouterr().out, re.MULTILINE))


def test_every_option_that_the_page_or_a_verb_names_is_taken(capsys):
    taken = {verb: options_of(verb, capsys) for verb in ("release", "collect", "grade", "feedback", "grades")}
    for verb, options in taken.items():
        assert set(re.findall(r"--[\w-]+", front_door.VERBS[verb].__doc__)) <= options, verb
    arguments = re.findall(r"""ARGS=(--\S+|'[^']*'|"[^"]*")""", PAGE)
    named = {option for text in arguments for option in re.findall(r"--[\w-]+", text)}
    assert "--worksheet" in named and named <= set().union(*taken.values())


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_the_formgrader_finds_the_course(tmp_path):
    course = made.make_course(tmp_path)
    answers = made.answered(course, words="It sums to one. <script>evil</script>")
    (made.hand_in(course, "ada", answers) / "evil.html").write_text("<script>1</script>")
    assert grade_one(course, made.NAME, "ada")["state"] == "graded"
    with Gradebook(course.database) as gradebook:
        submission = gradebook.find_submission_notebook(made.NAME, made.NAME, "ada").id
    with made.formgrader(course, tmp_path) as address:

        def opened(place):
            return urllib.request.urlopen(f"{address}/{place}?token={made.TOKEN}", timeout=20)

        with opened("api/assignments") as answer:
            assert f'"name": "{made.NAME}"' in answer.read().decode()
        with opened(f"submissions/{submission}/") as answer:
            page = BeautifulSoup(answer.read(), "html.parser")
            assert "It sums to one." in page.get_text() and not page.find("script", string="evil")
            assert "script-src 'self' 'unsafe-eval'" in answer.headers["Content-Security-Policy"]
            assert "'unsafe-inline'" not in answer.headers["Content-Security-Policy"].partition("script-src")[2]
        with opened(f"submissions/{submission}/evil.html") as answer:
            assert answer.headers["Content-Security-Policy"] == "sandbox"  # a file that was handed in runs no script
