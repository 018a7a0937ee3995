"""Exercises of lesson 3: scaled dot-product attention."""

from functools import cache, partial
from itertools import permutations, product
from math import sqrt

import torch
from torch import Tensor
from torch.nn import functional as F

from course_lib.checks.engine import Case, Exercise, Misconception, Question

MASKS = 'lesson 3, "The mask laboratory"; glossary.show("mask")'
PADDING = 'lesson 3, "The mask laboratory"; glossary.show("padding mask")'
CAUSAL = 'lesson 3, "Four shapes"; glossary.show("causal mask"), glossary.show("key-value cache")'
FORMULA = 'lesson 3, "Where the three come from"; glossary.show("scaled dot product")'
ROOT = 'lesson 3, "Why divide by √d_k?"; glossary.show("scaled dot product")'
BY_HAND = 'lesson 3, "By hand: The cat sat"'


# ---- masked_softmax(scores, mask) ----


def softmax_cases(generator: torch.Generator) -> list[Case]:
    def draw(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator)

    some = torch.rand(2, 3, 5, generator=generator) < 0.7
    some[..., 0] = True
    some[..., 1] = False
    empty = some.clone()
    empty[1, 2] = False
    yes, others = torch.ones(2, 3, dtype=torch.bool), torch.tensor([[False, True, True], [True, True, False]])
    first_two, only_first = torch.tensor([[True, True, False]]), torch.tensor([[True, False, False]])
    large, lowest = draw(2, 3, 5), torch.finfo(torch.float32).min
    inputs = [
        ("two rows, all open", torch.tensor([[1.0, 2.0, 0.0], [0.0, 1.0, 0.0]]), yes),
        ("one place closed", torch.tensor([[1.0, 2.0, 3.0]]), first_two),
        ("two rows, another place closed in each", torch.tensor([[1.0, 2.0, 0.0], [0.0, 1.0, 0.0]]), others),
        ("negative scores", torch.tensor([[-3.0, -2.0, -9.0]]), torch.tensor([[True, False, True]])),
        ("large scores", torch.tensor([[100.0, 101.0, 102.0]]), first_two),
        ("a closed score far above the open ones", torch.tensor([[1.0, 0.0, 300.0]]), first_two),
        ("very large scores", torch.tensor([[9e4, 8e4, 2e5]]), first_two),
        ("very negative scores", torch.tensor([[-2e5, -3e5, -4e5]]), first_two),
        ("a row with nothing to look at", torch.tensor([[1.0, 2.0]]), torch.tensor([[False, False]])),
        ("an open score as low as float32 allows", torch.tensor([[lowest, lowest, 0.0]]), only_first),
        ("a batch of sentences", large, some),
        ("the same scores + 100", large + 100, some),
        ("some rows with nothing to look at", draw(2, 3, 5), empty),
        ("a batch of one", draw(1, 4, 4), torch.ones(1, 4, 4, dtype=torch.bool).tril()),
        ("one word", draw(2, 1, 1), torch.ones(2, 1, 1, dtype=torch.bool)),
        ("float64", draw(3, 3).double(), torch.ones(3, 3, dtype=torch.bool).tril()),
        ("scores that do not lie in order in memory", draw(5, 3, 2).permute(2, 1, 0), some),
        ("four axes, one mask for all", draw(2, 2, 3, 3), torch.ones(1, 1, 3, 3, dtype=torch.bool).tril()),
        ("three axes of equal length", draw(3, 3, 3), torch.ones(1, 3, 3, dtype=torch.bool).tril()),
        ("two rows far from each other", torch.tensor([[[200.0, 201.0], [0.0, 1.0]]]), yes[None, :, :2]),
        ("a small weight", torch.tensor([[0.0, -8.0]]), yes[:1, :2]),
        ("one word, closed", torch.tensor([[[1.0]], [[2.0]]]), torch.tensor([[[False]], [[True]]])),
        ("one mask for all keys", draw(2, 3, 4), torch.tensor([[[True], [False], [True]]])),
        ("one row, no axis in front", draw(4), torch.tensor([True, False, True, True])),
        ("five axes", draw(2, 1, 2, 3, 3), torch.ones(1, 1, 1, 3, 3, dtype=torch.bool).tril()),
    ]
    return [Case(about, {"scores": scores, "mask": mask}) for about, scores, mask in inputs]


