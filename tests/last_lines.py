"""What the last lines of a failed run say: the first failure, what is wrong there, and how to try it again alone."""

import re
import shlex

LINES, WIDTH = 6, 400


def told(report):
    """At most eight. An assertion begins with what is wrong; the cause that it quotes comes last, as in tracebacks."""
    crash = getattr(report.longrepr, "reprcrash", None)
    text = re.sub(r"\x1b\[[\d;]*m", "", crash.message if crash else str(report.longrepr))
    lines = [line.rstrip()[:WIDTH] for line in text.splitlines() if line.strip()]
    place = f"{report.nodeid}, line {crash.lineno} of {crash.path}" if crash else report.nodeid
    again = f"Again: python3 -m course_lib test-all {shlex.quote(report.nodeid)}"
    first = 1 if crash else 0
    if len(lines) > LINES:
        lines = [*lines[:first], *lines[first - LINES :]]
    return [f"First failure: {place}", *lines, again]
