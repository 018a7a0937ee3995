"""`recovered(clean, corrupted, patched)`: how much of the answer each patch brings back."""

import torch

from course_lib.checks.engine import Case, Exercise


def recovered_cases(generator: torch.Generator) -> list[Case]:
    def draw(*shape: int) -> torch.Tensor:
        return 2 * torch.randn(*shape, generator=generator)

    def given(places: int, pairs: int, kind=torch.float32) -> tuple[torch.Tensor, ...]:
        """The runs differ by 1 at least on average, so that no result is huge."""
        clean, corrupted = draw(pairs, 2), draw(pairs, 2)
        clean[:, 0] += 3
        corrupted[:, 1] += 3
        share = torch.randn(places, 1, 1, generator=generator)
        patched = corrupted + share * (clean - corrupted) + 0.5 * draw(places, pairs, 2)
        return tuple(one.to(kind) for one in (clean, corrupted, patched))

    clean = torch.tensor([[6.0, 2.0], [3.0, 2.0]])
    corrupted = torch.tensor([[1.0, 4.5], [2.5, 2.0]])
    by_hand = clean, corrupted, torch.tensor([[[6.0, 2.5], [1.0, 2.5]]])
    single = given(3, 1)
    beyond = given(4, 5)
    beyond = *beyond[:2], beyond[1] + torch.tensor([-0.8, 0.0, 1.0, 1.7])[:, None, None] * (beyond[0] - beyond[1])
    strided = given(3, 6)
    strided = *(one.T.contiguous().T for one in strided[:2]), strided[2].permute(2, 1, 0).contiguous().permute(2, 1, 0)
    inputs = [
        ("the two pairs of the text", by_hand),
        ("a single pair", single),
        ("two places, three pairs", given(2, 3)),
        ("as many places as pairs", given(4, 4)),
        ("as many places and pairs as logits", given(2, 2)),
        ("effects below 0 and above 1", beyond),
        ("more places than pairs", given(7, 3)),
        ("float64", given(3, 5, torch.float64)),
        ("logits that are not contiguous in memory", strided),
    ]
    return [Case(about, dict(zip(("clean", "corrupted", "patched"), given, strict=True))) for about, given in inputs]


def recovered(clean, corrupted, patched):
    top = clean[:, 0] - clean[:, 1]
    bottom = corrupted[:, 0] - corrupted[:, 1]
    between = patched[:, :, 0] - patched[:, :, 1]
    gained = between - bottom
    whole = top - bottom
    return gained.mean(1) / whole.mean()


RECOVERED = Exercise(
    "recovered",
    "opened_up",
    recovered_cases,
    recovered,
    'lesson 13, "Move a state"; glossary.show("activation patching"); glossary.show("logits")',
)

