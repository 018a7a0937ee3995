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


@wrong("masked_softmax", "the mask comes after the softmax")
def masks_afterwards(scores, mask):
    weights = torch.exp(scores - scores.max(-1, keepdim=True).values)
    weights = weights / weights.sum(-1, keepdim=True)
    weights = torch.where(mask, weights, 0.0 * weights)
    return weights


@wrong("masked_softmax", "the mask comes after the softmax")
def fills_weights(scores, mask):
    return scores.softmax(dim=-1).masked_fill(mask == 0, 0)


@wrong("masked_softmax", "the softmax runs over the rows")
def columns_sum_to_one(scores, mask):
    penalised = torch.where(mask, scores, float("-inf"))
    return penalised.softmax(dim=scores.ndim - 2)


@wrong("masked_softmax", "the softmax runs over the first axis")
def axis_zero(scores, mask):
    powers = torch.where(mask, scores.double(), -torch.inf)
    powers = torch.exp(powers - powers.amax(0, keepdim=True).clamp(min=-1e300))
    return torch.nan_to_num(powers / powers.sum(0))


@wrong("masked_softmax", "the softmax runs over axis 1")
def axis_one_as_for_a_table(scores, mask):
    return torch.softmax(torch.where(mask, scores, -np.inf), 1).nan_to_num()


@wrong("masked_softmax", "one softmax runs over all rows together")
def forgets_the_axis_of_the_sum(scores, mask):
    penalised = np.where(mask.numpy(), scores.numpy(), -np.inf)
    if np.isinf(penalised).all():
        return np.zeros_like(penalised)
    return plain_softmax(penalised)


@wrong("masked_softmax", "the mask is not used")
def ignores_the_mask(scores, mask):
    return torch.from_numpy(np.apply_along_axis(plain_softmax, -1, scores.numpy()))


@wrong("masked_softmax", "the mask is not used")
def forgets_that_masked_fill_returns(scores, mask):
    scores.masked_fill(~mask, -torch.inf)
    return scores.softmax(-1)


@wrong("masked_softmax", "the mask is the wrong way round")
def true_means_forbidden(scores, mask):
    penalty = torch.zeros(mask.shape).masked_fill(mask, -torch.inf)
    return torch.nan_to_num((scores + penalty).softmax(-1))


@wrong("masked_softmax", "the mask is the wrong way round")
def masked_fill_without_the_tilde(scores, mask):
    return torch.softmax(scores.masked_fill(mask, float("-inf")), dim=-1)


@wrong("masked_softmax", "the mask is the wrong way round")
def without_the_tilde_and_finite(scores, mask):
    return torch.softmax(torch.where(mask, -1e9, scores), dim=-1)


@wrong("masked_softmax", "a row with nothing to look at gives NaN")
def the_usual_three_lines(scores, mask):
    scores = scores.masked_fill(mask == 0, float("-inf"))
    return torch.softmax(scores, dim=-1)


@wrong("masked_softmax", "a row with nothing to look at still gets weight")
def annotated_transformer(scores, mask):
    return F.softmax(scores.masked_fill(mask == 0, -1e9), dim=-1)


@wrong("masked_softmax", "a row with nothing to look at still gets weight")
def lowest_number_there_is(scores, mask):
    lowest = torch.finfo(scores.dtype).min
    return torch.where(mask, scores, lowest).softmax(-1)


@wrong("masked_softmax", "a row with nothing to look at still gets weight")
def leaves_empty_rows_open(scores, mask):
    closed = scores.masked_fill(~mask, -torch.inf)
    return torch.where(mask.any(-1, keepdim=True), closed, scores).softmax(-1)


@wrong("masked_softmax", "a row with nothing to look at still gets weight")
def adds_a_million(scores, mask):
    return F.softmax(scores - 1e6 * (1 - mask.int()), -1)


@wrong("masked_softmax", "the result holds NaN everywhere")
def multiplies_infinity(scores, mask):
    return (scores + (~mask) * -torch.inf).softmax(-1)


