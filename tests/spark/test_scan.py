"""The same tables through real Spark and Parquet: scan() against the twin, and against the scan without Spark."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from idcore.scan.local import scan_local
from idcore.scan.months import month_rows
from idcore.scan.schemas import CLOCK_MARKS
from idcore.spark.job import ScanOptions, scan
from tests.scan import logs, twin
from tests.scan.comparing import differences, same
from tests.scan.logs import AT

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark")]
Write = Callable[..., str]


def tables(folder: Path) -> dict[str, pa.Table]:
    return {path.name: pq.ParquetDataset(path).read() for path in folder.iterdir() if path.is_dir()}


@dataclass(frozen=True)
class Input:
    """Files, and the tables that the slow twin and a scan without Spark have of them."""

    parts: dict[str, bytes]
    want: dict[str, list[twin.Row]]
    local: dict[str, pa.Table]


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Input:
    folder = tmp_path_factory.mktemp("everything")
    parts = {str(folder / f"{i}.log"): log.data for i, log in enumerate(logs.everything(21)[:8:2])}
    for path, data in parts.items():
        Path(path).write_bytes(data)
    return Input(parts, twin.tables(parts, UTC, AT), scan_local(list(parts), month_rows(AT, UTC)))


@pytest.mark.parametrize("split", [4096, 1 << 20])
def test_a_scan_on_spark_equals_the_twin(split: int, everything: Input, tmp_path: Path) -> None:
    parts, want = everything.parts, everything.want
    total = sum(map(len, parts.values()))
    out = tmp_path / "out"
    summary = scan(list(parts), out, ScanOptions(zone=UTC, at=AT, split_size=split))
    found = tables(out)
    assert differences(found, want) == []
    # Findings, and the marks of processes that belong to them, are made behind the merge.
    unmarked = found | {"processes": found["processes"].drop_columns(list(CLOCK_MARKS))}
    local = everything.local | {"processes": everything.local["processes"].drop_columns(list(CLOCK_MARKS))}
    assert same(unmarked, local, but=["findings"]) == []
    assert json.loads((out / "summary.json").read_text()) == summary
    kinds = {
        kind: sum(r["ids"] for r in want[t])
        for kind, t in [("uniq", "processes"), ("offset", "brokers"), ("client", "clients")]
    }
    assert {kind: summary[kind] for kind in kinds} == kinds
    assert summary["ids"] == sum(kinds.values()) == sum(row["ids"] for row in want["files"])
    assert summary["refused"] == sum(row["ids"] for row in want["refused"])
    assert summary["distinct"] == sum(r["distinct"] for t in ("processes", "brokers", "clients") for r in want[t])
    assert (summary["files"], summary["bytes"], summary["text_bytes"]) == (len(parts), total, total)
    for name in ("processes", "hosts", "brokers", "segments"):
        assert summary[name] == len(want[name])


def test_splits_of_a_kilobyte_and_an_empty_input(on_disk: Write, tmp_path: Path) -> None:
    small = logs.mixed(22, 120).data
    for name, data in (("small", small), ("empty", b"")):
        path = on_disk(data, f"{name}.log")
        scan([path], tmp_path / name, ScanOptions(zone=UTC, at=AT, split_size=1024))
        assert differences(tables(tmp_path / name), twin.tables({path: data}, UTC, AT)) == []


def test_case_any_and_a_file_twice_on_spark(on_disk: Write, tmp_path: Path) -> None:
    data = logs.mixed(23, 300).data.lower()
    path = on_disk(data)
    scan([path, path], tmp_path / "out", ScanOptions(zone=UTC, at=AT, split_size=20_000, case="any"))
    assert differences(tables(tmp_path / "out"), twin.tables([(path, data)] * 2, UTC, AT, "any")) == []
