"""Takes submissions out of the archive that a learning platform hands out, and puts them where nbgrader looks for them.

nbgrader's own zip_collect reads names by one regular expression, gives up where two files of a student have no date,
and skips with a line in its log what it cannot read. Here every file of an archive is either collected or told of.
"""

import contextlib
import csv
import re
import shutil
import tempfile
import unicodedata
import zipfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path, PurePosixPath

import dateutil.parser
import nbformat
from tqdm import tqdm

from course_lib.files import read_json, write_json
from course_lib.grading.course import Course, CourseError, shown
from course_lib.grading.submission import (
    LARGEST,
    TIMESTAMP,
    Unreadable,
    grade_id,
    handed_in_at,
    is_notebook,
    printable,
    read_notebook,
)

# Moodle: "Ada Lovelace_1234_assignsubmission_file_/x.ipynb", or flat "Ada Lovelace_1234_assignsubmission_file_x.ipynb".
MOODLE = re.compile(r"(?P<name>[^/]+?)_(?P<number>\d+)_assignsubmission_(?:file|onlinetext)_?/?(?P<file>.+)")
# Canvas: "lovelaceada_LATE_1234_5678_x.ipynb": the student's number, then that of the upload, which grows.
CANVAS = re.compile(r"(?P<name>[^/_]+)_(?P<late>LATE_)?(?P<number>\d+)_(?P<upload>\d+)_(?P<file>.+)")
SUBMITTED = re.compile(r"submission|abgabe|remise|entrega|consegna|inlever", re.IGNORECASE)  # in a worksheet's head
DATE = re.compile(r"(20\d\d)-(\d\d)-(\d\d)[-_ T](\d\d)[-:.](\d\d)(?:[-:.](\d\d))?")
NOT_A_DATE = datetime(1980, 1, 1)  # what a ZIP holds where there is none
IGNORED = (".ipynb_checkpoints", ".DS_Store")
KEPT_ASIDE = "holds only files that Jupyter or macOS keeps for itself"
LONGEST_NAME = 80  # bytes of a folder's or a file's name; a system takes 255
AT_ONCE = timedelta(minutes=2)  # dates of a whole archive that lie as near as this are those of its download
MOST_FILES, LARGEST_WORK = 1_000, 2 * LARGEST  # that one person's work may unpack to


@dataclass(frozen=True)
class File:
    """One file of an archive, and what its name says."""

    path: str
    date: datetime | None  # in UTC, from the platform's archive
    student: str
    name: str
    number: str
    base: str
    late: bool
    upload: int
    unpacked: Path | None = None  # where its content lies
    problem: str = ""  # why it could not be unpacked
    ignored: bool = False  # whether Jupyter or macOS keeps it for itself

    @property
    def age(self) -> tuple:
        return (self.upload, self.date or datetime.min.replace(tzinfo=UTC))

    @property
    def content(self) -> bytes:
        return self.unpacked.read_bytes()


@dataclass
class Collected:
    """What became of an archive: students whose work was put in place, and what is to be told, line by line."""

    assignment: str
    students: list[str] = field(default_factory=list)
    told: list[str] = field(default_factory=list)


def slug(name: str) -> str:
    """A name as a folder can have it everywhere: "José Núñez" is jose_nunez."""
    plain = "".join(c for c in unicodedata.normalize("NFKD", name) if not unicodedata.combining(c))
    return _short(re.sub(r"[^\w.-]+", "_", plain.lower())).strip("_.-")


def _short(name: str) -> str:
    """The end of a name, as long as every system can have it."""
    return name.encode()[-LONGEST_NAME:].decode(errors="ignore")


def _entries(archive: zipfile.ZipFile, within: str = "") -> Iterator[tuple[zipfile.ZipInfo, str]]:
    """Each file, and its path."""
    for info in archive.infolist():
        name = info.filename
        if not info.flag_bits & 0x800:  # the archive does not say that it is UTF-8, though it mostly is
            try:
                name = name.encode("cp437").decode("utf-8")
            except UnicodeError:
                pass
        path = within + name.replace("\\", "/")
        if not info.is_dir() and "__MACOSX" not in PurePosixPath(path).parts:
            yield info, path


