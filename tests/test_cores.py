"""Cores that save memory or time, against all scores at once."""

from functools import partial

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional as F
from torch.testing import assert_close

from course_lib.attention import MultiHeadAttention, dot_product_attention, scaled_dot_product_attention
from course_lib.cores import linear_attention, tiled_attention, window_attention
from course_lib.masks import causal_mask, length_mask
from course_lib.positions import RotaryPositions
from course_lib.transformer import DecoderOnly, EncoderOnly

SIZE = 6
CAUSAL = {"window": partial(window_attention, window=5), "linear": linear_attention}
CORES = {"tiles": partial(tiled_attention, tile=4), **CAUSAL}
LENGTHS = st.tuples(st.integers(1, 12), st.integers(0, 12))  # queries, and keys before them


def drawn(queries, keys, heads=4, kept=2, seed=0):
    generator = torch.Generator().manual_seed(seed)
    shapes = (heads, queries), (kept, keys), (kept, keys)
    return [torch.randn(2, *shape, SIZE, generator=generator, dtype=torch.float64) for shape in shapes]


# ---- the very same ----


@given(LENGTHS, st.integers(1, 9), st.booleans(), st.booleans(), st.integers(0, 9))
def test_tiles_of_any_size_give_what_all_scores_at_once_give(lengths, tile, with_mask, with_bias, seed):
    queries, keys = lengths[0], sum(lengths)
    tensors, generator = drawn(queries, keys, seed=seed), torch.Generator().manual_seed(seed)
    # A third of the scores is allowed, so some rows, and some tiles within rows, have no allowed key.
    mask = torch.rand(2, 1, queries, keys, generator=generator) < 0.3 if with_mask else None
    bias = torch.randn(1, 4, queries, keys, generator=generator, dtype=torch.float64) if with_bias else None
    wanted, _ = dot_product_attention(*tensors, mask, bias, need_weights=True)
    assert_close(tiled_attention(*tensors, mask, bias, tile=tile)[0], wanted)


@pytest.mark.parametrize("size", [1e3, 1e5])
def test_tiles_do_not_overflow(size):
    query, key, value = (tensor.float() for tensor in drawn(7, 7, kept=4))
    output, _ = tiled_attention(size * query, size * key, value, tile=2)
    assert output.isfinite().all()
    assert_close(output, F.scaled_dot_product_attention(size * query, size * key, value))


def test_gradients_go_through_tiles():
    tensors = [tensor.requires_grad_() for tensor in drawn(7, 7, kept=4)]
    mask = causal_mask(7)
    found = torch.autograd.grad(tiled_attention(*tensors, mask, tile=3)[0].square().sum(), tensors)
    wanted = torch.autograd.grad(scaled_dot_product_attention(*tensors, mask)[0].square().sum(), tensors)
    assert_close(found, wanted)


def test_a_tile_must_be_positive():
    with pytest.raises(ValueError, match="tile is 0; it must be at least 1"):
        tiled_attention(*drawn(3, 3), tile=0)


# ---- something else ----


@given(LENGTHS, st.integers(1, 30))
def test_a_window_by_blocks_is_a_window_by_its_mask(lengths, window):
    queries, keys = lengths[0], sum(lengths)
    query, key, value = drawn(queries, keys)
    place = torch.arange(keys)[keys - queries :, None] - torch.arange(keys)  # how far back a key stands
    mask = ((place >= 0) & (place < window))[None, None]
    whole = key.repeat_interleave(2, 1), value.repeat_interleave(2, 1)
    output, weights = scaled_dot_product_attention(query, *whole, mask)
    for given_mask in (None, causal_mask(keys, keys - queries)):
        assert_close(window_attention(query, key, value, given_mask, window=window)[0], output)
    assert_close(window_attention(query, key, value, window=window, need_weights=True), (output, weights))


