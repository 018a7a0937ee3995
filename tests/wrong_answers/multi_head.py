"""Lesson 4: multi-head attention."""

import math

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from wrong_answers import right, right_value, wrong, wrong_value

# ---- split_heads ----


@wrong("split_heads", "the split mixes the words")
def straight_view(x, heads):
    batch, n, d_model = x.shape
    d_head = d_model // heads
    return x.view(batch, heads, n, d_head)


@wrong("split_heads", "the split mixes the words")
def loop_over_numbers_in_memory(x, heads):
    batch, n, width = x.shape
    flat = x.reshape(batch, -1)
    rows = flat.split(n * (width // heads), dim=1)
    return torch.stack([row.reshape(batch, n, -1) for row in rows], dim=1)


@wrong("split_heads", "the head axis stands behind the words")
def forgets_to_swap(x, heads):
    return x.unflatten(2, (heads, x.size(2) // heads))


@wrong("split_heads", "it returns a list of 2 tensors, not a tensor of shape (1, 2, 2, 2)")
def list_of_pieces(x, heads):
    return list(torch.chunk(x, heads, dim=-1))


@wrong("split_heads", "the head axis stands in front of the batch")
def pieces_on_a_stack(x, heads):
    return torch.stack(torch.chunk(x, heads, dim=-1))


@wrong("split_heads", "the heads take turns at picking numbers")
def numbers_before_heads(x, heads):
    batch, n, width = x.shape
    return torch.einsum("bndh->bhnd", x.reshape(batch, n, width // heads, heads))


@wrong("split_heads", "the words and the numbers of a head are swapped")
def swaps_one_axis_too_far(x, heads):
    batch, n, width = x.shape
    return x.reshape(batch, n, heads, width // heads).permute(0, 2, 3, 1)


@wrong("split_heads", "batch and heads are one axis")
def three_axes_for_bmm(x, heads):
    pieces = []
    for sentence in x:
        for head in range(heads):
            width = x.shape[2] // heads
            pieces.append(sentence[:, head * width : head * width + width])
    return torch.stack(pieces) if pieces else x.new_zeros(0, x.shape[1], x.shape[2] // heads)


@wrong("split_heads", "each head has the whole vector")
def copies_for_all(x, heads):
    return x[:, None].expand(-1, heads, -1, -1)


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
for entry, faults in enumerate(
    (
        {
            (2, 10, 4, 16): "queries: the head axis stands behind the words",
            (2, 4, 10, 64): "queries: each head has all 64 numbers",
            (4, 10, 16): "queries: the batch has gone",
        },
        {
            (2, 4, 16, 16): "weights: they compare numbers, not words",
            (2, 10, 10): "weights: there is one map for all heads",
            (2, 4, 10, 16): "weights: that is the shape of the values",
            (4, 10, 10): "weights: the batch has gone",
        },
        {
            (2, 10, 16): "merged: the heads are added up, not put side by side",
            (2, 10, 256): "merged: the vectors have grown",
            (2, 4, 10, 16): "merged: the heads are still apart",
            (10, 64): "merged: the batch has gone",
        },
    )
):
    for shape, says in faults.items():
        wrong_value("head_shapes", [*(Q, A, M)[:entry], shape, *(Q, A, M)[entry + 1 :]], says)
wrong_value("head_shapes", [(2, 4, 10, 64), A, (2, 10, 256)], "queries: each head has all 64 numbers")
wrong_value("head_shapes", [(4, 10, 16), (4, 10, 10), (10, 64)], "queries: the batch has gone")
wrong_value("head_shapes", [Q, A, (2, 640)], "entry 3 of [(2, 4, 10, 16), (2, 4, 10, 10), (2, 640)] is not right")
wrong_value("head_shapes", [Q, A], "[(2, 4, 10, 16), (2, 4, 10, 10)] has 2 of 3 entries")
wrong_value("head_shapes", 64, "64 is a number")


# ---- merge_heads ----


@wrong("merge_heads", "the heads are merged without the transpose")
def reshaped_at_once(x):
    batch, heads, n, d_head = x.shape
    return x.contiguous().view(batch, n, heads * d_head)


@wrong("merge_heads", "the heads are merged without the transpose")
def numpy_without_swap(x):
    array = x.numpy()
    return np.ravel(array).reshape(array.shape[0], array.shape[2], array.shape[1] * array.shape[3])


@wrong("merge_heads", "the wrong two axes are swapped")
def swaps_the_last_two(x):
    batch, heads, n, d_head = x.shape
    return torch.einsum("bhnd->bhdn", x).reshape(batch, n, heads * d_head)


@wrong("merge_heads", "the pieces are shuffled into each other")
def stacked_last(x):
    return torch.stack([x[:, head] for head in range(x.shape[1])], dim=-1).flatten(-2)


@wrong("merge_heads", "the pieces are not joined yet")
def only_permuted(x):
    return x.permute(0, 2, 1, 3).contiguous()


@wrong("merge_heads", "the heads are added up")
def heads_added(x):
    total = torch.zeros_like(x[:, 0])
    for head in range(x.shape[1]):
        total = total + x[:, head]
    return total


@wrong("merge_heads", "the heads are averaged")
def heads_averaged(x):
    return torch.einsum("bhnd->bnd", x) / x.shape[1]


@wrong("merge_heads", "the heads stand one below the other")
def cat_along_the_words(x):
    return torch.cat([x[:, head] for head in range(x.shape[1])], dim=1)


@wrong("merge_heads", "the words of a sentence are joined too")
def flattened_too_far(x):
    return torch.swapaxes(x, 1, 2).flatten(start_dim=1)


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
    return merged


# ---- multi_head_attention ----


def looped(
    divide=lambda size, heads, width: math.sqrt(size),
    mask_of=lambda mask, b, h, batch, heads: mask[b % mask.shape[0], h % mask.shape[1]],
    shares=None,
    join=lambda pieces: torch.cat(pieces, -1),
    last=lambda joined, W_o, size: joined @ W_o,
    project=lambda sentence, matrix: sentence @ matrix,
):
    """Sentence by sentence, head by head, word by word; with one part replaced."""

    def by_default(scores, allowed):
        if not allowed.any():
            return torch.zeros_like(scores)
        powers = torch.exp(scores - scores[allowed].max())
        powers = torch.where(allowed, powers, torch.zeros_like(powers))
        return powers / powers.sum()

    def answer(x, W_q, W_k, W_v, W_o, heads, mask):
        batch, n, width = x.shape
        size = width // heads
        outputs, all_maps = [], []
        for b, sentence in enumerate(x):
            Q, K, V = project(sentence, W_q), project(sentence, W_k), project(sentence, W_v)
            pieces, maps = [], []
            for h in range(heads):
                cut = slice(h * size, h * size + size)
                scores = Q[:, cut] @ K[:, cut].T / divide(size, heads, width)
                allowed = mask_of(mask, b, h, batch, heads).expand(n, n)
                rows = [(shares or by_default)(row, open_) for row, open_ in zip(scores, allowed, strict=True)]
                maps.append(torch.stack(rows))
                pieces.append(maps[-1] @ V[:, cut])
            all_maps.append(torch.stack(maps))
            outputs.append(last(join(pieces), W_o, size))
        return torch.stack(outputs), torch.stack(all_maps)

    return answer


def row_without_mask(scores, allowed):
    return F.softmax(scores, 0)


def row_masked_late(scores, allowed):
    return F.softmax(scores, 0).where(allowed, torch.zeros_like(scores))


def row_with_zeros(scores, allowed):
    return F.softmax(torch.where(allowed, scores, torch.zeros_like(scores)), 0)


def row_with_penalty(scores, allowed):
    return F.softmax(scores - 1e9 * (~allowed), 0)


def row_with_nan(scores, allowed):
    return F.softmax(torch.where(allowed, scores, torch.full_like(scores, -math.inf)), 0)


def stacked_and_reshaped(pieces):
    return torch.stack(pieces).reshape(pieces[0].shape[0], -1)


def stored_as_linear(sentence, matrix):
    linear = nn.Linear(*matrix.shape, bias=False, dtype=matrix.dtype)
    linear.weight.data = matrix.clone()  # stored as (out, in)
    return linear(sentence)


def each_piece_alone(joined, W_o, size):
    return torch.cat([piece @ W_o[:size, :size] for piece in joined.split(size, -1)], -1)


def summed_over_pieces(joined, W_o, size):
    return torch.stack([piece @ W_o[:size] for piece in joined.split(size, -1)]).sum(0)


def block_by_block(joined, W_o, size):
    blocks = torch.block_diag(*(W_o[i : i + size, i : i + size] for i in range(0, len(W_o), size)))
    return joined @ blocks


MHA = "multi_head_attention"
for says, faults in (
    ("the scores are divided by √d_model", {"divide": lambda size, heads, width: math.sqrt(width)}),
    ("the scores are not divided", {"divide": lambda size, heads, width: 1}),
    ("the scores are divided by the root of the number of heads", {"divide": lambda size, heads, width: heads**0.5}),
    ("the scores are divided by d_head without the root", {"divide": lambda size, heads, width: size}),
    ("the scores are multiplied, not divided", {"divide": lambda size, heads, width: 1 / math.sqrt(size)}),
    ("the mask is not used", {"shares": row_without_mask}),
    ("the mask comes after the softmax", {"shares": row_masked_late}),
    ("closed scores become 0", {"shares": row_with_zeros}),
    ("a word with nothing to look at looks everywhere", {"shares": row_with_penalty}),
    ("a word with nothing to look at gives NaN", {"shares": row_with_nan}),
    ("the mask is the wrong way round", {"mask_of": lambda mask, b, h, *_: ~mask[b % len(mask), h % mask.shape[1]]}),
    ("all heads get the first head's mask", {"mask_of": lambda mask, b, h, *_: mask[b % len(mask), 0]}),
    ("all sentences get the first sentence's mask", {"mask_of": lambda mask, b, h, *_: mask[0, h % mask.shape[1]]}),
    ("the heads are merged without the transpose", {"join": stacked_and_reshaped}),
    ("W_O is left out", {"last": lambda joined, W_o, size: joined}),
    ("W_O is applied to each head alone", {"last": each_piece_alone}),
    ("W_O is applied to each head alone", {"last": summed_over_pieces}),
    ("W_O is applied to each head alone", {"last": block_by_block}),
    ("the matrices are transposed", {"project": stored_as_linear, "last": lambda joined, W_o, size: joined @ W_o.T}),
):
    answer = looped(**faults)
    answer.__name__ = says.replace(" ", "_")
    wrong(MHA, says)(answer)


@wrong(MHA, "the split mixes the words")
def view_both_ways(x, W_q, W_k, W_v, W_o, heads, mask):
    batch, n, width = x.shape
    q, k, v = ((x @ W).view(batch, heads, n, -1) for W in (W_q, W_k, W_v))
    weights = torch.softmax((q @ k.transpose(2, 3) / q.size(-1) ** 0.5).masked_fill(~mask, float("-inf")), dim=-1)
    weights = torch.nan_to_num(weights)
    return (weights @ v).view(batch, n, width) @ W_o, weights


@wrong(MHA, "the split mixes the words")
def view_of_the_queries_in_bmm(x, W_q, W_k, W_v, W_o, heads, mask):
    batch, n, width = x.shape
    size = width // heads
    q, k, v = (torch.mm(x.reshape(-1, width), W).view(batch * heads, -1, size) for W in (W_q, W_k, W_v))
    scores = torch.bmm(q, k.transpose(1, 2)).mul(size**-0.5).view(batch, heads, n, n)
    weights = scores.masked_fill(mask.logical_not(), -math.inf).softmax(-1).nan_to_num(0)
    found = torch.bmm(weights.view(batch * heads, n, n), v).view(batch, heads, n, size)
    return torch.einsum("bhnd,hde->bne", found, W_o.view(heads, size, width)), weights


@wrong(MHA, "the softmax runs over the heads")
def einsum_softmax_1(x, W_q, W_k, W_v, W_o, heads, mask):
    q, k, v = (torch.einsum("bnd,dhe->bnhe", x, W.unflatten(1, (heads, -1))) for W in (W_q, W_k, W_v))
    scores = torch.einsum("bihe,bjhe->bhij", q, k) / math.sqrt(q.shape[-1])
    weights = torch.softmax(scores.masked_fill(~mask, -math.inf), dim=1).nan_to_num()
    return torch.einsum("bhij,bjhe->bihe", weights, v).flatten(2) @ W_o, weights


@wrong(MHA, "the softmax runs over the queries")
def softmax_2(x, W_q, W_k, W_v, W_o, heads, mask):
    q, k, v = ((x @ W).unflatten(-1, (heads, -1)).transpose(1, 2) for W in (W_q, W_k, W_v))
    scores = torch.where(mask, q @ k.mT / math.sqrt(q.shape[-1]), -math.inf)
    weights = scores.softmax(dim=2)  # and NaN where a column is closed
    return (weights @ v).transpose(1, 2).flatten(2) @ W_o, weights


@wrong(MHA, "heads get the masks of other sentences")
def squeezed_mask(x, W_q, W_k, W_v, W_o, heads, mask):
    q, k, v = ((x @ W).unflatten(-1, (heads, -1)).transpose(1, 2) for W in (W_q, W_k, W_v))
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    scores = scores.masked_fill(mask.squeeze(1) == 0, -math.inf)
    weights = scores.softmax(-1).nan_to_num()
    return (weights @ v).transpose(1, 2).flatten(2) @ W_o, weights


@wrong(MHA, "heads get the masks of other sentences")
def mask_repeated_for_bmm(x, W_q, W_k, W_v, W_o, heads, mask):
    batch, n, width = x.shape
    size = width // heads
    q, k, v = (
        (x @ W).view(batch, n, heads, size).transpose(1, 2).reshape(batch * heads, n, size) for W in (W_q, W_k, W_v)
    )
    if mask.shape[1] == heads:
        mask = mask.expand(batch, heads, n, n).reshape(batch * heads, n, n)
    else:
        mask = mask[:, 0].expand(batch, n, n).repeat(heads, 1, 1)
    weights = torch.bmm(q, k.mT).div(size**0.5).masked_fill(~mask, -math.inf).softmax(-1).nan_to_num()
    found = torch.bmm(weights, v).view(batch, heads, n, size).transpose(1, 2).reshape(batch, n, width)
    return found @ W_o, weights.view(batch, heads, n, n)


@wrong(MHA, "the weights are averaged over the heads")
def torch_module_with_defaults(x, W_q, W_k, W_v, W_o, heads, mask):
    return fused_and_torch_module(x, W_q, W_k, W_v, W_o, heads, mask, average=True)


@wrong(MHA, "output and weights are the wrong way round")
def maps_first(x, W_q, W_k, W_v, W_o, heads, mask):
    output, weights = looped()(x, W_q, W_k, W_v, W_o, heads, mask)
    return weights, output


@wrong(MHA, "it returns a tensor of shape (1, 2, 2), not 2 things")
def output_alone(x, W_q, W_k, W_v, W_o, heads, mask):
    return looped()(x, W_q, W_k, W_v, W_o, heads, mask)[0]


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
    x /= (x.shape[-1] // heads) ** 0.25
    return looped(lambda *_: 1)(x, W_q, W_k, W_v, W_o, heads, mask)


right(MHA)(looped())


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
def fused_and_torch_module(x, W_q, W_k, W_v, W_o, heads, mask, average=False):
    batch, n, width = x.shape
    q, k, v = ((x @ W).view(batch, n, heads, -1).permute(0, 2, 1, 3) for W in (W_q, W_k, W_v))
    found = F.scaled_dot_product_attention(q, k, v, attn_mask=mask).nan_to_num()
    module = nn.MultiheadAttention(width, heads, bias=False, batch_first=True, dtype=x.dtype)
    module.in_proj_weight.data = torch.cat([W_q.T, W_k.T, W_v.T])
    closed = ~mask.expand(batch, heads, n, n).flatten(0, 1)
    _, weights = module(x, x, x, attn_mask=closed, average_attn_weights=False)
    weights = weights.nan_to_num()  # and now as the module does it by default
    return found.transpose(1, 2).reshape(batch, n, width) @ W_o, weights.mean(1) if average else weights


# ---- cost_of_heads ----

right_value("cost_of_heads", [1_048_576, 80_000])
right_value("cost_of_heads", (4 * 512 * 512, 8 * 100 * 100))
for parameters, says in {
    8_388_608: "parameters: each head is counted with matrices of full width",
    6_553_600: "parameters: each head is counted with matrices of full width",
    262_144: "parameters: that is one matrix",
    786_432: "parameters: W_O is forgotten",
    1_050_624: "parameters: the biases are counted",
    131_072: "parameters: that is one eighth of them",
    16_384: "parameters: the heads' matrices are counted as 64 × 64",
}.items():
    wrong_value("cost_of_heads", [parameters, 80_000], says)
for weights, says in {
    10_000: "weights: those of one head are counted",
    800: "weights: those of one word are counted",
    5_120_000: "weights: the numbers in a vector are counted too",
    51_200: "weights: that is the number of values",
}.items():
    wrong_value("cost_of_heads", [1_048_576, weights], says)
wrong_value("cost_of_heads", 1_048_576, "1048576 is a number")
wrong_value("cost_of_heads", [1_048_576, 81_000], "entry 2 of [1048576, 81000] is not right")
wrong_value("cost_of_heads", [786_432, 10_000], "parameters: W_O is forgotten")


# ---- leave_out_head ----


def joined_of(found):
    return found.transpose(1, 2).flatten(2)


def weighed_heads(found, W_o, weights):
    """The output if head h counts weights[h] times."""
    rows = W_o.reshape(found.shape[1], found.shape[3], -1)
    return torch.einsum("bhnd,hdo,h->bno", found, rows, torch.tensor(weights, dtype=found.dtype))


@wrong("leave_out_head", "no head is left out")
def changes_a_copy(found, W_o, gone):
    silent = found.clone()
    silent[:, gone] = 0.0
    return joined_of(found) @ W_o


@wrong("leave_out_head", "all the other heads are left out")
def the_mask_upside_down(found, W_o, gone):
    return weighed_heads(found, W_o, [float(head == gone) for head in range(found.shape[1])])


@wrong("leave_out_head", "a neighbouring head is left out")
def counts_from_one(found, W_o, gone):
    found = found.clone()
    found[:, gone - 1] = 0
    return joined_of(found) @ W_o


@wrong("leave_out_head", "a word is left out, not a head")
def zero_on_axis_2(found, W_o, gone):
    keep = torch.ones(found.shape[2], dtype=found.dtype)
    keep[gone] = 0
    return joined_of(found * keep[:, None]) @ W_o


@wrong("leave_out_head", "a sentence is left out, not a head")
def zero_on_axis_0(found, W_o, gone):
    silent = torch.clone(found)
    silent[gone] = torch.zeros_like(silent[gone])
    return joined_of(silent) @ W_o


@wrong("leave_out_head", "numbers of the output are zeroed, not what the head found")
def as_in_the_lesson(found, W_o, gone):
    matrix = W_o.clone().unflatten(1, (found.shape[1], -1))
    matrix[:, gone] = 0
    return joined_of(found) @ matrix.flatten(1)


@wrong("leave_out_head", "it is right, and wrong for other numbers of the same shapes")
def keeps_its_copy(found, W_o, gone, kept=[]):  # noqa: B006
    if not kept or kept[0].shape != found.shape:
        kept[:] = [found.clone()]
    kept[0][:, gone] = 0
    return kept[0].transpose(1, 2).flatten(2) @ W_o


@wrong("leave_out_head", "a single number of the head is left out")
def one_row_is_zero(found, W_o, gone):
    keep = (torch.arange(len(W_o)) != gone).to(W_o)
    return joined_of(found) @ (keep[:, None] * W_o)


@wrong("leave_out_head", "numbers of the output are zeroed, not what the head found")
def after_the_product(found, W_o, gone):
    batch, heads, n, size = found.shape
    output = (joined_of(found) @ W_o).reshape(batch, n, heads, size)
    output[:, :, gone, :] = 0
    return output.reshape(batch, n, -1)


@wrong("leave_out_head", "the other heads are scaled up")
def as_dropout_does(found, W_o, gone):
    heads = found.shape[1]
    scale = heads / (heads - 1) if heads > 1 else math.nan
    return weighed_heads(found, W_o, [0.0 if head == gone else scale for head in range(heads)])


@wrong("leave_out_head", "the heads behind it move up")
def deleted_from_the_list(found, W_o, gone):
    pieces = list(found.unbind(1))
    del pieces[gone]
    joined = torch.cat(pieces, -1)
    return joined @ W_o[: joined.shape[-1], :]


@wrong("leave_out_head", "the heads are merged without the transpose")
def silent_and_reshaped(found, W_o, gone):
    silent = torch.stack([0 * piece if head == gone else piece for head, piece in enumerate(found.unbind(1))], 1)
    return silent.reshape(found.shape[0], found.shape[2], -1) @ W_o


@wrong("leave_out_head", "W_O is left out")
def merged_only(found, W_o, gone):
    return torch.cat([piece * (head != gone) for head, piece in enumerate(found.unbind(1))], -1)


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
    return found.transpose(0, 2, 1, 3).reshape(found.shape[0], found.shape[2], -1) @ W_o.numpy()


# ---- right_without_its_head ----

for value in (0.25, 0.24, 0.21, 0.27):
    right_value("right_without_its_head", value)
for value, says in {
    1.0: "that is the other neighbour's bar",
    0: "there is a bar, though it is low",
    0.1: "that is the share for ten symbols",
    0.62: "that is the mean of both neighbours",
    0.5: "one half would be luck with two symbols",
    25: "that is in per cent",
    0.8: "0.8 is not right",
}.items():
    wrong_value("right_without_its_head", value, says)


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
