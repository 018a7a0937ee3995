"""words_held_softly: how many words a state of 256 numbers holds if they are put in more softly, with a scale of 0.1."""

from course_lib.checks.engine import Misconception, Question
from course_lib.checks.rnn_bottleneck.held import held

WORDS_HELD_SOFTLY = Question(
    "words_held_softly",
    "rnn_bottleneck",
    lambda: held(256, 0.1, 40),
    (
        Misconception(
            "the sentence ends before the curve reaches one half",
            "If all words of the sentence are held, it was too short to tell. shares_read has one more argument.",
            20,
        ),
        Misconception(
            "that is the count with the scale of 0.3", "Is the scale handed on to shares_read?", lambda: held(256)
        ),
        Misconception("that is a state of 64 numbers", "The question is about 256 numbers.", lambda: held(64, 0.1, 40)),
        Misconception(
            "that is the count with a scale of 1",
            "Look at the scale: this time the words are put in more softly.",
            lambda: held(256, 1.0),
        ),
    ),
    'lesson 1, "How much fits into a vector?"; glossary.show("bottleneck")',
    tolerance=2.0,  # words more or fewer: other numbers of places give as much
)
