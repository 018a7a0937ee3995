"""Changes the exercises' solutions by rule, and reports what the checks say about each change.

A mutant that a check passes is equivalent if it also matches the solution on many freshly drawn inputs. Otherwise the
check has a hole. Mutation testers such as mutmut and cosmic-ray change operators and constants of a whole package. They
don't know this course's misconceptions: a wrong axis, a transposition, a missing mask or term.
"""

import ast
import copy
import dataclasses
import random
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations, islice
from pathlib import Path

import nbformat
import torch

from course_lib.checks import exercises
from course_lib.checks.bounds import Check, TooLongError
from course_lib.checks.engine import LIKE, Exercise, Misconception, Question, Wrong, ask, attempt, examine, same

PAIRS = 20  # of misconceptions that are tried together in an exercise
FURTHER = 12  # draws of inputs on which a passing mutant is compared with the solution
PASSED, EQUIVALENT, ENDLESS = "passed", "equivalent", "does not end"
DESCRIBED, NOT_RIGHT = "named or described", "only not right"
ONE_OF_THEM, ALIKE = "told as one of the two or both", "as one with the same results"
ANOTHER, IN_GENERAL = "as another", "in general"
NO_RESULT = re.compile("it raises|everything is 0")  # speaks for no mistake, since many have it


# ---- the solutions ----


@dataclass(frozen=True)
class Solution:
    """Holds the solution of an exercise: its source, and the names defined before it in the notebook."""

    name: str
    source: str
    around: dict

    def made(self, source: str) -> Callable:
        """Returns the function or class that a source defines."""
        there = dict(self.around)
        exec(compile(source, self.name, "exec"), there)
        return there[self.name]


def solutions(notebook: Path) -> Iterator[Solution]:
    """Yields the exercises of a notebook that ask for a function or class."""
    there: dict = {}
    for cell in nbformat.read(notebook, as_version=4).cells:
        if cell.cell_type != "code" or "checks.check" in cell.source or "progress()" in cell.source:
            continue
        asked = exercises().get(cell.id)
        if isinstance(asked, Exercise):
            yield Solution(cell.id, cell.source, dict(there))
        exec(compile(definitions(cell.source), str(notebook), "exec"), there)


def definitions(source: str) -> ast.Module:
    """Returns a cell's imports and definitions, without what it runs."""
    kinds = ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef
    return ast.Module([node for node in ast.parse(source).body if isinstance(node, kinds)], [])


# ---- the changes ----


@dataclass(frozen=True)
class Mutant:
    what: str
    source: str
    said: str = ""


def mutants(source: str) -> list[Mutant]:
    """Returns every change by one rule at one position, as source; each source once."""
    tree = ast.parse(source)
    found = {ast.unparse(tree): None}
    for place, node in enumerate(ast.walk(tree)):
        for what, change in changes(node, tree):
            changed = copy.deepcopy(tree)
            other = next(one for number, one in enumerate(ast.walk(changed)) if number == place)
            try:
                replace(changed, other, change(other))
                text = ast.unparse(ast.fix_missing_locations(changed))
                compile(text, "mutant", "exec")
            except (SyntaxError, ValueError, TypeError, AttributeError):
                continue
            line = getattr(node, "lineno", 0)
            found.setdefault(text, Mutant(f"line {line}: {what}", text))
    return [mutant for mutant in found.values() if mutant]


def replace(tree: ast.AST, old: ast.AST, new: ast.AST | list | None) -> None:
    """Replaces `old` with `new`, which may be a list of statements, or None to remove it."""
    for parent in ast.walk(tree):
        for field, value in ast.iter_fields(parent):
            if value is old:
                setattr(parent, field, new)
                return
            if isinstance(value, list) and any(item is old for item in value):
                put = new if isinstance(new, list) else [] if new is None else [new]
                at = next(number for number, item in enumerate(value) if item is old)
                value[at : at + 1] = put or ([ast.Pass()] if isinstance(old, ast.stmt) and len(value) == 1 else [])
                return


