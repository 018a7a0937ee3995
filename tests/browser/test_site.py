"""The site in a browser: for every reader, on every width, with a pointer or keys, from a server or from a folder."""

import base64
import functools
import http.server
import re
import threading
from pathlib import Path

import pytest
from matplotlib import font_manager
from sweeps import sweep

from browser import judges
from browser.conftest import watched
from browser.widgets import in_every_state
from course_lib import claims
from course_lib.curriculum import LESSONS
from course_lib.tools import lessons, site, web

pytestmark = pytest.mark.browser

AXE = web.PACKAGES / "axe-core" / "axe.min.js"
CARDS = "section:has(> .claim)"
DRAWN = """() =>
  document.querySelectorAll("script[type='application/vnd.jupyter.widget-view+json']").length ===
    document.querySelectorAll(".cell_output :is(.am-explorer, .am-prediction)").length &&
  [...document.querySelectorAll(".math")].every((formula) => formula.querySelector("mjx-container"))"""

PAGES_BESIDE = ".sidebar-drawer"
# Code has the same colours everywhere; to look at each word of it would take most of the time.
FEW_BLOCKS = "document.querySelectorAll('.highlight').forEach((block, number) => number > 4 && block.remove())"


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *told):
        pass


@pytest.fixture(scope="session")
def address(built_site):
    """Where the built site is served."""
    handler = functools.partial(Quiet, directory=built_site)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="session")
def pages(built_site):
    """Every page but the decks."""
    return [file.relative_to(built_site).as_posix() for file in site.built_pages(built_site)]


# Most tests visit the site from a server; what also works from a folder is as good from there.
PLACES = {False: "from a folder", True: "from a server"}
FROM_A_FOLDER = pytest.mark.parametrize("served", sweep(PLACES, "from a folder", named=PLACES.get))


# The choice is remembered from lesson to lesson.
WHOLE = """() => {
  const button = document.querySelector(".view button");
  if (button?.textContent === "Show everything") button.click();
}"""
MOVING = "document.getAnimations().map((animation) => `moves: ${animation.effect.target.outerHTML.slice(0, 160)}`)"


def visit(page, address, name, whole=False):
    """Opens a page; with `whole`, a lesson's folds as well."""
    page.goto(f"{address}/{name}")
    page.wait_for_function(DRAWN)
    if whole:
        page.evaluate(WHOLE)


# ---- every page ----


def serious(page, but=(), **options):
    """What axe-core finds on a page, but for these parts of it, that is serious or critical."""
    if page.evaluate("!window.axe"):
        page.add_script_tag(path=AXE)
    look = "([exclude, options]) => axe.run({ exclude }, { resultTypes: ['violations'], ...options })"
    found = page.evaluate(look, [list(but), options])["violations"]
    return [
        f"{rule['id']}: {node['html'][:160]}"
        for rule in found
        if rule["impact"] in ("serious", "critical")
        for node in rule["nodes"]
    ]


# One page of each kind.
KINDS = (
    "index", "machine", "notebooks/02_bahdanau_attention", "notebooks/exercises/03_scaled_dot_product",
    "glossary/additive-score", "glossary/index", "glossary/claims", "glossary/play", "api/attention", "LECTURERS",
    "INSTRUCTORS", "search", "de/notebooks/01_rnn_bottleneck", "de/notebooks/exercises/01_rnn_bottleneck",
)  # fmt: skip


def faults_of(browser, address, pages):
    """What is wrong with each page, by light, in the dark and on a phone.

    Pages of one folder have the same list of pages beside the text: it is looked at once for each.
    """
    seen = set()
    wrong = {"light": {}, "dark": {}, "phone": {}}
    with watched(browser) as page:
        for name in pages:
            page.set_viewport_size({"width": 1280, "height": 720})
            page.emulate_media(color_scheme="light", reduced_motion="reduce")  # what fades in is pale for a while
            visit(page, address, name, whole=True)
            moving = page.evaluate(MOVING)
            page.evaluate(FEW_BLOCKS)
            but = [PAGES_BESIDE] if Path(name).parent in seen else []
            seen.add(Path(name).parent)
            wrong["light"][name] = moving + serious(page, but)
            page.emulate_media(color_scheme="dark")
            wrong["dark"][name] = serious(page, but, runOnly="color-contrast")  # all else is the same
            page.set_viewport_size({"width": 390, "height": 844})
            wrong["phone"][name] = ["scrolls sideways"] if too_wide(page) else []
    return wrong


@pytest.mark.parametrize("which", sweep(["one of each kind", "all"], "one of each kind"))
def test_no_page_shuts_a_reader_out(which, browser, address, pages):
    wrong = faults_of(browser, address, pages if which == "all" else [f"{name}.html" for name in KINDS])
    assert [(where, name, found) for where, those in wrong.items() for name, found in those.items() if found] == []


def test_what_cannot_be_read_in_the_dark_is_seen(page, address):
    page.emulate_media(reduced_motion="reduce")  # a word that fades in is pale for a while
    visit(page, address, "index.html")
    page.add_style_tag(content="article p { color: #333 }")
    assert serious(page, runOnly="color-contrast") == []
    page.emulate_media(color_scheme="dark")
    assert serious(page, runOnly="color-contrast") != []


DAMAGE = {
    "svg-img-alt": "document.querySelector('svg.figure').removeAttribute('aria-label')",
    "color-contrast": "document.querySelector('article h1').style.color = '#ccc'",
    "label": "document.querySelector('.am-controls input').removeAttribute('aria-label')",
}


def test_what_shuts_a_reader_out_is_seen(page, address):
    visit(page, address, "notebooks/01_rnn_bottleneck.html", whole=True)
    for damage in DAMAGE.values():
        page.evaluate(damage)
    assert {found.split(":")[0] for found in serious(page)} == DAMAGE.keys()


def too_wide(page):
    boxes = "[document.documentElement, document.querySelector('.content')]"  # the second scrolls by itself
    return page.evaluate(f"{boxes}.some((box) => box?.scrollWidth > innerWidth)")


def test_a_page_that_scrolls_sideways_is_seen(page, address):
    page.set_viewport_size({"width": 390, "height": 844})
    visit(page, address, "index.html")
    page.evaluate("document.querySelector('article p').style.width = '500px'")
    assert too_wide(page)


def test_hints_have_room_around_them(page, address):
    visit(page, address, "notebooks/exercises/02_bahdanau_attention.html")
    below = page.locator("article section > details + *")
    gap = "(each) => each.getBoundingClientRect().top - each.previousElementSibling.getBoundingClientRect().bottom"
    gaps = below.evaluate_all(f"(below) => below.map({gap})")
    assert len(gaps) > 5 and min(gaps) >= 4


TWO_FRAMES = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
WIDTHS = {"a phone and a laptop": (360, 1280), "every width": range(360, 1921, 40)}


