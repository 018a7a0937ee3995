"""merge_step(pieces, new): the most frequent pair of neighbours, and all pieces after this pair is merged."""

import re
from collections import Counter
from itertools import pairwise

import torch

from course_lib.checks.engine import Case, Exercise
from course_lib.checks.language_models import merging


def cases(generator: torch.Generator) -> list[Case]:
    def draw(tokens: int, pieces: int) -> list[tuple[list[int], int]]:
        """Draws different pieces of a few different tokens, so that there are ties now and then."""
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
        ("the same pieces in another order", [([1, 2], 2), ([3, 4], 2)], 9),
        ("three pairs that are equally frequent", [([3, 4], 2), ([1, 2], 1), ([5, 6], 2), ([1, 2, 3], 1)], 9),
        ("three other pairs that are equally frequent", [([5, 6], 2), ([1, 2], 1), ([3, 4], 2), ([2, 1, 2], 1)], 9),
        ("two equally frequent pairs that begin alike", [([1, 5], 2), ([3, 1, 2], 2), ([3, 4], 1)], 9),
        ("two equally frequent pairs that end alike", [([5, 2], 2), ([1, 4, 2], 2), ([3, 1], 2)], 9),
        ("a pair that occurs twice in a piece", [([1, 2, 1, 2], 2), ([3, 4], 3)], 9),
        ("three times the same token", [([7, 7, 7], 2), ([1, 7], 3)], 9),
        ("five times the same token", [([2, 7, 7, 7, 7, 7, 1], 2), ([2, 7], 1), ([7], 8)], 9),
        ("pieces of one token", [([8], 4), ([1, 2], 2), ([3], 3)], 9),
        ("a pair that also occurs in the opposite order", [([1, 2], 2), ([2, 1], 2), ([3, 4], 3), ([4, 3], 1)], 9),
        ("a frequent token with different neighbours", [([1, 2], 2), ([3, 1], 2), ([1, 4], 1), ([5, 6], 3)], 9),
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
    "each piece is counted only once",
    "A piece that occurs five times in the text has its pairs five times, too.",
    ("+= count", "+= 1"),
)
MERGE_STEP.edit(
    "it takes the two most frequent tokens, not the most frequent pair",
    "Two frequent tokens needn't be neighbours. What is counted is one token *with* the next.",
    ("pairwise(tokens)", "tokens"),
    (
        "min(counts, key=lambda pair: (-counts[pair], pair))",
        "tuple(sorted(counts, key=lambda token: (-counts[token], token))[:2])",
    ),
)
TIES = "The pair with the smaller numbers wins: (1, 9) before (2, 3)."
MERGE_STEP.edit(
    "in a tie, it takes the larger pair",
    TIES,
    ("min(counts, key=lambda pair: (-counts", "max(counts, key=lambda pair: (counts"),
)
MERGE_STEP.edit(
    "in a tie, it takes the pair it met first",
    f"{TIES} `most_common(1)` and `max` take the pair they meet first.",
    ("min(counts, key=lambda pair: (-counts[pair], pair))", "max(counts, key=counts.get)"),
)
MERGE_STEP.edit(
    "in a tie, it takes the pair it met last",
    f"{TIES} A comparison with >= takes the last one.",
    ("min(counts, key=lambda pair: (-counts[pair], pair))", "max(reversed(counts), key=counts.get)"),
)
MERGE_STEP.edit(
    "in a tie, it compares only the first numbers",
    f"{TIES} What if two pairs begin alike? Python compares whole pairs: (1, 2) before (1, 5).",
    ("(-counts[pair], pair)", "(-counts[pair], pair[0])"),
)
MERGE_STEP.edit(
    "in a tie, it compares the second numbers first",
    f"{TIES} The second numbers count only where the first ones are equal.",
    ("(-counts[pair], pair)", "(-counts[pair], pair[::-1])"),
)
for rarest in ("(counts[pair], pair)", "counts[pair]"):
    MERGE_STEP.edit(
        "it takes the rarest pair",
        "Sorted from small to large, the most frequent pair comes last.",
        ("(-counts[pair], pair)", rarest),
    )
MERGE_STEP.edit(
    "a pair counts once per piece, however often it occurs there",
    "In the piece [1, 2, 1, 2] the pair (1, 2) occurs twice. How often do you count it?",
    ("pairwise(tokens)", "set(pairwise(tokens))"),
)
MERGE_STEP.edit(
    "overlapping pairs are counted only once",
    "Count what `zip(tokens, tokens[1:])` gives. In [7, 7, 7] that is (7, 7) twice, although only one of them can be merged.",
    ("in pairwise(tokens)", "in set(pairwise(tokens))"),
    ("+= count", "+= count * merging.replaced(tokens, pair, None).count(None)"),
)
for across in (
    "counts = Counter(pairwise([token for tokens, count in pieces for token in count * tokens]))",
    "for (one, _), (other, count) in pairwise(pieces):\n        counts[one[-1], other[0]] += count",
):
    MERGE_STEP.edit(
        "pairs are counted across two pieces",
        "The last token of a piece and the first token of the next piece aren't neighbours.",
        ("    best =", f"    {across}\n    best ="),
    )
