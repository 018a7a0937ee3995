"""The exercise notebooks: each is complete, and its student version fails at every blank and nowhere else."""

import ast
import itertools
import math
import os
import re
import sys
import textwrap
from pathlib import Path

import nbformat
import pytest
import torch
from nbclient import NotebookClient
from nbconvert.exporters import NotebookExporter
from sweeps import sweep
from traitlets.config import Config

from course_lib.checks import EXERCISED, Question, engine, exercises
from course_lib.curriculum import name_of
from course_lib.files import ROOT
from course_lib.tools import lessons, workbook

FOLDER = Path(__file__).parent.parent / "notebooks" / "exercises"
SOURCES = sorted(FOLDER.glob("*.ipynb"))
HEAD = re.compile(r"\*\*Difficulty\*\* [●○]{3} · \*\*(\d+) points?\*\* · \*\*(\d+) minutes\*\*")
each_source = pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)


def read(path):
    return nbformat.read(path, as_version=4)


def mark(cell):
    return cell.metadata.get("nbgrader", {})


def asked_in(cell):
    """The names in a cell's calls of checks.check, and the seeds they are called with."""
    calls = [node for node in ast.walk(ast.parse(cell.source)) if isinstance(node, ast.Call)]
    calls = [call for call in calls if ast.unparse(call.func) == "checks.check"]
    return [(call.args[0].value, bool(call.keywords)) for call in calls]


def test_every_lesson_has_its_exercises():
    lessons = sorted(path.name for path in FOLDER.parent.glob("[0-9]*.ipynb") if name_of(path) in EXERCISED)
    assert [path.name for path in SOURCES] == lessons


@each_source
def test_each_exercise_is_asked_in_its_lesson_visibly_and_hidden(path):
    wanted = [name for name, asked in exercises().items() if asked.lesson == name_of(path)]
    calls = [call for cell in read(path).cells if mark(cell).get("grade") for call in asked_in(cell)]
    assert 4 <= len([name for name, hidden in calls if not hidden])
    assert sorted(calls) == sorted([(name, hidden) for name in wanted for hidden in (False, True)])


@each_source
def test_the_saved_outputs_count_the_inputs_of_the_checks(path):
    for cell in read(path).cells:
        if told := re.findall(r"✓ (\w+): right on all (\d+) inputs", str(cell.get("outputs"))):
            seeds = 0, int(re.search(r"seed=(\d+)", cell.source)[1])
            (name,) = dict(told)
            drawn = [exercises()[name].cases(torch.Generator().manual_seed(seed)) for seed in seeds]
            assert told == [(name, str(len(cases))) for cases in drawn]


@each_source
def test_the_lesson_leads_to_its_exercises_and_back(path):
    lesson = read(FOLDER.parent / path.name)
    assert any(f"](exercises/{path.name})" in cell.source for cell in lesson.cells)
    assert f"](../{path.name})" in read(path).cells[0].source


@each_source
def test_the_foot_says_where_the_solutions_are_and_links_them(path):
    for notebook in (read(path), workbook.student_version(read(path))):
        foot = notebook.cells[-1].source
        target = re.search(r"\]\((.+)\)", foot)[1]
        assert re.fullmatch(r"The solutions are in .+, and everyone may read them\.", foot)
        # The same link works from a workbook, which is next to the folder of the notebooks.
        for folder in ("notebooks", "workbook"):
            assert (ROOT / folder / "exercises" / target).resolve() == path.resolve()


@each_source
def test_hidden_tests_and_solutions_stand_in_their_regions(path):
    for cell in read(path).cells:
        if mark(cell).get("grade"):
            visible, hidden = cell.source.split("### BEGIN HIDDEN TESTS")
            assert "seed" not in visible and "seed" in hidden and hidden.endswith("### END HIDDEN TESTS")
            assert mark(cell)["locked"] and not mark(cell)["solution"]
        if mark(cell).get("solution"):
            assert "### BEGIN SOLUTION" in cell.source and not mark(cell)["locked"]


@each_source
def test_marks_are_complete_and_points_are_those_of_the_text(path):
    cells = read(path).cells
    ids = [mark(cell)["grade_id"] for cell in cells if mark(cell)]
    assert len(ids) == len(set(ids)) and all(mark(cell)["grade_id"] == cell.id for cell in cells if mark(cell))
    text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    told = [(int(points), int(minutes)) for points, minutes in HEAD.findall(text)]
    parts = re.split(r"^## \d+ · ", text, flags=re.MULTILINE)[1:]
    assert 4 <= len(parts) <= 7, f"{len(parts)} numbered sections: one more exercise goes under ### in one of them"
    assert all(HEAD.search(part) for part in parts)
    assert sum(points for points, _ in told) == sum(mark(cell).get("points", 0) for cell in cells)
    assert f"**{sum(points for points, _ in told)} points" in text


