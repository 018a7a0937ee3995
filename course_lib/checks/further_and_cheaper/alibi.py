"""`alibi(heads, queries, keys)`: what each head adds to its scores, depending on the distance between the words."""

import torch

from course_lib.checks.engine import Case, Exercise


def alibi_cases(generator: torch.Generator) -> list[Case]:
    def some(low: int, high: int) -> int:
        return int(torch.randint(low, high, (), generator=generator))

    inputs = [
        ("two heads, two queries after one other word", 2, 2, 3),
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
    "far keys get higher scores, not lower ones",
    "The bias is added to the score. Which sign gives far keys less weight?",
    ("-distance", "distance"),
)
ALIBI.edit(
    "later keys get higher scores",
    "The distance is |i − j|. A key two words after the query is as far away as a key two words before it.",
    ("(query - key).abs()", "query - key"),
)
ALIBI.edit(
    "earlier keys get higher scores",
    "q − k and k − q differ in sign, but a distance has no sign. A key further away must lose, on either side.",
    ("(query - key).abs()", "key - query"),
)
LATER = "Hiding later keys is the mask's job, done elsewhere. Here only the distance counts, on either side."
ALIBI.edit("later keys are masked", LATER, ("abs()", "masked_fill(key > query, torch.inf)"))
ALIBI.edit("later keys get no bias", LATER, ("abs()", "clamp(min=0)"))
ALIBI.edit(
    "earlier keys get no bias",
    "A key before the query has the distance |i − j|, too. Does a clamp or a triu set it to 0?",
    ("(query - key).abs()", "(key - query).clamp(min=0)"),
)
ALIBI.edit(
    "the queries are taken for the first words",
    "The queries belong to the *last* words. With one query and five keys, at which position is the query?",
    ("keys - queries, keys", "queries"),
)
LAST = "The last query is the last word. With five keys it is at position 4, and the distance to its own key is 0."
ALIBI.edit("the queries are one position too late", LAST, ("keys - queries, keys", "keys - queries + 1, keys + 1"))
ALIBI.edit("the queries are one position too early", LAST, ("keys - queries, keys", "keys - queries - 1, keys - 1"))
ALIBI.edit(
    "all queries are at the last position",
    "Each query is a word of its own. At which position is the first of two queries?",
    ("torch.arange(keys - queries, keys", "torch.full((queries,), keys - 1"),
)
ALIBI.edit(
    "a word has the distance 1 from itself",
    "The distance of a query from its own key is 0, and so is the bias there.",
    ("abs()", "abs() + 1"),
)
ALIBI.edit(
    "the bias depends on the key's position alone",
    "What counts is how far the key is from the query. (Under a causal mask, the softmax hides the mistake.)",
    ("(query - key).abs()", "-key.expand(queries, keys)"),
)
ALIBI.edit(
    "the bias depends on the key's position alone",
    "What counts is how far the key is from the query, not where the key is.",
    ("(query - key).abs()", "key.expand(queries, keys)"),
)
STRAIGHT = "The bias is proportional to the distance. Twice as far is twice the bias."
ALIBI.edit("the distance is squared", STRAIGHT, ("abs()", "square()"))
ALIBI.edit("the logarithm of the distance is taken", STRAIGHT, ("abs()", "abs().log1p()"))
ALIBI.edit(
    "the slopes are those of eight heads",
    "2^(−h) is correct only for eight heads. In the formula, H is the number of heads.",
    ("-8 * h / heads", "-h"),
)
for same_h, hint in (
    (1, "m_h has an h, so every head has a slope of its own."),
    ("heads", "m_h has an h, so every head has a slope of its own."),
    (0, "Where is m_h? The bias is the slope of the head times the distance."),
):
    ALIBI.edit("all heads have the same slope", hint, ("torch.arange(1, heads + 1", f"torch.full((heads,), {same_h}"))
ALIBI.edit(
    "heads are counted from 0",
    "h goes from 1 to H. So the last slope is 2^(−8) for any number of heads.",
    ("1, heads + 1", "heads"),
)
ALIBI.edit(
    "heads are counted from 0",
    "h goes from 1 to H. The first of eight slopes is 1/2.",
    ("1, heads + 1", "heads"),
    ("-8 * h / heads", "-h"),
)
ALIBI.edit(
    "the slopes are in reverse order", "The first head has the steepest slope.", ("1, heads + 1", "heads, 0, -1")
)
ALIBI.edit(
    "the 8 is left out of the exponent",
    "With two heads, the exponents are −4 and −8. What are yours?",
    ("-8 * h / heads", "-h / heads"),
)
ALIBI.edit(
    "the fraction in the exponent is upside down",
    "What is divided by what? With eight heads, the exponent of the first head is −1.",
    ("-8 * h / heads", "-8 / h"),
)
ALIBI.edit(
    "the fraction in the exponent is upside down",
    "What is divided by what? With two heads, the exponents are −4 and −8.",
    ("-8 * h / heads", "-heads * h / 8"),
)
ALIBI.edit(
    "the base of the power is e, not 2",
    "With eight heads, each slope is half of the one before. What must the base be, then?",
    ("2.0 **", "torch.exp"),
)
ALIBI.edit(
    "the slope is the exponent itself, not a power",
    "The slope is 2 to the power of −8h/H, not 8h/H itself.",
    ("2.0 ** (-8 * h / heads)", "8 * h / heads"),
)
ALIBI.edit(
    "the exponent's minus sign is missing",
    "Slopes are small: 2^(−8) is 1/256. Which sign does your exponent have?",
    ("-8 * h", "8 * h"),
)
for whole in ("-8 * h // heads", "-(8 * h // heads)", "-(8 // heads) * h"):
    ALIBI.edit(
        "the exponent is rounded to a whole number",
        "With sixteen heads, the first exponent is −1/2. Does a // round it?",
        ("-8 * h / heads", whole),
    )
ALIBI.edit(
    "the slopes are rounded to 0",
    "In torch, a power of whole numbers is a whole number, so 2 ** −4 becomes 0. Are your base and exponent both whole?",
    ("2.0 ** (-8 * h / heads)", "0 * h"),
)
ALIBI.edit(
    "the result has a row for every word, not for every query",
    "The queries belong to the last words. Only their rows are wanted.",
    ("keys - queries, keys", "keys"),
)
ALIBI.misconception("the axis of the heads comes last", "The axes of the result are (heads, queries, keys).")(
    lambda heads, queries, keys: alibi(heads, queries, keys).permute(1, 2, 0)
)
ALIBI.misconception("the axes of queries and keys are swapped", "Each query has a row, and each key has a column.")(
    lambda heads, queries, keys: alibi(heads, queries, keys).mT
)
