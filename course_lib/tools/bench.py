"""How fast attention is: a benchmark, not a test.

`compare` trains the attention model beside its textbook form and beside no attention; `compare_heads` runs
multi-head attention beside torch's own; `compare_transformers` trains the Transformer beside torch's own, and
`compare_language_models` the decoder alone beside its textbook form; `compare_decoding` and `compare_writing` write
with and without the past; `compare_cores`, `compare_sharing` and `compare_positions` run lesson 9's cheaper parts
beside the plain ones; `compare_pretrained` runs lesson 11's model beside `transformers`; `drag` and
`translate_in_page` time explorers, where there is a browser.
"""

import contextlib
import importlib.util
import math
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional as F
from torch.testing import assert_close

from course_lib.attention import AdditiveScore, MultiHeadAttention, dot_product_attention
from course_lib.byte_pairs import BytePairs
from course_lib.cores import linear_attention, tiled_attention, window_attention
from course_lib.corpus import BOS, SPECIALS, Batch, Batches, Corpus, toy_french
from course_lib.decoding import NO_END, write
from course_lib.language_models import TransformerLanguageModel
from course_lib.layers import FeedForward
from course_lib.masks import causal_mask, window_mask
from course_lib.positions import LearnedPositions, LinearBiases, RotaryPositions, sinusoidal_table
from course_lib.pretrained import from_pretrained, minilm_folder
from course_lib.recurrent import EncoderDecoder
from course_lib.texts import Windows, python_reference
from course_lib.tools import slides
from course_lib.training import next_token_loss, translation_loss
from course_lib.transformer import Decoder, Encoder, Transformer, WordEmbedding


class TextbookScore(AdditiveScore):
    """The same score, term by term as the formula has it: W_h h_i + b is computed anew at each step of the decoder."""

    def project_keys(self, keys: Float[Tensor, "batch key d_key"]) -> Float[Tensor, "batch key d_key"]:
        return keys

    def forward(
        self, query: Float[Tensor, "batch d_query"], keys: Float[Tensor, "batch key d_key"]
    ) -> Float[Tensor, "batch key"]:
        return super().forward(query, super().project_keys(keys))


SCORES = {  # by the model's name in the table
    "attention, keys projected once": AdditiveScore,
    "attention, keys at each step": TextbookScore,
    "no attention": None,
}


def compare(
    corpus: Corpus | None = None, *, state_size: int = 128, batch_size: int = 64, steps: int = 20, rounds: int = 9
) -> str:
    """Trains the three models in turn, round after round, on the same batches; a table of their speeds.

    Args:
        corpus: toy French if not given.
        steps: batches a round; drawn once, the same in every round, so that only the machine varies between rounds.
        rounds: each gives one speed a model. Taken in turn, all three meet whatever else the machine does.
    Raises:
        AssertionError: the first two models do not compute the same.
    """
    corpus = corpus or toy_french(tests=0)
    sizes = len(corpus.source_vocabulary), len(corpus.target_vocabulary)
    drawn = list(Batches(corpus, corpus.train, batch_size)(torch.Generator().manual_seed(0)))[:steps]
    models = {}
    for name, score in SCORES.items():
        torch.manual_seed(0)
        models[name] = EncoderDecoder(*sizes, hidden_size=state_size, attention=score)
    with one_thread():
        once, at_each_step, _ = models.values()
        assert_same(once, at_each_step, drawn[0])
        speeds = list(measure(list(models.values()), drawn, rounds))
    title = (
        f"Training on toy French: state {state_size}, batches of {batch_size}, Adam, one thread.\n"
        f"Target words (with <eos>) a second of computing time: the median of {rounds} rounds of {len(drawn)} batches."
    )
    return f"{title}\n\n{table(models, speeds)}"


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def assert_same(one: nn.Module, two: nn.Module, batch: Batch) -> None:
    """Raises AssertionError unless both have equal logits, and equal gradients of the loss, to 1e-5.

    The gradients are those of the parameters that have the same name in both.
    """
    logits = [model(batch.source, batch.source_mask, batch.target_input)[0] for model in (one, two)]
    assert_close(*logits, atol=1e-5, rtol=1e-5)
    named = dict(one.named_parameters()), dict(two.named_parameters())
    shared = sorted(named[0].keys() & named[1].keys())
    gradients = [
        torch.autograd.grad(translation_loss(model, batch), [own[name] for name in shared])
        for model, own in zip((one, two), named, strict=True)
    ]
    assert_close(*gradients, atol=1e-5, rtol=1e-5)


def target_words(batch: Batch) -> int:
    return int(batch.target_mask.sum())  # with <eos>, which is written too


