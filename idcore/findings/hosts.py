"""Findings from the address, pid, maker and time of each process: one row of `processes` at a time. Reads no chain."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime, tzinfo
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from idcore.findings import limits
from idcore.findings.evidence import Processes, numbers, text_mask
from idcore.findings.finding_builder import each, of_process
from idcore.findings.model import INFO, Finding, rest
from idcore.findings.quota import Listed
from idcore.growth import DELETES_AT, KEPT_HOURS, expired_before
from idcore.ids import clock as clocks
from idcore.ids import rules
from idcore.ids.makers import KNOWN_CONSTANTS, MAKERS
from idcore.ids.model import host_bytes

_JAVA_CONSTANTS = pa.array(
    [f"{loader:08X}" for loader, code in KNOWN_CONSTANTS.items() if code.startswith("java")], pa.string()
)


# JVMs that came years after the clients 4.6.0 and 4.6.1: a pid of 0 is rather a process id of 65,536.
_NEWER_JVMS = pa.array([code for code in MAKERS if code.startswith(("java_jdk17", "java_jdk21", "java_jdk25"))])


def _instant(milliseconds: int) -> str:
    return clocks.from_ms(milliseconds).isoformat(timespec="milliseconds")


def java(processes: Processes) -> np.ndarray:
    """Which processes are Java for certain: their loader stands in HotSpot's stream, or is a constant of a JDK."""
    table = processes.table
    known = text_mask(pc.is_in(table["loader"], value_set=_JAVA_CONSTANTS))
    return known | text_mask(pc.is_valid(table["loader_position"]))


def little_endian(processes: Processes) -> np.ndarray:
    return text_mask(pc.equal(processes.table["layout"], limits.CUT_COUNTER))


def whole_seconds(processes: Processes) -> np.ndarray:
    """Which processes count whole seconds, as the Go client and its relatives do."""
    names = pa.array(("go", "go_family", "elixir", "python_tt67wq"))
    return text_mask(pc.is_in(processes.table["maker"], value_set=names))


def dated(processes: Processes) -> np.ndarray:
    """Which processes count from the month: what others write there is no date, and may fall at any time."""
    names = pa.array(("php", "python_tt67wq", "dotnet", "dotnet_uuid"))
    return ~text_mask(pc.is_in(processes.table["maker"], value_set=names))


def countable(processes: Processes) -> np.ndarray:
    """Which processes write their counter whole: the little-endian C++ client cuts it to eight bits."""
    return ~little_endian(processes)


def addresses(processes: Processes) -> Iterator[Finding]:
    """pid_erased, loopback_host, link_local_host, container_host."""
    host, pid = processes.table["host"], processes["pid"]
    gateway = text_mask(pc.equal(host, limits.DOCKER_GATEWAY))
    inside = text_mask(pc.starts_with(host, limits.DOCKER_BRIDGE)) & (pid < limits.CONTAINER_PIDS)
    named = text_mask(pc.equal(host, limits.OWN_NAME))
    wide = pc.match_substring_regex(host, "^fe[89ab][0-9a-f]:")
    official = java(processes)
    newer = official & text_mask(pc.is_in(processes.table["maker"], value_set=_NEWER_JVMS))
    masks = {
        "pid_erased": official & (pid == 0) & ~newer,
        "loopback_host": text_mask(pc.or_(pc.starts_with(host, "127."), pc.equal(host, "::1"))),
        "link_local_host": text_mask(pc.or_(pc.starts_with(host, "169.254."), wide)),
        "container_host": inside | gateway,
    }

    def make(at: int) -> Finding:
        kind = {
            "container_host": "gateway" if gateway[at] else None,
            # A Java client takes the address of a network interface; others what the name of their host resolves to.
            "loopback_host": "own_name" if named[at] else None if official[at] else "not_java",
        }.get(code)
        more: dict[str, Any] = {"variant": kind} if kind else {}
        return of_process(processes, at, code, **more)

    for code, mask in masks.items():
        yield from each(processes, mask, code, make)

    def whole(at: int) -> Finding:
        return of_process(processes, at, "pid_erased", variant="multiple", certainty="possible", lighter=INFO)

    yield from each(processes, newer & (pid == 0), "pid_erased", whole, lighter=INFO)


