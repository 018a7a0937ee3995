"""Misconceptions about a question whose answer is a list: each entry may be wrong by itself."""

from collections.abc import Iterator
from itertools import product

from course_lib.checks.engine import Misconception


def misconceptions(*slots: tuple) -> Iterator[Misconception]:
    """Yields every list that has a wrong entry, named after its first wrong entry."""
    for entries in product(*slots):
        faults = [(name, hint) for name, hint, _ in entries if name]
        if faults:
            yield Misconception(*faults[0], [value for _, _, value in entries])
