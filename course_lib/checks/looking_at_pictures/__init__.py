"""Exercises of lesson 10: looking at pictures."""

import torch
from torch.nn import functional as F

from course_lib.checks.engine import Case, Exercise

PATCHED = 'lesson 10, "A Vision Transformer"; glossary.show("Vision Transformer")'
REGIONS = 'lesson 10, "Regions as words"; glossary.show("soft and hard attention")'
POINTING = 'lesson 10, "Does the map show what it needs?"; glossary.show("alignment")'
SCORE = 'lesson 10, "Hard attention"; glossary.show("score-function estimator")'
THROUGH = 'lesson 10, "Hard attention"; glossary.show("straight-through estimator")'


def some(generator: torch.Generator, low: int, high: int) -> int:
    return int(torch.randint(low, high, (), generator=generator))


# ---- patches(pictures, size) ----

Shape = tuple[str, tuple[int, int, int], int]  # what is special, (batch, height, width), size of a patch


def shapes(generator: torch.Generator) -> list[Shape]:
    """Pictures that are hardly ever square: there height and width could change places unseen."""
    return [
        ("two pictures wider than high", (2, 4, 6), 2),
        ("two pictures higher than wide", (2, 6, 4), 2),
        ("patches of 3 × 3", (2, 6, 9), 3),
        ("as many patches as points in a patch", (3, 2, 8), 2),
        ("square pictures", (3, 8, 8), 4),
        ("one row of patches", (2, 3, 12), 3),
        ("one column of patches", (2, 12, 3), 3),
        ("patches of one point", (2, 3, 4), 1),
        ("patches as large as the picture", (3, 4, 4), 4),
        ("as many pictures as patches", (6, 4, 6), 2),
        ("more pictures", (5, 2 * some(generator, 2, 6), 2 * some(generator, 6, 9)), 2),
    ]


def patches_cases(generator: torch.Generator) -> list[Case]:
    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator)

    inputs = [(about, draw(*shape), size) for about, shape, size in shapes(generator)]
    inputs[0] = ("two pictures, their points numbered", torch.arange(48.0).view(2, 4, 6), 2)
    inputs += [
        ("float64", draw(2, 4, 10).double(), 2),
        ("pictures that do not lie in order in memory", draw(2, 9, 6).mT, 3),
    ]
    return [Case(about, {"pictures": pictures, "size": size}) for about, pictures, size in inputs]


