"""What this server does in the background for runs: found by the run, begun where Spark is, ended with their sessions.

A run that is not kept is held by sessions. With the last of them it goes, and its job is stopped. Uses no page.
"""

from __future__ import annotations

import importlib.util
import sys
import threading
import weakref
from collections.abc import Callable, Collection
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, cast

from idcore.base import temporary
from idcore.base.open_folders import Roots
from idcore.policy import limits, settings
from idcore.runs import background_run, room
from idcore.runs.run_facts import UNENDED
from idcore.runs.runs import Run, RunError, Runs, runs_root
from idcore.server import announcements, setting_up

if TYPE_CHECKING:
    from idcore.answers.fate_list.background import Job as ListJob
    from idcore.policy.audit import Actor
    from idcore.spark.background import Job, Locating
    from idcore.spark.job import FollowOptions
    from idcore.spark.session import Status


def has_spark() -> bool:
    """Whether PySpark is installed, whole: not while set-up is still at it."""
    return setting_up.now() is None and importlib.util.find_spec("pyspark") is not None


def engine() -> Status | None:
    """How far Spark is; None where this installation has no Spark, or not yet."""
    if not has_spark():
        return None
    from idcore.spark import session

    return session.status()


def warm_up() -> None:
    """Begins to start Spark, once; without Java or without Spark nothing happens."""
    swept(str(runs_root()))
    if settings.current().no_spark or not has_spark():
        return
    from idcore.spark import session

    session.start_in_background()


def ready() -> bool:
    """Whether a scan can begin (it waits for Spark by itself)."""
    status = engine()
    return not settings.current().no_spark and status is not None and status.state in ("idle", "starting", "ready")


@cache
def swept(root: str) -> int:
    """Once for a server: what an earlier one was not to keep and could not delete."""
    return Runs(Path(root)).sweep()


def of(run: Run) -> Job | ListJob | None:
    """The running or finished job of this server for a scan, or for a list of IDs."""
    return cast("Job | ListJob | None", background_run.find(run.name))


def cancel(run: Run) -> None:
    """Asks the job of a run to end, if this server began one."""
    if (job := of(run)) is not None:
        job.cancel()


def stop_unpinned(runs: Runs, name: str) -> None:
    """Asks the job of a visitor's own run to end, unless the run is pinned."""
    run = runs.own(name)
    if not run.pinned:
        cancel(run)


def delete_unpinned(runs: Runs, name: str) -> str | None:
    """Waits up to 10 s for the job of a visitor's own run, then deletes it; its kind. None where it is pinned."""
    run = runs.own(name)
    if run.pinned:
        return None
    kind = run.kind
    if (job := of(run)) is not None:
        job.wait(10)
    runs.delete(name)
    return kind


def follow(run: Run, paths: list[str], options: FollowOptions, who: Actor, ask: Callable[[], object]) -> None:
    """Begins to follow files; CoreError where as many are followed as may be."""
    from idcore.spark import background

    background.follow(run, paths, options, who, ask, announcements.announce_new_errors)


def again(run: Run, roots: Roots, who: Actor, ask: Callable[[], object]) -> None:
    """Begins a failed or cancelled scan again; what was followed is followed on."""
    from idcore.spark import background

    background.again(run, roots, who, ask, announcements.announce_new_errors)


def is_followed(run: Run) -> bool:
    """Whether this server follows files into a run now."""
    job = of(run)
    return job is not None and not job.ended and (run.plan or {}).get("follow") is not None


def locating(run: Run, roots: Roots, again: bool = False) -> Locating | None:
    """The search for the lines of a finished run, begun where it is not going on; None where scans cannot run here."""
    if not ready():
        return None
    from idcore.spark import background

    return background.locating(run, roots, again)


def lines_are_old(run: Run) -> bool:
    """Whether the index of the lines of a scan that goes on lacks what came since, and can be made again."""
    if run.lines_behind <= 0 or not ready():
        return False
    from idcore.spark import locate

    return locate.is_old(run)


