"""Gives instant feedback on the exercises: `checks.check("name", answer)` says whether an answer is right, or why not."""

import importlib
import pkgutil
import traceback
from functools import cache
from pathlib import Path

from IPython import get_ipython
from IPython.display import display

from course_lib.checks import places, record, report
from course_lib.checks.engine import Exercise, Question, Wrong, ask, examine
from course_lib.checks.told import BLANK, RESULTS, RIGHT, Told
from course_lib.curriculum import LESSONS
from course_lib.processes import in_a_notebook

HERE = {module.name for module in pkgutil.iter_modules(__path__)}
EXERCISED = tuple(lesson for lesson in LESSONS if lesson in HERE)


@cache
def exercises() -> dict[str, Exercise | Question]:
    """Every exercise and question by name, in the order of the lessons."""
    modules = [importlib.import_module(f"course_lib.checks.{lesson}") for lesson in EXERCISED]
    return {asked.name: asked for module in modules for asked in module.ASKED}


def check(name: str, answer: object, seed: int = 0) -> None:
    """Tries an answer. If it is right, shows a tick and records it in the workbook; if not, says what is wrong.

    The workbook keeps a log of all checks, `tries.txt`.

    Args:
        name: name of the exercise.
        answer: the learner's function, class or value.
        seed: seed of the inputs.
    Raises:
        Wrong: the answer is not right; the message says why.
        LookupError: there is no such exercise.
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
        record.note(name, RESULTS[wrong.args[0].sign])
        wrong.show()
        raise
    record.note(name, RESULTS[RIGHT])
    following = ""
    try:
        record.remember(name, lessons())
        following = places.following(*_standing(name), record.home(), Path.cwd(), after=name)
    except OSError:
        following = "Your workbook can't be written to, so it doesn't remember this."
    finally:  # show the tick even if the record cannot be read
        Told(RIGHT, name, what, following=following).show()


def _standing(name: str) -> tuple[dict[str, str], dict[str, str]]:
    """Returns what is done, by name, and the lessons. Outside a workbook, all exercises before this one count as done."""
    folder = record.workbook()
    if folder:
        return record.done(folder), lessons()
    names = list(lessons())
    return dict.fromkeys(names[: names.index(name) + 1], ""), lessons()


def lessons() -> dict[str, str]:
    """The lesson of every exercise, by the exercise's name."""
    return {asked.name: asked.lesson for asked in exercises().values()}


def progress() -> None:
    """Shows which exercises are done, and writes progress.html into the workbook, to print or to show."""
    folder = record.workbook()
    passed = record.done(folder)
    following = places.following(passed, lessons(), record.home(), Path.cwd())
    page = ["", report.told(folder, lessons())] if folder else []
    table = "\n".join([following, "", *record.rows(passed, lessons()), *page])
    display({"text/markdown": table, "text/plain": table}, raw=True)


def _not_defined(shell, kind, error, trace, tb_offset=None) -> None:
    """Says which cell to run if a check runs before the cell that it checks; shows other errors as always.

    IPython calls this for a NameError, since Python looks up a check's argument before the check begins.
    """
    if "checks.check(" in (traceback.extract_tb(trace)[-1].line or ""):
        asked = exercises().get(error.name)
        heading = f", under “{places.exercise(asked.name, asked.lesson)[0]}”" if asked else ""
        hint = f"The cell that defines it is above this one{heading}. Run that cell, then this one again."
        told = Told(BLANK, error.name, f"{error.name} is not defined yet", hint)
        told.show()
        error._render_traceback_ = lambda: [told.stopped()]
    shell.showtraceback((kind, error, trace), tb_offset=tb_offset)


if in_a_notebook():
    get_ipython().set_custom_exc((NameError,), _not_defined)


__all__ = ["Exercise", "Question", "Wrong", "check", "exercises", "progress"]
