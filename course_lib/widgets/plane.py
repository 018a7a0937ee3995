"""A query among keys in the plane, which the reader drags."""

import html
from collections.abc import Sequence

import numpy as np
import traitlets

from course_lib.files import DATA
from course_lib.widgets.drawing import percent, spread, svg
from course_lib.widgets.shell import STYLE, Live, source

UNIT = 80  # pixels, as in plane.js


class QueryInThePlane(Live):
    """A query to drag among keys, with the weights softmax(q · k_i) and the values' weighted sum.

    Args:
        words: one for each key.
        keys: (words, 2), none longer than 1. Without `values` they are also the values, as encoder states are.
        values: (words, 2), none longer than 1, drawn in their own plane.
        query: its length, and its degrees from the right, counterclockwise. It can be drawn out to twice this length.
        turned: the words whose keys can also be dragged.
    Raises:
        ValueError: keys or values have the wrong shape or are too long, the query has no length, or a word is unknown.
    """

    _esm = source("dom", "softmax", "plane")
    _css = STYLE + (DATA / "plane.css").read_text(encoding="utf-8")
    words = traitlets.List().tag(sync=True)
    key_vectors = traitlets.List().tag(sync=True)  # a widget has other `keys`
    values = traitlets.List().tag(sync=True)
    query = traitlets.List().tag(sync=True)
    longest = traitlets.Float().tag(sync=True)
    turned = traitlets.List().tag(sync=True)

    def __init__(
        self,
        words: Sequence[str],
        keys: np.ndarray,
        values: np.ndarray | None = None,
        query: tuple[float, float] = (2, 60),
        turned: Sequence[str] = (),
    ):
        for name, given in {"keys": keys, **({} if values is None else {"values": values})}.items():
            if np.shape(given) != (len(words), 2):
                raise ValueError(f"{name} have the shape {np.shape(given)}; {len(words)} words need {(len(words), 2)}")
            if (np.linalg.norm(given, axis=1) > 1 + 1e-9).any():
                raise ValueError(f"one of the {name} is longer than 1")
        if not set(turned) <= set(words):
            raise ValueError(f"turned = {list(turned)}: not all are among {list(words)}")
        if query[0] <= 0:
            raise ValueError("the query has no length at the start, so its longest is not known")
        super().__init__(
            words=list(words),
            key_vectors=np.asarray(keys, float).tolist(),
            values=[] if values is None else np.asarray(values, float).tolist(),
            query=[float(number) for number in query],
            longest=2 * query[0],
            turned=list(turned),
        )

    def weights(self) -> np.ndarray:
        """The weights of the state now shown."""
        length, degrees = self.query
        angle = np.radians(degrees)
        return spread(length * np.array(self.key_vectors) @ [np.cos(angle), np.sin(angle)])

    def output(self) -> np.ndarray:
        """The values mixed by the weights."""
        return self.weights() @ np.array(self.values or self.key_vectors)

    def summary(self) -> str:
        length, degrees = self.query
        said = ", ".join(self.words)
        return f"a query to drag, {length:g} long at {degrees:.0f}°; weights of {said}: {percent(self.weights())}"

    def still(self) -> str:
        names = [html.escape(word) for word in self.words]
        word = 10 * max(map(len, self.words))  # wide
        half, weights, mixture = 102 + word, self.weights(), self.output()
        glows = "".join(
            f'<circle cx="{UNIT * x:.0f}" cy="{-UNIT * y:.0f}" r="{17 * weight:.0f}" fill="#f0e442"/>'
            for (x, y), weight in zip(self.key_vectors, weights, strict=True)
        )
        bars = "".join(
            f'<text x="{word}" y="{y + 5}" text-anchor="end">{name}</text>'
            f'<rect x="{word + 10}" y="{y - 9}" width="{90 * weight:.0f}" height="18" fill="#0072b2"/>'
            f'<text x="{word + 16 + 90 * weight:.0f}" y="{y + 5}">{weight:.2f}</text>'
            for y, name, weight in zip(range(60, 60 + 32 * len(names), 32), names, weights, strict=True)
        )
        length, degrees = self.query
        query = arrow(86 / UNIT * length / self.longest, degrees, 2.5, "currentColor", ' stroke-dasharray="6 3"')
        context = arrow(*polar(mixture), 4, "#d55e00")
        if self.values:
            keys = arrows(names, self.key_vectors, np.full(len(names), 3.0), "#0072b2")
            values = arrows(names, self.values, 1.5 + 6 * weights, "#009e73")
            planes = {half: glows + keys + query, 3 * half + word + 150: values + context}
            told = "blue: keys · green: values, wider with more weight · orange: output"
        else:
            planes = {half: glows + arrows(names, self.key_vectors, 1.5 + 5 * weights, "#0072b2") + context + query}
            told = "blue: states, brighter with more weight · orange: context"
        drawn = "".join(
            f'<g text-anchor="middle" transform="translate({x} 120)">{plane}</g>' for x, plane in planes.items()
        )
        wide = 2 * half * len(planes) + word + 150
        picture = svg(
            wide, 240, f'{drawn}<g transform="translate({2 * half} 0)">{bars}</g>', html.escape(self.summary()), 16
        )
        return f"{picture}<div>dashed: query (drawn smaller) · {told}, at ({mixture[0]:.2f}, {mixture[1]:.2f})</div>"


def polar(vector: np.ndarray | list[float]) -> tuple[float, float]:
    """Length and degrees."""
    x, y = vector
    return np.hypot(x, y), np.degrees(np.arctan2(y, x))


def arrow(length: float, degrees: float, width: float, colour: str, more: str = "") -> str:
    """An arrow from the origin."""
    tip = UNIT * length
    wide = min(4 + width, tip)
    shaft = tip - min(2 * wide, tip)
    return (
        f'<g transform="rotate({-degrees:.1f})" fill="{colour}" stroke="{colour}">'
        f'<path d="M0 0H{shaft:.1f}" stroke-width="{width:.1f}"{more}/>'
        f'<path d="M{tip:.1f} 0L{shaft:.1f} {wide:.1f}V{-wide:.1f}z" stroke="none"/></g>'
    )


def arrows(names: Sequence[str], vectors: list[list[float]], widths: np.ndarray, colour: str) -> str:
    """Arrows with their names, which are further out than everything else."""
    drawn = []
    for name, vector, width in zip(names, vectors, widths, strict=True):
        length, degrees = polar(vector)
        x, y = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
        away = 98 + 5 * len(name) * abs(x) + 10 * abs(y)
        drawn.append(arrow(length, degrees, width, colour))
        drawn.append(f'<text x="{away * x:.0f}" y="{6 - away * y:.0f}">{name}</text>')
    return "".join(drawn)
