"""The language model in the page, without a browser: its rounded weights, its script, its still picture."""

import json

import pytest
import torch

from course_lib import texts
from course_lib.byte_pairs import PIECE
from course_lib.metrics import bits_per_character
from course_lib.widgets import Writer
from course_lib.widgets.writer import LONGEST, MODEL, vocabulary


@pytest.mark.slow
def test_rounded_weights_predict_as_well_and_are_those_of_the_vocabulary():
    model, text = MODEL.load(), texts.python_reference().validation[:8_000]
    rounded = bits_per_character(model, text, vocabulary())
    model.load_state_dict(torch.load(MODEL.file, weights_only=True)["weights"])
    assert rounded == pytest.approx(bits_per_character(model, text, vocabulary()), abs=0.001)
    assert rounded < 2.5


def test_a_script_has_all_that_the_page_needs_and_is_small():
    script = MODEL.script
    assert len(script) < 700_000
    model = json.loads(script.partition(" = ")[2].rstrip(";\n"))
    assert model["piece"] == PIECE and model["longest"] == LONGEST
    assert [tuple(pair) for pair in model["merges"]] == vocabulary().merges
    numbers = sum(torch.Size(shape).numel() for shape in model["shapes"].values())
    assert numbers == sum(parameter.numel() for parameter in MODEL.load().parameters())


def test_its_picture_says_what_may_follow_and_what_it_writes():
    shown = Writer(['The "while" statement', "A class"], {"text": "A <class"})
    assert shown.still().count("<rect") == 8
    assert "<b>A &lt;class</b>" in shown.still()
    assert "A <class" in shown.summary()


@pytest.mark.parametrize(
    ("prompts", "start", "said"),
    [([], None, "no prompt"), (["A class", ""], None, "an empty one"), (["A class"], {"topk": 3}, "'topk' is none of")],
)
def test_what_cannot_be_shown_is_refused(prompts, start, said):
    with pytest.raises(ValueError, match=said):
        Writer(prompts, start)
