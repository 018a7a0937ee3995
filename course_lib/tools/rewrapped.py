"""Wraps correct results of the exercises in other containers, and tests the checks and the next cells with them.

A check must refuse another container and name it, or else the cells after the exercise must be able to use it.
"""

import ast
import collections
import contextlib
import functools
import io
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import nbformat
import torch
from torch import Tensor, nn

from course_lib import training
from course_lib.checks import exercises
from course_lib.checks.engine import Exercise, Wrong, examine
from course_lib.tools.mutants import Solution, solutions

LONG = 100  # a loop of a cell with at least this many steps is training


@dataclass
class Own:
    """Represents a learner's own object."""

    value: object


class OwnList(list):
    """Is a list with its own class name."""


# ---- containers ----


def of_leaves(change: Callable) -> Callable:
    """Returns a function that applies the change to every number or text in nested lists."""

    def changed(value):
        if isinstance(value, Tensor):
            value = value.tolist()
        return [changed(item) for item in value] if isinstance(value, list | tuple) else change(value)

    return changed


def one_short(value: object) -> list:
    """Returns the rows, with one entry missing in the last."""
    *rows, last = list(value)
    return [*rows, list(last)[:-1]]


def as_layer(value: Tensor | tuple) -> nn.Linear:
    weight, bias = value if isinstance(value, tuple) else (value, None)
    layer = nn.Linear(*weight.shape[::-1], bias=bias is not None)
    layer.weight.data = weight
    if bias is not None:
        layer.bias.data = bias
    return layer


OF_TENSORS = {
    "lists of numbers": Tensor.tolist,
    "list of rows": list,
    "list of lists of rows": lambda value: [list(row) for row in value if row.ndim],
    "tuple of rows": tuple,
    "list of arrays": lambda value: list(value.numpy()),
    "lists of 0-d tensors": of_leaves(torch.tensor),
    "array": Tensor.numpy,
    "decimals": Tensor.double,
    "complex tensor": lambda value: value.to(torch.complex64),
    "sparse tensor": Tensor.to_sparse,
    "layer": as_layer,
}
OF_LISTS = {
    "list": list,
    "tuple": tuple,
    "set": set,
    "own list": OwnList,
    "stacked": lambda value: torch.stack(list(map(torch.as_tensor, value))),
    "tensor": torch.tensor,
    "layer": as_layer,
}
OF_BOTH = {
    "deque": collections.deque,
    "generator": lambda value: (item for item in value),
    "dict": lambda value: dict(enumerate(value)),
    "values of a dict": lambda value: dict(enumerate(value)).values(),
    "items of a dict": lambda value: dict(enumerate(value)).items(),
    "rows of which one is short": one_short,
    "lists of decimals": of_leaves(float),
    "lists of complex numbers": of_leaves(complex),
    "lists of fractions": of_leaves(Fraction),
    "lists of texts": of_leaves(str),
}
OF_NUMBERS = {
    "0-d tensor": torch.tensor,
    "tensor of one": lambda value: torch.tensor([value]),
    "decimal": float,
    "complex number": complex,
    "fraction": Fraction,
    "text": str,
}
OF_ALL = {
    "list of one": lambda value: [value],
    "own object": Own,
    "function": lambda value: lambda: value,
}


def wraps(value: object) -> dict[str, Callable]:
    """Returns the containers for a value, by name."""
    if isinstance(value, Tensor) and value.ndim:
        return OF_TENSORS | OF_BOTH | OF_ALL
    if isinstance(value, list | tuple):
        return OF_LISTS | OF_BOTH | OF_ALL
    return OF_NUMBERS | OF_ALL


def levels(value: object) -> Iterator[tuple[tuple[int | None, ...], object]]:
    """Yields (way, part) for a value and everything in it. None in a way means every entry of a list."""
    yield (), value
    if isinstance(value, list | tuple) and value:
        alike = len({type(item) for item in value}) == 1
        for at in [None] if alike else range(len(value)):
            yield from (((at, *way), inside) for way, inside in levels(value[at or 0]))


def put(value: object, way: tuple, wrap: Callable) -> object:
    """Returns the value with the part at the end of the way wrapped."""
    if not way:
        return wrap(value)
    first, rest = way[0], way[1:]
    items = [put(item, rest, wrap) if first in (None, number) else item for number, item in enumerate(value)]
    return tuple(items) if isinstance(value, tuple) else items


@dataclass(frozen=True)
class Wrapped:
    """Describes a solution whose result is in another container."""

    what: str
    way: tuple
    wrap: Callable

    def of(self, right: Callable) -> Callable:
        @functools.wraps(right)
        def answer(*arguments, **named):
            return put(right(*arguments, **named), self.way, self.wrap)

        return answer


def first_result(asked: Exercise, right: Callable) -> object:
    """Returns the solution's own result on the first input."""
    found = []

    @functools.wraps(right)
    def seen(*arguments, **named):
        found.append(right(*arguments, **named))
        return found[-1]

    case = asked.cases(torch.Generator().manual_seed(0))[0]
    asked.run(seen, case.arguments)
    return found[0]


