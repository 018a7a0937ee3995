"""Frames of a real model: answers that a search finds, the senses of a word on a map, and what its heads look at."""

import html
import itertools
import math
import re
from collections.abc import Collection, Sequence

import numpy as np
import torch
from torch import Tensor

from course_lib.widgets.drawing import Axis, label, svg

MOST_SENTENCES, MOST_WORDS = 12, 16
IN_A_LINE = 42  # letters of a sentence
SIDE = 300  # of the map
SENSES = (  # a colour, a mark in words and the same mark drawn around a point
    ("#0072b2", "●", "m-8 0a8 8 0 1 0 16 0 8 8 0 1 0-16 0"),
    ("#d55e00", "■", "m-6-6h12v12h-12z"),
    ("#009e73", "▲", "m0-8l8 14h-16z"),
    ("#cc79a7", "◆", "m0-9l8 9-8 9-8-9z"),
)
SHARES = (  # where a head can look, a colour, and a mark: its start, from the middle of the square, and its lines
    ("the word before", "#0072b2", (3, -5), "l-6 5 6 5"),
    ("the word after", "#d55e00", (-3, -5), "l6 5-6 5"),
    ("the word itself", "#009e73", (0, -5), "l5 5-5 5-5-5z"),
    ("[CLS]", "#cc79a7", (3, -5), "h-5v10h5"),
    ("[SEP]", "#e69f00", (-3, -5), "h5v10h-5"),
)
BLUES = (
    *("#fff", "#dfecf5", "#bfdaeb", "#9fc7e2", "#7fb5d8", "#4096c7"),  # of weights from 0 to a half
    *("#0072b2", "#005f94", "#004c77", "#003a5a", "#00273d"),
)
WRITTEN = 0.25  # smaller weights get no number in their square
SQUARE = 18  # of a head among all heads


# ---- a search ----


def answers_frame(question: str, found: Sequence[tuple[str, float, str]], right: Collection[str]) -> str:
    """A question and the topics nearest to it, each with name, cosine and first line; those with the answer are marked.

    Args:
        found: name, cosine to the question (0 … 1) and first line of each topic, nearest first. A slide holds five.
        right: names of the topics that hold the answer; they need not be among those found.
    Raises:
        ValueError: nothing was found, a cosine is not in 0 … 1, or a topic is nearer than the one before it.
    """
    if not found:
        raise ValueError("found is empty; give the topics that are nearest to the question")
    rows, before = "", 1.0
    for place, (name, cosine, line) in enumerate(found, start=1):
        if not -1e-4 <= cosine <= 1 + 1e-4:
            raise ValueError(f"the cosine of {name!r} is {cosine}; it must be in 0 … 1")
        if cosine > before + 1e-4:
            raise ValueError(f"{name!r} has the cosine {cosine}, more than {before} before it; give the nearest first")
        colour, sign = ("#009e73", " ✓ holds the answer") if name in right else ("#0072b2", "")
        rows += (
            f'<div>{place}</div><div style="background:#8885"><div style="width:{100 * cosine:z.0f}%;height:.9em;'
            f'background:{colour}"></div></div><div>{cosine:z.2f}</div><div style="overflow-wrap:anywhere">'
            f"<b>{html.escape(name)}</b>{sign}</div>"
            f'<div style="grid-column:2/-1;padding-bottom:.4em">{html.escape(line)}</div>'
        )
        before = cosine
    places = [place for place, (name, *_) in enumerate(found, start=1) if name in right]
    said = (
        f"the first topic with the answer is number {places[0]}" if places else "no topic with the answer is among them"
    )
    columns = "display:grid;grid-template-columns:auto minmax(3em,20%) auto 1fr;column-gap:.6em;align-items:center"
    return (
        f"<div>question: <i>{html.escape(question)}</i></div>"
        f'<div style="{columns};line-height:1.3;margin:.4em 0">{rows}</div><div><b>{said}</b></div>'
    )


