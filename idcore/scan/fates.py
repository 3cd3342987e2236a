"""Commit log files to the evidence of fates: the traces in a split, and counts of its messages. Judges nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import BinaryIO, Protocol

import numpy as np
import pyarrow as pa

from idcore.kernels import fates as kernel
from idcore.kernels import records
from idcore.kernels.keys import SLACK
from idcore.scan.growing import Growing
from idcore.scan.ordering import groups_of, stacked
from idcore.scan.schemas import GROUP_ROWS
from idcore.scan.undelivered import Rows, UnconsumedIntervals
from idcore.sources import storage
from idcore.sources.inputs import Split
from idcore.sources.record_lines import RecordLines
from idcore.sources.unpack import READ_ERRORS

_ROWS, _TEXTS, _COUNTS = 1 << 12, 1 << 20, 1 << 12
_HINTS = 1 << 14
_TRACES = 1 << 10
_BITS = 4  # for each place of the table of keys


def hashes_of(texts: pa.Array) -> np.ndarray:
    """Both hashes of each text, as those of a message's key."""
    if not len(texts):
        return np.zeros((0, 2), np.int64)
    _, ends, data = texts.cast(pa.large_binary()).buffers()
    edges = np.frombuffer(ends, np.int64, len(texts) + 1)
    hashes = np.zeros((len(texts), 2), np.uint64)
    padded = np.concatenate([np.frombuffer(data or b"", np.uint8)[: edges[-1]], np.zeros(SLACK, np.uint8)])
    kernel.hash_keys(padded, edges, hashes)
    return hashes.view(np.int64)


def table_of(words: np.ndarray) -> np.ndarray:
    """The table of the first hashes of keys, as the kernel looks them up."""
    table = np.zeros(1 << max(4, (2 * len(words)).bit_length()), np.uint64)
    kernel.fill(words.view(np.uint64), table)
    return table