def wrapped(result: object) -> list[Wrapped]:
    """Returns every container at each level of a result."""
    found = []
    for way, inside in levels(result):
        for what, wrap in wraps(inside).items():
            with contextlib.suppress(Exception):
                put(result, way, wrap)
                place = "".join("[…]" if at is None else f"[{at}]" for at in way)
                found.append(Wrapped(f"{what}{f' in result{place}' if way else ''}", way, wrap))
    return found


# ---- the next cells ----


class Shorter(ast.NodeTransformer):
    """Shortens training loops to one step."""

    def visit_For(self, node: ast.For) -> ast.For:  # noqa: N802 - ast's name
        self.generic_visit(node)
        match node.iter:
            case ast.Call(func=ast.Name("range"), args=[ast.Constant(int(times))]) if times >= LONG:
                node.iter.args = [ast.Constant(1)]
        return node


def one_step(build, batches, loss, *, seed=0, **settings):
    """Replaces `training.train` with one step without an optimizer."""
    torch.manual_seed(seed)
    model = build()
    error = loss(model, next(iter(batches(torch.Generator().manual_seed(seed)))))
    error.backward()
    return model.eval(), SimpleNamespace(loss=[error.item()])


@contextlib.contextmanager
def quickly():
    with mock.patch.object(training, "train", one_step), contextlib.redirect_stdout(io.StringIO()):
        yield


@dataclass(frozen=True)
class Cell:
    code: object
    needs: set
    makes: set
    before: dict  # the notebook's names before this cell


def names(tree: ast.AST, context: type) -> set:
    """Returns the names that a cell reads or writes."""
    found = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, context)}
    defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    return found | defined if context is ast.Store else found


def cells(notebook: Path) -> dict[str, Cell]:
    """Runs the cells of an exercise notebook once; returns them by id."""
    found, there = {}, {"display": lambda *shown: None}
    with quickly():
        for cell in nbformat.read(notebook, as_version=4).cells:
            if cell.cell_type != "code" or "checks.check" in cell.source or "progress()" in cell.source:
                continue
            tree = ast.fix_missing_locations(Shorter().visit(ast.parse(cell.source)))
            code = compile(tree, f"{notebook.stem}: {cell.id}", "exec")
            found[cell.id] = Cell(code, names(tree, ast.Load), names(tree, ast.Store), dict(there))
            exec(code, there)
    return found


def unusable(name: str, answer: Callable, of_notebook: dict[str, Cell]) -> str:
    """Returns the first cell after the exercise that fails with this answer, with its error, or ""."""
    later = list(of_notebook)[list(of_notebook).index(name) + 1 :]
    changed = {name: answer}
    with quickly():
        for one in later:
            cell = of_notebook[one]
            if not cell.needs & changed.keys():
                continue
            there = cell.before | changed
            try:
                exec(cell.code, there)
            except Exception as error:
                return f"{one}: {type(error).__name__}: {error}"
            changed |= {made: there[made] for made in cell.makes if made in there}
    return ""


# ---- what the checks say ----

# Messages that say what came and what was wanted: the container, its size, or its values.
NAMED = re.compile(
    r"(it returns|your function returns|`result.*` is|the result has the wrong) .+, not .+|comes back, not a"
    r"|not boolean|not whole numbers|can't be used for training|the row of a table"
    r"|infer dtype of|too many dimensions '"  # torch's own words, if a check needs a tensor to continue
    r"|instead of|in place of|in a row of their own|entry|entries are left out|there is a list within|ends too early"
)


def told(asked: Exercise, answer: Callable) -> str:
    """Returns the first line of a check's message, or "" if the answer passes."""
    try:
        examine(asked, answer)
    except Wrong as wrong:
        return str(wrong).splitlines()[0]
    except Exception as error:
        return f"{type(error).__name__} within the check: {error}"
    return ""


def drawn(result: object, most: int | None, seed: int) -> list[Wrapped]:
    """Returns all containers of a result, or a random sample of at most `most`."""
    found = wrapped(result)
    return found if most is None else random.Random(seed).sample(found, min(most, len(found)))


def misled(solution: Solution, most: int | None = None, seed: int = 0) -> tuple[list[str], list[Wrapped]]:
    """Returns refusals that don't say what came and what was wanted, and the containers that a check accepts."""
    asked, right = exercises()[solution.name], solution.made(solution.source)
    holes, accepted = [], []
    for one in drawn(first_result(asked, right), most, seed):
        said = told(asked, one.of(right))
        if not said:
            accepted.append(one)
        elif not NAMED.search(said):
            holes.append(f"{solution.name}, {one.what}: {said}")
    return holes, accepted


def report(notebook: Path, most: int | None = None) -> Iterator[tuple[str, list[str]]]:
    """Yields (exercise, its holes): misleading refusals, and accepted results that break a later cell."""
    of_notebook = cells(notebook)
    for solution in solutions(notebook):
        holes, accepted = misled(solution, most)
        for one in accepted:
            if broken := unusable(solution.name, one.of(solution.made(solution.source)), of_notebook):
                holes.append(f"{solution.name}, {one.what} passes, and then {broken}")
        yield solution.name, holes
