"""cut_a_head(W, head, heads): the output projection's weights, with those of one head set to 0."""

import torch

from course_lib.checks.engine import Case, Exercise


def cases(generator: torch.Generator) -> list[Case]:
    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator)

    small = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    inputs = [
        ("two heads of one number each, the first one cut", small, 0, 2),
        ("the same weights, the second head cut", small, 1, 2),
        ("two heads of two numbers each", draw(4, 4), 0, 2),
        ("three heads of two numbers each, the middle one cut", draw(6, 6), 1, 3),
        ("four heads, the last one cut", draw(8, 8), 3, 4),
        ("fewer numbers out than in", draw(3, 6), 1, 2),
        ("more numbers out than in", draw(8, 4), 1, 2),
        ("a single head", draw(3, 3), 0, 1),
        ("one number out", draw(1, 4), 1, 2),
        ("two heads of one number each, with other numbers", draw(2, 2), 0, 2),
        ("float64", draw(4, 4).double(), 1, 4),
        ("a tensor that isn't contiguous in memory", draw(6, 4).T, 2, 3),
    ]
    return [Case(about, {"W": W, "head": head, "heads": heads}) for about, W, head, heads in inputs]


def right(W, head, heads):
    size = W.shape[1] // heads
    column = torch.arange(W.shape[1])
    inside = (head * size <= column) & (column < (head + 1) * size)
    return torch.where(inside, 0.0, W)


CUT_A_HEAD = Exercise(
    "cut_a_head",
    "taken_apart",
    cases,
    right,
    'lesson 4 (`without`), and lesson 7, "Switch heads off"; transformer.without_heads',
    tensor=True,
)

for size_of in ("W.shape[0] // heads", "W.shape[1] // heads"):
    CUT_A_HEAD.edit(
        "rows are cut, not columns",
        "torch computes x W^T. Each column of W takes one number that comes in, and each row makes one number of the output. "
        "Where do a head's numbers come in?",
        ("W.shape[1] // heads", size_of),
        ("arange(W.shape[1])", "arange(W.shape[0])[:, None]"),
    )
CUT_A_HEAD.edit(
    "the size of a head is computed from the number of rows",
    "W needn't be square. What *comes in* are the numbers of all heads, side by side. Which axis of W is that?",
    ("W.shape[1] // heads", "W.shape[0] // heads"),
)
CUT_A_HEAD.edit(
    "columns of several heads are cut",
    "Concat puts the heads one after the other. First come all numbers of head 0, then all numbers of head 1.",
    ("(head * size <= column) & (column < (head + 1) * size)", "column % heads == head"),
)
CUT_A_HEAD.edit(
    "the other heads are cut", "Your function keeps the head that it should cut.", ("inside, 0.0, W", "inside, W, 0.0")
)
CUT_A_HEAD.edit(
    "heads are counted from 1",
    "Head 0 is the first one. At which column does it begin?",
    ("head * size <=", "(head - 1) * size <="),
    ("(head + 1) * size", "head * size"),
)
CUT_A_HEAD.edit(
    "the columns are removed, not set to 0",
    "The heads still pass on as many numbers as before, so W must keep its shape.",
    ("torch.where(inside, 0.0, W)", "W[:, ~inside]"),
)
