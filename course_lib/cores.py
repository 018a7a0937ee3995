"""Cores for `MultiHeadAttention` that never hold all scores at once.

`tiled_attention` computes the same as `dot_product_attention`. The other two compute something else and are causal,
so no query attends to a later key, whatever the mask::

    DecoderOnly(size, self_attention=partial(MultiHeadAttention, core=partial(window_attention, window=64)))
"""

import math
from collections.abc import Callable
from functools import wraps

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn import functional as F

from course_lib.attention import check_fit, for_each_head, scaled_dot_product_attention
from course_lib.decorators import in_float32
from course_lib.masks import causal_mask, check_bias, check_mask, window_mask

Queries = Float[Tensor, "batch head query d_k"]
Keys = Float[Tensor, "batch kept key d_k"]
Values = Float[Tensor, "batch kept key d_value"]
Mask = Bool[Tensor, "_ _ _ key"]
Bias = Float[Tensor, "_ _ _ key"]
Outputs = tuple[Float[Tensor, "batch head query d_value"], Float[Tensor, "batch head query key"] | None]


def fitting(core: Callable[..., Outputs]) -> Callable[..., Outputs]:
    """Makes a core check its mask and bias like `dot_product_attention`; raises TypeError or ValueError."""

    @wraps(core)
    def checked(query, key, value, mask=None, bias=None, **settings):
        scores = torch.empty(*query.shape[:-1], key.shape[-2], dtype=query.dtype, device="meta")
        if mask is not None:
            check_mask(mask, scores)
        if bias is not None:
            check_bias(bias, scores)
        return core(query, key, value, mask, bias, **settings)

    return checked


@fitting
@in_float32
def tiled_attention(
    query: Queries,
    key: Keys,
    value: Values,
    mask: Mask | None = None,
    bias: Bias | None = None,
    *,
    tile: int = 64,
    dropout: float = 0.0,
    need_weights: bool = False,
) -> Outputs:
    """Computes softmax(Q Kᵀ / √d_k + B) V tile by tile, so that a head never holds more than `tile` × `tile` scores.

    For each query it keeps three numbers while it goes through the keys: the largest score m, l = Σ exp(score − m), and
    the vector o = Σ exp(score − m) value. When m grows to m', both sums are multiplied by exp(m − m'); the output is
    o / l. Sources: Milakov & Gimelshein 2018, algorithm 3; Rabe & Staats 2021; Dao et al. 2022, algorithm 1
    (FlashAttention). The outer loop over queries and one division at the end are those of Dao 2023 (FlashAttention-2).
    Autograd keeps each tile, so this core saves memory only without gradients.

    Args:
        need_weights: computes all scores at once and returns the weights.
        The other arguments are those of `dot_product_attention`; there is no dropout.
    Raises:
        TypeError, ValueError: the tile is not positive, dropout is not 0, or the tensors do not fit together.
    """
    if tile < 1:
        raise ValueError(f"tile is {tile}; it must be at least 1")
    no_dropout(dropout)
    key, value = for_each_head(query, key, value)
    if need_weights:
        return scaled_dot_product_attention(query, key, value, mask, bias=bias)
    check_fit(query, key, value)
    full = query.shape[0], query.shape[1], query.shape[2], key.shape[2]
    mask = None if mask is None else mask.expand(full)
    bias = None if bias is None else bias.expand(full)
    outputs = query.new_empty(*query.shape[:-1], value.shape[-1])
    for rows in slices(query.shape[2], tile):
        asking = query[:, :, rows] * query.shape[-1] ** -0.5
        largest = asking.new_full((*asking.shape[:-1], 1), -torch.inf)
        total, output = torch.zeros_like(largest), torch.zeros_like(outputs[:, :, rows])
        for columns in slices(key.shape[2], tile):
            scores = asking @ key[:, :, columns].mT
            if bias is not None:
                scores = scores + bias[:, :, rows, columns]
            if mask is not None:
                scores = scores.masked_fill(~mask[:, :, rows, columns], -torch.inf)
            new = torch.maximum(largest, scores.amax(-1, keepdim=True))
            finite = new.masked_fill(new == -torch.inf, 0.0)  # no key allowed so far: −inf − (−inf) would be NaN
            weights, before = (scores - finite).exp(), (largest - finite).exp()
            total = before * total + weights.sum(-1, keepdim=True)
            output = before * output + weights @ value[:, :, columns]
            largest = new
        outputs[:, :, rows] = output / total.masked_fill(total == 0, 1.0)
    return outputs, None


def slices(length: int, size: int) -> list[slice]:
    """Returns slices of `size` positions that cover a sequence; the last may reach past its end."""
    return [slice(start, start + size) for start in range(0, length, size)]


