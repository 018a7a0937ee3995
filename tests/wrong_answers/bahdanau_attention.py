"""Lesson 2: Bahdanau attention."""

import math

import numpy as np
import torch
from torch import nn

from course_lib import attention, masks
from wrong_answers import right, right_value, wrong, wrong_value

# ---- first_weights, padded_weights ----

wrong_value("first_weights", [0.56, 0.19, 0.25], "the minus sign is lost")
wrong_value("first_weights", [1.25, 0.33, -0.58], "the scores are divided by their sum")
wrong_value("first_weights", [4.48, 1.49, 0.50], "the powers are not divided by their sum")
wrong_value("first_weights", [69, 23, 8], "those are percentages")
wrong_value("first_weights", [69.27, 23.06, 7.68], "those are percentages")
right_value("first_weights", [0.69, 0.23, 0.08])
right_value("first_weights", torch.tensor([1.5, 0.4, -0.7]).softmax(0))

wrong_value("padded_weights", [0.75, 0.25], "the padding's place is missing")
wrong_value("padded_weights", [0.69, 0.23, 0], "the padding has taken its share already")
wrong_value("padded_weights", (0.64, 0.21, 0.14), "the padding's score is taken to be 0")
wrong_value("padded_weights", [0.69, 0.23, 0.08], "the padding is not left out")
wrong_value("padded_weights", [0.79, 0.21, 0.0], "the scores are divided by their sum")
right_value("padded_weights", [0.75, 0.25, 0])
right_value("padded_weights", np.array([0.7503, 0.2497, 0.0]))


# ---- additive_score ----


@right("additive_score")
def with_loops(query, keys, W_s, W_h, v):
    scores = torch.zeros(keys.shape[:2], dtype=keys.dtype)
    for b in range(len(keys)):
        for i in range(keys.shape[1]):
            for a in range(len(v)):
                inner = sum(W_s[a, k] * query[b, k] for k in range(query.shape[1]))
                inner = inner + sum(W_h[a, k] * keys[b, i, k] for k in range(keys.shape[2]))
                scores[b, i] += v[a] * torch.tanh(inner)
    return scores


@right("additive_score")
def with_einsum(query, keys, W_s, W_h, v):
    inner = torch.einsum("bq,aq->ba", query, W_s).unsqueeze(1) + torch.einsum("bkh,ah->bka", keys, W_h)
    return torch.einsum("bka,a->bk", inner.tanh(), v)


@right("additive_score")
def one_matrix_over_both(query, keys, W_s, W_h, v):
    repeated = query[:, None, :].expand(-1, keys.size(1), -1)
    both = torch.cat([repeated, keys], dim=2)
    return torch.matmul(torch.tanh(torch.matmul(both, torch.cat([W_s, W_h], dim=1).T)), v)


@right("additive_score")
def score_in_numpy(query, keys, W_s, W_h, v):
    query, keys, W_s, W_h, v = (x.numpy() for x in (query, keys, W_s, W_h, v))
    return np.tanh((query @ W_s.T)[:, np.newaxis] + keys @ W_h.T) @ v


@wrong("additive_score", "there is no tanh")
def forgets_the_tanh(query, keys, W_s, W_h, v):
    q = torch.einsum("bq,aq->ba", query, W_s)
    k = torch.einsum("bkh,ah->bka", keys, W_h)
    return torch.einsum("bka,a->bk", q[:, None] + k, v)


@wrong("additive_score", "the tanh comes after v")
def squeezes_the_score(query, keys, W_s, W_h, v):
    return torch.tanh(keys @ (W_h.T @ v) + (query @ (W_s.T @ v)).unsqueeze(-1))


@wrong("additive_score", "the tanh is taken before the sum")
def two_tanhs(query, keys, W_s, W_h, v):
    scores = []
    for q, k in zip(query, keys, strict=True):
        scores.append(((W_s @ q).tanh() + (k @ W_h.T).tanh()) @ v)
    return torch.stack(scores)


@wrong("additive_score", "the two are multiplied, not added")
def multiplies(query, keys, W_s, W_h, v):
    q, k = nn.functional.linear(query, W_s), nn.functional.linear(keys, W_h)
    return (torch.tanh(torch.einsum("ba,bka->bka", q, k)) * v).sum(dim=-1)


@wrong("additive_score", "another function stands in place of the tanh")
def with_relu(query, keys, W_s, W_h, v):
    inner = (query @ W_s.T).unsqueeze(1) + keys @ W_h.T
    return torch.clamp(inner, min=0) @ v


