"""A hash of code and settings, which stays the same while the code that computes a result stays the same.

It covers the function, the data given with it, and every function, class and constant that it refers to, directly or
not, in the course, the notebook or a file of your own. An object counts with everything it holds. Comments,
docstrings, layout and decorators do not count, and installed packages count by name only. A definition of the course
is named by the last part of its module and its own name, so a module may move into a folder.

These do not count either: names of local variables, the text of an error, and a guard, which is an `if` without `else`
that only raises. A guard changes no result unless something catches its error. So guards and errors do count in a
definition with an `except` and in everything it uses. A guard whose test may change something also counts, and so does
an error that Python itself catches, such as StopIteration.
"""

import ast
import builtins
import copy
import copyreg
import dis
import functools
import hashlib
import importlib
import inspect
import itertools
import linecache
import secrets
import sys
import sysconfig
import types
import warnings
import weakref
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePath
from typing import NamedTuple

from course_lib.files import ROOT

# Modules that start, keep, find and show runs; they do not change results, so a fingerprint leaves them out.
HOW = ("attention_map", "cache", "files", "fingerprint", "processes")


UNSEEN = "unseen-"
PLAIN = bool, int, float, str, bytes, range, types.NoneType


class Unseen(ValueError):
    """Raised for a thing that cannot be distinguished from others of its kind."""


def fingerprint(*things) -> str:
    """Returns 16 hexadecimal digits for functions, methods, classes, `functools.partial`, data and objects together.

    A thing that cannot be compared, such as an open file or a generator, equals nothing, not even itself. Then a
    warning says so, and the result is `UNSEEN` with random digits.

    >>> fingerprint(len, {"epochs": 8}) == fingerprint(len, {"epochs": 8}) != fingerprint(len, {"epochs": 9})
    True
    """
    seen = Seen()
    try:
        described = [_describe(thing, seen) for thing in things]
    except Unseen as error:
        if str(error):
            warnings.warn(f"{error}. So nothing made with it is read from the cache.", stacklevel=2)
        return UNSEEN + secrets.token_hex(8)
    text = "\n".join([*described, *(f"{name}: {seen[name].source}" for name in sorted(seen))])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _ours(thing) -> bool:
    parts = (getattr(thing, "__module__", None) or "").split(".")
    if parts[0] in ("__main__", "course_lib"):
        return parts[-1] not in HOW
    if isinstance(thing, types.FunctionType):
        return _your_own(thing.__code__.co_filename)
    return _your_own(getattr(sys.modules.get(".".join(parts)), "__file__", None))


@functools.cache
def _your_own(file: str | None) -> bool:
    """Says whether a file is the reader's own, not Python's or an installed package's."""
    paths, parts = sysconfig.get_paths(), Path(file or "").parts
    inside = any(
        Path(file or "").is_relative_to(paths[name]) for name in ("stdlib", "platstdlib", "purelib", "platlib")
    )
    return bool(file) and not (inside or "site-packages" in parts or "dist-packages" in parts or file[0] == "<")


def name_of(thing) -> str:
    """Names a function or class of the course or the notebook, independent of its module's folder."""
    package, *parts = (thing.__module__ or "").split(".")
    return ".".join([package, *parts[-1:], thing.__qualname__])


class Definition(NamedTuple):
    """A function or class, and its code as text, with the things it refers to."""

    thing: types.FunctionType | type
    source: str


class Seen(dict[str, Definition]):
    """Definitions by name, the name of each thing, and the objects that contain the current one."""

    def __init__(self):
        self.names: dict[tuple[int, bool], str] = {}
        self.around: list = []


