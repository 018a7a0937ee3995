"""`linear_step(S, z, query, key, value)`: linear attention with one more word."""

import torch
from torch.nn import functional as F

from course_lib.checks.engine import Case, Exercise


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
        ("a state that is not contiguous in memory", *crossed),
        ("a first word with numbers far below 0", *given(0, 3, 2)[:2], *(-2 - draw(2, 3).abs()), draw(2)),
    ]
    names = "S", "z", "query", "key", "value"
    return [Case(about, dict(zip(names, rest, strict=True))) for about, *rest in inputs]


def linear_step(S, z, query, key, value):
    asked, kept = phi(query), phi(key)
    new_S = S + torch.outer(kept, value)
    new_z = z + kept
    above = asked @ new_S
    below = asked @ new_z
    return new_S, new_z, above / below


LINEAR_STEP = Exercise(
    "linear_step",
    "further_and_cheaper",
    linear_cases,
    linear_step,
    'lesson 9, "A state of fixed size"; glossary.show("linear attention")',
    tolerance=1e-4,
)

PHI = "φ(a) = elu(a) + 1 acts on each number of the query and of the key. Without it, weights may be negative."
LINEAR_STEP.edit("φ is left out", PHI, ("phi(query), phi(key)", "query, key"))
LINEAR_STEP.edit("φ is not applied to the query", PHI, ("phi(query)", "query"))
LINEAR_STEP.edit("φ is not applied to the key", PHI, ("phi(key)", "key"))
SAME_PHI = "The same φ(key) goes into S and into z."
LINEAR_STEP.edit("φ is not applied to the key in S", SAME_PHI, ("outer(kept", "outer(key"))
LINEAR_STEP.edit("φ is not applied to the key in z", SAME_PHI, ("z + kept", "z + key"))
LINEAR_STEP.edit(
    "φ is applied to the value, too",
    "The values are what we average. They may be negative, and they stay as they are.",
    ("kept, value", "kept, phi(value)"),
)


def phi_is(expression):
    """The change that replaces φ(x) by another expression."""
    return "phi(query), phi(key)", f"[{expression} for x in (query, key)]"


