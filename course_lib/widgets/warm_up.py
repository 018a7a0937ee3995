"""Frames of the warm-up: softmax of scores, and steps down a curve."""

import html
from collections.abc import Callable, Sequence

import numpy as np

from course_lib.widgets.drawing import label, svg


def softmax_frame(words: Sequence[str], *scores: float) -> str:
    """The softmax weights of the scores, one bar per word, next to the powers exp(score) that they come from."""
    powers = np.exp(scores)
    weights = powers / powers.sum()
    rows = []
    for i, (word, score, power, weight) in enumerate(zip(words, scores, powers, weights, strict=True)):
        top, line, length = 32 * i + 6, 32 * i + 22, 150 * weight
        rows.append(
            f'<text y="{line}">{html.escape(word)}<tspan x="46">exp({score}) = {power:.2f}</tspan></text>'
            f'<path d="M170 {top}h{length:.1f}v22H170" fill="#0072b2"/>'
            f"{label(length + 176, line, f'{weight:.3f}')}"
        )
    said = ", ".join(f"{html.escape(word)} {weight:.3f}" for word, weight in zip(words, weights, strict=True))
    return (
        f"{svg(370, 32 * len(words), ''.join(rows), f'weights: {said}')}"
        f"<div>sum of the powers: {powers.sum():.2f}; each is divided by it, so the weights add up to 1</div>"
    )


def descent_frame(
    loss: Callable, slope: Callable, start: float, span: tuple[float, float], rate: float, steps: int
) -> str:
    """The curve of `loss` over `span`, and the path of `steps` steps  w <- w - rate * slope(w)  from `start`."""
    path = [start]
    for _ in range(steps):
        path.append(path[-1] - rate * slope(path[-1]))
    low, high = span
    grid = np.linspace(low, high, 25)
    tallest = max(loss(w) for w in grid)

    def place(w: float, height: float) -> str:
        return f"{20 + 350 * (w - low) / (high - low):.0f} {180 - 155 * height / tallest:.0f}"

    def number(value: float) -> str:
        return f"{value:.2f}".replace("-0.00", "0.00").replace("-", "−")

    curve = "L".join(place(w, loss(w)) for w in grid)
    way = "L".join(place(w, loss(w)) for w in path)
    w, rise = path[-1], slope(path[-1])
    tangent = "L".join(place(w + d, loss(w) + d * rise) for d in (-0.1 * (high - low), 0.1 * (high - low)))
    ticks = "".join(
        f'<text x="{x}" y="199" text-anchor="middle">{tick:g}</text>'
        for x, tick in ((20, low), (195, (low + high) / 2), (370, high))
    )
    off = "" if low <= w <= high else ", off the picture"
    here = f"after {steps} {'step' if steps == 1 else 'steps'}: w = {number(w)}, loss {number(loss(w))}{off}"
    drawn = (
        f'<g fill="none" stroke-width="2"><path d="M{curve}" stroke="#999"/><path d="M{way}" stroke="#0072b2"/>'
        f'<path d="M{way.replace("L", "h.1M")}h.1" stroke="#0072b2" stroke-width="9" stroke-linecap="round"/>'
        f'<path d="M{tangent}" stroke="#d55e00" stroke-width="3" stroke-dasharray="6 4"/></g>'
        f'{ticks}<text y="12">loss</text><text x="282" y="199">w</text>'
    )
    return (
        f"{svg(390, 205, drawn, f'the loss as a curve over w; {here}')}<div>w: {' → '.join(map(number, path))}</div>"
        f"<div><b>{here}</b></div><div>slope there (dashed) {number(rise)}; "
        f"the next step moves w by −{rate:g} · ({number(rise)}) = {number(-rate * rise)}</div>"
    )
