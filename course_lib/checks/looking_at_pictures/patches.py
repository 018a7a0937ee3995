"""`patches(pictures, size)`: each picture as a list of square patches, row after row."""

import torch
from torch.nn import functional as F

from course_lib.checks.engine import Case, Exercise
from course_lib.checks.looking_at_pictures.drawn import shapes


def cases(generator: torch.Generator) -> list[Case]:
    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator)

    inputs = [(about, draw(*shape), size) for about, shape, size in shapes(generator)]
    inputs[0] = ("two pictures, their points numbered", torch.arange(48.0).view(2, 4, 6), 2)
    inputs += [
        ("float64", draw(2, 4, 10).double(), 2),
        ("pictures that do not lie in order in memory", draw(2, 9, 6).mT, 3),
    ]
    return [Case(about, {"pictures": pictures, "size": size}) for about, pictures, size in inputs]


def right(pictures, size):
    batch, height, width = pictures.shape
    parts = pictures.reshape(batch, height // size, size, width // size, size)
    parts = parts.permute(0, 1, 3, 2, 4)  # (batch, row of patches, column of patches, row within, column within)
    return parts.flatten(3).flatten(1, 2)


PATCHES = Exercise(
    "patches",
    "looking_at_pictures",
    cases,
    right,
    'lesson 10, "A Vision Transformer"; glossary.show("Vision Transformer")',
)

ORDER = "1, 3, 2, 4"
AS_ROWS = "parts.flatten(3).flatten(1, 2)"
CUT = "height // size, size, width // size, size"
PATCHES.edit(
    "the rows of the picture are cut, not its squares: an axis is not moved",
    "reshape and view count on through memory, row after row. A patch takes a piece of *several* rows: which two axes must change places before the last reshape?",
    (ORDER, "1, 2, 3, 4"),
    (AS_ROWS, "parts.reshape(batch, -1, size**2)"),
)
PATCHES.edit(
    "height and width have changed places",
    "The picture is (batch, height, width): rows first. How many patches stand below each other, and how many beside?",
    (CUT, "width // size, size, height // size, size"),
)
READING = "In reading order the patch to the right comes second, not the one below."
PATCHES.edit("the patches are counted down the columns", READING, (ORDER, "3, 1, 2, 4"))
PATCHES.edit(
    "each patch is read down its columns",
    "Within a patch, too, the point to the right comes second.",
    (ORDER, "1, 3, 4, 2"),
)
PATCHES.edit("patches and points are counted down the columns", READING, (ORDER, "3, 1, 4, 2"))
NEIGHBOURS = "A reshape splits an axis of 6 = 3 · 2 into (3, 2): 3 patches, of 2 points each. Which of the two numbers comes first? And a slice 0:2 takes neighbours, 0::2 every second one."
PATCHES.edit(
    "the points of a patch are not neighbours",
    NEIGHBOURS,
    (CUT, "size, height // size, size, width // size"),
    (ORDER, "2, 4, 1, 3"),
)
PATCHES.edit(
    "the points of a patch are not neighbours",
    NEIGHBOURS,
    (CUT, "size, height // size, size, width // size"),
    (AS_ROWS, "parts.reshape(batch, -1, size**2)"),
)
PATCHES.misconception(
    "patches and points stand in each other's places",
    "A row for each patch is wanted: (batch, patches, points). Does yours hold one point of *every* patch, as those of F.unfold and of a slice r::size do?",
)(lambda pictures, size: F.unfold(pictures[:, None], size, stride=size))
PATCHES.edit(
    "the points of a patch are still a square",
    "A patch comes out as one row of size · size numbers.",
    (AS_ROWS, "parts.flatten(1, 2)"),
)
PATCHES.edit(
    "the patches still stand in a grid",
    "One axis counts all patches of a picture, row after row.",
    (AS_ROWS, "parts.flatten(3)"),
)
PATCHES.edit(
    "the rows of a patch are not joined",
    "A patch comes out as one row of size · size numbers.",
    (AS_ROWS, "parts.flatten(1, 3)"),
)
PATCHES.edit(
    "the pictures of the batch are thrown together",
    "The batch stays an axis of its own, in front: (batch, patches, points).",
    (AS_ROWS, "parts.flatten(3).flatten(0, 2)"),
)
PATCHES.edit(
    "the axis of the patches stands before that of the batch",
    "torch.stack puts a new axis in front; dim=1 puts it second.",
    (AS_ROWS, "parts.flatten(3).flatten(1, 2).transpose(0, 1)"),
)
PATCHES.edit(
    "only the first picture is cut",
    "The batch is the first axis; every picture of it has its patches.",
    (AS_ROWS, "parts.flatten(3).flatten(1, 2)[0]"),
)
PATCHES.edit(
    "only the first row of patches is cut",
    "Below it there are more. Which part of your code goes on to the next row?",
    (AS_ROWS, "parts[:, 0].flatten(2)"),
)
PATCHES.misconception(
    "the patches overlap",
    "The next patch begins where the last one ends: by how much does the loop, or the stride, go on?",
)(lambda pictures, size: pictures.unfold(1, size, 1).unfold(2, size, 1).flatten(3).flatten(1, 2))
PATCHES.edit(
    "the size is taken for the number of patches in a row",
    "`size` is the side of a patch in points. How many patches fit is height // size and width // size.",
    (CUT, "size, height // size, size, width // size"),
)


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
