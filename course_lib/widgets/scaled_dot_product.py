"""Frames of the scaled dot product, and a painter of masks."""

import html
from collections.abc import Sequence

import numpy as np
import torch
import traitlets

from course_lib.masks import masked_softmax
from course_lib.widgets.drawing import label, spread, svg
from course_lib.widgets.shell import Live, source


def width_frame(keys: int, width: int, draw: int) -> str:
    """Softmax weights of one random query over random keys of `width` numbers, with and without dividing by √width."""
    random = np.random.default_rng(1000 * draw + width)
    scores = random.normal(size=(keys, width)) @ random.normal(size=width)
    rows, said = [], []
    for row, (title, shown) in enumerate((("q·k", scores), ("q·k / √d_k", scores / width**0.5))):
        weights, base = spread(shown), 110 + 125 * row
        said.append(f"{weights.max():.2f}")
        largest = label(16.0 + 32 * weights.argmax(), base - 70 * weights.max() - 6, said[-1], ' text-anchor="middle"')
        bars = "".join(f"M{4 + 32 * i} {base}v-{70 * weight + 1:.0f}h24V{base}z" for i, weight in enumerate(weights))
        rows.append(
            f'<text x="4" y="{base - 95}">{title}, from {shown.min():.1f} to {shown.max():.1f}</text>'
            f'<path d="M4 {base}h{32 * keys - 8}" stroke="#999"/>'
            f'<path d="{bars}" fill="{("#d55e00", "#0072b2")[row]}"/>{largest}'
        )
    told = f"largest weight: {said[0]} undivided, {said[1]} divided by √{width}"
    return f"{svg(32 * keys + 6, 240, ''.join(rows), told)}<div><b>{told}</b></div>"


def temperature_frame(choices: dict[str, float], temperature: float, draws: int) -> str:
    """Boltzmann probabilities p = exp(−E / T) / Z of words with energies, and how often each is drawn.

    Args:
        choices: words and their energies E.
        draws: how many words are drawn, with a fixed seed.
    """
    probabilities = spread(-np.array(list(choices.values())) / temperature)
    counts = np.random.default_rng(0).multinomial(draws, probabilities)
    rows = []
    for i, (word, energy, p, count) in enumerate(zip(choices, choices.values(), probabilities, counts, strict=True)):
        top = 34 * i + 4
        rows.append(
            f'<text y="{top + 17}">{html.escape(word)}<tspan x="66">E = {energy:g}</tspan></text>'
            f'<path d="M130 {top}h{150 * p:.1f}v13H130z" fill="#0072b2"/>'
            f'<path d="M130 {top + 15}h{150 * count / draws:.1f}v8H130z" fill="#e69f00"/>'
            f"{label(136 + 150 * max(p, count / draws), top + 17, f'{p:.3f}')}"
            f'<text x="386" y="{top + 17}" text-anchor="end">{count}</text>'
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
    """A table of the softmax weights over the allowed cells of each row. Empty rows are zeros."""
    weights = masked_softmax(torch.tensor(scores), torch.tensor(allowed)).tolist()
    rows = []
    for word, row, ticked in zip(words, weights, allowed, strict=True):
        cells = "".join(f"<td>{'☑' if on else '☐'} {weight:.2f}</td>" for on, weight in zip(ticked, row, strict=True))
        rows.append(f'<tr><th scope="row">{html.escape(word)}</th>{cells}</tr>')
    head = "".join(f'<th scope="col">{html.escape(word)}</th>' for word in words)
    return f"<table><tr><th>looks ↓ at →</th>{head}</tr>{''.join(rows)}</table>"


class MaskPainter(Live):
    """A mask to tick, by cell, row or column, and the weights that it leaves.

    Args:
        words: of the rows (queries) and of the columns (keys).
        scores: (words, words).
        presets: masks to choose from, each (words, words) of booleans, True where attention is allowed; the first
            is shown first.
    Raises:
        ValueError: scores or a mask have another shape.
    """

    _esm = source("dom", "softmax", "mask_painter")
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
