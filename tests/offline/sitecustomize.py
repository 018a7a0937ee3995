"""No process of the test run talks to another host.

`tests/conftest.py` puts this folder first on PYTHONPATH, so every Python that the tests start, kernels and
workers included, imports this file before anything else.
"""

import socket
import sys

sys.modules["rfc3987_syntax"] = None  # jsonschema takes a second to read 38 grammars, in each process, and asks none

ASKING = {"socket.getaddrinfo", "socket.gethostbyname"}  # arguments: host, ...
TALKING = {"socket.connect", "socket.sendto", "socket.sendmsg"}  # arguments: socket, address


def refuse(event, arguments):
    if event in ASKING:
        host = arguments[0]
    elif event in TALKING:
        address = arguments[1]
        if not isinstance(address, tuple):  # a file of this machine (AF_UNIX), or a socket already connected
            return
        host = address[0]
    else:
        return
    host = host.decode() if isinstance(host, bytes) else host
    here = host in (None, "", "localhost", "::1", "0.0.0.0", socket.gethostname())
    if not here and not host.startswith("127."):
        raise PermissionError(f"the tests allow no network, but something asked for {host!r} ({event})")


sys.addaudithook(refuse)