def softmax_right(scores, mask):
    return F.softmax(scores.masked_fill(~mask, -torch.inf), -1).nan_to_num(0.0)


MASKED_SOFTMAX = Exercise("masked_softmax", "scaled_dot_product", softmax_cases, softmax_right, MASKS)


def over_axis(axis):
    def answer(scores, mask):
        closed = scores.masked_fill(~mask, -torch.inf)
        return F.softmax(closed, axis).nan_to_num(0.0)

    return answer


MASKED_SOFTMAX.misconception(
    "the softmax runs over the rows", "Each *row* must sum to 1: a row is one query, its entries are the keys."
)(over_axis(-2))
MASKED_SOFTMAX.misconception(
    "the softmax runs over the first axis",
    "Count axes from the end: keys are the last one, however many stand before it.",
)(over_axis(0))
MASKED_SOFTMAX.misconception(
    "the softmax runs over axis 1",
    "That is the last axis of a table with two axes, but not of four. Count from the end.",
)(over_axis(1))


@MASKED_SOFTMAX.misconception(
    "one softmax runs over all rows together", "Each *row* must sum to 1, not all of them together."
)
def over_everything(scores, mask):
    closed = scores.masked_fill(~mask, -torch.inf)
    return F.softmax(closed.flatten(), 0).view(scores.shape).nan_to_num(0.0)


@MASKED_SOFTMAX.misconception(
    "the mask comes after the softmax",
    "Then the weights of a row no longer sum to 1: what is closed has taken its share already.",
)
def mask_after(scores, mask):
    return F.softmax(scores, -1) * mask


@MASKED_SOFTMAX.misconception("the mask is not used", "Closed places still get weight.")
def without_mask(scores, mask):
    return F.softmax(scores, -1)


def other_way_round(scores, mask, value=-torch.inf, nothing=0.0):
    return F.softmax(scores.masked_fill(mask, value), -1).nan_to_num(nothing)


for form in (other_way_round, partial(other_way_round, nothing=torch.nan), partial(other_way_round, value=-1e9)):
    MASKED_SOFTMAX.misconception(
        "the mask is the wrong way round", "True means *may* attend. Yours closes what is open."
    )(form)


NOTHING = "What should a row come to that may look at nothing? Do the case with mask [[False, False]] by hand."


@MASKED_SOFTMAX.misconception("a row with nothing to look at gives NaN", NOTHING)
def leaves_nan(scores, mask):
    return F.softmax(scores.masked_fill(~mask, -torch.inf), -1)


def added(value, scores, mask):
    return F.softmax(scores + value * (~mask).to(scores.dtype), -1)


def infinity_multiplied(scores, mask):
    return added(-torch.inf, scores, mask).nan_to_num(0.0)


ALL_CLOSED = (
    "~ turns True and False round, and of a number it makes another number. Or is −∞ multiplied by the mask? 0 · ∞ is NaN, "
    "of which nan_to_num makes 0."
)
MASKED_SOFTMAX.misconception("every weight is 0, as if all places were closed", ALL_CLOSED)(infinity_multiplied)


def one_largest(scores, mask, closed=True):
    """Like softmax_right, but for one largest score of the whole table."""
    largest = (scores if closed else scores.masked_fill(~mask, -torch.inf)).max()
    powers = (scores - largest).exp().masked_fill(~mask, 0.0)
    return (powers / powers.sum(-1, keepdim=True)).nan_to_num(0.0)


LARGEST_OF_ALL = "Far below it, every exponential of a row rounds to 0. Which scores does a row's softmax look at?"
for form in (one_largest, partial(one_largest, closed=False)):
    MASKED_SOFTMAX.misconception("the largest score is that of the whole table, not of the row", LARGEST_OF_ALL)(form)


@MASKED_SOFTMAX.misconception(
    "those are the logarithms of the weights", "Weights lie between 0 and 1. Which softmax is called?"
)
def logarithms(scores, mask):
    return F.log_softmax(scores.masked_fill(~mask, -torch.inf), -1)


@MASKED_SOFTMAX.misconception("closed scores become 0", "A score of 0 is a score like any other: exp(0) is 1.")
def times_mask(scores, mask):
    return F.softmax(scores * mask, -1)


def filled(value, scores, mask):
    return F.softmax(scores.masked_fill(~mask, value), -1)


def empty_rows_open(scores, mask):
    return softmax_right(scores, mask | ~mask.any(-1, keepdim=True))


