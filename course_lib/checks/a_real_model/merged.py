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
        ("an alpha that isn't a whole number", *given(4, 3, 2, 2.5)),
        ("an alpha of 0", *given(3, 4, 2, 0)),
        ("an update that is 0, as before training", draw(3, 4), draw(2, 4), torch.zeros(3, 2), 16),
        ("a rank larger than the number of inputs", *given(4, 2, 3, 4)),
        ("a larger matrix", *given(some(7, 12), some(7, 12), 4, some(5, 12))),
        ("float64", *(one.double() if torch.is_tensor(one) else one for one in given(4, 3, 2, 5))),
        ("matrices that are not contiguous in memory", *crossed),
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

FACTOR = "The update is multiplied by alpha / r. In the example by hand, this factor is 6 / 2."
MERGED.edit("the factor is left out", FACTOR, ("alpha / r", "1"))
MERGED.edit("the factor is alpha alone", FACTOR, ("alpha / r", "alpha"))
MERGED.edit("the factor is 1 / r", FACTOR, ("alpha / r", "1 / r"))
MERGED.edit("the factor is alpha times r", FACTOR, ("alpha / r", "alpha * r"))
MERGED.edit("r is divided by alpha", f"{FACTOR} An alpha of 0 switches the update off.", ("alpha / r", "r / alpha"))
MERGED.edit(
    "alpha is divided by √r",
    "A variant of LoRA does this (rsLoRA). Here alpha is divided by r itself.",
    ("alpha / r", "alpha / r**0.5"),
)
RANK = "r is how many numbers there are between A and B. Which axis of `down`, or of `up`, is that?"
MERGED.edit("the number of inputs is taken for r", RANK, ("len(down)", "down.shape[1]"))
MERGED.edit("the number of outputs is taken for r", RANK, ("len(down)", "len(up)"))
MERGED.edit("the count of all numbers in down is taken for r", RANK, ("len(down)", "down.numel()"))
MERGED.edit("the count of all numbers in up is taken for r", RANK, ("len(down)", "up.numel()"))
MERGED.edit(
    "alpha / r is rounded to a whole number",
    "// and int() drop the decimals: 1 // 3 is 0.",
    ("alpha / r", "alpha // r"),
)
MERGED.edit(
    "the factor is applied twice",
    "Are both A and B multiplied by alpha / r? One of them is enough.",
    ("alpha / r", "(alpha / r) ** 2"),
)
ORDER = "The formula adds B A to W. Write down the shapes of up, down and W: (out, r), (r, in), (out, in). In which order do they fit?"
MERGED.edit("A comes before B", ORDER, ("up @ down", "down @ up"))
MERGED.edit("the update is transposed", ORDER, ("up @ down", "(up @ down).T"))
MERGED.edit("both matrices are transposed", ORDER, ("up @ down", "up.T @ down.T"))
MERGED.edit("A is transposed", ORDER, ("up @ down", "up @ down.T"))
MERGED.edit("B is transposed", ORDER, ("up @ down", "up.T @ down"))
MERGED.edit(
    "A and B are multiplied entry by entry",
    "`*` multiplies entry by entry. A matrix product is `@`.",
    ("up @ down", "up * down"),
)
MERGED.edit(
    "only the first of the r directions is used",
    "B A is a sum of r products, each of a column of B and a row of A.",
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
    "only the last of the r directions is used",
    "Is each direction added to the sum, or does it replace the sum?",
    ("up @ down", "up[:, -1:] @ down[-1:]"),
)
MERGED.edit("alpha is divided by the square of r", FACTOR, ("alpha / r", "alpha / r**2"))
MERGED.edit(
    "the update is subtracted",
    "The results of the two ways are added. So the update is added, too.",
    ("weight + ", "weight - "),
)
MERGED.edit("only the update is returned", "The merged matrix replaces both ways. Where is W?", ("weight + ", ""))
MERGED.edit(
    "the matrix is returned as it was",
    "Is the update added, and do you return the sum?",
    (" + factor * update", ""),
)
MERGED.edit(
    "W is multiplied by the factor, too",
    "In the formula, alpha / r belongs to B A alone. W stays as it was.",
    ("weight + factor * update", "factor * (weight + update)"),
)
MERGED.edit(
    "W is multiplied by 1 − alpha / r",
    "This isn't a mixture. W counts in full, and the update is added to it.",
    ("weight + ", "(1 - factor) * weight + "),
)
MERGED.edit(
    "the update is multiplied by W, not added",
    "The results of the two ways are added: W x and (alpha / r) B A x.",
    ("weight + ", "weight * "),
)
MERGED.edit(
    "the result is transposed",
    "nn.Linear wants the shape that W has, (out, in).",
    ("weight + factor * update", "(weight + factor * update).T"),
)
