"""Jobs and runs as the console uses them: done, failed, cancelled, named, refused; nothing half-written."""

from __future__ import annotations

import json
import tarfile
import threading
import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from idcore.base.errors import CoreError
from idcore.runs.runs import RunError, Runs
from idcore.scan.lines import LineEvidence
from idcore.scan.local import scan_local
from idcore.scan.months import month_rows
from idcore.scan.schemas import ORDER
from idcore.sources.inputs import Split, deal
from idcore.spark import folder, job
from idcore.spark.background import start
from idcore.spark.job import ScanOptions, even, problem_of, scan
from idcore.spark.watch import Cancelled, Progress

ONE = b"msgId=0A42333A0DC818B4AAC246C290FD0000, offsetMsgId=0A42333A00002A9F000000000134F1F5\n"
OPTIONS = ScanOptions(zone=UTC, at=datetime(2026, 11, 21, tzinfo=UTC))
GIB = 1 << 30


@pytest.mark.usefixtures("spark")
def test_an_upload_is_shown_by_its_own_name_also_when_nothing_is_refused(tmp_path: Path) -> None:
    stored = tmp_path / "0001"
    stored.write_bytes(ONE)
    run = Runs(tmp_path / "runs").create("a paste")
    ended = start(run, [str(stored)], OPTIONS, {str(stored): "pasted text"}).wait(60)
    assert (ended.state, ended.error, run.state) == ("done", None, "done")
    assert run.table("files", ["file"]).to_pylist() == [{"file": "pasted text"}]
    assert run.table("refused").num_rows == 0
    assert run.summary is not None and (run.summary["uniq"], run.summary["offset"]) == (1, 1)
    assert run.table("growth").num_rows == 1


def test_an_archive_of_empty_members_is_not_read_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[object] = []
    monkeypatch.setattr(job.lines, "look", lambda *_: looked.append(1))
    with tarfile.open(tmp_path / "a.tar", "w") as packed:
        packed.addfile(tarfile.TarInfo("empty.log"))
    tables = scan_local([str(tmp_path / "a.tar")], month_rows(datetime(2026, 11, 21, tzinfo=UTC), UTC))
    assert tables["files"]["text_bytes"].to_pylist() == [0, 0]
    assert job.look(tables, OPTIONS, [], threading.Event()) == LineEvidence() and not looked


@pytest.mark.usefixtures("spark")
def test_a_file_that_is_gone_is_named_and_the_rest_is_done(tmp_path: Path) -> None:
    good = tmp_path / "good.log"
    good.write_bytes(ONE)
    summary = scan([str(tmp_path / "gone.log"), str(good)], tmp_path / "out", OPTIONS)
    assert (summary["files"], summary["failed_files"], summary["ids"]) == (2, 1, 2)


@pytest.mark.usefixtures("spark")
def test_tables_too_large_for_the_driver_are_written_by_the_tasks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "sparse.log"
    log.write_text(
        "".join(f"0A{n:06X}00FF18B4AAC2{n % 5_000:08X}0001 0B0000{n % 7:02X}00002A9F{n:016X}\n" for n in range(3_000))
    )
    whole = scan([str(log)], tmp_path / "whole", OPTIONS)
    monkeypatch.setattr(job, "SENT", 1)
    pieces = scan([str(log)], tmp_path / "pieces", OPTIONS)
    assert len(list((tmp_path / "pieces" / "processes").iterdir())) > 1, "the driver wrote it all"
    assert not (tmp_path / "pieces" / ".large").exists()
    timing = {"seconds", "start_seconds"}
    assert {k: v for k, v in whole.items() if k not in timing} == {k: v for k, v in pieces.items() if k not in timing}
    assert whole["processes"] == 3_000
    for name, order in ORDER.items():
        ours, theirs = (
            pq.read_table(tmp_path / out / name).sort_by([(c, "ascending") for c in order])
            for out in ("whole", "pieces")
        )
        assert ours.combine_chunks().equals(theirs.combine_chunks()), name


@pytest.mark.usefixtures("spark")
def test_a_cancelled_scan_writes_nothing(tmp_path: Path) -> None:
    log = tmp_path / "large.log"
    log.write_bytes(ONE * 400_000)
    stop = threading.Event()

    def at_once(progress: Progress) -> None:
        stop.set()

    with pytest.raises(Cancelled):
        scan([str(log)], tmp_path / "out", ScanOptions(zone=UTC, at=OPTIONS.at, split_size=4096), at_once, stop)
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("spark")
def test_a_failed_scan_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr(folder.pq, "write_table", broken)
    log = tmp_path / "a.log"
    log.write_bytes(ONE)
    run = Runs(tmp_path / "runs").create("a log")
    ended = start(run, [str(log)], OPTIONS).wait(60)
    assert (ended.state, str(ended.error)) == ("failed", "the disk is full")
    assert (run.state, str(run.error), run.summary) == ("failed", "the disk is full", None)


def test_a_run_whose_server_has_gone_is_failed(tmp_path: Path) -> None:
    run = Runs(tmp_path).create("left behind")
    run.set_state("running")
    assert run.state == "running"
    (run.path / "run.json").write_text(json.dumps(run.facts | {"lease": "0" * 32}))
    assert run.state == "failed"


