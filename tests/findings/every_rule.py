"""Every rule over tables at hand: what `judge` of `idcore/spark/job.py` does of a scan's folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, tzinfo
from pathlib import Path

import pyarrow as pa

from idcore.answers.findings import all_rules
from idcore.answers.findings.all_rules import Finding
from idcore.scan.lines import LineEvidence


def find_all(
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
    scan = all_rules.Scan(all_rules.Rows(tables, written or {}, check), at, zone, zone_source, line_evidence)
    return all_rules.of_groups(scan, all_rules.of_ids(scan))
