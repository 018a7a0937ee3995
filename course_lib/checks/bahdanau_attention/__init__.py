"""Exercises of lesson 2: Bahdanau attention."""

from course_lib.checks.bahdanau_attention.additive_score import ADDITIVE_SCORE
from course_lib.checks.bahdanau_attention.alignment_error import ALIGNMENT_ERROR
from course_lib.checks.bahdanau_attention.attend_to import ATTEND_TO
from course_lib.checks.bahdanau_attention.every_step import EVERY_STEP
from course_lib.checks.bahdanau_attention.first_weights import FIRST_WEIGHTS
from course_lib.checks.bahdanau_attention.hiding_cost import HIDING_COST
from course_lib.checks.bahdanau_attention.padded_weights import PADDED_WEIGHTS

ASKED = [FIRST_WEIGHTS, ADDITIVE_SCORE, PADDED_WEIGHTS, ATTEND_TO, EVERY_STEP, ALIGNMENT_ERROR, HIDING_COST]
