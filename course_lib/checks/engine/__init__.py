"""Tries a learner's answer on many inputs, compares it with the right results, and names the misconception.

An exercise asks for a function or class, a question asks for a value. The right results come from torch's operators or
plain arithmetic, never from a solution. A misconception is itself an answer. If the learner's results equal those of a
misconception, the check names that misconception.

All other code imports from here. The modules are, in this order: exercise, comparing, trying, saying, differences,
containers, describing, joining, naming, examining, asking. Each one imports only from modules before it.
"""

from course_lib.checks.engine.asking import ask
from course_lib.checks.engine.comparing import plain, same
from course_lib.checks.engine.examining import examine, refuse_calls
from course_lib.checks.engine.exercise import BrokenCheckError, Case, Exercise, Misconception, Question, Wrong
from course_lib.checks.engine.naming import LIKE
from course_lib.checks.engine.trying import Outcome, attempt, calls_of

__all__ = [
    "LIKE",
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
