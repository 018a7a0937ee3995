"""Runs of the grader: killed ones, lost processes, manual marks, a cluster; and what a learner's kernel is given."""

import csv
import dataclasses
import json
import logging
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from concurrent.futures import Executor, Future
from concurrent.futures.process import BrokenProcessPool
from datetime import datetime

import made_up_class as made
import nbformat
import psutil
import pytest
from sweeps import sweep

pytest.importorskip("nbgrader")

from nbgrader.api import Gradebook

from course_lib.grading import course as courses
from course_lib.grading import grade as grading
from course_lib.grading import sandbox
from course_lib.grading.course import Course
from course_lib.grading.gradebook import has_texts
from course_lib.grading.report import reasons, table, write_feedback, write_grades
from course_lib.grading.submission import grade_id, put_back

pytestmark = pytest.mark.notebook  # they execute notebooks


@pytest.fixture
def course(tmp_path):
    return made.make_course(tmp_path)


def test_a_change_in_a_folder_of_the_checks_grades_anew(course, tmp_path, monkeypatch):
    library = tmp_path / "checks"
    (library / "engine").mkdir(parents=True)
    monkeypatch.setattr(courses.inspect, "getfile", lambda module: str(library / "__init__.py"))
    (assignment,) = {path.parent.name for path in (course.folder / "source").glob("*/*.ipynb")}
    before = courses.checks_digest(course, assignment)
    (library / "engine" / "comparing.py").write_text("other = 1")
    assert courses.checks_digest(course, assignment) != before


class Here(Executor):
    """Runs what it is given at once, in this process; breaks as a pool of processes does at the named students."""

    def __init__(self, broken=()):
        self.broken, self.ran = broken, []

    def submit(self, run, course, assignment, student, seed):
        future = Future()
        if student in self.broken:
            future.set_exception(BrokenProcessPool("a process ended"))
            return future
        self.ran.append(student)
        try:
            future.set_result(run(course, assignment, student, seed))
        except Exception as error:
            future.set_exception(error)
        return future


def points(course, student):
    return {row["student"]: row for row in table(course, made.NAME)}[student]["points"]


# ---- no submission is lost ----


class Fails:
    """A converter that does not find an entry, and fails in making it."""

    log = logging.getLogger("fails")

    def start(self):
        try:
            try:
                raise LookupError("no such entry")
            except LookupError:
                raise OSError("the server is away")  # noqa: B904
        except OSError:
            self.log.error(traceback.format_exc())
            raise


def test_a_failure_is_told_by_its_cause_not_by_what_was_handled_before():
    assert courses.captured(Fails()) == "OSError: the server is away"


def test_an_error_of_the_grader_is_told_and_the_batch_goes_on(course, monkeypatch):
    for student in ("ada", "bob"):
        made.hand_in(course, student, made.answered(course))
    read = grading.find_notebook

    def fails_for_ada(folder, *rest):
        if "ada" in str(folder):
            raise RuntimeError("the disk is full")
        return read(folder, *rest)

    monkeypatch.setattr(grading, "find_notebook", fails_for_ada)
    reports = {r["student"]: r for r in grading.grade(course, [made.NAME], executor=Here())}
    assert (reports["ada"]["state"], reports["bob"]["state"]) == ("failed", "graded")
    assert reports["ada"]["reasons"] == ["the grader failed; grade it again: RuntimeError: the disk is full"]
    assert {row["student"]: row["state"] for row in table(course, made.NAME)}["ada"] == "failed"
    assert grading.missing(course, made.NAME) == ["ada"]  # the next run tries once more


def cores_after_meeting(fifo, mode):
    """Of the process that runs this, once another process has opened the file, too."""
    with open(fifo, mode):
        return os.sched_getaffinity(0)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux" or len(os.sched_getaffinity(0)) < 2, reason="it needs Linux and two cores")
def test_each_process_has_a_core_of_its_own(tmp_path):
    """So a submission's own processes, however many, take no time from the others: kernels stay on that core."""
    os.mkfifo(tmp_path / "fifo")
    with grading.processes(tmp_path, 2) as pool:
        one, other = pool.map(cores_after_meeting, [tmp_path / "fifo"] * 2, "rw")
    assert len(one) == len(other) == 1 and one != other


