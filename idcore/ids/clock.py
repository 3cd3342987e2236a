"""Times of ids: months, zones and the hints of a line, all from arguments. Reads no clock, zone or host by itself."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from typing import Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from idcore.ids import rules
from idcore.ids.model import ClientId, UniqId, refuse
from idcore.ids.words import Reason, plain
from idcore.layout import UNIQ_V4, Layout

ZoneSource = Literal["born", "prefix", "given", "assumed"]

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
DAY_MS = 86_400_000
_LATEST_MS = 1 << 45  # in the year 3084
# The epoch of client ids (MessageIdCodec): 2021-01-01T00:00:00Z.
CLIENT_EPOCH_S = 1_609_459_200

# UTC offsets, in minutes, that a place on earth keeps today or kept since RocketMQ exists.
OFFSETS_IN_USE = (
    *range(-12 * 60, 14 * 60 + 1, 60),
    -570,
    -210,
    -150,
    210,
    270,
    330,
    345,
    390,
    510,
    525,
    570,
    630,
    765,
    825,
)
_BORN_TOLERANCE_MS = 1_000
# A line is logged after its message was made: by how much, when another zone than the line's own is to be believed.
_PREFIX_EARLY_MS, _PREFIX_LATE_MS, _PREFIX_OWN_ZONE_LATE_MS = -2_000, 10_000, 3_600_000
_PREFIX_SLACK_MS = 14 * 3_600_000


@dataclass(frozen=True, slots=True)
class Month:
    """One month in one zone: its name, the instant it begins, how long it is (daylight saving included)."""

    label: str
    start_ms: int
    length_ms: int


@dataclass(frozen=True, slots=True)
class Clock:
    """What a reading of months rests on: "now", the producer's zone, where that zone is known from, and, if a line
    told it, the month itself."""

    reference: datetime
    zone: tzinfo
    zone_source: ZoneSource = "assumed"
    month: Month | None = None


@dataclass(frozen=True, slots=True)
class SentAt:
    """When an id was made, in the zone it was read in."""

    at: datetime
    month: str | None
    zone: str
    zone_source: ZoneSource | None


def parse_zone(text: str) -> tzinfo:
    """An IANA name, `+08:00`, `-03:30`, `UTC` or `Z`."""
    name = text.strip()
    if name.upper() in ("Z", "UTC", "GMT"):
        return UTC
    match = re.fullmatch(r"(?:UTC|GMT)?([+-])(\d{1,2})(?::?([0-5]\d))?", name, re.IGNORECASE)
    if match:
        minutes = int(match[2]) * 60 + int(match[3] or 0)
        if minutes <= 18 * 60:
            return timezone(timedelta(minutes=-minutes if match[1] == "-" else minutes))
    elif name:
        try:
            return ZoneInfo(name)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            pass
    raise refuse("zone", "zone", None, text, given=text)


def parse_instant(text: str, zone: tzinfo = UTC) -> datetime:
    """An ISO 8601 instant; one without an offset is read in `zone`. Years 1971 to 9998."""
    try:
        instant = datetime.fromisoformat(text.strip())
    except ValueError:
        raise refuse("instant", "instant", None, text, given=text) from None
    if not 1971 <= instant.year <= 9998:
        raise refuse("instant", "instant", None, text, given=text)
    return instant if instant.tzinfo else instant.replace(tzinfo=zone)


def machine_zone() -> tzinfo:
    """This machine's zone, for the doors (command line, console) to pass on as `assumed`."""
    names = [os.environ.get("TZ", "").lstrip(":")]
    for link in ("/etc/localtime", "/usr/share/zoneinfo/localtime"):
        target = os.path.realpath(link)
        if "zoneinfo/" in target:
            names.append(target.rpartition("zoneinfo/")[2])
    for name in names:
        try:
            return ZoneInfo(name) if name else _no_zone()
        except (ZoneInfoNotFoundError, ValueError, OSError):
            continue
    return timezone(timedelta(seconds=time.localtime().tm_gmtoff))


def _no_zone() -> tzinfo:
    raise ValueError("no name")


def zone_text(offset: timedelta | None) -> str:
    """A UTC offset as `+08:00`."""
    minutes = round((offset or timedelta()).total_seconds() / 60)
    sign = "-" if minutes < 0 else "+"
    return f"{sign}{abs(minutes) // 60:02d}:{abs(minutes) % 60:02d}"


