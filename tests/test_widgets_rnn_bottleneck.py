"""Frames of the RNN bottleneck over their whole range."""

import html
import itertools
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib import widgets

WORDS = tuple("the a black small cat dog bird runs sees and".split())


@pytest.mark.slow
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
    assert ("✓ all correct" in frame) == (reference == written)
    assert html.escape(" ".join(reference)) in frame
    assert "<b>" not in frame.replace("<b>2 English", "").replace("<b>the model", "").replace(
        "<b>it should", ""
    ).replace("<b>✓", "").replace("<b>✗", "")


def test_a_translation_that_stops_early_is_not_all_right():
    frame = widgets.translation_frame(["the", "black", "cat"], ["le", "chat", "noir"], ["le", "chat"])
    assert "✓" not in frame and "1 word wrong or missing" in frame
    assert "3 words wrong or missing" in widgets.translation_frame(["the", "black", "cat"], ["le", "chat", "noir"], [])
