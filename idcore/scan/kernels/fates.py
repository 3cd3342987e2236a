"""Records of a commit log to what their fate rests on: copies that groups made, and counts of messages. Judges nothing.

Messages are counted by queue, minute, and the interval between the offsets that matter in their queue, so the work does
not grow with the number of groups.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np

from idcore.layout import RECORD_HEADS, TOPIC_LENGTHS
from idcore.scan.kernels.keys import SLACK, alike, be_32, be_64, byte_mask_64, copy, mixed, put_hex, signed_32
from idcore.scan.kernels.records import (
    AT,
    BLANK,
    DONE,
    FULL,
    MORE,
    NAME_SIZE,
    NAME_START,
    NO_RECORD,
    QUEUE_ID,
    is_blank,
    size_at,
)

from .vector import borrowed, load_8, load_64, store_64, trailing_zeros

U = np.uint64
_V4, _V6 = RECORD_HEADS[False, False], RECORD_HEADS[True, True]
_MAGIC_1, _MAGIC_2 = TOPIC_LENGTHS
_TOPIC_1, _TOPIC_2 = TOPIC_LENGTHS[_MAGIC_1].size, TOPIC_LENGTHS[_MAGIC_2].size
_QUEUE, _QUEUE_OFFSET, _OFFSET = (_V4.span(name).start for name in ("queue_id", "queue_offset", "physical_offset"))
_FLAG, _BORN = _V4.span("sys_flag").start, _V4.span("born_ip").start
_TIME = _V4.field("store_timestamp").size
_HOST_4, _HOST_6 = (layout.field("store_ip").size + layout.field("store_port").size for layout in (_V4, _V6))
_BEHIND = _V4.size - _V4.span("store_port").stop
_BORN_V6, _STORE_V6 = 16, 32
_NEXT, _U, _SET, _PERCENT = U(2), U(ord("U")), 1, ord("%")
_UNIQ_KEY = U(int.from_bytes(b"UNIQ_KEY", "little"))
_TAGS = np.frombuffer(b"TAGS\1", np.uint8)

# Properties of a copy that are kept, in this order; the first is the key, and has its own place for messages too.
PROPERTIES = ("UNIQ_KEY", "REAL_TOPIC", "ORIGIN_MESSAGE_ID", "1ST_POP_TIME", "TIMER_OUT_MS")
_NAMES = np.frombuffer("".join(PROPERTIES).encode(), np.uint8)
_EDGES = np.cumsum([0, *map(len, PROPERTIES)])
# Beginnings of topics that have copies, or whole names where they end in a zero.
_PLACES = np.frombuffer(b"%RETRY%%DLQ%SCHEDULE_TOPIC_XXXX\0rmq_sys_wheel_timer\0", np.uint8)
_PLACE_EDGES = np.array([0, 7, 12, 32, 52])

# One row of a copy; behind COPY_TEXTS begin and size of the topic and of each property in the texts.
COPY_OFFSET, COPY_QUEUE, COPY_PLACE, COPY_TIME, COPY_TRIES, COPY_TEXTS = range(6)
COPY_COLUMNS = COPY_TEXTS + 2 * (1 + len(PROPERTIES))
# One row of messages that are counted together. KIND: 1 with a UNIQ_KEY, and 2 for each place of their tag in the plan.
QUEUE, MINUTE, INTERVAL, KIND, MESSAGES, BYTES, FIRST_PLACE, LAST_PLACE, FIRST_TIME, LAST_TIME = range(10)
COUNT_COLUMNS = 10
# One row of a message that is given by itself; behind it begin and size of its key and of its offsetMsgId.
ONE_OFFSET, ONE_QUEUE, ONE_PLACE, ONE_TIME, ONE_SIZE, ONE_INTERVAL, ONE_WHY, ONE_KIND, ONE_TEXTS = range(9)
ONE_COLUMNS = ONE_TEXTS + 4
HAS_COPIES, LISTED = 1, 2  # why: copies may have its key, and it is not counted; or some group has not consumed it
# Of a queue: the edges of its intervals, where these are listed, how many kinds of messages it has, and its tags.
FIRST_EDGE, EDGES_END, FIRST_LISTED, KINDS, FIRST_TAG, TAGS_END = range(6)
# State of a walk, behind the place AT.
ROWS, TEXTS, COUNTS, LEFT, TRACES, TRACES_LEFT_OUT = range(1, 7)
STATE_SIZE = 8
_MINUTE_MS = 60_000
_LONGEST_ID = 56


class Out(NamedTuple):
    """Rows and their texts."""

    rows: np.ndarray
    texts: np.ndarray


class Traces(NamedTuple):
    """Trace topics, as `copies` compares them: names that end in a zero, and where each begins; the first physical
    offset of records that are given; where in the bytes at hand such records are, and their sizes."""

    names: np.ndarray
    edges: np.ndarray
    since: int
    places: np.ndarray


class Plan(NamedTuple):
    """The queues of messages: rows with their names; in `spans` the columns FIRST_EDGE to TAGS_END; the keys of copies,
    by hash; where in the names the tags that matter are."""

    queues: np.ndarray
    names: np.ndarray
    recent: np.ndarray
    spans: np.ndarray
    edges: np.ndarray
    listed: np.ndarray
    keys: np.ndarray
    tags: np.ndarray


@numba.njit(cache=True, nogil=True)
def hash_of(p, size):
    """A hash of all bytes of a key; never 0, which is an empty place."""
    word = U(size) * U(0x9E3779B97F4A7C15)
    while size > 0:
        part = load_64(p)
        if size < 8:
            part = part << U(64 - 8 * size)
        word = (word ^ part) * U(0xFF51AFD7ED558CCD)
        word ^= word >> U(32)
        p += U(8)
        size -= 8
    return word | U(1)


@numba.njit(cache=True, nogil=True)
def fill(texts, starts, sizes, table):
    """Puts the hash of each key into a table of 2**n places that is at most half full."""
    first, mask = U(texts.ctypes.data), U(table.size - 1)
    for row in range(starts.size):
        word = hash_of(first + U(starts[row]), sizes[row])
        at = word >> U(8) & mask
        while table[at] != U(0) and table[at] != word:
            at = at + U(1) & mask
        table[at] = word


@numba.njit(cache=True, nogil=True)
def gather(first, starts, sizes, out):
    """Texts one behind the other; `first` is the address that they begin from."""
    target, at = U(out.ctypes.data), 0
    for row in range(starts.size):
        p, left = first + U(starts[row]), sizes[row]
        while left >= 8:
            store_64(target + U(at), load_64(p))
            p += U(8)
            at += 8
            left -= 8
        while left > 0:
            out[at] = load_8(p)
            p += U(1)
            at += 1
            left -= 1


@numba.njit(cache=True, nogil=True, inline="always")
def _has(table, word):
    mask = U(table.size - 1)
    at = word >> U(8) & mask
    while table[at] != U(0):
        if table[at] == word:
            return True
        at = at + U(1) & mask
    return False


@numba.njit(cache=True, nogil=True)
def _end_of(p, at, size):
    """Where the value that begins at `at` ends."""
    while at < size and U(load_8(p + U(at))) != _NEXT:
        at += 1
    return at


@numba.njit(cache=True, nogil=True)
def _key_of(p, size):
    """Where the last UNIQ_KEY of some properties has its value, and its size; 0 for none."""
    first = found = 0
    carry = U(1)  # a property begins with the first byte
    for block in range(0, size, 64):
        q = p + U(block)
        ends = byte_mask_64(q, _NEXT)
        begins = (ends << U(1) | carry) & byte_mask_64(q, _U)
        carry = ends >> U(63)
        while begins != U(0):
            begin = block + np.int64(trailing_zeros(begins))
            begins &= begins - U(1)
            if load_64(p + U(begin)) == _UNIQ_KEY and load_8(p + U(begin + 8)) == _SET and begin + 9 < size:
                end = _end_of(p, begin + 9, size)
                if end > begin + 9:
                    first, found = begin + 9, end - begin - 9
    return first, found


@numba.njit(cache=True, nogil=True)
def _is_among(p, size, names, edges):
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


@numba.njit(cache=True, nogil=True)
def _parts(p):
    """Where in a record store time, body, topic (and its size) and properties are."""
    flag = be_32(p + U(_FLAG))
    born = _HOST_6 if flag & _BORN_V6 else _HOST_4
    store = _HOST_6 if flag & _STORE_V6 else _HOST_4
    head = _BORN + born + _TIME + store + _BEHIND
    topic_size = _TOPIC_1 if be_32(p + U(4)) == _MAGIC_1 else _TOPIC_2
    topic = head + signed_32(p + U(head - 4)) + topic_size
    length = be_32(p + U(topic - topic_size)) >> (32 - 8 * topic_size)
    return _BORN + born, store, topic, length, topic + length + 2


@numba.njit(cache=True, nogil=True, inline="always")
def _keep(p, size, out, state, row, column):
    """A text behind the others, and its place in the row."""
    at = state[TEXTS]
    copy(p, U(out.texts.ctypes.data) + U(at), size)
    out.rows[row, column], out.rows[row, column + 1] = at, size
    state[TEXTS] = at + size


@numba.njit(cache=True, nogil=True)
def _keep_properties(p, size, out, state, row):
    """The properties of a copy that matter; the last of a name counts, and an empty one does not."""
    for number in range(_EDGES.size - 1):
        out.rows[row, COPY_TEXTS + 2 + 2 * number + 1] = 0
    at = 0
    while at < size:
        end = _end_of(p, at, size)
        for number in range(_EDGES.size - 1):
            start, stop = _EDGES[number], _EDGES[number + 1]
            value = at + stop - start + 1
            if value >= end or load_8(p + U(value - 1)) != _SET:
                continue
            same = True
            for place in range(start, stop):
                if load_8(p + U(at + place - start)) != _NAMES[place]:
                    same = False
                    break
            if same:
                _keep(p + U(value), end - value, out, state, row, COPY_TEXTS + 2 + 2 * number)
        at = end + 1


@numba.njit(cache=True, nogil=True)
def copies(log, traces, out, state):
    """The copies that begin from state[AT] up to `stop`, and where trace records are; returns what ended the walk."""
    log, traces, out = borrowed(log), borrowed(traces), borrowed(out)
    raw, filled, stop, base, end = log
    first = U(raw.ctypes.data)
    while state[AT] < stop:
        at = state[AT]
        size = size_at(first, at, filled, base, end)
        if size < 0:
            return MORE
        if size == 0:
            if at + 8 > filled and filled < end:
                return MORE
            return BLANK if is_blank(first, at, filled, end) else NO_RECORD
        p = first + U(at)
        time, store, topic, length, properties = _parts(p)
        if _is_among(p + U(topic), length, traces.names, traces.edges):
            if base + at < traces.since:
                state[TRACES_LEFT_OUT] += 1
            else:
                found = state[TRACES]
                if found == traces.places.shape[0]:
                    return FULL
                traces.places[found, 0], traces.places[found, 1] = at, size
                state[TRACES] = found + 1
        elif _is_among(p + U(topic), length, _PLACES, _PLACE_EDGES):
            row = state[ROWS]
            if row == out.rows.shape[0] or state[TEXTS] + 2 * size + SLACK > out.texts.size:
                return FULL
            out.rows[row, COPY_OFFSET], out.rows[row, COPY_QUEUE] = base + at, signed_32(p + U(_QUEUE))
            out.rows[row, COPY_PLACE], out.rows[row, COPY_TIME] = be_64(p + U(_QUEUE_OFFSET)), be_64(p + U(time))
            out.rows[row, COPY_TRIES] = signed_32(p + U(time + _TIME + store))
            before = state[TEXTS]
            _keep(p + U(topic), length, out, state, row, COPY_TEXTS)
            _keep_properties(p + U(properties), size - properties, out, state, row)
            # a message with a delay waits in the same places; it is no group's
            real, real_size = out.rows[row, COPY_TEXTS + 4], out.rows[row, COPY_TEXTS + 5]
            if load_8(p + U(topic)) == _PERCENT or (real_size > 0 and out.texts[real] == _PERCENT):
                state[ROWS] = row + 1
            else:
                state[TEXTS] = before
        state[AT] = at + size
    return DONE


@numba.njit(cache=True, nogil=True)
def _queue_of(p, size, queue, plan):
    """The number of a topic's queue in the plan; -1 for one that is not in it."""
    queues, recent = plan.queues, plan.recent
    names = U(plan.names.ctypes.data)
    hint = np.int64(mixed(p, size, queue)) & (recent.size - 1)
    row = recent[hint]
    if row >= 0:
        seen = queues[row]
        if seen[QUEUE_ID] == queue and seen[NAME_SIZE] == size and alike(p, names + U(seen[NAME_START]), size):
            return row
    for row in range(queues.shape[0]):
        seen = queues[row]
        if seen[QUEUE_ID] == queue and seen[NAME_SIZE] == size and alike(p, names + U(seen[NAME_START]), size):
            recent[hint] = row
            return row
    return -1


