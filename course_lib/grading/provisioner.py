"""Starts and contains the kernel that runs a learner's code.

The kernel runs in a sandbox (`course_lib.grading.sandbox`), unless the course says otherwise. Without one, it gets a
working folder with copies of the submitted files, an empty home, and only the environment variables that Python needs.
Memory, processor time and file size are limited if the system allows it, and processes left in its session end with it.
Such a kernel runs as the instructor's user. So it can read and write that user's files, reach the network, and start
processes that leave its session.
"""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from importlib.metadata import EntryPoint
from pathlib import Path

import zmq
from jupyter_client.asynchronous import AsyncKernelClient
from jupyter_client.manager import AsyncKernelManager
from jupyter_client.provisioning import KernelProvisionerFactory, LocalProvisioner
from jupyter_client.session import json_unpacker
from traitlets import Type

from course_lib.checks import record
from course_lib.grading import inside, sandbox

NAME = "course-contained"
LIMITER = Path(__file__).with_name("limits.py")
PASSED_ON = {
    *("PATH", "PYTHONPATH", "VIRTUAL_ENV", "LD_LIBRARY_PATH", "LANG", "TZ"),
    *("PATHEXT", "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC"),  # Windows
}
BEGINNINGS = ("LC_", "CONDA_")
MESSAGES = 8  # that can wait to be read
ROOM = 10**9  # bytes that this process may gain while a kernel runs; the largest answer takes half
MOST_VALUES = 2_000_000  # in a message; as Python objects they take a hundred times their text
STRING = re.compile(rb'"(?:[^"\\]|\\.)*+"')


class Contained(LocalProvisioner):
    """Runs a local kernel in a scratch folder, with limits, and in a sandbox if its manager says so."""

    scratch = folder = None

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.over = threading.Event()

    async def pre_launch(self, **kwargs):
        self.scratch = Path(tempfile.mkdtemp(prefix="course-kernel-"))
        try:
            if self.parent.sandboxed:
                self.folder = os.open(self.scratch, os.O_RDONLY | os.O_DIRECTORY)
                # Named by number, here and inside, since a socket's path has at most 107 characters.
                self.parent.transport, self.parent.ip = "ipc", f"/proc/self/fd/{self.folder}/sockets/kernel"
            return self._contained(await super().pre_launch(**kwargs))
        except BaseException:
            self._clear()
            raise

    def _contained(self, kwargs):
        given = self.scratch / "given"
        handed_in, work = kwargs.get("cwd"), given / "work"
        # Leave out the notebook, whose instructor's cells include the hidden tests, and the mark of a workbook, since
        # checks would log there.
        without = shutil.ignore_patterns("*.ipynb", record.FILE)
        shutil.copytree(handed_in, work, symlinks=True, ignore=without) if handed_in else work.mkdir(parents=True)
        variables = {n: v for n, v in kwargs["env"].items() if n in PASSED_ON or n.startswith(BEGINNINGS)}
        if self.parent.sandboxed:
            return kwargs | {"env": variables}
        variables |= dict.fromkeys(("HOME", "USERPROFILE", "TMPDIR", "TEMP", "TMP"), str(given))
        kwargs["env"] = variables | {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
        kwargs["cwd"] = str(work)
        kwargs |= {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}  # of the kernel itself, not of its cells
        if os.name == "posix":
            kwargs["cmd"] = [sys.executable, "-I", "-S", str(LIMITER), str(self.parent.memory), *kwargs["cmd"]]
        return kwargs

    async def launch_kernel(self, cmd, **kwargs):
        if not self.parent.sandboxed:
            return await super().launch_kernel(cmd, **kwargs)
        (self.scratch / "sockets").mkdir()
        shutil.copyfile(self.parent.connection_file, self.scratch / "given" / "kernel.json")
        if user := sandbox.user():
            for path in (self.scratch, *self.scratch.rglob("*")):
                os.chown(path, user, user, follow_symlinks=False)
        self.process = sandbox.kernel(self.folder, self.parent.memory, kwargs["env"])
        threading.Thread(target=self._watch, args=(self.process, _memory()), daemon=True).start()
        return self.connection_info

    def _watch(self, kernel, before):
        """Ends a kernel that fills this process: ZeroMQ keeps every part of a message until the last arrives."""
        while not self.over.wait(0.05):
            if _memory() > before + ROOM:
                kernel.said = inside.SENT_TOO_MUCH
                kernel.send_signal(signal.SIGKILL)
                return

    def _clear(self):
        self.over.set()
        if self.folder is not None:
            os.close(self.folder)
            self.folder = None
        if self.scratch:
            shutil.rmtree(self.scratch, ignore_errors=True)

    async def cleanup(self, restart=False):
        await super().cleanup(restart)
        if self.pgid and hasattr(os, "killpg") and self.pgid != os.getpgid(0):
            with contextlib.suppress(OSError):  # the kernel's session has already ended
                os.killpg(self.pgid, signal.SIGKILL)
            self.pgid = None
        self._clear()


def _memory() -> int:
    """Returns the bytes of memory of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


def unpack(text: bytes) -> object:
    """Reads a part of a message. Raises ValueError if it has so many values that they would fill the memory."""
    if _values(text) > MOST_VALUES and _values(STRING.sub(b"", text)) > MOST_VALUES:
        raise ValueError(f"a message of more than {MOST_VALUES} values")
    return json_unpacker(text)


def _values(text: bytes) -> int:
    return sum(text.count(mark) for mark in (b",", b"[", b"{"))


class Listener(AsyncKernelClient):
    """Limits what it takes from a sandboxed kernel at once. The rest waits there and counts as that kernel's memory."""

    def _context_default(self):
        context = super()._context_default()
        if self.parent.sandboxed:
            context.setsockopt(zmq.MAXMSGSIZE, inside.LARGEST_MESSAGE)
            context.setsockopt(zmq.RCVHWM, MESSAGES)
        return context

    def start_channels(self, **which):
        self.session.unpack = unpack
        super().start_channels(**which | {"stdin": False})  # nobody reads it


class ContainedKernelManager(AsyncKernelManager):
    """Starts every kernel with `Contained`, whatever its specification says.

    `memory` is the most bytes that the kernel may have, and `sandboxed` is whether it gets a sandbox.
    """

    memory = 4 * 2**30
    sandboxed = True
    client_factory = Type(Listener, klass=AsyncKernelClient)

    @property
    def kernel_spec(self):
        spec = super().kernel_spec
        entry = EntryPoint(NAME, f"{__name__}:{Contained.__name__}", KernelProvisionerFactory.GROUP_NAME)
        KernelProvisionerFactory.provisioners[NAME] = entry
        if self.sandboxed:
            spec.interrupt_mode = "message"  # signals can't reach into a sandbox
        spec.metadata["kernel_provisioner"] = {"provisioner_name": NAME, "config": {}}
        return spec
