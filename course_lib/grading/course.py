"""Holds the instructor's settings and folders, reads which check belongs to which cell, and releases exercises."""

import ast
import contextlib
import difflib
import hashlib
import inspect
import os
import re
import shutil
import sysconfig
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import nbformat
from nbformat import NotebookNode
from traitlets.config import Config, PyFileConfigLoader

from course_lib.files import COURSE, IN_CLONE, ROOT

PRIVATE, CONFIG = "graded.py", "nbgrader_config.py"
BEGIN, END = "BEGIN HIDDEN TESTS", "END HIDDEN TESTS"
RECORD = "course"  # key in a graded notebook's metadata that holds how it was graded
DATE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}\b")


class CourseError(SystemExit):
    """Ends a verb with its message and no traceback."""


@dataclass(frozen=True)
class Course:
    """Describes one course in plain data, which can be sent to another process or machine.

    Args:
        folder: holds nbgrader's folders, the reports, and the gradebook.
        database: URL of the gradebook.
        cell_seconds: how long a cell, or the answers to a check, may take.
        submission_seconds: how long a whole submission may take.
        memory: bytes that a learner's kernel may have.
        sandboxed: whether learners' kernels run in a sandbox. If so and there is none, nothing is graded.
    """

    folder: Path
    database: str
    cell_seconds: int = 30
    submission_seconds: int = 900
    memory: int = 4 * 2**30
    sandboxed: bool = True

    @classmethod
    def here(cls) -> "Course":
        """Returns the course that COURSE_DIRECTORY and COURSE_DATABASE name, or the one in course/.

        That folder is in the clone, or without a clone in the current folder.

        Raises:
            CourseError: COURSE_CELL_SECONDS is not a number.
        """
        folder = Path(os.environ.get("COURSE_DIRECTORY", (ROOT if IN_CLONE else Path.cwd()) / "course")).resolve()
        # SQLite lets one process write at a time; the others wait up to a minute.
        database = os.environ.get("COURSE_DATABASE", f"sqlite:///{folder / 'gradebook.db'}?timeout=60")
        seconds = os.environ.get("COURSE_CELL_SECONDS", f"{cls.cell_seconds}")
        if not seconds.isdecimal():
            raise CourseError(f"COURSE_CELL_SECONDS is {seconds!r}, but must be a whole number, such as 60.")
        return cls(folder, database, int(seconds))

    def path(self, step: str, *names: str) -> Path:
        return self.folder.joinpath(step, *names)

    def source(self, assignment: str) -> Path:
        return self.path("source", assignment, f"{assignment}.ipynb")

    def note(self, assignment: str, student: str) -> Path:
        """Returns the file that says why nothing of a student was collected. Learners can't write it."""
        return self.path("not_collected", assignment, f"{student}.txt")

    def config(self) -> Config:
        """Returns nbgrader's settings; `nbgrader_config.py` gives the same ones to nbgrader's commands and formgrader.

        An instructor's own settings, in `nbgrader_config.py` in the course's folder, come first. Those below win.
        """
        c, here = Config(), "course_lib.grading"
        if (self.folder / CONFIG).exists():
            c.merge(PyFileConfigLoader(CONFIG, str(self.folder)).load_config())
        c.CourseDirectory.root = str(self.folder)
        c.CourseDirectory.db_url = self.database
        c.ClearSolutions.code_stub = {"python": "# YOUR CODE HERE\nraise NotImplementedError()"}
        c.OverwriteCells.add_missing_cells = True
        c.Execute.timeout = c.Execute.iopub_timeout = self.cell_seconds  # the latter waits for a cell's output
        c.Execute.shutdown_kernel = "immediate"
        c.Marking.submission_seconds = self.submission_seconds
        c.Marking.memory = self.memory
        c.Marking.sandboxed = self.sandboxed
        c.LimitOutput.max_lines = 200
        c.LimitOutput.max_traceback = 40
        nbgrader = "nbgrader.preprocessors"
        c.GenerateAssignment.preprocessors = [
            f"{nbgrader}.IncludeHeaderFooter",
            f"{nbgrader}.InstantiateTests",
            f"{nbgrader}.LockCells",
            f"{here}.hiding.Blank",
            f"{nbgrader}.ClearOutput",
            f"{nbgrader}.CheckCellMetadata",
            f"{nbgrader}.ComputeChecksums",
            f"{nbgrader}.SaveCells",  # with hidden tests, which the next step removes
            f"{here}.hiding.Visible",
            f"{nbgrader}.ClearMarkScheme",
            f"{nbgrader}.ComputeChecksums",
            f"{nbgrader}.CheckCellMetadata",
        ]
        c.Autograde.autograde_preprocessors = [
            f"{here}.marking.Marking",
            f"{nbgrader}.LimitOutput",
            f"{here}.gradebook.SaveMarks",
            f"{nbgrader}.AssignLatePenalties",
            f"{nbgrader}.CheckCellMetadata",
        ]
        c.GenerateFeedback.preprocessors = [
            f"{here}.gradebook.ReadMarks",
            f"{here}.hiding.HideTests",
            "nbconvert.preprocessors.CSSHTMLHeaderPreprocessor",
        ]
        c.HTMLExporter.preprocessors = [f"{here}.cleaning.Harmless"]
        c.HTMLExporter.filters = {
            "markdown2html": f"{here}.cleaning.markdown2html",
            "clean_html": f"{here}.cleaning.clean",
            "highlight_code": "nbconvert.filters.Highlight2HTML",  # whatever language a notebook claims
        }
        return c

    def assignments(self) -> list[str]:
        """Returns the assignments that were handed out, in order."""
        return sorted(path.parent.name for path in self.path("source").glob("*/*.ipynb"))

    def find(self, names: Sequence[str] = ()) -> list[str]:
        """Returns the assignments that `names` stand for, as in `named`."""
        there = self.assignments()
        if not there:
            raise CourseError("Nothing has been handed out yet. Begin with: make release")
        return named(names, there, shown(self.path("source")))

    def find_one(self, names: Sequence[str], holder: str) -> str:
        """Returns the only assignment that `names` stand for. Raises CourseError if there are several.

        Args:
            holder: what can hold only one, for the message.
        """
        found = self.find(names)
        if len(found) > 1:
            raise CourseError(f"{holder} holds one assignment. Name one of these: {', '.join(found)}.")
        return found[0]


