"""Frames of further and cheaper: vectors turned by their positions, softmax by tiles, and the size of a cache."""

import math
from collections.abc import Iterator

import numpy as np
import torch

from course_lib.positions import LinearBiases, RotaryPositions, sinusoidal_table
from course_lib.widgets.drawing import Axis, label, spread, svg

KEY = torch.tensor([-0.2, 1.0, 0.9, 0.4, 0.7, -0.4, 0.5, -0.8], dtype=torch.float64)
QUERY = torch.tensor([0.5, 0.9, 0.8, -0.6, 0.5, -0.8, 0.6, -0.5], dtype=torch.float64)
FARTHEST = 32
SCORES, VALUES = np.array([1.0, 3.0, 2.0, 0.0, 5.0, 4.0]), np.array([6.0, 2.0, 4.0, 1.0, 3.0, 5.0])
HEAD_SIZE = 128
MIB, GIB = 2**20, 2**30


def rotary_frame(distance: int, start: int) -> str:
    """A key at position `start` and a query `distance` further on, as hands of clocks, with their score in three ways.

    Each pair of numbers is a hand: the first says how far its tip is to the right, the second how far up. The curves
    show the dot product over the distance: of the turned vectors (rotary), of the plain vectors minus 1/8 for each step
    of distance (ALiBi, the third of 8 heads), and of the plain vectors plus their sinusoidal position codes (sum).

    Args:
        distance: up to 32.
    """
    rotary = RotaryPositions(len(KEY))
    key = rotary(KEY.expand(1, 1, 1, -1), start)[0, 0, 0]
    queries = rotary(QUERY.expand(1, 1, FARTHEST + 1, -1), start)[0, 0]
    codes = sinusoidal_table(start + FARTHEST + 1, len(KEY), dtype=torch.float64)[start:]
    curves = {
        "rotary": queries @ key,
        "ALiBi": QUERY @ KEY - LinearBiases(8).slopes[2] * torch.arange(FARTHEST + 1, dtype=torch.float64),
        "sum": (QUERY + codes) @ (KEY + codes[0]),
    }
    circles, sectors, befores, afters, texts = "", "", "", "", ""
    hands = (torch.view_as_complex(vector.view(-1, 2)).tolist() for vector in (key, queries[distance]))
    for x, before, after in zip((48, 146, 244, 342), *hands, strict=True):
        circles += f"M{x + 30} 34a30 30 0 1 1 0-.01"
        befores += f"M{x} 34l{_point(28 * before)}"
        afters += f"M{x} 34l{_point(28 * after)}"
        near, far, between = 16 * before / abs(before), 16 * after / abs(after), after * before.conjugate()
        sectors += f"M{x} 34l{_point(near)}a16 16 0 0 {int(between.imag < 0)} {_point(far - near)}"
        texts += f'<tspan x="{x}" y="83">{_signed(between.real)}</tspan>'
    up, grid, lines, said = Axis(0, 8, 194, 122), "", "", {}
    styles = zip((30, 158, 286), ("#0072b2", "#d55e00", "#009e73"), (1, FARTHEST, 1), strict=True)
    for (left, colour, every), (name, curve) in zip(styles, curves.items(), strict=True):
        across, heights = Axis(0, FARTHEST, left, left + 96), up(curve.numpy()).round(1)
        rises = " ".join(f"{3 * every} {rise:.1f}" for rise in np.diff(heights[::every]))
        lines += (
            f'<g stroke="{colour}"><path d="M{left} {heights[0]}l{rises}" stroke-width="2"/>'
            f'<path d="M{across(distance):g} {heights[distance]}h.1" stroke-width="10" stroke-linecap="round"/></g>'
        )
        said[name] = _signed(curve[distance].item())
        texts += f'<tspan x="{across(FARTHEST / 2):g}" y="111">{name} {said[name]}</tspan>'
    for score in (8, 4, 0):
        grid += f"M24 {up(score):g}H384"
        texts += f'<tspan x="12" y="{up(score) + 5:g}">{score}</tspan>'
    texts += '<tspan x="206" y="230">each by distance, from 0 to 32</tspan>'
    drawn = (
        f'<path d="{sectors}" fill="#e69f00" opacity=".6"/>'
        f'<g fill="none"><path d="{circles}{grid}" stroke="#999"/>'
        f'<g stroke-width="3"><path d="{befores}" stroke="#888" stroke-dasharray="4 3"/>'
        f'<path d="{afters}" stroke="#0072b2"/></g>{lines}</g><text text-anchor="middle">{texts}</text>'
    )
    places = f"the key, at position {start} · blue: the query, at position {start + distance}"
    told = f"score at distance {distance}, the key at position {start}: " + ", ".join(map(" ".join, said.items()))
    return _explained(
        svg(390, 234, drawn, told),
        f"dashed: {places} · under a clock: its share of the score",
        "rotary: both are turned · ALiBi: 1/8 less for each step of distance · sum: a position code is added to each",
        f"<b>rotary: score {said['rotary']}, wherever the two are</b> · "
        f"ALiBi: {said['ALiBi']}, wherever they are · sum: {said['sum']} with the key at position {start}",
    )


