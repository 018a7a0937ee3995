"""hiding_cost: the cost, in nats, of hiding the word that the model must write, the one before the marked word."""

from math import log

from course_lib.checks.engine import Misconception, Question

HIDING_COST = Question(
    "hiding_cost",
    "bahdanau_attention",
    # When the word is hidden, it may be any of 20, and nothing tells them apart: −log(1/20) instead of about 0.
    lambda: log(20),
    (
        Misconception(
            "that is the cost of hiding another word",
            "The costs are in the right panel. The marked word has the most weight, but which word must the model write? Read "
            "the bar of *that* word.",
            0.0,
        ),
        Misconception(
            "that looks like a weight, not like a cost",
            "Weights are between 0 and 1. The costs are in the right panel, in nats.",
            0.95,
        ),
        Misconception("the sign is wrong", "The cost says how far the log-probability *falls*.", lambda: -log(20)),
        Misconception(
            "that is a factor, not a cost in nats",
            "The log-probability falls by a few nats. Read the right panel.",
            20.0,
        ),
    ),
    'lesson 2, "Is the map an explanation?"',
    tolerance=0.4,  # each run of the notebook measures it again
)
