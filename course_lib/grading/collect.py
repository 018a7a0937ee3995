"""Takes submissions out of the archive that a learning platform hands out, and puts them where nbgrader looks for them.

nbgrader's own zip_collect reads names by one regular expression, gives up where two files of a student have no date,
and skips with a line in its log what it cannot read. Here every file of an archive is either collected or told of.
"""

import io
import re
import shutil
import unicodedata
import zipfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path, PurePosixPath

import nbformat
from tqdm import tqdm

from course_lib.grading.course import Course, CourseError, shown
from course_lib.grading.grade import TIMESTAMP
from course_lib.grading.submission import LARGEST, grade_id

# Moodle: "Ada Lovelace_1234_assignsubmission_file_/x.ipynb", or flat "Ada Lovelace_1234_assignsubmission_file_x.ipynb".
MOODLE = re.compile(r"(?P<name>[^/]+?)_(?P<number>\d+)_assignsubmission_(?:file|onlinetext)_?/?(?P<file>.+)")
# Canvas: "lovelaceada_LATE_1234_5678_x.ipynb": the student's number, then that of the upload, which grows.
CANVAS = re.compile(r"(?P<name>[^/_]+)_(?P<late>LATE_)?(?P<number>\d+)_(?P<upload>\d+)_(?P<file>.+)")
DATE = re.compile(r"(20\d\d)-(\d\d)-(\d\d)[-_ T](\d\d)[-:.](\d\d)(?:[-:.](\d\d))?")
NOT_A_DATE = datetime(1980, 1, 1)  # what a ZIP holds where there is none
IGNORED = ("__MACOSX", ".ipynb_checkpoints", ".DS_Store")


@dataclass(frozen=True)
class File:
    """One file of an archive, and what its name says."""

    path: str
    content: bytes
    date: datetime | None  # in UTC
    student: str
    name: str
    number: str
    base: str
    late: bool
    upload: int

    @property
    def age(self) -> tuple:
        return (self.upload, self.date or datetime.min.replace(tzinfo=UTC))


@dataclass
class Collected:
    """What became of an archive: students whose work was put in place, and what is to be told, line by line."""

    assignment: str
    students: list[str] = field(default_factory=list)
    told: list[str] = field(default_factory=list)


def slug(name: str) -> str:
    """A name as a folder can have it everywhere: "José Núñez" is jose_nunez."""
    plain = "".join(c for c in unicodedata.normalize("NFKD", name) if not unicodedata.combining(c))
    return re.sub(r"[^\w.-]+", "_", plain.lower()).strip("_.-")


def _entries(archive: zipfile.ZipFile, told: list[str], within: str = "", depth: int = 0) -> Iterator[tuple]:
    """Path, content and date of each file, also of archives within the archive."""
    for info in archive.infolist():
        name = info.filename
        if not info.flag_bits & 0x800:  # the archive does not say that it is UTF-8, though it mostly is
            try:
                name = name.encode("cp437").decode("utf-8")
            except UnicodeError:
                pass
        path = within + name.replace("\\", "/")
        parts = PurePosixPath(path).parts
        if info.is_dir() or any(part in IGNORED for part in parts):
            continue
        if ".." in parts or path.startswith("/") or ":" in parts[0]:
            told.append(f"{path}: refused, since its name leads out of the archive")
        elif info.file_size > LARGEST:
            told.append(f"{path}: refused, since it is larger than {LARGEST // 10**6} MB")
        elif path.lower().endswith(".zip") and depth == 0:
            try:
                with zipfile.ZipFile(io.BytesIO(archive.read(info))) as inner:
                    yield from _entries(inner, told, f"{path[:-4]}/", depth + 1)
            except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
                told.append(f"{path}: cannot be opened ({error}); unpack it by hand")
        else:
            try:
                yield path, archive.read(info), datetime(*info.date_time)
            except (zipfile.BadZipFile, NotImplementedError, RuntimeError, ValueError) as error:
                told.append(f"{path}: cannot be read ({error}); unpack it by hand")


def _read(path: str, content: bytes, date: datetime) -> File | None:
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
    if written := DATE.search(path):
        date = datetime(*(int(part) for part in written.groups("0")))
    elif canvas or date == NOT_A_DATE:
        date = None  # Canvas packs a file with the time of the download
    return File(
        path=path,
        content=content,
        date=date and date.astimezone(UTC),  # a ZIP and a name hold local time
        # A Canvas number is a person's. A Moodle number is new in each assignment, so there the name must do.
        student=slug(f"{about['name']}_{about['number']}" if canvas else about["name"]),
        name=about["name"],
        number=about["number"],
        base=PurePosixPath(about["file"]).name,
        late=bool(about.get("late")),
        upload=int(about.get("upload", 0)),
    )


def _answers(content: bytes, ids: dict[str, set[str]]) -> str | None:
    """The assignment whose cells a notebook holds."""
    try:
        notebook = nbformat.reads(content.decode("utf-8-sig"), as_version=4)
        held = {grade_id(cell) for cell in notebook.cells}
    except Exception:  # whatever a broken file makes nbformat do
        return None
    best = max(ids, key=lambda assignment: len(ids[assignment] & held))
    return best if ids[best] & held else None


