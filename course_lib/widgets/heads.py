"""Where the heads of a layer look, as arcs over a sentence."""

import html
import json
from collections.abc import Sequence

import numpy as np
import traitlets

from course_lib.files import DATA
from course_lib.widgets.drawing import svg
from course_lib.widgets.shell import STYLE, Live, source

COLOURS = "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"  # of Okabe and Ito
LEAST = 0.05  # lighter arcs can hardly be seen
WRITTEN = 0.1


class AttentionHeads(Live):
    """A sentence with arcs from the chosen word to what each head of a layer looks at.

    Args:
        sentences: the weights of each sentence, (layer, head, word, word), where the third axis looks at the fourth. A
            sentence may have several lines. A word that looks at nothing has weights of zero.
        layers: their names; without them, numbers from 1.
        layer, word: which layer and which word are shown first, counted from 0.
    Raises:
        ValueError: weights do not fit their sentence or the layers' names, there are more heads than colours, or the
            layer or the word to show first is not there.
    """

    _esm = source("dom", "heads")
    _css = STYLE + (DATA / "heads.css").read_text(encoding="utf-8")
    sentences = traitlets.List().tag(sync=True)
    weights = traitlets.Unicode().tag(sync=True)  # as JSON: a notebook would give each number a line of its own
    layers = traitlets.List().tag(sync=True)
    colours = traitlets.List().tag(sync=True)
    chosen = traitlets.Dict().tag(sync=True)

    def __init__(self, sentences: dict[str, np.ndarray], layers: Sequence[str] = (), layer: int = 0, word: int = 0):
        first = next(iter(sentences))
        depth, heads = np.shape(sentences[first])[:2]
        layers = layers or [str(layer) for layer in range(1, depth + 1)]
        if not 1 <= heads <= len(COLOURS):
            raise ValueError(f"{heads} heads were given; one to {len(COLOURS)} can be told apart")
        if not 0 <= layer < len(layers):
            raise ValueError(f"there is no layer {layer}; the {len(layers)} layers are counted from 0")
        if not 0 <= word < len(first.split()):
            raise ValueError(f"{first!r} has no word {word}; its {len(first.split())} words are counted from 0")
        for sentence, given in sentences.items():
            wanted = (len(layers), heads, *[len(sentence.split())] * 2)
            if np.shape(given) != wanted:
                raise ValueError(f"the weights of {sentence!r} have the shape {np.shape(given)}; {wanted} is needed")
        rounded = [np.asarray(given, float).round(3).tolist() for given in sentences.values()]
        super().__init__(
            sentences=[[line.split() for line in sentence.splitlines()] for sentence in sentences],
            weights=json.dumps(rounded, separators=(",", ":")),
            layers=list(layers),
            colours=list(COLOURS[:heads]),
            chosen={"sentence": 0, "layer": layer, "head": -1, "least": 0, "word": word},
        )

    def _seen(self) -> tuple[list[str], np.ndarray]:
        """The words, and the weights shown for the chosen word, (head, word); all others are zero."""
        said = self.chosen
        words = sum(self.sentences[said["sentence"]], [])
        looks = np.array(json.loads(self.weights)[said["sentence"]][said["layer"]])[:, said["word"]]
        only = np.arange(len(looks))[:, None] == said["head"] if said["head"] >= 0 else True
        return words, looks * (looks >= max(said["least"], LEAST)) * only

    def summary(self) -> str:
        words, looks = self._seen()
        found = ((weight, key, head) for (head, key), weight in np.ndenumerate(looks) if weight >= WRITTEN)
        told = [f"{words[key]} {short(weight)} (head {head + 1})" for weight, key, head in sorted(found, reverse=True)]
        return f"{words[self.chosen['word']]} looks at: {', '.join(told) or 'nothing'}"

    def still(self) -> str:
        words, looks = self._seen()
        below = 10 + 18 * len(looks)  # room for the numbers below a word
        places, y = [], 90
        for line in self.sentences[self.chosen["sentence"]]:
            x = 0
            for word in line:
                wide = max(44, 9 * len(word) + 14)
                places.append((x + wide // 2, y))
                x += wide
            y += below + 90
        parts = []
        for place, (word, (x, y)) in enumerate(zip(words, places, strict=True)):
            bold = ' font-weight="bold"' * (place == self.chosen["word"])
            parts.append(f'<text x="{x}" y="{y}" text-anchor="middle"{bold}>{html.escape(word)}</text>')
        start, level = places[self.chosen["word"]]
        for (head, key), weight in np.ndenumerate(looks):
            if not weight:
                continue
            (x, y), colour = places[key], self.colours[head]
            aside = 5 * head - 5 * (len(looks) - 1) // 2
            # Above the words in their own line and down to a lower one, and up to the numbers of an upper one.
            leaves, arrives, tip = level - 16, y - 26, 9
            if y < level:
                arrives, tip = y + below + 10, -9
            elif y > level:
                leaves = level + below
            top = level - 40 - 0.08 * abs(x - start) if y == level else (leaves + arrives) / 2
            loop = 8 * (x == start and y == level)
            a, b = start + aside - loop, x + aside + loop
            line = f"M{a} {leaves}C{a} {top:.0f} {b} {top:.0f} {b} {arrives}"
            parts.append(
                f'<g opacity="{0.45 + 0.55 * weight:.2f}">'
                f'<path d="{line}" fill="none" stroke="{colour}" stroke-width="{1 + 5 * weight:.1f}"/>'
                f'<path d="M{b - 5} {arrives}h10l-5 {tip}z" fill="{colour}"/></g>'
            )
            if weight >= WRITTEN:
                row = y + 18 * (1 + sum(looks[:head, key] >= WRITTEN))
                parts.append(
                    f'<path d="M{x - 22} {row - 10}h9v9h-9z" fill="{colour}"/>'
                    f'<text x="{x - 9}" y="{row}">{short(weight)}</text>'
                )
        wide, tall = max(x for x, _ in places) + 40, max(y for _, y in places) + below
        told = html.escape(self.summary())
        return f"<p><i>{told}</i></p>{svg(wide, tall, ''.join(parts), told)}"


def short(weight: float) -> str:
    """Two digits, without the leading zero."""
    return f"{weight:.2f}".removeprefix("0")
