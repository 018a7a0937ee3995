"""Exercises of lesson 1: the RNN bottleneck."""

import math
from functools import cache

import torch
from torch.nn import functional as F

from course_lib.checks.engine import Case, Exercise, Misconception, Question

BY_HAND = 'lesson 1, "A recurrence, by hand"; glossary.show("recurrent neural network")'
AT_PADDING = 'exercise 2, "at padding a state stays as it is"; glossary.show("recurrent neural network")'
KNOWS = 'lesson 1, "What can a state know?"; glossary.show("jacobian")'
FORCING = 'lesson 1, "Teacher forcing"; glossary.show("teacher forcing")'
LOSS = 'exercise 5, "By hand"; glossary.show("cross-entropy")'
MEMORY = 'lesson 1, "How much fits into a vector?"; glossary.show("bottleneck")'


# ---- rnn_step(x, state, W_x, W_h, b) ----


def step_cases(generator: torch.Generator) -> list[Case]:
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
        ("the numbers of the text", by_hand),
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
        ("numbers that do not lie in order in memory", apart),
    ]
    return [Case(about, dict(zip(("x", "state", "W_x", "W_h", "b"), given, strict=True))) for about, given in inputs]


def drive_step(answer, x, state, W_x, W_h, b):
    given = answer(x, state, W_x, W_h, b)
    if isinstance(given, list | tuple):
        return list(given) if any(getattr(one, "ndim", 0) > 1 for one in given) else "a list"
    return "a NumPy array" if type(given).__module__ == "numpy" else given


def step_right(x, state, W_x, W_h, b):
    return torch.tanh(F.linear(x, W_x, b) + F.linear(state, W_h))


RNN_STEP = Exercise("rnn_step", "rnn_bottleneck", step_cases, step_right, BY_HAND, drive_step)


@RNN_STEP.misconception(
    "the tanh is missing",
    "Without it the state can grow without end. The formula has one more function around the sum.",
)
def no_tanh(x, state, W_x, W_h, b):
    return x @ W_x.T + state @ W_h.T + b


def step_transposed(turn_x, turn_h):
    def answer(x, state, W_x, W_h, b):
        return torch.tanh(x @ (W_x if turn_x else W_x.T) + state @ (W_h if turn_h else W_h.T) + b)

    return answer


TURNED = (
    "In W x every *row* of W meets the word's vector. Here the words are the rows of x: what has to be turned, so "
    "that rows meet rows?"
)

RNN_STEP.misconception("both matrices are transposed", TURNED)(step_transposed(True, True))
RNN_STEP.misconception("W_x is transposed", TURNED)(step_transposed(True, False))
RNN_STEP.misconception(
    "W_h is transposed",
    "W_h is square, so no error tells you. In W_h h every *row* of W_h meets the state, and here the "
    "states are the rows of a matrix too.",
)(step_transposed(False, True))


@RNN_STEP.misconception(
    "the old state is not used", "Then a state knows one word only. What brings in the words before it?"
)
def state_unused(x, state, W_x, W_h, b):
    return torch.tanh(x @ W_x.T + b)


@RNN_STEP.misconception("the bias is missing", "Count the terms of the sum: there are three.")
def no_bias(x, state, W_x, W_h, b):
    return torch.tanh(x @ W_x.T + state @ W_h.T)


OUTSIDE = "The formula has one tanh, and one pair of brackets after it. What stands inside them?"


@RNN_STEP.misconception("the tanh does not cover the whole sum", OUTSIDE)
def tanh_of_the_word(x, state, W_x, W_h, b):
    return torch.tanh(x @ W_x.T) + state @ W_h.T + b


@RNN_STEP.misconception("the tanh does not cover the whole sum", OUTSIDE)
def tanh_of_word_and_bias(x, state, W_x, W_h, b):
    return torch.tanh(x @ W_x.T + b) + state @ W_h.T


@RNN_STEP.misconception("the bias comes after the tanh", OUTSIDE)
def tanh_before_bias(x, state, W_x, W_h, b):
    return torch.tanh(x @ W_x.T + state @ W_h.T) + b


@RNN_STEP.misconception(
    "the logistic function stands in place of tanh",
    "A state may hold negative numbers; the logistic function has none.",
)
def logistic(x, state, W_x, W_h, b):
    return torch.sigmoid(x @ W_x.T + state @ W_h.T + b)


@RNN_STEP.misconception(
    "word and state have changed places",
    "Which matrix belongs to the word, which to the state? Compare their shapes with d_x and d_h.",
)
def exchanged(x, state, W_x, W_h, b):
    return torch.tanh(state @ W_x.T + x @ W_h.T + b)


@RNN_STEP.misconception(
    "the old state is added to the new one", "The formula gives the whole new state, not a change of it."
)
def added_to_the_old(x, state, W_x, W_h, b):
    return state + step_right(x, state, W_x, W_h, b)


