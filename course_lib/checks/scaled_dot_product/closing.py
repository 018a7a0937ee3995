"""Wrong ways to close places that `masked_softmax` and `scaled_attention` share: edits of their references, and hints."""

from itertools import product

import torch

CLOSED = "scores.masked_fill(~mask, -torch.inf)"
SHARED_OUT = "F.softmax(closed, -1)"
ZEROS = ".nan_to_num(0.0)"  # for rows that may look at nothing
EMPTY_ROWS = " * mask.any(-1, keepdim=True)"
CLOSED_PLACES = " * mask"

LEAKY = -5.0, -10.0
SMALL = -20.0, -50.0, -100.0, -1e3, -1e4, -1e5
HUGE = -1e6, -1e7, -1e9, torch.finfo(torch.float32).min

AFTER = "Then the weights of a row no longer sum to 1: what is closed has taken its share already."
WAY_ROUND = "True means *may* attend. Yours closes what is open."
ALL_CLOSED = "~ turns True and False round, and of a number it makes another number. Or is −∞ multiplied by the mask? 0 · ∞ is NaN, of which nan_to_num makes 0."
LARGEST = "Far below it, every exponential of a row rounds to 0. Which scores does a row's softmax look at?"
LEAKS = "The exponential of −5 or −10 is small, but not 0: a closed place still takes a little from the others. Which score has an exponential of exactly 0?"
REACHED = "Is a finite number put at closed places, or subtracted from every score? Compare it with the scores below: which number can no score reach?"

Change = tuple[str, str]
MULTIPLIED = CLOSED, "scores + -torch.inf * ~mask"
OPEN_WHERE_EMPTY = "~mask", "~mask & mask.any(-1, keepdim=True)"
INVERTED = [("~mask", "mask")], [("~mask", "mask"), (ZEROS, "")], [("~mask, -torch.inf", "mask, -1e9")]


def one_largest(of: str) -> Change:
    return SHARED_OUT, f"(powers := (closed - {of}.max()).exp()) / powers.sum(-1, keepdim=True)"


def filled(values: tuple[float, ...], *afterwards: str) -> list[tuple[Change, Change]]:
    """A finite number put at closed places, and what is done to the weights afterwards."""
    return [
        ((CLOSED, f"scores.masked_fill(~mask, {value})"), (ZEROS, after))
        for value, after in product(values, afterwards)
    ]


def added(values: tuple[float, ...], *afterwards: str) -> list[tuple[Change, Change]]:
    """A finite number added at closed places, and what is done to the weights afterwards."""
    return [((CLOSED, f"scores + {value} * ~mask"), (ZEROS, after)) for value, after in product(values, afterwards)]


def put_or_added(values: tuple[float, ...], *afterwards: str) -> list[tuple[Change, Change]]:
    return filled(values, *afterwards) + added(values, *afterwards)