@pytest.mark.parametrize("name", ["", "..", "../..", "20261121-000000-abcdef/../x", "20261121-000000-abcdef"])
def test_a_name_that_is_no_run_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(RunError) as caught:
        Runs(tmp_path).open(name)
    assert (caught.value.code, caught.value.values) == ("no_run", {"name": name})


def test_runs_are_listed_newest_first_and_deleted_for_good(tmp_path: Path) -> None:
    runs = Runs(tmp_path)
    first = runs.create("first")
    time.sleep(0.01)
    second = runs.create("second")
    (tmp_path / "not a run").mkdir()
    for name, text in (("20260101-000000-aaaaaa", "[]"), ("20260101-000000-bbbbbb", "{")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "run.json").write_text(text)
    (tmp_path / "20260101-000000-cccccc" / "run.json").mkdir(parents=True)  # stands for one that may not be read
    (second.path / "summary.json").write_text("{")
    assert [run.title for run in runs.list()] == ["second", "first"] and first.summary is None
    with pytest.raises(RunError, match="is damaged"):
        _ = second.summary
    assert second.name in runs.damaged()
    runs.delete_damaged(second.name)
    assert [run.name for run in runs.list()] == [first.name]
    with pytest.raises(RunError) as caught:
        first.table("hosts")
    assert (caught.value.code, caught.value.values) == ("no_table", {"name": first.name, "table": "hosts"})


@pytest.mark.parametrize(
    ("total", "asked", "cores", "size"),
    [
        (1000, GIB, 2, 32 << 20),  # a paste: one split
        (8 * GIB, GIB, 2, GIB),
        (9 * GIB, GIB, 2, -(-9 * GIB // 10)),  # ten equal splits, not nine large and one small
        (9 * GIB, 4096, 2, 4096),  # asked for small: kept
    ],
)
def test_every_core_gets_as_many_splits(total: int, asked: int, cores: int, size: int) -> None:
    assert even(total, asked, cores) == size


def test_tiny_files_share_a_task_and_none_is_lost() -> None:
    splits = [Split(number, f"{number}.log", 0, size) for number, size in enumerate([10, 10, 10, 95, 1, 1, 200, 3])]
    splits = [replace(split, stop=split.stop << 20) for split in splits]
    tasks = deal(splits, 100 << 20)
    assert [[split.size >> 20 for split in task] for task in tasks] == [[10, 10, 10], [95, 1, 1], [200], [3]]
    empty = [Split(number, f"{number}.log", 0, 0) for number in range(2000)]  # opening them is work all the same
    dealt = deal(empty, 32 << 20)
    assert [split for task in dealt for split in task] == empty and len(dealt) > 5


def test_the_last_word_of_a_worker_is_what_a_person_reads() -> None:
    told = "An error occurred.\nTraceback (most recent call last):\n  File x\nOSError: no space left\n\tat java.lang"
    assert problem_of(RuntimeError(told)) == CoreError("said", {"why": "OSError: no space left"})
    assert str(problem_of(RuntimeError(""))) == "RuntimeError"
    told = (
        "An error occurred while calling z:org.apache.spark.X.y.\n: org.apache.spark.Z: aborted\n\tat a.B.c(B.java:1)\n"
    )
    told += "Caused by: java.io.IOException: not run\n\tat d\nCaused by: java.io.IOException: error=11\n\t... 20 more"
    assert problem_of(RuntimeError(told)) == CoreError("said", {"why": "java.io.IOException: error=11"})
    assert problem_of(RuntimeError("Caused by: java.io.IOException: No space left on device")) == CoreError("ENOSPC")


@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize(("head", "is_list"), [("", True), ("09:50:13.373 ", False)])
def test_a_list_of_ids_has_nothing_missing_and_is_called_a_list(head: str, is_list: bool, tmp_path: Path) -> None:
    path = tmp_path / "ids.txt"
    path.write_text("".join(f"{head}0A000007126718B4AAC2{0x66FF3000 + n:08X}{3 * n:04X}\n" for n in range(40)))
    summary = scan([str(path)], tmp_path / "out", OPTIONS)
    found = pq.read_table(tmp_path / "out" / "findings")["code"].to_pylist()
    assert (summary.get("is_list", False), "missing_ids" in found) == (is_list, not is_list)


@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize(
    ("names", "is_list"),
    [
        ("order,msgId,paid at\n", True),
        ("text,line,host\n", True),  # as the console exports them
        ("", False),  # a program logs its sends as a table without names: what it lacks was not logged
    ],
)
def test_a_table_of_ids_with_names_of_columns_is_a_list(names: str, is_list: bool, tmp_path: Path) -> None:
    path = tmp_path / "ids.csv"
    ids = (f"0A000007126718B4AAC2{0x66FF3000 + n:08X}{3 * n:04X}" for n in range(40))
    path.write_text(names + "".join(f"{n},{text},2026-11-21 09:00\n" for n, text in enumerate(ids)))
    summary = scan([str(path)], tmp_path / "out", OPTIONS)
    found = pq.read_table(tmp_path / "out" / "findings")["code"].to_pylist()
    assert (summary.get("is_list", False), "missing_ids" in found) == (is_list, not is_list)