# ---- the senses of a word ----


def senses_frame(
    word: str,
    layer: int,
    points: Tensor | np.ndarray,
    senses: Sequence[str],
    sentences: Sequence[str],
    right: int,
) -> str:
    """The vectors of one word in several sentences at one layer, as points of a plane, next to the numbered sentences.

    Args:
        word: the first one in each sentence is bold. The sentence is cut to fit in a line.
        layer: 0 is the input of the first layer.
        points: (sentence, 2), each number in −1 … 1, which reach from edge to edge at every layer.
        senses: of the word in each sentence; up to four, each with its own mark and colour.
        sentences: up to 12, short ones.
        right: how many sentences have a nearest other sentence with the same sense.
    Raises:
        ValueError: a number of sentences, senses or points that does not fit, a point beyond the edge, a sentence
            without the word, a layer below 0, or more right ones than sentences.
    """
    points, many = _numbers(points), len(sentences)
    if not 1 <= many <= MOST_SENTENCES:
        raise ValueError(f"{many} sentences were given; one to {MOST_SENTENCES} can be shown")
    if points.shape != (many, 2) or len(senses) != many:
        raise ValueError(
            f"points of the shape {points.shape} and {len(senses)} senses were given; "
            f"{many} sentences need ({many}, 2) and {many}"
        )
    if not (abs(points) <= 1 + 1e-6).all():
        raise ValueError(f"the points reach from {points.min()} to {points.max()}; each number must be in −1 … 1")
    kinds = list(dict.fromkeys(senses))
    if len(kinds) > len(SENSES):
        raise ValueError(f"{len(kinds)} senses were given, {kinds}; up to {len(SENSES)} can be told apart")
    if layer < 0:
        raise ValueError(f"the layer is {layer}; 0 is the input, 1 the first layer")
    if not 0 <= right <= many:
        raise ValueError(f"right is {right}; it counts some of {many} sentences")
    across, up = Axis(-1, 1, 20, SIDE - 20), Axis(-1, 1, SIDE - 20, 20)
    middles = np.round(np.stack([across(points[:, 0]), up(points[:, 1])], -1), 1)
    places = _beside_points(middles)
    spelled = [f"{right:z.1f} {up:z.1f}".replace("-", "−") for right, up in points]
    lines, numbers = "", ""
    for number, (middle, place) in enumerate(zip(middles, places, strict=True), start=1):
        step = 8 * (place - middle) / np.linalg.norm(place - middle)
        (x, y), (across, down) = middle + step, place - middle - 2 * step
        lines += f"M{x:.0f} {y:.0f}l{across:.0f} {down:.0f}"
        numbers += label(*place + (0, 5), str(number))
    marks, legend, told = "", [], []
    for kind, (colour, mark, drawn) in zip(kinds, SENSES, strict=False):
        own = [i for i, sense in enumerate(senses) if sense == kind]
        around = "".join(f"M{middles[i][0]:g} {middles[i][1]:g}{drawn}" for i in own)
        marks += f'<path d="{around}" fill="{colour}" fill-opacity=".5" stroke="{colour}" stroke-width="2"/>'
        legend.append(f'<span style="color:{colour}">{mark}</span> {html.escape(kind)}')
        told.append(f"{kind}: " + ", ".join(f"{i + 1} at {spelled[i]}" for i in own))
    drawing = svg(
        SIDE,
        SIDE,
        f'<path d="M1 1H{SIDE - 1}V{SIDE - 1}H1z" fill="none" stroke="#999"/>'
        f'<path d="{lines}" stroke="#999"/>{marks}<g text-anchor="middle">{numbers}</g>',
        html.escape(f"where the vectors of {word} are at layer {layer}; {'; '.join(told)}"),
    )
    listed = ""
    for number, (sentence, sense) in enumerate(zip(sentences, senses, strict=True), start=1):
        colour, mark, _ = SENSES[kinds.index(sense)]
        listed += (
            f'<div style="padding-left:1.8em;text-indent:-1.8em"><span style="color:{colour}">{mark}</span> '
            f"{number} {_in_bold(word, sentence)}</div>"
        )
    name = f"layer {layer}" if layer else "layer 0, the input"
    return (
        f'<div class="am-beside">{drawing}<div style="line-height:1.15"><div>{" · ".join(legend)}</div>'
        f'<div style="margin-top:.4em">{listed}</div></div></div>'
        f"<div><b>{name}: the nearest sentence has the same sense for {right} of {many}</b></div>"
    )


