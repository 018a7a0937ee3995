"""every_step(scores, states, mask), which has to be fixed: the contexts and weights of all decoder steps at once."""

from functools import partial
from math import log

import torch

from course_lib.checks.engine import Case, Exercise


def cases(generator: torch.Generator) -> list[Case]:
    draw = partial(torch.randn, generator=generator)
    some = torch.rand(3, 5, generator=generator) < 0.6
    some[:, 0] = True
    end = torch.tensor([[True, True, False, False], [True, True, True, False]])
    inputs = [
        (
            "two steps over two words",
            torch.tensor([[[0.0, log(3)], [0.0, 0.0]]]),
            torch.tensor([[[1.0], [3.0]]]),
            torch.tensor([[True, True]]),
        ),
        (
            "two steps over a word and padding",
            torch.tensor([[[0.0, 1.0], [2.0, 0.0]]]),
            torch.tensor([[[1.0], [3.0]]]),
            torch.tensor([[True, False]]),
        ),
        (
            "a word whose state is all zeros",
            torch.tensor([[[0.0, log(3)], [1.0, 0.0]]]),
            torch.tensor([[[0.0, 0.0], [2.0, 4.0]]]),
            torch.tensor([[True, True]]),
        ),
        ("one step over three words", draw(1, 1, 3), draw(1, 3, 2), torch.ones(1, 3, dtype=torch.bool)),
        ("as many steps as positions", draw(2, 4, 4), draw(2, 4, 3), end),
        (
            "as many sentences as steps and as positions",
            draw(3, 3, 3),
            draw(3, 3, 3),
            torch.tensor([[True, True, False], [True, False, False], [True, True, True]]),
        ),
        ("more positions than steps", draw(3, 2, 5), draw(3, 5, 4), some),
        ("more steps than positions", draw(2, 6, 4), draw(2, 4, 2), end),
        ("scores + 100", draw(3, 2, 5) + 100, draw(3, 5, 2), some),
        (
            "a step with large scores, one with small ones",
            torch.tensor([[[1000.0, 1001.0], [0.0, 0.0]]]),
            draw(1, 2, 3),
            torch.tensor([[True, True]]),
        ),
        ("very large scores", torch.tensor([[[9e4, 8e4, 5e5]]]), draw(1, 3, 2), torch.tensor([[True, True, False]])),
        ("very low scores", torch.tensor([[[-2e5, -3e5, 0.0]]]), draw(1, 3, 2), torch.tensor([[True, True, False]])),
        ("scores below −10⁹", torch.tensor([[[-2e9, 0.0]]]), draw(1, 2, 3), torch.tensor([[True, False]])),
        ("float64", draw(2, 3, 4).double(), draw(2, 4, 5).double(), end),
        ("scores that aren't contiguous in memory", draw(4, 5, 2).permute(2, 1, 0), draw(2, 4, 3), end),
    ]
    return [Case(about, dict(zip(("scores", "states", "mask"), values, strict=True))) for about, *values in inputs]


def right(scores, states, mask):
    words = mask[:, None]
    open_scores = scores.masked_fill(~words, -torch.inf)
    weights = open_scores.softmax(-1)
    return weights @ states, weights


EVERY_STEP = Exercise(
    "every_step",
    "bahdanau_attention",
    cases,
    right,
    'lesson 2, "Sentences of unequal length"; glossary.show("context vector")',
)

MASKED = "scores.masked_fill(~words, -torch.inf)"
WEIGHTS = "weights = open_scores.softmax(-1)"
AFTER = WEIGHTS, "weights = scores.softmax(-1) * words"
ROWS = "mask[:, None]", "mask[:, :, None]"

EVERY_STEP.edit(
    "this is still the code that was given",
    "Run it on the small example and print `weights.sum(-1)`. Every step should give 1.",
    ROWS,
    (WEIGHTS, "weights = scores.softmax(1) * words"),
)
EVERY_STEP.edit(
    "the first sentence's mask is used for all sentences",
    "Each sentence has a mask of its own. Which row of `mask` does the second sentence get in your code?",
    ("mask[:, None]", "mask[:1, None]"),
)
EVERY_STEP.edit(
    "only the contexts are returned",
    "The exercise asks for two things, the contexts and the weights.",
    ("return weights @ states, weights", "return weights @ states"),
)
for change in ((WEIGHTS, "weights = open_scores.softmax(1)"), (WEIGHTS, "weights = scores.softmax(1) * words")):
    EVERY_STEP.edit(
        "the softmax runs over the steps",
        "Print `weights.sum(-1)` and `weights.sum(1)`. Each step shares out a weight of 1 among the words. Which of the two "
        "sums must be 1?",
        change,
    )
for change in ((WEIGHTS, "weights = open_scores.softmax(0)"), (WEIGHTS, "weights = scores.softmax(0) * words")):
    EVERY_STEP.edit(
        "the softmax runs over the sentences",
        "Then a sentence's weights depend on the other sentences in the batch. Which axis holds the words?",
        change,
    )
for changes in ([AFTER], [], [("-torch.inf", "-1e9")]):
    EVERY_STEP.edit(
        "the mask closes steps, not words",
        "The mask has the shape (batch, key), and the scores have (batch, step, key). Which axis of the scores do the "
        "mask's positions meet?",
        ROWS,
        *changes,
    )
EVERY_STEP.edit(
    "the mask comes after the softmax",
    "Print `weights.sum(-1)` for a sentence with padding. Where has the rest gone?",
    AFTER,
)
for penalty in (100.0, 1e3, 1e4, 1e5, 1e9):
    for masked in (f"scores.masked_fill(~words, -{penalty})", f"scores - {penalty} * ~words"):
        EVERY_STEP.edit(
            "the penalty is finite, and some scores reach it",
            "Compare the penalty with the scores of the input below. Which number is below every possible score?",
            (MASKED, masked),
        )
EVERY_STEP.edit("the mask is not used", "The padding still gets weight.", (MASKED, "scores"))
EVERY_STEP.edit("closed scores become 0", "exp(0) is 1, so a score of 0 still gets weight.", ("-torch.inf", "0.0"))
for end in ("", ".nan_to_num(0.0)"):
    EVERY_STEP.edit(
        "the mask is the wrong way round",
        "Your code looks at the padding and closes the words.",
        ("~words", "words"),
        ("softmax(-1)", f"softmax(-1){end}"),
    )
for powers in ("scores.exp().masked_fill(~words, 0.0)", "scores.exp() * words"):
    for end in ("", ".nan_to_num(0.0)"):
        EVERY_STEP.edit(
            "the exponentials overflow or round to 0",
            "In float32, exp(100) is infinite and exp(−200) is 0. What can you subtract from all scores of a step without "
            "changing the softmax? And do you remove the padding before that?",
            (WEIGHTS, f"powers = {powers}\n    weights = (powers / powers.sum(-1, keepdim=True)){end}"),
        )
