"""`cache_bytes(words, layers, heads, sets, model_size, bits)`: how many bytes the keys and values of a text take."""

import torch

from course_lib.checks.engine import Case, Exercise


def cache_cases(generator: torch.Generator) -> list[Case]:
    def some(low: int, high: int) -> int:
        return int(torch.randint(low, high, (), generator=generator))

    inputs = [
        ("a small model", 3, 2, 6, 3, 24, 16),
        ("three words of a model without sharing", 3, 5, 4, 4, 20, 32),
        (
            "one set for all heads",
            70,
            3,
            8,
            1,
            40,
            16,
        ),  # enough words that even in thousands of millions of bytes it isn't rounded to 0
        ("one byte per number", 50, 2, 6, 2, 30, 8),
        ("half a byte per number", 6, 3, 12, 4, 36, 4),
        ("half a byte per number, and an odd count of numbers in the keys", 5, 3, 4, 1, 12, 4),
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
    "only the keys are counted, or only the values", "A set keeps two vectors of every word. Which?", ("2 * ", "")
)
CACHE_BYTES.edit(
    "queries are counted, too",
    "A query is only needed when its word comes. Keys and values are kept.",
    ("2 * ", "3 * "),
)
CACHE_BYTES.edit(
    "keys and values are counted for every head, not for every set",
    "Heads that share a set share one key and one value. How many keys does a word have in a layer, and how long is one key?",
    ("* sets", "* heads"),
)
CACHE_BYTES.edit(
    "only one vector is counted, and for every head, not for every set",
    "How many keys does a word have in a layer if heads share sets? And what is kept besides the keys?",
    ("2 * ", ""),
    ("* sets", "* heads"),
)
CACHE_BYTES.edit(
    "a key has as many numbers as the whole vector",
    "The heads share the model_size numbers, and a key has the numbers of one head. How many are these?",
    (" / heads", ""),
)
CACHE_BYTES.edit(
    "the model size is divided by the sets",
    "Sharing doesn't make a key longer. It has as many numbers as one head. And how many keys does a word have in a layer?",
    ("* sets", "* heads"),
    ("/ heads", "/ sets"),
)
CACHE_BYTES.edit(
    "sets is read as the number of heads in a set",
    "`sets` is the number of sets in a layer. With more sets, does the cache get larger or smaller?",
    (" * sets", ""),
    ("/ heads", "/ sets"),
)
CACHE_BYTES.edit(
    "the sets are not counted",
    "This is the cache of one set. Every set keeps keys and values of its own.",
    (" * sets", ""),
)
CACHE_BYTES.edit(
    "bytes are rounded down before everything is counted",
    "If a number takes half a byte, an odd count of numbers leaves half a byte over. When do you divide?",
    ("/ heads", "// heads"),
    ("2 * ", ""),
    ("bits / 8", "bits // 8 * 2"),
)
CACHE_BYTES.edit("bits are counted, not bytes", "A byte has eight bits.", (" / 8", ""))
CACHE_BYTES.edit(
    "numbers are counted, not bytes", "How many bytes does a number of that many bits take?", (" * bits / 8", "")
)
ITS_BITS = "The argument `bits` tells you how many bytes a number takes."
CACHE_BYTES.edit("every number takes four bytes", ITS_BITS, ("bits / 8", "4"))
CACHE_BYTES.edit("every number takes two bytes", ITS_BITS, ("bits / 8", "2"))
CACHE_BYTES.edit(
    "8 is divided by the bits",
    "A number of 16 bits takes two bytes. Which is divided by which?",
    ("bits / 8", "8 / bits"),
)
CACHE_BYTES.edit(
    "sets / heads is rounded to a whole number",
    "If there are fewer sets than heads, sets // heads is 0. What should you divide by the heads?",
    (" / heads", ""),
    ("* sets", "* (sets // heads)"),
)
HALF = "With 4 bits, two numbers share a byte. Where does your function round?"
for of_a_number in ("(bits // 8)", "max(1, bits // 8)"):
    CACHE_BYTES.edit("half a byte is rounded", HALF, ("/ heads", "// heads"), ("bits / 8", of_a_number))
for of_a_key in ("model_size // heads * bits // 8", "-(-model_size // heads * bits // 8)"):
    CACHE_BYTES.edit("half a byte is rounded", HALF, ("model_size / heads", of_a_key), (" * bits / 8", ""))
CACHE_BYTES.edit("the layers are not counted", "Every layer has keys and values of its own.", (" * layers", ""))
CACHE_BYTES.edit(
    "only one word is counted", "The cache keeps the keys and values of all words read so far.", (" * words", "")
)
CACHE_BYTES.edit(
    "the result grows with the square of the number of words",
    "Scores belong to pairs of words. Keys and values belong to single words.",
    (" * words", " * words**2"),
)
for size in (2**10, 2**20, 2**30, 10**3, 10**6, 10**9):
    CACHE_BYTES.edit(
        "the result is in a larger unit than bytes",
        "Return the number of bytes itself.",
        ("bits / 8", f"bits / 8 / {size}"),
    )
