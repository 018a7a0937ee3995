"""Runs a learner's kernel in a sandbox, made with bubblewrap on Linux.

Inside are the system's programs, the Python environment and the course's library, all read-only. One folder of limited
size is writable and has a copy of the submitted files. There is no network, and there are no processes but the kernel's
own, which end with it. Bubblewrap sets up the read-only part once, around a process (`inside`). That process forks each
kernel and sets up the kernel's own part.
"""

import atexit
import contextlib
import os
import platform
import select
import shutil
import site
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from course_lib.files import ROOT
from course_lib.grading import inside, system_calls

PROCESSES = 128  # threads count as processes
START = 60  # seconds
IMPORTED = ("ipykernel.kernelapp", "course_lib.checks", "course_lib.glossary", "course_lib.plotting")
# One thread, since a process with several cannot be forked safely.
INSIDE = {
    **dict.fromkeys(("HOME", "TMPDIR", "TEMP", "TMP"), inside.HOME),
    **dict.fromkeys(("USER", "LOGNAME"), "learner"),
    **dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1"),
    "MPLBACKEND": "module://matplotlib_inline.backend_inline",
}

_PARTS = ("bin", "sbin", "lib", "lib32", "lib64", "libexec", "include", "share")
SYSTEM = [
    *(f"/{name}" for name in ("bin", "sbin", "lib", "lib32", "lib64")),
    *(f"/usr/{name}" for name in _PARTS),
    *(f"/usr/local/{name}" for name in _PARTS),
    *(f"/etc/{name}" for name in ("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "fonts", "localtime")),
    "/sys/devices/system/cpu",  # where torch reads what the processor can do
]
# User ids that belong to nobody, from the range that systemd gives to running services.
NOBODIES = range(61_184, 65_520)


def user() -> int:
    """Returns the kernel's user id: 0 for the instructor, or for root a user who owns nothing and has limits."""
    return NOBODIES[os.getpid() % len(NOBODIES)] if os.geteuid() == 0 else 0


def _path() -> str:
    """Returns the PYTHONPATH inside, with this library first."""
    return os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))


@cache
def _environment() -> list[str]:
    """Returns the folders of this Python, its packages and the library that are not in the system's folders."""
    # Only these parts, since one folder may hold both the environment and the course.
    prefixes = {sys.prefix, sys.base_prefix, str(Path(sys.executable).resolve().parents[1])}
    found = {f"{prefix}/{part}" for prefix in prefixes for part in (*_PARTS, "etc", "pyvenv.cfg")}
    found |= {
        path for path in [*sys.path, *site.getsitepackages()] if path.endswith(("site-packages", "dist-packages"))
    }
    found = {path for path in found | {str(ROOT / "course_lib")} if os.path.exists(path)} | {*SYSTEM}
    inner = {path for path in found if any(str(above) in found for above in Path(path).parents)}
    return sorted(found - inner - {*SYSTEM})


def _readable(path: str) -> list[str]:
    # Otherwise bubblewrap would let only its own user enter the parent folders.
    above = [option for folder in reversed(Path(path).parents[:-1]) for option in ("--dir", str(folder))]
    return [*above, "--ro-bind", path, path]


def _bubblewrap(*more: str) -> list[str]:
    options = ["bwrap", "--die-with-parent", "--new-session", "--unshare-ipc", "--unshare-pid", "--unshare-net"]
    options += ["--unshare-uts", "--unshare-cgroup-try", "--cap-drop", "ALL", *more]
    for name in ("SYS_ADMIN", "SETPCAP", "SYS_PTRACE"):  # each kernel gives these up
        options += ["--cap-add", f"CAP_{name}"]
    options += ["--perms", "1777", "--tmpfs", "/tmp"]  # first, since a clone may be in the instructor's /tmp
    for path in SYSTEM:
        if os.path.islink(path) and os.path.dirname(path) == "/":
            options += ["--symlink", os.readlink(path), path]
        elif os.path.exists(path):
            options += _readable(path)
    for path in _environment():
        options += _readable(path)
    options += ["--proc", "/proc", "--dev", "/dev"]
    options += ["--dev-bind", "/dev/null", "/dev/zero"]  # it could give shared memory that no limit counts
    return [*options, "--remount-ro", "/dev", "--remount-ro", "/", "--"]


