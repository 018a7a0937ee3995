"""Exercises of lesson 4: multi-head attention."""

from course_lib.checks.multi_head.cost_of_heads import COST_OF_HEADS
from course_lib.checks.multi_head.head_shapes import HEAD_SHAPES
from course_lib.checks.multi_head.leave_out_head import LEAVE_OUT_HEAD
from course_lib.checks.multi_head.merge_heads import MERGE_HEADS
from course_lib.checks.multi_head.multi_head_attention import MULTI_HEAD_ATTENTION
from course_lib.checks.multi_head.right_without_its_head import RIGHT_WITHOUT_ITS_HEAD
from course_lib.checks.multi_head.split_heads import SPLIT_HEADS

ASKED = [
    SPLIT_HEADS,
    HEAD_SHAPES,
    MERGE_HEADS,
    MULTI_HEAD_ATTENTION,
    COST_OF_HEADS,
    LEAVE_OUT_HEAD,
    RIGHT_WITHOUT_ITS_HEAD,
]