FORMS = (filled, added)
HUGE = (-1e6, -1e7, -1e8, -1e9, -1e10, -1e20, torch.finfo(torch.float32).min)
STILL_WEIGHT = "If all are closed by the same finite penalty, none stands back. " + NOTHING
for form in (empty_rows_open, *(partial(form, value) for value, form in product(HUGE, FORMS))):
    MASKED_SOFTMAX.misconception("a row with nothing to look at still gets weight", STILL_WEIGHT)(form)


def shared_out_again(scores, mask, nothing=torch.nan):
    weights = F.softmax(scores, -1) * mask
    return (weights / weights.sum(-1, keepdim=True)).nan_to_num(nothing)


TAKE_PART = "closed places still take part before they are removed"
LEAVES_NOTHING = "Where a closed score is far above the open ones, it leaves them nothing. Close it before any exponential, by a number that no score reaches."
for value in (torch.nan, 0.0):
    MASKED_SOFTMAX.misconception(TAKE_PART, LEAVES_NOTHING)(partial(shared_out_again, nothing=value))


def empty_rows_zeroed(form, value, scores, mask):
    return form(value, scores, mask) * mask.any(-1, keepdim=True)


def closed_zeroed(form, value, scores, mask):
    return form(value, scores, mask) * mask


LEAKY = (-5.0, -10.0)
LEAKS = "The exponential of −5 or −10 is small, but not 0: a closed place still takes a little from the others. Which score has an exponential of exactly 0?"
# Ways to close places by a finite penalty, and to set weights to 0 afterwards.
AFTERWARDS = [
    *FORMS,
    *(partial(empty_rows_zeroed, form) for form in FORMS),
    partial(closed_zeroed, filled),
]
LAST = partial(closed_zeroed, added)
for value, form in product(LEAKY, [*AFTERWARDS, LAST]):
    MASKED_SOFTMAX.misconception("the penalty is finite, and a closed place still takes weight", LEAKS)(
        partial(form, value)
    )


SMALL = (-20.0, -50.0, -100.0, -1e3, -1e4, -1e5)
REACHED = (
    "Is a finite number put at closed places, or subtracted from every score? Compare it with the scores below: which "
    "number can no score reach?"
)
for value, form in (*product(SMALL, AFTERWARDS), *product(HUGE, AFTERWARDS[2:])):
    MASKED_SOFTMAX.misconception("the penalty is finite, and some scores reach it", REACHED)(partial(form, value))
for value in SMALL:
    MASKED_SOFTMAX.misconception(TAKE_PART, LEAVES_NOTHING)(partial(LAST, value))


def closed_powers(powers, mask):
    return powers.masked_fill(~mask, 0.0)


def naive_exponential(scores, mask, nothing=torch.nan, close=torch.mul):
    powers = close(scores.exp(), mask)
    return (powers / powers.sum(-1, keepdim=True)).nan_to_num(nothing)


for value, close in product((torch.nan, 0.0), (torch.mul, closed_powers)):
    MASKED_SOFTMAX.misconception(
        "large scores overflow",
        "exp(100) is too large for float32. What may be subtracted from all scores of a row without changing its softmax?",
    )(partial(naive_exponential, nothing=value, close=close))


# ---- causal(queries, keys) ----


def causal_cases(generator: torch.Generator) -> list[Case]:
    fresh, before = (int(torch.randint(2, 6, (), generator=generator)) for _ in range(2))
    inputs = [
        ("as many queries as keys", 3, 3),
        ("two new words after two old ones", 2, 4),
        ("one new word at the end", 1, 4),
        ("a single word", 1, 1),
        ("more new words than old ones", 4, 5),
        ("a length that is drawn", fresh, fresh + before),
        ("another length", fresh + 3, fresh + 3),
        ("many words", 4, 80),
        ("one new word after many", 1, 11),
    ]
    return [Case(about, {"queries": queries, "keys": keys}) for about, queries, keys in inputs]


def causal_right(queries, keys):
    last_seen = torch.arange(keys - queries, keys)  # the place of each query among the keys
    return (torch.arange(keys) <= last_seen[:, None])[None, None]


CAUSAL_MASK = Exercise("causal", "scaled_dot_product", causal_cases, causal_right, CAUSAL)


