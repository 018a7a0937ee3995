"""`split_word(word, known)`: a word cut into known pieces, each the longest that fits."""

import torch

from course_lib.checks.engine import Case, Exercise


def split_cases(generator: torch.Generator) -> list[Case]:
    def some(low: int, high: int) -> int:
        return int(torch.randint(low, high, (), generator=generator))

    def letters(count: int, of: str = "ab") -> str:
        return "".join(of[some(0, len(of))] for _ in range(count))

    def drawn(count: int, singles: bool) -> set[str]:
        """Pieces of up to three letters. With the single letters, every word can be split."""
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
        ("nothing is known", "le", {"chat", "##at"}),
        ("a word of one letter", "a", {"a", "##a"}),
        ("the same letter again and again", "aaaaaa", {"a", "aa", "##a", "##aa", "##aaa", "##aaaaaa"}),
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
    "Which ends do you try first? The longest known piece comes first.",
    (ENDS, "range(1, len(rest) + 1)"),
)
MARKS = "A piece that continues a word is in `known` with its ##. What do you look up?"
SPLIT_WORD.edit(
    "the ## is missing in the result",
    "The pieces are correct. But return them spelled as in `known`.",
    ("append(mark + ", "append("),
)
SPLIT_WORD.edit("pieces are looked up and returned without ##", MARKS, ('"##" if found else ""', '""'))
SPLIT_WORD.edit("pieces are looked up without ##, which is added afterwards", MARKS, ("if mark + ", "if "))
BEGINS = "The first piece begins the word, so it has no ##."
SPLIT_WORD.edit("the first piece is looked up with ##, too", BEGINS, ('"##" if found else ""', '"##"'))
SPLIT_WORD.edit("the first piece is returned with ##", BEGINS, ("append(mark", 'append("##"'))
SPLIT_WORD.edit(
    "the ## comes after the piece",
    "`##` says that something comes before the piece. So which end of the piece is it at?",
    ("append(mark + rest[:end])", "append(rest[:end] + mark)"),
)
SPLIT_WORD.edit(
    "the ## comes after every piece but the last",
    "`##` marks a piece that continues a word, and it comes before that piece.",
    ("append(mark + rest[:end])", 'append(rest[:end] + ("##" if rest[end:] else ""))'),
)
for taken in ("mark", "_"):  # returned with its mark in `known`, or with the mark of its position
    SPLIT_WORD.edit(
        "a piece is taken with or without ##, whichever is known",
        "At the beginning of a word, only pieces without ## are allowed. After the beginning, only pieces with ## are.",
        ("end = next((end", f"{taken}, end = next(((form, end)"),
        ("if mark +", 'for form in (mark, "##", "") if form +'),
        ("known), 0)", 'known), ("", 0))'),
    )

WHOLE = (
    "If no known piece fits a rest, the *whole word* is unknown. The result is one [UNK], without the pieces before."
)
LOST = '["[UNK]"]'
SPLIT_WORD.edit("[UNK] replaces only the rest", WHOLE, (LOST, '[*found, "[UNK]"]'))
SPLIT_WORD.edit("[UNK] replaces only the rest, and has a mark", WHOLE, (LOST, '[*found, mark + "[UNK]"]'))
SPLIT_WORD.edit("a rest without a piece is left out", WHOLE, (LOST, "found"))
SPLIT_WORD.edit("a rest without a piece is returned as it is", WHOLE, (LOST, "[*found, mark + rest]"))
SPLIT_WORD.edit("an unknown word gives no piece", "An unknown word is one piece: [UNK].", (LOST, "[]"))
SPLIT_WORD.edit("an unknown word is returned as it is", "A word that can't be split becomes [UNK].", (LOST, "[word]"))
SPLIT_WORD.edit("[UNK] is not in a list", 'The result is always a list: ["[UNK]"], not "[UNK]".', (LOST, '"[UNK]"'))
SPLIT_WORD.edit(
    "[UNK] is split into its characters",
    'The result has one entry, "[UNK]". What does list("[UNK]") give?',
    (LOST, 'list("[UNK]")'),
)
SPLIT_WORD.edit(
    "the result has an [UNK] for each piece and one for the rest", WHOLE, (LOST, '["[UNK]"] * (len(found) + 1)')
)
SPLIT_WORD.edit("the result has an [UNK] for each letter", WHOLE, (LOST, '["[UNK]"] * len(word)'))
SPLIT_WORD.edit(
    "the result has an [UNK] for each letter of the rest", WHOLE, (LOST, '[*found, *["[UNK]"] * len(rest)]')
)
SPLIT_WORD.edit(
    "a letter without a piece becomes [UNK], and the splitting continues",
    WHOLE,
    (f"return {LOST}", f"found, rest = found + {LOST}, rest[1:]; continue"),
)
SPLIT_WORD.edit("a letter without a piece is skipped", WHOLE, (f"return {LOST}", "rest = rest[1:]; continue"))
SPLIT_WORD.edit(
    "the whole rest is never tried",
    "The first try is the rest as it is. Does your loop begin one letter too short?",
    (ENDS, "range(len(rest) - 1, 0, -1)"),
)
SPLIT_WORD.edit(
    "the whole rest is never tried, unless it is one letter",
    "The first try is the rest as it is, with its last letter.",
    (ENDS, "range(max(len(rest) - 1, 1), 0, -1)"),
)
SPLIT_WORD.edit(
    "a single letter is never tried",
    "The last try is a piece of one letter. Where does your loop end? A range leaves out its end.",
    (ENDS, "range(len(rest), 1, -1)"),
)
SPLIT_WORD.edit(
    "the ## is counted as part of the word",
    "The two characters of ## aren't letters of the word. By how much does the rest get shorter?",
    ("rest = rest[end:]", "rest = rest[end + len(mark) :]"),
)
ONCE = "Only the piece in front is cut off, and only once."
SPLIT_WORD.edit(
    "the piece is removed everywhere in the rest", ONCE, ("rest = rest[end:]", 'rest = rest.replace(rest[:end], "")')
)
for strip in ("lstrip", "strip"):
    SPLIT_WORD.edit(
        "all letters of the piece are stripped from the rest",
        f"{strip} removes single letters, not a whole piece. {ONCE}",
        ("rest = rest[end:]", f"rest = rest.{strip}(rest[:end])"),
    )


