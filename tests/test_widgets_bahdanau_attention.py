"""Frames of Bahdanau attention."""

import re

from course_lib import widgets


def test_attention_frames_show_weights_scores_gold_and_candidates():
    frame = widgets.attention_frame(
        ["le", "chat", "noir"], [0.1, 0.3, 0.6], ["the", "black"], {"black": 0.9, "<eos>": 0.1}, [2], [0.1, 2.0, 2.4]
    )
    assert re.findall(r">(\d\.\d\d)<", frame) == ["0.10", "0.30", "0.60", "0.90", "0.10"]
    assert re.findall(r"e = (\d\.\d)", frame) == ["0.1", "2.0", "2.4"]
    assert "written: the <b>black</b>" in frame and "&lt;eos&gt;" in frame and "<eos>" not in frame
    (gold,) = re.findall(r'<text y="(\d+)" fill="#d55e00">◆', frame)
    assert re.search(rf'y="{gold}" text-anchor="end">noir', frame)
    without = widgets.attention_frame(["le"], [1.0], ["the"], {"the": 1.0})
    assert "◆" not in without and "e =" not in without
