"""attend_to(scores, states, lengths): the context and the weights of sentences of unequal length, some of them without words."""

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
        ("one word and one position of padding", torch.tensor([[1.0, 2.0]]), two, torch.tensor([1])),
        (
            "two words and padding",
            torch.tensor([[0.0, log(3), 1.0]]),
            torch.tensor([[[1.0, 0.0], [3.0, 4.0], [9.0, 9.0]]]),
            torch.tensor([2]),
        ),
        ("negative scores, and padding", torch.tensor([[-3.0, -2.0, -1.0]]), draw(1, 3, 2), torch.tensor([2])),
        ("very large scores", torch.tensor([[9e4, 8e4, 5e5]]), draw(1, 3, 2), torch.tensor([2])),
        ("very low scores", torch.tensor([[-2e5, -3e5, 0.0]]), draw(1, 3, 2), torch.tensor([2])),
        ("a sentence without words", torch.tensor([[1.0, 2.0]]), two, torch.tensor([0])),
        ("as many sentences as words and as numbers in a state", *square, torch.tensor([3, 3, 3])),
        ("the same with padding", *square, torch.tensor([2, 1, 3])),
        ("four sentences", scores, states, lengths),
        ("the same scores + 100", scores + 100, states, lengths),
        (
            "large scores in one sentence, small ones in another",
            torch.tensor([[1000.0, 1001.0], [0.0, 0.0]]),
            draw(2, 2, 3),
            torch.tensor([2, 2]),
        ),
        ("a sentence without words among others", draw(3, 4), draw(3, 4, 2), torch.tensor([4, 0, 2])),
        ("sentences of one word", draw(3, 1), draw(3, 1, 2), torch.tensor([1, 1, 1])),
        ("scores below −10⁹", torch.tensor([[-2e9, 0.0], [0.0, 0.0]]), draw(2, 2, 3), torch.tensor([1, 2])),
        ("float64", draw(2, 4).double(), draw(2, 4, 6).double(), torch.tensor([4, 2])),
        (
            "tensors that aren't contiguous in memory",
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
    "The exercise asks for two things, the context and the weights.",
    ("return context, weights", "return context"),
)
ATTEND_TO.edit(
    "the context and the weights are swapped",
    "In which order does the exercise ask for the two?",
    ("return context, weights", "return weights, context"),
)
for change in (("softmax(-1)", "softmax(0)"), (WEIGHTS, "weights = scores.softmax(0) * words")):
    ATTEND_TO.edit(
        "the softmax runs over the sentences",
        "The weights of *one* sentence sum to 1. Which axis holds its words?",
        change,
    )

NO_WORDS = (
    "A sentence of length 0 has nothing to look at. The exercise says what its weights and its context should be."
)
ATTEND_TO.edit("a sentence without words gives NaN", NO_WORDS, (NAN_TO_0, ""))
for masked in (
    "scores.masked_fill(~words, -1e9)",
    "scores - 1e9 * ~words",
    "scores.masked_fill(~words, torch.finfo(scores.dtype).min)",
):
    ATTEND_TO.edit("a sentence without words gets equal weights", NO_WORDS, (MASKED, masked))

for end in ("", NAN_TO_0):
    ATTEND_TO.edit(
        "the padding is taken out too late",
        "In the input below, the padding has by far the largest score. Does it take part in your softmax, or in the "
        "largest score that you subtract? What is left for the words then?",
        (
            WEIGHTS,
            f"weights = scores.softmax(-1) * words\n    weights = (weights / weights.sum(-1, keepdim=True)){end}",
        ),
    )

NO_WORDS_GET_0 = NAN_TO_0, " * words.any(-1, keepdim=True)"
for penalty in (100.0, 1e3, 1e4, 1e5, 1e9):
    for masked in (f"scores.masked_fill(~words, -{penalty})", f"scores - {penalty} * ~words"):
        for changes in ([], [NO_WORDS_GET_0]):
            if penalty < 1e9 or changes:  # else a sentence without words shows it first
                ATTEND_TO.edit(
                    "the penalty is finite, and some scores reach it",
                    "Compare the penalty with the scores of the input below. Which number is below every possible score?",
                    (MASKED, masked),
                    *changes,
                )
ATTEND_TO.edit(
    "padding is not masked",
    "Positions after the last word still get weight. `lengths` says where they begin.",
    (MASKED, "scores"),
)
ATTEND_TO.edit(
    "the padding's weight is set to 0 only after the softmax",
    "The padding has already taken its share. What do the weights of the words sum to?",
    (WEIGHTS, "weights = scores.softmax(-1) * words"),
)
ATTEND_TO.edit(
    "the padding gets the score 0",
    "exp(0) is 1, so a score of 0 still gets weight.",
    (MASKED, "scores * words"),
)
ATTEND_TO.edit(
    "the mask is the wrong way round", "Your code looks at the padding and closes the words.", ("~words", "words")
)
ATTEND_TO.edit(
    "one position too many is open",
    "With length 2, the words are at positions 0 and 1. Is there a word at position 2?",
    ("lengths[:, None]", "lengths[:, None] + 1"),
)
ATTEND_TO.edit(
    "one position too few is open",
    "With length 2, the words are at positions 0 and 1. Is there a word at position 1?",
    ("lengths[:, None]", "lengths[:, None] - 1"),
)
ATTEND_TO.edit(
    "the weights of each sentence meet the states of every sentence",
    "A sentence's weights belong to its own states. If the shapes are (batch, key) and (batch, key, d), which axes does "
    "`@` match?",
    ("(weights[:, :, None] * states).sum(1)", "weights @ states"),
)
ATTEND_TO.edit(
    "the weighted states are not summed",
    "The context is *one* vector per sentence, an average of its states.",
    (".sum(1)", ""),
)
ATTEND_TO.edit(
    "the sum runs over the numbers of a state",
    "The context adds up the states of all words. Which axis should disappear, and which should stay?",
    (".sum(1)", ".sum(-1)"),
)

AVERAGE = "The weights sum to 1, so the weighted sum is already an average."
ATTEND_TO.edit("the context is divided by the number of positions", AVERAGE, (".sum(1)", ".mean(1)"))
ATTEND_TO.edit("the context is divided by the number of words", AVERAGE, (".sum(1)", ".sum(1) / lengths[:, None]"))

SHARES = "(powers / powers.sum(-1, keepdim=True))"
ATTEND_TO.edit(
    "the largest score of the whole batch is subtracted",
    "If the scores of a sentence are all far below it, its exponentials round to 0. Which largest score belongs to a "
    "sentence?",
    (
        WEIGHTS,
        f"powers = (open_scores - open_scores.max().clamp(min=-1e30)).exp()\n    weights = {SHARES}{NAN_TO_0}",
    ),
)
for powers in ("scores.exp().masked_fill(~words, 0.0)", "scores.exp() * words"):
    for shares in (SHARES, f"{SHARES}{NAN_TO_0}", f"torch.where(words, {SHARES}, 0.0)"):
        ATTEND_TO.edit(
            "large scores overflow",
            "exp(100) is too large for float32. What can you subtract from all scores of a sentence without changing the "
            "softmax?",
            (WEIGHTS, f"powers = {powers}\n    weights = {shares}"),
        )
