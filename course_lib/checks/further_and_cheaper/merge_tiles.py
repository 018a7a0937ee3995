"""`merge_tiles(tile, other)`: what one tile with the keys of both would leave."""

import torch

from course_lib.checks.engine import Case, Exercise


def tile_of(scores, values):
    """What a tile leaves: the largest score, the sum of exp(score − largest), and the sum of exp(score − largest) times the value."""
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
        odd = torch.arange(queries) % 2
        shifts = torch.where(odd == 0, first, second), torch.where(odd == 0, second, first)
        return [(m.round() + shift, total, o) for (m, total, o), shift in zip(tiles, shifts, strict=True)]

    by_hand = torch.tensor([[1.0, 3.0], [4.0, 2.0]]), torch.tensor([[2.0, 5.0], [1.0, 1.0]])
    values = torch.tensor([[10.0, 1.0], [20.0, 0.0]]), torch.tensor([[30.0, 2.0], [40.0, 0.0]])
    tall, wide = rising(3, 2, 0, 3), draw(3, 4, 2)
    crossed = [(m, total, o.T.contiguous().T) for m, total, o in (tall[0], wide)]
    inputs = [
        ("two queries", *map(tile_of, by_hand, values)),
        ("larger scores in the second tile", draw(3, 4, 2), draw(3, 4, 2, 9.0)),
        ("larger scores in the first tile", draw(3, 4, 2, 9.0), draw(3, 4, 2)),
        ("larger scores in either tile, depending on the query", *rising(4, 3, 1.0, 4.0)),
        ("tiles of different lengths", draw(4, 2, 3), draw(4, 6, 3)),
        ("as many queries as numbers in a value", draw(3, 4, 3), draw(3, 4, 3, 2.0)),
        ("one key in a tile", draw(3, 5, 2), draw(3, 1, 2)),
        ("one query", draw(1, 4, 3), draw(1, 3, 3, 1.0)),
        ("one number in a value", draw(4, 3, 1), draw(4, 3, 1)),
        ("an empty first tile", empty(3, 2), draw(3, 4, 2)),
        ("an empty second tile", draw(2, 4, 3), empty(2, 3)),
        ("scores near 1000", draw(3, 4, 2, 1000.0), draw(3, 3, 2, 1001.0)),
        ("scores near −1000", draw(3, 4, 2, -1000.0), draw(3, 3, 2, -1001.0)),
        ("an empty tile before scores near −1000", empty(3, 2), draw(3, 4, 2, -1000.0)),
        ("an empty tile after scores near −1000", draw(3, 4, 2, -1000.0), empty(3, 2)),
        ("scores far apart", *rising(4, 2, 0.0, 300.0)),
        ("float64", draw(3, 4, 2, 0.0, torch.float64), draw(3, 2, 2, 1.0, torch.float64)),
        ("numbers that are not contiguous in memory", *crossed),
    ]
    return [Case(about, {"tile": tile, "other": other}) for about, tile, other in inputs]


def merge_tiles(tile, other):
    m_1, l_1, o_1 = tile
    m_2, l_2, o_2 = other
    m = torch.maximum(m_1, m_2)
    f_1, f_2 = (m_1 - m).exp(), (m_2 - m).exp()
    total = f_1 * l_1 + f_2 * l_2
    o = f_1[:, None] * o_1 + f_2[:, None] * o_2
    return m, total, o


MERGE_TILES = Exercise(
    "merge_tiles",
    "further_and_cheaper",
    merge_cases,
    merge_tiles,
    'lesson 9, "Exactly the same, cheaper"; glossary.show("flash attention")',
    tolerance=1e-4,
)

FACTORS = "(m_1 - m).exp(), (m_2 - m).exp()"
SUM_OF_L, SUM_OF_O = "f_1 * l_1 + f_2 * l_2", "f_1[:, None] * o_1 + f_2[:, None] * o_2"
BOTH_SUMS = "ℓ and o were summed with the m of their own tile. What must they be multiplied by for a new m?"
MERGE_TILES.edit("the sums are added as they are", BOTH_SUMS, (SUM_OF_L, "l_1 + l_2"), (SUM_OF_O, "o_1 + o_2"))
MERGE_TILES.edit("ℓ is rescaled to the new maximum, but o is not", BOTH_SUMS, (SUM_OF_O, "o_1 + o_2"))
MERGE_TILES.edit("o is rescaled to the new maximum, but ℓ is not", BOTH_SUMS, (SUM_OF_L, "l_1 + l_2"))
MERGE_TILES.edit(
    "only the first tile is rescaled to the new maximum",
    "The larger score may also be in the first tile. Then the sums of the second tile belong to another m.",
    ("(m_2 - m).exp()", "torch.ones_like(m)"),
)
MERGE_TILES.edit(
    "only the second tile is rescaled to the new maximum",
    "If the second tile has the larger score, the sums of the first tile belong to another m.",
    ("(m_1 - m).exp()", "torch.ones_like(m)"),
)
WAY_ROUND = "A sum gets smaller when the maximum grows: exp(score − m') = exp(score − m) · exp(m − m')."
MERGE_TILES.edit("the exponent has the wrong sign", WAY_ROUND, (FACTORS, "(m - m_1).exp(), (m - m_2).exp()"))
MERGE_TILES.edit(
    "the factors of the two tiles are swapped",
    "A tile's factor depends on its own old m and on the new m.",
    ("f_1, f_2 =", "f_2, f_1 ="),
)
MERGE_TILES.edit(
    "each factor compares a tile with the other tile, not with the new maximum",
    "What counts is the step from a tile's own m to the new m. If its own m is the largest, nothing changes for the tile.",
    (FACTORS, "(m_1 - m_2).exp(), (m_2 - m_1).exp()"),
)
MERGE_TILES.edit(
    "the factor has no exponential",
    "A difference in the exponent is a factor: exp(score − m') = exp(score − m) · exp(m − m').",
    (FACTORS, "m_1 - m, m_2 - m"),
)
MERGE_TILES.edit("the factor is a quotient of the maxima", WAY_ROUND, (FACTORS, "m_1 / m, m_2 / m"))
MERGE_TILES.edit(
    "the powers are of 2, not of e",
    "The softmax raises e to the scores.",
    (FACTORS, "2 ** (m_1 - m), 2 ** (m_2 - m)"),
)
STILL_A_SUM = "o stays a sum, so that a third tile can be merged. The division by ℓ comes once, after the last tile."
MERGE_TILES.edit("o is already divided by ℓ", STILL_A_SUM, ("total, o", "total, o / total[:, None]"))
MERGE_TILES.edit("only the output is returned", STILL_A_SUM, ("m, total, o", "o / total[:, None]"))
MERGE_TILES.edit("only o is returned", "A third tile may come, and it needs m and ℓ, too.", ("m, total, o", "o"))
NOT_YET = "The o that comes in is a sum that hasn't been divided yet. Where do you multiply it by ℓ?"
OF_OUTPUTS = SUM_OF_O, "(f_1 * l_1)[:, None] * o_1 + (f_2 * l_2)[:, None] * o_2"
MERGE_TILES.edit("o is taken for an output that is already divided", NOT_YET, OF_OUTPUTS)
MERGE_TILES.edit(
    "o is taken for an output that is already divided", NOT_YET, OF_OUTPUTS, ("total, o", "total, o / total[:, None]")
)


