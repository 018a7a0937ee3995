"""Attention does not see the order of words, so a model needs positions. There are three ways to give them.

`SinusoidalPositions` and `LearnedPositions` add a code of the position to the word's vector (a model's argument
`positions`). `RotaryPositions` rotates the queries and keys of each head (`rotation` of `MultiHeadAttention`).
`LinearBiases` adds a bias to the scores (its argument `score_bias`). The last two work in self-attention only, where
queries and keys share positions::

    Transformer(…, positions=None, self_attention=partial(MultiHeadAttention, rotation=RotaryPositions))
"""

import math
from collections.abc import Callable
from functools import lru_cache, wraps

import torch
from jaxtyping import Complex, Float
from torch import Tensor, nn


def sinusoidal_table(
    length: int, model_size: int, *, dtype: torch.dtype | None = None
) -> Float[Tensor, "length d_model"]:
    """Computes PE(pos, 2i) = sin(pos / 10000^(2i / d)) and PE(pos, 2i + 1) = cos(pos / 10000^(2i / d)).

    Source: Vaswani et al. 2017, section 3.5. Each pair (sin, cos) is the hand of a clock with its own speed: over k
    positions it turns by the same angle, wherever it starts.

    Args:
        length: number of rows, for the positions 0 … length − 1.
        model_size: d, numbers in a row.
        dtype: torch's default type if not given.
    Raises:
        ValueError: the model size is odd, so the last sine would have no cosine.

    >>> sinusoidal_table(2, 4)
    tensor([[0.0000, 1.0000, 0.0000, 1.0000],
            [0.8415, 0.5403, 0.0100, 0.9999]])
    """
    if model_size % 2:
        raise ValueError(f"model_size is {model_size}; sines and cosines come in pairs, so it must be even")
    angles = clock_angles(0, length, model_size)
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1).to(dtype or torch.get_default_dtype())


def clock_angles(start: int, end: int, size: int, base: float = 10000.0) -> Float[Tensor, "n pair"]:
    """Computes pos / base^(2i / size) for the positions start … end − 1 and each pair of numbers, in float64."""
    exact = {"dtype": torch.float64, "device": "cpu"}
    speeds = base ** (-torch.arange(0, size, 2, **exact) / size)
    return torch.arange(start, end, **exact)[:, None] * speeds


def from_the_first_on(forward: Callable) -> Callable:
    """Makes the `forward` of positions raise ValueError for a negative start."""

    @wraps(forward)
    def checked(positions, x: Tensor, start: int = 0) -> Tensor:
        if start < 0:
            raise ValueError(f"start is {start}; it must be 0 or more, the number of words that came before")
        return forward(positions, x, start)

    return checked


class SinusoidalPositions(nn.Module):
    """Computes x_i + PE(i); it has no parameters and no last position.

    Raises:
        ValueError: the model size is odd; in `forward`, the start is negative.

    >>> SinusoidalPositions(4)(torch.zeros(1, 1, 4), start=1)
    tensor([[[0.8415, 0.5403, 0.0100, 0.9999]]])
    """

    def __init__(self, model_size: int):
        super().__init__()
        sinusoidal_table(0, model_size)  # refuses an odd size now, not at the first sentence

    @from_the_first_on
    def forward(self, x: Float[Tensor, "batch n d_model"], start: int = 0) -> Float[Tensor, "batch n d_model"]:
        """Adds positions; the first vector of x has position `start`, the number of words written so far."""
        # The table is computed each time: that costs little, and there is nothing to save or to extend.
        table = sinusoidal_table(start + x.shape[1], x.shape[2], dtype=x.dtype)
        return x + table[start:].to(x.device)


class LearnedPositions(nn.Module):
    """Computes x_i + P_i, with one row of parameters for each position (Gehring et al. 2017, section 3.1).

    Args:
        rows: number of positions that have a row.
    Raises:
        ValueError: in `forward`, x reaches past the last row, or the start is negative.

    >>> LearnedPositions(4, rows=10)(torch.zeros(2, 3, 4), start=7).shape
    torch.Size([2, 3, 4])
    """

    def __init__(self, model_size: int, rows: int = 64):
        super().__init__()
        # Variance 1, like the word's vector that the row is added to (√d times N(0, 1/d)): with a much smaller or
        # larger variance, one of the two would drown the other at first.
        self.weight = nn.Parameter(torch.randn(rows, model_size))

    @from_the_first_on
    def forward(self, x: Float[Tensor, "batch n d_model"], start: int = 0) -> Float[Tensor, "batch n d_model"]:
        """Adds positions; the first vector of x has position `start`, the number of words written so far."""
        end, rows = start + x.shape[1], len(self.weight)
        if end > rows:
            raise ValueError(
                f"position {end - 1} was asked for, and the learned table has {rows} rows, for the positions 0 to "
                f"{rows - 1}; make it with rows={end} or more and train again, or use SinusoidalPositions, which has "
                "no last row"
            )
        return x + self.weight[start:end]


