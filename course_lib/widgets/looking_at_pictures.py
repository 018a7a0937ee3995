"""Frames of pictures: a caption, and where the model looked for each of its words."""

import html
from collections.abc import Sequence

import numpy as np
from torch import Tensor

from course_lib.widgets.drawing import beside, svg

SIDE = 264  # of a picture
GREYS = 4  # shades of ink, so that a picture is a few paths


def caption_frame(picture: Tensor | np.ndarray, words: Sequence[str], maps: Tensor | np.ndarray, word: int) -> str:
    """A picture under the weights of one word of its caption, and the caption up to that word.

    Args:
        picture: (height, width), from 0 (paper) to 1 (ink).
        maps: (word, row, column), the weights of each word over the regions of the picture; each sums to 1.
        word: 1 is the first; numbers after the last show the last.
    Raises:
        ValueError: there is no word or no map for a word, the regions do not divide the picture, the maps hold no
            weights, or the word is below 1.
    """
    picture, maps = np.asarray(picture, float), np.asarray(maps, float)
    if not words or maps.ndim != 3 or len(maps) < len(words):
        raise ValueError(f"{len(words)} words and maps of the shape {maps.shape} were given; each word needs its map")
    (height, width), (rows, columns) = picture.shape, maps.shape[1:]
    if height % rows or width % columns:
        raise ValueError(f"a picture of {height} × {width} points cannot be cut into {rows} × {columns} regions")
    if (maps < 0).any() or not np.allclose(maps.sum((1, 2)), 1, atol=1e-3):
        raise ValueError(f"weights over the regions must be positive and sum to 1, not to {maps.sum((1, 2))}")
    if word < 1:
        raise ValueError(f"the word is {word}; 1 is the first")
    at = min(word, len(words)) - 1
    weights, point, tall = maps[at], SIDE / width, SIDE * height / width
    shades = np.ceil(GREYS * np.clip(picture, 0, 1)).astype(int)
    ink = "".join(
        f'<path fill-opacity="{shade / GREYS:g}" d="'
        + "".join(
            f"M{column * point:g} {row * point:g}h{point:g}v{point:g}h-{point:g}z"
            for row, column in np.argwhere(shades == shade)
        )
        + '"/>'
        for shade in range(1, GREYS + 1)
    )
    across, down = SIDE / columns, tall / rows
    light = "".join(
        f'<rect x="{column * across:g}" y="{row * down:g}" width="{across:g}" height="{down:g}" fill="#e69f00" '
        f'opacity="{0.85 * weight**0.5:.2f}"/>'
        for (row, column), weight in np.ndenumerate(weights)
    )
    row, column = np.unravel_index(weights.argmax(), weights.shape)
    where = f"largest weight {weights.max():.2f}, in row {row + 1}, column {column + 1} of {rows} × {columns}"
    shown = html.escape(words[at])
    frame = f"M.5 .5h{SIDE - 1}v{tall - 1:g}H.5z"
    paper = f'<path d="{frame}" fill="var(--am-paper, #fff)"/>'  # ink has the page's colour, also in the dark
    edge = f'<path d="{frame}" fill="none" stroke="currentColor" stroke-opacity="0.6"/>'
    drawing = svg(SIDE, tall, paper + ink + light + edge)
    said = " ".join(f"<b><u>{shown}</u></b>" if i == at else html.escape(own) for i, own in enumerate(words[: at + 1]))
    # The caption grows word by word, so its room is kept from the start.
    text = f'<div style="font-size:1.3em;min-height:4.5em">{said}</div><div>{where}</div>'
    return beside(f"the picture while “{shown}” is written: {where}", drawing, f"<div>{text}</div>")
