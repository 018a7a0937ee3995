"""Instant feedback for the exercises: `checks.check("name", answer)` says at once what is right, or what is wrong and why."""

import importlib
import pkgutil
import traceback
from functools import cache
from pathlib import Path

from IPython import get_ipython
from IPython.display import display

from course_lib.checks import places, record
from course_lib.checks.engine import Exercise, Question, Wrong, ask, examine
from course_lib.checks.told import BLANK, RIGHT, Told
from course_lib.curriculum import LESSONS
from course_lib.processes import in_a_notebook

HERE = {module.name for module in pkgutil.iter_modules(__path__)}
EXERCISED = tuple(lesson for lesson in LESSONS if lesson in HERE)


@cache
def exercises() -> dict[str, Exercise | Question]:
    """Every exercise and question by its name, in the order of the lessons."""
    modules = [importlib.import_module(f"course_lib.checks.{lesson}") for lesson in EXERCISED]
    return {asked.name: asked for module in modules for asked in module.ASKED}


def check(name: str, answer: object, seed: int = 0) -> None:
    """Tries an answer; shows a tick and remembers it in the workbook, or says which misconception it shows.

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
    try:
        if isinstance(asked, Exercise):
            what = f"right on all {examine(asked, answer, seed)} inputs"
        else:
            ask(asked, answer)
            what = "right"
    except Wrong as wrong:
        wrong.show()
        raise
    following = ""
    try:
        record.remember(name, lessons())
        following = places.following(*_standing(name), record.home(), Path.cwd(), after=name)
    finally:  # a record that cannot be read takes nobody's tick
        Told(RIGHT, name, what, following=following).show()


def _standing(name: str) -> tuple[dict[str, str], dict[str, str]]:
    """What is done, by name, and the lessons; outside of a workbook what stands before this exercise counts as done."""
    folder = record.workbook()
    if folder:
        return record.done(folder), lessons()
    names = list(lessons())
    return dict.fromkeys(names[: names.index(name) + 1], ""), lessons()


def lessons() -> dict[str, str]:
    """The lesson of every exercise, by the exercise's name."""
    return {asked.name: asked.lesson for asked in exercises().values()}


def progress() -> None:
    """Shows which exercises are done, lesson by lesson."""
    passed = record.done(record.workbook())
    following = places.following(passed, lessons(), record.home(), Path.cwd())
    table = "\n".join([following, "", *record.rows(passed, lessons())])
    display({"text/markdown": table, "text/plain": table}, raw=True)


def _not_defined(shell, kind, error, trace, tb_offset=None) -> None:
    """Where a check is run before the cell that it checks, says which cell that is; other errors are shown as always.

    IPython calls this for a NameError: what a check is given is looked up before the check begins.
    """
    if "checks.check(" in (traceback.extract_tb(trace)[-1].line or ""):
        asked = exercises().get(error.name)
        heading = f", under “{places.exercise(asked.name, asked.lesson)[0]}”" if asked else ""
        hint = f"The cell that defines it stands above this one{heading}. Run that cell, then this one again."
        told = Told(BLANK, error.name, f"{error.name} is not defined yet", hint)
        told.show()
        error._render_traceback_ = lambda: [told.stopped()]
    shell.showtraceback((kind, error, trace), tb_offset=tb_offset)


if in_a_notebook():
    get_ipython().set_custom_exc((NameError,), _not_defined)


__all__ = ["Exercise", "Question", "Wrong", "check", "exercises", "progress"]