@numba.njit(cache=True, nogil=True, inline="always")
def _interval_of(plan, queue, place):
    """How many edges of the queue are at a place or before it."""
    low, high = plan.spans[queue, FIRST_EDGE], plan.spans[queue, EDGES_END]
    begin = low
    while low < high:
        middle = (low + high) >> 1
        if plan.edges[middle] <= place:
            low = middle + 1
        else:
            high = middle
    return low - begin


@numba.njit(cache=True, nogil=True)
def _tag_of(p, size, plan, queue):
    """The place of a message's tag among those of its queue, from 1; 0 for no tag and any other."""
    at = first = found = 0
    while at < size:
        end = _end_of(p, at, size)
        if end > at + _TAGS.size:
            same = True
            for place in range(_TAGS.size):
                if load_8(p + U(at + place)) != _TAGS[place]:
                    same = False
                    break
            if same:
                first, found = at + _TAGS.size, end - at - _TAGS.size
        at = end + 1
    names = U(plan.names.ctypes.data)
    for row in range(plan.spans[queue, FIRST_TAG], plan.spans[queue, TAGS_END]):
        if plan.tags[row, 1] == found and found > 0 and alike(p + U(first), names + U(plan.tags[row, 0]), found):
            return row - plan.spans[queue, FIRST_TAG] + 1
    return 0


