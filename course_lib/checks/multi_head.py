"""Exercises of lesson 4: multi-head attention."""

from itertools import product

import torch
from torch.nn import functional as F

from course_lib.checks.engine import Case, Exercise, Misconception, Question

LADDER = 'lesson 4, "The ladder"; glossary.show("multi-head attention")'
MERGE = 'lesson 4, "The merge, and how it goes wrong"; glossary.show("multi-head attention")'
SHAPES = 'lesson 4, "Shapes"; glossary.show("multi-head attention")'
COST = 'lesson 4, "What do more heads cost?"; glossary.show("learned parameters")'
WITHOUT = 'lesson 4, "Who does what? A model to take apart"'
TASK = 'lesson 4, "A task that one head must fail"'


def _count(*shape: int) -> torch.Tensor:
    """1, 2, 3 … in a tensor of this shape."""
    return torch.arange(1.0, 1 + torch.Size(shape).numel()).reshape(shape)


# ---- split_heads(x, heads) ----


def split_cases(generator: torch.Generator) -> list[Case]:
    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator)

    inputs = [
        ("one sentence of two words, four numbers each", _count(1, 2, 4), 2),
        ("one sentence of three words, four numbers each", _count(1, 3, 4), 2),
        ("two sentences of two words", draw(2, 2, 6), 3),
        ("one head", draw(2, 3, 4), 1),
        ("as many heads as numbers", draw(2, 5, 4), 4),
        ("a single word", draw(3, 1, 6), 2),
        ("as many sentences as words and as heads", draw(3, 3, 9), 3),
        ("as many words as numbers in a head", draw(2, 4, 12), 3),
        ("float64", draw(2, 4, 6).double(), 2),
        ("numbers that do not lie in order in memory", draw(6, 5, 2).permute(2, 1, 0), 3),
    ]
    return [Case(about, {"x": x, "heads": heads}) for about, x, heads in inputs]


