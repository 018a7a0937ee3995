"""Explorers: pure functions over their whole range, and the shell around them."""

import html
import itertools
import json
import re
from xml.etree import ElementTree

import nbformat
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib import widgets
from course_lib.tools import lessons

VIEW = "application/vnd.jupyter.widget-view+json"

WORDS = tuple("the a black small cat dog bird runs sees and".split())


@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=6))
def test_with_numbers_enough_a_sentence_comes_back_whole(sentence):
    state, read = widgets.remember(sentence, WORDS, 512)
    assert read == sentence
    assert state.shape == (512,)


def test_the_memory_is_the_recurrence_that_the_lesson_states():
    state, _ = widgets.remember(["cat", "runs"], WORDS, 4)
    random = np.random.default_rng(4)
    rotation, _ = np.linalg.qr(random.normal(size=(4, 4)))
    codes = random.normal(size=(len(WORDS), 4))
    codes /= np.linalg.norm(codes, axis=1, keepdims=True)
    expected = rotation @ codes[WORDS.index("cat")] + codes[WORDS.index("runs")]
    np.testing.assert_allclose(state, expected, rtol=1e-12)
    np.testing.assert_allclose(rotation @ rotation.T, np.eye(4), atol=1e-12)


def test_one_number_cannot_hold_a_long_sentence():
    sentence = WORDS * 2
    _, read = widgets.remember(sentence, WORDS, 1)
    assert sum(a == b for a, b in zip(sentence, read, strict=True)) < 10


@pytest.mark.parametrize(
    ("words", "numbers", "message"), [(["cow"], 8, "'cow' is not in the vocabulary"), (["cat"], 0, "0 numbers")]
)
def test_what_cannot_be_remembered_is_named(words, numbers, message):
    with pytest.raises(ValueError, match=message):
        widgets.remember(words, WORDS, numbers)


def test_memory_frames_are_sound_over_their_whole_range():
    for numbers, length in itertools.product([1, 2, 16, 256], range(1, 21)):
        frame = widgets.memory_frame(WORDS * 2, WORDS, length, numbers)
        right = int(re.search(r"<b>(\d+) of (\d+) words", frame)[1])
        _, read = widgets.remember((WORDS * 2)[:length], WORDS, numbers)
        assert frame.count("✗") == length - right
        assert right == sum(a == b for a, b in zip(WORDS * 2, read, strict=False))
        assert frame.count("v") >= numbers and "nan" not in frame


@given(*[st.lists(st.sampled_from(["le", "chat", "<b>", "noir"]), min_size=1, max_size=8)] * 2)
def test_translation_frames_mark_exactly_what_does_not_belong(reference, written):
    frame = widgets.translation_frame(["the", "cat"], reference, written)
    assert ("✓ all right" in frame) == (reference == written)
    assert html.escape(" ".join(reference)) in frame
    assert "<b>" not in frame.replace("<b>2 English", "").replace("<b>the model", "").replace(
        "<b>it should", ""
    ).replace("<b>✓", "").replace("<b>✗", "")


def test_a_translation_that_stops_early_is_not_all_right():
    frame = widgets.translation_frame(["the", "black", "cat"], ["le", "chat", "noir"], ["le", "chat"])
    assert "✓" not in frame and "1 word wrong or missing" in frame
    assert "3 words wrong or missing" in widgets.translation_frame(["the", "black", "cat"], ["le", "chat", "noir"], [])


STATES = np.array([[0.9, 0.4], [-0.3, 0.95], [-0.85, -0.5]])


@pytest.mark.parametrize("length", [0, 1, 4])
def test_flashlight_frames_say_the_softmax_of_the_dot_products(length):
    for degrees in range(0, 360, 10):
        query = length * np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))])
        weights = np.exp(STATES @ query) / np.exp(STATES @ query).sum()
        frame = widgets.flashlight_frame(["the", "<b>", "cat"], STATES, degrees, length)
        assert re.findall(r">(\d\.\d\d)<", frame) == [f"{weight:.2f}" for weight in weights]
        assert f"({weights @ STATES[:, 0]:.2f}, {weights @ STATES[:, 1]:.2f})" in frame
        assert "<b>" not in frame and "nan" not in frame


