"""The frames of lesson 10: what they say and draw is what they are given, and what cannot be shown is refused."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest
import torch

from course_lib import scenes, widgets

WORDS = ["seven", "beside", "<eos>"]
random = np.random.default_rng(0)
PICTURE = random.uniform(size=(24, 24)) * (random.uniform(size=(24, 24)) < 0.2)
MAPS = random.dirichlet(np.full(36, 0.2), size=3).reshape(3, 6, 6)


def drawn(frame):
    page = ElementTree.fromstring(f"<div>{frame}</div>")
    return page, [float(rect.get("opacity")) for rect in page.iter("rect")]


@pytest.mark.parametrize("word", [1, 2, 3])
def test_each_region_is_lit_by_its_weight_and_the_largest_is_named(word):
    page, light = drawn(widgets.caption_frame(PICTURE, WORDS, MAPS, word))
    assert len(light) == 36
    assert np.allclose(np.square(np.array(light) / 0.85), MAPS[word - 1].ravel(), atol=0.02)
    row, column = np.unravel_index(MAPS[word - 1].argmax(), (6, 6))
    said = f"largest weight {MAPS[word - 1].max():.2f}, in row {row + 1}, column {column + 1} of 6 × 6"
    assert said in "".join(page.itertext())
    assert said in page[0].get("aria-label")


def test_the_caption_grows_and_the_word_at_hand_is_marked():
    for word in range(1, 6):
        page, _ = drawn(widgets.caption_frame(PICTURE, WORDS, MAPS, word))
        shown = WORDS[: min(word, 3)]
        assert "".join(page.itertext()).startswith(" ".join(shown))
        assert [marked.text for marked in page.iter("u")] == shown[-1:]


def test_each_point_of_ink_is_drawn_once_as_dark_as_it_is():
    page, _ = drawn(widgets.caption_frame(PICTURE, WORDS, MAPS, 1))
    found = np.zeros((24, 24))
    for path in page.iter("path"):
        if path.get("fill-opacity"):
            for x, y in re.findall(r"M([\d.]+) ([\d.]+)h11v11", path.get("d")):
                found[round(float(y) / 11), round(float(x) / 11)] += float(path.get("fill-opacity"))
    assert np.allclose(found, np.ceil(4 * PICTURE) / 4)


def test_ink_has_the_pages_colour_on_its_paper_within_a_frame():
    """As an image of its own, where the page gives no colours, it is black on white."""
    paths = list(drawn(widgets.caption_frame(PICTURE, WORDS, MAPS, 1))[0].iter("path"))
    paper, *ink, frame = paths
    assert paper.get("fill") == "var(--am-paper, #fff)" and frame.get("stroke") == "currentColor"
    assert paper.get("d") == frame.get("d") and {path.get("fill") for path in ink} == {None}


def test_real_scenes_are_shown_and_grids_that_are_not_square():
    drawing = scenes.draw_scenes(torch.Generator().manual_seed(0), 1, "unseen").pictures[0]
    assert "largest weight" in widgets.caption_frame(drawing, WORDS, MAPS, 2)
    assert len(drawn(widgets.caption_frame(PICTURE[:16], ["one"], np.full((1, 2, 3), 1 / 6), 1))[1]) == 6


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"words": []}, "each word needs its map"),
        ({"words": ["one"] * 4}, "4 words and maps of the shape"),
        ({"maps": MAPS[0]}, "each word needs its map"),
        ({"picture": PICTURE[:23]}, "23 × 24 points cannot be cut into 6 × 6"),
        ({"maps": MAPS * 2}, "sum to 1"),
        ({"maps": MAPS - 0.5}, "positive"),
        ({"word": 0}, "1 is the first"),
    ],
)
def test_what_cannot_be_shown_is_refused(change, says):
    with pytest.raises(ValueError, match=says):
        widgets.caption_frame(**{"picture": PICTURE, "words": WORDS, "maps": MAPS, "word": 1} | change)
