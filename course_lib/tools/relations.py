"""Changes the results of the exercises' solutions by known rules, and tests whether the checks name the change.

Examples are twice as much, in bits, rounded, transposed or reversed. A check must name the change or a misconception.
"""

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from torch import Tensor

from course_lib.checks import exercises
from course_lib.tools.mutants import PASSED, Solution, differs, solutions, told
from course_lib.tools.rewrapped import Wrapped, first_result, levels, put

MOVED = "swapped|exchanged|each other's places|wrong positions|(wrong|another) order|in (the )?shape"


@dataclass(frozen=True)
class Relation:
    """Describes a change of a result, and a pattern for what a check may say about it."""

    what: str
    change: Callable
    said: str


def times(factor: float) -> Callable:
    return lambda value: [factor * item for item in value] if isinstance(value, list) else factor * value


def rounded(digits: int) -> Callable:
    return lambda value: value.round(decimals=digits) if isinstance(value, Tensor) else round(value, digits)


OF_NUMBERS = [
    Relation("times 2", times(2), r" 2 times what is wanted"),
    Relation("in bits", times(1 / math.log(2)), r" 1\.443 times what is wanted"),
    Relation("rounded to 2 places", rounded(2), "rounded to|everything is 0"),
    Relation("rounded", rounded(0), "numbers are rounded|everything is 0"),
]


def relations(value: object) -> Iterator[Relation]:
    """Yields the changes that fit a part of a result."""
    whole = isinstance(value, int | bool) or (isinstance(value, Tensor) and not value.is_floating_point())
    if isinstance(value, Tensor | float) and not whole:
        yield from OF_NUMBERS
    if isinstance(value, Tensor):
        if value.ndim > 1:
            yield Relation("transposed", lambda x: x.mT, MOVED)
        for axis in range(-value.ndim, 0):
            yield Relation(
                f"turned round along axis {axis}", lambda x, axis=axis: x.flip(axis), f"reversed|turned round|{MOVED}"
            )
    if isinstance(value, list):
        yield Relation("turned round", lambda x: x[::-1], f"reversed|turned round|{MOVED}")
        if value and all(isinstance(item, float) for item in value):
            yield from OF_NUMBERS[:2]


def undescribed(solution: Solution) -> Iterator[str]:
    """Yields the changes that the check doesn't name, with what it says instead."""
    asked, right = exercises()[solution.name], solution.made(solution.source)
    names = {misconception.name for misconception in asked.misconceptions}
    result = first_result(asked, right)
    for way, inside in levels(result):
        for relation in relations(inside):
            try:
                put(result, way, relation.change)
            except (IndexError, RuntimeError):  # one of several parts has fewer axes
                continue
            answer = Wrapped("", way, relation.change).of(right)
            said = told(asked, answer)
            if (
                said in names
                or re.search(relation.said, said)
                or (said == PASSED and not differs(asked, answer, right))
            ):
                continue
            place = "".join("[…]" if at is None else f"[{at}]" for at in way)
            yield f"{solution.name}{place} {relation.what}: {said}"


def report(notebook: Path) -> Iterator[tuple[str, list[str]]]:
    """Yields (exercise, its changes that the check does not describe)."""
    for solution in solutions(notebook):
        yield solution.name, list(undescribed(solution))