@wrong("additive_score", "another function stands in place of the tanh")
def with_sigmoid(query, keys, W_s, W_h, v):
    inner = (query @ W_s.T).unsqueeze(1) + keys @ W_h.T
    return (1 / (1 + torch.exp(-inner))) @ v


@wrong("additive_score", "v is not used")
def sums_what_is_behind_the_tanh(query, keys, W_s, W_h, v):
    inner = torch.einsum("bq,aq->ba", query, W_s)[:, None] + torch.einsum("bkh,ah->bka", keys, W_h)
    return torch.einsum("bka->bk", torch.tanh(inner))


@wrong("additive_score", "v's products are not summed")
def star_for_at(query, keys, W_s, W_h, v):
    return v * torch.tanh(torch.matmul(query, W_s.t()).unsqueeze(1) + torch.matmul(keys, W_h.t()))


@wrong("additive_score", "v meets the words, not the numbers behind the tanh")
def v_in_front(query, keys, W_s, W_h, v):
    return torch.matmul(v, torch.tanh(nn.functional.linear(query, W_s).unsqueeze(1) + nn.functional.linear(keys, W_h)))


@wrong("additive_score", "an axis of length 1 is left at the end")
def as_nn_linear_leaves_it(query, keys, W_s, W_h, v):
    return nn.functional.linear(torch.tanh(query.matmul(W_s.T)[:, None, :] + keys.matmul(W_h.T)), v[None, :])


@wrong("additive_score", "the axes of the result are exchanged")
def words_first(query, keys, W_s, W_h, v):
    return torch.stack([torch.tanh(query @ W_s.T + keys[:, i] @ W_h.T) @ v for i in range(keys.shape[1])])


@wrong("additive_score", "the softmax is taken already")
def weights_at_once(query, keys, W_s, W_h, v):
    scores = torch.tanh((query @ W_s.T)[:, None] + keys @ W_h.T) @ v
    powers = torch.exp(scores - scores.max(1, keepdim=True).values)
    return powers / powers.sum(1, keepdim=True)


@wrong("additive_score", "the query of one sentence meets the words of another")
def broadcasts_over_the_batch(query, keys, W_s, W_h, v):
    from_query = nn.functional.linear(query, W_s)
    from_keys = nn.functional.linear(keys, W_h)
    return torch.einsum("bka,a->bk", torch.tanh(from_query + from_keys), v)


@wrong("additive_score", "a matrix is multiplied from its wrong side")
def no_transpose(query, keys, W_s, W_h, v):
    return torch.tanh(torch.matmul(query, W_s).unsqueeze(1) + torch.matmul(keys, W_h)).matmul(v)


@wrong("additive_score", "the two matrices are exchanged")
def keys_by_w_s(query, keys, W_s, W_h, v):
    return torch.tanh(nn.functional.linear(keys, W_s) + nn.functional.linear(query, W_h)[:, None]) @ v


@wrong("additive_score", "it returns nothing")
def forgets_to_return(query, keys, W_s, W_h, v):
    scores = torch.tanh((query @ W_s.T)[:, None] + keys @ W_h.T) @ v  # noqa: F841


@wrong("additive_score", "it changes its argument keys in place")
def overwrites_keys(query, keys, W_s, W_h, v):
    keys += 0.1
    return torch.tanh((query @ W_s.T)[:, None] + keys @ W_h.T) @ v


# ---- attend_to ----


@right("attend_to")
def sentence_by_sentence(scores, states, lengths):
    contexts, weights = [], torch.zeros_like(scores)
    for b, n in enumerate(lengths.tolist()):
        if n > 0:
            weights[b, :n] = torch.softmax(scores[b, :n], dim=0)
        contexts.append(sum((weights[b, i] * states[b, i] for i in range(n)), torch.zeros_like(states[b, 0])))
    return torch.stack(contexts), weights


@right("attend_to")
def attend_in_numpy(scores, states, lengths):
    scores, states, lengths = scores.numpy(), states.numpy(), lengths.numpy()
    words = np.arange(scores.shape[1])[None] < lengths[:, None]
    largest = np.where(words, scores, -np.inf).max(1, initial=-1e30, keepdims=True)
    powers = np.where(words, np.exp(np.where(words, scores - largest, 0)), 0)
    weights = powers / np.maximum(powers.sum(1, keepdims=True), 1e-30)
    return [np.einsum("bk,bkd->bd", weights, states), weights]


