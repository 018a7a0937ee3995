"""Says what is to be seen of results where no misconception is recognised. `examining` alone imports it."""

import re
import textwrap
from collections.abc import Sequence

import torch
from torch import Tensor

from course_lib.checks.engine import differences
from course_lib.checks.engine.comparing import (
    NEARLY,
    as_tensor,
    exchanged,
    holds_parts,
    is_of_words,
    listed,
    plain,
    same,
)
from course_lib.checks.engine.exercise import Case, Exercise
from course_lib.checks.engine.saying import LARGEST_SHOWN, kind_of, line_of, short, things, type_name
from course_lib.checks.engine.trying import Outcome, Tried, agree

MOST_NAMED = 3  # inputs that a message names; of longer lists nobody reads the end
LONGEST_ERROR = 200  # characters of an error's text; that of a sparse tensor holds the whole table
NESTED = re.compile(r"^(?:in result \d+ of \d+, ){2,}")  # parts of parts of a result
STEP_BY_STEP = "Go through this input by hand, and print each step beside it."
STEP_IN_CODE = "The input is too large for paper: print each step, and look for the first that you did not expect."
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


def where_right(exercise: Exercise, tried: Sequence[Tried]) -> str:
    """On which inputs an answer is right, or on which alone it is not: whichever are fewer, the smallest by name."""
    right = [case.about for case, one, other in tried if agree(exercise, one, other)]
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


def symptom(pairs: Sequence[tuple[object, Outcome]], outcome: Outcome) -> differences.Said:
    """What is to be seen when no misconception is recognised.

    Args:
        pairs: (result, what is right) for the inputs that went wrong without an error.
        outcome: of the smallest input that went wrong.
    """
    if outcome.error:
        said = f"{type_name(outcome.error)}: {outcome.error}"
        advice = next((advice for words, advice in ADVICE.items() if words in said), "Print what goes into it.")
        return (
            f"it raises {textwrap.shorten(said, LONGEST_ERROR, placeholder=' …')}",
            f"{line_of(outcome.error)}{advice}",
        )
    errors = [wanted.error for _, wanted in pairs[:1] if wanted.error]
    if errors:
        return (
            f"no {type(errors[0]).__name__} is raised",
            "This input is one to refuse. What does the exercise want then?",
        )
    what, hint = difference([(plain(given), plain(wanted.result)) for given, wanted in pairs if not wanted.error])
    return NESTED.sub(_place, what), hint


def _place(found: re.Match) -> str:
    """Where a part of a part is, as Python writes it."""
    numbers = re.findall(r"result (\d+)", found[0])
    return f"in result{''.join(f'[{int(number) - 1}]' for number in numbers)}, "


