"""A whole store folder, read only: its parts, what they span, what is missing. Looks nothing up in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any

from idcore.base.errors import coded, refuse
from idcore.base.layout import CHECKPOINT
from idcore.base.open_folders import Roots, entries, file_status, is_folder, is_regular
from idcore.rocketmq.message import is_system_topic
from idcore.rocketmq.message.model import DLQ_PREFIX, RETRY_PREFIX
from idcore.rocketmq.message.validators import SYSTEM_TOPICS, TIMER_TOPIC
from idcore.rocketmq.store import pop_log, rocks_queues
from idcore.rocketmq.store.commitlog import LOOKED_FOR_RECORDS, CommitLog, Stored, is_dledger, place_of
from idcore.rocketmq.store.config import BrokerConfig, Note, read_config
from idcore.rocketmq.store.files import Reading
from idcore.rocketmq.store.index import Index
from idcore.rocketmq.store.pop_records import PopRecords
from idcore.rocketmq.store.rocks_messages import FOLDER, RocksIndex, RocksMessages
from idcore.rocketmq.store.rocksdb import Database, has_data, is_database

_POPPED: dict[tuple[object, ...], PopRecords] = {}  # of the folders that were read last
_POPPED_MOST = 2
_LOCK = Lock()
_TRIED_MOST = 20  # files of a folder that is not a store


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Up to which store time each part was flushed, in ms; the last three are of 5.x."""

    physical_timestamp: int
    queue_timestamp: int
    index_timestamp: int
    master_flushed_offset: int
    confirm_physical_offset: int
    queue_physical_offset: int


