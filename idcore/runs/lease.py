"""Which process holds a folder of runs, and whether it still lives. Compares no clocks and depends on no run.

A process has one lease for each folder: a file that it locks and counts up. A lock that is held proves that its process
lives. On the machine of the reader a lock that is free proves the opposite. A holder on another machine may have locks
of its own: there the count is watched, for so long as the reader's own clock goes forward.
"""

from __future__ import annotations

import atexit
import errno
import fcntl
import json
import logging
import os
import platform
import re
import threading
import time
import uuid
from contextlib import suppress
from functools import cache
from pathlib import Path
from stat import S_ISREG
from typing import Any

from idcore.base.plain_json import loads

LOG = logging.getLogger(__name__)
FOLDER = ".leases"
BEAT = 5.0  # seconds between two counts
PATIENCE = 20.0  # seconds that a count may stay the same before its process has gone
_LONGEST = 1_000  # bytes of one
_NAME = re.compile(r"[0-9a-f]{32}")
NO_LOCKS = (errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOLCK, errno.ENOSYS)  # some network file systems have no locks


@cache
def machine() -> str:
    """This boot of this machine: containers on it share its kernel, and so its locks."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return platform.node()


class Lease:
    """This process's file in a folder: locked before it has its name, counted up while the process lives."""

    def __init__(self, root: Path) -> None:
        self.name, self.beats = uuid.uuid4().hex, 0
        self.path = root / FOLDER / self.name
        self.path.parent.mkdir(parents=True, exist_ok=True)
        spare = self.path.with_name(f".{self.name}")
        self._descriptor = os.open(spare, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o644)
        try:
            _lock(self._descriptor)
            self.beat()
            spare.rename(self.path)
        except OSError:  # of a full disk, at each new scan: no file and no descriptor stays
            os.close(self._descriptor)
            spare.unlink(missing_ok=True)
            raise

    def beat(self) -> None:
        """Counts up, in place: a full disk takes nothing from a lease."""
        self.beats += 1
        os.pwrite(self._descriptor, json.dumps({"beats": self.beats, "machine": machine()}).encode(), 0)

    @property
    def is_lost(self) -> bool:
        """Whether its file was deleted."""
        return os.fstat(self._descriptor).st_nlink == 0

    def leave(self) -> None:
        """Takes the file away: its process has gone. Of one that stays in a read-only folder the lock is free."""
        with suppress(OSError):
            self.path.unlink(missing_ok=True)
        os.close(self._descriptor)


def _lock(descriptor: int) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in NO_LOCKS:
            raise


class _Held:
    """The leases of this process, and one thread that counts them up."""

    def __init__(self) -> None:
        self.process = os.getpid()
        self.leases: dict[Path, Lease] = {}
        self.lock = threading.Lock()
        self.thread: threading.Thread | None = None
        self.silent = set[Path]()  # folders that cannot be written now

    def of(self, root: Path) -> Lease:
        with self.lock:
            lease = self.leases.get(root)
            if lease is not None and lease.is_lost:
                lease.leave()
                lease = None
            if lease is None:
                lease = self.leases[root] = Lease(root)
                _sweep(root, lease.name)
            if self.thread is None:
                self.thread = threading.Thread(target=self._beat, name="lease", daemon=True)
                self.thread.start()
            return lease

    def _beat(self) -> None:
        while True:
            time.sleep(BEAT)
            self.renew()

    def renew(self) -> None:
        """Counts all of them up. What cannot be counted up is in the log once, until it can."""
        with self.lock:
            for root, lease in list(self.leases.items()):
                try:
                    if lease.is_lost:
                        lease.leave()
                        del self.leases[root]
                    else:
                        lease.beat()
                    self.silent.discard(root)
                except OSError as error:
                    if root not in self.silent:
                        LOG.warning("the lease of this process is not renewed: %s", error.strerror)
                    self.silent.add(root)

    def leave(self) -> None:
        if self.process == os.getpid():  # a fork shares the lock, and has no part in it
            with self.lock:
                for lease in self.leases.values():
                    lease.leave()
                self.leases.clear()


_held = _Held()
atexit.register(lambda: _held.leave())


def mine(root: Path) -> str:
    """The name of this process's lease in a folder; the first call begins it."""
    global _held
    if _held.process != os.getpid():
        _held = _Held()
    return _held.of(root.absolute()).name


def is_held(root: Path, name: str) -> bool:
    """Whether the process that has this lease lives. One of another machine is watched first, and lives until then."""
    own = _held.leases.get(root.absolute())
    if own is not None and own.name == name and _held.process == os.getpid():
        return True
    if not _NAME.fullmatch(name):
        return False
    path = root / FOLDER / name
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)  # to open a pipe waits for nobody
    except FileNotFoundError:
        return False
    try:
        if not S_ISREG(os.fstat(descriptor).st_mode):  # a lease is a file
            return False
        free, lease = _is_free(descriptor), _read(descriptor)
    finally:
        os.close(descriptor)
    if free is not None and (not free or lease["machine"] == machine()):
        return not free
    return _watch.moves(path.absolute(), lease["beats"])


def _read(descriptor: int) -> dict[str, Any]:
    """What a lease says; of one that lost its text when the machine lost its power, a count that stays the same."""
    lease = loads(os.pread(descriptor, _LONGEST, 0))
    return lease if lease is not None and lease.keys() >= {"beats", "machine"} else {"beats": -1, "machine": ""}


def _is_free(descriptor: int) -> bool | None:
    """Whether nobody has the lock; None where the file system has none."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in NO_LOCKS:
            raise
        return None
    fcntl.flock(descriptor, fcntl.LOCK_UN)
    return True


class _Watch:
    """Counts of other machines, each with this process's own time of its last change."""

    def __init__(self) -> None:
        self.seen: dict[Path, tuple[int, float]] = {}

    def moves(self, path: Path, beats: int) -> bool:
        now = time.monotonic()
        before, since = self.seen.get(path, (None, now))
        if before != beats:
            since = now
        self.seen[path] = (beats, since)
        return now - since < PATIENCE


_watch = _Watch()


def _sweep(root: Path, own: str) -> None:
    """Takes away what processes of this machine left behind."""
    for path in (root / FOLDER).iterdir():
        if path.name != own and _NAME.fullmatch(path.name) and path.is_file() and not is_held(root, path.name):
            path.unlink(missing_ok=True)
