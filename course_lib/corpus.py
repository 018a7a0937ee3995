"""What a corpus is: sentence pairs to train, validate and test on, as words and as batches of numbers.

There are two: `toy_french`, which the grammar of `course_lib.toy_french` writes, and `from_tsv`, of your own pairs.
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

from course_lib.files import read_text

# All of the grammar: lessons, and workbooks that learners keep, say corpus.RECURRING or corpus.ANIMALS.
from course_lib.toy_french import *  # noqa: F403
from course_lib.toy_french import RECURRING, Dice, SentencePair, sentence

PAD, BOS, EOS, UNK = "<pad>", "<bos>", "<eos>", "<unk>"
SPECIALS = (PAD, BOS, EOS, UNK)

Bucket = tuple[int, int]
TRAINED_LENGTHS: Bucket = (3, 20)
BUCKETS: tuple[Bucket, ...] = (
    (3, 6), (7, 10), (11, 14), (15, 17), (18, 20), (21, 24), (25, 28), (29, 32), (33, 36), (37, 40),
)  # fmt: skip


class Vocabulary:
    """Words and their numbers; 0 to 3 are `<pad>`, `<bos>`, `<eos>`, `<unk>`.

    A closed vocabulary refuses a word it does not have; an open one, for texts from outside, gives `<unk>`.

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
        """Numbers of the words. Raises KeyError for a word that a closed vocabulary lacks."""
        if isinstance(words, str):
            raise TypeError(f"encode wants a list of words, not the string {words!r}; split it first")
        if not self.open:
            for unknown in (word for word in words if word not in self.numbers):
                near = difflib.get_close_matches(unknown, self.words, n=3)
                hint = f"; the nearest it has: {', '.join(near)}" if near else ""
                raise KeyError(f"{unknown!r} is not among the {len(self)} words of this vocabulary{hint}")
        return [self.numbers.get(word, self.numbers[UNK]) for word in words]

    def decode(self, numbers: Iterable[int | Tensor]) -> list[str]:
        """Words up to the first `<eos>`, without `<pad>` and `<bos>`."""
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

    The decoder reads `target_input` (`<bos>` le chat noir) and is to write `target_output` (le chat noir `<eos>`).
    """

    source: Int[Tensor, "batch source"]
    source_mask: Bool[Tensor, "batch source"]
    target_input: Int[Tensor, "batch target"]
    target_output: Int[Tensor, "batch target"]
    target_mask: Bool[Tensor, "batch target"]

    def to(self, device: torch.device) -> "Batch":
        return Batch(**{name: tensor.to(device) for name, tensor in vars(self).items()})


def pad(rows: Sequence[Sequence[int]]) -> tuple[Int[Tensor, "batch longest"], Bool[Tensor, "batch longest"]]:
    """Rows of numbers as one tensor, filled up with `<pad>`, and the mask that is True where a row has a number."""
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
    """Pairs to train on, to validate on, and to test on by length, with both vocabularies."""

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
    """Batches of one source length each, so that no source needs padding, in a new random order each time.

    Pairs are turned into numbers once, when first needed; `__call__(generator)` shuffles within lengths and then the
    batches.
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
    """Which part of a corpus a sentence belongs to: its words decide, so nothing leaks from one into another."""
    source = " ".join(pair.source)
    share = zlib.crc32(source.encode()) % 10
    if share < 2 or source in RECURRING:
        return "test"
    return "validation" if share == 2 else "train"


def bucket_of(length: int) -> Bucket:
    """The length bucket of a source sentence: 1-2, those of `BUCKETS`, and from 41 on steps of four."""
    if length < BUCKETS[0][0]:
        return 1, BUCKETS[0][0] - 1
    if length > BUCKETS[-1][1]:
        low = length - (length - 1) % 4
        return low, low + 3
    return next((low, high) for low, high in BUCKETS if length <= high)


@lru_cache(maxsize=4)
def toy_french(pairs: int = 15_000, tests: int = 500, seed: int = 2014) -> Corpus:
    """Toy French: `pairs` to train on (3 to 20 words), 500 to validate on, `tests` of each length bucket to test on."""
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


# A word or an apostrophe's part of one, or a sign; with marks, all of which are drawn as the first.
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
    """Words and punctuation in lower case; an apostrophe stays with the word before it, as in *l'*, *oiseau*.

    Accents and vowel signs stay with their letter, and *é* is the same in both its spellings, of one character or two.
    A script that has no spaces between words, such as Chinese or Thai, is cut into characters.

    >>> tokenize("L'oiseau chante. 鸟唱歌")
    ("l'", 'oiseau', 'chante', '.', '鸟', '唱', '歌')
    """
    spaced = text.replace("\u200b", " ")  # a space of no width
    seen = "".join(c for c in spaced if c in JOINERS or unicodedata.category(c) != "Cf")
    lower = unicodedata.normalize("NFC", seen).replace("İ", "i").lower()  # of İ alone it would be two characters
    plain = unicodedata.normalize("NFC", lower).replace("’", "'")
    return tuple(plain[token.start() : token.end()] for token in TOKEN.finditer("".join(map(_drawn, plain))))


def _rows(text: str) -> list[tuple[int, list[str]]]:
    """The columns of each line, with its number.

    Quotes around cells are taken off if all of them can be a spreadsheet's; then a cell may have several lines.
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
    """Your own sentence pairs, one a line as `source<TAB>target`, as a corpus like toy French.

    The file is in UTF-8, or in UTF-16 as Excel saves "Unicode Text". Of three columns and more, as in the files of
    manythings.org, the first two are taken, with a warning. A fifth of the pairs is for testing and a tenth for
    validation, as their words decide. Lines that cannot be used are left out and listed in `bad_lines` with number and
    reason. There are no gold links. Words that occur only in the held-out part are `<unk>`.

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
            bad.append(BadLine(number, f"{len(columns)} column(s), 2 wanted: source, one tab, target"))
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
            f"each needs at least one, so give some dozens{listed}"
        )
    return Corpus(
        train,
        validation,
        {bucket: tuple(parts[bucket]) for bucket in sorted(parts)},
        Vocabulary((word for pair in train for word in pair.source), open=True),
        Vocabulary((word for pair in train for word in pair.target), open=True),
        tuple(bad),
    )