def blocks(pictures, size):
    """(batch, row of patches, row within, column of patches, column within)"""
    batch, height, width = pictures.shape
    return pictures.reshape(batch, height // size, size, width // size, size)


def as_rows(parts):
    """(batch, row, column, row within, column within) with a row for each patch."""
    return parts.flatten(3).flatten(1, 2)


def cutting(*axes, split=blocks, finish=as_rows):
    """`patches` with one or more misconceptions; the axes are those of the blocks, in the order in which they are counted."""

    def answer(pictures, size):
        return finish(split(pictures, size).permute(0, *axes))

    return answer


IN_ORDER = 1, 3, 2, 4

PATCHES = Exercise(
    "patches",
    "looking_at_pictures",
    patches_cases,
    lambda pictures, size: F.unfold(pictures[:, None], size, stride=size).transpose(1, 2),
    PATCHED,
)

PATCHES.misconception(
    "the rows of the picture are cut, not its squares: an axis is not moved",
    "reshape and view count on through memory, row after row. A patch takes a piece of *several* rows: which two axes must change places before the last reshape?",
)(cutting(1, 2, 3, 4, finish=lambda parts: parts.reshape(len(parts), -1, parts.shape[-1] ** 2)))
PATCHES.misconception(
    "height and width have changed places",
    "The picture is (batch, height, width): rows first. How many patches stand below each other, and how many beside?",
)(cutting(*IN_ORDER, split=lambda x, size: x.reshape(len(x), x.shape[2] // size, size, x.shape[1] // size, size)))
READING = "In reading order the patch to the right comes second, not the one below."
PATCHES.misconception("the patches are counted down the columns", READING)(cutting(3, 1, 2, 4))
PATCHES.misconception(
    "each patch is read down its columns", "Within a patch, too, the point to the right comes second."
)(cutting(1, 3, 4, 2))
PATCHES.misconception("patches and points are counted down the columns", READING)(cutting(3, 1, 4, 2))
NEIGHBOURS = "A reshape splits an axis of 6 = 3 · 2 into (3, 2): 3 patches, of 2 points each. Which of the two numbers comes first? And a slice 0:2 takes neighbours, 0::2 every second one."
SPLIT = "the points of a patch are not neighbours"


def strewn(pictures, size):
    """(batch, row within, row of patches, column within, column of patches): such a patch takes points far apart."""
    batch, height, width = pictures.shape
    return pictures.reshape(batch, size, height // size, size, width // size)


PATCHES.misconception(SPLIT, NEIGHBOURS)(cutting(2, 4, 1, 3, split=strewn))
PATCHES.misconception(SPLIT, NEIGHBOURS)(
    lambda pictures, size: strewn(pictures, size).transpose(2, 3).reshape(len(pictures), -1, size**2)
)
PATCHES.misconception(
    "patches and points stand in each other's places",
    "A row for each patch is wanted: (batch, patches, points). Does yours hold one point of *every* patch, as those of F.unfold and of a slice r::size do?",
)(lambda pictures, size: F.unfold(pictures[:, None], size, stride=size))
PATCHES.misconception(
    "the points of a patch are still a square", "A patch comes out as one row of size · size numbers."
)(cutting(*IN_ORDER, finish=lambda parts: parts.flatten(1, 2)))
PATCHES.misconception("the patches still stand in a grid", "One axis counts all patches of a picture, row after row.")(
    cutting(*IN_ORDER, finish=lambda parts: parts.flatten(3))
)
PATCHES.misconception("the rows of a patch are not joined", "A patch comes out as one row of size · size numbers.")(
    cutting(*IN_ORDER, finish=lambda parts: parts.flatten(1, 3))
)
PATCHES.misconception(
    "the pictures of the batch are thrown together",
    "The batch stays an axis of its own, in front: (batch, patches, points).",
)(cutting(*IN_ORDER, finish=lambda parts: parts.flatten(3).flatten(0, 2)))
PATCHES.misconception(
    "the axis of the patches stands before that of the batch",
    "torch.stack puts a new axis in front; dim=1 puts it second.",
)(cutting(*IN_ORDER, finish=lambda parts: as_rows(parts).transpose(0, 1)))
PATCHES.misconception(
    "only the first picture is cut", "The batch is the first axis; every picture of it has its patches."
)(cutting(*IN_ORDER, finish=lambda parts: as_rows(parts)[0]))
PATCHES.misconception(
    "only the first row of patches is cut", "Below it there are more. Which part of your code goes on to the next row?"
)(cutting(*IN_ORDER, finish=lambda parts: parts[:, 0].flatten(2)))
PATCHES.misconception(
    "the patches overlap",
    "The next patch begins where the last one ends: by how much does the loop, or the stride, go on?",
)(lambda pictures, size: as_rows(pictures.unfold(1, size, 1).unfold(2, size, 1)))
PATCHES.misconception(
    "the size is taken for the number of patches in a row",
    "`size` is the side of a patch in points. How many patches fit is height // size and width // size.",
)(cutting(*IN_ORDER, split=lambda x, n: x.reshape(len(x), n, x.shape[1] // n, n, x.shape[2] // n)))


def by_corners(corners):
    """`patches` cut at these corners, (row, column) of each."""

    def answer(pictures, size):
        there = corners(*pictures.shape[1:], size)
        return torch.stack([pictures[:, r : r + size, c : c + size].flatten(1) for r, c in there], 1)

    return answer


SIDES = "The picture need not be square: rows go up to the height, columns up to the width."
PATCHES.misconception("the height is taken for the width, too", SIDES)(
    by_corners(lambda h, w, size: [(r, c) for r in range(0, h, size) for c in range(0, h, size)])
)
PATCHES.misconception("the width is taken for the height, too", SIDES)(
    by_corners(lambda h, w, size: [(r, c) for r in range(0, w, size) for c in range(0, w, size)])
)
PATCHES.misconception(
    "the last row and the last column of patches are missing",
    "Where do your loops end? range leaves out its end: range(0, height - size, size) stops before the last patch.",
)(by_corners(lambda h, w, size: [(r, c) for r in range(0, h - size, size) for c in range(0, w - size, size)]))
PATCHES.misconception(
    "only the patches on the diagonal are cut",
    "Every row of patches has all columns: zip takes pairs, two loops take all.",
)(by_corners(lambda h, w, size: list(zip(range(0, h, size), range(0, w, size), strict=False))))


# ---- picture_of(patches, size, height, width) ----


def picture_cases(generator: torch.Generator) -> list[Case]:
    def draw(shape: tuple[int, int, int], size: int) -> torch.Tensor:
        batch, height, width = shape
        return torch.randn(batch, height * width // size**2, size**2, generator=generator)

    inputs = [(about, draw(shape, size), size, *shape[1:]) for about, shape, size in shapes(generator)]
    inputs[0] = ("two pictures of 4 × 6, their patches numbered", torch.arange(48.0).view(2, 6, 4), 2, 4, 6)
    inputs += [
        ("float64", draw((2, 4, 10), 2).double(), 2, 4, 10),
        ("patches that do not lie in order in memory", draw((2, 9, 6), 3).mT.contiguous().mT, 3, 9, 6),
    ]
    names = "patches", "size", "height", "width"
    return [Case(about, dict(zip(names, given, strict=True))) for about, *given in inputs]


def squares(patches, size, height, width):
    """(batch, row of patches, column of patches, row within, column within)"""
    return patches.reshape(len(patches), height // size, width // size, size, size)


def joined(parts, height, width):
    return parts.reshape(len(parts), height, width)


def putting(*axes, split=squares, finish=joined):
    """`picture_of` with one or more misconceptions; the axes are those of the squares, in the order in which they are counted."""

    def answer(patches, size, height, width):
        return finish(split(patches, size, height, width).permute(0, *axes), height, width)

    return answer


PICTURE_OF = Exercise(
    "picture_of",
    "looking_at_pictures",
    picture_cases,
    lambda patches, size, height, width: F.fold(patches.transpose(1, 2), (height, width), size, stride=size).squeeze(1),
    PATCHED,
)

PICTURE_OF.misconception(
    "the patches are laid one behind the other: an axis is not moved",
    "The first row of the picture is made of the first rows of *several* patches. Which two axes must change places before the last reshape?",
)(putting(1, 2, 3, 4))
TURNED = "The grid of patches has height // size rows and width // size columns. Which is counted first?"
PICTURE_OF.misconception("height and width have changed places in the grid of patches", TURNED)(
    putting(1, 3, 2, 4, split=lambda patches, size, height, width: squares(patches, size, width, height))
)
PICTURE_OF.misconception("the picture comes out with height and width exchanged", "The picture is (batch, height, width): rows first.")(
    putting(
        1, 3, 2, 4,
        split=lambda patches, size, height, width: squares(patches, size, width, height),
        finish=lambda parts, height, width: joined(parts, width, height),
    )
)  # fmt: skip
PICTURE_OF.misconception(
    "the shape (batch, width, height) is given to the picture", "The picture is (batch, height, width): rows first."
)(putting(1, 3, 2, 4, finish=lambda parts, height, width: joined(parts, width, height)))
DOWN = "The second patch stands to the right of the first, not below it."
PICTURE_OF.misconception("the patches are put in down the columns", DOWN)(
    putting(
        1, 3, 2, 4,
        split=lambda patches, size, height, width: squares(patches, size, width, height).transpose(1, 2),
    )
)  # fmt: skip
PICTURE_OF.misconception(
    "each patch is put in with its rows for columns",
    "Within a patch, too, the second point stands to the right of the first.",
)(putting(1, 4, 2, 3))
PICTURE_OF.misconception(
    "the whole picture is turned: rows for columns", "The picture is (batch, height, width): rows first."
)(putting(1, 3, 2, 4, finish=lambda parts, height, width: joined(parts, height, width).mT))
PICTURE_OF.misconception(
    "the points of each patch are strewn over the picture",
    "The points of a patch stay together: the rows of the picture are (row of patches, row within), in this order.",
)(putting(3, 1, 4, 2))
PICTURE_OF.misconception(
    "patches and points are taken for each other",
    "F.fold and F.pixel_shuffle want the points in front, (batch, points, patches). A reshape moves no axis.",
)(
    putting(
        3, 1, 4, 2,
        split=lambda patches, size, height, width: patches.reshape(
            len(patches), size, size, height // size, width // size
        ).permute(0, 3, 4, 1, 2),
        finish=lambda parts, height, width: joined(parts.permute(0, 2, 1, 4, 3), height, width),
    )
)  # fmt: skip
JOIN = "One picture is wanted, (batch, height, width)."
PICTURE_OF.misconception("the patches still stand in a grid, not joined", JOIN)(
    putting(1, 2, 3, 4, finish=lambda parts, height, width: parts)
)
PICTURE_OF.misconception("the patches have become squares and are not joined", JOIN)(
    putting(1, 2, 3, 4, finish=lambda parts, height, width: parts.flatten(1, 2))
)
PICTURE_OF.misconception("the axes are in order, and not joined", JOIN)(
    putting(1, 3, 2, 4, finish=lambda parts, height, width: parts)
)
PICTURE_OF.misconception(
    "all patches stand beside each other", "After width // size patches a new row of patches begins."
)(putting(3, 1, 2, 4, finish=lambda parts, height, width: parts.flatten(2)))
PICTURE_OF.misconception(
    "all patches stand below each other", "In a row of patches there are width // size beside each other."
)(putting(1, 2, 3, 4, finish=lambda parts, height, width: parts.flatten(1, 3)))
PICTURE_OF.misconception(
    "only the first picture is put together", "The batch is the first axis; each of its pictures is wanted."
)(putting(1, 3, 2, 4, finish=lambda parts, height, width: joined(parts, height, width)[0]))
PICTURE_OF.misconception(
    "the last patch is missing", "range(n - 1) ends before the last patch: range leaves out its end."
)(lambda patches, *sides: PICTURE_OF.right(torch.cat([patches[:, :-1], 0 * patches[:, -1:]], 1), *sides))
PICTURE_OF.misconception(
    "an axis of colours is left over", "F.fold gives (batch, 1, height, width): one axis is to go."
)(putting(1, 3, 2, 4, finish=lambda parts, height, width: joined(parts, height, width)[:, None]))


# ---- context_over_grid(weights, features) ----


GRIDS = (  # what is special, (batch, rows, columns, numbers)
    ("more rows than columns", (2, 4, 3, 2)),
    ("one row of regions", (3, 1, 5, 2)),
    ("one column of regions", (3, 4, 1, 2)),
    ("a square grid", (2, 3, 3, 4)),
    ("as many pictures as rows, columns and numbers", (3, 3, 3, 3)),
    ("as many numbers as columns", (2, 3, 4, 4)),
    ("as many pictures as columns", (4, 2, 4, 3)),
)


def over_grid(scores: torch.Tensor) -> torch.Tensor:
    return scores.flatten(1).softmax(1).view_as(scores)


def context_cases(generator: torch.Generator) -> list[Case]:
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
        ("tensors that do not lie in order in memory", single[0].mT, single[1].transpose(1, 2)),
    ]
    return [Case(about, {"weights": weights, "features": features}) for about, weights, features in inputs]


def weighing(change=lambda weights: weights, add=lambda weighted: weighted.sum((1, 2))):
    """`context_over_grid` with one or more misconceptions."""
    return lambda weights, features: add(change(weights)[..., None] * features)


CONTEXT_OVER_GRID = Exercise(
    "context_over_grid",
    "looking_at_pictures",
    context_cases,
    lambda weights, features: torch.bmm(weights.flatten(1)[:, None], features.flatten(1, 2))[:, 0],
    REGIONS,
)

CONTEXT_OVER_GRID.misconception(
    "it is the plain mean of all regions",
    "A region with a large weight should count for more: where do the weights come in?",
)(lambda weights, features: features.mean((1, 2)))
CONTEXT_OVER_GRID.misconception("it is the plain sum of all regions", "Where do the weights come in?")(
    lambda weights, features: features.sum((1, 2))
)
CONTEXT_OVER_GRID.misconception(
    "the weighted features are averaged over the regions",
    "The weights sum to 1 already: their sum is the mean, and a division by the number of regions is one too many.",
)(weighing(add=lambda weighted: weighted.mean((1, 2))))
CONTEXT_OVER_GRID.misconception(
    "it is averaged over the rows, or over the columns",
    "The weights sum to 1 over the whole grid: both axes are summed, and neither is averaged.",
)(weighing(add=lambda weighted: weighted.sum(2).mean(1)))
CONTEXT_OVER_GRID.misconception(
    "it is averaged over the rows, or over the columns",
    "The weights sum to 1 over the whole grid: both axes are summed, and neither is averaged.",
)(weighing(add=lambda weighted: weighted.sum(1).mean(1)))
ONE_EACH = "Each picture has its own context: the axis of the batch stays."
CONTEXT_OVER_GRID.misconception("the pictures of the batch are summed, too", ONE_EACH)(
    weighing(add=lambda weighted: weighted.sum((0, 1, 2)))
)
CONTEXT_OVER_GRID.misconception(
    "the first picture's weights serve all pictures", "Each picture has weights of its own."
)(weighing(lambda weights: weights[:1]))
CONTEXT_OVER_GRID.misconception("the axis of the columns is left over", "Both axes of the grid are to be summed.")(
    weighing(add=lambda weighted: weighted.sum(1))
)
CONTEXT_OVER_GRID.misconception("the axis of the rows is left over", "Both axes of the grid are to be summed.")(
    weighing(add=lambda weighted: weighted.sum(2))
)
CONTEXT_OVER_GRID.misconception(
    "the features are weighted, and not summed", "What comes out still has the axes of the grid."
)(weighing(add=lambda weighted: weighted))
CONTEXT_OVER_GRID.misconception(
    "it is summed over the numbers of a region", "The axes are (batch, row, column, numbers). Which are to go?"
)(weighing(add=lambda weighted: weighted.sum(3)))
NORMALISED = "The weights sum to 1 over the grid already. Nothing is to be done to them."
CONTEXT_OVER_GRID.misconception("a softmax is taken of the weights once more", NORMALISED)(weighing(over_grid))
CONTEXT_OVER_GRID.misconception("a softmax is taken of each row of the weights", NORMALISED)(
    weighing(lambda weights: weights.softmax(2))
)
CONTEXT_OVER_GRID.misconception("each row of the weights is made to sum to 1", NORMALISED)(
    weighing(lambda weights: weights / weights.sum(2, keepdim=True))
)
CONTEXT_OVER_GRID.misconception("each column of the weights is made to sum to 1", NORMALISED)(
    weighing(lambda weights: weights / weights.sum(1, keepdim=True))
)
CONTEXT_OVER_GRID.misconception("the weights are squared", "Each region is multiplied by its weight, once.")(
    weighing(lambda weights: weights**2)
)


@CONTEXT_OVER_GRID.misconception(
    "only the region with the largest weight is taken",
    "That is hard attention. Here every region counts, by its weight.",
)
def hardest(weights, features):
    best = weights.flatten(1).argmax(1)
    return features.flatten(1, 2)[torch.arange(len(best)), best]


MIXED = (
    "Row r, column c of the weights belongs to row r, column c of the features. Are both flattened in the same order?"
)
CONTEXT_OVER_GRID.misconception("rows and columns of the weights have changed places", MIXED)(
    lambda weights, features: torch.einsum("bn,bnd->bd", weights.mT.flatten(1), features.flatten(1, 2))
)
CONTEXT_OVER_GRID.misconception(
    "the numbers of the features are mixed by a reshape",
    "reshape moves no axis: (batch, row, column, numbers) flattens to (batch, regions, numbers), not to (batch, numbers, regions).",
)(
    lambda weights, features: (
        features.reshape(len(features), features.shape[3], -1) * weights.flatten(1)[:, None]
    ).sum(2)
)
MARGINS = "A sum over one axis of the grid forgets which region had the weight. Multiply first, then sum."
CONTEXT_OVER_GRID.misconception("the weights of each column are added up before they meet the features", MARGINS)(
    lambda weights, features: (weights.sum(1)[..., None] * features.sum(1)).sum(1)
)
CONTEXT_OVER_GRID.misconception("the weights of each column are added up before they meet the features", MARGINS)(
    lambda weights, features: (weights.sum(1)[..., None] * features.mean(1)).sum(1)
)
CONTEXT_OVER_GRID.misconception("the weights of each row are added up before they meet the features", MARGINS)(
    lambda weights, features: (weights.sum(2)[..., None] * features.sum(2)).sum(1)
)
CONTEXT_OVER_GRID.misconception("the weights of each row are added up before they meet the features", MARGINS)(
    lambda weights, features: (weights.sum(2)[..., None] * features.mean(2)).sum(1)
)
CONTEXT_OVER_GRID.misconception("the vectors are brought to length 1", "The weighted sum as it is is wanted.")(
    lambda weights, features: F.normalize(weighing()(weights, features), dim=1)
)


# ---- grid_weights(queries, keys) ----


def grid_cases(generator: torch.Generator) -> list[Case]:
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
        ("two pictures alike, with two questions", *by_hand),
        *((about, *given(*sizes)) for about, sizes in GRIDS),
        ("a query of 0", torch.zeros(2, 5), equal[1]),
        ("long vectors", *given(2, 3, 4, some(generator, 20, 40))),
        ("more pictures", *given(some(generator, 5, 8), 6, some(generator, 3, 6), some(generator, 7, 12))),
        ("float64", double[0].double(), double[1].double()),
        ("tensors that do not lie in order in memory", single[0].T.contiguous().T, single[1].transpose(1, 2)),
    ]
    return [Case(about, {"queries": queries, "keys": keys}) for about, queries, keys in inputs]


def scored(queries, keys):
    return (queries[:, None, None] * keys).sum(-1)


def weights_of(share=over_grid, scale=lambda scores, d: scores / d**0.5):
    """`grid_weights` with one or more misconceptions."""
    return lambda queries, keys: share(scale(scored(queries, keys), queries.shape[-1]))


GRID_WEIGHTS = Exercise(
    "grid_weights",
    "looking_at_pictures",
    grid_cases,
    lambda queries, keys: F.softmax(
        torch.bmm(keys.flatten(1, 2), queries[:, :, None])[..., 0] / queries.shape[1] ** 0.5, dim=1
    ).unflatten(1, keys.shape[1:3]),
    REGIONS,
)

GRID_WEIGHTS.misconception(
    "the softmax is still taken along the batch",
    "What should sum to 1? Take one picture, and add up its weights. Then add up what two pictures have at one region.",
)(weights_of(lambda scores: scores.softmax(0)))
WHOLE_GRID = "One softmax is taken over all regions of a picture: over both axes of the grid together, not one by one."
GRID_WEIGHTS.misconception("the softmax is taken along each row of the grid", WHOLE_GRID)(
    weights_of(lambda scores: scores.softmax(-1))
)
GRID_WEIGHTS.misconception("the softmax is taken along each column of the grid", WHOLE_GRID)(
    weights_of(lambda scores: scores.softmax(-2))
)
GRID_WEIGHTS.misconception(
    "a softmax is taken along rows, and another one along columns",
    f"The second is a softmax of weights, no longer of scores. {WHOLE_GRID}",
)(weights_of(lambda scores: scores.softmax(-1).softmax(-2)))
GRID_WEIGHTS.misconception(
    "a softmax is taken along rows, and another one along columns",
    f"The second is a softmax of weights, no longer of scores. {WHOLE_GRID}",
)(weights_of(lambda scores: scores.softmax(-2).softmax(-1)))
GRID_WEIGHTS.misconception("two softmaxes, along rows and along columns, are multiplied", WHOLE_GRID)(
    weights_of(lambda scores: scores.softmax(-1) * scores.softmax(-2))
)
GRID_WEIGHTS.misconception("the whole batch shares one softmax", "The weights of *each* picture sum to 1.")(
    weights_of(lambda scores: scores.flatten().softmax(0).view_as(scores))
)
SCALED = "The scores are divided by √d, as the function that was found has it. That line was right."
GRID_WEIGHTS.misconception("the division by √d is lost", SCALED)(weights_of(scale=lambda scores, d: scores))
GRID_WEIGHTS.misconception("it is divided by d, not by √d", SCALED)(weights_of(scale=lambda scores, d: scores / d))
GRID_WEIGHTS.misconception("it is multiplied by √d", SCALED)(weights_of(scale=lambda scores, d: scores * d**0.5))
GRID_WEIGHTS.misconception("the scores come out, not the weights", "The softmax is to be mended, not left out.")(
    weights_of(lambda scores: scores)
)
GRID_WEIGHTS.misconception("the regions are one axis", "The weights come out on the grid: (batch, row, column).")(
    weights_of(lambda scores: scores.flatten(1).softmax(1))
)
GRID_WEIGHTS.misconception(
    "rows and columns of the weights have changed places",
    "Back from the line of regions to the grid: how many rows, how many columns, and which is counted first?",
)(weights_of(lambda scores: over_grid(scores).reshape(len(scores), *scores.shape[:0:-1])))
GRID_WEIGHTS.misconception("logarithms of the weights come out", "log_softmax is the logarithm of the softmax.")(
    weights_of(lambda scores: over_grid(scores).log())
)
GRID_WEIGHTS.misconception(
    "a sigmoid takes the place of the softmax", "A sigmoid looks at one score alone: nothing sums to 1."
)(weights_of(lambda scores: scores.sigmoid()))
GRID_WEIGHTS.misconception(
    "the scores are divided by their sum, without exp", "A softmax takes exp first: scores may be negative."
)(weights_of(lambda scores: scores / scores.sum((1, 2), keepdim=True)))
GRID_WEIGHTS.misconception(
    "exp is taken, and not divided by the sum", "What are the shares of one picture divided by?"
)(weights_of(lambda scores: scores.exp()))
GRID_WEIGHTS.misconception(
    "the largest score has weight 1, and all others 0", "That is hard attention. A softmax gives every region a share."
)(weights_of(lambda scores: F.one_hot(scores.flatten(1).argmax(1), scores[0].numel()).view_as(scores).to(scores)))
GRID_WEIGHTS.misconception(
    "only the first picture's weights come out", "The batch is the first axis; each picture has its weights."
)(weights_of(lambda scores: over_grid(scores)[0]))
GRID_WEIGHTS.misconception("the first query asks all pictures", "Each picture has a query of its own.")(
    lambda queries, keys: weights_of()(queries[:1].expand_as(queries), keys)
)
GRID_WEIGHTS.misconception("the context comes out, not the weights", "Wanted are the weights, (batch, row, column).")(
    lambda queries, keys: weighing()(weights_of()(queries, keys), keys)
)


# ---- pointing_accuracy(weights, gold) ----


def pointing_cases(generator: torch.Generator) -> list[Case]:
    def given(
        batch: int, words: int, regions: int, right: float = 0.5, named: float = 0.6, sharp: float = 1.5
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Weights of which about a share `right` points to the gold region, and words of which a share `named` has one."""
        weights = (sharp * torch.randn(batch, words, regions, generator=generator)).softmax(-1)
        gold = torch.randint(regions, (batch, words), generator=generator)
        hit, has = (torch.rand(batch, words, generator=generator) < share for share in (right, named))
        has[0, 0] = True
        return weights, torch.where(has, torch.where(hit, weights.argmax(-1), gold), -1)

    by_hand = (
        torch.tensor(
            [
                [[0.1, 0.6, 0.2, 0.1], [0.7, 0.1, 0.1, 0.1], [0.3, 0.2, 0.4, 0.1]],
                [[0.1, 0.2, 0.3, 0.4], [0.2, 0.5, 0.2, 0.1], [0.45, 0.15, 0.25, 0.15]],
            ]
        ),
        torch.tensor([[1, -1, 0], [3, -1, -1]]),
    )
    lacking, some_ends = given(3, 6, 5), given(4, 8, 3, named=0.9)
    lacking[1][1] = -1
    double, single = given(3, 5, 4), given(4, 7, 6)
    inputs = [
        ("two pictures, three words each", *by_hand),
        ("more words", *given(2, 9, 4)),
        ("every word names a region", *given(3, 7, 5, named=1.0)),
        ("most words name no region", *given(4, 9, 4, named=0.25)),
        ("a picture none of whose words names a region", *lacking),
        ("few regions, often the first and the last", *some_ends),
        ("as many words as regions", *given(3, 6, 6)),
        ("as many pictures as words", *given(6, 6, 4)),
        ("sharp weights", *given(4, 8, 6, sharp=6.0)),
        ("flat weights, none above one half", *given(4, 8, 9, sharp=0.3)),
        ("all largest weights on their regions", *given(2, 5, 4, right=1.1)),
        ("many words", *given(some(generator, 5, 9), some(generator, 10, 16), 9, right=0.7)),
        ("36 regions", *given(5, some(generator, 8, 12), 36, right=0.3)),
        ("float64", double[0].double(), double[1]),
        ("weights that do not lie in order in memory", single[0].mT.contiguous().mT, single[1]),
    ]
    return [Case(about, {"weights": weights, "gold": gold}) for about, weights, gold in inputs]


def pointed(weights, gold):
    return weights.argmax(-1) == gold


def counting(hits=pointed, words=lambda gold: gold >= 0, share=lambda hit, there: hit[there].double().mean()):
    """`pointing_accuracy` with one or more misconceptions."""
    return lambda weights, gold: share(hits(weights, gold), words(gold))


POINTING_ACCURACY = Exercise("pointing_accuracy", "looking_at_pictures", pointing_cases, counting(), POINTING)

POINTING_ACCURACY.misconception(
    "words that name no region count as misses",
    "A word without a region can be neither right nor wrong. By how many words is the number of hits divided?",
)(counting(words=lambda gold: gold >= -1))
POINTING_ACCURACY.misconception(
    "words that name no region count as hits", "A word without a region can be neither right nor wrong: it is left out."
)(counting(lambda weights, gold: pointed(weights, gold) | (gold < 0), lambda gold: gold >= -1))
LAST = "In Python, index −1 is the last entry; here it says that there is no region. Leave those words out."
POINTING_ACCURACY.misconception("−1 counts as the last region", LAST)(
    lambda weights, gold: counting()(weights, gold % weights.shape[-1])
)
POINTING_ACCURACY.misconception("−1 counts as region 0", "clamp(min=0) makes a region of −1. Leave those words out.")(
    lambda weights, gold: counting()(weights, gold.clamp(min=0))
)
POINTING_ACCURACY.misconception(
    "region 0 is left out, too", "Regions are counted from 0; −1 alone names none. Is it > 0 or >= 0?"
)(counting(words=lambda gold: gold > 0))
POINTING_ACCURACY.misconception(
    "region 0 is left out, and words without a region count", "Regions are counted from 0; −1 alone names none."
)(counting(words=lambda gold: gold != 0))
POINTING_ACCURACY.misconception(
    "only the words that name no region count", "−1 marks the words to leave out. Is a mask turned round?"
)(counting(words=lambda gold: gold < 0))
LARGEST = "A word is a hit or not: which region has its largest weight, and is that the gold one? How large the weight is does not matter."
POINTING_ACCURACY.misconception("it is the mean weight on the gold regions", LARGEST)(
    counting(lambda weights, gold: weights.gather(-1, gold.clamp(min=0)[..., None])[..., 0])
)


def weight_there(weights, gold):
    return weights.gather(-1, gold.clamp(min=0)[..., None])[..., 0]


POINTING_ACCURACY.misconception("a hit is a weight above one half", LARGEST)(
    counting(lambda weights, gold: weight_there(weights, gold) > 0.5)
)
POINTING_ACCURACY.misconception("a hit is a weight above the mean", LARGEST)(
    counting(lambda weights, gold: weight_there(weights, gold) > weights.mean(-1))
)
POINTING_ACCURACY.misconception(
    "a hit is a region among the two with the largest weights", "The largest weight alone decides."
)(counting(lambda weights, gold: (weights.topk(2).indices == gold[..., None]).any(-1)))
ALONG = "The axes are (batch, word, region). For each word one region is chosen: along which axis?"
POINTING_ACCURACY.misconception("the largest weight is looked for along the words", ALONG)(
    counting(
        lambda weights, gold: (weights == weights.amax(1, keepdim=True)).gather(-1, gold.clamp(min=0)[..., None])[
            ..., 0
        ]
    )
)
POINTING_ACCURACY.misconception(
    "the largest weight is looked for along the words, and compared with the gold regions", ALONG
)(counting(lambda weights, gold: weights.argmax(1) == gold))
POINTING_ACCURACY.misconception("the smallest weight is looked for", "argmin finds the smallest.")(
    counting(lambda weights, gold: weights.argmin(-1) == gold)
)
POINTING_ACCURACY.misconception(
    "each picture counts alike, however many words it has",
    "A share of *all* words is wanted: one count of hits and one of words for the whole batch.",
)(lambda weights, gold: by_picture(weights, gold).mean())
POINTING_ACCURACY.misconception(
    "each picture counts alike, and one without such a word counts 0",
    "A share of *all* words is wanted: one count of hits and one of words for the whole batch.",
)(lambda weights, gold: by_picture(weights, gold).nan_to_num().mean())
POINTING_ACCURACY.misconception(
    "each picture counts alike, however many words it has",
    "A share of *all* words is wanted: one count of hits and one of words for the whole batch.",
)(lambda weights, gold: by_picture(weights, gold).nanmean())
POINTING_ACCURACY.misconception("there is a share for each picture", "One number for the whole batch is wanted.")(
    lambda weights, gold: by_picture(weights, gold)
)


def by_picture(weights, gold):
    return pointed(weights, gold).sum(1).double() / (gold >= 0).sum(1)


POINTING_ACCURACY.misconception("it is a count, not a share", "By how many words is it to be divided?")(
    counting(share=lambda hit, there: hit[there].sum())
)
POINTING_ACCURACY.misconception("it is a share in percent", "A share lies between 0 and 1.")(
    counting(share=lambda hit, there: 100 * hit[there].double().mean())
)
POINTING_ACCURACY.misconception("it is the share of misses", "Wanted is the share of the words that are right.")(
    counting(share=lambda hit, there: 1 - hit[there].double().mean())
)
POINTING_ACCURACY.misconception("the hits are divided by the number of pictures", "A share of the *words* is wanted.")(
    counting(share=lambda hit, there: hit[there].sum() / len(hit))
)
POINTING_ACCURACY.misconception(
    "the hits are divided by the number of words in a caption", "How many words of the whole batch have a region?"
)(counting(share=lambda hit, there: hit[there].sum() / hit.shape[1]))
POINTING_ACCURACY.misconception("the share is rounded to 0 or 1", "// rounds down. A division is /.")(
    counting(share=lambda hit, there: hit[there].sum() // there.sum())
)
POINTING_ACCURACY.misconception("a picture counts only as a whole", "Each word with a region counts for itself.")(
    counting(share=lambda hit, there: (hit | ~there).all(1).double().mean())
)
POINTING_ACCURACY.misconception("only the first picture counts", "All words of all pictures count.")(
    lambda weights, gold: counting()(weights[:1], gold[:1])
)
POINTING_ACCURACY.misconception(
    "it says of each word whether it is a hit", "One number is wanted: the share of the hits."
)(counting(share=lambda hit, there: hit))


# ---- expected_gradient(logits, rewards, baseline) ----


def gradient_cases(generator: torch.Generator) -> list[Case]:
    def draw(n: int, sharp: float = 1.0) -> torch.Tensor:
        return sharp * torch.randn(n, generator=generator)

    def at_one(n: int) -> torch.Tensor:
        return F.one_hot(torch.tensor(some(generator, 0, n)), n).float()

    by_hand = torch.tensor([2.0, 1.0, 1.0]).log(), torch.tensor([1.0, 3.0, 5.0])
    certain = torch.tensor([6.0, 0.0, -1.0, 0.5])
    scattered = draw(10)[::2], draw(10)[1::2]
    inputs = [
        ("three places", *by_hand, 0.0),
        ("the same three places, with a baseline", *by_hand, 2.5),
        ("two places", draw(2), draw(2), 0.0),
        ("nine places, one of them right", draw(9), at_one(9), 0.0),
        ("nine places, one of them right, and a baseline", draw(9), at_one(9), 0.3),
        ("equal logits", torch.zeros(5), draw(5), 0.0),
        ("large logits", draw(4) + 3, draw(4), 1.0),
        ("a place that is nearly certain", certain, draw(4), 0.5),
        ("rewards that are negative", draw(4), -draw(4).abs() - 1, -1.0),
        ("a baseline above all rewards", draw(5), draw(5).clamp(max=2), 4.0),
        ("a baseline of 1", draw(6), draw(6), 1.0),
        ("36 places", draw(36), draw(36), float(draw(1))),
        ("float64", draw(5).double(), draw(5).double(), -0.7),
        ("numbers that do not lie in order in memory", *scattered, 0.2),
    ]
    names = "logits", "rewards", "baseline"
    return [Case(about, dict(zip(names, given, strict=True))) for about, *given in inputs]


def through_the_reward(logits, rewards, baseline):
    """What torch's own gradient of the expected reward is."""
    x = logits.detach().clone().requires_grad_()
    return torch.autograd.grad(x.softmax(0) @ rewards, x)[0]


def score(p):
    """A row for each place that may be drawn: one-hot − p."""
    return torch.eye(len(p), dtype=p.dtype) - p


def expecting(
    gain=lambda rewards, b: rewards - b,
    chance=lambda p: p,
    slope=score,
    add=lambda rows: rows.sum(0),
    shares=lambda logits: logits.softmax(0),
):
    """`expected_gradient` with one or more misconceptions."""

    def answer(logits, rewards, baseline):
        p = shares(logits)
        return add((chance(p) * gain(rewards, baseline))[:, None] * slope(p))

    return answer


EXPECTED_GRADIENT = Exercise("expected_gradient", "looking_at_pictures", gradient_cases, through_the_reward, SCORE)

EXPECTED = "An expected value weighs what each place gives by how often it is drawn."
EXPECTED_GRADIENT.misconception("the places are not weighed by their probabilities", EXPECTED)(
    expecting(chance=torch.ones_like)
)
EXPECTED_GRADIENT.misconception("it is the plain mean over the places", EXPECTED)(
    expecting(chance=torch.ones_like, add=lambda rows: rows.mean(0))
)
EXPECTED_GRADIENT.misconception(
    "the weighted gradients are averaged once more",
    "The probabilities sum to 1: the weighted sum is the expected value already.",
)(expecting(add=lambda rows: rows.mean(0)))
MINUS_P = "The gradient of log p_i is one-hot minus p: it has an entry for *every* logit. To make one place likelier is to make the others less likely."
EXPECTED_GRADIENT.misconception("the − p is missing in the gradient of log p", MINUS_P)(
    expecting(slope=lambda p: torch.eye(len(p), dtype=p.dtype))
)
EXPECTED_GRADIENT.misconception(
    "only the drawn place's own logit has a gradient",
    f"{MINUS_P} In the short form p (r − Σ p r), the sum is one number.",
)(expecting(slope=lambda p: torch.diag(1 - p)))
EXPECTED_GRADIENT.misconception("the one-hot is missing in the gradient of log p", MINUS_P)(
    expecting(slope=lambda p: -p.expand(len(p), -1))
)
EXPECTED_GRADIENT.misconception("p is added to the one-hot", MINUS_P)(
    expecting(slope=lambda p: torch.eye(len(p), dtype=p.dtype) + p)
)
EXPECTED_GRADIENT.misconception(
    "1 / p stands for the gradient of log p",
    "That is the derivative by p. Here it is by the logits, of which p is a softmax.",
)(expecting(slope=lambda p: torch.diag(1 / p)))
EXPECTED_GRADIENT.misconception(
    "it has the other sign",
    "The gradient points where the expected reward grows, so it is (one-hot − p). A loss would have a minus; here no loss is asked for.",
)(expecting(slope=lambda p: -score(p)))
EXPECTED_GRADIENT.misconception(
    "the logarithm is forgotten: it is weighed by p twice",
    "∇p_i is p_i ∇log p_i. The weight p_i stands in front of ∇log p_i, once.",
)(expecting(chance=lambda p: p**2))
EXPECTED_GRADIENT.misconception(
    "the reward is multiplied by the baseline",
    "A baseline is subtracted from the reward. With a baseline of 0 nothing may change.",
)(expecting(gain=lambda rewards, b: rewards * b))
OUTSIDE = "The baseline is subtracted from each reward, *before* it is multiplied by the gradient of log p."
EXPECTED_GRADIENT.misconception("the baseline is subtracted from the gradient", OUTSIDE)(
    lambda logits, rewards, baseline: expecting()(logits, rewards, 0.0) - baseline
)
EXPECTED_GRADIENT.misconception("the baseline is subtracted from each place's gradient, and summed with it", OUTSIDE)(
    lambda logits, rewards, baseline: expecting()(logits, rewards, 0.0) - len(logits) * baseline
)
EXPECTED_GRADIENT.misconception(
    "the baseline times the probabilities is subtracted from the gradient",
    f"{OUTSIDE} In the short form p (r − Σ p r), *both* rewards have it subtracted, or neither.",
)(lambda logits, rewards, baseline: expecting()(logits, rewards, 0.0) - logits.softmax(0) * baseline)
EXPECTED_GRADIENT.misconception("the logits are taken for probabilities", "p is the softmax of the logits.")(
    expecting(shares=lambda logits: logits)
)
EXPECTED_GRADIENT.misconception(
    "a sigmoid takes the place of the softmax", "One place is drawn of all: p is the softmax of the logits."
)(expecting(shares=torch.sigmoid))
EXPECTED_GRADIENT.misconception(
    "log p is taken for p", "log_softmax gives log p, softmax gives p. Where is which wanted?"
)(expecting(shares=lambda logits: logits.log_softmax(0)))
EXPECTED_GRADIENT.misconception(
    "log p stands for its gradient", "Wanted is ∇log p_i, one-hot − p; not log p_i itself."
)(lambda logits, rewards, baseline: logits.softmax(0) * (rewards - baseline) * logits.log_softmax(0))


@EXPECTED_GRADIENT.misconception(
    "only the most probable place counts", "Each place may be drawn. The sum goes over all of them."
)
def likeliest(logits, rewards, baseline):
    p, best = logits.softmax(0), logits.argmax()
    return (rewards[best] - baseline) * score(p)[best]


EXPECTED_GRADIENT.misconception(
    "there is a row for each place", "One gradient is wanted, with a number for each logit: sum over the places drawn."
)(expecting(add=lambda rows: rows))
EXPECTED_GRADIENT.misconception(
    "it is summed over the logits, not over the places drawn",
    "Each row sums to 0: what one logit gains the others lose. Along the other axis are the places that may be drawn.",
)(expecting(add=lambda rows: rows.sum(1)))
EXPECTED_GRADIENT.misconception("the gradients are added up to one number", "Wanted is a number for each logit.")(
    expecting(add=lambda rows: rows.sum())
)
EXPECTED_GRADIENT.misconception(
    "the expected reward comes out, not its gradient", "Wanted is a number for each logit."
)(lambda logits, rewards, baseline: logits.softmax(0) @ rewards)
EXPECTED_GRADIENT.misconception(
    "the expected reward comes out, not its gradient", "Wanted is a number for each logit."
)(lambda logits, rewards, baseline: logits.softmax(0) @ (rewards - baseline))
SUMMED = "The short form is p (r − Σ p r): the rewards are compared with the *expected* reward, one number."
EXPECTED_GRADIENT.misconception("the plain mean of the rewards is subtracted, not the expected reward", SUMMED)(
    lambda logits, rewards, baseline: logits.softmax(0) * (rewards - rewards.mean())
)
EXPECTED_GRADIENT.misconception("p r is subtracted place by place, and not its sum", SUMMED)(
    lambda logits, rewards, baseline: logits.softmax(0) * (rewards - logits.softmax(0) * rewards)
)

# ---- straight_through(soft, hard) ----


def through_cases(generator: torch.Generator) -> list[Case]:
    def draw(*shape: int, sharp: float = 1.0) -> torch.Tensor:
        return (sharp * torch.randn(*shape, generator=generator)).softmax(-1)

    def largest(soft: torch.Tensor) -> torch.Tensor:
        return F.one_hot(soft.argmax(-1), soft.shape[-1]).to(soft)

    def drawn(soft: torch.Tensor) -> torch.Tensor:
        places = torch.multinomial(soft.flatten(0, -2), 1, generator=generator)
        return F.one_hot(places.view(soft.shape[:-1]), soft.shape[-1]).to(soft)

    by_hand = torch.tensor([[0.5, 0.3, 0.2], [0.1, 0.2, 0.7]])
    other = torch.tensor([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    rows, grid, crossed, numbers = draw(4, 5), draw(2, 3, 4), draw(3, 4).T, 3 * torch.randn(3, 4, generator=generator)
    nearly, double = draw(2, 4, sharp=4.0), draw(3, 4).double()
    inputs = [
        ("two words, three regions", by_hand, other),
        ("hard at the largest", rows, largest(rows)),
        ("hard at a place that was drawn", draw(6, 5), drawn(draw(6, 5))),
        ("three axes", grid, drawn(grid)),
        ("equal shares", torch.full((3, 4), 0.25), drawn(torch.full((3, 4), 0.25))),
        ("soft that is nearly hard", nearly, largest(nearly)),
        ("numbers that are rounded", numbers, numbers.round()),
        ("float64", double, drawn(double)),
        ("tensors that do not lie in order in memory", crossed, largest(crossed)),
    ]
    return [
        Case(about, {"soft": soft, "hard": hard, "arriving": torch.randn(soft.shape, generator=generator).to(soft)})
        for about, soft, hard in inputs
    ]


def drive_through(answer, soft, hard, arriving):
    """What comes out, and the gradient that reaches `soft` when `arriving` reaches what came out; None if none does."""
    import torch

    leaf = soft.detach().clone().requires_grad_()
    with torch.enable_grad():
        value = answer(leaf, hard)
    soft.copy_(leaf.detach())  # so that what was done to it is seen
    if value is None:
        return None
    kind = value.type() if isinstance(value, torch.Tensor) else type(value).__name__
    if not isinstance(value, torch.Tensor) or value.is_sparse or value.is_complex():
        raise TypeError(f"{kind} comes back, not a tensor of decimal numbers, which alone carries a gradient")
    gradient = None
    if value.requires_grad and value.shape == soft.shape:
        (gradient,) = torch.autograd.grad(value, leaf, arriving, allow_unused=True)
    return {"value": value.detach(), "gradient": gradient}


class Through(torch.autograd.Function):
    """The rule itself: forward the hard value, backward whatever arrives."""

    @staticmethod
    def forward(ctx, soft, hard):
        return hard.clone()

    @staticmethod
    def backward(ctx, arriving):
        return arriving, None


STRAIGHT_THROUGH = Exercise(
    "straight_through", "looking_at_pictures", through_cases, Through.apply, THROUGH, drive=drive_through
)

CUT = (
    "What stands inside detach(), or is computed under torch.no_grad(), keeps its value and gives no gradient. Which of "
    "the two must keep its gradient?"
)
STRAIGHT_THROUGH.misconception("hard comes out as it is, and no gradient reaches soft", f"The value is right. {CUT}")(
    lambda soft, hard: hard
)
STRAIGHT_THROUGH.misconception("soft comes out as it is", "The gradient is right. The value is to be that of hard.")(
    lambda soft, hard: soft
)
STRAIGHT_THROUGH.misconception("soft comes out, without a gradient", CUT)(lambda soft, hard: soft.detach())
STRAIGHT_THROUGH.misconception(
    "the gradient has the other sign",
    f"The value is right. The part with the gradient is subtracted: which soft stands behind the minus? {CUT}",
)(lambda soft, hard: hard + soft.detach() - soft)
STRAIGHT_THROUGH.misconception(
    "soft is added and taken away, and its gradient with it",
    "The value is right. + soft gives a gradient of +1, − soft one of −1: together they are 0. One of them must give none.",
)(lambda soft, hard: soft + hard - soft)
STRAIGHT_THROUGH.misconception(
    "the gradient is there twice", "The value is right. By soft itself, once, should the gradient pass."
)(lambda soft, hard: hard + 2 * (soft - soft.detach()))
STRAIGHT_THROUGH.misconception(
    "the gradient is multiplied by hard / soft",
    "The value is right. A product hands a gradient on times its other factor. A sum hands it on as it is.",
)(lambda soft, hard: soft * (hard / soft).detach())
STRAIGHT_THROUGH.misconception(
    "the two are added", "The value is to be that of hard alone: what must be taken away again?"
)(lambda soft, hard: soft + hard)
STRAIGHT_THROUGH.misconception(
    "the two are multiplied", "The value is to be 1 where hard is 1, not the share that soft has there."
)(lambda soft, hard: soft * hard)
STRAIGHT_THROUGH.misconception(
    "the mean of both comes out", "The value is that of hard, and the gradient that of soft: no mixture."
)(lambda soft, hard: (soft + hard) / 2)
STRAIGHT_THROUGH.misconception("hard is taken from soft", "Which is to be left over, and which is to vanish?")(
    lambda soft, hard: soft - hard
)
STRAIGHT_THROUGH.misconception(
    "hard is subtracted, where it should be added", "soft − (hard − soft) is 2 soft − hard. Put in numbers."
)(lambda soft, hard: soft - (hard - soft).detach())
STRAIGHT_THROUGH.misconception("soft is added once more", "Put in numbers: is it hard that is left over?")(
    lambda soft, hard: soft + (hard + soft).detach()
)
STRAIGHT_THROUGH.misconception(
    "soft is where hard is not 0, and 0 elsewhere", "The value is that of hard: 1, not the share of soft."
)(lambda soft, hard: soft.where(hard != 0, torch.zeros_like(soft)))
STRAIGHT_THROUGH.misconception(
    "the gradient reaches soft only where hard is 1",
    "The value is right. The gradient that arrives passes at every place, also where hard is 0.",
)(lambda soft, hard: hard + hard * (soft - soft.detach()))
STRAIGHT_THROUGH.misconception(
    "hard is found anew as the largest of soft", "hard is given, and may be any place that was drawn."
)(lambda soft, hard: F.one_hot(soft.argmax(-1), soft.shape[-1]).to(soft))
STRAIGHT_THROUGH.misconception(
    "hard is found anew as the largest of soft, with the gradient of soft",
    "hard is given, and may be any place that was drawn.",
)(lambda soft, hard: F.one_hot(soft.argmax(-1), soft.shape[-1]).to(soft) + soft - soft.detach())
STRAIGHT_THROUGH.misconception("soft is rounded", "hard is given. And the gradient of a rounding is 0.")(
    lambda soft, hard: soft.round()
)


ASKED = [
    CONTEXT_OVER_GRID,
    POINTING_ACCURACY,
    EXPECTED_GRADIENT,
    STRAIGHT_THROUGH,
    PATCHES,
    PICTURE_OF,
    GRID_WEIGHTS,
]
