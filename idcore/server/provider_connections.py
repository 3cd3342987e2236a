"""Connections to providers of log-ins share the authorities that they trust. Asks nobody."""

from __future__ import annotations

from functools import cache, wraps
from importlib import import_module
from importlib.util import find_spec
from typing import Any


def share_authorities() -> None:
    """From now on they are read once. A client of httpx reads them anew, and the way to a log-in makes two of these.

    That took 60 ms, in which the server answers nobody: a stranger who asked for it 15 times a second stopped it.
    """
    from authlib.integrations.httpx_client import AsyncOAuth2Client  # type: ignore[import-untyped]

    begin = AsyncOAuth2Client.__init__
    if hasattr(begin, "__wrapped__"):
        return

    @wraps(begin)
    def begun(client: Any, *given: Any, **more: Any) -> None:
        begin(client, *given, **({"verify": _authorities()} | more))

    AsyncOAuth2Client.__init__ = begun


@cache
def _authorities() -> Any:
    """As a client of httpx reads them itself."""
    return import_module("httpx2" if find_spec("httpx2") else "httpx").create_ssl_context()  # that of Authlib
