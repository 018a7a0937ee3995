"""Wires nbgrader's own commands and its formgrader to the course's folders; `course_lib.grading.course` says how.

Settings of your own belong into the file `nbgrader_config.py` in the folder `course`, which `make grade` reads as well.
"""

from course_lib.grading.course import Course

c = get_config()  # noqa: F821
c.merge(Course.here().config())
