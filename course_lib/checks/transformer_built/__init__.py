"""Exercises of lesson 5: the Transformer, built."""

from course_lib.checks.transformer_built.add_positions import ADD_POSITIONS
from course_lib.checks.transformer_built.cross_shape import CROSS_SHAPE
from course_lib.checks.transformer_built.decoder_layer_size import DECODER_LAYER_SIZE
from course_lib.checks.transformer_built.layer_norm import LAYER_NORM
from course_lib.checks.transformer_built.pre_norm_layer import PRE_NORM_LAYER
from course_lib.checks.transformer_built.three_masks import THREE_MASKS

ASKED = [ADD_POSITIONS, LAYER_NORM, PRE_NORM_LAYER, THREE_MASKS, DECODER_LAYER_SIZE, CROSS_SHAPE]
