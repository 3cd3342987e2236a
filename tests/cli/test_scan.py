"""What `python -m idcore scan` tells a person, from tables as they lie in a run folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from idcore.cli.scan import _name_failures, describe
from idcore.scan.schemas import SCHEMAS

OBEYED = "\x1b]0;owned\x07"


def written(folder: Path, **rows: dict[str, Any]) -> Path:
    for name in ("processes", "brokers", "refused", "findings", "files"):
        (folder / name).mkdir()
        table = pa.Table.from_pylist([rows[name]] if name in rows else [], schema=SCHEMAS[name])
        pq.write_table(table, folder / name / "part-00000.parquet")
    return folder


def test_a_terminal_is_sent_nothing_that_it_would_obey(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    counts = ("files", "text_bytes", "ids", "distinct", "uniq", "offset", "client", "refused")
    summary: dict[str, Any] = dict.fromkeys((*counts, "hosts", "processes", "brokers", "segments"), 0)
    summary |= {"start_seconds": 0.0, "seconds": 0.0, "findings": {"error": 1}}
    summary["assumed"] = {"zone": "+08:00", "zone_name": None, "zone_source": "given"}
    finding = {"code": "collision", "severity": "error", "meaning": f"topics (Paid, {OBEYED})", "advice": "Look."}
    out = written(tmp_path, findings=finding, files={"file": "x.zip", "error": f"{OBEYED} is encrypted"})
    told = describe(summary, out)
    assert "topics (Paid, \\x1b]0;owned\\x07)" in told and "error collision" in told
    assert _name_failures(out) == 1
    told += capsys.readouterr().err
    assert "x.zip: \\x1b]0;owned\\x07 is encrypted" in told
    assert not set(OBEYED) & {"\x1b", "\x07"} & set(told)
