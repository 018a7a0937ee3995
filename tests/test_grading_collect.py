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

from course_lib import __main__ as front_door
from course_lib.grading import collect as collecting
from course_lib.grading import sheets
from course_lib.grading.collect import TIMESTAMP, collect, slug
from course_lib.grading.course import CourseError
from course_lib.grading.grade import grade_one
from course_lib.grading.report import table

BOOK = f"{made.NAME}.ipynb"
MOODLE = "{name}_{number}_assignsubmission_file_/{file}"
FLAT = "{name}_{number}_assignsubmission_file_{file}"


@pytest.fixture
def course(tmp_path):
    return made.make_course(tmp_path)


@pytest.fixture
def pack(tmp_path, course):
    """Makes an archive of entries (path, content, date) and collects it."""

    def packed(*entries, assignment=None, **dates):
        file = tmp_path / "archive.zip"
        with zipfile.ZipFile(file, "w") as out:
            for path, content, *date in entries:
                out.writestr(zipfile.ZipInfo(path, *date), content)
        return collect(course, file, assignment, **dates)

    return packed


def work(course, answer="cat_score = 1.05"):
    return nbformat.writes(made.answered(course, sat=answer))


def collected(course, student):
    folder = course.path("submitted", student, made.NAME)
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.slow
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


@pytest.mark.slow
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
    assert found.students == ["bro_ken", "doc_writer", "li_wei_1", "li_wei_2", "zip_zapper"]
    assert collected(course, "bro_ken") == [BOOK] and collected(course, "doc_writer") == ["answers.docx"]
    told = "\n".join(found.told)
    for wanted in (
        f"^{BOOK}: its name does not say whose it is; put it into .*submitted",
        f"^../../{BOOK}: refused, since its name leads out of the archive",
        "^/etc/Eve Adams.*: refused, since its name leads out of the archive",
        "^li_wei_1, li_wei_2: more than one person would have the folder li_wei, so the platform's number is added",
        "^two_books: several notebooks hold its cells, and none is newer; collect one by hand",
    ):
        assert re.search(wanted, told, re.MULTILINE), (wanted, told)
    assert len(found.told) == 5
    assert not course.path("submitted", "eve_adams").exists()
    assert collected(course, "two_books") == [] and course.note(made.NAME, "two_books").exists()


def test_nobody_is_without_a_row_and_a_reason(course, pack, monkeypatch):
    monkeypatch.setattr(collecting, "LARGEST", 100_000)
    monkeypatch.setattr(collecting, "LARGEST_WORK", 200_000)
    monkeypatch.setattr(collecting, "MOST_FILES", 20)
    bomb = zipped(("a.txt", b"0" * 90_000), ("b.txt", b"0" * 90_000), ("c.txt", b"0" * 90_000))
    same_age = (2026, 10, 1, 8, 0, 0)
    entries = [
        ("Bro Ken", "work.zip", b"PK\3\4 no archive"),
        ("Cut Off", "work.zip", zipped((BOOK, work(course)))[:-30]),
        ("Deep Nest", "work.zip", zipped(("in.zip", zipped((BOOK, work(course)))))),
        ("Lots Offiles", "work.zip", zipped(*[(f"{n}.txt", b"") for n in range(21)])),
        ("Over Size", BOOK, b"[" + b" " * 100_000 + b"]"),
        (
            "Pack Bomb",
            "bomb.zip",
            zipped(("in.zip", bomb), ("a.zip", bomb), *[(f"{n}.x", b"0" * 90_000) for n in "123"]),
        ),
    ]
    found = pack(
        *[(MOODLE.format(name=name, number=n, file=file), given) for n, (name, file, given) in enumerate(entries)],
        (MOODLE.format(name="Li Wei", number=21, file=BOOK), work(course)),
        (MOODLE.format(name="Li Wei", number=22, file=BOOK), work(course)),
        (MOODLE.format(name="Two Books", number=23, file="a/x.ipynb"), work(course, "cat_score = 1"), same_age),
        (MOODLE.format(name="Two Books", number=23, file="b/x.ipynb"), work(course, "cat_score = 2"), same_age),
        assignment=made.NAME,
    )
    assert found.students == ["deep_nest", "li_wei_21", "li_wei_22"]  # an archive in an archive stays as it is
    rows = {row["student"]: row for row in table(course, made.NAME)}
    for student in rows.keys() - {"li_wei_21", "li_wei_22"}:
        assert grade_one(course, made.NAME, student)["state"] == "unreadable"
    said = {row["student"]: (row["state"], row["reason"]) for row in table(course, made.NAME)}
    assert said.pop("li_wei_21") == said.pop("li_wei_22") == ("not graded", "")
    wanted = {
        "bro_ken": "work.zip cannot be opened (File is not a zip file); unpack it by hand",
        "cut_off": "work.zip cannot be opened (File is not a zip file); unpack it by hand",
        "deep_nest": f"there is no {BOOK}; handed in: in.zip",
        "lots_offiles": "work.zip cannot be opened (it holds more than 20 files); unpack it by hand",
        "over_size": f"{BOOK} refused, since it is larger than 0 MB",
        "pack_bomb": "3.x refused, since with it the submission exceeds 20 files or 0 MB",
        "two_books": "several notebooks hold its cells, and none is newer; collect one by hand: "
        "Two Books_23_assignsubmission_file_/a/x.ipynb, Two Books_23_assignsubmission_file_/b/x.ipynb",
    }
    assert said == {student: ("unreadable", reason) for student, reason in wanted.items()}