def _is_ignored(path: str) -> bool:
    return any(part in IGNORED for part in PurePosixPath(path).parts)


def _base(path: str) -> str:
    """A file's name, as every system can have it."""
    return _short(re.sub(r'[<>:"|?*\x00-\x1f]', "_", PurePosixPath(path).name)).strip(". ") or "file"


def _read(path: str, info: zipfile.ZipInfo) -> File | None:
    """What a path says of its student; None if it says nothing."""
    # A platform may put all in a folder of its own; the student's part is the first that fits.
    parts = path.split("/")
    for start in range(len(parts)):
        rest = "/".join(parts[start:])
        if found := MOODLE.fullmatch(rest) or CANVAS.fullmatch(rest):
            break
    else:
        return None
    about = found.groupdict()
    canvas = "upload" in about
    try:
        date = datetime(*info.date_time)
    except ValueError:
        date = NOT_A_DATE
    if canvas or date == NOT_A_DATE:
        date = None  # Canvas packs a file with the time of the download
    return File(
        path=path,
        date=date and date.astimezone(UTC),  # a ZIP holds local time
        # A Canvas number is a person's. A Moodle number is new in each assignment, so there the name must do.
        student=slug(f"{about['name']}_{about['number']}" if canvas else about["name"]),
        name=about["name"],
        number=about["number"],
        base=_base(about["file"]),
        late=bool(about.get("late")),
        upload=int(about.get("upload", 0)),
    )


class _Unpacking:
    """Unpacks what students handed in, one file after the other, and of nobody's work too much."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.files: Counter = Counter()  # by student
        self.bytes: Counter = Counter()

    def take(self, archive: zipfile.ZipFile, info: zipfile.ZipInfo, file: File) -> Iterator[File]:
        """A file; of a learner's own archive, what is in it, in the place and with the time of that archive."""
        file = self._take(archive, info, file)
        if file.problem or not file.base.lower().endswith(".zip"):
            yield file
            return
        try:
            with zipfile.ZipFile(file.unpacked) as inner:
                if len(inner.infolist()) > MOST_FILES:
                    raise zipfile.BadZipFile(f"it holds more than {MOST_FILES} files")
                inside = [(info, path) for info, path in _entries(inner, f"{file.path[:-4]}/") if not _is_ignored(path)]
                if not inside:
                    yield replace(file, unpacked=None, problem=KEPT_ASIDE)
                for info, path in inside:
                    yield self._take(inner, info, replace(file, path=path, base=_base(path)))
        except Exception as error:  # whatever a broken archive makes zipfile do
            yield replace(file, unpacked=None, problem=f"cannot be opened ({error}); unpack it by hand")

    def _take(self, archive: zipfile.ZipFile, info: zipfile.ZipInfo, file: File) -> File:
        who = (file.student, file.number)
        self.files[who] += 1
        self.bytes[who] += info.file_size  # of which zipfile gives no byte more
        if info.file_size > LARGEST:
            return replace(file, problem=f"refused, since it is larger than {LARGEST // 10**6} MB")
        if self.files[who] > MOST_FILES or self.bytes[who] > LARGEST_WORK:
            most = f"{MOST_FILES} files or {LARGEST_WORK // 10**6} MB"
            return replace(file, problem=f"refused, since with it the work has more than {most}")
        unpacked = self.folder / str(self.files.total())
        try:
            with archive.open(info) as packed, unpacked.open("wb") as out:
                shutil.copyfileobj(packed, out)
        except Exception as error:  # whatever a broken archive makes zipfile do
            return replace(file, problem=f"cannot be read ({error}); unpack it by hand")
        return replace(file, unpacked=unpacked)


