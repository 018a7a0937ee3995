"""attend_to(scores, states, lengths): the context and the weights of sentences of unequal length, some without words."""

from functools import partial
from math import log

import torch

from course_lib.checks.engine import Case, Exercise


def cases(generator: torch.Generator) -> list[Case]:
    draw = partial(torch.randn, generator=generator)
    scores, states = draw(4, 5), draw(4, 5, 3)
    lengths = torch.tensor([3, 5, 1, 4])
    square = draw(3, 3), draw(3, 3, 3)
    two = torch.tensor([[[1.0], [3.0]]])
    inputs = [
        ("two words with equal scores", torch.zeros(1, 2), two, torch.tensor([2])),
        ("two words", torch.tensor([[0.0, log(3)]]), two, torch.tensor([2])),
        ("one word and a place of padding", torch.tensor([[1.0, 2.0]]), two, torch.tensor([1])),
        (
            "two words and padding",
            torch.tensor([[0.0, log(3), 1.0]]),
            torch.tensor([[[1.0, 0.0], [3.0, 4.0], [9.0, 9.0]]]),
            torch.tensor([2]),
        ),
        ("negative scores, and padding", torch.tensor([[-3.0, -2.0, -1.0]]), draw(1, 3, 2), torch.tensor([2])),
        ("very large scores", torch.tensor([[9e4, 8e4, 5e5]]), draw(1, 3, 2), torch.tensor([2])),
        ("very low scores", torch.tensor([[-2e5, -3e5, 0.0]]), draw(1, 3, 2), torch.tensor([2])),
        ("a sentence of no words", torch.tensor([[1.0, 2.0]]), two, torch.tensor([0])),
        ("as many sentences as words as numbers", *square, torch.tensor([3, 3, 3])),
        ("the same with padding", *square, torch.tensor([2, 1, 3])),
        ("four sentences", scores, states, lengths),
        ("the same scores + 100", scores + 100, states, lengths),
        (
            "large scores in one sentence, small ones in another",
            torch.tensor([[1000.0, 1001.0], [0.0, 0.0]]),
            draw(2, 2, 3),
            torch.tensor([2, 2]),
        ),
        ("a sentence of no words among others", draw(3, 4), draw(3, 4, 2), torch.tensor([4, 0, 2])),
        ("sentences of one word", draw(3, 1), draw(3, 1, 2), torch.tensor([1, 1, 1])),
        ("scores below −10⁹", torch.tensor([[-2e9, 0.0], [0.0, 0.0]]), draw(2, 2, 3), torch.tensor([1, 2])),
        ("float64", draw(2, 4).double(), draw(2, 4, 6).double(), torch.tensor([4, 2])),
        (
            "tensors that do not lie in order in memory",
            draw(6, 2).T,
            draw(3, 6, 2).permute(2, 1, 0),
            torch.tensor([6, 5]),
        ),
    ]
    return [Case(about, dict(zip(("scores", "states", "lengths"), values, strict=True))) for about, *values in inputs]


def right(scores, states, lengths):
    words = torch.arange(scores.shape[1]) < lengths[:, None]
    open_scores = scores.masked_fill(~words, -torch.inf)
    weights = open_scores.softmax(-1).nan_to_num(0.0)
    context = (weights[:, :, None] * states).sum(1)
    return context, weights


ATTEND_TO = Exercise(
    "attend_to",
    "bahdanau_attention",
    cases,
    right,
    'lesson 2, "Sentences of unequal length"; glossary.show("context vector")',
    banned=("course_lib.attention.attend", "course_lib.masks.masked_softmax"),
)

MASKED = "scores.masked_fill(~words, -torch.inf)"
WEIGHTS = "weights = open_scores.softmax(-1).nan_to_num(0.0)"
NAN_TO_0 = ".nan_to_num(0.0)"

ATTEND_TO.edit(
    "only the context is returned",
    "Two things are asked for: the context, and the weights.",
    ("return context, weights", "return context"),
)
ATTEND_TO.edit(
    "context and weights are exchanged",
    "Look at the order in which the two are asked for.",
    ("return context, weights", "return weights, context"),
)
for change in (("softmax(-1)", "softmax(0)"), (WEIGHTS, "weights = scores.softmax(0) * words")):
    ATTEND_TO.edit(
        "the softmax runs over the sentences",
        "The weights of *one* sentence sum to 1. Which axis holds its words?",
        change,
    )

