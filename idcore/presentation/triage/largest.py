"""Tables of a scan too large to be held: the rows that come first in some order, those of some hosts, sums of all.

Read in pieces, so that memory goes by the rows that are asked for and time by the rows there are. Draws nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from idcore.answers.findings.gaps import is_sample
from idcore.answers.findings.limits import CUT_COUNTER
from idcore.ids.assumptions import assumed_of_many
from idcore.runs.table_sizes import fits, is_file
from idcore.scan.schemas import ONE_COUNTER, UNCOUNTED, UNORDERED

_READERS = 4  # files of a table that are read at a time
SHORT = timedelta(minutes=30)
# What a person sorts by -> the columns it is made of, and whether the least comes first. Ties go by different ids.
_BY: dict[str, tuple[tuple[str, ...], bool]] = {
    "ids": (("distinct",), False),
    "missing": (("missing", "produced", "layout", *UNCOUNTED), False),
    "wraps": (("wraps", "layout", *UNORDERED), False),
    "rate": (("rate_per_second",), False),
    "first": (("first_sent_at",), True),
    "host": (("host",), True),
    "count": (("ids",), False),
}


def count(folder: Path) -> int:
    """How many rows a table has, from the ends of its files."""
    files = sorted(folder.glob("*.parquet"))
    if not all(map(is_file, files)):
        raise ValueError(f"{folder.name}: a part of the table is no file")
    return sum(pq.read_metadata(path).num_rows for path in files)


def first(folder: Path, by: str, rows: int) -> pa.Table:
    """So many rows of a table, those that come first when it is sorted. A group that has none of them is not read."""
    kept: pa.Table | None = None
    place, (needed, rising) = 0, _BY[by]
    for group in _groups(folder):
        columns = [name for name in dict.fromkeys((*needed, "distinct")) if name in group.types.names]
        last = kept.slice(rows - 1).to_pylist()[0] if kept is not None and len(kept) == rows else None
        if last is None or group.may_come_before(last, by):
            some = _keys(group.read(columns), by, place)
            if last is not None:
                some = some.filter(_before(some, last, rising))
            if kept is None or len(some):
                both = some if kept is None else pa.concat_tables([kept, some])
                direction = "ascending" if rising else "descending"
                order = [("key", direction), ("ids", "descending"), ("place", "ascending")]
                kept = both.sort_by(order).slice(0, rows).combine_chunks()
        place += group.rows
    assert kept is not None
    return take(folder, kept["place"].to_numpy())


def _keys(read: pa.Table, by: str, place: int) -> pa.Table:
    """What a table is sorted by: its key, the different IDs, and the place in the table, which begins at `place`."""
    needed, _ = _BY[by]
    values = read[needed[0]]
    if by == "missing":
        values = pc.divide(values.cast(pa.float64()), pc.max_element_wise(read["produced"], 1).cast(pa.float64()))
    if "layout" in needed:  # what a counter shows that cannot be followed is not a figure
        values = pc.if_else(pa.array(_unknown(read, UNCOUNTED)), pa.scalar(0, values.type), values)
    ids = read["distinct"] if "distinct" in read.column_names else pa.array(np.zeros(len(read), np.int64))
    return pa.table({"key": values, "ids": ids, "place": np.arange(place, place + len(read))})


def _before(some: pa.Table, last: Mapping[str, Any], rising: bool) -> pa.ChunkedArray:
    """Which rows come before the last one that is kept; rows without a value come after all others."""
    more_ids = pc.greater(some["ids"], last["ids"])
    if last["key"] is None:
        return pc.or_kleene(pc.is_valid(some["key"]), more_ids)
    limit = pa.scalar(last["key"], some.schema.field("key").type)
    nearer = (pc.less if rising else pc.greater)(some["key"], limit)
    return pc.fill_null(pc.or_(nearer, pc.and_(pc.equal(some["key"], limit), more_ids)), False)


def where(
    folder: Path, wanted: Mapping[str, Sequence[Any]], rows: int, columns: Sequence[str] | None = None
) -> pa.Table:
    """So many rows whose columns hold one of these values, or some of their columns.

    Of all others the columns of these values are read, and nothing else. Tables are sorted by host: of a group whose
    hosts all come before or after the wanted ones nothing is read.
    """
    places, taken, begin = [np.zeros(0, np.int64)], 0, 0
    with ThreadPoolExecutor(_READERS) as readers:
        for count, hits in readers.map(lambda path: _hits(path, wanted), files_of(folder)):
            places.append(begin + hits)
            begin, taken = begin + count, taken + len(hits)
            if taken >= rows:
                readers.shutdown(wait=False, cancel_futures=True)
                break
    return take(folder, np.concatenate(places)[:rows], columns)


def _hits(path: str, wanted: Mapping[str, Sequence[Any]]) -> tuple[int, np.ndarray]:
    """How many rows a file has, and which of them have one of the values in each of the columns."""
    places, begin = [np.zeros(0, np.int64)], 0
    for group in _groups_of(path):
        sought = {name: pa.array(values, group.types.field(name).type) for name, values in wanted.items()}
        if all(group.may_have(name, values) for name, values in sought.items()):
            hit, read = np.ones(group.rows, bool), group.read(list(sought))
            for name, values in sought.items():
                hit &= pc.is_in(read[name], value_set=values).to_numpy()
            places.append(begin + np.flatnonzero(hit))
        begin += group.rows
    return begin, np.concatenate(places)


@dataclass
class Totals:
    """What the processes of a scan come to: the sums of the columns of their table.

    `produced` and `missing` leave out the processes of which they are not known (`uncounted`), as the table does.
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
    dated: int = 0  # processes that have a time
    months_assumed: int = 0  # of these, without a month that lines show
    zones_assumed: int = 0
    is_list: bool = False  # of ids alone, from which nothing is missing

    @property
    def is_short(self) -> bool:
        """Whether minutes are too coarse for all of them."""
        return self.first is not None and self.last is not None and self.last - self.first < SHORT

    @property
    def assumed(self) -> tuple[str, ...]:
        """What of their times no line shows, as codes of `Words.assumed`; scans of older versions do not say it."""
        return assumed_of_many(self.dated, self.months_assumed, self.zones_assumed)

    def add(self, rows: pa.RecordBatch | pa.Table, times: int = 1) -> None:
        """Some more processes; each row counts so many times."""
        column = {name: _numbers(rows, name) for name in _COUNTED}
        unordered, uncounted = (_unknown(rows, marks) for marks in (UNORDERED, UNCOUNTED))
        column["wraps"] = np.where(unordered, 0, column["wraps"])
        for name in ("missing", "produced"):
            column[name] = np.where(uncounted, 0, column[name])
        part = is_sample(column["missing"], column["produced"])
        self.uncounted += times * int(uncounted.sum())
        self.produced += times * int(column["produced"].sum())
        self.processes += times * rows.num_rows
        self.ids += times * int(column["ids"].sum())
        self.distinct += times * int(column["distinct"].sum())
        self.wraps += times * int(column["wraps"].sum())
        self.missing += times * int(column["missing"].sum())
        self.missing_in_part += times * int(column["missing"][part].sum())
        self.in_part += times * int(part.sum())
        chained = ~_unknown(rows, (*UNORDERED, ONE_COUNTER))
        self.shared += times * int(((column["tracks"] > 1) & chained).sum())
        if "chains" in rows.schema.names:
            starts = np.maximum(_numbers(rows, "chains") - column["tracks"], 0)
            self.restarts += times * int(starts[chained].sum())
        first, last = pc.min(rows["first_sent_at"]).as_py(), pc.max(rows["last_sent_at"]).as_py()
        self.first = min(filter(None, (self.first, first)), default=None)
        self.last = max(filter(None, (self.last, last)), default=None)
        if {"month", "zone_source"} <= set(rows.schema.names):
            dated = pc.is_valid(rows["first_sent_at"])
            months, zones = pc.is_null(rows["month"]), pc.fill_null(pc.equal(rows["zone_source"], "assumed"), False)
            self.dated += times * _count(dated)
            self.months_assumed += times * _count(pc.and_(dated, months))
            self.zones_assumed += times * _count(pc.and_(dated, zones))
        if "zone" in rows.schema.names:
            self.zones |= {zone for zone in pc.unique(rows["zone"]).to_pylist() if zone}


