"""`induction_score(weights)`: how much weight each head puts on the token after the earlier copy."""

import torch

from course_lib.checks.engine import Case, Exercise


def induction_score_cases(generator: torch.Generator) -> list[Case]:
    def maps(heads: int, n: int, causal: bool = True) -> torch.Tensor:
        """Weights of a sequence of 2 n tokens."""
        scores = 2 * torch.randn(heads, 2 * n, 2 * n, generator=generator)
        later = torch.ones(2 * n, 2 * n, dtype=torch.bool).triu(1)
        return (scores.masked_fill(later, -torch.inf) if causal else scores).softmax(-1)

    by_hand = torch.tensor([[[1, 0, 0, 0], [0.5, 0.5, 0, 0], [0.25, 0.75, 0, 0], [0.1, 0.3, 0.4, 0.2]]])
    inputs = [
        ("the head of the text", by_hand),
        ("two heads, two tokens twice", maps(2, 2)),
        ("a single head, three tokens twice", maps(1, 3)),
        ("as many heads as tokens", maps(6, 3)),
        ("as many heads as tokens in a half", maps(4, 4)),
        ("maps without a causal mask", maps(3, 4, causal=False)),
        ("longer halves", maps(2, 9)),
        ("float64", maps(3, 5).double()),
        ("maps that are not contiguous in memory", maps(4, 5).permute(2, 1, 0).contiguous().permute(2, 1, 0)),
    ]
    return [Case(about, {"weights": weights}) for about, weights in inputs]


def induction_score(weights):
    n = weights.shape[-1] // 2
    query = torch.arange(n, 2 * n)
    key = query - n + 1
    found = weights[:, query, key]
    return found.mean(-1)


INDUCTION_SCORE = Exercise(
    "induction_score",
    "opened_up",
    induction_score_cases,
    induction_score,
    'lesson 13, "Induction heads, for real"; glossary.show("induction head")',
)

QUERY, KEY, FOUND, MEAN = "torch.arange(n, 2 * n)", "query - n + 1", "weights[:, query, key]", "found.mean(-1)"
AFTER = "The head has to know what comes *next*. So it looks at the token after the earlier copy. How many positions back is that?"
INDUCTION_SCORE.edit("it is the weight on the earlier copy itself", AFTER, (KEY, "query - n"))
INDUCTION_SCORE.edit("it is the weight on the token before the earlier copy", AFTER, (KEY, "query - n - 1"))
INDUCTION_SCORE.edit(
    "it is the weight on the second token after the earlier copy", AFTER, (KEY, "(query - n + 2) % (2 * n)")
)
INDUCTION_SCORE.edit(
    "it is the weight on the token just before",
    "That is the score of a previous-token head. The earlier copy is half a sequence back.",
    (KEY, "query - 1"),
)
INDUCTION_SCORE.edit("it is the weight of each token on itself", AFTER, (KEY, "query"))
HALF = "Divide by the number of tokens in the second half."
ALL = "Only the tokens of the second half have an earlier copy. How many are they?"
INDUCTION_SCORE.edit("the sum is divided by the number of all tokens", HALF, (MEAN, "found.sum(-1) / (2 * n)"))
INDUCTION_SCORE.edit(
    "the last token of the first half counts, too",
    f"{ALL} `diagonal` of a square table may have one entry more.",
    (QUERY, "torch.arange(n - 1, 2 * n)"),
)
INDUCTION_SCORE.edit("the last token is left out", ALL, (QUERY, "torch.arange(n, 2 * n - 1)"))
INDUCTION_SCORE.edit("the first token of the second half is left out", ALL, (QUERY, "torch.arange(n + 1, 2 * n)"))
INDUCTION_SCORE.edit("only the last token counts", ALL, (QUERY, "torch.arange(2 * n - 1, 2 * n)"))
INDUCTION_SCORE.edit("only the first token of the second half counts", ALL, (QUERY, "torch.arange(n, n + 1)"))
INDUCTION_SCORE.edit(
    "all tokens count, and a negative position takes keys from the end",
    f"{ALL} Python counts a negative position from the end.",
    (QUERY, "torch.arange(2 * n)"),
)
INDUCTION_SCORE.edit(
    "rows and columns are exchanged",
    "A row is the token that looks, a column is the token that is seen. Who looks here, the earlier or the later token?",
    (FOUND, "weights[:, key, query]"),
)
INDUCTION_SCORE.edit(
    "all weight on the first half counts",
    "Each token of the second half has one partner in the first. Take the weight on that one.",
    (FOUND, "weights[:, n:, :n].sum(-1)"),
)
INDUCTION_SCORE.edit(
    "the mean is taken over all pairs of a token and a key",
    "`weights[:, query, key]` takes the entries in pairs. `weights[:, query][:, :, key]` takes every query with every key.",
    (FOUND, "weights[:, query][:, :, key].flatten(1)"),
)
INDUCTION_SCORE.edit(
    "it is the sum, not the mean",
    f"A score of 1 means all of the weight. {HALF}",
    (MEAN, "found.sum(-1)"),
)
INDUCTION_SCORE.edit(
    "it is the largest weight, not the mean",
    "One token may be looked at by chance. Average over all tokens of the second half.",
    (MEAN, "found.amax(-1)"),
)
INDUCTION_SCORE.edit("it is the median, not the mean", "Take the mean.", (MEAN, "found.median(-1).values"))
INDUCTION_SCORE.edit(
    "it is the share of the tokens whose largest weight is there",
    "That counts how often the weight there is the *largest*. The score is the mean weight.",
    (FOUND, "(weights[:, query].argmax(-1) == key).float()"),
)
INDUCTION_SCORE.edit(
    "one number is returned for all heads", "Each head has a score of its own.", (MEAN, "found.mean()")
)
INDUCTION_SCORE.edit(
    "the mean is taken over the heads",
    "Each head has a score of its own. Average over its tokens.",
    (MEAN, "found.mean(0)"),
)
INDUCTION_SCORE.edit("each token's weight is returned", "Average over the tokens of the second half.", (MEAN, "found"))
