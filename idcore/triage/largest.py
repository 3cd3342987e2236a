"""Tables of a scan too large to be held: the rows that come first in some order, those of some hosts, sums of all.

Read in pieces, so that memory goes by the rows that are asked for and time by the rows there are. Draws nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from idcore.findings.gaps import is_sample
from idcore.findings.limits import CUT_COUNTER

_ROWS = 1 << 17
SHORT = timedelta(minutes=30)
# What a person sorts by -> the columns it is made of, and whether the least comes first. Ties go by different ids.
_BY: dict[str, tuple[tuple[str, ...], bool]] = {
    "ids": (("distinct",), False),
    "missing": (("missing", "produced", "layout"), False),
    "wraps": (("wraps", "layout"), False),
    "rate": (("rate_per_second",), False),
    "first": (("first_sent_at",), True),
    "host": (("host",), True),
    "count": (("ids",), False),
}


def count(folder: Path) -> int:
    """How many rows a table has, from the ends of its files."""
    return sum(pq.read_metadata(path).num_rows for path in sorted(folder.glob("*.parquet")))


def first(folder: Path, by: str, rows: int) -> pa.Table:
    """So many rows of a table, those that come first when it is sorted."""
    kept, place = None, 0
    rising = _BY[by][1]
    names = pq.read_schema(_files(folder)[0]).names
    columns = [name for name in dict.fromkeys((*_BY[by][0], "distinct")) if name in names]
    for batch in _batches(folder, columns):
        values = batch[_BY[by][0][0]]
        if by == "missing":
            values = pc.divide(values.cast(pa.float64()), pc.max_element_wise(batch["produced"], 1).cast(pa.float64()))
        if "layout" in _BY[by][0]:  # what a cut counter shows is not a figure
            values = pc.if_else(pc.equal(batch["layout"], CUT_COUNTER), pa.scalar(0, values.type), values)
        ids = batch["distinct"] if "distinct" in columns else pa.array(np.zeros(len(batch), np.int64))
        some = pa.table({"key": values, "ids": ids, "place": np.arange(place, place + len(batch))})
        place += len(batch)
        if kept is not None and len(kept) == rows:
            some = some.filter(_before(some, kept.slice(rows - 1).to_pylist()[0], rising))
        if kept is None or len(some):
            both = some if kept is None else pa.concat_tables([kept, some])
            order = [("key", "ascending" if rising else "descending"), ("ids", "descending"), ("place", "ascending")]
            kept = both.sort_by(order).slice(0, rows).combine_chunks()
    assert kept is not None
    return take(folder, kept["place"].to_numpy())


def _before(some: pa.Table, last: Mapping[str, Any], rising: bool) -> pa.ChunkedArray:
    """Which rows come before the last one that is kept; rows without a value come after all others."""
    more_ids = pc.greater(some["ids"], last["ids"])
    if last["key"] is None:
        return pc.or_kleene(pc.is_valid(some["key"]), more_ids)
    limit = pa.scalar(last["key"], some.schema.field("key").type)
    nearer = (pc.less if rising else pc.greater)(some["key"], limit)
    return pc.fill_null(pc.or_(nearer, pc.and_(pc.equal(some["key"], limit), more_ids)), False)


def where(folder: Path, wanted: Mapping[str, Sequence[Any]], rows: int) -> pa.Table:
    """So many rows whose columns hold one of these values: of all others these columns are read, and nothing else."""
    places, begin = [np.zeros(0, np.int64)], 0
    for path in _files(folder):
        with pq.ParquetFile(path) as file:
            types = file.schema_arrow
            sought = {name: pa.array(values, types.field(name).type) for name, values in wanted.items()}
            for group in range(file.num_row_groups):
                count = file.metadata.row_group(group).num_rows
                hit = np.ones(count, bool)
                if sought:
                    columns = file.read_row_group(group, columns=list(sought))
                    for name, values in sought.items():
                        hit &= pc.is_in(columns[name], value_set=values).to_numpy()
                places.append(begin + np.flatnonzero(hit))
                begin += count
                if sum(map(len, places)) >= rows:
                    return take(folder, np.concatenate(places)[:rows])
    return take(folder, np.concatenate(places))


@dataclass
class Totals:
    """What the processes of a scan come to: the sums of the columns of their table.

    `produced` and `missing` leave out the processes whose counter is cut (`uncounted`), as the table does.
    """

    processes: int = 0
    ids: int = 0
    distinct: int = 0
    wraps: int = 0
    produced: int = 0  # generated, as the counters say
    missing: int = 0  # of these, not in the input
    in_part: int = 0  # processes of which more than a tenth is missing
    missing_in_part: int = 0
    uncounted: int = 0
    shared: int = 0
    restarts: int = 0
    first: datetime | None = None
    last: datetime | None = None
    zones: set[str] = field(default_factory=set)

    @property
    def is_short(self) -> bool:
        """Whether minutes are too coarse for all of them."""
        return self.first is not None and self.last is not None and self.last - self.first < SHORT

    def add(self, rows: pa.RecordBatch | pa.Table) -> None:
        """Some more processes."""
        column = {name: _numbers(rows, name) for name in _COUNTED}
        cut = np.zeros(rows.num_rows, bool)
        if "layout" in rows.schema.names:
            cut = np.asarray(pc.equal(rows["layout"], CUT_COUNTER).to_numpy(zero_copy_only=False), bool)
        for name in COUNTED_WHOLE:
            column[name] = np.where(cut, 0, column[name])
        part = is_sample(column["missing"], column["produced"])
        self.uncounted += int(cut.sum())
        self.produced += int(column["produced"].sum())
        self.processes += rows.num_rows
        self.ids += int(column["ids"].sum())
        self.distinct += int(column["distinct"].sum())
        self.wraps += int(column["wraps"].sum())
        self.missing += int(column["missing"].sum())
        self.missing_in_part += int(column["missing"][part].sum())
        self.in_part += int(part.sum())
        self.shared += int((column["tracks"] > 1).sum())
        if "chains" in rows.schema.names:
            self.restarts += int(np.maximum(_numbers(rows, "chains") - column["tracks"], 0).sum())
        first, last = pc.min(rows["first_sent_at"]).as_py(), pc.max(rows["last_sent_at"]).as_py()
        self.first = min(filter(None, (self.first, first)), default=None)
        self.last = max(filter(None, (self.last, last)), default=None)
        if "zone" in rows.schema.names:
            self.zones |= {zone for zone in pc.unique(rows["zone"]).to_pylist() if zone}


_COUNTED = ("ids", "distinct", "wraps", "missing", "produced", "tracks")
# Columns of which a process whose counter is cut has no figure.
COUNTED_WHOLE = ("wraps", "missing", "produced")


def totals(folder: Path) -> Totals:
    """The sums of the table `processes`."""
    found = Totals()
    for batch in _batches(folder, (*_COUNTED, "layout", "chains", "first_sent_at", "last_sent_at", "zone")):
        found.add(batch)
    return found


def _numbers(rows: pa.RecordBatch | pa.Table, name: str) -> np.ndarray:
    return np.asarray(pc.fill_null(rows[name].cast(pa.int64()), 0))


def _files(folder: Path) -> list[str]:
    return sorted(map(str, folder.glob("*.parquet")))


def _batches(folder: Path, columns: Iterable[str]) -> Iterator[pa.RecordBatch]:
    wanted = list(columns)
    for path in _files(folder):
        with pq.ParquetFile(path) as file:
            yield from file.iter_batches(_ROWS, columns=[name for name in wanted if name in file.schema_arrow.names])


def take(folder: Path, places: np.ndarray, columns: Sequence[str] | None = None) -> pa.Table:
    """The rows at these places, in their order, or some columns; only parts of files that hold one are read."""
    order = np.argsort(places)
    sought, pieces, begin = places[order], [], 0
    for path in _files(folder):
        with pq.ParquetFile(path) as file:
            pieces.append(file.schema_arrow.empty_table().select(columns or file.schema_arrow.names))
            for group in range(file.num_row_groups):
                end = begin + file.metadata.row_group(group).num_rows
                low, high = np.searchsorted(sought, [begin, end])
                if low < high:
                    pieces.append(file.read_row_group(group, columns).take(pa.array(sought[low:high] - begin)))
                begin = end
    back = np.empty(len(order), np.int64)
    back[order] = np.arange(len(order))
    return pa.concat_tables(pieces).take(pa.array(back))
