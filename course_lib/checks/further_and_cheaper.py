"""Exercises of lesson 9: further and cheaper."""

import math

import torch
from torch.nn import functional as F

from course_lib.checks.engine import Case, Exercise, Misconception, Question

TURNING = 'lesson 9, "Further"; glossary.show("rotary positions")'
SLOPES = 'lesson 9, "Further"; glossary.show("linear biases")'
TILES = 'lesson 9, "Exactly the same, cheaper"; glossary.show("flash attention")'
WINDOW = 'lesson 9, "Not the same, cheaper"; glossary.show("sliding-window attention")'
LAYERS = 'lesson 9, "What a window sees, layer by layer"; glossary.show("sliding-window attention")'
LINEAR = 'lesson 9, "A state of fixed size"; glossary.show("linear attention")'
CACHE = 'lesson 9, "Less to keep"; glossary.show("grouped-query attention")'
WRITING = 'lesson 9, "Further"; glossary.show("rotary positions"), glossary.show("key-value cache")'


# ---- turned(pair, angle) ----


def turned_cases(generator: torch.Generator) -> list[Case]:
    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator)

    def some() -> float:
        """An angle that is far from a quarter, a half and a whole turn, where misconceptions look alike."""
        return round(0.3 + float(torch.rand((), generator=generator)), 2)

    inputs = [
        ("a quarter turn", torch.tensor([2.0, 1.0]), math.pi / 2),
        ("a pair on the first axis", torch.tensor([2.0, 0.0]), 0.5),
        ("a pair on the second axis", torch.tensor([0.0, 3.0]), 0.5),
        ("no turn at all", draw(2), 0.0),
        ("any pair", draw(2), some()),
        ("any other pair", draw(2), some()),
        ("a negative angle", draw(2), -some()),
        ("half a turn", draw(2), math.pi),
        ("more than a whole turn", draw(2), some() + 2 * math.pi),
        ("a small angle", draw(2), 0.01),
        ("a long pair", 20 * draw(2), some()),
        ("float64", draw(2).double(), some()),
        ("numbers that do not lie side by side in memory", draw(2, 3)[:, 1], some()),
    ]
    return [Case(about, {"pair": pair, "angle": angle}) for about, pair, angle in inputs]


def of_pair(new):
    """What a function makes of both numbers, the cosine and the sine."""

    def answer(pair, angle):
        x, y = pair
        return torch.stack([torch.as_tensor(number) for number in new(x, y, math.cos(angle), math.sin(angle))])

    return answer


TURNED = Exercise(
    "turned", "further_and_cheaper", turned_cases, of_pair(lambda x, y, c, s: (x * c - y * s, x * s + y * c)), TURNING
)

TURNED.misconception(
    "it turns the other way", "From (1, 0), a small positive angle leads up, to (cos, sin). Where is the minus?"
)(of_pair(lambda x, y, c, s: (x * c + y * s, y * c - x * s)))
TURNED.misconception(
    "the angle is taken for degrees", "The angle is in radians already: a quarter turn is π/2, as in math.cos."
)(lambda pair, angle: of_pair(lambda x, y, c, s: (x * c - y * s, x * s + y * c))(pair, math.radians(angle)))
TURNED.misconception(
    "the angle is made into degrees", "Python's sine and cosine want radians, and the angle comes in radians."
)(lambda pair, angle: of_pair(lambda x, y, c, s: (x * c - y * s, x * s + y * c))(pair, math.degrees(angle)))
TURNED.misconception("sine and cosine have changed places", "By the angle 0 nothing turns. What are cos 0 and sin 0?")(
    of_pair(lambda x, y, c, s: (x * s - y * c, x * c + y * s))
)
NEW_ONES = "Both new numbers are made of both *old* ones. Is one of them overwritten before it is used again?"
TURNED.misconception("the second number is made of the new first one", NEW_ONES)(
    of_pair(lambda x, y, c, s: (x * c - y * s, (x * c - y * s) * s + y * c))
)
TURNED.misconception("the first number is made of the new second one", NEW_ONES)(
    of_pair(lambda x, y, c, s: (x * c - (x * s + y * c) * s, x * s + y * c))
)
MINUS = "Turn (1, 0) and (0, 1) by hand: one of the four products has a minus, and only one."
TURNED.misconception("no minus sign is there", MINUS)(of_pair(lambda x, y, c, s: (x * c + y * s, x * s + y * c)))
TURNED.misconception("the minus sign stands before another product", MINUS)(
    of_pair(lambda x, y, c, s: (x * c + y * s, x * s - y * c))
)
TURNED.misconception("there are two minus signs", MINUS)(of_pair(lambda x, y, c, s: (x * c - y * s, x * s - y * c)))
TURNED.misconception("there are two minus signs", MINUS)(of_pair(lambda x, y, c, s: (x * c - y * s, y * c - x * s)))
TURNED.misconception("the two results have changed places", "The new first number comes first.")(
    of_pair(lambda x, y, c, s: (x * s + y * c, x * c - y * s))
)
TURNED.misconception(
    "each number is multiplied by itself alone", "In a turn, something of x goes into y and something of y into x."
)(of_pair(lambda x, y, c, s: (x * c, y * s)))
TURNED.misconception(
    "each number is multiplied by the cosine alone", "That makes the pair shorter. What comes in from the other number?"
)(of_pair(lambda x, y, c, s: (x * c, y * c)))
ADDED = "That is the sinusoidal code, which is added. Here nothing is added: the length of the pair stays."
TURNED.misconception("cosine and sine are added", ADDED)(of_pair(lambda x, y, c, s: (x + c, y + s)))
TURNED.misconception("cosine and sine are added", ADDED)(of_pair(lambda x, y, c, s: (x + s, y + c)))
TURNED.misconception(
    "it is turned *to* the angle, not by it", "The pair has a direction of its own, and the angle comes on top of it."
)(of_pair(lambda x, y, c, s: ((x * x + y * y) ** 0.5 * c, (x * x + y * y) ** 0.5 * s)))


def by_own_angle(own):
    """Length and direction of the pair, and the angle on top of it."""

    def answer(pair, angle):
        x, y = pair
        turned = own(x, y) + angle
        return torch.stack([pair.norm() * turned.cos(), pair.norm() * turned.sin()])

    return answer


OWN = "The direction of (x, y) is torch.atan2(y, x), in this order. atan(y / x) cannot tell (1, 1) from (−1, −1)."
TURNED.misconception("the pair's own direction is taken without its quadrant", OWN)(
    by_own_angle(lambda x, y: (y / x).atan())
)
TURNED.misconception(
    "it is (y, x) that is turned",
    "Which number comes first: where x and y are taken from the pair, in atan2(y, x), in the result? Try (1, 0) and the angle 0.",
)(by_own_angle(torch.atan2))
AS_TWO = "Complex numbers turn well. Handed back are two plain numbers for each: `torch.view_as_real`."
TURNED.misconception("the result is complex", AS_TWO)(lambda pair, angle: torch.complex(*TURNED.right(pair, angle)))


# ---- rotary(x, start) ----


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


def standing(start, x):
    """The place of each vector."""
    return torch.arange(start, start + x.shape[1], dtype=torch.float64)


def slower(pair, d):
    return 10000.0 ** (-2 * pair / d)


