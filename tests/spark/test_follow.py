"""`follow` on a real Spark: tables are those of a scan, also after the driver, Java or a worker was killed. On
loopback, and with files of a folder of the test."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from idcore.__main__ import main
from idcore.base.errors import CoreError
from idcore.runs.runs import Runs
from idcore.spark import background
from idcore.spark.job import FollowOptions, ScanOptions
from tests.scan import logs
from tests.source_code import ROOT

AT = ["--zone", "UTC", "--at", "2026-03-10T12:00:00Z"]
PATIENCE = 180.0


@contextmanager
def following(folder: Path | str, out: Path) -> Iterator[subprocess.Popen[bytes]]:
    """`follow` as a process of its own."""
    command = [sys.executable, "-m", "idcore", "follow", str(folder), "--out", str(out), *AT]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            yield process
        finally:
            process.kill()


def wait(until: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + PATIENCE
    while not until():
        if process.poll() is not None or time.monotonic() > end:
            process.kill()
            assert process.stderr is not None
            raise AssertionError(f"nothing came: {process.stderr.read().decode()}")
        time.sleep(0.1)


def counted(out: Path) -> int:
    """Bytes of text that the tables are of."""
    path = out / "summary.json"
    return int(json.loads(path.read_text())["text_bytes"]) if path.exists() else -1


def sized(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir())


def children(pid: int, word: str) -> list[int]:
    """The processes below one that have a word in their command."""
    rows = subprocess.run(["ps", "-eo", "pid=,ppid=,args="], capture_output=True, text=True, check=True).stdout
    parsed = [line.split(None, 2) for line in rows.splitlines()]
    below, found = [pid], []
    while below:
        parent = below.pop()
        for own, above, words in parsed:
            if int(above) == parent:
                below.append(int(own))
                found += [int(own)] if word in words else []
    return found


def test_what_is_followed_survives_kills_and_ends_as_a_scan(java: None, tmp_path: Path) -> None:
    folder, out = tmp_path / "logs", tmp_path / "out"
    folder.mkdir()
    log, chance = folder / "app.log", random.Random(1)
    lines = [line + b"\n" for one in (1, 2) for line in logs.honest(one).data.split(b"\n") if line]

    def grow() -> None:
        for _ in range(4):
            count = chance.randrange(1, 40)
            with log.open("ab") as file:
                file.writelines(lines[:count])
            del lines[:count]

    grow()
    with following(folder, out) as process:
        wait(lambda: counted(out) == sized(folder), process)
        log.rename(folder / "app.log.1")
        grow()
        process.kill()  # the driver, whatever it does
        process.wait()
    grow()
    with following(folder, out) as process:
        wait(lambda: counted(out) == sized(folder), process)
        (jvm,) = children(process.pid, "bin/java")
        os.kill(jvm, signal.SIGKILL)
        grow()
        wait(lambda: counted(out) == sized(folder), process)
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    told = [json.loads(line) for line in said.splitlines()]
    assert told[-1]["text_bytes"] == sized(folder) and told[-1]["behind"] == 0
    assert main(["scan", str(folder), "--out", str(tmp_path / "scan"), *AT]) == 0
    for table in sorted(path.name for path in (tmp_path / "scan").iterdir() if path.is_dir()):
        assert pq.read_table(out / table).equals(pq.read_table(tmp_path / "scan" / table)), table


def test_a_folder_follows_what_it_was_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    out.mkdir()
    assert main(["follow", str(tmp_path), "--out", str(out)]) == 2
    assert "nothing was followed into it" in capsys.readouterr().err
    (out / ".follow").mkdir()
    (out / ".follow" / "asked.json").write_text(json.dumps({"paths": ["/elsewhere"]}))
    assert main(["follow", str(tmp_path), "--out", str(out)]) == 3
    assert "follows something else" in capsys.readouterr().err
    assert main(["follow", str(tmp_path), "--out", str(out), "--since", "yesterday"]) == 2
    assert "'yesterday' is not a time" in capsys.readouterr().err


def test_no_more_are_followed_than_may_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Asked where the work begins: also where one that ended is followed on."""
    monkeypatch.setenv("IDCORE_FOLLOWS", "1")
    monkeypatch.setattr(background, "followed", lambda: 1)
    run = Runs(tmp_path).create("logs")
    with pytest.raises(CoreError) as refused:
        background.follow(run, [str(tmp_path)], FollowOptions(ScanOptions()))
    assert refused.value.code == "limit_follows" and run.state == "new"
