"""A lesson as a lecture inside of JupyterLab: start the deck, step, move an explorer with the kernel, run, leave."""

import pytest

from browser import widgets
from browser.test_lab import ACTIVE, FINISHED, SHOWN, menu
from course_lib.tools import lessons

pytestmark = pytest.mark.browser

FIRST = """() => {
  const notebook = jupyterapp.shell.currentWidget.content;
  notebook.activeCellIndex = 0;
  notebook.activeCell.node.focus();
}"""
GO_TO = """(control) => {
  const notebook = jupyterapp.shell.currentWidget.content;
  notebook.activeCellIndex = notebook.widgets.findIndex((cell) => cell.node.contains(control));
  notebook.activeCell.node.focus();
  return document.activeElement === notebook.activeCell.node;  // a slide that is hidden takes no focus
}"""
ON_CELL = "document.activeElement === jupyterapp.shell.currentWidget.content.activeCell.node"
IN_WIDGET = "document.activeElement.closest('.am-explorer, .am-prediction') !== null"
CONTROLS = ".am-prediction label", ".am-controls [type=range]", ".am-plane [role=slider] .am-hit"
TURNS = {"PageDown": "Space", "PageUp": "Shift+Space"}  # a clicker's key, and what turns the slide from a cell


def step_to(page, cell):
    for _ in range(30):
        if page.evaluate(ACTIVE) == cell:
            return
        page.keyboard.press("Space")
    raise AssertionError(f"thirty steps did not reach {cell!r}")


def test_a_lecture_is_given_with_a_running_kernel(open_notebook, page, shoot, show):
    open_notebook("00_warm_up.ipynb")
    menu(page, "Run", "Run All Cells")
    page.wait_for_function(FINISHED, timeout=600_000)
    page.evaluate(FIRST)
    page.get_by_role("button", name="Toggle Deck").click()
    deck = page.locator(".jp-Deck")
    deck.wait_for()
    shoot(page, "live-title")
    step_to(page, "product-code")
    code = page.locator(".jp-CodeCell.jp-deck-mod-visible", has_text="Y = X @ W").locator(".jp-InputPrompt")
    before = code.text_content()
    page.keyboard.press("Control+Enter")
    page.wait_for_function("([prompt, before]) => /\\d/.test(prompt.textContent) && prompt.textContent !== before",
                           arg=[code.element_handle(), before])  # fmt: skip
    assert page.evaluate(ACTIVE) == "product-code"
    step_to(page, "scores-explorer")
    explorer = page.locator(".am-explorer:visible").element_handle()
    widgets.reach(page, explorer)
    widgets.move(page, explorer)
    shoot(page, "live-explorer")
    show(page, "lab_deck")
    page.keyboard.press("Space")  # goes to the slider
    assert page.evaluate(ACTIVE) == "scores-explorer"
    page.keyboard.press("Escape")  # back to the slide
    page.keyboard.press("Escape")
    deck.wait_for(state="detached")


def turned(page, key):
    """Presses a key that must turn the slide, and returns the cell that is active then."""
    here = page.evaluate(ACTIVE)
    page.keyboard.press(key)
    page.wait_for_function(f"(here) => {ACTIVE} !== here", arg=here)
    return page.evaluate(ACTIVE)


def test_a_clickers_keys_turn_the_slide_whatever_was_clicked_and_esc_frees_the_focus(open_notebook, page):
    (path,) = lessons.find(["03"])
    open_notebook(path.name, "notebooks")
    page.wait_for_function(SHOWN, arg=widgets.saved(path), timeout=300_000)
    page.get_by_role("button", name="Toggle Deck").click()
    deck = page.locator(".jp-Deck")
    deck.wait_for()
    for control in map(page.query_selector, CONTROLS):
        for key, usual in TURNS.items():
            page.wait_for_function(GO_TO, arg=control)
            after = turned(page, usual)
            page.wait_for_function(GO_TO, arg=control)
            control.click()
            assert page.evaluate(IN_WIDGET)
            assert turned(page, key) == after
            assert page.evaluate(ON_CELL)  # so the next key turns it, too
        page.wait_for_function(GO_TO, arg=control)
        control.click()
        page.keyboard.press("Escape")
        assert page.evaluate(ON_CELL)
    assert deck.is_visible()
    page.keyboard.press("Escape")
    deck.wait_for(state="detached")  # else JupyterLab opens the next notebook in it