def test_attention_frames_show_weights_scores_gold_and_candidates():
    frame = widgets.attention_frame(
        ["le", "chat", "noir"], [0.1, 0.3, 0.6], ["the", "black"], {"black": 0.9, "<eos>": 0.1}, [2], [0.1, 2.0, 2.4]
    )
    assert re.findall(r">(\d\.\d\d)<", frame) == ["0.10", "0.30", "0.60", "0.90", "0.10"]
    assert re.findall(r"e = (\d\.\d)", frame) == ["0.1", "2.0", "2.4"]
    assert "written: the <b>black</b>" in frame and "&lt;eos&gt;" in frame and "<eos>" not in frame
    (gold,) = re.findall(r'<text x="(\d+)" y="140" fill="#d55e00">◆', frame)
    assert f'<text x="{gold}" y="124">noir' in frame
    without = widgets.attention_frame(["le"], [1.0], ["the"], {"the": 1.0})
    assert "◆" not in without and "e =" not in without


def test_on_demand_a_frame_is_computed_when_it_is_chosen():
    computed = []

    def frame(size):
        computed.append(size)
        return f"size {size}"

    explorer = widgets.Explorer(frame, {"size": range(1000)}, start={"size": 7}, ahead=False)
    assert (computed, explorer.shown()) == ([7], "size 7")
    explorer.chosen = [3]
    assert (computed, explorer.shown()) == ([7, 3], "size 3")


@pytest.fixture
def explorer():
    return widgets.Explorer(
        lambda colour, size: f"{size} {colour}</script>",
        {"colour": ["red", "blue"], "size": range(1, 4)},
        start={"size": 2},
    )


def test_an_explorer_has_a_frame_for_every_state(explorer):
    assert len(explorer.frames) == 6
    assert (explorer.summary(), explorer.shown()) == ("colour: red, size: 2", "2 red</script>")
    explorer.chosen = [1, 2]
    assert (explorer.summary(), explorer.shown()) == ("colour: blue, size: 3", "3 blue</script>")
    assert [control["slider"] for control in explorer.controls] == [False, True]


@pytest.fixture
def displayed(monkeypatch):
    """The bundles that are displayed."""
    bundles = []
    monkeypatch.setattr(widgets, "display", lambda bundle, **_: bundles.append(bundle))
    return bundles


def test_above_a_widget_stands_what_it_shows_where_no_kernel_runs(displayed):
    drawn = widgets.Explorer(lambda size: f'<div>of <svg role="img">{size}</svg></div>', {"size": [2, 3]})
    drawn._ipython_display_()
    drawing, words, view = displayed
    assert drawing["image/svg+xml"] == '<svg xmlns="http://www.w3.org/2000/svg" role="img">2</svg>'
    assert words["text/html"] == '<div class="am-still"><p><i>size: 2</i></p><div>of </div></div>'
    assert "text/html" not in view and VIEW in view
    assert {bundle["text/plain"] for bundle in displayed} == {"size: 2"}


def test_every_drawing_is_an_image_of_its_own():
    """In any state of any explorer: an image is stricter than the HTML that it stands in."""
    drawn = 0
    for path in lessons.find():
        for model in nbformat.read(path, as_version=4).metadata.widgets[lessons.WIDGET_STATE]["state"].values():
            for frame in model["state"].get("frames", {}).values():
                for drawing in widgets.SVG.findall(frame):
                    drawn += ElementTree.fromstring(drawing).tag == "svg"
    assert drawn > 1000


