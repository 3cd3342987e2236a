"""Records of a commit log to lines of text as long as they are: checks places and CRCs, counts topics. No files."""

from __future__ import annotations

import numba
import numpy as np

from idcore.layout import BLANK_MAGIC, RECORD_HEADS, TOPIC_LENGTHS

U = np.uint64
_V4, _V6 = RECORD_HEADS[False, False], RECORD_HEADS[True, True]
_MAGIC_1, _MAGIC_2 = TOPIC_LENGTHS
_TOPIC_1, _TOPIC_2 = TOPIC_LENGTHS[_MAGIC_1].size, TOPIC_LENGTHS[_MAGIC_2].size
_CRC, _QUEUE = _V4.span("body_crc").start, _V4.span("queue_id").start
_QUEUE_OFFSET, _OFFSET = _V4.span("queue_offset").start, _V4.span("physical_offset").start
_FLAG, _BORN = _V4.span("sys_flag").start, _V4.span("born_ip").start
_TIME = _V4.span("store_timestamp").stop - _V4.span("born_port").stop
_HOST_4, _HOST_6 = (layout.field("store_ip").size + layout.field("store_port").size for layout in (_V4, _V6))
_BEHIND = _V4.size - _V4.span("store_port").stop
SHORTEST = _V4.size + _TOPIC_1 + 2
LONGEST_HEAD = _V6.size
_BORN_V6, _STORE_V6 = 16, 32
# The longest line, of LONGEST_KEY and IPv6, is shorter than the shortest record that holds it.
LONGEST_KEY = 64  # a longer UNIQ_KEY is no id
_NAME = np.frombuffer(b"UNIQ_KEY\x01", np.uint8)
_MSG_ID = np.frombuffer(b"msgId=", np.uint8)
_OFFSET_ID = np.frombuffer(b"offsetMsgId=", np.uint8)
_BORN_TIME = np.frombuffer(b", bornTimestamp=", np.uint8)
_HEX = np.frombuffer(b"0123456789ABCDEF", np.uint8)

# What a walk came to.
MORE, NO_RECORD, BLANK, FULL, DONE = range(5)
# One row for each topic and queue.
NAME_START, NAME_SIZE, QUEUE_ID, MESSAGES, BYTES, FIRST_TIME, LAST_TIME, LEAST, GREATEST = range(9)
QUEUE_LEAST, QUEUE_GREATEST, CRC_FAILED = range(9, 12)
COLUMNS = 12
# State of a walk.
AT, FILLED, ROWS, NAMES, FIRST_BAD_CRC = range(5)
STATE_SIZE = 5


def _crc_tables() -> np.ndarray:
    tables = np.zeros((8, 256), np.uint32)
    for byte in range(256):
        word = byte
        for _ in range(8):
            word = word >> 1 ^ (0xEDB88320 if word & 1 else 0)
        tables[0, byte] = word
    for row in range(1, 8):
        before = tables[row - 1]
        tables[row] = tables[0, before & 0xFF] ^ before >> 8
    return tables


CRC_TABLES = _crc_tables()


@numba.njit(cache=True, nogil=True)
def crc32(raw, start, stop, tables):
    """CRC-32 as zlib's, eight bytes at a time."""
    word = np.uint32(0xFFFFFFFF)
    at = start
    while at + 8 <= stop:
        word ^= (
            np.uint32(raw[at]) | np.uint32(raw[at + 1]) << np.uint32(8)
            | np.uint32(raw[at + 2]) << np.uint32(16) | np.uint32(raw[at + 3]) << np.uint32(24)
        )  # fmt: skip
        word = (
            tables[7, word & np.uint32(0xFF)] ^ tables[6, word >> np.uint32(8) & np.uint32(0xFF)]
            ^ tables[5, word >> np.uint32(16) & np.uint32(0xFF)] ^ tables[4, word >> np.uint32(24)]
            ^ tables[3, raw[at + 4]] ^ tables[2, raw[at + 5]] ^ tables[1, raw[at + 6]] ^ tables[0, raw[at + 7]]
        )  # fmt: skip
        at += 8
    while at < stop:
        word = tables[0, (word ^ np.uint32(raw[at])) & np.uint32(0xFF)] ^ word >> np.uint32(8)
        at += 1
    return word ^ np.uint32(0xFFFFFFFF)


@numba.njit(cache=True, nogil=True, inline="always")
def be32(raw, at):
    return np.int64(raw[at]) << 24 | np.int64(raw[at + 1]) << 16 | np.int64(raw[at + 2]) << 8 | np.int64(raw[at + 3])


@numba.njit(cache=True, nogil=True, inline="always")
def signed32(raw, at):
    word = be32(raw, at)
    return word - (np.int64(1) << 32) if word >= np.int64(1) << 31 else word


@numba.njit(cache=True, nogil=True, inline="always")
def be64(raw, at):
    return be32(raw, at) << 32 | be32(raw, at + 4)


