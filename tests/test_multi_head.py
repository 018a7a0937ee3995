"""Many heads: the fused path against the steps, and both against torch's module."""

import itertools
from functools import partial

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional as F
from torch.testing import assert_close

from course_lib.attention import (
    MultiHeadAttention,
    dot_product_attention,
    merge_heads,
    scaled_dot_product_attention,
    split_heads,
)
from course_lib.masks import causal_mask, padding_mask
from course_lib.positions import LinearBiases, RotaryPositions

BATCH, HEADS, QUERIES, KEYS, SIZE = 2, 3, 4, 5, 12
MASK_SHAPES = list(itertools.product([1, BATCH], [1, HEADS], [1, QUERIES]))

both_paths = pytest.mark.parametrize("need_weights", [False, True], ids=["fused", "in steps"])
half = pytest.mark.parametrize(
    ("dtype", "tolerance"), [(torch.bfloat16, 5e-2), (torch.float16, 5e-3)], ids=["bfloat16", "float16"]
)
floats = pytest.mark.parametrize(
    ("dtype", "tolerance"), [(torch.float64, 1e-10), (torch.float32, 1e-5)], ids=["float64", "float32"]
)


def randomized(module, seed=0):
    """Draws every parameter at random, biases too, since zeros would hide which is which."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator) / 3)
    return module


def make(dtype=torch.float64, **settings):
    return randomized(MultiHeadAttention(SIZE, HEADS, **settings)).to(dtype)


def x_and_memory(queries=QUERIES, keys=KEYS, dtype=torch.float64, seed=0):
    generator = torch.Generator().manual_seed(seed)
    both = (torch.randn(BATCH, n, SIZE, generator=generator, dtype=torch.float64) for n in (queries, keys))
    return [tensor.to(dtype).requires_grad_() for tensor in both]


def random_mask(shape, share=0.5, seed=0):
    return torch.rand(shape, generator=torch.Generator().manual_seed(seed)) < share


def gradients(output, inputs):
    """Of a sum in which no two numbers of the output weigh the same."""
    upstream = torch.linspace(-1, 2, output.numel(), dtype=output.dtype).view_as(output)
    return torch.autograd.grad(output, inputs, upstream)


def assert_paths_equal(module, x, memory, mask, tolerance):
    inputs = [x, *([] if memory is None else [memory]), *module.parameters()]
    fused, nothing = module(x, memory, mask)
    stepwise, weights = module(x, memory, mask, need_weights=True)
    assert nothing is None and weights.dtype == fused.dtype == stepwise.dtype == x.dtype
    assert weights.shape == (len(x), module.heads, x.shape[1], (x if memory is None else memory).shape[1])
    assert_close(fused, stepwise, atol=tolerance, rtol=tolerance)
    assert_close(gradients(fused, inputs), gradients(stepwise, inputs), atol=4 * tolerance, rtol=4 * tolerance)


# ---- cutting and merging ----


def test_a_head_has_its_piece_of_every_vector():
    x, _ = x_and_memory()
    pieces = split_heads(x, HEADS)
    assert pieces.shape == (BATCH, HEADS, QUERIES, SIZE // HEADS)
    for head in range(HEADS):
        assert torch.equal(pieces[:, head], x[..., 4 * head : 4 * head + 4])


@given(st.integers(1, 3), st.integers(0, 4), st.integers(1, 4), st.integers(1, 4))
def test_merging_undoes_cutting(batch, length, heads, head_size):
    x = torch.arange(batch * length * heads * head_size).view(batch, length, -1 if length else heads * head_size) / 2
    assert torch.equal(merge_heads(split_heads(x, heads)), x)


def test_merging_without_the_transpose_would_not():
    x, _ = x_and_memory()
    pieces = split_heads(x, HEADS)
    assert not torch.equal(pieces.reshape(x.shape), x)


# ---- what it computes ----


@both_paths
def test_it_is_the_papers_formula_head_by_head(need_weights):
    module, (x, memory) = make(), x_and_memory()
    mask = random_mask((BATCH, HEADS, QUERIES, KEYS))
    query, key, value = (
        [projection.weight.chunk(HEADS), projection.bias.chunk(HEADS)]
        for projection in (module.query_projection, module.key_projection, module.value_projection)
    )
    heads, all_weights = [], []
    for i in range(HEADS):
        q, k, v = (F.linear(m, w[i], b[i]) for m, (w, b) in zip((x, memory, memory), (query, key, value), strict=True))
        head, weights = scaled_dot_product_attention(q, k, v, mask[:, i])
        heads.append(head)
        all_weights.append(weights)
    output, weights = module(x, memory, mask, need_weights=need_weights)
    assert_close(output, module.output_projection(torch.cat(heads, -1)))
    if need_weights:
        assert_close(weights, torch.stack(all_weights, 1))


@pytest.mark.parametrize("cross", [False, True], ids=["self", "cross"])
@pytest.mark.parametrize("mask_shape", [None, *MASK_SHAPES], ids=str)
@floats
def test_both_paths_have_equal_values_and_gradients(cross, mask_shape, dtype, tolerance):
    x, memory = x_and_memory(dtype=dtype)
    mask = None if mask_shape is None else random_mask((*mask_shape, KEYS if cross else QUERIES))
    assert_paths_equal(make(dtype), x, memory if cross else None, mask, tolerance)


@half
def test_both_paths_are_equal_and_right_in_half_precision(dtype, tolerance):
    x, memory = x_and_memory(dtype=dtype)
    mask = random_mask((BATCH, 1, QUERIES, KEYS))
    assert_paths_equal(make(dtype), x, memory, mask, tolerance)
    wanted, _ = make(dtype).double()(x.double(), memory.double(), mask)
    assert_close(make(dtype)(x, memory, mask)[0].double(), wanted, atol=tolerance, rtol=tolerance)


@given(st.integers(0, 3), st.integers(0, 3), st.none() | st.floats(0, 1), st.integers(0, 999))
def test_both_paths_are_equal_for_sequences_of_every_length(queries, keys, share, seed):
    x, memory = x_and_memory(queries, keys, seed=seed)
    mask = None if share is None else random_mask((BATCH, 1, queries, keys), share, seed)
    assert_paths_equal(make(), x, memory, mask, 1e-10)


def test_weights_cost_the_fused_kernel(monkeypatch):
    module, (x, memory), calls = make(), x_and_memory(), []
    monkeypatch.setattr(F, "scaled_dot_product_attention", lambda query, *_, **__: calls.append(1) or query)
    assert module(x, memory, need_weights=True)[1] is not None and not calls
    assert module(x, memory)[1] is None and calls


@both_paths
def test_no_memory_means_the_input_itself(need_weights):
    module, (x, _) = make(), x_and_memory()
    assert_close(module(x, need_weights=need_weights), module(x, x, need_weights=need_weights))


@both_paths
def test_a_query_that_may_attend_to_nothing_gets_the_output_bias_and_gives_no_gradient(need_weights):
    module, (x, memory) = make(), x_and_memory()
    mask = torch.ones(BATCH, 1, QUERIES, KEYS, dtype=torch.bool)
    mask[0] = False  # a whole sentence
    mask[1, :, 2] = False  # one query of the other
    output, weights = module(x, memory, mask, need_weights=need_weights)
    heads = output - module.output_projection.bias
    by_x, by_memory = gradients(output, [x, memory])
    for tensor in (heads, by_x):
        assert not tensor[0].any() and not tensor[1, 2].any() and tensor[1, 3].any()
    assert not by_memory[0].any() and by_memory[1].all()
    if need_weights:
        assert not weights[0].any() and not weights[1, :, 2].any()


@both_paths
@given(order=st.permutations(range(KEYS)))
def test_the_order_of_the_memory_does_not_matter(need_weights, order):
    module, (x, memory) = make(), x_and_memory()
    mask = random_mask((BATCH, HEADS, QUERIES, KEYS))
    output, weights = module(x, memory, mask, need_weights=need_weights)
    again, moved = module(x, memory[:, order], mask[..., order], need_weights=need_weights)
    assert_close(again, output)
    if need_weights:
        assert_close(moved, weights[..., order])


@both_paths
@given(order=st.permutations(range(QUERIES)))
def test_self_attention_moves_with_its_words(need_weights, order):
    module, (x, _) = make(), x_and_memory()
    output, weights = module(x, need_weights=need_weights)
    again, moved = module(x[:, order], need_weights=need_weights)
    assert_close(again, output[:, order])
    if need_weights:
        assert_close(moved, weights[:, :, order][..., order])


@both_paths
def test_a_causal_mask_keeps_the_past_from_the_future(need_weights):
    module, (x, _) = make(), x_and_memory()
    mask = padding_mask(torch.tensor([QUERIES, QUERIES - 1])) & causal_mask(QUERIES)
    output, _ = module(x, None, mask, need_weights=need_weights)
    (gradient,) = torch.autograd.grad(output[:, 1].sum(), x)
    assert gradient[:, :2].all() and not gradient[:, 2:].any()


@both_paths
def test_keys_and_values_projected_once_serve_one_query_at_a_time(need_weights):
    module, (x, _) = make(), x_and_memory()
    output, _ = module(x, None, causal_mask(QUERIES), need_weights=need_weights)
    key, value = module.project_memory(x)
    for t in range(QUERIES):
        past = key[:, :, : t + 1], value[:, :, : t + 1]
        step, _ = module.attend(x[:, t : t + 1], *past, need_weights=need_weights)
        assert_close(step, output[:, t : t + 1])


@both_paths
def test_strides_do_not_matter_and_arguments_stay_as_they_are(need_weights):
    module, (x, memory) = make(), x_and_memory()
    inputs = [x, memory, random_mask((BATCH, HEADS, QUERIES, KEYS))]
    strided = [tensor.detach().transpose(0, -1).contiguous().transpose(0, -1) for tensor in inputs]
    assert not any(tensor.is_contiguous() for tensor in strided)
    before = [tensor.clone() for tensor in strided]
    assert_close(module(*strided, need_weights=need_weights), module(*inputs, need_weights=need_weights))
    assert all(map(torch.equal, strided, before))


# ---- dropout ----


@both_paths
def test_dropout_acts_in_training_only(need_weights):
    module, (x, memory) = make(dropout=0.5), x_and_memory()
    wanted, _ = make()(x, memory)
    torch.manual_seed(0)
    dropped, _ = module(x, memory, need_weights=need_weights)
    assert not torch.allclose(dropped, wanted)
    assert_close(module.eval()(x, memory, need_weights=need_weights)[0], wanted)


def test_the_weights_are_those_before_dropout():
    x, memory = x_and_memory()
    weights = [make(dropout=dropout)(x, memory, need_weights=True)[1] for dropout in (0.0, 0.5)]
    assert torch.equal(*weights)


@both_paths
def test_dropout_leaves_the_mean_as_it_is(need_weights):
    module, (x, memory) = make(dropout=0.5), x_and_memory()
    torch.manual_seed(0)
    many = 4000
    output, _ = module(x[:1].expand(many, -1, -1), memory[:1].expand(many, -1, -1), need_weights=need_weights)
    error = output.std(0) / many**0.5
    assert ((output.mean(0) - module.eval()(x[:1], memory[:1])[0][0]).abs() < 5 * error).all()


# ---- making one ----


def test_heads_that_do_not_divide_the_model_are_refused_with_those_that_do():
    with pytest.raises(ValueError, match="model_size 12 cannot be cut into 5 heads .* may be 1, 2, 3, 4, 6, 12$"):
        MultiHeadAttention(12, 5)


@pytest.mark.parametrize("heads", [0, -2, 24])
def test_impossible_numbers_of_heads_are_refused(heads):
    with pytest.raises(ValueError, match=f"into {heads} heads"):
        MultiHeadAttention(12, heads)


def test_queries_keys_and_values_start_with_the_variance_of_their_input():
    torch.manual_seed(0)
    module = MultiHeadAttention(256, 4)
    x = torch.randn(4, 100, 256)
    key, value = module.project_memory(x)
    for projected in (module.query_projection(x), key, value):
        assert 0.9 < projected.var().item() < 1.1
    assert not any(projection.bias.any() for projection in module.children())


def test_the_number_of_parameters_does_not_depend_on_the_heads():
    counts = {sum(p.numel() for p in MultiHeadAttention(12, heads).parameters()) for heads in (1, 2, 3, 4, 6, 12)}
    assert counts == {4 * (12 * 12 + 12)}


# ---- torch's module ----


def torchs_mask(mask, keys):
    """(batch, 1 or head, …) with True for *may attend*, as torch has it: (batch · head, query, key), True for not."""
    return None if mask is None else ~mask.expand(BATCH, HEADS, QUERIES, keys).flatten(0, 1)


def run(module, x, memory, mask):
    """Output and weights of each head, of ours or torch's."""
    if isinstance(module, MultiHeadAttention):
        return module(x, memory, mask, need_weights=True)
    memory = x if memory is None else memory
    mask = torchs_mask(mask, memory.shape[1])
    return module(x, memory, memory, attn_mask=mask, average_attn_weights=False)


