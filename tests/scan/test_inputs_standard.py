"""Standard input as a path of a scan: read once, and never left on the disk."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from idcore.base.temporary import PREFIX

COMMAND = [sys.executable, "-m", "idcore", "scan", "--out", "out"]
ROOT = Path(__file__).resolve().parents[2]


def environment(folder: Path) -> dict[str, str]:
    return {**os.environ, "TMPDIR": str(folder), "PYTHONPATH": str(ROOT)}


def test_standard_input_cannot_be_read_twice(tmp_path: Path) -> None:
    done = subprocess.run(
        [*COMMAND, "-", "-"],
        input="",
        cwd=tmp_path,
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (2, "idcore: - (standard input) may be given only once\n")


@pytest.mark.long
def test_an_interrupt_while_standard_input_is_read_leaves_nothing(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    scan = subprocess.Popen(
        [*COMMAND, "-"], stdin=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path, env=environment(work)
    )
    assert scan.stdin is not None and scan.stderr is not None
    scan.stdin.write(b"a" * (3 << 20))
    scan.stdin.flush()
    began = time.monotonic()
    while not list(work.glob(f"{PREFIX}*/stdin-*")):
        assert scan.poll() is None and time.monotonic() - began < 60
        time.sleep(0.05)
    scan.send_signal(signal.SIGINT)
    assert scan.wait(30) == 130
    assert not list(work.iterdir()) and scan.stderr.read() == b""
    assert not (tmp_path / "out").exists()
