"""A lesson as a lecture inside of JupyterLab: start the deck, step, move an explorer with the kernel, run, leave."""

import pytest

from browser import widgets
from browser.test_lab import FINISHED, menu

pytestmark = pytest.mark.browser

ACTIVE = "jupyterapp.shell.currentWidget.content.activeCell.model.id"
FIRST = """() => {
  const notebook = jupyterapp.shell.currentWidget.content;
  notebook.activeCellIndex = 0;
  notebook.activeCell.node.focus();
}"""


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
    page.keyboard.press("Shift+Tab")  # back to the slide
    page.keyboard.press("Escape")
    deck.wait_for(state="detached")
