"""An attention matrix has words on both axes, and refuses numbers that are not attention weights."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from course_lib.attention_map import AttentionMap

words = st.lists(st.text(min_size=1, max_size=6), min_size=1, max_size=4)


def two_by_three():
    weights = torch.tensor([[0.7, 0.2, 0.1], [0.0, 0.0, 1.0]])
    return AttentionMap(weights, ["le", "chat"], ["the", "black", "cat"])


@pytest.mark.parametrize(
    "weights",
    [
        torch.tensor([[0.25, 0.75]]),
        torch.tensor([[0.25, 0.75]], dtype=torch.float16),
        torch.tensor([[0.25, 0.75]], requires_grad=True),
        np.array([[0.25, 0.75]]),
        np.array([[0.25, 0.75]], dtype=np.float32),
    ],
)
def test_tensors_and_arrays_become_the_same_map(weights):
    drawn = AttentionMap(weights, ["a"], ["b", "c"])
    assert type(drawn.weights) is np.ndarray and drawn.weights.tolist() == [[0.25, 0.75]]
    assert (drawn.query_tokens, drawn.key_tokens) == (("a",), ("b", "c"))


@given(words, words, st.integers(0, 99))
def test_any_words_and_any_softmax_make_a_map(queries, keys, seed):
    scores = torch.randn(len(queries), len(keys), generator=torch.Generator().manual_seed(seed))
    drawn = AttentionMap(scores.softmax(-1), queries, keys)
    assert drawn.strongest() == scores.argmax(-1).tolist()
    assert all(word in drawn.alt_text() and word in drawn.table() for word in queries)
    assert all(word in drawn.table() for word in keys)


@pytest.mark.parametrize("shape", [(3, 2), (2, 2), (1, 2, 3), (6,)])
def test_another_shape_than_the_words_is_refused(shape):
    wanted = r"one row for each of 2 query words and one column for each of 3 key words"
    with pytest.raises(ValueError, match=wanted):
        AttentionMap(torch.zeros(shape), ["le", "chat"], ["the", "black", "cat"])


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ([0.5, float("nan")], "holds NaN; was every key masked"),
        ([-0.5, 1.5], "leaves 0 … 1"),
        ([3.0, 1.0], ".*; were scores given for weights"),
        ([0.5, 0.4], "sums to 0.9000, not 1; was the softmax taken over the wrong axis"),
        ([0.0, 0.9], "sums to 0.9000"),
        ([0.0, 0.0005], "sums to 0.0005"),
    ],
)
def test_a_row_that_is_no_distribution_is_refused_by_its_word(row, reason):
    with pytest.raises(ValueError, match=f"the row of 'chat' {reason}"):
        AttentionMap(torch.tensor([[0.5, 0.5], row]), ["le", "chat"], ["the", "cat"])


def test_columns_that_sum_to_one_do_not_pass_for_rows():
    scores = torch.tensor([[2.0, 0.0], [1.0, 0.5]])
    with pytest.raises(ValueError, match="wrong axis"):
        AttentionMap(scores.softmax(0), ["le", "chat"], ["the", "cat"])


def test_a_masked_query_may_have_a_row_of_zeros():
    drawn = AttentionMap(torch.tensor([[0.0, 0.0], [0.0, 1.0]]), ["<pad>", "chat"], ["the", "cat"])
    assert drawn.strongest() == [None, 1]
    assert "<pad>: nothing" in drawn.alt_text()


def test_a_sentence_nothing_was_written_for_has_an_empty_map():
    drawn = AttentionMap(torch.zeros(0, 2), [], ["the", "cat"])
    assert drawn.strongest() == []
    assert drawn.alt_text().startswith("Attention weights, 0 by 2 words.")


def test_alt_text_tells_the_two_strongest_keys_of_each_word():
    wanted = "Attention weights, 2 by 3 words. le: the 0.70, black 0.20; chat: cat 1.00."
    assert two_by_three().alt_text() == wanted


def test_table_has_query_words_down_and_key_words_across():
    assert two_by_three().table().splitlines() == [
        "       the  black   cat",
        "le    0.70   0.20  0.10",
        "chat  0.00   0.00  1.00",
    ]


def test_words_with_special_characters_stay_as_they_are():
    drawn = AttentionMap(torch.eye(3), ["l'", "<b>&", "été|"], ['"it"', "{x}", "50%"])
    assert drawn.alt_text().endswith("""l': "it" 1.00; <b>&: {x} 1.00; été|: 50% 1.00.""")
    assert drawn.table().splitlines()[2].split() == ["<b>&", "0.00", "1.00", "0.00"]


def test_a_map_does_not_follow_later_changes_of_the_weights():
    weights = torch.tensor([[0.25, 0.75]], dtype=torch.float64)
    drawn = AttentionMap(weights, ["a"], ["b", "c"])
    weights[0, 0] = 9
    assert drawn.weights[0, 0] == 0.25