@pytest.mark.parametrize("widths", sweep(WIDTHS, "a phone and a laptop"))
@pytest.mark.parametrize("name", KINDS)
def test_nothing_is_out_of_reach_on_any_width(page, address, name, widths):
    visit(page, address, f"{name}.html", whole=True)
    page.evaluate(FEW_BLOCKS)
    page.wait_for_load_state("networkidle")  # formulas have their letters
    wrong = {}
    for width in WIDTHS[widths]:
        page.set_viewport_size({"width": width, "height": 720})
        page.evaluate(TWO_FRAMES)  # in the first the page hears of its new width
        wrong[width] = judges.out_of_reach(page)
    assert {width: found for width, found in wrong.items() if found} == {}


# ---- the explorers of all lessons, in the light, in the dark and on a phone ----


@pytest.mark.parametrize("lesson", sweep([path.stem for path in lessons.find()], "00_warm_up"))
def test_an_explorer_can_be_read_in_every_state(page, address, lesson):
    visit(page, address, f"notebooks/{lesson}.html", whole=True)
    wrong = {"light": in_every_state(page, judges.HARD_TO_READ)}
    page.emulate_media(color_scheme="dark")
    wrong["dark"] = in_every_state(page, judges.HARD_TO_READ)
    page.set_viewport_size({"width": 360, "height": 740})
    wrong["phone"] = in_every_state(page, judges.HARD_TO_READ, judges.UNSIGNED)
    assert {where: found for where, found in wrong.items() if found} == {}


def test_what_cannot_be_read_in_a_later_state_is_seen(page, address):
    visit(page, address, "notebooks/00_warm_up.html")
    page.add_style_tag(content=".am-frame:has([aria-label*='after 8 steps']) text { fill: #ddd }")
    found = in_every_state(page, judges.HARD_TO_READ)
    assert found and all(fault.startswith("steps at 8: ") for fault in found)


# ---- what moves ----

# Each control at its ends and between them, or pressed twice: how far that moves the control itself on the page.
MOVED = """async () => {
  const found = [], drawn = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  const place = (control) => {
    const { x, y, width, height } = control.getBoundingClientRect();
    return [x + scrollX, y + scrollY, width, height];
  };
  for (const control of document.querySelectorAll(".am-explorer :is(input, select, button, [role=option])")) {
    if (control.textContent.startsWith("copy")) continue;  // which asks for the clipboard
    if (control.closest(".am-map")) continue;  // which leads to another place of the page
    if (!control.isConnected || !control.getClientRects().length) continue;
    const before = place(control), [name, last] = control.type === "range" ? ["value", Number(control.max)]
      : control.localName === "select" ? ["selectedIndex", control.length - 1] : [];
    for (const value of name ? [0, last >> 1, last, control[name]] : [0, 1]) {
      if (name) {
        control[name] = value;
        for (const kind of ["input", "change"]) control.dispatchEvent(new Event(kind, { bubbles: true }));
      } else control.click();
      await drawn();
      const moved = Math.max(...place(control).map((number, i) => Math.abs(number - before[i])));
      if (control.isConnected && moved > 1)
        found.push(`${control.ariaLabel || control.textContent} at ${value}: ${moved}`);
    }
  }
  return found;
}"""
SHIFTED = """() => {
  globalThis.shifted = 0;
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) shifted += value;
  }).observe({ type: "layout-shift", buffered: true });
}"""


@pytest.mark.parametrize("width", sweep([390, 1280], "1280"))
@pytest.mark.parametrize("lesson", sweep([path.stem for path in lessons.find()], "08_language_models"))
def test_no_control_moves_while_it_is_used(page, address, lesson, width):
    page.set_viewport_size({"width": width, "height": 844})
    page.emulate_media(reduced_motion="reduce")
    visit(page, address, f"notebooks/{lesson}.html", whole=True)
    page.wait_for_function("!document.querySelector('.am-waiting')")
    assert page.evaluate(MOVED) == []


SIZES = {(1280, 720): "a laptop", (390, 844): "a phone"}
on_a_phone = pytest.mark.parametrize("size", sweep(SIZES, "a phone", named=SIZES.get))
LATE = "**/_images/*.svg", "**/widgets.js*", "**/models/*.js"


@on_a_phone
@pytest.mark.parametrize("name", ["index", "notebooks/08_language_models"])
def test_a_page_keeps_its_layout_while_it_is_loaded(page, address, name, size):
    """Pictures, scripts and models come one after the other, each when the page has been drawn without it."""
    held = []
    for late in LATE:
        page.route(late, lambda route: held.append(route))
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.add_init_script(f"({SHIFTED})()")
    page.goto(f"{address}/{name}.html", wait_until="commit")
    page.wait_for_selector(".translator, .cell_output", state="attached")
    while held or page.locator(".am-in-page:not(.am-waiting) .am-frame").count() == 0:
        page.evaluate(TWO_FRAMES)
        if held:
            held.pop(0).continue_()
    page.unroute_all()
    for route in held:  # which was asked for only now
        route.continue_()
    page.wait_for_load_state("networkidle")
    page.evaluate(TWO_FRAMES)
    assert page.evaluate("shifted") <= 0.05


@pytest.mark.parametrize("lesson", sweep([path.stem for path in lessons.find()], "05_transformer_built"))
def test_the_words_of_a_figure_can_be_read_on_a_phone_and_what_scrolls_is_reached_by_keys(page, address, lesson):
    page.set_viewport_size({"width": 390, "height": 844})
    visit(page, address, f"notebooks/{lesson}.html", whole=True)
    page.evaluate(TWO_FRAMES)
    sizes = page.locator(".figure text:not(:has(tspan))").evaluate_all(
        """(texts) => texts.map((text) => {
          const { a, b } = text.getScreenCTM();  // a word may be turned
          return parseFloat(getComputedStyle(text).fontSize) * Math.hypot(a, b);
        })"""
    )
    assert len(sizes) > 50 and min(size for size in sizes if size > 0) > 10.9
    kept = """(figures) => figures.map((figure) => figure.closest(".output")).filter((box) => box.clientWidth)
      .map((box) => box.scrollWidth <= box.clientWidth || box.tabIndex === 0 && box.classList.contains("scrolls"))"""
    assert set(page.locator(".figure").evaluate_all(kept)) == {True}


@pytest.mark.parametrize("finger", [False, True], ids=["a pointer", "a finger"])
def test_a_figure_tells_the_value_that_is_pointed_at(browser, address, finger):
    context = browser.new_context(has_touch=finger, viewport={"width": 390 if finger else 1280, "height": 844})
    page = context.new_page()
    visit(page, address, "notebooks/01_rnn_bottleneck.html", whole=True)
    figure, card = page.locator('.figure:has([id^="cell-01-cliff-trained"])'), page.locator("#value-card")
    figure.scroll_into_view_if_needed()
    point = page.touchscreen.tap if finger else page.mouse.move
    for curve, mark in ((0, 1), (3, 0)):
        told, x, y = figure.evaluate(
            """(figure, [curve, mark]) => {
              const name = `state ${[32, 64, 128, 256][curve]}\\n`, told = JSON.parse(figure.dataset.told);
              const [left, top, , , words] = told.filter((box) => box[4].startsWith(name))[mark];
              const { x, y } = new DOMPoint(left, top).matrixTransform(figure.getScreenCTM());
              return [words, x, y];
            }""",
            [curve, mark],
        )
        point(x + 4, y - 4)
        assert told in card.inner_text().split("\n\n") and "correct sentences: " in told
        ring = page.locator(".ring").bounding_box()
        assert abs(ring["x"] + ring["width"] / 2 - x) < 2 and abs(ring["y"] + ring["height"] / 2 - y) < 2
    point(5, 5)
    assert not card.is_visible() and page.locator(".ring").count() == 0
    context.close()