def triangle(queries, keys, offset=None, upper=False, diagonal=0):
    offset = keys - queries if offset is None else offset
    full = torch.ones(queries, keys, dtype=torch.bool)
    return (full.triu(offset + diagonal) if upper else full.tril(offset + diagonal))[None, None]


AT_THE_LAST = "The queries are the *last* words of the text: the last query stands at the last key. At which key stands query 0, if there are 2 queries and 4 keys?"


@CAUSAL_MASK.misconception("the first query stands at the first key", AT_THE_LAST)
def from_the_first(queries, keys):
    return triangle(queries, keys, offset=0)


CAUSAL_MASK.misconception(
    "no query may look at its own word",
    "A query may look at the key of its own place, too: what it must not see comes after it.",
)(partial(triangle, diagonal=-1))
CAUSAL_MASK.misconception(
    "each query sees one word too many",
    "The first word after the query is open. It is the very word that a model must predict.",
)(partial(triangle, diagonal=1))
CAUSAL_MASK.misconception(
    "the mask is transposed: what comes after is open",
    "A row is a query. Which entries of row 0 are open, those to its left or those to its right?",
)(partial(triangle, upper=True))


@CAUSAL_MASK.misconception(
    "the rows are keys and the columns are queries",
    "The axes are (1, 1, query, key): a row for each query, a column for each key.",
)
def keys_by_queries(queries, keys):
    return triangle(queries, keys).mT


@CAUSAL_MASK.misconception(
    "the mask is the wrong way round", "True means *may* attend. Yours is True where it must not."
)
def forbidden(queries, keys):
    return ~triangle(queries, keys)


@CAUSAL_MASK.misconception(
    "True means forbidden, and the first query stands at the first key",
    "Two things: True means *may* attend; and the last query stands at the last key.",
)
def forbidden_from_the_first(queries, keys):
    return ~triangle(queries, keys, offset=0)


@CAUSAL_MASK.misconception("there is a row for each key", "Only the last words ask. How many rows has the table?")
def square(queries, keys):
    return triangle(keys, keys)


@CAUSAL_MASK.misconception(
    "the two axes in front are missing", "Scores have four axes, and so has their mask: (1, 1, query, key)."
)
def two_axes(queries, keys):
    return triangle(queries, keys)[0, 0]


@CAUSAL_MASK.misconception("the offset has the wrong sign", AT_THE_LAST)
def offset_other_sign(queries, keys):
    return triangle(queries, keys, offset=queries - keys)


# ---- scaled_attention(query, key, value, mask) ----


def attention_cases(generator: torch.Generator) -> list[Case]:
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
        ("another mask for each head", drawn(3, 2, 3, 3, 5, 2), per_head),
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
        ("vectors that do not lie in order in memory", tuple(crossed), lengths(4, 3)),
    ]
    names = ("query", "key", "value")
    return [Case(about, dict(zip(names, qkv, strict=True)) | {"mask": mask}) for about, qkv, mask in inputs]


def attention_right(query, key, value, mask):
    places = torch.eye(key.shape[-2], dtype=key.dtype).expand(*key.shape[:-1], -1)  # values that show the weights
    both = (F.scaled_dot_product_attention(query, key, shown, mask) for shown in (value, places))
    return [result.nan_to_num(0.0) for result in both]


ATTENTION = Exercise("scaled_attention", "scaled_dot_product", attention_cases, attention_right, FORMULA)


def by_root(query, key, value):
    return query @ key.mT / sqrt(query.shape[-1])


def attention_wrong(divided=by_root, weigh=softmax_right, masked=lambda mask: mask, give=lambda w, v: [w @ v, w]):
    """Attention with a step replaced: how scores come about, how weights, what of the mask, what is returned."""
    return lambda query, key, value, mask: give(weigh(divided(query, key, value), masked(mask)), value)


def undivided(query, key, value):
    return query @ key.mT


ATTENTION.misconception(
    "the scores are not divided by √d_k",
    "Compare your scores with the formula: the dot products are still as large as they came.",
)(attention_wrong(undivided))


def by_size(query, key, value):
    return query @ key.mT / query.shape[-1]


ATTENTION.misconception(
    "the scores are divided by d_k, not by its root", "For d_k = 4, by which number must they be divided?"
)(attention_wrong(by_size))


def by_model_size(query, key, value):
    return query @ key.mT / sqrt(query.shape[1] * query.shape[-1])


