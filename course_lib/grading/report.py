"""Writes the table of marks with their reasons, and each learner's feedback."""

import csv
import html
import re
import shutil
import sys
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path

import nbformat
from tqdm import tqdm

from course_lib.grading.course import Course, captured, counted
from course_lib.grading.grade import handed_in, kept
from course_lib.grading.submission import LONGEST_REASON, is_file, printable

LARGEST_PAGE = 1_000_000  # characters of a notebook's text; showing that many takes half a minute
BETWEEN = " | "  # between reasons in the table
LONGEST_REASONS = 10_000  # characters; a cell of a spreadsheet holds 32,767
HEAD = ["student", "first_name", "last_name", "assignment", "points", "max", "late_seconds", "state", "reason"]


def reasons(report: dict | None, between: str = "; ") -> str:
    """Returns all reasons in a report, each once."""
    if report is None:
        return ""
    told = [*report["reasons"], *(reason for cell in report["cells"].values() for reason in cell["reasons"])]
    told = [*dict.fromkeys(reason[:LONGEST_REASON] for reason in told)]
    room = list(accumulate(len(reason) + len(between) for reason in told))
    shown = sum(length <= LONGEST_REASONS for length in room)
    more = [f"and {len(told) - shown} more, in its report"] if shown < len(told) else []
    return between.join(told[:shown] + more)


def _differences(submission, report: dict) -> list[str]:
    """Returns where the gradebook differs from the report, except for points given by hand."""
    grades = {grade.name: grade for notebook in submission.notebooks for grade in notebook.grades}
    told = []
    for name, cell in report["cells"].items():
        grade = grades.get(name)
        if grade is None or (grade.manual_score is None and grade.score != cell["points"]):
            there = f"{grade.score:g}" if grade else "no points"
            told.append(f"{name}: the gradebook has {there}, the report {cell['points']:g}; grade it again")
    return told


def table(course: Course, assignment: str) -> list[dict]:
    """Returns a row for each student in the gradebook and each who handed in.

    If gradebook and report disagree, the row's state and reason say so, and so does a line on stderr.
    """
    from nbgrader.api import Gradebook

    rows = []
    with Gradebook(course.database) as gradebook:
        maximum = gradebook.find_assignment(assignment).max_score
        submissions = {submission.student.id: submission for submission in gradebook.assignment_submissions(assignment)}
        students = {student.id: student for student in gradebook.students}
        for name in sorted(students.keys() | set(handed_in(course, assignment))):
            student, submission = students.get(name), submissions.get(name)
            report = kept(course, assignment, name)
            row = {
                "student": name,
                "first_name": student.first_name if student else "",
                "last_name": student.last_name if student else "",
                "assignment": assignment,
                "points": 0.0,
                "max": maximum,
                "late_seconds": 0,
                "state": report["state"] if report else "not graded",
                "reason": reasons(report, BETWEEN),
            }
            if submission:
                row["points"] = max(0.0, submission.score - (submission.late_submission_penalty or 0.0))
                row["late_seconds"] = round(submission.total_seconds_late)
                if penalty := submission.late_submission_penalty:
                    off = counted(penalty, "point")
                    late = f"{off} off, since it was handed in {submission.total_seconds_late:.0f} s late"
                    row["reason"] = BETWEEN.join(filter(None, [late, row["reason"]]))
                row |= {grade.name: grade.score for notebook in submission.notebooks for grade in notebook.grades}
                if submission.needs_manual_grade:
                    row["state"] += ", to be read"
                if report and (told := _differences(submission, report)):
                    row["state"] += ", not as reported"
                    row["reason"] = BETWEEN.join(filter(None, [*told, row["reason"]]))
                    tqdm.write(f"{assignment} {name}: {'; '.join(told)}", file=sys.stderr)
            elif name not in handed_in(course, assignment):
                row |= {"state": "missing", "reason": "nothing was handed in"}
            rows.append(row)
    return rows


def write_grades(course: Course, assignment: str) -> Path:
    """Writes an assignment's table as CSV, which spreadsheets open; returns the file."""
    rows = table(course, assignment)
    cells = list(dict.fromkeys(name for row in rows for name in row if name not in HEAD))
    file = course.path("grades", f"{assignment}.csv")
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w", encoding="utf-8-sig", newline="") as out:
        writer = csv.DictWriter(out, [*HEAD[:-2], *cells, *HEAD[-2:]])
        writer.writeheader()
        writer.writerows({name: _harmless(value) for name, value in row.items()} for row in rows)
    return file


def _harmless(value: object) -> object:
    """Makes text safe: spreadsheets see no formula, and terminals no control characters.

    Some spreadsheets begin a new cell at a semicolon, so it becomes a dash.
    """
    if not isinstance(value, str):
        return value
    text = re.sub(r"\s*;\s*", " – ", printable(value))
    return f"'{text}" if value.startswith(("=", "+", "-", "@", "\t")) else text


def write_feedback(course: Course, assignments: Sequence[str]) -> tuple[list[Path], list[str]]:
    """Writes a feedback page for each graded submission; returns the pages, and who has none and why."""
    from nbgrader.converters import GenerateFeedback
    from nbgrader.coursedir import CourseDirectory

    pages, without = [], []
    tasks = [(assignment, student) for assignment in assignments for student in handed_in(course, assignment)]
    for assignment, student in tqdm(tasks, unit="submission", disable=None):
        if not course.path("autograded", student, assignment, f"{assignment}.ipynb").exists():
            without.append(f"{student}: {reasons(kept(course, assignment, student)) or 'not graded yet'}")
            continue
        page = course.path("feedback", student, assignment, f"{assignment}.html")
        graded = nbformat.read(course.path("autograded", student, assignment, f"{assignment}.ipynb"), as_version=4)
        if (size := sum(len(cell.source) for cell in graded.cells)) > LARGEST_PAGE:
            _write_short(course, assignment, student, page, size)
            pages.append(page)
            continue
        config = course.config()
        config.CourseDirectory.update(assignment_id=assignment, student_id=student, notebook_id=assignment)
        directory = CourseDirectory(config=config)
        if failed := captured(GenerateFeedback(coursedir=directory, config=config, force=True)):
            without.append(f"{student}: {failed}")
        else:
            pages.append(page)
    return pages, without


def _write_short(course: Course, assignment: str, student: str, page: Path, size: int) -> None:
    """Writes a page with only the points, for work that would take too long to show, with a link to the notebook."""
    page.parent.mkdir(parents=True, exist_ok=True)
    handed_in = course.path("submitted", student, assignment, f"{assignment}.ipynb")
    link = ""
    if is_file(handed_in):
        shutil.copyfile(handed_in, page.with_suffix(".ipynb"))
        link = f'<p><a href="{assignment}.ipynb">The notebook that was handed in</a></p>'
    cells = (kept(course, assignment, student) or {"cells": {}})["cells"]
    rows = "".join(f"<tr><td>{html.escape(n)}<td>{c['points']:g} of {c['max']:g}" for n, c in cells.items())
    page.write_text(
        f'<!doctype html><meta charset="utf-8"><title>{html.escape(assignment)}</title>'
        f"<p>This work has {size:,} characters of text. Feedback shows at most {LARGEST_PAGE:,}, so this page "
        f"shows only the points.</p><table>{rows}</table>{link}",
        encoding="utf-8",
    )