MERGE_STEP.edit(
    "the count of a pair is overwritten",
    "A pair may occur again. What happens to its count then?",
    ("+= count", "= count"),
)
MERGE_STEP.edit(
    "only every second pair is counted",
    "Each token but the last has a right neighbour. [1, 2, 3] has two pairs, (1, 2) and (2, 3).",
    ("pairwise(tokens)", "zip(tokens[::2], tokens[1::2])"),
)
MERGE_STEP.edit(
    "the last pair of a piece is not counted",
    "Three tokens make two pairs. Where does your loop or your slice end?",
    ("pairwise(tokens)", "pairwise(tokens[:-1])"),
)
MERGE_STEP.edit(
    "the order within a pair is ignored",
    "(1, 2) and (2, 1) are two different pairs, just as *on* isn't *no*.",
    ("counts[pair] +=", "counts[tuple(sorted(pair))] +="),
)
MERGE_STEP.edit(
    "only the first occurrence in each piece is merged",
    "A piece may contain the pair more than once. What happens to the second one?",
    ("best, new)", "best, new, most=1)"),
)
MERGE_STEP.edit(
    "it merges from right to left",
    "From left to right, [7, 7, 7] becomes the new token and a 7.",
    ("merging.replaced(tokens, best, new)", "merging.replaced(tokens[::-1], best[::-1], new)[::-1]"),
)
MERGE_STEP.edit(
    "the second token of the pair stays",
    "The new token replaces two tokens. Where does your code continue after a merge?",
    ("merging.replaced(tokens, best, new)", "[new if pair == best else pair[0] for pair in pairwise([*tokens, None])]"),
)
MERGE_STEP.edit(
    "one token takes part in two merges",
    "In [7, 7, 7] the first merge uses up the second 7. With which token do you compare the third?",
    ("merging.replaced", "merging.merged_again"),
)
MERGE_STEP.edit(
    "the pair is merged in either order",
    "(1, 2) was counted, and only (1, 2) is merged. (2, 1) stays.",
    ("merging.replaced(tokens, best, new)", "merging.replaced(merging.replaced(tokens, best, new), best[::-1], new)"),
)


def last_one_lost(tokens, pair, new):
    merged = merging.replaced(tokens, pair, new)
    return merged if len(tokens) > 1 and merged[-1] == new else merged[:-1]


MERGE_STEP.edit(
    "the last token of a piece is lost",
    "It has no right neighbour, but it stays all the same. Where does your loop end?",
    ("merging.replaced", "last_one_lost"),
)
MERGE_STEP.edit(
    "the pair itself is put in, not its number",
    "A merge makes one token of the pair. The argument `new` is its number.",
    ("best, new)", "best, best)"),
)


def both_replaced(tokens, pair, new):
    return [one for token in merging.replaced(tokens, pair, new) for one in ([new, new] if token == new else [token])]


MERGE_STEP.edit(
    "each token of the pair is replaced, not the two together",
    "The new token replaces *two* tokens, so after a merge there is one token less.",
    ("merging.replaced", "both_replaced"),
)
MERGE_STEP.edit(
    "the new token gets another number than new",
    "The argument `new` says which number the new token gets.",
    ("best, new)", "best, 1 + max(token for piece, _ in pieces for token in piece))"),
)
for number in (256, 9):
    MERGE_STEP.edit(
        "the number of the new token is a constant",
        "The argument `new` says which number the new token gets. It differs in each step.",
        ("best, new)", f"best, {number})"),
    )


@MERGE_STEP.misconception(
    "the pair is merged in only one piece", "The pair may occur in many pieces. Where does your loop end, or return?"
)
def one_piece_merged(pieces, new):
    pair, merged = right(pieces, new)
    here = next(i for i, (tokens, _) in enumerate(pieces) if merged[i][0] != tokens)
    return pair, [*pieces[:here], merged[here], *pieces[here + 1 :]]


@MERGE_STEP.misconception(
    "digits are merged, not tokens",
    'Written as text, "1, 2" is also a part of "11, 25". Compare numbers, not their digits.',
)
def merged_as_text(pieces, new):
    pair, _ = right(pieces, new)
    texts = [str(list(tokens)).replace(f"{pair[0]}, {pair[1]}", str(new)) for tokens, _ in pieces]
    merged = [[int(number) for number in re.findall(r"\d+", text)] for text in texts]
    return pair, [(tokens, count) for tokens, (_, count) in zip(merged, pieces, strict=True)]


for one in ("best", "merged"):
    MERGE_STEP.edit(
        "it returns only one of two things",
        "Two things are wanted, the pair and the list of all pieces after the merge.",
        ("best, merged", one),
    )
MERGE_STEP.edit(
    "the counts of the pieces are lost",
    "The next step needs them, too. Each piece is still a pair, (tokens, count).",
    ("(merging.replaced(tokens, best, new), count)", "merging.replaced(tokens, best, new)"),
)
