"""Writes marks and feedback in the form that a learning platform accepts."""

import csv
import zipfile
from pathlib import Path

from course_lib.files import read_json
from course_lib.grading.course import Course, CourseError, counted
from course_lib.grading.report import table
from course_lib.grading.sheets import people, read_sheet


def _folders(course: Course, assignment: str) -> dict[str, str]:
    """Returns each person's folder by the platform's number."""
    by_name = read_json(course.folder / "collected.json").get(assignment, {})
    return {number: folder for folders in by_name.values() for number, folder in folders.items()}


def fill(course: Course, assignment: str, sheet: Path, column: str = "Grade") -> tuple[Path, list[str]]:
    """Writes a copy of Moodle's grading worksheet, or of Canvas's gradebook, with the points in one column.

    If nothing of a person is graded, the row stays as it is.

    Returns: the copy, and a line for everyone whose mark is missing or not final.
    Raises:
        CourseError: the file or the column is missing, nothing was collected with `make collect`, or the platform's
            maximum differs from the assignment's.
    """
    head, rows = read_sheet(sheet)
    if column not in head:
        there = ", ".join(head) or "none"
        raise CourseError(f"{sheet}: there is no column {column!r} (columns: {there}). Name the column for the points: "
                          "ARGS='--column=NAME'")  # fmt: skip
    folders, graded = _folders(course, assignment), {row["student"]: row for row in table(course, assignment)}
    if not folders:
        raise CourseError(
            f"{assignment}: nothing was collected from an archive, so no numbers are known. Run make collect first."
        )
    filled, told = set(), []
    for number, row in people(head, rows):
        mark = graded.get(folders.get(number, ""))
        if mark is None or not mark["state"].startswith("graded"):
            continue
        most = row[head.index("Maximum Grade")].replace(",", ".") if "Maximum Grade" in head else ""
        if most and float(most) != mark["max"]:
            raise CourseError(f"{sheet}: Moodle's maximum grade is {float(most):g}, but the assignment has "
                              f"{counted(mark['max'], 'point')}. Make them equal, and download it again.")  # fmt: skip
        row[head.index(column)] = f"{mark['points']:g}"
        filled.add(mark["student"])
        if mark["state"] != "graded":
            told.append(f"{mark['student']}: {mark['state']}; the sheet has the points so far")
    for name, mark in graded.items():
        if name not in filled and mark["state"] != "missing":
            why = "not in the sheet" if mark["state"].startswith("graded") else mark["state"]
            told.append(f"{name}: {why}; no points are filled in")
    file = course.path("grades", f"{assignment}_to_upload.csv")
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w", encoding="utf-8", newline="") as out:
        csv.writer(out).writerows([head, *rows])
    return file, told


def archive(course: Course, assignment: str) -> Path | None:
    """Packs the feedback pages for Moodle, under each participant's number. Returns None if there are none."""
    pages = {
        number: page
        for number, folder in _folders(course, assignment).items()
        if (page := course.path("feedback", folder, assignment, f"{assignment}.html")).exists()
    }
    if not pages:
        return None
    file = course.path("feedback", f"{assignment}.zip")
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as out:
        for number, page in pages.items():
            out.write(page, f"feedback_{number}_assignsubmission_file_/{page.name}")
    return file
