"""half_temperature: at which temperature does a draw take the most probable word half of the time?"""

import torch

from course_lib.checks.engine import Misconception, Question

LOGITS = torch.tensor([3.0, 2.0, 1.2, 0.8, 0.0, -1.0], dtype=torch.float64)


def temperature_at(words: int, share: float = 0.5) -> float:
    """Finds by bisection the temperature at which the `words` most probable ones have this share together."""
    low, high = 0.01, 100.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if (LOGITS / middle).softmax(-1)[:words].sum() > share else (low, middle)
    return low


HALF_TEMPERATURE = Question(
    "half_temperature",
    "transformer_trained",
    lambda: temperature_at(1),
    (
        Misconception(
            "that is read from the curve of the two most probable words",
            "Read the other curve, which shows the most probable word alone.",
            lambda: temperature_at(2),
        ),
        Misconception(
            "that is the share, not the temperature",
            "The height, 0.5, is known. Read the temperature below that point, on the horizontal axis.",
            0.5,
        ),
        Misconception(
            "that is 1/T",
            "The horizontal axis shows T itself, and the logits are divided by T.",
            lambda: 1 / temperature_at(1),
        ),
    ),
    'lesson 6, "Temperature and top-k"; glossary.show("temperature")',
    tolerance=0.1,
)
