"""Findings from the address and the pid of each process; and which clients write what. Reads no chain and no time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from idcore.answers.findings import limits
from idcore.answers.findings.evidence import FindingEvidence, HostEvidence
from idcore.answers.findings.finding_builder import largest_findings, of_process
from idcore.answers.findings.model import Finding
from idcore.answers.findings.processes import Processes, text_mask
from idcore.answers.findings.registry import INFO, WARNING, Rule, Scan, register
from idcore.ids import clock as clocks
from idcore.ids import rules
from idcore.ids.makers import KNOWN_CONSTANTS, MAKERS
from idcore.ids.model import host_bytes

_JAVA_CONSTANTS = pa.array(
    [f"{loader:08X}" for loader, code in KNOWN_CONSTANTS.items() if code.startswith("java")], pa.string()
)
# JVMs that came years after the clients 4.6.0 and 4.6.1: a pid of 0 is rather a process id of 65,536.
_NEWER_JVMS = pa.array([code for code in MAKERS if code.startswith(("java_jdk17", "java_jdk21", "java_jdk25"))])


def java(processes: Processes) -> np.ndarray:
    """Which processes are Java for certain: their loader is in HotSpot's stream, or is a constant of a JDK."""
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
    """Which processes count from the month: what others write there is not a date, and may fall at any time."""
    maker = processes.table["maker"]
    names = pa.array(("php", "python_tt67wq", "dotnet"))
    uuid = text_mask(pc.equal(maker, "dotnet_uuid")) & (processes["distinct"] == 1)  # no two UUIDs begin alike
    return ~text_mask(pc.is_in(maker, value_set=names)) & ~uuid


def countable(processes: Processes) -> np.ndarray:
    """Which counters can be followed: the little-endian C++ client cuts it to eight bits, and IDs of several months
    that are not told apart have no order."""
    return ~little_endian(processes) & ~of_several_months(processes)


def of_several_months(processes: Processes) -> np.ndarray:
    """Which processes have IDs of several months that are not told apart; tables of older versions do not say it."""
    if "months_mixed" not in processes.table.column_names:
        return np.zeros(len(processes), bool)
    return text_mask(processes.table["months_mixed"])


def pid_erased(processes: Processes, _: Scan) -> Iterator[Finding]:
    """pid_erased: pid 0 of a Java client, which newer JVMs hardly ever have for that reason."""
    zero = java(processes) & (processes["pid"] == 0)
    newer = text_mask(pc.is_in(processes.table["maker"], value_set=_NEWER_JVMS))

    def erased(at: int) -> Finding:
        return of_process(processes, at, "pid_erased")

    def whole(at: int) -> Finding:
        return of_process(processes, at, "pid_erased", variant="multiple", certainty="possible")

    yield from largest_findings(processes, zero & ~newer, "pid_erased", erased)
    yield from largest_findings(processes, zero & newer, "pid_erased", whole, severity=INFO)


def loopback(processes: Processes, _: Scan) -> Iterator[Finding]:
    """loopback_host. Java takes the address of an interface; others what the name of their host resolves to."""
    host, official = processes.table["host"], java(processes)
    named = text_mask(pc.equal(host, limits.OWN_NAME))

    def make(at: int) -> Finding:
        kind = "own_name" if named[at] else None if official[at] else "not_java"
        return of_process(processes, at, "loopback_host", **_variant(kind))

    mask = text_mask(pc.or_(pc.starts_with(host, "127."), pc.equal(host, "::1")))
    yield from largest_findings(processes, mask, "loopback_host", make)


def link_local(processes: Processes, _: Scan) -> Iterator[Finding]:
    """link_local_host. Only client 4.6.0 writes fe80::/10; 169.254/16 is of an adapter that got no address."""
    host = processes.table["host"]
    wide = text_mask(pc.match_substring_regex(host, "^fe[89ab][0-9a-f]:"))

    def make(at: int) -> Finding:
        return of_process(processes, at, "link_local_host", **_variant(None if wide[at] else "ipv4"))

    yield from largest_findings(processes, wide | text_mask(pc.starts_with(host, "169.254.")), "link_local_host", make)


def container(processes: Processes, _: Scan) -> Iterator[Finding]:
    """The rule container_host."""
    host = processes.table["host"]
    gateway = text_mask(pc.equal(host, limits.DOCKER_GATEWAY))
    inside = text_mask(pc.starts_with(host, limits.DOCKER_BRIDGE)) & (processes["pid"] < limits.CONTAINER_PIDS)

    def make(at: int) -> Finding:
        return of_process(processes, at, "container_host", **_variant("gateway" if gateway[at] else None))

    yield from largest_findings(processes, inside | gateway, "container_host", make)


