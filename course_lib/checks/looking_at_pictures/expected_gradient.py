"""`expected_gradient(logits, rewards, baseline)`: what the score-function estimator gives on average."""

import torch
from torch.nn import functional as F

from course_lib.checks.engine import Case, Exercise
from course_lib.checks.looking_at_pictures.drawn import some


def cases(generator: torch.Generator) -> list[Case]:
    def draw(n: int, sharp: float = 1.0) -> torch.Tensor:
        return sharp * torch.randn(n, generator=generator)

    def at_one(n: int) -> torch.Tensor:
        return F.one_hot(torch.tensor(some(generator, 0, n)), n).float()

    by_hand = torch.tensor([2.0, 1.0, 1.0]).log(), torch.tensor([1.0, 3.0, 5.0])
    certain = torch.tensor([6.0, 0.0, -1.0, 0.5])
    scattered = draw(10)[::2], draw(10)[1::2]
    inputs = [
        ("three places", *by_hand, 0.0),
        ("the same three places, with a baseline", *by_hand, 2.5),
        ("two places", draw(2), draw(2), 0.0),
        ("nine places, one of them correct", draw(9), at_one(9), 0.0),
        ("nine places, one of them correct, and a baseline", draw(9), at_one(9), 0.3),
        ("equal logits", torch.zeros(5), draw(5), 0.0),
        ("large logits", draw(4) + 3, draw(4), 1.0),
        ("very large logits", torch.tensor([100.0, 101.0, 99.0]), by_hand[1], 0.5),
        ("a place that is nearly certain", certain, draw(4), 0.5),
        ("rewards that are negative", draw(4), -draw(4).abs() - 1, -1.0),
        ("a baseline above all rewards", draw(5), draw(5).clamp(max=2), 4.0),
        ("a baseline of 1", draw(6), draw(6), 1.0),
        ("36 places", draw(36), draw(36), float(draw(1))),
        ("float64", draw(5).double(), draw(5).double(), -0.7),
        ("numbers that are not contiguous in memory", *scattered, 0.2),
    ]
    names = "logits", "rewards", "baseline"
    return [Case(about, dict(zip(names, given, strict=True))) for about, *given in inputs]


def right(logits, rewards, baseline):
    p = logits.softmax(0)
    gain = rewards - baseline
    slope = torch.eye(len(p), dtype=p.dtype) - p  # a row for each place that may be drawn: one-hot − p
    rows = (p * gain)[:, None] * slope
    return rows.sum(0)


EXPECTED_GRADIENT = Exercise(
    "expected_gradient",
    "looking_at_pictures",
    cases,
    right,
    'lesson 10, "Hard attention"; glossary.show("score-function estimator")',
)
EXPECTED = "In an expected value, each place counts by how probable it is."

