"""Lesson 2: Bahdanau attention."""

import math

import numpy as np
import torch
from torch import nn

from course_lib import attention, masks
from wrong_answers import right, right_value, wrong, wrong_value

# ---- first_weights, padded_weights ----

right_value("first_weights", [0.69, 0.23, 0.08])
right_value("first_weights", torch.tensor([1.5, 0.4, -0.7]).softmax(0))

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


@wrong("every_step", "in result 1 of 2, the result holds NaN in 3 of 6 places")
def one_largest_a_sentence(scores, states, mask):
    words = scores.masked_fill(~mask[:, None], -torch.inf)
    powers = (words - words.amax((1, 2), keepdim=True)).exp()
    weights = powers / powers.sum(-1, keepdim=True)
    return weights @ states, weights


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


@wrong("alignment_error", "each sentence counts equally, whatever its length")
def averages_sentences(proposed, sure, possible):
    return np.mean([link_by_link([A], [S], [P]) for A, S, P in zip(proposed, sure, possible, strict=True)])


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


# ---- hiding_cost ----

right_value("hiding_cost", 3.14)
right_value("hiding_cost", 3)


# ---- what learners wrote who saw neither solution nor bank ----


@wrong("additive_score", "the numbers are right, but in shape (1, 1, 1) instead of (1, 1)")
def as_in_the_lesson(query, keys, W_s, W_h, v):  # there: one sentence, every query with every key
    return torch.tanh((query @ W_s.T)[:, None] + (keys @ W_h.T)[None]) @ v


@wrong("additive_score", "the query is not used")
def query_forgotten(query, keys, W_s, W_h, v):
    return torch.tanh(keys @ W_h.T) @ v


@wrong("additive_score", "the states are not used")
def keys_forgotten(query, keys, W_s, W_h, v):
    return (torch.tanh(query @ W_s.T) @ v)[:, None].expand(-1, keys.shape[1])


@wrong("additive_score", "it calls course_lib.attention.AdditiveScore, which isn't allowed here")
def with_the_librarys_score(query, keys, W_s, W_h, v):
    score = attention.AdditiveScore(query.shape[1], keys.shape[2], len(v)).to(query.dtype)
    score.query_projection.weight.data, score.key_projection.weight.data = W_s, W_h
    score.key_projection.bias.data.zero_()
    score.energy.weight.data = v[None]
    return score(query, score.project_keys(keys)).detach()


@wrong("attend_to", "in result 1 of 2, the numbers are right, but in shape (1, 1, 1) instead of (1, 1)")
def context_keeps_its_axis(scores, states, lengths):
    weights = stable(torch.where(open_(scores, lengths), scores, -torch.inf), 1).nan_to_num(0)
    return weights[:, None] @ states, weights


@wrong("attend_to", "in result 2 of 2, the numbers are right, but in shape (1, 2, 1) instead of (1, 2)")
def weights_keep_their_axis(scores, states, lengths):
    weights = scores.masked_fill(~open_(scores, lengths), -torch.inf).softmax(1).nan_to_num(0)[..., None]
    return (weights * states).sum(1), weights


@wrong("attend_to", "it calls course_lib.masks.masked_softmax, which isn't allowed here")
def with_the_librarys_softmax(scores, states, lengths):
    weights = masks.masked_softmax(scores, open_(scores, lengths))
    return mix(weights, states), weights


@wrong("every_step", "the exponentials overflow or round to 0")
def exponentials_over_their_sum(scores, states, mask):
    powers = scores.exp() * mask[:, None]
    weights = powers / powers.sum(-1, keepdim=True)
    return weights @ states, weights


@wrong("every_step", "the results are in the wrong order")
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


# ---- written from the text alone ----

wrong_value("first_weights", [1.25, 0.33, -0.58], "the scores are divided by their sum")
wrong_value("first_weights", [4.48, 1.49, 0.5], "the exponentials are not divided by their sum")


@wrong("additive_score", "the tanh is taken before the sum")
def score_of_a_sum_of_tanhs(query, keys, W_s, W_h, v):
    a = torch.tanh(query @ W_s.T)
    b = torch.tanh(keys @ W_h.T)
    return (a[:, None] + b) @ v


@wrong("additive_score", "a softmax is applied to the scores")
def score_already_softmaxed(query, keys, W_s, W_h, v):
    hidden = torch.tanh((query @ W_s.T).unsqueeze(1) + keys @ W_h.T)
    return torch.softmax(torch.einsum("bka,a->bk", hidden, v), dim=-1)


wrong_value("padded_weights", [0.69, 0.23, 0.0], "the padding has already taken its share")
wrong_value("padded_weights", [0.69, 0.23, 0.08], "the padding is not left out")
wrong_value("padded_weights", [0.64, 0.21, 0.14], "the padding's score is set to 0")


