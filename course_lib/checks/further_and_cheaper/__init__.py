"""Exercises of lesson 9: further and cheaper."""

from course_lib.checks.further_and_cheaper.alibi import ALIBI
from course_lib.checks.further_and_cheaper.cache_bytes import CACHE_BYTES
from course_lib.checks.further_and_cheaper.known_up_to import KNOWN_UP_TO
from course_lib.checks.further_and_cheaper.linear_step import LINEAR_STEP
from course_lib.checks.further_and_cheaper.merge_tiles import MERGE_TILES
from course_lib.checks.further_and_cheaper.reach import REACH
from course_lib.checks.further_and_cheaper.rotary import ROTARY
from course_lib.checks.further_and_cheaper.turned import TURNED
from course_lib.checks.further_and_cheaper.window import WINDOW_MASK
from course_lib.checks.further_and_cheaper.write_on import WRITE_ON

ASKED = [TURNED, ROTARY, ALIBI, MERGE_TILES, WINDOW_MASK, REACH, LINEAR_STEP, CACHE_BYTES, WRITE_ON, KNOWN_UP_TO]
