"""half_temperature: at which temperature does a draw take the likeliest word half of the time?"""

import torch

from course_lib.checks.engine import Misconception, Question

LOGITS = torch.tensor([3.0, 2.0, 1.2, 0.8, 0.0, -1.0], dtype=torch.float64)


def temperature_at(words: int, share: float = 0.5) -> float:
    """Where the `words` likeliest have this share of the probability together, by bisection."""
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
            "that is read from the curve of the two likeliest words",
            "Read the other curve, that of the likeliest word alone.",
            lambda: temperature_at(2),
        ),
        Misconception(
            "that is the share, not the temperature",
            "You know the height, 0.5. Asked for is the place below it, on the axis across.",
            0.5,
        ),
        Misconception(
            "that is 1/T",
            "The axis across shows T, by which the logits are divided.",
            lambda: 1 / temperature_at(1),
        ),
    ),
    'lesson 6, "Temperature and top-k"; glossary.show("temperature")',
    tolerance=0.1,
)
