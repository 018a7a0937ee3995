"""Splits running text into a training and a validation part for a language model, and draws batches of windows."""

import hashlib
import lzma
import re
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path

import torch
from jaxtyping import Int
from torch import Tensor

from course_lib.byte_pairs import BytePairs
from course_lib.files import DATA, data_draw, read_json, read_text

REFERENCE = DATA / "python_reference" / "topics.txt.xz"
BLANK = r"\n\s*\n"  # one or more blank lines
RUN = 8  # words; a run of this length that is in both parts counts as overlap
CHAPTER = 5_000  # characters, about, per chapter of a text without topics
SHORTEST = 1_000  # characters that each part needs


@dataclass(frozen=True)
class TextCorpus:
    """A text for training and one for validation.

    Args:
        dropped: share of the characters left out, because their paragraph had occurred before.
    """

    train: str
    validation: str
    dropped: float
    fingerprint: str = field(init=False)

    def __post_init__(self):
        both = f"{self.train}\f{self.validation}"
        object.__setattr__(self, "fingerprint", hashlib.sha256(both.encode()).hexdigest()[:16])

    @cached_property
    def overlap(self) -> float:
        """The share of the validation text's runs of eight words that also occur in the training text."""
        runs = runs_of_words(self.validation)
        return len(runs & runs_of_words(self.train)) / max(1, len(runs))


def runs_of_words(text: str) -> set[tuple[str, ...]]:
    words = text.split()
    return {tuple(words[i : i + RUN]) for i in range(len(words) - RUN + 1)}


def split(topics: Mapping[str, str], held_out: Collection[str]) -> TextCorpus:
    """Keeps each paragraph where it first occurs, then holds out the topics `held_out` for validation.

    Topics repeat each other, so without the first step a model would know validation paragraphs from training.

    Raises:
        ValueError: a part has fewer than 1,000 characters.
    """
    seen: set[str] = set()
    parts: dict[str, list[str]] = {"train": [], "validation": []}
    for name, text in topics.items():
        paragraphs = [part for part in re.split(BLANK, text.strip("\n")) if part.strip()]
        fresh = [part for part in dict.fromkeys(paragraphs) if part not in seen]
        seen.update(fresh)
        if fresh:
            parts["validation" if name in held_out else "train"].append("\n\n".join(fresh))
    train, validation = ("\n\n\n".join(part) for part in parts.values())
    for name, text in (("training", train), ("validation", validation)):
        if len(text) < SHORTEST:
            raise ValueError(
                f"{len(text):,} characters are left for {name}; it needs at least {SHORTEST:,}, and a model needs some "
                "100,000 in all to learn from. The text is split at blank lines, and repeated paragraphs count once"
            )
    kept = len(train) + len(validation)
    return TextCorpus(train, validation, max(0.0, 1 - kept / sum(map(len, topics.values()))))


@lru_cache(maxsize=1)
def topics() -> dict[str, str]:
    """Returns the 79 topics of `python_reference` by name, each with all its paragraphs, also repeated ones."""
    found = lzma.decompress(REFERENCE.read_bytes()).decode().split("\f")[1:]
    return dict(topic.split("\n", 1) for topic in found)


@lru_cache(maxsize=1)
def python_reference() -> TextCorpus:
    """Returns the language reference of Python 3.11: 79 topics, with each paragraph once."""
    part = (2 + 3 * data_draw()) % 10
    held_out = {name for name in topics() if zlib.crc32(name.encode()) % 10 == part}  # as in `corpus.part`
    return split(topics(), held_out)


def written(name: str) -> dict:
    """Returns sentences that we wrote for a lesson before any model saw them.

    Each draw of the data has its own. Raises FileNotFoundError if nobody has written any for this draw.
    """
    draw = data_draw()
    file = DATA / "written" / (str(draw) if draw else "") / f"{name}.json"
    if not file.exists():
        raise FileNotFoundError(f"draw {draw} has no sentences {name!r}; write {file.relative_to(DATA)} before a model")
    return read_json(file)


@lru_cache(maxsize=4)
def vocabulary(corpus: TextCorpus, size: int = 1024) -> BytePairs:
    """Returns the byte pairs that the training text gives."""
    return BytePairs.train(corpus.train, size)


def from_text(path: str | Path) -> TextCorpus:
    """Reads your own text, in UTF-8 or in UTF-16 with a byte-order mark, into a corpus like `python_reference`.

    It is split at blank lines into chapters of about 5,000 characters; the second of every ten is for validation.
    Raises ValueError if the text is empty, too short, or in another encoding.
    """
    text = read_text(Path(path))
    if not text.strip():
        raise ValueError(f"{path} is empty; give a text of some 100,000 characters")
    chapters = [""]
    for paragraph in re.split(BLANK, text):
        if len(chapters[-1]) > CHAPTER:
            chapters.append("")
        chapters[-1] += paragraph + "\n\n"
    try:
        numbers = range(len(chapters))
        return split(dict(zip(map(str, numbers), chapters, strict=True)), {str(n) for n in numbers[1::10]})
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


class Windows:
    """Draws batches (batch, length + 1) of windows of a text, at new random positions each time.

    Args:
        numbers: the text's tokens.
        length: tokens that the model reads at once; the window has one more, the last to be predicted.
        batches: number of batches in one pass.
    Raises:
        ValueError: the text is shorter than a window, or a number is not positive.
    """

    def __init__(self, numbers: Sequence[int], length: int, batch_size: int, batches: int = 100):
        if min(length, batch_size, batches) < 1:
            raise ValueError(
                f"length is {length}, batch_size {batch_size} and batches {batches}; each must be at least 1"
            )
        if len(numbers) <= length:
            raise ValueError(
                f"the text has {len(numbers)} tokens, but a window has {length} + 1; give a longer text or a shorter "
                "length"
            )
        self.numbers = torch.tensor(numbers)
        self.length, self.batch_size, self.batches = length, batch_size, batches
        text = hashlib.sha256(self.numbers.numpy().tobytes()).hexdigest()[:16]
        self.fingerprint = f"{text} in {batches} batches of {batch_size} × {length}"

    def __call__(self, generator: torch.Generator) -> Iterator[Int[Tensor, "batch window"]]:
        for _ in range(self.batches):
            start = torch.randint(len(self.numbers) - self.length, (self.batch_size, 1), generator=generator)
            yield self.numbers[start + torch.arange(self.length + 1)]
