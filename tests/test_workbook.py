"""The workbook: blanks where solutions were, nothing overwritten, and a page that shows how far one is."""

import hashlib
import json
from datetime import date

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

import course_lib
from course_lib import checks
from course_lib.checks import record
from course_lib.curriculum import number_of
from course_lib.tools import lessons, workbook

SOLVED = '''def f(x):
    """What f is."""
    ### BEGIN SOLUTION
    y = 2 * x

    return y
    ### END SOLUTION'''
BLANK = '''def f(x):
    """What f is."""
    # YOUR CODE HERE
    raise NotImplementedError()'''
CHECKED = """check(f)
### BEGIN HIDDEN TESTS
check(f, seed=7)
### END HIDDEN TESTS"""


def source(*codes):
    cells = [new_code_cell(code, execution_count=1, outputs=[new_output("stream", text="42")]) for code in codes]
    return new_notebook(cells=[new_markdown_cell("# Title"), *cells], metadata={"widgets": {"state": {}}})


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A small course of one lesson and one exercise, and where its workbook goes."""
    notebooks = tmp_path / "notebooks"
    (notebooks / "exercises").mkdir(parents=True)
    monkeypatch.setattr(lessons, "NOTEBOOKS", notebooks)
    (notebooks / "start.md").write_text(f"# Start\n\n{record.MARKS[0]}\nNothing yet.\n{record.MARKS[1]}\n\nMore.\n")
    (notebooks / "quiz.md").write_text("# Quiz\n")
    lesson = source("print(42)")
    lesson.cells[0].metadata["slideshow"] = {"slide_type": "slide"}
    lesson.cells[1].metadata["slideshow"] = {"slide_type": "-"}
    lesson.cells.append(new_markdown_cell("Say this.", metadata={"slideshow": {"slide_type": "notes"}}))
    nbformat.write(lesson, notebooks / "01_lesson.ipynb")
    nbformat.write(source(SOLVED, CHECKED), notebooks / "exercises" / "01_lesson.ipynb")
    return tmp_path


def read(path):
    return nbformat.read(path, as_version=4)


# ---- what goes in ----


def test_lessons_lose_outputs_and_lecture_notes_and_exercises_their_solutions(course):
    assert [len(files) for files in workbook.make(course / "workbook")] == [5, 0, 0]
    lesson, exercise = read(course / "workbook/01_lesson.ipynb"), read(course / "workbook/exercises/01_lesson.ipynb")
    assert [cell.source for cell in lesson.cells] == ["# Title", "print(42)"]
    assert [cell.metadata for cell in lesson.cells] == [{"slideshow": {"slide_type": "slide"}}, {}]
    assert [cell.source for cell in exercise.cells] == ["# Title", BLANK, "check(f)"]
    for notebook in (lesson, exercise):
        assert "widgets" not in notebook.metadata
        assert all(c.outputs == [] and c.execution_count is None for c in notebook.cells if c.cell_type == "code")


@pytest.mark.parametrize(
    "text", ["### BEGIN SOLUTION\nx = 1", "x = 1\n### END SOLUTION", "### BEGIN HIDDEN TESTS\nf()"]
)
def test_a_mark_without_its_other_half_is_refused(text):
    with pytest.raises(ValueError, match="lacks its other half"):
        workbook.student_version(source(text))


def test_values_that_are_asked_for_keep_their_names():
    notebook = workbook.student_version(
        source("# two numbers\n### BEGIN SOLUTION\na = 0.5\nb = [\n    1,\n    2,\n]\n### END SOLUTION")
    )
    assert notebook.cells[1].source.split("\n") == [
        "# two numbers", "a = ...  # YOUR ANSWER HERE", "b = ...  # YOUR ANSWER HERE",
    ]  # fmt: skip


def test_two_regions_in_a_cell_are_two_blanks():
    region = "### BEGIN SOLUTION\nprint(1)\n### END SOLUTION\n"
    notebook = workbook.student_version(source(region + "between\n" + region))
    assert notebook.cells[1].source.split("\n") == [
        "# YOUR CODE HERE", "raise NotImplementedError()", "between", "# YOUR CODE HERE", "raise NotImplementedError()",
    ]  # fmt: skip


# ---- nothing is overwritten ----


def test_what_is_there_stays_and_a_newer_version_is_put_beside_it_once(course):
    workbook.make(course / "workbook")
    mine = course / "workbook/exercises/01_lesson.ipynb"
    mine.write_text("my work")
    assert workbook.make(course / "workbook") == ([], [], []) and mine.read_text() == "my work"

    nbformat.write(source(SOLVED, CHECKED, "new"), course / "notebooks/exercises/01_lesson.ipynb")
    assert workbook.make(course / "workbook") == ([], [], ["exercises/01_lesson_newer.ipynb"])
    assert mine.read_text() == "my work"
    assert read(mine.with_name("01_lesson_newer.ipynb")).cells[-1].source == "new"
    assert workbook.make(course / "workbook") == ([], [], [])

    nbformat.write(source("newest"), course / "notebooks/exercises/01_lesson.ipynb")
    assert workbook.make(course / "workbook") == ([], [], ["exercises/01_lesson_newer_2.ipynb"])
    assert mine.read_text() == "my work"


def test_what_is_still_as_it_was_put_there_is_renewed(course):
    workbook.make(course / "workbook")
    nbformat.write(source("new"), course / "notebooks/01_lesson.ipynb")
    assert workbook.make(course / "workbook") == ([], ["01_lesson.ipynb"], [])
    assert [cell.source for cell in read(course / "workbook/01_lesson.ipynb").cells] == ["# Title", "new"]
    assert workbook.make(course / "workbook") == ([], [], [])


def test_a_start_page_with_notes_stays_and_one_without_is_renewed_with_its_table(course, monkeypatch):
    workbook.make(course / "workbook")
    page = course / "workbook/start.md"
    monkeypatch.chdir(course / "workbook")
    record.remember("rnn_step", checks.lessons())
    original = course / "notebooks/start.md"
    original.write_text(original.read_text().replace("More.", "Much more."))
    assert workbook.make(course / "workbook") == ([], ["start.md"], [])
    assert page.read_text().endswith("Much more.\n") and "| 1 | ✓○" in page.read_text()

    page.write_text(page.read_text() + "My notes.\n")
    mine = page.read_text()
    original.write_text(original.read_text().replace("Much more.", "No more."))
    assert workbook.make(course / "workbook") == ([], [], ["start_newer.md"]) and page.read_text() == mine


def test_a_file_that_was_removed_comes_back_and_only_it(course):
    workbook.make(course / "workbook")
    (course / "workbook/01_lesson.ipynb").unlink()
    assert workbook.make(course / "workbook") == (["01_lesson.ipynb"], [], [])


def test_a_workbook_whose_versions_were_lost_is_not_overwritten(course):
    workbook.make(course / "workbook")
    mine = course / "workbook/01_lesson.ipynb"
    mine.write_text("my work")
    (course / "workbook" / workbook.VERSIONS).unlink()
    workbook.make(course / "workbook")
    assert mine.read_text() == "my work"


# ---- how far one is ----

LESSONS = {"a": "rnn_bottleneck", "b": "rnn_bottleneck", "c": "bahdanau_attention"}


def test_what_passed_is_kept_and_shown_on_the_start_page(course, monkeypatch):
    workbook.make(course / "workbook")
    monkeypatch.chdir(course / "workbook/exercises")
    record.remember("b", LESSONS)
    record.remember("b", LESSONS)
    assert list(json.loads((course / "workbook/progress.json").read_text())) == ["b"]
    page = (course / "workbook/start.md").read_text()
    assert "| 1 | ○✓ 1 of 2 | a |" in page and "| 2 | ○ 0 of 1 | c |" in page
    assert page.startswith("# Start") and page.endswith("More.\n") and "Nothing yet" not in page
    record.remember("a", LESSONS)
    page = (course / "workbook/start.md").read_text()
    assert "| 1 | ✓✓ 2 of 2 | all done |" in page and page.count(record.MARKS[0]) == 1


def test_the_headline_of_the_start_page_moves_on(tmp_path, monkeypatch):
    page = tmp_path / "start.md"
    original = (lessons.NOTEBOOKS / "start.md").read_text(encoding="utf-8")
    page.write_text(original.replace("It runs", "It runs, I think"), encoding="utf-8")
    (tmp_path / "progress.json").write_text("{}")
    monkeypatch.chdir(tmp_path)
    record.show(tmp_path, checks.lessons())
    assert "## → [Start with lesson 1" in page.read_text(encoding="utf-8")
    record.remember("rnn_step", checks.lessons())
    second = "Next: [Reading a whole batch](exercises/01_rnn_bottleneck.ipynb#cell-id="
    text = page.read_text(encoding="utf-8")
    assert f"\n## → {second}" in text and f"\n\n{second}" in text
    for name in checks.lessons():
        record.remember(name, checks.lessons())
    text = page.read_text(encoding="utf-8")
    assert "\n## → All exercises are done.\n" in text and text.count(record.HEADLINE_MARKS[0]) == 1
    assert around(text) == around(original.replace("It runs", "It runs, I think"))


def test_a_start_page_whose_headline_moved_on_is_still_renewed(course, monkeypatch):
    original = course / "notebooks/start.md"
    original.write_text("# Start\n\n" + "\nBegin.\n".join(record.HEADLINE_MARKS) + "\n" + original.read_text())
    workbook.make(course / "workbook")
    monkeypatch.chdir(course / "workbook")
    record.remember("rnn_step", checks.lessons())
    original.write_text(original.read_text().replace("More.", "Much more."))
    assert workbook.make(course / "workbook") == ([], ["start.md"], [])
    page = (course / "workbook/start.md").read_text()
    assert "Begin." not in page and "## → Next: [Reading a whole batch]" in page and "Much more." in page


def test_a_start_page_that_the_learner_changed_is_left_alone(course, monkeypatch):
    workbook.make(course / "workbook")
    page = course / "workbook/start.md"
    page.write_text("mine")
    monkeypatch.chdir(course / "workbook")
    record.remember("a", LESSONS)
    assert page.read_text() == "mine" and "a" in record.done(course / "workbook")
    page.unlink()
    record.remember("b", LESSONS)
    assert not page.exists()


def test_outside_of_a_workbook_nothing_is_kept(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    record.remember("a", LESSONS)
    assert list(tmp_path.iterdir()) == [] and record.done(record.workbook()) == {}


OLD_PAGE = """# Attention, Measured