def _answers(file: File, ids: dict[str, set[str]]) -> str | None:
    """The assignment whose cells a notebook holds."""
    try:
        held = set(map(grade_id, read_notebook(file.unpacked)[0].cells))
    except Unreadable:
        return None
    best = max(ids, key=lambda assignment: len(ids[assignment] & held))
    return best if ids[best] & held else None


def collect(
    course: Course, archive: Path, assignment: str | None = None, worksheet: Path | None = None, trusted: bool = False
) -> Collected:
    """Puts the newest work of each student under `submitted`; what was there before is moved to `replaced`.

    Of whom nothing can be collected gets a folder with a note that says why, so that grading and its table tell of it.

    Args:
        assignment: that of the archive; if None, the one whose cells most of its notebooks hold.
        worksheet: Moodle's grading worksheet, a CSV file that says when each participant handed in.
        trusted: whether dates count that are all the same, as those of a download are.
    Raises:
        CourseError: there is no such archive or worksheet, it is none, or no notebook in it belongs to an assignment.
    """
    course.find()
    dates = read_worksheet(worksheet) if worksheet else None
    with tempfile.TemporaryDirectory(prefix="course-collect-") as folder:
        return _collect(course, archive, assignment, _Unpacking(Path(folder)), dates, trusted)


def read_worksheet(file: Path) -> dict[str, datetime | None]:
    """When each participant of Moodle's grading worksheet handed in, by number; None for who did not.

    Raises:
        CourseError: there is no such file, it has no such column, or a date of it cannot be read.
    """
    try:
        with file.open(encoding="utf-8-sig", newline="") as opened:
            rows = list(csv.DictReader(opened))
    except OSError:
        raise CourseError(f"There is no file {file}.") from None
    columns = [*rows[0]] if rows else []
    when = next((column for column in columns if column and SUBMITTED.search(column)), None)
    if when is None:
        there = ", ".join(map(str, columns)) or "none"
        raise CourseError(f"{file}: no column says when work was handed in (columns: {there}). Wanted is Moodle's "
                          "grading worksheet, with the column “Last modified (submission)”.")  # fmt: skip
    dates = {}
    for row in rows:
        if number := re.search(r"\d+$", row[columns[0]] or ""):
            dates[number[0]] = _date(row[when], file)
    return dates


def _date(text: str, file: Path) -> datetime | None:
    if text.strip() in ("", "-"):
        return None
    try:
        return dateutil.parser.parse(text, dayfirst=True).astimezone(UTC)
    except (OverflowError, ValueError):
        raise CourseError(f"{file}: {text!r} is a date that cannot be read; set Moodle to English, and download the "
                          "worksheet once more.") from None  # fmt: skip


def _unpack(archive: Path, unpacking: _Unpacking, elsewhere: str, told: list[str]) -> Iterator[File]:
    with zipfile.ZipFile(archive) as opened:
        for info, path in _entries(opened):
            parts = PurePosixPath(path).parts
            if ".." in parts or path.startswith("/") or ":" in parts[0]:
                told.append(f"{path}: refused, since its name leads out of the archive")
            elif file := _read(path, info):
                yield from (
                    unpacking.take(opened, info, file) if not _is_ignored(path) else [replace(file, ignored=True)]
                )
            elif not _is_ignored(path):
                told.append(f"{path}: its name says no student; put it by hand into {elsewhere}")


def _dated(files: list[File], dates: dict | None, trusted: bool, told: list[str]) -> list[File]:
    """The files with the dates that count: a worksheet's, or the archive's unless they are those of its download."""
    if dates is not None:
        lacking = sorted({file.name for file in files if file.number not in dates})
        told += [f"{name}: the worksheet has no such participant, so there is no date" for name in lacking]
        return [replace(file, date=dates.get(file.number)) for file in files]
    there = {(file.student, file.number, file.date) for file in files if file.date}
    people = {person[:2] for person in there}
    written = sorted(date for *_, date in there)
    if trusted or len(people) < 2 or written[-1] - written[0] > AT_ONCE:
        return files
    told.append(
        f"all dates are {written[0]:%Y-%m-%d %H:%M} UTC, which may be the time of the download, so nobody is late. "
        "Give Moodle's grading worksheet (ARGS=--worksheet=FILE), or, if these dates are right, ARGS=--trust-dates"
    )
    return [replace(file, date=None) for file in files]


