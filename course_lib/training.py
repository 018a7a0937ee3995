"""Trains models with Adam, a learning-rate schedule, gradient clipping and a seed, and keeps them in a cache."""

import functools
import math
import os
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import partial

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional as F
from torch.optim.lr_scheduler import LambdaLR, LRScheduler, OneCycleLR

from course_lib.cache import cache_folder, replacing, set_damaged_aside
from course_lib.corpus import Batch, Batches, Corpus
from course_lib.decoding import greedy
from course_lib.fingerprint import UNSEEN, fingerprint
from course_lib.metrics import sentence_accuracy
from course_lib.processes import Progress


@dataclass(frozen=True)
class History:
    """The history of a training run.

    Args:
        loss: the loss of each step's batch; for a translator, cross-entropy in nats per word.
        validation_accuracy: the accuracy after each pass through the batches; for a translator, the share of
            validation sentences that it translates without an error.
        validated_at: CPU-seconds of all training steps before each validation.
        cpu_seconds: CPU-seconds of all training steps.
        parameters: number of parameters of the model.
    """

    loss: list[float]
    validation_accuracy: list[float]
    validated_at: list[float]
    cpu_seconds: float
    parameters: int


def course_seed() -> int:
    """Returns the seed of initialisation, batch order and dropout: `COURSE_SEED`, or 0."""
    return int(os.environ.get("COURSE_SEED", "0"))


Schedule = Callable[[torch.optim.Optimizer, int], LRScheduler]


def _at_the_peak_if_alone(schedule: Schedule) -> Schedule:
    """Changes a schedule so that a run of one step uses the optimizer's learning rate."""

    @functools.wraps(schedule)
    def whole(optimizer, steps):
        return constant(optimizer, steps) if steps == 1 else schedule(optimizer, steps)

    return whole


@_at_the_peak_if_alone
def one_cycle(optimizer: torch.optim.Optimizer, steps: int) -> LRScheduler:
    """Raises the rate to the optimizer's over the first 30 % of the steps, then lowers it to almost 0.

    Source: Smith & Topin 2019. A run of one step uses the optimizer's rate, since almost 0 would teach nothing.
    """
    return OneCycleLR(optimizer, max_lr=optimizer.defaults["lr"], total_steps=steps)


def constant(optimizer: torch.optim.Optimizer, steps: int) -> LRScheduler:
    """Keeps the optimizer's learning rate at every step."""
    return LambdaLR(optimizer, lambda step: 1.0)


def inverse_square_root(optimizer: torch.optim.Optimizer, steps: int, *, warm_up: int) -> LRScheduler:
    """Raises the rate linearly for w = `warm_up` steps, then lowers it: rate_t = peak · min(t / w, √(w / t)).

    Steps count from t = 1. Source: Vaswani et al. 2017, equation 3. The paper's peak is 1 / √(d_model · w); here the
    peak is the optimizer's learning rate. Raises ValueError if `warm_up` is not positive.
    """
    if warm_up < 1:
        raise ValueError(f"warm_up is {warm_up}; it must be at least 1 step (use `constant` for no warm-up)")
    return LambdaLR(optimizer, lambda step: min((step + 1) / warm_up, (warm_up / (step + 1)) ** 0.5))


def cross_entropy(
    logits: Float[Tensor, "*axes size"],
    words: Int[Tensor, "*axes"],
    mask: Bool[Tensor, "*axes"] | None = None,
    *,
    smoothing: float = 0.0,
) -> Float[Tensor, ""]:
    """Computes −Σ_v q(v) log p(v) in nats, averaged over the words where the mask is True.

    q is 1 at the correct word and 0 elsewhere. Label smoothing ε multiplies q by 1 − ε and adds ε / V at each of the
    V words (Szegedy et al. 2016, section 7; Vaswani et al. 2017, section 5.4, use ε = 0.1).

    Raises:
        TypeError: the mask is not boolean.
        ValueError: words or mask do not fit the logits, a word's number is not from 0 to V − 1 (even where the mask is
            False), the mask is False everywhere, or ε is not from 0 to 1.

    >>> cross_entropy(torch.zeros(1, 4), torch.tensor([2]), smoothing=0.1).item() == torch.tensor(4.0).log().item()
    True
    """
    if words.shape != logits.shape[:-1]:
        raise ValueError(
            f"the words have the shape {tuple(words.shape)} and the logits {tuple(logits.shape)}; each word needs the "
            "logits of its own position, so the two shapes must agree in all axes but the logits' last"
        )
    if words.numel() and not 0 <= words.min() <= words.max() < logits.shape[-1]:
        raise ValueError(
            f"the words have numbers from {words.min()} to {words.max()}, and there are logits for 0 to "
            f"{logits.shape[-1] - 1}; give padding any of these numbers, since the mask leaves it out"
        )
    if not 0 <= smoothing <= 1:
        raise ValueError(f"smoothing is {smoothing}; it must be from 0 to 1, a share of the probability")
    if mask is not None and mask.dtype != torch.bool:
        raise TypeError(f"the mask is {mask.dtype}; it must be torch.bool, True where a word counts")
    if mask is not None and mask.shape != words.shape:
        raise ValueError(f"the mask has the shape {tuple(mask.shape)}; it must be the words', {tuple(words.shape)}")
    if mask is not None and not mask.any():
        raise ValueError("the mask is False everywhere, so there is no word to average over; give it a True")
    counted = words if mask is None else words.masked_fill(~mask, -100)  # torch leaves out words numbered −100
    return F.cross_entropy(logits.reshape(-1, logits.shape[-1]), counted.reshape(-1), label_smoothing=smoothing)