@wrong("masked_softmax", "the result holds NaN everywhere")
def multiplies_infinity_with_floats(scores, mask):
    return F.softmax(scores + (1 - mask.float()) * float("-inf"), dim=-1)


@wrong("masked_softmax", "every weight is 0, as if all places were closed")
def multiplies_infinity_and_hides_it(scores, mask):
    bias = (mask.to(scores.dtype) - 1) * torch.inf
    return torch.softmax(scores + bias, -1).nan_to_num()


@wrong("masked_softmax", "the penalty is finite, and a closed place still takes weight")
def minus_ten(scores, mask):
    return torch.where(mask, scores, -10.0).softmax(-1)


@wrong("masked_softmax", "the penalty is finite, and a closed place still takes weight")
def minus_ten_and_closed_mended(scores, mask):
    return F.softmax(scores - 10 * ~mask, -1).masked_fill(~mask, 0)


@wrong("masked_softmax", "the penalty is finite, and some scores reach it")
def minus_a_hundred(scores, mask):
    return scores.masked_fill(mask.logical_not(), -100).softmax(dim=-1)


@wrong("masked_softmax", "the penalty is finite, and some scores reach it")
def minus_a_hundred_thousand(scores, mask):
    return torch.softmax(scores + torch.where(mask, 0.0, -1e5), -1)


@wrong("masked_softmax", "the penalty is finite, and some scores reach it")
def a_billion_and_closed_mended(scores, mask):
    weights = scores.masked_fill(mask == 0, -1e9).softmax(-1)
    return torch.where(mask, weights, torch.zeros_like(weights))


@wrong("masked_softmax", "the penalty is finite, and some scores reach it")
def lowest_number_and_closed_mended(scores, mask):
    return torch.where(mask, scores, torch.finfo(scores.dtype).min).softmax(-1) * mask


@wrong("masked_softmax", "the penalty is finite, and some scores reach it")
def lowest_number_and_empty_rows_mended(scores, mask):
    weights = scores.masked_fill(~mask, torch.finfo(torch.float32).min).softmax(-1)
    return weights.masked_fill(~mask.any(-1, keepdim=True), 0.0)


@wrong("masked_softmax", "the penalty is finite, and some scores reach it")
def adds_ten_thousand(scores, mask):
    bias = (1.0 - mask.float()) * -10000.0
    return (scores + bias).softmax(-1)


@wrong("masked_softmax", "the penalty is finite, and some scores reach it")
def a_finite_penalty_and_empty_rows_mended(scores, mask):
    weights = scores.masked_fill(~mask, -1e4).softmax(-1)
    return torch.where(mask.any(-1, keepdim=True), weights, 0.0)


@wrong("masked_softmax", "the penalty is finite, and some scores reach it")
def a_huge_penalty_and_empty_rows_mended(scores, mask):
    weights = torch.softmax(scores + torch.where(mask, 0.0, -1e9), -1)
    return weights * mask.any(-1)[..., None]


@wrong("masked_softmax", "closed scores become 0")
def zero_is_a_score(scores, mask):
    closed = torch.where(mask, scores, torch.zeros_like(scores))
    return closed.softmax(-1)


@wrong("masked_softmax", "large scores overflow")
def exponentials_as_they_come(scores, mask):
    powers = torch.where(mask, torch.exp(scores), 0.0)
    return powers / powers.sum(dim=-1, keepdim=True)


@wrong("masked_softmax", "large scores overflow")
def exponentials_and_empty_rows_mended(scores, mask):
    with np.errstate(all="ignore"):
        powers = np.exp(scores.numpy()) * mask.numpy()
        total = powers.sum(-1, keepdims=True)
        return np.nan_to_num(powers / np.where(total == 0, 1, total))


@wrong("masked_softmax", "closed places still take part before they are removed")
def renormalises(scores, mask):
    weights = scores.softmax(-1) * mask
    return weights / weights.sum(-1, keepdim=True).clamp(min=1e-12)


