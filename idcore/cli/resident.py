"""The way from a command to the session that stays: a socket of one user, checked on both sides. Imports little.

A command sends its words, its folder, and its standard streams as file descriptors. What crosses is JSON and open
files, never an object. Who is not the same user gets no answer, on either side.
"""

from __future__ import annotations

import hashlib
import json
import os
import select
import signal
import socket
import stat
import struct
import sys
from contextlib import suppress
from typing import Any

COMMANDS = ("scan", "compare")
PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_AROUND = os.path.dirname(PACKAGE)
INTERRUPTED, SESSION_LOST = 130, 3
_HEAD = struct.Struct("!I")
_MOST = 1 << 20
_LOOK = 0.1  # seconds until a signal is seen that came just before the wait for an answer began
# What a command's work may depend on: with other values than the session has, a command runs on its own.
_SETTINGS = (
    *("IDCORE_", "SPARK", "PYSPARK", "JAVA", "JDK_", "HADOOP", "AWS_", "AZURE_", "GOOGLE_", "FSSPEC_", "PYTHON"),
    *("NUMBA_", "ARROW_", "OMP_", "LD_", "LANG", "LC_", "TZ", "HOME", "XDG_CACHE", "TMPDIR", "PATH", "SSL_"),
    *("REQUESTS_", "CURL_", "NO_COLOR", "HTTP_", "HTTPS_", "NO_PROXY", "http_", "https_", "no_proxy"),
)


class NotMine(Exception):
    """The folder or the process at the other end is of another user."""


def folder() -> str:
    """The private folder of this user's sockets; NotMine where somebody else could have written in it."""
    root = os.environ.get("XDG_RUNTIME_DIR")
    path = os.path.join(root, "rocketmq-ids") if root else f"/tmp/rocketmq-ids-{os.geteuid()}"
    with suppress(FileExistsError):  # the next lines judge it
        os.mkdir(path, 0o700)
    status = os.lstat(path)
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid() or status.st_mode & 0o077:
        raise NotMine(f"{path} is not a private folder of this user")
    return path


def place() -> str:
    """The socket of this installation and this interpreter."""
    own = hashlib.sha256(f"{PACKAGE}\n{sys.executable}".encode()).hexdigest()[:16]
    return os.path.join(folder(), f"{own}.sock")


def stamp() -> str:
    """This version of the code and of the settings: a session that has another refuses the command."""
    mask = os.umask(0)
    os.umask(mask)
    known = hashlib.sha256(f"{mask}\n".encode())
    for at, folders, files in os.walk(PACKAGE):
        folders.sort()
        for name in sorted(files):
            if name.endswith(".py"):
                status = os.stat(os.path.join(at, name))
                known.update(f"{at}/{name} {status.st_size} {status.st_mtime_ns}\n".encode())
    settings = {name: value for name, value in os.environ.items() if name.startswith(_SETTINGS)}
    settings.pop("PYTHONSAFEPATH", None)  # a session has it, and finds the same modules: it has the path of idcore, too
    path = [part for part in settings.pop("PYTHONPATH", "").split(os.pathsep) if part and part != _AROUND]
    for name, value in sorted((settings | {"PYTHONPATH": os.pathsep.join(path)}).items()):
        known.update(f"{name}={value}\0".encode(errors="surrogateescape"))
    return known.hexdigest()


def is_own(connection: socket.socket) -> bool:
    """Whether the process at the other end is of this user, as the kernel says it."""
    _, user, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    return bool(user == os.geteuid())


def send(connection: socket.socket, message: dict[str, Any], files: tuple[int, ...] = ()) -> None:
    """One message, with open files."""
    data = json.dumps(message).encode()
    socket.send_fds(connection, [_HEAD.pack(len(data))], list(files))
    connection.sendall(data)


def receive(connection: socket.socket, files: int = 0) -> tuple[dict[str, Any], list[int]] | None:
    """The next message and its open files; None where the other end has gone or says what is not a message."""
    head, taken, _, _ = socket.recv_fds(connection, _HEAD.size, files) if files else (b"", [], 0, 0)
    try:
        while len(head) < _HEAD.size:
            piece = connection.recv(_HEAD.size - len(head))
            if not piece:
                raise ValueError
            head += piece
        size, data = _HEAD.unpack(head)[0], b""
        while len(data) < min(size, _MOST):
            piece = connection.recv(size - len(data))
            if not piece:
                raise ValueError
            data += piece
        message = json.loads(data)
        if not isinstance(message, dict):
            raise ValueError
    except (ValueError, OSError):
        for each in taken:
            os.close(each)
        return None
    return message, list(taken)


def connect() -> socket.socket | None:
    """A connection to the session of this user; None where there is none."""
    if not hasattr(socket, "SO_PEERCRED"):
        return None
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.connect(place())
        if is_own(connection):
            return connection
    except (OSError, NotMine):
        pass  # then this command runs on its own
    connection.close()
    return None


def hand_over(words: list[str]) -> int | None:
    """The exit status of a command that the session has run; None where it has to run on its own."""
    connection = connect()
    if connection is None:
        return None
    with connection:
        here = os.open(".", os.O_RDONLY | os.O_DIRECTORY)
        try:
            send(connection, {"words": words, "stamp": stamp()}, (0, 1, 2, here))
            answer = receive(connection)
        except OSError:
            return None
        finally:
            os.close(here)
        if answer is None or "refused" in answer[0]:
            return None
        return _wait(connection)


def _wait(connection: socket.socket) -> int:
    """Ctrl-C and SIGTERM cancel the command, and the session stays; a second one does not wait for that."""

    def cancel(*_: object) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        with suppress(OSError):  # the session has ended: the next answer is none
            send(connection, {"cancel": True})

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, cancel)
    try:
        while not select.select([connection], [], [], _LOOK)[0]:
            pass
        answer = receive(connection)
    except KeyboardInterrupt:
        return INTERRUPTED
    if answer is None:
        sys.stderr.write("idcore: the session ended before the command did; run it again\n")
        return SESSION_LOST
    return int(answer[0]["status"])
