"""Writes words with a trained model.

A model needs three methods: `encode(source, mask)` returns the memory of a batch of sentences, `start(memory)` returns
the first state, and `step(words, state, memory)` returns the logits of the next word, the next state and the attention
weights. Memory and state are tensors whose first axis is the batch, or (named) tuples of such tensors, with None for a
missing one. A fourth method, `read(words, state, memory)`, does `step` for several words, so a prompt costs one pass.

`greedy`, `sample` and `beam` translate sentences. `write_from` writes from a memory that was not made from words, such
as the regions of an image. `write` continues prompts of numbers, and `write_on` continues texts.
"""

from collections.abc import Callable, Sequence
from functools import partial, wraps
from itertools import count
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional as F

from course_lib.attention_map import AttentionMap
from course_lib.corpus import BOS, EOS, SPECIALS, Corpus, pad
from course_lib.decorators import in_float32, restoring_modes, without_gradients

AT_ONCE = 500  # sentences in a batch; for beam search, hypotheses
NO_END = -1  # no word has this number
UNDECIDED = (
    "the logits of a row are NaN or infinite, so no word can be chosen by them; look for NaN in the model's weights, "
    "which too high a learning rate may have left there"
)


class Translation(NamedTuple):
    """A sentence that a model wrote. `finished` is False if the limit stopped it before the end mark.

    `log_probability` is Σ_t log p(y_t | y_1 … y_{t-1}, x) in nats, including the end mark.
    """

    tokens: tuple[str, ...]
    attention: AttentionMap | None
    finished: bool
    log_probability: float


class Written(NamedTuple):
    """Numbers of the written words. All rows have one length; ignore what comes after the end mark or the limit."""

    words: Int[Tensor, "batch step"]
    weights: Float[Tensor, "batch step source"] | None
    log_probability: Float[Tensor, " batch"]


Choice = Callable[[Float[Tensor, "batch size"]], Int[Tensor, " batch"]]


def likeliest(logits: Float[Tensor, "batch size"]) -> Int[Tensor, " batch"]:
    """Returns the most probable word, the argmax over the vocabulary."""
    return logits.argmax(-1)


def exactly_k(draw: Callable) -> Callable:
    """Makes `draw` keep exactly k words: among ties at the k-th, it keeps the lower numbers, as `likeliest` does."""

    @wraps(draw)
    def drawn(logits, *, top_k: int | None = None, **settings):
        if top_k is not None and 0 < top_k < logits.shape[-1]:
            cut = logits.argsort(dim=-1, descending=True, stable=True)[:, top_k:]
            logits = logits.scatter(-1, cut, -torch.inf)
        return draw(logits, top_k=top_k, **settings)

    return drawn


@exactly_k
@in_float32
def draw(
    logits: Float[Tensor, "batch size"],
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    generator: torch.Generator | None = None,
) -> Int[Tensor, " batch"]:
    """Draws a word with p = softmax(logits / T), from all words or from the most probable only.

    Args:
        temperature: T.
        top_k: draws from the k most probable words (Fan et al. 2018); among ties, the lower numbers come first.
        top_p: draws from the fewest most probable words whose p sum to at least `top_p` (Holtzman et al. 2020). With
            `top_k`, p is normalised over the k words first.
    Raises:
        ValueError: the temperature is not positive, k is not from 1 to the vocabulary's size, or `top_p` is not
            above 0 and at most 1.
        FloatingPointError: logits are NaN or infinite.

    >>> draw(torch.tensor([[0.0, 5.0, 1.0]]), top_k=1)
    tensor([1])
    """
    if not temperature > 0:
        raise ValueError(f"temperature is {temperature}; it must be above 0 (use `greedy` for the limit at 0)")
    if not logits.amax(-1).isfinite().all():
        raise FloatingPointError(UNDECIDED)
    size = logits.shape[-1]
    if top_k is not None:
        if not 1 <= top_k <= size:
            raise ValueError(f"top_k is {top_k}; it must be from 1 to {size}, the size of the vocabulary")
        kth = logits.topk(top_k).values[:, -1:]
        logits = logits.masked_fill(logits < kth, -torch.inf)
    p = (logits / temperature).softmax(-1)
    if top_p is not None:
        if not 0 < top_p <= 1:
            raise ValueError(f"top_p is {top_p}; it must be above 0 and at most 1, which keeps all words")
        p = nucleus(p, top_p)
    return torch.multinomial(p, 1, generator=generator)[:, 0]