@FROM_A_FOLDER
def test_an_explorer_lives_without_a_kernel(page, address, built_site, served, shoot):
    visit(page, address if served else built_site.as_uri(), "notebooks/01_rnn_bottleneck.html")
    explorer = page.locator(".am-explorer").first
    before = explorer.locator(".am-frame").inner_html()
    explorer.locator("input[type=range]").first.press("ArrowRight")
    assert explorer.locator(".am-frame").inner_html() != before
    shoot(page, "site-explorer")


def test_a_cell_that_is_linked_to_is_seen(page, address):
    visit(page, address, "glossary/claims.html")
    page.locator('a[href$="#cell-02-verdict-n9"]').click()
    page.wait_for_function(DRAWN)
    page.wait_for_load_state("networkidle")
    assert 0 <= page.locator("#cell-02-verdict-n9").bounding_box()["y"] < 720


@FROM_A_FOLDER
def test_a_link_to_a_term_has_a_card(page, address, built_site, served, shoot):
    visit(page, address if served else built_site.as_uri(), "notebooks/02_bahdanau_attention.html")
    card, link = page.locator("#term-card"), page.locator('article a[href$="glossary/encoder-state.html"]').first
    assert not card.is_visible()
    link.hover()
    card.wait_for()
    assert "The encoder state" in card.inner_text()
    card.locator("mjx-container").first.wait_for()  # h_i
    shoot(page, "site-card")
    card.hover()
    page.wait_for_timeout(400)
    assert card.is_visible()
    page.keyboard.press("Escape")
    assert not card.is_visible()


def test_the_keyboard_opens_and_closes_a_card(page, address):
    visit(page, address, "INSTRUCTORS.html")
    visit(page, address, "glossary/query.html")
    card, link = page.locator("#term-card"), page.locator('article a[href="key.html"]').first
    page.keyboard.press("Tab")  # from here on the browser shows where the focus is
    link.focus()
    assert "A key is" in card.inner_text()
    assert link.get_attribute("aria-describedby") == "term-card"
    page.keyboard.press("Escape")
    assert not card.is_visible() and link.get_attribute("aria-describedby") is None
    link.focus()
    page.keyboard.press("Tab")
    assert "A value is" in card.inner_text()


def test_a_card_has_its_formula_where_the_page_has_none(page, address):
    visit(page, address, "index.html")
    assert page.evaluate("window.MathJax === undefined")
    page.evaluate("document.querySelector('article li a').href = 'glossary/query.html'")
    page.locator("article li a").first.hover()
    page.locator("#term-card mjx-container").first.wait_for()


def test_a_finger_opens_no_card(browser, address):
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True)
    page = context.new_page()
    visit(page, address, "glossary/query.html")
    page.evaluate("document.addEventListener('click', (event) => event.preventDefault())")
    page.locator('article a[href="key.html"]').first.tap()
    page.wait_for_timeout(400)
    assert not page.locator("#term-card").is_visible()
    context.close()


def test_the_first_page_shows_the_lessons(page, address, shoot, show):
    visit(page, address, "index.html")
    assert page.locator("#lessons h3").count() == len(LESSONS)
    page.wait_for_function("document.querySelector('.am-word') && !document.querySelector('.am-writing')")
    page.wait_for_function("getComputedStyle(document.querySelector('.words span')).opacity === '1'")
    shoot(page, "site-home")
    show(page, "site_home")


@pytest.mark.parametrize("size", [(1280, 720), (390, 844)], ids=["a laptop", "a phone"])
def test_the_first_screen_has_a_sentence_two_buttons_and_something_to_move(page, address, size, shoot):
    page.set_viewport_size({"width": size[0], "height": size[1]})
    visit(page, address, "index.html")
    bottom = "(box) => box.getBoundingClientRect().bottom"
    for wanted in ("article h1", ".story > .words"):
        assert 0 < page.locator(wanted).evaluate(bottom) < size[1] / 2
    for wanted in (".turns", ".start a >> nth=0", ".start a >> nth=1"):
        assert 0 < page.locator(wanted).bounding_box()["y"] < size[1] - 20
    assert page.locator(".start a").all_inner_texts() == ["Start here", "For lecturers"]
    assert page.locator(".translator .am-explorer").bounding_box()["y"] < size[1] - 300
    shoot(page, f"site-first-screen-{size[0]}")


def told(page):
    """What the first page's translator shows: its English, its French, and the switches that are pressed."""
    lines = [page.locator(f".am-line:lang({language}) .am-word > span").all_inner_texts() for language in ("en", "fr")]
    return *(" ".join(line) for line in lines), page.locator(".turns [aria-pressed=true]").all_inner_texts()


def test_the_first_page_plays_its_story_by_itself_and_stops(page, address, shoot):
    page.clock.install()
    visit(page, address, "index.html")
    page.locator(".am-word").first.wait_for()
    seen = []
    for seconds in (1, 7, 8, 60):
        page.clock.run_for(1000 * seconds)
        seen.append(told(page))
        shoot(page, f"site-story-{len(seen)}")
    (tired, il, first), (wide, elle, second), (cow, still_il, third), end = seen
    assert " il " in il and " elle " in elle and " il " in still_il and "la vache" in still_il
    assert (first, second, third) == (["tired", "chicken"], ["wide", "chicken"], ["tired", "cow"]) and end == seen[2]
    assert [text.split()[-1] for text in (tired, wide, cow)] == ["tired", "wide", "tired"]
    assert page.locator(".play").inner_text() == "Replay"


def test_a_visitor_may_stop_the_story_and_change_its_words(page, address):
    page.clock.install()
    visit(page, address, "index.html")
    page.locator(".am-word").first.wait_for()
    page.clock.run_for(1000)
    page.get_by_role("button", name="Pause").click()
    before = told(page)
    page.clock.run_for(60_000)
    assert told(page) == before
    page.get_by_role("button", name="cow").click()
    assert "la vache" in told(page)[1] and told(page)[2] == ["tired", "cow"]
    page.get_by_role("button", name="Your own sentence").click()
    page.get_by_label("English sentence").fill("the black cat sees the dog")
    page.clock.run_for(60_000)
    assert told(page)[1] == "le chat noir voit le chien" and told(page)[2] == []


def test_the_story_waits_where_motion_is_unwanted_and_at_a_shared_address(page, address):
    page.clock.install()
    visit(page, address, 'index.html?sentence="the cow sleeps"')
    page.locator(".am-word").first.wait_for()
    page.clock.run_for(60_000)
    assert told(page)[0] == "the cow sleeps"
    page.emulate_media(reduced_motion="reduce")
    visit(page, address, "index.html")
    page.locator(".am-word").first.wait_for()
    page.clock.run_for(60_000)
    assert told(page)[0].endswith("tired") and told(page)[-1] == ["tired", "chicken"]
    assert page.locator(".story.playing").count() == 1  # so its arcs are those that the words tell of
    page.get_by_role("button", name="Play").click()
    page.clock.run_for(7_000)
    assert told(page)[0].endswith("wide")