def test_there_is_a_process_for_each_core_that_this_one_may_use(tmp_path, monkeypatch):
    """A container may have two cores of a hundred; with more processes, two would share a core."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {3, 5}, raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 100)
    with grading.processes(tmp_path) as pool:
        assert pool._max_workers == 2


def test_what_a_broken_pool_leaves_is_graded_alone(course, monkeypatch):
    made.hand_in(course, "eve", made.answered(course))
    real = grading.processes
    monkeypatch.setattr(
        grading, "processes", lambda scratch, number=None: real(scratch, 1) if number else Here(["eve"])
    )
    (report,) = grading.grade(course, [made.NAME])
    assert report["state"] == "graded" and points(course, "eve") == 8


def test_a_resubmission_that_cannot_be_read_keeps_the_points(course):
    made.hand_in(course, "ada", made.answered(course))
    grading.grade_one(course, made.NAME, "ada")
    made.hand_in(course, "ada", text="{")
    report = grading.grade_one(course, made.NAME, "ada")
    assert report["state"] == "unreadable" and "earlier submission" in report["reasons"][1]
    assert points(course, "ada") == 8


def test_manual_marks_and_comments_survive_a_second_grading(course):
    made.hand_in(course, "ada", made.answered(course))
    first = grading.grade_one(course, made.NAME, "ada", seed=5)
    assert first["seed"] == 5
    with Gradebook(course.database) as gradebook:
        gradebook.find_grade("words", made.NAME, made.NAME, "ada").manual_score = 0.5
        gradebook.find_grade("check_sat", made.NAME, made.NAME, "ada").manual_score = 0.0
        gradebook.find_comment("words", made.NAME, made.NAME, "ada").manual_comment = "And it is never negative."
        gradebook.db.commit()
    made.hand_in(course, "ada", made.answered(course, sat="cat_score = 1.050"))
    assert grading.missing(course, made.NAME) == ["ada"]
    assert grading.grade_one(course, made.NAME, "ada")["cells"]["check_sat"]["points"] == 1
    assert points(course, "ada") == 3 + 0 + 2 + 2 + 0.5
    (page,), _ = write_feedback(course, [made.NAME])
    assert "And it is never negative." in page.read_text(encoding="utf-8")
    assert to_be_read(course) == ["check_sat", "words"]  # what was handed in is not what a person has seen


def to_be_read(course):
    with Gradebook(course.database) as gradebook:
        (notebook,) = gradebook.find_submission(made.NAME, "ada").notebooks
        return sorted(grade.name for grade in notebook.grades if grade.needs_manual_grade)


def test_what_was_read_stays_read_while_the_work_is_the_same(course):
    made.hand_in(course, "ada", made.answered(course))
    grading.grade_one(course, made.NAME, "ada")
    (page,), _ = write_feedback(course, [made.NAME])
    assert to_be_read(course) == ["words"] and "Nobody has read this answer yet." in page.read_text(encoding="utf-8")
    with Gradebook(course.database) as gradebook:
        grade = gradebook.find_grade("words", made.NAME, made.NAME, "ada")
        grade.manual_score, grade.needs_manual_grade = 0.5, False  # as the formgrader enters it
        gradebook.db.commit()
    grading.grade_one(course, made.NAME, "ada")
    (page,), _ = write_feedback(course, [made.NAME])
    assert to_be_read(course) == [] and "Nobody has read this answer yet." not in page.read_text(encoding="utf-8")


GROWS = "rows = []\ndef grow():\n    while True:\n        rows.append(bytearray(2**20))\n"


def fills_memory_often(course):
    """The check of the softmax fills it, as do four cells of the learner's own."""
    notebook = made.answered(course, softmax=f"{GROWS}def masked_softmax(scores, mask):\n    grow()")
    for name in ("softmax", "sat", "sat", "double"):
        (place,) = (n for n, cell in enumerate(notebook.cells) if grade_id(cell) == name)
        notebook.cells.insert(place, made.new_code_cell(f"{GROWS}grow()"))
    cells = "; ".join(f"cell {number} raised MemoryError" for number in (3, 6, 7, 10))
    return notebook, [0, 1, 2, 2], f"{cells}; masked_softmax: it raises MemoryError"


def fills_memory_before_the_end(course):
    """The instructor's own test fills it, and a check that is asked again needs a cell after that."""
    notebook = made.answered(course, sat=None, count=f"{GROWS}def count(words):\n    grow()")
    notebook.cells.append(made.new_code_cell("cat_score = 1.05"))
    return notebook, [3, 1, 2, 0], "check_count raised MemoryError; cell 12, further down, has cat_score"


SWALLOWS = f"{GROWS}def full():\n    try:\n        grow()\n    except MemoryError:\n        pass\n"
NEEDS_SOME = "def double(x):\n    held = bytearray(2**26)\n    return x + x"


