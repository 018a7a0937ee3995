"""copied_at_18: the shares that two models copy rightly at length 18, one trained on length 12 alone, one on 8 to 16."""

from course_lib.checks.engine import Misconception, Question

COPIED_AT_18 = Question(
    "copied_at_18",
    "language_models",
    lambda: [0.01, 0.99],
    (
        Misconception("both fall to guessing", "Read the two curves one by one: one model has found a rule that does not need the length.", [0.0, 0.0]),
        Misconception("both go on copying", "Read the two curves one by one: one model has never had to find where the copy begins.", [1.0, 1.0]),
        Misconception("the two are swapped", "First the model that was trained on 12 alone.", [0.99, 0.01]),
        Misconception("that is at length 12", "At 12 both are right. Read the curves at 18.", [1.0, 0.99]),
        Misconception("half of it is left", "The copy is longer by 6, but no part of it is easier than another. Read the curve.", [0.5, 0.99]),
        Misconception("these are percent", "A share goes from 0 to 1.", [0.0, 99.0]),
        Misconception("that is one number", "Two shares are asked for, in a list: of the first model, and of the second.", 0.99),
    ),
    'lesson 8, "A trap: always the same length"',
    tolerance=0.12,
)  # fmt: skip  # fmt: skip
