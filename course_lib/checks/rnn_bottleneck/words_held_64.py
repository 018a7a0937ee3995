"""words_held_64: how many words, counted from the last, are read back from a state of 64 numbers in half of all sentences."""

from course_lib.checks.engine import Misconception, Question
from course_lib.checks.rnn_bottleneck.held import held, miscounted

WORDS_HELD_64 = Question(
    "words_held_64",
    "rnn_bottleneck",
    lambda: held(64),
    (
        Misconception(
            "that is the size of the state, not a number of words",
            "Count words. How far does the curve of 64 numbers stay above the dashed line?",
            64,
        ),
        Misconception(
            "that is the share, not the number of words",
            "One half is the height of the dashed line. How many points of the curve are on it or above it?",
            0.5,
        ),
        Misconception(
            "that is the count for 256 numbers",
            "Look at the legend. Which curve belongs to 64 numbers?",
            lambda: held(256),
        ),
        *miscounted(64),
        *(
            Misconception(
                "that is about where the curve meets the dotted line",
                "The dotted line shows what guessing gives. One half is the dashed line.",
                number,
            )
            for number in range(15, 21)
        ),
    ),
    'lesson 1, "How much fits into a vector?"; glossary.show("bottleneck")',
    tolerance=0.1,
)
