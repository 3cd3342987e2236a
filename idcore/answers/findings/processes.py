"""What findings point at: processes by name, their points as arrays, their ids as text. Judges nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from ipaddress import ip_address
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from idcore.answers.findings.limits import MOST_IDS
from idcore.answers.findings.quota import FindingQuota
from idcore.base.layout import LAYOUTS
from idcore.ids import assumptions, rules
from idcore.ids.clock import NO_TIME
from idcore.ids.model import UniqId
from idcore.ids.origins import PROCESS_KEY, Fingerprint

Result = TypeVar("Result")


def numbers(table: pa.Table, name: str, empty: int = -1) -> np.ndarray:
    """A column of whole numbers as int64; nulls as `empty`."""
    column = table[name]
    if pa.types.is_timestamp(column.type):
        column = pc.cast(column, pa.int64())
    return pc.fill_null(column, empty).to_numpy().astype(np.int64)


def text_mask(column: pa.ChunkedArray) -> np.ndarray:
    """Truth values as an array; null is false."""
    return pc.fill_null(column, False).to_numpy(zero_copy_only=False).astype(bool)


@dataclass(frozen=True)
class Processes:
    """The table `processes`, and those points of `counters` that are at hand, in the order of their processes.

    Of a scan that is too large for the driver this is a piece, and not every process has its points here. `start`
    equals `stop` then, and `known` says where the others begin and end. `listed` is one for all pieces of a scan.
    """

    table: pa.Table
    counters: pa.Table
    known: tuple[np.ndarray, np.ndarray] | None = None
    listed: FindingQuota = field(default_factory=FindingQuota)
    _numbers: dict[str, np.ndarray] = field(default_factory=dict, init=False, repr=False, compare=False)
    _computed: dict[Callable[[Processes], Any], Any] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    _rows: dict[int, dict[str, Any]] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self._numbers:
            self._numbers[name] = numbers(self.table, name)
        return self._numbers[name]

    def once(self, compute: Callable[[Processes], Result]) -> Result:
        """What is computed from these processes, once for all rules that ask for it."""
        if compute not in self._computed:
            self._computed[compute] = compute(self)
        return self._computed[compute]  # type: ignore[no-any-return]

    @cached_property
    def _pieces(self) -> tuple[np.ndarray, np.ndarray]:
        """Where the points of each process begin in `counters`, and where they end."""
        if self.known is not None:
            return self.known
        rows = self.counters.num_rows
        changed = np.zeros(max(rows - 1, 0), bool)
        for name in PROCESS_KEY:
            column = self.counters[name].combine_chunks()
            if rows > 1:
                changed |= text_mask(pc.not_equal(column.slice(1), column.slice(0, rows - 1)))
        edges = np.concatenate([[0], np.flatnonzero(changed) + 1, [rows]]) if rows else np.zeros(1, np.int64)
        pieces = self.counters.select(PROCESS_KEY).take(pa.array(edges[:-1]))
        if len(pieces) == len(self) and pieces.equals(self.table.select(PROCESS_KEY).cast(pieces.schema)):
            return edges[:-1], edges[1:]
        mine = self.table.select(PROCESS_KEY).append_column("process", pa.array(np.arange(len(self))))
        pairs = mine.join(
            pieces.append_column("piece", pa.array(np.arange(len(pieces)))), PROCESS_KEY, join_type="inner"
        )
        start, stop = np.zeros(len(self), np.int64), np.zeros(len(self), np.int64)
        process, piece = numbers(pairs, "process"), numbers(pairs, "piece")
        start[process], stop[process] = edges[piece], edges[piece + 1]
        return start, stop

    @property
    def start(self) -> np.ndarray:
        """The first row of `counters` of each process."""
        return self._pieces[0]

    @property
    def stop(self) -> np.ndarray:
        return self._pieces[1]

    @property
    def away(self) -> np.ndarray:
        """Whether no point of a process is at hand."""
        return self.stop == self.start

    def owners(self, rows: np.ndarray) -> np.ndarray:
        """The process of each row of `counters`; -1 where it is not one of these."""
        order = np.argsort(self.start, kind="stable")
        order = order[self.stop[order] > self.start[order]]
        if not len(order):
            return np.full(len(rows), -1)
        place = np.searchsorted(self.start[order], rows, side="right") - 1
        owner = order[np.maximum(place, 0)]
        return np.where((place >= 0) & (rows < self.stop[owner]), owner, -1)

    @cached_property
    def elapsed(self) -> np.ndarray:
        """Elapsed of every point; what reads as less than a day before the month is below zero."""
        elapsed = numbers(self.counters, "elapsed_ms")
        return np.where(elapsed >= rules.ELAPSED_WRAP - rules.CLOCK_BACK_MS, elapsed - rules.ELAPSED_WRAP, elapsed)

    @cached_property
    def time(self) -> np.ndarray:
        """When each point was generated, in ms: across months where all points of a process are dated, else elapsed."""
        sent = numbers(self.counters, "sent_at", NO_TIME)
        owner = self.owners(np.flatnonzero(sent == NO_TIME))
        undated = self.rows(np.unique(owner[owner >= 0]))
        time = sent // 1000
        time[undated] = self.elapsed[undated]
        return time

    @cached_property
    def columns(self) -> dict[str, np.ndarray]:
        """counter, position, track, chain and missing_before of every point."""
        names = ("counter", "position", "track", "chain", "missing_before")
        return {name: numbers(self.counters, name) for name in names}

    @cached_property
    def whole(self) -> np.ndarray:
        """Whether all ids of a process are points."""
        return self.stop - self.start == self["distinct"]

    def points(self, at: int) -> slice:
        """The rows of `counters` of one process."""
        return slice(int(self.start[at]), int(self.stop[at]))

    def rows(self, which: np.ndarray) -> np.ndarray:
        """The rows of `counters` that belong to these processes, in their order."""
        sizes = (self.stop - self.start)[which]
        if not sizes.sum():
            return np.zeros(0, np.int64)
        begin = np.repeat(self.start[which] - np.concatenate([[0], np.cumsum(sizes)[:-1]]), sizes)
        return begin + np.arange(sizes.sum())

    def row(self, at: int) -> dict[str, Any]:
        """One process as a mapping; it is asked for again and again while a finding is made."""
        if at not in self._rows:
            self.keep_rows([at])
        return self._rows[at]

    def keep_rows(self, places: Iterable[int]) -> None:
        """Reads the rows of several processes in one step: to read them one by one takes ten times as long."""
        wanted = [at for at in places if at not in self._rows]
        self._rows.update(zip(wanted, self.table.take(pa.array(wanted, pa.int64())).to_pylist(), strict=True))

    def describe(self, at: int) -> tuple[str, dict[str, Any], dict[str, Any]]:
        """Its name, its key for the evidence, and when it was seen."""
        row = self.row(at)
        key = {name: row[name] for name in PROCESS_KEY}
        when = {"since": row["first_sent_at"], "until": row["last_sent_at"], "assumed": assumed_of(row)}
        return str(Fingerprint.of_row(row)), {"process": key}, when

    def ids(self, at: int, points: Iterable[int]) -> list[str]:
        """Ids of some rows of `counters`, which belong to process `at`."""
        row = self.row(at)
        elapsed, counter = self.elapsed, self.columns["counter"]
        return [id_text(row, int(elapsed[point]), int(counter[point])) for point in list(points)[:MOST_IDS]]

    def ends(self, at: int) -> list[str]:
        """The first and the last id of a process."""
        row = self.row(at)
        ends = [id_text(row, row[f"{end}_elapsed_ms"], row[f"{end}_counter"]) for end in ("first", "last")]
        return list(dict.fromkeys(ends))

    def times(self, points: Iterable[int]) -> list[datetime | None]:
        """When the ids of some rows were generated."""
        return [self.counters["sent_at"][int(point)].as_py() for point in points]

    def moments(self, points: Iterable[int]) -> list[str | None]:
        """Like `times`, as ISO texts."""
        return [None if time is None else time.isoformat(timespec="milliseconds") for time in self.times(points)]

    def between(self, points: Iterable[int]) -> dict[str, datetime]:
        """From when to when the ids of some rows were generated; nothing where not all are dated."""
        times = self.times(points)
        dated = [time for time in times if time is not None]
        return {"since": min(dated), "until": max(dated)} if dated and len(dated) == len(times) else {}


def assumed_of(row: Mapping[str, Any]) -> tuple[str, ...]:
    """What of the times of a process or client no line shows; a client's ID has its month."""
    if row["first_sent_at"] is None:
        return ()
    return assumptions.assumed(row.get("month", "") is not None, row.get("zone_source"))


def counts_of_assumed(table: pa.Table) -> tuple[int, int, int]:
    """How many processes have a time, and of how many of these no line shows the month, the zone.

    Tables of older versions do not say it.
    """
    dated = text_mask(pc.is_valid(table["first_sent_at"]))
    none = np.zeros(len(dated), bool)
    has = set(table.column_names)
    months = text_mask(pc.is_null(table["month"])) if "month" in has else none
    zones = text_mask(pc.equal(table["zone_source"], "assumed")) if "zone_source" in has else none
    return int(dated.sum()), int((dated & months).sum()), int((dated & zones).sum())


def is_loopback(host: str) -> bool:
    """Whether a bornHost identifies no host: a client on the broker's own machine has such a one."""
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def id_text(row: Mapping[str, Any], elapsed: int, counter: int) -> str:
    """The digits of an id, all upper case; the Go client and its relatives print the last twelve lower case."""
    unencoded = UniqId.of(
        row["host"], row["pid"], int(row["loader"], 16), elapsed % rules.ELAPSED_WRAP, counter, LAYOUTS[row["layout"]]
    )
    return unencoded.text
