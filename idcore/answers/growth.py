"""A commit log over time: from dated offsets to speed, the time of a write, the end of a record. Has no clock."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np

from idcore.base.rises import longest_rise
from idcore.ids.clock import MINUTE_MS

SEGMENT = 1 << 30  # mappedFileSizeCommitLog
KEPT_HOURS = 72  # fileReservedTime
DELETES_AT = 4  # deleteWhen, an hour of the broker's day
OTHER = 2  # minutes with offsets of another log
SHORT = 10 * MINUTE_MS  # in a log of less time the highest offset of a minute is a point of its own

How = Literal["minute", "between", "before", "after"]
Bound = Literal["about", "at_least", "at_most"]
Without = Literal["offset", "instant", "order", "minute"]


class Row(NamedTuple):
    """A minute since 1970, its lowest and highest offset, and their instants in ms, where the scan has them."""

    minute: int
    low: int
    high: int
    low_at: int | None = None
    high_at: int | None = None


@dataclass(frozen=True, slots=True)
class Log:
    """The dated points of one log: in `minutes[i]` (since 1970) it went from `lows[i]` to `highs[i]`.

    `low_at` and `high_at` are the instants of these offsets in ms. Where the scan does not have them (`exact` is false)
    they are the begin and the end of the minute. Neither instants nor offsets ever fall. `left_at` and `left_lows` are
    instants and lowest offsets of the minutes that do not fit a log that only grows: copies stored later than their
    message was made, IDs dated wrongly, or another log at the same address.
    """

    minutes: np.ndarray
    lows: np.ndarray
    highs: np.ndarray
    low_at: np.ndarray
    high_at: np.ndarray
    exact: bool
    one_offset: bool
    one_instant: bool
    left_at: np.ndarray
    left_lows: np.ndarray

    @property
    def left_out(self) -> int:
        """How many minutes do not fit."""
        return len(self.left_at)

    @property
    def first(self) -> datetime:
        """The instant of the first point."""
        return _instant(self.low_at[0])

    @property
    def last(self) -> datetime:
        """The instant of the last point."""
        return _instant(self.high_at[-1])

    @property
    def ended_before(self) -> datetime | None:
        """When a log ended that had only higher offsets than this one, which began after it; None without such a log.

        A single minute is none: it may be of a copy.
        """
        early = self.left_at < self.low_at[0]
        is_other = early.sum() >= OTHER and self.left_lows[early].min() > self.highs[-1]
        return _instant(self.left_at[early].max()) if is_other else None

    def goes_on(self, end: datetime) -> tuple[datetime, int] | None:
        """Of minutes up to `end` with lower offsets than the last point: the last instant and offset; None of one."""
        late = (self.left_at > self.high_at[-1]) & (self.left_at <= end.timestamp() * 1000)
        return (_instant(self.left_at[late][-1]), int(self.left_lows[late][-1])) if late.sum() >= OTHER else None

    @property
    def short(self) -> bool:
        """Whether one point a minute would be too few."""
        return self.exact and int(self.high_at[-1] - self.low_at[0]) < SHORT


@dataclass(frozen=True, slots=True)
class WriteTime:
    """When an offset was written: `at` at best, within `earliest` and `latest`; None where no point bounds it."""

    how: How
    at: datetime | None
    earliest: datetime | None
    latest: datetime | None


@dataclass(frozen=True, slots=True)
class ExpiryTime:
    """Until when a record can be expected, and what is known of it: about then, then at least, or then at most."""

    until: datetime
    bound: Bound


def of_rows(rows: Iterable[Row]) -> Log | None:
    """The log of these minutes: the longest part of them that only grows.

    A message is stored after it was made, so copies push the highest offset of a minute up and never the lowest down.
    So the lowest offsets are the log, and a highest one counts up to where the next minute begins. Of equal offsets the
    earliest instant counts. A highest offset that was made before the lowest of its minute is not a point.
    """
    least: dict[int, tuple[int, int]] = {}
    most: dict[int, tuple[int, int]] = {}
    exact = True
    for row in rows:
        exact = exact and row.low_at is not None and row.high_at is not None
        begin = row.minute * MINUTE_MS
        low = row.low, begin if row.low_at is None else row.low_at
        high = -row.high, begin + MINUTE_MS if row.high_at is None else row.high_at
        least[row.minute] = min(least.get(row.minute, low), low)
        most[row.minute] = min(most.get(row.minute, high), high)
    if not least:
        return None
    minutes = sorted(least)
    kept = [minutes[place] for place in longest_rise([least[minute][0] for minute in minutes])]
    left = np.array([least[minute] for minute in sorted(set(minutes) - set(kept))], np.int64).reshape(-1, 2)
    lows, low_at = np.array([least[minute] for minute in kept], np.int64).T
    highs, high_at = np.array([most[minute] for minute in kept], np.int64).T * np.array([[-1], [1]])
    later = np.flatnonzero(highs[:-1] > lows[1:])
    highs[later], high_at[later] = lows[later + 1], low_at[later + 1]
    early = high_at < low_at
    highs[early], high_at[early] = lows[early], low_at[early]
    instants = {at for ends in (least, most) for _, at in ends.values()}
    offsets = {abs(offset) for ends in (least, most) for offset, _ in ends.values()}
    return Log(
        np.array(kept, np.int64),
        lows,
        highs,
        low_at,
        high_at,
        exact,
        len(offsets) == 1,
        len(instants) == 1,
        left[:, 1],
        left[:, 0],
    )


def grown(rows: Iterable[Row]) -> tuple[int, int]:
    """Bytes from the lowest offset of a log to its highest, and the ms between their instants; at least one row.

    Their quotient is the `bytes_per_second` of a scan (`idcore/scan/dated_offsets.py`): only minutes that fit a log
    that grows count, and the highest offset is of the last of them.
    """
    ordered = sorted(rows)
    kept = [ordered[place] for place in longest_rise(row.low for row in ordered)]
    lowest, highest = kept[0].low, kept[-1].high
    begin = min(row.low_at or 0 for row in kept if row.low == lowest)
    end = min(row.high_at or 0 for row in kept if row.high == highest)
    return highest - lowest, end - begin


def within(log: Log, begin: float | None, end: float | None) -> Log | None:
    """The points from `begin` up to `end` (ms since 1970); None without any."""
    inside = (log.low_at >= (begin or 0)) & (log.low_at < (end or np.inf))
    if not inside.any():
        return None
    part = {name: getattr(log, name)[inside] for name in ("minutes", "lows", "highs", "low_at", "high_at")}
    return replace(log, **part)


def rate(log: Log) -> float | None:
    """Bytes a second from the lowest offset of the first minute to that of the last; None within a single minute.

    Only for scans whose `brokers` has no `bytes_per_second`.
    """
    seconds = int(log.low_at[-1] - log.low_at[0]) / 1000
    return float(log.lows[-1] - log.lows[0]) / seconds if seconds else None


def points(log: Log) -> tuple[np.ndarray, np.ndarray]:
    """The instants (ms) and offsets of the points to draw: one a minute, or two in a short log."""
    if not log.short:
        return log.low_at, log.lows
    rises = (log.high_at > log.low_at) & np.append(log.high_at[:-1] < log.low_at[1:], True)
    at, offsets = np.append(log.low_at, log.high_at[rises]), np.append(log.lows, log.highs[rises])
    order = np.argsort(at, kind="stable")
    return at[order], offsets[order]


def speeds(log: Log, step_minutes: int) -> list[tuple[datetime, datetime, float]]:
    """Bytes a second from step to step: start, end, speed. Steps without a known point are part of a longer one.

    In a short log each point ends a step. Points very near each other share one: between them chance makes a peak.
    """
    at, offsets = points(log)
    span = int(at[-1] - at[0])
    if span <= 0:
        return []
    step = step_minutes * MINUTE_MS
    places = np.arange(len(at)) if log.short else np.flatnonzero(np.diff(at // step, prepend=at[0] // step - 1))
    near = span / 20 if log.short else min(span / 20, step / 2)
    kept = [0]
    for place in places[1:].tolist():
        if at[place] - at[kept[-1]] > near:
            kept.append(place)
    last = len(at) - 1
    if len(kept) > 1 and at[last] - at[kept[-1]] <= near:
        kept.pop()
    ends = pairwise([*kept, last])
    return [
        (_instant(at[a]), _instant(at[b]), float(offsets[b] - offsets[a]) * 1000 / float(at[b] - at[a]))
        for a, b in ends
    ]


def without_speed(log: Log) -> Without | None:
    """Why no speed can be drawn: one offset, one instant, no rise with time, or one minute without instants."""
    if speeds(log, 1):
        return None
    if log.one_offset:
        return "offset"
    if not log.exact:
        return "minute"
    return "instant" if log.one_instant else "order"


def written(log: Log, offset: int) -> WriteTime:
    """When a physical offset was written. Between two points the log is taken to have grown evenly."""
    if offset < log.lows[0]:
        return WriteTime("before", None, None, log.first)
    if offset > log.highs[-1]:
        return WriteTime("after", None, log.last, None)
    place = int(np.searchsorted(log.lows, offset, "right")) - 1
    low, high = int(log.lows[place]), int(log.highs[place])
    begin, end = int(log.low_at[place]), int(log.high_at[place])
    minute = (int(log.minutes[place]) + 1) * MINUTE_MS
    if offset <= high:
        share = (offset - low) / (high - low) if high > low else 0.0
        how: How = "minute" if end <= minute else "between"
        return WriteTime(how, _instant(begin + (end - begin) * share), _instant(begin), _instant(end))
    following, next_at = int(log.lows[place + 1]), int(log.low_at[place + 1])
    share = (offset - high) / (following - high)
    at = end + (next_at - end) * share
    if log.exact:
        return WriteTime("between", _instant(at), _instant(end), _instant(next_at))
    return WriteTime("between", _instant(at), _instant(begin), _instant(next_at + MINUTE_MS))


def deleted(full: datetime, hours: float, delete_at: int, zone: tzinfo) -> datetime:
    """When a file that was full at `full` is deleted: in the first hour `delete_at` in which it is `hours` old.

    DefaultMessageStore.CleanCommitLogService looks every ten seconds, and acts during that whole hour of the day.
    """
    due = (full + timedelta(hours=hours)).astimezone(zone)
    if due.hour == delete_at:
        return due
    at = due.replace(hour=delete_at, minute=0, second=0, microsecond=0)
    return at if at > due else at + timedelta(days=1)


def kept(log: Log, offset: int, hours: float, delete_at: int, zone: tzinfo) -> ExpiryTime:
    """Until when the record at an offset can be expected. A file goes as a whole, and not before it is full."""
    full = written(log, (offset // SEGMENT + 1) * SEGMENT)
    if full.at is not None:
        return ExpiryTime(deleted(full.at, hours, delete_at, zone), "about")
    if full.earliest is not None:
        return ExpiryTime(deleted(full.earliest, hours, delete_at, zone), "at_least")
    assert full.latest is not None
    return ExpiryTime(deleted(full.latest, hours, delete_at, zone), "at_most")


def expired_before(now: datetime, hours: float, delete_at: int, zone: tzinfo) -> datetime:
    """Files that were full before this instant had been deleted by `now`."""
    last = now.astimezone(zone).replace(hour=delete_at, minute=0, second=0, microsecond=0)
    if last > now:
        last -= timedelta(days=1)
    return last - timedelta(hours=hours)


def _instant(ms: float) -> datetime:
    return datetime.fromtimestamp(0, UTC) + timedelta(milliseconds=float(ms))