def _told_apart(course: Course, files: list[File], assignment: str, told: list[str]) -> list[File]:
    """The files with a folder of its own for each person: namesakes, and whose name no folder can have, by number."""
    kept = course.folder / "collected.json"
    before = read_json(kept)
    folders = before.setdefault(assignment, {})  # by name and number, also of archives that were collected before
    for student, number in sorted({(file.student, file.number) for file in files}):
        theirs = folders.setdefault(student, {})
        namesakes = len({file.number for file in files if file.student == student} | theirs.keys()) > 1
        if number not in theirs:
            theirs[number] = student if student and not namesakes else f"{student or 'student'}_{number}"
            if namesakes:
                told.append(
                    f"{theirs[number]}: somebody else has this name, so the folder carries the platform's number"
                )
    write_json(kept, before)
    return [replace(file, student=folders[file.student][file.number]) for file in files]


def _collect(
    course: Course, archive: Path, assignment: str | None, unpacking: _Unpacking, dates: dict | None, trusted: bool
) -> Collected:
    from nbgrader.api import Gradebook

    ids = {}
    for name in course.find():
        source = nbformat.read(course.source(name), as_version=4)
        ids[name] = {grade_id(cell) for cell in source.cells} - {None}
    told: list[str] = []
    elsewhere = shown(course.path("submitted", "STUDENT", assignment or "ASSIGNMENT"))
    try:
        files = list(_unpack(archive, unpacking, elsewhere, told))
    except FileNotFoundError:
        raise CourseError(f"There is no file {archive}.") from None
    except zipfile.BadZipFile:
        raise CourseError(f"{archive} is no ZIP archive.") from None
    for file in files:
        if file.problem and file.problem != KEPT_ASIDE:
            told.append(f"{file.path}: {file.problem}")
        if (written := DATE.search(file.base)) and not _agree(written, file.date):
            date = f"{file.date:%Y-%m-%d %H:%M} UTC" if file.date else "no date"
            told.append(f"{file.path}: its name has a date of its own; what counts is the archive's, {date}")
    books = [file for file in files if file.unpacked and is_notebook(file.base)]
    belongs = {file.unpacked: _answers(file, ids) for file in books}
    if assignment is None:
        seen = Counter(name for name in belongs.values() if name)
        if not seen:
            there = printable("\n".join(["", *told]))
            raise CourseError(f"{archive}: no notebook holds the cells of {', '.join(ids)}; name it: ARGS=03{there}")
        assignment = seen.most_common(1)[0][0]
    by_student = defaultdict(list)
    for file in _told_apart(course, _dated(files, dates, trusted, told), assignment, told):
        by_student[file.student].append(file)
    students = []
    with Gradebook(course.database) as gradebook:
        due = gradebook.find_assignment(assignment).duedate
        for student, theirs in tqdm(sorted(by_student.items()), unit="submission", disable=None):
            theirs = [file for file in theirs if not file.ignored] or [replace(theirs[0], problem=KEPT_ASIDE)]
            chosen, problem = _choose(theirs, belongs, assignment, told)
            try:
                put = bool(chosen) and _put(course, student, assignment, chosen, due, told)
            except OSError as error:
                put, chosen, problem = False, [], f"it could not be put in place ({error}); collect it by hand"
            if problem and problem not in {file.problem for file in theirs}:
                told.append(f"{student}: {problem}")
            if put:
                students.append(student)
            elif not chosen and not _note(course, student, assignment, problem):
                continue
            first, _, last = theirs[0].name.rpartition(" ")
            known = {s.id for s in gradebook.students}
            names = {"first_name": first or None, "last_name": last}
            gradebook.update_or_create_student(student, **({} if student in known else names))
    return Collected(assignment, students, [printable(line) for line in told])


