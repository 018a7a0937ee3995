"""`picture_of(patches, size, height, width)`: the pictures from which the patches were cut."""

import torch

from course_lib.checks.engine import Case, Exercise
from course_lib.checks.looking_at_pictures.drawn import shapes


def cases(generator: torch.Generator) -> list[Case]:
    def draw(shape: tuple[int, int, int], size: int) -> torch.Tensor:
        batch, height, width = shape
        return torch.randn(batch, height * width // size**2, size**2, generator=generator)

    inputs = [(about, draw(shape, size), size, *shape[1:]) for about, shape, size in shapes(generator)]
    inputs[0] = ("two pictures of 4 × 6, numbered patch by patch", torch.arange(48.0).view(2, 6, 4), 2, 4, 6)
    inputs += [
        ("float64", draw((2, 4, 10), 2).double(), 2, 4, 10),
        ("patches that are not contiguous in memory", draw((2, 9, 6), 3).mT.contiguous().mT, 3, 9, 6),
    ]
    names = "patches", "size", "height", "width"
    return [Case(about, dict(zip(names, given, strict=True))) for about, *given in inputs]


def right(patches, size, height, width):
    batch = len(patches)
    parts = patches.reshape(batch, height // size, width // size, size, size)
    parts = parts.permute(0, 1, 3, 2, 4)  # (batch, row of patches, row within, column of patches, column within)
    return parts.reshape(batch, height, width)


PICTURE_OF = Exercise(
    "picture_of",
    "looking_at_pictures",
    cases,
    right,
    'lesson 10, "A Vision Transformer"; glossary.show("Vision Transformer")',
)

ORDER = "1, 3, 2, 4"
JOINED = "parts.reshape(batch, height, width)"
GRID = "height // size, width // size, size, size"
PICTURE_OF.edit(
    "the patches are laid one after the other",
    "The first row of the picture consists of the first rows of *several* patches. Which two axes must you swap before the last reshape?",
    (ORDER, "1, 2, 3, 4"),
)
TURNED = "The grid of patches has height // size rows and width // size columns. Which of the two comes first?"
PICTURE_OF.edit(
    "height and width are swapped in the grid of patches",
    TURNED,
    (GRID, "width // size, height // size, size, size"),
)
PICTURE_OF.edit(
    "height and width are swapped, in the grid of patches and in the picture",
    "A picture is (batch, height, width), rows first.",
    (GRID, "width // size, height // size, size, size"),
    ("batch, height, width)", "batch, width, height)"),
)
PICTURE_OF.edit(
    "the picture gets the shape (batch, width, height)",
    "A picture is (batch, height, width), rows first.",
    ("batch, height, width)", "batch, width, height)"),
)
PICTURE_OF.edit(
    "the patches fill the picture column by column",
    "The second patch is to the right of the first, not below it.",
    (GRID, "width // size, height // size, size, size"),
    (ORDER, "2, 3, 1, 4"),
)
PICTURE_OF.edit(
    "the rows and columns of each patch are swapped",
    "Inside a patch, too, the second point is to the right of the first.",
    (ORDER, "1, 4, 2, 3"),
)
PICTURE_OF.edit(
    "the rows and columns of the whole picture are swapped",
    "A picture is (batch, height, width), rows first.",
    (JOINED, "parts.reshape(batch, height, width).mT"),
)
PICTURE_OF.edit(
    "the points of each patch are scattered over the picture",
    "The points of a patch stay together. A row of the picture counts the row of patches first, then the row inside the patch.",
    (ORDER, "3, 1, 4, 2"),
)
PICTURE_OF.edit(
    "patches and points are swapped",
    "The axes of `patches` are (batch, patches, points). F.fold and F.pixel_shuffle want the points before the patches, and a reshape doesn't move an axis.",
    (GRID, "size, size, height // size, width // size"),
    (ORDER, "3, 1, 4, 2"),
)
JOIN = "Return whole pictures: (batch, height, width)."
PICTURE_OF.edit("the patches are still on a grid, not joined", JOIN, (ORDER, "1, 2, 3, 4"), (JOINED, "parts"))
PICTURE_OF.edit("the patches are squares, but not joined", JOIN, (ORDER, "1, 2, 3, 4"), (JOINED, "parts.flatten(1, 2)"))
PICTURE_OF.edit("the axes are in order, but not joined", JOIN, (JOINED, "parts"))
PICTURE_OF.edit(
    "all patches are next to each other",
    "After width // size patches, a new row of patches begins.",
    (ORDER, "3, 1, 2, 4"),
    (JOINED, "parts.flatten(2)"),
)
PICTURE_OF.edit(
    "all patches are below each other",
    "A row of patches has width // size of them next to each other.",
    (ORDER, "1, 2, 3, 4"),
    (JOINED, "parts.flatten(1, 3)"),
)
PICTURE_OF.edit(
    "only the first picture is put together",
    "The batch is the first axis. Return all of its pictures.",
    (JOINED, "parts.reshape(batch, height, width)[0]"),
)
PICTURE_OF.misconception("the last patch is missing", "Where does your loop end? range leaves out its end.")(
    lambda patches, *sides: right(torch.cat([patches[:, :-1], 0 * patches[:, -1:]], 1), *sides)
)
PICTURE_OF.edit(
    "an axis of colours is left over",
    "The shape is (batch, 1, height, width), as F.fold gives it. Which axis should go?",
    (JOINED, "parts.reshape(batch, height, width)[:, None]"),
)
