"""Exercises of lesson 2: Bahdanau attention."""

from functools import partial
from itertools import product
from math import exp, log

import torch
from torch.nn import functional as F

from course_lib.checks.engine import Case, Exercise, Misconception, Question

HAND = 'lesson 2, "By hand: le chat noir"; glossary.show("attention weight")'
SCORE = 'lesson 2, "Where the scores come from"; glossary.show("additive score")'
CONTEXT = 'lesson 2, "Sentences of unequal length"; glossary.show("context vector")'
PADDING = 'lesson 2, "Sentences of unequal length"; glossary.show("mask")'
ERROR_RATE = 'lesson 2, "How far from the gold links?"; glossary.show("alignment error rate")'
HIDING = 'lesson 2, "Is the map an explanation?"'


# ---- three weights, by hand ----


SCORES = 1.5, 0.4, -0.7


def shares(*scores: float) -> list[float]:
    return [exp(score) / sum(map(exp, scores)) for score in scores]


FIRST_WEIGHTS = Question(
    "first_weights",
    "bahdanau_attention",
    lambda: shares(*SCORES),
    (
        Misconception(
            "the minus sign is lost",
            "The third score is negative. Is exp(−0.7) more than 1, or less?",
            lambda: shares(*map(abs, SCORES)),
        ),
        Misconception(
            "the scores are divided by their sum",
            "A score may be negative, a weight may not. What is done to each score before the division?",
            lambda: [score / sum(SCORES) for score in SCORES],
        ),
        Misconception(
            "the powers are not divided by their sum",
            "Weights sum to 1. What do these sum to?",
            lambda: [exp(score) for score in SCORES],
        ),
        Misconception(
            "those are percentages",
            "Weights are shares: they sum to 1, not to 100.",
            [69.0, 23.0, 8.0],
        ),
        Misconception(
            "those are percentages",
            "Weights are shares: they sum to 1, not to 100.",
            lambda: [100 * share for share in shares(*SCORES)],
        ),
    ),
    HAND,
    tolerance=0.005,
)

PADDED_WEIGHTS = Question(
    "padded_weights",
    "bahdanau_attention",
    lambda: [*shares(*SCORES[:2]), 0.0],
    (
        Misconception(
            "the padding's place is missing",
            "There are three places, so three weights: one for the padding too.",
            lambda: shares(*SCORES[:2]),
        ),
        Misconception(
            "the padding has taken its share already",
            "What do the two weights sum to? Leave the padding out of the sum that you divide by.",
            lambda: [*shares(*SCORES)[:2], 0.0],
        ),
        Misconception(
            "the padding's score is taken to be 0",
            "exp(0) is 1: a score of 0 still gets weight.",
            lambda: shares(*SCORES[:2], 0.0),
        ),
        Misconception(
            "the padding is not left out", "How much may a place without a word get?", lambda: shares(*SCORES)
        ),
        Misconception(
            "the scores are divided by their sum",
            "What is done to each score before the division?",
            lambda: [*(score / sum(SCORES[:2]) for score in SCORES[:2]), 0.0],
        ),
    ),
    PADDING,
    tolerance=0.005,
)


# ---- additive_score(query, keys, W_s, W_h, v) ----


