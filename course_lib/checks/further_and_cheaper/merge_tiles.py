"""`merge_tiles(tile, other)`: what two tiles of keys leave, put together."""

import torch

from course_lib.checks.engine import Case, Exercise


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
BOTH_SUMS = "ℓ and o hold exp(score − m) with the m of their own tile. Under a new m, what must they be multiplied by?"
MERGE_TILES.edit("the sums are added as they are", BOTH_SUMS, (SUM_OF_L, "l_1 + l_2"), (SUM_OF_O, "o_1 + o_2"))
MERGE_TILES.edit("ℓ is brought to the new maximum, o is not", BOTH_SUMS, (SUM_OF_O, "o_1 + o_2"))
MERGE_TILES.edit("o is brought to the new maximum, ℓ is not", BOTH_SUMS, (SUM_OF_L, "l_1 + l_2"))
MERGE_TILES.edit(
    "only the first tile is brought to the new maximum",
    "The larger score may also have come first. Then it is the second tile that was measured from another m.",
    ("(m_2 - m).exp()", "torch.ones_like(m)"),
)
MERGE_TILES.edit(
    "only the second tile is brought to the new maximum",
    "If the second tile has the larger score, it is the first that was measured from another m.",
    ("(m_1 - m).exp()", "torch.ones_like(m)"),
)
WAY_ROUND = "A sum gets smaller when the maximum grows: exp(score − m') = exp(score − m) · exp(m − m')."
MERGE_TILES.edit("the exponent has the wrong sign", WAY_ROUND, (FACTORS, "(m - m_1).exp(), (m - m_2).exp()"))
MERGE_TILES.edit(
    "each tile has the other's factor",
    "The factor of a tile is made of its own old m, and the new one.",
    ("f_1, f_2 =", "f_2, f_1 ="),
)
MERGE_TILES.edit(
    "each factor is made of the other tile's maximum",
    "What counts is the way from a tile's own m to the new one. If its own is the largest, nothing changes for it.",
    (FACTORS, "(m_1 - m_2).exp(), (m_2 - m_1).exp()"),
)
MERGE_TILES.edit(
    "the factor has no exponential",
    "exp(score − m') = exp(score − m) · exp(m − m'): a difference of exponents is a factor exp.",
    (FACTORS, "m_1 - m, m_2 - m"),
)
MERGE_TILES.edit("the factor is a quotient of the maxima", WAY_ROUND, (FACTORS, "m_1 / m, m_2 / m"))
MERGE_TILES.edit(
    "powers of 2 are taken, not of e",
    "The softmax raises e to the scores.",
    (FACTORS, "2 ** (m_1 - m), 2 ** (m_2 - m)"),
)
STILL_A_SUM = "o stays a sum, so that a third tile can be merged. It is divided by ℓ once, when all keys have gone by."
MERGE_TILES.edit("o is divided by ℓ already", STILL_A_SUM, ("total, o", "total, o / total[:, None]"))
MERGE_TILES.edit("only the output comes out", STILL_A_SUM, ("m, total, o", "o / total[:, None]"))
MERGE_TILES.edit("only o comes out", "A third tile may come: m and ℓ are needed, too.", ("m, total, o", "o"))
NOT_YET = "What comes in as o is a sum that nobody has divided yet. Where is it multiplied by ℓ?"
OF_OUTPUTS = SUM_OF_O, "(f_1 * l_1)[:, None] * o_1 + (f_2 * l_2)[:, None] * o_2"
MERGE_TILES.edit("o is taken for an output that is divided already", NOT_YET, OF_OUTPUTS)
MERGE_TILES.edit(
    "o is taken for an output that is divided already", NOT_YET, OF_OUTPUTS, ("total, o", "total, o / total[:, None]")
)


@MERGE_TILES.misconception(
    "only the tile with the larger maximum is kept",
    "The other one has keys, too: their weights are smaller, and not 0.",
)
def winner(tile, other):
    first = tile[0] >= other[0]
    return tuple(torch.where(first if a.ndim == 1 else first[:, None], a, b) for a, b in zip(tile, other, strict=True))


AVERAGE = "An output of a tile with small scores must count for less. Who says how much, if not m and ℓ?"
AVERAGED = SUM_OF_O, "(o_1 / l_1[:, None] + o_2 / l_2[:, None]) / 2"
MERGE_TILES.edit("the outputs of both tiles are averaged", AVERAGE, AVERAGED)
MERGE_TILES.edit("the outputs of both tiles are averaged", AVERAGE, AVERAGED, ("total, o", "total, o * total[:, None]"))
MERGE_TILES.edit(
    "the mean is taken, not the sum",
    "ℓ and o are sums over all keys so far. By what is divided?",
    ("total, o", "total / 2, o / 2"),
)
MERGE_TILES.edit(
    "the outputs are weighted by ℓ alone",
    "ℓ counts from the tile's own maximum: the ℓ of a tile with tiny scores may be just as large.",
    (SUM_OF_O, "(o_1 + o_2) / (l_1 + l_2)[:, None]"),
)
for shared in ("max().expand(len(m_1))", "max()"):
    MERGE_TILES.edit(
        "all queries share one maximum",
        "Every query has a largest score of its own; torch.maximum compares entry by entry.",
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
            "Scores may all lie below that number, and m would no longer be the largest of them. What is exp(−∞ − m)?",
            *changes,
        )
NOT_ONLY = "m is the largest score so far, and it may stand in either tile."
MERGE_TILES.edit("m is always that of the second tile", NOT_ONLY, ("torch.maximum(m_1, m_2)", "m_2"))
MERGE_TILES.edit("m is always that of the first tile", NOT_ONLY, ("torch.maximum(m_1, m_2)", "m_1"))
OF_BOTH = "m is the largest score so far. Of 3 and 5 that is 5."
MERGE_TILES.edit("the maxima are added", OF_BOTH, ("return m", "return m_1 + m_2"))
MERGE_TILES.edit("the maxima are added", OF_BOTH, ("maximum", "add"))
MERGE_TILES.edit(
    "exp of a score overflows",
    "exp(1000) is ∞, and ∞/∞ or ∞ · 0 is NaN. Only differences belong in exp: from a maximum, so that they are never above 0.",
    (FACTORS, "m_1.exp(), m_2.exp()"),
    ("total, o", "total / m.exp(), o / m.exp()[:, None]"),
)
MERGE_TILES.edit(
    "the old maximum is handed on",
    "The third thing to keep is m: the sums now belong to the new one.",
    ("return m", "return m_1"),
)
MERGE_TILES.edit(
    "the factors run along the numbers of a value",
    "A factor belongs to a query. o has a row for each query: give the factor an axis behind, factor[:, None].",
    (SUM_OF_O, "f_1 * o_1 + f_2 * o_2"),
)
