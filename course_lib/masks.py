"""Masks follow one convention: they are boolean, and True means *may attend*.

The scores of many heads have four axes (batch, head, query, key), and so does their mask. An axis of length 1
is broadcast. Any other axis must have the scores' length, and the key axis always must::

    padding_mask(lengths)                   (batch, 1, 1, key)         whatever the query
    causal_mask(length)                     (1, 1, query, key)         whatever the sentence
    padding_mask(…) & causal_mask(…)        (batch, 1, query, key)     both
    one mask for each head                  (1 or batch, head, 1 or query, key)

Scores with fewer axes, (batch, key) or (batch, query, key), have masks with as many axes, by the same rule.
"""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor


def length_mask(lengths: Int[Tensor, " batch"], longest: int | None = None) -> Bool[Tensor, "batch key"]:
    """Returns a mask that is True at the words of each sentence and False at the padding after them.

    Args:
        lengths: words of each sentence, 0 or more.
        longest: width of the mask; by default the length of the longest sentence.
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
    """Returns `length_mask` with axes for many heads: no query of any head may attend to padding."""
    return length_mask(lengths, longest)[:, None, None, :]


def causal_mask(length: int, start: int = 0) -> Bool[Tensor, "1 1 query key"]:
    """Returns a mask that lets query t attend to keys 1 … t (Vaswani et al. 2017, section 3.2.3).

    Args:
        length: number of keys.
        start: number of earlier queries, whose rows are left out; a decoder that writes needs the last row only.
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
    """Returns a mask that lets query t attend to the keys t − window + 1 … t (Beltagy et al. 2020, section 3.1).

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
        raise ValueError(f"window is {window}; it must be at least 1, since a query attends to itself")
    return causal_mask(length, start).triu(start - window + 1)


def check_mask(mask: Tensor, scores: Tensor) -> None:
    """Checks that a mask is boolean, and that each of its axes has length 1 or the scores' own length.

    Raises:
        TypeError: the mask is not boolean.
        ValueError: the mask and the scores differ in their number of axes, or an axis has the wrong length.
    """
    if mask.dtype != torch.bool:
        raise TypeError(f"the mask is {mask.dtype}; it must be torch.bool, True where attention is allowed")
    check_axes("mask", mask, scores)


def check_bias(bias: Tensor, scores: Tensor) -> None:
    """Checks that a bias has the scores' type and axes that `check_mask` allows; raises TypeError or ValueError."""
    if bias.dtype != scores.dtype:
        raise TypeError(f"the bias is {bias.dtype}; it must be {scores.dtype}, a number to add to each score")
    check_axes("bias", bias, scores)


def check_axes(what: str, tensor: Tensor, scores: Tensor) -> None:
    """Raises ValueError unless each axis has length 1 or the scores' own length; the last must have the scores'."""
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
    """Computes the softmax over the allowed keys; all other keys get exactly 0.

    weights_i = exp(e_i) / Σ_j exp(e_j), with the sum over the allowed j. A row without an allowed key is all zeros.

    Args:
        scores: one score for each key, in the last axis.
        mask: True where attention is allowed; it fits the scores as `check_mask` wants.
    Raises:
        TypeError, ValueError: the mask does not fit (`check_mask`).

    >>> masked_softmax(torch.tensor([[1.0, 1.0, 9.0]]), torch.tensor([[True, True, False]]))
    tensor([[0.5000, 0.5000, 0.0000]])
    """
    if mask is None:
        return scores.softmax(-1)
    check_mask(mask, scores)
    # The softmax of nothing but −inf is NaN, so a row without an allowed key goes in as zeros and is zeroed after it.
    nothing = ~mask.any(-1, keepdim=True)
    allowed = scores.masked_fill(~mask, -torch.inf).masked_fill(nothing, 0.0)
    return allowed.softmax(-1).masked_fill(~mask, 0.0)
