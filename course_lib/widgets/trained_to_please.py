"""A frame of a model that is trained to please: what it writes, what that earns, and how far it has gone."""

import html
import re
from collections.abc import Mapping

from course_lib.preferences import finished_sentences
from course_lib.widgets.drawing import Axis, label, svg

WIDE = 240  # pixels of a full bar
BLUE, ORANGE = "#0072b2", "#d55e00"


def pleased_frame(texts: Mapping[str, str], figures: Mapping[str, tuple[float, float, float]]) -> str:
    """What a model writes after some prompts, with its finished sentences marked, and bars of what was measured.

    Args:
        texts: continuations by prompt.
        figures: by name, the value, that of the model before training, and where the scale ends.
    Raises:
        ValueError: there is no text, or a value is outside of its scale.

    >>> frame = pleased_frame({"In": " short. It ends here."}, {"reward": (1.25, 0.5, 4.0)})
    >>> frame.count("<mark"), "1.25" in frame
    (1, True)
    """
    if not texts:
        raise ValueError("there is no text; give at least one prompt with its continuation")
    if outside := [
        name for name, (value, old, most) in figures.items() if not 0 <= min(value, old) <= max(value, old) <= most
    ]:
        raise ValueError(
            f"{outside[0]} is {figures[outside[0]][:2]}; its scale goes from 0 to {figures[outside[0]][2]}"
        )
    written = "".join(
        f'<div style="white-space:pre-wrap;margin:.4em 0"><b>{html.escape(prompt)}</b>{_marked(text)}</div>'
        for prompt, text in texts.items()
    )
    drawn = ""
    for number, (name, (value, old, most)) in enumerate(figures.items()):
        along, top = Axis(0, most, 0, WIDE), 52 * number
        drawn += (
            label(0, top + 14, name)
            + f'<rect x="0" y="{top + 20}" width="{along(value):.1f}" height="18" fill="{BLUE}"/>'
        )
        drawn += label(along(value) + 6, top + 34, f"{value:.3g}")
        drawn += f'<path d="M{along(old):.1f} {top + 17}v24" stroke="{ORANGE}" stroke-width="3"/>'
    told = ", ".join(f"{name} {value:.3g}, before {old:.3g}" for name, (value, old, _) in figures.items())
    bars = svg(WIDE + 60, 52 * len(figures), drawn, html.escape(told))
    beside = f'<div style="min-height:15em">{written}</div><div>{bars}<div>orange: before the training</div></div>'
    return f'<div class="am-beside">{beside}</div>'


def _marked(text: str) -> str:
    parts = re.split(r"((?<=[.!?])\s+)", text)
    return "".join(
        f"<mark>{html.escape(part)}</mark>" if finished_sentences(part) else html.escape(part) for part in parts
    )