@each_source
def test_a_single_number_to_be_found_is_worth_one_point(path):
    for cell in read(path).cells:
        if mark(cell).get("grade"):
            asked = exercises()[asked_in(cell)[0][0]]
            if isinstance(asked, Question) and isinstance(asked.right(), int | float):
                assert mark(cell)["points"] == 1, asked.name


@each_source
def test_each_exercise_has_folded_hints(path):
    text = "\n".join(cell.source for cell in read(path).cells if cell.cell_type == "markdown")
    for part in re.split(r"^## \d+ · ", text, flags=re.MULTILINE)[1:]:
        assert part.count("<details><summary>") == part.count("</details>") >= 1, part[:60]


@each_source
def test_the_student_version_holds_no_solution(path):
    source = read(path)
    student = workbook.student_version(read(path))
    for before, after in zip(source.cells, student.cells, strict=True):
        assert not re.search("### (BEGIN|END)|seed=17", after.source)
        if mark(before).get("solution"):
            assert ("raise NotImplementedError()" in after.source) or ("= ...  # YOUR ANSWER HERE" in after.source)
        assert after.cell_type == "markdown" or after.outputs == []


# ---- the texts ----


def told(path):
    """(id, text with its hints, solutions) of each exercise in a notebook."""
    found = []
    for cell in read(path).cells:
        if cell.cell_type == "markdown" and re.search("^##+ ", cell.source, re.MULTILINE):
            found.append((cell.id, cell.source, []))
        elif found and cell.cell_type == "markdown":
            found[-1] = (found[-1][0], f"{found[-1][1]}\n{cell.source}", found[-1][2])
        elif found and mark(cell).get("solution"):
            found[-1][2].append(cell.source)
    return found


@each_source
def test_a_letter_means_one_thing(path):
    for name, text, _ in told(path):
        shapes = ",".join(re.findall(r"(?:`|shape )\(([^`()]*,[^`()]*)\)", text))
        assert not set(re.findall(r"position \$(\w)\$", text)) & set(re.findall(r"\b[a-zA-Z]\b", shapes)), name
        for formula in re.findall(r"\$\$(.*?)\$\$", text, re.DOTALL):
            indices = {letter for group in re.findall(r"_\{(\w(?:,\w)+)\}", formula) for letter in group.split(",")}
            assert not indices & set(re.findall(r"(?<![a-zA-Z])([a-zA-Z])_", formula)), (name, formula)


def without_names(node):
    """A node's source, whatever its variables are called."""
    for one in ast.walk(node):
        if isinstance(one, ast.Name):
            one.id = "name"
    return ast.unparse(node)


@each_source
def test_the_hints_are_less_than_half_of_the_solution(path):
    for name, text, solutions in told(path):
        hints = "".join(re.findall("<details>.*?</details>", text, re.DOTALL))
        shown = set()
        for code in re.findall(r"```python\n(.*?)```", hints, re.DOTALL) + re.findall("`([^`\n]+)`", hints):
            try:
                shown.add(without_names(ast.parse(code)))
            except SyntaxError:
                continue
        for solution in solutions:
            whole = ast.parse(
                textwrap.dedent(solution.split("### BEGIN SOLUTION\n")[1].split("### END SOLUTION")[0]).replace(
                    "return ", ""
                )
            )
            parts = {
                without_names(node): len(list(ast.walk(node))) for node in ast.walk(whole) if hasattr(node, "lineno")
            }
            given = sum(size for part, size in parts.items() if size > 5 and part in shown)
            assert given < len(list(ast.walk(whole))) / 2, (name, sorted(parts.keys() & shown))


NUMBER = {name: getattr(math, name) for name in ("exp", "log", "sqrt", "sin", "cos", "tanh", "pi", "e")}


def value(latex):
    """The number that a formula without letters comes to; None of any other."""
    if not re.search(r"\d", latex):
        return None
    text = latex.replace("{,}", "").replace("\\,", "").replace("\\cdot", "*").replace("\\times", "*").strip(" .,")
    text = re.sub(r"\\[td]?frac\{([^{}]*)\}\{([^{}]*)\}", r"((\1)/(\2))", text)
    text = re.sub(r"\\sqrt(\d|\{[^{}]*\})", r"sqrt(\1)", text)
    text = text.replace("^", "**").replace("{", "(").replace("}", ")").replace("\\", "")
    try:
        return float(eval(text, {"__builtins__": {}}, NUMBER))
    except (SyntaxError, NameError, TypeError, ValueError):
        return None


