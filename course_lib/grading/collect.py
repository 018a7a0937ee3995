"""Collects submissions from a learning platform's archive, and puts them where nbgrader looks for them.

nbgrader's own zip_collect reads names with one regular expression, gives up if two files of a student have no date,
and only logs what it can't read. Here every file of an archive is either collected or reported.
"""

import contextlib
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

import nbformat
from tqdm import tqdm

from course_lib.files import read_json, write_json
from course_lib.grading.course import Course, CourseError, shown
from course_lib.grading.sheets import read_worksheet
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
# Canvas: "lovelaceada_LATE_1234_5678_x.ipynb", with the student's number and the upload's, which grows.
CANVAS = re.compile(r"(?P<name>[^/_]+)_(?P<late>LATE_)?(?P<number>\d+)_(?P<upload>\d+)_(?P<file>.+)")
DATE = re.compile(r"(20\d\d)-(\d\d)-(\d\d)[-_ T](\d\d)[-:.](\d\d)(?:[-:.](\d\d))?")
WRITTEN = "%Y-%m-%d %H:%M UTC"
NOT_A_DATE = datetime(1980, 1, 1)  # what a ZIP has in place of a missing date
IGNORED = (".ipynb_checkpoints", ".DS_Store")
KEPT_ASIDE = "holds only hidden files of Jupyter or macOS"
MOST_NAMED = 3  # folders in one remark; under anonymous marking it is about the whole class
LONGEST_NAME = 80  # bytes of a folder's or a file's name; systems allow 255
AT_ONCE = timedelta(minutes=2)  # if an archive's dates are all this close, they are those of the download
MOST_FILES, LARGEST_WORK = 1_000, 2 * LARGEST  # that one person's work may contain when unpacked


@dataclass(frozen=True)
class File:
    """Holds one file of an archive and what its name says."""

    path: str
    date: datetime | None  # in UTC, from the platform's archive
    student: str
    name: str
    number: str
    base: str
    late: bool
    upload: int
    unpacked: Path | None = None  # where its content is
    problem: str = ""  # why it was not unpacked
    ignored: bool = False  # whether it is a hidden file of Jupyter or macOS

    @property
    def age(self) -> tuple:
        return (self.upload, self.date or datetime.min.replace(tzinfo=UTC))

    @property
    def content(self) -> bytes:
        return self.unpacked.read_bytes()


@dataclass
class Collected:
    """Lists the students whose work was collected from an archive, and the remarks to print."""

    assignment: str
    students: list[str] = field(default_factory=list)
    dated: list[str] = field(default_factory=list)  # whose work was collected before and now has a date
    told: list[str] = field(default_factory=list)


def slug(name: str) -> str:
    """Returns a name that a folder can have on every system: "José Núñez" is jose_nunez."""
    plain = "".join(c for c in unicodedata.normalize("NFKD", name) if not unicodedata.combining(c))
    return _short(re.sub(r"[^\w.-]+", "_", plain.lower())).strip("_.-")


def _short(name: str) -> str:
    """Returns the end of a name, short enough for every system."""
    return name.encode()[-LONGEST_NAME:].decode(errors="ignore")


def _entries(archive: zipfile.ZipFile, within: str = "") -> Iterator[tuple[zipfile.ZipInfo, str]]:
    """Yields each file with its path."""
    for info in archive.infolist():
        name = info.filename
        if not info.flag_bits & 0x800:  # not declared as UTF-8, though it mostly is
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
    """Returns a name that a file can have on every system."""
    return _short(re.sub(r'[<>:"|?*\x00-\x1f]', "_", PurePosixPath(path).name)).strip(". ") or "file"