def split_right(x, heads):
    return torch.stack(x.split(x.shape[-1] // heads, dim=-1), 1)


SPLIT_HEADS = Exercise("split_heads", "multi_head", split_cases, split_right, LADDER)


@SPLIT_HEADS.misconception(
    "the split mixes the words",
    "The shape is right, but look at head 0 in the failing input: its rows should be the first pieces of all words. view and reshape only count on through memory; they never swap two axes.",
)
def cut_across_words(x, heads):
    return x.reshape(x.shape[0], heads, x.shape[1], x.shape[2] // heads)


@SPLIT_HEADS.misconception(
    "the head axis stands behind the words",
    "The numbers are cut as they should be. Which axis has to stand second, so that attention can treat each head as a sentence of its own?",
)
def words_before_heads(x, heads):
    return split_right(x, heads).transpose(1, 2)


@SPLIT_HEADS.misconception(
    "the head axis stands in front of the batch",
    "The batch stays first. A list of pieces, stacked, gets its new axis where stack is told to put it.",
)
def heads_before_batch(x, heads):
    return split_right(x, heads).transpose(0, 1)


@SPLIT_HEADS.misconception(
    "the heads take turns at picking numbers",
    "Head 0 should have the *first* piece of each vector, in one run: numbers that stand next to each other.",
)
def in_turns(x, heads):
    return torch.stack([x[..., head::heads] for head in range(heads)], 1)


@SPLIT_HEADS.misconception(
    "the words and the numbers of a head are swapped",
    "The last axis holds the numbers of one word. Which two axes does the swap have to move?",
)
def words_and_numbers_swapped(x, heads):
    return split_right(x, heads).mT


@SPLIT_HEADS.misconception("batch and heads are one axis", "Four axes are wanted here: (batch, head, n, d_head).")
def batch_and_heads_joined(x, heads):
    return split_right(x, heads).flatten(0, 1)


@SPLIT_HEADS.misconception(
    "each head has the whole vector", "The vectors are *cut*: all heads together have as many numbers as x, not more."
)
def words_cut_up(x, heads):
    return torch.stack([x] * heads, 1)


# ---- the shapes of a layer ----


BATCH, WORDS, WIDTH, HEADS = 2, 10, 64, 4
PIECE = WIDTH // HEADS

SLOTS = (
    (
        ("", "", (BATCH, HEADS, WORDS, PIECE)),
        ("queries: the head axis stands behind the words", "Which axes have to be last, so that every head gets its own Q Kᵀ?", (BATCH, WORDS, HEADS, PIECE)),
        ("queries: each head has all 64 numbers", "The heads share the 64 numbers among them.", (BATCH, HEADS, WORDS, WIDTH)),
        ("queries: the batch has gone", "There are two sentences, and they stay apart all the way.", (HEADS, WORDS, PIECE)),
    ),
    (
        ("", "", (BATCH, HEADS, WORDS, WORDS)),
        ("weights: they compare numbers, not words", "A row of weights says how one *word* shares its attention among all *words*.", (BATCH, HEADS, PIECE, PIECE)),
        ("weights: there is one map for all heads", "Each head has a softmax of its own. That is why there are heads.", (BATCH, WORDS, WORDS)),
        ("weights: that is the shape of the values", "Weights are what the values are multiplied *by*. One number for each pair of … what?", (BATCH, HEADS, WORDS, PIECE)),
        ("weights: the batch has gone", "There are two sentences, and they stay apart all the way.", (HEADS, WORDS, WORDS)),
    ),
    (
        ("", "", (BATCH, WORDS, WIDTH)),
        ("merged: the heads are added up, not put side by side", "After the merge, W_O wants to read every head's piece by itself.", (BATCH, WORDS, PIECE)),
        ("merged: the vectors have grown", "Four pieces side by side: how many numbers did each piece have?", (BATCH, WORDS, HEADS * WIDTH)),
        ("merged: the heads are still apart", "That is what the heads hand over. The merge puts their pieces side by side.", (BATCH, HEADS, WORDS, PIECE)),
        ("merged: the batch has gone", "There are two sentences, and they stay apart all the way.", (WORDS, WIDTH)),
    ),
)  # fmt: skip


def shapes_right():
    return [torch.stack(torch.zeros(2, 10, 64).chunk(4, -1), 1).shape, (2, 4, 10, 10), (2, 10, 64)]


def misconceptions(*slots):
    """Every combination of wrong entries, called after the first of them."""
    for entries in product(*slots):
        faults = [(name, hint) for name, hint, _ in entries if name]
        if faults:
            yield Misconception(*faults[0], [value for _, _, value in entries])


HEAD_SHAPES = Question("head_shapes", "multi_head", shapes_right, tuple(misconceptions(*SLOTS)), SHAPES)


# ---- merge_heads(x) ----


def merge_cases(generator: torch.Generator) -> list[Case]:
    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator)

    inputs = [
        ("two heads, two words, one number each", _count(1, 2, 2, 1)),
        ("two heads, three words, two numbers each", _count(1, 2, 3, 2)),
        ("two sentences", draw(2, 3, 2, 2)),
        ("one head", draw(2, 1, 3, 4)),
        ("one number a head", draw(2, 4, 3, 1)),
        ("a single word", draw(3, 2, 1, 3)),
        ("all axes of one length", draw(3, 3, 3, 3)),
        ("float64", draw(2, 2, 5, 3).double()),
        ("numbers that do not lie in order in memory", draw(3, 5, 4, 2).permute(3, 2, 1, 0)),
    ]
    return [Case(about, {"x": x}) for about, x in inputs]


def merge_right(x):
    return torch.cat(x.unbind(1), -1)


MERGE_HEADS = Exercise("merge_heads", "multi_head", merge_cases, merge_right, MERGE)


@MERGE_HEADS.misconception(
    "the heads are merged without the transpose",
    "Write beside each number of the failing input which word it belongs to. Each row of the result should hold numbers of one word only.",
)
def merge_without_transpose(x):
    return x.reshape(x.shape[0], x.shape[2], x.shape[1] * x.shape[3])


@MERGE_HEADS.misconception(
    "the wrong two axes are swapped",
    "Before two axes can be joined they must stand side by side. Which two are to be joined?",
)
def merge_wrong_axes(x):
    return x.transpose(2, 3).reshape(x.shape[0], x.shape[2], x.shape[1] * x.shape[3])


@MERGE_HEADS.misconception(
    "the batch and the heads are swapped",
    "Before two axes can be joined they must stand side by side. Which two are to be joined? Axis 0 is the batch.",
)
def merge_batch_and_heads(x):
    return x.swapaxes(0, 1).reshape(x.shape[0], x.shape[2], x.shape[1] * x.shape[3])


@MERGE_HEADS.misconception(
    "the pieces are shuffled into each other",
    "First all numbers of head 0, then all of head 1: the pieces lie side by side, they are not dealt out in turns.",
)
def merge_in_turns(x):
    return x.permute(0, 2, 3, 1).flatten(2)


@MERGE_HEADS.misconception(
    "the pieces are not joined yet", "The axes stand in the right order. Two of them have still to become one."
)
def merge_swapped_only(x):
    return x.transpose(1, 2)


@MERGE_HEADS.misconception(
    "the heads are added up", "Nothing is added in a merge. The result has as many numbers as x."
)
def merge_by_sum(x):
    return x.sum(1)


@MERGE_HEADS.misconception(
    "the heads are averaged", "Nothing is averaged in a merge. The result has as many numbers as x."
)
def merge_by_mean(x):
    return x.mean(1)


@MERGE_HEADS.misconception(
    "the heads stand one below the other",
    "A sentence of n words stays a sentence of n words; its vectors get longer. Along which axis do the pieces lie side by side?",
)
def merge_one_after_the_other(x):
    return x.flatten(1, 2)


@MERGE_HEADS.misconception(
    "the words of a sentence are joined too",
    "Three axes are wanted: (batch, n, d_model). flatten joins *all* axes from the one that it is given.",
)
def merge_words_too(x):
    return merge_right(x).flatten(1)


# ---- multi_head_attention(x, W_q, W_k, W_v, W_o, heads, mask) ----


def attention_cases(generator: torch.Generator) -> list[Case]:
    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator)

    def padding(words: int, *lengths: int) -> torch.Tensor:
        return (torch.arange(words) < torch.tensor(lengths)[:, None])[:, None, None]

    def closed(*place: int, shape: tuple[int, ...]) -> torch.Tensor:
        mask = torch.ones(shape, dtype=torch.bool)
        mask[place] = False
        return mask

    def case(about: str, x: torch.Tensor, heads: int, mask: torch.Tensor) -> Case:
        size = x.shape[-1]
        matrices = {name: draw(size, size).to(x) for name in ("W_q", "W_k", "W_v", "W_o")}
        return Case(about, {"x": x, **matrices, "heads": heads, "mask": mask})

    def yes(words: int) -> torch.Tensor:
        return torch.ones(1, 1, words, words, dtype=torch.bool)

    one = torch.eye(2)
    hand = {"W_q": one, "W_k": 2 * one, "W_v": one, "W_o": one, "heads": 2, "mask": yes(2)}
    each = torch.rand(1, 3, 4, 4, generator=generator) < 0.6
    each[..., 0] = True
    return [
        Case("two words, two heads of one number", {"x": torch.tensor([[[1.0, 0.0], [0.0, 3.0]]]), **hand}),
        case("one sentence of three words, all open", draw(1, 3, 4), 2, yes(3)),
        case("one sentence of two words, a causal mask", draw(1, 2, 4), 2, yes(2).tril()),
        case("one head", draw(2, 3, 4), 1, yes(3).tril()),
        case("as many sentences as heads, padding in one of them", draw(2, 2, 4), 2, padding(2, 2, 1)),
        case("three sentences with padding", draw(3, 4, 8), 2, padding(4, 4, 1, 3)),
        case("two sentences with padding, four heads", draw(2, 4, 8), 4, padding(4, 2, 4)),
        case("padding and a causal mask", draw(3, 5, 6), 3, padding(5, 5, 2, 4) & yes(5).tril()),
        case("a mask for each head", draw(2, 4, 6), 3, each),
        case("a word that may look at nothing", draw(1, 2, 4), 2, closed(0, 0, 0, shape=(1, 1, 2, 2))),
        case("one of six words that may look at nothing", draw(2, 3, 6), 2, closed(1, 0, 2, shape=(2, 1, 3, 3))),
        case("a word that may look at nothing in one head", draw(1, 3, 4), 2, closed(0, 1, 0, shape=(1, 2, 3, 3))),
        case("an empty sentence beside another", draw(2, 3, 4), 2, padding(3, 3, 0)),
        case("as many heads as numbers", draw(2, 3, 4), 4, yes(3)),
        case("as many words as heads and sentences", draw(3, 3, 9), 3, yes(3).tril()),
        case("large scores", 8 * draw(2, 4, 6), 2, yes(4).tril()),
        Case(
            "very low scores",
            {"x": torch.tensor([[[200.0, 0.0], [1.0, 0.0]]]), **hand, "W_q": -one, "heads": 1, "mask": yes(2).tril()},
        ),
        case("a single word", draw(2, 1, 6), 3, yes(1)),
        case("float64", draw(2, 4, 6).double(), 2, yes(4)),
        case("numbers that do not lie in order in memory", draw(6, 4, 2).permute(2, 1, 0), 2, padding(4, 4, 3)),
    ]


def attention_right(x, W_q, W_k, W_v, W_o, heads, mask):
    size, output, maps = x.shape[-1] // heads, torch.zeros_like(x), []
    mask = mask.expand(len(x), heads, x.shape[1], x.shape[1])
    for head in range(heads):
        own = slice(head * size, (head + 1) * size)
        query, key, value = x @ W_q[:, own], x @ W_k[:, own], x @ W_v[:, own]
        allowed = mask[:, head]
        found = F.scaled_dot_product_attention(query, key, value, allowed)
        output = output + found.nan_to_num(0.0).masked_fill(~allowed.any(-1, keepdim=True), 0.0) @ W_o[own]
        scores = F.scaled_dot_product_attention(query, key, torch.eye(x.shape[1]).to(x).expand(len(x), -1, -1), allowed)
        maps.append(scores.nan_to_num(0.0).masked_fill(~allowed, 0.0))
    return output, torch.stack(maps, 1)


MULTI_HEAD_ATTENTION = Exercise(
    "multi_head_attention", "multi_head", attention_cases, attention_right, LADDER, tolerance=1e-4
)


def weigh(scores, mask):
    return F.softmax(scores.masked_fill(~mask, -torch.inf), -1).nan_to_num(0.0)


def layer(split=split_right, divisor=None, weights=weigh, merge=merge_right, out=None, transposed=False):
    """Multi-head attention with one of its parts replaced."""

    def answer(x, W_q, W_k, W_v, W_o, heads, mask):
        if transposed:
            W_q, W_k, W_v, W_o = W_q.T, W_k.T, W_v.T, W_o.T
        query, key, value = (split(x @ matrix, heads) for matrix in (W_q, W_k, W_v))
        size = query.shape[-1]
        scores = query @ key.mT / (size**0.5 if divisor is None else divisor(size, heads, x.shape[1]))
        shares = weights(scores, mask)
        found = shares @ value
        return (merge(found) @ W_o if out is None else out(found, W_o)), shares

    return answer


MULTI_HEAD_ATTENTION.misconception(
    "the heads are merged without the transpose",
    "The weights are right, the output is not. Use your merge_heads of the exercise before.",
)(layer(merge=merge_without_transpose))
MULTI_HEAD_ATTENTION.misconception(
    "the split mixes the words",
    "view and reshape never swap two axes. Use your split_heads of the first exercise for Q, K and V.",
)(layer(split=cut_across_words))
MULTI_HEAD_ATTENTION.misconception(
    "the split mixes the words",
    "view and reshape never swap two axes. The merge undoes your split, so a test of both together sees nothing; attention in between does.",
)(layer(split=cut_across_words, merge=merge_without_transpose))
MULTI_HEAD_ATTENTION.misconception(
    "the scores are divided by √d_model", "How many products are added up in *one* of these dot products?"
)(layer(divisor=lambda size, heads, words: (size * heads) ** 0.5))
MULTI_HEAD_ATTENTION.misconception(
    "the scores are not divided",
    "Scaled dot-product attention is what each head does: something is missing between the product and the softmax.",
)(layer(divisor=lambda size, heads, words: 1))
MULTI_HEAD_ATTENTION.misconception(
    "the scores are divided by the root of the number of heads",
    "Is it the number of heads that makes a dot product large, or the number of products in it?",
)(layer(divisor=lambda size, heads, words: heads**0.5))
MULTI_HEAD_ATTENTION.misconception(
    "the scores are divided by the root of the number of words",
    "Is it the number of words that makes a dot product large, or the number of products in it?",
)(layer(divisor=lambda size, heads, words: words**0.5))
MULTI_HEAD_ATTENTION.misconception(
    "the scores are divided by d_head without the root",
    "Variances add up, so the spread grows with the *root* of the number of products.",
)(layer(divisor=lambda size, heads, words: size))
MULTI_HEAD_ATTENTION.misconception(
    "the scores are multiplied, not divided",
    "Is your scale the root or one over the root? Larger heads should not get larger scores.",
)(layer(divisor=lambda size, heads, words: size**-0.5))


def over(axis):
    def weights(scores, mask):
        return F.softmax(scores.masked_fill(~mask, -torch.inf), axis).nan_to_num(0.0)

    return weights


MULTI_HEAD_ATTENTION.misconception(
    "the softmax runs over the heads",
    "Heads do not compete with each other: in each head, the weights of one query sum to 1 over the keys.",
)(layer(weights=over(1)))
MULTI_HEAD_ATTENTION.misconception(
    "the softmax runs over the queries", "Sum your weights over the last axis. That should give 1 for each query."
)(layer(weights=over(-2)))


def no_mask(scores, mask):
    return F.softmax(scores, -1)


MULTI_HEAD_ATTENTION.misconception("the mask is not used", "Closed places still get weight.")(layer(weights=no_mask))


def mask_inverted(scores, mask):
    return weigh(scores, ~mask)


MULTI_HEAD_ATTENTION.misconception(
    "the mask is the wrong way round",
    "True means *may* attend. torch's own module has it the other way, this course does not.",
)(layer(weights=mask_inverted))


def mask_afterwards(scores, mask):
    return F.softmax(scores, -1) * mask


MULTI_HEAD_ATTENTION.misconception(
    "the mask comes after the softmax",
    "Then the weights of a row no longer sum to 1: what is closed has taken its share already.",
)(layer(weights=mask_afterwards))


def finite(value):
    def weights(scores, mask):
        return F.softmax(scores.masked_fill(~mask, value), -1)

    return weights


def added(value):
    def weights(scores, mask):
        return F.softmax(scores + value * (~mask).to(scores), -1)

    return weights


NOTHING = "What should a word come to that may look at nothing? Look at the failing input's mask, at the row that is all False."
for value in (-1e9, -1e10, -1e20, torch.finfo(torch.float32).min):
    for form in (finite, added):
        MULTI_HEAD_ATTENTION.misconception(
            "a word with nothing to look at looks everywhere",
            "A finite penalty is the same for all keys, so none stands back. " + NOTHING,
        )(layer(weights=form(value)))


def mask_times(scores, mask):
    return F.softmax(scores * mask, -1)


MULTI_HEAD_ATTENTION.misconception("closed scores become 0", "A score of 0 is a score like any other: exp(0) is 1.")(
    layer(weights=mask_times)
)


def mask_of_three_axes(scores, mask):
    return weigh(scores, mask[:, 0] if mask.shape[1] == 1 else mask)


OTHERS = "Each sentence has its mask, and all its heads share it. Print the shapes of scores and mask, one below the other: axes are matched from the right."
MULTI_HEAD_ATTENTION.misconception("heads get the masks of other sentences", OTHERS)(layer(weights=mask_of_three_axes))


def mask_repeated_in_the_wrong_order(scores, mask):
    # heads of one sentence follow each other, masks of one head do
    batch, heads, words, _ = scores.shape
    rows = mask[:, :1].expand(batch, 1, words, words).flatten(0, 1).repeat(heads, 1, 1)
    if mask.shape[1] > 1:
        return weigh(scores, mask)
    return weigh(scores, rows.unflatten(0, (batch, heads)))


MULTI_HEAD_ATTENTION.misconception("heads get the masks of other sentences", OTHERS)(
    layer(weights=mask_repeated_in_the_wrong_order)
)


def first_heads_mask(scores, mask):
    return weigh(scores, mask[:, :1])


MULTI_HEAD_ATTENTION.misconception(
    "all heads get the first head's mask",
    "The head axis of the mask may be 1, or it may be the number of heads. Both should work.",
)(layer(weights=first_heads_mask))


def first_sentences_mask(scores, mask):
    return weigh(scores, mask[:1])


MULTI_HEAD_ATTENTION.misconception(
    "all sentences get the first sentence's mask",
    "The batch axis of the mask may be 1, or it may be the number of sentences. Both should work.",
)(layer(weights=first_sentences_mask))


def leaves_nan(scores, mask):
    return F.softmax(scores.masked_fill(~mask, -torch.inf), -1)


MULTI_HEAD_ATTENTION.misconception("a word with nothing to look at gives NaN", NOTHING)(layer(weights=leaves_nan))
MULTI_HEAD_ATTENTION.misconception(
    "W_O is left out",
    "The heads' findings stand side by side. One product is still to come, and it lets them be mixed.",
)(layer(out=lambda found, W_o: merge_right(found)))


def same_rows_for_each(found, W_o):
    return sum(found[:, head] @ W_o[: found.shape[-1]] for head in range(found.shape[1]))


ALONE = (
    "W_O comes once, after the merge: each of its columns reads *all* heads. That is the only place where they meet."
)

MULTI_HEAD_ATTENTION.misconception("W_O is applied to each head alone", ALONE)(layer(out=same_rows_for_each))


def same_corner_for_each(found, W_o):
    return merge_right(found @ W_o[: found.shape[-1], : found.shape[-1]])


MULTI_HEAD_ATTENTION.misconception("W_O is applied to each head alone", ALONE)(layer(out=same_corner_for_each))


def own_corner_for_each(found, W_o):
    size = found.shape[-1]
    return torch.cat(
        [found[:, h] @ W_o[h * size : (h + 1) * size, h * size : (h + 1) * size] for h in range(found.shape[1])], -1
    )


MULTI_HEAD_ATTENTION.misconception("W_O is applied to each head alone", ALONE)(layer(out=own_corner_for_each))


def per_head_and_apart(found, W_o):
    size = found.shape[-1]
    return torch.stack([found[:, h] @ W_o[h * size : (h + 1) * size] for h in range(found.shape[1])], 1)


MULTI_HEAD_ATTENTION.misconception("W_O is applied to each head alone", ALONE)(layer(out=per_head_and_apart))
MULTI_HEAD_ATTENTION.misconception(
    "the matrices are transposed", "Here they stand as in the formula X W. Only nn.Linear stores them the other way."
)(layer(transposed=True))


@MULTI_HEAD_ATTENTION.misconception(
    "the weights are averaged over the heads",
    "The weights of each head are wanted: (batch, head, n, n). torch's own module averages them unless it is told not to.",
)
def averaged(x, W_q, W_k, W_v, W_o, heads, mask):
    output, weights = attention_right(x, W_q, W_k, W_v, W_o, heads, mask)
    return output, weights.mean(1)


@MULTI_HEAD_ATTENTION.misconception(
    "output and weights are the wrong way round", "First the output, then the weights, as everywhere in this course."
)
def weights_first(x, W_q, W_k, W_v, W_o, heads, mask):
    return attention_right(x, W_q, W_k, W_v, W_o, heads, mask)[::-1]


# ---- what heads cost ----


COST_OF_HEADS = Question(
    "cost_of_heads",
    "multi_head",
    lambda: [sum(torch.empty(512, 512).numel() for _ in range(4)), torch.empty(8, 100, 100).numel()],
    tuple(
        misconceptions(
            (
                ("", "", 4 * 512**2),
                ("parameters: each head is counted with matrices of full width", "W_Q of 512 × 512 is all heads' W_Q side by side. How wide is the part of one head?", 8 * 4 * 512**2),
                ("parameters: each head is counted with matrices of full width", "W_Q of 512 × 512 is all heads' W_Q side by side. How wide is the part of one head?", (8 * 3 + 1) * 512**2),
                ("parameters: that is one matrix", "How many matrices are there? Count the letters under the W.", 512**2),
                ("parameters: W_O is forgotten", "Three matrices make queries, keys and values. Which one comes after the merge?", 3 * 512**2),
                ("parameters: the biases are counted", "The paper's formula has none: head = attention(Q W_Q, K W_K, V W_V).", 4 * 512**2 + 4 * 512),
                ("parameters: that is one eighth of them", "Are all 8 heads counted? And each of them *reads* the whole vector of 512 and hands on 64 numbers.", 8 * 4 * 64**2),
                ("parameters: the heads' matrices are counted as 64 × 64", "A head *reads* the whole vector of 512 and hands on 64 numbers.", 4 * 64**2),
            ),
            (
                ("", "", 8 * 100**2),
                ("weights: those of one head are counted", "Each head has a softmax, and so a map, of its own.", 100**2),
                ("weights: those of one word are counted", "Each of the 100 words asks, and in each head.", 8 * 100),
                ("weights: the numbers in a vector are counted too", "A weight is one number for a pair of words, however wide the vectors.", 8 * 100**2 * 64),
                ("weights: that is the number of values", "A weight is one number for a pair of words, however wide the vectors.", 100 * 512),
            ),
        )
    ),
    COST,
)  # fmt: skip


# ---- leave_out_head(found, W_o, gone) ----


def leave_out_cases(generator: torch.Generator) -> list[Case]:
    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator)

    def case(about: str, found: torch.Tensor, gone: int) -> Case:
        size = found.shape[1] * found.shape[3]
        return Case(about, {"found": found, "W_o": draw(size, size).to(found), "gone": gone})

    plain = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    return [
        Case(
            "one word, two heads of one number", {"found": torch.tensor([[[[5.0]], [[7.0]]]]), "W_o": plain, "gone": 0}
        ),
        case("two words, two heads of two numbers", draw(1, 2, 2, 2), 1),
        case("three heads", draw(2, 3, 4, 2), 1),
        case("the last of three heads", draw(1, 3, 4, 2), 2),
        case("the first of four heads", draw(3, 4, 5, 1), 0),
        case("all axes of one length", draw(3, 3, 3, 3), 1),
        case("the only head", draw(2, 1, 3, 4), 0),
        case("float64", draw(3, 2, 4, 3).double(), 1),
        case("numbers that do not lie in order in memory", draw(3, 5, 4, 2).permute(3, 2, 1, 0), 2),
    ]


