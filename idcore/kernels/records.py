"""Records of a commit log to lines of text as long as they are: checks places and CRCs, counts topics. No files."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from idcore.base.layout import BLANK_MAGIC, DLEDGER_BLANK, DLEDGER_ENTRY, DLEDGER_MAGIC, RECORD_HEADS, TOPIC_LENGTHS
from idcore.kernels import inlined, inner, kernel
from idcore.kernels.keys import (
    SLACK,
    alike,
    be_32,
    be_64,
    byte_mask_64,
    copy,
    digits_of_8,
    is_plain,
    mixed,
    put_hex,
    signed_32,
)

from .vector import borrowed, load_8, load_64, store_64, trailing_zeros

U = np.uint64
_V4, _V6 = RECORD_HEADS[False, False], RECORD_HEADS[True, True]
MAGIC_1, MAGIC_2 = TOPIC_LENGTHS
TOPIC_1, TOPIC_2 = TOPIC_LENGTHS[MAGIC_1].size, TOPIC_LENGTHS[MAGIC_2].size
_CRC, AT_QUEUE = _V4.span("body_crc").start, _V4.span("queue_id").start
AT_QUEUE_OFFSET, AT_OFFSET = _V4.span("queue_offset").start, _V4.span("physical_offset").start
AT_FLAG, AT_BORN = _V4.span("sys_flag").start, _V4.span("born_ip").start
TIME = _V4.span("store_timestamp").stop - _V4.span("born_port").stop
HOST_4, HOST_6 = (layout.field("store_ip").size + layout.field("store_port").size for layout in (_V4, _V6))
BEHIND = _V4.size - _V4.span("store_port").stop
SHORTEST = _V4.size + TOPIC_1 + 2
LONGEST_HEAD = _V6.size
ENTRY, _ENTRY_POS = DLEDGER_ENTRY.size, DLEDGER_ENTRY.span("pos").start
BORN_V6, STORE_V6 = 16, 32
# The longest line, of LONGEST_KEY and IPv6, is shorter than the shortest record that holds it.
LONGEST_KEY = 64  # a longer UNIQ_KEY is not an id


def _word(text: bytes) -> np.uint64:
    """Eight letters as they are in memory, the first one lowest."""
    return np.uint64(int.from_bytes(text, "little"))


UNIQ_KEY, SET = _word(b"UNIQ_KEY"), 1
NEXT, _U, _T = U(2), U(ord("U")), U(ord("T"))  # between two properties; what those that matter begin with
_TAGS, _FIVE = _word(b"TAGS\x01"), np.uint64(0xFFFFFFFFFF)
_MSG_ID = _word(b"msgId=  ")
_OFFSET_ID, _OFFSET_ID_END = _word(b"offsetMs"), _word(b"gId=    ")
_BORN_TIME, _BORN_TIME_END = _word(b", bornTi"), _word(b"mestamp=")
_COMMA = _word(b",       ")
_FIRST_DATED, _LAST_DATED = 10**11, 10**14 - 1  # in ms: a clock that anybody had

# What a walk came to.
MORE, NO_RECORD, BLANK, FULL, DONE = range(5)
# One row for each topic and queue; and of the same columns, for each topic (in the place of the queue) and tag.
NAME_START, NAME_SIZE, QUEUE_ID, MESSAGES, BYTES, FIRST_TIME, LAST_TIME, LEAST, GREATEST = range(9)
QUEUE_LEAST, QUEUE_GREATEST, CRC_FAILED = range(9, 12)
TOPIC, APART = 12, 13  # the first row of the same name; whether groups have their copies there
COLUMNS = 14
# State of a walk.
AT, FILLED, ROWS, NAMES, FIRST_BAD_CRC, TAGS_CUT, PLACES = range(7)
STATE_SIZE = 7
# Beginnings of topics that have copies, or whole names where they end in a zero.
_APART = np.frombuffer(b"%RETRY%%DLQ%SCHEDULE_TOPIC_XXXX\0rmq_sys_wheel_timer\0", np.uint8)
_APART_EDGES = np.array([0, 7, 12, 32, 52])
_MOST = (1 << 63) - 1


def _crc_tables() -> np.ndarray:
    tables = np.zeros((16, 256), np.uint32)
    for byte in range(256):
        word = byte
        for _ in range(8):
            word = word >> 1 ^ (0xEDB88320 if word & 1 else 0)
        tables[0, byte] = word
    for row in range(1, 16):
        before = tables[row - 1]
        tables[row] = tables[0, before & 0xFF] ^ before >> 8
    return tables


CRC_TABLES = _crc_tables()


@kernel
def crc_at(p, size):
    """CRC-32 as zlib's, sixteen bytes at a time."""
    tables = CRC_TABLES
    crc = U(0xFFFFFFFF)
    low = U(0xFF)
    while size >= 16:
        a = load_64(p) ^ crc
        b = load_64(p + U(8))
        crc = U(
            tables[15, a & low]
            ^ tables[14, a >> U(8) & low]
            ^ tables[13, a >> U(16) & low]
            ^ tables[12, a >> U(24) & low]
            ^ tables[11, a >> U(32) & low]
            ^ tables[10, a >> U(40) & low]
            ^ tables[9, a >> U(48) & low]
            ^ tables[8, a >> U(56)]
            ^ tables[7, b & low]
            ^ tables[6, b >> U(8) & low]
            ^ tables[5, b >> U(16) & low]
            ^ tables[4, b >> U(24) & low]
            ^ tables[3, b >> U(32) & low]
            ^ tables[2, b >> U(40) & low]
            ^ tables[1, b >> U(48) & low]
            ^ tables[0, b >> U(56)]
        )
        p += U(16)
        size -= 16
    while size > 0:
        crc = U(tables[0, (crc ^ U(load_8(p))) & low]) ^ crc >> U(8)
        p += U(1)
        size -= 1
    return crc ^ U(0xFFFFFFFF)


