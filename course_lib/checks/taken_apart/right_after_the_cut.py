"""right_after_the_cut: the shares right of the two answers when the head that looks at the digit before is cut."""

from course_lib.checks.engine import Misconception, Question

RIGHT_AFTER_THE_CUT = Question(
    "right_after_the_cut",
    "taken_apart",
    lambda: [0.1, 1.0],
    (
        Misconception("that is the model with both heads", "Read the group of bars of the head that has most weight on the digit before, when it is cut.", [1.0, 1.0]),
        Misconception("that is the other head, or the two numbers are swapped", "First the share for the digit *before*, then for the digit *after*; and cut is the head that looks at the digit before.", [1.0, 0.1]),
        Misconception("both fall to guessing", "Only one head is cut. Does the other one still look, and where?", [0.1, 0.1]),
        Misconception("half of it is left", "Half of the heads, but not half of every answer. Read each of the two bars by itself.", [0.5, 0.5]),
        Misconception("that is the weight of the heads", "The left picture shows where the heads look. What is asked for is the right picture.", [0.75, 0.1]),
        Misconception("nothing is left of one", "Who guesses one of ten digits is right now and then. How high is the dotted line?", [0.0, 1.0]),
        Misconception("that is one number", "Two shares are asked for, in a list: for the digit before, and for the digit after.", 0.1),
        Misconception("half of it is left", "Guessing one of two gives a half. Of how many digits is this one?", [0.5, 1.0]),
    ),
    'lesson 7, "Reading the trained model"',
    tolerance=0.08,
)  # fmt: skip  # fmt: skip
