"""`context_over_grid(weights, features)`: the weighted sum of the features of all regions."""

import torch

from course_lib.checks.engine import Case, Exercise
from course_lib.checks.looking_at_pictures.drawn import GRIDS, over_grid, some


def cases(generator: torch.Generator) -> list[Case]:
    def given(batch: int, rows: int, columns: int, d: int, sharp: float = 1.0) -> tuple[torch.Tensor, torch.Tensor]:
        weights = over_grid(sharp * torch.randn(batch, rows, columns, generator=generator))
        return weights, torch.randn(batch, rows, columns, d, generator=generator)

    by_hand = (
        torch.tensor([[[0.5, 0.25, 0.0], [0.0, 0.25, 0.0]], [[0.0, 0.0, 0.25], [0.0, 0.0, 0.75]]]),
        torch.tensor(
            [
                [[[2.0, 8.0], [4.0, 0.0], [7.0, 7.0]], [[5.0, 6.0], [0.0, 12.0], [9.0, 1.0]]],
                [[[1.0, 3.0], [2.0, 5.0], [4.0, 8.0]], [[6.0, 0.0], [3.0, 1.0], [8.0, 12.0]]],
            ]
        ),
    )
    double, single = given(3, 2, 4, 3), given(2, 4, 3, 5)
    even = torch.full((2, 3, 2), 1 / 6), given(2, 3, 2, 4)[1]
    inputs = [
        ("two pictures of 2 × 3 regions", *by_hand),
        *((about, *given(*sizes)) for about, sizes in GRIDS),
        ("nearly all weight on one region", *given(2, 3, 4, 3, sharp=8.0)),
        ("equal weights", *even),
        ("more pictures", *given(some(generator, 5, 8), 6, some(generator, 3, 6), some(generator, 7, 12))),
        ("float64", double[0].double(), double[1].double()),
        ("tensors that are not contiguous in memory", single[0].mT, single[1].transpose(1, 2)),
    ]
    return [Case(about, {"weights": weights, "features": features}) for about, weights, features in inputs]


def right(weights, features):
    weighted = weights[..., None] * features
    return weighted.sum((1, 2))


CONTEXT_OVER_GRID = Exercise(
    "context_over_grid",
    "looking_at_pictures",
    cases,
    right,
    'lesson 10, "Regions as words"; glossary.show("soft and hard attention")',
)