@RNN_STEP.misconception(
    "the bias is added along the batch",
    "b has a number for each number of the state, the same for every sentence. Along which axis does yours run?",
)
def bias_along_the_batch(x, state, W_x, W_h, b):
    return torch.tanh(x @ W_x.T + state @ W_h.T + b[:, None])


@RNN_STEP.misconception(
    "the result is (d_h, batch), not (batch, d_h)", "Batch first: one row for each sentence, as in x and state."
)
def batch_last(x, state, W_x, W_h, b):
    return step_right(x, state, W_x, W_h, b).T


@RNN_STEP.misconception(
    "it returns a list, not a tensor",
    "Exercise 2 needs a tensor to go on with: torch.tensor makes one of numbers, torch.stack one of tensors.",
)
def as_list(x, state, W_x, W_h, b):
    return step_right(x, state, W_x, W_h, b).tolist()


@RNN_STEP.misconception(
    "it returns a NumPy array, not a tensor", "Exercise 2 needs a tensor to go on with: torch.from_numpy makes one."
)
def as_array(x, state, W_x, W_h, b):
    return step_right(x, state, W_x, W_h, b).numpy()


# ---- read_batch(x, mask, W_x, W_h, b) ----


def batch_cases(generator: torch.Generator) -> list[Case]:
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


def stays(word, new, old):
    return torch.where(word[:, None], new, old)


def read_states(x, mask, W_x, W_h, b, chosen=stays, start=None, step=step_right):
    """All states, h_0 first; `chosen` picks between the new state and the old one."""
    states = [x.new_zeros(len(x), len(W_h)) if start is None else start]
    for place in range(x.shape[1]):
        states.append(chosen(mask[:, place], step(x[:, place], states[-1], W_x, W_h, b), states[-1]))
    return torch.stack(states, 1)


def batch_right(x, mask, W_x, W_h, b):
    return read_states(x, mask, W_x, W_h, b)[:, 1:]


READ_BATCH = Exercise("read_batch", "rnn_bottleneck", batch_cases, batch_right, AT_PADDING)


@READ_BATCH.misconception(
    "the state goes on changing at padding",
    "Where the mask is False there is no word to read. What should the state be there?",
)
def reads_padding(x, mask, W_x, W_h, b):
    return read_states(x, torch.ones_like(mask), W_x, W_h, b)[:, 1:]


@READ_BATCH.misconception(
    "padding is read as a vector of zeros",
    "A step changes the state even if the word's vector is all zeros: W_h and b are still there.",
)
def reads_zeros(x, mask, W_x, W_h, b):
    return reads_padding(x * mask[..., None], mask, W_x, W_h, b)


@READ_BATCH.misconception(
    "the state becomes zero at padding",
    "Then the last column holds nothing of a short sentence. Its state is to *stay*.",
)
def zero_at_padding(x, mask, W_x, W_h, b):
    return batch_right(x, mask, W_x, W_h, b) * mask[..., None]


@READ_BATCH.misconception("the mask is the wrong way round", "True means that a word stands there.")
def wrong_way_round(x, mask, W_x, W_h, b):
    return batch_right(x, ~mask, W_x, W_h, b)


@READ_BATCH.misconception(
    "only the last state is returned", "All states are wanted, one for each place: (batch, words, d_h)."
)
def only_the_last(x, mask, W_x, W_h, b):
    return batch_right(x, mask, W_x, W_h, b)[:, -1]


@READ_BATCH.misconception("the axes are words × batch", "Batch first. Along which axis do you stack the states?")
def words_first(x, mask, W_x, W_h, b):
    return batch_right(x, mask, W_x, W_h, b).transpose(0, 1)


@READ_BATCH.misconception(
    "every place holds the last state",
    "Place 1 is to hold the state after word 1. Is a state stored at each step, or only at the end? And is it a new "
    "tensor each time? A list that is given one tensor again and again changes with it.",
)
def same_everywhere(x, mask, W_x, W_h, b):
    return only_the_last(x, mask, W_x, W_h, b)[:, None].expand(-1, x.shape[1], -1)


@READ_BATCH.misconception(
    "padding in one sentence stops them all",
    "Each sentence decides for itself whether its state stays. Does your condition look at the whole batch?",
)
def all_stop(x, mask, W_x, W_h, b):
    return read_states(x, mask, W_x, W_h, b, lambda word, new, old: new if word.all() else old)[:, 1:]


@READ_BATCH.misconception(
    "the state before the first word is returned too",
    "There is one state for each place. Zeros are where the reading starts, not a state after a word.",
)
def with_the_start(x, mask, W_x, W_h, b):
    return read_states(x, mask, W_x, W_h, b)


@READ_BATCH.misconception(
    "each place holds the state before its word",
    "Place 1 is to hold the state *after* word 1. Is the state stored before the step, or after it?",
)
def one_behind(x, mask, W_x, W_h, b):
    return read_states(x, mask, W_x, W_h, b)[:, :-1]


