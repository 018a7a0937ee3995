"""Tries a learner's answer on many inputs, compares it with what is right, and names the misconception.

An exercise is a function (or class) to write, a question a value to find. What is right comes from torch's operators
or plain arithmetic, never from a solution. A misconception is itself an answer: where the learner's results are those
of the misconception, that is what went wrong.
"""

import copy
import inspect
import math
import re
import sys
import textwrap
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

from course_lib.checks import bounds, differences
from course_lib.checks.told import BLANK, WRONG, Told
from course_lib.processes import in_a_notebook

INSTALLED = re.compile(r"[/\\](site-packages|course_lib)[/\\]")  # files that the learner has not written
DOES_NOT_FIT = RuntimeError, ValueError, IndexError  # what torch, NumPy and Python raise of shapes that do not fit
MEMORY = "view size is not compatible"  # what view says of numbers that do not lie in order
NEARLY = 1e-5, 1e-4  # absolute and relative: what a message about numbers takes as equal
MOST_FURTHER = 3  # times that inputs are drawn anew to be sure of a misconception
MOST_NAMED = 3  # inputs that a message names; of longer lists nobody reads the end
LARGEST_SHOWN = 24  # numbers of a tensor that a message prints; of larger ones it gives the shape
LONGEST_SHOWN = 400  # characters of any other value
LONGEST_ERROR = 200  # characters of an error's text; that of a sparse tensor holds the whole table


class Wrong(Exception):  # noqa: N818 - a learner reads the name
    """An answer that is not right. What is told of it is shown without a traceback; in a notebook as a box above the error."""

    boxed = False

    def show(self) -> None:
        """In a notebook, displays what is told; of the error itself one line is left, and the cell fails as before."""
        if in_a_notebook() and isinstance(told := self.args[0], Told):
            told.show()
            self.boxed = True

    def _render_traceback_(self) -> list[str]:
        return [self.args[0].stopped()] if self.boxed else str(self).splitlines()


class BrokenCheckError(RuntimeError):
    """What computes the right answer fails, so that nobody's answer can be compared."""


@dataclass(frozen=True)
class Misconception:
    """A wrong answer that people really give.

    Args:
        name: what it is, such as "softmax over the wrong axis".
        hint: what to look at, in a sentence or two; never the solution.
        answer: a function that gives the wrong results, or the wrong value.
    """

    name: str
    hint: str
    answer: object


@dataclass(frozen=True, eq=False)
class Case:
    """One input: what is special about it, and the arguments by their names."""

    about: str
    arguments: Mapping[str, object]


@dataclass(frozen=True, eq=False)
class Exercise:
    """A function or class to write.

    Args:
        name: the name that the answer has in the notebook.
        lesson: name of the lesson.
        cases: draws the inputs from a generator, the smallest first.
        right: gives what is right for an input.
        see: where to read on: lesson and section, or a glossary entry.
        drive: what is done with the learner's object; it is called with the arguments, in their order, if not given. It
            stands by itself (imports inside), since a grader sends its source to the learner's kernel.
        tolerance: largest difference of a number that counts as equal, absolute and relative.
        banned: functions, classes and modules that the text says are not to be used, such as "torch.nn.functional.relu".
    """

    name: str
    lesson: str
    cases: Callable[[torch.Generator], Sequence[Case]]
    right: Callable
    see: str
    drive: Callable | None = None
    tolerance: float = 1e-5
    banned: tuple[str, ...] = ()
    misconceptions: list[Misconception] = field(default_factory=list, kw_only=True)  # the most telling first

    def misconception(self, name: str, hint: str) -> Callable[[Callable], Callable]:
        """Files a wrong answer beside its name and hint; of those that cannot be told apart, the first is named.

        Args:
            name: what it is, such as "softmax over the wrong axis".
            hint: what to look at, in a sentence or two; never the solution.
        """

        def file(answer: Callable) -> Callable:
            self.misconceptions.append(Misconception(name, hint, answer))
            return answer

        return file

    def edit(self, name: str, hint: str, *changes: tuple[str, str]) -> None:
        """Files what is right with a few words of its source changed, as the misconception `name`.

        Args:
            name: see `misconception`, as for `hint`.
            changes: pairs of words of the source of `right` and what stands there instead.
        Raises:
            ValueError: some words do not stand in the source exactly once, so it is not clear what is changed.
        """
        source = textwrap.dedent(inspect.getsource(self.right))
        for old, new in changes:
            if source.count(old) != 1:
                raise ValueError(f"{self.name}, {name!r}: {old!r} stands {source.count(old)} times in\n{source}")
            source = source.replace(old, new)
        made = {}
        exec(source, self.right.__globals__, made)  # the globals themselves: later helpers of the module are found
        self.misconception(name, hint)(made[self.right.__name__])

    def run(self, answer: Callable, arguments: Mapping[str, object]) -> object:
        return answer(*arguments.values()) if self.drive is None else self.drive(answer, **arguments)


@dataclass(frozen=True)
class Question:
    """A value to find: a number, a shape, a word, or a list of those.

    Args:
        right: computes what is right.
        misconceptions: values to look for, the most telling first.
        tolerance: how far off a number may be.

    The others are those of `Exercise`; a misconception's answer is a value, or a function that computes it.
    """

    name: str
    lesson: str
    right: Callable[[], object]
    misconceptions: tuple[Misconception, ...]
    see: str
    tolerance: float = 1e-5


# ---- comparing ----


