"""decoder_layer_size: how many numbers a decoder layer of d = 32 learns, with 64 numbers inside and 4 heads."""

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
            "that is an encoder layer",
            "A decoder layer looks at two things: at its own words, and at the encoder's.",
            ATTENTION + FEED + 2 * NORM,
        ),
        Misconception(
            "that has one attention too few",
            "How many attentions does a decoder layer have? Its three norms are counted already.",
            ATTENTION + FEED + 3 * NORM,
        ),
        Misconception(
            "as many numbers are missing as one norm has",
            "Each of the parts of the layer has a norm of its own. Or is it a bias that is missing?",
            2 * ATTENTION + FEED + 2 * NORM,
        ),
        Misconception(
            "as many numbers are missing as the norms have",
            "A norm has a gain and a bias. Or is it other biases that are missing?",
            2 * ATTENTION + FEED,
        ),
        Misconception(
            "that is without the biases of attention and feed-forward",
            "Each of these matrices has a bias, as long as its result.",
            2 * 4 * D * D + 2 * D * INNER + 3 * NORM,
        ),
        Misconception(
            "that is without any bias or norm",
            "Each matrix has a bias, as long as its result; each norm has a gain and a bias.",
            2 * 4 * D * D + 2 * D * INNER,
        ),
        Misconception(
            "as many numbers are missing as two matrices of attention have",
            "What the heads bring is put together by a fourth matrix; the feed-forward part has two. Is each of them there?",
            2 * 3 * (D * D + D) + FEED + 3 * NORM,
        ),
        Misconception(
            "that counts the heads as if each were d wide",
            "Four heads share the d numbers: each is d/4 wide.",
            4 * 2 * ATTENTION + FEED + 3 * NORM,
        ),
    ),
    'lesson 5, "How many parameters?"',
    tolerance=0.0,
)
