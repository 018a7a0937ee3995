"""first_weights: the three weights of the first step, by hand, from the scores 1.5, 0.4 and −0.7."""

from math import exp

from course_lib.checks.bahdanau_attention.shares import SCORES, shares
from course_lib.checks.engine import Misconception, Question

FIRST_WEIGHTS = Question(
    "first_weights",
    "bahdanau_attention",
    lambda: shares(*SCORES),
    (
        Misconception(
            "the minus sign is lost",
            "The third score is negative. Is exp(−0.7) more than 1 or less?",
            lambda: shares(*map(abs, SCORES)),
        ),
        Misconception(
            "the scores are divided by their sum",
            "A score may be negative, but a weight may not. What happens to each score before the division?",
            lambda: [score / sum(SCORES) for score in SCORES],
        ),
        Misconception(
            "the scores are divided by their sum, without their signs",
            "Then −0.7 counts more than 0.4. What happens to each score before the division?",
            lambda: [abs(score) / sum(map(abs, SCORES)) for score in SCORES],
        ),
        Misconception(
            "the exponentials are not divided by their sum",
            "Weights sum to 1. What do these sum to?",
            lambda: [exp(score) for score in SCORES],
        ),
        Misconception(
            "these are percentages",
            "Weights are shares. They sum to 1, not to 100.",
            [69.0, 23.0, 8.0],
        ),
        Misconception(
            "these are percentages",
            "Weights are shares. They sum to 1, not to 100.",
            lambda: [100 * share for share in shares(*SCORES)],
        ),
    ),
    'lesson 2, "By hand: le chat noir"; glossary.show("attention weight")',
    tolerance=0.005,
)
