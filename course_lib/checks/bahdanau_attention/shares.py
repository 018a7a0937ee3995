"""The scores of the first step by hand, and their softmax in plain arithmetic."""

from math import exp

SCORES = 1.5, 0.4, -0.7


def shares(*scores: float) -> list[float]:
    return [exp(score) / sum(map(exp, scores)) for score in scores]
