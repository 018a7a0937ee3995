"""encode_piece(tokens, merges): the tokens of a piece, when its bytes are merged in the order of a given list."""

from functools import partial
from itertools import pairwise

import torch

from course_lib.checks.engine import Case, Exercise
from course_lib.checks.language_models import merging

BYTES = 256


def cases(generator: torch.Generator) -> list[Case]:
    def some_merges(letters: list[int], count: int) -> list[tuple[int, int]]:
        """Pairs of tokens that already exist, no pair twice; newer tokens are drawn more often."""
        there, merges = list(letters), []
        while len(merges) < count:
            one, other = (there[-1 - int(len(there) * torch.rand((), generator=generator) ** 1.5)] for _ in range(2))
            if (one, other) not in merges:
                merges.append((one, other))
                there.append(BYTES + len(merges) - 1)
        return merges

    def draw(letters: int, count: int, length: int) -> tuple[list[int], list[tuple[int, int]]]:
        there = list(range(97, 97 + letters))
        merges = some_merges(there, count)
        return torch.randint(97, 97 + letters, (length,), generator=generator).tolist(), merges

    a, b, c, d = range(97, 101)
    lower = [(108, 111), (256, 119), (101, 114), (257, 258)]
    inputs = [
        ("two merges that need the same letter", [a, b, c], [(b, c), (a, b)]),
        ("*lower*", list(b"lower"), lower),
        ("*slower*", list(b"slower"), lower[:3]),
        ("the same letters, with other merges", [a, b, c], [(a, b), (b, c)]),
        ("a pair that occurs twice", [a, b, c, a, b], [(a, b), (c, 256)]),
        ("a pair that occurs twice and comes last in the list", [a, b, c, d, b, c], [(c, d), (a, b), (b, c)]),
        ("three times the same letter", [a, a, a], [(a, a)]),
        ("five times the same letter", [a] * 5, [(a, a), (256, 256)]),
        ("six times the same letter", [a] * 6, [(a, a), (a, 256)]),
        ("a long token that is never used", [a, b, c, d], [(b, c), (a, b), (257, c), (258, d)]),
        ("a frequent pair that comes late in the list", [a, b, a, b, c, a], [(b, a), (a, b), (b, c)]),
        ("a pair in the opposite order", [b, a, c, b], [(a, b), (c, a), (b, c)]),
        ("nothing to merge", [c, a], [(a, b), (b, c)]),
        ("one byte", [a], [(a, a)]),
        ("no merges", [a, b], []),
        ("a pair that occurs twice, inside a longer token", [a, b, a, b, c], [(a, b), (256, 256), (256, c)]),
        *((f"{count} merges", *draw(letters, count, length))
          for letters, count, length in ((2, 3, 9), (2, 5, 12), (3, 5, 10), (3, 7, 14), (4, 8, 14), (3, 6, 9), (3, 9, 16),
                                         (2, 4, 16), (3, 6, 12), (4, 6, 12))),
    ]  # fmt: skip
    return [Case(about, {"tokens": tokens, "merges": merges}) for about, tokens, merges in inputs]


def right(tokens, merges):
    while pairs := [pair for pair in pairwise(tokens) if pair in merges]:
        best = min(pairs, key=merges.index)
        number = BYTES + merges.index(best)
        tokens = merging.replaced(tokens, best, number)
    return tokens


ENCODE_PIECE = Exercise(
    "encode_piece",
    "language_models",
    cases,
    right,
    'lesson 8, "Byte-pair encoding, by hand"; glossary.show("byte-pair encoding")',
)


@ENCODE_PIECE.misconception(
    "it takes the longest token that fits, from the left",
    "Some other encoders do that. Here only the order of the merges counts, and a long token may never be used.",
)
def longest_match(tokens, merges):
    spelled = [(number,) for number in range(BYTES)]
    for one, other in merges:
        spelled.append(spelled[one] + spelled[other])
    rest, found = tuple(tokens), []
    while rest:
        fits = [number for number, token in enumerate(spelled) if rest[: len(token)] == token]
        found.append(max(fits, key=lambda number: len(spelled[number])))
        rest = rest[len(spelled[found[-1]]) :]
    return found


for most in ("", ", most=1"):
    ENCODE_PIECE.edit(
        "pairs are merged in the order of the text",
        "The order of the *list of merges* decides, not the order of the text. Look at all pairs before you merge one.",
        ("min(pairs, key=merges.index)", "pairs[0]"),
        ("best, number", f"best, number{most}"),
    )


