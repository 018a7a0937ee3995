"""`split_word(word, known)`: a word in the pieces that are known, the longest first."""

import torch

from course_lib.checks.engine import Case, Exercise


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


def split_word(word, known):
    found, rest = [], word
    while rest:
        mark = "##" if found else ""
        end = next((end for end in range(len(rest), 0, -1) if mark + rest[:end] in known), 0)
        if not end:
            return ["[UNK]"]
        found.append(mark + rest[:end])
        rest = rest[end:]
    return found


SPLIT_WORD = Exercise(
    "split_word",
    "a_real_model",
    split_cases,
    split_word,
    'lesson 11, "Words in pieces"; glossary.show("WordPiece")',
    banned=("course_lib.word_pieces",),
)

ENDS = "range(len(rest), 0, -1)"
SPLIT_WORD.edit(
    "the shortest known piece is taken",
    "Which ends are tried first? The longest piece that is known comes first.",
    (ENDS, "range(1, len(rest) + 1)"),
)
MARKS = "A piece inside a word is another entry of `known` than one that begins a word: look for it with its ##."
SPLIT_WORD.edit(
    "the ## is missing in the result",
    "The pieces are found. Hand them back as they stand in `known`.",
    ("append(mark + ", "append("),
)
SPLIT_WORD.edit("pieces are looked up without ##, and come out without it", MARKS, ('"##" if found else ""', '""'))
SPLIT_WORD.edit("pieces are looked up without ##, which is put in front afterwards", MARKS, ("if mark + ", "if "))
BEGINS = "The first piece begins the word, and has no ##."
SPLIT_WORD.edit("the first piece is marked, too", BEGINS, ('"##" if found else ""', '"##"'))
SPLIT_WORD.edit("the first piece comes out with ##", BEGINS, ("append(mark", 'append("##"'))
SPLIT_WORD.edit(
    "the ## stands behind the piece",
    "`##` says that something stands before: it is in front of the piece.",
    ("append(mark + rest[:end])", "append(rest[:end] + mark)"),
)
SPLIT_WORD.edit(
    "the ## stands behind every piece but the last",
    "`##` marks a piece that goes on with a word, and stands in front of it.",
    ("append(mark + rest[:end])", 'append(rest[:end] + ("##" if rest[end:] else ""))'),
)
for taken in ("mark", "_"):  # with the mark that it has in `known`, or that of its place
    SPLIT_WORD.edit(
        "a piece is taken with or without ##, whichever is known",
        "At the beginning of a word only pieces without ## may stand, and behind it only pieces with it.",
        ("end = next((end", f"{taken}, end = next(((form, end)"),
        ("if mark +", 'for form in (mark, "##", "") if form +'),
        ("known), 0)", 'known), ("", 0))'),
    )

WHOLE = "If a rest has no piece, the *whole word* is unknown: one [UNK], and nothing of its beginning."
LOST = '["[UNK]"]'
SPLIT_WORD.edit("[UNK] stands for the rest alone", WHOLE, (LOST, '[*found, "[UNK]"]'))
SPLIT_WORD.edit("[UNK] stands for the rest alone, with a mark", WHOLE, (LOST, '[*found, mark + "[UNK]"]'))
SPLIT_WORD.edit("a rest without a piece is left out", WHOLE, (LOST, "found"))
SPLIT_WORD.edit("a rest without a piece comes out as it is", WHOLE, (LOST, "[*found, mark + rest]"))
SPLIT_WORD.edit("an unknown word gives no piece", "An unknown word is one piece: [UNK].", (LOST, "[]"))
SPLIT_WORD.edit(
    "an unknown word comes out as it is", "In place of a word that cannot be split stands [UNK].", (LOST, "[word]")
)
SPLIT_WORD.edit("[UNK] is not in a list", 'A list comes out always: ["[UNK]"], not "[UNK]".', (LOST, '"[UNK]"'))
SPLIT_WORD.edit(
    "[UNK] is taken apart into its letters", 'list("[UNK]") is a list of five letters.', (LOST, 'list("[UNK]")')
)
SPLIT_WORD.edit("there is an [UNK] for each piece and one for the rest", WHOLE, (LOST, '["[UNK]"] * (len(found) + 1)'))
SPLIT_WORD.edit("there is an [UNK] for each letter", WHOLE, (LOST, '["[UNK]"] * len(word)'))
SPLIT_WORD.edit("there is an [UNK] for each letter of the rest", WHOLE, (LOST, '[*found, *["[UNK]"] * len(rest)]'))
SPLIT_WORD.edit(
    "a letter without a piece becomes [UNK], and the splitting goes on",
    WHOLE,
    (f"return {LOST}", f"found, rest = found + {LOST}, rest[1:]; continue"),
)
SPLIT_WORD.edit("a letter without a piece is passed over", WHOLE, (f"return {LOST}", "rest = rest[1:]; continue"))
SPLIT_WORD.edit(
    "the whole rest is never tried",
    "The first try is the rest as it is. `range(len(rest) - 1, …)` begins one letter too short.",
    (ENDS, "range(len(rest) - 1, 0, -1)"),
)
SPLIT_WORD.edit(
    "the whole rest is never tried, unless it is one letter",
    "The first try is the rest as it is, with its last letter.",
    (ENDS, "range(max(len(rest) - 1, 1), 0, -1)"),
)
SPLIT_WORD.edit(
    "a single letter is never tried",
    "range(n, 1, -1) ends with 2. The last try is a piece of one letter.",
    (ENDS, "range(len(rest), 1, -1)"),
)
SPLIT_WORD.edit(
    "the ## is counted as letters of the word",
    "Two signs of the piece are no letters of the word. By how much does the rest get shorter?",
    ("rest = rest[end:]", "rest = rest[end + len(mark) :]"),
)
ONCE = "Only the piece in front is cut off, once: rest[len(piece):]."
SPLIT_WORD.edit("the piece is taken out everywhere", ONCE, ("rest = rest[end:]", 'rest = rest.replace(rest[:end], "")'))
for strip in ("lstrip", "strip"):
    SPLIT_WORD.edit(
        "all letters of the piece are stripped",
        f"{strip} takes away letters, not a text. {ONCE}",
        ("rest = rest[end:]", f"rest = rest.{strip}(rest[:end])"),
    )


