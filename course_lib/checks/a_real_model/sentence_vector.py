"""`sentence_vector(states, mask)`: the mean of the states of each sentence's own tokens."""

import torch
from torch.nn import functional as F  # noqa: F401 - edits use it

from course_lib.checks.engine import Case, Exercise


def vector_cases(generator: torch.Generator) -> list[Case]:
    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator)

    def some(low: int, high: int) -> int:
        return int(torch.randint(low, high, (), generator=generator))

    def up_to(*lengths: int) -> torch.Tensor:
        return torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]

    def given(lengths: tuple[int, ...], d: int) -> tuple[torch.Tensor, torch.Tensor]:
        return draw(len(lengths), max(lengths), d), up_to(*lengths)

    by_hand = torch.tensor(
        [[[1.0, 6.0, 2.0], [3.0, 0.0, 4.0], [80.0, 90.0, 70.0]], [[2.0, 1.0, 0.0], [3.0, 5.0, 1.0], [1.0, 3.0, 5.0]]]
    )
    loud, loud_mask = given((2, 5, 3), 4)
    double, double_mask = given((3, 1, 2), 4)
    crossed, crossed_mask = given((4, 2), 3)
    silent, silent_mask = given((3, 4), 2)
    silent[:, 1] = 0
    inputs = [
        ("two sentences, one of two tokens and one of three", by_hand, up_to(2, 3)),
        ("one sentence without padding", *given((3,), 2)),
        ("a sentence of one token", *given((1, 4), 3)),
        ("no padding at all", *given((3, 3), 2)),
        ("as many sentences as tokens and as numbers", *given((1, 3, 2), 3)),
        ("as many tokens as numbers in a vector", *given((2, 4), 4)),
        ("as many sentences as tokens", *given((2, 4, 1, 3), 5)),
        ("padding in front", draw(3, 4, 3), up_to(2, 4, 1).flip(1)),
        ("large numbers in the padding", torch.where(loud_mask[:, :, None], loud, 300.0), loud_mask),
        ("more sentences", *given((some(1, 7), 7, some(1, 7), some(1, 7), some(1, 7)), 6)),
        ("tokens whose state is 0", silent, silent_mask),
        ("float64", double.double(), double_mask),
        ("states that are not contiguous in memory", crossed.mT.contiguous().mT, crossed_mask),
    ]
    return [Case(about, {"states": states, "mask": mask}) for about, states, mask in inputs]


def sentence_vector(states, mask):
    own = mask[:, :, None].to(states)
    total = (states * own).sum(1)
    count = own.sum(1)
    return total / count


SENTENCE_VECTOR = Exercise(
    "sentence_vector",
    "a_real_model",
    vector_cases,
    sentence_vector,
    'lesson 11, "One vector for a sentence"; glossary.show("sentence vector")',
    banned=("course_lib.pretrained",),
)

MEAN, OWN = "total / count", "mask[:, :, None]"
SENTENCE_VECTOR.edit(
    "the padding counts in the mean",
    "The states where the mask is False must not matter. Change one of them. Does the result change?",
    (MEAN, "states.mean(1)"),
)
SENTENCE_VECTOR.edit(
    "the sum over the tokens is divided by the number of all positions",
    "Sum and count must be over the same tokens. How many True does a sentence have in its row of the mask?",
    ("own.sum(1)", "mask.shape[1]"),
)
SENTENCE_VECTOR.edit(
    "the sum over all positions is divided by the number of tokens",
    "The count is correct. But what about the states of the padding?",
    ("(states * own)", "states"),
)
SENTENCE_VECTOR.edit(
    "the result is a sum, not a mean", "By how many tokens should you divide the sum?", (MEAN, "total")
)
SENTENCE_VECTOR.edit(
    "True and False are swapped",
    "True marks the sentence's own tokens, and these count.",
    (OWN, "(~mask)[:, :, None]"),
)
OWN_COUNT = "Divide each sentence by the number of *its* tokens. Each row of the mask has a count of its own."
SENTENCE_VECTOR.edit(
    "each sentence's count divides a column, not its row",
    "If (batch, d) is divided by a count of shape (batch,), the counts run along d. With keepdim=True the shape is (batch, 1).",
    ("own.sum(1)", "mask.sum(1)"),
)
SENTENCE_VECTOR.edit("all sentences are divided by the number of all tokens", OWN_COUNT, ("own.sum(1)", "own.sum()"))
SENTENCE_VECTOR.edit(
    "all sentences are divided by the mean number of tokens", OWN_COUNT, ("own.sum(1)", "own.sum(1).mean()")
)
SENTENCE_VECTOR.edit(
    "all sentences are divided by the first one's number of tokens", OWN_COUNT, ("own.sum(1)", "own[0].sum()")
)
SENTENCE_VECTOR.edit("the sum is divided by the number of sentences", OWN_COUNT, ("own.sum(1)", "len(own)"))
SENTENCE_VECTOR.edit(
    "all sentences are averaged together",
    "states[mask] forgets where a sentence ends. Return one mean for each sentence.",
    (MEAN, "states[mask].mean(0)"),
)
SENTENCE_VECTOR.edit(
    "all sentences are averaged together",
    "Return one mean for each sentence, over its own tokens.",
    (MEAN, "states[mask].mean(0).expand(len(states), -1)"),
)
SENTENCE_VECTOR.edit(
    "the first token's state is returned, not the mean",
    "[CLS] is one of the tokens. The mean is over all of them.",
    (MEAN, "states[:, 0]"),
)
ALL_TOKENS = "The mean is over all tokens of the sentence."
SENTENCE_VECTOR.edit("the last position's state is returned, not the mean", ALL_TOKENS, (MEAN, "states[:, -1]"))


