"""Replaces steps of nbgrader: making blanks, running a submission, saving marks, and writing feedback."""

import contextlib
import copy
import re
import secrets
import signal
import threading
import time
from collections import Counter
from pathlib import Path

import nbformat
from nbclient.client import CellExecutionComplete
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbformat.v4 import new_code_cell, new_output
from nbgrader.preprocessors import ClearHiddenTests, ClearSolutions, Execute, GetGrades, SaveAutoGrades
from nbgrader.utils import determine_grade, is_grade, is_solution
from traitlets import Bool, Integer

from course_lib.checks.engine import Wrong
from course_lib.grading import courier, examine, inside, reading
from course_lib.grading.course import BEGIN, END, exercises, grade_cells, hidden_lines
from course_lib.grading.judge import judge, seat
from course_lib.grading.provisioner import ContainedKernelManager
from course_lib.grading.submission import IMPORT, grade_id, printable, writable
from course_lib.tools import workbook

LEFT_OUT = "(What hidden tests print is not shown.)\n"
RECORD = "course"  # key in a graded notebook's metadata that holds how it was graded
FRESH_KERNELS = 2  # how often a submission that ended its kernel gets a new one
LARGEST_OUTPUT = 1_000_000  # characters of a cell's output that are kept
LARGEST_OUTPUTS = 20_000_000  # characters of a whole submission's output that are kept
LONGEST_LINE = 10_000  # characters of an error's message, and of each line of its traceback
DISPLAYS = {"display_data", "execute_result", "update_display_data"}
LEAST_OUTPUT = dict.fromkeys(DISPLAYS, 1_000) | {"stream": 100}  # characters that each counts as at least
CELL_FILE = re.compile(r"\(\d+\.py, line")  # how a SyntaxError names a cell
REMARK = re.compile(r"#.*\w.*|^[ \t]*[\"'].*", re.MULTILINE)  # a comment, or a line that begins with a text
NO_MEMORY = "MemoryError", "not enough memory", "can't allocate memory"  # how errors of Python, NumPy and torch say it
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


class GarbledError(DeadKernelError):
    """Means that a kernel sent invalid messages and can't be used any more."""


WHAT_ENDED = {
    CellTimeoutError: "could not be interrupted",
    DeadKernelError: "ended its kernel",
    GarbledError: "garbled its kernel's messages",
}


