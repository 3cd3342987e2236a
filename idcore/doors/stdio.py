"""The MCP server on standard input and output: offline, for one person, with the folders that the command names."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from datetime import tzinfo
from pathlib import Path

import anyio
from mcp.server.stdio import stdio_server

from idcore.base import temporary
from idcore.doors.assistants import server_of
from idcore.operations.model import Caller, Ground
from idcore.policy.access import Visitor
from idcore.policy.audit import Actor
from idcore.server import jobs

OWN = "local"  # the name of whoever started the command


def serve(roots: Sequence[Path], bodies: bool, zone: tzinfo | None) -> None:
    """Serves until standard input ends. Nothing of its scans stays, and no cluster is asked."""
    visitor = Visitor(OWN, frozenset({"viewer", "triage", *(["bodies"] if bodies else [])}))
    places = [root.resolve() for root in roots]
    with tempfile.TemporaryDirectory(prefix="mcp-", dir=temporary.own(), ignore_cleanup_errors=True) as folder:
        runs = Path(folder)
        caller = Caller(lambda: visitor, lambda: visitor, Actor(OWN, "mcp"), Ground(lambda: places, lambda: runs, zone))

        async def run() -> None:
            server = server_of(lambda _: caller)
            async with stdio_server() as (incoming, outgoing):
                await server.run(incoming, outgoing, server.create_initialization_options())

        try:
            anyio.run(run)
        finally:
            end()


def end() -> None:
    """Ends the scans that are still at work, and Java; what this process keeps for a while goes with them."""
    jobs.discard_all()
