"""Marks in class: one class of honest, unlucky and hostile submissions, graded at once, with exact points and reasons.

What is handed in stands in other files, too: cheats, what a cell puts out, what tries to leave the sandbox, accidents.
"""

import contextlib
import csv
import hashlib
import itertools
import json
import os
import platform
import re
import socket
import time
from multiprocessing import resource_tracker
from types import SimpleNamespace

import made_up_class as made
import psutil
import pytest

pytest.importorskip("nbgrader")

from made_up_accidents import ACCIDENTS
from sweeps import sweep
from test_grading_cheats import CHEATS, COUNTS_NOTHING, NO_ANSWERS
from test_grading_hostile import JUNK, OUTPUTS, SEED, can_be_read, right_answer
from test_grading_sandbox import CALLS, ENDS, LEAVES, PLACES, TRIES, said

from course_lib.checks.engine import Wrong
from course_lib.grading import examine, sandbox, system_calls
from course_lib.grading import grade as grading
from course_lib.grading.judge import judge
from course_lib.grading.report import reasons, write_feedback, write_grades

pytestmark = [
    pytest.mark.notebook,  # they execute notebooks
    pytest.mark.filterwarnings("ignore:Non-unique cell id", "ignore:Interpreting naive datetime"),
]
here = pytest.mark.skipif(bool(sandbox.missing()), reason=f"there is no sandbox: {sandbox.missing()}")

TEST_CELLS = ("check_softmax", "check_sat", "check_double", "check_count")
LOOP = "def masked_softmax(scores, mask):\n    while True:\n        pass"
STUBBORN = """
def masked_softmax(scores, mask):
    while True:
        try:
            while True:
                pass
        except BaseException:
            pass
""".strip()
EXITS = "import os\ndef masked_softmax(scores, mask):\n    os._exit(3)"
GREEDY = "def double(x):\n    held = bytearray(6 * 2**30)\n    return 2 * x"
WARNS = "import warnings\ndef count(words):\n    warnings.warn('old')\n    return len(words.split())"

# By student: points of softmax (3), sat (1), double (2), count (2), None if unreadable; and the reasons.
EXPECTED = {
    "ada": ([3, 1, 2, 2], ""),
    "bob": (
        [0, 0, 0, 0],
        "masked_softmax: the mask comes after the softmax; cat_score: that is divided by √d_k; "
        "double: that is the square; check_count raised AssertionError: the hidden sentence",
    ),
    "cy": (
        [0, 0, 0, 0],
        "words: nothing is written in its cell; masked_softmax is not written yet; cat_score has no answer yet; "
        "double is not written yet; check_count raised NotImplementedError",
    ),
    "dan": (
        [0, 1, 2, 2],
        "cell 3 raised SyntaxError: '(' was never closed (line 1); "
        "masked_softmax: NameError: name 'masked_softmax' is not defined",
    ),
    "eli": ([0, 1, 2, 2], f"masked_softmax: no answer within {made.SECONDS} s"),
    "fay": ([3, 1, 0, 2], "cell 7 ended its kernel; double: NameError: name 'double' is not defined"),
    "gus": ([3, 1, 0, 2], "double: it raises MemoryError"),
    "hal": ([3, 1, 2, 2], "; ".join(f"{name} was deleted and has been restored" for name in TEST_CELLS)),
    "ida": ([0, 1, 2, 2], "check_softmax was edited and has been restored; "
                          "masked_softmax: the mask comes after the softmax"),
    "jon": (None, "03_small.ipynb cannot be read as a notebook: Notebook does not appear to be JSON: 'no notebook'"),
    "kim": ([3, 1, 2, 2], "it was handed in as my work (1).ipynb, not 03_small.ipynb"),
    "lou": ([3, 1, 2, 2], ""),
    "mia": ([3, 1, 2, 0], "cell 9 raised ModuleNotFoundError: No module named 'no_such_package'; "
                          "check_count raised NameError: name 'count' is not defined"),
    "ned": (None, "there is no 03_small.ipynb; handed in: answers.txt"),
    "oto": ([0, 1, 2, 2], "check_softmax ended its kernel"),
    "pam": ([0, 1, 2, 2], "check_softmax could not be interrupted"),
}  # fmt: skip


