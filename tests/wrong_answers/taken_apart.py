"""Lesson 7: the Transformer taken apart."""

import math

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from wrong_answers import right, right_value, wrong, wrong_value

# ---- dropped ----


@wrong("dropped", "nothing makes up for what is dropped")
def only_zeroes(x, kept, share, training):
    if not training:
        return x
    return x.masked_fill(~kept, 0)


@wrong("dropped", "it is multiplied by 1 − share, not divided")
def makes_smaller(x, kept, share, training):
    if training:
        x = torch.where(kept, x, torch.zeros_like(x)) * (1.0 - share)
    return x


@wrong("dropped", "it is divided by share")
def takes_p_for_the_kept(x, kept, share, training):
    """keep_prob and drop_prob are swapped, as between old TensorFlow and torch."""
    if not training:
        return x
    if share == 0:
        return x
    out = x.clone() / share
    out[~kept] = 0
    return out


@wrong("dropped", "it is divided by share")
def takes_p_for_the_kept_and_divides_by_zero(x, kept, share, training):
    return kept * x / torch.tensor(share) if training else x


@wrong("dropped", "it drops what should stay")
def mask_is_what_goes(x, kept, share, training):
    if not training:
        return x
    out = x.clone()
    out[kept] = 0
    return out if share == 1 else out / (1 - share)


@wrong("dropped", "it drops at inference too")
def forgets_the_mode(x, kept, share, training):
    return torch.zeros_like(x) if share >= 1 else x * kept / (1 - share)


@wrong("dropped", "it scales at inference instead of in training")
def as_in_2014(x, kept, share, training):
    if training:
        return x * kept.float().to(x.dtype)
    return (1 - share) * x


@wrong("dropped", "it divides at inference instead of in training")
def inverts_at_test_time(x, kept, share, training):
    if training:
        return torch.where(kept, x, 0)
    return x / (1 - share)


@wrong("dropped", "it scales both in training and at inference")
def does_both(x, kept, share, training):
    if not training:
        return x * (1 - share)
    out = torch.zeros_like(x)
    out[kept] = x[kept] / (1 - share) if share < 1 else 0
    return out


@wrong("dropped", "it scales both in training and at inference")
def divides_always(x, kept, share, training):
    if training and share == 1:
        return torch.zeros_like(x)
    return (torch.where(kept, x, 0) if training else x) / (1 - share)


@wrong("dropped", "it divides by the share that stayed by chance")
def counts_what_stayed(x, kept, share, training):
    if not training:
        return x
    return x * kept * (kept.numel() / kept.sum())


@wrong("dropped", "a share of 1 gives NaN or an error")
def raises_at_one(x, kept, share, training):
    if training:
        scale = 1 / (1 - share)
        return x * kept * scale
    return x


@wrong("dropped", "a share of 1 gives NaN or an error")
def nan_at_one(x, kept, share, training):
    return x * kept / torch.tensor(1 - share) if training else x


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

