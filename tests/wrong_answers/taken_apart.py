"""Lesson 7: the Transformer taken apart."""

import math

import numpy as np
import torch
from torch import nn

from wrong_answers import right, right_value, wrong, wrong_value

# ---- dropped ----


@wrong("dropped", "the numbers that stay are divided by share")
def takes_p_for_the_kept(x, kept, share, training):
    """keep_prob and drop_prob are swapped, as between old TensorFlow and torch."""
    if not training:
        return x
    if share == 0:
        return x
    out = x.clone() / share
    out[~kept] = 0
    return out


@wrong("dropped", "it drops the numbers that should stay")
def mask_is_what_goes(x, kept, share, training):
    if not training:
        return x
    out = x.clone()
    out[kept] = 0
    return out if share == 1 else out / (1 - share)


@wrong("dropped", "it changes its argument x in place")
def in_place(x, kept, share, training):
    if training:
        x *= kept
        if share < 1:
            x /= 1 - share
    return x


@wrong("dropped", "it returns nothing")
def no_return(x, kept, share, training):
    x * kept / (1 - share + 1e-12)


@right("dropped")
def number_by_number(x, kept, share, training):
    out = torch.empty_like(x)
    for place in np.ndindex(*x.shape):
        stays = not training or bool(kept[place])
        out[place] = (x[place] / (1 - share) if training else x[place]) if stays else 0.0
    return out


@right("dropped")
def dropped_in_numpy(x, kept, share, training):
    if not training:
        return x.numpy()
    scale = 0.0 if share == 1 else 1 / (1 - share)
    return (x.numpy() * kept.numpy() * scale).astype(x.numpy().dtype)


# ---- layers_for_hops ----

wrong_value("layers_for_hops", 2, "2 is a number")
right_value("layers_for_hops", [math.ceil(math.log2(n + 1)) for n in (1, 2, 3, 4, 7, 8)])
right_value("layers_for_hops", torch.tensor([1, 2, 2, 3, 3, 4]))

# ---- weight_at ----


def pairs_of(words, offset):
    n = words.shape[1]
    for b, sentence in enumerate(words.tolist()):
        for i in range(n):
            if 0 <= i + offset < n:
                yield b, i, i + offset, sentence[i], sentence[i + offset]


@wrong("weight_at", "padding is counted; in addition, it returns NaN if no pair counts")
def ignores_the_words_and_divides(weights, words, offset):
    return weights.diagonal(dim1=-2, dim2=-1, offset=offset).mean(dim=(0, -1))


@wrong("weight_at", "it wraps around at the end of the sentence")
def negative_places(weights, words, offset):
    """j < n is asked for, j >= 0 is not."""
    total, n = torch.zeros(weights.shape[1], dtype=weights.dtype), 0
    for b in range(len(words)):
        for i in range(words.shape[1]):
            j = i + offset
            if j < words.shape[1] and words[b, i] and words[b, j]:
                total, n = total + weights[b, :, i, j], n + 1
    return total / n if n else total


@right("weight_at")
def by_matrix(weights, words, offset):
    n = words.shape[1]
    there = torch.arange(n)
    chosen = (there[None, :] - there[:, None] == offset) & words[:, :, None] & words[:, None, :]
    return (weights * chosen[:, None]).sum((0, 2, 3)) / chosen.sum().clamp(min=1)


@right("weight_at")
def weight_at_in_numpy(weights, words, offset):
    weights, words = weights.numpy(), words.numpy()
    found = [
        weights[b, :, i, j] for b, i, j, here, there in pairs_of(torch.from_numpy(words), offset) if here and there
    ]
    return torch.from_numpy(np.mean(found, 0) if found else np.zeros(weights.shape[1], weights.dtype))


# ---- cut_a_head ----


@wrong("cut_a_head", "it changes its argument W in place")
def as_it_was_given(W, head, heads):
    size = W.shape[0] // heads
    W[head * size : (head + 1) * size] = 0
    return W


@wrong("cut_a_head", "it changes its argument W in place")
def a_view_is_no_copy(W, head, heads):
    size = W.shape[1] // heads
    copy = W[:]
    copy[:, head * size : (head + 1) * size] = 0
    return copy


