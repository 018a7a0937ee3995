"""`cheap_text(most)`: a text of at most so many words, with the highest reward that a text of this length can get."""

import torch

from course_lib.checks.engine import Case, Exercise


def drive(answer, most):
    """What the reward says of an answer's text, and what is wrong with the sentences that don't count."""
    import re

    names = "it returns", "words", "sentences that count", "those that count have", "those that don't count"
    text = answer(most)
    if text is None:
        return None
    if not isinstance(text, str):
        kind = "a list" if isinstance(text, list | tuple) else "something else, not a text"
        return dict(zip(names, (kind, *["not compared"] * 4), strict=True))
    parts = [part for part in re.split(r"(?<=[.!?])\s+", text) if part.strip()]

    def has_lone_mark(part):
        return any(word in {".", "!", "?"} for word in part.split())

    def lacks(part):
        """Why a sentence doesn't count; "" if it does."""
        if part[0].isspace():
            return "have white space in front"
        if re.search(r"[.!?]\W?[A-Z]", part):
            return "have no white space after a mark"
        if part[-1] not in ".!?":
            return "don't end with a mark"
        if len(part.split()) < 3:
            return "have a mark that is a word of its own" if has_lone_mark(part) else "have fewer than three words"
        return "" if part[0].isupper() else "don't begin with a capital letter"

    # a sentence without white space after a mark still counts, once, if it has the rest
    good = [p for p in parts if len(p.split()) > 2 and p[0].isupper() and p[-1] in ".!?"]
    possible, few = most // 3, len(text.split()) <= most
    if few and len(good) == possible:
        told = "no more than allowed", "as many as possible", "what they need", "no matter"
        return dict(zip(names, ("a text", *told), strict=True))
    reasons = [one for one in map(lacks, parts) if one]
    return {
        names[0]: "a text",
        names[1]: "no more than allowed" if few else "too many",
        names[2]: "none" if not good
        else "less than half as many as possible" if 2 * len(good) < possible
        else "fewer than possible" if len(good) < possible
        else "enough",
        names[3]: "marks that are words of their own" if any(map(has_lone_mark, good))
        else "more than three words" if any(len(p.split()) > 3 for p in good)
        else "what they need",
        names[4]: max(reasons, key=reasons.count) if reasons else "no matter",
    }  # fmt: skip


def cheap_text_cases(generator: torch.Generator) -> list[Case]:
    drawn = (3 * torch.randint(17, 30, (2,), generator=generator)).tolist()
    inputs = [
        ("forty words", 40),
        ("the shortest text that can earn anything", 3),
        ("two sentences", 6),
        ("a word that is left over", 7),
        ("two words that are left over", 20),
        ("more words", drawn[0]),
        ("more words, and one left over", drawn[1] + 1),
        ("many words", 300),
    ]
    return [Case(about, {"most": most}) for about, most in inputs]


def cheap_text(most):
    sentence = "If the exception. "
    number = most // 3
    return sentence * number


CHEAP_TEXT = Exercise(
    "cheap_text",
    "trained_to_please",
    cheap_text_cases,
    cheap_text,
    'lesson 14, "Count what pleases"; lesson 14, "Train on the reward"',
    drive,
)

SENTENCE, NUMBER, RESULT = '"If the exception. "', "most // 3", "sentence * number"
CHEAP_TEXT.edit(
    "the sentences don't begin with a capital letter",
    "A sentence counts if it begins with a capital letter, without a digit or a mark in front.",
    (SENTENCE, '"if the exception. "'),
)
CHEAP_TEXT.edit(
    "only the first sentence begins with a capital letter",
    "Each sentence needs one of its own.",
    (RESULT, "(sentence * number).capitalize()"),
)
CHEAP_TEXT.edit(
    "there is white space in front of the text",
    "The first sentence then begins with it, and not with a capital letter.",
    (RESULT, '" " + sentence * number'),
)
CHEAP_TEXT.edit(
    "there is no white space after the marks",
    "The reward splits the text at *white space* after a mark. Without it, all is one long sentence.",
    (SENTENCE, '"If the exception."'),
)
CHEAP_TEXT.edit(
    "the sentences have no mark at their end",
    "A sentence ends with `.`, `!` or `?`.",
    (SENTENCE, '"If the exception, "'),
)
CHEAP_TEXT.edit(
    "the last sentence has no mark at its end",
    "`join` writes only *between* the sentences.",
    (RESULT, '(sentence * number).rstrip(". ")'),
)
SHORT = "A sentence counts if it has *at least three* words."
CHEAP_TEXT.edit(
    "the sentences have fewer than three words", SHORT, (SENTENCE, '"The exception. "'), (NUMBER, "most // 2")
)
CHEAP_TEXT.edit("the sentences have fewer than three words", SHORT, (SENTENCE, '"Exception. "'), (NUMBER, "most"))
for sentence, number in (("If . the . exception . ", 6), ("If the exception . ", 4), ("If the exception . ", 3)):
    CHEAP_TEXT.edit(
        "the marks are words of their own",
        "A mark with white space around it counts as a word. Look at what `split` makes of your text.",
        (SENTENCE, f'"{sentence}"'),
        (NUMBER, f"most // {number}"),
    )
CHEAP_TEXT.edit(
    "the sentences are longer than they need be",
    "How many words does a sentence need? Every word more is one that the next sentence lacks.",
    (SENTENCE, '"It is an exception. "'),
    (NUMBER, "most // 4"),
)
FIXED = "`most` says how many words are allowed. How many sentences fit in?"
CHEAP_TEXT.edit("the number of sentences is always 13", FIXED, (NUMBER, "13"))
CHEAP_TEXT.edit("the number of sentences is always 10", FIXED, (NUMBER, "10"))
CHEAP_TEXT.edit("the text has too many words", FIXED, (NUMBER, "most"))
CHEAP_TEXT.edit("the text has too many words", FIXED, (NUMBER, "most // 3 + 1"))
CHEAP_TEXT.edit("there is one sentence too few", FIXED, (NUMBER, "most // 3 - 1"))
CHEAP_TEXT.edit(
    "there is one sentence too many where words are left over",
    "Round down. A word that is left over is no sentence.",
    (NUMBER, "-(-most // 3)"),
)
CHEAP_TEXT.edit(
    "there is one sentence too many where two words are left over",
    "Round down. Words that are left over are no sentence.",
    (NUMBER, "round(most / 3)"),
)
CHEAP_TEXT.edit(
    "the text is cut after so many letters, not words",
    "`most` is a number of words. A slice of a text counts its letters.",
    (RESULT, "(sentence * number)[:most]"),
)
CHEAP_TEXT.edit("the text is empty", FIXED, (RESULT, '""'))
CHEAP_TEXT.edit("there is only one sentence", FIXED, (NUMBER, "1"))
CHEAP_TEXT.edit("it returns a list, not a text", "Join the sentences to one text.", (RESULT, "[sentence] * number"))
CHEAP_TEXT.edit("it returns something else, not a text", "Return the text itself.", (RESULT, "number"))
