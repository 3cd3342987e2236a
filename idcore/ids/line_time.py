"""What a line says of the month and zone of its ids: a bornTimestamp, the time it opens with. Reads no text."""

from __future__ import annotations

from calendar import isleap
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import lru_cache

from idcore.base.layout import LAYOUTS, Layout
from idcore.ids import generations
from idcore.ids.clock import (
    DAY_MS,
    HOUR_MS,
    IN_USE,
    QUARTER_MS,
    Clock,
    Month,
    SentAt,
    choice_of,
    epochs,
    from_ms,
    month_of,
    month_start,
    newest_month,
    sent,
    to_ms,
    wall_ms,
    zone_text,
)
from idcore.ids.line_moments import BORN_APART_MS, BornTime, NamedDay, StoredTime
from idcore.ids.model import UniqId
from idcore.ids.reasons import Reason, bare_reason
from idcore.ids.tokens import Token

FIRST_YEAR = 2010  # no id is older: RocketMQ's first release is of 2012
_LAST_YEAR = 9_997
NOON_BEFORE = 2020  # 4.1.0-incubating of June 2017 begins months at midnight; who had not updated by then is rare

_Refined = tuple[Clock, Reason] | None

_BORN_TOLERANCE_MS = 1_000
APART = frozenset(("month_apart", "month_clock", "month_stored"))  # where a record's time is not that of its ID
_LESS = "zone_", "month_"  # how the reasons of others and of a line begin, where the others fix more
# A line is logged after its message was made: by how much, when another zone than the line's own is to be believed.
PREFIX_EARLY_MS, PREFIX_LATE_MS, PREFIX_OWN_ZONE_LATE_MS = -2_000, 10_000, 3_600_000
_PREFIX_SLACK_MS = 14 * 3_600_000
# An ID that would be later than its line by up to so much is read in the month before; a clock may as well be ahead.
CLOCK_AHEAD_MS = 72 * 3_600_000
# A time without a year dates an ID that counts from its month to so much before or after it: to minutes, as Excel has.
DAY_EARLY_MS, DAY_LATE_MS = -62_000, 70_000
# A line is written after its ID was generated, and one that reports a send soon: a send that is tried again takes some
# 10 s. What is so much earlier or later is of another clock, but not whole quarters of an hour: those are of zones.
LINE_EARLY_MS, LINE_LATE_MS = 5_000, 60_000
_ZONE_EARLY_MS, _ZONE_LATE_MS = 2_000, 30_000


def _around(instant_ms: int, zone: tzinfo, layout: Layout) -> tuple[Month, ...]:
    reference = from_ms(instant_ms + 16 * 3_600_000, zone)
    return epochs(reference, zone, layout, 3)


def calendar_end(reference: datetime) -> int:
    """The year before which the time of a line is believed: three after "now", and not before 2022."""
    return min(max(reference.year + 3, 2022), _LAST_YEAR)


@lru_cache(maxsize=64)
def _believed(end: int, zone: tzinfo) -> tuple[int, int]:
    return month_start(FIRST_YEAR, 4, zone), month_start(end - 1, 11, zone)


def hints(token: Token, clock: Clock) -> tuple[int | None, datetime | None]:
    """The bornTimestamp and the opening time of the line of an id, where their years are possible."""
    born, prefix = token.born_ms, token.prefix_time
    if born is None and prefix is None:
        day = token.named_day
        if day is None or isinstance(day, StoredTime):
            return None, day
        return None, latest_year(day, to_ms(clock.reference), clock.zone)
    first, last = _believed(calendar_end(clock.reference), clock.zone)

    def holds(instant_ms: int) -> bool:
        return first <= instant_ms + _PREFIX_SLACK_MS < last

    if born is not None and not holds(born):
        return None, None  # as the scan has it: a line with a bornTimestamp is dated by that alone
    if prefix is not None:
        prefix = prefix if holds(_instant(prefix, clock.zone)) else None
    return born, prefix


