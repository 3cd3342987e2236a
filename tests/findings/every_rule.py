"""Every rule over tables at hand: what `judge` of `idcore/spark/job.py` does of a scan's folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from pathlib import Path

import pyarrow as pa

from idcore.answers.findings import all_rules
from idcore.answers.findings.all_rules import Finding
from idcore.scan.lines import LineEvidence, look
from idcore.scan.local import scan_local
from idcore.scan.months import month_rows
from idcore.sources.inputs import list_files


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


def find_in(text: str, folder: Path, at: datetime, zone: tzinfo = UTC) -> tuple[list[Finding], LineEvidence]:
    """All findings of a log, which is written to `app.log` of a folder, and what its lines say."""
    path = folder / "app.log"
    path.write_text(text, encoding="utf-8")
    tables = scan_local([str(path)], month_rows(at, zone))
    told = look(list_files([str(path)]), tables["copies"]["msg_id"].to_pylist())
    return find_all(tables, at, zone, line_evidence=told), told
