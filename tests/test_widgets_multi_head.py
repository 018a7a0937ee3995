"""Frames of many heads over their whole range."""

import re

import numpy as np
import pytest

from course_lib import widgets

SHARES = [0, 0.1, 0.3, 0.5, 0.7, 0.9, 1]


@pytest.mark.parametrize("weight", SHARES)
def test_one_head_never_answers_both_questions_and_two_do_unless_they_look_alike(weight):
    one, two = (widgets.two_sources_frame(heads, weight) for heads in (1, 2))
    assert f"<b>{0 if weight == 0.5 else 2} of 4" in one
    assert f"<b>{0 if weight == 0.5 else 4} of 4" in two
    for frame, heads in ((one, 1), (two, 2)):
        assert frame.count("✓") + frame.count("✗") == 4
        assert frame.count(f">{weight:.1f}<") >= 2 * heads - 1 and "nan" not in frame


def test_with_half_of_the_weight_on_each_word_the_two_sentences_look_the_same():
    frame = widgets.two_sources_frame(1, 0.5)
    amounts = re.findall(r">(\d\.\d)<", frame)
    assert amounts[:3] == amounts[3:] and frame.count("cannot tell") == 4


WORDS = ["the", "<b>", "cat"]


@pytest.fixture
def weights():
    scores = np.random.default_rng(1).normal(size=(4, 3, 3), scale=2)
    return np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)


@pytest.mark.parametrize("threshold", [0, 0.05, 0.2, 0.5, 1])
def test_heads_frames_draw_a_line_for_every_weight_that_is_not_too_small(weights, threshold):
    for query in range(3):
        frame = widgets.heads_frame(WORDS, weights, query, threshold)
        drawn = [float(o) for o in re.findall(r'opacity="(1?\.\d\d)"', frame)]
        row = weights[:, query]
        assert drawn == [round(w, 2) for w in row[row >= max(threshold, 0.05)].tolist()]
        written = [float(w) for w in re.findall(r" (1?\.\d\d)</tspan>", frame)]
        assert written == [round(w, 2) for w in row[row >= max(threshold, 0.1)].tolist()]
        assert "<b>" not in frame and "&lt;b&gt;" in frame and frame.count(">head ") == 4


def test_heads_frames_say_where_each_head_looks_most(weights):
    frame = widgets.heads_frame(["the", "black", "cat"], weights, 1)
    label = re.search(r'aria-label="(.*?)"', frame)[1]
    for head, row in enumerate(weights[:, 1], 1):
        assert (
            f"head {head}: {('the', 'black', 'cat')[int(row.argmax())]} {row.max():.2f}".replace(" 0.", " .") in label
        )


def test_one_head_alone_is_the_same_and_twice_as_large(weights):
    every = widgets.heads_frame(WORDS, weights, 1)
    for head in range(4):
        alone = widgets.heads_frame(WORDS, weights, 1, only=head)
        lines = re.findall(r'<path d="[^"]*" opacity="[^"]*"/>', alone)
        assert alone.count(">head ") == 1 and f">head {head + 1}<" in alone
        assert "".join(lines) in every
        wide, tall, shown = (
            int(n) for n in re.search(r'viewBox="0 0 (\d+) (\d+)" width="560" height="(\d+)', alone).groups()
        )
        assert (wide, shown) == (280, 2 * tall)
