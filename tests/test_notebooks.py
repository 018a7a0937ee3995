"""What every lesson must have, whatever it teaches; and that each of these checks can fail."""

import ast
import re
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from nbformat.v4.nbjson import reads, writes  # as it is: nbformat.read would mend what is wrong with cell ids

from course_lib import curriculum
from course_lib.claims import MIME, NOT, boxes, ledger, missing_boxes
from course_lib.curriculum import name_of
from course_lib.tools import lessons
from course_lib.tools.lessons import WIDGET_VIEW

LESSONS = sorted((Path(__file__).parent.parent / "notebooks").glob("*.ipynb"))
LARGEST = 1_500_000  # bytes
ON_THE_PATH = 8  # verdict boxes before "More claims"
OPENING = re.compile(r"# .+\n\n\*\*.+\?\*\*\n\n.+")  # a title, a question, and what to do with the explorer
A_MACHINE = re.compile(r"\b(this|your)\s+(own\s+)?(machine|computer|laptop)\b", re.IGNORECASE)


# ---- the checks: each gives the complaints that it has about a notebook ----


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def outputs(notebook):
    return [(cell, output) for cell in code_cells(notebook) for output in cell.outputs]


def every_claim_has_a_box(notebook, lesson):
    return sorted(missing_boxes(notebook, lesson))


def every_box_is_in_the_ledger(notebook, lesson):
    return [box["id"] for box in boxes(notebook) if box["id"] not in ledger()]


def every_box_is_of_figures_that_were_computed(notebook, lesson):
    """A figure typed into a verdict would be an assertion, not an experiment."""
    return [cell.id for cell in code_cells(notebook) if boxes({"cells": [cell]}) and typed_figures(cell.source)]


def typed_figures(source):
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    verdicts = [call for call in calls if getattr(call.func, "attr", getattr(call.func, "id", "")) == "verdict"]
    arguments = [call.args[1] for call in verdicts if len(call.args) > 1]
    return [a for a in arguments if not any(isinstance(node, ast.Name) for node in ast.walk(a))]


def a_cross_says_what_was_tried(notebook, lesson):
    crosses = [box for box in boxes(notebook) if box["verdict"] == NOT and box["kind"] == "experiment"]
    return [box["id"] for box in crosses if not box["scope"]]


def imports_are_folded(notebook, lesson):
    """They are not what a visitor should see first."""
    shown = [cell for cell in code_cells(notebook) if not lessons.is_folded(cell)]
    return [cell.id for cell in shown[:1] if re.search(r"^(import|from) ", cell.source, re.MULTILINE)]


def few_boxes_stand_on_the_lecture_path(notebook, lesson):
    return [box["id"] for box in boxes({"cells": lessons.main_path(notebook)})[ON_THE_PATH:]]


def cells_were_run_in_order(notebook, lesson):
    run = [cell for cell in code_cells(notebook) if cell.source.strip()]
    return [cell.id for number, cell in enumerate(run, start=1) if cell.execution_count != number]


def pictures_have_an_alt_text(notebook, lesson):
    return [
        cell.id
        for cell, output in outputs(notebook)
        if "image/png" in output.get("data", {}) and not output.metadata.get("image/png", {}).get("alt", "").strip()
    ]


def compared_cells_have_an_output(notebook, lesson):
    tagged = [cell for cell in code_cells(notebook) if "nbval-check-output" in cell.metadata.get("tags", [])]
    return [cell.id for cell in tagged if not cell.outputs]


def ids_are_there_and_unique(notebook, lesson):
    ids = [cell.get("id") for cell in notebook.cells]
    return [str(name) for place, name in enumerate(ids) if name is None or name in ids[:place]]


def other_lessons_records_are_left_alone(notebook, lesson):
    """By its file a record could be read although it is of older code."""
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return [cell.id for cell in code if "claims.DATA" in cell.source or "recorded/" in cell.source]


def the_kernel_is_python3(notebook, lesson):
    name = notebook.metadata.get("kernelspec", {}).get("name")
    return [] if name == "python3" else [f"kernel {name}"]


def nothing_went_wrong(notebook, lesson):
    return [
        cell.id for cell, output in outputs(notebook) if output.output_type == "error" or output.get("name") == "stderr"
    ]


