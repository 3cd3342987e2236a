"""A signal that comes just before the main thread begins to wait: Python runs its handler after the wait."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

import pytest

from idcore.cli import resident
from idcore.cli.worker_thread import aside, interruptible, until

TOO_LONG = 20.0


@pytest.fixture(autouse=True)
def handlers() -> Iterator[None]:
    """A test's handlers are not those of the next one; Ctrl-C interrupts, also in the background of a shell."""
    before = [(number, signal.getsignal(number)) for number in (signal.SIGINT, signal.SIGTERM)]
    signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    for number, handler in before:
        signal.signal(number, handler)


def _held_back(number: signal.Signals) -> None:
    """Another thread takes the signal: as in that case, no system call of the main one is interrupted."""
    time.sleep(0.3)  # the main thread waits
    signal.pthread_kill(threading.get_ident(), number)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_work_stops_at_a_signal_that_no_wait_was_interrupted_by(number: signal.Signals) -> None:
    def work(stop: threading.Event) -> str:
        _held_back(number)
        return "stopped" if stop.wait(TOO_LONG) else "never stopped"

    assert aside("work", work, until) == "stopped"


def test_a_cancelled_scan_ends_before_its_work_does() -> None:
    begun = time.monotonic()

    def interrupted(_: threading.Event) -> NoReturn:
        raise KeyboardInterrupt

    def work(_: threading.Event) -> None:
        _held_back(signal.SIGINT)
        time.sleep(3)

    with pytest.raises(KeyboardInterrupt):
        aside("work", work, interrupted)
    assert time.monotonic() - begun < 3


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_work_stops_at_a_signal_that_a_library_swallowed_before_it(number: signal.Signals) -> None:
    def work(stop: threading.Event) -> str:
        return "stopped" if stop.wait(TOO_LONG) else "never stopped"

    with interruptible():
        with suppress(KeyboardInterrupt):  # as C code does that asks whether something has an attribute
            signal.raise_signal(number)
        assert aside("work", work, until) == "stopped"
        assert aside("more", lambda stop: stop.is_set(), until) is False  # an interrupt ends one work, not the next


def test_a_session_hears_of_a_signal_that_no_wait_was_interrupted_by() -> None:
    command, session = socket.socketpair()
    session.settimeout(TOO_LONG)
    told = []

    def serve() -> None:
        _held_back(signal.SIGINT)
        told.append(resident.receive(session))
        resident.send(session, {"status": 130})

    server = threading.Thread(target=serve)
    server.start()
    with command, session:
        assert resident._wait(command) == 130
        server.join()
    assert told == [({"cancel": True}, [])]


def test_a_signal_after_the_session_has_ended_is_said_in_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    command, session = socket.socketpair()
    session.close()

    def cancelled(*_: object) -> list[list[socket.socket]]:
        signal.raise_signal(signal.SIGINT)
        return [[command], [], []]

    with command, pytest.MonkeyPatch.context() as patch:
        patch.setattr(resident.select, "select", cancelled)
        assert resident._wait(command) == resident.SESSION_LOST
    assert capsys.readouterr().err == "idcore: the session ended before the command did; run it again\n"


HALF = """
import logging, runpy, sys
from idcore.cli import resident

def interrupted(_):
    raise KeyboardInterrupt

half = logging.NullHandler()
del half.lock  # as a thread has it that is still loading a library
resident.hand_over = interrupted
sys.argv = ["idcore", "scan", "a.log"]
runpy.run_module("idcore", run_name="__main__")
"""


def test_a_thread_that_still_loads_a_library_says_nothing_at_the_end() -> None:
    ended = subprocess.run([sys.executable, "-W", "ignore", "-c", HALF], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "")


COMPARES = """
import sys, threading
from idcore.__main__ import command
from idcore.scan import compare

def waits(*_):
    print("begun", flush=True)
    threading.Event().wait(60)
    yield

compare._facts = waits
sys.argv = ["idcore", "compare", sys.argv[1], sys.argv[1]]
command()
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_comparison_leaves_no_folder(number: signal.Signals, tmp_path: Path) -> None:
    log, temporary = tmp_path / "a.log", tmp_path / "temporary"
    log.write_text("msgId=AC110001473C7D4991AD336AEA5703E0\n")
    temporary.mkdir()
    words = [sys.executable, "-c", COMPARES, str(log)]
    environment = {**os.environ, "TMPDIR": str(temporary), "XDG_RUNTIME_DIR": str(tmp_path)}  # without a session
    with subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as ended:
        assert ended.stdout is not None and ended.stdout.readline() == b"begun\n"
        assert list(temporary.iterdir())
        ended.send_signal(number)
        assert (ended.wait(TOO_LONG), ended.communicate()) == (130, (b"", b""))
    assert not list(temporary.iterdir())
