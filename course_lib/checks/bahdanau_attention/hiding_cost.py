"""hiding_cost: what it costs, in nats, to hide the word that must be written, which is the one before the marked word."""

from math import log

from course_lib.checks.engine import Misconception, Question

HIDING_COST = Question(
    "hiding_cost",
    "bahdanau_attention",
    # Hidden, the word may be any of 20, and nothing tells them apart: −log(1/20) in place of about 0.
    lambda: log(20),
    (
        Misconception(
            "that word would hardly be missed",
            "Costs are in the right panel. The marked word has the most weight, but which word must be written? Read the "
            "bar of *that* place.",
            0.0,
        ),
        Misconception(
            "that may be a share, but not this cost",
            "Weights and probabilities lie between 0 and 1. Costs are in the right panel, in nats.",
            0.95,
        ),
        Misconception(
            "the sign is the wrong way round", "A cost is how far the log-probability *falls*.", lambda: -log(20)
        ),
        Misconception(
            "that is a factor, not nats", "The log-probability falls by a few nats. Read the right panel's axis.", 20.0
        ),
    ),
    'lesson 2, "Is the map an explanation?"',
    tolerance=0.4,  # measured anew in the notebook
)
