"""Says how a result differs from the right one if no known misconception explains it.

A message names a relation only if it holds on every input that went wrong, so it is true wherever the learner checks it.
`naming`, `describing` and `examining` import it.
"""

import math
from collections.abc import Callable, Sequence
from itertools import combinations, permutations

import torch
from torch import Tensor

CLOSE = {"rtol": 1e-4, "atol": 1e-6, "equal_nan": True}
LEAVES_THE_WAY = "it starts correctly and then goes wrong"
ORDINAL = ("first", "second", "third", "fourth", "fifth", "sixth")
AXIS = {
    -1: "the last axis",
    -2: "the second-to-last axis",
    -3: "the third axis from the end",
}  # counted from the end, since cases differ in their number of axes
ENOUGH = 6  # different numbers for which a relation must hold
FEW = 3  # different numbers that must be rounded alike
WHICH = "The others are right. What is special about these entries?"
Said = tuple[str, str]  # what differs, and what to look at


def of_numbers(pairs: Sequence[tuple[Tensor, Tensor]]) -> Said | None:
    """What relates the given numbers to the wanted ones in all (given, wanted) pairs of equal shapes; None if nothing does."""
    pairs = [(given.double(), wanted.double()) for given, wanted in pairs]
    for relation in (_of_all_entries, _of_places, _of_sums):
        if (said := relation(pairs)) and _supported(pairs):
            return said
    return _of_rounding(pairs) or _of_some_entries(pairs) or _of_direction(pairs)


def in_full(pairs: Sequence[tuple[Tensor, Tensor]]) -> Said | None:
    """What relates all given numbers to others, such as a misconception's, in all pairs; None if any is NaN or ∞."""
    if any(one.is_complex() or not one.isfinite().all() for pair in pairs for one in pair):
        return None
    pairs = [(given.double(), other.double()) for given, other in pairs]
    alike = all(given.shape == other.shape for given, other in pairs)
    if not alike or not any(given.any() for given, _ in pairs):
        return None
    return (_of_all_entries(pairs) if _supported(pairs) else None) or _of_rounding(pairs)


def of_masks(pairs: Sequence[tuple[Tensor, Tensor]]) -> Said | None:
    """What relates masks to the wanted ones in all pairs."""
    there = torch.cat([given.flatten() for given, _ in pairs])
    if there.any() and not there.all() and all((given != wanted).all() for given, wanted in pairs):
        return "True and False are swapped", "What does True mean here?"
    if said := _of_places([(given.double(), wanted.double()) for given, wanted in pairs]):
        return said
    for value, hint in ((True, "Where it is wrong, False is wanted."), (False, "Where it is wrong, True is wanted.")):
        if all((given == value)[given != wanted].all() for given, wanted in pairs):
            if all((given == value).all() for given, _ in pairs):
                return f"everything is {value}", hint
            return (
                f"too many entries are {value}",
                f"{hint} Go through the row of one query. Which keys may it use?",
            )
    return None


def _supported(pairs: Sequence[tuple[Tensor, Tensor]]) -> bool:
    """Whether there are enough numbers to rule out a relation by chance."""
    return sum(len(wanted.nan_to_num().unique()) for _, wanted in pairs) >= ENOUGH


def of_shapes(pairs: Sequence[tuple[Tensor, Tensor]]) -> Said | None:
    """What relates unequal shapes in all (given, wanted) pairs."""
    given, wanted = pairs[0]
    for axes in permutations(range(given.ndim)):
        if list(axes) != sorted(axes) and all(
            g.ndim == len(axes) and g.permute(axes).shape == w.shape and _close(g.permute(axes), w) for g, w in pairs
        ):
            moved = " and ".join(str(axis) for place, axis in enumerate(axes) if place != axis)
            return f"axes {moved} are swapped", "The numbers are right. Which axis should come first?"
    if said := of_exchange(pairs):
        return said
    if all(g.numel() == w.numel() and _close(g.flatten(), w.flatten()) for g, w in pairs):
        return (
            f"the numbers are right, but in shape {tuple(given.shape)} instead of {tuple(wanted.shape)}",
            "Which axes should the result have?",
        )
    for axis in range(given.ndim):
        if all(
            g.ndim == w.ndim + 1 and axis < g.ndim and g.shape[:axis] + g.shape[axis + 1 :] == w.shape for g, w in pairs
        ):
            return f"axis {axis} is left over", "You still have to sum or choose something along it."
    for axis in range(wanted.ndim):
        if all(
            w.ndim == g.ndim + 1 and axis < w.ndim and w.shape[:axis] + w.shape[axis + 1 :] == g.shape for g, w in pairs
        ):
            return f"axis {axis} is missing", "Did you sum or choose something along it, or was it never there?"
    return None


