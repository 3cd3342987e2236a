"""Leases: two consoles on one folder, of one machine and of two, with clocks set back and locks missing."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import wait as futures_wait
from contextlib import contextmanager
from pathlib import Path

import pytest

from idcore.runs import lease
from idcore.runs.runs import Run, Runs

OTHER = """
import sys
from pathlib import Path
from idcore.runs.runs import Runs
run = Runs(Path(sys.argv[1])).create("of another console", kept=False)
run.set_state("running")
print(run.name, flush=True)
sys.stdin.read()
"""


@contextmanager
def another(root: Path) -> Iterator[tuple[subprocess.Popen[str], Run]]:
    """A console of its own process with a run at work, as in another container with its own process IDs."""
    with subprocess.Popen(
        [sys.executable, "-c", OTHER, str(root)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as console:
        assert console.stdout is not None
        run = Runs(root).open(console.stdout.readline().strip())
        change(run, pid=1, started="another container's")
        try:
            yield console, run
        finally:
            console.kill()


def change(run: Run, **facts: object) -> None:
    (run.path / "run.json").write_text(json.dumps(run.facts | facts))


def test_the_run_of_another_console_runs_until_that_is_killed(tmp_path: Path) -> None:
    with another(tmp_path) as (console, run):
        mine = Runs(tmp_path).create("mine")
        assert (run.state, mine.state) == ("running", "new") and Runs(tmp_path).sweep() == 0
        held = tmp_path / lease.FOLDER / run.facts["lease"]
        for at in (0, time.time() + 1e6):  # no clock counts
            os.utime(held, (at, at))
            assert run.state == "running"
        console.kill()
        console.wait()
        assert run.state == "failed" and held.exists()
        assert Runs(tmp_path).sweep() == 1 and not run.path.exists()
        lease._sweep(tmp_path, mine.facts["lease"])
        assert [path.name for path in held.parent.iterdir()] == [mine.facts["lease"]]


def test_a_console_that_ends_takes_its_lease_away(tmp_path: Path) -> None:
    with another(tmp_path) as (console, run):
        console.communicate("")
        assert not list((tmp_path / lease.FOLDER).iterdir()) and run.state == "failed"


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The reader's own clock, which only goes forward."""
    now = [1_000.0]
    monkeypatch.setattr(lease.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(lease, "_watch", lease._Watch())
    return now


@pytest.mark.parametrize("locks", [True, False])
def test_of_another_machine_the_count_is_watched(
    tmp_path: Path, clock: list[float], locks: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, counts = "ab" * 16, tmp_path / lease.FOLDER / ("ab" * 16)
    counts.parent.mkdir()
    if not locks:  # the same machine, on a file system without locks
        refused = OSError(errno.ENOTSUP, "no locks")
        monkeypatch.setattr(lease.fcntl, "flock", lambda *_: (_ for _ in ()).throw(refused))
    told = {"machine": "another" if locks else lease.machine()}
    for beats in range(3):
        counts.write_text(json.dumps(told | {"beats": beats}))
        clock[0] += lease.PATIENCE - 1
        assert lease.is_held(tmp_path, name)
    clock[0] += lease.PATIENCE
    assert not lease.is_held(tmp_path, name)
    counts.write_text(json.dumps(told | {"beats": 9}))
    assert lease.is_held(tmp_path, name), "it was only slow"
    counts.write_text("")  # its machine lost its power before the text was on the disk
    assert lease.is_held(tmp_path, name)
    clock[0] += lease.PATIENCE
    assert not lease.is_held(tmp_path, name)


def test_a_lease_that_was_deleted_is_made_again(tmp_path: Path) -> None:
    first = lease.mine(tmp_path)
    assert lease.is_held(tmp_path, first) and lease.mine(tmp_path) == first
    (tmp_path / lease.FOLDER / first).unlink()
    second = lease.mine(tmp_path)
    assert second != first and lease.is_held(tmp_path, second) and not lease.is_held(tmp_path, first)


@pytest.mark.parametrize("name", ["", "..", "../run.json", "g" * 32, "0" * 32])
def test_a_name_that_is_no_lease_is_held_by_nobody(tmp_path: Path, name: str) -> None:
    assert not lease.is_held(tmp_path, name)


@pytest.mark.parametrize("made", [lambda path: os.mkfifo(path), lambda path: path.mkdir()])
def test_a_pipe_or_a_folder_is_no_lease(tmp_path: Path, made: Callable[[Path], None]) -> None:
    """To read a pipe that nobody writes into waited for ever, and each page of everybody with it."""
    name = "ab" * 16
    (tmp_path / lease.FOLDER).mkdir()
    made(tmp_path / lease.FOLDER / name)
    with ThreadPoolExecutor(1) as apart:
        held = apart.submit(lease.is_held, tmp_path, name)
        done, _ = futures_wait([held], 5)
        if not done:  # lets the reader end
            os.close(os.open(tmp_path / lease.FOLDER / name, os.O_WRONLY))
        assert done and held.result() is False


def test_the_count_of_this_process_goes_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lease, "_held", lease._Held())
    monkeypatch.setattr(lease, "BEAT", 0.01)
    path = tmp_path / lease.FOLDER / lease.mine(tmp_path)
    deadline = time.monotonic() + 20
    while json.loads(path.read_bytes())["beats"] < 3:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_lease_that_cannot_be_counted_up_stays_held_and_is_in_the_log_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """As in a folder that is read-only for a night."""
    held = lease._Held()
    own = held.leases[tmp_path] = lease.Lease(tmp_path)

    def refused(*_: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    for said in (1, 2):
        with monkeypatch.context() as broken:
            broken.setattr(own, "beat", refused)  # this one alone: other tests' leases are counted up meanwhile
            for _ in range(3):
                held.renew()
        assert caplog.text.count("not renewed: Read-only") == said and lease.is_held(tmp_path, own.name)
        before = json.loads(own.path.read_bytes())["beats"]
        held.renew()
        assert json.loads(own.path.read_bytes())["beats"] == before + 1
    held.leave()
    assert not own.path.exists()
