"""What POP consumers were handed and acknowledged, as a broker keeps it by default: as messages of its own log.

For each pop a checkpoint says which messages of a queue a group was handed, and for how long (PopCheckPoint). Each
acknowledgement is a message as well (AckMsg, BatchAckMsg). They wait on the timer wheel until the invisible time is
over, and then stand in the topic rmq_sys_REVIVE_LOG. With enablePopBufferMerge=true a broker keeps most of them in
memory: of a message without a checkpoint nothing is said.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from idcore.base import plain_json
from idcore.base.layout import PROPERTIES_LENGTH, TOPIC_LENGTHS
from idcore.ids.clock import is_time
from idcore.rocketmq.message.bodies import crc32
from idcore.rocketmq.message.model import RETRY_PREFIX, tags_code
from idcore.rocketmq.message.record import head_of
from idcore.rocketmq.message.validators import TIMER_TOPIC
from idcore.rocketmq.store.commitlog import CommitLog
from idcore.rocketmq.store.pop_records import MOST_OFFSET, PopRecord, PopRecords
from idcore.rocketmq.store.queue import ConsumeQueue, ConsumeQueues

REVIVE = "rmq_sys_REVIVE_LOG_"
MOST_UNITS = 20_000  # the newest of the timer wheel
MOST_REVIVED = 2_000  # and of all revive queues, for what is in no wheel
MOST_OFFSETS = 400_000  # of messages in each of these two: a body may name thousands
_CHECKPOINT, _ACK, _BATCH_ACK = "ck", "ack", "bAck"  # their tags (PopAckConstants)
KINDS = {tags_code(tag): tag for tag in (_CHECKPOINT, _ACK, _BATCH_ACK)}
_MOST_HANDED = 127  # by one checkpoint, which counts them in a signed byte
_MOST_ACKED = 4_096
_MOST_BETWEEN, _MOST_BETWEEN_OF_ONE = 500_000, 16_384
_REVIVES_WITHIN_MS = 60_000  # a broker that is not behind writes the copies of what is due within seconds
_MOST_LEVELS = 2  # an object with a list
_USUAL_BYTES, _MOST_BYTES = 1 << 10, 1 << 16  # of one record
_MARK = b"\x02REAL_TOPIC\x01" + REVIVE.encode()
_NEVER = 1 << 62

Place = tuple[str, str, int]  # topic, group, queue


class Checkpoint(NamedTuple):
    """Messages of a queue from `start` on that were handed out together; `settled` ones need no acknowledgement."""

    place: Place
    broker: str
    popped_ms: int
    visible_ms: int
    start: int
    offsets: tuple[int, ...]
    settled: frozenset[int] = frozenset()


class Ack(NamedTuple):
    """Messages of one pop that a consumer acknowledged: when, and where in the commit log that stands."""

    place: Place
    broker: str
    popped_ms: int
    offsets: tuple[int, ...]
    at_ms: int
    log_offset: int


class _Written(NamedTuple):
    """A record of the revive log: its kind, when the broker made and stored it, and where it is."""

    kind: str
    born_ms: int
    stored_ms: int
    log_offset: int
    body: bytes


class _Part(NamedTuple):
    """What was read of a queue since its last gap: everything since an instant, and when the last was stored."""

    found: list[Checkpoint | Ack]
    since_ms: int
    last_ms: int


def read(log: CommitLog, queues: ConsumeQueues, most: int = MOST_UNITS, revived: int = MOST_REVIVED) -> PopRecords:
    """What the newest units of the timer wheel and of the revive queues say; nothing where there are none.

    What was popped before the first of these is left out, and before one that cannot be read: a later checkpoint of
    such a message may be missing. Only two are in no wheel: an acknowledgement that came late, and the checkpoint of a
    message that was put off for a second or less.
    """
    wheels = [_part(log, queue, most, MOST_OFFSETS) for queue in queues.of(TIMER_TOPIC)]
    parsed_records = [one for wheel in wheels for one in wheel.found]
    if not parsed_records:
        return {}
    since_ms, last_ms = max(wheel.since_ms for wheel in wheels), max(wheel.last_ms for wheel in wheels)
    revive = [queue for topic in queues.topics if topic.startswith(REVIVE) for queue in queues.of(topic)]
    late_ms = 0
    for part in (_part(log, queue, revived // len(revive), MOST_OFFSETS // len(revive)) for queue in revive):
        late_ms = max(late_ms, part.since_ms)
        # behind the wheel's last record a later checkpoint may be missing: the folder was not copied at once
        parsed_records += (one for one in part.found if isinstance(one, Checkpoint) or one.at_ms <= last_ms)
    since = (one for one in parsed_records if one.popped_ms >= since_ms)
    return merged(since, min(late_ms, last_ms), last_ms - _REVIVES_WITHIN_MS)


def _part(log: CommitLog, queue: ConsumeQueue, most: int, most_offsets: int) -> _Part:
    """The newest units of a queue, behind the last one that cannot be read; of so many messages at most."""
    first, end = queue.span or (0, 0)
    begin = max(first, end - most)
    parsed_records: deque[tuple[int, Checkpoint | Ack]] = deque()
    since_ms, last_ms, held = 0 if begin == 0 else None, 0, 0
    for written in _records(log, queue, begin):
        one = None if written is None else parsed(*written)
        if written is None or one is None:
            parsed_records.clear()
            since_ms, held = None, 0
            continue
        since_ms = written.stored_ms if since_ms is None else since_ms
        last_ms = written.stored_ms
        parsed_records.append((last_ms, one))
        held += len(one.offsets)
        while held > most_offsets:
            stored_ms, gone = parsed_records.popleft()
            since_ms, held = stored_ms + 1, held - len(gone.offsets)
    return _Part([one for _, one in parsed_records], _NEVER if since_ms is None else since_ms, last_ms)


def merged(found: Iterable[Checkpoint | Ack], late_ms: int = 0, young_ms: int = _NEVER) -> PopRecords:
    """Of each message the newest checkpoint, and its acknowledgement if there is one.

    A consumer that puts a message off gets a new checkpoint, and the broker acknowledges the old one. A checkpoint that
    could not be revived is written again, of the same pop. Of messages of several brokers nothing is said.

    Before `late_ms` some records of the revive queues may be missing. So nothing is said of messages whose time ended
    before it without an acknowledgement: one may have come late. Nor of those that were acknowledged before it and
    after `young_ms`: they may have been put off for a second, and their copies not be written yet.
    """
    checkpoints: list[Checkpoint] = []
    acks: list[Ack] = []
    for one in found:
        checkpoints.append(one) if isinstance(one, Checkpoint) else acks.append(one)
    brokers = {one.broker for one in checkpoints} | {ack.broker for ack in acks}
    if len(brokers - {""}) > 1:
        return {}
    newest: dict[Place, dict[int, tuple[int, int, bool]]] = {}
    for one in checkpoints:
        held = newest.setdefault(one.place, {})
        for offset in one.offsets:
            pop = (one.popped_ms, one.visible_ms, offset in one.settled)
            held[offset] = max(pop, held.get(offset, pop))
    acked: dict[tuple[Place, int], tuple[int, int]] = {}
    for ack in acks:
        pops, known = newest.get(ack.place, {}), (ack.at_ms, ack.log_offset)
        for offset in ack.offsets:
            if offset in pops and pops[offset][0] == ack.popped_ms:
                acked[ack.place, offset] = min(known, acked.get((ack.place, offset), known))
    records: dict[tuple[str, str], dict[int, dict[int, PopRecord]]] = {}
    for place, held in newest.items():
        of_queue = records.setdefault(place[:2], {}).setdefault(place[2], {})
        for offset, (popped, visible, is_settled) in held.items():
            first = acked.get((place, offset))
            is_open = is_settled or visible < late_ms if first is None else young_ms < first[0] < late_ms
            if not is_open:
                of_queue[offset] = PopRecord(popped, visible, *(first or ()))
    for offset, one in islice(_between(checkpoints), _MOST_BETWEEN):
        if offset not in newest[one.place]:
            records[one.place[:2]][one.place[2]][offset] = PopRecord(one.popped_ms, one.visible_ms, left_out=True)
    return records


def _between(checkpoints: Sequence[Checkpoint]) -> Iterator[tuple[int, Checkpoint]]:
    """All from the first to the last message of each checkpoint. What none has, the broker's filter dropped."""
    for one in reversed(checkpoints):
        if not one.place[0].startswith(RETRY_PREFIX) and one.offsets:
            between = range(one.start, max(one.offsets))
            if len(between) <= _MOST_BETWEEN_OF_ONE:
                yield from ((offset, one) for offset in between)


