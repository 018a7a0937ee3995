"""Finds the misconception that explains a result. Only `examining` imports it."""

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, islice

import torch
from torch import Tensor

from course_lib.checks import bounds
from course_lib.checks.engine import differences
from course_lib.checks.engine.comparing import NEARLY, as_tensor, plain, same
from course_lib.checks.engine.containers import misfit_of
from course_lib.checks.engine.exercise import Exercise, Misconception
from course_lib.checks.engine.joining import joined
from course_lib.checks.engine.trying import MOST_FURTHER, Tried, agree, attempt, drawn, in_memory_alone, known

LIKE = "it gives the same results as this mistake"
MOST_PAIRS = 2000  # pairs of misconceptions that are tried together


def like_one(exercise: Exercise, wrong: Sequence[Tried]) -> str | None:
    """Which misconception gives the same results on most failing inputs, including the smallest, if none explains all.

    An answer's NaN is left out, and so is an input on which only NaN or right numbers agree.
    """
    wrong = [one for one in wrong if not in_memory_alone(one[1])]
    results = [plain(outcome.result) for _, outcome, _ in wrong]
    if len(wrong) < 3 or _always_the_same(results):
        return None
    found = [m for m in exercise.misconceptions if _gives(exercise, m, wrong[0], hidden=False)]
    alike = [[one for one in wrong if _gives(exercise, m, one, hidden=False)] for m in found]
    most = max(alike, key=len, default=[])
    if len(most) <= len(wrong) / 2:
        return None
    best = found[alike.index(most)]
    many, rest = "all", ""
    if len(most) < len(wrong):
        many, rest = f"{len(most)} of the {len(wrong)}", " On the others, the results differ."
    exact = all(agree(exercise, outcome, known(exercise, best.answer, case)) for case, outcome, _ in most)
    return f"On {many} failing inputs, {'' if exact else 'apart from NaN, '}{LIKE}: {best.name}. {best.hint}{rest}"


def _always_the_same(results: Sequence[object]) -> bool:
    """Whether several results are all equal. Then they speak for no mistake, since many give one result.

    A description, which is a dictionary, speaks for one even if it is the same each time.
    """
    described = bool(results) and isinstance(results[0], dict)
    return len(results) > 1 and not described and all(same(result, results[0], 0.0) for result in results)


def one_and_more(exercise: Exercise, tried: Sequence[Tried]) -> differences.Said | None:
    """Names a misconception whose results the answer has changed further by one known relation, and that relation."""
    if any(outcome.error or wanted.error for _, outcome, wanted in tried):
        return None
    if _became([(plain(outcome.result), plain(wanted.result)) for _, outcome, wanted in tried]):
        return None  # it follows from the right results alone
    wrong = [one for one in tried if not agree(exercise, *one[1:])]
    for misconception in exercise.misconceptions:
        for some in (wrong[:2], tried):  # the first inputs rule out most
            theirs = [known(exercise, misconception.answer, case) for case, *_ in some]
            if any(one.error for one in theirs):
                break
            pairs = [(plain(one.result), plain(other.result)) for (_, one, _), other in zip(some, theirs, strict=True)]
            if not (said := _became(pairs)):
                break
        else:
            what, hint = said
            return (
                f"{misconception.name}; in addition, {what.replace('what is wanted', 'what that gives')}",
                f"{misconception.hint}\n{hint}",
            )
    return None