def packed(module):
    """The parameters' gradients, as torch lays them out."""
    if isinstance(module, nn.MultiheadAttention):
        inner = module.in_proj_weight.grad, module.in_proj_bias.grad
        return *inner, module.out_proj.weight.grad, module.out_proj.bias.grad
    three = module.query_projection, module.key_projection, module.value_projection
    inner = torch.cat([p.weight.grad for p in three]), torch.cat([p.bias.grad for p in three])
    return *inner, module.output_projection.weight.grad, module.output_projection.bias.grad


def make_torchs(dtype=torch.float64, **settings):
    return randomized(nn.MultiheadAttention(SIZE, HEADS, batch_first=True, **settings)).to(dtype)


PAIRS = {"to torch": lambda dtype: (make(dtype), make(dtype).to_torch())}
PAIRS["from torch"] = lambda dtype: (MultiHeadAttention.from_torch(make_torchs(dtype)), make_torchs(dtype))
both_ways = pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS.keys())


@both_ways
@pytest.mark.parametrize("cross", [False, True], ids=["self", "cross"])
@pytest.mark.parametrize("mask_shape", [None, *MASK_SHAPES], ids=str)
@floats
def test_a_copy_computes_the_same_with_the_same_gradients(pair, cross, mask_shape, dtype, tolerance):
    ours, torchs = pair(dtype)
    keys = KEYS if cross else QUERIES
    mask = None if mask_shape is None else random_mask((*mask_shape, keys))
    if mask is not None:
        mask[..., 0] = True  # of a row with nothing allowed, torch's module makes NaN
    outputs = []
    for module in (ours, torchs):
        x, memory = x_and_memory(dtype=dtype)
        output, weights = run(module, x, memory if cross else None, mask)
        output.square().sum().backward()
        outputs.append([output, weights, x.grad, memory.grad if cross else x.grad, *packed(module)])
    assert_close(*outputs, atol=tolerance, rtol=10 * tolerance)