def _describe(thing, seen: Seen, caught: bool = False) -> str:
    """Describes a thing as text; `caught` says that something may catch its errors, so errors count."""
    if isinstance(thing, types.MethodType):
        return _describe([thing.__func__, thing.__self__], seen, caught)
    if isinstance(thing, types.BuiltinMethodType | types.MethodWrapperType):
        if not isinstance(thing.__self__, types.ModuleType | type | None):
            return _describe([thing.__name__, thing.__self__], seen, caught)
    thing = inspect.unwrap(thing, stop=_is_of_your_class)
    if isinstance(thing, types.FunctionType | type) and _ours(thing):
        return _define(thing, seen, caught)
    if not _is_of_your_class(thing):
        if hasattr(thing, "__qualname__") and callable(thing):  # a generator has a __qualname__, too
            package = (getattr(thing, "__module__", None) or "").split(".")[0]  # the submodule differs by version
            return f"{package}.{thing.__qualname__}"
        if isinstance(told := getattr(thing, "fingerprint", None), str):
            if told.startswith(UNSEEN):
                raise Unseen
            return told
    if type(thing).__module__.split(".")[0] in ("numpy", "torch") and hasattr(thing, "tolist"):
        return _numbers(thing)
    if type(thing) in PLAIN:
        return repr(thing)
    around = [place for place, one in enumerate(seen.around) if one is thing]
    if around:  # the thing contains itself
        return f"what is {around[0]} deep"
    seen.around.append(thing)
    try:
        return _held(thing, seen, caught)
    finally:
        seen.around.pop()


def _is_of_your_class(thing) -> bool:
    return _ours(type(thing)) and not type(thing).__module__.startswith("course_lib.")


def _numbers(array) -> str:
    """Describes an array by its numbers, its type unless it is a usual one, and an unusual requires_grad."""
    kind, is_tensor = str(array.dtype).removeprefix("torch."), hasattr(array, "requires_grad")
    shown = "" if kind in ("float32" if is_tensor else "float64", "int64", "bool") else f" {kind}"
    learned = is_tensor and array.requires_grad
    try:
        return repr(array.tolist()) + shown + ("" if learned == _is_parameter(array) else f" learned: {learned}")
    except (NotImplementedError, RuntimeError):
        raise Unseen(f"one {type(array).__name__} without plain numbers cannot be told from another") from None


def _is_parameter(array) -> bool:
    return type(array).__name__ == "Parameter"


def _define(thing: types.FunctionType | type, seen: Seen, caught: bool) -> str:
    """Adds a definition to `seen` and returns its name."""
    if (id(thing), caught) in seen.names:
        return seen.names[id(thing), caught]
    node, asked = _source(thing), caught
    caught = caught or _catches(node)
    first = name = name_of(thing) + (", whose errors are caught" if caught else "")
    number = 1
    while name in seen and seen[name].thing is not thing:
        other = seen[name].thing.__module__
        if other != thing.__module__:
            raise ValueError(f"{other} and {thing.__module__} both define {first}; rename one of the modules")
        number += 1  # several definitions of one name, such as the closures that a function returns
        name = f"{first}, no. {number}"
    seen.names[id(thing), asked] = name
    if name not in seen:
        seen[name] = Definition(thing, "")  # recursion ends here
        node = node if caught else _without_guards(node)
        used = dict(sorted(_used(thing, node).items()))
        seen[name] = Definition(thing, _spelled(node) + _describe(used, seen, caught))
    return name


def _held(thing, seen: Seen, caught: bool) -> str:
    """Describes the content of a container or an object."""
    if isinstance(thing, functools.partial):
        return _describe((thing.func, thing.args, thing.keywords), seen, caught)
    if isinstance(thing, weakref.ref):
        return _describe(thing(), seen, caught)
    if isinstance(thing, PurePath):  # the course's folder differs by machine
        return str(thing.relative_to(ROOT) if thing.is_relative_to(ROOT) else thing)
    if type(thing) is dict:
        items = ((_describe(key, seen, caught), _describe(value, seen, caught)) for key, value in thing.items())
        return "{" + ", ".join(f"{key}: {value}" for key, value in items) + "}"
    if type(thing) in (list, tuple):
        return "[" + ", ".join(_describe(item, seen, caught) for item in thing) + "]"
    if type(thing) in (set, frozenset):
        return "{" + ", ".join(sorted(_describe(item, seen, caught) for item in thing)) + "}"
    return _describe([type(thing), getattr(thing, "__dict__", {}), *_hidden(thing)], seen, caught)


