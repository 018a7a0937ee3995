"""`nearest(query, vectors, k)`: the numbers of the k vectors with the greatest cosine."""

import torch

from course_lib.checks.engine import Case, Exercise


def nearest_cases(generator: torch.Generator) -> list[Case]:
    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator)

    def some(low: int, high: int) -> int:
        return int(torch.randint(low, high, (), generator=generator))

    def stretched(n: int, d: int) -> torch.Tensor:
        """Vectors of very different lengths, shifted so that not all directions are alike."""
        return draw(n, d) * (0.2 + 5 * torch.rand(n, 1, generator=generator))

    by_hand = torch.tensor([[9.0, 12.0, 0.0], [2.0, 1.0, 2.0], [-2.0, -1.0, 2.0], [0.0, -6.0, 0.0]])
    hardly = torch.tensor([[1.0, 0.11], [1.0, 0.14], [2.0, 0.25], [0.0, 1.0]])  # 0.994, 0.990, 0.992
    near = torch.tensor([1.0, 2.0, 4.0, 3.0])
    inputs = [
        ("four vectors, of which the longest is not the nearest", torch.tensor([1.0, 2.0, 2.0]), by_hand, 2),
        ("all are asked for", draw(3), stretched(4, 3), 4),
        ("one is asked for", draw(3), stretched(5, 3), 1),
        ("six vectors, three asked for", 4 * draw(4), stretched(6, 4), 3),
        ("as many vectors as numbers in each", draw(5), stretched(5, 5), 3),
        ("a short query", 0.01 * draw(4), stretched(6, 4), 4),
        ("all point away from the query", torch.tensor([1.0, 2.0, 3.0]), -stretched(6, 3).abs(), 3),
        ("all are nearly of the query's direction", near, near + stretched(6, 4) / 5, 3),
        ("a single vector", draw(3), stretched(1, 3), 1),
        ("cosines that differ in the third digit", torch.tensor([3.0, 0.0]), hardly[[2, 0, 1, 3]], 3),
        ("a short vector among the nearest", near, torch.stack([0.01 * near, -near, near.flip(0), draw(4)]), 2),
        ("one that points straight the other way", near, torch.stack([-near, near.flip(0), near, 2 * near - 1]), 4),
        ("many vectors", draw(8), stretched(some(18, 24), 8), some(5, 9)),
        ("float64", draw(4).double(), stretched(6, 4).double(), 3),
        ("vectors that do not lie in order in memory", draw(4), stretched(6, 4).T.contiguous().T, 3),
    ]
    return [Case(about, {"query": query, "vectors": vectors, "k": k}) for about, query, vectors, k in inputs]


def nearest(query, vectors, k):
    products = vectors @ query
    lengths = vectors.norm(dim=1)
    cosines = products / (lengths * query.norm())
    order = cosines.argsort(descending=True)
    return order[:k].tolist()


NEAREST = Exercise(
    "nearest",
    "a_real_model",
    nearest_cases,
    nearest,
    'lesson 11, "Use and adjust it"; glossary.show("sentence vector")',
)