def fills_memory_in_silence(course):
    answer = f"{SWALLOWS}{made.SOFTMAX}".replace("closed =", "full()\n    closed =")
    return made.answered(course, softmax=answer, double=NEEDS_SOME), [3, 1, 2, 2], ""


def fills_memory_in_silence_in_a_cell(course):
    notebook = made.answered(course, double=NEEDS_SOME)
    notebook.cells.insert(2, made.new_code_cell(f"{SWALLOWS}full()"))
    return notebook, [3, 1, 2, 2], "cell 3 fills its kernel's memory"


@pytest.mark.skipif(sys.platform != "linux", reason="the limit of memory is one of Linux")
@pytest.mark.parametrize(
    "submission",
    sweep(
        [fills_memory_often, fills_memory_before_the_end, fills_memory_in_silence, fills_memory_in_silence_in_a_cell],
        "fills_memory_before_the_end",
        "fills_memory_in_silence",
        named=lambda submission: submission.__name__,
    ),
)
def test_an_answer_that_fills_memory_costs_no_other_answer(submission, course):
    notebook, wanted, why = submission(course)
    made.hand_in(course, "ada", notebook)
    course = dataclasses.replace(course, memory=2 * 2**30, cell_seconds=60)
    report = grading.grade_one(course, made.NAME, "ada")
    assert [cell["points"] for cell in report["cells"].values()] == wanted, report
    assert sorted(reasons(report).split("; ")) == sorted(why.split("; "))


def test_a_blank_of_any_form_is_asked_again_and_other_names_are_no_answer(course):
    """Of the test's names only the answer's count, and the helpers that it uses: not torch, and no plain use of it."""
    blank = "def {}(x, y=None):\n    {}"
    notebook = made.answered(
        course,
        softmax=blank.format("masked_softmax", "pass"),
        sat="cat_score = None",
        double="def double(x):\n    return twice(x)",
        count=blank.format("count", '"""Counts the words."""'),
    )
    more = ["import torch\ntorch.manual_seed(0)\nprint(cat_score, double)", made.SOFTMAX, made.COUNT]
    notebook.cells += [made.new_code_cell(code) for code in [*more, made.DOUBLE.replace("double", "twice")]]
    made.hand_in(course, "ada", notebook)
    report = grading.grade_one(course, made.NAME, "ada")
    told = {name: (cell["points"], *cell["reasons"]) for name, cell in report["cells"].items()}
    assert told == {
        "check_softmax": (3, "cell 13, further down, has masked_softmax"),
        "check_sat": (0, "cat_score has no answer yet"),
        "check_double": (2, "cell 15, further down, has twice"),
        "check_count": (2, "cell 14, further down, has count"),
    }
    (page,), _ = write_feedback(course, [made.NAME])
    assert "No response." not in page.read_text(encoding="utf-8")  # full marks stand beside some blanks


def test_a_blank_function_is_not_written_yet(course):
    blank = made.answered(course, softmax="def masked_softmax(scores, mask):\n    ...", double=None)
    made.hand_in(course, "ada", blank)
    report = grading.grade_one(course, made.NAME, "ada")
    (page,), _ = write_feedback(course, [made.NAME])
    assert "○ a hidden check: no answer was found" in page.read_text(encoding="utf-8")
    assert report["cells"]["check_softmax"]["reasons"] == ["masked_softmax is not written yet"]


BLANK = dict.fromkeys(made.RIGHT)
SENTENCE = "Each is divided by their sum."
BESIDE = {  # answers that hold the sentence beside their code
    "a comment after code": {"sat": f"cat_score = 1.05  # {SENTENCE}"},
    "a comment below code": {"double": f"{made.DOUBLE}\n# {SENTENCE}"},
    "a docstring": {"double": f'def double(x):\n    """{SENTENCE}"""\n    return x + x'},
    "a text below code": {"sat": f"cat_score = 1.05\n'{SENTENCE}'"},
    "plain": {"sat": f"cat_score = 1.05\n{SENTENCE}"},
}
IN_A_CELL = {
    "plain": SENTENCE,
    "one word": "normalised",
    "a comment": f"# {SENTENCE}",
    "a text": repr(SENTENCE),
    "a docstring": f'"""\n{SENTENCE}\n"""',
    "printed": f"print({SENTENCE!r})",
    "a variable": f"answer = {SENTENCE!r}",
    "a magic": f"%%markdown\n{SENTENCE}",
}