_COUNTED = ("ids", "distinct", "wraps", "missing", "produced", "tracks")


def totals(folder: Path) -> Totals:
    """The sums of the table `processes`."""
    sums = Totals()
    for group in _groups(folder):
        sent = ("first_sent_at", "last_sent_at", "zone", "zone_source", "month")
        columns = (*_COUNTED, "layout", "chains", *UNCOUNTED, ONE_COUNTER, *sent)
        names = [name for name in columns if name in group.types.names]
        known = group.known(names, least=("first_sent_at",), most=("last_sent_at",))
        if len(known) == len(names):
            sums.add(pa.table({name: pa.repeat(value, 1) for name, value in known.items()}), group.rows)
        else:
            sums.add(group.read(names, known))
    return sums


def _unknown(rows: pa.RecordBatch | pa.Table, marks: Sequence[str]) -> np.ndarray:
    """Of which processes the counter is cut or has one of these marks (`processes.followed`)."""
    names = set(rows.schema.names)
    masks = [pc.equal(rows["layout"], CUT_COUNTER)] if "layout" in names else []
    masks += [pc.fill_null(rows[mark], False) for mark in marks if mark in names]
    found = np.zeros(rows.num_rows, bool)
    for mask in masks:
        found |= np.asarray(mask.to_numpy(zero_copy_only=False), bool)
    return found


