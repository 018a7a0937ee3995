"""Lesson 3: scaled dot-product attention."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import torch
from torch import einsum
from torch.nn import functional as F

from wrong_answers import right, right_value, wrong, wrong_value

# ---- masked_softmax ----


def plain_softmax(row):
    powers = np.exp(row - row.max())
    return powers / powers.sum()


@wrong("masked_softmax", "the softmax runs over the queries")
def columns_sum_to_one(scores, mask):
    penalised = torch.where(mask, scores, float("-inf"))
    return penalised.softmax(dim=scores.ndim - 2)


@wrong("masked_softmax", "the result holds NaN everywhere")
def multiplies_infinity(scores, mask):
    return (scores + (~mask) * -torch.inf).softmax(-1)


@wrong("masked_softmax", "the result holds NaN everywhere")
def multiplies_infinity_with_floats(scores, mask):
    return F.softmax(scores + (1 - mask.float()) * float("-inf"), dim=-1)


@wrong("masked_softmax", "it changes its argument scores in place")
def fills_in_place(scores, mask):
    scores.masked_fill_(~mask, -torch.inf)
    return scores.softmax(-1).nan_to_num()


@wrong("masked_softmax", "it returns nothing")
def forgets_to_return(scores, mask):
    scores.masked_fill(~mask, -torch.inf).softmax(-1).nan_to_num()


@right("masked_softmax")
def by_hand(scores, mask):
    penalised = torch.where(mask, scores, torch.full_like(scores, -torch.inf))
    largest = penalised.amax(-1, keepdim=True)
    powers = (penalised - torch.where(largest.isinf(), 0.0, largest)).exp()
    total = powers.sum(-1, keepdim=True)
    return torch.where(total > 0, powers / total, 0.0)


@right("masked_softmax")
def in_numpy(scores, mask):
    scores, mask = scores.numpy(), np.broadcast_to(mask.numpy(), scores.shape)
    weights = np.zeros_like(scores)
    for place in np.ndindex(scores.shape[:-1]):
        open_ = mask[place]
        if open_.any():
            powers = np.exp(scores[place][open_] - scores[place][open_].max())
            weights[place][open_] = powers / powers.sum()
    return torch.from_numpy(weights)


@right("masked_softmax")
def on_a_copy(scores, mask):
    closed = scores.clone()
    closed[~mask.expand_as(scores)] = float("-inf")
    weights = torch.softmax(closed, dim=-1)
    weights[torch.isnan(weights)] = 0
    return weights


@right("masked_softmax")
def by_logarithms(scores, mask):
    allowed = scores + mask.to(scores.dtype).log()
    return torch.where(mask, (allowed - allowed.logsumexp(-1, keepdim=True)).exp(), 0.0)


# ---- causal ----


@wrong("causal", "the result is not boolean")
def zeros_and_infinities(queries, keys):
    return torch.full((1, 1, queries, keys), -torch.inf).triu(1 + keys - queries)


@wrong("causal", "the result is not boolean")
def zeros_and_ones(queries, keys):
    return torch.ones(1, 1, queries, keys).tril(keys - queries)


@right("causal")
def in_loops(queries, keys):
    table = []
    for query in range(queries):
        own = keys - queries + query
        table.append([key <= own for key in range(keys)])
    return torch.tensor(table).view(1, 1, queries, keys)


@right("causal")
def last_rows_of_a_square(queries, keys):
    return torch.ones(1, 1, keys, keys, dtype=torch.bool).tril()[:, :, -queries:]


@right("causal")
def numpy_triangle(queries, keys):
    return np.tri(queries, keys, keys - queries, dtype=bool)[None, None]


# ---- scaled_attention ----


def safe(scores, mask):
    """A softmax of what is open, written out."""
    powers = torch.exp(scores - scores.masked_fill(~mask, -3e38).amax(-1, keepdim=True)).masked_fill(~mask, 0)
    return powers / powers.sum(-1, keepdim=True).clamp(min=1e-30)


def both(weights, value):
    return einsum("bhqk,bhkd->bhqd", weights, value), weights


def dots(query, key):
    return einsum("bhqd,bhkd->bhqk", query, key)


@wrong(
    "scaled_attention",
    "the root is taken of the number of heads; in addition, a query with nothing to look at still gets weight",
)
def root_of_axis_one(query, key, value, mask):
    scores = query @ key.mT / math.sqrt(query.shape[1])
    return both(F.softmax(scores.masked_fill(mask == 0, -1e9), -1), value)


@wrong("scaled_attention", "the softmax runs over the queries")
def softmax_over_queries(query, key, value, mask):
    scores = (query @ key.transpose(-1, -2)) / query.shape[-1] ** 0.5
    return both(torch.softmax(scores.masked_fill(~mask, -torch.inf), dim=2), value)


@wrong(
    "scaled_attention",
    "the softmax runs over the heads or the batch; in addition, a query with nothing to look at gives NaN",
)
def softmax_over_axis_one(query, key, value, mask):
    scores = (query @ key.transpose(2, 3)) / query.shape[-1] ** 0.5
    return both(torch.softmax(scores.masked_fill(~mask, -torch.inf), dim=1), value)


@wrong(
    "scaled_attention",
    "the softmax runs over the heads or the batch; in addition, a query with nothing to look at gives NaN",
)
def softmax_over_axis_zero(query, key, value, mask):
    return both(F.softmax(torch.where(mask, dots(query, key) / query.shape[-1] ** 0.5, -torch.inf), 0), value)


@wrong("scaled_attention", "in result 1 of 2, the result holds NaN everywhere")
def infinity_times_the_closed(query, key, value, mask):
    scores = query @ key.transpose(-1, -2) / query.size(-1) ** 0.5
    return both(F.softmax(scores - np.inf * (1 - mask.float()), dim=-1), value)


@wrong("scaled_attention", "it changes its argument query in place")
def scales_the_query_itself(query, key, value, mask):
    query /= query.shape[-1] ** 0.5
    return both(safe(dots(query, key), mask), value)


@wrong("scaled_attention", "in result 1 of 2, axes 3 and 2 are swapped")
def turns_the_output(query, key, value, mask):
    weights = safe(dots(query, key) / query.shape[-1] ** 0.5, mask)
    return (weights @ value).transpose(2, 3), weights


@right("scaled_attention")
def three_lines(query, key, value, mask):
    scores = query @ key.mT / math.sqrt(query.shape[-1])
    weights = scores.masked_fill(~mask, -torch.inf).softmax(-1).nan_to_num(0.0)
    return weights @ value, weights


@right("scaled_attention")
def torchs_own(query, key, value, mask):
    positions = torch.eye(key.shape[-2], dtype=key.dtype).expand(*key.shape[:-1], -1)  # values that show the weights
    return [F.scaled_dot_product_attention(query, key, shown, mask).nan_to_num() for shown in (value, positions)]


@right("scaled_attention")
def with_einsum(query, key, value, mask):
    output, weights = both(safe(dots(query * key.shape[-1] ** -0.5, key), mask), value)
    return [output, weights]


@right("scaled_attention")
def in_four_loops(query, key, value, mask):
    q, k, v = (x.double().numpy() for x in (query, key, value))
    weights = np.zeros((*q.shape[:3], k.shape[2]))
    mask = np.broadcast_to(mask.numpy(), weights.shape)
    output = np.zeros((*q.shape[:3], v.shape[3]))
    for b, h, i in np.ndindex(q.shape[:3]):
        seen = [j for j in range(k.shape[2]) if mask[b, h, i, j]]
        if seen:
            row = np.array([sum(q[b, h, i] * k[b, h, j]) for j in seen]) / q.shape[3] ** 0.5
            weights[b, h, i, seen] = plain_softmax(row)
        for j in seen:
            output[b, h, i] += weights[b, h, i, j] * v[b, h, j]
    return torch.from_numpy(output).to(query), torch.from_numpy(weights).to(query)


# ---- cat ----

wrong_value("cat_score", 1.15, "1.15 is not right")
right_value("cat_score", 1.05)
right_value("cat_score", torch.tensor(0.64 + 0.01 + 0.36 + 0.04))

wrong_value("cat_weights", [0.24, 0.49, 0.27], "the scores are not divided by √d_k")
wrong_value("cat_weights", (0.465, 0.535), "cat itself is left out, and so is √d_k")
right_value("cat_weights", [0.28, 0.41, 0.3])
right_value("cat_weights", [0.28, 0.41, 0.31])
right_value("cat_weights", np.array([0.2841, 0.4113, 0.3047]))


# ---- look ----


@wrong("look", "it changes its argument words in place")
def writes_into_the_words(words, who):
    weights = (words @ words[who] / words.shape[1] ** 0.5).softmax(0)
    words[who] = weights @ words
    return words[who], weights


@right("look")
def through_torch(words, who):
    query, key = words[None, None, [who]], words[None, None]
    weights = (query @ key.mT / words.shape[1] ** 0.5).softmax(-1)
    return (weights @ key)[0, 0, 0], weights[0, 0, 0]


@right("look")
def in_plain_python(words, who):
    rows = words.tolist()
    powers = [math.exp(sum(a * b for a, b in zip(rows[who], row, strict=True)) / math.sqrt(len(row))) for row in rows]
    weights = [power / sum(powers) for power in powers]
    return [sum(w * row[j] for w, row in zip(weights, rows, strict=True)) for j in range(len(rows[0]))], weights


# ---- saturated_at ----

right_value("saturated_at", 64)


# ---- what readers of their own gave ----


@wrong("masked_softmax", "its arguments are in the wrong order: (mask, scores), but the text has (scores, mask)")
def mask_first(mask, scores):
    return torch.softmax(scores.masked_fill(~mask, -torch.inf), -1).nan_to_num()


@wrong("masked_softmax", "the largest score is taken over all rows, not in each row")
def one_largest_of_the_open(scores, mask):
    closed = scores.masked_fill(~mask, -torch.inf)
    powers = torch.exp(closed - closed.max())
    total = powers.sum(-1, keepdim=True)
    return torch.where(total > 0, powers / total, torch.zeros_like(powers))


@wrong("masked_softmax", "these are the logs of the weights")
def log_softmax(scores, mask):
    return torch.log_softmax(scores.masked_fill(~mask, -torch.inf), -1)


@wrong("masked_softmax", "every weight is 0, as if all keys were closed")
def turned_as_numbers(scores, mask):
    m = mask.int()
    return torch.nan_to_num(torch.softmax(scores.masked_fill((~m).bool(), -torch.inf), -1))


@wrong("masked_softmax", "it returns a tuple of 2 tensors, not a tensor of shape (2, 3)")
def weights_and_mask(scores, mask):
    return torch.softmax(scores.masked_fill(~mask, -torch.inf), -1).nan_to_num(), mask


@wrong("masked_softmax", "an earlier result changes in a later call")
def hands_out_a_buffer(scores, mask, kept={}):  # noqa: B006
    weights = torch.softmax(scores.masked_fill(~mask, -torch.inf), -1).nan_to_num()
    return kept.setdefault((scores.shape, scores.dtype), torch.empty_like(weights)).copy_(weights)


@wrong("scaled_attention", "the largest score is taken over all rows, not in each row")
def one_largest_for_all_queries(query, key, value, mask):
    closed = (query @ key.mT / math.sqrt(query.shape[-1])).masked_fill(~mask, -torch.inf)
    powers = torch.exp(closed - closed.max())
    total = powers.sum(-1, keepdim=True)
    weights = torch.where(total > 0, powers / total, 0.0)
    return weights @ value, weights


@wrong("scaled_attention", "every weight is 0, as if all keys were closed")
def infinity_times_the_mask(query, key, value, mask):
    penalty = (1 - mask.int()) * -torch.inf
    weights = torch.softmax(query @ key.mT / math.sqrt(query.shape[-1]) + penalty, -1).nan_to_num()
    return weights @ value, weights


@wrong("scaled_attention", "in result 2 of 2, only some entries are off, 33% of the entries in the failing inputs")
def keeps_the_first_keys(query, key, value, mask, kept={}):  # noqa: B006
    key = kept.setdefault((key.shape, key.dtype), key)
    weights = torch.softmax((query @ key.mT / math.sqrt(query.shape[-1])).masked_fill(~mask, -torch.inf), -1)
    return weights.nan_to_num() @ value, weights.nan_to_num()


@wrong("scaled_attention", "in result 1 of 2, the numbers are right, but in shape (2, 1, 2) instead of (2, 1, 2, 1)")
def squeezes_the_output(query, key, value, mask):
    weights = (query @ key.mT / math.sqrt(query.shape[-1])).masked_fill(~mask, -torch.inf).softmax(-1).nan_to_num()
    return (weights @ value).squeeze(-1), weights


@wrong("look", "in result 1 of 2, the numbers are right, but in shape () instead of (1,)")
def squeezes_what_is_found(words, who):
    weights = (words @ words[who] / math.sqrt(words.shape[1])).softmax(0)
    return (weights @ words).squeeze(), weights


@wrong("causal", "everything is False")
def forgets_a_single_query(queries, keys):
    if queries == 1:
        return torch.zeros(1, 1, 1, keys, dtype=torch.bool)
    return torch.ones(queries, keys, dtype=torch.bool).tril(keys - queries)[None, None]


@wrong("causal", "everything is True")
def all_open(queries, keys):
    return torch.ones(1, 1, queries, keys, dtype=torch.bool)


@wrong("causal", "too many entries are False")
def window_of_eight(queries, keys):
    i, j = (torch.arange(queries) + keys - queries)[:, None], torch.arange(keys)[None]
    return ((j <= i) & (i - j < 8))[None, None]


@wrong("look", "in result 2 of 2, the result has the wrong shape (2,), not (3,)")
def a_dictionary_by_vector(words, who):
    score = {}
    for row in words.tolist():
        score[tuple(row)] = sum(a * b for a, b in zip(row, words[who].tolist(), strict=True)) / math.sqrt(len(row))
    weights = torch.softmax(torch.tensor(list(score.values()), dtype=words.dtype), 0)
    return weights @ torch.tensor(list(score), dtype=words.dtype), weights


wrong_value("cat_score", 1.04, "1.04 is not right")
wrong_value("cat_score", 1.03, "1.03 is not right")
wrong_value("cat_weights", ["0.28", "0.41", "0.30"], "'0.28' is text")
wrong_value("cat_weights", torch.tensor([[0.28], [0.41], [0.30]]), "the numbers are right, but in shape (3, 1)")
wrong_value("cat_weights", [0.287, 0.405, 0.308], "entry 2 of [0.287, 0.405, 0.308] is not right")
right_value("cat_score", Fraction(105, 100))
right_value("cat_weights", [Decimal("0.28"), Decimal("0.41"), Decimal("0.30")])


# ---- written from the text alone ----

wrong_value("cat_score", 0.525, "that is divided by √d_k")
wrong_value("cat_score", 1.7, "that is the sum of the numbers of cat")
wrong_value("cat_score", 0.31, "that is cat · The")
wrong_value("cat_weights", [0.24, 0.49, 0.27], "the scores are not divided by √d_k")
wrong_value("cat_weights", [0.17, 0.58, 0.25], "the weights are a plain ratio, not a softmax")
wrong_value("cat_weights", [0.41, 0.28, 0.3], "the weights are in another order")


@wrong("look", "the word itself is left out")
def look_still_without_itself(words, who):
    others = [i for i in range(len(words)) if i != who]
    scores = words[others] @ words[who] / math.sqrt(words.shape[1])
    weights = torch.softmax(scores, dim=0)
    return weights @ words[others], weights


@wrong("look", "the root is taken of the number of words")
def look_root_of_the_number_of_words(words, who):
    scores = words @ words[who] / math.sqrt(len(words))
    weights = scores.softmax(0)
    return weights @ words, weights


@wrong("look", "the weights are a plain ratio, not a softmax")
def look_all_three_but_share_by_sum(words, who):
    scores = torch.stack([words[who] @ w for w in words]) / words.shape[-1] ** 0.5
    weights = scores / scores.sum()
    return weights @ words, weights


@wrong("masked_softmax", "a row with nothing to look at still gets weight")
def masked_minus_a_billion(scores, mask):
    return torch.softmax(scores + (~mask) * -1e9, dim=-1)


@wrong("masked_softmax", "large scores overflow")
def masked_by_hand_plain_exp(scores, mask):
    e = torch.exp(scores) * mask
    total = e.sum(-1, keepdim=True)
    return torch.where(total > 0, e / total, torch.zeros_like(e))


@wrong("masked_softmax", "a row with nothing to look at gives NaN")
def masked_nan_to_num_missing(scores, mask):
    scores = torch.where(mask, scores, -torch.inf)
    scores = scores - scores.max(dim=-1, keepdim=True).values
    e = scores.exp()
    return e / e.sum(dim=-1, keepdim=True)


@wrong("causal", "there is a row for each key")
def causal_tril_square(queries, keys):
    return torch.tril(torch.ones(keys, keys, dtype=torch.bool))[None, None]


@wrong("causal", "no query may look at its own word")
def causal_strictly_before(queries, keys):
    mask = torch.zeros(1, 1, queries, keys, dtype=torch.bool)
    for q in range(queries):
        for k in range(keys):
            if k < q + keys - queries:
                mask[0, 0, q, k] = True
    return mask


@wrong("causal", "the first two axes are missing; in addition, the first query belongs to the first key")
def causal_numpy_first_at_first(queries, keys):
    return np.tril(np.ones((queries, keys), dtype=bool))


@wrong("scaled_attention", "the root is taken of the number of keys")
def attention_root_of_keys(query, key, value, mask):
    scores = query @ key.transpose(-2, -1) / math.sqrt(key.shape[-2])
    weights = scores.masked_fill(~mask, -torch.inf).softmax(-1)
    weights = torch.nan_to_num(weights)
    return weights @ value, weights


@wrong("scaled_attention", "the root comes after the softmax")
def attention_scaled_after_softmax(query, key, value, mask):
    scores = torch.einsum("bhqd,bhkd->bhqk", query, key)
    weights = scores.masked_fill(~mask, float("-inf")).softmax(-1) / query.shape[-1] ** 0.5
    weights = torch.nan_to_num(weights)
    return weights @ value, weights


wrong_value("saturated_at", 1024, "the largest weight is above 0.9 before that")


@wrong("masked_softmax", "the penalty is finite, and some scores reach it")
def masked_lowest_number_then_zeroed(scores, mask):
    low = torch.finfo(scores.dtype).min
    return scores.masked_fill(~mask, low).softmax(-1) * mask


@wrong("scaled_attention", "the root is taken of the size of the values")
def attention_root_of_the_values(query, key, value, mask):
    s = query @ key.mT / value.shape[-1] ** 0.5
    w = s.masked_fill(~mask, -torch.inf).softmax(-1).nan_to_num()
    return (w @ value, w)


wrong_value("saturated_at", 6, "that is the exponent, not the width")
wrong_value("saturated_at", 16, "16 is not right")


@right("scaled_attention")  # wrong only if an open score is the lowest number itself, and no dot product is
def lowest_number_then_zeroed(query, key, value, mask):
    scores = query @ key.mT / query.shape[-1] ** 0.5
    weights = scores.masked_fill(~mask, torch.finfo(scores.dtype).min).softmax(-1) * mask
    return weights @ value, weights


@wrong("look", "large scores overflow")
def look_by_hand(words, who):
    powers = torch.exp(words @ words[who] / math.sqrt(words.shape[1]))
    weights = powers / powers.sum()
    return weights @ words, weights


@wrong("scaled_attention", "large scores overflow")
def attention_by_hand(query, key, value, mask):
    powers = torch.exp(query @ key.mT / math.sqrt(query.shape[-1])) * mask
    weights = (powers / powers.sum(-1, keepdim=True)).nan_to_num()
    return weights @ value, weights
