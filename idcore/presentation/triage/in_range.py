"""What of a scan is in a time range: its IDs by process, host and time, and every ID of one process. Draws nothing.

The index of places has every ID with its millisecond. Tables by minute serve where a scan has no index.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from idcore.base.layout import LAYOUTS
from idcore.ids.clock import MINUTE_MS, NO_TIME, to_ms
from idcore.ids.model import UniqId
from idcore.ids.origins import PROCESS_KEY, BrokerAddress
from idcore.ids.rules import COUNTER_WRAP
from idcore.presentation.triage import broker_logs, largest, strokes
from idcore.presentation.triage.activity import CELLS, MINUTE, natural_step
from idcore.presentation.triage.processes import named_layout
from idcore.presentation.triage.time_range import TimeRange
from idcore.scan.occurrences import dating
from idcore.scan.occurrences.index import SEGMENT_SHIFT, Filter, Index

MOST_POINTS = 3_000  # drawn of one process in a range: more are thinned as the scan thins them
_BUCKETS, _WIDEST = 512, 100
_OFFSET_BINS = 96  # of one broker
_FIGURES = ("missing", "in_cut_gaps", "wraps", "rate_per_second")  # of a process in a range
_AT_ONCE = 1 << 16  # processes whose number goes above the 48 bits of elapsed and counter
LEAST = pd.Timedelta(milliseconds=1)
PointsOf = Callable[[Mapping[Any, Any]], pd.DataFrame]


@dataclass(frozen=True, slots=True)
class InRange:
    """The processes of a range (`count` in all) and their hosts, those with the most IDs first.

    `exact`: counted one by one, with `ids` and `distinct`. Otherwise processes have no figures, and those of hosts are
    of whole minutes.
    """

    processes: pd.DataFrame
    hosts: pd.DataFrame
    count: int
    exact: bool


def of_hosts(counted: InRange, hosts: Collection[str]) -> InRange:
    """Of some of its hosts alone."""
    processes, rows = (frame[frame["host"].isin(hosts)] for frame in (counted.processes, counted.hosts))
    return InRange(processes, rows, len(processes), counted.exact)


@dataclass(frozen=True, slots=True)
class Points:
    """The points of one process: what is drawn, what of its IDs is in the range, whether that is every one of them.

    `around` has also both sides of each gap that the range cuts.
    """

    drawn: pd.DataFrame
    inside: pd.DataFrame
    around: pd.DataFrame
    whole: bool

    @property
    def dated(self) -> bool:
        """Whether a time range applies to them."""
        return not self.drawn.empty and bool(self.drawn["sent_at"].notna().all())

    def without_gaps(self) -> Points:
        """The same of a process of which it is not known what is missing."""
        drawn, inside, around = (frame.assign(missing_before=0) for frame in (self.drawn, self.inside, self.around))
        return Points(drawn, inside, around, self.whole)

    def within(self, shown: TimeRange, every: pd.DataFrame | None) -> Points:
        """Those of a time range: every ID of the index where there is one, else the points there."""
        inside = self.drawn[shown.contains(self.drawn["sent_at"])] if every is None else every
        around = strokes.around(inside, self.drawn, shown)
        if every is None:
            return Points(self.drawn, inside, around, self.whole)
        return Points(drawn(every, self.drawn, shown), every, around, True)


def of_index(index: Index, shown: TimeRange) -> InRange:
    """Every ID in the range, counted by process."""
    names: list[pa.Table] = []
    pieces: list[tuple[np.ndarray, ...]] = []
    for part in index.parts:
        sent, slots, value = part.timed(*milliseconds(shown), ["slot", "value"])
        uniq = np.asarray(pc.equal(part.names["kind"], "uniq").to_numpy(zero_copy_only=False), np.bool_)
        own = np.flatnonzero(inside(sent, shown) & uniq[slots])
        base = sum(map(len, names))
        names.append(part.names.select(PROCESS_KEY))
        pieces.append((slots[own] + base, value[own], sent[own]))
    if not pieces:
        return InRange(_no_processes(), _no_processes()[["host", "ids", "distinct"]], 0, True)
    every = pa.concat_tables(names).to_pandas()
    slots, values, sent = (np.concatenate(column) for column in zip(*pieces, strict=True))
    process = every.groupby(PROCESS_KEY, sort=False, dropna=False).ngroup().to_numpy()[slots]
    sums = pd.DataFrame({"process": process, "sent": sent}).groupby("process")["sent"].agg(["size", "min", "max"])
    counts = sums.rename(columns=dict(zip(sums.columns, ("ids", "first_sent_at", "last_sent_at"), strict=True)))
    counts.insert(1, "distinct", _distinct(process, values)[counts.index])
    keys = every.drop_duplicates(PROCESS_KEY).reset_index(drop=True).loc[counts.index].astype({"pid": "int64"})
    counts = pd.concat([keys, counts], axis=1)
    for name in ("first_sent_at", "last_sent_at"):
        counts[name] = pd.to_datetime(counts[name], unit="ms", utc=True)
    ascending = [False, *[True] * len(PROCESS_KEY)]
    counts = counts.sort_values(["ids", *PROCESS_KEY], ascending=ascending).reset_index(drop=True)
    hosts = counts.groupby("host", as_index=False)[["ids", "distinct"]].sum()
    return InRange(counts, hosts.sort_values(["ids", "host"], ascending=[False, True]), len(counts), True)


def _distinct(process: np.ndarray, values: np.ndarray) -> np.ndarray:
    """How many different values each process has. A process and a value are one number: a sort of these is fast."""
    found = np.zeros(int(process.max(initial=-1)) + 1, np.int64)
    for base in range(0, len(found), _AT_ONCE):
        own = (process >= base) & (process < base + _AT_ONCE)
        both = (process[own] - base).astype(np.uint64) << np.uint64(48) | values[own].astype(np.uint64)
        both.sort()
        first = np.ones(len(both), np.bool_)
        first[1:] = both[1:] != both[:-1]
        counts = np.bincount((both[first] >> np.uint64(48)).astype(np.int64))
        found[base : base + len(counts)] = counts
    return found


@dataclass(frozen=True, slots=True)
class Brokers:
    """The brokers of a time range, their files, bins of offsets and growth, as a scan's tables have them.

    `undated`: offsetMsgIds of the scan, of any time, that no line dates. They are in no range.
    """

    brokers: pd.DataFrame
    segments: pd.DataFrame
    bins: pd.DataFrame
    growth: pd.DataFrame
    undated: int

    def of(self, address: str) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Files and bins of one broker."""
        files, bins = (table[table["address"] == address] for table in (self.segments, self.bins))
        return files, bins


