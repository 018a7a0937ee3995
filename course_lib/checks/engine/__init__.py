"""Tries a learner's answer on many inputs, compares it with what is right, and names the misconception.

An exercise is a function (or class) to write, a question a value to find. What is right comes from torch's operators
or plain arithmetic, never from a solution. A misconception is itself an answer: where the learner's results are those
of the misconception, that is what went wrong.

Everybody imports from here. The modules, each of which imports only from those before it: exercise, comparing, trying,
saying, differences, containers, describing, naming, examining, asking.
"""

from course_lib.checks.engine.asking import ask
from course_lib.checks.engine.comparing import plain, same
from course_lib.checks.engine.examining import examine, refuse_calls
from course_lib.checks.engine.exercise import BrokenCheckError, Case, Exercise, Misconception, Question, Wrong
from course_lib.checks.engine.trying import Outcome, attempt, calls_of

__all__ = [
    "BrokenCheckError",
    "Case",
    "Exercise",
    "Misconception",
    "Outcome",
    "Question",
    "Wrong",
    "ask",
    "attempt",
    "calls_of",
    "examine",
    "plain",
    "refuse_calls",
    "same",
]