@numba.njit(cache=True, nogil=True, inline="always")
def _count(counts, state, recent, values):
    """One more message, in the row of the one before it in its queue where that is the same minute and interval."""
    queue, minute, interval, kind, size, place, time = values
    row = recent[queue, kind]
    if row < 0 or counts[row, MINUTE] != minute or counts[row, INTERVAL] != interval:
        row = state[COUNTS]
        state[COUNTS] = row + 1
        recent[queue, kind] = row
        new = counts[row]
        new[QUEUE], new[MINUTE], new[INTERVAL], new[KIND] = queue, minute, interval, kind
        new[MESSAGES] = new[BYTES] = 0
        new[FIRST_PLACE] = new[LAST_PLACE] = place
        new[FIRST_TIME] = new[LAST_TIME] = time
    old = counts[row]
    old[MESSAGES] += 1
    old[BYTES] += size
    old[FIRST_PLACE], old[LAST_PLACE] = min(old[FIRST_PLACE], place), max(old[LAST_PLACE], place)
    old[FIRST_TIME], old[LAST_TIME] = min(old[FIRST_TIME], time), max(old[LAST_TIME], time)


@numba.njit(cache=True, nogil=True)
def messages(log, plan, counts, recent, out, state):
    """Counts the messages that begin from state[AT] up to `stop`; returns what ended the walk.

    One whose key a copy has is given by itself instead. The first state[LEFT] that a group has not consumed are given
    too. `recent` has the last row of each queue and kind.
    """
    log, plan, out = borrowed(log), borrowed(plan), borrowed(out)
    raw, filled, stop, base, end = log
    first = U(raw.ctypes.data)
    while state[AT] < stop:
        at = state[AT]
        size = size_at(first, at, filled, base, end)
        if size < 0:
            return MORE
        if size == 0:
            if at + 8 > filled and filled < end:
                return MORE
            return BLANK if is_blank(first, at, filled, end) else NO_RECORD
        if state[COUNTS] == counts.shape[0] or state[ROWS] == out.rows.shape[0]:
            return FULL
        if state[TEXTS] + size + _LONGEST_ID + SLACK > out.texts.size:
            return FULL
        p = first + U(at)
        time_at, store, topic, length, properties = _parts(p)
        queue = _queue_of(p + U(topic), length, signed_32(p + U(_QUEUE)), plan)
        if queue >= 0:
            place, time = be_64(p + U(_QUEUE_OFFSET)), be_64(p + U(time_at))
            interval = _interval_of(plan, queue, place)
            key, key_size = _key_of(p + U(properties), size - properties)
            kind = 1 if key_size > 0 else 0
            why = HAS_COPIES if kind and _has(plan.keys, hash_of(p + U(properties + key), key_size)) else 0
            kinds = plan.spans[queue, KINDS]
            if kinds > 2:
                kind += 2 * _tag_of(p + U(properties), size - properties, plan, queue)
            if why == 0:
                _count(counts, state, recent, (queue, time // _MINUTE_MS, interval, kind, size, place, time))
                if plan.listed[plan.spans[queue, FIRST_LISTED] + kinds * interval + kind] and state[LEFT] > 0:
                    why = LISTED
                    state[LEFT] -= 1
            if why:
                row = state[ROWS]
                one = out.rows[row]
                one[ONE_OFFSET], one[ONE_QUEUE], one[ONE_PLACE], one[ONE_TIME] = base + at, queue, place, time
                one[ONE_SIZE], one[ONE_INTERVAL], one[ONE_WHY], one[ONE_KIND] = size, interval, why, kind
                _keep(p + U(properties + key), key_size, out, state, row, ONE_TEXTS)
                target = U(out.texts.ctypes.data) + U(state[TEXTS])
                middle = put_hex(p + U(time_at + _TIME), target, store)
                put_hex(p + U(_OFFSET), middle, 8)
                one[ONE_TEXTS + 2], one[ONE_TEXTS + 3] = state[TEXTS], 2 * store + 16
                state[TEXTS] += 2 * store + 16
                state[ROWS] = row + 1
        state[AT] = at + size
    return DONE
