"""The translator in the page: its arithmetic beside PyTorch's, and what a reader does with it."""

from functools import partial

import numpy as np
import pytest
import torch
from sweeps import sweep

from browser import judges
from course_lib import decoding
from course_lib.corpus import toy_french
from course_lib.layers import PreNorm
from course_lib.transformer import Transformer, without_heads
from course_lib.widgets import Translator, in_page
from course_lib.widgets.translator import MODELS

pytestmark = pytest.mark.browser

CHICKEN = "the chicken did not cross the road because it was tired"
EXAMPLES = [CHICKEN, "the small black cat", "the dog runs"]
TRANSLATE = """([name, sentences, more]) => {
  const spec = COURSE_MODELS[name], engine = new KINDS[spec.kind](spec);
  const flat = (rows) => rows.map((row) => Array.from(row));
  return sentences.map((words) => {
    const { words: written, logits, looks, maps } = translate(engine, words, { ...WHOLE, ...more });
    return { written, logits: flat(logits ?? []), looks, maps };
  });
}"""


@pytest.fixture(scope="session", params=MODELS)
def name(request):
    return request.param


@pytest.fixture
def engine(page):
    """Translates numbers of words in the page: by the name of the model, sentences, and what differs from usual."""
    page.goto("about:blank")
    source = in_page.source("engine", "translating")
    page.add_script_tag(content=source + "Object.assign(globalThis, { KINDS, WHOLE, translate });")

    def run(name, sentences, **more):
        page.add_script_tag(content=MODELS[name].script)
        return page.evaluate(TRANSLATE, [name, sentences, more])

    return run


def sentences(each):
    """The first of each of the five trained ranges of lengths: their words, and the words' numbers."""
    corpus = toy_french()
    pairs = [pair.source for (_, longest), pairs in corpus.test.items() if longest <= 20 for pair in pairs[:each]]
    return pairs, [corpus.source_vocabulary.encode(words) for words in pairs]


@torch.no_grad()
def by_torch(model, source, written):
    """Logits, and the maps [layer][query][head][key] of encoder, decoder and cross-attention."""
    source, read = torch.tensor([source]), torch.tensor([[1, *written[:-1]]])
    if isinstance(model, Transformer):
        logits, maps = model(source, None, read, need_weights=True)
        return logits[0], *(each[0].transpose(1, 2) for each in maps)
    logits, weights = model(source, None, read)
    return logits[0], None, None, weights[0][None, :, None]


def farthest(model, sources, told):
    """The largest difference between the page and PyTorch, over logits and maps."""
    far = 0.0
    for source, said in zip(sources, told, strict=True):
        logits, encoder, own, cross = by_torch(model, source, said["written"])
        far = max(far, np.abs(np.array(said["logits"]) - logits.numpy()).max())
        for layer, weights in enumerate(encoder if encoder is not None else ()):
            far = max(far, np.abs(np.array(said["maps"][layer]) - weights.numpy()).max())
        for step, looks in enumerate(said["looks"]):
            for layer, weights in enumerate(looks["cross"]):
                far = max(far, np.abs(np.array(weights) - cross[layer, step].numpy()).max())
            for layer, weights in enumerate(looks["own"]):
                far = max(far, np.abs(np.array(weights) - own[layer, step, :, : step + 1].numpy()).max())
    return far


@pytest.mark.parametrize("each", sweep([8, 40], "8"))
def test_the_page_computes_what_pytorch_computes(name, engine, each):
    _, sources = sentences(each)
    told = engine(name, sources)
    assert len(told) == 5 * each
    assert farthest(MODELS[name].load(), sources, told) < 1e-4


@pytest.mark.parametrize("each", sweep([2, 8], "2"))
def test_the_page_writes_what_pytorch_writes(name, engine, each):
    pairs, sources = sentences(each)
    corpus, model = toy_french(), MODELS[name].load()
    for told, search in (
        (engine(name, sources), decoding.greedy),
        (engine(name, sources, beam=4), partial(decoding.beam, width=4)),
    ):
        expected = [corpus.target_vocabulary.encode(w.tokens) for w in search(model, corpus, pairs)]
        assert [[word for word in said["written"] if word != 2] for said in told] == expected