def _explained(drawing: str, *lines: str) -> str:
    """A drawing with lines of text next to it, or below it where the page is too narrow."""
    words = "".join(f"<div>{line}</div>" for line in lines)
    return f'<div class="am-beside">{drawing}<div>{words}</div></div>'


def _point(tip: complex) -> str:
    """In the coordinates of a drawing, where down is positive."""
    return f"{tip.real:.1f} {-tip.imag:.1f}"


def _signed(value: float) -> str:
    return f"{value:.2f}".replace("-0.00", "0.00").replace("-", "−")


def tiles_frame(tile: int, step: int) -> str:
    """The softmax average of six values by tiles, and what is kept after `step` tiles of `tile` scores each.

    Three numbers are kept: the largest score m so far, the sum of the powers exp(score − m), and the sum of the powers
    times their values. When m grows, both sums are multiplied by exp(old m − new m). Their quotient is the average.
    """
    states = list(_by_tiles(tile))
    step = min(step, len(states))
    gone = min(tile * step, len(SCORES))
    m, said = -np.inf, ("no tile yet", "m = −∞", "sum of the powers: 0", "sum of power · value: 0", "no quotient yet")
    if step:
        old, m, before, new, sums = states[step - 1]
        was = f"{old:.0f}" if step > 1 else "−∞"
        factor = f"{np.exp(old - m):.3f}"
        those = "all six" if gone == len(SCORES) else f"the first {gone}"
        plain = spread(SCORES[:gone]) @ VALUES[:gone]
        said = (
            f"orange: tile {step} of {len(states)} · blue: earlier tiles · dashed: m, the largest score so far",
            f"m = {m:.0f}; the old sums are multiplied by exp({was} − {m:.0f}) = {factor}",
            f"sum of the powers: {factor} · {before[0]:.3f} + {new[0]:.3f} = {sums[0]:.3f}",
            f"sum of power · value: {factor} · {before[1]:.3f} + {new[1]:.3f} = {sums[1]:.3f}",
            f"quotient: {sums[1] / sums[0]:.3f}; plain softmax average of {those}: {plain:.3f}",
        )
    across, score_up, power_up = Axis(0, 1, 60, 115), Axis(0, 5, 92, 32), Axis(0, 1, 192, 142)
    bars, texts = "", ""
    for place, (score, value) in enumerate(zip(SCORES, VALUES, strict=True)):
        x, power = across(place), np.exp(score - m) if place < gone else 0
        colour = "none" if place >= gone else "#e69f00" if place >= tile * (step - 1) else "#0072b2"
        for up, height, digits in ((score_up, score, "g"), (power_up, power, ".1f")):
            rise = f"{up(height) - up(0):{digits}}"
            bars += f'<path d="M{x:g} {up(0):g}v{rise}h40V{up(0):g}z" fill="{colour}"/>'
        texts += label(x + 20, score_up(score) - 5, f"{score:g}")
        texts += label(x + 20, power_up(power) - 5, f"{power:.3f}" if place < gone else "")
        texts += f'<text x="{x + 20:g}" y="214">{value:g}</text>'
    top = f"M0 {score_up(m):g}H{across(int(SCORES[:gone].argmax())):g}" if gone else f"M0 {score_up(0):g}h0"
    drawn = (
        f'<g stroke="#888" stroke-width="1.5">{bars}<path d="M56 {score_up(0):g}H379M56 {power_up(0):g}H379"/>'
        f'<path d="{top}" stroke-dasharray="5 4"/></g>'
        f'<g text-anchor="middle">{texts}</g>'
        '<text y="16">score</text><text y="114">power: exp(score − m)</text><text y="214">value</text>'
    )
    return _explained(svg(390, 220, drawn, "; ".join(said[1:])), *said[:-1], f"<b>{said[-1]}</b>")