def changes(node: ast.AST, tree: ast.Module) -> Iterator[tuple[str, Callable]]:
    """Yields (what, change) for a node; the change takes the node and returns its replacement."""
    kind = type(node)
    if kind in RULES:
        yield from RULES[kind](node)
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        function = next((one for one in tree.body if isinstance(one, ast.FunctionDef)), None)
        names = [argument.arg for argument in function.args.args] if function else []
        for other in names:
            if node.id in names and other != node.id:
                yield f"{other} for {node.id}", lambda old, other=other: ast.Name(other, ast.Load())
    if isinstance(node, ast.FunctionDef | ast.For | ast.While | ast.If):
        for number, (first, second) in enumerate(zip(node.body, node.body[1:], strict=False)):
            if not isinstance(second, ast.Return):
                yield f"order of lines {first.lineno} and {second.lineno}", lambda old, n=number: exchanged(old, n)
    if isinstance(node, ast.Assign | ast.AugAssign | ast.If | ast.Expr | ast.Break | ast.Continue):
        yield "a statement left out", lambda old: None


def exchanged(block: ast.AST, number: int) -> ast.AST:
    block.body[number], block.body[number + 1] = block.body[number + 1], block.body[number]
    return block


OPERATORS = {
    ast.Add: (ast.Sub,), ast.Sub: (ast.Add,), ast.Mult: (ast.Div, ast.Add), ast.Div: (ast.Mult, ast.FloorDiv),
    ast.FloorDiv: (ast.Div,), ast.Pow: (ast.Mult,), ast.BitAnd: (ast.BitOr,), ast.BitOr: (ast.BitAnd,),
}  # fmt: skip
COMPARED = {
    ast.Lt: (ast.LtE, ast.Gt), ast.LtE: (ast.Lt, ast.GtE), ast.Gt: (ast.GtE, ast.Lt), ast.GtE: (ast.Gt, ast.LtE),
    ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.In: (ast.NotIn,), ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,),
}  # fmt: skip
OTHERS = {
    "softmax": ("log_softmax", "sigmoid"), "log_softmax": ("softmax",), "sum": ("mean", "prod"), "mean": ("sum",),
    "max": ("min",), "min": ("max",), "argmax": ("argmin",), "amax": ("amin",), "any": ("all",), "all": ("any",),
    "sin": ("cos",), "cos": ("sin",), "tanh": ("sigmoid", "relu"), "zeros": ("ones",), "ones": ("zeros",),
    "zeros_like": ("ones_like",), "tril": ("triu",), "triu": ("tril",), "cat": ("stack",), "stack": ("cat",),
    "var": ("std",), "std": ("var",), "exp": ("log",), "log": ("exp",), "append": ("extend",), "sqrt": ("square",),
    "transpose": ("reshape",), "new_zeros": ("new_ones",), "gather": ("take",), "logical_and": ("logical_or",),
}  # fmt: skip
# exp overflows unless the largest score is subtracted first
PLAIN = {
    "softmax": "({0}).exp() / ({0}).exp().sum({1}, keepdim=True)",
    "log_softmax": "({0}) - ({0}).exp().sum({1}, keepdim=True).log()",
}
# A line often still runs without these methods: x.mT -> x, x.masked_fill(…) -> x.
LEFT_OUT = (
    "mT", "T", "transpose", "permute", "swapaxes", "masked_fill", "tanh", "exp", "log", "sqrt", "softmax", "unsqueeze",
    "squeeze", "flatten", "unflatten", "reshape", "view", "contiguous", "clone", "bool", "float", "double", "clamp",
    "nan_to_num", "flip", "tril", "abs", "square", "tolist", "item", "detach", "expand", "mean", "sum",
)  # fmt: skip


def of_operation(node: ast.BinOp):
    for other in OPERATORS.get(type(node.op), ()):
        name = f"{other.__name__} for {type(node.op).__name__}"
        yield name, lambda old, other=other: ast.BinOp(old.left, other(), old.right)
    if not isinstance(node.op, ast.Add | ast.Mult | ast.BitAnd | ast.BitOr):
        yield "sides exchanged", lambda old: ast.BinOp(old.right, old.op, old.left)
    yield "right side left out", lambda old: old.left
    yield "left side left out", lambda old: old.right


