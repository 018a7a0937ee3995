"""additive_score(query, keys, W_s, W_h, v): v · tanh(W_s s + W_h h) of a state s with each h of its sentence."""

from functools import partial

import torch

from course_lib.checks.engine import Case, Exercise


def cases(generator: torch.Generator) -> list[Case]:
    draw = partial(torch.randn, generator=generator)

    def sizes(batch, words, query_size, key_size, inner):
        return (
            draw(batch, query_size),
            draw(batch, words, key_size),
            draw(inner, query_size),
            draw(inner, key_size),
            draw(inner),
        )

    one = torch.tensor([[1.0]]), torch.tensor([[[2.0]]]), torch.tensor([[1.0]]), torch.tensor([[-2.0]])
    notes = (
        torch.tensor([[0.2, 1.5]]),
        torch.tensor([[[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]]),
        torch.tensor([[1.7, -0.4], [0.6, -0.1], [0.0, -1.7]]),
        torch.tensor([[1.0, -1.6], [-0.8, 0.4], [1.2, -1.9]]),
        torch.tensor([1.7, 0.7, -1.7]),
    )
    query, keys, *rest = sizes(5, 4, 3, 2, 6)
    inputs = [
        ("one sentence of one word, all sizes 1", (*one, torch.tensor([3.0]))),
        ("the first step of the lecture notes", notes),
        ("two sentences of two words, all sizes 2", sizes(2, 2, 2, 2, 2)),
        ("four sentences of four words", sizes(4, 4, 3, 5, 2)),
        ("every axis with a different length", sizes(2, 3, 4, 5, 6)),
        ("queries and keys of one size", sizes(3, 5, 4, 4, 2)),
        ("one sentence", sizes(1, 6, 2, 3, 5)),
        ("sentences of one word", sizes(3, 1, 2, 4, 3)),
        ("a single number inside the tanh", sizes(2, 3, 3, 2, 1)),
        ("float64", tuple(x.double() for x in sizes(3, 2, 4, 3, 5))),
        ("keys that aren't contiguous in memory", (query, draw(2, 4, 5).permute(2, 1, 0), *rest)),
        ("large numbers, where the tanh is flat", (50 * query, 50 * keys, *rest)),
    ]
    names = ("query", "keys", "W_s", "W_h", "v")
    return [Case(about, dict(zip(names, values, strict=True))) for about, values in inputs]


def right(query, keys, W_s, W_h, v):
    s = (query @ W_s.T)[:, None]
    h = keys @ W_h.T
    inside = torch.tanh(s + h)
    return inside @ v


ADDITIVE_SCORE = Exercise(
    "additive_score",
    "bahdanau_attention",
    cases,
    right,
    'lesson 2, "Where the scores come from"; glossary.show("additive score")',
    tolerance=1e-4,
    banned=("course_lib.attention.AdditiveScore",),
)

ADDITIVE_SCORE.edit(
    "the tanh is missing",
    "Look at the formula again. What happens to the sum before v comes in?",
    ("torch.tanh(s + h)", "s + h"),
)
ADDITIVE_SCORE.edit(
    "the tanh comes after v",
    "A score may be larger than 1. Which comes first in the formula, the tanh or v?",
    ("torch.tanh(s + h)", "s + h"),
    ("inside @ v", "torch.tanh(inside @ v)"),
)
ADDITIVE_SCORE.edit(
    "the tanh is taken before the sum",
    "The formula has one tanh. What is inside its brackets?",
    ("torch.tanh(s + h)", "torch.tanh(s) + torch.tanh(h)"),
)
ADDITIVE_SCORE.edit(
    "the two products are multiplied, not added",
    "The score is called additive. What is between the two products in the formula?",
    ("s + h", "s * h"),
)
for function in ("relu", "sigmoid"):
    ADDITIVE_SCORE.edit(
        "another function is used instead of the tanh",
        "The tanh gives numbers between −1 and 1, including negative ones. Does your function?",
        ("tanh", function),
    )
ADDITIVE_SCORE.edit(
    "v is not used",
    "The numbers that the tanh gives don't all count the same. Each has a factor of its own.",
    ("inside @ v", "inside.sum(-1)"),
)
ADDITIVE_SCORE.edit(
    "the products with v are not summed",
    "Each word gets one score. How do its products become one number?",
    ("inside @ v", "inside * v"),
)
ADDITIVE_SCORE.edit(
    "the product with v sums over the words",
    "Each word needs a score of its own. If x has the axes (batch, key, a), which axis does `v @ x` sum over?",
    ("inside @ v", "v @ inside"),
)
ADDITIVE_SCORE.edit(
    "an axis of length 1 is left at the end",
    "The result has two axes, (batch, key). Which axes does yours have, and which is one too many?",
    ("inside @ v", "inside @ v[:, None]"),
)
ADDITIVE_SCORE.edit(
    "the query is not used", "Two things go into a score, a state and the query that looks at it.", ("s + h", "h")
)
ADDITIVE_SCORE.edit(
    "the first sentence's query is used for all sentences",
    "Each sentence has a query of its own. Which row of `query` does the second sentence get in your code?",
    ("query @", "query[:1] @"),
)
ADDITIVE_SCORE.edit(
    "the states are not used",
    "Then every word of a sentence gets the same score. Which argument knows the words?",
    ("s + h", "s.expand_as(h)"),
)
ADDITIVE_SCORE.edit(
    "the axes of the result are swapped",
    "Which comes first in (batch, key), the sentence or the word?",
    ("inside @ v", "(inside @ v).T"),
)
ADDITIVE_SCORE.edit(
    "a softmax is applied to the scores",
    "A score may be any number. The weights come later.",
    ("inside @ v", "(inside @ v).softmax(-1)"),
)
ADDITIVE_SCORE.edit(
    "the query of one sentence meets the words of another",
    "Write down the shapes of the two tensors that you add. Which axes does broadcasting align? The sentences of the one "
    "must meet the sentences of the other.",
    ("(query @ W_s.T)[:, None]", "query @ W_s.T"),
)
ADDITIVE_SCORE.edit(
    "both matrices are transposed",
    "W_s has the shape (a, d_query). Which of its axes must meet the query's numbers?",
    ("W_s.T", "W_s"),
    ("W_h.T", "W_h"),
)
ADDITIVE_SCORE.edit(
    "the two matrices are swapped",
    "W_s belongs to the query s, and W_h to the states h.",
    ("query @ W_s.T", "query @ W_h.T"),
    ("keys @ W_h.T", "keys @ W_s.T"),
)
