"""Running text to train a language model on: what is read, what is held out, and windows of it as batches."""

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
from course_lib.files import DATA, read_text

REFERENCE = DATA / "python_reference" / "topics.txt.xz"
BLANK = r"\n\s*\n"  # lines, one or more
RUN = 8  # words; a run of as many that stands in both parts counts as overlap
CHAPTER = 5_000  # characters, about, of what a text without topics is cut into
SHORTEST = 1_000  # characters of either part


@dataclass(frozen=True)
class TextCorpus:
    """A text to train on, and one to validate on.

    Args:
        dropped: share of the characters that were left out, as paragraphs that had stood before.
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
        """The share of the validation text's runs of eight words that stand in the training text, too."""
        runs = runs_of_words(self.validation)
        return len(runs & runs_of_words(self.train)) / max(1, len(runs))


def runs_of_words(text: str) -> set[tuple[str, ...]]:
    words = text.split()
    return {tuple(words[i : i + RUN]) for i in range(len(words) - RUN + 1)}


def split(topics: Mapping[str, str], held_out: Collection[str]) -> TextCorpus:
    """Each paragraph once, where it stands first; then the topics that are held out for validation, and the others.

    In this order: topics repeat each other, and a paragraph in both parts would be known by heart.

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
                f"{len(text):,} characters are left for {name}; {SHORTEST:,} are wanted, and some 100,000 in all are "
                "what a model can learn from. The text is cut at blank lines, and repeated paragraphs count once"
            )
    kept = len(train) + len(validation)
    return TextCorpus(train, validation, max(0.0, 1 - kept / sum(map(len, topics.values()))))


@lru_cache(maxsize=1)
def python_reference() -> TextCorpus:
    """The language reference of Python 3.11: 79 topics, of which each paragraph is read once."""
    topics = lzma.decompress(REFERENCE.read_bytes()).decode().split("\f")[1:]
    by_name = dict(topic.split("\n", 1) for topic in topics)
    return split(by_name, {name for name in by_name if zlib.crc32(name.encode()) % 10 == 2})  # as in `corpus.part`


@lru_cache(maxsize=1)
def topics() -> dict[str, str]:
    """The 79 topics of `python_reference` by name, each whole: topics repeat each other."""
    found = lzma.decompress(REFERENCE.read_bytes()).decode().split("\f")[1:]
    return dict(topic.split("\n", 1) for topic in found)


@lru_cache(maxsize=4)
def vocabulary(corpus: TextCorpus, size: int = 1024) -> BytePairs:
    """The byte pairs of its training text."""
    return BytePairs.train(corpus.train, size)


def from_text(path: str | Path) -> TextCorpus:
    """Your own text, a file in UTF-8 (or UTF-16 with a byte-order mark), as a corpus like `python_reference`.

    It is cut between paragraphs (blank lines) into chapters of about 5,000 characters; of each ten the second is for
    validation. Raises ValueError if it is empty, too short, or in another encoding.
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
    """Windows of a text at places drawn anew each time, as batches (batch, length + 1): what is read, and what follows.

    Args:
        numbers: the text's tokens.
        length: tokens that the model reads at once; the window has one more, the last to be predicted.
        batches: how many one pass has.
    Raises:
        ValueError: the text is shorter than a window, or a number is not positive.
    """

    def __init__(self, numbers: Sequence[int], length: int, batch_size: int, batches: int = 100):
        if min(length, batch_size, batches) < 1:
            raise ValueError(f"length {length}, batch_size {batch_size}, batches {batches}: each must be at least 1")
        if len(numbers) <= length:
            raise ValueError(
                f"the text has {len(numbers)} tokens, and a window {length} + 1; give a longer text or a shorter length"
            )
        self.numbers = torch.tensor(numbers)
        self.length, self.batch_size, self.batches = length, batch_size, batches
        text = hashlib.sha256(self.numbers.numpy().tobytes()).hexdigest()[:16]
        self.fingerprint = f"{text} in {batches} batches of {batch_size} × {length}"

    def __call__(self, generator: torch.Generator) -> Iterator[Int[Tensor, "batch window"]]:
        for _ in range(self.batches):
            start = torch.randint(len(self.numbers) - self.length, (self.batch_size, 1), generator=generator)
            yield self.numbers[start + torch.arange(self.length + 1)]