class Marking(Execute):
    """Runs a submission, and asks its checks from outside its kernel.

    `examine` decides what is correct, never a cell's output. The instructor's notebook says which check belongs to a
    cell. A grade cell without checks holds the instructor's own tests, to which nbgrader's rule applies.
    """

    seed = Integer(None, allow_none=True, help="seed of the inputs; None draws a fresh one").tag(config=True)
    submission_seconds = Integer(900, help="seconds that a whole submission may take").tag(config=True)
    memory = Integer(4 * 2**30, help="bytes that a kernel may have").tag(config=True)
    sandboxed = Bool(True, help="whether a kernel runs in a sandbox").tag(config=True)

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **{"kernel_manager_class": ContainedKernelManager} | kwargs)

    def create_kernel_manager(self):
        manager = super().create_kernel_manager()
        manager.memory, manager.sandboxed = self.memory, self.sandboxed
        manager.transport_encryption = "auto"
        return manager

    def preprocess(self, nb, resources, km=None):
        about = resources["nbgrader"]
        self.folder = Path(self.config.CourseDirectory.root)
        file = Path(about["assignment"], f"{about['notebook']}.ipynb")
        source, release = (nbformat.read(self.folder / step / file, as_version=4) for step in ("source", "release"))
        self.asked = grade_cells(source)
        answers = [reading.read(cell.source) for cell in source.cells if cell.cell_type == "code" and is_solution(cell)]
        self.answers = {name for code in answers for name in code.bound - code.imported}  # which learners have to give
        has_texts = _has_texts(nb, [*source.cells, *release.cells])
        self.known = exercises(self.folder)
        seat(self.folder)
        self.drawn = secrets.randbelow(2**31) if self.seed is None else self.seed
        self.until = time.monotonic() + self.submission_seconds
        self.ended, self.skipped, self.stopped, self.printed = 0, set(), None, Counter()
        self.full = False  # whether the kernel's memory has been filled, which it keeps until it ends
        self.at_the_end = False  # whether every cell has run
        self.again = []  # cells to grade again at the end, since their answer was blank or missing
        self.settled = {}  # by cell, the results of answers that were neither; the first one counts
        self.overdue = False
        self.begun, self.ran = False, 0  # whether the kernel still answered before a cell, and the last cell it ran
        self.record = {"seed": self.drawn, "reasons": [], "cells": {}, "has_texts": has_texts}
        # A kernel that never stops sending delays the client's own clock.
        clock = threading.Timer(self.submission_seconds, self._end_kernel)
        clock.daemon = True
        clock.start()
        try:
            nb, resources = super().preprocess(nb, resources)
        finally:
            clock.cancel()
        nb.metadata.language_info = {"name": "python"}  # not the kernel's own claim
        nb.metadata[RECORD] = self.record
        return nb, resources

    def start_new_kernel_client(self):
        """Starts a client and loads what every submission needs, outside the time of its first cell."""
        client = super().start_new_kernel_client()
        seconds, self.timeout = self.timeout, self.startup_timeout
        # People leave exit() in notebooks by accident, so here it does nothing.
        self.wait_for_reply(self.kc.execute("import numpy, torch; get_ipython().ask_exit = lambda: None", silent=True))
        self.timeout = seconds
        return client

    # ---- cell by cell ----

    def preprocess_cell(self, cell, resources, index):
        if cell.cell_type == "code":
            self._run(cell, index)
        self.at_the_end = index == len(self.nb.cells) - 1
        while self.at_the_end and self.again:
            earlier = self.again.pop(0)
            self._run(self.nb.cells[earlier], earlier)
        return cell, resources

    def _run(self, cell, index):
        graded = _is_test(cell)
        name = cell.metadata.nbgrader["grade_id"] if graded else f"cell {index + 1}"
        self._stop_if_late()
        reasons, share, unanswered = None, 0.0, False
        while reasons is None and not self.stopped:
            if self.full:
                self._start_anew(index)
                continue
            try:
                if graded:
                    share, reasons, unanswered = self._grade(cell, self.asked[name], index)
                else:
                    self.execute_cell(cell, index)
                    reasons = self._told(cell, name, index)
                    if self.full:
                        self.skipped.add(index)
            except (CellTimeoutError, DeadKernelError) as error:
                if self.begun:
                    reasons = [f"{name} {self._what_ended(error)}"]
                self._revive(index)  # then again, if an earlier cell had ended the kernel
        if reasons is None:
            if self.at_the_end:
                return
            reasons = [f"{name} was not reached"]
        if graded:
            points = share * self.asked[name].points
            later = self._made_later(self.asked[name], index) if unanswered or self.at_the_end else []
            if later and not self.at_the_end:
                self.again.append(index)
            self.record["cells"][name] = {"points": points, "max": self.asked[name].points, "reasons": reasons + later}
        elif not self.stopped or reasons[0] != f"{name} was not reached":
            self.record["reasons"] += reasons

    def _end_kernel(self):
        self.overdue = True
        with contextlib.suppress(AttributeError, OSError):  # there is no kernel at the moment
            self.km.provisioner.process.send_signal(getattr(signal, "SIGKILL", signal.SIGTERM))

    def _stop_if_late(self):
        if not self.stopped and time.monotonic() > self.until:
            self.stopped = f"the submission took longer than {self.submission_seconds} s"
            self.record["reasons"].append(self.stopped)

    def _told(self, cell, name, index):
        """Returns what went wrong in a cell that ran, in words."""
        errors = [output for output in cell.outputs if output.output_type == "error"]
        if any(error.ename == "CellTimeoutError" for error in errors):  # the interrupt's own error comes first
            self.skipped.add(index)
            return [f"{name} ran longer than {self.timeout} s"]
        for error in errors:
            if error.ename == "StdinNotImplementedError":
                return [f"{name} waits for input(), but nobody can type during grading"]
            said = CELL_FILE.sub("(line", f": {error.evalue}".splitlines()[0][:200]) if error.evalue else ""
            return [printable(f"{name} raised {error.ename}{said}")]
        return []

    def _names(self, asked):
        """Returns the answers that a grade cell is about."""
        return self.answers & set(reading.NAME.findall(" ".join([asked.own, *(ask.expression for ask in asked.asks)])))

    def _codes(self, begin, end=None):
        """Yields the number, from 1, of each cell of a learner's code, and what it binds and uses."""
        for number, cell in enumerate(self.nb.cells[begin:end], start=begin + 1):
            if cell.cell_type == "code" and not _is_test(cell):
                yield number, reading.read(cell.source)

    def _made_later(self, asked, index):
        """Returns a reason if a cell after a grade cell has what it asks for: an answer at the end, a moved cell.

        What it asks for are the answers, and whatever the answers before it use that is nowhere before it.
        """
        before = [code for _, code in self._codes(0, index)]
        wanted = needed = self._names(asked)
        while more := set().union(*(code.used for code in before if code.bound & needed)) - needed:
            needed = needed | more
        wanted = wanted | needed.difference(*(code.bound for code in before))
        for number, code in self._codes(index + 1):
            if names := sorted(wanted & code.bound):
                return [f"cell {number}, further down, has {' and '.join(names)}"]
        return []

    def _has_blank(self, names, index):
        """Returns whether one of these names was last bound to a blank, such as a function with only `pass`."""
        blank = set()
        for _, code in self._codes(0, index):
            blank = (blank - code.bound) | code.blank
        return bool(blank & set(names))

    def _grade(self, cell, asked, index):
        """Returns the share of a cell's points, the reasons for the lost ones, and whether an answer is missing."""
        name = cell.metadata.nbgrader["grade_id"]
        if not asked.asks:
            self.execute_cell(cell, index)
            reasons = self._told(cell, name, index) or self._stripped(asked.own, index)
            earned = (0.0, reasons) if reasons or not asked.points else self._by_output(cell, name, asked.points)
            return *earned, self._is_unanswered(cell, asked, index)
        settled, outputs, failed, reasons, lines = self.settled.setdefault(index, {}), [], [], [], []
        if asked.own:
            if asked.own not in settled:
                ran = self._aside(asked.own, index)
                own = ran.outputs, self._told(ran, name, index) or self._stripped(asked.own, index)
                if not self._is_unanswered(ran, asked, index):
                    settled[asked.own] = own
            outputs, failed = settled.get(asked.own) or own
        try:
            for ask in asked.asks:
                said = settled.get(ask) or self._said(ask, index)
                if not said.startswith("○") and "it raises NameError" not in said:
                    settled[ask] = said
                if not said.startswith("✓"):
                    reasons.append(examine.reason(said))
                lines.append(said if not ask.hidden else examine.without_secrets(said))
        finally:
            text = writable("".join(f"{line}\n" for line in lines))
            cell.outputs = [*outputs, new_output("stream", name="stdout", text=text)]
        right = len(asked.asks) - len(reasons)
        unanswered = len(settled) < len(asked.asks) + bool(asked.own)
        return 0.0 if failed else right / len(asked.asks), failed + reasons, unanswered

    def _is_unanswered(self, cell, asked, index):
        """Returns whether the instructor's own tests found a blank or no answer."""
        errors = [output.ename for output in cell.outputs if output.output_type == "error"]
        return bool(errors) and (
            any(name in examine.UNANSWERED for name in errors) or self._has_blank(self._names(asked), index)
        )

    def _stripped(self, source, index):
        """Returns a reason if the kernel ignores asserts, so that the instructor's own tests test nothing."""
        sign = secrets.token_hex(8)
        if "assert" not in source or any(
            output.output_type == "error" and sign in output.evalue
            for output in self._aside(f"assert False, {sign!r}", index).outputs
        ):
            return []
        return ["asserts are switched off in its kernel"]

    def _said(self, ask, index):
        """Returns a check's message: it begins with ✓, ✗, or ○ if there is no answer yet."""
        if self.full:
            self._start_anew(index)
        if self.stopped:
            return f"✗ {ask.name} was not reached"
        try:
            return self._ask(ask, index)
        except Wrong as wrong:
            said = str(wrong)[: examine.LONGEST_REASON]
        if said.startswith("✗") and self._has_blank(reading.NAME.findall(ask.expression), index):
            return f"○ {ask.name} is not written yet."
        return said

    def _ask(self, ask, index):
        exercise = self.known[ask.name]
        cell = self._aside(examine.question_for_kernel(exercise, ask.expression, self.drawn), index)
        if any(o.output_type == "error" and o.ename == "CellTimeoutError" for o in cell.outputs):
            raise Wrong(f"✗ {ask.name}: no answer within {self.timeout} s.")
        sent = [output.data[courier.MIME] for output in cell.outputs if courier.MIME in output.get("data", {})]
        inputs = judge(self.folder, ask.name, sent[-1] if sent else None, self.drawn)
        return f"✓ {ask.name}: right on all {inputs} inputs." if inputs else f"✓ {ask.name}: right."

    def _by_output(self, cell, name, points):
        """Applies nbgrader's rule to an instructor's own tests; a warning on stderr is not a failure."""
        seen = copy.deepcopy(cell)
        seen.outputs = [o for o in seen.outputs if not (o.output_type == "stream" and o.name == "stderr")]
        try:
            earned = determine_grade(seen, self.log)[0]
        except (KeyError, ValueError):
            return 0.0, [f"{name} shows a number that isn't between 0 and its {points:g} points"]
        return earned / points, [f"{name} gives {earned:g} of {points:g} points"] * (earned < points)

    # ---- the kernel ----

    def _aside(self, source, index):
        """Runs code that is in no cell, as if it were this one."""
        cell, kept = new_code_cell(source), self.nb.cells[index]
        try:
            return self.execute_cell(cell, index, store_history=False)
        finally:
            self.nb.cells[index] = kept

    def _revive(self, index):
        """Starts a fresh kernel after the last one ended, and skips the cell that ended it."""
        self._skip_what_ended(index)
        self._start_anew(index)

    def _start_anew(self, index):
        """Starts a fresh kernel and runs the cells before this one, at the end all, without the skipped ones."""
        self.full = False
        while not self.stopped:
            at = index
            try:
                if self.ended > FRESH_KERNELS:
                    raise RuntimeError
                self._cleanup_kernel()
                self.create_kernel_manager()
                self.start_new_kernel()
                self.start_new_kernel_client()
                for at, cell in enumerate(self.nb.cells[: None if self.at_the_end else index]):
                    self._stop_if_late()
                    if self.stopped:
                        return
                    if cell.cell_type == "code" and at not in self.skipped and not _is_test(cell):
                        self._aside(cell.source, at)
                self.full = False  # what a cell fills only when it runs again can't be emptied
                return
            except (CellTimeoutError, DeadKernelError):
                self._skip_what_ended(at)
            except RuntimeError:
                self.stopped = "its kernel ended again; the rest was not run"
                self.record["reasons"].append(self.stopped)

    def _what_ended(self, error):
        if self.overdue:
            return f"was still running after {self.submission_seconds} s"
        said = getattr(self.km.provisioner.process, "said", "")
        return said if said in (inside.TOO_MUCH, inside.SENT_TOO_MUCH) else WHAT_ENDED[type(error)]

    def _skip_what_ended(self, index):
        """Skips this cell, or the one before if the kernel had already ended."""
        if not self.begun:
            index = self.ran
            self.record["reasons"].append(f"cell {index + 1} ended its kernel")
        self.skipped.add(index)
        self.ended += 1

    def execute_cell(self, cell, cell_index, **options):
        self.begun = False
        try:
            self.wait_for_reply(self.kc.kernel_info())
            self.begun = True
            ran = super().execute_cell(cell, cell_index, **options)
        except (CellTimeoutError, DeadKernelError):
            raise
        except Exception as error:  # a forged message can make the client raise anything
            raise GarbledError(str(error)) from error
        self.ran = cell_index
        self.full = self.full or _fills_memory(ran)
        return ran

    def on_cell_executed(self, cell, execute_reply, **about):
        content = execute_reply["content"]
        if content["status"] == "error":
            content = {"status": "error", **_held("error", content)}
        super().on_cell_executed(cell=cell, execute_reply={**execute_reply, "content": content}, **about)

    def process_message(self, msg, cell, cell_index):
        """Keeps what a notebook can hold of a message, and drops excessive output."""
        try:
            kind = msg["msg_type"]
            content = _held(kind, msg["content"])
            if content is None:
                return None
            aside = cell is not self.nb.cells[cell_index]
            if aside:  # code that is in no cell has no display to update
                content.pop("transient", None)
            answer = aside and courier.MIME in content.get("data", {})
            if self._too_much(kind, content, (msg["parent_header"].get("msg_id"), answer)):
                if kind != "error" or any(output.output_type == "error" for output in cell.outputs):
                    return None
                content["traceback"] = []
            return super().process_message({**msg, "content": content}, cell, cell_index)
        except CellExecutionComplete:
            raise
        except Exception:  # a learner can make a kernel send anything
            self.log.warning("A message of the kernel was ignored", exc_info=True)
            return None

    def _too_much(self, kind, content, source):
        """Counts output, and cuts a text to the room that is left. Answers have a limit of their own."""
        # The message also changes the displays of its id.
        shown = self._display_id_map.get(content.get("transient", {}).get("display_id"), {})
        size = sum(map(len, _texts(content))) + LEAST_OUTPUT.get(kind, 0)
        size *= max(1, sum(map(len, shown.values())))
        most = {source: examine.LARGEST_ANSWER} if source[1] else {source: LARGEST_OUTPUT, "all": LARGEST_OUTPUTS}
        room = min(largest - self.printed[name] for name, largest in most.items())
        for name in most:
            self.printed[name] += size if name == source else min(size, max(room, 0))
        if kind == "stream" and room > 0:
            content["text"] = content["text"][:room]
            return False
        return size > room and (kind in LEAST_OUTPUT or kind == "error")


