"""Toy French: a grammar that writes English-French sentence pairs with exact word alignments.

The grammar knows which English word each French word comes from, so what a translator should look at
is known beforehand. Links come in two strengths (Och & Ney 2003): *sure*, this word translates that one,
and *possible*, for function words without a counterpart of their own. Every sure link is possible too.
"""

import difflib
import hashlib
import re
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path

import torch
from jaxtyping import Bool, Int
from torch import Tensor

PAD, BOS, EOS, UNK = "<pad>", "<bos>", "<eos>", "<unk>"
SPECIALS = (PAD, BOS, EOS, UNK)

Bucket = tuple[int, int]
TRAINED_LENGTHS: Bucket = (3, 20)
BUCKETS: tuple[Bucket, ...] = (
    (3, 6), (7, 10), (11, 14), (15, 17), (18, 20), (21, 24), (25, 28), (29, 32), (33, 36), (37, 40),
)  # fmt: skip

Links = frozenset[tuple[int, int]]


@dataclass(frozen=True)
class Pronoun:
    """Where *it* stands, what it refers to, and the noun of the other gender it could be mistaken for."""

    source: int
    target: int
    antecedent: int
    distractor: int


@dataclass(frozen=True)
class SentencePair:
    """A sentence, its translation, and the gold links as (target position, source position)."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    sure: Links = frozenset()
    possible: Links = frozenset()
    phenomena: frozenset[str] = frozenset()
    pronoun: Pronoun | None = None

    def __str__(self) -> str:
        return f"{' '.join(self.source)} → {' '.join(self.target)}"


# --- lexicon ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Noun:
    english: tuple[str, str]  # singular, plural
    french: tuple[str, str]
    feminine: bool
    kind: str


def _nouns(kind: str, *rows: str) -> list[Noun]:
    words = [row.split() for row in rows]
    return [Noun((one, many), (un, des), gender == "f", kind) for one, many, un, des, gender in words]


ANIMALS = _nouns(
    "animal",
    "cat cats chat chats m",
    "dog dogs chien chiens m",
    "bird birds oiseau oiseaux m",
    "chicken chickens poulet poulets m",
    "cow cows vache vaches f",
    "mouse mice souris souris f",
    "bee bees abeille abeilles f",
)
PLACES = _nouns(
    "place",
    "road roads route routes f",
    "street streets rue rues f",
    "river rivers rivière rivières f",
    "island islands île îles f",
    "bridge bridges pont ponts m",
    "field fields champ champs m",
)
MACHINES = _nouns("machine", "engine engines moteur moteurs m", "clock clocks horloge horloges f")

# masculine and feminine singular, masculine and feminine plural
ARTICLES = {
    "the": ("le", "la", "les", "les"),
    "this": ("ce", "cette", "ces", "ces"),
    "a": ("un", "une"),
}
BEFORE_NOUN = {
    "small": ("petit", "petite", "petits", "petites"),
    "big": ("grand", "grande", "grands", "grandes"),
    "old": ("vieux", "vieille", "vieux", "vieilles"),
    "young": ("jeune", "jeune", "jeunes", "jeunes"),
}
AFTER_NOUN = {
    "black": ("noir", "noire", "noirs", "noires"),
    "white": ("blanc", "blanche", "blancs", "blanches"),
    "red": ("rouge", "rouge", "rouges", "rouges"),
}
STATES = {  # what is said of *it* tells which of two nouns it is
    "animal": {"tired": ("fatigué", "fatiguée"), "hungry": ("affamé", "affamée")},
    "place": {"wide": ("large", "large"), "long": ("long", "longue"), "narrow": ("étroit", "étroite")},
}
# he runs, they run, il court, ils courent
RUN = ("runs", "run", "court", "courent")
RUN_OF_MACHINES = ("runs", "run", "marche", "marchent")
INTRANSITIVE = [
    RUN,
    ("sleeps", "sleep", "dort", "dorment"),
    ("sings", "sing", "chante", "chantent"),
    ("eats", "eat", "mange", "mangent"),
]
TRANSITIVE = [
    ("sees", "see", "voit", "voient"),
    ("follows", "follow", "suit", "suivent"),
    ("loves", "love", "aime", "aiment"),
    ("hears", "hear", "entend", "entendent"),
]
PREPOSITIONS = {"in": "dans", "behind": "derrière", "under": "sous", "before": "devant"}
CONJUNCTIONS = {"and": ("et",), "but": ("mais",), "while": ("pendant", "que")}
BEFORE_VOWEL = {"le": "l'", "la": "l'", "ne": "n'", "que": "qu'", "ce": "cet"}
FRENCH_VOWELS = tuple("aeiouéîh")  # every h of this lexicon is silent


# --- grammar ---------------------------------------------------------------------------------------------


class Dice:
    """Random choices out of one `torch.Generator`, drawn in blocks because single draws are slow."""

    def __init__(self, seed: int):
        self.generator = torch.Generator().manual_seed(seed)
        self.block: list[float] = []

    def random(self) -> float:
        if not self.block:
            self.block = torch.rand(4096, generator=self.generator, dtype=torch.float64).tolist()
        return self.block.pop()

    def pick(self, options: Iterable):
        options = list(options)
        return options[int(self.random() * len(options))]


@dataclass(frozen=True)
class Phrase:
    """A piece of a sentence in both languages; links are (French position, English position)."""

    english: tuple[str, ...]
    french: tuple[str, ...]
    sure: tuple[tuple[int, int], ...]
    possible: tuple[tuple[int, int], ...] = ()
    tags: frozenset[str] = frozenset()
    marks: tuple[tuple[str, int], ...] = ()  # named English positions


def join(*phrases: Phrase) -> Phrase:
    english, french, sure, possible, marks = [], [], [], [], []
    for phrase in phrases:
        down, across = len(french), len(english)
        english += phrase.english
        french += phrase.french
        sure += [(f + down, e + across) for f, e in phrase.sure]
        possible += [(f + down, e + across) for f, e in phrase.possible]
        marks += [(name, e + across) for name, e in phrase.marks]
    tags = frozenset().union(*(phrase.tags for phrase in phrases))
    return Phrase(tuple(english), tuple(french), tuple(sure), tuple(possible), tags, tuple(marks))


def word(english: str, *french: str, tags: Sequence[str] = ()) -> Phrase:
    """One English word and the French word or words that translate it together."""
    return Phrase((english,), french, tuple((f, 0) for f in range(len(french))), tags=frozenset(tags))


def noun_phrase(
    noun: Noun, article: str = "the", before: str = "", after: str = "", plural: bool = False, mark: str = ""
) -> Phrase:
    """*the small black cat*, *le petit chat noir*: article, adjectives and noun, all agreeing."""
    form = 2 * plural + noun.feminine
    name = noun.french[plural]
    english = {"article": {"this": "these"}.get(article, article) if plural else article}
    french = {"article": ARTICLES[article][form]}
    if before:
        english["before"] = before
        elides = before == "old" and form == 0 and name.startswith(FRENCH_VOWELS)
        french["before"] = "vieil" if elides else BEFORE_NOUN[before][form]
    if after:
        english["after"] = after
    english["noun"] = noun.english[plural]
    french["noun"] = name
    if after:
        french["after"] = AFTER_NOUN[after][form]
    places = list(english)
    return Phrase(
        tuple(english.values()),
        tuple(french.values()),
        tuple((f, places.index(part)) for f, part in enumerate(french)),
        tags=frozenset(["agreement"] * (form > 0) + ["word order"] * bool(after)),
        marks=((mark, len(english) - 1),) if mark else (),
    )


def verb_phrase(verb: tuple[str, str, str, str], plural: bool, negated: bool = False) -> Phrase:
    he, they, il, ils = verb
    tags = ["several meanings"] * (he == "runs")
    if not negated:
        return word(they if plural else he, ils if plural else il, tags=tags)
    english, french = ("do" if plural else "does", "not", they), ("ne", ils if plural else il, "pas")
    return Phrase(english, french, ((1, 2), (2, 1)), ((0, 1), (1, 0)), frozenset([*tags, "negation"]))


DID_NOT_CROSS = Phrase(
    ("did", "not", "cross"),
    ("ne", "a", "pas", "traversé"),
    sure=((2, 1), (3, 2)),
    possible=((0, 1), (1, 0)),
    tags=frozenset({"negation"}),
)


def pronoun_clause(antecedent: Noun, state: str) -> Phrase:
    """*because it was tired*: the gender of *il* or *elle*, and of what follows, is the antecedent's."""
    adjective = STATES[antecedent.kind][state][antecedent.feminine]
    it = word("it", "elle" if antecedent.feminine else "il", tags=["pronoun", "several meanings"])
    return join(word("because", "parce", "que"), it, word("was", "était"), word(state, adjective))