def _agree(written: re.Match, date: datetime | None) -> bool:
    try:
        own = datetime(*(int(part) for part in written.groups("0"))).astimezone(UTC)
    except (OverflowError, ValueError):
        return False
    return date is not None and abs(own - date) < timedelta(minutes=1)


def _choose(files: list[File], belongs: dict, assignment: str, told: list[str]) -> tuple[list[File], str]:
    """The notebook to grade; or, where there is none, all that was handed in, so that grading can say so.

    If nothing can be chosen, the reason.
    """
    others = [file for file in files if belongs.get(file.unpacked) not in (None, assignment)]
    told += [f"{file.path}: left aside, it holds the cells of {belongs[file.unpacked]}" for file in others]
    notebooks = [file for file in files if belongs.get(file.unpacked) == assignment]
    broken = [file for file in files if file.unpacked in belongs and belongs[file.unpacked] is None]
    pool = notebooks or broken
    problems = [file for file in files if file.problem]
    if not pool and problems:
        return [], "; ".join(f"{file.base} {file.problem}" for file in problems)
    if not pool:
        rest = [file for file in files if file not in others]
        return rest, "" if rest else "what was handed in holds the cells of another exercise"
    newest = max(pool, key=lambda file: (*file.age, file.base == f"{assignment}.ipynb"))
    rivals = [file for file in pool if file.age == newest.age and file.content != newest.content]
    if rivals and (newest.base != f"{assignment}.ipynb" or any(file.base == newest.base for file in rivals)):
        names = ", ".join(file.path for file in (newest, *rivals))
        return [], f"several notebooks could be meant, and none is newer; collect one by hand: {names}"
    for file in files:
        if file is not newest and file not in others and not file.problem:
            older = "older" if file in pool and file.age < newest.age else "not the notebook that is graded"
            told.append(f"{file.path}: left aside, {older}")
    # A platform, or a second download, adds to names: what holds the assignment's cells has its name.
    known = newest in notebooks and newest.base.endswith(".ipynb")
    return [replace(newest, base=f"{assignment}.ipynb") if known else newest], ""


def _note(course: Course, student: str, assignment: str, problem: str) -> bool:
    """Puts the reason where the work would stand; what was collected earlier stays."""
    folder, note = course.path("submitted", student, assignment), course.note(assignment, student)
    if folder.exists() and not note.exists():
        return False
    for place in (folder, note.parent):
        place.mkdir(parents=True, exist_ok=True)
    note.write_text(f"{printable(problem)}\n", encoding="utf-8")
    return True


def _put(course: Course, student: str, assignment: str, files: list[File], due: datetime | None, told: list) -> bool:
    folder = course.path("submitted", student, assignment)
    newest = max(files, key=lambda file: file.age)
    date = newest.date
    if newest.late and due and not (date and date > due.replace(tzinfo=UTC)):
        date = due.replace(tzinfo=UTC) + timedelta(seconds=1)
        told.append(f"{student}: marked LATE without a date; counted as one second late")
    if folder.exists():
        there = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file() and path.name != TIMESTAMP}
        if there == {file.base: file.content for file in files}:
            return False
        before = None
        with contextlib.suppress(ValueError):
            before = handed_in_at(folder)
        if before and date and date < before.replace(tzinfo=UTC):
            told.append(f"{student}: what was collected earlier is newer, and stays ({newest.path} is left aside)")
            return False
        number = len(list(course.path("replaced", student).glob(f"{assignment}-*"))) + 1
        aside = course.path("replaced", student, f"{assignment}-{number}")
        aside.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(folder, aside)
        told.append(f"{student}: handed in anew; the earlier work is in {shown(aside)}")
    folder.mkdir(parents=True)
    for file in files:
        shutil.copyfile(file.unpacked, folder / file.base)
    (folder / TIMESTAMP).unlink(missing_ok=True)  # of the learner's own
    course.note(assignment, student).unlink(missing_ok=True)
    if date:
        (folder / TIMESTAMP).write_text(f"{date.isoformat()}\n")
    return True
