"""Scores against a plain loop, and the weighted sum."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from course_lib.attention import AdditiveScore, DotScore, GeneralScore, attend

BATCH, KEYS, QUERY_SIZE, KEY_SIZE = 2, 5, 4, 6


def query_and_keys(query_size=QUERY_SIZE, key_size=KEY_SIZE):
    generator = torch.Generator().manual_seed(0)
    query = torch.randn(BATCH, query_size, generator=generator, dtype=torch.float64)
    return query, torch.randn(BATCH, KEYS, key_size, generator=generator, dtype=torch.float64)


def loop(query, keys, energy):
    """One number for each sentence and key, one at a time."""
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
