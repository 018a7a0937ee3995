"""Marks in class, on nbgrader: exercises handed out, collected and graded, with a reason for every point.

It may import `course_lib.tools`, and not the other way round.
"""

import sys
import warnings

# nbgrader enters a submission in an order that SQLAlchemy remarks upon; the entry is as it should be.
warnings.filterwarnings("ignore", message=".*not in session, add operation along")

# Of addresses in other alphabets, which no notebook has, jsonschema would compile a grammar: a second a process.
sys.modules.setdefault("rfc3987_syntax", None)