def leave_out_right(found, W_o, gone):
    size = found.shape[-1]
    output = torch.zeros(found.shape[0], found.shape[2], W_o.shape[1]).to(found)
    for head in range(found.shape[1]):
        if head != gone:
            output = output + found[:, head] @ W_o[head * size : (head + 1) * size]
    return output


def drive_leave_out(answer, found, W_o, gone):
    """A sum over no heads at all is Python's 0; it stands for zeros."""
    output = answer(found, W_o, gone)
    is_empty_sum = found.shape[1] == 1 and isinstance(output, int) and output == 0
    return found.new_zeros(found.shape[0], found.shape[2], W_o.shape[1]) if is_empty_sum else output


LEAVE_OUT_HEAD = Exercise(
    "leave_out_head", "multi_head", leave_out_cases, leave_out_right, WITHOUT, drive_leave_out, tolerance=1e-4
)


def project_each(found, W_o):
    return merge_right(found) @ W_o


@LEAVE_OUT_HEAD.misconception(
    "no head is left out", "The result is that of all heads. Is the changed tensor the one that goes on into the merge?"
)
def all_heads(found, W_o, gone):
    return project_each(found, W_o)


@LEAVE_OUT_HEAD.misconception("all the other heads are left out", "Only the head that is *gone* falls silent.")
def only_that_head(found, W_o, gone):
    return all_heads(found, W_o, gone) - leave_out_right(found, W_o, gone)