ATTENTION.misconception(
    "the root is that of d_model, not of d_k",
    "How many products does one dot product add up? The other heads do not take part in it.",
)(attention_wrong(by_model_size))


def by_keys(query, key, value):
    return query @ key.mT / sqrt(key.shape[-2])


def by_queries(query, key, value):
    return query @ key.mT / sqrt(query.shape[-2])


def by_heads(query, key, value):
    return query @ key.mT / sqrt(query.shape[1])


def by_sentences(query, key, value):
    return query @ key.mT / sqrt(query.shape[0])


for what, divided in (("keys", by_keys), ("queries", by_queries), ("heads", by_heads), ("sentences", by_sentences)):
    ATTENTION.misconception(
        f"the root is that of the number of {what}",
        "Print the four lengths of query.shape with their names beside them. The root belongs to how long a vector is, not to how many there are.",
    )(attention_wrong(divided))


def by_two(query, key, value):
    return query @ key.mT / 2


ATTENTION.misconception(
    "the root is 2, whatever the size",
    "2 is the root for queries and keys of four numbers. The function gets others, too.",
)(attention_wrong(by_two))


def by_value_size(query, key, value):
    return query @ key.mT / sqrt(value.shape[-1])


ATTENTION.misconception(
    "the root is that of the values' size",
    "A dot product adds up the numbers of a query and a key. The values may be of another size.",
)(attention_wrong(by_value_size))


def multiplied(query, key, value):
    return query @ key.mT * sqrt(query.shape[-1])


ATTENTION.misconception("the scores are multiplied by √d_k", "Should scores become larger or smaller?")(
    attention_wrong(multiplied)
)


@ATTENTION.misconception(
    "the root comes after the softmax", "Divided weights no longer sum to 1. Where in the formula does the root stand?"
)
def root_after(query, key, value, mask):
    weights = softmax_right(query @ key.mT, mask) / sqrt(query.shape[-1])
    return [weights @ value, weights]


@ATTENTION.misconception("the output is divided, not the scores", "Where in the formula does the root stand?")
def root_after_weights(query, key, value, mask):
    weights = softmax_right(query @ key.mT, mask)
    return [weights @ value / sqrt(query.shape[-1]), weights]


ATTENTION.misconception(
    "the softmax runs over the queries",
    "Each row of the weights must sum to 1: a row is a query, its entries are the keys.",
)(attention_wrong(weigh=over_axis(-2)))
for axis in (1, 0):
    ATTENTION.misconception(
        "the softmax runs over the heads or the batch",
        "The axes are (batch, head, query, key). Over which of them should the weights sum to 1?",
    )(attention_wrong(weigh=over_axis(axis)))
ATTENTION.misconception(
    "the mask comes after the softmax",
    "Then the weights of a row no longer sum to 1: what is closed has taken its share already.",
)(attention_wrong(weigh=mask_after))
ATTENTION.misconception("the mask is not used", "Closed places still get weight.")(attention_wrong(weigh=without_mask))
for form in (other_way_round, partial(other_way_round, nothing=torch.nan), partial(other_way_round, value=-1e9)):
    ATTENTION.misconception("the mask is the wrong way round", "True means *may* attend. Yours closes what is open.")(
        attention_wrong(weigh=form)
    )
ATTENTION.misconception(
    "the mask is transposed: it closes rows, not columns",
    "Padding must not be *looked at*. In which axis of (query, key) does it stand then?",
)(attention_wrong(masked=lambda mask: mask.mT))


def both_axes(mask):
    return mask & mask.mT if mask.shape[-2] == 1 else mask


ATTENTION.misconception(
    "the mask closes the rows of the padding as well",
    "Close only what is asked for: the mask says nothing of who looks. An axis of length 1 means that all queries are alike.",
)(attention_wrong(masked=both_axes))


def first_sentence(mask):
    return mask[:1]


ATTENTION.misconception(
    "all sentences get the mask of the first",
    "Each sentence has its own row in the mask's batch axis. Which index drops it?",
)(attention_wrong(masked=first_sentence))


def first_head(mask):
    return mask[:, :1]


