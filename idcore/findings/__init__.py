"""Tables of a scan to findings: what went wrong, with whom, and what proves it. Reads no file and no id but theirs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, tzinfo
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from idcore.findings import brokers, chains, copies, hosts, large
from idcore.findings.evidence import Processes
from idcore.findings.model import CODES, SEVERITIES, Finding, to_table, worst_first
from idcore.ids.clock import zone_text
from idcore.scan.lines import Told


def find(
    tables: Mapping[str, pa.Table],
    at: datetime,
    zone: tzinfo,
    zone_source: str = "assumed",
    written: Mapping[str, Sequence[Path]] | None = None,
    told: Told | None = None,
) -> list[Finding]:
    """All findings of one scan, worst first. `at` is now; `zone` is what the scan read times in, by `zone_source`.

    `written`: Parquet files with further rows, by table, of a run that is too large to be held at once. `told`:
    what the lines say of copies and names, where they were looked at.
    """
    given = zone_text(at.astimezone(zone).utcoffset()) if zone_source == "given" else None
    found: list[Finding] = []
    little: set[str] = set()
    usual = hosts.usual_zone(large.tables_of(tables, "processes", written), given)
    for processes in large.units(tables, written or {}):
        found += _of_processes(processes, at, zone, zone_source, usual)
        little |= _turned_round(processes.table)
    growth = tables["growth"]
    for clients in large.tables_of(tables, "clients", written):
        found += hosts.expired_clients(clients, at, zone)
    for brokers_table in large.tables_of(tables, "brokers", written):
        found += brokers.internal(brokers_table, growth, little)
    moved = list(brokers.moved(tables["brokers"], growth))
    found += moved
    for copies_table in large.tables_of(tables, "copies", written):
        found += copies.judge(copies_table, moved, told)
    if told is not None:
        found += copies.confusion(list(told.names.values()))
    return worst_first(found)


def _of_processes(
    processes: Processes, at: datetime, zone: tzinfo, zone_source: str, usual: tuple[str, bool] | None
) -> list[Finding]:
    if not len(processes):
        return []
    found, clock_back = chains.judge(processes)
    found += hosts.addresses(processes)
    found += hosts.fake_hosts(processes, zone_source == "given")
    found += hosts.missing(processes, clock_back)
    found += hosts.wraps(processes)
    found += hosts.foreign(processes)
    found += hosts.impossible(processes, clock_back, at)
    found += hosts.expired(processes, at, zone)
    if usual is not None:
        found += hosts.zones(processes, *usual)
    return found


def _turned_round(processes: pa.Table) -> set[str]:
    """Addresses of little-endian producers as some of their ids show them when they are read as offset ids."""
    little = processes.filter(pc.equal(processes["layout"], "uniq_v4_le"))
    return {".".join(reversed(host.split("."))) for host in little["host"].to_pylist()}


__all__ = ["CODES", "SEVERITIES", "Finding", "find", "to_table", "worst_first"]