@LEAVE_OUT_HEAD.misconception("a neighbouring head is left out", "Heads are counted from 0, as Python counts.")
def head_before(found, W_o, gone):
    return leave_out_right(found, W_o, (gone - 1) % found.shape[1])


@LEAVE_OUT_HEAD.misconception(
    "heads are counted from 1", "Head 0 is the first. Which head does yours leave out if gone is 0?"
)
def counted_from_one(found, W_o, gone):
    return leave_out_right(found, W_o, gone - 1)


def zeroed(axis):
    def answer(found, W_o, gone):
        found = found.clone()
        found.select(axis, gone).zero_()
        return project_each(found, W_o)

    return answer


LEAVE_OUT_HEAD.misconception(
    "a word is left out, not a head", "Which axis of found are the heads on? Its shape is (batch, head, n, d_head)."
)(zeroed(2))
LEAVE_OUT_HEAD.misconception(
    "a sentence is left out, not a head", "Which axis of found are the heads on? Its shape is (batch, head, n, d_head)."
)(zeroed(0))


LEAVE_OUT_HEAD.misconception(
    "one number of every head is left out",
    "Which axis of found are the heads on? Its shape is (batch, head, n, d_head), and ... goes up to the last.",
)(zeroed(3))


@LEAVE_OUT_HEAD.misconception(
    "numbers of the output are zeroed, not what the head found",
    "After W_O there are no heads any more: each number of the output may come from all of them. Where do they still stand apart? (Columns of W_O are numbers that go *out*; only nn.Linear stores it the other way.)",
)
def output_piece(found, W_o, gone):
    output, size = project_each(found, W_o), found.shape[-1]
    output[..., gone * size : (gone + 1) * size] = 0
    return output