def parsed(kind: str, born_ms: int, _: int, log_offset: int, body: bytes) -> Checkpoint | Ack | None:
    """What a record of the revive log says; None if no broker writes that."""
    values = _values(body)
    popped, queue = _number(values, "pt", "popTime"), _number(values, "q", "queueId")
    topic, group = _name(values, "t", "topic"), _name(values, "c", "consumerGroup")
    broker = _name(values, "bn", "brokerName", "")
    if popped is None or queue is None or topic is None or group is None or broker is None or not is_time(popped):
        return None
    place = topic, group, queue
    if kind == _CHECKPOINT:
        return _checkpoint(values, place, broker, popped)
    several = values.get("aol", values.get("ackOffsetList"))
    acked = several if kind == _BATCH_ACK else [_number(values, "ao", "ackOffset")]
    offsets = _offsets(acked, _MOST_ACKED)
    if offsets is None or not is_time(born_ms):
        return None
    return Ack(place, broker, popped, offsets, born_ms, log_offset)


def _values(body: bytes) -> dict[str, Any]:
    """The object of a body, whose values are numbers, texts and one list of numbers."""
    if body.count(b"{") + body.count(b"[") > _MOST_LEVELS:
        return {}
    try:
        values = json.loads(str(body, "utf-8"))
    except ValueError:
        return {}
    return values if isinstance(values, dict) else {}