@pytest.mark.parametrize("lesson", sweep([path.stem for path in lessons.find()], "03_scaled_dot_product"))
def test_a_lesson_begins_with_its_question_and_an_explorer(page, address, lesson, shoot):
    visit(page, address, f"notebooks/{lesson}.html")
    question = page.locator("article h1 + p strong").bounding_box()
    explorer = page.locator(".cell_output .am-explorer").first.bounding_box()
    assert question["y"] < explorer["y"] < 360
    assert page.locator(".view").bounding_box()["y"] > explorer["y"] + explorer["height"]  # the words come after
    shoot(page, f"site-{lesson}")


# ---- the reading view ----

LESSON = "notebooks/02_bahdanau_attention.html"
VOTE = "#cell-02-train-prediction"
ANSWER = ".answer[data-vote='cell-02-train-prediction']"
# The folds of a lesson, but not what an explorer folds by itself.
FOLDS = "[...document.querySelectorAll('article details')].filter((fold) => !fold.closest('.am-explorer'))"
ALL_OPEN, ALL_SHUT = f"{FOLDS}.every((fold) => fold.open)", f"{FOLDS}.every((fold) => !fold.open)"
# Code, prints and fine print that can be seen; explorers hold none.
UNFOLDED = """() => [...document.querySelectorAll("article .cell pre, article details > :not(summary)")]
  .filter((box) => !box.closest(".am-explorer, .am-still") && box.checkVisibility({ contentVisibilityAuto: true }))
  .map((box) => box.textContent.slice(0, 40))"""


@pytest.mark.parametrize("lesson", sweep([path.stem for path in lessons.find()], "02_bahdanau_attention"))
def test_a_lesson_is_a_page_to_read(page, address, lesson):
    visit(page, address, f"notebooks/{lesson}.html")
    assert page.evaluate(ALL_SHUT) and page.evaluate(UNFOLDED) == []
    page.get_by_role("button", name="Show everything").click()
    assert page.evaluate(ALL_OPEN) and page.evaluate(UNFOLDED) != []


# Where a reader scrolls for more than 6,000 pixels and finds no explorer, no vote and no answer that waits for one.
STILL = """() => {
  const all = (selector) => [...document.querySelectorAll(`article ${selector}`)]
    .filter((box) => box.checkVisibility({ contentVisibilityAuto: true }))
    .map((box) => [box.textContent, box.getBoundingClientRect()]);
  const { top, bottom } = document.querySelector("article").getBoundingClientRect();
  const moves = all(":is(.am-explorer, .am-prediction, .answer:not([open]))"), found = [];
  let from = top;
  for (const box of [...moves.map(([, box]) => box).sort((a, b) => a.top - b.top), { top: bottom, bottom }]) {
    const [title] = all(":is(h2, h3)").find(([, heading]) => heading.top > from) ?? ["the end"];
    if (box.top - from > 6000) found.push(`${Math.round(box.top - from)} pixels from ${title} on`);
    from = Math.max(from, box.bottom);
  }
  return found;
}"""


@pytest.mark.parametrize("lesson", sweep([path.stem for path in lessons.find()], "07_taken_apart"))
def test_a_reader_soon_finds_something_to_move(page, address, lesson):
    visit(page, address, f"notebooks/{lesson}.html")
    page.wait_for_load_state("networkidle")  # formulas have their letters
    assert page.evaluate(STILL) == []


def test_a_long_way_with_nothing_to_move_is_seen(page, address):
    visit(page, address, "notebooks/07_taken_apart.html")
    page.add_style_tag(content=".am-prediction, .answer { display: none }")
    assert page.evaluate(STILL) != []


def test_the_choice_to_see_everything_is_remembered(page, address):
    visit(page, address, LESSON)
    page.get_by_role("button", name="Show everything").click()
    visit(page, address, "notebooks/00_warm_up.html")
    assert page.evaluate(ALL_OPEN)
    page.get_by_role("button", name="Reading view").click()
    assert page.evaluate(ALL_SHUT)
    visit(page, address, LESSON)
    assert page.evaluate(ALL_SHUT)


@pytest.mark.expects("uncaught: none")  # from the theme
def test_everything_is_shown_where_nothing_may_be_stored(page, address):
    page.add_init_script("Object.defineProperty(window, 'localStorage', { get() { throw new Error('none'); } })")
    visit(page, address, LESSON)
    page.get_by_role("button", name="Show everything").click()
    assert page.evaluate(ALL_OPEN)


@pytest.mark.parametrize("lesson", sweep([path.stem for path in lessons.find()], "00_warm_up"))
def test_a_vote_opens_its_answer_and_is_compared_with_it(page, address, lesson):
    visit(page, address, f"notebooks/{lesson}.html")
    for vote in page.locator(".am-prediction").all():
        name = vote.evaluate("(box) => box.closest('.cell').id")
        fold = page.locator(f".answer[data-vote={name}]")
        assert fold.evaluate_all("(all) => all.length && all.every(({ open }) => !open)")
        for option in (vote.locator("label").first, vote.locator("label").last):
            option.click()
            told = page.locator(f".answer[data-vote={name}] .measured").inner_text()
            assert told.startswith(f"You predicted: {option.inner_text()}. Measured: ")
        assert fold.evaluate_all("(all) => all.every(({ open }) => open)")
    assert page.evaluate("document.querySelectorAll('.answer:not([open])').length") == 0


def test_a_vote_leads_to_its_answer(page, address):
    visit(page, address, LESSON)
    page.locator(f"{VOTE} label").first.click()
    page.get_by_role("link", name="See what was measured").click()
    assert page.locator(f"{ANSWER} .measured").evaluate("(box) => box.getBoundingClientRect().top") < 720


def test_an_answer_is_shown_without_a_vote_and_says_nothing_of_one(page, address, shoot):
    visit(page, address, LESSON)
    page.locator(f"{ANSWER} > summary").first.scroll_into_view_if_needed()
    shoot(page, "site-answer")
    page.locator(f"{ANSWER} > summary").first.click()
    page.wait_for_function(f"[...document.querySelectorAll(`{ANSWER}`)].every((fold) => fold.open)")
    assert page.locator(f"{ANSWER} .measured").inner_text().startswith("Measured: ")
    assert page.locator(".answer:not([open])").count() > 0


@pytest.mark.parametrize("name", ["cell-02-verdict-n8", "cell-02-train-run", "cell-02-verdict-n4"])
def test_a_link_into_a_fold_opens_it(page, address, name):
    visit(page, address, LESSON)
    page.evaluate(f"location.hash = '#{name}'")
    page.wait_for_function(f"!document.querySelector('#{name}').closest('details:not([open])')")
    visit(page, address, f"index.html#{name}")  # so that the next address is another page
    visit(page, address, f"{LESSON}#{name}")
    assert page.evaluate(f"!document.querySelector('#{name}').closest('details:not([open])')")
    assert 0 <= page.locator(f"#{name}").bounding_box()["y"] < 720


