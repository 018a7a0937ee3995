"""Exercises of lesson 3: scaled dot-product attention."""

import torch
from torch.nn import functional as F

from course_lib.checks.engine import Case, Exercise, Misconception, Question

MASKS = 'lesson 3, "The mask laboratory"; glossary.show("mask")'
ROOT = 'lesson 3, "Why divide by √d_k?"; glossary.show("scaled dot product")'
SAT = 'lesson 3, "By hand: The cat sat"'


# ---- masked_softmax(scores, mask) ----


def softmax_cases(generator: torch.Generator) -> list[Case]:
    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator)

    some = torch.rand(2, 3, 5, generator=generator) < 0.7
    some[..., 0] = True
    empty = some.clone()
    empty[1, 2] = False
    yes = torch.ones(2, 3, dtype=torch.bool)
    large = draw(2, 3, 5)
    inputs = [
        ("two rows, all open", torch.tensor([[1.0, 2.0, 0.0], [0.0, 1.0, 0.0]]), yes),
        ("one place closed", torch.tensor([[1.0, 2.0, 3.0]]), torch.tensor([[True, True, False]])),
        ("a row with nothing to look at", torch.tensor([[1.0, 2.0]]), torch.tensor([[False, False]])),
        ("negative scores", torch.tensor([[-3.0, -2.0, -9.0]]), torch.tensor([[True, False, True]])),
        ("large scores", torch.tensor([[100.0, 101.0, 102.0]]), torch.tensor([[True, True, False]])),
        ("very large scores", torch.tensor([[9e4, 8e4, 1e5]]), torch.tensor([[True, True, False]])),
        ("a batch of sentences", large, some),
        ("the same scores + 100", large + 100, some),
        ("some rows with nothing to look at", draw(2, 3, 5), empty),
        ("a batch of one", draw(1, 4, 4), torch.ones(1, 4, 4, dtype=torch.bool).tril()),
        ("float64", draw(3, 3).double(), torch.ones(3, 3, dtype=torch.bool).tril()),
        ("scores that do not lie in order in memory", draw(5, 3, 2).permute(2, 1, 0), some),
        ("four axes", draw(2, 2, 3, 3), torch.ones(1, 1, 3, 3, dtype=torch.bool).tril()),
    ]
    return [Case(about, {"scores": scores, "mask": mask}) for about, scores, mask in inputs]


def softmax_right(scores, mask):
    return F.softmax(scores.masked_fill(~mask, -torch.inf), -1).nan_to_num(0.0)


def over_axis(axis):
    def answer(scores, mask):
        closed = scores.masked_fill(~mask, -torch.inf)
        return F.softmax(closed, axis).nan_to_num(0.0)

    return answer


def mask_after(scores, mask):
    return F.softmax(scores, -1) * mask


def without_mask(scores, mask):
    return F.softmax(scores, -1)


def other_way_round(scores, mask):
    return F.softmax(scores.masked_fill(mask, -torch.inf), -1).nan_to_num(0.0)


def leaves_nan(scores, mask):
    return F.softmax(scores.masked_fill(~mask, -torch.inf), -1)


def finite(value):
    def answer(scores, mask):
        return F.softmax(scores.masked_fill(~mask, value), -1)

    return answer


def added(value):
    def answer(scores, mask):
        return F.softmax(scores + value * (~mask).to(scores.dtype), -1)

    return answer


def times_mask(scores, mask):
    return F.softmax(scores * mask, -1)


def naive_exponential(scores, mask):
    powers = scores.exp() * mask
    return powers / powers.sum(-1, keepdim=True)


NOTHING = "What should a row come to that may look at nothing? Take the case with mask [[False, False]]."
MASKED_SOFTMAX = Exercise(
    "masked_softmax",
    3,
    softmax_cases,
    softmax_right,
    (
        Misconception("the softmax runs over the rows", "Each *row* must sum to 1: a row is one query, its entries are the keys.", over_axis(-2)),
        Misconception("the softmax runs over the first axis", "Count axes from the end: keys are the last one, however many stand before it.", over_axis(0)),
        Misconception("the mask comes after the softmax", "Then the weights of a row no longer sum to 1: what is closed has taken its share already.", mask_after),
        Misconception("the mask is not used", "Closed places still get weight.", without_mask),
        Misconception("the mask is the wrong way round", "True means *may* attend. Yours closes what is open.", other_way_round),
        Misconception("a row with nothing to look at gives NaN", NOTHING, leaves_nan),
        Misconception("closed scores are multiplied by 0", "A score of 0 is a score like any other: exp(0) is 1.", times_mask),
        *(
            Misconception("a row with nothing to look at comes out uniform", "A finite penalty is the same for all of them, so none stands back. " + NOTHING, form(value))
            for value in (-1e9, -1e10, torch.finfo(torch.float32).min)
            for form in (finite, added)
        ),
        *(
            Misconception("the penalty is finite, and large scores pass it", "Compare it with the largest score in the failing input. Which number can no score pass?", form(value))
            for value in (-5.0, -10.0, -100.0, -1e3, -1e4, -1e5)
            for form in (finite, added)
        ),
        Misconception("large scores overflow", "exp(100) is too large for float32. What may be subtracted from all scores of a row without changing its softmax?", naive_exponential),
    ),
    MASKS,
)  # fmt: skip


# ---- the article's "sat" ----

WORDS = torch.tensor([[0.1, 0.3, 0.2, 0.4], [0.5, 0.2, 0.1, 0.3], [0.2, 0.9, 0.1, 0.7]])  # The, cat, sat

SAT_SCORE = Question(
    "sat_score",
    3,
    lambda: (WORDS[2] @ WORDS[0]).item(),
    (
        Misconception("that is the article's number", "The article prints 0.63. Add the four products yourself.", 0.63),
        Misconception("that is divided by √d_k", "The dot product alone is asked for.", lambda: (WORDS[2] @ WORDS[0]).item() / 2),
    ),
    SAT,
    tolerance=0.005,
)

ASKED = [MASKED_SOFTMAX, SAT_SCORE]
