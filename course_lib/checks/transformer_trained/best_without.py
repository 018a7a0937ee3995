"""best_without: the share of six cards that the best model without positions gets right when it writes them backwards."""

import itertools

import torch

from course_lib.checks.engine import Misconception, Question


def best_without_positions() -> float:
    """Returns the best share of all models that map a card to an answer. Only the five other cards can be right."""
    rows = torch.tensor(list(itertools.permutations(range(6))))  # (720, 6)
    backwards = rows.flip(1)
    return max((backwards[rows == 0] == card).double().mean().item() for card in range(6))


BEST_WITHOUT = Question(
    "best_without",
    "transformer_trained",
    best_without_positions,
    (
        Misconception(
            "that would be guessing among all six cards",
            "With six cards, the middle of the row is between two cards. Can a card be opposite itself?",
            1 / 6,
        ),
        Misconception(
            "that needs the positions",
            "Without positions, the model knows which cards are in the row and which card it sees. Does it know where that card is?",
            1.0,
        ),
        Misconception(
            "that is worse than guessing",
            "The model can always guess. How many cards can be opposite a given card?",
            0.0,
        ),
        Misconception(
            "that would be guessing between two cards",
            "Two cards are opposite each other. But how many cards can the other one be?",
            0.5,
        ),
    ),
    'lesson 5, "Order"; lesson 7, which removes every part in turn; glossary.show("positional encoding")',
    tolerance=0.005,
)