def test_everything_is_on_paper_and_folded_again_afterwards(page, address):
    visit(page, address, LESSON)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate(ALL_OPEN)
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.evaluate(ALL_SHUT)


def test_folds_open_without_scripts(browser, address):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{address}/{LESSON}")
    assert not page.locator(".view button").is_visible()
    page.locator(f"{ANSWER} > summary").first.click()
    assert page.locator(f"{ANSWER} .figure").first.is_visible()
    context.close()


@on_a_phone
def test_the_reading_view_shuts_no_reader_out(page, address, size):
    page.set_viewport_size({"width": size[0], "height": size[1]})
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        visit(page, address, LESSON)
        assert serious(page, [PAGES_BESIDE]) == [] and not too_wide(page)


# ---- in a hand ----

FINGERED = "02_bahdanau_attention", "03_scaled_dot_product", "04_multi_head", "08_language_models"
# For each sentence and each word of a translator: the arcs on which another word stands, so that it cuts them.
CUT_ARCS = """() => {
  const found = new Set(), menu = document.querySelector(".am-translator select");
  const words = () => [...document.querySelectorAll(".am-translator .am-word")];
  for (const { value } of [...menu.options].filter(({ value }) => value)) {
    menu.value = value;
    menu.dispatchEvent(new Event("input"));
    words().forEach((_, i) => {
      words()[i].click();
      const boxes = words().map((word) => [word, word.getBoundingClientRect()]);
      for (const path of document.querySelectorAll(".am-translator .am-arcs > path"))
        for (let share = 0; share <= 1; share += 0.05) {
          const { x, y } = path.getPointAtLength(share * path.getTotalLength()).matrixTransform(path.getScreenCTM());
          for (const [word, { left, right, top, bottom }] of boxes)
            if (left + 1 < x && x < right - 1 && top + 1 < y && y < bottom - 1)
              found.add(`${value}: an arc of ${words()[i].textContent} runs under ${word.textContent}`);
        }
    });
  }
  return [...found].slice(0, 5);
}"""
# What is to be tapped and is smaller than a finger's tip; words of a running text may be.
SMALL = """() => {
  const inPage = ".content :is(button, select, input, textarea, summary, [role=slider], .start a, .counts a)";
  const found = [...document.querySelectorAll(`${inPage}, .mobile-header :is(label, button)`)]
    .filter((control) => !control.closest(".visually-hidden, .copybtn, .content-icon-container"))
    .map((control) => (control.matches("[type=radio], [type=checkbox]") && control.closest("label")) || control)
    .map((control) => [control, control.getBoundingClientRect()])
    .filter(([, { width, height }]) => width && height && (width < 40 || height < 43.5))
    .map(([{ localName, className }, { width, height }]) => `${localName}.${className} ${width} x ${height}`);
  return [...new Set(found)];
}"""


@pytest.fixture
def phone(browser):
    """A page under a finger."""
    size = {"width": 360, "height": 740}
    context = browser.new_context(viewport=size, has_touch=True, is_mobile=True, reduced_motion="reduce")
    yield context.new_page()
    context.close()


@pytest.mark.parametrize("width", sweep([360, 430, 700, 1280], "360"))
def test_no_word_cuts_an_arc(page, address, width):
    page.set_viewport_size({"width": width, "height": 844})
    page.emulate_media(reduced_motion="reduce")
    visit(page, address, "index.html")
    page.locator(".am-word").first.wait_for()
    assert page.evaluate(CUT_ARCS) == []


def test_a_word_that_cuts_an_arc_is_seen(page, address):
    page.set_viewport_size({"width": 360, "height": 844})
    page.emulate_media(reduced_motion="reduce")
    visit(page, address, "index.html")
    page.locator(".am-word").first.wait_for()
    page.add_style_tag(content=".am-translator .am-line { flex-flow: row wrap !important; }")
    assert page.evaluate(CUT_ARCS) != []


@pytest.mark.parametrize(
    "name",
    sweep(
        ["index", *(f"notebooks/{name}" for name in FINGERED), "glossary/claims", "glossary/play"],
        "index",
        "notebooks/08_language_models",
        "glossary/claims",
        "glossary/play",
    ),
)
def test_what_is_tapped_is_as_large_as_a_fingers_tip(phone, address, name):
    visit(phone, address, f"{name}.html", whole=True)
    phone.wait_for_load_state("networkidle")
    phone.evaluate("document.querySelectorAll('.am-in-page details').forEach((box) => (box.open = true))")
    assert phone.evaluate(SMALL) == []


def test_the_frame_of_a_prediction_runs_around_its_question(phone, address):
    visit(phone, address, "notebooks/02_bahdanau_attention.html")
    top = "(boxes) => boxes.map((box) => box.getBoundingClientRect().top)"
    frames, questions = (phone.locator(f".am-prediction{part}").evaluate_all(top) for part in ("", " legend"))
    gaps = [question - frame for frame, question in zip(frames, questions, strict=True)]
    assert gaps and min(gaps) > 4


# ---- what a script does not find ----

NOT_FOUND = re.compile(r"\bundefined\b|\[object Object\]|in an explorer: .*\bNaN\b")  # the text speaks of NaN
WORDS = """() => {
  document.querySelectorAll("pre, code, script, style, mjx-container").forEach((box) => box.remove());
  const explorers = [...document.querySelectorAll(".am-explorer")].map((box) => box.innerText.replaceAll("\\n", " "));
  return [document.body.innerText, ...explorers.map((text) => `in an explorer: ${text}`)].join("\\n");
}"""


@pytest.mark.parametrize(
    "name",
    sweep(
        dict.fromkeys([*(f"notebooks/{path.stem}" for path in lessons.find()), *KINDS]),
        "notebooks/02_bahdanau_attention",
    ),
)
def test_no_page_says_undefined(page, address, name):
    visit(page, address, f"{name}.html")
    page.wait_for_load_state("networkidle")
    page.wait_for_function("!document.querySelector('.am-waiting')")
    assert NOT_FOUND.findall(page.evaluate(WORDS)) == []


# ---- the claims ----


def choose(page, name, value):
    page.locator(f".claims-filter [name={name}]").select_option(value)


def shown_claims(page):
    return page.locator(f"{CARDS}:visible")


def test_claims_are_filtered_by_verdict(page, address, shoot):
    visit(page, address, "glossary/claims.html")
    every = page.locator(CARDS).count()
    page.locator(".claims-filter [name=verdict]").focus()
    page.keyboard.type("does")  # as one chooses by keyboard
    shown = shown_claims(page)
    assert 0 < shown.count() < every
    assert all("does not hold" in text for text in shown.all_inner_texts())
    assert page.get_by_role("status").inner_text() == f"{shown.count()} of {every} claims are shown"
    assert all(
        group.locator(f"{CARDS}:visible").count() for group in page.locator("section:has(> h2):visible").all()[:-2]
    )
    shoot(page, "site-claims")
    choose(page, "verdict", "any")
    assert shown.count() == every