@in_float32
def nucleus(p: Float[Tensor, "batch size"], top_p: float) -> Float[Tensor, "batch size"]:
    """Keeps p at the fewest words whose sum reaches `top_p`, with the word that crosses it; the rest becomes 0.

    >>> nucleus(torch.tensor([[0.2, 0.5, 0.3]]), 0.6)
    tensor([[0.0000, 0.5000, 0.3000]])
    """
    if top_p == 1:  # a rounded sum may reach 1 before the last words
        return p
    down, order = p.sort(-1, descending=True)
    reached_before = F.pad(down.cumsum(-1)[:, :-1], (1, 0), value=-1.0) >= top_p  # never before the first
    return p.scatter(-1, order, down.masked_fill(reached_before, 0.0))


@without_gradients
def write(
    model,
    memory,
    prompt: Int[Tensor, "batch prompt"],
    limit: Int[Tensor, " batch"],
    choose: Choice = likeliest,
    *,
    end: int = SPECIALS.index(EOS),
) -> Written:
    """Continues the prompts word by word, until every row has written `end` or reached its limit.

    Args:
        memory: the result of the model's `encode`; None if the model has none.
        prompt: words without padding. `write_on` takes prompts of different lengths.
        limit: number of words that each row may write after its prompt.
        choose: takes the logits of each row and returns its next word.
        end: number of the word that ends a sentence.
    Raises:
        ValueError: the prompts are empty.
        FloatingPointError: logits are NaN or infinite.
    """
    logits, state, weight = read(model, prompt, model.start(memory), memory)
    written, weights = [], []
    total = torch.zeros(len(prompt), device=prompt.device)
    done = torch.zeros_like(limit, dtype=torch.bool)
    for length in count(1):
        if not logits.amax(-1).isfinite().all():
            raise FloatingPointError(UNDECIDED)
        words = choose(logits)
        written.append(words)
        weights.append(weight)
        total += logits.log_softmax(-1).gather(1, words[:, None])[:, 0].masked_fill(done, 0.0)
        done = done | (words == end) | (limit <= length)
        if done.all():
            break
        logits, state, weight = model.step(words, state, memory)
    return Written(torch.stack(written, 1), torch.stack(weights, 1) if weights[0] is not None else None, total)


def read(model, words: Int[Tensor, "batch prompt"], state, memory) -> tuple:
    """Returns what `model.step` gives after the last word; takes one pass if the model has a method `read`."""
    if not words.numel():
        raise ValueError(f"the prompts are empty; every prompt needs a word, such as {BOS}")
    if words.shape[1] > 1 and hasattr(model, "read"):
        return model.read(words, state, memory)
    for column in words.unbind(1):
        logits, state, weight = model.step(column, state, memory)
    return logits, state, weight


def greedy(model, corpus: Corpus, sentences: Sequence[Sequence[str]]) -> list[Translation]:
    """Translates by writing the most probable next word until the end mark of the target vocabulary.

    y_t = argmax p(y | y_1 … y_{t-1}, x). A sentence stops at twice as many words as its source plus ten. `write` runs
    this loop for many sentences at once; for one sentence it is:

    >>> from course_lib.corpus import Vocabulary
    >>> from course_lib.recurrent import EncoderDecoder
    >>> corpus = Corpus((), (), {}, Vocabulary(["the", "cat"]), Vocabulary(["le", "chat"]))
    >>> model, bos, eos = EncoderDecoder(6, 6, hidden_size=8), SPECIALS.index(BOS), SPECIALS.index(EOS)
    >>> memory = model.encode(torch.tensor([corpus.source_vocabulary.encode(["the", "cat"])]), None)
    >>> state, word, written = model.start(memory), torch.tensor([bos]), []
    >>> while len(written) < 14:
    ...     logits, state, _ = model.step(word, state, memory)
    ...     word = logits.argmax(-1)
    ...     if word == eos:
    ...         break
    ...     written.append(corpus.target_vocabulary.words[word])
    >>> greedy(model, corpus, [["the", "cat"]])[0].tokens == tuple(written)
    True

    Args:
        sentences: lists of source words.
    Returns:
        For each sentence its words and, if the model has attention, the map from them to the source words.
    Raises:
        KeyError: a word is not in the source vocabulary.
        TypeError: the sentences, or the words of one sentence, are a string.
        ValueError: a sentence is empty.
        FloatingPointError: logits are NaN or infinite.
    """
    return _translate(model, corpus, sentences, write)