class NoResidual(PreNorm):
    def after(self, x, y):
        return y


def without_positions(model):
    model.source_embedding.positions = model.target_embedding.positions = None
    return model


FEED = ["encoder.layers.0.feed_forward", "decoder.layers.1.feed_forward"]


@torch.no_grad()
def without_feed_forward(model):
    for name in FEED:
        for parameter in model.get_submodule(f"{name}.outer").parameters():
            parameter.zero_()
    return model


def without_residuals(model):
    for part in model.modules():
        if isinstance(part, PreNorm):
            part.__class__ = NoResidual
    return model


HEADS = [("decoder.layers.1.cross_attention", 0), ("decoder.layers.0.self_attention", 3)]


@pytest.mark.parametrize(
    ("switched", "build"),
    [
        ({"positions": False}, without_positions),
        ({"residuals": False}, without_residuals),
        ({"off": [f"{part}.{head}" for part, head in HEADS]}, lambda model: without_heads(model, HEADS)),
        ({"off": FEED}, without_feed_forward),
    ],
)
def test_what_is_switched_off_is_off(switched, build, engine):
    _, sources = sentences(4)
    told = engine("trained_transformer", sources, **switched)
    model = build(MODELS["trained_transformer"].load())
    assert farthest(model, sources, told) < 1e-4
    assert [said["written"] for said in told] != [said["written"] for said in engine("trained_transformer", sources)]


def test_without_the_mask_earlier_words_are_read_anew(engine, monkeypatch):
    _, sources = sentences(2)
    told = engine("trained_transformer", sources, mask=False)
    model = MODELS["trained_transformer"].load()
    sees_all = lambda queries, start=0: torch.ones(1, 1, queries - start, queries, dtype=torch.bool)  # noqa: E731
    monkeypatch.setattr("course_lib.transformer.causal_mask", sees_all)
    for source, said in zip(sources, told, strict=True):
        for step, logits in enumerate(said["logits"]):
            expected = by_torch(model, source, said["written"][: step + 1])[0][-1]
            assert np.abs(np.array(logits) - expected.numpy()).max() < 1e-4


def test_without_attention_all_words_count_alike(engine):
    (_, sources), name = sentences(2), "reads_both_ways"
    for source, said in zip(sources, engine(name, sources, even=True), strict=True):
        assert np.allclose([looks["cross"][0][0] for looks in said["looks"]], 1 / len(source))


def test_draws_follow_the_seed_and_the_temperature(engine):
    _, sources = sentences(1)
    hot = [engine("trained_transformer", sources, temperature=2, seed=seed) for seed in (1, 1, 2)]
    written = [[said["written"] for said in told] for told in hot]
    assert written[0] == written[1] != written[2]
    cold = engine("trained_transformer", sources, temperature=0.05)
    assert [said["written"] for said in cold] == [said["written"] for said in engine("trained_transformer", sources)]


# ---- under a reader's hands ----


@pytest.fixture
def opened(alone):
    def open_(name="trained_transformer", query="", there=".am-word", **how):
        return alone(Translator(name, EXAMPLES, {"at": {"side": "french", "place": 10}}), there, query, **how)

    return open_


def french(page):
    return page.locator(".am-line[lang=fr] .am-word > span").all_inner_texts()


RIGHT = "le poulet n' a pas traversé la route parce qu' il était fatigué".split()


CLIPBOARDS = {"none": "undefined", "one that refuses": "{ writeText: () => Promise.reject(new Error('not allowed')) }"}


@pytest.mark.parametrize("clipboard", CLIPBOARDS)
def test_where_nothing_can_be_copied_the_button_says_what_to_do(opened, page, clipboard):
    page.add_init_script(f"Object.defineProperty(navigator, 'clipboard', {{ value: {CLIPBOARDS[clipboard]} }})")
    opened().get_by_role("button", name="copy the address of this").click()
    page.get_by_role("button", name="copy it from the address bar").wait_for(timeout=5000)


