"""What a broker from 5.4.0 on keeps of messages in the folder `rocksdbstore`: index, timers, open transactions.

Read only. Each is there only if its setting says so (indexRocksDBEnable, timerRocksDBEnable, transRocksDBEnable), and a
running broker has written nothing of it.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from idcore.rocketmq.store.files import Reading
from idcore.rocketmq.store.index import STEPS_MOST, Entry, Index, Pointer
from idcore.rocketmq.store.rocksdb import Database

FOLDER = "rocksdbstore"
_INDEX, _TIMERS, _TRANSACTIONS = "default", "timer", "trans"  # column families
_REACHED = b"lastOffsetPy"
_SCANNED, _DELIVERED = b"sys_topic_scan_offset_checkpoint", b"timeline_checkpoint"
_NUMBER = struct.Struct(">q")
_CHECKS = struct.Struct(">i")  # how often it was asked, then the size of the record
_HOUR_MS = 3_600_000
_HOURS_END = b"\x01"  # an hour is an instant of less than 56 bits; names of figures are behind
_HOURS_MOST = 24 * 366
_FIRST_MOST = 10_000


@dataclass(frozen=True, slots=True)
class PendingState:
    """Whether a broker still has something to do for a message; `checks` is how often a producer was asked."""

    waits: bool
    checks: int = 0


class RocksMessages:
    """Timers and transactions by the message that they are about."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def timer(self, due_ms: int, unique: str, queue_offset: int) -> PendingState | None:
        """Whether a message for later still waits; None where this does not say."""
        waits = self._one(_TIMERS, _NUMBER.pack(due_ms) + unique.encode("utf-8", "surrogatepass")) is not None
        delivered, scanned = self._number(_TIMERS, _DELIVERED), self._number(_TIMERS, _SCANNED)
        if waits:
            return PendingState(delivered is None or due_ms > delivered)
        return PendingState(False) if scanned is not None and queue_offset < scanned else None

    def transaction(self, half_offset: int) -> PendingState | None:
        """Whether a half message still waits for a decision; None where this does not say."""
        key = _NUMBER.pack(half_offset)
        row = next(self.database.rows(_TRANSACTIONS, key + b"@", key + b"A", 1), None)
        if row is not None:
            return PendingState(True, _CHECKS.unpack_from(row[1])[0]) if len(row[1]) >= _CHECKS.size else None
        reached = self._number(_TRANSACTIONS, _REACHED)
        return PendingState(False) if reached is not None and half_offset <= reached else None

    def _one(self, family: str, key: bytes) -> bytes | None:
        return next((value for _, value in self.database.rows(family, key, key + b"\0", 1)), None)

    def _number(self, family: str, key: bytes) -> int | None:
        value = self._one(family, key)
        return _NUMBER.unpack(value)[0] if value is not None and len(value) == _NUMBER.size else None


class RocksIndex(Index):
    """The index of a broker that writes no index files (indexFileWriteEnable=false): keys and msgIds by the hour.

    A message without UNIQ_KEY is not in it.
    """

    def __init__(self, folder: Path, reading: Reading, database: Database) -> None:
        super().__init__(folder, reading)
        self._database = database

    @cached_property
    def begin(self) -> int | None:
        """The least offset among the first entries, which are of the oldest hour; None without entries."""
        rows = self._database.rows(_INDEX, b"", _HOURS_END, _FIRST_MOST)
        offsets = (_NUMBER.unpack(key[-_NUMBER.size :])[0] for key, _ in rows if len(key) >= _NUMBER.size)
        return min(offsets, default=None)

    @cached_property
    def end(self) -> int | None:
        """The offset of the last record that was looked at for the index."""
        value = next((value for _, value in self._database.rows(_INDEX, _REACHED, _REACHED + b"\0", 1)), None)
        return _NUMBER.unpack(value)[0] if value is not None and len(value) == _NUMBER.size else None

    @cached_property
    def is_whole(self) -> bool:
        """Whether it can be read; one of which nothing was written yet has no gap."""
        return _INDEX in self._database.families

    def look_up(self, topic: str, key: str, steps: Iterator[int]) -> Iterator[Entry]:
        """The entries of a topic and key, the newest first, each offset once; as far as there are `steps`."""
        entries = {}
        for kind in "UK":
            text = f"@{topic}@{kind}@{key}@".encode("utf-8", "surrogatepass")
            rows = self._database.prefixed(_INDEX, (hour + text for hour in self._hours))
            for (row, value), _ in zip(rows, steps, strict=False):
                offset = _NUMBER.unpack(row[-_NUMBER.size :])[0]
                if len(value) == _NUMBER.size:
                    entries[offset] = Entry(0, 0, offset, 0, 0, _NUMBER.unpack(value)[0])
        return (entries[offset] for offset in sorted(entries, reverse=True))

    def pointing_at(self, offset: int, keys: Iterable[str]) -> Iterator[Pointer | None]:
        """The entry through which each of the keys of a record (key_of) leads to its offset."""
        for text in keys:
            topic, _, key = text.partition("#")
            every = self.look_up(topic, key, iter(range(STEPS_MOST)))
            found = (entry for entry in every if entry.physical_offset == offset)
            yield next((Pointer(FOLDER, entry) for entry in found), None)

    @cached_property
    def _hours(self) -> list[bytes]:
        """The hours that have entries, the newest first."""
        hours: list[bytes] = []
        first = b""
        for _ in range(_HOURS_MOST):
            row = next(self._database.rows(_INDEX, first, _HOURS_END, 1), None)
            if row is None:
                break
            hour = row[0][: _NUMBER.size]
            if len(hour) < _NUMBER.size:  # no entry
                first = hour + b"\0"
                continue
            hours.append(hour)
            first = _NUMBER.pack(_NUMBER.unpack(hour)[0] + _HOUR_MS)
        return hours[::-1]