@given(LENGTHS, st.integers(1, 9))
def test_linear_attention_in_blocks_is_its_recurrence_and_its_weights(lengths, block):
    queries, keys = lengths[0], sum(lengths)
    query, key, value = drawn(queries, keys)
    S, z = torch.zeros(2, 4, SIZE, SIZE, dtype=torch.float64), torch.zeros(2, 4, SIZE, dtype=torch.float64)
    outputs = []
    for place in range(keys):
        k = (F.elu(key) + 1)[:, :, place].repeat_interleave(2, 1)
        v = value[:, :, place].repeat_interleave(2, 1)
        S, z = S + k[..., None] * v[..., None, :], z + k
        if place >= keys - queries:
            q = F.elu(query[:, :, place - keys + queries]) + 1
            outputs.append((q[..., None] * S).sum(-2) / (q * z).sum(-1, keepdim=True))
    wanted = torch.stack(outputs, 2)
    assert_close(linear_attention(query, key, value, block=block)[0], wanted)
    output, weights = linear_attention(query, key, value, need_weights=True)
    assert_close(output, wanted)
    assert_close(weights.sum(-1), torch.ones(2, 4, queries, dtype=torch.float64))
    assert not weights[0, 0].triu(keys - queries + 1).any()


def test_linear_attention_of_far_too_small_features_is_finite():
    query, key, value = (tensor.float() for tensor in drawn(3, 3))
    output, _ = linear_attention(query - 200, key - 200, value)
    assert output.isfinite().all()


@pytest.mark.parametrize("name", CAUSAL)
def test_what_a_causal_core_cannot_do_is_refused(name):
    core, tensors = CAUSAL[name], drawn(3, 5)
    for mask in (torch.ones(1, 1, 3, 5, dtype=torch.bool), causal_mask(5, 2) & length_mask(torch.tensor([4, 5]))[0]):
        with pytest.raises(ValueError, match="causal by itself and takes no bias and no other mask"):
            core(*tensors, mask)
    with pytest.raises(ValueError, match="no bias"):
        core(*tensors, None, torch.zeros(1, 1, 3, 5))
    with pytest.raises(ValueError, match="3 queries and 2 keys"):
        core(*drawn(3, 2))
    words = torch.randint(9, (2, 4))
    with pytest.raises(ValueError, match="leave sentences that need padding to dot_product_attention"):
        model = DecoderOnly(9, self_attention=partial(MultiHeadAttention, core=core))
        model(words, length_mask(torch.tensor([3, 4])))


def test_a_window_must_be_positive():
    with pytest.raises(ValueError, match="window is 0; it must be at least 1"):
        window_attention(*drawn(3, 3), window=0)


@pytest.mark.parametrize("name", ["tiles", "linear"])
def test_weights_that_are_not_there_cannot_be_dropped(name):
    with pytest.raises(ValueError, match=r"dropout is 0\.1; it must be 0, since this core has no weights"):
        CORES[name](*drawn(3, 3), dropout=0.1)


# ---- in a model ----


@pytest.mark.parametrize("name", CORES)
@pytest.mark.parametrize("key_value_heads", [1, 4])
@torch.no_grad()
def test_a_model_with_the_core_reads_at_once_as_it_reads_word_by_word(name, key_value_heads):
    torch.manual_seed(0)
    parts = {"core": CORES[name], "key_value_heads": key_value_heads, "rotation": RotaryPositions}
    attention = partial(MultiHeadAttention, **parts)
    model = DecoderOnly(9, positions=None, self_attention=attention).double().eval()
    words = torch.randint(9, (2, 13))
    wanted, _ = model(words)
    assert_close(model(words, need_weights=True)[0], wanted)
    state = model.start(None)
    for place in range(13):
        logits, state, _ = model.step(words[:, place], state, None)
        assert_close(logits, wanted[:, place])


@torch.no_grad()
def test_tiles_serve_padded_sentences_too():
    torch.manual_seed(0)
    model = EncoderOnly(9, self_attention=partial(MultiHeadAttention, core=CORES["tiles"])).eval()
    words, mask = torch.randint(9, (2, 7)), length_mask(torch.tensor([4, 7]))
    assert_close(model(words, mask)[0], model(words, mask, need_weights=True)[0])


@pytest.mark.slow
@torch.no_grad()
def test_a_window_reaches_one_window_further_with_every_layer():
    torch.manual_seed(0)
    attention = partial(MultiHeadAttention, core=CORES["window"])
    for layers in (1, 2, 3):
        model = DecoderOnly(9, layers=layers, self_attention=attention).double().eval()
        words = torch.randint(4, (1, 30))
        moved = [model(words.index_fill(1, torch.tensor(place), 8))[0] - model(words)[0] for place in range(30)]
        answers = [place for place in range(30) if moved[place][0, -1].abs().max() > 1e-9]
        assert answers == list(range(29 - 4 * layers, 30))
