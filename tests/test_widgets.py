"""Explorers: pure functions over their whole range, and the shell around them."""

import html
import itertools
import json
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib import widgets

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


@pytest.fixture
def explorer():
    return widgets.Explorer(
        lambda colour, size: f"{size} {colour}</script>",
        {"colour": ["red", "blue"], "size": range(1, 4)},
        start={"size": 2},
    )


def test_an_explorer_has_a_frame_for_every_state(explorer):
    assert len(explorer.frames) == 6
    assert (explorer.state(), explorer.shown()) == ("colour: red, size: 2", "2 red</script>")
    explorer.chosen = [1, 2]
    assert (explorer.state(), explorer.shown()) == ("colour: blue, size: 3", "3 blue</script>")
    assert [control["slider"] for control in explorer.controls] == [False, True]


def test_an_explorer_shows_its_frame_where_no_kernel_runs(explorer):
    data, _ = explorer._repr_mimebundle_()
    assert "2 red" in data["text/html"] and "colour: red, size: 2" in data["text/html"]


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
    assert "nothing yet" in shown[0] and "many &lt; all" in shown[1] and "12" in shown[1]
    assert "many &lt; all" in guess._repr_mimebundle_()[0]["text/html"]
