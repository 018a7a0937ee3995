"""A reader presses Shift+Enter twice: every cell of a lesson can be run again at once, and what follows still holds."""

import copy
import os

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from sweeps import sweep

from course_lib.tools import lessons

pytestmark = pytest.mark.notebook


def each_twice(notebook):
    """The code cells alone, each followed by itself."""
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    again = copy.deepcopy(cells)
    for cell in again:
        cell.id += "-again"
    return new_notebook(cells=[run for pair in zip(cells, again, strict=True) for run in pair])


@pytest.mark.parametrize("path", sweep(lessons.find(), "05_transformer_built", named=lambda path: path.stem))
def test_every_cell_of_a_lesson_can_be_run_twice_in_a_row(path, verdicts):
    """The second time, trainings come from the cache."""
    saved = nbformat.read(path, as_version=4)
    done = lessons.execute(path, dict(os.environ), each_twice(saved))
    assert verdicts(done) == [verdict for verdict in verdicts(saved) for _ in range(2)]


def test_a_cell_that_goes_on_where_it_stopped_is_found(tmp_path):
    sources = "losses = []", "for _ in range(3):\n    losses.append(1)", "assert len(losses) == 3"
    notebook = new_notebook(cells=[new_code_cell(source) for source in sources])
    path = tmp_path / "00_trial.ipynb"
    lessons.execute(path, dict(os.environ), copy.deepcopy(notebook))
    with pytest.raises(lessons.LessonError, match="assert len"):
        lessons.execute(path, dict(os.environ), each_twice(notebook))
