"""Begins a scan in a thread of the server, for pages and for programs alike. Makes no run and copies no input."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from idcore.base.open_folders import Roots
from idcore.ids.identify import Case
from idcore.intake import allowed as places
from idcore.intake.intake import Dating
from idcore.operations.model import Caller
from idcore.policy.access import Visitor
from idcore.runs.runs import Run

if TYPE_CHECKING:  # Spark may not be installed
    from idcore.spark.background import Job


@dataclass(frozen=True, slots=True)
class Input:
    """What is scanned: paths, or a store folder with the tags of topics and groups. `names`: what people call paths."""

    paths: Sequence[str] = ()
    names: dict[str, str] | None = None
    case: Case = "strict"
    store: str | None = None
    subscriptions: Mapping[tuple[str, str], str] = field(default_factory=dict)


def asking(
    run: Run, paths: Sequence[str], store: str | None, roots: Callable[[], Sequence[Path | str]]
) -> Callable[[Visitor], Roots]:
    """Asks whether a visitor may scan these paths, or the records of this folder: now, and when its turn has come."""
    return lambda here: places.roots_for(run.path, paths, store, here, roots())


def begin(run: Run, given: Input, dated: Dating, caller: Caller) -> Job:
    """Starts a scan. At its turn the caller is asked again.

    AccessError or PermissionError where the caller may not now: then the run is removed.
    """
    from idcore.spark import background
    from idcore.spark.job import SHARED_SPLIT_SIZE, ScanOptions

    ask, later = asking(run, given.paths, given.store, caller.ground.roots), caller.later
    with run.removed_unless_begun():
        options = ScanOptions(
            dated.zone,
            dated.source,
            dated.at,
            SHARED_SPLIT_SIZE,
            given.case,
            store=given.store,
            roots=ask(caller.visitor),
            subscriptions=given.subscriptions,
        )
        return background.start(run, given.paths, options, given.names, caller.who, lambda: ask(later()))
