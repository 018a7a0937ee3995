"""Grades one submission with `grade_one`, or a class with `grade`, which uses one process per core.

Each submission gets its own gradebook entry and report. So a run that is killed loses nothing, and the next one grades
what is missing or has changed.
"""

import contextlib
import hashlib
import json
import os
import secrets
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, ProcessPoolExecutor, as_completed
from multiprocessing import get_context, parent_process
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path

import filelock
import nbformat
import psutil
from tqdm import tqdm

from course_lib.files import write_json
from course_lib.grading import sandbox
from course_lib.grading.course import RECORD, Course, CourseError, captured, checks_digest, digest, grade_cells, shown
from course_lib.grading.submission import (
    TIMESTAMP,
    Unreadable,
    find_notebook,
    grade_id,
    handed_in_at,
    is_file,
    printable,
    put_back,
)

STAGED = ".staged-"


# ---- one submission ----


def grade_one(course: Course, assignment: str, student: str, seed: int | None = None) -> dict:
    """Grades a submission, enters its points and writes its report. Takes and returns plain data, and never raises.

    Args:
        seed: of the drawn inputs; None draws a fresh one. The report keeps it.
    Returns:
        The report: state ("graded", "unreadable" or "failed"), reasons, points by cell, seed, whether it ran in a
        sandbox, hashes, seconds.
    """
    started = time.monotonic()
    seed = secrets.randbelow(2**31) if seed is None else seed
    report = {"assignment": assignment, "student": student, "state": "graded", "reasons": [], "cells": {}, "seed": seed}
    report["sandboxed"] = course.sandboxed
    try:
        report |= fingerprint(course, assignment, student)
        try:
            reasons, record = _autograde(course, assignment, student, seed, report)
            report["cells"] = record["cells"]
            report["reasons"] = reasons + record["reasons"]
        except Unreadable as error:
            report["state"] = "unreadable"
            report["reasons"] = [str(error), *_enter_nothing(course, assignment, student)]
    except Exception as error:
        report["state"] = "failed"
        report["reasons"] = [f"the grader failed; grade it again: {type(error).__name__}: {error}"]
    report["reasons"] = [printable(reason) for reason in report["reasons"]]
    report["seconds"] = round(time.monotonic() - started, 1)
    keep(course, report)
    return report


def fingerprint(course: Course, assignment: str, student: str) -> dict:
    """Returns hashes of the submission, of its work without the date, and of the checks.

    If all are unchanged, there is nothing to grade. If the work is, points given by hand still hold.
    """
    folder = course.path("submitted", student, assignment)
    files = [path for path in folder.rglob("*") if is_file(path)]
    handed_in, work = digest(files, folder), digest([path for path in files if path != folder / TIMESTAMP], folder)
    if (note := course.note(assignment, student)).exists():
        handed_in += digest([note], note.parent)
    return {"submission": handed_in, "work": work, "checks": checks_digest(course, assignment)}


def _autograde(course: Course, assignment: str, student: str, seed: int, now: dict) -> tuple[list[str], dict]:
    from nbgrader.converters import Autograde
    from nbgrader.coursedir import CourseDirectory

    folder = course.path("submitted", student, assignment)
    source = nbformat.read(course.source(assignment), as_version=4)
    handed_out = nbformat.read(course.path("release", assignment, f"{assignment}.ipynb"), as_version=4)
    note = course.note(assignment, student)
    note = note.read_text(encoding="utf-8").strip() if note.exists() else ""
    notebook, reasons = find_notebook(folder, assignment, {grade_id(cell) for cell in source.cells} - {None}, note)
    reasons += put_back(notebook, source, handed_out)
    # Give nbgrader a copy, so that the submitted work stays as it is.
    with tempfile.TemporaryDirectory(prefix=STAGED, dir=course.folder) as staged:
        copy = Path(staged) / student / assignment
        shutil.copytree(folder, copy, ignore=_not_passed_on)
        nbformat.write(notebook, copy / f"{assignment}.ipynb")
        try:
            handed_in_at(folder)
        except ValueError:
            reasons.append(f"its {TIMESTAMP} holds no date and is ignored")
            (copy / TIMESTAMP).unlink()
        config = course.config()
        config.CourseDirectory.update(
            submitted_directory=Path(staged).name, assignment_id=assignment, student_id=student, notebook_id=assignment
        )
        config.Marking.seed = seed
        before = kept(course, assignment, student)
        # Reports of an earlier version have no hash of the work alone.
        config.SaveMarks.same_work = bool(before) and any(
            before.get(what) == now[what] for what in ("work", "submission")
        )
        directory = CourseDirectory(config=config)
        if failed := captured(Autograde(coursedir=directory, config=config, force=True)):
            raise RuntimeError(failed)
    graded = nbformat.read(course.path("autograded", student, assignment, f"{assignment}.ipynb"), as_version=4)
    record = graded.metadata[RECORD]
    record["cells"] = {name: record["cells"][name] for name in grade_cells(source)}  # in the notebook's order
    return reasons, record