@lru_cache(maxsize=4_096)
def latest_year(day: NamedDay, now_ms: int, zone: tzinfo) -> NamedDay | None:
    """A time without a year in the latest year in which it was before "now", in whatever zone."""
    last = now_ms + _PREFIX_SLACK_MS
    for year in range(from_ms(last, zone).year, FIRST_YEAR - 1, -1):
        if (day.month, day.day) != (2, 29) or isleap(year):
            found = day.replace(year=year)
            if wall_ms(found, zone) <= last:
                return found
    return None


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
    if ahead not in IN_USE:
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


def _refine_early(elapsed: int, clock: Clock, layout: Layout, born_ms: int | None, prefix: datetime | None) -> _Refined:
    """As `refine`, of little-endian ids: what fixes the hour at which their month began, and no zone."""
    if born_ms is not None:
        instant, late, code, month_code = born_ms, _BORN_TOLERANCE_MS, "hour_born", "month_born"
        early = -_BORN_TOLERANCE_MS
    else:
        instant = _instant(prefix, clock.zone)
        early, late, code, month_code = PREFIX_EARLY_MS, PREFIX_LATE_MS, "hour_prefix", "month_prefix"
    month = _little_start(instant - elapsed, early, late, clock.zone)
    if month is not None:
        return replace(clock, month=month), bare_reason(code)
    return _month_before(elapsed, clock, layout, instant, month_code)


def _refine_born(elapsed: int, clock: Clock, layout: Layout, born_ms: int) -> _Refined:
    start = born_ms - elapsed
    own = next((m for m in _around(start, clock.zone, layout) if abs(start - m.start_ms) <= _BORN_TOLERANCE_MS), None)
    if own is not None:
        return replace(clock, month=own, zone_source="born"), bare_reason("zone_born")
    zone = _zone_of_start(start, -_BORN_TOLERANCE_MS, _BORN_TOLERANCE_MS)
    if zone is not None:
        return replace(clock, zone=zone[0], month=zone[1], zone_source="born"), bare_reason("zone_born")
    for month in _around(start, clock.zone, layout):
        noon = wall_ms(datetime(int(month.label[:4]), int(month.label[5:]), 1, 12), clock.zone)
        if abs(start - noon) <= _BORN_TOLERANCE_MS:
            late = Month(month.label, noon, month.start_ms + month.length_ms + DAY_MS // 2 - noon)
            return replace(clock, month=late, zone_source="born"), bare_reason("noon")
    return _month_before(elapsed, clock, layout, born_ms, "month_born")


def begins_at_noon(layout: Layout, ip: bytes, loader: int, start_ms: int, zone: tzinfo) -> bool:
    """Whether a month that a line proves begins at noon of a zone, as it does up to client 4.0.0-incubating.

    These set Calendar.HOUR instead of HOUR_OF_DAY. The same instant is a midnight 12 hours further west, which is
    likelier for ids, clients and JVMs that came later: New York is 12 hours from Shanghai, under daylight saving.
    """
    start = from_ms(start_ms, zone)
    if layout.early or (start.day, start.hour, start.minute) != (1, 12, 0):
        return False
    if _zone_of_start(start_ms, 0, 0) is None:
        return True  # a midnight nowhere on earth
    return start.year < NOON_BEFORE and generations.may_begin_at_noon(ip, loader)


def _at_noon(uniq_id: UniqId, instant: SentAt, clock: Clock) -> SentAt | None:
    """A time whose month began at noon, in the zone in which it did: the clock's, or that of the whole input."""
    if instant.zone_source not in ("born", "prefix"):
        return None
    start = to_ms(instant.at) - uniq_id.signed_elapsed
    zones = [clock.zone]
    if clock.dates is not None and clock.dates.zone is not None:
        zones.append(clock.dates.zone[0])
    for zone in zones:
        if begins_at_noon(uniq_id.layout, uniq_id.ip, uniq_id.loader, start, zone):
            at = instant.at.astimezone(zone)
            return replace(instant, at=at, zone=zone_text(at.utcoffset()))
    return None


def _month_before(
    elapsed: int, clock: Clock, layout: Layout, instant_ms: int, code: str
) -> tuple[Clock, Reason] | None:
    limit = instant_ms + _PREFIX_SLACK_MS
    month = newest_month(elapsed, limit, choice_of(elapsed, from_ms(limit, clock.zone), clock.zone, layout))
    return None if month is None else (replace(clock, month=month), bare_reason(code))


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
                if PREFIX_EARLY_MS <= start - m.start_ms <= PREFIX_OWN_ZONE_LATE_MS
            ),
            None,
        )
        if own is not None:
            return replace(clock, zone=zone, month=own, zone_source="prefix"), bare_reason("zone_prefix")
    found = _zone_of_start(start, PREFIX_EARLY_MS, PREFIX_LATE_MS)
    if found is not None:
        return replace(clock, zone=found[0], month=found[1], zone_source="prefix"), bare_reason("zone_prefix")
    return _month_before(elapsed, clock, layout, instant, "month_prefix")


