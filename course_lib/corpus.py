"""A corpus holds sentence pairs for training, validation and testing, as words and as batches of numbers.

`toy_french` makes one with the grammar of `course_lib.toy_french`, and `from_tsv` makes one from your own pairs.
"""

import csv
import difflib
import hashlib
import re
import unicodedata
import warnings
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from pathlib import Path

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from course_lib.files import data_draw, read_text
from course_lib.toy_french import RECURRING, Dice, SentencePair, sentence

PAD, BOS, EOS, UNK = "<pad>", "<bos>", "<eos>", "<unk>"
SPECIALS = (PAD, BOS, EOS, UNK)

Bucket = tuple[int, int]
TRAINED_LENGTHS: Bucket = (3, 20)
BUCKETS: tuple[Bucket, ...] = (
    (3, 6), (7, 10), (11, 14), (15, 17), (18, 20), (21, 24), (25, 28), (29, 32), (33, 36), (37, 40),
)  # fmt: skip


class Vocabulary:
    """Maps words to numbers and back; 0 to 3 are `<pad>`, `<bos>`, `<eos>`, `<unk>`.

    A closed vocabulary refuses an unknown word; an open one, for texts from outside, turns it into `<unk>`.

    >>> Vocabulary(["cat", "dog"]).encode(["dog"])
    [5]
    """

    def __init__(self, words: Iterable[str], *, open: bool = False):
        if isinstance(words, str):
            raise TypeError(f"the words are one string, whose characters would be words; give a list, {words.split()}")
        self.words = (*SPECIALS, *sorted(set(words) - set(SPECIALS)))
        self.numbers = {word: number for number, word in enumerate(self.words)}
        self.open = open

    def __len__(self) -> int:
        return len(self.words)

    def encode(self, words: Sequence[str]) -> list[int]:
        """Returns the numbers of the words. Raises KeyError if a closed vocabulary lacks a word."""
        if isinstance(words, str):
            raise TypeError(f"encode wants a list of words, not the string {words!r}; split it first")
        if not self.open:
            for unknown in (word for word in words if word not in self.numbers):
                near = difflib.get_close_matches(unknown, self.words, n=3)
                hint = f"; the nearest it has: {', '.join(near)}" if near else ""
                raise KeyError(f"{unknown!r} is not among the {len(self)} words of this vocabulary{hint}")
        return [self.numbers.get(word, self.numbers[UNK]) for word in words]

    def decode(self, numbers: Iterable[int | Tensor]) -> list[str]:
        """Returns the words up to the first `<eos>`, without `<pad>` and `<bos>`."""
        words = []
        for number in numbers:
            if (word := self.words[int(number)]) == EOS:
                break
            if word not in (PAD, BOS):
                words.append(word)
        return words


@dataclass(frozen=True)
class Batch:
    """Sentence pairs as numbers. Masks are True at words and False at padding.

    The decoder reads `target_input`, `<bos>` le chat noir, and should write `target_output`, le chat noir `<eos>`.
    """

    source: Int[Tensor, "batch source"]
    source_mask: Bool[Tensor, "batch source"]
    target_input: Int[Tensor, "batch target"]
    target_output: Int[Tensor, "batch target"]
    target_mask: Bool[Tensor, "batch target"]

    def to(self, device: torch.device) -> "Batch":
        return Batch(**{name: tensor.to(device) for name, tensor in vars(self).items()})


def pad(rows: Sequence[Sequence[int]]) -> tuple[Int[Tensor, "batch longest"], Bool[Tensor, "batch longest"]]:
    """Pads rows of numbers with `<pad>` to one tensor; also returns the mask, True where a row has a number."""
    if not rows:
        raise ValueError("no sentence was given; a batch needs at least one")
    for position, row in enumerate(rows):
        if not len(row):
            raise ValueError(f"sentence {position} is empty; every sentence needs at least one word")
    longest = max(map(len, rows))
    lengths = torch.tensor([len(row) for row in rows])
    filled = torch.tensor([[*row, *[SPECIALS.index(PAD)] * (longest - len(row))] for row in rows])
    return filled, torch.arange(longest) < lengths[:, None]


@dataclass(frozen=True)
class BadLine:
    number: int
    reason: str

    def __str__(self) -> str:
        return f"line {self.number}: {self.reason}"


