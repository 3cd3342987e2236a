"""Tables of a scan to findings: what went wrong, with whom, and what proves it. Reads no file and no id but theirs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, tzinfo
from pathlib import Path

import pyarrow as pa

from idcore.findings import brokers, chains, copies, foreign, hosts, missing
from idcore.findings.batches import Batches
from idcore.findings.evidence import Processes
from idcore.findings.large import Rows
from idcore.findings.model import CODES, SEVERITIES, Finding, to_table, worst_first
from idcore.findings.quota import Listed
from idcore.ids.clock import zone_text
from idcore.scan.lines import LineEvidence


def find(
    tables: Mapping[str, pa.Table],
    at: datetime,
    zone: tzinfo,
    zone_source: str = "assumed",
    written: Mapping[str, Sequence[Path]] | None = None,
    line_evidence: LineEvidence | None = None,
    check: Callable[[], None] = lambda: None,
) -> list[Finding]:
    """All findings of one scan, worst first. `at` is now; `zone` is what the scan read times in, by `zone_source`.

    `written`: Parquet files with further rows, by table, of a run too large to be held at once. `line_evidence`:
    what the lines say of copies and names, where they were looked at. `check` is called often and may raise.
    """
    rows = Rows(tables, written or {}, check)
    given = zone_text(at.astimezone(zone).utcoffset()) if zone_source == "given" else None
    usual = hosts.usual_zone(rows.pieces("processes", hosts.OF_ZONES), given)
    stored = brokers.Brokers(rows)
    seeds = foreign.Seeds()
    batches = Batches(rows.pieces("copies"), line_evidence)
    found: list[Finding] = []
    for processes in rows.processes():
        for some in _of_processes(processes, at, zone, zone_source, usual, batches):
            check()
            found += some
        seeds.add(processes)
        stored.clear_producers(processes.table)
        found = worst_first(found)
    found += seeds.judge()
    listed = Listed()
    for clients in rows.pieces("clients"):
        found += hosts.expired_clients(clients, at, zone, listed)
        found = worst_first(found)
    found += stored.internal()
    moved = list(stored.moved())
    found += moved
    found += copies.judge(rows.pieces("copies"), rows.count("copies"), moved, line_evidence)
    if line_evidence is not None:
        found += copies.confusion(list(line_evidence.names.values()))
    return [one.in_zone(zone) for one in worst_first(chains.made_twice(found))]


def _of_processes(
    processes: Processes,
    at: datetime,
    zone: tzinfo,
    zone_source: str,
    usual: tuple[str, bool] | None,
    batches: Batches,
) -> Iterator[Sequence[Finding]]:
    if not len(processes):
        return
    found, clock_back = chains.judge(processes)
    yield found
    yield list(hosts.addresses(processes))
    yield list(hosts.fake_hosts(processes, zone_source == "given"))
    # Where a clock was set back the order, so the gaps, are not known.
    yield list(missing.judge(processes, hosts.countable(processes) & ~clock_back, batches))
    yield list(hosts.wraps(processes))
    yield list(foreign.judge(processes))
    yield list(hosts.impossible(processes, clock_back, at))
    yield list(hosts.expired(processes, at, zone))
    if usual is not None:
        yield list(hosts.zones(processes, *usual))


__all__ = ["CODES", "SEVERITIES", "Finding", "find", "to_table", "worst_first"]
