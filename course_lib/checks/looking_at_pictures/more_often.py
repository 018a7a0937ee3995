"""`more_often(...)`: how much more often the cell that is looked at costs most, with attention than in the control."""

import torch

from course_lib.checks.engine import Case, Exercise
from course_lib.checks.looking_at_pictures.drawn import some

NAMES = "costliest", "costliest_control", "looked", "correct", "correct_control"


def cases(generator: torch.Generator) -> list[Case]:
    def flags(batch: int, words: int, share: float) -> torch.Tensor:
        return torch.rand(batch, words, generator=generator) < share

    def given(batch: int, words: int, ours: float = 0.7, theirs: float = 0.4, able: float = 0.6) -> list[torch.Tensor]:
        """About a share `ours` of the words loses most at the cell looked at, `theirs` in the control."""
        looked, *elsewhere = torch.randint(9, (3, batch, words), generator=generator)
        hit = [
            torch.where(flags(batch, words, share), looked, cell)
            for share, cell in zip((ours, theirs), elsewhere, strict=True)
        ]
        correct = [flags(batch, words, share) for share in (0.8, able)]
        for one in correct:
            one[0, 0] = True
        return [*hit, looked, *correct]

    by_hand = [
        torch.tensor([[4, 2, 7], [1, 5, 8]]),
        torch.tensor([[4, 6, 7], [0, 5, 3]]),
        torch.tensor([[4, 2, 3], [1, 5, 8]]),
        torch.tensor([[True, True, True], [True, True, False]]),
        torch.tensor([[True, True, False], [True, False, True]]),
    ]
    lacking, all_lost = given(3, 5), given(4, 4)
    lacking[4][1] = False
    all_lost[3][2], all_lost[4][3] = False, False
    inputs = [
        ("two pictures, three words each", by_hand),
        ("more words", given(2, 8)),
        ("a picture without a word that both get right", lacking),
        ("two pictures without a word that both get right", all_lost),
        ("the same share with and without attention", [by_hand[0], by_hand[0], *by_hand[2:]]),
        ("more often in the control", given(3, 7, ours=0.3, theirs=0.9)),
        ("a control that gets few words right", given(4, 6, able=0.2)),
        ("as many words as pictures", given(6, 6)),
        ("one picture", given(1, 9)),
        ("many words", given(some(generator, 20, 40), some(generator, 3, 6), able=0.5)),
        ("tensors that are not contiguous in memory", [one.T.contiguous().T for one in given(5, 4)]),
    ]
    return [Case(about, dict(zip(NAMES, tensors, strict=True))) for about, tensors in inputs]


def right(costliest, costliest_control, looked, correct, correct_control):
    both = correct & correct_control
    with_attention = (costliest == looked)[both].double().mean()
    without = (costliest_control == looked)[both].double().mean()
    return with_attention - without


MORE_OFTEN = Exercise(
    "more_often",
    "looking_at_pictures",
    cases,
    right,
    'lesson 10, "Does the map show what it needs?"',
)

WITH = "(costliest == looked)[both].double().mean()"
WITHOUT = "(costliest_control == looked)[both].double().mean()"
BOTH = "correct & correct_control"
DIFFERENCE = "with_attention - without"
SAME_WORDS = "An abler captioner gets other words right, perhaps harder ones. Compare the two on the *same* words."
MORE_OFTEN.edit(
    "each share is over the words that its own captioner gets right",
    SAME_WORDS,
    (WITH, "(costliest == looked)[correct].double().mean()"),
    (WITHOUT, "(costliest_control == looked)[correct_control].double().mean()"),
)
MORE_OFTEN.edit(
    "all words are counted",
    "If a captioner gets a word wrong with the whole picture before it, what does hiding a cell tell?",
    (BOTH, "correct | True"),
)
MORE_OFTEN.edit(
    "a word is counted if one of the two gets it right",
    "If a captioner gets a word wrong with the whole picture before it, what does hiding a cell tell? Both must get it right.",
    (BOTH, "correct | correct_control"),
)
MORE_OFTEN.edit("only attention must get the word right", SAME_WORDS, (BOTH, "correct"))
MORE_OFTEN.edit("only the control must get the word right", SAME_WORDS, (BOTH, "correct_control"))
MORE_OFTEN.edit(
    "hits are divided by all words",
    "A word that one of the two gets wrong is neither a hit nor a miss. By how many words do you divide?",
    (WITH, "((costliest == looked) & both).double().mean()"),
    (WITHOUT, "((costliest_control == looked) & both).double().mean()"),
)
MORE_OFTEN.edit(
    "the words that both get right are left out",
    "Is your mask the wrong way round?",
    (BOTH, "~(correct & correct_control)"),
)
MORE_OFTEN.edit(
    "the share of the control is compared with nothing",
    "This is one share. How much larger is it than the other?",
    (DIFFERENCE, "without"),
)
MORE_OFTEN.edit(
    "the share with attention is compared with nothing",
    "This is the measurement without its control. How much larger is it than the control's share?",
    (DIFFERENCE, "with_attention"),
)
MORE_OFTEN.edit(
    "the sign is turned",
    "A positive result should say that it happens more often *with* attention.",
    (DIFFERENCE, "without - with_attention"),
)
MORE_OFTEN.edit(
    "the sign is lost",
    "The control may be ahead. Then the result is negative.",
    (DIFFERENCE, "(with_attention - without).abs()"),
)
MORE_OFTEN.edit(
    "it is a ratio, not a difference",
    "How many percentage points are between the two shares?",
    (DIFFERENCE, "with_attention / without"),
)
MORE_OFTEN.edit(
    "it is a difference in proportion to the control's share",
    "From 40 % to 60 % are 20 percentage points, however large the first share is.",
    (DIFFERENCE, "with_attention / without - 1"),
)
MORE_OFTEN.edit(
    "the result is in percent", "A share is between 0 and 1.", (DIFFERENCE, "100 * (with_attention - without)")
)
MORE_OFTEN.edit(
    "the result is a number of words, not a difference of shares",
    "By how many words should you divide it?",
    (WITH, "(costliest == looked)[both].double().sum()"),
    (WITHOUT, "(costliest_control == looked)[both].double().sum()"),
)
MORE_OFTEN.edit(
    "the control's cell is compared with that of attention's hiding, not with where attention looked",
    "Both captioners are asked the same: does hiding the cell in `looked` cost most? What do you compare `costliest_control` with?",
    (WITHOUT, "(costliest_control == costliest)[both].double().mean()"),
)
MORE_OFTEN.edit(
    "it is the share of words in which only attention loses most there",
    "Words in which only the control loses most there count as well, on the other side.",
    (DIFFERENCE, "((costliest == looked) & (costliest_control != looked))[both].double().mean()"),
)
EACH = "Each word counts equally, whichever picture it belongs to. How many words of the whole batch do both get right?"
MORE_OFTEN.edit(
    "each picture counts equally, however many words it has",
    EACH,
    (WITH, "(((costliest == looked) & both).sum(1).double() / both.sum(1)).nanmean()"),
    (WITHOUT, "(((costliest_control == looked) & both).sum(1).double() / both.sum(1)).nanmean()"),
)
MORE_OFTEN.edit(
    "each picture counts equally, and one without such words counts as 0",
    EACH,
    (WITH, "(((costliest == looked) & both).sum(1).double() / both.sum(1).clamp(min=1)).mean()"),
    (WITHOUT, "(((costliest_control == looked) & both).sum(1).double() / both.sum(1).clamp(min=1)).mean()"),
)
