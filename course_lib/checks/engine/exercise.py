"""What there is to write or to find, and what is raised of an answer. Every module of the checks may import it."""

import inspect
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import torch

from course_lib.checks.told import Told
from course_lib.processes import in_a_notebook


class Wrong(Exception):  # noqa: N818 - a learner reads the name
    """An answer that is not right. What is told of it is shown without a traceback; in a notebook as a box above the error."""

    boxed = False

    def show(self) -> None:
        """In a notebook, displays what is told; of the error itself one line is left, and the cell fails as before."""
        if in_a_notebook() and isinstance(told := self.args[0], Told):
            told.show()
            self.boxed = True

    def _render_traceback_(self) -> list[str]:
        return [self.args[0].stopped()] if self.boxed else str(self).splitlines()


class BrokenCheckError(RuntimeError):
    """What computes the right answer fails, so that nobody's answer can be compared."""


@dataclass(frozen=True)
class Misconception:
    """A wrong answer that people really give.

    Args:
        name: what it is, such as "softmax over the wrong axis".
        hint: what to look at, in a sentence or two; never the solution.
        answer: a function that gives the wrong results, or the wrong value.
        changes: what makes it of the source of what is right, if it is an edit of that.
    """

    name: str
    hint: str
    answer: object
    changes: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, eq=False)
class Case:
    """One input: what is special about it, and the arguments by their names."""

    about: str
    arguments: Mapping[str, object]


@dataclass(frozen=True, eq=False)
class Exercise:
    """A function or class to write.

    Args:
        name: the name that the answer has in the notebook.
        lesson: name of the lesson.
        cases: draws the inputs from a generator, the smallest first.
        right: gives what is right for an input.
        see: where to read on: lesson and section, or a glossary entry.
        drive: what is done with the learner's object; it is called with the arguments, in their order, if not given. It
            stands by itself (imports inside), since a grader sends its source to the learner's kernel.
        tolerance: largest difference of a number that counts as equal, absolute and relative.
        banned: functions, classes and modules that the text says are not to be used, such as "torch.nn.functional.relu".
        tensor: whether the cells below go on with the result, so that it must be a tensor and not a list of the numbers.
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
        """Files a wrong answer beside its name and hint; of those that cannot be told apart, the first is named.

        Args:
            name: what it is, such as "softmax over the wrong axis".
            hint: what to look at, in a sentence or two; never the solution.
        """

        def file(answer: Callable) -> Callable:
            self.misconceptions.append(Misconception(name, hint, answer))
            return answer

        return file

    def edit(self, name: str, hint: str, *changes: tuple[str, str]) -> None:
        """Files what is right with a few words of its source changed, as the misconception `name`.

        Args:
            name: see `misconception`, as for `hint`.
            changes: pairs of words of the source of `right` and what stands there instead.
        Raises:
            ValueError: some words do not stand in the source exactly once, so it is not clear what is changed.
        """
        try:
            self.misconceptions.append(Misconception(name, hint, self.edited(*changes), changes))
        except ValueError as error:
            raise ValueError(f"{self.name}, {name!r}: {error}") from None

    def edited(self, *changes: tuple[str, str]) -> Callable:
        """What is right with a few words of its source changed. Raises as `edit`."""
        source = textwrap.dedent(inspect.getsource(self.right))
        for old, new in changes:
            if source.count(old) != 1:
                raise ValueError(f"{old!r} stands {source.count(old)} times in\n{source}")
            source = source.replace(old, new)
        made = {}
        right = inspect.unwrap(self.right)  # whose globals a decorator hides
        exec(source, right.__globals__, made)  # the globals themselves: later helpers of the module are found
        return made[self.right.__name__]

    def run(self, answer: Callable, arguments: Mapping[str, object]) -> object:
        return answer(*arguments.values()) if self.drive is None else self.drive(answer, **arguments)


@dataclass(frozen=True)
class Question:
    """A value to find: a number, a shape, a word, or a list of those.

    Args:
        right: computes what is right.
        misconceptions: values to look for, the most telling first.
        tolerance: how far off a number may be.

    The others are those of `Exercise`; a misconception's answer is a value, or a function that computes it.
    """

    name: str
    lesson: str
    right: Callable[[], object]
    misconceptions: tuple[Misconception, ...]
    see: str
    tolerance: float = 1e-5
