"""Every slide of every deck, from a file and without network: it is filled, fits, is typeset, its explorers live."""

import io
import re

import nbformat
import pytest
from PIL import Image
from playwright.sync_api import expect
from sweeps import sweep

from browser import judges, widgets
from course_lib.tools import lessons, slides

pytestmark = pytest.mark.browser

GO = """(number) => {
  const slide = Reveal.getSlides()[number], {h, v} = Reveal.getIndices(slide);
  Reveal.slide(h, v || 0, 99);  // with all fragments
  slide.tabIndex = -1;
  slide.focus();
  return {place: `#/${h}/${v || 0}`, title: slide.innerText.trim().split("\\n")[0].slice(0, 40)};
}"""
GLIDING = "() => document.getAnimations().filter(({effect}) => effect.target.closest('svg')).length"
PLACE = "() => { const {h, v} = Reveal.getIndices(); return `#/${h}/${v || 0}`; }"
DRAWN = """() => [...document.querySelectorAll("script[type$='widget-view+json']")].every(
  (view) => view.parentNode.querySelector(".am-explorer, .am-prediction"))"""
TYPESET = "(ids) => ids.filter((id) => document.getElementById(`cell-id=${id}`)?.querySelector('mjx-container'))"
NEXT_NOTES = """() => Reveal.getIndices().h > 0
  && Reveal.getCurrentSlide().querySelector("aside.notes")?.textContent.trim().split("\\n")[0]"""
SHOWN = """(explorer) => [explorer.querySelector(".am-frame, .am-painter, .am-stations").textContent,
  ...[...explorer.querySelectorAll(".am-at, [aria-pressed=true]")].map((chosen) => chosen.textContent)]"""
PICTURED = "cell-id=painter"
SMALL = 320, 180
COLUMNS = 6


@pytest.fixture(scope="session")
def decks(tmp_path_factory):
    """The decks by the name of their lesson, freshly built."""
    made = slides.build(folder=tmp_path_factory.mktemp("slides"))
    return dict(zip([path.stem for path in lessons.find()], made, strict=True))


def opened(page, deck):
    page.goto(deck.as_uri())
    page.add_style_tag(content=".fragment { transition: none !important; }")
    page.wait_for_function("window.Reveal && Reveal.isReady() && window.MathJax && MathJax.startup", timeout=300_000)
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


@pytest.mark.parametrize("name", sweep([path.stem for path in lessons.find()], "00_warm_up"))
def test_every_slide_is_filled_fits_is_typeset_and_can_be_read_from_the_last_row(name, decks, page, shots):
    opened(page, decks[name])
    pictures, faults = [], []
    for number in range(page.evaluate("Reveal.getTotalSlides()")):
        slide = page.evaluate(GO, number)
        root = page.evaluate_handle("Reveal.getCurrentSlide()")
        judged = judges.overflow, judges.unfilled, judges.untypeset, judges.unreadable
        found = [fault for judge in judged for fault in judge(page, root)]
        if gliding := page.evaluate(GLIDING):
            found.append(f"{gliding} parts of its drawing are still on their way")
        pictures.append(page.screenshot(type="jpeg"))
        if found:
            (shots / f"deck-{name}-{number:03d}.jpg").write_bytes(pictures[-1])
            faults.append(f"{slide['place']} {slide['title']!r}: {'; '.join(found)}")
    sheet(pictures).save(shots / f"deck-{name}.jpg", quality=70)
    assert not faults, f"{len(faults)} of {len(pictures)} slides:\n" + "\n".join(faults)


def test_each_station_of_the_machine_fits_its_slide(decks, page):
    opened(page, decks["05_transformer_built"])
    page.evaluate(GO, page.evaluate("Reveal.getTotalSlides()") - 1)
    root = page.evaluate_handle("Reveal.getCurrentSlide()")
    stops = root.query_selector_all(".am-map button")
    assert len(stops) == 24
    for stop in stops:
        stop.click()
        assert [*judges.overflow(page, root), *judges.unreadable(page, root)] == [], stop.get_attribute("data-key")


