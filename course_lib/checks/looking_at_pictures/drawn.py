"""What several exercises draw: a number, the shapes of pictures and of grids of regions."""

import torch


def some(generator: torch.Generator, low: int, high: int) -> int:
    return int(torch.randint(low, high, (), generator=generator))


Shape = tuple[str, tuple[int, int, int], int]  # what is special, (batch, height, width), size of a patch


def shapes(generator: torch.Generator) -> list[Shape]:
    """Pictures that are hardly ever square. If they were, nobody would see that height and width are swapped."""
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
