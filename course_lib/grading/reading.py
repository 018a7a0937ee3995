"""Reads what a learner's code binds, what it takes from elsewhere, and what it leaves blank. Nothing of it runs."""

import ast
import builtins
import re
import symtable
from dataclasses import dataclass
from functools import lru_cache

NAME = re.compile(r"[A-Za-z_]\w*")
MAGIC = re.compile(r"^([ \t]*)[%!].*", re.MULTILINE)  # a line for IPython, which Python can't read
LARGEST = 20_000  # characters of a cell; a parser makes a hundred bytes of each


@dataclass(frozen=True)
class Code:
    """Describes one cell by the names outside its functions.

    Args:
        bound: names that it gives a value, imports included.
        imported: those of them that it imports.
        used: names that it takes from other cells.
        blank: names that it binds without an answer, such as a function with only `pass`.
        is_python: whether it could be read. If not, it binds nothing; if it was too long, every name counts as bound.
    """

    bound: frozenset[str] = frozenset()
    imported: frozenset[str] = frozenset()
    used: frozenset[str] = frozenset()
    blank: frozenset[str] = frozenset()
    is_python: bool = True


@lru_cache(4_000)
def read(source: str) -> Code:
    if len(source) > LARGEST:
        return Code(frozenset(NAME.findall(source)), is_python=False)
    for text in (source, MAGIC.sub(r"\1pass", source)):
        try:
            return _read(ast.parse(text), symtable.symtable(text, "cell", "exec"))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            pass
    return Code(is_python=False)


def _read(tree: ast.Module, table: symtable.SymbolTable) -> Code:
    bound, imported, used, blank = set(), set(), set(), set()
    tables = [table]
    while tables:
        here = tables.pop()
        tables += here.get_children()
        for symbol in here.get_symbols():
            if here is not table and not symbol.is_global():
                continue
            if symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace():
                bound.add(symbol.get_name())
            if symbol.is_imported():
                imported.add(symbol.get_name())
            if symbol.is_referenced():
                used.add(symbol.get_name())
    for statement in tree.body:
        now, is_blank = _bound_by(statement)
        blank = blank | now if is_blank else blank - now
    for node in ast.walk(tree):  # Model.forward = forward also changes Model
        if isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store):
            bound |= {name.id for name in ast.walk(node.value) if isinstance(name, ast.Name)}
    return Code(*map(frozenset, (bound, imported, used - bound - vars(builtins).keys(), blank)))


def _bound_by(statement: ast.stmt) -> tuple[set[str], bool]:
    """Returns the names that a statement binds, and whether it gives them no answer."""
    match statement:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            return {statement.name}, _is_blank(statement.body)
        case ast.ClassDef():
            methods = [part for part in statement.body if isinstance(part, ast.FunctionDef) and part.name != "__init__"]
            empty = [_is_blank(method.body) for method in methods] or [_is_blank(statement.body)]
            return {statement.name}, all(empty)
        case ast.Assign(value=value) | ast.AnnAssign(value=value):
            value = value.body if isinstance(value, ast.Lambda) else value
            return _stored(statement), value is None or _is_nothing(value)
    return _stored(statement), False


def _stored(statement: ast.stmt) -> set[str]:
    nodes = [*ast.walk(statement)]
    names = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return names | {node.asname or node.name for node in nodes if isinstance(node, ast.alias)}


def _is_blank(body: list[ast.stmt]) -> bool:
    """Returns whether a body does nothing: pass, ..., a docstring, or a return of nothing."""
    return all(
        isinstance(one, ast.Pass)
        or (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))
        or (isinstance(one, ast.Return) and (one.value is None or _is_nothing(one.value)))
        for one in body
    )


def _is_nothing(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value in (None, ...)
