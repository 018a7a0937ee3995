"""Frames of the scaled dot product, and a painter of masks."""

import html
from collections.abc import Sequence

import numpy as np
import torch
import traitlets

from course_lib.files import DATA
from course_lib.masks import masked_softmax
from course_lib.widgets.drawing import beside, percent, spread, svg
from course_lib.widgets.shell import STYLE, Live


def query_key_value_frame(
    words: Sequence[str], keys: np.ndarray, values: np.ndarray, turned: int, degrees: float, key_degrees: float
) -> str:
    """A query among keys in one plane, and what it gets, the values' weighted sum, in another.

    Args:
        keys, values: (words, 2), of length about 1.
        turned: the word whose key points to `key_degrees` instead.
        degrees: where the query points, counted from the right against the clock; it is 2 long.
    """

    def pointing(angle: float) -> np.ndarray:
        return np.array([np.cos(np.radians(angle)), np.sin(np.radians(angle))])

    keys = keys.copy()
    keys[turned] = pointing(key_degrees)
    query = 2 * pointing(degrees)
    scores = keys @ query
    weights = spread(scores)
    output = weights @ values

    def arrow(vector: np.ndarray, width: float, colour: str, more: str = "") -> str:
        end = f"{105 + 75 * vector[0]:.0f} {130 - 75 * vector[1]:.0f}"
        return f'<path d="M105 130L{end}" stroke="{colour}" stroke-width="{width:.1f}"{more}/>'

    def name(vector: np.ndarray, text: str) -> str:
        away = 94 * vector / max(np.linalg.norm(vector), 1e-9) * min(1, np.linalg.norm(vector) + 0.1)
        return f'<text x="{105 + away[0]:.0f}" y="{134 - away[1]:.0f}" text-anchor="middle">{html.escape(text)}</text>'

    left, middle, right = [], [], []
    for row, (word, key, value, score, weight) in enumerate(zip(words, keys, values, scores, weights, strict=True)):
        y = 16 + 44 * row
        left += [arrow(key, 3, "#0072b2"), name(key, word)]
        right += [arrow(value, 1.5 + 7 * weight, "#009e73"), name(value, word)]
        middle.append(
            f'<text y="{y}">{html.escape(word)}: q·k = {score:.1f}</text>'
            f'<path d="M0 {y + 6}h{100 * weight:.0f}v14H0z" fill="#0072b2"/>'
            f'<text x="{6 + 100 * weight:.0f}" y="{y + 18}">{weight:.2f}</text>'
        )
    left.append(arrow(query / 2 * 1.15, 2, "currentColor", ' stroke-dasharray="5 3"'))
    right.append(arrow(output, 3, "#d55e00"))
    dot = f"{105 + 75 * output[0]:.0f} {130 - 75 * output[1]:.0f}"
    right.append(f'<path d="M{dot}h.1" stroke="#d55e00" stroke-width="12" stroke-linecap="round"/>')
    told = f"weights of {html.escape(', '.join(words))}: {percent(weights)}"
    drawings = (
        svg(210, 250, f'<text x="15" y="14">query and keys</text>{"".join(left)}'),
        svg(150, 44 * len(words), "".join(middle)),
        svg(210, 250, f'<text x="15" y="14">values and output</text>{"".join(right)}'),
    )
    return (
        f"{beside(told, *drawings)}"
        "<div>dashed: the query · blue: keys · green: values, the wider the more weight · orange: the output, at "
        f"({output[0]:.2f}, {output[1]:.2f})</div>"
    )


def width_frame(keys: int, width: int, draw: int) -> str:
    """Softmax weights of one random query over random keys of `width` numbers, undivided and divided by √width."""
    random = np.random.default_rng(1000 * draw + width)
    scores = random.normal(size=(keys, width)) @ random.normal(size=width)
    rows, said = [], []
    for row, (title, shown) in enumerate((("q·k", scores), ("q·k / √d_k", scores / width**0.5))):
        weights, base = spread(shown), 110 + 125 * row
        bars = "".join(f"M{4 + 32 * i} {base}v-{70 * weight + 1:.0f}h24V{base}z" for i, weight in enumerate(weights))
        rows.append(
            f'<text x="4" y="{base - 95}">{title}, from {shown.min():.1f} to {shown.max():.1f}</text>'
            f'<path d="M4 {base}h{32 * keys - 8}" stroke="#999"/>'
            f'<path d="{bars}" fill="{("#d55e00", "#0072b2")[row]}"/>'
            f'<text x="{16 + 32 * weights.argmax()}" y="{base - 70 * weights.max() - 6:.0f}" '
            f'text-anchor="middle">{weights.max():.2f}</text>'
        )
        said.append(f"{weights.max():.2f}")
    told = f"largest weight: {said[0]} undivided, {said[1]} divided by √{width}"
    return f"{svg(32 * keys + 6, 240, ''.join(rows), told)}<div><b>{told}</b></div>"


