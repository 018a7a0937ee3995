"""Inside the sandbox: becomes kernels by forking, so that what each of them needs is imported once.

`inside.py CONTROL MEMORY PROCESSES USER MODULE ...`; CONTROL is the number of a socket. Each message on it has two open
files: the scratch folder of a kernel, and a line on which the end of either side is seen. This process never runs a
learner's code.
Of a kernel it is the great-grandparent: a child enters namespaces of its own, that one's child is their first process,
with which all others end, and only the kernel, its child, gives up what such steps need.
"""

import contextlib
import ctypes
import gc
import importlib
import json
import os
import platform
import select
import shutil
import socket
import sys
import threading
import time

from course_lib.grading import system_calls

HOME = "/tmp/learner"
ROOM = 2**30  # bytes in /tmp, and as many in shared memory
FILES = 20_000
SOCKETS = 5
SOCKET = 2**18  # bytes as which each open file counts: as many may wait in a socket
KERNEL, TRIAL = b"kernel", b"trial"
LARGEST_MESSAGE = 80_000_000  # bytes that the grader reads; the largest answer has room in it
LONGEST_TEXT = 2_000_000  # characters in one that is too large; the grader keeps fewer
TOO_MUCH = "took more memory than it may"
SENT_TOO_MUCH = "sent more at once than the grader takes"

NEW_NAMESPACES = 0x00020000 | 0x08000000 | 0x20000000 | 0x40000000  # of mounts, IPC, processes, network
NO_SET_USER, NO_DEVICES, NO_PROGRAMS = 2, 4, 8  # flags of mount
PRIVATE, BIND, READ_ONLY = 0x40000 | 0x4000, 0x1000 | 0x4000, 0x20 | 0x1000 | 1  # the first two with all below
DUMPABLE, SECCOMP, FROM_BOUNDING, NO_NEW_PRIVILEGES = 4, 22, 24, 38  # of prctl
CAPABILITIES_VERSION = 0x20080522


def _call(name: str, *arguments: object) -> None:
    """Calls the C library. Raises OSError, with the name of what failed."""
    if getattr(ctypes.CDLL(None, use_errno=True), name)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


def _prctl(option: int, *arguments: object) -> None:
    _call("prctl", option, *(ctypes.c_ulong(a) if isinstance(a, int) else a for a in (*arguments, 0, 0, 0, 0)[:4]))


def _mount(what: str, place: str, kind: str = "", flags: int = 0, options: str = "") -> None:
    texts = [text.encode() if text else None for text in (what, place, kind, options)]
    _call("mount", *texts[:3], ctypes.c_ulong(flags), texts[3])


def serve(control: socket.socket, *limited: int) -> None:
    """Makes a kernel for each message, until nobody is there to send one."""
    if len(os.listdir("/proc/self/task")) > 1:
        raise RuntimeError("a process with threads cannot be forked safely")
    gc.collect()
    gc.freeze()
    control.send(b"ready")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(nowhere, number)
    while True:
        kind, numbers, _, _ = socket.recv_fds(control, 16, 2)
        if not kind:
            return
        child = os.fork()
        if not child:
            control.close()
            _ending_in(numbers[1], _enclose, kind, *numbers, *limited)
        for number in numbers:
            os.close(number)
        os.waitpid(child, 0)


def _ending_in(line: int, do, *arguments: object) -> None:
    """Does it and ends; what it raises is said on the line."""
    try:
        do(*arguments)
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.write(line, f"{type(error).__name__}: {error}".encode()[:500])
    finally:
        os._exit(1)


def _enclose(kind: bytes, folder: int, line: int, *limited: int) -> None:
    _call("unshare", NEW_NAMESPACES)
    if not os.fork():
        _ending_in(line, _watch, kind, folder, line, *limited)


def _watch(kind: bytes, folder: int, line: int, *limited: int) -> None:
    """Is the first process of its namespaces: they end with it, and it ends with the kernel, or when the line does."""
    plain, room = NO_SET_USER | NO_DEVICES, f"mode=1777,size={ROOM},nr_inodes={FILES}"
    _mount("", "/", flags=PRIVATE)
    # The course or its environment may lie in /tmp, which is covered.
    there = {f"/tmp/{name}": os.open(f"/tmp/{name}", os.O_PATH) for name in os.listdir("/tmp")}
    for place in ("/tmp", "/dev/shm"):
        _mount("tmpfs", place, "tmpfs", plain, room)
    for place, number in there.items():
        if place != HOME and os.path.isdir(f"/proc/self/fd/{number}"):
            os.mkdir(place)
            _mount(f"/proc/self/fd/{number}", place, flags=BIND)
            _mount("", place, flags=READ_ONLY | plain)
        os.close(number)
    _mount("proc", "/proc", "proc", plain | NO_PROGRAMS)
    kernel = os.fork()
    if not kernel:
        _ending_in(line, _become, kind, folder, line, *limited)
    os.close(folder)
    _prctl(DUMPABLE, 0)  # no kernel reads its memory
    while not select.select([line], [], [], 0.1)[0]:
        ended = True
        while ended:
            ended, status = os.waitpid(-1, os.WNOHANG)
            if ended == kernel:
                os.write(line, str(os.waitstatus_to_exitcode(status)).encode())
                return
        # The first is cheap, and counts pages that are shared as often as they are.
        most = limited[0] + ROOM
        if _taken("status", "VmRSS:") > most and _taken("smaps_rollup", "Pss:") > most:
            os.write(line, TOO_MUCH.encode())
            return


