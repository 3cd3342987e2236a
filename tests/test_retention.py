"""Runs that are too old go, pinned ones and those at work stay, and who made them is warned."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from idcore import retention
from idcore.limits import LIMITS
from idcore.runs import Run, Runs
from idcore.triage.run_rows import row_of

NOW = datetime(2026, 11, 23, tzinfo=UTC)


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Runs:
    monkeypatch.setenv(LIMITS["days"].setting, "30")
    monkeypatch.setenv("IDCORE_AUDIT_LOG", str(tmp_path / "audit"))
    return Runs(tmp_path / "runs")


def aged(runs: Runs, days: float, state: str = "done", pinned: bool = False) -> Run:
    run = runs.create(f"{days} days")
    run.set_state(state, created=(NOW - timedelta(days=days)).isoformat())
    run.pin(pinned)
    return run


def test_what_is_too_old_goes_with_a_line_and_the_rest_stays(runs: Runs, tmp_path: Path) -> None:
    gone = [aged(runs, 31), aged(runs, 400, "failed"), aged(runs, 30, "cancelled")]
    stay = [aged(runs, 29.9), aged(runs, 400, pinned=True), aged(runs, 31, "running")]
    stay.append(aged(runs, -400))  # the clock was set back since
    assert sorted(retention.sweep(runs, NOW)) == sorted(run.name for run in gone)
    assert sorted(run.name for run in runs.list()) == sorted(run.name for run in stay)
    lines = [json.loads(line) for line in (tmp_path / "audit").read_text().splitlines()]
    assert sorted(line["run"] for line in lines) == sorted(run.name for run in gone)
    assert {(line["what"], line["user"], line["outcome"]) for line in lines} == {("run_deleted", "console", "expired")}


def test_without_the_setting_nothing_goes(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(LIMITS["days"].setting)
    run = aged(runs, 10_000)
    assert retention.sweep(runs, NOW) == [] and retention.ends_soon(row_of(run), NOW) is None and len(runs.list()) == 1


@pytest.mark.parametrize(
    ("days", "age", "pinned", "soon"),
    [
        (30, 22.9, False, False),
        (30, 23.1, False, True),
        (30, 29, True, False),
        (4, 2.9, False, False),
        (4, 3.1, False, True),
    ],
)
def test_a_week_before_its_end_a_run_is_marked_and_of_few_days_a_quarter(
    runs: Runs, monkeypatch: pytest.MonkeyPatch, days: int, age: float, pinned: bool, soon: bool
) -> None:
    monkeypatch.setenv(LIMITS["days"].setting, str(days))
    assert (retention.ends_soon(row_of(aged(runs, age, pinned=pinned)), NOW) is not None) is soon
