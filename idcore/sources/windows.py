"""A buffer that slides over one text, between its begin and end. Handles neither packing nor ids."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from idcore.base.errors import CoreError, coded
from idcore.ids.records import REACH
from idcore.sources.line_range import LineRange, LinesOf
from idcore.sources.unpack import READ_ERRORS, Read

BEFORE, AFTER = REACH + 64, REACH + 256  # bytes of text that stay visible on both sides of a window
WINDOW = 1 << 20
ENDLESS = 1 << 62


class Windows:
    """A window that slides over one text. `buf[at]` is byte `at + origin` of the text.

    `read` gives the text from `begin`, which is up to BEFORE bytes in front of `start`; the split ends at `stop`.
    `taken` is the number of bytes of the split, as stored, that were read so far.
    """

    def __init__(
        self, buf: np.ndarray, read: Read, taken: Callable[[], int], start: int, stop: int, begin: int | None = None
    ) -> None:
        self.buf = buf
        self.taken = taken
        self.view: Any = memoryview(buf)  # type: ignore[arg-type]
        self.read = read
        self.stop = stop
        self.buf[:BEFORE] = 0
        self.filled = BEFORE if begin is None else BEFORE - (start - begin)
        self.buf[self.filled - 1] = 10  # a text begins with a line
        self.at = BEFORE
        self.origin = start - BEFORE
        self.ended = False
        self.error: CoreError | None = None
        self.aside: Callable[[], bytes] | None = None  # what a reader counts apart from the text
        self.copied: Callable[[int], bytes] | None = None  # and what it keeps of records, for the number of the file
        self.counted: Callable[[], int] | None = None  # and the bytes of text, without filler

    def keep(self, between: LineRange) -> None:
        """Lines of other times are blank from now on: before anything is read."""
        self.read = LinesOf(self.read, between, BEFORE - self.filled).readinto

    def slide(self) -> int:
        """Takes more text in behind `self.at`. Returns the limit: up to there tokens and lines may be judged."""
        keep = self.at - BEFORE
        if keep > 0:
            self.buf[: self.filled - keep] = self.buf[keep : self.filled].copy()
            self.filled -= keep
            self.at -= keep
            self.origin += keep
        room = BEFORE + WINDOW + AFTER
        while self.filled < room and not self.ended:
            try:
                got = self.read(self.view[self.filled : room])
            except READ_ERRORS as error:  # what was read before it still counts
                self.error = coded(error)
                got = 0
            if not got:
                self.ended = True
            self.filled += got or 0
        self.buf[self.filled : self.filled + AFTER] = 0
        return self.filled if self.ended else self.filled - AFTER

    def last_line(self, limit: int) -> int:
        """Where the last line that begins before `limit` begins, if it begins behind `at`; else `limit`."""
        stop = limit
        piece = 1 << 12
        while stop > self.at:
            begin = max(self.at, stop - piece)
            feed = bytes(self.view[begin:stop]).rfind(b"\n")
            if feed >= 0:
                return begin + feed + 1
            stop, piece = begin, 2 * piece
        return limit


def new_buffer() -> np.ndarray:
    """Room for one window of text and what is kept around it, zeroed."""
    return np.zeros(BEFORE + WINDOW + 2 * AFTER, np.uint8)