def best_way(choose):
    """The best way to split what begins at each letter; `choose` is given the ways with the longest first piece first."""

    def answer(word, known):
        best = [None] * len(word) + [[]]
        for start in reversed(range(len(word))):
            mark = "##" if start else ""
            ends = [end for end in range(len(word), start, -1) if mark + word[start:end] in known]
            best[start] = choose([[mark + word[start:end], *best[end]] for end in ends if best[end] is not None])
        return best[0] or ["[UNK]"]

    return answer


SPLIT_WORD.misconception(
    "a shorter piece is tried where the longest leads nowhere",
    "A piece once taken is never given back: if the longest leads into a dead end, the word is unknown.",
)(best_way(lambda ways: ways[0] if ways else None))
SPLIT_WORD.misconception(
    "the fewest pieces are taken", "Each piece in turn is the longest at its place; how many it will be, nobody counts."
)(best_way(lambda ways: min(ways, key=len, default=None)))


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


SPLIT_WORD.edit(
    "the pieces stand in the opposite order",
    "The piece in front comes first: append, or insert at the end.",
    ("return found", "return found[::-1]"),
)
for between in (" ", ""):
    SPLIT_WORD.edit(
        "the pieces come out as one text",
        "A list of pieces is wanted.",
        ("return found", f'return "{between}".join(found)'),
        (LOST, '"[UNK]"'),
    )
SPLIT_WORD.edit(
    "only the first piece comes out",
    "Behind the first piece there is a rest, which is split, too.",
    ("return found", "return found[:1]"),
)
SPLIT_WORD.edit("every letter is a piece", "Longer pieces come first, where they are known.", (ENDS, "[1]"))
for nested in ("[found]", "[[piece] for piece in found]"):
    SPLIT_WORD.edit(
        "there is a list within the list", "One plain list of texts is wanted.", ("return found", f"return {nested}")
    )
SPLIT_WORD.edit(
    "pieces are taken apart into their signs",
    "extend and += put in a text sign by sign; append puts it in whole.",
    ("append(mark", "extend(mark"),
)
SPLIT_WORD.edit(
    "the whole rest comes out, not the piece",
    "Handed back is what was found: rest[:end].",
    ("append(mark + rest[:end])", "append(mark + rest)"),
)
SPLIT_WORD.edit(
    "each piece lacks its last letter",
    "word[start:end] ends before `end`. Is one taken away once more?",
    ("return found", "return [piece[:-1] for piece in found]"),
)


@SPLIT_WORD.misconception(
    "the beginning of the word is looked up each time, not that of the rest",
    "What is looked up begins where the last piece ended.",
)
def always_from_the_beginning(word, known):
    found, start = [], 0
    while start < len(word):
        mark = "##" if found else ""
        end = next((end for end in range(len(word), start, -1) if mark + word[:end] in known), 0)
        if not end:
            return ["[UNK]"]
        found.append(mark + word[start:end])
        start = end
    return found


@SPLIT_WORD.misconception(
    "there are two pieces at most",
    "The rest may need more than one piece: a loop goes on until nothing is left, and no piece has more than one ##.",
)
def two_at_most(word, known):
    first = split_word(word, known)[:1]
    rest = word[len(first[0]) :]
    return first if not rest or first == ["[UNK]"] else [*first, f"##{rest}"] if f"##{rest}" in known else ["[UNK]"]


SPLIT_WORD.edit("[UNK] has lost its brackets", 'The unknown piece is "[UNK]", with its brackets.', ("[UNK]", "UNK"))
SPLIT_WORD.edit(
    "None comes out of an unknown word",
    "Where no piece fits, a list is wanted, too: the one with [UNK].",
    (LOST, "None"),
)
SPLIT_WORD.misconception(
    "the first end that is not known gives up",
    "`else` belongs to the `for`, not to the `if`: only when no end was left is the word unknown.",
)(lambda word, known: [word] if word in known else ["[UNK]"])
SPLIT_WORD.misconception("pieces and the rest come out", "One list is wanted: the pieces.")(
    lambda word, known: (split_word(word, known), "")
)
SPLIT_WORD.edit(
    "after the longest first piece the shortest ones follow",
    "Every piece is the longest that is known, not the first alone.",
    (ENDS, f"(range(1, len(rest) + 1) if found else {ENDS})"),
)