FORGOTTEN = "The state that one step gives must be the one that the next step is given."


@READ_BATCH.misconception("each word is read from a state of zeros", FORGOTTEN)
def forgets_keeps_the_last(x, mask, W_x, W_h, b):
    fresh, states = torch.tanh(F.linear(x, W_x, b)), [x.new_zeros(len(x), len(W_h))]
    for place in range(x.shape[1]):
        states.append(torch.where(mask[:, place, None], fresh[:, place], states[-1]))
    return torch.stack(states[1:], 1)


@READ_BATCH.misconception("each word is read from a state of zeros", FORGOTTEN)
def forgets_at_padding_too(x, mask, W_x, W_h, b):
    return torch.tanh(F.linear(x, W_x, b))


@READ_BATCH.misconception("each word is read from a state of zeros", FORGOTTEN)
def forgets(x, mask, W_x, W_h, b):
    states = torch.tanh(F.linear(x, W_x, b))
    return states * mask[..., None]


@READ_BATCH.misconception("the sentence is read from right to left", "Word 1 is the first to be read.")
def backwards(x, mask, W_x, W_h, b):
    return batch_right(x.flip(1), mask.flip(1), W_x, W_h, b).flip(1)


@READ_BATCH.misconception("the sentence is read from right to left", "Word 1 is the first to be read.")
def backwards_in_order_read(x, mask, W_x, W_h, b):
    return batch_right(x.flip(1), mask.flip(1), W_x, W_h, b)


@READ_BATCH.misconception("the state does not start from zeros", "What is h_0 in the lesson?")
def starts_from_ones(x, mask, W_x, W_h, b):
    return read_states(x, mask, W_x, W_h, b, start=x.new_ones(len(x), len(W_h)))[:, 1:]


@READ_BATCH.misconception(
    "at padding the new state is stored, though the old one is kept",
    "Two states are at hand at each place: the one that the step gives, and the one that goes on. Which of the "
    "two do you store?",
)
def stores_the_new(x, mask, W_x, W_h, b):
    before = read_states(x, mask, W_x, W_h, b)[:, :-1]
    return torch.tanh(F.linear(x, W_x, b) + F.linear(before, W_h))


@READ_BATCH.misconception(
    "the state of one sentence is carried into the next",
    "Each sentence starts from zeros. In which loop does your state become zero?",
)
def carried_over(x, mask, W_x, W_h, b):
    rows, state = [], x.new_zeros(1, len(W_h))
    for words, on in zip(x, mask, strict=True):
        rows.append(read_states(words[None], on[None], W_x, W_h, b, start=state)[:, 1:])
        state = rows[-1][:, -1]
    return torch.cat(rows)


@READ_BATCH.misconception(
    "the mask runs along the state's numbers, not along the sentences",
    "mask[:, j] has a value for each *sentence*. Write its shape beside that of the state, and see "
    "which axes meet (from the right).",
)
def mask_over_numbers(x, mask, W_x, W_h, b):
    return read_states(x, mask, W_x, W_h, b, lambda word, new, old: torch.where(word, new, old))[:, 1:]


@READ_BATCH.misconception(
    "the first state has another type of number",
    "x may be float64, and torch.zeros makes float32. How does one make zeros that are like x?",
)
def starts_in_float32(x, mask, W_x, W_h, b):
    return read_states(x, mask, W_x, W_h, b, start=torch.zeros(len(x), len(W_h)))[:, 1:]


def another_step(step):
    return lambda x, mask, W_x, W_h, b: read_states(x, mask, W_x, W_h, b, step=step)[:, 1:]


for step in (
    no_tanh,
    logistic,
    step_transposed(True, True),
    step_transposed(False, True),
    step_transposed(True, False),
    no_bias,
    tanh_of_the_word,
    tanh_of_word_and_bias,
    tanh_before_bias,
    exchanged,
    added_to_the_old,
):
    READ_BATCH.misconception(
        "one step is not that of exercise 1",
        "Does it call your rnn_step? Then: is exercise 1 ✓, and was its cell run after its last change? If the step is "
        "written out here, compare it with the formula of exercise 1.",
    )(another_step(step))


# ---- feels: which state feels which word ----


@cache
def felt() -> list[list[int]]:
    """1 where a derivative ∂h_j/∂x_i is not zero: three words, two places of padding."""
    generator = torch.Generator().manual_seed(0)
    x, W_x, W_h, b = (
        torch.randn(*shape, generator=generator, dtype=torch.float64) for shape in ((1, 5, 3), (4, 3), (4, 4), (4,))
    )
    mask = torch.tensor([[True, True, True, False, False]])
    jacobian = torch.autograd.functional.jacobian(lambda x: batch_right(x, mask, W_x, W_h, b), x)
    return (jacobian[0, :, :, 0].norm(dim=(1, 3)) > 0).int().tolist()


def grid(*rows: str) -> list[list[int]]:
    return [[int(place) for place in row] for row in rows]


