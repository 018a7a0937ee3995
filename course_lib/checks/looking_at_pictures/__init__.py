"""Exercises of lesson 10: looking at pictures."""

from course_lib.checks.looking_at_pictures.context_over_grid import CONTEXT_OVER_GRID
from course_lib.checks.looking_at_pictures.expected_gradient import EXPECTED_GRADIENT
from course_lib.checks.looking_at_pictures.grid_weights import GRID_WEIGHTS
from course_lib.checks.looking_at_pictures.looks_nowhere import LOOKS_NOWHERE
from course_lib.checks.looking_at_pictures.more_often import MORE_OFTEN
from course_lib.checks.looking_at_pictures.patches import PATCHES
from course_lib.checks.looking_at_pictures.picture_of import PICTURE_OF
from course_lib.checks.looking_at_pictures.pointing_accuracy import POINTING_ACCURACY
from course_lib.checks.looking_at_pictures.straight_through import STRAIGHT_THROUGH

ASKED = [
    CONTEXT_OVER_GRID,
    POINTING_ACCURACY,
    LOOKS_NOWHERE,
    MORE_OFTEN,
    EXPECTED_GRADIENT,
    STRAIGHT_THROUGH,
    PATCHES,
    PICTURE_OF,
    GRID_WEIGHTS,
]
