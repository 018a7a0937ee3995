"""A hash of code and settings: equal while what a function computes is spelled the same.

It covers the function, every function, class and constant of the course or the notebook that it refers to
(and they in turn), and any data given with it. Comments, docstrings, layout and decorators do not count;
packages from outside count by name only. A definition of the course is called by the last part of its module and
its own name, so that a module may move into a folder.

Nor does it count what local variables are called, what an error says, and a guard: an `if` without `else` that does
nothing but raise. A guard changes no result that came out, unless something catches its error. So all of it counts in a
definition that has an `except`, and in what that one uses; and so do a guard whose test may do more than ask, and an
error that Python itself catches, such as StopIteration.
"""

import ast
import builtins
import copy
import dis
import functools
import hashlib
import importlib
import inspect
import itertools
import linecache
import sys
import types
from collections.abc import Iterable, Iterator
from typing import NamedTuple

# How runs are started, kept, found and shown; none of it decides what comes out.
HOW = ("attention_map", "files", "fingerprint", "processes")


def fingerprint(*things) -> str:
    """16 hexadecimal digits for the things together: functions, classes, `functools.partial`, plain data.

    >>> fingerprint(len, {"epochs": 8}) == fingerprint(len, {"epochs": 8}) != fingerprint(len, {"epochs": 9})
    True
    """
    seen: dict[str, Definition] = {}
    described = [_describe(thing, seen) for thing in things]
    text = "\n".join([*described, *(f"{name}: {seen[name].source}" for name in sorted(seen))])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _ours(thing) -> bool:
    parts = (getattr(thing, "__module__", None) or "").split(".")
    return parts[0] in ("__main__", "course_lib") and parts[-1] not in HOW


def name_of(thing) -> str:
    """What a function or class of the course or the notebook is called, wherever in the course its module lies."""
    package, *parts = thing.__module__.split(".")
    return ".".join([package, *parts[-1:], thing.__qualname__])


class Definition(NamedTuple):
    """Where a function or class stands, and how it is spelled, with what it refers to."""

    module: str
    source: str


def _describe(thing, seen: dict[str, Definition], caught: bool = False) -> str:
    """In words; `caught` says that its errors may be, so that they count."""
    thing = inspect.unwrap(thing)
    if isinstance(thing, functools.partial):
        return _describe((thing.func, thing.args, thing.keywords), seen, caught)
    if isinstance(thing, types.FunctionType | type) and _ours(thing):
        name, module = name_of(thing), thing.__module__
        node = _source(thing)
        caught = caught or _catches(node)
        key = f"{name}, whose errors are caught" if caught else name
        if key not in seen:
            seen[key] = Definition(module, "")  # recursion ends here
            node = node if caught else _without_guards(node)
            used = dict(sorted(_used(thing, node).items()))
            seen[key] = Definition(module, _spelled(node) + _describe(used, seen, caught))
        if seen[key].module != module:
            raise ValueError(f"{seen[key].module} and {module} both define {name}; rename one of the modules")
        return key
    if hasattr(thing, "__qualname__"):
        package = (thing.__module__ or "").split(".")[0]  # where in it differs from version to version
        return f"{package}.{thing.__qualname__}"
    if hasattr(thing, "fingerprint"):
        return thing.fingerprint
    if isinstance(thing, dict):
        items = ((_describe(key, seen, caught), _describe(value, seen, caught)) for key, value in thing.items())
        return "{" + ", ".join(f"{key}: {value}" for key, value in items) + "}"
    if isinstance(thing, list | tuple):
        return "[" + ", ".join(_describe(item, seen, caught) for item in thing) + "]"
    if isinstance(thing, set | frozenset):
        return "{" + ", ".join(sorted(_describe(item, seen, caught) for item in thing)) + "}"
    if hasattr(thing, "tolist"):  # numbers of numpy and torch
        return repr(thing.tolist())
    if isinstance(thing, str | int | float | bytes | range | None):
        return repr(thing)
    return _describe([type(thing), getattr(thing, "__dict__", {})], seen, caught)


