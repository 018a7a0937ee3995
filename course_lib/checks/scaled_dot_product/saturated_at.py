"""`saturated_at`: the smallest plotted d_k at which the largest of 12 weights is above 0.9 without the root."""

from functools import cache

import torch

from course_lib.checks.engine import Misconception, Question

WIDTHS = [2**i for i in range(11)]


@cache
def largest_weight(width: int, keys: int = 12, draws: int = 4000) -> float:
    """Largest of a query's weights, in the middle of the draws, when nothing is divided by the root."""
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
        Misconception("that is still below 0.9", "The point at this d_k lies between 0.8 and 0.9. Find the line at 0.9.", lambda: first_width_above(0.9) // 2),
        *(
            Misconception("it is above 0.9 before that", "The *smallest* plotted d_k is asked for. Go to the left as long as the points stay above the line.", width)
            for width in WIDTHS[7:]
        ),
        Misconception("without the root the largest weight is only a little above one half there", "The other line, at 0.9, is meant. Or do both curves rise in your figure? Then scaled_attention lacks the root: mend exercise 6 first.", lambda: first_width_above(0.5)),
        Misconception("that is the exponent, not the width", "The axis counts in powers of 2. Which number is that power?", lambda: WIDTHS.index(first_width_above(0.9))),
        Misconception("that is the weight, not the width", "Read downwards from the point to the axis of d_k.", lambda: round(largest_weight(first_width_above(0.9)), 2)),
    ),
    'lesson 3, "Why divide by √d_k?"; glossary.show("scaled dot product")',
    tolerance=0.05,
)  # fmt: skip
