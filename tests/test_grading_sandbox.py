"""What a submission tries from within the sandbox fails there, costs nobody a point, and leaves nothing behind.

What needs no more time than other submissions is tried in the class of test_grading_class.
"""

import dataclasses
import json
import os
import struct
import subprocess
import sys

import made_up_class as made
import nbformat
import pytest
from sweeps import sweep

pytest.importorskip("nbgrader")

from course_lib.files import ROOT
from course_lib.grading import grade as grading
from course_lib.grading import sandbox, system_calls
from course_lib.grading.course import CourseError
from course_lib.grading.submission import grade_id

here = pytest.mark.skipif(bool(sandbox.missing()), reason=f"there is no sandbox: {sandbox.missing()}")

# ---- what is tried; "did it" must not come out ----

TRIES = r"""
import contextlib, ctypes, json, os, pathlib, shutil, signal, socket, subprocess, sys, tempfile
said = {}
libc = ctypes.CDLL(None, use_errno=True)

def tries(attempt):
    try:
        said[attempt.__name__] = f"did it: {attempt()}"
    except BaseException as error:
        said[attempt.__name__] = f"{type(error).__name__}: {error}"
    return attempt

def is_from_outside(number):
    # A pair of sockets, which has no names, of another process.
    try:
        one = socket.socket(fileno=os.dup(number))
        made_by = int.from_bytes(one.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)[:4], sys.byteorder)
        return one.family == socket.AF_UNIX and one.getsockname() in ("", b"") and made_by != os.getpid()
    except OSError:
        return False

def called(*arguments):
    if libc.syscall(*arguments) == -1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
"""
ENDS = "\nprint('said ' + json.dumps(said))\ncat_score = 1.05"
PLACES = """
@tries
def the_network():
    socket.create_connection(("127.0.0.1", {port}), timeout=1)

@tries
def another_interface():
    return [line for line in open("/proc/net/dev").readlines()[2:] if line.split()[0] != "lo:"][0]

@tries
def another_address():
    socket.create_connection(("192.0.2.1", 80), timeout=1)

@tries
def the_machines_own_network():
    socket.socket(socket.AF_VSOCK)

@tries
def the_home():
    return [path for path in os.scandir({home!r}) if not path.is_dir()][0]

@tries
def a_file_elsewhere():
    return open({outside!r}).read()

@tries
def writing_elsewhere():
    open({outside!r}, "a").write("x")

@tries
def another_submission():
    return os.listdir({course!r} + "/submitted")

@tries
def deleting_another():
    shutil.rmtree({course!r} + "/submitted/bob")

@tries
def the_gradebook():
    return open({course!r} + "/gradebook.db", "rb").read(9)

@tries
def the_source():
    return os.listdir({course!r} + "/source")

@tries
def the_private_checks():
    return open({course!r} + "/graded.py").read()

@tries
def changing_the_private_checks():
    open({course!r} + "/graded.py", "a").write("ASKED = []")

@tries
def the_course_folder():
    return os.listdir({course!r})

@tries
def hidden_tests():
    return [*pathlib.Path("/tmp").rglob({notebook!r})][0]

@tries
def the_library():
    import course_lib.checks
    open(course_lib.checks.__file__, "a")

@tries
def the_environment():
    tempfile.TemporaryFile(dir=sys.prefix)

@tries
def the_root():
    tempfile.TemporaryFile(dir="/")

@tries
def the_system():
    tempfile.TemporaryFile(dir="/usr/bin")

@tries
def devices():
    tempfile.TemporaryFile(dir="/dev")

@tries
def the_sockets():
    return [*pathlib.Path("/proc/self/fd").glob("*/sockets"), *pathlib.Path("/proc/self/fd").glob("*/kernel-1")][0]

@tries
def the_line_to_the_grader():
    return [number for number in range(1_000) if is_from_outside(number)][0]

@tries
def the_first_process():
    open("/proc/1/mem", "r+b").read(1)

@tries
def its_files():
    return [*pathlib.Path("/proc/1/fd").iterdir()][0]

@tries
def capabilities():
    status = dict(line.split(":", 1) for line in open("/proc/self/status") if ":" in line)
    return [name for name in ("CapInh", "CapPrm", "CapEff", "CapBnd") if int(status.get(name, "0"), 16)][0]

@tries
def the_graders_variables():
    found = dict(os.environ)
    for path in pathlib.Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            found[path] = path.read_bytes()
    return [value for value in found.values() if "SOME_TOKEN" in str(value)][0]

@tries
def other_processes():
    return [number for number in os.listdir("/proc") if number.isdigit() and int(number) > 500][0]

@tries
def the_grader():
    os.kill({grader}, 0)
"""
CALLS = """
def ptraced(): called({ptrace}, 0, 0, 0, 0)
def mounted(): called({mount}, b"none", b"/tmp", b"tmpfs", 0, 0)
def filtered(): called({bpf}, 0, 0, 0)
def keyed(): called({keyctl}, 0, -3, 1)
def user_namespace(): called({unshare}, 0x10000000)
def network_namespace(): called({unshare}, 0x40000000)
def cloned(): called({clone}, 0x10000000 | 17, 0, 0, 0, 0)
def cloned_otherwise(): called({clone3}, 0, 0)
def unnamed_memory(): called({memfd_create}, b"x", 0)
def shared_memory(): called({shmget}, 0, 4096, 0o1600)
def semaphores(): called({semget}, 0, 1, 0o1600)
def rings(): called({io_uring_setup}, 1, 0)
def others_cores(): called({sched_setaffinity}, 0, 8, b"\\xff" * 8)

for call in (ptraced, mounted, filtered, keyed, user_namespace, network_namespace, cloned, cloned_otherwise,
             unnamed_memory, shared_memory, semaphores, rings, others_cores):
    tries(call)

@tries
def a_new_user():
    subprocess.run(["unshare", "--user", "true"], check=True, capture_output=True)

@tries
def nested():
    subprocess.run(["bwrap", "--ro-bind", "/", "/", "true"], check=True, capture_output=True)

@tries
def root():
    os.setuid(0) if os.getuid() else None
    open("/proc/sys/kernel/hostname", "w").write("mine")
"""
FILLS = """
import mmap

def filled(folder):
    piece = bytes(2**26)
    for number in range(100):
        with open(f"{folder}/{number}", "wb", buffering=0) as file:
            if file.write(piece) < len(piece):
                raise OSError("it is full")

@tries
def shared_memory():
    try:
        filled("/dev/shm")
    finally:
        shutil.rmtree("/dev/shm/", ignore_errors=True)

@tries
def the_disk():
    try:
        filled(os.getcwd())
    finally:
        [os.remove(name) for name in os.listdir() if name.isdigit()]

@tries
def many_files():
    os.mkdir("many")
    try:
        for number in range(30_000):
            open(f"many/{number}", "x").close()
    finally:
        shutil.rmtree("many")

@tries
def memory_in_no_file():
    mmap.mmap(-1, 2**20)

@tries
def memory_of_zeros():
    with open("/dev/zero", "r+b", buffering=0) as zeros:
        mmap.mmap(zeros.fileno(), 2**20)
"""
FORKS = """
children = []

@tries
def without_end():
    for _ in range(2_000):
        child = os.fork()
        if not child:
            import time
            time.sleep(60)
            os._exit(0)
        children.append(child)

for child in children:
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
said["children"] = "fewer than 128" if 20 < len(children) < 128 else f"did it: {len(children)}"
"""
LEAVES = """
import time
script = "import os, time; os.setsid(); os.fork() and os._exit(0); time.sleep(600)  # " + MARK
children = [subprocess.Popen([sys.executable, "-c", script], start_new_session=True) for _ in range(5)]
time.sleep(0.5)
"""


