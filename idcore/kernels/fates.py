"""Records of a commit log to what their fate rests on: copies that groups made, and counts of messages. Judges nothing.

Messages are counted by queue, minute, and the interval between the offsets that matter in their queue, so the work does
not grow with the number of groups.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from idcore.base.layout import ID_DIGITS
from idcore.ids.clock import MINUTE_MS, NO_TIME
from idcore.kernels import inlined, inner, kernel
from idcore.kernels.keys import SLACK, alike, be_32, be_64, copy, mixed, put_hex, signed_32
from idcore.kernels.records import (
    AT,
    AT_BORN,
    AT_FLAG,
    AT_OFFSET,
    AT_QUEUE,
    AT_QUEUE_OFFSET,
    BEHIND,
    BORN_V6,
    DONE,
    FULL,
    HOST_4,
    HOST_6,
    MAGIC_1,
    NAME_SIZE,
    NAME_START,
    NEXT,
    PLACES,
    QUEUE_ID,
    SET,
    STORE_V6,
    TIME,
    TOPIC_1,
    TOPIC_2,
    is_among,
    is_row,
    key_and_tag,
    row_of,
    size_at,
    why_none,
)
from idcore.kernels.records import ROWS as WHICH_ROWS

from . import signs
from .signs import is_digit
from .vector import borrowed, load_8, load_64, store_64

U = np.uint64

# Properties of a copy that matter, and behind them those that name queues of light topics (LMQ) with places there.
_OF_LIGHTS = ("INNER_MULTI_DISPATCH", "INNER_MULTI_QUEUE_OFFSET", "__LITE_TOPIC")
PROPERTIES = ("UNIQ_KEY", "REAL_TOPIC", "ORIGIN_MESSAGE_ID", "1ST_POP_TIME", "TIMER_OUT_MS", "RETRY_TOPIC", *_OF_LIGHTS)
_KEY, _REAL, _ORIGIN, _POPPED, _DUE, _HOME, _LIGHT, _LIGHT_PLACES, _LITE = range(len(PROPERTIES))
MOST_LIGHT = 8  # queues of light topics that are looked at of a record (MOST_RECORDS of idcore.answers.lookup)
_NAMES = np.frombuffer("".join(PROPERTIES).encode(), np.uint8)
LONGEST_ID = ID_DIGITS[-1]
_EDGES = np.cumsum([0, *map(len, PROPERTIES)])
_MOST_DIGITS = 18  # of a number (idcore.rocketmq.message.properties)
UNKNOWN = NO_TIME


def _numbers(names: str) -> np.dtype:
    """Rows of whole numbers with these names."""
    return np.dtype([(name, np.int64) for name in names.split()])


# A copy. `which` is the row of its topic, real topic and whether it was popped; texts are two hashes of the key, and
# one each of the offsetMsgId and of the topic (`home`) that it names, or 0.
COPY = _numbers("offset queue place time tries which due key key_2 origin home")
# Messages that are counted together. `kind`: 1 with a UNIQ_KEY, and 2 for each place of their tag in the plan.
COUNT = _numbers("queue minute interval kind messages bytes first_place last_place first_time last_time")
# A message that is given by itself: with the hashes of its key, of its offsetMsgId, and of what it names as a copy
# does, where copies may have the key; and with begin and size of the key among the texts.
ONE = _numbers("offset queue place time size interval why kind key key_2 own origin home text text_size")
HAS_COPIES, LISTED = 1, 2  # why: copies may have its key, and it is not counted; or some group has not consumed it
MOST_PLACES = 1 + MOST_LIGHT
# Of a queue: the edges of its intervals, where these are listed, how many kinds of messages it has, and its tags.
FIRST_EDGE, EDGES_END, FIRST_LISTED, KINDS, FIRST_TAG, TAGS_END = range(6)
# State of a walk, behind the place AT.
ROWS, TEXTS, COUNTS, TRACES = range(1, 5)
STATE_SIZE = 8
_SEED_1, _SEED_2, _SEED_3 = 0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9


class FateRows(NamedTuple):
    """Rows and their texts."""

    rows: np.ndarray
    texts: np.ndarray


class Traces(NamedTuple):
    """Trace topics, as `traced` compares them: names that end in a zero, and where each begins; the first physical
    offset of records that are given; where in the bytes at hand such records are, and their sizes."""

    names: np.ndarray
    edges: np.ndarray
    since: int
    places: np.ndarray


class Plan(NamedTuple):
    """The queues of messages: rows with their names; in `spans` the columns FIRST_EDGE to TAGS_END; the keys of copies,
    by hash, and before them a bit for each; where in the names the tags that matter are; whether queues of light topics
    are among them."""

    queues: np.ndarray
    names: np.ndarray
    recent: np.ndarray
    spans: np.ndarray
    edges: np.ndarray
    listed: np.ndarray
    keys: np.ndarray
    bits: np.ndarray
    tags: np.ndarray
    lights: bool


@inner
def hash_of(p, size, seed):
    """A hash of all bytes of a text; never 0, which is an empty place."""
    word = U(size) * U(seed)
    while size > 0:
        part = load_64(p)
        if size < 8:
            part = part << U(64 - 8 * size)
        word = (word ^ part) * U(0xFF51AFD7ED558CCD)
        word ^= word >> U(32)
        p += U(8)
        size -= 8
    return word | U(1)


@kernel
def hash_keys(texts, ends, found):
    """Both hashes of each text: it ends where the next one begins."""
    first = U(texts.ctypes.data)
    for row in range(ends.size - 1):
        p, size = first + U(ends[row]), ends[row + 1] - ends[row]
        found[row, 0], found[row, 1] = hash_of(p, size, _SEED_1), hash_of(p, size, _SEED_2)


@kernel
def fill(words, table):
    """Puts hashes into a table of 2**n places that is at most half full."""
    mask = U(table.size - 1)
    for word in words:
        at = word >> U(8) & mask
        while table[at] != U(0) and table[at] != word:
            at = at + U(1) & mask
        table[at] = word


@kernel
def mark(words, bits):
    """A bit for each hash, among 2**n: most hashes that are not in the table are not looked for there."""
    mask = U(64 * bits.size - 1)
    for word in words:
        at = word >> U(8) & mask
        bits[at >> U(6)] |= U(1) << (at & U(63))


@kernel
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


@inlined
def _has(table, bits, word):
    at = word >> U(8) & U(64 * bits.size - 1)
    if bits[at >> U(6)] >> (at & U(63)) & U(1) == U(0):
        return False
    mask = U(table.size - 1)
    at = word >> U(8) & mask
    while table[at] != U(0):
        if table[at] == word:
            return True
        at = at + U(1) & mask
    return False


@kernel
def _end_of(p, at, size):
    """Where the value that begins at `at` ends."""
    while at < size and U(load_8(p + U(at))) != NEXT:
        at += 1
    return at


@kernel
def _parts(p):
    """Where in a record store time, body, topic (and its size) and properties are."""
    flag = be_32(p + U(AT_FLAG))
    born = HOST_6 if flag & BORN_V6 else HOST_4
    store = HOST_6 if flag & STORE_V6 else HOST_4
    head = AT_BORN + born + TIME + store + BEHIND
    topic_size = TOPIC_1 if be_32(p + U(4)) == MAGIC_1 else TOPIC_2
    topic = head + signed_32(p + U(head - 4)) + topic_size
    length = be_32(p + U(topic - topic_size)) >> (32 - 8 * topic_size)
    return AT_BORN + born, store, topic, length, topic + length + 2


@inner
def _find_properties(p, size, found):
    """Where the properties of a copy that matter begin, and their sizes; the last of a name counts, no empty one."""
    found[:] = 0
    at = 0
    while at < size:
        end = _end_of(p, at, size)
        for number in range(_EDGES.size - 1):
            start, stop = _EDGES[number], _EDGES[number + 1]
            value = at + stop - start + 1
            if value >= end or load_8(p + U(value - 1)) != SET:
                continue
            same = True
            for place in range(start, stop):
                if load_8(p + U(at + place - start)) != _NAMES[place]:
                    same = False
                    break
            if same:
                found[number, 0], found[number, 1] = value, end - value
        at = end + 1


@kernel
def _named(p, found):
    """Hashes of the offsetMsgId and of the topic that a copy names, or 0; a topic of copies has no messages."""
    origin, home = p + U(found[_ORIGIN, 0]), p + U(found[_HOME, 0])
    names_one = found[_ORIGIN, 1] > 0
    names_topic = found[_HOME, 1] > 0 and load_8(home) != signs.PERCENT
    return (
        np.int64(hash_of(origin, found[_ORIGIN, 1], _SEED_3)) if names_one else 0,
        np.int64(hash_of(home, found[_HOME, 1], _SEED_1)) if names_topic else 0,
    )


@kernel
def _number_of(p, size):
    """A text of digits as a number; UNKNOWN for any other."""
    if size == 0 or size > _MOST_DIGITS:
        return UNKNOWN
    number = 0
    for place in range(size):
        digit = np.int64(load_8(p + U(place)))
        if not is_digit(digit):
            return UNKNOWN
        number = 10 * number + digit - signs.ZERO
    return number


@kernel
def copies(log, places, which, rows, state):
    """The copies among the records at `places` from state[AT] up to state[PLACES]; returns DONE or FULL.

    Messages with a delay wait in the same topics, and are left out. So are copies without a key.
    """
    log, which = borrowed(log), borrowed(which)
    first, found = U(log.raw.ctypes.data), np.zeros((_EDGES.size - 1, 2), np.int64)
    while state[AT] < state[PLACES]:
        at, size, owner = places[state[AT]]
        row = state[ROWS]
        if row == rows.shape[0]:
            return FULL
        p = first + U(at)
        time, store, topic, _, properties = _parts(p)
        _find_properties(p + U(properties), size - properties, found)
        p_key, p_real = p + U(properties + found[_KEY, 0]), p + U(properties + found[_REAL, 0])
        real_size = found[_REAL, 1]
        of_group = load_8(p + U(topic)) == signs.PERCENT or (real_size > 0 and load_8(p_real) == signs.PERCENT)
        if of_group and found[_KEY, 1] > 0:
            owner = 2 * owner + (1 if found[_POPPED, 1] > 0 else 0)
            hint = np.int64(mixed(p_real, real_size, owner)) & (which.recent.size - 1)
            number, names = which.recent[hint], U(which.names.ctypes.data)
            if not is_row(number, p_real, real_size, owner, which.rows, names, which.state[WHICH_ROWS]):
                number = row_of(p_real, real_size, owner, hint, which)
            if number < 0:
                return FULL
            new = rows[row]
            new.offset, new.queue = log.base + at, signed_32(p + U(AT_QUEUE))
            new.place, new.time = be_64(p + U(AT_QUEUE_OFFSET)), be_64(p + U(time))
            new.tries, new.which = signed_32(p + U(time + TIME + store)), number
            new.due = _number_of(p + U(properties + found[_DUE, 0]), found[_DUE, 1])
            new.key = np.int64(hash_of(p_key, found[_KEY, 1], _SEED_1))
            new.key_2 = np.int64(hash_of(p_key, found[_KEY, 1], _SEED_2))
            new.origin, new.home = _named(p + U(properties), found)
            state[ROWS] = row + 1
        state[AT] += 1
    return DONE


@kernel
def traced(log, traces, state):
    """Where trace records are among those that begin from state[AT] up to `stop`; returns what ended the walk."""
    log, traces = borrowed(log), borrowed(traces)
    raw, filled, stop, base, end = log
    first = U(raw.ctypes.data)
    while state[AT] < stop:
        at = state[AT]
        size = size_at(first, at, filled, base, end)
        if size <= 0:
            return why_none(size, first, at, filled, end)
        p = first + U(at)
        _, _, topic, length, _ = _parts(p)
        if base + at >= traces.since and is_among(p + U(topic), length, traces.names, traces.edges):
            found = state[TRACES]
            if found == traces.places.shape[0]:
                return FULL
            traces.places[found, 0], traces.places[found, 1] = at, size
            state[TRACES] = found + 1
        state[AT] = at + size
    return DONE


@inner
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


@kernel
def _until(p, at, end, sign):
    """Where a part of a value ends that begins at `at`: at the sign, or with the value."""
    while at < end and load_8(p + U(at)) != sign:
        at += 1
    return at


@inner
def _light_places(p, found, plan, where):
    """Adds the queues of light topics that a record is in to those in `where`; returns how many there are then.

    A lite group never reads the queue of the parent topic: the record's own queue is left out.
    """
    count = 1 if where[0, 0] >= 0 else 0
    name, places = found[_LIGHT, 0], found[_LIGHT_PLACES, 0]
    name_end, places_end = name + found[_LIGHT, 1], places + found[_LIGHT_PLACES, 1]
    seen = 0
    while name < name_end and places < places_end and seen < MOST_LIGHT:
        stop, behind = _until(p, name, name_end, signs.COMMA), _until(p, places, places_end, signs.COMMA)
        place = _number_of(p + U(places), behind - places)
        if stop > name and place != UNKNOWN:
            if seen == 0 and found[_LITE, 1] > 0:
                count = 0
            seen += 1
            queue = _queue_of(p + U(name), stop - name, 0, plan)
            if queue >= 0:
                where[count, 0], where[count, 1] = queue, place
                count += 1
        name, places = stop + 1, behind + 1
    return count


@inlined
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


@inner
def _tag_of(p, size, plan, queue):
    """The place of a tag among those of its queue, from 1; 0 for no tag and any other."""
    names = U(plan.names.ctypes.data)
    for row in range(plan.spans[queue, FIRST_TAG], plan.spans[queue, TAGS_END]):
        if plan.tags[row, 1] == size and size > 0 and alike(p, names + U(plan.tags[row, 0]), size):
            return row - plan.spans[queue, FIRST_TAG] + 1
    return 0


@inlined
def _count(counts, state, recent, values):
    """One more message, in the row of the one before it in its queue where that is the same minute and interval."""
    queue, minute, interval, kind, size, place, time = values
    row = recent[queue, kind]
    if row < 0 or counts[row].minute != minute or counts[row].interval != interval:
        row = state[COUNTS]
        state[COUNTS] = row + 1
        recent[queue, kind] = row
        new = counts[row]
        new.queue, new.minute, new.interval, new.kind = queue, minute, interval, kind
        new.messages = new.bytes = 0
        new.first_place = new.last_place = place
        new.first_time = new.last_time = time
    old = counts[row]
    old.messages += 1
    old.bytes += size
    old.first_place, old.last_place = min(old.first_place, place), max(old.last_place, place)
    old.first_time, old.last_time = min(old.first_time, time), max(old.last_time, time)


@kernel
def messages(log, plan, counts, recent, out, state):
    """Counts the messages that begin from state[AT] up to `stop`; returns what ended the walk.

    One whose key a copy has is given by itself instead. One that a group has not consumed is given too. `recent` has
    the last row of each queue and kind. A record of light topics is a message in the queue of each.
    """
    log, plan, out = borrowed(log), borrowed(plan), borrowed(out)
    raw, filled, stop, base, end = log
    first, found = U(raw.ctypes.data), np.zeros((_EDGES.size - 1, 2), np.int64)
    where = np.zeros((MOST_PLACES, 2), np.int64)
    most = MOST_PLACES if plan.lights else 1
    while state[AT] < stop:
        at = state[AT]
        size = size_at(first, at, filled, base, end)
        if size <= 0:
            return why_none(size, first, at, filled, end)
        if state[COUNTS] + most > counts.shape[0] or state[ROWS] + most > out.rows.shape[0]:
            return FULL
        if state[TEXTS] + most * (size + LONGEST_ID + SLACK) > out.texts.size:
            return FULL
        p = first + U(at)
        time_at, store, topic, length, properties = _parts(p)
        where[0, 0] = _queue_of(p + U(topic), length, signed_32(p + U(AT_QUEUE)), plan)
        where[0, 1] = be_64(p + U(AT_QUEUE_OFFSET))
        places = 1 if where[0, 0] >= 0 else 0
        if plan.lights:
            _find_properties(p + U(properties), size - properties, found)
            if found[_LIGHT, 1] > 0:
                places = _light_places(p + U(properties), found, plan, where)
        if places:
            time = be_64(p + U(time_at))
            key, key_size, tag, tag_size = key_and_tag(p + U(properties), size - properties)
            word = hash_of(p + U(properties + key), key_size, _SEED_1)
            copied = key_size > 0 and _has(plan.keys, plan.bits, word)
        for number in range(places):
            queue, place = where[number]
            interval = _interval_of(plan, queue, place)
            kind = 1 if key_size > 0 else 0
            why = HAS_COPIES if copied else 0
            kinds = plan.spans[queue, KINDS]
            if kinds > 2:
                kind += 2 * _tag_of(p + U(properties + tag), tag_size, plan, queue)
            if why == 0:
                _count(counts, state, recent, (queue, time // MINUTE_MS, interval, kind, size, place, time))
                if plan.listed[plan.spans[queue, FIRST_LISTED] + kinds * interval + kind]:
                    why = LISTED
            if why:
                row = state[ROWS]
                one = out.rows[row]
                one.offset, one.queue, one.place, one.time = base + at, queue, place, time
                one.size, one.interval, one.why, one.kind = size, interval, why, kind
                text, target = state[TEXTS], U(out.texts.ctypes.data) + U(state[TEXTS])
                if why == HAS_COPIES:
                    one.key = np.int64(word)
                    one.key_2 = np.int64(hash_of(p + U(properties + key), key_size, _SEED_2))
                    middle = put_hex(p + U(time_at + TIME), target, store)
                    put_hex(p + U(AT_OFFSET), middle, 8)
                    one.own = np.int64(hash_of(target, 2 * store + 16, _SEED_3))
                    _find_properties(p + U(properties), size - properties, found)
                    one.origin, one.home = _named(p + U(properties), found)
                copy(p + U(properties + key), target, key_size)
                one.text, one.text_size = text, key_size
                state[TEXTS] = text + key_size
                state[ROWS] = row + 1
        state[AT] = at + size
    return DONE