@dataclass(frozen=True, slots=True)
class Queues:
    """The queues whose messages are judged: topic (as bytes) and number; of each the edges of its intervals.

    `listed` has for each interval of each queue, and each kind of its messages, whether a group has not consumed them.
    There are two kinds, without and with a key, and two more for each tag of the queue in `tags`. `copied` has the
    hashes of the keys of copies: `table_of` makes it. `lights`: there are queues of light topics among them.
    """

    names: Sequence[tuple[bytes, int]]
    edges: Sequence[np.ndarray]
    listed: Sequence[np.ndarray]
    copied: np.ndarray
    tags: Sequence[Sequence[bytes]] = ()
    lights: bool = False

    def plan(self) -> kernel.Plan:
        """The groups as arrays for the kernel."""
        queues = np.zeros((len(self.names), records.COLUMNS), np.int64)
        tags = self.tags or [()] * len(self.names)
        every = dict.fromkeys([*(name for name, _ in self.names), *(tag for those in tags for tag in those)])
        texts = b"".join(every)
        places = dict(zip(every, accumulate(map(len, every), initial=0), strict=False))
        for row, (name, queue) in enumerate(self.names):
            queues[row, records.NAME_START], queues[row, records.NAME_SIZE] = places[name], len(name)
            queues[row, records.QUEUE_ID] = queue
        ends = np.cumsum([0, *map(len, self.edges)])
        listed = np.cumsum([0, *(each.size for each in self.listed)])
        of_tags, kinds = np.cumsum([0, *map(len, tags)]), [2 + 2 * len(those) for those in tags]
        spans = np.stack([ends[:-1], ends[1:], listed[:-1], kinds, of_tags[:-1], of_tags[1:]], axis=1).astype(np.int64)
        # Of each hash in such a table a bit, in much less memory, which a processor has at hand.
        bits = np.zeros(max(1, _BITS * len(self.copied) // 64), np.uint64)
        kernel.mark(self.copied[self.copied != 0], bits)
        return kernel.Plan(
            queues,
            np.frombuffer(texts + bytes(SLACK), np.uint8).copy(),
            np.full(_HINTS, -1, np.int64),
            spans,
            np.concatenate([*self.edges, np.zeros(1, np.int64)]).astype(np.int64),
            np.concatenate([*(each.ravel() for each in self.listed), np.zeros(1, np.bool_)]),
            self.copied,
            bits,
            np.array([(places[tag], len(tag)) for those in tags for tag in those], np.int64).reshape(-1, 2),
            self.lights,
        )


class _Walk(RecordLines):
    """The records of one split, without a line of text."""

    def __init__(self, file: BinaryIO, path: str, start: int, stop: int) -> None:
        super().__init__(file, path, start, stop)
        self._state = np.zeros(max(kernel.STATE_SIZE, records.STATE_SIZE), np.int64)
        self._kept = kernel.FateRows(np.zeros(_ROWS, kernel.ONE), np.zeros(_TEXTS, np.uint8))

    def run(self) -> None:
        """Reads all of it. Damage is passed: the scan itself reports it."""
        self.begin()
        while not self._ended:
            self._more()

    def rows(self) -> Rows:
        state = self._state
        return Rows(self._kept.rows[: state[kernel.ROWS]], self._kept.texts[: state[kernel.TEXTS]])

    def _make_room(self) -> None:
        """Twice as much, and room for the record at hand."""
        rows, texts = self._kept
        at = int(self._state[kernel.AT])
        most = kernel.MOST_PLACES
        more = max(len(texts), 4 * most * (int.from_bytes(self._raw[at : at + 4].tobytes(), "big") + SLACK))
        full = self._state[kernel.ROWS] + most > len(rows)
        rows = stacked([rows, np.zeros_like(rows)]) if full else rows
        if self._state[kernel.TEXTS] + more // 2 > len(texts):
            texts = np.concatenate([texts, np.zeros(more, np.uint8)])
        self._kept = kernel.FateRows(rows, texts)


class TraceReader(Protocol):
    """What is made of the trace records of one split."""

    def add(self, record: bytes) -> None:
        """One record, whole."""

    def pack(self) -> bytes:
        """All that was made of them, and how many they were."""


@dataclass(frozen=True, slots=True)
class TraceTopics:
    """Which topics have traces, how many, the physical offset from which on they are read, and by what."""

    names: Sequence[str]
    records: int
    since: int
    reader: Callable[[], TraceReader]


class _Traces(_Walk):
    def __init__(self, file: BinaryIO, split: Split, topics: TraceTopics) -> None:
        super().__init__(file, split.path, split.start, split.stop)
        self._reader = topics.reader()
        names = [name.encode() + b"\0" for name in topics.names]
        self._traces = kernel.Traces(
            np.frombuffer(b"".join(names), np.uint8).copy(),
            np.cumsum([0, *map(len, names)]),
            topics.since,
            np.zeros((_TRACES, 2), np.int64),
        )

    def _walk(self, log: records.Log) -> int:
        ended = int(kernel.traced(log, self._traces, self._state))
        for at, size in self._traces.places[: self._state[kernel.TRACES]].tolist():
            self._reader.add(log.raw[at : at + size].tobytes())
        self._state[kernel.TRACES] = 0
        return ended

    def _make_room(self) -> None:
        """The places were read: there is room again."""

    def packed(self) -> bytes:
        """What was made of the trace records."""
        return self._reader.pack()


# How the figures of counts are one figure.
_FOLDS: dict[str, np.ufunc] = {
    "messages": np.add,
    "bytes": np.add,
    "first_place": np.minimum,
    "last_place": np.maximum,
    "first_time": np.minimum,
    "last_time": np.maximum,
}


def merged(counts: np.ndarray) -> np.ndarray:
    """Counts that differ in their figures alone as one row."""
    if not len(counts):
        return counts
    order, begins = groups_of([counts[name] for name in counts.dtype.names or () if name not in _FOLDS])
    sums = counts.take(order[begins])
    for name, fold in _FOLDS.items():
        sums[name] = fold.reduceat(counts[name][order], begins)
    return sums


class _Messages(_Walk):
    """Counts, single messages that have copies, and in `listed` those without that a group has not consumed."""

    def __init__(
        self, file: BinaryIO, split: Split, plan: kernel.Plan, lacking: UnconsumedIntervals, listed: Growing
    ) -> None:
        super().__init__(file, split.path, split.start, split.stop)
        self._plan, self._lacking, self._listed = plan, lacking, listed
        self._counts = np.zeros(_COUNTS, kernel.COUNT)
        self._last = np.full((len(plan.queues), plan.spans[:, kernel.KINDS].max(initial=2)), -1, np.int64)
        self._single: list[Rows] = []

    def _walk(self, log: records.Log) -> int:
        return int(kernel.messages(log, self._plan, self._counts, self._last, self._kept, self._state))

    def _make_room(self) -> None:
        if self._state[kernel.COUNTS] + kernel.MOST_PLACES > len(self._counts):
            self._counts = stacked([self._counts, np.zeros_like(self._counts)])
        elif self._state[kernel.ROWS] >= GROUP_ROWS:
            self._empty()
        else:
            super()._make_room()

    def _empty(self) -> None:
        """Takes the single messages, so that there is room for others."""
        single = self.rows()
        self._state[kernel.ROWS] = self._state[kernel.TEXTS] = 0
        listed = single.rows["why"] == kernel.LISTED
        if listed.any():
            self._listed.add(self._lacking.table(Rows(single.rows.compress(listed), single.texts)))
        if not listed.all():
            self._single.append(single.of(~listed))

    def counts(self) -> np.ndarray:
        return merged(self._counts[: self._state[kernel.COUNTS]])

    def single(self) -> Rows:
        self._empty()
        return Rows.joined(self._single)


Piece = tuple[Split, str, bytes]


@dataclass(frozen=True, slots=True)
class Tracing:
    """The pass over the part of a log that has traces."""

    topics: TraceTopics

    def __call__(self, splits: Iterable[Split]) -> Iterator[Piece]:
        for split in splits:
            walks: list[_Traces] = []
            with suppress(*READ_ERRORS), storage.opened(split.path, split.roots) as file:
                walks.append(_Traces(file, split, self.topics))
                walks[0].run()
            if walks:
                yield split, "traces", walks[0].packed()


@dataclass(frozen=True, slots=True)
class Counting:
    """The pass over all of it: the counts of each split, its messages that have copies, and those that are listed.

    A split gives the first `few` that are listed. Where there is a folder it writes the others itself, so that those
    of a long log do not fill the driver.
    """

    queues: Queues
    lacking: UnconsumedIntervals
    few: int
    folder: Path | None = None

    def __call__(self, splits: Iterable[Split]) -> Iterator[Piece]:
        plan = self.queues.plan()
        for split in splits:
            listed, walks = Growing("undelivered", self.few, self.folder), list[_Messages]()
            with suppress(*READ_ERRORS), storage.opened(split.path, split.roots) as file:
                walks.append(_Messages(file, split, plan, self.lacking, listed))
                walks[0].run()
            for each in walks:
                yield split, "counts", each.counts().tobytes()
                yield split, "ones", each.single().pack()
            table, paths = listed.close()
            yield split, "listed", packed(table)
            for path in paths:
                yield split, "written", str(path).encode()


def packed(table: pa.Table) -> bytes:
    """A table as Arrow IPC bytes."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression="lz4")) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()  # type: ignore[no-any-return]