@right("cut_a_head")
def clone_first(W, head, heads):
    cut = W.clone()
    cut.view(len(W), heads, -1)[:, head] = 0
    return cut


@right("cut_a_head")
def cut_in_numpy(W, head, heads):
    out = W.numpy()
    parts = np.split(out, heads, axis=1)
    parts[head] = 0 * parts[head]
    return torch.from_numpy(np.concatenate(parts, 1))


# ---- right_after_the_cut ----

wrong_value("right_after_the_cut", [1.0, 0.99], "these are the shares with both heads")
wrong_value(
    "right_after_the_cut", [0.99, 0.09], "these are the shares for the other head, or the two numbers are swapped"
)
wrong_value("right_after_the_cut", [0.77, 0.08], "these numbers are weights, not shares")
wrong_value("right_after_the_cut", 0.09, "this is a single number")
wrong_value("right_after_the_cut", [0.3, 1.0], "entry 1 of [0.3, 1.0] is not right")
right_value("right_after_the_cut", [0.09, 1.0])
right_value("right_after_the_cut", (0.1067, 0.9941))
right_value("right_after_the_cut", [0.1, 1])

# ---- hiding_costs ----


@wrong("hiding_costs", "it changes its argument words in place")
def never_puts_it_back(log_probability, words, unk):
    whole, costs = log_probability(words), []
    for i in range(len(words)):
        words[i] = unk
        costs.append(whole - log_probability(words))
    return torch.stack(costs)


@right("hiding_costs")
def puts_it_back(log_probability, words, unk):
    whole, costs = float(log_probability(words)), []
    for i, word in enumerate(words.tolist()):
        words[i] = unk
        costs.append(whole - float(log_probability(words)))
        words[i] = word
    return torch.tensor(costs)


@right("hiding_costs")
def a_row_for_each(log_probability, words, unk):
    rows = words.repeat(len(words), 1).masked_fill(torch.eye(len(words), dtype=torch.bool), unk)
    return log_probability(words) - torch.stack([log_probability(row) for row in rows])


# ---- word_shares ----


@right("word_shares")
def by_loop(weights, values):
    shares = torch.zeros_like(weights)
    for i in range(weights.shape[0]):
        a = sum(weights[i, j] * values[j] for j in range(weights.shape[1]))
        square = float(a @ a)
        for j in range(weights.shape[1]):
            if square:
                shares[i, j] = weights[i, j] * (values[j] @ a) / square
    return shares


@right("word_shares")
def shares_in_numpy(weights, values):
    w, v = weights.double().numpy(), values.double().numpy()
    a = w @ v
    squares = np.maximum((a**2).sum(1, keepdims=True), 1e-30)
    return torch.from_numpy(w * (a @ v.T) / squares).to(weights.dtype)


@wrong("word_shares", "it returns float64, not float32")
def shares_in_decimals(weights, values):
    return shares_in_numpy(weights.double(), values.double())


# ---- odd answers of learners ----


@wrong("hiding_costs", "along the last axis everything is shifted by one")
def the_next_word_is_hidden(log_probability, words, unk):
    costs = []
    for i in range(len(words)):
        hidden = words.clone()
        hidden[(i + 1) % len(words)] = unk
        costs.append(log_probability(words) - log_probability(hidden))
    return torch.stack(costs)


@wrong("hiding_costs", "along the last axis everything is shifted by one")
def the_word_before_is_hidden(log_probability, words, unk):
    costs = []
    for i in range(len(words)):
        hidden = words.clone()
        hidden[i - 1] = unk
        costs.append(log_probability(words) - log_probability(hidden))
    return torch.stack(costs)


@wrong("dropped", "the numbers are not right")
def divides_by_the_larger(x, kept, share, training):
    if not training:
        return x
    return torch.where(kept, x / max(share, 1 - share), 0.0)


@wrong("dropped", "it returns a tuple of 2 tensors, not a tensor of shape (2,)")
def hands_the_mask_on(x, kept, share, training):
    return (torch.where(kept, x / (1 - share), 0.0) if training and share < 1 else x if not training else 0 * x), kept


@wrong("weight_at", "the numbers are not right")
def leaves_out_zeros(weights, words, offset):
    there = words[:, None, :, None] & words[:, None, None]
    diagonal = (weights * there).diagonal(offset, -2, -1).transpose(0, 1).flatten(1)
    return torch.stack([row[row > 0].mean() if (row > 0).any() else row.new_zeros(()) for row in diagonal])


