"""Scores against a plain loop, and the weighted sum; scaled dot-product attention against torch's own."""

import itertools

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional as F
from torch.testing import assert_close

from course_lib.attention import (
    AdditiveScore,
    DotScore,
    GeneralScore,
    attend,
    dot_product_attention,
    scaled_dot_product_attention,
)

BATCH, KEYS, QUERY_SIZE, KEY_SIZE = 2, 5, 4, 6


def query_and_keys(query_size=QUERY_SIZE, key_size=KEY_SIZE):
    generator = torch.Generator().manual_seed(0)
    query = torch.randn(BATCH, query_size, generator=generator, dtype=torch.float64)
    return query, torch.randn(BATCH, KEYS, key_size, generator=generator, dtype=torch.float64)


def loop(query, keys, energy):
    """Computes one score at a time, for each sentence and key."""
    rows = [[energy(s, h) for h in states] for s, states in zip(query, keys, strict=True)]
    return torch.tensor(rows, dtype=torch.float64)


def test_additive_score_is_bahdanaus_formula():
    query, keys = query_and_keys()
    score = AdditiveScore(QUERY_SIZE, KEY_SIZE, attention_size=3).double()
    w_s, w_h, v = score.query_projection.weight, score.key_projection.weight, score.energy.weight[0]
    b = score.key_projection.bias
    wanted = loop(query, keys, lambda s, h: (v @ torch.tanh(w_s @ s + w_h @ h + b)).item())
    assert_close(score(query, score.project_keys(keys)), wanted)


def test_dot_score_is_the_dot_product():
    query, keys = query_and_keys(key_size=QUERY_SIZE)
    score = DotScore(QUERY_SIZE, QUERY_SIZE)
    wanted = loop(query, keys, lambda s, h: (s @ h).item())
    assert_close(score(query, score.project_keys(keys)), wanted)
    assert list(score.parameters()) == []


def test_general_score_has_a_matrix_between():
    query, keys = query_and_keys()
    score = GeneralScore(QUERY_SIZE, KEY_SIZE).double()
    w = score.key_projection.weight
    wanted = loop(query, keys, lambda s, h: (s @ (w @ h)).item())
    assert_close(score(query, score.project_keys(keys)), wanted)


def test_dot_score_refuses_two_sizes_and_names_the_score_that_takes_them():
    with pytest.raises(ValueError, match="one size, not 4 and 6; use GeneralScore"):
        DotScore(4, 6)


def test_the_context_is_the_weighted_sum_of_the_values():
    scores = query_and_keys()[0][:, :3]
    values = query_and_keys()[1][:, :3]
    context, weights = attend(scores, values)
    assert_close(weights, scores.softmax(-1))
    for sentence in range(BATCH):
        wanted = sum(weights[sentence, i] * values[sentence, i] for i in range(3))
        assert_close(context[sentence], wanted)


def test_a_masked_value_has_no_part_in_the_context():
    scores, values = torch.zeros(1, 3), torch.tensor([[[1.0], [3.0], [torch.finfo().max]]])
    context, weights = attend(scores, values, torch.tensor([[True, True, False]]))
    assert context.item() == 2 and weights.tolist() == [[0.5, 0.5, 0]]


def test_with_everything_masked_the_context_is_zero():
    context, weights = attend(torch.zeros(1, 2), torch.ones(1, 2, 3), torch.zeros(1, 2, dtype=torch.bool))
    assert not context.any() and not weights.any()


SCORES = [(AdditiveScore, KEY_SIZE), (DotScore, QUERY_SIZE), (GeneralScore, KEY_SIZE)]
every_score = pytest.mark.parametrize(("make", "key_size"), SCORES, ids=["additive", "dot", "general"])
masks = st.lists(st.lists(st.booleans(), min_size=KEYS, max_size=KEYS), min_size=BATCH, max_size=BATCH)


@every_score
@given(order=st.permutations(range(KEYS)), mask=masks)
def test_permuting_the_states_permutes_the_weights_and_leaves_the_context(make, key_size, order, mask):
    query, states = query_and_keys(key_size=key_size)
    score, mask = make(QUERY_SIZE, key_size).double(), torch.tensor(mask)
    context, weights = attend(score(query, score.project_keys(states)), states, mask)
    moved_states = states[:, order]
    moved_context, moved = attend(score(query, score.project_keys(moved_states)), moved_states, mask[:, order])
    assert_close(moved, weights[:, order])
    assert_close(moved_context, context)


@every_score
@given(mask=masks)
def test_a_masked_state_has_weight_zero_and_gradient_zero_as_key_and_as_value(make, key_size, mask):
    query, states = query_and_keys(key_size=key_size)
    score, mask = make(QUERY_SIZE, key_size).double(), torch.tensor(mask)
    keys, values = states.clone().requires_grad_(), states.clone().requires_grad_()
    context, weights = attend(score(query, score.project_keys(keys)), values, mask)
    assert torch.equal(weights != 0, mask)
    context.square().sum().backward()
    assert not keys.grad[~mask].any() and not values.grad[~mask].any()
    assert values.grad[mask].any(-1).all()
    choice = mask.sum(1) > 1  # a single key has weight 1, whatever its score
    assert keys.grad[mask & choice[:, None]].any(-1).all()


