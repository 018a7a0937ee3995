"""Hands out, collects and grades exercises with nbgrader, and gives a reason for every lost point.

It may import `course_lib.tools`, but not the other way round.

Steps of nbgrader are replaced in `hiding` (blanks, and feedback without hidden tests), `marking` (the run of a
submission) and `gradebook` (its points). Only `marking` imports another of these three.
"""

import sys
import warnings

# SQLAlchemy warns about the order in which nbgrader enters a submission; the entry is correct.
warnings.filterwarnings("ignore", message=".*not in session, add operation along")

# jsonschema would compile a grammar for addresses in other alphabets: a second per process, and no notebook has any.
sys.modules.setdefault("rfc3987_syntax", None)
