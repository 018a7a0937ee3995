"""Defines exercises, questions, their cases and misconceptions, and the errors that checks raise. All modules import it."""

import inspect
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import torch

from course_lib.checks.told import Told
from course_lib.processes import in_a_notebook


class Wrong(Exception):  # noqa: N818 - a learner reads the name
    """An answer that is not right. The message is shown without a traceback, in a notebook as a box above the error."""

    boxed = False

    def show(self) -> None:
        """In a notebook, displays the message as a box; the error then shows a single line, and the cell still fails."""
        if in_a_notebook() and isinstance(told := self.args[0], Told):
            told.show()
            self.boxed = True

    def _render_traceback_(self) -> list[str]:
        return [self.args[0].stopped()] if self.boxed else str(self).splitlines()


class BrokenCheckError(RuntimeError):
    """The code that computes the right answer fails, so no answer can be compared."""


@dataclass(frozen=True)
class Misconception:
    """A wrong answer that people really give.

    Args:
        name: what is wrong, such as "softmax over the wrong axis".
        hint: what to look at, in a sentence or two; never the solution.
        answer: a function that gives the wrong results, or the wrong value.
        changes: pairs of old and new words, if it is an edit of the right source.
    """

    name: str
    hint: str
    answer: object
    changes: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, eq=False)
class Case:
    """One input: what is special about it, and the arguments by name."""

    about: str
    arguments: Mapping[str, object]


@dataclass(frozen=True, eq=False)
class Exercise:
    """A function or class to write.

    Args:
        name: name of the answer in the notebook.
        lesson: name of the lesson.
        cases: draws the inputs from a generator, the smallest first.
        right: computes the right result for an input.
        see: where to read on: lesson and section, or a glossary entry.
        drive: runs the learner's object; if not given, the object is called with the arguments in their order. It must
            import inside what it needs, since a grader sends its source to the learner's kernel.
        tolerance: largest difference at which numbers count as equal, absolute and relative.
        banned: functions, classes and modules that the exercise forbids, such as "torch.nn.functional.relu".
        tensor: whether the result must be a tensor, since the cells below use it, and not a list of numbers.
    """

    name: str
    lesson: str
    cases: Callable[[torch.Generator], Sequence[Case]]
    right: Callable
    see: str
    drive: Callable | None = None
    tolerance: float = 1e-5
    banned: tuple[str, ...] = ()
    tensor: bool = False
    misconceptions: list[Misconception] = field(default_factory=list, kw_only=True)  # the most telling first

    def misconception(self, name: str, hint: str) -> Callable[[Callable], Callable]:
        """Registers a wrong answer with its name and hint; of those that cannot be told apart, the first is named.

        Args:
            name: what is wrong, such as "softmax over the wrong axis".
            hint: what to look at, in a sentence or two; never the solution.
        """

        def file(answer: Callable) -> Callable:
            self.misconceptions.append(Misconception(name, hint, answer))
            return answer

        return file

    def edit(self, name: str, hint: str, *changes: tuple[str, str]) -> None:
        """Registers the right source with a few words changed, as the misconception `name`.

        Args:
            name, hint: see `misconception`.
            changes: pairs of words in the source of `right` and their replacements.
        Raises:
            ValueError: some words don't occur exactly once in the source, so it isn't clear what to change.
        """
        try:
            self.misconceptions.append(Misconception(name, hint, self.edited(*changes), changes))
        except ValueError as error:
            raise ValueError(f"{self.name}, {name!r}: {error}") from None

    def edited(self, *changes: tuple[str, str]) -> Callable:
        """Returns the right function with a few words of its source changed. Raises as `edit`."""
        return self.made(self.source(*changes))

    def source(self, *changes: tuple[str, str]) -> str:
        """Returns the right source with a few words changed. Raises as `edit`."""
        source = _source(self.right)
        for old, new in changes:
            if source.count(old) != 1:
                raise ValueError(f"{old!r} stands {source.count(old)} times in\n{source}")
            source = source.replace(old, new)
        return source

    def made(self, source: str) -> Callable:
        """Returns the function that a changed source of `right` defines. It may raise SyntaxError."""
        made = {}
        right = inspect.unwrap(self.right)  # a decorator hides its globals
        exec(source, right.__globals__, made)  # not a copy of the globals, so that helpers defined later are found
        return made[self.right.__name__]

    def run(self, answer: Callable, arguments: Mapping[str, object]) -> object:
        return answer(*arguments.values()) if self.drive is None else self.drive(answer, **arguments)


@lru_cache(100)
def _source(function: Callable) -> str:
    return textwrap.dedent(inspect.getsource(function))


@dataclass(frozen=True)
class Question:
    """A value to find: a number, a shape, a word, or a list of those.

    Args:
        right: computes the right value.
        misconceptions: wrong values to look for, the most telling first.
        tolerance: how far off a number may be.

    The other arguments are those of `Exercise`. A misconception's answer is a value, or a function that computes it.
    """

    name: str
    lesson: str
    right: Callable[[], object]
    misconceptions: tuple[Misconception, ...]
    see: str
    tolerance: float = 1e-5
