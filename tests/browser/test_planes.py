"""A query among keys, on a page of its own: what is drawn is what NumPy computes, and it follows hand and keys."""

import numpy as np
import pytest

from course_lib import widgets

pytestmark = pytest.mark.browser

WORDS = ["the", "small", "cat"]
KEYS = np.array([[-0.6, 0.8], [0.0, -1.0], [-0.8, -0.5]])
VALUES = np.array([[-0.9, -0.4], [0.3, 0.95], [0.95, -0.3]])
PAGE = """<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><title>Plane</title>
<style>body { margin: 8px; font: 16px sans-serif; }</style><div style="min-height: 2000px">EXPLORER</div><script>
window.told = [];
document.addEventListener("am-told", ({ detail }) => told.push(structuredClone(detail)));
</script></html>"""
# An arrow lies on the axis of its group, which is turned; its tip is the head's first point.
DRAWN = """() => {
  const tip = (plane, place) => {
    const arrow = [...document.querySelectorAll("figure")].at(plane).querySelectorAll("svg > g")[place];
    const turn = (-parseFloat(arrow.getAttribute("transform").slice(7)) * Math.PI) / 180;
    const length = parseFloat(arrow.querySelector("polygon").getAttribute("points")) / 80;
    return [length * Math.cos(turn), length * Math.sin(turn)];
  };
  return {
    weights: [...document.querySelectorAll("tbody tr")].map((row) => Number(row.style.getPropertyValue("--weight"))),
    output: tip(-1, 3), keys: [0, 1, 2].map((i) => tip(0, i)), query: (told.at(-1) ?? state).query,
  };
}"""
QUERY = "[role=slider][aria-label^=query]"


@pytest.fixture
def drawn(page):
    """Shows the explorer and gives a function that reads what is drawn."""

    def show(explorer, on=page):
        alive = explorer.in_page("explorer").replace("\nconst state = ", "\nconst state = window.state = ")
        on.set_content(PAGE.replace("EXPLORER", alive))
        on.wait_for_selector("tbody tr")
        return lambda: on.evaluate(DRAWN)

    return show


def explorer(two=True, query=(2, 120)):
    return widgets.QueryInThePlane(WORDS, KEYS, VALUES if two else None, query, ["small"] if two else [])


def assert_is_attention(found, values):
    """Weights and output belong to the keys as they are drawn and to the query."""
    length, degrees = found["query"]
    angle = np.radians(degrees)
    keys = np.array(found["keys"])
    powers = np.exp(keys @ (length * np.array([np.cos(angle), np.sin(angle)])))
    weights = powers / powers.sum()
    np.testing.assert_allclose(found["weights"], weights, atol=1e-6)
    np.testing.assert_allclose(found["output"], weights @ (keys if values is None else values), atol=1e-6)


def middle(page, selector):
    """Of the end of an arrow that can be held."""
    box = page.locator(f"{selector} .am-grip").bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def glides_until(there, page, read):
    """Waits until the query is there, and returns it; on a busy machine a glide may pause on its way."""
    for _ in range(600):
        if there(query := read()["query"]):
            return query
        page.wait_for_timeout(100)
    raise AssertionError(f"the query is still at {query}")


@pytest.mark.parametrize("two", [True, False])
def test_what_is_drawn_is_numpys_attention_in_any_state(two, page, drawn):
    values, read = VALUES if two else None, drawn(explorer(two))
    random = np.random.default_rng(0)
    for _ in range(30):
        lengths, angles = random.uniform(0, 1, 3), random.uniform(0, 2 * np.pi, 3)
        keys = np.stack([lengths * np.cos(angles), lengths * np.sin(angles)], 1)
        state = {"query": [random.uniform(0, 4), random.uniform(0, 360)], "key_vectors": keys.tolist()}
        page.evaluate(
            "(detail) => document.querySelector('.am-tells').dispatchEvent(new CustomEvent('am-take', { detail }))",
            state,
        )
        found = read()
        np.testing.assert_allclose(found["keys"], keys, atol=1e-6)
        assert found["query"] == state["query"]
        assert_is_attention(found, values)
    assert page.evaluate("told.length") == 0  # what is taken is not told again


@pytest.mark.parametrize(("selector", "name"), [(QUERY, "query"), ("[aria-label^='key of small']", "key_vectors")])
def test_the_mouse_drags_an_arrow_and_its_state_is_kept_and_told(selector, name, page, drawn):
    read = drawn(explorer())
    before = read()
    page.mouse.move(*middle(page, selector))
    page.mouse.down()
    centre = page.locator("svg").first.bounding_box()
    right, up = centre["x"] + centre["width"] / 2 + 60, centre["y"] + centre["height"] / 2 - 60
    page.mouse.move(right, up, steps=5)
    assert page.evaluate("[told.length, state.query]") == [5, [2, 120]]
    assert_is_attention(read(), VALUES)
    page.mouse.up()
    assert np.abs(np.subtract(middle(page, selector), (right, up))).max() < 2
    told = page.evaluate("[told.at(-1), { query: (told.at(-1) ?? state).query, key_vectors: state.key_vectors }]")
    assert told[0] == told[1] and told[0][name] != {"query": [2, 120], "key_vectors": KEYS.tolist()}[name]
    other = {"query": "keys", "key_vectors": "query"}[name]
    assert read()[other] == before[other]
    page.mouse.move(right + 50, up)  # nothing is held
    assert page.evaluate("told.length") == 5