def _before_vowel(words: Sequence[str], forms: dict[str, str], vowels: tuple[str, ...]) -> tuple[str, ...]:
    following = (*words[1:], "")
    return tuple(forms.get(w, w) if n.startswith(vowels) else w for w, n in zip(words, following, strict=True))


def finish(phrase: Phrase) -> SentencePair:
    """The phrase as a sentence pair, with *an* for *a*, *l'* for *le*, and so on, before vowels."""
    english = _before_vowel(phrase.english, {"a": "an"}, tuple("aeiou"))
    french = _before_vowel(phrase.french, BEFORE_VOWEL, FRENCH_VOWELS)
    tags = phrase.tags | ({"elision"} if any(word.endswith("'") for word in french) else set())
    sure = frozenset(phrase.sure)
    pronoun = None
    if "pronoun" in tags:
        it, marks = english.index("it"), dict(phrase.marks)
        target = next(f for f, e in phrase.sure if e == it)
        pronoun = Pronoun(it, target, marks["antecedent"], marks["distractor"])
    return SentencePair(english, french, sure, sure | frozenset(phrase.possible), tags, pronoun)


# What can be added to a clause, at how many English words, and what must be there already.
COST = {"negation": 2, "object": 2, "place": 3, "short relative": 2, "long relative": 4}
COST |= {f"{noun} {side}": 1 for noun in ("subject", "object", "place") for side in ("before", "after")}
NEEDS = {f"{noun} {side}": noun for noun in ("object", "place") for side in ("before", "after")}
EXCLUDES = {"short relative": "long relative", "long relative": "short relative"}


