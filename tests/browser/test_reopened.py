"""A learner's notebook the next day: saved, its kernel gone, opened again."""

import nbformat
import pytest
from nbformat.sign import NotebookNotary

from browser import widgets
from browser.test_lab import FINISHED, SELECT, menu
from course_lib.tools import lessons

pytestmark = pytest.mark.browser

NAME = "00_warm_up.ipynb"
LOST = "Error displaying widget"


@pytest.fixture
def saved(lab, open_notebook, page):
    """The warm-up, run and saved with a moved explorer and a chosen prediction; gives that explorer's picture."""
    open_notebook(NAME)
    menu(page, "Run", "Run All Cells")
    page.wait_for_function(FINISHED, timeout=600_000)
    page.get_by_text("Python 3 (ipykernel) | Idle").wait_for(timeout=600_000)
    for kind in ("explorer", "prediction"):
        widget = page.locator(f".am-{kind}").first.element_handle()
        page.evaluate(SELECT, widget)
        widgets.reach(page, widget)
        if kind == "explorer":
            widgets.move(page, widget)
            moved = page.evaluate(widgets.PICTURE, widget)
        else:
            page.keyboard.press("Space")
    page.keyboard.press("Escape")
    page.evaluate("jupyterapp.commands.execute('docmanager:save')")
    lab.end_kernels()
    return moved


def test_explorers_live_and_the_prediction_is_there(saved, open_notebook, page, shoot):
    open_notebook(NAME)
    explorer = page.locator(".am-explorer").first
    explorer.wait_for()
    assert page.get_by_text(LOST).count() == 0
    assert page.evaluate(widgets.PICTURE, explorer.element_handle()) == saved
    assert page.locator(".am-prediction").first.locator("input:checked").count() == 1
    assert not page.locator(".am-still, .jp-RenderedSVG").first.is_visible()
    page.evaluate(SELECT, explorer.element_handle())
    widgets.reach(page, explorer.element_handle())
    widgets.move(page, explorer.element_handle())
    shoot(page, "reopened")


def test_widgets_come_back_on_a_slow_page(open_notebook, page):
    """A page that is busy for as long as a widget is waited for must look once more when all are there."""
    page.add_init_script(
        "const later = setTimeout; setTimeout = (work, ms, ...more) => later(work, ms === 100 ? 4000 : ms, ...more)"
    )
    open_notebook(NAME, "notebooks")
    page.locator(".am-explorer").first.wait_for()
    assert page.get_by_text(LOST).count() == 0


@pytest.mark.expects("model not found")
def test_where_no_widget_was_saved_its_picture_shows(lab, open_notebook, page, shoot):
    notebook = nbformat.read(lessons.NOTEBOOKS / NAME, as_version=4)
    del notebook.metadata["widgets"]
    nbformat.write(notebook, lab.course / "workbook" / NAME)
    NotebookNotary(data_dir=lab.environment["JUPYTER_DATA_DIR"]).sign(notebook)
    open_notebook(NAME)
    for picture in (".jp-RenderedSVG", ".am-still"):
        page.locator(picture).first.scroll_into_view_if_needed()
        assert page.locator(picture).first.is_visible()
    page.get_by_text(LOST).first.wait_for()
    shoot(page, "reopened-without-widgets")
