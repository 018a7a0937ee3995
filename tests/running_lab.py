"""A JupyterLab that a test starts and ends, with settings and a workbook of its own."""

import contextlib
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request


def own_copy(root, folder):
    """Copies the course as it stands, without the user's workbook and all else that git ignores."""
    ignored = [line.strip("/") for line in (root / ".gitignore").read_text().split()]
    return shutil.copytree(root, folder, ignore=shutil.ignore_patterns(".git", *ignored))


def free_ports(count):
    """Ports on which nobody listens."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


class Lab:
    """JupyterLab as `make lab` starts it from the folder `course`; `address` holds the token.

    Learners have no nbgrader, which the tests need: it is kept out of sight.

    Args:
        folder: for the log, and for settings that are not the user's.
        environment: further variables of the server and its kernels.
    """

    def __init__(self, course, folder, *arguments, environment=()):
        self.course, self.log = course, folder / "lab.txt"
        own = {
            "JUPYTER_CONFIG_DIR": "config",
            "JUPYTER_DATA_DIR": "data",
            "JUPYTER_RUNTIME_DIR": "run",
            "IPYTHONDIR": "ipython",
        }
        self.environment = {
            **os.environ,
            **dict(environment),
            **{name: str(folder / place) for name, place in own.items()},
            "PYTHONPATH": os.pathsep.join(filter(None, [str(course), os.environ.get("PYTHONPATH")])),
        }
        settings = folder / "config" / "labconfig" / "page_config.json"
        settings.parent.mkdir(parents=True)
        settings.write_text('{"disabledExtensions": {"@jupyter/nbgrader": true}}')
        (self.port,) = free_ports(1)
        self.command = [sys.executable, "-P", "-m", "course_lib", "lab", "--no-browser", f"--port={self.port}"]
        self.command += arguments

    def __enter__(self):
        with self.log.open("w") as output:
            self.process = subprocess.Popen(
                self.command, cwd=self.course, env=self.environment, stdout=output, stderr=subprocess.STDOUT
            )
        address = re.compile(rf"http://127\.0\.0\.1:{self.port}/\S*\?token=\w+")
        give_up = time.monotonic() + 600
        try:
            while not (found := address.search(self.log.read_text())):
                assert self.process.poll() is None and time.monotonic() < give_up, self.log.read_text()
                time.sleep(0.1)
        except BaseException:
            self.__exit__()
            raise
        self.address = found[0]
        self.base, self.token = self.address.split("/lab")[0], self.address.split("token=")[1]
        return self

    def __exit__(self, *_):
        self.process.terminate()  # which ends its kernels too
        self.process.wait(timeout=300)

    def ask(self, path, method="GET"):
        """What the server's REST interface answers."""
        request = urllib.request.Request(f"{self.base}/{path}?token={self.token}", method=method)
        with urllib.request.urlopen(request, timeout=120) as answer:
            return json.loads(answer.read() or "null")

    def end_kernels(self):
        for kernel in self.ask("api/kernels"):
            self.ask(f"api/kernels/{kernel['id']}", "DELETE")