def collect(course: Course, archive: Path, assignment: str | None = None) -> Collected:
    """Puts the newest work of each student under `submitted`; what was there before is moved to `replaced`.

    Args:
        assignment: that of the archive; if None, the one whose cells most of its notebooks hold.
    Raises:
        CourseError: there is no such archive, it is none, or no notebook in it belongs to an assignment.
    """
    from nbgrader.api import Gradebook

    ids = {}
    for name in course.find():
        source = nbformat.read(course.source(name), as_version=4)
        ids[name] = {grade_id(cell) for cell in source.cells} - {None}
    told: list[str] = []
    files = []
    try:
        with zipfile.ZipFile(archive) as opened:
            for path, content, date in _entries(opened, told):
                if file := _read(path, content, date):
                    files.append(file)
                else:
                    told.append(
                        f"{path}: its name says no student; put it by hand into "
                        f"{shown(course.path('submitted', 'STUDENT', assignment or 'ASSIGNMENT'))}"
                    )
    except FileNotFoundError:
        raise CourseError(f"There is no file {archive}.") from None
    except zipfile.BadZipFile:
        raise CourseError(f"{archive} is no ZIP archive.") from None
    belongs = {file.path: _answers(file.content, ids) for file in files if file.base.endswith(".ipynb")}
    if assignment is None:
        seen = Counter(name for name in belongs.values() if name)
        if not seen:
            there = "\n".join(["", *told])
            raise CourseError(f"{archive}: no notebook holds the cells of {', '.join(ids)}; name it: ARGS=03{there}")
        assignment = seen.most_common(1)[0][0]
    result = Collected(assignment, told=told)
    by_student = defaultdict(list)
    for file in files:
        by_student[file.student].append(file)
    with Gradebook(course.database) as gradebook:
        due = gradebook.find_assignment(assignment).duedate
        for student, theirs in tqdm(sorted(by_student.items()), unit="submission", disable=None):
            if len({file.number for file in theirs}) > 1:
                numbers = ", ".join(sorted({file.number for file in theirs}))
                told.append(f"{student}: several people have this name (numbers {numbers}); collect them by hand")
                continue
            chosen = _choose(student, theirs, belongs, assignment, told)
            if chosen and _put(course, student, assignment, chosen, due, told):
                result.students.append(student)
                first, _, last = theirs[0].name.rpartition(" ")
                known = {s.id for s in gradebook.students}
                names = {"first_name": first or None, "last_name": last}
                gradebook.update_or_create_student(student, **({} if student in known else names))
    return result


def _choose(student: str, files: list[File], belongs: dict, assignment: str, told: list[str]) -> list[File]:
    """The notebook to grade; or, where there is none, all that was handed in, so that grading can say so."""
    others = [file for file in files if belongs.get(file.path) not in (None, assignment)]
    told += [f"{file.path}: left aside, it holds the cells of {belongs[file.path]}" for file in others]
    notebooks = [file for file in files if belongs.get(file.path) == assignment]
    broken = [file for file in files if file.path in belongs and belongs[file.path] is None]
    pool = notebooks or broken
    if not pool:
        return [file for file in files if file not in others]
    newest = max(pool, key=lambda file: (*file.age, file.base == f"{assignment}.ipynb"))
    rivals = [file for file in pool if file.age == newest.age and file.content != newest.content]
    if rivals and newest.base != f"{assignment}.ipynb":
        names = ", ".join(file.path for file in (newest, *rivals))
        told.append(f"{student}: several notebooks could be meant, and none is newer; collect one by hand: {names}")
        return []
    for file in files:
        if file is not newest and file not in others:
            older = "older" if file in pool and file.age < newest.age else "not the notebook that is graded"
            told.append(f"{file.path}: left aside, {older}")
    # A platform, or a second download, adds to names: what holds the assignment's cells has its name.
    return [replace(newest, base=f"{assignment}.ipynb") if newest in notebooks else newest]


def _put(course: Course, student: str, assignment: str, files: list[File], due: datetime | None, told: list) -> bool:
    from nbgrader.utils import parse_utc

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
        stamp = folder / TIMESTAMP
        before = parse_utc(stamp.read_text().strip()).replace(tzinfo=UTC) if stamp.exists() else None
        if before and date and date < before:
            told.append(f"{student}: what was collected earlier is newer, and stays ({newest.path} is left aside)")
            return False
        number = len(list(course.path("replaced", student).glob(f"{assignment}-*"))) + 1
        aside = course.path("replaced", student, f"{assignment}-{number}")
        aside.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(folder, aside)
        told.append(f"{student}: handed in anew; the earlier work is in {shown(aside)}")
    folder.mkdir(parents=True)
    for file in files:
        (folder / file.base).write_bytes(file.content)
    if date:
        (folder / TIMESTAMP).write_text(f"{date.isoformat()}\n")
    return True
