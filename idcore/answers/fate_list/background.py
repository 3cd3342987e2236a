"""Lists of IDs in the background of a server. Each becomes a run; asks nobody itself."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from idcore.answers.fate_list.batched_lookups import FateListProgress, IdList, ask
from idcore.answers.fate_list.tally import Tally, write
from idcore.answers.lookup import LookupService
from idcore.base.errors import CoreError, coded
from idcore.policy import audit
from idcore.policy.audit import Actor
from idcore.runs.background_run import Ask, BackgroundRun, keep, permitted
from idcore.runs.runs import FATES, Run, Runs

_POLL_SECONDS = 0.2  # seconds between two looks at whose turn it is
# One list at a time for each cluster: several would load it more than the look-ups of one reader.
_turns: weakref.WeakKeyDictionary[LookupService, threading.Lock] = weakref.WeakKeyDictionary()
_lock = threading.Lock()


@contextmanager
def _turn(service: LookupService, stop: threading.Event) -> Iterator[None]:
    """Waits until no other list asks this cluster; who is stopped meanwhile does not wait, and asks nobody."""
    with _lock:
        turn = _turns.setdefault(service, threading.Lock())
    taken = False
    while not taken and not stop.is_set():
        taken = turn.acquire(timeout=_POLL_SECONDS)
    try:
        yield
    finally:
        if taken:
            turn.release()


class Job(BackgroundRun[FateListProgress]):
    """One list. What was judged before it is cancelled is kept."""

    def __init__(self, run: Run, service: LookupService, wanted: IdList, user: str, ask: Ask) -> None:
        super().__init__(run, Actor(user), FATES, FateListProgress(len(wanted.ids), is_waiting=True))
        self._service, self.wanted, self._ask = service, wanted, ask
        self.error: CoreError | None = None
        self._thread = threading.Thread(target=self._work, name=f"fates-{run.name}", daemon=True)
        self.run.set_state("running")
        facts = {"kind": FATES, "cluster": service.cluster.name, "ids": len(wanted.ids)}
        audit.note("scan_begun", self.who, run=run.name, **facts)
        self._thread.start()

    def _work(self) -> None:
        state: str = "failed"
        problem: CoreError | None = None
        try:
            with _turn(self._service, self._stop):
                self._ask()  # it may have waited for hours
                self._take(FateListProgress(len(self.wanted.ids)))
                tally = ask(self._service, self.wanted, self.who.user, self._take, self._stop)
            problem = tally.problem
            if tally.asked:  # what was judged is kept
                self._write(tally)
            state = "done" if tally.asked else "failed" if problem else "cancelled"
        except Exception as error:  # noqa: BLE001  any error becomes part of the run's record
            problem = coded(error) if isinstance(error, CoreError | OSError) else CoreError("said", {"why": str(error)})
        self._end(state, problem)

    def _write(self, tally: Tally) -> None:
        wanted = self.wanted
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
        figures = {"cluster": self._service.cluster.name, "ids": self._progress.done}
        self.error = self._record_end(state, problem, **figures)


def start(runs: Runs, service: LookupService, wanted: IdList, user: str, ask: Ask = permitted, **facts: Any) -> Job:
    """Begins a list as a run of its own. `ask` is called when its turn has come; `facts` are further facts."""
    options = {"asked_ids": len(wanted.ids), "cluster": service.cluster.name, "topic": wanted.topic}
    run = runs.create(f"{len(wanted.ids):,} IDs, {service.cluster.name}", "console", options, kind=FATES, **facts)
    return keep(Job(run, service, wanted, user, ask))
