"""`masked_softmax(scores, mask)`: a softmax over the last axis among what the mask allows, 0 elsewhere and in empty rows."""

import torch
from torch import Tensor
from torch.nn import functional as F

from course_lib.checks.engine import Case, Exercise
from course_lib.checks.scaled_dot_product import closing
from course_lib.checks.scaled_dot_product.closing import CLOSED, CLOSED_PLACES, EMPTY_ROWS, SHARED_OUT, ZEROS


def cases(generator: torch.Generator) -> list[Case]:
    def draw(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator)

    some = torch.rand(2, 3, 5, generator=generator) < 0.7
    some[..., 0] = True
    some[..., 1] = False
    empty = some.clone()
    empty[1, 2] = False
    yes, others = torch.ones(2, 3, dtype=torch.bool), torch.tensor([[False, True, True], [True, True, False]])
    first_two, only_first = torch.tensor([[True, True, False]]), torch.tensor([[True, False, False]])
    large, lowest = draw(2, 3, 5), torch.finfo(torch.float32).min
    inputs = [
        ("two rows, all open", torch.tensor([[1.0, 2.0, 0.0], [0.0, 1.0, 0.0]]), yes),
        ("one key closed", torch.tensor([[1.0, 2.0, 3.0]]), first_two),
        ("two rows, with different keys closed", torch.tensor([[1.0, 2.0, 0.0], [0.0, 1.0, 0.0]]), others),
        ("negative scores", torch.tensor([[-3.0, -2.0, -9.0]]), torch.tensor([[True, False, True]])),
        ("large scores", torch.tensor([[100.0, 101.0, 102.0]]), first_two),
        ("a closed score far above the open ones", torch.tensor([[1.0, 0.0, 300.0]]), first_two),
        ("very large scores", torch.tensor([[9e4, 8e4, 2e5]]), first_two),
        ("very low scores", torch.tensor([[-2e5, -3e5, -4e5]]), first_two),
        ("a row with nothing to look at", torch.tensor([[1.0, 2.0]]), torch.tensor([[False, False]])),
        ("an open score as low as float32 allows", torch.tensor([[lowest, lowest, 0.0]]), only_first),
        ("a batch of sentences", large, some),
        ("the same scores + 100", large + 100, some),
        ("some rows with nothing to look at", draw(2, 3, 5), empty),
        ("a batch of one", draw(1, 4, 4), torch.ones(1, 4, 4, dtype=torch.bool).tril()),
        ("one word", draw(2, 1, 1), torch.ones(2, 1, 1, dtype=torch.bool)),
        ("float64", draw(3, 3).double(), torch.ones(3, 3, dtype=torch.bool).tril()),
        ("scores that aren't contiguous in memory", draw(5, 3, 2).permute(2, 1, 0), some),
        ("four axes, one mask for all", draw(2, 2, 3, 3), torch.ones(1, 1, 3, 3, dtype=torch.bool).tril()),
        ("three axes of equal length", draw(3, 3, 3), torch.ones(1, 3, 3, dtype=torch.bool).tril()),
        ("two rows far from each other", torch.tensor([[[200.0, 201.0], [0.0, 1.0]]]), yes[None, :, :2]),
        ("a small weight", torch.tensor([[0.0, -8.0]]), yes[:1, :2]),
        ("one word, closed", torch.tensor([[[1.0]], [[2.0]]]), torch.tensor([[[False]], [[True]]])),
        ("one mask for all keys", draw(2, 3, 4), torch.tensor([[[True], [False], [True]]])),
        ("one row, without any other axis", draw(4), torch.tensor([True, False, True, True])),
        ("five axes", draw(2, 1, 2, 3, 3), torch.ones(1, 1, 1, 3, 3, dtype=torch.bool).tril()),
    ]
    return [Case(about, {"scores": scores, "mask": mask}) for about, scores, mask in inputs]


def right(scores, mask):
    closed = scores.masked_fill(~mask, -torch.inf)
    weights = F.softmax(closed, -1)
    return weights.nan_to_num(0.0)


MASKED_SOFTMAX = Exercise(
    "masked_softmax",
    "scaled_dot_product",
    cases,
    right,
    'lesson 3, "The mask laboratory"; glossary.show("mask")',
    tensor=True,
)