SUMMED = ".sum((1, 2))"
WEIGHTS = "weights[..., None]"
CONTEXT_OVER_GRID.misconception(
    "the result is the plain mean of all regions",
    "A region with a large weight should count more. Where do the weights come in?",
)(lambda weights, features: features.mean((1, 2)))
CONTEXT_OVER_GRID.misconception("the result is the plain sum of all regions", "Where do the weights come in?")(
    lambda weights, features: features.sum((1, 2))
)
CONTEXT_OVER_GRID.edit(
    "the weighted features are averaged over the regions",
    "The weights already sum to 1, so the weighted sum is a mean. Where do you divide it again?",
    (SUMMED, ".mean((1, 2))"),
)
CONTEXT_OVER_GRID.edit(
    "the weighted features are averaged over the rows or over the columns",
    "The weights sum to 1 over the whole grid. So both axes are summed, and neither is averaged.",
    (SUMMED, ".sum(2).mean(1)"),
)
CONTEXT_OVER_GRID.edit(
    "the weighted features are averaged over the rows or over the columns",
    "The weights sum to 1 over the whole grid. So both axes are summed, and neither is averaged.",
    (SUMMED, ".sum(1).mean(1)"),
)
ONE_EACH = "Each picture has its own context, so the axis of the batch stays."
CONTEXT_OVER_GRID.edit("the pictures of the batch are summed, too", ONE_EACH, (SUMMED, ".sum((0, 1, 2))"))
CONTEXT_OVER_GRID.edit(
    "the first picture's weights are used for all pictures",
    "Each picture has weights of its own.",
    (WEIGHTS, "weights[:1, ..., None]"),
)
CONTEXT_OVER_GRID.edit("the axis of the columns is left over", "Sum over both axes of the grid.", (SUMMED, ".sum(1)"))
CONTEXT_OVER_GRID.edit("the axis of the rows is left over", "Sum over both axes of the grid.", (SUMMED, ".sum(2)"))
CONTEXT_OVER_GRID.edit(
    "the features are weighted, but not summed", "The result still has the axes of the grid.", (SUMMED, "")
)
CONTEXT_OVER_GRID.edit(
    "the sum is over the numbers of a region",
    "The axes are (batch, row, column, numbers). Which of them should go?",
    (SUMMED, ".sum(3)"),
)
NORMALISED = "The weights already sum to 1 over the grid. Use them as they are."
CONTEXT_OVER_GRID.edit("the weights go through another softmax", NORMALISED, (WEIGHTS, "over_grid(weights)[..., None]"))
CONTEXT_OVER_GRID.edit(
    "each row of the weights goes through a softmax", NORMALISED, (WEIGHTS, "weights.softmax(2)[..., None]")
)
CONTEXT_OVER_GRID.edit(
    "each row of the weights is made to sum to 1",
    NORMALISED,
    (WEIGHTS, "(weights / weights.sum(2, keepdim=True))[..., None]"),
)
CONTEXT_OVER_GRID.edit(
    "each column of the weights is made to sum to 1",
    NORMALISED,
    (WEIGHTS, "(weights / weights.sum(1, keepdim=True))[..., None]"),
)
CONTEXT_OVER_GRID.edit(
    "the weights are squared", "Each region is multiplied by its weight, once.", (WEIGHTS, "weights[..., None] ** 2")
)


@CONTEXT_OVER_GRID.misconception(
    "only the region with the largest weight counts",
    "This is hard attention. Here every region counts by its weight.",
)
def hardest(weights, features):
    best = weights.flatten(1).argmax(1)
    return features.flatten(1, 2)[torch.arange(len(best)), best]


MIXED = (
    "Row r, column c of the weights belongs to row r, column c of the features. Are both flattened in the same order?"
)
CONTEXT_OVER_GRID.misconception("rows and columns of the weights are swapped", MIXED)(
    lambda weights, features: torch.einsum("bn,bnd->bd", weights.mT.flatten(1), features.flatten(1, 2))
)
CONTEXT_OVER_GRID.misconception(
    "the numbers of the features are mixed by a reshape",
    "reshape doesn't move an axis. It joins (batch, row, column, numbers) to (batch, regions, numbers), not to (batch, numbers, regions).",
)(
    lambda weights, features: (
        features.reshape(len(features), features.shape[3], -1) * weights.flatten(1)[:, None]
    ).sum(2)
)
MARGINS = "After a sum over one axis of the grid, nothing tells which region had the weight. Multiply first, then sum."
CONTEXT_OVER_GRID.misconception(
    "the weights of each column are added up before they are multiplied by the features", MARGINS
)(lambda weights, features: (weights.sum(1)[..., None] * features.sum(1)).sum(1))
CONTEXT_OVER_GRID.misconception(
    "the weights of each column are added up before they are multiplied by the features", MARGINS
)(lambda weights, features: (weights.sum(1)[..., None] * features.mean(1)).sum(1))
CONTEXT_OVER_GRID.misconception(
    "the weights of each row are added up before they are multiplied by the features", MARGINS
)(lambda weights, features: (weights.sum(2)[..., None] * features.sum(2)).sum(1))
CONTEXT_OVER_GRID.misconception(
    "the weights of each row are added up before they are multiplied by the features", MARGINS
)(lambda weights, features: (weights.sum(2)[..., None] * features.mean(2)).sum(1))
CONTEXT_OVER_GRID.edit(
    "the vectors are scaled to length 1",
    "Return the weighted sum as it is.",
    ("weighted.sum((1, 2))", "torch.nn.functional.normalize(weighted.sum((1, 2)), dim=1)"),
)