@LEAVE_OUT_HEAD.misconception("a single number of the head is left out", "A head has d_head numbers, and so many rows.")
def one_row(found, W_o, gone):
    matrix = W_o.clone()
    matrix[gone] = 0
    return project_each(found, matrix)


def scaled_up(alone):
    """As dropout does it; `alone` is the factor where there is no other head, and 0 stands for an error."""

    def answer(found, W_o, gone):
        heads = found.shape[1]
        return leave_out_right(found, W_o, gone) * (heads / (heads - 1) if heads > 1 else alone or 1 / 0)

    return answer


for alone in (0.0, torch.nan, 1.0):
    LEAVE_OUT_HEAD.misconception(
        "the other heads are scaled up",
        "Leaving out is all that is asked. It is dropout that makes up for what is missing.",
    )(scaled_up(alone))


@LEAVE_OUT_HEAD.misconception(
    "the heads behind it move up", "Each head's numbers must meet their own rows of W_O, whoever is missing."
)
def moved_up(found, W_o, gone):
    rest = merge_right(torch.cat([found[:, :gone], found[:, gone + 1 :]], 1))
    return rest @ W_o[: rest.shape[-1]]


@LEAVE_OUT_HEAD.misconception("the heads are merged without the transpose", "Use your merge_heads.")
def left_out_and_not_swapped(found, W_o, gone):
    found = found.clone()
    found[:, gone] = 0
    return merge_without_transpose(found) @ W_o