def _functions(thing) -> list[types.FunctionType]:
    """The function itself, or the methods that a class defines; what a dataclass generates has no source."""
    values = vars(thing).values() if isinstance(thing, type) else [thing]
    found = [inspect.unwrap(getattr(value, "fget", value)) for value in values]
    found = [f for f in found if isinstance(f, types.FunctionType) and _ours(f)]
    return [f for f in found if f.__code__.co_filename != "<string>"]


def _used(thing, node: ast.AST) -> dict[str, object]:
    """What the names in its source mean, as far as they lead out of it.

    Only what the functions hold themselves is looked at: nothing else of a notebook reaches a worker process.
    """
    used = {}
    said = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}  # not what only a guard asks for
    for function in _functions(thing):
        code = function.__code__
        cells = zip(code.co_freevars, function.__closure__ or (), strict=True)
        names = function.__globals__ | {name: cell.cell_contents for name, cell in cells}
        loaded = {*_loaded(code), *code.co_freevars} & said - {"__class__"}
        used |= {name: names[name] for name in loaded if name in names}
        used[f"{function.__name__}()"] = (function.__defaults__, function.__kwdefaults__)
    if isinstance(thing, type):
        used |= {base.__name__: base for base in thing.__bases__}
        own = {name: value for name, value in vars(thing).items() if not name.startswith("__")}
        used |= {name: value for name, value in own.items() if not hasattr(value, "__get__")}
    parts = list(ast.walk(node))[::-1]  # in `course_lib.masks.causal_mask`, the module before the function
    for part in (part for part in parts if isinstance(part, ast.ImportFrom)):
        if (part.module or "").startswith("course_lib"):
            module = importlib.import_module(part.module)
            for alias in part.names:
                submodule = f"{part.module}.{alias.name}"
                found = getattr(module, alias.name, None) or importlib.import_module(submodule)
                used[alias.asname or alias.name] = found
    for part in (part for part in parts if isinstance(part, ast.Attribute)):
        module = used.get(ast.unparse(part.value))
        if isinstance(module, types.ModuleType) and module.__name__.startswith("course_lib"):
            used[ast.unparse(part)] = getattr(module, part.attr)
    return {name: value for name, value in used.items() if not isinstance(value, types.ModuleType)}


def _loaded(code: types.CodeType) -> set[str]:
    """Global names that code looks up, and the functions in it; variables that they share are not among them."""
    inner = [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]
    here = {step.argval for step in dis.get_instructions(code) if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    return here.union(*map(_loaded, inner))


def _source(thing) -> ast.AST:
    """Its syntax tree."""
    if isinstance(thing, type) and thing.__module__ != "__main__":
        files = [sys.modules[thing.__module__].__file__]
    else:  # a notebook's class without methods does not know its cell, so all cells are looked at
        cells = [name for name, entry in linecache.cache.items() if len(entry) == 4 and entry[1] is None]
        files = [function.__code__.co_filename for function in _functions(thing)] or cells[::-1]
    for file in files:
        node = _find(_parse("".join(linecache.getlines(file))), thing.__qualname__)
        if node is not None:
            return node
    raise ValueError(f"the source of {thing.__qualname__} cannot be found; define it in a cell or a file")


_parse = functools.lru_cache(maxsize=64)(ast.parse)


def _find(tree: ast.AST, qualified: str) -> ast.AST | None:
    """The last definition of that name: in a cell or a module the last one counts."""
    for name in qualified.replace("<locals>.", "").split("."):
        tree = next((node for node in reversed(list(_definitions(tree))) if node.name == name), None)
        if tree is None:
            return None
    return tree


def _definitions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.ClassDef]:
    """Functions and classes, without those inside them."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node
        else:
            yield from _definitions(node)


# ---- guards ----

# What Python itself catches, and goes on: at the end of a loop, in `hasattr`, in a mapping's `get`.
SIGNALS = StopIteration, StopAsyncIteration, GeneratorExit, IndexError, KeyError, AttributeError, ImportError
ASKING = (
    ast.Attribute, ast.BinOp, ast.BoolOp, ast.Compare, ast.Constant, ast.IfExp, ast.List, ast.Name, ast.Set, ast.Slice,
    ast.Subscript, ast.Tuple, ast.UnaryOp,
)  # fmt: skip
QUESTIONS = set(  # functions and methods that change nothing
    "abs bool callable cpu dim endswith equal exists float getattr hasattr int is_complex is_dir is_file "
    "is_floating_point isdigit isfinite isinf isinstance isnan issubclass item items keys len lower numel range repr "
    "round shape size startswith str strip tolist type upper values".split()
)
# The same, but what they are given may be used up by that.
GOING_THROUGH = set("all any enumerate list max min set sorted sum tuple zip".split())


def _catches(node: ast.AST) -> bool:
    """Whether an error may end in it."""
    parts = list(ast.walk(node))
    return any(isinstance(part, ast.ExceptHandler) for part in parts) or any(
        isinstance(part, ast.Name | ast.Attribute) and ast.unparse(part).endswith("suppress") for part in parts
    )


def _kind(error: ast.AST | None) -> ast.Name | None:
    """Which of Python's errors is raised, if it is one that only an `except` catches."""
    kind = error.func if isinstance(error, ast.Call) else error
    found = getattr(builtins, kind.id, None) if isinstance(kind, ast.Name) else None
    plain = isinstance(found, type) and issubclass(found, Exception) and not issubclass(found, SIGNALS)
    return kind if plain else None


