"""`merge_heads(x)`: the pieces of all heads side by side again, (batch, n, d_model)."""

import torch

from course_lib.checks.engine import Case, Exercise


def cases(generator: torch.Generator) -> list[Case]:
    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator)

    inputs = [
        ("two heads, two words, one number each", torch.arange(1.0, 5.0).view(1, 2, 2, 1)),
        ("two heads, three words, two numbers each", torch.arange(1.0, 13.0).view(1, 2, 3, 2)),
        ("two sentences", draw(2, 3, 2, 2)),
        ("one head", draw(2, 1, 3, 4)),
        ("one number per head", draw(2, 4, 3, 1)),
        ("a single word", draw(3, 2, 1, 3)),
        ("all axes of the same length", draw(3, 3, 3, 3)),
        ("float64", draw(2, 2, 5, 3).double()),
        ("numbers that are not contiguous in memory", draw(3, 5, 4, 2).permute(3, 2, 1, 0)),
    ]
    return [Case(about, {"x": x}) for about, x in inputs]


def right(x):
    return torch.cat(x.unbind(1), -1)


MERGE_HEADS = Exercise(
    "merge_heads",
    "multi_head",
    cases,
    right,
    'lesson 4, "The merge, and how it goes wrong"; glossary.show("multi-head attention")',
    tensor=True,
)

MERGE_HEADS.misconception(
    "the heads are merged without the transpose",
    "Next to each number of the input below, write which word it belongs to. Each row of the result should hold the numbers of one word only.",
)(lambda x: x.reshape(len(x), x.shape[2], -1))
MERGE_HEADS.misconception(
    "the wrong two axes are swapped",
    "Only two neighbouring axes can be joined into one. Which two should be joined?",
)(lambda x: x.transpose(2, 3).reshape(len(x), x.shape[2], -1))
MERGE_HEADS.misconception(
    "the batch and the heads are swapped",
    "Only two neighbouring axes can be joined into one. Which two should be joined? Axis 0 is the batch.",
)(lambda x: x.transpose(0, 1).reshape(len(x), x.shape[2], -1))
MERGE_HEADS.misconception(
    "the pieces are interleaved",
    "In each row, all numbers of head 0 should come first, then all numbers of head 1. In yours, the heads take turns.",
)(lambda x: x.permute(0, 2, 3, 1).flatten(2))
MERGE_HEADS.misconception(
    "the pieces are not joined yet", "The axes are in the correct order. Two of them still have to become one."
)(lambda x: x.transpose(1, 2))
MERGE_HEADS.misconception("the heads are added up", "A merge adds nothing up, so the result has as many numbers as x.")(
    lambda x: x.sum(1)
)
MERGE_HEADS.misconception(
    "the heads are averaged", "A merge averages nothing, so the result has as many numbers as x."
)(lambda x: x.mean(1))
MERGE_HEADS.edit(
    "the pieces are one below the other, not side by side",
    "A sentence of n words stays a sentence of n words, and its vectors get longer. Along which axis should the pieces be joined?",
    ("-1", "1"),
)
MERGE_HEADS.edit(
    "the words of a sentence are joined too",
    "The result should have three axes: (batch, n, d_model). If you use flatten, it joins *all* axes from the one you name.",
    ("-1)", "-1).flatten(1)"),
)
