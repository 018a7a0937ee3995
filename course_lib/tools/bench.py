"""How fast attention is: a benchmark, not a test.

`compare` trains the attention model beside its textbook form and beside no attention; `compare_heads` runs
multi-head attention beside torch's own; `compare_transformers` trains the Transformer beside torch's own, and
`compare_decoding` writes with and without the past; `drag` and `translate_in_page` time explorers,
where there is a browser.

It stands outside the floors, as `lessons` does: the verb `bench` imports it, and no module does.
"""

import contextlib
import math
import os
import shutil
import statistics
import tempfile
import time
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.testing import assert_close

from course_lib.attention import AdditiveScore, MultiHeadAttention
from course_lib.corpus import BOS, SPECIALS, Batch, Batches, Corpus, toy_french
from course_lib.positions import sinusoidal_table
from course_lib.recurrent import EncoderDecoder
from course_lib.tools import slides
from course_lib.training import translation_loss
from course_lib.transformer import Decoder, Encoder, Transformer


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


def measure(models: Sequence[nn.Module], batches: Sequence[Batch], rounds: int) -> Iterator[list[float]]:
    """For each round the speed of each model, in target words a second of computing time.

    A step is forward, backward and Adam. A round before the first warms up and is not timed.
    """
    words = sum(int(batch.target_mask.sum()) for batch in batches)  # with <eos>, which is written too
    optimizers = [torch.optim.Adam(model.parameters()) for model in models]
    for number in range(rounds + 1):
        speeds = []
        for model, optimizer in zip(models, optimizers, strict=True):
            started = time.process_time()
            for batch in batches:
                optimizer.zero_grad()
                translation_loss(model, batch).backward()
                optimizer.step()
            speeds.append(words / (time.process_time() - started))
        if number:
            yield speeds


def table(models: dict[str, nn.Module], speeds: Sequence[Sequence[float]]) -> str:
    """One row a model; `relative` is the median over rounds of its speed against the first model's in that round."""
    width = max(map(len, models))
    rows = [f"{'model':<{width}}  parameters  words/s  (lowest – highest)  relative"]
    for (name, model), own in zip(models.items(), zip(*speeds, strict=True), strict=True):
        parameters = sum(parameter.numel() for parameter in model.parameters())
        relative = statistics.median(speed / first for speed, (first, *_) in zip(own, speeds, strict=True))
        spread = f"({min(own):,.0f} – {max(own):,.0f})"
        rows.append(
            f"{name:<{width}}  {parameters:>10,}  {statistics.median(own):>7,.0f}  {spread:>18}  {relative:>8.2f}"
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
    rows = [f"{'words':>5}  {'with the past':>13}  {'without':>9}  speed with / without  (lowest – highest)"]
    for length in lengths:
        with one_thread():
            times = list(measure_decoding(length, batch_size, source_length, rounds))
        reused, anew = (f"{1000 * statistics.median(own):,.0f}" for own in zip(*times, strict=True))
        ratios = [theirs / own for own, theirs in times]
        spread = f"({min(ratios):.2f} – {max(ratios):.2f})"
        rows.append(f"{length:>5}  {reused:>13}  {anew:>9}  {statistics.median(ratios):>20.2f}  {spread:>18}")
    return "\n".join([title, "", *rows])


@torch.no_grad()
def measure_decoding(length: int, batch_size: int, source_length: int, rounds: int) -> Iterator[tuple[float, float]]:
    """For each round the seconds of computing time with and without the past; a round before the first warms up.

    Raises:
        AssertionError: unless both write the same.
    """
    torch.manual_seed(0)
    model = Transformer(100, 100).eval()
    source = torch.randint(len(SPECIALS), 100, (batch_size, source_length))
    for number in range(rounds + 1):
        written, times = [], []
        for write in (write_with_past, write_anew):
            started = time.process_time()
            written.append(write(model, source, length))
            times.append(time.process_time() - started)
        assert_close(*written)
        if number:
            yield tuple(times)


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
