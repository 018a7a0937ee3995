"""The frame of a position's code over their whole range."""

import re

import numpy as np
import pytest

from course_lib import widgets
from course_lib.positions import sinusoidal_table

SIZE = 16


def shown(frame):
    """The numbers in the cells, the ends of the blue hands on clocks of size 1, the angles and the dot product."""
    rows = re.findall(r'text-anchor="middle" fill="#000">(.*?)</text>', frame)
    halves = [[float(n.replace("−", "-")) for n in re.findall(r">([^<]+)</tspan>", row)] for row in rows]
    cells = [halves[0] + halves[2], halves[1] + halves[3]]
    blue = " ".join(re.findall(r'd="([^"]*)" stroke="#0072b2"', frame))
    hands = re.findall(r"M([\d.]+) 111L([\d.]+) ([\d.]+)", blue)
    tips = [((float(x) - float(middle)) / 29, (111 - float(y)) / 29) for middle, x, y in hands]
    angles = re.findall(r">([\d.]+)°</text>", frame)
    return cells, tips, angles, float(re.search(r"<b>(−?-?[\d.]+)</b>", frame)[1])


@pytest.mark.parametrize("position", [0, 1, 5, 12, 40])
@pytest.mark.parametrize("offset", [0, 1, 3, 6])
def test_a_code_is_shown_as_the_table_has_it_in_cells_and_as_hands(position, offset):
    cells, tips, _, product = shown(widgets.position_code_frame(SIZE, position, offset))
    table = sinusoidal_table(60, SIZE).numpy()
    np.testing.assert_allclose(cells, table[[position, position + offset]], atol=0.0051)
    np.testing.assert_allclose(np.ravel(tips), table[position + offset], atol=0.005)
    assert product == pytest.approx(table[position] @ table[position + offset], abs=0.0051)


@pytest.mark.parametrize("offset", [0, 1, 3, 6])
def test_the_angles_depend_on_the_offset_alone_and_so_does_the_dot_product(offset):
    frames = [widgets.position_code_frame(SIZE, position, offset) for position in (0, 4, 12)]
    told = [shown(frame)[2:] for frame in frames]
    assert told[0] == told[1] == told[2] and len(told[0][0]) == SIZE // 2
    assert float(told[0][0][0]) == pytest.approx(np.degrees(offset), abs=0.5)
    assert ('d="M' in frames[0].split("#e69f00")[0].rsplit("<path", 1)[1]) == (offset > 0)


def test_a_positive_number_is_orange_and_a_negative_one_blue():
    colours = re.findall(r'h34" stroke="#([0-9a-f]{3})"/>', widgets.position_code_frame(SIZE, 0, 5))
    table = sinusoidal_table(6, SIZE)[[0, 5]]
    values = [*table[:, :8].flatten().tolist(), *table[:, 8:].flatten().tolist()]
    for colour, value in zip(colours, values, strict=True):
        red, blue = int(colour[0], 16), int(colour[2], 16)
        assert (red > blue, red < blue) == (value > 0.05, value < -0.05) or abs(value) < 0.1


def test_an_odd_size_is_refused():
    with pytest.raises(ValueError, match="must be even"):
        widgets.position_code_frame(5, 0, 1)
