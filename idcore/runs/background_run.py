"""A run that a thread of the server works at: found, cancelled, discarded, ended. What it does is the subclass's."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Generic, TypeVar

from idcore.base.errors import CoreError, coded
from idcore.policy import audit
from idcore.policy.audit import Actor
from idcore.runs.runs import Run

Now = TypeVar("Now")  # how far the work is
Ask = Callable[[], object]  # CoreError or PermissionError where a scan must not begin or go on now


def permitted() -> None:
    """The `ask` of a caller that has asked before."""


class BackgroundRun(Generic[Now]):
    """Outlives the page that began it. A subclass starts `_thread`, whose last act is `_record_end`."""

    _thread: threading.Thread

    def __init__(self, run: Run, who: Actor, kind: str, begin: Now) -> None:
        self.run, self.who, self._kind, self._progress = run, who, kind, begin
        self._began = time.monotonic()
        self._stop = threading.Event()
        self._unwanted = self._ended = False

    def cancel(self) -> None:
        """Asks it to stop; `wait` returns when it has."""
        self._stop.set()

    def progress(self) -> Now:
        """How far it is now; never blocks."""
        return self._progress

    def _take(self, progress: Now) -> None:
        self._progress = progress

    def wait(self, seconds: float | None = None) -> Now:
        """Blocks until it has ended, or for so long."""
        self._thread.join(seconds)
        return self._progress

    @property
    def cancelling(self) -> bool:
        """Whether it was asked to stop and has not yet."""
        return self._stop.is_set() and not self._ended

    def discard(self) -> None:
        """Stops it and deletes its folder, now or as soon as it has stopped; never blocks."""
        self._unwanted = True  # before the look at the end: a job that ends meanwhile sees it
        self._stop.set()
        if self._ended:
            with suppress(OSError):  # it is gone already
                self.run.remove()

    @property
    def ended(self) -> bool:
        """Whether its thread has done all it had to do."""
        return not self._thread.is_alive()

    def _record_end(self, state: str, error: CoreError | None, **figures: object) -> CoreError | None:
        """Writes how it ended into its folder and the audit log. Returns what only the job knows: its error, or why
        that was not written, where the run was deleted or its folder is read-only."""
        self._ended = True
        seconds = round(time.monotonic() - self._began, 3)
        audit.scan_ended(
            self.who, self.run.name, self._kind, state, error=error and error.code, seconds=seconds, **figures
        )
        try:
            if self._unwanted:
                self.run.remove()
                return None
            unwritten = self.run.end(state, error)
            self.run.remove_rest()
        except OSError as problem:
            unwritten = problem
        return None if unwritten is None else error or coded(unwritten)


_begun: dict[str, BackgroundRun[Any]] = {}  # by the names of their runs
Job = TypeVar("Job", bound=BackgroundRun[Any])


def keep(job: Job) -> Job:
    """Notes what has begun, so that `find` finds it."""
    _begun[job.run.name] = job
    return job


def find(run_name: str) -> BackgroundRun[Any] | None:
    """What this server began to do for a run, ended or not."""
    return _begun.get(run_name)


def every() -> list[BackgroundRun[Any]]:
    """All that was begun and is not forgotten."""
    return list(_begun.values())


def forget_ended() -> None:
    """Drops what has ended: what it made is in the folder of its run."""
    for name, job in list(_begun.items()):
        if job.ended:
            _begun.pop(name, None)


def forget_deleted() -> None:
    """Drops what has ended and whose run was deleted: who begins and deletes one list of IDs after the other has none
    of them kept, however long a page of somebody is open."""
    for name, job in list(_begun.items()):
        if job.ended and not job.run.path.exists():
            _begun.pop(name, None)
