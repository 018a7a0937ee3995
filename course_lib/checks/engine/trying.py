"""Runs an answer on an input and keeps the result. Every later module may import it."""

import copy
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import torch

from course_lib.checks import bounds
from course_lib.checks.engine.comparing import copied, same
from course_lib.checks.engine.exercise import Case, Exercise

DOES_NOT_FIT = RuntimeError, ValueError, IndexError  # what torch, NumPy and Python raise if shapes don't match
MEMORY = "view size is not compatible"  # part of view's error if the numbers are not in order in memory
MOST_FURTHER = 3  # how often inputs are drawn again to be sure of a misconception


@dataclass(frozen=True)
class Outcome:
    """What an answer gave for a case: a result or the error that it raised, and the arguments after the call."""

    result: object
    error: BaseException | None
    arguments: Mapping[str, object]


def attempt(exercise: Exercise, answer: Callable, case: Case, within: Callable = lambda call: call()) -> Outcome:
    """Runs an answer on a copy of a case's arguments; a result that cannot be compared counts as an error.

    Args:
        within: makes the call, such as the `bounds.Check` of a learner's answer. A BeyondError gets the case.
    """
    arguments = copy.deepcopy(dict(case.arguments))

    def call() -> Outcome:
        try:
            result = exercise.run(answer, arguments)
            bounds.refuse_large(result)
            same(copied(result), result, 0.0)
            return Outcome(result, None, arguments)
        except (KeyboardInterrupt, bounds.BeyondError):
            raise
        except BaseException as error:
            return Outcome(None, bounds.readable(error), arguments)

    try:
        return within(call)
    except bounds.BeyondError as error:
        error.case = case
        raise


@lru_cache(64)
def drawn(exercise: Exercise, seed: int) -> Sequence[Case]:
    """The inputs of a seed, the same objects in every check."""
    return exercise.cases(torch.Generator().manual_seed(seed))


@lru_cache(2_000)
def known(exercise: Exercise, answer: Callable, case: Case) -> Outcome:
    """The right outcome, or a misconception's. It never changes, so all checks share one call."""
    return replace(attempt(exercise, answer, case), arguments={})


def agree(exercise: Exercise, one: Outcome, other: Outcome) -> bool:
    if one.error or other.error:
        alike = isinstance(one.error, type(other.error)) or isinstance(other.error, type(one.error))
        return alike or (isinstance(one.error, DOES_NOT_FIT) and isinstance(other.error, DOES_NOT_FIT))
    return same(one.result, other.result, exercise.tolerance)


def drawn_again(exercise: Exercise, cases: Sequence[Case], seed: int) -> list[tuple[Case, Case]]:
    """Pairs of an input and the same input drawn again, with equal shapes and other numbers."""
    again = drawn(exercise, seed + 1 + MOST_FURTHER)
    pairs = zip(cases, again, strict=False)
    return [(old, new) for old, new in pairs if not same(old.arguments, new.arguments, 0.0)][:MOST_FURTHER]


def calls_of(banned, call):
    """Returns which banned functions a call uses, however they are imported or wrapped.

    It imports inside what it needs, since a grader sends its source to a learner's kernel.
    """
    import sys

    found = []

    def watch(frame, event, called):
        if event == "call":
            name = f"{frame.f_globals.get('__name__')}.{frame.f_code.co_qualname}"
        elif event == "c_call":
            name = f"{called.__module__}.{called.__name__}"
        else:
            return
        found.extend(one for one in banned if f"{name}.".startswith(f"{one}."))

    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        call()
    finally:
        sys.setprofile(before)
    return found


Tried = tuple[Case, Outcome, Outcome]  # an input, the answer's outcome, and the right one


def in_memory_alone(outcome: Outcome) -> bool:
    """Whether an answer failed only because of the order in memory, which no misconception is about."""
    return MEMORY in str(outcome.error)


class _Called(BaseException):
    """Ends a call as soon as the answer's arguments are known."""


def call_of(exercise: Exercise, answer: object, case: Case) -> Mapping[str, object]:
    """The arguments of the first call of an answer, by the learner's own names; empty if they can't be found.

    They may differ from those of the case, from which the exercise's `drive` may build a model.
    """
    calls = []

    def seen(*arguments, **named):
        calls.append((arguments, named))
        raise _Called

    try:
        exercise.run(seen, dict(case.arguments))
    except (_Called, Exception):
        pass
    try:
        return inspect.signature(answer).bind(*calls[0][0], **calls[0][1]).arguments
    except (IndexError, TypeError, ValueError):
        return {}


def as_given(exercise: Exercise, answer: object, case: Case) -> Mapping[str, object]:
    """The input by the learner's own names; arguments that only `drive` gets come last."""
    called = call_of(exercise, answer, case)
    if not called or exercise.drive is None:
        return case.arguments
    handed = [id(value) for value in called.values()]
    rest = {n: value for n, value in case.arguments.items() if n not in called and id(value) not in handed}
    functions = [name for name, value in called.items() if callable(value)]
    inside = f" (inside {' and '.join(functions)})" if functions else ""
    made = {f"{name}{inside}": value for name, value in rest.items()}
    return {**{name: value for name, value in called.items() if name not in functions}, **made}