# ---- scaled dot-product attention ----

MASK_SHAPES = list(itertools.product([1, 2], [1, 3], [1, 4]))  # (batch or 1, head or 1, query or 1), with 5 keys
every_mask = pytest.mark.parametrize("mask_shape", MASK_SHAPES, ids=str)
every_dtype = pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16], ids=str)
TOLERANCE = {torch.float64: 1e-10, torch.float32: 1e-5, torch.bfloat16: 5e-2, torch.float16: 5e-3}


def query_key_value(queries=4, keys=5, d_k=6, d_value=7, axes=(2, 3), seed=0):
    generator = torch.Generator().manual_seed(seed)
    shapes = (queries, d_k), (keys, d_k), (keys, d_value)
    return [torch.randn(*axes, *s, generator=generator, dtype=torch.float64, requires_grad=True) for s in shapes]


def random_mask(shape, share=0.5, seed=0):
    return torch.rand(shape, generator=torch.Generator().manual_seed(seed)) < share


def gradients(output, inputs):
    """Of a sum in which no two numbers of the output weigh the same."""
    upstream = torch.linspace(-1, 2, output.numel(), dtype=output.dtype).view_as(output)
    return torch.autograd.grad(output, inputs, upstream)


def test_it_is_the_formula_row_by_row():
    query, key, value = query_key_value()
    output, weights = scaled_dot_product_attention(query, key, value)
    for b, h, i in itertools.product(range(2), range(3), range(4)):
        energies = torch.stack([query[b, h, i] @ key[b, h, j] / 6**0.5 for j in range(5)])
        row = energies.exp() / energies.exp().sum()
        assert_close(weights[b, h, i], row)
        assert_close(output[b, h, i], sum(row[j] * value[b, h, j] for j in range(5)))


@every_mask
@every_dtype
def test_values_and_gradients_are_torchs(mask_shape, dtype):
    inputs = [tensor.detach().to(dtype).requires_grad_() for tensor in query_key_value()]
    mask = random_mask((*mask_shape, 5))
    output, weights = scaled_dot_product_attention(*inputs, mask)
    wanted = F.scaled_dot_product_attention(*inputs, mask)
    assert output.dtype == weights.dtype == dtype
    assert_close(output, wanted, atol=TOLERANCE[dtype], rtol=TOLERANCE[dtype])
    pairs = gradients(output, inputs), gradients(wanted, inputs)
    assert_close(*pairs, atol=4 * TOLERANCE[dtype], rtol=4 * TOLERANCE[dtype])


@given(
    st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(1, 4), st.integers(1, 3)),
    st.lists(st.integers(1, 3), max_size=2),
    st.none() | st.floats(0, 1),
    st.none() | st.sampled_from([0.0, 0.5, 1.0, -2.0]),
    st.integers(0, 999),
)
def test_for_all_sizes_values_and_gradients_are_torchs(sizes, axes, share, scale, seed):
    inputs = query_key_value(*sizes, axes=axes, seed=seed)
    mask = None if share is None else random_mask((*axes, *sizes[:2]), share, seed)
    output, weights = scaled_dot_product_attention(*inputs, mask, scale=scale)
    wanted = F.scaled_dot_product_attention(*inputs, mask, scale=scale)
    assert_close(output, wanted)
    assert_close(gradients(output, inputs), gradients(wanted, inputs))
    sums = torch.ones(*axes, sizes[0]) if mask is None else mask.any(-1)
    assert_close(weights.sum(-1), sums.double() if sizes[1] else torch.zeros(*axes, sizes[0]).double())
    assert mask is None or torch.equal(weights != 0, mask)


@every_dtype
def test_a_query_that_may_attend_to_nothing_gets_zeros_and_gives_none(dtype):
    inputs = [tensor.detach().to(dtype).requires_grad_() for tensor in query_key_value()]
    mask = torch.ones(2, 1, 4, 5, dtype=torch.bool)
    mask[0] = False  # a whole sentence
    mask[1, :, 2] = False  # one query of the other
    output, weights = scaled_dot_product_attention(*inputs, mask)
    by_query, by_key, by_value = gradients(output, inputs)
    for tensor in (output, weights, by_query):
        assert not tensor[0].any() and not tensor[1, :, 2].any() and tensor[1, :, 3].any()
    for tensor in (by_key, by_value):
        assert not tensor[0].any() and tensor[1].all()


def test_of_one_key_the_output_is_its_value():
    query, key, value = query_key_value(queries=1, keys=1)
    output, weights = scaled_dot_product_attention(query, key, value)
    assert torch.equal(output, value) and weights.unique().tolist() == [1]


def test_a_dot_product_too_large_for_half_precision_is_scaled_in_time():
    x = torch.full((2, 64), 50.0, dtype=torch.float16)
    assert (x @ x.mT).isinf().all()
    assert scaled_dot_product_attention(x, x, x)[1].unique().tolist() == [0.5]


