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
        ("numbers that are not contiguous in memory", draw(6, 5, 2).permute(2, 1, 0), 3),
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
    "the split mixes up the words",
    "The shape is correct, but look at head 0: its rows should be the first pieces of all words. view and reshape read the numbers in their order in memory, and they never swap two axes.",
    (STACK, "x.reshape(len(x), heads, x.shape[1], -1)"),
)
SPLIT_HEADS.edit(
    "the head axis comes after the words",
    "The vectors are cut correctly. Which axis has to be the second, so that attention can treat each head like a sentence of its own?",
    (STACK, "torch.stack(pieces, 2)"),
)
SPLIT_HEADS.edit(
    "the head axis comes before the batch",
    "The batch stays first. If you stack a list of pieces, stack puts the new axis where you tell it to.",
    (STACK, "torch.stack(pieces, 0)"),
)
SPLIT_HEADS.edit(
    "the heads take turns picking numbers",
    "Head 0 should get the *first* piece of each vector, whose numbers are next to each other.",
    (CUT, "[x[..., head::heads] for head in range(heads)]"),
)
SPLIT_HEADS.edit(
    "the words and the numbers of each head are swapped",
    "The last axis should hold the numbers of one word. Which two axes have to change places?",
    (STACK, "torch.stack(pieces, 1).mT"),
)
SPLIT_HEADS.edit(
    "the batch and the heads are one axis",
    "The result should have four axes: (batch, head, n, d_head).",
    (STACK, "torch.stack(pieces, 1).flatten(0, 1)"),
)
SPLIT_HEADS.edit(
    "each head gets the whole vector",
    "Each vector is *cut*, so all heads together have as many numbers as x, and no more.",
    (CUT, "[x] * heads"),
)