ATTENTION.misconception(
    "all heads get the mask of the first", "A mask may differ from head to head. Which index drops that axis?"
)(attention_wrong(masked=first_head))
ATTENTION.misconception("closed scores become 0", "A score of 0 is a score like any other: exp(0) is 1.")(
    attention_wrong(weigh=times_mask)
)
ATTENTION.misconception(
    "a query with nothing to look at gives NaN",
    "The softmax of nothing but −∞ is 0/0. What should such a query get? Your masked_softmax knows.",
)(attention_wrong(weigh=leaves_nan))
ATTENTION.misconception("every weight is 0, as if all places were closed", ALL_CLOSED)(
    attention_wrong(weigh=infinity_multiplied)
)
for form in (one_largest, partial(one_largest, closed=False)):
    ATTENTION.misconception("the largest score is that of the whole table, not of the row", LARGEST_OF_ALL)(
        attention_wrong(weigh=form)
    )
for form in (empty_rows_open, *(partial(form, value) for value, form in product(HUGE, FORMS))):
    ATTENTION.misconception(
        "a query with nothing to look at still gets weight",
        "If all keys are closed by the same finite penalty, none stands back. What should such a query get? Your masked_softmax knows.",
    )(attention_wrong(weigh=form))
for value, form in product(LEAKY, [*AFTERWARDS, LAST]):
    ATTENTION.misconception("the penalty is finite, and a closed place still takes weight", LEAKS)(
        attention_wrong(weigh=partial(form, value))
    )
for value, form in product(SMALL, [*AFTERWARDS, LAST]):
    ATTENTION.misconception("the penalty is finite, and some scores reach it", REACHED)(
        attention_wrong(weigh=partial(form, value))
    )
ATTENTION.misconception(
    "the weights come before the output", "Both are there, in the other order: the output first, then the weights."
)(attention_wrong(give=lambda w, v: [w, w @ v]))
ATTENTION.misconception("only the output is returned", "Two things are asked for: the output, then the weights.")(
    attention_wrong(give=lambda w, v: w @ v)
)
ATTENTION.misconception("only the weights are returned", "Two things are asked for: the output, then the weights.")(
    attention_wrong(give=lambda w, v: w)
)


# ---- what "cat" looks at, with the article's words ----


WORDS = torch.tensor([[0.1, 0.3, 0.2, 0.4], [0.8, 0.1, 0.6, 0.2], [0.2, 0.9, 0.1, 0.7]])  # The, cat, sat
TO_ALL = WORDS @ WORDS[1]  # (3,): cat · The, cat · cat, cat · sat
OTHERS = TO_ALL[[0, 2]]

CAT_SCORE = Question(
    "cat_score",
    "scaled_dot_product",
    lambda: TO_ALL[1].item(),
    (
        Misconception("that is divided by √d_k", "The dot product alone is asked for, for now.", lambda: TO_ALL[1].item() / 2),
        Misconception("that is the length of the vector", "The dot product of a vector with itself is its length *before* the root is taken.", lambda: TO_ALL[1].sqrt().item()),
        Misconception("that is the sum of the numbers of cat", "Each number of the one vector meets the number in the same place of the other: four products.", lambda: WORDS[1].sum().item()),
        Misconception("that is cat · The", "Here cat looks at itself.", lambda: TO_ALL[0].item()),
        Misconception("that is cat · sat", "Here cat looks at itself.", lambda: TO_ALL[2].item()),
        Misconception("that is sat · sat", "Here cat looks at itself. The lesson followed sat.", lambda: (WORDS[2] @ WORDS[2]).item()),
    ),
    BY_HAND,
    tolerance=0.005,
)  # fmt: skip

