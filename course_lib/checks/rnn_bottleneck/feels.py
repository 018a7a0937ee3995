"""feels: which state feels which word, as a square of 1 and 0, for three words and two places of padding."""

from functools import cache

import torch

from course_lib.checks.engine import Misconception, Question
from course_lib.checks.rnn_bottleneck.read_batch import READ_BATCH


@cache
def felt() -> list[list[int]]:
    """1 where a derivative ∂h_j/∂x_i is not zero: three words, two places of padding."""
    generator = torch.Generator().manual_seed(0)
    x, W_x, W_h, b = (
        torch.randn(*shape, generator=generator, dtype=torch.float64) for shape in ((1, 5, 3), (4, 3), (4, 4), (4,))
    )
    mask = torch.tensor([[True, True, True, False, False]])
    jacobian = torch.autograd.functional.jacobian(lambda x: READ_BATCH.right(x, mask, W_x, W_h, b), x)
    return (jacobian[0, :, :, 0].norm(dim=(1, 3)) > 0).int().tolist()


def grid(rows: str) -> list[list[int]]:
    return [[int(place) for place in row] for row in rows.split()]


def grids(name: str, hint: str, *squares: str) -> list[Misconception]:
    return [Misconception(name, hint, grid(square)) for square in squares]


FEELS = Question(
    "feels",
    "rnn_bottleneck",
    felt,
    (
        *grids(
            "rows and columns have changed places",
            "A row is a state, a column a word. Row 1: what does the state after the first word feel?",
            "11111 01111 00111 00000 00000",
            "11111 01111 00111 00011 00001",
        ),
        *grids(
            "padding is felt",
            "At padding read_batch does not use x at all. What can a change of x do there?",
            "10000 11000 11100 11110 11111",
        ),
        *grids(
            "the states at padding feel nothing",
            "A state that stays as it was still holds what it held.",
            "10000 11000 11100 00000 00000",
        ),
        *grids(
            "states feel words that they have not read",
            "In what order are words read, and when does word 3 come in? State 1 is finished before that.",
            "11100 11100 11100 11100 11100",
            "11111 11111 11111 11111 11111",
        ),
        *grids(
            "a state feels its own word only",
            "The state of row 2 is made from state 1 and word 2. And what was state 1 made from?",
            "10000 01000 00100 00100 00100",
            "10000 01000 00100 00000 00000",
            "10000 01000 00100 00010 00001",
        ),
        *grids(
            "a state does not feel its own word",
            "Row 1 is the state *after* word 1 has been read.",
            "00000 10000 11000 11100 11100",
            "00000 10000 11000 11000 11000",
            "00000 10000 11000 11100 11110",
        ),
        *grids(
            "the places of padding are missing",
            "There are five places, so five states and five columns.",
            "100 110 111",
            "10000 11000 11100",
        ),
        *grids(
            "each row needs five numbers",
            "One for each place: the last two columns are the places of padding.",
            "100 110 111 111 111",
        ),
        *grids(
            "1 and 0 are the wrong way round",
            "1 where the state feels the word, 0 where the derivative is exactly zero.",
            "01111 00111 00011 00011 00011",
        ),
        Misconception(
            "the square holds True and False",
            "The right places; write them as 1 and 0.",
            lambda: [[place == 1 for place in row] for row in felt()],
        ),
    ),
    'lesson 1, "What can a state know?"; glossary.show("jacobian")',
)
