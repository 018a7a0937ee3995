"""Tries an answer to an exercise on all inputs, and says what is wrong with it. Only the package itself imports it."""

import inspect
import traceback
from collections.abc import Callable, Sequence
from dataclasses import replace

from torch import Tensor

from course_lib.checks import bounds
from course_lib.checks.engine import differences
from course_lib.checks.engine.comparing import as_tensor, copied, holds_tensors, plain, same
from course_lib.checks.engine.containers import misfit_of
from course_lib.checks.engine.describing import STEP_BY_STEP, STEP_IN_CODE, is_small, symptom, where_right
from course_lib.checks.engine.exercise import BrokenCheckError, Case, Exercise, Wrong
from course_lib.checks.engine.naming import like_one, misconception_of, one_and_more, two_at_once
from course_lib.checks.engine.saying import kind_of, line_of, says, short
from course_lib.checks.engine.trying import (
    Outcome,
    Tried,
    agree,
    attempt,
    call_of,
    calls_of,
    drawn,
    drawn_again,
    known,
)
from course_lib.checks.told import BLANK, Told


def examine(exercise: Exercise, answer: object, seed: int = 0) -> int:
    """Tries an answer on all cases and returns how many there were.

    Raises:
        Wrong: names the misconception, the smallest input that shows it, the result, and the wanted result.
    """
    if not callable(answer):
        raise Wrong(says(exercise, f"it is {short(answer)}, not a function", "First run the cell that defines it."))
    cases = drawn(exercise, seed)
    if exercise.drive is None and (order := _other_order(answer, cases[0])):
        raise Wrong(says(exercise, *order))
    check = bounds.Check()
    try:
        return _examined(exercise, answer, cases, seed, check)
    except bounds.BeyondError as error:
        raise Wrong(says(exercise, *_beyond(exercise, error), error.case, answer=answer)) from None
    except (Wrong, BrokenCheckError):
        raise
    except Exception as error:  # such as a text whose repr raises
        hint = "Return plain numbers, texts or tensors, or lists of those."
        raise Wrong(says(exercise, "what it returns cannot be compared", hint)) from error
    finally:
        check.tell()


def _examined(exercise: Exercise, answer: Callable, cases: Sequence[Case], seed: int, check: bounds.Check) -> int:
    tried, wrong, returned = [], [], []
    for case in cases:
        outcome = attempt(exercise, answer, case, check)
        if isinstance(outcome.error, NotImplementedError) and not str(outcome.error):  # torch raises it with a text
            blank = traceback.extract_tb(outcome.error.__traceback__)[-1].name
            called = f"calls {blank}, which" if blank not in (getattr(answer, "__name__", ""), "__init__") else ""
            calls = f"{exercise.name} {called}".strip()
            what = f"{calls} is not written yet{f' for this: {case.about}' if tried else ''}"
            raise Wrong(Told(BLANK, exercise.name, what, "Replace the line that raises `NotImplementedError`."))
        if not outcome.error and not same(outcome.arguments, case.arguments, 0.0):
            raise Wrong(says(exercise, *_changed(exercise, answer, case, outcome), case, answer=answer))
        wanted = known(exercise, exercise.right, case)
        if isinstance(wanted.error, ImportError | NameError | AttributeError | TypeError):
            raise BrokenCheckError(f"the check of {exercise.name} is broken, not your answer") from wanted.error
        returned.append(outcome.result)
        outcome = replace(outcome, result=copied(outcome.result))
        tried.append((case, outcome, wanted))
        if not agree(exercise, outcome, wanted) or misfit_of(exercise, outcome, wanted):
            wrong.append(tried[-1])
    again = []
    for old, new in drawn_again(exercise, cases, seed):
        # The answer may keep something between calls, as in a cell that calls it twice.
        attempt(exercise, answer, old, check)
        again.append((new, attempt(exercise, answer, new, check), known(exercise, exercise.right, new)))
    for (case, outcome, _), result in zip(tried, returned, strict=True):
        if not same(result, outcome.result, 0.0):
            what = "an earlier result changes in a later call"
            raise Wrong(says(exercise, what, "Something is kept between calls. Make a new result in each.", case))
    if wrong:
        raise Wrong(_diagnosis(exercise, answer, tried, wrong, seed, check))
    for one in again:
        if not agree(exercise, *one[1:]):
            what = "it is right at first, but wrong for other numbers of the same shapes"
            hint = "Is something kept from an earlier call, or copied from numbers in an earlier message?"
            raise Wrong(says(exercise, what, hint, *one, answer))
    if exercise.banned:
        refuse_calls(exercise, calls_of(exercise.banned, lambda: attempt(exercise, answer, cases[0], check)))
    return len(cases)


