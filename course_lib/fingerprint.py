"""A hash of code and settings: equal while what a function computes is spelled the same.

It covers the function, every function, class and constant of the course or the notebook that it refers to
(and they in turn), and any data given with it. Comments, docstrings and line breaks do not count; packages
from outside count by name only.
"""

import ast
import dataclasses
import functools
import hashlib
import io
import linecache
import sys
import textwrap
import tokenize
import types


def fingerprint(*things) -> str:
    """16 hexadecimal digits for the things together: functions, classes, `functools.partial`, plain data.

    >>> fingerprint(len, {"epochs": 8}) == fingerprint(len, {"epochs": 8}) != fingerprint(len, {"epochs": 9})
    True
    """
    seen: dict[str, str] = {}
    described = [_describe(thing, seen) for thing in things]
    text = "\n".join([*described, *(f"{name}: {source}" for name, source in sorted(seen.items()))])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _ours(thing) -> bool:
    module = getattr(thing, "__module__", None) or ""
    return module == "__main__" or module.split(".")[0] == "course_lib"


def _describe(thing, seen: dict[str, str]) -> str:
    thing = getattr(thing, "__wrapped__", thing)
    if isinstance(thing, functools.partial):
        return _describe((thing.func, thing.args, thing.keywords), seen)
    if isinstance(thing, types.FunctionType | type) and _ours(thing):
        name = f"{thing.__module__}.{thing.__qualname__}"
        if name not in seen:
            seen[name] = ""  # recursion ends here
            tree, seen[name] = _spelling(thing)
            names = _global_names(thing)
            used = sorted({spelled for node in ast.walk(tree) if (spelled := _dotted(node, names))})
            seen[name] += "".join(
                f"; {spelled} = {_describe(_resolve(spelled, names), seen)}" for spelled in used
            )
        return name
    if hasattr(thing, "__qualname__"):
        return f"{thing.__module__}.{thing.__qualname__}"
    if hasattr(thing, "fingerprint"):
        return thing.fingerprint
    if dataclasses.is_dataclass(thing):
        return f"{type(thing).__name__}{_describe(vars(thing), seen)}"
    if isinstance(thing, dict):
        return "{" + ", ".join(f"{_describe(k, seen)}: {_describe(v, seen)}" for k, v in thing.items()) + "}"
    if isinstance(thing, list | tuple):
        return "[" + ", ".join(_describe(item, seen) for item in thing) + "]"
    if isinstance(thing, set | frozenset):
        return "{" + ", ".join(sorted(_describe(item, seen) for item in thing)) + "}"
    if isinstance(thing, str | int | float | bool | None):
        return repr(thing)
    return f"a {type(thing).__name__}"


def _functions(thing) -> list[types.FunctionType]:
    """The function itself, or the methods that a class defines."""
    if isinstance(thing, types.FunctionType):
        return [thing]
    methods = [getattr(value, "__wrapped__", value) for value in vars(thing).values()]
    return [m for m in methods if isinstance(m, types.FunctionType) and m.__module__ == thing.__module__]


def _global_names(thing) -> dict:
    """What the names in its source mean: globals, and the variables of an enclosing function."""
    names = dict(vars(sys.modules[thing.__module__])) if isinstance(thing, type) else {}
    for function in _functions(thing):
        cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        names |= function.__globals__ | {
            name: cell.cell_contents for name, cell in cells if name != "__class__"
        }
    return names


def _dotted(node: ast.AST, names: dict) -> str | None:
    """`name` or `module.name` where that leads out of the source; None for anything else."""
    if isinstance(node, ast.Name) and node.id in names and not isinstance(names[node.id], types.ModuleType):
        return node.id
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        module = names.get(node.value.id)
        if isinstance(module, types.ModuleType) and module.__name__.startswith("course_lib"):
            return f"{node.value.id}.{node.attr}"
    return None


def _resolve(spelled: str, names: dict):
    first, *rest = spelled.split(".")
    return functools.reduce(getattr, rest, names[first])


def _spelling(thing) -> tuple[ast.AST, str]:
    """Its syntax tree, and its source without comments, docstrings and white space."""
    files = [
        getattr(sys.modules[thing.__module__], "__file__", None),
        *(f.__code__.co_filename for f in _functions(thing)),
    ]
    lines = linecache.getlines(files[0] if thing.__module__ != "__main__" else files[-1])
    node = _find(_parse(tuple(lines)), thing.__qualname__)
    if node is None:
        raise ValueError(f"the source of {thing.__qualname__} cannot be found; define it in a cell or a file")
    kept = lines[node.lineno - 1 : node.end_lineno]
    for inner in ast.walk(node):
        if (
            isinstance(inner, ast.FunctionDef | ast.ClassDef)
            and ast.get_docstring(inner, clean=False) is not None
        ):
            for line in range(inner.body[0].lineno, inner.body[0].end_lineno + 1):
                kept[line - node.lineno] = "\n"
    text = textwrap.dedent("".join(kept))
    for token in reversed([t for t in _tokens(text) if t.type == tokenize.COMMENT]):
        rows = text.splitlines(keepends=True)
        rows[token.start[0] - 1] = rows[token.start[0] - 1][: token.start[1]] + "\n"
        text = "".join(rows)
    return node, "".join(text.split())


@functools.lru_cache(maxsize=64)
def _parse(lines: tuple[str, ...]) -> ast.Module:
    return ast.parse("".join(lines))


def _find(tree: ast.AST, qualified: str) -> ast.AST | None:
    """The last definition of that name: in a cell or a module the last one counts."""
    for name in qualified.replace("<locals>.", "").split("."):
        found = [
            node
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name
        ]
        if not found:
            return None
        tree = found[-1]
    return tree


def _tokens(text: str) -> list[tokenize.TokenInfo]:
    return list(tokenize.generate_tokens(io.StringIO(text).readline))
