"""A frame of the Transformer, built: the code of a position."""

import numpy as np
import torch

from course_lib.positions import sinusoidal_table
from course_lib.widgets.drawing import beside, svg

ORANGES = ("fff", "fed", "fdb", "fc8", "fb6", "fa4", "f92")  # of numbers from 0 to 1
BLUES = ("fff", "def", "bdf", "9cf", "7bf", "5af", "4af")  # from 0 to −1


def position_code_frame(model_size: int, position: int, offset: int) -> str:
    """The sinusoidal codes of a position and of one `offset` further on, as coloured cells and as hands of clocks.

    Each pair of numbers (sin, cos) is a hand: the first says how far its tip is to the right, the second how far up.
    A cell is orange for a positive number, blue for a negative one.

    Args:
        model_size: numbers in a code, an even number; up to 16 can be read.
    Raises:
        ValueError: an odd model size.
    """
    codes = sinusoidal_table(position + offset + 1, model_size, dtype=torch.float64)[[position, -1]].numpy()
    names = f"position {position}", f"position {position} + {offset} = {position + offset}"
    hands, wide = model_size // 2, 560 / model_size
    degrees = np.degrees(offset * 10000 ** (-2 * np.arange(hands) / model_size))
    turned = [_degrees(angle) for angle in degrees]
    halves = []
    for half in (range(hands // 2), range(hands // 2, hands)):
        cells, texts, circles, arcs, befores, afters = [], [], "", "", "", ""
        for code, name, top in zip(codes, names, (27, 67), strict=True):
            numbers = ""
            for place, value in enumerate(code[2 * half.start : 2 * half.stop]):
                colour = (ORANGES if value > 0 else BLUES)[round(6 * abs(value) ** 0.7)]
                cells.append(f'<path d="M{wide * place:g} {top}h{wide - 1:g}" stroke="#{colour}"/>')
                numbers += f'<tspan x="{wide * (place + 0.5):g}">{_signed(value)}</tspan>'
            texts.append(f'<text y="{top + 4}" font-size="12" text-anchor="middle" fill="#000">{numbers}</text>')
            texts.append("" if half.start else f'<text y="{top - 14}">{name}</text>')
        for place, hand in enumerate(half):
            x, (before, after) = 2 * wide * (place + 0.5), codes[:, 2 * hand : 2 * hand + 2]
            texts.append(f'<text x="{x:g}" y="156" text-anchor="middle">{turned[hand]}</text>')
            start, end = (f"{x + 29 * sin:.1f} {111 - 29 * cos:.1f}" for sin, cos in (before, after))
            if 1 <= degrees[hand] < 359:
                arcs += f"M{start}A29 29 0 {int(degrees[hand] > 180)} 1 {end}"
            circles += f"M{x - 29:g} 111a29 29 0 1 1 0 .01"
            befores += f"M{x:g} 111L{start}"
            afters += f"M{x:g} 111L{end}"
        drawn = (
            f'<g fill="none"><path d="{circles}" stroke="#999"/><path d="{arcs}" stroke="#e69f00" stroke-width="5"/>'
            f'<path d="{befores}" stroke="#888" stroke-width="3" stroke-dasharray="4 3"/>'
            f'<path d="{afters}" stroke="#0072b2" stroke-width="3"/><g stroke-width="22">{"".join(cells)}</g></g>'
        )
        halves.append(svg(2 * wide * len(half), 161, drawn + "".join(texts), size=12))
    product = codes[0] @ codes[1]
    said = f"{offset} {'position' if offset == 1 else 'positions'} on, the hands have turned by {', '.join(turned)}"
    return (
        f"{beside(f'the codes of position {position} and {position + offset}; {said}', *halves)}"
        f"<div>dashed: position {position} · blue: position {position + offset} · below: by how much a hand has turned"
        f"</div><div>dot product of the two rows: <b>{product:.2f}</b></div>"
    )


def _signed(value: float) -> str:
    """Two digits, without the leading zero: .54, −1, 0."""
    spelled = f"{value:.2f}"
    if float(spelled) in (-1, 0, 1):
        return f"{value:.0f}".replace("-0", "0").replace("-", "−")
    return spelled.replace("0.", ".").replace("-", "−")


def _degrees(value: float) -> str:
    return f"{value:.0f}°" if value >= 10 or not value else f"{value:.1f}°" if value >= 1 else f"{value:.2f}°"