PLUS_1 = "φ(a) is elu(a) + 1. What is it at a = 0, and at a = −1?"
LINEAR_STEP.edit("φ is elu, without the 1", PLUS_1, phi_is("F.elu(x)"))
LINEAR_STEP.edit("φ is relu", PLUS_1, phi_is("F.relu(x)"))
LINEAR_STEP.edit("φ is relu + 1", PLUS_1, phi_is("F.relu(x) + 1"))
LINEAR_STEP.edit(
    "φ is the exponential", "Above 0, φ(a) is a + 1. It is the exponential only below 0.", phi_is("x.exp()")
)
LINEAR_STEP.edit(
    "φ is x above 0, without the 1",
    "φ(a) is elu(a) + 1, which is a + 1 for a > 0. What is your φ(2)?",
    phi_is("torch.where(x > 0, x, x.exp())"),
)
LINEAR_STEP.edit(
    "the two branches of φ are swapped",
    "φ(a) is a + 1 for a > 0 and exp(a) below. What is your φ(−2)?",
    phi_is("torch.where(x > 0, x.exp(), x + 1)"),
)
LINEAR_STEP.edit("φ is x + 1 below 0, too", PLUS_1, phi_is("x + 1"))
LINEAR_STEP.edit("the 1 is added inside elu", PLUS_1, phi_is("F.elu(x + 1)"))
LINEAR_STEP.edit("φ is softplus", PLUS_1, phi_is("F.softplus(x)"))
LINEAR_STEP.edit(
    "φ is a softmax", "φ acts on each number by itself. Linear attention has no softmax.", phi_is("x.softmax(-1)")
)
LINEAR_STEP.edit(
    "the query is divided by √d",
    "The division by √d protects a softmax from large scores. Is there a softmax here?",
    ("phi(query)", "phi(query / len(query) ** 0.5)"),
)
LINEAR_STEP.edit(
    "the output is not divided",
    "The weights must sum to 1. z is the sum of all φ(key). So what is φ(query) · z?",
    ("above / below", "above"),
)
LINEAR_STEP.edit(
    "the output is divided by the sum of z",
    "The weights of *this* query must sum to 1. What is their sum before the division?",
    ("asked @ new_z", "new_z.sum()"),
)
LINEAR_STEP.edit(
    "the output is divided by z, number by number",
    "The divisor is one number, φ(query) · z.",
    ("asked @ new_z", "new_z"),
)
LINEAR_STEP.edit(
    "the products of φ(query) and z are not summed",
    "φ(query) · z is one number. Do you compute it with @ or with *?",
    ("asked @ new_z", "asked * new_z"),
)
LINEAR_STEP.edit(
    "the query is divided by z before it reads S",
    "The divisor is one number, φ(query) · z, and the division comes last.",
    ("above / below", "(asked / new_z) @ new_S"),
)
LINEAR_STEP.edit(
    "the output is divided by the sum of the query",
    "The weights must sum to 1. They depend on the keys, too, so the query alone isn't enough.",
    ("asked @ new_z", "asked.sum()"),
)
LINEAR_STEP.edit(
    "the output is scaled to length 1",
    "The *weights* must sum to 1. The output may have any length.",
    ("above / below", "F.normalize(above, dim=0)"),
)
ASKS_BOTH = "The same φ(query) reads S and z."
LINEAR_STEP.edit("φ is not applied to the query in the divisor", ASKS_BOTH, ("asked @ new_z", "query @ new_z"))
LINEAR_STEP.edit("φ is not applied to the query in the numerator", ASKS_BOTH, ("asked @ new_S", "query @ new_S"))
FIRST = "A word sees itself, too. Which comes first, adding its key and value or reading?"
LINEAR_STEP.edit(
    "the state is read before the word is added", FIRST, ("asked @ new_S", "asked @ S"), ("asked @ new_z", "asked @ z")
)
LINEAR_STEP.edit("S is read before the word is added", FIRST, ("asked @ new_S", "asked @ S"))
LINEAR_STEP.edit("z is read before the word is added", FIRST, ("asked @ new_z", "asked @ z"))
TURNED_ROUND = "S has a row for each number of the key and a column for each number of the value. S[i, j] gains φ(key)[i] · value[j]."
LINEAR_STEP.edit("the outer product is transposed", TURNED_ROUND, ("kept, value", "value, kept"))
LINEAR_STEP.edit(
    "the outer product is transposed", TURNED_ROUND, ("kept, value", "value, kept"), ("asked @ new_S", "new_S @ asked")
)
LINEAR_STEP.edit(
    "S is multiplied from the wrong side",
    "The query meets the keys, and these are the rows of S. The result has the size of a value.",
    ("asked @ new_S", "new_S @ asked"),
)
TABLE = "S is a table. It pairs every number of the key with every number of the value."
LINEAR_STEP.edit("key and value are multiplied number by number", TABLE, ("torch.outer(kept, value)", "kept * value"))
LINEAR_STEP.edit(
    "the dot product of key and value is added everywhere", TABLE, ("torch.outer(kept, value)", "kept @ value")
)
KEEP = "S and z are sums over *all* words so far. The new word is added to what is there."
LINEAR_STEP.edit("the words before are forgotten", KEEP, ("S + ", ""), ("z + ", ""))
LINEAR_STEP.edit("the words before are forgotten in S", KEEP, ("S + ", ""))
LINEAR_STEP.edit("the words before are forgotten in z", KEEP, ("z + ", ""))
LINEAR_STEP.edit("z stays as it was", "z gains φ(key) at every word.", ("z + kept", "z"))
LINEAR_STEP.edit(
    "z gains the value", "z is the sum of all φ(key), so it has the size of a key.", ("z + kept", "z + value")
)
LINEAR_STEP.edit("z gains 1 per word", "z is the sum of all φ(key), not their number.", ("z + kept", "z + 1"))
LINEAR_STEP.edit(
    "z gains the sum of the key's numbers",
    "z is a vector. Number i of z gains number i of φ(key).",
    ("z + kept", "z + kept.sum()"),
)
LINEAR_STEP.edit(
    "query and key are swapped",
    "The key goes into the state, and the query reads the state.",
    ("asked, kept =", "kept, asked ="),
)
OUTPUT = "new_S, new_z, above / below"
LINEAR_STEP.edit(
    "only the output is returned",
    "The next word needs S and z. Return S, z and the output.",
    (OUTPUT, "above / below"),
)
LINEAR_STEP.edit(
    "the output comes first",
    "Return three things in this order: S, z, the output.",
    (OUTPUT, "above / below, new_S, new_z"),
)
LINEAR_STEP.edit(
    "the old state is returned",
    "The output is correct. But the next word needs a state that includes this one.",
    (OUTPUT, "S, z, above / below"),
)
