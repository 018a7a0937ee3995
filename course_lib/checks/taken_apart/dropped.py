"""dropped(x, kept, share, training): dropout, with dice that are thrown already."""

import torch

from course_lib.checks.engine import Case, Exercise


def cases(generator: torch.Generator) -> list[Case]:
    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator)

    def keep(share: float, *shape: int) -> torch.Tensor:
        return torch.rand(*shape, generator=generator) >= share

    two, lost = torch.tensor([4.0, 8.0]), torch.tensor([True, False])
    inputs = [
        ("two numbers, the second dropped", two, lost, 0.25, True),
        ("the same, at inference", two, lost, 0.25, False),
        ("a share of 0.5, at inference", draw(2, 3), keep(0.5, 2, 3), 0.5, False),
        ("a share of 0.5", draw(5), keep(0.5, 5), 0.5, True),
        ("a share of 0.8", draw(2, 4), keep(0.8, 2, 4), 0.8, True),
        ("a share of 0.995", draw(6), torch.tensor([True, *[False] * 5]), 0.995, True),
        ("sentences of vectors", draw(2, 3, 5), keep(0.1, 2, 3, 5), 0.1, True),
        ("by chance nothing is dropped", draw(4), torch.ones(4, dtype=torch.bool), 0.1, True),
        ("by chance all is dropped", draw(3), torch.zeros(3, dtype=torch.bool), 0.3, True),
        ("a share of 0", draw(1, 4), torch.ones(1, 4, dtype=torch.bool), 0.0, True),
        ("a share of 1: everything goes", draw(2, 2), torch.zeros(2, 2, dtype=torch.bool), 1.0, True),
        ("float64", draw(3, 2).double(), keep(0.3, 3, 2), 0.3, True),
        ("numbers that do not lie in order in memory", draw(4, 3).T, keep(0.3, 3, 4), 0.3, True),
        ("a share of 1, at inference", draw(2, 4), torch.zeros(2, 4, dtype=torch.bool), 1.0, False),
    ]
    names = "x", "kept", "share", "training"
    return [Case(about, dict(zip(names, values, strict=True))) for about, *values in inputs]


def right(x, kept, share, training):
    if not training:
        return x
    scale = 1 / (1 - share) if share < 1 else 0.0
    return torch.where(kept, x * scale, 0.0)


DROPPED = Exercise(
    "dropped",
    "taken_apart",
    cases,
    right,
    'lesson 7, "Dropout"; glossary.show("dropout")',
    banned=("torch.nn.functional.dropout",),
)

DROPPED.edit(
    "nothing makes up for what is dropped",
    "Add up what comes out over many draws: is a number on average what it was?",
    ("x * scale", "x"),
)
DROPPED.edit(
    "it is multiplied by 1 − share, not divided",
    "What is left must make up for what is gone. Does it get larger or smaller?",
    ("x * scale", "x * (1 - share)"),
)
DROPPED.edit("it is divided by share", "Of what share are the numbers that *stay*?", ("x * scale", "x / share"))
DROPPED.edit("it drops what should stay", "In kept, True means that the number stays.", ("where(kept", "where(~kept"))
DROPPED.edit(
    "it drops at inference too",
    "The trained model should use all that it has. What is `training` for?",
    ("if not training", "if False"),
)
for by in ("*", "/"):
    DROPPED.edit(
        "it scales both in training and at inference",
        "One of the two makes up for the other, so one is too many. At inference x should go through as it is.",
        ("return x", f"return x {by} (1 - share)"),
    )
DROPPED.edit(
    "it scales at inference instead of in training",
    "That is how the paper of 2014 has it. Here, as in torch, training does all of it: at inference x goes through as it is.",
    ("return x", "return x * (1 - share)"),
    ("x * scale", "x"),
)
DROPPED.edit(
    "it divides at inference instead of in training",
    "Nothing is missing at inference, so nothing is to be made up for. When is something missing?",
    ("return x", "return x / (1 - share)"),
    ("x * scale", "x"),
)
DROPPED.edit(
    "a share of 1 leaves nothing at inference either",
    "At inference nothing is dropped, whatever the share. Which of your two conditions is looked at first?",
    ("return x", "return x * (share < 1)"),
)
DROPPED.edit(
    "a share of 1 gives NaN or an error",
    "With share = 1 there is nothing left to scale: 0/0. What should come out when everything goes?",
    ("torch.where(kept, x * scale, 0.0)", "x * kept / (1 - torch.tensor(share))"),
)
DROPPED.edit(
    "a share of 1 gives NaN or an error",
    "With share = 1 there is nothing left to scale, and 1 − share is 0. What should come out when everything goes?",
    (" if share < 1 else 0.0", ""),
)
DROPPED.edit(
    "it divides by the share that stayed by chance",
    "Use the probability, not what this draw came to: otherwise one number's size depends on the luck of the others.",
    ("torch.where(kept, x * scale, 0.0)", "x * kept / kept.to(x.dtype).mean()"),
)
