"""best_without: the share of six cards, to be written backwards, that the best model without positions gets right."""

import itertools

import torch

from course_lib.checks.engine import Misconception, Question


def best_without_positions() -> float:
    """Over all models that map a card to an answer, the best share: five others are equally likely, itself never."""
    rows = torch.tensor(list(itertools.permutations(range(6))))  # (720, 6)
    backwards = rows.flip(1)
    return max((backwards[rows == 0] == card).double().mean().item() for card in range(6))


BEST_WITHOUT = Question(
    "best_without",
    "transformer_trained",
    best_without_positions,
    (
        Misconception(
            "that would be all six cards",
            "Six cards, so the middle falls between two: can a card stand opposite itself?",
            1 / 6,
        ),
        Misconception(
            "that needs the places",
            "Without positions the model knows which cards there are, and for each card which it is. Does it know where it lies?",
            1.0,
        ),
        Misconception(
            "that is worse than guessing",
            "It may always guess. How many cards can lie opposite of a card?",
            0.0,
        ),
        Misconception(
            "that would be one of two",
            "Two cards lie opposite each other; but which is the other? How many cards can it be?",
            0.5,
        ),
    ),
    'lesson 5, "Order"; lesson 7 takes out every part; glossary.show("positional encoding")',
    tolerance=0.005,
)
