"""The lessons by name, in order, with the number at the beginning of each notebook's file name."""

from pathlib import Path

NUMBERS = {
    "warm_up": 0,
    "rnn_bottleneck": 1,
    "bahdanau_attention": 2,
    "scaled_dot_product": 3,
    "multi_head": 4,
    "transformer_built": 5,
    "transformer_trained": 6,
    "taken_apart": 7,
    "language_models": 8,
    "further_and_cheaper": 9,
    "looking_at_pictures": 10,
    "a_real_model": 11,
    "a_model_that_writes": 12,
    "opened_up": 13,
    "trained_to_please": 14,
}
LESSONS = tuple(NUMBERS)


def number_of(lesson: str) -> int:
    """Returns the number of the lesson. Raises ValueError if there is no lesson of that name."""
    if lesson not in NUMBERS:
        raise ValueError(f"there is no lesson {lesson!r}; the lessons are {', '.join(LESSONS)}")
    return NUMBERS[lesson]


def name_of(notebook: Path | str) -> str:
    """Returns the name of a notebook's lesson: the file's name without its number and ending.

    >>> name_of("01_rnn_bottleneck.ipynb")
    'rnn_bottleneck'
    """
    return Path(notebook).stem.lstrip("0123456789_")
