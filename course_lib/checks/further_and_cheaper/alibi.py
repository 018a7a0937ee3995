"""`alibi(heads, queries, keys)`: what each head adds to its scores, by the distance of the words."""

import torch

from course_lib.checks.engine import Case, Exercise


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


def alibi(heads, queries, keys):
    h = torch.arange(1, heads + 1, dtype=torch.float64)
    slopes = 2.0 ** (-8 * h / heads)
    query = torch.arange(keys - queries, keys, dtype=torch.float64)[:, None]
    key = torch.arange(keys, dtype=torch.float64)
    distance = (query - key).abs()
    return slopes[:, None, None] * -distance


ALIBI = Exercise(
    "alibi",
    "further_and_cheaper",
    alibi_cases,
    alibi,
    'lesson 9, "Further"; glossary.show("linear biases")',
    tolerance=1e-6,
    banned=("course_lib.positions",),
)

ALIBI.edit(
    "far keys gain, where they should lose",
    "The bias is added to the score, and a far key must come out with less.",
    ("-distance", "distance"),
)
ALIBI.edit(
    "later keys gain",
    "The distance is |i − j|: a key two words behind the query is two away, as one before it.",
    ("(query - key).abs()", "query - key"),
)
ALIBI.edit(
    "earlier keys gain",
    "q − k and k − q differ in their sign, and a distance has none: whoever stands away loses, on either side.",
    ("(query - key).abs()", "key - query"),
)
LATER = "To hide what comes later is the mask's work, done elsewhere. Here only the distance counts, on either side."
ALIBI.edit("later keys are masked", LATER, ("abs()", "masked_fill(key > query, torch.inf)"))
ALIBI.edit("later keys have no bias", LATER, ("abs()", "clamp(min=0)"))
ALIBI.edit(
    "earlier keys have no bias",
    "A key before the query is |i − j| away, too. Does a clamp, or triu, cut it off?",
    ("(query - key).abs()", "(key - query).clamp(min=0)"),
)
ALIBI.edit(
    "the queries are taken for the first words",
    "The queries are the *last* of the words: with one query and five keys, at which place does it stand?",
    ("keys - queries, keys", "queries"),
)
LAST = "The last query is the last word: with five keys it stands at place 4, and its own key is no distance away."
ALIBI.edit("the queries stand one place too far", LAST, ("keys - queries, keys", "keys - queries + 1, keys + 1"))
ALIBI.edit("the queries stand one place too early", LAST, ("keys - queries, keys", "keys - queries - 1, keys - 1"))
ALIBI.edit(
    "all queries stand at the last place",
    "Each query is a word of its own. Where does the first of two queries stand?",
    ("torch.arange(keys - queries, keys", "torch.full((queries,), keys - 1"),
)
ALIBI.edit(
    "the word itself is one away",
    "A query stands at no distance from its own key: there the bias is 0.",
    ("abs()", "abs() + 1"),
)
ALIBI.edit(
    "the bias is made of the key's place",
    "What counts is how far the key is from the query. (With a causal mask a softmax would not tell; a look ahead would.)",
    ("(query - key).abs()", "-key.expand(queries, keys)"),
)
ALIBI.edit(
    "the bias is made of the key's place",
    "What counts is how far the key is from the query, and not where it stands.",
    ("(query - key).abs()", "key.expand(queries, keys)"),
)
STRAIGHT = "The score falls in a straight line: twice as far, twice the bias."
ALIBI.edit("the distance is squared", STRAIGHT, ("abs()", "square()"))
ALIBI.edit("the logarithm of the distance is taken", STRAIGHT, ("abs()", "abs().log1p()"))
ALIBI.edit(
    "the slopes are those of eight heads",
    "2^(−h) is right for eight heads alone. In the formula, H is the number of heads.",
    ("-8 * h / heads", "-h"),
)
for same_h, hint in (
    (1, "m_h has an h: every head falls at a pace of its own."),
    ("heads", "m_h has an h: every head falls at a pace of its own."),
    (0, "Where is m_h? A bias is the slope of its head times the distance."),
):
    ALIBI.edit("all heads have the same slope", hint, ("torch.arange(1, heads + 1", f"torch.full((heads,), {same_h}"))
ALIBI.edit(
    "heads are counted from 0",
    "h goes from 1 to H: the last slope is 2^(−8), whatever the number of heads.",
    ("1, heads + 1", "heads"),
)
ALIBI.edit(
    "heads are counted from 0",
    "h goes from 1 to H, and the first of eight slopes is 1/2.",
    ("1, heads + 1", "heads"),
    ("-8 * h / heads", "-h"),
)
ALIBI.edit(
    "the slopes stand in reverse order", "The first head has the steepest slope.", ("1, heads + 1", "heads, 0, -1")
)
ALIBI.edit(
    "the 8 is left out of the exponent",
    "With two heads the exponents are −4 and −8: 8 · h / H.",
    ("-8 * h / heads", "-h / heads"),
)
ALIBI.edit(
    "the exponent is turned upside down",
    "What is divided by what? With eight heads, the exponent of the first is −1.",
    ("-8 * h / heads", "-8 / h"),
)
ALIBI.edit(
    "the exponent is turned upside down",
    "What is divided by what? With two heads, the exponents are −4 and −8.",
    ("-8 * h / heads", "-heads * h / 8"),
)
ALIBI.edit(
    "the power is taken of e",
    "The base is 2: with eight heads, each slope is half of the one before.",
    ("2.0 **", "torch.exp"),
)
ALIBI.edit(
    "the exponent stands there without its power",
    "The slope is 2 to the −8h/H, not 8h/H itself.",
    ("2.0 ** (-8 * h / heads)", "8 * h / heads"),
)
ALIBI.edit(
    "the minus of the exponent is left out",
    "Slopes are small: 2^(−8) is 1/256. Which way does the exponent go?",
    ("-8 * h", "8 * h"),
)
for whole in ("-8 * h // heads", "-(8 * h // heads)", "-(8 // heads) * h"):
    ALIBI.edit(
        "the exponent is rounded to a whole number",
        "With sixteen heads the first exponent is −1/2: // drops the half.",
        ("-8 * h / heads", whole),
    )
ALIBI.edit(
    "the slopes are rounded to 0",
    "Of whole numbers torch makes whole numbers, and 2 ** −4 is rounded to 0. Are base and exponent both whole?",
    ("2.0 ** (-8 * h / heads)", "0 * h"),
)
ALIBI.edit(
    "there is a row for every word, not for every query",
    "The queries are the last of the words: their rows alone are asked for.",
    ("keys - queries, keys", "keys"),
)
ALIBI.misconception("the axis of the heads stands last", "The result has three axes: (heads, queries, keys).")(
    lambda heads, queries, keys: alibi(heads, queries, keys).permute(1, 2, 0)
)
ALIBI.misconception("queries and keys have changed axes", "A row for each query, a column for each key.")(
    lambda heads, queries, keys: alibi(heads, queries, keys).mT
)