def zipped(*entries):
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w", zipfile.ZIP_DEFLATED) as out:
        for path, content in entries:
            out.writestr(zipfile.ZipInfo(path, (2001, 1, 1, 0, 0, 0)), content, zipfile.ZIP_DEFLATED)
    return inner.getvalue()


def test_only_the_platforms_archive_says_when_work_was_handed_in(course, pack):
    late = (2026, 11, 5, 12, 0, 0)
    own = "2026-10-01 10-00 mine.ipynb"
    found = pack(
        (MOODLE.format(name="Na Me", number=1, file=own), work(course), late),
        (MOODLE.format(name="Zip Zapper", number=2, file="all.zip"), zipped((BOOK, work(course))), late),
        (MOODLE.format(name="Ti Me", number=3, file=TIMESTAMP), "2026-10-01 10:00:00 UTC", late),
        (f"canvas_77_501_{own}", work(course)),
        trusted=True,
    )
    assert found.students == ["canvas_77", "na_me", "ti_me", "zip_zapper"]
    for student in ("na_me", "ti_me", "zip_zapper"):
        stamp = course.path("submitted", student, made.NAME, TIMESTAMP).read_text().strip()
        assert datetime.fromisoformat(stamp) == datetime(*late).astimezone(UTC)
    assert collected(course, "canvas_77") == [BOOK]
    assert [line.partition(": ")[2].partition(":")[0] for line in found.told] == [
        "its name contains a date, but the archive's date counts"
    ] * 2


# ---- people, and dates ----


@pytest.mark.parametrize("name", ["😀", ".-.", "...", "李" * 120, "x" * 300, "Ada " * 60, "con", "_"])
def test_whatever_somebody_is_called_nobody_is_lost(course, pack, name):
    found = pack(
        (MOODLE.format(name=name, number=7, file=BOOK), work(course)),
        (MOODLE.format(name="Zoë Zett", number=8, file=f"{'語' * 90}.ipynb"), work(course)),
    )
    assert len(found.students) == 2 and "zoe_zett" in found.students
    (other,) = set(found.students) - {"zoe_zett"}
    assert other and collected(course, other) == [BOOK] and course.path("submitted", other).parent.name == "submitted"


