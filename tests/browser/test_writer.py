"""The language model in the page: its arithmetic beside Python's, and what a reader does with it."""

import itertools
import json

import numpy as np
import pytest
import torch

from browser import judges
from course_lib import decoding, texts
from course_lib.widgets import Writer, in_page
from course_lib.widgets.writer import LONGEST, MODEL, SIZE, vocabulary

pytestmark = pytest.mark.browser

PROMPTS = ['The "while" statement', "if the object is", "class A:\n   def "]
ODD = [
    *(
        "",
        " ",
        "étude 🐔",
        "a\r\n\tb  c\n\n   d \v\f",
        "aaaaaaa  aaa",
        "\x00\x1f\x7f\x80",
        "\ufeff你好 世界\u2028x\u00a0y",
    ),
    *("==========\n", "x=[1,22, 333]", "İıſK ٣3", "don’t", "if x:\n\treturn  1"),
]
WRITING = in_page.source("engine", "writing")


@pytest.fixture
def run(page):
    """Evaluates a function of the model, the vocabulary and what is given, in the page."""
    page.goto("about:blank")
    page.add_script_tag(content=MODEL.script)
    made = f"const [spec] = Object.values(COURSE_MODELS); {WRITING}"
    page.add_script_tag(content=made + "const model = new LanguageModel(spec), tokens = new BytePairs(spec);")
    return lambda function, given: page.evaluate(function, given)


