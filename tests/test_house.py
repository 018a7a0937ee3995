"""The arrows between the library's modules, and what an import costs."""

import ast
import json
import re
import subprocess
import sys
from functools import cache

import nbformat
import pytest

from course_lib import LAYERS, NOT_IN_LESSONS
from course_lib.checks import engine
from course_lib.files import ROOT

TAUGHT = " ".join(LAYERS.values()).split()
ORDER = [*TAUGHT, *NOT_IN_LESSONS.split()]
LIBRARY = ROOT / "course_lib"
SOURCES = {file.stem: file.read_text(encoding="utf-8") for file in LIBRARY.glob("*.py")}
for package in LIBRARY.glob("*/__init__.py"):
    parts = {
        file.relative_to(package.parent).with_suffix("").as_posix(): file.read_text(encoding="utf-8")
        for file in sorted(package.parent.rglob("*.py"))
    }
    if package.parent.name == "tools":
        SOURCES |= {f"tools.{name}": source for name, source in parts.items() if name != "__init__"}
    else:
        SOURCES[package.parent.name] = "\n".join(parts.values())


@cache
def imported(source):
    """The library's modules that a source imports, at its top or within a function."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        names = []
        if isinstance(node, ast.ImportFrom) and node.level:
            found.add("a relative import")
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        inside = [name.split(".")[1:] for name in names if name.startswith("course_lib.") and "LAYERS" not in name]
        found |= {".".join(path[: 2 if path[0] == "tools" else 1]) for path in inside}
    return found


def forbidden(sources):
    """Imports of a later module, relative ones, and what importing the library alone would bring with it."""
    for module, source in sources.items():
        allowed = {"checks"} if module == "__init__" else {*ORDER[: ORDER.index(module)], module}
        for name in sorted(imported(source) - allowed):
            yield f"{module} imports {name}"


def test_every_module_has_its_place_in_the_order():
    assert sorted(SOURCES) == sorted([*ORDER, "__init__"])


def test_a_module_imports_only_from_those_before_it():
    assert list(forbidden(SOURCES)) == []


def test_the_modules_of_the_checks_engine_import_only_from_those_before_them():
    order = re.search(r"in this order: (.*?)\.\s", engine.__doc__, re.DOTALL)[1].replace("\n", " ").split(", ")
    folder = LIBRARY / "checks" / "engine"
    assert sorted(order) == sorted(file.stem for file in folder.glob("[!_]*.py"))
    for module in order:
        names = re.findall(r"checks\.engine(?:\.| import )(\w+)", (folder / f"{module}.py").read_text(encoding="utf-8"))
        assert set(names) <= set(order[: order.index(module)]), module


@pytest.mark.parametrize(
    ("module", "line", "name"),
    [
        ("masks", "from course_lib.corpus import pad", "corpus"),
        ("corpus", "def f():\n    from course_lib import training", "training"),
        ("toy_french", "from course_lib.corpus import Corpus", "corpus"),
        ("attention", "import course_lib.recurrent as r", "recurrent"),
        ("metrics", "from course_lib import __main__", "__main__"),
        ("claims", "from .widgets import Explorer", "a relative import"),
        ("training", "from course_lib.tools import bench", "tools.bench"),
        ("claims", "import course_lib.tools.lessons as l", "tools.lessons"),
        ("tools.web", "from course_lib.tools.site import build", "tools.site"),
        ("checks", "from course_lib import tools", "tools"),
        ("__init__", "from course_lib import masks", "masks"),
        ("checks", "from course_lib.grading import grade", "grading"),
        ("tools.site", "from course_lib.grading import grade", "grading"),
    ],
)
def test_a_forbidden_import_is_seen(module, line, name):
    assert list(forbidden({**SOURCES, module: line})) == [f"{module} imports {name}"]


def reached(modules):
    """These modules, those that they import, and so on."""
    found = set()
    while modules:
        found |= modules
        modules = set().union(*(imported(SOURCES[module]) for module in modules)) - found
    return found


def test_tools_and_grading_are_what_no_lesson_exercise_or_glossary_block_imports():
    notebooks = [nbformat.read(path, as_version=4) for path in (ROOT / "notebooks").rglob("[0-9]*.ipynb")]
    blocks = [cell.source for notebook in notebooks for cell in notebook.cells if cell.cell_type == "code"]
    for page in (ROOT / "glossary").glob("*.md"):
        blocks += re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    unseen = SOURCES.keys() - reached(set().union(*map(imported, blocks)))
    assert unseen == {*NOT_IN_LESSONS.split(), "__init__"}


def fresh(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_import_course_lib_alone_loads_nothing_heavy():
    loaded = fresh("import course_lib, json, sys; print(json.dumps(list(sys.modules)))")
    assert not {"torch", "numpy", "matplotlib", "IPython"} & set(loaded)


BESIDE_TORCH = f"""
import importlib, json, sys
import torch
before = {{name.partition(".")[0] for name in sys.modules}} | sys.stdlib_module_names
for module in {TAUGHT[: TAUGHT.index("plotting")]}:
    importlib.import_module("course_lib." + module)
print(json.dumps(sorted({{name.partition(".")[0] for name in sys.modules}} - before)))
"""


@pytest.mark.slow
def test_the_library_loads_little_beside_torch():
    assert fresh(BESIDE_TORCH) == ["cloudpickle", "course_lib", "jaxtyping"]
