"""Text to ids: finds every token, judges it as `idcore.ids.identify` does, and files it under its process or broker.

One call takes one window of text. It keeps no text, allocates nothing, and leaves an id where its first digit stands.
The judgement is `idcore.ids.identify` in machine words: the tests hold the two equal over random tokens.
"""

from __future__ import annotations

import numba
import numpy as np

from idcore.ids import rules
from idcore.layout import CLIENT_V1, LAYOUTS, OFFSET_V4, UNIQ_V4
from idcore.scan.kernels.little_endian import (
    COUNTER_SHIFT,
    WORD,
    looks_little_endian,
    may_be_little_endian,
    shaped_little_endian,
    swap_16,
    swap_32,
)

from .vector import (
    bo_mask_64,
    hex_mask_64,
    leading_zeros,
    letter_case_32,
    load_8,
    load_64,
    newline_mask_64,
    ones_of,
    trailing_zeros,
    unhex_32,
)

U = np.uint64


def _bits_after(layout, name):  # type: ignore[no-untyped-def]
    """Bits that stand to the right of a field."""
    return 8 * (layout.size - layout.span(name).stop)


CODES = {name: number for number, name in enumerate(LAYOUTS, 1)}
CODE_V4, CODE_V6 = U(CODES["uniq_v4"]), U(CODES["uniq_v6"])
CODE_CLIENT, CODE_LE = U(CODES["client_v1"]), U(CODES["uniq_v4_le"])
CODE_OFFSET_V4, CODE_OFFSET_V6 = U(CODES["offset_v4"]), U(CODES["offset_v6"])
CODE_SHIFT = U(56)  # a key's third word: layout code, then pid and loader, or port
VALUE_SHIFT = U(_bits_after(UNIQ_V4, "loader"))
PID_SHIFT = U(_bits_after(UNIQ_V4, "pid") - _bits_after(UNIQ_V4, "loader"))
SEQUENCE_SHIFT = U(_bits_after(CLIENT_V1, "seconds"))
assert _bits_after(OFFSET_V4, "port") == 64 and _bits_after(CLIENT_V1, "pid") == 64, (
    "the words of the kernel are 8 bytes"
)

VALUE_MASK = U((1 << int(VALUE_SHIFT)) - 1)
MAX_OFFSET = U(rules.OFFSET_LIMIT)
MAX_ELAPSED = U(rules.LONGEST_MONTH_MS + rules.ELAPSED_SLACK_MS)
SET_BACK = U(rules.ELAPSED_WRAP - rules.CLOCK_BACK_MS)
CASE_SHIFT = U(16)  # a client id's third word: in which case the letters of its last 16 digits are
BLOCK = 16  # a run of 32 digits holds a whole block of 16 wherever the blocks begin
LOW_BITS, HIGH_BITS = U(0x7FFF7FFF7FFF7FFF), U(0x8000800080008000)
LONGEST_LINE = 1 << 20
LINE_IDS = 64
LINE_COLUMNS = 5
BLOCKS = 32  # of 64 bytes, looked at together
LINE_ENDED = np.int64(-1)

REASONS = ("lower_case", "version", "port", "elapsed")
LOWER_CASE, VERSION, PORT, ELAPSED = range(4)
STATE_IDS, STATE_KEYS, LINE_START, LINE_OPEN, LINE_FIRST = range(5)
STATE_LINES, STATE_PAIRS, STATE_MATED, STATE_ODD, STATE_VOTES = range(5, 10)
STATE_SIZE = 10
TOKEN, COUNT, TAIL = 0, 1, 2  # what a call does: find only (timing), count ids, read on for a line that began earlier

_LABELS = [label.encode() for label in rules.VOUCHING_LABELS]
LABELS = np.zeros((len(_LABELS), 16), np.uint8)
for _row, _label in enumerate(_LABELS):
    LABELS[_row, 0] = len(_label)
    LABELS[_row, 1 : 1 + len(_label)] = np.frombuffer(_label, np.uint8)