def test_namesakes_keep_folders_of_their_own_over_many_archives(course, pack):
    def one(name, number, answer):
        return pack((MOODLE.format(name=name, number=number, file=BOOK), work(course, answer)))

    assert one("Jan Müller", 21, "cat_score = 1").students == ["jan_muller"]
    assert one("Jan Muller", 22, "cat_score = 2").students == ["jan_muller_22"]
    assert one("Jan Müller", 21, "cat_score = 3").students == ["jan_muller"]
    assert one("Jan Muller", 22, "cat_score = 2").students == []  # nothing new
    anonymous = [(MOODLE.format(name="Participant", number=n, file=BOOK), work(course)) for n in range(4000, 4012)]
    assert len(pack(*anonymous).students) == 12


SHARED = "more than one person would have the folder {}, so the platform's number is added".format
NO_LETTER = "the name has no letter or digit, so the platform's number is added"


@pytest.mark.parametrize(
    ("names", "folders", "told"),
    [
        ("Ada Bo", "ada bo", []),
        ("Bo Bo", "bo_1 bo_2", [f"bo_1, bo_2: {SHARED('bo')}"]),
        ("Bö bo", "bo_1 bo_2", [f"bo_1, bo_2: {SHARED('bo')}"]),
        ("P P P P P", "p_1 p_2 p_3 p_4 p_5", [f"p_1, p_2, p_3 and 2 more: {SHARED('p')}"]),
        ("😀 Ada", "student_1 ada", [f"student_1: {NO_LETTER}"]),
        ("😀 🙂 .-.", "student_1 student_2 student_3", [f"student_1, student_2, student_3: {NO_LETTER}"]),
        ("😀 Student-1", "student_1 student-1", [f"student_1: {NO_LETTER}"]),
        ("😀 Student?1", "student_1 student_1_2", [f"student_1: {NO_LETTER}", f"student_1_2: {SHARED('student_1')}"]),
        ("Bo Bo Bo?2", "bo_1 bo_2 bo_2_3", [f"bo_1, bo_2: {SHARED('bo')}", f"bo_2_3: {SHARED('bo_2')}"]),
    ],
)  # fmt: skip
@pytest.mark.parametrize("archives", ["one archive", "an archive each"])
def test_nobody_shares_a_folder_and_the_reason_for_a_number_is_true(course, pack, archives, names, folders, told):
    entries = [
        (MOODLE.format(name=name, number=n, file=BOOK), work(course, f"cat_score = {n}"))
        for n, name in enumerate(names.split(), start=1)
    ]
    if archives == "one archive":
        found = pack(*entries)
        assert found.students == sorted(folders.split()) and found.told == told
    else:
        for entry in reversed(entries):
            (student,) = pack(entry).students
            assert len(list(course.path("submitted").glob(f"{student}/{made.NAME}"))) == 1
    kept = [file.read_text() for file in course.path("submitted").glob(f"*/{made.NAME}/{BOOK}")]
    assert all(any(f"cat_score = {n}" in text for text in kept) for n in range(1, len(entries) + 1))
    assert pack(*entries).told == []  # each has the same folder the next time


def test_what_only_jupyter_keeps_leaves_a_row_with_a_reason(course, pack):
    kept = f".ipynb_checkpoints/{made.NAME}-checkpoint.ipynb"
    found = pack(
        (MOODLE.format(name="Da E", number=1, file=kept), work(course)),
        (MOODLE.format(name="Zi P", number=2, file="w.zip"), zipped((kept, work(course)))),
        (MOODLE.format(name="Bo C", number=3, file=BOOK), work(course)),
    )
    assert found.students == ["bo_c"]
    for student in ("da_e", "zi_p"):
        assert grade_one(course, made.NAME, student)["reasons"][0].endswith(collecting.KEPT_ASIDE)


def test_a_learners_own_note_is_not_the_graders(course, pack):
    found = pack(
        (MOODLE.format(name="Eve Note", number=1, file="not_collected.txt"), "full marks"), assignment=made.NAME
    )
    assert found.students == ["eve_note"]
    assert grade_one(course, made.NAME, "eve_note")["reasons"] == [f"there is no {BOOK}; handed in: not_collected.txt"]


