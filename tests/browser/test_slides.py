"""Every slide of every deck, from a file and without network: it fits, it is typeset, its explorers live."""

import io

import pytest
from PIL import Image

from browser import judges, widgets
from course_lib import lessons, slides

pytestmark = pytest.mark.browser

GO = """(number) => {
  const slide = Reveal.getSlides()[number], {h, v} = Reveal.getIndices(slide);
  Reveal.slide(h, v || 0, 99);  // with all fragments
  return {place: `#/${h}/${v || 0}`, title: (slide.querySelector("h1, h2, h3") || slide).textContent.trim().slice(0, 40)};
}"""
DRAWN = """() => [...document.querySelectorAll("script[type$='widget-view+json']")].every(
  (view) => view.parentNode.querySelector(".am-explorer, .am-prediction"))"""
SMALL = 320, 180
COLUMNS = 6


@pytest.fixture(scope="session")
def decks(tmp_path_factory):
    """The decks by the name of their lesson, made anew."""
    made = slides.build(folder=tmp_path_factory.mktemp("slides"))
    return dict(zip([path.stem for path in lessons.find()], made, strict=True))


def opened(page, deck):
    page.goto(deck.as_uri())
    page.wait_for_function("window.Reveal && Reveal.isReady() && window.MathJax && MathJax.startup", timeout=60_000)
    page.evaluate("MathJax.startup.promise.then(() => document.fonts.ready).then(() => true)")
    page.wait_for_function(DRAWN)


def sheet(pictures):
    """One picture of many small ones."""
    rows = -(-len(pictures) // COLUMNS)
    paper = Image.new("RGB", (COLUMNS * SMALL[0], rows * SMALL[1]), "grey")
    for number, picture in enumerate(pictures):
        small = Image.open(io.BytesIO(picture)).resize(SMALL)
        paper.paste(small, (number % COLUMNS * SMALL[0], number // COLUMNS * SMALL[1]))
    return paper


@pytest.mark.parametrize("name", [path.stem for path in lessons.find()])
def test_every_slide_fits_and_is_typeset(name, decks, page, shots):
    opened(page, decks[name])
    pictures, faults = [], []
    for number in range(page.evaluate("Reveal.getTotalSlides()")):
        slide = page.evaluate(GO, number)
        root = page.evaluate_handle("Reveal.getCurrentSlide()")
        found = judges.overflow(page, root) + judges.untypeset(page, root)
        pictures.append(page.screenshot(type="jpeg"))
        if found:
            (shots / f"deck-{name}-{number:03d}.jpg").write_bytes(pictures[-1])
            faults.append(f"{slide['place']} {slide['title']!r}: {'; '.join(found)}")
    sheet(pictures).save(shots / f"deck-{name}.jpg", quality=70)
    assert not faults, f"{len(faults)} of {len(pictures)} slides:\n" + "\n".join(faults)
