"""looks_at_18: where the two models look at length 18, three weights of each."""

from course_lib.checks.engine import Misconception, Question

ONE_BACK = 0.38, 0.55  # what layer 1 of B gives to the place before; seeds differ from 0.29 to 0.63


def looked(name, hint, weights):
    """A misconception for each of the values that B's layer 1 may have."""
    return [Misconception(name, hint, weights(one_back)) for one_back in ONE_BACK]


LOOKS_AT_18 = Question(
    "looks_at_18",
    "language_models",
    lambda: [0.98, 0.01, 0.03, 0.01, 0.97, 0.46],
    (
        *looked("A and B are swapped", "First the three numbers of A, which was trained on 12 alone; then those of B.", lambda one: [0.01, 0.97, one, 0.99, 0.01, 0.03]),
        *looked("A and B take turns", "First all three numbers of A, then the three of B. Which of two loops is the outer one?", lambda one: [0.99, 0.01, 0.01, 0.97, 0.03, one]),
        *looked("the two places of layer 2 are swapped", "First the place where counting leads, eleven back; then seventeen back. From which i do you start, and what do you take away?", lambda one: [0.01, 0.99, 0.03, 0.97, 0.01, one]),
        *looked("layer 1 comes first", "First the two numbers of layer 2, then that of layer 1.", lambda one: [0.03, 0.99, 0.01, one, 0.01, 0.97]),
        Misconception("the two layers are swapped", "`maps[name, 2]` is layer 2: there is the place that the next symbol is read from.", [0.03, 0.03, 0.0, 0.0, 0.0, 0.0]),
        Misconception("the one that looks and the one looked at are swapped", "A row of the map belongs to the place that looks. No place looks at a later one, so all that is left is 0.", [0.0] * 6),
        Misconception("that is the mean of a whole block of the map", "Every place belongs with one other, eleven back. With two slices, or [i][:, i - 11], each of them meets all others.", [0.059, 0.038, 0.03, 0.038, 0.058, 0.03]),
        Misconception("that is a single column of the map", "The place looked at goes along: i - 11 is another one for each i.", [0.059, 0.0, 0.025, 0.058, 0.056, 0.05]),
        *looked("that is eighteen back, where the same symbol stood", "There stands the symbol just read, once more. Wanted is the one behind it.", lambda one: [0.99, 0.0, 0.03, 0.0, 0.0, one]),
        *looked("that is twelve back", "Between place i and the place twelve back there is one step too many: in training the two stretches began twelve places apart, and the next symbol stands one further on.", lambda one: [0.004, 0.0, 0.03, 0.0, 0.97, one]),
        Misconception("every place is one too far back", "Is one taken away twice? The i of the sum and that of the map both count from 0.", [0.004, 0.0, 0.02, 0.002, 0.002, 0.006]),
        Misconception("every place is one too near", "From i the place i - 11 is eleven back. Where is one added?", [0.0, 0.0, 0.31, 0.002, 0.003, 0.02]),
        Misconception("the third number of each model is not that of layer 1", "In layer 1, how much weight goes to the place just before? Measure it: `maps[name, 1]`.", [0.99, 0.0, 0.0, 0.0, 0.97, 0.0]),
        Misconception("both models count", "Measure B by itself, too: is it the same model in both lines of yours?", [0.99, 0.01, 0.03, 0.99, 0.01, 0.03]),
        *looked("both models look", "Measure A by itself, too: is it the same model in both lines of yours?", lambda one: [0.01, 0.97, one, 0.01, 0.97, one]),
        Misconception("these are the three numbers of A", "Six numbers are asked for, in one list: three of A, then three of B.", [0.99, 0.01, 0.03]),
        Misconception("the two numbers of layer 1 are missing", "Six numbers are asked for: in each model two of layer 2 and one of layer 1.", [0.99, 0.01, 0.01, 0.97]),
    ),
    'lesson 8, "The two looks in the trained model"',
    tolerance=0.2,
)  # fmt: skip  # fmt: skip
