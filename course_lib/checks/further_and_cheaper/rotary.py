"""`rotary(x, start)`: the vectors of each head, turned by the places of their words."""

import torch

from course_lib.checks.engine import Case, Exercise
from course_lib.checks.further_and_cheaper.hints_on_turning import AS_TWO, MINUS, NEW_ONES


def rotary_cases(generator: torch.Generator) -> list[Case]:
    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator)

    def some(low: int, high: int) -> int:
        return int(torch.randint(low, high, (), generator=generator))

    east = torch.tensor([[[1.0, 0.0, 1.0, 0.0]] * 2])  # every pair points the same way, so the angles can be read off
    inputs = [
        ("two words whose pairs are all (1, 0)", east, 0),
        ("two heads, three words", draw(2, 3, 4), 0),
        ("as many heads as words", draw(3, 3, 6), 0),
        ("as many words as numbers in a vector", draw(2, 8, 8), 0),
        ("as many words as pairs", draw(2, 4, 8), some(2, 9)),
        ("one word, after some that were read before", draw(2, 1, 6), some(2, 9)),
        ("one word behind many", draw(1, 1, 4), some(60, 90)),
        ("one head", draw(1, 5, 8), 0),
        ("more heads than words", draw(7, 2, 10), some(2, 9)),
        ("a single pair", draw(3, 4, 2), some(2, 9)),
        ("a long text", draw(2, some(30, 40), 16), 0),
        ("float64", draw(2, 3, 6).double(), some(2, 9)),
        ("vectors that do not lie in order in memory", draw(6, 3, 2).permute(2, 1, 0), some(2, 9)),
    ]
    return [Case(about, {"x": x, "start": start}) for about, x, start in inputs]