def window_attention(
    query: Queries,
    key: Keys,
    value: Values,
    mask: Mask | None = None,
    bias: Bias | None = None,
    *,
    window: int,
    dropout: float = 0.0,
    need_weights: bool = False,
) -> Outputs:
    """Lets each query attend to the last `window` keys, including its own (Child et al. 2019; Beltagy et al. 2020).

    It works in blocks of `window` queries. Each block meets the keys of its own block and of the block before, so n
    queries cost 2 · n · window scores.

    Args:
        mask: None, or the causal mask, which is implied.
        need_weights: computes all scores at once, with `masks.window_mask`, and returns the weights.
        The other arguments are those of `dot_product_attention`; there is no bias.
    Raises:
        TypeError: the mask is not boolean.
        ValueError: there is another mask or a bias, the window is not positive, or the tensors do not fit together.
    """
    key, value = for_each_head(query, key, value)
    start = check_causal(query, key, value, mask, bias)
    if need_weights:
        allowed = window_mask(key.shape[2], window, start).to(query.device)
        return scaled_dot_product_attention(query, key, value, allowed, dropout=dropout)
    allowed = window_mask(2 * window, window, window).to(query.device)  # from a block to itself and the block before
    unseen = max(0, start - window + 1)  # number of keys before all windows
    key, value, start = key[:, :, unseen:], value[:, :, unseen:], start - unseen
    length = key.shape[2]
    blocks = math.ceil(length / window)
    behind = blocks * window - length

    def with_the_block_before(x: Tensor) -> Tensor:  # (batch · head, block, 2 · window, d)
        return F.pad(x, (0, 0, window, behind)).flatten(0, 1).unfold(1, 2 * window, window).mT

    asking = F.pad(query, (0, 0, start, behind)).flatten(0, 1).unflatten(1, (blocks, window))
    allowed = allowed.repeat(1, blocks, 1, 1)
    allowed[:, 0, :, :window] = False  # there is no block before the first
    output = F.scaled_dot_product_attention(
        asking, with_the_block_before(key), with_the_block_before(value), allowed, dropout_p=dropout
    )
    output = output.flatten(1, 2).unflatten(0, query.shape[:2])
    return output[:, :, start:length], None


@in_float32
def linear_attention(
    query: Queries,
    key: Keys,
    value: Values,
    mask: Mask | None = None,
    bias: Bias | None = None,
    *,
    dropout: float = 0.0,
    need_weights: bool = False,
    block: int = 64,
) -> Outputs:
    """Weights values by φ(q_i) · φ(k_j) / Σ_j φ(q_i) · φ(k_j) over j ≤ i, with φ(x) = elu(x) + 1.

    Source: Katharopoulos et al. 2020. Without the softmax, a query needs only one matrix from all keys up to its own,
    S_i = Σ_j φ(k_j) v_jᵀ (equation 10), and one vector, z_i = Σ_j φ(k_j) (equation 11): output_i = φ(q_i) S_i /
    φ(q_i) · z_i (equation 12). This function adds one block of keys at a time. Only within a block it computes scores,
    so n queries cost n · block scores.

    Args:
        mask: None, or the causal mask, which is implied.
        need_weights: computes all weights at once and returns them.
        The other arguments are those of `dot_product_attention`; there is neither bias nor dropout.
    Raises:
        TypeError: the mask is not boolean.
        ValueError: there is another mask, a bias or dropout, or the tensors do not fit together.
    """
    no_dropout(dropout)
    key, value = for_each_head(query, key, value)
    start = check_causal(query, key, value, mask, bias)
    query, key = F.elu(query) + 1, F.elu(key) + 1
    if need_weights:
        weights = query @ key.mT * causal_mask(key.shape[2], start).to(query.device)
        weights = weights / weights.sum(-1, keepdim=True)
        return weights @ value, weights
    length = key.shape[2]
    behind = -length % block

    def in_blocks(x: Tensor, before: int = 0) -> Tensor:  # (batch, head, block, number in it, d)
        return F.pad(x, (0, 0, before, behind)).unflatten(2, (-1, block))

    asking, keys = in_blocks(query, start), in_blocks(key)
    values = in_blocks(F.pad(value, (0, 1), value=1.0))  # the 1 makes z out of S's last column
    added = keys.mT @ values  # (batch, head, block, d_k, d_value + 1)
    state = added.cumsum(2) - added  # the sum over the blocks before
    sums = asking @ state + (asking @ keys.mT).tril() @ values
    output = (sums[..., :-1] / sums[..., -1:].clamp_min(torch.finfo(sums.dtype).tiny)).flatten(2, 3)
    return output[:, :, start:length], None


def no_dropout(dropout: float) -> None:
    """Raises ValueError unless dropout is 0, for a core that holds no weights to drop."""
    if dropout:
        raise ValueError(f"dropout is {dropout}; it must be 0, since this core has no weights to drop")


def check_causal(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, bias: Tensor | None) -> int:
    """Returns the first query's position. Raises TypeError or ValueError for what a causal core cannot do."""
    check_fit(query, key, value)
    if mask is not None and mask.dtype != torch.bool:
        raise TypeError(f"the mask is {mask.dtype}; it must be torch.bool, True where attention is allowed")
    start = key.shape[2] - query.shape[2]
    if start < 0:
        raise ValueError(f"there are {query.shape[2]} queries and {key.shape[2]} keys; each query needs its own key")
    if bias is not None or not (mask is None or torch.equal(mask.cpu(), causal_mask(key.shape[2], start))):
        raise ValueError(
            "this core is causal by itself and takes no bias and no other mask; give None or the causal mask, "
            "and leave sentences that need padding to dot_product_attention"
        )
    return start
