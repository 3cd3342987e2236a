"""`mcp`: the MCP server on standard input and output, for assistants. Asks no cluster."""

from __future__ import annotations

import argparse
import os
import sys
import threading
from typing import NoReturn

import mcp  # noqa: F401  the extra is missing where this is: it is named before anything else is

from idcore.cli.parser import Usage
from idcore.cli.worker_thread import aside
from idcore.doors import stdio

INTERRUPTED = 130


def run(options: argparse.Namespace) -> int:
    """Serves until standard input ends, or until Ctrl-C, SIGTERM or SIGHUP."""
    for root in options.roots:
        if not root.exists():
            raise Usage(f"{root}: no such file or folder")

    def work(_: threading.Event) -> None:
        stdio.serve(options.roots, options.bodies, options.zone)

    aside("mcp", work, _end)
    return 0


def _end(_: threading.Event) -> NoReturn:
    """The end of this process. A thread waits for standard input until somebody writes, and Python waits for it."""
    stdio.end()
    sys.stderr.flush()
    os._exit(INTERRUPTED)
