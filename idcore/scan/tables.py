"""Facts to tables: the rows of the tables for the parts of one merge task, and one set from many. No Spark."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import timedelta, timezone
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from idcore.base.errors import CoreError
from idcore.base.layout import LAYOUTS
from idcore.ids import rules
from idcore.ids.assumptions import assumed_of_many
from idcore.ids.client_time import local_2021_ms
from idcore.ids.clock import DAY_MS, HOUR_MS, MINUTE_MS, NO_TIME, from_ms, is_time
from idcore.ids.makers import loader_positions, process_makers
from idcore.ids.neighbours import WAYS
from idcore.ids.rules import RUST_MONTH_MS
from idcore.kernels import chains, clients, codes, find, merge, paired_offsets, unroll
from idcore.kernels.dates import FIRST_MONTH, MONTH
from idcore.kernels.encode import PackedRuns
from idcore.kernels.pairs import RANGE_COLUMNS, VOTE_COLUMNS
from idcore.scan import column_texts, large_keys, look_alikes
from idcore.scan.month_inference import SOURCES, SUMMARY_COLUMNS, InputEvidence, date, input_evidence_of, of_clients
from idcore.scan.schemas import CLOCK_MARKS
from idcore.scan.sorted_runs import PairedOffsets, SortedRuns, collect
from idcore.sources.inputs import shown
from idcore.sources.record_lines import tags_of, topics_of

from .crossing import Block, Fact, Refused, Report, What, joined_rows, reports_of, text_number
from .dated_offsets import DatedOffsets
from .look_alikes import LookAlike
from .months import Months, as_months, newest_rows
from .schemas import IN_ORDER, OF_STORES, ORDER, SCHEMAS, TEXT, TIME
from .settle import settle

_NAMES = list(LAYOUTS)
_COUNTER_BITS, _COUNTER_MASK = np.int64(find.COUNTER_SHIFT), np.int64(chains.PERIOD - 1)
_ROWS = 1 << 20
LOOK_ALIKES = "look_alikes"  # strings that only look like IDs, as they travel
_TAKEN = pa.schema(
    zip(LookAlike._fields, (TEXT, TEXT, pa.uint64(), pa.int64(), pa.int64(), TEXT, pa.int64()), strict=True)
)
COPIES = "copied"  # the copies of splits, as they travel
Tables = dict[str, pa.Table]


def _table(name: str, columns: Sequence[object]) -> pa.Table:
    schema = SCHEMAS[name]
    arrays = [
        column.cast(field.type) if isinstance(column, pa.Array | pa.ChunkedArray) else pa.array(column, field.type)
        for column, field in zip(columns, schema, strict=True)
    ]
    return pa.Table.from_arrays(arrays, schema=schema)


def _table_of(name: str, rows: Sequence[Sequence[object]]) -> pa.Table:
    """A table from its rows, of which there may be none."""
    return _table(name, list(zip(*rows, strict=True)) if rows else [[] for _ in SCHEMAS[name]])


def _month_starts(newest: np.ndarray, elapsed: np.ndarray, little: np.ndarray) -> np.ndarray:
    """Start (ms) of the newest month in which each elapsed fits; NO_TIME where it fits in no month."""
    starts = np.full(len(elapsed), NO_TIME, np.int64)
    for start, limit, early, early_limit in newest[::-1]:
        starts = np.where(elapsed <= np.where(little, early_limit, limit), np.where(little, early, start), starts)
    return np.where(elapsed >= 0, starts, NO_TIME)


LETTER_COLUMNS = 4  # the words of a key, and the case of its letters


def letters_of(keys: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Of each key the case of its letters, from what all tasks saw of it: 1 for upper and 2 for lower, 0 for none."""
    letters, place = np.zeros(len(keys), np.int64), np.empty(len(rows), np.int64)
    paired_offsets.rows_of(keys, np.ascontiguousarray(rows[:, :3]), place)
    known = place >= 0
    np.bitwise_or.at(letters, place[known], rows[known, 3].astype(np.int64))
    return letters


