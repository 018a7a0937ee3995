"""The whole machine: its numbers beside PyTorch's, its switches, its keys and its addresses."""

import json
import math
from urllib.parse import quote

import pytest
import torch
from sweeps import sweep

from browser import judges
from course_lib.corpus import toy_french
from course_lib.widgets import Machine
from course_lib.widgets.translator import MODELS

pytestmark = pytest.mark.browser

SENTENCE = "the chicken did not cross the road because it was tired"
RIGHT = "le poulet n' a pas traversé la route parce qu' il était fatigué end".split()
AT = {"reads": 8, "asks": 6, "writes": 10}
STATIONS = "tokens position queries scores softmax values heads residual feed french cross refine logits word".split()
NUMBERS = """(rows) => rows.map((row) => [...row.cells].map((cell) => Number(cell.textContent.replace("−", "-"))))"""


@pytest.fixture
def opened(alone):
    """Opens the machine in a state."""

    def open_(state=(), show="all", **media):
        query = "&".join(f"{name}={quote(json.dumps(value))}" for name, value in dict(state).items())
        made = Machine([SENTENCE, "the small black cat"], {**AT, "show": show})
        return alone(made, ".am-words" if show == "shut" else ".am-top button", f"?{query}", **media)

    return open_


def french(page):
    return page.locator(".am-french button").all_inner_texts()


def table(page):
    """The numbers of the open station, row by row."""
    return page.locator(".am-deep tbody tr").evaluate_all(NUMBERS)


def row(page, station):
    return [
        float(text.replace("−", "-"))
        for text in page.locator(f"[data-station={station}] .am-row").first.locator("button").all_inner_texts()
    ]


@pytest.fixture(scope="module")
def by_torch():
    """What each module of the model puts out for the sentence, by name, and the maps."""
    model, corpus, out = MODELS["trained_transformer"].load(), toy_french(), {}
    for name, module in model.named_modules():
        module.register_forward_hook(lambda _, given, made, name=name: out.update({name: (given[0], made)}))
    source = torch.tensor([corpus.source_vocabulary.encode(SENTENCE.split())])
    written = torch.tensor([[1, *corpus.target_vocabulary.encode(RIGHT[:-1])]])
    with torch.no_grad():
        logits, maps = model(source, None, written, need_weights=True)
    return logits[0], maps, out


@pytest.mark.parametrize("which", sweep([f"{layer}.{head}" for layer in (1, 2) for head in (1, 2, 3, 4)], "2.3"))
def test_each_station_shows_what_pytorch_computes(which, opened, by_torch):
    layer, head = map(int, which.split("."))
    logits, (encoder, own, cross), out = by_torch
    name, piece = f"encoder.layers.{layer - 1}.self_attention", slice(16 * head - 16, 16 * head)
    at = {**AT, "layer": layer, "head": head}
    query = out[f"{name}.query_projection"][1][0, AT["reads"], piece]
    key = out[f"{name}.key_projection"][1][0, AT["asks"], piece]

    page = opened({**at, "open": "scores"})
    *rows, total = table(page)

    def close(told, value):
        return told == pytest.approx(value, abs=0.0051)

    assert close([told[1] for told in rows], query.tolist()) and close([told[2] for told in rows], key.tolist())
    assert close(total[-1], float(query @ key))
    assert row(page, "scores")[AT["asks"]] == pytest.approx(float(query @ key) / 4, abs=0.051)
    assert close(row(page, "softmax"), encoder[0, layer - 1, head - 1, AT["reads"]].tolist())
    assert close(row(page, "cross"), cross[0, layer - 1, head - 1, AT["writes"]].tolist())

    page = opened({**at, "open": "queries"})
    bias = float(page.locator(".am-deep p").inner_text().rpartition("bias of ")[2].rstrip(".").replace("−", "-"))
    assert table(page)[-1][-1] + bias == pytest.approx(float(query[0]), abs=0.011)
    page = opened({**at, "open": "residual"})
    after = out[f"encoder.layers.{layer - 1}.feed_forward_residual.norm"][0][0, AT["reads"], :6]
    assert close([told[3] for told in table(page)[:6]], after.tolist())
    page = opened({**at, "open": "logits"})
    assert close(table(page)[0][1], float(logits[AT["writes"]].max()))
    page = opened({**at, "open": "refine"})
    units = out[f"decoder.layers.{layer - 1}.feed_forward.inner"][1][0, AT["writes"]]
    assert close(float(page.locator(".am-deep p").inner_text().rpartition("is ")[2].rstrip(":")), float(units.max()))


