"""Tables of a scan to findings: what went wrong, with whom, and what proves it. Reads no file and no id but theirs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, tzinfo
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import pyarrow as pa

from idcore.findings import chains
from idcore.findings.large import Rows
from idcore.findings.model import Finding, to_table, worst_first
from idcore.findings.registry import RULES, SEVERITIES, Rule, Scan
from idcore.scan.lines import LineEvidence

# Every module here may hold rules: one that is new is found without being named.
for _module in iter_modules(__path__, f"{__name__}."):
    import_module(_module.name)


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

    `written`: Parquet files with further rows, by table, of a scan too large to be held at once. `line_evidence`: what
    the lines say of copies and names, where they were looked at. `check` is called often and may raise.
    """
    scan = Scan(Rows(tables, written or {}, check), at, zone, zone_source, line_evidence)
    of_processes = list(dict.fromkeys(rule.of_processes for rule in RULES.values() if rule.of_processes))
    of_scan = list(dict.fromkeys(rule.of_scan for rule in RULES.values() if rule.of_scan))
    found: list[Finding] = []
    for processes in scan.rows.processes():
        for judge in of_processes if len(processes) else ():
            check()
            found += judge(processes, scan)
        found = worst_first(found)
    for judge_all in of_scan:
        check()
        found += judge_all(scan)
    return [one.in_zone(zone) for one in worst_first(chains.made_twice(found))]


__all__ = ["RULES", "SEVERITIES", "Finding", "Rule", "find", "to_table", "worst_first"]