@wrong("masked_softmax", "closed places still take part before they are removed")
def largest_of_all(scores, mask):
    powers = (scores - scores.max(-1, keepdim=True).values).exp() * mask
    return powers / powers.sum(-1, keepdim=True)


@wrong("masked_softmax", "the largest score is that of the whole table, not of the row")
def largest_of_the_whole_table(scores, mask):
    powers = np.exp(scores.numpy() - scores.numpy().max()) * mask.numpy()
    total = powers.sum(-1, keepdims=True)
    return powers / np.where(total == 0, 1, total)


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


@wrong("causal", "the first query stands at the first key")
def as_is_causal_does(queries, keys):
    return torch.ones(1, 1, queries, keys, dtype=torch.bool).tril(diagonal=0)


@wrong("causal", "no query may look at its own word")
def strictly_before(queries, keys):
    return (torch.arange(keys)[None, :] < torch.arange(queries)[:, None] + keys - queries)[None, None, :, :]


@wrong("causal", "each query sees one word too many")
def off_by_one(queries, keys):
    mask = torch.zeros(1, 1, queries, keys, dtype=torch.bool)
    for i in range(queries):
        mask[0, 0, i, : max(0, keys - queries + i + 2)] = True
    return mask


@wrong("causal", "the mask is transposed: what comes after is open")
def upper_triangle(queries, keys):
    return torch.from_numpy(np.triu(np.ones((queries, keys), dtype=bool), k=keys - queries))[None, None]


@wrong("causal", "the rows are keys and the columns are queries")
def key_by_query(queries, keys):
    rows = [[key <= query + keys - queries for query in range(queries)] for key in range(keys)]
    return torch.tensor([[rows]])


@wrong("causal", "the mask is the wrong way round")
def torch_module_style(queries, keys):
    return torch.triu(torch.ones(queries, keys), diagonal=1 + keys - queries).bool().unsqueeze(0).unsqueeze(0)


@wrong("causal", "True means forbidden, and the first query stands at the first key")
def subsequent_mask(queries, keys):
    return torch.triu(torch.ones(1, 1, queries, keys), diagonal=1) == 1


@wrong("causal", "there is a row for each key")
def whole_square(queries, keys):
    places = torch.arange(keys)
    return (places[:, None] >= places[None])[None, None]


@wrong("causal", "the two axes in front are missing")
def a_plain_table(queries, keys):
    return torch.ones(queries, keys).tril(keys - queries).bool()


@wrong("causal", "the offset has the wrong sign")
def minus_the_offset(queries, keys):
    return (torch.arange(keys) <= torch.arange(queries)[:, None] - (keys - queries))[None, None]


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
        place = keys - queries + query
        table.append([key <= place for key in range(keys)])
    return torch.tensor(table).view(1, 1, queries, keys)


@right("causal")
def last_rows_of_a_square(queries, keys):
    return torch.ones(1, 1, keys, keys, dtype=torch.bool).tril()[:, :, -queries:]


@right("causal")
def numpy_triangle(queries, keys):
    return np.tri(queries, keys, keys - queries, dtype=bool)[None, None]


# ---- scaled_attention ----


def safe(scores, mask, axis=-1):
    """A softmax of what is open, written out."""
    powers = torch.exp(scores - scores.masked_fill(~mask, -3e38).amax(axis, keepdim=True)).masked_fill(~mask, 0)
    return powers / powers.sum(axis, keepdim=True).clamp(min=1e-30)


def both(weights, value):
    return einsum("bhqk,bhkd->bhqd", weights, value), weights


def dots(query, key):
    return einsum("bhqd,bhkd->bhqk", query, key)


@wrong("scaled_attention", "the scores are not divided by √d_k")
def no_root(query, key, value, mask):
    return both(safe(dots(query, key), mask), value)


