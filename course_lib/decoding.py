"""From a trained model to words.

A model is asked for three things: `encode(source, mask)` gives the memory of a batch of sentences, `start(memory)` the
first state, and `step(words, state, memory)` the logits of the next word, the next state and where it looked. Memory
and state are tensors whose first axis is the batch, or (named) tuples of such; None stands for what there is not.
With a fourth, `read(words, state, memory)`, which is `step` for several words, a prompt costs one pass.

Sentences go in by `greedy`, `sample` and `beam`. A memory that was not made from words (of the regions of an image,
say) goes in by `write_from`, prompts by `write`, and texts to be gone on with by `write_on`.
"""

from collections.abc import Callable, Sequence
from functools import partial, wraps
from itertools import count
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int, Shaped
from torch import Tensor
from torch.nn import functional as F

from course_lib.attention_map import AttentionMap
from course_lib.corpus import BOS, EOS, SPECIALS, Corpus, pad
from course_lib.decorators import in_float32, restoring_modes

AT_ONCE = 500  # sentences, or in a beam hypotheses
NO_END = -1  # no word has this number
UNDECIDED = (
    "the logits of a row are NaN or infinite, so no word can be chosen by them; look for NaN in the model's weights, "
    "which too high a learning rate may have left there"
)


class Translation(NamedTuple):
    """What a model wrote. `finished` is False if it had not written the end mark when it was stopped.

    `log_probability` is Σ_t log p(y_t | y_1 … y_{t-1}, x) in nats, with that of the end mark.
    """

    tokens: tuple[str, ...]
    attention: AttentionMap | None
    finished: bool
    log_probability: float


class Written(NamedTuple):
    """Numbers of the words, the same length for all; what stands behind the end mark or the limit means nothing."""

    words: Int[Tensor, "batch step"]
    weights: Float[Tensor, "batch step source"] | None
    log_probability: Float[Tensor, " batch"]


Choice = Callable[[Float[Tensor, "batch size"]], Int[Tensor, " batch"]]


def likeliest(logits: Float[Tensor, "batch size"]) -> Int[Tensor, " batch"]:
    """argmax over the vocabulary."""
    return logits.argmax(-1)


def exactly_k(draw: Callable) -> Callable:
    """Of words equally likely at the k-th place, `draw` keeps those with the lower numbers, as `likeliest` does."""

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
    """Draws a word with p = softmax(logits / T), from all words or from the likeliest only.

    Args:
        top_k: of the k likeliest (Fan et al. 2018); of words that are equally likely, those with the lower numbers.
        top_p: of the fewest whose p together reach it, the likeliest first (Holtzman et al. 2020). With `top_k` too,
            p is that among the k.
    Raises:
        ValueError: the temperature is not positive, k is not between 1 and the vocabulary's size, or `top_p` is not
            above 0 and at most 1.
        FloatingPointError: logits are NaN or infinite.

    >>> draw(torch.tensor([[0.0, 5.0, 1.0]]), top_k=1)
    tensor([1])
    """
    if not temperature > 0:
        raise ValueError(f"temperature is {temperature}; it must be above 0 (use `greedy` for what it tends to at 0)")
    if not logits.max(-1).values.isfinite().all():
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
    """p with zeros but at the fewest words that reach `top_p` together; the word that crosses it is kept.

    >>> nucleus(torch.tensor([[0.2, 0.5, 0.3]]), 0.6)
    tensor([[0.0000, 0.5000, 0.3000]])
    """
    if top_p == 1:  # rounded, the sum may reach it before the last words
        return p
    down, order = p.sort(-1, descending=True)
    reached_before = F.pad(down.cumsum(-1)[:, :-1], (1, 0), value=-1.0) >= top_p  # never before the first
    return p.scatter(-1, order, down.masked_fill(reached_before, 0.0))


