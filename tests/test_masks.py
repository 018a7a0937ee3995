"""Masks are boolean and True means *may attend*; a row without an allowed key gives zeros."""

import itertools

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from course_lib.masks import causal_mask, check_bias, check_mask, length_mask, masked_softmax, padding_mask, window_mask

shapes = st.lists(st.integers(1, 4), min_size=2, max_size=4).map(tuple)
dtypes = st.sampled_from([torch.float64, torch.float32, torch.float16, torch.bfloat16])


@st.composite
def scores_and_mask(draw, dtype=dtypes):
    """Scores, and a mask of as many axes, each but the last 1 or theirs."""
    shape = draw(shapes)
    mask_shape = [draw(st.sampled_from([1, n])) for n in shape[:-1]] + [shape[-1]]
    generator = torch.Generator().manual_seed(draw(st.integers(0, 999)))
    scores = 10 * torch.randn(shape, generator=generator, dtype=torch.float64)
    return scores.to(draw(dtype)), torch.rand(mask_shape, generator=generator) < draw(st.floats(0, 1))


# ---- masked_softmax ----


@given(scores_and_mask())
def test_masked_softmax_is_torchs_softmax_over_the_allowed_keys(scores_and_mask):
    scores, mask = scores_and_mask
    weights = masked_softmax(scores, mask)
    assert weights.dtype == scores.dtype and weights.shape == scores.shape
    rows = zip(*(t.expand(scores.shape).flatten(0, -2) for t in (weights, mask, scores)), strict=True)
    for row, allowed, all_scores in rows:
        assert not row[~allowed].any()
        assert_close(row[allowed], all_scores[allowed].softmax(-1))


@given(scores_and_mask(st.just(torch.float64)))
def test_gradients_are_finite_and_zero_where_nothing_may_be_attended(scores_and_mask):
    scores, mask = scores_and_mask
    scores.requires_grad_()
    weights = masked_softmax(scores, mask)
    (weights * torch.arange(weights.numel()).view_as(weights)).sum().backward()
    assert scores.grad.isfinite().all()
    assert not scores.grad[~mask.expand(scores.shape)].any()


def test_a_row_with_nothing_allowed_is_zero_with_zero_gradient():
    scores = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    weights = masked_softmax(scores, torch.tensor([[False, False], [True, True]]))
    weights[:, 0].sum().backward()
    assert weights[0].tolist() == [0, 0] and scores.grad[0].tolist() == [0, 0]
    assert scores.grad[1].abs().min() > 0


def test_without_a_mask_it_is_the_softmax():
    scores = torch.randn(2, 3)
    assert torch.equal(masked_softmax(scores, None), scores.softmax(-1))


def test_arguments_stay_as_they_are():
    scores, mask = torch.randn(2, 3), torch.tensor([[True, False, True]])
    before = scores.clone(), mask.clone()
    masked_softmax(scores, mask)
    assert torch.equal(scores, before[0]) and torch.equal(mask, before[1])


@pytest.mark.parametrize("score", [-torch.inf, torch.inf, torch.nan, 1e30])
@pytest.mark.parametrize("mask", [[False, True], [False, False]])
def test_no_score_behind_the_mask_does_harm(score, mask):
    scores = torch.tensor([[score, score if not any(mask) else 1.0]], requires_grad=True)
    weights = masked_softmax(scores, torch.tensor([mask]))
    weights.sum().backward()
    assert weights.tolist() == [mask] and scores.grad.tolist() == [[0, 0]]


# ---- what is refused ----


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.uint8])
def test_a_mask_that_is_not_boolean_is_refused(dtype):
    with pytest.raises(TypeError, match=rf"the mask is {dtype}; it must be torch.bool"):
        check_mask(torch.ones(2, 3, dtype=dtype), torch.zeros(2, 3))


@pytest.mark.parametrize(
    ("mask", "scores", "axis"),
    [
        ((3, 1, 4, 5), (2, 8, 4, 5), "batch"),
        ((2, 4, 4, 5), (2, 8, 4, 5), "head"),
        ((2, 1, 5, 5), (2, 8, 4, 5), "query"),
        ((2, 1, 4, 1), (2, 8, 4, 5), "key"),
        ((2, 1, 4, 6), (2, 8, 4, 5), "key"),
        ((3, 4, 5), (2, 4, 5), "batch"),
        ((2, 5, 5), (2, 4, 5), "query"),
        ((3, 5), (2, 5), "batch"),
        ((2, 4), (2, 5), "key"),
    ],
)
def test_an_axis_of_the_wrong_length_is_named(mask, scores, axis):
    with pytest.raises(ValueError, match=f"the mask's {axis} axis looks wrong"):
        check_mask(torch.ones(mask, dtype=torch.bool), torch.zeros(scores))


