"""A hash of code and settings: equal while what a function computes is spelled the same.

It covers the function, every function, class and constant of the course or the notebook that it refers to
(and they in turn), and any data given with it. Comments, docstrings, layout and decorators do not count;
packages from outside count by name only. A definition of the course is called by the last part of its module and
its own name, so that a module may move into a folder.
"""

import ast
import dis
import functools
import hashlib
import importlib
import inspect
import linecache
import sys
import types
from collections.abc import Iterator
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


def _describe(thing, seen: dict[str, Definition]) -> str:
    thing = inspect.unwrap(thing)
    if isinstance(thing, functools.partial):
        return _describe((thing.func, thing.args, thing.keywords), seen)
    if isinstance(thing, types.FunctionType | type) and _ours(thing):
        name, module = name_of(thing), thing.__module__
        if name not in seen:
            seen[name] = Definition(module, "")  # recursion ends here
            node = _source(thing)
            source = _spelled(node) + _describe(dict(sorted(_used(thing, node).items())), seen)
            seen[name] = Definition(module, source)
        if seen[name].module != module:
            raise ValueError(f"{seen[name].module} and {module} both define {name}; rename one of the modules")
        return name
    if hasattr(thing, "__qualname__"):
        package = (thing.__module__ or "").split(".")[0]  # where in it differs from version to version
        return f"{package}.{thing.__qualname__}"
    if hasattr(thing, "fingerprint"):
        return thing.fingerprint
    if isinstance(thing, dict):
        return "{" + ", ".join(f"{_describe(k, seen)}: {_describe(v, seen)}" for k, v in thing.items()) + "}"
    if isinstance(thing, list | tuple):
        return "[" + ", ".join(_describe(item, seen) for item in thing) + "]"
    if isinstance(thing, set | frozenset):
        return "{" + ", ".join(sorted(_describe(item, seen) for item in thing)) + "}"
    if hasattr(thing, "tolist"):  # numbers of numpy and torch
        return repr(thing.tolist())
    if isinstance(thing, str | int | float | bytes | range | None):
        return repr(thing)
    return _describe([type(thing), getattr(thing, "__dict__", {})], seen)


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
    for function in _functions(thing):
        code = function.__code__
        cells = zip(code.co_freevars, function.__closure__ or (), strict=True)
        names = function.__globals__ | {name: cell.cell_contents for name, cell in cells}
        loaded = {*_loaded(code), *code.co_freevars} - {"__class__"}
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


@functools.lru_cache(maxsize=4096)
def _spelled(definition: ast.AST) -> str:
    return _spelling(definition)


def _spelling(node) -> str:
    """A syntax tree as text, the same in every version of Python; without docstrings and decorators."""
    if isinstance(node, list):
        said = [n for n in node if not (isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant))]
        return "[" + " ".join(map(_spelling, said)) + "]"
    if not isinstance(node, ast.AST):
        return repr(node)
    if isinstance(node, ast.JoinedStr):  # some versions put empty pieces into an f-string
        node = ast.JoinedStr([piece for piece in node.values if getattr(piece, "value", None) != ""])
    parts = [
        f"{name}={_spelling(value)}"
        for name, value in ast.iter_fields(node)
        if value not in (None, []) and name not in ("decorator_list", "kind", "type_comment")
    ]
    return f"{type(node).__name__}({' '.join(parts)})"
