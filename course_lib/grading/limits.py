"""Sets limits on a process. As a program it becomes the command that it is given: `limits.py BYTES COMMAND ...`."""

import os
import resource
import sys

FILES = 512  # open at once, in a sandbox: a socket holds memory of the system's
SECONDS = 30 * 60  # of processor time: for what outlives all other limits


def limit(memory: int, processes: int = 0, user: int = 0) -> None:
    """Limits this process and what it starts; processes and user stay as they are where they are 0."""
    limits = {"RLIMIT_DATA": memory, "RLIMIT_CPU": SECONDS, "RLIMIT_FSIZE": 2**30, "RLIMIT_CORE": 0}
    if processes:
        limits |= {"RLIMIT_NPROC": processes, "RLIMIT_NOFILE": FILES}
    for name, wanted in limits.items():
        soft, hard = resource.getrlimit(getattr(resource, name))
        most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(getattr(resource, name), (most, most))
    if user:
        os.setgroups([])
        os.setgid(user)
        os.setuid(user)


if __name__ == "__main__":
    limit(int(sys.argv[1]))
    os.execvp(sys.argv[2], sys.argv[2:])
