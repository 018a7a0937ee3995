"""read_and_asked(numbers, starts, length): windows of a text, what is read in them and what is asked for."""

import torch

from course_lib.checks.engine import Case, Exercise


def cases(generator: torch.Generator) -> list[Case]:
    def draw(count: int, batch: int, length: int) -> tuple[torch.Tensor, torch.Tensor, int]:
        """All tokens are different, so that it can be told which is which; and not in order."""
        starts = torch.randint(count - length, (batch,), generator=generator)
        return 10 + torch.randperm(count, generator=generator), starts, length

    numbers = torch.tensor([5, 2, 7, 1, 9, 4, 8, 3])
    inputs = [
        ("two windows of three", numbers, torch.tensor([1, 0]), 3),
        ("three windows, one of which ends with the last token", numbers, torch.tensor([4, 1, 0]), 3),
        ("windows of two that overlap", numbers, torch.tensor([3, 2, 4]), 2),
        ("the same place twice", numbers, torch.tensor([1, 1]), 4),
        ("windows of one", numbers, torch.tensor([6, 0, 3]), 1),
        ("a batch of one", numbers, torch.tensor([3]), 4),
        ("the whole text", numbers, torch.tensor([0, 0]), 7),
        ("windows of four in a longer text", draw(20, 1, 4)[0], torch.tensor([1, 11, 6]), 4),
        *(("a longer text", *draw(count, batch, length)) for count, batch, length in ((20, 4, 5), (30, 3, 8), (25, 5, 4))),
        ("numbers that do not lie in order in memory", torch.arange(40).reshape(20, 2)[:, 1], torch.tensor([11, 4]), 6),
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
    "it is as it was",
    "For two windows, write down what is read and what is asked for, place by place. Has the model seen the answer? "
    "And how many places are there?",
    ("length + 1", "length"),
    ("cut[:, :-1], cut[:, 1:]", "cut[:, 1:], cut[:, :-1]"),
)
READ_AND_ASKED.edit(
    "every place is asked for the token before, which it has read",
    "Text goes forward. When the model reads the token at place t, which one does it not know yet?",
    ("cut[:, :-1], cut[:, 1:]", "cut[:, 1:], cut[:, :-1]"),
)
READ_AND_ASKED.edit(
    "every window is one token too short",
    "`length` tokens are read, and each of them is asked for one more: how many tokens must a window have?",
    ("length + 1", "length"),
)
READ_AND_ASKED.edit(
    "what is asked for is what is read",
    "Then a model has only to repeat. Which token should it say at each place?",
    ("cut[:, 1:]", "cut[:, :-1]"),
)
NEXT = (
    "it asks for the token after the next",
    "Behind the token that is read comes the one that is asked for: one further on.",
)
READ_AND_ASKED.edit(*NEXT, ("cut[:, 1:]", "numbers[(places[:, 1:] + 1).clamp(max=len(numbers) - 1)]"))


@READ_AND_ASKED.misconception(*NEXT)
def two_further_on_if_there(numbers, starts, length):
    cut = torch.stack([numbers[start : start + length + 2] for start in starts])
    return cut[:, :-2], cut[:, 2:]


LATE = "the windows begin one token too late", "starts says where the first token stands that is *read*."
READ_AND_ASKED.edit(*LATE, ("numbers[places]", "numbers[(places + 1).clamp(max=len(numbers) - 1)]"))


@READ_AND_ASKED.misconception(*LATE)
def too_late_if_there(numbers, starts, length):
    cut = torch.stack([numbers[start + 1 : start + length + 2] for start in starts])
    return cut[:, :-1], cut[:, 1:]


@READ_AND_ASKED.misconception(
    "a window that ends with the last token of the text is left out",
    "start + length is the place of the last token that is asked for. May it be the last of the text?",
)
def but_for_the_end(numbers, starts, length):
    cut = torch.stack([numbers[start : start + length + 1] for start in starts if start + length + 1 < len(numbers)])
    return cut[:, :-1], cut[:, 1:]


ROUND = "torch.roll brings to the end what falls out at the beginning. What comes after the last token of a window?"
READ_AND_ASKED.edit(
    "the last place is asked for the window's first token", ROUND, ("cut[:, 1:]", "cut[:, :-1].roll(-1, 1)")
)
READ_AND_ASKED.edit(
    "the last place is asked for the first token of the next window", ROUND, ("cut[:, 1:]", "cut[:, :-1].roll(-1)")
)
READ_AND_ASKED.edit(
    "the window is rolled the wrong way",
    "Every place is asked for the token before it. Which way does a text go on? (And rolling brings in the wrong end.)",
    ("cut[:, 1:]", "cut[:, :-1].roll(1, 1)"),
)
READ_AND_ASKED.edit(
    "only the token behind each window is asked for",
    "A causal model says something at *every* place: one window asks it as many times as it has tokens.",
    ("cut[:, 1:]", "cut[:, -1]"),
)
READ_AND_ASKED.edit(
    "the windows stand one after the other in the text",
    "Where each window begins, starts says. Which of them is used?",
    ("starts[:, None]", "(starts[0] + length * torch.arange(len(starts)))[:, None]"),
)
READ_AND_ASKED.edit(
    "all windows begin at the same place",
    "Where each window begins, starts says. Which is used?",
    ("starts[:, None]", "starts[:1].expand(len(starts))[:, None]"),
)
READ_AND_ASKED.edit(
    "the tokens are cut to a byte",
    "A vocabulary may have more than 256 tokens, and uint8 goes from 0 to 255.",
    ("numbers[places]", "numbers[places] % 256"),
)
READ_AND_ASKED.edit(
    "places stand there, not tokens",
    "Which token stands at a place? The text is in numbers.",
    ("numbers[places]", "places"),
)
