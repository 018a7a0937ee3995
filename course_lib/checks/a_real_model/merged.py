"""`merged(weight, down, up, alpha)`: a matrix with its low-rank update added."""

import torch

from course_lib.checks.engine import Case, Exercise


def merged_cases(generator: torch.Generator) -> list[Case]:
    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator)

    def some(low: int, high: int) -> int:
        return int(torch.randint(low, high, (), generator=generator))

    def given(out: int, d_in: int, r: int, alpha: float) -> tuple:
        return draw(out, d_in), draw(r, d_in), draw(out, r), alpha

    by_hand = (
        torch.tensor([[1.0, 0, 0], [0, 1, 0]]),
        torch.tensor([[1.0, 0, 2], [0, 1, 1]]),
        torch.tensor([[1.0, 2], [0, 3]]),
        6,
    )
    crossed = draw(5, 4).T, draw(5, 2).T, draw(2, 4).T, 5
    inputs = [
        ("rank 2, three numbers in and two out", *by_hand),
        ("rank 1", *given(3, 2, 1, 4)),
        ("a square matrix", *given(4, 4, 2, 6)),
        ("a rank as large as the matrix", *given(3, 3, 3, 7)),
        ("more numbers out than in", *given(6, 3, 2, 8)),
        ("an alpha smaller than the rank", *given(4, 5, 3, 1)),
        ("an alpha that is no whole number", *given(4, 3, 2, 2.5)),
        ("an alpha of 0", *given(3, 4, 2, 0)),
        ("an update that is 0, as before training", draw(3, 4), draw(2, 4), torch.zeros(3, 2), 16),
        ("a rank larger than what goes in", *given(4, 2, 3, 4)),
        ("a larger matrix", *given(some(7, 12), some(7, 12), 4, some(5, 12))),
        ("float64", *(one.double() if torch.is_tensor(one) else one for one in given(4, 3, 2, 5))),
        ("matrices that do not lie in order in memory", *crossed),
    ]
    names = "weight", "down", "up", "alpha"
    return [Case(about, dict(zip(names, given, strict=True))) for about, *given in inputs]


def merged(weight, down, up, alpha):
    r = len(down)
    factor = alpha / r
    update = up @ down
    return weight + factor * update


MERGED = Exercise(
    "merged",
    "a_real_model",
    merged_cases,
    merged,
    'lesson 11, "Use and adjust it"; glossary.show("low-rank adaptation")',
    tolerance=1e-4,
)

FACTOR = "The update is multiplied by alpha / r. In the example by hand that is 6 / 2."
MERGED.edit("the factor is left out", FACTOR, ("alpha / r", "1"))
MERGED.edit("the factor is alpha alone", FACTOR, ("alpha / r", "alpha"))
MERGED.edit("the factor is 1 / r", FACTOR, ("alpha / r", "1 / r"))
MERGED.edit("the factor is alpha times r", FACTOR, ("alpha / r", "alpha * r"))
MERGED.edit("r is divided by alpha", f"{FACTOR} An alpha of 0 switches the update off.", ("alpha / r", "r / alpha"))
MERGED.edit(
    "alpha is divided by √r",
    "There is such a form, too (rsLoRA). Here it is r itself.",
    ("alpha / r", "alpha / r**0.5"),
)
RANK = "r is how many numbers stand between A and B: the rows of down, the columns of up."
MERGED.edit("the numbers that go in are taken for r", RANK, ("len(down)", "down.shape[1]"))
MERGED.edit("the numbers that come out are taken for r", RANK, ("len(down)", "len(up)"))
MERGED.edit("all numbers of down are taken for r", RANK, ("len(down)", "down.numel()"))
MERGED.edit("all numbers of up are taken for r", RANK, ("len(down)", "up.numel()"))
MERGED.edit(
    "alpha / r is rounded to a whole number",
    "// and int() drop what stands behind the point: 1 // 3 is 0. A division is /.",
    ("alpha / r", "alpha // r"),
)
MERGED.edit(
    "the factor is there twice",
    "Are both A and B multiplied by alpha / r? One of them is enough.",
    ("alpha / r", "(alpha / r) ** 2"),
)
ORDER = "The formula adds B A to W, as they are. Write the shapes of up, down and W beside each other: (out, r), (r, in), (out, in)."
MERGED.edit("A stands before B", ORDER, ("up @ down", "down @ up"))
MERGED.edit("the update is turned round", ORDER, ("up @ down", "(up @ down).T"))
MERGED.edit("both matrices are turned round", ORDER, ("up @ down", "up.T @ down.T"))
MERGED.edit("A is turned round", ORDER, ("up @ down", "up @ down.T"))
MERGED.edit("B is turned round", ORDER, ("up @ down", "up.T @ down"))
MERGED.edit(
    "A and B are multiplied entry by entry",
    "`*` goes entry by entry; a matrix product is `@`.",
    ("up @ down", "up * down"),
)
MERGED.edit(
    "only the first of the r directions is there",
    "B A is a sum of r products, of a column of B and a row of A each.",
    ("up @ down", "up[:, :1] @ down[:1]"),
)
MERGED.edit(
    "the last of the r directions is left out",
    "B A is a sum of r products. Where does your loop end?",
    ("up @ down", "up[:, :-1] @ down[:-1]"),
)
MERGED.edit(
    "the first of the r directions is left out",
    "B A is a sum of r products. Where does your loop begin?",
    ("up @ down", "up[:, 1:] @ down[1:]"),
)
MERGED.edit(
    "only the last of the r directions is there",
    "Is each direction added to the sum, or does it replace it?",
    ("up @ down", "up[:, -1:] @ down[-1:]"),
)
MERGED.edit("alpha is divided by the square of r", FACTOR, ("alpha / r", "alpha / r**2"))
MERGED.edit(
    "the update is taken away", "What the two ways gave was added: so is the update.", ("weight + ", "weight - ")
)
MERGED.edit(
    "only the update comes out", "The merged layer has W in it, too: it stands alone afterwards.", ("weight + ", "")
)
MERGED.edit(
    "the matrix comes out as it was",
    "Is the update added, and is it the sum that is returned?",
    (" + factor * update", ""),
)
MERGED.edit(
    "W is multiplied by the factor, too",
    "alpha / r stands before B A alone; W stays what it was.",
    ("weight + factor * update", "factor * (weight + update)"),
)
MERGED.edit(
    "W is made smaller to make room",
    "Nothing is mixed: W counts whole, and the update comes on top.",
    ("weight + ", "(1 - factor) * weight + "),
)
MERGED.edit(
    "the update is multiplied with W, not added",
    "The two ways gave a sum: W x, and (alpha / r) B A x.",
    ("weight + ", "weight * "),
)
MERGED.edit(
    "the result is turned round",
    "nn.Linear wants (out, in), the shape that W has.",
    ("weight + factor * update", "(weight + factor * update).T"),
)
