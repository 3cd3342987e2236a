"""Texts to places: each id of a text with its line, in the order of the text. Dates nothing, writes nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from idcore.base.errors import CoreError, coded
from idcore.kernels import find
from idcore.kernels.line_numbers import BEGIN, END, LINE, number_lines
from idcore.scan.finder import MOST_OF_A_WINDOW, Finder
from idcore.sources.unpack import READ_ERRORS
from idcore.sources.windows import Windows


class Places(NamedTuple):
    """The ids of one window: slot and value of each, the byte at which it begins, and its line.

    `slots` are rows of `Finder.keys`; `values` are as the kernel has them (elapsed and counter, offset, seconds and
    sequence). `lines` counts the line feeds before it; `begins` and `ends` are bytes of the text.
    """

    slots: np.ndarray
    values: np.ndarray
    places: np.ndarray
    lines: np.ndarray
    begins: np.ndarray
    ends: np.ndarray


class Locator:
    """The ids of any number of texts; their keys are those of its finder."""

    def __init__(self, case: str = "strict") -> None:
        self.finder = Finder(case, MOST_OF_A_WINDOW)

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
        state = self.finder.state
        while windows.at < stop:
            start = windows.at
            state[find.STATE_IDS] = state[find.STATE_LINES] = state[find.LINE_FIRST] = 0
            self.finder.step(windows, stop, find.PLACE)
            n, tokens = int(state[find.STATE_IDS]), self.finder.found
            rows = np.empty((n, 3), np.int64)
            places = tokens.places[:n]
            number_lines(windows.buf, windows.origin, (start, windows.at), places, counted, rows)
            if n:
                ids = tokens.slots[:n].copy(), tokens.values[:n].copy(), places.copy()
                yield Places(*ids, rows[:, LINE], rows[:, BEGIN], rows[:, END])