def _not_passed_on(folder: str, names: list[str]) -> list[str]:
    """Returns the notebooks, and anything but files and folders: a link could lead to what no learner may see."""
    notebooks = shutil.ignore_patterns("*.ipynb", ".ipynb_checkpoints")(folder, names)
    paths = [Path(folder, name) for name in names]
    return [*notebooks, *(p.name for p in paths if p.is_symlink() or not (p.is_file() or p.is_dir()))]


def _enter_nothing(course: Course, assignment: str, student: str) -> list[str]:
    """Enters an unreadable submission with 0 points, or keeps the points of an earlier one."""
    from nbgrader.api import Gradebook, MissingEntry

    time_stamp = None
    with contextlib.suppress(ValueError):
        time_stamp = handed_in_at(course.path("submitted", student, assignment))
    with Gradebook(course.database) as gradebook:
        try:
            if gradebook.find_submission(assignment, student).score:
                return ["its points are those of an earlier submission"]
        except MissingEntry:
            gradebook.update_or_create_student(student)
        gradebook.update_or_create_submission(assignment, student, timestamp=time_stamp)
        for notebook in gradebook.find_submission(assignment, student).notebooks:
            for grade in notebook.grades:
                grade.auto_score, grade.needs_manual_grade = 0.0, False
        gradebook.db.commit()
    return []


# ---- reports ----


def report_file(course: Course, assignment: str, student: str) -> Path:
    return course.path("reports", assignment, f"{student}.json")


def keep(course: Course, report: dict) -> None:
    write_json(report_file(course, report["assignment"], report["student"]), report)


def kept(course: Course, assignment: str, student: str) -> dict | None:
    """Returns a submission's report, or None if there is none. A file that is not a report is named on stderr."""
    file = report_file(course, assignment, student)
    try:
        report = json.loads(file.read_text(encoding="utf-8"))
        cells = report["cells"].values()
        told = [*report["reasons"], *(reason for cell in cells for reason in cell["reasons"])]
        if not all(isinstance(text, str) for text in (report["state"], *told)):
            raise ValueError("not every text is a string")
        if not all(isinstance(cell["points"], int | float) for cell in cells):
            raise ValueError("not all points are numbers")
        return report
    except FileNotFoundError:
        return None
    except (AttributeError, LookupError, OSError, RecursionError, TypeError, ValueError):
        tqdm.write(
            f"{shown(file)} cannot be read as a report; make grade grades this submission again", file=sys.stderr
        )
        return None


# ---- a class ----


def handed_in(course: Course, assignment: str) -> list[str]:
    return sorted(path.parent.name for path in course.path("submitted").glob(f"*/{assignment}") if path.is_dir())


def entered(course: Course, assignment: str) -> set[str]:
    """Returns the students whose submission is in the gradebook."""
    from nbgrader.api import Gradebook

    with Gradebook(course.database) as gradebook:
        return {submission.student.id for submission in gradebook.assignment_submissions(assignment)}


def missing(course: Course, assignment: str) -> list[str]:
    """Returns whom to grade: no gradebook entry, a changed submission or check, or a grader that failed."""
    there = entered(course, assignment)

    def is_done(student):
        report = kept(course, assignment, student)
        now = fingerprint(course, assignment, student)
        return student in there and report and report["state"] != "failed" and now.items() <= report.items()

    return [student for student in handed_in(course, assignment) if not is_done(student)]


def processes(scratch: Path, number: int | None = None) -> ProcessPoolExecutor:
    """Starts one process per core, each a fresh Python that keeps its temporary files in the scratch folder."""
    context = get_context("spawn")
    started = {"initializer": _begin, "initargs": (str(scratch), context.Value("i", 0))}
    return ProcessPoolExecutor(number or len(_cores()), mp_context=context, **started)


def _cores() -> list[int]:
    """Returns the cores that this process may use; in a container they can be fewer than the machine's."""
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else [*range(os.cpu_count())]


