"""Answers that people really give to the exercises, right and wrong, and what the check must say to each."""

from collections.abc import Callable
from typing import NamedTuple


class Answer(NamedTuple):
    """An answer to an exercise: what the check must say of it ("" if it is right), and where it was defined."""

    exercise: str
    says: str
    answer: object
    about: str


BANK: list[Answer] = []


def wrong(exercise: str, says: str) -> Callable:
    """Files a function as a wrong answer, to which the check must say `says`."""
    return lambda answer: BANK.append(Answer(exercise, says, answer, answer.__name__)) or answer


def right(exercise: str) -> Callable:
    """Files a function as a right answer."""
    return lambda answer: BANK.append(Answer(exercise, "", answer, answer.__name__)) or answer


def wrong_value(exercise: str, value: object, says: str) -> None:
    """Files a value as a wrong answer to a question."""
    BANK.append(Answer(exercise, says, value, repr(value)))


def right_value(exercise: str, value: object) -> None:
    """Files a value as a right answer to a question."""
    BANK.append(Answer(exercise, "", value, repr(value)))
