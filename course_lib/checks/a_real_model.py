"""Exercises of lesson 11: a real model."""

from functools import partial

import torch
from torch.nn import functional as F

from course_lib.checks.engine import Case, Exercise, Misconception, Question

PIECES = 'lesson 11, "Words in pieces"; glossary.show("WordPiece")'
VECTOR = 'lesson 11, "One vector for a sentence"; glossary.show("sentence vector")'
SEARCH = 'lesson 11, "Use and adjust it"; glossary.show("sentence vector")'
TENSORS = 'lesson 11, "Open the file"'
ADJUST = 'lesson 11, "Use and adjust it"; glossary.show("low-rank adaptation")'
PADDING = 'lesson 11, "One vector for a sentence"; glossary.show("padding mask")'


# ---- split_word(word, known) ----


def split_cases(generator: torch.Generator) -> list[Case]:
    def some(low: int, high: int) -> int:
        return int(torch.randint(low, high, (), generator=generator))

    def letters(count: int, of: str = "ab") -> str:
        return "".join(of[some(0, len(of))] for _ in range(count))

    def drawn(count: int, singles: bool) -> set[str]:
        """Pieces of up to three letters; with the single letters every word can be split."""
        pieces = {mark + letters(some(1, 4)) for _ in range(count) for mark in ("", "##")}
        return pieces | {"a", "b", "##a", "##b"} if singles else pieces

    some_word = letters(some(3, 6), "eit") + "n"
    cut = some(1, len(some_word) - 1)
    inputs = [
        ("a word of two pieces", "plays", {"play", "##s", "s"}),
        ("a word of three pieces", "unplayable", {"un", "##play", "##able", "play", "able"}),
        ("a word that is known as a whole", "play", {"play", "pl", "##ay"}),
        ("a longer and a shorter first piece", "unable", {"un", "una", "##able", "##ble"}),
        ("the longest piece leads into a dead end", "abc", {"ab", "a", "##bc"}),
        ("a known beginning with an unknown rest", "playx", {"play", "##s", "p", "##l"}),
        ("a rest that is known only as a beginning", "playing", {"play", "ing", "##s"}),
        ("a beginning that is known only as a rest", "sing", {"##sing", "##s", "##ing"}),
        ("an unknown letter in the middle", "playxing", {"play", "##ing"}),
        ("nothing known", "le", {"chat", "##at"}),
        ("a word of one letter", "a", {"a", "##a"}),
        ("a letter that comes again and again", "aaaaaa", {"a", "aa", "##a", "##aa", "##aaa", "##aaaaaa"}),
        ("a long piece at the end", "reset", {"r", "re", "##s", "##se", "##set"}),
        ("one piece twice", "tomtoms", {"tom", "##tom", "##s"}),
        ("a word with a capital and an accent", "Zürichs", {"zürich", "zurich", "Zürich", "##s"}),
        ("a word drawn from e, i, t and its two pieces", some_word, {some_word[:cut], f"##{some_word[cut:]}"}),
        *((f"{many} letters", letters(many), drawn(6, True)) for many in (7, 9, 12)),
        *((f"{many} letters, not all of which are known", letters(many, "abc"), drawn(6, False)) for many in (5, 6)),
        ("a long word", letters(40), drawn(5, True)),
    ]
    return [Case(about, {"word": word, "known": known}) for about, word, known in inputs]


def longest_first(length):
    return range(length, 0, -1)


def behind(found):
    """The mark of every piece but the first."""
    return "##" if found else ""


def unmarked(found):
    return ""


def marked(found):
    return "##"


def unknown(word, found, rest):
    return ["[UNK]"]


def splitting(
    ends=longest_first, looked=behind, shown=behind, lost=unknown, cut=lambda rest, end, mark: rest[end:], finish=list
):
    """`split_word` with one or more misconceptions."""

    def answer(word, known):
        found, rest = [], word
        while rest:
            mark = looked(found)
            end = next((end for end in ends(len(rest)) if mark + rest[:end] in known), 0)
            if not end:
                return finish(lost(word, found, rest))
            found.append(shown(found) + rest[:end])
            rest = cut(rest, end, mark)
        return finish(found)

    return answer


SPLIT_WORD = Exercise(
    "split_word", "a_real_model", split_cases, splitting(), PIECES, banned=("course_lib.word_pieces",)
)

SPLIT_WORD.misconception(
    "the shortest known piece is taken", "Which ends are tried first? The longest piece that is known comes first."
)(splitting(ends=lambda length: range(1, length + 1)))
MARKS = "A piece inside a word is another entry of `known` than one that begins a word: look for it with its ##."
SPLIT_WORD.misconception(
    "the ## is missing in the result", "The pieces are found. Hand them back as they stand in `known`."
)(splitting(shown=unmarked))
SPLIT_WORD.misconception("pieces are looked up without ##, and come out without it", MARKS)(
    splitting(looked=unmarked, shown=unmarked)
)
SPLIT_WORD.misconception("pieces are looked up without ##, which is put in front afterwards", MARKS)(
    splitting(looked=unmarked)
)
SPLIT_WORD.misconception("the first piece is marked, too", "The first piece begins the word, and has no ##.")(
    splitting(looked=marked, shown=marked)
)
SPLIT_WORD.misconception("the first piece comes out with ##", "The first piece begins the word, and has no ##.")(
    splitting(shown=marked)
)
SPLIT_WORD.misconception(
    "the ## stands behind the piece", "`##` says that something stands before: it is in front of the piece."
)(splitting(finish=lambda found: found[:1] + [f"{piece[2:]}##" for piece in found[1:]]))
SPLIT_WORD.misconception(
    "the ## stands behind every piece but the last",
    "`##` marks a piece that goes on with a word, and stands in front of it.",
)(splitting(shown=unmarked, finish=lambda found: [f"{piece}##" for piece in found[:-1]] + found[-1:]))


def either(keep):
    """A piece is taken in the form that is there, with or without ##."""

    def answer(word, known):
        found, rest = [], word
        while rest:
            forms = [
                (mark + rest[:end], end) for end in range(len(rest), 0, -1) for mark in (behind(found), marked(0), "")
            ]
            piece, end = next(((form, end) for form, end in forms if form in known), (None, 0))
            if piece is None:
                return ["[UNK]"]
            found.append(piece if keep else behind(found) + rest[:end])
            rest = rest[end:]
        return found

    return answer


ONE_FORM = "At the beginning of a word only pieces without ## may stand, and behind it only pieces with it."
for keep in (True, False):
    SPLIT_WORD.misconception("a piece is taken with or without ##, whichever is known", ONE_FORM)(either(keep))