def _extras(dice: Dice, words: int, given: Sequence[str] = (), never: Sequence[str] = ()) -> set[str]:
    """Random additions that together cost exactly that many words."""
    while True:
        chosen, rest = set(given), words
        while rest:
            fitting = [
                extra
                for extra, cost in COST.items()
                if cost <= rest and extra not in chosen and extra not in never
                and NEEDS.get(extra, extra) in (extra, *chosen) and EXCLUDES.get(extra) not in chosen
            ]  # fmt: skip
            if not fitting:
                break
            extra = dice.pick(fitting)
            chosen.add(extra)
            rest -= COST[extra]
        if not rest:
            return chosen


def _some_noun_phrase(
    dice: Dice,
    noun: Noun,
    role: str = "",
    extras: Iterable[str] = (),
    plural: bool | None = None,
    mark: str = "",
) -> tuple[Phrase, bool]:
    plural = dice.random() < 0.3 if plural is None else plural
    article = dice.pick(("the", "the", "this") if plural else ("the", "the", "this", "a"))
    before = dice.pick(BEFORE_NOUN) if f"{role} before" in extras else ""
    after = dice.pick(AFTER_NOUN) if f"{role} after" in extras else ""
    return noun_phrase(noun, article, before, after, plural, mark), plural


def _place(dice: Dice, extras: set[str]) -> list[Phrase]:
    if "place" not in extras:
        return []
    preposition = dice.pick(PREPOSITIONS)
    where, _ = _some_noun_phrase(dice, dice.pick(PLACES), "place", extras)
    return [word(preposition, PREPOSITIONS[preposition], tags=["preposition"]), where]


def _relative(dice: Dice, extras: set[str], intransitive: Sequence, plural: bool) -> list[Phrase]:
    """*that sleeps*, *that sees the dog* (qui) or *that the dog sees* (que)."""
    tags = ["relative clause", "several meanings"]
    if "short relative" in extras:
        return [word("that", "qui", tags=tags), verb_phrase(dice.pick(intransitive), plural)]
    if "long relative" not in extras:
        return []
    other, others = _some_noun_phrase(dice, dice.pick(ANIMALS))
    verb = dice.pick(TRANSITIVE)
    if dice.random() < 0.5:
        return [word("that", "qui", tags=tags), verb_phrase(verb, plural), other]
    return [word("that", "que", tags=tags), other, verb_phrase(verb, others)]


