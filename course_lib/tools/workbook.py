"""Makes the learner's workbook: lessons without outputs, exercises with blanks. A learner's changes stay."""

import ast
import hashlib
import re
import textwrap

import nbformat

from course_lib import glossary
from course_lib.files import IN_CLONE, read_json, replacing, write_json
from course_lib.tools import lessons

FOLDER = "workbook"  # in the learner's folder
START, QUIZ = "start.md", "quiz.md"
VERSIONS = ".versions.json"  # by file, a hash of what was last written there
SOLUTION, HIDDEN_TESTS = "SOLUTION", "HIDDEN TESTS"  # between the marks ### BEGIN and ### END


def make(folder):
    """Copies lessons, exercises and the start page into the workbook, and a wheel's glossary next to it.

    If an original has changed since, an unchanged copy is updated. A copy that the learner has changed stays, and the
    newer version is written next to it.

    Returns:
        names of new files, of updated files, and of files written next to a learner's.
    """
    kept = folder / VERSIONS
    versions = read_json(kept)
    new, renewed, newer = [], [], []
    for name, text in contents():
        file = folder / name
        if not file.exists():
            new.append(name)
        elif versions.get(name) == _version(text):
            continue
        elif _is_as_put(file, versions.get(name), text):
            renewed.append(name)
        else:
            file = _beside(file)
            newer.append(str(file.relative_to(folder)))
        with replacing(file) as beside:
            beside.write_text(text, encoding="utf-8")
        versions[name] = _version(text)
    write_json(kept, versions)
    if START in renewed:
        from course_lib import checks  # loads torch, which starting the lab doesn't need

        checks.record.show(folder, checks.lessons())
    return new, renewed, newer


def _version(text):
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _is_as_put(file, version, newer):
    """Returns whether a file is that version. On the start page, what the checks write doesn't count."""
    text = file.read_text(encoding="utf-8", errors="replace")
    if file.name == START:
        from course_lib.checks.record import HEADLINE, TABLE

        for written in (TABLE, HEADLINE):
            if put := written.search(newer):
                text = written.sub(put[0].replace("\\", r"\\"), text)
    return _version(text) == version


def _beside(file):
    """Returns a free file name for a newer version."""
    numbers = ["", *(f"_{number}" for number in range(2, 1000))]
    names = (file.with_name(f"{file.stem}_newer{number}{file.suffix}") for number in numbers)
    return next(name for name in names if not name.exists())


def contents():
    """Yields the name and text of every file in a fresh workbook."""
    yield "progress.json", "{}\n"
    for page in (START, QUIZ):
        yield page, (lessons.NOTEBOOKS / page).read_text(encoding="utf-8")
    for path in lessons.find():
        yield path.name, nbformat.writes(learner_version(nbformat.read(path, as_version=4))) + "\n"
    for path in sorted((lessons.NOTEBOOKS / "exercises").glob("*.ipynb")):
        yield f"exercises/{path.name}", nbformat.writes(student_version(nbformat.read(path, as_version=4))) + "\n"
    if not IN_CLONE:  # a clone's glossary is already next to its workbook
        for path in sorted(glossary.FOLDER.glob("*.md")):
            yield f"../{glossary.FOLDER.name}/{path.name}", path.read_text(encoding="utf-8")


def learner_version(notebook):
    """Returns the lesson without outputs and without the lecturer's notes."""
    notebook.cells = [cell for cell in notebook.cells if lessons.slide_type(cell) != "notes"]
    for cell in notebook.cells:
        if lessons.slide_type(cell) == "-":  # JupyterLab's decks take this mark for "not on any slide"
            cell.metadata.pop("slideshow", None)
    return without_outputs(notebook)


def without_outputs(notebook):
    """Returns the notebook without outputs and saved widgets."""
    notebook.metadata.pop("widgets", None)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    return notebook


def student_version(notebook):
    """Returns the notebook with a blank for each solution and without hidden tests, found by nbgrader's marks."""
    for cell in without_outputs(notebook).cells:
        clear(cell, SOLUTION)
        clear(cell, HIDDEN_TESTS)
    return notebook


def clear(cell, kind):
    """Replaces a cell's solutions with blanks, or removes its hidden tests."""
    region = rf"^([ \t]*)### BEGIN {kind}$.*?^[ \t]*### END {kind}$\n?"
    blank = _blank if kind == SOLUTION else ""
    cell.source = re.sub(region, blank, cell.source, flags=re.MULTILINE | re.DOTALL).rstrip("\n")
    if re.search(f"### (BEGIN|END) {kind}", cell.source):
        raise ValueError(f"cell {cell.id!r}: a mark ### BEGIN {kind} or ### END {kind} lacks its other half")


def _blank(region):
    """Returns the region's blank: `name = ...` for values, otherwise a line that says where to write code."""
    indent = region[1]
    statements = ast.parse(textwrap.dedent("".join(region[0].splitlines(keepends=True)[1:-1]))).body
    if not indent and all(isinstance(statement, ast.Assign) for statement in statements):
        names = [ast.unparse(target) for statement in statements for target in statement.targets]
        return "".join(f"{name} = ...  # YOUR ANSWER HERE\n" for name in names)
    return f"{indent}# YOUR CODE HERE\n{indent}raise NotImplementedError()\n"
