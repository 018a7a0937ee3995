"""`patches(pictures, size)`: each picture as a list of square patches, row after row."""

import torch
from torch.nn import functional as F

from course_lib.checks.engine import Case, Exercise
from course_lib.checks.looking_at_pictures.drawn import shapes


def cases(generator: torch.Generator) -> list[Case]:
    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator)

    inputs = [(about, draw(*shape), size) for about, shape, size in shapes(generator)]
    inputs[0] = ("two pictures with numbered points", torch.arange(48.0).view(2, 4, 6), 2)
    inputs += [
        ("float64", draw(2, 4, 10).double(), 2),
        ("pictures that are not contiguous in memory", draw(2, 9, 6).mT, 3),
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
    "the rows of the picture are cut up, not its squares",
    "reshape and view go through the picture row by row. A patch takes a piece of *several* rows. Which two axes must you swap before the last reshape?",
    (ORDER, "1, 2, 3, 4"),
    (AS_ROWS, "parts.reshape(batch, -1, size**2)"),
)
PATCHES.edit(
    "height and width are swapped",
    "A picture is (batch, height, width), rows first. How many patches are below each other, and how many next to each other?",
    (CUT, "width // size, size, height // size, size"),
)
READING = "In reading order the patch to the right comes second, not the one below."
PATCHES.edit("the patches are counted down the columns", READING, (ORDER, "3, 1, 2, 4"))
PATCHES.edit(
    "each patch is read down its columns",
    "Inside a patch, too, the point to the right comes second.",
    (ORDER, "1, 3, 4, 2"),
)
PATCHES.edit("patches and points are counted down the columns", READING, (ORDER, "3, 1, 4, 2"))
NEIGHBOURS = "Does a reshape split an axis into (patches, size) or into (size, patches)? And a slice 0:2 takes neighbours, but 0::2 takes every second point."
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
    "patches and points are swapped",
    "Each patch is a row: (batch, patches, points). Does a row of yours hold one point of *every* patch, as F.unfold and a slice r::size give it?",
)(lambda pictures, size: F.unfold(pictures[:, None], size, stride=size))
PATCHES.edit(
    "the points of a patch are still a square",
    "Return each patch as one row of size · size numbers.",
    (AS_ROWS, "parts.flatten(1, 2)"),
)
PATCHES.edit(
    "the patches are still on a grid",
    "One axis counts all patches of a picture, row after row.",
    (AS_ROWS, "parts.flatten(3)"),
)
PATCHES.edit(
    "the rows of a patch are not joined",
    "Return each patch as one row of size · size numbers.",
    (AS_ROWS, "parts.flatten(1, 3)"),
)
PATCHES.edit(
    "all pictures of the batch are joined",
    "The batch stays an axis of its own, the first one: (batch, patches, points).",
    (AS_ROWS, "parts.flatten(3).flatten(0, 2)"),
)
PATCHES.edit(
    "the axis of the patches comes before the axis of the batch",
    "The batch is the first axis. Where does your code put the axis of the patches? (By default, torch.stack puts a new axis first.)",
    (AS_ROWS, "parts.flatten(3).flatten(1, 2).transpose(0, 1)"),
)
PATCHES.edit(
    "only the first picture is cut",
    "The batch is the first axis, and every picture in it has patches.",
    (AS_ROWS, "parts.flatten(3).flatten(1, 2)[0]"),
)
PATCHES.edit(
    "only the first row of patches is cut",
    "There are more rows below it. Which part of your code goes on to the next row?",
    (AS_ROWS, "parts[:, 0].flatten(2)"),
)
PATCHES.misconception(
    "the patches overlap",
    "The next patch begins where the last one ends. How far does your loop, or your stride, move on?",
)(lambda pictures, size: pictures.unfold(1, size, 1).unfold(2, size, 1).flatten(3).flatten(1, 2))
PATCHES.edit(
    "the size is taken for the number of patches in a row",
    "`size` is the side of a patch in points. How many patches fit into a row?",
    (CUT, "size, height // size, size, width // size"),
)


def by_corners(corners):
    """`patches` with a patch at each of these corners, (row, column)."""

    def answer(pictures, size):
        there = corners(*pictures.shape[1:], size)
        return torch.stack([pictures[:, r : r + size, c : c + size].flatten(1) for r, c in there], 1)

    return answer


SIDES = "A picture needn't be square. Rows go up to the height, columns up to the width."
PATCHES.misconception("the height is taken for the width, too", SIDES)(
    by_corners(lambda h, w, size: [(r, c) for r in range(0, h, size) for c in range(0, h, size)])
)
PATCHES.misconception("the width is taken for the height, too", SIDES)(
    by_corners(lambda h, w, size: [(r, c) for r in range(0, w, size) for c in range(0, w, size)])
)
PATCHES.misconception(
    "the last row and the last column of patches are missing",
    "Where do your loops end? range leaves out its end, so range(0, height - size, size) stops before the last patch.",
)(by_corners(lambda h, w, size: [(r, c) for r in range(0, h - size, size) for c in range(0, w - size, size)]))
PATCHES.misconception(
    "only the patches on the diagonal are cut",
    "Every row of patches has all columns. zip only pairs each row with one column.",
)(by_corners(lambda h, w, size: list(zip(range(0, h, size), range(0, w, size), strict=False))))
