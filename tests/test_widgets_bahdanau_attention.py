"""Frames of Bahdanau attention over their whole range."""

import re

import numpy as np
import pytest

from course_lib import widgets

STATES = np.array([[0.9, 0.4], [-0.3, 0.95], [-0.85, -0.5]])


@pytest.mark.parametrize("length", [0, 1, 4])
def test_flashlight_frames_say_the_softmax_of_the_dot_products(length):
    for degrees in range(0, 360, 10):
        query = length * np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))])
        weights = np.exp(STATES @ query) / np.exp(STATES @ query).sum()
        frame = widgets.flashlight_frame(["the", "<b>", "cat"], STATES, degrees, length)
        assert re.findall(r">(\d\.\d\d)<", frame) == [f"{weight:.2f}" for weight in weights]
        assert f"({weights @ STATES[:, 0]:.2f}, {weights @ STATES[:, 1]:.2f})" in frame
        assert "<b>" not in frame and "nan" not in frame


def test_attention_frames_show_weights_scores_gold_and_candidates():
    frame = widgets.attention_frame(
        ["le", "chat", "noir"], [0.1, 0.3, 0.6], ["the", "black"], {"black": 0.9, "<eos>": 0.1}, [2], [0.1, 2.0, 2.4]
    )
    assert re.findall(r">(\d\.\d\d)<", frame) == ["0.10", "0.30", "0.60", "0.90", "0.10"]
    assert re.findall(r"e = (\d\.\d)", frame) == ["0.1", "2.0", "2.4"]
    assert "written: the <b>black</b>" in frame and "&lt;eos&gt;" in frame and "<eos>" not in frame
    (gold,) = re.findall(r'<text x="(\d+)" y="140" fill="#d55e00">◆', frame)
    assert f'<text x="{gold}" y="124">noir' in frame
    without = widgets.attention_frame(["le"], [1.0], ["the"], {"the": 1.0})
    assert "◆" not in without and "e =" not in without
