"""A frame of language models: a text cut into tokens."""

import html
from collections.abc import Sequence


def tokens_frame(tokens: Sequence[str], merges: Sequence[tuple[str, str]]) -> str:
    """A text as its tokens, one box each, and the merges that made them, the last one first.

    Args:
        tokens: as `BytePairs.spelled` gives them; a space is shown as ·.
        merges: the merged pairs, in order.
    """
    box = "border:1.5px solid currentColor;border-radius:4px;padding:0 .2em;white-space:pre"
    boxes = "".join(f'<span style="{box}">{_visible(token)}</span>' for token in tokens)
    made = [f"{_visible(a)} + {_visible(b)}" for a, b in reversed(merges)]
    last = f"last merge: <b>{made[0]}</b>" if made else "no merge yet"
    before = f"; before it {', '.join(made[1:])}" if made[1:] else ""
    return (
        f'<div style="display:flex;flex-wrap:wrap;gap:.3em;font-family:monospace;font-size:120%">{boxes}</div>'
        f"<div>{len(tokens)} tokens · {last}{before}</div>"
    )


def _visible(token: str) -> str:
    return html.escape(token).replace(" ", "·")