def named(names: Sequence[str], there: Sequence[str], where: str) -> list[str]:
    """Returns the assignments that are named in full, or by a beginning that only one has; or all if `names` is empty.

    Args:
        there: all assignments.
        where: their folder, for the message.
    Raises:
        CourseError: no assignment begins with a name, or several do.
    """
    found = set()
    for name in names:
        those = [name] if name in there else [one for one in there if one.startswith(name)]
        if not those:
            raise CourseError(f"In {where}, no assignment begins with {name!r}. There are: {', '.join(there)}.")
        if len(those) > 1:
            raise CourseError(f"{name!r} stands for {len(those)} assignments. Write one of these names in full: "
                              f"{', '.join(those)}.")  # fmt: skip
        found |= {*those}
    return [one for one in there if one in found or not names]


def sources() -> Path:
    """Returns the folder of the instructor's notebooks: COURSE_SOURCE, or the practice exercises."""
    return Path(os.environ.get("COURSE_SOURCE", COURSE / "notebooks" / "exercises")).resolve()


def shown(path: Path) -> str:
    """Returns a path as one would type it in the current folder."""
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)


def counted(number: float, what: str) -> str:
    """Returns a number with its noun: 1 point, 0.5 points."""
    return f"{number:g} {what}{'s' * (number != 1)}"


# ---- which check belongs to which cell ----


@dataclass(frozen=True)
class Ask:
    """Describes one call of `checks.check` in a grade cell."""

    name: str
    expression: str  # finds the learner's object in the notebook
    hidden: bool


@dataclass(frozen=True)
class GradeCell:
    """Describes the checks in an instructor's grade cell, and the instructor's own tests next to them."""

    points: float
    asks: tuple[Ask, ...]
    own: str


def hidden_lines(source: str) -> set[int]:
    """Returns the numbers, from 1, of the lines between BEGIN and END marks of hidden tests, marks included."""
    hidden, inside = set(), False
    for number, line in enumerate(source.splitlines(), start=1):
        inside = inside or BEGIN in line
        if inside:
            hidden.add(number)
        inside = inside and END not in line
    return hidden


