"""Exercises of lesson 3: scaled dot-product attention."""

from course_lib.checks.scaled_dot_product.cat_score import CAT_SCORE
from course_lib.checks.scaled_dot_product.cat_weights import CAT_WEIGHTS
from course_lib.checks.scaled_dot_product.causal import CAUSAL_MASK
from course_lib.checks.scaled_dot_product.look import LOOK
from course_lib.checks.scaled_dot_product.masked_softmax import MASKED_SOFTMAX
from course_lib.checks.scaled_dot_product.saturated_at import SATURATED
from course_lib.checks.scaled_dot_product.scaled_attention import ATTENTION

ASKED = [CAT_SCORE, CAT_WEIGHTS, LOOK, MASKED_SOFTMAX, CAUSAL_MASK, ATTENTION, SATURATED]