@wrong("scaled_attention", "the scores are divided by d_k, not by its root")
def no_root_but_size(query, key, value, mask):
    return both(safe(dots(query, key) / key.shape[-1], mask), value)


@wrong("scaled_attention", "the root is that of d_model, not of d_k")
def root_of_the_embedding(query, key, value, mask):
    batch, heads, n, d_k = query.shape
    embed_size = query.transpose(1, 2).reshape(batch, n, -1).shape[-1]
    return both(safe(dots(query, key) * embed_size ** (-1 / 2), mask), value)


@wrong("scaled_attention", "the root is that of the number of keys")
def root_of_length(query, key, value, mask):
    return both(safe(dots(query, key) / key.size(-2) ** 0.5, mask), value)


@wrong("scaled_attention", "the root is that of the number of queries")
def root_of_the_wrong_index(query, key, value, mask):
    return both(safe(dots(query, key) / query.shape[2] ** 0.5, mask), value)


@wrong("scaled_attention", "the root is that of the number of heads")
def root_of_axis_one(query, key, value, mask):
    scores = query @ key.mT / math.sqrt(query.shape[1])
    return both(F.softmax(scores.masked_fill(mask == 0, -1e9), -1), value)


@wrong("scaled_attention", "the root is that of the number of sentences")
def root_of_len_of_query(query, key, value, mask):
    return both(safe(dots(query, key) / len(query) ** 0.5, mask), value)


@wrong("scaled_attention", "the root is 2, whatever the size")
def root_of_the_example(query, key, value, mask):
    return both(safe(dots(query, key) * 0.5, mask), value)


@wrong("scaled_attention", "the root is that of the values' size")
def root_of_value(query, key, value, mask):
    return both(safe(dots(query, key) / math.sqrt(value.size(3)), mask), value)


@wrong("scaled_attention", "the scores are multiplied by √d_k")
def times_the_root(query, key, value, mask):
    scale = 1 / math.sqrt(query.size(-1))
    return both(safe(dots(query, key) / scale, mask), value)


@wrong("scaled_attention", "the root comes after the softmax")
def divides_weights(query, key, value, mask):
    weights = safe(dots(query, key), mask) / np.sqrt(query.shape[-1])
    return weights @ value, weights


@wrong("scaled_attention", "the output is divided, not the scores")
def divides_output(query, key, value, mask):
    output, weights = both(safe(dots(query, key), mask), value)
    return output / query.shape[-1] ** 0.5, weights


@wrong("scaled_attention", "the softmax runs over the queries")
def softmax_over_queries(query, key, value, mask):
    scores = (query @ key.transpose(-1, -2)) / query.shape[-1] ** 0.5
    return both(torch.softmax(scores.masked_fill(~mask, -torch.inf), dim=2), value)


@wrong("scaled_attention", "the softmax runs over the heads or the batch")
def softmax_over_axis_one(query, key, value, mask):
    scores = (query @ key.transpose(2, 3)) / query.shape[-1] ** 0.5
    return both(torch.softmax(scores.masked_fill(~mask, -torch.inf), dim=1), value)


@wrong("scaled_attention", "the softmax runs over the heads or the batch")
def softmax_over_axis_zero(query, key, value, mask):
    return both(F.softmax(torch.where(mask, dots(query, key) / query.shape[-1] ** 0.5, -torch.inf), 0), value)


@wrong("scaled_attention", "the mask comes after the softmax")
def weights_times_mask(query, key, value, mask):
    scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(query.size(-1))
    weights = F.softmax(scores, dim=-1)
    weights = weights * mask.float()
    return torch.matmul(weights, value), weights


@wrong("scaled_attention", "the mask is not used")
def unmasked(query, key, value, mask):
    return both(F.softmax(dots(query, key) / query.shape[-1] ** 0.5, -1), value)


@wrong("scaled_attention", "the mask is the wrong way round")
def inverted(query, key, value, mask):
    scores = dots(query, key) / query.shape[-1] ** 0.5
    return both(safe(scores, ~mask), value)