def test_verdict_and_lesson_are_those_of_one_experiment(page, address):
    visit(page, address, "glossary/claims.html")
    choose(page, "verdict", "does not hold")
    choose(page, "lesson", "7")
    verdicts = [claim.get_attribute("data-verdicts").split(";") for claim in page.locator(".claim:visible").all()]
    places = [claim.get_attribute("data-places").split(";") for claim in page.locator(".claim:visible").all()]
    assert verdicts and all(
        ("does not hold", "lesson 7") in zip(*both, strict=True) for both in zip(verdicts, places, strict=True)
    )


def test_the_verdict_that_was_asked_for_stands_first_in_its_card(page, address):
    visit(page, address, "glossary/claims.html")
    first = "(claims) => claims.map((claim) => claim.querySelector('.verdict')?.textContent ?? '')"
    before = page.locator(".claim").evaluate_all(first)
    choose(page, "verdict", "does not hold")
    choose(page, "lesson", "7")
    shown = page.locator(".claim:visible").evaluate_all(first)
    assert shown and all("does not hold" in text for text in shown)
    assert any(text.strip().startswith("Lesson 7:") for text in shown)
    choose(page, "verdict", "any")
    choose(page, "lesson", "any")
    assert page.locator(".claim").evaluate_all(first) == before


def test_the_address_of_a_hidden_card_makes_the_filter_give_way(page, address):
    visit(page, address, "glossary/claims.html")
    choose(page, "lesson", "4")
    assert not page.locator("section:has(> #H3)").is_visible()
    page.evaluate("location.hash = 'H3'")
    assert page.locator("#H3 ~ h3, #H3 + h3").first.is_visible()
    assert 0 <= page.locator("#H3").bounding_box()["y"] < 720
    assert page.url == f"{address}/glossary/claims.html#H3"
    assert shown_claims(page).count() == page.locator(CARDS).count()
    choose(page, "lesson", "4")  # by which the card is hidden, so the address no longer names it
    assert page.url == f"{address}/glossary/claims.html?lesson=lesson+4"
    visit(page, address, "glossary/claims.html?lesson=lesson+4#H3")
    assert page.locator("section:has(> #H3)").is_visible()


def test_effects_are_filtered_with_their_claims_and_lead_to_them(page, address):
    visit(page, address, "glossary/claims.html")
    rows = page.locator(".effects [data-claim]")
    every = rows.count()
    choose(page, "verdict", "undecided")
    left = [row for row in rows.all() if row.is_visible()]
    assert 0 < len(left) < every
    ids = {row.get_attribute("data-claim") for row in left}
    assert all(shown_claims(page).filter(has=page.locator(f"#{claim}")).count() for claim in ids)
    left[0].get_by_role("link").click()
    assert page.url.endswith(f"#{left[0].get_attribute('data-claim')}")


def test_the_groups_of_claims_can_be_gone_to(page, address):
    visit(page, address, "glossary/claims.html")
    assert page.locator(".groups a").all_inner_texts()[:3] == ["Begin with these", "Lesson 1", "Lesson 2"]
    page.locator(".groups a", has_text="Lesson 7").click()
    page.wait_for_function(
        "[...document.querySelectorAll('h2')].some((title) => title.textContent.startsWith('Lesson 7:') "
        "&& title.getBoundingClientRect().top >= 0 && title.getBoundingClientRect().top < 200)"
    )  # it scrolls there smoothly
    choose(page, "lesson", "4")
    assert page.locator(".groups a:visible").all_inner_texts() == ["Begin with these", "Lesson 4"]


def test_claims_are_searched_by_words(page, address):
    visit(page, address, "glossary/claims.html")
    page.get_by_role("searchbox", name="Words").fill("STATE bottleneck")
    texts = page.locator(f"{CARDS}:visible").evaluate_all(
        "(cards) => cards.map((card) => card.textContent.toLowerCase())"
    )
    assert 0 < len(texts) < 20 and all("state" in text and "bottleneck" in text for text in texts)
    assert page.url == f"{address}/glossary/claims.html?words=STATE+bottleneck"
    page.reload()
    assert shown_claims(page).count() == len(texts)


@on_a_phone
def test_the_address_of_a_claim_leads_to_its_card_and_marks_it(page, address, size, shoot):
    page.set_viewport_size({"width": size[0], "height": size[1]})
    visit(page, address, "glossary/claims.html#C4")
    page.wait_for_load_state("networkidle")
    outlined = "(cards) => cards.map((card) => getComputedStyle(card).outlineStyle === 'solid')"
    (place,) = [place for place, one in enumerate(page.locator(CARDS).evaluate_all(outlined)) if one]
    marked = page.locator(CARDS).nth(place)
    assert marked.locator("h3").inner_text().startswith("The more heads, the better (C4)")
    assert 0 <= marked.bounding_box()["y"] < 200
    marked.locator("summary").first.press("Enter")
    assert marked.locator("code", has_text="pronouns_gained_from").first.is_visible()
    shoot(page, f"site-claim-{size[0]}")


def test_the_condition_is_one_click_away_and_figures_are_named_in_words(page, address):
    visit(page, address, "glossary/claims.html")
    card = page.locator(f"{CARDS} >> nth=0")
    assert not re.search(r"[a-z]_[a-z]", card.inner_text())
    assert "A state of 256 numbers gets 23%" in card.inner_text()
    card.locator("summary").click()
    assert "fall_with_state_256_recorded < line" in card.inner_text()


def wide_face():
    """DejaVu Sans as a style: it is on every machine, by matplotlib, and few faces of running text are wider."""
    faces = [
        f"@font-face {{font-family: wide; font-weight: {weight}; src: url(data:font/ttf;base64,{data})}}"
        for weight in ("normal", "bold")
        for file in [font_manager.findfont(f"DejaVu Sans:{weight}")]
        for data in [base64.b64encode(Path(file).read_bytes()).decode()]
    ]
    return "".join([*faces, ".drawn text { font-family: wide }"])


@pytest.mark.parametrize("wide", [False, True], ids=["this machine's letters", "wide letters"])
def test_the_letters_of_small_figures_can_be_read_on_a_phone(page, address, wide):
    page.set_viewport_size({"width": 360, "height": 740})
    visit(page, address, "glossary/claims.html")
    if wide:
        page.add_style_tag(content=wide_face())
        page.evaluate("() => document.fonts.ready")
        assert page.evaluate("() => document.fonts.check('bold 12px wide')")
    sizes = page.locator(".drawn text").evaluate_all(
        "(texts) => texts.map((text) => parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().d)"
    )
    assert len(sizes) > 200 and min(sizes) >= 12
    outside = """(texts) => texts.filter((text) => {
      const [own, frame] = [text, text.closest("svg")].map((box) => box.getBoundingClientRect());
      return own.right > frame.right + 1 || own.bottom > frame.bottom + 1;
    }).map((text) => text.textContent)"""
    assert page.locator(".drawn text").evaluate_all(outside) == []


