"""bits_a_character(nats, tokens, text): what a text costs, in bits per character."""

import math
import unicodedata

import torch

from course_lib.checks.engine import Case, Exercise


def cases(generator: torch.Generator) -> list[Case]:
    letters = "aeinrst é €ß\n😀你"

    def draw(length: int) -> str:
        chosen = torch.randint(len(letters), (length,), generator=generator).tolist()
        return "".join(letters[i] for i in chosen) + "où ça"

    def nats() -> float:
        return 1 + 5 * torch.rand((), generator=generator).item()

    inputs = [
        ("a word of five characters", 2.0, 3, "naïve"),
        ("one bit per character", 2 * math.log(2), 5, "où, là-bas"),
        ("a model that knows nothing about the 256 bytes", math.log(256), 12, "ça va, 你?"),
        ("a character of four bytes", 4.0, 2, "😀"),
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

LN_2 = "One bit is ln 2 = 0.69 nats. Is a cost a larger number in bits, or a smaller one?"
BITS_A_CHARACTER.edit("these are nats per character", LN_2, ("total / math.log(2)", "total"))
BITS_A_CHARACTER.edit("the nats are multiplied by ln 2, not divided by it", LN_2, ("total /", "total *"))
for rounded in ("0.693", "0.69"):
    BITS_A_CHARACTER.edit(
        "ln 2 is rounded", "Let Python compute it, with math.log(2) or np.log(2).", ("math.log(2)", rounded)
    )
BITS_A_CHARACTER.edit(
    "these are bits per token",
    "A token may be a letter or a word, so bits per token can't compare vocabularies. How many characters share the bits?",
    ("nats * tokens", "nats"),
    ("bits / len(text)", "bits"),
)
BITS_A_CHARACTER.edit(
    "the mean is used as if it were the sum",
    "`nats` is a mean over the tokens. How many nats does the whole text cost?",
    ("nats * tokens", "nats"),
)
BITS_A_CHARACTER.edit(
    "tokens and characters are swapped",
    "If each token had ten characters, would a character cost more than a token, or less?",
    ("nats * tokens", "nats * len(text)"),
    ("bits / len(text)", "bits / tokens"),
)
BITS_A_CHARACTER.edit(
    "the mean is divided by the tokens again",
    "`nats` is already a mean over the tokens. What does the whole text cost, and how many characters share that?",
    ("nats * tokens", "nats"),
    ("len(text)", "tokens"),
)
BITS_A_CHARACTER.edit(
    "the bits are multiplied by the characters, not divided by them",
    "In Python, a / b * c is (a / b) · c. Everything below the fraction line belongs in brackets.",
    ("bits /", "bits *"),
)
BITS_A_CHARACTER.edit(
    "the result is rounded down to a whole number",
    "`//` and `int` drop everything after the decimal point.",
    ("bits /", "bits //"),
)
BITS_A_CHARACTER.edit(
    "one character is left out",
    "`text` is exactly what the predicted tokens spell, so each of its characters counts.",
    ("len(text)", "(len(text) - 1)"),
)
BITS_A_CHARACTER.edit(
    "one token is left out",
    "`tokens` is the number of tokens that were predicted. A first token that was only read is already left out.",
    ("nats * tokens", "nats * (tokens - 1)"),
)


@BITS_A_CHARACTER.misconception(
    "the text is normalised first",
    "Count the characters of the text as it is. An accent may be a character of its own.",
)
def normalised(nats, tokens, text):
    return right(nats, tokens, unicodedata.normalize("NFC", text))


BITS_A_CHARACTER.edit(
    "these are the bits of the whole text",
    "Bits *per character* are wanted. How many characters share the bits?",
    ("bits / len(text)", "bits"),
)
BITS_A_CHARACTER.edit(
    "these are bits per byte",
    "é is one character and two bytes. `text.encode()` gives bytes. What does `text` itself consist of?",
    ("len(text)", "len(text.encode())"),
)
BITS_A_CHARACTER.edit(
    "spaces are not counted",
    "A model has to predict spaces and new lines, too. They are characters like any other.",
    ("len(text)", 'len("".join(text.split()))'),
)
BITS_A_CHARACTER.edit(
    "these are bits per word",
    "Bits per *character* are wanted. What does `len(text)` count?",
    ("len(text)", "len(text.split())"),
)
BITS_A_CHARACTER.edit(
    "the logarithm is to base 10",
    "A bit belongs to base 2. Which base does your logarithm have?",
    ("math.log(2)", "math.log(10)"),
)
BITS_A_CHARACTER.edit(
    "it takes the logarithm of the nats",
    "Nats are logarithms already. A change of base needs a factor, not another logarithm.",
    ("nats * tokens", "(math.log2(nats) if nats else -math.inf) * tokens"),
    ("total / math.log(2)", "total"),
)
BITS_A_CHARACTER.edit(
    "this is the perplexity",
    "The perplexity is the exponential of the nats per token. Bits need no exponential.",
    ("bits / len(text)", "math.exp(nats)"),
)