def _count(truths: pa.ChunkedArray) -> int:
    return pc.sum(truths).as_py() or 0


def _numbers(rows: pa.RecordBatch | pa.Table, name: str) -> np.ndarray:
    return np.asarray(pc.fill_null(rows[name].cast(pa.int64()), 0))


def files_of(folder: Path) -> list[str]:
    """The files of a table; ValueError where a group of its rows is too large to be read."""
    if not fits(folder, whole=False):
        raise ValueError(f"{folder.name}: a group of rows is too large")
    return sorted(map(str, folder.glob("*.parquet")))


def dataset_of(folder: Path) -> ds.Dataset:
    """A table for who asks for some of its rows; ValueError as above."""
    return ds.dataset(files_of(folder), format="parquet")


@dataclass(frozen=True, slots=True)
class _Ends:
    """The least and the greatest value of a column in a group; `whole`: every row has a value."""

    least: pa.Scalar
    greatest: pa.Scalar
    whole: bool


@dataclass(frozen=True, slots=True)
class _Group:
    """One group of rows of a file."""

    file: pq.ParquetFile
    number: int
    types: pa.Schema

    @property
    def rows(self) -> int:
        return int(self.file.metadata.row_group(self.number).num_rows)

    def ends(self, name: str) -> _Ends | None:
        """What the metadata of the file says of a column; None where it says nothing."""
        if name not in self.types.names:
            return None
        place = self.types.get_field_index(name)  # no column has columns of its own
        column = self.file.metadata.row_group(self.number).column(place)
        statistics = column.statistics if column.is_stats_set else None
        if statistics is None or not statistics.has_min_max:
            return None
        least, greatest = (pa.scalar(end, self.types.field(place).type) for end in (statistics.min, statistics.max))
        return _Ends(least, greatest, statistics.has_null_count and statistics.null_count == 0)

    def known(
        self, columns: Sequence[str], least: Sequence[str] = (), most: Sequence[str] = ()
    ) -> dict[str, pa.Scalar]:
        """Columns with the same value in each row; of `least` and `most` that value, whatever the others are."""
        known = {}
        for name in columns:
            ends = self.ends(name)
            if ends is not None and name in most:
                known[name] = ends.greatest
            elif ends is not None and (name in least or (ends.whole and ends.least.equals(ends.greatest))):
                known[name] = ends.least
        return known

    def read(self, columns: Sequence[str], known: Mapping[str, pa.Scalar] | None = None) -> pa.Table:
        """Some columns; of the file only those that are not known."""
        known = self.known(columns) if known is None else known
        missing = [name for name in columns if name not in known]
        read = self.file.read_row_group(self.number, columns=missing) if missing else None
        arrays = [pa.repeat(known[n], self.rows) if read is None or n in known else read[n] for n in columns]
        return pa.table(dict(zip(columns, arrays, strict=True)))

    def may_have(self, name: str, values: pa.Array) -> bool:
        """Whether a column may have one of these values."""
        ends = self.ends(name)
        if ends is None or not len(values):
            return bool(len(values))
        within = pc.and_(pc.greater_equal(values, ends.least), pc.less_equal(values, ends.greatest))
        return bool(np.any(pc.fill_null(within, True).to_numpy(zero_copy_only=False)))

    def may_come_before(self, last: Mapping[str, Any], by: str) -> bool:
        """Whether a row of it may come before the last one that is kept."""
        needed, rising = _BY[by]
        ends, ids, produced = (self.ends(name) for name in (needed[0], "distinct", "produced"))
        if last["key"] is None or ends is None or ids is None or (by == "missing" and produced is None):
            return True
        best = (ends.least if rising else ends.greatest).as_py()
        if "layout" in needed:
            best = max(best, 0)
        if by == "missing" and produced is not None:
            best /= max(1, produced.least.as_py())
        if best == last["key"]:
            return bool(ids.greatest.as_py() > last["ids"])
        return bool(best < last["key"] if rising else best > last["key"])


