"""Texts to places: each id of a text with its line, in the order of the text. Dates nothing, writes nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from idcore.errors import CoreError, coded
from idcore.scan.facts import loaders
from idcore.scan.kernels import find
from idcore.scan.kernels.line_numbers import BEGIN, END, LINE, number_lines
from idcore.sources.unpack import READ_ERRORS
from idcore.sources.windows import AFTER, WINDOW, Windows

_MOST = (WINDOW + AFTER) // 32 + 2  # ids of one window


class Places(NamedTuple):
    """The ids of one window: slot and value of each, the byte at which it begins, and its line.

    `slots` are rows of `Locator.keys`; `values` are as the kernel has them (elapsed and counter, offset, seconds and
    sequence). `lines` counts the line feeds before it; `begins` and `ends` are bytes of the text.
    """

    slots: np.ndarray
    values: np.ndarray
    places: np.ndarray
    lines: np.ndarray
    begins: np.ndarray
    ends: np.ndarray


class Locator:
    """The keys found so far, over any number of texts."""

    def __init__(self, any_case: bool = False) -> None:
        self.rules = find.Rules(any_case, loaders())
        self.state = np.zeros(find.STATE_SIZE, np.int64)
        self.found = find.Found(
            table=np.zeros((1 << 12, find.TABLE_COLUMNS), np.uint64),
            keys=np.empty(((1 << 11) + 1, find.KEY_COLUMNS), np.uint64),
            values=np.empty(_MOST, np.uint64),
            slots=np.empty(_MOST, np.uint32),
            lines=np.empty((_MOST, find.LINE_COLUMNS), np.int64),
            state=self.state,
            refused=np.zeros((len(find.REASONS), 3), np.int64),
            samples=np.zeros((len(find.REASONS), 64), np.uint8),
            places=np.empty(_MOST, np.int64),
        )

    @property
    def keys(self) -> np.ndarray:
        """The words of each key, by its slot."""
        return self.found.keys[: self.state[find.STATE_KEYS]]

    def forget(self) -> None:
        """Drops the keys: the next one has slot 0."""
        self.found.table.fill(0)
        self.state[find.STATE_KEYS] = 0

    def read(self, windows: Windows, heard: Callable[[bytes], None] | None = None) -> Iterator[Places | CoreError]:
        """The ids of one text, a window at a time; last, why the rest could not be read.

        `heard` gets all of the text, in order. After the last window `lines` is the number of its line feeds.
        """
        counted = np.zeros(2, np.int64)
        counted[1] = windows.origin + windows.at
        self.lines = 0
        try:
            limit = windows.slide()
            while True:
                start, stop = windows.at, windows.last_line(min(limit, windows.stop - windows.origin))
                if heard is not None:
                    heard(bytes(windows.view[start:stop]))
                yield from self._window(windows, stop, counted)
                self.lines = int(counted[0])
                if windows.at + windows.origin >= windows.stop or (windows.ended and windows.at >= windows.filled):
                    break
                limit = windows.slide()
        except READ_ERRORS as problem:
            yield coded(problem)
        if windows.error is not None:
            yield windows.error

    def _window(self, windows: Windows, stop: int, counted: np.ndarray) -> Iterator[Places]:
        """The text up to `stop`; in pieces where the table of keys has to grow."""
        while windows.at < stop:
            start, state = windows.at, self.state
            state[find.STATE_IDS] = state[find.STATE_LINES] = state[find.LINE_FIRST] = 0
            windows.at = int(find.find(windows.buf, windows.origin, start, stop, find.PLACE, self.rules, self.found))
            n = int(state[find.STATE_IDS])
            rows = np.empty((n, 3), np.int64)
            places = self.found.places[:n]
            number_lines(windows.buf, windows.origin, (start, windows.at), places, counted, rows)
            if windows.at < stop:
                self._grow()
            if n:
                yield Places(
                    self.found.slots[:n].copy(),
                    self.found.values[:n].copy(),
                    places.copy(),
                    rows[:, LINE],
                    rows[:, BEGIN],
                    rows[:, END],
                )

    def _grow(self) -> None:
        larger = np.zeros((4 * len(self.found.table), find.TABLE_COLUMNS), np.uint64)
        find.grow(self.found.table, larger)
        keys = np.empty((len(larger) // 2 + 1, find.KEY_COLUMNS), np.uint64)
        keys[: len(self.found.keys)] = self.found.keys
        self.found = self.found._replace(table=larger, keys=keys)