@numba.njit(cache=True, nogil=True, inline="always")
def hash_of(k0, k1, k2):
    h = (k0 * U(0x9E3779B97F4A7C15)) ^ (k1 * U(0xC2B2AE3D27D4EB4F)) ^ (k2 * U(0xFF51AFD7ED558CCD))
    h ^= h >> U(32)
    h *= U(0xD6E8FEB86659FD93)
    return h ^ (h >> U(29))


@numba.njit(cache=True, nogil=True)
def letter_case_16(p):
    """Of 16 hex digits: bit 0 is set when one is an upper-case letter, bit 1 when one is a lower-case letter."""
    upper = lower = U(0)
    for place in (U(0), U(8)):
        word = load_64(p + place)
        letter = (word >> U(6)) & U(0x0101010101010101)
        small = (word >> U(5)) & letter
        upper |= letter & ~small
        lower |= small
    return U(upper != U(0)) | (U(lower != U(0)) << U(1))


@numba.njit(cache=True, nogil=True)
def is_known(loaders, loader):
    low, high = 0, loaders.size
    while low < high:
        middle = (low + high) >> 1
        if U(loaders[middle]) < loader:
            low = middle + 1
        else:
            high = middle
    return low < loaders.size and U(loaders[low]) == loader


@numba.njit(cache=True, nogil=True)
def has_label(buf, place, labels):
    """True when the word in front of `place` names a msgId; at most 4 separators may stand between."""
    end = place - 1
    for _ in range(4):
        c = buf[end]
        if c == 32 or c == 34 or c == 39 or c == 58 or c == 61 or c == 91 or c == 44:
            end -= 1
    for row in range(labels.shape[0]):
        size = np.int64(labels[row, 0])
        same = True
        for i in range(size):
            c = buf[end - size + 1 + i]
            if 65 <= c <= 90:
                c += 32
            if c != labels[row, 1 + i]:
                same = False
                break
        if same:
            return True
    return False


@numba.njit(cache=True, nogil=True)
def refuse(reason, buf, place, size, origin, refused, samples):
    if refused[reason, 0] == 0:
        refused[reason, 1] = place + origin
        refused[reason, 2] = size
        for i in range(size):
            samples[reason, i] = buf[place + i]
    refused[reason, 0] += 1


@numba.njit(cache=True, nogil=True, inline="always")
def is_offset(k2):
    code = k2 >> CODE_SHIFT
    return code == CODE_OFFSET_V4 or code == CODE_OFFSET_V6


@numba.njit(cache=True, nogil=True, inline="always")
def may_pair(bytes_long, line_open, ids):
    """A line is kept when it may tell something: seen from its start, not too long, an id, not too many."""
    return line_open and 1 <= ids and ids <= 2 * LINE_IDS and bytes_long <= LONGEST_LINE


