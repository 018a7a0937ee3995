"""decoder_layer_size: how many parameters a decoder layer has, with d = 32, 4 heads and 64 numbers inside the feed-forward part."""

from torch import nn

from course_lib.checks.engine import Misconception, Question

D, INNER = 32, 64
ATTENTION, FEED, NORM = 4 * (D * D + D), D * INNER + INNER + INNER * D + D, 2 * D


def right() -> int:
    return sum(numbers.numel() for numbers in nn.TransformerDecoderLayer(D, 4, INNER, device="meta").parameters())


DECODER_LAYER_SIZE = Question(
    "decoder_layer_size",
    "transformer_built",
    right,
    (
        Misconception(
            "that is the size of an encoder layer",
            "A decoder layer looks at two things, its own words and the encoder's.",
            ATTENTION + FEED + 2 * NORM,
        ),
        Misconception(
            "one attention is missing",
            "How many attentions does a decoder layer have? You have already counted its three norms.",
            ATTENTION + FEED + 3 * NORM,
        ),
        Misconception(
            "64 parameters are missing, as many as one norm has",
            "Each part of the layer has its own norm. Or is a bias missing?",
            2 * ATTENTION + FEED + 2 * NORM,
        ),
        Misconception(
            "192 parameters are missing, as many as all norms have",
            "A norm has a gain and a bias. Or are other biases missing?",
            2 * ATTENTION + FEED,
        ),
        Misconception(
            "the biases of attention and feed-forward are missing",
            "Each of these matrices has a bias. How many numbers does each bias have?",
            2 * 4 * D * D + 2 * D * INNER + 3 * NORM,
        ),
        Misconception(
            "all biases and norms are missing",
            "Each matrix has a bias, and each norm has a gain and a bias.",
            2 * 4 * D * D + 2 * D * INNER,
        ),
        Misconception(
            "2,112 parameters are missing, as many as two matrices of attention have with their biases",
            "An attention has a fourth matrix that combines the heads, and the feed-forward part has two matrices. Did you count them all?",
            2 * 3 * (D * D + D) + FEED + 3 * NORM,
        ),
        Misconception(
            "each head is counted as if it were d wide",
            "The four heads share the d numbers, so each is d/4 wide.",
            4 * 2 * ATTENTION + FEED + 3 * NORM,
        ),
    ),
    'lesson 5, "How many parameters?"',
    tolerance=0.0,
)
