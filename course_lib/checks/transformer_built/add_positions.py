"""add_positions(x, start): word vectors with the sines and cosines of their positions added, the first one at start."""

import torch

from course_lib.checks.engine import Case, Exercise


def cases(generator: torch.Generator) -> list[Case]:
    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator)

    def some(low: int, high: int) -> int:
        return int(torch.randint(low, high, (), generator=generator))

    inputs = [
        ("two words of zeros, so that the code alone is seen", torch.zeros(1, 2, 4), 0),
        ("two sentences of three words", draw(2, 3, 4), 0),
        ("as many sentences as words", draw(4, 4, 6), 0),
        ("as many words as numbers in a vector", draw(3, 8, 8), 0),
        ("one word, after some that are written already", draw(2, 1, 6), some(2, 9)),
        ("one word behind many", draw(1, 1, 4), some(60, 90)),
        ("one sentence", draw(1, 5, 8), 0),
        ("more sentences than words", draw(7, 2, 10), some(1, 9)),
        ("one clock", draw(2, 4, 2), some(1, 9)),
        ("a long sentence", draw(2, some(30, 40), 16), 0),
        ("float64", draw(2, 3, 6).double(), some(1, 9)),
        ("vectors that do not lie in order in memory", draw(6, 3, 2).permute(2, 1, 0), 0),
    ]
    return [Case(about, {"x": x, "start": start}) for about, x, start in inputs]


def right(x, start):
    d = x.shape[2]
    places = torch.arange(start, start + x.shape[1], dtype=torch.float64)
    clocks = torch.arange(d // 2, dtype=torch.float64)
    exponents = 2 * clocks / d
    angles = places[:, None] / 10000**exponents
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
    "Every word of a sentence has got the same code. Which axis of x counts the words?",
    ("x.shape[1]", "x.shape[0]"),
    ("code.to(x.dtype)", "code.to(x.dtype)[:, None]"),
)
ADD_POSITIONS.edit(
    "the table has a row for each sentence",
    "A row belongs to a word. Which number of x.shape says how many words there are?",
    ("x.shape[1]", "x.shape[0]"),
)
ADD_POSITIONS.edit(
    "all sines stand first, then all cosines",
    "The two numbers of a clock stand side by side. Write your row of position 1 beside the text's.",
    (PAIRS, "torch.cat([angles.sin(), angles.cos()], -1)"),
)
ADD_POSITIONS.edit(
    "the cosine stands before the sine",
    "In each pair the sine comes first: position 0 begins with sin 0.",
    ("angles.sin(), angles.cos()", "angles.cos(), angles.sin()"),
)
ADD_POSITIONS.edit(
    "the exponent is i/d, not 2i/d",
    "In the formula i counts the clocks, of which there are d/2. What is the exponent of the last one?",
    ("2 * clocks", "clocks"),
)
ADD_POSITIONS.edit(
    "the exponent is doubled twice",
    "If your i goes 0, 2, 4, … it is the formula's 2i already. What is the second clock's exponent for d = 4?",
    ("2 * clocks", "4 * clocks"),
)

EACH_COLUMN = (("d // 2", "d"), (PAIRS, "torch.where(clocks % 2 == 0, angles.sin(), angles.cos())"))
ADD_POSITIONS.edit(
    "sine and cosine of a pair have different speeds",
    "The two numbers of a pair are one hand: they have the same angle, and so the same i.",
    *EACH_COLUMN,
    ("2 * clocks", "clocks"),
)
ADD_POSITIONS.edit(
    "the exponent counts columns, not clocks",
    "In the formula i is the number of the pair: columns 0 and 1 are clock 0, columns 2 and 3 clock 1.",
    *EACH_COLUMN,
)
ADD_POSITIONS.edit(
    "the speeds grow from clock to clock",
    "The first clock is the fastest. Is the angle p divided by the power, or multiplied by it?",
    ("places[:, None] / 10000", "places[:, None] * 10000"),
)
# For one clock alone the first gives 0, the second an error, the third NaN.
for exponents in ("clocks / max(d / 2 - 1, 1)", "clocks * (1 / (d / 2 - 1))", "clocks / (d / 2 - 1)"):
    ADD_POSITIONS.edit(
        "the exponent of the last clock is 1",
        "Between 0 and 1 lie d/2 steps of 2/d, so the last exponent is less than 1. What is it for d = 4?",
        ("2 * clocks / d", exponents),
    )
for exponents in ("2 * clocks // d", "-(-2 * clocks // d)"):
    ADD_POSITIONS.edit(
        "the exponent is rounded to a whole number",
        "// drops what stands behind the point, and all exponents lie between 0 and 1.",
        ("2 * clocks / d", exponents),
    )
ADD_POSITIONS.edit("the base is 1000", "Count the zeros of the base.", ("10000", "1000"))
ADD_POSITIONS.edit(
    "start is not used",
    "The first vector of x stands at position start. Which position has the one after it?",
    ("start, start + x.shape[1]", "x.shape[1]"),
)
ADD_POSITIONS.edit(
    "positions are counted from 1",
    "The first word of a sentence stands at position 0. What are sin 0 and cos 0?",
    ("start, start + x.shape[1]", "start + 1, start + 1 + x.shape[1]"),
)
ADD_POSITIONS.edit(
    "the code takes the vector's place",
    "Without x the model would know where a word stands, and not which word it is.",
    ("x + code", "torch.zeros_like(x) + code"),
)
ADD_POSITIONS.edit(
    "x is multiplied by √d",
    "That is done in the embedding, before x comes here. Here the code is added, and that is all.",
    ("x + code", "x * d**0.5 + code"),
)
