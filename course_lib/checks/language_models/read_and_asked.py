"""read_and_asked(numbers, starts, length): windows of a text, what a model reads in them and what it has to predict."""

import torch

from course_lib.checks.engine import Case, Exercise


def cases(generator: torch.Generator) -> list[Case]:
    def draw(count: int, batch: int, length: int) -> tuple[torch.Tensor, torch.Tensor, int]:
        """Draws a text whose tokens are all different and not in order, so that each can be told from the others."""
        starts = torch.randint(count - length, (batch,), generator=generator)
        return 10 + torch.randperm(count, generator=generator), starts, length

    numbers = torch.tensor([5, 2, 7, 1, 9, 4, 8, 3])
    inputs = [
        ("two windows of three", numbers, torch.tensor([1, 0]), 3),
        ("three windows, one of which ends with the last token", numbers, torch.tensor([4, 1, 0]), 3),
        ("windows of two that overlap", numbers, torch.tensor([3, 2, 4]), 2),
        ("the same start twice", numbers, torch.tensor([1, 1]), 4),
        ("windows of one", numbers, torch.tensor([6, 0, 3]), 1),
        ("a batch of one", numbers, torch.tensor([3]), 4),
        ("the whole text", numbers, torch.tensor([0, 0]), 7),
        ("windows of four in a longer text", draw(20, 1, 4)[0], torch.tensor([1, 11, 6]), 4),
        *(("a longer text", *draw(count, batch, length)) for count, batch, length in ((20, 4, 5), (30, 3, 8), (25, 5, 4))),
        ("a tensor that isn't contiguous in memory", torch.arange(40).reshape(20, 2)[:, 1], torch.tensor([11, 4]), 6),
        ("tokens above 255", 1000 + numbers, torch.tensor([2, 0]), 5),
    ]  # fmt: skip
    return [Case(about, dict(zip(("numbers", "starts", "length"), given, strict=True))) for about, *given in inputs]


def right(numbers, starts, length):
    places = starts[:, None] + torch.arange(length + 1)
    cut = numbers[places]
    return cut[:, :-1], cut[:, 1:]


READ_AND_ASKED = Exercise(
    "read_and_asked",
    "language_models",
    cases,
    right,
    'lesson 8, "All predictions in one pass"; glossary.show("cross-entropy")',
)

READ_AND_ASKED.edit(
    "it does the same as the function you were given",
    "For two windows, write down for each position what the model reads and what it has to predict. "
    "Has it already read the answer? And how many positions are there?",
    ("length + 1", "length"),
    ("cut[:, :-1], cut[:, 1:]", "cut[:, 1:], cut[:, :-1]"),
)
READ_AND_ASKED.edit(
    "every position has to predict the token before it, which has been read",
    "When the model has read the token at position t, which token doesn't it know yet?",
    ("cut[:, :-1], cut[:, 1:]", "cut[:, 1:], cut[:, :-1]"),
)
READ_AND_ASKED.edit(
    "every window is one token too short",
    "The model reads `length` tokens, and after each of them it predicts the next. How many tokens must a window have?",
    ("length + 1", "length"),
)
READ_AND_ASKED.edit(
    "the model has to predict what it reads",
    "Then a model only has to repeat. Which token should it predict at each position?",
    ("cut[:, 1:]", "cut[:, :-1]"),
)
NEXT = (
    "the model has to predict the token after the next",
    "How far apart are the token that is read and the token to predict?",
)
READ_AND_ASKED.edit(*NEXT, ("cut[:, 1:]", "numbers[(places[:, 1:] + 1).clamp(max=len(numbers) - 1)]"))


@READ_AND_ASKED.misconception(*NEXT)
def two_further_on_if_there(numbers, starts, length):
    cut = torch.stack([numbers[start : start + length + 2] for start in starts])
    return cut[:, :-2], cut[:, 2:]


LATE = "the windows begin one token too late", "`starts` says where the first token is that the model *reads*."
READ_AND_ASKED.edit(*LATE, ("numbers[places]", "numbers[(places + 1).clamp(max=len(numbers) - 1)]"))


@READ_AND_ASKED.misconception(*LATE)
def too_late_if_there(numbers, starts, length):
    cut = torch.stack([numbers[start + 1 : start + length + 2] for start in starts])
    return cut[:, :-1], cut[:, 1:]


@READ_AND_ASKED.misconception(
    "a window that ends with the last token of the text is left out",
    "start + length is the position of the last token to predict. May it be the last token of the text?",
)
def but_for_the_end(numbers, starts, length):
    cut = torch.stack([numbers[start : start + length + 1] for start in starts if start + length + 1 < len(numbers)])
    return cut[:, :-1], cut[:, 1:]


ROUND = "torch.roll puts the first token at the end. Which token of the text comes after the last one of a window?"
READ_AND_ASKED.edit(
    "the last position has to predict the window's first token", ROUND, ("cut[:, 1:]", "cut[:, :-1].roll(-1, 1)")
)
READ_AND_ASKED.edit(
    "the last position has to predict the first token of the next window", ROUND, ("cut[:, 1:]", "cut[:, :-1].roll(-1)")
)
READ_AND_ASKED.edit(
    "the window is rolled the wrong way",
    "Every position has to predict the token before it. In which direction does a text continue? Rolling also puts in a token from the wrong end.",
    ("cut[:, 1:]", "cut[:, :-1].roll(1, 1)"),
)
READ_AND_ASKED.edit(
    "only the token after each window is predicted",
    "A causal model predicts at *every* position, so one window gives as many predictions as the model reads tokens.",
    ("cut[:, 1:]", "cut[:, -1]"),
)
READ_AND_ASKED.edit(
    "the windows follow one another in the text",
    "`starts` says where each window begins. Which of its entries do you use?",
    ("starts[:, None]", "(starts[0] + length * torch.arange(len(starts)))[:, None]"),
)
READ_AND_ASKED.edit(
    "all windows begin at the same position",
    "`starts` says where each window begins. Which of its entries do you use?",
    ("starts[:, None]", "starts[:1].expand(len(starts))[:, None]"),
)
READ_AND_ASKED.edit(
    "the tokens are cut to one byte",
    "A vocabulary may have more than 256 tokens, and uint8 only goes from 0 to 255.",
    ("numbers[places]", "numbers[places] % 256"),
)
READ_AND_ASKED.edit(
    "it returns positions, not tokens",
    "Which token is at each position? The text is in `numbers`.",
    ("numbers[places]", "places"),
)
