"""The frame of lesson 14: finished sentences are marked, and bars end where the numbers are."""

from xml.etree import ElementTree

import pytest

from course_lib import widgets
from course_lib.preferences import finished_sentences
from course_lib.widgets import trained_to_please as frames

TEXTS = {"The <b>": " set is. It ends here. Then & more.", "Else": "\n  no end"}
FIGURES = {"reward": (3.0, 0.5, 12.0), "distance": (0.0, 0.0, 150.0)}


def test_every_finished_sentence_is_marked_and_no_text_is_lost():
    frame = widgets.pleased_frame(TEXTS, FIGURES)
    page = ElementTree.fromstring(f"<div>{widgets.shell.SVG.sub('', frame)}</div>")
    assert [own.text for own in page.iter("mark")] == ["It ends here.", "Then & more."]
    assert all(finished_sentences(own.text) == 1 for own in page.iter("mark"))
    for prompt, text in TEXTS.items():
        assert prompt + text in "".join(page.itertext())


def test_bars_are_as_long_as_the_numbers_and_the_line_is_where_it_was_before():
    (drawn,) = (ElementTree.fromstring(own) for own in widgets.shell.SVG.findall(widgets.pleased_frame(TEXTS, FIGURES)))
    assert [float(bar.get("width")) for bar in drawn.iter("rect")] == [frames.WIDE * 3 / 12, 0]
    assert [line.get("d").split("v")[0].split()[0] for line in drawn.iter("path")] == [
        f"M{frames.WIDE / 24:.1f}",
        "M0.0",
    ]
    assert drawn.get("aria-label") == "reward 3, before 0.5, distance 0, before 0"


@pytest.mark.parametrize(
    ("texts", "figures", "said"),
    [
        ({}, FIGURES, "there is no text"),
        (TEXTS, {"reward": (13.0, 0.5, 12.0)}, r"reward is \(13.0, 0.5\); its scale goes from 0 to 12.0"),
        (TEXTS, {"reward": (-1.0, 0.5, 12.0)}, "its scale goes from 0 to 12.0"),
    ],
)
def test_what_cannot_be_drawn_is_refused(texts, figures, said):
    with pytest.raises(ValueError, match=said):
        widgets.pleased_frame(texts, figures)
