"""`session`: a Spark that stays, so that the next scan of the same user does not start one. Scans nothing itself."""

from __future__ import annotations

import argparse
import fcntl
import os
import queue
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

from idcore.base.errors import CoreError
from idcore.cli import resident
from idcore.cli.complaint import complain
from idcore.cli.parser import build_parser
from idcore.policy.private import child_environment
from idcore.spark.start.jvm import python_path

Main = Callable[[Sequence[str]], int]  # the door that every command comes through
UP, NOT_UP = 0, 1
_PATIENCE = 120.0  # seconds in which Spark starts on a busy machine
_LOOK = 0.05


def run_start(options: argparse.Namespace) -> int:
    """Starts the session and waits until its Spark is up; exit status 1 if it does not come up."""
    if (known := _asked("status")) is not None:
        print(f"the session is up already (process {known['process']})")
        return UP
    if options.foreground:
        return _serve(options.idle, options.main)
    log = os.path.join(resident.folder(), "session.log")
    with open(log, "wb") as said:
        child = subprocess.Popen(
            [sys.executable, "-m", "idcore", "session", "start", "--foreground", "--idle", str(options.idle)],
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            start_new_session=True,
            env=child_environment() | {"PYTHONPATH": python_path()},
        )
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline and child.poll() is None:
        if (known := _asked("status")) is not None:
            print(f"the session is up (process {known['process']}); it ends after {options.idle:g} s without a command")
            return UP
        time.sleep(_LOOK)
    child.terminate()
    complain(f"the session did not start; {log} has what it said")
    return NOT_UP


def run_stop(options: argparse.Namespace) -> int:
    """Ends the session, and what it is doing."""
    known = _asked("stop")
    print("there is no session" if known is None else f"the session has ended (process {known['process']})")
    return UP


def run_status(options: argparse.Namespace) -> int:
    """Exit status 0 if there is a session, 1 if not."""
    known = _asked("status")
    if known is None:
        print("there is no session")
        return NOT_UP
    doing = f"{known['waiting']} commands at work or waiting" if known["waiting"] else "no command at work"
    print(f"the session is up (process {known['process']}); {doing}")
    return UP


def _asked(question: str) -> dict[str, int] | None:
    """What the session answers; None where there is none."""
    connection = resident.connect()
    if connection is None:
        return None
    with connection:
        resident.send(connection, {"ask": question})
        answer = resident.receive(connection)
        if answer is not None and question == "stop":
            resident.receive(connection)  # its end
        return answer and answer[0]


class Command:
    """One command of a client: its words, folder and streams, until it has a status."""

    def __init__(self, connection: socket.socket, words: list[str], files: list[int]) -> None:
        self.connection, self.words, self.files = connection, words, files
        self.state = "waiting"
        self.lock = threading.Lock()

    def follow(self) -> None:
        """A cancel, or a client that has gone, ends the command as Ctrl-C does."""
        resident.receive(self.connection)
        with self.lock:
            if self.state == "running":
                signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
            if self.state != "over":
                self.state = "cancelled"

    def run(self, main: Main) -> int:
        """The command as this process's own: its streams and folder, one command at a time."""
        *streams, here = self.files
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
        os.fchdir(here)
        sys.stdin, sys.stdout = open(0, closefd=False), open(1, "w", closefd=False)  # noqa: SIM115
        sys.stderr = open(2, "w", buffering=1, closefd=False)  # noqa: SIM115
        try:
            with self.lock:
                if self.state == "cancelled":
                    return resident.INTERRUPTED
                self.state = "running"
            status = main(self.words)
            with self.lock:
                self.state = "over"
            return status
        except SystemExit as end:
            return end.code if isinstance(end.code, int) else 0
        except KeyboardInterrupt:
            return resident.INTERRUPTED

    def close(self, status: int) -> None:
        """Gives back what is the client's, and says how it ended."""
        with self.lock:
            self.state = "over"
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        nothing = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(nothing, number)
        os.close(nothing)
        for each in self.files:
            os.close(each)
        os.chdir("/")
        with suppress(OSError):
            resident.send(self.connection, {"status": status})
        self.connection.close()