def of_exchange(pairs: Sequence[tuple[Tensor, Tensor]]) -> Said | None:
    """Which two axes, counted from the end, are swapped in all pairs, whatever their shapes are."""
    for first, second in combinations(_axes(pairs), 2):
        if all(_close(given.transpose(first, second), wanted) for given, wanted in pairs):
            return f"{_named(first)} and {_named(second)} are swapped", "Which of the two should come first?"
    return None


def of_lists(pairs: Sequence[tuple[list, list]]) -> Said | None:
    """What relates lists of words, numbers or pairs to the wanted ones in all pairs."""
    for holds, what, hint in LIST_RELATIONS:
        if all(holds(given, wanted) for given, wanted in pairs):
            return what, hint
    return None


LIST_RELATIONS = (
    (lambda g, w: not g and bool(w), "the list is empty", "Does your code append anything? Does it return the right list?"),
    (lambda g, w: g[:-1] == w and bool(g), "there is one entry too many at the end", "When should the loop have stopped?"),
    (lambda g, w: g[1:] == w and bool(g), "there is one entry too many at the beginning", "You needn't return what was given."),
    (lambda g, w: g == w[:-1], "the last entry is missing", "Does the loop stop one step too early?"),
    (lambda g, w: g == w[1:], "the first entry is missing", "Where does the loop, or the slice, begin?"),
    (lambda g, w: g == w[::-1], "the order is reversed", "The entries are right. Which should come first?"),
    (lambda g, w: _sorted(g) == _sorted(w), "the entries are right, but in the wrong order", "In which order should they be?"),
    (lambda g, w: len(g) < len(w) and g == w[: len(g)], "it ends too early", "The entries so far are right. What ends the loop?"),
    (lambda g, w: len(g) > len(w) and w == g[: len(w)], "it goes on for too long", "The beginning is right. What ends the loop?"),
    (lambda g, w: _within(g, w), "entries are left out", "The entries that are there are right. Which ones are skipped?"),
    (lambda g, w: _within(w, g), "there are too many entries", "All wanted entries are there. Which ones shouldn't be?"),
    (lambda g, w: len(g) == len(w) and g[:1] == w[:1], LEAVES_THE_WAY, "Go through the first wrong step by hand."),
)  # fmt: skip


def _sorted(values: list) -> list:
    return sorted(values, key=repr)


def _within(part: list, whole: list) -> bool:
    rest = iter(whole)
    return len(part) < len(whole) and all(any(item == other for other in rest) for item in part)


# ---- relations of numbers ----


def _close(given: Tensor, wanted: Tensor) -> bool:
    return given.shape == wanted.shape and torch.allclose(given.double(), wanted.double(), **CLOSE)


def _of_all_entries(pairs: Sequence[tuple[Tensor, Tensor]]) -> Said | None:
    for changed, what, hint in CHANGES:
        if all(_close(given, changed(wanted)) and not _close(wanted, changed(wanted)) for given, wanted in pairs):
            if changed is torch.zeros_like or any(given.any() for given, _ in pairs):
                return what, hint
    factors = [_factor(given, wanted) for given, wanted in pairs]
    # Zero times any factor is zero, so an input with nothing but zeros says nothing about the factor.
    factors = [factor for factor in factors if factor != 0]
    if factors and None not in factors:
        if max(factors) - min(factors) < 1e-4 * max(map(abs, factors)):
            return f"every number is {factors[0]:.4g} times what is wanted", "Which factor or divisor is wrong?"
        if max(wanted.numel() for _, wanted in pairs) > 1:
            told = ", ".join(dict.fromkeys(f"{factor:.4g}" for factor in factors[:4]))
            return (
                f"within an input all numbers are off by the same factor ({told}, in the first failing inputs)",
                "The factor depends on the input. Is it a length, a size, or a count?",
            )
    shifts = [(given - wanted).flatten() for given, wanted in pairs]
    if all(shift.numel() > 1 and torch.allclose(shift, shift[:1], **CLOSE) for shift in shifts):
        return f"every number is {shifts[0][0]:+.4g} from what is wanted", "What is added to all of them?"
    return None


