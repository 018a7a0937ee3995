"""Makes pictures of digits on a grid, with captions and questions, so that we know what is in which cell.

The digits are real: scikit-learn has 1,797 scans of 8 × 8 points, from 13 writers (Alpaydin & Kaynak 1998).
"""

from functools import cache
from typing import Literal, NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional as F

from course_lib.files import data_draw

SIDE, POINTS = 3, 8  # cells in a row of the grid, points in a row of a cell
CELLS = SIDE * SIDE
EMPTY = -1
NAMES = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
WORDS = (*NAMES, "beside", "below", "<pad>", "<bos>", "<eos>")
BESIDE, BELOW, PAD, BOS, EOS = range(len(NAMES), len(WORDS))
MOST = 4  # digits in a captioned scene
RELATIONS = {"left of": -1, "right of": 1, "above": -SIDE, "below": SIDE}  # steps in the cells' numbers
TRAINED = 1400  # scans for training; the others are unseen

Part = Literal["train", "unseen"]


class Scans(NamedTuple):
    """Pictures of one digit each, from 0 (paper) to 1 (ink)."""

    pictures: Float[Tensor, "scan 8 8"]
    digits: Int[Tensor, " scan"]


class Scenes(NamedTuple):
    """Grids of scans: for each cell, the number of its scan within its part, or `EMPTY`."""

    scans: Int[Tensor, "scene cell"]
    part: Part

    @property
    def digits(self) -> Int[Tensor, "scene cell"]:
        """The digit in each cell, or `EMPTY`."""
        return torch.where(self.scans == EMPTY, EMPTY, scans(self.part).digits[self.scans])

    @property
    def pictures(self) -> Float[Tensor, "scene 24 24"]:
        """All cells as one picture."""
        cells = scans(self.part).pictures[self.scans] * (self.scans != EMPTY)[..., None, None]
        rows = cells.unflatten(1, (SIDE, SIDE)).transpose(2, 3)  # (scene, row, point, column, point)
        return rows.reshape(-1, SIDE * POINTS, SIDE * POINTS)


class Captions(NamedTuple):
    """Captions of scenes: numbers of `WORDS`, with `PAD` after `EOS`, and the cell that each word names, or `EMPTY`."""

    words: Int[Tensor, "scene word"]
    cells: Int[Tensor, "scene word"]


class Questions(NamedTuple):
    """A question per scene: which digit is `relation` `about`? `first` is its cell, `second` that of `answer`."""

    relation: Int[Tensor, " scene"]
    about: Int[Tensor, " scene"]
    answer: Int[Tensor, " scene"]
    first: Int[Tensor, " scene"]
    second: Int[Tensor, " scene"]


@cache
def scans(part: Part) -> Scans:
    """Returns the 1,400 scans for training ("train") or the other 397 ("unseen"), the same in each draw of the data.

    >>> scans("train").pictures.shape, scans("unseen").digits.shape
    (torch.Size([1400, 8, 8]), torch.Size([397]))
    """
    from sklearn.datasets import load_digits  # this import takes a second

    data = load_digits()
    order = np.random.RandomState(data_draw()).permutation(len(data.target))  # the same in every NumPy
    chosen = order[:TRAINED] if part == "train" else order[TRAINED:]
    pictures = torch.tensor(data.images[chosen] / data.images.max(), dtype=torch.float32)
    return Scans(pictures, torch.tensor(data.target[chosen]))


def draw_scenes(generator: torch.Generator, count: int, part: Part, objects: int | None = None) -> Scenes:
    """Draws scenes with `objects` digits each, or 1 to 4, in random cells; a digit may occur more than once.

    Raises ValueError if `objects` is not from 1 to the number of cells.

    >>> draw_scenes(torch.Generator().manual_seed(1), 2, "train", objects=3).pictures.shape
    torch.Size([2, 24, 24])
    """
    if objects is not None and not 1 <= objects <= CELLS:
        raise ValueError(f"objects is {objects}; it must be from 1 to {CELLS}, the number of cells")
    many = torch.randint(1, MOST + 1, (count, 1), generator=generator) if objects is None else objects
    rank = torch.rand(count, CELLS, generator=generator).argsort(1).argsort(1)
    chosen = torch.randint(len(scans(part).digits), (count, CELLS), generator=generator)
    return Scenes(torch.where(rank < many, chosen, EMPTY), part)


def captions(digits: Int[Tensor, "scene cell"]) -> Captions:
    """Lists the digits in reading order; a word between two says whether the next is in the same row or a lower one.

    >>> said = captions(torch.tensor([[EMPTY, 7, 2, EMPTY, EMPTY, EMPTY, 0, EMPTY, EMPTY]]))
    >>> " ".join(WORDS[word] for word in said.words[0])
    'seven beside two below zero <eos>'
    >>> said.cells[0].tolist()
    [1, -1, 2, -1, 6, -1]
    """
    rows = []
    for row in digits.tolist():
        there = [cell for cell, digit in enumerate(row) if digit != EMPTY]
        words = [(row[there[0]], there[0])] if there else []
        for before, cell in zip(there, there[1:], strict=False):
            words += [(BESIDE if before // SIDE == cell // SIDE else BELOW, EMPTY), (row[cell], cell)]
        rows.append([*words, (EOS, EMPTY)])
    longest = max(map(len, rows))
    table = torch.tensor([row + [(PAD, EMPTY)] * (longest - len(row)) for row in rows])
    return Captions(*table.unbind(-1))


@cache
def _by_digit(part: Part) -> tuple[Int[Tensor, "digit scan"], Int[Tensor, " digit"]]:
    """Returns the scans of each digit, padded, and their number."""
    of = [torch.where(scans(part).digits == digit)[0] for digit in range(len(NAMES))]
    many = torch.tensor([len(own) for own in of])
    return torch.stack([F.pad(own, (0, int(many.max()) - len(own))) for own in of]), many


def draw_questions(generator: torch.Generator, count: int, part: Part) -> tuple[Scenes, Questions]:
    """Draws scenes of nine different digits, each with a question: what is left of, right of, above or below a digit?

    The answer is always in the scene, so a guess among its digits is correct in 1 of 9 cases.

    >>> scenes, asked = draw_questions(torch.Generator().manual_seed(1), 4, "train")
    >>> bool((scenes.digits[range(4), asked.second] == asked.answer).all())
    True
    """
    table, many = _by_digit(part)
    digits = torch.rand(count, len(NAMES), generator=generator).argsort(1)[:, :CELLS]
    chosen = (torch.rand(count, CELLS, generator=generator) * many[digits]).long()
    scenes = Scenes(table[digits, chosen], part)
    relation = torch.randint(len(RELATIONS), (count,), generator=generator)
    row, column = torch.arange(CELLS) // SIDE, torch.arange(CELLS) % SIDE
    inside = torch.stack([column > 0, column < SIDE - 1, row > 0, row < SIDE - 1])  # by relation and cell
    first = torch.multinomial(inside[relation].double(), 1, generator=generator)
    second = first + torch.tensor(list(RELATIONS.values()))[relation, None]
    about, answer = digits.gather(1, first)[:, 0], digits.gather(1, second)[:, 0]
    return scenes, Questions(relation, about, answer, first[:, 0], second[:, 0])