@pytest.mark.parametrize("where", [*(f"in a cell: {n}" for n in IN_A_CELL), *(f"beside code: {n}" for n in BESIDE)])
def test_a_written_answer_is_found_in_code(where, course):
    kind, _, name = where.partition(": ")
    notebook = made.answered(course, words=None, **(BESIDE[name] if kind == "beside code" else {}))
    if kind == "in a cell":
        notebook.cells.append(made.new_code_cell(IN_A_CELL[name]))
    assert has_texts(notebook, [*made.source().cells, *made.answered(course, **BLANK).cells])


@pytest.mark.parametrize("added", ["", "import re", made.SOFTMAX, "cat_score = ...  # YOUR ANSWER HERE"])
def test_what_was_handed_out_and_imports_are_no_written_answer(added, course):
    """A comment that was handed out often stays after the answer."""
    notebook = made.answered(course, words=None, sat="cat_score = 1.05  # YOUR ANSWER HERE", double=made.DOUBLE)
    notebook.cells.append(made.new_code_cell(added))
    source = made.source()
    source.cells.append(made.new_code_cell(made.SOFTMAX))
    assert not has_texts(notebook, [*source.cells, *made.answered(course, **BLANK).cells])


def test_a_written_answer_in_a_code_cell_waits_for_a_person(course):
    notebook = made.answered(course, words=None)
    notebook.cells.append(made.new_code_cell(SENTENCE))
    made.hand_in(course, "ada", notebook)
    report = grading.grade_one(course, made.NAME, "ada")
    assert "words: its cell is empty; a person must read the other cells" in report["reasons"]
    (page,), _ = write_feedback(course, [made.NAME])
    assert to_be_read(course) == ["words"] and "No response." not in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "waiting", "told"),
    [
        (
            f"1. {SENTENCE}\n2. A mean.",
            ["why", "words"],
            ["why: its cell is empty; a person must read the other cells"],
        ),
        (None, [], ["words: nothing is written in its cell", "why: nothing is written in its cell"]),
    ],
    ids=["two answers in one cell", "no answer"],
)
def test_an_empty_cell_waits_for_whoever_reads_another_written_answer(words, waiting, told, tmp_path):
    course, source = made._course(tmp_path), made.source()
    source.cells.append(made.new_markdown_cell("It is a mean.", metadata=made.marks("written", "why", 1)))
    nbformat.write(source, made.write_sources(tmp_path) / f"{made.NAME}.ipynb")
    list(courses.release(course, tmp_path / "private"))
    made.hand_in(course, "ada", made.answered(course, words=words))
    assert grading.grade_one(course, made.NAME, "ada")["reasons"] == told
    assert to_be_read(course) == waiting


@pytest.mark.parametrize("read", [True, False])
def test_a_date_that_is_written_later_counts_and_what_was_read_stays_read(course, read):
    """For example, Moodle's worksheet says only later who was late."""
    with Gradebook(course.database) as gradebook:
        gradebook.update_or_create_assignment(made.NAME, duedate=datetime(2026, 11, 1))
    for student, text in (("ada", None), ("bad", "{")):
        folder = made.hand_in(course, student, made.answered(course), text=text)
        grading.grade_one(course, made.NAME, student)
        (folder / "timestamp.txt").write_text("2026-11-01 00:01:00 UTC")
    if read:
        with Gradebook(course.database) as gradebook:
            grade = gradebook.find_grade("words", made.NAME, made.NAME, "ada")
            grade.manual_score, grade.needs_manual_grade = 0.5, False
            gradebook.db.commit()
    assert grading.missing(course, made.NAME) == ["ada", "bad"]
    for student in ("ada", "bad"):
        grading.grade_one(course, made.NAME, student)
    assert [row["late_seconds"] for row in table(course, made.NAME)] == [60, 60]
    assert to_be_read(course) == ([] if read else ["words"])


@pytest.mark.parametrize(
    "text", sweep(["no date", "", "\udcff", "99999999999999999999-01-01"], "'no date'", named=repr)
)
def test_a_file_of_the_date_that_holds_none_counts_as_none(text, course):
    for notebook, state in ((made.answered(course), "graded"), (None, "unreadable")):
        folder = made.hand_in(course, "ada", notebook, text=None if notebook else "{")
        (folder / "timestamp.txt").write_text(text, errors="surrogateescape")
        report = grading.grade_one(course, made.NAME, "ada")
        assert report["state"] == state, report
        assert ("its timestamp.txt holds no date and is ignored" in report["reasons"]) == bool(notebook)