def of_comparison(node: ast.Compare):
    for other in COMPARED.get(type(node.ops[0]), ()):
        name = f"{other.__name__} for {type(node.ops[0]).__name__}"
        yield name, lambda old, other=other: ast.Compare(old.left, [other(), *old.ops[1:]], old.comparators)


def of_constant(node: ast.Constant):
    value = node.value
    if isinstance(value, bool):
        others = [not value]
    elif isinstance(value, int):
        others = [value + 1, value - 1, -value] + ([-2, 0, 1] if value == 1 else [])
    elif isinstance(value, float):
        others = [value * 2, value / 2, -value, value + 1]
    else:
        others = []
    for other in dict.fromkeys(others):
        if other != value or type(other) is not type(value):
            yield f"{other} for {value}", lambda old, other=other: ast.Constant(other)


def of_sign(node: ast.UnaryOp):
    yield "a sign or a not left out", lambda old: old.operand
    if isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant) and isinstance(node.operand.value, int):
        for other in (-node.operand.value - 1, -node.operand.value + 1, node.operand.value - 1):
            yield f"{other} for -{node.operand.value}", lambda old, other=other: ast.Constant(other)


def of_attribute(node: ast.Attribute):
    if node.attr in ("mT", "T"):
        yield f".{node.attr} left out", lambda old: old.value
    if node.attr in OTHERS:
        for other in OTHERS[node.attr]:
            yield f"{other} for {node.attr}", lambda old, other=other: ast.Attribute(old.value, other, old.ctx)


def of_call(node: ast.Call):
    method = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if isinstance(node.func, ast.Attribute) and method in LEFT_OUT:
        yield f"{method} left out", lambda old: numbers_and_rest(old)[0]
    if isinstance(node.func, ast.Attribute) and method in PLAIN:
        yield f"{method} in plain exponentials", in_plain_exponentials
    if isinstance(node.func, ast.Name) and node.args:
        yield f"{method} left out", lambda old: old.args[0]
    for number in range(len(node.args) - 1):
        yield f"arguments {number + 1} and {number + 2} exchanged", lambda old, n=number: arguments_exchanged(old, n)
    if node.args:
        yield "last argument left out", lambda old: ast.Call(old.func, old.args[:-1], old.keywords)
    for keyword in node.keywords:
        yield (
            f"{keyword.arg} left out",
            lambda old, name=keyword.arg: ast.Call(
                old.func, old.args, [one for one in old.keywords if one.arg != name]
            ),
        )


def numbers_and_rest(call: ast.Call) -> list[ast.expr]:
    """Returns what a method or a module's function is applied to, and its other arguments."""
    of_module = isinstance(call.func.value, ast.Name) and call.func.value.id in ("torch", "F", "math", "np")
    return call.args if of_module else [call.func.value, *call.args]


def in_plain_exponentials(call: ast.Call) -> ast.expr:
    numbers, *axis = map(ast.unparse, numbers_and_rest(call) + call.keywords)
    return ast.parse(PLAIN[call.func.attr].format(numbers, ", ".join(axis)), mode="eval").body


def arguments_exchanged(call: ast.Call, number: int) -> ast.Call:
    call.args[number], call.args[number + 1] = call.args[number + 1], call.args[number]
    return call


def of_slice(node: ast.Slice):
    if node.lower:
        yield "slice begins one later", lambda old: ast.Slice(plus(old.lower, 1), old.upper, old.step)
        yield "slice begins at the start", lambda old: ast.Slice(None, old.upper, old.step)
    if node.upper:
        yield "slice ends one earlier", lambda old: ast.Slice(old.lower, plus(old.upper, -1), old.step)
        yield "slice goes to the end", lambda old: ast.Slice(old.lower, None, old.step)
    if not node.lower:
        yield "slice begins at 1", lambda old: ast.Slice(ast.Constant(1), old.upper, old.step)


def plus(node: ast.expr, value: int) -> ast.BinOp:
    return ast.BinOp(node, ast.Add(), ast.Constant(value))


def of_condition(node: ast.If | ast.IfExp):
    yield "condition turned round", lambda old: turned_round(old)


def turned_round(node):
    node.test = ast.UnaryOp(ast.Not(), node.test)
    return node


