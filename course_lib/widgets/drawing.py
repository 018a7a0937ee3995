"""How frames are drawn.

Colours must be visible on white and on black, and no word may be on one of them. A drawing is as wide as its card, up
to a limit (see explorer.css). A phone shows a width of 26 times the letters' size and puts drawings below each other.
What moves between two frames glides if `d`, `x`, `width` or `transform` says where it is, as for labels at bars' ends.
"""

import html
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np


class Axis(NamedTuple):
    """From numbers to pixels: `low` is at the pixel `start`, `high` at `end`, and all others in proportion.

    >>> Axis(0, 8, 194, 122)(4)
    158.0
    """

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float | np.ndarray) -> float | np.ndarray:
        return self.start + (self.end - self.start) * (value - self.low) / (self.high - self.low)


def svg(wide: float, tall: float, content: str, told: str = "", size: int = 15) -> str:
    """A drawing with letters of `size` pixels, which scrolls before they shrink below 12. `told` is its description."""
    image = f' role="img" aria-label="{told}"' if told else ""
    return (
        f'<svg viewBox="0 0 {wide} {tall}" width="{wide}" height="{tall}" style="--wide:{wide};--letters:{size}" '
        f'fill="currentColor" font-size="{size}"{image}>{content}</svg>'
    )


def label(x: float, y: float, text: str, more: str = "") -> str:
    """A text that glides to its position in the next frame."""
    return f'<text transform="translate({x:.0f} {y:.0f})"{more}>{text}</text>'


def beside(told: str, *drawings: str) -> str:
    """Several drawings as one picture."""
    return f'<div class="am-beside" role="img" aria-label="{told}">{"".join(drawings)}</div>'


LONGEST, ROOM = 16, 140  # letters of a candidate, and their width
VISIBLE = str.maketrans({" ": "·", "\n": "↵", "\t": "⇥"})


def most_probable(candidates: dict[str, float], digits: int, told: str, room: int = 84) -> str:
    """Words and their probabilities, as bars. `room` is the width of the widest word."""
    rows = "".join(
        f'<text x="{room}" y="{17 + 24 * row}" text-anchor="end">{html.escape(word)}</text>'
        f'<rect x="{room + 8}" y="{3 + 24 * row}" width="{150 * probability:.0f}" height="18" fill="#009e73"/>'
        f"{label(room + 14 + 150 * probability, 17 + 24 * row, f'{probability:.{digits}f}')}"
        for row, (word, probability) in enumerate(candidates.items())
    )
    listed = ", ".join(f"{html.escape(word)} {probability:.{digits}f}" for word, probability in candidates.items())
    return svg(room + 214, 24 * len(candidates) + 2, rows, f"{told}: {listed}")


def likeliest_tokens(candidates: Mapping[str, float], told: str) -> str:
    """Draws `most_probable` for tokens: a space is shown as ·, a new line as ↵ and a tab as ⇥, and a long token is cut.

    Raises ValueError if there are no candidates, a less likely one comes first, or a probability is not in 0 … 1.
    """
    if not candidates or list(candidates.values()) != sorted(candidates.values(), reverse=True):
        raise ValueError(f"the candidates are {dict(candidates)}; give one or more, the likeliest first")
    named = {}
    for token, probability in candidates.items():
        if not 0 <= probability <= 1 + 1e-4:
            raise ValueError(f"the probability of {token!r} is {probability}; it must be in 0 … 1")
        spelled = token.translate(VISIBLE)
        named[spelled if len(spelled) <= LONGEST else spelled[: LONGEST - 1] + "…"] = probability
    return most_probable(named, 2, told, ROOM)


def spread(scores: np.ndarray) -> np.ndarray:
    """Softmax along the last axis."""
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def percent(weights: Iterable[float]) -> str:
    """As in: 25%, 75%."""
    return ", ".join(f"{weight:.0%}" for weight in weights)