@numba.njit(cache=True, nogil=True)
def find(
    buf, start, stop, origin, what, any_case, loaders, labels,
    table, words, values, slots, lines, state, refused, samples,
):  # fmt: skip
    """Takes the tokens whose run of digits begins in buf[start:stop]; buf holds 64 bytes before and 192 after.

    table: open-addressed keys (k0, k1, k2, slot, ids, last value, unsorted, 0), a power of two of rows; words: keys by
    slot. values, slots: one entry an id. lines: first and last id, start and end of each line kept, and whether a `bo`
    may stand in it, as in bornTimestamp.
    Returns where to go on: `stop`, or earlier when the table must grow first; LINE_ENDED once the line that is read on
    (TAIL) has ended.
    """
    p0 = U(buf.ctypes.data)
    rows = U(table.shape[0] - 1)
    limit = table.shape[0] // 2
    n = state[STATE_IDS]
    keys = state[STATE_KEYS]
    line_start, line_open, line_first, kept = state[LINE_START], state[LINE_OPEN], state[LINE_FIRST], state[STATE_LINES]
    ended = full = False
    told = U(line_start != start + origin)  # whether a `bo` was seen near this line, or what came before was not
    carry = U(hex_mask_64(p0 + U(start - 64)) >> U(48) == U(0xFFFF))
    starts = np.empty(BLOCKS, np.uint64)
    events = np.empty(64 * BLOCKS + 4, np.int64)
    place = stop
    for chunk in range(start, stop + BLOCK - 1, 64 * BLOCKS):
        # First where ids may begin, in some blocks of 64 bytes and without a jump; then what else they show.
        blocks = min(BLOCKS, (stop + BLOCK - 1 - chunk + 63) >> 6)
        any_start = U(0)
        for i in range(blocks):
            mask = ~hex_mask_64(p0 + U(chunk + 64 * i))
            whole = ~(((mask & LOW_BITS) + LOW_BITS) | mask) & HIGH_BITS  # the top bit of each block of 16 hex digits
            starts[i] = whole & ~((whole << U(BLOCK)) | (carry << U(BLOCK - 1)))
            any_start |= starts[i]
            carry = whole >> U(63)
        count = 0
        bo = U(1)
        if any_start != U(0) or n != line_first or what == TAIL:
            bo = U(0)
            for i in range(blocks):
                p = p0 + U(chunk + 64 * i)
                feeds = newline_mask_64(p)
                left = stop - chunk - 64 * i
                if left < 64:
                    feeds &= (U(1) << U(left)) - U(1) if left > 0 else U(0)
                bo |= bo_mask_64(p)
                both = starts[i] | feeds
                base = chunk + 64 * i
                ones = np.int64(ones_of(both))
                for k in range(3):
                    events[count + k] = base + np.int64(trailing_zeros(both))
                    both &= both - U(1)
                for k in range(3, ones):
                    events[count + k] = base + np.int64(trailing_zeros(both))
                    both &= both - U(1)
                count += ones
        else:  # no id, and none before in the line that is open: only where the last line begins matters
            at = min(chunk + 64 * blocks, stop)
            while at > chunk:
                feeds = newline_mask_64(p0 + U(at - 64))
                if at - 64 < chunk:
                    feeds &= ~((U(1) << U(chunk - at + 64)) - U(1))
                if feeds != U(0):
                    events[0] = at - 1 - np.int64(leading_zeros(feeds))
                    count = 1
                    break
                at -= 64
        told |= bo
        for event in range(count):
            at = events[event]
            if load_8(p0 + U(at)) == 10:
                if n != line_first:
                    end = at + origin
                    if may_pair(end - line_start, line_open, n - line_first):
                        lines[kept, 0] = line_first
                        lines[kept, 1] = n
                        lines[kept, 2] = line_start
                        lines[kept, 3] = end
                        lines[kept, 4] = np.int64(told != U(0))
                        kept += 1
                    line_first = n
                if what == TAIL:
                    ended = True
                    break
                told = bo
                line_start = at + 1 + origin
                line_open = 1
                continue
            block = at - (BLOCK - 1)
            place = block - np.int64(leading_zeros(~hex_mask_64(p0 + U(block - 64))))
            if place < start or place >= stop:
                continue
            rest = ~hex_mask_64(p0 + U(place))
            size = np.int64(trailing_zeros(rest)) if rest != U(0) else 999
            if size < 32:
                continue
            if keys >= limit:
                full = True
                break
            before = load_8(p0 + U(place - 1))
            if before == 37:  # %22
                place += 2
                size -= 2
            elif load_8(p0 + U(place - 2)) == 92:
                if before == 120:  # \x22
                    place += 2
                    size -= 2
                elif before == 117:  # \u0022
                    place += 4
                    size -= 4
            if size == 32 or size == 56 or size == 34:
                p = p0 + U(place)
                letters = letter_case_32(p)
                if size != 32:
                    letters |= letter_case_32(p + U(size - 32))
                k0 = k1 = k2 = value = U(0)
                elapsed = np.int64(-1)
                reason = -1
                if letters == U(2) and not any_case:
                    reason = LOWER_CASE
                else:
                    hi, lo = unhex_32(p)
                    if size == 34:
                        if hi >> U(56) != U(1):
                            reason = VERSION
                        hi, lo = unhex_32(p + U(2))
                        k1 = hi >> U(16)
                        k2 = (CODE_CLIENT << CODE_SHIFT) | (letter_case_16(p + U(18)) << CASE_SHIFT) | (hi & U(0xFFFF))
                        value = lo
                    else:
                        wide = size == 56
                        if wide:
                            k0 = hi
                            k1 = lo
                            hi, lo = unhex_32(p + U(24))
                        else:
                            k1 = hi >> U(32)
                        port = hi & WORD
                        if (
                            U(1) <= port
                            and port < U(65536)
                            and lo <= MAX_OFFSET
                            and (wide or not looks_little_endian(hi, lo))
                        ):
                            k2 = ((CODE_OFFSET_V6 if wide else CODE_OFFSET_V4) << CODE_SHIFT) | port
                            value = lo
                        elif (port < U(65536) and port != U(0) and lo <= MAX_OFFSET) or (
                            not wide
                            and port >= U(65536)
                            and may_be_little_endian(lo)
                            and shaped_little_endian(hi, lo)
                            and not is_known(loaders, ((hi << U(16)) | (lo >> VALUE_SHIFT)) & WORD)
                        ):
                            k1 = swap_32(k1)
                            loader = swap_32(((hi << U(16)) | (lo >> VALUE_SHIFT)) & WORD)
                            k2 = (CODE_LE << CODE_SHIFT) | (swap_16((hi >> U(16)) & U(0xFFFF)) << PID_SHIFT) | loader
                            elapsed = np.int64(swap_32((lo >> COUNTER_SHIFT) & WORD))
                            value = (U(elapsed) << COUNTER_SHIFT) | swap_16(lo & U(0xFFFF))
                        else:
                            identity = ((port << U(16)) | (lo >> VALUE_SHIFT)) & U((1 << 48) - 1)
                            loader = identity & WORD
                            elapsed = np.int64((lo & VALUE_MASK) >> COUNTER_SHIFT)
                            if port < U(65536) and loader == U(0):
                                reason = PORT
                            elif (
                                U(elapsed) > MAX_ELAPSED
                                and U(elapsed) < SET_BACK
                                and not is_known(loaders, loader)
                                and not has_label(buf, place, labels)
                            ):
                                reason = ELAPSED
                            k2 = ((CODE_V6 if wide else CODE_V4) << CODE_SHIFT) | identity
                            value = lo & VALUE_MASK
                if reason >= 0:
                    if what != TAIL:
                        refuse(reason, buf, place, size, origin, refused, samples)
                else:
                    if what != TOKEN:
                        h = hash_of(k0, k1, k2) & rows
                        while True:
                            found = table[h, 2]
                            if found == U(0):
                                table[h, 0] = words[keys, 0] = k0
                                table[h, 1] = words[keys, 1] = k1
                                table[h, 2] = words[keys, 2] = k2
                                table[h, 3] = U(keys)
                                keys += 1
                                break
                            if found == k2 and table[h, 1] == k1 and table[h, 0] == k0:
                                break
                            h = (h + U(1)) & rows
                        if what == COUNT:
                            table[h, 4] += U(1)
                            if value < table[h, 5]:
                                table[h, 6] = U(1)
                            table[h, 5] = value
                        values[n] = value
                        slots[n] = np.uint32(table[h, 3])
                        n += 1
        if ended or full:
            break
    state[STATE_IDS], state[STATE_KEYS], state[STATE_LINES] = n, keys, kept
    state[LINE_START], state[LINE_OPEN], state[LINE_FIRST] = line_start, line_open, line_first
    return LINE_ENDED if ended else place if full else stop


@numba.njit(cache=True, nogil=True)
def grow(table, larger):
    """Moves every key into a larger table."""
    rows = U(larger.shape[0] - 1)
    for row in range(table.shape[0]):
        if table[row, 2] != U(0):
            h = hash_of(table[row, 0], table[row, 1], table[row, 2]) & rows
            while larger[h, 2] != U(0):
                h = (h + U(1)) & rows
            for column in range(table.shape[1]):
                larger[h, column] = table[row, column]