@both_ways
def test_a_copy_computes_the_same_without_weights_and_in_torchs_fast_path(pair):
    ours, torchs = pair(torch.float64)
    x, _ = x_and_memory()
    assert_close(torchs(x, x, x, need_weights=False)[0], ours(x)[0])
    with torch.inference_mode():  # in eval mode torch's module takes another kernel
        assert_close(torchs.eval()(x, x, x, need_weights=False)[0], ours.eval()(x)[0])


def test_there_and_back_nothing_is_lost_and_nothing_shared():
    ours = make(torch.float32, dropout=0.25).eval()
    torchs = ours.to_torch()
    again = MultiHeadAttention.from_torch(torchs)
    for module in (torchs, again):
        assert module.dropout == 0.25 and not module.training
        assert {parameter.dtype for parameter in module.parameters()} == {torch.float32}
        assert all(parameter.requires_grad for parameter in module.parameters())
    assert again.heads == HEADS and torchs.batch_first
    assert ours.state_dict().keys() == again.state_dict().keys()
    before = {name: tensor.clone() for name, tensor in ours.state_dict().items()}
    assert all(torch.equal(tensor, before[name]) for name, tensor in again.state_dict().items())
    for module in (torchs, again):
        randomized(module, seed=1)
    assert all(torch.equal(tensor, before[name]) for name, tensor in ours.state_dict().items())