def plain(value: object) -> object:
    """Arrays and numbers of any library as tensors, within lists, tuples and dicts too."""
    if isinstance(value, Tensor):
        return value.detach().to_dense()
    if isinstance(value, np.ndarray | np.generic):
        try:
            return torch.as_tensor(np.array(value, order="C"))  # torch has no negative steps, as of x[::-1]
        except TypeError:  # of texts, or of anything
            return plain(items) if isinstance(items := value.tolist(), list) else items
    if isinstance(value, Decimal | Fraction):
        return float(value)
    if isinstance(value, Mapping):
        return {name: plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


def _as_tensor(value: object) -> Tensor | None:
    if isinstance(value, Tensor):
        return value
    if isinstance(value, bool | int | float):
        if isinstance(value, int) and -(2**63) <= value < 2**63:
            return torch.tensor(value)
        try:
            return torch.tensor(float(value), dtype=torch.float64)
        except OverflowError:
            return None
    if isinstance(value, list) and value:
        kinds = set(map(type, value))
        try:
            if kinds <= {int} or kinds <= {float} or kinds <= {bool}:  # at once, which one by one takes long
                return torch.as_tensor(np.array(value, {int: np.int64}.get(*kinds)))
        except OverflowError:
            pass
        try:
            return torch.as_tensor(np.array([_as_tensor(item).numpy() for item in value]))
        except (AttributeError, TypeError, ValueError):
            return None
    return None


def same(given: object, wanted: object, tolerance: float, relative: float | None = None) -> bool:
    """Whether two results are equal: shapes exactly, numbers within the tolerance, the rest as it is.

    Args:
        relative: how far off a number may be in parts of itself, added to the tolerance; as much as that if not given.
    """
    return _same(plain(given), plain(wanted), tolerance, tolerance if relative is None else relative)


def _same(given: object, wanted: object, tolerance: float, relative: float) -> bool:
    if _identical(given, wanted):
        return True
    if isinstance(wanted, Tensor) and isinstance(given, list) and _holds_tensors(given):
        return False
    if isinstance(wanted, dict):
        return isinstance(given, dict) and given.keys() == wanted.keys() and all(
            _same(given[name], item, tolerance, relative) for name, item in wanted.items()
        )  # fmt: skip
    lists = isinstance(wanted, list) and isinstance(given, list)
    if lists and len(given) != len(wanted):
        return False
    target = None if lists and (_has_text(wanted) or _holds_parts(wanted)) else _as_tensor(wanted)
    if target is None:
        if lists:
            return all(map(lambda g, w: _same(g, w, tolerance, relative), given, wanted))
        return type(given) is type(wanted) and (isinstance(given, Iterator) or _equal(given, wanted))
    numbers = _as_tensor(given)
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
    """Whether texts, numbers and lists of those are equal, type by type; what else there is may be the same all the same."""
    if type(given) is not type(wanted):
        return False
    if isinstance(given, list):
        return len(given) == len(wanted) and all(map(_identical, given, wanted))
    return type(given) in (str, int, float, bool, type(None)) and given == wanted


def _equal(given: object, wanted: object) -> bool:
    """Whether two things of any type are equal; those that cannot tell, as objects that hold tensors, are not."""
    try:
        return bool(given == wanted)
    except Exception:
        return False


# ---- trying an answer ----


@dataclass(frozen=True)
class Outcome:
    """What an answer gave for a case: a result, or the error that it raised; and the arguments after the call."""

    result: object
    error: BaseException | None
    arguments: Mapping[str, object]


def attempt(exercise: Exercise, answer: Callable, case: Case, within: Callable = lambda call: call()) -> Outcome:
    """Runs an answer on its own copy of a case's arguments; a result that cannot be compared is an error of its own.

    Args:
        within: makes the call, as the `bounds.Check` of a learner's answer. If it goes beyond, BeyondError has the case.
    """
    arguments = copy.deepcopy(dict(case.arguments))

    def call() -> Outcome:
        try:
            result = exercise.run(answer, arguments)
            bounds.refuse_large(result)
            same(_copied(result), result, 0.0)
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
def _drawn(exercise: Exercise, seed: int) -> Sequence[Case]:
    """The inputs of a seed, the same objects in each check."""
    return exercise.cases(torch.Generator().manual_seed(seed))


@lru_cache(2_000)
def _known(exercise: Exercise, answer: Callable, case: Case) -> Outcome:
    """What is right, or what a misconception gives: nobody changes it, so once in all checks is enough."""
    return replace(attempt(exercise, answer, case), arguments={})


def _agree(exercise: Exercise, one: Outcome, other: Outcome) -> bool:
    if one.error or other.error:
        alike = isinstance(one.error, type(other.error)) or isinstance(other.error, type(one.error))
        return alike or (isinstance(one.error, DOES_NOT_FIT) and isinstance(other.error, DOES_NOT_FIT))
    return same(one.result, other.result, exercise.tolerance)


def examine(exercise: Exercise, answer: object, seed: int = 0) -> int:
    """Tries an answer on all cases; returns how many there were.

    Raises:
        Wrong: with the misconception by name, the smallest input that shows it, what came out and what should have.
    """
    if not callable(answer):
        raise Wrong(_says(exercise, f"it is {_short(answer)}, not a function", "Run the cell that defines it first."))
    cases = _drawn(exercise, seed)
    if exercise.drive is None and (order := _other_order(answer, cases[0])):
        raise Wrong(_says(exercise, *order))
    check = bounds.Check()
    try:
        return _examined(exercise, answer, cases, seed, check)
    except bounds.BeyondError as error:
        raise Wrong(_says(exercise, *_beyond(exercise, error), error.case, answer=answer)) from None
    except (Wrong, BrokenCheckError):
        raise
    except Exception as error:  # as of a text that raises when it is to be shown
        hint = "Plain numbers, texts and tensors can be, and lists of those."
        raise Wrong(_says(exercise, "what it returns cannot be compared", hint)) from error
    finally:
        check.tell()


def _examined(exercise: Exercise, answer: Callable, cases: Sequence[Case], seed: int, check: bounds.Check) -> int:
    tried, wrong, returned = [], [], []
    for case in cases:
        outcome = attempt(exercise, answer, case, check)
        if isinstance(outcome.error, NotImplementedError) and not str(outcome.error):  # torch raises it with words
            blank = traceback.extract_tb(outcome.error.__traceback__)[-1].name
            called = f"calls {blank}, which" if blank not in (getattr(answer, "__name__", ""), "__init__") else ""
            calls = f"{exercise.name} {called}".strip()
            what = f"{calls} is not written yet{f' for this: {case.about}' if tried else ''}"
            raise Wrong(Told(BLANK, exercise.name, what, "Replace the line that raises `NotImplementedError`."))
        if not outcome.error and not same(outcome.arguments, case.arguments, 0.0):
            raise Wrong(_says(exercise, *_changed(exercise, answer, case, outcome), case, answer=answer))
        wanted = _known(exercise, exercise.right, case)
        if isinstance(wanted.error, ImportError | NameError | AttributeError | TypeError):
            raise BrokenCheckError(f"the check of {exercise.name} is broken, not your answer") from wanted.error
        returned.append(outcome.result)
        outcome = replace(outcome, result=_copied(outcome.result))
        tried.append((case, outcome, wanted))
        if not _agree(exercise, outcome, wanted) or _misfit_of(outcome, wanted):
            wrong.append(tried[-1])
    anew = []
    for old, new in _drawn_anew(exercise, cases, seed):
        attempt(exercise, answer, old, check)  # of which something may be kept, as in a cell that calls it twice
        anew.append((new, attempt(exercise, answer, new, check), _known(exercise, exercise.right, new)))
    for (case, outcome, _), result in zip(tried, returned, strict=True):
        if not same(result, outcome.result, 0.0):
            what = "what it has returned changes when it is called again"
            raise Wrong(_says(exercise, what, "Something is kept between calls: make the result anew in each.", case))
    if wrong:
        raise Wrong(_diagnosis(exercise, answer, tried, wrong, seed, check))
    for one in anew:
        if not _agree(exercise, *one[1:]):
            what = "it is right, and wrong for other numbers of the same shapes"
            hint = "Is something kept from an earlier call, or fitted to what a check happened to show?"
            raise Wrong(_says(exercise, what, hint, *one, answer))
    if exercise.banned and (name := _called(exercise, answer, cases[0], check)):
        hint = (
            "The numbers are right. But here it is to be written out, from smaller parts: then you know what is in it."
        )
        raise Wrong(_says(exercise, f"it calls {name}, which is not to be used", hint))
    return len(cases)


def _beyond(exercise: Exercise, error: bounds.BeyondError) -> differences.Said:
    if isinstance(error, bounds.TooLongError):
        line = ""
        while isinstance(error, bounds.TooLongError):  # the first, raised in the loop, may have been followed by others
            line, error = _line(error) or line, error.__context__
        hint = "Does a loop's condition never become false, or are there far too many tries? Print what changes in it."
        return f"it has not ended after {bounds.SECONDS} s", f"{line}{hint}"
    right = _known(exercise, exercise.right, error.case).result
    what = f"it returns {_kind(error.args[0])}, which is too large to be compared"
    return what, f"The most are {bounds.LARGEST:,} numbers. Here {_kind(right)} is wanted."


def _copied(value: object) -> object:
    """What does not change any more: tensors, arrays and what holds them, copied."""
    if isinstance(value, Tensor):
        return value.detach().clone()
    if isinstance(value, list | tuple) and type(value) in (list, tuple):
        return type(value)(map(_copied, value))
    return value.copy() if isinstance(value, np.ndarray | dict | set) else value


def _other_order(answer: Callable, case: Case) -> differences.Said | None:
    """What to say if an answer has the arguments by their names, in another order."""
    try:
        own, wanted = list(inspect.signature(answer).parameters), list(case.arguments)
    except (TypeError, ValueError):
        return None
    if own == wanted or sorted(own) != sorted(wanted):
        return None
    what = f"its arguments stand in another order: ({', '.join(own)}), and the text has ({', '.join(wanted)})"
    return what, "Whoever calls it gives them in the order of the text."


def _drawn_anew(exercise: Exercise, cases: Sequence[Case], seed: int) -> list[tuple[Case, Case]]:
    """Some inputs, and each drawn once more: the same shapes, with other numbers."""
    again = _drawn(exercise, seed + 1 + MOST_FURTHER)
    pairs = zip(cases, again, strict=False)
    return [(old, new) for old, new in pairs if not same(old.arguments, new.arguments, 0.0)][:MOST_FURTHER]


def _called(exercise: Exercise, answer: Callable, case: Case, check: bounds.Check) -> str | None:
    """What an answer calls of that which is banned, however it is imported or wrapped."""
    found = []

    def watch(frame, event, called):
        if event == "call":
            name = f"{frame.f_globals.get('__name__')}.{frame.f_code.co_qualname}"
        elif event == "c_call":
            name = f"{called.__module__}.{called.__name__}"
        else:
            return
        found.extend(one for one in exercise.banned if f"{name}.".startswith(f"{one}."))

    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        attempt(exercise, answer, case, check)
    finally:
        sys.setprofile(before)
    return found[0] if found else None


def _changed(exercise: Exercise, answer: Callable, case: Case, outcome: Outcome) -> differences.Said:
    """Which argument was changed, by the name that the learner has given it."""
    name, value = next((n, v) for n, v in case.arguments.items() if not same(outcome.arguments[n], v, 0.0))
    called = _call_of(exercise, answer, case)
    own = name if name in called else next((n for n, v in called.items() if v is value), "" if called else name)
    it = own or "what it was given"
    lines, new = "x += 1, x[...] = 0 and x.mul_(2)", "compute a new tensor"
    within = isinstance(value, list | tuple) and _holds_tensors(value) and len(outcome.arguments[name]) == len(value)
    if not isinstance(value, Tensor) and not within:
        lines, new = "x.append(1), x.pop(), x.clear() and x &= y", "make a new one, or a copy"
    return (
        f"it changes {'its argument ' if own else ''}{it} in place",
        f"Whoever calls it still needs {it}. Lines such as {lines} change x itself: {new}.",
    )


Tried = tuple[Case, Outcome, Outcome]  # an input, what the answer gave for it, and what is right


def _diagnosis(
    exercise: Exercise, answer: Callable, tried: Sequence[Tried], wrong: Sequence[Tried], seed: int, check: bounds.Check
) -> Told:
    wrong = sorted(wrong, key=lambda one: _short(one[1].result) == _short(one[2].result))  # first what can be seen
    case, outcome, wanted = wrong[0]
    off = any(not _agree(exercise, *one[1:]) for one in wrong)
    if off and (misconception := _misconception(exercise, answer, tried, seed, check)):
        return _says(exercise, misconception.name, misconception.hint, case, outcome, wanted, answer)
    if misfit := _misfit_of(outcome, wanted):
        return _says(exercise, *misfit, case, outcome, wanted, answer)
    what, hint = _symptom([(one.result, two) for _, one, two in wrong if not one.error], outcome)
    again = attempt(exercise, answer, case, check)
    if not outcome.error and not _agree(exercise, outcome, again):
        what, hint = (
            "two calls with the same input give different results",
            "Is something drawn, or kept from call to call?",
        )
    elif earlier := _as_before(tried, outcome):
        what = f"it gives what it gave for another input: {earlier}"
        hint = "Is something typed in that should be computed, or kept from call to call?"
    if hint == STEP_BY_STEP:
        hint = f"{_where_right(exercise, tried)}{hint if _is_small(case) else STEP_IN_CODE}"
    if two := _misconception_and_more(exercise, tried):
        what, hint = two
    elif not outcome.error and not wanted.error and (like := _like_a_misconception(exercise, wrong)):
        hint = like if hint.endswith((STEP_BY_STEP, STEP_IN_CODE, differences.WHICH)) else f"{hint} {like}"
    return _says(exercise, what, hint, case, outcome, wanted, answer)


def _as_before(tried: Sequence[Tried], outcome: Outcome) -> str | None:
    """Which other input gave this very result, which is right there; of a few numbers that may be chance."""
    numbers = None if outcome.error else _as_tensor(plain(outcome.result))
    if numbers is None or numbers.is_complex() or len(numbers.unique()) < 3:
        return None
    right = [(case, one.result) for case, one, wanted in tried if same(one.result, wanted.result, 1e-5)]
    return next((case.about for case, result in right if same(outcome.result, result, 0.0)), None)


def _where_right(exercise: Exercise, tried: Sequence[Tried]) -> str:
    """On which inputs an answer is right, or on which alone it is not: whichever are fewer, the smallest by name."""
    right = [case.about for case, one, other in tried if _agree(exercise, one, other)]
    wrong = [case.about for case, *_ in tried if case.about not in right]
    if len(wrong) == 1 < len(right):
        return "All other inputs come out right. What is special about this one? "
    few, which = (wrong, "wrong only") if 0 < len(wrong) < len(right) else (right, "right")
    if not few:
        return ""
    named = list(dict.fromkeys(few))
    more = len(named) - MOST_NAMED
    others = f"; and {more} more input{'s' * (more > 1)}" if more > 0 else ""
    return f"It is {which} with {'; '.join(named[:MOST_NAMED])}{others}. What have those in common? "


def _like_a_misconception(exercise: Exercise, wrong: Sequence[Tried]) -> str | None:
    """Which misconception gives the same on most inputs that fail, the smallest among them, though not on all."""
    wrong = [one for one in wrong if not _hidden(one[1])]
    results = [plain(outcome.result) for _, outcome, _ in wrong]
    if len(wrong) < 3 or all(same(result, results[0], 0.0) for result in results):  # which many mistakes would give
        return None
    found = [m for m in exercise.misconceptions if _gives(exercise, m, wrong[0], hidden=False)]
    alike = [sum(_gives(exercise, m, one, hidden=False) for one in wrong) for m in found]
    most = max(alike, default=0)
    if most <= len(wrong) / 2:
        return None
    best = found[alike.index(most)]
    many = "all" if most == len(wrong) else f"{most} of the {len(wrong)}"
    rest = "" if most == len(wrong) else " On the others something else is wrong besides."
    return f"On {many} inputs that fail it gives the same as this mistake: {best.name}. {best.hint}{rest}"


def _misconception_and_more(exercise: Exercise, tried: Sequence[Tried]) -> differences.Said | None:
    """A misconception of which all results have come, and what has become of its own on the way."""
    if any(outcome.error or wanted.error for _, outcome, wanted in tried):
        return None
    if _became([(plain(outcome.result), plain(wanted.result)) for _, outcome, wanted in tried]):
        return None  # it has come of what is right
    wrong = [one for one in tried if not _agree(exercise, *one[1:])]
    for misconception in exercise.misconceptions:
        for some in (wrong[:2], tried):  # most are ruled out by the first
            theirs = [_known(exercise, misconception.answer, case) for case, *_ in some]
            if any(one.error for one in theirs):
                break
            pairs = [(plain(one.result), plain(other.result)) for (_, one, _), other in zip(some, theirs, strict=True)]
            if not (said := _became(pairs)):
                break
        else:
            what, hint = said
            return (
                f"{misconception.name}; and besides, {what.replace('what is wanted', 'what that gives')}",
                f"{misconception.hint}\n{hint}",
            )
    return None


def _became(pairs: Sequence[tuple[object, object]]) -> differences.Said | None:
    """What relates results to those of a misconception, leaving no number unexplained; None if nothing does."""
    given, theirs = pairs[0]
    if isinstance(theirs, Tensor) and all(isinstance(one, Tensor) for pair in pairs for one in pair):
        return differences.in_full(pairs)
    alike = [isinstance(g, list) and isinstance(t, list) and len(g) == len(t) for g, t in pairs]
    if not all(alike) or not any(isinstance(item, Tensor) for item in theirs):
        return None
    said = None
    for parts in zip(*(list(zip(g, t, strict=True)) for g, t in pairs), strict=True):
        if not all(same(*part, *NEARLY) for part in parts):
            if not (said := _became(parts)):
                return None
    return said


def _misconception(
    exercise: Exercise, answer: Callable, tried: Sequence[Tried], seed: int, check: bounds.Check
) -> Misconception | None:
    """The misconception that explains the answer on every input tried, and on others that are drawn to be sure.

    Where several do, more are drawn to tell them apart; of those that cannot be told apart, the first in the list.
    """
    if not any(_has_numbers(plain(outcome.result)) for _, outcome, _ in tried):
        return None  # nothing but NaN, which has many causes
    first = next(i for i, one in enumerate(tried) if not _agree(exercise, *one[1:]))
    in_order = [tried[first], *tried[:first], *tried[first + 1 :]]  # most are ruled out by the first
    found = [m for m in exercise.misconceptions if all(_gives(exercise, m, one) for one in in_order)]
    found = [m for m in found if any(_telling(exercise, m, one) for one in tried)]
    for further in range(1, 1 + MOST_FURTHER):
        if not found or (len({m.name for m in found}) == 1 and further > 1):
            break
        for case in _drawn(exercise, seed + further):
            one = case, attempt(exercise, answer, case, check), _known(exercise, exercise.right, case)
            found = [m for m in found if _gives(exercise, m, one)]
    return found[0] if found else None


def _gives(exercise: Exercise, misconception: Misconception, one: Tried, hidden: bool = True) -> bool:
    """Whether a misconception explains what came out; NaN and an error of memory say nothing: they hide what was there.

    Args:
        hidden: whether NaN of the misconception, too, may hide what the answer gave, or all that is wrong in it.
    """
    case, outcome, wanted = one
    if _hidden(outcome):
        return True
    theirs = _known(exercise, misconception.answer, case)
    if outcome.error or theirs.error:
        return _agree(exercise, outcome, theirs)
    given, of_misconception, right = plain(outcome.result), plain(theirs.result), plain(wanted.result)
    hides = hidden or all((one.isnan() | ~other.isnan()).all() for one, other in _pairs(given, of_misconception))
    if hides and _numbers_left(given, of_misconception):
        if not hidden and same(*_without_nan(given, right), exercise.tolerance):
            return False  # what NaN leaves is right, so it speaks for no misconception
        given, of_misconception = (
            _seen_through_nan(given, of_misconception, right) if hidden else _without_nan(given, of_misconception)
        )
    return same(given, of_misconception, exercise.tolerance)


def _hidden(outcome: Outcome) -> bool:
    """Whether an answer has stumbled over the order in memory alone, which no misconception is about."""
    return MEMORY in str(outcome.error)


def _pairs(given: object, theirs: object) -> list[tuple[Tensor, Tensor]]:
    """The tensors of equal shape that stand at the same place of two results."""
    if isinstance(given, list) and isinstance(theirs, list) and len(given) == len(theirs):
        return [pair for one, other in zip(given, theirs, strict=True) for pair in _pairs(one, other)]
    fit = isinstance(given, Tensor) and isinstance(theirs, Tensor) and given.shape == theirs.shape
    return [(given, theirs)] if fit else []


def _has_numbers(result: object) -> bool:
    """Whether a result holds anything but NaN."""
    if isinstance(result, list) and result:
        return any(map(_has_numbers, result))
    numbers = _as_tensor(result)
    return numbers is None or not numbers.numel() or not numbers.isnan().all()


def _numbers_left(given: object, theirs: object) -> bool:
    """Whether there is a place at which neither result is NaN."""
    return any(not (one.isnan() | other.isnan()).all() for one, other in _pairs(given, theirs))


def _seen_through_nan(given: object, theirs: object, right: object) -> tuple[object, object]:
    """Both with 0 wherever NaN may hide that they are alike.

    NaN of an answer hides what is wrong in the misconception, or 0, which may be NaN that was mended; NaN of a
    misconception hides what the answer has mended, which is 0 or right. Beside any other number it is a mistake of its own.
    """
    if isinstance(given, list) and isinstance(theirs, list) and len(given) == len(theirs) > 0:
        rights = right if isinstance(right, list) and len(right) == len(given) else [None] * len(given)
        return tuple(map(list, zip(*map(_seen_through_nan, given, theirs, rights), strict=True)))
    if all(isinstance(one, Tensor) and not one.is_complex() for one in (given, theirs)) and given.shape == theirs.shape:
        if not isinstance(right, Tensor) or right.shape != given.shape:
            right = torch.full(given.shape, math.inf)  # none of them is right
        absolute, relative = NEARLY
        wrong = ~torch.isclose(theirs.double(), right.double(), relative, absolute, equal_nan=True)
        mended = (given == 0) | torch.isclose(given.double(), right.double(), relative, absolute)
        hidden = (given.isnan() & (wrong | (theirs == 0))) | (theirs.isnan() & mended)
        return given.masked_fill(hidden, 0), theirs.masked_fill(hidden, 0)
    return given, theirs


def _without_nan(*results: object) -> tuple[object, ...]:
    """All of them with 0 wherever one of them is NaN."""
    if all(isinstance(one, list) and len(one) == len(results[0]) > 0 for one in results):
        return tuple(map(list, zip(*map(_without_nan, *results), strict=True)))
    if all(isinstance(one, Tensor) and one.shape == results[0].shape for one in results):
        lost = torch.stack([one.isnan() for one in results]).any(0)
        return tuple(one.masked_fill(lost, 0) for one in results)
    return results


def _telling(exercise: Exercise, misconception: Misconception, one: Tried) -> bool:
    """Whether an agreement tells anything: not of what is right but for NaN, nor of errors that share only their type."""
    case, outcome, wanted = one
    if _agree(exercise, outcome, wanted):
        return False
    theirs = _known(exercise, misconception.answer, case)
    if outcome.error or theirs.error or wanted.error:
        return str(outcome.error) == str(theirs.error)
    given, of_misconception, right = plain(outcome.result), plain(theirs.result), plain(wanted.result)
    if same(given, of_misconception, exercise.tolerance):
        return True
    free = _without_nan(given, of_misconception, right)
    return not same(free[0], free[2], exercise.tolerance)


# ---- containers ----


def _misfit_of(outcome: Outcome, wanted: Outcome) -> differences.Said | None:
    if outcome.error or wanted.error or not (said := _misfit(outcome.result, wanted.result)):
        return None
    lists = given, target = plain(outcome.result), plain(wanted.result)
    moved = all(isinstance(one, list) for one in lists) and not same(*lists, *NEARLY) and _exchanged(given, target)
    return None if moved else said  # in which order they are wanted is told elsewhere


def _misfit(given: object, wanted: object, place: str = "") -> differences.Said | None:
    """What to say of a result, or of a part of it, in a container that no next cell could use; None if it can be used.

    How many parts a list has, and the shape of an array, are no matter of the container.
    """
    it = f"`result{place}` is" if place else "it returns"
    target, is_list = plain(wanted), isinstance(given, list | tuple)
    is_array = isinstance(given, Tensor | np.ndarray) and given.ndim > 0 and _is_of_numbers(given)
    if isinstance(target, list):
        if is_list and isinstance(wanted, tuple) and len(given) != len(target):
            return f"{it} {_things(given)}, not {len(target)}", "Which things are asked for, and in which order?"
        if is_list and len(given) == len(target):
            parts = enumerate(zip(given, wanted, strict=True))
            return next(filter(None, (_misfit(*pair, f"{place}[{n}]") for n, pair in parts)), None)
        fits = is_list or is_array or isinstance(given, np.ndarray)  # of texts
    elif isinstance(target, str):
        fits = isinstance(given, str)
    elif isinstance(target, Tensor | bool | int | float):
        number = _is_number(given) or isinstance(given, Decimal | Fraction)
        fits = (
            number
            or (is_array and (_as_tensor(target).ndim > 0 or not place))
            or (_as_tensor(target).ndim > 0 and is_list and _sizes(given) is not None)
        )
    else:
        return None
    if fits or given is None:
        return None
    kind = f"{len(target)} things" if isinstance(target, list) and _holds_parts(target) else _kind(target)
    return f"{it} {_container(given)}, not {kind}", _unpacked(given)


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


def _container(value: object) -> str:
    """In what a result comes, and what is odd in it."""
    if isinstance(value, list | tuple):
        many = f"a {'tuple' if isinstance(value, tuple) else 'list'} of {len(value)}"
        if all(isinstance(item, Tensor) for item in value):
            return f"{many} tensor{'s' * (len(value) != 1)}"
        odd = [item for item in _leaves(value) if not _is_number(item)]
        if odd:
            return f"{many} with {_container(odd[0])} in it"
        return many if _sizes(value) else f"{many} whose rows differ in length"
    if isinstance(value, Tensor | complex | np.ndarray | np.generic) and torch.is_tensor(array := plain(value)):
        if array.is_complex():
            return "complex numbers" if array.ndim else "a complex number"
        return f"a sparse {_kind(array).removeprefix('a ')}" if not _is_of_numbers(value) else _kind(value)
    if isinstance(value, complex):
        return "a complex number"
    return "a function" if inspect.isroutine(value) else _kind(value)


def _leaves(values: Sequence) -> Iterator[object]:
    for item in values:
        yield from _leaves(item) if isinstance(item, list | tuple) else [item]


def _unpacked(value: object) -> str:
    """How to get at what is in a container."""
    if isinstance(value, Iterator):
        return "Its values come one by one: put list() around it. Or is it yield, for return?"
    if inspect.isroutine(value):
        return "It is returned itself, not what it gives. Is it called?"
    hint = "Look at what the exercise wants returned."
    return (
        f"{hint} `torch.stack` makes one tensor of many." if isinstance(value, list) and _holds_tensors(value) else hint
    )


# ---- symptoms ----


def _symptom(pairs: Sequence[tuple[object, Outcome]], outcome: Outcome) -> differences.Said:
    """What is to be seen when no misconception is recognised.

    Args:
        pairs: (result, what is right) for the inputs that went wrong without an error.
        outcome: of the smallest input that went wrong.
    """
    if outcome.error:
        said = f"{_type_name(outcome.error)}: {outcome.error}"
        advice = next((advice for words, advice in ADVICE.items() if words in said), "Print what goes into it.")
        return f"it raises {textwrap.shorten(said, LONGEST_ERROR, placeholder=' …')}", f"{_line(outcome.error)}{advice}"
    errors = [wanted.error for _, wanted in pairs[:1] if wanted.error]
    if errors:
        return (
            f"no {type(errors[0]).__name__} is raised",
            "This input is one to refuse. What does the exercise want then?",
        )
    what, hint = _difference([(plain(given), plain(wanted.result)) for given, wanted in pairs if not wanted.error])
    return NESTED.sub(_place, what), hint


NESTED = re.compile(r"^(?:in result \d+ of \d+, ){2,}")  # parts of parts of a result


def _place(found: re.Match) -> str:
    """Where a part of a part is, as Python writes it."""
    numbers = re.findall(r"result (\d+)", found[0])
    return f"in result{''.join(f'[{int(number) - 1}]' for number in numbers)}, "


def _difference(pairs: Sequence[tuple[object, object]]) -> differences.Said:
    """In what results differ from what is wanted; the first pair decides of which kind they are."""
    given, target = pairs[0]
    near = (0.0, 0.0) if same(given, target, *NEARLY) else NEARLY
    if given is None:
        return "it returns nothing", "A function without a return statement gives None. Is the last line a return?"
    if isinstance(target, dict):
        if not isinstance(given, dict) or given.keys() != target.keys():
            return f"it gives {_short(given)}", f"Wanted are {', '.join(map(str, target))}, by these names."
        return next(
            _within(f"{name}: ", [(g[name], t[name]) for g, t in pairs])
            for name in target
            if not same(given[name], target[name], *near)
        )
    numbers, right = _as_tensor(given), _as_tensor(target)
    if isinstance(target, list):
        if isinstance(given, list) and not _holds_parts(target) and any(isinstance(item, list) for item in given):
            return "there is a list within what it returns", "One plain list is wanted, with no list in it."
        if _is_of_words(target) and _is_of_words(_listed(given)):
            lists = [(_listed(g), t) for g, t in pairs if isinstance(_listed(g), list) and isinstance(t, list)]
            return differences.of_lists(lists) or ("the entries are not right", STEP_BY_STEP)
        if right is None or any(isinstance(item, Tensor | list) for item in target):
            order = "Which things are asked for, and in which order?"
            if not isinstance(given, list):
                return f"it returns {_kind(given)}, not {len(target)} things", order
            if len(given) != len(target):
                return f"it returns {_things(given)}, not {len(target)}", order
            if near == NEARLY and _exchanged(given, target):
                return "the results stand in each other's places", order
            told = []
            for number in range(len(target)):
                parts = [(g[number], t[number]) for g, t in pairs if isinstance(g, list) and len(g) == len(t)]
                if parts := [part for part in parts if not same(*part, *near)]:
                    told.append(_within(f"in result {number + 1} of {len(target)}, ", parts))
            if told:
                return next((said for said in told if said[1] != STEP_BY_STEP), told[0])
    if isinstance(target, set | frozenset) and isinstance(given, set | frozenset):
        return _of_sets(given, target)
    if right is None:
        return f"{_short(given)} is not right", STEP_BY_STEP
    if isinstance(given, list) and len(given) != 1 and (numbers is None or right.ndim == 0):
        return f"it returns {_things(given)}, not {_kind(target)}", "Look at what the exercise wants returned."
    if numbers is None or (isinstance(target, list) and right.ndim == 1 and numbers.ndim == 0):
        return f"it returns {_kind(given)}, not {_kind(target)}", "Look at what the exercise wants returned."
    if right.dtype == torch.bool and numbers.dtype != torch.bool:
        return "the result is not boolean", "A mask is True or False: compare, or use .bool()."
    tensors = [(_as_tensor(g), _as_tensor(t)) for g, t in pairs]
    tensors = [(g, t) for g, t in tensors if g is not None and t is not None]
    if numbers.shape != right.shape:
        shapes = f"shape {tuple(numbers.shape)}, not {tuple(right.shape)}"
        return differences.of_shapes([(g, t) for g, t in tensors if g.shape != t.shape]) or (
            f"the result has the wrong {shapes}",
            "Write the shape of every line beside it, and find the first that is off.",
        )
    if not numbers.isnan().equal(right.isnan()):
        return _of_nan(numbers, right)
    tensors = [(g, t) for g, t in tensors if g.shape == t.shape]
    if numbers.dtype == torch.bool and right.dtype != torch.bool:
        return "the result holds True and False, not numbers", "Is something compared last?"
    if right.dtype == torch.bool:
        return differences.of_masks(tensors) or ("the mask is not right", STEP_BY_STEP)
    return differences.of_numbers(tensors) or ("the numbers are not right", STEP_BY_STEP)


STEP_BY_STEP = "Go through this input by hand, and print each step beside it."
STEP_IN_CODE = "The input is too large for paper: print each step, and look for the first that you did not expect."


def _is_small(case: Case) -> bool:
    """Whether a person can go through an input with a pencil."""
    numbers = [_as_tensor(plain(value)) for value in case.arguments.values()]
    tensors = [one for one in numbers if one is not None]
    counts = [value for value in case.arguments.values() if isinstance(value, int)]
    return sum(one.numel() for one in tensors) <= 4 * LARGEST_SHOWN and max(counts, default=0) <= LARGEST_SHOWN


def _holds_parts(values: Sequence) -> bool:
    return any(isinstance(item, Tensor | list) for item in values)


def _things(values: Sequence) -> str:
    return "1 thing" if len(values) == 1 else f"{len(values)} things"


def _holds_tensors(values: Sequence) -> bool:
    return any(isinstance(item, Tensor) and item.ndim > 0 for item in values)


def _exchanged(given: list, target: list) -> bool:
    """Whether all results are there, each once, in whatever order."""
    rest = list(given)
    for wanted in target:
        found = [n for n, one in enumerate(rest) if same(one, wanted, *NEARLY)]
        if not found:
            return False
        rest.pop(found[0])
    return True


def _within(where: str, pairs: Sequence[tuple[object, object]]) -> differences.Said:
    if pairs[0][0] is None:
        return f"{where}there is None", "Is it computed, and is that what is returned?"
    what, hint = _difference(pairs)
    return f"{where}{what}", hint


def _is_of_words(values: object) -> bool:
    """Whether it is a list of words, word numbers or pairs of them, and not one of measured numbers."""
    return isinstance(values, list) and all(
        isinstance(item, str | int) or (isinstance(item, list) and _is_of_words(item)) for item in values
    )


def _listed(value: object) -> object:
    """A list of words or their numbers, whatever torch has to do with it; anything else as it is."""
    if isinstance(value, Tensor):
        return value.tolist()
    return [_listed(item) for item in value] if isinstance(value, list) else value


def _of_sets(given: set, wanted: set) -> differences.Said:
    lacking, much = wanted - given, given - wanted
    told = [f"{what} {_short(some)}" for what, some in (("lacks", lacking), ("has too many:", much)) if some]
    return f"the set {' and '.join(told)}", "Which rule says what belongs to it?"


def _of_nan(numbers: Tensor, right: Tensor) -> differences.Said:
    lost = numbers.isnan() & ~right.isnan()
    where = "everywhere" if lost.all() else f"in {lost.sum()} of {lost.numel()} places"
    return (
        f"the result holds NaN {where}" if lost.numel() > 1 else "the result is NaN",
        "NaN comes from 0/0, from ∞ − ∞ and ∞/∞ (exp of a large number is ∞), from 0 · −∞, and from a softmax of nothing "
        "but −∞.",
    )


ONE_ANSWER = (
    "`not`, `and`, `or`, `if`, max and a < x < b ask for one answer; a tensor has many. ~, &, |, torch.where and "
    "torch.maximum go entry by entry. Beside & and | a comparison stands in parentheses."
)
ADVICE = {
    "batch2 tensor to be": "Two stacks of matrices do not fit. Of more than two axes, .T turns round all; .transpose(-2, -1) or .mT the last two.",
    "The shape of the mask": "x[mask] wants a mask of exactly x's shape; masked_fill and torch.where also take one with axes of length 1.",
    "is invalid for input of size": "view and reshape neither add nor lose numbers. Are sizes read from x.shape, or typed?",
    "Dimension out of range": "The tensor has fewer axes than that. Counted from the end they keep their numbers: -1 is the last.",
    "Expected size for first two dimensions": "Two shapes do not fit. Print both, and see which axes changed places.",
    "view size is not compatible": "The tensor's numbers do not lie in this order in memory: reshape or flatten can copy them.",
    "must match the size of tensor": "Two shapes do not fit. Print both, and see which axis is meant.",
    "shapes cannot be multiplied": "Two shapes do not fit. In a product, the last axis of the left is the last but one of the right.",
    "Sizes of tensors must match except": "torch.cat glues along one axis, and the others must agree. Which axis is meant?",
    "Expected target size": "F.cross_entropy wants the scores of the vocabulary in the second axis, or a single list of words.",
    "unexpected keyword argument": "A function is called with a name of an argument that it does not have.",
    "positional argument": "A function is called with too few or too many arguments. Those of the exercise stay as they are given.",
    "is not defined": "A name is used that nothing defines: is it spelled right, is it imported, has its cell been run?",
    "must be Tensor, not": "torch's function wants a tensor. For a plain number there are ** 0.5 and the module math.",
    "Subtraction, the `-` operator, with": "True and False cannot be subtracted. ~mask turns a boolean mask round, and a & ~b takes b out of a.",
    "not implemented for '": "torch cannot do this with this type of number; .float() makes them decimal. Or is it another tensor that is meant?",
    "value of Tensor with more than one value is ambiguous": ONE_ANSWER,
    "truth value of an array with more than one element is ambiguous": ONE_ANSWER,
    "expected scalar type": "Two tensors have different types of number: make new ones of the same dtype as the input.",
    "same dtype": "Two tensors have different types of number: make new ones of the same dtype as the input.",
}


def ask(question: Question, answer: object) -> None:
    """Compares a value. Raises Wrong as `examine` does."""
    try:
        bounds.refuse_large(answer)
        bounds.Check()(lambda: same(answer, answer, 0.0))
    except (Exception, bounds.BeyondError):
        what = f"it is of type {_type_name(answer)}, which cannot be compared"
        raise Wrong(_says(question, what, "Numbers, texts and lists of those can be.")) from None
    if answer is None or _has_blank(answer):
        raise Wrong(Told(BLANK, question.name, f"{question.name} has no answer yet", "Put one in place of the blank."))
    if _is_right(question, answer, question.right()):
        return
    named = [(one, one.answer() if callable(one.answer) else one.answer) for one in question.misconceptions]
    named = [(one, value) for one, value in named if _is_near(question, answer, value)]
    if named:
        nearest = min(named, key=lambda one: _distance(answer, one[1]))[0]
        raise Wrong(_says(question, nearest.name, nearest.hint))
    given, target, shown = plain(answer), plain(question.right()), _short(answer)
    if isinstance(given, Tensor) and isinstance(target, Tensor) and given.shape != target.shape and given.ndim > 1:
        if same(given.flatten(), target.flatten(), question.tolerance, 0.0):
            what = f"the numbers are right, but in the shape {tuple(given.shape)}"
            raise Wrong(_says(question, what, f"The answer has the shape {tuple(target.shape)}."))
    if isinstance(target, Tensor) and target.ndim == 1:
        target, given = target.tolist(), _listed(given)
    if isinstance(target, list):
        many = f"The answer is a list of {len(target)}."
        if not isinstance(given, list):
            raise Wrong(_says(question, f"{shown} is {_kind(answer)}", many))
        if len(given) != len(target):
            raise Wrong(_says(question, f"{shown} has {len(given)} of {len(target)} entries", many))
        for n, (one, wanted) in enumerate(zip(given, target, strict=True), 1):
            if _has_text(one) > _has_text(wanted):
                raise Wrong(_says(question, f"{_short(one)} is text", "A number stands without quotation marks."))
            table = isinstance(wanted, list) and len({len(row) for row in target}) == 1
            if table and isinstance(one, list) and len(one) != len(wanted):
                raise Wrong(_says(question, f"entry {n}, {_short(one)}, has {len(one)} of {len(wanted)} numbers", many))
        entries = enumerate(zip(given, target, strict=True), 1)
        off = [n for n, (one, wanted) in entries if not _is_right(question, [one], [wanted])]
        if off:
            right = len(given) - len(off)
            if right == 0 and len(off) > 1:
                raise Wrong(_says(question, f"no entry of {shown} is right", "Go through it once more, step by step."))
            hint = "The other one is right." if right == 1 else "The others are right."
            raise Wrong(_says(question, f"{_entries(off)} of {shown} {_are(off)} not right", hint))
    numbers, wanted = _as_tensor(given), _as_tensor(target)
    if (type(given) is not type(target) and (numbers is None) != (wanted is None)) or (
        wanted is not None and wanted.ndim == 0 < numbers.ndim
    ):
        hint = f"The answer is {_kind(target)}."
        if isinstance(answer, tuple) and wanted is not None and wanted.ndim == 0:
            hint += " A comma makes a tuple: a decimal is written with a point, and no comma stands behind it."
        what = f"it is {shown}" if shown == _kind(answer) else f"{shown} is {_kind(answer)}"
        raise Wrong(_says(question, what, hint))
    if numbers is not None and numbers.shape != wanted.shape:
        if numbers.ndim == wanted.ndim == 1:
            what = f"{shown} has {len(numbers)} of {len(wanted)} entries"
        else:
            what = f"{shown} has the shape {tuple(numbers.shape)}, not {tuple(wanted.shape)}"
        raise Wrong(_says(question, what, "How many numbers are asked for?"))
    raise Wrong(_says(question, f"{shown} is not right", "Go through it once more, step by step."))


def _is_right(question: Question, answer: object, right: object) -> bool:
    """Whether it is right within the tolerance; in a list, 0 is 0 and not next to nothing."""
    if not same(answer, right, question.tolerance, 0.0):
        return False
    given, wanted = _as_tensor(plain(answer)), _as_tensor(plain(right))
    return wanted is None or wanted.ndim == 0 or not given[wanted == 0].any()


def _is_near(question: Question, answer: object, value: object) -> bool:
    """Whether an answer is a misconception's: what was counted has neighbours; of what is larger more is rounded off."""
    near = 0.0 if isinstance(value, int) else min(question.tolerance, max(0.01, question.tolerance / 2))
    return same(answer, value, near, 0.0) or same(answer, value, 0.0, near)


def _has_blank(answer: object) -> bool:
    return answer is ... or (isinstance(answer, list | tuple) and any(map(_has_blank, answer)))


def _has_text(value: object) -> bool:
    return isinstance(value, str) or (isinstance(value, list) and any(map(_has_text, value)))


def _entries(numbers: Sequence[int]) -> str:
    *first, last = map(str, numbers)
    return f"entries {', '.join(first)} and {last}" if first else f"entry {last}"


def _are(several: Sequence) -> str:
    return "is" if len(several) == 1 else "are"


def _distance(given: object, value: object) -> float:
    """How far two equal values lie apart, if they are numbers; else 0."""
    numbers, target = _as_tensor(plain(given)), _as_tensor(plain(value))
    if numbers is None or target is None or not target.numel():
        return 0.0
    return (numbers.double() - target.double()).abs().nan_to_num().max().item()


# ---- what is said ----


def _says(
    asked: Exercise | Question,
    what: str,
    hint: str,
    case: Case | None = None,
    outcome: Outcome | None = None,
    wanted: Outcome | None = None,
    answer: object = None,
) -> Told:
    given, results = [], []
    if case:
        given = [(name, _short(value)) for name, value in _as_given(asked, answer, case).items()]
    if outcome and wanted:
        came = _type_name(outcome.error) if outcome.error else _short(outcome.result)
        right = type(wanted.error).__name__ if wanted.error else _short(wanted.result)
        results = [("came out", came), ("wanted", right)]
        if place := _first_difference(outcome.result, wanted.result):
            results.append(("first difference", place))
    about = case.about if case else ""
    return Told(WRONG, asked.name, what.rstrip("."), hint, about, given, results, asked.see, asked.lesson)


class _Called(BaseException):
    """Ends a call as soon as it is seen what an answer is called with."""


def _call_of(exercise: Exercise, answer: object, case: Case) -> Mapping[str, object]:
    """What an answer is called with first, by the names that its author has given; nothing if that cannot be told.

    The arguments of a case may be others: those from which the exercise's `drive` makes a model.
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


def _as_given(exercise: Exercise, answer: object, case: Case) -> Mapping[str, object]:
    """What an input was, by the learner's own names; what only `drive` is given comes last."""
    called = _call_of(exercise, answer, case)
    if not called or exercise.drive is None:
        return case.arguments
    handed = [id(value) for value in called.values()]
    rest = {n: value for n, value in case.arguments.items() if n not in called and id(value) not in handed}
    functions = [name for name, value in called.items() if callable(value)]
    inside = f" (inside {' and '.join(functions)})" if functions else ""
    made = {f"{name}{inside}": value for name, value in rest.items()}
    return {**{name: value for name, value in called.items() if name not in functions}, **made}


def _line(error: BaseException) -> str:
    """The learner's line that raised an error, if it can be told."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.line for frame in frames if frame.line and not INSTALLED.search(frame.filename)]
    return f"In the line `{lines[-1]}`\n" if lines else ""


def _first_difference(given: object, wanted: object) -> str:
    """Where two tensors that are too large to be printed differ first, in words."""
    numbers, target = _as_tensor(plain(given)), _as_tensor(plain(wanted))
    if numbers is None or target is None or numbers.shape != target.shape or target.numel() <= LARGEST_SHOWN:
        return ""
    numbers, target = numbers.to(torch.float64), target.to(torch.float64)
    off = ~torch.isclose(numbers, target, rtol=1e-5, atol=1e-5, equal_nan=True)
    place = off.nonzero()[0].tolist() if off.any() else None
    if place is None:
        return ""
    one, other = (_rounded(tensor[tuple(place)].item()) for tensor in (numbers, target))
    return f"at {place}: {one}, wanted {other}"


def _kind(value: object) -> str:
    if isinstance(value, Tensor):
        return f"a tensor of shape {tuple(value.shape)}" if value.ndim else "a number"
    if isinstance(value, np.ndarray):
        return f"a NumPy array of shape {value.shape}"
    if isinstance(value, tuple):
        return f"a tuple of {len(value)}"
    names = {
        bool: "True or False",
        int: "a number",
        float: "a number",
        str: "a text",
        list: "a list",
        type(None): "None",
    }
    return names.get(type(value), f"something of type {_type_name(value)}")


def _type_name(value: object) -> str:
    """The name of its type, or that which `course_lib.grading.courier` has from a learner's kernel."""
    return inspect.getattr_static(value, "type_name", type(value).__name__)


def _rounded(value: object) -> object:
    if isinstance(value, list):
        return [_rounded(item) for item in value]
    if not isinstance(value, float):
        return value
    return round(value, 4) if 1000 <= abs(value) < 1e9 else float(f"{value:.4g}")


def _short(value: object) -> str:
    """A value as Python's own source, so that it can be pasted into a cell; what is too large is told in words."""
    text = _source(value)
    if text is None:
        value = plain(value)
        if isinstance(value, Tensor):
            return f"tensor of shape {tuple(value.shape)}"
        if isinstance(value, list) and len(value) <= LARGEST_SHOWN:
            return ", ".join(map(_short, value))
        return "a function" if callable(value) else _kind(value)
    if len(text) > LONGEST_SHOWN:
        start = text[:LONGEST_SHOWN]
        return f"{_kind(value)} that begins {start.rpartition(', ')[0] or start} …"
    return text


def _source(value: object) -> str | None:
    """Python source of a value, numbers rounded to four digits; None of a large tensor, or of what has none."""
    if isinstance(value, Tensor | np.ndarray | np.generic):
        value = plain(value)
        if not isinstance(value, Tensor):  # texts, dates, or objects of any kind
            return repr(value) if isinstance(value, np.generic) else _source(value)
        return _source(value.tolist()) if value.numel() <= LARGEST_SHOWN else None
    if isinstance(value, float):
        odd = {math.inf: "torch.inf", -math.inf: "-torch.inf"}
        return "torch.nan" if math.isnan(value) else odd.get(value) or repr(_rounded(value))
    if isinstance(value, int) and value.bit_length() > 4 * LONGEST_SHOWN:
        return None  # Python itself writes no number of thousands of digits
    if isinstance(value, bool | int | complex | str | None):
        return repr(value)
    if isinstance(value, Mapping):
        pairs = [(_source(name), _source(item)) for name, item in value.items()]
        return None if any(None in pair for pair in pairs) else "{" + ", ".join(": ".join(pair) for pair in pairs) + "}"
    if isinstance(value, list | tuple | set | frozenset):
        parts = [_source(item) for item in (value if isinstance(value, list | tuple) else _in_order(value))]
        if None in parts:
            return None
        inside = ", ".join(parts)
        if isinstance(value, list):
            return f"[{inside}]"
        if isinstance(value, tuple):
            return f"({inside},)" if len(parts) == 1 else f"({inside})"
        return f"{{{inside}}}" if parts else "set()"
    return None


def _in_order(values: set | frozenset) -> list:
    try:
        return sorted(values)
    except Exception:  # as tensors
        return sorted(values, key=repr)