@right("attend_to")
def empty_sentences_apart(scores, states, lengths):
    positions = torch.arange(scores.size(1)).unsqueeze(0)
    padding = positions >= lengths.unsqueeze(1)
    penalised = torch.where(padding, torch.tensor(float("-inf"), dtype=scores.dtype), scores)
    weights = torch.softmax(penalised, dim=1)
    weights = torch.where(padding, torch.zeros_like(weights), weights)
    return torch.bmm(weights.unsqueeze(1), states).squeeze(1), weights


def open_(scores, lengths):
    return torch.tensor([[i < n for i in range(scores.shape[1])] for n in lengths.tolist()])


def mix(weights, states):
    return torch.einsum("bk,bkd->bd", weights, states)


def stable(scores, dim):
    powers = torch.exp(scores - scores.amax(dim, keepdim=True))
    return powers / powers.sum(dim, keepdim=True)


@wrong("attend_to", "only the context is returned")
def context_alone(scores, states, lengths):
    return sentence_by_sentence(scores, states, lengths)[0]


@wrong("attend_to", "context and weights are exchanged")
def weights_first(scores, states, lengths):
    context, weights = attend_in_numpy(scores, states, lengths)
    return weights, context


@wrong("attend_to", "the softmax runs over the sentences")
def first_axis(scores, states, lengths):
    logits = torch.where(open_(scores, lengths), scores, torch.full_like(scores, -math.inf))
    weights = torch.nan_to_num(nn.Softmax(dim=0)(logits))
    return mix(weights, states), weights


@wrong("attend_to", "the softmax runs over the sentences")
def first_axis_and_then_the_mask(scores, states, lengths):
    weights = torch.where(open_(scores, lengths), stable(scores, 0), torch.zeros_like(scores))
    return mix(weights, states), weights


@wrong("attend_to", "padding is not masked")
def no_mask(scores, states, lengths):
    weights = stable(scores, 1)
    return mix(weights, states), weights


@wrong("attend_to", "the padding gets 0 after the softmax")
def zeroes_weights(scores, states, lengths):
    weights = nn.functional.softmax(scores, dim=1).clone()
    for b, n in enumerate(lengths):
        weights[b, n:] = 0
    return mix(weights, states), weights


@wrong("attend_to", "the padding gets the score 0")
def zeroes_scores(scores, states, lengths):
    kept = scores.clone()
    for b, n in enumerate(lengths):
        kept[b, n:] = 0
    weights = stable(kept, 1)
    return mix(weights, states), weights


@wrong("attend_to", "the mask is the wrong way round")
def true_means_padding(scores, states, lengths):
    mask = open_(scores, lengths)
    weights = torch.nan_to_num(scores.masked_fill(mask, float("-inf")).softmax(dim=1))
    return mix(weights, states), weights


@wrong("attend_to", "one place too many is open")
def less_or_equal(scores, states, lengths):
    mask = torch.arange(scores.shape[1])[None, :] <= lengths[:, None]
    weights = scores.masked_fill(~mask, float("-inf")).softmax(dim=1)
    return mix(weights, states), weights


@wrong("attend_to", "one place too few is open")
def slices_one_short(scores, states, lengths):
    weights = torch.zeros_like(scores)
    for b, n in enumerate(lengths.tolist()):
        if n > 1:
            weights[b, : n - 1] = scores[b, : n - 1].softmax(0)
    return mix(weights, states), weights


@wrong("attend_to", "the weights of each sentence meet the states of every sentence")
def plain_matrix_product(scores, states, lengths):
    weights = empty_sentences_apart(scores, states, lengths)[1]
    return torch.matmul(weights, states), weights


@wrong("attend_to", "the weighted states are not summed")
def keeps_the_words(scores, states, lengths):
    weights = attend_in_numpy(scores, states, lengths)[1]
    return weights[..., None] * states.numpy(), weights


@wrong("attend_to", "the sum runs over the numbers of a state")
def sums_the_last_axis(scores, states, lengths):
    weights = sentence_by_sentence(scores, states, lengths)[1]
    return torch.sum(states * weights.unsqueeze(2), dim=2), weights


@wrong("attend_to", "the context is divided by the number of words")
def mean_over_words(scores, states, lengths):
    contexts, weights = sentence_by_sentence(scores, states, lengths)
    return contexts / lengths.unsqueeze(-1), weights


