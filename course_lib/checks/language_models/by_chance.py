"""by_chance(differences): the share of all choices of signs whose mean is at least as far from 0 as the measured one."""

from itertools import product

import torch

from course_lib.checks.engine import Case, Exercise


def cases(generator: torch.Generator) -> list[Case]:
    def draw(count: int) -> list[float]:
        """Draws multiples of 1/16, whose sums are exact, so that equal means are equal; their mean isn't 0."""
        while True:
            drawn = torch.randint(-40, 41, (count,), generator=generator) / 16
            if drawn.sum():
                return drawn.tolist()

    def sizes(count: int) -> torch.Tensor:
        return torch.randint(1, 41, (count,), generator=generator) / 16

    inputs = [
        ("three pairs", [3.0, 1.0, -1.0]),
        ("one pair", [0.5]),
        ("two pairs of opposite signs", [2.0, -0.5]),
        ("five of five pairs ahead", sizes(5)),
        ("five of five pairs behind", -sizes(5)),
        ("four of five pairs ahead", [0.75, 0.5, -0.25, 1.0, 0.625]),
        ("one pair far from the others", [0.25, -0.5, 12.0, -0.125, 0.5]),
        ("a negative mean", [-1.5, 0.5, -2.0, 0.25]),
        ("a mean of 0", [1.0, -2.0, 1.0]),
        ("pairs without a difference", [0.0, 1.5, 0.0, 0.5]),
        ("no difference in any pair", [0.0, 0.0, 0.0]),
        ("equal differences", [0.5, 0.5, 0.5, -0.5, 0.5, 0.5]),
        ("six pairs", draw(6)),
        ("seven pairs", draw(7)),
        ("ten pairs", draw(10)),
        ("float64", torch.tensor(draw(8), dtype=torch.float64)),
        ("a tensor that isn't contiguous in memory", torch.tensor([draw(4), draw(4)]).T[:, 1]),
    ]
    return [Case(about, {"differences": torch.as_tensor(given)}) for about, given in inputs]


def right(differences):
    choices = list(product((1.0, -1.0), repeat=len(differences)))
    turned = torch.tensor(choices) * differences
    means = turned.mean(1)
    measured = differences.mean()
    far = means.abs() >= measured.abs()
    return far.double().mean()


def median(numbers):
    """The median, for an even count the middle of the two."""
    ordered = numbers.sort(-1).values
    middle = ordered.shape[-1] - 1
    return (ordered[..., middle // 2] + ordered[..., (middle + 1) // 2]) / 2


BY_CHANCE = Exercise("by_chance", "language_models", cases, right, 'lesson 8, "Bits per character, on unseen text"')

FAR = "means.abs() >= measured.abs()"
SHARE = "far.double().mean()"
CHOICES = "list(product((1.0, -1.0), repeat=len(differences)))"
SIDES = "A mean of −2 is as far from 0 as one of 2. Before anybody measured, either model could have come out ahead."
for one_side in (
    "means >= measured",
    "means <= measured",
    "means >= measured.abs()",
    "means <= -measured.abs()",
    "(means >= measured) if measured > 0 else (means <= measured)",
):
    BY_CHANCE.edit("only one side is counted", SIDES, (FAR, one_side))
ITSELF = "Chance can also bring exactly the signs that were measured, so they are one of the choices. Can the share ever be 0?"
for left_out in ("(far.double().sum() - 1) / len(far)", "(far.double().sum() - 1) / max(len(far) - 1, 1)"):
    BY_CHANCE.edit("the measured signs are left out", ITSELF, (SHARE, left_out))
BY_CHANCE.edit(
    "a mean that is exactly as far from 0 isn't counted",
    "*At least as far* includes the same distance. What comes out for a single pair?",
    (FAR, "means.abs() > measured.abs()"),
)
BY_CHANCE.edit(
    "the means that are closer to 0 are counted",
    "A small share should say that chance seldom brings so large a lead. Which choices does yours count?",
    (FAR, "means.abs() < measured.abs()"),
)
BY_CHANCE.edit(
    "the means that are closer to 0 are counted, and those as far",
    "A small share should say that chance seldom brings so large a lead. Which choices does yours count?",
    (FAR, "means.abs() <= measured.abs()"),
)
BY_CHANCE.edit(
    "every choice is counted, since their means are all equally far from 0",
    "The mean doesn't depend on the order, and if all signs turn at once, its distance from 0 stays the same. Each pair must turn by itself.",
    (FAR, "means.abs() >= 0"),
)
BY_CHANCE.edit(
    "the medians are compared, not the means",
    "The claim is about the *mean* difference. A median hardly notices one pair that is far from the others.",
    ("turned.mean(1)", "median(turned)"),
    ("differences.mean()", "median(differences)"),
)
BY_CHANCE.edit(
    "only the number of pairs ahead is compared",
    "A pair with a large difference must count for more than one with a small difference. Do the sizes play a part?",
    ("torch.tensor(choices) * differences", "torch.tensor(choices) * differences.sign()"),
    ("differences.mean()", "differences.sign().mean()"),
)
BY_CHANCE.edit(
    "the measured mean is that of the sizes",
    "The measured mean is that of the differences *with* their signs. How large is it for 1 and −1?",
    ("differences.mean()", "differences.abs().mean()"),
)
BY_CHANCE.edit(
    "a pair is left out, not turned",
    "If A and B change places, the difference gets the opposite sign. Does it become 0?",
    ("(1.0, -1.0)", "(1.0, 0.0)"),
)
EVERY = "Three pairs have 2³ = 8 choices of signs. How many does your function try, and which are missing?"
for turned, rows in (
    ("j < i", "len(differences) + 1"),
    ("i == j", "len(differences) + 1"),
    ("i == j", "len(differences)"),
):
    some = f"[[1 - 2.0 * ({turned}) for j in range(len(differences))] for i in range({rows})]"
    BY_CHANCE.edit("not every choice of signs is tried", EVERY, (CHOICES, some))
BY_CHANCE.edit(
    "one more is counted, as if the choices were drawn at random",
    "If you draw a thousand choices, you add the measured one. If you try all of them, it is among them already.",
    (SHARE, "(far.double().sum() + 1) / (len(far) + 1)"),
)
BY_CHANCE.edit(
    "the result is a count, not a share", "How many choices are there in all?", (SHARE, "far.double().sum()")
)
BY_CHANCE.edit(
    "the count is divided by the number of pairs",
    "You want a share of the choices. How many are there?",
    (SHARE, "far.double().sum() / len(differences)"),
)
BY_CHANCE.edit("the result is in percent", "A share is between 0 and 1.", (SHARE, "100 * far.double().mean()"))
BY_CHANCE.edit(
    "the result says for each choice whether it counts", "Return one number, the share of the choices.", (SHARE, "far")
)
