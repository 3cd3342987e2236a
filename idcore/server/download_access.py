"""Who may download a file that a page offers: asked at each download, as roles may change meanwhile. Draws nothing."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from idcore.policy.access import OF_RUNS, Visitor
from idcore.runs.runs import Run, RunError, Runs, may_see

OF_SCANS = (*OF_RUNS, "home", "decode", "compare", "message")  # pages


@dataclass(frozen=True, slots=True)
class DownloadAccess:
    """Who saw a page, with the roles of then, and its scan."""

    before: Visitor
    run: Run | None

    @classmethod
    def to(cls, visitor: Visitor, page: str, run: str | None) -> DownloadAccess:
        """What a visitor sees; `run` is the name of the scan that the page is about, if it is about one."""
        seen = None
        if run and page in OF_SCANS:
            with suppress(RunError):
                seen = Runs(visitor=visitor).open(run)
        return cls(visitor, seen)

    def may(self, visitor: Visitor) -> bool:
        """Whether this visitor, with the roles of now, may have a file of it.

        A role or a cluster that was taken away may be what it is made of: folders, another's scan, a cluster, bodies.
        """
        return visitor.keeps_all_of(self.before) and (self.run is None or _sees(self.run, visitor))


def _sees(run: Run, visitor: Visitor) -> bool:
    try:
        return may_see(visitor, run.facts)
    except RunError:  # deleted
        return False
