"""The frame of the decoder's stepper."""

import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from course_lib import widgets

SOURCE, READ = ["the", "<b>", "cat"], ["<bos>", "le"]


def frame(heads=4, source=SOURCE, read=READ):
    random = np.random.default_rng(0)
    cross, own = random.dirichlet(np.ones(len(source)), heads), random.dirichlet(np.ones(len(read)), heads)
    return cross, own, widgets.decoder_frame(source, read, cross, own, {"chat": 0.9, "<eos>": 0.05})


def test_every_weight_that_can_be_seen_is_written_and_every_head_is_named():
    cross, own, drawn = frame()
    for weight in (*cross.flat, *own.flat):
        assert (f">{weight:.2f}<".replace(">0.", ">.") in drawn) == (weight >= 0.05)
    assert all(drawn.count(f">head {head}<") == 2 for head in (1, 2, 3, 4))


def test_the_label_tells_where_each_head_looks_most():
    cross, own, drawn = frame()
    for title, words, weights in (("the sentence", ["the", "&lt;b&gt;", "cat"], cross), ("what is written", READ, own)):
        head = int(weights.max(1).argmax())
        best = int(weights[head].argmax())
        word = words[best].replace("<bos>", "&lt;bos&gt;")
        assert f"{title}, head {head + 1}: {word} {weights[head, best]:.2f}" in drawn


@pytest.mark.parametrize("heads", [1, 2, 4, 8])
@pytest.mark.parametrize("length", [1, 12])
def test_the_frame_is_well_formed_and_holds_words_that_look_like_tags(heads, length):
    _, _, drawn = frame(heads, ["<b>"] * length, ["<bos>"] * length)
    ElementTree.fromstring(f"<div>{drawn}</div>")
    assert "<b>&lt;bos&gt;</b>" in drawn and "nan" not in drawn and "&lt;eos&gt;" in drawn
