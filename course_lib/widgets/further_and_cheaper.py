"""Frames of further and cheaper: vectors turned by their places, softmax by tiles, and the size of a cache."""

import math

import numpy as np
import torch

from course_lib.positions import LinearBiases, RotaryPositions, sinusoidal_table
from course_lib.widgets.drawing import label, svg

KEY = torch.tensor([-0.2, 1.0, 1.0, 0.0, 0.7, -0.4, 0.5, -0.8], dtype=torch.float64)
QUERY = torch.tensor([0.5, 0.9, 0.5, -0.9, 0.5, -0.8, 0.6, -0.5], dtype=torch.float64)
FARTHEST = 32
SCORES, VALUES = np.array([1.0, 3.0, 2.0, 0.0, 5.0, 4.0]), np.array([6.0, 2.0, 4.0, 1.0, 3.0, 5.0])
HEAD_SIZE = 128
GIB = 2**30


def rotary_frame(distance: int, start: int) -> str:
    """A key at place `start`, a query `distance` further on: turned as hands of clocks, and their score in three ways.

    Each pair of numbers is a hand: the first says how far its tip is to the right, the second how far up. The curves
    are the dot product over the distance: of the turned vectors (rotary); of the plain ones, less 1/8 for each place
    between them (ALiBi, the third of 8 heads); of the plain ones with the sinusoidal codes of their places (sum).

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
    pairs = key.view(-1, 2).numpy(), queries[distance].view(-1, 2).numpy()
    for x, before, after in zip((48, 146, 244, 342), *pairs, strict=True):
        circles += f"M{x + 30} 34a30 30 0 1 1 0-.01"
        befores += f"M{x} 34l{_point(28 * before)}"
        afters += f"M{x} 34l{_point(28 * after)}"
        near, far = (16 * hand / np.hypot(*hand) for hand in (before, after))
        clockwise = int(np.cross(before, after) < 0)
        sectors += f"M{x} 34l{_point(near)}a16 16 0 0 {clockwise} {_point(far - near)}"
        texts += f'<tspan x="{x}" y="83">{_signed(before @ after)}</tspan>'
    lines, said = "", {}
    styles = zip((30, 158, 286), ("#0072b2", "#d55e00", "#009e73"), (1, FARTHEST, 1), strict=True)
    for (x, colour, every), (name, curve) in zip(styles, curves.items(), strict=True):
        heights = (194 - 9 * curve.numpy()).round(1)  # from 8 at 122 to −2 at 212
        rises = " ".join(f"{3 * every} {rise:.1f}" for rise in np.diff(heights[::every]))
        lines += (
            f'<g stroke="{colour}"><path d="M{x} {heights[0]}l{rises}" stroke-width="2"/>'
            f'<path d="M{x + 3 * distance} {heights[distance]}h.1" stroke-width="10" stroke-linecap="round"/></g>'
        )
        said[name] = _signed(curve[distance])
        texts += f'<tspan x="{x + 48}" y="111">{name} {said[name]}</tspan>'
    for height in (8, 4, 0):
        texts += f'<tspan x="12" y="{199 - 9 * height}">{height}</tspan>'
    texts += '<tspan x="206" y="230">each by distance, from 0 to 32</tspan>'
    drawn = (
        f'<path d="{sectors}" fill="#e69f00" opacity=".6"/>'
        f'<g fill="none"><path d="{circles}M24 122H384M24 158H384M24 194H384" stroke="#999"/>'
        f'<g stroke-width="3"><path d="{befores}" stroke="#888" stroke-dasharray="4 3"/>'
        f'<path d="{afters}" stroke="#0072b2"/></g>{lines}</g><text text-anchor="middle">{texts}</text>'
    )
    places = f"the key, at place {start} · blue: the query, at place {start + distance}"
    told = f"score at distance {distance}, the key at place {start}: " + ", ".join(map(" ".join, said.items()))
    return (
        f"{svg(390, 234, drawn, told)}<div>dashed: {places} · under a clock: its share of the score</div>"
        "<div>rotary: both are turned · ALiBi: 1/8 less for each place between · sum: a code added to each</div>"
        f"<div><b>rotary: score {said['rotary']}, wherever the two stand</b> · ALiBi: {said['ALiBi']}, too, wherever · "
        f"sum: {said['sum']}, from place {start}</div>"
    )


def _point(end: np.ndarray) -> str:
    """As a drawing wants it, where down is positive."""
    return f"{end[0]:.1f} {-end[1]:.1f}"


def _signed(value: float) -> str:
    return f"{value:.2f}".replace("-0.00", "0.00").replace("-", "−")


def tiles_frame(tile: int, step: int) -> str:
    """The softmax average of six values by tiles: what is kept after `step` tiles of `tile` scores, or after the last.

    Kept are the largest score m so far, the sum of the powers exp(score − m), and the sum of the powers times their
    values. Where m grows, the two sums are multiplied by exp(old m − new m). Their quotient is the average.
    """
    tiles = math.ceil(len(SCORES) / tile)
    m, total, weighted = -np.inf, 0.0, 0.0
    said = "no tile yet", "m = −∞", "sum of the powers: 0", "sum of power · value: 0", "no quotient yet"
    for number in range(min(step, tiles)):
        part = slice(tile * number, tile * (number + 1))
        old, m = m, max(m, SCORES[part].max())
        factor, powers = np.exp(old - m), np.exp(SCORES[part] - m)
        before, new = (total, weighted), (powers.sum(), powers @ VALUES[part])
        total, weighted = factor * total + new[0], factor * weighted + new[1]
        said = (
            f"orange: tile {number + 1} of {tiles} · blue: those before it · dashed: m, the largest score so far",
            f"m = {m:.0f}; the old sums are multiplied by exp({_whole(old)} − {m:.0f}) = {factor:.3f}",
            f"sum of the powers: {factor:.3f} · {before[0]:.3f} + {new[0]:.3f} = {total:.3f}",
            f"sum of power · value: {factor:.3f} · {before[1]:.3f} + {new[1]:.3f} = {weighted:.3f}",
            f"quotient: {weighted / total:.3f}, the softmax average of "
            + ("all six" if number + 1 == tiles else f"the first {part.stop}"),
        )
    gone = tile * min(step, tiles)
    bars, texts = "", ""
    for place, (score, value) in enumerate(zip(SCORES, VALUES, strict=True)):
        x, power = 60 + 55 * place, np.exp(score - m) if place < gone else 0
        colour = "none" if place >= gone else "#e69f00" if place >= gone - tile else "#0072b2"
        bars += f'<path d="M{x} 92v{-12 * score:g}h40V92z" fill="{colour}"/>'
        bars += f'<path d="M{x} 192v{-50 * power:.1f}h40V192z" fill="{colour}"/>'
        texts += label(x + 20, 87 - 12 * score, f"{score:g}")
        texts += label(x + 20, 187 - 50 * power, f"{power:.3f}" if place < gone else "")
        texts += f'<text x="{x + 20}" y="214">{value:g}</text>'
    top = f"M0 {92 - 12 * m:g}H{60 + 55 * np.argmax(SCORES[:gone])}" if gone else "M0 92H60"
    drawn = (
        f'<g stroke="#888" stroke-width="1.5">{bars}<path d="M56 92H379M56 192H379"/>'
        f'<path d="{top}" stroke-dasharray="5 4" opacity="{int(gone > 0)}"/></g>'
        f'<g text-anchor="middle">{texts}</g>'
        '<text y="16">score</text><text y="114">power: exp(score − m)</text><text y="214">value</text>'
    )
    lines = "".join(f"<div>{line}</div>" for line in said[:-1])
    return f"{svg(390, 220, drawn, '; '.join(said[1:]))}{lines}<div><b>{said[-1]}</b></div>"


def _whole(value: float) -> str:
    return f"{value:.0f}" if np.isfinite(value) else "−∞"


def cache_frame(layers: int, heads: int, sets: str, words: int) -> str:
    """What the keys and values of a text take, in half precision, with 128 numbers a head: bytes, and how many fit.

    Args:
        heads: query heads of a layer, a multiple of 8.
        sets: of keys and values, "one for each head", "one for 8 heads" or "one for all".
    Raises:
        ValueError: heads that cannot be shared out, or an unknown `sets`.
    """
    if heads % 8:
        raise ValueError(f"{heads} heads cannot share sets of keys and values by eights")
    kept = {"one for each head": heads, "one for 8 heads": heads // 8, "one for all": 1}
    if sets not in kept:
        raise ValueError(f"sets is {sets!r}; it must be one of {', '.join(map(repr, kept))}")
    needed = {name: 2 * layers * number * HEAD_SIZE * words * 2 for name, number in kept.items()}
    rows = ""
    for place, (name, size) in enumerate(needed.items()):
        y, mark = 60 + 40 * place, f"M{_across(size):.1f} {72 + 40 * place}h.1"
        colour, wide = ("#0072b2", 16) if name == sets else ("#888", 10)
        rows += (
            f'<text y="{y}">{name}</text><text x="390" y="{y}" text-anchor="end">{_size(size)}</text>'
            f'<path d="M24 {y + 12}H366" stroke="#999"/>'
            f'<path d="{mark}" stroke="{colour}" stroke-width="{wide}" stroke-linecap="round"/>'
        )
    marks = ""
    for x, name in zip((24, 109, 195, 280, 366), ("1 MiB", "32 MiB", "1 GiB", "32 GiB", "1 TiB"), strict=True):
        marks += f'<path d="M{x} 174v6" stroke="#999"/><text x="{x}" y="196" text-anchor="middle">{name}</text>'
    for y, name, size in ((14, "a graphics card of 80 GiB", 80 * GIB), (34, "a phone of 8 GiB", 8 * GIB)):
        x = _across(size)
        marks += f'<text x="{x - 5:.0f}" y="{y}" text-anchor="end">{name}</text>'
        marks += f'<path d="M{x:.0f} {y - 12}V174" stroke="#d55e00" stroke-width="1.5" stroke-dasharray="4 3"/>'
    told = ", ".join(f"{name} {_size(size)}" for name, size in needed.items())
    size, fit = needed[sets], 80 * GIB // needed[sets]
    counted = f"{kept[sets]} {'set' if kept[sets] == 1 else 'sets'}"
    return (
        f"{svg(390, 202, marks + rows, f'what a text keeps, by sets of keys and values: {told}')}"
        f"<div>keys and values: 2 · {layers} layers · {counted} · {HEAD_SIZE} numbers · {words:,} words · 2 bytes = "
        f"{size:,} bytes</div>"
        f"<div><b>one text keeps {_size(size)}; of such texts, {f'{fit:,}' if fit else 'none'} "
        f"{'fits' if fit < 2 else 'fit'} into 80 GiB that hold nothing else</b></div>"
    )


def _across(size: int) -> float:
    """From 1 MiB on the left to 1 TiB on the right; equal steps are equal factors."""
    return 24 + 342 * math.log2(size / 2**20) / 20


def _size(size: int) -> str:
    number, unit = (size / GIB, "GiB") if size >= GIB else (size / 2**20, "MiB")
    return f"{number:.0f} {unit}" if number >= 10 else f"{number:.2g} {unit}"
