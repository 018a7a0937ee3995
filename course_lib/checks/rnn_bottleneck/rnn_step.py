"""rnn_step(x, state, W_x, W_h, b): the next state of a recurrent network, tanh(W_x x + W_h h + b), for each row of a batch."""

import torch

from course_lib.checks.engine import Case, Exercise


def cases(generator: torch.Generator) -> list[Case]:
    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator)

    def drawn(batch: int, d_x: int, d_h: int) -> list[torch.Tensor]:
        return [draw(batch, d_x), draw(batch, d_h), draw(d_h, d_x), draw(d_h, d_h), draw(d_h)]

    by_hand = [
        torch.tensor(numbers)
        for numbers in ([[1.0, 0.0]], [[0.5, -0.5]], [[0.5, -0.3], [0.2, 0.8]], [[0.6, 0.1], [-0.4, 0.5]], [0.0, 0.1])
    ]
    apart = [draw(3, 3).T, draw(3, 3).T, draw(3, 3).T, draw(3, 3).T, draw(6)[::2]]
    inputs = [
        ("the example from the text", by_hand),
        ("a batch of one, other numbers", drawn(1, 2, 2)),
        ("two sentences", drawn(2, 2, 2)),
        ("as many sentences as numbers in the state", drawn(3, 3, 3)),
        ("word vectors longer than the state", drawn(4, 5, 2)),
        ("word vectors shorter than the state", drawn(2, 3, 6)),
        (
            "the first word, read from a state of zeros",
            [draw(2, 3), torch.zeros(2, 4), draw(4, 3), draw(4, 4), draw(4)],
        ),
        ("a state of one number", drawn(3, 2, 1)),
        ("large numbers, where the tanh is flat", [60 * one for one in drawn(2, 2, 2)]),
        ("float64", [one.double() for one in drawn(3, 3, 3)]),
        ("numbers that aren't contiguous in memory", apart),
    ]
    return [Case(about, dict(zip(("x", "state", "W_x", "W_h", "b"), given, strict=True))) for about, given in inputs]


def right(x, state, W_x, W_h, b):
    total = x @ W_x.T + state @ W_h.T + b
    return torch.tanh(total)


RNN_STEP = Exercise(
    "rnn_step",
    "rnn_bottleneck",
    cases,
    right,
    'lesson 1, "A recurrence, by hand"; glossary.show("recurrent neural network")',
    tensor=True,
)

RNN_STEP.edit(
    "the tanh is missing",
    "Without it, the state can grow without limit. Which function does the formula put around the sum?",
    ("torch.tanh(total)", "total"),
)

TURNED = (
    "In W x, each *row* of W meets the vector. In your code, each *column* of W does. Which axis of W should the product "
    "sum over?"
)
RNN_STEP.edit("both matrices are transposed", TURNED, ("W_x.T", "W_x"), ("W_h.T", "W_h"))
RNN_STEP.edit("W_x is transposed", TURNED, ("W_x.T", "W_x"))
RNN_STEP.edit(
    "W_h is transposed",
    "W_h is square, so either way round runs without an error. In W_h h, each *row* of W_h meets the state. In your code, "
    "each *column* does.",
    ("W_h.T", "W_h"),
)
RNN_STEP.edit(
    "the old state is not used",
    "Then each state knows only one word. Which term of the formula brings in the words before it?",
    (" + state @ W_h.T", ""),
)
RNN_STEP.edit("the bias is missing", "Count the terms of the sum in the formula. There are three.", (" + b", ""))

OUTSIDE = "The formula has one tanh. What is inside its brackets?"
for total in ("torch.tanh(x @ W_x.T) + state @ W_h.T + b", "torch.tanh(x @ W_x.T + b) + state @ W_h.T"):
    RNN_STEP.edit(
        "the tanh covers only a part of the sum",
        OUTSIDE,
        ("torch.tanh(total)", "total"),
        ("x @ W_x.T + state @ W_h.T + b", total),
    )
RNN_STEP.edit("the bias is added after the tanh", OUTSIDE, (" + b", ""), ("torch.tanh(total)", "torch.tanh(total) + b"))
RNN_STEP.edit(
    "the logistic function is used instead of the tanh",
    "A state may hold negative numbers, but the logistic function gives none.",
    ("tanh", "sigmoid"),
)
RNN_STEP.edit(
    "ReLU is used instead of the tanh",
    "A state may hold negative numbers, but ReLU gives none.",
    ("torch.tanh(total)", "total.relu()"),
)
RNN_STEP.edit(
    "the first sentence's state is used for all sentences",
    "Each sentence has its own row in `x` and in `state`. Which row of `state` does the second sentence get in your code?",
    ("state @", "state[:1] @"),
)
RNN_STEP.edit(
    "the word and the state are swapped",
    "Which matrix belongs to the word, and which to the state? Compare their shapes with d_x and d_h.",
    ("x @ W_x.T + state @ W_h.T", "state @ W_x.T + x @ W_h.T"),
)
RNN_STEP.edit(
    "the old state is added to the new one",
    "The formula gives the whole new state, not a change that is added to the old one.",
    ("torch.tanh(total)", "state + torch.tanh(total)"),
)
RNN_STEP.edit(
    "the bias is added along the batch",
    "`b` holds one number for each number of the state, the same for all sentences. Along which axis does your code add "
    "it?",
    ("+ b", "+ b[:, None]"),
)
RNN_STEP.edit(
    "the result has the shape (d_h, batch), not (batch, d_h)",
    "The batch comes first. There is one row per sentence, as in `x` and `state`.",
    ("torch.tanh(total)", "torch.tanh(total).T"),
)
