"""Joins two misconceptions that are edits of the right source. Only `naming` imports it."""

import re
from collections.abc import Callable, Iterator
from difflib import SequenceMatcher
from functools import lru_cache

from course_lib.checks.engine.exercise import Exercise, Misconception

TOKEN = re.compile(r"\w+|\s+|.", re.DOTALL)
Span = tuple[int, int, list[str]]  # begin and end of some tokens of the right source, and those in their place


def joined(exercise: Exercise, one: Misconception, other: Misconception) -> Iterator[Callable]:
    """Yields the right function with both edits; more than one if they can be joined in several ways, none if they meet."""
    sources = (
        _merged(_tokens(exercise), _spans(exercise, one), _spans(exercise, other)),
        *_in_turn(exercise, one, other),
    )
    for source in dict.fromkeys(filter(None, sources)):
        try:
            yield exercise.made(source)
        except SyntaxError:
            continue


def _merged(tokens: list[str], one: list[Span], other: list[Span]) -> str:
    """Returns the source with the tokens of both changed, or "" if both change the same ones."""
    spans = sorted(one + other, key=lambda span: span[:2])
    new, at = [], 0
    for number, (begin, end, put) in enumerate(spans):
        if begin < at or (number and spans[number - 1][:2] == (begin, end)):
            return ""
        new += tokens[at:begin] + put
        at = end
    return "".join(new + tokens[at:])


def _in_turn(exercise: Exercise, one: Misconception, other: Misconception) -> Iterator[str]:
    """Yields the source with one edit made after the other, in each order in which its words are still there."""
    for changes in (one.changes + other.changes, other.changes + one.changes):
        try:
            yield exercise.source(*changes)
        except ValueError:
            continue


@lru_cache(100)
def _tokens(exercise: Exercise) -> list[str]:
    return TOKEN.findall(exercise.source())


@lru_cache(2_000)
def _spans(exercise: Exercise, misconception: Misconception) -> list[Span]:
    """Returns the tokens that an edit changes, as few as possible."""
    tokens, edited = _tokens(exercise), TOKEN.findall(exercise.source(*misconception.changes))
    found = SequenceMatcher(None, tokens, edited, autojunk=False).get_opcodes()
    return [(begin, end, edited[k:n]) for same, begin, end, k, n in found if same != "equal"]