@dataclass(frozen=True)
class Corpus:
    """Pairs for training, for validation, and for testing by length, with both vocabularies."""

    train: tuple[SentencePair, ...]
    validation: tuple[SentencePair, ...]
    test: dict[Bucket, tuple[SentencePair, ...]]
    source_vocabulary: Vocabulary
    target_vocabulary: Vocabulary
    bad_lines: tuple[BadLine, ...] = ()
    fingerprint: str = field(init=False)

    def __post_init__(self):
        parts = (self.train, self.validation, *self.test.values())
        text = "\n\n".join("\n".join(map(str, pairs)) for pairs in parts)
        object.__setattr__(self, "fingerprint", hashlib.sha256(text.encode()).hexdigest()[:16])

    def batch(self, pairs: Sequence[SentencePair]) -> Batch:
        source, source_mask = pad([self.source_vocabulary.encode(pair.source) for pair in pairs])
        targets = [self.target_vocabulary.encode(pair.target) for pair in pairs]
        bos, eos = SPECIALS.index(BOS), SPECIALS.index(EOS)
        target_input, target_mask = pad([[bos, *row] for row in targets])
        target_output, _ = pad([[*row, eos] for row in targets])
        return Batch(source, source_mask, target_input, target_output, target_mask)


class Batches:
    """Draws batches of one source length each, so that no source needs padding, in a new random order each time.

    `__call__(generator)` shuffles the pairs of each length, then the batches. The first call turns the pairs into
    numbers.
    """

    def __init__(self, corpus: Corpus, pairs: Sequence[SentencePair], batch_size: int = 64):
        if batch_size < 1:
            raise ValueError(f"batch_size is {batch_size}; it must be at least 1")
        self.corpus, self.pairs, self.batch_size = corpus, pairs, batch_size
        text = "\n".join(map(str, pairs))
        self.fingerprint = f"{hashlib.sha256(text.encode()).hexdigest()[:16]} in {batch_size}s"

    @cached_property
    def groups(self) -> list[Batch]:
        groups = defaultdict(list)
        for pair in self.pairs:
            groups[len(pair.source)].append(pair)
        return [self.corpus.batch(group) for _, group in sorted(groups.items())]

    def __len__(self) -> int:
        lengths = Counter(len(pair.source) for pair in self.pairs)
        return sum(-(-count // self.batch_size) for count in lengths.values())

    def __call__(self, generator: torch.Generator) -> Iterator[Batch]:
        chosen = [
            (group, rows)
            for group in self.groups
            for rows in torch.randperm(len(group.source), generator=generator).split(self.batch_size)
        ]
        for number in torch.randperm(len(chosen), generator=generator).tolist():
            group, rows = chosen[number]
            target_mask = group.target_mask[rows]
            longest = int(target_mask.sum(1).max())
            yield Batch(
                group.source[rows],
                group.source_mask[rows],
                group.target_input[rows, :longest],
                group.target_output[rows, :longest],
                target_mask[:, :longest],
            )


def part(pair: SentencePair) -> str:
    """Returns the part of the corpus that a pair belongs to. The source's words decide, so no sentence is in two."""
    source = " ".join(pair.source)
    share = zlib.crc32(source.encode(), data_draw()) % 10
    if share < 2 or source in RECURRING:
        return "test"
    return "validation" if share == 2 else "train"


def bucket_of(length: int) -> Bucket:
    """Returns the length bucket of a source sentence: 1 to 2, one of `BUCKETS`, or four lengths from 41 on."""
    if length < BUCKETS[0][0]:
        return 1, BUCKETS[0][0] - 1
    if length > BUCKETS[-1][1]:
        low = length - (length - 1) % 4
        return low, low + 3
    return next((low, high) for low, high in BUCKETS if length <= high)


@lru_cache(maxsize=4)
def toy_french(pairs: int = 15_000, tests: int = 500, seed: int = 2014) -> Corpus:
    """Makes the toy-French corpus.

    It has `pairs` pairs for training and 500 for validation, of 3 to 20 words, and `tests` pairs for each of `BUCKETS`.
    """
    dice = Dice(seed)
    seen: set[tuple[str, ...]] = set()
    parts: dict[str | Bucket, list[SentencePair]] = defaultdict(list)

    def draw(lengths: Bucket) -> None:
        pair = sentence(dice, dice.pick(range(lengths[0], lengths[1] + 1)))
        if pair.source not in seen:
            seen.add(pair.source)
            short = len(pair.source) <= TRAINED_LENGTHS[1]
            name = part(pair) if short else "test"
            parts[bucket_of(len(pair.source)) if name == "test" else name].append(pair)

    while len(parts["train"]) < pairs or len(parts["validation"]) < 500:
        draw(TRAINED_LENGTHS)
    for bucket in BUCKETS:
        while len(parts[bucket]) < tests:
            draw(bucket)
    train = tuple(parts["train"][:pairs])
    return Corpus(
        train,
        tuple(parts["validation"][:500]),
        {bucket: tuple(parts[bucket][:tests]) for bucket in BUCKETS},
        Vocabulary(word for pair in train for word in pair.source),
        Vocabulary(word for pair in train for word in pair.target),
    )


# A token is a word, a part of a word up to its apostrophe, or a sign, with its marks; `_drawn` turns each mark to MARK.
MARK, SIGN = "\u0301", "."
TOKEN = re.compile(rf"\w[\w{MARK}]*'(?=\w)|\w[\w{MARK}]*|[^\w\s]{MARK}*")
JOINERS = "\u200c\u200d"  # invisible, and part of a word's spelling in Persian and Hindi
WITHOUT_SPACES = ("CJK", "IDEOGRAPHIC", "HIRAGANA", "KATAKANA", "HALFWIDTH KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR")


@cache
def _drawn(letter: str) -> str:
    if letter in JOINERS or unicodedata.category(letter).startswith("M"):
        return MARK
    return SIGN if letter.isalpha() and unicodedata.name(letter, "").startswith(WITHOUT_SPACES) else letter


def tokenize(text: str) -> tuple[str, ...]:
    """Splits a text into words and punctuation in lower case; an apostrophe stays with the word before it.

    Accents and vowel signs stay with their letter, and both Unicode spellings of *é* become the same. A script without
    spaces between words, such as Chinese or Thai, is split into characters.

    >>> tokenize("L'oiseau chante. 鸟唱歌")
    ("l'", 'oiseau', 'chante', '.', '鸟', '唱', '歌')
    """
    spaced = text.replace("\u200b", " ")  # zero-width space
    seen = "".join(c for c in spaced if c in JOINERS or unicodedata.category(c) != "Cf")
    lower = unicodedata.normalize("NFC", seen).replace("İ", "i").lower()  # "İ".lower() has two characters
    plain = unicodedata.normalize("NFC", lower).replace("’", "'")
    return tuple(plain[token.start() : token.end()] for token in TOKEN.finditer("".join(map(_drawn, plain))))


def _rows(text: str) -> list[tuple[int, list[str]]]:
    """Returns the columns of each line, with the line's number.

    If all quotes can come from a spreadsheet, it removes the quotes around cells; then a cell may have several lines.
    """
    lines = text.removesuffix("\n").split("\n")
    reader = csv.reader((f"{line}\n" for line in lines), "excel-tab", strict=True)
    try:
        rows = [(reader.line_num, columns or [""]) for columns in reader]
    except csv.Error:
        rows = []
    if not rows or any("\t" in column for _, columns in rows for column in columns):
        return [(number, line.split("\t")) for number, line in enumerate(lines, start=1)]
    return rows


def from_tsv(path: str | Path) -> Corpus:
    """Reads your own sentence pairs, one per line as `source<TAB>target`, into a corpus like toy French.

    The file is in UTF-8, or in UTF-16 as Excel saves "Unicode Text". From files with three or more columns, such as
    those of manythings.org, it reads the first two, with a warning. About a fifth of the pairs is for testing and a
    tenth for validation; the words of a source decide. `bad_lines` lists the lines that cannot be used, with number
    and reason. There are no gold links. Words that occur only in the held-out parts are `<unk>`.

    Raises:
        ValueError: the file is no text, or no pair is left for training or for validation.
    """
    rows = _rows(read_text(Path(path), "surrogateescape"))
    width = max(2, Counter(len(columns) for _, columns in rows).most_common(1)[0][0])
    if width > 2:
        warnings.warn(f"{path} has {width} columns; the first two are read, as source and target", stacklevel=2)
    pairs, bad = [], []
    for number, columns in rows:
        sides = [tokenize(column) for column in columns[:2]]
        readable, *rest = re.split("[\udc80-\udcff]", "\t".join(columns[:2]), maxsplit=1)
        if rest:
            byte = len(readable.encode()) + 1
            bad.append(BadLine(number, f"byte {byte} is not UTF-8; save the file as UTF-8"))
        elif len(columns) not in (2, width):
            bad.append(BadLine(number, f"it has {len(columns)} column(s) and needs 2: source, one tab, target"))
        elif not all(sides):
            bad.append(BadLine(number, f"the {'target' if sides[0] else 'source'} side has no word"))
        else:
            pairs.append(SentencePair(*sides))
    parts = defaultdict(list)
    for pair in dict.fromkeys(pairs):
        name = part(pair)
        parts[bucket_of(len(pair.source)) if name == "test" else name].append(pair)
    train, validation = tuple(parts.pop("train", ())), tuple(parts.pop("validation", ()))
    if not train or not validation:
        listed = "".join(f"\n  {line}" for line in bad[:10])
        raise ValueError(
            f"{path} has {len(pairs)} usable pair(s): {len(train)} for training, {len(validation)} for validation; "
            f"each needs at least one, so give a few dozen pairs{listed}"
        )
    return Corpus(
        train,
        validation,
        {bucket: tuple(parts[bucket]) for bucket in sorted(parts)},
        Vocabulary((word for pair in train for word in pair.source), open=True),
        Vocabulary((word for pair in train for word in pair.target), open=True),
        tuple(bad),
    )
