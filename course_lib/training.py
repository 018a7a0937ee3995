"""Training: Adam, a one-cycle schedule, clipped gradients, a seed, a cache."""

import math
import os
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F

from course_lib.corpus import PAD, SPECIALS, Batches, Corpus
from course_lib.decoding import greedy
from course_lib.fingerprint import fingerprint
from course_lib.metrics import sentence_accuracy
from course_lib.processes import Progress


@dataclass(frozen=True)
class History:
    """What a training run did.

    Args:
        loss: cross-entropy in nats a word, of each step's batch.
        validation_accuracy: share of validation sentences translated word for word, after each epoch.
        cpu_seconds: computing time of the training steps.
        parameters: numbers in the model.
    """

    loss: list[float]
    validation_accuracy: list[float]
    cpu_seconds: float
    parameters: int


def course_seed() -> int:
    """The seed of initialisation, batch order and dropout: `COURSE_SEED`, or 0."""
    return int(os.environ.get("COURSE_SEED", "0"))


def cache_folder() -> Path:
    """Where trained models are kept: `COURSE_CACHE`, or a folder of your own."""
    return Path(os.environ.get("COURSE_CACHE") or Path.home() / ".cache" / "attention-measured")


def fit(
    build: Callable[[], nn.Module],
    corpus: Corpus,
    *,
    epochs: int,
    learning_rate: float = 5e-3,
    batch_size: int = 64,
    clip: float = 1.0,
    seed: int | None = None,
    label: str = "training",
) -> tuple[nn.Module, History]:
    """Builds a translator and trains it on the corpus with teacher forcing; or takes it from the cache.

    The loss is −log p(correct next word), averaged over the words of a batch. Adam (Kingma & Ba 2015) with the
    one-cycle schedule (Smith & Topin 2019) up to `learning_rate`, gradients clipped to the norm `clip`
    (Pascanu et al. 2013). A GPU is used if there is one.

    Args:
        build: makes the untrained model; called after the seed is set, so it decides the first weights too.
        seed: `course_seed()` if not given.
        label: what the progress bar calls it.
    Returns:
        the model, on the CPU and in evaluation mode, and its history. The same call again, with the same code,
        is read from the cache.
    Raises:
        ValueError: `epochs` is not positive.
        FloatingPointError: the loss is no longer finite.
    """
    if epochs < 1:
        raise ValueError(f"epochs is {epochs}; it must be at least 1")
    seed = course_seed() if seed is None else seed
    torch.manual_seed(seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = build().to(device)
    settings = {
        "epochs": epochs,
        "learning_rate": learning_rate,
        "batch_size": batch_size,
        "clip": clip,
        "seed": seed,
    }
    kept = cache_folder() / f"{fingerprint(build, fit, corpus, settings, device.type)}.pt"
    if kept.exists():
        saved = torch.load(kept, map_location=device, weights_only=True)
        model.load_state_dict(saved["model"])
        return model.cpu().eval(), History(**saved["history"])

    batches = Batches(corpus, corpus.train, batch_size)
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate)
    steps = epochs * len(batches)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=learning_rate, total_steps=steps)
    progress = Progress(label, steps)
    losses, accuracies, seconds = [], [], 0.0
    for _ in range(epochs):
        model.train()
        started = time.process_time()
        for batch in (batch.to(device) for batch in batches(generator)):
            logits, _ = model(batch.source, batch.source_mask, batch.target_input)
            loss = F.cross_entropy(
                logits.flatten(0, 1), batch.target_output.flatten(), ignore_index=SPECIALS.index(PAD)
            )
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), clip)
            optimizer.step()
            schedule.step()
            losses.append(loss.item())
            if not math.isfinite(losses[-1]):
                raise FloatingPointError(
                    f"{label}: the loss is {losses[-1]} at step {len(losses)}; "
                    f"try a learning rate below {learning_rate}"
                )
            progress.advance(loss=losses[-1], **({"validation accuracy": accuracies[-1]} if accuracies else {}))
        seconds += time.process_time() - started
        accuracies.append(validation_accuracy(model, corpus))
    parameters = sum(parameter.numel() for parameter in model.parameters())
    history = History(losses, accuracies, seconds, parameters)
    _keep({"model": model.state_dict(), "history": asdict(history)}, kept)
    progress.finish(
        f"{parameters:,} parameters, {epochs} epochs, {seconds:.0f} CPU-s, "
        f"loss {sum(losses[-len(batches) :]) / len(batches):.3f}, validation accuracy {accuracies[-1]:.2f}"
    )
    return model.cpu().eval(), history


def validation_accuracy(model: nn.Module, corpus: Corpus) -> float:
    """Share of the validation sentences that greedy decoding translates word for word."""
    written = [translation.tokens for translation in greedy(model, corpus, [p.source for p in corpus.validation])]
    return sentence_accuracy(written, corpus.validation)


def _keep(saved: dict, file: Path) -> None:
    """Writes beside and renames, so that a reader never meets half a file."""
    file.parent.mkdir(parents=True, exist_ok=True)
    beside = file.with_suffix(f".{os.getpid()}")
    torch.save(saved, beside)
    os.replace(beside, file)
