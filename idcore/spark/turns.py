"""Whose turn it is: so many scans at once, the others in the order in which they came. Does not depend on a scan."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from .watch import LOOK, check

LARGE = 8 << 20  # bytes of input of a scan that others would notice
MOST_LARGE, MOST_SMALL = 2, 4  # scans at once


class Turns:
    """A queue: `most` says how many may be at work, and is asked each time, so that a setting counts at once."""

    def __init__(self, most: Callable[[], int]) -> None:
        self._most = most
        self._at_work = 0
        self._waiting: list[object] = []
        self._changed = threading.Condition()

    @contextmanager
    def turn(self, stop: threading.Event, report: Callable[[int], None]) -> Iterator[None]:
        """Waits for its turn and reports its place meanwhile, the next one is 1; Cancelled if it is to stop."""
        ticket = object()
        with self._changed:
            self._waiting.append(ticket)
            try:
                while (place := self._waiting.index(ticket) + 1) > 1 or self._at_work >= self._most():
                    report(place)
                    self._changed.wait(LOOK)
                    check(stop)
            finally:
                self._waiting.remove(ticket)
                self._changed.notify_all()
            self._at_work += 1
        try:
            yield
        finally:
            with self._changed:
                self._at_work -= 1
                self._changed.notify_all()


def most_large() -> int:
    """How many large scans are at work at once, as the administrator says; at least one."""
    told = os.environ.get("IDCORE_SCANS", "")
    return max(1, int(told)) if told.isdecimal() else MOST_LARGE


_large, _small = Turns(most_large), Turns(lambda: MOST_SMALL)


def of(paths: Sequence[str], store: str | None) -> Turns:
    """The queue of a scan. A small one does not wait for large ones; a folder and an address count as large."""
    if store is not None:
        return _large
    try:
        sizes = [Path(path).stat().st_size for path in paths if not Path(path).is_dir()]
    except (OSError, ValueError):
        return _large
    return _small if len(sizes) == len(paths) and sum(sizes) < LARGE else _large
