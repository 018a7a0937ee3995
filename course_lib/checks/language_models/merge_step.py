"""merge_step(pieces, new): the most frequent pair of neighbours, and all pieces after it is merged."""

import re
from collections import Counter
from itertools import pairwise

import torch

from course_lib.checks.engine import Case, Exercise
from course_lib.checks.language_models import merging


def cases(generator: torch.Generator) -> list[Case]:
    def draw(tokens: int, pieces: int) -> list[tuple[list[int], int]]:
        """Different pieces of a few different tokens, so that pairs are equally frequent now and then."""
        counts, drawn = torch.randint(1, 5, (pieces,), generator=generator).tolist(), []
        while len(drawn) < pieces:
            length = 8 if not drawn else int(torch.randint(1, 8, (), generator=generator))
            piece = torch.randint(10, 10 + tokens, (length,), generator=generator).tolist()
            if piece not in drawn:
                drawn.append(piece)
        return list(zip(drawn, counts, strict=True))

    words = [(list(word.encode()), count) for word, count in {"low": 5, " lower": 2, " new": 6, " newest": 3}.items()]
    inputs = [
        ("three pieces", [([1, 2, 5], 1), ([5, 1, 2], 1), ([3, 4], 4)], 9),
        ("two pairs that are equally frequent", [([3, 4], 2), ([1, 2], 2)], 9),
        ("the same in another order", [([1, 2], 2), ([3, 4], 2)], 9),
        ("three pairs that are equally frequent", [([3, 4], 2), ([1, 2], 1), ([5, 6], 2), ([1, 2, 3], 1)], 9),
        ("three others", [([5, 6], 2), ([1, 2], 1), ([3, 4], 2), ([2, 1, 2], 1)], 9),
        ("two equally frequent pairs that begin alike", [([1, 5], 2), ([3, 1, 2], 2), ([3, 4], 1)], 9),
        ("two equally frequent pairs that end alike", [([5, 2], 2), ([1, 4, 2], 2), ([3, 1], 2)], 9),
        ("a pair that stands twice in a piece", [([1, 2, 1, 2], 2), ([3, 4], 3)], 9),
        ("three times the same token", [([7, 7, 7], 2), ([1, 7], 3)], 9),
        ("five times the same token", [([2, 7, 7, 7, 7, 7, 1], 2), ([2, 7], 1), ([7], 8)], 9),
        ("pieces of one token", [([8], 4), ([1, 2], 2), ([3], 3)], 9),
        ("a pair, and the same the other way round", [([1, 2], 2), ([2, 1], 2), ([3, 4], 3), ([4, 3], 1)], 9),
        ("a token that is frequent, and never beside the same one", [([1, 2], 2), ([3, 1], 2), ([1, 4], 1), ([5, 6], 3)], 9),
        ("tokens of two digits", [([11, 2], 1), ([1, 2], 3), ([3, 1, 25], 2)], 9),
        ("words", words, 256),
        ("tokens that were merged before", [([256, 119], 7), ([110, 256, 119], 2), ([110, 101], 8)], 257),
        *((f"{tokens} different tokens", draw(tokens, 5), 20) for tokens in (2, 3, 4, 5, 3, 4)),
    ]  # fmt: skip
    return [Case(about, {"pieces": pieces, "new": new}) for about, pieces, new in inputs]


def right(pieces, new):
    counts = Counter()
    for tokens, count in pieces:
        for pair in pairwise(tokens):
            counts[pair] += count
    best = min(counts, key=lambda pair: (-counts[pair], pair))
    merged = [(merging.replaced(tokens, best, new), count) for tokens, count in pieces]
    return best, merged


MERGE_STEP = Exercise(
    "merge_step",
    "language_models",
    cases,
    right,
    'lesson 8, "Byte-pair encoding, by hand"; glossary.show("byte-pair encoding")',
)

