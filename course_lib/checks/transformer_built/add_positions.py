"""add_positions(x, start): adds to each word vector the sines and cosines of its position; the first position is start."""

import torch

from course_lib.checks.engine import Case, Exercise


def cases(generator: torch.Generator) -> list[Case]:
    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator)

    def some(low: int, high: int) -> int:
        return int(torch.randint(low, high, (), generator=generator))

    inputs = [
        ("two vectors of zeros, so that only the codes are left", torch.zeros(1, 2, 4), 0),
        ("two sentences of three words", draw(2, 3, 4), 0),
        ("as many sentences as words", draw(4, 4, 6), 0),
        ("as many words as numbers in a vector", draw(3, 8, 8), 0),
        ("one word, after some that are already written", draw(2, 1, 6), some(2, 9)),
        ("one word after many others", draw(1, 1, 4), some(60, 90)),
        ("one sentence", draw(1, 5, 8), 0),
        ("more sentences than words", draw(7, 2, 10), some(1, 9)),
        ("a single clock", draw(2, 4, 2), some(1, 9)),
        ("a long sentence", draw(2, some(30, 40), 16), 0),
        ("float64", draw(2, 3, 6).double(), some(1, 9)),
        ("vectors that are not contiguous in memory", draw(6, 3, 2).permute(2, 1, 0), 0),
    ]
    return [Case(about, {"x": x, "start": start}) for about, x, start in inputs]


def right(x, start):
    d = x.shape[2]
    positions = torch.arange(start, start + x.shape[1], dtype=torch.float64)
    clocks = torch.arange(d // 2, dtype=torch.float64)
    exponents = 2 * clocks / d
    angles = positions[:, None] / 10000**exponents
    code = torch.stack([angles.sin(), angles.cos()], -1).flatten(1)
    return x + code.to(x.dtype)


ADD_POSITIONS = Exercise(
    "add_positions",
    "transformer_built",
    cases,
    right,
    'lesson 5, "By hand: codes of four numbers"; glossary.show("positional encoding")',
    tolerance=1e-4,
    banned=("course_lib.positions",),
)

PAIRS = "torch.stack([angles.sin(), angles.cos()], -1).flatten(1)"

ADD_POSITIONS.edit(
    "the code runs along the batch axis",
    "All words of a sentence get the same code. Which axis of x counts the words?",
    ("x.shape[1]", "x.shape[0]"),
    ("code.to(x.dtype)", "code.to(x.dtype)[:, None]"),
)
ADD_POSITIONS.edit(
    "the table has one row per sentence",
    "Each row should belong to a word. Which entry of x.shape is the number of words?",
    ("x.shape[1]", "x.shape[0]"),
)
ADD_POSITIONS.edit(
    "all sines come first, then all cosines",
    "The two numbers of a clock are next to each other. Compare your row for position 1 with the row in the text.",
    (PAIRS, "torch.cat([angles.sin(), angles.cos()], -1)"),
)
ADD_POSITIONS.edit(
    "the cosine comes before the sine",
    "In each pair, the sine comes first: the code of position 0 begins with sin 0.",
    ("angles.sin(), angles.cos()", "angles.cos(), angles.sin()"),
)
ADD_POSITIONS.edit(
    "the exponent is i/d, not 2i/d",
    "In the formula, i counts the clocks, and there are d/2 of them. What is the exponent of the last clock?",
    ("2 * clocks", "clocks"),
)
ADD_POSITIONS.edit(
    "the exponent is doubled twice",
    "If your i runs through 0, 2, 4, …, it already is the formula's 2i. What is the exponent of the second clock for d = 4?",
    ("2 * clocks", "4 * clocks"),
)

EACH_COLUMN = (("d // 2", "d"), (PAIRS, "torch.where(clocks % 2 == 0, angles.sin(), angles.cos())"))
ADD_POSITIONS.edit(
    "the sine and the cosine of a pair have different speeds",
    "The two numbers of a pair describe one hand, so they have the same angle and the same i.",
    *EACH_COLUMN,
    ("2 * clocks", "clocks"),
)
ADD_POSITIONS.edit(
    "the exponent counts columns, not clocks",
    "In the formula, i is the number of the pair: columns 0 and 1 are clock 0, columns 2 and 3 are clock 1.",
    *EACH_COLUMN,
)
ADD_POSITIONS.edit(
    "the speeds grow from clock to clock",
    "The first clock is the fastest. To get the angle, is p divided by the power or multiplied by it?",
    ("positions[:, None] / 10000", "positions[:, None] * 10000"),
)
# If there is only one clock, the first gives 0, the second an error and the third NaN.
for exponents in ("clocks / max(d / 2 - 1, 1)", "clocks * (1 / (d / 2 - 1))", "clocks / (d / 2 - 1)"):
    ADD_POSITIONS.edit(
        "the exponent of the last clock is 1",
        "The exponents start at 0 and grow in steps of 2/d, and the last one stays below 1. What is it for d = 4?",
        ("2 * clocks / d", exponents),
    )
for exponents in ("2 * clocks // d", "-(-2 * clocks // d)"):
    ADD_POSITIONS.edit(
        "the exponent is rounded to a whole number",
        "All exponents after the first are between 0 and 1. Do you divide with //, or turn them into whole numbers?",
        ("2 * clocks / d", exponents),
    )
ADD_POSITIONS.edit("the base is 1000", "Count the zeros of the base.", ("10000", "1000"))
ADD_POSITIONS.edit(
    "start is not used",
    "The first vector of x has position start. Which position does the next vector have?",
    ("start, start + x.shape[1]", "x.shape[1]"),
)
ADD_POSITIONS.edit(
    "positions are counted from 1",
    "The first word of a sentence has position 0. What are sin 0 and cos 0?",
    ("start, start + x.shape[1]", "start + 1, start + 1 + x.shape[1]"),
)
ADD_POSITIONS.edit(
    "the code replaces the vector",
    "Without x, the model would know where a word is, but not which word it is.",
    ("x + code", "torch.zeros_like(x) + code"),
)
ADD_POSITIONS.edit(
    "x is multiplied by √d",
    "The embedding has already done that. This function only adds the code.",
    ("x + code", "x * d**0.5 + code"),
)
