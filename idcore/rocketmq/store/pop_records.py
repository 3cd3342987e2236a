"""What POP consumers were handed and have not acknowledged, as a broker from 5.4.0 on keeps it in the folder `kvStore`.

A broker does so only with popConsumerKVServiceEnable=true, and otherwise in its log, see `pop_log`. Its write-ahead log
is synced, so a copy of a running broker has all but what the broker's cache holds for seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from idcore.base import plain_json
from idcore.ids.clock import is_time
from idcore.rocketmq.store.files import Reading
from idcore.rocketmq.store.names import few, name_of
from idcore.rocketmq.store.rocksdb import Database, has_data, is_database

FOLDER = "kvStore"
_FAMILY = "popState"  # COLUMN_FAMILY_NAME of PopConsumerRocksdbStore
MOST_OFFSET = 1 << 62
_NUMBERS = ("queueId", "offset", "popTime", "invisibleTime")


@dataclass(frozen=True, slots=True)
class PopRecord:
    """One message that one group was handed: when, and when it comes back without an acknowledgement, in ms.

    `acked_ms` is when a consumer acknowledged it, `acked_at` the place in the commit log where that stands.
    `left_out`: it was not handed out, but messages before or behind it were.
    """

    popped_ms: int
    visible_ms: int
    acked_ms: int | None = None
    acked_at: int | None = None
    left_out: bool = False


PopRecords = Mapping[tuple[str, str], Mapping[int, Mapping[int, PopRecord]]]  # of (topic, group): queue, offset


class PopTable(PopRecords):
    """The records of a store folder, read when they are first asked for; none where they cannot be read.

    `in_log` reads those of a broker that keeps them in its log. What was handed out before the first message of its
    queue was stored (`first_stored_ms`) is of an earlier topic of that name.
    """

    def __init__(
        self,
        root: Path,
        reading: Reading,
        in_log: Callable[[], PopRecords] | None = None,
        first_stored_ms: Callable[[str, int], int | None] | None = None,
    ) -> None:
        self._root = root
        self._reading = reading
        self._in_log = in_log
        self._first_stored_ms = first_stored_ms

    @cached_property
    def _records(self) -> PopRecords:
        in_log = None if _is_kept(self._root, self._reading) else self._in_log
        found = self.in_folder if in_log is None else in_log()
        if self._first_stored_ms is None:
            return found
        first_of = cache(self._first_stored_ms)
        return {
            (topic, group): {queue: _since(records, first_of(topic, queue)) for queue, records in queues.items()}
            for (topic, group), queues in found.items()
        }

    @cached_property
    def _read(self) -> tuple[PopRecords | None, str]:
        try:
            return read(self._root, self._reading), ""
        except ValueError as error:
            return None, str(error)

    @property
    def in_folder(self) -> PopRecords:
        """Those that the broker keeps in a folder. Of a group that has some in the log it has an offset as well."""
        return self._read[0] or {}

    @property
    def is_read(self) -> bool:
        """Whether those of the folder could be read, which is tried for it."""
        return self._read[0] is not None

    @property
    def damage(self) -> str:
        """What is wrong with them; empty where nothing is."""
        return self._read[1]

    def __getitem__(self, key: tuple[str, str]) -> Mapping[int, Mapping[int, PopRecord]]:
        return self._records[key]

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(self._records)

    def __len__(self) -> int:
        return len(self._records)


def _since(records: Mapping[int, PopRecord], first_ms: int | None) -> dict[int, PopRecord]:
    if first_ms is None:
        return {}
    return {offset: record for offset, record in records.items() if record.popped_ms >= first_ms}


def _is_kept(root: Path, reading: Reading) -> bool:
    """Whether the broker keeps them in a folder: every one of 5.4 and later makes it."""
    return is_database(root / FOLDER, reading) and has_data(root / FOLDER, reading)


def read(root: Path, reading: Reading) -> PopRecords | None:
    """The rows of a store folder; None if they cannot be read, or are too many to hold. ValueError if damaged.

    A message that was handed out again has the row of the last time, and for a moment that of the time before.
    """
    if not _is_kept(root, reading):
        return {}
    database = Database(root / FOLDER, reading)
    try:
        rows = database.whole(_FAMILY)
    finally:
        database.close()
    if rows is None:
        return None
    by_group: dict[tuple[str, str], dict[int, dict[int, PopRecord]]] = {}
    for raw in rows.values():
        values = plain_json.loads(raw) or {}
        topic, group = values.get("topicId"), values.get("groupId")
        numbers = [number for name in _NUMBERS if type(number := values.get(name)) is int and number >= 0]
        if not (isinstance(topic, str) and isinstance(group, str) and len(numbers) == len(_NUMBERS)):
            raise ValueError("a record of another form")
        topic, group = name_of(topic), name_of(group)
        queue, offset, popped, invisible = numbers
        if offset >= MOST_OFFSET or not is_time(popped + invisible):
            raise ValueError("a record with an offset or a time that none has")
        held = by_group.setdefault((topic, group), {}).setdefault(queue, {})
        record = PopRecord(popped, popped + invisible)
        held[offset] = max(record, held.get(offset, record), key=lambda each: each.visible_ms)
    few(by_group, {})
    return by_group