def test_no_arrow_can_be_drawn_out_of_the_plane(page, drawn):
    read = drawn(explorer())
    page.mouse.move(*middle(page, QUERY))
    page.mouse.down()
    page.mouse.move(1200, 10)
    page.mouse.up()
    assert read()["query"][0] == 4


def test_keys_turn_and_lengthen_and_the_arrow_glides(page, drawn):
    read = drawn(explorer())
    page.locator(QUERY).focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")  # before the first has ended
    glides_until(lambda query: query == [2, 130], page, read)
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowRight")
    glides_until(lambda query: query == [2.25, 125], page, read)
    assert page.evaluate("told.length") > 4 and page.evaluate("state.query") == [2.25, 125]
    assert_is_attention(read(), VALUES)
    said = page.locator(QUERY).get_attribute("aria-valuetext")
    assert said == "125 degrees, 2.25 long; weights: " + ", ".join(
        f"{word} {weight:.0%}" for word, weight in zip(WORDS, read()["weights"], strict=True)
    )
    page.wait_for_function("document.querySelector('[aria-live]').textContent.startsWith('weights: the')")


def test_an_arrow_made_as_short_as_it_can_be_keeps_its_direction(page, drawn):
    page.emulate_media(reduced_motion="reduce")
    read = drawn(explorer())
    for selector in (QUERY, "[aria-label^='key of small']"):
        page.locator(selector).focus()
        for _ in range(17):
            page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowUp")
    assert read()["query"] == [0.25, 120]
    x, y = read()["keys"][1]
    assert abs(x) < 1e-9 and -0.2 < y < 0
    assert_is_attention(read(), VALUES)


def test_a_click_sends_the_query_there(page, drawn):
    read = drawn(explorer())
    box = page.locator("svg").first.bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2 + 50, box["y"] + box["height"] / 2)
    length, degrees = glides_until(lambda query: min(query[1], 360 - query[1]) < 1, page, read)
    assert 0 < length < 4
    assert page.evaluate("told.length") > 1
    assert page.locator(QUERY).evaluate("(query) => query === document.activeElement")


def test_nothing_glides_where_motion_is_unwanted(page, drawn):
    page.emulate_media(reduced_motion="reduce")
    read = drawn(explorer())
    page.locator(QUERY).focus()
    page.keyboard.press("ArrowLeft")
    assert read()["query"] == [2, 125]
    assert page.evaluate("told.length") == 1


def test_hovering_and_focusing_show_numbers(page, drawn):
    drawn(explorer())
    numbers = page.locator(".am-numbers")
    assert numbers.inner_text().startswith("query (−1.00,\xa01.73), 2.00 long · output (")
    page.locator("tbody tr").nth(1).focus()
    assert numbers.inner_text().startswith(
        "small: key (0.00,\xa0−1.00), value (0.30,\xa00.95) · score −1.73, weight 0.0"
    )
    page.locator("svg text", has_text="the").first.hover()
    assert numbers.inner_text().startswith("the: key (−0.60,\xa00.80)")


def test_a_finger_drags_an_arrow_and_scrolls_the_page_elsewhere(browser, drawn):
    context = browser.new_context(viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True)
    page = context.new_page()
    read = drawn(explorer(), page)
    session = context.new_cdp_session(page)

    def swipe(x, y):
        for step in range(11):
            points = [{"x": x, "y": y - 8 * step}]
            kind = "touchMove" if step else "touchStart"
            session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
            page.wait_for_timeout(20)
        session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        page.wait_for_timeout(200)

    swipe(*middle(page, QUERY))
    assert page.evaluate("scrollY") == 0
    length, degrees = read()["query"]
    assert length > 2 and degrees < 120
    before = read()
    box = page.locator("svg").first.bounding_box()
    swipe(box["x"] + 15, box["y"] + box["height"] - 15)
    assert page.evaluate("scrollY") > 20
    assert read() == before
    context.close()


def test_words_share_the_ring_where_keys_point_the_same_way(page, drawn):
    drawn(widgets.QueryInThePlane(WORDS, np.array([[1.0, 0.0]] * 3)))
    boxes = [page.locator("svg text").nth(i).bounding_box() for i in range(3)]
    for i, one in enumerate(boxes):
        for other in boxes[:i]:
            beside = one["x"] >= other["x"] + other["width"] or other["x"] >= one["x"] + one["width"]
            assert beside or abs(one["y"] - other["y"]) >= 0.8 * min(one["height"], other["height"])