def hand_in_the_first(course):
    def give(student, **answers):
        made.hand_in(course, student, made.answered(course, **answers))

    give("ada")
    give("bob", softmax=made.MASK_AFTER, sat="cat_score = 0.525", double="def double(x):\n    return x * x",
         count="def count(words):\n    return 2")  # fmt: skip
    give("cy", softmax=None, sat=None, double=None, count=None, words=None)
    give("dan", softmax="def masked_softmax(scores, mask:\n    return scores")
    give("eli", softmax=LOOP)
    give("fay", double="import os\nos._exit(1)")
    give("gus", double=GREEDY)
    hal = made.answered(course)
    hal.cells = [cell for cell in hal.cells if cell.metadata.get("nbgrader", {}).get("grade_id") not in TEST_CELLS]
    made.hand_in(course, "hal", hal)
    ida = made.answered(course, softmax=made.MASK_AFTER)
    for cell in ida.cells:
        if cell.metadata.get("nbgrader", {}).get("grade_id") == "check_softmax":
            cell.source = "print('✓')"
            cell.metadata["nbgrader"]["points"] = 300
    made.hand_in(course, "ida", ida)
    made.hand_in(course, "jon", text="no notebook")
    made.hand_in(course, "kim", made.answered(course), name="my work (1).ipynb")
    give("lou", count=WARNS)
    give("mia", count="import no_such_package\n" + made.COUNT)
    made.hand_in(course, "ned", name="answers.txt", text="My answers")
    give("oto", softmax=EXITS)
    give("pam", softmax=STUBBORN)


NO_JSON = "cannot be read as a notebook: Notebook does not appear to be JSON: "
NO_OBJECT = "cannot be read as a notebook: '{}' object has no attribute 'get'"
# What stands in the file instead of a notebook, and what is said of it.
NO_NOTEBOOKS = {
    **{text: f"{NO_JSON}{text!r}" for text in ("", "{", '{"cells": [', "<html>", "\x01")},
    "null": NO_OBJECT.format("NoneType"),
    "[]": NO_OBJECT.format("list"),
    "3": NO_OBJECT.format("int"),
    '"cells"': NO_OBJECT.format("str"),
    json.dumps({"cells": [{"cell_type": "raw"}] * 3_000}): "has 3000 cells; at most 2000 are read",
}


# ---- what a kernel sends in the place of its answers ----

SENDS = """
import contextlib, json, socket
for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, kind) as out:
        out.settimeout(1)
        out.connect(("127.0.0.1", {port}))
        out.send(b"here")
sends, real = json.loads({sends!r}), json.dumps
def dumps(found, *rest, **words):
    if isinstance(found, dict) and "value" in found:
        return sends[0]
    if isinstance(found, dict) and "scores" in found.get("outcomes", [{{}}])[0].get("arguments", ()):
        return sends[1] or real({{"outcomes": [{{**one, "result": sends[2]}} for one in found["outcomes"]]}})
    return real(found, *rest, **words)
json.dumps = dumps
"""
# By student: the text for the number, that for the softmax, and what stands for each of its results if that is none.
SENT = {f"sends{number:02}": (text, text or "null", None) for number, text in enumerate(NO_ANSWERS)}
HALVES = enumerate(zip(JUNK[::2], JUNK[1::2] + JUNK[:1], strict=True))
SENT |= {f"junk{number:02}": (json.dumps({"value": one}), None, other) for number, (one, other) in HALVES}


def wanted_of_sent(course, number, softmax, result):
    outcomes = [{**one, "result": result} for one in right_answer("masked_softmax")["outcomes"]]
    softmax = softmax or json.dumps({"outcomes": outcomes})
    told = []
    for name, text in (("masked_softmax", softmax), ("cat_score", number)):
        with pytest.raises(Wrong) as wrong:
            judge(course.folder, name, text, SEED)
        told.append(examine.reason(wrong.value))
    return [0, 0, 2, 2], "; ".join(dict.fromkeys(told))


# ---- the class ----

MARK = f"of-the-class-{os.getpid()}"
VARIABLE = "LC_COURSE_CLASS"  # is passed on to kernels
HELPED = f"import helper, json, os\nsaid = [helper.value, os.environ['{VARIABLE}'], len(os.sched_getaffinity(0))]"
TRIES_MORE = () if sandbox.missing() else ("calls", "helped", "leaves", "places")


@pytest.fixture(scope="module", params=sweep(["small class", "whole class"], "small class"))
def some_of(request):
    """In a small class, of each kind of odd submission the first; in the whole class, all."""
    return lambda kind: dict(itertools.islice(kind.items(), 1 if request.param == "small class" else None))