def to_ms(instant: datetime) -> int:
    """Milliseconds since 1970, exact."""
    return (instant - EPOCH) // timedelta(milliseconds=1)


def from_ms(milliseconds: int, zone: tzinfo = UTC) -> datetime:
    """The instant of some milliseconds since 1970, in a zone."""
    return (EPOCH + timedelta(milliseconds=milliseconds)).astimezone(zone)


def is_time(milliseconds: int) -> bool:
    """Whether they can be a time: a field that was damaged, or never filled, may hold any number."""
    return 0 <= milliseconds < _LATEST_MS


def wall_ms(wall: datetime, zone: tzinfo) -> int:
    """The instant of a wall time in a zone, as java.util.Calendar resolves it."""
    # Where a wall time is skipped or comes twice, java.util.Calendar takes what is the later of Python's two answers
    # (checked over all zones of the IANA data from 1990 to 2029).
    return max(to_ms(wall.replace(tzinfo=zone, fold=fold)) for fold in (0, 1))


@lru_cache(maxsize=8_192)
def month_start(year: int, month: int, zone: tzinfo) -> int:
    """The instant, in ms, at which a month begins in a zone, as java.util.Calendar has it."""
    return wall_ms(datetime(year, month, 1), zone)


def _next(year: int, month: int) -> tuple[int, int]:
    return (year + 1, 1) if month == 12 else (year, month + 1)


@lru_cache(maxsize=8_192)
def month_of(year: int, month: int, zone: tzinfo) -> Month:
    """One month by its number."""
    start = month_start(year, month, zone)
    return Month(f"{year:04d}-{month:02d}", start, month_start(*_next(year, month), zone) - start)


@lru_cache(maxsize=4_096)
def _months_back(year: int, month: int, zone: tzinfo, count: int) -> tuple[Month, ...]:
    found = []
    for _ in range(count):
        if year < 2:
            break
        found.append(month_of(year, month, zone))
        year, month = (year - 1, 12) if month == 1 else (year, month - 1)
    return tuple(found)


def months(reference: datetime, zone: tzinfo, count: int = 13) -> tuple[Month, ...]:
    """The month that holds the reference and those before it, newest first."""
    local = reference.astimezone(zone)
    return _months_back(local.year, local.month, zone, count)


@lru_cache(maxsize=4_096)
def _little_endian(month: Month, zone: tzinfo) -> Month:
    # C++ 1.2.0-1.2.3 fill a struct tm with tm_mday = 0 (StringIdMaker.cpp): the last day of the month before.
    year, number = int(month.label[:4]), int(month.label[5:])
    start = wall_ms(datetime(year, number, 1) - timedelta(days=1), zone)
    return Month(month.label, start, month.start_ms + month.length_ms - start)


def epochs(reference: datetime, zone: tzinfo, layout: Layout = UNIQ_V4, count: int = 13) -> tuple[Month, ...]:
    """The months as a layout counts them: little-endian ids begin a day early."""
    found = months(reference, zone, count)
    if layout.byteorder == "little":
        return tuple(_little_endian(month, zone) for month in found)
    return found


def _fits(elapsed: int, month: Month, slack_ms: int = 0) -> bool:
    return elapsed < month.length_ms + slack_ms


def _newest(elapsed: int, limit_ms: int, choice: Sequence[Month]) -> Month | None:
    for month in choice:
        if month.start_ms + elapsed <= limit_ms and _fits(elapsed, month):
            return month
    if rules.LONGEST_MONTH_MS <= elapsed <= rules.LONGEST_MONTH_MS + rules.ELAPSED_SLACK_MS:
        # The clock is read twice as the month changes: a few ms over the longest month are genuine.
        for month in choice:
            if month.start_ms + elapsed <= limit_ms and _fits(elapsed, month, rules.ELAPSED_SLACK_MS + 1):
                return month
    return None


def _choice(elapsed: int, reference: datetime, zone: tzinfo, layout: Layout, count: int = 13) -> tuple[Month, ...]:
    # An elapsed below zero counts from a month that may begin after the reference: the clock was ahead, then set back.
    return epochs(reference - timedelta(milliseconds=min(elapsed, 0)), zone, layout, count)