@torch.no_grad()
def write(
    model,
    memory,
    prompt: Int[Tensor, "batch prompt"],
    limit: Int[Tensor, " batch"],
    choose: Choice = likeliest,
    *,
    prompt_mask: Bool[Tensor, "batch prompt"] | None = None,
    end: int = SPECIALS.index(EOS),
) -> Written:
    """Goes on from the prompt, word after word, until every row has written `end` or as many words as its limit.

    Prompts of unequal length are read together as far as the shortest goes, then the longer ones are told on, a word a
    step, while the others write already. So nothing is padded that the model would have to pass over.

    Args:
        memory: what the model's `encode` gives; None if it has no such thing.
        limit: words that each row may write behind its prompt.
        choose: makes from the logits of each row its next word.
        prompt_mask: True at the words of each prompt, False at the padding behind them, as `corpus.pad` gives it.
        end: number of the word that ends a sentence.
    Raises:
        TypeError: the mask is not boolean.
        ValueError: a prompt is empty.
        FloatingPointError: logits are NaN or infinite.
    """
    told = words_told(prompt, prompt_mask)
    first, last = int(told.min()), told + limit
    logits, state, weight = read(model, prompt[:, :first], model.start(memory), memory)
    written, weights = [], []
    total = torch.zeros(len(prompt), device=prompt.device)
    done = nobody = torch.zeros_like(told, dtype=torch.bool)
    for place in count(first):
        if not logits.max(-1).values.isfinite().all():
            raise FloatingPointError(UNDECIDED)
        words, telling = choose(logits), nobody
        if place < prompt.shape[1]:
            telling = told > place
            words = torch.where(telling, prompt[:, place], words)
        written.append(words)
        weights.append(weight)
        total += logits.log_softmax(-1).gather(1, words[:, None])[:, 0].masked_fill(done | telling, 0.0)
        done = done | ~telling & ((words == end) | (last <= place + 1))
        if done.all():
            break
        logits, state, weight = model.step(words, state, memory)
    weights = torch.stack(weights, 1) if weights[0] is not None else None
    return Written(behind_prompt(torch.stack(written, 1), told), behind_prompt(weights, told), total)


def words_told(prompt: Int[Tensor, "batch prompt"], mask: Bool[Tensor, "batch prompt"] | None) -> Int[Tensor, " batch"]:
    """Words of each prompt. Raises ValueError if one is empty, or has a word behind padding."""
    if mask is not None and mask.dtype != torch.bool:
        raise TypeError(f"the mask is {mask.dtype}; it must be torch.bool, True at the words of each prompt")
    told = torch.full_like(prompt[:, 0], prompt.shape[1]) if mask is None else mask.sum(1)
    if not told.all():
        raise ValueError(f"prompt {told.tolist().index(0)} is empty; every prompt needs a word, such as {BOS}")
    if mask is not None and (mask[:, 1:] & ~mask[:, :-1]).any():
        raise ValueError("a word of a prompt stands behind padding; pad prompts at their end, as `corpus.pad` does")
    return told


def read(model, words: Int[Tensor, "batch prompt"], state, memory) -> tuple:
    """What `model.step` gives after the last of these words; in one pass if the model has a `read` of its own."""
    if words.shape[1] > 1 and hasattr(model, "read"):
        return model.read(words, state, memory)
    for column in words.unbind(1):
        logits, state, weight = model.step(column, state, memory)
    return logits, state, weight


def behind_prompt(
    steps: Shaped[Tensor, "batch step *axes"] | None, told: Int[Tensor, " batch"]
) -> Shaped[Tensor, "batch step *axes"] | None:
    """Each row from where its own prompt ends; the first column stands behind the shortest."""
    if steps is None:
        return None
    places = (told - told.min())[:, None] + torch.arange(steps.shape[1], device=told.device)
    return steps[torch.arange(len(told), device=told.device)[:, None], places.clamp(max=steps.shape[1] - 1)]


