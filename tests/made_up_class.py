"""A small exercise notebook and submissions to it, for the tests of grading."""

import shutil
import tempfile
from functools import cache
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from course_lib.grading.course import Course, release

NAME = "03_small"
KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}

# An exercise of the instructor's own, which no learner's kernel knows.
GRADED = """
import torch
from course_lib.checks.engine import Case, Exercise, Question


def cases(generator):
    return [Case(f"input {n}", {"x": torch.randn(n, 3, generator=generator)}) for n in (1, 2, 4)]


def drive(answer, x):
    import torch

    return answer(x) + torch.zeros_like(x)


DOUBLE = Exercise(
    "double",
    "scaled_dot_product",
    cases,
    lambda x: 2 * x,
    "lesson 3",
    drive=drive,
)
DOUBLE.slip("that is the square", "Twice, not to the power of two.")(lambda x: x * x)
ASKED = [DOUBLE]
"""

SOFTMAX = """
def masked_softmax(scores, mask):
    closed = scores.masked_fill(~mask, -torch.inf)
    return torch.softmax(closed, -1).nan_to_num(0.0)
""".strip()
DOUBLE = "def double(x):\n    return x + x"
COUNT = "def count(words):\n    return len(words.split())"
MASK_AFTER = "def masked_softmax(scores, mask):\n    return torch.softmax(scores, -1) * mask"

RIGHT = {"softmax": SOFTMAX, "sat": "cat_score = 1.05", "double": DOUBLE, "count": COUNT, "words": "It sums to one."}


def marks(kind, name, points=None):
    about = {"schema_version": 3, "grade_id": name, "solution": kind != "test", "grade": kind != "answer",
             "locked": kind == "test", "task": False}  # fmt: skip
    return {"nbgrader": about | ({} if points is None else {"points": points})}


def blank(source):
    return f"### BEGIN SOLUTION\n{source}\n### END SOLUTION"


def solution(source):
    head, _, body = source.partition("\n")
    return f"{head}\n    ### BEGIN SOLUTION\n{body}\n    ### END SOLUTION"


def source():
    """The instructor's notebook: four exercises of 3, 1, 2 and 2 points, and a sentence to be read for 1."""
    hidden = 'assert count("a b c d") == 4, "the hidden sentence"'
    cells = [
        new_markdown_cell("# A small exercise"),
        new_code_cell("import torch\nfrom course_lib import checks", metadata=marks("test", "setup") | {}),
        new_code_cell(solution(SOFTMAX), metadata=marks("answer", "softmax")),
        new_code_cell(
            'checks.check("masked_softmax", masked_softmax)\n### BEGIN HIDDEN TESTS\n'
            'checks.check("masked_softmax", masked_softmax, seed=17)\n### END HIDDEN TESTS',
            metadata=marks("test", "check_softmax", 3),
        ),
        new_code_cell(blank("cat_score = 1.05"), metadata=marks("answer", "sat")),
        new_code_cell('checks.check("cat_score", cat_score)', metadata=marks("test", "check_sat", 1)),
        new_code_cell(solution(DOUBLE), metadata=marks("answer", "double")),
        new_code_cell(
            '### BEGIN HIDDEN TESTS\nchecks.check("double", double)\n### END HIDDEN TESTS',
            metadata=marks("test", "check_double", 2),
        ),
        new_code_cell(solution(COUNT), metadata=marks("answer", "count")),
        new_code_cell(
            f'assert count("a b") == 2\n### BEGIN HIDDEN TESTS\n{hidden}\n### END HIDDEN TESTS',
            metadata=marks("test", "check_count", 2),
        ),
        new_markdown_cell("Sums to one.", metadata=marks("written", "words", 1)),
    ]
    cells[1].metadata["nbgrader"].update(grade=False)
    return new_notebook(cells=cells, metadata={"kernelspec": KERNEL})


def write_sources(folder: Path) -> Path:
    """A private folder, as COURSE_SOURCE names one."""
    sources = folder / "private"
    sources.mkdir()
    nbformat.write(source(), sources / f"{NAME}.ipynb")
    (sources / "graded.py").write_text(GRADED)
    return sources


def _course(folder: Path) -> Course:
    return Course(folder / "course", f"sqlite:///{folder / 'course' / 'gradebook.db'}?timeout=60", cell_seconds=3)


@cache
def _template() -> tempfile.TemporaryDirectory:
    made = tempfile.TemporaryDirectory(prefix="course-made-up-")
    list(release(_course(Path(made.name)), write_sources(Path(made.name))))
    return made


def make_course(folder: Path) -> Course:
    """A course with the small exercise handed out; it is made once, then copied."""
    shutil.copytree(_template().name, folder, dirs_exist_ok=True)
    return _course(folder)


def answered(course: Course, **answers):
    """The student version with answers in the solution cells; right ones where none is given, blank where None."""
    notebook = nbformat.read(course.path("release", NAME, f"{NAME}.ipynb"), as_version=4)
    for cell in notebook.cells:
        name = cell.metadata.get("nbgrader", {}).get("grade_id")
        answer = {**RIGHT, **answers}.get(name)
        if answer is not None:
            cell.source = answer
    return notebook


def hand_in(course: Course, student: str, notebook=None, name=f"{NAME}.ipynb", text=None) -> Path:
    folder = course.path("submitted", student, NAME)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(nbformat.writes(notebook) if text is None else text, encoding="utf-8")
    return folder
