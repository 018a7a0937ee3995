"""The drawing of a Transformer changes with the model."""

import re

import pytest
import torch
from torch import nn

from course_lib import plotting
from course_lib.layers import PostNorm, PreNorm
from course_lib.toy_french import RECURRING
from course_lib.transformer import Transformer

PAIRS = [RECURRING["the black cat"], RECURRING["the small black cat"]]


class Neither(nn.Module):
    """No norm, and nothing is added."""

    def __init__(self, model_size: int, dropout: float):
        super().__init__()

    def before(self, x):
        return x

    def after(self, x, y):
        return y


@pytest.fixture
def drawn(monkeypatch, corpus):
    """The texts of a diagram, from below upwards on each side, and its alt text."""

    def draw(**settings):
        kept = []
        monkeypatch.setattr(plotting, "show", lambda fig, alt: kept.append((fig.axes[0], alt)))
        sizes = len(corpus.source_vocabulary), len(corpus.target_vocabulary)
        model = Transformer(*sizes, model_size=16, heads=2, **settings)
        plotting.draw_transformer(model, corpus, PAIRS)
        ((ax, alt),) = kept
        plotting.plt.close(ax.figure)
        texts = sorted(ax.texts, key=lambda text: text.get_position()[1])
        sides = [[t.get_text() for t in texts if (t.get_position()[0] > 57) == right] for right in (False, True)]
        return *sides, alt

    return draw


@pytest.mark.parametrize("layers", [1, 3])
def test_every_layer_is_drawn_with_its_parts(drawn, layers):
    encoder, decoder, alt = drawn(layers=layers, feed_forward_size=40)
    for texts, cross in ((encoder, 0), (decoder, layers)):
        assert sum(text.startswith("self-attention") for text in texts) == layers
        assert sum(text.startswith("cross-attention") for text in texts) == cross
        assert texts.count("feed-forward\n16 → 40 → 16") == layers
    assert decoder.count("keys, values") == layers and f"{layers} of the encoder's layers" in alt
    assert "the small black cat" in encoder and "<bos> le petit chat noir" in decoder


def test_shapes_stand_at_the_arrows(drawn, corpus):
    encoder, decoder, _ = drawn(layers=1)
    assert {text for text in encoder if re.fullmatch(r"\d[\d ×]+", text)} == {"2 × 4", "2 × 4 × 16"}
    logits = f"2 × 5 × {len(corpus.target_vocabulary)}"
    assert {text for text in decoder if re.fullmatch(r"\d[\d ×]+", text)} == {
        "2 × 5",
        "2 × 5 × 16",
        "2 × 4 × 16",
        logits,
    }
    assert "self-attention: every word\n2 heads of 4 × 4 weights" in encoder
    assert "self-attention: no later word\n2 heads of 5 × 5 weights" in decoder
    assert "cross-attention\n2 heads of 5 × 4 weights" in decoder


@pytest.mark.parametrize(
    ("residual", "upwards"),
    [
        (PreNorm, ["norm", "self", "+", "norm", "cross", "+", "norm", "feed", "+", "norm"]),
        (PostNorm, ["self", "+", "norm", "cross", "+", "norm", "feed", "+", "norm"]),
        (Neither, ["self", "cross", "feed"]),
    ],
)
def test_norms_and_sums_stand_where_the_model_has_them(drawn, residual, upwards):
    _, decoder, _ = drawn(layers=1, residual=residual)
    parts = [text.split("-")[0] for text in decoder if text.split("-")[0] in ("norm", "+", "self", "cross", "feed")]
    assert parts == upwards


def test_parts_left_out_are_not_drawn(drawn):
    encoder, decoder, alt = drawn(layers=1, feed_forward_size=None, positions=None)
    assert not any("feed-forward" in text for text in encoder + decoder) and "feed-forward" not in alt
    assert any("no positions" in text for text in encoder)


def test_hooks_are_gone_after_a_pass_even_one_that_failed():
    model = nn.Linear(4, 8)
    assert plotting.shapes_of_a_pass(model, torch.zeros(2, 4))[0] == {"": (2, 8)}
    with pytest.raises(RuntimeError):
        plotting.shapes_of_a_pass(model, torch.zeros(2, 5))
    assert not model._forward_hooks
