"""`cost_of_heads`: the parameters of a layer of eight heads, and the weights for a sentence of 100 words."""

import torch

from course_lib.checks.engine import Question
from course_lib.checks.multi_head.entry_by_entry import misconceptions

COST_OF_HEADS = Question(
    "cost_of_heads",
    "multi_head",
    lambda: [sum(torch.empty(512, 512).numel() for _ in range(4)), torch.empty(8, 100, 100).numel()],
    tuple(
        misconceptions(
            (
                ("", "", 4 * 512**2),
                ("parameters: each head is counted with matrices of full width", "W_Q of 512 × 512 is all heads' W_Q side by side. How wide is the part of one head?", 8 * 4 * 512**2),
                ("parameters: each head is counted with matrices of full width", "W_Q of 512 × 512 is all heads' W_Q side by side. How wide is the part of one head?", (8 * 3 + 1) * 512**2),
                ("parameters: that is one matrix", "How many matrices are there? Count the letters under the W.", 512**2),
                ("parameters: W_O is forgotten", "Three matrices make queries, keys and values. Which one comes after the merge?", 3 * 512**2),
                ("parameters: the biases are counted", "The paper's formula has none: head = attention(Q W_Q, K W_K, V W_V).", 4 * 512**2 + 4 * 512),
                ("parameters: that is one eighth of them", "Are all 8 heads counted? And each of them *reads* the whole vector of 512 and hands on 64 numbers.", 8 * 4 * 64**2),
                ("parameters: the heads' matrices are counted as 64 × 64", "A head *reads* the whole vector of 512 and hands on 64 numbers.", 4 * 64**2),
            ),
            (
                ("", "", 8 * 100**2),
                ("weights: those of one head are counted", "Each head has a softmax, and so a map, of its own.", 100**2),
                ("weights: those of one word are counted", "Each of the 100 words asks, and in each head.", 8 * 100),
                ("weights: the numbers in a vector are counted too", "A weight is one number for a pair of words, however wide the vectors.", 8 * 100**2 * 64),
                ("weights: that is the number of values", "A weight is one number for a pair of words, however wide the vectors.", 100 * 512),
            ),
        )
    ),
    'lesson 4, "What do more heads cost?"; glossary.show("learned parameters")',
)  # fmt: skip