@pytest.fixture(scope="module")
def wanted(course, some_of):
    """Points and reasons by student."""
    found = EXPECTED | {student: (points, why) for student, (_, points, why) in some_of(OUTPUTS).items()}
    found |= {accident.__name__: what for accident, what in some_of(ACCIDENTS).items()}
    found |= {student: ([0, 0, 0, 0], why) for student, (_, why) in some_of(CHEATS).items()}
    for number, why in enumerate(some_of(NO_NOTEBOOKS).values()):
        found[f"file{number}"] = None, f"{made.NAME}.ipynb {why}"
    found |= dict.fromkeys(TRIES_MORE, ([3, 1, 2, 2], ""))
    return found | {student: wanted_of_sent(course, *sent) for student, sent in some_of(SENT).items()}


def hand_in_all(course, some_of, port, outside):
    hand_in_the_first(course)
    for student, (answers, *_) in some_of(OUTPUTS).items():
        made.hand_in(course, student, text=json.dumps(made.answered(course, **answers)))
    for number, text in enumerate(some_of(NO_NOTEBOOKS)):
        made.hand_in(course, f"file{number}", text=text)
    for accident in some_of(ACCIDENTS):
        made.hand_in(course, accident.__name__, text=json.dumps(accident(course)))
    for student, (answers, _) in some_of(CHEATS).items():
        notebook = made.answered(course, count=COUNTS_NOTHING, **answers)
        for cell in notebook.cells:  # outputs that were saved in the file count for nothing
            if cell.cell_type == "code":
                text = "✓ masked_softmax: right.\n"
                cell.outputs = [made.nbformat.v4.new_output("stream", name="stdout", text=text)]
        made.hand_in(course, student, notebook)
    for student, sent in some_of(SENT).items():
        code = SENDS.format(port=port, sends=json.dumps(sent))
        made.hand_in(course, student, made.answered(course, softmax=f"{code}\n{made.SOFTMAX}"))
    if TRIES_MORE:
        hand_in_what_tries(course, port, outside)


def hand_in_what_tries(course, port, outside):
    places = PLACES.format(
        port=port,
        home=os.path.expanduser("~"),
        outside=str(outside),
        course=str(course.folder),
        notebook=f"{made.NAME}.ipynb",
        grader=os.getpid() if os.getpid() > 500 else 2**22,
    )
    column = system_calls.MACHINES[platform.machine()][0]
    numbers = {name: both[column] for name, both in system_calls.REFUSED.items()}
    numbers |= {"clone": system_calls.CLONE[column], "clone3": system_calls.CLONE3[column]}
    tries = {"places": places, "calls": CALLS.format(**numbers), "leaves": f"MARK = {MARK!r}{LEAVES}"}
    for student, code in tries.items():
        made.hand_in(course, student, made.answered(course, sat=TRIES + code + ENDS))
    folder = made.hand_in(course, "helped", made.answered(course, sat=HELPED + ENDS))
    (folder / "helper.py").write_text("value = 1")


def contents(folder):
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def of_the_run():
    """What goes on of all that the run has started."""
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if MARK in " ".join(process.cmdline()) or process.environ().get(VARIABLE) == MARK:
                yield process


@pytest.fixture(scope="module")
def course(tmp_path_factory, some_of):
    return made.make_course(tmp_path_factory.mktemp("class"))


@pytest.fixture(scope="module")
def run(course, some_of, tmp_path_factory):
    """The class, handed in and graded as `make grade` does it; and what was there before and after."""
    outside = tmp_path_factory.mktemp("outside") / "outside.txt"
    outside.write_text("secret")
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as packets,
        pytest.MonkeyPatch.context() as patch,
    ):
        port = server.getsockname()[1]
        packets.bind(("127.0.0.1", port))
        hand_in_all(course, some_of, port, outside)
        before = contents(course.folder)
        resource_tracker.ensure_running()  # stays for as long as this process does
        patch.setenv(VARIABLE, MARK)
        patch.setenv("SOME_TOKEN", "secret")
        reports = grading.grade(course, [made.NAME], seed=SEED)
        until = time.monotonic() + 10
        while (left := [*of_the_run()]) and time.monotonic() < until:
            time.sleep(0.1)
        server.settimeout(0)
        packets.settimeout(0)
        came = []
        for take in (server.accept, lambda: packets.recv(9)):
            with contextlib.suppress(BlockingIOError):
                came.append(take())
    return SimpleNamespace(
        reports={report["student"]: report for report in reports},
        before=before,
        after=contents(course.folder),
        outside=outside.read_text(),
        left=left,
        came=came,
    )