NO_WORDS = (
    "A sentence of length 0 has nothing to look at. What should its weights be, and its context? The exercise says it."
)
ATTEND_TO.edit("a sentence of no words gives NaN", NO_WORDS, (NAN_TO_0, ""))
for masked in (
    "scores.masked_fill(~words, -1e9)",
    "scores - 1e9 * ~words",
    "scores.masked_fill(~words, torch.finfo(scores.dtype).min)",
):
    ATTEND_TO.edit("a sentence of no words gives equal weights", NO_WORDS, (MASKED, masked))

for end in ("", NAN_TO_0):
    ATTEND_TO.edit(
        "the padding is taken out too late",
        "In the input below the padding has by far the largest score. What is left for the words, before you take the "
        "padding out: by the softmax, or by the largest score that is subtracted?",
        (
            WEIGHTS,
            f"weights = scores.softmax(-1) * words\n    weights = (weights / weights.sum(-1, keepdim=True)){end}",
        ),
    )

NO_WORDS_GET_0 = NAN_TO_0, " * words.any(-1, keepdim=True)"
for penalty in (100.0, 1e3, 1e4, 1e5, 1e9):
    for masked in (f"scores.masked_fill(~words, -{penalty})", f"scores - {penalty} * ~words"):
        for changes in ([], [NO_WORDS_GET_0]):
            if penalty < 1e9 or changes:  # else it is seen first of a sentence of no words
                ATTEND_TO.edit(
                    "the penalty is finite, and large scores pass it",
                    "Compare it with the scores of the input below. Which number lies under all scores that there can "
                    "be?",
                    (MASKED, masked),
                    *changes,
                )
ATTEND_TO.edit(
    "padding is not masked",
    "Places behind the last word still get weight. lengths says where they begin.",
    (MASKED, "scores"),
)
ATTEND_TO.edit(
    "the padding gets 0 after the softmax",
    "Padding has taken its share already: what do the weights of the words sum to?",
    (WEIGHTS, "weights = scores.softmax(-1) * words"),
)
ATTEND_TO.edit(
    "the padding gets the score 0",
    "exp(0) is 1: a score of 0 still gets weight.",
    (MASKED, "scores * words"),
)
ATTEND_TO.edit(
    "the mask is the wrong way round", "Yours looks at the padding and closes the words.", ("~words", "words")
)
ATTEND_TO.edit(
    "one place too many is open",
    "With length 2 the words are at places 0 and 1. Is place 2 a word?",
    ("lengths[:, None]", "lengths[:, None] + 1"),
)
ATTEND_TO.edit(
    "one place too few is open",
    "With length 2 the words are at places 0 and 1. Is place 1 a word?",
    ("lengths[:, None]", "lengths[:, None] - 1"),
)
ATTEND_TO.edit(
    "the weights of each sentence meet the states of every sentence",
    "A sentence's weights belong to its own states. Which axes does @ pair off, if the shapes are "
    "(batch, key) and "
    "(batch, key, d)?",
    ("(weights[:, :, None] * states).sum(1)", "weights @ states"),
)
ATTEND_TO.edit(
    "the weighted states are not summed",
    "A context is *one* vector for a sentence: an average of its states.",
    (".sum(1)", ""),
)
ATTEND_TO.edit(
    "the sum runs over the numbers of a state",
    "The states are added up, word by word. Which axis must go, and which must stay?",
    (".sum(1)", ".sum(-1)"),
)

AVERAGE = "The weights sum to 1, so the weighted sum is an average already."
ATTEND_TO.edit("the context is divided by the number of places", AVERAGE, (".sum(1)", ".mean(1)"))
ATTEND_TO.edit("the context is divided by the number of words", AVERAGE, (".sum(1)", ".sum(1) / lengths[:, None]"))

SHARES = "(powers / powers.sum(-1, keepdim=True))"
ATTEND_TO.edit(
    "the largest score of the whole batch is subtracted",
    "Rows whose scores lie far below it get nothing but exp(−∞). Which largest score belongs to a row?",
    (
        WEIGHTS,
        f"powers = (open_scores - open_scores.max().clamp(min=-1e30)).exp()\n    weights = {SHARES}{NAN_TO_0}",
    ),
)
for powers in ("scores.exp().masked_fill(~words, 0.0)", "scores.exp() * words"):
    for end in ("", NAN_TO_0):
        ATTEND_TO.edit(
            "large scores overflow",
            "exp(100) is too large for float32. What may be subtracted from all scores of a sentence without "
            "changing the softmax?",
            (WEIGHTS, f"powers = {powers}\n    weights = {SHARES}{end}"),
        )
