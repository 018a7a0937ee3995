"""Frames of Bahdanau attention: a query that lights words up, and a decoder that looks at them."""

import html
from collections.abc import Iterable, Sequence

import numpy as np

from course_lib.widgets.drawing import beside, likeliest, percent, spread, svg


def flashlight_frame(words: Sequence[str], states: np.ndarray, degrees: float, length: float) -> str:
    """A query in the plane, the words' states, the weights softmax(q · h_i), and the context Σ α_i h_i.

    Args:
        states: (words, 2), of length about 1.
        degrees, length: where the query points, counted from the right against the clock, and how long it is.
    """
    angle = np.radians(degrees)
    query = length * np.array([np.cos(angle), np.sin(angle)])
    weights = spread(states @ query)

    def at(vector: np.ndarray, scale: float = 75) -> str:
        return f"{150 + scale * vector[0]:.0f} {125 - scale * vector[1]:.0f}"

    plane, bars = [], []
    for row, (word, state, weight) in enumerate(zip(words, states, weights, strict=True)):
        # A word stands outwards of the light, so that it is never written on it.
        anchor = "middle" if abs(state[0]) < 0.35 else "start" if state[0] > 0 else "end"
        plane.append(
            f'<path d="M{at(state)}h.1" stroke="#f0e442" stroke-width="{44 * weight:.0f}" stroke-linecap="round"/>'
            f'<path d="M150 125L{at(state)}" stroke="#0072b2" stroke-width="{1.5 + 6 * weight:.1f}"/>'
            f'<path d="M{at(state)}h.1" stroke="#0072b2" stroke-width="10" stroke-linecap="round"/>'
            f'<text x="{150 + 101 * state[0]:.0f}" y="{129 - 104 * state[1]:.0f}" text-anchor="{anchor}">'
            f"{html.escape(word)}</text>"
        )
        y = 30 + 32 * row
        bars.append(
            f'<text x="50" y="{y + 5}" text-anchor="end">{html.escape(word)}</text>'
            f'<rect x="60" y="{y - 9}" width="{140 * weight:.0f}" height="18" fill="#0072b2"/>'
            f'<text x="{66 + 140 * weight:.0f}" y="{y + 5}">{weight:.2f}</text>'
        )
    context = weights @ states
    plane.append(
        f'<path d="M150 125L{at(context)}" stroke="#d55e00" stroke-width="3"/>'
        f'<path d="M{at(context)}h.1" stroke="#d55e00" stroke-width="12" stroke-linecap="round"/>'
        f'<path d="M150 125L{at(query, 15)}" stroke="currentColor" stroke-width="2" stroke-dasharray="5 3"/>'
    )
    told = f"weights {html.escape(', '.join(words))}: {percent(weights)}"
    drawings = svg(300, 250, "".join(plane)), svg(240, 40 + 32 * len(words), "".join(bars))
    return (
        f"{beside(told, *drawings)}"
        "<div>dashed: the query, drawn smaller · blue: the states, lit by their weight · orange: the context, at "
        f"({context[0]:.2f}, {context[1]:.2f})</div>"
    )


def attention_frame(
    source: Sequence[str],
    weights: Sequence[float],
    written: Sequence[str],
    candidates: dict[str, float],
    gold: Iterable[int] = (),
    scores: Sequence[float] = (),
) -> str:
    """One step of a decoder: the weights over the source words, and the likeliest words.

    Args:
        written: the words so far; the last is the one that this step writes.
        candidates: the likeliest words and their probabilities.
        gold: positions of the source words that the written word translates; they are marked.
        scores: written above the weights, if given.
    """
    width = max(64, *(9 * len(word) + 14 for word in source))
    parts = []
    for i, (word, weight) in enumerate(zip(source, weights, strict=True)):
        x = width * (i + 0.5)
        tall = 80 * weight
        parts.append(f'<rect x="{x - 20:.0f}" y="{106 - tall:.0f}" width="40" height="{tall + 1:.0f}" fill="#0072b2"/>')
        parts.append(f'<text x="{x:.0f}" y="{100 - tall:.0f}">{weight:.2f}</text>')
        parts.append(f'<text x="{x:.0f}" y="124">{html.escape(word)}</text>')
        if scores:
            parts.append(f'<text x="{x:.0f}" y="12">e = {scores[i]:.1f}</text>')
        if i in gold:
            parts.append(f'<text x="{x:.0f}" y="140" fill="#d55e00">◆</text>')
    label = f"weights over {html.escape(' '.join(source))}: {percent(weights)}"
    columns = f'<g text-anchor="middle">{"".join(parts)}</g>'
    return (
        f"<div>written: {html.escape(' '.join(written[:-1]))} <b>{html.escape(written[-1])}</b></div>"
        f"{svg(width * len(source), 146, columns, label)}{likeliest(candidates, 2, 'likeliest words')}"
    )