def _beside_points(middles: np.ndarray) -> np.ndarray:
    """A position for the number of each point, off all marks, other numbers and their lines."""
    places, between = np.empty_like(middles), np.empty((0, 2))
    rings, turns = np.arange(17, 140, 6), np.linspace(0, math.pi, 13)
    for number, middle in enumerate(middles):
        start = math.atan2(*(middle - middles.mean(0))[::-1])
        ways = start + np.stack([turns, -turns], -1).ravel()
        steps = np.stack([np.cos(ways), np.sin(ways)], -1)
        tries = middle + (rings[:, None, None] * steps).reshape(-1, 2)
        lines = middle + np.linspace(0.3, 0.8, 4)[:, None, None] * (tries - middle)
        inside = ((tries > 11) & (tries < SIDE - 11)).all(1)
        # Two digits are 18 wide and 14 high; a mark is 14 of each.
        free = (
            inside
            & _apart(tries, np.concatenate([middles, places[:number]]), (19, 16))
            & _apart(tries, between, (11, 8))
        )
        clear = free & np.all([_apart(line, places[:number], (11, 8)) for line in lines], 0)
        chosen = next(fit for fit in (clear, free, inside) if fit.any()).argmax()
        places[number], between = tries[chosen], np.concatenate([between, lines[:, chosen]])
    return places


