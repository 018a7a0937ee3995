"""Frames of many heads: what one head cannot tell, and where each head looks."""

import html
from collections.abc import Sequence

import numpy as np

from course_lib.widgets.drawing import beside, svg

WHO_AND_WHOM = ("dog", "cat"), ("cat", "dog")


def two_sources_frame(heads: int, weight: float) -> str:
    """What *sees* can tell of *dog sees cat* and of *cat sees dog*, with one head or with two.

    A head that gives weight p to the word before and 1 − p to the word after hands on p · before + (1 − p) · after.
    The first head has p = `weight`, the second, if there is one, 1 − `weight`. A linear readout can ask a head for its
    largest part; each question asks the head that looks harder at its word.
    """
    sentences = []
    for who, whom in WHO_AND_WHOM:
        drawings, mixed = [], []
        for head in range(heads):
            p = weight if head == 0 else 1 - weight
            amounts = {"dog": p if who == "dog" else 1 - p, "cat": p if who == "cat" else 1 - p, "bee": 0.0}
            mixed.append((p, amounts))
            parts = [f'<text x="40" y="14">head {head + 1}</text>']
            for line, (word, amount) in enumerate(amounts.items()):
                y = 22 + 22 * line
                parts.append(
                    f'<text x="32" y="{y + 13}" text-anchor="end">{word}</text>'
                    f'<path d="M40 {y}h{80 * amount:.0f}v16h-{80 * amount:.0f}z" fill="#0072b2"/>'
                    f'<text x="{46 + 80 * amount:.0f}" y="{y + 13}">{amount:.1f}</text>'
                )
            drawings.append(svg(152, 92, "".join(parts)))
        said = []
        for question, right, asks in (
            ("who sees?", who, max(mixed, key=lambda head: head[0])),
            ("who is seen?", whom, min(mixed, key=lambda head: head[0])),
        ):
            dog, cat = round(asks[1]["dog"], 6), round(asks[1]["cat"], 6)
            answer = "cannot tell" if dog == cat else "dog" if dog > cat else "cat"
            said.append(f"{question} {'✓' if answer == right else '✗'} {answer}")
        told = f"what {'one head hands' if heads == 1 else 'two heads hand'} on of {who} sees {whom}"
        sentences.append(f"<div><b>{who} sees {whom}</b></div>{beside(told, *drawings)}<div>{' · '.join(said)}</div>")
    count = sum(sentence.count("✓") for sentence in sentences)
    return f"{''.join(sentences)}<div><b>{count} of 4 answers right</b></div>"


def heads_frame(
    words: Sequence[str], weights: np.ndarray, query: int, threshold: float = 0.0, only: int | None = None
) -> str:
    """Where one word looks, head by head: a line to each word, the stronger the more weight.

    Args:
        weights: (head, query, key).
        query: the place of the word that looks.
        threshold: no line is drawn for less weight than this, nor for less than 0.05, which could hardly be seen.
        only: the number of one head, from 0, to draw it alone and twice as large.
    """
    panels, strongest = [], []
    start, tall = 17 * query + 31, 17 * len(words) + 36

    def short(weight: float) -> str:
        return f"{weight:.2f}".removeprefix("0")

    heads = range(len(weights)) if only is None else [only]
    for head in heads:
        row = np.asarray(weights)[head, query]
        lines = "".join(
            f'<path d="M-49 {start}L-4 {17 * key + 31}" opacity="{short(weight)}"/>'
            for key, weight in enumerate(row)
            if weight >= max(threshold, 0.05)
        )
        names = "".join(
            f'<tspan x="0" dy="17">{html.escape(word)}'
            + (f" {short(weight)}" if weight >= max(threshold, 0.1) else "")
            + "</tspan>"
            for word, weight in zip(words, row, strict=True)
        )
        best = int(row.argmax())
        strongest.append(f"head {head + 1}: {html.escape(words[best])} {short(row[best])}")
        panel = (
            '<g transform="translate(111 0)">'
            f'<text y="12" font-weight="bold">head {head + 1}</text>'
            f'<g stroke="#0072b2" stroke-width="4">{lines}</g><text y="{start + 4}" x="-53" text-anchor="end" '
            f'font-weight="bold">{html.escape(words[query])}</text><text y="18">{names}</text></g>'
        )
        panels.append(svg(280, tall, panel, scale=1 if only is None else 2))
    told = f"{html.escape(words[query])} looks at: {', '.join(strongest)}"
    return beside(told, *panels)