def angles_of(places, d, speed=slower):
    """(place, pair)"""
    return places[:, None] * torch.tensor([speed(pair, d) for pair in range(d // 2)], dtype=torch.float64)


def neighbours(x):
    return x[..., ::2], x[..., 1::2]


def halves(x):
    return x.chunk(2, -1)


def side_by_side(first, second):
    """x_0, y_0, x_1, y_1, …"""
    return torch.stack([first, second], -1).flatten(-2)


def one_behind_the_other(first, second):
    """x_0, x_1, …, y_0, y_1, …"""
    return torch.cat([first, second], -1)


def turn(x, y, c, s):
    return x * c - y * s, x * s + y * c


def rotating(
    places=standing, speed=slower, apart=neighbours, together=side_by_side, turn=turn, shaped=lambda angles: angles
):
    """`rotary` with one or more misconceptions."""

    def answer(x, start):
        angles = shaped(angles_of(places(start, x), x.shape[2], speed))
        return together(*turn(*apart(x.double()), angles.cos(), angles.sin())).to(x.dtype)

    return answer


ROTARY = Exercise(
    "rotary",
    "further_and_cheaper",
    rotary_cases,
    rotating(),
    TURNING,
    tolerance=1e-4,
    banned=("course_lib.positions",),
)

ROTARY.misconception(
    "the numbers are paired across two halves",
    "Some libraries take number i with number i + d/2. Here a pair is two neighbours: 0 and 1, 2 and 3, …",
)(rotating(apart=halves, together=one_behind_the_other))
BACK = "The turned numbers must go back to where they came from: x_0, y_0, x_1, y_1, …"
ROTARY.misconception("all first numbers stand first, then all second ones", BACK)(
    rotating(together=one_behind_the_other)
)
ROTARY.misconception("the halves are turned as pairs, and put together as neighbours", BACK)(rotating(apart=halves))


def by_columns(columns, swap):
    """x · cos + swapped(x) · sin, with a cosine and a sine for each column."""

    def answer(x, start):
        angles = columns(standing(start, x), x.shape[2])
        return (x * angles.cos() + swap(x.double()) * angles.sin()).to(x.dtype)

    return answer


def twice_each(places, d):
    angles = angles_of(places, d)
    return side_by_side(angles, angles)


def twice_all(places, d):
    angles = angles_of(places, d)
    return one_behind_the_other(angles, angles)


def swapped_neighbours(x):
    first, second = neighbours(x)
    return side_by_side(-second, first)


def swapped_halves(x):
    first, second = halves(x)
    return one_behind_the_other(-second, first)


TWO_WAYS = (
    "Angles and numbers are paired in two different ways: write down which angle each of four numbers gets. "
    "`repeat_interleave` goes with neighbours, `cat` with halves."
)
ROTARY.misconception("the two numbers of a pair get different angles", TWO_WAYS)(
    by_columns(twice_all, swapped_neighbours)
)
ROTARY.misconception("the two numbers of a pair get different angles", TWO_WAYS)(by_columns(twice_each, swapped_halves))


def speed_by_column(times):
    def columns(places, d):
        return places[:, None] * 10000 ** (-times * torch.arange(d, dtype=torch.float64) / d)

    return by_columns(columns, swapped_neighbours)


ROTARY.misconception(
    "each number has a speed of its own", "The two numbers of a pair are one hand: they have the same i, and one angle."
)(speed_by_column(1))
ROTARY.misconception(
    "each number has a speed of its own",
    "The i of the formula counts pairs: numbers 0 and 1 have i = 0, 2 and 3 have 1.",
)(speed_by_column(2))

ROTARY.misconception(
    "it turns the other way",
    "Word 1 goes from (1, 0) to (cos 1, sin 1), as `turned` does. The score would be the same; others' keys would not fit.",
)(rotating(turn=lambda x, y, c, s: (x * c + y * s, y * c - x * s)))
ROTARY.misconception("sine and cosine have changed places", "Word 0 is not turned at all: what are cos 0 and sin 0?")(
    rotating(turn=lambda x, y, c, s: (x * s - y * c, x * c + y * s))
)
ROTARY.misconception("the second number is made of the new first one", NEW_ONES)(
    rotating(turn=lambda x, y, c, s: (x * c - y * s, (x * c - y * s) * s + y * c))
)
ROTARY.misconception("no minus sign is there", MINUS)(rotating(turn=lambda x, y, c, s: (x * c + y * s, x * s + y * c)))
ROTARY.misconception("the minus sign stands before another product", MINUS)(
    rotating(turn=lambda x, y, c, s: (x * c + y * s, x * s - y * c))
)
ROTARY.misconception("the two numbers of each pair have changed places", "The new first number stands first.")(
    rotating(turn=lambda x, y, c, s: (x * s + y * c, x * c - y * s))
)
ROTARY.misconception(
    "only the first number of each pair is turned", "Turning changes both. Is one of them written back as it came?"
)(rotating(turn=lambda x, y, c, s: (x * c - y * s, y)))


@ROTARY.misconception(
    "only the first pair is turned",
    "Every pair turns, each at its own speed. Print the speeds: if those of the other pairs are 0 or nearly 0, is the "
    "exponent −2i/d, with its d, and is it rounded to a whole number? Or does a loop end after the first pair?",
)
def first_pair(x, start):
    return torch.cat([rotating()(x, start)[..., :2], x[..., 2:]], -1)


@ROTARY.misconception(
    "the places run along the axis of the heads",
    "All heads of a word are turned alike. Which axis of x counts the words?",
)
def along_heads(x, start):
    return rotating(places=lambda start, x: standing(start, x.transpose(0, 1)), shaped=lambda a: a[:, None])(x, start)


ROTARY.misconception(
    "there are as many places as heads", "A place belongs to a word. Which number of x.shape says how many there are?"
)(rotating(places=lambda start, x: torch.arange(start, start + x.shape[0], dtype=torch.float64)))
ROTARY.misconception(
    "start is not used", "The first vector of x stands at place start. At which one does the vector after it stand?"
)(rotating(places=lambda start, x: standing(0, x)))
ROTARY.misconception(
    "places are counted from 1", "The first word of a text stands at place 0, and is not turned: the angle is 0."
)(rotating(places=lambda start, x: standing(start + 1, x)))
ROTARY.misconception("all words are turned alike", "Each word has an angle of its own: start, start + 1, start + 2, …")(
    rotating(places=lambda start, x: torch.full((x.shape[1],), float(start), dtype=torch.float64))
)


BY_N = "A pair turns by its speed times the place of the word; i says which pair it is, and so how fast it turns."
ROTARY.misconception("the number of the pair is taken for the place", BY_N)(
    rotating(places=lambda start, x: torch.ones(x.shape[1], dtype=torch.float64), speed=lambda i, d: i * slower(i, d))
)


@ROTARY.misconception("the number of the pair is taken for the place", BY_N)
def exchanged(x, start):
    n, d = x.shape[1:]
    speeds = 10000 ** (-2 * standing(start, x) / d)
    angles = speeds[:, None] * torch.arange(d // 2, dtype=torch.float64)
    return side_by_side(*turn(*neighbours(x.double()), angles.cos(), angles.sin())).to(x.dtype)


ROTARY.misconception(
    "the exponent is i/d, not 2i/d", "i counts the pairs, of which there are d/2. What is the speed of the last one?"
)(rotating(speed=lambda i, d: 10000.0 ** (-i / d)))
ROTARY.misconception(
    "the exponent is not divided by d", "Write out the exponents for d = 4 as numbers: they are 0 and −1/2."
)(rotating(speed=lambda i, d: 10000.0**-i))
ROTARY.misconception(
    "the exponent is doubled twice",
    "If your i goes 0, 2, 4, … it is the formula's 2i already. Or is your d the number of pairs?",
)(rotating(speed=lambda i, d: 10000.0 ** (-4 * i / d)))
FASTEST = "The first pair is the fastest. Is the place divided by the power, or multiplied by it?"
ROTARY.misconception("the speeds grow from pair to pair", FASTEST)(rotating(speed=lambda i, d: 10000.0 ** (2 * i / d)))


def in_float32(angles):
    """Large angles as they are rounded: from place and exponent, both float32."""

    def answer(x, start):
        n, d = x.shape[1:]
        turned = angles(torch.arange(start, start + n)[:, None], torch.arange(0, d, 2) / d)
        return side_by_side(*turn(*neighbours(x), turned.cos(), turned.sin())).to(x.dtype)

    return answer


ROTARY.misconception("the speeds grow from pair to pair", FASTEST)(
    in_float32(lambda n, exponent: n * 10000.0**exponent)
)
ROTARY.misconception("the speeds grow from pair to pair", FASTEST)(
    in_float32(lambda n, exponent: n / 10000.0**-exponent)
)
ROTARY.misconception(
    "all pairs turn at the same speed",
    "Pair i turns by the place times 10000^(−2i/d). Where is the i? Or has // made its exponent 0?",
)(rotating(speed=lambda i, d: 1.0))
ROTARY.misconception("pairs are counted from 1", "For the first pair i is 0, and its speed is 1: one radian a word.")(
    rotating(speed=lambda i, d: slower(i + 1, d))
)
for alone in (0.0, None, torch.nan):  # of a pair by itself; None stands for an error

    def to_1(i, d, alone=alone):
        return 10000.0 ** -(i / (d / 2 - 1) if d > 2 else 1 / 0 if alone is None else alone)

    ROTARY.misconception(
        "the exponent of the last pair is 1",
        "Between 0 and 1 lie d/2 steps of 2/d, so the last exponent is less than 1. What is it for d = 4?",
    )(rotating(speed=to_1))
ROTARY.misconception(
    "the exponent is rounded to a whole number",
    "// drops what stands behind the point, and all exponents lie between 0 and 1.",
)(rotating(speed=lambda i, d: 10000.0 ** (-2 * i // d)))
ROTARY.misconception("the base is 1000", "Count the zeros of the base.")(
    rotating(speed=lambda i, d: 1000.0 ** (-2 * i / d))
)
ROTARY.misconception(
    "the angle is taken for degrees", "The angle is in radians already: word 1 turns its first pair by 1."
)(rotating(speed=lambda i, d: slower(i, d) * math.pi / 180))


def with_the_code(combine, exchange=False):
    def answer(x, start):
        angles = angles_of(standing(start, x), x.shape[2])
        code = (angles.cos(), angles.sin()) if exchange else (angles.sin(), angles.cos())
        return combine(x, side_by_side(*code)).to(x.dtype)

    return answer


for exchange in (False, True):
    ROTARY.misconception(
        "the sinusoidal code is added", "Nothing is added here: a pair is turned, and its length stays."
    )(with_the_code(torch.add, exchange))
    ROTARY.misconception(
        "the vector is multiplied by the code, number by number",
        "In a turn, something of each number goes into the other one of its pair. Use `turned`.",
    )(with_the_code(torch.mul, exchange))

ROTARY.misconception("the result is complex", AS_TWO)(
    lambda x, start: torch.view_as_complex(ROTARY.right(x, start).unflatten(-1, (-1, 2)))
)


# ---- alibi(heads, queries, keys) ----


def alibi_cases(generator: torch.Generator) -> list[Case]:
    def some(low: int, high: int) -> int:
        return int(torch.randint(low, high, (), generator=generator))

    inputs = [
        ("two heads, two queries behind one other word", 2, 2, 3),
        ("two heads, three words", 2, 3, 3),
        ("four heads, three words", 4, 3, 3),
        ("one query, the last of five words", 4, 1, 5),
        ("as many heads as words", 4, 4, 4),
        ("eight heads", 8, 3, some(4, 8)),
        ("sixteen heads", 16, some(2, 5), 6),
        ("more heads than words", 8, 2, 2),
        ("one head", 1, 3, 4),
        ("one word", 2, 1, 1),
        ("some words", 4, some(2, 6), some(6, 12)),
        ("many words", 2, some(20, 30), some(30, 40)),
    ]
    return [Case(about, dict(zip(("heads", "queries", "keys"), given, strict=True))) for about, *given in inputs]


def slope(h, heads):
    return 2.0 ** (-8 * h / heads)


def last_words(queries, keys):
    """The places of the queries."""
    return torch.arange(keys - queries, keys, dtype=torch.float64)


def apart_by(query, key):
    return -(query - key).abs()


def biased(slope=slope, places=last_words, bias=apart_by, first=1):
    """`alibi` with one or more misconceptions."""

    def answer(heads, queries, keys):
        slopes = torch.tensor([slope(h, heads) for h in range(first, first + heads)], dtype=torch.float64)
        query, key = places(queries, keys)[:, None], torch.arange(keys, dtype=torch.float64)
        return slopes[:, None, None] * bias(query, key).expand(queries, keys)

    return answer


ALIBI = Exercise(
    "alibi", "further_and_cheaper", alibi_cases, biased(), SLOPES, tolerance=1e-6, banned=("course_lib.positions",)
)

ALIBI.misconception(
    "far keys gain, where they should lose", "The bias is added to the score, and a far key must come out with less."
)(biased(bias=lambda q, k: (q - k).abs()))
ALIBI.misconception(
    "later keys gain", "The distance is |i − j|: a key two words behind the query is two away, as one before it."
)(biased(bias=lambda q, k: -(q - k)))
ALIBI.misconception(
    "earlier keys gain",
    "q − k and k − q differ in their sign, and a distance has none: whoever stands away loses, on either side.",
)(biased(bias=lambda q, k: q - k))
LATER = "To hide what comes later is the mask's work, done elsewhere. Here only the distance counts, on either side."
ALIBI.misconception("later keys are masked", LATER)(biased(bias=lambda q, k: (k - q).masked_fill(k > q, -torch.inf)))
ALIBI.misconception("later keys have no bias", LATER)(biased(bias=lambda q, k: (k - q).clamp(max=0)))
ALIBI.misconception(
    "earlier keys have no bias", "A key before the query is |i − j| away, too. Does a clamp, or triu, cut it off?"
)(biased(bias=lambda q, k: (q - k).clamp(max=0)))
ALIBI.misconception(
    "the queries are taken for the first words",
    "The queries are the *last* of the words: with one query and five keys, at which place does it stand?",
)(biased(places=lambda queries, keys: torch.arange(queries, dtype=torch.float64)))
LAST = "The last query is the last word: with five keys it stands at place 4, and its own key is no distance away."
ALIBI.misconception("the queries stand one place too far", LAST)(
    biased(places=lambda queries, keys: last_words(queries, keys) + 1)
)
ALIBI.misconception("the queries stand one place too early", LAST)(
    biased(places=lambda queries, keys: last_words(queries, keys) - 1)
)
ALIBI.misconception(
    "all queries stand at the last place", "Each query is a word of its own. Where does the first of two queries stand?"
)(biased(places=lambda queries, keys: torch.full((queries,), keys - 1.0)))
ALIBI.misconception(
    "the word itself is one away", "A query stands at no distance from its own key: there the bias is 0."
)(biased(bias=lambda q, k: apart_by(q, k) - 1))
ALIBI.misconception(
    "the bias is made of the key's place",
    "What counts is how far the key is from the query. (With a causal mask a softmax would not tell; a look ahead would.)",
)(biased(bias=lambda q, k: k + 0 * q))
ALIBI.misconception(
    "the bias is made of the key's place", "What counts is how far the key is from the query, and not where it stands."
)(biased(bias=lambda q, k: -k + 0 * q))
ALIBI.misconception("the distance is squared", "The score falls in a straight line: twice as far, twice the bias.")(
    biased(bias=lambda q, k: -((q - k) ** 2))
)
ALIBI.misconception(
    "the logarithm of the distance is taken", "The score falls in a straight line: twice as far, twice the bias."
)(biased(bias=lambda q, k: -(q - k).abs().log1p()))
EIGHT = "2^(−h) is right for eight heads alone. In the formula, H is the number of heads."
ALIBI.misconception("the slopes are those of eight heads", EIGHT)(biased(slope=lambda h, heads: 2.0**-h))
ALIBI.misconception("all heads have the same slope", "m_h has an h: every head falls at a pace of its own.")(
    biased(slope=lambda h, heads: 2.0 ** (-8 / heads))
)
ALIBI.misconception("all heads have the same slope", "m_h has an h: every head falls at a pace of its own.")(
    biased(slope=lambda h, heads: 2.0**-8)
)
ALIBI.misconception(
    "all heads have the same slope", "Where is m_h? A bias is the slope of its head times the distance."
)(biased(slope=lambda h, heads: 1.0))
ALIBI.misconception(
    "heads are counted from 0", "h goes from 1 to H: the last slope is 2^(−8), whatever the number of heads."
)(biased(first=0))
ALIBI.misconception("heads are counted from 0", "h goes from 1 to H, and the first of eight slopes is 1/2.")(
    biased(slope=lambda h, heads: 2.0**-h, first=0)
)
ALIBI.misconception("the slopes stand in reverse order", "The first head has the steepest slope.")(
    biased(slope=lambda h, heads: slope(heads + 1 - h, heads))
)
ALIBI.misconception("the 8 is left out of the exponent", "With two heads the exponents are −4 and −8: 8 · h / H.")(
    biased(slope=lambda h, heads: 2.0 ** (-h / heads))
)
ALIBI.misconception(
    "the exponent is turned upside down", "What is divided by what? With eight heads, the exponent of the first is −1."
)(biased(slope=lambda h, heads: 2.0 ** (-8 / h)))
ALIBI.misconception(
    "the exponent is turned upside down", "What is divided by what? With two heads, the exponents are −4 and −8."
)(biased(slope=lambda h, heads: 2.0 ** (-heads * h / 8)))
ALIBI.misconception(
    "the power is taken of e", "The base is 2: with eight heads, each slope is half of the one before."
)(biased(slope=lambda h, heads: math.exp(-8 * h / heads)))
ALIBI.misconception("the exponent stands there without its power", "The slope is 2 to the −8h/H, not 8h/H itself.")(
    biased(slope=lambda h, heads: 8 * h / heads)
)
ALIBI.misconception(
    "the minus of the exponent is left out", "Slopes are small: 2^(−8) is 1/256. Which way does the exponent go?"
)(biased(slope=lambda h, heads: 2.0 ** (8 * h / heads)))
for whole in (lambda h, heads: -8 * h // heads, lambda h, heads: -(8 * h // heads), lambda h, heads: -(8 // heads) * h):
    ALIBI.misconception(
        "the exponent is rounded to a whole number", "With sixteen heads the first exponent is −1/2: // drops the half."
    )(biased(slope=lambda h, heads, whole=whole: 2.0 ** whole(h, heads)))
ALIBI.misconception(
    "the slopes are rounded to 0",
    "Of whole numbers torch makes whole numbers, and 2 ** −4 is rounded to 0. Are base and exponent both whole?",
)(biased(slope=lambda h, heads: 0.0))
ALIBI.misconception(
    "there is a row for every word, not for every query",
    "The queries are the last of the words: their rows alone are asked for.",
)(lambda heads, queries, keys: biased()(heads, keys, keys))
SHAPE = "The result has three axes: (heads, queries, keys)."
ALIBI.misconception("the axis of the heads stands last", SHAPE)(
    lambda heads, queries, keys: biased()(heads, queries, keys).permute(1, 2, 0)
)
ALIBI.misconception("queries and keys have changed axes", "A row for each query, a column for each key.")(
    lambda heads, queries, keys: biased()(heads, queries, keys).mT
)


# ---- merge_tiles(tile, other) ----


def tile_of(scores, values):
    """What a tile leaves: largest score, sum of exp(score − largest), and that sum of values."""
    largest = scores.amax(-1)
    weights = (scores - largest[:, None]).exp()
    return largest, weights.sum(-1), weights @ values


def merge_cases(generator: torch.Generator) -> list[Case]:
    def draw(queries: int, keys: int, d: int, above: float = 0.0, dtype=torch.float32) -> tuple[torch.Tensor, ...]:
        scores = above + 2 * torch.randn(queries, keys, generator=generator).to(dtype)
        return tile_of(scores, torch.randn(keys, d, generator=generator).to(dtype))

    def empty(queries: int, d: int) -> tuple[torch.Tensor, ...]:
        """What there is before the first tile."""
        return torch.full((queries,), -torch.inf), torch.zeros(queries), torch.zeros(queries, d)

    def rising(queries: int, d: int, first: float, second: float) -> list:
        """For the even queries the second tile has larger scores, for the odd ones the first."""
        tiles = [draw(queries, 3, d), draw(queries, 4, d)]
        places = torch.arange(queries) % 2
        shifts = torch.where(places == 0, first, second), torch.where(places == 0, second, first)
        return [(m.round() + shift, total, o) for (m, total, o), shift in zip(tiles, shifts, strict=True)]

    by_hand = torch.tensor([[1.0, 3.0], [4.0, 2.0]]), torch.tensor([[2.0, 5.0], [1.0, 1.0]])
    values = torch.tensor([[10.0, 1.0], [20.0, 0.0]]), torch.tensor([[30.0, 2.0], [40.0, 0.0]])
    tall, wide = rising(3, 2, 0, 3), draw(3, 4, 2)
    crossed = [(m, total, o.T.contiguous().T) for m, total, o in (tall[0], wide)]
    inputs = [
        ("two queries", *map(tile_of, by_hand, values)),
        ("larger scores in the second tile", draw(3, 4, 2), draw(3, 4, 2, 9.0)),
        ("larger scores in the first tile", draw(3, 4, 2, 9.0), draw(3, 4, 2)),
        ("now one and now the other", *rising(4, 3, 1.0, 4.0)),
        ("tiles of different lengths", draw(4, 2, 3), draw(4, 6, 3)),
        ("as many queries as numbers in a value", draw(3, 4, 3), draw(3, 4, 3, 2.0)),
        ("one key in a tile", draw(3, 5, 2), draw(3, 1, 2)),
        ("one query", draw(1, 4, 3), draw(1, 3, 3, 1.0)),
        ("one number in a value", draw(4, 3, 1), draw(4, 3, 1)),
        ("nothing before the first tile", empty(3, 2), draw(3, 4, 2)),
        ("an empty tile comes second", draw(2, 4, 3), empty(2, 3)),
        ("scores near 1000", draw(3, 4, 2, 1000.0), draw(3, 3, 2, 1001.0)),
        ("scores near −1000", draw(3, 4, 2, -1000.0), draw(3, 3, 2, -1001.0)),
        ("nothing before scores near −1000", empty(3, 2), draw(3, 4, 2, -1000.0)),
        ("an empty tile after scores near −1000", draw(3, 4, 2, -1000.0), empty(3, 2)),
        ("scores far apart", *rising(4, 2, 0.0, 300.0)),
        ("float64", draw(3, 4, 2, 0.0, torch.float64), draw(3, 2, 2, 1.0, torch.float64)),
        ("numbers that do not lie in order in memory", *crossed),
    ]
    return [Case(about, {"tile": tile, "other": other}) for about, tile, other in inputs]


def merging(
    largest=torch.maximum,
    for_l=lambda mine, m, *_: (mine - m).exp(),
    for_o=None,
    finish=lambda m, total, o: (m, total, o),
    join=torch.add,
):
    """`merge_tiles` with one or more misconceptions: factors are made of a tile's m, the new m, the other's m and both ℓ."""

    def answer(tile, other):
        m = largest(tile[0], other[0])
        total = join(for_l(tile[0], m, other[0], 0) * tile[1], for_l(other[0], m, tile[0], 1) * other[1])
        factor = for_o or for_l
        first, second = factor(tile[0], m, other[0], 0), factor(other[0], m, tile[0], 1)
        o = join(first[:, None] * tile[2], second[:, None] * other[2])
        return finish(m, total, o)

    return answer


def rescaled(mine, m, *_):
    return (mine - m).exp()


def as_it_is(mine, m, *_):
    return torch.ones_like(mine)


MERGE_TILES = Exercise("merge_tiles", "further_and_cheaper", merge_cases, merging(), TILES, tolerance=1e-4)

BOTH_SUMS = "ℓ and o hold exp(score − m) with the m of their own tile. Under a new m, what must they be multiplied by?"
MERGE_TILES.misconception("the sums are added as they are", BOTH_SUMS)(merging(for_l=as_it_is))
MERGE_TILES.misconception("ℓ is brought to the new maximum, o is not", BOTH_SUMS)(merging(for_o=as_it_is))
MERGE_TILES.misconception("o is brought to the new maximum, ℓ is not", BOTH_SUMS)(
    merging(for_l=as_it_is, for_o=rescaled)
)
MERGE_TILES.misconception(
    "only the first tile is brought to the new maximum",
    "The larger score may also have come first. Then it is the second tile that was measured from another m.",
)(merging(for_l=lambda mine, m, other, place: as_it_is(mine, m) if place else rescaled(mine, m)))
MERGE_TILES.misconception(
    "only the second tile is brought to the new maximum",
    "If the second tile has the larger score, it is the first that was measured from another m.",
)(merging(for_l=lambda mine, m, other, place: rescaled(mine, m) if place else as_it_is(mine, m)))
WAY_ROUND = "A sum gets smaller when the maximum grows: exp(score − m') = exp(score − m) · exp(m − m')."
MERGE_TILES.misconception("the exponent has the wrong sign", WAY_ROUND)(
    merging(for_l=lambda mine, m, *_: (m - mine).exp())
)
MERGE_TILES.misconception(
    "each tile has the other's factor", "The factor of a tile is made of its own old m, and the new one."
)(merging(for_l=lambda mine, m, other, _: (other - m).exp()))
MERGE_TILES.misconception(
    "each factor is made of the other tile's maximum",
    "What counts is the way from a tile's own m to the new one. If its own is the largest, nothing changes for it.",
)(merging(for_l=lambda mine, m, other, _: (mine - other).exp()))
MERGE_TILES.misconception(
    "the factor has no exponential",
    "exp(score − m') = exp(score − m) · exp(m − m'): a difference of exponents is a factor exp.",
)(merging(for_l=lambda mine, m, *_: mine - m))
MERGE_TILES.misconception("the factor is a quotient of the maxima", WAY_ROUND)(
    merging(for_l=lambda mine, m, *_: mine / m)
)
MERGE_TILES.misconception("powers of 2 are taken, not of e", "The softmax raises e to the scores.")(
    merging(for_l=lambda mine, m, *_: 2 ** (mine - m))
)


def divided(m, total, o):
    return m, total, o / total[:, None]


STILL_A_SUM = "o stays a sum, so that a third tile can be merged. It is divided by ℓ once, when all keys have gone by."
MERGE_TILES.misconception("o is divided by ℓ already", STILL_A_SUM)(merging(finish=divided))
MERGE_TILES.misconception("only the output comes out", STILL_A_SUM)(
    merging(finish=lambda m, total, o: divided(m, total, o)[2])
)
MERGE_TILES.misconception("only o comes out", "A third tile may come: m and ℓ are needed, too.")(
    merging(finish=lambda m, total, o: o)
)
NOT_YET = "What comes in as o is a sum that nobody has divided yet. Where is it multiplied by ℓ?"


@MERGE_TILES.misconception("o is taken for an output that is divided already", NOT_YET)
def from_outputs(tile, other, finish=lambda m, total, o: (m, total, o)):
    return merging(finish=finish)(*((m, total, o * total[:, None]) for m, total, o in (tile, other)))


MERGE_TILES.misconception("o is taken for an output that is divided already", NOT_YET)(
    lambda tile, other: from_outputs(tile, other, divided)
)


@MERGE_TILES.misconception(
    "only the tile with the larger maximum is kept",
    "The other one has keys, too: their weights are smaller, and not 0.",
)
def winner(tile, other):
    first = tile[0] >= other[0]
    return tuple(torch.where(first if a.ndim == 1 else first[:, None], a, b) for a, b in zip(tile, other, strict=True))


AVERAGE = "An output of a tile with small scores must count for less. Who says how much, if not m and ℓ?"


@MERGE_TILES.misconception("the outputs of both tiles are averaged", AVERAGE)
def averaged(tile, other):
    m, total, _ = merging()(tile, other)
    return m, total, (tile[2] / tile[1][:, None] + other[2] / other[1][:, None]) / 2


@MERGE_TILES.misconception("the outputs of both tiles are averaged", AVERAGE)
def averaged_times_l(tile, other):
    m, total, output = averaged(tile, other)
    return m, total, output * total[:, None]


MERGE_TILES.misconception(
    "the mean is taken, not the sum", "ℓ and o are sums over all keys so far. By what is divided?"
)(merging(join=lambda one, two: (one + two) / 2))


@MERGE_TILES.misconception(
    "the outputs are weighted by ℓ alone",
    "ℓ counts from the tile's own maximum: the ℓ of a tile with tiny scores may be just as large.",
)
def weighted_by_l(tile, other):
    m, total, _ = merging()(tile, other)
    return m, total, (tile[2] + other[2]) / (tile[1] + other[1])[:, None]


EACH_ITS_OWN = "Every query has a largest score of its own; torch.maximum compares entry by entry."
MERGE_TILES.misconception("all queries share one maximum", EACH_ITS_OWN)(
    merging(largest=lambda one, two: torch.maximum(one, two).max().expand_as(one))
)


@MERGE_TILES.misconception("all queries share one maximum", EACH_ITS_OWN)
def one_maximum(tile, other):
    m, total, o = merging(largest=lambda one, two: torch.maximum(one, two).max().expand_as(one))(tile, other)
    return m[0], total, o


MERGE_TILES.misconception(
    "the smaller maximum is taken", "m is the largest score so far. With the smaller one, exp may overflow."
)(merging(largest=torch.minimum))
for number in (0.0, -100.0):
    for emptied in ((0, 1), (0,), (1,)):  # of which tiles

        def filled(tile, other, number=number, emptied=emptied):
            tiles = [
                (m.masked_fill(m.isneginf(), number) if place in emptied else m, total, o)
                for place, (m, total, o) in enumerate((tile, other))
            ]
            return merging()(*tiles)

        MERGE_TILES.misconception(
            "the −∞ of an empty tile is replaced by a number",
            "Scores may all lie below that number, and m would no longer be the largest of them. What is exp(−∞ − m)?",
        )(filled)
NOT_ONLY = "m is the largest score so far, and it may stand in either tile."
MERGE_TILES.misconception("m is always that of the second tile", NOT_ONLY)(merging(largest=lambda one, two: two))
MERGE_TILES.misconception("m is always that of the first tile", NOT_ONLY)(merging(largest=lambda one, two: one))
MERGE_TILES.misconception("the maxima are added", "m is the largest score so far. Of 3 and 5 that is 5.")(
    merging(largest=torch.add, for_l=lambda mine, m, other, _: (mine - torch.maximum(mine, other)).exp())
)
MERGE_TILES.misconception("the maxima are added", "m is the largest score so far. Of 3 and 5 that is 5.")(
    merging(largest=torch.add)
)


@MERGE_TILES.misconception(
    "exp of a score overflows",
    "exp(1000) is ∞, and ∞/∞ or ∞ · 0 is NaN. Only differences belong in exp: from a maximum, so that they are never above 0.",
)
def unshifted(tile, other):
    m = torch.maximum(tile[0], other[0])
    first, second = tile[0].exp(), other[0].exp()
    total = (first * tile[1] + second * other[1]) / m.exp()
    return m, total, (first[:, None] * tile[2] + second[:, None] * other[2]) / m.exp()[:, None]


MERGE_TILES.misconception(
    "the old maximum is handed on", "The third thing to keep is m: the sums now belong to the new one."
)(lambda tile, other: (tile[0], *merging()(tile, other)[1:]))


@MERGE_TILES.misconception(
    "the factors run along the numbers of a value",
    "A factor belongs to a query. o has a row for each query: give the factor an axis behind, factor[:, None].",
)
def along_the_numbers(tile, other):
    m, total, _ = merging()(tile, other)
    return m, total, (tile[0] - m).exp() * tile[2] + (other[0] - m).exp() * other[2]


# ---- window(length, width) ----


def window_cases(generator: torch.Generator) -> list[Case]:
    def some(low: int, high: int) -> int:
        return int(torch.randint(low, high, (), generator=generator))

    inputs = [
        ("six words, a window of three", 6, 3),
        ("five words, a window of two", 5, 2),
        ("a window of one", 4, 1),
        ("a window as long as the text", 4, 4),
        ("a window longer than the text", 3, 5),
        ("one word", 1, 2),
        ("a window that does not divide the text", 7, 3),
        *((f"{length} words", length, some(2, length)) for length in (8, 11, 16)),
        ("a longer text", some(20, 30), some(3, 9)),
    ]
    return [Case(about, {"length": length, "width": width}) for about, length, width in inputs]


def seen(allowed):
    """The mask of a rule for query, key, length and width."""

    def answer(length, width):
        places = torch.arange(length)
        return allowed(places[:, None], places, length, width)

    return answer


WINDOW_MASK = Exercise(
    "window",
    "further_and_cheaper",
    window_cases,
    seen(lambda q, k, n, w: (k <= q) & (k > q - w)),
    WINDOW,
    banned=("course_lib.masks",),
)

COUNT = "Count the True of a row that is long enough: with the query's own word there are `width` of them."
WINDOW_MASK.misconception("the window is one key too wide", COUNT)(seen(lambda q, k, n, w: (k <= q) & (k >= q - w)))
WINDOW_MASK.misconception("the window is one key too narrow", COUNT)(
    seen(lambda q, k, n, w: (k <= q) & (k > q - w + 1))
)
WINDOW_MASK.misconception(
    "a query does not see itself", "Its own word is the last of the window. Is it < where it should be ≤?"
)(seen(lambda q, k, n, w: (k < q) & (k >= q - w)))
WINDOW_MASK.misconception("a query does not see itself", COUNT)(seen(lambda q, k, n, w: (k < q) & (k > q - w)))
ONE_SIDE = "Nobody sees what comes later: the window ends with the query's own word."
WINDOW_MASK.misconception("the window reaches to both sides", ONE_SIDE)(seen(lambda q, k, n, w: (q - k).abs() < w))
WINDOW_MASK.misconception("the window reaches to both sides", ONE_SIDE)(seen(lambda q, k, n, w: (q - k).abs() <= w))
WINDOW_MASK.misconception("the window reaches to both sides", ONE_SIDE)(
    seen(lambda q, k, n, w: (q - k).abs() <= w // 2)
)
WINDOW_MASK.misconception(
    "the window looks ahead", "The row is the query, the column the key; a window holds the keys *before*."
)(seen(lambda q, k, n, w: (k >= q) & (k < q + w)))
WINDOW_MASK.misconception(
    "later keys may be seen", "Two conditions are wanted: not too far back, and not later than the query."
)(seen(lambda q, k, n, w: k > q - w))
WINDOW_MASK.misconception(
    "all keys may be seen", "Two conditions must hold for a key, and both at once: is that & or |?"
)(seen(lambda q, k, n, w: (k <= q) | (k > q)))
SIDE = (
    "A number in triu or tril leads to the right of the diagonal, one below 0 to the left. On which side is the window?"
)
WINDOW_MASK.misconception("no key may be seen", SIDE)(seen(lambda q, k, n, w: (k <= q) & (k >= q + w)))
WINDOW_MASK.misconception("no key may be seen, unless the window is one wide", SIDE)(
    seen(lambda q, k, n, w: (k <= q) & (k > q + w - 2))
)
WINDOW_MASK.misconception(
    "far keys may be seen", "Two conditions are wanted: not later than the query, and not too far back."
)(seen(lambda q, k, n, w: k <= q))
WINDOW_MASK.misconception(
    "only what lies before the window may be seen",
    "Is tril where triu should be? Look at the last row: which keys are there?",
)(seen(lambda q, k, n, w: k <= q - w))
WINDOW_MASK.misconception(
    "only what lies before the window may be seen",
    "Is tril where triu should be? Look at the last row: which keys are there?",
)(seen(lambda q, k, n, w: k <= q - w + 1))
WINDOW_MASK.misconception(
    "all later keys are seen, and no earlier ones", "Is triu where tril should be? Look at the first row."
)(seen(lambda q, k, n, w: k >= q))
WINDOW_MASK.misconception("True and False have changed places", "True means that the query *may* look at the key.")(
    seen(lambda q, k, n, w: (k > q) | (k <= q - w))
)
PIECES = (
    "The window moves along with every word; nothing is cut into pieces. Word 3 with a window of 3 sees 1, 2 and 3."
)
WINDOW_MASK.misconception("the text is cut into pieces", PIECES)(seen(lambda q, k, n, w: (q // w == k // w) & (k <= q)))
WINDOW_MASK.misconception("the text is cut into pieces", PIECES)(seen(lambda q, k, n, w: q // w == k // w))
WINDOW_MASK.misconception(
    "a query sees all of its own block and the one before",
    "Blocks are an order of computing. The window itself ends `width` words back, and with the query.",
)(seen(lambda q, k, n, w: (q // w - k // w >= 0) & (q // w - k // w <= 1) & (k <= q)))
WINDOW_MASK.misconception(
    "only the first keys may be seen", "The window moves along with the query: q − k counts, not k alone."
)(seen(lambda q, k, n, w: (k < w) & (k <= q)))
WINDOW_MASK.misconception(
    "the window goes round past the beginning",
    "A negative place counts from the end, in Python and in roll. Nothing stands before word 0.",
)(seen(lambda q, k, n, w: (q - k) % n < w))
FULL = "Where the window begins before the text, a row starts at word 0. A slice that starts at a negative place counts from the end."
WINDOW_MASK.misconception("rows whose window begins before the text are empty", FULL)(
    seen(lambda q, k, n, w: (k <= q) & (k > q - w) & (q >= w - 1))
)


@WINDOW_MASK.misconception("rows whose window begins before the text are empty", FULL)
def sliced(length, width):
    mask = torch.zeros(length, length, dtype=torch.bool)
    for query in range(length):
        mask[query, query - width + 1 : query + 1] = True
    return mask


WINDOW_MASK.misconception(
    "only one key may be seen", "The window has `width` keys: all from the first to the query's own."
)(seen(lambda q, k, n, w: k == (q - w + 1)))


# ---- reach(width, layers) ----


def reach_cases(generator: torch.Generator) -> list[Case]:
    def some(low: int, high: int) -> int:
        return int(torch.randint(low, high, (), generator=generator))

    inputs = [
        ("three layers, a window of four", 4, 3),
        ("two layers, a window of three", 3, 2),
        ("five layers, a window of two", 2, 5),
        ("one layer", 5, 1),
        ("a window of one", 1, 4),
        ("any window", some(5, 12), some(3, 9)),
        ("any other window", some(12, 80), some(2, 13)),
        ("more layers than keys in a window", 3, some(6, 20)),
        ("a wide window", 64, 6),
    ]
    return [Case(about, {"width": width, "layers": layers}) for about, width, layers in inputs]


REACH = Exercise(
    "reach", "further_and_cheaper", reach_cases, lambda width, layers: layers * (width - 1) + 1, LAYERS, tolerance=0
)

REACH.misconception(
    "every layer adds a whole window",
    "A window holds the word itself, too, which has been counted already: how many words further back does a layer lead?",
)(lambda width, layers: layers * width)
REACH.misconception(
    "the last word itself is not counted", "That is how many words *back* it reaches. The last word's own counts, too."
)(lambda width, layers: layers * (width - 1))
REACH.misconception(
    "a word is taken off once, not at every layer but the first",
    "Two windows share one word, so two layers are right. How many words are counted twice with three windows?",
)(lambda width, layers: layers * width - 1)
REACH.misconception(
    "every layer adds a whole window, and one",
    "With one layer the words that reach it are those of its window: `width`.",
)(lambda width, layers: layers * width + 1)
REACH.misconception(
    "the reach is multiplied by each layer",
    "Windows overlap. Draw it: of four words in a window, each reaches three further back, to the same ones.",
)(lambda width, layers: width**layers)
REACH.misconception(
    "the reach is multiplied by each layer",
    "Windows overlap. Draw it: of four words in a window, which reaches furthest?",
)(lambda width, layers: (width - 1) ** layers + 1)
REACH.misconception(
    "the reach is doubled by each layer", "Each layer leads as far as the one before: it adds, it does not double."
)(lambda width, layers: width * 2 ** (layers - 1))
REACH.misconception(
    "every layer adds one word", "From the furthest word of one layer, the next leads a whole window further back."
)(lambda width, layers: width + layers - 1)
REACH.misconception("the layers are not used", "What layer 1 brought into a vector, layer 2 can bring on.")(
    lambda width, layers: width
)
REACH.misconception("one layer is left out", "The first layer leads width − 1 words back as well as the others.")(
    lambda width, layers: (layers - 1) * (width - 1) + 1
)
REACH.misconception(
    "one layer too many is counted", "After one layer the words that reach it are those of its window: `width`."
)(lambda width, layers: (layers + 1) * (width - 1) + 1)
REACH.misconception("it reaches to both sides", "Nobody sees what comes later: there are words before it alone.")(
    lambda width, layers: 2 * layers * (width - 1) + 1
)


# ---- linear_step(S, z, query, key, value) ----


def phi(x):
    return F.elu(x) + 1


def linear_cases(generator: torch.Generator) -> list[Case]:
    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator)

    def given(before: int, d: int, d_value: int, dtype=torch.float32, times: float = 1.0) -> list[torch.Tensor]:
        keys, values = phi(draw(before, d)).to(dtype), draw(before, d_value).to(dtype)
        words = draw(d), draw(d), draw(d_value)
        return [keys.T @ values, keys.sum(0), *(times * word.to(dtype) for word in words)]

    one = [
        torch.tensor(numbers) for numbers in ([[2.0, 0.0], [1.0, 3.0]], [2.0, 4.0], [0.0, 1.0], [2.0, -1.0], [4.0, 1.0])
    ]
    crossed = given(3, 4, 3)
    crossed[0] = crossed[0].T.contiguous().T
    inputs = [
        ("a state of two rows", *one),
        ("three words before, values of another size", *given(3, 3, 2)),
        ("the first word", *given(0, 2, 3)),
        ("the first word, as many numbers in a value as in a key", *given(0, 3, 3)),
        ("as many numbers in a value as in a key", *given(4, 4, 4)),
        ("one number in a value", *given(3, 4, 1)),
        ("one number in a key", *given(3, 1, 4)),
        ("many words before", *given(60, 3, 4)),
        ("small keys and queries", *given(3, 3, 3, times=0.1)),
        ("large keys and queries", *given(3, 4, 2, times=3.0)),
        ("float64", *given(2, 3, 4, torch.float64)),
        ("a state that does not lie in order in memory", *crossed),
        ("a first word with numbers far below 0", *given(0, 3, 2)[:2], *(-2 - draw(2, 3).abs()), draw(2)),
    ]
    names = "S", "z", "query", "key", "value"
    return [Case(about, dict(zip(names, rest, strict=True))) for about, *rest in inputs]


def stepping(
    of_query=phi,
    of_key=phi,
    of_value=lambda value: value,
    in_S=None,
    in_z=None,
    added=torch.outer,
    join_S=torch.add,
    join_z=torch.add,
    add_z=lambda key, value: key,
    read=lambda asked, S: asked @ S,
    below=lambda asked, z: asked @ z,
    reads_S=lambda old, new: new,
    reads_z=lambda old, new: new,
    finish=lambda S, z, output: (S, z, output),
):
    """`linear_step` with one or more misconceptions; `in_S` and `in_z` are what the state gets of the key, if it is not φ."""

    def answer(S, z, query, key, value):
        asked, value = of_query(query), of_value(value)
        new_S = join_S(S, added((in_S or of_key)(key), value))
        new_z = join_z(z, add_z((in_z or of_key)(key), value))
        output = read(asked, reads_S(S, new_S)) / below(asked, reads_z(z, new_z))
        return finish(new_S, new_z, output)

    return answer


LINEAR_STEP = Exercise("linear_step", "further_and_cheaper", linear_cases, stepping(), LINEAR, tolerance=1e-4)


def raw(x):
    return x


PHI = "φ acts on the query and on the key, on each number: elu(a) + 1. Otherwise weights may be negative."
LINEAR_STEP.misconception("φ is left out", PHI)(stepping(of_query=raw, of_key=raw))
LINEAR_STEP.misconception("φ is left out of the query", PHI)(stepping(of_query=raw))
LINEAR_STEP.misconception("φ is left out of the key", PHI)(stepping(of_key=raw))
LINEAR_STEP.misconception("φ is left out of the key in S", "The same φ(key) goes into S and into z.")(
    stepping(in_S=raw)
)
LINEAR_STEP.misconception("φ is left out of the key in z", "The same φ(key) goes into S and into z.")(
    stepping(in_z=raw)
)
LINEAR_STEP.misconception("φ acts on the value, too", "Values may be negative: what is averaged stays as it is.")(
    stepping(of_value=phi)
)
PLUS_1 = "φ(a) is elu(a) + 1: what is it at a = 0, and at a = −1?"


def same_for_both(function):
    return stepping(of_query=function, of_key=function)


LINEAR_STEP.misconception("φ is elu, without the 1", PLUS_1)(same_for_both(F.elu))
LINEAR_STEP.misconception("φ is relu", PLUS_1)(same_for_both(F.relu))
LINEAR_STEP.misconception("φ is relu + 1", PLUS_1)(same_for_both(lambda x: F.relu(x) + 1))
LINEAR_STEP.misconception("φ is the exponential", "Above 0, φ(a) is a + 1. exp is there below 0 only.")(
    same_for_both(torch.exp)
)
LINEAR_STEP.misconception(
    "φ is x above 0, without the 1", "φ(a) is elu(a) + 1, which is a + 1 for a > 0. What is φ(2)?"
)(same_for_both(lambda x: torch.where(x > 0, x, x.exp())))
LINEAR_STEP.misconception(
    "the two branches of φ have changed places", "φ(a) is a + 1 for a > 0, and exp below. What is φ(−2)?"
)(same_for_both(lambda x: torch.where(x > 0, x.exp(), x + 1)))
LINEAR_STEP.misconception("φ is x + 1, below 0 as well", PLUS_1)(same_for_both(lambda x: x + 1))
LINEAR_STEP.misconception("the 1 is added before elu is taken", PLUS_1)(same_for_both(lambda x: F.elu(x + 1)))
LINEAR_STEP.misconception("φ is softplus", PLUS_1)(same_for_both(F.softplus))
LINEAR_STEP.misconception("φ is a softmax", "φ acts on each number by itself, and there is no softmax anywhere.")(
    same_for_both(lambda x: x.softmax(-1))
)
LINEAR_STEP.misconception(
    "the query is divided by √d", "There is no softmax here that large scores could harm: φ(query) alone."
)(stepping(of_query=lambda x: phi(x / len(x) ** 0.5)))
LINEAR_STEP.misconception(
    "the output is not divided", "Weights must sum to 1. z holds the sum of all φ(key): what is φ(query) · z?"
)(stepping(below=lambda asked, z: 1))
LINEAR_STEP.misconception("it is divided by the sum of z", "The weights of *this* query must sum to 1: φ(query) · z.")(
    stepping(below=lambda asked, z: z.sum())
)
LINEAR_STEP.misconception("it is divided by z, number by number", "The divisor is one number: φ(query) · z.")(
    stepping(below=lambda asked, z: z)
)
LINEAR_STEP.misconception(
    "the products of φ(query) and z are not summed", "φ(query) · z is one number: is it made with @, or with *?"
)(stepping(below=lambda asked, z: asked * z))
LINEAR_STEP.misconception(
    "the query is divided by z before S is asked", "The divisor is one number, and it comes last: φ(query) · z."
)(stepping(read=lambda asked, S: asked, below=lambda asked, z: 1, finish=lambda S, z, asked: (S, z, (asked / z) @ S)))
LINEAR_STEP.misconception(
    "it is divided by the query's own sum",
    "The weights must sum to 1, and they are made of query and keys: φ(query) · z.",
)(stepping(below=lambda asked, z: asked.sum()))
LINEAR_STEP.misconception(
    "the output is brought to length 1",
    "It is the *weights* that must sum to 1. That takes φ(query) · z.",
)(stepping(read=lambda asked, S: F.normalize(asked @ S, dim=0), below=lambda asked, z: 1))
for place in ("divisor", "numerator"):
    LINEAR_STEP.misconception(f"φ is left out of the query in the {place}", "The same φ(query) asks S and z.")(
        lambda S, z, query, key, value, below=place == "divisor": (
            stepping(below=lambda asked, z: query @ z) if below else stepping(read=lambda asked, S: query @ S)
        )(S, z, query, key, value)
    )
FIRST = "A word sees itself, too: take its key and value in first, then read."
LINEAR_STEP.misconception("it reads before the word is taken in", FIRST)(
    stepping(reads_S=lambda old, new: old, reads_z=lambda old, new: old)
)
LINEAR_STEP.misconception("it reads S before the word is taken in", FIRST)(stepping(reads_S=lambda old, new: old))
LINEAR_STEP.misconception("it reads z before the word is taken in", FIRST)(stepping(reads_z=lambda old, new: old))
TURNED_ROUND = (
    "S has a row for each number of the key, a column for each of the value: S[i, j] gains φ(key)[i] · value[j]."
)
LINEAR_STEP.misconception("the outer product is transposed", TURNED_ROUND)(
    stepping(added=lambda key, value: torch.outer(value, key))
)
LINEAR_STEP.misconception("the outer product is transposed", TURNED_ROUND)(
    stepping(added=lambda key, value: torch.outer(value, key), read=lambda asked, S: S @ asked)
)
LINEAR_STEP.misconception(
    "S is read the wrong way round",
    "The query meets the keys, which are the rows of S; what is left has the size of a value.",
)(stepping(read=lambda asked, S: S @ asked))
LINEAR_STEP.misconception(
    "key and value are multiplied number by number",
    "S is a table: every number of the key with every number of the value.",
)(stepping(added=lambda key, value: key * value))
LINEAR_STEP.misconception(
    "one dot product is added everywhere", "S is a table: every number of the key with every number of the value."
)(stepping(added=lambda key, value: key @ value))
KEEP = "S and z are sums over *all* words so far: the new word is added to what is there."
LINEAR_STEP.misconception("the words before are forgotten", KEEP)(
    stepping(join_S=lambda old, new: new, join_z=lambda old, new: new)
)
LINEAR_STEP.misconception("the words before are forgotten in S", KEEP)(stepping(join_S=lambda old, new: new))
LINEAR_STEP.misconception("the words before are forgotten in z", KEEP)(stepping(join_z=lambda old, new: new))
LINEAR_STEP.misconception("z stays as it was", "z gains φ(key) at every word.")(stepping(join_z=lambda old, new: old))
LINEAR_STEP.misconception("z gains the value", "z is the sum of all φ(key): it has the size of a key.")(
    stepping(add_z=lambda key, value: value)
)
LINEAR_STEP.misconception("z gains 1, as a counter", "z is the sum of all φ(key), not their number.")(
    stepping(add_z=lambda key, value: 1)
)
LINEAR_STEP.misconception(
    "z gains the sum of the key's numbers", "z is a vector: number i of it gains number i of φ(key)."
)(stepping(add_z=lambda key, value: key.sum()))
LINEAR_STEP.misconception("query and key have changed places", "The key goes into the state; the query reads it.")(
    lambda S, z, query, key, value: stepping()(S, z, key, query, value)
)
LINEAR_STEP.misconception(
    "only the output comes out", "The next word needs S and z: three things are wanted, S, z and the output."
)(stepping(finish=lambda S, z, output: output))
LINEAR_STEP.misconception("the output comes first", "Three things are wanted in this order: S, z and the output.")(
    stepping(finish=lambda S, z, output: (output, S, z))
)
LINEAR_STEP.misconception(
    "the state is handed back as it came", "The output is right. But the next word needs a state in which this one is."
)(lambda S, z, query, key, value: (S, z, stepping()(S, z, query, key, value)[2]))


# ---- cache_bytes(words, layers, heads, sets, model_size, bits) ----


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


def kept(count):
    """Bytes, from the keys and values of each layer and all other numbers."""
    return lambda words, layers, heads, sets, model_size, bits: count(words, layers, heads, sets, model_size, bits)


CACHE_BYTES = Exercise(
    "cache_bytes",
    "further_and_cheaper",
    cache_cases,
    kept(lambda n, L, h, g, d, b: 2 * n * L * g * d / h * b / 8),
    CACHE,
    tolerance=1e-6,
)

CACHE_BYTES.misconception(
    "only the keys are counted, or only the values", "Of every word a set keeps two vectors. Which?"
)(kept(lambda n, L, h, g, d, b: n * L * g * d / h * b / 8))
CACHE_BYTES.misconception(
    "queries are counted, too", "A query is needed once, when its word comes. Keys and values are kept."
)(kept(lambda n, L, h, g, d, b: 3 * n * L * g * d / h * b / 8))
SHARED = (
    "Heads that share a set keep one key and one value together. How many keys has a word in a layer? And how long is "
    "one: by what is model_size divided?"
)
CACHE_BYTES.misconception("every head has keys and values of its own", SHARED)(
    kept(lambda n, L, h, g, d, b: 2 * n * L * d * b / 8)
)
CACHE_BYTES.misconception(
    "every head has keys and values of its own, and only one of both is counted",
    "How many keys has a word in a layer, if heads share sets? And what is kept beside the keys?",
)(kept(lambda n, L, h, g, d, b: n * L * d * b / 8))
CACHE_BYTES.misconception(
    "a set has as many numbers as the whole model",
    "model_size is cut into heads, and a key has the numbers of one head. How many are these?",
)(kept(lambda n, L, h, g, d, b: 2 * n * L * g * d * b / 8))
CACHE_BYTES.misconception(
    "the model size is divided by the sets",
    "Sharing does not make a key longer: its size is that of a head, d / heads.",
)(kept(lambda n, L, h, g, d, b: 2 * n * L * h * d / g * b / 8))
CACHE_BYTES.misconception(
    "the number of sets is taken for the heads of a set",
    "sets says how many keys a word has in a layer. It multiplies; it does not divide.",
)(kept(lambda n, L, h, g, d, b: 2 * n * L * d / g * b / 8))
CACHE_BYTES.misconception(
    "the sets are not counted", "That is the cache of one set. Every set keeps keys and values of its own."
)(kept(lambda n, L, h, g, d, b: 2 * n * L * d / h * b / 8))
CACHE_BYTES.misconception(
    "bytes are rounded down before all are counted",
    "Where a number has half a byte, an odd count of them leaves a rest. Divide last.",
)(kept(lambda n, L, h, g, d, b: n * L * g * d // h * b // 8 * 2))
CACHE_BYTES.misconception("bits are counted, not bytes", "A byte has eight bits.")(
    kept(lambda n, L, h, g, d, b: 2 * n * L * g * d / h * b)
)
CACHE_BYTES.misconception("numbers are counted, not bytes", "How many bytes does a number of so many bits take?")(
    kept(lambda n, L, h, g, d, b: 2 * n * L * g * d / h)
)
CACHE_BYTES.misconception("every number has four bytes", "How many bytes a number takes, the argument bits says.")(
    kept(lambda n, L, h, g, d, b: 2 * n * L * g * d / h * 4)
)
CACHE_BYTES.misconception("every number has two bytes", "How many bytes a number takes, the argument bits says.")(
    kept(lambda n, L, h, g, d, b: 2 * n * L * g * d / h * 2)
)
CACHE_BYTES.misconception(
    "8 is divided by the bits", "A number of 16 bits takes two bytes. Which is divided by which?"
)(kept(lambda n, L, h, g, d, b: 2 * n * L * g * d / h * 8 / b))
CACHE_BYTES.misconception(
    "the sets of a head are rounded to a whole number",
    "Fewer sets than heads: sets // heads is 0. What do heads divide?",
)(kept(lambda n, L, h, g, d, b: 2 * n * L * (g // h) * d * b / 8))
for of_a_key in (
    lambda numbers, b: numbers * (b // 8),
    lambda numbers, b: numbers * max(1, b // 8),
    lambda numbers, b: numbers * b // 8,
    lambda numbers, b: math.ceil(numbers * b / 8),
):
    CACHE_BYTES.misconception(
        "half a byte is rounded", "With 4 bits, two numbers share a byte. Multiply first, divide then."
    )(kept(lambda n, L, h, g, d, b, of_a_key=of_a_key: 2 * n * L * g * of_a_key(d // h, b)))
CACHE_BYTES.misconception("the layers are not counted", "Every layer has keys and values of its own.")(
    kept(lambda n, L, h, g, d, b: 2 * n * g * d / h * b / 8)
)
CACHE_BYTES.misconception("one word alone is counted", "The cache has the keys and values of all words read so far.")(
    kept(lambda n, L, h, g, d, b: 2 * L * g * d / h * b / 8)
)
CACHE_BYTES.misconception(
    "it grows with the square of the words", "Scores are between pairs of words; keys are of single words."
)(kept(lambda n, L, h, g, d, b: 2 * n * n * L * g * d / h * b / 8))
for size in (2**10, 2**20, 2**30, 10**3, 10**6, 10**9):
    CACHE_BYTES.misconception("it is not in bytes, but in thousands, millions or more of them", "Bytes are wanted.")(
        kept(lambda n, L, h, g, d, b, size=size: 2 * n * L * g * d / h * b / 8 / size)
    )


# ---- write_on(x, past, W_q, W_k, W_v) ----


def write_cases(generator: torch.Generator) -> list[Case]:
    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator)

    def given(before: int, d: int, k: int, dtype=torch.float32, times: float = 1.0) -> list:
        weights = [times * draw(*shape).to(dtype) / d**0.5 for shape in ((d, k), (d, k), (d, k))]
        words = draw(before, d).to(dtype)
        past = hand_turned(words @ weights[1], 0), words @ weights[2]
        return [draw(1, d).to(dtype), past, *weights]

    crossed = given(4, 3, 6)
    crossed[2:] = [W.T.contiguous().T for W in crossed[2:]]
    inputs = [
        ("two words in the past", *given(2, 3, 2)),
        ("three words in the past, two pairs", *given(3, 3, 4)),
        ("one word in the past", *given(1, 4, 4)),
        ("the very first word", *given(0, 3, 2)),
        ("many words in the past", *given(17, 6, 4)),
        ("as many words as numbers in a key", *given(4, 4, 4)),
        ("a larger head", *given(5, 4, 8)),
        ("large scores", *given(4, 3, 4, torch.float64, 6.0)),
        ("float64", *given(3, 5, 6, torch.float64)),
        ("weights that do not lie in order in memory", *crossed),
    ]
    return [Case(about, dict(zip(("x", "past", "W_q", "W_k", "W_v"), rest, strict=True))) for about, *rest in inputs]


def hand_turned(x, start):
    """Rows turned as at the places start, start + 1, …"""
    return rotating()(x[None], start)[0]


def writing(
    query_at=len,
    key_at=len,
    value_at=None,
    keep=lambda key, value, keys, values: (keys, values),
    join=lambda old, new: torch.cat([old, new]),
    divide=lambda k, d: k**0.5,
    meets=lambda keys, new: keys,
):
    """`write_on` with one or more misconceptions; a place is made of the cached keys, and None turns nothing."""

    def placed(x, place, keys):
        return x if place is None else hand_turned(x, place(keys))

    def answer(x, past, W_q, W_k, W_v):
        query, key = placed(x @ W_q, query_at, past[0]), placed(x @ W_k, key_at, past[0])
        value = placed(x @ W_v, value_at, past[0])
        keys, values = join(past[0], key), join(past[1], value)
        scores = query @ meets(keys, key).T / divide(W_k.shape[1], x.shape[1])
        return scores.softmax(-1) @ values, keep(key, value, keys, values)

    return answer


def first_place(keys):
    return 0


WRITE_ON = Exercise("write_on", "further_and_cheaper", write_cases, writing(), WRITING, tolerance=1e-4)

WRITE_ON.misconception(
    "every new word stands at place 0",
    "At place 0 nothing turns. Behind how many words does the new one stand, and where do you learn it?",
)(writing(first_place, first_place))
WRITE_ON.misconception(
    "the place is mended, but values are still turned",
    "A score compares query and key, so these are turned. A value is what is handed over: who would turn it back?",
)(writing(value_at=len))
WRITE_ON.misconception("the query still stands at place 0", "Query and key of the new word stand at the same place.")(
    writing(query_at=first_place)
)
WRITE_ON.misconception("the key still stands at place 0", "Query and key of the new word stand at the same place.")(
    writing(key_at=first_place)
)
WRITE_ON.misconception("the query still stands at place 0", "And the value is still turned: it should stay as it is.")(
    writing(query_at=first_place, value_at=len)
)
WRITE_ON.misconception("the key still stands at place 0", "And the value is still turned: it should stay as it is.")(
    writing(key_at=first_place, value_at=len)
)
COUNT_0 = "Places are counted from 0: with two words in the past, the new one stands at place 2."


def one_further(keys):
    return len(keys) + 1


def one_before(keys):
    return max(0, len(keys) - 1)


WRITE_ON.misconception("the new word stands one place too far", COUNT_0)(writing(one_further, one_further))
WRITE_ON.misconception("the new word stands one place too far", COUNT_0)(writing(one_further, one_further, one_further))
WRITE_ON.misconception("the new word stands one place too early", COUNT_0)(writing(one_before, one_before))
WRITE_ON.misconception("the new word stands one place too early", COUNT_0)(
    writing(lambda keys: len(keys) - 1, lambda keys: len(keys) - 1)
)
for query_at in (first_place, lambda keys: -len(keys)):
    WRITE_ON.misconception(
        "the place of the new word has a minus",
        "Keys of the past stand at the places 0, 1, 2, …, and the new word behind them. Turned back, it would stand in front.",
    )(writing(query_at, lambda keys: -len(keys)))
WRITE_ON.misconception(
    "the query stands one place behind its key",
    "Is the place counted once before and once after the key is appended? Both belong to the same word.",
)(writing(query_at=one_further))
WRITE_ON.misconception(
    "the number of tensors is taken for the number of words",
    "`past` is a pair: len(past) is 2. How long are its two parts?",
)(writing(lambda keys: 2, lambda keys: 2))
WRITE_ON.misconception(
    "the number of tensors is taken for the number of words",
    "`past` is a pair: len(past) is 2. How long are its two parts?",
)(writing(lambda keys: 2, lambda keys: 2, lambda keys: 2))


@WRITE_ON.misconception(
    "the keys of the past are turned again",
    "In the past the keys stand as they were turned when their words came. Turn the new one alone, then append it.",
)
def turned_again(x, past, W_q, W_k, W_v):
    keys, values = torch.cat([past[0], x @ W_k]), torch.cat([past[1], x @ W_v])
    turned, query = hand_turned(keys, 0), hand_turned(x @ W_q, len(past[0]))
    return F.scaled_dot_product_attention(query, turned, values), (turned, values)


@WRITE_ON.misconception(
    "the keys of the past are turned again",
    "In the past the keys stand as they were turned when their words came. Turn the new one alone, then append it.",
)
def turned_again_and_kept_raw(x, past, W_q, W_k, W_v):
    output, (_, values) = turned_again(x, past, W_q, W_k, W_v)
    return output, (torch.cat([past[0], x @ W_k]), values)


@WRITE_ON.misconception(
    "the key is kept as it was before the turn", "The next word will compare with it as it lies there: keep it turned."
)
def kept_raw(x, past, W_q, W_k, W_v):
    output, (_, values) = writing()(x, past, W_q, W_k, W_v)
    return output, (torch.cat([past[0], x @ W_k]), values)


for padded in (True, False):  # a word of an odd size cannot be turned, unless a 0 is put behind it
    for handed in (lambda x, turned: turned, lambda x, turned: x):

        def word_turned(x, past, W_q, W_k, W_v, padded=padded, handed=handed):
            n, d = len(past[0]), x.shape[1]
            turned = hand_turned(F.pad(x, (0, d % 2)), n)[:, :d] if padded else hand_turned(x, n)
            keys, values = torch.cat([past[0], turned @ W_k]), torch.cat([past[1], handed(x, turned) @ W_v])
            return F.scaled_dot_product_attention(turned @ W_q, keys, values), (keys, values)

        WRITE_ON.misconception(
            "the word itself is turned",
            "x is projected first. Query and key are turned, each by itself, and the value is not.",
        )(word_turned)


WRITE_ON.misconception(
    "the past is handed back as it came", "The next word will want the key and the value of this one, too."
)(lambda x, past, W_q, W_k, W_v: (writing()(x, past, W_q, W_k, W_v)[0], past))
WRITE_ON.misconception(
    "only the new key and value are handed back", "The next word will look at *all* words before it."
)(writing(keep=lambda key, value, keys, values: (key, value)))
WRITE_ON.misconception(
    "keys and values have changed places", "The past is a pair (keys, values), and so must be what you hand back."
)(writing(keep=lambda key, value, keys, values: (values, keys)))


@WRITE_ON.misconception(
    "a word does not see itself", "Its own key and value are among those that it meets: append first, then compare."
)
def too_late(x, past, W_q, W_k, W_v):
    query = hand_turned(x @ W_q, len(past[0]))
    output = (query @ past[0].T / W_k.shape[1] ** 0.5).softmax(-1) @ past[1]
    return output, writing()(x, past, W_q, W_k, W_v)[1]


WRITE_ON.misconception("the new key is put in front", "It is appended: row i of the past is the word at place i.")(
    writing(join=lambda old, new: torch.cat([new, old]))
)
WRITE_ON.misconception(
    "the size of a key is taken for the number of words", "keys have the shape (s, k): s says how many words were read."
)(writing(lambda keys: keys.shape[1], lambda keys: keys.shape[1]))
WRITE_ON.misconception(
    "all numbers in the keys are counted, not the words", "keys have the shape (s, k): s says how many words were read."
)(writing(torch.numel, torch.numel))
WRITE_ON.misconception("the scores are not divided by √k", "That was right in what you were given.")(
    writing(divide=lambda k, d: 1)
)
WRITE_ON.misconception(
    "the scores are divided by √d of the word",
    "k is the size of a query and of a key. That was right in what you were given.",
)(writing(divide=lambda k, d: d**0.5))
WRITE_ON.misconception(
    "only the output comes out", "Two things are wanted: the output, and the past with the new word's key and value."
)(lambda x, past, W_q, W_k, W_v: writing()(x, past, W_q, W_k, W_v)[0])


# ---- how far a name is brought: an experiment ----


KNOWN_UP_TO = Question(
    "known_up_to",
    "further_and_cheaper",
    lambda: [6, 12, 12, 19],
    (
        Misconception("every layer leads a whole window back", "Read the picture: the window's own word is one of the four, so a layer leads three back.", [8, 16, 14, 19]),
        Misconception("these are the first places without the name", "Wanted are the *last* places at which it is known. The first word stands at place 0.", [7, 13, 13, 20]),
        Misconception("the windows' models are one place too far", "Wanted are the *last* places at which the name is known, and the first word stands at place 0.", [7, 13, 13, 19]),
        Misconception("the windows' models are one place too near", "Read the three curves once more: at which place do they still stand at the top?", [5, 11, 11, 19]),
        Misconception("all are one place too near", "Places are counted from 0, and the last is place 19.", [5, 11, 11, 18]),
        Misconception("D's last place is one too far", "Twenty words, and the first stands at place 0. At which place stands the last?", [6, 12, 12, 20]),
        Misconception("D's last place is one too near", "Does the curve of D fall before the last word?", [6, 12, 12, 18]),
        Misconception("every layer leads a whole window back", "Read the picture. `layers * width` is more than the words that are reached: the windows share one.", [7, 15, 13, 19]),
        Misconception("that is what one layer sees", "What layer 1 brought into a vector, layer 2 brings on. Read the curves.", [3, 3, 6, 19]),
        Misconception("B and C are taken for different", "Two of the curves fall at the same place. Which?", [6, 12, 14, 19]),
        Misconception("linear attention is taken for a window", "D has no window. Where does its curve fall?", [6, 12, 12, 12]),
        Misconception("linear attention is taken for a window", "D has no window. Where does its curve fall?", [6, 12, 12, 3]),
        Misconception("linear attention is thought to know nothing", "D keeps a sum over all words. Where does its curve fall?", [6, 12, 12, 0]),
        Misconception("all are thought to know it to the end", "Three of the curves fall. Where?", [19, 19, 19, 19]),
        Misconception("the models stand in another order", "First A, then B, C and D.", [12, 12, 6, 19]),
        Misconception("the models stand in another order", "First A, then B, C and D.", [12, 6, 12, 19]),
        Misconception("that is one number", "Four places are asked for, in a list: of A, B, C and D.", 6),
    ),
    LAYERS,
)  # fmt: skip

del whole, of_a_key, query_at, handed  # functions that loops have named

ASKED = [TURNED, ROTARY, ALIBI, MERGE_TILES, WINDOW_MASK, REACH, LINEAR_STEP, CACHE_BYTES, WRITE_ON, KNOWN_UP_TO]