@given(st.permutations(range(5)), st.permutations(range(4)))
def test_keys_and_values_in_another_order_change_nothing_and_queries_move_their_rows(keys, queries):
    query, key, value = query_key_value()
    mask = random_mask((2, 3, 4, 5))
    output, weights = scaled_dot_product_attention(query, key, value, mask)
    moved = mask[:, :, queries][..., keys]
    again, moved = scaled_dot_product_attention(query[:, :, queries], key[:, :, keys], value[:, :, keys], moved)
    assert_close(again, output[:, :, queries])
    assert_close(moved, weights[:, :, queries][..., keys])


def test_strides_do_not_matter_and_arguments_stay_as_they_are():
    inputs = [*query_key_value(), random_mask((2, 3, 4, 5))]
    strided = [tensor.detach().transpose(0, -1).contiguous().transpose(0, -1) for tensor in inputs]
    assert not any(tensor.is_contiguous() for tensor in strided)
    before = [tensor.clone() for tensor in strided]
    assert_close(scaled_dot_product_attention(*strided), scaled_dot_product_attention(*inputs))
    assert all(map(torch.equal, strided, before))


def test_dropout_comes_after_the_weights_that_are_returned():
    query, key, value = query_key_value()
    output, weights = scaled_dot_product_attention(query, key, value)
    torch.manual_seed(0)
    dropped, same = scaled_dot_product_attention(query, key, value, dropout=0.4)
    torch.manual_seed(0)
    assert torch.equal(dropped, F.dropout(weights, 0.4) @ value) and not torch.equal(dropped, output)
    assert torch.equal(same, weights)


def test_without_dropout_no_random_number_is_drawn():
    before = torch.get_rng_state()
    scaled_dot_product_attention(*query_key_value())
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        (((4, 6), (5, 7), (5, 7)), "a query has 6 numbers and a key 7"),
        (((4, 6), (5, 6), (4, 7)), "there are 5 keys and 4 values"),
        (((1, 4, 6), (2, 5, 6), (2, 5, 7)), r"differ in the axes before the last two: \(1,\), \(2,\), \(2,\)"),
        (((2, 4, 6), (2, 5, 6), (1, 5, 7)), r"\(2,\), \(2,\), \(1,\); nothing is broadcast"),
        (((4, 6), (1, 5, 6), (1, 5, 7)), r"\(\), \(1,\), \(1,\)"),
    ],
)
def test_query_key_and_value_that_do_not_fit_are_refused(unchecked, shapes, message):
    with pytest.raises(ValueError, match=message):
        scaled_dot_product_attention(*map(torch.zeros, shapes))


@pytest.mark.parametrize(
    ("shape", "axis"), [((3, 1, 1, 5), "batch"), ((1, 2, 1, 5), "head"), ((1, 1, 5, 5), "query"), ((2, 1, 4, 4), "key")]
)
def test_a_mask_that_does_not_fit_is_refused_and_its_axis_named(unchecked, shape, axis):
    with pytest.raises(ValueError, match=f"the mask's {axis} axis looks wrong"):
        scaled_dot_product_attention(*query_key_value(), torch.ones(shape, dtype=torch.bool))


def test_a_mask_with_fewer_axes_or_of_numbers_is_refused(unchecked):
    with pytest.raises(ValueError, match=r"the mask has 2 axes \(4, 5\), the scores have 4"):
        scaled_dot_product_attention(*query_key_value(), torch.ones(4, 5, dtype=torch.bool))
    with pytest.raises(TypeError, match="it must be torch.bool"):
        scaled_dot_product_attention(*query_key_value(), torch.zeros(1, 1, 4, 5))


# ---- a bias of the scores ----


@pytest.mark.parametrize("bias_shape", [(2, 3, 4, 5), (1, 3, 4, 5), (2, 1, 1, 5)], ids=str)
@pytest.mark.parametrize("mask", [None, torch.arange(20).view(1, 1, 4, 5) % 3 > 0], ids=["no mask", "mask"])
def test_a_bias_is_added_to_the_scores_before_the_softmax(bias_shape, mask):
    generator = torch.Generator().manual_seed(0)
    query, key, value, bias = (
        torch.randn(shape, generator=generator, dtype=torch.float64)
        for shape in ((2, 3, 4, 6), (2, 3, 5, 6), (2, 3, 5, 7), bias_shape)
    )
    output, weights = scaled_dot_product_attention(query, key, value, mask, bias=bias)
    scores = query @ key.mT / 6**0.5 + bias
    wanted = (scores if mask is None else scores.masked_fill(~mask, -torch.inf)).softmax(-1)
    assert_close(weights, wanted)
    assert_close(output, wanted @ value)


def test_a_bias_that_does_not_fit_is_refused_in_both_paths(unchecked):
    tensors = [torch.zeros(2, 3, n, 6) for n in (4, 5, 5)]
    for attention in (scaled_dot_product_attention, dot_product_attention):
        with pytest.raises(ValueError, match="the bias's key axis looks wrong: 4, wanted 5"):
            attention(*tensors, bias=torch.zeros(1, 3, 4, 4))
        with pytest.raises(TypeError, match="the bias is torch.bool"):
            attention(*tensors, bias=torch.ones(1, 3, 4, 5, dtype=torch.bool))
