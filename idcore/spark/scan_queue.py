"""Whose turn it is: so many scans at once, the others in the order in which they came. Does not depend on a scan."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from idcore.policy import limits

from .watch import LOOK, check

LARGE = 8 << 20  # bytes of input of a scan that others would notice
MOST_SMALL = 4  # scans at once


class Turns:
    """A queue: `most` says how many may be at work, and is asked each time, so that a setting counts at once."""

    def __init__(self, most: Callable[[], int]) -> None:
        self._most = most
        self._at_work = 0
        self._waiting: list[object] = []
        self._changed = threading.Condition()

    def __len__(self) -> int:
        """The number of scans that wait."""
        return len(self._waiting)

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


_large, _small = Turns(partial(limits.figure, "scans")), Turns(lambda: MOST_SMALL)


def waiting() -> int:
    """How many scans wait for their turn."""
    return len(_large) + len(_small)


def of(paths: Sequence[str], store: str | None) -> Turns:
    """The queue of a scan. A small one does not wait for large ones; a folder and an address count as large."""
    if store is not None:
        return _large
    try:
        sizes = [Path(path).stat().st_size for path in paths if not Path(path).is_dir()]
    except (OSError, ValueError):
        return _large
    return _small if len(sizes) == len(paths) and sum(sizes) < LARGE else _large
