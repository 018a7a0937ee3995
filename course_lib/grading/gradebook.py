"""Enters what `marking` found into nbgrader's gradebook, and decides which written answers wait for a person."""

import re

from nbgrader.preprocessors import GetGrades, SaveAutoGrades
from nbgrader.utils import is_grade, is_solution
from traitlets import Bool

from course_lib.grading import reading
from course_lib.grading.course import RECORD
from course_lib.grading.submission import IMPORT, grade_id

REMARK = re.compile(r"#.*\w.*|^[ \t]*[\"'].*", re.MULTILINE)  # a comment, or a line that begins with a text


def has_texts(notebook, handed_out):
    """Returns whether a written answer may be outside its own cell.

    It may be in any cell that the learner added, also in a code cell, which is what Jupyter adds, and in the cell of
    another written answer. And it may be beside code: as a comment, as a text, or as a sentence that Python can't read.
    """
    cells = {"", *(cell.source.strip() for cell in handed_out)}
    remarks = {remark for cell in handed_out for remark in REMARK.findall(cell.source)}
    for cell in notebook.cells:
        if not grade_id(cell) or (is_grade(cell) and is_solution(cell)):  # added, or a written answer
            if IMPORT.sub("", cell.source).strip() not in cells:
                return True
        elif cell.cell_type == "code" and is_solution(cell):
            if set(REMARK.findall(cell.source)) - remarks or not reading.read(cell.source).is_python:
                return True
    return False


class SaveMarks(SaveAutoGrades):
    """Writes the results of `Marking` into the gradebook. Points given by hand stay."""

    same_work = Bool(False, help="whether whoever gave points has seen this very work").tag(config=True)

    def preprocess(self, nb, resources):
        self.record = nb.metadata[RECORD]
        return super().preprocess(nb, resources)

    def _add_score(self, cell, resources):
        name = cell.metadata.nbgrader["grade_id"]
        grade = self.gradebook.find_grade(name, self.notebook_id, self.assignment_id, self.student_id)
        to_be_read = grade.needs_manual_grade or not self.same_work
        if name in self.record["cells"]:
            grade.auto_score = self.record["cells"][name]["points"]
        else:  # a written answer, which a person reads
            super()._add_score(cell, resources)
            if grade.auto_score is not None and self.record["has_texts"]:
                grade.auto_score = None
                self.record["reasons"].append(f"{name}: its cell is empty; a person must read the other cells")
            elif grade.auto_score is not None:
                self.record["reasons"].append(f"{name}: nothing is written in its cell")
        grade.needs_manual_grade = to_be_read if grade.manual_score is not None else grade.auto_score is None
        self.gradebook.db.commit()

    def _add_comment(self, cell, resources):
        super()._add_comment(cell, resources)
        # An answer may be in another cell, so don't claim that there is none. Of code, its check says what is missing.
        if self.record["has_texts"] or cell.cell_type == "code":
            name = cell.metadata.nbgrader["grade_id"]
            comment = self.gradebook.find_comment(name, self.notebook_id, self.assignment_id, self.student_id)
            comment.auto_comment = None
            self.gradebook.db.commit()


class ReadMarks(GetGrades):
    """Reads marks and comments from the gradebook, and says if nobody has read a written answer yet."""

    def _get_score(self, cell, resources):
        super()._get_score(cell, resources)
        about = cell.metadata.nbgrader
        grade = self.gradebook.find_grade(about.grade_id, self.notebook_id, self.assignment_id, self.student_id)
        if grade.needs_manual_grade and grade.manual_score is None:
            about.comment = "\n\n".join(filter(None, ["Nobody has read this answer yet.", about.get("comment")]))