def two_at_once(exercise: Exercise, tried: Sequence[Tried]) -> differences.Said | None:
    """Names two misconceptions that give all the results when both are edited into the right source."""
    wrong = [one for one in tried if not agree(exercise, *one[1:])]
    results = [plain(outcome.result) for _, outcome, _ in wrong if outcome.result is not None]
    if not any(map(_has_numbers, results)) or _always_the_same(results):
        return None
    smallest_first = [wrong[0], *tried]  # it rules out most pairs
    check = bounds.Check()  # two edits together may loop forever
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # no learner has written the joined source
        try:
            for one, other in islice(_pairs_of_edits(exercise, wrong), MOST_PAIRS):
                for both in joined(exercise, one, other):
                    outcomes = ((outcome, attempt(exercise, both, case, check)) for case, outcome, _ in smallest_first)
                    if all(agree(exercise, *pair) for pair in outcomes):
                        return f"{one.name}; in addition, {other.name}", f"{one.hint}\n{other.hint}"
        except bounds.BeyondError:
            pass
    return None


def _pairs_of_edits(exercise: Exercise, wrong: Sequence[Tried]) -> Iterator[tuple[Misconception, Misconception]]:
    """The pairs of misconceptions that are edits, first those that explain many results alone.

    Where one of two mistakes makes no difference, the results are those of the other.
    """

    def alone(edit: Misconception) -> int:
        return sum(agree(exercise, outcome, known(exercise, edit.answer, case)) for case, outcome, _ in wrong)

    def misfits(edit: Misconception) -> bool:
        return any(misfit_of(exercise, known(exercise, edit.answer, case), wanted) for case, _, wanted in wrong)

    edits = sorted((one for one in exercise.misconceptions if one.changes), key=alone, reverse=True)
    pairs = ((one, other) for one, other in combinations(edits, 2) if one.name != other.name)
    if not misfit_of(exercise, *wrong[0][1:]):
        return pairs
    odd = list(filter(misfits, edits))  # another container comes from one of these
    return (pair for pair in pairs if pair[0] in odd or pair[1] in odd)


def _became(pairs: Sequence[tuple[object, object]]) -> differences.Said | None:
    """What relates all numbers of the results to those of a misconception; None if nothing does."""
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


def misconception_of(
    exercise: Exercise, answer: Callable, tried: Sequence[Tried], seed: int, check: bounds.Check
) -> Misconception | None:
    """Returns the misconception that explains the answer on every input tried, and on further inputs drawn to be sure.

    If several do, more inputs are drawn to tell them apart. If that fails, the first in the list is returned.
    """
    if not any(_has_numbers(plain(outcome.result)) for _, outcome, _ in tried):
        return None  # only NaN, which has many causes
    first = next(i for i, one in enumerate(tried) if not agree(exercise, *one[1:]))
    in_order = [tried[first], *tried[:first], *tried[first + 1 :]]  # the first input rules out most
    found = [m for m in exercise.misconceptions if all(_gives(exercise, m, one) for one in in_order)]
    found = [m for m in found if any(_telling(exercise, m, one) for one in tried)]
    for further in range(1, 1 + MOST_FURTHER):
        if not found or (len({m.name for m in found}) == 1 and further > 1):
            break
        for case in drawn(exercise, seed + further):
            one = case, attempt(exercise, answer, case, check), known(exercise, exercise.right, case)
            found = [m for m in found if _gives(exercise, m, one)]
    return found[0] if found else None


def _gives(exercise: Exercise, misconception: Misconception, one: Tried, hidden: bool = True) -> bool:
    """Whether a misconception explains a result. NaN and errors about memory order hide numbers, so they fit any.

    Args:
        hidden: whether the misconception's NaN, too, may hide numbers of the answer, even all wrong ones.
    """
    case, outcome, wanted = one
    if in_memory_alone(outcome):
        return True
    theirs = known(exercise, misconception.answer, case)
    if outcome.error or theirs.error:
        return agree(exercise, outcome, theirs)
    given, mistaken, right = plain(outcome.result), plain(theirs.result), plain(wanted.result)
    if not (hidden or _has_numbers(given)):
        return False
    hides = hidden or all((one.isnan() | ~other.isnan()).all() for one, other in _pairs(given, mistaken))
    if hides and _numbers_left(given, mistaken):
        if not hidden and same(*_without_nan(given, right), exercise.tolerance):
            return False  # the numbers left are right, so they speak for no misconception
        given, mistaken = _seen_through_nan(given, mistaken, right) if hidden else _without_nan(given, mistaken)
    return same(given, mistaken, exercise.tolerance)


