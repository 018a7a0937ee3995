"""cut_a_head(W, head, heads): the output's weights, with those of one head at 0."""

import torch

from course_lib.checks.engine import Case, Exercise


def cases(generator: torch.Generator) -> list[Case]:
    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator)

    small = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    inputs = [
        ("two heads of one number, the first cut", small, 0, 2),
        ("the same, the second cut", small, 1, 2),
        ("two heads of two numbers", draw(4, 4), 0, 2),
        ("three heads of two numbers, the middle cut", draw(6, 6), 1, 3),
        ("the last of four heads", draw(8, 8), 3, 4),
        ("fewer numbers out than in", draw(3, 6), 1, 2),
        ("more numbers out than in", draw(8, 4), 1, 2),
        ("a single head", draw(3, 3), 0, 1),
        ("one number out", draw(1, 4), 1, 2),
        ("two heads of one number, other numbers", draw(2, 2), 0, 2),
        ("float64", draw(4, 4).double(), 1, 4),
        ("numbers that do not lie in order in memory", draw(6, 4).T, 2, 3),
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
        "torch computes x W^T: a column of W takes one number of what the heads found, a row makes one number of the output. "
        "Where does the head's part come in?",
        ("W.shape[1] // heads", size_of),
        ("arange(W.shape[1])", "arange(W.shape[0])[:, None]"),
    )
CUT_A_HEAD.edit(
    "the size of a head is taken from the rows",
    "W need not be square. The heads stand side by side in what *comes in*: along which axis is that?",
    ("W.shape[1] // heads", "W.shape[0] // heads"),
)
CUT_A_HEAD.edit(
    "a number of every head is cut",
    "Concat puts the heads one after the other: first all numbers of head 0, then all of head 1.",
    ("(head * size <= column) & (column < (head + 1) * size)", "column % heads == head"),
)
CUT_A_HEAD.edit("the other heads are cut", "Yours keeps the head that should go.", ("inside, 0.0, W", "inside, W, 0.0"))
CUT_A_HEAD.edit(
    "heads are counted from 1",
    "Head 0 is the first one: where do its columns start?",
    ("head * size <=", "(head - 1) * size <="),
    ("(head + 1) * size", "head * size"),
)
CUT_A_HEAD.edit(
    "the columns are taken out, not set to 0",
    "The heads still hand on as many numbers as before, so W must keep its shape.",
    ("torch.where(inside, 0.0, W)", "W[:, ~inside]"),
)
