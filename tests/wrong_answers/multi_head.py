"""Lesson 4: multi-head attention."""

import math

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from wrong_answers import right, right_value, wrong, wrong_value

# ---- split_heads ----


@wrong("split_heads", "the split mixes up the words")
def straight_view(x, heads):
    batch, n, d_model = x.shape
    d_head = d_model // heads
    return x.view(batch, heads, n, d_head)


@wrong("split_heads", "it returns a list of 2 tensors, not a tensor of shape (1, 2, 2, 2)")
def list_of_pieces(x, heads):
    return list(torch.chunk(x, heads, dim=-1))


@wrong("split_heads", "it returns nothing")
def forgets_to_return(x, heads):
    x.unflatten(-1, (heads, -1)).transpose(1, 2)


@right("split_heads")
def numbers_one_by_one(x, heads):
    batch, n, width = x.shape
    size = width // heads
    pieces = torch.empty(batch, heads, n, size, dtype=x.dtype)
    for b in range(batch):
        for h in range(heads):
            for i in range(n):
                for d in range(size):
                    pieces[b, h, i, d] = x[b, i, h * size + d]
    return pieces


@right("split_heads")
def split_in_numpy(x, heads):
    array = x.numpy()
    return array.reshape(*array.shape[:2], heads, array.shape[2] // heads).swapaxes(1, 2)


@right("split_heads")
def view_and_permute(x, heads):
    return x.view(x.size(0), x.size(1), heads, -1).permute(0, 2, 1, 3).contiguous()


# ---- head_shapes ----

Q, A, M = (2, 4, 10, 16), (2, 4, 10, 10), (2, 10, 64)
right_value("head_shapes", [Q, A, M])
right_value("head_shapes", [torch.Size(Q), list(A), M])
wrong_value("head_shapes", [(2, 4, 10, 64), A, (2, 10, 256)], "queries: each head gets all 64 numbers")
wrong_value("head_shapes", [Q, A, (2, 640)], "entry 3 of [(2, 4, 10, 16), (2, 4, 10, 10), (2, 640)] is not right")
wrong_value("head_shapes", [Q, A], "[(2, 4, 10, 16), (2, 4, 10, 10)] has 2 of 3 entries")
wrong_value("head_shapes", 64, "64 is a number")


# ---- merge_heads ----


def what_view_says(x):
    try:
        return x.transpose(1, 2).view(2, 4)
    except RuntimeError as error:
        return str(error).rstrip(".")


@wrong("merge_heads", f"it raises RuntimeError: {what_view_says(torch.zeros(2, 2, 2))}")
def view_of_a_transposed(x):
    batch, heads, n, d_head = x.shape
    return x.transpose(1, 2).view(batch, n, heads * d_head)


@right("merge_heads")
def pieces_cat(x):
    return torch.cat([x[:, head] for head in range(x.shape[1])], dim=2)


@right("merge_heads")
def contiguous_view(x):
    return x.transpose(1, 2).contiguous().view(x.size(0), x.size(2), -1)


@right("merge_heads")
def filled_in(x):
    batch, heads, n, size = x.shape
    merged = np.zeros((batch, n, heads * size), dtype=x.numpy().dtype)
    for head in range(heads):
        merged[:, :, head * size : (head + 1) * size] = x[:, head].numpy()
    return torch.from_numpy(merged)


@wrong("merge_heads", "it returns a NumPy array of shape (1, 2, 2), not a tensor")
def merged_and_left_in_numpy(x):
    return filled_in(x).numpy()


# ---- multi_head_attention ----


def looped(x, W_q, W_k, W_v, W_o, heads, mask):
    """Sentence by sentence, head by head, word by word."""

    def shares(scores, allowed):
        if not allowed.any():
            return torch.zeros_like(scores)
        powers = torch.exp(scores - scores[allowed].max())
        powers = torch.where(allowed, powers, torch.zeros_like(powers))
        return powers / powers.sum()

    n, size = x.shape[1], x.shape[2] // heads
    outputs, all_maps = [], []
    for b, sentence in enumerate(x):
        Q, K, V = sentence @ W_q, sentence @ W_k, sentence @ W_v
        pieces, maps = [], []
        for h in range(heads):
            cut = slice(h * size, h * size + size)
            scores = Q[:, cut] @ K[:, cut].T / math.sqrt(size)
            allowed = mask[b % mask.shape[0], h % mask.shape[1]].expand(n, n)
            maps.append(torch.stack([shares(row, open_) for row, open_ in zip(scores, allowed, strict=True)]))
            pieces.append(maps[-1] @ V[:, cut])
        all_maps.append(torch.stack(maps))
        outputs.append(torch.cat(pieces, -1) @ W_o)
    return torch.stack(outputs), torch.stack(all_maps)


MHA = "multi_head_attention"


@wrong(MHA, "the softmax runs over the queries")
def softmax_2(x, W_q, W_k, W_v, W_o, heads, mask):
    q, k, v = ((x @ W).unflatten(-1, (heads, -1)).transpose(1, 2) for W in (W_q, W_k, W_v))
    scores = torch.where(mask, q @ k.mT / math.sqrt(q.shape[-1]), -math.inf)
    weights = scores.softmax(dim=2)  # and NaN where a column is closed
    return (weights @ v).transpose(1, 2).flatten(2) @ W_o, weights


@wrong(MHA, "it returns a tensor of shape (1, 2, 2), not 2 things")
def output_alone(x, W_q, W_k, W_v, W_o, heads, mask):
    return looped(x, W_q, W_k, W_v, W_o, heads, mask)[0]


def what_t_says(q, k):
    try:
        return q @ k.permute(3, 2, 1, 0)
    except RuntimeError as error:
        return str(error).rstrip(".")


@wrong(MHA, f"it raises RuntimeError: {what_t_says(torch.zeros(1, 2, 2, 1), torch.zeros(1, 2, 2, 1))}")
def turns_all_axes_round(x, W_q, W_k, W_v, W_o, heads, mask):
    q, k, v = ((x @ W).unflatten(-1, (heads, -1)).transpose(1, 2) for W in (W_q, W_k, W_v))
    weights = (q @ k.permute(3, 2, 1, 0) / math.sqrt(q.shape[-1])).masked_fill(~mask, -math.inf).softmax(-1)
    return (weights @ v).transpose(1, 2).flatten(2) @ W_o, weights


@wrong(MHA, "it changes its argument x in place")
def scales_x_itself(x, W_q, W_k, W_v, W_o, heads, mask):
    x /= 2
    return looped(x, W_q, W_k, W_v, W_o, heads, mask)


right(MHA)(looped)


@right(MHA)
def in_einsum(x, W_q, W_k, W_v, W_o, heads, mask):
    cut = [W.unflatten(1, (heads, -1)) for W in (W_q, W_k, W_v)]
    scores = torch.einsum("bid,dhe,bjf,fhe->bhij", x, cut[0], x, cut[1]) / math.sqrt(cut[0].shape[-1])
    weights = torch.softmax(scores.masked_fill(~mask, -math.inf), -1).masked_fill(~mask, 0)
    return torch.einsum("bhij,bjd,dhe,heo->bio", weights, x, cut[2], W_o.unflatten(0, (heads, -1))), weights


@right(MHA)
def numpy_heads(x, W_q, W_k, W_v, W_o, heads, mask):
    x, W_q, W_k, W_v, W_o, mask = (t.numpy() for t in (x, W_q, W_k, W_v, W_o, mask))
    batch, n, width = x.shape
    q, k, v = ((x @ W).reshape(batch, n, heads, -1).transpose(0, 2, 1, 3) for W in (W_q, W_k, W_v))
    scores = np.where(mask, q @ k.swapaxes(2, 3) / np.sqrt(width // heads), -np.inf)
    top = scores.max(-1, keepdims=True)
    powers = np.exp(scores - np.where(np.isinf(top), 0, top))
    total = powers.sum(-1, keepdims=True)
    weights = powers / np.where(total == 0, 1, total)
    return (weights @ v).transpose(0, 2, 1, 3).reshape(batch, n, width) @ W_o, weights


@right(MHA)
def torchs_two(x, W_q, W_k, W_v, W_o, heads, mask):
    batch, n, width = x.shape
    q, k, v = ((x @ W).view(batch, n, heads, -1).permute(0, 2, 1, 3) for W in (W_q, W_k, W_v))
    found = F.scaled_dot_product_attention(q, k, v, attn_mask=mask).nan_to_num()
    module = nn.MultiheadAttention(width, heads, bias=False, batch_first=True, dtype=x.dtype)
    module.in_proj_weight.data = torch.cat([W_q.T, W_k.T, W_v.T])
    closed = ~mask.expand(batch, heads, n, n).flatten(0, 1)
    _, weights = module(x, x, x, attn_mask=closed, average_attn_weights=False)
    return found.transpose(1, 2).reshape(batch, n, width) @ W_o, weights.nan_to_num()


# ---- cost_of_heads ----

right_value("cost_of_heads", [1_048_576, 80_000])
right_value("cost_of_heads", (4 * 512 * 512, 8 * 100 * 100))
wrong_value("cost_of_heads", [6_553_600, 80_000], "parameters: each head is counted with matrices of full width")
wrong_value("cost_of_heads", 1_048_576, "1048576 is a number")
wrong_value("cost_of_heads", [1_048_576, 81_000], "entry 2 of [1048576, 81000] is not right")


# ---- leave_out_head ----


def joined_of(found):
    return found.transpose(1, 2).flatten(2)


def weighed_heads(found, W_o, weights):
    """The output in which head h counts weights[h] times."""
    rows = W_o.reshape(found.shape[1], found.shape[3], -1)
    return torch.einsum("bhnd,hdo,h->bno", found, rows, torch.tensor(weights, dtype=found.dtype))


@wrong("leave_out_head", "it is right at first, but wrong for other numbers of the same shapes")
def keeps_its_copy(found, W_o, gone, kept=[]):  # noqa: B006
    if not kept or kept[0].shape != found.shape:
        kept[:] = [found.clone()]
    kept[0][:, gone] = 0
    return kept[0].transpose(1, 2).flatten(2) @ W_o


@wrong("leave_out_head", "it changes its argument found in place")
def zeroes_what_it_was_given(found, W_o, gone):
    found[:, gone] = 0
    return joined_of(found) @ W_o


@wrong("leave_out_head", "it changes its argument W_o in place")
def zeroes_the_matrix_it_was_given(found, W_o, gone):
    size = found.shape[-1]
    W_o[gone * size : (gone + 1) * size] = 0
    return joined_of(found) @ W_o


@right("leave_out_head")
def rows_of_zero(found, W_o, gone):
    matrix = W_o.clone().unflatten(0, (found.shape[1], -1))
    matrix[gone] = 0
    return joined_of(found) @ matrix.flatten(0, 1)


@right("leave_out_head")
def takes_its_part_away(found, W_o, gone):
    size = found.shape[-1]
    return joined_of(found) @ W_o - found[:, gone] @ W_o[gone * size : gone * size + size]


@right("leave_out_head")
def weighed_in_einsum(found, W_o, gone):
    return weighed_heads(found, W_o, [float(head != gone) for head in range(found.shape[1])])


@right("leave_out_head")
def silent_in_numpy(found, W_o, gone):
    found = found.numpy().copy()
    found[:, gone] = 0
    return torch.from_numpy(found.transpose(0, 2, 1, 3).reshape(found.shape[0], found.shape[2], -1)) @ W_o


# ---- right_without_its_head ----

for value in (0.25, 0.24, 0.21, 0.27):
    right_value("right_without_its_head", value)
wrong_value("right_without_its_head", 0.62, "that is the mean of both neighbours")
wrong_value("right_without_its_head", 0.8, "0.8 is not right")


# ---- what learners wrote who saw neither solution nor bank ----


@wrong("merge_heads", "the batch and the heads are swapped")
def swaps_batch_and_heads(x):
    batch, heads, n, d_head = x.shape
    return x.swapaxes(0, 1).reshape(batch, n, heads * d_head)


@wrong("leave_out_head", "one number of every head is left out")
def last_axis_is_zeroed(found, W_o, gone):
    silent = found.clone()
    silent[..., gone] = 0
    return joined_of(silent) @ W_o


@wrong("leave_out_head", "heads are counted from 1")
def counted_from_one(found, W_o, gone):
    return weighed_heads(found, W_o, [0.0 if head == gone else 1.0 for head in range(1, found.shape[1] + 1)])


@wrong("leave_out_head", "a neighbouring head is left out")
def one_before(found, W_o, gone):
    silent = found.clone()
    silent[:, gone - 1] = 0
    return joined_of(silent) @ W_o


@right("leave_out_head")
def sum_of_the_others(found, W_o, gone):
    d = found.shape[-1]
    return sum(found[:, i] @ W_o[i * d : (i + 1) * d] for i in range(found.shape[1]) if i != gone)


@wrong("multi_head_attention", "the scores are divided by the root of the number of words")
def root_of_the_words(x, W_q, W_k, W_v, W_o, heads, mask):
    Q, K, V = (torch.stack((x @ W).chunk(heads, -1), 1) for W in (W_q, W_k, W_v))
    weights = (Q @ K.mT / x.shape[1] ** 0.5).masked_fill(~mask, -torch.inf).softmax(-1).nan_to_num(0.0)
    return joined_of(weights @ V) @ W_o, weights


@wrong("multi_head_attention", "the scores are divided by the root of the number of words")
def root_of_the_words_and_nan(x, W_q, W_k, W_v, W_o, heads, mask):
    Q, K, V = (torch.stack((x @ W).chunk(heads, -1), 1) for W in (W_q, W_k, W_v))
    weights = (Q @ K.mT / Q.shape[2] ** 0.5).masked_fill(~mask, -torch.inf).softmax(-1)
    return joined_of(weights @ V) @ W_o, weights


@wrong("multi_head_attention", "a word with nothing to look at gives NaN")
def torchs_own_module(x, W_q, W_k, W_v, W_o, heads, mask):
    batch, n, d = x.shape
    layer = nn.MultiheadAttention(d, heads, bias=False, batch_first=True, dtype=x.dtype)
    layer.in_proj_weight.data = torch.cat([W_q.T, W_k.T, W_v.T])
    layer.out_proj.weight.data = W_o.T
    closed = (~mask).expand(batch, heads, n, n).reshape(batch * heads, n, n)
    with torch.no_grad():
        return layer(x, x, x, attn_mask=closed, average_attn_weights=False)


wrong_value("right_without_its_head", 1 / 8, "that would be luck with eight symbols")


# ---- written from the text alone ----


@wrong("split_heads", "the split mixes up the words")
def split_view_straight(x, heads):
    batch, n, d_model = x.shape
    return x.reshape(batch, heads, n, d_model // heads)


@wrong("split_heads", "the head axis comes after the words")
def split_head_axis_last_but_one(x, heads):
    batch, n, d_model = x.shape
    return x.reshape(batch, n, heads, d_model // heads)


@wrong("split_heads", "the heads take turns picking numbers")
def split_every_other_number(x, heads):
    return torch.stack([x[:, :, h::heads] for h in range(heads)], dim=1)


wrong_value("head_shapes", [(2, 4, 10, 64), (2, 4, 10, 10), (2, 10, 64)], "queries: each head gets all 64 numbers")
wrong_value("head_shapes", [(2, 4, 10, 16), (2, 4, 10, 10), (2, 4, 10, 16)], "merged: the heads are still separate")


@wrong("merge_heads", "the pieces are interleaved")
def merge_interleaved(x):
    batch, heads, n, d_head = x.shape
    return x.permute(0, 2, 3, 1).reshape(batch, n, heads * d_head)


@wrong("merge_heads", "the heads are added up")
def merge_sum_of_heads(x):
    return x.sum(dim=1)


def cut(x, heads):
    batch, n, width = x.shape
    return x.reshape(batch, n, heads, width // heads).transpose(1, 2)


def glue(x):
    return x.transpose(1, 2).flatten(2)


@wrong("multi_head_attention", "the scores are divided by √d_model")
def layer_root_of_d_model(x, W_q, W_k, W_v, W_o, heads, mask):
    q, k, v = cut(x @ W_q, heads), cut(x @ W_k, heads), cut(x @ W_v, heads)
    scores = q @ k.transpose(-2, -1) / x.shape[-1] ** 0.5
    weights = scores.masked_fill(~mask, float("-inf")).softmax(-1).nan_to_num()
    return glue(weights @ v) @ W_o, weights


@wrong("multi_head_attention", "W_O is left out")
def layer_without_W_o(x, W_q, W_k, W_v, W_o, heads, mask):
    q, k, v = cut(x @ W_q, heads), cut(x @ W_k, heads), cut(x @ W_v, heads)
    scores = q @ k.mT / q.shape[-1] ** 0.5
    weights = scores.masked_fill(~mask, float("-inf")).softmax(-1).nan_to_num()
    return glue(weights @ v), weights


@wrong("multi_head_attention", "the matrices are transposed")
def layer_like_linear(x, W_q, W_k, W_v, W_o, heads, mask):
    d = x.shape[-1] // heads
    outs, all_weights = [], []
    mask = mask.expand(x.shape[0], heads, x.shape[1], x.shape[1])
    for h in range(heads):
        part = slice(h * d, (h + 1) * d)
        q, k, v = (x @ W_q.T)[..., part], (x @ W_k.T)[..., part], (x @ W_v.T)[..., part]
        s = (q @ k.mT / d**0.5).masked_fill(~mask[:, h], -torch.inf)
        w = torch.nan_to_num(torch.softmax(s, -1))
        outs.append(w @ v)
        all_weights.append(w)
    return torch.cat(outs, -1) @ W_o.T, torch.stack(all_weights, 1)


wrong_value("cost_of_heads", [8 * 4 * 512 * 512, 80000], "parameters: each head is counted with matrices of full width")
wrong_value("cost_of_heads", [1048576, 10000], "weights: only those of one head are counted")
wrong_value("cost_of_heads", [4 * 512 * 64, 80000], "parameters: that is one eighth of them")


@wrong("leave_out_head", "numbers of the output are zeroed, not what the head found")
def leave_out_zeroes_columns_of_W_o(found, W_o, gone):
    d = found.shape[-1]
    W = W_o.clone()
    W[:, gone * d : (gone + 1) * d] = 0
    return glue(found) @ W


@wrong("leave_out_head", "a neighbouring head is left out")
def leave_out_counted_from_one(found, W_o, gone):
    silent = found.clone()
    silent[:, gone - 1] = 0
    return glue(silent) @ W_o


@wrong("leave_out_head", "it changes its argument found in place")
def leave_out_in_the_callers_tensor(found, W_o, gone):
    found[:, gone, :, :] = 0
    return glue(found) @ W_o


wrong_value("right_without_its_head", 0.5, "that would be luck with two symbols")
wrong_value("right_without_its_head", 0.0, "the bar is low, but not 0")
wrong_value("right_without_its_head", 1.0, "that is the other neighbour's bar")


@wrong("leave_out_head", "the heads after it move up")
def leave_out_by_moving_up(found, W_o, gone):
    d = found.shape[-1]
    rest = torch.cat([found[:, :gone], found[:, gone + 1 :]], 1)
    W = W_o[: rest.shape[1] * d]
    return rest.transpose(1, 2).flatten(2) @ W


@wrong("multi_head_attention", "large scores overflow")
def softmax_by_hand(x, W_q, W_k, W_v, W_o, heads, mask):
    query, key, value = (torch.stack((x @ W).chunk(heads, -1), 1) for W in (W_q, W_k, W_v))
    powers = torch.exp(query @ key.mT / math.sqrt(query.shape[-1])) * mask
    weights = (powers / powers.sum(-1, keepdim=True)).nan_to_num()
    return torch.cat((weights @ value).unbind(1), -1) @ W_o, weights