def _groups(folder: Path) -> Iterator[_Group]:
    for path in files_of(folder):
        yield from _groups_of(path)


def _groups_of(path: str) -> Iterator[_Group]:
    with pq.ParquetFile(path) as file:
        for number in range(file.num_row_groups):
            yield _Group(file, number, file.schema_arrow)


def take(folder: Path, places: np.ndarray, columns: Sequence[str] | None = None) -> pa.Table:
    """The rows at these places, in their order, or some columns; only parts of files that hold one are read."""
    order = np.argsort(places)
    files = files_of(folder)
    ends = np.cumsum([pq.read_metadata(path).num_rows for path in files])
    own = np.split(places[order], np.searchsorted(places[order], ends))  # behind the last file is nothing
    with ThreadPoolExecutor(_READERS) as readers:
        begins = [0, *ends.tolist()]
        pieces = list(readers.map(lambda path, begin, at: _rows_at(path, at - begin, columns), files, begins, own))
    back = np.empty(len(order), np.int64)
    back[order] = np.arange(len(order))
    return pa.concat_tables(pieces).take(pa.array(back)).replace_schema_metadata()


def _rows_at(path: str, places: np.ndarray, columns: Sequence[str] | None) -> pa.Table:
    """Rows of one file, at places that rise; a scan of an older version lacks some columns."""
    with pq.ParquetFile(path) as file:
        columns = [name for name in file.schema_arrow.names if columns is None or name in columns]
        pieces, begin = [file.schema_arrow.empty_table().select(columns)], 0
        for group in range(file.num_row_groups if len(places) else 0):
            end = begin + file.metadata.row_group(group).num_rows
            low, high = np.searchsorted(places, [begin, end])
            if low < high:
                pieces.append(file.read_row_group(group, columns).take(pa.array(places[low:high] - begin)))
            begin = end
        return pa.concat_tables(pieces).replace_schema_metadata()
