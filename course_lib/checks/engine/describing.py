"""Describes wrong results when no misconception is recognised. Only `examining` imports it."""

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

MOST_NAMED = 3  # inputs that a message names; nobody reads longer lists to the end
LONGEST_ERROR = 200  # characters of an error's text, which may contain a whole tensor
NESTED = re.compile(r"^(?:in result \d+ of \d+, ){2,}")  # a part of a part of a result
STEP_BY_STEP = "Go through this input by hand, print each step of your code, and compare."
STEP_IN_CODE = "This input is too large for paper. Print each step, and look for the first one that surprises you."
ONE_ANSWER = (
    "`not`, `and`, `or`, `if`, max and a < x < b ask for one answer; a tensor has many. ~, &, |, torch.where and "
    "torch.maximum go entry by entry. With & and |, put each comparison in parentheses."
)
ADVICE = {
    "batch2 tensor to be": "The shapes of two stacks of matrices don't match. With more than two axes, .T reverses all of them; .transpose(-2, -1) and .mT swap the last two.",
    "The shape of the mask": "x[mask] needs a mask with exactly the shape of x; masked_fill and torch.where also accept axes of length 1.",
    "is invalid for input of size": "view and reshape neither add nor drop numbers. Do you read the sizes from x.shape, or did you type them?",
    "Dimension out of range": "The tensor has fewer axes than that. You can also count axes from the end: -1 is always the last.",
    "Expected size for first two dimensions": "Two shapes don't match. Print both. Are two axes swapped?",
    "view size is not compatible": "The tensor's numbers have a different order in memory. `reshape` and `flatten` can copy them; `view` can't.",
    "must match the size of tensor": "Two shapes don't match. Print both. Which axes should be equal?",
    "too many indices for tensor": "The tensor has fewer axes than you index. squeeze() drops every axis of length 1; squeeze(-1) only the last.",
    "shapes cannot be multiplied": "Two shapes don't match. In a product, the last axis of the left must be as long as the second-to-last axis of the right.",
    "Sizes of tensors must match except": "torch.cat joins along one axis, and all other axes must agree. Which axis do you mean?",
    "Expected target size": "F.cross_entropy wants the scores of the vocabulary along the second axis, and a row of scores for each word. Or flatten all words into one list.",
    "unhashable type": "A set, or the key of a dictionary, can hold texts, numbers and tuples, but no lists. `tuple` makes a tuple of a list.",
    "math range error": "exp of a large number is too large to be stored. Is there a form in which only numbers up to 0 go into exp?",
    "unexpected keyword argument": "You call a function with an argument name that it doesn't have.",
    "positional argument": "A function is called with too few or too many arguments. Keep the arguments of the exercise as they are.",
    "is not defined": "Your code uses a name that nothing defines. Is it spelled correctly? Is it imported? Has its cell been run?",
    "must be Tensor, not": "This torch function wants a tensor. For a plain number, use ** 0.5 or the module math.",
    "Subtraction, the `-` operator, with": "True and False cannot be subtracted. ~mask inverts a boolean mask, and a & ~b removes b from a.",
    "not implemented for '": "torch can't do this with this type of number. .float() makes them floats. Or did you mean a different tensor?",
    "value of Tensor with more than one value is ambiguous": ONE_ANSWER,
    "truth value of an array with more than one element is ambiguous": ONE_ANSWER,
    "expected scalar type": "Two tensors have different types of number: make new ones of the same dtype as the input.",
    "same dtype": "Two tensors have different types of number: make new ones of the same dtype as the input.",
}


def where_right(exercise: Exercise, tried: Sequence[Tried]) -> str:
    """Names the inputs on which an answer is right or wrong, whichever are fewer, beginning with the smallest."""
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
    return f"It is {which} with {'; '.join(named[:MOST_NAMED])}{others}. What do these inputs have in common? "


def symptom(pairs: Sequence[tuple[object, Outcome]], outcome: Outcome) -> differences.Said:
    """Describes what is wrong when no misconception is recognised.

    Args:
        pairs: (result, what is right) for the inputs that went wrong without an error.
        outcome: the outcome of the smallest input that went wrong.
    """
    if outcome.error:
        said = f"{type_name(outcome.error)}: {outcome.error}"
        advice = next((advice for words, advice in ADVICE.items() if words in said), "Print what this line works with.")
        return (
            f"it raises {textwrap.shorten(said, LONGEST_ERROR, placeholder=' …')}",
            f"{line_of(outcome.error)}{advice}",
        )
    errors = [wanted.error for _, wanted in pairs[:1] if wanted.error]
    if errors:
        return (
            f"no {type(errors[0]).__name__} is raised",
            "The function should refuse this input. What does the exercise say about such inputs?",
        )
    what, hint = difference([(plain(given), plain(wanted.result)) for given, wanted in pairs if not wanted.error])
    return NESTED.sub(_place, what), hint