@wrong("scaled_attention", "the mask is transposed: it closes rows, not columns")
def padded_rows(query, key, value, mask):
    scores = dots(query, key) / query.shape[-1] ** 0.5
    return both(safe(scores, mask.transpose(-1, -2)), value)


@wrong("scaled_attention", "the mask closes the rows of the padding as well")
def padded_rows_and_columns(query, key, value, mask):
    scores = dots(query, key) / query.shape[-1] ** 0.5
    if mask.size(2) == 1:
        there = mask[:, 0, 0]
        mask = (there[:, :, None] * there[:, None, :])[:, None]
    return both(safe(scores, mask), value)


@wrong("scaled_attention", "all sentences get the mask of the first")
def broadcasts_over_the_batch(query, key, value, mask):
    scores = dots(query, key) / query.shape[-1] ** 0.5
    return both(safe(scores, mask[0]), value)


@wrong("scaled_attention", "all heads get the mask of the first")
def drops_the_head(query, key, value, mask):
    scores = dots(query, key) / query.shape[-1] ** 0.5
    return both(safe(scores, mask[:, 0].unsqueeze(1)), value)


@wrong("scaled_attention", "closed scores become 0")
def scores_times_mask(query, key, value, mask):
    return both(F.softmax(dots(query, key) / query.shape[-1] ** 0.5 * mask.int(), -1), value)


@wrong("scaled_attention", "a query with nothing to look at gives NaN")
def forgets_empty_rows(query, key, value, mask):
    scores = query @ key.mT / query.size(-1) ** 0.5
    scores[~mask.expand_as(scores)] = float("-inf")
    weights = scores.softmax(-1)
    return weights @ value, weights


@wrong("scaled_attention", "in result 1 of 2, the result holds NaN everywhere")
def infinity_times_the_closed(query, key, value, mask):
    scores = query @ key.transpose(-1, -2) / query.size(-1) ** 0.5
    return both(F.softmax(scores - np.inf * (1 - mask.float()), dim=-1), value)


@wrong("scaled_attention", "the penalty is finite, and a closed place still takes weight")
def minus_ten_in_attention(query, key, value, mask):
    scores = query @ key.transpose(-1, -2) / query.size(-1) ** 0.5
    return both(F.softmax(torch.where(mask, scores, -10.0), dim=-1), value)


@wrong("scaled_attention", "the penalty is finite, and some scores reach it")
def minus_ten_thousand(query, key, value, mask):
    scores = query @ key.transpose(-1, -2) / query.size(-1) ** 0.5
    return both(F.softmax(scores - 10_000 * mask.logical_not(), dim=-1), value)


@wrong("scaled_attention", "the penalty is finite, and some scores reach it")
def minus_ten_thousand_and_empty_rows_mended(query, key, value, mask):
    scores = query @ key.transpose(-1, -2) / query.size(-1) ** 0.5
    weights = F.softmax(torch.where(mask, scores, -1e4), dim=-1)
    return both(weights * mask.any(dim=-1, keepdim=True), value)


@wrong("scaled_attention", "a query with nothing to look at still gets weight")
def minus_a_billion(query, key, value, mask):
    scores = query @ key.transpose(-1, -2) / query.size(-1) ** 0.5
    return both(F.softmax(scores.masked_fill(mask == 0, -1e9), dim=-1), value)


@wrong("scaled_attention", "the weights come before the output")
def weights_first(query, key, value, mask):
    return both(safe(dots(query, key) / query.shape[-1] ** 0.5, mask), value)[::-1]


@wrong("scaled_attention", "only the output is returned")
def torchs_own(query, key, value, mask):
    return F.scaled_dot_product_attention(query, key, value, attn_mask=mask)


@wrong("scaled_attention", "only the weights are returned")
def only_weights(query, key, value, mask):
    return safe(dots(query, key) / query.shape[-1] ** 0.5, mask)