def _fragment(dice: Dice, length: int) -> Phrase:
    """A noun phrase alone, *the black cat*: 2 words and its additions."""
    extras = _extras(dice, length - 2, never=["negation", "object", "short relative", "long relative"])
    noun, _ = _some_noun_phrase(dice, dice.pick(ANIMALS), "subject", extras)
    return join(noun, *_place(dice, extras))


def _clause(dice: Dice, length: int) -> Phrase:
    """Subject and verb (3 words) and additions."""
    extras = _extras(dice, length - 3)
    machine = not extras & {"object", "long relative"} and dice.random() < 0.2
    intransitive = [RUN_OF_MACHINES] if machine else INTRANSITIVE
    subject, plural = _some_noun_phrase(dice, dice.pick(MACHINES if machine else ANIMALS), "subject", extras)
    verb = dice.pick(TRANSITIVE if "object" in extras else intransitive)
    parts = [subject, *_relative(dice, extras, intransitive, plural)]
    parts.append(verb_phrase(verb, plural, "negation" in extras))
    if "object" in extras:
        parts.append(_some_noun_phrase(dice, dice.pick(ANIMALS + PLACES), "object", extras)[0])
    return join(*parts, *_place(dice, extras))


SHORTEST_PRONOUN_CLAUSE = 11


def _pronoun_clause(dice: Dice, length: int) -> Phrase:
    """*the chicken did not cross the road because it was tired* (11 words) and additions."""
    extras = _extras(dice, length - SHORTEST_PRONOUN_CLAUSE, given=["object"], never=["negation"])
    animal, place = dice.pick(ANIMALS), dice.pick(PLACES)
    while animal.feminine == place.feminine:
        place = dice.pick(PLACES)
    antecedent = dice.pick((animal, place))
    marks = ("antecedent", "distractor") if antecedent is animal else ("distractor", "antecedent")
    subject, _ = _some_noun_phrase(dice, animal, "subject", extras, plural=False, mark=marks[0])
    crossed, _ = _some_noun_phrase(dice, place, "object", extras, plural=False, mark=marks[1])
    return join(
        subject,
        *_relative(dice, extras, INTRANSITIVE, plural=False),
        *_place(dice, extras),
        DID_NOT_CROSS,
        crossed,
        pronoun_clause(antecedent, dice.pick(STATES[antecedent.kind])),
    )


def _conjunction(dice: Dice) -> Phrase:
    english = dice.pick(CONJUNCTIONS)
    return word(english, *CONJUNCTIONS[english], tags=["conjunction"])


def _clauses(dice: Dice, length: int) -> Phrase:
    if length < 7 or (length <= 10 and dice.random() < 0.5):
        return _clause(dice, length)
    first = dice.pick(range(3, min(10, length - 4) + 1))
    return join(_clause(dice, first), _conjunction(dice), _clauses(dice, length - first - 1))


def sentence(dice: Dice, length: int) -> SentencePair:
    """A random sentence pair of exactly `length` English words (3 or more)."""
    if length < TRAINED_LENGTHS[0]:
        raise ValueError(f"a sentence of {length} words was asked for; the grammar's shortest has 3")
    if length <= 6 and dice.random() < 0.2:
        return finish(_fragment(dice, length))
    if length < SHORTEST_PRONOUN_CLAUSE or dice.random() > 0.25:
        return finish(_clauses(dice, length))
    # What the pronoun clause leaves is nothing, or a conjunction and a clause of 3 or more.
    inner = dice.pick(n for n in range(11, min(length, 20) + 1) if length - n == 0 or length - n >= 4)
    clause = _pronoun_clause(dice, inner)
    if inner == length:
        return finish(clause)
    other = _clauses(dice, length - inner - 1)
    first, second = dice.pick(((clause, other), (other, clause)))
    return finish(join(first, _conjunction(dice), second))