def _variant(kind: str | None) -> dict[str, Any]:
    return {"variant": kind} if kind else {}


def fake_hosts(processes: Processes, scan: Scan) -> Iterator[Finding]:
    """fake_host: an address that is a time."""
    table = processes.table
    layout, host = table["layout"], table["host"]
    go = text_mask(pc.match_substring_regex(host, r"^(4[89]|5[0-7])(\.(4[89]|5[0-7])){3}$"))
    go &= text_mask(pc.equal(table["loader"], "00000000"))
    yield from largest_findings(
        processes, go, "fake_host", lambda at: of_process(processes, at, "fake_host", variant="go")
    )
    nothing = text_mask(pc.equal(host, "0.0.0.0")) & ~java(processes)
    rubbish = little_endian(processes) & text_mask(pc.starts_with(host, "0.")) & ~nothing

    def of_name(at: int) -> Finding:
        return of_process(processes, at, "fake_host", variant="unresolved" if nothing[at] else "not_ipv4")

    yield from largest_findings(processes, nothing | rubbish, "fake_host", of_name)
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
    sure |= scan.zone_source == "given"
    exact = sure & (age <= limits.FAKE_HOST_MS)
    # Whole half hours of zone error either way, less the seconds between the start and the first id.
    shifted = (age + limits.WIDEST_ZONE_MS) % rules.ELAPSED_WRAP
    near = (shifted <= 2 * limits.WIDEST_ZONE_MS + limits.FAKE_HOST_ASSUMED_MS) & (
        shifted % limits.ZONE_STEP_MS <= limits.FAKE_HOST_ASSUMED_MS
    )
    likely = near & (counter < limits.FAKE_HOST_FIRST_COUNTER)
    odd = (ips >> 24 == 0) | (ips >> 24 >= 224)
    suspects = np.flatnonzero(exact | likely | odd)
    place_of = {int(which[place]): int(place) for place in suspects}

    def make(at: int) -> Finding:
        place = place_of[at]
        if exact[place] or likely[place]:
            certainty = "certain" if exact[place] and odd[place] else "likely"
            # A wrong zone moves the first id, not this moment: the address holds milliseconds since 1970.
            started = int(first_ms[place] + limits.WIDEST_ZONE_MS - shifted[place])
            began = clocks.from_ms(started).isoformat(timespec="milliseconds")
            return of_process(processes, at, "fake_host", certainty=certainty, started_at=began)
        hours = float(age[place]) / 3_600_000
        return of_process(processes, at, "fake_host", variant="odd", age_hours=hours, certainty="possible")

    mask = np.zeros(len(processes), bool)
    mask[which[suspects]] = True
    yield from largest_findings(processes, mask, "fake_host", make)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FakeHostEvidence(FindingEvidence):
    """Of an address that is a time, or that no host has."""

    variant: str | None = None
    started_at: str | None = None  # the moment that the address is
    age_hours: float | None = None  # of that moment, where it is none
    process: Mapping[str, Any] | None = None
    ids: Sequence[str] = ()
    places: Sequence[Mapping[str, Any]] = ()
    born_hosts: str | None = None
    also: Sequence[str] = ()


register(
    Rule(
        "pid_erased",
        WARNING,
        60,
        "pid_erased/v4",
        of_processes=pid_erased,
        variants=("multiple",),
        info_variants=("multiple",),
    ),
    Rule(
        "fake_host",
        WARNING,
        70,
        "fake_host/java",
        evidence=FakeHostEvidence,
        of_processes=fake_hosts,
        variants=("unresolved", "not_ipv4", "go", "odd"),
        also=("born_hosts",),
        lines=("born_hosts",),
    ),
    Rule(
        "loopback_host",
        WARNING,
        80,
        "loopback_host/client_4_8",
        evidence=HostEvidence,
        of_processes=loopback,
        variants=("own_name", "not_java"),
        also=("born_hosts",),
        lines=("born_hosts",),
    ),
    Rule(
        "link_local_host",
        WARNING,
        90,
        "link_local_host/v6",
        evidence=HostEvidence,
        of_processes=link_local,
        variants=("ipv4",),
        also=("born_hosts",),
        lines=("born_hosts",),
    ),
    Rule(
        "container_host",
        INFO,
        40,
        "container_host/pid_1",
        evidence=HostEvidence,
        of_processes=container,
        variants=("gateway",),
        is_usual=True,
        also=("born_hosts",),
        lines=("born_hosts",),
    ),
)
