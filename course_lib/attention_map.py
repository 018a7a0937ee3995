"""An attention matrix with words on both axes."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor


@dataclass(frozen=True)
class AttentionMap:
    """Attention weights with their words. Row t shows where query word t looks, and each row sums to 1.

    Args:
        weights: (query, key), each entry in 0 … 1; the row of a masked query may be all zeros.
        query_tokens: the words of the rows; for a translator, the words it writes.
        key_tokens: the words of the columns; for a translator, the words it reads.
    Raises:
        TypeError: the words are a string instead of a list.
        ValueError: the shape is not (query words, key words), an entry is NaN or outside 0 … 1, or a row sums neither
            to 1 nor to 0. The message names the row by its word.

    >>> print(AttentionMap(torch.tensor([[0.9, 0.1]]), ["chat"], ["cat", "black"]).alt_text())
    Attention weights, 1 by 2 words. chat: cat 0.90, black 0.10.
    """

    weights: np.ndarray
    query_tokens: tuple[str, ...]
    key_tokens: tuple[str, ...]

    def __init__(self, weights: Tensor | np.ndarray, query_tokens, key_tokens):
        weights = torch.as_tensor(weights).detach()
        rounding = torch.finfo(weights.dtype).eps if weights.is_floating_point() else 0.0  # 0.008 in bfloat16
        weights = weights.to("cpu", torch.float64, copy=True).numpy()
        for tokens in (query_tokens, key_tokens):
            if isinstance(tokens, str):
                raise TypeError(f"the words are one string, {tokens!r}; give a list of words, {tokens.split()}")
        queries, keys = tuple(query_tokens), tuple(key_tokens)
        if weights.shape != (len(queries), len(keys)):
            raise ValueError(
                f"the weights have the shape {weights.shape}; they need one row for each of {len(queries)} query words "
                f"and one column for each of {len(keys)} key words"
            )
        totals = weights.sum(1)
        problems = {
            "holds NaN; was every key masked before a plain softmax?": np.isnan(weights).any(1),
            "leaves 0 … 1: {row}; were scores given for weights?": ((weights < 0) | (weights > 1 + 1e-4)).any(1),
            "sums to {total:.4f}, not 1; was the softmax taken over the wrong axis?": (
                abs(totals - 1) > max(1e-3, rounding)
            )
            & (weights != 0).any(1),
        }
        for problem, rows in problems.items():
            if rows.any():
                row = rows.argmax()
                said = problem.format(row=weights[row].tolist(), total=totals[row])
                raise ValueError(f"the row of {queries[row]!r} {said}")
        for name, value in (("weights", weights), ("query_tokens", queries), ("key_tokens", keys)):
            object.__setattr__(self, name, value)

    def strongest(self) -> list[int | None]:
        """Returns the key position with the largest weight in each row, and None for a row of zeros."""
        return [int(row.argmax()) if row.any() else None for row in self.weights]

    def alt_text(self) -> str:
        """Describes the map in words: each query word with its two strongest keys."""
        rows = []
        for token, row in zip(self.query_tokens, self.weights, strict=True):
            best = [i for i in np.argsort(-row, kind="stable")[:2] if row[i] > 0]
            seen = ", ".join(f"{self.key_tokens[i]} {row[i]:.2f}" for i in best) or "nothing"
            rows.append(f"{token}: {seen}")
        return f"Attention weights, {len(rows)} by {len(self.key_tokens)} words. {'; '.join(rows)}."

    def table(self) -> str:
        """Returns the weights as a plain text table, with query words down and key words across."""
        columns = ["", *self.key_tokens]
        rows = [
            [token, *(f"{weight:.2f}" for weight in row)]
            for token, row in zip(self.query_tokens, self.weights, strict=True)
        ]
        widths = [max(len(line[i]) for line in [columns, *rows]) for i in range(len(columns))]
        return "\n".join(
            "  ".join(
                [
                    line[0].ljust(widths[0]),
                    *(cell.rjust(w) for cell, w in zip(line[1:], widths[1:], strict=True)),
                ]
            )
            for line in [columns, *rows]
        )
