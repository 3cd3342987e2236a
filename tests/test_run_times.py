"""A link from a run dates an id as the run's own pages do."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from idcore.ids import identify
from idcore.ids.clock import to_ms
from idcore.runs import run_times
from idcore.runs.runs import Run, Runs
from idcore.scan.local import scan_local
from idcore.scan.months import month_rows

JAVA = "AC110001473C7D4991AD9A7EC8D8%04X"
LOG = f"""2026-10-31 00:00:00,217 SendResult [sendStatus=SEND_OK, msgId={JAVA % 1}, offsetMsgId=null]
2026-10-31 00:00:01,000 MessageExt [bornTimestamp=1793376000216, properties={{UNIQ_KEY={JAVA % 1}}}]
2026-11-22T02:10:26.480Z msgId=281E140A040025AB0000AA42FA710100
2026-11-22T01:53:47.500Z msgId=0102FC0000000165DA0B1455AB00000000
2026-11-22T01:54:24.000Z msgId=01A6AADA3BF00C689F6c8e449800000001
"""
MADE = {
    JAVA % 1: "2026-10-30T16:00:00.216+00:00",
    "281E140A040025AB0000AA42FA710100": "2026-11-22T02:10:26.474+00:00",
    "0102FC0000000165DA0B1455AB00000000": "2026-11-22T01:53:47+00:00",
    "01A6AADA3BF00C689F6c8e449800000001": "2026-11-22T01:54:23+00:00",
}


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return scanned(LOG, tmp_path)


def scanned(text: str, tmp_path: Path) -> Run:
    """A run of a log, with what dates its IDs."""
    (tmp_path / "x.log").write_text(text)
    made = Runs(tmp_path / "runs").create("x")
    tables = scan_local([str(tmp_path / "x.log")], month_rows(datetime(2026, 11, 23, tzinfo=UTC), UTC))
    for name in ("processes", "clients"):
        (made.path / name).mkdir()
        pq.write_table(tables[name], made.path / name / "0.parquet")
    (made.path / "summary.json").write_text(json.dumps({}))
    return made


def test_each_id_has_the_time_of_its_process_in_the_run(run: Run) -> None:
    for text, made in MADE.items():
        best = identify(text).best
        assert best is not None
        assumed = ("zone",) if best.id.layout.early else ()  # its hour says nothing of zones
        assert run_times.sent_ms(run, best) == (to_ms(datetime.fromisoformat(made)), assumed), text


def test_an_id_that_is_not_in_the_run_has_none(run: Run) -> None:
    best = identify("0A64F892048A18B4AAC20C6972005C01").best
    assert best is not None and run_times.sent_ms(run, best) is None
    offset = identify("AC11000100002A9F00000000000E8580").best
    assert offset is not None and run_times.sent_ms(run, offset) is None
