"""Starts the kernel that a learner's code runs in: the one place where that code is contained.

What it does today: a working folder of its own with copies of what was handed in, and an empty home; none of the
instructor's environment variables but a few that Python needs; limits of memory, processor time and file size, where
the system has them; what the kernel leaves running in its session is ended with it.

What it does not do: the kernel runs as the instructor's user, so it may read and write that user's files, reach the
network, and start processes that leave its session. A sandbox such as bubblewrap goes here: it is one more command in
front of the kernel's (`Contained.pre_launch`), and nothing else in the grader has to change.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from importlib.metadata import EntryPoint
from pathlib import Path

from jupyter_client.manager import AsyncKernelManager
from jupyter_client.provisioning import KernelProvisionerFactory, LocalProvisioner

NAME = "course-contained"
LIMITER = Path(__file__).with_name("limits.py")
PASSED_ON = {
    *("PATH", "PYTHONPATH", "VIRTUAL_ENV", "LD_LIBRARY_PATH", "LANG", "TZ"),
    *("PATHEXT", "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC"),  # Windows
}
BEGINNINGS = ("LC_", "CONDA_")


class Contained(LocalProvisioner):
    """A local kernel in a scratch folder, with limits."""

    scratch = None

    async def pre_launch(self, **kwargs):
        kwargs = await super().pre_launch(**kwargs)
        handed_in = kwargs.get("cwd")
        self.scratch = Path(tempfile.mkdtemp(prefix="course-kernel-"))
        work = self.scratch / "work"
        shutil.copytree(handed_in, work, symlinks=True) if handed_in else work.mkdir()
        given = {n: v for n, v in kwargs["env"].items() if n in PASSED_ON or n.startswith(BEGINNINGS)}
        home = str(self.scratch)
        kwargs["env"] = given | dict.fromkeys(("HOME", "USERPROFILE", "TMPDIR", "TEMP", "TMP"), home)
        kwargs["env"] |= {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
        kwargs["cwd"] = str(work)
        kwargs |= {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}  # the kernel's own, not its cells'
        if os.name == "posix":
            kwargs["cmd"] = [sys.executable, "-I", "-S", str(LIMITER), str(self.parent.memory), *kwargs["cmd"]]
        return kwargs

    async def cleanup(self, restart=False):
        await super().cleanup(restart)
        if self.pgid and hasattr(os, "killpg") and self.pgid != os.getpgid(0):
            with contextlib.suppress(OSError):  # nothing of the kernel's session is left
                os.killpg(self.pgid, signal.SIGKILL)
            self.pgid = None
        if self.scratch:
            shutil.rmtree(self.scratch, ignore_errors=True)


class ContainedKernelManager(AsyncKernelManager):
    """Starts any kernel, whatever its specification says, by `Contained`.

    Its `memory` is the largest number of bytes that the kernel may have.
    """

    memory = 4 * 2**30

    @property
    def kernel_spec(self):
        spec = super().kernel_spec
        entry = EntryPoint(NAME, f"{__name__}:{Contained.__name__}", KernelProvisionerFactory.GROUP_NAME)
        KernelProvisionerFactory.provisioners[NAME] = entry
        spec.metadata["kernel_provisioner"] = {"provisioner_name": NAME, "config": {}}
        return spec