ADDED_UP = "rows.sum(0)"
SLOPE = "torch.eye(len(p), dtype=p.dtype) - p"
SOFTMAX = "logits.softmax(0)"
GAIN = "rewards - baseline"
WEIGHED = "(p * gain)"
EXPECTED_GRADIENT.edit("the places are not weighted by their probabilities", EXPECTED, (WEIGHED, "gain"))
EXPECTED_GRADIENT.edit(
    "the result is the plain mean over the places", EXPECTED, (WEIGHED, "gain"), (ADDED_UP, "rows.mean(0)")
)
EXPECTED_GRADIENT.edit(
    "the weighted gradients are averaged again",
    "The probabilities sum to 1, so the weighted sum is already the expected value.",
    (ADDED_UP, "rows.mean(0)"),
)
MINUS_P = "The gradient of log p_i is one-hot minus p, with an entry for *every* logit. If one place gets more probable, the others get less probable."
EXPECTED_GRADIENT.edit(
    "the − p is missing in the gradient of log p", MINUS_P, (SLOPE, "torch.eye(len(p), dtype=p.dtype)")
)
EXPECTED_GRADIENT.edit(
    "only the drawn place's own logit has a gradient",
    f"{MINUS_P} In the short form p (r − Σ p r), the sum is one number.",
    (SLOPE, "torch.diag(1 - p)"),
)
EXPECTED_GRADIENT.edit("the one-hot is missing in the gradient of log p", MINUS_P, (SLOPE, "-p"))
EXPECTED_GRADIENT.edit("p is added to the one-hot", MINUS_P, (SLOPE, "torch.eye(len(p), dtype=p.dtype) + p"))
EXPECTED_GRADIENT.edit(
    "1 / p is used as the gradient of log p",
    "That is the derivative with respect to p. Here it is with respect to the logits, and p is their softmax.",
    (SLOPE, "torch.diag(1 / p)"),
)
EXPECTED_GRADIENT.edit(
    "the result has the wrong sign",
    "The gradient points to where the expected reward *grows*. A loss would have a minus, but this isn't a loss.",
    (ADDED_UP, "-rows.sum(0)"),
)
EXPECTED_GRADIENT.edit(
    "the logarithm is missing, so p is multiplied in twice",
    "The weight p_i comes in once, before ∇log p_i. (∇p_i already contains it: ∇p_i = p_i ∇log p_i.)",
    (WEIGHED, "(p**2 * gain)"),
)
EXPECTED_GRADIENT.edit(
    "the reward is multiplied by the baseline",
    "The baseline is subtracted from the reward. What does your function return for a baseline of 0?",
    (GAIN, "rewards * baseline"),
)
OUTSIDE = "The baseline is subtracted from each reward, *before* the reward is multiplied by the gradient of log p."
EXPECTED_GRADIENT.edit(
    "the baseline is subtracted from the gradient", OUTSIDE, (GAIN, "rewards"), (ADDED_UP, "rows.sum(0) - baseline")
)
EXPECTED_GRADIENT.edit(
    "the baseline is subtracted from each place's gradient, then all are summed",
    OUTSIDE,
    (GAIN, "rewards"),
    (ADDED_UP, "rows.sum(0) - len(logits) * baseline"),
)
EXPECTED_GRADIENT.edit(
    "the baseline times the probabilities is subtracted from the gradient",
    f"{OUTSIDE} In the short form p (r − Σ p r), the baseline is subtracted from *both* rewards or from neither.",
    (GAIN, "rewards"),
    (ADDED_UP, "rows.sum(0) - p * baseline"),
)
for plain in ("logits.exp() / logits.exp().sum()", "(logits - logits.exp().sum().log()).exp()"):
    EXPECTED_GRADIENT.edit(
        "large logits overflow",
        "exp(100) is too large for float32. What can you subtract from all logits without changing their softmax?",
        (SOFTMAX, plain),
    )
EXPECTED_GRADIENT.edit("the logits are taken for probabilities", "p is the softmax of the logits.", (SOFTMAX, "logits"))
EXPECTED_GRADIENT.edit(
    "a sigmoid is used, not a softmax",
    "One of all places is drawn, so their probabilities sum to 1. Does a sigmoid make them do that?",
    (SOFTMAX, "logits.sigmoid()"),
)
EXPECTED_GRADIENT.edit(
    "log p is taken for p",
    "log_softmax returns log p, softmax returns p. Which do you need where?",
    (SOFTMAX, "logits.log_softmax(0)"),
)
EXPECTED_GRADIENT.edit(
    "log p is used, not its gradient",
    "The formula has ∇log p_i, which is one-hot − p. It doesn't have log p_i itself.",
    (ADDED_UP, "p * gain * p.log()"),
)


@EXPECTED_GRADIENT.misconception(
    "only the most probable place counts", "Each place may be drawn. The sum goes over all of them."
)
def most_probable(logits, rewards, baseline):
    p, best = logits.softmax(0), logits.argmax()
    return (rewards[best] - baseline) * (F.one_hot(best, len(p)) - p)


EXPECTED_GRADIENT.edit(
    "the result has a row for each place",
    "Return one gradient with a number for each logit. Sum over the places that may be drawn.",
    (ADDED_UP, "rows"),
)
EXPECTED_GRADIENT.edit(
    "the sum is over the logits, not over the drawn places",
    "Each row sums to 0, because the others lose what one logit gains. Which axis has the places that may be drawn?",
    (ADDED_UP, "rows.sum(1)"),
)
EXPECTED_GRADIENT.edit(
    "the gradients are added up to one number", "Return a number for each logit.", (ADDED_UP, "rows.sum()")
)
EXPECTED_GRADIENT.edit(
    "the expected reward is returned, not its gradient", "Return a number for each logit.", (ADDED_UP, "p @ rewards")
)
EXPECTED_GRADIENT.edit(
    "the expected reward is returned, not its gradient", "Return a number for each logit.", (ADDED_UP, "p @ gain")
)
SUMMED = "The short form p (r − Σ p r) compares each reward with the *expected* reward, which is one number."
EXPECTED_GRADIENT.edit(
    "the plain mean of the rewards is subtracted, not the expected reward",
    SUMMED,
    (ADDED_UP, "p * (rewards - rewards.mean())"),
)
EXPECTED_GRADIENT.edit(
    "p r is subtracted place by place, not its sum", SUMMED, (ADDED_UP, "p * (rewards - p * rewards)")
)