def nobodys_machine_is_spoken_of(notebook, lesson):
    """A saved lesson is read in the browser and on slides, far from the machine that ran it."""
    return [cell.id for cell in notebook.cells if cell.cell_type != "raw" and A_MACHINE.search(read_by_people(cell))]


def read_by_people(cell):
    texts = [cell.source] if cell.cell_type == "markdown" else []
    for output in cell.get("outputs", []):
        data = output.get("data", {})
        texts += [output.get("text", ""), *(text for kind, text in data.items() if kind.startswith("text/"))]
    return "\n".join(texts)


def an_explorer_comes_before_all_else(notebook, lesson):
    title, first = [cell for cell in notebook.cells if lessons.slide_type(cell) != "notes"][:2]
    asked = OPENING.fullmatch(title.source)
    shown = lessons.is_folded(first) and any(
        WIDGET_VIEW in output.get("data", {}) for output in first.get("outputs", [])
    )
    return [] if asked and shown else [title.source, first.source]


def the_file_is_small(notebook, lesson):
    size = len(writes(notebook).encode())
    return [f"{size:,} bytes"] if size > LARGEST else []


CHECKS = [
    every_claim_has_a_box,
    every_box_is_in_the_ledger,
    every_box_is_of_figures_that_were_computed,
    a_cross_says_what_was_tried,
    imports_are_folded,
    few_boxes_stand_on_the_lecture_path,
    cells_were_run_in_order,
    pictures_have_an_alt_text,
    compared_cells_have_an_output,
    ids_are_there_and_unique,
    other_lessons_records_are_left_alone,
    the_kernel_is_python3,
    nothing_went_wrong,
    nobodys_machine_is_spoken_of,
    an_explorer_comes_before_all_else,
    the_file_is_small,
]
each_check = pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)


def test_the_lessons_stand_in_their_order_and_are_called_by_their_names():
    assert [path.stem for path in LESSONS] == [f"{number:02}_{name}" for name, number in curriculum.NUMBERS.items()]
    for path in LESSONS[1:]:
        assert f'claims.Lesson("{name_of(path)}")' in "\n".join(
            cell.source for cell in reads(path.read_text(encoding="utf-8")).cells
        )


@each_check
@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_lesson(path, check):
    assert check(reads(path.read_text(encoding="utf-8")), name_of(path)) == []


# ---- a notebook that pleases every check, and one that displeases each ----

LESSON = "rnn_bottleneck"
FOLDED = {"source_hidden": True}


def box(claim):
    return new_output(
        "display_data",
        {MIME: {"id": claim, "verdict": "holds", "kind": "experiment", "scope": ""}, "text/plain": claim},
    )


def picture(alt):
    return new_output("display_data", {"image/png": "iVBO"}, metadata={"image/png": {"alt": alt}})


def good():
    claims = sorted(missing_boxes({"cells": []}, LESSON))
    cells = [
        new_markdown_cell("# A lesson\n\n**Why?**\n\nMove the slider.", id="title"),
        new_code_cell(
            "Explorer()",
            id="explorer",
            outputs=[new_output("display_data", {WIDGET_VIEW: {}})],
            metadata={"jupyter": FOLDED},
        ),
        new_code_cell("draw()", id="picture", outputs=[picture("Accuracy falls.")]),
        new_code_cell("1 + 1", id="compared", outputs=[new_output("execute_result", {"text/plain": "2"})]),
        *[
            new_code_cell(f"verdict({c!r}, {{'x': x}})", id=f"first-{c}", outputs=[box(c)])
            for c in claims[:ON_THE_PATH]
        ],
        new_markdown_cell("Then:\n\n## More claims", id="more"),
        *[new_code_cell(f"verdict({c!r}, {{'x': x}})", id=f"then-{c}", outputs=[box(c)]) for c in claims[ON_THE_PATH:]],
        new_code_cell("print(1)", id="printed", outputs=[new_output("stream", name="stdout", text="1\n")]),
        new_code_cell("", id="empty"),
    ]
    cells[3].metadata["tags"] = ["nbval-check-output"]
    for number, cell in enumerate([cell for cell in cells if cell.cell_type == "code" and cell.source], start=1):
        cell.execution_count = number
    return new_notebook(cells=cells, metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}})


def cell(notebook, name):
    return next(cell for cell in notebook.cells if cell.id == name)


