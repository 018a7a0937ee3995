"""Sets limits on this process, then becomes the command that it is given: `limits.py BYTES COMMAND ...`."""

import os
import resource
import sys

MEMORY = int(sys.argv[1])
SECONDS = 30 * 60  # of processor time: for what outlives all other limits
LIMITS = {"RLIMIT_DATA": MEMORY, "RLIMIT_CPU": SECONDS, "RLIMIT_FSIZE": 2**30, "RLIMIT_CORE": 0}

for name, wanted in LIMITS.items():
    soft, hard = resource.getrlimit(getattr(resource, name))
    limit = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(getattr(resource, name), (limit, limit))
os.execvp(sys.argv[2], sys.argv[2:])