def score_cases(generator: torch.Generator) -> list[Case]:
    draw = partial(torch.randn, generator=generator)

    def sizes(batch, words, query_size, key_size, inner):
        return (
            draw(batch, query_size),
            draw(batch, words, key_size),
            draw(inner, query_size),
            draw(inner, key_size),
            draw(inner),
        )

    one = torch.tensor([[1.0]]), torch.tensor([[[2.0]]]), torch.tensor([[1.0]]), torch.tensor([[-2.0]])
    notes = (
        torch.tensor([[0.2, 1.5]]),
        torch.tensor([[[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]]),
        torch.tensor([[1.7, -0.4], [0.6, -0.1], [0.0, -1.7]]),
        torch.tensor([[1.0, -1.6], [-0.8, 0.4], [1.2, -1.9]]),
        torch.tensor([1.7, 0.7, -1.7]),
    )
    query, keys, *rest = sizes(5, 4, 3, 2, 6)
    inputs = [
        ("one sentence of one word, all sizes 1", (*one, torch.tensor([3.0]))),
        ("the notes' first step", notes),
        ("two sentences of two words, all sizes 2", sizes(2, 2, 2, 2, 2)),
        ("four sentences of four words", sizes(4, 4, 3, 5, 2)),
        ("every axis of another length", sizes(2, 3, 4, 5, 6)),
        ("queries and keys of one size", sizes(3, 5, 4, 4, 2)),
        ("one sentence", sizes(1, 6, 2, 3, 5)),
        ("sentences of one word", sizes(3, 1, 2, 4, 3)),
        ("a single number behind the tanh", sizes(2, 3, 3, 2, 1)),
        ("float64", tuple(x.double() for x in sizes(3, 2, 4, 3, 5))),
        ("keys that do not lie in order in memory", (query, draw(2, 4, 5).permute(2, 1, 0), *rest)),
        ("large numbers, where the tanh is flat", (50 * query, 50 * keys, *rest)),
    ]
    names = ("query", "keys", "W_s", "W_h", "v")
    return [Case(about, dict(zip(names, values, strict=True))) for about, values in inputs]


def score_right(query, keys, W_s, W_h, v):
    return F.linear(torch.tanh(F.linear(query, W_s).unsqueeze(1) + F.linear(keys, W_h)), v[None]).squeeze(-1)


ADDITIVE_SCORE = Exercise(
    "additive_score",
    "bahdanau_attention",
    score_cases,
    score_right,
    SCORE,
    tolerance=1e-4,
    banned=("course_lib.attention.AdditiveScore",),
)


def scored(inside=lambda s, h: torch.tanh(s + h), weigh=lambda x, v: x @ v):
    """An answer that does other things within."""

    def answer(query, keys, W_s, W_h, v):
        return weigh(inside((query @ W_s.T)[:, None], keys @ W_h.T), v)

    return answer


ADDITIVE_SCORE.misconception("there is no tanh", "Look at the formula again: what happens to the sum before v comes?")(
    scored(lambda s, h: s + h)
)
ADDITIVE_SCORE.misconception(
    "the tanh comes after v",
    "A score may be larger than 1. In which order does the formula do it: first the tanh, or first v?",
)(lambda *given: scored(lambda s, h: s + h)(*given).tanh())
ADDITIVE_SCORE.misconception(
    "the tanh is taken before the sum", "There is one tanh in the formula. Where are its brackets?"
)(scored(lambda s, h: s.tanh() + h.tanh()))
ADDITIVE_SCORE.misconception(
    "the two are multiplied, not added", "The score is called additive: what stands between the two products?"
)(scored(lambda s, h: torch.tanh(s * h)))
ADDITIVE_SCORE.misconception(
    "another function stands in place of the tanh", "The tanh gives numbers from −1 to 1, negative ones too."
)(scored(lambda s, h: (s + h).relu()))
ADDITIVE_SCORE.misconception(
    "another function stands in place of the tanh", "The tanh gives numbers from −1 to 1, negative ones too."
)(scored(lambda s, h: (s + h).sigmoid()))
ADDITIVE_SCORE.misconception(
    "v is not used", "The numbers behind the tanh do not count alike: each has its own factor."
)(scored(weigh=lambda x, v: x.sum(-1)))
ADDITIVE_SCORE.misconception(
    "v's products are not summed", "A word gets one score. What makes one number of the products?"
)(scored(weigh=lambda x, v: x * v))
ADDITIVE_SCORE.misconception(
    "v meets the words, not the numbers behind the tanh",
    "Which axis of v @ x is summed away, if x has the axes (batch, key, a)? Which should be?",
)(scored(weigh=lambda x, v: v @ x))
ADDITIVE_SCORE.misconception(
    "an axis of length 1 is left at the end",
    "The result has two axes, (batch, key). Which did you get, and which is too many?",
)(scored(weigh=lambda x, v: x @ v[:, None]))
ADDITIVE_SCORE.misconception(
    "the query is not used", "Two things make a score: a state, and the query that looks at it."
)(scored(lambda s, h: h.tanh()))
ADDITIVE_SCORE.misconception(
    "the states are not used", "Every word would get the same score. Which of the two knows the words?"
)(scored(lambda s, h: s.tanh().expand_as(h)))
ADDITIVE_SCORE.misconception(
    "the axes of the result are exchanged", "Which comes first in (batch, key), the sentence or the word?"
)(lambda *given: score_right(*given).mT)
ADDITIVE_SCORE.misconception("the softmax is taken already", "A score is any number. The weights come later.")(
    lambda *given: score_right(*given).softmax(-1)
)


@ADDITIVE_SCORE.misconception(
    "the query of one sentence meets the words of another",
    "Write the shapes of the two things that are added. Which axes does broadcasting lay over each "
    "other? Sentence must lie on sentence.",
)
def without_axis(query, keys, W_s, W_h, v):
    return torch.tanh(query @ W_s.T + keys @ W_h.T) @ v


@ADDITIVE_SCORE.misconception(
    "a matrix is multiplied from its wrong side",
    "W_s has shape (a, d_query): which of its axes must meet the query's numbers?",
)
def transposed_matrices(query, keys, W_s, W_h, v):
    return torch.tanh((query @ W_s)[:, None] + keys @ W_h) @ v


@ADDITIVE_SCORE.misconception("the two matrices are exchanged", "W_s belongs to the query s, W_h to the states h.")
def exchanged_matrices(query, keys, W_s, W_h, v):
    return torch.tanh((query @ W_h.T)[:, None] + keys @ W_s.T) @ v


# ---- attend_to(scores, states, lengths) ----


def attend_cases(generator: torch.Generator) -> list[Case]:
    draw = partial(torch.randn, generator=generator)
    scores, states = draw(4, 5), draw(4, 5, 3)
    lengths = torch.tensor([3, 5, 1, 4])
    square = draw(3, 3), draw(3, 3, 3)
    two = torch.tensor([[[1.0], [3.0]]])
    inputs = [
        ("two words with equal scores", torch.zeros(1, 2), two, torch.tensor([2])),
        ("two words", torch.tensor([[0.0, log(3)]]), two, torch.tensor([2])),
        ("one word and a place of padding", torch.tensor([[1.0, 2.0]]), two, torch.tensor([1])),
        (
            "two words and padding",
            torch.tensor([[0.0, log(3), 1.0]]),
            torch.tensor([[[1.0, 0.0], [3.0, 4.0], [9.0, 9.0]]]),
            torch.tensor([2]),
        ),
        ("negative scores, and padding", torch.tensor([[-3.0, -2.0, -1.0]]), draw(1, 3, 2), torch.tensor([2])),
        ("very large scores", torch.tensor([[9e4, 8e4, 5e5]]), draw(1, 3, 2), torch.tensor([2])),
        ("very low scores", torch.tensor([[-2e5, -3e5, 0.0]]), draw(1, 3, 2), torch.tensor([2])),
        ("a sentence of no words", torch.tensor([[1.0, 2.0]]), two, torch.tensor([0])),
        ("as many sentences as words as numbers", *square, torch.tensor([3, 3, 3])),
        ("the same with padding", *square, torch.tensor([2, 1, 3])),
        ("four sentences", scores, states, lengths),
        ("the same scores + 100", scores + 100, states, lengths),
        (
            "large scores in one sentence, small ones in another",
            torch.tensor([[1000.0, 1001.0], [0.0, 0.0]]),
            draw(2, 2, 3),
            torch.tensor([2, 2]),
        ),
        ("a sentence of no words among others", draw(3, 4), draw(3, 4, 2), torch.tensor([4, 0, 2])),
        ("sentences of one word", draw(3, 1), draw(3, 1, 2), torch.tensor([1, 1, 1])),
        ("scores below −10⁹", torch.tensor([[-2e9, 0.0], [0.0, 0.0]]), draw(2, 2, 3), torch.tensor([1, 2])),
        ("float64", draw(2, 4).double(), draw(2, 4, 6).double(), torch.tensor([4, 2])),
        (
            "tensors that do not lie in order in memory",
            draw(6, 2).T,
            draw(3, 6, 2).permute(2, 1, 0),
            torch.tensor([6, 5]),
        ),
    ]
    return [Case(about, dict(zip(("scores", "states", "lengths"), values, strict=True))) for about, *values in inputs]


def words_of(scores, lengths):
    """(batch, key): True at words."""
    return torch.arange(scores.shape[1]) < lengths[:, None]


def attend_right(scores, states, lengths):
    weights = F.softmax(scores.masked_fill(~words_of(scores, lengths), -torch.inf), -1).nan_to_num(0.0)
    return torch.bmm(weights[:, None], states)[:, 0], weights


ATTEND_TO = Exercise(
    "attend_to",
    "bahdanau_attention",
    attend_cases,
    attend_right,
    CONTEXT,
    banned=("course_lib.attention.attend", "course_lib.masks.masked_softmax"),
)


def mixed(mix, returned=lambda context, weights: (context, weights)):
    """An answer with the right weights, another context or another thing returned."""

    def answer(scores, states, lengths):
        weights = attend_right(scores, states, lengths)[1]
        return returned(mix(weights[:, :, None] * states), weights)

    return answer


ATTEND_TO.misconception("only the context is returned", "Two things are asked for: the context, and the weights.")(
    mixed(lambda x: x.sum(1), lambda context, weights: context)
)
ATTEND_TO.misconception("context and weights are exchanged", "Look at the order in which the two are asked for.")(
    mixed(lambda x: x.sum(1), lambda context, weights: (weights, context))
)


def attended(weigh):
    """An answer with other weights, given the scores and True at words."""

    def answer(scores, states, lengths):
        weights = weigh(scores, words_of(scores, lengths))
        return (weights[:, :, None] * states).sum(1), weights

    return answer


def closed(scores, words, value=-torch.inf):
    return scores.masked_fill(~words, value)


ATTEND_TO.misconception(
    "the softmax runs over the sentences", "The weights of *one* sentence sum to 1. Which axis holds its words?"
)(attended(lambda e, words: closed(e, words).softmax(0).nan_to_num(0.0)))
ATTEND_TO.misconception(
    "the softmax runs over the sentences", "The weights of *one* sentence sum to 1. Which axis holds its words?"
)(attended(lambda e, words: e.softmax(0) * words))


NO_WORDS = (
    "A sentence of length 0 has nothing to look at. What should its weights be, and its context? The exercise says it."
)

ATTEND_TO.misconception("a sentence of no words gives NaN", NO_WORDS)(
    attended(lambda e, words: closed(e, words).softmax(-1))
)


def penalised(scores, words, value, add, empty=False):
    """Weights with a finite penalty; `empty` sets those of a sentence without words to 0."""
    weights = (scores + value * (~words).to(scores.dtype) if add else closed(scores, words, value)).softmax(-1)
    return weights * words.any(-1, keepdim=True) if empty else weights


ATTEND_TO.misconception("a sentence of no words gives equal weights", NO_WORDS)(
    attended(partial(penalised, value=-1e9, add=False))
)
ATTEND_TO.misconception("a sentence of no words gives equal weights", NO_WORDS)(
    attended(partial(penalised, value=-1e9, add=True))
)
ATTEND_TO.misconception("a sentence of no words gives equal weights", NO_WORDS)(
    attended(lambda e, words: closed(e, words, torch.finfo(e.dtype).min).softmax(-1))
)


def renormalised(scores, words, mend):
    weights = scores.softmax(-1) * words
    weights = weights / weights.sum(-1, keepdim=True)
    return weights.nan_to_num(0.0) if mend else weights


AFTER_ALL = (
    "In the input below the padding has by far the largest score. What is left for the words, before you take the "
    "padding out: by the softmax, or by the largest score that is subtracted?"
)

for mend in (False, True):
    ATTEND_TO.misconception("the padding is taken out too late", AFTER_ALL)(attended(partial(renormalised, mend=mend)))
FINITE = *product((-100.0, -1e3, -1e4, -1e5), (False, True), (False, True)), (-1e9, False, True), (-1e9, True, True)
for value, add, empty in FINITE:
    ATTEND_TO.misconception(
        "the penalty is finite, and large scores pass it",
        "Compare it with the scores of the input below. Which number lies under all scores that there can be?",
    )(attended(partial(penalised, value=value, add=add, empty=empty)))
ATTEND_TO.misconception(
    "padding is not masked", "Places behind the last word still get weight. lengths says where they begin."
)(attended(lambda e, words: e.softmax(-1)))
ATTEND_TO.misconception(
    "the padding gets 0 after the softmax",
    "Padding has taken its share already: what do the weights of the words sum to?",
)(attended(lambda e, words: e.softmax(-1) * words))
ATTEND_TO.misconception("the padding gets the score 0", "exp(0) is 1: a score of 0 still gets weight.")(
    attended(lambda e, words: (e * words).softmax(-1))
)
ATTEND_TO.misconception("the mask is the wrong way round", "Yours looks at the padding and closes the words.")(
    attended(lambda e, words: closed(e, ~words).softmax(-1).nan_to_num(0.0))
)


@ATTEND_TO.misconception(
    "one place too many is open", "With length 2 the words are at places 0 and 1. Is place 2 a word?"
)
def one_word_more(scores, states, lengths):
    return attend_right(scores, states, lengths + 1)


@ATTEND_TO.misconception(
    "one place too few is open", "With length 2 the words are at places 0 and 1. Is place 1 a word?"
)
def one_word_less(scores, states, lengths):
    return attend_right(scores, states, lengths - 1)


@ATTEND_TO.misconception(
    "the weights of each sentence meet the states of every sentence",
    "A sentence's weights belong to its own states. Which axes does @ pair off, if the shapes are "
    "(batch, key) and "
    "(batch, key, d)?",
)
def weights_at_states(scores, states, lengths):
    weights = attend_right(scores, states, lengths)[1]
    return weights @ states, weights


ATTEND_TO.misconception(
    "the weighted states are not summed", "A context is *one* vector for a sentence: an average of its states."
)(mixed(lambda x: x))
ATTEND_TO.misconception(
    "the sum runs over the numbers of a state",
    "The states are added up, word by word. Which axis must go, and which must stay?",
)(mixed(lambda x: x.sum(-1)))
AVERAGE = "The weights sum to 1, so the weighted sum is an average already."
ATTEND_TO.misconception("the context is divided by the number of places", AVERAGE)(mixed(lambda x: x.mean(1)))


@ATTEND_TO.misconception("the context is divided by the number of words", AVERAGE)
def divided_by_words(scores, states, lengths):
    context, weights = attend_right(scores, states, lengths)
    return context / lengths[:, None], weights


def minus_largest_of_all(scores, words):
    open_ = closed(scores, words)
    powers = (open_ - open_.max().clamp(min=-1e30)).exp()
    return (powers / powers.sum(-1, keepdim=True)).nan_to_num(0.0)


ATTEND_TO.misconception(
    "the largest score of the whole batch is subtracted",
    "Rows whose scores lie far below it get nothing but exp(−∞). Which largest score belongs to a row?",
)(attended(minus_largest_of_all))


def naive(scores, words, times, mend):
    powers = scores.exp() * words if times else scores.exp().masked_fill(~words, 0.0)
    weights = powers / powers.sum(-1, keepdim=True)
    return weights.nan_to_num(0.0) if mend else weights


for times in (False, True):
    for mend in (False, True):
        ATTEND_TO.misconception(
            "large scores overflow",
            "exp(100) is too large for float32. What may be subtracted from all scores of a sentence without "
            "changing the softmax?",
        )(attended(partial(naive, times=times, mend=mend)))


# ---- every_step(scores, states, mask), to be mended ----


def step_cases(generator: torch.Generator) -> list[Case]:
    draw = partial(torch.randn, generator=generator)
    some = torch.rand(3, 5, generator=generator) < 0.6
    some[:, 0] = True
    end = torch.tensor([[True, True, False, False], [True, True, True, False]])
    inputs = [
        (
            "two steps over two words",
            torch.tensor([[[0.0, log(3)], [0.0, 0.0]]]),
            torch.tensor([[[1.0], [3.0]]]),
            torch.tensor([[True, True]]),
        ),
        (
            "two steps over a word and padding",
            torch.tensor([[[0.0, 1.0], [2.0, 0.0]]]),
            torch.tensor([[[1.0], [3.0]]]),
            torch.tensor([[True, False]]),
        ),
        (
            "a word whose state is all zeros",
            torch.tensor([[[0.0, log(3)], [1.0, 0.0]]]),
            torch.tensor([[[0.0, 0.0], [2.0, 4.0]]]),
            torch.tensor([[True, True]]),
        ),
        ("one step over three words", draw(1, 1, 3), draw(1, 3, 2), torch.ones(1, 3, dtype=torch.bool)),
        ("as many steps as places", draw(2, 4, 4), draw(2, 4, 3), end),
        (
            "as many sentences as steps as places",
            draw(3, 3, 3),
            draw(3, 3, 3),
            torch.tensor([[True, True, False], [True, False, False], [True, True, True]]),
        ),
        ("more places than steps", draw(3, 2, 5), draw(3, 5, 4), some),
        ("more steps than places", draw(2, 6, 4), draw(2, 4, 2), end),
        ("scores + 100", draw(3, 2, 5) + 100, draw(3, 5, 2), some),
        (
            "a step with large scores, one with small ones",
            torch.tensor([[[1000.0, 1001.0], [0.0, 0.0]]]),
            draw(1, 2, 3),
            torch.tensor([[True, True]]),
        ),
        ("very large scores", torch.tensor([[[9e4, 8e4, 5e5]]]), draw(1, 3, 2), torch.tensor([[True, True, False]])),
        ("very low scores", torch.tensor([[[-2e5, -3e5, 0.0]]]), draw(1, 3, 2), torch.tensor([[True, True, False]])),
        ("scores below −10⁹", torch.tensor([[[-2e9, 0.0]]]), draw(1, 2, 3), torch.tensor([[True, False]])),
        ("float64", draw(2, 3, 4).double(), draw(2, 4, 5).double(), end),
        ("scores that do not lie in order in memory", draw(4, 5, 2).permute(2, 1, 0), draw(2, 4, 3), end),
    ]
    return [Case(about, dict(zip(("scores", "states", "mask"), values, strict=True))) for about, *values in inputs]


def steps_right(scores, states, mask):
    weights = F.softmax(scores.masked_fill(~mask.unsqueeze(1), -torch.inf), -1)
    return torch.bmm(weights, states), weights


EVERY_STEP = Exercise("every_step", "bahdanau_attention", step_cases, steps_right, CONTEXT)


def stepped(axis=-1, rows=False, after=False, mask_is_used=True, value=-torch.inf, add=False):
    """An answer with some of the faults of the given code."""

    def answer(scores, states, mask):
        open_ = mask[:, :, None] if rows else mask[:, None]
        if not mask_is_used:
            weights = scores.softmax(axis)
        elif after:
            weights = scores.softmax(axis) * open_
        elif add:
            weights = (scores + value * (~open_).to(scores.dtype)).softmax(axis)
        else:
            weights = scores.masked_fill(~open_, value).softmax(axis)
        return weights @ states, weights

    return answer


EVERY_STEP.misconception(
    "that is the code as it was given",
    "Run it on the small example and print weights.sum(-1). Every step should give 1.",
)(stepped(1, rows=True, after=True))


@EVERY_STEP.misconception("only the contexts are returned", "Two things are asked for: the contexts, and the weights.")
def only_contexts(scores, states, mask):
    return steps_right(scores, states, mask)[0]


OVER_STEPS = (
    "Print weights.sum(-1) and weights.sum(1). A step shares its look out over the words: which of the two must be 1?"
)

EVERY_STEP.misconception("the softmax runs over the steps", OVER_STEPS)(stepped(1))
EVERY_STEP.misconception("the softmax runs over the steps", OVER_STEPS)(stepped(1, after=True))


OVER_SENTENCES = "Then a sentence's weights hang on who else is in the batch. Which axis holds the words?"
EVERY_STEP.misconception("the softmax runs over the sentences", OVER_SENTENCES)(stepped(0))
EVERY_STEP.misconception("the softmax runs over the sentences", OVER_SENTENCES)(stepped(0, after=True))


ROWS = "mask has shape (batch, key). Write (batch, step, key) above it: on which axis do the mask's places come to lie?"
EVERY_STEP.misconception("the mask closes steps, not words", ROWS)(stepped(rows=True, after=True))
EVERY_STEP.misconception("the mask closes steps, not words", ROWS)(stepped(rows=True))
EVERY_STEP.misconception("the mask closes steps, not words", ROWS)(stepped(rows=True, value=-1e9))


AFTER = "Print weights.sum(-1) for a sentence with padding. What has taken the rest?"
EVERY_STEP.misconception("the mask comes after the softmax", AFTER)(stepped(after=True))
for value in (-100.0, -1e3, -1e4, -1e5, -1e9):
    for add in (False, True):
        EVERY_STEP.misconception(
            "the penalty is finite, and large scores pass it",
            "Compare it with the scores of the input below. Which number lies under all scores that there can be?",
        )(stepped(value=value, add=add))
EVERY_STEP.misconception("the mask is not used", "Padding still gets weight.")(stepped(mask_is_used=False))
EVERY_STEP.misconception("closed scores become 0", "exp(0) is 1: a score of 0 still gets weight.")(stepped(value=0.0))


def weighed(weigh):
    """An answer with other weights, given the scores and True at words."""

    def answer(scores, states, mask):
        weights = weigh(scores, mask[:, None])
        return weights @ states, weights

    return answer


for mend in (False, True):
    EVERY_STEP.misconception("the mask is the wrong way round", "Yours looks at the padding and closes the words.")(
        weighed(lambda e, words, mend=mend: closed(e, ~words).softmax(-1).nan_to_num(0.0 if mend else torch.nan))
    )
for times, mend in product((False, True), (False, True)):
    EVERY_STEP.misconception(
        "large scores overflow",
        "exp(100) is too large for float32. What may be subtracted from all scores of a step without changing the "
        "softmax?",
    )(weighed(partial(naive, times=times, mend=mend)))


# ---- alignment_error(proposed, sure, possible) ----


def link_cases(generator: torch.Generator) -> list[Case]:
    def draw(chance):
        kept = torch.rand(5, 6, generator=generator) < chance
        return kept.nonzero().tolist()

    def sentence():
        sure = draw(0.2) or [[0, 0]]
        # Some of the gold links among those that are proposed, so that something is hit.
        possible = sure + [link for link in draw(0.2) if link not in sure]
        kept = torch.rand(len(possible), generator=generator) < 0.6
        proposed = [link for link, keep in zip(possible, kept.tolist(), strict=True) if keep]
        return proposed + [link for link in draw(0.1) if link not in possible], sure, possible

    cat = [[0, 0], [1, 2], [2, 1]]
    inputs = [
        ("one link, found", [([[0, 0]], [[0, 0]], [[0, 0]])]),
        ("one link, missed", [([[0, 1]], [[0, 0]], [[0, 0]])]),
        ("the black cat, one of three found", [([[0, 2], [1, 2], [2, 2]], cat, cat)]),
        ("a possible link is proposed", [([[0, 0], [1, 1]], [[0, 0]], [[0, 0], [1, 1]])]),
        ("nothing is proposed", [([], cat, cat)]),
        ("a short sentence and a longer one", [([[0, 0]], [[0, 0]], [[0, 0]]), ([[0, 2], [1, 2], [2, 2]], cat, cat)]),
        ("a sentence without sure links beside another", [([[0, 0], [1, 0]], [], [[0, 0]]), (cat, cat, cat)]),
        ("a sentence for which nothing is proposed, beside another", [([], cat, cat), (cat, cat, cat)]),
        ("a sentence without any gold link beside another", [([[0, 0]], [], []), (cat, cat, cat)]),
        *(
            (f"{told} drawn at random", [sentence() for _ in range(count)])
            for count, told in ((1, "one sentence"), (2, "two sentences"), (5, "five sentences"))
        ),
    ]
    return [
        Case(about, dict(zip(("proposed", "sure", "possible"), map(list, zip(*pairs, strict=True)), strict=True)))
        for about, pairs in inputs
    ]


def with_sets(answer, proposed, sure, possible):
    """The links of each sentence as a set of pairs; whoever changes a set, empties the list that came in."""
    given = proposed, sure, possible
    links = [[set(map(tuple, of_one)) for of_one in one] for one in given]
    before = [list(map(set, one)) for one in links]
    result = answer(*links)
    for one, now, then in zip(given, links, before, strict=True):
        if now != then:
            one.clear()
    return result


def counted(rate):
    """An answer that is given the numbers |A|, |S|, |P|, |A ∩ S|, |A ∩ P| of all sentences together."""

    def answer(proposed, sure, possible):
        a, s, p = (sum(map(len, links)) for links in (proposed, sure, possible))
        a_s, a_p = (sum(len(A & gold) for A, gold in zip(proposed, links, strict=True)) for links in (sure, possible))
        return rate(a, s, p, a_s, a_p)

    return answer


ALIGNMENT_ERROR = Exercise(
    "alignment_error",
    "bahdanau_attention",
    link_cases,
    counted(lambda a, s, p, a_s, a_p: 1 - (a_s + a_p) / (a + s)),
    ERROR_RATE,
    with_sets,
    banned=("course_lib.metrics.alignment_error_rate",),
)

ALIGNMENT_ERROR.misconception("that is the share of hits, not of errors", "Where every link is found the rate is 0.")(
    counted(lambda a, s, p, a_s, a_p: (a_s + a_p) / (a + s))
)


@ALIGNMENT_ERROR.misconception(
    "each sentence counts alike, whatever its length",
    "Yours is the mean of the sentences' own rates. The links of all sentences are counted first; there "
    "is one division.",
)
def mean_of_rates(proposed, sure, possible):
    alone = counted(lambda a, s, p, a_s, a_p: 1 - (a_s + a_p) / (a + s))
    rates = [alone([A], [S], [P]) for A, S, P in zip(proposed, sure, possible, strict=True)]
    return sum(rates) / len(rates)


@ALIGNMENT_ERROR.misconception(
    "links of different sentences are thrown together",
    "The link (0, 0) of one sentence is not the link (0, 0) of another. Compare sets sentence by sentence.",
)
def all_in_one(proposed, sure, possible):
    A, S, P = (set().union(*links) for links in (proposed, sure, possible))
    return 1 - (len(A & S) + len(A & P)) / (len(A) + len(S))


ALIGNMENT_ERROR.misconception(
    "a sure link counts once, not twice", "P contains S: a sure link that is proposed lies in both intersections."
)(counted(lambda a, s, p, a_s, a_p: 1 - a_p / (a + s)))
ALIGNMENT_ERROR.misconception(
    "possible links earn nothing", "A link that is only possible is no mistake: which of the intersections counts it?"
)(counted(lambda a, s, p, a_s, a_p: 1 - 2 * a_s / (a + s)))
ALIGNMENT_ERROR.misconception(
    "the possible links are in the divisor", "Nobody must find the possible links. Which two sets stand below the line?"
)(counted(lambda a, s, p, a_s, a_p: 1 - (a_s + a_p) / (a + p)))
ALIGNMENT_ERROR.misconception(
    "only what is found of the sure links counts",
    "Yours says what was missed. Wrong links that were proposed must cost something too.",
)(counted(lambda a, s, p, a_s, a_p: 1 - a_s / s))
ALIGNMENT_ERROR.misconception(
    "nothing proposed raises an error", "The set A may be empty. By what do you divide then?"
)(counted(lambda a, s, p, a_s, a_p: 1 - a_p / a))
for empty in (0.0, 1.0):
    ALIGNMENT_ERROR.misconception(
        "only the links that were proposed are judged",
        "Yours says how many of A are wrong. Sure links that were missed must cost something too.",
    )(counted(lambda a, s, p, a_s, a_p, empty=empty: 1 - a_p / a if a else empty))


ALIGNMENT_ERROR.misconception(
    "a pair of brackets is missing",
    "A division comes before a sum. What is divided, and by what? Put brackets around each of the two.",
)(counted(lambda a, s, p, a_s, a_p: 1 - a_s + a_p / (a + s)))
ALIGNMENT_ERROR.misconception(
    "a pair of brackets is missing",
    "A division comes before a sum. What is divided, and by what? Put brackets around each of the two.",
)(counted(lambda a, s, p, a_s, a_p: 1 - (a_s + a_p) / a + s if a else 1 / 0))


@ALIGNMENT_ERROR.misconception(
    "sentences without sure links are left out",
    "A sentence may have no sure link, and links that are proposed for it count in |A| all the same.",
)
def with_sure_links_only(proposed, sure, possible):
    kept = [links for links in zip(proposed, sure, possible, strict=True) if links[1]]
    return ALIGNMENT_ERROR.right(*zip(*kept, strict=True))


# ---- what hiding a word costs ----


HIDING_COST = Question(
    "hiding_cost",
    "bahdanau_attention",
    # Hidden, the word may be any of 20, and nothing tells them apart: −log(1/20) in place of about 0.
    lambda: log(20),
    (
        Misconception(
            "that word would hardly be missed",
            "Costs are in the right panel. The marked word has the most weight, but which word must be written? Read the "
            "bar of *that* place.",
            0.0,
        ),
        Misconception(
            "that may be a share, but not this cost",
            "Weights and probabilities lie between 0 and 1. Costs are in the right panel, in nats.",
            0.95,
        ),
        Misconception(
            "the sign is the wrong way round", "A cost is how far the log-probability *falls*.", lambda: -log(20)
        ),
        Misconception(
            "that is a factor, not nats", "The log-probability falls by a few nats. Read the right panel's axis.", 20.0
        ),
    ),
    HIDING,
    tolerance=0.4,  # measured anew in the notebook
)

ASKED = [FIRST_WEIGHTS, ADDITIVE_SCORE, PADDED_WEIGHTS, ATTEND_TO, EVERY_STEP, ALIGNMENT_ERROR, HIDING_COST]