def is_projected(cell):
    return lessons.slide_type(cell) not in ("skip", "notes")


@pytest.mark.parametrize("path", sweep(lessons.find(), "03_scaled_dot_product", named=lambda path: path.stem))
def test_explorers_take_the_keys_and_the_deck_stays(path, decks, page, show):
    opened(page, decks[path.stem])
    found = [page.query_selector_all(f".am-{kind}") for kind in ("explorer", "prediction")]
    assert tuple(map(len, found)) == widgets.saved(path, is_projected)
    for widget in sum(found, []):
        there = page.evaluate(GO, page.evaluate("(e) => Reveal.getSlides().indexOf(e.closest('section'))", widget))
        widgets.reach(page, widget)
        if widget in found[0]:
            widgets.move(page, widget)
        else:
            page.keyboard.press("Space")
            assert widget.query_selector("input:checked")
        assert page.evaluate(PLACE) == there["place"]
        if page.evaluate("(e) => e.closest('[id^=cell-id]').id", widget) == PICTURED:
            show(page, "slide_explorer")


def test_a_vote_shows_what_was_measured_on_its_slide_and_before_each_later_answer(decks, page):
    opened(page, decks["00_warm_up"])
    vote = page.locator(".jp-Cell:has(.am-prediction)").first
    page.evaluate(GO, vote.evaluate("(e) => Reveal.getSlides().indexOf(e.closest('section'))"))
    answer = vote.locator(".measured")
    expect(answer).to_be_hidden()
    for label in vote.locator("label").all()[:2]:
        label.click()
        expect(answer).to_be_visible()
        expect(answer).to_have_text(re.compile(rf"^You predicted: {re.escape(label.inner_text())}\. Measured: .+\.$"))
    assert judges.overflow(page, page.evaluate_handle("Reveal.getCurrentSlide()")) == []
    told = page.locator(f"[data-vote='{vote.get_attribute('id')}']").all_text_contents()
    assert told == [answer.text_content()] * 2


# Of each kind of control one, and whether the arrow keys stay with it.
OF_EACH_SORT = ".am-prediction label", ".am-writer [type=range]", ".am-explorer select", ".am-painter button"
CONTROLS = [
    ("00_warm_up", ".am-prediction label", False),
    ("00_warm_up", ".am-explorer [type=range]", True),
    ("01_rnn_bottleneck", ".am-explorer select", False),
    ("02_bahdanau_attention", ".am-plane [role=slider] .am-hit", True),
    ("02_bahdanau_attention", ".am-translator .am-word", False),
    ("03_scaled_dot_product", ".am-painter [type=checkbox]", False),
    ("03_scaled_dot_product", ".am-painter button", False),
    ("04_multi_head", ".am-heads .am-words button", False),
    ("04_multi_head", ".am-choices .am-marks label", False),
    ("08_language_models", ".am-writer [type=range]", True),
    ("08_language_models", ".am-writer [role=option]", False),
    ("08_language_models", ".am-writer textarea", True),
]
HERE = "() => { const {h, v, f} = Reveal.getIndices(); return `${h} ${v} ${f}`; }"
TURNED = f"(way) => {{ Reveal[way](); return ({HERE})(); }}"
TURNS = {"PageDown": "next", "PageUp": "prev", "ArrowRight": "right", " ": "next"}


@pytest.mark.parametrize("tried", sweep(CONTROLS, *OF_EACH_SORT, named=lambda tried: tried[1]))
def test_after_a_click_on_a_control_the_deck_goes_on(tried, decks, page):
    name, control, own = tried
    opened(page, decks[name])
    clicked = page.locator(control).first
    clicked.wait_for(state="attached")
    slide = clicked.evaluate("(e) => Reveal.getSlides().indexOf(e.closest('section'))")

    def click():
        page.evaluate(GO, slide)
        clicked.click()
        if "select" in control:
            page.keyboard.press("Enter")  # which closes the menu
        return page.evaluate(HERE)

    for key, way in TURNS.items():
        page.evaluate(GO, slide)
        after = page.evaluate(TURNED, way)
        here = click()
        page.keyboard.press(key)
        kept = own and key == "ArrowRight" or "textarea" in control and key == " "
        assert page.evaluate(HERE) == (here if kept else after), key
    here = click()
    page.keyboard.press("Escape")
    assert not page.evaluate("Reveal.isOverview() || document.activeElement.closest('.jupyter-widgets')")
    page.keyboard.press(" ")
    assert page.evaluate(HERE) != here


