"""padded_weights: the weights of the same three scores when the third position is padding."""

from course_lib.checks.bahdanau_attention.shares import SCORES, shares
from course_lib.checks.engine import Misconception, Question

PADDED_WEIGHTS = Question(
    "padded_weights",
    "bahdanau_attention",
    lambda: [*shares(*SCORES[:2]), 0.0],
    (
        Misconception(
            "the padding's weight is missing",
            "There are three positions, so there are three weights. The padding has one, too.",
            lambda: shares(*SCORES[:2]),
        ),
        Misconception(
            "the padding has already taken its share",
            "What do the two weights sum to? Leave the padding out of the sum that you divide by.",
            lambda: [*shares(*SCORES)[:2], 0.0],
        ),
        Misconception(
            "the padding's score is set to 0",
            "exp(0) is 1, so a score of 0 still gets weight.",
            lambda: shares(*SCORES[:2], 0.0),
        ),
        Misconception(
            "the padding is not left out", "How much may a position without a word get?", lambda: shares(*SCORES)
        ),
        Misconception(
            "the scores are divided by their sum",
            "What happens to each score before the division?",
            lambda: [*(score / sum(SCORES[:2]) for score in SCORES[:2]), 0.0],
        ),
    ),
    'lesson 2, "Sentences of unequal length"; glossary.show("mask")',
    tolerance=0.005,
)
