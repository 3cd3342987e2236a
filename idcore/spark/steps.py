"""The two works of a scan's job: splits -> facts, and facts of a part -> tables. Does not know how they cross."""

from __future__ import annotations

import os
import socket
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from idcore.base.errors import CoreError
from idcore.kernels.encode import PARTS
from idcore.scan import tables
from idcore.scan.batches import batches
from idcore.scan.crossing import EVERY_PART, Fact, Report, What
from idcore.scan.facts import scan_task
from idcore.scan.growing import room_for_files
from idcore.scan.meter import Hand, Meter
from idcore.scan.months import Months
from idcore.scan.schemas import GROUP_ROWS, IN_ORDER, ORDER, SCHEMAS, TEXT
from idcore.sources.inputs import Split, pack_tasks, unpack_tasks

from .tasks import Batches, Merge, Read

RESULTS = pa.schema([("table", pa.string()), ("data", pa.binary()), ("file", pa.string())])
SENT = 64 << 20  # bytes of tables that one merge task sends to the driver; what comes after is written where it is
_REPORTS = 1000  # of tiny files, that travel together
_SAMPLE = 1000  # values
_CHUNK_ROWS = 1 << 17  # rows of a result that travel together
_OWN = ORDER.keys() - {"timeline"}  # of these no row is made by two tasks


def reading(
    partitions: Sequence[Sequence[Sequence[Split]]],
    months: Months | np.ndarray,
    case: str,
    meter: Meter | None = None,
    found: Callable[[int], None] | None = None,
    with_copies: bool = False,
) -> Read:
    """What the task of each list reads; a task's splits share their memory.

    A meter means that the tasks run on this machine: they move it. Where they do not, `found` gets the ids of each
    split. A file that only the worker cannot open is then named with the worker.
    """

    packed = [pack_tasks(tasks) for tasks in partitions]  # each task of Spark gets them all and opens its own

    def read(number: int) -> Iterator[Fact]:
        tasks = unpack_tasks(packed[number])
        splits = [split for task in tasks for split in task]
        listener = _Listener(splits, Hand(meter, number, splits) if meter is not None else None, found)
        moved = listener.hand.move if listener.hand is not None else None
        facts = (fact for task in tasks for fact in scan_task(task, months, case, moved, with_copies))
        return _crossing(facts, listener)

    return read


class _Listener:
    """Hears of every split that a task has read: moves the meter's hand, or says what only a worker can see."""

    def __init__(self, splits: Sequence[Split], hand: Hand | None, found: Callable[[int], None] | None) -> None:
        self.splits = iter(splits)
        self.hand = hand
        self.found = found

    def heard(self, packed: bytes) -> bytes:
        """A report as it travels on: an archive of tiny files has very many, and nearly all travel as they are."""
        report = Report.unpack(packed)
        heard = self.hear(report)
        return packed if heard is report else heard.pack()

    def hear(self, report: Report) -> Report:
        if self.hand is not None:
            self.hand.found(report.ids)
        if self.found is not None:
            self.found(report.ids)
        if not report.closes_split:
            return report
        split = next(self.splits)
        if self.hand is None:
            # The driver saw every file that it lists; a worker without one of them has another view of the path.
            if not report.error or "://" in split.path or os.path.exists(split.path):
                return report
            problem = CoreError("worker_says", {"problem": report.error, "worker": socket.gethostname()})
            return replace(report, error=problem)
        self.hand.next()
        return report


def _crossing(facts: Iterator[Fact], listener: _Listener) -> Iterator[Fact]:
    """Facts as they travel: reports together, and what every part needs to each of them."""
    reports: list[bytes] = []
    for fact in facts:
        if fact.what == What.REPORT:
            reports += [listener.heard(packed) for packed in fact.data.split(b"\n")]
        elif fact.part == EVERY_PART:  # the merge of a part is one task, which sees no other part
            yield from (fact._replace(part=part) for part in range(PARTS))
        else:
            yield fact
        if len(reports) >= _REPORTS:
            yield Fact(0, What.REPORT, b"\n".join(reports))
            reports = []
    if reports:
        yield Fact(0, What.REPORT, b"\n".join(reports))


def merging(months: Months | np.ndarray, folder: str | None = None, sent: int = SENT) -> Merge:
    """The merge: facts to rows of (table, Arrow stream), or of (table, Parquet file) after `sent` bytes."""

    def merge(arriving: Iterable[Fact]) -> Batches:
        total = 0
        for part, facts in batches(arriving):
            for number, (name, table) in enumerate(tables.Merge(months).tables(facts)):
                if folder is not None and total + table.nbytes > sent and name in _OWN:
                    yield _result((name, None, _write(table, name, Path(folder), f"{part:05d}-{number:05d}")))
                    continue
                total += table.nbytes
                for start in range(0, max(1, table.num_rows), _CHUNK_ROWS):
                    yield _result((name, to_stream(table.slice(start, _CHUNK_ROWS)), None))

    return merge


def _write(table: pa.Table, name: str, folder: Path, place: str) -> str:
    """A table too large for the driver to a file; an attempt that failed leaves a file that nobody asks for."""
    path = room_for_files(folder) / f"{name}-{place}-{uuid.uuid4().hex[:8]}.parquet"
    if name not in IN_ORDER:
        table = table.sort_by([(column, "ascending") for column in ORDER[name]])
    recurring = [column for column in table.column_names if _repeats(table.column(column))]
    pq.write_table(table, path, compression="zstd", row_group_size=GROUP_ROWS, use_dictionary=recurring)
    return str(path)


def _result(row: tuple[str, bytes | None, str | None]) -> pa.RecordBatch:
    columns = [pa.array([value], field.type) for value, field in zip(row, RESULTS, strict=True)]
    return pa.RecordBatch.from_arrays(columns, schema=RESULTS)


def to_stream(table: pa.Table) -> bytes:
    """The table as it travels: every different text once, and compressed: on its way it is copied many times."""
    for place, field in enumerate(table.schema):
        if field.type == TEXT and _repeats(table.column(place)):
            table = table.set_column(place, field.name, table.column(place).dictionary_encode())
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


def _repeats(values: pa.ChunkedArray) -> bool:
    """Whether values occur more than once, by the first of them: a dictionary of ids costs more than it saves."""
    first = values.slice(0, _SAMPLE)
    return bool(2 * pc.count_distinct(first).as_py() <= len(first))


def from_results(results: pa.Table) -> list[tuple[str, pa.Table]]:
    """The tables behind collected results; they are unpacked side by side."""

    def unpack(name: str, data: pa.Scalar) -> tuple[str, pa.Table]:
        table = pa.ipc.open_stream(data.as_buffer()).read_all()
        return name, table.cast(SCHEMAS[name]) if name in SCHEMAS else table

    sent = results.filter(pc.is_valid(results["data"]))
    with ThreadPoolExecutor() as pool:
        return list(pool.map(unpack, sent["table"].to_pylist(), sent["data"]))


def files_of(results: pa.Table) -> dict[str, list[Path]]:
    """The files that merge tasks wrote themselves, by table, in the order of their parts."""
    files: dict[str, list[Path]] = {}
    for name, path in sorted(zip(results["table"].to_pylist(), results["file"].to_pylist(), strict=True), key=str):
        if path is not None:
            files.setdefault(name, []).append(Path(path))
    return files
