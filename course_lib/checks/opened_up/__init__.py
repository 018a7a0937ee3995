"""Exercises of lesson 13: opened up."""

from course_lib.checks.opened_up.carried_and_needed import CARRIED_AND_NEEDED
from course_lib.checks.opened_up.control_labels import CONTROL_LABELS
from course_lib.checks.opened_up.induction_score import INDUCTION_SCORE
from course_lib.checks.opened_up.lens import LENS
from course_lib.checks.opened_up.mean_ablated import MEAN_ABLATED
from course_lib.checks.opened_up.other_heads import OTHER_HEADS
from course_lib.checks.opened_up.patched import PATCHED
from course_lib.checks.opened_up.recovered import RECOVERED

ASKED = [
    PATCHED,
    RECOVERED,
    INDUCTION_SCORE,
    MEAN_ABLATED,
    LENS,
    OTHER_HEADS,
    CONTROL_LABELS,
    CARRIED_AND_NEEDED,
]
