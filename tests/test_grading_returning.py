"""Marks and feedback go back to Moodle and Canvas in the form that they take."""

import csv
import shutil
import zipfile
from pathlib import Path

import made_up_class as made
import pytest

pytest.importorskip("nbgrader")

from course_lib import __main__ as front_door
from course_lib.grading import returning
from course_lib.grading.collect import _read, collect
from course_lib.grading.course import CourseError

MOODLE = "Identifier,Full name,Status,Grade,Maximum Grade,Last modified (grade),Feedback comments\n"
ROWS = {  # of the gradebook's table, by the folder of who handed in
    "ada": ("graded", 4.5),
    "bo": ("graded, to be read", 3.0),
    "cy": ("unreadable", 0.0),
    "participant_14": ("graded", 9.0),
}


@pytest.fixture
def course(tmp_path, monkeypatch):
    course = made.make_course(tmp_path)
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as out:
        for name, number in (("Ada", 11), ("Bo", 12), ("Cy", 13), ("Participant", 14), ("Participant", 15)):
            out.writestr(f"{name}_{number}_assignsubmission_file_/x.txt", "x")
    collect(course, tmp_path / "all.zip", made.NAME)
    rows = [{"student": who, "state": state, "points": points, "max": 9.0} for who, (state, points) in ROWS.items()]
    monkeypatch.setattr(returning, "table", lambda course, assignment: rows)
    return course


def filled(course, tmp_path, text, **column):
    sheet = tmp_path / "sheet.csv"
    sheet.write_text(text, encoding="utf-8-sig")
    file, told = returning.fill(course, made.NAME, sheet, **column)
    with file.open(encoding="utf-8", newline="") as opened:
        return list(csv.DictReader(opened)), told


@pytest.mark.slow
def test_moodles_worksheet_gets_the_points_and_keeps_all_else(course, tmp_path):
    text = MOODLE + "".join(f'Participant {n},"Last, First",s,,9.00,-,"a ""b"""\n' for n in (11, 12, 13, 14, 99))
    rows, told = filled(course, tmp_path, text)
    assert [row["Grade"] for row in rows] == ["4.5", "3", "", "9", ""]
    assert {row["Full name"] for row in rows} == {"Last, First"} and rows[0]["Feedback comments"] == 'a "b"'
    assert told == [
        "bo: graded, to be read; the sheet has the points so far",
        "cy: unreadable; no points are filled in",
    ]


def test_a_person_whom_the_sheet_lacks_is_told(course, tmp_path):
    _, told = filled(course, tmp_path, MOODLE + "Participant 11,A,s,,,-,\n")
    assert "participant_14: not in the sheet; no points are filled in" in told


def test_canvas_knows_a_person_by_its_id(course, tmp_path):
    text = 'Student,ID,Section,Lesson 3 (77)\n    Points Possible,,,9\n"Lace, Ada",11,s,\nBo,12,s,1\nNew,16,s,2\n'
    rows, _ = filled(course, tmp_path, text, column="Lesson 3 (77)")
    assert [row["Lesson 3 (77)"] for row in rows] == ["9", "4.5", "3", "2"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "there is no column 'Grade' .columns: none."),
        ("Student,ID\nx,11\n", "columns: Student, ID.. Name the column for the points"),
        (MOODLE + "Participant 11,A,s,,100.00,-,\n", "Moodle's maximum grade is 100, but the assignment has 9 points"),
    ],
)
def test_a_sheet_that_cannot_take_the_points_is_refused(course, tmp_path, text, said):
    with pytest.raises(CourseError, match=said):
        filled(course, tmp_path, text)
    assert not course.path("grades").exists()


@pytest.mark.parametrize(
    ("verb", "names", "what"),
    [
        ("grades", "", "No assignment is named"),
        ("grades", "03", "'03' stands for 2 assignments"),
        ("grades", "03_small 03_small_2", "'03_small 03_small_2' stands for 2 assignments"),
        ("collect", "03", "'03' stands for 2 assignments"),
    ],
)
def test_where_only_one_assignment_can_be_meant_the_names_are_told(course, tmp_path, monkeypatch, verb, names, what):
    """A whole name always means one, even if another begins with it."""
    shutil.copytree(course.path("source", made.NAME), course.path("source", "03_small_2"))
    course.path("source", "03_small_2", f"{made.NAME}.ipynb").rename(course.source("03_small_2"))
    monkeypatch.setenv("COURSE_DIRECTORY", str(course.folder))
    monkeypatch.chdir(tmp_path)
    Path("sheet.csv").write_text(MOODLE)
    rest = ["--into=sheet.csv"] if verb == "grades" else []
    archive = ["all.zip"] if verb == "collect" else []
    with pytest.raises(CourseError) as raised:
        front_door.VERBS[verb]([*archive, *names.split(), *rest])
    _, _, said = str(raised.value).partition(" holds one assignment. ")
    assert said == f"{what}. Write one of these names in full: 03_small, 03_small_2."
    front_door.VERBS[verb]([*archive, made.NAME, *rest])


def test_the_archive_of_feedback_names_participants_as_moodles_own_does(course):
    for folder in ("ada", "participant_15"):
        page = course.path("feedback", folder, made.NAME, f"{made.NAME}.html")
        page.parent.mkdir(parents=True)
        page.write_text(folder)
    with zipfile.ZipFile(returning.archive(course, made.NAME)) as packed:
        there = {_read(name, packed.getinfo(name)).number: packed.read(name).decode() for name in packed.namelist()}
    assert there == {"11": "ada", "15": "participant_15"}


def test_without_feedback_there_is_no_archive(course):
    assert returning.archive(course, made.NAME) is None
