"""`dpo_loss(chosen, rejected, old_chosen, old_rejected, beta)`: what DPO makes small, over a batch of pairs."""

import torch

from course_lib.checks.engine import Case, Exercise

NAMES = "chosen", "rejected", "old_chosen", "old_rejected", "beta"


def dpo_loss_cases(generator: torch.Generator) -> list[Case]:
    def given(pairs: int, beta: float, scale: float = 3.0) -> list:
        old = -100 + 10 * torch.randn(2, pairs, generator=generator)
        new = old + scale * torch.randn(2, pairs, generator=generator)
        return [*new, *old, beta]

    by_hand = [*torch.tensor([[-10.0, -7.0], [-14.0, -6.0], [-12.0, -7.0], [-13.0, -9.0]]), 0.5]
    untouched = given(3, 0.1)
    untouched[:2] = [one.clone() for one in untouched[2:4]]
    far = given(4, 1.0)
    far[0] = far[0] - torch.tensor([0.0, 600.0, 0.0, 0.0])
    far[1] = far[1] + torch.tensor([0.0, 400.0, 0.0, 0.0])
    strided = given(5, 0.3)
    table = torch.stack(strided[:4], 1)
    inputs = [
        ("the two pairs of the text", by_hand),
        ("a single pair", given(1, 0.5)),
        ("three pairs", given(3, 0.1)),
        ("a model that hasn't changed yet", untouched),
        ("a small β", given(4, 0.02, 20.0)),
        ("β above 1", given(6, 2.0, 1.0)),
        ("a text that has become impossible", far),
        ("float64", [*(one.double() for one in given(4, 0.2)[:4]), 0.2]),
        ("numbers that are not contiguous in memory", [*table.T, 0.3]),
        ("twenty pairs", given(20, 0.1)),
    ]
    return [Case(about, dict(zip(NAMES, given, strict=True))) for about, given in inputs]


def dpo_loss(chosen, rejected, old_chosen, old_rejected, beta):
    better = chosen - old_chosen
    worse = rejected - old_rejected
    margin = better - worse
    scaled = beta * margin
    losses = -torch.nn.functional.logsigmoid(scaled)
    return losses.mean()


DPO_LOSS = Exercise(
    "dpo_loss",
    "trained_to_please",
    dpo_loss_cases,
    dpo_loss,
    'lesson 14, "Train on what was preferred"; glossary.show("direct preference optimisation")',
)