MERGE_STEP.edit(
    "every piece is counted once",
    "A piece that stands five times in the text has its pairs five times, too.",
    ("+= count", "+= 1"),
)
MERGE_STEP.edit(
    "the two most frequent tokens are taken, not the most frequent pair",
    "Two frequent tokens need not stand side by side. What is counted is one token *with* the next.",
    ("pairwise(tokens)", "tokens"),
    (
        "min(counts, key=lambda pair: (-counts[pair], pair))",
        "tuple(sorted(counts, key=lambda token: (-counts[token], token))[:2])",
    ),
)
TIES = "Of pairs that are equally frequent, that of the smaller numbers is wanted: (1, 9) before (2, 3)."
MERGE_STEP.edit(
    "of equally frequent pairs the larger is taken",
    TIES,
    ("min(counts, key=lambda pair: (-counts", "max(counts, key=lambda pair: (counts"),
)
MERGE_STEP.edit(
    "of equally frequent pairs the one met first is taken",
    f"{TIES} `most_common(1)` and `max` take the first met.",
    ("min(counts, key=lambda pair: (-counts[pair], pair))", "max(counts, key=counts.get)"),
)
MERGE_STEP.edit(
    "of equally frequent pairs the one met last is taken",
    f"{TIES} A comparison with >= takes the last.",
    ("min(counts, key=lambda pair: (-counts[pair], pair))", "max(reversed(counts), key=counts.get)"),
)
MERGE_STEP.edit(
    "of equally frequent pairs only the first numbers are compared",
    f"{TIES} And if they begin alike? Python compares whole pairs: (1, 2) before (1, 5).",
    ("(-counts[pair], pair)", "(-counts[pair], pair[0])"),
)
MERGE_STEP.edit(
    "of equally frequent pairs the second numbers are compared first",
    f"{TIES} The second numbers count only where the first ones are equal.",
    ("(-counts[pair], pair)", "(-counts[pair], pair[::-1])"),
)
for rarest in ("(counts[pair], pair)", "counts[pair]"):
    MERGE_STEP.edit(
        "the rarest pair is taken",
        "Sorted from small to large, the most frequent pair comes last.",
        ("(-counts[pair], pair)", rarest),
    )
MERGE_STEP.edit(
    "a pair counts once in a piece, however often it stands there",
    "In the piece [1, 2, 1, 2] the pair (1, 2) stands twice. Does something make a set of the pairs?",
    ("pairwise(tokens)", "set(pairwise(tokens))"),
)
MERGE_STEP.edit(
    "pairs that overlap are counted once",
    "Count what `zip(tokens, tokens[1:])` gives: in [7, 7, 7] the pair (7, 7) twice, though only one can be merged.",
    ("in pairwise(tokens)", "in set(pairwise(tokens))"),
    ("+= count", "+= count * merging.replaced(tokens, pair, None).count(None)"),
)
for across in (
    "counts = Counter(pairwise([token for tokens, count in pieces for token in count * tokens]))",
    "for (one, _), (other, count) in pairwise(pieces):\n        counts[one[-1], other[0]] += count",
):
    MERGE_STEP.edit(
        "pairs are counted across two pieces",
        "The last token of a piece and the first of the next are no neighbours.",
        ("    best =", f"    {across}\n    best ="),
    )