def _hidden(thing) -> list:
    """Returns what an object holds outside its `__dict__`, in slots or in C, as pickle finds it."""
    kind, held = type(thing), object.__getstate__(thing)
    try:
        told = copyreg.dispatch_table.get(kind, lambda one: one.__reduce_ex__(2))(thing)
    except Exception:
        raise Unseen(f"one {kind.__name__} cannot be told from another: {thing!r:.80}") from None
    if isinstance(told, str):
        return [told]
    made, given, state, *items = [*told, None][:5]
    usual = made is copyreg.__newobj__ and len(given) == 1
    more = [] if usual else [made, *(one for one in given if one is not kind)]
    more += [list(each) for each in items if each is not None]
    if not usual or kind.__getstate__ is not object.__getstate__:
        more.append(state)
    return [*more, held[1]] if isinstance(held, tuple) else more


def _functions(thing) -> list[types.FunctionType]:
    """Returns the function itself, or the methods that a class defines, without those a dataclass generates."""
    values = vars(thing).values() if isinstance(thing, type) else [thing]
    made = property | functools.cached_property | functools.partialmethod
    parts = [
        [getattr(value, part, None) for part in ("fget", "fset", "fdel", "func")]
        if isinstance(value, made)
        else [value]
        for value in values
    ]
    found = [inspect.unwrap(function) for several in parts for function in several]
    found = [f for f in found if isinstance(f, types.FunctionType) and _ours(f)]
    return [f for f in found if f.__code__.co_filename != "<string>"]


def _used(thing, node: ast.AST) -> dict[str, object]:
    """Returns the things that the names in a definition's source refer to outside of it.

    It looks only at what the functions themselves hold, since nothing else of a notebook reaches a worker process.
    """
    used = {}
    said = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}  # without names that only guards use
    for function in _functions(thing):
        code = function.__code__
        cells = zip(code.co_freevars, function.__closure__ or (), strict=True)
        names = function.__globals__ | {name: cell.cell_contents for name, cell in cells if cell != EMPTY}
        loaded = {*_loaded(code), *code.co_freevars} - {"__class__"}
        used |= {name: names[name] for name in loaded if name in names and (name in said or "__" in name)}
        used[f"{function.__name__}()"] = (function.__defaults__, function.__kwdefaults__)
        attributes = {name: value for name, value in vars(function).items() if not name.startswith("__")}
        used |= {f"{function.__name__}.": attributes} if attributes else {}
    if isinstance(thing, type):
        used |= {base.__name__: base for base in thing.__bases__}
        for name, value in vars(thing).items():
            function = inspect.unwrap(value)
            if not hasattr(value, "__get__") or isinstance(value, types.MethodType):
                used |= {} if name.startswith("__") else {name: value}
            elif not isinstance(function, types.FunctionType) or function.__code__.co_filename == "<string>":
                continue
            elif function.__qualname__ != f"{thing.__qualname__}.{name}" and (_ours(function) or name[0] != "_"):
                used[name] = function  # a method that was defined elsewhere
    parts = list(ast.walk(node))[::-1]  # so in `course_lib.masks.causal_mask` the module comes before the function
    for part in parts:
        if isinstance(part, ast.Import):
            for alias in part.names:
                name = alias.asname or alias.name.split(".")[0]
                if module := _module(alias.name if alias.asname else name):
                    used[name] = module
        elif isinstance(part, ast.ImportFrom) and (module := _module(part.module or "")) and _looked_into(module):
            for alias in part.names:
                found = getattr(module, alias.name, None) or _module(f"{part.module}.{alias.name}")
                used[alias.asname or alias.name] = found
    for part in (part for part in parts if isinstance(part, ast.Attribute)):
        module = used.get(ast.unparse(part.value))
        if isinstance(module, types.ModuleType) and _looked_into(module):
            used[ast.unparse(part)] = getattr(module, part.attr, None)
    return {name: value for name, value in used.items() if not isinstance(value, types.ModuleType)}


EMPTY = types.CellType()  # the cell of a variable without a value


def _module(name: str) -> types.ModuleType | None:
    return importlib.import_module(name) if name.startswith("course_lib") else sys.modules.get(name)


def _looked_into(module: types.ModuleType) -> bool:
    return module.__name__.startswith("course_lib") or _your_own(getattr(module, "__file__", None))


