"""From a trained model to words.

A model is asked for three things: `encode(source, mask)` gives the memory of a batch of sentences, `start(memory)` the
first state, and `step(words, state, memory)` the logits of the next word, the next state and where it looked. Memory
and state are tensors whose first axis is the batch, or (named) tuples of such; None stands for what there is not.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from course_lib.attention_map import AttentionMap
from course_lib.corpus import BOS, EOS, PAD, SPECIALS, Corpus, pad

AT_ONCE = 500  # sentences, or in a beam hypotheses


class Translation(NamedTuple):
    """What a model wrote. `finished` is False if it had not written `<eos>` when it was stopped.

    `log_probability` is Σ_t log p(y_t | y_1 … y_{t-1}, x) in nats, with that of `<eos>`.
    """

    tokens: tuple[str, ...]
    attention: AttentionMap | None
    finished: bool
    log_probability: float


class Written(NamedTuple):
    """Numbers of the words, the same length for all; what stands behind `<eos>` or the limit means nothing."""

    words: Int[Tensor, "batch step"]
    weights: Float[Tensor, "batch step source"] | None
    log_probability: Float[Tensor, " batch"]


Choice = Callable[[Float[Tensor, "batch size"]], Int[Tensor, " batch"]]


def likeliest(logits: Float[Tensor, "batch size"]) -> Int[Tensor, " batch"]:
    """argmax over the vocabulary."""
    return logits.argmax(-1)


def draw(
    logits: Float[Tensor, "batch size"],
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    generator: torch.Generator | None = None,
) -> Int[Tensor, " batch"]:
    """Draws a word with p = softmax(logits / T), of the k likeliest only if `top_k` is given (Fan et al. 2018).

    Raises ValueError: the temperature is not positive, or k is not between 1 and the vocabulary's size.

    >>> draw(torch.tensor([[0.0, 5.0, 1.0]]), top_k=1)
    tensor([1])
    """
    if not temperature > 0:
        raise ValueError(f"temperature is {temperature}; it must be above 0 (use `greedy` for what it tends to at 0)")
    size = logits.shape[-1]
    if top_k is not None:
        if not 1 <= top_k <= size:
            raise ValueError(f"top_k is {top_k}; it must be from 1 to {size}, the size of the vocabulary")
        kth = logits.topk(top_k).values[:, -1:]
        logits = logits.masked_fill(logits < kth, -torch.inf)
    return torch.multinomial((logits / temperature).softmax(-1), 1, generator=generator)[:, 0]


@torch.no_grad()
def write(
    model, memory, prompt: Int[Tensor, "batch prompt"], limit: Int[Tensor, " batch"], choose: Choice = likeliest
) -> Written:
    """Goes on from the prompt, word after word, until every row has written `<eos>` or as many words as its limit."""
    state = model.start(memory)
    for words in prompt[:, :-1].unbind(1):
        _, state, _ = model.step(words, state, memory)
    words, written, weights = prompt[:, -1], [], []
    total = torch.zeros(len(prompt), device=prompt.device)
    done = torch.zeros_like(words, dtype=torch.bool)
    while not done.all():
        logits, state, weight = model.step(words, state, memory)
        words = choose(logits)
        written.append(words)
        weights.append(weight)
        total += logits.log_softmax(-1).gather(1, words[:, None])[:, 0].masked_fill(done, 0.0)
        done |= (words == SPECIALS.index(EOS)) | (len(written) >= limit)
    return Written(torch.stack(written, 1), torch.stack(weights, 1) if weights[0] is not None else None, total)


def greedy(model, corpus: Corpus, sentences: Sequence[Sequence[str]]) -> list[Translation]:
    """Writes the likeliest next word, again and again, until `<eos>`.

    y_t = argmax p(y | y_1 … y_{t-1}, x). A sentence is stopped when it has twice as many words as its source
    and ten more.

    Args:
        sentences: lists of source words.
    Returns:
        for each sentence its words and, if the model has attention, the map from them to the source words.
    Raises:
        KeyError: a word is not in the source vocabulary.
        ValueError: a sentence is empty.
    """
    return _translate(model, corpus, sentences, write)


def sample(
    model,
    corpus: Corpus,
    sentences: Sequence[Sequence[str]],
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    generator: torch.Generator | None = None,
) -> list[Translation]:
    """Draws each next word, y_t ~ softmax(logits / T), as `draw` does; otherwise like `greedy`."""
    choose = partial(draw, temperature=temperature, top_k=top_k, generator=generator)
    return _translate(model, corpus, sentences, partial(write, choose=choose))


def beam(
    model, corpus: Corpus, sentences: Sequence[Sequence[str]], *, width: int = 4, length_penalty: float = 0.6
) -> list[Translation]:
    """Keeps the `width` best beginnings at each step, and gives the best sentence among them at the end.

    Best is the highest `log p(y | x) / ((5 + |y|) / 6)^α`, with α = `length_penalty` (Wu et al. 2016, equation 14):
    without it (α = 0) short sentences win, since each word more can only lower log p. Otherwise like `greedy`,
    which it is at width 1.

    Raises:
        ValueError: the width is not positive; or as `greedy`.
    """
    if width < 1:
        raise ValueError(f"width is {width}; it must be at least 1")
    search = partial(_beam, width=width, length_penalty=length_penalty)
    return _translate(model, corpus, sentences, search, at_once=max(1, AT_ONCE // width))


@torch.no_grad()
def _beam(model, memory, prompt, limit, width: int, length_penalty: float) -> Written:
    """`write` for sentences with `width` hypotheses each: their rows stand side by side, sentence after sentence."""
    batch, device = len(prompt), prompt.device
    eos, filler = SPECIALS.index(EOS), SPECIALS.index(PAD)
    spread = torch.arange(batch, device=device).repeat_interleave(width)
    memory, limit = rows_of(memory, spread), limit[spread]
    state, words = model.start(memory), prompt[spread, -1]
    # One hypothesis a sentence at first: the others, equal to it, are out of the race.
    total = torch.full((batch, width), -torch.inf, device=device)
    total[:, 0] = 0.0
    length = torch.zeros(batch * width, device=device)
    done = torch.zeros_like(words, dtype=torch.bool)
    written, weights = torch.zeros(batch * width, 0, dtype=torch.long, device=device), []
    while not done.all():
        logits, state, weight = model.step(words, state, memory)
        gains = logits.log_softmax(-1)
        gains[done] = -torch.inf  # a finished hypothesis has one continuation, which costs nothing
        gains[done, filler] = 0.0
        length += ~done
        totals = total.view(-1, 1) + gains
        ranks = totals / ((5 + length[:, None]) / 6) ** length_penalty
        best = ranks.view(batch, -1).topk(width).indices
        total = totals.view(batch, -1).gather(1, best)
        size = logits.shape[-1]
        rows = (best // size + width * torch.arange(batch, device=device)[:, None]).flatten()
        words = (best % size).flatten()
        state, done, length = rows_of(state, rows), done[rows], length[rows]
        written = torch.cat([written[rows], words[:, None]], 1)
        weights = [seen[rows] for seen in [*weights, weight]] if weight is not None else []
        done = done | (words == eos) | (written.shape[1] >= limit)
    final = total / ((5 + length.view(batch, width)) / 6) ** length_penalty
    rows = final.argmax(1) + width * torch.arange(batch, device=device)
    seen = torch.stack(weights, 1)[rows] if weights else None
    return Written(written[rows], seen, total.flatten()[rows])


def rows_of(tree, index: Int[Tensor, " rows"]):
    """These rows of every tensor in a memory or state."""
    if tree is None or isinstance(tree, Tensor):
        return None if tree is None else tree[index]
    parts = [rows_of(part, index) for part in tree]
    return type(tree)(*parts) if hasattr(tree, "_fields") else tuple(parts)


def _translate(model, corpus: Corpus, sentences, search: Callable[..., Written], at_once: int | None = None):
    if not len(sentences):
        return []
    model.eval()
    device = next(model.parameters()).device
    numbers = [corpus.source_vocabulary.encode(sentence) for sentence in sentences]
    if [] in numbers:
        raise ValueError(f"sentence {numbers.index([])} is empty; every sentence needs at least one word")
    order = sorted(range(len(sentences)), key=lambda i: len(sentences[i]))
    at_once = at_once or AT_ONCE
    translations: dict[int, Translation] = {}
    for chunk in (order[i : i + at_once] for i in range(0, len(order), at_once)):
        source, mask = (tensor.to(device) for tensor in pad([numbers[i] for i in chunk]))
        limit = 2 * mask.sum(1) + 10
        with torch.no_grad():
            memory = model.encode(source, mask)
        prompt = torch.full_like(limit, SPECIALS.index(BOS))[:, None]
        written = search(model, memory, prompt, limit)
        table, totals = written.words.tolist(), written.log_probability.tolist()
        seen = None if written.weights is None else written.weights.cpu()
        for row, i in enumerate(chunk):
            line = table[row][: int(limit[row])]
            finished = SPECIALS.index(EOS) in line
            count = line.index(SPECIALS.index(EOS)) if finished else len(line)
            tokens = tuple(corpus.target_vocabulary.words[number] for number in line[:count])
            attention = None
            if seen is not None:
                attention = AttentionMap(seen[row, :count, : len(sentences[i])], tokens, sentences[i])
            translations[i] = Translation(tokens, attention, finished, totals[row])
    return [translations[i] for i in range(len(sentences))]