def measure(
    models: Sequence[nn.Module],
    batches: Sequence,
    rounds: int,
    *,
    loss: Callable[..., Tensor] = translation_loss,
    words_in: Callable[..., int] = target_words,
) -> Iterator[list[float]]:
    """For each round the speed of each model, in words (of the batches, by `words_in`) a second of computing time.

    A step is forward, backward and Adam. A round before the first warms up and is not timed.
    """
    words = sum(map(words_in, batches))
    optimizers = [torch.optim.Adam(model.parameters()) for model in models]
    for number in range(rounds + 1):
        speeds = []
        for model, optimizer in zip(models, optimizers, strict=True):
            started = time.process_time()
            for batch in batches:
                optimizer.zero_grad()
                loss(model, batch).backward()
                optimizer.step()
            speeds.append(words / (time.process_time() - started))
        if number:
            yield speeds


def table(models: dict[str, nn.Module], speeds: Sequence[Sequence[float]], unit: str = "words") -> str:
    """One row a model; `relative` is the median over rounds of its speed against the first model's in that round."""
    width, wide = max(map(len, models)), len(f"{unit}/s")
    rows = [f"{'model':<{width}}  parameters  {unit}/s  (lowest – highest)  relative"]
    for (name, model), own in zip(models.items(), zip(*speeds, strict=True), strict=True):
        parameters = sum(parameter.numel() for parameter in model.parameters())
        relative = statistics.median(speed / first for speed, (first, *_) in zip(own, speeds, strict=True))
        spread = f"({min(own):,.0f} – {max(own):,.0f})"
        rows.append(
            f"{name:<{width}}  {parameters:>10,}  {statistics.median(own):>{wide},.0f}  {spread:>18}  {relative:>8.2f}"
        )
    return "\n".join(rows)


def compare_heads(
    shapes: Sequence[tuple[int, int, int]] = ((32, 64, 256), (8, 512, 256)), *, heads: int = 8, rounds: int = 15
) -> str:
    """Runs `MultiHeadAttention` and `nn.MultiheadAttention`, forward and backward, in turn; a table of their times.

    Args:
        shapes: of the input: batch, length, d_model.
        rounds: each gives one time a module, as in `compare`.
    Raises:
        AssertionError: the two do not compute the same.
    """
    title = (
        f"Multi-head self-attention with {heads} heads, forward and backward, no weights asked for, one thread.\n"
        f"Milliseconds of computing time: the median of {rounds} rounds."
    )
    rows = [f"{'batch × length × d_model':<24}  {'ours':>7}  {'torch':>7}  ours / torch  (lowest – highest)"]
    for shape in shapes:
        with one_thread():
            times = list(measure_heads(shape, heads, rounds))
        ours, torchs = (f"{1000 * statistics.median(own):>7.1f}" for own in zip(*times, strict=True))
        ratios = [own / theirs for own, theirs in times]
        spread = f"({min(ratios):.2f} – {max(ratios):.2f})"
        name = " × ".join(map(str, shape))
        rows.append(f"{name:<24}  {ours}  {torchs}  {statistics.median(ratios):>12.2f}  {spread:>18}")
    return "\n".join([title, "", *rows])


def measure_heads(shape: tuple[int, int, int], heads: int, rounds: int) -> Iterator[tuple[float, float]]:
    """For each round the seconds of computing time of ours and of torch's; a round before the first warms up.

    Raises:
        AssertionError: unless both have equal outputs and equal gradients of the input, to 1e-5.
    """
    torch.manual_seed(0)
    ours = MultiHeadAttention(shape[-1], heads)
    torchs = ours.to_torch()
    x, upstream = torch.randn(shape, requires_grad=True), torch.randn(shape)
    runs = [lambda: ours(x)[0], lambda: torchs(x, x, x, need_weights=False)[0]]
    outputs = [run() for run in runs]
    assert_close(*outputs, atol=1e-5, rtol=1e-5)
    gradients = [torch.autograd.grad(output, x, upstream) for output in outputs]
    assert_close(*gradients, atol=1e-5, rtol=1e-5)
    for number in range(rounds + 1):
        times = []
        for run in runs:
            for tensor in (x, *ours.parameters(), *torchs.parameters()):
                tensor.grad = None
            started = time.process_time()
            run().backward(upstream)
            times.append(time.process_time() - started)
        if number:
            yield tuple(times)