@wrong("attend_to", "the largest score of the whole batch is subtracted")
def one_largest_for_all(scores, states, lengths):
    inside = open_(scores, lengths)
    words = scores.masked_fill(~inside, -torch.inf)
    powers = (words - (words.max() if inside.any() else 0.0)).exp()
    weights = torch.nan_to_num(powers / powers.sum(-1, keepdim=True))
    return mix(weights, states), weights


@wrong("attend_to", "the padding is taken out too late")
def largest_with_padding(scores, states, lengths):
    powers = (scores - scores.amax(-1, keepdim=True)).exp() * open_(scores, lengths)
    weights = (powers / powers.sum(-1, keepdim=True)).nan_to_num(0.0)
    return mix(weights, states), weights


@wrong("every_step", "in result 1 of 2, the result holds NaN in 3 of 6 places")
def one_largest_a_sentence(scores, states, mask):
    words = scores.masked_fill(~mask[:, None], -torch.inf)
    powers = (words - words.amax((1, 2), keepdim=True)).exp()
    weights = powers / powers.sum(-1, keepdim=True)
    return weights @ states, weights


@wrong("attend_to", "the penalty is finite, and large scores pass it")
def a_billion(scores, states, lengths):
    weights = scores.masked_fill(~open_(scores, lengths), -1e9).softmax(-1) * (lengths > 0)[:, None]
    return mix(weights, states), weights


def error_rate_where(counts, *links):
    up = down = 0
    for A, S, P in zip(*links, strict=True):
        if counts(A, S, P):
            up, down = up + len(A & S) + len(A & P), down + len(A) + len(S)
    return 1 - up / down if down else 1.0


@wrong("alignment_error", "the numbers are not right")
def skips_what_proposes_nothing(proposed, sure, possible):
    return error_rate_where(lambda A, S, P: A, proposed, sure, possible)


@wrong("alignment_error", "the numbers are not right")
def skips_what_has_no_gold(proposed, sure, possible):
    return error_rate_where(lambda A, S, P: P, proposed, sure, possible)


@wrong("alignment_error", "only the links that were proposed are judged")
def precision_with_a_guard(proposed, sure, possible):
    hits = sum(len(A & P) for A, P in zip(proposed, possible, strict=True))
    return 1 - hits / max(1, sum(map(len, proposed)))


@wrong("attend_to", "the context is divided by the number of places")
def averages_twice(scores, states, lengths):
    weights = sentence_by_sentence(scores, states, lengths)[1]
    return torch.mean(states * weights.unsqueeze(2), dim=1), weights


@wrong("attend_to", "a sentence of no words gives NaN")
def plain_infinity(scores, states, lengths):
    weights = stable(torch.where(open_(scores, lengths), scores, -math.inf), 1)
    return mix(weights, states), weights


@wrong("attend_to", "a sentence of no words gives equal weights")
def minus_a_billion(scores, states, lengths):
    weights = stable(torch.where(open_(scores, lengths), scores, -1e9), 1)
    return mix(weights, states), weights


@wrong("attend_to", "a sentence of no words gives equal weights")
def least_number(scores, states, lengths):
    weights = stable(torch.where(open_(scores, lengths), scores, torch.finfo(scores.dtype).min), 1)
    return mix(weights, states), weights


@wrong("attend_to", "the penalty is finite, and large scores pass it")
def minus_ten_thousand(scores, states, lengths):
    weights = stable(torch.where(open_(scores, lengths), scores, -1e4), 1)
    return mix(weights, states), weights


@wrong("attend_to", "the penalty is finite, and large scores pass it")
def takes_off_ten_thousand(scores, states, lengths):
    weights = stable(scores - 1e4 * open_(scores, lengths).logical_not().to(scores.dtype), 1)
    return mix(weights, states), weights


@wrong("attend_to", "the penalty is finite, and large scores pass it")
def minus_a_thousand_and_nothing_for_the_empty(scores, states, lengths):
    weights = stable(torch.where(open_(scores, lengths), scores, -1e3), 1)
    weights = torch.where(lengths[:, None] > 0, weights, 0.0)
    return mix(weights, states), weights


@wrong("attend_to", "large scores overflow")
def bare_exponential(scores, states, lengths):
    weights = torch.zeros_like(scores)
    for b, n in enumerate(lengths.tolist()):
        if n:
            powers = torch.exp(scores[b, :n])
            weights[b, :n] = torch.nan_to_num(powers / torch.sum(powers))
    return mix(weights, states), weights


