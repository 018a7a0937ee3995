"""read_batch(x, mask, W_x, W_h, b): the states of sentences of unequal length; at padding a state stays as it is."""

import torch

from course_lib.checks.engine import Case, Exercise
from course_lib.checks.rnn_bottleneck.rnn_step import RNN_STEP


def cases(generator: torch.Generator) -> list[Case]:
    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator)

    def drawn(lengths: list[int], words: int, d_x: int, d_h: int) -> list[torch.Tensor]:
        mask = torch.arange(words) < torch.tensor(lengths)[:, None]
        return [draw(len(lengths), words, d_x), mask, draw(d_h, d_x), draw(d_h, d_h), draw(d_h)]

    apart = drawn([4, 2, 3], 4, 3, 3)
    apart[0] = draw(3, 4, 3).permute(2, 1, 0)
    doubled, lost = drawn([2, 3], 3, 2, 2), drawn([1, 2], 2, 2, 2)
    lost[0][0, 1] = torch.nan
    blank = [doubled[0].clone(), *doubled[1:]]
    blank[0][0, 1] = 0
    inputs = [
        ("one sentence of two words", drawn([2], 2, 1, 2)),
        ("one word and one position of padding", drawn([1], 2, 2, 2)),
        ("two sentences, the second shorter", drawn([3, 1], 3, 3, 2)),
        ("two sentences, the first shorter", drawn([1, 4], 4, 1, 2)),
        ("as many sentences as words and as numbers in the state", drawn([2, 3, 1], 3, 3, 3)),
        ("four sentences", drawn([5, 2, 4, 3], 5, 6, 4)),
        ("as many positions as sentences, and no padding", drawn([4, 4, 4, 4], 4, 2, 3)),
        ("sentences of one word", drawn([1, 1, 1], 1, 2, 3)),
        ("a sentence that is all padding", drawn([2, 0], 3, 3, 2)),
        ("long padding", drawn([1, 12, 2], 12, 2, 3)),
        ("a state of one number", drawn([2, 3], 3, 2, 1)),
        ("nothing but padding", drawn([0, 0], 2, 3, 2)),
        ("NaN at padding", lost),
        ("a word whose vector is all zeros", blank),
        ("float64", [one.double() if one.is_floating_point() else one for one in doubled]),
        ("numbers that aren't contiguous in memory", apart),
    ]
    return [Case(about, dict(zip(("x", "mask", "W_x", "W_h", "b"), given, strict=True))) for about, given in inputs]


def right(x, mask, W_x, W_h, b):
    state = x.new_zeros(len(x), len(W_h))
    states = []
    for position in range(x.shape[1]):
        new = RNN_STEP.right(x[:, position], state, W_x, W_h, b)
        state = torch.where(mask[:, position, None], new, state)
        states.append(state)
    return torch.stack(states, 1)


READ_BATCH = Exercise(
    "read_batch",
    "rnn_bottleneck",
    cases,
    right,
    'exercise 2, "at padding a state stays as it is"; glossary.show("recurrent neural network")',
)

MASKED = "torch.where(mask[:, position, None], new, state)"

