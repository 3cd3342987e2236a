"""What `python -m idcore scan` tells a person, from tables as they lie in a run folder."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from idcore.__main__ import main
from idcore.cli import scan
from idcore.cli.scan import _name_failures
from idcore.presentation.terminal import scans
from idcore.scan.schemas import SCHEMAS

OBEYED = "\x1b]0;owned\x07"


def test_a_name_that_is_not_there_starts_no_spark_and_writes_no_tables(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scan, "_start_spark", lambda: pytest.fail("Spark is started"))
    typo, out = tmp_path / "typo.log", tmp_path / "out"
    assert main(["scan", str(typo), str(tmp_path / "*.gz"), "--out", str(out)]) == 1
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 2 and said[0].startswith(f"idcore: {typo}: ") and not out.exists()


def test_a_closed_standard_output_is_said_in_a_line() -> None:
    words = ["sh", "-c", 'exec "$0" -m idcore decode AC110001473C7D4991AD336AEA5703E0 >&-', sys.executable]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, "idcore: standard output is closed\n")


def written(folder: Path, **rows: dict[str, Any]) -> Path:
    for name in ("processes", "brokers", "refused", "lookalikes", "findings", "files"):
        (folder / name).mkdir(parents=True)
        table = pa.Table.from_pylist([rows[name]] if name in rows else [], schema=SCHEMAS[name])
        pq.write_table(table, folder / name / "part-00000.parquet")
    return folder


def summed(**facts: Any) -> dict[str, Any]:
    counts = ("files", "text_bytes", "ids", "distinct", "uniq", "offset", "client", "refused")
    summary: dict[str, Any] = dict.fromkeys((*counts, "hosts", "processes", "brokers", "segments"), 0)
    summary |= {"start_seconds": 0.0, "seconds": 0.0, "findings": {"error": 0, "warning": 0, "info": 0}}
    summary["assumed"] = {"zone": "+08:00", "zone_name": None, "zone_source": "given"}
    return summary | facts


def described(summary: dict[str, Any], out: Path) -> str:
    return "\n".join(scans.summary(summary, out))


def test_no_findings_are_not_said_to_prove_that_all_is_well(tmp_path: Path) -> None:
    out = written(tmp_path)
    shown = described(summed(ids=1), out)
    assert "No rule found a problem in " in shown and "This does not prove that every message arrived." in shown
    nothing = described(summed(), out)
    assert "No rule found" not in nothing and "nothing to check" in nothing


def test_the_summary_names_kinds_and_sizes_as_the_console_does(tmp_path: Path) -> None:
    refused = {"reason": "lower_case", "ids": 3, "sample": "ab" * 16, "file": "x.log", "byte": 7}
    told = described(summed(ids=5, client=2, text_bytes=6_690_000), written(tmp_path, refused=refused))
    assert "no files · 6.4 MiB · 5 ID occurrences · " in told and "5.x msgId 2." in told
    assert "x.log +7\n  To decode what is all in lower case: --case any" in told
    alike = {"reason": "uuid", "label": None, "ids": 3, "distinct": 3, "sample": "AB" * 16, "file": "y.log", "byte": 7}
    told = described(summed(ids=5, lookalikes=3), written(tmp_path / "alike", lookalikes=alike))
    assert "3 strings rejected" in told and "UUIDs" in told
    assert "--lookalikes ids" in told


def test_another_refusal_has_no_such_way_out(tmp_path: Path) -> None:
    refused = {"reason": "port", "ids": 3, "sample": "AB" * 16, "file": "x.log", "byte": 7}
    assert "--case" not in described(summed(ids=5), written(tmp_path, refused=refused))


def test_a_terminal_is_sent_nothing_that_it_would_obey(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    summary = summed(findings={"error": 1})
    values = {"subject": "AB", "count": 2, "variant": "topics", "topics": f"Paid, {OBEYED}", "messages": 2}
    finding = {"code": "collision", "severity": "error", "subject": "AB", "count": 2}
    finding |= {"values": json.dumps(values), "evidence": json.dumps(values), "certainty": "certain"}
    unread = {"file": "x.zip", "error": "encrypted", "error_values": json.dumps({"name": OBEYED})}
    out = written(tmp_path, findings=finding, files=unread)
    told = described(summary, out)
    assert "Paid, \\x1b]0;owned\\x07" in told and "Error: One ID" in told
    assert _name_failures(out) == 1
    told += capsys.readouterr().err
    assert "x.zip: \\x1b]0;owned\\x07 is encrypted" in told
    assert not set(OBEYED) & {"\x1b", "\x07"} & set(told)


@pytest.mark.parametrize(("speed", "said"), [(215_000_000 / 49, "4.2 MiB/s"), (None, "1 1 1")])
def test_brokers_are_shown_with_their_bytes_per_second(speed: float | None, said: str, tmp_path: Path) -> None:
    numbers = dict.fromkeys(("port", "ids", "distinct", "segments", "min_offset", "max_offset"), 1)
    broker = {"address": "10.0.0.1:10911", "host": "10.0.0.1", "bytes_per_second": speed, **numbers}
    lines = [line.split() for line in described(summed(ids=1), written(tmp_path, brokers=broker)).splitlines()]
    (row,) = [at for at, line in enumerate(lines) if line and line[0] == "10.0.0.1:10911"]
    assert said in " ".join(lines[row])
