"""cross_shape: the shape of the weights of cross-attention, for five sentence pairs and four heads."""

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
            "rows and columns are swapped",
            "Each row belongs to a word that looks. Which words look in cross-attention, French or English ones?",
            [5, 4, 9, 6],
        ),
        Misconception(
            "those are the weights of the decoder's self-attention",
            "In cross-attention, the French words don't look at their own sentence.",
            [5, 4, 6, 6],
        ),
        Misconception(
            "those are the weights of the encoder's self-attention",
            "In cross-attention, the queries don't come from the English words.",
            [5, 4, 9, 9],
        ),
        Misconception("the heads are missing", "Every head has its own matrix of weights.", [5, 6, 9]),
        Misconception(
            "the batch is missing", "The batch has five sentence pairs, and each pair has its own weights.", [4, 6, 9]
        ),
        Misconception(
            "that is the shape of the output",
            "The question asks for the weights. A head has one per pair of words.",
            [5, 6, 32],
        ),
        Misconception("<bos> is counted twice", "The six positions already include <bos>.", [5, 4, 7, 9]),
    ),
    'lesson 5, "The whole"; glossary.show("cross-attention")',
)
