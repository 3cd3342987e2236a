"""The months a scan may read its ids in, as numbers for the kernels. Reads no ids and no text."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from idcore.base.layout import UNIQ_V4_LE
from idcore.ids.clock import DAY_MS, OFFSETS_IN_USE, Month, epochs, from_ms, month_of, months, to_ms
from idcore.ids.line_time import FIRST_YEAR, calendar_end

COUNT = 13  # months back from "now" in which an id without a date is read


class Months(NamedTuple):
    """What a scan assumes about time.

    newest: start and last elapsed that fits of each month, newest first; the same two for little-endian ids.
    calendar: from FIRST_YEAR on, start and length in the scan's zone, the same two for little-endian ids, start in UTC;
    from which wall time of the month on, in ms, its clocks have another UTC offset, and by how much they are later.
    """

    newest: np.ndarray
    calendar: np.ndarray
    zone_source: str = "assumed"
    zone: tzinfo = UTC

    @property
    def now(self) -> int:
        """The instant, in ms, up to which ids are read."""
        return int(self.newest[0, :2].sum())


def month_rows(at: datetime, zone: tzinfo, zone_source: str = "assumed") -> Months:
    """The months before `at` in a zone, and all that a line of a log may name."""
    return Months(newest_rows(at, zone), _calendar(calendar_end(at), zone), zone_source, zone)


def newest_rows(at: datetime, zone: tzinfo) -> np.ndarray:
    """`Months.newest` of an instant and a zone."""
    now = to_ms(at)
    rows = [
        [number for month in pair for number in (month.start_ms, min(now - month.start_ms, month.length_ms - 1))]
        for pair in zip(months(at, zone, COUNT), epochs(at, zone, UNIQ_V4_LE, COUNT), strict=True)
    ]
    return np.array(rows, np.int64)


@lru_cache(maxsize=64)
def _calendar(end: int, zone: tzinfo) -> np.ndarray:
    newest = datetime(end, 1, 1, tzinfo=UTC) - timedelta(days=10)
    count = (end - FIRST_YEAR) * 12
    little = epochs(newest, zone, UNIQ_V4_LE, count)[::-1]
    rows = []
    for number, early in enumerate(little):
        year, month = FIRST_YEAR + number // 12, number % 12 + 1
        local, universal = month_of(year, month, zone), month_of(year, month, UTC)
        starts = local.start_ms, local.length_ms, early.start_ms, early.length_ms, universal.start_ms
        rows.append((*starts, *_transition(local, zone)))
    return np.array(rows, np.int64)


def _transition(month: Month, zone: tzinfo) -> tuple[int, int]:
    """Where daylight saving begins or ends in a month, as in `Months.calendar`; never, where it does not."""

    def ahead(instant_ms: int) -> int:
        return (from_ms(instant_ms, zone).utcoffset() or timedelta()) // timedelta(milliseconds=1)

    low, high = month.start_ms, month.start_ms + month.length_ms - 1
    before, after = ahead(low), ahead(high)
    if before == after:
        return 1 << 62, 0
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if ahead(middle) == before else (low, middle)
    return high - month.start_ms + after - before, before - after


def as_months(given: Months | np.ndarray) -> Months:
    """Months as they are; rows of (start, last elapsed) alone date no line."""
    if isinstance(given, Months):
        return given
    rows = np.asarray(given, np.int64)
    early = np.column_stack([rows[:, 0] - DAY_MS, rows[:, 1] + DAY_MS])
    return Months(np.column_stack([rows, early]), np.zeros((0, 7), np.int64))


def offsets_in_use() -> np.ndarray:
    """By quarter hours from -12:00 on: whether a place on earth keeps this UTC offset, or kept it."""
    used = np.zeros(26 * 4 + 1, np.bool_)
    for minutes in OFFSETS_IN_USE:
        used[(minutes + 720) // 15] = True
    return used
