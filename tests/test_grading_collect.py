"""Archives as Moodle and Canvas hand them out: everything in them is collected or told of."""

import io
import re
import zipfile
from datetime import UTC, datetime

import made_up_class as made
import nbformat
import pytest

pytest.importorskip("nbgrader")

from nbgrader.api import Gradebook

from course_lib.grading.collect import TIMESTAMP, collect, slug
from course_lib.grading.course import CourseError

BOOK = f"{made.NAME}.ipynb"
MOODLE = "{name}_{number}_assignsubmission_file_/{file}"
FLAT = "{name}_{number}_assignsubmission_file_{file}"


@pytest.fixture
def course(tmp_path):
    return made.make_course(tmp_path)


@pytest.fixture
def pack(tmp_path, course):
    """Makes an archive of entries (path, content, date) and collects it."""

    def packed(*entries, assignment=None):
        file = tmp_path / "archive.zip"
        with zipfile.ZipFile(file, "w") as out:
            for path, content, *date in entries:
                out.writestr(zipfile.ZipInfo(path, *date), content)
        return collect(course, file, assignment)

    return packed


def work(course, answer="cat_score = 1.05"):
    return nbformat.writes(made.answered(course, sat=answer))


def collected(course, student):
    folder = course.path("submitted", student, made.NAME)
    return sorted(path.name for path in folder.iterdir())


def test_moodle_in_folders_with_accents_nested_files_and_a_name_of_their_own(course, pack):
    found = pack(
        (MOODLE.format(name="José Núñez", number=12, file=BOOK), work(course), (2026, 10, 30, 22, 0, 0)),
        (MOODLE.format(name="Zoë van Dyk", number=13, file="a/b/my work (2).ipynb"), work(course)),
        (MOODLE.format(name="Zoë van Dyk", number=13, file="a/notes.txt"), "notes"),
        ("__MACOSX/x", ""),
    )
    assert found.assignment == made.NAME and found.students == ["jose_nunez", "zoe_van_dyk"]
    assert collected(course, "jose_nunez") == [BOOK, TIMESTAMP]
    assert collected(course, "zoe_van_dyk") == [BOOK]
    assert found.told == [
        "Zoë van Dyk_13_assignsubmission_file_/a/notes.txt: left aside, not the notebook that is graded"
    ]
    stamp = course.path("submitted", "jose_nunez", made.NAME, TIMESTAMP).read_text().strip()
    assert datetime.fromisoformat(stamp) == datetime(2026, 10, 30, 22).astimezone(UTC)
    with Gradebook(course.database) as gradebook:
        student = gradebook.find_student("zoe_van_dyk")
        assert (student.first_name, student.last_name) == ("Zoë van", "Dyk")


def test_moodle_without_folders(course, pack):
    found = pack((FLAT.format(name="Ada Lovelace", number=7, file=BOOK), work(course)))
    assert found.students == ["ada_lovelace"] and found.told == []


def test_canvas_the_newest_upload_wins_and_late_is_late(course, pack):
    due = datetime(2026, 11, 1, 12)
    with Gradebook(course.database) as gradebook:
        gradebook.update_or_create_assignment(made.NAME, duedate=due)
    found = pack(
        (f"lovelaceada_LATE_77_501_{made.NAME}-1.ipynb", work(course, "cat_score = 2")),
        (f"lovelaceada_77_499_{BOOK}", work(course, "cat_score = 1")),
        (f"hopper_78_500_{BOOK}", work(course)),
    )
    assert found.students == ["hopper_78", "lovelaceada_77"]
    assert "cat_score = 2" in course.path("submitted", "lovelaceada_77", made.NAME, BOOK).read_text()
    assert collected(course, "hopper_78") == [BOOK]  # Canvas tells no time
    stamp = course.path("submitted", "lovelaceada_77", made.NAME, TIMESTAMP).read_text().strip()
    assert (datetime.fromisoformat(stamp).replace(tzinfo=None) - due).total_seconds() == 1
    assert found.told == [
        f"lovelaceada_77_499_{BOOK}: left aside, older",
        "lovelaceada_77: marked LATE without a date; counted as one second late",
    ]


