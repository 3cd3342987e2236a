"""Faults from outside: workers or a server killed, a folder that becomes read-only, a clock that is set back."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from idcore.base.errors import CoreError
from idcore.runs import background_run, room
from idcore.runs.runs import Runs, write_ends
from idcore.server.front_door import readiness
from idcore.spark import background, follow, health, session
from idcore.spark.job import ScanOptions
from idcore.spark.start import jvm
from tests.spark.mounts import mounted

ROOT = Path(__file__).resolve().parent.parent.parent
ONE = b"msgId=0A42333A0DC818B4AAC246C290FD0000, offsetMsgId=0A42333A00002A9F000000000134F1F5\n"
OPTIONS = ScanOptions(zone=UTC, at=datetime(2026, 11, 21, tzinfo=UTC))
SLOW = ScanOptions(zone=UTC, at=datetime(2026, 11, 21, tzinfo=UTC), split_size=4096)
MARK = "IDCORE_TEST_OF_FAULTS"


def processes(wanted: Callable[[Path], bool]) -> set[int]:
    """Processes of this machine, by what their folders in /proc say. A zombie has ended."""
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()[0] != "Z" and wanted(folder):
                found.add(int(folder.name))
        except (OSError, IndexError):  # it ended meanwhile
            continue
    return found


def parent(folder: Path) -> int:
    return int((folder / "stat").read_text(errors="replace").rpartition(")")[2].split()[1])


def below(process: int) -> set[int]:
    """A process's children and theirs."""
    own = processes(lambda folder: parent(folder) == process)
    return own.union(*map(below, own))


def marked(folder: Path) -> set[int]:
    """Processes whose environment has the mark of a test."""
    mark = f"{MARK}={folder}".encode()
    return processes(lambda one: mark in (one / "environ").read_bytes())


