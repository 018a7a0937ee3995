"""`pointing_accuracy(weights, gold)`: how often the largest weight of a word is on the region that it names."""

import torch

from course_lib.checks.engine import Case, Exercise
from course_lib.checks.looking_at_pictures.drawn import some


def cases(generator: torch.Generator) -> list[Case]:
    def given(
        batch: int, words: int, regions: int, right: float = 0.5, named: float = 0.6, sharp: float = 1.5
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Weights of which about a share `right` points to the gold region, and words of which a share `named` has one."""
        weights = (sharp * torch.randn(batch, words, regions, generator=generator)).softmax(-1)
        gold = torch.randint(regions, (batch, words), generator=generator)
        hit, has = (torch.rand(batch, words, generator=generator) < share for share in (right, named))
        has[0, 0] = True
        return weights, torch.where(has, torch.where(hit, weights.argmax(-1), gold), -1)

    by_hand = (
        torch.tensor(
            [
                [[0.1, 0.6, 0.2, 0.1], [0.7, 0.1, 0.1, 0.1], [0.3, 0.2, 0.4, 0.1]],
                [[0.1, 0.2, 0.3, 0.4], [0.2, 0.5, 0.2, 0.1], [0.45, 0.15, 0.25, 0.15]],
            ]
        ),
        torch.tensor([[1, -1, 0], [3, -1, -1]]),
    )
    lacking, some_ends = given(3, 6, 5), given(4, 8, 3, named=0.9)
    lacking[1][1] = -1
    double, single = given(3, 5, 4), given(4, 7, 6)
    inputs = [
        ("two pictures, three words each", *by_hand),
        ("more words", *given(2, 9, 4)),
        ("every word names a region", *given(3, 7, 5, named=1.0)),
        ("most words name no region", *given(4, 9, 4, named=0.25)),
        ("a picture none of whose words names a region", *lacking),
        ("few regions, often the first and the last", *some_ends),
        ("as many words as regions", *given(3, 6, 6)),
        ("as many pictures as words", *given(6, 6, 4)),
        ("sharp weights", *given(4, 8, 6, sharp=6.0)),
        ("flat weights, none above one half", *given(4, 8, 9, sharp=0.3)),
        ("all largest weights on their regions", *given(2, 5, 4, right=1.1)),
        ("many words", *given(some(generator, 5, 9), some(generator, 10, 16), 9, right=0.7)),
        ("36 regions", *given(5, some(generator, 8, 12), 36, right=0.3)),
        ("float64", double[0].double(), double[1]),
        ("weights that do not lie in order in memory", single[0].mT.contiguous().mT, single[1]),
    ]
    return [Case(about, {"weights": weights, "gold": gold}) for about, weights, gold in inputs]


def right(weights, gold):
    hits = weights.argmax(-1) == gold
    there = gold >= 0
    return hits[there].double().mean()


def weight_there(weights, gold):
    return weights.gather(-1, gold.clamp(min=0)[..., None])[..., 0]


POINTING_ACCURACY = Exercise(
    "pointing_accuracy",
    "looking_at_pictures",
    cases,
    right,
    'lesson 10, "Does the map show what it needs?"; glossary.show("alignment")',
)

SHARE = "hits[there].double().mean()"
HITS = "weights.argmax(-1) == gold"
THERE = "gold >= 0"
POINTING_ACCURACY.edit(
    "words that name no region count as misses",
    "A word without a region can be neither right nor wrong. By how many words is the number of hits divided?",
    (THERE, "gold >= -1"),
)
POINTING_ACCURACY.edit(
    "words that name no region count as hits",
    "A word without a region can be neither right nor wrong: it is left out.",
    (HITS, "(weights.argmax(-1) == gold) | (gold < 0)"),
    (THERE, "gold >= -1"),
)
LAST = "In Python, index −1 is the last entry; here it says that there is no region. Leave those words out."
POINTING_ACCURACY.edit(
    "−1 counts as the last region",
    LAST,
    (HITS, "weights.argmax(-1) == gold % weights.shape[-1]"),
    (THERE, "gold >= -1"),
)
POINTING_ACCURACY.edit(
    "−1 counts as region 0",
    "clamp(min=0) makes a region of −1. Leave those words out.",
    (HITS, "weights.argmax(-1) == gold.clamp(min=0)"),
    (THERE, "gold >= -1"),
)
POINTING_ACCURACY.edit(
    "region 0 is left out, too",
    "Regions are counted from 0; −1 alone names none. Is it > 0 or >= 0?",
    (THERE, "gold > 0"),
)
POINTING_ACCURACY.edit(
    "region 0 is left out, and words without a region count",
    "Regions are counted from 0; −1 alone names none.",
    (THERE, "gold != 0"),
)
POINTING_ACCURACY.edit(
    "only the words that name no region count",
    "−1 marks the words to leave out. Is a mask turned round?",
    (THERE, "gold < 0"),
)
LARGEST = "A word is a hit or not: which region has its largest weight, and is that the gold one? How large the weight is does not matter."
POINTING_ACCURACY.edit("it is the mean weight on the gold regions", LARGEST, (HITS, "weight_there(weights, gold)"))
POINTING_ACCURACY.edit("a hit is a weight above one half", LARGEST, (HITS, "weight_there(weights, gold) > 0.5"))
POINTING_ACCURACY.edit(
    "a hit is a weight above the mean", LARGEST, (HITS, "weight_there(weights, gold) > weights.mean(-1)")
)
POINTING_ACCURACY.edit(
    "a hit is a region among the two with the largest weights",
    "The largest weight alone decides.",
    (HITS, "(weights.topk(2).indices == gold[..., None]).any(-1)"),
)
ALONG = "The axes are (batch, word, region). For each word one region is chosen: along which axis?"
POINTING_ACCURACY.edit(
    "the largest weight is looked for along the words",
    ALONG,
    (HITS, "weight_there(weights == weights.amax(1, keepdim=True), gold)"),
)
POINTING_ACCURACY.edit(
    "the largest weight is looked for along the words, and compared with the gold regions",
    ALONG,
    ("argmax(-1)", "argmax(1)"),
)
POINTING_ACCURACY.edit("the smallest weight is looked for", "argmin finds the smallest.", ("argmax", "argmin"))
POINTING_ACCURACY.edit(
    "each picture counts alike, however many words it has",
    "A share of *all* words is wanted: one count of hits and one of words for the whole batch.",
    (SHARE, "(hits.sum(1).double() / there.sum(1)).mean()"),
)
POINTING_ACCURACY.edit(
    "each picture counts alike, and one without such a word counts 0",
    "A share of *all* words is wanted: one count of hits and one of words for the whole batch.",
    (SHARE, "(hits.sum(1).double() / there.sum(1)).nan_to_num().mean()"),
)
POINTING_ACCURACY.edit(
    "each picture counts alike, however many words it has",
    "A share of *all* words is wanted: one count of hits and one of words for the whole batch.",
    (SHARE, "(hits.sum(1).double() / there.sum(1)).nanmean()"),
)
POINTING_ACCURACY.edit(
    "there is a share for each picture",
    "One number for the whole batch is wanted.",
    (SHARE, "hits.sum(1).double() / there.sum(1)"),
)
POINTING_ACCURACY.edit(
    "it is a count, not a share", "By how many words is it to be divided?", (SHARE, "hits[there].sum()")
)
POINTING_ACCURACY.edit(
    "it is a share in percent", "A share lies between 0 and 1.", (SHARE, "100 * hits[there].double().mean()")
)
POINTING_ACCURACY.edit(
    "it is the share of misses",
    "Wanted is the share of the words that are right.",
    (SHARE, "1 - hits[there].double().mean()"),
)
POINTING_ACCURACY.edit(
    "the hits are divided by the number of pictures",
    "A share of the *words* is wanted.",
    (SHARE, "hits[there].sum() / len(hits)"),
)
POINTING_ACCURACY.edit(
    "the hits are divided by the number of words in a caption",
    "How many words of the whole batch have a region?",
    (SHARE, "hits[there].sum() / hits.shape[1]"),
)
POINTING_ACCURACY.edit(
    "the share is rounded to 0 or 1", "// rounds down. A division is /.", (SHARE, "hits[there].sum() // there.sum()")
)
POINTING_ACCURACY.edit(
    "a picture counts only as a whole",
    "Each word with a region counts for itself.",
    (SHARE, "(hits | ~there).all(1).double().mean()"),
)
POINTING_ACCURACY.edit(
    "only the first picture counts", "All words of all pictures count.", (SHARE, "hits[0, there[0]].double().mean()")
)
POINTING_ACCURACY.edit(
    "it says of each word whether it is a hit", "One number is wanted: the share of the hits.", (SHARE, "hits")
)
