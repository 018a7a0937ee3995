"""Parts of this course put together as Llama are `transformers`' Llama: which pins every convention.

That is, among others: which numbers rotary positions turn together, which heads share keys and values, where the
norms stand, and what of the feed-forward part is its gate.
"""

import os
from functools import partial

import pytest
import torch
from torch.testing import assert_close

from course_lib.attention import MultiHeadAttention
from course_lib.layers import GatedFeedForward, PreRMSNorm
from course_lib.positions import RotaryPositions
from course_lib.transformer import DecoderOnly, WordEmbedding

os.environ["HF_HUB_OFFLINE"] = "1"
WORDS, SIZE, HEADS, LAYERS, INNER = 50, 32, 4, 2, 40
NAMES = {  # of ours, and theirs
    "self_attention.query_projection": "self_attn.q_proj",
    "self_attention.key_projection": "self_attn.k_proj",
    "self_attention.value_projection": "self_attn.v_proj",
    "self_attention.output_projection": "self_attn.o_proj",
    "self_attention_residual.norm": "input_layernorm",
    "feed_forward.gate": "mlp.gate_proj",
    "feed_forward.inner": "mlp.up_proj",
    "feed_forward.outer": "mlp.down_proj",
    "feed_forward_residual.norm": "post_attention_layernorm",
}


def theirs(sets):
    """A small Llama with random weights and gains, and `sets` keys and values for its heads."""
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    model = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=WORDS,
            hidden_size=SIZE,
            intermediate_size=INNER,
            num_hidden_layers=LAYERS,
            num_attention_heads=HEADS,
            num_key_value_heads=sets,
            rms_norm_eps=1e-5,
        )
    )
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(std=0.4)
    return model.eval()


def in_pairs(weight):
    """Rows of W_Q or W_K in the order in which ours are turned: head by head 0, d / 2, 1, d / 2 + 1, …"""
    head_size = SIZE // HEADS
    return weight.unflatten(0, (-1, 2, head_size // 2)).transpose(1, 2).flatten(0, 2)


def ours(llama, sets):
    """The same weights in this course's parts."""
    model = DecoderOnly(
        WORDS,
        model_size=SIZE,
        heads=HEADS,
        layers=LAYERS,
        feed_forward_size=INNER,
        positions=None,
        residual=PreRMSNorm,
        self_attention=partial(
            MultiHeadAttention, key_value_heads=sets, projection_bias=False, rotation=RotaryPositions
        ),
        feed_forward=GatedFeedForward,
        embedding=partial(WordEmbedding, scale=1.0),
    )
    own = llama.state_dict()
    weights = {"embedding.weight": own.pop("model.embed_tokens.weight"), "output.weight": own.pop("lm_head.weight")}
    weights["encoder.last.weight"] = own.pop("model.norm.weight")
    weights["output.bias"] = torch.zeros(WORDS)
    for layer in range(LAYERS):
        for name, their_name in NAMES.items():
            weight = own.pop(f"model.layers.{layer}.{their_name}.weight")
            turned = name.endswith(("query_projection", "key_projection"))
            weights[f"encoder.layers.{layer}.{name}.weight"] = in_pairs(weight) if turned else weight
    assert not own
    model.load_state_dict(weights)
    return model.eval()


@pytest.mark.slow
@pytest.mark.parametrize("sets", [1, 2, 4])
@torch.no_grad()
def test_the_parts_of_this_course_make_llama(sets):
    llama = theirs(sets)
    model = ours(llama, sets)
    words = torch.randint(WORDS, (3, 17), generator=torch.Generator().manual_seed(1))
    their_states = llama(words, output_hidden_states=True)
    our_states = model.states(words)
    for number, state in enumerate(their_states.hidden_states[:-1]):
        assert_close(our_states[:, number], state, atol=1e-5, rtol=1e-5)
    assert_close(model(words)[0], their_states.logits, atol=1e-5, rtol=1e-5)
    assert_close(model(words, need_weights=True)[0], their_states.logits, atol=1e-5, rtol=1e-5)
    state = model.start(None)
    for place in range(words.shape[1]):  # word by word, with the keys and values kept
        logits, state, _ = model.step(words[:, place], state, None)
        assert_close(logits, their_states.logits[:, place], atol=1e-5, rtol=1e-5)


@pytest.mark.slow
@torch.no_grad()
def test_queries_and_keys_in_their_own_order_are_not_llama():
    llama = theirs(4)
    model = ours(llama, 4)
    attention = model.encoder.layers[0].self_attention
    attention.query_projection.weight.copy_(llama.model.layers[0].self_attn.q_proj.weight)
    attention.key_projection.weight.copy_(llama.model.layers[0].self_attn.k_proj.weight)
    words = torch.randint(WORDS, (3, 17), generator=torch.Generator().manual_seed(1))
    assert (model(words)[0] - llama(words).logits).abs().max() > 0.1
