"""word_shares(weights, values): each word's share of a head's output; a word adds its weight times its value."""

import torch

from course_lib.checks.engine import Case, Exercise


def cases(generator: torch.Generator) -> list[Case]:
    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator) + 0.7  # so that no output is near zero

    def weights(queries: int, keys: int) -> torch.Tensor:
        return torch.randn(queries, keys, generator=generator).softmax(-1)

    some = weights(3, 3)
    some[1] = 0
    inputs = [
        ("two words at right angles", torch.tensor([[0.25, 0.75]]), torch.tensor([[12.0, 0.0], [0.0, 4.0]])),
        ("an output whose numbers sum to 0", torch.tensor([[0.25, 0.75]]), torch.tensor([[12.0, 0.0], [0.0, -4.0]])),
        ("an output that begins with 0", torch.tensor([[0.25, 0.75]]), torch.tensor([[0.0, 12.0], [0.0, 4.0]])),
        ("two words that point in opposite directions", torch.tensor([[0.5, 0.5]]), torch.tensor([[2.0], [-1.0]])),
        ("all weight on one word", torch.tensor([[0.0, 1.0]]), torch.tensor([[1.0, 2.0], [3.0, 1.0]])),
        ("three words, three queries", weights(3, 3), draw(3, 3)),
        ("two queries, five words", weights(2, 5), draw(5, 3)),
        ("four queries, two words", weights(4, 2), draw(2, 6)),
        ("one word", weights(2, 1), draw(1, 4)),
        ("long values", weights(2, 4), 100 * draw(4, 3)),
        ("short values", weights(2, 4), 0.01 * draw(4, 3)),
        ("very short values", weights(2, 3), 1e-6 * draw(3, 3)),
        ("words that nearly cancel each other", torch.tensor([[0.5, 0.5]]), torch.tensor([[1.0], [-0.9]])),
        ("a query that looks at nothing", some, draw(3, 4)),
        ("float64", weights(3, 2).double(), draw(2, 2).double()),
        ("a tensor that isn't contiguous in memory", weights(4, 3).T.contiguous().T, draw(5, 3).T),
    ]
    return [Case(about, {"weights": w, "values": v}) for about, w, v in inputs]


def right(weights, values):
    a = weights @ values  # (query, d)
    along = weights * (a @ values.T)  # (query, key)
    shares = along / a.square().sum(-1, keepdim=True)
    return shares.nan_to_num(0.0)  # of a query that looks at nothing


WORD_SHARES = Exercise(
    "word_shares",
    "taken_apart",
    cases,
    right,
    'lesson 7, "The new it is mostly the value of chicken"; glossary.show("value")',
    tolerance=1e-4,
    tensor=True,
)

WORD_SHARES.edit(
    "these are the weights",
    "A word with a large weight and a short value passes on little. Where do the values come in?",
    ("along / a.square().sum(-1, keepdim=True)", "weights"),
)
WORD_SHARES.edit(
    "it divides by ‖a‖, not by ‖a‖²",
    "Do the shares of a row sum to 1? And if all values are ten times as long, do the shares stay the same?",
    ("a.square().sum(-1, keepdim=True)", "a.norm(dim=-1, keepdim=True)"),
)
WORD_SHARES.edit(
    "the division is missing",
    "Do the shares of a row sum to 1?",
    ("along / a.square().sum(-1, keepdim=True)", "along"),
)
for by in ("a.square()", "along"):
    WORD_SHARES.edit(
        "the word's weight is left out",
        "What a word passes on is its value *times* its weight.",
        ("weights * (a @ values.T)", "a @ values.T"),
        ("a.square()", by),
    )
WORD_SHARES.edit(
    "all queries are divided by the same ‖a‖²",
    "Each query has an output of its own, with a length of its own. Along which axis should the squares be added?",
    ("sum(-1, keepdim=True)", "sum()"),
)
WORD_SHARES.edit(
    "it compares lengths and ignores directions",
    "A long piece that points against the output takes away from it. How far does the piece go in the direction of a?",
    ("(a @ values.T)", "values.norm(dim=-1)"),
    ("a.square()", "along"),
)
for by in ("along", "a.square()"):
    WORD_SHARES.edit(
        "negative shares are made positive",
        "A word may pull against the output. Then its share is negative, and the other shares sum to more than 1.",
        ("weights * (a @ values.T)", "(weights * (a @ values.T)).abs()"),
        ("a.square()", by),
    )
WORD_SHARES.edit(
    "these are cosines",
    "A cosine ignores how long the piece is. Do the shares of a row sum to 1?",
    ("weights * (a @ values.T)", "a @ values.T / values.norm(dim=-1)"),
    ("a.square().sum(-1, keepdim=True)", "a.norm(dim=-1, keepdim=True)"),
)
WORD_SHARES.edit(
    "a softmax is taken of the shares",
    "The shares of a row already sum to 1.",
    ("shares.nan_to_num(0.0)", "shares.nan_to_num(0.0).softmax(-1)"),
)
WORD_SHARES.edit(
    "a query that looks at nothing gives NaN",
    "The output of that query is the zero vector, and 0/0 is NaN. The exercise says what its shares should be.",
    ("shares.nan_to_num(0.0)", "shares"),
)
WORD_SHARES.edit(
    "rows and columns are swapped",
    "The result has a row for each query, and a column for each word it looks at.",
    ("shares.nan_to_num(0.0)", "shares.nan_to_num(0.0).T"),
)
