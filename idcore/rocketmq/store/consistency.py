"""What the rest of a store says about one of its records: its queue, the index, the records next to it.

A record has a CRC of its body alone; damage to anything else shows only where something else says otherwise. Nothing
vouches for the flag, the born time and host, and most properties. Decides nothing, repairs nothing, has no sentences.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from idcore.ids.clock import is_time
from idcore.rocketmq.message import Record, flags
from idcore.rocketmq.message import properties as names
from idcore.rocketmq.message.validators import SCHEDULE_TOPIC
from idcore.rocketmq.store.commitlog import Stored
from idcore.rocketmq.store.folder import StoreFolder
from idcore.rocketmq.store.index import Entry, key_of

_INT_MOST = (1 << 31) - 1
_KNOWN_BITS = 0x7FF  # of sys_flag
_OLDEST_MS, _AHEAD_MS = 366 * 86_400_000, 86_400_000  # of a message when it is stored; of its producer's clock
_RECONSUMED_MOST = 1 << 20


@dataclass(frozen=True, slots=True)
class Doubt:
    """What does not agree: the record's fields that may be wrong, and both sides. Times are ms since 1970."""

    code: str
    fields: tuple[str, ...]
    values: dict[str, Any] = field(default_factory=dict)


def doubts(stored: Stored, store: StoreFolder) -> list[Doubt]:
    """Everything that does not agree; empty for a record that nothing in the store contradicts."""
    return [*_of_itself(stored), *_of_queue(stored, store), *_of_index(stored, store), *_of_neighbours(stored, store)]


def _of_itself(stored: Stored) -> Iterator[Doubt]:
    record = stored.record
    for name, raw in (("topic", record.topic_bytes), ("properties", record.properties_bytes)):
        try:
            raw.decode("utf-8")
        except UnicodeDecodeError as problem:
            yield Doubt("no_text", (name,), {"name": name, "byte": problem.start})
    ended = flags.transaction(record.sys_flag) in ("commit", "rollback")
    prepared = record.prepared_transaction_offset
    age = record.store_timestamp - record.born_timestamp
    is_marked = flags.transaction(record.sys_flag) == "none" or names.PREPARED in record.properties
    for name, value, likely in (
        ("sys_flag", record.sys_flag, not record.sys_flag & ~_KNOWN_BITS and is_marked),
        ("queue_id", record.queue_id, record.queue_id >= 0),
        ("queue_offset", record.queue_offset, record.queue_offset >= 0),
        ("reconsume_times", record.reconsume_times, 0 <= record.reconsume_times <= _RECONSUMED_MOST),
        ("prepared_transaction_offset", prepared, not prepared or (ended and 0 < prepared < stored.offset)),
        ("store_timestamp", record.store_timestamp, is_time(record.store_timestamp)),
        ("born_timestamp", record.born_timestamp, -_AHEAD_MS <= age <= _OLDEST_MS),
    ):
        if not likely:
            yield Doubt("unlikely", (name,), {"name": name, "own": value})


def _of_queue(stored: Stored, store: StoreFolder) -> Iterator[Doubt]:
    record = stored.record
    place = ("topic", "queue_id", "queue_offset")
    unit = store.queues.unit(record.topic, record.queue_id, record.queue_offset)
    agrees = unit is not None and (unit.physical_offset, unit.size) == (stored.offset, record.size)
    if not flags.in_queue(record.sys_flag):
        if agrees:
            yield Doubt("queue_transaction", ("sys_flag",))
    elif unit is None:
        if any(queue.last and queue.last.physical_offset > stored.offset for queue in store.queues.of(record.topic)):
            yield Doubt("queue_none", place)
    elif not agrees:
        yield Doubt("queue_place", place, {"other": unit.physical_offset})
    elif unit.has_hash and record.topic != SCHEDULE_TOPIC and unit.tags_code != record.tags_code:
        yield Doubt("queue_tag", ("properties",), {"other": unit.tags_code, "own": record.tags_code})


def _of_index(stored: Stored, store: StoreFolder) -> Iterator[Doubt]:
    record = stored.record
    if flags.transaction(record.sys_flag) == "rollback":
        return
    keys = names.indexed(record.properties)
    pointers = store.index.pointing_at(stored.offset, (key_of(record.topic, key) for key in keys))
    known = dict(zip(keys, pointers, strict=True))
    missing = [key for key, pointer in known.items() if pointer is None]
    if missing and store.index.spans(stored.offset):
        yield Doubt("index_none", ("topic", "properties"), {"key": missing[0]})
    entries = (pointer.entry for pointer in known.values() if pointer is not None and pointer.entry is not None)
    wrong = next((entry for entry in entries if not _is_time_of(record, entry)), None)
    if wrong is not None:
        values = {"other": wrong.timestamp, "own": record.store_timestamp}
        yield Doubt("index_time", ("store_timestamp",), values)


def _is_time_of(record: Record, entry: Entry) -> bool:
    """Whether an entry has the store time, to the second; the first of a file counts from the end of another."""
    since = record.store_timestamp - (entry.timestamp - 1000 * entry.seconds)
    return entry.place == 1 or entry.seconds == min(max(0, since) // 1000, _INT_MOST)


def _of_neighbours(stored: Stored, store: StoreFolder) -> Iterator[Doubt]:
    """The records right before and behind it, where both are there: a broker stamps one after the other."""
    record = stored.record
    file = store.log.file_of(stored.offset)
    if file is None:
        return
    before, behind = store.log.before(file, stored.offset), store.log.record_at(file, stored.end)
    if before is None or before.end != stored.offset or behind is None:
        return
    first, last = before.record.store_timestamp, behind.record.store_timestamp
    if first <= last and not first <= record.store_timestamp <= last:
        values = {"own": record.store_timestamp, "first": first, "last": last}
        yield Doubt("store_time", ("store_timestamp",), values)
    other = before.record.store_host
    if other == behind.record.store_host != record.store_host:
        yield Doubt("store_host", ("store_host",), {"own": str(record.store_host), "other": str(other)})