def test_a_head_s_weights_are_shown_at_once(opened, by_torch):
    _, (encoder, _, _), _ = by_torch
    page = opened({**AT, "layer": 2, "head": 3, "open": "softmax"})
    shares = page.locator(".am-weights i").evaluate_all(
        "(all) => all.map((one) => parseInt(one.style.cssText.slice(9)))"
    )
    assert shares == pytest.approx(100 * encoder[0, 1, 2].flatten().numpy(), abs=0.6)


def test_words_are_drawn_at_a_temperature(opened):
    page = opened({**AT, "open": "logits"})
    page.locator("[data-key='temperature-3']").click()
    drawn = french(page)
    (_, first, p), *_, (_, last, q) = page.locator(".am-deep table").first.locator("tbody tr").evaluate_all(NUMBERS)
    assert math.log(p / q) == pytest.approx((first - last) / 3, abs=0.02) and drawn != RIGHT
    page.get_by_role("button", name="draw other words").click()
    assert french(page) not in (drawn, RIGHT)
    page.get_by_text(f"Without drawing: {' '.join(RIGHT[:-1])}.").wait_for()
    page.locator("[data-key='temperature-0']").click()
    assert french(page) == RIGHT


def test_every_station_opens_and_closes(opened):
    page = opened()
    assert page.locator(".am-station").evaluate_all("(all) => all.map((one) => one.dataset.station)") == STATIONS
    for station in STATIONS:
        title = page.locator(f"[data-station={station}] .am-title")
        title.click()
        assert page.locator(".am-open").evaluate_all("(all) => all.map((one) => one.dataset.station)") == [station]
        assert page.locator(".am-deep").inner_text().strip() and "NaN" not in page.locator(".am-machine").inner_text()
        title.click()
        assert page.locator(".am-open").count() == 0


SWITCHED = {
    "position": "positions",
    "heads": "self-attention",
    "residual": "residuals",
    "feed": "feed-forward",
    "cross": "cross-attention",
    "refine": "the decoder's feed-forward",
}


@pytest.mark.parametrize("station", SWITCHED)
def test_what_is_switched_off_changes_the_french_and_comes_back(station, opened):
    page = opened()
    assert french(page) == RIGHT
    page.locator(f"[data-station={station}] .am-off").click()
    if french(page) == RIGHT:
        page.get_by_text("the French is the same").wait_for()
    else:
        page.get_by_text(f"With all parts: {' '.join(RIGHT[:-1])}.").wait_for()
    assert page.locator(".am-off[aria-pressed=true]").count() == 1
    page.get_by_role("button", name="switch all on").click()
    assert french(page) == RIGHT


def test_without_positions_and_residuals_the_french_is_another(opened):
    for without in (["positions"], ["residuals"]):
        assert french(opened({"without": without})) != RIGHT


def test_without_a_keyboard_trap_the_keys_go_from_station_to_station(opened):
    page = opened()
    page.locator("[data-station=queries] .am-title").focus()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.textContent").startswith("3Queries")  # the focus stays
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.className") == "am-following":
            break
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.textContent").startswith("4Scores")
    assert page.locator(".am-open").get_attribute("data-station") == "scores"


def test_a_state_has_an_address(opened, again):
    page = opened()
    page.locator("[data-key='English word-3']").click()
    page.locator("[data-key='map-scores-2']").click()
    page.locator("[data-station=values] .am-title").click()
    page.locator("[data-station=position] .am-off").click()
    told = page.locator(".am-machine").inner_text()
    again(".am-top button")
    assert page.locator(".am-machine").inner_text() == told


@pytest.mark.parametrize(
    "state", [{"layer": 9}, {"reads": 99, "asks": 99, "writes": 99}, {"open": "cellar"}, {"off": [1]}, {"sentence": 4}]
)
def test_an_address_that_says_nothing_is_passed_over(state, opened):
    assert french(opened(state)) == RIGHT


def test_a_sentence_is_typed_and_an_unknown_word_is_named(opened):
    page = opened()
    line = page.get_by_role("textbox")
    for text, said in (("the small dragon", "“dragon”"), ("", "Type an English"), ("the cat " * 7, "has 14")):
        line.fill(text)
        line.blur()
        assert said in page.locator(".am-unknown").text_content() and french(page) == RIGHT
    line.fill("The small black cat")
    line.blur()
    assert page.locator(".am-unknown").text_content() == "" and french(page) == "le petit chat noir end".split()