WHOLE = "If a rest has no piece, the *whole word* is unknown: one [UNK], and nothing of its beginning."
SPLIT_WORD.misconception("[UNK] stands for the rest alone", WHOLE)(
    splitting(lost=lambda word, found, rest: [*found, "[UNK]"])
)
SPLIT_WORD.misconception("[UNK] stands for the rest alone, with a mark", WHOLE)(
    splitting(lost=lambda word, found, rest: [*found, f"{behind(found)}[UNK]"])
)
SPLIT_WORD.misconception("a rest without a piece is left out", WHOLE)(splitting(lost=lambda word, found, rest: found))
SPLIT_WORD.misconception("a rest without a piece comes out as it is", WHOLE)(
    splitting(lost=lambda word, found, rest: [*found, behind(found) + rest])
)
SPLIT_WORD.misconception("an unknown word gives no piece", "An unknown word is one piece: [UNK].")(
    splitting(lost=lambda word, found, rest: [])
)
SPLIT_WORD.misconception("an unknown word comes out as it is", "In place of a word that cannot be split stands [UNK].")(
    splitting(lost=lambda word, found, rest: [word])
)
SPLIT_WORD.misconception("[UNK] is not in a list", 'A list comes out always: ["[UNK]"], not "[UNK]".')(
    splitting(lost=lambda word, found, rest: "[UNK]", finish=lambda found: found)
)
SPLIT_WORD.misconception("[UNK] is taken apart into its letters", 'list("[UNK]") is a list of five letters.')(
    splitting(lost=lambda word, found, rest: "[UNK]")
)
SPLIT_WORD.misconception("there is an [UNK] for each piece and one for the rest", WHOLE)(
    splitting(lost=lambda word, found, rest: ["[UNK]"] * (len(found) + 1))
)
SPLIT_WORD.misconception("there is an [UNK] for each letter", WHOLE)(
    splitting(lost=lambda word, found, rest: ["[UNK]"] * len(word))
)
SPLIT_WORD.misconception("there is an [UNK] for each letter of the rest", WHOLE)(
    splitting(lost=lambda word, found, rest: found + ["[UNK]"] * len(rest))
)


def skipping(put):
    """What is not known is passed over letter by letter."""

    def answer(word, known):
        found, rest = [], word
        while rest:
            end = next((end for end in range(len(rest), 0, -1) if behind(found) + rest[:end] in known), 0)
            found += [behind(found) + rest[:end]] if end else put
            rest = rest[end or 1 :]
        return found

    return answer


SPLIT_WORD.misconception("a letter without a piece becomes [UNK], and the splitting goes on", WHOLE)(
    skipping(["[UNK]"])
)
SPLIT_WORD.misconception("a letter without a piece is passed over", WHOLE)(skipping([]))

SPLIT_WORD.misconception(
    "the whole rest is never tried",
    "The first try is the rest as it is. `range(len(rest) - 1, …)` begins one letter too short.",
)(splitting(ends=lambda length: range(length - 1, 0, -1)))
SPLIT_WORD.misconception(
    "the whole rest is never tried, unless it is one letter",
    "The first try is the rest as it is, with its last letter.",
)(splitting(ends=lambda length: range(max(length - 1, 1), 0, -1)))
SPLIT_WORD.misconception(
    "a single letter is never tried", "range(n, 1, -1) ends with 2. The last try is a piece of one letter."
)(splitting(ends=lambda length: range(length, 1, -1)))
SPLIT_WORD.misconception(
    "the ## is counted as letters of the word",
    "Two signs of the piece are no letters of the word. By how much does the rest get shorter?",
)(splitting(cut=lambda rest, end, mark: rest[end + len(mark) :]))


def in_the_rest(change):
    """What a piece does to the rest, other than being cut off in front."""
    return splitting(cut=lambda rest, end, mark: change(rest, rest[:end]))


ONCE = "Only the piece in front is cut off, once: rest[len(piece):]."
SPLIT_WORD.misconception("the piece is taken out everywhere", ONCE)(
    in_the_rest(lambda rest, piece: rest.replace(piece, ""))
)
SPLIT_WORD.misconception("all letters of the piece are stripped", f"lstrip takes away letters, not a text. {ONCE}")(
    in_the_rest(lambda rest, piece: rest.lstrip(piece))
)
SPLIT_WORD.misconception("all letters of the piece are stripped", f"strip takes away letters, not a text. {ONCE}")(
    in_the_rest(lambda rest, piece: rest.strip(piece))
)


GREEDY = "A piece once taken is never given back: if the longest leads into a dead end, the word is unknown."


@SPLIT_WORD.misconception("a shorter piece is tried where the longest leads nowhere", GREEDY)
def backtracking(word, known):
    fits = [[] for _ in range(len(word))] + [[[]]]  # ways from each place, the longest piece first; only the best kept
    for start in range(len(word) - 1, -1, -1):
        for end in range(len(word), start, -1):
            if fits[end] and ("##" if start else "") + word[start:end] in known:
                fits[start] = [[("##" if start else "") + word[start:end], *fits[end][0]]]
                break
    return fits[0][0] if fits[0] else ["[UNK]"]


@SPLIT_WORD.misconception(
    "the fewest pieces are taken", "Each piece in turn is the longest at its place; how many it will be, nobody counts."
)
def fewest(word, known):
    best = [None] * len(word) + [[]]
    for start in range(len(word) - 1, -1, -1):
        for end in range(len(word), start, -1):
            piece = ("##" if start else "") + word[start:end]
            if (
                piece in known
                and best[end] is not None
                and (best[start] is None or len(best[end]) < len(best[start]) - 1)
            ):
                best[start] = [piece, *best[end]]
    return ["[UNK]"] if best[0] is None else best[0]


@SPLIT_WORD.misconception(
    "the word is split from its end", "The longest piece in front is cut off first, then it goes on with the rest."
)
def from_the_end(word, known):
    found, rest = [], word
    while rest:
        starts = (start for start in range(len(rest)) if ("##" if start else "") + rest[start:] in known)
        start = next(starts, None)
        if start is None:
            return ["[UNK]"]
        found.insert(0, ("##" if start else "") + rest[start:])
        rest = rest[:start]
    return found


SPLIT_WORD.misconception(
    "the pieces stand in the opposite order", "The piece in front comes first: append, or insert at the end."
)(splitting(finish=lambda found: found[::-1]))
SPLIT_WORD.misconception("the pieces come out as one text", "A list of pieces is wanted.")(splitting(finish=" ".join))
SPLIT_WORD.misconception("the pieces come out as one text", "A list of pieces is wanted.")(splitting(finish="".join))
SPLIT_WORD.misconception(
    "only the first piece comes out", "Behind the first piece there is a rest, which is split, too."
)(lambda word, known: splitting()(word, known)[:1])
SPLIT_WORD.misconception("every letter is a piece", "Longer pieces come first, where they are known.")(
    splitting(ends=lambda length: range(1, 2))
)


def with_pieces(change):
    """What a function makes of the pieces of a word that is known; one that is unknown gives [UNK]."""

    def answer(word, known):
        found = splitting()(word, known)
        return found if found == ["[UNK]"] else change(found)

    return answer


SPLIT_WORD.misconception("there is a list within the list", "One plain list of texts is wanted.")(
    with_pieces(lambda found: [found])
)
SPLIT_WORD.misconception("there is a list within the list", "One plain list of texts is wanted.")(
    with_pieces(lambda found: [[piece] for piece in found])
)
SPLIT_WORD.misconception(
    "pieces are taken apart into their signs", "extend and += put in a text sign by sign; append puts it in whole."
)(with_pieces(lambda found: list("".join(found))))
SPLIT_WORD.misconception("the whole rest comes out, not the piece", "Handed back is what was found: rest[:end].")(
    with_pieces(lambda found: [behind(number) + letters_from(found, number) for number in range(len(found))])
)
SPLIT_WORD.misconception(
    "each piece lacks its last letter", "word[start:end] ends before `end`. Is one taken away once more?"
)(with_pieces(lambda found: [piece[:-1] for piece in found]))


def letters_from(found, number):
    """The rest of the word, from one of its pieces on."""
    return "".join(piece.removeprefix("##") for piece in found[number:])


@SPLIT_WORD.misconception(
    "the beginning of the word is looked up each time, not that of the rest",
    "What is looked up begins where the last piece ended.",
)
def always_from_the_beginning(word, known):
    found, start = [], 0
    while start < len(word):
        ends = (end for end in range(len(word), start, -1) if behind(found) + word[:end] in known)
        end = next(ends, None)
        if end is None:
            return ["[UNK]"]
        found.append(behind(found) + word[start:end])
        start = end
    return found


