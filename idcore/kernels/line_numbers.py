"""The line of each id of one window: its number, its begin, its end. Looks at line feeds only."""

from __future__ import annotations

import numpy as np

from idcore.kernels import inlined, kernel

from .vector import leading_zeros, newline_mask_64, ones_of, trailing_zeros

U = np.uint64
STATE_LINES, STATE_BEGIN = range(2)  # line feeds so far, and where the line begins that is open
LINE, BEGIN, END = range(3)


@inlined
def close_lines(rows, open_from, i, end):
    for j in range(open_from, i):
        rows[j, END] = end
    return i


@kernel
def number_lines(buf, origin, window, places, state, rows):
    """For each place of buf[window[0]:window[1]], in order: the line feeds before it, begin and end of its line.

    A line that is still open at the end of the window ends there. buf holds 64 bytes behind the window.
    """
    text = U(buf.ctypes.data)
    start, stop = window
    lines, begin = state[STATE_LINES], state[STATE_BEGIN]
    i = open_from = 0
    for at in range(start, stop, 64):
        feeds = newline_mask_64(text + U(at))
        limit = at + 64
        if limit > stop:
            limit = stop
            feeds &= (U(1) << U(stop - at)) - U(1)
        while i < places.size and places[i] - origin < limit:
            behind = at + np.int64(trailing_zeros(feeds)) if feeds != U(0) else limit
            if places[i] - origin < behind:
                rows[i, LINE], rows[i, BEGIN] = lines, begin
                i += 1
                continue
            open_from = close_lines(rows, open_from, i, behind + origin)
            lines, begin = lines + 1, behind + 1 + origin
            feeds &= feeds - U(1)
        if feeds != U(0):
            open_from = close_lines(rows, open_from, i, at + np.int64(trailing_zeros(feeds)) + origin)
            lines += np.int64(ones_of(feeds))
            begin = at + 64 - np.int64(leading_zeros(feeds)) + origin
    close_lines(rows, open_from, i, stop + origin)
    state[STATE_LINES], state[STATE_BEGIN] = lines, begin
