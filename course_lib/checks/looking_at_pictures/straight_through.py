"""`straight_through(soft, hard)`: the value of hard, with the gradient of soft."""

import torch
from torch.nn import functional as F

from course_lib.checks.engine import Case, Exercise


def cases(generator: torch.Generator) -> list[Case]:
    def draw(*shape: int, sharp: float = 1.0) -> torch.Tensor:
        return (sharp * torch.randn(*shape, generator=generator)).softmax(-1)

    def largest(soft: torch.Tensor) -> torch.Tensor:
        return F.one_hot(soft.argmax(-1), soft.shape[-1]).to(soft)

    def drawn(soft: torch.Tensor) -> torch.Tensor:
        places = torch.multinomial(soft.flatten(0, -2), 1, generator=generator)
        return F.one_hot(places.view(soft.shape[:-1]), soft.shape[-1]).to(soft)

    by_hand = torch.tensor([[0.5, 0.3, 0.2], [0.1, 0.2, 0.7]])
    other = torch.tensor([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    rows, grid, crossed, numbers = draw(4, 5), draw(2, 3, 4), draw(3, 4).T, 3 * torch.randn(3, 4, generator=generator)
    nearly, double = draw(2, 4, sharp=4.0), draw(3, 4).double()
    inputs = [
        ("two words, three regions", by_hand, other),
        ("hard at the largest", rows, largest(rows)),
        ("hard at a place that was drawn", draw(6, 5), drawn(draw(6, 5))),
        ("three axes", grid, drawn(grid)),
        ("equal shares", torch.full((3, 4), 0.25), drawn(torch.full((3, 4), 0.25))),
        ("soft that is nearly hard", nearly, largest(nearly)),
        ("numbers that are rounded", numbers, numbers.round()),
        ("float64", double, drawn(double)),
        ("tensors that are not contiguous in memory", crossed, largest(crossed)),
    ]
    return [
        Case(about, {"soft": soft, "hard": hard, "arriving": torch.randn(soft.shape, generator=generator).to(soft)})
        for about, soft, hard in inputs
    ]


def drive(answer, soft, hard, arriving):
    """The result, and the gradient that reaches `soft` when `arriving` reaches the result. It is None if none does."""
    import torch

    leaf = soft.detach().clone().requires_grad_()
    with torch.enable_grad():
        value = answer(leaf, hard)
    soft.copy_(leaf.detach())  # so that a change of it is seen
    if value is None:
        return None
    kind = value.type() if isinstance(value, torch.Tensor) else type(value).__name__
    if not isinstance(value, torch.Tensor) or value.is_sparse or value.is_complex():
        raise TypeError(f"your function returns {kind}, not a tensor of decimal numbers, so no gradient flows")
    gradient = None
    if value.requires_grad and value.shape == soft.shape:
        (gradient,) = torch.autograd.grad(value, leaf, arriving, allow_unused=True)
    return {"value": value.detach(), "gradient": gradient}


class Through(torch.autograd.Function):
    """The rule itself: forward the hard value, backward whatever arrives."""

    @staticmethod
    def forward(ctx, soft, hard):
        return hard.clone()

    @staticmethod
    def backward(ctx, arriving):
        return arriving, None


STRAIGHT_THROUGH = Exercise(
    "straight_through",
    "looking_at_pictures",
    cases,
    Through.apply,
    'lesson 10, "Hard attention"; glossary.show("straight-through estimator")',
    drive=drive,
)
CUT = "What is inside detach(), or computed under torch.no_grad(), keeps its value but passes on no gradient. Which part must keep its gradient?"
STRAIGHT_THROUGH.misconception(
    "hard is returned as it is, and no gradient reaches soft", f"The value is correct. {CUT}"
)(lambda soft, hard: hard)
STRAIGHT_THROUGH.misconception(
    "soft is returned as it is", "The gradient is correct. But the value should be that of hard."
)(lambda soft, hard: soft)
STRAIGHT_THROUGH.misconception("soft is returned without a gradient", CUT)(lambda soft, hard: soft.detach())
STRAIGHT_THROUGH.misconception(
    "the gradient has the wrong sign",
    f"The value is correct. But the soft that passes on the gradient is subtracted. {CUT}",
)(lambda soft, hard: hard + soft.detach() - soft)
STRAIGHT_THROUGH.misconception(
    "soft is added and subtracted, and so is its gradient",
    "The value is correct. + soft gives a gradient of +1 and − soft one of −1, so they cancel. Which of the two must pass on none?",
)(lambda soft, hard: soft + hard - soft)
STRAIGHT_THROUGH.misconception(
    "the gradient is doubled", "The value is correct. But the gradient should pass through soft only once."
)(lambda soft, hard: hard + 2 * (soft - soft.detach()))
STRAIGHT_THROUGH.misconception(
    "the gradient is multiplied by hard / soft",
    "The value is correct. A product passes on a gradient times its other factor. A sum passes it on as it is.",
)(lambda soft, hard: soft * (hard / soft).detach())
STRAIGHT_THROUGH.misconception(
    "soft and hard are added", "The value should be that of hard alone. What must be subtracted again?"
)(lambda soft, hard: soft + hard)
STRAIGHT_THROUGH.misconception(
    "soft and hard are multiplied", "The value should be 1 where hard is 1, not the share that soft has there."
)(lambda soft, hard: soft * hard)
STRAIGHT_THROUGH.misconception(
    "the mean of soft and hard is returned",
    "The value should be that of hard, and the gradient that of soft. A mixture gives neither.",
)(lambda soft, hard: (soft + hard) / 2)
STRAIGHT_THROUGH.misconception(
    "hard is subtracted from soft", "Which of the two should be left in the value, and which should cancel?"
)(lambda soft, hard: soft - hard)
STRAIGHT_THROUGH.misconception(
    "hard is subtracted, not added", "soft − (hard − soft) is 2 soft − hard. Try it with numbers."
)(lambda soft, hard: soft - (hard - soft).detach())
STRAIGHT_THROUGH.misconception("soft is added again", "Try it with numbers. Is hard left over?")(
    lambda soft, hard: soft + (hard + soft).detach()
)
STRAIGHT_THROUGH.misconception(
    "the result is soft where hard isn't 0, and 0 elsewhere",
    "The value should be that of hard. It is 1 there, not the share of soft.",
)(lambda soft, hard: soft.where(hard != 0, torch.zeros_like(soft)))
STRAIGHT_THROUGH.misconception(
    "the gradient reaches soft only where hard is 1",
    "The value is correct. But the gradient that arrives should pass everywhere, also where hard is 0.",
)(lambda soft, hard: hard + hard * (soft - soft.detach()))
STRAIGHT_THROUGH.misconception(
    "hard is computed again as the largest entry of soft", "`hard` is an argument, and it may be any drawn place."
)(lambda soft, hard: F.one_hot(soft.argmax(-1), soft.shape[-1]).to(soft))
STRAIGHT_THROUGH.misconception(
    "hard is computed again as the largest entry of soft, with the gradient of soft",
    "`hard` is an argument, and it may be any drawn place.",
)(lambda soft, hard: F.one_hot(soft.argmax(-1), soft.shape[-1]).to(soft) + soft - soft.detach())
STRAIGHT_THROUGH.misconception("soft is rounded", "`hard` is an argument. And the gradient of rounding is 0.")(
    lambda soft, hard: soft.round()
)