@SENTENCE_VECTOR.misconception("the last token's state is returned, not the mean", ALL_TOKENS)
def last_own(states, mask):
    last = (torch.arange(mask.shape[1]) * mask).argmax(1)
    return states[torch.arange(len(states)), last]


for hidden in ("-torch.inf", "0"):
    SENTENCE_VECTOR.edit(
        "the largest numbers are taken, not the mean",
        "That is max pooling. Here every token counts equally.",
        (MEAN, f"states.masked_fill(own == 0, {hidden}).amax(1)"),
    )
SENTENCE_VECTOR.edit(
    "tokens whose state is 0 are not counted",
    "Only the mask says which tokens count. A state may be 0, too.",
    ("own.sum(1)", "(own * states.any(-1, True)).sum(1)"),
)
SENTENCE_VECTOR.edit(
    "the vectors are scaled to length 1",
    "Return the mean as it is. The cosine comes later.",
    (MEAN, "F.normalize(total / count, dim=-1)"),
)
SENTENCE_VECTOR.edit(
    "the sum is divided by the root of the count",
    "A mean is a sum divided by the count itself.",
    (MEAN, "total / count.sqrt()"),
)
SENTENCE_VECTOR.edit(
    "the sum is divided by the square of the count",
    "Is the mean divided by the count again?",
    (MEAN, "total / count**2"),
)
SENTENCE_VECTOR.edit(
    "one is added to the count",
    "Count the True in a row. Do you divide by this number?",
    (MEAN, "total / (count + 1)"),
)
SENTENCE_VECTOR.edit(
    "the last token is left out",
    "All tokens whose mask is True count, including [SEP]. Where does a slice end?",
    (OWN, "(mask & F.pad(mask[:, 1:], (0, 1)))[:, :, None]"),
)
SENTENCE_VECTOR.edit(
    "the first token is left out",
    "All tokens whose mask is True count, including [CLS].",
    (OWN, "(mask & F.pad(mask[:, :-1], (1, 0)))[:, :, None]"),
)
SENTENCE_VECTOR.edit(
    "[CLS] and [SEP] are left out",
    "All tokens whose mask is True count, including these two.",
    (OWN, "(mask & F.pad(mask[:, 1:], (0, 1)) & F.pad(mask[:, :-1], (1, 0)))[:, :, None]"),
)
SENTENCE_VECTOR.edit(
    "the first positions are used, as many as the mask counts",
    "With padding in front, a sentence's tokens come last. The mask says which tokens count, not only how many.",
    (OWN, "(torch.arange(mask.shape[1]) < mask.sum(1, keepdim=True))[:, :, None]"),
)
SENTENCE_VECTOR.edit(
    "all sentences are cut to the length of the shortest",
    "A longer sentence has more tokens, and all of them count.",
    (MEAN, "states[:, : mask.sum(1).min()].mean(1)"),
)
SENTENCE_VECTOR.edit(
    "the axis of the tokens is kept",
    "The shape is (batch, 1, d). Which axis should go?",
    (MEAN, "(total / count)[:, None]"),
)
AXES = "The axes are (batch, n, d). Over which one is the mean?"
SENTENCE_VECTOR.edit("the mean is over the numbers of a vector", AXES, (MEAN, "states.mean(-1)"))
SENTENCE_VECTOR.edit("the mean is over the numbers of a vector", AXES, (MEAN, "(states * own).mean(-1)"))
SENTENCE_VECTOR.edit(
    "the result is one number for each sentence",
    "Return a vector for each sentence. The mean is over the tokens alone.",
    (MEAN, "(total / count).mean(-1)"),
)
SENTENCE_VECTOR.edit("the mean is over the batch", AXES, (MEAN, "(states * own).sum(0) / own.sum(0)"))
SENTENCE_VECTOR.edit("the mean is over the batch", AXES, (MEAN, "states.mean(0)"))
SENTENCE_VECTOR.edit(
    "the states are masked, but not averaged",
    "The result still has an axis of tokens. Which step is missing?",
    (MEAN, "states * own"),
)