def sample(
    model,
    corpus: Corpus,
    sentences: Sequence[Sequence[str]],
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    generator: torch.Generator | None = None,
) -> list[Translation]:
    """Translates like `greedy`, but draws each next word, y_t ~ softmax(logits / T), with `draw`."""
    choose = partial(draw, temperature=temperature, top_k=top_k, top_p=top_p, generator=generator)
    return _translate(model, corpus, sentences, partial(write, choose=choose))


def beam(
    model, corpus: Corpus, sentences: Sequence[Sequence[str]], *, width: int = 4, length_penalty: float = 0.6
) -> list[Translation]:
    """Translates like `greedy`, but keeps the `width` best hypotheses at each step and returns the best at the end.

    The best has the highest `log p(y | x) / ((5 + |y|) / 6)^α`, with α = `length_penalty` (Wu et al. 2016, equation
    14). Without it (α = 0) short sentences win, since each further word can only lower log p. With width 1, this is
    `greedy`.

    Raises:
        ValueError: the width is not positive, or `greedy` would raise it.
    """
    if width < 1:
        raise ValueError(f"width is {width}; it must be at least 1")
    search = partial(_beam, width=width, length_penalty=length_penalty)
    return _translate(model, corpus, sentences, search, at_once=max(1, AT_ONCE // width))


@without_gradients
def _beam(
    model, memory, prompt, limit, width: int, length_penalty: float, *, end: int = SPECIALS.index(EOS)
) -> Written:
    """Does `write` with `width` hypotheses per sentence; the rows of one sentence follow one another."""
    batch, device = len(prompt), prompt.device
    spread = torch.arange(batch, device=device).repeat_interleave(width)
    memory, prompt, limit = rows_of((memory, prompt, limit), spread)
    # At first all hypotheses of a sentence are equal, so only one counts.
    total = torch.full((batch, width), -torch.inf, device=device)
    total[:, 0] = 0.0
    length = torch.zeros(batch * width, device=device)
    done = torch.zeros_like(limit, dtype=torch.bool)
    written, weights = torch.zeros(batch * width, 0, dtype=torch.long, device=device), []
    logits, state, weight = read(model, prompt, model.start(memory), memory)
    while not done.all():
        if not logits.amax(-1).isfinite().all():
            raise FloatingPointError(UNDECIDED)
        gains = logits.log_softmax(-1)
        gains[done] = -torch.inf  # a finished hypothesis has one continuation, which costs nothing
        gains[done, end] = 0.0
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
        done = done | (words == end) | (limit <= written.shape[1])
        if not done.all():
            logits, state, weight = model.step(words, state, memory)
    final = total / ((5 + length.view(batch, width)) / 6) ** length_penalty
    rows = final.argmax(1) + width * torch.arange(batch, device=device)
    seen = torch.stack(weights, 1)[rows] if weights else None
    return Written(written[rows], seen, total.flatten()[rows])


def rows_of(tree, index: Int[Tensor, " rows"]):
    """Picks these rows from every tensor in a memory or state."""
    if tree is None or isinstance(tree, Tensor):
        return None if tree is None else tree[index]
    parts = [rows_of(part, index) for part in tree]
    return type(tree)(*parts) if hasattr(tree, "_fields") else tuple(parts)


@restoring_modes
def write_from(
    model,
    memory,
    vocabulary,
    limit: Int[Tensor, " batch"],
    *,
    labels: Sequence[Sequence[str]] | None = None,
    search: Callable[..., Written] = write,
) -> list[Translation]:
    """Writes a sentence from each row of a memory.

    Args:
        memory: the result of the model's `encode`, or anything else that its `start` and `step` take as a memory.
        vocabulary: has `words` by number and `numbers` by word. Its attributes `bos` and `eos`, if it has them, name
            the marks that begin and end a sentence; otherwise these are `<bos>` and `<eos>`.
        limit: number of words that each sentence may have.
        labels: for each row, names of its keys without padding; without labels there are no attention maps.
        search: `write`, or `partial(write, choose=…)`.

    >>> from course_lib.corpus import Vocabulary
    >>> from course_lib.recurrent import EncoderDecoder, Memory
    >>> model, vocabulary = EncoderDecoder(1, 6, hidden_size=8), Vocabulary(["cat", "dog"])
    >>> regions = Memory(torch.zeros(1, 3, 8), torch.zeros(1, 8), None, None)  # of one image, say
    >>> (caption,) = write_from(model, regions, vocabulary, limit=torch.tensor([5]))
    >>> len(caption.tokens) <= 5
    True
    """
    model.eval()
    begin, end = (vocabulary.numbers[getattr(vocabulary, name, usual)] for name, usual in (("bos", BOS), ("eos", EOS)))
    written = search(model, memory, torch.full_like(limit, begin)[:, None], limit, end=end)
    table, totals = written.words.tolist(), written.log_probability.tolist()
    seen = None if labels is None or written.weights is None else written.weights.cpu()
    translations = []
    for row, (line, most) in enumerate(zip(table, limit.tolist(), strict=True)):
        line = line[:most]
        length = line.index(end) if end in line else len(line)
        tokens = tuple(vocabulary.words[number] for number in line[:length])
        attention = None
        if seen is not None:
            attention = AttentionMap(seen[row, :length, : len(labels[row])], tokens, labels[row])
        translations.append(Translation(tokens, attention, length < len(line), totals[row]))
    return translations


class Continuation(NamedTuple):
    """A language model's continuation of a prompt.

    `log_probability` is the sum of log p of its tokens in nats. `stopped` says why it has fewer tokens than the limit;
    otherwise it is "".
    """

    text: str
    tokens: tuple[int, ...]
    log_probability: float
    stopped: str


@restoring_modes
def write_on(
    model, vocabulary, prompts: Sequence[str], limit: int, choose: Choice = likeliest, *, beyond: bool = False
) -> list[Continuation]:
    """Continues each prompt by `limit` tokens, or until the text reaches the model's `trained_length`.

    Args:
        model: a language model with the attribute `trained_length`, in tokens.
        vocabulary: has `encode` and `decode`, as `BytePairs` does.
        choose: as in `write`, such as `partial(draw, top_p=0.9)`.
        beyond: whether the model may write past its trained length.
    Raises:
        ValueError: the limit is not positive, or a prompt is empty or, without `beyond`, fills the trained length.
        TypeError: the prompts are one string.
        FloatingPointError: logits are NaN or infinite.

    >>> from course_lib.byte_pairs import BytePairs
    >>> from course_lib.language_models import RecurrentLanguageModel
    >>> model = RecurrentLanguageModel(256, trained_length=8)
    >>> (written,) = write_on(model, BytePairs([]), ["while "], limit=5)
    >>> len(written.tokens), written.stopped
    (2, 'stopped at 8 tokens, the longest text that the model was trained on; beyond=True writes on')
    """
    if limit < 1:
        raise ValueError(f"limit is {limit}; it must be at least 1 token")
    if isinstance(prompts, str):
        raise TypeError(f"the prompts are one string, whose characters would be prompts; give a list, [{prompts!r}]")
    numbers, most = [vocabulary.encode(prompt) for prompt in prompts], model.trained_length
    for place, row in enumerate(numbers):
        if not row:
            raise ValueError(f"prompt {place} is empty; every prompt needs a token")
        if len(row) >= most and not beyond:
            raise ValueError(
                f"prompt {place} has {len(row)} tokens, but the model was trained on texts of at most {most}; "
                "shorten the prompt, or pass beyond=True"
            )
    model.eval()
    told = f"stopped at {most} tokens, the longest text that the model was trained on; beyond=True writes on"
    continuations: dict[int, Continuation] = {}
    for length in sorted(set(map(len, numbers))):  # prompts of one length need no padding
        places = [place for place, row in enumerate(numbers) if len(row) == length]
        own = limit if beyond else min(limit, most - length)
        prompt = torch.tensor([numbers[place] for place in places], device=next(model.parameters()).device)
        written = write(model, None, prompt, torch.full_like(prompt[:, 0], own), choose, end=NO_END)
        for place, tokens, total in zip(places, written.words.tolist(), written.log_probability.tolist(), strict=True):
            text = vocabulary.decode(tokens)
            continuations[place] = Continuation(text, tuple(tokens), total, told if own < limit else "")
    return [continuations[place] for place in range(len(prompts))]


@restoring_modes
def _translate(model, corpus: Corpus, sentences, search: Callable[..., Written], at_once: int | None = None):
    if isinstance(sentences, str):
        raise TypeError(
            f"the sentences are one string, {sentences!r}; give a list of lists of words, [{sentences.split()}]"
        )
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
        with torch.no_grad():
            memory = model.encode(source, mask)
        labels, limit = [sentences[i] for i in chunk], 2 * mask.sum(1) + 10
        written = write_from(model, memory, corpus.target_vocabulary, limit, labels=labels, search=search)
        translations |= zip(chunk, written, strict=True)
    return [translations[i] for i in range(len(sentences))]
