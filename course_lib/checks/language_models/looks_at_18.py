"""looks_at_18: where the two models look at length 18, three weights for each model."""

from course_lib.checks.engine import Misconception, Question

ONE_BACK = 0.38, 0.55  # the weight of B's layer 1 on the position before; over the seeds it goes from 0.29 to 0.63


def looked(name, hint, weights):
    """Makes a misconception for each value that B's layer 1 may have."""
    return [Misconception(name, hint, weights(one_back)) for one_back in ONE_BACK]


LOOKS_AT_18 = Question(
    "looks_at_18",
    "language_models",
    lambda: [0.98, 0.01, 0.03, 0.01, 0.97, 0.46],
    (
        *looked("A and B are swapped", "First come the three numbers of A, which was trained on length 12 alone, then those of B.", lambda one: [0.01, 0.97, one, 0.99, 0.01, 0.03]),
        *looked("the numbers of A and B alternate", "First come all three numbers of A, then all three of B. If you use two loops, which one is the outer one?", lambda one: [0.99, 0.01, 0.01, 0.97, 0.03, one]),
        *looked("the two numbers of layer 2 are swapped", "First comes the weight on the position eleven back, where counting leads, then the weight on the one seventeen back. Which position do you subtract from?", lambda one: [0.01, 0.99, 0.03, 0.97, 0.01, one]),
        *looked("the number of layer 1 comes first", "For each model, first come the two numbers of layer 2, then the one of layer 1.", lambda one: [0.03, 0.99, 0.01, one, 0.01, 0.97]),
        Misconception("the two layers are swapped", "`maps[name, 2]` is the map of layer 2. Which of your numbers are from it?", [0.03, 0.03, 0.0, 0.0, 0.0, 0.0]),
        Misconception("the position that looks and the one it looks at are swapped", "A row of the map belongs to the position that looks. No position looks at a later one, so only zeros are left.", [0.0] * 6),
        Misconception("this is the mean over a whole block of the map", "Each position i goes with one other, i - 11. With two slices, or with [i][:, i - 11], each i meets all the others.", [0.059, 0.038, 0.03, 0.038, 0.058, 0.03]),
        Misconception("this is the mean of a single column of the map", "The position that is looked at moves along with i. Is i - 11 different for each i in your code?", [0.059, 0.0, 0.025, 0.058, 0.056, 0.05]),
        *looked("the second number of each model is from eighteen back, where the same symbol was", "Eighteen back is the symbol just read, when it occurred for the first time. A model that looks wants the symbol after it.", lambda one: [0.99, 0.0, 0.03, 0.0, 0.0, one]),
        *looked("the first number of each model is from twelve back", "When A was trained, the symbol just read was twelve positions back. The *next* symbol is one position further on.", lambda one: [0.004, 0.0, 0.03, 0.0, 0.97, one]),
        Misconception("every position is one too far back", "Is 1 subtracted twice? The i of the exercise and the rows of the map both count from 0.", [0.004, 0.0, 0.02, 0.002, 0.002, 0.006]),
        Misconception("every position is one too close", "The position i - 11 is eleven back from i. Where is 1 added?", [0.0, 0.0, 0.31, 0.002, 0.003, 0.02]),
        Misconception("the third number of each model isn't from layer 1", "In layer 1, how much weight goes to the position just before? Measure it in `maps[name, 1]`.", [0.99, 0.0, 0.0, 0.0, 0.97, 0.0]),
        Misconception("both models count", "Measure B by itself, too. Does your code use the same model twice?", [0.99, 0.01, 0.03, 0.99, 0.01, 0.03]),
        *looked("both models look", "Measure A by itself, too. Does your code use the same model twice?", lambda one: [0.01, 0.97, one, 0.01, 0.97, one]),
        Misconception("these are the three numbers of A", "The answer is one list of six numbers, three of A, then three of B.", [0.99, 0.01, 0.03]),
        Misconception("the two numbers of layer 1 are missing", "The answer has six numbers. For each model, two are of layer 2 and one is of layer 1.", [0.99, 0.01, 0.01, 0.97]),
    ),
    'lesson 8, "The two looks in the trained model"',
    tolerance=0.2,
)  # fmt: skip  # fmt: skip