def test_what_the_model_looks_at_is_told_at_a_distance_from_the_buttons(opened):
    page = opened()
    button, told = page.get_by_role("button", name="copy the address of this"), page.locator(".am-said")
    box = button.bounding_box()
    assert told.bounding_box()["y"] - box["y"] - box["height"] >= 4


def test_a_sentence_is_typed_or_clicked_together(opened):
    page = opened()
    assert french(page) == RIGHT
    line = page.get_by_role("textbox")
    line.fill("the small black cat ")
    assert french(page) == "le petit chat noir".split()
    page.get_by_role("group", name="words that may come next").get_by_text("sleeps", exact=True).click()
    assert french(page) == "le petit chat noir dort".split()
    page.get_by_role("button", name="remove the last word").click()
    assert french(page) == "le petit chat noir".split()
    line.fill("The dog, sleeps.")
    assert french(page) == "le chien dort".split()


@pytest.mark.parametrize(("text", "key"), [("the zebra sleeps", ""), ("the zebra ", ""), ("the zebra", "Enter")])
def test_a_word_that_it_has_never_read_is_named(text, key, opened):
    page = opened()
    page.get_by_role("textbox").fill(text)
    if key:
        assert page.get_by_role("alert").count() == 0  # it may be the beginning of a word
        page.keyboard.press(key)
    assert "“zebra”" in page.get_by_role("alert").inner_text()
    assert page.locator(".am-stale").count() == 1
    assert french(page) == RIGHT
    page.get_by_role("textbox").fill("the dog sleeps")
    assert page.locator(".am-stale").count() == 0


def test_the_temperature_is_dragged(opened):
    page = opened()
    box = page.get_by_role("slider").bounding_box()
    page.mouse.move(box["x"] + 8, box["y"] + box["height"] / 2)
    page.mouse.down()
    for step in range(1, 11):
        page.mouse.move(box["x"] + box["width"] * step / 10, box["y"] + box["height"] / 2)
    page.mouse.up()
    assert page.get_by_role("slider").input_value() == "30"
    assert page.locator(".am-choices output").inner_text() == "3.0"


def test_what_changes_nothing_is_said_to(opened):
    page = opened()
    told = page.locator(".am-same")
    assert told.inner_text() == ""
    page.get_by_role("button", name="English looks at English, layer 1, head 1: switch off").click()
    assert "The French is the same" in told.inner_text()
    page.get_by_role("button", name="positions").click()
    assert told.inner_text() == ""


def test_a_head_that_is_off_takes_no_share_of_another_attention(opened):
    page = opened()
    own = page.locator(".am-line[lang=fr] small")
    page.get_by_role("button", name="il", exact=True).hover()
    before = own.all_inner_texts()
    page.get_by_role("button", name="French looks at English, layer 2, head 1: switch off").click()
    page.get_by_role("button", name="il", exact=True).hover()
    after = own.all_inner_texts()
    assert french(page) == RIGHT
    assert [float(share or 0) for share in after] == pytest.approx([float(share or 0) for share in before], abs=0.03)


ARCS = """() => [...document.querySelectorAll(".am-arcs > path")].map(({ dataset, attributes }) => (
  { key: dataset.key, wide: Number(attributes["stroke-width"].value), line: attributes.d.value }))"""


def weights_of(name, place):
    """What PyTorch's model looks at as it writes the word at this place: cross-attention, last layer, [head][word]."""
    corpus = toy_french()
    source, written = corpus.source_vocabulary.encode(CHICKEN.split()), corpus.target_vocabulary.encode(RIGHT)
    *_, cross = by_torch(MODELS[name].load(), source, [*written, 2])
    return cross[-1, place].numpy()