def greedy(model, corpus: Corpus, sentences: Sequence[Sequence[str]]) -> list[Translation]:
    """Writes the likeliest next word, again and again, until the end mark of the target vocabulary.

    y_t = argmax p(y | y_1 … y_{t-1}, x). A sentence is stopped when it has twice as many words as its source
    and ten more. The loop itself is in `write`, for many sentences at once; for one it is this:

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
        for each sentence its words and, if the model has attention, the map from them to the source words.
    Raises:
        KeyError: a word is not in the source vocabulary.
        TypeError: a string in place of the sentences, or of one sentence's words.
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
    """Draws each next word, y_t ~ softmax(logits / T), as `draw` does; otherwise like `greedy`."""
    choose = partial(draw, temperature=temperature, top_k=top_k, top_p=top_p, generator=generator)
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
def _beam(
    model, memory, prompt, limit, width: int, length_penalty: float, *, end: int = SPECIALS.index(EOS)
) -> Written:
    """`write` for sentences with `width` hypotheses each: their rows stand side by side, sentence after sentence."""
    batch, device = len(prompt), prompt.device
    spread = torch.arange(batch, device=device).repeat_interleave(width)
    memory, prompt, limit = rows_of((memory, prompt, limit), spread)
    # One hypothesis a sentence at first: the others, equal to it, are out of the race.
    total = torch.full((batch, width), -torch.inf, device=device)
    total[:, 0] = 0.0
    length = torch.zeros(batch * width, device=device)
    done = torch.zeros_like(limit, dtype=torch.bool)
    written, weights = torch.zeros(batch * width, 0, dtype=torch.long, device=device), []
    logits, state, weight = read(model, prompt, model.start(memory), memory)
    while not done.all():
        if not logits.max(-1).values.isfinite().all():
            raise FloatingPointError(UNDECIDED)
        gains = logits.log_softmax(-1)
        gains[done] = -torch.inf  # a finished one has one continuation, which costs nothing
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
    """These rows of every tensor in a memory or state."""
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
    """Writes a sentence from each row of a memory, whatever it was made from.

    Args:
        memory: what the model's `encode` gives, or what its `start` and `step` take in its place.
        vocabulary: has `words` by number and `numbers` by word. A sentence begins and ends with its marks `bos` and
            `eos`, if it has such attributes, and with `<bos>` and `<eos>` otherwise.
        limit: words that each sentence may have.
        labels: for each row names of what it attends to, the first ones if the row has padding; without them no map
            is made.
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
    """What a language model wrote behind a prompt.

    `log_probability` is the sum of log p of its tokens in nats. `stopped` says why it has fewer tokens than were asked
    for; it is "" if it has as many.
    """

    text: str
    tokens: tuple[int, ...]
    log_probability: float
    stopped: str


@restoring_modes
def write_on(
    model, vocabulary, prompts: Sequence[str], limit: int, choose: Choice = likeliest, *, beyond: bool = False
) -> list[Continuation]:
    """Goes on with each prompt by `limit` tokens, or until the text is as long as the longest that was trained on.

    Args:
        model: a language model; it names the `trained_length`, in tokens.
        vocabulary: has `encode` and `decode`, as `BytePairs`.
        choose: as in `write`, such as `partial(draw, top_p=0.9)`.
        beyond: whether it may write on where nothing was trained.
    Raises:
        ValueError: a limit that is not positive, or a prompt that is empty, or as long as what was trained on.
        TypeError: one string in place of several prompts.
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
                f"prompt {place} has {len(row)} tokens, and the longest text that the model was trained on {most}; "
                "shorten it, or say beyond=True"
            )
    limits = [limit if beyond else min(limit, most - len(row)) for row in numbers]
    model.eval()
    device = next(model.parameters()).device
    prompt, mask = (tensor.to(device) for tensor in pad(numbers))
    written = write(model, None, prompt, torch.tensor(limits, device=device), choose, prompt_mask=mask, end=NO_END)
    told = f"stopped at {most} tokens, the longest text that the model was trained on; beyond=True writes on"
    continuations = []
    for row, own, total in zip(written.words.tolist(), limits, written.log_probability.tolist(), strict=True):
        tokens = tuple(row[:own])
        continuations.append(Continuation(vocabulary.decode(tokens), tokens, total, told if own < limit else ""))
    return continuations


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
