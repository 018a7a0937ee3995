"""Exercises of lesson 11: a real model."""

from course_lib.checks.a_real_model.adjusted_numbers import ADJUSTED_NUMBERS
from course_lib.checks.a_real_model.embed import EMBED
from course_lib.checks.a_real_model.head_only import HEAD_ONLY
from course_lib.checks.a_real_model.merged import MERGED
from course_lib.checks.a_real_model.nearest import NEAREST
from course_lib.checks.a_real_model.sentence_vector import SENTENCE_VECTOR
from course_lib.checks.a_real_model.split_word import SPLIT_WORD
from course_lib.checks.a_real_model.unpacked import UNPACKED

ASKED = [SPLIT_WORD, SENTENCE_VECTOR, NEAREST, UNPACKED, MERGED, HEAD_ONLY, EMBED, ADJUSTED_NUMBERS]
