"""words_held_64: how many words, counted from the last, are read back from a state of 64 numbers in half of all sentences."""

from course_lib.checks.engine import Misconception, Question
from course_lib.checks.rnn_bottleneck.held import held, miscounted

WORDS_HELD_64 = Question(
    "words_held_64",
    "rnn_bottleneck",
    lambda: held(64),
    (
        Misconception(
            "that is the number of numbers in the state",
            "Count words: how far does the curve of 64 numbers stay above the dashed line?",
            64,
        ),
        Misconception(
            "that is the share, not the number of words",
            "You know the height, one half. How many words back is the curve as high as that?",
            0.5,
        ),
        Misconception("that is the curve of 256 numbers", "Look at the legend.", lambda: held(256)),
        *miscounted(64),
        *(
            Misconception(
                "that is about where the curve meets the dotted line",
                "The dotted line is what guessing gives. One half is the dashed line.",
                number,
            )
            for number in range(15, 21)
        ),
    ),
    'lesson 1, "How much fits into a vector?"; glossary.show("bottleneck")',
    tolerance=0.1,
)
