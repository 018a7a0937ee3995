"""A class of 200, and the grader beside nbgrader's own command; `make test` leaves them out.

make test ARGS="-m large -n0 -s tests/test_grading_large.py"
"""

import dataclasses
import os
import shutil
import signal
import subprocess
import sys
import time

import made_up_class as made
import psutil
import pytest

pytest.importorskip("nbgrader")

from nbgrader.api import Gradebook
from test_grading_sandbox import ENDS, said

from course_lib.files import ROOT
from course_lib.grading import grade as grading
from course_lib.grading import sandbox
from course_lib.grading.course import Course, release
from course_lib.grading.report import table

pytestmark = [
    pytest.mark.notebook,
    pytest.mark.large,
    pytest.mark.skipif(bool(sandbox.missing()), reason=f"there is no sandbox: {sandbox.missing()}"),
]

STUDENTS = 200
KINDS = {  # what each hands in, and its points
    "right": ({}, 8),
    "nothing": (dict(softmax=None, sat=None, double=None, count=None), 0),
    "mask after softmax": (dict(softmax=made.MASK_AFTER), 5),
    "wrong number": (dict(sat="cat_score = 0.5"), 7),
    "no Python": (dict(count="def count(words"), 6),
    "an error": (dict(double="def double(x):\n    raise ValueError('no')"), 6),
    "ends its kernel": (dict(sat="import os\nos._exit(1)"), 7),
    "ends it with a wrong answer": (dict(softmax=made.MASK_AFTER, sat="import os\nos._exit(1)"), 4),
    "prints": (dict(double="def double(x):\n    print('x' * 1_000_000)\n    return x + x"), 8),
    "draws": (dict(sat="import matplotlib.pyplot as plt\nplt.plot([1, 2])\ncat_score = 1.05"), 8),
    "exits": (dict(count="exit()"), 6),
    "starts processes": (dict(sat="import subprocess\nsubprocess.run(['true'])\ncat_score = 1.05"), 8),
}


def reports(course: Course) -> dict[str, int]:
    return {path.stem: path.stat().st_mtime_ns for path in course.path("reports", made.NAME).glob("*.json")}


def memory_of(process: psutil.Process) -> int:
    """Bytes that a process and what it started have, each page counted once."""
    total = 0
    for one in (process, *process.children(recursive=True)):
        try:
            total += one.memory_full_info().pss
        except psutil.Error:
            continue
    return total


def test_a_class_of_200_is_graded_though_the_run_is_killed(tmp_path):
    course = made.make_course(tmp_path)
    wanted = {}
    for number in range(STUDENTS):
        answers, points = [*KINDS.values()][number % len(KINDS)]
        made.hand_in(course, f"s{number:03}", made.answered(course, **answers))
        wanted[f"s{number:03}"] = points

    run = made.start(tmp_path, stdout=subprocess.PIPE)
    while len(reports(course)) < STUDENTS / 3:
        assert run.poll() is None
        time.sleep(0.2)
    run.send_signal(signal.SIGKILL)
    run.communicate()
    time.sleep(5)  # what was being written is written, or never
    before = reports(course)
    left = grading.missing(course, made.NAME)
    assert STUDENTS / 3 <= len(before) and STUDENTS - len(before) <= len(left) <= STUDENTS - len(before) + 2

    began = time.monotonic()
    run, most = made.start(tmp_path, stdout=subprocess.PIPE), 0
    watched = psutil.Process(run.pid)
    while run.poll() is None:
        most = max(most, memory_of(watched))
        time.sleep(0.5)
    minutes = (time.monotonic() - began) / 60
    assert int(run.communicate()[0]) == len(left)
    print(f"\n{len(left)} graded after the kill: {len(left) / minutes:.0f} a minute, at most {most / 1e9:.1f} GB")

    after = reports(course)
    assert {student for student in before if after[student] == before[student]} == before.keys() - {*left}
    rows = {row["student"]: row for row in table(course, made.NAME)}
    assert {student: row["points"] for student, row in rows.items()} == wanted
    with Gradebook(course.database) as gradebook:
        assert len(gradebook.assignment_submissions(made.NAME)) == STUDENTS
    assert grading.missing(course, made.NAME) == []


WHERE = """
import json, os, signal, time
children = []
while len(children) < {processes}:
    children.append(os.fork())
    while not children[-1]:
        pass
began, on = time.monotonic(), set()
end = time.process_time() + {seconds}
while time.process_time() < end:
    for process in [*children, "self"]:
        with open(f"/proc/{{process}}/stat") as file:
            on.add(file.read().rpartition(")")[2].split()[36])
for child in children:
    os.kill(child, signal.SIGKILL)
said = [*on], time.monotonic() - began
"""


def graded_after_meeting(fifo, mode, *submission):
    """Grades in this process once another process has opened the file, too."""
    with open(fifo, mode):
        pass
    return grading.grade_one(*submission)


@pytest.mark.skipif(os.cpu_count() < 2, reason="there is one core")
def test_a_hundred_busy_processes_take_no_core_from_another_submission(tmp_path):
    course, students = made.make_course(tmp_path), ("busy", "other")
    for student, processes, seconds in zip(students, (100, 0), (0.1, 3), strict=True):
        code = WHERE.format(processes=processes, seconds=seconds)
        made.hand_in(course, student, made.answered(course, sat=code + ENDS))
    os.mkfifo(tmp_path / "fifo")
    course = dataclasses.replace(course, cell_seconds=600)
    with grading.processes(tmp_path, 2) as pool:
        tasks = ([tmp_path / "fifo"] * 2, "rw", [course] * 2, [made.NAME] * 2, students)
        reports = [*pool.map(graded_after_meeting, *tasks)]
    assert [sum(cell["points"] for cell in report["cells"].values()) for report in reports] == [8, 8], reports
    (busy, _), (other, seconds) = (said(course, student) for student in students)
    print(f"\nbeside a hundred busy processes, 3 s of work took {seconds:.1f} s")
    assert len(busy) == len(other) == 1 and busy != other


def test_it_is_faster_than_nbgraders_own_command(tmp_path):
    """On lesson 3's exercises with right answers: a sandbox here, none there."""
    name, students = "03_scaled_dot_product", 24
    sources = tmp_path / "private"
    sources.mkdir()
    shutil.copy(ROOT / "notebooks/exercises" / f"{name}.ipynb", sources)
    course = Course(tmp_path / "course", f"sqlite:///{tmp_path / 'course' / 'gradebook.db'}?timeout=60")
    list(release(course, sources))
    for number in range(students):
        folder = course.path("submitted", f"s{number:02}", name)
        folder.mkdir(parents=True)
        shutil.copy(sources / f"{name}.ipynb", folder)
    stock = tmp_path / "stock"
    shutil.copytree(course.folder, stock)
    (stock / "nbgrader_config.py").touch()

    began = time.monotonic()
    found = grading.grade(course, [name])
    ours = time.monotonic() - began
    assert {sum(cell["points"] for cell in report["cells"].values()) for report in found} == {16}
    began = time.monotonic()
    command = [sys.executable, "-m", "nbgrader", "autograde", name]
    done = subprocess.run(command, cwd=stock, capture_output=True, text=True)
    theirs = time.monotonic() - began
    assert done.returncode == 0, done.stderr
    print(f"\n{students} submissions: {60 * students / ours:.0f} a minute, nbgrader's {60 * students / theirs:.0f}")
    assert ours < theirs / 2
