"""Times of ids: months, zones and the hints of a line, all from arguments. Reads no clock, zone or host by itself."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from typing import TYPE_CHECKING, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from idcore.ids import rules
from idcore.ids.model import ClientId, UniqId, refuse
from idcore.ids.words import Reason, plain
from idcore.layout import UNIQ_V4, UNIQ_V4_LE, Layout

if TYPE_CHECKING:
    from idcore.ids.dating import Dates

ZoneSource = Literal["born", "prefix", "given", "assumed", "linked"]

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
HOUR_MS, DAY_MS = 3_600_000, 86_400_000
QUARTER_MS = 900_000  # every UTC offset in use is a multiple
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
_IN_USE = frozenset(OFFSETS_IN_USE)
_WEST, _EAST = (timedelta(minutes=pick(OFFSETS_IN_USE)) for pick in (min, max))
_MAYBE_CPP = frozenset({"cpp", "cpp_seed", "cpp_or_lua"})
_BORN_TOLERANCE_MS = 1_000
# A line is logged after its message was made: by how much, when another zone than the line's own is to be believed.
_PREFIX_EARLY_MS, _PREFIX_LATE_MS, _PREFIX_OWN_ZONE_LATE_MS = -2_000, 10_000, 3_600_000
_FUTURE_MS = 60_000  # clocks of two machines differ by so much
_PREFIX_SLACK_MS = 14 * 3_600_000


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
    """What a reading of months rests on: "now", the producer's zone, where that zone is known from, and, where they
    are known, the month itself and what the whole input proves of its processes (`idcore.ids.dating`)."""

    reference: datetime
    zone: tzinfo
    zone_source: ZoneSource = "assumed"
    month: Month | None = None
    dates: Dates | None = None


@dataclass(frozen=True, slots=True)
class SentAt:
    """When an id was made, in the zone it was read in; `earliest` and `latest` where that is not exact."""

    at: datetime
    month: str | None
    zone: str
    zone_source: ZoneSource | None
    earliest: datetime | None = None
    latest: datetime | None = None


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
    # C++ 1.2.0-1.2.3 fill a struct tm with tm_mday = 0 (StringIdMaker.cpp): the last day of the month before. They
    # leave its tm_isdst to chance, which mostly makes it positive: without daylight saving the day then begins an hour
    # early, with it on time; where chance makes it 0, each an hour later.
    year, number = int(month.label[:4]), int(month.label[5:])
    day = wall_ms(datetime(year, number, 1) - timedelta(days=1), zone)
    start = day if from_ms(day, zone).dst() else day - HOUR_MS
    return Month(month.label, start, month.start_ms + month.length_ms - start, HOUR_MS)


def epochs(reference: datetime, zone: tzinfo, layout: Layout = UNIQ_V4, count: int = 13) -> tuple[Month, ...]:
    """The months as a layout counts them: little-endian ids begin a day early."""
    found = months(reference, zone, count)
    if layout.byteorder == "little":
        return tuple(_little_endian(month, zone) for month in found)
    return found


def _summer(month: Month, zone: tzinfo) -> Month:
    # C++ 2.1.0 sets tm_isdst to 0: under daylight saving its month begins at 01:00.
    return replace(month, late_ms=HOUR_MS) if from_ms(month.start_ms, zone).dst() else month


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
    ahead = at.utcoffset() or timedelta()
    found = SentAt(at, month.label, zone_text(ahead), clock.zone_source)
    early, late = timedelta(), timedelta(milliseconds=month.late_ms)
    if clock.zone_source == "assumed":
        early, late = _EAST - ahead, late + ahead - _WEST
    latest = min(at + late, clock.reference)
    if early or at < latest:
        return replace(found, earliest=at - early, latest=max(at, latest))
    return found


def _newer(found: SentAt, elapsed: int, month: Month, clock: Clock, layout: Layout) -> SentAt:
    """With an assumed zone: the id of a producer further east may be of the next month, and just made."""
    east = timezone(_EAST)
    newest = _newest(elapsed, to_ms(clock.reference), _choice(elapsed, clock.reference, east, layout, 3))
    if newest is None or newest.label <= month.label:
        return found
    return replace(found, latest=clock.reference)


def sent(elapsed: int, clock: Clock, layout: Layout = UNIQ_V4, made_by: str = "") -> SentAt | None:
    """When an id with this (signed) elapsed was made, month and zone beside it; None where no month fits."""
    month = pick_month(elapsed, clock, layout)
    if month is not None and clock.month is None and made_by in _MAYBE_CPP:
        month = _summer(month, clock.zone)
    if month is None:
        return None
    found = _read(elapsed, month, clock)
    if clock.month is None and clock.zone_source == "assumed":
        return _newer(found, elapsed, month, clock, layout)
    return found


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


@lru_cache(maxsize=1_024)
def _universal(year: int, month: int) -> int:
    return month_start(year, month, UTC)


def _zone_of_start(start_ms: int, early_ms: int, late_ms: int) -> tuple[tzinfo, Month] | None:
    """The zone in use in which a month begins so much before or after `start_ms`, at most, and that month."""
    begun = (start_ms - early_ms) // QUARTER_MS * QUARTER_MS
    if not early_ms <= start_ms - begun <= late_ms:
        return None
    local = from_ms(begun + 14 * HOUR_MS)
    ahead = (_universal(local.year, local.month) - begun) // 60_000
    if ahead not in _IN_USE:
        return None
    zone = timezone(timedelta(minutes=ahead))
    return zone, month_of(local.year, local.month, zone)


def _little_start(start_ms: int, early_ms: int, late_ms: int, zone: tzinfo) -> Month | None:
    """The month of little-endian ids that begins so much before or after `start_ms`; its hour says nothing of zones."""
    begun = (start_ms - early_ms) // QUARTER_MS * QUARTER_MS
    if not early_ms <= start_ms - begun <= late_ms:
        return None
    first = begun + DAY_MS
    local = from_ms(first + 15 * HOUR_MS)
    if not -13 * HOUR_MS <= _universal(local.year, local.month) - first <= 15 * HOUR_MS:
        return None
    own = month_of(local.year, local.month, zone)
    return Month(own.label, begun, own.start_ms + own.length_ms - begun)


def _refine_little(elapsed: int, clock: Clock, born_ms: int | None, prefix: datetime | None) -> _Refined:
    """As `refine`, of little-endian ids: what fixes the hour at which their month began, and no zone."""
    if born_ms is not None:
        instant, late, code, month_code = born_ms, _BORN_TOLERANCE_MS, "hour_born", "month_born"
        early = -_BORN_TOLERANCE_MS
    else:
        assert prefix is not None
        instant = to_ms(prefix) if prefix.tzinfo is not None else wall_ms(prefix, clock.zone)
        early, late, code, month_code = _PREFIX_EARLY_MS, _PREFIX_LATE_MS, "hour_prefix", "month_prefix"
    month = _little_start(instant - elapsed, early, late, clock.zone)
    if month is not None:
        return replace(clock, month=month), plain(code)
    return _month_before(elapsed, clock, UNIQ_V4_LE, instant, month_code)


_Refined = tuple[Clock, Reason] | None


def _refine_born(elapsed: int, clock: Clock, layout: Layout, born_ms: int) -> _Refined:
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
    found = _zone_of_start(start, -_BORN_TOLERANCE_MS, _BORN_TOLERANCE_MS)
    if found is not None:
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
    found = _zone_of_start(start, _PREFIX_EARLY_MS, _PREFIX_LATE_MS)
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
    if layout.byteorder == "little":
        if born_ms is not None or prefix is not None:
            answer = _refine_little(elapsed, clock, born_ms, prefix)
    elif born_ms is not None:
        answer = _refine_born(elapsed, clock, layout, born_ms)
    if answer is None and prefix is not None and layout.byteorder == "big":
        answer = _refine_prefix(elapsed, clock, layout, prefix)
    return answer if answer is not None else (clock, None)


def uniq_sent(
    uniq_id: UniqId, clock: Clock, born_ms: int | None = None, prefix: datetime | None = None, made_by: str = ""
) -> tuple[SentAt | None, Reason | None]:
    """When a uniq id was made, after the hints of its line and of the other lines of its input."""
    elapsed = uniq_id.signed_elapsed
    if elapsed < 0 and not (rules.clock_set_back(uniq_id.elapsed) or elapsed > -rules.LONGEST_MONTH_MS):
        return None, None
    shared = None
    if clock.dates is not None:
        clock, shared = clock.dates.of_uniq(uniq_id, clock)
    if clock.month is not None or (born_ms is None and prefix is None):
        return sent(elapsed, clock, uniq_id.layout, made_by), shared
    refined, reason = refine(elapsed, clock, uniq_id.layout, born_ms, prefix)
    return sent(elapsed, refined, uniq_id.layout), reason or shared


def local_2021_ms(zone: tzinfo) -> int:
    """By how much a zone was ahead of UTC on 2021-01-01, from which Java clients up to 5.0.2 count in local time."""
    return CLIENT_EPOCH_S * 1000 - wall_ms(datetime(2021, 1, 1), zone)


def hours_ahead(at_ms: int, instant_ms: int, late_ms: int = 60_000) -> int | None:
    """The UTC offset, in minutes, by which seconds that read as `at_ms` lie ahead of the instant of their line."""
    minutes = (at_ms - instant_ms + QUARTER_MS // 2) // QUARTER_MS * 15
    return minutes if minutes in _IN_USE and abs(at_ms - instant_ms - minutes * 60_000) <= late_ms else None


def _rust_sent(seconds: int, clock: Clock, instant_ms: int | None) -> SentAt | None:
    """message_id.rs writes the milliseconds since a month began in UTC, and takes every month to have 30 days."""
    limit = to_ms(clock.reference) if instant_ms is None else instant_ms + HOUR_MS
    for month in months(from_ms(limit), UTC):
        longest = max(month.length_ms, rules.RUST_MONTH_MS)
        if month.start_ms + seconds <= limit and seconds < longest:
            return SentAt(from_ms(month.start_ms + seconds), month.label, "+00:00", None)
    return None


def client_seconds(client_id: ClientId, made_by: str) -> int:
    """The seconds of a client id as its maker meant them: C++ before 5.1.0 writes the low byte first."""
    if made_by == "grpc_cpp_old":
        return int.from_bytes(client_id.seconds.to_bytes(4, "big"), "little")
    return client_id.seconds


def client_sent(
    client_id: ClientId,
    clock: Clock,
    made_by: str = "grpc",
    born_ms: int | None = None,
    prefix: datetime | None = None,
) -> tuple[SentAt | None, Reason | None]:
    """When a client id was made. Its seconds count from 2021 in UTC; three makers deviate, and are read as they do."""
    instant = born_ms
    if instant is None and prefix is not None:
        instant = to_ms(prefix) if prefix.tzinfo is not None else wall_ms(prefix, clock.zone)
    if made_by == "grpc_rust":
        if instant is None and clock.dates is not None:
            instant = clock.dates.latest_of(client_id)
        return _rust_sent(client_id.seconds, clock, instant), plain("seconds_rust")
    at_ms = (CLIENT_EPOCH_S + client_seconds(client_id, made_by)) * 1000
    if made_by == "grpc_cpp_old":
        return SentAt(from_ms(at_ms), None, "+00:00", None), plain("seconds_le")
    ahead, source = None, None
    if clock.dates is not None:
        ahead, source = clock.dates.ahead_of(client_id)
    if ahead is None and instant is not None:
        ahead, source = client_ahead(at_ms, born_ms, prefix, clock.zone)
    if ahead is None:
        return _undated_client(at_ms, clock)
    if not ahead:
        return SentAt(from_ms(at_ms), None, "+00:00", None), None
    return _local(at_ms, ahead, source), plain("seconds_local")


def client_ahead(
    at_ms: int, born_ms: int | None, prefix: datetime | None, zone: tzinfo
) -> tuple[int | None, ZoneSource | None]:
    """By how many minutes the seconds of a client id are ahead of UTC, as its line shows: 0, or its client's zone."""
    if born_ms is not None:
        return hours_ahead(at_ms, born_ms), "born"
    if prefix is None:
        return None, None
    instant = to_ms(prefix) if prefix.tzinfo is not None else wall_ms(prefix, zone)
    if _PREFIX_EARLY_MS <= instant - at_ms <= _PREFIX_OWN_ZONE_LATE_MS:
        return 0, "prefix"
    ahead = hours_ahead(at_ms, instant, _PREFIX_LATE_MS)
    if prefix.tzinfo is None and ahead != local_2021_ms(zone) // 60_000:
        return None, None
    return ahead, "prefix"