def _pairs(given: object, theirs: object) -> list[tuple[Tensor, Tensor]]:
    """The tensors of equal shape at the same position of two results."""
    if isinstance(given, list) and isinstance(theirs, list) and len(given) == len(theirs):
        return [pair for one, other in zip(given, theirs, strict=True) for pair in _pairs(one, other)]
    fit = isinstance(given, Tensor) and isinstance(theirs, Tensor) and given.shape == theirs.shape
    return [(given, theirs)] if fit else []


def _has_numbers(result: object) -> bool:
    """Whether a result contains anything but NaN."""
    if isinstance(result, list) and result:
        return any(map(_has_numbers, result))
    numbers = as_tensor(result)
    return numbers is None or not numbers.numel() or not numbers.isnan().all()


def _numbers_left(given: object, theirs: object) -> bool:
    """Whether there is a position at which neither result is NaN."""
    return any(not (one.isnan() | other.isnan()).all() for one, other in _pairs(given, theirs))


def _seen_through_nan(given: object, theirs: object, right: object) -> tuple[object, object]:
    """Returns both with 0 wherever NaN may hide that they are equal.

    An answer's NaN hides a wrong number of the misconception, or a 0, to which NaN may have been changed. A
    misconception's NaN hides a number that the answer has fixed, which is 0 or right. Any other pair stays as it is.
    """
    if isinstance(given, list) and isinstance(theirs, list) and len(given) == len(theirs) > 0:
        rights = right if isinstance(right, list) and len(right) == len(given) else [None] * len(given)
        return tuple(map(list, zip(*map(_seen_through_nan, given, theirs, rights), strict=True)))
    if all(isinstance(one, Tensor) and not one.is_complex() for one in (given, theirs)) and given.shape == theirs.shape:
        if not (given.isnan().any() or theirs.isnan().any()):
            return given, theirs
        if not isinstance(right, Tensor) or right.shape != given.shape:
            right = torch.full(given.shape, math.inf)  # so that none counts as right
        absolute, relative = NEARLY
        wrong = ~torch.isclose(theirs.double(), right.double(), relative, absolute, equal_nan=True)
        fixed = (given == 0) | torch.isclose(given.double(), right.double(), relative, absolute)
        hidden = (given.isnan() & (wrong | (theirs == 0))) | (theirs.isnan() & fixed)
        return given.masked_fill(hidden, 0), theirs.masked_fill(hidden, 0)
    return given, theirs


def _without_nan(*results: object) -> tuple[object, ...]:
    """Returns all results with 0 wherever one of them is NaN."""
    if all(isinstance(one, list) and len(one) == len(results[0]) > 0 for one in results):
        return tuple(map(list, zip(*map(_without_nan, *results), strict=True)))
    if all(isinstance(one, Tensor) and one.shape == results[0].shape for one in results):
        lost = torch.stack([one.isnan() for one in results]).any(0)
        return tuple(one.masked_fill(lost, 0) for one in results)
    return results


def _telling(exercise: Exercise, misconception: Misconception, one: Tried) -> bool:
    """Whether the agreement is evidence: not if the result is right except for NaN, nor if errors share only their type."""
    case, outcome, wanted = one
    if agree(exercise, outcome, wanted):
        return False
    theirs = known(exercise, misconception.answer, case)
    if outcome.error or theirs.error or wanted.error:
        return str(outcome.error) == str(theirs.error)
    given, mistaken, right = plain(outcome.result), plain(theirs.result), plain(wanted.result)
    if same(given, mistaken, exercise.tolerance):
        return True
    free = _without_nan(given, mistaken, right)
    return not same(free[0], free[2], exercise.tolerance)