@SPLIT_WORD.misconception(
    "there are two pieces at most",
    "The rest may need more than one piece: a loop goes on until nothing is left, and no piece has more than one ##.",
)
def two_at_most(word, known):
    first = splitting()(word, known)[:1]
    rest = word[len(first[0]) :]
    return first if not rest or first == ["[UNK]"] else [*first, f"##{rest}"] if f"##{rest}" in known else ["[UNK]"]


SPLIT_WORD.misconception("[UNK] has lost its brackets", 'The unknown piece is "[UNK]", with its brackets.')(
    splitting(lost=lambda word, found, rest: ["UNK"])
)
SPLIT_WORD.misconception(
    "None comes out of an unknown word", "Where no piece fits, a list is wanted, too: the one with [UNK]."
)(splitting(lost=lambda word, found, rest: None, finish=lambda found: found))
SPLIT_WORD.misconception(
    "the first end that is not known gives up",
    "`else` belongs to the `for`, not to the `if`: only when no end was left is the word unknown.",
)(lambda word, known: [word] if word in known else ["[UNK]"])
SPLIT_WORD.misconception("pieces and the rest come out", "One list is wanted: the pieces.")(
    lambda word, known: (splitting()(word, known), "")
)


@SPLIT_WORD.misconception(
    "after the longest first piece the shortest ones follow",
    "Every piece is the longest that is known, not the first alone.",
)
def shortest_behind(word, known):
    found, rest = [], word
    while rest:
        ends = range(1, len(rest) + 1) if found else longest_first(len(rest))
        end = next((end for end in ends if behind(found) + rest[:end] in known), 0)
        if not end:
            return ["[UNK]"]
        found.append(behind(found) + rest[:end])
        rest = rest[end:]
    return found


# ---- sentence_vector(states, mask) ----


def vector_cases(generator: torch.Generator) -> list[Case]:
    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator)

    def some(low: int, high: int) -> int:
        return int(torch.randint(low, high, (), generator=generator))

    def up_to(*lengths: int) -> torch.Tensor:
        return torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]

    def given(lengths: tuple[int, ...], d: int) -> tuple[torch.Tensor, torch.Tensor]:
        return draw(len(lengths), max(lengths), d), up_to(*lengths)

    by_hand = torch.tensor(
        [[[1.0, 6.0, 2.0], [3.0, 0.0, 4.0], [80.0, 90.0, 70.0]], [[2.0, 1.0, 0.0], [3.0, 5.0, 1.0], [1.0, 3.0, 5.0]]]
    )
    loud, loud_mask = given((2, 5, 3), 4)
    double, double_mask = given((3, 1, 2), 4)
    crossed, crossed_mask = given((4, 2), 3)
    silent, silent_mask = given((3, 4), 2)
    silent[:, 1] = 0
    inputs = [
        ("two sentences, of two tokens and of three", by_hand, up_to(2, 3)),
        ("one sentence without padding", *given((3,), 2)),
        ("a sentence of one token", *given((1, 4), 3)),
        ("no padding at all", *given((3, 3), 2)),
        ("as many sentences as tokens and as numbers", *given((1, 3, 2), 3)),
        ("as many tokens as numbers in a vector", *given((2, 4), 4)),
        ("as many sentences as tokens", *given((2, 4, 1, 3), 5)),
        ("padding in front", draw(3, 4, 3), up_to(2, 4, 1).flip(1)),
        ("large numbers under the padding", torch.where(loud_mask[:, :, None], loud, 300.0), loud_mask),
        ("more sentences", *given((some(1, 7), 7, some(1, 7), some(1, 7), some(1, 7)), 6)),
        ("tokens whose state is 0", silent, silent_mask),
        ("float64", double.double(), double_mask),
        ("states that do not lie in order in memory", crossed.mT.contiguous().mT, crossed_mask),
    ]
    return [Case(about, {"states": states, "mask": mask}) for about, states, mask in inputs]


def pooled(
    add=lambda states, own: (states * own).sum(1), divide=lambda own: own.sum(1), finish=lambda vectors: vectors
):
    """`sentence_vector` with one or more misconceptions; `own` is the mask with a third axis."""

    def answer(states, mask):
        own = mask[:, :, None].to(states)
        return finish(add(states, own) / divide(own))

    return answer


def one(own):
    return torch.ones_like(own[:, 0])


SENTENCE_VECTOR = Exercise(
    "sentence_vector", "a_real_model", vector_cases, pooled(), VECTOR, banned=("course_lib.pretrained",)
)

SENTENCE_VECTOR.misconception(
    "the padding counts in the mean",
    "What stands where the mask is False must not matter. Change a number there by hand: does the result change?",
)(pooled(lambda states, own: states.sum(1), lambda own: torch.ones_like(own).sum(1)))
SENTENCE_VECTOR.misconception(
    "the sum of the own tokens is divided by all places",
    "Sum and count must be of the same tokens: how many True has the row of each sentence?",
)(pooled(divide=lambda own: torch.ones_like(own).sum(1)))
SENTENCE_VECTOR.misconception(
    "the sum of all places is divided by the own tokens", "The count is right. What of the states under the padding?"
)(pooled(lambda states, own: states.sum(1)))
SENTENCE_VECTOR.misconception("it is a sum, not a mean", "By how many tokens is the sum to be divided?")(
    pooled(divide=one)
)
SENTENCE_VECTOR.misconception(
    "True and False have changed places", "True marks the sentence's own tokens, those that count."
)(lambda states, mask: pooled()(states, ~mask))
OWN_COUNT = "Each sentence is divided by the number of *its* tokens: one count for each row of the mask."
SENTENCE_VECTOR.misconception(
    "each sentence's count divides a column, not its row",
    "A count of shape (batch,) beside (batch, d) is laid along d. With keepdim=True it is (batch, 1).",
)(lambda states, mask: (states * mask[:, :, None]).sum(1) / mask.sum(1))
SENTENCE_VECTOR.misconception("all sentences are divided by the same count, that of all tokens", OWN_COUNT)(
    pooled(divide=lambda own: own.sum())
)
SENTENCE_VECTOR.misconception("all sentences are divided by the mean number of tokens", OWN_COUNT)(
    pooled(divide=lambda own: own.sum(1).mean())
)
SENTENCE_VECTOR.misconception("all sentences share the count of the first", OWN_COUNT)(
    pooled(divide=lambda own: own[0].sum())
)
SENTENCE_VECTOR.misconception("it is divided by the number of sentences", OWN_COUNT)(pooled(divide=len))
SENTENCE_VECTOR.misconception(
    "all sentences are thrown together", "states[mask] forgets where one sentence ends: one mean for each is wanted."
)(lambda states, mask: states[mask].mean(0))
SENTENCE_VECTOR.misconception(
    "all sentences are thrown together", "One mean for each sentence is wanted, over its own tokens."
)(lambda states, mask: states[mask].mean(0).expand(len(states), -1))
SENTENCE_VECTOR.misconception(
    "the first token stands for the sentence", "[CLS] is one of the tokens; the mean takes all."
)(lambda states, mask: states[:, 0])
SENTENCE_VECTOR.misconception("the last place stands for the sentence", "The mean takes all tokens of the sentence.")(
    lambda states, mask: states[:, -1]
)


@SENTENCE_VECTOR.misconception(
    "the last own token stands for the sentence", "The mean takes all tokens of the sentence."
)
def last_own(states, mask):
    last = (torch.arange(mask.shape[1]) * mask).argmax(1)
    return states[torch.arange(len(states)), last]


