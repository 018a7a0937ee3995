"""The frame of tokens shows each of them, and what was put together last."""

import html
import re

from hypothesis import given
from hypothesis import strategies as st

from course_lib.widgets import tokens_frame


@given(st.lists(st.text(min_size=1)))
def test_every_token_has_a_box_of_its_own(tokens):
    boxes = re.findall(r"<span [^>]*>(.*?)</span>", tokens_frame(tokens, []), re.DOTALL)
    assert [html.unescape(box).replace("·", " ") for box in boxes] == [token.replace("·", " ") for token in tokens]


def test_the_last_merge_stands_first():
    assert "2 tokens · last merge: <b>th + e</b>; before it t + h, ·t + o" in tokens_frame(
        ["the", " x"], [(" t", "o"), ("t", "h"), ("th", "e")]
    )
    assert "no merge yet" in tokens_frame(["a"], [])