def fake_hosts(processes: Processes, zone_known: bool) -> Iterator[Finding]:
    """fake_host: an address that is a time. `zone_known`: the times were not read in an assumed zone."""
    table = processes.table
    layout, host = table["layout"], table["host"]
    go = text_mask(pc.match_substring_regex(host, r"^(4[89]|5[0-7])(\.(4[89]|5[0-7])){3}$"))
    go &= text_mask(pc.equal(table["loader"], "00000000"))
    yield from each(processes, go, "fake_host", lambda at: of_process(processes, at, "fake_host", variant="go"))
    nothing = text_mask(pc.equal(host, "0.0.0.0")) & ~java(processes)
    rubbish = little_endian(processes) & text_mask(pc.starts_with(host, "0.")) & ~nothing

    def of_name(at: int) -> Finding:
        return of_process(processes, at, "fake_host", variant="unresolved" if nothing[at] else "not_ipv4")

    yield from each(processes, nothing | rubbish, "fake_host", of_name)
    inside = pc.match_substring_regex(
        host, r"^(10|127|169\.254|172\.(1[6-9]|2\d|3[01])|192\.168|100\.(6[4-9]|[7-9]\d))\."
    )
    open_to_doubt = text_mask(pc.equal(layout, "uniq_v4")) & ~text_mask(inside) & ~go & ~nothing
    open_to_doubt &= java(processes) | text_mask(pc.equal(table["maker"], "rust_mxsm"))
    first = processes["first_sent_at"]
    which = np.flatnonzero(open_to_doubt & (first != -1))
    if not len(which):
        return
    ips = np.array(
        [int.from_bytes(host_bytes(text), "big") for text in host.take(pa.array(which)).to_pylist()], np.int64
    )
    sources = table["zone_source"].take(pa.array(which)).to_pylist() if "zone_source" in table.column_names else []
    first_ms, counter = first[which] // 1000, processes["first_counter"][which]
    age = (first_ms - ips) % rules.ELAPSED_WRAP
    sure = np.array([source in ("born", "prefix") for source in sources]) if sources else np.zeros(len(which), bool)
    sure |= zone_known
    exact = sure & (age <= limits.FAKE_HOST_MS)
    # Whole half hours of zone error either way, less the seconds between the start and the first id.
    shifted = (age + limits.WIDEST_ZONE_MS) % rules.ELAPSED_WRAP
    near = (shifted <= 2 * limits.WIDEST_ZONE_MS + limits.FAKE_HOST_ASSUMED_MS) & (
        shifted % limits.ZONE_STEP_MS <= limits.FAKE_HOST_ASSUMED_MS
    )
    likely = near & (counter < limits.FAKE_HOST_FIRST_COUNTER)
    odd = (ips >> 24 == 0) | (ips >> 24 >= 224)
    told = np.flatnonzero(exact | likely | odd)
    place_of = {int(which[place]): int(place) for place in told}

    def make(at: int) -> Finding:
        place = place_of[at]
        if exact[place] or likely[place]:
            certainty = "certain" if exact[place] and odd[place] else "likely"
            # A wrong zone moves the first id, not this moment: the address holds milliseconds since 1970.
            started = int(first_ms[place] + limits.WIDEST_ZONE_MS - shifted[place])
            return of_process(processes, at, "fake_host", certainty=certainty, started_at=_instant(started))
        hours = float(age[place]) / 3_600_000
        return of_process(processes, at, "fake_host", variant="odd", age_hours=hours, certainty="possible")

    mask = np.zeros(len(processes), bool)
    mask[which[told]] = True
    yield from each(processes, mask, "fake_host", make)


