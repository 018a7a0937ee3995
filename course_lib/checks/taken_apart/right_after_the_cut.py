"""right_after_the_cut: the shares of both answers that stay correct when the head that looks at the digit before is cut."""

from course_lib.checks.engine import Misconception, Question

RIGHT_AFTER_THE_CUT = Question(
    "right_after_the_cut",
    "taken_apart",
    lambda: [0.1, 1.0],
    (
        Misconception("these are the shares with both heads", "One head gives most of its weight to the digit before. Read the group of bars in which that head is cut.", [1.0, 1.0]),
        Misconception("these are the shares for the other head, or the two numbers are swapped", "First comes the share for the digit *before*, then the one for the digit *after*. And the head that is cut is the one that looks at the digit before.", [1.0, 0.1]),
        Misconception("both shares are at the level of guessing", "Only one head is cut. Does the other one still look somewhere, and where?", [0.1, 0.1]),
        Misconception("half of the answers stay correct", "Half of the heads are left, but that needn't leave half of each kind of answer. Read each of the two bars by itself.", [0.5, 0.5]),
        Misconception("these numbers are weights, not shares", "The left half of the figure shows where the heads look. The shares are in its right half.", [0.75, 0.1]),
        Misconception("one share is 0", "A guess among ten digits is correct now and then. How high is the dotted line?", [0.0, 1.0]),
        Misconception("this is a single number", "The answer is a list of two shares, one for the digit before and one for the digit after.", 0.1),
        Misconception("half of the answers stay correct", "A guess between two digits would be correct half of the time. Among how many digits does the model guess?", [0.5, 1.0]),
    ),
    'lesson 7, "Reading the trained model"',
    tolerance=0.08,
)  # fmt: skip  # fmt: skip
