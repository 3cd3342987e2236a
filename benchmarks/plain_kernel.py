"""The finding kernel once more in plain loops, without vector steps: what idcore.scan.kernels.find is measured against.

It probes every 16th byte, for no run of 32 hex digits fits between two probes, and has the signature, the state and the
results of its twin, so that all other stages are the same code.
"""

from __future__ import annotations

import numba
import numpy as np

from idcore.scan.kernels import find as kernel
from idcore.scan.kernels.find import CODE_CLIENT, CODE_LE, CODE_OFFSET_V4, CODE_OFFSET_V6, CODE_SHIFT, CODE_V4, CODE_V6
from idcore.scan.kernels.find import COUNTER_SHIFT, PID_SHIFT, VALUE_MASK, VALUE_SHIFT, WORD

U = np.uint64
STEP = 16
NIBBLES = np.full(256, 255, np.uint8)
for _digit in b"0123456789abcdefABCDEF":
    NIBBLES[_digit] = int(chr(_digit), 16)
LINE_ENDED, TOKEN, COUNT, TAIL = kernel.LINE_ENDED, kernel.TOKEN, kernel.COUNT, kernel.TAIL
STATE_IDS, STATE_KEYS, STATE_LINES = kernel.STATE_IDS, kernel.STATE_KEYS, kernel.STATE_LINES
LINE_START, LINE_OPEN, LINE_FIRST = kernel.LINE_START, kernel.LINE_OPEN, kernel.LINE_FIRST
LOWER_CASE, VERSION, PORT, ELAPSED = kernel.LOWER_CASE, kernel.VERSION, kernel.PORT, kernel.ELAPSED
MAX_OFFSET, MAX_ELAPSED, SET_BACK = kernel.MAX_OFFSET, kernel.MAX_ELAPSED, kernel.SET_BACK
has_label, hash_of, is_known, may_pair = kernel.has_label, kernel.hash_of, kernel.is_known, kernel.may_pair
may_be_little_endian, shaped_little_endian = kernel.may_be_little_endian, kernel.shaped_little_endian
CASE_SHIFT = kernel.CASE_SHIFT
looks_little_endian, refuse, swap_16, swap_32 = (
    kernel.looks_little_endian,
    kernel.refuse,
    kernel.swap_16,
    kernel.swap_32,
)


@numba.njit(cache=True, nogil=True, inline="always")
def is_hex(byte):
    return NIBBLES[byte] != 255


@numba.njit(cache=True, nogil=True)
def letters_of(buf, place, size):
    upper = lower = False
    for i in range(place, place + size):
        lower |= buf[i] >= 97
        upper |= buf[i] >= 65 and buf[i] < 97
    return U(upper) | U(lower) << U(1)


@numba.njit(cache=True, nogil=True, inline="always")
def word_at(buf, place):
    word = U(0)
    for i in range(place, place + 16):
        word = (word << U(4)) | U(NIBBLES[buf[i]])
    return word


@numba.njit(cache=True, nogil=True)
def is_little_endian(hi, lo, loaders):
    loader = ((hi << U(16)) | (lo >> VALUE_SHIFT)) & WORD
    return may_be_little_endian(lo) and shaped_little_endian(hi, lo) and not is_known(loaders, loader)


@numba.njit(cache=True, nogil=True)
def pass_lines(buf, start, stop, origin, n, lines, state):
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
            lines[state[STATE_LINES], 0] = state[LINE_FIRST]
            lines[state[STATE_LINES], 1] = n
            lines[state[STATE_LINES], 2] = state[LINE_START]
            lines[state[STATE_LINES], 3], lines[state[STATE_LINES], 4] = end, 1
            state[STATE_LINES] += 1
    state[LINE_START], state[LINE_OPEN], state[LINE_FIRST] = np.int64(last) + origin, 1, n
    return True