def temperature_frame(choices: dict[str, float], temperature: float, draws: int) -> str:
    """Boltzmann probabilities p = exp(−E / T) / Z of words with energies, and how often each is drawn.

    Args:
        choices: words and their energies E.
        draws: how many words are drawn, with a seed that does not change.
    """
    probabilities = spread(-np.array(list(choices.values())) / temperature)
    counts = np.random.default_rng(0).multinomial(draws, probabilities)
    rows = []
    for i, (word, energy, p, count) in enumerate(zip(choices, choices.values(), probabilities, counts, strict=True)):
        top = 34 * i + 4
        rows.append(
            f'<text y="{top + 17}">{html.escape(word)}<tspan x="66">E = {energy:g}</tspan>'
            f'<tspan x="{136 + 160 * p:.0f}">{p:.3f}</tspan></text>'
            f'<path d="M130 {top}h{160 * p:.1f}v13H130z" fill="#0072b2"/>'
            f'<path d="M130 {top + 15}h{160 * count / draws:.1f}v8H130z" fill="#e69f00"/>'
            f'<text x="388" y="{top + 17}" text-anchor="end">{count}</text>'
        )
    cheapest = min(choices, key=choices.get)
    others = 1 - counts[list(choices).index(cheapest)] / draws
    said = ", ".join(f"{html.escape(word)} {p:.3f}" for word, p in zip(choices, probabilities, strict=True))
    return (
        f"{svg(390, 34 * len(choices), ''.join(rows), f'probabilities: {said}')}"
        "<div>blue: probability · orange, and the number on the right: how often it was drawn</div>"
        f"<div><b>{others:.1%} of the draws are not {html.escape(cheapest)}, the cheapest word</b></div>"
    )


def mask_frame(words: Sequence[str], scores: np.ndarray, allowed: np.ndarray) -> str:
    """The weights that a softmax over the allowed cells of each row gives, as a table; empty rows are zeros."""
    weights = masked_softmax(torch.tensor(scores), torch.tensor(allowed)).tolist()
    rows = []
    for word, row, ticked in zip(words, weights, allowed, strict=True):
        cells = "".join(f"<td>{'☑' if on else '☐'} {weight:.2f}</td>" for on, weight in zip(ticked, row, strict=True))
        rows.append(f'<tr><th scope="row">{html.escape(word)}</th>{cells}</tr>')
    head = "".join(f'<th scope="col">{html.escape(word)}</th>' for word in words)
    return f"<table><tr><th>looks ↓ at →</th>{head}</tr>{''.join(rows)}</table>"


class MaskPainter(Live):
    """A mask to tick, cell by cell or a row or column at a time, and the weights that it leaves.

    Args:
        words: of the rows (queries) and of the columns (keys).
        scores: (words, words).
        presets: masks to choose from, each (words, words) of booleans, True where attention is allowed; the first
            is shown first.
    Raises:
        ValueError: scores or a mask have another shape.
    """

    _esm = (DATA / "mask_painter.js").read_text(encoding="utf-8")
    _css = (
        STYLE + ".am-painter td, .am-painter th { padding: 0.3em min(0.6em, 1vw); text-align: center; }\n"
        "@media (max-width: 30em) { .am-painter td span { display: block; } .am-painter button { padding: 0; } }"
    )
    words = traitlets.List().tag(sync=True)
    scores = traitlets.List().tag(sync=True)
    presets = traitlets.Dict().tag(sync=True)
    allowed = traitlets.List().tag(sync=True)

    def __init__(self, words: Sequence[str], scores: np.ndarray, presets: dict[str, np.ndarray]):
        wanted = (len(words), len(words))
        for name, given in {"scores": scores, **presets}.items():
            if np.shape(given) != wanted:
                raise ValueError(f"{name!r} has the shape {np.shape(given)}; {len(words)} words need {wanted}")
        masks = {name: np.asarray(mask).tolist() for name, mask in presets.items()}
        rounded = np.asarray(scores).round(4).tolist()
        super().__init__(words=list(words), scores=rounded, presets=masks, allowed=next(iter(masks.values())))

    def summary(self) -> str:
        return f"a mask to tick, over the words {', '.join(self.words)}"

    def still(self) -> str:
        return mask_frame(self.words, np.array(self.scores), np.array(self.allowed))