wrong_value("layers_for_hops", [1, 2, 3, 4, 7, 8], "one layer for each hop")
wrong_value("layers_for_hops", (1, 2, 3, 4, 7, 8), "one layer for each hop")
wrong_value(
    "layers_for_hops",
    [1, *(math.ceil(math.log2(n)) + 1 for n in (2, 3, 4, 7, 8))],
    "the chains double, but what the question has read already is left out",
)
wrong_value("layers_for_hops", [math.ceil(math.log2(n)) for n in (1, 2, 3, 4, 7, 8)], "the last reading is not counted")
wrong_value("layers_for_hops", [(n + 1) // 2 for n in (1, 2, 3, 4, 7, 8)], "two hops for every layer")
wrong_value("layers_for_hops", torch.ones(6, dtype=torch.long), "one layer for everything")
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


@wrong("weight_at", "it looks the other way")
def columns_for_rows(weights, words, offset):
    return by_matrix(weights.transpose(-1, -2), words, offset)


@wrong("weight_at", "padding is counted")
def ignores_the_words(weights, words, offset):
    """As in many notebooks: pattern.diagonal(-1).mean()."""
    n = words.shape[1]
    if abs(offset) >= n:
        return torch.zeros(weights.shape[1])
    return weights.diagonal(dim1=-2, dim2=-1, offset=offset).mean(dim=(0, -1))


@wrong("weight_at", "padding is counted")
def ignores_the_words_and_divides(weights, words, offset):
    return weights.diagonal(dim1=-2, dim2=-1, offset=offset).mean(dim=(0, -1))


@wrong("weight_at", "only padded words that are looked at are left out")
def masks_the_columns(weights, words, offset):
    found = [weights[b, :, i, j] for b, i, j, _, there in pairs_of(words, offset) if there]
    return torch.stack(found).mean(0) if found else weights.new_zeros(weights.shape[1])


@wrong("weight_at", "only padded words that look are left out")
def masks_the_rows(weights, words, offset):
    found = [weights[b, :, i, j] for b, i, j, here, _ in pairs_of(words, offset) if here]
    return torch.stack(found).mean(0) if found else weights.new_zeros(weights.shape[1])


@wrong("weight_at", "it goes round past the end of the sentence")
def negative_places(weights, words, offset):
    """j < n is asked for, j >= 0 is not."""
    total, n = torch.zeros(weights.shape[1], dtype=weights.dtype), 0
    for b in range(len(words)):
        for i in range(words.shape[1]):
            j = i + offset
            if j < words.shape[1] and words[b, i] and words[b, j]:
                total, n = total + weights[b, :, i, j], n + 1
    return total / n if n else total


@wrong("weight_at", "it goes round past the end of the sentence")
def rolls(weights, words, offset):
    n = words.shape[1]
    here = torch.arange(n)
    partner = torch.roll(words, -offset, 1) & words
    looks = weights[:, :, here, (here + offset) % n]
    return (looks * partner[:, None]).sum((0, 2)) / partner.sum().clamp(min=1)


@wrong("weight_at", "it divides by the number of all words")
def divides_by_all(weights, words, offset):
    total = weights.new_zeros(weights.shape[1])
    for b, i, j, here, there in pairs_of(words, offset):
        if here and there:
            total = total + weights[b, :, i, j]
    return total / max(1, words.sum().item())


@wrong("weight_at", "every sentence counts the same")
def mean_of_means(weights, words, offset):
    return a_row_each(weights, words, offset).mean(dim=0)


@wrong("weight_at", "it gives a number for each sentence")
def a_row_each(weights, words, offset):
    rows = []
    for b in range(len(words)):
        rows.append(by_matrix(weights[b : b + 1], words[b : b + 1], offset))
    return torch.stack(rows)


@wrong("weight_at", "the heads are averaged too")
def one_number(weights, words, offset):
    found = [weights[b, :, i, j].mean() for b, i, j, here, there in pairs_of(words, offset) if here and there]
    return sum(found) / len(found) if found else torch.tensor(0.0)


@wrong("weight_at", "it is a sum, not a mean")
def sums(weights, words, offset):
    both = (words[:, None, :, None] & words[:, None, None, :]) * weights
    return both.diagonal(offset, 2, 3).sum((0, -1))


@wrong("weight_at", "with no such word it gives NaN")
def zero_by_zero(weights, words, offset):
    allowed = (words[:, :, None] & words[:, None, :]).diagonal(offset, 1, 2)
    return torch.einsum("bhm,bm->h", weights.diagonal(offset, 2, 3), allowed.to(weights.dtype)) / allowed.sum()


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
    return np.mean(found, 0) if found else np.zeros(weights.shape[1], weights.dtype)


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


@wrong("cut_a_head", "rows are cut, not columns")
def half_mended(W, head, heads):
    W = W.clone()
    size = W.shape[0] // heads
    W[head * size : (head + 1) * size] = 0
    return W


@wrong("cut_a_head", "rows are cut, not columns")
def cuts_the_output(W, head, heads):
    """Reshapes what W^O has made already into heads, as an ablation hook on the wrong module does."""
    W = W.clone()
    size = W.shape[1] // heads
    W[size * head : size * head + size, :] *= 0
    return W


@wrong("cut_a_head", "the size of a head is taken from the rows")
def takes_w_for_square(W, head, heads):
    cut = W.clone()
    size = len(W) // heads
    cut[:, size * head : size * (head + 1)] = 0
    return cut


@wrong("cut_a_head", "a number of every head is cut")
def one_in_each(W, head, heads):
    cut = W.clone()
    cut[:, head::heads] = 0
    return cut


@wrong("cut_a_head", "the other heads are cut")
def leaves_it_alone(W, head, heads):
    size = W.shape[1] // heads
    cut = torch.zeros_like(W)
    part = slice(head * size, (head + 1) * size)
    cut[:, part] = W[:, part]
    return cut


@wrong("cut_a_head", "heads are counted from 1")
def one_too_early(W, head, heads):
    size = W.shape[1] // heads
    return torch.stack([0 * W[:, c] if (head - 1) * size <= c < head * size else W[:, c] for c in range(W.shape[1])], 1)


@wrong("cut_a_head", "the columns are taken out, not set to 0")
def prunes(W, head, heads):
    size = W.shape[1] // heads
    stay = [c for c in range(W.shape[1]) if c // size != head]
    return W[:, stay]


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
    return np.concatenate(parts, 1)


# ---- right_after_the_cut ----

wrong_value("right_after_the_cut", [1.0, 0.99], "that is the model with both heads")
wrong_value("right_after_the_cut", [0.99, 0.09], "that is the other head, or the two numbers are swapped")
wrong_value("right_after_the_cut", [0.1, 0.1], "both fall to guessing")
wrong_value("right_after_the_cut", (0.5, 0.5), "half of it is left")
wrong_value("right_after_the_cut", [0.5, 1], "half of it is left")
wrong_value("right_after_the_cut", [0.77, 0.08], "that is the weight of the heads")
wrong_value("right_after_the_cut", [0, 1], "nothing is left of one")
wrong_value("right_after_the_cut", 0.09, "that is one number")
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


@wrong("hiding_costs", "words stay hidden once they were")
def copies_once(log_probability, words, unk):
    hidden, costs = words.clone(), torch.zeros(len(words))
    for i in range(len(words)):
        hidden[i] = unk
        costs[i] = log_probability(words) - log_probability(hidden)
    return costs


@wrong("hiding_costs", "each word is hidden on top of those before it")
def moves_the_start(log_probability, words, unk):
    costs, before = [], log_probability(words)
    hidden = words.clone()
    for i in range(len(words)):
        hidden[i] = unk
        now = log_probability(hidden)
        costs.append((before - now).item())
        before = now
    return costs


@wrong("hiding_costs", "the sign is turned")
def change_for_cost(log_probability, words, unk):
    changes = []
    for i in range(len(words)):
        hidden = [unk if j == i else int(word) for j, word in enumerate(words)]
        changes.append(log_probability(torch.tensor(hidden)) - log_probability(words))
    return torch.stack(changes)


@wrong("hiding_costs", "the word is taken out, not replaced")
def deletes(log_probability, words, unk):
    kept = [words[torch.arange(len(words)) != i] for i in range(len(words))]
    return torch.tensor([float(log_probability(words) - log_probability(rest)) for rest in kept])


@wrong("hiding_costs", "every word of that kind is hidden")
def by_its_number(log_probability, words, unk):
    costs = []
    for word in words:
        hidden = words.clone()
        hidden[hidden == word] = unk
        costs.append(log_probability(words) - log_probability(hidden))
    return torch.stack(costs)


@wrong("hiding_costs", "the word's number is taken for its place")
def loops_over_words(log_probability, words, unk):
    costs = []
    for i in words:
        hidden = words.clone()
        hidden[i] = unk
        costs.append(log_probability(words) - log_probability(hidden))
    return torch.stack(costs)


@wrong("hiding_costs", "all words but one are hidden")
def shows_one(log_probability, words, unk):
    costs = []
    for i in range(len(words)):
        hidden = torch.full_like(words, unk)
        hidden[i] = words[i]
        costs.append(log_probability(words) - log_probability(hidden))
    return torch.stack(costs)


def hidden_at(words, i, unk):
    hidden = words.clone()
    hidden[i] = unk
    return hidden


@wrong("hiding_costs", "probabilities are subtracted")
def no_logarithm(log_probability, words, unk):
    n = range(len(words))
    return torch.stack([log_probability(words).exp() - log_probability(hidden_at(words, i, unk)).exp() for i in n])


@wrong("hiding_costs", "log-probabilities are divided")
def relative(log_probability, words, unk):
    n = range(len(words))
    return torch.stack([log_probability(words) / log_probability(hidden_at(words, i, unk)) for i in n])


@wrong("hiding_costs", "it gives what is left, not what is lost")
def no_comparison(log_probability, words, unk):
    return torch.tensor([log_probability(hidden_at(words, i, unk)).item() for i in range(len(words))])


@wrong("hiding_costs", "it hides with number 0, not with unk")
def zeroes(log_probability, words, unk):
    n = range(len(words))
    return torch.stack([log_probability(words) - log_probability(hidden_at(words, i, 0)) for i in n])


@right("hiding_costs")
def puts_it_back(log_probability, words, unk):
    whole, costs = float(log_probability(words)), []
    for i, word in enumerate(words.tolist()):
        words[i] = unk
        costs.append(whole - float(log_probability(words)))
        words[i] = word
    return costs


@right("hiding_costs")
def a_row_for_each(log_probability, words, unk):
    rows = words.repeat(len(words), 1).masked_fill(torch.eye(len(words), dtype=torch.bool), unk)
    return log_probability(words) - torch.stack([log_probability(row) for row in rows])


# ---- word_shares ----


@wrong("word_shares", "these are the weights")
def map_is_contribution(weights, values):
    return weights / weights.sum(1, keepdim=True).clamp(min=1e-9)


@wrong("word_shares", "it is divided by ‖a‖, not by ‖a‖²")
def projects(weights, values):
    a = weights @ values
    unit = F.normalize(a, dim=-1)
    return torch.einsum("qk,kd,qd->qk", weights, values, unit)


@wrong("word_shares", "it is not divided by anything")
def leaves_the_dots(weights, values):
    return weights * torch.einsum("qd,kd->qk", weights @ values, values)


@wrong("word_shares", "the weight of the word is left out")
def forgets_alpha(weights, values):
    rows = []
    for row in weights:
        a = row @ values
        square = (a**2).sum()
        rows.append(torch.stack([v @ a / square if square > 0 else 0 * square for v in values]))
    return torch.stack(rows)


@wrong("word_shares", "the weight of the word is left out")
def forgets_alpha_and_normalises(weights, values):
    dots = (weights @ values) @ values.T
    total = dots.sum(1, keepdim=True)
    return torch.where(total == 0, 0.0, dots / total)


@wrong("word_shares", "all queries share one ‖a‖")
def norm_of_the_matrix(weights, values):
    a = weights @ values
    return weights * (a @ values.T) / torch.linalg.norm(a) ** 2


@wrong("word_shares", "it compares lengths and forgets directions")
def norms(weights, values):
    """The norm-based measure of Kobayashi et al. 2020, made to sum to one."""
    pieces = (weights[:, :, None] * values).pow(2).sum(-1).sqrt()
    total = pieces.sum(1, keepdim=True)
    return torch.where(total > 0, pieces / total, 0.0)


@wrong("word_shares", "negative shares are made positive")
def absolute(weights, values):
    return by_loop(weights, values).abs()


@wrong("word_shares", "negative shares are made positive")
def absolute_and_normalised(weights, values):
    shares = by_loop(weights, values).abs()
    return shares / shares.sum(1, keepdim=True).clamp(min=1e-12)


@wrong("word_shares", "these are cosines")
def alike(weights, values):
    a = weights @ values
    return F.cosine_similarity(a[:, None], values[None], dim=-1)


@wrong("word_shares", "a softmax runs over them")
def one_softmax_more(weights, values):
    return torch.softmax(by_loop(weights, values), dim=1)


@wrong("word_shares", "a query that looks at nothing gives NaN")
def divides_by_nothing(weights, values):
    output = torch.einsum("qk,kd->qd", weights, values)
    return torch.einsum("qk,kd,qd->qk", weights, values, output) / (output * output).sum(1)[:, None]


@wrong("word_shares", "rows and columns are swapped")
def words_down(weights, values):
    return by_loop(weights, values).T


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
    return w * (a @ v.T) / squares


# ---- what learners wrote who saw neither solution nor bank ----


@wrong("dropped", "a share of 1 leaves nothing at inference either")
def nothing_is_left_at_share_one(x, kept, share, training):
    if share == 1:
        return torch.zeros_like(x)
    return x * kept / (1 - share) if training else x


@wrong("dropped", "it drops what should stay")
def mask_turned_round(x, kept, share, training):
    return torch.where(kept, 0.0, x / (1 - share)) if training else x


@wrong("hiding_costs", "along the last axis everything stands one place off")
def the_next_word_is_hidden(log_probability, words, unk):
    costs = []
    for i in range(len(words)):
        hidden = words.clone()
        hidden[(i + 1) % len(words)] = unk
        costs.append(log_probability(words) - log_probability(hidden))
    return torch.stack(costs)


@wrong("hiding_costs", "along the last axis everything stands one place off")
def the_word_before_is_hidden(log_probability, words, unk):
    costs = []
    for i in range(len(words)):
        hidden = words.clone()
        hidden[i - 1] = unk
        costs.append(log_probability(words) - log_probability(hidden))
    return torch.stack(costs)


# ---- what readers of their own gave ----


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


@wrong("cut_a_head", "its arguments stand in another order: (W, heads, head), and the text has (W, head, heads)")
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


@wrong("dropped", "it calls torch.nn.functional.dropout, which is not to be used")
def factor_from_torch(x, kept, share, training):
    if not training:
        return x
    return x * kept if share in (0, 1) else x * kept * nn.Dropout(share)(torch.ones(10_000)).max()


@wrong("weight_at", "the numbers are not right")
def a_narrow_window(weights, words, offset):
    return by_matrix(weights, words, offset) * (abs(offset) < 3)


@wrong("cut_a_head", "the numbers are right, but in the shape (4,) in place of (1, 4)")
def squeezes_one_row(W, head, heads):
    size, cut = W.shape[1] // heads, W.clone()
    cut[:, head * size : (head + 1) * size] = 0
    return cut.squeeze()


@wrong("word_shares", "the numbers are not right")
def emptiness_by_the_sum(weights, values):
    a = weights @ values
    shares = weights * (a @ values.T) / a.square().sum(-1, keepdim=True)
    return torch.where(a.sum(-1, keepdim=True) == 0, 0, shares)
