"""`grid_weights(queries, keys)`: a softmax over all regions of a picture. The function to fix takes it along another axis."""

import torch

from course_lib.checks.engine import Case, Exercise
from course_lib.checks.looking_at_pictures.drawn import GRIDS, over_grid, some


def cases(generator: torch.Generator) -> list[Case]:
    def given(batch: int, rows: int, columns: int, d: int) -> tuple[torch.Tensor, torch.Tensor]:
        queries = torch.randn(batch, d, generator=generator)
        return queries, torch.randn(batch, rows, columns, d, generator=generator)

    by_hand = (
        torch.tensor([[2.0, 0.0, 0.0, 0.0], [0.0, 2.0, 0.0, 2.0]]),
        torch.tensor(
            [
                [[[1.0, 0, 0, 0], [0, 1, 0, 0], [3, 0, 1, 0]], [[0, 0, 2, 1], [2, 1, 0, 0], [1, 1, 1, 1]]],
                [[[1.0, 0, 0, 0], [0, 1, 0, 0], [3, 0, 1, 0]], [[0, 0, 2, 1], [2, 1, 0, 0], [1, 1, 1, 1]]],
            ]
        ),
    )
    double, single, equal = given(3, 2, 4, 3), given(2, 4, 3, 5), given(2, 3, 4, 5)
    inputs = [
        ("two equal pictures with different queries", *by_hand),
        *((about, *given(*sizes)) for about, sizes in GRIDS),
        ("large scores", 100 * by_hand[0], by_hand[1]),
        ("a query of 0", torch.zeros(2, 5), equal[1]),
        ("long vectors", *given(2, 3, 4, some(generator, 20, 40))),
        ("more pictures", *given(some(generator, 5, 8), 6, some(generator, 3, 6), some(generator, 7, 12))),
        ("float64", double[0].double(), double[1].double()),
        ("tensors that are not contiguous in memory", single[0].T.contiguous().T, single[1].transpose(1, 2)),
    ]
    return [Case(about, {"queries": queries, "keys": keys}) for about, queries, keys in inputs]


def right(queries, keys):
    scores = (queries[:, None, None] * keys).sum(-1)
    scaled = scores / queries.shape[-1] ** 0.5
    return over_grid(scaled)


GRID_WEIGHTS = Exercise(
    "grid_weights",
    "looking_at_pictures",
    cases,
    right,
    'lesson 10, "Regions as words"; glossary.show("soft and hard attention")',
)