def _of_rounding(pairs: Sequence[tuple[Tensor, Tensor]]) -> Said | None:
    """Whether the numbers are rounded. A few are enough, since numbers rarely have so few digits by chance."""
    for digits in range(1, 5):
        short = [wanted.round(decimals=digits) for _, wanted in pairs]
        exact = all(torch.allclose(given, one, 1e-6, 1e-6, True) for (given, _), one in zip(pairs, short, strict=True))
        lost = [one for (_, wanted), one in zip(pairs, short, strict=True) if not _close(wanted, one)]
        if exact and lost and len(torch.cat([one.flatten() for one in lost]).unique()) >= FEW:
            places = "one decimal place" if digits == 1 else f"{digits} decimal places"
            return f"the numbers are rounded to {places}", "Return them as they are."
    return None


def _factor(given: Tensor, wanted: Tensor) -> float | None:
    """By what all wanted numbers are multiplied, read from the largest; 0 if all are 0, None if there is no such factor."""
    if not wanted.numel() or not wanted.isfinite().any():
        return None
    at = wanted.abs().nan_to_num(0, 0, 0).argmax()
    if wanted.flatten()[at] == 0:
        return 0.0 if _close(given, wanted) else None
    factor = (given.flatten()[at] / wanted.flatten()[at]).item()
    return factor if factor and math.isfinite(factor) and _close(given, factor * wanted) else None


CHANGES: Sequence[tuple[Callable[[Tensor], Tensor], str, str]] = (
    (torch.zeros_like, "everything is 0", "Does the result depend on what goes in?"),
    (lambda w: -w, "every sign is flipped", "Which number is subtracted from which?"),
    (lambda w: 1 - w, "every number is 1 minus what is wanted", "Is a mask or a share inverted?"),
    (lambda w: 1 / w, "every number is 1 divided by what is wanted", "Which number is divided by which?"),
    (lambda w: w.square(), "every number is the square of what is wanted", "Is a root missing?"),
    (lambda w: w.sqrt(), "every number is the root of what is wanted", "Is there one root too many?"),
    (lambda w: w.exp(), "every number is the exponential of what is wanted", "Is a logarithm missing?"),
    (lambda w: w.log(), "every number is the logarithm of what is wanted", "Is there one logarithm too many?"),
    (lambda w: w.abs(), "the signs are lost", "Where do you drop a minus sign, or take a square?"),
    (lambda w: w.round(), "the numbers are rounded", "Do you count or divide in whole numbers somewhere?"),
    (lambda w: w.clamp(min=0), "negative numbers have become 0", "Do you cut something off at 0?"),
)  # fmt: skip


def _of_places(pairs: Sequence[tuple[Tensor, Tensor]]) -> Said | None:
    """Says how the right numbers have moved to wrong positions."""
    if said := of_exchange(pairs):
        return said
    for axis in _axes(pairs):
        if all(_close(given, wanted.flip(axis)) for given, wanted in pairs):
            return f"the order along {_named(axis)} is reversed", "Where should the first one be?"
        long = any(wanted.shape[axis] > 2 for _, wanted in pairs)
        for step in (1, -1):
            if long and all(
                _close(given, wanted.roll(step, axis))
                or (wanted.shape[axis] > 1 and _close(*_shifted(given, wanted, step, axis)))
                for given, wanted in pairs
            ):
                return f"along {_named(axis)} everything is shifted by one", "Does counting begin at 0 or at 1?"
    for axis in _axes(pairs):
        if all(given.ndim > 1 and _close(_rows(given, axis), _rows(wanted, axis)) for given, wanted in pairs):
            return (
                f"along {_named(axis)} the entries are right, but in the wrong order",
                "Compare one of your rows with the wanted one. Is something sorted, reversed, or not moved back?",
            )
    if all(_close(given.flatten().sort().values, wanted.flatten().sort().values) for given, wanted in pairs):
        memory = "view and reshape read the numbers row by row and never swap axes. "
        many = all(wanted.ndim > 2 for _, wanted in pairs)
        return "the right numbers are at the wrong positions", f"{memory * many}Which number belongs where?"
    return None