def _read(path: str, info: zipfile.ZipInfo) -> File | None:
    """Returns what a path says about its student, or None if it says nothing."""
    # A platform may put everything into a folder; the student's part is the first that matches.
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
        date = None  # Canvas writes the time of the download
    return File(
        path=path,
        date=date and date.astimezone(UTC),  # a ZIP holds local time
        # In Canvas the number belongs to a person. In Moodle it changes with each assignment, so only the name counts.
        student=slug(f"{about['name']}_{about['number']}" if canvas else about["name"]),
        name=about["name"],
        number=about["number"],
        base=_base(about["file"]),
        late=bool(about.get("late")),
        upload=int(about.get("upload", 0)),
    )


class _Unpacking:
    """Unpacks submitted files one after another, up to a limit per person."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.files: Counter = Counter()  # by student
        self.bytes: Counter = Counter()

    def take(self, archive: zipfile.ZipFile, info: zipfile.ZipInfo, file: File) -> Iterator[File]:
        """Yields a file, or the files in a learner's own archive, with that archive's path and time."""
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
        self.bytes[who] += info.file_size  # zipfile never unpacks more than that
        if info.file_size > LARGEST:
            return replace(file, problem=f"refused, since it is larger than {LARGEST // 10**6} MB")
        if self.files[who] > MOST_FILES or self.bytes[who] > LARGEST_WORK:
            most = f"{MOST_FILES} files or {LARGEST_WORK // 10**6} MB"
            return replace(file, problem=f"refused, since with it the submission exceeds {most}")
        unpacked = self.folder / str(self.files.total())
        try:
            with archive.open(info) as packed, unpacked.open("wb") as out:
                shutil.copyfileobj(packed, out)
        except Exception as error:  # whatever a broken archive makes zipfile do
            return replace(file, problem=f"cannot be read ({error}); unpack it by hand")
        return replace(file, unpacked=unpacked)


def _answers(file: File, ids: dict[str, set[str]]) -> str | None:
    """Returns the assignment whose cells a notebook holds."""
    try:
        held = set(map(grade_id, read_notebook(file.unpacked)[0].cells))
    except Unreadable:
        return None
    best = max(ids, key=lambda assignment: len(ids[assignment] & held))
    return best if ids[best] & held else None


def collect(
    course: Course, archive: Path, assignment: str | None = None, worksheet: Path | None = None, trusted: bool = False
) -> Collected:
    """Puts the newest work of each student into `submitted`, and moves what was there before to `replaced`.

    Work that is already there stays, and gets its date if that is known only now. A worksheet or trusted dates also
    correct a date that is there.

    If nothing of a student can be collected, a note says why, so that the table of marks can give the reason.

    Args:
        assignment: the archive's; None takes the one whose cells most of its notebooks hold.
        worksheet: Moodle's grading worksheet, a CSV file that says when each participant handed in.
        trusted: whether dates count even if all are the same, like those of a download.
    Raises:
        CourseError: the archive or worksheet is missing or can't be read, or no notebook belongs to an assignment.
    """
    course.find()
    dates = read_worksheet(worksheet) if worksheet else None
    with tempfile.TemporaryDirectory(prefix="course-collect-") as folder:
        return _collect(course, archive, assignment, _Unpacking(Path(folder)), dates, trusted)


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
                told.append(f"{path}: its name does not say whose it is; put it into {elsewhere} by hand")


def _dated(files: list[File], dates: dict | None, trusted: bool, told: list[str]) -> list[File]:
    """Returns the files with a worksheet's dates, or with the archive's unless those are of the download."""
    if dates is not None:
        names = {file.number: file.name for file in files}
        lacking = names.keys() - dates.keys()
        if len(lacking) > max(1, len(names) / 2):
            told.append(
                f"the worksheet has no row for {len(lacking)} of {len(names)} people, so it gives them no date; "
                "it looks like another assignment's"
            )
        else:
            who = sorted({names[number] for number in lacking})
            told += [f"{name}: the worksheet has no row for this person, so it gives no date" for name in who]
        return [replace(file, date=dates.get(file.number)) for file in files]
    there = {(file.student, file.number, file.date) for file in files if file.date}
    people = {person[:2] for person in there}
    written = sorted(date for *_, date in there)
    if trusted or len(people) < 2 or written[-1] - written[0] > AT_ONCE:
        return files
    told.append(
        f"all dates are {written[0]:{WRITTEN}}, which may be the time of the download, so they make nobody late. "
        "Add Moodle's grading worksheet with ARGS=--worksheet=FILE, or accept these dates with ARGS=--trust-dates"
    )
    return [replace(file, date=None) for file in files]


def _told_apart(course: Course, files: list[File], assignment: str, told: list[str]) -> list[File]:
    """Returns the files with a folder per person; shared or unusable names get the platform's number."""
    kept = course.folder / "collected.json"
    before = read_json(kept)
    folders = before.setdefault(assignment, {})  # by name and number, also from archives collected before
    taken = {folder for theirs in folders.values() for folder in theirs.values()}
    numbered = defaultdict(list)  # new folders with a number, by the reason
    for student, number in sorted({(file.student, file.number) for file in files}):
        theirs = folders.setdefault(student, {})
        if number in theirs:
            continue
        folder, why = student, ""
        if not student:
            why = "the name has no letter or digit"
        elif student in taken or len({file.number for file in files if file.student == student} | theirs.keys()) > 1:
            why = f"more than one person would have the folder {student}"
        if why:
            folder = f"{student or 'student'}_{number}"
            while folder in taken:  # someone's name ends with this number
                folder += "_"
            numbered[why].append(folder)
        theirs[number] = folder
        taken.add(folder)
    for why, those in numbered.items():
        more = f" and {len(those) - MOST_NAMED} more" if len(those) > MOST_NAMED else ""
        told.append(f"{', '.join(those[:MOST_NAMED])}{more}: {why}, so the platform's number is added")
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
        raise CourseError(f"{archive} is not a ZIP archive.") from None
    for file in files:
        if file.problem and file.problem != KEPT_ASIDE:
            told.append(f"{file.path}: {file.problem}")
        if (written := DATE.search(file.base)) and not _agree(written, file.date):
            date = f"{file.date:{WRITTEN}}" if file.date else "no date"
            told.append(f"{file.path}: its name contains a date, but the archive's date counts: {date}")
    books = [file for file in files if file.unpacked and is_notebook(file.base)]
    belongs = {file.unpacked: _answers(file, ids) for file in books}
    if assignment is None:
        seen = Counter(name for name in belongs.values() if name)
        if not seen:
            there = printable("\n".join(["", *told]))
            raise CourseError(
                f"{archive}: no notebook holds the cells of {', '.join(ids)}; name one: ARGS={min(ids)}{there}"
            )
        assignment = seen.most_common(1)[0][0]
    by_student = defaultdict(list)
    for file in _told_apart(course, _dated(files, dates, trusted, told), assignment, told):
        by_student[file.student].append(file)
    found = Collected(assignment, told=told)
    stated = trusted or dates is not None
    with Gradebook(course.database) as gradebook:
        due = gradebook.find_assignment(assignment).duedate
        for student, theirs in tqdm(sorted(by_student.items()), unit="submission", disable=None):
            theirs = [file for file in theirs if not file.ignored] or [replace(theirs[0], problem=KEPT_ASIDE)]
            chosen, problem = _choose(theirs, belongs, assignment, told)
            try:
                if chosen:
                    _put(course, student, chosen, due, stated, found)
            except OSError as error:
                chosen, problem = [], f"it could not be copied ({error}); collect it by hand"
            if problem and problem not in {file.problem for file in theirs}:
                told.append(f"{student}: {problem}")
            if not chosen and not _note(course, student, assignment, problem):
                continue
            first, _, last = theirs[0].name.rpartition(" ")
            known = {s.id for s in gradebook.students}
            names = {"first_name": first or None, "last_name": last}
            gradebook.update_or_create_student(student, **({} if student in known else names))
    return replace(found, told=[printable(line) for line in told])