BETTER, WORSE, MARGIN, SCALED, LOSSES, MEAN = (
    "chosen - old_chosen",
    "rejected - old_rejected",
    "better - worse",
    "beta * margin",
    "-torch.nn.functional.logsigmoid(scaled)",
    "losses.mean()",
)
SIGN = "The loss should fall when the chosen text gets more probable and the rejected one less. Try it with one pair."
DPO_LOSS.edit(
    "the margin has the wrong sign",
    f"Either chosen and rejected are exchanged, or new and old. {SIGN}",
    (MARGIN, "worse - better"),
)
DPO_LOSS.edit(
    "the logarithm isn't negated",
    "The logarithm of a number below 1 is negative, and a loss isn't. Which sign is in front of the formula?",
    (MEAN, "-losses.mean()"),
)
OLD = "A text that was probable before is still probable. What counts is how much the training has *changed*, so subtract the old model's number from the new one's."
DPO_LOSS.edit("the old model is left out", OLD, (BETTER, "chosen"), (WORSE, "rejected"))
DPO_LOSS.edit("the new model is left out", OLD, (BETTER, "old_chosen"), (WORSE, "old_rejected"))
DPO_LOSS.edit(
    "the old model's numbers are added, not subtracted",
    f"{OLD} If you do subtract, look whether each text has its own old number.",
    (BETTER, "chosen + old_chosen"),
    (WORSE, "rejected + old_rejected"),
)
BRACKETS = "Look at the brackets. Which sign does `old_rejected` have once they are gone?"
DPO_LOSS.edit("`old_rejected` has the wrong sign", BRACKETS, (WORSE, "rejected + old_rejected"))
DPO_LOSS.edit(
    "`old_chosen` has the wrong sign",
    "Each text's old number is subtracted from its new one.",
    (BETTER, "chosen + old_chosen"),
)
BOTH = "A pair has two texts. The loss compares how both have changed."
DPO_LOSS.edit("only the chosen text counts", BOTH, (MARGIN, "better"))
DPO_LOSS.edit("only the rejected text counts", BOTH, (MARGIN, "-worse"))
DPO_LOSS.edit("the two changes are added", BOTH, (MARGIN, "better + worse"))
BETA = "β says how steep the sigmoid is. Is it inside the brackets or outside?"
DPO_LOSS.edit("β is outside the sigmoid", BETA, (SCALED, "margin"), (MEAN, "beta * losses.mean()"))
DPO_LOSS.edit("β is left out", BETA, (SCALED, "margin"))
DPO_LOSS.edit(
    "the margin is divided by β", "A larger β makes the same margin count for more.", (SCALED, "margin / beta")
)
DPO_LOSS.edit(
    "β multiplies the new model's numbers alone",
    "β multiplies the whole margin.",
    (SCALED, "beta * (chosen - rejected) - (old_chosen - old_rejected)"),
)
DPO_LOSS.edit(
    "β multiplies the chosen text's change alone",
    "β multiplies the whole margin.",
    (SCALED, "beta * better - worse"),
)
DPO_LOSS.edit(
    "β multiplies `chosen` alone",
    "β multiplies the whole margin. Look at the brackets.",
    (SCALED, "beta * chosen - old_chosen - worse"),
)
PAIRS = (
    "Each pair has its own loss, and the result is their mean. In which order do you take the mean and the logarithm?"
)
DPO_LOSS.edit("it is the logarithm of the mean", PAIRS, (MEAN, "-(-losses).exp().mean().log()"))
DPO_LOSS.edit(
    "the mean of the margins is taken first",
    PAIRS,
    (LOSSES, "-torch.nn.functional.logsigmoid(scaled.mean())"),
)
DPO_LOSS.edit(
    "it is the sum over the pairs, not the mean",
    "With a sum, a large batch makes large steps. Take the mean.",
    (MEAN, "losses.sum()"),
)
DPO_LOSS.edit("it is the median over the pairs, not the mean", "Take the mean.", (MEAN, "losses.median()"))
DPO_LOSS.edit("it is the largest loss, not the mean", "Take the mean.", (MEAN, "losses.max()"))
DPO_LOSS.edit("each pair's loss is returned", "Return one number, the mean over the pairs.", (MEAN, "losses"))
LARGE = "A sigmoid of −1,000 is too small to be stored, and the logarithm of 0 is −∞. exp(1000) is too large. `logsigmoid` avoids both."
DPO_LOSS.edit(
    "the loss is ∞ where the margin is far below 0",
    f"{LARGE} From ∞, a model can't learn.",
    (LOSSES, "-torch.sigmoid(scaled).log()"),
)
for cut in (
    "(torch.sigmoid(scaled) + 1e-8).log()",
    "(torch.sigmoid(scaled) + 1e-10).log()",
    "(torch.sigmoid(scaled) + 1e-12).log()",
    "torch.sigmoid(scaled).clamp(min=1e-8).log()",
    "torch.sigmoid(scaled).log().clamp(min=-100)",  # as F.binary_cross_entropy does
):
    DPO_LOSS.edit(
        "the loss stops growing where the sigmoid is tiny",
        f"{LARGE} A lower limit, or a tiny number that is added, hides ∞, but the loss no longer grows.",
        (LOSSES, f"-{cut}"),
    )
DPO_LOSS.edit(
    "the logarithm is left out, and the result is 1 minus the sigmoid",
    "The loss is the negative logarithm of the sigmoid.",
    (LOSSES, "1 - torch.sigmoid(scaled)"),
)
DPO_LOSS.edit(
    "the logarithm is left out",
    "The loss is the negative logarithm of the sigmoid.",
    (LOSSES, "-torch.sigmoid(scaled)"),
)
DPO_LOSS.edit(
    "the sigmoid is left out",
    "Without it, the loss could fall forever by the same amount. The logarithm of a sigmoid ends the reward for what is already far apart.",
    (LOSSES, "-scaled"),
)
DPO_LOSS.edit(
    "it is a hinge, not a sigmoid",
    "The loss is the negative logarithm of a sigmoid.",
    (LOSSES, "(1 - scaled).clamp(min=0)"),
)
DPO_LOSS.edit(
    "ratios of probabilities are subtracted, not their logarithms",
    "The formula has differences of *logarithms*. Don't take `exp`.",
    (MARGIN, "better.exp() - worse.exp()"),
)
DPO_LOSS.edit("the logarithm has base 2", "Use the natural logarithm.", (MEAN, "losses.mean() / 0.6931471805599453"))