@numba.njit(cache=True, nogil=True)
def size_at(raw, at, filled, base, end):
    """Bytes of the record that begins there and says so itself; 0 for none, -1 where more bytes have to be seen.

    `base` is the offset of raw[0], `end` the place in `raw` of the file's end, which may lie behind what is filled.
    """
    if at + SHORTEST > end:
        return 0
    if at + 8 > filled:
        return -1
    size = signed32(raw, at)
    magic = be32(raw, at + 4)
    if (magic != _MAGIC_1 and magic != _MAGIC_2) or size < SHORTEST or at + size > end:
        return 0
    if at + size > filled:
        # judge the place first, so that bytes that only look like a head do not ask for more
        if at + _FLAG > filled:
            return -1
        return -1 if be64(raw, at + _OFFSET) == base + at else 0
    if be64(raw, at + _OFFSET) != base + at:
        return 0
    flag = be32(raw, at + _FLAG)
    born = _HOST_6 if flag & _BORN_V6 else _HOST_4
    store = _HOST_6 if flag & _STORE_V6 else _HOST_4
    head = _BORN + born + _TIME + store + _BEHIND
    topic_size = _TOPIC_1 if magic == _MAGIC_1 else _TOPIC_2
    if head + topic_size + 2 > size:
        return 0
    if be32(raw, at + _BORN + born - 4) > 65_535 or be32(raw, at + _BORN + born + _TIME + store - 4) > 65_535:
        return 0
    body = signed32(raw, at + head - 4)
    place = head + body
    if body < 0 or place + topic_size + 2 > size:
        return 0
    topic = np.int64(raw[at + place]) if topic_size == 1 else np.int64(raw[at + place]) << 8 | raw[at + place + 1]
    if topic >= np.int64(1) << (8 * topic_size - 1):
        return 0
    place += topic_size + topic
    if place + 2 > size:
        return 0
    properties = np.int64(raw[at + place]) << 8 | np.int64(raw[at + place + 1])
    return size if properties < 32_768 and place + 2 + properties == size else 0


@numba.njit(cache=True, nogil=True)
def is_blank(raw, at, filled, end):
    """Whether a blank record begins there: it fills the file up to its end."""
    return at + 8 <= filled and be32(raw, at + 4) == BLANK_MAGIC and at + be32(raw, at) == end


@numba.njit(cache=True, nogil=True)
def next_record(raw, at, filled, base, end):
    """The first place from `at` on where a record or a blank one begins, or where more bytes have to be seen."""
    while at + 8 <= filled:
        if raw[at + 4] == 0xDA and raw[at + 5] == 0xA3:
            if size_at(raw, at, filled, base, end) != 0:
                return at
        elif raw[at + 4] == 0xCB and is_blank(raw, at, filled, end):
            return at
        at += 1
    return at


@numba.njit(cache=True, nogil=True)
def _put_hex(raw, start, stop, out, filled):
    for at in range(start, stop):
        out[filled] = _HEX[raw[at] >> 4]
        out[filled + 1] = _HEX[raw[at] & 15]
        filled += 2
    return filled


@numba.njit(cache=True, nogil=True)
def _put_born(born, out, place):
    """The born time, which dates the ids of the line; not one that no clock ever showed."""
    if born < 10**11 or born >= 10**14:
        return place
    for letter in _BORN_TIME:
        out[place] = letter
        place += 1
    size = 12
    while born >= 10**size:
        size += 1
    for digit in range(size - 1, -1, -1):
        out[place + digit] = 48 + born % 10
        born //= 10
    return place + size


@numba.njit(cache=True, nogil=True)
def _key_of(raw, start, stop):
    """Where the value of the last UNIQ_KEY of some properties stands; an empty place for none, or for no plain word."""
    first = last = start
    at = start
    while at + _NAME.size < stop:
        same = True
        for letter in range(_NAME.size):
            if raw[at + letter] != _NAME[letter]:
                same = False
                break
        value = at + _NAME.size
        while at < stop and raw[at] != 2:
            at += 1
        if same and at > value:
            first, last = value, at
        at += 1
    if last - first > LONGEST_KEY:
        return start, start
    for place in range(first, last):
        c = raw[place]
        if not (48 <= c <= 57 or 65 <= c <= 90 or 97 <= c <= 122):
            return start, start
    return first, last


@numba.njit(cache=True, nogil=True)
def _row_of(raw, start, stop, queue, rows, names, state):
    """The row of a topic and queue, made when it is new; -1 when there is no room."""
    row = 0
    while row < state[ROWS]:
        if rows[row, QUEUE_ID] == queue and rows[row, NAME_SIZE] == stop - start:
            name = rows[row, NAME_START]
            same = True
            for letter in range(stop - start):
                if names[name + letter] != raw[start + letter]:
                    same = False
                    break
            if same:
                return row
        row += 1
    if row == rows.shape[0] or state[NAMES] + stop - start > names.size:
        return -1
    name = state[NAMES]
    for letter in range(stop - start):
        names[name + letter] = raw[start + letter]
    state[NAMES] += stop - start
    state[ROWS] += 1
    for column in range(COLUMNS):
        rows[row, column] = 0
    rows[row, NAME_START], rows[row, NAME_SIZE], rows[row, QUEUE_ID] = name, stop - start, queue
    return row