def gauges(root: Path) -> dict[str, float]:
    """What is now: for the metrics."""
    sizes, spark = room.sizes(root), engine()
    return {
        "scans_running": at_work(),
        "scans_waiting": waiting(),
        "spark_up": spark is not None and spark.state == "ready",
        "runs_kept": len(sizes),
        "runs_bytes": sum(sizes.values()),
        "disk_free_bytes": room.free(root),
    }


def waiting() -> int:
    """How many scans wait for their turn."""
    count = getattr(
        sys.modules.get("idcore.spark.scan_queue"), "waiting", None
    )  # None also while another thread loads it
    return count() if count is not None else 0


def at_work() -> int:
    """How many scans are being done."""
    count = getattr(sys.modules.get("idcore.spark.background"), "at_work", None)
    return max(0, count() - waiting()) if count is not None else 0


# ---- room for one more


_expected: dict[Path, int] = {}  # bytes of runs that were begun here and have not ended
_one_more = threading.Lock()
_begun: dict[str, set[str]] = {}  # names of runs by whom limits count: a page and a program of one person are one
TABLES, SHARE = 128 << 10, 8  # a scan of common logs writes less than these bytes, and that part of what it reads


def mine(who: str, run: Run) -> None:
    """From now on this run counts for whom limits count so."""
    _begun.setdefault(who, set()).add(run.name)


def begun_by(who: str) -> frozenset[str]:
    """The names of runs that count for them, less those that were deleted; another tab may begin one meanwhile."""
    names = frozenset(_begun.get(who, ()))
    if gone := {name for name in names if not (runs_root() / name).exists()}:
        _begun[who] -= gone
    return names - gone


def admit(root: Path, begun: Collection[str], owned: Collection[str], more: int) -> None:
    """CoreError where there is no room for one more run, of `more` bytes, of who began some here and owns others."""
    here = [job for name in begun if (job := of(Run(root / name))) is not None and not job.ended]
    if limits.exceeds("scans_of_one", len(here) + 1):
        raise limits.limit_error("scans_of_one", len(here))
    if "idcore.spark.scan_queue" in sys.modules and limits.exceeds("queue", (queued := waiting()) + 1):
        raise limits.limit_error("queue", queued)
    kept = len({*begun, *owned})
    if more and limits.exceeds("runs_of_one", kept + 1):  # what is begun again is one of them
        raise limits.limit_error("runs_of_one", kept)
    for path in list(_expected):
        if not _is_at_work(Run(path)):
            _expected.pop(path, None)
    room.refuse_too_much(root, more, {*begun, *owned}, {path.name: size for path, size in dict(_expected).items()})


def admitted(create: Callable[[], Run], ask: Callable[[int], None], copied: int, read: int) -> Run:
    """A new run, where there is room for its copy of so many bytes and for the tables of what it reads.

    One after the other: many that come at once do not all take the same room.
    """
    size = copied + TABLES + min(read, limits.MOST_INDEXED) // SHARE
    with _one_more:
        ask(size)
        run = create()
        _expected[run.path] = size
    return run


def _is_at_work(run: Run) -> bool:
    try:
        return run.state in UNENDED
    except RunError:  # deleted
        return False


# ---- runs that are not kept


class Hold:
    """What sessions have of a run that is not kept: with the last of them it goes, and so does the run."""


_holds: weakref.WeakValueDictionary[str, Hold] = weakref.WeakValueDictionary()


def hold(name: str) -> Hold:
    """What a session is to have as long as it has the run."""
    held = _holds.get(name)
    if held is None:
        held = _holds[name] = Hold()
        weakref.finalize(held, discard, runs_root(), name).atexit = False
    return held


def discard_all() -> None:
    """The end of the server: no session has anything any more, and Java has nothing to do."""
    from idcore.spark.start import jvm

    if "idcore.spark.background" in sys.modules:
        sys.modules["idcore.spark.background"].leave_followed()
    for name in list(_holds):
        discard(runs_root(), name, 5)
    jvm.end()
    temporary.remove()


def discard(root: Path, name: str, seconds: float = 0) -> None:
    """Deletes a run that was not to be kept; one at work is stopped, and deletes itself when it has."""
    job = of(Run(root / name))
    if job is None:
        with suppress(OSError):  # it is gone already
            Run(root / name).remove()
        return
    job.discard()
    job.wait(seconds)
