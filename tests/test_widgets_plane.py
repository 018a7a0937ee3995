"""The query in the plane without a browser: its numbers, its picture, and what it refuses."""

import re

import numpy as np
import pytest

from course_lib import widgets

WORDS = ["the", "<b>", "cat"]
KEYS = np.array([[0.9, 0.4], [-0.3, 0.95], [-0.85, -0.5]])
VALUES = np.array([[-0.9, -0.4], [0.3, 0.95], [0.95, -0.3]])


@pytest.mark.parametrize("values", [None, VALUES])
@pytest.mark.parametrize("length", [1, 4])
def test_its_weights_are_the_softmax_of_the_dot_products(length, values):
    for degrees in range(0, 360, 30):
        query = length * np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))])
        powers = np.exp(KEYS @ query)
        weights = powers / powers.sum()
        output = weights @ (KEYS if values is None else values)
        plane = widgets.QueryInThePlane(WORDS, KEYS, values, (length, degrees))
        np.testing.assert_allclose(plane.weights(), weights, atol=1e-12)
        np.testing.assert_allclose(plane.output(), output, atol=1e-12)
        still = plane.still()
        assert re.findall(r">(\d\.\d\d)<", still) == [f"{weight:.2f}" for weight in weights]
        assert f"at ({output[0]:.2f}, {output[1]:.2f})" in still
        assert "<b>" not in still and "nan" not in still


@pytest.mark.parametrize(("values", "planes"), [(None, 1), (VALUES, 2)])
def test_its_picture_is_one_drawing_with_every_word_in_each_plane(values, planes):
    plane = widgets.QueryInThePlane(WORDS, KEYS, values)
    (drawing,) = widgets.shell.SVG.findall(plane.still())
    assert drawing.count(">cat<") == planes + 1  # and beside its bar
    assert drawing.count("stroke-dasharray") == 1
    assert ("values" in plane.still()) == (planes == 2)


def test_its_picture_and_summary_follow_what_was_dragged():
    plane = widgets.QueryInThePlane(WORDS, KEYS, VALUES, (2, 0), ["cat"])
    before = plane.still(), plane.summary()
    plane.query = [3.5, 200.0]
    assert "3.5 long at 200°" in plane.summary()
    plane.key_vectors = [[0.0, 1.0], *plane.key_vectors[1:]]
    assert (plane.longest, plane.turned) == (4, ["cat"])
    assert not {plane.still(), plane.summary()} & set(before)
    assert KEYS[0, 0] == 0.9


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"keys": KEYS[:2]}, r"keys have the shape \(2, 2\); 3 words need \(3, 2\)"),
        ({"values": VALUES[:, :1]}, r"values have the shape \(3, 1\)"),
        ({"values": 2 * VALUES}, "one of the values is longer than 1"),
        ({"turned": ["dog"]}, "not all are among"),
        ({"query": (0, 90)}, "has no length"),
    ],
)
def test_it_refuses_what_cannot_be_drawn(changed, message):
    with pytest.raises(ValueError, match=message):
        widgets.QueryInThePlane(**{"words": WORDS, "keys": KEYS} | changed)
