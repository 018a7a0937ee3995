"""Exercises of lesson 8: language models."""

from course_lib.checks.language_models.bits_a_character import BITS_A_CHARACTER
from course_lib.checks.language_models.by_chance import BY_CHANCE
from course_lib.checks.language_models.copied_at_18 import COPIED_AT_18
from course_lib.checks.language_models.encode_piece import ENCODE_PIECE
from course_lib.checks.language_models.go_on import GO_ON
from course_lib.checks.language_models.looks_at_18 import LOOKS_AT_18
from course_lib.checks.language_models.masked_loss import MASKED_LOSS
from course_lib.checks.language_models.merge_step import MERGE_STEP
from course_lib.checks.language_models.read_and_asked import READ_AND_ASKED
from course_lib.checks.language_models.top_p import TOP_P

ASKED = [
    MERGE_STEP,
    ENCODE_PIECE,
    BITS_A_CHARACTER,
    BY_CHANCE,
    MASKED_LOSS,
    READ_AND_ASKED,
    TOP_P,
    GO_ON,
    COPIED_AT_18,
    LOOKS_AT_18,
]
