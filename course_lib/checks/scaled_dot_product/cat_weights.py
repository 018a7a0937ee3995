"""`cat_weights`: the weights with which *cat* looks at The, cat and sat."""

from functools import partial
from itertools import permutations
from math import sqrt

from course_lib.checks.engine import Misconception, Question
from course_lib.checks.scaled_dot_product.the_article import ARTICLE, TO_ALL, WORDS

OTHERS = TO_ALL[[0, 2]]

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
    ARTICLE,
    tolerance=0.0055,
)  # fmt: skip