def _is_check(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    called = node.func
    return ast.unparse(called) == "checks.check" or (isinstance(called, ast.Name) and called.id == "check")


def read_grade_cell(cell: NotebookNode) -> GradeCell:
    """Reads a grade cell. Raises ValueError if the grader can't read how a check is asked."""
    points = float(cell.metadata.nbgrader["points"])
    if "check(" not in cell.source:
        return GradeCell(points, (), cell.source)
    tree, hidden, asks, dropped = ast.parse(cell.source), hidden_lines(cell.source), {}, set()
    plain = [statement for statement in tree.body if isinstance(statement, ast.Expr) and _is_check(statement.value)]
    for statement in plain:
        call = statement.value
        given = [*call.args, *(word.value for word in call.keywords if word.arg in ("name", "answer"))]
        if len(given) != 2 or not isinstance(given[0], ast.Constant):
            raise ValueError(f'{ast.unparse(call)} cannot be read; write it as checks.check("name", answer)')
        asked = (given[0].value, ast.unparse(given[1]))
        # A check can appear twice, visible and hidden with another seed. The grader draws its own seed.
        asks[asked] = asks.get(asked, True) and statement.lineno in hidden
        dropped |= set(range(statement.lineno, statement.end_lineno + 1))
    if any(_is_check(n) for s in tree.body if s not in plain for n in ast.walk(s)):
        raise ValueError("a checks.check is inside another statement; put it on a line of its own")
    rest = [s for s in tree.body if s not in plain]
    lines = enumerate(cell.source.splitlines(), start=1)
    own = "\n".join(line for number, line in lines if number not in dropped and BEGIN not in line and END not in line)
    only_imports = all(isinstance(s, ast.ImportFrom) and s.module == "course_lib" for s in rest)
    found = tuple(Ask(name, expression, secret) for (name, expression), secret in asks.items())
    return GradeCell(points, found, "" if only_imports and found else own)


def grade_cells(notebook: NotebookNode) -> dict[str, GradeCell]:
    """Returns the cells of an instructor's notebook that are graded by running them, by grade_id."""
    found = {}
    for cell in notebook.cells:
        about = cell.metadata.get("nbgrader", {})
        if about.get("grade") and not about.get("solution") and cell.cell_type == "code":
            try:
                found[about["grade_id"]] = read_grade_cell(cell)
            except (SyntaxError, ValueError) as error:
                raise CourseError(f"cell {about['grade_id']}: {error}") from None
    return found


def exercises(folder: Path) -> dict:
    """Returns all exercises and questions by name: the course's, and those of graded.py in the folder.

    Only the grader's process loads graded.py, so no learner's kernel can get correct answers from it.
    """
    from course_lib import checks

    private = folder / PRIVATE
    if not private.exists():
        return checks.exercises()
    module = ModuleType("graded")
    module.__file__ = str(private)
    exec(compile(private.read_bytes(), private, "exec"), vars(module))  # an import would leave a __pycache__ there
    own = {asked.name: asked for asked in module.ASKED}
    if both := own.keys() & checks.exercises().keys():
        raise CourseError(
            f"{private}: {', '.join(sorted(both))} is already the name of a check of the course; choose another"
        )
    return checks.exercises() | own


def digest(files: Sequence[Path], root: Path) -> str:
    """Returns a hash of files and their names."""
    total = hashlib.sha256()
    for file in sorted(files):
        total.update(os.fsencode(file.relative_to(root)) + b"\0")
        total.update(hashlib.sha256(file.read_bytes()).digest())
    return total.hexdigest()


def checks_digest(course: Course, assignment: str) -> str:
    """Returns a hash of everything that decides the marks of an assignment."""
    from course_lib import checks

    library = Path(inspect.getfile(checks)).parent
    private = [file for name in (PRIVATE, CONFIG) if (file := course.folder / name).exists()]
    ours = digest([*library.rglob("*.py")], library)
    return hashlib.sha256((ours + digest([course.source(assignment), *private], course.folder)).encode()).hexdigest()


# ---- handing out ----


def captured(converter) -> str | None:
    """Runs one of nbgrader's converters; returns the reason if it fails, otherwise None."""
    from nbgrader.utils import capture_log

    result = capture_log(converter)
    if result["success"]:
        return None
    # The log holds the cause as a traceback, indented by four. The last one counts: nbgrader first looks for what it
    # makes later, and that error comes before.
    _, _, last = result.get("log", "").rpartition("During handling of the above exception")
    _, found, cause = last.partition("Traceback (most recent call last)")
    raised = [line[4:] for line in cause.splitlines()[1:] if line.startswith("    ") and line[4:5].strip()]
    return raised[0] if found and raised else result["error"].splitlines()[-1]


@contextlib.contextmanager
def scripts_on_path() -> Iterator[None]:
    """Puts this Python's scripts on the PATH, where nbgrader looks for alembic to make a new gradebook."""
    before = os.environ.get("PATH", os.defpath)
    os.environ["PATH"] = os.pathsep.join([sysconfig.get_path("scripts"), before])
    try:
        yield
    finally:
        os.environ["PATH"] = before


def release(course: Course, sources: Path, names: Sequence[str] = (), due: str | None = None) -> Iterator[str]:
    """Makes the student versions of the instructor's exercises; yields a line for each.

    Args:
        sources: the folder of the instructor's notebooks, with graded.py if it has checks of its own.
        names: of assignments, as in `named`.
        due: the date after which a submission is late, such as "2026-11-01 23:59 Europe/Paris".
    Raises:
        CourseError: a notebook can't be released; the message names the file, the cell and the fault.
    """
    from nbgrader.api import Gradebook
    from nbgrader.converters import GenerateAssignment
    from nbgrader.coursedir import CourseDirectory
    from nbgrader.utils import parse_utc

    there = sorted(path.stem for path in sources.glob("*.ipynb"))
    if not there:
        raise CourseError(f"{sources} holds no notebook. Name the right folder in COURSE_SOURCE.")
    found = [sources / f"{name}.ipynb" for name in named(names, there, f"{shown(sources)} (COURSE_SOURCE)")]
    try:
        deadline = parse_utc(due)
        if due and not DATE.match(due):  # 01.11.2026 can mean 1 November or 11 January
            raise ValueError
    except ValueError:
        raise CourseError(
            f'--due got {due!r}. Write a date, year first, such as "2026-11-01 23:59 Europe/Paris".'
        ) from None
    known = exercises(sources)
    all_points = [_inspect(path, known) for path in found]
    course.folder.mkdir(parents=True, exist_ok=True)
    with scripts_on_path(), Gradebook(course.database):
        pass
    for path, points in zip(found, all_points, strict=True):
        copy = course.source(path.stem)
        with _kept_unless_done(course.folder / PRIVATE, copy.parent, course.path("release", path.stem)):
            if (sources / PRIVATE).exists():
                shutil.copyfile(sources / PRIVATE, course.folder / PRIVATE)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)
            config = course.config()
            config.CourseDirectory.assignment_id = path.stem
            directory = CourseDirectory(config=config)
            # nbgrader would enter it under a nameless course that is in no gradebook, which PostgreSQL refuses.
            with Gradebook(course.database) as gradebook:
                gradebook.update_or_create_assignment(path.stem)
            if failed := captured(GenerateAssignment(coursedir=directory, config=config, force=True)):
                failed = failed.removeprefix("RuntimeError: ").rstrip(".")  # nbgrader's own errors are of this kind
                raise CourseError(f"{path.name}: {failed}. What you handed out before stays as it was.")
        if deadline:
            with Gradebook(course.database) as gradebook:
                gradebook.update_or_create_assignment(path.stem, duedate=deadline)
        late = f", due {deadline:%Y-%m-%d %H:%M} UTC" if deadline else ""
        yield f"{shown(course.path('release', path.stem, path.name))}: {counted(points, 'point')}{late}"


