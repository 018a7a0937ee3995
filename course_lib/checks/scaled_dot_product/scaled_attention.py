"""`scaled_attention(query, key, value, mask)`: softmax(Q Kᵀ / √d_k) V among what the mask allows, and the weights."""

from math import sqrt

import torch
from torch import Tensor
from torch.nn import functional as F

from course_lib.checks.engine import Case, Exercise
from course_lib.checks.scaled_dot_product import closing
from course_lib.checks.scaled_dot_product.closing import CLOSED, CLOSED_PLACES, EMPTY_ROWS, SHARED_OUT, ZEROS


def cases(generator: torch.Generator) -> list[Case]:
    def draw(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator)

    def drawn(batch: int, head: int, queries: int, keys: int, size: int, value_size: int) -> tuple[Tensor, ...]:
        return draw(batch, head, queries, size), draw(batch, head, keys, size), draw(batch, head, keys, value_size)

    def lengths(*words: int) -> Tensor:
        return (torch.arange(max(words)) < torch.tensor(words)[:, None])[:, None, None]

    two_keys = torch.tensor([[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]])[None, None]
    asks = torch.tensor([[1.0, 1.0, 1.0, 1.0], [0.0, 0.0, 1.0, 1.0]])[None, None]
    tens = torch.tensor([[10.0, 0.0, 1.0], [20.0, 0.0, 1.0]])[None, None]
    long = torch.tensor([[200.0], [190.0], [500.0]])[None, None] * torch.ones(4)  # (1, 1, 3, 4)
    far = torch.full((1, 1, 1, 4), 300.0)
    apart = torch.tensor([[500.0, 500.0, 0.0, 0.0], [0.5, 0.0, 0.0, 0.0]])[None, None]
    far_value = torch.tensor([[1.0, 0.0], [2.0, 0.0], [0.0, 9.0]])[None, None]
    third_closed = torch.tensor([True, True, False])[None, None, None]
    nothing = torch.tensor([[True, True], [False, False]])[None, None]
    per_head = torch.stack([torch.ones(3, 3).tril(), torch.ones(3, 3).triu()])[None].bool()
    every = torch.ones(1, 1, 1, 3, dtype=torch.bool)
    crossed = [draw(2, 4, 2, 3).transpose(1, 2) for _ in range(3)]  # (batch, head, word, d_k), as heads are split
    tall = torch.tril(torch.ones(2, 5, dtype=torch.bool), 3)[None, None]
    inputs = [
        ("two words, nothing closed", (asks, two_keys, tens), torch.ones(1, 1, 2, 2, dtype=torch.bool)),
        ("a causal mask", drawn(1, 1, 3, 3, 4, 2), torch.ones(1, 1, 3, 3, dtype=torch.bool).tril()),
        ("two sentences, one padded", drawn(2, 1, 2, 2, 4, 3), lengths(2, 1)),
        ("two heads, three sentences", drawn(3, 2, 4, 4, 3, 5), lengths(4, 2, 3)),
        ("padding and causal", drawn(2, 1, 4, 4, 2, 3), lengths(3, 4) & torch.ones(4, 4, dtype=torch.bool).tril()),
        ("three queries, five keys", drawn(2, 2, 3, 5, 4, 6), lengths(3, 5)),
        ("two new words after three old ones", drawn(1, 3, 2, 5, 8, 4), tall),
        ("a different mask for each head", drawn(3, 2, 3, 3, 5, 2), per_head),
        ("a query with nothing to look at", (asks, two_keys, tens), nothing),
        ("large scores", (far, long, far_value), third_closed),
        ("large negative scores", (-far, long, far_value), third_closed),
        ("very large scores", (1e5 * far, long, far_value), third_closed),
        ("very large negative scores", (-1e5 * far, long, far_value), third_closed),
        (
            "two queries with scores far from each other",
            (apart, two_keys, tens),
            torch.ones(1, 1, 2, 2, dtype=torch.bool),
        ),
        ("a sentence of length 0", drawn(2, 2, 3, 3, 4, 2), lengths(3, 0)),
        ("a batch of one, one head, one query", drawn(1, 1, 1, 3, 2, 4), every),
        ("one word", drawn(2, 1, 1, 1, 3, 2), torch.ones(1, 1, 1, 1, dtype=torch.bool)),
        ("queries, keys and values of one number", drawn(2, 1, 2, 3, 1, 1), torch.ones(1, 1, 2, 3, dtype=torch.bool)),
        ("all axes of one length", drawn(3, 3, 3, 3, 3, 3), lengths(2, 3, 1)),
        ("float64", tuple(x.double() for x in drawn(1, 2, 2, 3, 4, 3)), every),
        ("vectors that aren't contiguous in memory", tuple(crossed), lengths(4, 3)),
    ]
    names = ("query", "key", "value")
    return [Case(about, dict(zip(names, qkv, strict=True)) | {"mask": mask}) for about, qkv, mask in inputs]


def right(query, key, value, mask):
    """What `F.scaled_dot_product_attention` gives (it is among the right answers of the bank), and the weights."""
    scores = query @ key.mT / sqrt(query.shape[-1])
    closed = scores.masked_fill(~mask, -torch.inf)
    weights = F.softmax(closed, -1)
    weights = weights.nan_to_num(0.0)
    output = weights @ value
    return [output, weights]


ATTENTION = Exercise(
    "scaled_attention",
    "scaled_dot_product",
    cases,
    right,
    'lesson 3, "Where the three come from"; glossary.show("scaled dot product")',
    tensor=True,
)