def _place(found: re.Match) -> str:
    """Returns the position of a part within parts, as Python writes it."""
    numbers = re.findall(r"result (\d+)", found[0])
    return f"in result{''.join(f'[{int(number) - 1}]' for number in numbers)}, "


def difference(pairs: Sequence[tuple[object, object]]) -> differences.Said:
    """Says how results differ from the wanted ones; the first pair decides what kind they are."""
    given, target = pairs[0]
    near = (0.0, 0.0) if same(given, target, *NEARLY) else NEARLY
    if given is None:
        return "it returns nothing", "A function without a return statement gives None. Is a return missing?"
    if isinstance(target, dict):
        if not isinstance(given, dict) or given.keys() != target.keys():
            return f"it gives {short(given)}", f"Return a dictionary with these keys: {', '.join(map(str, target))}."
        return next(
            _within(f"{name}: ", [(g[name], t[name]) for g, t in pairs])
            for name in target
            if not same(given[name], target[name], *near)
        )
    numbers, right = as_tensor(given), as_tensor(target)
    if isinstance(target, list):
        if isinstance(given, list) and not holds_parts(target) and any(isinstance(item, list) for item in given):
            return "there is a list within what it returns", "Return one plain list, without lists inside it."
        if is_of_words(target) and is_of_words(listed(given)):
            lists = [(listed(g), t) for g, t in pairs if isinstance(listed(g), list) and isinstance(t, list)]
            said = differences.of_lists(lists)
            if not holds_parts(target) or (said and said[0] != differences.LEAVES_THE_WAY):
                return said or ("the entries are not right", STEP_BY_STEP)
        if right is None or any(isinstance(item, Tensor | list) for item in target):
            order = "Which values are asked for, and in which order?"
            if not isinstance(given, list):
                return f"it returns {kind_of(given)}, not {len(target)} things", order
            if len(given) != len(target):
                return f"it returns {things(given)}, not {len(target)}", order
            if near == NEARLY and exchanged(given, target):
                return "the results are in the wrong order", order
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
        return f"it returns {things(given)}, not {kind_of(target)}", "What does the exercise ask you to return?"
    if numbers is None or (isinstance(target, list) and right.ndim == 1 and numbers.ndim == 0):
        return f"it returns {kind_of(given)}, not {kind_of(target)}", "What does the exercise ask you to return?"
    if right.dtype == torch.bool and numbers.dtype != torch.bool:
        return "the result is not boolean", "A mask contains True and False. Use a comparison, or .bool()."
    tensors = [(as_tensor(g), as_tensor(t)) for g, t in pairs]
    tensors = [(g, t) for g, t in tensors if g is not None and t is not None]
    if numbers.shape != right.shape:
        shapes = f"shape {tuple(numbers.shape)}, not {tuple(right.shape)}"
        return differences.of_shapes([(g, t) for g, t in tensors if g.shape != t.shape]) or (
            f"the result has the wrong {shapes}",
            "Write the shape next to every line, and find the first one that is off.",
        )
    if any(g.shape != t.shape for g, t in tensors) and (said := differences.of_exchange(tensors)):
        return said
    if not numbers.isnan().equal(right.isnan()):
        return _of_nan(numbers, right)
    tensors = [(g, t) for g, t in tensors if g.shape == t.shape]
    if numbers.dtype == torch.bool and right.dtype != torch.bool:
        return "the result holds True and False, not numbers", "Is your last step a comparison?"
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
        return f"{where}there is None", "Do you compute it, and do you return what you computed?"
    what, hint = difference(pairs)
    return f"{where}{what}", hint


def _of_sets(given: set, wanted: set) -> differences.Said:
    lacking, much = wanted - given, given - wanted
    told = [f"{what} {short(some)}" for what, some in (("lacks", lacking), ("has too many:", much)) if some]
    return f"the set {' and '.join(told)}", "Which rule decides what belongs in the set?"


def _of_nan(numbers: Tensor, right: Tensor) -> differences.Said:
    lost = numbers.isnan() & ~right.isnan()
    where = "everywhere" if lost.all() else f"in {lost.sum()} of {lost.numel()} places"
    return (
        f"the result holds NaN {where}" if lost.numel() > 1 else "the result is NaN",
        "NaN comes from 0/0, from ∞ − ∞ and ∞/∞ (exp of a large number is ∞), from 0 · −∞, and from a softmax of nothing "
        "but −∞.",
    )