| 5 | [The Transformer: build it, train it](05_transformer.ipynb) | two sittings of 60 |
| 6 | [The Transformer taken apart](06_taken_apart.ipynb) | 90 |

{}

What you write stays in your workbook: a newer version of the course never overwrites it.
"""
OLD_TABLE = """<!-- progress: written by the checks -->

| exercises of lesson | done | next |
|---|---|---|
| 1 | ✓○○○○○○○ 1 of 8 | read_batch |
| 5 | ○✓○○○○✓○○ 2 of 9 | add_positions |
| 6 | ✓○○○○○○ 1 of 7 | layers_for_hops |

<!-- end of progress -->"""


def around(page):
    """What of a start page is not written by the checks."""
    return [part for text in record.TABLE.split(page) for part in record.HEADLINE.split(text)]


def test_a_workbook_begun_with_other_numbers_of_the_lessons_goes_on(tmp_path, monkeypatch):
    today = dict(workbook.contents())
    as_put = {
        "progress.json": "{}\n",
        "start.md": OLD_PAGE.format(record.TABLE.search(today["start.md"])[0]),
        **dict.fromkeys(("05_transformer.ipynb", "exercises/05_transformer.ipynb"), "the lesson, then"),
        **dict.fromkeys(("06_taken_apart.ipynb", "exercises/06_taken_apart.ipynb"), "the lesson after it, then"),
    }
    passed = dict.fromkeys(("rnn_step", "layer_norm", "greedy_words", "dropped"), "2026-01-31")
    mine = {
        "progress.json": json.dumps(passed),
        "start.md": OLD_PAGE.format(OLD_TABLE),
        **{name: f"{text}, and my work" for name, text in as_put.items() if name.endswith(".ipynb")},
    }
    (tmp_path / "exercises").mkdir()
    for name, text in mine.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    versions = {name: hashlib.sha256(text.encode()).hexdigest()[:16] for name, text in as_put.items()}
    (tmp_path / ".versions.json").write_text(json.dumps(versions), encoding="utf-8")

    new, renewed, newer = workbook.make(tmp_path)
    assert renewed == ["start.md"] and {*new, *renewed} == today.keys() - (mine.keys() - {"start.md"})
    for name, text in mine.items():
        assert name == "start.md" or (tmp_path / name).read_text(encoding="utf-8") == text
    there = {str(file.relative_to(tmp_path)): file.read_text(encoding="utf-8") for file in tmp_path.rglob("*.*")
             if file.is_file()}  # fmt: skip
    assert there.keys() == mine.keys() | today.keys() | {*newer, ".versions.json"}
    for name, text in today.items():
        beside = name.replace(".ipynb", "_newer.ipynb")
        assert name in ("progress.json", "start.md") or there[beside if beside in newer else name] == text

    monkeypatch.chdir(tmp_path / "exercises")
    record.remember("cut_a_head", checks.lessons())
    assert record.done(tmp_path) == {**passed, "cut_a_head": date.today().isoformat()}
    page = (tmp_path / "start.md").read_text(encoding="utf-8")
    assert around(page) == around(today["start.md"])
    rows = {row.split(" | ")[0]: row for row in page.splitlines() if "✓" in row}
    of = checks.lessons()
    numbers = {f"| {number_of(of[name])}" for name in ("rnn_step", "layer_norm", "greedy_words", "dropped")}
    assert rows.keys() == numbers
    assert "| ✓○○✓" in rows[f"| {number_of('taken_apart')}"]


def test_a_broken_record_says_what_to_do(course, monkeypatch):
    workbook.make(course / "workbook")
    (course / "workbook/progress.json").write_text("{oops")
    monkeypatch.chdir(course / "workbook")
    with pytest.raises(ValueError, match="empty it to start again"):
        record.remember("a", LESSONS)


def test_progress_shows_a_table(course, monkeypatch, capsys):
    workbook.make(course / "workbook")
    monkeypatch.chdir(course / "workbook")
    course_lib.progress()
    assert "exercises of lesson" in capsys.readouterr().out
