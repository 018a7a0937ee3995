"""Frames of a model that is opened up: one state taken from another run, and what a lens makes of a state."""

import html
from collections.abc import Mapping, Sequence

from course_lib.widgets.drawing import likeliest_tokens, svg

ORANGE, GREY = "#d55e00", "#999"
WIDE, TALL, LEFT = 64, 17, 30  # pixels of a square, and of the layers' numbers beside the squares


def patch_frame(
    prompt: Sequence[str],
    other: Sequence[str],
    layers: Sequence[int],
    layer: int,
    place: int,
    candidates: Mapping[str, float],
) -> str:
    """Which state of a run comes from another run, and the likeliest next tokens then.

    Args:
        prompt, other: the text of each token of the two runs, equally many.
        layers: the layers that can be chosen, from the lowest; 0 is the input of the first layer.
        layer, place: the state that is taken from the other run; places are counted from 0.
        candidates: probabilities by token, the likeliest first. A space is shown as ·.
    Raises:
        ValueError: the runs differ in length, the layer or the place can't be chosen, a less likely candidate comes
            first, or a probability is not in 0 … 1.
    """
    if len(prompt) != len(other):
        raise ValueError(
            f"the runs have {len(prompt)} and {len(other)} tokens; a state has its partner at the same place"
        )
    if layer not in layers:
        raise ValueError(f"layer {layer} can't be chosen; the layers are {', '.join(map(str, layers))}")
    if not 0 <= place < len(prompt):
        raise ValueError(f"place {place} is not in the prompt; its {len(prompt)} tokens are numbered from 0")
    bars = likeliest_tokens(candidates, "probability of the next token")
    right, low = LEFT + WIDE * len(prompt), TALL * len(layers)
    lines = "".join(f"M{LEFT} {row * TALL}H{right}" for row in range(len(layers) + 1))
    lines += "".join(f"M{LEFT + column * WIDE} 0V{low}" for column in range(len(prompt) + 1))
    at = (len(layers) - 1 - list(layers).index(layer)) * TALL
    drawn = f'<path d="{lines}" fill="none" stroke="{GREY}"/>'
    drawn += f'<rect x="{LEFT + place * WIDE}" y="{at}" width="{WIDE}" height="{TALL}" fill="{ORANGE}"/>'
    numbers = "".join(f'<tspan x="{LEFT - 8}" dy="{TALL}">{number}</tspan>' for number in reversed(layers))
    drawn += f'<text y="-3" text-anchor="end" font-size="13">{numbers}</text>'
    for column, token in enumerate(prompt):
        middle = LEFT + column * WIDE + WIDE / 2
        drawn += f'<text x="{middle:.0f}" y="{low + 18}" text-anchor="middle">{html.escape(token.strip())}</text>'
    place_told = f"after layer {layer}" if layer else "before layer 1"
    told = f"orange: the state {place_told} at {prompt[place].strip()} comes from the run of {''.join(other)}"
    grid = svg(right + 1, low + 26, drawn, html.escape(told))
    read = f"<div><b>{html.escape(''.join(prompt))}</b>▏</div>"
    words = f'<div style="min-height:3em">{html.escape(told)}</div>'
    return f'<div class="am-beside">{grid}<div>{read}{words}{bars}</div></div>'


def lens_frame(prompt: Sequence[str], layer: int, candidates: Mapping[str, float], answer: str, rank: int) -> str:
    """What a lens makes of the state at the last token of a prompt, and the rank of the answer there.

    Args:
        prompt: the text of each token.
        layer: the state is the one after this layer; 0 is the input of the first layer.
        candidates: the lens's probabilities by token, the likeliest first. A space is shown as ·.
        answer, rank: the text of the answer, and its place among all tokens for this lens, from 1.
    Raises:
        ValueError: the rank is less than 1, a less likely candidate comes first, or a probability is not in 0 … 1.
    """
    if rank < 1:
        raise ValueError(f"the rank is {rank}; the likeliest token has rank 1")
    bars = likeliest_tokens(candidates, "what the lens makes of the state")
    where = f"the state after layer {layer}" if layer else "the state before layer 1"
    last = html.escape(prompt[-1].strip())
    read = f"<div><b>{html.escape(''.join(prompt))}</b>▏ {where}, at <b>{last}</b></div>"
    return f"{read}{bars}<div>rank of <b>{html.escape(answer.strip())}</b> for this lens: <b>{rank:,}</b></div>"
