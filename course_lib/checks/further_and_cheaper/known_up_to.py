"""`known_up_to`: how far a name is brought, in an experiment with four models."""

from course_lib.checks.engine import Misconception, Question

KNOWN_UP_TO = Question(
    "known_up_to",
    "further_and_cheaper",
    lambda: [6, 12, 12, 19],
    (
        Misconception("every layer leads a whole window back", "Read the picture: the window's own word is one of the four, so a layer leads three back.", [8, 16, 14, 19]),
        Misconception("these are the first places without the name", "Wanted are the *last* places at which it is known. The first word stands at place 0.", [7, 13, 13, 20]),
        Misconception("the windows' models are one place too far", "Wanted are the *last* places at which the name is known, and the first word stands at place 0.", [7, 13, 13, 19]),
        Misconception("the windows' models are one place too near", "Read the three curves once more: at which place do they still stand at the top?", [5, 11, 11, 19]),
        Misconception("all are one place too near", "Places are counted from 0, and the last is place 19.", [5, 11, 11, 18]),
        Misconception("D's last place is one too far", "Twenty words, and the first stands at place 0. At which place stands the last?", [6, 12, 12, 20]),
        Misconception("D's last place is one too near", "Does the curve of D fall before the last word?", [6, 12, 12, 18]),
        Misconception("every layer leads a whole window back", "Read the picture. `layers * width` is more than the words that are reached: the windows share one.", [7, 15, 13, 19]),
        Misconception("that is what one layer sees", "What layer 1 brought into a vector, layer 2 brings on. Read the curves.", [3, 3, 6, 19]),
        Misconception("B and C are taken for different", "Two of the curves fall at the same place. Which?", [6, 12, 14, 19]),
        Misconception("linear attention is taken for a window", "D has no window. Where does its curve fall?", [6, 12, 12, 12]),
        Misconception("linear attention is taken for a window", "D has no window. Where does its curve fall?", [6, 12, 12, 3]),
        Misconception("linear attention is thought to know nothing", "D keeps a sum over all words. Where does its curve fall?", [6, 12, 12, 0]),
        Misconception("all are thought to know it to the end", "Three of the curves fall. Where?", [19, 19, 19, 19]),
        Misconception("the models stand in another order", "First A, then B, C and D.", [12, 12, 6, 19]),
        Misconception("the models stand in another order", "First A, then B, C and D.", [12, 6, 12, 19]),
        Misconception("that is one number", "Four places are asked for, in a list: of A, B, C and D.", 6),
    ),
    'lesson 9, "What a window sees, layer by layer"; glossary.show("sliding-window attention")',
)  # fmt: skip