SHARED_OUT = "over_grid(scaled)"
GRID_WEIGHTS.edit(
    "the softmax is still taken along the batch",
    "What should sum to 1? Add up the weights of one picture. Then add up the weights of all pictures at one region.",
    (SHARED_OUT, "scaled.softmax(0)"),
)
WHOLE_GRID = "A picture needs one softmax over all its regions. It runs over both axes of the grid at once, not over one after the other."
GRID_WEIGHTS.edit("the softmax is taken along each row of the grid", WHOLE_GRID, (SHARED_OUT, "scaled.softmax(-1)"))
GRID_WEIGHTS.edit("the softmax is taken along each column of the grid", WHOLE_GRID, (SHARED_OUT, "scaled.softmax(-2)"))
GRID_WEIGHTS.edit(
    "the softmax along one axis is followed by a softmax along the other",
    f"The second one is a softmax of weights, not of scores. {WHOLE_GRID}",
    (SHARED_OUT, "scaled.softmax(-1).softmax(-2)"),
)
GRID_WEIGHTS.edit(
    "the softmax along one axis is followed by a softmax along the other",
    f"The second one is a softmax of weights, not of scores. {WHOLE_GRID}",
    (SHARED_OUT, "scaled.softmax(-2).softmax(-1)"),
)
GRID_WEIGHTS.edit(
    "two softmaxes, along rows and along columns, are multiplied",
    WHOLE_GRID,
    (SHARED_OUT, "scaled.softmax(-1) * scaled.softmax(-2)"),
)
GRID_WEIGHTS.edit(
    "the whole batch shares one softmax",
    "The weights of *each* picture must sum to 1.",
    (SHARED_OUT, "scaled.flatten().softmax(0).view_as(scaled)"),
)
SCALED = "The scores are divided by √d. The line with the scores was correct in `as_found`."
GRID_WEIGHTS.edit("the division by √d is missing", SCALED, (" / queries.shape[-1] ** 0.5", ""))
GRID_WEIGHTS.edit(
    "the scores are divided by d, not by √d", SCALED, (" / queries.shape[-1] ** 0.5", " / queries.shape[-1]")
)
GRID_WEIGHTS.edit(
    "the scores are multiplied by √d", SCALED, (" / queries.shape[-1] ** 0.5", " * queries.shape[-1] ** 0.5")
)
GRID_WEIGHTS.edit(
    "the scores are returned, not the weights", "The softmax had to be fixed, not left out.", (SHARED_OUT, "scaled")
)
GRID_WEIGHTS.edit(
    "the regions are on one axis",
    "Return the weights on the grid: (batch, row, column).",
    (SHARED_OUT, "scaled.flatten(1).softmax(1)"),
)
GRID_WEIGHTS.edit(
    "the numbers of rows and of columns are swapped",
    "When the line of regions becomes a grid again, how many rows and how many columns does it get?",
    (SHARED_OUT, "over_grid(scaled).reshape(len(scaled), *scaled.shape[:0:-1])"),
)
GRID_WEIGHTS.edit(
    "the logarithms of the weights are returned",
    "log_softmax is the logarithm of the softmax.",
    (SHARED_OUT, "over_grid(scaled).log()"),
)
GRID_WEIGHTS.edit(
    "a sigmoid is used, not a softmax",
    "A sigmoid looks at one score at a time. So nothing makes the weights sum to 1.",
    (SHARED_OUT, "scaled.sigmoid()"),
)
for scores in ("scaled", "scores"):  # √d cancels, except for rounding
    GRID_WEIGHTS.edit(
        "the scores are divided by their sum, without exp",
        "Scores may be negative. What does a softmax do with them first?",
        (SHARED_OUT, f"{scores} / {scores}.sum((1, 2), keepdim=True)"),
    )
GRID_WEIGHTS.edit(
    "exp is taken, but not divided by the sum",
    "What must the numbers of one picture be divided by?",
    (SHARED_OUT, "scaled.exp()"),
)
SUMMED_UP = "scaled.exp().sum((1, 2), keepdim=True)"
for plain in (f"scaled.exp() / {SUMMED_UP}", f"(scaled - {SUMMED_UP}.log()).exp()"):
    GRID_WEIGHTS.edit(
        "large scores overflow",
        "exp(100) is too large for float32. What can you subtract from all scores of a picture without changing the softmax?",
        (SHARED_OUT, plain),
    )
GRID_WEIGHTS.edit(
    "the largest score gets the weight 1, and all others get 0",
    "This is hard attention. A softmax gives every region a share.",
    (
        "over_grid(scaled)",
        "torch.nn.functional.one_hot(scaled.flatten(1).argmax(1), scaled[0].numel()).view_as(scaled).to(scaled)",
    ),
)
GRID_WEIGHTS.edit(
    "only the first picture's weights are returned",
    "The batch is the first axis, and each picture has its own weights.",
    (SHARED_OUT, "over_grid(scaled)[0]"),
)
GRID_WEIGHTS.edit(
    "the first query is used for all pictures",
    "Each picture has a query of its own.",
    ("queries[:, None, None]", "queries[:1, None, None]"),
)
GRID_WEIGHTS.edit(
    "the context is returned, not the weights",
    "Return the weights: (batch, row, column).",
    (SHARED_OUT, "(over_grid(scaled)[..., None] * keys).sum((1, 2))"),
)
