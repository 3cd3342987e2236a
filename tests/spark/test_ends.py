"""How scans end that someone or something ends: signals, a killed Java, a server that has gone. In processes of
their own, for what is killed here must not be the session of the other tests."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from idcore.__main__ import main
from idcore.runs.runs import Runs, is_alive, started
from idcore.spark.job import ScanOptions, scan
from tests.scan import logs
from tests.spark.test_faults import MARK, marked, until

ONE = b"msgId=0A42333A0DC818B4AAC246C290FD0000, offsetMsgId=0A42333A00002A9F000000000134F1F5\n"
CLI = [sys.executable, "-m", "idcore", "scan"]


def test_what_cannot_be_done_exits_3_with_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "a.log"
    log.write_bytes(ONE)
    assert main(["scan", str(log), "--out", str(log / "out")]) == 3
    assert capsys.readouterr() == ("", f"idcore: cannot write {log / 'out'}: this is not a folder\n")


def test_wrong_usage_still_exits_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "out").mkdir()
    assert main(["scan", "a.log", "--out", str(tmp_path / "out")]) == 2
    assert "--overwrite" in capsys.readouterr().err


@pytest.mark.long(cases=["2"])
@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_cancels_and_leaves_nothing(tmp_path: Path, how: signal.Signals) -> None:
    log = tmp_path / "a.log"
    log.write_bytes(ONE * 1_000_000)
    out = tmp_path / "out"
    with (tmp_path / "told").open("wb") as told:  # no pipe: a Java that is still starting would hold it open
        scan = subprocess.Popen([*CLI, str(log), "--out", str(out), "--split-size", "4k"], stdout=told, stderr=told)
    deadline = time.monotonic() + 60
    while not out.exists():
        assert scan.poll() is None and time.monotonic() < deadline
        time.sleep(0.05)
    scan.send_signal(how)
    assert (scan.wait(60), (tmp_path / "told").read_bytes()) == (130, b"")
    assert not out.exists()


KILLED = """
import json, os, signal, sys, time
from datetime import UTC, datetime
from pathlib import Path
from idcore.runs.runs import Runs
from idcore.spark import background, session
from idcore.spark.job import FollowOptions, ScanOptions

folder = Path(sys.argv[1])
options = ScanOptions(zone=UTC, at=datetime(2026, 3, 10, 12, tzinfo=UTC), split_size=4096)
logs = folder / "logs"

def until(job, holds):
    while not holds():
        assert job.progress().state in ("waiting", "running"), job.progress()
        time.sleep(0.02)

def all_is_read():
    size = sum(path.stat().st_size for path in logs.iterdir())
    until(following, lambda: (followed.summary or {}).get("text_bytes") == size)

runs = Runs(folder / "runs")
followed, run = runs.create("followed"), runs.create("killed in mid-scan")
following = background.follow(followed, [str(logs)], FollowOptions(options))
all_is_read()
work = background.start(run, [str(folder / "a.log")], options)
until(work, lambda: work.progress().bytes_done)
(logs / "app.log").rename(logs / "app.log.1")
os.kill(session.session().process.pid, signal.SIGKILL)
(logs / "app.log").write_bytes((folder / "more.log").read_bytes())
ended = work.wait()
left, half = sorted(path.name for path in run.path.iterdir()), run.state
(folder / "a.log").write_bytes((folder / "b.log").read_bytes())
again = background.again(run).wait()
all_is_read()
following.cancel()
problem = ended.error and ended.error.coded()
print(json.dumps([ended.state, problem, half, left, again.state, again.ids, following.wait().state, followed.name]))
"""


@pytest.mark.long
@pytest.mark.usefixtures("spark")
@pytest.mark.timeout(300)
def test_a_java_that_is_killed_fails_its_scan_which_begins_again_with_another_and_no_process_stays(
    tmp_path: Path,
) -> None:
    """What is followed goes on with the other, and its tables are those of a scan."""
    (tmp_path / "a.log").write_bytes(ONE * 200_000)
    (tmp_path / "b.log").write_bytes(ONE)
    (tmp_path / "logs").mkdir()
    data = logs.honest(1).data
    half = data.index(b"\n", len(data) // 2) + 1
    (tmp_path / "logs" / "app.log").write_bytes(data[:half])
    (tmp_path / "more.log").write_bytes(data[half:])
    runs = Runs(tmp_path / "runs")
    finished = runs.create("finished")
    finished.set_state("done")
    before = (finished.path / "run.json").read_bytes()
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=270,
        env={**os.environ, MARK: str(tmp_path)},
    )
    assert done.returncode == 0 and "failed spark_ended\n" in done.stderr and "Traceback" not in done.stderr, (
        done.stderr
    )
    why = {"code": "spark_ended", "values": {}}
    *told, followed = json.loads(done.stdout)
    assert told == ["failed", why, "failed", ["run.json"], "done", 2, "done"]
    assert (finished.path / "run.json").read_bytes() == before
    until(lambda: not marked(tmp_path), 30)
    scan([str(tmp_path / "logs")], tmp_path / "scan", ScanOptions(zone=UTC, at=datetime(2026, 3, 10, 12, tzinfo=UTC)))
    tables = sorted(path.name for path in (tmp_path / "scan").iterdir() if path.is_dir())
    assert "findings" in tables
    for table in tables:
        assert pq.read_table(tmp_path / "runs" / followed / table).equals(pq.read_table(tmp_path / "scan" / table)), (
            table
        )


def test_a_run_of_an_older_version_is_not_alive_because_its_servers_pid_is(tmp_path: Path) -> None:
    runs = Runs(tmp_path)
    for state in ("new", "running"):
        run = runs.create(state)
        facts = {name: value for name, value in run.facts.items() if name != "lease"}
        facts |= {"state": state, "pid": os.getpid(), "started": started(os.getpid())}
        (run.path / "run.json").write_text(json.dumps(facts))
        assert run.state == state
        facts["started"] += "0"  # the same pid, in a container that was started again
        (run.path / "run.json").write_text(json.dumps(facts))
        assert run.state == "failed"


def test_a_process_is_told_from_the_one_that_had_its_pid_before() -> None:
    with subprocess.Popen(["sleep", "60"]) as child:
        began = started(child.pid)
        assert began and began != started(os.getpid())
        assert is_alive(child.pid, began) and is_alive(child.pid, None)
        assert not is_alive(child.pid, started(os.getpid()))
        child.kill()
    assert not is_alive(child.pid, began)