def windows(count):
    numbers = vocabulary().encode(texts.python_reference().validation)
    return [numbers[i : i + LONGEST] for i in range(0, len(numbers) - LONGEST, len(numbers) // count)][:count]


def test_the_page_cuts_a_text_as_python_does(run):
    given = [*ODD, texts.python_reference().validation[:5_000]]
    cut = run("(all) => all.map((text) => tokens.encode(text))", given)
    assert cut == [vocabulary().encode(text) for text in given]
    assert run("() => tokens.encode('a\\ud83dz \\udc14')", None) == vocabulary().encode("a�z �")
    spelled = run("() => tokens.bytes.map((_, token) => tokens.spelled(token))", None)
    assert spelled == vocabulary().spelled(range(SIZE))
    assert run("(all) => all.map((text) => tokens.decode(tokens.encode(text)))", given) == given


@torch.no_grad()
def test_the_page_computes_what_pytorch_computes(run):
    given = windows(10)
    told = run(
        """(all) => JSON.stringify(all.map((words) => words.map((_, i) => {
          const { order, logits } = model.after(words.slice(0, i + 1)), byToken = [];
          order.forEach((token, rank) => (byToken[token] = Number(logits[rank].toFixed(6))));
          return byToken;
        })))""",
        given,
    )
    expected = MODEL.load()(torch.tensor(given))[0].numpy()
    assert np.abs(np.array(json.loads(told)) - expected).max() < 1e-4


def test_what_was_read_before_changes_nothing(run):
    first, second = windows(2)
    told = run(
        """([first, second]) => {
          const read = (words) => (model.after(words), model.after(words.slice(0, 30)).logits);
          const alone = read(first);
          read(second);
          read([...first.slice(0, 20), ...second.slice(20)]);
          return [alone, read(first)];
        }""",
        [first, second],
    )
    assert told[0] == told[1]


def test_the_page_draws_from_what_python_draws_from(run):
    # In halves, so that some are equal, also where the k likeliest end.
    logits = torch.randn(SIZE, generator=torch.Generator().manual_seed(0)).mul(6).round().div(2)
    logits = logits.sort(descending=True).values
    grid = list(itertools.product((0.1, 0.7, 2.0), (None, 1, 40), (None, 0.05, 0.9)))
    chosen = [dict(zip(("temperature", "top_k", "top_p"), values, strict=True)) for values in grid]
    told = run("([logits, all]) => all.map((choices) => chances(logits, choices))", [logits.tolist(), chosen])
    for (temperature, k, top_p), shares in zip(grid, told, strict=True):
        p = (logits.double()[: k or SIZE] / temperature).softmax(-1)
        p = p if top_p is None else decoding.nucleus(p[None], top_p)[0]
        assert shares == pytest.approx((p[p > 0] / p.sum()).tolist(), abs=1e-9)
    assert run("(logits) => chances(logits, { temperature: 0, top_k: null, top_p: null })", logits.tolist()) == [1]


# ---- under a reader's hands ----


@pytest.fixture
def opened(alone):
    def open_(query="", there="[role=option]", **how):
        return alone(Writer(PROMPTS, {"temperature": 0.7}, hint="Type."), there, query, **how)

    return open_


def written(page):
    return page.locator("[role=option]").all_text_contents()


def bars(page):
    return page.locator(".am-bars tr").evaluate_all("(rows) => rows.map((row) => row.textContent)")


def shares(page):
    return [
        float(said.rstrip("%")) if said != "cut" else 0
        for said in page.locator(".am-bars td:last-child").all_inner_texts()
    ]


def slide(page, name, value):
    page.get_by_role("slider", name=name).fill(str(value))


def test_what_is_typed_is_cut_gone_on_with_and_stops_where_training_did(opened):
    page = opened()
    page.get_by_role("textbox").fill("étude: the object")
    tokens = vocabulary().encode("étude: the object")
    assert page.locator(".am-typed > span").count() == len(tokens)
    assert page.locator(".am-typed").text_content().replace("\u200b", "") == "<c3><a9>tude:·the·object"
    assert len(written(page)) == LONGEST - len(tokens)
    told = page.locator(".am-told").inner_text()
    assert f"{len(tokens)} tokens typed" in told and f"stops at {LONGEST}, the longest text" in told


@torch.no_grad()
def test_the_bars_are_the_model_s(opened):
    page = opened("?temperature=1")
    p = MODEL.load()(torch.tensor([vocabulary().encode(PROMPTS[0])]))[0][0, -1].softmax(-1).sort(descending=True).values
    assert shares(page) == pytest.approx([*(100 * p[:12]).tolist(), 100 * p[12:].sum().item()], abs=0.051)
    page.get_by_role("combobox").select_option(index=1)
    assert page.get_by_role("textbox").input_value() == PROMPTS[1]
    assert "·object·is”" in page.locator(".am-bars caption").inner_text()


@pytest.mark.parametrize(("text", "left"), [("word " * 40, 0), ("", 0), ("x " * 62 + "y", 1)])
def test_a_text_that_is_too_long_or_empty_is_told_and_not_cut(text, left, opened):
    page, number = opened(), len(vocabulary().encode(text))
    page.get_by_role("textbox").fill(text)
    assert len(written(page)) == left and page.locator(".am-typed > span").count() == number
    if left:
        assert number == LONGEST - 1 and page.get_by_role("alert").count() == 0
    else:
        said = page.get_by_role("alert").inner_text()
        assert (f"These are {number} tokens" if number else "Type something") in said
        assert not page.locator(".am-bars").is_visible()


def test_sliders_move_the_bars_and_the_text(opened):
    page = opened()
    before, text = shares(page), written(page)
    slide(page, "temperature", 20)
    hot = shares(page)
    assert hot[0] < before[0] and hot[-1] > before[-1] and written(page) != text
    slide(page, "top-k", 4)  # the fifth value, 5
    five = shares(page)
    assert sum(five) == pytest.approx(100, abs=0.5) and five[5:] == [0] * 8 and min(five[:5]) > 0
    slide(page, "top-p", 1)
    assert shares(page) == [100] + [0] * 12
    slide(page, "top-p", 20)
    slide(page, "top-k", 18)
    slide(page, "temperature", 0)
    assert shares(page) == [100] + [0] * 12
    likeliest = written(page)
    page.get_by_role("button", name="write another").click()
    assert written(page) == likeliest


def test_another_text_is_another_and_a_seed_gives_the_same(opened):
    page = opened()
    texts = [written(page)]
    for _ in range(2):
        page.get_by_role("button", name="write another").click()
        texts.append(written(page))
    assert texts[0] != texts[1] != texts[2]
    assert written(opened("?seed=2")) == texts[1]


def test_a_chosen_token_shows_what_it_was_drawn_from_and_what_stands_before_it_stays(opened):
    page = opened()
    text, first = written(page), bars(page)
    page.locator("[role=option]").nth(9).click()
    assert written(page) == text and bars(page) != first
    chosen = page.locator("[role=option][aria-selected=true]").text_content().replace("\u200b", "").replace("\n", "")
    assert page.locator(".am-drawn th").inner_text()[:10] == chosen[:10]  # a long one is shortened
    for _ in range(3):
        page.get_by_role("button", name="write another").click()
    slide(page, "temperature", 15)
    assert written(page)[:9] == text[:9] and written(page) != text
    assert page.locator(".am-drawn").count() == 1  # however unlikely


def test_the_keyboard_goes_from_token_to_token(opened):
    page = opened()
    for _ in range(3):
        page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.role") == "option"
    first = bars(page)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    place = "[...document.querySelectorAll('[role=option]')].indexOf(document.activeElement)"
    assert page.evaluate(place) == 2 and bars(page) != first
    page.keyboard.press("End")
    page.keyboard.press("ArrowRight")
    assert page.evaluate(place) == len(written(page)) - 1
    page.keyboard.press("Home")
    assert page.evaluate(place) == 0 and bars(page) == first
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowLeft")  # temperature
    assert bars(page) != first


def test_every_state_has_an_address(opened, again):
    page = opened()
    page.get_by_role("textbox").fill("A 🐔 is")
    slide(page, "top-p", 15)
    page.locator("[role=option]").nth(4).click()
    page.get_by_role("button", name="write another").click()
    kept = written(page), bars(page)
    again("[role=option]")
    assert (written(page), bars(page)) == kept


@pytest.mark.parametrize("query", ["?temperature=9", "?top_k=0", "?kept=[4000]", "?at=x", "?text=7", "?seed=-1"])
def test_an_address_that_says_nothing_is_passed_over(query, opened):
    first = written(opened())
    assert written(opened(query)) == first


def test_a_state_is_taken_from_another_window_and_told_to_it(opened):
    page = opened()
    page.evaluate("document.addEventListener('am-told', ({ detail }) => (globalThis.told = detail))")
    page.get_by_role("textbox").fill("Return the")
    page.locator("[role=option]").nth(4).click()
    page.get_by_role("button", name="write another").click()
    told, kept = page.evaluate("told"), (written(page), bars(page))
    page = opened()
    page.evaluate(
        "(detail) => document.querySelector('.am-tells').dispatchEvent(new CustomEvent('am-take', { detail }))", told
    )
    assert (written(page), bars(page)) == kept


def test_tokens_come_one_by_one_unless_the_reader_wants_calm(opened):
    page = opened(motion="no-preference")
    page.wait_for_selector("[aria-busy=false]")
    text = written(page)
    page.get_by_role("button", name="write another").click()
    page.get_by_role("button", name="write another").click()
    assert len(written(page)) < len(text)
    page.wait_for_selector("[aria-busy=false]")
    assert len(written(page)) == len(text)
    assert page.locator("[aria-live]").last.text_content().startswith("The model continues:")


@pytest.mark.expects("ERR_FILE_NOT_FOUND")
def test_without_its_weights_it_says_what_to_do(opened):
    opened(there="text=The writer's weights were not found", weights=False)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("wide", [320, 1280])
def test_it_can_be_read(scheme, wide, opened):
    page = opened(color_scheme=scheme)
    page.set_viewport_size({"width": wide, "height": 900})
    root = page.query_selector(".am-explorer")
    slide(page, "top-k", 3)
    for text in ("class A:\n\tdef é(self): ", "=" * 40, "word " * 40):
        page.get_by_role("textbox").fill(text)
        assert judges.hard_to_read(page, root) == []
        assert judges.out_of_reach(page) == []
