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
        ("one word and one place of padding", drawn([1], 2, 2, 2)),
        ("two sentences, the second shorter", drawn([3, 1], 3, 3, 2)),
        ("two sentences, the first shorter", drawn([1, 4], 4, 1, 2)),
        ("as many sentences as words and as numbers", drawn([2, 3, 1], 3, 3, 3)),
        ("four sentences", drawn([5, 2, 4, 3], 5, 6, 4)),
        ("as many places as sentences, all full", drawn([4, 4, 4, 4], 4, 2, 3)),
        ("a batch of one word each", drawn([1, 1, 1], 1, 2, 3)),
        ("a sentence that is all padding", drawn([2, 0], 3, 3, 2)),
        ("long padding", drawn([1, 12, 2], 12, 2, 3)),
        ("a state of one number", drawn([2, 3], 3, 2, 1)),
        ("nothing but padding", drawn([0, 0], 2, 3, 2)),
        ("NaN at padding", lost),
        ("a word whose vector is all zeros", blank),
        ("float64", [one.double() if one.is_floating_point() else one for one in doubled]),
        ("numbers that do not lie in order in memory", apart),
    ]
    return [Case(about, dict(zip(("x", "mask", "W_x", "W_h", "b"), given, strict=True))) for about, given in inputs]


def right(x, mask, W_x, W_h, b):
    state = x.new_zeros(len(x), len(W_h))
    states = []
    for place in range(x.shape[1]):
        new = RNN_STEP.right(x[:, place], state, W_x, W_h, b)
        state = torch.where(mask[:, place, None], new, state)
        states.append(state)
    return torch.stack(states, 1)


READ_BATCH = Exercise(
    "read_batch",
    "rnn_bottleneck",
    cases,
    right,
    'exercise 2, "at padding a state stays as it is"; glossary.show("recurrent neural network")',
)

MASKED = "torch.where(mask[:, place, None], new, state)"

READ_BATCH.edit(
    "the state goes on changing at padding",
    "Where the mask is False there is no word to read. What should the state be there?",
    (MASKED, "new"),
)
READ_BATCH.edit(
    "padding is read as a vector of zeros",
    "A step changes the state even if the word's vector is all zeros: W_h and b are still there.",
    ("x[:, place]", "x[:, place] * mask[:, place, None]"),
    (MASKED, "new"),
)
READ_BATCH.edit(
    "the state becomes zero at padding",
    "Then the last column holds nothing of a short sentence. Its state is to *stay*.",
    ("states.append(state)", "states.append(state * mask[:, place, None])"),
)
READ_BATCH.edit(
    "the mask is the wrong way round", "True means that a word stands there.", ("torch.where(mask", "torch.where(~mask")
)
READ_BATCH.edit(
    "only the last state is returned",
    "All states are wanted, one for each place: (batch, words, d_h).",
    ("torch.stack(states, 1)", "state"),
)
READ_BATCH.edit(
    "the axes are words × batch",
    "Batch first. Along which axis do you stack the states?",
    ("torch.stack(states, 1)", "torch.stack(states)"),
)
READ_BATCH.edit(
    "every place holds the last state",
    "Place 1 is to hold the state after word 1. Is a state stored at each step, or only at the end? And is it a new "
    "tensor each time? A list that is given one tensor again and again changes with it.",
    ("torch.stack(states, 1)", "torch.stack([state] * len(states), 1)"),
)
READ_BATCH.edit(
    "padding in one sentence stops them all",
    "Each sentence decides for itself whether its state stays. Does your condition look at the whole batch?",
    (MASKED, "new if mask[:, place].all() else state"),
)
READ_BATCH.edit(
    "the state before the first word is returned too",
    "There is one state for each place. Zeros are where the reading starts, not a state after a word.",
    ("states = []", "states = [state]"),
)
READ_BATCH.edit(
    "each place holds the state before its word",
    "Place 1 is to hold the state *after* word 1. Is the state stored before the step, or after it?",
    ("states = []", "states = [state]"),
    ("torch.stack(states, 1)", "torch.stack(states[:-1], 1)"),
)

# The state before may be kept at padding, or zeros, or the step is done there too.
for changes in (
    [],
    [("states.append(state)", "states.append(new * mask[:, place, None])")],
    [(MASKED, "new")],
):
    READ_BATCH.edit(
        "each word is read from a state of zeros",
        "The state that one step gives must be the one that the next step is given.",
        ("state, W_x", "torch.zeros_like(state), W_x"),
        *changes,
    )
for order in ("states[::-1]", "states"):
    READ_BATCH.edit(
        "the sentence is read from right to left",
        "Word 1 is the first to be read.",
        ("range(x.shape[1])", "reversed(range(x.shape[1]))"),
        ("torch.stack(states", f"torch.stack({order}"),
    )
READ_BATCH.edit("the state does not start from zeros", "What is h_0 in the lesson?", ("new_zeros", "new_ones"))
READ_BATCH.edit(
    "at padding the new state is stored, though the old one is kept",
    "Two states are at hand at each place: the one that the step gives, and the one that goes on. Which of the "
    "two do you store?",
    ("states.append(state)", "states.append(new)"),
)


@READ_BATCH.misconception(
    "the state of one sentence is carried into the next",
    "Each sentence starts from zeros. In which loop does your state become zero?",
)
def one_long_sentence(x, mask, W_x, W_h, b):
    return right(x.flatten(0, 1)[None], mask.flatten()[None], W_x, W_h, b).view(*mask.shape, -1)


READ_BATCH.edit(
    "the mask runs along the state's numbers, not along the sentences",
    "mask[:, j] has a value for each *sentence*. Write its shape beside that of the state, and see "
    "which axes meet (from the right).",
    ("mask[:, place, None]", "mask[:, place]"),
)
READ_BATCH.edit(
    "the first state has another type of number",
    "x may be float64, and torch.zeros makes float32. How does one make zeros that are like x?",
    ("x.new_zeros", "torch.zeros"),
)

NUMBERS_OFF = RNN_STEP.misconceptions[:12]  # the later ones give another shape or type
for place, one in enumerate(NUMBERS_OFF):
    if one.name != "the old state is not used":  # which is named above: from a state of zeros
        READ_BATCH.edit(
            "one step is not that of exercise 1",
            "Does it call your rnn_step? Then: is exercise 1 ✓, and was its cell run after its last change? If the step "
            "is written out here, compare it with the formula of exercise 1.",
            ("RNN_STEP.right", f"RNN_STEP.misconceptions[{place}].answer"),
        )
