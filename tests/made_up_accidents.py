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
    imports_in_the_set_up: ([3, 1, 2, 2], "setup was edited, and is restored; imports that were added to it are kept"),
    retypes_at_the_end: (
        [3, 1, 2, 2],
        "cell 12, which comes later, makes cat_score; cell 13, which comes later, makes double",
    ),
    moves_cells: (
        [3, 1, 2, 2],
        "cell 11, which comes later, makes masked_softmax",
    ),
    odd_file: ([3, 1, 2, 2], ""),
}
