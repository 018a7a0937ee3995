"""Exercises of lesson 7: the Transformer taken apart."""

from course_lib.checks.taken_apart.cut_a_head import CUT_A_HEAD
from course_lib.checks.taken_apart.dropped import DROPPED
from course_lib.checks.taken_apart.hiding_costs import HIDING_COSTS
from course_lib.checks.taken_apart.layers_for_hops import LAYERS_FOR_HOPS
from course_lib.checks.taken_apart.right_after_the_cut import RIGHT_AFTER_THE_CUT
from course_lib.checks.taken_apart.weight_at import WEIGHT_AT
from course_lib.checks.taken_apart.word_shares import WORD_SHARES

ASKED = [DROPPED, LAYERS_FOR_HOPS, WEIGHT_AT, CUT_A_HEAD, RIGHT_AFTER_THE_CUT, HIDING_COSTS, WORD_SHARES]
