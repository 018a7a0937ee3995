"""Forks kernels inside the sandbox, so that everything they need is imported only once.

`inside.py CONTROL MEMORY PROCESSES USER MODULE ...`; CONTROL is the number of a socket. Each message on it has two open
files: the scratch folder of a kernel, and a socket on which each side notices the end of the other. This process never
runs a learner's code.
It is the great-grandparent of a kernel. Its child enters new namespaces. That child's child is the first process there,
and all others end with it. Only its child, the kernel, gives up the rights that these steps need.
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
ROOM = 2**30  # bytes in /tmp, and again as many in shared memory
FILES = 20_000
SOCKETS = 5
SOCKET = 2**18  # bytes that each open file counts as, since that many can wait in a socket
KERNEL, TRIAL = b"kernel", b"trial"
LARGEST_MESSAGE = 80_000_000  # bytes that the grader reads; enough for the largest answer
LONGEST_TEXT = 2_000_000  # characters of each text in a message that is too large; the grader keeps fewer
TOO_MUCH = "used more memory than allowed"
SENT_TOO_MUCH = "sent more at once than the grader accepts"

NEW_NAMESPACES = 0x00020000 | 0x08000000 | 0x20000000 | 0x40000000  # of mounts, IPC, processes, network
NO_SET_USER, NO_DEVICES, NO_PROGRAMS = 2, 4, 8  # flags of mount
PRIVATE, BIND, READ_ONLY = (
    0x40000 | 0x4000,
    0x1000 | 0x4000,
    0x20 | 0x1000 | 1,
)  # the first two include all mounts below
DUMPABLE, SECCOMP, FROM_BOUNDING, NO_NEW_PRIVILEGES = 4, 22, 24, 38  # of prctl
CAPABILITIES_VERSION = 0x20080522


def _call(name: str, *arguments: object) -> None:
    """Calls a function of the C library. Raises OSError with its name if it fails."""
    if getattr(ctypes.CDLL(None, use_errno=True), name)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


def _prctl(option: int, *arguments: object) -> None:
    _call("prctl", option, *(ctypes.c_ulong(a) if isinstance(a, int) else a for a in (*arguments, 0, 0, 0, 0)[:4]))


def _mount(what: str, place: str, kind: str = "", flags: int = 0, options: str = "") -> None:
    texts = [text.encode() if text else None for text in (what, place, kind, options)]
    _call("mount", *texts[:3], ctypes.c_ulong(flags), texts[3])


def serve(control: socket.socket, *limited: int) -> None:
    """Makes a kernel for each message until the other side closes the socket."""
    if len(os.listdir("/proc/self/task")) > 1:
        raise RuntimeError("a process with several threads cannot be forked safely")
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
    """Calls `do` and ends the process; an error is sent on the line."""
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
    """Runs as the first process of its namespaces, which end with it. It ends with the kernel, or with the line."""
    plain, room = NO_SET_USER | NO_DEVICES, f"mode=1777,size={ROOM},nr_inodes={FILES}"
    _mount("", "/", flags=PRIVATE)
    # The course or its environment may be in /tmp, which a new mount hides.
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
    _prctl(DUMPABLE, 0)  # so that no kernel can read this process's memory
    while not select.select([line], [], [], 0.1)[0]:
        ended = True
        while ended:
            ended, status = os.waitpid(-1, os.WNOHANG)
            if ended == kernel:
                os.write(line, str(os.waitstatus_to_exitcode(status)).encode())
                return
        # VmRSS is cheap, but counts shared pages several times; Pss counts them once.
        most = limited[0] + ROOM
        if _taken("status", "VmRSS:") > most and _taken("smaps_rollup", "Pss:") > most:
            os.write(line, TOO_MUCH.encode())
            return


def _taken(file: str, name: str) -> int:
    """Returns the bytes of memory of all processes here, with page tables and open files."""
    total = 0
    for process in filter(str.isdecimal, os.listdir("/proc")):
        with contextlib.suppress(OSError):  # the process has just ended
            for thread in os.listdir(f"/proc/{process}/task"):  # the main thread may have ended before the others
                place = f"/proc/{process}/task/{thread}"
                if found := _number(f"{place}/{file}", name):
                    total += 1024 * (found + _number(f"{place}/status", "VmPTE:"))
                    total += SOCKET * _number(f"{place}/status", "FDSize:")
                    break
    return total


def _number(file: str, name: str) -> int:
    """Returns the number after a name in a file of /proc, or 0 if the name isn't there."""
    with contextlib.suppress(OSError, ValueError), open(file) as found:
        words = found.read().split()
        return int(words[words.index(name) + 1])
    return 0


def _become(kind: bytes, folder: int, line: int, memory: int, processes: int, user: int) -> None:
    from course_lib.grading import limits  # only on POSIX

    os.setsid()
    for number in range(64):
        with contextlib.suppress(OSError):  # there are fewer than 64
            _prctl(FROM_BOUNDING, number)
    limits.limit(memory, processes, user)
    _call("capset", (ctypes.c_uint32 * 2)(CAPABILITIES_VERSION, 0), (ctypes.c_uint32 * 6)())
    _prctl(NO_NEW_PRIVILEGES, 1)
    _prctl(DUMPABLE, 1)  # it must read its own /proc/self
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
            context.sndhwm = 0  # output that the grader has not read yet waits here, so that none is lost
            super().init_iopub(context)

    here = f"/proc/self/fd/{folder}"
    np.random.seed()  # otherwise all kernels would draw the same numbers
    with open(f"{here}/given/kernel.json", encoding="utf-8") as file:
        connection = json.load(file)
    connection["ip"] = f"{here}/sockets/kernel"
    with open("kernel.json", "w", encoding="utf-8") as file:
        json.dump(connection, file)
    app = App.instance()
    app.initialize(["-f", f"{HOME}/kernel.json"])
    while len(os.listdir(f"{here}/sockets")) < SOCKETS:  # a thread makes one of them
        time.sleep(0.01)
    with contextlib.suppress(OSError):  # copies as much as fits
        shutil.copytree(f"{here}/given/work", "work", symlinks=True)
    os.close(folder)  # closes the way out of the sandbox before any of the learner's code runs
    os.chdir("work")
    sys.path.insert(0, "")  # to find modules that were handed in
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
