"""Runs that are too old go, pinned ones and those at work stay, and who made them is warned: whatever a clock says."""

from __future__ import annotations

import errno
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from idcore.policy.limits import LIMITS
from idcore.presentation.triage.run_rows import row_of
from idcore.runs import retention
from idcore.runs.runs import Run, Runs

NOW = datetime(2026, 11, 23, tzinfo=UTC)
NONE, HOUR, WEEK = timedelta(0), timedelta(hours=1), timedelta(days=7)
YEARS = timedelta(days=3_650)


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
    assert retention.sweep(runs, NOW, WEEK) == [], "they are warned of first"
    assert retention.sweep(runs, NOW, WEEK - HOUR) == []
    assert sorted(retention.sweep(runs, NOW, HOUR)) == sorted(run.name for run in gone)
    assert sorted(run.name for run in runs.list()) == sorted(run.name for run in stay)
    lines = [json.loads(line) for line in (tmp_path / "audit").read_text().splitlines()]
    assert sorted(line["run"] for line in lines) == sorted(run.name for run in gone)
    assert {(line["what"], line["user"], line["outcome"]) for line in lines} == {("run_deleted", "console", "expired")}


def test_without_the_setting_nothing_goes(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(LIMITS["days"].setting)
    run = aged(runs, 10_000)
    for _ in range(2):
        assert retention.sweep(runs, NOW, YEARS) == [] and len(runs.list()) == 1
    assert retention.ends_soon(row_of(run), NOW, runs.root) is None


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
    assert (retention.ends_soon(row_of(aged(runs, age, pinned=pinned)), NOW, runs.root) is not None) is soon


def test_a_run_goes_at_the_end_that_its_warning_said(runs: Runs) -> None:
    run = aged(runs, 0)
    at = NOW
    while not retention.sweep(runs, at, HOUR):
        warned = retention.ends_soon(row_of(run), at, runs.root)
        assert (warned is None) == (at < NOW + timedelta(days=23)) and warned in (None, NOW + timedelta(days=30), at)
        at += HOUR
    assert NOW + timedelta(days=30) <= at <= NOW + timedelta(days=30) + HOUR and not run.path.exists()
    assert json.loads((runs.root / retention.SEEN).read_text()) == {}


@pytest.mark.parametrize("wrong", [YEARS, -YEARS, timedelta(days=1), -HOUR])
def test_a_clock_that_jumps_deletes_nothing_and_the_end_stays(runs: Runs, wrong: timedelta) -> None:
    """The clock is wrong for six days and then right again: nothing went, and nothing goes early."""
    old, young = aged(runs, 29), aged(runs, 1)
    retention.sweep(runs, NOW, HOUR)
    for hour in range(6 * 24):
        assert retention.sweep(runs, NOW + wrong + hour * HOUR, HOUR) == []
    assert retention.sweep(runs, NOW, HOUR) == []
    assert retention.ends_soon(row_of(old), NOW, runs.root) == NOW + timedelta(days=1)
    assert retention.ends_soon(row_of(young), NOW, runs.root) is None
    assert retention.sweep(runs, NOW + timedelta(days=1), timedelta(days=7)) == [old.name]


def test_after_a_year_of_rest_what_is_too_old_is_shown_for_a_week(runs: Runs) -> None:
    run = aged(runs, 400)
    assert retention.sweep(runs, NOW, NONE) == []
    assert retention.ends_soon(row_of(run), NOW, runs.root) == NOW + WEEK
    assert retention.sweep(runs, NOW, timedelta(days=5)) == []
    assert retention.ends_soon(row_of(run), NOW, runs.root) == NOW + timedelta(days=2)
    run.pin(True)
    assert retention.sweep(runs, NOW, WEEK) == [] and run.path.exists()
    run.pin(False)
    assert retention.sweep(runs, NOW, HOUR) == [], "its warning begins again"


def test_in_a_folder_that_cannot_be_written_nothing_goes_and_nothing_is_said_to_have_gone(
    runs: Runs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = aged(runs, 31)
    retention.sweep(runs, NOW, NONE)

    def read_only(*_: object) -> None:
        raise OSError(errno.EROFS, "read-only file system")

    monkeypatch.setattr(Path, "rename", read_only)
    assert retention.sweep(runs, NOW, WEEK) == [] and not (tmp_path / "audit").exists()
    monkeypatch.undo()
    monkeypatch.setenv(LIMITS["days"].setting, "30")
    (runs.root / retention.SEEN).write_text("[half of")
    assert retention.sweep(runs, NOW, WEEK) == [] and run.path.exists(), "of a file that was cut nothing is warned of"