@contextlib.contextmanager
def _kept_unless_done(*places: Path) -> Iterator[None]:
    """Restores files and folders if the block raises."""
    with tempfile.TemporaryDirectory(prefix="course-release-") as folder:
        copies = [(place, Path(folder, str(number))) for number, place in enumerate(places)]
        for place, copy in copies:
            if place.exists():
                (shutil.copytree if place.is_dir() else shutil.copyfile)(place, copy)
        try:
            yield
        except BaseException:
            for place, copy in copies:
                if place.is_dir():
                    shutil.rmtree(place)
                elif place.exists():
                    place.unlink()
                if copy.exists():
                    shutil.move(copy, place)
            raise


def _inspect(path: Path, known: dict) -> float:
    """Finds faults of an instructor's notebook that would otherwise show only in grading; returns its points."""
    from course_lib import checks
    from course_lib.grading.examine import question_for_kernel

    try:
        notebook = nbformat.read(path, as_version=4)
        cells = grade_cells(notebook)
        for name, cell in cells.items():
            for ask in cell.asks:
                if ask.name not in known:
                    near = difflib.get_close_matches(ask.name, known, n=3)
                    meant = f" Did you mean {' or '.join(near)}?" if near else f" There are: {', '.join(known)}."
                    raise CourseError(f"cell {name} asks for {ask.name!r}, but there is no such check.{meant}")
                if not ask.hidden and ask.name not in checks.exercises():
                    raise CourseError(f"cell {name} asks for {ask.name!r}, which learners don't have; put the check "
                                      f"between {BEGIN} and {END}")  # fmt: skip
                question_for_kernel(known[ask.name], ask.expression, seed=0)
    except (CourseError, ValueError) as error:
        raise CourseError(f"{path.name}: {error}") from None
    graded = [c.metadata.nbgrader for c in notebook.cells if c.metadata.get("nbgrader", {}).get("grade")]
    if not graded:
        raise CourseError(f"{path.name}: no cell is graded; give one points in JupyterLab's sidebar Create Assignment")
    return sum(float(about["points"]) for about in graded)
