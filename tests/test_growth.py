"""A commit log over time: every estimate held against logs whose growth is known by construction."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime, timedelta
from random import Random
from zoneinfo import ZoneInfo

import pytest

from idcore.answers import growth

pytestmark = pytest.mark.quick

GIB = 1 << 30
START = datetime(2026, 11, 20, 1, 50, tzinfo=UTC)
MINUTE = int(START.timestamp()) // 60
SHANGHAI = ZoneInfo("Asia/Shanghai")


def even(minutes: int, per_minute: int, base: int = 0) -> list[tuple[int, int, int]]:
    """A log that grows by the same number of bytes each minute."""
    return [(MINUTE + n, base + n * per_minute, base + (n + 1) * per_minute - 1) for n in range(minutes)]


def log_of(rows: list[tuple[int, int, int]]) -> growth.Log:
    made = growth.of_rows(growth.Row(*row) for row in rows)
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


# ---- instants, where the run has them


MEGABYTE = 1_000_000


def dated(*points: tuple[float, int]) -> growth.Log:
    """The log of (second, offset): the rows that a scan makes of them."""
    rows: dict[int, list[tuple[int, int]]] = {}
    for second, offset in points:
        at = MINUTE * 60_000 + round(second * 1000)
        rows.setdefault(at // 60_000, []).append((offset, at))
    made = []
    for minute, own in rows.items():
        low, high = min(own), min((-offset, at) for offset, at in own)
        made.append(growth.Row(minute, low[0], -high[0], low[1], high[1]))
    Random(5).shuffle(made)
    log = growth.of_rows(made)
    assert log is not None
    return log


@pytest.mark.parametrize("begin", [3.0, 40.0], ids=["within a minute", "across a minute's end"])
def test_215_megabytes_in_49_seconds_have_their_own_speed(begin: float) -> None:
    log = dated(*((begin + n * 0.49, n * 2_150_000) for n in range(101)))
    steps = growth.speeds(log, 1)
    assert steps[0][0] == START + timedelta(seconds=begin) == log.first
    assert steps[-1][1] == START + timedelta(seconds=begin + 49) == log.last
    assert all(abs(speed - 215 * MEGABYTE / 49) < 50_000 for _, _, speed in steps), "and not 215 MB in a minute or two"
    at, offsets = growth.points(log)
    assert (offsets[0], offsets[-1]) == (0, 215 * MEGABYTE) and (int(at[-1]) - int(at[0])) == 49_000


def test_points_right_beside_each_other_make_no_peak() -> None:
    log = dated((30, 0), (59.999, 30_000), (60.001, 90_000), (90, 120_000))
    assert [round(speed, -2) for _, _, speed in growth.speeds(log, 1)] == [1_000, 3_000]


def test_of_equal_offsets_the_earliest_instant_is_the_point() -> None:
    log = dated((10, 500), (20, 500), (30, 900), (40, 900))
    at, offsets = growth.points(log)
    assert offsets.tolist() == [500, 900] and (at - at[0]).tolist() == [0, 20_000]


@pytest.mark.parametrize(
    ("points", "why"),
    [
        ([(5, 100)], "offset"),
        ([(5, 100), (5, 900)], "instant"),
        ([(9, 100), (5, 900)], "order"),
        ([(5, 100), (9, 100)], "offset"),
        ([(5, 100), (9, 900)], None),
        ([(5, 100), (65, 900)], None),
    ],
)
def test_a_log_without_a_speed_has_its_reason(points: list[tuple[float, int]], why: str | None) -> None:
    log = dated(*points)
    assert growth.without_speed(log) == why and bool(growth.speeds(log, 1)) == (why is None)


def test_a_run_without_instants_has_the_speed_of_its_minutes_and_none_within_one() -> None:
    log = log_of(even(1, 500))
    assert growth.without_speed(log) == "minute" and not log.exact
    assert growth.without_speed(log_of(even(2, 600))) is None and growth.rate(log_of(even(2, 600))) == 10


def test_an_offset_is_dated_between_the_instants_around_it() -> None:
    log = dated((10, 1_000), (20, 2_000), (200, 3_000), (210, 4_000))
    within = growth.written(log, 1_500)
    assert within.how == "minute" and within.at == START + timedelta(seconds=15)
    assert (within.earliest, within.latest) == (START + timedelta(seconds=10), START + timedelta(seconds=20))
    between = growth.written(log, 2_500)
    assert between.how == "between" and between.at == START + timedelta(seconds=110)
    assert (between.earliest, between.latest) == (START + timedelta(seconds=20), START + timedelta(seconds=200))
    assert growth.written(log, 999).latest == START + timedelta(seconds=10)
    assert growth.written(log, 4_001).earliest == START + timedelta(seconds=210)


def test_a_copy_in_the_last_minute_of_a_long_log_makes_no_peak() -> None:
    points = [(60.0 * n, 6_000 * n) for n in range(30)]
    log = dated(*points, (60 * 29 + 1, 600_000))
    assert {round(speed) for _, _, speed in growth.speeds(log, 1)} == {100}


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
    assert growth.written(log, 4999) == growth.WriteTime("before", None, None, START)
    assert {growth.written(log, offset).how for offset in (5000, 5999, 6000, 14_999)} == {"minute"}, "edges are inside"
    assert growth.written(log, 15_000) == growth.WriteTime("after", None, START + timedelta(minutes=10), None)


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
    assert kept == growth.ExpiryTime(growth.deleted(log.last, 72, 4, SHANGHAI), "at_least")


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
