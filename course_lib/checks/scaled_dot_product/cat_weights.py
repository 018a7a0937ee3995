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
        Misconception("the scores are not divided by √d_k", "What does the formula do to each score first? The words have four numbers.", lambda: TO_ALL.softmax(0)),
        Misconception("the scores are divided by d_k, not by its root", "The words have four numbers. What is the root of 4?", lambda: (TO_ALL / 4).softmax(0)),
        Misconception("the scores are multiplied by √d_k", "Should the scores become larger or smaller?", lambda: (TO_ALL * 2).softmax(0)),
        Misconception("the root is taken of the number of words", "There are three words, but how many numbers does each have?", lambda: (TO_ALL / sqrt(3)).softmax(0)),
        Misconception("the weights are a plain ratio, not a softmax", "What does a softmax do to each score before it divides by the sum?", lambda: TO_ALL / TO_ALL.sum()),
        Misconception("these are the scores, not yet the weights", "Weights sum to 1. What turns scores into weights?", lambda: TO_ALL / 2),
        Misconception("these are the dot products, not yet the weights", "Weights sum to 1. What turns scores into weights?", lambda: TO_ALL),
        *(
            Misconception("these are the exponentials, not yet the weights", "Weights sum to 1. What is each exponential divided by?", form)
            for form in (lambda: (TO_ALL / 2).exp(), lambda: TO_ALL.exp())
        ),
        Misconception("cat itself is left out", "There are three words, so there are three weights. May cat look at itself?", lambda: (OTHERS / 2).softmax(0)),
        Misconception("cat itself is left out, and so is √d_k", "There are three words, so there are three weights. And what happens to each score first?", lambda: OTHERS.softmax(0)),
        Misconception("these are the weights of sat", "The lesson followed sat. Here cat looks.", lambda: (WORDS @ WORDS[2] / 2).softmax(0)),
        *(
            Misconception("the weights are in another order", "The order should be that of the sentence: The, cat, sat.", partial(lambda order: (TO_ALL / 2).softmax(0)[list(order)], order))
            for order in permutations(range(3)) if order != (0, 1, 2)
        ),
        Misconception("one decimal is not enough", "Each number is correct as far as it goes. The exercise asks for two decimals.", [0.3, 0.4, 0.3]),
        Misconception("these are percentages", "The exercise asks for shares of 1, such as 0.25 for 25 %.", lambda: 100 * (TO_ALL / 2).softmax(0)),
    ),
    ARTICLE,
    tolerance=0.0055,
)  # fmt: skip