class _Dates(NamedTuple):
    """What lines say of the months of processes: whether they do, with the year, minutes ahead of UTC, by what kind,
    and whether the months are mixed (`month_inference.Dated`)."""

    has_month: np.ndarray
    zone: np.ndarray
    source: np.ndarray
    mixed: np.ndarray


@dataclass(frozen=True, slots=True)
class _Processes:
    """The keys of processes as columns, in the order of the table. `places`: of each key the row; `order`: of each row
    the key. `host_names`: every host once, in order; `host_rows`: the host of each row in it."""

    places: np.ndarray
    order: np.ndarray
    layouts: pa.Array
    host_names: pa.Array
    host_rows: np.ndarray
    pids: np.ndarray
    loaders: pa.Array
    loader_numbers: np.ndarray
    little: np.ndarray

    @property
    def count(self) -> int:
        return len(self.pids)

    @property
    def hosts(self) -> pa.Array:
        return self.host_names.take(pa.array(self.host_rows))

    @classmethod
    def of(cls, words: np.ndarray) -> _Processes:
        hosts = column_texts.order_of_hosts(words)
        order = column_texts.order_of_processes(words, hosts)
        places = np.empty_like(order)
        places[order] = np.arange(len(order))
        words = words[order]
        key2 = words[:, 2]
        loaders = key2 & find.WORD
        _, first, host_rows = np.unique(hosts[order], return_index=True, return_inverse=True)
        return cls(
            places=places,
            order=order,
            layouts=pa.array(_NAMES).take(pa.array(codes.codes_of(words) - 1)),
            host_names=column_texts.hosts(words[first]),
            host_rows=host_rows,
            pids=((key2 >> find.PID_SHIFT) & np.uint64(0xFFFF)).astype(np.int32),
            loaders=column_texts.loaders(loaders.astype(np.int64)),
            loader_numbers=loaders.astype(np.uint32),
            little=codes.are(words, codes.EARLY),
        )


def _counters(keys: _Processes, points: np.ndarray, starts: np.ndarray) -> pa.Table:
    """Points as they are in the order of keys; their rows are in the order of the table."""
    row = keys.places[points[:, 0]]
    order = np.argsort(row, kind="stable")
    row, points = row[order], points[order]
    same = (row[1:] == row[:-1]) & (points[1:, 1] == points[:-1, 1])
    if (same & (points[1:, 6] < points[:-1, 6])).any():  # months of one process that overlap
        order = np.lexsort((points[:, 7], points[:, 6], points[:, 1], row))
        row, points = row[order], points[order]
    key, time, *counted, elapsed, counter, fits = points.T
    at, host = pa.array(row), pa.array(keys.host_rows[row])
    sent = column_texts.instants(starts[key] + time, (fits > 0) & (starts[key] != NO_TIME))
    own = keys.layouts.take(at), keys.host_names.take(host), pa.array(keys.pids[row]), keys.loaders.take(at)
    return _table("counters", [*own, elapsed, sent, counter, *counted])


def _activity(keys: _Processes, minutes: np.ndarray, starts: np.ndarray) -> pa.Table:
    """Ids of each host and minute: of the processes whose month is known."""
    key, minute, ids = minutes[starts[minutes[:, 0]] != NO_TIME].T
    at = starts[key] // MINUTE_MS + minute
    return _sums(pa.table({"host": keys.host_rows[keys.places[key]], "minute": at, "ids": ids}), "host", "minute")


def _sums(table: pa.Table, *by: str) -> pa.Table:
    """Sums the ids of equal rows."""
    return table.group_by(by).aggregate([("ids", "sum")]).select([*by, "ids_sum"]).rename_columns([*by, "ids"])


def _hosts(keys: _Processes, processes: pa.Table) -> pa.Table:
    ends = [("first_sent_at", "min"), ("last_sent_at", "max")]
    sums = [("pid", "count"), ("ids", "sum"), ("distinct", "sum"), *ends]
    rows = processes.select(["pid", "ids", "distinct", "first_sent_at", "last_sent_at"])
    grouped = rows.append_column("host", pa.array(keys.host_rows)).group_by("host").aggregate(sums).sort_by("host")
    figures = [grouped["_".join(pair)] for pair in sums]
    return _table("hosts", [keys.host_names, *figures, _assumed(keys.host_rows, len(grouped), processes)])


