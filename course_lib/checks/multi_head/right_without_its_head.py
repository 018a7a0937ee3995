"""`right_without_its_head`: how often a neighbour is still named correctly when its head is left out."""

from course_lib.checks.engine import Misconception, Question

RIGHT_WITHOUT_ITS_HEAD = Question(
    "right_without_its_head",
    "multi_head",
    lambda: 1 / 4,  # the model knows nothing about it any more, and there are four symbols
    (
        Misconception("that is the other neighbour's bar", "Each group has two bars, one per neighbour. Which neighbour has lost its head?", 1.0),
        Misconception("that is in percent", "Answer with a number between 0 and 1, as on the axis of the figure.", 25.0),
        Misconception("the bar is low, but not 0", "The readout always names some symbol. How often is that correct by luck?", 0.0),
        Misconception("that would be luck with eight symbols", "There are eight positions. But how many symbols can the readout choose from?", 1 / 8),
        Misconception("that would be luck with ten symbols", "The lesson had ten different symbols. How many are there here?", 0.1),
        Misconception("that is the mean of both neighbours", "The question asks for one bar, that of the neighbour whose head is gone.", (1 + 1 / 4) / 2),
        Misconception("that would be luck with two symbols", "Read the lower bar again, on the axis at the left. How many symbols can the readout choose from?", 0.5),
    ),
    'lesson 4, "Two neighbours at once"',
    tolerance=0.06,
)  # fmt: skip