@LEAVE_OUT_HEAD.misconception(
    "W_O is left out", "The output of the layer is wanted: one product comes after the merge."
)
def not_projected(found, W_o, gone):
    found = found.clone()
    found[:, gone] = 0
    return merge_right(found)


# ---- the experiment ----


RIGHT_WITHOUT_ITS_HEAD = Question(
    "right_without_its_head",
    "multi_head",
    lambda: 1 / 4,  # nothing is known of it any more, and there are four symbols
    (
        Misconception("that is the other neighbour's bar", "Each removal has two bars, one for each neighbour. Which of them lost its head?", 1.0),
        Misconception("that is in per cent", "A number between 0 and 1 is wanted, as on the axis of the figure.", 25.0),
        Misconception("there is a bar, though it is low", "The readout must name some symbol, whatever it is told. How often is that right by luck?", 0.0),
        Misconception("that would be luck with eight symbols", "There are eight places. But how many symbols can the readout choose from?", 1 / 8),
        Misconception("that is the share for ten symbols", "In the lesson the rows were of ten symbols. How many are there here?", 0.1),
        Misconception("that is the mean of both neighbours", "One bar is asked for: that of the neighbour whose head is gone.", (1 + 1 / 4) / 2),
        Misconception("one half would be luck with two symbols", "Read the lower bar again, on the axis at the left. How many symbols can the readout choose from?", 0.5),
    ),
    TASK,
    tolerance=0.06,
)  # fmt: skip

ASKED = [
    SPLIT_HEADS,
    HEAD_SHAPES,
    MERGE_HEADS,
    MULTI_HEAD_ATTENTION,
    COST_OF_HEADS,
    LEAVE_OUT_HEAD,
    RIGHT_WITHOUT_ITS_HEAD,
]