@ENCODE_PIECE.misconception(
    "it goes through the text only once, from left to right",
    "A merge makes new pairs, and an earlier merge of the list may fit further on. Can one pass find them all?",
)
def one_pass(tokens, merges):
    done, rest = [], list(tokens)
    while rest:
        both = tuple(rest[:2]) in merges
        done.append(BYTES + merges.index(tuple(rest[:2])) if both else rest[0])
        rest = rest[2 if both else 1 :]
    return done


LATEST = (
    "the last merge in the list is done first",
    "The merge that training found *first* is done first. Of the pairs in the piece, which one comes first in `merges`?",
)
ENCODE_PIECE.edit(*LATEST, ("min(", "max("))


@ENCODE_PIECE.misconception(*LATEST)
def backwards(tokens, merges):
    for i in reversed(range(len(merges))):
        tokens = merging.replaced(tokens, merges[i], BYTES + i)
    return tokens


for then in ("merges.index(pair)", "0"):
    ENCODE_PIECE.edit(
        "the most frequent pair of the piece is merged first",
        "Only training counts pairs. When you encode, the order of the merges decides.",
        ("key=merges.index", f"key=lambda pair: (-pairs.count(pair), {then})"),
    )
ENCODE_PIECE.edit(
    "nothing is merged",
    "The pairs in `merges` are tuples, and in Python a list never equals a tuple. What is `tokens[i : i + 2]`?",
    ("if pair in", "if list(pair) in"),
)
for most in ("", ", most=1"):
    ENCODE_PIECE.edit(
        "it stops after the first merge",
        "After a merge there may be another pair that is in the list. When may you stop?",
        ("while", "if"),
        ("best, number", f"best, number{most}"),
    )


@ENCODE_PIECE.misconception(
    "pairs that contain a merged token are never looked for",
    "After a merge, tokens have new neighbours. When does your code collect the pairs?",
)
def pairs_of_bytes(tokens, merges):
    pairs = set(pairwise(tokens))
    for number, pair in enumerate(merges, BYTES):
        if pair in pairs:
            tokens = merging.replaced(tokens, pair, number)
    return tokens


def in_turn(tokens, merges, first=BYTES, replace=merging.replaced):
    """Goes through the list once. That is enough, because no merge makes a pair that an earlier one would take."""
    for number, pair in enumerate(merges, first):
        tokens = replace(tokens, pair, number)
    return tokens


@ENCODE_PIECE.misconception(
    "each merge is done only once", "The same pair may occur in a piece twice. What happens to the second one?"
)
def once_each(tokens, merges):
    return in_turn(tokens, merges, replace=partial(merging.replaced, most=1))


ENCODE_PIECE.edit(
    "it merges from right to left",
    "From left to right, with the merge (97, 97), [97, 97, 97] becomes [256, 97].",
    ("merging.replaced(tokens, best, number)", "merging.replaced(tokens[::-1], best[::-1], number)[::-1]"),
)
ENCODE_PIECE.edit(
    "one token takes part in two merges",
    "In [97, 97, 97] the first merge uses up the second token. With which token do you compare the third?",
    ("merging.replaced", "merging.merged_again"),
)
BY_USE = (
    "merged tokens are numbered in the order in which they are used",
    "The number of a token belongs to its merge. `merges[i]` always makes token 256 + i, whatever was used before it.",
)


@ENCODE_PIECE.misconception(*BY_USE)
def numbered_by_round(tokens, merges):
    number = BYTES
    while pairs := [pair for pair in pairwise(tokens) if pair in merges]:
        tokens, number = merging.replaced(tokens, min(pairs, key=merges.index), number), number + 1
    return tokens


@ENCODE_PIECE.misconception(*BY_USE)
def numbered_by_use(tokens, merges):
    number = BYTES
    for pair in merges:
        merged = merging.replaced(tokens, pair, number)
        number += merged != list(tokens)
        tokens = merged
    return tokens


NUMBERS = "Tokens 0 to 255 are the bytes. So which token does `merges[0]` make?"
ENCODE_PIECE.edit("merged tokens are numbered from 0", NUMBERS, ("BYTES + ", ""))
ENCODE_PIECE.misconception("merged tokens are numbered from 257", NUMBERS)(partial(in_turn, first=BYTES + 1))
ENCODE_PIECE.edit(
    "merged tokens are numbered from 0",
    NUMBERS,
    ("return tokens", "return [token - BYTES if token >= BYTES else token for token in tokens]"),
)


@ENCODE_PIECE.misconception("a pair is merged in either order", "(1, 2) isn't (2, 1), just as *on* isn't *no*.")
def either_order(tokens, merges):
    for number, pair in enumerate(merges, BYTES):
        done, rest = [], list(tokens)
        while rest:
            here = tuple(rest[:2]) in (pair, pair[::-1])
            done, rest = [*done, number if here else rest[0]], rest[2 if here else 1 :]
        tokens = done
    return tokens
