"""Growing files as a source of Spark's Structured Streaming: offsets are theirs, rows are the facts of new bytes.

Spark keeps the offsets in its checkpoint: after a crash a batch is read again from where it began to where it ended.
How far a batch goes is Spark's admission control (`ReadLimit`), and what is there to be read is what it reports.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, BinaryIO

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadLimit, ReadMaxBytes
from pyspark.sql.types import StructType

from idcore.base.open_folders import Roots
from idcore.ids.clock import parse_zone
from idcore.scan.crossing import FACTS, Fact, to_batch
from idcore.scan.facts import scan_task
from idcore.scan.followed import note
from idcore.scan.months import month_rows
from idcore.sources.growing_files import FileChanges, Offset, Range, ended, opened, ranges
from idcore.sources.inputs import Split
from idcore.sources.kinds import GROWING

NAME = "growing_files"
PIECE = 8 << 20  # bytes that one task reads where there are more
_ALL = 1 << 62


@dataclass(frozen=True, slots=True)
class FollowSourceOptions:
    """What is followed, as the options of a source carry it. Without `at`, months are read as of the clock."""

    paths: tuple[str, ...]
    roots: Roots
    since: str
    zone: str
    zone_source: str
    at: str | None
    case: str
    batch_bytes: int

    def options(self) -> dict[str, str]:
        return {"asked": json.dumps([getattr(self, name) for name in self.__slots__])}

    @classmethod
    def of(cls, options: Any) -> FollowSourceOptions:
        paths, roots, *others = json.loads(options["asked"])
        return cls(tuple(paths), roots and tuple(roots), *others)

    def changes(self) -> FileChanges:
        since = self.since if self.since.isalpha() else datetime.fromisoformat(self.since)
        return FileChanges(list(self.paths), self.roots, since, parse_zone(self.zone))


class FollowPartition(InputPartition):
    """What one task reads: splits of files, and the generations whose bytes they are; the first has what is `told`."""

    def __init__(self, splits: Sequence[Split], read: Sequence[Range], told: Fact | None) -> None:
        self.splits, self.told = list(splits), told
        self.generations = {one.number: one.generation for one in read}


class Reader(DataSourceStreamReader):
    """Beside the driver it lists files; in a task it reads. What it has seen of files stays beside the driver."""

    def __init__(self, asked: FollowSourceOptions) -> None:
        self.asked = asked
        self.changes: FileChanges | None = None

    def _changes(self) -> FileChanges:
        self.changes = self.changes or self.asked.changes()
        return self.changes

    def __getstate__(self) -> dict[str, Any]:
        return {"asked": self.asked, "changes": None}

    def initialOffset(self) -> Offset:
        return {"next": 0, "files": {}, "ended": {}, "left_out": {}, "begun": False}

    def getDefaultReadLimit(self) -> ReadLimit:
        return ReadMaxBytes(self.asked.batch_bytes)

    def latestOffset(self, start: Offset, limit: ReadLimit) -> Offset:
        most = limit.max_bytes if isinstance(limit, ReadMaxBytes) else _ALL
        before = start if start["begun"] else self._changes().first()
        after = self._changes().after(before, most)
        return start if after is start else after | {"begun": True}

    def reportLatestOffset(self) -> Offset | None:
        return None if self.changes is None else {"available": self.changes.available}

    def partitions(self, start: Offset, end: Offset) -> Sequence[InputPartition]:
        new = ranges(start, end)
        splits = [
            Split(one.number, one.generation.path, at, min(at + PIECE, one.stop), GROWING, self.asked.roots)
            for one in new
            for at in range(one.start, one.stop, PIECE)
        ]
        tasks: list[list[Split]] = [[]]
        for split in splits:
            if sum(each.size for each in tasks[-1]) + split.size > PIECE:
                tasks.append([])
            tasks[-1].append(split)
        first_fact = note(new, ended(end), end["left_out"])
        return [FollowPartition(task, new, None if number else first_fact) for number, task in enumerate(tasks)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, FollowPartition)
        return facts_of(self.asked, partition)


def facts_of(asked: FollowSourceOptions, part: FollowPartition) -> Iterator[pa.RecordBatch]:
    """The facts of one task, and with the first of a batch what it says of its files."""

    def open_split(split: Split) -> AbstractContextManager[BinaryIO]:
        return opened(part.generations[split.number], asked.roots)

    at = datetime.now(UTC) if asked.at is None else datetime.fromisoformat(asked.at)
    months = month_rows(at, parse_zone(asked.zone), asked.zone_source)
    if part.told is not None:
        yield to_batch([part.told])
    facts = list(scan_task(part.splits, months, asked.case, opened=open_split))
    if facts:
        yield to_batch(facts)


class GrowingFiles(DataSource):
    """Growing files as a streaming data source of Spark."""

    @classmethod
    def name(cls) -> str:
        return NAME

    def schema(self) -> str:
        return FACTS

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        return Reader(FollowSourceOptions.of(self.options))
