"""Attention does not see the order of words: what is added to a word's vector to say where it stands."""

import torch
from jaxtyping import Float
from torch import Tensor, nn


def sinusoidal_table(
    length: int, model_size: int, *, dtype: torch.dtype | None = None
) -> Float[Tensor, "length d_model"]:
    """PE(pos, 2i) = sin(pos / 10000^(2i / d)) and PE(pos, 2i + 1) = cos(same): Vaswani et al. 2017, section 3.5.

    Each pair (sin, cos) is a hand of a clock with its own speed: k positions on, it has turned by the same angle
    wherever it started.

    Args:
        length: rows, for the positions 0 … length − 1.
        model_size: d, numbers in a row.
        dtype: torch's default if not given.
    Raises:
        ValueError: an odd model size, in which the last sine would have no cosine.

    >>> sinusoidal_table(2, 4)
    tensor([[0.0000, 1.0000, 0.0000, 1.0000],
            [0.8415, 0.5403, 0.0100, 0.9999]])
    """
    if model_size % 2:
        raise ValueError(f"model_size is {model_size}; sines and cosines come in pairs, so it must be even")
    speeds = 10000 ** (-torch.arange(0, model_size, 2, dtype=torch.float64) / model_size)
    angles = torch.arange(length, dtype=torch.float64)[:, None] * speeds
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1).to(dtype or torch.get_default_dtype())


class SinusoidalPositions(nn.Module):
    """x_i + PE(i): nothing is learned, and there is no last row. Raises ValueError for an odd model size.

    >>> SinusoidalPositions(4)(torch.zeros(1, 1, 4), start=1)
    tensor([[[0.8415, 0.5403, 0.0100, 0.9999]]])
    """

    def __init__(self, model_size: int):
        super().__init__()
        sinusoidal_table(0, model_size)  # refuses an odd size now, not at the first sentence

    def forward(self, x: Float[Tensor, "batch n d_model"], start: int = 0) -> Float[Tensor, "batch n d_model"]:
        """The first vector of x stands at position `start`: 0, or the number of words written so far."""
        # Computed anew each time: that costs little, and leaves nothing to save or to grow.
        table = sinusoidal_table(start + x.shape[1], x.shape[2], dtype=x.dtype)
        return x + table[start:].to(x.device)


class LearnedPositions(nn.Module):
    """x_i + P_i with one row of parameters for each position: Gehring et al. 2017, section 3.1.

    Args:
        rows: positions for which there is one.
    Raises:
        ValueError: in `forward`, if x reaches past the last row.

    >>> LearnedPositions(4, rows=10)(torch.zeros(2, 3, 4), start=7).shape
    torch.Size([2, 3, 4])
    """

    def __init__(self, model_size: int, rows: int = 64):
        super().__init__()
        # Of variance 1, as a word's vector is by the time that it is added: N(0, 1/d) times √d. A much smaller row
        # would be drowned by the word at first, a much larger one would drown it.
        self.weight = nn.Parameter(torch.randn(rows, model_size))

    def forward(self, x: Float[Tensor, "batch n d_model"], start: int = 0) -> Float[Tensor, "batch n d_model"]:
        """The first vector of x stands at position `start`: 0, or the number of words written so far."""
        end, rows = start + x.shape[1], len(self.weight)
        if end > rows:
            raise ValueError(
                f"position {end - 1} was asked for, and the learned table has {rows} rows, for the positions 0 to "
                f"{rows - 1}; make it with rows={end} or more and train again, or use SinusoidalPositions, which has "
                "no last row"
            )
        return x + self.weight[start:end]
