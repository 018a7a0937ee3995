"""Makes the learner's workbook: lessons without outputs, exercises with blanks; and never overwrites anything in it."""

import ast
import hashlib
import json
import re
import textwrap
from pathlib import Path

import nbformat

from course_lib.files import ROOT
from course_lib.tools import lessons

FOLDER = ROOT / "workbook"
VERSIONS = ".versions.json"  # by file: a hash of what was last put there
REGION = re.compile(r"^([ \t]*)### BEGIN (SOLUTION|HIDDEN TESTS)$.*?^[ \t]*### END \2$\n?", re.MULTILINE | re.DOTALL)


def make(folder=None):
    """Puts lessons, exercises and the start page into the workbook; returns names of what is new, and of what is newer.

    A file that is already there stays as it is. If its original has changed since, the newer version is put beside it.
    """
    folder = folder or FOLDER
    folder.mkdir(exist_ok=True)
    kept = folder / VERSIONS
    versions = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
    new, newer = [], []
    for name, text in contents():
        version = hashlib.sha256(text.encode()).hexdigest()[:16]
        file = folder / name
        if versions.get(name) == version and file.exists():
            continue
        if file.exists():
            file = _beside(file)
        (newer if file.name != Path(name).name else new).append(str(file.relative_to(folder)))
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        versions[name] = version
    kept.write_text(json.dumps(versions, indent=1) + "\n", encoding="utf-8")
    return new, newer


def _beside(file):
    """A name for a newer version that no file has yet."""
    numbers = ["", *(f"_{number}" for number in range(2, 1000))]
    names = (file.with_name(f"{file.stem}_newer{number}{file.suffix}") for number in numbers)
    return next(name for name in names if not name.exists())


def contents():
    """Every file of a fresh workbook: its name in it, and its text."""
    yield "progress.json", "{}\n"
    yield "start.md", (lessons.NOTEBOOKS / "start.md").read_text(encoding="utf-8")
    for path in lessons.find():
        yield path.name, nbformat.writes(learner_version(nbformat.read(path, as_version=4))) + "\n"
    for path in sorted((lessons.NOTEBOOKS / "exercises").glob("*.ipynb")):
        yield f"exercises/{path.name}", nbformat.writes(student_version(nbformat.read(path, as_version=4))) + "\n"


def learner_version(notebook):
    """The lesson with nothing run, and without the lecturer's notes."""
    notebook.cells = [cell for cell in notebook.cells if lessons.slide_type(cell) != "notes"]
    for cell in notebook.cells:
        if lessons.slide_type(cell) == "-":  # a mark that JupyterLab's decks take for "not on any slide"
            cell.metadata.pop("slideshow", None)
    return without_outputs(notebook)


def without_outputs(notebook):
    """The notebook with nothing run and no widget saved."""
    notebook.metadata.pop("widgets", None)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    return notebook


def student_version(notebook):
    """The notebook with a blank in place of each solution, and without hidden tests; nbgrader's marks tell where."""
    for cell in without_outputs(notebook).cells:
        cell.source = REGION.sub(_blank, cell.source).rstrip("\n")
        if "### BEGIN" in cell.source or "### END" in cell.source:
            raise ValueError(f"cell {cell.id!r}: a mark ### BEGIN or ### END lacks its other half")
    return notebook


def _blank(region):
    """What stands in the region's place: for values that are asked for, `name = ...`; else the line that says so."""
    indent, kind = region.groups()
    if kind == "HIDDEN TESTS":
        return ""
    statements = ast.parse(textwrap.dedent("".join(region[0].splitlines(keepends=True)[1:-1]))).body
    if not indent and all(isinstance(statement, ast.Assign) for statement in statements):
        names = [ast.unparse(target) for statement in statements for target in statement.targets]
        return "".join(f"{name} = ...  # YOUR ANSWER HERE\n" for name in names)
    return f"{indent}# YOUR CODE HERE\n{indent}raise NotImplementedError()\n"
