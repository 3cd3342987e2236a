"""How long runs are kept: which are too old, which soon will be. Never deletes a pinned run or one at work."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from idcore import audit, limits, metrics
from idcore.runs import RunError, Runs, kind_of, state_of

WARNED = timedelta(days=7)  # before the end


def ends(created: datetime, pinned: bool) -> datetime | None:
    """When a run is too old; None where it stays."""
    days = limits.value("days")
    return None if days is None or pinned else created + timedelta(days=days)


def ends_soon(row: Mapping[str, Any], now: datetime) -> datetime | None:
    """When a row of the list of runs goes, if that is within a week; of fewer days, within a quarter of them."""
    end, days = ends(row["created"], row["pinned"]), limits.value("days")
    return end if end is not None and days and end - now <= min(WARNED, timedelta(days=days / 4)) else None


def sweep(runs: Runs, now: datetime) -> list[str]:
    """Deletes what is too old, and says so in the audit log. A clock that is wrong by years is the one danger here."""
    gone = []
    for run in runs.list() if limits.value("days") is not None else ():
        try:
            facts = run.facts
        except RunError:  # deleted meanwhile
            continue
        end = ends(datetime.fromisoformat(facts["created"]), bool(facts.get("pinned")))
        if end is None or end > now or state_of(facts, runs.root) in ("new", "running"):
            continue
        shutil.rmtree(run.path, ignore_errors=True)
        gone.append(run.name)
        metrics.count("runs_expired")
        audit.note("run_deleted", audit.CONSOLE, run=run.name, kind=kind_of(facts), outcome="expired")
    return gone
