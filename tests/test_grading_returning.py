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
from course_lib.grading.course import CourseError, release

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


@pytest.mark.slow
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


TWO = f"{made.NAME}, {made.NAME}_2"


@pytest.fixture
def with_two(course, tmp_path, monkeypatch):
    """The name of one assignment begins with the whole name of the other."""
    shutil.copytree(course.path("source", made.NAME), course.path("source", f"{made.NAME}_2"))
    course.path("source", f"{made.NAME}_2", f"{made.NAME}.ipynb").rename(course.source(f"{made.NAME}_2"))
    shutil.copy(tmp_path / "private" / f"{made.NAME}.ipynb", tmp_path / "private" / f"{made.NAME}_2.ipynb")
    monkeypatch.setenv("COURSE_DIRECTORY", str(course.folder))
    monkeypatch.setenv("COURSE_SOURCE", str(tmp_path / "private"))
    monkeypatch.chdir(tmp_path)
    Path("sheet.csv").write_text(MOODLE)
    return course


@pytest.mark.parametrize("name", ["03", "03_sma"])
@pytest.mark.parametrize(
    "verb", ["release", "collect all.zip", "grade", "feedback", "grades", "grades --into=sheet.csv"]
)
def test_a_beginning_that_two_assignments_have_is_refused_with_their_names(with_two, verb, name):
    verb, *rest = verb.split()
    with pytest.raises(CourseError) as raised:
        front_door.VERBS[verb]([*rest, name])
    assert str(raised.value) == f"{name!r} stands for 2 assignments. Write one of these names in full: {TWO}."


def test_a_whole_name_means_one_assignment_although_another_begins_with_it(with_two, tmp_path):
    (line,) = release(with_two, tmp_path / "private", [made.NAME])
    assert f"{made.NAME}.ipynb: 9 points" in line and with_two.find([made.NAME]) == [made.NAME]
    assert with_two.find([f"{made.NAME}_"]) == [f"{made.NAME}_2"]


@pytest.mark.parametrize("names", [[], [made.NAME, f"{made.NAME}_2"]])
def test_a_sheet_takes_the_points_of_one_assignment(with_two, names):
    with pytest.raises(CourseError, match=f"A sheet holds one assignment. Name one of these: {TWO}."):
        front_door.grades([*names, "--into=sheet.csv"])


@pytest.mark.parametrize("verb", ["release", "grade"])
def test_a_beginning_that_no_assignment_has_is_refused(with_two, verb):
    with pytest.raises(CourseError, match=f"no assignment begins with '07'. There are: {TWO}."):
        front_door.VERBS[verb]([made.NAME, "07"])


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
