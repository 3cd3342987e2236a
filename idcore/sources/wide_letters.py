"""Wide letters, as of UTF-16, as letters of one byte, in a stream read forward. Holds no more than a piece."""

from __future__ import annotations

import numpy as np

from idcore.sources.kinds import WIDE
from idcore.sources.unpack import Read

_PIECE = 1 << 14


def narrowed(read: Read, encoding: str) -> Read:
    """Letters of 2 or 4 bytes as one byte each: ASCII as it is, everything else as 0xFF, which ends every token.

    So the place of a letter in the text is its number, independent of what is before it, and a file can be cut
    anywhere.
    """
    unit = np.dtype(WIDE[encoding])
    held = np.empty(_PIECE, np.uint8)
    over = 0  # bytes of a letter that is not whole yet

    def read_narrow(view: memoryview) -> int:
        nonlocal over
        room = min(len(view) * unit.itemsize, len(held)) // unit.itemsize * unit.itemsize
        while True:
            got = read(memoryview(held)[over:room])  # type: ignore[arg-type]
            if not got and over:  # half a letter at the end
                held[over : unit.itemsize] = 0xFF
                got = unit.itemsize - over
            if not got:
                return 0
            whole = (over + got) // unit.itemsize
            units = held[: whole * unit.itemsize].view(unit)
            view[:whole] = np.where(units < 0x80, units, 0xFF).astype(np.uint8).data
            over = (over + got) % unit.itemsize
            held[:over] = held[whole * unit.itemsize : whole * unit.itemsize + over].copy()
            if whole:
                return whole

    return read_narrow