def _local(at_ms: int, ahead: int, source: ZoneSource | None) -> SentAt:
    zone = timezone(timedelta(minutes=ahead))
    return SentAt(from_ms(at_ms - ahead * 60_000, zone), None, zone_text(timedelta(minutes=ahead)), source)


def _undated_client(at_ms: int, clock: Clock) -> tuple[SentAt, Reason | None]:
    """Of a client id that nothing dates: in the future it is of a Java client up to 5.0.2, before that it may be."""
    now, own = to_ms(clock.reference), local_2021_ms(clock.zone)
    if at_ms > now + _FUTURE_MS:
        ahead = own // 60_000 if at_ms - own <= now + _FUTURE_MS else -((now + _FUTURE_MS - at_ms) // HOUR_MS) * 60
        if ahead <= max(OFFSETS_IN_USE):
            found = _local(at_ms, ahead, clock.zone_source)
            earliest = from_ms(at_ms - max(OFFSETS_IN_USE) * 60_000, found.at.tzinfo or UTC)
            open_ = clock.zone_source == "assumed" or ahead * 60_000 != own
            if open_ and earliest < found.at:
                found = replace(found, earliest=earliest, latest=max(found.at, clock.reference))
            return found, plain("seconds_future")
    found = SentAt(from_ms(at_ms), None, "+00:00", None)
    if own and at_ms - own <= now:
        other = from_ms(at_ms - own)
        found = replace(found, earliest=min(found.at, other), latest=max(found.at, other))
        return found, Reason("seconds_maybe_local", {"other": other.isoformat(), "zone": zone_text(timedelta(milliseconds=own))})
    return found, None