def _agree(written: re.Match, date: datetime | None) -> bool:
    try:
        own = datetime(*(int(part) for part in written.groups("0"))).astimezone(UTC)
    except (OverflowError, ValueError):
        return False
    return date is not None and abs(own - date) < timedelta(minutes=1)


def _choose(files: list[File], belongs: dict, assignment: str, told: list[str]) -> tuple[list[File], str]:
    """Returns the notebook to grade, or everything handed in if there is none, so that grading can say so.

    If nothing can be chosen, it also returns the reason.
    """
    others = [file for file in files if belongs.get(file.unpacked) not in (None, assignment)]
    told += [f"{file.path}: left aside, since it holds the cells of {belongs[file.unpacked]}" for file in others]
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
        return [], f"several notebooks hold its cells, and none is newer; collect one by hand: {names}"
    for file in files:
        if file is not newest and file not in others and not file.problem:
            older = "older" if file in pool and file.age < newest.age else "not the notebook that is graded"
            told.append(f"{file.path}: left aside, {older}")
    # Platforms and repeated downloads add to names, so a notebook with the assignment's cells gets its name back.
    known = newest in notebooks and newest.base.endswith(".ipynb")
    return [replace(newest, base=f"{assignment}.ipynb") if known else newest], ""


def _note(course: Course, student: str, assignment: str, problem: str) -> bool:
    """Writes the reason in place of the work, unless work was collected earlier."""
    folder, note = course.path("submitted", student, assignment), course.note(assignment, student)
    if folder.exists() and not note.exists():
        return False
    for place in (folder, note.parent):
        place.mkdir(parents=True, exist_ok=True)
    note.write_text(f"{printable(problem)}\n", encoding="utf-8")
    return True


