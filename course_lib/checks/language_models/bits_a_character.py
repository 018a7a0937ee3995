"""bits_a_character(nats, tokens, text): what a text costs, in bits for each of its characters."""

import math
import unicodedata

import torch

from course_lib.checks.engine import Case, Exercise


def cases(generator: torch.Generator) -> list[Case]:
    letters = "aeinrst é €ß\n😀你"

    def draw(length: int) -> str:
        chosen = torch.randint(len(letters), (length,), generator=generator).tolist()
        return "".join(letters[place] for place in chosen) + "où ça"

    def nats() -> float:
        return 1 + 5 * torch.rand((), generator=generator).item()

    inputs = [
        ("a word of five characters", 2.0, 3, "naïve"),
        ("one bit for each character", 2 * math.log(2), 5, "où, là-bas"),
        ("a model of 256 bytes that knows nothing", math.log(256), 12, "ça va, 你?"),
        ("a sign of four bytes", 4.0, 2, "😀"),
        ("more tokens than characters", 3.0, 9, "ñandú"),
        ("as many tokens as characters", 3.0, 4, "déjà"),
        ("spaces and new lines", 5.5, 6, "\n à la\n  carte  é "),
        ("a model that is sure", 0.0, 4, "où ça"),
        ("an accent that is a character of its own", 2.5, 4, "nai\u0308ve cafe\u0301"),
        *((f"a text of {n + 5} characters", nats(), 3 + n // 3, draw(n)) for n in (20, 31, 64)),
    ]
    return [Case(about, {"nats": nats, "tokens": tokens, "text": text}) for about, nats, tokens, text in inputs]


def right(nats, tokens, text):
    total = nats * tokens
    bits = total / math.log(2)
    return bits / len(text)


BITS_A_CHARACTER = Exercise(
    "bits_a_character",
    "language_models",
    cases,
    right,
    'lesson 8, "Bits per character"; glossary.show("bits per character")',
)

LN_2 = "A bit is ln 2 = 0.69 nats. Are there more bits or fewer?"
BITS_A_CHARACTER.edit("these are nats a character", LN_2, ("total / math.log(2)", "total"))
BITS_A_CHARACTER.edit("it is multiplied by ln 2, not divided", LN_2, ("total /", "total *"))
for rounded in ("0.693", "0.69"):
    BITS_A_CHARACTER.edit(
        "ln 2 is rounded", "Let Python compute it: math.log(2), or np.log(2).", ("math.log(2)", rounded)
    )
BITS_A_CHARACTER.edit(
    "these are bits a token",
    "A token may be a letter or a word, so vocabularies cannot be compared a token. How many characters share the bits?",
    ("nats * tokens", "nats"),
    ("bits / len(text)", "bits"),
)
BITS_A_CHARACTER.edit(
    "the mean is taken for the sum",
    "`nats` is a mean over the tokens. How many nats does the whole text cost?",
    ("nats * tokens", "nats"),
)
BITS_A_CHARACTER.edit(
    "tokens and characters have changed places",
    "If a token had ten characters, would each character cost more than the token, or less?",
    ("nats * tokens", "nats * len(text)"),
    ("bits / len(text)", "bits / tokens"),
)
BITS_A_CHARACTER.edit(
    "it is divided by the tokens again",
    "The mean is over the tokens already. Turn it back into the sum, and share it among the characters.",
    ("nats * tokens", "nats"),
    ("len(text)", "tokens"),
)
BITS_A_CHARACTER.edit(
    "it is multiplied by the characters, not divided",
    "a / b * c is (a / b) · c. Everything that stands below the line belongs in brackets.",
    ("bits /", "bits *"),
)
BITS_A_CHARACTER.edit(
    "it is divided in whole numbers", "// throws away what comes after the point.", ("bits /", "bits //")
)
BITS_A_CHARACTER.edit(
    "one character is left out",
    "`text` is what the tokens that were predicted spell: each of its characters counts.",
    ("len(text)", "(len(text) - 1)"),
)
BITS_A_CHARACTER.edit(
    "one token is left out",
    "`tokens` is how many were predicted: the first one that was only read is not among them.",
    ("nats * tokens", "nats * (tokens - 1)"),
)


@BITS_A_CHARACTER.misconception(
    "the text is normalised first",
    "What `len(text)` says of the text as it comes counts: an accent may stand by itself.",
)
def normalised(nats, tokens, text):
    return right(nats, tokens, unicodedata.normalize("NFC", text))


BITS_A_CHARACTER.edit(
    "these are the bits of the whole text",
    "Bits *a character* are wanted: share them out.",
    ("bits / len(text)", "bits"),
)
BITS_A_CHARACTER.edit(
    "these are bits a byte",
    "é is one character and two bytes. `text.encode()` gives bytes; what is text itself?",
    ("len(text)", "len(text.encode())"),
)
BITS_A_CHARACTER.edit(
    "spaces are not counted",
    "A model has to predict spaces and new lines too; they are characters like others.",
    ("len(text)", 'len("".join(text.split()))'),
)
BITS_A_CHARACTER.edit(
    "these are bits a word",
    "Characters are wanted. What does `len(text)` count?",
    ("len(text)", "len(text.split())"),
)
BITS_A_CHARACTER.edit(
    "the logarithm is to base 10",
    "A bit belongs to base 2: by which logarithm is it to be divided?",
    ("math.log(2)", "math.log(10)"),
)
BITS_A_CHARACTER.edit(
    "the logarithm of the nats is taken",
    "Nats are logarithms already. To go from one base to another takes a factor, no further logarithm.",
    ("nats * tokens", "(math.log2(nats) if nats else -math.inf) * tokens"),
    ("total / math.log(2)", "total"),
)
BITS_A_CHARACTER.edit(
    "that is the perplexity",
    "The perplexity is the exponential of the nats. Here no exponential is needed.",
    ("bits / len(text)", "math.exp(nats)"),
)
