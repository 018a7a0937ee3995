"""Sets limits on a process. As a program, it then runs a command: `limits.py BYTES COMMAND ...`."""

import os
import resource
import sys

FILES = 512  # files open at once in a sandbox; each socket holds memory of the system
SECONDS = 30 * 60  # of processor time, in case all other limits fail


def limit(memory: int, processes: int = 0, user: int = 0) -> None:
    """Limits this process and what it starts. If `processes` or `user` is 0, it stays unchanged."""
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