def _known_date(folder: Path) -> datetime | None:
    with contextlib.suppress(ValueError):
        if known := handed_in_at(folder):
            return known.replace(tzinfo=UTC)
    return None


def _put(course: Course, student: str, files: list[File], due: datetime | None, stated: bool, found: Collected) -> None:
    """Puts a student's work in place, or only its date if the work is there already.

    Args:
        stated: whether the instructor says that these dates count. Otherwise a date that is there stays, since it may
            have been written by hand.
    """
    assignment, told = found.assignment, found.told
    folder = course.path("submitted", student, assignment)
    newest = max(files, key=lambda file: file.age)
    date = newest.date
    if newest.late and due and not (date and date > due.replace(tzinfo=UTC)):
        date = due.replace(tzinfo=UTC) + timedelta(seconds=1)
        told.append(f"{student}: marked LATE without a date; counted as one second late")
    if folder.exists():
        there = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
        before = _known_date(folder)
        # Files put there by hand make it no other work, nor does a file of the learner's with the name of our date.
        if {file.base: file.content for file in files if file.base != TIMESTAMP}.items() <= there.items():
            if date and not before:
                found.dated.append(student)
            elif date and stated and abs(date - before) >= timedelta(minutes=1):  # a worksheet has no seconds
                told.append(f"{student}: the same work; its date was {before:{WRITTEN}} and is now {date:{WRITTEN}}")
            else:
                return
            (folder / TIMESTAMP).write_text(f"{date.isoformat()}\n")
            return
        if before and date and date < before:
            told.append(f"{student}: the work collected earlier is newer and stays; {newest.path} is left aside")
            return
        number = len(list(course.path("replaced", student).glob(f"{assignment}-*"))) + 1
        aside = course.path("replaced", student, f"{assignment}-{number}")
        aside.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(folder, aside)
        told.append(f"{student}: handed in again; the earlier work is in {shown(aside)}")
    folder.mkdir(parents=True)
    for file in files:
        shutil.copyfile(file.unpacked, folder / file.base)
    (folder / TIMESTAMP).unlink(missing_ok=True)  # a file of the learner's
    course.note(assignment, student).unlink(missing_ok=True)
    if date:
        (folder / TIMESTAMP).write_text(f"{date.isoformat()}\n")
    found.students.append(student)