@pytest.mark.parametrize("path", sweep(lessons.find(), "00_warm_up", named=lambda path: path.stem))
def test_every_formula_is_typeset(path, decks, page):
    opened(page, decks[path.stem])
    cells = nbformat.read(path, as_version=4).cells
    with_formula = [cell.id for cell in cells if is_projected(cell) and has_formula(cell)]
    assert page.evaluate(TYPESET, with_formula) == with_formula


def has_formula(cell):
    return cell.cell_type == "markdown" and re.search(r"\$[^$]+\$", re.sub(r"`[^`]*`", "", cell.source))


def explorer_in(window, number):
    """Goes to the slide that holds a deck's explorer of this number, and gives the explorer."""
    explorer = window.locator(".am-explorer").nth(number)
    explorer.wait_for(state="attached")
    window.evaluate("(e) => { const {h, v} = Reveal.getIndices(e.closest('section')); Reveal.slide(h, v || 0, 99); }",
                    explorer.element_handle())  # fmt: skip
    return explorer


@pytest.mark.parametrize(
    "explorer",
    sweep(
        [
            ("00_warm_up", 0),
            ("02_bahdanau_attention", 0),
            ("02_bahdanau_attention", 1),
            ("03_scaled_dot_product", 0),
            ("03_scaled_dot_product", 2),
            ("04_multi_head", 1),
        ],
        "00_warm_up 0",
        "02_bahdanau_attention 0",
        named=lambda explorer: "{} {}".format(*explorer),
    ),
)
def test_what_is_moved_in_the_speaker_view_moves_on_the_projector_and_back(explorer, decks, page):
    name, number = explorer
    opened(page, decks[name])
    with page.expect_popup() as popup:
        page.keyboard.press("s")
    popup.value.locator("#current-slide iframe").wait_for()
    speaker = next(frame for frame in popup.value.frames if "upcoming" not in frame.url and frame.parent_frame)
    speaker.wait_for_function("window.Reveal && Reveal.isReady()")
    speaker.wait_for_function(DRAWN)
    for here, there in ((speaker, page), (page, speaker)):
        moved, follows = explorer_in(here, number), explorer_in(there, number)
        before = there.evaluate(widgets.PICTURE, follows.element_handle())
        if moved.locator("[role=slider]").count():
            moved.locator("[role=slider]").last.press("ArrowUp")
            here.wait_for_timeout(500)  # it glides
        elif moved.locator("[type=range]:visible").count():
            value = moved.locator("[type=range]").first.input_value()
            moved.locator("[type=range]").first.press("ArrowLeft" if int(value) else "ArrowRight")
        else:
            moved.locator("[type=checkbox], button:visible").nth(int(there is speaker)).click()
        there.wait_for_function(widgets.CHANGED, arg=[follows.element_handle(), before])
        assert here.evaluate(SHOWN, moved.element_handle()) == there.evaluate(SHOWN, follows.element_handle())


def test_the_speaker_sees_notes_and_plan(decks, page, shoot):
    opened(page, decks["01_rnn_bottleneck"])
    with page.expect_popup() as popup:
        page.keyboard.press("s")
    speaker = popup.value
    notes = speaker.locator(".speaker-controls-notes .value")
    notes.get_by_text("The plan:").wait_for()
    assert notes.locator("table tr").count() > 5
    shoot(speaker, "slides-speaker")
    while not (told := page.evaluate(NEXT_NOTES)):
        page.evaluate("Reveal.next()")  # a key would turn the slide later than the loop looks
    expect(notes).to_contain_text(told)