def _checkpoint(values: Mapping[str, Any], place: Place, broker: str, popped: int) -> Checkpoint | None:
    start, count, invisible = (_number(values, name) for name in ("so", "n", "it"))
    bits, after = values.get("bm", 0), values.get("d") or []
    if start is None or count is None or invisible is None or type(bits) is not int or not isinstance(after, list):
        return None
    if count > _MOST_HANDED or not is_time(popped + invisible) or not all(type(each) is int for each in after):
        return None
    after = after[:count] or range(count)  # as PopReviveService goes through them; before 5.1 there were no differences
    offsets = _offsets([start + each for each in after], _MOST_HANDED)
    if offsets is None:
        return None
    settled = frozenset(offset for bit, offset in enumerate(offsets) if bits >> bit & 1)
    return Checkpoint(place, broker, popped, popped + invisible, start, offsets, settled)


def _name(values: Mapping[str, Any], name: str, long_name: str, otherwise: str | None = None) -> str | None:
    """A text that can be shown; 5.0 writes the long names."""
    text = values.get(name, values.get(long_name, otherwise))
    return text if isinstance(text, str) and plain_json.is_plain(text) else None


def _number(values: Mapping[str, Any], name: str, long_name: str = "") -> int | None:
    """A number that is not negative, and that a broker can have."""
    number = values.get(name, values.get(long_name))
    return number if type(number) is int and 0 <= number < MOST_OFFSET else None


def _offsets(values: Any, most: int) -> tuple[int, ...] | None:
    if not isinstance(values, list) or len(values) > most:
        return None
    return tuple(values) if all(type(each) is int and 0 <= each < MOST_OFFSET for each in values) else None


def _records(log: CommitLog, queue: ConsumeQueue, begin: int) -> Iterator[_Written | None]:
    """The records of the revive log in a queue, from a place on; None where one cannot be read."""
    end, topic, missing = log.end or 0, queue.topic.encode(), 0
    mark = _MARK if queue.topic == TIMER_TOPIC else b""
    before, is_beyond = -1, False
    for place, (number, offset, code) in enumerate(queue.entries(begin).tolist(), begin):
        is_odd = number - place != missing or offset <= before or not -(1 << 31) <= code < 1 << 31
        is_odd = is_odd or (is_beyond and offset < end)
        missing, is_beyond = number - place, offset >= end
        before = max(before, offset) if offset < end else before
        if is_odd:
            yield None  # a unit is damaged, or lost
        elif code in KINDS and offset < end:  # a queue may have been copied later than the log
            written = _record(log, offset, KINDS[code], topic)
            if written is None or mark in written[1]:
                yield written and written[0]


def _record(log: CommitLog, offset: int, kind: str, topic: bytes) -> tuple[_Written, bytes] | None:
    """A record, and its properties behind a separator; of one that is larger than any of POP without its body."""
    file = log.file_of(offset)
    if file is None:
        return None

    def read(begin: int, stop: int) -> bytes:
        return log.reading.read(file.path, offset - file.start + begin, stop - begin)

    raw = read(0, _USUAL_BYTES)
    size = int.from_bytes(raw[:4], "big")
    if _USUAL_BYTES < size <= _MOST_BYTES:
        raw = read(0, size)
    head = head_of(int.from_bytes(raw[36:40], "big"))
    if len(raw) < min(max(size, head.size), _USUAL_BYTES):
        return None
    _, magic, crc, _, _, _, place, _, born, _, _, stored, _, _, _, _, length = head.struct.unpack_from(raw)
    if magic not in TOPIC_LENGTHS or place != offset or not 0 <= length <= size:
        return None
    at = head.size + length
    named = at + TOPIC_LENGTHS[magic].size
    properties = named + len(topic) + PROPERTIES_LENGTH.size
    if size > _MOST_BYTES:
        about = b"\x02" + read(properties, min(size, properties + _MOST_BYTES))
        return None if _MARK in about else (_Written(kind, born, stored, offset, b""), about)
    body = raw[head.size : at]
    if len(raw) < size or not raw.startswith(topic, named) or crc32(body) != crc or not is_time(stored):
        return None
    return _Written(kind, born, stored, offset, body), b"\x02" + raw[properties:size]
