"""Every example in a docstring of the library runs and gives what it says."""

import ast
import doctest
import importlib
from pathlib import Path

import pytest

import course_lib

FILES = sorted(Path(course_lib.__file__).parent.glob("*.py"))


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


@pytest.mark.parametrize("file", FILES, ids=[file.stem for file in FILES])
def test_examples_run(file):
    source = file.read_text(encoding="utf-8")
    module = importlib.import_module(f"course_lib.{file.stem}".removesuffix(".__init__"))
    found = list(examples(source, file.name))
    assert sum(len(test.examples) for test in found) == source.count(">>> ")
    assert "".join(failures(test, vars(module)) for test in found) == ""


def test_a_wrong_example_fails():
    (test,) = examples('def f():\n    """\n    >>> 1 + 1\n    3\n    """', "a module")
    assert "Expected:\n    3\nGot:\n    2" in failures(test, {})
