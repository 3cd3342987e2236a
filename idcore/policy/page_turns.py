"""Whose turn it is to make a long page: one visitor at a time, and tables before what is below them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Literal, NamedTuple

Part = Literal["table", "below"]


class _Wanted(NamedTuple):
    """A turn that somebody waits for: the numbers are in the order in which they came."""

    part: Part
    who: str
    number: int


class PageTurns:
    """Side by side each takes as long as all of them, and all are in memory at once.

    Who had a turn last is the last to have another, however many pages they open.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._taken: Part | None = None
        self._waiting: list[_Wanted] = []
        self._number = 0
        self._had: dict[str, int] = {}  # the numbers of the latest turns, by whose they were

    def waiting(self) -> int:
        """The number of pages that wait."""
        return len(self._waiting)

    def table(self, wanted: bool = True, who: str = "") -> AbstractContextManager[None]:
        """For what a visitor waits for first; `wanted` is False for what is short."""
        return self._turn("table", who) if wanted else nullcontext()

    def below(self, wanted: bool = True, who: str = "") -> AbstractContextManager[None]:
        """For what is below a table: charts, and files to take away."""
        return self._turn("below", who) if wanted else nullcontext()

    def after_tables(self, most: float) -> None:
        """Waits until nobody waits for a table, so many seconds at the most: for what would take all cores."""
        with self._changed:
            self._changed.wait_for(
                lambda: self._taken != "table" and all(one.part != "table" for one in self._waiting), most
            )

    def _rank(self, wanted: _Wanted) -> tuple[int, bool, int]:
        return self._had.get(wanted.who, 0), wanted.part == "below", wanted.number

    def _next_number(self) -> int:
        self._number += 1
        return self._number

    @contextmanager
    def _turn(self, part: Part, who: str) -> Iterator[None]:
        with self._changed:
            own = _Wanted(part, who, self._next_number())
            self._waiting.append(own)
            try:
                self._changed.wait_for(lambda: not self._taken and own == min(self._waiting, key=self._rank))
            finally:
                self._waiting.remove(own)
            self._taken, self._had[who] = part, self._next_number()
        try:
            yield
        finally:
            with self._changed:
                self._taken = None
                if not self._waiting:
                    self._had.clear()
                self._changed.notify_all()


TURNS = PageTurns()