def _loaded(code: types.CodeType) -> set[str]:
    """Returns the global names that code and its inner functions look up, without their shared variables."""
    inner = [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]
    here = {step.argval for step in dis.get_instructions(code) if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    return here.union(*map(_loaded, inner))


def _source(thing) -> ast.AST:
    """Returns the syntax tree of a function or class."""
    code = getattr(thing, "__code__", None)
    if code is None and thing.__module__ != "__main__":
        files = [sys.modules[thing.__module__].__file__]
    else:  # a notebook's class without methods does not know its cell, so the search covers all cells
        script = [file] if (file := getattr(sys.modules["__main__"], "__file__", None)) else []
        everywhere = [*reversed(notebook_cells()), *script]
        files = [function.__code__.co_filename for function in _functions(thing)] or everywhere
    lines = {function.__code__.co_firstlineno for function in _functions(thing)}
    for file in files:
        tree = _parse("".join(linecache.getlines(file)))
        if code and code.co_name == "<lambda>":
            found = _lambdas(tree, code)
        else:
            found = _named(tree, (code.co_qualname if code else thing.__qualname__).replace("<locals>.", "").split("."))
        if found:  # the last definition of a name counts, unless line numbers decide
            return next((node for node in found if any(_first(node) <= n <= node.end_lineno for n in lines)), found[0])
    if isinstance(thing, type) and not lines:  # made by a call, such as `namedtuple`, so it has no source
        return ast.Pass()
    raise Unseen(f"the source of {thing.__qualname__} cannot be found; define it in a cell or a file")


_parse = functools.lru_cache(maxsize=64)(ast.parse)


def notebook_cells() -> dict[str, tuple]:
    """Returns the notebook's cells in `linecache`, by file name, as IPython 8 keeps them; IPython 7 adds a time."""
    known = getattr(linecache, "_ipython_cache", ())
    found = {name: entry for name, entry in linecache.cache.items() if len(entry) == 4}
    return {
        name: (size, None, lines, file)
        for name, (size, time, lines, file) in found.items()
        if time is None or name in known
    }


def _first(node: ast.AST) -> int:
    return min(part.lineno for part in [node, *getattr(node, "decorator_list", [])])


def _named(tree: ast.AST, names: list[str]) -> list[ast.AST]:
    """Returns the definitions of that name, the last one first."""
    if not names:
        return [tree]
    found = [node for node in reversed(list(_definitions(tree))) if node.name == names[0]]
    return [inner for node in found for inner in _named(node, names[1:])]


def _lambdas(tree: ast.AST, code: types.CodeType) -> list[ast.Lambda]:
    """Returns the lambda whose body contains the code's positions, since a line may have several."""
    places = [place for place in code.co_positions() if None not in place and place[2:] != (0, 0)]

    def around(body: ast.AST) -> bool:
        start, end = (body.lineno, body.col_offset), (body.end_lineno, body.end_col_offset)
        return all(start <= place[::2] and place[1::2] <= end for place in places)

    found = [node for node in ast.walk(tree) if isinstance(node, ast.Lambda) and node.lineno == code.co_firstlineno]
    found = sorted((node for node in found if around(node.body)), key=lambda node: -node.body.col_offset)
    if not places and len(found) > 1:
        raise Unseen(f"several lambdas begin in line {code.co_firstlineno}; give each a line of its own")
    return found


def _definitions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.ClassDef]:
    """Yields functions and classes, without the ones inside them."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node
        else:
            yield from _definitions(node)


# ---- guards ----

# Errors that Python itself catches: at the end of a loop, in `hasattr`, in a mapping's `get`.
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
# These change nothing either, but they may use up an iterator.
GOING_THROUGH = set("all any enumerate list max min set sorted sum tuple zip".split())


def _catches(node: ast.AST) -> bool:
    """Says whether a definition may catch an error."""
    parts = list(ast.walk(node))
    return any(isinstance(part, ast.ExceptHandler) for part in parts) or any(
        isinstance(part, ast.Name | ast.Attribute) and ast.unparse(part).endswith("suppress") for part in parts
    )


def _kind(error: ast.AST | None) -> ast.Name | None:
    """Returns the name of the built-in error that is raised, if only an `except` catches it."""
    kind = error.func if isinstance(error, ast.Call) else error
    found = getattr(builtins, kind.id, None) if isinstance(kind, ast.Name) else None
    plain = isinstance(found, type) and issubclass(found, Exception) and not issubclass(found, SIGNALS)
    return kind if plain else None


def _is_guard(node: ast.AST) -> bool:
    raises = isinstance(node, ast.If) and not node.orelse and all(isinstance(part, ast.Raise) for part in node.body)
    return raises and _kind(node.body[0].exc) is not None and _only_asks(node.test)


def _only_asks(node: ast.AST) -> bool:
    """Says whether an expression binds nothing, draws no random number and uses up no iterator."""
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
    """Says whether a loop surely doesn't use it up: a constant by its name, or a value made for the loop."""
    return node.id.isupper() if isinstance(node, ast.Name) else not isinstance(node, ast.Attribute | ast.Subscript)