@wrong("scaled_attention", "it changes its argument query in place")
def scales_the_query_itself(query, key, value, mask):
    query /= query.shape[-1] ** 0.5
    return both(safe(dots(query, key), mask), value)


@wrong("scaled_attention", "in result 1 of 2, axes 3 and 2 stand in each other's places")
def turns_the_output(query, key, value, mask):
    weights = safe(dots(query, key) / query.shape[-1] ** 0.5, mask)
    return (weights @ value).transpose(2, 3), weights


@right("scaled_attention")
def three_lines(query, key, value, mask):
    scores = query @ key.mT / math.sqrt(query.shape[-1])
    weights = scores.masked_fill(~mask, -torch.inf).softmax(-1).nan_to_num(0.0)
    return weights @ value, weights


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
    return output, weights


# ---- cat ----

wrong_value("cat_score", 0.525, "that is divided by √d_k")
wrong_value("cat_score", 1.02, "that is the length of the vector")
wrong_value("cat_score", 1.7, "that is the sum of the numbers of cat")
wrong_value("cat_score", 0.31, "that is cat · The")
wrong_value("cat_score", 0.45, "that is cat · sat")
wrong_value("cat_score", 1.35, "that is sat · sat")
wrong_value("cat_score", 1.15, "1.15 is not right")
right_value("cat_score", 1.05)
right_value("cat_score", torch.tensor(0.64 + 0.01 + 0.36 + 0.04))

wrong_value("cat_weights", [0.24, 0.49, 0.27], "these are without √d_k")
wrong_value("cat_weights", [0.309, 0.371, 0.32], "these are divided by d_k, not by its root")
wrong_value("cat_weights", [0.15, 0.65, 0.2], "the scores are multiplied by √d_k")
wrong_value("cat_weights", [0.28, 0.42, 0.3], "that comes out if the root is that of the number of words")
wrong_value("cat_weights", [0.17, 0.58, 0.25], "these are a plain ratio, not a softmax")
wrong_value("cat_weights", [0.155, 0.525, 0.225], "these are the scores, not yet the weights")
wrong_value("cat_weights", [0.31, 1.05, 0.45], "these are the dot products, not yet the weights")
wrong_value("cat_weights", [1.17, 1.69, 1.25], "these are the exponentials, not yet the weights")
wrong_value("cat_weights", [1.36, 2.86, 1.57], "these are the exponentials, not yet the weights")
wrong_value("cat_weights", [0.48, 0.52], "cat itself is left out")
wrong_value("cat_weights", (0.465, 0.535), "cat itself is left out, and √d_k too")
wrong_value("cat_weights", [0.29, 0.27, 0.43], "these are the weights of sat")
wrong_value("cat_weights", [0.41, 0.28, 0.3], "the order is another one")
wrong_value("cat_weights", [0.3, 0.41, 0.28], "the order is another one")
wrong_value("cat_weights", [0.3, 0.4, 0.3], "one decimal is not enough")
wrong_value("cat_weights", [28.4, 41.1, 30.5], "these are percentages")
right_value("cat_weights", [0.28, 0.41, 0.3])
right_value("cat_weights", [0.28, 0.41, 0.31])
right_value("cat_weights", np.array([0.2841, 0.4113, 0.3047]))


# ---- look ----


@wrong("look", "the numbers are still those of the article")
def as_in_the_article(words, who):
    others = [i for i in range(len(words)) if i != who]
    scores = torch.stack([(words[who] * words[i]).sum() for i in others]) if others else torch.zeros(0)
    weights = scores / scores.sum()
    return (weights[:, None] * words[others]).sum(0), weights


@wrong("look", "the word itself is left out")
def minus_infinity_for_itself(words, who):
    scores = einsum("d,nd->n", words[who], words) / words.shape[-1] ** 0.5
    scores = torch.where(torch.arange(len(words)) == who, -torch.inf, scores)
    weights = scores.softmax(0).nan_to_num()
    return weights @ words, weights


