"""Whose turn it is to make a long page: one visitor at a time, and tables before what is below them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class PageTurns:
    """Side by side each takes as long as all of them, and all are in memory at once."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._taken = False
        self._tables = 0  # that wait
        self._others = 0

    def waiting(self) -> int:
        """How many wait."""
        return self._tables + self._others

    @contextmanager
    def table(self, wanted: bool = True) -> Iterator[None]:
        """For what a visitor waits for first; `wanted` is False for what is short."""
        if not wanted:
            yield
            return
        with self._changed:
            self._tables += 1
            try:
                self._take(lambda: not self._taken)
            finally:
                self._tables -= 1
        with self._given():
            yield

    @contextmanager
    def below(self, wanted: bool = True) -> Iterator[None]:
        """For what is below a table: charts, and files to take away."""
        if not wanted:
            yield
            return
        with self._changed:
            self._others += 1
            try:
                self._take(lambda: not self._taken and not self._tables)
            finally:
                self._others -= 1
        with self._given():
            yield

    def _take(self, may: Callable[[], bool]) -> None:
        self._changed.wait_for(may)
        self._taken = True

    @contextmanager
    def _given(self) -> Iterator[None]:
        try:
            yield
        finally:
            with self._changed:
                self._taken = False
                self._changed.notify_all()


TURNS = PageTurns()