def test_a_module_with_the_batch_second_can_be_copied_too():
    torchs = randomized(nn.MultiheadAttention(SIZE, HEADS)).double()
    x, memory = x_and_memory()
    wanted, _ = torchs(x.transpose(0, 1), memory.transpose(0, 1), memory.transpose(0, 1))
    assert_close(MultiHeadAttention.from_torch(torchs)(x, memory)[0], wanted.transpose(0, 1))


@pytest.mark.parametrize("settings", [{"bias": False}, {"kdim": 5}, {"add_bias_kv": True}, {"add_zero_attn": True}])
def test_a_module_with_other_parts_is_refused(settings):
    with pytest.raises(ValueError, match="only nn.MultiheadAttention with bias"):
        MultiHeadAttention.from_torch(make_torchs(**settings))


# ---- what is refused ----


@both_paths
@pytest.mark.parametrize("batches", [(1, 2), (2, 1)])
def test_a_memory_of_another_batch_is_refused(unchecked, need_weights, batches):
    x, memory = (torch.zeros(batch, 4, SIZE, dtype=torch.float64) for batch in batches)
    with pytest.raises(ValueError, match=r"differ in the axes before the last two: \(\d, 3\), \(\d, 3\), \(\d, 3\)"):
        make()(x, memory, need_weights=need_weights)