@kernel
def size_at(first, at, filled, base, end):
    """Bytes of the record that begins there and says so itself; 0 for none, -1 where more bytes have to be seen.

    `first` is the address of what is read, `base` its offset, `end` the place in it of the file's end, which may be
    behind what is filled. Behind what is filled there is SLACK with any bytes in it.
    """
    if at + SHORTEST > end:
        return 0
    if at + 8 > filled:
        return -1
    p = first + U(at)
    size = signed_32(p)
    magic = be_32(p + U(4))
    if (magic != MAGIC_1 and magic != MAGIC_2) or size < SHORTEST or at + size > end:
        return 0
    if at + size > filled:
        # judge the place first, so that bytes that only look like a head do not ask for more
        if at + AT_FLAG > filled:
            return -1
        return -1 if be_64(p + U(AT_OFFSET)) == base + at else 0
    if be_64(p + U(AT_OFFSET)) != base + at:
        return 0
    flag = be_32(p + U(AT_FLAG))
    born = HOST_6 if flag & BORN_V6 else HOST_4
    store = HOST_6 if flag & STORE_V6 else HOST_4
    head = AT_BORN + born + TIME + store + BEHIND
    topic_size = TOPIC_1 if magic == MAGIC_1 else TOPIC_2
    if head + topic_size + 2 > size:
        return 0
    if be_32(p + U(AT_BORN + born - 4)) > 65_535 or be_32(p + U(AT_BORN + born + TIME + store - 4)) > 65_535:
        return 0
    body = signed_32(p + U(head - 4))
    place = head + body
    if body < 0 or place + topic_size + 2 > size:
        return 0
    topic = be_32(p + U(place)) >> (32 - 8 * topic_size)
    if topic >= np.int64(1) << (8 * topic_size - 1):
        return 0
    place += topic_size + topic
    if place + 2 > size:
        return 0
    properties = be_32(p + U(place)) >> 16
    return size if properties < 32_768 and place + 2 + properties == size else 0


