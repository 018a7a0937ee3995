"""`kl_estimate(new, old, mask)`: how far the new model is from the old one, in nats per text, and its standard error."""

import torch

from course_lib.checks.engine import Case, Exercise


def kl_estimate_cases(generator: torch.Generator) -> list[Case]:
    def given(texts: int, n: int, lengths: list[int] | None = None, drift: float = 0.3) -> dict:
        new = -3 * torch.rand(texts, n, generator=generator)
        old = new - drift - torch.randn(texts, n, generator=generator)
        lengths = torch.tensor(lengths or torch.randint(1, n + 1, (texts,), generator=generator).tolist())
        return {"new": new, "old": old, "mask": torch.arange(n) < lengths[:, None]}

    by_hand = {
        "new": torch.tensor([[-1.0, -2.0, -7.0], [-1.5, -0.5, -1.0]]),
        "old": torch.tensor([[-2.0, -2.5, -1.0], [-1.0, -2.5, -2.0]]),
        "mask": torch.tensor([[True, True, False], [True, True, True]]),
    }
    sure = given(5, 6, [3, 6, 2, 4, 5])
    sure["new"][:, 0], sure["old"][:, 1] = 0, 0
    in_double = {name: one.double() if name != "mask" else one for name, one in given(4, 5).items()}
    strided = {name: one.T.contiguous().T for name, one in given(5, 4).items()}
    in_front = {name: one.flip(1) for name, one in given(4, 6, [2, 6, 3, 5]).items()}
    inputs = [
        ("the two texts of the example", by_hand),
        ("two texts", given(2, 4, [3, 4])),
        ("texts without padding", given(4, 5, [5] * 4)),
        ("as many texts as tokens", given(6, 6)),
        ("a text of one token", given(3, 5, [1, 4, 5])),
        ("an estimate below 0", given(5, 4, [2, 3, 4, 4, 1], -0.6)),
        ("a new model far away", given(6, 8, None, 3.0)),
        ("padding in front", in_front),
        ("tokens that a model is sure of", sure),
        ("float64", in_double),
        ("numbers that are not contiguous in memory", strided),
        ("thirty texts", given(30, 12)),
    ]
    return [Case(about, given) for about, given in inputs]


def kl_estimate(new, old, mask):
    difference = new - old
    real = torch.where(mask, difference, 0.0)
    each = real.sum(1)
    mean = each.mean()
    error = each.std() / len(each) ** 0.5
    return mean, error


KL_ESTIMATE = Exercise(
    "kl_estimate",
    "trained_to_please",
    kl_estimate_cases,
    kl_estimate,
    'lesson 14, "What pleasing costs"; glossary.show("kl-divergence")',
)

DIFFERENCE, REAL, EACH, MEAN, ERROR, RESULT = (
    "new - old",
    "torch.where(mask, difference, 0.0)",
    "real.sum(1)",
    "each.mean()",
    "each.std() / len(each) ** 0.5",
    "return mean, error",
)
KL_ESTIMATE.edit(
    "the two models are exchanged",
    "The *new* model wrote these texts. On average they are more probable to it than to the old one. Which sign should the mean have?",
    (DIFFERENCE, "old - new"),
)
TEXT = "The unit is nats per *text*. A text's log-probability is the sum over its tokens."
KL_ESTIMATE.edit(
    "it is per token, over all tokens alike",
    f"{TEXT} And a token doesn't come alone, so the texts are what varies.",
    (EACH, "difference[mask]"),
)
KL_ESTIMATE.edit("it is per token, text by text", TEXT, (EACH, "real.sum(1) / mask.sum(1)"))
KL_ESTIMATE.edit("the sums are over the texts, not over the tokens", TEXT, (EACH, "real.sum(0)"))
KL_ESTIMATE.edit("each sum is divided by the padded length", TEXT, (EACH, "real.mean(1)"))
KL_ESTIMATE.edit("the tokens' mean has the texts' error", TEXT, (MEAN, "real.sum() / mask.sum()"))
PADDING = "Padding is no part of a text. What is written there means nothing."
KL_ESTIMATE.edit("the padding counts, too", PADDING, (REAL, "difference"))
KL_ESTIMATE.edit(
    "only the padding counts", f"{PADDING} True marks a *real* token.", (REAL, "torch.where(mask, 0.0, difference)")
)
KL_ESTIMATE.edit("the padding counts in the old model", PADDING, (REAL, "torch.where(mask, new, 0.0) - old"))
KL_ESTIMATE.edit("the padding counts in the new model", PADDING, (REAL, "new - torch.where(mask, old, 0.0)"))
ABSOLUTE = "A single text may be *less* probable to the new model. Such texts count with their minus sign."
KL_ESTIMATE.edit("the sign of each text is lost", ABSOLUTE, (EACH, "real.sum(1).abs()"))
KL_ESTIMATE.edit("the sign of each token is lost", ABSOLUTE, (EACH, "real.abs().sum(1)"))
KL_ESTIMATE.edit("texts below 0 count as 0", ABSOLUTE, (EACH, "real.sum(1).clamp(min=0)"))
KL_ESTIMATE.edit(
    "an estimate below 0 becomes 0",
    "The divergence itself is never below 0, but an estimate may be. Don't cut it off.",
    (MEAN, "each.mean().clamp(min=0)"),
)
KL_ESTIMATE.edit("the sign of the estimate is lost", ABSOLUTE, (MEAN, "each.mean().abs()"))
SQUARE = "The estimate is the mean of the differences themselves."
KL_ESTIMATE.edit("the differences of the texts are squared", SQUARE, (EACH, "real.sum(1).square()"))
KL_ESTIMATE.edit("half of each squared difference is taken", SQUARE, (EACH, "real.sum(1).square() / 2"))
KL_ESTIMATE.edit("the differences of the tokens are squared", SQUARE, (EACH, "real.square().sum(1)"))
for other in ("(-real.sum(1)).exp() - 1 + real.sum(1)", "((-real).exp() - 1 + real).sum(1)"):
    KL_ESTIMATE.edit(
        "it is another estimator, which is never below 0",
        "exp(−x) − 1 + x also has the right mean, but another error. Take the difference x itself.",
        (EACH, other),
    )
