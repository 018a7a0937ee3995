"""Exercises of lesson 1: the RNN bottleneck."""

from course_lib.checks.rnn_bottleneck.feels import FEELS
from course_lib.checks.rnn_bottleneck.loss_per_word import LOSS_PER_WORD
from course_lib.checks.rnn_bottleneck.read_batch import READ_BATCH
from course_lib.checks.rnn_bottleneck.rnn_step import RNN_STEP
from course_lib.checks.rnn_bottleneck.teacher_forcing import TEACHER_FORCING
from course_lib.checks.rnn_bottleneck.words_held_64 import WORDS_HELD_64
from course_lib.checks.rnn_bottleneck.words_held_256 import WORDS_HELD_256
from course_lib.checks.rnn_bottleneck.words_held_softly import WORDS_HELD_SOFTLY

ASKED = [RNN_STEP, READ_BATCH, FEELS, TEACHER_FORCING, LOSS_PER_WORD, WORDS_HELD_64, WORDS_HELD_256, WORDS_HELD_SOFTLY]
