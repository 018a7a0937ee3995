"""Exercises of lesson 14: trained to please."""

from course_lib.checks.trained_to_please.cheap_text import CHEAP_TEXT
from course_lib.checks.trained_to_please.control_rows import CONTROL_ROWS
from course_lib.checks.trained_to_please.dpo_loss import DPO_LOSS
from course_lib.checks.trained_to_please.each_once import EACH_ONCE
from course_lib.checks.trained_to_please.kl_estimate import KL_ESTIMATE
from course_lib.checks.trained_to_please.log_p_of_continuation import LOG_P_OF_CONTINUATION
from course_lib.checks.trained_to_please.two_raters import TWO_RATERS

ASKED = [
    LOG_P_OF_CONTINUATION,
    DPO_LOSS,
    KL_ESTIMATE,
    CHEAP_TEXT,
    EACH_ONCE,
    CONTROL_ROWS,
    TWO_RATERS,
]
