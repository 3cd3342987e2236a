"""How long runs are kept: which are too old, which soon will be. Never deletes a pinned run or one at work.

No run goes before it was warned of for a while, and that while is counted by the server's own work. So a clock that
jumps forward by years deletes nothing, nor does the first day of a console that was off for long.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from idcore.base.plain_json import read
from idcore.policy import audit, limits, metrics
from idcore.runs.run_facts import UNENDED
from idcore.runs.runs import Run, Runs, kind_of, state_of, write_text

LOG = logging.getLogger(__name__)
WARNED = timedelta(days=7)  # before the end
SEEN = ".warned"  # in the folder of runs: for how many seconds each run is warned of by now


def ends(created: datetime, pinned: bool) -> datetime | None:
    """When a run is too old; None where it stays."""
    days = limits.value("days")
    return None if days is None or pinned else created + timedelta(days=days)


def warning() -> timedelta:
    """How long a run is warned of before it goes: a week, and of fewer days a quarter of them."""
    return min(WARNED, timedelta(days=(limits.value("days") or 0) / 4))


def ends_soon(row: Mapping[str, Any], now: datetime, root: Path) -> datetime | None:
    """When a row of the list of runs goes, if it is warned of; one that is too old already waits for its warning."""
    end = ends(row["created"], row["pinned"])
    if end is None or end - now > warning():
        return None
    return end if end > now else now + max(timedelta(0), warning() - _warned(root).get(row["name"], timedelta(0)))


def sweep(runs: Runs, now: datetime, worked: timedelta) -> list[str]:
    """Deletes what is too old and was warned of, and says so in the audit log.

    `worked` is the time since the last look, of a clock that nobody sets.
    """
    if limits.value("days") is None:
        return []
    before, warned, gone = _warned(runs.root), dict[str, timedelta](), []
    for run, facts in runs.with_facts():
        end = ends(datetime.fromisoformat(facts["created"]), bool(facts.get("pinned")))
        if end is None or end - now > warning():
            continue
        warned[run.name] = before[run.name] + worked if run.name in before else timedelta(0)
        at_work = state_of(facts, runs.root) in UNENDED
        if end <= now and not at_work and warned[run.name] >= warning() and _delete(run, facts):
            gone.append(run.name)
            del warned[run.name]
    if warned != before:
        try:
            write_text(
                runs.root / SEEN, json.dumps({name: round(time.total_seconds()) for name, time in warned.items()})
            )
        except OSError as error:
            LOG.warning("which scans are warned of could not be noted, so none of them is deleted: %s", error.strerror)
    return gone


def _delete(run: Run, facts: dict[str, Any]) -> bool:
    """Whether it has gone: nothing of a folder that is read-only goes."""
    try:
        run.remove()
    except OSError:
        return False
    metrics.count("runs_expired")
    audit.note("run_deleted", audit.CONSOLE, run=run.name, kind=kind_of(facts), outcome="expired")
    return True


def _warned(root: Path) -> dict[str, timedelta]:
    """For how long each run is warned of; of a file that cannot be read none is, and so none goes."""
    try:
        return {name: timedelta(seconds=seconds) for name, seconds in (read(root / SEEN) or {}).items()}
    except (TypeError, OverflowError):
        return {}
