"""Findings of runs that lie in files: the same as of those in memory, each row read so many times, ended when told."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from idcore.answers.findings import all_rules, limits
from idcore.answers.findings.large import Rows
from idcore.answers.findings.model import to_table
from idcore.scan.local import scan_local
from idcore.scan.months import month_rows
from idcore.sources.inputs import list_files
from idcore.spark.job import ScanOptions, judge
from idcore.spark.watch import Cancelled
from tests.findings.every_rule import find_all

pytestmark = pytest.mark.quick

AT = datetime(2026, 11, 21, 12, tzinfo=UTC)
DAY_20 = 20 * 86_400_000  # the 21st of November


def uniq(elapsed: int, counter: int, host: str = "0A000007", pid: int = 4711) -> str:
    return f"{host}{pid:04X}18B4AAC2{elapsed:08X}{counter % 65_536:04X}"


def test_a_run_that_lies_in_files_is_judged_like_one_in_memory(tmp_path: Path) -> None:
    lines = [uniq(DAY_20 + 50 * n, counter + n, pid=1) for n in range(80) for counter in (100, 9_000)]
    lines += [uniq(DAY_20 + 50 * n - (900 if n >= 60 else 0), n, pid=2) for n in range(120)]
    lines += [uniq(DAY_20 + 50 * n, n % 70 + 5 * (n < 70), pid=3) for n in range(140)]
    lines += [uniq(DAY_20 + 50 * n, 65_500 + n, pid=4, host="7F000001") for n in range(100) if n != 77]
    path = tmp_path / "x.log"
    path.write_text("\n".join(lines))
    tables = scan_local([str(path)], month_rows(AT, UTC))
    whole = find_all(tables, AT, UTC)
    assert {"shared_fingerprint", "clock_back", "restart", "counter_wrap", "missing_ids"} <= {x.code for x in whole}
    written: dict[str, list[Path]] = {}
    halves = dict(tables)
    for name, cut in (("processes", 2), ("counters", 150)):
        written[name] = [tmp_path / f"{name}.parquet"]
        pq.write_table(tables[name].slice(cut), written[name][0])
        halves[name] = tables[name].slice(0, cut)
    assert to_table(find_all(halves, AT, UTC, written=written)).equals(to_table(whole))


def in_pieces(
    lines: list[str], folder: Path, monkeypatch: pytest.MonkeyPatch, rows: int = 100
) -> tuple[dict[str, pa.Table], dict[str, list[Path]]]:
    """The tables of a log, all of processes and counters in files, read so many rows at a time."""
    path = folder / "x.log"
    path.write_text("\n".join(lines))
    tables = scan_local([str(path)], month_rows(AT, UTC))
    written: dict[str, list[Path]] = {}
    for name in ("processes", "counters"):
        written[name] = [folder / f"{name}.parquet"]
        pq.write_table(tables[name], written[name][0])
        tables[name] = tables[name].slice(0, 0)
    monkeypatch.setattr("idcore.answers.findings.large._ROWS", rows)
    return tables, written


def test_each_row_of_a_large_run_is_read_a_fixed_number_of_times(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: Counter[str] = Counter()
    pieces = Rows.pieces

    def counted(self: Rows, name: str, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        for table in pieces(self, name, columns):
            read[name] += len(table)
            yield table

    monkeypatch.setattr(Rows, "pieces", counted)
    lines = [uniq(DAY_20 + 40 * n, 7 * n, pid=pid) for pid in range(1, 1001) for n in range(2)]
    tables, written = in_pieces(lines, tmp_path, monkeypatch)
    found = find_all(tables, AT, UTC, written=written)
    assert (read["processes"], read["counters"]) == (3 * 1000, 2000)
    (more,) = [item for item in found if item.code == "missing_ids" and "more" in item.evidence]
    assert sum(item.count for item in found if item.code == "missing_ids") == 6 * 1000
    assert (more.evidence["variant"], more.evidence["more"]) == ("more", 1000 - limits.MOST_SUBJECTS)


@pytest.mark.slow
def test_what_is_not_looked_at_is_counted_and_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [uniq(DAY_20 + 50 * n, n % 70 + 5 * (n < 70), pid=pid) for pid in range(1, 8) for n in range(140)]
    back = [DAY_20 + 50 * n - (900 if n >= 60 else 0) for n in range(120)]
    lines += [uniq(elapsed, n, pid=pid) for pid in range(20, 26) for n, elapsed in enumerate(back)]
    tables, written = in_pieces(lines, tmp_path, monkeypatch, rows=3)
    looked = find_all(tables, AT, UTC, written=written)
    assert not [item for item in looked if item.evidence.get("variant") == "unseen"]
    monkeypatch.setattr(limits, "MOST_EXAMINED", 4)
    monkeypatch.setattr(limits, "MOST_SUSPECTS", 6)
    found = find_all(tables, AT, UTC, written=written)
    for code in ("restart", "clock_back"):
        (unseen,) = [item for item in found if (item.code, item.evidence.get("variant")) == (code, "unseen")]
        listed = [item for item in found if item.code == code and item is not unseen]
        whole = [item for item in looked if item.code == code]
        assert 0 < len(listed) == len(whole) - unseen.evidence["more"]
        assert "only counted, not examined" in unseen.say("meaning")
    seen = {item.subject for item in found if item.code == "restart"}
    assert sum(item.count for item in found if item.code == "restart" and item.subject in seen) == 7


def test_an_address_of_many_growths_is_compared_as_far_as_there_is_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "MOST_BROKERS", 2)
    lines = [f"0A09000{host}00002A9F{(host << 34) + 1000 * n:016X}" for host in range(1, 6) for n in range(20 + host)]
    path = tmp_path / "x.log"
    path.write_text("\n".join(lines))
    found = find_all(scan_local([str(path)], month_rows(AT, UTC)), AT, UTC)
    (unseen,) = [item for item in found if item.code == "broker_moved"]
    assert (unseen.evidence["variant"], unseen.count, unseen.severity) == ("unseen", 3, "info")


class Stopped(Exception):
    """What a check raises here."""


@pytest.mark.parametrize("moments", [0, 5, 12])
def test_judging_ends_when_it_is_told_to(moments: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [uniq(DAY_20 + 40 * n, n, pid=pid) for pid in range(1, 400) for n in range(2)]
    tables, written = in_pieces(lines, tmp_path, monkeypatch)
    left = [moments]

    def check() -> None:
        left[0] -= 1
        if left[0] < 0:
            raise Stopped

    with pytest.raises(Stopped):
        find_all(tables, AT, UTC, written=written, check=check)
    assert left == [-1]


def test_a_cancelled_scan_ends_while_it_is_judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tables, written = in_pieces([uniq(DAY_20 + n, n, pid=n) for n in range(1, 300)], tmp_path, monkeypatch)
    stop, options = threading.Event(), ScanOptions(zone=UTC, at=AT)
    files = list_files([str(tmp_path / "x.log")])
    assert all_rules.of_groups(*judge(dict(tables), written, options, files, stop)) == []
    pieces = Rows.pieces

    def pressed(self: Rows, name: str, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        for table in pieces(self, name, columns):
            yield table
            stop.set()

    monkeypatch.setattr(Rows, "pieces", pressed)
    with pytest.raises(Cancelled):
        judge(tables, written, options, files, stop)