def brokers_of_index(index: Index, shown: TimeRange) -> Brokers:
    """Every offsetMsgId in the range, counted by broker."""
    empty = pd.Series([], dtype="int64")
    no_ids = {"address": pd.Series([], dtype=object), "offset": empty, "ids": empty, "at": empty}
    pieces, undated = [pd.DataFrame(no_ids)], 0
    known: dict[str, dict[str, Any]] = {}
    for part in index.parts:
        sent, slots, value = part.timed(*milliseconds(shown), ["slot", "value"], undated=True)
        of_slot = np.asarray(pc.equal(part.names["kind"], "offset").to_numpy(zero_copy_only=False), np.bool_)
        of_kind = of_slot[slots]
        known |= {str(BrokerAddress(**row)): row for row in dating.broker_columns(part.keys[of_slot]).to_pylist()}
        undated += int((of_kind & (sent == NO_TIME)).sum())
        own = np.flatnonzero(of_kind & inside(sent, shown))
        some = pd.DataFrame({"slot": slots[own], "offset": value[own], "at": sent[own]})
        counted = some.groupby(["slot", "offset"], as_index=False).agg(ids=("at", "size"), at=("at", "min"))
        counted.insert(0, "address", part.names["address"].to_pandas().to_numpy()[counted.pop("slot")])
        pieces.append(counted)
    every = pd.concat(pieces, ignore_index=True).groupby(["address", "offset"], as_index=False)
    every = every.agg(ids=("ids", "sum"), at=("at", "min"))
    every["segment"] = every["offset"] // (1 << SEGMENT_SHIFT)
    figures = {"ids": ("ids", "sum"), "distinct": ("offset", "size")}
    figures |= {"min_offset": ("offset", "min"), "max_offset": ("offset", "max")}
    segments = every.groupby(["address", "segment"], as_index=False).agg(**figures)
    brokers = every.groupby("address", as_index=False).agg(**figures, segments=("segment", "nunique"))
    for name in ("host", "port"):
        brokers[name] = [known[address][name] for address in brokers["address"]]
    rows = _growth(every)
    speeds = {
        address: size * 1000 / ms for address, (size, ms) in broker_logs.grown_of(rows).items() if size and ms > 0
    }
    brokers["bytes_per_second"] = brokers["address"].map(speeds).astype("float64")
    segments["segment"] = [f"{number << SEGMENT_SHIFT:020d}" for number in segments["segment"]]
    ends = brokers.set_index("address")[["min_offset", "max_offset"]]
    steps = (ends["max_offset"] - ends["min_offset"]) // _OFFSET_BINS + 1
    low, step = every["address"].map(ends["min_offset"]), every["address"].map(steps)
    start = low + (every["offset"] - low) // step * step
    found = every.assign(from_offset=start.astype("int64")).groupby(["address", "from_offset"], as_index=False)
    bins = found.agg(ids=("ids", "sum"), distinct=("offset", "size"))
    bins.insert(2, "to_offset", bins["from_offset"] + bins["address"].map(steps).astype("int64"))
    return Brokers(brokers, segments, bins, rows, undated)


