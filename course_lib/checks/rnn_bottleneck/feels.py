"""feels: which state feels which word, as a square of 1 and 0, for three words and two positions of padding."""

from functools import cache

import torch

from course_lib.checks.engine import Misconception, Question
from course_lib.checks.rnn_bottleneck.read_batch import READ_BATCH


@cache
def felt() -> list[list[int]]:
    """1 where a derivative ∂h_j/∂x_i is not zero: three words, two positions of padding."""
    generator = torch.Generator().manual_seed(0)
    x, W_x, W_h, b = (
        torch.randn(*shape, generator=generator, dtype=torch.float64) for shape in ((1, 5, 3), (4, 3), (4, 4), (4,))
    )
    mask = torch.tensor([[True, True, True, False, False]])
    jacobian = torch.autograd.functional.jacobian(lambda x: READ_BATCH.right(x, mask, W_x, W_h, b), x)
    return (jacobian[0, :, :, 0].norm(dim=(1, 3)) > 0).int().tolist()


def grid(rows: str) -> list[list[int]]:
    return [[int(number) for number in row] for row in rows.split()]


def grids(name: str, hint: str, *squares: str) -> list[Misconception]:
    return [Misconception(name, hint, grid(square)) for square in squares]


FEELS = Question(
    "feels",
    "rnn_bottleneck",
    felt,
    (
        *grids(
            "rows and columns are swapped",
            "A row is a state, and a column is a position. What does the state after the first word feel? That is row 1.",
            "11111 01111 00111 00000 00000",
            "11111 01111 00111 00011 00001",
        ),
        *grids(
            "a state feels the padding",
            "At padding, `read_batch` doesn't use `x` at all. Can a change of `x` there move any state?",
            "10000 11000 11100 11110 11111",
        ),
        *grids(
            "the states at padding feel nothing",
            "At padding a state stays as it is. Does it forget the words that it has read?",
            "10000 11000 11100 00000 00000",
        ),
        *grids(
            "states feel words that they have not read yet",
            "The words are read from left to right. Is state 1 finished before word 3 is read, or after it?",
            "11100 11100 11100 11100 11100",
            "11111 11111 11111 11111 11111",
        ),
        *grids(
            "a state feels only its own word",
            "State 2 is made from word 2 and state 1. What was state 1 made from?",
            "10000 01000 00100 00100 00100",
            "10000 01000 00100 00000 00000",
            "10000 01000 00100 00010 00001",
        ),
        *grids(
            "a state does not feel its own word",
            "Row 1 is the state *after* word 1 was read.",
            "00000 10000 11000 11100 11100",
            "00000 10000 11000 11000 11000",
            "00000 10000 11000 11100 11110",
        ),
        *grids(
            "the positions of padding are missing",
            "There are five positions, so there are five rows and five columns.",
            "100 110 111",
            "10000 11000 11100",
        ),
        *grids(
            "the columns of the padding are missing",
            "Each row needs five numbers, one per position. The last two positions are padding.",
            "100 110 111 111 111",
        ),
        *grids(
            "1 and 0 are swapped",
            "Write 1 where the state feels the word, and 0 where the derivative is exactly zero.",
            "01111 00111 00011 00011 00011",
        ),
        Misconception(
            "the square holds True and False",
            "The square is correct. Write it with 1 and 0.",
            lambda: [[number == 1 for number in row] for row in felt()],
        ),
    ),
    'lesson 1, "What can a state know?"; glossary.show("jacobian")',
)