@lru_cache(maxsize=2)  # all heads and layers turn by the same angles
@torch.inference_mode(False)  # what is kept must also serve in training
def turns(
    start: int, end: int, size: int, base: float, squeeze: float, like: torch.dtype, device: torch.device
) -> Complex[Tensor, "n pair"]:
    """Computes e^(iφ) for the angles φ of `clock_angles`. As a complex number, a pair is turned by this factor."""
    angles = squeeze * clock_angles(start, end, size, base)
    return torch.polar(torch.ones_like(angles), angles).to(device, like)


class RotaryPositions(nn.Module):
    """Rotates each pair (x_2i, x_2i+1) of a vector at position n by n / 10000^(2i / d) (Su et al. 2021, equation 15).

    It is for queries and keys: the dot product of two rotated vectors depends on their positions only through the
    distance n − m. The pairs are neighbours and have the speeds of `sinusoidal_table`. Llama in `transformers` pairs
    number i with i + d / 2; its weights fit after the rows of W_Q and W_K are put, head by head, in the order 0, d / 2,
    1, d / 2 + 1, …

    Args:
        head_size: d, numbers in a query or key of one head.
        base: the number 10000 in the formula; a larger base rotates more slowly (Llama 3 has 500000).
        squeeze: multiplies every n. Below 1, a text longer than those in training gets angles from training's range
            (position interpolation: Chen et al. 2023, equation 4).
    Raises:
        ValueError: the size is odd, so the last number would have no partner; in `forward`, the start is negative.

    >>> RotaryPositions(2)(torch.tensor([[[[1.0, 0.0], [1.0, 0.0]]]]), start=1)
    tensor([[[[ 0.5403,  0.8415],
              [-0.4161,  0.9093]]]])
    """

    def __init__(self, head_size: int, base: float = 10000.0, squeeze: float = 1.0):
        super().__init__()
        if head_size % 2:
            raise ValueError(f"head_size is {head_size}; numbers are turned in pairs, so it must be even")
        self.base, self.squeeze = base, squeeze

    @from_the_first_on
    def forward(self, x: Float[Tensor, "batch head n d_head"], start: int = 0) -> Float[Tensor, "batch head n d_head"]:
        """Rotates the vectors; the first vector of x has position `start`, the number of words read so far."""
        wide = x.to(torch.promote_types(x.dtype, torch.float32))  # no complex number has two halves
        pairs = torch.view_as_complex(wide.contiguous().unflatten(-1, (-1, 2)))
        end = start + x.shape[2]
        turned = pairs * turns(start, end, x.shape[3], self.base, self.squeeze, pairs.dtype, pairs.device)
        return torch.view_as_real(turned).flatten(-2).to(x.dtype)


class LinearBiases(nn.Module):
    """Computes the biases of ALiBi, which lower a key's score by m_h for each step between key and query.

    `B_nm = −m_h |n − m|`, with m_h = 2^(−8h / H) for the heads h = 1 … H if H is a power of two. Otherwise the first
    heads get the slopes of the next smaller power, and the others get every other slope of the next larger power, as in
    the authors' code. In the paper no query sees later words; here they count like earlier words. Source: Press et al.
    2022, section 3.

    >>> LinearBiases(2)(torch.zeros(1, 2, 1, 4), torch.zeros(1, 2, 3, 4))
    tensor([[[[-0.1250, -0.0625, -0.0000]],
    <BLANKLINE>
             [[-0.0078, -0.0039, -0.0000]]]])
    """

    def __init__(self, heads: int):
        super().__init__()
        power = 2 ** int(math.log2(heads))
        slopes = [2 ** (-8 * h / power) for h in range(1, power + 1)]
        self.slopes = slopes + [2 ** (-4 * h / power) for h in range(1, 2 * power, 2)][: heads - power]

    def forward(
        self, query: Float[Tensor, "batch head query d_head"], key: Float[Tensor, "batch kept key d_head"]
    ) -> Float[Tensor, "1 head query key"]:
        """Returns the biases; the queries belong to the last of the keys' words."""
        places = torch.arange(key.shape[2], device=key.device)
        distance = (places[key.shape[2] - query.shape[2] :, None] - places).abs()  # (query, key)
        # In half precision, distances above 256 would be rounded before they are multiplied.
        slopes = torch.tensor(self.slopes, dtype=torch.promote_types(key.dtype, torch.float32), device=key.device)
        return (-slopes[None, :, None, None] * distance).to(key.dtype)