def pick_month(elapsed: int, clock: Clock, layout: Layout = UNIQ_V4) -> Month | None:
    """The newest month in which the instant is not after the reference and elapsed is shorter than the month."""
    if clock.month is not None:
        return clock.month
    return _newest(elapsed, to_ms(clock.reference), _choice(elapsed, clock.reference, clock.zone, layout))


def _read(elapsed: int, month: Month, clock: Clock) -> SentAt:
    at = from_ms(month.start_ms + elapsed, clock.zone)
    return SentAt(at, month.label, zone_text(at.utcoffset()), clock.zone_source)


def sent(elapsed: int, clock: Clock, layout: Layout = UNIQ_V4) -> SentAt | None:
    """When an id with this (signed) elapsed was made, month and zone beside it; None where no month fits."""
    month = pick_month(elapsed, clock, layout)
    return None if month is None else _read(elapsed, month, clock)


def sent_at(elapsed: int, clock: Clock, layout: Layout = UNIQ_V4) -> datetime | None:
    """When an id with this elapsed was made, or None where no month fits."""
    found = sent(elapsed, clock, layout)
    return None if found is None else found.at


def all_months(elapsed: int, clock: Clock, layout: Layout = UNIQ_V4, count: int = 12) -> tuple[SentAt, ...]:
    """Every reading within the last `count` months, newest first: the id alone does not tell them apart."""
    limit = to_ms(clock.reference)
    choice = _choice(elapsed, clock.reference, clock.zone, layout, count + 1)
    return tuple(
        _read(elapsed, month, replace(clock, month=None))
        for month in choice
        if month.start_ms + elapsed <= limit and _fits(elapsed, month)
    )[:count]


def _around(instant_ms: int, zone: tzinfo, layout: Layout) -> tuple[Month, ...]:
    reference = from_ms(instant_ms + 16 * 3_600_000, zone)
    return epochs(reference, zone, layout, 3)


def _offset_that_fits(start_ms: int, early_ms: int, late_ms: int, layout: Layout) -> tuple[tzinfo, Month] | None:
    """The zone in which `start_ms` is the start of a month, give or take."""
    best: tuple[int, tzinfo, Month] | None = None
    for minutes in OFFSETS_IN_USE:
        zone = timezone(timedelta(minutes=minutes))
        for month in _around(start_ms, zone, layout):
            late = start_ms - month.start_ms
            if early_ms <= late <= late_ms and (best is None or abs(late) < best[0]):
                best = (abs(late), zone, month)
    return None if best is None else best[1:]


@lru_cache(maxsize=4_096)
def _zone_of_start(start_ms: int, early_ms: int, late_ms: int, layout: Layout) -> tuple[tzinfo, Month] | None:
    return _offset_that_fits(start_ms, early_ms, late_ms, layout)