def _is_guard(node: ast.AST) -> bool:
    raises = isinstance(node, ast.If) and not node.orelse and all(isinstance(part, ast.Raise) for part in node.body)
    return raises and _kind(node.body[0].exc) is not None and _only_asks(node.test)


def _only_asks(node: ast.AST) -> bool:
    """Whether an expression binds nothing, draws nothing and uses nothing up."""
    if isinstance(node, ast.expr_context | ast.operator | ast.unaryop | ast.boolop | ast.cmpop):
        return True
    gone_through = []
    if isinstance(node, ast.Call):
        parts, name = [*node.args, *(word.value for word in node.keywords)], getattr(node.func, "id", "")
        if isinstance(node.func, ast.Attribute):
            parts, name = [*parts, node.func.value], node.func.attr
        elif name in GOING_THROUGH and not (name in ("max", "min") and len(node.args) > 1):
            gone_through = node.args
        if name not in QUESTIONS | GOING_THROUGH or not (isinstance(node.func, ast.Attribute) or name in dir(builtins)):
            return False
    elif isinstance(node, ast.GeneratorExp | ast.ListComp | ast.SetComp):
        gone_through = [part.iter for part in node.generators]
        parts = [node.elt, *gone_through, *(test for part in node.generators for test in part.ifs)]
    elif isinstance(node, ASKING):
        if isinstance(node, ast.Compare):
            pairs = zip(node.ops, node.comparators, strict=True)
            gone_through = [right for how, right in pairs if isinstance(how, ast.In | ast.NotIn)]
        parts = list(ast.iter_child_nodes(node))
    else:
        return False
    return all(map(_only_asks, parts)) and all(map(_lasts, gone_through))


def _lasts(node: ast.AST) -> bool:
    """Whether it is surely there after a loop over it: a constant by its name, or made just for the loop."""
    return node.id.isupper() if isinstance(node, ast.Name) else not isinstance(node, ast.Attribute | ast.Subscript)


class _Unguarded(ast.NodeTransformer):
    def visit_If(self, node):  # noqa: N802
        return None if _is_guard(node) else self.generic_visit(node)

    def visit_Raise(self, node):  # noqa: N802
        kind = _kind(node.exc)
        return ast.Raise(kind) if kind else node


@functools.lru_cache(maxsize=4096)
def _without_guards(definition: ast.AST) -> ast.AST:
    """A copy without guards, and without what errors say."""
    return _Unguarded().visit(copy.deepcopy(definition))