OWN_WORD = "The state of row 2 is made from state 1 and word 2. And what was state 1 made from?"
READS = "In what order are words read, and when does word 3 come in? State 1 is finished before that."
PADDED = "At padding read_batch does not use x at all. What can a change of x do there?"

FEELS = Question(
    "feels",
    "rnn_bottleneck",
    felt,
    (
        Misconception(
            "rows and columns have changed places",
            "A row is a state, a column a word. Row 1: what does the state after the first word feel?",
            lambda: [list(row) for row in zip(*felt(), strict=True)],
        ),
        Misconception(
            "rows and columns have changed places",
            "A row is a state, a column a word. Row 1: what does the state after the first word feel?",
            grid("11111", "01111", "00111", "00011", "00001"),
        ),
        Misconception("padding is felt", PADDED, grid("10000", "11000", "11100", "11110", "11111")),
        Misconception(
            "the states at padding feel nothing",
            "A state that stays as it was still holds what it held.",
            grid("10000", "11000", "11100", "00000", "00000"),
        ),
        Misconception(
            "states feel words that they have not read", READS, grid("11100", "11100", "11100", "11100", "11100")
        ),
        Misconception(
            "states feel words that they have not read", READS, grid("11111", "11111", "11111", "11111", "11111")
        ),
        Misconception("a state feels its own word only", OWN_WORD, grid("10000", "01000", "00100", "00100", "00100")),
        Misconception("a state feels its own word only", OWN_WORD, grid("10000", "01000", "00100", "00000", "00000")),
        Misconception("a state feels its own word only", OWN_WORD, grid("10000", "01000", "00100", "00010", "00001")),
        Misconception(
            "a state does not feel its own word",
            "Row 1 is the state *after* word 1 has been read.",
            grid("00000", "10000", "11000", "11100", "11100"),
        ),
        Misconception(
            "a state does not feel its own word",
            "Row 1 is the state *after* word 1 has been read.",
            grid("00000", "10000", "11000", "11000", "11000"),
        ),
        Misconception(
            "a state does not feel its own word",
            "Row 1 is the state *after* word 1 has been read.",
            grid("00000", "10000", "11000", "11100", "11110"),
        ),
        Misconception(
            "the places of padding are missing",
            "There are five places, so five states and five columns.",
            grid("100", "110", "111"),
        ),
        Misconception(
            "the places of padding are missing",
            "There are five places, so five states and five columns.",
            grid("10000", "11000", "11100"),
        ),
        Misconception(
            "each row needs five numbers",
            "One for each place: the last two columns are the places of padding.",
            grid("100", "110", "111", "111", "111"),
        ),
        Misconception(
            "1 and 0 are the wrong way round",
            "1 where the state feels the word, 0 where the derivative is exactly zero.",
            lambda: [[1 - place for place in row] for row in felt()],
        ),
        Misconception(
            "the square holds True and False",
            "The right places; write them as 1 and 0.",
            lambda: [[place == 1 for place in row] for row in felt()],
        ),
    ),
    KNOWS,
)


# ---- teacher_forcing(words) ----


PAD, BOS, EOS = 0, 1, 2


def forcing_cases(generator: torch.Generator) -> list[Case]:
    def drawn(lengths: list[int], places: int) -> torch.Tensor:
        words = torch.randint(3, 30, (len(lengths), places), generator=generator)
        return words * (torch.arange(places) < torch.tensor(lengths)[:, None])

    inputs = [
        ("one sentence, no padding", torch.tensor([[7, 5, 9]])),
        ("a sentence and a shorter one", torch.tensor([[7, 5, 9], [8, 0, 0]])),
        ("one word", drawn([1], 1)),
        ("one sentence with padding", drawn([2], 4)),
        ("as many sentences as places", drawn([3, 1, 2], 3)),
        ("five sentences", drawn([2, 6, 4, 1, 5], 6)),
        ("no sentence fills its row", drawn([3, 2], 5)),
        ("all of one length", drawn([4, 4, 4], 4)),
        ("a sentence that is all padding", drawn([0, 2], 2)),
        ("a word twice in a row", torch.tensor([[6, 6, 6, 0], [6, 6, 0, 0]])),
        ("unknown words (number 3)", torch.tensor([[3, 8, 3], [3, 0, 0]])),
        ("words with large numbers", torch.tensor([[300, 5, 40_000], [128, 70_000, 0]])),
        ("numbers that do not lie in order in memory", drawn([4, 3], 4).T.contiguous().T),
    ]
    return [Case(about, {"words": words}) for about, words in inputs]


def drive_forcing(answer, words):
    import torch

    given = answer(words)
    if isinstance(given, list | tuple) and len(given) == 2:
        try:
            kinds = [torch.as_tensor(one).dtype for one in given]
        except (TypeError, ValueError, RuntimeError):
            return given
        if any(kind.is_floating_point or kind == torch.bool for kind in kinds):
            return "word numbers that are not whole"
    return given