def of_decision(node: ast.BoolOp):
    other = ast.Or if isinstance(node.op, ast.And) else ast.And
    yield f"{other.__name__} for {type(node.op).__name__}", lambda old: ast.BoolOp(other(), old.values)
    for number in range(len(node.values)):
        yield (
            f"condition {number + 1} left out",
            lambda old, n=number: (
                ast.BoolOp(old.op, rest) if len(rest := old.values[:n] + old.values[n + 1 :]) > 1 else rest[0]
            ),
        )


RETURNED = (
    "[{}]", "({}, 1)", "None", "({}) + 0.001", "({}) * 1.01", "-({})", "({}).mT", "({}).flatten()", "({})[None]",
    "({})[..., 0]", "({}).flip(-1)", "({}).half()", "list({})", "({})[:-1]", "({})[1:]", "({}).sum()", "({})[::-1]",
)  # fmt: skip


def of_return(node: ast.Return):
    if node.value is None:
        return
    text = ast.unparse(node.value)
    for form in RETURNED:
        other = form.format(text)
        yield f"returns {form.format('…')}", lambda old, other=other: ast.parse(f"return {other}").body[0]
    if isinstance(node.value, ast.Tuple):
        yield "results exchanged", lambda old: ast.Return(ast.Tuple(old.value.elts[::-1], ast.Load()))
        yield "only the first result", lambda old: ast.Return(old.value.elts[0])


def of_function(node: ast.FunctionDef):
    for argument in node.args.args:
        for line in (f"{argument.arg}.zero_()", f"{argument.arg}.clear()", f"{argument.arg}.mul_(1.5)"):
            yield f"{line} at the end", lambda old, line=line: in_place(old, line)


def in_place(function: ast.FunctionDef, line: str) -> ast.FunctionDef:
    """Changes an argument just before the final return."""
    last = function.body[-1]
    if isinstance(last, ast.Return):
        kept = ast.parse(f"_kept = {ast.unparse(last.value)}\n{line}\nreturn _kept").body
        function.body[-1:] = kept
    return function


RULES = {
    ast.BinOp: of_operation, ast.Compare: of_comparison, ast.Constant: of_constant, ast.UnaryOp: of_sign,
    ast.Attribute: of_attribute, ast.Call: of_call, ast.Slice: of_slice, ast.If: of_condition, ast.IfExp: of_condition,
    ast.BoolOp: of_decision, ast.Return: of_return, ast.FunctionDef: of_function,
}  # fmt: skip


# ---- what the checks say ----


def judged(solution: Solution, mutant: Mutant) -> str:
    """Returns the check's message, or PASSED, EQUIVALENT or ENDLESS."""
    asked = exercises()[solution.name]
    try:
        answer = solution.made(mutant.source)
    except Exception as error:
        return f"{type(error).__name__} before it is called"
    try:
        examine(asked, answer)
        return PASSED if differs(asked, answer, solution.made(solution.source)) else EQUIVALENT
    except Wrong as wrong:
        return ENDLESS if "it has not ended after" in str(wrong) else str(wrong)
    except TooLongError:
        return ENDLESS


def with_said(solution: Solution, mutant: Mutant) -> Mutant:
    return dataclasses.replace(mutant, said=judged(solution, mutant))


# ---- two misconceptions at once ----


def doubled(asked: Exercise, most: int, seed: int = 0) -> Iterator[tuple[str, str]]:
    """Yields (how the check tells it, what was told) for up to `most` answers with two edits of the right source."""
    edits = [one for one in asked.misconceptions if one.changes]
    pairs = [(one, other) for one, other in combinations(edits, 2) if one.name != other.name]
    random.Random(seed).shuffle(pairs)
    return islice((found for pair in pairs if (found := told_two(asked, *pair))), most)


def told_two(asked: Exercise, one: Misconception, other: Misconception) -> tuple[str, str] | None:
    """Returns how the check tells two edits together, and what it says; None if they pass or have no result."""
    said = ""
    try:
        answer = asked.edited(*one.changes, *other.changes)
        examine(asked, answer)
    except (ValueError, SyntaxError):
        pass
    except Wrong as wrong:
        said = str(wrong)
    if not said or NO_RESULT.search(said.splitlines()[0]):
        return None
    named = [misconception for misconception in asked.misconceptions if misconception.name in said]
    how = IN_GENERAL
    if any(misconception.name in (one.name, other.name) for misconception in named):
        how = ONE_OF_THEM
    elif named:
        alike = any(not differs(asked, misconception.answer, answer) for misconception in named)
        how = ALIKE if alike else ANOTHER
    return how, f"{one.name} + {other.name}: {said.splitlines()[0]}"


