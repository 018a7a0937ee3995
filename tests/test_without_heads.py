"""Heads that are cut add nothing, and nothing else is changed."""

import pytest
import torch

from course_lib.transformer import Transformer, without_heads

CROSS = "decoder.layers.1.cross_attention"


def build():
    torch.manual_seed(0)
    return Transformer(9, 11, model_size=16, heads=4, feed_forward_size=32).eval()


def test_a_cut_head_adds_nothing_and_the_others_what_they_did():
    model = build()
    part = model.get_submodule(CROSS)
    x, memory = torch.randn(2, 3, 16), torch.randn(2, 5, 16)
    key, value = part.project_memory(memory)
    value = value.clone()
    value[:, 2] = 0
    expected, _ = part.attend(x, key, value)
    bias = part.value_projection.bias.view(4, 4)[2]
    assert not bias.any(), "a fresh layer's bias is 0, so a value of 0 is a head that adds nothing"
    torch.testing.assert_close(without_heads(model, [(CROSS, 2)]).get_submodule(CROSS)(x, memory)[0], expected)


def test_the_model_itself_stays_whole():
    model = build()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    cut = without_heads(model, [(CROSS, 0), ("encoder.layers.0.self_attention", 3)])
    changed = {name for name, value in cut.state_dict().items() if not value.equal(before[name])}
    assert changed == {f"{CROSS}.output_projection.weight", "encoder.layers.0.self_attention.output_projection.weight"}
    assert all(value.equal(before[name]) for name, value in model.state_dict().items())


def test_a_wrong_name_or_number_is_refused():
    with pytest.raises(TypeError, match="is a FeedForward"):
        without_heads(build(), [("encoder.layers.0.feed_forward", 0)])
    with pytest.raises(ValueError, match="its heads are 0 to 3"):
        without_heads(build(), [(CROSS, 4)])
