"""One writer for one folder: a lock that ends with its process, however that ends. Reads no tables and never waits."""

from __future__ import annotations

import fcntl
import json
import os
import socket
from pathlib import Path
from typing import Any

from idcore.base.errors import CoreError
from idcore.runs.lease import NO_LOCKS
from idcore.sources.inputs import WRITING

_TRIES = 100


class FolderLock:
    """The folder's file `.writing`, locked by the system and naming who holds it.

    The system's lock goes with its process, so what a killed scan leaves behind is a file that nobody holds.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / WRITING
        self._descriptor = -1

    def take(self) -> None:
        """Makes the folder if it is missing; CoreError if another writer is at work in it, OSError from the disk."""
        for left in reversed(range(_TRIES)):
            try:
                if self._take():
                    return
            except (FileNotFoundError, FileExistsError):  # a writer that failed takes its new folder away: before
                # or after the system was asked for it, and `mkdir` says "exists" of one that is gone when it looks
                if not left:
                    raise
        raise CoreError("lock_busy", {"folder": str(self.path.parent)})

    def _take(self) -> bool:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        # Who else may write in a shared folder could put a link to another file there.
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o644)
        try:
            _lock(descriptor, self.path.parent)
            if self._is_still_there(descriptor):
                os.truncate(descriptor, 0)
                os.write(descriptor, json.dumps({"pid": os.getpid(), "host": socket.gethostname()}).encode())
                self._descriptor = descriptor
        finally:
            if self._descriptor < 0:
                os.close(descriptor)
        return self._descriptor >= 0

    @property
    def is_lost(self) -> bool:
        """Whether the folder was deleted, or moved: what is written there since is nobody's."""
        return not self._is_still_there(self._descriptor)

    def _is_still_there(self, descriptor: int) -> bool:
        """Whether the name still leads to this file: its last holder may have taken it away just before."""
        try:
            return os.path.samestat(os.fstat(descriptor), self.path.stat())
        except FileNotFoundError:
            return False

    def leave(self) -> None:
        """Takes the file away and then gives up the lock, so that nobody holds a file that has no name."""
        if self._descriptor >= 0:
            try:
                self.path.unlink(missing_ok=True)
            finally:
                os.close(self._descriptor)
                self._descriptor = -1


def _lock(descriptor: int, folder: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = _holder(descriptor)
        code = "lock_held_by" if holder else "lock_held"
        raise CoreError(code, {"folder": str(folder), **holder}) from None
    except OSError as error:
        if error.errno not in NO_LOCKS:
            raise


def _holder(descriptor: int) -> dict[str, Any]:
    """Process and host that hold the lock; empty while they have not written their names."""
    try:
        holder = json.loads(os.pread(descriptor, 1024, 0))
        return {"pid": holder["pid"], "host": holder["host"]}
    except (ValueError, KeyError, TypeError):
        return {}