# ---- spelling ----

FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
COMPREHENSIONS = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
# Where a variable's name stands in what binds or reads it.
VARIABLES = {ast.Name: "id", ast.ExceptHandler: "name", ast.MatchAs: "name", ast.MatchStar: "name"}
VARIABLES[ast.MatchMapping] = "rest"
SEE_NAMES = {"locals", "vars", "dir", "eval", "exec", "globals"}


@functools.lru_cache(maxsize=4096)
def _spelled(definition: ast.AST) -> str:
    return Spelling(definition).of(definition, {})


class Spelling:
    """A syntax tree as text, the same in every version of Python; without docstrings and decorators.

    Local variables are numbered. Parameters are not, since a caller may name them.
    """

    def __init__(self, definition: ast.AST):
        self.numbers = itertools.count()
        self.kept = set()  # names that are seen from elsewhere, in whichever scope
        for node in ast.walk(definition):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                self.kept.add(node.name)
            if isinstance(node, ast.ClassDef):
                self.kept.update(_stored(node.body))
            elif isinstance(node, ast.alias):
                self.kept.add((node.asname or node.name).split(".")[0])
            elif isinstance(node, ast.Global | ast.Nonlocal):
                self.kept.update(node.names)
            elif isinstance(node, ast.NamedExpr):  # in a comprehension it belongs to the function around that
                self.kept.add(node.target.id)
        names = {node.id for node in ast.walk(definition) if isinstance(node, ast.Name)}
        self.kept |= names if names & SEE_NAMES else set()

    def of(self, node, names: dict[str, str]) -> str:
        """The text of a node, or of a list of them; `names` has the number of each local variable."""
        if isinstance(node, list):
            said = [n for n in node if not (isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant))]
            return "[" + " ".join(self.of(n, names) for n in said) + "]"
        if not isinstance(node, ast.AST):
            return repr(node)
        if isinstance(node, ast.JoinedStr):  # some versions put empty pieces into an f-string
            node = ast.JoinedStr([piece for piece in node.values if getattr(piece, "value", None) != ""])
        inner = names
        if isinstance(node, FUNCTIONS):
            given = [part.arg for part in ast.walk(node.args) if isinstance(part, ast.arg)]
            inner = self._numbered(names, [] if isinstance(node, ast.Lambda) else node.body, given)
        elif isinstance(node, COMPREHENSIONS):
            inner = self._numbered(names, [part.target for part in node.generators])
        parts = []
        for field, value in ast.iter_fields(node):
            if value in (None, []) or field in ("decorator_list", "kind", "type_comment"):
                continue
            if field == VARIABLES.get(type(node)):
                value = names.get(value, value)
            if isinstance(node, COMPREHENSIONS) and field == "generators":
                first = self.of(value[0].iter, names)  # it does not see the variables
                parts.append(f"first={first}")
                value = [ast.comprehension(value[0].target, None, value[0].ifs, value[0].is_async), *value[1:]]
            sees = field == "body" or isinstance(node, COMPREHENSIONS)
            parts.append(f"{field}={self.of(value, inner if sees else names)}")
        return f"{type(node).__name__}({' '.join(parts)})"

    def _numbered(self, names: dict[str, str], binds: list[ast.AST], given: Iterable[str] = ()) -> dict[str, str]:
        own = [name for name in _stored(binds) if name not in self.kept and name not in given]
        return names | {name: name for name in given} | {name: str(next(self.numbers)) for name in own}


def _stored(nodes: Iterable[ast.AST]) -> list[str]:
    """The variables that these bind, in their order; what has variables of its own is left out."""
    found = {}
    for node in nodes:
        if type(node) in VARIABLES and not isinstance(getattr(node, "ctx", None), ast.Load):
            found[getattr(node, VARIABLES[type(node)])] = None
        if not isinstance(node, FUNCTIONS | COMPREHENSIONS | ast.ClassDef):
            found |= dict.fromkeys(_stored(ast.iter_child_nodes(node)))
    return [name for name in found if name is not None]
