"""Accidents of honest learners: they keep what was earned, and the reason says what was seen."""

import json

import made_up_class as made
import nbformat

from course_lib.grading.submission import grade_id

STOPS = "from ipykernel.kernelapp import IPKernelApp\nIPKernelApp.instance().io_loop.stop()"
DEADLY = "import os\nos._exit(0)"


def place(notebook, name):
    return next(index for index, cell in enumerate(notebook.cells) if grade_id(cell) == name)


def leaves_cells(course):
    """Cells that end the kernel, or never end, are forgotten in a notebook."""
    notebook = made.answered(course)
    for name, source in (("softmax", "exit()"), ("sat", "quit"), ("double", "while True:\n    pass"), ("count", STOPS)):
        notebook.cells.insert(place(notebook, name), made.new_code_cell(source))
    return notebook


def ends_at_once_and_later(course):
    notebook = made.answered(course, sat="cat_score = 1.05\nexit()")
    notebook.cells.insert(place(notebook, "softmax"), made.new_code_cell(STOPS))
    notebook.cells.insert(place(notebook, "double"), made.new_code_cell(DEADLY))
    return notebook


def prints(course):
    return made.answered(course, double="def double(x):\n    print('x' * 20_000_000)\n    return x + x")


def imports_in_the_set_up(course):
    notebook = made.answered(course, count="def count(words):\n    return len(re.split(' +', words)) + 0 * floor(pi)")
    notebook.cells[place(notebook, "setup")].source += "\nimport re\nfrom math import (\n    floor,\n    pi,\n)\nx = 1"
    return notebook


def retypes_at_the_end(course):
    notebook = made.answered(course, sat=None, double=None)
    cells = [made.new_code_cell(source) for source in (made.RIGHT["sat"], made.DOUBLE)]
    notebook.cells = [*notebook.cells, *cells]
    return notebook


def _adds(course, *sources, **answers):
    """A submission with cells at the end."""
    notebook = made.answered(course, **answers)
    notebook.cells += [made.new_code_cell(source) for source in sources]
    return notebook


def binds_in_many_ways(course):
    """Answers typed at the end, none of them in the plain form `name = ...`."""
    return _adds(
        course,
        "cat_score: float = 1.05",
        "if True:\n    double = twice = lambda x: x + x",
        "import re; count, _ = (lambda words: len(words.split())), re",
        sat=None,
        double=None,
        count=None,
    )


def guesses_twice(course):
    """The first answer counts: a second one after the check is no better guess."""
    return _adds(
        course, "cat_score = 1.05", made.DOUBLE, sat="cat_score = 0.6", double="def double(x):\n    return x * x"
    )


def names_a_variable_exec(course):
    return made.answered(course, sat="cat_score = 1.05\nexec = globals = json = print = None")


def fills_the_memory(course):
    """What took the memory would keep it, and no later check could be asked."""
    notebook = made.answered(course)
    full = made.new_code_cell("held = []\nwhile True:\n    held.append(bytearray(2**26))")
    notebook.cells.insert(place(notebook, "sat"), full)
    return notebook


ELSEWHERE = "words: its cell is empty; a person must read the other cells"


def writes_below(course):
    notebook = made.answered(course, words=None)
    notebook.cells.append(made.new_markdown_cell("It sums to one."))
    return notebook


def retypes_the_written_answer(course):
    """The cell is gone, and with it its mark; the text stands in a new one."""
    notebook = made.answered(course, words=None)
    notebook.cells[place(notebook, "words")] = made.new_markdown_cell("It sums to one.")
    return notebook


def splits_the_written_answer(course):
    """JupyterLab copies the mark of a cell that is split: the last part is the empty one."""
    notebook = made.answered(course, words=None)
    whole = notebook.cells[place(notebook, "words")]
    first = made.new_markdown_cell("It sums to one.", metadata=whole.metadata)
    notebook.cells.insert(place(notebook, "words"), first)
    return notebook


def loses_the_mark(course):
    notebook = made.answered(course)
    notebook.cells[place(notebook, "words")].metadata = {}
    return notebook


def moves_cells(course):
    notebook = made.answered(course)
    notebook.cells.append(notebook.cells.pop(place(notebook, "softmax")))
    return notebook


def odd_file(course):
    """Valid JSON, which no program writes so."""
    notebook = json.loads(nbformat.writes(made.answered(course)))
    for number, cell in enumerate(notebook["cells"]):
        cell["id"] = "same"
        if cell["cell_type"] == "code":
            cell |= {"execution_count": "three", "outputs": [{"output_type": 2**64}]}
        if cell["metadata"].get("nbgrader", {}).get("grade_id") is None:
            cell["metadata"] = {"nbgrader": {"grade_id": ["softmax"], "points": 2**70}, "tags": 2**64}
        cell["metadata"]["jupyter"] = {"\ud800": [number, 10**400]}
    return notebook | {"metadata": {"kernelspec": {"name": 2**64, "display_name": "\ud800"}, "language_info": []}}


ACCIDENTS = {
    leaves_cells: ([3, 1, 2, 2], f"cell 9 ran longer than {made.SECONDS} s; cell 12 ended its kernel"),
    ends_at_once_and_later: ([3, 1, 2, 2], "cell 3 ended its kernel; cell 8 ended its kernel"),
    prints: ([3, 1, 2, 2], ""),
    imports_in_the_set_up: ([3, 1, 2, 2], "setup was edited and has been restored; the imports added to it are kept"),
    retypes_at_the_end: (
        [3, 1, 2, 2],
        "cell 12, further down, has cat_score; cell 13, further down, has double",
    ),
    binds_in_many_ways: (
        [3, 1, 2, 2],
        "cell 12, further down, has cat_score; cell 13, further down, has double; cell 14, further down, has count",
    ),
    guesses_twice: ([3, 0, 0, 2], "cat_score: 0.6 is not right; double: that is the square"),
    names_a_variable_exec: ([3, 1, 2, 2], ""),
    fills_the_memory: ([3, 1, 2, 2], "cell 5 raised MemoryError"),
    writes_below: ([3, 1, 2, 2], ELSEWHERE),
    retypes_the_written_answer: ([3, 1, 2, 2], f"words was deleted and has been restored; {ELSEWHERE}"),
    splits_the_written_answer: ([3, 1, 2, 2], ELSEWHERE),
    loses_the_mark: ([3, 1, 2, 2], f"words was deleted and has been restored; {ELSEWHERE}"),
    moves_cells: (
        [3, 1, 2, 2],
        "cell 11, further down, has masked_softmax",
    ),
    odd_file: ([3, 1, 2, 2], ""),
}
