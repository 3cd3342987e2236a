"""The finding kernel once more in plain loops, without vector steps: what idcore.scan.kernels.find is measured against.

It probes every 16th byte, for no run of 32 hex digits fits between two probes, and has the signature, the state and the
results of its twin, so that all other stages are the same code.
"""

from __future__ import annotations

import numba
import numpy as np

from idcore.scan.kernels import find as kernel
from idcore.scan.kernels.find import CODE_CLIENT, CODE_LE, CODE_OFFSET_V4, CODE_OFFSET_V6, CODE_SHIFT, CODE_V4, CODE_V6
from idcore.scan.kernels.find import COUNTER_SHIFT, PID_SHIFT, SEQUENCE_SHIFT, VALUE_MASK, VALUE_SHIFT, WORD

U = np.uint64
STEP = 16
NIBBLES = np.full(256, 255, np.uint8)
for _digit in b"0123456789abcdefABCDEF":
    NIBBLES[_digit] = int(chr(_digit), 16)
LINE_ENDED, COUNT, TAIL = kernel.LINE_ENDED, kernel.COUNT, kernel.TAIL
STATE_IDS, STATE_KEYS, STATE_COUNTS = kernel.STATE_IDS, kernel.STATE_KEYS, kernel.STATE_COUNTS
LINE_START, LINE_OPEN, LINE_IDS = kernel.LINE_START, kernel.LINE_OPEN, kernel.LINE_IDS
LINE_TIMES, LINE_OFFSETS = kernel.LINE_TIMES, kernel.LINE_OFFSETS
LOWER_CASE, VERSION, PORT, ELAPSED = kernel.LOWER_CASE, kernel.VERSION, kernel.PORT, kernel.ELAPSED
MAX_OFFSET, MAX_ELAPSED, SET_BACK = kernel.MAX_OFFSET, kernel.MAX_ELAPSED, kernel.SET_BACK
CLIENT_EPOCH_MINUTE, NO_MINUTE = kernel.CLIENT_EPOCH_MINUTE, kernel.NO_MINUTE
end_line, has_label, hash_of, is_known = kernel.end_line, kernel.has_label, kernel.hash_of, kernel.is_known
looks_little_endian, minute_of, refuse = kernel.looks_little_endian, kernel.minute_of, kernel.refuse
swap_16, swap_32 = kernel.swap_16, kernel.swap_32


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
def pass_lines(buf, start, stop, origin, state, line_times, line_offsets, cache, pairs):
    """Line ends in buf[start:stop]: the first ends the line that is open, the last begins the next."""
    last, low = U(stop), U(start)  # unsigned places spare numba the check for negative ones
    while last > low and buf[last - U(1)] != 10:
        last -= U(1)
    if last == low:
        return False
    if state[LINE_TIMES] + state[LINE_OFFSETS] != 0:
        first = low
        while buf[first] != 10:
            first += U(1)
        end_line(np.int64(first) + origin, state, line_times, line_offsets, cache, pairs)
    state[LINE_START] = np.int64(last) + origin
    state[LINE_OPEN] = 1
    return True


@numba.njit(cache=True, nogil=True)
def find(
    buf, start, stop, origin, what, any_case, months, loaders, labels,
    table, values, slots, state, refused, samples, line_times, line_offsets, cache, pairs,
):  # fmt: skip
    rows = U(table.shape[0] - 1)
    limit = table.shape[0] // 2
    n, keys = state[STATE_IDS], state[STATE_KEYS]
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
        if keys >= limit and what == COUNT:
            at = place
            break
        if pass_lines(buf, lines_at, place, origin, state, line_times, line_offsets, cache, pairs) and what == TAIL:
            return LINE_ENDED
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
        if letters_of(buf, place, size) == U(2) and not (any_case and size == 32):
            reason = LOWER_CASE
        else:
            hi, lo = word_at(buf, place), word_at(buf, place + 16)
            if size == 34:
                if hi >> U(56) != U(1):
                    reason = VERSION
                hi, lo = word_at(buf, place + 2), word_at(buf, place + 18)
                k1 = hi >> U(16)
                k2 = (CODE_CLIENT << CODE_SHIFT) | (hi & U(0xFFFF))
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
                elif is_port:
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
        code = k2 >> CODE_SHIFT
        if code == CODE_OFFSET_V4 or code == CODE_OFFSET_V6:
            row = state[LINE_OFFSETS]
            if row < LINE_IDS:
                line_offsets[row, 0], line_offsets[row, 1] = k0, k1
                line_offsets[row, 2], line_offsets[row, 3] = k2, value
            state[LINE_OFFSETS] = row + 1
        else:
            row = state[LINE_TIMES]
            if row < LINE_IDS:
                if code == CODE_CLIENT:
                    line_times[row] = CLIENT_EPOCH_MINUTE + np.int64((value >> SEQUENCE_SHIFT) // U(60))
                else:
                    line_times[row] = minute_of(elapsed, months, 86_400_000 if code == CODE_LE else 0)
            state[LINE_TIMES] = row + 1
        if what == COUNT:
            h = hash_of(k0, k1, k2) & rows
            while table[h, 2] != U(0) and not (table[h, 2] == k2 and table[h, 1] == k1 and table[h, 0] == k0):
                h = (h + U(1)) & rows
            if table[h, 2] == U(0):
                table[h, 0], table[h, 1], table[h, 2], table[h, 3] = k0, k1, k2, U(keys)
                keys += 1
            table[h, 4] += U(1)
            if value < table[h, 5]:
                table[h, 6] = U(1)
            table[h, 5] = value
            values[n] = value
            slots[n] = np.uint32(table[h, 3])
            state[STATE_COUNTS + np.int64(code)] += 1
            n += 1
    at = min(at, stop)
    if pass_lines(buf, lines_at, at, origin, state, line_times, line_offsets, cache, pairs) and what == TAIL:
        return LINE_ENDED
    state[STATE_IDS], state[STATE_KEYS] = n, keys
    return at
