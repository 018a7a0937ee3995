"""Times explorers in a reader's browser, for the part of the verb `bench` that needs Chromium."""

import contextlib
import math
import statistics
import tempfile
from collections.abc import Iterator
from pathlib import Path

from course_lib.corpus import toy_french
from course_lib.tools import slides, web

TYPE = "(line, text) => { line.value = text; line.dispatchEvent(new Event('input', { bubbles: true })); }"
# Times from the first listener of a move to the last; the explorer's work is in between.
LISTEN = """(explorer) => {
  window.times = [];
  let began;
  window.addEventListener("pointermove", () => (began = performance.now()), true);
  window.addEventListener("pointermove", () => times.push(performance.now() - began));
  const { h, v } = Reveal.getIndices(explorer.closest("section"));
  Reveal.slide(h, v || 0, 99);
}"""


@contextlib.contextmanager
def deck_in_chromium(lesson: str):
    """Yields a page with a freshly built deck of a lesson, or None if no browser is found."""
    chromium = web.chromium()
    if chromium is None:
        yield None
        return
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        (deck,) = slides.build([lesson], Path(folder))
        with playwright.chromium.launch(executable_path=chromium) as browser:
            page = browser.new_page(viewport={"width": 1280, "height": 720})
            page.goto(deck.as_uri())
            yield page


def drag(page, moves: int = 300) -> list[float]:
    """Milliseconds of script per move, while the query of lesson 3 is dragged in a circle."""
    plane = page.locator(".am-plane").first
    plane.wait_for(state="attached")
    plane.evaluate(LISTEN)
    around, grip = (
        {side: box[side] + box[size] / 2 for side, size in (("x", "width"), ("y", "height"))}
        for box in (plane.locator(each).first.bounding_box() for each in ("svg", "[aria-label^=query] .am-grip"))
    )
    page.mouse.move(**grip)
    page.mouse.down()
    for move in range(moves):
        page.mouse.move(around["x"] + 70 * math.cos(move / 20), around["y"] + 70 * math.sin(move / 20))
    return page.evaluate("times")


def translate(page, longest: int = 20, of_each_length: int = 20) -> list[float]:
    """Milliseconds per sentence of at most 20 words, in lesson 6's translator."""
    line = page.locator(".am-translator input[type=text]")
    line.wait_for(state="attached")
    times, test = [], toy_french().test
    for pair in (pair for (_, most), pairs in test.items() if most <= longest for pair in pairs[:of_each_length]):
        line.evaluate(TYPE, " ".join(pair.source))
        times.append(float(page.locator(".am-translator").get_attribute("data-milliseconds")))
    return times


def explorers() -> Iterator[str]:
    """Yields a line for each explorer that is timed."""
    for lesson, what in {"03_scaled_dot_product": drag, "06_transformer_trained": translate}.items():
        with deck_in_chromium(lesson) as page:
            if page is None:
                yield f"{lesson} was not timed: no browser was found."
                continue
            times = what(page)
        yield f"{what.__doc__}\nmedian {statistics.median(times):.1f}, highest {max(times):.1f}, of {len(times)}"
