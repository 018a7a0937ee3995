"""`multi_head_attention(x, W_q, W_k, W_v, W_o, heads, mask)`: the output of the whole layer, and the weights of each head."""

import torch
from torch.nn import functional as F

from course_lib.checks.engine import Case, Exercise
from course_lib.checks.multi_head.merge_heads import right as merge
from course_lib.checks.multi_head.split_heads import right as split
from course_lib.checks.scaled_dot_product import closing


def cases(generator: torch.Generator) -> list[Case]:
    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator)

    def padding(words: int, *lengths: int) -> torch.Tensor:
        return (torch.arange(words) < torch.tensor(lengths)[:, None])[:, None, None]

    def closed(*position: int, shape: tuple[int, ...]) -> torch.Tensor:
        mask = torch.ones(shape, dtype=torch.bool)
        mask[position] = False
        return mask

    def case(about: str, x: torch.Tensor, heads: int, mask: torch.Tensor) -> Case:
        size = x.shape[-1]
        matrices = {name: draw(size, size).to(x) for name in ("W_q", "W_k", "W_v", "W_o")}
        return Case(about, {"x": x, **matrices, "heads": heads, "mask": mask})

    def all_open(words: int) -> torch.Tensor:
        return torch.ones(1, 1, words, words, dtype=torch.bool)

    one = torch.eye(2)
    hand = {"W_q": one, "W_k": 2 * one, "W_v": one, "W_o": one, "heads": 2, "mask": all_open(2)}
    each = torch.rand(1, 3, 4, 4, generator=generator) < 0.6
    each[..., 0] = True
    return [
        Case("two words, two heads of one number each", {"x": torch.tensor([[[1.0, 0.0], [0.0, 3.0]]]), **hand}),
        case("one sentence of three words, nothing masked", draw(1, 3, 4), 2, all_open(3)),
        case("one sentence of two words, a causal mask", draw(1, 2, 4), 2, all_open(2).tril()),
        case("one head", draw(2, 3, 4), 1, all_open(3).tril()),
        case("as many sentences as heads, padding in one sentence", draw(2, 2, 4), 2, padding(2, 2, 1)),
        case("three sentences with padding", draw(3, 4, 8), 2, padding(4, 4, 1, 3)),
        case("two sentences with padding, four heads", draw(2, 4, 8), 4, padding(4, 2, 4)),
        case("padding and a causal mask", draw(3, 5, 6), 3, padding(5, 5, 2, 4) & all_open(5).tril()),
        case("a mask for each head", draw(2, 4, 6), 3, each),
        case("a word that may look at nothing", draw(1, 2, 4), 2, closed(0, 0, 0, shape=(1, 1, 2, 2))),
        case("six words, one of which may look at nothing", draw(2, 3, 6), 2, closed(1, 0, 2, shape=(2, 1, 3, 3))),
        case("a word that may look at nothing in one head", draw(1, 3, 4), 2, closed(0, 1, 0, shape=(1, 2, 3, 3))),
        case("an empty sentence next to another", draw(2, 3, 4), 2, padding(3, 3, 0)),
        case("as many heads as numbers", draw(2, 3, 4), 4, all_open(3)),
        case("as many words as heads and sentences", draw(3, 3, 9), 3, all_open(3).tril()),
        case("large scores", 8 * draw(2, 4, 6), 2, all_open(4).tril()),
        Case(
            "very low scores",
            {
                "x": torch.tensor([[[200.0, 0.0], [1.0, 0.0]]]),
                **hand,
                "W_q": -one,
                "heads": 1,
                "mask": all_open(2).tril(),
            },
        ),
        case("a single word", draw(2, 1, 6), 3, all_open(1)),
        case("float64", draw(2, 4, 6).double(), 2, all_open(4)),
        case("numbers that are not contiguous in memory", draw(6, 4, 2).permute(2, 1, 0), 2, padding(4, 4, 3)),
    ]


