"""Free memory goes back to the system: Python, Arrow and the C library keep it. Decides when, and ends no session."""

from __future__ import annotations

import ctypes
import gc
import sys
from collections.abc import Callable
from functools import cache


class Visit:
    """What a session has for as long as it is remembered; its end is noted."""

    ended = 0

    def __del__(self) -> None:
        Visit.ended += 1


def tidy() -> bool:
    """Gives memory back where a visit has ended since the last call; whether one had."""
    if not Visit.ended:
        return False
    Visit.ended = 0
    give_back()
    return True


def give_back() -> None:
    """Collects what only refers to itself, and returns free pages to the system, where its C library can do that."""
    gc.collect()
    arrow = sys.modules.get("pyarrow")
    if arrow is not None:
        arrow.default_memory_pool().release_unused()
    _trim()(0)


@cache
def _trim() -> Callable[[int], int]:
    """`malloc_trim` of glibc; other C libraries do without."""
    try:
        return ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):
        return lambda _: 0