def _beside(words, before, after):
    """A column before the words and one behind them, each if it is given."""
    columns = [words] if before is None else [torch.full_like(words[:, :1], before), words]
    return torch.cat(columns if after is None else [*columns, torch.full_like(words[:, :1], after)], 1)


def _ended(words):
    """Each sentence with its end mark; a column is added for it."""
    wide = _beside(words, None, PAD)
    return wide.scatter(1, (words != PAD).sum(1, keepdim=True), EOS)


def forcing_right(words):
    return _beside(words, BOS, None), _ended(words)


TEACHER_FORCING = Exercise("teacher_forcing", "rnn_bottleneck", forcing_cases, forcing_right, FORCING, drive_forcing)


@TEACHER_FORCING.misconception(
    "the end mark stands behind the padding", "Right for the longest sentence only. Where does a shorter one end?"
)
def end_behind_padding(words):
    return _beside(words, BOS, None), _beside(words, None, EOS)


@TEACHER_FORCING.misconception(
    "the end mark is missing", "What is the decoder to write after the last word? Without it, it never learns to stop."
)
def no_end(words):
    return _beside(words, BOS, None), _beside(words, None, PAD)


@TEACHER_FORCING.misconception(
    "input and target are one word short",
    "A sentence of n words takes n + 1 steps: the last one reads the last word. What is it to write?",
)
def cut_off(words):
    return _beside(words, BOS, None)[:, :-1], words


SAME = "Then the decoder reads the very word that it is to write. What should it have read by then?"


@TEACHER_FORCING.misconception("input and target are the same", SAME)
def no_shift(words):
    return _ended(words), _ended(words)


@TEACHER_FORCING.misconception("input and target are the same", SAME)
def no_shift_begin(words):
    return _beside(words, BOS, None), _beside(words, BOS, None)


@TEACHER_FORCING.misconception("input and target are the same", SAME)
def no_shift_whole(words):
    return _beside(_ended(words), BOS, None), _beside(_ended(words), BOS, None)


@TEACHER_FORCING.misconception("the two have changed places", "First what the decoder reads, then what it is to write.")
def swapped_pair(words):
    return forcing_right(words)[::-1]


@TEACHER_FORCING.misconception(
    "the target holds the begin mark", "The begin mark is read, never written. What is the first word to be written?"
)
def begin_in_target(words):
    return _beside(words, BOS, None), _beside(_ended(words), BOS, None)


@TEACHER_FORCING.misconception(
    "the input of a shorter sentence holds its end mark",
    "Cutting the last column off takes the end mark from the longest sentence only. The input is to "
    "hold no end mark in any row.",
)
def end_in_input(words):
    return _beside(_ended(words), BOS, None)[:, :-1], _ended(words)


@TEACHER_FORCING.misconception(
    "the input holds the end mark", "After the end mark nothing more is written, so it is never read."
)
def end_in_every_input(words):
    return _beside(_ended(words), BOS, None), _ended(words)


@TEACHER_FORCING.misconception(
    "the input has no begin mark", "What can the decoder read at its first step, before it has written anything?"
)
def no_begin(words):
    return words, _ended(words)[:, 1:]


def no_begin_and_longer(words):
    return _beside(words, None, PAD), _ended(words)


def no_begin_and_shorter(words):
    return words, _ended(words)


for answer in (no_begin_and_longer, no_begin_and_shorter):
    TEACHER_FORCING.misconception(
        "the input has no begin mark", "What can the decoder read at its first step, before it has written anything?"
    )(answer)


@TEACHER_FORCING.misconception(
    "begin and end mark have changed places",
    "Which number is the begin mark, and which one the end mark? The text of the exercise says it.",
)
def marks_swapped(words):
    reads, writes = forcing_right(words)
    return reads.where(reads != BOS, EOS), writes.where(writes != EOS, BOS)


def end_too_far(words):
    target = _beside(words, None, PAD)
    target[torch.arange(len(words)), (words != PAD).sum(1) + 1] = EOS
    return _beside(words, BOS, None), target


def end_too_far_where_it_fits(words):
    wide = _beside(words, None, PAD).repeat(1, 2)
    wide[:, words.shape[1] :] = PAD
    wide = wide.scatter(1, (words != PAD).sum(1, keepdim=True) + 1, EOS)
    return _beside(words, BOS, None), wide[:, : words.shape[1] + 1]


for answer in (end_too_far, end_too_far_where_it_fits):
    TEACHER_FORCING.misconception(
        "the end mark stands one place too far",
        "Places are counted from 0. In a sentence of one word, at which place does that word stand, and at "
        "which the end mark?",
    )(answer)


@TEACHER_FORCING.misconception(
    "each row has the end marks of all rows",
    "t[:, places] sets these places in *every* row. One place in each row is wanted: which row goes with which place?",
)
def ends_of_all_rows(words):
    target = _beside(words, None, PAD)
    target[:, (words != PAD).sum(1)] = EOS
    return _beside(words, BOS, None), target