def wraps(processes: Processes) -> Iterator[Finding]:
    """counter_wrap: where an unrolled counter passed 65,535."""
    count = processes["wraps"]
    certain = text_mask(processes.table["wraps_certain"])

    def make(at: int) -> Finding:
        mine = processes.points(at)
        order = mine.start + np.lexsort((processes.columns["position"][mine], processes.columns["chain"][mine]))
        counter, chain = processes.columns["counter"][order], processes.columns["chain"][order]
        at_wrap = np.flatnonzero((chain[1:] == chain[:-1]) & (counter[1:] < counter[:-1]))
        points = [int(order[place + side]) for place in at_wrap[: limits.MOST_IDS // 2] for side in (0, 1)]
        more = {} if certain[at] else {"variant": "uncertain"}
        return of_process(
            processes, at, "counter_wrap", int(count[at]), ids=processes.ids(at, points),
            sent_at=processes.moments(points), when=processes.between(points[1::2]), **more,
        )  # fmt: skip

    yield from each(processes, (count > 0) & countable(processes), "counter_wrap", make, count)


def impossible(processes: Processes, explained: np.ndarray, at: datetime) -> Iterator[Finding]:
    """elapsed_impossible: more than a month, where no clock that was set back `explained` it (a mask of processes).

    `at` is now: what is read as the low 32 bits of the clock (the ErQing .NET client) is dated before it.
    """
    now, official = int(at.timestamp() * 1000), java(processes)
    distinct = processes["distinct"]
    early = np.where(little_endian(processes), clocks.DAY_MS + clocks.HOUR_MS, 0)
    last, possible = processes["last_elapsed_ms"], processes["last_possible_elapsed_ms"]
    raw = numbers(processes.counters, "elapsed_ms")

    def low_bits(value: int) -> str:
        return _instant(now - (now - value) % rules.ELAPSED_WRAP)

    def kind(at: int, wrong: np.ndarray, elapsed: np.ndarray) -> dict[str, Any]:
        """What wrote it, as a variant of the words, where more than the number tells."""
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
        count = int(processes["ids"][at]) if every else max(1, len(points))
        more: dict[str, Any] = {} if every or processes.whole[at] else {"at_least": True}
        if len(elapsed):
            more |= kind(at, wrong, elapsed)
        return of_process(
            processes, at, "elapsed_impossible", count, ids=processes.ids(at, points),
            elapsed_ms=[int(value) for value in elapsed[wrong][: limits.MOST_IDS]], **more,
        )  # fmt: skip

    yield from each(processes, last > limits.LONGEST_ELAPSED_MS + early, "elapsed_impossible", make)


def expired(processes: Processes, at: datetime, zone: tzinfo) -> Iterator[Finding]:
    """expired: processes whose ids are older than the default retention."""
    limit = expired_before(at, KEPT_HOURS, DELETES_AT, zone)
    gone = int(limit.timestamp() * 1_000_000)
    first, last = processes["first_sent_at"], processes["last_sent_at"]
    times = numbers(processes.counters, "sent_at")

    def make(place: int) -> Finding:
        more: dict[str, Any] = {"cutoff": limit.isoformat(timespec="minutes")}
        count = int(processes["ids"][place])
        if last[place] >= gone:
            mine = times[processes.points(place)]
            count = max(1, int(((mine != -1) & (mine < gone)).sum()))
            more["at_least"] = True  # points stand for ids, and one id may occur many times
        return of_process(processes, place, "expired", count, **more)

    yield from each(processes, dated(processes) & (first != -1) & (first < gone), "expired", make)


def expired_clients(clients: pa.Table, at: datetime, zone: tzinfo, listed: Listed) -> Iterator[Finding]:
    """expired, for the 5.x clients."""
    limit = expired_before(at, KEPT_HOURS, DELETES_AT, zone)
    old = pc.less(clients["last_sent_at"], pa.scalar(limit, clients.schema.field("last_sent_at").type))
    found = clients.filter(pc.fill_null(old, False)).sort_by([("ids", "descending")])
    ids = numbers(found, "ids")
    told = listed.among(("expired", "clients"), ids)
    if told < len(ids):
        yield rest("expired", len(ids) - told, int(ids[told:].sum()))
    for row in found.slice(0, told).to_pylist():
        evidence = {
            "cutoff": limit.isoformat(timespec="minutes"), "client": {"mac": row["mac"], "pid": row["pid"]},
        }  # fmt: skip
        yield Finding(
            "expired", f"{row['mac']} pid {row['pid']}", row["ids"], evidence,
            since=row["first_sent_at"], until=row["last_sent_at"],
        )  # fmt: skip


def _proven(table: pa.Table) -> np.ndarray:
    said = text_mask(pc.is_in(table["zone_source"], value_set=pa.array(["born", "prefix"])))
    # The Rust and Elixir clients (loader 0) count months in UTC wherever they run: that says nothing of a clock.
    return said & ~(text_mask(pc.equal(table["loader"], "00000000")) & text_mask(pc.equal(table["zone"], "+00:00")))


OF_ZONES = ("loader", "ids", "zone", "zone_source")


def usual_zone(tables: Iterable[pa.Table], given: str | None) -> tuple[str, bool] | None:
    """The zone that all should be in, and whether it was given; else the proven zone of most ids, None without one."""
    if given is not None:
        return given, True
    counted: Counter[str] = Counter()
    for table in tables:
        if "zone" in table.column_names:
            mine = table.filter(pa.array(_proven(table))).group_by("zone").aggregate([("ids", "sum")])
            counted.update(dict(zip(mine["zone"].to_pylist(), mine["ids_sum"].to_pylist(), strict=True)))
    return (min(counted, key=lambda zone: (-counted[zone], zone)), False) if counted else None


def zones(processes: Processes, usual: str, given: bool) -> Iterator[Finding]:
    """zone_mismatch: zones that lines prove, against the one that was given or that most ids are from."""
    table = processes.table
    if "zone" not in table.column_names:
        return
    # Relatives of the Go client count from the month in UTC, wherever their host stands.
    by_design = whole_seconds(processes) & text_mask(pc.equal(table["zone"], "+00:00"))
    wrong = _proven(table) & dated(processes) & ~by_design & ~text_mask(pc.equal(table["zone"], usual))

    def make(at: int) -> Finding:
        row = processes.row(at)
        more: dict[str, Any] = {"variant": "given"} if given else {}
        return of_process(
            processes, at, "zone_mismatch", zone=row["zone"], usual_zone=usual, zone_source=row["zone_source"], **more
        )

    yield from each(processes, wrong, "zone_mismatch", make)
