"""`mcp`: the MCP server on standard input and output, for assistants. Asks no cluster."""

from __future__ import annotations

import argparse

import mcp  # noqa: F401  the extra is missing where this is: it is named before anything else is

from idcore.cli.parser import Usage
from idcore.doors import stdio


def run(options: argparse.Namespace) -> int:
    """Serves until standard input ends."""
    for root in options.roots:
        if not root.exists():
            raise Usage(f"{root}: no such file or folder")
    stdio.serve(options.roots, options.bodies, options.zone)
    return 0