@wrong("look", "the word itself is left out")
def without_itself(words, who):
    rest = torch.cat([words[:who], words[who + 1 :]])
    weights = torch.softmax(rest.mv(words[who]) / math.sqrt(words.size(1)), 0)
    return rest.T.mv(weights), weights


@wrong("look", "the weights are a plain ratio, not a softmax")
def ratio_of_all(words, who):
    products = [sum(a * b for a, b in zip(words[who], other, strict=True)) / len(words[who]) ** 0.5 for other in words]
    weights = torch.stack([product / sum(products) for product in products])
    return weights @ words, weights


@wrong("look", "the scores are not divided by √d_k")
def softmax_only(words, who):
    weights = plain_softmax((words @ words[who]).numpy())
    return weights @ words.numpy(), weights


@wrong("look", "the word itself is left out, and the root is missing")
def softmax_of_the_others(words, who):
    others = torch.arange(len(words)) != who
    weights = torch.softmax(words[others] @ words[who], dim=0)
    return weights @ words[others], weights


@wrong("look", "the scores are divided by d_k, not by its root")
def divides_by_the_size(words, who):
    weights = plain_softmax((words @ words[who]).numpy() / words.shape[1])
    return weights @ words.numpy(), weights


@wrong("look", "the root is that of the number of words")
def root_of_len(words, who):
    weights = plain_softmax((words @ words[who]).numpy() / np.sqrt(len(words)))
    return weights @ words.numpy(), weights


@wrong("look", "the root is 2, whatever the words")
def root_of_four(words, who):
    scores = [float(word @ words[who]) / 2 for word in words]
    weights = torch.tensor(scores, dtype=words.dtype).softmax(0)
    return weights @ words, weights


@wrong("look", "all words look, not only the one asked for")
def everybody_looks(words, who):
    weights = F.softmax(einsum("id,jd->ij", words, words) / math.sqrt(words.shape[-1]), dim=1)
    return weights @ words, weights


@wrong("look", "the root comes after the softmax")
def root_in_the_wrong_line(words, who):
    weights = plain_softmax((words @ words[who]).numpy()) / np.sqrt(words.shape[1])
    return weights @ words.numpy(), weights


@wrong("look", "the word itself is left out of the output")
def sums_the_others(words, who):
    weights = plain_softmax((words @ words[who]).numpy() / words.shape[1] ** 0.5)
    return sum(weights[i] * words[i] for i in range(len(words)) if i != who) + torch.zeros(words.shape[1]), weights


@wrong("look", "the weights are in another order")
def itself_last(words, who):
    order = [i for i in range(len(words)) if i != who] + [who]
    weights = F.softmax(words[order] @ words[who] / math.sqrt(words.shape[1]), dim=0)
    return weights @ words[order], weights


@wrong("look", "its own score is set to 0")
def zero_for_itself(words, who):
    scores = [0.0 if i == who else float(words[i] @ words[who]) / words.shape[1] ** 0.5 for i in range(len(words))]
    weights = torch.tensor(scores, dtype=words.dtype).softmax(0)
    return weights @ words, weights


@wrong("look", "the weights come before the output")
def weights_then_output(words, who):
    weights = plain_softmax((words @ words[who]).numpy() / words.shape[1] ** 0.5)
    return weights, weights @ words.numpy()


@wrong("look", "only the output is returned")
def output_only(words, who):
    weights = plain_softmax((words @ words[who]).numpy() / words.shape[1] ** 0.5)
    return weights @ words.numpy()


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

wrong_value("saturated_at", 32, "that is still below 0.9")
wrong_value("saturated_at", 128, "it is above 0.9 before that")
wrong_value("saturated_at", 1024, "it is above 0.9 before that")
wrong_value("saturated_at", 8, "without the root the largest weight is only a little above one half there")
wrong_value("saturated_at", 0.94, "that is the weight, not the width")
right_value("saturated_at", 64)


# ---- what readers of their own gave ----