AT_ONCE = [(2026, 11, 26, 6, 13, 6), (2026, 11, 26, 6, 13, 8)]
HEAD = "Identifier,Full name,Email address,Status,Last modified (submission),Last modified (grade)\n"


def test_dates_that_are_all_the_same_make_nobody_late(course, pack):
    entries = [
        (MOODLE.format(name=f"Student {letter}", number=n, file=BOOK), work(course), AT_ONCE[n])
        for n, letter in enumerate("AB")
    ]
    found = pack(*entries)
    assert "the time of the download, so they make nobody late" in found.told[0] and "--worksheet" in found.told[0]
    assert collected(course, "student_a") == collected(course, "student_b") == [BOOK]


def test_a_worksheet_says_who_handed_in_when(course, pack, tmp_path):
    sheet = tmp_path / "grades.csv"
    sheet.write_text(
        f'{HEAD}Participant 0,Student A,a@x.org,Submitted,"Friday, 20 November 2026, 11:02 PM",-\n'
        "Participant 1,Student B,b@x.org,Submitted,-,-\n",
        encoding="utf-8-sig",
    )
    entries = [
        (MOODLE.format(name=f"Student {letter}", number=n, file=BOOK), work(course), AT_ONCE[0])
        for n, letter in enumerate("ABC")
    ]
    found = pack(*entries, worksheet=sheet)
    assert found.told == ["Student C: the worksheet has no row for this person, so it gives no date"]
    stamp = course.path("submitted", "student_a", made.NAME, TIMESTAMP).read_text().strip()
    assert datetime.fromisoformat(stamp) == datetime(2026, 11, 20, 23, 2).astimezone(UTC)
    assert collected(course, "student_b") == collected(course, "student_c") == [BOOK]


def test_a_worksheet_of_another_assignment_gives_one_remark(course, pack, tmp_path):
    """Moodle numbers people anew in each assignment. A sheet that lacks only some names each."""
    sheet = tmp_path / "grades.csv"
    rows = (f'Participant {n},S,a,Submitted,"20 November 2026, 11:02 PM",-\n' for n in range(4))
    sheet.write_text(HEAD + "".join(rows))

    def told(*numbers):
        return pack(
            *((MOODLE.format(name=f"Student {n}", number=n, file=BOOK), work(course)) for n in numbers), worksheet=sheet
        ).told

    assert told(0, 7, 8, 9) == [
        "the worksheet has no row for 3 of 4 people, so it gives them no date; it looks like another assignment's"
    ]
    lacks = "the worksheet has no row for this person, so it gives no date"
    assert told(0, 1, 7, 8) == [f"Student 7: {lacks}", f"Student 8: {lacks}"]


def dates(course):
    """The dates of all collected work, as written."""
    files = course.path("submitted").glob(f"*/{made.NAME}/{TIMESTAMP}")
    return {file.parent.parent.name: datetime.fromisoformat(file.read_text().strip()) for file in files}