def stored_day(stored: StoredTime, elapsed: int, now_ms: int, zone: tzinfo) -> NamedDay | None:
    """When an ID was generated in the last month that puts it before its store time, by its zone's clock."""
    limit = _instant(stored, zone) + _PREFIX_SLACK_MS
    if limit > now_ms + 2 * _PREFIX_SLACK_MS:
        return None
    month = newest_month(elapsed, limit, choice_of(elapsed, from_ms(limit, zone), zone, LAYOUTS["uniq_v4"]))
    if month is None:
        return None
    return NamedDay(int(month.label[:4]), int(month.label[5:]), 1) + timedelta(milliseconds=elapsed)


def _refine_stored(elapsed: int, clock: Clock, layout: Layout, stored: StoredTime) -> _Refined:
    instant = _instant(stored, clock.zone)
    if instant > to_ms(clock.reference) + _PREFIX_SLACK_MS:
        return None
    code = "month_apart" if isinstance(stored, BornTime) else "month_stored"
    return _month_before(elapsed, clock, layout, instant, code)


def _refine_day(elapsed: int, clock: Clock, layout: Layout, day: NamedDay) -> _Refined:
    instant = wall_ms(day, clock.zone)
    found = _month_before(elapsed, clock, layout, instant, "year_latest")
    if found is None or found[0].month is None:
        return None
    return found if DAY_EARLY_MS <= instant - elapsed - found[0].month.start_ms <= DAY_LATE_MS else None


def refine(
    elapsed: int, clock: Clock, layout: Layout, born_ms: int | None = None, prefix: datetime | None = None
) -> tuple[Clock, Reason | None]:
    """The clock with what the line of an id shows about its month and zone, and the reason for it.

    bornTimestamp fixes both where `born - elapsed` is, within a second, a local midnight on a first; else it fixes the
    month alone. One that is days after the ID is a guess at its month. So is the month before that of a line which an
    ID would be some hours or days later than. A time at the start of the line fixes the month,
    and the zone where it carries one. One without a year names the month, in the latest year that fits. A store
    time alone is a guess at the month: store clocks up to 44 days off occur in public logs.
    """
    answer = None
    if isinstance(prefix, NamedDay) and layout.early:
        return clock, None
    if isinstance(prefix, StoredTime):
        return _refine_stored(elapsed, clock, layout, prefix) or (clock, None)
    if isinstance(prefix, NamedDay):
        return _refine_day(elapsed, clock, layout, prefix) or (clock, None)
    if layout.early:
        if born_ms is not None or prefix is not None:
            answer = _refine_early(elapsed, clock, layout, born_ms, prefix)
    elif born_ms is not None:
        answer = _refine_born(elapsed, clock, layout, born_ms)
    if answer is None and prefix is not None and not layout.early:
        answer = _refine_prefix(elapsed, clock, layout, prefix)
    if answer is None or _is_of_future(elapsed, answer, born_ms, prefix):
        return clock, None
    month, code = answer[0].month, answer[1].code
    if month is None or layout.early or code not in ("month_born", "month_prefix"):
        return answer
    said = born_ms if born_ms is not None and code == "month_born" else _instant(prefix, clock.zone)
    if code == "month_born" and said - month.start_ms - elapsed > BORN_APART_MS:
        return answer[0], bare_reason("month_apart")
    is_ahead = month.start_ms + month.length_ms + elapsed - said <= CLOCK_AHEAD_MS
    return answer[0], bare_reason("month_clock") if is_ahead else answer[1]