@kernel
def is_blank(first, at, filled, end):
    """Whether padding begins there: it fills the file up to its end. In a DLedger log its size is behind its magic."""
    p = first + U(at)
    if at + 8 > filled:
        return False
    if signed_32(p) == DLEDGER_BLANK:
        return at + be_32(p + U(4)) == end
    return be_32(p + U(4)) == BLANK_MAGIC and at + be_32(p) == end


@kernel
def why_none(size, first, at, filled, end):
    """What ends a walk where no whole record begins: more is to be read, padding, or bytes that are no record."""
    if size < 0 or (at + 8 > filled and filled < end):
        return MORE
    return BLANK if is_blank(first, at, filled, end) else NO_RECORD


@inner
def entry_at(first, at, filled, base, end):
    """Bytes of the head of a DLedger entry that begins there and says so itself; 0 for none, -1: more is needed."""
    if at + ENTRY + SHORTEST > end:
        return 0
    if at + ENTRY > filled:
        return 0 if at + 4 <= filled and signed_32(first + U(at)) != DLEDGER_MAGIC else -1
    p = first + U(at)
    if signed_32(p) != DLEDGER_MAGIC or be_64(p + U(_ENTRY_POS)) != base + at:
        return 0
    return ENTRY if be_32(p + U(4)) == ENTRY + be_32(p + U(ENTRY - 4)) else 0


@inner
def unit_at(first, at, filled, base, end):
    """What is in front of a record that begins there, and the record's bytes, as `size_at` has them."""
    size = size_at(first, at, filled, base, end)
    if size != 0:
        return 0, size
    ahead = entry_at(first, at, filled, base, end)
    if ahead <= 0:
        return 0, ahead
    return ahead, size_at(first, at + ahead, filled, base, end)


@kernel
def next_record(raw, at, filled, base, end):
    """The first place from `at` on where a record or padding begins, or where more bytes have to be seen."""
    first = U(raw.ctypes.data)
    while at + 8 <= filled:
        if raw[at + 4] == 0xDA and raw[at + 5] == 0xA3:
            if size_at(first, at, filled, base, end) != 0:
                return at
        elif raw[at + 4] == 0xCB and is_blank(first, at, filled, end):
            return at
        at += 1
    return at


@inner
def _put_born(born, out):
    """The born time, which dates the ids of the line; not one that no clock ever showed."""
    if born < _FIRST_DATED or born > _LAST_DATED:
        return out
    store_64(out, _BORN_TIME)
    store_64(out + U(8), _BORN_TIME_END)
    above = U(born) // U(100_000_000)
    size = 4 if above < U(10_000) else 5 if above < U(100_000) else 6
    store_64(out + U(16), digits_of_8(above) >> U(64 - 8 * size))
    store_64(out + U(16 + size), digits_of_8(U(born) % U(100_000_000)))
    return out + U(24 + size)


@inlined
def _end_of(p, at, size):
    """Where the value that begins at `at` ends."""
    while at < size:
        mask = byte_mask_64(p + U(at), NEXT)
        if mask != U(0):
            return min(size, at + np.int64(trailing_zeros(mask)))
        at += 64
    return size


@inner
def key_and_tag(p, size):
    """Where the last UNIQ_KEY and the last TAGS of some properties have their values, and the sizes; 0 for none."""
    first = found = tag = tag_size = 0
    carry = U(1)  # a property begins with the first byte
    for block in range(0, size, 64):
        q = p + U(block)
        ends = byte_mask_64(q, NEXT)
        begins = (ends << U(1) | carry) & (byte_mask_64(q, _U) | byte_mask_64(q, _T))
        carry = ends >> U(63)
        while begins != U(0):
            begin = block + np.int64(trailing_zeros(begins))
            begins &= begins - U(1)
            word = load_64(p + U(begin))
            if word == UNIQ_KEY and load_8(p + U(begin + 8)) == SET:
                end = _end_of(p, begin + 9, size)
                if end > begin + 9:
                    first, found = begin + 9, end - begin - 9
            elif word & _FIVE == _TAGS:
                end = _end_of(p, begin + 5, size)
                if end > begin + 5:
                    tag, tag_size = begin + 5, end - begin - 5
    return first, found, tag, tag_size