def _assumed(host_rows: np.ndarray, hosts: int, processes: pa.Table) -> pa.Array:
    """What of the times of each host no line shows, by its processes, as the page of processes marks them."""

    def counted(some: np.ndarray) -> np.ndarray:
        return np.bincount(host_rows[dated & some], minlength=hosts)

    dated = pc.is_valid(processes["first_sent_at"]).to_numpy()
    zone = pc.fill_null(pc.equal(processes["zone_source"], "assumed"), False).to_numpy()
    every = counted(dated)
    months, zones = (
        np.where(some == every, 2, 1) * (some > 0)
        for some in map(counted, (pc.is_null(processes["month"]).to_numpy(), zone))
    )
    texts = [" ".join(assumed_of_many(2, m, z)) or None for m in range(3) for z in range(3)]
    return pa.array(texts, pa.string()).take(pa.array(3 * months + zones))


def _minutes_of_hosts(keys: _Processes, parts: Sequence[pa.Table]) -> Iterator[tuple[str, pa.Table]]:
    activity = parts[0] if len(parts) == 1 else _sums(pa.concat_tables(parts), "host", "minute")
    host, minute = activity["host"].to_numpy(), activity["minute"].to_numpy()
    order = np.lexsort((minute, host))
    names = keys.host_names.take(pa.array(host[order]))
    yield "activity", _table("activity", [names, column_texts.minutes(minute[order]), activity["ids"].take(order)])
    timeline = _sums(activity, "minute")
    if timeline.num_rows:
        kinds = pa.array(["uniq"] * timeline.num_rows)
        at = column_texts.minutes(timeline["minute"].to_numpy())
        yield "timeline", _table("timeline", [at, kinds, timeline["ids"]])


