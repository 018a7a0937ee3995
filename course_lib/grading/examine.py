"""Asks the learner's kernel for plain data, and compares it outside that kernel, in the process of `judge`.

Nothing that the learner can patch decides a mark. Inputs and correct answers are made here, and the learner's answers
are compared here. A learner who patches `json`, numpy or the kernel itself spoils only their own answer.
"""

import inspect
import json
import re
import textwrap
from collections.abc import Sequence
from dataclasses import replace

import torch

from course_lib.checks.engine import (
    BrokenCheckError,
    Case,
    Exercise,
    Question,
    Wrong,
    ask,
    calls_of,
    examine,
    refuse_calls,
    same,
)
from course_lib.grading import courier
from course_lib.grading.submission import LONGEST_REASON, printable

LARGEST_ANSWER = 50_000_000  # characters
UNANSWERED = "NameError", "NotImplementedError"  # an answer raises these if it hasn't been written yet
# How the check of a question says that a value is of another kind: the value's, and the kind of the answer.
OTHER_KIND = re.compile(
    r"\A✗ [^\n]* is (a [^.\n]*|True or False|something of type [^.\n]*)\.\n"
    r"  The answer is (a number|a text|a list|True or False)\b"
)
MOST_ITEMS = 100_000  # in an answer's lists; each becomes a tensor of its own


def cases_of(asked: Exercise, seed: int) -> Sequence[Case]:
    return asked.cases(torch.Generator().manual_seed(seed))


def question_for_kernel(asked: Exercise | Question, expression: str, seed: int) -> str:
    """Returns code that makes the kernel answer. It imports nothing of the course and leaves no name in the notebook.

    Raises:
        ValueError: an input of the exercise is not plain data, or its drive is not defined with def.
    """
    inputs, drive = None, "None"
    banned = getattr(asked, "banned", ())
    program = [inspect.getsource(courier), inspect.getsource(calls_of)]
    if isinstance(asked, Exercise):
        inputs = [{n: courier.pack(value) for n, value in case.arguments.items()} for case in cases_of(asked, seed)]
        if '"other":' in json.dumps([[*packed.values()] for packed in inputs]):
            raise ValueError(
                f"{asked.name}: an input is not a number, text, list, tuple, set, dict or tensor; make it in drive"
            )
        if asked.drive is not None:
            source = textwrap.dedent(inspect.getsource(asked.drive))
            if not source.startswith("def "):
                raise ValueError(f"{asked.name}: its drive must be a function defined with def, not a lambda")
            program.append(f"driven = {{}}\nexec({source!r}, driven)")
            drive = f"driven[{asked.drive.__name__!r}]"
    given = f"{expression!r}, learner, {drive}, json.loads({json.dumps(inputs)!r}), {banned!r}, calls_of"
    program.append(f"publish(answer({given}))")
    # Go through a new function, since a learner may have variables named exec and globals.
    new = "(lambda: None)"
    names = f"{{'__name__': 'course_grader', 'learner': {new}.__globals__}}"
    return f"{new}.__builtins__['exec']({chr(10).join(program)!r}, {names})"


class _Replies:
    """Replays the learner's object: returns its results call by call, and the same result if asked again."""

    __name__ = "__call__"  # tells the engine that the errors are the learner's own
    __signature__ = 0  # no signature: the learner's argument names aren't known here

    def __init__(self, cases, outcomes):
        self.outcomes, self.given = iter(outcomes), [*zip(cases, outcomes, strict=True)]

    def __call__(self, arguments):
        gave = next(self.outcomes, None)
        if gave is None:
            gave = next(gave for case, gave in self.given if same(case.arguments, arguments, 0.0))
        outcome, after = gave
        arguments.update(after)  # as the learner's object changed them
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


class _Replayed(Exercise):
    """Lets the engine compare an exercise that was answered elsewhere like any other."""

    def run(self, answer, arguments):
        return answer(arguments) if isinstance(answer, _Replies) else super().run(answer, arguments)


def _unpack_outcome(packed: dict) -> tuple[object, dict]:
    after = {name: courier.unpack(value) for name, value in packed["arguments"].items()}
    if "error" in packed:
        return courier.unpack_error(packed["error"], packed["text"]), after
    return courier.unpack(packed["result"]), after


def judge(asked: Exercise | Question, text: str | None, seed: int) -> int | None:
    """Compares a kernel's answer with the correct one; returns the number of inputs.

    Args:
        text: the kernel's answer; None if there was none.
    Raises:
        Wrong: the answer is wrong; the reason is worded as in the learner's own check.
    """
    if text is None:
        raise Wrong(f"✗ {asked.name}: no answer came back.")
    # An error here is the check's own. Errors below come from the kernel's answer.
    wanted = cases_of(asked, seed) if isinstance(asked, Exercise) else asked.right()
    try:
        return _compare(asked, wanted, text, seed)
    except (Wrong, BrokenCheckError):
        raise
    except Exception as error:
        raise Wrong(f"✗ {asked.name}: what came back is not an answer ({error}).") from None


def _compare(asked: Exercise | Question, wanted: object, text: str, seed: int) -> int | None:
    if len(text) > LARGEST_ANSWER or text.count(",") > MOST_ITEMS:
        raise ValueError("it is too large")
    found = json.loads(text)
    if missing := found.get("missing"):
        sign = "○" if missing.startswith(UNANSWERED) else "✗"
        raise Wrong(f"{sign} {asked.name}: {missing}.")
    if isinstance(asked, Question):
        return ask(replace(asked, right=lambda: wanted), courier.unpack(found.get("value")))
    drawn = iter([wanted])  # once: the kernel cannot be asked again
    replayed = _Replayed(**{**vars(asked), "cases": lambda generator: next(drawn, []), "banned": ()})
    if "value" in found:
        return examine(replayed, courier.unpack(found["value"]), seed)
    outcomes = [_unpack_outcome(packed) for packed in found["outcomes"]]
    if len(outcomes) != len(wanted):
        raise ValueError(f"it answers {len(outcomes)} of {len(wanted)} inputs")
    count = examine(replayed, _Replies(wanted, outcomes), seed)
    refuse_calls(asked, [name for name in found.get("called", []) if name in asked.banned])
    return count


def without_secrets(said: str) -> str:
    """Returns what a learner may know of a hidden check: whether it passed, found no answer, or another kind.

    The kind is that of the learner's own value. No input and no number of the check is in the line.
    """
    if said.startswith("○"):
        return "○ a hidden check: no answer was found"
    line = f"{said[:1]} a hidden check"
    if not (found := OTHER_KIND.search(said)):
        return line
    given, wanted = found.groups()
    comma = ". Write a decimal with a point, not a comma" if (given[:7], wanted) == ("a tuple", "a number") else ""
    return printable(f"{line}: your value is {given}; {wanted} is asked for{comma}")


def reason(said: Wrong | str) -> str:
    """Returns the first line of a message, as a reason in a table."""
    line = str(said).partition("\n")[0]
    if line.startswith("○"):  # no answer yet: leave out the advice to the learner
        line = line.partition(". ")[0]
    return printable(line.lstrip("✗○ ").rstrip(".: ")[:LONGEST_REASON])
