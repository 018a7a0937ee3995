"""Frames of the warm-up over their whole range."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib import widgets


@given(st.lists(st.integers(-2, 5), min_size=1, max_size=4), st.integers(-3, 3))
def test_softmax_frames_show_weights_that_a_shift_leaves_alone(scores, shift):
    words = ["the", "black", "cat", "runs"][: len(scores)]
    frame = widgets.softmax_frame(words, *scores)
    said = re.search(r'aria-label="weights: (.*?)"', frame)[1].split(", ")
    assert [name for name, _ in map(str.split, said)] == list(words)
    expected = np.exp(scores) / np.exp(scores).sum()
    np.testing.assert_allclose([float(entry.split()[1]) for entry in said], expected, atol=5e-4)
    bars = [float(length) for length in re.findall(r'<path d="M170 \d+h([\d.]+)v', frame)]
    np.testing.assert_allclose(bars, 150 * expected, atol=0.06)
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