def right(x, W_q, W_k, W_v, W_o, heads, mask):
    query, key, value = (split(x @ matrix, heads) for matrix in (W_q, W_k, W_v))
    scores = query @ key.mT / query.shape[-1] ** 0.5
    closed = scores.masked_fill(~mask, -torch.inf)
    weights = F.softmax(closed, -1)
    weights = weights.nan_to_num(0.0)
    found = weights @ value
    output = merge(found) @ W_o
    return output, weights


MULTI_HEAD_ATTENTION = Exercise(
    "multi_head_attention",
    "multi_head",
    cases,
    right,
    'lesson 4, "From a loop to one reshape"; glossary.show("multi-head attention")',
    tolerance=1e-4,
)

SPLIT_WITHOUT_SWAP = "split(x @ matrix, heads)", "(x @ matrix).reshape(len(x), heads, x.shape[1], -1)"
MERGE_WITHOUT_SWAP = "merge(found)", "found.reshape(x.shape)"
DIVISOR = "query.shape[-1] ** 0.5"
NOTHING = "What should a word get that may look at nothing? In the mask below, look for a row that is all False."
MULTI_HEAD_ATTENTION.edit(
    "the heads are merged without the transpose",
    "The weights are correct, but the output isn't. Use your merge_heads from exercise 3.",
    MERGE_WITHOUT_SWAP,
)
MULTI_HEAD_ATTENTION.edit(
    "the split mixes up the words",
    "view and reshape never swap two axes. Use your split_heads from exercise 1 for Q, K and V.",
    SPLIT_WITHOUT_SWAP,
)
MULTI_HEAD_ATTENTION.edit(
    "the split mixes up the words",
    "view and reshape never swap two axes. Your merge undoes your split, so a test of both together shows nothing. But attention happens in between.",
    SPLIT_WITHOUT_SWAP,
    MERGE_WITHOUT_SWAP,
)
MULTI_HEAD_ATTENTION.edit(
    "the scores are divided by √d_model",
    "How many products does *one* of these dot products add up?",
    (DIVISOR, "x.shape[-1] ** 0.5"),
)
MULTI_HEAD_ATTENTION.edit(
    "the scores are not divided",
    "Each head computes *scaled* dot-product attention. What is missing between the product and the softmax?",
    (DIVISOR, "1"),
)
MULTI_HEAD_ATTENTION.edit(
    "the scores are divided by the root of the number of heads",
    "Does the number of heads make a dot product large, or the number of products in it?",
    (DIVISOR, "heads ** 0.5"),
)
MULTI_HEAD_ATTENTION.edit(
    "the scores are divided by the root of the number of words",
    "Does the number of words make a dot product large, or the number of products in it?",
    (DIVISOR, "x.shape[1] ** 0.5"),
)
MULTI_HEAD_ATTENTION.edit(
    "the scores are divided by d_head, without the root",
    "Variances add up, so the spread grows with the *root* of the number of products.",
    (DIVISOR, "query.shape[-1]"),
)
MULTI_HEAD_ATTENTION.edit(
    "the scores are multiplied, not divided",
    "Is your scale the root, or one over the root? Wider heads shouldn't get larger scores.",
    (DIVISOR, "query.shape[-1] ** -0.5"),
)
MULTI_HEAD_ATTENTION.edit(
    "the softmax runs over the heads",
    "Heads don't compete with each other. In each head, the weights of one query sum to 1 over the keys.",
    ("closed, -1", "closed, 1"),
)
MULTI_HEAD_ATTENTION.edit(
    "the softmax runs over the queries",
    "Sum your weights over the last axis. A query that may look at something should get 1.",
    ("closed, -1", "closed, -2"),
)
MULTI_HEAD_ATTENTION.edit(
    "the mask is not used", "Masked positions still get some weight.", ("softmax(closed", "softmax(scores")
)
MULTI_HEAD_ATTENTION.edit(
    "the mask is the wrong way round",
    "True means *may attend*. In nn.MultiheadAttention it means the opposite, but not in this course.",
    ("~mask", "mask"),
)
MULTI_HEAD_ATTENTION.edit(
    "the mask comes after the softmax",
    "Then the weights of a row no longer sum to 1, because the masked positions have already taken their share.",
    ("F.softmax(closed, -1)", "F.softmax(scores, -1) * mask"),
)
MULTI_HEAD_ATTENTION.edit(
    "a word with nothing to look at looks everywhere",
    f"If all keys get the same finite penalty, the softmax doesn't notice it. {NOTHING}",
    ("-torch.inf", "-1e9"),
)
MULTI_HEAD_ATTENTION.edit(
    "masked scores become 0",
    "A score of 0 is a score like any other: exp(0) is 1.",
    ("scores.masked_fill(~mask, -torch.inf)", "scores * mask"),
)
OTHERS = "Each sentence has its own mask. Print the shapes of scores and mask, one below the other: axes are matched from the right."
MULTI_HEAD_ATTENTION.edit(
    "heads get the masks of other sentences", OTHERS, ("~mask", "~(mask[:, 0] if mask.shape[1] == 1 else mask)")
)


