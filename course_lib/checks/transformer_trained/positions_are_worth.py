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
            "Some cards are right without positions, too. What is the difference?",
            1.0,
        ),
        Misconception(
            "that is the share without positions",
            "That much remains. How much is lost?",
            best_without_positions,
        ),
        Misconception(
            "that has the wrong sign",
            "Positions help here: what they are worth is a positive number.",
            lambda: best_without_positions() - 1.0,
        ),
        Misconception(
            "that is a ratio",
            "From 0.2 to 1 the share rises by how much? Subtract.",
            lambda: 1 / best_without_positions(),
        ),
        Misconception(
            "that is in percent",
            "As a share it lies between 0 and 1.",
            lambda: 100 * (1.0 - best_without_positions()),
        ),
    ),
    'lesson 5, "Order"; lesson 7 takes out every part; glossary.show("positional encoding")',
    tolerance=0.055,  # a twentieth, and what rounding adds
)
