"""Frames of a model that writes: the next token among its rivals, and what a window with kept tokens costs."""

import html
from collections.abc import Mapping, Sequence

from course_lib.widgets.drawing import Axis, label, likeliest_tokens, svg

SIDE = 240  # of the drawing of a mask
BLUE, ORANGE, PAPER = "#0072b2", "#d55e00", "var(--am-paper, #fff)"
THIN = 3  # pixels of a single token, which would be too thin to see


def next_token_frame(prompt: Sequence[str], written: Sequence[str], candidates: Mapping[str, float]) -> str:
    """A prompt, what the model has written after it, and the likeliest next tokens.

    Args:
        prompt, written: the text of each token. Special tokens, such as ``<|im_end|>``, are framed.
        candidates: probabilities by token, the likeliest first. A space is shown as ·, a new line as ↵ and a tab as ⇥,
            and a long token is cut.
    Raises:
        ValueError: the prompt or the candidates are empty, a less likely candidate comes first, or a probability is
            not in 0 … 1.
    """
    if not prompt:
        raise ValueError("the prompt is empty; give the tokens that the model has read")
    bars = likeliest_tokens(candidates, "probability of the next token")
    text = "".join(map(_shown, prompt)) + f"<b>{''.join(map(_shown, written))}</b>▏"
    return f'<div style="white-space:pre-wrap;line-height:1.5;min-height:9em">{text}</div>{bars}'


def _shown(token: str) -> str:
    if token.startswith("<|") and token.endswith("|>"):
        box = "border:1px solid currentColor;border-radius:4px;font-size:85%"
        return f'<span style="{box}">{html.escape(token)}</span>'
    return html.escape(token)


def window_frame(length: int, seen: Mapping[str, object], bits: float, of_all: float, most: float) -> str:
    """Which earlier tokens each token of a text sees, and what that costs.

    Args:
        length: tokens of the text.
        seen: `window`, how many tokens a token sees, itself included, by default all; `kept`, numbers of tokens that
            all later ones see, from 0; `hidden`, how many of the first tokens no later one sees, whether kept or not.
            Other names are not read.
        bits, of_all: bits per character with this mask, and if a token sees all that came before it.
        most: where the scale ends.
    Raises:
        ValueError: the window is not from 1 to the length, a kept or hidden token is not in the text, or the bits are
            outside of the scale.
    """
    window, kept, hidden = seen.get("window", length), seen.get("kept", ()), seen.get("hidden", 0)
    if not 1 <= window <= length:
        raise ValueError(f"the window is {window}; it must be from 1 to {length}, the tokens of the text")
    if outside := [place for place in kept if not 0 <= place < length]:
        raise ValueError(f"the kept tokens {outside} are not in the text; its {length} tokens are numbered from 0")
    if not 0 <= hidden <= length:
        raise ValueError(f"{hidden} tokens are hidden; it must be from 0 to {length}, the tokens of the text")
    if not all(0 <= own <= most for own in (bits, of_all)) or not most > 0:
        raise ValueError(f"the bits are {bits} and {of_all}; the scale goes from 0 to {most}")
    at = Axis(0, length, 0, SIDE)
    wide = max(at(window), 1)
    band = f"M0 0L{SIDE} {SIDE}H{SIDE - wide:.1f}L0 {wide:.1f}z"
    columns = "".join(_column(at(place), at(place), at(place + 1)) for place in kept)
    gone = _column(0, at(hidden), at(hidden)) if hidden else ""
    first = (
        "the first is hidden from all others" if hidden == 1 else f"the first {hidden} are hidden from all later ones"
    )
    told = "each row is a token, and blue is what it sees"
    told += "; orange tokens are kept" * bool(kept) + f"; {first}" * bool(hidden)
    drawn = (
        f'<path d="{band}" fill="{BLUE}"/><path d="{columns}" fill="{ORANGE}"/><path d="{gone}" fill="{PAPER}"/>'
        f'<path d="M0 0H{SIDE}V{SIDE}H0z" fill="none" stroke="#999"/>'
    )
    along = Axis(0, most, 0, SIDE)
    bar = (
        f'<rect x="0" y="8" width="{along(bits):.0f}" height="20" fill="{BLUE}"/>'
        f'<path d="M{along(of_all):.0f} 2v32" stroke="currentColor" stroke-width="2" stroke-dasharray="4 3"/>'
        + label(along(bits) + 6, 23, f"{bits:.2f} bits per character")
    )
    scale = svg(SIDE + 190, 36, bar, f"{bits:.2f} bits per character; dashed: {of_all:.2f} if a token sees everything")
    return (
        f'<div class="am-beside">{svg(SIDE, SIDE, drawn, told)}<div><div>{told}</div>{scale}'
        f"<div>dashed: a token sees everything before it</div></div></div>"
    )


def _column(left: float, top: float, right: float) -> str:
    """Some neighbouring tokens in all rows from `top` on, as far as the rows may look."""
    right = min(max(right, left + THIN), SIDE)
    return f"M{left:.1f} {top:.1f}L{right:.1f} {max(top, right):.1f}V{SIDE}H{left:.1f}z"
