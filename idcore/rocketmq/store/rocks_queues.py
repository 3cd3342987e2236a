"""Consume queues that a broker keeps in RocksDB (`storeType=defaultRocksDB`, or both kinds at once), read only.

A running broker has written nothing of them (its write-ahead log for them is off): what the database lacks is made of
the commit log behind it, which has topic, queue and queue offset of every record.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from idcore.rocketmq.message import Record, flags
from idcore.rocketmq.message import properties as names
from idcore.rocketmq.message.validators import SCHEDULE_TOPIC
from idcore.rocketmq.store.commitlog import CommitLog, Skipped, Stored
from idcore.rocketmq.store.files import Reading
from idcore.rocketmq.store.queue import ConsumeQueue, ConsumeQueues, Unit
from idcore.rocketmq.store.rocksdb import Database, is_database

if TYPE_CHECKING:
    import numpy as np

FOLDERS = ("consumequeue_rocksdb", "consumequeue")
# What the database does not have is made of the log, up to so many bytes of it.
TAIL_MOST = 64 << 20
UNITS_MOST = 1_000_000  # of it: a record may be in thousands of light topics
_ROWS, _OFFSETS = "default", "offset"  # column families
_PARTED = b"\x01"
_GREATEST = b"max"
_ROW = struct.Struct(">qiqq")  # physical offset, size, tags code, store time
_LAST = struct.Struct(">qq")  # physical offset, queue offset
_NUMBER = struct.Struct(">q")
NO_CODE = -(1 << 62)  # a tags code that is not known, where only numbers have a place


class RocksQueue(ConsumeQueue):
    """One queue: its rows in the database, and the units of the log behind them."""

    def __init__(self, topic: str, queue_id: int, database: Database, tail: dict[int, Unit]) -> None:
        self.topic = topic
        self.queue_id = queue_id
        self.files = []
        self.strangers = []
        self._database = database
        self._tail = tail

    def unit(self, queue_offset: int) -> Unit | None:
        """The unit at a place, if it is there."""
        if queue_offset < 0 or queue_offset in self._tail:
            return self._tail.get(queue_offset)
        key = self._key(queue_offset)
        return next(self._rows(key, key + b"\0", 1), None)

    def units(self, begin: int = 0) -> Iterator[Unit]:
        """Every unit from a place on, in order."""
        rows = self._rows(self._key(begin), self._end)
        yield from (unit for unit in rows if unit.queue_offset not in self._tail)
        yield from (self._tail[place] for place in sorted(self._tail) if place >= begin)

    def entries(self, begin: int = 0) -> np.ndarray:
        """Queue offset, physical offset and tags code of every unit from a place on, in order."""
        import numpy as np

        rows = (
            (unit.queue_offset, unit.physical_offset, NO_CODE if unit.tags_code is None else unit.tags_code)
            for unit in self.units(begin)
        )
        return np.fromiter(rows, np.dtype((np.int64, 3)))

    @cached_property
    def span(self) -> tuple[int, int] | None:
        """The first place and the place behind the last, None for an empty queue."""
        first = next(self._rows(self._key(0), self._end, 1), None)
        least = min([*self._tail, *([first.queue_offset] if first else [])], default=None)
        return None if least is None or self.last is None else (least, self.last.queue_offset + 1)

    @cached_property
    def last(self) -> Unit | None:
        if self._tail:
            return self._tail[max(self._tail)]
        return next(self._rows(self._key(0), self._end, 1, True), None)

    def _key(self, queue_offset: int) -> bytes:
        name = self.topic.encode("utf-8", "surrogatepass")
        head = len(name).to_bytes(4, "big") + _PARTED + name + _PARTED + self.queue_id.to_bytes(4, "big") + _PARTED
        return head + _NUMBER.pack(queue_offset)

    @property
    def _end(self) -> bytes:
        return self._key(0)[: -_NUMBER.size] + b"\xff"  # a queue offset is not negative

    def _rows(self, first: bytes, end: bytes, most: int = 0, backwards: bool = False) -> Iterator[Unit]:
        for key, value in self._database.rows(_ROWS, first, end, most, backwards):
            if len(value) >= _ROW.size:
                physical, size, tags_code, _ = _ROW.unpack_from(value)
                yield Unit(_NUMBER.unpack(key[-_NUMBER.size :])[0], physical, size, tags_code)


class RocksQueues(ConsumeQueues):
    """The queues of files, where there are any, and those of the database besides."""

    def __init__(self, files: Path, reading: Reading, database: Database, log: CommitLog) -> None:
        super().__init__(files, reading)
        self.database = database
        self._log = log

    @property
    def topics(self) -> list[str]:
        """The topics that have a queue here."""
        return sorted({*super().topics, *(topic for topic, _ in self._further)})

    @property
    def is_whole(self) -> bool:
        """Whether the queues reach as far as the log: else too much of it lies behind what the database has."""
        return self._tail is not None

    def notes(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Whether the database could be read, and what was made of the log besides."""
        name = self.database.folder.name
        if not self.database.families:
            yield "config_rocksdb_queues", {"name": name}
        if self._tail is None:
            yield "config_rocksdb_short", {"name": name, "most": TAIL_MOST >> 20}
        elif made := sum(len(self._tail.get(place, ())) for place in self._further):
            yield "config_rocksdb_tail", {"name": name, "n": made}

    def of(self, topic: str) -> list[ConsumeQueue]:
        """A topic's queues, by number."""
        further = [self._queue(topic, number) for number in self._further_of.get(topic, ())]
        return sorted([*super().of(topic), *further], key=lambda queue: queue.queue_id)

    def has(self, topic: str, queue_id: int) -> bool:
        """Whether this queue is here."""
        return super().has(topic, queue_id) or (topic, queue_id) in self._further

    def unit(self, topic: str, queue_id: int, queue_offset: int) -> Unit | None:
        if (topic, queue_id) in self._further:
            return self._queue(topic, queue_id).unit(queue_offset)
        return super().unit(topic, queue_id, queue_offset)

    def _queue(self, topic: str, queue_id: int) -> RocksQueue:
        return RocksQueue(topic, queue_id, self.database, (self._tail or {}).get((topic, queue_id), {}))

    @cached_property
    def _further(self) -> frozenset[tuple[str, int]]:
        """The queues that have no files."""
        places = {*self._greatest, *(self._tail or {})}
        return frozenset(place for place in places if not super(RocksQueues, self).has(*place))

    @cached_property
    def _further_of(self) -> dict[str, list[int]]:
        """Queue numbers of `_further` by topic."""
        numbers: dict[str, list[int]] = {}
        for topic, number in self._further:
            numbers.setdefault(topic, []).append(number)
        return numbers

    @cached_property
    def _greatest(self) -> dict[tuple[str, int], int]:
        """The physical offset of the last unit of each queue in the database."""
        offsets = {}
        for key, value in self.database.rows(_OFFSETS):
            length = int.from_bytes(key[:4], "big")
            topic, rest = key[5 : 5 + length], key[5 + length :]
            head = _PARTED + _GREATEST + _PARTED
            if rest.startswith(head) and len(rest) == len(head) + 4 and len(value) == _LAST.size:
                place = topic.decode("utf-8", "replace"), int.from_bytes(rest[-4:], "big")
                offsets[place] = _LAST.unpack(value)[0]
        return offsets

    @cached_property
    def _tail(self) -> dict[tuple[str, int], dict[int, Unit]] | None:
        """By queue, the units of the records behind the last one that the database has; None where these are too many.

        Only a schedule's units have an instant that no record has: they lack it.
        """
        log, reached = self._log, max(self._greatest.values(), default=-1)
        last = log.look(reached) if reached >= 0 else None
        begin = max(log.minimum or 0, last.end if isinstance(last, Stored) else reached)
        if (log.end or 0) - begin > TAIL_MOST:
            return None
        units: dict[tuple[str, int], dict[int, Unit]] = {}
        made = 0
        for step in log.walk(begin) if log.file_of(begin) is not None else ():
            if isinstance(step, Skipped):
                return None
            if isinstance(step, Stored):
                for topic, queue_id, place, tags_code in _places(step.record):
                    unit = Unit(place, step.offset, step.record.size, tags_code)
                    units.setdefault((topic, queue_id), {})[place] = unit
                    made += 1
                if made > UNITS_MOST:
                    return None
        return units


def _places(record: Record) -> Iterable[tuple[str, int, int, int | None]]:
    """Topic, queue, queue offset and tags code of each queue that has a record."""
    if not flags.in_queue(record.sys_flag):
        return
    code = None if record.topic == SCHEDULE_TOPIC else record.tags_code
    if record.queue_id >= 0 and record.queue_offset >= 0:  # else nobody can have read it from a queue
        yield record.topic, record.queue_id, record.queue_offset, code
    yield from ((topic, 0, place, code) for topic, place in names.light_places(record.properties).items())


def find(root: Path, reading: Reading, log: CommitLog) -> ConsumeQueues:
    """The queues of a store folder, in files or in RocksDB or in both."""
    folder = next((root / name for name in FOLDERS if is_database(root / name, reading)), None)
    files = root / "consumequeue"
    return (
        ConsumeQueues(files, reading) if folder is None else RocksQueues(files, reading, Database(folder, reading), log)
    )
