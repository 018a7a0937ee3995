"""Times the course's parts against other implementations: a benchmark, not a test.

Each function in `ALL` yields tables. The ways in a table take turns in every round, so other work on the machine
affects all of them. Ways that must give the same result are compared before they are timed.
"""

import importlib.util
import math
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from functools import partial
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.testing import assert_close

from course_lib.attention import AdditiveScore, MultiHeadAttention, dot_product_attention
from course_lib.cores import tiled_attention, window_attention
from course_lib.corpus import BOS, SPECIALS, Batches, toy_french
from course_lib.decoding import NO_END, write
from course_lib.language_models import TransformerLanguageModel
from course_lib.layers import FeedForward
from course_lib.masks import causal_mask
from course_lib.positions import RotaryPositions
from course_lib.pretrained import NotInstalledError, from_gguf, from_pretrained, minilm_folder, smollm2_file
from course_lib.recurrent import EncoderDecoder
from course_lib.training import ADAM, next_token_loss, translation_loss
from course_lib.transformer import Decoder, Encoder, Transformer

Ways = dict[str, Callable[[], object]]
Tables = Iterator[str]


def table(title: str, ways: Ways, check: Callable[..., None], *, words: int = 0, rounds: int = 9) -> str:
    """Returns each way's milliseconds of processor time, or with `words` its words per second, as medians of rounds.

    `relative` is the time, or the speed, divided by the first way's in the same round.

    Args:
        check: gets the results of all ways, and raises AssertionError if they differ. It is not timed.
        words: how many words a call works on.
    """
    check(*[way() for way in ways.values()])
    times = [[seconds(way) for way in ways.values()] for _ in range(rounds)]
    rows = [f"{title}\n{'':<32}{'words/s' if words else 'ms':>10}  relative  (lowest – highest)"]
    for name, own in zip(ways, zip(*times, strict=True), strict=True):
        middle = statistics.median(own)
        ratios = [first / one if words else one / first for one, (first, *_) in zip(own, times, strict=True)]
        shown = f"{words / middle:>10,.0f}" if words else f"{1000 * middle:>10,.2f}"
        spread = f"({min(ratios):.3f} – {max(ratios):.3f})"
        rows.append(f"{name:<32}{shown}  {statistics.median(ratios):>8.3f}  {spread}")
    return "\n".join(rows)


def seconds(way: Callable[[], object]) -> float:
    started = time.process_time()
    way()
    return time.process_time() - started


def equal(one, two, *_) -> None:
    assert_close(one, two, atol=1e-4, rtol=1e-4)


# ---- training ----