def _by_tiles(tile: int) -> Iterator[tuple[float, float, np.ndarray, np.ndarray, np.ndarray]]:
    """For each tile: the largest score before and after it, the two sums before it, its own, and those after it."""
    m, sums = -np.inf, np.zeros(2)
    for first in range(0, len(SCORES), tile):
        scores, values = SCORES[first : first + tile], VALUES[first : first + tile]
        old, m = m, max(m, scores.max())
        powers = np.exp(scores - m)
        before, new = sums, np.array([powers.sum(), powers @ values])
        sums = np.exp(old - m) * before + new
        yield old, m, before, new, sums


def cache_frame(layers: int, heads: int, sets: str, words: int) -> str:
    """The bytes that the keys and values of a text take in half precision with 128 numbers per head, and how many fit.

    Args:
        heads: query heads of a layer, a multiple of 8.
        sets: of keys and values, "one for each head", "one for 8 heads" or "one for all".
    Raises:
        ValueError: the number of heads is no multiple of 8, or `sets` is unknown.
    """
    if heads % 8:
        raise ValueError(f"{heads} heads cannot share sets of keys and values by eights")
    kept = {"one for each head": heads, "one for 8 heads": heads // 8, "one for all": 1}
    if sets not in kept:
        raise ValueError(f"sets is {sets!r}; it must be one of {', '.join(map(repr, kept))}")
    across = Axis(20, 40, 24, 366)  # powers of two, from 1 MiB to 1 TiB: equal steps are equal factors
    needed = {name: 2 * layers * number * HEAD_SIZE * words * 2 for name, number in kept.items()}
    rows, names = "", ""
    for y, (name, size) in zip((60, 100, 140), needed.items(), strict=True):
        colour, wide = ("#0072b2", 16) if name == sets else ("#888", 10)
        rows += f'<path d="M{across(math.log2(size)):.1f} {y + 12}h.1" stroke="{colour}" stroke-width="{wide}"/>'
        names += f'<tspan x="0" y="{y}">{name}</tspan><tspan x="390" text-anchor="end">{_size(size)}</tspan>'
    lines = ""
    for y, name, size in ((14, "a graphics card with 80 GiB", 80 * GIB), (34, "a phone with 8 GiB", 8 * GIB)):
        x = across(math.log2(size))
        lines += f"M{x:.0f} {y - 12}V174"
        names += f'<tspan x="{x - 5:.0f}" y="{y}" text-anchor="end">{name}</tspan>'
    ticks, marks = "", ""
    for power, name in zip(range(20, 41, 5), ("1 MiB", "32 MiB", "1 GiB", "32 GiB", "1 TiB"), strict=True):
        x = int(across(power))
        ticks += f"M{x} 173v7"
        marks += f'<tspan x="{x}" y="194">{name}</tspan>'
    drawn = (
        f'<g stroke="#999"><path d="M24 72H366M24 112H366M24 152H366{ticks}"/>'
        f'<path d="{lines}" stroke="#d55e00" stroke-width="1.5" stroke-dasharray="4 3"/>'
        f'<g stroke-linecap="round">{rows}</g></g><text>{names}</text>'
        f'<text text-anchor="middle">{marks}<tspan x="195" y="216">each tick is 32 times the one before</tspan></text>'
    )
    told = ", ".join(f"{name} {_size(size)}" for name, size in needed.items())
    size = needed[sets]
    counted = f"{kept[sets]} {'set' if kept[sets] == 1 else 'sets'}"
    return _explained(
        svg(390, 222, drawn, f"what one text keeps, by sets of keys and values: {told}"),
        f"keys and values: 2 · {layers} layers · {counted} · {HEAD_SIZE} numbers · {words:,} words · 2 bytes",
        f"<b>{size:,} bytes ({_size(size)}) for one text, "
        f"so 80 GiB hold {80 * GIB // size:,} texts and nothing else</b>",
    )


def _size(size: int) -> str:
    number, unit = (size / GIB, "GiB") if size >= GIB else (size / MIB, "MiB")
    return f"{number:.0f} {unit}" if number >= 10 else f"{number:.2g} {unit}"
