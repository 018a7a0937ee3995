"""Trains a language model towards texts that are preferred: a reward, pairs of texts, and the losses that use them.

The model is one of `language_models`. Prompts (batch, prompt) and continuations (batch, length) have no padding.
Log-probabilities are natural, so distances are in nats per text.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from course_lib.decoding import NO_END, draw, write

Words = Int[Tensor, "batch length"]
Sums = Float[Tensor, " batch"]


def finished_sentences(text: str) -> int:
    """Counts the sentences of at least three words that begin with a capital and end with a full stop, "!" or "?".

    The text is split at white space after such a mark.

    >>> finished_sentences("and so on.  This is a sentence. Nor. Is this one? It is no")
    2
    """
    parts = re.split(r"(?<=[.!?])\s+", text.strip())
    return sum(len(part.split()) >= 3 and part[0].isupper() and part[-1] in ".!?" for part in parts)


def continued(model, prompts: Int[Tensor, "batch prompt"], length: int, generator: torch.Generator) -> Words:
    """Returns `length` tokens after each prompt, each drawn with the model's probabilities."""
    limit = torch.full((len(prompts),), length)
    return write(model, None, prompts, limit, partial(draw, generator=generator), end=NO_END).words


def log_p_of(model, prompts: Int[Tensor, "batch prompt"], words: Words) -> Sums:
    """Computes log π(y | x) = Σ_t log π(y_t | x, y_1 … y_{t-1}) for each continuation y of its prompt x."""
    both = torch.cat([prompts, words], 1)
    logits = model(both[:, :-1])[0][:, prompts.shape[1] - 1 :]  # those for the continuation's tokens
    return logits.log_softmax(-1).gather(-1, words[..., None])[..., 0].sum(1)


class Pairs(NamedTuple):
    """Two continuations of each prompt, of which a rater prefers one."""

    prompts: Int[Tensor, "batch prompt"]
    better: Words
    worse: Words

    def of(self, rows: Int[Tensor, " some"]) -> "Pairs":
        return Pairs(*(part[rows] for part in self))


def compared(prompts: Int[Tensor, "batch prompt"], one: Words, other: Words, rewards: Sums, others: Sums) -> Pairs:
    """Puts the continuation with the higher reward first, and leaves out the prompts where both have the same."""
    first = (rewards > others)[:, None]
    pairs = Pairs(prompts, torch.where(first, one, other), torch.where(first, other, one))
    return pairs.of((rewards != others).nonzero()[:, 0])


def dpo_loss(better: Sums, worse: Sums, old_better: Sums, old_worse: Sums, beta: float) -> Float[Tensor, ""]:
    """Computes −log σ(β [(log π(y_w) − log π_old(y_w)) − (log π(y_l) − log π_old(y_l))]), averaged over the pairs.

    Source: Rafailov et al. 2023, equation 7, direct preference optimisation.

    Args:
        better, worse: log π of the preferred continuation y_w and of the other one, y_l, under the trained model.
        old_better, old_worse: the same under the model that the training started with.
        beta: β; the larger, the smaller is the distance from the old model at which the loss is low.
    """
    return -F.logsigmoid(beta * ((better - old_better) - (worse - old_worse))).mean()


def policy_gradient_loss(new: Sums, old: Sums, rewards: Sums, beta: float) -> Float[Tensor, ""]:
    """Computes −(R − R̄) log π(y), averaged over the texts, where R = r − β (log π(y) − log π_old(y)) gets no gradient.

    Its gradient is an estimate of that of −E[r] + β KL(π‖π_old). The model itself must have written the texts y.
    Source: REINFORCE (Williams 1992) with the batch's mean R̄ as baseline, and the penalty of Ziegler et al. 2019.
    """
    worth = rewards - beta * (new.detach() - old)
    return -((worth - worth.mean()) * new).mean()


def taught(
    parameters: Iterable[nn.Parameter], loss: Callable[[], Float[Tensor, ""]], steps: int, learning_rate: float
) -> Iterator[int]:
    """Takes steps of Adam, each after a call of `loss`, with gradients clipped to norm 1; yields each step's number."""
    parameters = list(parameters)
    optimizer = torch.optim.Adam(parameters, lr=learning_rate)
    for step in range(1, steps + 1):
        optimizer.zero_grad()
        loss().backward()
        nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        yield step