@pytest.mark.parametrize("how", ["worksheet", "trusted", "dates in the archive"])
@pytest.mark.parametrize("with_file_of_own", [False, True])
def test_work_that_is_there_gets_the_date_that_is_known_only_now(course, pack, tmp_path, how, with_file_of_own):
    def entries(minutes):
        return [
            (MOODLE.format(name=f"Student {letter}", number=n, file=name), text, (2026, 11, 20, 23, minutes * n, 4))
            for n, (letter, name, text) in enumerate([("A", BOOK, work(course)), ("B", "answers.docx", "x")])
        ]

    sheet = tmp_path / "grades.csv"
    rows = (f'Participant {n},S,a,Submitted,"20 November 2026, 11:0{n} PM",-\n' for n in (0, 1))
    sheet.write_text(HEAD + "".join(rows))
    first = pack(*entries(1), assignment=made.NAME)
    assert first.students == ["student_a", "student_b"] and first.dated == [] and dates(course) == {}
    if with_file_of_own:
        (course.path("submitted", "student_a", made.NAME) / "data.txt").write_text("of the learner, put there by hand")
    options = {"worksheet": {"worksheet": sheet}, "trusted": {"trusted": True}}.get(how, {})
    found = pack(*entries(1 if options else 9), assignment=made.NAME, **options)
    assert found.students == [] and found.dated == ["student_a", "student_b"] and found.told == []
    apart = 9 if not options else 1
    wanted = {f"student_{who}": datetime(2026, 11, 20, 23, apart * n) for n, who in enumerate("ab")}
    written = {who: date.astimezone().replace(tzinfo=None, second=0) for who, date in dates(course).items()}
    assert written == wanted and not course.path("replaced").exists()


def test_a_date_that_is_there_is_corrected_only_by_a_date_that_is_stated_and_told_of(course, pack, tmp_path):
    path = MOODLE.format(name="Student A", number=0, file=BOOK)
    by_archive = (path, work(course), (2026, 11, 20, 12, 0, 0))
    pack(by_archive)
    stamp = course.path("submitted", "student_a", made.NAME, TIMESTAMP)
    before = stamp.read_text()
    extended = "2026-11-19 12:00:00 UTC\n"  # an instructor writes an earlier date for someone who was ill
    stamp.write_text(extended)
    assert pack(by_archive).dated == [] and stamp.read_text() == extended
    found = pack(by_archive, trusted=True)
    (told,) = found.told
    assert re.match("student_a: the same work; its date was 2026-11-19 12:00 UTC and is now 2026-11-20 ", told)
    assert found.students == found.dated == [] and stamp.read_text() == before
    sheet = tmp_path / "grades.csv"
    for about in ('"20 November 2026, 12:00 PM"', "-"):  # it has no seconds, or nothing
        sheet.write_text(f"{HEAD}Participant 0,A,a,Submitted,{about},-\n")
        assert pack(by_archive, worksheet=sheet).told == [] and stamp.read_text() == before


def test_late_work_of_canvas_that_is_there_gets_its_date_once_there_is_a_due_date(course, pack):
    late = (f"hopper_LATE_78_500_{BOOK}", work(course))
    assert pack(late).students == ["hopper_78"] and dates(course) == {}
    with Gradebook(course.database) as gradebook:
        gradebook.update_or_create_assignment(made.NAME, duedate=datetime(2026, 11, 1, 12))
    assert pack(late).dated == ["hopper_78"]
    assert dates(course) == {"hopper_78": datetime(2026, 11, 1, 12, 0, 1, tzinfo=UTC)}


def test_a_file_with_the_name_of_the_date_is_no_other_work(course, pack):
    entries = [(MOODLE.format(name="Eve", number=1, file=name), "x") for name in ("answers.docx", TIMESTAMP)]
    pack(*entries, assignment=made.NAME)
    assert pack(*entries, assignment=made.NAME).students == [] and not course.path("replaced").exists()


