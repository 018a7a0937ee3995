"""Tries edge cases: divisions with a remainder, a true 0, and the limits of a question's tolerance.

Each turns a correct answer into wrong ones. If a check passes one, its inputs have a hole.
"""

import ast
import copy
import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, combinations
from pathlib import Path

import torch
from torch import Tensor

from course_lib.checks import exercises
from course_lib.checks.engine import Case, Exercise, Question, attempt, plain, same
from course_lib.tools.mutants import EQUIVALENT, PASSED, Mutant, Solution, judged, replace, solutions, told

BEYOND = 1.02  # distance of a value just outside the tolerance, in tolerances
SMALLEST = 1e-4  # share of a value, if there is no tolerance
FIXED = "heads", "width", "model_size", "bits"  # the heads share a width evenly, and numbers have 4 bits or more
# no model has a size of 0, no text or prompt has 0 tokens, and β is above 0
NEVER_0 = *FIXED, "sets", "layers", "new", "tokens", "prompt_length", "beta"
AS_0 = 0.05  # smaller values may be read from a figure as 0


# ---- divisions ----


def divided_sooner(source: str) -> list[Mutant]:
    """Returns mutants that divide in whole numbers before multiplying: n * bits // 8 * 2 for 2 * n * bits / 8."""
    tree = ast.parse(source)
    given = assigned_once(tree)
    found = {}
    for place, node in enumerate(ast.walk(tree)):
        if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div | ast.FloorDiv)):
            continue
        above = factors(node.left, given)
        for number, factor in enumerate(above if len(above) > 1 else []):
            rest = functools.reduce(lambda a, b: ast.BinOp(a, ast.Mult(), b), above[:number] + above[number + 1 :])
            sooner = ast.BinOp(ast.BinOp(rest, ast.FloorDiv(), node.right), ast.Mult(), factor)
            changed = copy.deepcopy(tree)
            replace(changed, next(one for n, one in enumerate(ast.walk(changed)) if n == place), copy.deepcopy(sooner))
            text = ast.unparse(ast.fix_missing_locations(changed))
            found[text] = Mutant(f"line {node.lineno}: divided before {ast.unparse(factor)} is multiplied", text)
    return list(found.values())


def assigned_once(tree: ast.Module) -> dict[str, ast.expr]:
    """Returns the values of names that are assigned exactly once."""
    lines = [node for node in ast.walk(tree) if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)]
    names = [line.targets[0].id for line in lines]
    return {line.targets[0].id: line.value for line in lines if names.count(line.targets[0].id) == 1}


def factors(node: ast.expr, given: dict[str, ast.expr]) -> list[ast.expr]:
    """Returns the factors of a product; a division counts as one factor together with what is left of it."""
    if isinstance(node, ast.Name) and node.id in given and len(parts := factors(given[node.id], given)) > 1:
        return parts
    match node:
        case ast.BinOp(left, ast.Mult(), right):
            return factors(left, given) + factors(right, given)
        case ast.BinOp(left, ast.FloorDiv(), right):
            *first, last = factors(left, given)
            return [*first, ast.BinOp(last, ast.FloorDiv(), right)]
    return [node]


def leaves_a_rest(asked: Exercise, right: Callable, answer: Callable) -> bool:
    """Returns whether an answer is wrong if some whole numbers of a case are odd, and the solution is correct."""
    for case in asked.cases(torch.Generator().manual_seed(0)):
        whole = [name for name, value in case.arguments.items() if type(value) is int and name not in FIXED]
        for names in chain.from_iterable(combinations(whole, many) for many in range(1, 1 + len(whole))):
            odd = Case(case.about, {**case.arguments, **{name: case.arguments[name] | 1 for name in names}})
            wanted, known, given = (attempt(asked, one, odd) for one in (asked.right, right, answer))
            allowed = not wanted.error and not known.error and same(known.result, wanted.result, asked.tolerance)
            if allowed and (given.error or not same(given.result, wanted.result, asked.tolerance)):
                return True
    return False


# ---- a true 0 ----


@dataclass(frozen=True)
class Zero:
    """Describes an answer that treats a true 0 as missing, and the change of a case that reveals it."""

    what: str
    answer: Callable
    edge: Callable[[Mapping], Mapping]


