"""One convention for masks: boolean, and True means *may attend*.

The scores of many heads have four axes (batch, head, query, key), and so has their mask. An axis of length 1
stands for all of the scores' axis; any other length must be the scores' own, and the key axis always is::

    padding_mask(lengths)                   (batch, 1, 1, key)         whatever the query
    causal_mask(length)                     (1, 1, query, key)         whatever the sentence
    padding_mask(…) & causal_mask(…)        (batch, 1, query, key)     both
    one mask for each head                  (1 or batch, head, 1 or query, key)

Other scores have fewer axes, (batch, key) or (batch, query, key), and their masks as many, by the same rule.
"""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor


def length_mask(lengths: Int[Tensor, " batch"], longest: int | None = None) -> Bool[Tensor, "batch key"]:
    """True at the words of each sentence, False at the padding behind them.

    Args:
        lengths: words of each sentence, 0 or more.
        longest: width of the mask; the longest sentence's length if not given.
    Raises:
        ValueError: a length is negative or greater than `longest`.

    >>> length_mask(torch.tensor([2, 3]))
    tensor([[ True,  True, False],
            [ True,  True,  True]])
    """
    longest = int(lengths.max()) if longest is None else longest
    if lengths.numel() and (lengths.min() < 0 or lengths.max() > longest):
        raise ValueError(f"lengths must be from 0 to {longest}, but are {lengths.tolist()}")
    return torch.arange(longest, device=lengths.device) < lengths[:, None]


def padding_mask(lengths: Int[Tensor, " batch"], longest: int | None = None) -> Bool[Tensor, "batch 1 1 key"]:
    """`length_mask` with the axes of many heads: no query of any head may attend to padding."""
    return length_mask(lengths, longest)[:, None, None, :]


def causal_mask(length: int, start: int = 0) -> Bool[Tensor, "1 1 query key"]:
    """Query t may attend to keys 1 … t (Vaswani et al. 2017, section 3.2.3).

    Args:
        length: keys.
        start: queries that came before and need no row any more; a decoder that writes asks for the last row alone.
    Raises:
        ValueError: the length is negative, or the start is not from 0 to the length.

    >>> causal_mask(3)[0, 0].int()
    tensor([[1, 0, 0],
            [1, 1, 0],
            [1, 1, 1]], dtype=torch.int32)
    >>> causal_mask(3, start=1)[0, 0].int()
    tensor([[1, 1, 0],
            [1, 1, 1]], dtype=torch.int32)
    """
    if length < 0:
        raise ValueError(f"length is {length}; it must be 0 or more")
    if not 0 <= start <= length:
        raise ValueError(f"start is {start}; it must be from 0 to the length, {length}")
    return torch.ones(length - start, length, dtype=torch.bool).tril(start)[None, None]


def window_mask(length: int, window: int, start: int = 0) -> Bool[Tensor, "1 1 query key"]:
    """Query t may attend to the `window` keys t − window + 1 … t: a sliding window (Beltagy et al. 2020, section 3.1).

    Args:
        length, start: as in `causal_mask`.
    Raises:
        ValueError: the window is not positive; or as in `causal_mask`.

    >>> window_mask(4, window=2)[0, 0].int()
    tensor([[1, 0, 0, 0],
            [1, 1, 0, 0],
            [0, 1, 1, 0],
            [0, 0, 1, 1]], dtype=torch.int32)
    """
    if window < 1:
        raise ValueError(f"window is {window}; a query attends to itself at least, so it must be 1 or more")
    return causal_mask(length, start).triu(start - window + 1)


def check_mask(mask: Tensor, scores: Tensor) -> None:
    """Refuses a mask that is not boolean, or has an axis that is neither 1 nor the scores' own.

    Raises:
        TypeError: the mask is not boolean.
        ValueError: it has another number of axes than the scores, or an axis of the wrong length; says which.
    """
    if mask.dtype != torch.bool:
        raise TypeError(f"the mask is {mask.dtype}; it must be torch.bool, True where attention is allowed")
    check_axes("mask", mask, scores)


def check_bias(bias: Tensor, scores: Tensor) -> None:
    """Refuses a bias that is not of the scores' type, or has axes that `check_mask` would refuse."""
    if bias.dtype != scores.dtype:
        raise TypeError(f"the bias is {bias.dtype}; it must be {scores.dtype}, a number to add to each score")
    check_axes("bias", bias, scores)


def check_axes(what: str, tensor: Tensor, scores: Tensor) -> None:
    """Raises ValueError unless there are as many axes as the scores have, each 1 or theirs and the last theirs."""
    names = ("batch", "head", "query", "key") if scores.ndim == 4 else ("batch", "query", "key")
    names = ("batch", "key") if scores.ndim == 2 else names[-scores.ndim :]
    shape = tuple(tensor.shape)
    if tensor.ndim != scores.ndim:
        raise ValueError(
            f"the {what} has {tensor.ndim} axes {shape}, the scores have {scores.ndim}: ({', '.join(names)})"
        )
    for name, given, wanted in zip(names, shape, scores.shape, strict=True):
        if given not in (1, wanted) or (name == "key" and given != wanted):
            allowed = str(wanted) if name == "key" else f"1 or {wanted}"
            raise ValueError(
                f"the {what}'s {name} axis looks wrong: {given}, wanted {allowed}; {what} {tuple(tensor.shape)}"
            )


def masked_softmax(
    scores: Float[Tensor, "*axes key"], mask: Bool[Tensor, "*_ key"] | None
) -> Float[Tensor, "*axes key"]:
    """Softmax over the keys that may be attended to; the others get exactly 0, and so does a row with none.

    weights_i = exp(e_i) / Σ_j exp(e_j), the sum over allowed j.

    Args:
        scores: any number, one for each key, in the last axis.
        mask: True where attention is allowed; as many axes as the scores, each 1 or theirs.
    Raises:
        TypeError, ValueError: the mask does not fit (`check_mask`).

    >>> masked_softmax(torch.tensor([[1.0, 1.0, 9.0]]), torch.tensor([[True, True, False]]))
    tensor([[0.5000, 0.5000, 0.0000]])
    """
    if mask is None:
        return scores.softmax(-1)
    check_mask(mask, scores)
    # Of −inf alone the softmax would give NaN: a row with nothing allowed passes it as zeros, and is zeroed then.
    nothing = ~mask.any(-1, keepdim=True)
    allowed = scores.masked_fill(~mask, -torch.inf).masked_fill(nothing, 0.0)
    return allowed.softmax(-1).masked_fill(~mask, 0.0)