def test_another_number_of_axes_is_told_with_their_names():
    with pytest.raises(ValueError, match=r"2 axes \(4, 5\), the scores have 4: \(batch, head, query, key\)"):
        check_mask(torch.ones(4, 5, dtype=torch.bool), torch.zeros(2, 8, 4, 5))


@given(scores_and_mask())
def test_every_mask_that_broadcasts_is_accepted(scores_and_mask):
    scores, mask = scores_and_mask
    check_mask(mask, scores)


def test_a_bias_is_refused_as_a_mask_is_and_must_be_of_the_scores_type():
    scores = torch.zeros(2, 8, 4, 5)
    check_bias(torch.zeros(1, 8, 4, 5), scores)
    with pytest.raises(ValueError, match="the bias's head axis looks wrong: 4, wanted 1 or 8"):
        check_bias(torch.zeros(1, 4, 4, 5), scores)
    for dtype in (torch.bool, torch.int64, torch.float64):
        with pytest.raises(TypeError, match=rf"the bias is {dtype}; it must be torch.float32"):
            check_bias(torch.ones(1, 8, 4, 5, dtype=dtype), scores)


# ---- length, padding and causal masks ----


@given(st.lists(st.integers(0, 6), min_size=1, max_size=5), st.integers(0, 3))
def test_length_mask_is_true_at_the_words(lengths, more):
    longest = max(lengths) + more
    mask = length_mask(torch.tensor(lengths), longest)
    assert mask.tolist() == [[i < length for i in range(longest)] for length in lengths]


def test_length_mask_is_as_wide_as_the_longest_sentence():
    assert length_mask(torch.tensor([0, 2])).tolist() == [[False, False], [True, True]]
    assert length_mask(torch.tensor([0, 0])).shape == (2, 0)


@pytest.mark.parametrize(("lengths", "longest"), [([-1, 2], None), ([1, 4], 3)])
def test_impossible_lengths_are_refused(lengths, longest):
    with pytest.raises(ValueError, match=r"lengths must be from 0 to \d, but are "):
        length_mask(torch.tensor(lengths), longest)


def test_padding_mask_has_the_axes_of_many_heads():
    mask = padding_mask(torch.tensor([1, 3]))
    assert mask.shape == (2, 1, 1, 3)
    assert mask[0, 0, 0].tolist() == [True, False, False]
    check_mask(mask, torch.zeros(2, 8, 5, 3))


@given(st.integers(0, 6))
def test_causal_mask_lets_a_query_see_itself_and_what_came_before(length):
    mask = causal_mask(length)
    assert mask.shape == (1, 1, length, length) and mask.dtype == torch.bool
    assert all(mask[0, 0, q, k].item() == (k <= q) for q in range(length) for k in range(length))


@given(st.integers(0, 6), st.integers(0, 6))
def test_the_last_rows_of_a_causal_mask_can_be_had_alone(start, more):
    assert torch.equal(causal_mask(start + more, start), causal_mask(start + more)[:, :, start:])


def test_a_negative_length_and_a_start_outside_it_are_refused():
    with pytest.raises(ValueError, match="length is -1"):
        causal_mask(-1)
    for start in (-1, 4):
        with pytest.raises(ValueError, match=f"start is {start}; it must be from 0 to the length, 3"):
            causal_mask(3, start)


@given(st.integers(0, 6), st.integers(0, 6), st.integers(1, 8))
def test_window_mask_lets_a_query_see_the_last_keys_and_no_later_one(start, more, window):
    mask = window_mask(start + more, window, start)
    assert mask.shape == (1, 1, more, start + more)
    assert mask[0, 0].tolist() == [
        [0 <= q - k < window for k in range(start + more)] for q in range(start, start + more)
    ]


@pytest.mark.parametrize("window", [0, -2])
def test_a_window_that_is_not_positive_is_refused(window):
    with pytest.raises(ValueError, match=f"window is {window}; it must be at least 1"):
        window_mask(3, window)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=3))
def test_padding_and_causal_mask_broadcast_to_both(lengths):
    mask = padding_mask(torch.tensor(lengths), 5) & causal_mask(5)
    assert mask.shape == (len(lengths), 1, 5, 5)
    for b, q, k in itertools.product(range(len(lengths)), range(5), range(5)):
        assert mask[b, 0, q, k].item() == (k <= q and k < lengths[b])
    check_mask(mask, torch.zeros(len(lengths), 8, 5, 5))