@numba.njit(cache=True, nogil=True)
def find(
    buf, start, stop, origin, what, any_case, loaders, labels,
    table, words, values, slots, lines, state, refused, samples,
):  # fmt: skip
    rows = U(table.shape[0] - 1)
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
        place = probe
        while place > at and is_hex(buf[place - 1]):
            place -= 1
        end = probe + 1
        while end < place + 64 and is_hex(buf[end]):
            end += 1
        size = end - place
        if size < 32:
            at = end
            continue
        if place >= stop:
            at = stop
            break
        if keys >= limit:
            at = place
            break
        if pass_lines(buf, lines_at, place, origin, n, lines, state) and what == TAIL:
            ended = True
            break
        lines_at = place
        if is_hex(buf[end]):
            size = 999
            while end < stop and is_hex(buf[end]):
                end += 1
        at = end
        if buf[place - 1] == 37:
            place += 2
            size -= 2
        elif buf[place - 2] == 92 and buf[place - 1] == 120:
            place += 2
            size -= 2
        elif buf[place - 2] == 92 and buf[place - 1] == 117:
            place += 4
            size -= 4
        if size != 32 and size != 34 and size != 56:
            continue
        k0 = k1 = k2 = value = U(0)
        elapsed = np.int64(-1)
        reason = -1
        if letters_of(buf, place, size) == U(2) and not any_case:
            reason = LOWER_CASE
        else:
            hi, lo = word_at(buf, place), word_at(buf, place + 16)
            if size == 34:
                if hi >> U(56) != U(1):
                    reason = VERSION
                hi, lo = word_at(buf, place + 2), word_at(buf, place + 18)
                k1 = hi >> U(16)
                k2 = (CODE_CLIENT << CODE_SHIFT) | (letters_of(buf, place + 18, 16) << CASE_SHIFT) | (hi & U(0xFFFF))
                value = lo
            else:
                wide = size == 56
                if wide:
                    k0, k1 = hi, lo
                    hi, lo = word_at(buf, place + 24), word_at(buf, place + 40)
                else:
                    k1 = hi >> U(32)
                port = hi & WORD
                is_port = U(1) <= port and port < U(65536) and lo <= MAX_OFFSET
                if is_port and (wide or not looks_little_endian(hi, lo)):
                    k2 = ((CODE_OFFSET_V6 if wide else CODE_OFFSET_V4) << CODE_SHIFT) | port
                    value = lo
                elif is_port or (not wide and port >= U(65536) and is_little_endian(hi, lo, loaders)):
                    k1 = swap_32(k1)
                    loader = swap_32(((hi << U(16)) | (lo >> VALUE_SHIFT)) & WORD)
                    k2 = (CODE_LE << CODE_SHIFT) | (swap_16((hi >> U(16)) & U(0xFFFF)) << PID_SHIFT) | loader
                    elapsed = np.int64(swap_32((lo >> COUNTER_SHIFT) & WORD))
                    value = (U(elapsed) << COUNTER_SHIFT) | swap_16(lo & U(0xFFFF))
                else:
                    identity = ((port << U(16)) | (lo >> VALUE_SHIFT)) & U((1 << 48) - 1)
                    loader = identity & WORD
                    elapsed = np.int64((lo & VALUE_MASK) >> COUNTER_SHIFT)
                    late = U(elapsed) > MAX_ELAPSED and U(elapsed) < SET_BACK
                    if port < U(65536) and loader == U(0):
                        reason = PORT
                    elif late and not is_known(loaders, loader) and not has_label(buf, place, labels):
                        reason = ELAPSED
                    k2 = ((CODE_V6 if wide else CODE_V4) << CODE_SHIFT) | identity
                    value = lo & VALUE_MASK
        if reason >= 0:
            if what != TAIL:
                refuse(reason, buf, place, size, origin, refused, samples)
            continue
        if what != TOKEN:
            h = hash_of(k0, k1, k2) & rows
            while table[h, 2] != U(0) and not (table[h, 2] == k2 and table[h, 1] == k1 and table[h, 0] == k0):
                h = (h + U(1)) & rows
            if table[h, 2] == U(0):
                table[h, 0] = words[keys, 0] = k0
                table[h, 1] = words[keys, 1] = k1
                table[h, 2] = words[keys, 2] = k2
                table[h, 3] = U(keys)
                keys += 1
            if what == COUNT:
                table[h, 4] += U(1)
                if value < table[h, 5]:
                    table[h, 6] = U(1)
                table[h, 5] = value
            values[n] = value
            slots[n] = np.uint32(table[h, 3])
            n += 1
    at = min(at, stop)
    if not ended and pass_lines(buf, lines_at, at, origin, n, lines, state) and what == TAIL:
        ended = True
    state[STATE_IDS], state[STATE_KEYS] = n, keys
    return LINE_ENDED if ended else at
