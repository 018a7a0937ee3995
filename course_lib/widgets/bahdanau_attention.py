"""Frames of Bahdanau attention: a decoder that looks at words."""

import html
from collections.abc import Iterable, Sequence

from course_lib.widgets.drawing import label, most_probable, percent, svg


def attention_frame(
    source: Sequence[str],
    weights: Sequence[float],
    written: Sequence[str],
    candidates: dict[str, float],
    gold: Iterable[int] = (),
    scores: Sequence[float] = (),
) -> str:
    """One step of a decoder: the weights over the source words, and the most probable words.

    Args:
        written: the words so far; this step writes the last one.
        candidates: the most probable words and their probabilities.
        gold: positions of the source words that the written word translates; they are marked.
        scores: written above the weights, if given.
    """
    left = 20 + max(9 * len(word) for word in source)
    parts = []
    for i, (word, weight) in enumerate(zip(source, weights, strict=True)):
        y = 24 * i + 17
        parts.append(f'<text x="{left}" y="{y}" text-anchor="end">{html.escape(word)}</text>')
        if i in gold:
            parts.append(f'<text y="{y}" fill="#d55e00">◆</text>')
        parts.append(f'<rect x="{left + 8}" y="{y - 14}" width="{130 * weight:.0f}" height="18" fill="#0072b2"/>')
        parts.append(label(left + 14 + 130 * weight, y, f"{weight:.2f}"))
        if scores:
            parts.append(f'<text x="{left + 250}" y="{y}" text-anchor="end">e = {scores[i]:.1f}</text>')
    told = f"weights over {html.escape(' '.join(source))}: {percent(weights)}"
    wide = left + (254 if scores else 184)
    return (
        f"<div>written: {html.escape(' '.join(written[:-1]))} <b>{html.escape(written[-1])}</b></div>"
        f'<div class="am-beside">{svg(wide, 24 * len(source) + 2, "".join(parts), told)}'
        f"{most_probable(candidates, 2, 'most probable words')}</div>"
    )