# Memory that no limit of one process counts.
TAKES = {
    "gus": """
import os, time
for _ in range(8):
    if not os.fork():
        held = b"x" * (700 * 2**20)
        time.sleep(60)
time.sleep(60)
""",
    # Of processes whose first thread has ended, the system tells nothing by their own number.
    "ida": """
import ctypes, os, threading, time
def hold():
    time.sleep(0.3)
    held = b"x" * (700 * 2**20)
    time.sleep(60)
for _ in range(8):
    if not os.fork():
        threading.Thread(target=hold).start()
        ctypes.CDLL(None).pthread_exit(None)
time.sleep(60)
""",
    "jon": """
import os, socket, time
for _ in range(60):
    if not os.fork():
        held = []
        try:
            while True:
                held += socket.socketpair()
                for end in held[-2:]:
                    end.setblocking(False)
                    try:
                        while end.send(b"x" * 60_000): pass
                    except BlockingIOError: pass
        except OSError: pass
        time.sleep(60)
time.sleep(60)
""",
    "kim": """
import mmap, time
held = mmap.mmap(-1, 2**41, mmap.MAP_PRIVATE | 0x4000, mmap.PROT_READ)
for place in range(0, 2**41, 2**21):
    held[place]
time.sleep(60)
""",
}


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    return made.make_course(tmp_path_factory.mktemp("sandbox"))


