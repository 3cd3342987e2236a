"""Lines that hold both kinds of id: which offsets a broker had reached when, and which ids stand side by side."""

from __future__ import annotations

import numba
import numpy as np

from .find import (
    CODE_CLIENT,
    CODE_LE,
    CODE_SHIFT,
    COUNTER_SHIFT,
    LINE_IDS,
    SEQUENCE_SHIFT,
    STATE_LINES,
    STATE_MATED,
    STATE_ODD,
    STATE_PAIRS,
    is_offset,
)
from .mates import MOST_SLOTS, OFFSET_BITS

U = np.uint64
CLIENT_EPOCH_MINUTE = 26_824_320  # 2021-01-01T00:00Z in minutes since 1970
NO_MINUTE = np.int64(-(1 << 62))


@numba.njit(cache=True, nogil=True)
def minute_of(elapsed, months, early):
    """Minute since 1970 of the newest month in which `elapsed` fits; NO_MINUTE when it fits none."""
    elapsed -= early
    for row in range(months.shape[0]):
        if elapsed <= months[row, 1]:
            return (months[row, 0] + elapsed) // 60_000
    return NO_MINUTE


@numba.njit(cache=True, nogil=True, inline="always")
def minute_of_id(k2, value, months):
    code = k2 >> CODE_SHIFT
    if code == CODE_CLIENT:
        return CLIENT_EPOCH_MINUTE + np.int64((value >> SEQUENCE_SHIFT) // U(60))
    return minute_of(np.int64(value >> COUNTER_SHIFT), months, 86_400_000 if code == CODE_LE else 0)


@numba.njit(cache=True, nogil=True)
def put_pair(slot, minute, offset, cache, words, pairs, row):
    """Sends the range that is cached in the place of `slot`, and begins another there. Returns the pairs sent."""
    place = slot & (cache.shape[0] - 1)
    row = send_pair(cache, place, words, pairs, row)
    cache[place, 0] = slot
    cache[place, 1] = minute
    cache[place, 2] = offset
    cache[place, 3] = offset
    return row


@numba.njit(cache=True, nogil=True)
def send_pair(cache, place, words, pairs, row):
    slot = cache[place, 0]
    if slot < 0:
        return row
    for word in range(3):
        pairs[row, word] = words[slot, word]
    for column in range(1, 4):
        pairs[row, 2 + column] = U(cache[place, column])
    return row + 1


@numba.njit(cache=True, nogil=True)
def send_pairs(cache, words, pairs, row):
    """Empties the cache into `pairs`. Returns the pairs sent."""
    for place in range(cache.shape[0]):
        row = send_pair(cache, place, words, pairs, row)
        cache[place, 0] = -1
    return row


@numba.njit(cache=True, nogil=True)
def put_odd(odd, row, words, values, slots, own, offset, lines):
    for column in range(3):
        odd[row, column] = words[slots[own], column]
        odd[row, 4 + column] = words[slots[offset], column]
    odd[row, 3] = values[own]
    odd[row, 7] = values[offset]
    odd[row, 8] = U(lines)
    return row + 1


@numba.njit(cache=True, nogil=True)
def pair_lines(lines, state, values, slots, words, months, cache, pairs, mates, odd, behind):
    """The i-th offset id of each line goes with its i-th uniq or client id, then with its last: dated by it, its mate.

    `mates` says how many ids further on the mate of an id stands. A pair is odd, and written out, when its line ends
    `behind` the split, when its id has a mate in the same line already, or when the mate does not fit its word.
    A (broker, minute) that is cached is widened here, not in a function: arrays cost 40 ns a call.
    """
    times = np.empty(LINE_IDS, np.int64)
    own = np.empty(LINE_IDS, np.int64)
    places = cache.shape[0] - 1
    row = state[STATE_PAIRS]
    odd_row = state[STATE_ODD]
    mated = state[STATE_MATED]
    for line in range(state[STATE_LINES]):
        first, last = lines[line, 0], lines[line, 1]
        dated = 0
        for i in range(first, last):
            k2 = words[slots[i], 2]
            if not is_offset(k2):
                if dated < LINE_IDS:
                    own[dated] = i
                    times[dated] = minute_of_id(k2, values[i], months)
                dated += 1
        offsets = last - first - dated
        if dated == 0 or dated > LINE_IDS or offsets == 0 or offsets > LINE_IDS:
            continue
        at = 0
        for i in range(first, last):
            slot = np.int64(slots[i])
            if is_offset(words[slot, 2]):
                one = min(at, dated - 1)
                minute = times[one]
                offset = np.int64(values[i])
                place = slot & places
                if cache[place, 0] == slot and cache[place, 1] == minute:
                    cache[place, 2] = min(cache[place, 2], offset)
                    cache[place, 3] = max(cache[place, 3], offset)
                elif minute != NO_MINUTE:
                    row = put_pair(slot, minute, offset, cache, words, pairs, row)
                again = at >= dated
                for other in range(one):
                    again |= values[own[other]] == values[own[one]] and slots[own[other]] == slots[own[one]]
                at += 1
                if again or behind or slot >= MOST_SLOTS or U(offset) >> OFFSET_BITS != U(0):
                    odd_row = put_odd(odd, odd_row, words, values, slots, own[one], i, 0 if again else 1)
                else:
                    mates[own[one]] = i - own[one]
                    mated += 1
    state[STATE_PAIRS], state[STATE_ODD], state[STATE_MATED] = row, odd_row, mated
    state[STATE_LINES] = 0