class Log(NamedTuple):
    """Bytes of a commit log: so many of `raw` are filled, records that begin before `stop` are asked for, `base` is the
    offset of the first byte, and the log ends at `end`."""

    raw: np.ndarray
    filled: int
    stop: int
    base: int
    end: int


class RecordCounts(NamedTuple):
    """What is counted by name: rows, names, the row that a hash led to last, and how many there are of all these."""

    rows: np.ndarray
    names: np.ndarray
    recent: np.ndarray
    state: np.ndarray


@inner
def is_among(p, size, names, edges):
    """Whether a topic begins with one of the names, or is one that ends in a zero."""
    for place in range(edges.size - 1):
        start, stop = edges[place], edges[place + 1]
        whole = names[stop - 1] == 0
        length = stop - start - (1 if whole else 0)
        if size < length or (whole and size != length):
            continue
        same = True
        for at in range(length):
            if load_8(p + U(at)) != names[start + at]:
                same = False
                break
        if same:
            return True
    return False


@inlined
def is_row(row, p, size, queue, rows, names, count):
    """Whether a row is that of the record before it of the same hash, as records of one queue follow one another."""
    return (
        0 <= row
        and row < count
        and rows[row, QUEUE_ID] == queue
        and rows[row, NAME_SIZE] == size
        and alike(p, names + U(rows[row, NAME_START]), size)
    )


@kernel
def row_of(p, size, queue, hint, counted):
    """The row of a topic and queue, made when it is new; -1 when it has no room. `recent[hint]` will say it."""
    rows, names, recent, state = counted
    q = U(names.ctypes.data)
    row = 0
    while row < state[ROWS]:
        seen = rows[row]
        if seen[QUEUE_ID] == queue and seen[NAME_SIZE] == size and alike(p, q + U(seen[NAME_START]), size):
            recent[hint] = row
            return row
        row += 1
    name = state[NAMES]
    if row == rows.shape[0] or name + size + SLACK > names.size:
        return -1
    copy(p, q + U(name), size)
    state[NAMES] += size
    state[ROWS] += 1
    new = rows[row]
    new[:] = 0
    new[NAME_START], new[NAME_SIZE], new[QUEUE_ID] = name, size, queue
    new[FIRST_TIME] = new[LEAST] = new[QUEUE_LEAST] = _MOST
    new[LAST_TIME] = new[GREATEST] = new[QUEUE_GREATEST] = -_MOST - 1
    new[TOPIC], new[APART] = row, 1 if is_among(p, size, _APART, _APART_EDGES) else 0
    for other in range(row):
        if rows[other, NAME_SIZE] == size and alike(p, q + U(rows[other, NAME_START]), size):
            new[TOPIC] = rows[other, TOPIC]
            break
    recent[hint] = row
    return row


