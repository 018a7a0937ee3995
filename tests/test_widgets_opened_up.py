"""The frames of lesson 13: the square of a patch is where the patch is, and a lens tells the rank of the answer."""

import html
import re
from xml.etree import ElementTree

import pytest

from course_lib import widgets
from course_lib.widgets import opened_up as frames

PROMPT, OTHER = ["The", " capital", " of", " <France>", " is"], ["The", " capital", " of", " Japan", " is"]
LAYERS = (0, 6, 12, 24, 30)
CANDIDATES = {" Tokyo": 0.5, " the": 0.25, "\n\n": 0.125, " <b>": 0.0625}


def patch(**change):
    return widgets.patch_frame(
        **{"prompt": PROMPT, "other": OTHER, "layers": LAYERS, "layer": 12, "place": 3, "candidates": CANDIDATES}
        | change
    )


def lens(**change):
    return widgets.lens_frame(
        **{"prompt": PROMPT, "layer": 24, "candidates": CANDIDATES, "answer": " Paris", "rank": 1234} | change
    )


def drawings(frame):
    return [ElementTree.fromstring(drawing) for drawing in widgets.shell.SVG.findall(frame)]


def said(frame):
    """What is written beside the drawings."""
    return "".join(ElementTree.fromstring(f"<div>{widgets.shell.SVG.sub('', frame)}</div>").itertext())


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("place", range(5))
def test_the_orange_square_is_in_the_row_of_its_layer_and_the_column_of_its_token(layer, place):
    grid, _ = drawings(patch(layer=layer, place=place))
    (square,) = (own for own in grid.iter("rect") if own.get("fill") == frames.ORANGE)
    middle = float(square.get("x")) + float(square.get("width")) / 2
    tokens = {float(own.get("x")): own.text for own in grid.iter("text") if own.get("text-anchor") == "middle"}
    assert tokens[middle] == PROMPT[place].strip()
    numbers = [int(own.text) for own in grid.iter("tspan")]
    assert numbers == list(reversed(LAYERS))  # the highest layer is on top
    assert numbers[round(float(square.get("y")) / frames.TALL)] == layer


@pytest.mark.parametrize(
    ("layer", "told"),
    [
        (12, "orange: the state after layer 12 at <France> comes from the run of The capital of Japan is"),
        (0, "orange: the state before layer 1 at <France> comes from the run of The capital of Japan is"),
    ],
)
def test_it_says_which_state_is_taken_from_where(layer, told):
    frame = patch(layer=layer)
    assert told in said(frame) and drawings(frame)[0].get("aria-label") == told
    assert said(frame).startswith("".join(PROMPT))


@pytest.mark.parametrize("frame", [patch(), lens()])
def test_candidates_are_bars_in_order_with_spaces_made_visible(frame):
    bars = drawings(frame)[-1]
    assert ["".join(text.itertext()) for text in bars.iter("text")][::2] == ["·Tokyo", "·the", "↵↵", "·<b>"]
    assert [float(bar.get("width")) for bar in bars.iter("rect")] == [75, 38, 19, 9]


def test_a_lens_says_the_layer_the_token_and_the_rank():
    assert "the state after layer 24, at is" in said(lens())
    assert "rank of Paris for this lens: 1,234" in said(lens())
    assert "the state before layer 1" in said(lens(layer=0))


@pytest.mark.parametrize("frame", [patch(), lens()])
def test_every_drawing_is_told_in_colours_for_light_and_dark(frame):
    assert all(drawing.get("aria-label") for drawing in drawings(frame))
    assert set(re.findall(r"#[0-9a-f]{3,6}\b", html.unescape(frame))) <= {"#d55e00", "#009e73", "#999"}


def test_squares_move_without_other_changes_so_that_they_glide():
    shown = {re.sub(r'"[^"]*"|>[^<]*<', "", patch(layer=layer, place=place)) for layer in LAYERS for place in (0, 4)}
    assert len(shown) == 1


@pytest.mark.parametrize(
    ("call", "change", "message"),
    [
        (patch, {"other": OTHER[:4]}, "the runs have 5 and 4 tokens; a state has its partner at the same place"),
        (patch, {"layer": 7}, "layer 7 can't be chosen; the layers are 0, 6, 12, 24, 30"),
        (patch, {"place": 5}, "place 5 is not in the prompt; its 5 tokens are numbered from 0"),
        (patch, {"place": -1}, "place -1 is not in the prompt"),
        (lens, {"rank": 0}, "the rank is 0; the likeliest token has rank 1"),
        *(
            (call, {"candidates": candidates}, message)
            for call in (patch, lens)
            for candidates, message in (
                ({}, r"the candidates are \{\}; give one or more, the likeliest first"),
                ({"a": 0.1, "b": 0.2}, "the candidates are .*'b': 0.2.*; give one or more"),
                ({"a": 1.1}, "the probability of 'a' is 1.1; it must be in 0 … 1"),
                ({"a": 0.5, "b": -0.1}, "the probability of 'b' is -0.1; it must be in 0 … 1"),
            )
        ),
    ],
)
def test_what_cannot_be_drawn_is_refused(call, change, message):
    with pytest.raises(ValueError, match=message):
        call(**change)