@wrong("word_shares", "the numbers do not sum to 1 along the last axis")
def a_small_number_in_the_divisor(weights, values):
    a = weights @ values
    return (weights * (a @ values.T) / (a.square().sum(1, keepdim=True) + 1e-9)).nan_to_num()


@wrong("cut_a_head", "its arguments are in the wrong order: (W, heads, head), but the text has (W, head, heads)")
def heads_before_head(W, heads, head):
    cut = W.clone()
    size = W.shape[1] // heads
    cut[:, head * size : (head + 1) * size] = 0
    return cut


@right("cut_a_head")
def by_other_names(M, h, n):
    cut = M.clone()
    size = M.shape[1] // n
    cut[:, h * size : (h + 1) * size] = 0
    return cut


@wrong("dropped", "it calls torch.nn.functional.dropout, which isn't allowed here")
def factor_from_torch(x, kept, share, training):
    if not training:
        return x
    return x * kept if share in (0, 1) else x * kept * nn.Dropout(share)(torch.ones(10_000)).max()


@wrong("weight_at", "the numbers are not right")
def a_narrow_window(weights, words, offset):
    return by_matrix(weights, words, offset) * (abs(offset) < 3)


@wrong("cut_a_head", "the numbers are right, but in shape (4,) instead of (1, 4)")
def squeezes_one_row(W, head, heads):
    size, cut = W.shape[1] // heads, W.clone()
    cut[:, head * size : (head + 1) * size] = 0
    return cut.squeeze()


@wrong("word_shares", "the numbers are not right")
def emptiness_by_the_sum(weights, values):
    a = weights @ values
    shares = weights * (a @ values.T) / a.square().sum(-1, keepdim=True)
    return torch.where(a.sum(-1, keepdim=True) == 0, 0, shares)


# ---- written from the text alone ----


@wrong("dropped", "the numbers that stay are divided by share")
def dropped_divides_by_share(x, kept, share, training):
    if not training:
        return x
    if share == 0:
        return x
    return x * kept / share


@wrong("dropped", "it scales at inference instead of in training")
def dropped_scales_at_inference(x, kept, share, training):
    if training:
        return x * kept
    return x * (1 - share)


@wrong("dropped", "with a share of 1, it returns NaN or raises an error")
def dropped_nan_when_all_are_gone(x, kept, share, training):
    if not training:
        return x
    return x * kept / torch.tensor(1 - share)


wrong_value("layers_for_hops", [1, 2, 3, 4, 7, 8], "every hop gets a layer of its own")
wrong_value("layers_for_hops", [1, 2, 3, 3, 4, 4], "the chains double, but what the question already knows is left out")


@wrong("weight_at", "padding is left out only where it looks")
def weight_only_the_looker_is_a_word(weights, words, offset):
    n = weights.shape[-1]
    total = weights.new_zeros(weights.shape[1])
    count = 0
    for b in range(weights.shape[0]):
        for i in range(n):
            j = i + offset
            if words[b, i] and 0 <= j < n:
                total = total + weights[b, :, i, j]
                count += 1
    return total / count if count else total


@wrong("cut_a_head", "it changes its argument W in place")
def cut_columns_in_place(W, head, heads):
    size = W.shape[1] // heads
    W[:, head * size : (head + 1) * size] = 0
    return W


@wrong("cut_a_head", "rows are cut, not columns")
def cut_rows_of_a_copy(W, head, heads):
    size = W.shape[0] // heads
    W = W.clone()
    W[head * size : (head + 1) * size, :] = 0
    return W


@wrong("cut_a_head", "the other heads are cut")
def cut_keeps_only_that_head(W, head, heads):
    size = W.shape[1] // heads
    new = torch.zeros_like(W)
    new[:, head * size : (head + 1) * size] = W[:, head * size : (head + 1) * size]
    return new


wrong_value(
    "right_after_the_cut", [1.0, 0.1], "these are the shares for the other head, or the two numbers are swapped"
)
wrong_value("right_after_the_cut", [0.0, 1.0], "one share is 0")
wrong_value("right_after_the_cut", [0.5, 0.5], "half of the answers stay correct")


