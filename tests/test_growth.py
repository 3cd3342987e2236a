"""A commit log over time: every estimate held against logs whose growth is known by construction."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime, timedelta
from random import Random
from zoneinfo import ZoneInfo

import pytest

from idcore import growth

GIB = 1 << 30
START = datetime(2026, 11, 20, 1, 50, tzinfo=UTC)
MINUTE = int(START.timestamp()) // 60
SHANGHAI = ZoneInfo("Asia/Shanghai")


def even(minutes: int, per_minute: int, base: int = 0) -> list[tuple[int, int, int]]:
    """A log that grows by the same number of bytes each minute."""
    return [(MINUTE + n, base + n * per_minute, base + (n + 1) * per_minute - 1) for n in range(minutes)]


def log_of(rows: list[tuple[int, int, int]]) -> growth.Log:
    made = growth.of_rows(rows)
    assert made is not None
    return made


def test_without_dated_lines_there_is_no_log() -> None:
    assert growth.of_rows([]) is None


def test_an_even_log_has_its_speed_at_every_step() -> None:
    log = log_of(even(60, 6_000_000))
    assert growth.rate(log) == 100_000
    for step in (1, 5, 7, 60):
        assert [speed for _, _, speed in growth.speeds(log, step)] == [100_000] * len(growth.speeds(log, step))
    hours = growth.speeds(log, 60)
    assert [begin for begin, _, _ in hours] == [START, START + timedelta(minutes=10)], "cut at the full hour"
    assert hours[-1][1] == START + timedelta(minutes=59)


def test_a_single_minute_has_no_speed() -> None:
    log = log_of(even(1, 500))
    assert growth.rate(log) is None and growth.speeds(log, 1) == []


def test_steps_follow_a_log_that_stood_still_in_the_middle() -> None:
    rows = even(10, 600) + [(MINUTE + 30 + n, 6000 + n * 1200, 6000 + (n + 1) * 1200 - 1) for n in range(10)]
    speeds = [speed for _, _, speed in growth.speeds(log_of(rows), 1)]
    assert speeds[:9] == [10.0] * 9 and speeds[9] == 600 / (21 * 60) and speeds[10:] == [20.0] * 9


def test_the_order_of_rows_and_their_split_do_not_matter() -> None:
    rows = even(50, 1000)
    halves = [half for minute, low, high in rows for half in ((minute, low, low + 400), (minute, low + 401, high))]
    Random(7).shuffle(halves)
    one, other = log_of(rows), log_of(halves)
    assert one.lows.tolist() == other.lows.tolist() and one.highs.tolist() == other.highs.tolist()


def test_copies_stored_later_push_only_the_highest_offset_and_change_nothing() -> None:
    plain = log_of(even(60, 6000))
    copied = log_of([(m, low, high + 90_000 if m % 3 else high) for m, low, high in even(60, 6000)])
    assert copied.lows.tolist() == plain.lows.tolist() and copied.left_out == 0
    assert all(0 <= a - b <= 1 for a, b in zip(copied.highs[:-1], plain.highs[:-1], strict=True))


@pytest.mark.parametrize("wrong", [(MINUTE + 30, 5, 9), (MINUTE - 5, 10**12, 10**12), (MINUTE + 9_000, 0, 1)])
def test_a_row_that_fits_no_growing_log_is_left_out_and_counted(wrong: tuple[int, int, int]) -> None:
    rows = [row for row in even(60, 6000, base=100) if row[0] != wrong[0]]
    log = log_of([*rows, wrong])
    assert log.left_out == 1 and len(log.minutes) == len(rows)
    assert growth.rate(log) == 100


@pytest.mark.parametrize("share", [0.0, 0.25, 0.5, 0.999])
def test_an_offset_is_dated_within_its_minute(share: float) -> None:
    log = log_of(even(60, 60_000))
    found = growth.written(log, 17 * 60_000 + int(share * 60_000))
    assert found.how == "minute" and found.at is not None
    assert abs(found.at - START - timedelta(minutes=17 + share)) < timedelta(seconds=1)
    assert (found.earliest, found.latest) == (START + timedelta(minutes=17), START + timedelta(minutes=18))


def test_between_two_points_the_date_is_interpolated_and_both_are_named() -> None:
    rows = [(MINUTE, 0, 999), (MINUTE + 101, 101_000, 101_999)]
    found = growth.written(log_of(rows), 51_000)
    assert found.how == "between" and found.at is not None
    assert abs(found.at - START - timedelta(minutes=51)) < timedelta(seconds=2)
    assert (found.earliest, found.latest) == (START, START + timedelta(minutes=102))


def test_outside_the_known_points_nothing_is_made_up() -> None:
    log = log_of(even(10, 1000, base=5000))
    assert growth.written(log, 4999) == growth.Written("before", None, None, START)
    assert {growth.written(log, offset).how for offset in (5000, 5999, 6000, 14_999)} == {"minute"}, "edges are inside"
    assert growth.written(log, 15_000) == growth.Written("after", None, START + timedelta(minutes=10), None)


def test_dates_never_fall_as_offsets_rise() -> None:
    random = Random(3)
    rows, at = [], 0
    for n in range(200):
        at += random.randint(0, 5000)
        rows.append((MINUTE + n * random.randint(1, 3) + 3 * n, at, at + random.randint(0, 9000)))
    log = log_of(rows)
    known = [growth.written(log, offset).at for offset in range(int(log.lows[0]), int(log.highs[-1]), 997)]
    assert all(a is not None and b is not None and a <= b for a, b in itertools.pairwise(known))


# ---- deletion: a file goes in the first hour 04 in which it is 72 hours old


@pytest.mark.parametrize(
    ("full", "gone"),
    [
        ("2026-11-20T09:50", "2026-11-24T04:00"),
        ("2026-11-20T03:59", "2026-11-23T04:00"),
        ("2026-11-20T04:20", "2026-11-23T04:20"),  # due within the hour in which the broker deletes
        ("2026-11-20T05:00", "2026-11-24T04:00"),
    ],
)
def test_a_full_file_is_deleted_at_four_once_it_is_old_enough(full: str, gone: str) -> None:
    at = datetime.fromisoformat(full).replace(tzinfo=SHANGHAI)
    assert growth.deleted(at, 72, 4, SHANGHAI) == datetime.fromisoformat(gone).replace(tzinfo=SHANGHAI)


def test_retention_and_hour_are_inputs() -> None:
    at = datetime(2026, 11, 20, 9, 50, tzinfo=SHANGHAI)
    assert growth.deleted(at, 24, 22, SHANGHAI) == datetime(2026, 11, 21, 22, 0, tzinfo=SHANGHAI)


def test_a_record_lives_until_its_whole_file_is_old_enough() -> None:
    log = log_of(even(1000, GIB // 100))  # a file fills in 100 minutes
    kept = growth.kept(log, 5, 72, 4, SHANGHAI)
    full = START + timedelta(minutes=100)
    assert kept.bound == "about"
    assert abs(kept.until - growth.deleted(full, 72, 4, SHANGHAI)) < timedelta(minutes=1)
    assert growth.kept(log, GIB - 1, 72, 4, SHANGHAI) == kept, "every record of a file goes with it"


def test_a_file_that_is_not_yet_full_is_kept_at_least_so_long() -> None:
    log = log_of(even(10, 1000))
    kept = growth.kept(log, 5, 72, 4, SHANGHAI)
    assert kept == growth.Kept(growth.deleted(log.last, 72, 4, SHANGHAI), "at_least")


def test_a_file_from_before_the_first_point_is_kept_at_most_so_long() -> None:
    log = log_of(even(10, 1000, base=3 * GIB))
    assert growth.kept(log, GIB + 7, 72, 4, SHANGHAI).bound == "at_most"
    assert growth.kept(log, GIB + 7, 72, 4, SHANGHAI).until == growth.deleted(START, 72, 4, SHANGHAI)


def test_what_is_gone_was_full_three_days_before_the_last_sweep() -> None:
    for minutes, day in ((239, 17), (240, 18)):
        now = datetime(2026, 11, 21, tzinfo=SHANGHAI) + timedelta(minutes=minutes)
        edge = growth.expired_before(now, growth.KEPT_HOURS, growth.DELETES_AT, SHANGHAI)
        assert edge == datetime(2026, 11, day, 4, tzinfo=SHANGHAI)


def test_what_is_kept_and_what_has_expired_agree() -> None:
    for hour in range(0, 24, 5):
        now = datetime(2026, 11, 21, hour, 30, tzinfo=SHANGHAI)
        edge = growth.expired_before(now, 72, 4, SHANGHAI)
        assert growth.deleted(edge - timedelta(minutes=1), 72, 4, SHANGHAI) <= now
        assert growth.deleted(edge + timedelta(hours=2), 72, 4, SHANGHAI) > now
