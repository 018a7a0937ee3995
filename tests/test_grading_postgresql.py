"""A gradebook on a PostgreSQL server: two Dask workers write at once, the server restarts, and nothing is lost."""

import csv
import dataclasses
import os
import shutil
import subprocess
import tempfile
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import made_up_class as made
import nbformat
import pytest

pytest.importorskip("nbgrader")
pytest.importorskip("psycopg")
pytest.importorskip("distributed")

import distributed
import psycopg
from nbgrader.api import Gradebook
from nbgrader.apps import NbGraderAPI
from nbgrader.coursedir import CourseDirectory

from course_lib import __main__ as front_door
from course_lib.grading import grade as grading
from course_lib.grading import sandbox
from course_lib.grading.course import Course
from course_lib.grading.report import BETWEEN

pytestmark = pytest.mark.notebook  # they execute notebooks

# Debian's server programs are not on the PATH.
DEBIAN = sorted(map(str, Path("/usr/lib/postgresql").glob("*/bin")), reverse=True)
PROGRAMS = os.pathsep.join([*DEBIAN, os.environ.get("PATH", os.defpath)])
CELLS = ("check_softmax", "check_sat", "check_double", "check_count")

# By student: the name, the answers, the points of CELLS, the reason.
CLASS = {
    "ada_lovelace": ("Ada Lovelace", {}, [3, 1, 2, 2], ""),
    "bob_after": ("Bob After", {"softmax": made.MASK_AFTER}, [0, 1, 2, 2],
                  "masked_softmax: the mask comes after the softmax"),
    "cy_square": ("Cy Square", {"double": "def double(x):\n    return x * x"}, [3, 1, 0, 2],
                  "double: that is the square"),
    "dan_blank": ("Dan Blank", dict.fromkeys(made.RIGHT), [0, 0, 0, 0],
                  "words: nothing is written in its cell; masked_softmax is not written yet; "
                  "cat_score has no answer yet; double is not written yet; check_count raised NotImplementedError"),
    "fay_ends": ("Fay Ends", {"double": "import os\nos._exit(1)"}, [3, 1, 0, 2],
                 "cell 7 ended its kernel; double: NameError: name 'double' is not defined"),
    "jon_broken": ("Jon Broken", None, [0, 0, 0, 0],
                   "03_small.ipynb cannot be read as a notebook: Notebook does not appear to be JSON: '{'"),
    "zoe_angstrom": ("Zoë Ångström", {"count": "def count(words):\n    return 2"}, [3, 1, 2, 0],
                     "check_count raised AssertionError: the hidden sentence"),
}  # fmt: skip

# Takes hold of the last marks of each submission whose marks are not all entered yet.
HOLD_LAST_MARKS = """
SELECT submitted_assignment.student_id FROM grade
JOIN base_cell ON base_cell.id = grade.cell_id
JOIN submitted_notebook ON submitted_notebook.id = grade.notebook_id
JOIN submitted_assignment ON submitted_assignment.id = submitted_notebook.assignment_id
WHERE base_cell.name = 'check_count' AND grade.auto_score IS NULL
FOR UPDATE OF grade
"""
WAITING = "SELECT count(DISTINCT pid) FROM pg_locks WHERE NOT granted"