@numba.njit(cache=True, nogil=True)
def records(raw, filled, stop, base, end, tables, out, rows, names, recent, state):
    """Lines of the records that begin from state[AT] up to `stop`; returns what ended the walk, and where is in AT.

    `recent` remembers the row of the last record of each of a few hashes: records of one queue follow one another.
    """
    while True:
        at = state[AT]
        if at >= stop:
            return DONE
        size = size_at(raw, at, filled, base, end)
        if size < 0:
            return MORE
        if size == 0:
            if at + 8 > filled and filled < end:
                return MORE
            return BLANK if is_blank(raw, at, filled, end) else NO_RECORD
        if state[FILLED] + size > out.size:
            return FULL
        flag = be32(raw, at + _FLAG)
        born = _HOST_6 if flag & _BORN_V6 else _HOST_4
        store = _HOST_6 if flag & _STORE_V6 else _HOST_4
        head = at + _BORN + born + _TIME + store + _BEHIND
        body_stop = head + signed32(raw, head - 4)
        topic_start = body_stop + (_TOPIC_1 if be32(raw, at + 4) == _MAGIC_1 else _TOPIC_2)
        topic_stop = topic_start + np.int64(raw[topic_start - 1])
        if be32(raw, at + 4) == _MAGIC_2:
            topic_stop += np.int64(raw[topic_start - 2]) << 8
        queue = signed32(raw, at + _QUEUE)
        hint = queue
        for place in range(topic_start, topic_stop):
            hint = hint * 31 + np.int64(raw[place])
        hint &= recent.size - 1
        row = _again(raw, topic_start, topic_stop, queue, rows, names, recent[hint], state[ROWS])
        if row < 0:
            row = _row_of(raw, topic_start, topic_stop, queue, rows, names, state)
            if row < 0:
                return FULL
            recent[hint] = row
        _count(raw, at, size, at + _BORN + born, base, rows, row)
        if be32(raw, at + _CRC) != np.int64(crc32(raw, head, body_stop, tables)) & 0x7FFFFFFF:
            rows[row, CRC_FAILED] += 1
            if state[FIRST_BAD_CRC] < 0:
                state[FIRST_BAD_CRC] = base + at
        place = state[FILLED]
        key, key_stop = _key_of(raw, topic_stop + 2, at + size)
        if key_stop > key:
            for letter in _MSG_ID:
                out[place] = letter
                place += 1
            for letter in range(key, key_stop):
                out[place] = raw[letter]
                place += 1
            out[place], out[place + 1] = 44, 32
            place += 2
        for letter in _OFFSET_ID:
            out[place] = letter
            place += 1
        host = at + _BORN + born + _TIME
        place = _put_hex(raw, host, host + store, out, place)
        place = _put_hex(raw, at + _OFFSET, at + _OFFSET + 8, out, place)
        place = _put_born(be64(raw, at + _BORN - 8), out, place)
        out[place] = 10
        # as long as the record: so a place in the text is a place in the file
        out[place + 1 : state[FILLED] + size - 1] = 32
        state[FILLED] += size
        out[state[FILLED] - 1] = 10
        state[AT] = at + size


@numba.njit(cache=True, nogil=True)
def skip(raw, filled, stop, base, end, state):
    """As `records`, for what lies before a split: looks at no body and writes no line."""
    while state[AT] < stop:
        at = state[AT]
        size = size_at(raw, at, filled, base, end)
        if size < 0:
            return MORE
        if size == 0:
            if at + 8 > filled and filled < end:
                return MORE
            return BLANK if is_blank(raw, at, filled, end) else NO_RECORD
        state[AT] = at + size
    return DONE


@numba.njit(cache=True, nogil=True)
def _again(raw, start, stop, queue, rows, names, row, count):
    if row < 0 or row >= count or rows[row, QUEUE_ID] != queue or rows[row, NAME_SIZE] != stop - start:
        return -1
    name = rows[row, NAME_START]
    for letter in range(stop - start):
        if names[name + letter] != raw[start + letter]:
            return -1
    return row


@numba.njit(cache=True, nogil=True)
def _count(raw, at, size, time_at, base, rows, row):
    time = be64(raw, time_at)
    place = be64(raw, at + _QUEUE_OFFSET)
    first = rows[row, MESSAGES] == 0
    rows[row, MESSAGES] += 1
    rows[row, BYTES] += size
    if first or time < rows[row, FIRST_TIME]:
        rows[row, FIRST_TIME] = time
    if first or time > rows[row, LAST_TIME]:
        rows[row, LAST_TIME] = time
    if first or base + at < rows[row, LEAST]:
        rows[row, LEAST] = base + at
    if first or base + at > rows[row, GREATEST]:
        rows[row, GREATEST] = base + at
    if first or place < rows[row, QUEUE_LEAST]:
        rows[row, QUEUE_LEAST] = place
    if first or place > rows[row, QUEUE_GREATEST]:
        rows[row, QUEUE_GREATEST] = place