# Where the followed word's vector is on the map: over which station.
UNDER = """() => {
  const { left, top } = document.querySelector(".am-traveller").getBoundingClientRect();
  return [...document.querySelectorAll(".am-map button")].filter((stop) => {
    const box = stop.getBoundingClientRect();
    return Math.abs(box.left + box.width / 2 - left) < 1 && Math.abs(box.top - top) < 1;
  }).map((stop) => stop.dataset.key);
}"""
DEEPER = [f"{station}-2" for station in ("heads", "residual", "feed")]
WRITING = [f"{station}-{layer}" for layer in (1, 2) for station in ("french", "cross", "refine")]
ROUTE = ["tokens-0", "position-0", *(f"{station}-1" for station in STATIONS[2:9]), *DEEPER, *WRITING]


@pytest.mark.parametrize("wide", [390, 1280])
def test_it_travels_over_the_map_until_the_reader_does_something(wide, opened, page):
    page.set_viewport_size({"width": wide, "height": 900})
    page.clock.install()
    opened().get_by_role("button", name="watch it travel").click()
    for stop in [*ROUTE, "logits-0"]:
        assert page.evaluate(UNDER) == [f"map-{stop}"]
        assert page.locator("[aria-current=location]").get_attribute("data-key") == f"map-{stop}"
        assert stop.startswith(page.locator(".am-open").get_attribute("data-station"))
        page.clock.run_for(4000)
    page.clock.run_for(4000)
    assert page.get_by_role("button", name="watch it travel").is_visible()  # it has arrived
    page.get_by_role("button", name="watch it travel").click()
    page.locator("[data-key='English word-3']").click()
    page.clock.run_for(60_000)
    assert page.locator(".am-open").get_attribute("data-station") == "tokens"


def test_a_vector_glides_unless_the_reader_wants_calm(opened):
    moving = "document.querySelector('.am-traveller').getAnimations().length"
    for motion, gliding in (("reduce", 0), ("no-preference", 1)):
        page = opened({"open": "scores"}, motion=motion)
        page.locator(".am-traveller canvas").wait_for()
        assert page.evaluate(moving) == 0  # it does not come from the corner
        page.set_viewport_size({"width": 700, "height": 900})
        assert page.evaluate(moving) == 0
        page.set_viewport_size({"width": 1280, "height": 900})
        page.wait_for_timeout(500)
        page.locator("[data-key='map-cross-1']").click()
        assert page.evaluate(moving) == gliding


def test_the_map_leads_to_every_station_in_every_layer(opened):
    page = opened(show="one")
    assert page.locator(".am-map button").count() == 2 * 7 + 2 * 3 + 4
    for stop in page.locator(".am-map button").all():
        stop.click()
        _, station, layer = stop.get_attribute("data-key").split("-")
        assert page.locator(".am-station:visible").get_attribute("data-station") == station
        assert page.evaluate(UNDER) == [f"map-{station}-{layer}"]


def test_stations_are_headings_below_the_page_s(opened):
    tree = opened().locator(".am-machine").aria_snapshot()
    headings = [line.strip(" -:") for line in tree.splitlines() if line.strip().startswith("- heading")]
    assert len(headings) == len(STATIONS) and all(line.endswith("[level=2]") for line in headings)
    assert headings[3] == 'heading "4 Scores" [level=2]'


def test_shut_it_shows_words_and_french_and_names_no_station(opened):
    page = opened(show="shut")
    machine = page.locator(".am-machine")
    assert page.locator(".am-boxes span").count() == len(STATIONS) and machine.get_by_role("button").count() == 0
    written = page.locator(".am-written span")
    assert written.all_inner_texts() == RIGHT[:-1] and "Attention" not in machine.inner_text()
    page.get_by_role("combobox").select_option("the small black cat")
    assert written.all_inner_texts() == "le petit chat noir".split()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("wide", [360, 1280])
def test_it_can_be_read(scheme, wide, opened, page):
    page.set_viewport_size({"width": wide, "height": 900})
    for station in STATIONS:
        opened({"open": station}, color_scheme=scheme)
        assert judges.hard_to_read(page, page.query_selector(".am-explorer")) == [], station
        assert judges.out_of_reach(page) == [], station
    for show in ("one", "shut"):
        opened(show=show, color_scheme=scheme)
        assert judges.hard_to_read(page, page.query_selector(".am-explorer")) == [], show
        assert judges.out_of_reach(page) == [], show