@pytest.mark.skipif(os.name != "posix", reason="a run that cannot be caught is killed by a signal of POSIX")
def test_of_a_run_that_is_killed_nothing_stays_and_two_do_not_run_at_once(course, tmp_path):
    made.hand_in(course, "eli", made.answered(course, sat="while True:\n    pass"))
    run = made.start(tmp_path, seconds=600, stderr=subprocess.PIPE)
    of_run = []
    try:
        until = time.monotonic() + 120
        while not [*tmp_path.glob("course-run-*/course-kernel-*/given")]:
            assert run.poll() is None and time.monotonic() < until, run.stderr.read() if run.poll() else "no kernel"
            time.sleep(0.2)
        of_run = psutil.Process(run.pid).children(recursive=True)
        with pytest.raises(courses.CourseError, match="Another make grade is running"):
            grading.grade(course, [made.NAME], executor=Here())
    finally:
        run.send_signal(signal.SIGKILL)
        run.stderr.close()
        run.wait()
    _, alive = psutil.wait_procs(of_run, timeout=20)
    assert not alive
    assert list(tmp_path.glob("course-run-*/course-kernel-*")) and list(course.folder.glob(".staged-*"))
    tempfile.tempdir, before = str(tmp_path), tempfile.tempdir
    try:
        with grading._swept(course) as scratch:
            assert not list(scratch.iterdir()) and not list(course.folder.glob(".staged-*"))
    finally:
        tempfile.tempdir = before
    assert not list(tmp_path.glob("course-run-*"))


def test_a_lock_that_nobody_holds_stops_nobody(course):
    (course.folder / ".grading.lock").touch()
    assert grading.grade(course, [made.NAME], executor=Here()) == []


def test_what_the_gradebook_has_otherwise_than_the_report_is_told_if_no_person_gave_it(course, capsys):
    for student in ("ada", "bob"):
        made.hand_in(course, student, made.answered(course, sat="cat_score = 2.0"))
        grading.grade_one(course, made.NAME, student)
    assert not any("not as reported" in row["state"] for row in table(course, made.NAME))
    with Gradebook(course.database) as gradebook:
        gradebook.find_grade("check_sat", made.NAME, made.NAME, "ada").auto_score = 1.0
        gradebook.find_grade("check_sat", made.NAME, made.NAME, "bob").manual_score = 1.0
        gradebook.db.commit()
    rows = {row["student"]: row for row in table(course, made.NAME)}
    assert rows["ada"]["state"] == "graded, to be read, not as reported"
    told = "check_sat: the gradebook has 1, the report 0; grade it again"
    assert rows["ada"]["reason"].startswith(told) and f"03_small ada: {told}" in capsys.readouterr().err
    assert rows["bob"]["state"] == "graded, to be read" and rows["bob"]["points"] == 8


def test_what_would_steer_a_terminal_is_escaped_in_the_table(course):
    with Gradebook(course.database) as gradebook:
        gradebook.update_or_create_student("eve", first_name="\x1b[2JEve", last_name="=1+1")
    text = write_grades(course, made.NAME).read_text(encoding="utf-8-sig")
    assert "\x1b" not in text and "\\x1b[2JEve,'=1+1," in text


def test_work_that_is_too_large_for_a_page_gets_its_points_and_its_file(course):
    notebook = made.answered(course)
    notebook.cells.append(made.new_markdown_cell("<b>" * 400_000))
    made.hand_in(course, "ada", notebook)
    grading.grade_one(course, made.NAME, "ada")
    (page,), without = write_feedback(course, [made.NAME])
    text = page.read_text(encoding="utf-8")
    assert "only the points" in text and "check_softmax<td>3 of 3" in text and not without
    assert f'href="{made.NAME}.ipynb"' in text and page.with_suffix(".ipynb").exists()
    assert "HIDDEN" not in page.with_suffix(".ipynb").read_text(encoding="utf-8")


def test_reasons_fit_into_a_cell_of_a_spreadsheet_and_a_semicolon_begins_no_new_one(course):
    report = {"assignment": made.NAME, "student": "eve", "state": "graded", "cells": {}, "seed": 1}
    told = [f"cell {number} raised ValueError: ;=1+1 {'x' * 200}" for number in range(1_900)]
    grading.keep(course, report | {"reasons": told})
    course.path("submitted", "eve", made.NAME).mkdir(parents=True)
    text = write_grades(course, made.NAME).read_text(encoding="utf-8-sig")
    (row,) = csv.DictReader(text.splitlines())
    assert len(row["reason"]) < 12_000 and row["reason"].endswith("more, in its report") and ";" not in text


