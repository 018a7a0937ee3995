"""Where heads look: what the widget keeps, refuses, and shows where nothing runs."""

import json
import re
from xml.etree import ElementTree

import numpy as np
import pytest

from course_lib import widgets

TWO_LINES = "the <b>\nle chat noir"


def drawn_weights(words, seed=0):
    return np.random.default_rng(seed).dirichlet(np.full(words, 0.4), (2, 3, words))


@pytest.fixture
def heads():
    return widgets.AttentionHeads({"a small cat": drawn_weights(3), TWO_LINES: drawn_weights(5, 1)}, layer=1, word=2)


def test_weights_are_kept_to_three_digits_and_lines_as_words(heads):
    first, second = json.loads(heads.weights)
    np.testing.assert_allclose(second, drawn_weights(5, 1), atol=5.1e-4)
    assert (np.shape(first), heads.sentences[1]) == ((2, 3, 3, 3), [["the", "<b>"], ["le", "chat", "noir"]])
    assert heads.layers == ["1", "2"] and len(heads.colours) == 3


@pytest.mark.parametrize("least", [0, 0.2])
@pytest.mark.parametrize("head", [-1, 0, 2])
@pytest.mark.parametrize("word", range(5))
def test_the_still_picture_draws_what_is_chosen(heads, word, head, least):
    heads.chosen = {"sentence": 1, "layer": 0, "head": head, "least": least, "word": word}
    looks = drawn_weights(5, 1).round(3)[0, :, word]
    looks[[h not in (head, *[0, 1, 2] * (head < 0)) for h in range(3)]] = 0
    (drawing,) = widgets.shell.SVG.findall(heads.still())
    texts = ["".join(text.itertext()) for text in ElementTree.fromstring(drawing).iter("text")]
    written = looks[looks >= max(least, 0.1)]
    assert texts[:5] == ["the", "<b>", "le", "chat", "noir"]
    assert sorted(texts[5:]) == sorted(f"{weight:.2f}".removeprefix("0") for weight in written)
    assert drawing.count("<g ") == (looks >= max(least, 0.05)).sum()
    said = re.findall(r"(\.\d\d|1\.00) \(head", heads.summary())
    assert [float(weight) for weight in said] == sorted((round(float(f"{w:.2f}"), 2) for w in written), reverse=True)


def test_a_word_that_looks_at_nothing_is_no_error():
    none = widgets.AttentionHeads({"a cat": np.zeros((1, 1, 2, 2))})
    assert none.summary() == "a looks at: nothing" and "<g " not in none.still()


@pytest.mark.parametrize(
    ("shape", "more", "message"),
    [
        ((2, 3, 3, 4), {}, r"'a small cat' have the shape \(2, 3, 3, 4\); \(2, 3, 3, 3\) is needed"),
        ((2, 3, 3, 3), {"layers": ["encoder"]}, r"\(1, 3, 3, 3\) is needed"),
        ((2, 7, 3, 3), {}, "7 heads were given; one to 6"),
        ((2, 3, 3, 3), {"word": 3}, "'a small cat' has no word 3"),
        ((2, 3, 3, 3), {"layer": 2}, "there is no layer 2"),
    ],
)
def test_what_does_not_fit_the_sentence_is_refused(shape, more, message):
    with pytest.raises(ValueError, match=message):
        widgets.AttentionHeads({"a small cat": np.zeros(shape)}, **more)