def _is_of_future(elapsed: int, answer: tuple[Clock, Reason], born_ms: int | None, prefix: datetime | None) -> bool:
    """Whether what fixes the month is a time after "now" that the ID does not prove: a delivery to come."""
    clock, reason = answer
    if not reason.code.startswith("month_") or clock.month is None:
        return False
    instant = born_ms if born_ms is not None else _instant(prefix, clock.zone)
    if instant <= to_ms(clock.reference) + _PREFIX_SLACK_MS:
        return False
    return not DAY_EARLY_MS <= instant - elapsed - clock.month.start_ms <= DAY_LATE_MS


def is_of_other_clock(apart_ms: float, reports_send: bool) -> bool:
    """Whether a line and an ID that are so far apart are of two clocks; below 0 where the line is earlier.

    >>> is_of_other_clock(-300_000, False), is_of_other_clock(300_000, False), is_of_other_clock(-3_600_000, False)
    (True, False, False)
    """
    is_apart = apart_ms <= -LINE_EARLY_MS or (reports_send and apart_ms >= LINE_LATE_MS)
    return is_apart and (apart_ms + _ZONE_EARLY_MS) % QUARTER_MS > _ZONE_EARLY_MS + _ZONE_LATE_MS


def line_apart_ms(token: Token, sent: SentAt, zone: tzinfo) -> int | None:
    """How far the time of a line is behind that of its ID; None where it has none of its own, or of another day."""
    written = token.prefix_time
    if written is None or isinstance(written, NamedDay) or token.of_record or token.linked:
        return None
    apart = _instant(written, zone) - to_ms(sent.at)
    return apart if abs(apart) <= _PREFIX_SLACK_MS else None


def _instant(prefix: datetime | None, zone: tzinfo) -> int:
    assert prefix is not None
    return to_ms(prefix) if prefix.tzinfo is not None else wall_ms(prefix, zone)


def uniq_sent(
    uniq_id: UniqId, clock: Clock, born_ms: int | None = None, prefix: datetime | None = None, made_by: str = ""
) -> tuple[SentAt | None, Reason | None]:
    """When a msgId was generated, after the hints of its line and of the other lines of its input."""
    elapsed = uniq_id.signed_elapsed
    instant, reason = _sent(uniq_id, elapsed, clock, born_ms, prefix, made_by)
    at_noon = None if instant is None else _at_noon(uniq_id, instant, clock)
    if at_noon is None:
        return instant, reason
    return at_noon, bare_reason("noon") if reason is not None and reason.code == "zone_born" else reason


def _sent(
    uniq_id: UniqId, elapsed: int, clock: Clock, born_ms: int | None, prefix: datetime | None, made_by: str
) -> tuple[SentAt | None, Reason | None]:
    shared = None
    if clock.dates is not None:
        clock, shared = clock.dates.of_uniq(uniq_id, clock)
        if isinstance(prefix, NamedDay) and clock.month is not None:
            prefix = None  # all lines of the process say at least as much
    if born_ms is None and prefix is None:
        return sent(elapsed, clock, uniq_id.layout, made_by), shared
    refined, reason = refine(elapsed, replace(clock, month=None), uniq_id.layout, born_ms, prefix)
    if clock.month is not None:
        own = refined.month is not None and refined.month.start_ms == clock.month.start_ms
        code = "" if reason is None else reason.code
        if not code or (shared is not None and (code in APART or (shared.code[:5], code[:6]) == _LESS)):
            own = False  # the others fix more than the line itself
        own = own and (shared is None or shared.code != "month_of_several")
        return sent(elapsed, clock, uniq_id.layout, made_by), reason if own else shared
    return sent(elapsed, refined, uniq_id.layout), reason or shared
