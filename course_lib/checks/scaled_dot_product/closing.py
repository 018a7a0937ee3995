"""Wrong softmaxes and ways to close keys, for three exercises on attention: edits of their references, and hints."""

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

AFTER = "Then the weights of a row no longer sum to 1, because the closed keys have already taken their share."
WAY_ROUND = "True means that a query *may* look. Your code closes what is open."
ALL_CLOSED = "Is your mask still boolean? `~` turns the numbers 0 and 1 into −1 and −2. Or do you multiply −∞ by the mask? 0 · ∞ is NaN, and `nan_to_num` makes it 0."
LARGEST = "In a row whose scores are all far below it, every exponential rounds to 0. Which scores belong to the softmax of one row?"
LEAKS = "The exponential of −5 or −10 is small, but it isn't 0. So a closed key still takes a little weight from the others. Which score has an exponential of exactly 0?"
REACHED = "Do you put a finite number at closed keys, or add one to their scores? Compare it with the scores below. Which number can no score reach?"

OVERFLOWS = (
    "exp(100) is too large for float32. What can you subtract from all scores of a row without changing its softmax?"
)

Change = tuple[str, str]
MULTIPLIED = CLOSED, "scores + -torch.inf * ~mask"
OPEN_WHERE_EMPTY = "~mask", "~mask & mask.any(-1, keepdim=True)"
INVERTED = [("~mask", "mask")], [("~mask", "mask"), (ZEROS, "")], [("~mask, -torch.inf", "mask, -1e9")]


def one_largest(of: str) -> Change:
    return SHARED_OUT, f"(powers := (closed - {of}.max()).exp()) / powers.sum(-1, keepdim=True)"


def in_plain_exponentials() -> list[tuple[Change, Change]]:
    """The softmax is written out, and the largest score is not subtracted first."""
    shares = [f"(powers := {one}) / powers.sum(-1, keepdim=True)" for one in ("scores.exp() * mask", "closed.exp()")]
    shares.append("(closed - closed.exp().sum(-1, keepdim=True).log()).exp()")
    where = [((SHARED_OUT, f"torch.where(mask, {one}, 0.0)"), (ZEROS, "")) for one in shares]
    return [((SHARED_OUT, one), (ZEROS, end)) for one, end in product(shares, (ZEROS, ""))] + where


def filled(values: tuple[float, ...], *afterwards: str) -> list[tuple[Change, Change]]:
    """A finite number is put at closed keys, and the weights are changed afterwards."""
    return [
        ((CLOSED, f"scores.masked_fill(~mask, {value})"), (ZEROS, after))
        for value, after in product(values, afterwards)
    ]


def added(values: tuple[float, ...], *afterwards: str) -> list[tuple[Change, Change]]:
    """A finite number is added at closed keys, and the weights are changed afterwards."""
    return [((CLOSED, f"scores + {value} * ~mask"), (ZEROS, after)) for value, after in product(values, afterwards)]


def put_or_added(values: tuple[float, ...], *afterwards: str) -> list[tuple[Change, Change]]:
    return filled(values, *afterwards) + added(values, *afterwards)
