"""A commit log over time: from dated offsets to speed, the minute of a write, the end of a record. Has no clock."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import pairwise
from typing import Literal

import numpy as np

SEGMENT = 1 << 30  # mappedFileSizeCommitLog
KEPT_HOURS = 72  # fileReservedTime
DELETES_AT = 4  # deleteWhen, an hour of the broker's day

How = Literal["minute", "between", "before", "after"]
Bound = Literal["about", "at_least", "at_most"]


@dataclass(frozen=True, slots=True)
class Log:
    """The dated points of one log: in `minutes[i]` (since 1970) records stood from `lows[i]` to `highs[i]`.

    Neither minutes nor offsets ever fall. `left_out` counts the minutes that fit no log that only grows: copies stored
    later than their message was made, or ids dated wrongly.
    """

    minutes: np.ndarray
    lows: np.ndarray
    highs: np.ndarray
    left_out: int

    @property
    def first(self) -> datetime:
        """When the first known point begins."""
        return _instant(float(self.minutes[0]) * 60)

    @property
    def last(self) -> datetime:
        """When the last known point ends."""
        return _instant(float(self.minutes[-1]) * 60 + 60)


@dataclass(frozen=True, slots=True)
class Written:
    """When an offset was written: `at` at best, within `earliest` and `latest`; None where no point bounds it."""

    how: How
    at: datetime | None
    earliest: datetime | None
    latest: datetime | None


@dataclass(frozen=True, slots=True)
class Kept:
    """Until when a record can be expected, and what is known of it: about then, then at least, or then at most."""

    until: datetime
    bound: Bound


def of_rows(rows: Iterable[tuple[int, int, int]]) -> Log | None:
    """The log of (minute since 1970, lowest offset, highest offset): the longest part of them that only grows.

    A message is stored after it was made, so copies push the highest offset of a minute up and never the lowest down:
    the lowest offsets are the log, and a highest one counts up to where the next minute begins.
    """
    merged: dict[int, tuple[int, int]] = {}
    for minute, low, high in rows:
        known = merged.get(minute)
        merged[minute] = (low, high) if known is None else (min(known[0], low), max(known[1], high))
    if not merged:
        return None
    minutes = sorted(merged)
    kept = _longest_rise([merged[minute][0] for minute in minutes])
    lows = np.array([merged[minutes[place]][0] for place in kept], np.int64)
    highs = np.array([merged[minutes[place]][1] for place in kept], np.int64)
    highs[:-1] = np.minimum(highs[:-1], lows[1:])
    return Log(np.array([minutes[place] for place in kept], np.int64), lows, highs, len(minutes) - len(kept))


def _longest_rise(values: list[int]) -> list[int]:
    """The places of a longest subsequence that never falls."""
    tails: list[int] = []
    places: list[int] = []
    before = [-1] * len(values)
    for place, value in enumerate(values):
        at = bisect_right(tails, value)
        before[place] = places[at - 1] if at else -1
        if at == len(tails):
            tails.append(value)
            places.append(place)
        else:
            tails[at], places[at] = value, place
    found = []
    place = places[-1] if places else -1
    while place >= 0:
        found.append(place)
        place = before[place]
    return found[::-1]


def rate(log: Log) -> float | None:
    """Bytes a second from the lowest offset of the first minute to that of the last; None within a single minute."""
    seconds = 60 * int(log.minutes[-1] - log.minutes[0])
    return float(log.lows[-1] - log.lows[0]) / seconds if seconds else None


def speeds(log: Log, step_minutes: int) -> list[tuple[datetime, datetime, float]]:
    """Bytes a second from step to step: start, end, speed. Steps without a known point are part of a longer one."""
    if len(log.minutes) < 2:
        return []
    steps = log.minutes // step_minutes
    first = np.flatnonzero(np.diff(steps, prepend=steps[0] - 1))
    places = np.append(first, len(steps) - 1) if first[-1] != len(steps) - 1 else first
    found = []
    for a, b in pairwise(places.tolist()):
        seconds = 60 * int(log.minutes[b] - log.minutes[a])
        speed = float(log.lows[b] - log.lows[a]) / seconds
        found.append((_instant(60.0 * int(log.minutes[a])), _instant(60.0 * int(log.minutes[b])), speed))
    return found


def written(log: Log, offset: int) -> Written:
    """When a physical offset was written. Between two points the log is taken to have grown evenly."""
    if offset < log.lows[0]:
        return Written("before", None, None, log.first)
    if offset > log.highs[-1]:
        return Written("after", None, log.last, None)
    place = int(np.searchsorted(log.lows, offset, "right")) - 1
    low, high = int(log.lows[place]), int(log.highs[place])
    begin = 60.0 * int(log.minutes[place])
    if offset <= high:
        share = (offset - low) / (high - low) if high > low else 0.0
        return Written("minute", _instant(begin + 60 * share), _instant(begin), _instant(begin + 60))
    following = int(log.lows[place + 1])
    end = 60.0 * int(log.minutes[place + 1])
    share = (offset - high) / (following - high)
    at = begin + 60 + max(0.0, end - begin - 60) * share
    return Written("between", _instant(at), _instant(begin), _instant(end + 60))


def deleted(full: datetime, hours: float, delete_at: int, zone: tzinfo) -> datetime:
    """When a file that was full at `full` is deleted: in the first hour `delete_at` in which it is `hours` old.

    DefaultMessageStore.CleanCommitLogService looks every ten seconds, and acts during that whole hour of the day.
    """
    due = (full + timedelta(hours=hours)).astimezone(zone)
    if due.hour == delete_at:
        return due
    at = due.replace(hour=delete_at, minute=0, second=0, microsecond=0)
    return at if at > due else at + timedelta(days=1)


def kept(log: Log, offset: int, hours: float, delete_at: int, zone: tzinfo) -> Kept:
    """Until when the record at an offset can be expected. A file goes as a whole, and not before it is full."""
    full = written(log, (offset // SEGMENT + 1) * SEGMENT)
    if full.at is not None:
        return Kept(deleted(full.at, hours, delete_at, zone), "about")
    if full.earliest is not None:
        return Kept(deleted(full.earliest, hours, delete_at, zone), "at_least")
    assert full.latest is not None
    return Kept(deleted(full.latest, hours, delete_at, zone), "at_most")


def expired_before(now: datetime, hours: float, delete_at: int, zone: tzinfo) -> datetime:
    """Files that were full before this instant had been deleted by `now`."""
    last = now.astimezone(zone).replace(hour=delete_at, minute=0, second=0, microsecond=0)
    if last > now:
        last -= timedelta(days=1)
    return last - timedelta(hours=hours)


def _instant(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
