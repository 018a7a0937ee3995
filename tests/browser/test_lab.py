"""Each lesson in JupyterLab, as it was saved or run by a learner: everything that moves is moved by keyboard.

One that runs must say what it says when saved, and its asserts must hold, on the plainest processor too.
"""

import nbformat
import pytest
from sweeps import sweep

from browser import widgets
from course_lib.tools import lessons

pytestmark = pytest.mark.browser

PICTURED = "flashlight-explorer"
CELLS = """() => jupyterapp.shell.currentWidget.content.widgets.filter((cell) => cell.model.type === "code").map(
  (cell) => ({id: cell.model.id, count: cell.model.executionCount,
              errors: cell.model.outputs.toJSON().filter((output) => output.output_type === "error")}))"""
ACTIVE = "jupyterapp.shell.currentWidget.content.activeCell.model.id"
NOTEBOOK = "jupyterapp.shell.currentWidget.content.model.toJSON()"
FINISHED = f"""() => {{
  const cells = ({CELLS})();
  return cells.some((cell) => cell.errors.length) || cells.at(-1).count !== null;
}}"""
SHOWN = """(number) => ["explorer", "prediction"].every(
  (kind, place) => document.querySelectorAll(`.am-${kind}`).length >= number[place])"""
# From here Tab leads on into the cell that holds a widget.
SELECT = """(widget) => {
  const notebook = jupyterapp.shell.currentWidget.content;
  notebook.activeCellIndex = notebook.widgets.findIndex((cell) => cell.node.contains(widget));
  notebook.activeCell.node.focus();
  return notebook.activeCell.model.id;
}"""
# Whether each result that a reader can predict comes after the prediction.
COMPARED = f"""() => {{
  const outputs = {NOTEBOOK}.cells.flatMap((cell) => cell.outputs ?? []);
  const shown = outputs.map((output) => String(output.data?.["text/html"]));
  const results = shown.filter((html) => html.includes("Measured: <b>"));
  return results.length > 0 && results.every((html) => html.startsWith("<p>You predicted: <b>"));
}}"""


def menu(page, *names):
    for name in names:
        page.get_by_role("menuitem", name=name, exact=True).click()


ONE_AND_ALL = pytest.mark.parametrize(
    "path",
    sweep(lessons.find(), "00_warm_up", named=lambda path: path.stem),  # nbval runs all of them
)


def move_everything(path, page, shoot, show, but=()):
    number = widgets.saved(path)
    page.wait_for_function(SHOWN, arg=number, timeout=300_000)
    explorers, predictions = (page.locator(f".am-{kind}").element_handles() for kind in ("explorer", "prediction"))
    assert (len(explorers), len(predictions)) == number
    for explorer in explorers:
        cell = page.evaluate(SELECT, explorer)
        widgets.reach(page, explorer)
        if cell not in but:
            widgets.move(page, explorer)
            assert page.evaluate(ACTIVE) == cell  # the key was the explorer's alone
        shoot(page, f"{path.stem}-{cell}")
        if cell == PICTURED:
            show(page, "lab_explorer")
    for prediction in predictions:
        page.evaluate(SELECT, prediction)
        widgets.reach(page, prediction)
        page.keyboard.press("Space")
    chosen = [prediction.evaluate("(e) => e.querySelectorAll('input:checked').length") for prediction in predictions]
    assert chosen == [1] * len(predictions)
    page.keyboard.press("Escape")
    page.evaluate("jupyterapp.shell.currentWidget.content.scrollToItem(0)")
    shoot(page, f"{path.stem}-top")


@pytest.mark.large  # in make test, test_live.py and test_reopened.py open lessons as they were saved
@ONE_AND_ALL
def test_a_lesson_moves_as_it_was_saved(path, open_notebook, page, shoot, show):
    ask_a_kernel = [cell.id for cell in nbformat.read(path, as_version=4).cells if "ahead=False" in cell.source]
    open_notebook(path.name, "notebooks")
    move_everything(path, page, shoot, show, but=ask_a_kernel)


@ONE_AND_ALL
def test_a_lesson_runs_and_moves(path, open_notebook, page, shoot, show, verdicts):
    open_notebook(path.name)
    menu(page, "Run", "Run All Cells")
    page.wait_for_function(FINISHED, timeout=600_000)
    page.get_by_text("Python 3 (ipykernel) | Idle").wait_for(timeout=600_000)  # a cell is counted when it begins
    assert [cell for cell in page.evaluate(CELLS) if cell["errors"]] == []
    assert verdicts(page.evaluate(NOTEBOOK)) == verdicts(nbformat.read(path, as_version=4))
    move_everything(path, page, shoot, show)
    page.wait_for_function(COMPARED)  # although they were chosen after all had run
