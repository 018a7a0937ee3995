"""What a check shows in a notebook: a box in plain words, links that lead somewhere, and values that can be pasted."""

import math
import os
import re
from html.parser import HTMLParser

import nbformat
import numpy as np
import pytest
import torch
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbconvert import HTMLExporter
from nbformat.v4 import new_code_cell, new_notebook
from traitlets.config import Config

from course_lib import checks, glossary
from course_lib.checks import places, record, told
from course_lib.checks.engine import Case, Exercise, Question, Wrong, ask, examine
from course_lib.checks.engine.saying import short
from course_lib.checks.told import BLANK, RIGHT, WRONG, Told
from course_lib.files import ROOT
from course_lib.tools import lessons

NOTEBOOKS = ROOT / "notebooks"


class Words(HTMLParser):
    """The words of a page, without tags and styles."""

    def __init__(self, page):
        super().__init__()
        self.words, self.styles = [], 0
        self.feed(page)

    def handle_starttag(self, tag, _):
        self.styles += tag == "style"

    def handle_endtag(self, tag):
        self.styles -= tag == "style"

    def handle_data(self, data):
        if not self.styles:
            self.words.append(data)


def words(text):
    return re.sub(r"[\s*`]+", "", text)


FULL = Told(
    WRONG,
    "look",
    "the *rows* are `turned`",
    "In the line `x[0] * 2 < y`\nWhat is 2*3 or *args?",
    "two words",
    [("words", "[1.0, 2.0]")],
    [("came out", "[0.5]"), ("wanted", "[0.7]")],
    'lesson 3, "The mask laboratory"; glossary.show("mask")',
    "scaled_dot_product",
)


@pytest.fixture
def at_exercises(monkeypatch):
    monkeypatch.chdir(NOTEBOOKS / "exercises")


# ---- the box ----


def test_the_box_says_the_words_of_the_text(at_exercises):
    assert words("".join(Words(FULL.html()).words)) == words(str(FULL))
    for sign in (BLANK, RIGHT):
        plain = Told(sign, "look", "it is so", following="Next: [a](b.ipynb)")
        assert words("".join(Words(plain.html()).words)) == words(str(plain))


def test_stress_and_code_are_rendered_and_nothing_else_is(at_exercises):
    box = FULL.html()
    assert "<b>the <em>rows</em> are <code>turned</code>.</b>" in box
    assert "In the line <code>x[0] * 2 &lt; y</code>" in box and "What is 2*3 or *args?" in box
    assert told.inline("see [0](x) <b>") == "see [0](x) &lt;b&gt;"
    assert "<script" not in box and "onclick" not in box


def test_values_stand_in_a_table_whose_words_are_not_broken(at_exercises):
    box = FULL.html()
    assert re.search(r'<th scope="row" [^>]*monospace[^>]*>came out:</th><td [^>]*monospace[^>]*>\[0.5\]</td>', box)
    assert "word-break:keep-all" in box and "overflow-x:auto" in box


def test_the_links_lead_to_the_section_and_the_card(at_exercises):
    assert re.findall(r'href="([^"]+)"', FULL.html()) == [
        "../03_scaled_dot_product.ipynb#cell-id=masks", "../../glossary/mask.md",
    ]  # fmt: skip


def leads_somewhere(target, here):
    path, _, cell = target.partition("#cell-id=")
    file = (here / path).resolve()
    if not cell:
        return file.is_file()
    return cell in [one.id for one in nbformat.read(file, as_version=4).cells]


@pytest.mark.slow
def test_every_exercise_says_where_to_read_on_and_that_is_there(at_exercises):
    here = NOTEBOOKS / "exercises"
    for name, asked in checks.exercises().items():
        text = places.linked(asked.see, asked.lesson, NOTEBOOKS, here)
        links = dict(glossary.LINK.findall(text))
        assert links and not re.search(r"\]\([^)]*\)\d", text), f"{name}: a number is cut in two in {text}"
        for said, target in links.items():
            assert leads_somewhere(target, here), (name, target)
            assert '"' not in said or "#cell-id=" in target or "glossary/" in target, f"{name}: no section {said}"


def test_every_exercise_is_found_under_its_heading():
    for name, asked in checks.exercises().items():
        heading, place = places.exercise(name, asked.lesson)
        assert heading != name and leads_somewhere(place, NOTEBOOKS), name
        assert not re.search(r"[$\[\]]", heading), f"{heading} would be no link"


# ---- what comes next ----

LESSONS = checks.lessons()


def following(passed, **more):
    return places.following(dict.fromkeys(passed, ""), LESSONS, NOTEBOOKS, NOTEBOOKS, **more)