def test_the_standalone_page_asks_for_nothing_and_cannot_be_broken_out_of(explorer):
    page = explorer.standalone()
    assert page.count("</script>") == 1
    assert not re.search(r"https?://|src=|import ", page)
    state = json.loads(re.search(r"const state = (\{.*?\}), heard", page, re.S)[1])
    assert state["frames"]["1,2"] == "3 blue</script>"


@pytest.mark.parametrize(
    ("controls", "start", "message"),
    [({"size": []}, {}, "'size' has no value"), ({"size": [1, 2]}, {"size": 3}, "size = 3 is none of")],
)
def test_an_explorer_refuses_controls_that_cannot_be_set(controls, start, message):
    with pytest.raises(ValueError, match=message):
        widgets.Explorer(lambda size: "", controls, start)


def test_a_prediction_comes_back_to_what_was_said(monkeypatch):
    shown = []
    monkeypatch.setattr(widgets, "display", lambda thing: shown.append(thing.data))
    guess = widgets.Prediction("How many?", ["few", "many < all"])
    guess.compare("12")
    guess.chosen = 1
    guess.compare("12")
    assert shown == [
        "<p>Measured: <b>12</b>.</p>", "<p>You predicted: <b>many &lt; all</b>. Measured: <b>12</b>.</p>"
    ]  # fmt: skip
    assert "many &lt; all" in guess.still()


def test_saved_widgets_have_the_module_of_today():
    """Slides and site show widgets as they were saved; after a change of a module, `make notebooks` saves them anew."""
    kinds = {kind._esm for kind in (widgets.Explorer, widgets.Prediction, widgets.MaskPainter)}
    for path in lessons.find():
        models = nbformat.read(path, as_version=4).metadata.widgets[lessons.WIDGET_STATE]["state"].values()
        assert {model["state"]["_esm"] for model in models if "_esm" in model["state"]} <= kinds, path.name


# ---- the warm-up ----


@given(st.lists(st.integers(-2, 5), min_size=1, max_size=4), st.integers(-3, 3))
def test_softmax_frames_show_weights_that_a_shift_leaves_alone(scores, shift):
    words = WORDS[: len(scores)]
    frame = widgets.softmax_frame(words, *scores)
    said = re.search(r'aria-label="weights: (.*?)"', frame)[1].split(", ")
    assert [name for name, _ in map(str.split, said)] == list(words)
    expected = np.exp(scores) / np.exp(scores).sum()
    np.testing.assert_allclose([float(entry.split()[1]) for entry in said], expected, atol=5e-4)
    bars = [float(length) for length in re.findall(r'<path d="M170 \d+h([\d.]+)v', frame)]
    np.testing.assert_allclose(bars, 170 * expected, atol=0.06)
    shifted = widgets.softmax_frame(words, *[score + shift for score in scores])
    assert re.findall(r"<path.*?/>", shifted) == re.findall(r"<path.*?/>", frame)


def test_words_in_a_softmax_frame_cannot_break_it():
    frame = widgets.softmax_frame(['<b>"'], 1)
    assert "<b>" not in frame and frame.count("&lt;b&gt;") == 2


def parabola(w):
    return (w - 4) ** 2


def its_slope(w):
    return 2 * (w - 4)


@pytest.mark.parametrize("rate", [0.01, 0.1, 0.5, 0.9, 1.0, 1.1])
def test_descent_frames_tell_where_the_steps_lead(rate):
    for steps in range(9):
        frame = widgets.descent_frame(parabola, its_slope, 3.0, (2, 6), rate, steps)
        w = 4 - (1 - 2 * rate) ** steps
        here = f"w = {w:.2f}, loss {parabola(w):.2f}".replace("-", "−")
        assert frame.count(here) == 2, "once in words, once for those who do not see the picture"
        assert ("off the picture" in frame) == (not 2 <= w <= 6)
        assert frame.count("→") == steps and frame.count("h.1") == steps + 1
        assert "nan" not in frame and "1 steps" not in frame
