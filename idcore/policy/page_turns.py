"""Whose turn it is to make a long page: one visitor at a time, and tables before what is below them."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Literal

Part = Literal["table", "below"]


class PageTurns:
    """Side by side each takes as long as all of them, and all are in memory at once."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._taken: Part | None = None
        self._waiting = Counter[Part]()

    def waiting(self) -> int:
        """The number of pages that wait."""
        return self._waiting.total()

    def table(self, wanted: bool = True) -> AbstractContextManager[None]:
        """For what a visitor waits for first; `wanted` is False for what is short."""
        return self._turn("table") if wanted else nullcontext()

    def below(self, wanted: bool = True) -> AbstractContextManager[None]:
        """For what is below a table: charts, and files to take away."""
        return self._turn("below") if wanted else nullcontext()

    def after_tables(self, most: float) -> None:
        """Waits until nobody waits for a table, so many seconds at the most: for what would take all cores."""
        with self._changed:
            self._changed.wait_for(lambda: self._taken != "table" and not self._waiting["table"], most)

    @contextmanager
    def _turn(self, part: Part) -> Iterator[None]:
        with self._changed:
            self._waiting[part] += 1
            try:
                self._changed.wait_for(lambda: not self._taken and (part == "table" or not self._waiting["table"]))
            finally:
                self._waiting[part] -= 1
            self._taken = part
        try:
            yield
        finally:
            with self._changed:
                self._taken = None
                self._changed.notify_all()


TURNS = PageTurns()