@MERGE_TILES.misconception(
    "only the tile with the larger maximum is kept",
    "The other tile has keys, too. Their weights may be small, but they aren't 0.",
)
def winner(tile, other):
    first = tile[0] >= other[0]
    return tuple(torch.where(first if a.ndim == 1 else first[:, None], a, b) for a, b in zip(tile, other, strict=True))


AVERAGE = "The output of a tile with small scores must count less. m and ℓ tell you how much less."
AVERAGED = SUM_OF_O, "(o_1 / l_1[:, None] + o_2 / l_2[:, None]) / 2"
MERGE_TILES.edit("the outputs of both tiles are averaged", AVERAGE, AVERAGED)
MERGE_TILES.edit("the outputs of both tiles are averaged", AVERAGE, AVERAGED, ("total, o", "total, o * total[:, None]"))
MERGE_TILES.edit(
    "the means of ℓ and o are taken, not the sums",
    "ℓ and o are sums over all keys so far. By what do you divide them?",
    ("total, o", "total / 2, o / 2"),
)
MERGE_TILES.edit(
    "the outputs are weighted by ℓ alone",
    "Each ℓ is relative to its tile's own maximum. A tile with tiny scores may have just as large an ℓ.",
    (SUM_OF_O, "(o_1 + o_2) / (l_1 + l_2)[:, None]"),
)
for shared in ("max().expand(len(m_1))", "max()"):
    MERGE_TILES.edit(
        "all queries share one maximum",
        "Every query has a largest score of its own. torch.maximum compares entry by entry.",
        ("torch.maximum(m_1, m_2)", f"torch.maximum(m_1, m_2).{shared}"),
    )
MERGE_TILES.edit(
    "the smaller maximum is taken",
    "m is the largest score so far. With the smaller one, exp may overflow.",
    ("maximum", "minimum"),
)


def filled(tile, number):
    """A tile with a number in place of −∞."""
    m, total, o = tile
    return m.masked_fill(m.isneginf(), number), total, o


for number in (0.0, -100.0):
    first, second = ("= tile", f"= filled(tile, {number})"), ("= other", f"= filled(other, {number})")
    for changes in ((first, second), (first,), (second,)):
        MERGE_TILES.edit(
            "the −∞ of an empty tile is replaced by a number",
            "All scores may be below that number, and then m wouldn't be the largest of them. What is exp(−∞ − m)?",
            *changes,
        )
NOT_ONLY = "m is the largest score so far, and it may be in either tile."
MERGE_TILES.edit("m is always taken from the second tile", NOT_ONLY, ("torch.maximum(m_1, m_2)", "m_2"))
MERGE_TILES.edit("m is always taken from the first tile", NOT_ONLY, ("torch.maximum(m_1, m_2)", "m_1"))
OF_BOTH = "m is the largest score so far. For 3 and 5 it is 5."
MERGE_TILES.edit("the maxima are added", OF_BOTH, ("return m", "return m_1 + m_2"))
MERGE_TILES.edit("the maxima are added", OF_BOTH, ("maximum", "add"))
MERGE_TILES.edit(
    "exp of a score overflows",
    "exp(1000) is ∞, and ∞/∞ and ∞ · 0 are NaN. Only put differences from a maximum into exp, since they are never above 0.",
    (FACTORS, "m_1.exp(), m_2.exp()"),
    ("total, o", "total / m.exp(), o / m.exp()[:, None]"),
)
MERGE_TILES.edit(
    "the old maximum is returned",
    "The sums now belong to the new m. Which m do you return?",
    ("return m", "return m_1"),
)
MERGE_TILES.edit(
    "the factors multiply the columns of o, not its rows",
    "A factor belongs to a query, and o has a row for each query. Which axis does the factor lack?",
    (SUM_OF_O, "f_1 * o_1 + f_2 * o_2"),
)
