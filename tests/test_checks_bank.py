"""Every misconception is called by its own name, and the bank of answers gets what its authors expect."""

import importlib
from collections import Counter
from functools import partial

import pytest
import torch
from wrong_answers import BANK

from course_lib.checks import EXERCISED, exercises
from course_lib.checks.engine import Exercise, Wrong, ask, examine
from course_lib.tools import mutants

for lesson in EXERCISED:
    importlib.import_module(f"wrong_answers.{lesson}")
pytestmark = pytest.mark.usefixtures("unchecked")  # checking types at each call would double the time
WRONG = [answer for answer in BANK if answer.says]
RIGHT = [answer for answer in BANK if not answer.says]


def name(answer):
    return f"{answer.exercise}-{answer.about}"


def judge(answer):
    asked = exercises()[answer.exercise]
    (examine if isinstance(asked, Exercise) else ask)(asked, answer.answer)


# ---- each misconception is a wrong answer itself ----

WRITTEN = [asked for asked in exercises().values() if isinstance(asked, Exercise)]


@pytest.mark.parametrize(
    "asked",
    [
        pytest.param(asked, id=name, marks=[pytest.mark.slow] if len(asked.misconceptions) >= 12 else [])
        for name, asked in exercises().items()
    ],
)
def test_a_misconception_is_called_by_its_name(asked):
    assert mutants.confused(asked, [0]) == []


# ---- in disguise ----


def in_all(change, result):
    """A result with every tensor in it changed."""
    if isinstance(result, torch.Tensor):
        return change(result)
    if isinstance(result, list | tuple):
        return type(result)(in_all(change, item) for item in result)
    return result


def strided(tensor):
    """The same numbers, not in order in memory."""
    return torch.stack([tensor, tensor], -1)[..., 0]


DISGUISES = {
    "NumPy": torch.Tensor.numpy,
    "list": torch.Tensor.tolist,
    "float64": lambda tensor: tensor.double() if tensor.is_floating_point() else tensor,
    "strided": strided,
}


def dressed(change, answer, *arguments, **named):
    return in_all(lambda tensor: change(tensor.detach()), answer(*arguments, **named))


def worn_by_each():
    """`make check` tries one exercise, `make test` one of a lesson in one disguise, `make test-all` all in each."""
    met = {}
    for asked in WRITTEN:
        first = asked.lesson not in met
        turn = met.setdefault(asked.lesson, len(met) % len(DISGUISES))
        for place, worn in enumerate(DISGUISES):
            mark = pytest.mark.slow if first and place == turn else pytest.mark.large
            yield pytest.param(asked, worn, id=f"{asked.name}-{worn}", marks=[] if asked.name == "rnn_step" else [mark])


@pytest.mark.parametrize(("asked", "worn"), list(worn_by_each()))
def test_a_misconception_in_disguise_is_called_by_its_name(asked, worn):
    change = partial(partial, dressed, DISGUISES[worn])
    if mutants.told(asked, change(asked.right)) != mutants.PASSED:
        pytest.skip(f"{asked.name} wants a tensor")
    said = [(one.name, mutants.told(asked, change(one.answer))) for one in asked.misconceptions]
    assert [pair for pair in said if pair[0] != pair[1]] == []


# ---- the bank: answers that were not made from the checks ----


def some_of_each():
    """`make check` tries one wrong answer to each exercise, `make test` three, `make test-all` all."""
    met = Counter()
    for answer in WRONG:
        met[answer.exercise] += 1
        mark = pytest.mark.slow if met[answer.exercise] <= 3 else pytest.mark.large
        yield pytest.param(answer, id=name(answer), marks=[] if met[answer.exercise] == 1 else [mark])


@pytest.mark.parametrize("answer", list(some_of_each()))
def test_a_wrong_answer_gets_its_hint(answer):
    with pytest.raises(Wrong) as caught:
        judge(answer)
    message = str(caught.value)
    first = message.splitlines()[0] == f"✗ {answer.exercise}: {answer.says}."
    assert first or f"gives the same results as this mistake: {answer.says}." in message, message


@pytest.mark.parametrize("answer", RIGHT, ids=name)
def test_a_right_answer_passes_in_any_style(answer):
    judge(answer)


def test_each_exercise_has_two_right_answers_in_other_styles():
    counts = Counter(answer.exercise for answer in RIGHT)
    lacking = [n for n, asked in exercises().items() if counts[n] < (2 if isinstance(asked, Exercise) else 1)]
    assert lacking == [], "tests/wrong_answers lacks right answers to these"


def test_each_exercise_has_three_wrong_answers_that_were_not_made_from_the_checks():
    counts = Counter(answer.exercise for answer in WRONG)
    lacking = [n for n in exercises() if counts[n] < 3]
    assert lacking == [], "tests/wrong_answers lacks wrong answers to these"