def test_next_is_the_first_open_exercise_of_the_lesson_that_was_worked_on_last():
    assert following(["cat_score"]) == (
        "Next: [What *cat* looks at](exercises/03_scaled_dot_product.ipynb#cell-id=cat-weights-text) (`cat_weights`)"
    )
    assert "(`look`)" in following(["cat_weights", "cat_score"])
    assert "(`cat_weights`)" in following(["cat_score", "look"])  # what was passed over comes first
    assert "(`cat_weights`)" in following(["look", "cat_score"], after="look")
    assert "(`read_batch`)" in following(["cat_score", "rnn_step"])


def test_before_a_new_lesson_s_exercises_comes_the_lesson():
    third = [name for name, lesson in LESSONS.items() if lesson == "scaled_dot_product"]
    said = following(third)
    assert said.startswith("Next: [lesson 4, Multi-head attention](04_multi_head.ipynb), then [Cut the vectors](")


def test_behind_the_last_exercise_it_begins_anew_and_in_the_end_all_is_done():
    assert following(list(LESSONS)[1:]).endswith("(`rnn_step`)")
    assert following(LESSONS) == "All exercises are done."


# ---- values ----


@pytest.mark.parametrize(
    "value",
    [
        3, 0.25, -1e-8, True, None, "le chat", [1.0, [2]], (1,), (1, 2), [], {(0, 1), (2, 0)}, set(), {10, 9, "a"},
        {"a": [1, 2]}, [{(0, 0)}, set()], [math.inf, -math.inf], [["a", "b"], []],
    ],
)  # fmt: skip
def test_a_value_can_be_pasted(value):
    assert eval(short(value), {"torch": torch}) == value


def test_what_a_tensor_or_a_frozen_set_holds_can_be_pasted():
    assert eval(short(torch.tensor([[1.5, math.inf]])), {"torch": torch}) == [[1.5, math.inf]]
    assert short(frozenset({(1, 2), (0, 1)})) == "{(0, 1), (1, 2)}"
    assert short([np.float64("nan"), np.array([True])]) == "[torch.nan, [True]]"


def test_what_is_too_large_is_told_in_words():
    assert short(torch.zeros(5, 6)) == "tensor of shape (5, 6)"
    assert short((torch.zeros(5, 6), 1)) == "tensor of shape (5, 6), 1"
    assert re.fullmatch(r"a list that begins \[0, 1, .*\d …", short(list(range(500))))
    assert short(len) == "a function"


# ---- what is said ----


def said(asked, answer):
    with pytest.raises(Wrong) as caught:
        (examine if isinstance(asked, Exercise) else ask)(asked, answer)
    return caught.value.args[0]


@pytest.mark.parametrize(
    ("right", "answer", "says"),
    [
        ([1, 2, 3], [1, 0, 3], "entry 2 of [1, 0, 3] is not right"),
        ([1, 2, 3], (0, 0, 3), "entries 1 and 2 of (0, 0, 3) are not right"),
        ([1, 2, 3, 4], [0, 0, 0, 4], "entries 1, 2 and 3 of [0, 0, 0, 4] are not right"),
        ([1, 2], [2, 1], "no entry of [2, 1] is right"),
        (torch.tensor([0.5, 0.5]), [0.5, 0.4], "entry 2 of [0.5, 0.4] is not right"),
        (torch.tensor([0.5, 0.5]), torch.tensor([0.5]), "[0.5] has 1 of 2 entries"),
        (0.5, [0.5, 0.5], "[0.5, 0.5] is a list"),
        ({1, 2}, {2, 3}, "{2, 3} is not right"),
    ],
)
def test_a_list_s_entries_are_one_or_many(right, answer, says):
    assert said(Question("q", "rnn_bottleneck", lambda: right, (), "lesson 1"), answer).what == says


def test_the_others_are_right_and_so_is_the_only_other_one():
    question = Question("q", "rnn_bottleneck", lambda: [1, 2, 3], (), "lesson 1")
    assert said(question, [1, 0, 3]).hint == "The others are right."
    assert said(question, [1, 0, 0]).hint == "The other one is right."


def writes(answer, chances, limit):
    def scores(words):
        return chances[words[-1]]

    return answer(scores, limit)


def written(chances, limit):
    return [2, 3, 1][:limit]


WRITER = Exercise(
    "write",
    "transformer_trained",
    lambda generator: [Case("three words", {"chances": [[0.5, 0.5]], "limit": 3})],
    lambda scores, limit: written(scores, limit),
    "lesson 6",
    writes,
)


def test_arguments_have_the_names_that_the_learner_gave_them():
    def write(probabilities, most):
        return [2, 1]

    assert said(WRITER, write).given == [("most", "3"), ("chances (inside probabilities)", "[[0.5, 0.5]]")]