def refuse_calls(exercise: Exercise, names: Sequence[str]) -> None:
    """Raises Wrong if a right answer has called something banned."""
    if names:
        hint = "The numbers are right. But build it from smaller parts here, so that you know what is in it."
        raise Wrong(says(exercise, f"it calls {names[0]}, which isn't allowed here", hint))


def _beyond(exercise: Exercise, error: bounds.BeyondError) -> differences.Said:
    if isinstance(error, bounds.TooLongError):
        line = ""
        while isinstance(error, bounds.TooLongError):  # the first was raised in the loop; others may have followed
            line, error = line_of(error) or line, error.__context__
        hint = "Does a loop never end, or does it take far too many steps? Print what changes in it."
        return f"it has not ended after {bounds.SECONDS} s", f"{line}{hint}"
    right = known(exercise, exercise.right, error.case).result
    what = f"it returns {kind_of(error.args[0])}, which is too large to be compared"
    return what, f"A result may have up to {bounds.LARGEST:,} numbers. Here, {kind_of(right)} is wanted."


def _other_order(answer: Callable, case: Case) -> differences.Said | None:
    """What to say if an answer has the right argument names in the wrong order."""
    try:
        own, wanted = list(inspect.signature(answer).parameters), list(case.arguments)
    except (TypeError, ValueError):
        return None
    if own == wanted or sorted(own) != sorted(wanted):
        return None
    what = f"its arguments are in the wrong order: ({', '.join(own)}), but the text has ({', '.join(wanted)})"
    return what, "Other cells call it with the arguments in the order of the text."


def _changed(exercise: Exercise, answer: Callable, case: Case, outcome: Outcome) -> differences.Said:
    """Says which argument was changed, by the learner's own name for it."""
    name, value = next((n, v) for n, v in case.arguments.items() if not same(outcome.arguments[n], v, 0.0))
    called = call_of(exercise, answer, case)
    own = name if name in called else next((n for n, v in called.items() if v is value), "" if called else name)
    it = own or "what it was given"
    lines, new = "x += 1, x[...] = 0 and x.mul_(2)", "compute a new tensor"
    within = isinstance(value, list | tuple) and holds_tensors(value) and len(outcome.arguments[name]) == len(value)
    if not isinstance(value, Tensor) and not within:
        lines, new = "x.append(1), x.pop(), x.clear() and x &= y", "make a new one, or a copy"
    return (
        f"it changes {'its argument ' if own else ''}{it} in place",
        f"The caller still needs {it}. Lines such as {lines} change x itself. Instead, {new}.",
    )


def _diagnosis(
    exercise: Exercise, answer: Callable, tried: Sequence[Tried], wrong: Sequence[Tried], seed: int, check: bounds.Check
) -> Told:
    wrong = sorted(wrong, key=lambda one: short(one[1].result) == short(one[2].result))  # visible differences first
    case, outcome, wanted = wrong[0]
    off = any(not agree(exercise, *one[1:]) for one in wrong)
    if off and (misconception := misconception_of(exercise, answer, tried, seed, check)):
        return says(exercise, misconception.name, misconception.hint, case, outcome, wanted, answer)
    if off and (two := two_at_once(exercise, tried)):
        return says(exercise, *two, case, outcome, wanted, answer)
    if misfit := misfit_of(exercise, outcome, wanted):
        return says(exercise, *misfit, case, outcome, wanted, answer)
    what, hint = symptom([(one.result, two) for _, one, two in wrong if not one.error], outcome)
    again = attempt(exercise, answer, case, check)
    if not outcome.error and not agree(exercise, outcome, again):
        what, hint = (
            "two calls with the same input give different results",
            "Is something drawn at random, or kept between calls?",
        )
    elif earlier := _as_before(tried, outcome):
        what = f"it gives the same result as for another input: {earlier}"
        hint = "Did you type in something that should be computed, or is something kept between calls?"
    if hint == STEP_BY_STEP:
        hint = f"{where_right(exercise, tried)}{hint if is_small(case) else STEP_IN_CODE}"
    if more := one_and_more(exercise, tried):
        what, hint = more
    elif not outcome.error and not wanted.error and (like := like_one(exercise, wrong)):
        hint = like if hint.endswith((STEP_BY_STEP, STEP_IN_CODE, differences.WHICH)) else f"{hint} {like}"
    return says(exercise, what, hint, case, outcome, wanted, answer)


def _as_before(tried: Sequence[Tried], outcome: Outcome) -> str | None:
    """Which other input gave this same result correctly; None for results of fewer than three different numbers."""
    numbers = None if outcome.error else as_tensor(plain(outcome.result))
    if numbers is None or numbers.is_complex() or len(numbers.unique()) < 3:
        return None
    right = [(case, one.result) for case, one, wanted in tried if same(one.result, wanted.result, 1e-5)]
    return next((case.about for case, result in right if same(outcome.result, result, 0.0)), None)
