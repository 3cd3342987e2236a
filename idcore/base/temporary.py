"""The folder of this process for what it keeps for a while, and the end of those that killed processes left behind.

A process that is killed (SIGKILL) removes nothing. Its folder then has no owner, which its lock shows: the next process
of the same user removes it. Callers make their files in `own()`, and remove them when they are done.
"""

from __future__ import annotations

import atexit
import fcntl
import logging
import os
import shutil
import tempfile
import threading
from dataclasses import dataclass

PREFIX = "idcore-process-"  # no version before had it: what those left has no lock, and its owner may be alive


@dataclass(frozen=True, slots=True)
class Folder:
    """A temporary folder, the process that made it, and the descriptor with its lock."""

    path: str
    process: int
    lock: int


LOG = logging.getLogger(__name__)
_guard = threading.RLock()
_own: Folder | None = None


def own() -> str:
    """The folder of this process, made at the first call and removed when it ends. OSError where none can be made."""
    return _get().path


def lock() -> int:
    """The descriptor with the lock of that folder. A child that inherits it is an owner too, as long as it lives."""
    return _get().lock


def remove() -> None:
    """Removes it with all that is in it: for a server, which a signal ends without `atexit`."""
    with _guard:
        if _own is not None and _own.process == os.getpid():
            shutil.rmtree(_own.path, ignore_errors=True)
            leave()


def leave() -> None:
    """Leaves the folder to its other owners: a child still needs it. The next process removes it."""
    global _own
    with _guard:
        if _own is not None and _own.process == os.getpid():
            os.close(_own.lock)
        _own = None


def _get() -> Folder:
    global _own
    with _guard:
        if _own is None or _own.process != os.getpid() or not os.path.isdir(_own.path):
            _own = new()
            atexit.register(remove)
        return _own


def new() -> Folder:
    """A new folder, for who removes it. Those without an owner go first.

    It is made once more if another process has taken it for one of those, before it had its lock.
    """
    try:
        _sweep(tempfile.gettempdir())
    except OSError as problem:  # no list of that folder, or no locks in it
        LOG.debug("what ended processes left is not removed: %s", problem)
    while True:
        path = tempfile.mkdtemp(prefix=PREFIX)
        try:
            found = _locked(path)
        except OSError:  # a file system without locks: what is left there stays
            return Folder(path, os.getpid(), os.open(path, os.O_RDONLY))
        if found is not None and os.path.isdir(path):
            return Folder(path, os.getpid(), found)
        if found is not None:
            os.close(found)


def _locked(path: str) -> int | None:
    """A descriptor with the lock (flock) of a folder; None where a process has it, or it is no folder.

    OSError where no locks can be had.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as problem:
        os.close(descriptor)
        if isinstance(problem, BlockingIOError):  # an owner is alive
            return None
        raise
    return descriptor


def _sweep(there: str) -> None:
    """Removes the folders of this user's processes that have ended."""
    for entry in os.scandir(there):
        if not entry.name.startswith(PREFIX) or (descriptor := _locked(entry.path)) is None:
            continue
        if os.fstat(descriptor).st_uid == os.geteuid():
            shutil.rmtree(entry.path, ignore_errors=True)
        os.close(descriptor)