def _apart(tries: np.ndarray, others: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """Which positions keep this distance from all others, sideways or upwards."""
    return (abs(tries[:, None] - others) >= size).any(-1).all(-1)


def _in_bold(word: str, sentence: str) -> str:
    """The sentence with the word in bold, cut to fit in a line."""
    match = re.search(rf"(?<!\w){re.escape(word)}(?!\w)", sentence, re.IGNORECASE)
    if match is None:
        raise ValueError(f"{word!r} is missing from {sentence!r}; each sentence must have it as a separate word")
    before, after = sentence[: match.start()], sentence[match.end() :]
    room = IN_A_LINE - len(word)
    left = max(room // 2, room - len(after))
    before = before if len(before) <= left else "…" + before[len(before) - left :].partition(" ")[2]
    right = room - len(before)
    after = after if len(after) <= right else after[:right].rpartition(" ")[0] + "…"
    return f"{html.escape(before)}<b>{html.escape(match[0])}</b>{html.escape(after)}"


# ---- heads ----


def head_frame(words: Sequence[str], weights: Tensor | np.ndarray, layer: int, head: int) -> str:
    """The map of one head over a sentence, next to a square for every head that shows where its weight goes.

    There are five shares: the mean weight on the word before (over the words that have one), on the word after
    (likewise), on the word itself, on [CLS] and on [SEP]. [CLS] and [SEP] count as words.

    Args:
        words: up to 16, from [CLS] to [SEP].
        weights: (layer, head, word, word), where the third axis looks at the fourth.
        layer, head: from 1.
    Raises:
        ValueError: the words do not go from [CLS] to [SEP] or are too many, the weights do not fit them or are no
            weights, or there is no such layer or head.
    """
    weights, many = _numbers(weights), len(words)
    if many < 2 or (words[0], words[-1]) != ("[CLS]", "[SEP]"):
        raise ValueError(f"the words are {list(words)}; they must go from '[CLS]' to '[SEP]'")
    if many > MOST_WORDS:
        raise ValueError(f"{many} words were given; up to {MOST_WORDS} can be read")
    if weights.ndim != 4 or weights.shape[2:] != (many, many):
        raise ValueError(f"the weights have the shape {weights.shape}; wanted (layer, head, {many}, {many})")
    if not (weights >= 0).all() or not (abs(weights.sum(-1) - 1) <= 1e-3).all():
        sums = weights.sum(-1)
        raise ValueError(
            f"the least weight is {weights.min():.3g}, those of a word sum to {sums.min():.3g} … {sums.max():.3g}; "
            "none may be below 0, and those of a word must sum to 1"
        )
    for name, chosen, number in zip(("layer", "head"), (layer, head), weights.shape, strict=False):
        if not 1 <= chosen <= number:
            raise ValueError(f"there is no {name} {chosen}; the weights have {number}, numbered from 1")
    shares, looks = _shares(weights), weights[layer - 1, head - 1]
    own = shares[layer - 1, head - 1]
    said = f"layer {layer}, head {head}: {own.max():.2f} of the weight goes to {SHARES[own.argmax()][0]}"
    return (
        f'<div class="am-beside">{_map(words, looks)}<div style="line-height:1.25">{_all_heads(shares, layer, head)}'
        "<div>map: rows look at columns; darker means more</div>"
        "<div>squares: the largest share; stronger means more</div>"
        f"<div><b>{said}</b></div></div></div>"
    )


def _shares(weights: np.ndarray) -> np.ndarray:
    """(layer, head, share), in the order of SHARES."""
    before, after, itself = (np.diagonal(weights, offset, 2, 3).mean(-1) for offset in (-1, 1, 0))
    return np.stack([before, after, itself, weights[..., 0].mean(-1), weights[..., -1].mean(-1)], -1)


def _map(words: Sequence[str], looks: np.ndarray) -> str:
    many, left = len(words), 9 * max(map(len, words)) + 6
    cell = max(16, min(26, 256 // many, (388 - left) // many))
    colours = [[BLUES[level] for level in row] for row in np.rint(10 * looks).clip(0, 10).astype(int)]
    square = Axis(0, 1, left, left + cell)  # the rows begin where the columns do
    middles = [int(square(place + 0.5)) for place in range(many)]
    rows, columns = "", ""
    numbers = {"#000": "", "#fff": ""}
    for middle, word, row in zip(middles, words, looks, strict=True):
        rows += f'<tspan x="{left - 5}" y="{middle + 5}">{html.escape(word)}</tspan>'
        columns += f'<tspan x="{middle}" y="{left - 5}">{html.escape(word)}</tspan>'
        for colour, light in (("#000", row < 0.55), ("#fff", row >= 0.55)):
            for column in np.flatnonzero(light & (row >= WRITTEN)):
                spelled = "1" if row[column] >= 0.95 else f"{row[column]:.1f}"[1:]
                numbers[colour] += f'<tspan x="{middles[column]}" y="{middle + 5}">{spelled}</tspan>'
    drawn = (
        f"{_squares(colours, left, left, cell)}"
        f'<g text-anchor="end"><text>{rows}</text><text writing-mode="vertical-rl">{columns}</text></g><g '
        f'text-anchor="middle"><text fill="#000">{numbers["#000"]}</text><text fill="#fff">{numbers["#fff"]}</text></g>'
    )
    hardest = ", ".join(
        f"{word} at {words[row.argmax()]} {row.max():.1f}" for word, row in zip(words, looks, strict=True)
    )
    size = int(square(many)) + 1
    return svg(size, size, drawn, html.escape(f"each word looks hardest at: {hardest}"))


def _all_heads(shares: np.ndarray, layer: int, head: int) -> str:
    depth, heads, _ = shares.shape
    best, own = shares.argmax(-1), shares[layer - 1, head - 1]
    colours = [
        [_mixed(SHARES[i][1], math.ceil(4 * share - 1e-9) / 4) for i, share in zip(*both, strict=True)]
        for both in zip(best, shares.max(-1), strict=True)
    ]
    left, top, line = 62, 20, 20
    below = top + SQUARE * depth + 12
    across, down, listed = (
        Axis(1, 2, left, left + SQUARE),
        Axis(1, 2, top, top + SQUARE),
        Axis(0, 1, below, below + line),
    )
    rows, said, told = f'<tspan x="{left - 6}" y="14">head</tspan>', "", []
    columns = "".join(f'<tspan x="{across(number + 0.5):g}">{number}</tspan>' for number in range(2, heads + 1, 2))
    for number in range(1, depth + 1):
        name = f"layer {number}" if number == 1 else number
        rows += f'<tspan x="{left - 6}" y="{down(number + 0.5) + 5:g}">{name}</tspan>'
    signs = "".join(
        _sign(int(share), across(column + 1.5), down(row + 1.5)) for (row, column), share in np.ndenumerate(best)
    )
    for row, ((name, *_), share) in enumerate(zip(SHARES, own, strict=True)):
        signs += _sign(row, left + line / 2, listed(row + 0.5))
        bold = ' font-weight="bold"' * int(row == own.argmax())
        said += f'<tspan x="{left + 26}" y="{listed(row + 0.5) + 5:g}"{bold}>{share:.2f} {name}</tspan>'
        told.append(f"{name} {share:.2f}")
    legend = _squares([[colour] for _, colour, *_ in SHARES], left, below, line)
    drawn = (
        f"{_squares(colours, left, top, SQUARE)}{legend}"
        f'<g fill="none"><path d="{signs}" stroke="#000" stroke-width="1.5"/><path d="M{across(head):g} '
        f'{down(layer):g}h{SQUARE}v{SQUARE}h-{SQUARE}z" stroke="#000" stroke-width="4"/></g>'
        f'<text>{said}</text><text text-anchor="end">{rows}</text><text y="14" text-anchor="middle">{columns}</text>'
    )
    wide = left + max(SQUARE * heads, 180) + 2
    return svg(
        wide, below + line * len(SHARES) + 2, drawn, f"layer {layer}, head {head}, mean weight on: {', '.join(told)}"
    )


def _sign(share: int, x: float, y: float) -> str:
    *_, (right, down), lines = SHARES[share]
    return f"M{x + right:g} {y + down:g}{lines}"


def _squares(colours: Sequence[Sequence[str]], left: float, top: float, size: float) -> str:
    """Rows of squares with lines between them. Neighbours of one colour are one shape, and the paper is white."""
    tall, wide = len(colours), len(colours[0])
    painted = {"#fff": f"M0 0h{wide}v{tall}H0"}
    for row, line in enumerate(colours):
        column = 0
        for colour, run in itertools.groupby(line):
            number = len(list(run))
            if colour != "#fff":
                painted[colour] = painted.get(colour, "") + f"M{column} {row}h{number}v1H{column}"
            column += number
    squares = "".join(f'<path d="{shape}" fill="{colour}"/>' for colour, shape in painted.items())
    # All lines of one direction are the dashes of a single broad line.
    return (
        f'<g transform="translate({left} {top}) scale({size})">{squares}<g stroke="#999" stroke-dasharray=".06 .94">'
        f'<path d="M0 {tall / 2:g}h{wide + 0.06}" stroke-width="{tall}"/>'
        f'<path d="M{wide / 2:g} 0v{tall + 0.06}" stroke-width="{wide}"/></g></g>'
    )


def _mixed(colour: str, part: float) -> str:
    """The colour mixed with white: `part` of it is the colour."""
    return "#" + "".join(f"{round(255 - part * (255 - int(colour[i : i + 2], 16))):02x}" for i in (1, 3, 5))


def _numbers(given: Tensor | np.ndarray) -> np.ndarray:
    return torch.as_tensor(given).detach().to("cpu", torch.float64).numpy()
