"""Watches one Spark job: how far it is, and a stop on request. Does not depend on what the job is for."""

from __future__ import annotations

import logging
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from idcore.base.errors import CoreError
from idcore.scan.meter import Meter, new_meter
from idcore.spark import health

if TYPE_CHECKING:
    from .tasks import Spark

POLL_SECONDS = 0.1  # seconds between two looks
State = Literal["waiting", "running", "done", "failed", "cancelled"]
Phase = Literal["reading", "merging", "judging", "writing"]
Report = Callable[["Progress"], None]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a scan is. `seconds_left` is None until it can be estimated. Judging reads the log once or twice more.

    `place` is that in the queue, from 1; 0 for one that has its turn.
    """

    state: State
    bytes_done: int = 0
    bytes_total: int = 0
    ids: int = 0
    seconds: float = 0.0
    seconds_left: float | None = None
    error: CoreError | None = None
    phase: Phase = "reading"
    place: int = 0


class Cancelled(CoreError):
    """The scan was stopped by its user."""


def check(stop: threading.Event) -> None:
    """Ends a scan that was asked to stop."""
    if stop.is_set():
        raise Cancelled("cancelled")


class Reporter:
    """Reports to a listener how far the scan is; a listener that fails gets no more reports, and the scan goes on."""

    def __init__(self, report: Report | None) -> None:
        self.report = report
        self.last = Progress("running")

    def __call__(self, progress: Progress) -> None:
        self.last = progress
        if self.report is not None:
            try:
                self.report(progress)
            except Exception as error:  # noqa: BLE001  someone else's code, and not what the scan is for
                self.report = None
                logging.getLogger(__name__).warning("progress is not shown any more: %s", error)


class _Pools:
    """Names of Spark's scheduler pools. Scans at work share the cores equally; a name is used again, because Spark
    keeps every pool it ever heard of."""

    def __init__(self) -> None:
        self.taken: set[int] = set()
        self.lock = threading.Lock()

    def take(self) -> int:
        with self.lock:
            number = next(n for n in range(len(self.taken) + 1) if n not in self.taken)
            self.taken.add(number)
            return number

    def give_back(self, number: int) -> None:
        with self.lock:
            self.taken.discard(number)


_pools = _Pools()


class Watch:
    """One job, by its tag. `sizes`: bytes of each partition.

    On this machine tasks move a meter as they read. Elsewhere finished tasks count, because nothing that a task reports
    arrives before it has ended. There they are many, so that is fine enough.

    A job that judges has the IDs of the scan before it.
    """

    def __init__(
        self,
        spark: Spark,
        sizes: Sequence[int],
        reporter: Reporter,
        stop: threading.Event,
        phase: Phase = "reading",
    ) -> None:
        self.phase, self.known = phase, reporter.last.ids
        self.spark, self.sizes, self.reporter, self.stop = spark, sizes, reporter, stop
        self.group = f"scan-{uuid.uuid4().hex}"
        self.began = time.monotonic()
        self.classic = not health.is_connect(spark)
        self.server: Any = spark  # of Connect
        self.local = health.is_local(spark)
        self.over = threading.Event()
        self.meter: Meter | None = None
        self.ids: Any = spark.sparkContext.accumulator(0) if self.classic and not self.local else None
        self.share = 0.0
        self.owner = threading.get_ident()
        self.thread = threading.Thread(target=self._watch, name=self.group, daemon=True)

    def __enter__(self) -> Watch:
        self.stack = ExitStack()
        if self.local:
            self.meter = self.stack.enter_context(new_meter(len(self.sizes)))
        if self.classic:
            context = self.spark.sparkContext
            pool = _pools.take()
            self.stack.callback(_pools.give_back, pool)
            context.setJobGroup(self.group, "scan", interruptOnCancel=True)
            context.setLocalProperty("spark.scheduler.pool", f"scan-{pool}")
        else:
            self.server.addTag(self.group)
            self.server.registerProgressHandler(self._on_connect)
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        self.thread.join()
        if not self.classic:
            self.server.removeProgressHandler(self._on_connect)
            self.server.removeTag(self.group)
        self.stack.close()

    def _on_connect(self, stages: Any = None, **_: object) -> None:
        """What a Connect server reports to the thread that waits: stages, in no order; the first is the reading."""
        if stages and threading.get_ident() == self.owner:
            first = min(stages, key=lambda stage: stage.stage_id)
            self.share = first.num_completed_tasks / first.num_tasks if first.num_tasks else 0.0

    def _watch(self) -> None:
        while not self.over.wait(POLL_SECONDS):
            try:
                if self.stop.is_set():
                    if self.classic:
                        self.spark.sparkContext.cancelJobGroup(self.group)
                    else:
                        self.server.interruptTag(self.group)
                progress = self.progress()
            except Exception as error:  # noqa: BLE001  a session that has gone fails the job itself, which says so
                logging.getLogger(__name__).debug("no look at the job: %s", error)
                continue
            self.reporter(progress)

    def progress(self) -> Progress:
        """Bytes read, ids found and seconds so far; the seconds left from the rate so far."""
        total = sum(self.sizes)
        seconds = time.monotonic() - self.began
        if self.meter is not None:
            done, ids = self.meter.total
        else:
            done, ids = int(total * self._share()), self.ids.value if self.ids is not None else 0
        done = min(done, total)
        left = seconds * (total - done) / done if done else None
        if self.phase == "judging":
            return Progress("running", done, total, self.known, seconds, left, phase=self.phase)
        return Progress("running", done, total, ids, seconds, left, phase="merging" if done == total else "reading")

    def _share(self) -> float:
        """Finished tasks of the reading stage."""
        if not self.classic:
            return self.share
        tracker = self.spark.sparkContext.statusTracker()
        jobs = [tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup(self.group)]
        stages = {stage for job in jobs if job is not None for stage in job.stageIds}
        info = tracker.getStageInfo(min(stages)) if stages else None
        return info.numCompletedTasks / info.numTasks if info and info.numTasks else 0.0
