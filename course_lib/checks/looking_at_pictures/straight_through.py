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
        ("tensors that do not lie in order in memory", crossed, largest(crossed)),
    ]
    return [
        Case(about, {"soft": soft, "hard": hard, "arriving": torch.randn(soft.shape, generator=generator).to(soft)})
        for about, soft, hard in inputs
    ]


def drive(answer, soft, hard, arriving):
    """What comes out, and the gradient that reaches `soft` when `arriving` reaches what came out; None if none does."""
    import torch

    leaf = soft.detach().clone().requires_grad_()
    with torch.enable_grad():
        value = answer(leaf, hard)
    soft.copy_(leaf.detach())  # so that what was done to it is seen
    if value is None:
        return None
    kind = value.type() if isinstance(value, torch.Tensor) else type(value).__name__
    if not isinstance(value, torch.Tensor) or value.is_sparse or value.is_complex():
        raise TypeError(f"{kind} comes back, not a tensor of decimal numbers, which alone carries a gradient")
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
CUT = (
    "What stands inside detach(), or is computed under torch.no_grad(), keeps its value and gives no gradient. Which of "
    "the two must keep its gradient?"
)
STRAIGHT_THROUGH.misconception("hard comes out as it is, and no gradient reaches soft", f"The value is right. {CUT}")(
    lambda soft, hard: hard
)
STRAIGHT_THROUGH.misconception("soft comes out as it is", "The gradient is right. The value is to be that of hard.")(
    lambda soft, hard: soft
)
STRAIGHT_THROUGH.misconception("soft comes out, without a gradient", CUT)(lambda soft, hard: soft.detach())
STRAIGHT_THROUGH.misconception(
    "the gradient has the other sign",
    f"The value is right. The part with the gradient is subtracted: which soft stands behind the minus? {CUT}",
)(lambda soft, hard: hard + soft.detach() - soft)
STRAIGHT_THROUGH.misconception(
    "soft is added and taken away, and its gradient with it",
    "The value is right. + soft gives a gradient of +1, − soft one of −1: together they are 0. One of them must give none.",
)(lambda soft, hard: soft + hard - soft)
STRAIGHT_THROUGH.misconception(
    "the gradient is there twice", "The value is right. By soft itself, once, should the gradient pass."
)(lambda soft, hard: hard + 2 * (soft - soft.detach()))
STRAIGHT_THROUGH.misconception(
    "the gradient is multiplied by hard / soft",
    "The value is right. A product hands a gradient on times its other factor. A sum hands it on as it is.",
)(lambda soft, hard: soft * (hard / soft).detach())
STRAIGHT_THROUGH.misconception(
    "the two are added", "The value is to be that of hard alone: what must be taken away again?"
)(lambda soft, hard: soft + hard)
STRAIGHT_THROUGH.misconception(
    "the two are multiplied", "The value is to be 1 where hard is 1, not the share that soft has there."
)(lambda soft, hard: soft * hard)
STRAIGHT_THROUGH.misconception(
    "the mean of both comes out", "The value is that of hard, and the gradient that of soft: no mixture."
)(lambda soft, hard: (soft + hard) / 2)
STRAIGHT_THROUGH.misconception("hard is taken from soft", "Which is to be left over, and which is to vanish?")(
    lambda soft, hard: soft - hard
)
STRAIGHT_THROUGH.misconception(
    "hard is subtracted, where it should be added", "soft − (hard − soft) is 2 soft − hard. Put in numbers."
)(lambda soft, hard: soft - (hard - soft).detach())
STRAIGHT_THROUGH.misconception("soft is added once more", "Put in numbers: is it hard that is left over?")(
    lambda soft, hard: soft + (hard + soft).detach()
)
STRAIGHT_THROUGH.misconception(
    "soft is where hard is not 0, and 0 elsewhere", "The value is that of hard: 1, not the share of soft."
)(lambda soft, hard: soft.where(hard != 0, torch.zeros_like(soft)))
STRAIGHT_THROUGH.misconception(
    "the gradient reaches soft only where hard is 1",
    "The value is right. The gradient that arrives passes at every place, also where hard is 0.",
)(lambda soft, hard: hard + hard * (soft - soft.detach()))
STRAIGHT_THROUGH.misconception(
    "hard is found anew as the largest of soft", "hard is given, and may be any place that was drawn."
)(lambda soft, hard: F.one_hot(soft.argmax(-1), soft.shape[-1]).to(soft))
STRAIGHT_THROUGH.misconception(
    "hard is found anew as the largest of soft, with the gradient of soft",
    "hard is given, and may be any place that was drawn.",
)(lambda soft, hard: F.one_hot(soft.argmax(-1), soft.shape[-1]).to(soft) + soft - soft.detach())
STRAIGHT_THROUGH.misconception("soft is rounded", "hard is given. And the gradient of a rounding is 0.")(
    lambda soft, hard: soft.round()
)
