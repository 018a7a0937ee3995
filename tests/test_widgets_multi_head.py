"""The frame of two sources over its whole range."""

import re

import pytest

from course_lib import widgets

SHARES = [0, 0.1, 0.3, 0.5, 0.7, 0.9, 1]


@pytest.mark.parametrize("weight", SHARES)
def test_one_head_never_answers_both_questions_and_two_do_unless_they_look_alike(weight):
    one, two = (widgets.two_sources_frame(heads, weight) for heads in (1, 2))
    assert f"<b>{0 if weight == 0.5 else 2} of 4" in one
    assert f"<b>{0 if weight == 0.5 else 4} of 4" in two
    for frame, heads in ((one, 1), (two, 2)):
        assert frame.count("✓") + frame.count("✗") == 4
        assert frame.count(f">{weight:.1f}<") >= 2 * heads - 1 and "nan" not in frame


def test_with_half_of_the_weight_on_each_word_the_two_sentences_look_the_same():
    frame = widgets.two_sources_frame(1, 0.5)
    amounts = re.findall(r">(\d\.\d)<", frame)
    assert amounts[:3] == amounts[3:] and frame.count("cannot tell") == 4
