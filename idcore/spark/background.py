"""Scans in the background of a server: begun, and begun again. Does not scan itself."""

from __future__ import annotations

import logging
import shutil
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from idcore.base.errors import CoreError, refuse
from idcore.base.open_folders import Roots
from idcore.ids.clock import parse_zone, zone_text
from idcore.policy import audit, limits, logs
from idcore.policy.audit import Actor
from idcore.policy.page_turns import TURNS
from idcore.rocketmq.store.config import subscriptions_in, subscriptions_text
from idcore.runs.background_run import Ask, BackgroundRun, every, keep, permitted
from idcore.runs.runs import FOLLOWED, STORE, TEXT, Run
from idcore.scan import run_damage

from . import scan_queue
from .job import FollowOptions, ScanOptions, problem_of, scan
from .locate import locate
from .watch import Cancelled, Progress, State

if TYPE_CHECKING:
    from .follow import FollowStatus

LOG = logging.getLogger(__name__)
OnRefresh = Callable[[Run], None]
REST_RATIO = 3  # the index of a scan that goes on is made again after so many times as long as it took
TABLES_FIRST = 3.0  # seconds that a scan waits while pages make their tables: it takes all cores


class Job(BackgroundRun[Progress]):
    """A scan of the console."""

    def __init__(
        self,
        run: Run,
        paths: Sequence[str],
        options: ScanOptions,
        names: dict[str, str] | None = None,
        who: Actor = audit.CONSOLE,
        ask: Ask = permitted,
    ) -> None:
        super().__init__(run, who, STORE if options.store else TEXT, Progress("waiting"))
        self._ask = ask
        self._thread = threading.Thread(
            target=self._work, args=(list(paths), options, names), name=f"job-{run.name}", daemon=True
        )
        self.run.begin(self._plan(paths, options, names))
        audit.note("scan_begun", who, run=run.name, kind=self._kind, files=len(paths))
        self._thread.start()

    def _plan(self, paths: Sequence[str], options: ScanOptions, names: dict[str, str] | None) -> dict[str, Any]:
        """What it was asked for, so that `again` can ask for the same."""
        zone = options.zone
        return {
            "paths": list(paths),
            "names": names,
            "zone": zone and (getattr(zone, "key", None) or zone_text(zone.utcoffset(None))),
            "zone_source": options.zone_source,
            "at": options.at and options.at.isoformat(),
            "split_size": options.split_size,
            "case": options.case,
            "store": options.store,
            "subscriptions": subscriptions_text(options.subscriptions),
        }

    def _work(self, paths: list[str], options: ScanOptions, names: dict[str, str] | None) -> None:
        try:
            with logs.of_run(self.run.name):
                summary = self._do(paths, options, names)
        except Cancelled:
            self._end("cancelled")
        except Exception as error:
            problem = problem_of(error)
            if problem.code == "said" and not isinstance(error, CoreError | OSError):  # else it has a name
                LOG.error("a scan failed", exc_info=error, extra={"run": self.run.name})
            self._end("failed", problem)
        else:
            size, ids = summary["bytes"], summary["ids"]  # a short scan ends before a look at how far it is
            self._progress = replace(self._progress, bytes_done=size, bytes_total=size, ids=ids, seconds_left=0.0)
            self._end("done")
            if self._progress.bytes_total >= scan_queue.LARGE:  # of less they are found when they are asked for
                locating(self.run, options.roots)

    def _do(self, paths: list[str], options: ScanOptions, names: dict[str, str] | None) -> dict[str, Any]:
        """The work, when its turn has come; the summary of what it made."""
        owner = self.run.facts.get("owner")
        with scan_queue.of(paths, options.store, options.roots).turn(self._stop, self._take_place, owner):
            self._ask()  # it may have waited for hours
            self._progress = replace(self._progress, place=0)
            TURNS.after_tables(TABLES_FIRST)
            return scan(paths, self.run.path, options, self._take, self._stop, names)

    def _end(self, state: State, error: CoreError | None = None) -> None:
        self._progress = now = replace(self._progress, state=state, error=error)
        if (problem := self._record_end(state, error, bytes=now.bytes_total, ids=now.ids)) is not None:
            self._progress = replace(self._progress, error=problem)

    def _take_place(self, place: int) -> None:
        self._progress = replace(self._progress, place=place)


class Following(Job):
    """A scan of the console that goes on until it is stopped. It waits for no turn."""

    def __init__(
        self,
        run: Run,
        paths: Sequence[str],
        options: FollowOptions,
        who: Actor = audit.CONSOLE,
        ask: Ask = permitted,
        on_refresh: OnRefresh | None = None,
    ) -> None:
        self._followed, self._on_refresh, self.keeps_on_exit = options, on_refresh, False
        self.owner = run.facts.get("owner")
        super().__init__(run, paths, options.scan, None, who, ask)

    def _plan(self, paths: Sequence[str], options: ScanOptions, names: dict[str, str] | None) -> dict[str, Any]:
        since = self._followed.since
        asked = {"since": since if isinstance(since, str) else since.isoformat(), "kept": self._followed.kept}
        return super()._plan(paths, options, names) | {"follow": asked}

    def _do(self, paths: list[str], options: ScanOptions, names: dict[str, str] | None) -> dict[str, Any]:
        from .follow import Follower  # SQL, which a scan does without

        self._ask()
        summary = Follower(paths, self.run.path, self._followed, self._refreshed, self._permit).run(self._stop)
        if not self.keeps_on_exit:
            shutil.rmtree(self.run.path / FOLLOWED, ignore_errors=True)  # it was stopped, and is a scan like others now
        return summary

    def _end(self, state: State, error: CoreError | None = None) -> None:
        if not self.keeps_on_exit:
            super()._end(state, error)

    def _permit(self) -> None:
        """Who may not see what is new does not have it followed any more."""
        try:
            self._ask()
        except (CoreError, PermissionError) as refused:
            LOG.warning("not followed any more: %s", refused, extra={"run": self.run.name})
            self._stop.set()
            raise

    def _refreshed(self, now: FollowStatus) -> None:
        summary = now.summary or {}
        size = int(summary.get("bytes", 0))
        self._progress = replace(
            self._progress, state="running", bytes_done=size, bytes_total=size + now.behind, ids=now.ids
        )
        try:
            if self._on_refresh is not None:
                self._on_refresh(self.run)
        except (CoreError, OSError) as problem:  # who listens must not stop what is followed
            LOG.warning("a refresh is not passed on: %s", problem, extra={"run": self.run.name})


