"""Runs of the grader: killed ones, lost processes, manual marks, a cluster; and what a learner's kernel is given."""

import json
import os
import random
from concurrent.futures import Executor, Future
from concurrent.futures.process import BrokenProcessPool

import made_up_class as made
import nbformat
import psutil
import pytest

pytest.importorskip("nbgrader")

from nbgrader.api import Gradebook

from course_lib.grading import course as courses
from course_lib.grading import grade as grading
from course_lib.grading.report import table, write_feedback
from course_lib.grading.submission import grade_id, put_back

pytestmark = pytest.mark.notebook  # they execute notebooks


@pytest.fixture
def course(tmp_path):
    return made.make_course(tmp_path)


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
    assert reports["ada"]["reasons"] == ["the grader failed, grade it again: RuntimeError: the disk is full"]
    assert {row["student"]: row["state"] for row in table(course, made.NAME)}["ada"] == "failed"
    assert grading.missing(course, made.NAME) == ["ada"]  # the next run tries once more


def test_what_a_broken_pool_leaves_is_graded_alone(course, monkeypatch):
    made.hand_in(course, "eve", made.answered(course))
    monkeypatch.setattr(grading, "processes", lambda: Here(broken=["eve"]))
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
child = subprocess.Popen(["sleep", "600"], stdout=subprocess.DEVNULL)
pathlib.Path("left.txt").write_text("here")
print(json.dumps({"names": sorted(os.environ), "home": os.environ["HOME"], "here": os.getcwd(), "child": child.pid,
                  "memory": resource.getrlimit(resource.RLIMIT_DATA)[0]}))
print("long " * 1_000_000)
cat_score = 1.05"""


@pytest.mark.skipif(os.name != "posix", reason="limits and sessions are those of POSIX")
def test_a_kernel_has_a_folder_of_its_own_limits_and_none_of_the_instructors_variables(course, monkeypatch):
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
    assert not psutil.pid_exists(seen["child"]) or psutil.Process(seen["child"]).status() == psutil.STATUS_ZOMBIE
    assert sorted(folder.iterdir()) == before  # what was handed in stays as it was


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


def test_marks_of_a_cell_cannot_be_changed_by_the_learner():
    theirs = made.source()
    for cell in theirs.cells:
        if grade_id(cell) == "check_sat":
            cell.metadata = nbformat.from_dict({"tags": ["skip-execution"], "nbgrader": {"grade_id": "check_sat"}})
            cell.cell_type, cell.source = "markdown", "nothing to see"
    assert put_back(theirs, made.source(), made.source()) == ["check_sat was edited, and is restored"]
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
        ('checks.check("cat_score", cat_score)', "if True:\n    checks.check('cat_score', 1)", "lines of their own"),
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


def test_a_private_check_may_not_take_a_name_of_the_course(tmp_path):
    (tmp_path / "graded.py").write_text(made.GRADED.replace('"double"', '"cat_score"'))
    with pytest.raises(courses.CourseError, match="cat_score is a name of the course's own checks"):
        courses.exercises(tmp_path)
    assert "cat_score" in courses.exercises(tmp_path / "none")


def test_a_date_that_is_none_is_refused(course, tmp_path):
    with pytest.raises(courses.CourseError, match="due is 'soon'"):
        list(courses.release(course, tmp_path / "private", due="soon"))
