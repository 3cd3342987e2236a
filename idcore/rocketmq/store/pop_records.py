"""What POP consumers were handed and have not acknowledged, as a broker from 5.4.0 on keeps it in the folder `kvStore`.

A broker does so only with popConsumerKVServiceEnable=true, and otherwise in the topic rmq_sys_REVIVE_LOG. Its
write-ahead log is synced, so a copy of a running broker has all but what the broker's cache holds for seconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from idcore.base import plain_json
from idcore.ids.clock import is_time
from idcore.rocketmq.store.files import Reading
from idcore.rocketmq.store.rocksdb import Database, has_data, is_database

FOLDER = "kvStore"
_FAMILY = "popState"  # COLUMN_FAMILY_NAME of PopConsumerRocksdbStore
_MOST_OFFSET = 1 << 62
_NUMBERS = ("queueId", "offset", "popTime", "invisibleTime")


@dataclass(frozen=True, slots=True)
class PopRecord:
    """One message that one group was handed (PopConsumerRecord): when, and when it comes back, in ms."""

    popped_ms: int
    visible_ms: int


PopRecords = Mapping[tuple[str, str], Mapping[int, Mapping[int, PopRecord]]]  # of (topic, group): queue, offset


def read(root: Path, reading: Reading) -> PopRecords | None:
    """The rows of a store folder; None if they cannot be read, or are too many to hold. ValueError if damaged.

    A message that was handed out again has the row of the last time, and for a moment that of the time before.
    """
    folder = root / FOLDER
    if not (is_database(folder, reading) and has_data(folder, reading)):
        return {}
    database = Database(folder, reading)
    try:
        rows = database.whole(_FAMILY)
    finally:
        database.close()
    if rows is None:
        return None
    found: dict[tuple[str, str], dict[int, dict[int, PopRecord]]] = {}
    for raw in rows.values():
        values = plain_json.loads(raw) or {}
        topic, group = values.get("topicId"), values.get("groupId")
        numbers = [number for name in _NUMBERS if type(number := values.get(name)) is int and number >= 0]
        if not (isinstance(topic, str) and isinstance(group, str) and len(numbers) == len(_NUMBERS)):
            raise ValueError("a record of another form")
        queue, offset, popped, invisible = numbers
        if offset >= _MOST_OFFSET or not is_time(popped + invisible):
            raise ValueError("a record with an offset or a time that none has")
        held = found.setdefault((topic, group), {}).setdefault(queue, {})
        record = PopRecord(popped, popped + invisible)
        held[offset] = max(record, held.get(offset, record), key=lambda each: each.visible_ms)
    return found
