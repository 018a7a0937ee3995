"""Exercises of lesson 12: a model that writes."""

from course_lib.checks.a_model_that_writes.bits_per_character import BITS_PER_CHARACTER
from course_lib.checks.a_model_that_writes.by_luck import BY_LUCK
from course_lib.checks.a_model_that_writes.chat import CHAT
from course_lib.checks.a_model_that_writes.interleaved import INTERLEAVED
from course_lib.checks.a_model_that_writes.rounded import ROUNDED
from course_lib.checks.a_model_that_writes.shuffled_labels import SHUFFLED_LABELS
from course_lib.checks.a_model_that_writes.unpack_block import UNPACK_BLOCK
from course_lib.checks.a_model_that_writes.window_mask import WINDOW_MASK

ASKED = [
    CHAT,
    UNPACK_BLOCK,
    ROUNDED,
    INTERLEAVED,
    BITS_PER_CHARACTER,
    WINDOW_MASK,
    SHUFFLED_LABELS,
    BY_LUCK,
]
