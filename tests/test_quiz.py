"""The questions before and after each lesson: what they ask is in the lesson, and what is answered is kept."""

import re

import ipywidgets
import pytest

import course_lib
from course_lib.checks import places, quiz, record, report
from course_lib.curriculum import LESSONS
from course_lib.files import read_json

NUMBER = re.compile(r"\d+(?:\.\d+)?")


def shown(lesson):
    """All words that a lesson's saved outputs show, without drawings and marks of HTML."""
    notebook = read_json(places.NOTEBOOKS / f"{places.stem(lesson)}.ipynb")
    outputs = [output for cell in notebook["cells"] for output in cell.get("outputs", [])]
    texts = [output.get("data", {}).get(kind, "") for output in outputs for kind in ("text/plain", "text/markdown")]
    texts += [re.sub("<[^>]*>", "", "".join(output.get("data", {}).get("text/html", ""))) for output in outputs]
    return "\n".join("".join(text) for text in [*texts, *(output.get("text", "") for output in outputs)])


def complaints(lesson, asked):
    """What is wrong with the questions of a lesson."""
    said = set(NUMBER.findall(shown(lesson)))
    if len(asked) != 3:
        yield f"{len(asked)} questions"
    for one in asked:
        if not 3 <= len(set(one.options)) == len(one.options) <= 4:
            yield f"{one.words}: {len(set(one.options))} different options"
        if one.right not in one.options:
            yield f"{one.words}: the answer is no option"
        if places.section(lesson, one.section) is None:
            yield f"{one.words}: no section {one.section}"
        if not re.fullmatch(r"[^.!?].*[.!?]", one.because):
            yield f"{one.words}: no sentence says why"
        numbers = NUMBER.findall(" ".join([one.words, *one.options, re.sub(r"lesson \d+", "", one.because)]))
        yield from (f"{one.words}: the lesson doesn't show {number}" for number in numbers if number not in said)


@pytest.mark.parametrize("lesson", LESSONS)
def test_each_lesson_has_three_questions_about_what_it_shows(lesson):
    assert list(complaints(lesson, quiz.questions()[lesson])) == []


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("**1.** ", "**One.** ", "2 questions"),
        ("- Many more come out right", "- Far more come out right", "no option"),
        ("“How far back is a word felt?”", "“How far?”", "no section How far?"),
        ("45%", "45.3%", "doesn't show 45.3"),
        ("- All words of the sentence.\n", "", "2 different options"),
    ],
)
def test_a_fault_of_a_question_is_seen(tmp_path, monkeypatch, old, new, complaint):
    text = (places.NOTEBOOKS / quiz.FILE).read_text(encoding="utf-8")
    before, after = text.split("## 1 · ")
    assert old in after
    (tmp_path / quiz.FILE).write_text(f"{before}## 1 · {after.replace(old, new, 1)}", encoding="utf-8")
    monkeypatch.setattr(places, "NOTEBOOKS", tmp_path)
    asked = quiz.questions.__wrapped__()["rnn_bottleneck"]
    monkeypatch.undo()
    assert any(complaint in told for told in complaints("rnn_bottleneck", asked))


def test_the_right_answers_are_not_always_at_the_same_place():
    places_of_right = [one.options.index(one.right) for asked in quiz.questions().values() for one in asked]
    assert max(places_of_right.count(at) for at in range(3)) < 20


@pytest.fixture
def workbook(tmp_path, monkeypatch):
    (tmp_path / record.FILE).write_text("{}")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def asked(monkeypatch, *call):
    """The choices, the button and the output that `course_lib.quiz` shows."""
    boxes = []
    monkeypatch.setattr(quiz, "display", boxes.append)
    course_lib.quiz(*call)
    parts = boxes[0].children
    kinds = ipywidgets.RadioButtons, ipywidgets.Button, ipywidgets.Output
    choices, (button,), (said,) = ([part for part in parts if isinstance(part, kind)] for kind in kinds)
    return choices, button, said


def answer(monkeypatch, lesson, when, right):
    """Answers a quiz, the questions in `right` rightly, and returns what it says."""
    choices, button, said = asked(monkeypatch, lesson, when)
    for number, (choice, one) in enumerate(zip(choices, quiz.questions()[LESSONS[lesson]], strict=True), 1):
        choice.value = next(option for option in one.options if (option == one.right) == (number in right))
    button.click()
    return said.outputs[-1]["data"]["text/markdown"]


def test_a_quiz_says_what_to_review_and_progress_shows_it(workbook, monkeypatch):
    said = answer(monkeypatch, 1, "before", right={2})
    assert said.count("✗") == 2 and said.count("✓") == 1
    assert "(" + "01_rnn_bottleneck.ipynb#cell-id=" in said and "How far back is a word felt?](" in said
    assert "With two and four times the examples](" not in said
    said = answer(monkeypatch, 1, "after", right={1, 2})
    assert "Which state feels which word?](" not in said
    log = (workbook / record.TRIES).read_text(encoding="utf-8").split("\n")
    assert [line.split(" ")[1:] for line in log if line][:2] == [
        ["quiz_rnn_bottleneck_1_before", "wrong"],
        ["quiz_rnn_bottleneck_2_before", "right"],
    ]
    course_lib.progress()
    page = (workbook / report.PAGE).read_text(encoding="utf-8")
    assert "<td>1 of 3</td><td>2 of 3</td><td>How far back is a word felt?</td>" in page
    assert "left out" not in page


def test_a_quiz_that_is_all_right_leaves_nothing_to_review(workbook, monkeypatch):
    assert answer(monkeypatch, 2, "after", right={1, 2, 3}).endswith("All are right.")
    assert quiz.standing({quiz.logged_as("bahdanau_attention", at, "after"): "right" for at in (1, 2, 3)}) == {
        "bahdanau_attention": (["–", "3 of 3"], [])
    }


def test_nothing_is_logged_before_all_questions_are_answered_and_the_first_answers_count(workbook, monkeypatch):
    choices, button, said = asked(monkeypatch, 1, "before")
    choices[0].value = quiz.questions()["rnn_bottleneck"][0].right
    button.click()
    assert "each question" in said.outputs[-1]["data"]["text/markdown"] and not (workbook / record.TRIES).exists()
    assert not button.disabled and len(said.outputs) == 1
    for choice in choices:
        choice.index = 0
    button.click()
    assert button.disabled and all(choice.disabled for choice in choices)
    assert len(said.outputs) == 1 and "each question" not in said.outputs[0]["data"]["text/markdown"]


def test_without_a_quiz_progress_has_no_such_table(workbook):
    course_lib.progress()
    assert "Questions before and after" not in (workbook / report.PAGE).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("call", "message"),
    [((99, "before"), "no lesson 99"), ((-1, "before"), "no lesson -1"), ((2, "During"), "not 'During'")],
)
def test_an_unknown_lesson_or_moment_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        course_lib.quiz(*call)
