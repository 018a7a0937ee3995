"""The course's widgets on a page, in JupyterLab or on a slide, under the keys of someone without a mouse."""

import nbformat
from playwright.sync_api import TimeoutError

from course_lib import lessons

VIEW = "application/vnd.jupyter.widget-view+json"
IN_FOCUS = "(widget) => widget.contains(document.activeElement)"
CHANGED = "([widget, before]) => widget.innerHTML !== before"


def saved(path, cells=lambda cell: True):
    """How many explorers, painters included, and how many predictions a lesson showed when it was last saved."""
    notebook = nbformat.read(path, as_version=4)
    models = notebook.metadata.widgets[lessons.WIDGET_STATE]["state"]
    shown = [output.get("data", {}) for cell in filter(cells, notebook.cells) for output in cell.get("outputs", [])]
    states = [models[data[VIEW]["model_id"]]["state"] for data in shown if VIEW in data]
    explorers = sum("frames" in state or "allowed" in state for state in states)
    return explorers, sum("question" in state for state in states)


def reach(page, widget):
    """Presses Tab until the focus is on the widget's first control."""
    for _ in range(30):
        page.keyboard.press("Tab")
        if page.evaluate(IN_FOCUS, widget):
            return
    raise AssertionError("thirty times Tab did not reach the widget")


def move(page, widget):
    """Presses arrow keys, the second where the first is at the end, until the widget looks different."""
    before = widget.inner_html()
    for key in ("ArrowRight", "ArrowLeft"):
        page.keyboard.press(key)
        try:
            page.wait_for_function(CHANGED, arg=[widget, before], timeout=5000)
            return
        except TimeoutError:
            continue
    raise AssertionError(f"the arrow keys moved nothing: {widget.inner_text()}")
