"""Describes a result whose container the next cells couldn't use. Only `examining` imports it."""

import inspect
from collections.abc import Iterator, Sequence
from decimal import Decimal
from fractions import Fraction

import numpy as np
import torch
from torch import Tensor

from course_lib.checks.engine import differences
from course_lib.checks.engine.comparing import NEARLY, as_tensor, exchanged, holds_parts, holds_tensors, plain, same
from course_lib.checks.engine.exercise import Exercise
from course_lib.checks.engine.saying import kind_of, things
from course_lib.checks.engine.trying import Outcome


def misfit_of(exercise: Exercise, outcome: Outcome, wanted: Outcome) -> differences.Said | None:
    if outcome.error or wanted.error:
        return None
    said = _misfit(outcome.result, wanted.result) or (exercise.tensor and _no_tensor(outcome.result, wanted.result))
    if not said:
        return None
    lists = given, target = plain(outcome.result), plain(wanted.result)
    moved = all(isinstance(one, list) for one in lists) and not same(*lists, *NEARLY) and exchanged(given, target)
    return None if moved else said  # `describing` tells about the order


def _misfit(given: object, wanted: object, place: str = "") -> differences.Said | None:
    """What to say about a result, or a part of it, in a container that no next cell could use; None if it can be used.

    The length of a list and the shape of an array are not checked here.
    """
    it = f"`result{place}` is" if place else "it returns"
    target, is_list = plain(wanted), isinstance(given, list | tuple)
    is_array = isinstance(given, Tensor | np.ndarray) and given.ndim > 0 and _is_of_numbers(given)
    if isinstance(target, list):
        if is_list and isinstance(wanted, tuple) and len(given) != len(target):
            return f"{it} {things(given)}, not {len(target)}", "Which values are asked for, and in which order?"
        if is_list and len(given) == len(target):
            parts = enumerate(zip(given, wanted, strict=True))
            return next(filter(None, (_misfit(*pair, f"{place}[{n}]") for n, pair in parts)), None)
        fits = is_list or is_array or isinstance(given, np.ndarray)  # an array of texts
    elif isinstance(target, str):
        fits = isinstance(given, str)
    elif isinstance(target, Tensor | bool | int | float):
        number = _is_number(given) or isinstance(given, Decimal | Fraction)
        table = is_list and _sizes(given) is not None and not _is_table_of_tensors(given)
        many = as_tensor(target).ndim > 0
        fits = number or (is_array and (many or not place)) or (many and table)
    else:
        return None
    if fits or given is None:
        return None
    kind = f"{len(target)} things" if isinstance(target, list) and holds_parts(target) else kind_of(target)
    return f"{it} {_container(given)}, not {kind}", _unpacked(given)


def _no_tensor(given: object, wanted: object, place: str = "") -> differences.Said | None:
    """What to say if the cells below need a tensor, and this, or a part of it, is none or has the wrong dtype."""
    if isinstance(wanted, list | tuple) and isinstance(given, list | tuple):
        parts = enumerate(zip(given, wanted, strict=False))
        return next(filter(None, (_no_tensor(*pair, f"{place}[{n}]") for n, pair in parts)), None)
    it = f"`result{place}` is" if place else "it returns"
    if given is None or not isinstance(wanted, Tensor) or not wanted.ndim:
        return None
    if not isinstance(given, Tensor):
        made_of = "from_numpy` converts an array" if isinstance(given, np.ndarray) else "tensor` converts numbers"
        return f"{it} {_container(given)}, not a tensor", f"The cells below need a tensor. `torch.{made_of}."
    if (given.dtype, wanted.dtype) == (torch.float64, torch.float32):
        return (
            f"{it} float64, not float32",
            "The cells below can't multiply the two types. `.float()` converts to float32.",
        )
    return None


def _is_of_numbers(value: Tensor | np.ndarray | np.generic) -> bool:
    """Whether an array holds real numbers, each of them."""
    if isinstance(value, Tensor):
        return value.layout == torch.strided and not value.is_complex()
    return value.dtype.kind in "biuf"


def _is_number(value: object) -> bool:
    if isinstance(value, Tensor | np.ndarray | np.generic):
        return value.ndim == 0 and _is_of_numbers(value)
    return isinstance(value, bool | int | float)


def _sizes(value: object) -> tuple[int, ...] | None:
    """The shape of nested lists of numbers; None if they hold anything else, or their rows differ in length."""
    if not isinstance(value, list | tuple):
        return () if _is_number(value) else None
    sizes = {_sizes(item) for item in value} or {()}
    return (len(value), *sizes.pop()) if len(sizes) == 1 and None not in sizes else None


def _is_table_of_tensors(values: Sequence) -> bool:
    """Whether nested lists have a tensor for each number. Large ones take gigabytes and minutes in the cells below."""
    nested = any(isinstance(item, list | tuple) for item in values)
    return nested and any(isinstance(item, Tensor) for item in _leaves(values))


def _container(value: object) -> str:
    """Names the container of a result, and anything odd in it."""
    if isinstance(value, list | tuple):
        many = f"a {'tuple' if isinstance(value, tuple) else 'list'} of {len(value)}"
        if all(isinstance(item, Tensor) for item in value):
            return f"{many} tensor{'s' * (len(value) != 1)}"
        odd = [item for item in _leaves(value) if not _is_number(item)]
        if odd:
            return f"{many} with {_container(odd[0])} in it"
        if _sizes(value) is None:
            return f"{many} whose rows differ in length"
        return f"{many} with a tensor for each number" if _is_table_of_tensors(value) else many
    if isinstance(value, Tensor | complex | np.ndarray | np.generic) and torch.is_tensor(array := plain(value)):
        if array.is_complex():
            return "complex numbers" if array.ndim else "a complex number"
        return f"a sparse {kind_of(array).removeprefix('a ')}" if not _is_of_numbers(value) else kind_of(value)
    if isinstance(value, complex):
        return "a complex number"
    return "a function" if inspect.isroutine(value) else kind_of(value)


def _leaves(values: Sequence) -> Iterator[object]:
    for item in values:
        yield from _leaves(item) if isinstance(item, list | tuple) else [item]


def _unpacked(value: object) -> str:
    """Hints at how to get the values out of a container."""
    if isinstance(value, Iterator):
        return "It gives its values one by one. Put list() around it. Or did you write yield instead of return?"
    if inspect.isroutine(value):
        return "You return the function itself, not its result. Did you call it?"
    hint = "What does the exercise ask you to return?"
    return (
        f"{hint} `torch.stack` joins many tensors into one."
        if isinstance(value, list) and holds_tensors(value)
        else hint
    )