@wrong("attend_to", "large scores overflow")
def bare_exponential_and_nothing_for_the_empty(scores, states, lengths):
    powers = torch.where(open_(scores, lengths), torch.exp(scores), 0.0)
    weights = powers / torch.sum(powers, dim=1, keepdim=True)
    return mix(weights, states), weights


@wrong("attend_to", "the padding is taken out too late")
def normalises_again(scores, states, lengths):
    weights = stable(scores, 1) * open_(scores, lengths)
    total = weights.sum(1, keepdim=True)
    weights = torch.where(total > 0, weights / total, 0.0)
    return mix(weights, states), weights


@wrong("attend_to", "the padding is taken out too late")
def normalises_again_without_care(scores, states, lengths):
    weights = torch.where(open_(scores, lengths), stable(scores, 1), 0.0)
    weights = weights / weights.sum(1)[:, None]
    return mix(weights, states), weights


@wrong("attend_to", "it changes its argument scores in place")
def masks_the_callers_scores(scores, states, lengths):
    scores[~open_(scores, lengths)] = -torch.inf
    weights = scores.softmax(1).nan_to_num(0.0)
    return mix(weights, states), weights


# ---- every_step ----


@right("every_step")
def one_step_after_another(scores, states, mask):
    contexts, weights = [], []
    for t in range(scores.shape[1]):
        of_step = torch.where(mask, scores[:, t], torch.full_like(scores[:, t], -math.inf)).softmax(1)
        weights.append(of_step)
        contexts.append(torch.einsum("bk,bkd->bd", of_step, states))
    return torch.stack(contexts, dim=1), torch.stack(weights, dim=1)


@right("every_step")
def steps_in_numpy(scores, states, mask):
    scores = np.where(mask.numpy()[:, None, :], scores.numpy(), -np.inf)
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    weights = powers / powers.sum(-1, keepdims=True)
    return np.einsum("btk,bkd->btd", weights, states.numpy()), weights


@right("every_step")
def adds_the_penalty(scores, states, mask):
    penalty = torch.zeros(mask.shape, dtype=scores.dtype).masked_fill(mask.logical_not(), float("-inf"))
    weights = nn.Softmax(dim=2)(scores + penalty.unsqueeze(1))
    return weights.bmm(states), weights


def steps(weights, states):
    return torch.einsum("btk,bkd->btd", weights, states), weights


@wrong("every_step", "that is the code as it was given")
def as_given(scores, states, mask):
    weights = torch.softmax(scores, dim=1)
    weights = weights * mask[:, :, None]
    return weights @ states, weights


@wrong("every_step", "only the contexts are returned")
def contexts_alone(scores, states, mask):
    return one_step_after_another(scores, states, mask)[0]


@wrong("every_step", "the softmax runs over the steps")
def mends_the_mask_alone(scores, states, mask):
    weights = nn.Softmax(dim=1)(scores.masked_fill(mask.logical_not().unsqueeze(1), float("-inf")))
    return steps(weights, states)


@wrong("every_step", "the softmax runs over the steps")
def mends_the_masks_axis_alone(scores, states, mask):
    return steps(torch.einsum("btk,bk->btk", stable(scores, 1), mask.to(scores.dtype)), states)


@wrong("every_step", "the softmax runs over the sentences")
def steps_first_axis(scores, states, mask):
    weights = nn.functional.softmax(torch.where(mask[:, None, :], scores, -math.inf), dim=0)
    return steps(weights, states)


@wrong("every_step", "the softmax runs over the sentences")
def steps_first_axis_and_then_the_mask(scores, states, mask):
    return steps(torch.where(mask.unsqueeze(1), stable(scores, 0), 0.0), states)


@wrong("every_step", "the mask closes steps, not words")
def mends_the_softmax_alone(scores, states, mask):
    return steps(stable(scores, -1) * mask.unsqueeze(-1), states)


@wrong("every_step", "the mask closes steps, not words")
def closes_rows(scores, states, mask):
    weights = torch.softmax(torch.where(mask.unsqueeze(-1), scores, -math.inf), dim=-1)
    return steps(weights, states)


@wrong("every_step", "the mask closes steps, not words")
def closes_rows_a_little(scores, states, mask):
    weights = torch.softmax(torch.where(mask.unsqueeze(-1), scores, -1e9), dim=-1)
    return steps(weights, states)