def _has_texts(notebook, handed_out):
    """Returns whether a written answer may be outside its own cell.

    It may be in any cell that the learner added, also in a code cell, which is what Jupyter adds. And it may be beside
    the code of another answer: as a comment, as a text, or as a sentence that Python can't read.
    """
    cells = {"", *(cell.source.strip() for cell in handed_out)}
    remarks = {remark for cell in handed_out for remark in REMARK.findall(cell.source)}
    for cell in notebook.cells:
        if not grade_id(cell):
            if IMPORT.sub("", cell.source).strip() not in cells:
                return True
        elif cell.cell_type == "code" and is_solution(cell):
            if set(REMARK.findall(cell.source)) - remarks or not reading.read(cell.source).is_python:
                return True
    return False


def _is_test(cell):
    """Returns whether a cell is graded by running it. A code cell that a person grades is an answer."""
    return is_grade(cell) and not is_solution(cell)


def _fills_memory(cell):
    """Returns whether what a cell ran, or an answer in it, got no more memory. Its error keeps what it took in use."""
    said = [f"{output.ename}: {output.evalue}" for output in cell.outputs if output.output_type == "error"]
    said += [output.data.get(courier.MIME, "") for output in cell.outputs if "data" in output]
    return any(word in text for text in said for word in NO_MEMORY)


