"""Explorers on a page of their own: heads as arcs, and frames that are patched."""

import json

import nbformat
import numpy as np
import pytest
from sweeps import sweep

from browser import judges
from course_lib import widgets
from course_lib.tools import lessons

pytestmark = pytest.mark.browser

PAGE = """<!doctype html><html lang="en"><title>Explorer</title><style>body {{ font: 16px sans-serif; }} {style}</style>
<article><div id="explorer"></div></article><script type="module">
{module}
window.state = {state};
window.told = [];
window.heard = [];
document.addEventListener("am-told", ({{ detail }}) => told.push(detail));
const model = {{
  get: (name) => state[name], on: (_, f) => heard.push(f), save_changes: () => {{}}, send: state.send,
  set: (name, value) => {{ state[name] = value; heard.forEach((f) => f()); }},
}};
explorer.render({{ model, el: document.getElementById("explorer") }});
</script></html>"""
SENTENCE, TWO_LINES = "the chicken crosses the road because it was tired", "the small cat\nle petit chat"
ARCS = """() => ["opacity", "stroke-width"].map((name) => [...document.querySelectorAll(".am-arcs > g")].map(
  (head) => [...head.children].map((path) => Number(path.getAttribute(name)))))"""
NUMBERS = """() => [...document.querySelectorAll(".am-numbers")].map(
  (word) => [...word.children].map((number) => Number(number.textContent)))"""


def opened(page, module, style, state):
    spelled = json.dumps(state, ensure_ascii=False).replace("</", r"<\/")
    page.set_content(
        PAGE.format(module=module.replace("export default", "const explorer ="), style=style, state=spelled)
    )
    page.wait_for_selector(".am-frame")


def weights(words, seed):
    return np.random.default_rng(seed).dirichlet(np.full(words, 0.3), (2, 4, words))


@pytest.fixture
def heads(page):
    given = {SENTENCE: weights(9, 0), TWO_LINES: weights(6, 1)}
    widget = widgets.AttentionHeads(given, word=6)
    names = ("sentences", "weights", "layers", "colours", "chosen")
    opened(page, widget._esm, widget._css, {name: getattr(widget, name) for name in names})
    return list(given.values())


def test_arcs_and_numbers_are_the_weights(heads, page):
    page.emulate_media(reduced_motion="reduce")
    for sentence, given in enumerate(heads):
        page.locator("select").select_option(index=sentence)
        for layer in (0, 1):
            page.get_by_role("radiogroup", name="layer").locator("label").nth(layer).click()
            for word in range(given.shape[-1]):
                page.locator(".am-word button").nth(word).click()
                looks = given[layer, :, word].round(3)
                opacity, width = page.evaluate(ARCS)
                seen = looks >= 0.05
                np.testing.assert_allclose(opacity, np.where(seen, 0.45 + 0.55 * looks, 0), atol=1e-9)
                np.testing.assert_allclose(width, 16 * (0.1 + 0.4 * seen * looks), atol=0.051)
                for numbers, column in zip(page.evaluate(NUMBERS), looks.T, strict=True):
                    np.testing.assert_allclose(numbers, column[column >= 0.1], atol=0.0051)
                assert judges.hard_to_read(page, page.query_selector("article")) == []


def test_one_head_and_strong_arcs_alone(heads, page):
    page.get_by_role("radiogroup", name="head").locator("label").nth(3).click()
    page.get_by_role("radiogroup", name="arcs").locator("label").nth(1).click()
    shown = np.array(page.evaluate(ARCS)[0]) > 0
    looks = heads[0][0, :, 6].round(3)
    np.testing.assert_array_equal(shown, (looks >= 0.2) & (np.arange(4) == 2)[:, None])


def test_the_keyboard_goes_from_word_to_word_and_tells(heads, page):
    words = page.locator(".am-word button")
    assert words.evaluate_all("(words) => words.map((word) => word.tabIndex)") == [-1] * 6 + [0] + [-1] * 2
    words.nth(6).focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.textContent") == "was"
    assert page.evaluate("[told.at(-1).word, state.chosen.word]") == [7, 7]
    for _ in range(2):
        page.keyboard.press("ArrowRight")  # round the end
    assert page.evaluate("state.chosen.word") == 0
    assert words.nth(0).get_attribute("aria-pressed") == "true"
    assert page.locator("[aria-live]").text_content().startswith("the looks at: ")


def test_a_mouse_shows_and_leaves_what_was_chosen(heads, page):
    page.locator(".am-word button").nth(1).hover()
    assert page.locator("[aria-live]").text_content().startswith("chicken looks at: ")
    assert page.evaluate("[told.at(-1).word, state.chosen.word]") == [1, 6]
    page.mouse.move(1, 1)
    assert page.locator("[aria-live]").text_content().startswith("it looks at: ")


