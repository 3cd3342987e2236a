"""Says in one line why the console cannot listen at HOST and PORT, and what to give instead; nothing where it can.

    python3 scripts/can_listen.py HOST PORT

Streamlit would say it with a traceback, or without a reason.
"""

from __future__ import annotations

import errno
import socket
import sys

ANOTHER = "choose another: make run PORT=8600"


def problem(host: str, port: str) -> str | None:
    """Tries it, as Streamlit will."""
    if not port.isascii() or not port.isdigit() or int(port) > 65535:
        return f"PORT={port} is not a port: a port is a number up to 65535, as in make run PORT=8600"
    try:
        with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as listening:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind((host, int(port)))
            listening.listen(1)
    except socket.gaierror:
        return f"HOST={host} is no name that this machine knows: leave HOST out, or give an address of this machine"
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            return f"port {port} of {host} is in use: stop what listens there, or {ANOTHER}"
        if error.errno == errno.EACCES:
            return f"this user may not listen at port {port}: {ANOTHER}"
        if error.errno == errno.EADDRNOTAVAIL:
            return f"HOST={host} is not an address of this machine: leave HOST out, or give one that is"
        return f"the console cannot listen at HOST={host} PORT={port}: {error.strerror}"
    return None


if __name__ == "__main__":
    sys.exit(problem(*sys.argv[1:3]))
