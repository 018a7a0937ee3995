"""Effects: means with a 95 % interval, and conditions that compare them with the smallest effect that matters.

An effect is compared only with `line`, the smallest effect of its unit that matters (in data/units.toml). The condition
"a > line" is true if the whole interval of a is above the line, false if all of it is below, and else undecided.
"""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy import special

from course_lib.files import DATA


@cache
def units() -> dict[str, dict]:
    """Returns the units of effects: `line`, the smallest effect that matters; `because`; and `factor` for a ratio."""
    return tomllib.loads((DATA / "units.toml").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Effect:
    """A mean with its 95 % interval. `effect` computes it.

    Args:
        unit: one of `units()`.
        over: what the interval is over, in words, such as "5 runs, paired".
    """

    mean: float
    low: float
    high: float
    unit: str
    over: str


def effect(values: Iterable[float], unit: str, over: str, *, beyond: float = 0.0) -> Effect:
    """Computes mean ± t · s / √n, with Student's t for n − 1 degrees of freedom, s the standard deviation, n values.

    For a factor it does so with logarithms, so the mean is the geometric one.

    Args:
        values: one per training or item; where runs are paired, the difference (for a factor, the ratio) of each pair.
        unit, over: as in `Effect`; `over` without the number of values, which is put before it.
        beyond: what is subtracted, such as the share that guessing gets right.
    Raises:
        KeyError: there is no such unit.
        ValueError: fewer than two values, a NaN, or a factor that isn't positive.

    >>> effect([0.2, 0.3, 0.4], "whole sentences right", "runs, paired")
    Effect(mean=0.3, low=0.0515862, high=0.548414, unit='whole sentences right', over='3 runs, paired')
    """
    values = np.asarray(list(values), dtype=float)
    if unit not in units():
        raise KeyError(f"there is no unit {unit!r}; there are {', '.join(units())}")
    if len(values) < 2:
        raise ValueError(f"an interval needs at least two values, and there are {len(values)}")
    if np.isnan(values).any():
        raise ValueError(f"value {int(np.isnan(values).argmax())} of {len(values)} is NaN; fix its measurement")
    factor = units()[unit].get("factor", False)
    if factor and not (values > 0).all():
        raise ValueError(f"a factor must be positive, and one is {values.min():g}; give the ratio of each pair")
    scaled = np.log(values) if factor else values - beyond
    off = special.stdtrit(len(values) - 1, 0.975) * scaled.std(ddof=1) / len(values) ** 0.5
    ends = np.array([scaled.mean(), scaled.mean() - off, scaled.mean() + off])
    return _effect(np.exp(ends) if factor else ends, unit, f"{len(values)} {over}")


def share(right: int, of: int, over: str, *, beyond: float = 0.0) -> Effect:
    """Computes the share of items that are right, with the interval of Clopper & Pearson 1934.

    The other arguments are those of `effect`.

    >>> share(8, 14, "pairs of sentences", beyond=0.5)
    Effect(mean=0.0714286, low=-0.211391, high=0.323389, unit='share of items', over='14 pairs of sentences')
    """
    low = special.betaincinv(right, of - right + 1, 0.025) if right else 0.0
    high = special.betaincinv(right + 1, of - right, 0.975) if right < of else 1.0
    return _effect(np.array([right / of, low, high]) - beyond, "share of items", f"{of} {over}")


def _effect(ends: Iterable[float], unit: str, over: str) -> Effect:
    return Effect(*(float(f"{end:.6g}") for end in ends), unit, over)


def place(unit: str, sign: int) -> float:
    """Returns where `line` (sign 1) or `-line` (sign −1) lies; for a factor, these are 1.2 and 1 / 1.2."""
    line = units()[unit]["line"]
    return line**sign if units()[unit].get("factor") else sign * line


class _Line:
    """The name `line` in a condition: for each effect, the smallest one of its unit that matters."""

    sign = 1

    def __neg__(self) -> "_Line":
        opposite = _Line()
        opposite.sign = -self.sign
        return opposite


class _Compared:
    """An effect in a condition: it is compared by the end of its interval that is for (`hoping`) or against."""

    def __init__(self, name: str, one: Effect, hoping: bool):
        self.name, self.one, self.hoping = name, one, hoping

    def __gt__(self, line) -> bool:
        return (self.one.high if self.hoping else self.one.low) > self._place(line)

    def __lt__(self, line) -> bool:
        return (self.one.low if self.hoping else self.one.high) < self._place(line)

    def _place(self, line) -> float:
        if not isinstance(line, _Line):
            raise TypeError(f"{self.name} is an effect; compare it with `line` or `-line`, by > or <, and nothing else")
        return place(self.one.unit, line.sign)


def condition(text: str, figures: Mapping[str, object]) -> bool | None:
    """Returns whether a condition is met, or None if an interval leaves it undecided."""
    sure, possible = (_met(text, figures, hoping) for hoping in (False, True))
    return sure if sure == possible else None


def _met(text: str, figures: Mapping[str, object], hoping: bool) -> bool:
    names = {n: _Compared(n, f, hoping) if isinstance(f, Effect) else f for n, f in figures.items()}
    if "not" in text.split():
        raise ValueError(f"the condition {text!r} has a `not`; turn the comparison around instead")
    try:
        answer = eval(text, {"__builtins__": {"min": min, "max": max, "abs": abs}}, {**names, "line": _Line()})
    except NameError as error:
        raise ValueError(f"the condition {text!r} uses {error.name!r}; the figures are {', '.join(figures)}") from None
    if not isinstance(answer, bool):
        raise TypeError(f"the condition {text!r} gives {answer!r}; it must be a comparison that is true or false")
    return answer