class Server:
    """PostgreSQL in a folder of its own. It refuses to run as root, for whom it runs as nobody."""

    def __init__(self, folder: Path):
        self.folder, self.data, self.account = folder, folder / "data", {}
        self.url = f"postgresql://course@/postgres?host={folder}"
        if os.geteuid() == 0:
            import pwd

            nobody = pwd.getpwnam("nobody")
            self.account = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
            os.chown(folder, nobody.pw_uid, nobody.pw_gid)

    def run(self, program, *arguments):
        command = [shutil.which(program, path=PROGRAMS), f"--pgdata={self.data}", *arguments]
        options = {"cwd": self.folder, "capture_output": True, "text": True, "timeout": 120}
        ran = subprocess.run(command, **options, **self.account)
        assert ran.returncode == 0, ran.stdout + ran.stderr

    def start(self):
        self.run("initdb", "--username=course", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync")
        # Its socket lies where no other user comes: it needs no port and no password.
        options = f"-c listen_addresses='' -c unix_socket_directories='{self.folder}'"
        self.run("pg_ctl", "start", "--wait", f"--log={self.folder / 'log.txt'}", f"--options={options}")

    def restart(self):
        self.run("pg_ctl", "restart", "--wait", "--mode=fast", f"--log={self.folder / 'log.txt'}")

    def stop(self):
        if (self.data / "postmaster.pid").exists():
            self.run("pg_ctl", "stop", "--wait", "--mode=immediate")


@pytest.fixture(scope="module")
def server():
    if os.name != "posix" or not all(shutil.which(name, path=PROGRAMS) for name in ("initdb", "pg_ctl")):
        pytest.skip("PostgreSQL's server is not installed")
    # In /tmp, where nobody may come too, and where the path of a socket is short enough.
    with tempfile.TemporaryDirectory(prefix="course-postgresql-", dir="/tmp") as folder:
        server = Server(Path(folder))
        try:
            server.start()
            yield server
        finally:
            server.stop()


def pack(course, file):
    """The class's work as Moodle hands it out; all but the first are late."""
    with zipfile.ZipFile(file, "w") as out:
        for number, (name, answers, _, _) in enumerate(CLASS.values()):
            text = "{" if answers is None else nbformat.writes(made.answered(course, **answers))
            date = (2026, 11 if number else 10, 20, 12, 0, 0)
            out.writestr(zipfile.ZipInfo(f"{name}_{number}_assignsubmission_file_/{made.NAME}.ipynb", date), text)
    return str(file)


def by_hand(course, student, points):
    with Gradebook(course.database) as gradebook:
        gradebook.find_grade("words", made.NAME, made.NAME, student).manual_score = points
        gradebook.db.commit()


def until(happened):
    end = time.monotonic() + 300
    while not (what := happened()):
        assert time.monotonic() < end, "it has not happened within five minutes"
        time.sleep(0.05)
    return what


def restart_under_two_writers(server, course):
    """Restarts the server when there is a report and two more submissions are entered by half.

    Returns:
        The student of the report, who was given points by hand, and the other two.
    """
    first = until(lambda: list(course.path("reports", made.NAME).glob("*.json")))[0].stem
    by_hand(course, first, 0.5)
    with closing(psycopg.connect(server.url)) as ours:

        def held():
            ours.rollback()
            students = [student for (student,) in ours.execute(HOLD_LAST_MARKS)]
            return len(students) == 2 and students

        students = until(held)
        until(lambda: ours.execute(WAITING).fetchone()[0] == 2)
        server.restart()
    return first, students


def by_student(reports):
    found = {report["student"]: report for report in reports}
    assert len(found) == len(reports)
    return found


def rows(course):
    with course.path("grades", f"{made.NAME}.csv").open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def test_two_workers_write_at_once_the_server_restarts_and_nothing_is_lost(server, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("COURSE_DIRECTORY", str(tmp_path / "course"))
    monkeypatch.setenv("COURSE_DATABASE", server.url)
    monkeypatch.setenv("COURSE_SOURCE", str(made.write_sources(tmp_path)))
    front_door.release(["--due", "2026-11-01 23:59 UTC"])
    course = dataclasses.replace(Course.here(), sandboxed=not sandbox.missing())
    front_door.collect([pack(course, tmp_path / "moodle.zip")])
    assert f"03_small: {len(CLASS)} collected, 0 remarks" in capsys.readouterr().out

    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with (
        distributed.LocalCluster(**options) as cluster,
        distributed.Client(cluster) as client,
        ThreadPoolExecutor(1) as beside,
    ):
        executor = client.get_executor(pure=False)
        restarted = beside.submit(restart_under_two_writers, server, course)
        reports = by_student(grading.grade(course, [made.NAME], executor=executor))
        first, halves = restarted.result()
        failed = {student: report for student, report in reports.items() if report["state"] == "failed"}
        assert reports.keys() == CLASS.keys() and failed.keys() >= set(halves) and first not in failed
        assert all("psycopg" in report["reasons"][0] for report in failed.values()), failed
        second = min(set(halves) - {"jon_broken"})
        by_hand(course, second, 0.25)
        assert grading.missing(course, made.NAME) == sorted(failed)
        reports |= by_student(again := grading.grade(course, [made.NAME], executor=executor))
    assert sorted(report["student"] for report in again) == sorted(failed)
    assert [student for student in CLASS if reports[student]["state"] != "graded"] == ["jon_broken"]

    front_door.grade([] if course.sandboxed else ["--unsandboxed"])
    assert capsys.readouterr().out.startswith("0 graded")
    front_door.feedback([])
    assert f"{len(CLASS) - 1} pages" in capsys.readouterr().out
    front_door.grades([])
    table = rows(course)
    assert [row["student"] for row in table] == sorted(CLASS)
    for row in table:
        student = row["student"]
        name, _, points, reason = CLASS[student]
        given = {first: 0.5, second: 0.25}.get(student, 0)
        assert [float(row[cell]) for cell in (*CELLS, "words")] == [*points, given], student
        assert (float(row["points"]), float(row["max"])) == (sum(points) + given, 9), student
        assert (f"{row['first_name']} {row['last_name']}", row["reason"]) == (name, reason.replace("; ", BETWEEN)), (
            student
        )
        assert row["state"].removesuffix(", to be read") == reports[student]["state"]
        assert (float(row["late_seconds"]) > 0) == (student != "ada_lovelace")

    # What the formgrader shows.
    pages = NbGraderAPI(CourseDirectory(config=course.config()))
    assert {row["student"]: row["score"] for row in pages.get_submissions(made.NAME)} == {
        row["student"]: float(row["points"]) for row in table
    }
    assert len(pages.get_notebook_submissions(made.NAME, made.NAME)) == len(CLASS) - 1
    assert len(pages.get_students()) == len(CLASS)
