"""How many words can be read back from a state."""

from functools import cache

import torch
from torch.nn import functional as F

from course_lib.checks.engine import Misconception


@cache
def shares_read(size: int, scale: float = 0.3, positions: int = 20) -> list[float]:
    """The share of words that a linear map reads back from the last state of a random network, the last word first."""
    vocabulary, sentences = 16, 4000
    generator = torch.Generator().manual_seed(0)
    W_h = torch.linalg.qr(torch.randn(size, size, generator=generator))[0]
    W_x = scale * torch.randn(size, vocabulary, generator=generator)
    words = torch.randint(vocabulary, (sentences, positions), generator=generator)
    state = torch.zeros(sentences, size)
    for word in words.unbind(1):
        state = torch.tanh(W_x.T[word] + state @ W_h.T)
    wanted, half = F.one_hot(words, vocabulary).float(), sentences // 2
    reader = torch.linalg.lstsq(state[:half], wanted[:half].flatten(1)).solution
    read = (state[half:] @ reader).view(half, positions, vocabulary).argmax(-1)
    return (read == words[half:]).float().mean(0).flip(0).tolist()


def held(size: int, scale: float = 0.3, positions: int = 20) -> int:
    """How many words, counted from the last, are read back correctly in at least half of the sentences."""
    return next(number for number, share in enumerate(shares_read(size, scale, positions)) if share < 0.5)


def miscounted(size: int) -> tuple[Misconception, Misconception]:
    return (
        Misconception(
            "perhaps you counted from 0",
            "The last word is number 1, as on the axis. How many points are on the dashed line or above it?",
            lambda: held(size) - 1,
        ),
        Misconception(
            "perhaps you also counted the first word below one half",
            "Count only the words whose points are on the dashed line or above it.",
            lambda: held(size) + 1,
        ),
    )