READ_BATCH.edit(
    "the state keeps changing at padding",
    "Where the mask is False, there is no word to read. What should happen to the state there?",
    (MASKED, "new"),
)
READ_BATCH.edit(
    "padding is read as a vector of zeros",
    "A step changes the state even when the word's vector is all zeros, because W_h and b are still in the sum.",
    ("x[:, position]", "x[:, position] * mask[:, position, None]"),
    (MASKED, "new"),
)
READ_BATCH.edit(
    "the state becomes zero at padding",
    "Then the last column holds nothing of a short sentence. Its state should *stay* as it is.",
    ("states.append(state)", "states.append(state * mask[:, position, None])"),
)
READ_BATCH.edit(
    "the mask is the wrong way round",
    "The mask is True at a word. Where does your code read?",
    ("torch.where(mask", "torch.where(~mask"),
)
READ_BATCH.edit(
    "only the last state is returned",
    "The result holds all the states, one per position. Its shape is (batch, n, d_h).",
    ("torch.stack(states, 1)", "state"),
)
READ_BATCH.edit(
    "the first two axes are swapped",
    "The batch comes first, then the positions. Along which axis do you put the states together?",
    ("torch.stack(states, 1)", "torch.stack(states)"),
)
READ_BATCH.edit(
    "every position holds the last state",
    "Position 1 should hold the state after word 1. Is a state stored at every step, and is it a new tensor each time? "
    "If a list holds one tensor many times, a change to it shows everywhere.",
    ("torch.stack(states, 1)", "torch.stack([state] * len(states), 1)"),
)
READ_BATCH.edit(
    "padding in one sentence stops all of them",
    "Whether a state stays depends only on its own sentence. Does your condition look at the whole batch?",
    (MASKED, "new if mask[:, position].all() else state"),
)
READ_BATCH.edit(
    "the state before the first word is returned too",
    "The result has one state per position. The zeros are where the reading starts, not a state after a word.",
    ("states = []", "states = [state]"),
)
READ_BATCH.edit(
    "each position holds the state before its word",
    "Position 1 should hold the state *after* word 1. Is the state stored before the step or after it?",
    ("states = []", "states = [state]"),
    ("torch.stack(states, 1)", "torch.stack(states[:-1], 1)"),
)

# At padding the state may stay as it is, become zero, or take a step.
for changes in (
    [],
    [("states.append(state)", "states.append(new * mask[:, position, None])")],
    [(MASKED, "new")],
):
    READ_BATCH.edit(
        "each word is read from a state of zeros",
        "Each step starts from the state that the step before it gave. Does your code pass it on?",
        ("state, W_x", "torch.zeros_like(state), W_x"),
        *changes,
    )
for order in ("states[::-1]", "states"):
    READ_BATCH.edit(
        "the sentence is read from right to left",
        "Word 1 should be read first.",
        ("range(x.shape[1])", "reversed(range(x.shape[1]))"),
        ("torch.stack(states", f"torch.stack({order}"),
    )
READ_BATCH.edit("the state does not start from zeros", "What is h_0 in the lesson?", ("new_zeros", "new_ones"))
READ_BATCH.edit(
    "at padding the new state is stored, but the old one is passed on",
    "There are two states at each position: the one that the step gives, and the one that the next step starts from. "
    "Which of the two do you store?",
    ("states.append(state)", "states.append(new)"),
)


@READ_BATCH.misconception(
    "the state of one sentence is carried into the next",
    "Each sentence starts from a state of zeros. Where does your code set the state to zeros?",
)
def one_long_sentence(x, mask, W_x, W_h, b):
    return right(x.flatten(0, 1)[None], mask.flatten()[None], W_x, W_h, b).view(*mask.shape, -1)


READ_BATCH.edit(
    "the mask runs along the state's numbers, not along the sentences",
    "`mask[:, j]` holds one value per *sentence*. Write its shape next to that of the state, aligned from the right. Which "
    "axes meet?",
    ("mask[:, position, None]", "mask[:, position]"),
)
READ_BATCH.edit(
    "the first state has another dtype than x",
    "`x` may be float64, but `torch.zeros` makes float32. How do you make zeros of the same dtype as `x`?",
    ("x.new_zeros", "torch.zeros"),
)

NUMBERS_OFF = RNN_STEP.misconceptions[:12]  # the later ones give another shape or dtype
for index, one in enumerate(NUMBERS_OFF):
    if one.name != "the old state is not used":  # named above: each word is read from a state of zeros
        READ_BATCH.edit(
            "a step differs from that of exercise 1",
            "Does it call your `rnn_step`? Then check that exercise 1 shows ✓, and run its cell again. If you wrote the "
            "step out here, compare it with the formula of exercise 1.",
            ("RNN_STEP.right", f"RNN_STEP.misconceptions[{index}].answer"),
        )
