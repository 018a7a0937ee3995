"""The scaled dot product's frames: the numbers that they say are those of the softmax, over their whole range."""

import re

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from course_lib import masks, widgets

WORDS = ["the", "<b>", "sat"]


def softmax(scores):
    return torch.tensor(scores, dtype=torch.float64).softmax(-1).numpy()


@pytest.mark.parametrize("draw", [1, 6])
@pytest.mark.parametrize("width", [2, 64, 1024])
def test_width_frames_say_the_largest_weight_with_and_without_the_root(width, draw):
    frame = widgets.width_frame(12, width, draw)
    random = np.random.default_rng(1000 * draw + width)
    scores = random.normal(size=(12, width)) @ random.normal(size=width)
    without, with_ = softmax(scores).max(), softmax(scores / np.sqrt(width)).max()
    assert f"<b>largest weight: {without:.2f} undivided, {with_:.2f} divided by √{width}</b>" in frame
    bars = re.findall(r'<path d="((?:M\d+ \d+v-\d+h24V\d+z)+)"', frame)
    assert [len(re.findall("M", row)) for row in bars] == [12, 12]


@given(st.dictionaries(st.sampled_from("abcde"), st.floats(-3, 3), min_size=1), st.sampled_from([0.1, 1.0, 10.0]))
def test_temperature_frames_show_boltzmann_probabilities_and_all_draws(choices, temperature):
    frame = widgets.temperature_frame(choices, temperature, 1000)
    expected = softmax([-energy / temperature for energy in choices.values()])
    said = re.search(r'aria-label="probabilities: (.*?)"', frame)[1].split(", ")
    assert [entry.split()[0] for entry in said] == list(choices)
    np.testing.assert_allclose([float(entry.split()[1]) for entry in said], expected, atol=5.1e-4)
    counts = [int(count) for count in re.findall(r'text-anchor="end">(\d+)<', frame)]
    assert sum(counts) == 1000
    cheapest = list(choices.values()).index(min(choices.values()))
    assert f"{1 - counts[cheapest] / 1000:.1%} of the draws" in frame


@given(st.lists(st.lists(st.booleans(), min_size=3, max_size=3), min_size=3, max_size=3))
def test_mask_frames_show_the_library_s_masked_softmax(allowed):
    scores = np.array([[1.2, 0.3, -0.5], [0.9, 2.0, 0.4], [-0.3, 1.5, 0.6]])
    frame = widgets.mask_frame(WORDS, scores, np.array(allowed))
    weights = masks.masked_softmax(torch.tensor(scores), torch.tensor(allowed))
    cells = re.findall(r"<td>(.) (\d\.\d\d)</td>", frame)
    assert [tick == "☑" for tick, _ in cells] == [on for row in allowed for on in row]
    assert [weight for _, weight in cells] == [f"{weight:.2f}" for weight in weights.flatten().tolist()]
    assert "<b>" not in frame


def test_the_painter_begins_with_its_first_mask_and_shows_it_without_a_kernel():
    presets = {"causal": np.tri(3, dtype=bool), "everything": np.ones((3, 3), dtype=bool)}
    painter = widgets.MaskPainter(WORDS, np.zeros((3, 3)), presets)
    assert painter.allowed == [[True, False, False], [True, True, False], [True, True, True]]
    assert "☑ 1.00" in painter.still() and "☐ 0.00" in painter.still() and "0x" not in painter.summary()


@pytest.mark.parametrize(
    ("scores", "mask", "message"),
    [(np.zeros((3, 2)), np.ones((3, 3)), "'scores' has the shape"), (np.zeros((3, 3)), np.ones(3), "'all' has the")],
)
def test_the_painter_refuses_what_does_not_fit_its_words(scores, mask, message):
    with pytest.raises(ValueError, match=message):
        widgets.MaskPainter(WORDS, scores, {"all": mask})
