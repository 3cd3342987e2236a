"""Colours of the command line: only on a terminal, and not where NO_COLOR or TERM=dumb asks for none."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import IO

_CODES = {"heading": "1", "name": "2", "error": "1;31", "warning": "33", "info": "34"}
_on: ContextVar[bool] = ContextVar("colours", default=False)


def are_shown(stream: IO[str] | None) -> bool:
    """Whether a stream shows colours, and its reader has not asked for none (no-color.org)."""
    if stream is None or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return stream.isatty()


@contextmanager
def of(stream: IO[str] | None) -> Iterator[None]:
    """What is painted inside is for this stream."""
    token = _on.set(are_shown(stream))
    try:
        yield
    finally:
        _on.reset(token)


def painted(text: str, style: str) -> str:
    """The text as a heading, a name, an error, a warning or an info; itself where there are no colours."""
    return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if text and _on.get() else text