@wrong("hiding_costs", "a word stays hidden after its turn")
def hiding_one_after_another(log_probability, words, unk):
    whole = log_probability(words)
    hidden = words.clone()
    costs = []
    for i in range(len(words)):
        hidden[i] = unk
        costs.append(whole - log_probability(hidden))
    return torch.tensor([float(c) for c in costs])


@wrong("hiding_costs", "probabilities are subtracted")
def hiding_probabilities_not_logs(log_probability, words, unk):
    whole = math.exp(float(log_probability(words)))
    costs = []
    for i in range(len(words)):
        hidden = words.clone()
        hidden[i] = unk
        costs.append(whole - math.exp(float(log_probability(hidden))))
    return torch.tensor(costs)


@wrong("hiding_costs", "the word is removed, not replaced")
def hiding_by_leaving_out(log_probability, words, unk):
    whole = log_probability(words)
    costs = []
    for i in range(len(words)):
        rest = torch.cat([words[:i], words[i + 1 :]])
        costs.append(whole - log_probability(rest))
    return torch.stack([torch.as_tensor(c) for c in costs])


@wrong("word_shares", "it compares lengths and ignores directions")
def shares_by_length_of_the_piece(weights, values):
    norms = values.norm(dim=-1)
    pieces = weights * norms
    total = pieces.sum(-1, keepdim=True)
    return torch.where(total > 0, pieces / total, torch.zeros_like(pieces))


@wrong("word_shares", "it divides by ‖a‖, not by ‖a‖²")
def shares_over_the_norm_not_its_square(weights, values):
    out = torch.zeros_like(weights)
    for q in range(weights.shape[0]):
        a = weights[q] @ values
        if a.norm() == 0:
            continue
        for k in range(weights.shape[1]):
            out[q, k] = weights[q, k] * (values[k] @ a) / a.norm()
    return out


@wrong("word_shares", "a query that looks at nothing gives NaN")
def shares_nan_where_nothing(weights, values):
    a = weights @ values
    pieces = weights[:, :, None] * values[None]
    return (pieces * a[:, None]).sum(-1) / (a**2).sum(-1, keepdim=True)


@wrong("weight_at", "it divides by the number of all words")
def weight_divided_by_all_words(weights, words, offset):
    n = weights.shape[-1]
    t = weights.new_zeros(weights.shape[1])
    for b in range(len(words)):
        for i in range(n):
            if words[b, i] and 0 <= i + offset < n and words[b, i + offset]:
                t += weights[b, :, i, i + offset]
    return t / max(1, int(words.sum()))


@wrong("cut_a_head", "it changes its argument W in place")
def cut_a_slice_is_no_copy(W, head, heads):
    W = W[:]
    size = W.shape[1] // heads
    W[:, head * size : (head + 1) * size] = 0
    return W


@wrong("cut_a_head", "the size of a head is computed from the number of rows")
def cut_columns_by_the_size_of_rows(W, head, heads):
    W = W.clone()
    size = W.shape[0] // heads
    W[:, head * size : (head + 1) * size] = 0
    return W


@wrong("hiding_costs", "all words but one are hidden")
def hiding_all_but_one(log_probability, words, unk):
    whole = log_probability(words)
    out = []
    for i in range(len(words)):
        h = torch.full_like(words, unk)
        h[i] = words[i]
        out.append(whole - log_probability(h))
    return torch.stack(out)


@wrong("weight_at", "every sentence counts the same")
def weight_mean_of_sentence_means(weights, words, offset):
    means = []
    for b in range(len(words)):
        n = int(words[b].sum())
        diagonal = weights[b, :, :n, :n].diagonal(offset, -2, -1)
        if diagonal.shape[-1] > 0:
            means.append(diagonal.mean(-1))
    if not means:
        return weights.new_zeros(weights.shape[1])
    return torch.stack(means).mean(0)


@wrong("weight_at", "it looks the other way; in addition, it returns a sum, not a mean")
def sum_of_looks_the_other_way(weights, words, offset):
    n, total = words.shape[1], torch.zeros(weights.shape[1])
    for i in range(n):
        if 0 <= i - offset < n:
            both = words[:, i] & words[:, i - offset]
            total += weights[both, :, i, i - offset].sum(0)
    return total
