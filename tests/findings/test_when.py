"""When and how what is found came about, on tables made by hand."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from idcore.findings import Finding
from idcore.findings.model import worst_first
from tests.findings.test_rules import DAY_20, told, uniq


def at_day_20(milliseconds: int) -> datetime:
    return datetime(2026, 11, 21, tzinfo=UTC) + timedelta(milliseconds=milliseconds)


def test_a_restart_is_dated_by_the_first_id_after_it(tmp_path: Path) -> None:
    first = [uniq(DAY_20 + 100 * n, 500 + n) for n in range(20)]
    again = [uniq(DAY_20 + 9_000 + 100 * n, n) for n in range(20)]
    (finding,) = told(first + again, tmp_path)
    assert (finding.code, finding.since, finding.until) == ("restart", at_day_20(9_000), at_day_20(9_000))
    assert finding.evidence["silent_seconds"] == 7.1


def test_missing_ids_are_dated_by_the_ids_behind_the_gaps(tmp_path: Path) -> None:
    (finding,) = told([uniq(DAY_20 + 100 * n, n) for n in range(100) if n not in (40, 70, 71)], tmp_path)
    assert (finding.since, finding.until) == (at_day_20(4_100), at_day_20(7_200))
    assert (finding.evidence["in_gaps"], finding.evidence["widest"]) == (2, 2)
    assert "2 gaps of up to 2" in finding.say("meaning")
    (one,) = told([uniq(DAY_20 + 100 * n, n) for n in range(100) if n not in (40, 41)], tmp_path)
    assert "2 ids in a row" in one.say("meaning")


def test_two_processes_are_dated_by_the_time_in_which_both_lived(tmp_path: Path) -> None:
    long = [uniq(DAY_20 + 100 * n, n) for n in range(200)]
    short = [uniq(DAY_20 + 5_050 + 100 * n, 30_000 + n) for n in range(60)]
    (finding,) = told(long + short, tmp_path)
    assert (finding.code, finding.since, finding.until) == ("shared_fingerprint", at_day_20(5_050), at_day_20(10_950))


def test_a_clock_that_stood_at_zero_was_set_back_by_more_than_can_be_seen(tmp_path: Path) -> None:
    before = [uniq(5_000 + 100 * n, n) for n in range(40)]
    finding, _ = told([*before, *(uniq(0, 40 + n) for n in range(20))], tmp_path)  # and expired
    assert finding.code == "clock_back" and "or more" in finding.say("meaning")


def test_clients_without_a_date_in_their_ids_have_none(tmp_path: Path) -> None:
    (finding,) = told([uniq(3_600_000 + n, n, loader="CEF51E0A") for n in range(20)], tmp_path)
    assert (finding.code, finding.since, finding.until) == ("foreign_maker", None, None)
    assert "midnight" in finding.say("advice")


def test_a_time_above_a_month_that_is_the_clock_is_read_as_such(tmp_path: Path) -> None:
    made = at_day_20(0)
    low = [(int(made.timestamp() * 1000) + 50 * n) % (1 << 32) for n in range(20)]
    lines = [f"msgId={uniq(value, n, loader='02B89EAA')}" for n, value in enumerate(low)]
    (finding,) = told(lines, tmp_path)
    assert finding.code == "elapsed_impossible"
    assert finding.evidence["first_at"] == made.isoformat(timespec="milliseconds")
    (other,) = told([f"msgId={uniq(value, 99 - n, loader='02B89EAA')}" for n, value in enumerate(low)], tmp_path)
    assert "first_at" not in other.evidence  # the counter falls: no clock wrote these


def test_how_message_ext_prints_stands_below_all_that_happened() -> None:
    notes = [
        Finding("id_confusion", "msgId", 900, {"variant": "message_ext"}, lighter="info"),
        Finding("expired", "p", 1, {}),
    ]
    assert [finding.code for finding in worst_first(notes)] == ["expired", "id_confusion"]
