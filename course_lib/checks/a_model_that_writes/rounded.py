"""`rounded(blocks, bits)`: numbers rounded to a grid of 2**bits values, of its own for each block."""

import torch

from course_lib.checks.engine import Case, Exercise


def rounded_cases(generator: torch.Generator) -> list[Case]:
    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator)

    by_hand = torch.tensor([[0.0, 1.0, 4.0, 9.0], [2.0, 2.15, 2.38, 2.6]])
    constant = draw(3, 6)
    constant[1] = 0.7
    inputs = [
        ("the two blocks of the text", by_hand, 2),
        ("one bit", draw(2, 5), 1),
        ("three bits", draw(2, 6), 3),
        ("four bits, blocks of 32", draw(3, 32), 4),
        ("a block of equal numbers among others", constant, 3),
        ("numbers that are all positive", draw(3, 8).abs() + 1, 2),
        ("numbers that are all negative", -draw(3, 8).abs() - 1, 3),
        ("blocks of very different sizes", draw(3, 8) * torch.tensor([[0.01], [1.0], [100.0]]), 4),
        ("as many blocks as numbers in a block", draw(6, 6), 2),
        ("a single block", draw(1, 10), 3),
        ("eight bits", draw(4, 9), 8),
        ("float64", draw(3, 7).double(), 4),
        ("blocks that are not contiguous in memory", draw(8, 5).T, 3),
    ]
    return [Case(about, {"blocks": blocks, "bits": bits}) for about, blocks, bits in inputs]


def rounded(blocks, bits):
    lowest = blocks.amin(1, keepdim=True)
    highest = blocks.amax(1, keepdim=True)
    steps = 2**bits - 1
    step = (highest - lowest) / steps
    step = step.masked_fill(step == 0, 1.0)
    codes = ((blocks - lowest) / step).round()
    return codes * step + lowest


ROUNDED = Exercise(
    "rounded", "a_model_that_writes", rounded_cases, rounded, 'lesson 12, "Fewer bits"; glossary.show("quantisation")'
)

STEPS, LOWEST, HIGHEST = "2**bits - 1", "blocks.amin(1, keepdim=True)", "blocks.amax(1, keepdim=True)"
GRID = "The grid has `2**bits` values, and its ends count. How many steps are between them? Draw it for two bits."
ROUNDED.edit("the grid has one value too many", GRID, (STEPS, "2**bits"))
ROUNDED.edit("the grid has one value too few", GRID, (STEPS, "max(2**bits - 2, 1)"))
ROUNDED.edit("the grid has half of its values", GRID, (STEPS, "max(2 ** (bits - 1) - 1, 1)"))
ROUNDED.edit("the grid has half of its values", GRID, (STEPS, "2 ** (bits - 1)"))
BITS = "With b bits, `2**b` different numbers can be written."
ROUNDED.edit("the grid has as many steps as there are bits", BITS, (STEPS, "bits"))
ROUNDED.edit("the grid has two values per bit", BITS, (STEPS, "2 * bits - 1"))
ROUNDED.edit(
    "bits and 2 are exchanged",
    "It is 2 to the power of bits, not bits to the power of 2.",
    (STEPS, "max(bits**2 - 1, 1)"),
)
ROUNDED.edit(
    "bits and 2 are exchanged", "It is 2 to the power of bits, not bits to the power of 2.", (STEPS, "bits**2")
)
SIGN = "In Python, `^` compares two numbers bit by bit. `2 ^ 3` is 1. A power has another sign. Print your number of steps."
KEPT = "torch.where(highest == lowest, blocks, codes * step + lowest)"  # equal numbers stay, even with 0 steps
for power in ("(2 ^ bits) - 1", "2 ^ bits - 1", "2 ^ bits"):
    ROUNDED.edit("`^` is taken for a power", SIGN, (STEPS, power))
    ROUNDED.edit("`^` is taken for a power", SIGN, (STEPS, power), ("codes * step + lowest", KEPT))