BY_ROOT = " / sqrt(query.shape[-1])"
ATTENTION.edit(
    "the scores are not divided by √d_k",
    "Compare your scores with the formula. What happens to the dot products before the softmax?",
    (BY_ROOT, ""),
)
ATTENTION.edit(
    "the scores are divided by d_k, not by its root",
    "If d_k = 4, what must they be divided by?",
    (BY_ROOT, " / query.shape[-1]"),
)
ATTENTION.edit(
    "the root is taken of d_model, not of d_k",
    "How many products does one dot product add up? The other heads take no part in it.",
    ("query.shape[-1]", "query.shape[1] * query.shape[-1]"),
)
for what, length in (
    ("keys", "key.shape[-2]"),
    ("queries", "query.shape[-2]"),
    ("heads", "query.shape[1]"),
    ("sentences", "query.shape[0]"),
):
    ATTENTION.edit(
        f"the root is taken of the number of {what}",
        "Print `query.shape`, and write a name next to each of the four lengths. How many numbers does one query have?",
        ("query.shape[-1]", length),
    )
ATTENTION.edit(
    "the scores are divided by 2, whatever the size",
    "2 is the root for queries and keys of four numbers. The function gets other sizes, too.",
    (BY_ROOT, " / 2"),
)
ATTENTION.edit(
    "the root is taken of the size of the values",
    "A dot product is made from the numbers of a query and a key. The values may have another size.",
    ("query.shape[-1]", "value.shape[-1]"),
)
ATTENTION.edit("the scores are multiplied by √d_k", "Should the scores become larger or smaller?", ("/ sqrt", "* sqrt"))
ATTENTION.edit(
    "the root comes after the softmax",
    "Divided weights no longer sum to 1. Where in the formula is the root?",
    (BY_ROOT, ""),
    (ZEROS, ZEROS + BY_ROOT),
)
ATTENTION.edit(
    "the output is divided, not the scores",
    "Where in the formula is the root?",
    (BY_ROOT, ""),
    ("weights @ value", "weights @ value" + BY_ROOT),
)
ATTENTION.edit(
    "the softmax runs over the queries",
    "Each row of the weights must sum to 1. A row is one query, and its entries are its keys.",
    ("closed, -1", "closed, -2"),
)
for axis in (1, 0):
    ATTENTION.edit(
        "the softmax runs over the heads or the batch",
        "The axes are (batch, head, query, key). Over which of them should the weights sum to 1?",
        ("closed, -1", f"closed, {axis}"),
    )
ATTENTION.edit("the mask comes after the softmax", closing.AFTER, (SHARED_OUT, "F.softmax(scores, -1) * mask"))
ATTENTION.edit("the mask is not used", "Closed keys still get weight.", ("softmax(closed", "softmax(scores"))
for changes in closing.INVERTED:
    ATTENTION.edit("the mask is the wrong way round", closing.WAY_ROUND, *changes)
ATTENTION.edit(
    "the mask is transposed: it closes rows, not columns",
    "Nobody may look *at* padding. Along which axis of (query, key) must it be closed?",
    ("~mask", "~mask.mT"),
)
ATTENTION.edit(
    "the mask closes the rows of the padding as well",
    "Close only what the mask closes. It doesn't say who may look: an axis of length 1 means the same for all queries.",
    ("~mask", "~(mask & mask.mT if mask.shape[-2] == 1 else mask)"),
)
ATTENTION.edit(
    "the first sentence's mask is used for all sentences",
    "Each sentence has an entry of its own along the mask's first axis. Where does your code lose it?",
    ("~mask", "~mask[:1]"),
)
ATTENTION.edit(
    "the first head's mask is used for all heads",
    "A mask may differ from head to head. Where does your code lose that?",
    ("~mask", "~mask[:, :1]"),
)
ATTENTION.edit(
    "closed scores become 0", "A score of 0 is a score like any other, because exp(0) is 1.", (CLOSED, "scores * mask")
)
ATTENTION.edit(
    "a query with nothing to look at gives NaN",
    "The softmax of nothing but −∞ is 0/0. What should such a query get? Exercise 4 says it.",
    (ZEROS, ""),
)
ATTENTION.edit("every weight is 0, as if all keys were closed", closing.ALL_CLOSED, closing.MULTIPLIED)
for those in ("scores", "closed"):
    ATTENTION.edit(
        "the largest score is taken over all rows, not in each row", closing.LARGEST, closing.one_largest(those)
    )
for changes in ([closing.OPEN_WHERE_EMPTY], *closing.put_or_added(closing.HUGE, "")):
    ATTENTION.edit(
        "a query with nothing to look at still gets weight",
        "If all its keys get the same finite penalty, they still share its weight. What should such a query get? Exercise 4 says it.",
        *changes,
    )
for changes in closing.put_or_added(closing.LEAKY, "", EMPTY_ROWS, CLOSED_PLACES):
    ATTENTION.edit("the penalty is finite, and a closed key still takes weight", closing.LEAKS, *changes)
for changes in closing.put_or_added(closing.SMALL, "", EMPTY_ROWS, CLOSED_PLACES):
    ATTENTION.edit("the penalty is finite, and some scores reach it", closing.REACHED, *changes)
for changes in closing.in_plain_exponentials():
    ATTENTION.edit("large scores overflow", closing.OVERFLOWS, *changes)
BOTH = "[output, weights]"
ATTENTION.edit(
    "the weights come before the output",
    "Both are there, but in the wrong order. The output should come first.",
    (BOTH, "[weights, output]"),
)
TWO = "The exercise asks for two things, first the output and then the weights."
ATTENTION.edit("only the output is returned", TWO, (BOTH, "output"))
ATTENTION.edit("only the weights are returned", TWO, (BOTH, "weights"))