@both_paths
@pytest.mark.parametrize(
    ("shape", "axis"),
    [
        ((3, 1, 1, 5), "batch"),
        ((1, 2, 1, 5), "head"),
        ((1, 1, 5, 5), "query"),
        ((2, 1, 4, 4), "key"),
        ((2, 1, 1, 1), "key"),
    ],
)
def test_a_mask_that_does_not_fit_is_refused_and_its_axis_named(unchecked, need_weights, shape, axis):
    with pytest.raises(ValueError, match=f"the mask's {axis} axis looks wrong"):
        make()(*x_and_memory(), torch.ones(shape, dtype=torch.bool), need_weights=need_weights)


@both_paths
def test_a_mask_with_fewer_axes_or_of_numbers_is_refused(unchecked, need_weights):
    with pytest.raises(ValueError, match=r"the mask has 2 axes \(4, 5\), the scores have 4"):
        make()(*x_and_memory(), torch.ones(4, 5, dtype=torch.bool), need_weights=need_weights)
    with pytest.raises(TypeError, match="it must be torch.bool"):
        make()(*x_and_memory(), torch.zeros(1, 1, 4, 5), need_weights=need_weights)


# ---- positions within, shared keys, another core ----

PARTS = {
    "rotary": {"rotation": RotaryPositions},
    "alibi": {"score_bias": LinearBiases},
    "both": {"rotation": RotaryPositions, "score_bias": LinearBiases},
    "multi-query": {"key_value_heads": 1},
    "no biases": {"projection_bias": False},
    "all": {"rotation": RotaryPositions, "score_bias": LinearBiases, "key_value_heads": 1, "projection_bias": False},
}
each_part = pytest.mark.parametrize("settings", PARTS.values(), ids=PARTS.keys())


