"""Each lesson in JupyterLab, as a learner has it: all cells run, everything that moves is moved by keyboard."""

import nbformat
import pytest

from course_lib import lessons

pytestmark = pytest.mark.browser

CELLS = """() => jupyterapp.shell.currentWidget.content.widgets.filter((cell) => cell.model.type === "code").map(
  (cell) => ({id: cell.model.id, count: cell.model.executionCount, outputs: cell.model.outputs.toJSON()}))"""
FINISHED = f"""() => {{
  const cells = ({CELLS})(), failed = cells.some((cell) => cell.outputs.some((o) => o.output_type === "error"));
  return failed || cells.at(-1).count !== null;
}}"""
IN_FOCUS = "(widget) => widget.contains(document.activeElement)"
CHANGED = "([widget, before]) => widget.innerHTML !== before"
ACTIVATE = """(widget) => {
  const notebook = jupyterapp.shell.currentWidget.content;
  notebook.activeCellIndex = notebook.widgets.findIndex((cell) => cell.node.contains(widget));
  notebook.activeCell.node.focus();
}"""


def widgets_of(path):
    """By their question, their controls or their mask: how many of each a lesson shows, as it was last saved."""
    notebook = nbformat.read(path, as_version=4)
    state = notebook.metadata.widgets[lessons.WIDGET_STATE]["state"]
    kinds = [state[model]["state"] for model in shown(notebook)]
    explorers = sum("frames" in kind or "allowed" in kind for kind in kinds)
    return explorers, sum("question" in kind for kind in kinds)


def shown(notebook):
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            view = output.get("data", {}).get("application/vnd.jupyter.widget-view+json")
            if view:
                yield view["model_id"]


def reach(page, widget):
    """Puts the focus on a widget's first control: from its cell, with Tab."""
    handle = widget.element_handle()
    page.evaluate(ACTIVATE, handle)
    for _ in range(30):
        page.keyboard.press("Tab")
        if page.evaluate(IN_FOCUS, handle):
            return handle
    raise AssertionError("thirty times Tab did not reach the widget")


def move(page, handle, keys):
    """Presses keys until the widget looks different."""
    before = handle.inner_html()
    for key in keys:
        page.keyboard.press(key)
        try:
            return page.wait_for_function(CHANGED, arg=[handle, before], timeout=4000)
        except Exception:
            continue
    raise AssertionError(f"nothing moved: {handle.inner_text()}")


@pytest.fixture
def notebook(page, lab):
    """Opens a notebook of the workbook; its kernel is ended with the test."""

    def opened(name):
        page.goto(f"{lab.base}/lab/tree/workbook/{name}?token={lab.token}&reset")
        page.locator(".jp-NotebookPanel .jp-Cell").first.wait_for(timeout=60_000)
        page.get_by_text("Python 3 (ipykernel) | Idle").wait_for(timeout=60_000)

    yield opened
    lab.end_kernels()


@pytest.mark.parametrize("path", lessons.find(), ids=lambda path: path.stem)
def test_a_lesson_runs_and_moves(path, notebook, page, shoot):
    notebook(path.name)
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
    page.wait_for_function(FINISHED, timeout=300_000)
    cells = page.evaluate(CELLS)
    assert [cell for cell in cells if any(output["output_type"] == "error" for output in cell["outputs"])] == []
    explorers, predictions = page.locator(".am-explorer"), page.locator(".am-prediction")
    assert (explorers.count(), predictions.count()) == widgets_of(path)
    for explorer in explorers.all():
        handle = reach(page, explorer)
        move(page, handle, ["ArrowRight", "ArrowLeft"])
        cell = page.evaluate("jupyterapp.shell.currentWidget.content.activeCell.model.id")
        shoot(page, f"{path.stem}-{cell}")
    for prediction in predictions.all():
        reach(page, prediction)
        page.keyboard.press("Space")
        assert prediction.locator("input:checked").count() == 1
