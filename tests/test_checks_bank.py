"""The bank of answers: no wrong one passes or gets the wrong hint, and no right one is refused."""

import importlib
from collections import Counter

import pytest
from wrong_answers import BANK

from course_lib.checks import EXERCISED, exercises
from course_lib.checks.engine import Exercise, Wrong, ask, examine

for lesson in EXERCISED:
    importlib.import_module(f"wrong_answers.{lesson}")
WRONG = [answer for answer in BANK if answer.says]
RIGHT = [answer for answer in BANK if not answer.says]


def name(answer):
    return f"{answer.exercise}-{answer.about}"


def judge(answer):
    asked = exercises()[answer.exercise]
    (examine if isinstance(asked, Exercise) else ask)(asked, answer.answer)


@pytest.mark.parametrize("answer", WRONG, ids=name)
def test_a_wrong_answer_gets_its_hint(answer):
    with pytest.raises(Wrong) as caught:
        judge(answer)
    message = str(caught.value)
    first = message.splitlines()[0] == f"✗ {answer.exercise}: {answer.says}."
    assert first or f"gives the same as this mistake: {answer.says}." in message, message


@pytest.mark.parametrize("answer", RIGHT, ids=name)
def test_a_right_answer_passes_in_any_style(answer):
    judge(answer)


def test_each_lesson_has_at_least_twelve_wrong_answers():
    counts = Counter(exercises()[answer.exercise].lesson for answer in WRONG)
    assert counts.keys() == set(EXERCISED) and min(counts.values()) >= 12 and counts.total() >= 72


def test_each_exercise_has_two_right_answers_in_other_styles():
    counts = Counter(answer.exercise for answer in RIGHT)
    lacking = [n for n, asked in exercises().items() if counts[n] < (2 if isinstance(asked, Exercise) else 1)]
    assert lacking == []


def test_every_misconception_is_given_by_someone():
    given = {(answer.exercise, answer.says) for answer in WRONG}
    named = {(n, m.name) for n, asked in exercises().items() for m in asked.misconceptions}
    assert named <= given