def test_of_a_call_that_does_not_fit_the_inputs_are_shown():
    assert said(WRITER, lambda: [2, 1]).given == [("chances", "[[0.5, 0.5]]"), ("limit", "3")]


def test_the_argument_that_is_changed_is_the_learner_s():
    exercise = Exercise(
        "add",
        "rnn_bottleneck",
        lambda generator: [Case("one", {"given": torch.tensor([1.0]), "more": [[1]]})],
        lambda x, y: x + 1,
        "lesson 1",
        lambda answer, given, more: answer(given, more),
    )

    def add(x, y):
        x += 1
        return x

    def empty(x, y):
        y.clear()
        return x + 1

    assert said(exercise, add).what == "it changes its argument x in place"
    assert said(exercise, empty).what == "it changes its argument y in place"
    assert "tensor" not in said(exercise, empty).hint


@pytest.mark.parametrize(
    "answer", [[2], [2, 1], [torch.tensor(2), torch.tensor(1)], torch.tensor([2, 3]), [3, 2, 1], []]
)
def test_of_lists_of_words_nothing_is_said_of_tensors_and_shapes(answer):
    assert not re.search("tensor|shape|numbers", str(said(WRITER, lambda scores, limit: answer)))


# ---- in a notebook ----

CELLS = """
from course_lib import checks
checks.check("cat_score", ...)
checks.check("cat_score", 1.5)
checks.check("cat_score", 1.05)
checks.check("rnn_step", rnn_step)
checks.check("rnn_step", rnn_stop)
rnn_step
""".strip().split("\n")


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    folder = tmp_path_factory.mktemp("workbook") / "exercises"
    folder.mkdir()
    (folder.parent / record.FILE).write_text("{}")
    notebook = new_notebook(cells=[new_code_cell(code) for code in CELLS])
    client = NotebookClient(
        notebook, allow_errors=True, config=Config(lessons.ENCRYPTED), resources={"metadata": {"path": str(folder)}}
    )
    client.execute(env={**os.environ, "PYTHONPATH": str(ROOT)})
    return notebook


@pytest.mark.slow
def test_a_wrong_answer_is_a_box_and_then_an_error_of_one_line(shown):
    for cell, sign, line in (
        (shown.cells[1], "○", "○ cat_score is still open: Run All stops here."),
        (shown.cells[2], "✗", "✗ cat_score is not right yet: Run All stops here."),
    ):
        box, error = cell.outputs
        assert box.data["text/plain"].startswith(sign) and 'class="am-check"' in box.data["text/html"]
        assert (error.output_type, error.ename, error.traceback) == ("error", "Wrong", [line])
        assert error.evalue == box.data["text/plain"]


@pytest.mark.slow
def test_a_check_that_is_run_before_its_cell_says_which_cell_is_to_be_run(shown):
    for cell, name, heading in ((4, "rnn_step", ", under “One step of a recurrence”"), (5, "rnn_stop", "")):
        box, error = shown.cells[cell].outputs
        assert box.data["text/plain"] == (
            f"○ {name} is not defined yet.\n"
            f"  The cell that defines it is above this one{heading}. Run that cell, then this one again."
        )
        assert (error.ename, error.traceback) == ("NameError", [f"○ {name} is still open: Run All stops here."])
    (error,) = shown.cells[6].outputs
    assert len(error.traceback) > 1  # any other is shown as always


@pytest.mark.slow
def test_a_right_answer_is_a_green_box_that_leads_on(shown):
    (box,) = shown.cells[3].outputs
    assert box.data["text/plain"] == "✓ cat_score: right.\n  Next: What *cat* looks at (`cat_weights`)"
    green, _ = told.LOOKS[RIGHT]
    assert f"rgb({green[0]},{green[1]},{green[2]})" in box.data["text/html"]
    assert 'href="03_scaled_dot_product.ipynb#cell-id=cat-weights-text"' in box.data["text/html"]


@pytest.mark.slow
def test_a_run_of_all_cells_stops_at_a_wrong_answer(tmp_path):
    notebook = new_notebook(cells=[new_code_cell(code) for code in (CELLS[0], CELLS[2], "print('on')")])
    client = NotebookClient(notebook, config=Config(lessons.ENCRYPTED), resources={"metadata": {"path": str(tmp_path)}})
    with pytest.raises(CellExecutionError):
        client.execute(env={**os.environ, "PYTHONPATH": str(ROOT)})
    assert notebook.cells[2].outputs == []


@pytest.mark.slow
def test_on_a_page_it_is_no_alarm_either(shown):
    page, _ = HTMLExporter().from_notebook_node(shown)
    assert page.count('class="am-check"') == 5 and page.count("<style>.jp-OutputArea-child:has(.am-check)+") == 4
