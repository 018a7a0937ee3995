"""`head_shapes`: the shapes of queries, weights and merged vectors in a layer of four heads."""

import torch

from course_lib.checks.engine import Question
from course_lib.checks.multi_head.entry_by_entry import misconceptions

BATCH, WORDS, WIDTH, HEADS = 2, 10, 64, 4
PIECE = WIDTH // HEADS

SLOTS = (
    (
        ("", "", (BATCH, HEADS, WORDS, PIECE)),
        ("queries: the head axis comes after the words", "Which two axes have to be last, so that every head gets its own Q Kᵀ?", (BATCH, WORDS, HEADS, PIECE)),
        ("queries: each head gets all 64 numbers", "The 64 numbers are divided among the heads.", (BATCH, HEADS, WORDS, WIDTH)),
        ("queries: the batch is missing", "There are two sentences, and they stay separate from start to end.", (HEADS, WORDS, PIECE)),
    ),
    (
        ("", "", (BATCH, HEADS, WORDS, WORDS)),
        ("weights: they compare numbers, not words", "A row of weights says how one *word* divides its attention among all *words*.", (BATCH, HEADS, PIECE, PIECE)),
        ("weights: there is one map for all heads", "Each head has its own softmax. That is the point of having heads.", (BATCH, WORDS, WORDS)),
        ("weights: that is the shape of the values", "The values are multiplied *by* the weights. Each weight belongs to a pair of … what?", (BATCH, HEADS, WORDS, PIECE)),
        ("weights: the batch is missing", "There are two sentences, and they stay separate from start to end.", (HEADS, WORDS, WORDS)),
    ),
    (
        ("", "", (BATCH, WORDS, WIDTH)),
        ("merged: the heads are added up, not put side by side", "W_O comes next, and it has to read the piece of every head separately.", (BATCH, WORDS, PIECE)),
        ("merged: the vectors have grown", "The merge puts four pieces side by side. How many numbers does each piece have?", (BATCH, WORDS, HEADS * WIDTH)),
        ("merged: the heads are still separate", "That is the shape of what the heads pass on. The merge puts their pieces side by side.", (BATCH, HEADS, WORDS, PIECE)),
        ("merged: the batch is missing", "There are two sentences, and they stay separate from start to end.", (WORDS, WIDTH)),
    ),
)  # fmt: skip


def right():
    return [torch.stack(torch.zeros(2, 10, 64).chunk(4, -1), 1).shape, (2, 4, 10, 10), (2, 10, 64)]


HEAD_SHAPES = Question(
    "head_shapes",
    "multi_head",
    right,
    tuple(misconceptions(*SLOTS)),
    'lesson 4, "Shapes"; glossary.show("multi-head attention")',
)