@kernel
def records(log, out, topics, tags, places):
    """Lines of the records that begin from state[AT] up to `stop`; returns what ended the walk; AT has the place.

    `places` gets begin and size of each record in a topic of copies, and the first row of the topic.

    The state of the topics is that of the walk. Where one more tag has no room, TAGS_CUT is set in theirs, and no
    further tag is counted.
    """
    log, topics, tags = borrowed(log), borrowed(topics), borrowed(tags)
    raw, filled, stop, base, end = log
    rows, recent, state = topics.rows, topics.recent, topics.state
    first, line = U(raw.ctypes.data), U(out.ctypes.data)
    names, tag_names = U(topics.names.ctypes.data), U(tags.names.ctypes.data)
    while True:
        at = state[AT]
        if at >= stop:
            return DONE
        ahead, size = unit_at(first, at, filled, base, end)
        if size <= 0:
            return why_none(size, first, at, filled, end)
        begin = state[FILLED] + ahead
        if begin + size > out.size or state[PLACES] == places.shape[0]:
            return FULL
        at += ahead
        p = first + U(at)
        flag = be_32(p + U(AT_FLAG))
        born = HOST_6 if flag & BORN_V6 else HOST_4
        store = HOST_6 if flag & STORE_V6 else HOST_4
        head = AT_BORN + born + TIME + store + BEHIND
        body = signed_32(p + U(head - 4))
        topic_size = TOPIC_1 if be_32(p + U(4)) == MAGIC_1 else TOPIC_2
        topic = p + U(head + body + topic_size)
        length = be_32(topic - U(topic_size)) >> (32 - 8 * topic_size)
        queue = signed_32(p + U(AT_QUEUE))
        hint = np.int64(mixed(topic, length, queue)) & (recent.size - 1)
        number = recent[hint]
        if not is_row(number, topic, length, queue, rows, names, state[ROWS]):
            number = row_of(topic, length, queue, hint, topics)
        if number < 0:
            return FULL
        row = rows[number]
        if row[APART]:
            kept = places[state[PLACES]]
            kept[0], kept[1], kept[2] = at, size, row[TOPIC]
            state[PLACES] += 1
        _count(row, size, base + at, be_64(p + U(AT_BORN + born)), be_64(p + U(AT_QUEUE_OFFSET)))
        if be_32(p + U(_CRC)) != np.int64(crc_at(p + U(head), body)) & 0x7FFFFFFF:
            row[CRC_FAILED] += 1
            if state[FIRST_BAD_CRC] < 0:
                state[FIRST_BAD_CRC] = base + at
        properties = topic + U(length + 2)
        key, key_size, tag, tag_size = key_and_tag(properties, np.int64(p + U(size) - properties))
        if tag_size > 0 and tags.state[TAGS_CUT] == 0:
            tag_at = properties + U(tag)
            hint = np.int64(mixed(tag_at, tag_size, row[TOPIC])) & (tags.recent.size - 1)
            number = tags.recent[hint]
            if not is_row(number, tag_at, tag_size, row[TOPIC], tags.rows, tag_names, tags.state[ROWS]):
                number = row_of(tag_at, tag_size, row[TOPIC], hint, tags)
            if number < 0:
                tags.state[TAGS_CUT] = 1
            else:
                tags.rows[number, MESSAGES] += 1
                tags.rows[number, BYTES] += size
        place = line + U(begin)
        if 0 < key_size <= LONGEST_KEY and is_plain(properties + U(key), key_size):
            store_64(place, _MSG_ID)
            copy(properties + U(key), place + U(6), key_size)
            place += U(6 + key_size)
            store_64(place, _COMMA)
            place += U(2)
        store_64(place, _OFFSET_ID)
        store_64(place + U(8), _OFFSET_ID_END)
        place = put_hex(p + U(AT_BORN + born + TIME), place + U(12), store)
        place = put_hex(p + U(AT_OFFSET), place, 8)
        place = _put_born(be_64(p + U(AT_BORN - 8)), place)
        used = np.int64(place - line)
        out[used] = 10
        out[begin - ahead : begin] = 32
        # as long as the record: so a place in the text is a place in the file
        out[used + 1 : begin + size - 1] = 32
        out[begin + size - 1] = 10
        state[FILLED] = begin + size
        state[AT] = at + size


@kernel
def skip(log, state):
    """As `records`, for what is before a split: looks at no body and writes no line."""
    raw, filled, stop, base, end = log
    first = U(raw.ctypes.data)
    while state[AT] < stop:
        at = state[AT]
        ahead, size = unit_at(first, at, filled, base, end)
        if size <= 0:
            return why_none(size, first, at, filled, end)
        state[AT] = at + ahead + size
    return DONE


@inlined
def _count(row, size, offset, time, place):
    row[MESSAGES] += 1
    row[BYTES] += size
    row[FIRST_TIME], row[LAST_TIME] = min(row[FIRST_TIME], time), max(row[LAST_TIME], time)
    row[LEAST], row[GREATEST] = min(row[LEAST], offset), max(row[GREATEST], offset)
    row[QUEUE_LEAST], row[QUEUE_GREATEST] = min(row[QUEUE_LEAST], place), max(row[QUEUE_GREATEST], place)