@TEACHER_FORCING.misconception(
    "the rows are of unequal length", "A tensor is a rectangle. With what is a shorter row to be filled up?"
)
def uneven(words):
    rows = [[word for word in row if word != PAD] for row in words.tolist()]
    return [[BOS, *row] for row in rows], [[*row, EOS] for row in rows]


@TEACHER_FORCING.misconception(
    "the end mark replaces the last word",
    "Compare a row of your target with its sentence: is every word still there? Count places from 0.",
)
def end_over_last_word(words):
    target = _beside(words, None, PAD)
    return _beside(words, BOS, None), target.scatter(1, ((words != PAD).sum(1, keepdim=True) - 1).clamp(min=0), EOS)


@TEACHER_FORCING.misconception("the end mark fills the padding", "One end mark in each row; behind it padding.")
def end_everywhere(words):
    target = _beside(words, None, PAD)
    return _beside(words, BOS, None), target.where(target != PAD, EOS)


@TEACHER_FORCING.misconception(
    "the word numbers are not whole numbers",
    "An embedding table is read with whole numbers. Which dtype do torch.zeros and torch.ones give, "
    "and which has words?",
)
def in_floats(words):
    return tuple(one.float() for one in forcing_right(words))


# ---- loss_per_word(logits, words, mask) ----


def loss_cases(generator: torch.Generator) -> list[Case]:
    def drawn(lengths: list[int], places: int, size: int, scale: float = 1.0) -> list[torch.Tensor]:
        mask = torch.arange(places) < torch.tensor(lengths)[:, None]
        words = torch.randint(1, size, mask.shape, generator=generator) * mask
        return [scale * torch.randn(*mask.shape, size, generator=generator), words, mask]

    certain = drawn([3], 3, 4)
    certain[0][0, 1] = -1000 * F.one_hot(certain[1][0, 1], 4)  # a probability of e^-1000: float64 has none either
    behind = drawn([2, 3], 3, 3)
    behind[0][0, 2] = torch.tensor([-150.0, 0.0, 150.0])  # at padding, whose number is 0
    told, zero, raised = drawn([2], 3, 3), drawn([2], 2, 3), drawn([2], 2, 3)
    told[1][0, 2], zero[1][0, 0] = 1, 0
    level, hole = drawn([3], 3, 4), drawn([3, 3], 3, 4)
    level[0][0, 1] += 1000
    hole[2][0, 1] = False
    doubled, apart = drawn([2, 3], 3, 4), drawn([3, 2, 1, 3], 3, 4)
    apart[0] = torch.randn(4, 3, 4, generator=generator).permute(2, 1, 0)
    equal = [doubled[0].clone(), *doubled[1:]]
    equal[0][0, 1] = 0
    inputs = [
        ("one sentence of two words", drawn([2], 2, 3)),
        ("two words and one place of padding", drawn([2], 3, 3)),
        ("two sentences, one shorter", drawn([3, 1], 3, 4)),
        ("a word's number at padding", told),
        ("a word whose number is 0", zero),
        ("a word all of whose scores are 0", equal),
        ("four sentences", drawn([6, 2, 1, 4], 6, 7)),
        ("as many sentences as places and as words of the vocabulary", drawn([1, 3, 2], 3, 3)),
        ("a single word", drawn([1], 1, 5)),
        ("a right word of very low score", certain),
        ("large scores at padding", behind),
        ("scores of one word far above those of the next", level),
        ("padding between words", hole),
        ("all scores + 100", [raised[0] + 100, *raised[1:]]),
        ("a sentence that is all padding", drawn([2, 0, 3], 3, 6)),
        ("float64", [doubled[0].double(), *doubled[1:]]),
        ("numbers that do not lie in order in memory", apart),
    ]
    return [Case(about, dict(zip(("logits", "words", "mask"), given, strict=True))) for about, given in inputs]


def loss_right(logits, words, mask):
    return F.cross_entropy(logits[mask], words[mask])


LOSS_PER_WORD = Exercise("loss_per_word", "rnn_bottleneck", loss_cases, loss_right, LOSS)


def each_loss(logits, words, axis=-1):
    return -logits.log_softmax(axis).gather(-1, words[..., None])[..., 0]


def averaged(average, probability=None):
    """An average of the losses of all places; with `probability`, the log of a probability that was computed first."""

    def answer(logits, words, mask):
        if probability is None:
            return average(each_loss(logits, words), mask)
        return average(-probability(logits).gather(-1, words[..., None])[..., 0].log(), mask)

    return answer


def exponentials(logits):
    return logits.exp() / logits.exp().sum(-1, keepdim=True)


def softmax(logits):
    return logits.softmax(-1)


def over_words(loss, mask):
    return (loss * mask).sum() / mask.sum()