SAMPLED = "The texts were *drawn* from the new model. Probable ones are there more often already, so don't weight them a second time."
KL_ESTIMATE.edit("each token is weighted with its probability", SAMPLED, (EACH, "(new.exp() * real).sum(1)"))
P = "torch.where(mask, new, 0.0).sum(1).exp()"
KL_ESTIMATE.edit("each text is weighted with its probability", SAMPLED, (EACH, f"{P} * real.sum(1)"))
KL_ESTIMATE.edit("each text is weighted with its probability", SAMPLED, (MEAN, f"({P} * each).sum()"))
KL_ESTIMATE.edit("ratios are averaged, not their logarithms", "Stay with logarithms.", (EACH, "real.sum(1).exp()"))
KL_ESTIMATE.edit("it is the new model's number alone", "Subtract the old model's.", (DIFFERENCE, "new"))
DIVISOR = "The variance divides by the number of texts minus 1, since the mean was taken from the same texts. NumPy divides by the number, unless you say `ddof=1`."
KL_ESTIMATE.edit(
    "the deviation divides by the number of texts", DIVISOR, (ERROR, "each.std(correction=0) / len(each) ** 0.5")
)
ROOT = "The standard error says how uncertain the *mean* is. It is the deviation of the texts, divided by the *root* of their number."
KL_ESTIMATE.edit("it is the standard deviation, not the standard error", ROOT, (ERROR, "each.std()"))
KL_ESTIMATE.edit("the deviation is divided by the number, not by its root", ROOT, (ERROR, "each.std() / len(each)"))
KL_ESTIMATE.edit("it is the squared error", ROOT, (ERROR, "each.var() / len(each)"))
KL_ESTIMATE.edit("it is the variance, not the standard error", ROOT, (ERROR, "each.var()"))
KL_ESTIMATE.edit("the variance is divided by the root of the number", ROOT, (ERROR, "each.var() / len(each) ** 0.5"))
KL_ESTIMATE.edit(
    "the deviation is divided by the root of the number minus 1", ROOT, (ERROR, "each.std() / (len(each) - 1) ** 0.5")
)
DRAWS = "Tokens of the same text depend on each other. The texts are the independent draws."
KL_ESTIMATE.edit(
    "the deviation is divided by the root of the number of tokens", DRAWS, (ERROR, "each.std() / mask.sum() ** 0.5")
)
for number in ("mask.sum()", "len(each)"):
    KL_ESTIMATE.edit(
        "it is the deviation of the tokens, not of the texts",
        DRAWS,
        (ERROR, f"difference[mask].std() / {number} ** 0.5"),
    )
KL_ESTIMATE.edit(
    "it is half of an interval, not the standard error",
    "Return the standard error itself. If you want an interval, you can multiply it afterwards.",
    (ERROR, "1.96 * each.std() / len(each) ** 0.5"),
)
KL_ESTIMATE.edit("it is the sum over the texts, not the mean", "Take the mean over the texts.", (MEAN, "each.sum()"))
KL_ESTIMATE.edit("it is the median of the texts, not the mean", "Take the mean.", (MEAN, "each.median()"))
KL_ESTIMATE.edit(
    "the two numbers are exchanged", "First the estimate, then its standard error.", (RESULT, "return error, mean")
)
KL_ESTIMATE.edit("the standard error is missing", "Return two numbers.", (RESULT, "return mean"))
KL_ESTIMATE.edit("the estimate is missing", "Return two numbers.", (RESULT, "return error"))
KL_ESTIMATE.edit(
    "each text's difference is returned",
    "Return two numbers, the mean and its standard error.",
    (RESULT, "return each"),
)
KL_ESTIMATE.edit(
    "these are bits, not nats",
    "A nat is a natural logarithm, and `new` and `old` are in nats already.",
    (DIFFERENCE, "(new - old) / 0.6931471805599453"),
)
