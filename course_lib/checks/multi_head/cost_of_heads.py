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
                ("parameters: each head is counted with matrices of full width", "The W_Q of 512 × 512 holds the parts of all heads side by side. How wide is the part of one head?", 8 * 4 * 512**2),
                ("parameters: each head is counted with matrices of full width", "The W_Q of 512 × 512 holds the parts of all heads side by side. How wide is the part of one head?", (8 * 3 + 1) * 512**2),
                ("parameters: only one matrix is counted", "How many matrices does the question name?", 512**2),
                ("parameters: W_O is left out", "Three matrices make queries, keys and values. Which one comes after the merge?", 3 * 512**2),
                ("parameters: the biases are counted", "The paper's formula has no biases: head = attention(Q W_Q, K W_K, V W_V).", 4 * 512**2 + 4 * 512),
                ("parameters: that is one eighth of them", "Did you count all 8 heads? Each of them *reads* the whole vector of 512 numbers and passes on 64.", 8 * 4 * 64**2),
                ("parameters: four matrices of 64 × 64 are counted", "A head *reads* the whole vector of 512 numbers and passes on 64. And how many heads are there?", 4 * 64**2),
            ),
            (
                ("", "", 8 * 100**2),
                ("weights: only those of one head are counted", "Each head has its own softmax, and so its own map.", 100**2),
                ("weights: only those of one word are counted", "In each head, every one of the 100 words looks.", 8 * 100),
                ("weights: the numbers in a vector are counted too", "A head has one weight per pair of words, however long the vectors are.", 8 * 100**2 * 64),
                ("weights: that is how many numbers the values have", "A head has one weight per pair of words, however long the vectors are.", 100 * 512),
            ),
        )
    ),
    'lesson 4, "What do more heads cost?"; glossary.show("learned parameters")',
)  # fmt: skip
