"""positions_are_worth: what positions are worth to a model that writes six cards backwards."""

from course_lib.checks.engine import Misconception, Question
from course_lib.checks.transformer_trained.best_without import best_without_positions

POSITIONS_ARE_WORTH = Question(
    "positions_are_worth",
    "transformer_trained",
    lambda: 1.0 - best_without_positions(),
    (
        Misconception(
            "that is the share with positions",
            "Without positions, the model gets some cards right, too. What is the difference?",
            1.0,
        ),
        Misconception(
            "that is the share without positions",
            "The model keeps that much without positions. How much does it lose?",
            best_without_positions,
        ),
        Misconception(
            "that has the wrong sign",
            "Positions help here, so what they are worth is a positive number.",
            lambda: best_without_positions() - 1.0,
        ),
        Misconception(
            "that is a ratio",
            "Positions are worth what they add to the share. By how much does it rise?",
            lambda: 1 / best_without_positions(),
        ),
        Misconception(
            "that is in percent",
            "Give it as a share, a number between 0 and 1.",
            lambda: 100 * (1.0 - best_without_positions()),
        ),
    ),
    'lesson 5, "Order"; lesson 7, which removes every part in turn; glossary.show("positional encoding")',
    tolerance=0.055,  # a twentieth, plus what rounding adds
)
