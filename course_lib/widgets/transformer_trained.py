"""A frame of the Transformer, trained: a step of its decoder."""

import html
from collections.abc import Sequence

import numpy as np

from course_lib.widgets.drawing import beside, label, most_probable, svg


def decoder_frame(
    source: Sequence[str], read: Sequence[str], cross: np.ndarray, own: np.ndarray, candidates: dict[str, float]
) -> str:
    """One step of a Transformer's decoder: where each head of a layer looks, and the most probable next words.

    Args:
        read: the words that the decoder has read, `<bos>` first. The last one looks.
        cross: (head, source), its weights over the source words.
        own: (head, read), its weights over the words read.
        candidates: the most probable next words and their probabilities.
    """
    blocks, said = [], []
    for title, words, weights in (("the sentence", source, cross), ("what is written", read, own)):
        weights = np.asarray(weights)
        names = "".join(
            f'<text x="72" y="{51 + 18 * row}" text-anchor="end">{html.escape(word)}</text>'
            for row, word in enumerate(words)
        )
        parts = [f'<text y="14" font-size="14" font-weight="bold">{title}</text>{names}']
        for head, looks in enumerate(weights):
            x = 80 + 51 * head
            bars = "".join(f"M{x} {39 + 18 * row}h{22 * weight:.1f}v14H{x}" for row, weight in enumerate(looks))
            numbers = "".join(
                label(x + 3 + 22 * weight, 50 + 18 * row, f"{weight:.2f}".removeprefix("0"))
                for row, weight in enumerate(looks)
                if weight >= 0.05
            )
            parts.append(f'<text x="{x}" y="32">head {head + 1}</text><path d="{bars}" fill="#0072b2"/>{numbers}')
            best = int(looks.argmax())
            said.append(f"{title}, head {head + 1}: {html.escape(words[best])} {looks[best]:.2f}")
        tall = 42 + 18 * max(len(source), len(read))
        blocks.append(svg(80 + 51 * len(weights), tall, "".join(parts), size=12))
    written = f"{html.escape(' '.join(read[:-1]))} <b>{html.escape(read[-1])}</b>"
    return (
        f"<div>read so far: {written} · green: the next word</div>"
        f"{beside('; '.join(said), *blocks)}{most_probable(candidates, 3, 'most probable next words')}"
    )