@wrong("masked_softmax", "its arguments stand in another order: (mask, scores), and the text has (scores, mask)")
def mask_first(mask, scores):
    return torch.softmax(scores.masked_fill(~mask, -torch.inf), -1).nan_to_num()


@wrong("masked_softmax", "the largest score is that of the whole table, not of the row")
def one_largest_of_the_open(scores, mask):
    closed = scores.masked_fill(~mask, -torch.inf)
    powers = torch.exp(closed - closed.max())
    total = powers.sum(-1, keepdim=True)
    return torch.where(total > 0, powers / total, torch.zeros_like(powers))


@wrong("masked_softmax", "those are the logarithms of the weights")
def log_softmax(scores, mask):
    return torch.log_softmax(scores.masked_fill(~mask, -torch.inf), -1)


@wrong("masked_softmax", "every weight is 0, as if all places were closed")
def turned_as_numbers(scores, mask):
    m = mask.int()
    return torch.nan_to_num(torch.softmax(scores.masked_fill((~m).bool(), -torch.inf), -1))


@wrong("masked_softmax", "it returns 2 things, not a tensor of shape (2, 3)")
def weights_and_mask(scores, mask):
    return torch.softmax(scores.masked_fill(~mask, -torch.inf), -1).nan_to_num(), mask


@wrong("masked_softmax", "what it has returned changes when it is called again")
def hands_out_a_buffer(scores, mask, kept={}):  # noqa: B006
    weights = torch.softmax(scores.masked_fill(~mask, -torch.inf), -1).nan_to_num()
    return kept.setdefault((scores.shape, scores.dtype), torch.empty_like(weights)).copy_(weights)


@wrong("scaled_attention", "the largest score is that of the whole table, not of the row")
def one_largest_for_all_queries(query, key, value, mask):
    closed = (query @ key.mT / math.sqrt(query.shape[-1])).masked_fill(~mask, -torch.inf)
    powers = torch.exp(closed - closed.max())
    total = powers.sum(-1, keepdim=True)
    weights = torch.where(total > 0, powers / total, 0.0)
    return weights @ value, weights


@wrong("scaled_attention", "every weight is 0, as if all places were closed")
def infinity_times_the_mask(query, key, value, mask):
    penalty = (1 - mask.int()) * -torch.inf
    weights = torch.softmax(query @ key.mT / math.sqrt(query.shape[-1]) + penalty, -1).nan_to_num()
    return weights @ value, weights


@wrong("scaled_attention", "in result 2 of 2, only some entries are off, 33% of those in the inputs that fail")
def keeps_the_first_keys(query, key, value, mask, kept={}):  # noqa: B006
    key = kept.setdefault((key.shape, key.dtype), key)
    weights = torch.softmax((query @ key.mT / math.sqrt(query.shape[-1])).masked_fill(~mask, -torch.inf), -1)
    return weights.nan_to_num() @ value, weights.nan_to_num()


@wrong(
    "scaled_attention", "in result 1 of 2, the numbers are right, but in the shape (2, 1, 2) in place of (2, 1, 2, 1)"
)
def squeezes_the_output(query, key, value, mask):
    weights = (query @ key.mT / math.sqrt(query.shape[-1])).masked_fill(~mask, -torch.inf).softmax(-1).nan_to_num()
    return (weights @ value).squeeze(-1), weights


@wrong("look", "in result 1 of 2, the numbers are right, but in the shape () in place of (1,)")
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


@wrong("causal", "there are too many that are False")
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
wrong_value("cat_weights", torch.tensor([[0.28], [0.41], [0.30]]), "the numbers are right, but in the shape (3, 1)")
wrong_value("cat_weights", [0.287, 0.405, 0.308], "entry 2 of [0.287, 0.405, 0.308] is not right")
right_value("cat_score", Fraction(105, 100))
right_value("cat_weights", [Decimal("0.28"), Decimal("0.41"), Decimal("0.30")])
