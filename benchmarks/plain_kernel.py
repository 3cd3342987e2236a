"""Tokens found by plain loops, without vector steps: what idcore.kernels.find is measured against.

It probes every 16th byte, for no run of 32 hex digits fits between two probes, and has the signature and the results of
its twin; an id is judged and filed by the functions of the twin. The slow twin of the tests (tests/scan/reading.py) is
no measure: it is Python over regular expressions, which shares no line with the kernel so that it can judge it.
"""

from __future__ import annotations

import numba
import numpy as np

from idcore.kernels import find as kernel
from idcore.kernels.find import BEGIN, COUNT, END, END_ID, FIRST_ID, HAS_BO, LINE_ENDED, TAIL
from idcore.kernels.find import LINE_FIRST, LINE_OPEN, LINE_START, STATE_IDS, STATE_KEYS, STATE_LINES
from idcore.kernels.find import TABLE_SLOT
from idcore.kernels.vector import borrowed

U = np.uint64
STEP = 16
NIBBLES = np.full(256, 255, np.uint8)
for _digit in b"0123456789abcdefABCDEF":
    NIBBLES[_digit] = int(chr(_digit), 16)
may_pair, row_of, refuse, escape_before = kernel.may_pair, kernel.row_of, kernel.refuse, kernel.escape_before
count_id, keep_letters = kernel.count_id, kernel.keep_letters


@numba.njit(cache=True, nogil=True, inline="always")
def is_hex(byte):
    return NIBBLES[byte] != 255


@numba.njit(cache=True, nogil=True)
def pass_lines(buf, origin, start, stop, n, lines, state):
    """Line ends in buf[start:stop]: the first ends the line that is open, the last begins the next."""
    last, low = U(stop), U(start)  # unsigned places spare numba the check for negative ones
    while last > low and buf[last - U(1)] != 10:
        last -= U(1)
    if last == low:
        return False
    if n != state[LINE_FIRST]:
        first = low
        while buf[first] != 10:
            first += U(1)
        end = np.int64(first) + origin
        if may_pair(end - state[LINE_START], state[LINE_OPEN], n - state[LINE_FIRST]):
            kept = state[STATE_LINES]
            lines[kept, FIRST_ID], lines[kept, END_ID] = state[LINE_FIRST], n
            lines[kept, BEGIN], lines[kept, END], lines[kept, HAS_BO] = state[LINE_START], end, 1
            state[STATE_LINES] += 1
    state[LINE_START], state[LINE_OPEN], state[LINE_FIRST] = np.int64(last) + origin, 1, n
    return True


@numba.njit(cache=True, nogil=True, inline="always")
def ends_of_run(buf, probe, low):
    """Where the run of digits around a probe begins, not before `low`, and where it ends, if within 64 digits."""
    place = probe
    while place > low and is_hex(buf[place - 1]):
        place -= 1
    end = probe + 1
    while end < place + 64 and is_hex(buf[end]):
        end += 1
    return place, end


@numba.njit(cache=True, nogil=True)
def find(buf, origin, start, stop, what, rules, found):
    rules, found = borrowed(rules), borrowed(found)
    table, state = found.table, found.state
    limit = table.shape[0] // 2
    n, keys = state[STATE_IDS], state[STATE_KEYS]
    ended = False
    at = start  # nothing before it is open any more
    lines_at = start
    if is_hex(buf[start - 1]):  # a run that began earlier
        while at < stop and is_hex(buf[at]):
            at += 1
    while at < stop:
        probe = at + STEP - 1
        if not is_hex(buf[probe]):
            at = probe + 1
            continue
        place, end = ends_of_run(buf, probe, at)
        if end - place < 32:
            at = end
            continue
        if place >= stop or keys >= limit:
            at = min(place, stop)
            break
        if pass_lines(buf, origin, lines_at, place, n, found.lines, state) and what == TAIL:
            ended = True
            break
        lines_at = place
        size = end - place
        if is_hex(buf[end]):
            size = 999
            while end < stop and is_hex(buf[end]):
                end += 1
        at = end
        escape = escape_before(U(buf.ctypes.data + place), size, rules.digits)
        place += escape
        size -= escape
        p = U(buf.ctypes.data + place)
        if kernel.is_longer(p, size, rules):
            size = 32
        if size > 63 or rules.digits >> U(size) & U(1) == U(0):
            continue
        reason, k0, k1, k2, value = kernel.judge(p, size, rules)
        if reason >= 0:
            if what != TAIL:
                if reason >= kernel.OF_THING:
                    if what == COUNT:
                        kernel.keep_named(k0, k1, k2, value, reason - kernel.OF_THING, place + origin, found)
                    reason = kernel.OTHER_NAME
                refuse(reason, buf, place, size, origin, found.refused, found.samples)
        else:
            row, used = row_of(k0, k1, k2, table, found.keys, keys)
            if used != keys:
                keys = used
                if not rules.all_are_ids and kernel.may_be_chance(k2, rules):
                    table[row, kernel.TABLE_MARKS] |= kernel.UNKNOWN
            if what == COUNT:
                kernel.mark_suspect(row, value, p, size, table)
                count_id(row, value, table)
                keep_letters(row, k2, p + U(size - 16), table)
            found.places[n] = place + origin
            found.values[n] = value
            found.slots[n] = np.uint32(table[row, TABLE_SLOT])
            n += 1
    at = min(at, stop)
    if not ended and pass_lines(buf, origin, lines_at, at, n, found.lines, state) and what == TAIL:
        ended = True
    state[STATE_IDS], state[STATE_KEYS] = n, keys
    return LINE_ENDED if ended else at
