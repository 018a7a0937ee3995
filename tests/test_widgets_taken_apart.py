"""The curves by length show what they are given."""

import re
import xml.etree.ElementTree as ET

import pytest

from course_lib.widgets import by_length_frame

CURVES = {"plain": {"3–6": 1.0, "7–10": 0.5}, "a < b": {"3–6": 0.25, "7–10": 0.0}}


def test_every_curve_and_bucket_is_drawn_and_told():
    frame = by_length_frame(CURVES, "<div>below</div>")
    svg = ET.fromstring(frame.removesuffix("<div>below</div>"))
    assert frame.endswith("<div>below</div>")
    assert svg.get("aria-label").endswith("plain: 3–6 1.00, 7–10 0.50; a < b: 3–6 0.25, 7–10 0.00")
    texts = ["".join(text.itertext()) for text in svg.iter("text")]
    assert {"3–6", "7–10", "● plain", "■ a < b", "correct sentences"} <= set(texts)


def test_a_share_of_one_is_on_the_top_line_and_zero_on_the_bottom():
    top, bottom = re.findall(r'd="M44 (\d+)H380"', by_length_frame(CURVES))[::-2]
    first, second = re.findall(r'd="M56 ([\d.]+)L366 ([\d.]+)"', by_length_frame(CURVES))
    assert float(first[0]) == float(top) and float(second[1]) == float(bottom)


@pytest.mark.parametrize("curves", [{}, {str(i): CURVES["plain"] for i in range(4)}])
def test_curves_that_cannot_be_told_apart_are_refused(curves):
    with pytest.raises(ValueError, match="one to three"):
        by_length_frame(curves)
