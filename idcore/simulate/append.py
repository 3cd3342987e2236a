"""Writing a commit log, its consume queues and its index files, to the byte as a broker does. Makes up no message.

For stores of our own: what other people's brokers wrote is only ever read (files.py, commitlog.py).
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import tzinfo
from pathlib import Path

from idcore.base.layout import BLANK, CHECKPOINT, INDEX_ENTRY, INDEX_HEADER, INDEX_SLOT, QUEUE_UNIT
from idcore.ids.clock import from_ms
from idcore.rocketmq.message import Record, blank_record, flags
from idcore.rocketmq.message import properties as names
from idcore.rocketmq.store.index import Header, file_size, key_hash, key_of, tag_key_of
from idcore.simulate.status import PutStatus

_PAGE = 4096
_INT_MOST = (1 << 31) - 1


@dataclass(frozen=True, slots=True)
class Settings:
    """Sizes and limits, by the names a broker has for them in `broker_conf`."""

    commit_log_file: int = 16 << 20
    queue_file: int = 15_000 * QUEUE_UNIT.size
    slots: int = 50_000
    entries: int = 200_000
    message_most: int = 4 << 20
    delay_seconds: tuple[int, ...] = (1, 5, 10, 30, *range(60, 601, 60), 1200, 1800, 3600, 7200)

    @property
    def broker_conf(self) -> str:
        """The settings that a broker needs before it opens a store with files of these sizes."""
        levels = " ".join(f"{seconds}s" for seconds in self.delay_seconds)
        return (
            f"mappedFileSizeCommitLog={self.commit_log_file}\nmappedFileSizeConsumeQueue={self.queue_file}\n"
            f"maxHashSlotNum={self.slots}\nmaxIndexNum={self.entries}\nmaxMessageSize={self.message_most}\n"
            f"messageDelayLevel={levels}\n"
        )


# What a broker has by default; its files are sparse.
BROKER_DEFAULTS = Settings(1 << 30, 300_000 * QUEUE_UNIT.size, 5_000_000, 20_000_000)


@dataclass(frozen=True, slots=True)
class Appended:
    """How one append ended (AppendMessageResult), and what is there now."""

    status: PutStatus
    offset: int = 0
    records: tuple[Record, ...] = ()
    rolled_at: int | None = None


class _Files:
    """A sequence of files of one size, made as they are needed, each as long as it will ever be."""

    def __init__(self, folder: Path, size: int) -> None:
        self._folder = folder
        self._size = size
        self._open: dict[int, int] = {}
        folder.mkdir(parents=True, exist_ok=True)

    def write(self, offset: int, raw: bytes) -> None:
        start = offset - offset % self._size
        descriptor = self._open.get(start)
        if descriptor is None:
            self.close()
            descriptor = os.open(self._folder / f"{start:020d}", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            self._open[start] = descriptor  # before a full disk refuses the next line
            os.ftruncate(descriptor, self._size)
        while raw:
            written = os.pwrite(descriptor, raw, offset - start)
            offset, raw = offset + written, raw[written:]

    def close(self) -> None:
        while self._open:
            os.close(self._open.popitem()[1])


class CommitLogWriter:
    """DefaultAppendMessageCallback: the record where there is room, else padding and the next file."""

    def __init__(self, folder: Path, settings: Settings, end: int = 0) -> None:
        self._settings = settings
        self._files = _Files(folder, settings.commit_log_file)
        self.end = end

    def append(self, prepared: Sequence[Record], queue_offset: int, store_timestamp: int) -> Appended:
        """One record, or the records of a batch, which stay together in one file."""
        size = self._settings.commit_log_file
        needed = sum(record.size for record in prepared)
        if needed + BLANK.size > size:
            return Appended(PutStatus.MESSAGE_ILLEGAL)
        rolled = None
        left = size - self.end % size
        if needed + BLANK.size > left:
            rolled = self.end
            self._files.write(self.end, blank_record(left))
            self.end += left
        placed, at = [], self.end
        for number, record in enumerate(prepared):
            placed.append(record.placed(queue_offset + number, at, store_timestamp))
            at += record.size
        offset, self.end = self.end, at
        self._files.write(offset, b"".join(map(bytes, placed)))
        return Appended(PutStatus.PUT_OK, offset, tuple(placed), rolled)

    def close(self) -> None:
        """Closes the file that is open."""
        self._files.close()


class QueueWriter:
    """Consume queues: one unit for each record that has a place in its queue."""

    def __init__(self, folder: Path, settings: Settings) -> None:
        self._folder = folder
        self._settings = settings
        self._files: dict[tuple[str, int], _Files] = {}

    def put(self, record: Record) -> None:
        """The unit of a record that was appended."""
        if not flags.in_queue(record.sys_flag):
            return
        key = record.topic, record.queue_id
        files = self._files.get(key)
        if files is None:
            files = _Files(self._folder / record.topic / str(record.queue_id), self._settings.queue_file)
            self._files[key] = files
        unit = QUEUE_UNIT.struct.pack(record.physical_offset, record.size, self.tags_code(record))
        files.write(record.queue_offset * QUEUE_UNIT.size, unit)

    def tags_code(self, record: Record) -> int:
        """The tag's hash; in SCHEDULE_TOPIC_XXXX the instant it is due (CommitLog.checkMessageAndReturnSize)."""
        if record.topic == "SCHEDULE_TOPIC_XXXX" and names.DELAY in record.properties:
            level = min(int(record.properties[names.DELAY]), len(self._settings.delay_seconds))
            if level > 0:
                return record.store_timestamp + 1000 * self._settings.delay_seconds[level - 1]
        return record.tags_code

    def close(self) -> None:
        """Closes every file."""
        for files in self._files.values():
            files.close()


