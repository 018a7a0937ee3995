"""`unpacked(weight, bias)`: the projections of queries, keys and values, from GPT-2's one matrix and one bias."""

import torch

from course_lib.checks.engine import Case, Exercise


def unpacked_cases(generator: torch.Generator) -> list[Case]:
    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator)

    def some(low: int, high: int) -> int:
        return int(torch.randint(low, high, (), generator=generator))

    by_hand = torch.tensor([[1.0, 2, 3, 4, 5, 6], [7, 8, 9, 10, 11, 12]]), torch.tensor([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    large = some(7, 14)
    inputs = [
        ("d = 2, numbered", *by_hand),
        ("d = 3, where both axes can be divided by 3", draw(3, 9), draw(9)),
        ("d = 1", draw(1, 3), draw(3)),
        ("d = 4", draw(4, 12), draw(12)),
        ("d = 6", draw(6, 18), draw(18)),
        ("d = 5", draw(5, 15), draw(15)),
        ("a larger d", draw(large, 3 * large), draw(3 * large)),
        ("float64", draw(4, 12).double(), draw(12).double()),
        ("a matrix that is not contiguous in memory", draw(12, 4).T, draw(12, 2)[:, 0]),
    ]
    return [Case(about, {"weight": weight, "bias": bias}) for about, weight, bias in inputs]


def unpacked(weight, bias):
    matrices = weight.T.chunk(3)
    biases = bias.chunk(3)
    pairs = list(zip(matrices, biases, strict=False))  # a wrong cut may give fewer matrices
    return pairs


UNPACKED = Exercise("unpacked", "a_real_model", unpacked_cases, unpacked, 'lesson 11, "Open the file"')

MATRICES, BIASES = "weight.T.chunk(3)", "bias.chunk(3)"
TURN = "GPT-2 computes x @ W, so W is (in, out). nn.Linear computes x @ W.T. Which of its axes is out?"
UNPACKED.edit("nothing is transposed", TURN, (MATRICES, "weight.chunk(3, 1)"))
CUT = "Queries, keys and values are three parts of the *output*. Which axis of the file's matrix has 3d numbers?"
for split in ("tensor_split", "chunk"):
    UNPACKED.edit("the matrix is cut along the input axis and not transposed", CUT, (MATRICES, f"weight.{split}(3)"))
for split in ("tensor_split", "chunk"):
    UNPACKED.edit("the matrix is cut along the input axis", CUT, (MATRICES, f"weight.T.{split}(3, 1)"))
NOT_TURNED = "reshape and view keep the numbers in their order, row by row. They don't transpose."
RESHAPED = "weight.reshape(-1, len(weight)).chunk(3)"
UNPACKED.edit("the matrix is reshaped, not transposed", NOT_TURNED, (MATRICES, RESHAPED))
UNPACKED.edit("the matrix is reshaped, not transposed", NOT_TURNED, (MATRICES, f"[piece.T for piece in {RESHAPED}]"))
EVERY_THIRD = "The first d columns belong to the queries, the next d to the keys, the last d to the values."
THIRD_ROWS = MATRICES, "[weight.T[part::3] for part in range(3)]"
THIRD_COLUMNS = MATRICES, "[weight[:, part::3] for part in range(3)]"
THIRD_BIASES = BIASES, "[bias[part::3] for part in range(3)]"
UNPACKED.edit("every third column is taken", EVERY_THIRD, THIRD_ROWS, THIRD_BIASES)
UNPACKED.edit("every third column is taken", EVERY_THIRD, THIRD_ROWS)
UNPACKED.edit("every third column is taken, and not transposed", EVERY_THIRD, THIRD_COLUMNS, THIRD_BIASES)
UNPACKED.edit("every third column is taken, and not transposed", EVERY_THIRD, THIRD_COLUMNS)
UNPACKED.edit("the matrices are correct, but every third number of the bias is taken", EVERY_THIRD, THIRD_BIASES)
FIRST_QUERY = "In the file the columns of the queries come first, then those of the keys, then those of the values."
for order in ((1, 0, 2), (0, 2, 1), (2, 1, 0), (1, 2, 0), (2, 0, 1)):
    UNPACKED.edit(
        "the three are in another order", FIRST_QUERY, ("return pairs", f"return [pairs[part] for part in {order}]")
    )
UNPACKED.edit(
    "the three are in another order, and nothing is transposed",
    f"{FIRST_QUERY} {TURN}",
    (MATRICES, "weight.chunk(3, 1)"),
    ("return pairs", "return pairs[::-1]"),
)
OWN_BIAS = "Each of the three has its own third of the bias, d numbers. It is cut as the columns are."
UNPACKED.edit("each gets the whole bias", OWN_BIAS, (BIASES, "[bias] * 3"))
UNPACKED.edit("all get the bias of the query", OWN_BIAS, (BIASES, "[bias.chunk(3)[0]] * 3"))
UNPACKED.edit("the biases are in another order than the matrices", OWN_BIAS, (BIASES, "bias.chunk(3)[::-1]"))
UNPACKED.edit(
    "the biases are 0",
    "The file has a bias, and it shifts every query, key and value. Where do you use it?",
    (BIASES, "torch.zeros_like(bias).chunk(3)"),
)
for table in ("bias[None].chunk(3, 1)", "bias[:, None].chunk(3)"):
    UNPACKED.edit("the biases have two axes", "nn.Linear wants a bias of shape (out,), with one axis.", (BIASES, table))
UNPACKED.edit(
    "all three matrices are those of the query",
    "Do you take the same slice three times?",
    (MATRICES, "[weight.T.chunk(3)[0]] * 3"),
)
UNPACKED.edit("the matrix is not cut", CUT, (MATRICES, "[weight.T] * 3"))
UNPACKED.edit(
    "the rows of each matrix are in reverse order",
    "Transposing isn't flipping. Entry (i, j) goes to (j, i).",
    (MATRICES, "[piece.flip(0) for piece in weight.T.chunk(3)]"),
)
PAIRS = "Return three pairs: (weight, bias) of the query, then of the key, then of the value."
UNPACKED.edit(
    "three matrices come first, then three biases", PAIRS, ("return pairs", "return list(matrices), list(biases)")
)
UNPACKED.edit(
    "the six tensors are in one flat list",
    PAIRS,
    ("return pairs", "return [tensor for pair in pairs for tensor in pair]"),
)
UNPACKED.edit("the six tensors are in one flat list", PAIRS, ("return pairs", "return [*matrices, *biases]"))
UNPACKED.edit("each pair has the bias first", PAIRS, ("zip(matrices, biases", "zip(biases, matrices"))
UNPACKED.edit("only the matrices are returned", PAIRS, ("return pairs", "return list(matrices)"))
UNPACKED.edit("only the query's pair is returned", PAIRS, ("return pairs", "return pairs[0]"))
