"""How frames are drawn.

Colours must be seen on white and on black, and no word may stand on one of them. 390 wide is what a phone shows
whole; drawings side by side go below each other there.
"""

import html
from collections.abc import Iterable

import numpy as np


def svg(wide: float, tall: float, content: str, told: str = "", size: int = 14, scale: int = 1) -> str:
    """A drawing with letters of `size` pixels that scrolls before they have less than 11; `told` says what is seen."""
    image = f' role="img" aria-label="{told}"' if told else ""
    return (
        f'<svg viewBox="0 0 {wide} {tall}" width="{scale * wide}" height="{scale * tall}" '
        f'style="min-width:{wide * 11 // size + 1}px" '
        f'fill="currentColor" font-size="{size}"{image}>{content}</svg>'
    )


def beside(told: str, *drawings: str) -> str:
    """Drawings that make one picture."""
    return f'<div role="img" aria-label="{told}">{"".join(drawings)}</div>'


def likeliest(candidates: dict[str, float], digits: int, told: str) -> str:
    """Words and their probabilities, as bars."""
    rows = "".join(
        f'<text x="96" y="{14 + 22 * row}" text-anchor="end">{html.escape(word)}</text>'
        f'<rect x="104" y="{1 + 22 * row}" width="{200 * probability:.0f}" height="17" fill="#009e73"/>'
        f'<text x="{110 + 200 * probability:.0f}" y="{14 + 22 * row}">{probability:.{digits}f}</text>'
        for row, (word, probability) in enumerate(candidates.items())
    )
    listed = ", ".join(f"{html.escape(word)} {probability:.{digits}f}" for word, probability in candidates.items())
    return f"<div>{svg(360, 22 * len(candidates), rows, f'{told}: {listed}')}</div>"


def spread(scores: np.ndarray) -> np.ndarray:
    """Softmax along the last axis."""
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def percent(weights: Iterable[float]) -> str:
    """As in: 25%, 75%."""
    return ", ".join(f"{weight:.0%}" for weight in weights)
