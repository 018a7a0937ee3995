"""cross_shape: the shape of the weights of cross-attention, for five pairs of sentences and four heads."""

import torch
from torch import nn

from course_lib.checks.engine import Misconception, Question


def right() -> tuple[int, ...]:
    attention = nn.MultiheadAttention(32, 4, batch_first=True)
    french, english = torch.zeros(5, 6, 32), torch.zeros(5, 9, 32)
    return tuple(attention(french, english, english, average_attn_weights=False)[1].shape)


CROSS_SHAPE = Question(
    "cross_shape",
    "transformer_built",
    right,
    (
        Misconception(
            "rows and columns are exchanged",
            "A row is one that looks. Who looks in cross-attention, French or English?",
            [5, 4, 9, 6],
        ),
        Misconception(
            "those are the weights of the decoder's self-attention",
            "In cross-attention the French words look at other words than their own.",
            [5, 4, 6, 6],
        ),
        Misconception(
            "those are the weights of the encoder",
            "In cross-attention the queries do not come from the English words.",
            [5, 4, 9, 9],
        ),
        Misconception("the heads are missing", "Every head has a matrix of weights of its own.", [5, 6, 9]),
        Misconception("the sentences are missing", "There are five pairs of sentences in the batch.", [4, 6, 9]),
        Misconception(
            "that is the shape of what comes out",
            "Asked for are the weights: one number for each pair of words.",
            [5, 6, 32],
        ),
        Misconception("<bos> is counted twice", "The six places hold <bos> already.", [5, 4, 7, 9]),
    ),
    'lesson 5, "The whole"; glossary.show("cross-attention")',
)