@wrong("every_step", "the mask comes after the softmax")
def zeroes_afterwards(scores, states, mask):
    weights = stable(scores, 2).clone()
    for b in range(len(mask)):
        weights[b, :, ~mask[b]] = 0
    return steps(weights, states)


@wrong("every_step", "the mask is not used")
def mends_the_axis_and_drops_the_mask(scores, states, mask):
    return steps(stable(scores, 2), states)


@wrong("every_step", "closed scores become 0")
def times_the_mask(scores, states, mask):
    return steps(stable(scores * mask[:, None].to(scores.dtype), 2), states)


@wrong("every_step", "the penalty is finite, and large scores pass it")
def steps_minus_ten_thousand(scores, states, mask):
    return steps(stable(torch.where(mask[:, None], scores, -1e4), 2), states)


# ---- alignment_error ----


@right("alignment_error")
def link_by_link(proposed, sure, possible):
    hits = links = 0
    for A, S, P in zip(proposed, sure, possible, strict=True):
        for link in A:
            hits += (link in S) + (link in P)
        links += len(A) + len(S)
    return 1 - hits / links


@right("alignment_error")
def numbered_and_united(proposed, sure, possible):
    A, S, P = ({(n, *link) for n, links in enumerate(given) for link in links} for given in (proposed, sure, possible))
    return torch.tensor((len(A) + len(S) - len(A & S) - len(A & P)) / (len(A) + len(S)))


def united(given):
    return {(n, *link) for n, links in enumerate(given) for link in links}


@wrong("alignment_error", "that is the share of hits, not of errors")
def forgets_one_minus(proposed, sure, possible):
    A, S, P = map(united, (proposed, sure, possible))
    return (len(A & S) + len(A & P)) / (len(A) + len(S))


@wrong("alignment_error", "each sentence counts alike, whatever its length")
def averages_sentences(proposed, sure, possible):
    return np.mean([link_by_link([A], [S], [P]) for A, S, P in zip(proposed, sure, possible, strict=True)])


@wrong("alignment_error", "links of different sentences are thrown together")
def one_big_set(proposed, sure, possible):
    A, S, P = ({link for links in given for link in links} for given in (proposed, sure, possible))
    return (len(A) + len(S) - len(A & S) - len(A & P)) / (len(A) + len(S))


@wrong("alignment_error", "a sure link counts once, not twice")
def only_possible_ones_apart(proposed, sure, possible):
    A, S, P = map(united, (proposed, sure, possible))
    return 1 - (len(A & S) + len(A & (P - S))) / (len(A) + len(S))


@wrong("alignment_error", "possible links earn nothing")
def one_minus_f_score(proposed, sure, possible):
    A, S = united(proposed), united(sure)
    return 1 - 2 * len(A & S) / (len(A) + len(S))


@wrong("alignment_error", "the possible links are in the divisor")
def all_gold_links_below(proposed, sure, possible):
    A, S, P = map(united, (proposed, sure, possible))
    return 1 - (len(A & S) + len(A & P)) / (len(A) + len(P))


@wrong("alignment_error", "only what is found of the sure links counts")
def one_minus_recall(proposed, sure, possible):
    S = united(sure)
    return len(S - united(proposed)) / len(S)


@wrong("alignment_error", "nothing proposed raises an error")
def one_minus_precision(proposed, sure, possible):
    A, P = united(proposed), united(possible)
    return 1 - len(A & P) / len(A)


@wrong("alignment_error", "only the links that were proposed are judged")
def share_of_bad_links(proposed, sure, possible):
    A, P = united(proposed), united(possible)
    return len(A - P) / max(len(A), 1)


# ---- hiding_cost ----

wrong_value("hiding_cost", 0.01, "that word would hardly be missed")
wrong_value("hiding_cost", 1.0, "that may be a share, but not this cost")
wrong_value("hiding_cost", -3.14, "the sign is the wrong way round")
wrong_value("hiding_cost", 22.0, "that is a factor, not nats")
right_value("hiding_cost", 3.14)
right_value("hiding_cost", 3)


# ---- what learners wrote who saw neither solution nor bank ----


@wrong("additive_score", "the numbers are right, but in the shape (1, 1, 1) in place of (1, 1)")
def as_in_the_lesson(query, keys, W_s, W_h, v):  # there: one sentence, every query with every key
    return torch.tanh((query @ W_s.T)[:, None] + (keys @ W_h.T)[None]) @ v