def _refine_born(elapsed: int, clock: Clock, layout: Layout, born_ms: int) -> tuple[Clock, Reason] | None:
    start = born_ms - elapsed
    own = next((m for m in _around(start, clock.zone, layout) if abs(start - m.start_ms) <= _BORN_TOLERANCE_MS), None)
    if own is not None:
        return replace(clock, month=own, zone_source="born"), plain("zone_born")
    if clock.zone_source == "given":
        noon = next(
            (
                m
                for m in _around(start, clock.zone, layout)
                if abs(start - m.start_ms - DAY_MS // 2) <= _BORN_TOLERANCE_MS
            ),
            None,
        )
        if noon is not None:
            # Calendar.HOUR instead of HOUR_OF_DAY, up to 4.0.0-incubating: the month begins at noon.
            late = Month(noon.label, noon.start_ms + DAY_MS // 2, noon.length_ms - DAY_MS // 2)
            return replace(clock, month=late), plain("noon")
    # Rounded to the second, so that neighbours share one answer of the cache.
    found = _zone_of_start(start // 1000 * 1000, -_BORN_TOLERANCE_MS - 999, _BORN_TOLERANCE_MS, layout)
    if found is not None and abs(start - found[1].start_ms) <= _BORN_TOLERANCE_MS:
        return replace(clock, zone=found[0], month=found[1], zone_source="born"), plain("zone_born")
    return _month_before(elapsed, clock, layout, born_ms, "month_born")


def _month_before(
    elapsed: int, clock: Clock, layout: Layout, instant_ms: int, code: str
) -> tuple[Clock, Reason] | None:
    limit = instant_ms + _PREFIX_SLACK_MS
    month = _newest(elapsed, limit, _choice(elapsed, from_ms(limit, clock.zone), clock.zone, layout))
    return None if month is None else (replace(clock, month=month), plain(code))


def _refine_prefix(elapsed: int, clock: Clock, layout: Layout, prefix: datetime) -> tuple[Clock, Reason] | None:
    if prefix.tzinfo is None:
        return _month_before(elapsed, clock, layout, wall_ms(prefix, clock.zone), "month_prefix")
    instant = to_ms(prefix)
    start = instant - elapsed
    for zone in (clock.zone, prefix.tzinfo):
        own = next(
            (
                m
                for m in _around(start, zone, layout)
                if _PREFIX_EARLY_MS <= start - m.start_ms <= _PREFIX_OWN_ZONE_LATE_MS
            ),
            None,
        )
        if own is not None:
            return replace(clock, zone=zone, month=own, zone_source="prefix"), plain("zone_prefix")
    found = _zone_of_start(start // 1000 * 1000, _PREFIX_EARLY_MS, _PREFIX_LATE_MS, layout)
    if found is not None:
        return replace(clock, zone=found[0], month=found[1], zone_source="prefix"), plain("zone_prefix")
    return _month_before(elapsed, clock, layout, instant, "month_prefix")


def refine(
    elapsed: int, clock: Clock, layout: Layout, born_ms: int | None = None, prefix: datetime | None = None
) -> tuple[Clock, Reason | None]:
    """The clock with what the line of an id tells about its month and zone, and the reason that says so.

    bornTimestamp fixes both where `born - elapsed` is, within a second, a local midnight on a first; else it fixes
    the month alone. A time at the start of the line fixes the month, and the zone where it carries one. A store
    timestamp dates nothing: store clocks up to 44 days off occur in public logs.
    """
    answer = None
    if born_ms is not None:
        answer = _refine_born(elapsed, clock, layout, born_ms)
    if answer is None and prefix is not None:
        answer = _refine_prefix(elapsed, clock, layout, prefix)
    return answer if answer is not None else (clock, None)


def uniq_sent(
    uniq_id: UniqId, clock: Clock, born_ms: int | None = None, prefix: datetime | None = None
) -> tuple[SentAt | None, Reason | None]:
    """When a uniq id was made, after the hints of its line."""
    elapsed = uniq_id.signed_elapsed
    if elapsed < 0 and not (rules.clock_set_back(uniq_id.elapsed) or elapsed > -rules.LONGEST_MONTH_MS):
        return None, None
    if born_ms is None and prefix is None:
        return sent(elapsed, clock, uniq_id.layout), None
    refined, reason = refine(elapsed, clock, uniq_id.layout, born_ms, prefix)
    return sent(elapsed, refined, uniq_id.layout), reason


def client_sent(
    client_id: ClientId, clock: Clock, made_by: str = "grpc", born_ms: int | None = None
) -> tuple[SentAt | None, Reason | None]:
    """When a client id was made. Its seconds count from 2021 in UTC; three makers deviate, and are read as they do."""
    if made_by == "grpc_rust":
        # message_id.rs writes the milliseconds since the month's start in UTC.
        found = sent(client_id.seconds, Clock(clock.reference, UTC, clock.zone_source))
        return (None if found is None else replace(found, zone_source=None)), plain("seconds_rust")
    seconds, reason = client_id.seconds, None
    if made_by == "grpc_cpp_old":
        seconds, reason = int.from_bytes(seconds.to_bytes(4, "big"), "little"), plain("seconds_le")
    at_ms = (CLIENT_EPOCH_S + seconds) * 1000
    if born_ms is not None and abs(born_ms - at_ms) > 600_000:
        late = at_ms - born_ms
        minutes = round(late / 60_000)
        if minutes in OFFSETS_IN_USE and abs(late - minutes * 60_000) <= 60_000:
            zone = timezone(timedelta(minutes=minutes))
            return SentAt(
                from_ms(at_ms - minutes * 60_000, zone), None, zone_text(timedelta(minutes=minutes)), "born"
            ), plain("seconds_local")
    return SentAt(from_ms(at_ms), None, "+00:00", None), reason