def _held(kind, content):
    """Returns the part of a kernel's message that a notebook can hold, or None."""
    number = content.get("execution_count")
    count = {"execution_count": number if type(number) is int else None}
    match kind:
        case "stream":
            return {"name": "stderr" if content["name"] == "stderr" else "stdout", "text": writable(content["text"])}
        case "error":
            lines = [writable(str(line))[:LONGEST_LINE] for line in content["traceback"][-100:]]
            said = {name: writable(str(content[name]))[:LONGEST_LINE] for name in ("ename", "evalue")}
            return {**said, "traceback": lines}
        case "display_data" | "execute_result" | "update_display_data":
            about = {
                writable(mime): {writable(name): writable(str(value)) for name, value in items.items()}
                for mime, items in (content.get("metadata") or {}).items()
                if isinstance(items, dict)
            }
            data = {writable(mime): writable(text) for mime, text in content["data"].items() if isinstance(text, str)}
            name = (content.get("transient") or {}).get("display_id")
            count = count if kind == "execute_result" else {}
            return {"data": data, "metadata": about, "transient": {"display_id": name}, **count}
        case "execute_input":
            return count
        case "status":
            return {"execution_state": content["execution_state"]}
        case "clear_output":
            return {"wait": bool(content.get("wait"))}
        case _:  # for example from widgets, which have no page here
            return None


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
        plain = COLOUR.sub("", "\n".join(_texts(output)))
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


def _texts(value):
    """Yields every text in nested data."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)