@each_part
@pytest.mark.parametrize("mask", [None, causal_mask(QUERIES), random_mask((BATCH, HEADS, QUERIES, QUERIES))])
def test_both_paths_are_equal_with_every_part(settings, mask):
    x, _ = x_and_memory()
    assert_paths_equal(make(**settings), x, None, mask, 1e-9)


@half
def test_both_paths_are_equal_in_half_precision_with_every_part(dtype, tolerance):
    x, _ = x_and_memory(dtype=dtype)
    module = make(dtype, **PARTS["all"])
    fused, _ = module(x, None, causal_mask(QUERIES))
    stepwise, _ = module(x, None, causal_mask(QUERIES), need_weights=True)
    assert fused.dtype == stepwise.dtype == dtype
    assert_close(fused, stepwise, atol=tolerance, rtol=tolerance)


@both_paths
def test_with_a_bias_too_a_query_that_may_attend_to_nothing_gets_zeros(need_weights):
    module, (x, _) = make(score_bias=LinearBiases), x_and_memory()
    mask = causal_mask(QUERIES).clone()
    mask[..., 1, :] = False
    output, _ = module(x, None, mask, need_weights=need_weights)
    assert_close(output[:, 1], module.output_projection.bias.expand(BATCH, -1))
    (gradient,) = torch.autograd.grad(output.sum(), x)
    assert gradient.isfinite().all()


@each_part
@both_paths
def test_one_query_at_a_time_with_the_keys_so_far_equals_all_at_once(settings, need_weights):
    module, (x, _) = make(**settings), x_and_memory(queries=6)
    wanted, _ = module(x, None, causal_mask(6))
    key, value = module.project_memory(x[:, :0])
    for t in range(6):
        new_key, new_value = module.project_memory(x[:, t : t + 1], start=t)
        key, value = torch.cat([key, new_key], 2), torch.cat([value, new_value], 2)
        output, _ = module.attend(x[:, t : t + 1], key, value, start=t, need_weights=need_weights)
        assert_close(output[:, 0], wanted[:, t])


@both_paths
def test_rotary_scores_depend_on_distance_only(need_weights):
    """The same two vectors, further along: nothing else changes."""
    module, (x, _) = make(rotation=RotaryPositions), x_and_memory()
    outputs = []
    for start in (0, 1, 50):
        key, value = module.project_memory(x, start)
        outputs.append(module.attend(x, key, value, start=start, need_weights=need_weights)[0])
    assert_close(outputs[1], outputs[0])
    assert_close(outputs[2], outputs[0])
    assert not torch.allclose(module.attend(x, *module.project_memory(x, 3), start=0)[0], outputs[0])


def test_linear_biases_are_added_to_the_scores_of_each_head():
    module, (x, _) = make(score_bias=LinearBiases), x_and_memory()
    _, weights = module(x, None, need_weights=True)
    query, key = (split_heads(p(x), HEADS) for p in (module.query_projection, module.key_projection))
    distance = (torch.arange(QUERIES)[:, None] - torch.arange(QUERIES)).abs()
    slopes = torch.tensor([2**-4, 2**-8, 2**-2])[:, None, None]
    assert_close(weights, (query @ key.mT / 2 - slopes * distance).softmax(-1))