class Merge:
    """One merge task: takes facts, gives tables. `months` as for the scanner."""

    def __init__(self, months: Months | np.ndarray) -> None:
        self.months = as_months(months)

    def tables(self, facts: Iterable[Fact]) -> Iterator[tuple[str, pa.Table]]:
        """Names and tables, for `combine`. All facts of a host or broker must come in one call, in any order."""
        data: defaultdict[What, list[bytes]] = defaultdict(list)
        suspected: dict[int, list[np.ndarray]] = {}  # every part has a copy of each
        for fact in facts:
            if fact.what == What.SUSPECTED:
                suspected.setdefault(fact.part, []).append(look_alikes.rows_of(fact.data))
            else:
                data[fact.what].append(fact.data)
        summaries = joined_rows(data[What.SUMMARY], SUMMARY_COLUMNS, np.int64)
        input_evidence = input_evidence_of(summaries, self.months.zone_source)
        blocks = settle([Block.unpack(packed) for packed in data.pop(What.IDS, [])])
        judge = look_alikes.rules_of(next(iter(suspected.values()), []))
        blocks, taken = look_alikes.taken_out(blocks, joined_rows(data[What.SUSPECTS], look_alikes.ROW), judge)
        taken += look_alikes.of_names(joined_rows(data[What.NAMED], look_alikes.ROW))
        runs = collect(blocks)
        paired = PairedOffsets(blocks, joined_rows(data[What.LOOSE_PAIRS], paired_offsets.LOOSE_COLUMNS))
        votes = joined_rows(data[What.VOTES], VOTE_COLUMNS)
        if "uniq" in runs:
            of_keys = letters_of(runs["uniq"].keys, joined_rows(data[What.LETTERS], LETTER_COLUMNS))
            yield from self._processes(runs["uniq"], paired, votes, input_evidence, of_keys)
        if "client" in runs:
            yield from self._clients(runs["client"], paired, votes, input_evidence)
        if "offset" in runs:
            dated = DatedOffsets.of_ranges(joined_rows(data[What.RANGES], RANGE_COLUMNS), self.months, input_evidence)
            yield from self._brokers(runs["offset"], dated)
        if taken:
            yield LOOK_ALIKES, pa.Table.from_pylist([one._asdict() for one in taken], _TAKEN)
        for what, name, column in (
            (What.REPORT, "reports", "report"),
            (What.TOPICS, "seen", "seen"),
            (What.COPIES, COPIES, COPIES),
        ):
            if data[what]:
                yield name, pa.table({column: pa.array(data[what], pa.binary())})

    def _newest_months(self, input_evidence: InputEvidence) -> np.ndarray:
        """`Months.newest` for processes that no line dates: in the zone and up to the time that the input proves."""
        if input_evidence.latest is None:
            return self.months.newest
        zone = self.months.zone if input_evidence.ahead is None else timezone(timedelta(minutes=input_evidence.ahead))
        return newest_rows(from_ms(min(self.months.now, input_evidence.latest + DAY_MS)), zone)

    def _processes(
        self,
        runs: SortedRuns,
        paired: PairedOffsets,
        votes: np.ndarray,
        input_evidence: InputEvidence,
        letters: np.ndarray,
    ) -> Iterator[tuple[str, pa.Table]]:
        keys, little = _Processes.of(runs.keys), codes.are(runs.keys, codes.EARLY)
        dates = date(runs.keys, votes, self.months, input_evidence)
        packed = runs.at_once(large_keys.AT_ONCE)
        rows = max(_ROWS, packed.largest)
        out = merge.ProcessRows(
            bases=np.full(keys.count, NO_TIME, np.int64),
            figures=np.zeros((keys.count, unroll.FIGURES), np.int64),
            points=np.empty((rows, 9), np.int64),
            minutes=np.empty((rows, 3), np.int64),
        )
        has_dates = np.diff(dates.edges) > 0
        out.bases[has_dates] = (
            np.minimum.reduceat(dates.spans[:, 1], dates.edges[:-1][has_dates]) if has_dates.any() else NO_TIME
        )
        newest = self._newest_months(input_evidence)
        latest = newest[:, 1::2].max(axis=0)
        months = merge.MonthsOfKeys(latest, dates.edges, dates.spans, dates.before, dates.after)
        starts = np.full(keys.count, NO_TIME, np.int64)
        activity = []
        filled = 0
        while filled < keys.count:
            begun = filled
            filled, points, minutes = merge.merge_processes(packed, months, out, filled)
            points, minutes = out.points[:points], out.minutes[:minutes]
            if filled == begun:
                points, minutes = self._large_process(packed, months, out, filled)
                filled += 1
            done = slice(begun, filled)
            last = out.figures[done, unroll.LAST_POSSIBLE]
            starts[done] = _month_starts(newest, last, little[done])
            starts[done] = np.where(has_dates[done] & (last >= 0), out.bases[done], starts[done])
            yield "counters", _counters(keys, points, starts)
            activity.append(_activity(keys, minutes, starts))
        has_month = has_dates & ~dates.assumed & ~dates.mixed
        own = _Dates(*(column[keys.order] for column in (has_month, dates.zone, dates.source, dates.mixed)))
        table = self._process_table(keys, out.figures[keys.order], starts[keys.order], own, letters[keys.order])
        yield "processes", table
        yield "hosts", _hosts(keys, table)
        yield from _minutes_of_hosts(keys, activity)
        yield from self._copies(runs, paired, out.figures[:, unroll.IDS] > out.figures[:, unroll.DISTINCT])

    def _large_process(
        self, packed: PackedRuns, months: merge.MonthsOfKeys, out: merge.ProcessRows, row: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Points and minutes of one process with very many ids; fills its row."""
        key = large_keys.Key.of(packed, row)
        least, low, high, greatest = key.ends(months.after[row])
        is_after = int(least >> find.COUNTER_SHIFT) <= months.after[row, 0] and bool(merge.goes_on(least, low, high))
        spans = merge.months_of(row, int(greatest >> find.COUNTER_SHIFT), is_after, months)
        little = int(codes.EARLY >> (key.word >> codes.CODE_SHIFT) & np.uint64(1))
        limit = int(spans[0, 2]) - 1 if len(spans) else int(months.latest[little])
        process = large_keys.Process(key, spans, limit)
        points, minutes = process.compute()
        out.figures[row] = process.figures
        if process.base is not None:
            out.bases[row] = process.base
        points[:, 0] = row
        return points, np.column_stack([np.full(len(minutes), row), minutes])

    def _process_table(
        self, keys: _Processes, figures: np.ndarray, starts: np.ndarray, dates: _Dates, letters: np.ndarray
    ) -> pa.Table:
        """`starts`: of the month from which the time of each process counts. `letters`: their case."""
        hosts = keys.hosts
        f = figures.T
        first, last = f[unroll.FIRST], f[unroll.LAST]
        span = (last >> _COUNTER_BITS) - (first >> _COUNTER_BITS)
        steps = (f[unroll.PRODUCED] - f[unroll.CHAINS]) * 1000.0
        rate = np.divide(steps, span, out=np.zeros(keys.count), where=span > 0)
        position, bits = loader_positions(keys.loader_numbers)
        possible, dated = f[unroll.LAST_POSSIBLE], starts != NO_TIME
        last_at = starts + f[unroll.LAST_TIME]
        local = pc.equal(hosts, "127.0.0.1").to_numpy(zero_copy_only=False)
        whole_seconds, spent = f[unroll.WHOLE_SECONDS].astype(bool), f[unroll.LAST_ELAPSED]
        fits = (spent <= rules.LONGEST_MONTH_MS + rules.ELAPSED_SLACK_MS) | (
            spent >= rules.ELAPSED_WRAP - rules.CLOCK_BACK_MS
        )
        layouts = keys.layouts.to_numpy(zero_copy_only=False)
        zone, zone_source, month = self._zones(dates, dated, last_at, last_at - possible, keys.little)
        columns = {
            "layout": keys.layouts,
            "host": hosts,
            "pid": pa.array(keys.pids),
            "loader": keys.loaders,
            "maker": process_makers(layouts, keys.loader_numbers, whole_seconds, local, fits, letters),
            "ids": f[unroll.IDS],
            "distinct": f[unroll.DISTINCT],
            "first_elapsed_ms": f[unroll.FIRST_ELAPSED],
            "last_elapsed_ms": f[unroll.LAST_ELAPSED],
            "first_sent_at": column_texts.instants(starts + (first >> _COUNTER_BITS), dated),
            "last_sent_at": column_texts.instants(last_at, dated),
            "first_counter": first & _COUNTER_MASK,
            "last_counter": last & _COUNTER_MASK,
            "produced": f[unroll.PRODUCED],
            "missing": f[unroll.PRODUCED] - f[unroll.POSITIONS],
            "wraps": f[unroll.WRAPS],
            "wraps_certain": pa.array(f[unroll.WIDEST_GAP] / 1000.0 * rate <= chains.HALF),
            "out_of_order": f[unroll.OUT_OF_ORDER],
            "tracks": f[unroll.TRACKS],
            "rate_per_second": pa.array(rate, mask=span == 0),
            "chains": f[unroll.CHAINS],
            "loader_position": pa.array(position, mask=position < 0),
            "loader_bits": pa.array(bits.astype(np.int32), mask=position < 0),
            "last_possible_elapsed_ms": pa.array(possible, mask=possible < 0),
            "zone": zone,
            "zone_source": zone_source,
            "month": month,
            "months_mixed": pa.array(dates.mixed),
            **{name: pa.repeat(False, keys.count) for name in CLOCK_MARKS},
        }
        return _table("processes", [columns[name] for name in SCHEMAS["processes"].names])

    def _copies(self, runs: SortedRuns, paired: PairedOffsets, repeated: np.ndarray) -> Iterator[tuple[str, pa.Table]]:
        for own_words, own_values, lines, words, values, edges in paired.copies(runs, repeated):
            own, offsets = column_texts.digits(own_words, own_values), column_texts.digits(words, values, edges)
            yield "copies", _table("copies", [own, offsets, lines])

    def _zones(
        self,
        dates: _Dates,
        dated: np.ndarray,
        last: np.ndarray,
        starts: np.ndarray,
        little: np.ndarray,
    ) -> list[pa.Array]:
        """Columns zone, zone_source and month of processes; `last`: the time of the last id, `starts`: of its month."""
        calendar = self.months.calendar
        if not len(calendar):
            return [pa.nulls(len(starts), TEXT)] * 3
        own = dates.source == MONTH
        early = np.where(little, DAY_MS + HOUR_MS, 0)
        month = np.searchsorted(calendar[:, 4], starts + early + 14 * HOUR_MS, side="right") - 1
        month = np.where(dated, month, 0)
        begun = np.where(little, calendar[month, 0], starts)
        own_ahead = (calendar[month, 4] - calendar[month, 0]) // 60_000
        ahead = np.where(own & dated, (calendar[month, 4] - begun) // 60_000, dates.zone)
        turned = last - calendar[month, 0] >= calendar[month, 5] + calendar[month, 6]  # daylight saving began or ended
        ahead = np.where((ahead == own_ahead) & turned, ahead - calendar[month, 6] // 60_000, ahead)
        names = self._sources().take(pa.array(dates.source))
        known = pa.array(dated)
        return [
            pc.if_else(known, column_texts.zones(ahead), None),
            pc.if_else(known, names, None),
            pc.if_else(pa.array(dates.has_month & dated), column_texts.months(month + FIRST_MONTH), None),
        ]

    def _clients(
        self, runs: SortedRuns, paired: PairedOffsets, votes: np.ndarray, known: InputEvidence
    ) -> Iterator[tuple[str, pa.Table]]:
        figures = np.zeros((len(runs.keys), 8), np.int64)
        minutes = np.empty((max(_ROWS, runs.largest), 3), np.int64)
        now = self.months.now
        ahead, source, until = of_clients(runs.keys, votes, now if known.latest is None else known.latest + HOUR_MS)
        time = merge.TimeOfClients(ahead, until, self._rust_months(), now, local_2021_ms(self.months.zone) // 60_000)
        filled = 0
        parts = []
        while filled < len(runs.keys):
            filled, rows = merge.merge_clients(runs.packed, time, merge.ClientRows(figures, minutes), filled)
            table = pa.table({"minute": minutes[:rows, 1], "ids": minutes[:rows, 2]})
            parts.append(table.group_by("minute").aggregate([("ids", "sum")]))
        macs = [":".join(f"{int(word):012x}"[i : i + 2] for i in range(0, 12, 2)) for word in runs.keys[:, 1]]
        pids = (runs.keys[:, 2] & np.uint64(0xFFFF)).astype(np.int32)
        f = figures.T
        times = [column_texts.instants(f[column], f[2] <= f[3]) for column in (2, 3)]
        local = (f[6] == clients.BIG) & (f[7] != 0)
        makers = np.where(local, len(WAYS), f[6])
        names = pa.array([*WAYS, "grpc_java_old"]).take(pa.array(makers))
        of_scan = f[7] == local_2021_ms(self.months.zone) // 60_000  # else as many minutes as are enough
        sources = pc.if_else((source != MONTH) | of_scan, self._sources().take(pa.array(source)), "assumed")
        shown = pa.array(local)
        zones = [
            pc.if_else(shown, column_texts.zones(np.where(local, f[7], 0)), None),
            pc.if_else(shown, sources, None),
        ]
        yield "clients", _table("clients", [macs, pa.array(pids), f[0], f[1], *times, f[4], f[5], names, *zones])
        timeline = pa.concat_tables(parts).group_by("minute").aggregate([("ids_sum", "sum")])
        minute = column_texts.minutes(timeline["minute"].to_numpy())
        yield "timeline", _table("timeline", [minute, ["client"] * len(minute), timeline["ids_sum_sum"]])
        yield from self._copies(runs, paired, f[0] > f[1])

    def _sources(self) -> pa.Array:
        """What a zone is known from, by the kind of vote that fixed it."""
        return pa.array([SOURCES.get(kind, self.months.zone_source) for kind in range(3)])

    def _rust_months(self) -> np.ndarray:
        """Start in UTC and length, as the Rust client takes it, of every month, newest first."""
        starts = self.months.calendar[:, 4]
        lengths = np.maximum(np.diff(starts, append=starts[-1:] + RUST_MONTH_MS), RUST_MONTH_MS)
        return np.column_stack([starts, lengths])[::-1].copy()

    def _brokers(self, runs: SortedRuns, dated: DatedOffsets) -> Iterator[tuple[str, pa.Table]]:
        figures = np.zeros((len(runs.keys), 5), np.int64)
        rows = max(_ROWS, runs.largest)
        segments, bins = np.empty((rows, 6), np.int64), np.empty((rows, 5), np.int64)
        hosts = column_texts.hosts(runs.keys)
        addresses = column_texts.addresses(runs.keys, hosts)
        filled = 0
        while filled < len(runs.keys):
            filled, s, b = merge.merge_brokers(runs.packed, merge.BrokerRows(figures, segments, bins), filled)
            names = pc.utf8_lpad(pa.array(segments[:s, 1] << np.int64(merge.SEGMENT_SHIFT)).cast(TEXT), 20, "0")
            yield (
                "segments",
                _table("segments", [addresses.take(pa.array(segments[:s, 0])), names, *segments[:s, 2:].T]),
            )
            yield "distribution", _table("distribution", [addresses.take(pa.array(bins[:b, 0])), *bins[:b, 1:].T])
        f = figures.T
        ports = (runs.keys[:, 2] & find.WORD).astype(np.int64)
        speed = dated.bytes_per_second(addresses)
        yield "brokers", _table("brokers", [addresses, hosts, ports, f[0], f[1], f[4], f[2], f[3], speed])
        if len(dated.begin):
            growth = _table("growth", dated.columns())  # less what turned out not to be a broker
            yield "growth", growth.filter(pc.is_in(growth["address"], value_set=addresses))


FileFacts = tuple[str, int, CoreError | None]  # name, bytes as stored, error


def combine(
    parts: Iterable[tuple[str, pa.Table]],
    files: Sequence[FileFacts] | Mapping[int, FileFacts],
    of_store: bool = False,
) -> Tables:
    """One set of tables from those of all merge tasks, in a fixed order.

    `files`: those of the input, by the numbers that splits have of them. A store has its own tables also where no file
    of it could be read.
    """
    known = files if isinstance(files, Mapping) else dict(enumerate(files))
    collected: dict[str, list[pa.Table]] = {name: [] for name in (*SCHEMAS, "reports", "seen", LOOK_ALIKES)}
    for name, table in parts:
        collected[name].append(table)
    rows = (row.as_py() for table in collected.pop("reports") for row in table["report"])
    reports = [report for row in rows for report in reports_of(row)]
    taken = [LookAlike(**row) for table in collected.pop(LOOK_ALIKES) for row in table.to_pylist()]
    texts = {text_number(report.number, report.place): report for report in reports} if taken else {}
    alike = _look_alikes(taken, texts, known)
    # Strings that were counted as ids, and are none: they are taken from the text that has them.
    reports += [
        replace(
            texts[one.text],
            text_bytes=0,
            ids=-one.ids,
            refused=(Refused("look_alike", one.ids, one.sample, one.byte),),
            error=None,
        )
        for one in taken
        if one.label is None  # the tasks did not count the others
    ]
    tables = {name: pa.concat_tables([schema.empty_table(), *collected[name]]) for name, schema in SCHEMAS.items()}
    seen = [row.as_py() for table in collected["seen"] for row in table["seen"]]
    for name in OF_STORES:
        del tables[name]
    if seen or of_store:
        tables["topics"] = _topics(seen)
        tables["tags"] = _table_of("tags", list(tags_of(seen)))
    tables["timeline"] = _sums(tables["timeline"], "minute", "kind").cast(SCHEMAS["timeline"])
    tables["files"], tables["refused"] = _files(reports, known)
    tables["lookalikes"] = alike

    def in_order(name: str) -> pa.Table:
        if name in IN_ORDER and len(collected[name]) < 2:
            return tables[name].combine_chunks()
        return tables[name].sort_by([(column, "ascending") for column in ORDER[name]]).combine_chunks()

    with ThreadPoolExecutor() as pool:  # the two large ones, side by side
        return tables | dict(zip(ORDER, pool.map(in_order, ORDER), strict=True))


def _look_alikes(taken: Sequence[LookAlike], texts: Mapping[int, Report], files: Mapping[int, FileFacts]) -> pa.Table:
    """By reason and name: how many, and the first of all texts."""
    rows: dict[tuple[str, str], list[Any]] = {}
    for one in taken:
        report = texts[one.text]
        file = files[report.number][0]
        first = (file, report.place, one.byte, one.sample, file + (shown(report.member) if report.place else ""))
        row = rows.setdefault((one.reason, one.label or ""), [0, 0, first])
        row[:] = row[0] + one.ids, row[1] + one.distinct, min(row[2], first)
    table = [
        (reason, label or None, ids, distinct, first[3], first[4], first[2])
        for (reason, label), (ids, distinct, first) in sorted(rows.items())
    ]
    return _table_of("lookalikes", table)


def _topics(seen: Sequence[bytes]) -> pa.Table:
    columns = [list(column) for column in zip(*topics_of(seen), strict=True)] or [[] for _ in SCHEMAS["topics"]]
    # a damaged record may say that it was stored at any time: one that no clock shows is not counted as a time
    known = [[at if is_time(at) else None for at in columns[column]] for column in (4, 5)]
    times = [pa.array(column, pa.int64()).cast(pa.timestamp("ms", "UTC")).cast(TIME) for column in known]
    return _table("topics", [*columns[:4], *times, *columns[6:]])


@dataclass(slots=True)
class _FileRow:
    """A row of `files`: the columns in their order, but for the error, which is one value here."""

    file: str
    bytes: int = 0
    text_bytes: int = 0
    ids: int = 0
    refused: int = 0
    error: dict[str, Any] | None = None  # as `CoreError.coded` has it
    lookalikes: int = 0
    trace_ids: int = 0

    @property
    def columns(self) -> tuple[Any, ...]:
        error = self.error
        coded = (error and error["code"], error and json.dumps(error["values"]))
        return self.file, self.bytes, self.text_bytes, self.ids, self.refused, *coded, self.lookalikes, self.trace_ids


# The columns of `files` that count what is rejected for these reasons; `refused` counts all others.
_COUNTED_IN = {"other_name": "lookalikes", "look_alike": "lookalikes", "trace_id": "trace_ids"}


def _files(reports: Sequence[Report], files: Mapping[int, FileFacts]) -> tuple[pa.Table, pa.Table]:
    """A row for each file and, behind it, for each member of an archive: the file has the bytes, they have the text."""
    rows: dict[tuple[int, tuple[int, ...]], _FileRow] = {
        (number, ()): _FileRow(name, size, error=None if error is None else error.coded())
        for number, (name, size, error) in files.items()
    }
    reasons: dict[str, tuple[int, tuple[Any, ...]]] = {}  # how many, and the first: file, place, byte, sample, name
    for report in reports:
        member = shown(report.member) if report.place else ""
        file = files[report.number][0]
        name = file + member
        row = rows.setdefault((report.number, report.place if member else ()), _FileRow(name))
        row.text_bytes += report.text_bytes
        row.ids += report.ids
        own = None if report.error is None else report.error.coded()
        row.error = min((one for one in (row.error, own) if one is not None), key=json.dumps, default=None)
        for reason, count, sample, byte in report.refused:
            column = _COUNTED_IN.get(reason, "refused")
            setattr(row, column, getattr(row, column) + count)
            if column == "refused":
                first = (file, report.place, byte, sample, name)
                before, known = reasons.get(reason, (0, first))
                reasons[reason] = before + count, min(known, first)
    in_order = sorted(rows, key=lambda key: (files[key[0]][0], key))
    refused = [
        (reason, count, sample, name, byte) for reason, (count, (_, _, byte, sample, name)) in sorted(reasons.items())
    ]
    return _table_of("files", [rows[key].columns for key in in_order]), _table_of("refused", refused)