@pytest.mark.filterwarnings("ignore::SyntaxWarning")
def test_what_the_formulas_compute_is_right():
    tried = 0
    for path in SOURCES:
        for formula in re.findall(r"(?<![\\$])\$([^$\n]+)\$", "\n".join(text for _, text, _ in told(path))):
            sides = formula.split("=")
            for left, right in itertools.pairwise(sides):
                if value(left) is not None and value(right) is not None:
                    decimals = len(right.strip(" .,").partition(".")[2])
                    assert abs(value(left) - value(right)) <= 0.5001 * 10**-decimals, (path.stem, formula)
                    tried += 1
    assert tried > 30, tried


OF_ALL_CHECKS = {  # what hints quote of the engine's words, and where those are written
    r"it changes its argument( \w+| …)? in place": "it changes {'its argument '",
    "the result is not boolean": "the result is not boolean",
    "the result holds NaN everywhere": "the result holds NaN {where}",
    "view size is not compatible": "view size is not compatible",
    "… is not right": " is not right",
}


def test_what_a_hint_quotes_is_what_a_check_says():
    written = "".join(path.read_text() for path in Path(engine.__file__).parent.glob("*.py"))
    assert all(words in written for words in OF_ALL_CHECKS.values())
    for path in SOURCES:
        asked = [one for one in exercises().values() if one.lesson == name_of(path)]
        names = {misconception.name for one in asked for misconception in one.misconceptions}
        text = "\n".join(text for _, text, _ in told(path))
        for quoted in re.findall('<summary>(?:Hint: )?"([^"<]+)"</summary>', text):
            named = any(all(part.strip() in name for part in quoted.split("…")) for name in names)
            assert named or any(re.fullmatch(words, quoted) for words in OF_ALL_CHECKS), (path.stem, quoted)
        for bare in re.findall('<summary>(?:Hint: )?([^"<]+)</summary>', text):
            assert bare not in names, f"{path.stem}: a check says this, so put it in quotation marks: {bare}"


# ---- in class, and in the browser ----


BOOKKEEPING = {"nbgrader", "deletable", "editable"}  # what nbgrader notes in a cell: checksums, and what is locked


@each_source
def test_what_is_handed_out_in_class_has_the_blanks_of_the_workbook(path, tmp_path):
    course = pytest.importorskip("course_lib.grading.course").Course(tmp_path, "")
    config = course.config()
    steps = [step for step in config.GenerateAssignment.preprocessors if not step.endswith("SaveCells")]
    text, _ = NotebookExporter(config=config, preprocessors=steps).from_filename(path)
    handed_out, student = nbformat.reads(text, as_version=4), workbook.student_version(read(path))
    assert all(mark(cell)["checksum"] for cell in handed_out.cells if mark(cell))
    for cell in handed_out.cells + student.cells:
        cell.metadata = {name: about for name, about in cell.metadata.items() if name not in BOOKKEEPING}
    assert handed_out.cells == student.cells


def failures(notebook):
    """By cell id, the error of each cell that raises, when all of them are run."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    NotebookClient(
        notebook,
        timeout=900,
        config=Config(lessons.ENCRYPTED),
        allow_errors=True,
        resources={"metadata": {"path": str(FOLDER)}},
    ).execute(env=environment)
    return {
        cell.id: (output.ename, output.evalue)
        for cell in notebook.cells
        if cell.cell_type == "code"
        for output in cell.outputs
        if output.output_type == "error"
    }


@pytest.mark.notebook
@pytest.mark.parametrize("path", sweep(SOURCES, "03_scaled_dot_product", named=lambda path: path.stem))
def test_the_student_version_fails_at_every_blank_and_nowhere_else(path):
    student = workbook.student_version(read(path))
    failed = failures(student)
    checks = {cell.id for cell in student.cells if mark(cell).get("grade")}
    assert checks <= failed.keys()
    for cell, (name, said) in failed.items():
        if cell in checks:
            assert name == "Wrong" and said.startswith("○"), (cell, said)
        elif name != "NotImplementedError":  # it calls no blank, but wants what a cell that does would have made
            lacking = re.search(r"name '(\w+)' is not defined", said)[1]
            made_in = {c.id for c in student.cells if re.search(rf"^(def )?{lacking}\b.*[=:]", c.source, re.MULTILINE)}
            assert made_in & failed.keys() - checks, (cell, name, said)