@pytest.mark.parametrize("key_value_heads", [1, 2, 3, 6])
def test_shared_keys_and_values_are_those_of_a_module_in_which_they_are_repeated(key_value_heads):
    shared = randomized(MultiHeadAttention(SIZE, 6, key_value_heads=key_value_heads)).double()
    whole = MultiHeadAttention(SIZE, 6).double()
    weights = shared.state_dict()
    for name in ("key_projection.weight", "key_projection.bias", "value_projection.weight", "value_projection.bias"):
        pieces = weights[name].unflatten(0, (key_value_heads, -1))  # (head of keys, number in it, …)
        weights[name] = pieces.repeat_interleave(6 // key_value_heads, 0).flatten(0, 1)
    whole.load_state_dict(weights)
    x, memory = x_and_memory()
    for need_weights in (False, True):
        assert_close(shared(x, memory, need_weights=need_weights), whole(x, memory, need_weights=need_weights))
        assert_close(shared(x[:, :1], memory, need_weights=need_weights)[0], whole(x[:, :1], memory)[0])
    mask = causal_mask(QUERIES)
    assert_close(shared(x, mask=mask)[0], whole(x, mask=mask)[0])
    key, value = shared.project_memory(memory)
    assert key.shape == value.shape == (BATCH, key_value_heads, KEYS, SIZE // 6)


def test_heads_that_cannot_share_keys_are_refused():
    query, key = torch.randn(2, 4, 3, 6), torch.randn(2, 3, 5, 6)
    with pytest.raises(ValueError, match="query, key and value differ in the axes before the last two"):
        dot_product_attention(query, key, key)


@pytest.mark.parametrize("number", [0, 4, 5, -1])
def test_key_value_heads_that_do_not_divide_are_refused_with_those_that_do(number):
    with pytest.raises(ValueError, match=f"6 heads cannot share {number} keys .* may be 1, 2, 3, 6"):
        MultiHeadAttention(SIZE, 6, key_value_heads=number)


def test_without_projection_biases_there_are_four_matrices():
    module = make(projection_bias=False)
    assert {name for name, _ in module.named_parameters()} == {
        f"{name}_projection.weight" for name in ("query", "key", "value", "output")
    }
    assert not module(torch.zeros(1, 2, SIZE).double())[0].any()


def within(window, query, key, value, mask=None, bias=None, **settings):
    """A sliding window (Beltagy et al. 2020): to the last few words only."""
    place = torch.arange(key.shape[2])
    near = (place[key.shape[2] - query.shape[2] :, None] - place < window)[None, None]
    return dot_product_attention(query, key, value, near if mask is None else near & mask, bias, **settings)


def linear(query, key, value, mask=None, bias=None, *, dropout=0.0, need_weights=False):
    """φ(Q) (φ(K)ᵀ V) / φ(Q) Σ φ(k): Katharopoulos et al. 2020, equation 5; padding is all that it can mask."""
    query, key = F.elu(query) + 1, F.elu(key) + 1
    key = key if mask is None else key * mask.mT
    return query @ (key.mT @ value) / (query @ key.sum(2)[..., None]), None


def test_a_sliding_window_is_a_core_that_is_put_in():
    x, _ = x_and_memory(queries=6)
    module, plain = make(core=partial(within, 2)), make()
    wanted = plain(x, None, causal_mask(6) & ~causal_mask(6).roll(2, 2).tril(-2), need_weights=True)
    for need_weights in (False, True):
        output, weights = module(x, None, causal_mask(6), need_weights=need_weights)
        assert_close(output, wanted[0])
    assert_close(weights, wanted[1])
    last, _ = module.attend(x[:, 5:], *module.project_memory(x), start=5)
    assert_close(last[:, 0], wanted[0][:, 5])


def test_a_linear_form_of_attention_is_a_core_that_is_put_in():
    module, (x, memory) = make(core=linear), x_and_memory()
    output, weights = module(x, memory, padding_mask(torch.tensor([KEYS, 2])), need_weights=True)
    assert weights is None and output.isfinite().all()
    assert_close(output[1:], module(x[1:], memory[1:, :2])[0])


@pytest.mark.parametrize(
    "settings", [PARTS["rotary"], PARTS["alibi"], PARTS["multi-query"], PARTS["no biases"], {"core": linear}]
)
def test_parts_for_which_torchs_module_has_no_place_are_not_lost_silently(settings):
    with pytest.raises(ValueError, match="only such a module can be copied"):
        make(**settings).to_torch()