CAT_WEIGHTS = Question(
    "cat_weights",
    "scaled_dot_product",
    lambda: (TO_ALL / 2).softmax(0),
    (
        Misconception("these are without √d_k", "Each score is divided first. The words have four numbers.", lambda: TO_ALL.softmax(0)),
        Misconception("these are divided by d_k, not by its root", "√4 is what the scores are divided by.", lambda: (TO_ALL / 4).softmax(0)),
        Misconception("the scores are multiplied by √d_k", "Should scores become larger or smaller?", lambda: (TO_ALL * 2).softmax(0)),
        Misconception("that comes out if the root is that of the number of words", "There are three words, but how many numbers has each?", lambda: (TO_ALL / sqrt(3)).softmax(0)),
        Misconception("these are a plain ratio, not a softmax", "Exponentials first, then each divided by their sum.", lambda: TO_ALL / TO_ALL.sum()),
        Misconception("these are the scores, not yet the weights", "Weights sum to 1. What makes weights of scores?", lambda: TO_ALL / 2),
        Misconception("these are the dot products, not yet the weights", "Weights sum to 1. What makes weights of scores?", lambda: TO_ALL),
        *(
            Misconception("these are the exponentials, not yet the weights", "Weights sum to 1. What is each exponential divided by?", form)
            for form in (lambda: (TO_ALL / 2).exp(), lambda: TO_ALL.exp())
        ),
        Misconception("cat itself is left out", "Three words, three weights: cat may look at itself, too.", lambda: (OTHERS / 2).softmax(0)),
        Misconception("cat itself is left out, and √d_k too", "Three words, three weights: cat may look at itself, too. And each score is divided first.", lambda: OTHERS.softmax(0)),
        Misconception("these are the weights of sat", "The lesson followed sat. Here cat looks.", lambda: (WORDS @ WORDS[2] / 2).softmax(0)),
        *(
            Misconception("the order is another one", "The order of the sentence is wanted: The, cat, sat.", partial(lambda order: (TO_ALL / 2).softmax(0)[list(order)], order))
            for order in permutations(range(3)) if order != (0, 1, 2)
        ),
        Misconception("one decimal is not enough", "Each is right as far as it goes. Two decimals are wanted.", [0.3, 0.4, 0.3]),
        Misconception("these are percentages", "Shares of 1 are wanted, such as 0.25 for 25 %.", lambda: 100 * (TO_ALL / 2).softmax(0)),
    ),
    BY_HAND,
    tolerance=0.0055,
)  # fmt: skip


# ---- look(words, who): the article's way, mended ----


def look_cases(generator: torch.Generator) -> list[Case]:
    def draw(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator)

    pair = torch.tensor([[2.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 1.0]])
    inputs = [
        ("two words, the first looks", pair, 0),
        ("the article's words, sat looks", WORDS, 2),
        ("the article's words, The looks", WORDS, 0),
        ("words that have nothing in common", torch.eye(3, 5), 1),
        ("negative scores", torch.tensor([[1.0, -1.0], [-2.0, 1.0], [0.0, 1.0]]), 0),
        ("one word", draw(1, 3), 0),
        ("words of one number", draw(3, 1), 1),
        ("a word that occurs twice", torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]), 0),
        ("long words", torch.tensor([[6.0, 0.0, 1.0], [5.0, 2.0, 0.0], [0.0, 1.0, 3.0]]), 0),
        ("five words of 16 numbers", draw(5, 16), 3),
        ("as many words as numbers", draw(3, 3), 2),
        ("float64", draw(4, 2).double(), 1),
        ("words that do not lie in order in memory", draw(6, 4).T, 2),
    ]
    return [Case(about, {"words": words, "who": who}) for about, words, who in inputs]


def look_right(words, who):
    return [result[0] for result in attention_right(words[who : who + 1], words, words, None)]


LOOK = Exercise("look", "scaled_dot_product", look_cases, look_right, BY_HAND)


def look_wrong(itself=True, ratio=False, divide=sqrt, zero=False, give=lambda w, v: [w @ v, w]):
    def answer(words, who):
        seen = [other for other in range(len(words)) if itself or other != who]
        scores = words[seen] @ words[who] / divide(words.shape[1])
        weights = scores / scores.sum() if ratio else scores.softmax(0)
        output = give(weights, words[seen])
        if zero:  # sat is left out, but keeps a place in the list of the weights
            output[1] = torch.zeros(len(words), dtype=words.dtype).index_copy(0, torch.tensor(seen).long(), output[1])
        return output

    return answer


for zero in (False, True):
    LOOK.misconception(
        "the numbers are still those of the article",
        "Three things are to be mended: who is looked at, what makes weights of scores, and how large the scores are.",
    )(look_wrong(False, True, zero=zero))


LEFT_OUT = "Which words does the article let it look at? A word may look at itself like at any other."
for zero in (False, True):
    LOOK.misconception("the word itself is left out", LEFT_OUT)(look_wrong(False, zero=zero))


RATIO = "A share of the sum is no softmax: it breaks as soon as a score is negative, or all are 0."
LOOK.misconception("the weights are a plain ratio, not a softmax", RATIO)(look_wrong(True, True))


def one(number):
    return 1.0


