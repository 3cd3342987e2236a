"""How `make run` and set-up begin and end: what is missing or cannot be is said in a line, and nothing stays."""

from __future__ import annotations

import base64
import hashlib
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from idcore.answers.findings.all_rules import RULES
from idcore.server import setting_up
from scripts import can_listen, pyodide, setup
from tests.spark.test_faults import MARK, marked, until

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def taken() -> Iterator[int]:
    """A port at which somebody listens as long as the test."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(1)
        yield listening.getsockname()[1]


@pytest.mark.parametrize(
    ("host", "port", "said"),
    [
        ("nosuchhost.invalid", "8501", "HOST=nosuchhost.invalid is no name"),
        ("192.0.2.77", "8501", "HOST=192.0.2.77 is not an address of this machine"),
        ("127.0.0.1", "99999", "PORT=99999 is not a port"),
        ("127.0.0.1", "http", "PORT=http is not a port"),
    ],
)
def test_where_the_console_cannot_listen_one_line_says_what_to_give(host: str, port: str, said: str) -> None:
    words = [sys.executable, "scripts/can_listen.py", host, port]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and done.stderr.startswith(said) and done.stderr.count("\n") == 1


def test_a_port_that_is_in_use_is_said_with_the_way_to_another(taken: int) -> None:
    problem = can_listen.problem("127.0.0.1", str(taken))
    assert problem is not None and f"port {taken} of 127.0.0.1 is in use" in problem and "PORT=" in problem
    for page in (ROOT / "docs" / "how-to").glob("troubleshoot*.md"):
        assert problem.partition(":")[0].replace(str(taken), "8501") in page.read_text(encoding="utf-8"), page
    assert can_listen.problem("127.0.0.1", "0") is None


def test_a_console_that_must_not_start_says_nothing_of_an_address_before() -> None:
    words = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.address", "0.0.0.0", "--server.port", "0"]
    done = subprocess.run(words, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    (said,) = (done.stdout + done.stderr).splitlines()
    assert done.returncode == 2 and "The console does not start" in said
    assert "http" not in said


def test_sigterm_to_make_run_ends_the_console(tmp_path: Path) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = {**os.environ, MARK: str(tmp_path), "IDCORE_RUNS": str(tmp_path / "runs")}
    log = tmp_path / "told"
    with log.open("wb") as told:
        run = ["make", "run", f"PORT={port}", f"VENV={Path(sys.executable).parent.parent}"]
        make = subprocess.Popen(run, cwd=ROOT, env=environment, stdout=told, stderr=told)
    with make:
        until(lambda: f"The console is up: http://127.0.0.1:{port}" in log.read_text() or make.poll() is not None, 200)
        make.send_signal(signal.SIGTERM)
    until(lambda: not marked(tmp_path), 20)


def test_what_is_missing_is_one_command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(setup, "find_java", lambda: None)
    monkeypatch.setattr(setup, "find_spec", lambda _: None)
    monkeypatch.setattr(setup, "test_programs", lambda: {"zstd": False, "lz4": True})
    monkeypatch.setattr(setup.shutil, "which", lambda _: None)
    monkeypatch.setattr(setup.sys, "platform", "linux")
    missing = setup.Programs(setup.Environment(Path("/nowhere"), dev=True), dev=True)
    with pytest.raises(SystemExit):
        missing.name()
    commands = [line for line in capsys.readouterr().err.splitlines() if "apt-get" in line]
    wanted = f"python{setup.VERSION}-venv openjdk-17-jdk-headless zstd"
    assert commands == [f"setup: Install with: sudo apt-get install -y {wanted}"]


def test_a_program_of_set_up_ends_with_it(tmp_path: Path) -> None:
    code = "import signal; from scripts import setup; signal.signal(15, setup.stop); setup.ended(['sleep', '600'])"
    with subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, env={**os.environ, MARK: str(tmp_path)}) as own:
        until(lambda: len(marked(tmp_path)) == 2)
        own.terminate()
        assert own.wait(20) == 143
    until(lambda: not marked(tmp_path), 20)


def test_the_steps_of_set_up_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    done: list[str] = []
    setup.take([setup.Step(name, name != "b", lambda name=name: done.append(name)) for name in "abc"])  # type: ignore[misc]
    assert done == ["a", "c"]
    assert [line[:14] for line in capsys.readouterr().err.splitlines()] == [f"setup: {n} of 2:" for n in (1, 1, 2, 2)]


def test_what_decoding_needs_is_installed_first_and_the_lock_has_all_of_it() -> None:
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    first = setup.parted(lock, setup.LATER)[0]
    names = {line.partition("==")[0] for line in lock.splitlines() if line[:1].isalpha()}
    assert {line.partition("==")[0] for line in first.splitlines() if line[:1].isalpha()} == names - {*setup.LATER}
    assert first.count("--hash=") < lock.count("--hash=") and set(setup.LATER) < names


def test_what_follows_behind_a_console_is_told_and_ends_with_it(tmp_path: Path) -> None:
    """As `make run` begins it: a program beside the console, whose step the pages read."""
    told = tmp_path / "cache" / "told.json"
    code = f"""
import sys; from pathlib import Path; from scripts import setup
import signal; signal.signal(15, setup.stop); setup.end_with_parent(); told = Path({str(told)!r})
setup.take([setup.Step('a', True, lambda: setup.ended(['sleep', '600']), 'kernels')], told)
"""
    words = ["sh", "-c", '"$1" -c "$2" & exec sleep 600', "-", sys.executable, code]
    with subprocess.Popen(words, cwd=ROOT, env={**os.environ, MARK: str(tmp_path)}) as console:
        until(lambda: setting_up.now(told) is not None)
        found = setting_up.now(told)
        assert found is not None and (found.step, found.number, found.steps) == ("kernels", 1, 1)
        assert setup.is_at_work(told) and found.seconds < 60
        console.kill()
    until(lambda: not marked(tmp_path), 20)
    assert setting_up.now(told) is None and not told.exists()
    told.write_text('{"pid": 0')
    assert setting_up.now(told) is None and not setup.is_at_work(told)


def test_pyodide_is_kept_only_if_it_is_the_known_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there, packed = tmp_path / "there.tgz", tmp_path / "cache" / "pyodide.tgz"
    there.write_bytes(b"other bytes")
    with pytest.raises(SystemExit, match="other bytes than the known ones"):
        pyodide.fetch(packed, there.as_uri())
    with pytest.raises(SystemExit, match="cannot be reached"):
        pyodide.fetch(packed, (tmp_path / "nowhere").as_uri())
    assert not packed.parent.exists()
    monkeypatch.setattr(pyodide, "SHA512", base64.b64encode(hashlib.sha512(b"other bytes").digest()).decode())
    assert pyodide.fetch(packed, there.as_uri()) == b"other bytes" and pyodide.is_there(packed)
    there.unlink()  # a second time it is not asked
    assert pyodide.fetch(packed, there.as_uri()) == b"other bytes"


def test_the_first_page_waits_for_neither_kernels_nor_spark() -> None:
    """Each would add a third to what a cold server does before it answers."""
    pages = "import sys, pages.parts.serve, pages.parts.frame, pages.parts.ids.decode_session"
    words = [sys.executable, "-c", f"{pages}; print(sorted({{'numba', 'pyspark'}} & sys.modules.keys()))"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    page = "from idcore.presentation.triage import finding_texts as f; print(len(f.rules()))"
    done = subprocess.run([sys.executable, "-c", page], cwd=ROOT, capture_output=True, text=True, check=True)
    assert int(done.stdout) == len(RULES)
