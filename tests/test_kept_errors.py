"""An error that is kept, and raised for each who asks, holds the stack of none of them."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from idcore.base.errors import CoreError, refuse
from idcore.operations import scans
from idcore.operations.model import Caller, Ground
from idcore.policy.access import WITHOUT_LOGIN
from idcore.policy.audit import Actor
from idcore.runs.runs import Runs
from idcore.server import jobs

pytestmark = pytest.mark.quick


def test_an_index_that_cannot_be_made_is_said_to_each_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A thousand calls of one visitor were in memory with all that they had sent."""
    problem = refuse("unreadable", why="x")
    monkeypatch.setattr(jobs, "locating", lambda *_: SimpleNamespace(wait=lambda _: True, problem=problem))
    run = Runs(tmp_path).create("a")
    caller = Caller(lambda: WITHOUT_LOGIN, lambda: WITHOUT_LOGIN, Actor("ann", "s"), Ground(list, lambda: tmp_path))
    for _ in range(3):
        with pytest.raises(CoreError) as caught:
            scans.lines_index(run, caller)
        assert caught.value == problem and problem.__traceback__ is None


def test_why_a_scan_failed_is_kept_without_what_it_had_in_memory() -> None:
    from idcore.spark.job import problem_of

    def fails(size: int) -> None:
        tables = bytes(size)
        raise refuse("no_table", name=str(len(tables)), table="x")

    with pytest.raises(CoreError) as caught:
        fails(10)
    kept = problem_of(caught.value)
    assert kept == caught.value and kept.__traceback__ is None
