"""`turned(pair, angle)`: a pair of numbers, turned by an angle."""

import math

import torch

from course_lib.checks.engine import Case, Exercise
from course_lib.checks.further_and_cheaper.hints_on_turning import AS_TWO, MINUS, NEW_ONES


def turned_cases(generator: torch.Generator) -> list[Case]:
    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator)

    def some() -> float:
        """An angle that is far from a quarter, a half and a whole turn, where misconceptions look alike."""
        return round(0.3 + float(torch.rand((), generator=generator)), 2)

    inputs = [
        ("a quarter turn", torch.tensor([2.0, 1.0]), math.pi / 2),
        ("a pair on the first axis", torch.tensor([2.0, 0.0]), 0.5),
        ("a pair on the second axis", torch.tensor([0.0, 3.0]), 0.5),
        ("no turn at all", draw(2), 0.0),
        ("any pair", draw(2), some()),
        ("any other pair", draw(2), some()),
        ("a negative angle", draw(2), -some()),
        ("half a turn", draw(2), math.pi),
        ("more than a whole turn", draw(2), some() + 2 * math.pi),
        ("a small angle", draw(2), 0.01),
        ("a long pair", 20 * draw(2), some()),
        ("float64", draw(2).double(), some()),
        ("numbers that aren't next to each other in memory", draw(2, 3)[:, 1], some()),
    ]
    return [Case(about, {"pair": pair, "angle": angle}) for about, pair, angle in inputs]


def turned(pair, angle):
    x, y = pair
    c, s = math.cos(angle), math.sin(angle)
    new_x = x * c - y * s
    new_y = x * s + y * c
    return torch.stack([new_x, new_y])


TURNED = Exercise(
    "turned", "further_and_cheaper", turned_cases, turned, 'lesson 9, "Further"; glossary.show("rotary positions")'
)

TURNED.edit(
    "the turn goes the other way",
    "A small positive angle turns (1, 0) upwards, to (cos, sin). Where is your minus?",
    ("math.sin(angle)", "-math.sin(angle)"),
)
TURNED.misconception(
    "the angle is taken for degrees", "The angle is already in radians, as math.cos wants it. A quarter turn is π/2."
)(lambda pair, angle: turned(pair, math.radians(angle)))
TURNED.misconception(
    "the angle is converted to degrees", "The angle comes in radians, and sine and cosine want radians."
)(lambda pair, angle: turned(pair, math.degrees(angle)))
TURNED.edit(
    "sine and cosine are swapped",
    "An angle of 0 turns nothing. What are cos 0 and sin 0?",
    ("c, s =", "s, c ="),
)
TURNED.edit("the second number is computed from the new first one", NEW_ONES, ("= x * s", "= new_x * s"))
TURNED.edit("the first number is computed from the new second one", NEW_ONES, ("- y * s", "- (x * s + y * c) * s"))
TURNED.edit("the minus sign is missing", MINUS, ("x * c - y * s", "x * c + y * s"))
TURNED.edit(
    "the minus sign is at another product",
    MINUS,
    ("x * c - y * s", "x * c + y * s"),
    ("x * s + y * c", "x * s - y * c"),
)
TURNED.edit("there are two minus signs", MINUS, ("x * s + y * c", "x * s - y * c"))
TURNED.edit("there are two minus signs", MINUS, ("x * s + y * c", "y * c - x * s"))
TURNED.edit("the two results are swapped", "The new first number comes first.", ("[new_x, new_y]", "[new_y, new_x]"))
TURNED.edit(
    "x is only multiplied by the cosine, and y only by the sine",
    "In a turn, each new number depends on both old ones.",
    ("x * c - y * s", "x * c"),
    ("x * s + y * c", "y * s"),
)
TURNED.edit(
    "each number is only multiplied by the cosine",
    "That makes the pair shorter. What does the other number contribute?",
    ("x * c - y * s", "x * c"),
    ("x * s + y * c", "y * c"),
)
ADDED = "That is the sinusoidal code. In a turn nothing is added, and the pair keeps its length."
TURNED.edit("cosine and sine are added", ADDED, ("x * c - y * s", "x + c"), ("x * s + y * c", "y + s"))
TURNED.edit("cosine and sine are added", ADDED, ("x * c - y * s", "x + s"), ("x * s + y * c", "y + c"))
TURNED.edit(
    "the pair is turned *to* the angle, not by it",
    "The pair already has a direction. The angle is added to it.",
    ("x * c - y * s", "pair.norm() * c"),
    ("x * s + y * c", "pair.norm() * s"),
)


@TURNED.misconception(
    "the pair's direction is computed without its quadrant",
    "atan(y / x) can't tell (1, 1) from (−1, −1). torch.atan2 takes both numbers and can.",
)
def without_quadrant(pair, angle):
    direction = (pair[1] / pair[0]).atan() + angle
    return pair.norm() * torch.stack([direction.cos(), direction.sin()])


TURNED.edit(
    "the pair (y, x) is turned, not (x, y)",
    "Which number comes first where you take the pair apart, in atan2, and in the result? Try (1, 0) and the angle 0.",
    ("x, y = pair", "y, x = pair"),
)
TURNED.edit("the result is complex", AS_TWO, ("torch.stack([new_x, new_y])", "torch.complex(new_x, new_y)"))
