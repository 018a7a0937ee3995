"""teacher_forcing(words): what the decoder reads, <bos> and the words, and what it is to write, the words and <eos>."""

import torch
from torch.nn import functional as F

from course_lib.checks.engine import Case, Exercise

PAD, BOS, EOS = 0, 1, 2


def cases(generator: torch.Generator) -> list[Case]:
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


def right(words):
    reads = F.pad(words, (1, 0), value=BOS)
    writes = F.pad(words, (0, 1), value=PAD)
    lengths = (words != PAD).sum(1)
    writes[torch.arange(len(words)), lengths] = EOS
    return reads, writes


def drive(answer, words):
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


TEACHER_FORCING = Exercise(
    "teacher_forcing",
    "rnn_bottleneck",
    cases,
    right,
    'lesson 1, "Teacher forcing"; glossary.show("teacher forcing")',
    drive,
)

END = "writes[torch.arange(len(words)), lengths] = EOS"
RETURNED = "return reads, writes"

TEACHER_FORCING.edit(
    "the end mark stands behind the padding",
    "Right for the longest sentence only. Where does a shorter one end?",
    (END, "writes[:, -1] = EOS"),
)
TEACHER_FORCING.edit(
    "the end mark is missing",
    "What is the decoder to write after the last word? Without it, it never learns to stop.",
    (END, ""),
)
TEACHER_FORCING.edit(
    "input and target are one word short",
    "A sentence of n words takes n + 1 steps: the last one reads the last word. What is it to write?",
    (RETURNED, "return reads[:, :-1], words"),
)
for same in ("writes", "reads", "F.pad(writes, (1, 0), value=BOS)"):
    TEACHER_FORCING.edit(
        "input and target are the same",
        "Then the decoder reads the very word that it is to write. What should it have read by then?",
        (RETURNED, f"return {same}, {same}"),
    )
TEACHER_FORCING.edit(
    "the two have changed places",
    "First what the decoder reads, then what it is to write.",
    (RETURNED, "return writes, reads"),
)
TEACHER_FORCING.edit(
    "the target holds the begin mark",
    "The begin mark is read, never written. What is the first word to be written?",
    (RETURNED, "return reads, F.pad(writes, (1, 0), value=BOS)"),
)
TEACHER_FORCING.edit(
    "the input of a shorter sentence holds its end mark",
    "Cutting the last column off takes the end mark from the longest sentence only. The input is to "
    "hold no end mark in any row.",
    (RETURNED, "return F.pad(writes, (1, 0), value=BOS)[:, :-1], writes"),
)
TEACHER_FORCING.edit(
    "the input holds the end mark",
    "After the end mark nothing more is written, so it is never read.",
    (RETURNED, "return F.pad(writes, (1, 0), value=BOS), writes"),
)
for returned in ("words, writes[:, 1:]", "F.pad(words, (0, 1), value=PAD), writes", "words, writes"):
    TEACHER_FORCING.edit(
        "the input has no begin mark",
        "What can the decoder read at its first step, before it has written anything?",
        (RETURNED, f"return {returned}"),
    )
TEACHER_FORCING.edit(
    "begin and end mark have changed places",
    "Which number is the begin mark, and which one the end mark? The text of the exercise says it.",
    ("BOS", "EOS"),
    ("lengths] = EOS", "lengths] = BOS"),
)

TOO_FAR = (
    "Places are counted from 0. In a sentence of one word, at which place does that word stand, and at "
    "which the end mark?"
)
TEACHER_FORCING.edit("the end mark stands one place too far", TOO_FAR, ("lengths] =", "lengths + 1] ="))
TEACHER_FORCING.edit(
    "the end mark stands one place too far",
    TOO_FAR,
    ("lengths] =", "lengths + 1] ="),
    ("(0, 1)", "(0, 2)"),
    (RETURNED, "return reads, writes[:, :-1]"),  # left out where it does not fit
)
TEACHER_FORCING.edit(
    "each row has the end marks of all rows",
    "t[:, places] sets these places in *every* row. One place in each row is wanted: which row goes with which place?",
    (END, "writes[:, lengths] = EOS"),
)


@TEACHER_FORCING.misconception(
    "the rows are of unequal length", "A tensor is a rectangle. With what is a shorter row to be filled up?"
)
def uneven(words):
    rows = [[word for word in row if word != PAD] for row in words.tolist()]
    return [[BOS, *row] for row in rows], [[*row, EOS] for row in rows]


TEACHER_FORCING.edit(
    "the end mark replaces the last word",
    "Compare a row of your target with its sentence: is every word still there? Count places from 0.",
    ("lengths] =", "(lengths - 1).clamp(min=0)] ="),
)
TEACHER_FORCING.edit(
    "the end mark fills the padding",
    "One end mark in each row; behind it padding.",
    (END, "writes[writes == PAD] = EOS"),
)
TEACHER_FORCING.edit(
    "the word numbers are not whole numbers",
    "An embedding table is read with whole numbers. Which dtype do torch.zeros and torch.ones give, "
    "and which has words?",
    (RETURNED, "return reads.float(), writes.float()"),
)