def translation_loss(model: nn.Module, batch: Batch, smoothing: float = 0.0) -> Float[Tensor, ""]:
    """Computes the cross-entropy per target word (with `<eos>`), with teacher forcing."""
    logits, _ = model(batch.source, batch.source_mask, batch.target_input)
    return cross_entropy(logits, batch.target_output, batch.target_mask, smoothing=smoothing)


def next_token_loss(model: nn.Module, window: Int[Tensor, "batch window"]) -> Float[Tensor, ""]:
    """Computes the cross-entropy per token: one pass predicts each from those before it (Bengio et al. 2003)."""
    logits, _ = model(window[:, :-1])
    return cross_entropy(logits, window[:, 1:])


ADAM = partial(torch.optim.Adam, fused=True)


class _Given:
    """A function that `train` calls; its fingerprint is taken before `train` can change it."""

    def __init__(self, call: Callable):
        self.call, self.fingerprint = call, fingerprint(type(call), call)

    def __call__(self, *arguments):
        return self.call(*arguments)


class _GivenBatches(_Given):
    """The batches that `train` calls; raises ValueError if a call gives none."""

    def __call__(self, generator: torch.Generator) -> Iterator:
        some = False
        for batch in self.call(generator):
            some = True
            yield batch
        if not some:
            raise ValueError(
                "batches(generator) gave no batch; each call must give at least one, so if it returns an iterator "
                "that is used up, let it make a new one"
            )


def _with_what_is_given(train: Callable) -> Callable:
    """Makes `train` refuse a call without batches, and tidies the cache: damaged files, files that nobody can find."""

    @functools.wraps(train)
    def careful(build, batches, loss, **settings):
        folder = cache_folder()  # now, so that it warns before the training
        set_damaged_aside(folder)
        try:
            return train(_Given(build), _GivenBatches(batches), loss, **settings)
        finally:
            for file in folder.glob(f"{UNSEEN}*.pt"):
                file.unlink(missing_ok=True)

    return careful