class Kernel:
    """Represents a kernel in the sandbox, with the interface of a process for jupyter_client."""

    stdin = stdout = stderr = None

    def __init__(self, line: socket.socket):
        line.setblocking(False)
        self.line, self.returncode, self.said = line, None, ""

    def poll(self) -> int | None:
        """Returns the exit code, -9 if the kernel was ended from outside, or None if it still runs."""
        if self.returncode is None:
            try:
                self.said = self.line.recv(1000).decode() or self.said
            except BlockingIOError:
                return None
            self.returncode = int(self.said) if self.said.lstrip("-").isdecimal() else -9
            self.line.close()
        return self.returncode

    def wait(self, seconds: float | None = None) -> int | None:
        if self.returncode is None:
            select.select([self.line], [], [], seconds)
        return self.poll()

    def send_signal(self, number: int) -> None:
        """Ends the kernel, whatever the signal, since none can reach into a sandbox."""
        if self.returncode is None:
            with contextlib.suppress(OSError):
                self.line.shutdown(socket.SHUT_WR)


class Nursery:
    """Starts a process in bubblewrap that forks kernels (`inside`).

    Args:
        memory: bytes that each process of a kernel may have.
        variables: the environment of its kernels.
        imported: the modules that are imported before forking.
    Raises:
        RuntimeError: the sandbox does not work here; the message says why.
    """

    def __init__(self, memory: int, variables: Mapping[str, str], imported: Sequence[str] = IMPORTED):
        self.asked = memory, variables
        if sys.platform != "linux":
            raise RuntimeError("it needs Linux")
        if platform.machine() not in system_calls.MACHINES:
            raise RuntimeError(f"it has no list of system calls for {platform.machine()}")
        if not shutil.which("bwrap"):
            raise RuntimeError("bubblewrap is not installed")
        as_root = ("--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID")
        for more in [as_root] if user() else [("--unshare-user", "--disable-userns"), ("--unshare-user",)]:
            self.control, theirs = socket.socketpair()
            self.control.settimeout(START)
            start = [sys.executable, "-P", inside.__file__, theirs.fileno(), memory, PROCESSES, user(), *imported]
            options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
            options |= {"pass_fds": [theirs.fileno()], "cwd": "/", "env": variables | INSIDE | {"PYTHONPATH": _path()}}
            with theirs:
                self.process = subprocess.Popen([*_bubblewrap(*more), *map(str, start)], **options)
            atexit.register(self.close)
            try:
                reason = self._tried()
            except OSError as error:
                reason = self._last_words() if self.process.poll() is not None else str(error)
            if not reason:
                return
            self.close()
        raise RuntimeError(reason)

    def _tried(self) -> str | None:
        """Starts a trial kernel; returns the reason if that fails, otherwise None."""
        if not self.control.recv(16):
            return self._last_words()
        with tempfile.TemporaryDirectory(prefix="course-trial-") as folder:
            number = os.open(folder, os.O_RDONLY)
            trial = self.start(number, inside.TRIAL)
            os.close(number)
        if trial.wait(START) == 0:
            return None
        return trial.said or ("a trial did not end" if self.process.poll() is None else self._last_words())

    def _last_words(self) -> str:
        said = self.process.communicate()[1].decode(errors="replace").strip().splitlines()
        return said[-1] if said else f"its process ended with exit code {self.process.returncode}"

    def start(self, folder: int, kind: bytes = inside.KERNEL) -> Kernel:
        """Starts a kernel.

        Args:
            folder: the open file number of its scratch folder, with `given/kernel.json`, `given/work`, and `sockets`.
        Raises:
            OSError: the process has ended.
        """
        line, theirs = socket.socketpair()
        with theirs:
            socket.send_fds(self.control, [kind], [folder, theirs.fileno()])
        return Kernel(line)

    def close(self) -> None:
        atexit.unregister(self.close)
        self.control.close()
        self.process.kill()
        self.process.communicate()


_nursery: Nursery | None = None


@cache
def missing() -> str | None:
    """Returns why a trial of the sandbox fails here, or None if it works."""
    try:
        Nursery(2**32, {"PATH": os.environ.get("PATH", os.defpath)}, imported=()).close()
    except RuntimeError as error:
        return str(error)
    return None


def kernel(folder: int, memory: int, variables: Mapping[str, str]) -> Kernel:
    """Starts a kernel in a sandbox, from the last kernel's process if memory and variables are the same.

    Args:
        folder: as for `Nursery.start`.
    Raises:
        RuntimeError: the sandbox does not work here.
    """
    global _nursery
    if _nursery and (_nursery.asked != (memory, variables) or _nursery.process.poll() is not None):
        _nursery.close()
        _nursery = None
    try:
        _nursery = _nursery or Nursery(memory, variables)
    except RuntimeError as error:
        raise RuntimeError(f"there is no sandbox: {error}") from None
    return _nursery.start(folder)