def each_mask_for_each_head(mask, scores):
    """Repeats all sentences' masks once per head, but in the scores the heads of one sentence follow each other."""
    if mask.shape[1] > 1:
        return mask
    batch, heads, words, _ = scores.shape
    return mask.expand(batch, 1, words, words).repeat(heads, 1, 1, 1).view(scores.shape)


MULTI_HEAD_ATTENTION.edit(
    "heads get the masks of other sentences", OTHERS, ("~mask", "~each_mask_for_each_head(mask, scores)")
)
MULTI_HEAD_ATTENTION.edit(
    "all heads get the first head's mask",
    "The head axis of the mask may have length 1 or one entry per head. Both should work.",
    ("~mask", "~mask[:, :1]"),
)
MULTI_HEAD_ATTENTION.edit(
    "all sentences get the first sentence's mask",
    "The batch axis of the mask may have length 1 or one entry per sentence. Both should work.",
    ("~mask", "~mask[:1]"),
)
MULTI_HEAD_ATTENTION.edit("a word with nothing to look at gives NaN", NOTHING, (".nan_to_num(0.0)", ""))
for changes in closing.in_plain_exponentials():
    MULTI_HEAD_ATTENTION.edit("large scores overflow", closing.OVERFLOWS, *changes)
MULTI_HEAD_ATTENTION.edit(
    "W_O is left out",
    "The pieces of all heads are side by side now. Which product is still missing?",
    (" @ W_o", ""),
)
for alone in (
    "found.sum(1) @ W_o[: found.shape[-1]]",  # all heads with the rows of the first
    "merge(found @ W_o[: found.shape[-1], : found.shape[-1]])",  # with the first corner of W_O
    "merge(found) @ (W_o * torch.block_diag(*heads * [W_o.new_ones(2 * found.shape[-1:])]))",  # each with a corner of its own
    "found @ W_o.unflatten(0, (heads, -1))",  # each with its own rows, but not added up
):
    MULTI_HEAD_ATTENTION.edit(
        "W_O is applied to each head separately",
        "W_O comes once, after the merge. Each of its columns reads *all* heads, and the heads meet nowhere else.",
        ("merge(found) @ W_o", alone),
    )
MULTI_HEAD_ATTENTION.edit(
    "the matrices are transposed",
    "The formula is X W, with the matrices as they are. Only nn.Linear stores them transposed.",
    ("x @ matrix", "x @ matrix.T"),
    ("@ W_o", "@ W_o.T"),
)
MULTI_HEAD_ATTENTION.edit(
    "the weights are averaged over the heads",
    "Return the weights of each head: (batch, head, n, n). nn.MultiheadAttention averages them unless you tell it not to.",
    ("return output, weights", "return output, weights.mean(1)"),
)
MULTI_HEAD_ATTENTION.edit(
    "the output and the weights are the wrong way round",
    "Return the output first, then the weights, as everywhere in this course.",
    ("return output, weights", "return weights, output"),
)