@wrong("additive_score", "the query is not used")
def query_forgotten(query, keys, W_s, W_h, v):
    return torch.tanh(keys @ W_h.T) @ v


@wrong("additive_score", "the states are not used")
def keys_forgotten(query, keys, W_s, W_h, v):
    return (torch.tanh(query @ W_s.T) @ v)[:, None].expand(-1, keys.shape[1])


@wrong("additive_score", "it calls course_lib.attention.AdditiveScore, which is not to be used")
def with_the_librarys_score(query, keys, W_s, W_h, v):
    score = attention.AdditiveScore(query.shape[1], keys.shape[2], len(v)).to(query.dtype)
    score.query_projection.weight.data, score.key_projection.weight.data = W_s, W_h
    score.key_projection.bias.data.zero_()
    score.energy.weight.data = v[None]
    return score(query, score.project_keys(keys)).detach()


@wrong("attend_to", "in result 1 of 2, the numbers are right, but in the shape (1, 1, 1) in place of (1, 1)")
def context_keeps_its_axis(scores, states, lengths):
    weights = stable(torch.where(open_(scores, lengths), scores, -torch.inf), 1).nan_to_num(0)
    return weights[:, None] @ states, weights


@wrong("attend_to", "in result 2 of 2, the numbers are right, but in the shape (1, 2, 1) in place of (1, 2)")
def weights_keep_their_axis(scores, states, lengths):
    weights = scores.masked_fill(~open_(scores, lengths), -torch.inf).softmax(1).nan_to_num(0)[..., None]
    return (weights * states).sum(1), weights


@wrong("attend_to", "it calls course_lib.masks.masked_softmax, which is not to be used")
def with_the_librarys_softmax(scores, states, lengths):
    weights = masks.masked_softmax(scores, open_(scores, lengths))
    return mix(weights, states), weights


@wrong("every_step", "large scores overflow")
def exponentials_over_their_sum(scores, states, mask):
    powers = scores.exp() * mask[:, None]
    weights = powers / powers.sum(-1, keepdim=True)
    return weights @ states, weights


@wrong("every_step", "the results stand in each other's places")
def weights_come_first(scores, states, mask):
    weights = scores.masked_fill(~mask[:, None], -torch.inf).softmax(-1)
    return weights, weights @ states


@wrong("every_step", "the mask is the wrong way round")
def open_is_closed(scores, states, mask):
    weights = scores.masked_fill(mask[:, None], -torch.inf).softmax(-1)
    return weights @ states, weights


@wrong("alignment_error", "a pair of brackets is missing")
def a_bracket_is_missing(proposed, sure, possible):
    both = [(len(A & S), len(A & P), len(A) + len(S)) for A, S, P in zip(proposed, sure, possible, strict=True)]
    hit_sure, hit_possible, all_links = map(sum, zip(*both, strict=True))
    return 1 - hit_sure + hit_possible / all_links


@wrong("alignment_error", "sentences without sure links are left out")
def skips_sentences_without_sure_links(proposed, sure, possible):
    hits = links = 0
    for A, S, P in zip(proposed, sure, possible, strict=True):
        if not S:
            continue
        hits += len(A & S) + len(A & P)
        links += len(A) + len(S)
    return 1 - hits / links


@wrong("alignment_error", "it changes its argument proposed in place")
def empties_the_callers_sets(proposed, sure, possible):
    hits, links = 0, sum(map(len, proposed)) + sum(map(len, sure))
    for A, S, P in zip(proposed, sure, possible, strict=True):
        while A:
            link = A.pop()
            hits += (link in S) + (link in P)
    return 1 - hits / links


@wrong("alignment_error", "it changes its argument proposed in place")
def intersects_in_place(proposed, sure, possible):
    links = sum(map(len, proposed)) + sum(map(len, sure))
    hits = sum(len(A & S) for A, S in zip(proposed, sure, strict=True))
    for A, P in zip(proposed, possible, strict=True):
        A &= P
        hits += len(A)
    return 1 - hits / links


@wrong("alignment_error", "it changes its argument sure in place")
def empties_the_callers_list(proposed, sure, possible):
    hits, links = 0, sum(map(len, proposed)) + sum(map(len, sure))
    for A, P in zip(proposed, possible, strict=True):
        hits += len(A & sure.pop(0)) + len(A & P)
    return 1 - hits / links
