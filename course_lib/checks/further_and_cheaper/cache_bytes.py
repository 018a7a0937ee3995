"""`cache_bytes(words, layers, heads, sets, model_size, bits)`: how large the keys and values of a text are."""

import torch

from course_lib.checks.engine import Case, Exercise


def cache_cases(generator: torch.Generator) -> list[Case]:
    def some(low: int, high: int) -> int:
        return int(torch.randint(low, high, (), generator=generator))

    inputs = [
        ("a small model", 3, 2, 6, 3, 24, 16),
        ("three words of a model without sharing", 3, 5, 4, 4, 20, 32),
        ("one set for all heads", 70, 3, 8, 1, 40, 16),  # so many that in thousands of millions they are no 0
        ("one byte a number", 50, 2, 6, 2, 30, 8),
        ("half a byte a number", 6, 3, 12, 4, 36, 4),
        ("half a byte a number, and an odd count of them in the keys", 5, 3, 4, 1, 12, 4),
        ("one word", 1, 2, 4, 2, 12, 16),
        ("no word yet", 0, 2, 4, 2, 12, 16),
        ("any model", some(5, 60), some(3, 20), 10, 5, 10 * some(3, 9), 8),
        ("any other model", some(60, 900), some(20, 40), 12, some(1, 3) * 2, 12 * some(11, 40), 32),
        ("a large model", 2048, 96, 96, 8, 12288, 16),
    ]
    names = "words", "layers", "heads", "sets", "model_size", "bits"
    return [Case(about, dict(zip(names, given, strict=True))) for about, *given in inputs]


def cache_bytes(words, layers, heads, sets, model_size, bits):
    of_a_key = model_size / heads
    numbers = 2 * words * layers * sets * of_a_key
    return numbers * bits / 8


CACHE_BYTES = Exercise(
    "cache_bytes",
    "further_and_cheaper",
    cache_cases,
    cache_bytes,
    'lesson 9, "Less to keep"; glossary.show("grouped-query attention")',
    tolerance=1e-6,
)

CACHE_BYTES.edit(
    "only the keys are counted, or only the values", "Of every word a set keeps two vectors. Which?", ("2 * ", "")
)
CACHE_BYTES.edit(
    "queries are counted, too",
    "A query is needed once, when its word comes. Keys and values are kept.",
    ("2 * ", "3 * "),
)
CACHE_BYTES.edit(
    "every head has keys and values of its own",
    "Heads that share a set keep one key and one value together. How many keys has a word in a layer? And how long is "
    "one: by what is model_size divided?",
    ("* sets", "* heads"),
)
CACHE_BYTES.edit(
    "every head has keys and values of its own, and only one of both is counted",
    "How many keys has a word in a layer, if heads share sets? And what is kept beside the keys?",
    ("2 * ", ""),
    ("* sets", "* heads"),
)
CACHE_BYTES.edit(
    "a set has as many numbers as the whole model",
    "model_size is cut into heads, and a key has the numbers of one head. How many are these?",
    (" / heads", ""),
)
CACHE_BYTES.edit(
    "the model size is divided by the sets",
    "Sharing does not make a key longer: its size is that of a head, d / heads.",
    ("* sets", "* heads"),
    ("/ heads", "/ sets"),
)
CACHE_BYTES.edit(
    "the number of sets is taken for the heads of a set",
    "sets says how many keys a word has in a layer. It multiplies; it does not divide.",
    (" * sets", ""),
    ("/ heads", "/ sets"),
)
CACHE_BYTES.edit(
    "the sets are not counted",
    "That is the cache of one set. Every set keeps keys and values of its own.",
    (" * sets", ""),
)
CACHE_BYTES.edit(
    "bytes are rounded down before all are counted",
    "Where a number has half a byte, an odd count of them leaves a rest. Divide last.",
    ("/ heads", "// heads"),
    ("2 * ", ""),
    ("bits / 8", "bits // 8 * 2"),
)
CACHE_BYTES.edit("bits are counted, not bytes", "A byte has eight bits.", (" / 8", ""))
CACHE_BYTES.edit(
    "numbers are counted, not bytes", "How many bytes does a number of so many bits take?", (" * bits / 8", "")
)
ITS_BITS = "How many bytes a number takes, the argument bits says."
CACHE_BYTES.edit("every number has four bytes", ITS_BITS, ("bits / 8", "4"))
CACHE_BYTES.edit("every number has two bytes", ITS_BITS, ("bits / 8", "2"))
CACHE_BYTES.edit(
    "8 is divided by the bits",
    "A number of 16 bits takes two bytes. Which is divided by which?",
    ("bits / 8", "8 / bits"),
)
CACHE_BYTES.edit(
    "the sets of a head are rounded to a whole number",
    "Fewer sets than heads: sets // heads is 0. What do heads divide?",
    (" / heads", ""),
    ("* sets", "* (sets // heads)"),
)
HALF = "With 4 bits, two numbers share a byte. Multiply first, divide then."
for of_a_number in ("(bits // 8)", "max(1, bits // 8)"):
    CACHE_BYTES.edit("half a byte is rounded", HALF, ("/ heads", "// heads"), ("bits / 8", of_a_number))
for of_a_key in ("model_size // heads * bits // 8", "-(-model_size // heads * bits // 8)"):
    CACHE_BYTES.edit("half a byte is rounded", HALF, ("model_size / heads", of_a_key), (" * bits / 8", ""))
CACHE_BYTES.edit("the layers are not counted", "Every layer has keys and values of its own.", (" * layers", ""))
CACHE_BYTES.edit(
    "one word alone is counted", "The cache has the keys and values of all words read so far.", (" * words", "")
)
CACHE_BYTES.edit(
    "it grows with the square of the words",
    "Scores are between pairs of words; keys are of single words.",
    (" * words", " * words**2"),
)
for size in (2**10, 2**20, 2**30, 10**3, 10**6, 10**9):
    CACHE_BYTES.edit(
        "it is not in bytes, but in thousands, millions or more of them",
        "Bytes are wanted.",
        ("bits / 8", f"bits / 8 / {size}"),
    )
