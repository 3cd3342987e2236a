"""How a command or a console ends that is interrupted while its Java starts: at many moments, and nothing stays."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from idcore.spark import session
from idcore.spark.health import SparkError
from idcore.spark.start import jvm
from tests.scan.conftest import java
from tests.spark.test_faults import MARK, marked, until

__all__ = ["java"]
ROOT = Path(__file__).resolve().parent.parent.parent
ONE = b"msgId=0A42333A0DC818B4AAC246C290FD0000, offsetMsgId=0A42333A00002A9F000000000134F1F5\n"
SECONDS = 20  # until nothing is left, on a busy machine; a leak stays for ever
# A shell says 130 of both. Python ends by SIGINT itself where the interrupt passed through `exec` of a text, which an
# import that makes a dataclass has.
INTERRUPTED = (130, -signal.SIGINT)
# Seconds after its Java was started, of each signal: a scan and a console have each signal and each moment.
OF_SCANS = {signal.SIGINT: [0.1], signal.SIGTERM: [0.6], signal.SIGHUP: [1.4], signal.SIGKILL: [0.1, 1.4]}
OF_CONSOLES = {signal.SIGINT: [1.4], signal.SIGTERM: [0.1], signal.SIGHUP: [0.6]}
CONSOLE = ["-m", "streamlit", "run", "app.py", "--server.headless", "true", "--server.address", "127.0.0.1"]
OPENS = """
import os, sys
os.dup2(os.open(sys.argv[1], os.O_RDWR), 0)
os.execv(sys.executable, [sys.executable, *sys.argv[2:]])
"""
pytestmark = [pytest.mark.usefixtures("java"), pytest.mark.slow]


def begin(folder: Path, words: list[str]) -> subprocess.Popen[bytes]:
    """A process whose descendants can be found, once it has a Java."""
    (folder / "tmp").mkdir(parents=True)
    environment = {**os.environ, MARK: str(folder), "TMPDIR": str(folder / "tmp"), "IDCORE_RUNS": str(folder / "runs")}
    with (folder / "told").open("wb") as told:
        begun = subprocess.Popen(
            [sys.executable, *words], cwd=ROOT, env=environment, stdout=told, stderr=told, start_new_session=True
        )
    until(lambda: len(marked(folder)) > 1)
    return begun


def scan(folder: Path) -> list[str]:
    folder.mkdir()
    (folder / "a.log").write_bytes(ONE * 200_000)
    return ["-m", "idcore", "scan", str(folder / "a.log"), "--out", str(folder / "out")]


@pytest.mark.long(cases=["SIGKILL"])
@pytest.mark.parametrize("how", OF_SCANS, ids=lambda how: how.name)
def test_a_scan_that_is_interrupted_while_java_starts_leaves_no_process(tmp_path: Path, how: signal.Signals) -> None:
    for later in OF_SCANS[how]:
        folder = tmp_path / str(later)
        with begin(folder, scan(folder)) as command:
            with suppress(subprocess.TimeoutExpired):
                command.wait(later)
            command.send_signal(how)
            ends = [-how] if how == signal.SIGKILL else INTERRUPTED
            assert command.wait(SECONDS) in ends, (folder / "told").read_text()
        until(lambda folder=folder: not marked(folder), SECONDS)  # type: ignore[misc]
        until(lambda folder=folder: not left_by_the_next_process(folder / "tmp"), SECONDS)  # type: ignore[misc]


def left_by_the_next_process(temporary: Path) -> list[Path]:
    """The next process removes what a killed one left; a lock goes with the last moment of a process that ends."""
    begins = [sys.executable, "-c", "from idcore.base import temporary; temporary.own()"]
    subprocess.run(begins, cwd=ROOT, env={**os.environ, "TMPDIR": str(temporary)}, check=True)
    return list(temporary.iterdir())


@pytest.mark.long(cases=["SIGINT", "SIGHUP"])
@pytest.mark.parametrize("how", OF_CONSOLES, ids=lambda how: how.name)
def test_a_console_that_is_interrupted_while_java_starts_leaves_no_process(tmp_path: Path, how: signal.Signals) -> None:
    for later in OF_CONSOLES[how]:
        folder = tmp_path / str(later)
        with begin(folder, [*CONSOLE, "--server.port", "0"]) as console:
            with suppress(subprocess.TimeoutExpired):
                console.wait(later)
            console.send_signal(how)
            console.wait(SECONDS)
        until(lambda folder=folder: not marked(folder), SECONDS)  # type: ignore[misc]


def test_a_scan_whose_terminal_is_closed_leaves_no_process(tmp_path: Path) -> None:
    folder = tmp_path / "closed"
    master, terminal = os.openpty()
    # The first terminal that the leader of a session opens is its own: SIGHUP comes when the other end is closed.
    own = ["-c", OPENS, os.ttyname(terminal), *scan(folder)]
    with begin(folder, own) as command:
        os.close(terminal)
        with suppress(subprocess.TimeoutExpired):
            command.wait(0.6)
        os.close(master)
        assert command.wait(SECONDS) in INTERRUPTED, (folder / "told").read_text()
    until(lambda: not marked(folder), SECONDS)


def test_after_the_end_no_other_java_is_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    found = jvm.java()
    assert found is not None
    starting = jvm.Starting(found.path)
    starting.end()
    monkeypatch.setattr("pyspark.SparkContext", lambda **_: pytest.fail("Spark's own scripts start Java"))
    with pytest.raises(SparkError) as ended:
        session._engine("local[1]", starting, {})
    assert ended.value.code == "spark_ended"


def test_a_server_that_ends_while_java_starts_waits_for_no_process_that_is_begun_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun: list[jvm.Starting] = []
    first = jvm.Starting._begin

    def ended_meanwhile(self: jvm.Starting, *of: Any) -> Any:
        if begun:
            self.end()
        begun.append(self)
        return first(self, *of)

    monkeypatch.setattr(jvm.Starting, "_begin", ended_meanwhile)
    found = jvm.java()
    assert found is not None
    with pytest.raises(SparkError):
        jvm.Starting(found.path)
    assert begun[0]._children[0].returncode == -signal.SIGKILL and not Path(begun[0].folder).exists()