def until(true: Callable[[], bool], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.usefixtures("spark")
def test_workers_that_are_killed_fail_their_scan_with_a_reason_and_leave_no_table(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_bytes(ONE * 100_000)
    run = Runs(tmp_path / "runs").create("killed in mid-scan")
    work = background.start(run, [str(log)], SLOW)
    until(lambda: bool(work.progress().bytes_done))
    forked = processes(lambda folder: b"idcore.spark.start.daemon" in (folder / "cmdline").read_bytes()) & below(
        os.getpid()
    )
    workers = {pid for pid in forked if parent(Path(f"/proc/{pid}")) in forked}  # and not what they are forked from
    assert workers
    for pid in workers:
        os.kill(pid, signal.SIGKILL)
    assert (work.wait(60).state, run.state) == ("failed", "failed") and run.error == CoreError("spark_worker")
    assert [path.name for path in run.path.iterdir()] == ["run.json"]
    log.write_bytes(ONE)
    assert background.again(run).wait(60).state == "done" and run.has("processes")


def test_a_task_that_java_has_no_memory_for_fails_alone(java: None) -> None:
    """One record of a topic that unpacks to a gigabyte ended Java, and the scans of everybody."""
    spark = session.session()
    with pytest.raises(Exception, match=r"OutOfMemoryError"):
        follow._sql(spark).sql("SELECT length(repeat('x', CAST(id + 2000000000 AS INT))) FROM range(1)").collect()
    assert not health.is_gone(spark)


@pytest.mark.usefixtures("spark")
def test_a_scan_without_java_has_failed_and_begins_again_when_there_is_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, runs = tmp_path / "a.log", Runs(tmp_path / "runs")
    log.write_bytes(ONE)
    finished, run = runs.create("finished"), runs.create("without Java")
    finished.set_state("done")
    with monkeypatch.context() as without:
        without.setenv("JAVA_HOME", str(tmp_path))
        without.setattr(jvm.shutil, "which", lambda _: None)
        without.setattr(jvm.glob, "glob", lambda _: [])
        without.setattr(session, "_holder", session._Holder())
        assert background.start(run, [str(log)], OPTIONS).wait(30).state == "failed"
    assert run.error is not None and run.error.code == "spark_java" and finished.state == "done"
    assert [path.name for path in run.path.iterdir()] == ["run.json"]
    assert background.again(run).wait(60).state == "done" and run.has("processes")


SERVER = """
import sys, time
from datetime import UTC, datetime
from pathlib import Path
from idcore.runs.runs import Runs
from idcore.spark import background
from idcore.spark.job import ScanOptions

folder = Path(sys.argv[1])
run = Runs(folder / "runs").create("half")
at = datetime(2026, 11, 21, tzinfo=UTC)
work = background.start(run, [str(folder / "a.log")], ScanOptions(zone=UTC, at=at, split_size=4096))
while not work.progress().bytes_done:
    time.sleep(0.02)
print(run.name, flush=True)
work.wait()
"""


@pytest.mark.usefixtures("spark")
def test_a_server_that_is_killed_in_mid_scan_leaves_a_failed_run_that_begins_again_and_no_process(
    tmp_path: Path,
) -> None:
    (tmp_path / "a.log").write_bytes(ONE * 100_000)
    runs = Runs(tmp_path / "runs")
    finished = runs.create("finished")
    finished.set_state("done")
    environment = {**os.environ, MARK: str(tmp_path)}
    with subprocess.Popen(
        [sys.executable, "-c", SERVER, str(tmp_path)], cwd=ROOT, env=environment, stdout=subprocess.PIPE
    ) as server:
        assert server.stdout is not None
        half = runs.open(server.stdout.readline().decode().strip())
        assert half.state == "running"
        server.send_signal(signal.SIGKILL)
        server.wait(30)
    assert (half.state, finished.state) == (
        "failed",
        "done",
    ) and half.error is None
    until(lambda: not marked(tmp_path), 30)
    (tmp_path / "a.log").write_bytes(ONE)
    assert background.again(half).wait(60).state == "done" and half.has("processes")
    assert not [path.name for path in half.path.iterdir() if path.name.startswith(".unfinished")]


@pytest.mark.usefixtures("spark")
def test_a_folder_that_becomes_read_only_during_a_scan_and_comes_back_needs_no_restart(
    tmp_path: Path,
) -> None:
    log, runs = tmp_path / "a.log", Runs(tmp_path / "runs")
    log.write_bytes(ONE)
    done, half = runs.create("done"), runs.create("half")
    assert background.start(done, [str(log)], OPTIONS).wait(60).state == "done"
    log.write_bytes(ONE * 100_000)
    work = background.start(half, [str(log)], SLOW)
    until(lambda: bool(work.progress().bytes_done))
    with mounted(runs.root, "--bind", "-o", "ro", str(runs.root)):
        assert readiness("ready", runs.root)["reasons"] == ["runs_read_only"] and not room.is_writable(runs.root)
        assert work.wait(60).state == "failed" and half.state == "failed"
        assert half.error is not None and "EROFS" in str(half.error.coded())
        assert json.loads((half.path / "run.json").read_text())["state"] == "running", "that could not be written"
        with pytest.raises(CoreError) as caught:
            runs.create("one more")
        assert caught.value.code == "runs_read_only"
        with pytest.raises(OSError, match="Read-only"):
            done.pin(True)
        background_run.forget_ended()
        write_ends()
        assert sorted(run.state for run in runs.list()) == ["done", "failed"] and len(list(runs.root.glob("2*"))) == 2
        assert done.table("processes").num_rows == 1 and done.summary is not None
    assert readiness("ready", runs.root) == {"state": "ready", "reasons": [], "spark": "ready"}
    write_ends()
    assert json.loads((half.path / "run.json").read_text())["state"] == "failed"
    log.write_bytes(ONE)
    assert background.again(half).wait(60).state == "done" and half.state == "done"
    third = runs.create("third")
    assert background.start(third, [str(log)], OPTIONS).wait(60).state == "done" and not half.error
    assert not [path.name for run in runs.list() for path in run.path.iterdir() if path.name.startswith(".unfinished")]


def test_a_clock_that_is_set_back_during_a_scan_changes_neither_its_state_nor_its_seconds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = time.time
    runs = Runs(tmp_path)
    run = runs.create("before")

    def scan(*_: object) -> dict[str, int]:
        monkeypatch.setattr(time, "time", lambda: real() - 86_400)
        run.path.touch()
        return {"bytes": 0, "ids": 0}

    monkeypatch.setattr(background, "scan", scan)
    monkeypatch.setenv("IDCORE_AUDIT_LOG", str(tmp_path / "audit"))
    assert background.start(run, [str(tmp_path / "a.log")], OPTIONS).wait(30).state == "done"
    ended = [json.loads(line) for line in (tmp_path / "audit").read_text().splitlines()][-1]
    assert ended["what"] == "scan_ended" and 0 <= ended["seconds"] < 30
    facts = json.loads((run.path / "run.json").read_text())
    later = runs.create("after")
    (later.path / "run.json").write_text(json.dumps(facts | {"created": "2020-01-01T00:00:00+00:00", "state": "new"}))
    assert [each.name for each in runs.list()] == [run.name, later.name] and later.state == "new"
