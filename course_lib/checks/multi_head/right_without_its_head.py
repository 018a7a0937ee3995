"""`right_without_its_head`: how often a neighbour is still right whose head is left out."""

from course_lib.checks.engine import Misconception, Question

RIGHT_WITHOUT_ITS_HEAD = Question(
    "right_without_its_head",
    "multi_head",
    lambda: 1 / 4,  # nothing is known of it any more, and there are four symbols
    (
        Misconception("that is the other neighbour's bar", "Each removal has two bars, one for each neighbour. Which of them lost its head?", 1.0),
        Misconception("that is in per cent", "A number between 0 and 1 is wanted, as on the axis of the figure.", 25.0),
        Misconception("there is a bar, though it is low", "The readout must name some symbol, whatever it is told. How often is that right by luck?", 0.0),
        Misconception("that would be luck with eight symbols", "There are eight places. But how many symbols can the readout choose from?", 1 / 8),
        Misconception("that is the share for ten symbols", "In the lesson the rows were of ten symbols. How many are there here?", 0.1),
        Misconception("that is the mean of both neighbours", "One bar is asked for: that of the neighbour whose head is gone.", (1 + 1 / 4) / 2),
        Misconception("one half would be luck with two symbols", "Read the lower bar again, on the axis at the left. How many symbols can the readout choose from?", 0.5),
    ),
    'lesson 4, "Two neighbours at once"',
    tolerance=0.06,
)  # fmt: skip