def _rows(numbers: Tensor, axis: int) -> Tensor:
    """The slices along the axis, sorted by their numbers."""
    rows = numbers.movedim(axis, 0).reshape(numbers.shape[axis], -1).tolist()
    return torch.tensor(sorted(rows), dtype=numbers.dtype)


def _axes(pairs: Sequence[tuple[Tensor, Tensor]]) -> range:
    """The axes that all results have, counted from the end."""
    return range(-1, -1 - min(min(given.ndim, wanted.ndim) for given, wanted in pairs), -1)


def _named(axis: int) -> str:
    return AXIS.get(axis, f"axis {axis}")


def _shifted(given: Tensor, wanted: Tensor, step: int, axis: int) -> tuple[Tensor, Tensor]:
    """Both tensors without the end that has no partner after the shift."""
    n = given.shape[axis] - 1
    return given.narrow(axis, max(step, 0), n), wanted.narrow(axis, max(-step, 0), n)


def _of_sums(pairs: Sequence[tuple[Tensor, Tensor]]) -> Said | None:
    """Says if shares should sum to 1 along one axis, but do so along another or along none."""
    of_shares = [axis for axis in _axes(pairs) if all(_sums_to_one(wanted, axis) for _, wanted in pairs)]
    if any(all(_sums_to_one(given, axis) for given, _ in pairs) for axis in of_shares):
        return None
    for axis in of_shares:
        for other in _axes(pairs):
            if other != axis and all(_sums_to_one(given, other) for given, _ in pairs):
                what = f"the numbers sum to 1 along {_named(other)}, not along {_named(axis)}"
                return what, "Along which axis do you take the softmax, or divide?"
        if not any(_sums_to_one(given, axis) for given, _ in pairs):
            return f"the numbers do not sum to 1 along {_named(axis)}", "They should be shares. What do you divide by?"
    return None


def _sums_to_one(numbers: Tensor, axis: int) -> bool:
    """Whether all sums along the axis are 1, or 0 where everything is masked."""
    sums = numbers.nan_to_num().sum(axis)
    ones, zeros = (sums - 1).abs() < 1e-4, sums == 0
    return bool((ones | zeros).all() and ones.sum() >= zeros.sum() and (numbers >= 0).all())


def _of_some_entries(pairs: Sequence[tuple[Tensor, Tensor]]) -> Said | None:
    """Says which entries are off along an axis if they are always the same ones, or how many are."""
    off = [~torch.isclose(given, wanted, **CLOSE) for given, wanted in pairs]
    for axis in _axes(pairs):
        told = {_which(one, axis) for one in off}
        if len(told) == 1 and None not in told:
            return (
                f"only {told.pop()} along {_named(axis)} is off",
                WHICH,
            )
    # Among weights, a 0 or 1 at masked positions is right in almost any answer.
    whole = not any(wanted.frac().any() for _, wanted in pairs)
    told = [~one & (whole | (wanted.frac() != 0)) for one, (_, wanted) in zip(off, pairs, strict=True)]
    if all(one.any() for one in told):
        share = sum(one.sum().item() for one in off) / sum(one.numel() for one in off)
        if share <= 0.75:
            what = f"only some entries are off, {share:.0%} of the entries in the failing inputs"
            return what, WHICH
    return None


def _which(off: Tensor, axis: int) -> str | None:
    """Names the only entry along the axis that is off; None if there are several."""
    n = off.shape[axis]
    rows = off.movedim(axis, 0).reshape(n, -1).any(1).nonzero().flatten().tolist()
    if n < 2 or len(rows) != 1:
        return None
    return "the last entry" if rows[0] == n - 1 else f"the {ORDINAL[rows[0]]} entry" if rows[0] < len(ORDINAL) else None


def _of_direction(pairs: Sequence[tuple[Tensor, Tensor]]) -> Said | None:
    """Says if all wrong numbers are off in the same direction, too many of them for chance."""
    off = torch.cat([(given - wanted).flatten() for given, wanted in pairs])
    if not off.isfinite().all():
        return None
    off = off[off.abs() > 1e-6]
    for sign, what in ((1, "too large"), (-1, "too small")):
        if len(off) >= ENOUGH and (off * sign > 0).all():
            return (
                f"every number that is off is {what}",
                "Print each step, and look for the first one that surprises you.",
            )
    return None
