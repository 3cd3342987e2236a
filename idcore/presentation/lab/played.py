"""A story that was played: what happened row by row, and the commit logs as they are on disk. Plays nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from idcore.presentation.lab.story import Story
from idcore.rocketmq.message import Record
from idcore.rocketmq.store import Blank, CommitLog, Stored
from idcore.rocketmq.store.files import Reading


@dataclass(frozen=True, slots=True)
class Row:
    """One thing that happened: both ids as they are then, the record if one was stored, and what the words need."""

    step: int
    code: str
    now: int
    msg_id: str | None = None
    broker: str | None = None
    record: Record | None = None
    copied_from: Record | None = None
    values: Mapping[str, Any] = field(default_factory=dict)

    @property
    def offset_msg_id(self) -> str | None:
        """The broker's id of the record."""
        return None if self.record is None else str(self.record.offset_id)


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a commit log file: a record, the padding, or what is still free."""

    kind: Literal["record", "blank", "free"]
    start: int
    size: int
    row: int | None = None


@dataclass(frozen=True, slots=True)
class LogFile:
    """One commit log file as it is on disk, read back."""

    broker: str
    name: str
    start: int
    size: int
    pieces: tuple[Piece, ...]

    @property
    def used(self) -> int:
        """Bytes that are not free."""
        return sum(piece.size for piece in self.pieces if piece.kind != "free")


@dataclass(frozen=True, slots=True)
class PlayedStory:
    """A story that was played: its rows, and the commit logs behind them."""

    story: Story
    rows: tuple[Row, ...]
    logs: tuple[LogFile, ...]

    @property
    def messages(self) -> int:
        """How many messages an application sent: same id and same order are one."""
        return len(self._meant)

    @property
    def copies(self) -> int:
        """The largest number of records that contain one msgId."""
        return max(Counter(row.msg_id for row in self.rows if row.msg_id and row.record).values(), default=0)

    @property
    def collisions(self) -> int:
        """The largest number of messages that share one msgId: more than one is a true collision."""
        return max(Counter(msg_id for msg_id, _ in self._meant).values(), default=0)

    @property
    def _meant(self) -> set[tuple[str, int]]:
        return {(row.msg_id, row.values["order"]) for row in self.rows if row.msg_id and "order" in row.values}

    @property
    def records(self) -> int:
        """How many records the commit logs contain."""
        return sum(row.record is not None for row in self.rows)


def read_logs(root: Path, brokers: Iterable[str], rows: Sequence[Row]) -> list[LogFile]:
    """Every commit log file, read from disk as any other store is."""
    places = {(row.broker, row.record.physical_offset): at for at, row in enumerate(rows) if row.record}
    logs = []
    for name in brokers:
        with closing(Reading()) as reading:
            log = CommitLog(root / name / "commitlog", reading)
            steps = list(log.walk())
        for file in log.files:
            pieces, end = [], file.start
            for step in steps:
                if not file.start <= step.offset < file.end or not isinstance(step, (Stored, Blank)):
                    continue
                row = places.get((name, step.offset))
                pieces.append(
                    Piece("record" if isinstance(step, Stored) else "blank", step.offset, step.end - end, row)
                )
                end = step.end
            if end < file.end:
                pieces.append(Piece("free", end, file.end - end))
            logs.append(LogFile(name, file.name, file.start, file.size, tuple(pieces)))
    return logs