def test_the_way_that_the_remark_names_gives_the_dates(course, pack, tmp_path, monkeypatch, capsys):
    """The remark's own words are typed, and the last line tells how many dates there are."""
    entries = [
        (MOODLE.format(name=f"Student {letter}", number=n, file=BOOK), work(course), AT_ONCE[n])
        for n, letter in enumerate("AB")
    ]
    (told,) = pack(*entries).told
    (tmp_path / "FILE").write_text(f'{HEAD}Participant 0,A,a,b,"20 November 2026, 11:00 PM",-\n')
    monkeypatch.setenv("COURSE_DIRECTORY", str(course.folder))
    monkeypatch.chdir(tmp_path)
    by_sheet, trusted = re.findall(r"ARGS=([\w=-]+)", told)
    front_door.collect(["archive.zip", by_sheet])
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == f"{made.NAME}: 0 collected, 1 date entered, 1 remark"  # the remark tells who has no row
    front_door.collect(["archive.zip", trusted])
    assert capsys.readouterr().out.splitlines()[-1] == f"{made.NAME}: 0 collected, 1 date entered, 1 remark"
    assert dates(course).keys() == {"student_a", "student_b"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "There is no file"),
        ("", "no column says when work was handed in .columns: none."),
        ("Identifier,Grade\nParticipant 1,2\n", "columns: Identifier, Grade"),
        (f"{HEAD}Participant 0,A,a,b,gestern,-\n", "the date 'gestern' cannot be read"),
    ],
)
def test_a_worksheet_that_is_none_is_refused(text, said, tmp_path):
    sheet = tmp_path / "grades.csv"
    if text is not None:
        sheet.write_text(text)
    with pytest.raises(CourseError, match=said):
        sheets.read_worksheet(sheet)


@pytest.mark.slow
def test_what_a_browser_or_an_editor_has_made_of_a_notebook_is_read(course, pack):
    text = work(course)
    found = pack(
        (MOODLE.format(name="Br Owser", number=1, file=f"{BOOK}.txt"), text),
        (MOODLE.format(name="Wi Ndows", number=2, file=BOOK), text.encode("utf-16")),
        (MOODLE.format(name="Ma Rk", number=3, file=BOOK), text.encode("utf-8-sig")),
        (MOODLE.format(name="No Thing", number=4, file=f"{BOOK}.txt"), "my answers"),
    )
    assert found.told == [] and len(found.students) == 4
    told = {}
    for student in found.students:
        report = grade_one(course, made.NAME, student)
        told[student] = (sum(cell["points"] for cell in report["cells"].values()), *report["reasons"])
    assert told == {
        "br_owser": (8, f"it was handed in as {BOOK}.txt, not {BOOK}"),
        "wi_ndows": (8, "it is encoded in UTF-16"),
        "ma_rk": (8, "it is encoded in UTF-8 with a byte-order mark"),
        "no_thing": (0, f"{BOOK}.txt cannot be read as a notebook: Notebook does not appear to be JSON: 'my answers'"),
    }


def test_what_is_told_is_printable(pack, course):
    found = pack(("\x1b[2J\x1b[31mstray.ipynb", work(course)), assignment=made.NAME)
    assert found.told[0].startswith("\\x1b[2J\\x1b[31mstray.ipynb: its name does not say whose it is")


def test_a_resubmission_replaces_and_keeps_what_was_there(course, pack):
    path = MOODLE.format(name="Ada Lovelace", number=7, file=BOOK)
    pack((path, work(course, "cat_score = 1"), (2026, 10, 1, 8, 0, 0)))
    again = pack((path, work(course, "cat_score = 1"), (2026, 10, 1, 8, 0, 0)))
    assert again.students == [] and again.told == []
    newer = pack((path, work(course, "cat_score = 2"), (2026, 10, 2, 8, 0, 0)))
    assert newer.students == ["ada_lovelace"] and "handed in again" in newer.told[0]
    there = course.path("submitted", "ada_lovelace", made.NAME, BOOK)
    assert "cat_score = 2" in there.read_text()
    assert "cat_score = 1" in course.path("replaced", "ada_lovelace", f"{made.NAME}-1", BOOK).read_text()
    older = pack((path, work(course, "cat_score = 3"), (2026, 9, 30, 8, 0, 0)))
    assert older.students == [] and "is newer and stays" in older.told[0] and "cat_score = 2" in there.read_text()


def test_an_archive_that_is_none_or_holds_nothing_says_so(course, pack, tmp_path):
    with pytest.raises(CourseError, match="There is no file"):
        collect(course, tmp_path / "none.zip")
    (tmp_path / "text.zip").write_text("text")
    with pytest.raises(CourseError, match="is not a ZIP archive"):
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
