"""Instant feedback for the exercises: `checks.check("name", answer)` says at once what is right, or what is wrong and why."""

import importlib
from functools import cache

from IPython.display import display

from course_lib.checks import record
from course_lib.checks.engine import Exercise, Question, Wrong, ask, examine
from course_lib.curriculum import LESSONS

EXERCISED = LESSONS[1:]


@cache
def exercises() -> dict[str, Exercise | Question]:
    """Every exercise and question by its name, in the order of the lessons."""
    modules = [importlib.import_module(f"course_lib.checks.{lesson}") for lesson in EXERCISED]
    return {asked.name: asked for module in modules for asked in module.ASKED}


def check(name: str, answer: object, seed: int = 0) -> None:
    """Tries an answer; prints a tick and remembers it in the workbook, or says which misconception it shows.

    Args:
        name: of the exercise.
        answer: the learner's function, class or value.
        seed: of the inputs that are drawn.
    Raises:
        Wrong: the answer is not right; the message says why. LookupError: there is no such exercise.
    """
    if name not in exercises():
        raise LookupError(f"there is no exercise {name!r}; there are {', '.join(exercises())}")
    asked = exercises()[name]
    if isinstance(asked, Exercise):
        print(f"✓ {name}: right on all {examine(asked, answer, seed)} inputs.")
    else:
        ask(asked, answer)
        print(f"✓ {name}: right.")
    record.remember(name, lessons())


def lessons() -> dict[str, str]:
    """The lesson of every exercise, by the exercise's name."""
    return {asked.name: asked.lesson for asked in exercises().values()}


def progress() -> None:
    """Shows which exercises are done, lesson by lesson."""
    table = "\n".join(record.rows(record.done(record.workbook()), lessons()))
    display({"text/markdown": table, "text/plain": table}, raw=True)


__all__ = ["Exercise", "Question", "Wrong", "check", "exercises", "progress"]