def said(course, student):
    """What the code in the cell of one answer said."""
    notebook = nbformat.read(str(course.path("autograded", student, made.NAME, f"{made.NAME}.ipynb")), as_version=4)
    (cell,) = [cell for cell in notebook.cells if grade_id(cell) == "sat"]
    printed = "".join(output.get("text", "") for output in cell.outputs)
    return json.loads(printed.partition("said ")[2].splitlines()[0])


def graded(course, student, code, seconds=30):
    """Hands in right answers, and the code in the cell of one; returns what the code said."""
    made.hand_in(course, student, made.answered(course, sat=code))
    report = grading.grade_one(dataclasses.replace(course, cell_seconds=seconds), made.NAME, student)
    assert report["state"] == "graded" and report["sandboxed"] is True, report
    points = {name: cell["points"] for name, cell in report["cells"].items()}
    assert points == {"check_softmax": 3, "check_sat": 1, "check_double": 2, "check_count": 2}, report
    assert report["reasons"] == []
    return said(course, student)


@here
@pytest.mark.notebook
def test_neither_shared_memory_nor_the_disk_can_be_filled(course):
    found = graded(course, "dan", TRIES + FILLS + ENDS, seconds=120)
    assert not [name for name, text in found.items() if text.startswith("did it")], found
    assert "No space left" in found["the_disk"] or "full" in found["the_disk"]


@here
@pytest.mark.notebook
def test_forks_come_to_an_end(course):
    found = graded(course, "eli", TRIES + FORKS + ENDS, seconds=60)
    assert found["without_end"].startswith("BlockingIOError") and found["children"] == "fewer than 128"


@here
@pytest.mark.notebook
@pytest.mark.parametrize("student", sweep(TAKES, next(iter(TAKES))))
def test_all_processes_together_have_a_limit_of_memory(course, student):
    small = dataclasses.replace(course, memory=2 * 2**30, cell_seconds=60)
    made.hand_in(course, student, made.answered(course, sat=TAKES[student]))
    report = grading.grade_one(small, made.NAME, student)
    assert report["reasons"] == ["cell 5 used more memory than allowed"] and report["state"] == "graded"
    assert [cell["points"] for cell in report["cells"].values()] == [3, 0, 2, 2]


def test_an_environment_beside_the_course_does_not_let_the_course_in(tmp_path, monkeypatch):
    for name in ("bin", "lib", "course", "private"):
        (tmp_path / name).mkdir()
    (tmp_path / "pyvenv.cfg").touch()
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    found = sandbox._environment.__wrapped__()
    assert {str(tmp_path / "bin"), str(tmp_path / "lib"), str(tmp_path / "pyvenv.cfg")} <= {*found}
    assert not {str(tmp_path), str(tmp_path / "course"), str(tmp_path / "private")} & {*found}


# ---- where there is none ----


def run(course, *arguments, **variables):
    environment = {**os.environ, "COURSE_DIRECTORY": str(course.folder), **variables}
    environment["PYTHONPATH"] = os.pathsep.join([str(ROOT), environment["PYTHONPATH"]])
    command = [sys.executable, "-m", "course_lib", "grade", *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)