class Locating:
    """The index of a run's lines while it is made: in a thread of the server, once for all who wait for it."""

    def __init__(self, run: Run, roots: Roots = None) -> None:
        self.problem: CoreError | None = None
        self._began, self._rests_until = time.monotonic(), 0.0
        self._thread = threading.Thread(target=self._work, args=(run, roots), name=f"locate-{run.name}", daemon=True)
        self._thread.start()

    def _work(self, run: Run, roots: Roots) -> None:
        try:
            locate(run, roots)
        except Exception as error:  # noqa: BLE001  the page shows why there are no lines
            self.problem = run_damage.damage(run) or problem_of(error)
        run.remove_rest()
        now = time.monotonic()
        self._rests_until = now + REST_RATIO * (now - self._began)

    def must_rest(self, run: Run) -> bool:
        """Whether the index of a scan that goes on was made a moment ago: it may take both cores each time."""
        return run.state == "running" and time.monotonic() < self._rests_until

    def wait(self, seconds: float | None = None) -> bool:
        """Whether it has ended, after so many seconds at the most."""
        self._thread.join(seconds)
        return not self._thread.is_alive()


_locating: dict[str, Locating] = {}
_lock = threading.Lock()


def start(
    run: Run,
    paths: Sequence[str],
    options: ScanOptions,
    names: dict[str, str] | None = None,
    who: Actor = audit.CONSOLE,
    ask: Ask = permitted,
) -> Job:
    """Begins a scan of `paths` into the scan's folder; `ask` is called when its turn has come."""
    return keep(Job(run, paths, options, names, who, ask))


def follow(
    run: Run,
    paths: Sequence[str],
    options: FollowOptions,
    who: Actor = audit.CONSOLE,
    ask: Ask = permitted,
    on_refresh: OnRefresh | None = None,
) -> Job:
    """Begins to follow `paths` into the scan's folder; `ask` is called with each refresh.

    CoreError where as many are followed as may be. One person has half of them at most, as of the scans at once.
    """
    with _lock:
        if limits.exceeds("follows", count := count_followed() + 1):
            raise limits.limit_error("follows", count)
        most, owner = limits.value("follows"), run.facts.get("owner")
        own = count_followed(owner) + 1
        if most is not None and owner is not None and own > (half := max(1, most // 2)):
            raise refuse("limit_follows", held=own, most=half)
        return keep(Following(run, paths, options, who, ask, on_refresh))


def leave_followed() -> None:
    """The end of the server is not the end of what it follows: that stays as it is, for the next server."""
    for job in every():
        if isinstance(job, Following):
            job.keeps_on_exit = True


def count_followed(owner: str | None = None) -> int:
    """The number of scans that follow their inputs, of all or of one person."""
    following = (job for job in every() if isinstance(job, Following) and not job.ended)
    return sum(owner in (None, job.owner) for job in following)


def forget_located() -> None:
    """Drops the indexes of lines that are made: they are in the folders of their scans."""
    with _lock:
        for name in [name for name, going in _locating.items() if going.wait(0)]:
            del _locating[name]


def locating(run: Run, roots: Roots = None, again: bool = False) -> Locating:
    """Makes the index of a finished run, unless that is going on, or has failed and is not asked for `again`."""
    with _lock:
        going = _locating.get(run.name)
        if going is None or (going.wait(0) and (again or (going.problem is None and not going.must_rest(run)))):
            going = _locating[run.name] = Locating(run, roots)
        return going


def at_work() -> int:
    """The number of scans that have not ended."""
    return sum(isinstance(job, Job) and not job.ended for job in every())


def again(
    run: Run, roots: Roots = None, who: Actor = audit.CONSOLE, ask: Ask = permitted, on_refresh: OnRefresh | None = None
) -> Job:
    """Begins a failed or cancelled scan again, as it was asked for; what is open by now is not of its plan.

    What was followed is followed on: nothing of it is read twice.
    """
    plan = run.planned
    if run.state not in ("failed", "cancelled"):
        raise CoreError("scan_not_ended")
    options = replace(_options(plan), roots=roots)
    if (asked := plan.get("follow")) is not None:
        since = asked["since"] if asked["since"].isalpha() else datetime.fromisoformat(asked["since"])
        return follow(run, plan["paths"], FollowOptions(options, since, asked["kept"]), who, ask, on_refresh)
    return start(run, plan["paths"], options, plan["names"], who, ask)


def _options(plan: dict[str, Any]) -> ScanOptions:
    asked = {name: plan[name] for name in ("zone_source", "split_size", "case")}
    zone, at = plan["zone"], plan["at"]
    asked["store"] = plan.get("store")  # plans of older scans do not name one, nor tags
    asked["subscriptions"] = subscriptions_in(plan.get("subscriptions") or "")
    return ScanOptions(zone and parse_zone(zone), at=at and datetime.fromisoformat(at), **asked)
