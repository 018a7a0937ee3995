"""dropped(x, kept, share, training): dropout, where `kept` has already been drawn."""

import torch

from course_lib.checks.engine import Case, Exercise


def cases(generator: torch.Generator) -> list[Case]:
    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator)

    def keep(share: float, *shape: int) -> torch.Tensor:
        return torch.rand(*shape, generator=generator) >= share

    two, lost = torch.tensor([4.0, 8.0]), torch.tensor([True, False])
    inputs = [
        ("two numbers, the second one dropped", two, lost, 0.25, True),
        ("the same numbers, at inference", two, lost, 0.25, False),
        ("a share of 0.5, at inference", draw(2, 3), keep(0.5, 2, 3), 0.5, False),
        ("a share of 0.5", draw(5), keep(0.5, 5), 0.5, True),
        ("a share of 0.8", draw(2, 4), keep(0.8, 2, 4), 0.8, True),
        ("a share of 0.995", draw(6), torch.tensor([True, *[False] * 5]), 0.995, True),
        ("sentences of vectors", draw(2, 3, 5), keep(0.1, 2, 3, 5), 0.1, True),
        ("a draw that drops nothing", draw(4), torch.ones(4, dtype=torch.bool), 0.1, True),
        ("a draw that drops everything", draw(3), torch.zeros(3, dtype=torch.bool), 0.3, True),
        ("a share of 0", draw(1, 4), torch.ones(1, 4, dtype=torch.bool), 0.0, True),
        ("a share of 1, so that everything is dropped", draw(2, 2), torch.zeros(2, 2, dtype=torch.bool), 1.0, True),
        ("float64", draw(3, 2).double(), keep(0.3, 3, 2), 0.3, True),
        ("a tensor that isn't contiguous in memory", draw(4, 3).T, keep(0.3, 3, 4), 0.3, True),
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
    "nothing makes up for the dropped numbers",
    "Take the mean of the results over many draws. Is each number on average what it was?",
    ("x * scale", "x"),
)
DROPPED.edit(
    "the numbers that stay are multiplied by 1 − share, not divided by it",
    "The numbers that stay must make up for those that are dropped. Should they grow or shrink?",
    ("x * scale", "x * (1 - share)"),
)
DROPPED.edit(
    "the numbers that stay are divided by share",
    "`share` is the share that is dropped. What share *stays* on average?",
    ("x * scale", "x / share"),
)
DROPPED.edit(
    "it drops the numbers that should stay", "In `kept`, True marks a number that stays.", ("where(kept", "where(~kept")
)
DROPPED.edit(
    "it drops numbers at inference, too",
    "At inference the model should use all its numbers. What does `training` tell you?",
    ("if not training", "if False"),
)
for by in ("*", "/"):
    DROPPED.edit(
        "it scales both in training and at inference",
        "Scaling in training already makes up for the dropped numbers. What should happen to x at inference?",
        ("return x", f"return x {by} (1 - share)"),
    )
DROPPED.edit(
    "it scales at inference instead of in training",
    "The paper of 2014 does it that way. Here, as in torch, all scaling happens in training, and inference leaves x as it is.",
    ("return x", "return x * (1 - share)"),
    ("x * scale", "x"),
)
DROPPED.edit(
    "it divides at inference instead of in training",
    "At inference nothing is missing, so there is nothing to make up for. When is something missing?",
    ("return x", "return x / (1 - share)"),
    ("x * scale", "x"),
)
DROPPED.edit(
    "with a share of 1, it returns zeros at inference, too",
    "At inference nothing is dropped, whatever the share. What must decide first, `share` or `training`?",
    ("return x", "return x * (share < 1)"),
)
DROPPED.edit(
    "with a share of 1, it returns NaN or raises an error",
    "With share = 1, nothing is left to scale, and 1 − share is 0. What should the result be when everything is dropped?",
    ("torch.where(kept, x * scale, 0.0)", "x * kept / (1 - torch.tensor(share))"),
)
DROPPED.edit(
    "with a share of 1, it returns NaN or raises an error",
    "With share = 1, nothing is left to scale, and 1 − share is 0. What should the result be when everything is dropped?",
    (" if share < 1 else 0.0", ""),
)
DROPPED.edit(
    "it divides by the share that happened to stay in this draw",
    "Use the probability, not the outcome of this draw. Otherwise a number's size depends on what happened to the others.",
    ("torch.where(kept, x * scale, 0.0)", "x * kept / kept.to(x.dtype).mean()"),
)
