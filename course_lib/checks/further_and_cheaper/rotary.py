"""`rotary(x, start)`: the vectors of each head, turned by the positions of their words."""

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
        ("one word after some others", draw(2, 1, 6), some(2, 9)),
        ("one word after many", draw(1, 1, 4), some(60, 90)),
        ("one head", draw(1, 5, 8), 0),
        ("more heads than words", draw(7, 2, 10), some(2, 9)),
        ("a single pair", draw(3, 4, 2), some(2, 9)),
        ("a long text", draw(2, some(30, 40), 16), 0),
        ("float64", draw(2, 3, 6).double(), some(2, 9)),
        ("vectors that are not contiguous in memory", draw(6, 3, 2).permute(2, 1, 0), some(2, 9)),
    ]
    return [Case(about, {"x": x, "start": start}) for about, x, start in inputs]


def rotary(x, start):
    n, d = x.shape[1:]
    position = torch.arange(start, start + n, dtype=torch.float64)
    i = torch.arange(d // 2, dtype=torch.float64)
    exponent = -2 * i / d
    angles = torch.outer(position, 10000.0**exponent)
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
ONE_AFTER_THE_OTHER = "torch.stack([new_a, new_b], -1).flatten(-2)", "torch.cat([new_a, new_b], -1)"
ROTARY.edit(
    "the numbers are paired across two halves",
    "Some libraries pair number i with number i + d/2. Here two neighbours are a pair: 0 and 1, 2 and 3, …",
    IN_HALVES,
    ONE_AFTER_THE_OTHER,
)
BACK = "The turned numbers must go back to where they came from: x_0, y_0, x_1, y_1, …"
ROTARY.edit("all first numbers come first, then all second ones", BACK, ONE_AFTER_THE_OTHER)
ROTARY.edit("numbers across two halves are paired, but put back as neighbours", BACK, IN_HALVES)


def by_columns(x, start, exponents, swapped):
    """x · cos + swapped · sin, with an exponent for each column."""
    position = torch.arange(start, start + x.shape[1], dtype=torch.float64)
    angles = torch.outer(position, 10000.0**exponents)
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


TWO_WAYS = "Your angles and your numbers are paired in two different ways. Which angle does each of four numbers get? `repeat_interleave` goes with neighbours, `cat` with halves."
ROTARY.misconception("the two numbers of a pair get different angles", TWO_WAYS)(
    lambda x, start: by_columns(x, start, exponents_of_pairs(x).repeat(2), neighbours_swapped(x))
)
ROTARY.misconception("the two numbers of a pair get different angles", TWO_WAYS)(
    lambda x, start: by_columns(x, start, exponents_of_pairs(x).repeat_interleave(2), halves_swapped(x))
)
ROTARY.misconception(
    "each number has a speed of its own",
    "The two numbers of a pair are one hand, so they have the same i and the same angle.",
)(lambda x, start: by_columns(x, start, exponents_of_columns(x), neighbours_swapped(x)))
ROTARY.misconception(
    "each number has a speed of its own",
    "The i of the formula counts pairs. Numbers 0 and 1 have i = 0, numbers 2 and 3 have i = 1.",
)(lambda x, start: by_columns(x, start, 2 * exponents_of_columns(x), neighbours_swapped(x)))

ROTARY.edit(
    "the turn goes the other way",
    "At position 1, the first pair (1, 0) becomes (cos 1, sin 1), as `turned` makes it. The other way gives the same scores, but keys from elsewhere don't fit.",
    ("angles.sin()", "-angles.sin()"),
)
ROTARY.edit(
    "sine and cosine are swapped",
    "At position 0 nothing turns. What are cos 0 and sin 0?",
    ("c, s =", "s, c ="),
)
ROTARY.edit("the second number is computed from the new first one", NEW_ONES, ("= a * s", "= new_a * s"))
ROTARY.edit("the minus sign is missing", MINUS, ("a * c - b * s", "a * c + b * s"))
ROTARY.edit(
    "the minus sign is at another product",
    MINUS,
    ("a * c - b * s", "a * c + b * s"),
    ("a * s + b * c", "a * s - b * c"),
)
ROTARY.edit(
    "the two numbers of each pair are swapped",
    "The new first number comes first.",
    ("[new_a, new_b]", "[new_b, new_a]"),
)
ROTARY.edit(
    "only the first number of each pair is turned",
    "A turn changes both numbers. Does one of them come out as it came in?",
    ("a * s + b * c", "b"),
)
ROTARY.misconception(
    "only the first pair is turned",
    "Print the speeds of the pairs. If all but the first are nearly 0, look at the exponent −2i/d: is d missing, or is it rounded? If not, where does your loop end?",
)(lambda x, start: torch.cat([rotary(x, start)[..., :2], x[..., 2:]], -1))
ROTARY.edit(
    "the positions run along the axis of the heads",
    "All heads of a word are turned alike. Which axis of x counts the words?",
    ("start + n", "start + len(x)"),
    ("10000.0**exponent)", "10000.0**exponent)[:, None]"),
)
ROTARY.edit(
    "there are as many positions as heads",
    "A position belongs to a word. Which number in x.shape is the number of words?",
    ("start + n", "start + len(x)"),
)
ROTARY.edit(
    "start is not used",
    "The first word is at position `start`. At which position is the second?",
    ("start, start + n", "0, n"),
)
ROTARY.edit(
    "positions are counted from 1",
    "The first word of a text is at position 0, so its angle is 0.",
    ("start, start + n", "start + 1, start + n + 1"),
)
ROTARY.edit(
    "all words are turned alike",
    "Each word has a position of its own: start, start + 1, start + 2, …",
    ("torch.arange(start, start + n", "torch.full((n,), start"),
)
BY_N = "A pair turns by its speed times the position of the word. The pair's number i only sets the speed."
ROTARY.edit(
    "the number of the pair is taken for the position",
    BY_N,
    ("torch.outer(position, 10000.0**exponent)", "(i * 10000.0**exponent).expand(n, -1)"),
)
ROTARY.edit(
    "the number of the pair is taken for the position",
    BY_N,
    ("-2 * i / d", "-2 * position / d"),
    ("torch.outer(position, 10000.0**exponent)", "torch.outer(10000.0**exponent, i)"),
)
ROTARY.edit(
    "the exponent is i/d, not 2i/d",
    "i counts the pairs, and there are d/2 of them. What is the exponent of the last pair?",
    ("-2 * i / d", "-i / d"),
)
ROTARY.edit(
    "the exponent is not divided by d",
    "For d = 4, the exponents are 0 and −1/2. What are yours?",
    ("-2 * i / d", "-i"),
)
ROTARY.edit(
    "the exponent is doubled twice",
    "If your i goes 0, 2, 4, …, it is already the formula's 2i. Or is your d the number of pairs?",
    ("-2 * i / d", "-4 * i / d"),
)
FASTEST = "The first pair is the fastest. Look at the sign of the exponent, and at whether you multiply or divide by the power."
ROTARY.edit("the speeds grow from pair to pair", FASTEST, ("-2 * i / d", "2 * i / d"))
for product in ("position * 10000.0**exponent", "position / 10000.0**-exponent"):  # rounded to float32 in two ways
    ROTARY.edit(
        "the speeds grow from pair to pair",
        FASTEST,
        ("-2 * i / d", "(2 * i / d).float()"),
        ("torch.outer(position, 10000.0**exponent)", product.replace("position", "position.float()[:, None]")),
    )
ROTARY.edit(
    "all pairs turn at the same speed",
    "Each pair has an exponent of its own, −2i/d. Where is the i? Or has // rounded the exponent to 0?",
    ("-2 * i / d", "0 * i"),
)
ROTARY.edit(
    "pairs are counted from 1",
    "For the first pair, i is 0 and the speed is 1, one radian per word.",
    ("torch.arange(d // 2", "torch.arange(1, d // 2 + 1"),
)
for up_to_1 in (  # these differ if there is only one pair
    "-torch.linspace(0, 1, d // 2, dtype=torch.float64)",
    "-torch.tensor([pair / (d / 2 - 1) for pair in range(d // 2)], dtype=torch.float64)",
    "-i / (d / 2 - 1)",
):
    ROTARY.edit(
        "the exponent of the last pair is −1",
        "The exponents go down in steps of 2/d, so the last one doesn't reach −1. What is it for d = 4?",
        ("-2 * i / d", up_to_1),
    )
ROTARY.edit(
    "the exponent is rounded to a whole number",
    "All exponents are between −1 and 0. Does a // round yours?",
    ("-2 * i / d", "-2 * i // d"),
)
ROTARY.edit("the base is 1000", "Count the zeros of the base.", ("10000.0", "1000.0"))
ROTARY.edit(
    "the angle is taken for degrees",
    "The angles are already in radians. At position 1, the first pair turns by 1.",
    ("10000.0**exponent)", "10000.0**exponent).deg2rad()"),
)
for first, second in ("sc", "cs"):
    ROTARY.edit(
        "the sinusoidal code is added",
        "Nothing is added here. A pair is turned, and its length stays the same.",
        ("a * c - b * s", f"a + {first}"),
        ("a * s + b * c", f"b + {second}"),
    )
    ROTARY.edit(
        "the vector is multiplied by the sinusoidal code, number by number",
        "In a turn, each new number depends on both old numbers of its pair. Use `turned`.",
        ("a * c - b * s", f"a * {first}"),
        ("a * s + b * c", f"b * {second}"),
    )
ROTARY.misconception("the result is complex", AS_TWO)(
    lambda x, start: torch.view_as_complex(rotary(x, start).unflatten(-1, (-1, 2)))
)