def best_way(choose):
    """The best way to split the rest from each letter on. `choose` gets the ways, with the longest first piece first."""

    def answer(word, known):
        best = [None] * len(word) + [[]]
        for start in reversed(range(len(word))):
            mark = "##" if start else ""
            ends = [end for end in range(len(word), start, -1) if mark + word[start:end] in known]
            best[start] = choose([[mark + word[start:end], *best[end]] for end in ends if best[end] is not None])
        return best[0] or ["[UNK]"]

    return answer


SPLIT_WORD.misconception(
    "a shorter piece is tried if the longest leads to a dead end",
    "The method never takes back a cut. If the longest piece leads to a dead end, the word is unknown.",
)(best_way(lambda ways: ways[0] if ways else None))
SPLIT_WORD.misconception(
    "the split with the fewest pieces is taken",
    "Each piece in turn is the longest that fits. How many pieces there will be doesn't matter.",
)(best_way(lambda ways: min(ways, key=len, default=None)))


@SPLIT_WORD.misconception(
    "the word is split from its end", "Begin at the left. Cut off the longest piece there, then continue with the rest."
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
    "the pieces are in reverse order",
    "The piece that begins the word comes first. Where do you insert the next one?",
    ("return found", "return found[::-1]"),
)
for between in (" ", ""):
    SPLIT_WORD.edit(
        "the pieces are returned as one text",
        "Return a list of pieces.",
        ("return found", f'return "{between}".join(found)'),
        (LOST, '"[UNK]"'),
    )
SPLIT_WORD.edit(
    "only the first piece is returned",
    "After the first piece there is a rest. It must be split, too.",
    ("return found", "return found[:1]"),
)
SPLIT_WORD.edit("every letter is a piece", "Longer known pieces come first.", (ENDS, "[1]"))
for nested in ("[found]", "[[piece] for piece in found]"):
    SPLIT_WORD.edit(
        "the result has a list inside the list",
        "Return one plain list of strings.",
        ("return found", f"return {nested}"),
    )
SPLIT_WORD.edit(
    "pieces are split into their characters",
    "extend and += add a string character by character. append adds it as a whole.",
    ("append(mark", "extend(mark"),
)
SPLIT_WORD.edit(
    "the whole rest is returned, not the piece",
    "Which part of the rest did you find in `known`?",
    ("append(mark + rest[:end])", "append(mark + rest)"),
)
SPLIT_WORD.edit(
    "each piece lacks its last letter",
    "A slice [start:end] ends before `end`. Is another letter taken off?",
    ("return found", "return [piece[:-1] for piece in found]"),
)


@SPLIT_WORD.misconception(
    "each time the beginning of the word is looked up, not the beginning of the rest",
    "The next piece begins where the last one ended.",
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
    "the word is cut only once",
    "The rest may need more than one piece, so it must be split, too. If your function calls itself, does a piece get ## twice?",
)
def two_at_most(word, known):
    first = split_word(word, known)[:1]
    rest = word[len(first[0]) :]
    return first if not rest or first == ["[UNK]"] else [*first, f"##{rest}"] if f"##{rest}" in known else ["[UNK]"]


SPLIT_WORD.edit("[UNK] lacks its brackets", 'The unknown piece is "[UNK]", with its brackets.', ("[UNK]", "UNK"))
SPLIT_WORD.edit(
    "None is returned for an unknown word",
    "If no piece fits, return a list, too, with [UNK] in it.",
    (LOST, "None"),
)
SPLIT_WORD.misconception(
    "only the whole word is tried",
    "Shorter pieces must be tried, too. When does your loop give up? An `else` under the `if` gives up too early, one under the `for` doesn't.",
)(lambda word, known: [word] if word in known else ["[UNK]"])
SPLIT_WORD.misconception("the pieces and the rest are returned", "Return one list, the pieces.")(
    lambda word, known: (split_word(word, known), "")
)
SPLIT_WORD.edit(
    "after the longest first piece the shortest ones follow",
    "Every piece is the longest known one, not only the first.",
    (ENDS, f"(range(1, len(rest) + 1) if found else {ENDS})"),
)
