"""`interleaved(weight, heads)`: the rows of W_Q or W_K, from the order of `transformers` to that of our rotation."""

import torch

from course_lib.checks.engine import Case, Exercise


def interleaved_cases(generator: torch.Generator) -> list[Case]:
    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator)

    def some(low: int, high: int) -> int:
        return int(torch.randint(low, high, (), generator=generator))

    numbered = torch.arange(12.0)[:, None] + torch.tensor([0.0, 0.5])
    heads, half = some(3, 6), some(4, 7)
    inputs = [
        ("one head of six rows", torch.arange(6.0)[:, None], 1),
        ("two heads of six rows, numbered", numbered, 2),
        ("one head of eight rows", draw(8, 3), 1),
        ("two heads of eight rows", draw(16, 5), 2),
        ("three heads of four rows, as many columns", draw(12, 12), 3),
        ("four heads of six rows", draw(24, 7), 4),
        ("six heads of six rows", draw(36, 4), 6),
        ("a matrix of nine heads in fewer columns", draw(90, 6), 9),
        ("more heads", draw(2 * heads * half, 5), heads),
        ("float64", draw(20, 4).double(), 2),
        ("a matrix that is not contiguous in memory", draw(5, 24).T, 3),
    ]
    return [Case(about, {"weight": weight, "heads": heads}) for about, weight, heads in inputs]


def interleaved(weight, heads):
    size = len(weight) // heads
    half = size // 2
    rows = []
    for head in range(heads):
        first = head * size
        for pair in range(half):
            rows += [first + pair, first + half + pair]
    return weight[rows]


INTERLEAVED = Exercise(
    "interleaved",
    "a_model_that_writes",
    interleaved_cases,
    interleaved,
    'lesson 12, "One slip"; glossary.show("rotary positions")',
    tensor=True,
)

ROWS = "[first + pair, first + half + pair]"
INTERLEAVED.edit(
    "the rows are as they were", "The rows must move. Does reshape or view move anything?", ("weight[rows]", "weight")
)
INTERLEAVED.edit(
    "it is the opposite order",
    "That leads from our order to the order of `transformers`. In the example by hand, row 3 comes second.",
    ("weight[rows]", "weight[torch.tensor(rows).argsort()]"),
)
HEADS = "Each head has its own pairs. So the rows of a head stay together, and its halves are halves of the *head*."
INTERLEAVED.edit("all heads are taken as one", HEADS, ("heads\n", "1\n"), ("range(heads)", "range(1)"))
INTERLEAVED.edit(
    "all heads are taken as one, in the opposite order",
    HEADS,
    ("heads\n", "1\n"),
    ("range(heads)", "range(1)"),
    ("weight[rows]", "weight[torch.tensor(rows).argsort()]"),
)
INTERLEAVED.edit(
    "the heads are mixed, with the first pair of each head first",
    HEADS,
    ("weight[rows]", "weight[torch.tensor(rows).view(heads, half, 2).transpose(0, 1).flatten()]"),
)
INTERLEAVED.edit(
    "the heads are mixed, with the first row of each head first",
    HEADS,
    ("weight[rows]", "weight[torch.tensor(rows).view(heads, size).T.flatten()]"),
)
INTERLEAVED.edit(
    "the number of heads is taken for the size of a head",
    "`heads` says how many heads there are. How many rows has each of them?",
    ("len(weight) // heads", "heads"),
    ("range(heads)", "range(len(weight) // heads)"),
)
INTERLEAVED.edit(
    "only the first head is put in order", HEADS, ("weight[rows]", "torch.cat([weight[rows[:size]], weight[size:]])")
)
INTERLEAVED.edit(
    "only the first head is returned", "Return all rows of all heads.", ("weight[rows]", "weight[rows[:size]]")
)
INTERLEAVED.edit(
    "every head gets the rows of the first",
    "Where does the second head begin? Its rows come after all rows of the first.",
    ("head * size", "0"),
)
INTERLEAVED.edit(
    "the second number of each pair comes first",
    "A pair is (row i, row i + half). The row of the first half comes first.",
    (ROWS, "[first + half + pair, first + pair]"),
)
INTERLEAVED.edit(
    "the second halves are reversed",
    "Row 0 belongs to row 0 of the second half, not to the last row.",
    (ROWS, "[first + pair, first + size - 1 - pair]"),
)
INTERLEAVED.edit(
    "the two halves are exchanged",
    "The two numbers of a pair must become neighbours. Are row 0 and row d / 2 next to each other?",
    ("weight[rows]", "weight[torch.tensor(rows).view(heads, half, 2).transpose(1, 2).flip(1).flatten()]"),
)
INTERLEAVED.edit(
    "neighbours are exchanged",
    "Which two rows belong together in the file? They aren't neighbours there.",
    (ROWS, "[first + 2 * pair + 1, first + 2 * pair]"),
)
INTERLEAVED.edit("half of the rows are missing", "Each pair has two rows.", (ROWS, "[first + pair]"))
INTERLEAVED.edit(
    "the columns are put in order, not the rows",
    "The rows of the matrix are its outputs, and they become the numbers of a query. Leave the columns as they are.",
    ("weight[rows]", "weight[:, [row for row in rows if row < weight.shape[1]]]"),
)
INTERLEAVED.edit(
    "the result is transposed",
    "nn.Linear wants the shape that the matrix has, (out, in).",
    ("weight[rows]", "weight[rows].T"),
)
for shape in ("heads, size, -1", "heads, half, 2, -1"):
    INTERLEAVED.edit(
        "the heads are an axis of their own",
        "Return a matrix of the same shape as the one you got. `flatten` and `reshape` join axes.",
        ("weight[rows]", f"weight[rows].view({shape})"),
    )
INTERLEAVED.edit(
    "the rows' numbers are returned", "Return the rows themselves.", ("weight[rows]", "torch.tensor(rows)")
)