SENTENCE_VECTOR.misconception(
    "the largest numbers are taken, not the mean", "That is max pooling. Here every token counts alike."
)(lambda states, mask: states.masked_fill(~mask[:, :, None], -torch.inf).amax(1))
SENTENCE_VECTOR.misconception(
    "the largest numbers are taken, not the mean", "That is max pooling. Here every token counts alike."
)(lambda states, mask: states.masked_fill(~mask[:, :, None], 0).amax(1))
SENTENCE_VECTOR.misconception(
    "tokens whose state is 0 are not counted", "The mask alone says which tokens are there. A state may be 0, too."
)(lambda states, mask: (states * mask[:, :, None]).sum(1) / (mask[:, :, None] & states.any(-1, True)).sum(1))
SENTENCE_VECTOR.misconception(
    "the vectors are brought to length 1", "The mean as it is is wanted; a cosine comes later."
)(pooled(finish=partial(F.normalize, dim=-1)))
SENTENCE_VECTOR.misconception("it is divided by the root of the count", "A mean is a sum divided by the count itself.")(
    pooled(divide=lambda own: own.sum(1).sqrt())
)
SENTENCE_VECTOR.misconception("it is divided by the square of the count", "Is a mean divided by the count once more?")(
    pooled(divide=lambda own: own.sum(1) ** 2)
)
SENTENCE_VECTOR.misconception(
    "one is added to the count", "Count the True of a row: by this number the sum is divided."
)(pooled(divide=lambda own: own.sum(1) + 1))
SENTENCE_VECTOR.misconception(
    "the last own token is left out", "All tokens whose mask is True count, [SEP] among them. Where does a slice end?"
)(lambda states, mask: pooled()(states, mask & F.pad(mask[:, 1:], (0, 1))))
SENTENCE_VECTOR.misconception(
    "the first own token is left out", "All tokens whose mask is True count, [CLS] among them."
)(lambda states, mask: pooled()(states, mask & F.pad(mask[:, :-1], (1, 0))))
SENTENCE_VECTOR.misconception(
    "[CLS] and [SEP] are left out", "All tokens whose mask is True count, these two among them."
)(lambda states, mask: pooled()(states, mask & F.pad(mask[:, 1:], (0, 1)) & F.pad(mask[:, :-1], (1, 0))))
SENTENCE_VECTOR.misconception(
    "the first places are taken, as many as the mask counts",
    "With padding in front, the own tokens are the last ones. The mask says which, not only how many.",
)(lambda states, mask: pooled()(states, torch.arange(mask.shape[1]) < mask.sum(1, keepdim=True)))
SENTENCE_VECTOR.misconception(
    "it is cut off at the shortest sentence", "A longer sentence has more tokens, and all of them count."
)(lambda states, mask: states[:, : int(mask.sum(1).min())].mean(1))
SENTENCE_VECTOR.misconception("the axis of the tokens is kept", "It is (batch, 1, d): which axis is to go?")(
    pooled(finish=lambda vectors: vectors[:, None])
)
SENTENCE_VECTOR.misconception(
    "the mean runs along the numbers of a vector", "The axes are (batch, n, d): over which is the mean?"
)(lambda states, mask: states.mean(-1))
SENTENCE_VECTOR.misconception(
    "the mean runs along the numbers of a vector", "The axes are (batch, n, d): over which is the mean?"
)(lambda states, mask: (states * mask[:, :, None]).mean(-1))
SENTENCE_VECTOR.misconception(
    "there is one number for each sentence", "A vector is wanted: the mean is over the tokens alone."
)(pooled(finish=lambda vectors: vectors.mean(-1)))
SENTENCE_VECTOR.misconception("the mean runs along the batch", "The axes are (batch, n, d): over which is the mean?")(
    lambda states, mask: (states * mask[:, :, None]).sum(0) / mask.sum(0)[:, None]
)
SENTENCE_VECTOR.misconception("the mean runs along the batch", "The axes are (batch, n, d): over which is the mean?")(
    lambda states, mask: states.mean(0)
)
SENTENCE_VECTOR.misconception(
    "the states are masked, and nothing is averaged", "What comes out has still an axis of tokens: sum along it."
)(lambda states, mask: states * mask[:, :, None])


# ---- nearest(query, vectors, k) ----


def nearest_cases(generator: torch.Generator) -> list[Case]:
    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator)

    def some(low: int, high: int) -> int:
        return int(torch.randint(low, high, (), generator=generator))

    def stretched(n: int, d: int) -> torch.Tensor:
        """Vectors of very different lengths, shifted so that not all directions are alike."""
        return draw(n, d) * (0.2 + 5 * torch.rand(n, 1, generator=generator))

    by_hand = torch.tensor([[9.0, 12.0, 0.0], [2.0, 1.0, 2.0], [-2.0, -1.0, 2.0], [0.0, -6.0, 0.0]])
    hardly = torch.tensor([[1.0, 0.11], [1.0, 0.14], [2.0, 0.25], [0.0, 1.0]])  # 0.994, 0.990, 0.992
    near = torch.tensor([1.0, 2.0, 4.0, 3.0])
    inputs = [
        ("four vectors, of which the longest is not the nearest", torch.tensor([1.0, 2.0, 2.0]), by_hand, 2),
        ("all are asked for", draw(3), stretched(4, 3), 4),
        ("one is asked for", draw(3), stretched(5, 3), 1),
        ("six vectors, three asked for", 4 * draw(4), stretched(6, 4), 3),
        ("as many vectors as numbers in each", draw(5), stretched(5, 5), 3),
        ("a short query", 0.01 * draw(4), stretched(6, 4), 4),
        ("all point away from the query", torch.tensor([1.0, 2.0, 3.0]), -stretched(6, 3).abs(), 3),
        ("all are nearly of the query's direction", near, near + stretched(6, 4) / 5, 3),
        ("a single vector", draw(3), stretched(1, 3), 1),
        ("cosines that differ in the third digit", torch.tensor([3.0, 0.0]), hardly[[2, 0, 1, 3]], 3),
        ("a short vector among the nearest", near, torch.stack([0.01 * near, -near, near.flip(0), draw(4)]), 2),
        ("one that points straight the other way", near, torch.stack([-near, near.flip(0), near, 2 * near - 1]), 4),
        ("many vectors", draw(8), stretched(some(18, 24), 8), some(5, 9)),
        ("float64", draw(4).double(), stretched(6, 4).double(), 3),
        ("vectors that do not lie in order in memory", draw(4), stretched(6, 4).T.contiguous().T, 3),
    ]
    return [Case(about, {"query": query, "vectors": vectors, "k": k}) for about, query, vectors, k in inputs]


def cosines(query, vectors):
    return vectors @ query / (vectors.norm(dim=1) * query.norm())


def ranked(score=cosines, greatest=True, take=lambda order, k: order[:k]):
    """`nearest` with one or more misconceptions."""

    def answer(query, vectors, k):
        return take(score(query, vectors).argsort(descending=greatest), k).tolist()

    return answer


NEAREST = Exercise("nearest", "a_real_model", nearest_cases, ranked(), SEARCH)

