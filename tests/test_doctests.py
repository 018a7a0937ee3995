"""Every example in a docstring of the library runs and gives what it says."""

import ast
import doctest
from pathlib import Path

import library
import pytest


def examples(source, module):
    """The examples of each docstring, as doctest understands them.

    Doctest's own finder passes over functions with run-time checks around them, as all are here.
    """
    parser = doctest.DocTestParser()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            name = getattr(node, "name", "the module")
            test = parser.get_doctest(ast.get_docstring(node) or "", {}, name, module, 0)
            if test.examples:
                yield test


def failures(test, names):
    test.globs = dict(names)
    said = []
    doctest.DocTestRunner(verbose=False).run(test, out=said.append)
    return "".join(said)


@pytest.mark.parametrize("module", library.modules(), ids=lambda module: module.__name__)
def test_examples_run(module):
    source = Path(module.__file__).read_text(encoding="utf-8")
    found = list(examples(source, module.__name__))
    assert sum(len(test.examples) for test in found) == source.count(">>> ")
    assert "".join(failures(test, vars(module)) for test in found) == ""


def test_a_wrong_example_fails():
    (test,) = examples('def f():\n    """\n    >>> 1 + 1\n    3\n    """', "a module")
    assert "Expected:\n    3\nGot:\n    2" in failures(test, {})