@torch.enable_grad()  # a measurement without gradients may call it
@_with_what_is_given
def train(
    build: Callable[[], nn.Module],
    batches: Callable[[torch.Generator], Iterable],
    loss: Callable[[nn.Module, object], Float[Tensor, ""]],
    *,
    steps: int,
    learning_rate: float,
    schedule: Schedule = one_cycle,
    optimizer: Callable[..., torch.optim.Optimizer] = ADAM,
    clip: float = 1.0,
    validate: Callable[[nn.Module], float] | None = None,
    seed: int | None = None,
    label: str = "training",
) -> tuple[nn.Module, History]:
    """Builds a model and trains it, or reads it from the cache.

    Gradients are clipped to the norm `clip` (Pascanu et al. 2013). Training uses a GPU if there is one.

    Args:
        build: makes the untrained model. It is called after the seed is set, so the seed decides the first weights.
        batches: `batches(generator)` draws one pass of batches. `train` calls it again after each pass, until `steps`
            are done. A batch is a tensor, an object with a method `to(device)`, or a tuple of these.
        loss: computes the loss of the model on a batch.
        learning_rate: the highest rate of the `schedule`.
        optimizer: takes the parameters and the learning rate `lr`; Adam by default (Kingma & Ba 2015), in the form
            that steps all parameters with one kernel.
        validate: measures the model after each pass through `batches`; its time does not count.
        seed: `course_seed()` by default.
        label: the name in the progress bar.
    Returns:
        The model, on the CPU and in evaluation mode, and its history. A second call with the same code and the same
        values reads both from the cache. If a value cannot be compared, such as an open file, a warning says so and
        the model is trained again.
    Raises:
        ValueError: `steps` is not positive, or a call of `batches` gives no batch.
        FloatingPointError: the loss is NaN or infinite.
    """
    if steps < 1:
        raise ValueError(f"steps is {steps}; it must be at least 1")
    seed = course_seed() if seed is None else seed
    torch.manual_seed(seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = build().to(device)
    settings = {"steps": steps, "learning_rate": learning_rate, "clip": clip, "seed": seed, "device": device.type}
    code = (build, train, type(batches), batches, loss, schedule, optimizer, validate)
    kept = cache_folder() / f"{fingerprint(*code, settings)}.pt"
    if kept.exists():
        saved = torch.load(kept, map_location=device, weights_only=True)
        model.load_state_dict(saved["model"])
        return model.cpu().eval(), History(**saved["history"])

    generator = torch.Generator().manual_seed(seed)
    stepping = optimizer(model.parameters(), lr=learning_rate)
    rates = schedule(stepping, steps)
    progress = Progress(label, steps)
    losses, accuracies, validated_at, seconds = [], [], [], 0.0
    while len(losses) < steps:
        model.train()
        started = time.process_time()
        for batch in batches(generator):
            error = loss(model, _moved(batch, device))
            stepping.zero_grad()
            error.backward()
            nn.utils.clip_grad_norm_(model.parameters(), clip)
            stepping.step()
            rates.step()
            losses.append(error.item())
            if not math.isfinite(losses[-1]):
                raise FloatingPointError(
                    f"{label}: the loss is {losses[-1]} at step {len(losses)}; "
                    f"try a learning rate below {learning_rate}"
                )
            progress.advance(loss=losses[-1], **({"validation accuracy": accuracies[-1]} if accuracies else {}))
            if len(losses) == steps:
                break
        seconds += time.process_time() - started
        if validate:
            accuracies.append(validate(model))
            validated_at.append(seconds)
    parameters = sum(parameter.numel() for parameter in model.parameters())
    history = History(losses, accuracies, validated_at, seconds, parameters)
    with replacing(kept) as beside:
        torch.save({"model": model.state_dict(), "history": asdict(history)}, beside)
    last = losses[-100:]
    progress.finish(
        f"{parameters:,} parameters, {steps:,} steps, {seconds:.0f} CPU-s, loss {sum(last) / len(last):.3f}"
        + (f", validation accuracy {accuracies[-1]:.2f}" if accuracies else "")
    )
    return model.cpu().eval(), history


def fit(
    build: Callable[[], nn.Module],
    corpus: Corpus,
    *,
    epochs: int,
    learning_rate: float = 5e-3,
    schedule: Schedule = one_cycle,
    smoothing: float = 0.0,
    batch_size: int = 64,
    clip: float = 1.0,
    seed: int | None = None,
    label: str = "training",
) -> tuple[nn.Module, History]:
    """Trains a translator with teacher forcing on all pairs of the corpus, `epochs` times, and validates each time.

    `smoothing` is that of `cross_entropy`; the other arguments are those of `train`.

    Raises:
        ValueError: `epochs` is not positive, or the corpus has no pairs to train on.
        FloatingPointError: the loss is NaN or infinite.
    """
    if epochs < 1:
        raise ValueError(f"epochs is {epochs}; it must be at least 1")
    if not len(corpus.train):
        raise ValueError("the corpus has no pairs to train on; give it at least one in `train`")
    batches = Batches(corpus, corpus.train, batch_size)
    return train(
        build,
        batches,
        partial(translation_loss, smoothing=smoothing),
        steps=epochs * len(batches),
        learning_rate=learning_rate,
        schedule=schedule,
        clip=clip,
        validate=partial(validation_accuracy, corpus=corpus),
        seed=seed,
        label=label,
    )


def validation_accuracy(model: nn.Module, corpus: Corpus) -> float:
    """Returns the share of validation sentences that greedy decoding translates without an error."""
    written = [translation.tokens for translation in greedy(model, corpus, [p.source for p in corpus.validation])]
    return sentence_accuracy(written, corpus.validation)


def _moved(batch, device: torch.device):
    return tuple(part.to(device) for part in batch) if isinstance(batch, tuple) else batch.to(device)