LENGTHS = "A long vector has large dot products with everything. By what is the dot product divided?"
NEAREST.misconception("the dot product is taken, not the cosine", LENGTHS)(
    ranked(lambda query, vectors: vectors @ query)
)
NEAREST.misconception(
    "it is multiplied by the lengths, not divided", "cos = q · v / (|q| |v|). What do your parentheses hold together?"
)(ranked(lambda query, vectors: vectors @ query * vectors.norm(dim=1)))
NEAREST.misconception("it is divided by the square of the length", "A length has a square root: v · v is its square.")(
    ranked(lambda query, vectors: vectors @ query / (vectors**2).sum(1))
)
NEAREST.misconception(
    "the vectors are normed along the wrong axis",
    "Each vector is a row of (n, d). Along which axis do its numbers lie?",
)(ranked(lambda query, vectors: F.normalize(vectors, dim=0) @ query))
NEAREST.misconception(
    "each vector's length divides a column, not its row",
    "Lengths of shape (n,) beside (n, d) are laid along d. With keepdim=True they are (n, 1).",
)(lambda query, vectors, k: ((vectors / vectors.norm(dim=1)) @ query).topk(k).indices.tolist())
NEAREST.misconception("a length is taken for the sum of the numbers", "A length is √(v · v).")(
    ranked(lambda query, vectors: vectors @ query / vectors.sum(1))
)
NEAREST.misconception(
    "a length is taken for the sum of absolute numbers", "A length is √(v · v): norm takes it, with p = 2."
)(ranked(lambda query, vectors: vectors @ query / vectors.abs().sum(1)))
NEAREST.misconception(
    "the distance is taken, not the cosine", "A vector twice as long has the same cosine, and another distance."
)(ranked(lambda query, vectors: -(vectors - query).norm(dim=1)))
NEAREST.misconception(
    "the distance is taken, and the greatest comes first", "Wanted is the greatest cosine, which asks for no distance."
)(ranked(lambda query, vectors: (vectors - query).norm(dim=1)))
NEAREST.misconception("the distances are city blocks", "Wanted is the greatest cosine, which asks for no distance.")(
    ranked(lambda query, vectors: -(vectors - query).abs().sum(1))
)
NEAREST.misconception(
    "a cosine is taken without its sign", "A vector that points away is the furthest, not the nearest: cos = −1."
)(ranked(lambda query, vectors: cosines(query, vectors).abs()))
NEAREST.misconception(
    "the means are taken away first", "That is a correlation. A cosine takes the numbers as they are."
)(ranked(lambda query, vectors: cosines(query - query.mean(), vectors - vectors.mean(1, keepdim=True))))
NEAREST.misconception(
    "the longest vectors are taken", "The length says nothing about the direction. Where does the query go?"
)(ranked(lambda query, vectors: vectors.norm(dim=1)))
NEAREST.misconception(
    "the smallest cosine comes first", "argsort goes upwards, unless `descending=True`. Which end is wanted?"
)(ranked(greatest=False))
NEAREST.misconception("the greatest are found, and stand last", "The right ones, but the greatest comes first.")(
    ranked(greatest=False, take=lambda order, k: order[-k:])
)
NEAREST.misconception(
    "the numbers stand in the order of the vectors", "They are to stand by their cosine, the greatest first."
)(ranked(take=lambda order, k: order[:k].sort().values))
NEAREST.misconception("vectors are counted from 1", "The first vector has the number 0, as everywhere in Python.")(
    ranked(take=lambda order, k: order[:k] + 1)
)
NEAREST.misconception(
    "the nearest is left out", "The query need not be among the vectors: the first in the order counts, too."
)(ranked(take=lambda order, k: order[1 : k + 1]))
NEAREST.misconception("there is one too few", "order[:k] has k entries already.")(
    ranked(take=lambda order, k: order[: k - 1])
)
NEAREST.misconception("there is one too many", "order[:k] has k entries already.")(
    ranked(take=lambda order, k: order[: k + 1])
)
NEAREST.misconception("all come out, not k", "Only the first k are wanted.")(ranked(take=lambda order, k: order))
NEAREST.misconception("only the k-th comes out", "order[:k] takes the first k, order[k - 1] one of them.")(
    ranked(take=lambda order, k: order[k - 1 : k])
)
NEAREST.misconception("the last k of the order are taken", "With the greatest first, the wanted ones stand in front.")(
    ranked(take=lambda order, k: order[-k:])
)
NEAREST.misconception(
    "ranks come out, not numbers of vectors", "argsort says which vector stands where; of its own argsort come ranks."
)(ranked(take=lambda order, k: order.argsort()[:k]))
NUMBERS = "Wanted are the numbers of the vectors: `argsort`, or `indices` of topk."
NEAREST.misconception("the cosines come out, not the numbers", NUMBERS)(
    lambda query, vectors, k: cosines(query, vectors).topk(k).values
)
NEAREST.misconception("the vectors come out, not their numbers", NUMBERS)(
    lambda query, vectors, k: vectors[cosines(query, vectors).topk(k).indices]
)
NEAREST.misconception("cosines and numbers come out", NUMBERS)(
    lambda query, vectors, k: tuple(cosines(query, vectors).topk(k))
)
NEAREST.misconception("the numbers stand in a row of their own", "One list of k numbers is wanted: (k,), not (1, k).")(
    ranked(take=lambda order, k: order[None, :k])
)
NEAREST.misconception("True and False come out", NUMBERS)(
    lambda query, vectors, k: cosines(query, vectors) >= cosines(query, vectors).topk(k).values[-1]
)


# ---- unpacked(weight, bias) ----


