"""The lessons by name, in their order. A lesson's number is its place here, and begins its notebook's file name."""

from pathlib import Path

LESSONS = (
    "warm_up",
    "rnn_bottleneck",
    "bahdanau_attention",
    "scaled_dot_product",
    "multi_head",
    "transformer_built",
    "transformer_trained",
    "taken_apart",
    "language_models",
    "further_and_cheaper",
)
FORMER = {"transformer": "transformer_trained"}  # older workbooks hold both halves in one, whose experiments are here


def number_of(lesson: str) -> int:
    """Its place among the lessons, from 0. Raises ValueError if there is no lesson of that name."""
    if lesson not in LESSONS:
        raise ValueError(f"there is no lesson {lesson!r}; there are {', '.join(LESSONS)}")
    return LESSONS.index(lesson)


def name_of(notebook: Path | str) -> str:
    """The name of the lesson in a notebook: its file's, without number and ending; today's, if it had another.

    >>> name_of("01_rnn_bottleneck.ipynb")
    'rnn_bottleneck'
    """
    name = Path(notebook).stem.lstrip("0123456789_")
    return FORMER.get(name, name)
