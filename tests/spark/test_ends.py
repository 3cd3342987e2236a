"""How scans end that someone or something ends: signals, a killed Java, a server that has gone. In processes of
their own, for what is killed here must not be the session of the other tests."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from idcore.__main__ import main
from idcore.runs.runs import Runs, is_alive, started
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
from idcore.__main__ import main
from idcore.runs.runs import Runs
from idcore.spark import background, session
from idcore.spark.job import ScanOptions

folder = Path(sys.argv[1])
at = datetime(2026, 11, 21, tzinfo=UTC)

def java():
    return session.session().process.pid

runs = Runs(folder / "runs")
run = runs.create("killed in mid-scan")
os.kill(java(), 0)
work = background.start(run, [str(folder / "a.log")], ScanOptions(zone=UTC, at=at, split_size=4096))
while not work.progress().bytes_done:
    time.sleep(0.02)
os.kill(java(), signal.SIGKILL)
ended = work.wait(60)
idle, left, half = session.status().state, sorted(path.name for path in run.path.iterdir()), run.state
(folder / "a.log").write_bytes((folder / "b.log").read_bytes())
again = background.again(run).wait(90)
problem = ended.error and ended.error.coded()
print(json.dumps([ended.state, problem, half, left, idle, again.state, again.ids]))
"""


@pytest.mark.usefixtures("spark")
def test_a_java_that_is_killed_fails_its_scan_which_begins_again_with_another_and_no_process_stays(
    tmp_path: Path,
) -> None:
    (tmp_path / "a.log").write_bytes(ONE * 1_000_000)
    (tmp_path / "b.log").write_bytes(ONE)
    finished = Runs(tmp_path / "runs").create("finished")
    finished.set_state("done")
    before = (finished.path / "run.json").read_bytes()
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=200,
        env={**os.environ, MARK: str(tmp_path)},
    )
    assert done.returncode == 0 and done.stderr.endswith("failed spark_ended\n") and "Traceback" not in done.stderr
    why = {"code": "spark_ended", "values": {}}
    assert json.loads(done.stdout) == ["failed", why, "failed", ["run.json"], "idle", "done", 2]
    assert (finished.path / "run.json").read_bytes() == before
    until(lambda: not marked(tmp_path), 30)


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
