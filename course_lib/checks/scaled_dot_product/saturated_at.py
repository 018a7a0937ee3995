"""`saturated_at`: the smallest plotted d_k at which the largest of 12 weights is above 0.9 without the root."""

from functools import cache

import torch

from course_lib.checks.engine import Misconception, Question

WIDTHS = [2**i for i in range(11)]


@cache
def largest_weight(width: int, keys: int = 12, draws: int = 4000) -> float:
    """Median over the draws of a query's largest weight, when nothing is divided by the root."""
    generator = torch.Generator().manual_seed(width)
    query, key = (torch.randn(draws, n, width, generator=generator) for n in (1, keys))
    return (query @ key.mT).softmax(-1).amax(-1).median().item()


def first_width_above(share: float) -> int:
    return next(width for width in WIDTHS if largest_weight(width) > share)


SATURATED = Question(
    "saturated_at",
    "scaled_dot_product",
    lambda: first_width_above(0.9),
    (
        Misconception("the largest weight is still below 0.9 there", "The point at this d_k is between 0.8 and 0.9. Find the line at 0.9.", lambda: first_width_above(0.9) // 2),
        *(
            Misconception("the largest weight is above 0.9 before that", "The exercise asks for the *smallest* plotted d_k. Go left as long as the points stay above the line.", width)
            for width in WIDTHS[7:]
        ),
        Misconception("the largest weight is only a little above one half there", "The question is about the other line, at 0.9. Or do both curves rise in your figure? Then `scaled_attention` lacks the root, so fix exercise 6 first.", lambda: first_width_above(0.5)),
        Misconception("that is the exponent, not the width", "The axis counts in powers of 2. Which number is written at that mark?", lambda: WIDTHS.index(first_width_above(0.9))),
        Misconception("that is the weight, not the width", "Go down from the point and read the number on the axis of d_k.", lambda: round(largest_weight(first_width_above(0.9)), 2)),
    ),
    'lesson 3, "Why divide by √d_k?"; glossary.show("scaled dot product")',
    tolerance=0.05,
)  # fmt: skip
