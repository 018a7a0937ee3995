"""copied_at_18: the shares that two models copy correctly at length 18. One was trained on length 12 alone, the other on 8 to 16."""

from course_lib.checks.engine import Misconception, Question

COPIED_AT_18 = Question(
    "copied_at_18",
    "language_models",
    lambda: [0.01, 0.99],
    (
        Misconception("neither model copies", "Read each curve separately. One model has found a rule that doesn't depend on the length.", [0.0, 0.0]),
        Misconception("both models copy", "Read each curve separately. For one model, the copy always began at the same position.", [1.0, 1.0]),
        Misconception("the two shares are swapped", "The first share belongs to A, which was trained on length 12 alone.", [0.99, 0.01]),
        Misconception("these are the shares at length 12", "At length 12, both models are correct. Read the curves at 18.", [1.0, 0.99]),
        Misconception("half of the copy stays correct", "The stretch is longer by 6 symbols, but no part of it is easier than another. Read the curve of A.", [0.5, 0.99]),
        Misconception("these are percentages", "A share goes from 0 to 1.", [0.0, 99.0]),
        Misconception("this is a single number", "The answer is a list of two shares, first of A, then of B.", 0.99),
    ),
    'lesson 8, "A trap: always the same length"',
    tolerance=0.12,
)  # fmt: skip  # fmt: skip