@FROM_A_FOLDER
def test_the_chosen_verdict_is_in_the_address(page, address, built_site, served):
    base = address if served else built_site.as_uri()
    visit(page, base, "glossary/claims.html#A18")
    choose(page, "verdict", "does not hold")
    assert page.url == f"{base}/glossary/claims.html?verdict=does+not+hold#A18"
    choose(page, "lesson", "settled on this page")
    shown = shown_claims(page).count()
    page.goto("about:blank")
    page.goto(f"{base}/glossary/claims.html?verdict=does+not+hold&lesson=page#A18")
    assert shown_claims(page).count() == shown < page.locator(CARDS).count()
    assert page.locator(".claims-filter [name=verdict]").input_value() == "does not hold"
    assert 0 <= page.locator("#A18").bounding_box()["y"] < 720
    choose(page, "lesson", "any")
    choose(page, "verdict", "any")
    assert page.url == f"{base}/glossary/claims.html#A18"


def test_a_count_leads_to_its_verdicts(page, address):
    visit(page, address, "glossary/claims.html")
    for number in range(page.locator(".counts a").count()):
        page.locator(".counts a").nth(number).click()
        page.wait_for_url("**/claims.html?verdict=*")
        assert 0 < shown_claims(page).count() < page.locator(CARDS).count()


def test_a_verdict_that_no_claim_has_leaves_all_shown(page, address):
    visit(page, address, "glossary/claims.html?verdict=perhaps")
    assert shown_claims(page).count() == page.locator(CARDS).count()
    assert page.locator(".claims-filter [name=verdict]").input_value() == ""


def test_without_javascript_every_claim_is_shown(browser, address):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{address}/glossary/claims.html")
    assert shown_claims(page).count() == page.locator(CARDS).count() > 70
    context.close()


# ---- the claims as a game ----

GAME = "glossary/play.html"
ALL_VERDICTS = list(claims.SIGNS)
# A claim's own words differ. Whatever else a reader sees or hears before the guess may not.
BUT_ITS_WORDS = """() => {
  document.querySelectorAll(".said, .about").forEach((words) => words.replaceChildren());
  const drawn = [...document.querySelectorAll("article *")].filter((box) => box.checkVisibility());
  return drawn.map((box) => [box.localName, box.className, box.title, getComputedStyle(box).backgroundColor].join());
}"""


def round_of(page):
    """The verdicts of each claim of the round that is played."""
    number = page.evaluate("new URLSearchParams(location.search).get('round') ?? '1'")
    return page.evaluate(
        """(number) => [...document.querySelectorAll(`template[data-round="${number}"]`)].map(
             (card) => card.content.querySelector(".claim").dataset.verdicts.split(";"))""",
        number,
    )


def guess(page, verdict):
    page.locator(f'.guesses [value="{verdict}"]').click()


def play(page, wrong=()):
    """Plays a round; the claims at these places are guessed wrong."""
    page.emulate_media(reduced_motion="reduce")  # else each click waits until what it is for stands still
    for place, verdicts in enumerate(round_of(page)):
        guess(page, next(name for name in ALL_VERDICTS if (name in verdicts) != (place in wrong)))
        page.locator(".next").click()


def focused(page):
    return page.evaluate("document.activeElement.innerText")


@FROM_A_FOLDER
def test_a_round_is_played_with_a_pointer(page, address, built_site, served, shoot):
    page.emulate_media(reduced_motion="reduce")
    visit(page, address if served else built_site.as_uri(), GAME)
    verdicts = round_of(page)
    for place, wanted in enumerate(verdicts):
        assert (
            page.locator(".told").inner_text().startswith(f"Claim {place + 1} of {len(verdicts)} · {min(place, 3)} p")
        )
        right = place < 3
        guess(page, next(name for name in ALL_VERDICTS if (name in wanted) == right))
        found = page.locator(".outcome h3").inner_text()
        assert found.startswith("Correct: it " if right else "You said it ") and all(name in found for name in wanted)
        assert page.locator(".answer .verdict:visible").count() == len(wanted)
        assert page.locator(".answer .drawn svg, .answer .deciding, .answer p").count() > 0
        if place < 4:
            shoot(page, f"site-game-{place}")
        page.locator(".next").click()
    assert page.locator(".result h2").inner_text() == f"You guessed 3 of {len(verdicts)}"
    middle = sum("holds only if" in each for each in verdicts)
    assert page.locator(".middle").inner_text().endswith(f"every time, you would have guessed {middle}.")
    assert page.locator(".recap li").count() == len(verdicts) == page.locator(".squares rect").count()
    assert page.locator(".marks .right").count() == 3
    shoot(page, "site-game-end")


def test_a_round_is_played_by_keyboard(page, address):
    visit(page, address, GAME)
    page.locator(".guesses button").first.focus()
    verdicts = round_of(page)
    for place in range(len(verdicts)):
        page.keyboard.press("Space")  # on the first button, "holds"
        assert " it " in focused(page)
        while not page.evaluate("document.activeElement.matches('.next')"):
            page.keyboard.press("Tab")
            assert page.evaluate("!!document.activeElement.closest('.outcome')")
        page.keyboard.press("Enter")
        if place + 1 < len(verdicts):
            assert page.evaluate("document.activeElement.matches('.said')")
            page.keyboard.press("Tab")
            assert "holds" in focused(page).split("\n")
    assert focused(page) == f"You guessed {sum('holds' in each for each in verdicts)} of {len(verdicts)}"
    page.keyboard.press("Tab")
    assert focused(page) == "Share your score"


def test_before_the_guess_nothing_tells_the_verdict(page, address):
    page.emulate_media(reduced_motion="reduce")
    visit(page, address, f"{GAME}?round=3")  # with claims of every verdict
    heard, seen = set(), set()
    for verdicts in round_of(page):
        page.mouse.move(0, 0)
        page.evaluate("document.activeElement.blur()")
        box = page.locator(".game")
        page.locator(".told, .marks").evaluate_all("(boxes) => boxes.forEach((box) => box.replaceChildren())")
        seen.add(tuple(page.evaluate(BUT_ITS_WORDS)))
        heard.add(box.aria_snapshot())
        guess(page, verdicts[0])
        page.locator(".next").click()
    assert len(heard) == len(seen) == 1
    (parts,) = seen
    assert not any("verdict" in part or "drawn" in part for part in parts)


def test_that_a_verdict_tells_itself_is_seen(page, address):
    visit(page, address, GAME)
    before = page.evaluate(BUT_ITS_WORDS)
    page.locator(".guesses button").first.evaluate("(button) => (button.title = 'yes')")
    assert page.evaluate(BUT_ITS_WORDS) != before


def test_a_score_is_shared(page, address):
    """By the device's own menu, by the clipboard, or, where both refuse, by a text to be copied."""
    visit(page, address, f"{GAME}?round=2")
    play(page, wrong=[1])
    count = len(round_of(page))
    for way, told in (("shared", ""), ("clipboard", "Copied: paste it"), ("refused", "I guessed ")):
        page.evaluate(
            """(way) => {
              const set = (name, value) => Object.defineProperty(navigator, name, { value, configurable: true });
              window.sent = "";
              set("share", way === "shared" ? async ({ text, url }) => (window.sent = `${text} ${url}`) : undefined);
              set("clipboard", { writeText: async (text) => {
                if (way === "refused") throw new Error("not here");
                window.sent = text;
              } });
            }""",
            way,
        )
        page.get_by_role("button", name="Share your score").click()
        page.wait_for_function("(told) => document.querySelector('.shared').textContent.startsWith(told)", arg=told)
        sent = page.locator(".shared").text_content() if way == "refused" else page.evaluate("sent")
        assert f"I guessed {count - 1} of {count} verdicts" in sent and f"🟦⬜{'🟦' * (count - 2)}" in sent
        assert sent.endswith(f"{address}/{GAME}?round=2")
    assert page.get_by_role("img", name=f"Score: {count - 1} of {count}").is_visible()


