"""`pointing_accuracy(weights, gold)`: how often the largest weight of a word is on the region that the word names."""

import torch

from course_lib.checks.engine import Case, Exercise
from course_lib.checks.looking_at_pictures.drawn import some


def cases(generator: torch.Generator) -> list[Case]:
    def given(
        batch: int, words: int, regions: int, right: float = 0.5, named: float = 0.6, sharp: float = 1.5
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Weights and gold regions. About a share `named` of the words has a gold region, and of these about a share `right` points to it."""
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
        ("weights that are not contiguous in memory", single[0].mT.contiguous().mT, single[1]),
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
    "A word without a region is neither a hit nor a miss. By how many words do you divide the hits?",
    (THERE, "gold >= -1"),
)
POINTING_ACCURACY.edit(
    "words that name no region count as hits",
    "A word without a region is neither a hit nor a miss. Leave it out.",
    (HITS, "(weights.argmax(-1) == gold) | (gold < 0)"),
    (THERE, "gold >= -1"),
)
LAST = "In Python, the index −1 is the last entry. Here it says that there is no region. Leave those words out."
POINTING_ACCURACY.edit(
    "−1 counts as the last region",
    LAST,
    (HITS, "weights.argmax(-1) == gold % weights.shape[-1]"),
    (THERE, "gold >= -1"),
)
POINTING_ACCURACY.edit(
    "−1 counts as region 0",
    "Has a clamp made region 0 of −1? Leave those words out.",
    (HITS, "weights.argmax(-1) == gold.clamp(min=0)"),
    (THERE, "gold >= -1"),
)
POINTING_ACCURACY.edit(
    "region 0 is left out, too",
    "Regions are counted from 0, and only −1 means no region. Is it > 0 or >= 0?",
    (THERE, "gold > 0"),
)
POINTING_ACCURACY.edit(
    "region 0 is left out, and words without a region count",
    "Regions are counted from 0, and only −1 means no region.",
    (THERE, "gold != 0"),
)
POINTING_ACCURACY.edit(
    "only the words that name no region count",
    "−1 marks the words to leave out. Is your mask the wrong way round?",
    (THERE, "gold < 0"),
)
LARGEST = "A word is a hit if its largest weight is on its gold region. It doesn't matter how large this weight is."
POINTING_ACCURACY.edit(
    "the result is the mean weight on the gold regions", LARGEST, (HITS, "weight_there(weights, gold)")
)
POINTING_ACCURACY.edit(
    "every weight above one half counts as a hit", LARGEST, (HITS, "weight_there(weights, gold) > 0.5")
)
POINTING_ACCURACY.edit(
    "every weight above the mean counts as a hit", LARGEST, (HITS, "weight_there(weights, gold) > weights.mean(-1)")
)
POINTING_ACCURACY.edit(
    "the second largest weight counts as a hit, too",
    "Only the largest weight decides.",
    (HITS, "(weights.topk(2).indices == gold[..., None]).any(-1)"),
)
ALONG = "The axes are (batch, word, region). Each word chooses one region. Along which axis?"
POINTING_ACCURACY.edit(
    "the largest weight is found along the words",
    ALONG,
    (HITS, "weight_there(weights == weights.amax(1, keepdim=True), gold)"),
)
POINTING_ACCURACY.edit(
    "the largest weight is found along the words, and compared with the gold regions",
    ALONG,
    ("argmax(-1)", "argmax(1)"),
)
POINTING_ACCURACY.edit(
    "the smallest weight is found, not the largest",
    "A hit needs the *largest* weight. Which one does your function find?",
    ("argmax", "argmin"),
)
POINTING_ACCURACY.edit(
    "each picture counts equally, however many words it has",
    "We want a share of *all* words. How many hits does the whole batch have, and how many words with a region?",
    (SHARE, "(hits.sum(1).double() / there.sum(1)).mean()"),
)
POINTING_ACCURACY.edit(
    "each picture counts equally, and one without a named region counts as 0",
    "We want a share of *all* words. How many hits does the whole batch have, and how many words with a region?",
    (SHARE, "(hits.sum(1).double() / there.sum(1)).nan_to_num().mean()"),
)
POINTING_ACCURACY.edit(
    "each picture counts equally, however many words it has",
    "We want a share of *all* words. How many hits does the whole batch have, and how many words with a region?",
    (SHARE, "(hits.sum(1).double() / there.sum(1)).nanmean()"),
)
POINTING_ACCURACY.edit(
    "the result has a share for each picture",
    "Return one number for the whole batch.",
    (SHARE, "hits.sum(1).double() / there.sum(1)"),
)
POINTING_ACCURACY.edit(
    "the result is a count, not a share", "By how many words should you divide it?", (SHARE, "hits[there].sum()")
)
POINTING_ACCURACY.edit(
    "the result is in percent", "A share is between 0 and 1.", (SHARE, "100 * hits[there].double().mean()")
)
POINTING_ACCURACY.edit(
    "the result is the share of misses",
    "Return the share of the hits.",
    (SHARE, "1 - hits[there].double().mean()"),
)
POINTING_ACCURACY.edit(
    "the hits are divided by the number of pictures",
    "We want a share of the *words*.",
    (SHARE, "hits[there].sum() / len(hits)"),
)
POINTING_ACCURACY.edit(
    "the hits are divided by the number of words in a caption",
    "How many words of the whole batch have a region?",
    (SHARE, "hits[there].sum() / hits.shape[1]"),
)
POINTING_ACCURACY.edit(
    "the share is rounded to 0 or 1",
    "A share may be between 0 and 1. Does a // round yours?",
    (SHARE, "hits[there].sum() // there.sum()"),
)
POINTING_ACCURACY.edit(
    "a picture counts as a hit only if all its words are hits",
    "Each word with a region counts for itself.",
    (SHARE, "(hits | ~there).all(1).double().mean()"),
)
POINTING_ACCURACY.edit(
    "only the first picture counts", "All words of all pictures count.", (SHARE, "hits[0, there[0]].double().mean()")
)
POINTING_ACCURACY.edit(
    "the result says for each word whether it is a hit", "Return one number, the share of the hits.", (SHARE, "hits")
)