class TorchTransformer(nn.Module):
    """nn.Transformer with embeddings, positions and output around it, as its users write it; pre-norm, no dropout."""

    def __init__(self, source_size: int, target_size: int, model_size: int = 64, longest: int = 100):
        super().__init__()
        self.source_embedding = nn.Embedding(source_size, model_size)
        self.target_embedding = nn.Embedding(target_size, model_size)
        self.register_buffer("positions", sinusoidal_table(longest, model_size))
        with warnings.catch_warnings(action="ignore"):  # of a fast path in evaluation that pre-norm does not have
            self.inner = nn.Transformer(
                model_size, 4, 2, 2, 4 * model_size, dropout=0.0, batch_first=True, norm_first=True
            )
        self.output = nn.Linear(model_size, target_size)

    def enter(self, embedding: nn.Embedding, words: Int[Tensor, "batch n"]) -> Float[Tensor, "batch n d_model"]:
        return embedding.embedding_dim**0.5 * embedding(words) + self.positions[: words.shape[1]]

    def forward(
        self,
        source: Int[Tensor, "batch source"],
        source_mask: Bool[Tensor, "batch source"],
        target_input: Int[Tensor, "batch target"],
    ) -> tuple[Float[Tensor, "batch target target_size"], None]:
        vectors = self.inner(
            self.enter(self.source_embedding, source),
            self.enter(self.target_embedding, target_input),
            tgt_mask=nn.Transformer.generate_square_subsequent_mask(target_input.shape[1]),
            tgt_is_causal=True,
            src_key_padding_mask=~source_mask,
            memory_key_padding_mask=~source_mask,
        )
        return self.output(vectors), None

    def to_ours(self) -> Transformer:
        """Our Transformer with a copy of the weights."""
        sizes = self.source_embedding.num_embeddings, self.target_embedding.num_embeddings
        ours = Transformer(*sizes, model_size=self.source_embedding.embedding_dim)
        ours.encoder = Encoder.from_torch(self.inner.encoder)
        ours.decoder = Decoder.from_torch(self.inner.decoder)
        for name in ("source_embedding", "target_embedding", "output"):
            ours.get_submodule(name).load_state_dict(self.get_submodule(name).state_dict())
        return ours


def compare_transformers(
    corpus: Corpus | None = None, *, batch_size: int = 64, steps: int = 20, rounds: int = 9
) -> str:
    """Trains `nn.Transformer` and ours from the same weights, in turn; a table of their speeds, as in `compare`.

    Raises:
        AssertionError: the two do not compute the same.
    """
    corpus = corpus or toy_french(tests=0)
    drawn = list(Batches(corpus, corpus.train, batch_size)(torch.Generator().manual_seed(0)))[:steps]
    torch.manual_seed(0)
    torchs = TorchTransformer(len(corpus.source_vocabulary), len(corpus.target_vocabulary))
    models = {"nn.Transformer": torchs, "ours": torchs.to_ours()}
    with one_thread():
        assert_same(*models.values(), drawn[0])
        speeds = list(measure(list(models.values()), drawn, rounds))
    title = (
        f"Training a Transformer on toy French: d_model 64, 2 + 2 layers, batches of {batch_size}, Adam, one thread.\n"
        f"Target words (with <eos>) a second of computing time: the median of {rounds} rounds of {len(drawn)} batches."
    )
    return f"{title}\n\n{table(models, speeds)}"


class TextbookBlock(nn.Module):
    """x + attention(norm(x)), then x + network(norm(x)): the block of GPT-2 in steps, in the style of minGPT.

    One linear map makes queries, keys and values (Karpathy 2020); GELU is in its tanh form (Hendrycks & Gimpel 2016).
    """

    def __init__(self, model_size: int, heads: int, longest: int):
        super().__init__()
        self.heads = heads
        self.norm_1, self.norm_2 = nn.LayerNorm(model_size), nn.LayerNorm(model_size)
        self.projections = nn.Linear(model_size, 3 * model_size)
        self.output_projection = nn.Linear(model_size, model_size)
        self.inner, self.outer = nn.Linear(model_size, 4 * model_size), nn.Linear(4 * model_size, model_size)
        self.register_buffer("causal", torch.ones(longest, longest).tril())

    def attend(self, x: Float[Tensor, "batch n d_model"]) -> Float[Tensor, "batch n d_model"]:
        batch, n, size = x.shape
        heads = (part.view(batch, n, self.heads, -1).transpose(1, 2) for part in self.projections(x).split(size, 2))
        query, key, value = heads  # (batch, head, n, d_head)
        scores = query @ key.transpose(2, 3) / math.sqrt(key.shape[3])
        weights = scores.masked_fill(self.causal[:n, :n] == 0, -torch.inf).softmax(-1)
        return self.output_projection((weights @ value).transpose(1, 2).reshape(batch, n, size))

    def feed(self, x: Float[Tensor, "batch n d_model"]) -> Float[Tensor, "batch n d_model"]:
        x = self.inner(x)
        return self.outer(0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))))

    def forward(self, x: Float[Tensor, "batch n d_model"]) -> Float[Tensor, "batch n d_model"]:
        x = x + self.attend(self.norm_1(x))
        return x + self.feed(self.norm_2(x))


