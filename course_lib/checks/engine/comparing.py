"""Tells whether two results are the same, whatever library their numbers come from. Every later module may import it."""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction

import numpy as np
import torch
from torch import Tensor

NEARLY = 1e-5, 1e-4  # absolute and relative: numbers this close count as equal in messages


def plain(value: object) -> object:
    """Turns arrays and numbers of any library into tensors, also inside lists, tuples and dicts."""
    if isinstance(value, Tensor):
        return value.detach().to_dense()
    if isinstance(value, np.ndarray | np.generic):
        try:
            return torch.as_tensor(np.array(value, order="C"))  # torch has no negative strides, as in x[::-1]
        except TypeError:  # an array of texts or other objects
            return plain(items) if isinstance(items := value.tolist(), list) else items
    if isinstance(value, Decimal | Fraction):
        return float(value)
    if isinstance(value, Mapping):
        return {name: plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


def as_tensor(value: object) -> Tensor | None:
    if isinstance(value, Tensor):
        return value
    if isinstance(value, bool | int | float):
        if isinstance(value, int) and -(2**63) <= value < 2**63:
            return torch.tensor(value)
        try:
            return torch.tensor(float(value), dtype=torch.float64)
        except OverflowError:
            return None
    if isinstance(value, complex):
        return torch.tensor(value, dtype=torch.complex128)
    if isinstance(value, list) and value:
        kinds = set(map(type, value))
        try:
            if kinds <= {int} or kinds <= {float} or kinds <= {bool}:  # all at once, since one by one is slow
                return torch.as_tensor(np.array(value, {int: np.int64}.get(*kinds)))
        except OverflowError:
            pass
        try:
            return torch.as_tensor(np.array([as_tensor(item).numpy() for item in value]))
        except (AttributeError, TypeError, ValueError):
            return None
    return None


def same(given: object, wanted: object, tolerance: float, relative: float | None = None) -> bool:
    """Whether two results are equal: shapes exactly, numbers within the tolerance, the rest as it is.

    Args:
        relative: relative tolerance, added to the absolute one; equal to it if not given.
    """
    return _same(plain(given), plain(wanted), tolerance, tolerance if relative is None else relative)


def _same(given: object, wanted: object, tolerance: float, relative: float) -> bool:
    if _identical(given, wanted):
        return True
    if isinstance(wanted, Tensor) and isinstance(given, list) and holds_tensors(given):
        return False
    if isinstance(wanted, Tensor) and not wanted.numel() and isinstance(given, list):
        return given == wanted.tolist()  # an empty list tells no other axes
    if isinstance(wanted, dict):
        return isinstance(given, dict) and given.keys() == wanted.keys() and all(
            _same(given[name], item, tolerance, relative) for name, item in wanted.items()
        )  # fmt: skip
    lists = isinstance(wanted, list) and isinstance(given, list)
    if lists and len(given) != len(wanted):
        return False
    target = None if lists and (has_text(wanted) or holds_parts(wanted)) else as_tensor(wanted)
    if target is None:
        if lists:
            return all(map(lambda g, w: _same(g, w, tolerance, relative), given, wanted))
        return type(given) is type(wanted) and (isinstance(given, Iterator) or _equal(given, wanted))
    numbers = as_tensor(given)
    if (
        numbers is None
        or numbers.shape != target.shape
        or (target.dtype == torch.bool) != (numbers.dtype == torch.bool)
        or numbers.is_complex() != target.is_complex()
    ):
        return False
    exact = torch.complex128 if target.is_complex() else torch.float64
    numbers, target = numbers.to(exact), target.to(exact)
    return torch.allclose(numbers, target, rtol=relative, atol=tolerance, equal_nan=True)


def _identical(given: object, wanted: object) -> bool:
    """Whether texts, numbers and lists are equal with equal types; False doesn't mean that other values differ."""
    if type(given) is not type(wanted):
        return False
    if isinstance(given, list):
        return len(given) == len(wanted) and all(map(_identical, given, wanted))
    return type(given) in (str, int, float, bool, type(None)) and given == wanted


def _equal(given: object, wanted: object) -> bool:
    """Whether two values of any type are equal; False if comparing them fails, as for objects that hold tensors."""
    try:
        return bool(given == wanted)
    except Exception:
        return False


def copied(value: object) -> object:
    """Copies tensors, arrays and their containers, so that later changes don't reach the copy."""
    if isinstance(value, Tensor):
        return value.detach().clone()
    if isinstance(value, list | tuple) and type(value) in (list, tuple):
        return type(value)(map(copied, value))
    return value.copy() if isinstance(value, np.ndarray | dict | set) else value


def holds_parts(values: Sequence) -> bool:
    return any(isinstance(item, Tensor | list) for item in values)


def holds_tensors(values: Sequence) -> bool:
    return any(isinstance(item, Tensor) and item.ndim > 0 for item in values)


def exchanged(given: list, target: list) -> bool:
    """Whether all wanted results are there exactly once, in any order."""
    rest = list(given)
    for wanted in target:
        found = [n for n, one in enumerate(rest) if same(one, wanted, *NEARLY)]
        if not found:
            return False
        rest.pop(found[0])
    return True


def is_of_words(values: object) -> bool:
    """Whether this is a list of words, word numbers or pairs of them, not of measured numbers."""
    return isinstance(values, list) and all(
        isinstance(item, str | int) or (isinstance(item, list) and is_of_words(item)) for item in values
    )


def listed(value: object) -> object:
    """Turns tensors into lists, also inside lists; returns anything else unchanged."""
    if isinstance(value, Tensor):
        return value.tolist()
    return [listed(item) for item in value] if isinstance(value, list) else value


def has_text(value: object) -> bool:
    return isinstance(value, str) or (isinstance(value, list) and any(map(has_text, value)))
