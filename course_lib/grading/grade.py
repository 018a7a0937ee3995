"""Grades submissions: one at a time by `grade_one`, or a class by `grade`, in as many processes as there are cores.

Each submission is entered in the gradebook on its own and ends in a report, so that a run that is killed loses nothing,
and the next one grades what is missing or has changed.
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
from course_lib.grading.course import Course, CourseError, captured, checks_digest, digest, grade_cells, shown
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
    """Grades a submission, enters its marks and writes its report. It takes and gives plain data, and never raises.

    Args:
        seed: of the inputs that are drawn; a fresh one if None. The report keeps it.
    Returns:
        The report: state ("graded", "unreadable" or "failed"), reasons, points by cell, seed, whether in a sandbox,
        hashes, seconds.
    """
    started = time.monotonic()
    seed = secrets.randbelow(2**31) if seed is None else seed
    report = {"assignment": assignment, "student": student, "state": "graded", "reasons": [], "cells": {}, "seed": seed}
    report["sandboxed"] = course.sandboxed
    try:
        report |= fingerprint(course, assignment, student)
        try:
            reasons, record = _autograde(course, assignment, student, seed, report["submission"])
            report["cells"] = record["cells"]
            report["reasons"] = reasons + record["reasons"]
        except Unreadable as error:
            report["state"] = "unreadable"
            report["reasons"] = [str(error), *_enter_nothing(course, assignment, student)]
    except Exception as error:
        report["state"] = "failed"
        report["reasons"] = [f"the grader failed, grade it again: {type(error).__name__}: {error}"]
    report["reasons"] = [printable(reason) for reason in report["reasons"]]
    report["seconds"] = round(time.monotonic() - started, 1)
    keep(course, report)
    return report


def fingerprint(course: Course, assignment: str, student: str) -> dict:
    """What a grading depends on: if both hashes are as they were, there is nothing to do."""
    folder = course.path("submitted", student, assignment)
    handed_in = digest([path for path in folder.rglob("*") if is_file(path)], folder)
    if (note := course.note(assignment, student)).exists():
        handed_in += digest([note], note.parent)
    return {"submission": handed_in, "checks": checks_digest(course, assignment)}


def _autograde(course: Course, assignment: str, student: str, seed: int, handed_in_now: str) -> tuple[list[str], dict]:
    from nbgrader.converters import Autograde
    from nbgrader.coursedir import CourseDirectory

    from course_lib.grading.marking import RECORD

    folder = course.path("submitted", student, assignment)
    source = nbformat.read(course.source(assignment), as_version=4)
    handed_out = nbformat.read(course.path("release", assignment, f"{assignment}.ipynb"), as_version=4)
    note = course.note(assignment, student)
    note = note.read_text(encoding="utf-8").strip() if note.exists() else ""
    notebook, reasons = find_notebook(folder, assignment, {grade_id(cell) for cell in source.cells} - {None}, note)
    reasons += put_back(notebook, source, handed_out)
    # nbgrader is given a copy: what was handed in stays as it is.
    with tempfile.TemporaryDirectory(prefix=STAGED, dir=course.folder) as staged:
        copy = Path(staged) / student / assignment
        shutil.copytree(folder, copy, ignore=_not_passed_on)
        nbformat.write(notebook, copy / f"{assignment}.ipynb")
        try:
            handed_in_at(folder)
        except ValueError:
            reasons.append(f"its {TIMESTAMP} holds no date, and counts as none")
            (copy / TIMESTAMP).unlink()
        config = course.config()
        config.CourseDirectory.update(
            submitted_directory=Path(staged).name, assignment_id=assignment, student_id=student, notebook_id=assignment
        )
        config.Marking.seed = seed
        before = kept(course, assignment, student)
        config.SaveMarks.same_work = bool(before) and before.get("submission") == handed_in_now
        directory = CourseDirectory(config=config)
        if failed := captured(Autograde(coursedir=directory, config=config, force=True)):
            raise RuntimeError(failed)
    graded = nbformat.read(course.path("autograded", student, assignment, f"{assignment}.ipynb"), as_version=4)
    record = graded.metadata[RECORD]
    record["cells"] = {name: record["cells"][name] for name in grade_cells(source)}  # in the notebook's order
    return reasons, record


def _not_passed_on(folder: str, names: list[str]) -> list[str]:
    """Notebooks, and what is neither a file nor a folder: a link may lead to what no learner is to see."""
    notebooks = shutil.ignore_patterns("*.ipynb", ".ipynb_checkpoints")(folder, names)
    paths = [Path(folder, name) for name in names]
    return [*notebooks, *(p.name for p in paths if p.is_symlink() or not (p.is_file() or p.is_dir()))]


def _enter_nothing(course: Course, assignment: str, student: str) -> list[str]:
    """Enters a submission that cannot be read: without points, or with those of an earlier one."""
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
    """A submission's report; None if there is none, or what is there is no report, of which it tells."""
    file = report_file(course, assignment, student)
    try:
        report = json.loads(file.read_text(encoding="utf-8"))
        cells = report["cells"].values()
        told = [*report["reasons"], *(reason for cell in cells for reason in cell["reasons"])]
        if not all(isinstance(text, str) for text in (report["state"], *told)):
            raise ValueError("a text of it is none")
        if not all(isinstance(cell["points"], int | float) for cell in cells):
            raise ValueError("points of it are none")
        return report
    except FileNotFoundError:
        return None
    except (AttributeError, LookupError, OSError, RecursionError, TypeError, ValueError):
        tqdm.write(f"{shown(file)} is no report that can be read; make grade writes it anew", file=sys.stderr)
        return None