class TextbookLanguageModel(nn.Module):
    """Words and learned positions, `TextbookBlock`s, a norm, an output without bias (Radford et al. 2019)."""

    def __init__(self, size: int, model_size: int, heads: int, layers: int, longest: int):
        super().__init__()
        self.embedding, self.positions = nn.Embedding(size, model_size), nn.Embedding(longest, model_size)
        self.blocks = nn.ModuleList(TextbookBlock(model_size, heads, longest) for _ in range(layers))
        self.norm, self.output = nn.LayerNorm(model_size), nn.Linear(model_size, size, bias=False)

    def forward(self, words: Int[Tensor, "batch n"]) -> tuple[Float[Tensor, "batch n size"], None]:
        x = self.embedding(words) + self.positions(torch.arange(words.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.output(self.norm(x)), None

    def to_ours(self) -> TransformerLanguageModel:
        """Our model with a copy of the weights, and a bias of zeros at its output."""
        (size, model_size), longest = self.embedding.weight.shape, len(self.positions.weight)
        ours = TransformerLanguageModel(
            size,
            trained_length=longest,
            model_size=model_size,
            heads=self.blocks[0].heads,
            layers=len(self.blocks),
            feed_forward_size=4 * model_size,
            positions=partial(LearnedPositions, rows=longest),
            feed_forward=partial(FeedForward, activation=partial(F.gelu, approximate="tanh")),
            embedding=partial(WordEmbedding, scale=1.0),
        )
        ours.load_state_dict({**as_ours(dict(self.named_parameters())), "output.bias": torch.zeros(size)})
        return ours


OUR_NAMES = {
    r"^positions\.": "embedding.positions.",
    r"^blocks\.": "encoder.layers.",
    r"^norm\.": "encoder.last.",
    r"(?=output_projection)": "self_attention.",
    r"norm_1": "self_attention_residual.norm",
    r"norm_2": "feed_forward_residual.norm",
    r"(?=inner|outer)": "feed_forward.",
}


def as_ours(named: dict[str, Tensor]) -> dict[str, Tensor]:
    """The textbook's parameters, or their gradients, cut and named as ours are."""
    ours = {}
    for name, tensor in named.items():
        for theirs, own in OUR_NAMES.items():
            name = re.sub(theirs, own, name)
        if "projections" in name:
            for part, piece in zip(("query", "key", "value"), tensor.chunk(3), strict=True):
                ours[name.replace("projections", f"self_attention.{part}_projection")] = piece
        else:
            ours[name] = tensor
    return ours


def assert_same_as_textbook(
    textbook: TextbookLanguageModel, ours: TransformerLanguageModel, window: Int[Tensor, "batch window"]
) -> None:
    """Raises AssertionError unless both have equal logits, and equal gradients of what both have, to 1e-5."""
    assert_close(*(model(window[:, :-1])[0] for model in (textbook, ours)), atol=1e-5, rtol=1e-5)
    gradients = []
    for model in (textbook, ours):
        named = dict(model.named_parameters())
        found = torch.autograd.grad(next_token_loss(model, window), list(named.values()))
        gradients.append(dict(zip(named, found, strict=True)))
    theirs, own = gradients
    del own["output.bias"]
    assert_close(own, as_ours(theirs), atol=1e-5, rtol=1e-5)


def predicted(window: Int[Tensor, "batch window"]) -> int:
    return window[:, 1:].numel()


class Shape(NamedTuple):
    """Sizes of a language model, and the windows that it is trained on."""

    model_size: int
    heads: int
    layers: int
    length: int
    batch_size: int
    batches: int


LESSON = Shape(64, 4, 2, length=64, batch_size=16, batches=20)
LESSON_TOKENS = 1024
LARGER = Shape(128, 8, 4, length=256, batch_size=8, batches=2)


def compare_language_models(
    text: str | None = None, *, size: int = LESSON_TOKENS, shapes: Sequence[Shape] = (LESSON, LARGER), rounds: int = 5
) -> str:
    """Trains the decoder alone and its textbook form from the same weights, in turn; tables as in `compare`.

    Args:
        text: Python's reference if not given.
        size: tokens in the vocabulary.
    Raises:
        AssertionError: the two do not compute the same.
    """
    text = text or python_reference().train
    tokens = BytePairs.train(text, size)
    numbers, said = tokens.encode(text), []
    for shape in shapes:
        drawn = list(Windows(numbers, *shape[3:])(torch.Generator().manual_seed(0)))
        torch.manual_seed(0)
        textbook = TextbookLanguageModel(len(tokens), *shape[:4])
        models = {"textbook": textbook, "ours": textbook.to_ours()}
        with one_thread():
            assert_same_as_textbook(*models.values(), drawn[0])
            speeds = list(measure(list(models.values()), drawn, rounds, loss=next_token_loss, words_in=predicted))
        title = (
            f"Training a language model on Python's reference: d_model {shape.model_size}, {shape.heads} heads, "
            f"{shape.layers} layers,\n{shape.batch_size} windows of {shape.length} tokens, Adam, one thread.\n"
            f"Tokens a second of computing time: the median of {rounds} rounds of {len(drawn)} batches."
        )
        said.append(f"{title}\n\n{table(models, speeds, 'tokens')}")
    return "\n\n".join(said)


def write_with_past(
    model: Transformer, source: Int[Tensor, "batch source"], length: int
) -> Int[Tensor, "batch length"]:
    """The likeliest word `length` times, whatever it is: each step reads one word and the past."""
    memory = model.encode(source, None)
    state, words = model.start(memory), torch.full((len(source),), SPECIALS.index(BOS))
    written = []
    for _ in range(length):
        logits, state, _ = model.step(words, state, memory)
        words = logits.argmax(-1)
        written.append(words)
    return torch.stack(written, 1)


def write_anew(model: Transformer, source: Int[Tensor, "batch source"], length: int) -> Int[Tensor, "batch length"]:
    """The same words, but each step reads all words so far. The source is encoded once, as with the past."""
    memory = model.encode(source, None)
    words = torch.full((len(source), 1), SPECIALS.index(BOS))
    for _ in range(length):
        logits, *_ = model.decode(words, None, memory)
        words = torch.cat([words, logits[:, -1:].argmax(-1)], 1)
    return words[:, 1:]


def compare_decoding(
    *, lengths: Sequence[int] = (16, 64), batch_size: int = 16, source_length: int = 20, rounds: int = 5
) -> str:
    """Writes with and without the past, in turn; a table of their times.

    Args:
        lengths: words to write.
    Raises:
        AssertionError: the two do not write the same.
    """
    title = (
        f"Greedy decoding of {batch_size} sentences at once: d_model 64, 2 + 2 layers, one thread.\n"
        f"Milliseconds of computing time: the median of {rounds} rounds."
    )
    rows = [f"{'words':>5}  {PAST_OR_NOT}"]
    for length in lengths:
        with one_thread():
            rows.append(past_or_not(length, list(measure_decoding(length, batch_size, source_length, rounds))))
    return "\n".join([title, "", *rows])


PAST_OR_NOT = f"{'with the past':>13}  {'without':>9}  speed with / without  (lowest – highest)"


def past_or_not(number: int, times: Sequence[tuple[float, float]]) -> str:
    """A row of a table: the median times, and the speed with the past against that without in the same round."""
    reused, anew = (f"{1000 * statistics.median(own):,.0f}" for own in zip(*times, strict=True))
    ratios = [theirs / own for own, theirs in times]
    spread = f"({min(ratios):.2f} – {max(ratios):.2f})"
    return f"{number:>5}  {reused:>13}  {anew:>9}  {statistics.median(ratios):>20.2f}  {spread:>18}"


@torch.no_grad()
def measure_decoding(length: int, batch_size: int, source_length: int, rounds: int) -> Iterator[tuple[float, float]]:
    """For each round the seconds of computing time with and without the past; a round before the first warms up.

    Raises:
        AssertionError: unless both write the same.
    """
    torch.manual_seed(0)
    model = Transformer(100, 100).eval()
    source = torch.randint(len(SPECIALS), 100, (batch_size, source_length))
    ways = [partial(way, model, source, length) for way in (write_with_past, write_anew)]
    yield from measure_ways(ways, rounds, assert_close)


def measure_ways(
    ways: Sequence[Callable[[], Tensor]], rounds: int, check: Callable[..., None]
) -> Iterator[tuple[float, float]]:
    """For each round the seconds of each way to write; what they wrote is checked. The first round is not timed."""
    for number in range(rounds + 1):
        written, times = [], []
        for way in ways:
            started = time.process_time()
            written.append(way())
            times.append(time.process_time() - started)
        check(*written)
        if number:
            yield tuple(times)


def go_on_with_past(model: TransformerLanguageModel, prompt: Int[Tensor, "batch n"], length: int) -> Tensor:
    """The likeliest token `length` times, as the course writes."""
    return write(model, None, prompt, torch.full_like(prompt[:, 0], length), end=NO_END).words


def go_on_anew(model: TransformerLanguageModel, prompt: Int[Tensor, "batch n"], length: int) -> Tensor:
    """The same tokens, but each step reads all of the text so far, as `generate` in minGPT does."""
    words = prompt
    for _ in range(length):
        logits, _ = model(words)
        words = torch.cat([words, logits[:, -1:].argmax(-1)], 1)
    return words[:, prompt.shape[1] :]


def assert_likeliest(
    model: TransformerLanguageModel, prompt: Int[Tensor, "batch n"], *written: Int[Tensor, "batch length"]
) -> None:
    """Raises AssertionError unless each token written is the likeliest behind those before it, to 1e-4 in its logit.

    Where two are nearly as likely, either will do: the two ways add up in another order.
    """
    for tokens in written:
        logits, _ = model(torch.cat([prompt, tokens[:, :-1]], 1))
        logits = logits[:, prompt.shape[1] - 1 :]
        assert_close(logits.gather(-1, tokens[..., None])[..., 0], logits.amax(-1), atol=1e-4, rtol=0)


def compare_writing(*, length: int = 256, texts: Sequence[int] = (1, 8), rounds: int = 3) -> str:
    """Goes on with a text with and without the past, in turn; a table of their times.

    Args:
        length: tokens to write.
        texts: how many are written at once, in each row.
    Raises:
        AssertionError: either does not write the likeliest token.
    """
    title = (
        f"A language model writes {length} tokens, the likeliest each time: d_model 64, 2 layers, rotary, one thread.\n"
        f"Milliseconds of computing time: the median of {rounds} rounds."
    )
    rows = [f"{'texts':>5}  {PAST_OR_NOT}"]
    for count in texts:
        with one_thread():
            rows.append(past_or_not(count, list(measure_writing(length, count, rounds))))
    return "\n".join([title, "", *rows])


@torch.no_grad()
def measure_writing(length: int, texts: int, rounds: int) -> Iterator[tuple[float, float]]:
    """For each round the seconds of computing time with and without the past, as in `measure_decoding`.

    Raises:
        AssertionError: either does not write the likeliest token.
    """
    torch.manual_seed(0)
    rotary = partial(MultiHeadAttention, rotation=RotaryPositions)
    model = TransformerLanguageModel(1024, trained_length=512, positions=None, self_attention=rotary).eval()
    prompt = torch.randint(1024, (texts, 1))
    ways = [partial(way, model, prompt, length) for way in (go_on_with_past, go_on_anew)]
    yield from measure_ways(ways, rounds, partial(assert_likeliest, model, prompt))


def ways_to_attend(length: int, window: int) -> dict[str, Callable[[], object]]:
    """One head of 64 numbers, no word sees a later one; the first way computes all scores, in steps."""
    query, key, value = torch.randn(3, 1, 1, length, 64).unbind()
    tensors, causal, banded = (query, key, value), causal_mask(length), window_mask(length, window)
    return {
        "all scores": partial(dot_product_attention, *tensors, causal, need_weights=True),
        "torch's kernel": partial(F.scaled_dot_product_attention, *tensors, is_causal=True),
        "tiles": partial(tiled_attention, *tensors, causal),
        "window, a mask": partial(dot_product_attention, *tensors, banded, need_weights=True),
        "window, by blocks": partial(window_attention, *tensors, window=window),
        "linear": partial(linear_attention, *tensors),
    }


@torch.no_grad()
def compare_cores(lengths: Sequence[int] = (256, 1024, 4096), *, window: int = 64, rounds: int = 5) -> str:
    """Milliseconds of each way to attend by the number of words, and the memory of tiles beside that of all scores.

    Raises:
        AssertionError: ways that must give the same numbers do not, to 1e-5.
    """
    times: dict[str, list[float]] = {}
    with one_thread():
        for length in lengths:
            ways = ways_to_attend(length, window)
            outputs = {name: way() for name, way in ways.items()}
            outputs = {name: output[0] if isinstance(output, tuple) else output for name, output in outputs.items()}
            for same in (("all scores", "torch's kernel", "tiles"), ("window, a mask", "window, by blocks")):
                for name in same[1:]:
                    assert_close(outputs[name], outputs[same[0]], atol=1e-5, rtol=0)
            for name, way in ways.items():
                taken = [seconds(way) for _ in range(rounds)]
                times.setdefault(name, []).append(1000 * statistics.median(taken))
    peaks = {name: peak(name, lengths[-1], window) for name in ("all scores", "tiles")}
    head = f"{'':<18}" + "".join(f"{length:>10,}" for length in lengths) + f"  of all scores at {lengths[-1]:,}"
    rows = [
        f"{name:<18}" + "".join(f"{own:>10.2f}" for own in taken) + f"  {taken[-1] / times['all scores'][-1]:>10.3f}"
        for name, taken in times.items()
    ]
    title = (
        f"Attention of so many words: one head of 64 numbers, a window of {window}, one thread.\n"
        f"Milliseconds of computing time: the median of {rounds} rounds."
    )
    memory = ", ".join(f"{name} {most:.1f}" for name, most in peaks.items())
    share = peaks["tiles"] / peaks["all scores"]
    return "\n".join([title, "", head, *rows, f"MiB at most at a time: {memory}; {share:.3f} of it"])


def seconds(way: Callable[[], object]) -> float:
    started = time.process_time()
    way()
    return time.process_time() - started


def peak(way: str, length: int, window: int) -> float:
    """MiB by which one of `ways_to_attend` raises the memory of a process of its own."""
    alone = f"""
import threading, time, psutil, torch
from course_lib.tools import bench
torch.set_num_threads(1)
bench.ways_to_attend(64, {window})[{way!r}]()  # what is loaded once does not count
way, memory, seen, running = bench.ways_to_attend({length}, {window})[{way!r}], psutil.Process().memory_info, [], True
def watch():
    while running:
        seen.append(memory().rss)
        time.sleep(0.0002)
start, watcher = memory().rss, threading.Thread(target=watch)
watcher.start()
with torch.no_grad():
    way()
running = False
watcher.join()
print((max(seen) - start) / 2**20)
"""
    done = subprocess.run([sys.executable, "-c", alone], capture_output=True, text=True, check=True)
    return float(done.stdout)


def sharing(size: int, heads: int, sets: int) -> TransformerLanguageModel:
    attention = partial(MultiHeadAttention, key_value_heads=sets, rotation=RotaryPositions)
    return TransformerLanguageModel(
        1024, trained_length=1024, model_size=size, heads=heads, positions=None, self_attention=attention
    ).eval()


@torch.no_grad()
def compare_sharing(
    lengths: Sequence[int] = (64, 256, 1024), *, size: int = 256, texts: int = 16, sets: Sequence[int] = (8, 2, 1),
    rounds: int = 9,
) -> str:  # fmt: skip
    """Tokens a second with the past, by how long it is, for heads that share their keys and values."""
    rows = [f"{'sets':>4}" + "".join(f"{length:>10,}" for length in lengths) + f"  relative at {lengths[-1]:,}"]
    first = None
    with one_thread():
        for number in sets:
            model, speeds = sharing(size, 8, number), []
            for length in lengths:
                _, _, past = model.decode(torch.randint(1024, (texts, length)))
                step = partial(model.step, torch.randint(1024, (texts,)), past, None)
                step()
                speeds.append(texts / statistics.median(seconds(step) for _ in range(rounds)))
            first = first or speeds[-1]
            rows.append(f"{number:>4}" + "".join(f"{own:>10,.0f}" for own in speeds) + f"  {speeds[-1] / first:>10.2f}")
    title = (
        f"Heads that share keys and values: d_model {size}, 8 heads, 2 layers, {texts} texts at once, one thread.\n"
        f"Tokens a second, by the tokens that stand there already: the median of {rounds} steps."
    )
    return "\n".join([title, "", *rows])


def compare_positions(text: str | None = None, *, rounds: int = 5) -> str:
    """Trains lesson 8's language model with each kind of positions, in turn; a table as in `compare`."""
    text = text or python_reference().train
    tokens = BytePairs.train(text, LESSON_TOKENS)
    drawn = list(Windows(tokens.encode(text), *LESSON[3:])(torch.Generator().manual_seed(0)))
    kinds = {
        "sinusoidal": {},
        "rotary": {"positions": None, "self_attention": partial(MultiHeadAttention, rotation=RotaryPositions)},
        "ALiBi": {"positions": None, "self_attention": partial(MultiHeadAttention, score_bias=LinearBiases)},
    }
    models = {
        name: TransformerLanguageModel(len(tokens), trained_length=LESSON.length, **kind)
        for name, kind in kinds.items()
    }
    with one_thread():
        speeds = list(measure(list(models.values()), drawn, rounds, loss=next_token_loss, words_in=predicted))
    title = (
        f"Positions, in training lesson 8's language model: {LESSON.batch_size} windows of {LESSON.length} tokens.\n"
        f"Tokens a second of computing time: the median of {rounds} rounds of {len(drawn)} batches."
    )
    return f"{title}\n\n{table(models, speeds, 'tokens')}"


def compare_pretrained(folder: Path | None = None, *, lengths: Sequence[int] = (16, 64, 256), rounds: int = 9) -> str:
    """Reads with the model of lesson 11, in this course's parts and in `transformers`; milliseconds a batch, by length.

    Args:
        folder: of a BERT-shaped model.
    Raises:
        AssertionError: the two do not compute the same.
    """
    if importlib.util.find_spec("transformers") is None:
        return "A loaded model was not compared: transformers is not installed; it comes with the extra `test`."
    from transformers import BertModel  # large, and for this alone
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()
    folder = folder or minilm_folder()
    ours, theirs = from_pretrained(folder).model, BertModel.from_pretrained(folder).eval()
    rows = [f"{'tokens':>6}{'ours':>10}{'transformers':>14}{'ratio':>8} (lowest to highest)"]
    with one_thread(), torch.no_grad():
        for length in lengths:
            words = torch.randint(1000, (8, length))
            one, two = partial(ours, words), partial(theirs, words)
            assert_close(one()[0], two().last_hidden_state, atol=1e-4, rtol=1e-4)
            times = [(seconds(one), seconds(two)) for _ in range(rounds)]
            ratios = sorted(own / other for own, other in times)
            own, other = (1000 * statistics.median(way) for way in zip(*times, strict=True))
            middle = statistics.median(ratios)
            rows.append(f"{length:>6,}{own:>10.1f}{other:>14.1f}{middle:>8.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})")
    title = (
        "A loaded model beside transformers' with the same weights: 8 texts at once, one thread.\n"
        f"Milliseconds, the median of {rounds} rounds; ratio: ours divided by theirs."
    )
    return "\n".join([title, "", *rows])


TYPE = "(line, text) => { line.value = text; line.dispatchEvent(new Event('input', { bubbles: true })); }"
# From the first listener that hears of a move to the last: what the explorer does lies between.
LISTEN = """(explorer) => {
  window.times = [];
  let began;
  window.addEventListener("pointermove", () => (began = performance.now()), true);
  window.addEventListener("pointermove", () => times.push(performance.now() - began));
  const { h, v } = Reveal.getIndices(explorer.closest("section"));
  Reveal.slide(h, v || 0, 99);
}"""


@contextlib.contextmanager
def deck_in_chromium(lesson: str):
    """A page with a lesson's deck, made for the purpose; None where no browser is found."""
    named = os.environ.get("COURSE_CHROMIUM") or "chromium"
    chromium = next(filter(None, map(shutil.which, (named, "chromium-browser", "google-chrome"))), None)
    if chromium is None:
        yield None
        return
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        (deck,) = slides.build([lesson], Path(folder))
        with playwright.chromium.launch(executable_path=chromium) as browser:
            page = browser.new_page(viewport={"width": 1280, "height": 720})
            page.goto(deck.as_uri())
            yield page


def drag(lesson: str = "03_scaled_dot_product", moves: int = 300) -> str:
    """Drags the query of a lesson's deck round in Chromium; how long the script takes for a move."""
    with deck_in_chromium(lesson) as page:
        if page is None:
            return "Dragging an explorer was not timed: no browser was found."
        page.locator(".am-plane").first.wait_for(state="attached")
        page.locator(".am-plane").first.evaluate(LISTEN)
        plane = page.locator(".am-plane svg").first.bounding_box()
        x, y = (plane[start] + plane[size] / 2 for start, size in (("x", "width"), ("y", "height")))
        query = page.locator(".am-plane [aria-label^=query] .am-grip").first.bounding_box()
        page.mouse.move(*(query[start] + query[size] / 2 for start, size in (("x", "width"), ("y", "height"))))
        page.mouse.down()
        for move in range(moves):
            page.mouse.move(x + 70 * math.cos(move / 20), y + 70 * math.sin(move / 20))
        times = page.evaluate("times")
    return (
        f"Dragging the query of {lesson}, in Chromium: milliseconds of script a move, of {len(times)} moves.\n"
        f"median {statistics.median(times):.2f}, highest {max(times):.2f}"
    )


def translate_in_page(lesson: str = "06_transformer_trained", sentences: int = 100) -> str:
    """Has the translator of a lesson's deck translate in Chromium; how long a sentence takes."""
    with deck_in_chromium(lesson) as page:
        if page is None:
            return "Translating in the page was not timed: no browser was found."
        line, test = page.locator(".am-translator input[type=text]"), toy_french().test
        line.wait_for(state="attached")
        times, longest = [], 20
        pairs = [pair for (_, most), pairs in test.items() if most <= longest for pair in pairs[: sentences // 5]]
        for pair in pairs:
            line.evaluate(TYPE, " ".join(pair.source))
            times.append(float(page.locator(".am-translator").get_attribute("data-milliseconds")))
    return (
        f"Translating in the page, in Chromium: milliseconds a sentence, of {len(times)} up to {longest} words.\n"
        f"median {statistics.median(times):.1f}, highest {max(times):.1f}"
    )
