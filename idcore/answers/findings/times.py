"""Findings from the times of ids: impossible ones, old ones, zones that differ. Reads no address."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from functools import cache
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from idcore.answers.findings import chains, limits
from idcore.answers.findings.evidence import FindingEvidence
from idcore.answers.findings.finding_builder import largest_findings, of_process
from idcore.answers.findings.hosts import dated, java, little_endian, of_several_months, whole_seconds
from idcore.answers.findings.model import Finding, rest
from idcore.answers.findings.processes import Processes, assumed_of, numbers, text_mask
from idcore.answers.findings.quota import FindingQuota
from idcore.answers.findings.registry import INFO, WARNING, Rule, Scan, register
from idcore.answers.growth import DELETES_AT, KEPT_HOURS, expired_before
from idcore.ids import clock as clocks
from idcore.ids import rules
from idcore.ids.origins import Fingerprint
from idcore.scan.deliveries import instant


def impossible(processes: Processes, scan: Scan) -> Iterator[Finding]:
    """elapsed_impossible: more than a month, where no clock that was set back explains it.

    What is read as the low 32 bits of the clock (the ErQing .NET client) is dated before now.
    """
    explained = processes.once(chains.explain_chains).clock_back
    now, official = int(scan.at.timestamp() * 1000), java(processes)
    distinct = processes["distinct"]
    early = np.where(little_endian(processes), clocks.DAY_MS + clocks.HOUR_MS, 0)
    last, possible = processes["last_elapsed_ms"], processes["last_possible_elapsed_ms"]
    raw = numbers(processes.counters, "elapsed_ms")

    def low_bits(value: int) -> str:
        return clocks.from_ms(now - (now - value) % rules.ELAPSED_WRAP).isoformat(timespec="milliseconds")

    def kind(at: int, wrong: np.ndarray, elapsed: np.ndarray) -> dict[str, Any]:
        """What generated it, as a variant of the words, where more than the number shows it."""
        if distinct[at] == 1:
            return {"variant": "one_text"}
        counter = processes.columns["counter"][processes.points(at)][np.argsort(elapsed, kind="stable")]
        if official[at] or not wrong.all() or (np.diff(counter) < 0).any():
            return {"variant": "java"} if official[at] else {}
        first, last = low_bits(int(elapsed.min())), low_bits(int(elapsed.max()))
        return {"variant": "clock", "first_at": first, "last_at": last} if first <= last else {}

    def make(at: int) -> Finding | None:
        mine = processes.points(at)
        elapsed = raw[mine]
        wrong = elapsed > limits.LONGEST_ELAPSED_MS + early[at]
        if explained[at]:
            wrong &= elapsed < rules.ELAPSED_WRAP - rules.CLOCK_BACK_MS
        points = mine.start + np.flatnonzero(wrong)
        if not len(points) and len(elapsed):
            return None
        every = possible[at] < 0
        once = distinct[at] == 1  # of one string the places are counted, of several the strings
        count = int(processes["ids" if once else "distinct"][at]) if every else max(1, len(points))
        more: dict[str, Any] = {} if every or processes.whole[at] else {"at_least": True}
        if len(elapsed):
            more |= kind(at, wrong, elapsed)
        return of_process(
            processes,
            at,
            "elapsed_impossible",
            count,
            ids=processes.ids(at, points),
            elapsed_ms=[int(value) for value in elapsed[wrong][: limits.MOST_IDS]],
            **more,
        )

    yield from largest_findings(processes, last > limits.LONGEST_ELAPSED_MS + early, "elapsed_impossible", make)


def expired(processes: Processes, scan: Scan) -> Iterator[Finding]:
    """expired: processes whose ids are older than the default retention."""
    limit = expired_before(scan.at, KEPT_HOURS, DELETES_AT, scan.zone)
    gone = int(limit.timestamp() * 1_000_000)
    first, last = processes["first_sent_at"], processes["last_sent_at"]
    times = numbers(processes.counters, "sent_at")

    def make(place: int) -> Finding:
        more: dict[str, Any] = {"cutoff": limit.isoformat(timespec="minutes")}
        count = int(processes["distinct"][place])  # one message on many lines is one
        if last[place] >= gone:
            mine = times[processes.points(place)]
            count = max(1, int(((mine != -1) & (mine < gone)).sum()))
            more["at_least"] = True  # of many ids a part are points
        return of_process(processes, place, "expired", count, **more)

    old = dated(processes) & (first != -1) & (first < gone) & ~of_several_months(processes)
    yield from largest_findings(processes, old, "expired", make, processes["distinct"])


def several_months(processes: Processes, _: Scan) -> Iterator[Finding]:
    """several_months: processes whose IDs are of months that nothing in an ID tells apart."""

    def make(at: int) -> Finding:
        return of_process(processes, at, "several_months", int(processes["distinct"][at]))

    yield from largest_findings(processes, of_several_months(processes), "several_months", make, processes["distinct"])


def expired_clients(scan: Scan) -> Iterator[Finding]:
    """The rule expired, for 5.x clients."""
    limit = expired_before(scan.at, KEPT_HOURS, DELETES_AT, scan.zone)
    listed = FindingQuota()
    for clients in scan.rows.pieces("clients"):
        old = pc.less(clients["last_sent_at"], pa.scalar(limit, clients.schema.field("last_sent_at").type))
        expired = clients.filter(pc.fill_null(old, False)).sort_by([("distinct", "descending")])
        ids = numbers(expired, "distinct")
        among = listed.among(("expired", "clients"), ids)
        if among < len(ids):
            yield rest("expired", len(ids) - among, int(ids[among:].sum()))
        for row in expired.slice(0, among).to_pylist():
            evidence = {
                "cutoff": limit.isoformat(timespec="minutes"),
                "client": {"mac": row["mac"], "pid": row["pid"]},
            }
            yield Finding.of(
                "expired",
                str(Fingerprint.of_row(row)),
                row["distinct"],
                evidence,
                since=row["first_sent_at"],
                until=row["last_sent_at"],
                assumed=assumed_of(row),
            )


def _proven(table: pa.Table) -> np.ndarray:
    is_proved = text_mask(pc.is_in(table["zone_source"], value_set=pa.array(["born", "prefix"])))
    # The Rust and Elixir clients (loader 0) count months in UTC wherever they run: that says nothing of a clock.
    return is_proved & ~(
        text_mask(pc.equal(table["loader"], "00000000")) & text_mask(pc.equal(table["zone"], "+00:00"))
    )


_OF_ZONES = ("loader", "ids", "zone", "zone_source", "first_sent_at", "last_sent_at")


@dataclass(frozen=True, slots=True)
class UsualZone:
    """The proven offset from UTC of most ids, and from when to when processes have it."""

    offset: str
    first: datetime
    last: datetime


def usual_zone(scan: Scan) -> UsualZone | None:
    """That of a scan; None where no line proves one."""
    counted: Counter[str] = Counter()
    spans: dict[str, tuple[datetime, datetime]] = {}
    for table in scan.rows.pieces("processes", _OF_ZONES):
        if "zone" not in table.column_names:
            continue
        sums = [("ids", "sum"), ("first_sent_at", "min"), ("last_sent_at", "max")]
        for row in table.filter(pa.array(_proven(table))).group_by("zone").aggregate(sums).to_pylist():
            ids, first, last, zone = (
                row[name] for name in ("ids_sum", "first_sent_at_min", "last_sent_at_max", "zone")
            )
            if zone is not None and first is not None:
                counted[zone] += ids
                earliest, latest = spans.get(zone, (first, last))
                spans[zone] = min(first, earliest), max(last, latest)
    zone = min(counted, key=lambda zone: (-counted[zone], zone), default=None)
    return None if zone is None else UsualZone(zone, *spans[zone])


def line_zone(scan: Scan) -> tzinfo:
    """In which zone a time of a line is read that names none: the one that was given, else the one that lines prove."""
    usual = None if scan.zone_source == "given" else scan.once(usual_zone)
    return scan.zone if usual is None else clocks.parse_zone(usual.offset)


def logged(scan: Scan, times: Iterable[datetime | None]) -> dict[str, datetime]:
    """`since` and `until` of a finding by the times of its lines; nothing where no line has one."""
    zone = scan.once(line_zone)
    known = [at for time in times if (at := instant(time, zone)) is not None]
    return {"since": clocks.from_ms(min(known)), "until": clocks.from_ms(max(known))} if known else {}


def zones(processes: Processes, scan: Scan) -> Iterator[Finding]:
    """zone_mismatch: zones that lines prove, against the one that was given or that most ids are from."""
    table, given = processes.table, scan.zone_source == "given"
    usual = None if given else scan.once(usual_zone)
    if "zone" not in table.column_names or not (given or usual):
        return
    # Relatives of the Go client count from the month in UTC, in any zone of their host.
    by_design = whole_seconds(processes) & text_mask(pc.equal(table["zone"], "+00:00"))
    proven = np.flatnonzero(_proven(table) & dated(processes) & ~by_design)
    # Daylight saving begins and ends at full hours: all processes of one hour are in one offset.
    hours = processes["last_sent_at"][proven] // _HOUR_US
    offsets = table["zone"].take(pa.array(proven)).to_pylist()
    expected = {
        (offset, hour): clocks.zone_text(_instant(hour).astimezone(scan.zone).utcoffset())
        if usual is None
        else offset
        if _is_of_one_zone(offset, _instant(hour), usual)
        else usual.offset
        for offset, hour in set(zip(offsets, hours.tolist(), strict=True))
    }
    wrong = np.zeros(len(processes), bool)
    wrong[proven] = [expected[pair] != pair[0] for pair in zip(offsets, hours.tolist(), strict=True)]

    def make(at: int) -> Finding:
        row = processes.row(at)
        hour = int(processes["last_sent_at"][at] // _HOUR_US)
        more: dict[str, Any] = {"usual_zone": expected[row["zone"], hour], "zone_source": row["zone_source"]}
        if given:
            more["variant"] = "given"
        return of_process(processes, at, "zone_mismatch", zone=row["zone"], **more)

    yield from largest_findings(processes, wrong, "zone_mismatch", make)


_HOUR_US = 3_600_000_000


def _instant(hour: int) -> datetime:
    return clocks.from_ms(hour * clocks.HOUR_MS)


def _is_of_one_zone(offset: str, at: datetime, usual: UsualZone) -> bool:
    """Whether an offset is the usual one, or that of some zone which changed its clocks between these instants."""
    if offset == usual.offset:
        return True
    if usual.first <= at <= usual.last:
        return False
    near = usual.first if at < usual.first else usual.last
    return any(
        clocks.zone_text(at.astimezone(zone).utcoffset()) == offset
        and clocks.zone_text(near.astimezone(zone).utcoffset()) == usual.offset
        for zone in _zones_with_summer_time()
    )


@cache
def _zones_with_summer_time() -> Sequence[tzinfo]:
    """Every zone of the world that changed its clocks in the last years."""
    months = [
        datetime(year, month, 1, tzinfo=UTC) for year in range(2011, datetime.now(UTC).year + 1) for month in (1, 7)
    ]
    zones = [ZoneInfo(name) for name in sorted(available_timezones())]
    return [zone for zone in zones if len({month.astimezone(zone).utcoffset() for month in months}) > 1]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ZoneEvidence(FindingEvidence):
    """Of a process in another zone than the others."""

    zone: str | None = None
    usual_zone: str | None = None
    zone_source: str | None = None
    variant: str | None = None
    process: Mapping[str, Any] | None = None
    ids: Sequence[str] = ()
    places: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ElapsedEvidence(FindingEvidence):
    """Of ids with more milliseconds than a month has."""

    ids: Sequence[str] = ()
    elapsed_ms: Sequence[int] = ()
    at_least: bool | None = None  # not every id of the process was looked at
    variant: str | None = None
    first_at: str | None = None
    last_at: str | None = None
    process: Mapping[str, Any] | None = None
    places: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ExpiredEvidence(FindingEvidence):
    """Of ids that are older than the messages that a broker keeps."""

    cutoff: str | None = None
    at_least: bool | None = None  # some ids of the process are not
    process: Mapping[str, Any] | None = None
    client: Mapping[str, Any] | None = None
    ids: Sequence[str] = ()
    places: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MonthsEvidence(FindingEvidence):
    """Of a process that is seen for longer than a month."""

    process: Mapping[str, Any] | None = None
    ids: Sequence[str] = ()
    places: Sequence[Mapping[str, Any]] = ()


register(
    Rule(
        "several_months",
        INFO,
        5,
        "several_months/forty_days",
        evidence=MonthsEvidence,
        of_processes=several_months,
    ),
    Rule(
        "zone_mismatch",
        WARNING,
        100,
        "zone_mismatch/one_in_utc",
        evidence=ZoneEvidence,
        of_processes=zones,
        variants=("given",),
    ),
    Rule(
        "elapsed_impossible",
        WARNING,
        110,
        "elapsed_impossible/dotnet",
        evidence=ElapsedEvidence,
        of_processes=impossible,
        variants=("one_text", "java", "clock"),
    ),
    Rule(
        "expired",
        INFO,
        60,
        "expired/five_days",
        evidence=ExpiredEvidence,
        of_processes=expired,
        of_scan=expired_clients,
        is_usual=True,
    ),
)