class _Unguarded(ast.NodeTransformer):
    def visit_If(self, node):  # noqa: N802
        return None if _is_guard(node) else self.generic_visit(node)

    def visit_Raise(self, node):  # noqa: N802
        kind = _kind(node.exc)
        return ast.Raise(kind) if kind else node


@functools.lru_cache(maxsize=4096)
def _without_guards(definition: ast.AST) -> ast.AST:
    """Returns a copy without guards and without the texts of errors."""
    return _Unguarded().visit(copy.deepcopy(definition))


# ---- spelling ----

FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
COMPREHENSIONS = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
# The field with the variable's name, for each node that binds or reads one.
VARIABLES = {ast.Name: "id", ast.ExceptHandler: "name", ast.MatchAs: "name", ast.MatchStar: "name"}
VARIABLES[ast.MatchMapping] = "rest"
SEE_NAMES = {"locals", "vars", "dir", "eval", "exec", "globals"}


@functools.lru_cache(maxsize=4096)
def _spelled(definition: ast.AST) -> str:
    return Spelling(definition).of(definition, {})


class Spelling:
    """Turns a syntax tree into text, the same in every version of Python, without docstrings and decorators.

    Local variables become numbers. Parameters keep their names, since a caller may use them.
    """

    def __init__(self, definition: ast.AST):
        self.numbers = itertools.count()
        self.kept = set()  # names that other code may see, whatever their scope
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
        """Returns the text of a node or a list of nodes; `names` has the number of each local variable."""
        if isinstance(node, list):
            said = [n for n in node if not (isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant))]
            return "[" + " ".join(self.of(n, names) for n in said) + "]"
        if not isinstance(node, ast.AST):
            return repr(node)
        if isinstance(node, ast.JoinedStr):  # some versions of Python put empty pieces into an f-string
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
                first = self.of(value[0].iter, names)  # the first iterable doesn't see the loop's variables
                parts.append(f"first={first}")
                value = [ast.comprehension(value[0].target, None, value[0].ifs, value[0].is_async), *value[1:]]
            sees = field == "body" or isinstance(node, COMPREHENSIONS)
            parts.append(f"{field}={self.of(value, inner if sees else names)}")
        return f"{type(node).__name__}({' '.join(parts)})"

    def _numbered(self, names: dict[str, str], binds: list[ast.AST], given: Iterable[str] = ()) -> dict[str, str]:
        own = [name for name in _stored(binds) if name not in self.kept and name not in given]
        return names | {name: name for name in given} | {name: str(next(self.numbers)) for name in own}


def _stored(nodes: Iterable[ast.AST]) -> list[str]:
    """Returns the variables that these nodes bind, in order, without those of inner scopes."""
    found = {}
    for node in nodes:
        if type(node) in VARIABLES and not isinstance(getattr(node, "ctx", None), ast.Load):
            found[getattr(node, VARIABLES[type(node)])] = None
        if not isinstance(node, FUNCTIONS | COMPREHENSIONS | ast.ClassDef):
            found |= dict.fromkeys(_stored(ast.iter_child_nodes(node)))
    return [name for name in found if name is not None]