def _growth(every: pd.DataFrame) -> pd.DataFrame:
    """The lowest and the highest offset of each minute with their instants; an offset is written when it is first."""
    own = every.assign(minute=every["at"] // MINUTE_MS * MINUTE_MS).groupby(["address", "minute"], as_index=False)
    ends = {"min_offset": ("offset", "first"), "max_offset": ("offset", "last")}
    ends |= {"min_at": ("at", "first"), "max_at": ("at", "last")}
    rows = own.agg(**ends)
    for name in ("minute", "min_at", "max_at"):
        rows[name] = pd.to_datetime(rows[name], unit="ms", utc=True)
    return rows


def with_figures(index: Index, rows: pd.DataFrame, points_of: PointsOf, shown: TimeRange) -> pd.DataFrame:
    """Some processes of a range with what is missing of each there, its wraps and its rate. Every ID is read once."""
    wanted = rows[PROCESS_KEY].assign(row=range(len(rows)))
    gathered: list[list[np.ndarray]] = [[] for _ in range(len(rows))]
    for part in index.parts:
        keys = part.names.select(PROCESS_KEY).to_pandas().astype({"pid": "float64"})
        of_slot = keys.merge(wanted, "left", on=PROCESS_KEY)["row"].fillna(-1).astype("int64").to_numpy()
        sent, slots, value = part.timed(*milliseconds(shown), ["slot", "value"])
        places = of_slot[slots]
        own = np.flatnonzero((places >= 0) & inside(sent, shown))
        own = own[np.argsort(places[own], kind="stable")]
        for place, some in zip(*_groups(places[own], own), strict=True):
            gathered[place].append(np.column_stack([sent[some], value[some]]))
    result = []
    for row, pieces in zip(rows.to_dict("records"), gathered, strict=True):
        thinned = points_of(row)
        if pieces and not thinned.empty and thinned["sent_at"].notna().all():
            places = pd.DataFrame(np.concatenate(pieces)).drop_duplicates().sort_values([0, 1])
            every = _of_runs(places.to_numpy(), thinned)
            figures = strokes.in_range(row, every, strokes.around(every, thinned, shown), True)
            row = {**row, **{name: figures[name] for name in _FIGURES}}  # type: ignore[misc]
        result.append(row)
    return pd.DataFrame(result, columns=[*rows.columns, *_FIGURES], index=rows.index)


def _groups(keys: np.ndarray, rows: np.ndarray) -> tuple[list[int], list[np.ndarray]]:
    """Runs of equal keys: the key of each, and its rows."""
    edges = np.flatnonzero(np.diff(keys)) + 1
    return [int(keys[first]) for first in (0, *edges)] if len(keys) else [], np.split(rows, edges) if len(rows) else []


def _no_processes() -> pd.DataFrame:
    return pd.DataFrame({name: [] for name in (*PROCESS_KEY, "ids", "distinct", "first_sent_at", "last_sent_at")})


def inside(sent: np.ndarray, shown: TimeRange) -> np.ndarray:
    """Which milliseconds are in a range; those that are not known are in none."""
    within: np.ndarray = sent != NO_TIME
    start, stop = milliseconds(shown)
    if start is not None:
        within &= sent >= start
    if stop is not None:
        within &= sent < stop
    return within


def milliseconds(shown: TimeRange) -> tuple[int | None, int | None]:
    """The ends of a range as an index has times."""
    start, stop = (None if end is None else to_ms(end) for end in (shown.begin, shown.end))
    return start, stop


def of_tables(run: Path, shown: TimeRange, rows: int) -> InRange:
    """The minutes that the range touches, by host; the first `rows` processes that may have IDs in it."""
    activity = largest.dataset_of(run / "activity")
    whole = _overlapping("minute", "minute", shown.whole_minutes())
    sums = [_by_host(pa.table(batch)) for batch in activity.to_batches(columns=["host", "ids"], filter=whole)]
    hosts = _by_host(pa.concat_tables(sums)).to_pandas() if sums else pd.DataFrame({"host": [], "ids": []})
    processes = largest.dataset_of(run / "processes")
    dating = [name for name in ("zone_source", "month") if name in processes.schema.names]  # older scans have none
    names = [*PROCESS_KEY, "first_sent_at", "last_sent_at", *dating, "distinct"]
    table = processes.to_table(names, filter=_overlapping("first_sent_at", "last_sent_at", shown))
    order = [("distinct", "descending"), *((name, "ascending") for name in PROCESS_KEY)]
    first = table.sort_by(order).slice(0, rows).drop_columns(["distinct"]).to_pandas()
    return InRange(first, hosts.sort_values(["ids", "host"], ascending=[False, True]), len(table), False)


def _by_host(rows: pa.Table) -> pa.Table:
    return rows.group_by("host").aggregate([("ids", "sum")]).rename_columns(["host", "ids"])


def _overlapping(first: str, last: str, shown: TimeRange) -> pc.Expression:
    """Whose span of times has any instant in the range."""
    inside = ds.field(first).is_valid()
    if shown.begin is not None:
        inside &= ds.field(last) >= pa.scalar(shown.begin, pa.timestamp("us", "UTC"))
    if shown.end is not None:
        inside &= ds.field(first) < pa.scalar(shown.end, pa.timestamp("us", "UTC"))
    return inside


def fine_activity(index: Index, first: pd.Timestamp, last: pd.Timestamp) -> tuple[pd.DataFrame, pd.Timedelta]:
    """IDs by host and step from `first` to before `last`, as the table `activity` has them, and the step."""
    step = natural_step(last - first, CELLS, LEAST)
    start = first.floor(step)
    counts = index.counts("host", to_ms(start), to_ms(last), int(step / LEAST)).to_pandas()
    if start < first:  # the first step is in the range in part
        before = index.counts("host", to_ms(start), to_ms(first), to_ms(first) - to_ms(start)).to_pandas()
        less = counts.merge(before, on=["name", "from_ms"], how="left", suffixes=("", "_before"))["ids_before"]
        counts["ids"] -= less.fillna(0).astype("int64").to_numpy()
    counts = counts[counts["ids"] > 0]
    minute = pd.to_datetime(counts["from_ms"], unit="ms", utc=True)
    return pd.DataFrame({"host": counts["name"], "minute": minute, "ids": counts["ids"]}), step


def is_fine(first: pd.Timestamp, last: pd.Timestamp) -> bool:
    """Whether cells of such a span are shorter than a minute."""
    return natural_step(last - first, CELLS, LEAST) < MINUTE


def points(index: Index, process: Mapping[str, Any], thinned: pd.DataFrame, shown: TimeRange) -> pd.DataFrame:
    """Every ID of a process in a range, once, as the table `counters` has points.

    The scan's own points decide to which run of the process an ID belongs.
    """
    key = (str(process["host"]), str(process["pid"]), str(process["loader"]), *named_layout(process["layout"]))
    start, stop = milliseconds(shown)
    sent, values = index.points(Filter(process=key, start=start, stop=stop))
    places = np.unique(np.column_stack([sent, values]), axis=0)
    runs = _of_runs(places, thinned) if len(places) else thinned.iloc[:0]
    return runs.assign(**{name: process[name] for name in PROCESS_KEY})


def drawn(every: pd.DataFrame, thinned: pd.DataFrame, shown: TimeRange) -> pd.DataFrame:
    """What is drawn of a process: of the range every ID with its text, or of very many some; else the scan's points."""
    outside = thinned[~shown.contains(thinned["sent_at"])]
    if len(every) > MOST_POINTS:
        return pd.concat([outside, _thin(every)], ignore_index=True)
    texts = [
        UniqId.of(
            row.host, int(row.pid), int(row.loader, 16), row.elapsed_ms, row.counter, LAYOUTS.get(row.layout)
        ).text
        for row in every.itertuples()
    ]
    return pd.concat([outside, every.assign(id=texts)], ignore_index=True)


def _of_runs(places: np.ndarray, thinned: pd.DataFrame) -> pd.DataFrame:
    """Each ID with its run and its place there: the run whose points are nearest to its counter at its time."""
    sent, elapsed, counter = places[:, 0], places[:, 1] >> 16 & 0xFFFFFFFF, places[:, 1] & 0xFFFF
    best = np.full(len(sent), np.inf)
    zeros = {name: np.zeros(len(sent), np.int64) for name in ("position", "track", "chain")}
    for (track, chain), own in thinned.groupby(["track", "chain"]):
        own = own.sort_values(["sent_at", "position"])
        at = own["sent_at"].dt.as_unit("ms").astype("int64").to_numpy()
        position = own["position"].to_numpy()
        begin = int(own["counter"].iloc[0] - position[0]) % COUNTER_WRAP
        near = np.interp(sent, at, position)
        if np.abs(np.diff(position)).max(initial=0) >= COUNTER_WRAP // 2:  # points are too far apart to be between them
            near = near[0] + np.cumsum(_turned(np.diff(counter, prepend=counter[0])))
        exact = near + _turned(counter - begin - near)
        away = np.abs(exact - near) + 1000.0 * np.maximum(0, np.maximum(at[0] - sent, sent - at[-1]))
        mine = away < best
        best[mine] = away[mine]
        for name, value in (("position", np.rint(exact).astype(np.int64)), ("track", track), ("chain", chain)):
            zeros[name][mine] = value[mine] if isinstance(value, np.ndarray) else value
    points = pd.DataFrame({"elapsed_ms": elapsed, "counter": counter, **zeros})
    points["sent_at"] = pd.to_datetime(sent, unit="ms", utc=True).as_unit("us")
    points = points.sort_values(["track", "chain", "position"], kind="stable")
    below = points.groupby(["track", "chain"])["position"].diff()
    before = thinned.set_index(["track", "chain", "position"])["missing_before"]
    known = before[~before.index.duplicated()].reindex(pd.MultiIndex.from_frame(points[["track", "chain", "position"]]))
    points["missing_before"] = np.where(
        below.isna(), known.fillna(0).to_numpy(), np.maximum(below.to_numpy() - 1, 0)
    ).astype(np.int64)
    return points.sort_values(["sent_at", "position"], kind="stable").reset_index(drop=True)


def _turned(difference: np.ndarray) -> np.ndarray:
    """A difference of counters, the short way round."""
    turned: np.ndarray = (difference + COUNTER_WRAP // 2) % COUNTER_WRAP - COUNTER_WRAP // 2
    return turned


def _thin(points: pd.DataFrame) -> pd.DataFrame:
    """The first, last, lowest and highest of each time step, and both sides of the widest gaps and of wraps."""
    order = points.sort_values(["track", "chain", "position"], kind="stable")
    sent = points["sent_at"].astype("int64")
    steps = points.assign(step=((sent - sent.min()) * _BUCKETS // (sent.max() - sent.min() + 1)))
    grouped = steps.groupby(["track", "chain", "step"])
    keep = {*grouped.head(1).index, *grouped.tail(1).index}
    keep |= {*grouped["position"].idxmin(), *grouped["position"].idxmax()}
    wide = order["missing_before"].nlargest(_WIDEST)
    falls = order["counter"].diff() < 0
    marked = np.flatnonzero(order.index.isin(wide[wide > 0].index) | falls)
    keep |= {*order.index[marked], *order.index[np.maximum(marked - 1, 0)]}
    return points.loc[sorted(keep)].reset_index(drop=True)
