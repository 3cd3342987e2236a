"""Times of ids: months, zones and the hints of a line, all from arguments. Reads no clock, zone or host by itself."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from typing import Literal, Protocol
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from idcore.base.layout import UNIQ_V4, Layout
from idcore.ids import rules
from idcore.ids.model import ClientId, UniqId, refuse
from idcore.ids.reasons import Reason

ZoneSource = Literal["born", "prefix", "given", "assumed", "linked"]

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MINUTE_MS, HOUR_MS, DAY_MS = 60_000, 3_600_000, 86_400_000
NO_TIME = -(1 << 62)  # in a column of milliseconds
QUARTER_MS = 900_000  # every UTC offset in use is a multiple
_MONTHS_BACK = 12  # of which the months of an id are shown
_LATEST_MS = 1 << 45  # in the year 3084
# The epoch of 5.x msgIds (MessageIdCodec): 2021-01-01T00:00:00Z.
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
IN_USE = frozenset(OFFSETS_IN_USE)
WEST, EAST = (timedelta(minutes=pick(OFFSETS_IN_USE)) for pick in (min, max))
_MAYBE_CPP = frozenset({"cpp", "cpp_seed", "cpp_or_lua", "dotnet_uuid"})


@dataclass(frozen=True, slots=True)
class Month:
    """One month in one zone: its name, the instant it begins, how long it is (daylight saving included).

    `late_ms`: by how much later a client may have begun to count.
    """

    label: str
    start_ms: int
    length_ms: int
    late_ms: int = 0


@dataclass(frozen=True, slots=True)
class Clock:
    """What dating by months rests on: "now", the producer's zone and where that comes from.

    Where they are known, also the month itself and what the whole input proves of its processes (`idcore.ids.dating`).
    """

    reference: datetime
    zone: tzinfo
    zone_source: ZoneSource = "assumed"
    month: Month | None = None
    dates: Proved | None = None


class Proved(Protocol):
    """What the lines of one input prove together (`idcore.ids.dating.Dates`)."""

    @property
    def zone(self) -> tuple[tzinfo, ZoneSource] | None:
        """The zone of the whole input, and what shows it."""

    def of_uniq(self, uniq_id: UniqId, clock: Clock) -> tuple[Clock, Reason | None]:
        """The clock of one id, and the reason of what it adds. A month that is not settled is left to the line."""

    def ahead_of(self, client_id: ClientId) -> tuple[int | None, ZoneSource | None]:
        """By how many minutes the seconds of a 5.x client are ahead of UTC, and what shows it."""

    def latest_of(self, client_id: ClientId) -> int | None:
        """The last moment at which a line names an id of a 5.x client, else any id of the input."""


@dataclass(frozen=True, slots=True)
class SentAt:
    """When an id was generated, in the zone it was read in; `earliest` and `latest` where that is not exact."""

    at: datetime
    month: str | None
    zone: str
    zone_source: ZoneSource | None
    earliest: datetime | None = None
    latest: datetime | None = None


LONGEST_ZONE = 60  # characters: the longest name of IANA has 32
MOST_AHEAD, MOST_BEHIND = 14 * 60, 12 * 60  # minutes from UTC: no place on Earth is further


@lru_cache(maxsize=256)
def parse_zone(text: str) -> tzinfo:
    """An IANA name, `+08:00`, `-03:30`, `UTC` or `Z`. A longer text is none: what is read here is kept."""
    name = text.strip() if len(text) <= LONGEST_ZONE else ""
    if name.upper() in ("Z", "UTC", "GMT"):
        return UTC
    match = re.fullmatch(r"(?:UTC|GMT)?([+-])(\d{1,2})(?::?([0-5]\d))?", name, re.IGNORECASE)
    if match:
        minutes = int(match[2]) * 60 + int(match[3] or 0)
        if minutes <= (MOST_BEHIND if match[1] == "-" else MOST_AHEAD):
            return timezone(timedelta(minutes=-minutes if match[1] == "-" else minutes))
    elif name:
        try:
            return ZoneInfo(name)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            pass
    raise refuse("zone", "zone", None, text, given=text)


def parse_instant(text: str, zone: tzinfo = UTC) -> datetime:
    """An ISO 8601 instant, as `2026-11-21T10:00+08:00`; without an offset it is in `zone`. Years 1971 to 9998."""
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
    for name in filter(None, names):
        try:
            return ZoneInfo(name)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            continue
    return timezone(timedelta(seconds=time.localtime().tm_gmtoff))


def zone_text(offset: timedelta | None) -> str:
    """A UTC offset as `+08:00`."""
    minutes = round((offset or timedelta()).total_seconds() / 60)
    sign = "-" if minutes < 0 else "+"
    return f"{sign}{abs(minutes) // 60:02d}:{abs(minutes) % 60:02d}"


def to_ms(instant: datetime) -> int:
    """Milliseconds since 1970, exact: `to_ms(datetime(1970, 1, 2, tzinfo=UTC))` is 86400000."""
    return (instant - EPOCH) // timedelta(milliseconds=1)


def from_ms(milliseconds: int, zone: tzinfo = UTC) -> datetime:
    """The instant of some milliseconds since 1970, in a zone: the inverse of `to_ms`."""
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
    earlier = []
    for _ in range(count):
        if year < 2:
            break
        earlier.append(month_of(year, month, zone))
        year, month = (year - 1, 12) if month == 1 else (year, month - 1)
    return tuple(earlier)


def months(reference: datetime, zone: tzinfo, count: int = 13) -> tuple[Month, ...]:
    """The month of the reference and those before it, newest first: in November 2026 also October, September, …."""
    local = reference.astimezone(zone)
    return _months_back(local.year, local.month, zone, count)


@lru_cache(maxsize=4_096)
def _little_endian(month: Month, zone: tzinfo) -> Month:
    # C++ 1.2.0-1.2.3 fill a struct tm with tm_mday = 0 (StringIdMaker.cpp): the last day of the month before. They
    # leave its tm_isdst to chance, which mostly makes it positive: without daylight saving the day then begins an hour
    # early, with it on time; where chance makes it 0, each an hour later.
    year, number = int(month.label[:4]), int(month.label[5:])
    day = wall_ms(datetime(year, number, 1) - timedelta(days=1), zone)
    start = day if from_ms(day, zone).dst() else day - HOUR_MS
    return Month(month.label, start, month.start_ms + month.length_ms - start, HOUR_MS)


def epochs(reference: datetime, zone: tzinfo, layout: Layout = UNIQ_V4, count: int = 13) -> tuple[Month, ...]:
    """The months as a layout counts them: those of some begin a day early."""
    starts = months(reference, zone, count)
    if layout.early:
        return tuple(_little_endian(month, zone) for month in starts)
    return starts


def _summer(month: Month, zone: tzinfo) -> Month:
    # C++ 2.1.0 sets tm_isdst to 0: under daylight saving its month begins at 01:00.
    return replace(month, late_ms=HOUR_MS) if from_ms(month.start_ms, zone).dst() else month


def _fits(elapsed: int, month: Month, slack_ms: int = 0) -> bool:
    return elapsed < month.length_ms + slack_ms


def newest_month(elapsed: int, limit_ms: int, choice: Sequence[Month]) -> Month | None:
    """The first of some months, newest first, in which an id with this elapsed was not generated after the limit."""
    for month in choice:
        if month.start_ms + elapsed <= limit_ms and _fits(elapsed, month):
            return month
    if rules.LONGEST_MONTH_MS <= elapsed <= rules.LONGEST_MONTH_MS + rules.ELAPSED_SLACK_MS:
        # The clock is read twice as the month changes: a few ms over the longest month are genuine.
        for month in choice:
            if month.start_ms + elapsed <= limit_ms and _fits(elapsed, month, rules.ELAPSED_SLACK_MS + 1):
                return month
    return None


def choice_of(elapsed: int, reference: datetime, zone: tzinfo, layout: Layout, count: int = 13) -> tuple[Month, ...]:
    """The months in which an id with this elapsed may have been generated."""
    # An elapsed below zero counts from a month that may begin after the reference: the clock was ahead, then set back.
    return epochs(reference - timedelta(milliseconds=min(elapsed, 0)), zone, layout, count)


def pick_month(elapsed: int, clock: Clock, layout: Layout = UNIQ_V4) -> Month | None:
    """The newest month in which the instant is not after the reference and elapsed is shorter than the month."""
    if clock.month is not None:
        return clock.month
    return newest_month(elapsed, to_ms(clock.reference), choice_of(elapsed, clock.reference, clock.zone, layout))


def _read(elapsed: int, month: Month, clock: Clock) -> SentAt:
    at = from_ms(month.start_ms + elapsed, clock.zone)
    instant = SentAt(at, month.label, zone_text(at.utcoffset()), clock.zone_source)
    late = timedelta(milliseconds=month.late_ms)
    if clock.zone_source == "assumed":
        return in_any_zone(instant, clock.reference, late)
    latest = min(at + late, clock.reference)
    return replace(instant, earliest=at, latest=latest) if at < latest else instant


def in_any_zone(sent: SentAt, reference: datetime, late: timedelta = timedelta()) -> SentAt:
    """A time of an assumed zone: from when to when it was, whatever zone in use its producer has."""
    ahead = sent.at.utcoffset() or timedelta()
    early, latest = EAST - ahead, min(sent.at + late + ahead - WEST, reference)
    sent = replace(sent, zone_source="assumed")
    if early or sent.at < latest:
        return replace(sent, earliest=sent.at - early, latest=max(sent.at, latest))
    return sent


def _newer(instant: SentAt, elapsed: int, month: Month, clock: Clock, layout: Layout) -> SentAt:
    """With an assumed zone: the id of a producer further east may be of the next month, and just generated."""
    east = timezone(EAST)
    newest = newest_month(elapsed, to_ms(clock.reference), choice_of(elapsed, clock.reference, east, layout, 3))
    if newest is None or newest.label <= month.label:
        return instant
    return replace(instant, latest=clock.reference)


def sent(elapsed: int, clock: Clock, layout: Layout = UNIQ_V4, made_by: str = "") -> SentAt | None:
    """When an id with this (signed) elapsed was generated, with its month and zone; None where no month fits."""
    month = pick_month(elapsed, clock, layout)
    if month is not None and made_by in _MAYBE_CPP and clock.zone_source in ("given", "assumed"):
        month = _summer(month, clock.zone)
    if month is None:
        return None
    instant = _read(elapsed, month, clock)
    if clock.month is None and clock.zone_source == "assumed":
        return _newer(instant, elapsed, month, clock, layout)
    return instant


def sent_at(elapsed: int, clock: Clock, layout: Layout = UNIQ_V4) -> datetime | None:
    """When an id with this elapsed was generated, or None where no month fits."""
    instant = sent(elapsed, clock, layout)
    return None if instant is None else instant.at


def all_months(elapsed: int, clock: Clock, layout: Layout = UNIQ_V4) -> tuple[SentAt, ...]:
    """Every time within the last twelve months, newest first: the id alone does not decide between them."""
    limit = to_ms(clock.reference)
    choice = choice_of(elapsed, clock.reference, clock.zone, layout, _MONTHS_BACK + 1)
    return tuple(
        _read(elapsed, month, replace(clock, month=None))
        for month in choice
        if month.start_ms + elapsed <= limit and _fits(elapsed, month)
    )[:_MONTHS_BACK]