def over_chosen(loss, mask):
    return loss[mask].mean()


ROUNDED = (
    "The softmax of a very low score rounds to 0 in float32 (of a still lower one in float64 too), and exp(100) is too "
    "large for it. Which function of torch gives the *log* of a softmax in one go?"
)

for probability in (softmax, exponentials):
    for average in (over_words, over_chosen):
        LOSS_PER_WORD.misconception("the log is taken of a probability that rounds to 0 or is NaN", ROUNDED)(
            averaged(average, probability)
        )


def over_all_places(loss, mask):
    return (loss * mask).mean()


COUNTED = "The padding's terms are 0, but they are still counted. By what is the sum to be divided?"
for probability in (None, softmax, exponentials):
    LOSS_PER_WORD.misconception("the places of padding are counted in the average", COUNTED)(
        averaged(over_all_places, probability)
    )


def not_left_out(loss, mask):
    return loss.mean()


for probability in (None, softmax, exponentials):
    LOSS_PER_WORD.misconception(
        "the padding is not left out",
        "Where the mask is False there is no word, so there is no loss. Look at what is multiplied, or "
        "picked, before the average.",
    )(averaged(not_left_out, probability))


def raised_by(small):
    def answer(logits, words, mask):
        right = logits.softmax(-1).gather(-1, words[..., None])[..., 0]
        return over_chosen(-(right + small).log(), mask)

    return answer


def at_least(small):
    def answer(logits, words, mask):
        right = logits.softmax(-1).gather(-1, words[..., None])[..., 0]
        return over_chosen(-right.clamp(min=small).log(), mask)

    return answer


for small in (1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-12, 1e-15, 1e-16, 1e-20, 1e-30):
    for form in (raised_by, at_least):
        LOSS_PER_WORD.misconception(
            "a small number hides that a probability rounds to 0",
            "Then no loss can be larger than minus the log of that number, however wrong the model is. " + ROUNDED,
        )(form(small))


def sentence_by_sentence(loss, mask):
    return ((loss * mask).sum(1) / mask.sum(1).clamp(min=1)).mean()


EACH = (
    "A word of a short sentence then weighs more than one of a long sentence. Average over all words of the batch "
    "at once."
)

LOSS_PER_WORD.misconception("each sentence is averaged alone", EACH)(averaged(sentence_by_sentence))


def sentence_by_sentence_nan(loss, mask):
    return ((loss * mask).sum(1) / mask.sum(1)).mean()


LOSS_PER_WORD.misconception("each sentence is averaged alone", EACH)(averaged(sentence_by_sentence_nan))


def over_sentences(loss, mask):
    return (loss * mask).sum() / len(loss)


LOSS_PER_WORD.misconception(
    "the sum is divided by the number of sentences", "The loss is one of a *word*. How many words are there?"
)(averaged(over_sentences))


def summed(loss, mask):
    return loss[mask].sum()


LOSS_PER_WORD.misconception(
    "the losses are summed, not averaged",
    "A batch of more words would have a larger loss, though the model is no worse.",
)(averaged(summed))


def of_padding(loss, mask):
    return loss[~mask].mean()


LOSS_PER_WORD.misconception(
    "the mask is the wrong way round", "True means that a word stands there. Yours averages over the padding."
)(averaged(of_padding))


@LOSS_PER_WORD.misconception(
    "the softmax is taken twice", "Cross-entropy functions of torch want scores, and take the softmax themselves."
)
def softmax_twice(logits, words, mask):
    return over_chosen(each_loss(logits.softmax(-1), words), mask)


@LOSS_PER_WORD.misconception(
    "the softmax runs over the places of the sentence",
    "At each place the probabilities of all words of the vocabulary sum to 1. Which axis is that?",
)
def over_places(logits, words, mask):
    return over_chosen(each_loss(logits, words, 1), mask)


@LOSS_PER_WORD.misconception(
    "padding is told by the number 0, not by the mask",
    "At padding words may hold any number, and 0 may be the number of a word. What tells the two apart?",
)
def padding_by_number(logits, words, mask):
    return F.cross_entropy(logits.flatten(0, 1), words.flatten(), ignore_index=PAD)


def of_exponentials(average):
    def answer(logits, words, mask):
        right = logits.gather(-1, words[..., None])[..., 0]
        return average(logits.exp().sum(-1).log() - right, mask)

    return answer


for average in (over_words, over_chosen):
    LOSS_PER_WORD.misconception(
        "exp of a large score is infinite",
        "exp(100) is too large for float32. Is there a function of torch that gives the log of a sum of exp in one go?",
    )(of_exponentials(average))


@LOSS_PER_WORD.misconception(
    "the largest score is that of the whole batch, not of the place",
    "Far below it, every exponential of a place rounds to 0. Is there a function of torch that does all this?",
)
def one_largest(logits, words, mask):
    scores, right = logits[mask], words[mask]
    powers = (scores - scores.max()).exp().sum(-1).log() + scores.max()
    return (powers - scores.gather(-1, right[:, None])[:, 0]).mean()