def growing_sentence(seed: int, longest: int) -> list[SentencePair]:
    """A sentence that gets longer: *the dog runs*, *the dog runs and a bee sings* …, up to `longest` words."""
    dice = Dice(seed)
    phrase, grown = _clause(dice, 3), []
    while len(phrase.english) <= longest:
        grown.append(finish(phrase))
        phrase = join(phrase, _conjunction(dice), _clause(dice, dice.pick((3, 4))))
    return grown


def _recurring() -> list[SentencePair]:
    cat, dog, chicken, road = ANIMALS[0], ANIMALS[1], ANIMALS[3], PLACES[0]
    crossing = [
        join(
            noun_phrase(chicken, mark="antecedent" if noun is chicken else "distractor"),
            DID_NOT_CROSS,
            noun_phrase(road, mark="antecedent" if noun is road else "distractor"),
            pronoun_clause(noun, state),
        )
        for noun, state in ((chicken, "tired"), (road, "wide"))
    ]
    return [
        finish(noun_phrase(cat, after="black")),
        finish(noun_phrase(cat, before="small", after="black")),
        finish(join(noun_phrase(dog), verb_phrase(RUN, plural=False))),
        *map(finish, crossing),
    ]


RECURRING = {" ".join(pair.source): pair for pair in _recurring()}


# --- corpus ----------------------------------------------------------------------------------------------


class Vocabulary:
    """Words and their numbers; 0 to 3 are `<pad>`, `<bos>`, `<eos>`, `<unk>`.

    A closed vocabulary refuses a word it does not have; an open one, for texts from outside, gives `<unk>`.

    >>> Vocabulary(["cat", "dog"]).encode(["dog"])
    [5]
    """

    def __init__(self, words: Iterable[str], *, open: bool = False):
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


DIFFICULTIES = ("lengths differ", "order changes", "morphology", "several meanings")


def difficulties(pair: SentencePair) -> list[list[str]]:
    """For each target word of a pair of toy French, which of the four `DIFFICULTIES` of translation it meets.

    Lengths differ: no source word is its own alone. Order changes: its link crosses another. Morphology: its form
    depends on a noun. Several meanings: its source word has more than one translation.

    >>> difficulties(RECURRING["the black cat"])
    [['morphology'], ['order changes'], ['order changes', 'morphology']]
    """
    source = dict(pair.sure)  # of each target place
    agreeing = {*ARTICLES, "these", "an", *BEFORE_NOUN, *AFTER_NOUN}.union(*STATES.values())
    met = []
    for t in range(len(pair.target)):
        i = source.get(t)
        word = None if i is None else pair.source[i]
        meets = (
            i is None or list(source.values()).count(i) > 1,
            i is not None and any((u - t) * (j - i) < 0 for u, j in source.items()),
            word in agreeing,
            word in ("it", "that", "run", "runs"),
        )
        met.append([name for name, yes in zip(DIFFICULTIES, meets, strict=True) if yes])
    return met


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


def tokenize(text: str) -> tuple[str, ...]:
    """Words and punctuation in lower case; an apostrophe stays with the word before it, as in *l'*, *oiseau*.

    >>> tokenize("L'oiseau chante.")
    ("l'", 'oiseau', 'chante', '.')
    """
    return tuple(re.findall(r"\w+'(?=\w)|\w+|[^\w\s]", text.lower().replace("’", "'")))


def from_tsv(path: str | Path) -> Corpus:
    """Your own sentence pairs, one a line as `source<TAB>target` in UTF-8, as a corpus like toy French.

    A fifth of them is for testing and a tenth for validation, as their words decide. Lines that cannot be used
    are left out and listed in `bad_lines` with number and reason. There are no gold links. Words that occur only
    in the held-out part are `<unk>`. Raises ValueError if no pair is left for training or for validation.
    """
    pairs, bad = [], []
    for number, raw in enumerate(Path(path).read_bytes().removesuffix(b"\n").split(b"\n"), start=1):
        try:
            columns = raw.removesuffix(b"\r").decode("utf-8-sig").split("\t")
        except UnicodeDecodeError as error:
            bad.append(BadLine(number, f"byte {error.start + 1} is not UTF-8; save the file as UTF-8"))
            continue
        sides = [tokenize(column) for column in columns]
        if len(columns) != 2:
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