class StoreFolder:
    """Opens nothing for writing, ever, and leaves nothing behind. With `roots` all that is read is in one of them."""

    def __init__(self, root: Path, slots: int | None = None, roots: Roots = None) -> None:
        self.root = root
        self.reading = Reading(roots)
        folder = log_folder(root, roots)
        try:
            older = root / "commitlog" if is_dledger(folder) and is_folder(root / "commitlog", roots) else None
            self.log = CommitLog(folder, self.reading, older)
            self.queues = rocks_queues.find(root, self.reading, self.log)
            self.index = Index(root / "index", self.reading, slots)
            self.kept = self._in_rocksdb(root / FOLDER)
        except OSError as problem:
            raise refuse("no_folder", folder=str(problem.filename or root), why=coded(problem)) from None

    def _in_rocksdb(self, folder: Path) -> RocksMessages | None:
        """What is kept of messages in RocksDB; of an index only where it is not in files."""
        if not is_database(folder, self.reading):
            return None
        database = Database(folder, self.reading)
        if not self.index.files and has_data(folder, self.reading):
            self.index = RocksIndex(self.root / "index", self.reading, database)
        return RocksMessages(database)

    def close(self) -> None:
        """Closes the files that are open."""
        self.reading.close()

    def __enter__(self) -> StoreFolder:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def aborted(self) -> bool:
        """Whether the broker is running on it or was killed: a clean stop removes the file abort."""
        with suppress(OSError):  # a link that leads outside
            return is_regular(self.root / "abort", self.reading.roots)
        return False

    @cached_property
    def checkpoint(self) -> Checkpoint | None:
        """None where the file is missing or too short."""
        path = self.root / "checkpoint"
        raw = b""
        with self.reading.noted(path):
            if is_regular(path, self.reading.roots):
                raw = self.reading.read(path, 0, CHECKPOINT.size)
        return Checkpoint(*CHECKPOINT.struct.unpack(raw)) if len(raw) == CHECKPOINT.size else None

    @cached_property
    def topics(self) -> list[str]:
        """Every topic with a queue or a configuration: those of groups behind the others, those of the system last."""
        names = set(self.queues.topics) | set(self.config.topics or ())
        if names and not self.queues.topics:  # queues in RocksDB; these topics are in no settings
            names |= SYSTEM_TOPICS | {TIMER_TOPIC}
        of_groups = (RETRY_PREFIX, DLQ_PREFIX)
        return sorted(names, key=lambda name: (is_system_topic(name), name.startswith(of_groups), name))

    def state(self) -> tuple[object, ...]:
        """What changes with the records or with what is known of groups: sizes and times, which are read anew."""
        files, folder = [], self.root / "config"
        with self.reading.noted(folder):
            if is_folder(folder, self.reading.roots):
                with entries(folder, self.reading.roots) as inside:
                    for entry in inside:
                        with suppress(FileNotFoundError):  # a broker renames what it has written
                            about = entry.stat(follow_symlinks=False)
                            files.append((entry.name, about.st_size, about.st_mtime_ns))
        written = self.config.offsets_written_ms  # also of a database, which is in a folder of its own
        return str(self.root), self.log.end, len(self.queues.topics), written, tuple(sorted(files))

    @cached_property
    def config(self) -> BrokerConfig:
        """What the broker's own files say of topics and groups, and what of the folder is not as it should be."""
        config = read_config(self.root, self.reading, self._popped, self._first_stored_ms)
        return replace(config, noted=(*(Note(code, values) for code, values in self._lacks()), *config.noted))

    def _popped(self) -> PopRecords:
        """Of a folder that is as it was they are read once: a page opens it anew at each turn."""
        key = (*self.state(), self.reading.roots)
        with _LOCK:
            popped = _POPPED.pop(key, None)
            if popped is None:
                popped = pop_log.read(self.log, self.queues)
            _POPPED[key] = popped
            if len(_POPPED) > _POPPED_MOST:
                del _POPPED[next(iter(_POPPED))]
        return popped

    def _first_stored_ms(self, topic: str, queue: int) -> int | None:
        """When the first message of a queue was stored that can be read; None where there is none."""
        files = next((one for one in self.queues.of(topic) if one.queue_id == queue), None)
        span = None if files is None else files.span
        unit = None if files is None or span is None else files.unit(span[0])
        found = None if unit is None else self.log.look(unit.physical_offset)
        first = found if isinstance(found, Stored) else self.first
        return None if first is None else first.record.store_timestamp

    def _lacks(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """What is missing of queues and messages that are kept in RocksDB."""
        yield from self.queues.notes()
        if self.kept is not None and has_data(self.kept.database.folder, self.reading):
            if not self.kept.database.families:
                yield "config_rocksdb_index", {"name": FOLDER}
        elif self.kept is not None and self.log.end and not self.index.files:
            yield "config_rocksdb_unflushed", {"name": FOLDER}

    @cached_property
    def first(self) -> Stored | None:
        return next((item for item in self.log.walk() if isinstance(item, Stored)), None)

    @cached_property
    def last(self) -> Stored | None:
        for file in reversed(self.log.files):
            stored = self.log.before(file, file.end)
            if stored:
                return stored
        return None

    def overview(self) -> dict[str, Any]:
        """What the folder contains, without reading every record."""
        log = self.log
        files = [
            {
                "file": file.name,
                "start": file.start,
                "bytes": file.size,
                "on_disk": _on_disk(file.path, self.reading.roots),
                "used": max(0, min(file.end, log.end or 0) - file.start),
            }
            for file in log.files
        ]
        gaps = [
            {"first": left.end, "last": right.start - 1}
            for left, right in zip(log.files, log.files[1:], strict=False)
            if left.end < right.start
        ]
        overlaps = [
            {"file": right.name, "begins": right.start, "but_before_it_ends": left.end}
            for left, right in zip(log.files, log.files[1:], strict=False)
            if left.end > right.start
        ]
        sizes = {file.size for file in log.files}
        overview: dict[str, Any] = {
            "folder": str(self.root),
            "files": files,
            "bytes": sum(file.size for file in log.files),
            "on_disk": sum(file["on_disk"] for file in files),
            "minimum": log.minimum,
            "end": log.end,
            "holes": gaps,
            "overlaps": overlaps,
            "short_files": [file.name for file in log.files if file.size < max(sizes)],
            "first_store_timestamp": self.first.record.store_timestamp if self.first else None,
            "last_store_timestamp": self.last.record.store_timestamp if self.last else None,
            "topics": [self._topic(name) for name in self.topics],
            "index": [
                {
                    "file": file.path.name,
                    "bytes": file.size,
                    "on_disk": _on_disk(file.path, self.reading.roots),
                    "slots": file.slots,
                    "entries": file.entries,
                    **(asdict(file.header) if file.header else {}),
                }
                for file in self.index.files
            ],
            "checkpoint": asdict(self.checkpoint) if self.checkpoint else None,
            "aborted": self.aborted,
            "strangers": log.strangers + self.index.strangers,
        }
        return overview | {"unreadable": self.unreadable}

    @property
    def unreadable(self) -> dict[str, dict[str, Any]]:
        """The files and folders of the store that could not be read so far, and why."""
        return {str(path.relative_to(self.root)): why.coded() for path, why in sorted(self.reading.problems.items())}

    def _topic(self, name: str) -> dict[str, Any]:
        queues = []
        for queue in self.queues.of(name):
            first, end = queue.span or (0, 0)
            queues.append({"queue_id": queue.queue_id, "first": first, "end": end})
        total = sum(queue["end"] - queue["first"] for queue in queues)
        return {"topic": name, "system": is_system_topic(name), "messages": total, "queues": queues}


def log_folder(root: Path, roots: Roots = None) -> Path:
    """The folder with the commit log: of DLedger, or root/commitlog, or root itself with the files right in it."""
    try:
        names = _names(root, roots)
        for name in sorted(name for name in names if name.startswith("dledger-")):
            data = root / name / "data"
            if is_folder(data, roots) and any(map(_is_log_name, _names(data, roots))):
                return data
        folder = root / "commitlog"
        whole = "commitlog" in names and is_folder(folder, roots)
    except OSError as problem:
        raise refuse("no_folder", folder=str(root), why=coded(problem)) from None
    if whole:
        try:
            inside = _names(folder, roots)
        except OSError as problem:
            raise refuse("no_folder", folder=str(folder), why=coded(problem)) from None
        if not any(map(_is_log_name, inside)):  # an empty log, or pieces of one that nothing would find
            _refuse_dump(folder, inside, roots)
        return folder
    if any(map(_is_log_name, names)):
        return root
    _refuse_dump(root, names, roots)
    raise refuse("no_log", folder=str(root))


def _names(folder: Path, roots: Roots) -> list[str]:
    with entries(folder, roots) as inside:
        return [entry.name for entry in inside]


def _is_log_name(name: str) -> bool:
    return len(name) == 20 and name.isascii() and name.isdigit()


def _refuse_dump(folder: Path, names: Iterable[str], roots: Roots) -> None:
    for name in sorted(names)[:_TRIED_MOST]:
        start = _place_in_log(folder / name, roots)
        if start is not None:
            raise refuse("dump", folder=str(folder), file=name, name=f"{start:020d}")


def _place_in_log(path: Path, roots: Roots) -> int | None:
    """Where a piece of a commit log with a name of its own belongs, by the first record near its beginning."""
    reading = Reading(roots)
    try:
        return place_of(reading.read(path, 0, LOOKED_FOR_RECORDS)) if is_regular(path, roots) else None
    except OSError:
        return None
    finally:
        reading.close()


def _on_disk(path: Path, roots: Roots) -> int:
    try:
        return file_status(path, roots).st_blocks * 512
    except OSError:
        return 0