def test_the_way_back_from_a_lesson_leads_to_the_same_claim(page, address):
    visit(page, address, GAME)
    for _ in range(2):
        guess(page, "holds")
        page.locator(".next").click()
    guess(page, "holds")
    outcome = page.locator(".outcome").inner_text()
    page.locator(".answer a[href*=notebooks]").first.click()
    page.wait_for_url("**/notebooks/*")
    page.go_back()
    page.locator(".next").wait_for()
    assert page.locator(".outcome").inner_text() == outcome
    page.reload()
    assert page.locator(".outcome").inner_text() == outcome and "Claim 3 of" in page.locator(".told").inner_text()


def test_a_round_has_an_address_and_is_followed_by_another(page, address):
    first = {}
    for asked in ("", "?round=1", "?round=99", "?round=two", "?round=9", "?round=2"):
        visit(page, address, GAME + asked)
        first[asked] = page.locator(".said").inner_text()
    assert first[""] == first["?round=1"] == first["?round=99"] == first["?round=two"] != first["?round=2"]
    assert first["?round=9"] not in (first[""], first["?round=2"])
    play(page)
    page.get_by_role("button", name="This round again").click()
    assert page.locator(".said").inner_text() == first["?round=2"] and page.locator(".marks .right").count() == 0
    play(page)
    page.get_by_role("link", name="Another round").click()
    page.wait_for_url("**/play.html?round=3")


def test_every_state_of_the_game_is_for_every_reader(page, address, shoot):
    """A question, three outcomes, and the end, by light, in the dark and on a phone."""
    page.emulate_media(reduced_motion="reduce")
    visit(page, address, GAME)
    count, wrong = len(round_of(page)), {}

    def look(state):
        for scheme, width, height in (("light", 1280, 720), ("dark", 390, 844), ("light", 360, 740)):
            page.emulate_media(color_scheme=scheme)
            page.set_viewport_size({"width": width, "height": height})
            page.evaluate(TWO_FRAMES)
            wrong[state, scheme, width] = serious(page, [PAGES_BESIDE]) + judges.out_of_reach(page)
            wrong[state, scheme, width] += ["scrolls sideways"] if too_wide(page) else []
            shoot(page, f"site-game-{state}-{scheme}-{width}")

    for place in range(count):
        if place < 1:
            look(f"question-{place}")
        guess(page, "holds")
        if place < 3:
            look(f"outcome-{place}")
        page.locator(".next").click()
    look("end")
    assert {where: found for where, found in wrong.items() if found} == {}


def test_the_game_fits_a_finger_and_a_phones_screen(phone, address):
    phone.set_viewport_size({"width": 390, "height": 844})
    visit(phone, address, GAME)
    inside = "(boxes) => boxes.every((box) => box.getBoundingClientRect().bottom <= innerHeight)"
    assert phone.locator(".guesses button").evaluate_all(inside)
    for _ in round_of(phone):
        assert phone.evaluate(SMALL) == []
        phone.locator(".guesses button").first.tap()
        assert phone.evaluate(SMALL) == []
        top = phone.locator(".outcome h3").bounding_box()["y"]
        assert 0 <= top < 600 and phone.locator(".next").evaluate_all(inside)
        phone.locator(".next").tap()
    assert phone.evaluate(SMALL) == []


@pytest.mark.parametrize("calm", [True, False])
def test_the_game_moves_nothing_where_motion_is_unwanted(page, address, calm):
    page.emulate_media(reduced_motion="reduce" if calm else "no-preference")
    visit(page, address, GAME)
    guess(page, "holds")
    assert page.evaluate("document.querySelector('.outcome').getAnimations().length") == (0 if calm else 1)


def test_the_table_is_a_click_away_from_the_game_and_the_game_from_the_table_and_the_first_page(page, address):
    for name, link in (("index.html", "Guess what is true"), ("glossary/claims.html", "Guess before you look")):
        visit(page, address, name)
        page.get_by_role("link", name=link).click()
        page.wait_for_url(f"**/{GAME}")
    page.get_by_role("link", name="All claims with their verdicts").click()
    page.wait_for_url("**/glossary/claims.html")
    visit(page, address, GAME)
    play(page)
    page.locator(".recap a").first.click()
    page.wait_for_url("**/glossary/claims.html#*")


def test_without_javascript_the_game_leads_to_the_table(browser, address):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{address}/{GAME}")
    assert page.get_by_text("The game needs JavaScript").is_visible() and not page.locator(".game").is_visible()
    assert page.get_by_role("link", name="All claims with their verdicts").is_visible()
    context.close()


@FROM_A_FOLDER
def test_the_search_finds_a_term(page, address, built_site, served, shoot):
    visit(page, address if served else built_site.as_uri(), "index.html")
    page.get_by_label("Search").first.fill("permutation equivariance")
    page.keyboard.press("Enter")
    page.locator("#search-results li a").first.wait_for()
    page.wait_for_load_state("networkidle")
    assert "glossary/permutation-equivariance.html" in page.locator("#search-results ul.search").inner_html()
    shoot(page, "site-search")


@pytest.mark.parametrize("query", sweep(["softmax", "attention", "sqrt", "gradient"], "softmax"))
def test_the_search_quotes_formulas_as_they_are_read(page, address, query, shoot):
    visit(page, address, f"search.html?q={query}")
    page.locator("#search-results li .context").first.wait_for()
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(300)
    results = page.query_selector("#search-results")
    assert judges.untypeset(page, results) == []
    assert not re.search(r"\\[a-zA-Z({\[]|[\ue000-\uf8ff]", results.inner_text())
    if query == "softmax":
        page.locator("#search-results mjx-container").first.wait_for()
        shoot(page, "site-search-formulas")


def test_what_scrolls_shows_where_there_is_more(page, address):
    page.set_viewport_size({"width": 360, "height": 720})
    visit(page, address, "notebooks/01_rnn_bottleneck.html", whole=True)
    assert judges.unsigned(page, page.query_selector("article")) == []
    box = page.locator("article pre.scrolls").first
    fades = "(box) => ['--before', '--after'].map((side) => box.style.getPropertyValue(side))"
    assert box.evaluate(fades) == ["0px", "2.5rem"]
    box.evaluate("(box) => new Promise((heard) => { box.onscroll = heard; box.scrollLeft = 9999; })")
    assert box.evaluate(fades) == ["2.5rem", "0px"]


def test_what_scrolls_within_the_page_can_be_reached_by_keyboard(page, address):
    visit(page, address, "notebooks/01_rnn_bottleneck.html", whole=True)
    assert page.locator("article pre[tabindex='0']").count() > 0
