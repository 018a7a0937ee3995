"""Explorers: a pure function from a state to a frame of HTML, and a thin shell with controls.

Each lesson's frames are in a file of their own. Everything that a lesson calls is listed here.
"""

from course_lib.widgets.a_model_that_writes import next_token_frame, window_frame
from course_lib.widgets.a_real_model import answers_frame, head_frame, senses_frame
from course_lib.widgets.bahdanau_attention import attention_frame
from course_lib.widgets.further_and_cheaper import cache_frame, rotary_frame, tiles_frame
from course_lib.widgets.heads import AttentionHeads
from course_lib.widgets.language_models import tokens_frame
from course_lib.widgets.looking_at_pictures import caption_frame
from course_lib.widgets.machine import Machine
from course_lib.widgets.multi_head import two_sources_frame
from course_lib.widgets.opened_up import lens_frame, patch_frame
from course_lib.widgets.plane import QueryInThePlane
from course_lib.widgets.rnn_bottleneck import memory_frame, remember, translation_frame
from course_lib.widgets.scaled_dot_product import (
    MaskPainter,
    mask_frame,
    temperature_frame,
    width_frame,
)
from course_lib.widgets.shell import Explorer, Live, Prediction
from course_lib.widgets.taken_apart import by_length_frame
from course_lib.widgets.trained_to_please import pleased_frame
from course_lib.widgets.transformer_built import position_code_frame
from course_lib.widgets.transformer_trained import decoder_frame
from course_lib.widgets.translator import Translator
from course_lib.widgets.warm_up import descent_frame, softmax_frame
from course_lib.widgets.writer import Writer

# In the order of the lessons, as the reference shows them.
__all__ = [
    "Live",
    "Explorer",
    "Prediction",
    "Translator",
    "Machine",
    "softmax_frame",
    "descent_frame",
    "remember",
    "memory_frame",
    "translation_frame",
    "QueryInThePlane",
    "attention_frame",
    "width_frame",
    "temperature_frame",
    "mask_frame",
    "MaskPainter",
    "two_sources_frame",
    "AttentionHeads",
    "position_code_frame",
    "decoder_frame",
    "by_length_frame",
    "tokens_frame",
    "Writer",
    "rotary_frame",
    "tiles_frame",
    "cache_frame",
    "caption_frame",
    "answers_frame",
    "senses_frame",
    "head_frame",
    "next_token_frame",
    "window_frame",
    "patch_frame",
    "lens_frame",
    "pleased_frame",
]