@pytest.mark.skipif(sys.platform != "linux", reason="a name of bytes is one of Linux")
def test_a_file_of_any_name_and_a_link_that_leads_nowhere_end_no_run(course):
    folder = made.hand_in(course, "ada", made.answered(course))
    (folder / os.fsdecode(b"caf\xe9.txt")).touch()
    folder = made.hand_in(course, "bob", name="notes.txt", text="")
    (folder / f"{made.NAME}.ipynb").symlink_to("nowhere")
    reports = grading.grade(course, [made.NAME], executor=Here())
    assert sorted(report["state"] for report in reports) == ["graded", "unreadable"]
    assert grading.missing(course, made.NAME) == []


def test_a_cluster_grades(course):
    distributed = pytest.importorskip("distributed")
    for student in ("ada", "bob"):
        made.hand_in(course, student, made.answered(course))
    options = {"n_workers": 1, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        reports = grading.grade(course, [made.NAME], executor=client.get_executor())
    assert {r["student"]: sum(cell["points"] for cell in r["cells"].values()) for r in reports} == {"ada": 8, "bob": 8}


# ---- what a learner's kernel is given ----

LOOKS_AROUND = """
import json, os, pathlib, resource, subprocess
subprocess.Popen(["sleep", "86399"], stdout=subprocess.DEVNULL)
pathlib.Path("left.txt").write_text("here")
print(json.dumps({"names": sorted(os.environ), "home": os.environ["HOME"], "here": os.getcwd(),
                  "memory": resource.getrlimit(resource.RLIMIT_DATA)[0]}))
print("long " * 1_000_000)
cat_score = 1.05"""


@pytest.mark.skipif(os.name != "posix", reason="limits and sessions are those of POSIX")
@pytest.mark.parametrize("sandboxed", [True, False])
def test_a_kernel_has_a_folder_of_its_own_limits_and_none_of_the_instructors_variables(sandboxed, course, monkeypatch):
    if sandboxed and not course.sandboxed:
        pytest.skip(f"there is no sandbox: {sandbox.missing()}")
    course = dataclasses.replace(course, sandboxed=sandboxed)
    for name in ("COURSE_SOURCE", "COURSE_CACHE", "COURSE_DATABASE", "SOME_TOKEN"):
        monkeypatch.setenv(name, "secret")
    folder = made.hand_in(course, "ada", made.answered(course, sat=LOOKS_AROUND))
    before = sorted(folder.iterdir())
    report = grading.grade_one(course, made.NAME, "ada")
    assert report["cells"]["check_sat"]["points"] == 1, report
    graded = course.path("autograded", "ada", made.NAME, f"{made.NAME}.ipynb")
    assert graded.stat().st_size < 1_100_000  # what is printed beyond all measure is dropped
    (cell,) = [c for c in nbformat.read(graded, as_version=4).cells if grade_id(c) == "sat"]
    seen = json.loads(cell.outputs[0].text.splitlines()[0])
    assert not {"COURSE_SOURCE", "COURSE_CACHE", "COURSE_DATABASE", "SOME_TOKEN"} & set(seen["names"])
    assert seen["memory"] == course.memory
    assert seen["here"].startswith(seen["home"]) and not os.path.exists(seen["home"])  # it is gone afterwards
    left = [process for process in psutil.process_iter(["cmdline"]) if process.info["cmdline"] == ["sleep", "86399"]]
    psutil.wait_procs(left, timeout=5)
    assert not [process for process in left if process.is_running() and process.status() != psutil.STATUS_ZOMBIE]
    assert sorted(folder.iterdir()) == before  # what was handed in stays as it was


CHECKS = """
import contextlib, json, os, pathlib
from course_lib import checks
with contextlib.suppress(checks.Wrong):
    checks.check("cat_score", 7)
print(json.dumps([sorted(os.listdir()), pathlib.Path("tries.txt").read_text()]))
cat_score = 7"""


@pytest.mark.parametrize("sandboxed", [True, False])
def test_a_log_of_checks_that_was_handed_in_earns_nothing_and_no_other_is_kept(sandboxed, course):
    if sandboxed and not course.sandboxed:
        pytest.skip(f"there is no sandbox: {sandbox.missing()}")
    course = dataclasses.replace(course, sandboxed=sandboxed)
    folder = made.hand_in(course, "ada", made.answered(course, sat=CHECKS))
    log = "\n2026-01-02T03:04:05+00:00 cat_score right"
    (folder / "tries.txt").write_text(log)
    (folder / "progress.json").write_text('{"cat_score": "2026-01-02"}')
    report = grading.grade_one(course, made.NAME, "ada")
    assert report["cells"]["check_sat"]["points"] == 0, report
    graded = nbformat.read(course.path("autograded", "ada", made.NAME, f"{made.NAME}.ipynb"), as_version=4)
    (cell,) = [c for c in graded.cells if grade_id(c) == "sat"]
    printed = "".join(output.text for output in cell.outputs if output.output_type == "stream")
    assert json.loads(printed.splitlines()[-1]) == [["tries.txt"], log]


# ---- the instructor's cells ----


def test_deleted_cells_come_back_in_their_order():
    source = made.source()
    wanted = [grade_id(cell) for cell in source.cells if grade_id(cell)]
    locked = [name for name in wanted if name.startswith(("check", "setup", "words"))]
    draw = random.Random(0)
    for _ in range(200):
        theirs = made.source()
        theirs.cells = [cell for cell in theirs.cells if draw.random() < 0.5]
        theirs.cells += [made.new_code_cell("extra")]
        kept = [grade_id(cell) for cell in theirs.cells if grade_id(cell)]
        told = put_back(theirs, source, source)
        found = [grade_id(cell) for cell in theirs.cells if grade_id(cell)]
        assert found == [name for name in wanted if name in kept or name in locked]
        assert len(told) == len(set(locked) - set(kept))


def test_an_answer_typed_into_its_question_stays_and_can_be_read():
    source = made.source()
    question = made.new_markdown_cell("Why do they sum to one?", metadata=made.marks("test", "question"))
    question.metadata["nbgrader"]["grade"] = False
    source.cells.insert(0, question)
    theirs = nbformat.reads(nbformat.writes(source), as_version=4)
    theirs.cells[0].source += "\n\nSince each is divided by their sum."
    assert put_back(theirs, source, source) == ["question was edited and has been restored"]
    assert theirs.cells[0].source == question.source
    assert theirs.cells[1].source.endswith("Since each is divided by their sum.") and not grade_id(theirs.cells[1])


def test_marks_of_a_cell_cannot_be_changed_by_the_learner():
    theirs = made.source()
    for cell in theirs.cells:
        if grade_id(cell) == "check_sat":
            cell.metadata = nbformat.from_dict({"tags": ["skip-execution"], "nbgrader": {"grade_id": "check_sat"}})
            cell.cell_type, cell.source = "markdown", "nothing to see"
    assert put_back(theirs, made.source(), made.source()) == ["check_sat was edited and has been restored"]
    for cell, ours in zip(theirs.cells, made.source().cells, strict=True):
        assert (cell.cell_type, cell.source, cell.metadata.get("nbgrader")) == (
            ours.cell_type,
            ours.source,
            ours.metadata.get("nbgrader"),
        )


# ---- handing out ----


@pytest.mark.parametrize(
    ("old", "new", "wanted"),
    [
        ('checks.check("cat_score", cat_score)', 'checks.check("no_such", cat_score)', "check_sat asks for 'no_such'"),
        ('checks.check("cat_score", cat_score)', 'checks.check("cat_scor", cat_score)', "Did you mean cat_score or "),
        ('checks.check("cat_score", cat_score)', "if True:\n    checks.check('cat_score', 1)", "on a line of its own"),
        ("### END SOLUTION", "", "lacks its other half"),
    ],
)
def test_a_faulty_source_is_refused_with_its_name_and_the_reason(old, new, wanted, course, tmp_path):
    sources = tmp_path / "faulty"
    sources.mkdir()
    notebook = made.source()
    for cell in notebook.cells:
        cell.source = cell.source.replace(old, new)
    nbformat.write(notebook, sources / "04_faulty.ipynb")
    (sources / "graded.py").write_text(made.GRADED)
    with pytest.raises(courses.CourseError, match=f"04_faulty.ipynb: .*{wanted}"):
        list(courses.release(course, sources))


def test_a_late_penalty_of_the_instructors_own_holds_and_is_a_reason(course):
    """Its setting stands in the course's folder, as nbgrader's own would."""
    (course.folder / courses.CONFIG).write_text("c = get_config()\nc.LateSubmissionPlugin.penalty_method = 'zero'\n")
    with Gradebook(course.database) as gradebook:
        gradebook.update_or_create_assignment(made.NAME, duedate=datetime(2026, 11, 1))
    folder = made.hand_in(course, "ada", made.answered(course))
    (folder / "timestamp.txt").write_text("2026-11-01 00:01:00 UTC")
    grading.grade_one(course, made.NAME, "ada")
    (row,) = table(course, made.NAME)
    assert row["points"] == 0 and row["reason"] == "8 points off, since it was handed in 60 s late"


def test_reasons_in_the_table_are_told_apart_from_the_marks_within_them(course):
    with Gradebook(course.database) as gradebook:
        gradebook.update_or_create_assignment(made.NAME, duedate=datetime(2026, 11, 1))
    folder = made.hand_in(course, "ada", made.answered(course))
    (folder / "timestamp.txt").write_text("2026-11-01 00:01:00 UTC")
    report = grading.grade_one(course, made.NAME, "ada")
    told = ["words: its cell is empty; a person must read the other cells", "so; much ;for; that"]
    grading.keep(course, report | {"reasons": told})
    for penalty, off in ((1, "1 point"), (2, "2 points"), (0.5, "0.5 points")):
        with Gradebook(course.database) as gradebook:
            gradebook.find_submission(made.NAME, "ada").notebooks[0].late_submission_penalty = penalty
            gradebook.db.commit()
        text = write_grades(course, made.NAME).read_text(encoding="utf-8-sig")
        (row,) = csv.DictReader(text.splitlines())
        assert row["reason"] == (
            f"{off} off, since it was handed in 60 s late | "
            "words: its cell is empty – a person must read the other cells | so – much – for – that"
        )


def test_a_release_that_is_refused_leaves_what_was_handed_out(course, tmp_path):
    """nbgrader takes no new graded cell once there are submissions; grading goes on as before."""
    made.hand_in(course, "ada", made.answered(course))
    grading.grade_one(course, made.NAME, "ada")
    sources = tmp_path / "changed"
    sources.mkdir()
    notebook = made.source()
    notebook.cells.append(made.new_code_cell("assert True", metadata=made.marks("test", "one_more", 1)))
    nbformat.write(notebook, sources / f"{made.NAME}.ipynb")
    (sources / "graded.py").write_text(made.GRADED + "\n# changed\n")
    places = [course.path("source"), course.path("release"), course.folder / "graded.py"]
    files = [file for place in places for file in (place, *place.rglob("*")) if file.is_file()]
    before = {file: file.read_bytes() for file in files}
    with pytest.raises(
        courses.CourseError,
        match=f"{made.NAME}.ipynb: Cannot add .* with it\\. What you handed out before stays as it was",
    ):
        list(courses.release(course, sources))
    assert {file: file.read_bytes() for file in files} == before
    grading.grade_one(course, made.NAME, "ada")
    assert points(course, "ada") == 8


def test_what_was_handed_out_by_mistake_can_be_removed(course, tmp_path):
    """As INSTRUCTORS.md says; what has submissions is not removed."""
    other = tmp_path / "private" / "01_other.ipynb"
    nbformat.write(made.source(), other)
    list(courses.release(course, other.parent, ["01_other"]))
    made.hand_in(course, "ada", made.answered(course))
    grading.grade_one(course, made.NAME, "ada")
    for step in ("source", "release"):
        shutil.rmtree(course.path(step, "01_other"))
    environment = {**os.environ, "COURSE_DIRECTORY": str(course.folder), "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-m", "nbgrader", "db", "assignment", "remove"]
    removed = [
        subprocess.run([*command, name], cwd=courses.ROOT, env=environment, capture_output=True).returncode
        for name in ("01_other", made.NAME)
    ]
    assert removed == [0, 1] and course.find() == [made.NAME] and points(course, "ada") == 8
    with Gradebook(course.database) as gradebook:
        assert [assignment.name for assignment in gradebook.assignments] == [made.NAME]


def test_a_private_check_may_not_take_a_name_of_the_course(tmp_path):
    (tmp_path / "graded.py").write_text(made.GRADED.replace('"double"', '"cat_score"'))
    with pytest.raises(courses.CourseError, match="cat_score is already the name of a check"):
        courses.exercises(tmp_path)
    assert "cat_score" in courses.exercises(tmp_path / "none")


@pytest.mark.parametrize("due", ["soon", "01.11.2026", "11/01/2026", "1 November 2026"])
def test_a_date_that_is_none_or_could_be_another_is_refused(due, course, tmp_path):
    with pytest.raises(courses.CourseError, match=f"--due got '{due}'. Write a date"):
        list(courses.release(course, tmp_path / "private", due=due))


def test_a_number_of_seconds_that_is_none_is_refused(monkeypatch):
    monkeypatch.setenv("COURSE_CELL_SECONDS", "long")
    with pytest.raises(courses.CourseError, match="COURSE_CELL_SECONDS is 'long', but must be a whole number"):
        Course.here()
    monkeypatch.setenv("COURSE_CELL_SECONDS", "60")
    assert Course.here().cell_seconds == 60
