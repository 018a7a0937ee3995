"""teacher_forcing(words): what the decoder reads, <bos> and the words, and what it should write, the words and <eos>."""

import torch
from torch.nn import functional as F

from course_lib.checks.engine import Case, Exercise

PAD, BOS, EOS = 0, 1, 2


def cases(generator: torch.Generator) -> list[Case]:
    def drawn(lengths: list[int], positions: int) -> torch.Tensor:
        words = torch.randint(3, 30, (len(lengths), positions), generator=generator)
        return words * (torch.arange(positions) < torch.tensor(lengths)[:, None])

    inputs = [
        ("one sentence, no padding", torch.tensor([[7, 5, 9]])),
        ("a sentence and a shorter one", torch.tensor([[7, 5, 9], [8, 0, 0]])),
        ("one word", drawn([1], 1)),
        ("one sentence with padding", drawn([2], 4)),
        ("as many sentences as positions", drawn([3, 1, 2], 3)),
        ("five sentences", drawn([2, 6, 4, 1, 5], 6)),
        ("no sentence fills its row", drawn([3, 2], 5)),
        ("all sentences of the same length", drawn([4, 4, 4], 4)),
        ("a sentence that is all padding", drawn([0, 2], 2)),
        ("a word twice in a row", torch.tensor([[6, 6, 6, 0], [6, 6, 0, 0]])),
        ("unknown words (number 3)", torch.tensor([[3, 8, 3], [3, 0, 0]])),
        ("words with large numbers", torch.tensor([[300, 5, 40_000], [128, 70_000, 0]])),
        ("numbers that aren't contiguous in memory", drawn([4, 3], 4).T.contiguous().T),
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
            return "word numbers that are not whole numbers"
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
    "the end mark comes after the padding",
    "That is correct only for a sentence that fills its row. Where does a shorter one end?",
    (END, "writes[:, -1] = EOS"),
)
TEACHER_FORCING.edit(
    "the end mark is missing",
    "What should the decoder write after the last word? Without an end mark it never learns to stop.",
    (END, ""),
)
TEACHER_FORCING.edit(
    "the last step is missing",
    "A sentence of n words takes n + 1 steps. In the last step the decoder reads the last word. What should it write?",
    (RETURNED, "return reads[:, :-1], words"),
)
for same in ("writes", "reads", "F.pad(writes, (1, 0), value=BOS)"):
    TEACHER_FORCING.edit(
        "both results are the same",
        "Then the decoder reads the very word that it should write. Which word should it read instead?",
        (RETURNED, f"return {same}, {same}"),
    )
TEACHER_FORCING.edit(
    "the two results are swapped",
    "The first result is what the decoder reads, and the second is what it should write.",
    (RETURNED, "return writes, reads"),
)
TEACHER_FORCING.edit(
    "the second result holds the begin mark",
    "The begin mark is read, but it is never written. What should the decoder write first?",
    (RETURNED, "return reads, F.pad(writes, (1, 0), value=BOS)"),
)
TEACHER_FORCING.edit(
    "the first result holds the end mark of a shorter sentence",
    "The decoder never reads an end mark, in any row. If you cut off the last column, from which sentences does that take "
    "the end mark?",
    (RETURNED, "return F.pad(writes, (1, 0), value=BOS)[:, :-1], writes"),
)
TEACHER_FORCING.edit(
    "the first result holds the end mark",
    "Nothing is written after the end mark, so the decoder never reads it.",
    (RETURNED, "return F.pad(writes, (1, 0), value=BOS), writes"),
)
for returned in ("words, writes[:, 1:]", "F.pad(words, (0, 1), value=PAD), writes", "words, writes"):
    TEACHER_FORCING.edit(
        "the first result has no begin mark",
        "What can the decoder read at its first step, before it has written anything?",
        (RETURNED, f"return {returned}"),
    )
TEACHER_FORCING.edit(
    "the begin mark and the end mark are swapped",
    "Which number is the begin mark, and which is the end mark? The text of the exercise says it.",
    ("BOS", "EOS"),
    ("lengths] = EOS", "lengths] = BOS"),
)

TOO_FAR = (
    "We count positions from 0. In a sentence of one word, at which position is the word? And at which position is the end "
    "mark?"
)
TEACHER_FORCING.edit("the end mark is one position too far to the right", TOO_FAR, ("lengths] =", "lengths + 1] ="))
TEACHER_FORCING.edit(
    "the end mark is one position too far to the right",
    TOO_FAR,
    ("lengths] =", "lengths + 1] ="),
    ("(0, 1)", "(0, 2)"),
    (RETURNED, "return reads, writes[:, :-1]"),  # where it does not fit, it is left out
)
TEACHER_FORCING.edit(
    "each row has the end marks of all rows",
    "Do you set one position in each row, or all of them in every row? `t[:, positions]` takes these positions in *every* "
    "row.",
    (END, "writes[:, lengths] = EOS"),
)


@TEACHER_FORCING.misconception(
    "the rows differ in length", "A tensor is a rectangle. What should a shorter row be filled up with?"
)
def uneven(words):
    rows = [[word for word in row if word != PAD] for row in words.tolist()]
    return [[BOS, *row] for row in rows], [[*row, EOS] for row in rows]


TEACHER_FORCING.edit(
    "the end mark replaces the last word",
    "Compare a row of your second result with its sentence. Is every word still there? We count positions from 0.",
    ("lengths] =", "(lengths - 1).clamp(min=0)] ="),
)
TEACHER_FORCING.edit(
    "the end mark fills the padding",
    "Each row has one end mark, and after it only padding.",
    (END, "writes[writes == PAD] = EOS"),
)
TEACHER_FORCING.edit(
    "the word numbers are not whole numbers",
    "An embedding table needs whole numbers. Which dtype do `torch.zeros` and `torch.ones` give, and which dtype does "
    "`words` have?",
    (RETURNED, "return reads.float(), writes.float()"),
)