class IndexWriter:
    """IndexService: UNIQ_KEY and each of KEYS under topic#key, the tag if configured; a new file when one is full."""

    def __init__(self, folder: Path, settings: Settings, zone: tzinfo, tags: bool = False) -> None:
        self._folder = folder
        self._tags = tags
        self._settings = settings
        self._zone = zone
        self._map: mmap.mmap | None = None
        self._header = Header(0, 0, 0, 0, 0, 1)
        self._size = file_size(settings.slots, settings.entries)
        self.full_timestamp = 0
        folder.mkdir(parents=True, exist_ok=True)

    def resume(self, path: Path, header: Header) -> None:
        """Goes on in the last file of a store."""
        self._open(path)
        self._header = header

    def put(self, record: Record) -> None:
        """The entries of a record that was appended; a rolled-back transaction has no entries."""
        if record.sys_flag & flags.ROLLBACK == flags.ROLLBACK:
            return
        properties = record.properties
        keys = [key_of(record.topic, key) for key in names.indexed(properties)]
        if self._tags and (tag := properties.get(names.TAGS)):
            keys.append(tag_key_of(record.topic, tag))
        for key in keys:
            self._put_key(key_hash(key), record.physical_offset, record.store_timestamp)

    def _put_key(self, hashed: int, offset: int, timestamp: int) -> None:
        header = self._header
        if self._map is None or header.index_count >= self._settings.entries:
            header = self._next_file(timestamp)
        assert self._map is not None
        slot = INDEX_HEADER.size + hashed % self._settings.slots * INDEX_SLOT.size
        (newest,) = INDEX_SLOT.struct.unpack_from(self._map, slot)
        if not 0 < newest <= header.index_count:
            newest = 0
        seconds = 0 if header.begin_timestamp <= 0 else (timestamp - header.begin_timestamp) // 1000
        at = INDEX_HEADER.size + self._settings.slots * INDEX_SLOT.size + header.index_count * INDEX_ENTRY.size
        INDEX_ENTRY.struct.pack_into(self._map, at, hashed, offset, max(0, min(seconds, _INT_MOST)), newest)
        INDEX_SLOT.struct.pack_into(self._map, slot, header.index_count)
        first = header.index_count <= 1
        self._header = Header(
            timestamp if first else header.begin_timestamp,
            timestamp,
            offset if first else header.begin_physical_offset,
            offset,
            header.hash_slot_count + (newest == 0),
            header.index_count + 1,
        )

    def _next_file(self, timestamp: int) -> Header:
        before = self._header
        self._flush()
        instant = timestamp
        while (path := self._folder / from_ms(instant, self._zone).strftime("%Y%m%d%H%M%S%f")[:17]).exists():
            instant += 1  # two within a millisecond
        self._open(path)
        # IndexFile's constructor: a next file begins where the full one ended, until its first entry is put.
        again = before.index_count > 1
        self._header = (
            Header(
                before.end_timestamp, before.end_timestamp, before.end_physical_offset, before.end_physical_offset, 0, 1
            )
            if again
            else Header(0, 0, 0, 0, 0, 1)
        )
        return self._header

    def _open(self, path: Path) -> None:
        with open(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644), "r+b") as file:
            file.truncate(self._size)
            self._map = mmap.mmap(file.fileno(), self._size)

    def _flush(self) -> None:
        if self._map is None:
            return
        header = self._header
        INDEX_HEADER.struct.pack_into(
            self._map,
            0,
            header.begin_timestamp,
            header.end_timestamp,
            header.begin_physical_offset,
            header.end_physical_offset,
            header.hash_slot_count,
            header.index_count,
        )
        self._map.close()
        self._map = None
        if header.index_count >= self._settings.entries:
            self.full_timestamp = header.end_timestamp

    def close(self) -> None:
        """Writes the header and lets the file go."""
        self._flush()


def write_checkpoint(path: Path, timestamp: int, index_timestamp: int) -> None:
    """StoreCheckpoint of a broker that flushed everything: one page, three numbers used."""
    raw = CHECKPOINT.struct.pack(timestamp, timestamp, index_timestamp, 0, 0, 0)
    path.write_bytes(raw.ljust(_PAGE, b"\0"))