def test_each_submission_has_its_points_and_its_reasons(run, wanted):
    found = {
        student: ([cell["points"] for cell in report["cells"].values()] or None, reasons(report))
        for student, report in run.reports.items()
    }
    assert found == wanted
    assert {report["sandboxed"] for report in run.reports.values()} == {bool(TRIES_MORE)}


def test_of_the_courses_folder_changes_only_what_grading_writes(run):
    changed = {name for name in run.before | run.after if run.before.get(name) != run.after.get(name)}
    assert {name.partition("/")[0] for name in changed} == {"autograded", "reports", "gradebook.db", ".grading.lock"}
    assert run.outside == "secret"


def test_no_process_is_left(run):
    assert run.left == []


@here
def test_nothing_is_sent_out(run):
    assert run.came == []


@here
def test_nothing_outside_can_be_reached_or_changed(course, run):
    found = said(course, "places")
    assert not [name for name, text in found.items() if text.startswith("did it")], found
    assert len(found) == PLACES.count("@tries")


@here
def test_calls_that_reach_around_it_are_refused(course, run):
    found = said(course, "calls")
    assert not [name for name, text in found.items() if text.startswith("did it")], found
    by_the_filter = {name for name, text in found.items() if text.startswith("PermissionError: [Errno 1]")}
    assert {"ptraced", "mounted", "filtered", "keyed", "user_namespace", "cloned", "unnamed_memory"} <= by_the_filter
    assert found["cloned_otherwise"].startswith("OSError: [Errno 38]")


@here
def test_a_module_that_was_handed_in_is_found_and_a_submission_has_one_core(course, run):
    assert said(course, "helped") == [1, MARK, 1]


def test_what_grading_wrote_can_be_read(course, run):
    for report in run.reports.values():
        if report["state"] == "graded":
            can_be_read(course, report)


def rows(course):
    with write_grades(course, made.NAME).open(encoding="utf-8-sig", newline="") as file:
        return {row["student"]: row for row in csv.DictReader(file)}


def test_the_table_has_every_student_every_check_and_the_reason(course, run, wanted):
    table = rows(course)
    assert table.keys() == wanted.keys()
    for student, (points, why) in wanted.items():
        row = table[student]
        assert [float(row[name]) for name in TEST_CELLS] == (points or [0, 0, 0, 0]), student
        told = row["points"], row["max"], re.sub(r" [|–] ", "; ", row["reason"])
        assert told == (f"{sum(points or []):.1f}", "9.0", re.sub(r"\s*;\s*", "; ", why)), student
        assert "a person reads" not in why or row["state"] == "graded, to be read", student
    assert {table[student]["state"] for student in ("jon", "ned")} == {"unreadable"}
    assert table["ada"]["state"] == "graded, to be read"  # the sentence that a person reads


def test_a_second_run_grades_only_what_has_changed(course, run):
    assert grading.missing(course, made.NAME) == []
    made.hand_in(course, "bob", made.answered(course, sat="cat_score = 0.6"))
    grading.report_file(course, made.NAME, "cy").unlink()  # as if a run had been killed before its end
    assert grading.missing(course, made.NAME) == ["bob", "cy"]


def test_feedback_has_the_reasons_and_no_hidden_test(course, run, wanted):
    pages, without = write_feedback(course, [made.NAME])
    unreadable = [student for student, (points, _) in wanted.items() if points is None]
    assert [line.partition(":")[0] for line in without] == sorted(unreadable)
    assert len(pages) == len(run.reports) - len(unreadable)
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert "HIDDEN" not in text and "hidden sentence" not in text and "seed=17" not in text
        assert "a b c d" not in text, page
    text = course.path("feedback", "bob", made.NAME, f"{made.NAME}.html").read_text(encoding="utf-8")
    assert "the mask comes after the softmax" in text and "It raised AssertionError" in text
    released = course.path("release", made.NAME, f"{made.NAME}.ipynb").read_text(encoding="utf-8")
    assert "hidden sentence" not in released and "nan_to_num" not in released
    assert "cat_score = ...  # YOUR ANSWER HERE" in released and '"YOUR ANSWER HERE"' in released