def _taken(file: str, name: str) -> int:
    """Bytes of memory that all processes here have, with what the system keeps for them."""
    total = 0
    for process in filter(str.isdecimal, os.listdir("/proc")):
        with contextlib.suppress(OSError):  # it has just ended
            for thread in os.listdir(f"/proc/{process}/task"):  # the first may have ended before the others
                place = f"/proc/{process}/task/{thread}"
                if found := _number(f"{place}/{file}", name):
                    total += 1024 * (found + _number(f"{place}/status", "VmPTE:"))
                    total += SOCKET * _number(f"{place}/status", "FDSize:")
                    break
    return total


def _number(file: str, name: str) -> int:
    """The number behind a name in a file of /proc; 0 if it is not there."""
    with contextlib.suppress(OSError, ValueError), open(file) as found:
        words = found.read().split()
        return int(words[words.index(name) + 1])
    return 0


def _become(kind: bytes, folder: int, line: int, memory: int, processes: int, user: int) -> None:
    from course_lib.grading import limits  # of POSIX

    os.setsid()
    for number in range(64):
        with contextlib.suppress(OSError):  # there are fewer
            _prctl(FROM_BOUNDING, number)
    limits.limit(memory, processes, user)
    _call("capset", (ctypes.c_uint32 * 2)(CAPABILITIES_VERSION, 0), (ctypes.c_uint32 * 6)())
    _prctl(NO_NEW_PRIVILEGES, 1)
    _prctl(DUMPABLE, 1)  # that it may read its own /proc/self
    program = system_calls.program(platform.machine())
    lines = ctypes.create_string_buffer(program, len(program))

    class Filter(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("lines", ctypes.c_void_p)]

    _prctl(SECCOMP, 2, ctypes.byref(Filter(len(program) // system_calls.LINE, ctypes.addressof(lines))))
    os.mkdir(HOME)
    os.chdir(HOME)
    if kind == TRIAL:
        threading.Thread(target=int).start()
        os.fork()
    else:
        os.close(line)
        _kernel(folder)
    os._exit(0)


def _kernel(folder: int) -> None:
    import numpy as np
    from ipykernel.kernelapp import IPKernelApp
    from jupyter_client.session import Session

    class Brief(Session):
        def serialize(self, message, ident=None):
            parts = super().serialize(message, ident)
            if max(map(len, parts)) <= LARGEST_MESSAGE:
                return parts
            return super().serialize({**message, "content": _shortened(message["content"])}, ident)

    class App(IPKernelApp):
        def _session_default(self):
            return Brief(parent=self)

        def init_iopub(self, context):
            context.sndhwm = 0  # what is put out faster than the grader reads waits here, and is not lost
            super().init_iopub(context)

    here = f"/proc/self/fd/{folder}"
    np.random.seed()  # or all would draw the same
    with open(f"{here}/given/kernel.json", encoding="utf-8") as file:
        connection = json.load(file)
    connection["ip"] = f"{here}/sockets/kernel"
    with open("kernel.json", "w", encoding="utf-8") as file:
        json.dump(connection, file)
    app = App.instance()
    app.initialize(["-f", f"{HOME}/kernel.json"])
    while len(os.listdir(f"{here}/sockets")) < SOCKETS:  # one is made in a thread of its own
        time.sleep(0.01)
    with contextlib.suppress(OSError):  # as much as there is room for
        shutil.copytree(f"{here}/given/work", "work", symlinks=True)
    os.close(folder)  # what lies outside of the sandbox is out of reach, before anything of the learner's runs
    os.chdir("work")
    sys.path.insert(0, "")  # modules that were handed in
    app.start()


def _shortened(value: object) -> object:
    if isinstance(value, str):
        return value[:LONGEST_TEXT]
    if isinstance(value, dict):
        return {name: _shortened(item) for name, item in value.items()}
    return [*map(_shortened, value)] if isinstance(value, list) else value


if __name__ == "__main__":
    for module in sys.argv[5:]:
        importlib.import_module(module)
    serve(socket.socket(fileno=int(sys.argv[1])), *map(int, sys.argv[2:5]))