def zeros(asked: Exercise, right: Callable) -> Iterator[Zero]:
    """Yields for each argument: `number or 1`, and a mask that also hides where another argument is 0."""
    case = asked.cases(torch.Generator().manual_seed(0))[0]
    names = list(case.arguments)
    if list(inspect.signature(right).parameters) != names:
        return

    def changing(name: str, change: Callable) -> Callable:
        @functools.wraps(right)
        def answer(*arguments):
            given = dict(zip(names, arguments, strict=True))
            return right(**given | {name: change(given)})

        return answer

    for name, value in case.arguments.items():
        if isinstance(value, int | float) and not isinstance(value, bool) and name not in NEVER_0:
            answer = changing(name, lambda given, name=name: given[name] or 1)
            yield Zero(f"{name} or 1", answer, lambda given, name=name: {**given, name: type(given[name])(0)})
        for other, x in case.arguments.items():
            if name != other and isinstance(value, Tensor) and value.dtype == torch.bool and isinstance(x, Tensor):
                if x.shape[: value.ndim] == value.shape:
                    answer = changing(name, functools.partial(only_where, name, other))
                    edge = functools.partial(zero_where, name, other)
                    yield Zero(f"{name} only where {other} is not 0", answer, edge)


def only_where(mask: str, other: str, given: Mapping) -> Tensor:
    there = given[other] != 0
    return given[mask] & (there.flatten(given[mask].ndim).any(-1) if there.ndim > given[mask].ndim else there)


def zero_where(mask: str, other: str, given: Mapping) -> Mapping:
    """Returns the input with a 0 at the first position that the mask allows."""
    x = given[other].clone()
    x[tuple(given[mask].nonzero()[0])] = 0
    return {**given, other: x}


def matters(asked: Exercise, zero: Zero, case: Case) -> bool:
    """Returns whether a 0 there is a valid input, and the answer gets it wrong."""
    try:
        case = Case(case.about, zero.edge(case.arguments))
    except (IndexError, ValueError):
        return False
    wanted, given = attempt(asked, asked.right, case), attempt(asked, zero.answer, case)
    tells = wanted.error is None and not is_empty_or_nan(wanted.result)
    return tells and (given.error is not None or not same(given.result, wanted.result, asked.tolerance))


def is_empty_or_nan(result: object) -> bool:
    value = plain(result)
    if isinstance(value, list):
        return not value or any(map(is_empty_or_nan, value))
    return isinstance(value, Tensor) and (not value.numel() or bool(value.isnan().any()))


# ---- the borders of a question ----


def beside(question: Question) -> Iterator[object]:
    """Yields wrong values near the correct one: just outside its tolerance, the next whole numbers, and 0."""
    right = question.right()
    target = plain(right)
    target = target.tolist() if isinstance(target, Tensor) else target
    for value, back in entries(target, lambda new: new):
        for other in neighbours(value, question.tolerance):
            yield back(other)


def entries(value: object, back: Callable) -> Iterator[tuple[float, Callable]]:
    """Yields (number, function that replaces it) for each number in nested lists."""
    if isinstance(value, list):
        for place, item in enumerate(value):
            put = lambda new, place=place: back([*value[:place], new, *value[place + 1 :]])  # noqa: E731
            yield from entries(item, put)
    elif isinstance(value, int | float):
        yield value, back


def neighbours(value: float, tolerance: float) -> list[float]:
    off = tolerance * BEYOND + SMALLEST * max(1, abs(value))
    found = [value - off, value + off]
    if isinstance(value, int) and tolerance < 1:
        found += [value - 1, value + 1]
    return [*found, 0] if abs(value) > AS_0 else found


# ---- what the checks say ----


def passes(asked: Exercise | Question, answer: object) -> bool:
    return told(asked, answer) == PASSED


def holes(solution: Solution) -> Iterator[str]:
    """Yields wrong answers at an edge that the check of an exercise passes."""
    asked, right = exercises()[solution.name], solution.made(solution.source)
    for mutant in divided_sooner(solution.source):
        said = judged(solution, mutant)
        if said == PASSED or (said == EQUIVALENT and leaves_a_rest(asked, right, solution.made(mutant.source))):
            yield f"{solution.name}, {mutant.what}"
    for zero in zeros(asked, right):
        cases = asked.cases(torch.Generator().manual_seed(0))
        if any(matters(asked, zero, case) for case in cases) and passes(asked, zero.answer):
            yield f"{solution.name}, {zero.what}"


def loose(lesson: str) -> Iterator[str]:
    """Yields wrong values near the correct one that a question of a lesson passes."""
    for name, asked in exercises().items():
        if isinstance(asked, Question) and asked.lesson == lesson:
            yield from (f"{name}, {value}" for value in beside(asked) if passes(asked, value))


def report(notebook: Path) -> Iterator[tuple[str, list[str]]]:
    """Yields (exercise, its holes), and last those of the questions."""
    for solution in solutions(notebook):
        yield solution.name, list(holes(solution))
    yield "questions", list(loose(notebook.stem.partition("_")[2]))
