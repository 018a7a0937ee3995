"""Checks of your own: a template. Copy this folder, change numbers, names and questions, and keep the copy to yourself.

It is loaded in the grader's process only: no learner's kernel sees what is right here. Each entry of ASKED is asked by
a hidden line `checks.check("name", answer)` of a notebook beside this file.
"""

import torch
from torch.nn import functional as F

from course_lib.checks.engine import Case, Exercise, Misconception, Question

# ---- an exercise of lesson 3, varied: the masked softmax is given a temperature ----


def cases(generator):
    """The inputs, the smallest first. Draw most of them, so that no table of answers can be written."""

    def draw(*shape):
        return torch.randn(*shape, generator=generator)

    some = torch.rand(2, 3, 5, generator=generator) < 0.7
    some[..., 0] = True
    yes = torch.ones(1, 3, dtype=torch.bool)
    inputs = [
        ("one row, all open", draw(1, 3), yes, 2.0),
        ("one place closed", draw(1, 3), torch.tensor([[True, True, False]]), 0.5),
        ("a batch of sentences", draw(2, 3, 5), some, 3.0),
    ]
    return [Case(about, {"scores": s, "mask": m, "temperature": t}) for about, s, m, t in inputs]


def right(scores, mask, temperature):
    return F.softmax((scores / temperature).masked_fill(~mask, -torch.inf), -1)


SOFTMAX_AT = Exercise("softmax_at", "scaled_dot_product", cases, right, 'lesson 3, "The mask laboratory"')


@SOFTMAX_AT.misconception(
    "the scores are multiplied by the temperature",
    "A high temperature makes the weights more alike. Do yours become more alike?",
)
def multiplied(scores, mask, temperature):
    return right(scores, mask, 1 / temperature)


@SOFTMAX_AT.misconception("the temperature is not used", "Try two temperatures on the same scores.")
def not_used(scores, mask, temperature):
    return right(scores, mask, 1.0)


# ---- a question of lesson 3, varied: other words ----

WORDS = {"the": torch.tensor([0.1, 0.3, 0.2, 0.4]), "cat": torch.tensor([0.5, 0.2, 0.1, 0.3])}

MAT_SCORE = Question(
    "mat_score",
    "scaled_dot_product",
    lambda: (WORDS["cat"] @ WORDS["the"]).item(),
    (Misconception("that is divided by √d_k", "The dot product alone is asked for.", 0.125),),
    'lesson 3, "Could we do without the matrices?"',
    tolerance=0.005,
)

ASKED = [SOFTMAX_AT, MAT_SCORE]