def no_box(notebook):
    next(c for c in notebook.cells if c.id.startswith(("first", "then"))).outputs.clear()


def unknown_box(notebook):
    cell(notebook, "printed").outputs.append(box("Z99"))


def typed_figure(notebook):
    next(c for c in notebook.cells if c.id.startswith(("first", "then"))).source = "claims.verdict('N8', {'x': 0.9})"


def a_cross_alone(notebook):
    record = next(c for c in notebook.cells if c.id.startswith(("first", "then"))).outputs[0].data[MIME]
    record.update(verdict=NOT)


def imports_shown(notebook):
    cell(notebook, "picture").source = "import torch"


def nine_boxes(notebook):
    extra = [box(sorted(ledger())[0]) for _ in range(ON_THE_PATH + 1)]
    cell(notebook, "picture").outputs += extra


def not_run(notebook):
    cell(notebook, "printed").execution_count = None


def run_twice(notebook):
    cell(notebook, "printed").execution_count += 1


def no_alt(notebook):
    cell(notebook, "picture").outputs[0].metadata.clear()


def blank_alt(notebook):
    cell(notebook, "picture").outputs[0] = picture(" ")


def nothing_to_compare(notebook):
    cell(notebook, "compared").outputs.clear()


def same_id(notebook):
    cell(notebook, "more").id = "title"


def no_id(notebook):
    del notebook.cells[0]["id"]


def anothers_record(notebook):
    cell(notebook, "printed").source = 'read(claims.DATA / "recorded" / "rnn_bottleneck.json")'


def other_kernel(notebook):
    notebook.metadata.kernelspec.name = "ir"


def no_kernel(notebook):
    notebook.metadata.clear()


def warning(notebook):
    cell(notebook, "printed").outputs.append(new_output("stream", name="stderr", text="UserWarning"))


def error(notebook):
    cell(notebook, "printed").outputs.append(new_output("error", ename="E", evalue="", traceback=[]))


def a_machine_in_an_output(notebook):
    cell(notebook, "printed").outputs[0].text = "on this machine about 8 minutes"


def a_machine_in_the_text(notebook):
    cell(notebook, "title").source += " Try it on your own machine."


def no_question(notebook):
    cell(notebook, "title").source = "# A lesson\n\nMove the slider."


def code_first(notebook):
    cell(notebook, "explorer").metadata.clear()


def no_explorer(notebook):
    cell(notebook, "explorer").outputs.clear()


def large(notebook):
    cell(notebook, "printed").outputs[0].text = "x" * LARGEST


FAULTS = {
    no_box: every_claim_has_a_box,
    unknown_box: every_box_is_in_the_ledger,
    typed_figure: every_box_is_of_figures_that_were_computed,
    a_cross_alone: a_cross_says_what_was_tried,
    imports_shown: imports_are_folded,
    nine_boxes: few_boxes_stand_on_the_lecture_path,
    not_run: cells_were_run_in_order,
    run_twice: cells_were_run_in_order,
    no_alt: pictures_have_an_alt_text,
    blank_alt: pictures_have_an_alt_text,
    nothing_to_compare: compared_cells_have_an_output,
    same_id: ids_are_there_and_unique,
    no_id: ids_are_there_and_unique,
    anothers_record: other_lessons_records_are_left_alone,
    other_kernel: the_kernel_is_python3,
    no_kernel: the_kernel_is_python3,
    warning: nothing_went_wrong,
    error: nothing_went_wrong,
    a_machine_in_an_output: nobodys_machine_is_spoken_of,
    a_machine_in_the_text: nobodys_machine_is_spoken_of,
    no_question: an_explorer_comes_before_all_else,
    code_first: an_explorer_comes_before_all_else,
    no_explorer: an_explorer_comes_before_all_else,
    large: the_file_is_small,
}


@each_check
def test_a_good_notebook_passes(check):
    assert check(good(), LESSON) == []


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_a_fault_is_found_by_its_check_and_no_other(fault):
    notebook = good()
    fault(notebook)
    saved = reads(writes(notebook))
    assert [check for check in CHECKS if check(saved, LESSON)] == [FAULTS[fault]]


def test_every_check_has_a_fault_to_find():
    assert set(FAULTS.values()) == set(CHECKS)
