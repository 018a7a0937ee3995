"""`head_shapes`: the shapes of queries, weights and merged vectors in a layer of four heads."""

import torch

from course_lib.checks.engine import Question
from course_lib.checks.multi_head.entry_by_entry import misconceptions

BATCH, WORDS, WIDTH, HEADS = 2, 10, 64, 4
PIECE = WIDTH // HEADS

SLOTS = (
    (
        ("", "", (BATCH, HEADS, WORDS, PIECE)),
        ("queries: the head axis stands behind the words", "Which axes have to be last, so that every head gets its own Q Kᵀ?", (BATCH, WORDS, HEADS, PIECE)),
        ("queries: each head has all 64 numbers", "The heads share the 64 numbers among them.", (BATCH, HEADS, WORDS, WIDTH)),
        ("queries: the batch has gone", "There are two sentences, and they stay apart all the way.", (HEADS, WORDS, PIECE)),
    ),
    (
        ("", "", (BATCH, HEADS, WORDS, WORDS)),
        ("weights: they compare numbers, not words", "A row of weights says how one *word* shares its attention among all *words*.", (BATCH, HEADS, PIECE, PIECE)),
        ("weights: there is one map for all heads", "Each head has a softmax of its own. That is why there are heads.", (BATCH, WORDS, WORDS)),
        ("weights: that is the shape of the values", "Weights are what the values are multiplied *by*. One number for each pair of … what?", (BATCH, HEADS, WORDS, PIECE)),
        ("weights: the batch has gone", "There are two sentences, and they stay apart all the way.", (HEADS, WORDS, WORDS)),
    ),
    (
        ("", "", (BATCH, WORDS, WIDTH)),
        ("merged: the heads are added up, not put side by side", "After the merge, W_O wants to read every head's piece by itself.", (BATCH, WORDS, PIECE)),
        ("merged: the vectors have grown", "Four pieces side by side: how many numbers did each piece have?", (BATCH, WORDS, HEADS * WIDTH)),
        ("merged: the heads are still apart", "That is what the heads hand over. The merge puts their pieces side by side.", (BATCH, HEADS, WORDS, PIECE)),
        ("merged: the batch has gone", "There are two sentences, and they stay apart all the way.", (WORDS, WIDTH)),
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