# ---- a class ----


def handed_in(course: Course, assignment: str) -> list[str]:
    return sorted(path.parent.name for path in course.path("submitted").glob(f"*/{assignment}") if path.is_dir())


def entered(course: Course, assignment: str) -> set[str]:
    """The students whose submission is in the gradebook."""
    from nbgrader.api import Gradebook

    with Gradebook(course.database) as gradebook:
        return {submission.student.id for submission in gradebook.assignment_submissions(assignment)}


def missing(course: Course, assignment: str) -> list[str]:
    """Whom to grade: who is not in the gradebook, whose submission or checks have changed, where the grader failed."""
    there = entered(course, assignment)

    def is_done(student):
        report = kept(course, assignment, student)
        now = fingerprint(course, assignment, student)
        return student in there and report and report["state"] != "failed" and now.items() <= report.items()

    return [student for student in handed_in(course, assignment) if not is_done(student)]


def processes(scratch: Path, number: int | None = None) -> ProcessPoolExecutor:
    """One process a core, each with a fresh Python, whose temporary files lie in the scratch folder."""
    context = get_context("spawn")
    started = {"initializer": _begin, "initargs": (str(scratch), context.Value("i", 0))}
    return ProcessPoolExecutor(number or os.cpu_count(), mp_context=context, **started)


def _begin(scratch: str, begun: Synchronized) -> None:
    """In a new process: sees to it that nothing of it outlives the run, however that ends.

    It keeps to a core of its own, and so do the kernels it starts. A submission that computes without end, in any
    number of processes, then takes no time of another's.
    """
    tempfile.tempdir = scratch
    if hasattr(os, "sched_setaffinity"):  # on Linux
        with begun.get_lock():
            number, begun.value = begun.value, begun.value + 1
        cores = sorted(os.sched_getaffinity(0))
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
    """Raises CourseError if another run is at work on this course."""
    lock = filelock.FileLock(course.folder / ".grading.lock")
    try:
        with lock.acquire(timeout=0):
            yield
    except filelock.Timeout:
        raise CourseError(f"Another run grades {shown(course.folder)} just now. Wait for its end, or end it.") from None


@contextlib.contextmanager
def _swept(course: Course) -> Iterator[Path]:
    """A scratch folder of this course's run; what a run that was killed has left is removed before."""
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
    """Grades what is missing or has changed, and shows how far it is.

    Args:
        executor: runs `grade_one`: processes on this machine if None, else any that the caller made and closes, such
            as `dask.distributed.Client(...).get_executor(pure=False)`, where a later run is not given the reports of
            an earlier one. Its workers must see the course's folder and database; each needs a process of its own
            (with Dask: threads_per_worker=1).
        again: everything, also what is graded already.
        seed: as for `grade_one`.
    Returns:
        The reports of what was graded.
    Raises:
        CourseError: another run is at work on this course; or there is no sandbox on this machine, and the course
            wants one.
    """
    if course.sandboxed and not executor and (reason := sandbox.missing()):
        raise CourseError(
            f"There is no sandbox for learners' code here: {reason}. Grade in a container (INSTRUCTORS.md says how), "
            "or, if you trust whoever handed in, with: make grade ARGS=--unsandboxed"
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
            # A process that was killed takes its whole pool with it. What it left is graded one by one.
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
                told = f"the grader's process ended, grade it again: {type(error).__name__}: {error}"
                report = {"assignment": assignment, "student": student, "state": "failed", "reasons": [printable(told)]}
                report |= {"cells": {}, "seed": seed, "sandboxed": course.sandboxed, "seconds": 0.0}
                report["lost"] = isinstance(error, BrokenExecutor)
                keep(course, report)
                reports.append(report)
    finally:
        for future in running:
            future.cancel()
    return reports