def test_a_state_is_taken_without_being_told_again(heads, page):
    state = {"sentence": 1, "layer": 1, "head": 0, "least": 0.2, "word": 4}
    page.evaluate("(detail) => explorer.dispatchEvent(new CustomEvent('am-take', { detail }))", state)
    assert page.evaluate("[state.chosen, told.length]") == [state, 0]
    assert page.locator("[aria-pressed=true]").text_content() == "petit"
    assert page.locator("select").input_value() == "1" and page.locator("[type=radio]:checked").count() == 3


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_arcs_glide_unless_one_asks_for_no_motion(heads, page, motion):
    page.emulate_media(reduced_motion=motion)
    page.evaluate("getComputedStyle(document.querySelector('.am-arcs > g path')).d")
    before, now = page.evaluate("""() => {
      const arc = document.querySelector(".am-arcs > g path"), shown = () => getComputedStyle(arc).d;
      const before = shown();
      document.querySelectorAll(".am-word button")[0].click();
      return [before, shown()];
    }""")
    assert (before == now) == (motion == "no-preference")
    page.wait_for_timeout(400)
    after = page.evaluate("getComputedStyle(document.querySelector('.am-arcs > g path')).d")
    assert after != before and (after == now) == (motion == "reduce")


PATCHED = """() => {
  const frame = document.querySelector(".am-frame"), swapped = document.createElement("div"), wrong = [];
  const states = Object.keys(state.frames);
  // Each state after its neighbour, and after one far away.
  for (const key of states.flatMap((key, i) => [key, states[(i + (states.length >> 1)) % states.length]])) {
    state.chosen = key.split(",").map(Number);
    heard.forEach((f) => f());
    swapped.innerHTML = state.frames[key];
    if (frame.innerHTML !== swapped.innerHTML) wrong.push(key);
  }
  return wrong;
}"""


@pytest.mark.parametrize("path", sweep(lessons.find(), "00_warm_up", named=lambda path: path.stem))
def test_a_patched_frame_is_the_swapped_one(path, page):
    models = nbformat.read(path, as_version=4).metadata.widgets[lessons.WIDGET_STATE]["state"].values()
    for state in (model["state"] for model in models if "frames" in model["state"]):
        opened(page, widgets.Explorer._esm, widgets.Explorer._css, state)
        assert page.evaluate(PATCHED) == []


def test_a_frame_of_the_same_build_is_patched_and_another_is_swapped(page):
    def frame(size):
        return f'<svg><rect width="{size}"></rect></svg>' if size < 3 else "<b>3</b>"

    explorer = widgets.Explorer(frame, {"size": [1, 2, 3]})
    state = {name: getattr(explorer, name) for name in ("controls", "frames", "chosen")}
    opened(page, explorer._esm, explorer._css, state)
    page.evaluate("window.first = document.querySelector('rect')")
    page.locator("[type=range]").press("ArrowRight")
    assert page.evaluate("[first.isConnected, first.getAttribute('width')]") == [True, "2"]
    page.locator("[type=range]").press("ArrowRight")
    assert page.evaluate("first.isConnected") is False
    assert page.locator(".am-frame").inner_html() == "<b>3</b>"


def test_a_slider_ends_with_the_chosen_sentence(page):
    def frame(sentence, word):
        return f"<b>{sentence.split()[min(word, len(sentence.split())) - 1]}</b>"

    explorer = widgets.Explorer(frame, {"sentence": ["a b c d", "e f"], "word": range(1, 5)}, {"word": 4})
    opened(
        page, explorer._esm, explorer._css, {name: getattr(explorer, name) for name in ("controls", "frames", "chosen")}
    )
    slider, shown = page.locator("[type=range]"), page.locator(".am-frame")
    assert (slider.get_attribute("max"), shown.inner_text()) == ("3", "d")
    page.locator("select").select_option(index=1)
    assert (slider.get_attribute("max"), slider.input_value(), shown.inner_text()) == ("1", "1", "f")
    page.locator("select").select_option(index=0)
    assert (slider.get_attribute("max"), shown.inner_text()) == ("3", "b")


def test_menus_that_ask_a_kernel_say_so_where_there_is_none(page):
    explorer = widgets.Explorer(lambda name, size: f"{name} {size}", {"name": ["a", "b"], "size": [1, 2]}, ahead=False)
    opened(
        page, explorer._esm, explorer._css, {name: getattr(explorer, name) for name in ("controls", "frames", "chosen")}
    )
    assert page.locator("select").is_disabled()
    assert page.get_by_text("Other choices need a running kernel").is_visible()
    page.locator("[type=range]").press("ArrowRight")
    assert page.locator(".am-frame").inner_text() == "a 2"


def test_the_line_about_a_running_kernel_has_its_room_before_it_is_shown(page):
    explorer = widgets.Explorer(lambda name, size: f"{name} {size}", {"name": ["a", "b"], "size": [1, 2]}, ahead=False)
    state = {name: getattr(explorer, name) for name in ("controls", "frames", "chosen")}
    opened(page, explorer._esm, explorer._css, {**state, "send": True})
    waiting, height = (
        page.get_by_text("which needs a running kernel"),
        page.locator("#explorer").bounding_box()["height"],
    )
    assert not waiting.is_visible()
    page.locator("select").select_option(index=1)  # which nobody answers
    assert waiting.is_visible() and page.locator("#explorer").bounding_box()["height"] == height