COSINE = "products / (lengths * query.norm())"
NEAREST.edit(
    "the dot product is taken, not the cosine",
    "A long vector has large dot products with everything. By what is the dot product divided?",
    (COSINE, "products"),
)
NEAREST.edit(
    "it is multiplied by the lengths, not divided",
    "cos = q · v / (|q| |v|). What do your parentheses hold together?",
    (COSINE, "products * lengths"),
)
NEAREST.edit(
    "it is divided by the square of the length",
    "A length has a square root: v · v is its square.",
    (COSINE, "products / lengths**2"),
)
NEAREST.edit(
    "the vectors are normed along the wrong axis",
    "Each vector is a row of (n, d). Along which axis do its numbers lie?",
    (COSINE, "(vectors / vectors.norm(dim=0)) @ query"),
)
NEAREST.edit(
    "each vector's length divides a column, not its row",
    "Lengths of shape (n,) beside (n, d) are laid along d. With keepdim=True they are (n, 1).",
    (COSINE, "(vectors / lengths) @ query"),
)
NEAREST.edit(
    "a length is taken for the sum of the numbers", "A length is √(v · v).", (COSINE, "products / vectors.sum(1)")
)
NEAREST.edit(
    "a length is taken for the sum of absolute numbers",
    "A length is √(v · v): norm takes it, with p = 2.",
    (COSINE, "products / vectors.abs().sum(1)"),
)
NEAREST.edit(
    "the distance is taken, not the cosine",
    "A vector twice as long has the same cosine, and another distance.",
    (COSINE, "-(vectors - query).norm(dim=1)"),
)
NO_DISTANCE = "Wanted is the greatest cosine, which asks for no distance."
NEAREST.edit(
    "the distance is taken, and the greatest comes first", NO_DISTANCE, (COSINE, "(vectors - query).norm(dim=1)")
)
NEAREST.edit("the distances are city blocks", NO_DISTANCE, (COSINE, "-(vectors - query).abs().sum(1)"))
NEAREST.edit(
    "a cosine is taken without its sign",
    "A vector that points away is the furthest, not the nearest: cos = −1.",
    ("= products /", "= products.abs() /"),
)
NEAREST.misconception(
    "the means are taken away first", "That is a correlation. A cosine takes the numbers as they are."
)(lambda query, vectors, k: nearest(query - query.mean(), vectors - vectors.mean(1, keepdim=True), k))
NEAREST.edit(
    "the longest vectors are taken",
    "The length says nothing about the direction. Where does the query go?",
    (COSINE, "lengths"),
)
NEAREST.edit(
    "the smallest cosine comes first",
    "argsort goes upwards, unless `descending=True`. Which end is wanted?",
    ("descending=True", ""),
)
NEAREST.edit(
    "the greatest are found, and stand last",
    "The right ones, but the greatest comes first.",
    ("descending=True", ""),
    ("order[:k]", "order[-k:]"),
)
NEAREST.edit(
    "the numbers stand in the order of the vectors",
    "They are to stand by their cosine, the greatest first.",
    ("order[:k]", "order[:k].sort().values"),
)
NEAREST.edit(
    "vectors are counted from 1",
    "The first vector has the number 0, as everywhere in Python.",
    ("order[:k]", "(order[:k] + 1)"),
)
NEAREST.edit(
    "the nearest is left out",
    "The query need not be among the vectors: the first in the order counts, too.",
    ("[:k]", "[1 : k + 1]"),
)
NEAREST.edit("there is one too few", "order[:k] has k entries already.", ("[:k]", "[: k - 1]"))
NEAREST.edit("there is one too many", "order[:k] has k entries already.", ("[:k]", "[: k + 1]"))
NEAREST.edit("all come out, not k", "Only the first k are wanted.", ("[:k]", ""))
NEAREST.edit(
    "only the k-th comes out", "order[:k] takes the first k, order[k - 1] one of them.", ("[:k]", "[k - 1 : k]")
)
NEAREST.edit(
    "the last k of the order are taken", "With the greatest first, the wanted ones stand in front.", ("[:k]", "[-k:]")
)
NEAREST.edit(
    "ranks come out, not numbers of vectors",
    "argsort says which vector stands where; of its own argsort come ranks.",
    ("[:k]", ".argsort()[:k]"),
)
NUMBERS = "Wanted are the numbers of the vectors: `argsort`, or `indices` of topk."
NEAREST.edit("the cosines come out, not the numbers", NUMBERS, ("order[:k].tolist()", "cosines[order[:k]]"))
NEAREST.edit("the vectors come out, not their numbers", NUMBERS, ("order[:k].tolist()", "vectors[order[:k]]"))
NEAREST.edit("cosines and numbers come out", NUMBERS, ("order[:k].tolist()", "tuple(cosines.topk(k))"))
NEAREST.edit(
    "the numbers stand in a row of their own",
    "One list of k numbers is wanted: (k,), not (1, k).",
    ("[:k]", "[None, :k]"),
)
NEAREST.edit("True and False come out", NUMBERS, ("order[:k].tolist()", "cosines >= cosines[order[k - 1]]"))
