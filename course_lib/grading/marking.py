"""Runs a submission cell by cell in place of nbgrader's own step, and records the points and their reasons."""

import contextlib
import copy
import re
import secrets
import signal
import threading
import time
from pathlib import Path

import nbformat
from nbclient.client import CellExecutionComplete
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbformat.v4 import new_code_cell, new_output
from nbgrader.preprocessors import Execute
from nbgrader.utils import determine_grade, is_grade, is_solution
from traitlets import Bool, Integer

from course_lib.checks.engine import Wrong
from course_lib.grading import courier, examine, gradebook, inside, messages, reading
from course_lib.grading.course import RECORD, exercises, grade_cells
from course_lib.grading.judge import judge, seat
from course_lib.grading.provisioner import ContainedKernelManager
from course_lib.grading.submission import printable, writable

FRESH_KERNELS = 2  # how often a submission that ended its kernel gets a new one
LEAST_ROOM = 2**27  # bytes that a kernel must still be able to take; otherwise it counts as full
CELL_FILE = re.compile(r"\(\d+\.py, line")  # how a SyntaxError names a cell


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
        has_texts = gradebook.has_texts(nb, [*source.cells, *release.cells])
        self.known = exercises(self.folder)
        seat(self.folder)
        self.drawn = secrets.randbelow(2**31) if self.seed is None else self.seed
        self.until = time.monotonic() + self.submission_seconds
        self.ended, self.skipped, self.stopped, self.room = 0, set(), None, messages.Room()
        self.full = False  # whether the kernel has hardly any memory left
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
                        reasons = reasons or [f"{name} fills its kernel's memory"]
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
        self.full = self.full or self._is_full()
        return ran

    def _is_full(self):
        """Asks the kernel for memory, since errors don't tell: an answer can catch them and keep what it took."""
        reply = self.wait_for_reply(self.kc.execute(f"bytes({LEAST_ROOM}) and None", silent=True, stop_on_error=False))
        return reply is not None and reply["content"].get("ename") == "MemoryError"

    def on_cell_executed(self, cell, execute_reply, **about):
        content = execute_reply["content"]
        if content["status"] == "error":
            content = {"status": "error", **messages.held("error", content)}
        super().on_cell_executed(cell=cell, execute_reply={**execute_reply, "content": content}, **about)

    def process_message(self, msg, cell, cell_index):
        """Keeps what a notebook can hold of a message, and drops excessive output."""
        try:
            kind = msg["msg_type"]
            content = messages.held(kind, msg["content"])
            if content is None:
                return None
            aside = cell is not self.nb.cells[cell_index]
            if aside:  # code that is in no cell has no display to update
                content.pop("transient", None)
            answer = aside and courier.MIME in content.get("data", {})
            source = msg["parent_header"].get("msg_id"), answer
            shown = self._display_id_map.get(content.get("transient", {}).get("display_id"), {})
            if self.room.is_too_much(kind, content, source, sum(map(len, shown.values()))):
                if kind != "error" or any(output.output_type == "error" for output in cell.outputs):
                    return None
                content["traceback"] = []
            return super().process_message({**msg, "content": content}, cell, cell_index)
        except CellExecutionComplete:
            raise
        except Exception:  # a learner can make a kernel send anything
            self.log.warning("A message of the kernel was ignored", exc_info=True)
            return None


def _is_test(cell):
    """Returns whether a cell is graded by running it. A code cell that a person grades is an answer."""
    return is_grade(cell) and not is_solution(cell)
