"""The arrows between the library's modules, and what an import costs."""

import ast
import json
import statistics
import subprocess
import sys
from pathlib import Path

import pytest

import course_lib

FLOORS = [
    ["masks", "attention_map", "toy_french", "corpus", "fingerprint"],
    ["attention", "positions", "layers"],
    ["recurrent", "transformer"],
    ["processes", "decoding", "metrics", "training"],
    ["plotting"],
    ["claims", "glossary", "checks", "widgets"],
]
OUTSIDE = {
    "__init__": {"checks"},
    "lessons": {"claims"},
    "pages": {"claims", "glossary", "lessons"},
    "bench": {"attention", "corpus", "positions", "recurrent", "training", "transformer"},
    "workbook": {"lessons"},
    "web": set(),
    "site": {"claims", "glossary", "lessons", "slides", "web", "workbook"},
    "slides": {"lessons", "web"},
    "grading": {"checks", "lessons", "workbook"},
    "environment": set(),
    "__main__": {"bench", "environment", "grading", "lessons", "pages", "site", "slides", "workbook"},
}
LIBRARY = Path(course_lib.__file__).parent
SOURCES = {file.stem: file.read_text(encoding="utf-8") for file in LIBRARY.glob("*.py")}
# A package is one module of the house; what its parts import of each other is its own affair.
for package in LIBRARY.glob("*/__init__.py"):
    parts = sorted(package.parent.glob("*.py"))
    SOURCES[package.parent.name] = "\n".join(part.read_text(encoding="utf-8") for part in parts)


def imported(source):
    """The library's modules that a source imports, at its top or within a function."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.level:
            found.add("a relative import")
        elif isinstance(node, ast.ImportFrom) and node.module == "course_lib":
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module.startswith("course_lib."):
            found.add(node.module.split(".")[1])
        elif isinstance(node, ast.Import):
            found |= {alias.name.split(".")[1] for alias in node.names if alias.name.startswith("course_lib.")}
    return found


def forbidden(sources):
    """Imports that lead upward, to a later module of the same floor, or out of the house."""
    order = [module for floor in FLOORS for module in floor]
    for module, source in sources.items():
        allowed = OUTSIDE[module] if module in OUTSIDE else set(order[: order.index(module)])
        for name in sorted(imported(source) - allowed - {module}):
            yield f"{module} imports {name}"


def test_every_module_has_its_floor():
    assert SOURCES.keys() == {module for floor in FLOORS for module in floor} | OUTSIDE.keys()


def test_nothing_imports_upward_and_there_are_no_circles():
    assert list(forbidden(SOURCES)) == []


@pytest.mark.parametrize(
    ("module", "line", "name"),
    [
        ("masks", "from course_lib.corpus import pad", "corpus"),
        ("corpus", "def f():\n    from course_lib import training", "training"),
        ("toy_french", "from course_lib.corpus import Corpus", "corpus"),
        ("attention", "import course_lib.recurrent as r", "recurrent"),
        ("metrics", "from course_lib import __main__", "__main__"),
        ("claims", "from .widgets import Explorer", "a relative import"),
        ("lessons", "from course_lib import training", "training"),
        ("training", "from course_lib import bench", "bench"),
        ("__init__", "from course_lib import masks", "masks"),
        ("checks", "from course_lib.grading import grade", "grading"),
        ("grading", "from course_lib.widgets import heatmap", "widgets"),
    ],
)
def test_a_forbidden_import_is_seen(module, line, name):
    assert list(forbidden({**SOURCES, module: line})) == [f"{module} imports {name}"]


def fresh(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_import_course_lib_alone_loads_nothing_heavy():
    loaded = fresh("import course_lib, json, sys; print(json.dumps(list(sys.modules)))")
    assert not {"torch", "numpy", "matplotlib", "IPython"} & set(loaded)


TIMED = f"""
import json, time
started = time.process_time()
import torch
with_torch = time.process_time()
import importlib
for module in {[module for floor in FLOORS[:4] for module in floor]}:
    importlib.import_module("course_lib." + module)
print(json.dumps((time.process_time() - with_torch) / (with_torch - started)))
"""


def test_the_library_costs_at_most_a_tenth_more_than_torch():
    """Both are measured in one process, so a busy machine slows both; the median of three is judged."""
    assert statistics.median(fresh(TIMED) for _ in range(3)) <= 0.10
