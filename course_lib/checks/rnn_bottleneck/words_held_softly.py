"""words_held_softly: how many words a state of 256 numbers holds if they enter it more softly, with a scale of 0.1."""

from course_lib.checks.engine import Misconception, Question
from course_lib.checks.rnn_bottleneck.held import held

WORDS_HELD_SOFTLY = Question(
    "words_held_softly",
    "rnn_bottleneck",
    lambda: held(256, 0.1, 40),
    (
        Misconception(
            "the sentence ends before the curve reaches one half",
            "If all its words are held, the sentence was too short. Which argument of `shares_read` makes it longer?",
            20,
        ),
        Misconception(
            "that is the count with a scale of 0.3", "Do you pass the new scale to `shares_read`?", lambda: held(256)
        ),
        Misconception(
            "that is the count for a state of 64 numbers",
            "The question is about 256 numbers.",
            lambda: held(64, 0.1, 40),
        ),
        Misconception(
            "that is the count with a scale of 1",
            "Look at the scale. This time the words should enter the state more softly.",
            lambda: held(256, 1.0),
        ),
    ),
    'lesson 1, "How much fits into a vector?"; glossary.show("bottleneck")',
    tolerance=2.0,  # words more or fewer, as other lengths of the sentences give
)
