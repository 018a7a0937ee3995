"""Exercises of lesson 6: the Transformer, trained and read."""

from course_lib.checks.transformer_trained.beam_words import BEAM_WORDS
from course_lib.checks.transformer_trained.best_without import BEST_WITHOUT
from course_lib.checks.transformer_trained.greedy_words import GREEDY_WORDS
from course_lib.checks.transformer_trained.half_temperature import HALF_TEMPERATURE
from course_lib.checks.transformer_trained.next_word_loss import NEXT_WORD_LOSS
from course_lib.checks.transformer_trained.part_is_worth import PART_IS_WORTH
from course_lib.checks.transformer_trained.positions_are_worth import POSITIONS_ARE_WORTH

ASKED = [NEXT_WORD_LOSS, GREEDY_WORDS, BEAM_WORDS, HALF_TEMPERATURE, BEST_WITHOUT, PART_IS_WORTH, POSITIONS_ARE_WORTH]