def difference(pairs: Sequence[tuple[object, object]]) -> differences.Said:
    """In what results differ from what is wanted; the first pair decides of which kind they are."""
    given, target = pairs[0]
    near = (0.0, 0.0) if same(given, target, *NEARLY) else NEARLY
    if given is None:
        return "it returns nothing", "A function without a return statement gives None. Is the last line a return?"
    if isinstance(target, dict):
        if not isinstance(given, dict) or given.keys() != target.keys():
            return f"it gives {short(given)}", f"Wanted are {', '.join(map(str, target))}, by these names."
        return next(
            _within(f"{name}: ", [(g[name], t[name]) for g, t in pairs])
            for name in target
            if not same(given[name], target[name], *near)
        )
    numbers, right = as_tensor(given), as_tensor(target)
    if isinstance(target, list):
        if isinstance(given, list) and not holds_parts(target) and any(isinstance(item, list) for item in given):
            return "there is a list within what it returns", "One plain list is wanted, with no list in it."
        if is_of_words(target) and is_of_words(listed(given)):
            lists = [(listed(g), t) for g, t in pairs if isinstance(listed(g), list) and isinstance(t, list)]
            said = differences.of_lists(lists)
            if not holds_parts(target) or (said and said[0] != differences.LEAVES_THE_WAY):
                return said or ("the entries are not right", STEP_BY_STEP)
        if right is None or any(isinstance(item, Tensor | list) for item in target):
            order = "Which things are asked for, and in which order?"
            if not isinstance(given, list):
                return f"it returns {kind_of(given)}, not {len(target)} things", order
            if len(given) != len(target):
                return f"it returns {things(given)}, not {len(target)}", order
            if near == NEARLY and exchanged(given, target):
                return "the results stand in each other's places", order
            told = []
            for number in range(len(target)):
                lists = [(g, t) for g, t in pairs if isinstance(g, list) and len(g) == len(t) > number]
                parts = [(g[number], t[number]) for g, t in lists]
                if parts := [part for part in parts if not same(*part, *near)]:
                    told.append(_within(f"in result {number + 1} of {len(target)}, ", parts))
            if told:
                return next((said for said in told if said[1] != STEP_BY_STEP), told[0])
    if isinstance(target, set | frozenset) and isinstance(given, set | frozenset):
        return _of_sets(given, target)
    if right is None:
        return f"{short(given)} is not right", STEP_BY_STEP
    if isinstance(given, list) and len(given) != 1 and (numbers is None or right.ndim == 0):
        return f"it returns {things(given)}, not {kind_of(target)}", "Look at what the exercise wants returned."
    if numbers is None or (isinstance(target, list) and right.ndim == 1 and numbers.ndim == 0):
        return f"it returns {kind_of(given)}, not {kind_of(target)}", "Look at what the exercise wants returned."
    if right.dtype == torch.bool and numbers.dtype != torch.bool:
        return "the result is not boolean", "A mask is True or False: compare, or use .bool()."
    tensors = [(as_tensor(g), as_tensor(t)) for g, t in pairs]
    tensors = [(g, t) for g, t in tensors if g is not None and t is not None]
    if numbers.shape != right.shape:
        shapes = f"shape {tuple(numbers.shape)}, not {tuple(right.shape)}"
        return differences.of_shapes([(g, t) for g, t in tensors if g.shape != t.shape]) or (
            f"the result has the wrong {shapes}",
            "Write the shape of every line beside it, and find the first that is off.",
        )
    if any(g.shape != t.shape for g, t in tensors) and (said := differences.of_exchange(tensors)):
        return said
    if not numbers.isnan().equal(right.isnan()):
        return _of_nan(numbers, right)
    tensors = [(g, t) for g, t in tensors if g.shape == t.shape]
    if numbers.dtype == torch.bool and right.dtype != torch.bool:
        return "the result holds True and False, not numbers", "Is something compared last?"
    if right.dtype == torch.bool:
        return differences.of_masks(tensors) or ("the mask is not right", STEP_BY_STEP)
    return differences.of_numbers(tensors) or ("the numbers are not right", STEP_BY_STEP)


def is_small(case: Case) -> bool:
    """Whether a person can go through an input with a pencil."""
    numbers = [as_tensor(plain(value)) for value in case.arguments.values()]
    tensors = [one for one in numbers if one is not None]
    counts = [value for value in case.arguments.values() if isinstance(value, int)]
    return sum(one.numel() for one in tensors) <= 4 * LARGEST_SHOWN and max(counts, default=0) <= LARGEST_SHOWN


def _within(where: str, pairs: Sequence[tuple[object, object]]) -> differences.Said:
    if pairs[0][0] is None:
        return f"{where}there is None", "Is it computed, and is that what is returned?"
    what, hint = difference(pairs)
    return f"{where}{what}", hint


def _of_sets(given: set, wanted: set) -> differences.Said:
    lacking, much = wanted - given, given - wanted
    told = [f"{what} {short(some)}" for what, some in (("lacks", lacking), ("has too many:", much)) if some]
    return f"the set {' and '.join(told)}", "Which rule says what belongs to it?"


def _of_nan(numbers: Tensor, right: Tensor) -> differences.Said:
    lost = numbers.isnan() & ~right.isnan()
    where = "everywhere" if lost.all() else f"in {lost.sum()} of {lost.numel()} places"
    return (
        f"the result holds NaN {where}" if lost.numel() > 1 else "the result is NaN",
        "NaN comes from 0/0, from ∞ − ∞ and ∞/∞ (exp of a large number is ∞), from 0 · −∞, and from a softmax of nothing "
        "but −∞.",
    )