MASKED_SOFTMAX.edit(
    "the softmax runs over the queries",
    "Each *row* must sum to 1. A row is one query, and its entries are its keys.",
    ("closed, -1", "closed, -2"),
)
MASKED_SOFTMAX.edit(
    "the softmax runs over the first axis",
    "Count axes from the end. The keys are the last axis, however many come before it.",
    ("closed, -1", "closed, 0"),
)
MASKED_SOFTMAX.edit(
    "the softmax runs over axis 1",
    "That is the last of two axes, but not the last of four. Count from the end.",
    ("closed, -1", "closed, 1"),
)
MASKED_SOFTMAX.edit(
    "one softmax runs over all rows together",
    "Each *row* must sum to 1, not all of them together.",
    (SHARED_OUT, "F.softmax(closed.flatten(), 0).view(scores.shape)"),
)
MASKED_SOFTMAX.edit("the mask comes after the softmax", closing.AFTER, (SHARED_OUT, "F.softmax(scores, -1) * mask"))
MASKED_SOFTMAX.edit("the mask is not used", "Closed keys still get weight.", ("softmax(closed", "softmax(scores"))
for changes in closing.INVERTED:
    MASKED_SOFTMAX.edit("the mask is the wrong way round", closing.WAY_ROUND, *changes)
NOTHING = "Which weights should a row get if it may look at nothing? Work out the mask [[False, False]] by hand."
MASKED_SOFTMAX.edit("a row with nothing to look at gives NaN", NOTHING, (ZEROS, ""))
MASKED_SOFTMAX.edit("every weight is 0, as if all keys were closed", closing.ALL_CLOSED, closing.MULTIPLIED)
for those in ("scores", "closed"):
    MASKED_SOFTMAX.edit(
        "the largest score is taken over all rows, not in each row", closing.LARGEST, closing.one_largest(those)
    )
MASKED_SOFTMAX.edit(
    "these are the logs of the weights",
    "Weights are between 0 and 1. Which softmax do you call?",
    ("F.softmax", "F.log_softmax"),
    (ZEROS, ""),
)
MASKED_SOFTMAX.edit(
    "closed scores become 0", "A score of 0 is a score like any other, because exp(0) is 1.", (CLOSED, "scores * mask")
)
for changes in ([closing.OPEN_WHERE_EMPTY], *closing.put_or_added(closing.HUGE, "")):
    MASKED_SOFTMAX.edit(
        "a row with nothing to look at still gets weight",
        f"If all keys of a row get the same finite penalty, they still share its weight. {NOTHING}",
        *changes,
    )
SHARED_OUT_AGAIN = "(shares := F.softmax(scores, -1) * mask) / shares.sum(-1, keepdim=True)"
TAKE_PART = "closed scores still take part before they are removed"
LEAVES_NOTHING = "If a closed score is far above the open ones, it leaves them nothing. Close it before you take any exponential, with a number that no score reaches."
for empty in (ZEROS, ""):
    MASKED_SOFTMAX.edit(TAKE_PART, LEAVES_NOTHING, (SHARED_OUT, SHARED_OUT_AGAIN), (ZEROS, empty))
for changes in closing.put_or_added(closing.LEAKY, "", EMPTY_ROWS, CLOSED_PLACES):
    MASKED_SOFTMAX.edit("the penalty is finite, and a closed key still takes weight", closing.LEAKS, *changes)
for changes in (
    *closing.put_or_added(closing.SMALL, "", EMPTY_ROWS),
    *closing.filled(closing.SMALL, CLOSED_PLACES),
    *closing.put_or_added(closing.HUGE, EMPTY_ROWS),
    *closing.filled(closing.HUGE, CLOSED_PLACES),
):
    MASKED_SOFTMAX.edit("the penalty is finite, and some scores reach it", closing.REACHED, *changes)
for changes in closing.added(closing.SMALL, CLOSED_PLACES):
    MASKED_SOFTMAX.edit(TAKE_PART, LEAVES_NOTHING, *changes)
for changes in closing.in_plain_exponentials():
    MASKED_SOFTMAX.edit("large scores overflow", closing.OVERFLOWS, *changes)
