"""Lists of IDs in the background of a server: begun, found again, cancelled. Each becomes a run; asks nobody itself."""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from idcore.answers.fate_list.batched_lookups import FateListProgress, IdList, ask
from idcore.answers.fate_list.tally import Tally, write
from idcore.answers.lookup import LookupService
from idcore.base.errors import CoreError, coded
from idcore.policy import audit
from idcore.policy.audit import Actor
from idcore.runs.runs import FATES, Run, Runs

Ask = Callable[[], object]  # CoreError where a list must not begin, now that its turn has come
_LOOK = 0.2  # seconds between two looks at whose turn it is
# One list at a time for each cluster: several would load it more than the look-ups of one reader.
_turns: weakref.WeakKeyDictionary[LookupService, threading.Lock] = weakref.WeakKeyDictionary()
_jobs: dict[str, Job] = {}
_lock = threading.Lock()


@contextmanager
def _turn(service: LookupService, stop: threading.Event) -> Iterator[None]:
    """Waits until no other list asks this cluster; who is stopped meanwhile does not wait, and asks nobody."""
    with _lock:
        turn = _turns.setdefault(service, threading.Lock())
    taken = False
    while not taken and not stop.is_set():
        taken = turn.acquire(timeout=_LOOK)
    try:
        yield
    finally:
        if taken:
            turn.release()


def _anyone() -> None:
    """Its caller has asked before."""


class Job:
    """One list: asked in a thread of the server, outlives the page that began it."""

    def __init__(self, run: Run, service: LookupService, wanted: IdList, user: str, ask: Ask) -> None:
        self.run, self._ask = run, ask
        self._began = time.monotonic()
        self._service, self._wanted, self._user = service, wanted, user
        self._stop = threading.Event()
        self._unwanted = self._ended = False
        self.error: CoreError | None = None
        self._asking = FateListProgress(len(wanted.ids), is_waiting=True)
        self._thread = threading.Thread(target=self._work, name=f"fates-{run.name}", daemon=True)
        self.run.set_state("running")
        facts = {"kind": FATES, "cluster": service.cluster.name, "ids": len(wanted.ids)}
        audit.note("scan_begun", Actor(user), run=run.name, **facts)
        self._thread.start()

    def _work(self) -> None:
        state: str = "failed"
        problem: CoreError | None = None
        try:
            with _turn(self._service, self._stop):
                self._ask()  # it may have waited for hours
                self._take(FateListProgress(len(self._wanted.ids)))
                tally = ask(self._service, self._wanted, self._user, self._take, self._stop)
            problem = tally.problem
            if tally.asked:  # what was judged is kept
                self._write(tally)
            state = "done" if tally.asked else "failed" if problem else "cancelled"
        except Exception as error:  # noqa: BLE001  any error becomes part of the run's record
            problem = coded(error) if isinstance(error, CoreError | OSError) else CoreError("said", {"why": str(error)})
        self._end(state, problem)

    def _write(self, tally: Tally) -> None:
        wanted = self._wanted
        write(
            self.run.path,
            tally,
            cluster=self._service.cluster.name,
            topic=wanted.topic,
            given=wanted.given,
            doubles=wanted.given - len(wanted.ids),
            stopped=self._stop.is_set(),
        )

    def _end(self, state: str, problem: CoreError | None) -> None:
        self._ended = True
        figures = {"cluster": self._service.cluster.name, "ids": self._asking.done, "error": problem and problem.code}
        seconds = round(time.monotonic() - self._began, 3)
        audit.scan_ended(Actor(self._user), self.run.name, FATES, state, seconds=seconds, **figures)
        try:
            if self._unwanted:
                self.run.remove()
                return
            unwritten = self.run.end(state, problem)
        except OSError as kept:
            unwritten = kept
        if unwritten is not None:  # the run was deleted, or its folder is read-only: the job itself still has it
            self.error = problem or coded(unwritten)

    def _take(self, now: FateListProgress) -> None:
        self._asking = now

    @property
    def wanted(self) -> IdList:
        """What was asked for, to ask again."""
        return self._wanted

    def progress(self) -> FateListProgress:
        """How far it is now; never blocks."""
        return self._asking

    def cancel(self) -> None:
        """Asks it to stop; what was judged is kept."""
        self._stop.set()

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

    def wait(self, seconds: float | None = None) -> FateListProgress:
        """Blocks until it has ended, or for so long."""
        self._thread.join(seconds)
        return self._asking


def start(runs: Runs, service: LookupService, wanted: IdList, user: str, ask: Ask = _anyone, **facts: Any) -> Job:
    """Begins a list as a run of its own. `ask` is called when its turn has come; `facts` are further facts."""
    options = {"asked_ids": len(wanted.ids), "cluster": service.cluster.name, "topic": wanted.topic}
    run = runs.create(f"{len(wanted.ids):,} IDs, {service.cluster.name}", "console", options, kind=FATES, **facts)
    job = _jobs[run.name] = Job(run, service, wanted, user, ask)
    return job


def forget_ended() -> None:
    """Drops the jobs that have ended: their answers are in the folders of their runs."""
    for name in [name for name, job in list(_jobs.items()) if job.ended]:
        _jobs.pop(name, None)


def find(run_name: str) -> Job | None:
    """The job of a list that this server began, ended or not."""
    return _jobs.get(run_name)