MERGE_STEP.edit(
    "the count of a pair is overwritten",
    "A pair that comes again adds to what was counted before: is it = or +=?",
    ("+= count", "= count"),
)
MERGE_STEP.edit(
    "only every second pair is counted",
    "Each token but the last has a neighbour behind it: [1, 2, 3] has two pairs, (1, 2) and (2, 3).",
    ("pairwise(tokens)", "zip(tokens[::2], tokens[1::2])"),
)
MERGE_STEP.edit(
    "the last pair of a piece is not counted",
    "Of three tokens there are two pairs. Where does your loop end?",
    ("pairwise(tokens)", "pairwise(tokens[:-1])"),
)
MERGE_STEP.edit(
    "pairs are counted without their order",
    "(1, 2) and (2, 1) are two pairs: *on* is not *no*.",
    ("counts[pair] +=", "counts[tuple(sorted(pair))] +="),
)
MERGE_STEP.edit(
    "in each piece only the first is merged",
    "A piece may have the pair more than once. Go on behind the first one.",
    ("best, new)", "best, new, most=1)"),
)
MERGE_STEP.edit(
    "it merges from right to left",
    "From left to right, three times token 7 become the new token and a 7.",
    ("merging.replaced(tokens, best, new)", "merging.replaced(tokens[::-1], best[::-1], new)[::-1]"),
)
MERGE_STEP.edit(
    "the second token of the pair stays",
    "One token stands for two: how far on does the place move after a merge?",
    ("merging.replaced(tokens, best, new)", "[new if pair == best else pair[0] for pair in pairwise([*tokens, None])]"),
)
MERGE_STEP.edit(
    "a token that has been merged is merged once more",
    "In [7, 7, 7] the second 7 is used up by the first merge. Compare with the end of the *new* list.",
    ("merging.replaced", "merging.merged_again"),
)
MERGE_STEP.edit(
    "the pair is merged in either order",
    "(1, 2) was counted, and it alone is merged: (2, 1) stays.",
    ("merging.replaced(tokens, best, new)", "merging.replaced(merging.replaced(tokens, best, new), best[::-1], new)"),
)


def last_one_lost(tokens, pair, new):
    merged = merging.replaced(tokens, pair, new)
    return merged if len(tokens) > 1 and merged[-1] == new else merged[:-1]


MERGE_STEP.edit(
    "the last token of a piece is lost",
    "It has no neighbour behind it, and still it stays. Where does your loop end?",
    ("merging.replaced", "last_one_lost"),
)
MERGE_STEP.edit(
    "the pair stands there, not its number",
    "What is merged is one token, and its number comes in as new.",
    ("best, new)", "best, best)"),
)


def both_replaced(tokens, pair, new):
    return [one for token in merging.replaced(tokens, pair, new) for one in ([new, new] if token == new else [token])]


MERGE_STEP.edit(
    "both tokens of the pair are replaced",
    "The new token stands for *two*: after a merge there is one token less.",
    ("merging.replaced", "both_replaced"),
)
MERGE_STEP.edit(
    "the merged pair has another number than new",
    "Which number the new token has, the argument new says.",
    ("best, new)", "best, 1 + max(token for piece, _ in pieces for token in piece))"),
)
for number in (256, 9):
    MERGE_STEP.edit(
        "the number of the new token is typed in",
        "Which number the new token has, the argument new says; it is another one in each step.",
        ("best, new)", f"best, {number})"),
    )


@MERGE_STEP.misconception(
    "only one piece is merged", "The pair may stand in many pieces. Where does your loop end, or return?"
)
def one_piece_merged(pieces, new):
    pair, merged = right(pieces, new)
    here = next(place for place, (tokens, _) in enumerate(pieces) if merged[place][0] != tokens)
    return pair, [*pieces[:here], merged[here], *pieces[here + 1 :]]


@MERGE_STEP.misconception(
    "digits are merged, not tokens",
    'Written as text, "1, 2" also stands in "11, 25". Compare numbers, not their digits.',
)
def merged_as_text(pieces, new):
    pair, _ = right(pieces, new)
    texts = [str(list(tokens)).replace(f"{pair[0]}, {pair[1]}", str(new)) for tokens, _ in pieces]
    merged = [[int(number) for number in re.findall(r"\d+", text)] for text in texts]
    return pair, [(tokens, count) for tokens, (_, count) in zip(merged, pieces, strict=True)]


for one in ("best", "merged"):
    MERGE_STEP.edit(
        "only one of two things comes out",
        "Two things are wanted: the pair, and the list of all pieces after the merge.",
        ("best, merged", one),
    )
MERGE_STEP.edit(
    "the counts are lost",
    "The next step needs them, too: a piece is still a pair, (tokens, count).",
    ("(merging.replaced(tokens, best, new), count)", "merging.replaced(tokens, best, new)"),
)
