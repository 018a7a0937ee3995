"""`look(words, who)`: the article's calculation, fixed. It gives the new vector of the word that looks, and its weights."""

from math import sqrt

import torch
from torch import Tensor

from course_lib.checks.engine import Case, Exercise
from course_lib.checks.scaled_dot_product.the_article import ARTICLE, WORDS


def cases(generator: torch.Generator) -> list[Case]:
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
        ("large scores", torch.tensor([[20.0, 0.0, 0.0, 0.0], [19.75, 1.0, 0.0, 0.0], [0.0, 0.0, 20.0, 0.0]]), 0),
        ("long words", torch.tensor([[6.0, 0.0, 1.0], [5.0, 2.0, 0.0], [0.0, 1.0, 3.0]]), 0),
        ("five words of 16 numbers", draw(5, 16), 3),
        ("as many words as numbers", draw(3, 3), 2),
        ("float64", draw(4, 2).double(), 1),
        ("words that aren't contiguous in memory", draw(6, 4).T, 2),
    ]
    return [Case(about, {"words": words, "who": who}) for about, words, who in inputs]


def right(words, who):
    seen = words  # all of them, including the one that looks
    scores = seen @ words[who] / sqrt(words.shape[1])
    weights = scores.softmax(0)
    output = weights @ seen
    return [output, weights]


LOOK = Exercise("look", "scaled_dot_product", cases, right, ARTICLE)

LEFT_OUT = "seen = words", "seen = words[torch.arange(len(words)) != who]"
RATIO = "scores.softmax(0)", "scores / scores.sum()"
UNDIVIDED = " / sqrt(words.shape[1])", ""
BOTH = "[output, weights]"
ZERO_FOR_ITSELF = BOTH, "[output, torch.cat([weights[:who], weights.new_zeros(1), weights[who:]])]"
AT_ITSELF = "Which words does the article let it look at? A word may look at itself as it may look at any other."
LONG = "Look at the scores again. The more numbers the vectors have, the larger their dot products become. What does the formula do about it?"
for zero in ((), (ZERO_FOR_ITSELF,)):
    LOOK.edit(
        "the numbers are still those of the article",
        "Three things need fixing: which words are looked at, what turns scores into weights, and how large the scores are.",
        LEFT_OUT,
        RATIO,
        *zero,
    )
for zero in ((), (ZERO_FOR_ITSELF,)):
    LOOK.edit("the word itself is left out", AT_ITSELF, LEFT_OUT, *zero)
LOOK.edit(
    "the weights are a plain ratio, not a softmax",
    "Dividing by the sum fails as soon as one score is negative or all scores are 0. What does a softmax do first?",
    RATIO,
)
LOOK.edit(
    "large scores overflow",
    "exp(100) is too large for float32. What can you subtract from all scores without changing their softmax?",
    ("scores.softmax(0)", "scores.exp() / scores.exp().sum()"),
)
LOOK.edit("the scores are not divided by √d_k", LONG, UNDIVIDED)
for zero in ((), (ZERO_FOR_ITSELF,)):
    LOOK.edit("the word itself is left out, and so is √d_k", f"{AT_ITSELF} {LONG}", LEFT_OUT, UNDIVIDED, *zero)
LOOK.edit(
    "the scores are divided by d_k, not by its root",
    "If a word has four numbers, what must the scores be divided by?",
    ("sqrt(words.shape[1])", "words.shape[1]"),
)
LOOK.edit(
    "the scores are divided by 2, whatever the words",
    "2 is the root for words of four numbers. The function gets other words, too.",
    ("sqrt(words.shape[1])", "2"),
)
LOOK.edit(
    "all words look, not only one",
    "Only the word in row `who` looks. So there is one output and one list of weights.",
    ("words[who]", "words.T"),
    ("softmax(0)", "softmax(-1)"),
)
LOOK.edit(
    "the root is taken of the number of words",
    "How many numbers does a word have? That isn't how many words there are.",
    ("words.shape[1]", "len(words)"),
)
LOOK.edit(
    "the root comes after the softmax",
    "Divided weights no longer sum to 1. What should be divided instead?",
    UNDIVIDED,
    ("softmax(0)", "softmax(0) / sqrt(words.shape[1])"),
)
LOOK.edit(
    "the word itself is left out of the output",
    "The weights are those of all words. Does the sum run over all of them, too?",
    ("weights @ seen", "weights @ seen - weights[who] * words[who]"),
)
LOOK.edit(
    "the weights are in another order",
    "The weights should be in the order of the words. The first belongs to the first word, whoever looks.",
    (BOTH, "[output, torch.cat([weights[:who], weights[who + 1 :], weights[who : who + 1]])]"),
)
LOOK.edit(
    "the word's score with itself is set to 0",
    "This score is a dot product like the others.",
    ("scores.softmax(0)", "scores.index_fill(0, torch.tensor(who), 0.0).softmax(0)"),
)
LOOK.edit(
    "the weights come before the output",
    "Both are there, but in the wrong order. The output should come first.",
    (BOTH, "[weights, output]"),
)
LOOK.edit(
    "only the output is returned",
    "The exercise asks for two things, first the output and then the weights.",
    (BOTH, "output"),
)
