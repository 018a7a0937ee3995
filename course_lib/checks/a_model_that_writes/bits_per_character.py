"""`bits_per_character(log_probabilities, pieces)`: what a text costs a model that can't predict its first token."""

import math

import torch

from course_lib.checks.engine import Case, Exercise


def bits_per_character_cases(generator: torch.Generator) -> list[Case]:
    def some(low: int, high: int) -> int:
        return int(torch.randint(low, high, (), generator=generator))

    def logs(count: int) -> torch.Tensor:
        return torch.randn(count, generator=generator).abs().neg() - 0.1

    def pieces(count: int) -> list[str]:
        return ["".join("aeinrst éß你"[some(0, 11)] for _ in range(some(1, 8))) for _ in range(count)]

    chance = torch.tensor
    inputs = [
        ("the three tokens of the text", chance([0.25, 0.5]).log(), ["The", " cat", " ran"]),
        ("two tokens", chance([0.125]).log(), ["Hel", "lo"]),
        ("a long first token", chance([0.5, 0.5, 0.5]).log(), ["Unfortunately", ",", " no", "."]),
        ("a short first token", chance([0.1, 0.9, 0.3]).log(), ["I", " understand", " everything", " here"]),
        ("accents, which take two bytes", chance([0.2, 0.7]).log(), ["où", " était", "-ça"]),
        ("a model that is sure", chance([1.0, 1.0, 1.0]).log(), ["a", "b", "c", "d"]),
        ("tokens of one character", chance([0.3, 0.2, 0.1, 0.6]).log(), list("voilà")),
        ("float64", logs(5).double(), pieces(6)),
        *((f"{count} tokens", logs(count - 1), pieces(count)) for count in (8, 13, 30)),
    ]
    return [Case(about, {"log_probabilities": logs, "pieces": pieces}) for about, logs, pieces in inputs]


def bits_per_character(log_probabilities, pieces):
    nats = -log_probabilities.sum().item()
    bits = nats / math.log(2)
    characters = len("".join(pieces[1:]))
    return bits / characters


BITS_PER_CHARACTER = Exercise(
    "bits_per_character",
    "a_model_that_writes",
    bits_per_character_cases,
    bits_per_character,
    'lesson 12, "How well does it predict?"; glossary.show("bits per character")',
)

BITS, NATS, CHARACTERS = "nats / math.log(2)", "-log_probabilities.sum().item()", 'len("".join(pieces[1:]))'
FIRST = "The model reads the first token and never predicts it. So which characters have a price?"
BITS_PER_CHARACTER.edit("the characters of the first token are counted", FIRST, ("pieces[1:]", "pieces"))
BITS_PER_CHARACTER.edit("the characters of the last token are left out", FIRST, ("pieces[1:]", "pieces[:-1]"))
PRICES = "The first log-probability is that of the *second* token. All of them count."
BITS_PER_CHARACTER.edit(
    "the first log-probability is left out", PRICES, ("log_probabilities.sum", "log_probabilities[1:].sum")
)
BITS_PER_CHARACTER.edit(
    "the last log-probability is left out", PRICES, ("log_probabilities.sum", "log_probabilities[:-1].sum")
)
LN_2 = "A bit is ln 2 = 0.69 nats. Is a price a larger number in bits, or a smaller one?"
BITS_PER_CHARACTER.edit("these are nats per character", LN_2, (BITS, "nats"))
BITS_PER_CHARACTER.edit("the nats are multiplied by ln 2", LN_2, (BITS, "nats * math.log(2)"))
BITS_PER_CHARACTER.edit(
    "the nats are divided by ln 10", "That gives decimal digits. A bit has two values.", (BITS, "nats / math.log(10)")
)
BITS_PER_CHARACTER.edit("the nats are divided by 2", LN_2, (BITS, "nats / 2"))
SIGN = "A logarithm of a probability is at most 0. A price is at least 0."
BITS_PER_CHARACTER.edit("the sign is missing", SIGN, (NATS, "log_probabilities.sum().item()"))
BITS_PER_CHARACTER.edit(
    "the sign is missing, and these are nats",
    f"{SIGN} {LN_2}",
    (NATS, "log_probabilities.sum().item()"),
    (BITS, "nats"),
)
TOKENS = "Models cut a text into different tokens, so a price per token compares nothing. How many characters share the bits?"
BITS_PER_CHARACTER.edit("these are bits per token", TOKENS, (CHARACTERS, "len(log_probabilities)"))
BITS_PER_CHARACTER.edit("these are bits per token, with the first one counted", TOKENS, (CHARACTERS, "len(pieces)"))
BITS_PER_CHARACTER.edit(
    "these are nats per token", f"{TOKENS} {LN_2}", (CHARACTERS, "len(log_probabilities)"), (BITS, "nats")
)
BITS_PER_CHARACTER.edit(
    "the mean price of a token is divided by the characters",
    "All tokens' prices together pay for all characters together. Is it a sum, or a mean?",
    ("log_probabilities.sum", "log_probabilities.mean"),
)
BITS_PER_CHARACTER.edit(
    "each token's bits are divided by its own characters, and then averaged",
    "A token of one character would count as much as one of ten. Take one sum of bits and one sum of characters.",
    (
        "bits / characters",
        "sum(-log / math.log(2) / len(piece) for log, piece in zip(log_probabilities.tolist(), pieces[1:])) / len(pieces[1:])",
    ),
)
BITS_PER_CHARACTER.edit(
    "these are all bits, not divided by anything", "Divide by the number of characters.", (" / characters", "")
)
BITS_PER_CHARACTER.edit(
    "these are characters per bit",
    "Which of the two is divided by the other?",
    ("bits / characters", "characters / bits if bits else math.inf"),
)
BITS_PER_CHARACTER.edit(
    "bytes are counted, not characters",
    "In UTF-8, é takes two bytes, but it is one character. `len` of a text counts characters.",
    ('"".join(pieces[1:])', '"".join(pieces[1:]).encode()'),
)
BITS_PER_CHARACTER.edit(
    "a space is counted between the tokens",
    "A token has its space in it. Join the tokens without anything in between.",
    ('"".join', '" ".join'),
)
BITS_PER_CHARACTER.edit(
    "spaces are not counted", "A space is a character, too.", (CHARACTERS, 'len("".join(pieces[1:]).replace(" ", ""))')
)
BITS_PER_CHARACTER.edit(
    "this is the perplexity",
    "exp gives a number of choices per token. Bits stay in the logarithm.",
    ("bits / characters", "math.exp(nats / len(log_probabilities))"),
)
BITS_PER_CHARACTER.edit(
    "2 is raised to the result",
    "2 to the power of the bits gives a number of choices. Return the bits.",
    ("bits / characters", "2 ** (bits / characters)"),
)
BITS_PER_CHARACTER.edit(
    "the probabilities are summed, not their logarithms",
    "You get logarithms already, and they add up. No exp is needed.",
    (NATS, "log_probabilities.exp().sum().item()"),
)