def test_what_cannot_be_assigned_is_told_with_what_to_do(course, pack):
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w") as out:
        out.writestr(f"deep/{BOOK}", work(course))
    same_age = (2026, 10, 1, 8, 0, 0)
    found = pack(
        (BOOK, work(course)),
        (f"../../{BOOK}", work(course)),
        (f"/etc/Eve Adams_1_assignsubmission_file_/{BOOK}", work(course)),
        (MOODLE.format(name="Li Wei", number=1, file=BOOK), work(course)),
        (MOODLE.format(name="Li Wei", number=2, file=BOOK), work(course)),
        (MOODLE.format(name="Two Books", number=3, file="a.ipynb"), work(course, "cat_score = 1"), same_age),
        (MOODLE.format(name="Two Books", number=3, file="b.ipynb"), work(course, "cat_score = 2"), same_age),
        (MOODLE.format(name="Zip Zapper", number=4, file="all.zip"), inner.getvalue()),
        (MOODLE.format(name="Doc Writer", number=5, file="answers.docx"), b"\0"),
        (MOODLE.format(name="Bro Ken", number=6, file=BOOK), "{"),
    )
    assert found.students == ["bro_ken", "doc_writer", "zip_zapper"]  # of the first two, grading will say what is wrong
    assert collected(course, "bro_ken") == [BOOK] and collected(course, "doc_writer") == ["answers.docx"]
    told = "\n".join(found.told)
    for wanted in (
        f"^{BOOK}: its name says no student; put it by hand into .*submitted",
        f"^../../{BOOK}: refused, since its name leads out of the archive",
        "^/etc/Eve Adams.*: refused, since its name leads out of the archive",
        r"^li_wei: several people have this name \(numbers 1, 2\); collect them by hand",
        "^two_books: several notebooks could be meant, and none is newer; collect one by hand",
    ):
        assert re.search(wanted, told, re.MULTILINE), (wanted, told)
    assert len(found.told) == 5
    assert not course.path("submitted", "eve_adams").exists() and not course.path("submitted", "li_wei").exists()


def test_a_resubmission_replaces_and_keeps_what_was_there(course, pack):
    path = MOODLE.format(name="Ada Lovelace", number=7, file=BOOK)
    pack((path, work(course, "cat_score = 1"), (2026, 10, 1, 8, 0, 0)))
    again = pack((path, work(course, "cat_score = 1"), (2026, 10, 1, 8, 0, 0)))
    assert again.students == [] and again.told == []
    newer = pack((path, work(course, "cat_score = 2"), (2026, 10, 2, 8, 0, 0)))
    assert newer.students == ["ada_lovelace"] and "handed in anew" in newer.told[0]
    there = course.path("submitted", "ada_lovelace", made.NAME, BOOK)
    assert "cat_score = 2" in there.read_text()
    assert "cat_score = 1" in course.path("replaced", "ada_lovelace", f"{made.NAME}-1", BOOK).read_text()
    older = pack((path, work(course, "cat_score = 3"), (2026, 9, 30, 8, 0, 0)))
    assert older.students == [] and "is newer, and stays" in older.told[0] and "cat_score = 2" in there.read_text()


def test_an_archive_that_is_none_or_holds_nothing_says_so(course, pack, tmp_path):
    with pytest.raises(CourseError, match="There is no file"):
        collect(course, tmp_path / "none.zip")
    (tmp_path / "text.zip").write_text("text")
    with pytest.raises(CourseError, match="is no ZIP archive"):
        collect(course, tmp_path / "text.zip")
    with pytest.raises(CourseError, match="no notebook holds the cells of 03_small"):
        pack((MOODLE.format(name="Ada Lovelace", number=7, file="x.txt"), "x"))
    named = pack((MOODLE.format(name="Ada Lovelace", number=7, file="x.txt"), "x"), assignment=made.NAME)
    assert named.students == ["ada_lovelace"]


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("José Núñez", "jose_nunez"),
        ("O'Hara, Tim", "o_hara_tim"),
        ("李 雷", "李_雷"),
        ("../x", "x"),
        ("a/b\\c", "a_b_c"),
    ],
)
def test_names_become_folders(name, wanted):
    assert slug(name) == wanted
