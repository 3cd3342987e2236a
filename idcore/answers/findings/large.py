"""Scans that are too large for the driver, taken piece by piece, each row a fixed number of times. Judges nothing.

First the processes are read for those whose points need looking at, as many as there is room for. Then the points of
these are read. Then the processes are read again, each piece with the points of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from idcore.answers.findings import limits
from idcore.answers.findings.processes import Processes, numbers
from idcore.answers.findings.quota import FindingQuota
from idcore.ids import rules
from idcore.ids.origins import PROCESS_KEY
from idcore.scan.schemas import ORDER, SCHEMAS

_ROWS = 1 << 18
_OF_POINTS = [name for name in SCHEMAS["counters"].names if name not in PROCESS_KEY]
_FIGURES = ("chains", "out_of_order", "missing", "wraps", "distinct", "ids", "first_elapsed_ms", "last_elapsed_ms")
# At most so many ids of a process are points: all of 1,500, or the ends of 256 buckets and of each chain, the sides of
# 256 wraps and of 100 gaps (kernels/unroll.py).
_POINTS, _POINTS_OF_CHAIN, _POINTS_BESIDE = 1_500, 2 * 256 + 3, 2 * (256 + 100)


@dataclass(frozen=True)
class Rows:
    """The tables of a scan: what is in memory, and Parquet files with further rows. `check` may end the reading."""

    tables: Mapping[str, pa.Table]
    written: Mapping[str, Sequence[Path]]
    check: Callable[[], None]

    def pieces(self, name: str, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """One table in pieces, or some of its columns: what is in memory, then the rows of each file."""
        table = self.tables.get(name)
        if table is not None:
            table = table if columns is None else table.select([name for name in columns if name in table.column_names])
            for start in range(0, max(1, len(table)), _ROWS):
                self.check()
                yield table.slice(start, _ROWS)
        for path in self.written.get(name, ()):
            with pq.ParquetFile(path) as file:
                for batch in file.iter_batches(_ROWS, columns=columns):
                    self.check()
                    yield pa.Table.from_batches([batch])

    def count(self, name: str) -> int:
        written = sum(pq.read_metadata(path).num_rows for path in self.written.get(name, ()))
        return written + (len(self.tables[name]) if name in self.tables else 0)

    def processes(self) -> Iterator[Processes]:
        """All processes with their points; of a large scan in pieces, with the points of those that most need it."""
        if not self.written.get("processes") and not self.written.get("counters"):
            yield Processes(self.tables["processes"], self.tables["counters"])
            return
        suspects, listed, begin = self._suspects(), FindingQuota(), 0
        points, edges = self._points(suspects)
        place = numbers(suspects, "place")
        for table in self.pieces("processes"):
            low, high = np.searchsorted(place, [begin, begin + len(table)]).tolist()
            start, stop = np.zeros(len(table), np.int64), np.zeros(len(table), np.int64)
            start[place[low:high] - begin] = edges[low:high] - edges[low]
            stop[place[low:high] - begin] = edges[low + 1 : high + 1] - edges[low]
            mine = points.slice(edges[low], edges[high] - edges[low])
            yield Processes(table, mine, (start, stop), listed)
            begin += len(table)

    def _suspects(self) -> pa.Table:
        """The processes whose points need looking at, in the order of the table, by their place in it."""
        suspects, begin = _SUSPECTS.empty_table(), 0
        for table in self.pieces("processes", [*PROCESS_KEY, *_FIGURES]):
            suspects = _most_needed(pa.concat_tables([suspects, _worth_points(table, begin)]))
            begin += len(table)
        return suspects.sort_by("place")

    def _points(self, suspects: pa.Table) -> tuple[pa.Table, np.ndarray]:
        """Their points, one process behind the other, and where each begins."""
        tables = [_POINTS_OF.empty_table()]
        if len(suspects):
            wanted = suspects.select(PROCESS_KEY).append_column("suspect", pa.array(np.arange(len(suspects))))
            hosts = pc.unique(wanted["host"])
            for table in self.pieces("counters"):
                near = table.filter(pc.is_in(table["host"], value_set=hosts))
                if len(near):
                    tables.append(near.join(wanted, PROCESS_KEY, join_type="inner").select(_POINTS_OF.names))
        order = [(name, "ascending") for name in ("suspect", *ORDER["counters"][len(PROCESS_KEY) :])]
        points = pa.concat_tables(tables).sort_by(order).combine_chunks()
        return points, np.searchsorted(points["suspect"].to_numpy(), np.arange(len(suspects) + 1))


_SUSPECTS = pa.schema(
    [(name, SCHEMAS["processes"].field(name).type) for name in PROCESS_KEY]
    + [(name, pa.int64()) for name in ("place", "rank", "weight", "points")]
)
_POINTS_OF = pa.schema(
    [(name, SCHEMAS["counters"].field(name).type) for name in _OF_POINTS] + [("suspect", pa.int64())]
)
_SEVERAL, _CLOCK, _GAPS = 3, 2, 1  # what is doubtful: which counter is whose, when an id was generated, what is missing


def _worth_points(table: pa.Table, begin: int) -> pa.Table:
    """The processes of a piece whose points say more than their row."""
    of = {name: numbers(table, name) for name in _FIGURES}
    last = of["last_elapsed_ms"]
    clock = (of["out_of_order"] > 0) | (last >= rules.ELAPSED_WRAP - rules.CLOCK_BACK_MS)
    clock |= (of["first_elapsed_ms"] == 0) & (of["distinct"] >= limits.ZERO_RUN)
    gaps = (of["missing"] > 0) | (of["wraps"] > 0) | (last > limits.LONGEST_ELAPSED_MS)
    rank = np.where(of["chains"] > 1, _SEVERAL, np.where(clock, _CLOCK, np.where(gaps, _GAPS, 0)))
    weight = np.where(rank == _GAPS, of["missing"] + of["wraps"], of["ids"])
    thinned = np.maximum(_POINTS, of["chains"] * _POINTS_OF_CHAIN + _POINTS_BESIDE)
    rows = np.flatnonzero(rank)
    columns = [begin + rows, rank[rows], weight[rows], np.minimum(of["distinct"], thinned)[rows]]
    return pa.Table.from_arrays(
        [*table.select(PROCESS_KEY).take(pa.array(rows)).columns, *map(pa.array, columns)], schema=_SUSPECTS
    )


def _most_needed(suspects: pa.Table) -> pa.Table:
    """As many as may be examined and have room for their points, by rank and weight; of equals the first."""
    place, rank, weight = (numbers(suspects, name) for name in ("place", "rank", "weight"))
    order = np.lexsort((place, -weight, -rank))
    order = order[(rank[order] != _SEVERAL) | (np.arange(len(order)) < limits.MOST_EXAMINED)][: limits.MOST_SUSPECTS]
    room = np.cumsum(numbers(suspects, "points")[order]) <= limits.MOST_POINTS
    return suspects.take(pa.array(order[room])).combine_chunks()