def _begin(scratch: str, begun: Synchronized) -> None:
    """Sets up a new process: nothing it starts outlives the run, however the run ends.

    The process and its kernels stay on one core. So an endless submission, in any number of processes, takes no time
    from the others.
    """
    tempfile.tempdir = scratch
    if hasattr(os, "sched_setaffinity"):  # on Linux
        with begun.get_lock():
            number, begun.value = begun.value, begun.value + 1
        cores = _cores()
        os.sched_setaffinity(0, {cores[number % len(cores)]})

    def end_with_parent():
        parent_process().join()
        for child in psutil.Process().children(recursive=True):
            with contextlib.suppress(psutil.Error):
                child.kill()
        os._exit(1)

    threading.Thread(target=end_with_parent, daemon=True).start()


@contextlib.contextmanager
def _alone(course: Course) -> Iterator[None]:
    """Raises CourseError if another run is grading this course."""
    lock = filelock.FileLock(course.folder / ".grading.lock")
    try:
        with lock.acquire(timeout=0):
            yield
    except filelock.Timeout:
        raise CourseError(
            f"Another make grade is running on {shown(course.folder)}. Wait until it ends, or stop it."
        ) from None


@contextlib.contextmanager
def _swept(course: Course) -> Iterator[Path]:
    """Yields a scratch folder, after removing what a killed run of this course left behind."""
    for staged in course.folder.glob(f"{STAGED}*"):
        shutil.rmtree(staged, ignore_errors=True)
    name = hashlib.sha256(os.fsencode(course.folder)).hexdigest()[:8]
    scratch = Path(tempfile.gettempdir()) / f"course-run-{name}"
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(mode=0o700)
    try:
        yield scratch
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def grade(
    course: Course,
    assignments: Sequence[str],
    executor: Executor | None = None,
    again: bool = False,
    seed: int | None = None,
) -> list[dict]:
    """Grades what is missing or has changed, with a progress bar.

    Args:
        executor: runs `grade_one`. None uses processes on this machine. The caller closes any other executor, such as
            `dask.distributed.Client(...).get_executor(pure=False)`, which never reuses the reports of an earlier run.
            Its workers must see the course's folder and database, and each needs a process of its own (in Dask:
            threads_per_worker=1).
        again: also grades what is already graded.
        seed: as for `grade_one`.
    Returns:
        The reports of what was graded.
    Raises:
        CourseError: another run is grading this course, or the course needs a sandbox and this machine has none.
    """
    if course.sandboxed and not executor and (reason := sandbox.missing()):
        raise CourseError(
            f"The sandbox for learners' code cannot run here: {reason}. Grade in a container, as INSTRUCTORS.md "
            "explains, or, if you trust everyone who handed in, run: make grade ARGS=--unsandboxed"
        )
    with _alone(course):
        return _grade(course, assignments, executor, again, seed)


def _grade(
    course: Course, assignments: Sequence[str], executor: Executor | None, again: bool, seed: int | None
) -> list[dict]:
    tasks = [(a, s) for a in assignments for s in (handed_in(course, a) if again else missing(course, a))]
    with tqdm(total=len(tasks), unit="submission", disable=None) as bar:
        if executor:
            return _run(executor, course, tasks, seed, bar)
        with _swept(course) as scratch:
            with processes(scratch) as pool:
                reports = _run(pool, course, tasks, seed, bar)
            # A killed process takes the whole pool with it, so grade the rest one by one.
            lost = [(r["assignment"], r["student"]) for r in reports if r.get("lost")]
            reports = [report for report in reports if not report.get("lost")]
            for task in lost:
                with processes(scratch, 1) as alone:
                    reports += _run(alone, course, [task], seed, bar)
    return reports


def _run(executor: Executor, course: Course, tasks: Sequence[tuple], seed: int | None, bar: tqdm) -> list[dict]:
    running = {executor.submit(grade_one, course, assignment, student, seed): (assignment, student)
               for assignment, student in tasks}  # fmt: skip
    reports = []
    try:
        for future in as_completed(running):
            assignment, student = running[future]
            try:
                reports.append(future.result())
                bar.update()
            except Exception as error:
                told = f"the grader's process ended; grade it again: {type(error).__name__}: {error}"
                report = {"assignment": assignment, "student": student, "state": "failed", "reasons": [printable(told)]}
                report |= {"cells": {}, "seed": seed, "sandboxed": course.sandboxed, "seconds": 0.0}
                report["lost"] = isinstance(error, BrokenExecutor)
                keep(course, report)
                reports.append(report)
    finally:
        for future in running:
            future.cancel()
    return reports
