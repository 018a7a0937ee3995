"""`known_up_to`: how far four models carry a name, in an experiment."""

from course_lib.checks.engine import Misconception, Question

KNOWN_UP_TO = Question(
    "known_up_to",
    "further_and_cheaper",
    lambda: [6, 12, 12, 19],
    (
        Misconception("every layer reaches back a whole window", "Read the picture. The word itself is one of the window's four. So how far back does a layer reach?", [8, 16, 14, 19]),
        Misconception("these are the first positions without the name", "We want the *last* positions at which the name is known. The first word is at position 0.", [7, 13, 13, 20]),
        Misconception("the positions of A, B and C are one too large", "We want the *last* positions at which the name is known, and the first word is at position 0.", [7, 13, 13, 19]),
        Misconception("the positions of A, B and C are one too small", "Read the three curves again. Which is the last point of each that is still at the top?", [5, 11, 11, 19]),
        Misconception("all four positions are one too small", "Positions are counted from 0, and the last one is 19.", [5, 11, 11, 18]),
        Misconception("the position of D is one too large", "There are twenty words, and the first is at position 0. At which position is the last?", [6, 12, 12, 20]),
        Misconception("the position of D is one too small", "Does the curve of D fall before the last word?", [6, 12, 12, 18]),
        Misconception("every layer reaches back a whole window", "Read the picture. `layers * width` counts some words twice, because neighbouring windows share a word.", [7, 15, 13, 19]),
        Misconception("this is what one layer sees", "Layer 2 passes on what layer 1 has put into a vector. Read the curves.", [3, 3, 6, 19]),
        Misconception("B and C have different positions", "Two of the curves fall at the same position. Which?", [6, 12, 14, 19]),
        Misconception("linear attention is taken for a window", "D has no window. Where does its curve fall?", [6, 12, 12, 12]),
        Misconception("linear attention is taken for a window", "D has no window. Where does its curve fall?", [6, 12, 12, 3]),
        Misconception("linear attention is said to forget the name at once", "D keeps a sum over all words. Where does its curve fall?", [6, 12, 12, 0]),
        Misconception("all models are said to know the name to the end", "Three of the curves fall. Where?", [19, 19, 19, 19]),
        Misconception("the models are in another order", "A comes first, then B, C and D.", [12, 12, 6, 19]),
        Misconception("the models are in another order", "A comes first, then B, C and D.", [12, 6, 12, 19]),
        Misconception("this is one number, not four", "The answer is a list of four positions, for A, B, C and D.", 6),
    ),
    'lesson 9, "What a window sees, layer by layer"; glossary.show("sliding-window attention")',
)  # fmt: skip