def trained(title: str, models: dict[str, nn.Module], batches: Sequence, loss, words: int, rounds: int) -> str:
    """Returns a table of forward, backward and Adam on all batches.

    A model named "ours" gets the course's Adam, the others torch's default.
    """

    def train(model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
        for batch in batches:
            optimizer.zero_grad()
            loss(model, batch).backward()
            optimizer.step()

    ways = {}
    for name, model in models.items():
        optimizer = ADAM if name == "ours" else torch.optim.Adam
        ways[name] = partial(train, model, optimizer(model.parameters()))
    return table(f"Training {title}", ways, lambda *_: None, words=words, rounds=rounds)


def assert_same(one: nn.Module, two: nn.Module, batch, loss: Callable[..., Tensor]) -> None:
    """Raises AssertionError unless losses, and gradients of parameters with the same name, are equal to 1e-5."""
    losses, named = [loss(one, batch), loss(two, batch)], [dict(model.named_parameters()) for model in (one, two)]
    shared = sorted(named[0].keys() & named[1].keys())
    grads = [torch.autograd.grad(own, [of[name] for name in shared]) for own, of in zip(losses, named, strict=True)]
    for both in (losses, grads):
        assert_close(*both, atol=1e-5, rtol=1e-5)


class TextbookScore(AdditiveScore):
    """Computes the same score term by term as in the formula, with W_h h_i + b again at each step of the decoder."""

    def project_keys(self, keys: Tensor) -> Tensor:
        return keys

    def forward(self, query: Tensor, keys: Tensor) -> Tensor:
        return super().forward(query, super().project_keys(keys))


class TorchTransformer(nn.Module):
    """Puts nn.Transformer, pre-norm and without dropout, between copies of our embeddings and output.

    `ours` gets its weights.
    """

    def __init__(self, ours: Transformer, size: int = 64):
        super().__init__()
        with warnings.catch_warnings(action="ignore"):  # about a fast path in evaluation that pre-norm doesn't have
            self.inner = nn.Transformer(size, 4, 2, 2, 4 * size, dropout=0.0, batch_first=True, norm_first=True)
        ours.encoder, ours.decoder = Encoder.from_torch(self.inner.encoder), Decoder.from_torch(self.inner.decoder)
        self.source_embedding, self.target_embedding = deepcopy((ours.source_embedding, ours.target_embedding))
        self.output = deepcopy(ours.output)

    def forward(self, source: Tensor, source_mask: Tensor, target_input: Tensor) -> tuple[Tensor, None]:
        embedded = self.source_embedding(source), self.target_embedding(target_input)
        causal = nn.Transformer.generate_square_subsequent_mask(target_input.shape[1])
        padding = {"src_key_padding_mask": ~source_mask, "memory_key_padding_mask": ~source_mask}
        return self.output(self.inner(*embedded, tgt_mask=causal, tgt_is_causal=True, **padding)), None


def translators(steps: int = 20, rounds: int = 9) -> Tables:
    """Trains GRUs with attention, its textbook form or none on toy French, and the Transformer next to torch's."""
    corpus = toy_french(tests=0)
    sizes = len(corpus.source_vocabulary), len(corpus.target_vocabulary)
    batches = list(Batches(corpus, corpus.train)(torch.Generator().manual_seed(0)))[:steps]
    words = sum(int(batch.target_mask.sum()) for batch in batches)  # with <eos>, which the model also writes
    recurrent = {}
    for name, score in {"keys once": AdditiveScore, "keys at each step": TextbookScore, "no attention": None}.items():
        torch.manual_seed(0)
        recurrent[name] = EncoderDecoder(*sizes, hidden_size=128, attention=score)
    transformers = {"nn.Transformer": TorchTransformer(ours := Transformer(*sizes)), "ours": ours}
    transformers["ours, torch's default Adam"] = deepcopy(ours)
    for title, models in (("GRUs", recurrent), ("Transformers", transformers)):
        assert_same(*list(models.values())[:2], batches[0], translation_loss)
        yield trained(f"{title} on toy French", models, batches, translation_loss, words, rounds)


def in_steps(query: Tensor, key: Tensor, value: Tensor, mask: Tensor, bias: None, **_) -> tuple[Tensor, None]:
    """Returns softmax(q kᵀ / √d_k) v, step by step as in textbooks."""
    scores = query @ key.transpose(-2, -1) / math.sqrt(key.shape[-1])
    return scores.masked_fill(~mask, -torch.inf).softmax(-1) @ value, None


def gelu_in_steps(x: Tensor) -> Tensor:
    """Returns GELU in its tanh form (Hendrycks & Gimpel 2016)."""
    return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


TEXTBOOK = {
    "feed_forward": partial(FeedForward, activation=gelu_in_steps),
    "self_attention": partial(MultiHeadAttention, core=in_steps),
}
GPT_2 = {"feed_forward": partial(FeedForward, activation=partial(F.gelu, approximate="tanh"))}
ROTARY = {"positions": None, "self_attention": partial(MultiHeadAttention, rotation=RotaryPositions)}
LESSON_8 = {"size": 64, "heads": 4, "layers": 2, "length": 64}
LARGER = {"size": 128, "heads": 8, "layers": 4, "length": 256}


def language_model(size: int, length: int, **settings) -> TransformerLanguageModel:
    torch.manual_seed(0)
    inner = 4 * size
    return TransformerLanguageModel(1024, trained_length=length, model_size=size, feed_forward_size=inner, **settings)


def language_models(rounds: int = 5) -> Tables:
    """Trains the decoder alone against textbook steps, at the lesson's size and a larger one, and rotary positions."""
    for shape, batch_size, steps in ((LESSON_8, 16, 20), (LARGER, 8, 2)):
        windows = list(torch.randint(1024, (steps, batch_size, shape["length"] + 1)))
        models = {"textbook steps": language_model(**shape, **TEXTBOOK), "ours": language_model(**shape, **GPT_2)}
        words = steps * batch_size * shape["length"]
        assert_same(*models.values(), windows[0], next_token_loss)
        yield trained(f"language models, {shape}", models, windows, next_token_loss, words, rounds)
        if shape is LESSON_8:
            models = {"sinusoidal positions": language_model(**shape), "rotary": language_model(**shape, **ROTARY)}
            yield trained("language models", models, windows, next_token_loss, words, rounds)


# ---- writing ----


def reading_all(logits_of: Callable[[Tensor], Tensor], prompt: Tensor, length: int) -> Tensor:
    """Writes the likeliest word `length` times. Each step reads the whole text so far, like `generate` in minGPT."""
    words = prompt
    for _ in range(length):
        words = torch.cat([words, logits_of(words)[:, -1:].argmax(-1)], 1)
    return words[:, prompt.shape[1] :]


def assert_likeliest(logits_of: Callable[[Tensor], Tensor], prompt: Tensor, *written: Tensor) -> None:
    """Raises AssertionError unless the logit of each written word is the highest, to 1e-4.

    The tolerance allows either of two nearly equal words, since the two ways add in a different order.
    """
    for words in written:
        logits = logits_of(torch.cat([prompt, words[:, :-1]], 1))[:, prompt.shape[1] - 1 :]
        assert_close(logits.gather(-1, words[..., None])[..., 0], logits.amax(-1), atol=1e-4, rtol=0)


def past_or_not(title: str, model: nn.Module, memory, logits_of, prompt: Tensor, length: int, rounds: int) -> str:
    limit = torch.full_like(prompt[:, 0], length)
    ways = {
        "each step reads all words": partial(reading_all, logits_of, prompt, length),
        "keys and values kept": lambda: write(model, memory, prompt, limit, end=NO_END).words,
    }
    check, words = partial(assert_likeliest, logits_of, prompt), length * len(prompt)
    return table(f"{title}, {len(prompt)} at once", ways, check, words=words, rounds=rounds)


@torch.no_grad()
def writing(translated: int = 64, written: int = 256, rounds: int = 3) -> Tables:
    """Times a translator and a language model with and without keeping the keys and values of earlier words."""
    model = Transformer(100, 100).eval()
    memory, prompt = model.encode(torch.randint(4, 100, (16, 20)), None), torch.full((16, 1), SPECIALS.index(BOS))
    logits_of = lambda words: model.decode(words, None, memory)[0]  # noqa: E731
    yield past_or_not(f"Translating, {translated} words", model, memory, logits_of, prompt, translated, rounds)
    going_on = language_model(**LESSON_8, **ROTARY).eval()
    for texts in (1, 8):
        logits_of, prompt = lambda words: going_on(words)[0], torch.randint(1024, (texts, 1))
        yield past_or_not(f"Writing {written} tokens", going_on, None, logits_of, prompt, written, rounds)


# ---- attention ----


def heads(shapes: Sequence[Sequence[int]] = ((32, 64, 256), (8, 512, 256)), rounds: int = 15) -> Tables:
    """Times multi-head attention against torch's, forward and backward, without returning weights."""
    for shape in shapes:
        ours = MultiHeadAttention(shape[-1], heads=8)
        torchs, x, upstream = ours.to_torch(), torch.randn(*shape, requires_grad=True), torch.randn(*shape)

        def both(module, *given, x=x, upstream=upstream, **settings):
            output, _ = module(*given, **settings)
            return output, torch.autograd.grad(output, [x, *module.parameters()], upstream)[0]

        ways = {"torch's": partial(both, torchs, x, x, x, need_weights=False), "ours": partial(both, ours, x)}
        yield table(f"8 heads, (batch, length, d_model) = {shape}", ways, equal, rounds=rounds)


def ways_to_attend(length: int) -> Ways:
    """Returns ways to attend with one causal head of 64 numbers. The window hides words 64 or more positions back."""
    tensors, causal = torch.randn(3, 1, 1, length, 64).unbind(), causal_mask(length)
    return {
        "all scores": lambda: dot_product_attention(*tensors, causal, need_weights=True)[0],
        "tiles": lambda: tiled_attention(*tensors, causal)[0],
        "a window of 64, by blocks": lambda: window_attention(*tensors, window=64)[0],
    }


@torch.no_grad()
def cores(length: int = 4096, rounds: int = 5) -> Tables:
    """Times each way to attend, and measures the memory of tiles."""
    yield table(f"Attention of {length:,} words", ways_to_attend(length), equal, rounds=rounds)
    peaks = [peak(way, length) for way in ("all scores", "tiles")]
    yield f"peak MiB: all scores {peaks[0]:.1f}, tiles {peaks[1]:.1f}, a ratio of {peaks[1] / peaks[0]:.3f}"


def peak(way: str, length: int) -> float:
    """Returns the MiB that one of `ways_to_attend` adds to the memory of a separate process."""
    alone = f"""
import threading, time, psutil, torch
from course_lib.tools import bench
torch.set_num_threads(1)
bench.ways_to_attend(64)[{way!r}]()  # loading once does not count
way, memory, seen, running = bench.ways_to_attend({length})[{way!r}], psutil.Process().memory_info, [], True
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
    return float(subprocess.run([sys.executable, "-c", alone], capture_output=True, text=True, check=True).stdout)


@torch.no_grad()
def sharing(length: int = 1024, texts: int = 16, rounds: int = 9) -> Tables:
    """Times one more word of each text with heads that share keys and values."""
    ways = {}
    for sets in (8, 2):
        attention = partial(MultiHeadAttention, key_value_heads=sets, rotation=RotaryPositions)
        model = language_model(256, length, heads=8, positions=None, self_attention=attention).eval()
        _, _, past = model.decode(torch.randint(1024, (texts, length)))
        ways[f"{sets} sets of keys and values"] = partial(model.step, torch.randint(1024, (texts,)), past, None)
    yield table(f"8 heads after {length:,} words, {texts} at once", ways, lambda *_: None, words=texts, rounds=rounds)


@torch.no_grad()
def pretrained(folder: Path | None = None, lengths: Sequence[int] = (16, 64, 256), rounds: int = 9) -> Tables:
    """Times lesson 11's model, or another in a folder, against `transformers` with the same weights."""
    if importlib.util.find_spec("transformers") is None:
        yield "No loaded model was compared, since transformers is not installed. The extra `test` installs it."
        return
    from transformers import BertModel  # large, and needed only here

    folder = folder or minilm_folder()
    ours, theirs = from_pretrained(folder).model, BertModel.from_pretrained(folder).eval()
    for words in (torch.randint(1000, (8, length)) for length in lengths):
        ways = {"transformers": partial(lambda w: theirs(w)[0], words), "ours": partial(lambda w: ours(w)[0], words)}
        yield table(f"A loaded model reads 8 texts of {words.shape[1]} tokens", ways, equal, rounds=rounds)


def of_transformers(file: Path) -> nn.Module:
    """Loads a GGUF file into the Llama of `transformers`; this takes some ten times as long as `from_gguf`."""
    from transformers import LlamaConfig, LlamaForCausalLM
    from transformers.modeling_gguf_pytorch_utils import load_gguf_checkpoint

    model = LlamaForCausalLM(LlamaConfig(**load_gguf_checkpoint(str(file))["config"]))
    found = load_gguf_checkpoint(str(file), return_tensors=True, model_to_load=model)["tensors"]
    lacking = model.load_state_dict(found, strict=False)
    assert not lacking.unexpected_keys and lacking.missing_keys in ([], ["lm_head.weight"])
    return model.eval()


@torch.no_grad()
def generative(file: Path | None = None, read: int = 256, written: int = 32, rounds: int = 9) -> Tables:
    """Times lesson 12's model, or another in a GGUF file, against `transformers` with the same weights."""
    missing = [name for name in ("transformers", "gguf") if importlib.util.find_spec(name) is None]
    if missing:
        yield f"No model that writes was compared, since {missing[0]} is not installed. The extra `test` installs it."
        return
    try:
        file = file or smollm2_file()
    except NotInstalledError as error:
        yield f"No model that writes was compared. {error}"
        return
    ours, theirs = from_gguf(file), of_transformers(file)
    prompt = torch.randint(3, len(ours.embedding.weight), (1, read))
    ways = {"transformers": lambda: theirs(prompt).logits, "ours": lambda: ours.decode(prompt)[0]}
    yield table(f"A model that writes reads {read} tokens", ways, equal, words=read, rounds=rounds)
    prompt, limit = prompt[:, :16], torch.tensor([written])
    settings = {"attention_mask": torch.ones_like(prompt), "max_new_tokens": written, "do_sample": False}
    ways = {
        "transformers": lambda: theirs.generate(prompt, **settings, eos_token_id=None, pad_token_id=0)[:, 16:],
        "ours": lambda: write(ours, None, prompt, limit, end=NO_END).words,
    }
    yield table(f"It writes {written} tokens", ways, equal, words=written, rounds=rounds)
    theirs, ours = (memory_with(load, file) for load in ("of_transformers", "from_gguf"))
    yield f"MB of a process that has loaded it and read 16 tokens: transformers {theirs:,.0f}, ours {ours:,.0f}"


def memory_with(load: str, file: Path) -> float:
    """Returns the memory, in MB, of a process that has loaded the file and read 16 tokens."""
    alone = f"""
import psutil, torch
from course_lib.tools import bench
model = bench.{load}({str(file)!r})
with torch.no_grad():
    model(torch.arange(3, 19)[None])
print(psutil.Process().memory_info().rss / 1e6)
"""
    found = subprocess.run([sys.executable, "-c", alone], capture_output=True, text=True, check=True).stdout
    return float(found.splitlines()[-1])


ALL = translators, heads, language_models, writing, cores, sharing, pretrained, generative
