"""Removes what learners must not see: solutions and hidden tests, from what is handed out and from the feedback."""

import re

from nbformat.v4 import new_output
from nbgrader.preprocessors import ClearHiddenTests, ClearSolutions
from nbgrader.utils import is_grade, is_solution

from course_lib.grading.course import BEGIN, END, RECORD, hidden_lines
from course_lib.grading.messages import texts
from course_lib.tools import workbook

LEFT_OUT = "(What hidden tests print is not shown.)\n"
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
FRAME = re.compile(r"""\s*File "?(.+?)"?(?:, line |:\d+)""")  # how a traceback names a file, in Python and in IPython
OF_A_FRAME = re.compile(r"\s|-+>|\d")  # what its other lines begin with
INSTALLED = re.compile(r"[/\\](site-packages|course_lib|lib[/\\]python[\d.]+)[/\\]|<frozen ")


class Blank(ClearSolutions):
    """Puts the workbook's blanks between marks. nbgrader clears a cell without marks and refuses marks elsewhere."""

    def preprocess_cell(self, cell, resources, index):
        if is_solution(cell) and f"### BEGIN {workbook.SOLUTION}" in cell.source:
            workbook.clear(cell, workbook.SOLUTION)
            return cell, resources
        return super().preprocess_cell(cell, resources, index)


class Visible(ClearHiddenTests):
    """Removes hidden tests as the workbook does. nbgrader would refuse them in a cell that is not graded."""

    def preprocess_cell(self, cell, resources, index):
        if is_grade(cell):
            workbook.clear(cell, workbook.HIDDEN_TESTS)
        return super().preprocess_cell(cell, resources, index)


class HideTests(ClearHiddenTests):
    """Removes hidden tests from the feedback: their source, and every output that quotes a line of it.

    Of tracebacks, it removes the lines about installed files, which tell a learner nothing.
    """

    def preprocess(self, nb, resources):
        nb.metadata.pop(RECORD, None)
        self.secret = set()
        for cell in nb.cells:
            lines = cell.source.splitlines()
            own = {lines[number - 1].strip() for number in hidden_lines(cell.source)}
            self.secret |= {line for line in own if len(line) > 3 and BEGIN not in line and END not in line}
        return super().preprocess(nb, resources)

    def preprocess_cell(self, cell, resources, index):
        if cell.cell_type == "code":
            if hidden_lines(cell.source):
                cell.outputs = self._without_prints(cell)
            cell.outputs = [self._shown(output) for output in cell.outputs]
        return super().preprocess_cell(cell, resources, index)

    def _without_prints(self, cell):
        """Removes what a test printed, which could show hidden inputs. The grader's own output, the last, stays."""
        kept = [output for output in cell.outputs if output.output_type == "error"]
        printed = [output for output in cell.outputs if output.output_type != "error"]
        said = printed[-1:] if "check(" in cell.source else []
        left_out = [new_output("stream", name="stdout", text=LEFT_OUT)] if len(printed) > len(said) else []
        return [*left_out, *kept, *said]

    def _shown(self, output):
        plain = COLOUR.sub("", "\n".join(texts(output)))
        if not any(line in plain for line in self.secret):
            if output.output_type == "error":
                output.traceback = _without_installed("\n".join(output.traceback)).split("\n")
            elif output.output_type == "stream" and "Traceback (most recent call last)" in output.text:
                output.text = _without_installed(output.text)
            return output
        name = f" It raised {output.ename}." if output.output_type == "error" else ""
        return new_output("stream", name="stdout", text=f"(This output quotes a hidden test and is not shown.{name})\n")


def _without_installed(traceback):
    kept, is_installed = [], False
    for line in traceback.splitlines(keepends=True):
        plain = COLOUR.sub("", line)
        if found := FRAME.match(plain):
            is_installed = bool(INSTALLED.search(found[1]))
        elif not OF_A_FRAME.match(plain):
            is_installed = False
        if not is_installed:
            kept.append(line)
    return "".join(kept)