RATIO, GAINED, WHOLE = "gained.mean(1) / whole.mean()", "between - bottom", "top - bottom"
ZERO = "Which number should come out if the patch changes nothing? And which if it brings all of the answer back?"
RECOVERED.edit(
    "a ratio is computed for each pair, and then averaged",
    "In a pair whose two runs hardly differ, the ratio is a division by almost 0. One such pair can decide the mean. Average both differences first.",
    (RATIO, "(gained / whole).mean(1)"),
)
RECOVERED.edit(
    "the median of the pairs' ratios is taken",
    "Average both differences first, and divide then.",
    (RATIO, "(gained / whole).median(1).values"),
)
RECOVERED.edit("it is the share that is still missing", ZERO, (GAINED, "top - between"))
RECOVERED.edit("it is the inverse of the share", ZERO, (RATIO, "whole.mean() / gained.mean(1)"))
RECOVERED.edit(
    "the sign is wrong",
    f"Two runs are exchanged in the numerator or in the denominator. {ZERO}",
    (WHOLE, "bottom - top"),
)
RECOVERED.edit("the clean run's value is subtracted, not the corrupted run's", ZERO, (GAINED, "between - top"))
SCALE = "A gain of 3 is much if the two runs are 3 apart, and little if they are 30 apart. Divide by their distance."
RECOVERED.edit("nothing is divided", SCALE, (RATIO, "gained.mean(1)"))
RECOVERED.edit("the gain is divided by the clean run's value", SCALE, (WHOLE, "top"))
RECOVERED.edit("the gain is divided by the corrupted run's value", SCALE, (WHOLE, "bottom"))
RECOVERED.edit("the gain is divided by the patched run's value", SCALE, (RATIO, "gained.mean(1) / between.mean(1)"))
RECOVERED.edit(
    "the corrupted run's value isn't subtracted from the patched run's",
    f"The corrupted run is the zero of the scale. {ZERO}",
    (GAINED, "between"),
)
RECOVERED.edit(
    "the patched run's value is divided by the clean run's",
    f"The corrupted run is the zero of the scale. {ZERO}",
    (GAINED, "between"),
    (WHOLE, "top"),
)
SIGN = "A patch may move the answer the wrong way. Then its effect is negative, and pairs may cancel."
RECOVERED.edit("the sign of each gain is lost", SIGN, (GAINED, "(between - bottom).abs()"))
RECOVERED.edit(
    "the sign of each gain and each distance is lost",
    SIGN,
    (GAINED, "(between - bottom).abs()"),
    (WHOLE, "(top - bottom).abs()"),
)
RECOVERED.edit("the sign of each distance is lost", SIGN, (WHOLE, "(top - bottom).abs()"))
RECOVERED.edit("the sign of the result is lost", SIGN, (RATIO, "(gained.mean(1) / whole.mean()).abs()"))
LIMITS = "An effect below 0 or above 1 is a finding. Don't cut it off."
RECOVERED.edit("the result is cut off at 0 and 1", LIMITS, (RATIO, "(gained.mean(1) / whole.mean()).clamp(0, 1)"))
RECOVERED.edit("the result is cut off at 0", LIMITS, (RATIO, "(gained.mean(1) / whole.mean()).clamp(min=0)"))
RECOVERED.edit("the result is cut off at 1", LIMITS, (RATIO, "(gained.mean(1) / whole.mean()).clamp(max=1)"))
BOTH = "A patch that raises both words alike brings no answer back. Take the *difference* of the two logits."
RECOVERED.edit(
    "only the logit of the answer is used",
    BOTH,
    ("clean[:, 0] - clean[:, 1]", "clean[:, 0]"),
    ("corrupted[:, 0] - corrupted[:, 1]", "corrupted[:, 0]"),
    ("patched[:, :, 0] - patched[:, :, 1]", "patched[:, :, 0]"),
)
RECOVERED.edit(
    "only the logit of the other word is used",
    BOTH,
    ("clean[:, 0] - clean[:, 1]", "clean[:, 1]"),
    ("corrupted[:, 0] - corrupted[:, 1]", "corrupted[:, 1]"),
    ("patched[:, :, 0] - patched[:, :, 1]", "patched[:, :, 1]"),
)
RECOVERED.edit(
    "the two logits are added",
    BOTH,
    ("clean[:, 0] - clean[:, 1]", "clean[:, 0] + clean[:, 1]"),
    ("corrupted[:, 0] - corrupted[:, 1]", "corrupted[:, 0] + corrupted[:, 1]"),
    ("patched[:, :, 0] - patched[:, :, 1]", "patched[:, :, 0] + patched[:, :, 1]"),
)
RECOVERED.edit(
    "probabilities are compared, not logits",
    "Logits are what the model adds up. A probability hardly changes near 0 and 1. Use the logits as they are.",
    ("clean[:, 0] - clean[:, 1]", "clean.softmax(-1)[:, 0]"),
    ("corrupted[:, 0] - corrupted[:, 1]", "corrupted.softmax(-1)[:, 0]"),
    ("patched[:, :, 0] - patched[:, :, 1]", "patched.softmax(-1)[:, :, 0]"),
)
for subtracted in ((), ((GAINED, "between"), (RATIO, "(gained.mean(1) - bottom.mean()) / whole.mean()"))):
    RECOVERED.edit(
        "in `patched`, two pairs are subtracted, not the two logits",
        "`patched` has an axis more, in front. What is `patched[:, 0]`, if the second axis has the pairs?",
        ("patched[:, :, 0] - patched[:, :, 1]", "patched[:, 0] - patched[:, 1]"),
        *subtracted,
    )
AXIS = "Each place gets one number, over all pairs. Along which axis of `patched` are the pairs?"
RECOVERED.edit("the mean is taken over the places, not over the pairs", AXIS, ("gained.mean(1)", "gained.mean(0)"))
RECOVERED.edit("one number is computed for all places", AXIS, ("gained.mean(1)", "gained.mean()"))
RECOVERED.edit(
    "each pair has a number of its own", "Average over the pairs, before you divide.", (RATIO, "gained / whole")
)
RECOVERED.edit(
    "each pair's gain is divided by the mean distance, and nothing is averaged",
    "Average over the pairs, before you divide.",
    (RATIO, "gained / whole.mean()"),
)
RECOVERED.edit(
    "the sum of the gains is divided by the mean distance",
    "Take the mean of both, or the sum of both.",
    ("gained.mean(1)", "gained.sum(1)"),
)
RECOVERED.edit(
    "the mean gain is divided by the sum of the distances",
    "Take the mean of both, or the sum of both.",
    ("whole.mean()", "whole.sum()"),
)
RECOVERED.edit("only the first pair is used", "Use all pairs.", (RATIO, "gained[:, 0] / whole[0]"))
RECOVERED.edit(
    "these are percent",
    "Return a share. 1 means that all of the answer is back.",
    (RATIO, "100 * gained.mean(1) / whole.mean()"),
)
