"""A small exercise notebook and submissions to it, for the tests of grading."""

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from functools import cache
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from course_lib.files import ROOT
from course_lib.grading import sandbox
from course_lib.grading.course import Course, release

NAME = "03_small"
TOKEN = "sesame"
SECONDS = 10  # for a cell
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
DOUBLE.misconception("that is the square", "Twice, not to the power of two.")(lambda x: x * x)
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
    database = f"sqlite:///{folder / 'course' / 'gradebook.db'}?timeout=60"
    # Where there is no sandbox, all else of the grader is tested without one.
    return Course(folder / "course", database, cell_seconds=SECONDS, sandboxed=not sandbox.missing())


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


RUN = """
import dataclasses, sys
from pathlib import Path
import made_up_class as made
from course_lib.grading import grade as grading
if __name__ == "__main__":
    course = dataclasses.replace(made._course(Path(sys.argv[1])), cell_seconds=int(sys.argv[2]))
    print(len(grading.grade(course, [made.NAME])))
"""


def start(folder: Path, seconds: int = SECONDS, **options) -> subprocess.Popen:
    """Grades the course in a process of its own, whose temporary files lie in the folder; prints how many."""
    (folder / "run.py").write_text(RUN)
    paths = os.pathsep.join([os.path.dirname(__file__), *sys.path])
    environment = os.environ | {"PYTHONPATH": paths, "TMPDIR": str(folder)}
    return subprocess.Popen([sys.executable, folder / "run.py", folder, str(seconds)], env=environment, **options)


@contextlib.contextmanager
def formgrader(course: Course, folder: Path):
    """Runs `make formgrader` until the end of the block; gives its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = os.environ | {"COURSE_DIRECTORY": str(course.folder), "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-m", "course_lib", "formgrader", "--no-browser", f"--port={port}"]
    address = f"http://127.0.0.1:{port}/formgrader"
    with (folder / "log.txt").open("w") as log:
        options = {"cwd": ROOT, "env": environment | {"JUPYTER_TOKEN": TOKEN}, "stdout": log, "stderr": log}
        server = subprocess.Popen(command, **options)
        try:
            for _ in range(240):
                with contextlib.suppress(OSError):
                    urllib.request.urlopen(f"{address}/api/assignments?token={TOKEN}", timeout=20).close()
                    break
                assert server.poll() is None, (folder / "log.txt").read_text()
                time.sleep(0.5)
            else:
                raise AssertionError((folder / "log.txt").read_text())
            yield address
        finally:
            server.terminate()
            server.wait(30)
