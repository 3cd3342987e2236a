"""A session that stays: commands of one user, run with the real Spark by another process of this user."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from idcore.cli import resident
from tests.scan.conftest import java
from tests.spark.foreign import BECOME

__all__ = ["java"]
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the kernel says who is at the other end")
LINE = b"msgId=0A00000100FF18B4AAC20000000A0001\n"


def idcore(*words: str, **more: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "idcore", *words],
        capture_output=True,
        text=True,
        timeout=200,
        **more,  # type: ignore[call-overload, no-any-return]
    )


def process() -> int:
    found = re.search(r"process (\d+)", idcore("session", "status").stdout)
    assert found is not None
    return int(found[1])


@pytest.fixture(scope="module")
def session(java: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """One session for all tests here, with a folder of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("runtime")))
        patch.setenv("PYTHONPATH", os.getcwd())
        done = idcore("session", "start", "--idle", "240")
        assert done.returncode == 0, done.stderr
        yield process()
        idcore("session", "stop")


def test_a_scan_has_its_own_folder_streams_and_status(session: int, tmp_path: Path) -> None:
    (tmp_path / "a.log").write_bytes(LINE * 3)
    done = idcore("scan", "a.log", "-", "--out", "out", "--format", "json", cwd=tmp_path, input=LINE.decode() * 2)
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert summary["ids"] == 5 and summary["files"] == 2
    assert summary["start_seconds"] < 0.5, "no Java was started"
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["ids"] == 5
    again = idcore("scan", "a.log", "--out", "out", cwd=tmp_path)
    assert (
        again.returncode == 2
        and again.stderr == "idcore: out exists; add --overwrite to replace what a scan wrote there\n"
    )
    lacks = idcore("scan", "b.log", "a.log", "--out", "second", cwd=tmp_path)
    assert lacks.returncode == 1 and lacks.stderr.startswith("idcore: b.log: ")
    same = idcore("compare", "a.log", "a.log", cwd=tmp_path)
    assert same.returncode == 0 and "Both inputs contain the same 1 msgId." in same.stdout


def test_ctrl_c_ends_the_scan_and_not_the_session_and_a_second_scan_waits(session: int, tmp_path: Path) -> None:
    (tmp_path / "large.log").write_bytes(LINE * 2_000_000)
    (tmp_path / "small.log").write_bytes(LINE)
    large = [sys.executable, "-m", "idcore", "scan", "large.log", "--split-size", "16k", "--out", "large"]
    with subprocess.Popen(large, cwd=tmp_path, stderr=subprocess.PIPE) as first:
        deadline = time.monotonic() + 60
        while not (tmp_path / "large").exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        with subprocess.Popen([*large[:4], "small.log", "--out", "small"], cwd=tmp_path, stdout=-3) as second:
            first.send_signal(signal.SIGINT)
            assert first.wait(60) == 130
            assert second.wait(60) == 0
    assert not (tmp_path / "large").exists() and (tmp_path / "small" / "summary.json").exists()
    assert process() == session


def test_other_settings_another_version_and_another_spark_are_refused(
    session: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["scan", str(tmp_path / "none.log"), "--out", str(tmp_path / "out")]
    assert resident.hand_over([*words, "--master", "local[1]"]) is None
    with monkeypatch.context() as patch:
        patch.setenv("IDCORE_ALLOWED_PATHS", "/nowhere")
        assert resident.hand_over(words) is None
    with monkeypatch.context() as patch:
        patch.setattr(resident, "stamp", lambda: "of an older version")
        assert resident.hand_over(words) is None


def test_nobody_else_reaches_it(session: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, place = Path(resident.folder()), resident.place()
    assert folder.stat().st_mode & 0o777 == 0o700 and Path(place).stat().st_mode & 0o777 == 0o600
    assert resident.connect() is not None
    with monkeypatch.context() as patch:  # the socket is another user's: what this process says stays here
        patch.setattr(resident, "is_own", lambda _: False)
        assert resident.connect() is None
    folder.chmod(0o755)
    try:
        with pytest.raises(resident.NotMine, match="not a private folder"):
            resident.place()
        assert resident.connect() is None
    finally:
        folder.chmod(0o700)
    if os.geteuid() == 0:
        ask = f"{BECOME}socket.socket(socket.AF_UNIX).connect({place!r})"
        other = subprocess.run([sys.executable, "-S", "-c", ask], capture_output=True, text=True, check=False)
        assert other.returncode and "Permission" in other.stderr


def test_a_session_that_is_killed_is_said_and_the_next_command_runs_alone(session: int, tmp_path: Path) -> None:
    (tmp_path / "large.log").write_bytes(LINE * 2_000_000)
    large = [sys.executable, "-m", "idcore", "scan", "large.log", "--split-size", "16k", "--out", "out"]
    with subprocess.Popen(large, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as client:
        while not (tmp_path / "out").exists() and client.poll() is None:
            time.sleep(0.02)
        os.kill(session, signal.SIGKILL)
        _, errors = client.communicate(timeout=60)
    assert client.returncode == 3 and "the session ended before the command did" in errors
    end = time.monotonic() + 20
    while (left := resident.connect()) is not None:  # the system closes its sockets one after the other
        left.close()
        assert time.monotonic() < end, "its socket is still there"
        time.sleep(0.02)
    assert idcore("session", "status").returncode == 1
