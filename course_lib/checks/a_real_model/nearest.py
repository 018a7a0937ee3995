"""`nearest(query, vectors, k)`: the numbers of the k vectors with the greatest cosines."""

import torch

from course_lib.checks.engine import Case, Exercise


def nearest_cases(generator: torch.Generator) -> list[Case]:
    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator)

    def some(low: int, high: int) -> int:
        return int(torch.randint(low, high, (), generator=generator))

    def stretched(n: int, d: int) -> torch.Tensor:
        """Vectors of very different lengths."""
        return draw(n, d) * (0.2 + 5 * torch.rand(n, 1, generator=generator))

    by_hand = torch.tensor([[9.0, 12.0, 0.0], [2.0, 1.0, 2.0], [-2.0, -1.0, 2.0], [0.0, -6.0, 0.0]])
    hardly = torch.tensor([[1.0, 0.11], [1.0, 0.14], [2.0, 0.25], [0.0, 1.0]])  # 0.994, 0.990, 0.992
    near = torch.tensor([1.0, 2.0, 4.0, 3.0])
    inputs = [
        ("four vectors, of which the longest is not the nearest", torch.tensor([1.0, 2.0, 2.0]), by_hand, 2),
        ("all vectors are asked for", draw(3), stretched(4, 3), 4),
        ("one vector is asked for", draw(3), stretched(5, 3), 1),
        ("six vectors, three asked for", 4 * draw(4), stretched(6, 4), 3),
        ("as many vectors as numbers in each", draw(5), stretched(5, 5), 3),
        ("a short query", 0.01 * draw(4), stretched(6, 4), 4),
        ("all vectors point away from the query", torch.tensor([1.0, 2.0, 3.0]), -stretched(6, 3).abs(), 3),
        ("all vectors point in nearly the query's direction", near, near + stretched(6, 4) / 5, 3),
        ("a single vector", draw(3), stretched(1, 3), 1),
        ("cosines that differ in the third digit", torch.tensor([3.0, 0.0]), hardly[[2, 0, 1, 3]], 3),
        ("a short vector among the nearest", near, torch.stack([0.01 * near, -near, near.flip(0), draw(4)]), 2),
        ("one vector points exactly the other way", near, torch.stack([-near, near.flip(0), near, 2 * near - 1]), 4),
        ("many vectors", draw(8), stretched(some(18, 24), 8), some(5, 9)),
        ("float64", draw(4).double(), stretched(6, 4).double(), 3),
        ("vectors that are not contiguous in memory", draw(4), stretched(6, 4).T.contiguous().T, 3),
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
    "the dot product is used, not the cosine",
    "A long vector has large dot products. What does the cosine divide by?",
    (COSINE, "products"),
)
NEAREST.edit(
    "the dot product is multiplied by the lengths, not divided",
    "cos = q · v / (|q| |v|). Do your parentheses hold both lengths?",
    (COSINE, "products * lengths"),
)
NEAREST.edit(
    "the dot product is divided by the square of the length",
    "v · v is the square of a length. How do you get the length itself?",
    (COSINE, "products / lengths**2"),
)
NEAREST.edit(
    "the vectors are scaled along the wrong axis",
    "Each vector is a row of (n, d). Along which axis are its numbers?",
    (COSINE, "(vectors / vectors.norm(dim=0)) @ query"),
)
NEAREST.edit(
    "each vector's length divides a column, not its row",
    "If (n, d) is divided by lengths of shape (n,), the lengths run along d. With keepdim=True their shape is (n, 1).",
    (COSINE, "(vectors / lengths) @ query"),
)
NEAREST.edit(
    "the sum of the numbers is taken for the length", "A length is √(v · v).", (COSINE, "products / vectors.sum(1)")
)
NEAREST.edit(
    "the sum of the absolute numbers is taken for the length",
    "A length is √(v · v). That is the norm with p = 2.",
    (COSINE, "products / vectors.abs().sum(1)"),
)
NEAREST.edit(
    "the distance is used, not the cosine",
    "A vector twice as long has the same cosine, but another distance.",
    (COSINE, "-(vectors - query).norm(dim=1)"),
)
NO_DISTANCE = "We want the greatest cosine. It needs no distance."
NEAREST.edit(
    "the distance is used, and the greatest comes first", NO_DISTANCE, (COSINE, "(vectors - query).norm(dim=1)")
)
NEAREST.edit(
    "the sum of the absolute differences is used, not the cosine",
    NO_DISTANCE,
    (COSINE, "-(vectors - query).abs().sum(1)"),
)
NEAREST.edit(
    "the sign of the cosine is left out",
    "A vector with the cosine −1 points away from the query. It is the furthest, not the nearest.",
    ("= products /", "= products.abs() /"),
)
NEAREST.misconception(
    "the means are subtracted first", "That gives a correlation. A cosine uses the numbers as they are."
)(lambda query, vectors, k: nearest(query - query.mean(), vectors - vectors.mean(1, keepdim=True), k))
NEAREST.edit(
    "the longest vectors are taken",
    "The length says nothing about the direction. Where does the query come in?",
    (COSINE, "lengths"),
)
NEAREST.edit(
    "the smallest cosine comes first",
    "By default, sorting goes upwards. Which end do you need?",
    ("descending=True", ""),
)
NEAREST.edit(
    "the k greatest are found, but the greatest comes last",
    "These are the correct vectors. But the greatest cosine comes first.",
    ("descending=True", ""),
    ("order[:k]", "order[-k:]"),
)
NEAREST.edit(
    "the numbers are in the order of the vectors",
    "Sort them by their cosine, the greatest first.",
    ("order[:k]", "order[:k].sort().values"),
)
NEAREST.edit(
    "vectors are counted from 1",
    "The first vector has the number 0.",
    ("order[:k]", "(order[:k] + 1)"),
)
NEAREST.edit(
    "the nearest is left out",
    "The query needn't be one of the vectors. So the first in the order counts, too.",
    ("[:k]", "[1 : k + 1]"),
)
NEAREST.edit("the result has one number too few", "A slice [:k] already has k entries.", ("[:k]", "[: k - 1]"))
NEAREST.edit("the result has one number too many", "A slice [:k] already has k entries.", ("[:k]", "[: k + 1]"))
NEAREST.edit("all numbers are returned, not k", "Return only the first k.", ("[:k]", ""))
NEAREST.edit(
    "only the k-th number is returned", "Return the first k numbers, not one of them.", ("[:k]", "[k - 1 : k]")
)
NEAREST.edit(
    "the last k of the order are taken",
    "If the greatest comes first, at which end are the k nearest?",
    ("[:k]", "[-k:]"),
)
NEAREST.edit(
    "the ranks are returned, not the numbers of the vectors",
    "argsort says which vector comes first, second, … The argsort of this gives ranks.",
    ("[:k]", ".argsort()[:k]"),
)
NUMBERS = "Return the numbers of the vectors, as `argsort` or the `indices` of topk give them."
NEAREST.edit("the cosines are returned, not the numbers", NUMBERS, ("order[:k].tolist()", "cosines[order[:k]]"))
NEAREST.edit("the vectors are returned, not their numbers", NUMBERS, ("order[:k].tolist()", "vectors[order[:k]]"))
NEAREST.edit("cosines and numbers are both returned", NUMBERS, ("order[:k].tolist()", "tuple(cosines.topk(k))"))
NEAREST.edit(
    "the numbers are the row of a table",
    "Return one list of k numbers: (k,), not (1, k).",
    ("[:k]", "[None, :k]"),
)
NEAREST.edit(
    "True and False are returned, not the numbers", NUMBERS, ("order[:k].tolist()", "cosines >= cosines[order[k - 1]]")
)