ROUNDED.edit(
    "the numbers are rounded to decimal places",
    "`bits` isn't a number of decimals. The grid goes from the block's smallest number to its largest.",
    ("codes * step + lowest", "blocks.round(decimals=bits)"),
)
ROUNDED.edit(
    "the numbers are rounded to whole numbers",
    "The steps of the grid aren't 1. How long is a step between the smallest and the largest number?",
    ("codes * step + lowest", "blocks.round()"),
)
OWN = "Each block has its own smallest and largest number. Along which axis do you look for them?"
ROUNDED.edit("one grid serves all blocks", OWN, (LOWEST, "blocks.amin()"), (HIGHEST, "blocks.amax()"))
ROUNDED.edit("each column has its own grid", OWN, (LOWEST, "blocks.amin(0)"), (HIGHEST, "blocks.amax(0)"))
ROUNDED.edit(
    "all blocks have the grid of the first one", OWN, (LOWEST, "blocks[0].amin()"), (HIGHEST, "blocks[0].amax()")
)
ROUNDED.edit(
    "each block has its own smallest number, but one step serves all",
    OWN,
    ("(highest - lowest) / steps", "(highest - lowest).max() / steps"),
)
NEAREST = "Take the *nearest* value of the grid. A number may move up or down."
ROUNDED.edit("the numbers are rounded down", f"{NEAREST} `//`, int and floor always go down.", (".round()", ".floor()"))
ROUNDED.edit("the numbers are rounded up", NEAREST, (".round()", ".ceil()"))
ROUNDED.edit("nothing is rounded", "Where do you round? The numbers come out as they went in.", (".round()", ""))
BACK = "Return numbers that can take the place of the old ones. Go back from a place in the grid to its value."
ROUNDED.edit("the places in the grid are returned, not the values", BACK, ("codes * step + lowest", "codes"))
ROUNDED.edit("the smallest number isn't added again", BACK, ("codes * step + lowest", "codes * step"))
ROUNDED.edit("the places aren't multiplied by the step", BACK, ("codes * step + lowest", "codes + lowest"))
ROUNDED.edit(
    "the smallest number isn't subtracted before rounding",
    "The grid begins at the block's smallest number. So the places are counted from there.",
    ("(blocks - lowest) / step", "blocks / step"),
    ("codes * step + lowest", "codes * step"),
)
ROUNDED.edit(
    "the smallest number isn't subtracted before rounding", BACK, ("(blocks - lowest) / step", "blocks / step")
)
ZERO = "If all numbers of a block are equal, the step is 0. Which numbers should come out then?"
ROUNDED.edit("a block of equal numbers becomes NaN", ZERO, ("step = step.masked_fill(step == 0, 1.0)", "pass"))
ROUNDED.edit(
    "a block of equal numbers becomes 0",
    ZERO,
    ("step = step.masked_fill(step == 0, 1.0)", "pass"),
    ("codes * step + lowest", "(codes * step + lowest).nan_to_num()"),
)
CENTRED = "The grid needn't be centred at 0. It begins at the smallest number of the block, and ends at the largest."
ROUNDED.edit(
    "the grid goes from minus the largest size to plus the largest size",
    CENTRED,
    (LOWEST, "-blocks.abs().amax(1, keepdim=True)"),
    (HIGHEST, "blocks.abs().amax(1, keepdim=True)"),
)
ROUNDED.edit("the grid begins at 0", CENTRED, (LOWEST, "torch.zeros_like(blocks[:, :1])"))
ROUNDED.edit(
    "the step is the largest number divided by the number of steps",
    CENTRED,
    ("(highest - lowest) / steps", "highest / steps"),
)
ROUNDED.edit(
    "the errors are returned, not the rounded numbers",
    "Return the values of the grid, not their distance from the numbers.",
    ("codes * step + lowest", "blocks - (codes * step + lowest)"),
)
ROUNDED.edit(
    "the result is transposed",
    "Return the blocks in the shape in which they came.",
    ("codes * step + lowest", "(codes * step + lowest).T"),
)
ROUNDED.edit(
    "all blocks are in one row",
    "Return the blocks in the shape in which they came.",
    ("codes * step + lowest", "(codes * step + lowest).flatten()"),
)