# ---- misconceptions against each other ----


def told(asked: Exercise | Question, answer: object, seed: int = 0) -> str:
    """Returns what the check finds wrong with an answer, or PASSED."""
    try:
        examine(asked, answer, seed) if isinstance(asked, Exercise) else ask(asked, answer)
    except Wrong as wrong:
        return wrong.args[0].what
    return PASSED


def confused(asked: Exercise | Question, seeds: Iterable[int] = (0, 1)) -> list[tuple[str, str]]:
    """Returns (name, what is said instead) for misconceptions that their own exercise doesn't name.

    If it names another one, the two can't be told apart, so one name and one hint must fit both.
    """
    found = {}
    for misconception in asked.misconceptions:
        of_value = isinstance(asked, Question) and callable(misconception.answer)
        for seed in seeds if isinstance(asked, Exercise) else (0,):
            said = told(asked, misconception.answer() if of_value else misconception.answer, seed)
            if said != misconception.name:
                found[misconception.name, said] = None
    return list(found)


def strangers(asked: Exercise) -> list[tuple[str, str, str]]:
    """Returns (sibling, misconception, what is said) for those of similar exercises that pass or are misnamed.

    An exercise is similar if its arguments have the same names.
    """
    names = {misconception.name for misconception in asked.misconceptions}
    found = []
    for sibling in exercises().values():
        if sibling is not asked and isinstance(sibling, Exercise) and _called_with(sibling) == _called_with(asked):
            for misconception in sibling.misconceptions:
                said = told(asked, misconception.answer)
                if said == PASSED or (said in names and said != misconception.name):
                    found.append((sibling.name, misconception.name, said))
    return found


def report_on_misconceptions(notebook: Path) -> Iterator[str]:
    """Yields a line for each fault in the names of misconceptions."""
    for asked in exercises().values():
        if notebook.stem.endswith(asked.lesson):
            yield from (f"{asked.name}: {name!r} is called {said!r}" for name, said in confused(asked))
            if isinstance(asked, Exercise):
                for whose, name, said in strangers(asked):
                    yield f"{asked.name}: {name!r} of {whose} is called {said!r}"


def _called_with(asked: Exercise) -> tuple[str, ...]:
    return tuple(asked.cases(torch.Generator().manual_seed(0))[0].arguments)


def differs(asked: Exercise, answer: Callable, right: Callable) -> bool:
    """Returns whether an answer differs from the solution on freshly drawn inputs."""
    check = Check()
    for seed in range(1, 1 + FURTHER):
        for case in asked.cases(torch.Generator().manual_seed(seed)):
            one, other = attempt(asked, answer, case, check), attempt(asked, right, case)
            if bool(one.error) != bool(other.error):
                return True
            if not one.error and not same(one.result, other.result, asked.tolerance):
                return True
            if not one.error and not same(one.arguments, case.arguments, 0.0):
                return True
    return False


def described(said: str) -> bool:
    """Returns whether a message names a misconception or how the result differs, and not only that it is wrong."""
    return "not right" not in said.splitlines()[0] or LIKE in said


Found = dict[str, list[Mutant]]  # mutants by outcome


def report(notebook: Path, most: int | None = None, seed: int = 0) -> Iterator[tuple[Solution, Found]]:
    """Yields (solution, its mutants by outcome), for all mutants or a random sample of at most `most`."""
    for solution in solutions(notebook):
        tried = mutants(solution.source)
        if most is not None:
            tried = random.Random(seed).sample(tried, min(most, len(tried)))
        became = {kind: [] for kind in (PASSED, ENDLESS, EQUIVALENT, DESCRIBED, NOT_RIGHT)}
        for mutant in tried:
            said = (one := with_said(solution, mutant)).said
            became[said if said in became else DESCRIBED if described(said) else NOT_RIGHT].append(one)
        yield solution, became