def rotary(x, start):
    n, d = x.shape[1:]
    place = torch.arange(start, start + n, dtype=torch.float64)
    i = torch.arange(d // 2, dtype=torch.float64)
    exponent = -2 * i / d
    angles = torch.outer(place, 10000.0**exponent)
    c, s = angles.cos(), angles.sin()
    wide = x.double()
    a, b = wide[..., ::2], wide[..., 1::2]
    new_a = a * c - b * s
    new_b = a * s + b * c
    return torch.stack([new_a, new_b], -1).flatten(-2).to(x.dtype)


ROTARY = Exercise(
    "rotary",
    "further_and_cheaper",
    rotary_cases,
    rotary,
    'lesson 9, "Further"; glossary.show("rotary positions")',
    tolerance=1e-4,
    banned=("course_lib.positions",),
)

IN_HALVES = "wide[..., ::2], wide[..., 1::2]", "wide.chunk(2, -1)"
ONE_BEHIND_THE_OTHER = "torch.stack([new_a, new_b], -1).flatten(-2)", "torch.cat([new_a, new_b], -1)"
ROTARY.edit(
    "the numbers are paired across two halves",
    "Some libraries take number i with number i + d/2. Here a pair is two neighbours: 0 and 1, 2 and 3, …",
    IN_HALVES,
    ONE_BEHIND_THE_OTHER,
)
BACK = "The turned numbers must go back to where they came from: x_0, y_0, x_1, y_1, …"
ROTARY.edit("all first numbers stand first, then all second ones", BACK, ONE_BEHIND_THE_OTHER)
ROTARY.edit("the halves are turned as pairs, and put together as neighbours", BACK, IN_HALVES)


def by_columns(x, start, exponents, swapped):
    """x · cos + swapped · sin, with an exponent for each column."""
    place = torch.arange(start, start + x.shape[1], dtype=torch.float64)
    angles = torch.outer(place, 10000.0**exponents)
    return (x * angles.cos() + swapped * angles.sin()).to(x.dtype)


def exponents_of_pairs(x):
    return -torch.arange(0, x.shape[2], 2, dtype=torch.float64) / x.shape[2]


def exponents_of_columns(x):
    return -torch.arange(x.shape[2], dtype=torch.float64) / x.shape[2]


def neighbours_swapped(x):
    return torch.stack([-x[..., 1::2], x[..., ::2]], -1).flatten(-2)


def halves_swapped(x):
    first, second = x.chunk(2, -1)
    return torch.cat([-second, first], -1)


TWO_WAYS = (
    "Angles and numbers are paired in two different ways: write down which angle each of four numbers gets. "
    "`repeat_interleave` goes with neighbours, `cat` with halves."
)
ROTARY.misconception("the two numbers of a pair get different angles", TWO_WAYS)(
    lambda x, start: by_columns(x, start, exponents_of_pairs(x).repeat(2), neighbours_swapped(x))
)
ROTARY.misconception("the two numbers of a pair get different angles", TWO_WAYS)(
    lambda x, start: by_columns(x, start, exponents_of_pairs(x).repeat_interleave(2), halves_swapped(x))
)
ROTARY.misconception(
    "each number has a speed of its own", "The two numbers of a pair are one hand: they have the same i, and one angle."
)(lambda x, start: by_columns(x, start, exponents_of_columns(x), neighbours_swapped(x)))
ROTARY.misconception(
    "each number has a speed of its own",
    "The i of the formula counts pairs: numbers 0 and 1 have i = 0, 2 and 3 have 1.",
)(lambda x, start: by_columns(x, start, 2 * exponents_of_columns(x), neighbours_swapped(x)))

ROTARY.edit(
    "it turns the other way",
    "Word 1 goes from (1, 0) to (cos 1, sin 1), as `turned` does. The score would be the same; others' keys would not fit.",
    ("angles.sin()", "-angles.sin()"),
)
ROTARY.edit(
    "sine and cosine have changed places",
    "Word 0 is not turned at all: what are cos 0 and sin 0?",
    ("c, s =", "s, c ="),
)
ROTARY.edit("the second number is made of the new first one", NEW_ONES, ("= a * s", "= new_a * s"))
ROTARY.edit("no minus sign is there", MINUS, ("a * c - b * s", "a * c + b * s"))
ROTARY.edit(
    "the minus sign stands before another product",
    MINUS,
    ("a * c - b * s", "a * c + b * s"),
    ("a * s + b * c", "a * s - b * c"),
)
ROTARY.edit(
    "the two numbers of each pair have changed places",
    "The new first number stands first.",
    ("[new_a, new_b]", "[new_b, new_a]"),
)
ROTARY.edit(
    "only the first number of each pair is turned",
    "Turning changes both. Is one of them written back as it came?",
    ("a * s + b * c", "b"),
)
ROTARY.misconception(
    "only the first pair is turned",
    "Every pair turns, each at its own speed. Print the speeds: if those of the other pairs are 0 or nearly 0, is the "
    "exponent −2i/d, with its d, and is it rounded to a whole number? Or does a loop end after the first pair?",
)(lambda x, start: torch.cat([rotary(x, start)[..., :2], x[..., 2:]], -1))
ROTARY.edit(
    "the places run along the axis of the heads",
    "All heads of a word are turned alike. Which axis of x counts the words?",
    ("start + n", "start + len(x)"),
    ("10000.0**exponent)", "10000.0**exponent)[:, None]"),
)
ROTARY.edit(
    "there are as many places as heads",
    "A place belongs to a word. Which number of x.shape says how many there are?",
    ("start + n", "start + len(x)"),
)
ROTARY.edit(
    "start is not used",
    "The first vector of x stands at place start. At which one does the vector after it stand?",
    ("start, start + n", "0, n"),
)
ROTARY.edit(
    "places are counted from 1",
    "The first word of a text stands at place 0, and is not turned: the angle is 0.",
    ("start, start + n", "start + 1, start + n + 1"),
)
ROTARY.edit(
    "all words are turned alike",
    "Each word has an angle of its own: start, start + 1, start + 2, …",
    ("torch.arange(start, start + n", "torch.full((n,), start"),
)
BY_N = "A pair turns by its speed times the place of the word; i says which pair it is, and so how fast it turns."
ROTARY.edit(
    "the number of the pair is taken for the place",
    BY_N,
    ("torch.outer(place, 10000.0**exponent)", "(i * 10000.0**exponent).expand(n, -1)"),
)
ROTARY.edit(
    "the number of the pair is taken for the place",
    BY_N,
    ("-2 * i / d", "-2 * place / d"),
    ("torch.outer(place, 10000.0**exponent)", "torch.outer(10000.0**exponent, i)"),
)
ROTARY.edit(
    "the exponent is i/d, not 2i/d",
    "i counts the pairs, of which there are d/2. What is the speed of the last one?",
    ("-2 * i / d", "-i / d"),
)
ROTARY.edit(
    "the exponent is not divided by d",
    "Write out the exponents for d = 4 as numbers: they are 0 and −1/2.",
    ("-2 * i / d", "-i"),
)
ROTARY.edit(
    "the exponent is doubled twice",
    "If your i goes 0, 2, 4, … it is the formula's 2i already. Or is your d the number of pairs?",
    ("-2 * i / d", "-4 * i / d"),
)
FASTEST = "The first pair is the fastest. Is the place divided by the power, or multiplied by it?"
ROTARY.edit("the speeds grow from pair to pair", FASTEST, ("-2 * i / d", "2 * i / d"))
for product in ("place * 10000.0**exponent", "place / 10000.0**-exponent"):  # rounded to float32 in two ways
    ROTARY.edit(
        "the speeds grow from pair to pair",
        FASTEST,
        ("-2 * i / d", "(2 * i / d).float()"),
        ("torch.outer(place, 10000.0**exponent)", product.replace("place", "place.float()[:, None]")),
    )
ROTARY.edit(
    "all pairs turn at the same speed",
    "Pair i turns by the place times 10000^(−2i/d). Where is the i? Or has // made its exponent 0?",
    ("-2 * i / d", "0 * i"),
)
ROTARY.edit(
    "pairs are counted from 1",
    "For the first pair i is 0, and its speed is 1: one radian a word.",
    ("torch.arange(d // 2", "torch.arange(1, d // 2 + 1"),
)
for up_to_1 in (  # which differ in a pair that is alone
    "-torch.linspace(0, 1, d // 2, dtype=torch.float64)",
    "-torch.tensor([pair / (d / 2 - 1) for pair in range(d // 2)], dtype=torch.float64)",
    "-i / (d / 2 - 1)",
):
    ROTARY.edit(
        "the exponent of the last pair is 1",
        "Between 0 and 1 lie d/2 steps of 2/d, so the last exponent is less than 1. What is it for d = 4?",
        ("-2 * i / d", up_to_1),
    )
ROTARY.edit(
    "the exponent is rounded to a whole number",
    "// drops what stands behind the point, and all exponents lie between 0 and 1.",
    ("-2 * i / d", "-2 * i // d"),
)
ROTARY.edit("the base is 1000", "Count the zeros of the base.", ("10000.0", "1000.0"))
ROTARY.edit(
    "the angle is taken for degrees",
    "The angle is in radians already: word 1 turns its first pair by 1.",
    ("10000.0**exponent)", "10000.0**exponent).deg2rad()"),
)
for first, second in ("sc", "cs"):
    ROTARY.edit(
        "the sinusoidal code is added",
        "Nothing is added here: a pair is turned, and its length stays.",
        ("a * c - b * s", f"a + {first}"),
        ("a * s + b * c", f"b + {second}"),
    )
    ROTARY.edit(
        "the vector is multiplied by the code, number by number",
        "In a turn, something of each number goes into the other one of its pair. Use `turned`.",
        ("a * c - b * s", f"a * {first}"),
        ("a * s + b * c", f"b * {second}"),
    )
ROTARY.misconception("the result is complex", AS_TWO)(
    lambda x, start: torch.view_as_complex(rotary(x, start).unflatten(-1, (-1, 2)))
)