@wrong("attend_to", "the padding gets the score 0")
def attend_scores_times_mask(scores, states, lengths):
    mask = torch.arange(scores.shape[1])[None] < lengths[:, None]
    weights = torch.softmax(scores * mask, dim=1)
    return torch.einsum("bk,bkd->bd", weights, states), weights


@wrong("attend_to", "one position too many is open")
def attend_one_word_too_many(scores, states, lengths):
    weights = torch.zeros_like(scores)
    for b in range(len(scores)):
        n = int(lengths[b]) + 1
        weights[b, :n] = torch.softmax(scores[b, :n], 0)
    context = (weights.unsqueeze(-1) * states).sum(1)
    return context, weights


@wrong("attend_to", "large scores overflow")
def attend_list_by_list_plain_exp(scores, states, lengths):
    weights = scores.exp()
    for b, n in enumerate(lengths.tolist()):
        weights[b, n:] = 0
        weights[b] = weights[b] / (weights[b].sum() + 1e-9)
    return torch.einsum("bk,bkd->bd", weights, states), weights


@wrong("every_step", "the mask comes after the softmax")
def steps_only_axis_fixed(scores, states, mask):
    weights = torch.softmax(scores, dim=-1)
    weights = weights * mask[:, None, :]
    return weights @ states, weights


@wrong("every_step", "in result 1 of 2, the result holds NaN everywhere")
def steps_renormalised_after(scores, states, mask):
    weights = torch.softmax(scores, dim=-1) * mask.unsqueeze(1)
    weights = weights / weights.sum(-1, keepdim=True)
    return weights @ states, weights


@wrong("every_step", "the results are in the wrong order")
def steps_weights_first(scores, states, mask):
    weights = scores.masked_fill(~mask[:, None, :], float("-inf")).softmax(-1)
    return weights, torch.bmm(weights, states)


@wrong("alignment_error", "each sentence counts equally, whatever its length")
def aer_mean_of_sentences(proposed, sure, possible):
    rates = []
    for a, s, p in zip(proposed, sure, possible, strict=True):
        if len(a) + len(s) == 0:
            continue
        rates.append(1 - (len(a & s) + len(a & p)) / (len(a) + len(s)))
    return sum(rates) / len(rates)


@wrong("alignment_error", "links of different sentences are mixed up")
def aer_unites_the_sentences(proposed, sure, possible):
    A, S, P = set().union(*proposed), set().union(*sure), set().union(*possible)
    return 1 - (len(A & S) + len(A & P)) / (len(A) + len(S))


@wrong("alignment_error", "the possible links are in the divisor")
def aer_divides_by_possible(proposed, sure, possible):
    top = bottom = 0
    for a, s, p in zip(proposed, sure, possible, strict=True):
        top += len(a & s) + len(a & p)
        bottom += len(a) + len(p)
    return 1 - top / bottom


wrong_value("hiding_cost", 0.1, "that is the cost of hiding another word")
wrong_value("hiding_cost", 0.05, "that is the cost of hiding another word")
wrong_value("hiding_cost", -3.1, "the sign is wrong")


@wrong("attend_to", "a sentence without words gets equal weights")
def attend_minus_a_billion_and_no_words(scores, states, lengths):
    words = torch.arange(scores.shape[1]) < lengths[:, None]
    w = torch.where(words, scores, torch.full_like(scores, -1000000000.0)).softmax(-1)
    return ((w[:, :, None] * states).sum(1), w)


@wrong("every_step", "the penalty is finite, and some scores reach it")
def steps_minus_a_billion(scores, states, mask):
    w = scores.masked_fill(~mask.unsqueeze(1), -1000000000.0).softmax(-1)
    return (w @ states, w)


@wrong("additive_score", "the first sentence's query is used for all sentences")
def score_first_query_for_all(query, keys, W_s, W_h, v):
    batch, n, _ = keys.shape
    scores = torch.zeros(batch, n, dtype=keys.dtype)
    for b in range(batch):
        for i in range(n):
            scores[b, i] = v @ torch.tanh(W_s @ query[0] + W_h @ keys[b, i])
    return scores


@wrong("every_step", "the first sentence's mask is used for all sentences")
def steps_with_the_first_mask(scores, states, mask):
    w = scores.masked_fill(~mask[0], -torch.inf).softmax(-1)
    return w @ states, w


wrong_value("first_weights", [0.58, 0.15, 0.27], "the scores are divided by their sum, without their signs")


@wrong("attend_to", "large scores overflow")
def attend_plain_exp_where_words_are(scores, states, lengths):
    words = torch.arange(scores.shape[1]) < lengths[:, None]
    powers = torch.exp(scores) * words
    weights = torch.where(words, powers / powers.sum(1, keepdim=True), 0.0)
    return torch.einsum("bk,bkd->bd", weights, states), weights
