"""`split_heads(x, heads)`: each vector cut into as many pieces as there are heads, (batch, head, n, d_head)."""

import torch

from course_lib.checks.engine import Case, Exercise


def cases(generator: torch.Generator) -> list[Case]:
    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator)

    inputs = [
        ("one sentence of two words, four numbers each", torch.arange(1.0, 9.0).view(1, 2, 4), 2),
        ("one sentence of three words, four numbers each", torch.arange(1.0, 13.0).view(1, 3, 4), 2),
        ("two sentences of two words", draw(2, 2, 6), 3),
        ("one head", draw(2, 3, 4), 1),
        ("as many heads as numbers", draw(2, 5, 4), 4),
        ("a single word", draw(3, 1, 6), 2),
        ("as many sentences as words and as heads", draw(3, 3, 9), 3),
        ("as many words as numbers in a head", draw(2, 4, 12), 3),
        ("float64", draw(2, 4, 6).double(), 2),
        ("numbers that do not lie in order in memory", draw(6, 5, 2).permute(2, 1, 0), 3),
    ]
    return [Case(about, {"x": x, "heads": heads}) for about, x, heads in inputs]


def right(x, heads):
    pieces = x.split(x.shape[-1] // heads, dim=-1)
    return torch.stack(pieces, 1)


SPLIT_HEADS = Exercise(
    "split_heads",
    "multi_head",
    cases,
    right,
    'lesson 4, "From a loop to one reshape"; glossary.show("multi-head attention")',
)

CUT, STACK = "x.split(x.shape[-1] // heads, dim=-1)", "torch.stack(pieces, 1)"
SPLIT_HEADS.edit(
    "the split mixes the words",
    "The shape is right, but look at head 0 in the failing input: its rows should be the first pieces of all words. view and reshape only count on through memory; they never swap two axes.",
    (STACK, "x.reshape(len(x), heads, x.shape[1], -1)"),
)
SPLIT_HEADS.edit(
    "the head axis stands behind the words",
    "The numbers are cut as they should be. Which axis has to stand second, so that attention can treat each head as a sentence of its own?",
    (STACK, "torch.stack(pieces, 2)"),
)
SPLIT_HEADS.edit(
    "the head axis stands in front of the batch",
    "The batch stays first. A list of pieces, stacked, gets its new axis where stack is told to put it.",
    (STACK, "torch.stack(pieces, 0)"),
)
SPLIT_HEADS.edit(
    "the heads take turns at picking numbers",
    "Head 0 should have the *first* piece of each vector, in one run: numbers that stand next to each other.",
    (CUT, "[x[..., head::heads] for head in range(heads)]"),
)
SPLIT_HEADS.edit(
    "the words and the numbers of a head are swapped",
    "The last axis holds the numbers of one word. Which two axes does the swap have to move?",
    (STACK, "torch.stack(pieces, 1).mT"),
)
SPLIT_HEADS.edit(
    "batch and heads are one axis",
    "Four axes are wanted here: (batch, head, n, d_head).",
    (STACK, "torch.stack(pieces, 1).flatten(0, 1)"),
)
SPLIT_HEADS.edit(
    "each head has the whole vector",
    "The vectors are *cut*: all heads together have as many numbers as x, not more.",
    (CUT, "[x] * heads"),
)
