"""Toy French is a grammar that writes English-French sentence pairs with exact word alignments.

The grammar knows which English word each French word comes from, so we know in advance where a translator
should look. A link is *sure* if one word translates the other; it is *possible* for function words without a
counterpart of their own (Och & Ney 2003). Every sure link is also possible.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import torch

from course_lib.files import data_draw

Links = frozenset[tuple[int, int]]


@dataclass(frozen=True)
class Pronoun:
    """Positions of *it* in both sentences, of the noun it refers to, and of the other noun, of the other gender."""

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
STATES = {  # the adjective decides which of two nouns *it* refers to
    "animal": {"tired": ("fatigué", "fatiguée"), "hungry": ("affamé", "affamée")},
    "place": {"wide": ("large", "large"), "long": ("long", "longue"), "narrow": ("étroit", "étroite")},
}
# the forms of he runs, they run, il court, ils courent
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
    """Makes random choices with one `torch.Generator`; it draws numbers in blocks, since single draws are slow."""

    def __init__(self, seed: int):
        self.generator = torch.Generator().manual_seed(seed + 10**6 * data_draw())
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
    """Makes a phrase of one English word and the French word or words that translate it together."""
    return Phrase((english,), french, tuple((f, 0) for f in range(len(french))), tags=frozenset(tags))


def noun_phrase(
    noun: Noun, article: str = "the", before: str = "", after: str = "", plural: bool = False, mark: str = ""
) -> Phrase:
    """Makes a noun phrase with agreeing article and adjectives: *the small black cat*, *le petit chat noir*."""
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
    """Makes *because it was tired*; *il* or *elle* and the adjective have the gender of the antecedent."""
    adjective = STATES[antecedent.kind][state][antecedent.feminine]
    it = word("it", "elle" if antecedent.feminine else "il", tags=["pronoun", "several meanings"])
    return join(word("because", "parce", "que"), it, word("was", "était"), word(state, adjective))


def _before_vowel(words: Sequence[str], forms: dict[str, str], vowels: tuple[str, ...]) -> tuple[str, ...]:
    following = (*words[1:], "")
    return tuple(forms.get(w, w) if n.startswith(vowels) else w for w, n in zip(words, following, strict=True))


def finish(phrase: Phrase) -> SentencePair:
    """Turns a phrase into a sentence pair; before vowels, *a* becomes *an*, *le* becomes *l'*, and so on."""
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


# What can be added to a clause, how many English words it costs, and what it needs or excludes.
COST = {"negation": 2, "object": 2, "place": 3, "short relative": 2, "long relative": 4}
COST |= {f"{noun} {side}": 1 for noun in ("subject", "object", "place") for side in ("before", "after")}
NEEDS = {f"{noun} {side}": noun for noun in ("object", "place") for side in ("before", "after")}
EXCLUDES = {"short relative": "long relative", "long relative": "short relative"}


def _extras(dice: Dice, words: int, given: Sequence[str] = (), never: Sequence[str] = ()) -> set[str]:
    """Draws additions that together cost exactly that many words."""
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
    """Draws a relative clause such as *that sleeps*, *that sees the dog* (qui) or *that the dog sees* (que)."""
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
    """Draws a noun phrase alone, such as *the black cat*: 2 words and its additions."""
    extras = _extras(dice, length - 2, never=["negation", "object", "short relative", "long relative"])
    noun, _ = _some_noun_phrase(dice, dice.pick(ANIMALS), "subject", extras)
    return join(noun, *_place(dice, extras))


SHORTEST = 3


def _clause(dice: Dice, length: int) -> Phrase:
    """Draws a clause: subject and verb (3 words) and additions."""
    extras = _extras(dice, length - SHORTEST)
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
    """Draws a clause such as *the chicken did not cross the road because it was tired*: 11 words and additions."""
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
    """Draws a sentence pair with exactly `length` English words, 3 or more."""
    if length < SHORTEST:
        raise ValueError(f"length is {length}; it must be at least {SHORTEST} words, the grammar's shortest sentence")
    if length <= 6 and dice.random() < 0.2:
        return finish(_fragment(dice, length))
    if length < SHORTEST_PRONOUN_CLAUSE or dice.random() > 0.25:
        return finish(_clauses(dice, length))
    # The pronoun clause leaves 0 words, or at least 4: a conjunction and a clause of 3 or more.
    inner = dice.pick(n for n in range(11, min(length, 20) + 1) if length - n == 0 or length - n >= 4)
    clause = _pronoun_clause(dice, inner)
    if inner == length:
        return finish(clause)
    other = _clauses(dice, length - inner - 1)
    first, second = dice.pick(((clause, other), (other, clause)))
    return finish(join(first, _conjunction(dice), second))


def growing_sentence(seed: int, longest: int) -> list[SentencePair]:
    """Draws a growing sentence, *the dog runs*, *the dog runs and a bee sings*, …, with up to `longest` words."""
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


# --- what makes a word difficult ---------------------------------------------------------------------------

DIFFICULTIES = ("lengths differ", "order changes", "morphology", "several meanings")


def difficulties(pair: SentencePair) -> list[list[str]]:
    """Returns, for each target word of a toy-French pair, the translation `DIFFICULTIES` that it meets.

    Lengths differ if no source word belongs to this word alone, and order changes if its link crosses another. It
    meets morphology if its form depends on a noun, and several meanings if its source word has several translations.

    >>> difficulties(RECURRING["the black cat"])
    [['morphology'], ['order changes'], ['order changes', 'morphology']]
    """
    source = dict(pair.sure)  # target position: source position
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
