"""What the last lines of a failed run say: the first failure, what is wrong there, and how to try it again alone."""

import re
import shlex

LINES, WIDTH = 6, 400


def told(report):
    """At most eight lines. Of an assertion the beginning counts, of a notebook's traceback the end."""
    crash = getattr(report.longrepr, "reprcrash", None)
    text = re.sub(r"\x1b\[[\d;]*m", "", crash.message if crash else str(report.longrepr))
    lines = [line.rstrip()[:WIDTH] for line in text.splitlines() if line.strip()]
    place = f"{report.nodeid}, line {crash.lineno} of {crash.path}" if crash else report.nodeid
    again = f"Again: python3 -m course_lib test-all {shlex.quote(report.nodeid)}"
    return [f"First failure: {place}", *(lines[:LINES] if crash else lines[-LINES:]), again]
