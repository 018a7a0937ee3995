"""Puts values, inputs and errors into words, and a check's message into one form. Every later module may import it."""

import inspect
import math
import re
import traceback
from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from course_lib.checks.engine.comparing import as_tensor, plain
from course_lib.checks.engine.exercise import Case, Exercise, Question
from course_lib.checks.engine.trying import Outcome, as_given
from course_lib.checks.told import WRONG, Told

INSTALLED = re.compile(r"[/\\](site-packages|course_lib)[/\\]")  # files that the learner didn't write
LARGEST_SHOWN = 24  # numbers of a tensor that a message prints; larger tensors are shown by shape
LONGEST_SHOWN = 400  # characters of any other value


def things(values: Sequence) -> str:
    return "1 thing" if len(values) == 1 else f"{len(values)} things"


def says(
    asked: Exercise | Question,
    what: str,
    hint: str,
    case: Case | None = None,
    outcome: Outcome | None = None,
    wanted: Outcome | None = None,
    answer: object = None,
) -> Told:
    given, results = [], []
    if case:
        given = [(name, short(value)) for name, value in as_given(asked, answer, case).items()]
    if outcome and wanted:
        came = type_name(outcome.error) if outcome.error else short(outcome.result)
        right = type(wanted.error).__name__ if wanted.error else short(wanted.result)
        results = [("came out", came), ("wanted", right)]
        if place := _first_difference(outcome.result, wanted.result):
            results.append(("first difference", place))
    about = case.about if case else ""
    return Told(WRONG, asked.name, what.rstrip("."), hint, about, given, results, asked.see, asked.lesson)


def line_of(error: BaseException) -> str:
    """The learner's line that raised an error, if it can be found."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.line for frame in frames if frame.line and not INSTALLED.search(frame.filename)]
    return f"In the line `{lines[-1]}`\n" if lines else ""


def _first_difference(given: object, wanted: object) -> str:
    """Says where two tensors that are too large to print first differ."""
    numbers, target = as_tensor(plain(given)), as_tensor(plain(wanted))
    if numbers is None or target is None or numbers.shape != target.shape or target.numel() <= LARGEST_SHOWN:
        return ""
    numbers, target = numbers.to(torch.float64), target.to(torch.float64)
    off = ~torch.isclose(numbers, target, rtol=1e-5, atol=1e-5, equal_nan=True)
    place = off.nonzero()[0].tolist() if off.any() else None
    if place is None:
        return ""
    one, other = (_rounded(tensor[tuple(place)].item()) for tensor in (numbers, target))
    return f"at {place}: {one}, wanted {other}"


def kind_of(value: object) -> str:
    if isinstance(value, Tensor):
        return f"a tensor of shape {tuple(value.shape)}" if value.ndim else "a number"
    if isinstance(value, np.ndarray):
        return f"a NumPy array of shape {value.shape}"
    if isinstance(value, tuple):
        return f"a tuple of {len(value)}"
    names = {
        bool: "True or False",
        int: "a number",
        float: "a number",
        str: "a text",
        list: "a list",
        type(None): "None",
    }
    return names.get(type(value), f"something of type {type_name(value)}")


def type_name(value: object) -> str:
    """The name of a value's type, or the one that `course_lib.grading.courier` received from a learner's kernel."""
    return inspect.getattr_static(value, "type_name", type(value).__name__)


def _rounded(value: object) -> object:
    if isinstance(value, list):
        return [_rounded(item) for item in value]
    if not isinstance(value, float):
        return value
    return round(value, 4) if 1000 <= abs(value) < 1e9 else float(f"{value:.4g}")


def short(value: object) -> str:
    """A value as Python source that can be pasted into a cell; larger values are described in words."""
    text = _source(value)
    if text is None:
        value = plain(value)
        if isinstance(value, Tensor):
            return f"tensor of shape {tuple(value.shape)}"
        if isinstance(value, list) and len(value) <= LARGEST_SHOWN:
            return ", ".join(map(short, value))
        return "a function" if callable(value) else kind_of(value)
    if len(text) > LONGEST_SHOWN:
        start = text[:LONGEST_SHOWN]
        return f"{kind_of(value)} that begins {start.rpartition(', ')[0] or start} …"
    return text


def _source(value: object) -> str | None:
    """Python source of a value, numbers rounded to four digits; None for large tensors and values without a source."""
    if isinstance(value, Tensor | np.ndarray | np.generic):
        value = plain(value)
        if not isinstance(value, Tensor):  # texts, dates, or other objects
            return repr(value) if isinstance(value, np.generic) else _source(value)
        return _source(value.tolist()) if value.numel() <= LARGEST_SHOWN else None
    if isinstance(value, float):
        odd = {math.inf: "torch.inf", -math.inf: "-torch.inf"}
        return "torch.nan" if math.isnan(value) else odd.get(value) or repr(_rounded(value))
    if isinstance(value, int) and value.bit_length() > 4 * LONGEST_SHOWN:
        return None  # Python refuses to write numbers with thousands of digits
    if isinstance(value, bool | int | complex | str | None):
        return repr(value)
    if isinstance(value, Mapping):
        pairs = [(_source(name), _source(item)) for name, item in value.items()]
        return None if any(None in pair for pair in pairs) else "{" + ", ".join(": ".join(pair) for pair in pairs) + "}"
    if isinstance(value, list | tuple | set | frozenset):
        parts = [_source(item) for item in (value if isinstance(value, list | tuple) else _in_order(value))]
        if None in parts:
            return None
        inside = ", ".join(parts)
        if isinstance(value, list):
            return f"[{inside}]"
        if isinstance(value, tuple):
            return f"({inside},)" if len(parts) == 1 else f"({inside})"
        return f"{{{inside}}}" if parts else "set()"
    return None


def _in_order(values: set | frozenset) -> list:
    try:
        return sorted(values)
    except Exception:  # such as tensors
        return sorted(values, key=repr)