def unpacked_cases(generator: torch.Generator) -> list[Case]:
    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator)

    def some(low: int, high: int) -> int:
        return int(torch.randint(low, high, (), generator=generator))

    by_hand = torch.tensor([[1.0, 2, 3, 4, 5, 6], [7, 8, 9, 10, 11, 12]]), torch.tensor([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    large = some(7, 14)
    inputs = [
        ("d = 2, numbered", *by_hand),
        ("d = 3, which divides by 3 in both directions", draw(3, 9), draw(9)),
        ("d = 1", draw(1, 3), draw(3)),
        ("d = 4", draw(4, 12), draw(12)),
        ("d = 6", draw(6, 18), draw(18)),
        ("d = 5", draw(5, 15), draw(15)),
        ("a larger d", draw(large, 3 * large), draw(3 * large)),
        ("float64", draw(4, 12).double(), draw(12).double()),
        ("a matrix that does not lie in order in memory", draw(12, 4).T, draw(12, 2)[:, 0]),
    ]
    return [Case(about, {"weight": weight, "bias": bias}) for about, weight, bias in inputs]


def rows_of(weight):
    """Three blocks of (out, in)."""
    return weight.T.chunk(3)


def thirds(bias):
    return bias.chunk(3)


def unpacking(weights=rows_of, biases=thirds, order=(0, 1, 2), finish=list):
    """`unpacked` with one or more misconceptions."""

    def answer(weight, bias):
        pairs = list(zip(weights(weight), biases(bias), strict=False))
        return finish([tuple(pairs[place]) for place in order if place < len(pairs)])  # chunk may give fewer

    return answer


UNPACKED = Exercise("unpacked", "a_real_model", unpacked_cases, unpacking(), TENSORS)

TURN = "GPT-2 computes x @ W, so W is (in, out). nn.Linear computes x @ W.T: which of its axes is out?"
UNPACKED.misconception("nothing is transposed", TURN)(unpacking(lambda weight: weight.chunk(3, 1)))
CUT = "Queries, keys and values are three parts of what comes *out*. Which axis of the file's matrix has 3d numbers?"
UNPACKED.misconception("it is cut along the axis of what goes in, and not transposed", CUT)(
    unpacking(lambda weight: weight.tensor_split(3, 0))
)
UNPACKED.misconception("it is cut along the axis of what goes in, and not transposed", CUT)(
    unpacking(lambda weight: weight.chunk(3, 0))
)
UNPACKED.misconception("it is cut along the axis of what goes in", CUT)(
    unpacking(lambda weight: weight.T.tensor_split(3, 1))
)
UNPACKED.misconception("it is cut along the axis of what goes in", CUT)(unpacking(lambda weight: weight.T.chunk(3, 1)))
UNPACKED.misconception("it is cut along the axis of what goes in", CUT)(
    unpacking(lambda weight: [piece.T for piece in weight.chunk(3, 0)])
)
NOT_TURNED = "reshape and view keep the numbers in their order, row by row; they turn nothing round. .T does."
UNPACKED.misconception("it is reshaped, not transposed", NOT_TURNED)(
    unpacking(lambda weight: weight.reshape(-1, len(weight)).chunk(3))
)
UNPACKED.misconception("it is reshaped, not transposed", NOT_TURNED)(
    unpacking(lambda weight: [piece.T for piece in weight.reshape(-1, len(weight)).chunk(3)])
)
EVERY_THIRD = (
    "The first d columns are those of the queries, the next d those of the keys: three blocks, one behind the other."
)
UNPACKED.misconception("every third column is taken", EVERY_THIRD)(
    unpacking(
        lambda weight: [weight.T[part::3] for part in range(3)], lambda bias: [bias[part::3] for part in range(3)]
    )
)
UNPACKED.misconception("every third column is taken", EVERY_THIRD)(
    unpacking(lambda weight: [weight.T[part::3] for part in range(3)])
)
UNPACKED.misconception("every third column is taken, and not transposed", EVERY_THIRD)(
    unpacking(
        lambda weight: [weight[:, part::3] for part in range(3)], lambda bias: [bias[part::3] for part in range(3)]
    )
)
UNPACKED.misconception("every third column is taken, and not transposed", EVERY_THIRD)(
    unpacking(lambda weight: [weight[:, part::3] for part in range(3)])
)
UNPACKED.misconception("the matrices are right, and every third number of the bias is taken", EVERY_THIRD)(
    unpacking(biases=lambda bias: [bias[part::3] for part in range(3)])
)
FIRST_QUERY = "In the file the columns of the queries come first, then those of the keys, then those of the values."
for order in ((1, 0, 2), (0, 2, 1), (2, 1, 0), (1, 2, 0), (2, 0, 1)):
    UNPACKED.misconception("the three stand in another order", FIRST_QUERY)(unpacking(order=order))
UNPACKED.misconception("the three stand in another order, and nothing is transposed", f"{FIRST_QUERY} {TURN}")(
    unpacking(lambda weight: weight.chunk(3, 1), order=(2, 1, 0))
)
OWN_BIAS = "Each of the three has its own third of the bias, cut as the columns are: d numbers."
UNPACKED.misconception("each gets the whole bias", OWN_BIAS)(unpacking(biases=lambda bias: [bias] * 3))
UNPACKED.misconception("all get the bias of the query", OWN_BIAS)(unpacking(biases=lambda bias: [thirds(bias)[0]] * 3))
UNPACKED.misconception("the biases stand in another order than the matrices", OWN_BIAS)(
    unpacking(biases=lambda bias: thirds(bias)[::-1])
)
UNPACKED.misconception("the biases are 0", "The file has a bias. Without it, every query, key and value is shifted.")(
    unpacking(biases=lambda bias: thirds(torch.zeros_like(bias)))
)
UNPACKED.misconception("the biases are tables", "nn.Linear wants a bias of shape (out,), with one axis.")(
    unpacking(biases=lambda bias: bias[None].chunk(3, 1))
)
UNPACKED.misconception("the biases are tables", "nn.Linear wants a bias of shape (out,), with one axis.")(
    unpacking(biases=lambda bias: bias[:, None].chunk(3))
)
UNPACKED.misconception("all three matrices are those of the query", "Is the same slice taken three times?")(
    unpacking(lambda weight: [rows_of(weight)[0]] * 3)
)
UNPACKED.misconception("the matrix is not cut", CUT)(unpacking(lambda weight: [weight.T] * 3))
UNPACKED.misconception(
    "the rows of each matrix stand in the opposite order", "Turning round is not flipping: entry (i, j) goes to (j, i)."
)(unpacking(lambda weight: [piece.flip(0) for piece in rows_of(weight)]))
PAIRS = "Three things come out, and each is a pair: (weight, bias) of the query, then of the key, then of the value."
UNPACKED.misconception("three matrices come first, then three biases", PAIRS)(
    lambda weight, bias: (list(rows_of(weight)), list(thirds(bias)))
)
UNPACKED.misconception("six tensors stand in a row", PAIRS)(
    unpacking(finish=lambda pairs: [tensor for pair in pairs for tensor in pair])
)
UNPACKED.misconception("six tensors stand in a row", PAIRS)(lambda weight, bias: [*rows_of(weight), *thirds(bias)])
UNPACKED.misconception("each pair has the bias first", PAIRS)(
    unpacking(finish=lambda pairs: [pair[::-1] for pair in pairs])
)
UNPACKED.misconception("only the matrices come out", PAIRS)(unpacking(finish=lambda pairs: [pair[0] for pair in pairs]))
UNPACKED.misconception("only the query's pair comes out", PAIRS)(unpacking(finish=lambda pairs: pairs[0]))


# ---- merged(weight, down, up, alpha) ----


def merged_cases(generator: torch.Generator) -> list[Case]:
    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator)

    def some(low: int, high: int) -> int:
        return int(torch.randint(low, high, (), generator=generator))

    def given(out: int, d_in: int, r: int, alpha: float) -> tuple:
        return draw(out, d_in), draw(r, d_in), draw(out, r), alpha

    by_hand = (
        torch.tensor([[1.0, 0, 0], [0, 1, 0]]),
        torch.tensor([[1.0, 0, 2], [0, 1, 1]]),
        torch.tensor([[1.0, 2], [0, 3]]),
        6,
    )
    crossed = draw(5, 4).T, draw(5, 2).T, draw(2, 4).T, 5
    inputs = [
        ("rank 2, three numbers in and two out", *by_hand),
        ("rank 1", *given(3, 2, 1, 4)),
        ("a square matrix", *given(4, 4, 2, 6)),
        ("a rank as large as the matrix", *given(3, 3, 3, 7)),
        ("more numbers out than in", *given(6, 3, 2, 8)),
        ("an alpha smaller than the rank", *given(4, 5, 3, 1)),
        ("an alpha that is no whole number", *given(4, 3, 2, 2.5)),
        ("an alpha of 0", *given(3, 4, 2, 0)),
        ("an update that is 0, as before training", draw(3, 4), draw(2, 4), torch.zeros(3, 2), 16),
        ("a rank larger than what goes in", *given(4, 2, 3, 4)),
        ("a larger matrix", *given(some(7, 12), some(7, 12), 4, some(5, 12))),
        ("float64", *(one.double() if torch.is_tensor(one) else one for one in given(4, 3, 2, 5))),
        ("matrices that do not lie in order in memory", *crossed),
    ]
    names = "weight", "down", "up", "alpha"
    return [Case(about, dict(zip(names, given, strict=True))) for about, *given in inputs]


def merging(scale=lambda alpha, r, d_in, out: alpha / r, product=lambda down, up: up @ down, join=torch.add):
    """`merged` with one or more misconceptions."""

    def answer(weight, down, up, alpha):
        return join(weight, scale(alpha, len(down), down.shape[1], len(up)) * product(down, up))

    return answer


MERGED = Exercise("merged", "a_real_model", merged_cases, merging(), ADJUST, tolerance=1e-4)

FACTOR = "The update is multiplied by alpha / r. In the example by hand that is 6 / 2."
MERGED.misconception("the factor is left out", FACTOR)(merging(lambda alpha, r, *_: 1))
MERGED.misconception("the factor is alpha alone", FACTOR)(merging(lambda alpha, r, *_: alpha))
MERGED.misconception("the factor is 1 / r", FACTOR)(merging(lambda alpha, r, *_: 1 / r))
MERGED.misconception("the factor is alpha times r", FACTOR)(merging(lambda alpha, r, *_: alpha * r))
MERGED.misconception("r is divided by alpha", f"{FACTOR} An alpha of 0 switches the update off.")(
    merging(lambda alpha, r, *_: r / alpha)
)
MERGED.misconception("alpha is divided by √r", "There is such a form, too (rsLoRA). Here it is r itself.")(
    merging(lambda alpha, r, *_: alpha / r**0.5)
)
RANK = "r is how many numbers stand between A and B: the rows of down, the columns of up."
MERGED.misconception("the numbers that go in are taken for r", RANK)(merging(lambda alpha, r, d_in, out: alpha / d_in))
MERGED.misconception("the numbers that come out are taken for r", RANK)(
    merging(lambda alpha, r, d_in, out: alpha / out)
)
MERGED.misconception("all numbers of down are taken for r", RANK)(
    merging(lambda alpha, r, d_in, out: alpha / (r * d_in))
)
MERGED.misconception("all numbers of up are taken for r", RANK)(merging(lambda alpha, r, d_in, out: alpha / (r * out)))
MERGED.misconception(
    "alpha / r is rounded to a whole number",
    "// and int() drop what stands behind the point: 1 // 3 is 0. A division is /.",
)(merging(lambda alpha, r, *_: alpha // r))
MERGED.misconception("the factor is there twice", "Are both A and B multiplied by alpha / r? One of them is enough.")(
    merging(lambda alpha, r, *_: (alpha / r) ** 2)
)
ORDER = "The formula adds B A to W, as they are. Write the shapes of up, down and W beside each other: (out, r), (r, in), (out, in)."
MERGED.misconception("A stands before B", ORDER)(merging(product=lambda down, up: down @ up))
MERGED.misconception("the update is turned round", ORDER)(merging(product=lambda down, up: (up @ down).T))
MERGED.misconception("both matrices are turned round", ORDER)(merging(product=lambda down, up: up.T @ down.T))
MERGED.misconception("A is turned round", ORDER)(merging(product=lambda down, up: up @ down.T))
MERGED.misconception("B is turned round", ORDER)(merging(product=lambda down, up: up.T @ down))
MERGED.misconception("A and B are multiplied entry by entry", "`*` goes entry by entry; a matrix product is `@`.")(
    merging(product=lambda down, up: up * down)
)
MERGED.misconception(
    "only the first of the r directions is there", "B A is a sum of r products, of a column of B and a row of A each."
)(merging(product=lambda down, up: up[:, :1] @ down[:1]))
MERGED.misconception(
    "the last of the r directions is left out", "B A is a sum of r products. Where does your loop end?"
)(merging(product=lambda down, up: up[:, :-1] @ down[:-1]))
MERGED.misconception(
    "the first of the r directions is left out", "B A is a sum of r products. Where does your loop begin?"
)(merging(product=lambda down, up: up[:, 1:] @ down[1:]))
MERGED.misconception(
    "only the last of the r directions is there", "Is each direction added to the sum, or does it replace it?"
)(merging(product=lambda down, up: up[:, -1:] @ down[-1:]))
MERGED.misconception("alpha is divided by the square of r", FACTOR)(merging(lambda alpha, r, *_: alpha / r**2))
MERGED.misconception("the update is taken away", "What the two ways gave was added: so is the update.")(
    merging(join=lambda weight, update: weight - update)
)
MERGED.misconception("only the update comes out", "The merged layer has W in it, too: it stands alone afterwards.")(
    merging(join=lambda weight, update: update)
)
MERGED.misconception("the matrix comes out as it was", "Is the update added, and is it the sum that is returned?")(
    merging(join=lambda weight, update: weight)
)
MERGED.misconception("W is multiplied by the factor, too", "alpha / r stands before B A alone; W stays what it was.")(
    lambda weight, down, up, alpha: alpha / len(down) * (weight + up @ down)
)
MERGED.misconception(
    "W is made smaller to make room", "Nothing is mixed: W counts whole, and the update comes on top."
)(lambda weight, down, up, alpha: (1 - alpha / len(down)) * weight + alpha / len(down) * (up @ down))
MERGED.misconception(
    "the update is multiplied with W, not added", "The two ways gave a sum: W x, and (alpha / r) B A x."
)(merging(join=torch.mul))
MERGED.misconception("the result is turned round", "nn.Linear wants (out, in), the shape that W has.")(
    merging(join=lambda weight, update: (weight + update).T)
)


# ---- embed(model, sentences) ----


def drive_embed(answer, sentences, seed, width):
    """An untrained encoder, each seed another, that gives its states; and whether it is left as it was."""
    import torch

    from course_lib.layers import PostNorm
    from course_lib.pretrained import NoOutput
    from course_lib.transformer import EncoderOnly

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        shape = {"model_size": width, "heads": 2, "layers": 2, "feed_forward_size": 16}
        model = EncoderOnly(20, **shape, residual=PostNorm, embedding=NoOutput).eval()
    before = [own.clone() for own in model.parameters()]
    with torch.no_grad():
        found = answer(model, sentences)
    if model.training or not all(map(torch.equal, before, model.parameters())):
        raise ValueError("your function changes the model, which others use after it: leave it as it is")
    return found


def embed_cases(generator: torch.Generator) -> list[Case]:
    def some(low: int, high: int) -> int:
        return int(torch.randint(low, high, (), generator=generator))

    def of(*lengths: int) -> list[list[int]]:
        return [torch.randint(1, 20, (length,), generator=generator).tolist() for length in lengths]

    inputs = [
        ("sentences of two words and of three", of(2, 3)),
        ("one sentence alone", of(3)),
        ("sentences of the same length", of(3, 3)),
        ("a sentence of one word beside a long one", of(1, 9)),
        ("the longest first", of(5, 2, 3)),
        ("the longest in the middle", of(2, 6, 4)),
        ("the same words with and without company", [shared := of(3)[0], shared, of(8)[0]]),
        ("as many sentences as words", of(4, 2, 3, 1)),
        ("two of one length, with another between them", of(2, 4, 2)),
        ("many sentences", of(*(some(1, 9) for _ in range(6)), 9)),
        ("a long sentence, and a wider model", of(3, 40)),
    ]
    return [
        Case(about, {"sentences": sentences, "seed": some(0, 10_000), "width": 12 if "wider" in about else 8})
        for about, sentences in inputs
    ]


def filled(sentences, front=False, n=None):
    """Words and mask, with 0 at the places that no word has."""
    n = n or max(map(len, sentences))
    rows = [[0] * (n - len(row)) + row if front else row[:n] + [0] * (n - len(row)) for row in sentences]
    words = torch.tensor(rows)
    return words, words != 0


MEAN = pooled()


def embedding(
    seen=lambda mask: mask, counted=lambda mask: mask, pool=MEAN, fill=filled, finish=lambda vectors: vectors
):
    """`embed` with one or more misconceptions: which mask the model is given, and which the mean."""

    def answer(model, sentences):
        words, mask = fill(sentences)
        return finish(pool(model(words, seen(mask))[0], counted(mask)))

    return answer


def everywhere(mask):
    return torch.ones_like(mask)


EMBED = Exercise(
    "embed",
    "a_real_model",
    embed_cases,
    lambda model, sentences: torch.cat([model(torch.tensor([words]))[0].mean(1) for words in sentences]),
    PADDING,
    drive=drive_embed,
    tolerance=1e-4,
)

EMBED.misconception(
    "the sentence's own words attend to the padding",
    "The mean is right. But of what? Print a state of a short sentence, alone and beside a long one: where do they begin to differ?",
)(embedding(seen=everywhere))
EMBED.misconception(
    "the padding counts in the mean", "The model has the mask now. The mean needs it, too, as it had it before."
)(embedding(counted=everywhere))
EMBED.misconception(
    "the padding is attended to, and counts in the mean",
    "Two parts of the function ask which places are words: the model, and the mean.",
)(embedding(seen=everywhere, counted=everywhere))
EMBED.misconception(
    "the sum of the own words is divided by all places",
    "Sum and count must be of the same words. That was right in what you were given.",
)(embedding(pool=pooled(divide=lambda own: torch.ones_like(own).sum(1))))
EMBED.misconception("True and False have changed places", "In this course's masks, True stands where one may look.")(
    embedding(seen=lambda mask: ~mask)
)
EMBED.misconception(
    "the mean is taken over the padding", "In the mean, True marks the words. That was right in what you were given."
)(embedding(counted=lambda mask: ~mask))
PLACES = "A word has its place in the sentence, counted from 0. With padding in front, it stands further on."
EMBED.misconception("the padding stands in front, so the words stand at other places", PLACES)(
    embedding(fill=partial(filled, front=True))
)
EMBED.misconception("the padding stands in front, and is attended to", PLACES)(
    embedding(fill=partial(filled, front=True), seen=everywhere)
)
EMBED.misconception(
    "all sentences are cut off at the shortest",
    "That needs no padding, and loses words. Fill up, and hide what you filled up.",
)(embedding(fill=lambda sentences: filled(sentences, n=min(map(len, sentences)))))


@EMBED.misconception(
    "the vectors stand in another order than the sentences",
    "Sorting by length is allowed, if each vector goes back to the place of its sentence.",
)
def by_length(model, sentences):
    return EMBED.right(model, sorted(sentences, key=len))


EMBED.misconception(
    "the vectors stand in another order than the sentences",
    "Sorting by length is allowed, if each vector goes back to the place of its sentence.",
)(lambda model, sentences: EMBED.right(model, sorted(sentences, key=len, reverse=True)))


@EMBED.misconception(
    "the vectors stand group by group, not in the order of the sentences",
    "Each vector goes back to the place of its sentence, also when sentences of one length are read together.",
)
def grouped(model, sentences):
    lengths = dict.fromkeys(map(len, sentences))  # in the order in which they come
    return EMBED.right(model, [words for length in lengths for words in sentences if len(words) == length])


STATES = "Wanted is the mean of the states of a sentence's own words. That was right in what you were given."
EMBED.misconception("the first word stands for the sentence", STATES)(embedding(pool=lambda states, mask: states[:, 0]))
EMBED.misconception("the last word stands for the sentence", STATES)(embedding(pool=last_own))
EMBED.misconception("it is a sum, not a mean", STATES)(embedding(pool=pooled(divide=one)))
EMBED.misconception("the vectors are brought to length 1", "Wanted is the mean as it is.")(
    embedding(finish=partial(F.normalize, dim=-1))
)


@EMBED.misconception(
    "the words that the layers read are masked, and the model attends to the places left",
    "A word 0 is a word with a vector and a place. The model must be told which places are words.",
)
def twice_as_long(model, sentences):
    n = 2 * max(map(len, sentences))
    return embedding(fill=partial(filled, n=n), seen=everywhere)(model, sentences)


@EMBED.misconception(
    "the mean is taken of the embedded words, not of the states",
    "`model(words, mask)` gives two things: the states that leave the last layer, and maps.",
)
def before_the_layers(model, sentences):
    words, mask = filled(sentences)
    return pooled()(model.embedding(words), mask)


@EMBED.misconception("the mean is taken over all layers", "Wanted are the states that leave the last layer.")
def of_all_layers(model, sentences):
    words, mask = filled(sentences)
    return pooled()(model.states(words, mask).mean(1), mask)


EMBED.misconception("the vectors of all sentences are one", "A vector for each sentence is wanted.")(
    embedding(pool=lambda states, mask: states[mask].mean(0))
)
EMBED.misconception(
    "only the first sentence is embedded", "A vector for each sentence is wanted. Where does the loop return?"
)(lambda model, sentences: EMBED.right(model, sentences[:1]))
EMBED.misconception(
    "the states come out, not their mean", "A vector for each sentence is wanted: the mean over its words."
)(embedding(pool=lambda states, mask: states))


# ---- how many numbers a low-rank update has ----

WIDTH, RANK_4, LAYERS, OF_EACH = 384, 4, 6, 2
BOTH = "A has r × 384 numbers, and B has 384 × r: a matrix gets both."
FROZEN = "Those stay as they are. Trained are A and B, with r = 4 numbers in between."

ADJUSTED_NUMBERS = Question(
    "adjusted_numbers",
    "a_real_model",
    lambda: LAYERS * OF_EACH * RANK_4 * (WIDTH + WIDTH),
    (
        Misconception("only A or only B is counted, or only the query or the value", f"{BOTH} And a layer has two such matrices.", 6 * 2 * 4 * 384),
        Misconception("that is one matrix", "A layer has two such matrices, and there are six layers.", 4 * 768),
        Misconception("that is one layer", "There are six layers.", 2 * 4 * 768),
        Misconception("that is one of A and B, of a single matrix", f"{BOTH} Then count the matrices.", 4 * 384),
        Misconception("that is twice as many", "Is r = 4 (the lesson took 8)? Are there six layers, and two matrices in each, the query's and the value's?", 6 * 4 * 4 * 768),
        Misconception("three matrices a layer are counted", "Only queries and values are adjusted: two matrices a layer.", 6 * 3 * 4 * 768),
        Misconception("all numbers of the matrices are counted", FROZEN, 6 * 2 * 384 * 384),
        Misconception("all numbers of one matrix are counted", FROZEN, 384 * 384),
        Misconception("the frozen numbers are counted, too", "Only what is trained is asked for: W stays as it is.", 6 * 2 * (384 * 384 + 4 * 768)),
        Misconception("all numbers of B A are counted, four times", "A rank is a width in between, no number of copies.", 6 * 2 * 384 * 384 * 4),
        Misconception("a bias is counted, too", "A and B are matrices alone.", 6 * 2 * (4 * 768 + 384)),
        Misconception("a bias is counted for A and for B", "A and B are matrices alone.", 6 * 2 * (4 * 768 + 384 + 4)),
        Misconception("every head is counted", "The matrices are those of all heads together: 384 × 384.", 12 * 6 * 2 * 4 * 768),
        Misconception("the numbers of A and B are multiplied, not added", BOTH, 6 * 2 * (4 * 384) ** 2),
        Misconception("the rank is left out", "Between A and B there are r = 4 numbers.", 6 * 2 * 768),
    ),
    ADJUST,
)  # fmt: skip

del keep, order  # what loops have named

ASKED = [SPLIT_WORD, SENTENCE_VECTOR, NEAREST, UNPACKED, MERGED, EMBED, ADJUSTED_NUMBERS]