@pytest.mark.notebook
def test_without_one_make_grade_says_so_in_one_line_and_grades_only_if_told_to(tmp_path):
    course = made.make_course(tmp_path)
    made.hand_in(course, "ada", made.answered(course))
    nowhere = {"PATH": str(tmp_path)}
    done = run(course, **nowhere)
    assert done.returncode == 1 and done.stdout == ""
    assert len(done.stderr.splitlines()) == 1 and "--unsandboxed" in done.stderr, done.stderr
    assert grading.kept(course, made.NAME, "ada") is None
    done = run(course, "--unsandboxed", **nowhere)
    assert done.stdout == "03_small ada: 8 of 8\n1 graded without a sandbox\n", done.stderr
    assert grading.kept(course, made.NAME, "ada")["sandboxed"] is False


@pytest.mark.notebook
def test_a_worker_without_one_grades_nothing(tmp_path, monkeypatch, request):
    course = made.make_course(tmp_path)
    course = dataclasses.replace(course, sandboxed=True)
    made.hand_in(course, "ada", made.answered(course))

    def fails(*_, **__):
        raise RuntimeError("it is a test")

    sandbox.missing.cache_clear()
    monkeypatch.setattr(sandbox, "Nursery", fails)
    monkeypatch.setattr(sandbox, "_nursery", None)
    request.addfinalizer(sandbox.missing.cache_clear)
    with pytest.raises(CourseError, match="The sandbox .*: it is a test.*=--unsandboxed"):
        grading.grade(course, [made.NAME])
    report = grading.grade_one(course, made.NAME, "ada")
    assert report["state"] == "failed" and "it is a test" in report["reasons"][0]


# ---- the filter ----


def outcome(program, machine, number, *arguments):
    """What the filter says of a call; it is read as the Linux kernel does."""
    data = struct.pack("=iIQ6Q", number, machine, 0, *arguments, *[0] * (6 - len(arguments)))
    lines, at, held = [*struct.iter_unpack("=HBBI", program)], 0, 0
    while True:
        code, if_so, if_not, value = lines[at]
        at += 1
        match code:
            case system_calls.LOAD:
                (held,) = struct.unpack_from("=I", data, value)
            case system_calls.AND:
                held &= value
            case system_calls.RETURN:
                return {0x7FFF0000: "allowed", 0x00050001: "refused", 0x00050026: "unknown"}[value]
            case system_calls.EQUAL:
                at += if_so if held == value else if_not
            case system_calls.AT_LEAST:
                at += if_so if held >= value else if_not
            case system_calls.ANY_BIT:
                at += if_so if held & value else if_not


@pytest.mark.parametrize("name", system_calls.MACHINES)
def test_the_filter_refuses_what_it_lists_and_nothing_else(name):
    column, machine = system_calls.MACHINES[name]
    program = system_calls.program(name)
    refused = {numbers[column] for numbers in system_calls.REFUSED.values()}
    special = {both[column] for both in (system_calls.CLONE3, system_calls.SOCKET)}
    for number in range(480):
        if number not in special:
            assert outcome(program, machine, number) == ("refused" if number in refused else "allowed"), number
    clone, mmap, opened = (both[column] for both in (system_calls.CLONE, system_calls.MMAP, system_calls.SOCKET))
    assert outcome(program, machine, system_calls.CLONE3[column]) == "unknown"
    assert outcome(program, machine, clone, 17) == "allowed"
    for bit in (17, 25, 26, 27, 28, 29, 30):
        assert outcome(program, machine, clone, 1 << bit | 17) == "refused"
    for flags, wanted in {
        0x01: "allowed",
        0x22: "allowed",
        0x21: "refused",
        0x23: "refused",
        0x4021: "refused",
    }.items():
        assert outcome(program, machine, mmap, 0, 4096, 3, flags) == wanted
    for family, wanted in {
        1: "allowed",
        2: "allowed",
        10: "allowed",
        40: "refused",
        38: "refused",
        17: "refused",
    }.items():
        assert outcome(program, machine, opened, family) == wanted
    assert outcome(program, 0x40000003, 39) == outcome(program, machine, 0x40000000 | 101) == "refused"


def test_there_is_a_filter_for_two_kinds_of_machine_only():
    with pytest.raises(KeyError):
        system_calls.program("riscv64")
