"""words_held_256: how many words, counted from the last, are read back from a state of 256 numbers in half of all sentences."""

from course_lib.checks.engine import Misconception, Question
from course_lib.checks.rnn_bottleneck.held import held, miscounted

WORDS_HELD_256 = Question(
    "words_held_256",
    "rnn_bottleneck",
    lambda: held(256),
    (
        Misconception(
            "that is four times the count for 64 numbers",
            "Four times the numbers need not hold four times the words. What does the figure say?",
            lambda: 4 * held(64),
        ),
        Misconception(
            "that is the count for 64 numbers",
            "Look at the legend. Which curve belongs to 256 numbers?",
            lambda: held(64),
        ),
        Misconception(
            "that counts all words of the sentence", "How far does the curve stay above the dashed line?", 20
        ),
        *miscounted(256),
    ),
    'lesson 1, "How much fits into a vector?"; glossary.show("bottleneck")',
    tolerance=0.1,
)