@LOSS_PER_WORD.misconception(
    "the scores are taken for log-probabilities",
    "F.nll_loss, and a formula with -log p, want the log of a probability. What makes probabilities of scores?",
)
def raw(logits, words, mask):
    return -logits.gather(-1, words[..., None])[..., 0][mask].mean()


def of_base(base):
    return lambda logits, words, mask: loss_right(logits, words, mask) / math.log(base)


for base in (2, 10):
    LOSS_PER_WORD.misconception(
        "the log is not the natural one", "The loss is asked for in nats: the log to the base e."
    )(of_base(base))


@LOSS_PER_WORD.misconception("the sign is wrong", "The log of a probability is negative; a loss is not.")
def without_sign(logits, words, mask):
    return -loss_right(logits, words, mask)


# ---- words_held_64, words_held_256: what can be read back from a state ----


@cache
def shares_read(size: int, scale: float = 0.3, places: int = 20) -> list[float]:
    """The share of words that a linear map reads back from the last state of a random network, the last word first."""
    vocabulary, sentences = 16, 4000
    generator = torch.Generator().manual_seed(0)
    W_h = torch.linalg.qr(torch.randn(size, size, generator=generator))[0]
    W_x = scale * torch.randn(size, vocabulary, generator=generator)
    words = torch.randint(vocabulary, (sentences, places), generator=generator)
    state = torch.zeros(sentences, size)
    for word in words.unbind(1):
        state = torch.tanh(W_x.T[word] + state @ W_h.T)
    wanted, half = F.one_hot(words, vocabulary).float(), sentences // 2
    reader = torch.linalg.lstsq(state[:half], wanted[:half].flatten(1)).solution
    read = (state[half:] @ reader).view(half, places, vocabulary).argmax(-1)
    return (read == words[half:]).float().mean(0).flip(0).tolist()


def held(size: int, scale: float = 0.3, places: int = 20) -> int:
    """How many words, counted from the last, are read back right in at least half of the sentences."""
    return next(number for number, share in enumerate(shares_read(size, scale, places)) if share < 0.5)


def question(name: str, size: int, others: tuple[Misconception, ...], dotted: tuple[int, ...]) -> Question:
    return Question(
        name,
        "rnn_bottleneck",
        lambda: held(size),
        (
            *others,
            Misconception(
                "perhaps the count starts at 0",
                "The last word is word 1 of the count, as on the axis. How many points lie on the line or above it?",
                lambda: held(size) - 1,
            ),
            Misconception(
                "perhaps the first word below one half is counted too",
                "Only words whose point lies on the dashed line or above it count.",
                lambda: held(size) + 1,
            ),
            *(
                Misconception(
                    "that is about where the curve meets the dotted line",
                    "The dotted line is what guessing gives. One half is the dashed line.",
                    number,
                )
                for number in dotted
            ),
        ),
        MEMORY,
        tolerance=0.1,
    )


WORDS_HELD_64 = question(
    "words_held_64",
    64,
    (
        Misconception(
            "that is the number of numbers in the state",
            "Count words: how far does the curve of 64 numbers stay above the dashed line?",
            64,
        ),
        Misconception("that is the curve of 256 numbers", "Look at the legend.", lambda: held(256)),
    ),
    (15, 16, 17, 18, 19, 20),
)

WORDS_HELD_256 = question(
    "words_held_256",
    256,
    (
        Misconception(
            "four times the words were expected, and were not measured",
            "Four times the numbers need not hold four times the words. Read the figure.",
            lambda: 4 * held(64),
        ),
        Misconception("that is the curve of 64 numbers", "Look at the legend.", lambda: held(64)),
        Misconception("those are all words of the sentence", "How far does the curve stay above the dashed line?", 20),
    ),
    (),
)

WORDS_HELD_SOFTLY = Question(
    "words_held_softly",
    "rnn_bottleneck",
    lambda: held(256, 0.1, 40),
    (
        Misconception(
            "the sentence ends before the curve reaches one half",
            "If all words of the sentence are held, it was too short to tell. shares_read has one more argument.",
            20,
        ),
        Misconception(
            "that is the count with the scale of 0.3", "Is the scale handed on to shares_read?", lambda: held(256)
        ),
        Misconception("that is a state of 64 numbers", "The question is about 256 numbers.", lambda: held(64, 0.1, 40)),
        Misconception(
            "that is the count with a scale of 1",
            "Look at the scale: this time the words are put in more softly.",
            lambda: held(256, 1.0),
        ),
    ),
    MEMORY,
    tolerance=2.0,  # words more or fewer: other numbers of places give as much
)

ASKED = [RNN_STEP, READ_BATCH, FEELS, TEACHER_FORCING, LOSS_PER_WORD, WORDS_HELD_64, WORDS_HELD_256, WORDS_HELD_SOFTLY]