def test_arcs_are_as_wide_as_the_weights(opened, name):
    page = opened(name)
    page.get_by_role("button", name="il", exact=True).hover()
    weights = weights_of(name, RIGHT.index("il"))
    drawn = {arc["key"]: arc["wide"] for arc in page.evaluate(ARCS) if arc["key"].startswith("french-english")}
    expected = {
        f"french-english-{place}-{head}": 1 + 6 * weight
        for head, row in enumerate(weights)
        for place, weight in enumerate(row)
        if weight >= 0.03
    }
    assert drawn == pytest.approx(expected, abs=0.01)
    shares = [float(text or 0) for text in page.locator(".am-line[lang=en] small").all_inner_texts()]
    assert shares == pytest.approx([share if share >= 0.05 else 0 for share in weights.mean(0)], abs=0.006)
    strongest = CHICKEN.split()[weights.mean(0).argmax()]
    assert f"the model looks at: in the English {strongest}" in page.locator(".am-said").inner_text()


def test_an_english_word_looks_at_english_words(opened):
    page = opened()
    page.locator(".am-line[lang=en] .am-word").nth(CHICKEN.split().index("it")).focus()
    assert {arc["key"].rpartition("-")[0].rpartition("-")[0] for arc in page.evaluate(ARCS)} == {"english-english"}


def test_layer_head_and_switches_change_what_is_seen(opened):
    page = opened()
    seen = [page.evaluate(ARCS)]
    page.get_by_role("group", name="layer").get_by_text("1", exact=True).click()
    seen.append(page.evaluate(ARCS))
    page.get_by_role("group", name="head", exact=True).get_by_text("2", exact=True).click()
    seen.append(page.evaluate(ARCS))
    assert {arc["key"][-1] for arc in seen[-1]} == {"1"}
    assert seen[0] != seen[1] != seen[2]
    page.get_by_role("button", name="positions").click()
    assert french(page) != RIGHT
    page.get_by_role("button", name="all as it was").click()
    assert french(page) == RIGHT
    page.get_by_role("button", name="French looks at English, layer 2, head 1: switch off").click()
    assert not any(arc["key"].endswith("-0") and "english" in arc["key"][6:] for arc in page.evaluate(ARCS))


def test_every_state_has_an_address(opened, again):
    page = opened()
    page.get_by_role("textbox").fill("the small black cat")
    page.get_by_role("group", name="layer").get_by_text("1", exact=True).click()
    page.get_by_role("button", name="residuals").click()
    page.get_by_role("button", name="draw other words").click()
    page.locator(".am-line[lang=fr] .am-word").first.click()
    kept, arcs = french(page), page.evaluate(ARCS)
    again(".am-word")
    assert (french(page), page.evaluate(ARCS)) == (kept, arcs)
    assert page.get_by_role("textbox").input_value() == "the small black cat"


@pytest.mark.parametrize(
    "query",
    ["?layer=9", "?at=7", "?at={}", "?sentence=4&off=[1]", "?temperature=-1", "?seed=x", "?without=%5B%22all%22%5D"],
)
def test_an_address_that_says_nothing_is_passed_over(query, opened):
    assert french(opened(query=query)) == RIGHT


def test_words_come_one_by_one_unless_the_reader_wants_calm(opened, page):
    hidden = "document.querySelectorAll('.am-unwritten').length"
    assert opened().evaluate(hidden) == 0
    page.emulate_media(reduced_motion="no-preference")
    page.get_by_role("textbox").fill("the dog runs")
    assert page.evaluate(hidden) > 0
    page.wait_for_function(f"{hidden} === 0")


@pytest.mark.expects("ERR_FILE_NOT_FOUND")
def test_without_its_weights_it_says_what_to_do(opened):
    opened(there="text=The translator's weights were not found", weights=False)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("wide", [360, 1280])
def test_it_can_be_read(scheme, wide, opened, name):
    page = opened(name, color_scheme=scheme)
    page.set_viewport_size({"width": wide, "height": 900})
    assert judges.hard_to_read(page, page.query_selector(".am-explorer")) == []
    assert judges.out_of_reach(page) == []