class Server:
    """Takes commands of this user, one after the other."""

    def __init__(self, listening: socket.socket, stamp: str) -> None:
        self.listening, self.stamp = listening, stamp
        self.waiting: queue.Queue[Command | None] = queue.Queue()
        self.at_work = 0

    def accept(self) -> None:
        """Each connection has a thread, which ends with it."""
        while True:
            connection, _ = self.listening.accept()
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection: socket.socket) -> None:
        """One question or one command; who is not this user gets no answer."""
        asked = resident.receive(connection, 4) if resident.is_own(connection) else None
        if asked is None:
            connection.close()
            return
        message, files = asked
        if "ask" in message:
            resident.send(connection, {"process": os.getpid(), "waiting": self.at_work})
            if message["ask"] == "stop":
                os.unlink(resident.place())
                os._exit(0)  # Java and the workers end with this process
            connection.close()
        elif len(files) != 4 or message.get("stamp") != self.stamp or _of_elsewhere(message["words"]):
            with suppress(OSError):
                resident.send(connection, {"refused": True})
            for each in files:
                os.close(each)
            connection.close()
        else:
            self.at_work += 1
            command = Command(connection, message["words"], files)
            resident.send(connection, {"accepted": True})
            self.waiting.put(command)
            command.follow()

    def work(self, idle: float, main: Main) -> None:
        """Runs commands in the main thread, which signals reach; returns after `idle` seconds without one."""
        while True:
            try:
                command = self.waiting.get(timeout=idle)
            except queue.Empty:
                return
            except KeyboardInterrupt:  # of a command that has just ended
                continue
            if command is not None:
                status = resident.INTERRUPTED
                try:
                    status = command.run(main)
                except KeyboardInterrupt:
                    pass  # came as it ended
                finally:
                    command.close(status)
                    self.at_work -= 1


def _of_elsewhere(words: list[str]) -> bool:
    """Whether a command names a Spark of its own: this session has another."""
    try:
        options = build_parser().parse_args(words)
    except (Exception, SystemExit):  # noqa: BLE001  the command says itself what is wrong with it
        return False
    return bool(getattr(options, "master", None) or getattr(options, "remote", None))


def _bound() -> socket.socket | None:
    """The socket of this user; None where another process has it."""
    path = resident.place()
    lock = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # held until this process ends
    except BlockingIOError:
        os.close(lock)
        return None
    with suppress(FileNotFoundError):
        os.unlink(path)
    listening = socket.socket(socket.AF_UNIX)
    mask = os.umask(0o177)
    listening.bind(path)
    os.umask(mask)
    listening.listen(16)
    return listening


def _warm() -> None:
    """Spark, its workers and what a scan imports, before the first command."""
    import tempfile
    from datetime import UTC, datetime

    from idcore.base import temporary
    from idcore.scan.warm import TEXT
    from idcore.spark.job import ScanOptions, scan

    with tempfile.TemporaryDirectory(prefix="session-", dir=temporary.own()) as folder:
        log = os.path.join(folder, "ids.log")
        with open(log, "wb") as file:
            file.write(TEXT)
        scan([log], os.path.join(folder, "out"), ScanOptions(at=datetime.now(UTC)))


def _serve(idle: float, main: Main) -> int:
    """The process of the session: nothing listens before its Spark is up."""
    from idcore.spark.start import jvm

    stamp = resident.stamp()  # Spark's start changes the environment
    jvm.begin()
    try:
        _warm()
    except CoreError as problem:
        complain(str(problem))
        return NOT_UP
    listening = _bound()
    if listening is None:
        return NOT_UP
    server = Server(listening, stamp)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell starts what is in its background without it
    os.chdir("/")
    threading.Thread(target=server.accept, daemon=True).start()
    server.work(idle, main)
    os.unlink(resident.place())
    return UP