UNDIVIDED = "Look at the scores once more: a dot product of long vectors is large merely because they are long."
LOOK.misconception("the scores are not divided by √d_k", UNDIVIDED)(look_wrong(divide=one))
for zero in (False, True):
    LOOK.misconception("the word itself is left out, and the root is missing", f"{LEFT_OUT} {UNDIVIDED}")(
        look_wrong(False, divide=one, zero=zero)
    )


def itself_number(number):
    return number


LOOK.misconception(
    "the scores are divided by d_k, not by its root", "For four numbers, by which number must the scores be divided?"
)(look_wrong(divide=itself_number))


def two(number):
    return 2.0


LOOK.misconception(
    "the root is 2, whatever the words", "Two is the root for words of four numbers. The function gets others, too."
)(look_wrong(divide=two))


@LOOK.misconception(
    "all words look, not only the one asked for",
    "Only the row of `who` is wanted: one output, and one list of weights.",
)
def look_all(words, who):
    weights = (words @ words.T / sqrt(words.shape[1])).softmax(-1)
    return [weights @ words, weights]


@LOOK.misconception(
    "the root is that of the number of words", "How many numbers has a word? That is not how many words there are."
)
def look_divides_by_words(words, who):
    weights = (words @ words[who] / sqrt(len(words))).softmax(0)
    return [weights @ words, weights]


@LOOK.misconception(
    "the root comes after the softmax", "Divided weights no longer sum to 1. Which line should be divided?"
)
def look_divides_weights(words, who):
    weights = (words @ words[who]).softmax(0) / sqrt(words.shape[1])
    return [weights @ words, weights]


@LOOK.misconception(
    "the word itself is left out of the output", "The weights are those of all words. Is the sum over all of them, too?"
)
def look_sums_the_others(words, who):
    output, weights = look_right(words, who)
    return [output - weights[who] * words[who], weights]


@LOOK.misconception(
    "the weights are in another order",
    "The weights are wanted in the order of the words: the first belongs to the first word, whoever looks.",
)
def look_puts_itself_last(words, who):
    output, weights = look_right(words, who)
    return [output, torch.cat([weights[:who], weights[who + 1 :], weights[who : who + 1]])]


@LOOK.misconception("its own score is set to 0", "The word's score with itself is a dot product like the others.")
def look_closes_itself(words, who):
    scores = words @ words[who] / sqrt(words.shape[1])
    scores[who] = 0.0
    return [scores.softmax(0) @ words, scores.softmax(0)]


LOOK.misconception(
    "the weights come before the output", "Both are there, in the other order: the output first, then the weights."
)(look_wrong(give=lambda w, v: [w, w @ v]))
LOOK.misconception("only the output is returned", "Two things are asked for: the output, then the weights.")(
    look_wrong(give=lambda w, v: w @ v)
)


# ---- experiment: how wide until one weight has nearly all? ----


WIDTHS = [2**i for i in range(11)]


@cache
def largest_weight(width: int, keys: int = 12, draws: int = 4000) -> float:
    """Largest of a query's weights, in the middle of the draws, when nothing is divided by the root."""
    generator = torch.Generator().manual_seed(width)
    query, key = (torch.randn(draws, n, width, generator=generator) for n in (1, keys))
    return (query @ key.mT).softmax(-1).amax(-1).median().item()


def first_width_above(share: float) -> int:
    return next(width for width in WIDTHS if largest_weight(width) > share)


SATURATED = Question(
    "saturated_at",
    "scaled_dot_product",
    lambda: first_width_above(0.9),
    (
        Misconception("that is still below 0.9", "The point at this d_k lies between 0.8 and 0.9. Find the line at 0.9.", lambda: first_width_above(0.9) // 2),
        *(
            Misconception("it is above 0.9 before that", "The *smallest* plotted d_k is asked for. Go to the left as long as the points stay above the line.", width)
            for width in WIDTHS[7:]
        ),
        Misconception("without the root the largest weight is only a little above one half there", "The other line, at 0.9, is meant. Or do both curves rise in your figure? Then scaled_attention lacks the root: mend exercise 6 first.", lambda: first_width_above(0.5)),
        Misconception("that is the weight, not the width", "Read downwards from the point to the axis of d_k.", lambda: round(largest_weight(first_width_above(0.9)), 2)),
    ),
    ROOT,
    tolerance=0.05,
)  # fmt: skip

ASKED = [CAT_SCORE, CAT_WEIGHTS, LOOK, MASKED_SOFTMAX, CAUSAL_MASK, ATTENTION, SATURATED]
