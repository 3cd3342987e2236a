"""What the server takes of the system: memory, which it gives back after visits, and open files. Ends old sessions."""

from __future__ import annotations

import ctypes
import gc
import math
import resource
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from idcore.runs import background_run

MUCH = 256 << 20  # bytes
MOST_PAUSE = 30  # looks, of ten seconds each: one takes up to 0.2 s of everybody
_DESCRIPTORS = 65_536  # as docs/deploy/rocketmq-ids.service has it


class Visit:
    """What a session has for as long as it is remembered; its end is noted.

    `user` is the login of its latest page, `left` is when its browser was first seen to be gone. What it has `kept`
    goes at its end.
    """

    ended = 0

    def __init__(self) -> None:
        self.user = ""
        self.left: float | None = None
        self.kept: dict[str, Any] = {}

    def end(self) -> None:
        """Its browser will not come back."""
        self.kept.clear()
        Visit.ended += 1

    def __del__(self) -> None:
        self.end()


def tidy(before: Callable[[], None] | None = None) -> bool:
    """Gives memory back where a visit has ended since the last call, or much was taken; whether it did.

    Calls of programs are no visits, and some take as much. `before` lets go of more.
    """
    if not Visit.ended and not GROWTH.is_due(_resident()):
        return False
    Visit.ended = 0
    if before is not None:
        before()
    give_back()
    GROWTH.kept = min(GROWTH.kept, _resident())
    return True


class Growth:
    """Whether much was taken since the least that this process had. What is in use stays: it is asked more rarely."""

    def __init__(self) -> None:
        self.kept: float = math.inf  # bytes
        self._pause, self._waited = 1, 0  # calls

    def is_due(self, resident: int) -> bool:
        """Asked every ten seconds, with the bytes of now."""
        self.kept = min(self.kept, resident)
        if resident - self.kept < MUCH:
            self._pause = 1
            self._waited = 0
            return False
        self._waited += 1
        if self._waited < self._pause:
            return False
        self._pause, self._waited = min(2 * self._pause, MOST_PAUSE), 0
        return True


GROWTH = Growth()


def _resident() -> int:
    """Bytes of memory that this process has; 0 where the system does not say it so."""
    try:
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * resource.getpagesize()
    except (OSError, ValueError, IndexError):
        return 0


def give_back() -> None:
    """Collects what only refers to itself, and returns free pages to the system, where its C library can do that."""
    gc.collect()
    arrow = sys.modules.get("pyarrow")
    if arrow is not None:
        arrow.default_memory_pool().release_unused()
    _trim()(0)


def forget_jobs() -> None:
    """Jobs that have ended are in the records of their runs; none is kept for a visitor who may come back."""
    background_run.forget_ended()
    if (jobs := sys.modules.get("idcore.spark.background")) is not None:
        jobs.forget_located()


def open_more_files() -> None:
    """As many descriptors as the system lets this process have: each websocket takes four, and 1,024 are usual.

    With these, 255 people without a log-in would keep everybody else out.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, _DESCRIPTORS)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


@cache
def _trim() -> Callable[[int], int]:
    """`malloc_trim` of glibc; other C libraries do without."""
    try:
        return ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):
        return lambda _: 0
