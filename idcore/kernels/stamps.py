"""Times in the styles that most logs have besides `YYYY-MM-DD HH:MM:SS`, where nothing else in their line is one.

`Mar 11 20:57:47` of syslog, `03-11 20:57:47`, klog's `I0311 20:57:47`, `[11/Mar/2026:20:57:47 +0800]`, `11-Mar-2026
20:57:47`, `20260311 20:57:47`, `Wed Mar 11 20:57:47 CST 2026`, epochs. An id has to prove them: then Python would find
the same (`idcore.ids.line_moments`), and need not be asked. Takes addresses.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from idcore.kernels import inner, kernel

from . import signs
from .clocks import digits_at, may_have_date_behind, number_at
from .dates import (
    DAY,
    DAY_EARLY,
    DAY_LATE,
    FIRST_MONTH,
    HOUR,
    MINUTE,
    NO_ZONE,
    NOT_THERE,
    OPEN_ROUND,
    PREFIX_EARLY,
    PREFIX_SOON,
    SLACK,
    WEEKDAYS,
    WITHIN,
    days_of,
    has_half_day,
    may_be_due,
    may_have_time,
    moment_in,
    three_at,
    two_digits,
)
from .signs import is_digit, is_letter, is_word
from .vector import load_8
from .zones import may_have_zone_in_front, may_name_zone

U = np.uint64
MONTHS = tuple(int.from_bytes(name, "big") for name in b"jan feb mar apr may jun jul aug sep oct nov dec".split(b" "))
UTC, GMT = (int.from_bytes(name, "big") for name in (b"utc", b"gmt"))
LEVELS = tuple(b"IWEF")  # in front of klog's days
FIRST, LAST = 1_262_304_000_000, 4_102_444_800_000  # ms of what may be an epoch, as in `line_moments`
NO_YEAR = np.int64(0)


class Stamp(NamedTuple):
    """A time: where it begins and ends (0 without one), month and day, its year or NO_YEAR, ms of its day, minutes of
    its zone or NO_ZONE, and whether day and month may be the other way round. An epoch has a month of 0, and all of its
    ms."""

    place: np.uint64
    stop: np.uint64
    year: np.int64
    month: np.int64
    day: np.int64
    ms: np.int64
    ahead: np.int64
    is_open: bool


NO_STAMP = Stamp(U(0), U(0), NO_YEAR, np.int64(0), np.int64(0), np.int64(0), NO_ZONE, False)


@inner
def month_at(p, end):
    """The month whose three English letters are at p, and no further letter; or 0."""
    if p + U(3) > end or (p + U(3) < end and (is_letter(load_8(p + U(3))) or load_8(p + U(3)) >= signs.NOT_ASCII)):
        return 0
    three = three_at(p) | 0x202020
    for at in range(12):
        if three == MONTHS[at]:
            return at + 1
    return 0


@inner
def clock_at(p, end):
    """`HH:MM:SS` at p, its fraction and AM or PM: where they end, and ms of the day; or 0, where Python has to read."""
    size = digits_at(p, end)
    q = p + U(size)
    if size < 1 or size > 2 or q + U(6) > end or load_8(q) != signs.COLON or load_8(q + U(3)) != signs.COLON:
        return U(0), np.int64(0)
    hour, minute, second = number_at(p, size), two_digits(q + U(1)), two_digits(q + U(4))
    if hour > 23 or minute < 0 or minute > 59 or second < 0 or second > 59:
        return U(0), np.int64(0)
    ms = minute * MINUTE + second * 1_000
    q += U(6)
    if q + U(1) < end and (load_8(q) == signs.DOT or load_8(q) == signs.COMMA) and is_digit(load_8(q + U(1))):
        size = digits_at(q + U(1), end)
        if size > 9:
            return U(0), np.int64(0)
        scale = 100
        for at in range(min(size, 3)):
            ms += scale * (np.int64(load_8(q + U(1 + at))) - signs.ZERO)
            scale //= 10
        q += U(1 + size)
    if q < end:
        byte = load_8(q)
        if is_digit(byte) or byte == signs.COLON or byte >= signs.NOT_ASCII:
            return U(0), np.int64(0)
        if byte == signs.SPACE and q + U(1) < end and load_8(q + U(1)) >= signs.NOT_ASCII:
            return U(0), np.int64(0)
        if has_half_day(q, end):
            half = q + U(1 if byte == signs.SPACE else 0)
            q = half + U(2)
            if load_8(half + U(1)) | 32 != signs.LOWER_M or (q < end and load_8(q) == signs.DOT):
                return U(0), np.int64(0)
            if hour <= 12:
                hour = hour % 12 + (12 if load_8(half) | 32 == signs.LOWER_P else 0)
    return q, hour * HOUR + ms


@inner
def zone_at(p, end):
    """The zone behind a clock that ends at p: where it ends, and its minutes. 0 for a zone that Python reads."""
    at = p + U(1) if p < end and load_8(p) == signs.SPACE else p
    if at >= end:
        return p, NO_ZONE
    sign = load_8(at)
    if (sign == signs.PLUS or sign == signs.HYPHEN) and at + U(1) < end and is_digit(load_8(at + U(1))):
        minutes = at + U(4 if at + U(3) < end and load_8(at + U(3)) == signs.COLON else 3)
        if minutes + U(2) > end or (minutes + U(2) < end and is_word(load_8(minutes + U(2)))):
            return U(0), NO_ZONE
        hours, rest = two_digits(at + U(1)), two_digits(minutes)
        if hours < 0 or rest < 0 or hours > 14 or (minutes + U(2) < end and load_8(minutes + U(2)) >= signs.NOT_ASCII):
            return U(0), NO_ZONE
        ahead = hours * 60 + rest
        return minutes + U(2), -ahead if sign == signs.HYPHEN else ahead
    if sign | 32 == signs.LOWER_Z and (at + U(1) == end or not is_word(load_8(at + U(1)))):
        is_ended = at + U(1) == end or load_8(at + U(1)) < signs.NOT_ASCII
        return at + U(1) if is_ended else U(0), np.int64(0)
    if at + U(3) <= end and (three_at(at) | 0x202020 == UTC or three_at(at) | 0x202020 == GMT):
        behind = load_8(at + U(3)) if at + U(3) < end else signs.SPACE
        if behind == signs.PLUS or behind == signs.HYPHEN or is_word(behind) or behind >= signs.NOT_ASCII:
            return U(0), NO_ZONE
        return at + U(3), np.int64(0)
    return U(0) if may_name_zone(p, end) else p, NO_ZONE


@inner
def year_at(p, end):
    """The year of four digits at p, and no more of them; or NO_YEAR."""
    if digits_at(p, end) != 4:
        return NO_YEAR
    year = number_at(p, 4)
    if 2550 <= year and year < 2600:
        return year - 543  # of Thailand
    return year if 1900 <= year and year < 2100 else NO_YEAR


@inner
def later_year(p, end):
    """The year behind a clock or zone that ends at p, also behind another word for a zone, and where that ends."""
    if p + U(5) > end or load_8(p) != signs.SPACE:
        return p, NO_YEAR
    at = p + U(1)
    letters = 0
    while at < end and letters < 6 and is_letter(load_8(at)):
        letters += 1
        at += U(1)
    if letters:
        if letters < 3 or letters > 5 or at >= end or load_8(at) != signs.SPACE:
            return p, NO_YEAR
        at += U(1)
    year = year_at(at, end)
    if year == NO_YEAR or (at + U(4) < end and is_word(load_8(at + U(4)))):
        return p, NO_YEAR
    return at + U(4), year


@inner
def with_clock(place, p, end, year, month, day, is_open):
    """The stamp whose date ends in front of its clock at p."""
    q, ms = clock_at(p, end)
    if q == U(0) or month < 1 or month > 12 or day < 1 or day > 31:
        return NO_STAMP
    stop, ahead = zone_at(q, end)
    if stop == U(0):
        return NO_STAMP
    behind, later = later_year(stop, end)
    if later != NO_YEAR:
        if year != NO_YEAR:
            return NO_STAMP
        stop, year = behind, later
    elif year == NO_YEAR and may_have_date_behind(p + U(digits_at(p, end) + 3), end):
        return NO_STAMP
    return Stamp(place, stop, year, np.int64(month), np.int64(day), ms, ahead, is_open)


@inner
def stamp_of_name(place, p, end):
    """`Mar 11 20:57:47`, `Mar 11, 2026 20:57:47`, with the month at p."""
    month = month_at(p, end)
    at = p + U(3)
    if month == 0 or at + U(9) > end or load_8(at) != signs.SPACE:
        return NO_STAMP
    at += U(2 if load_8(at + U(1)) == signs.SPACE else 1)
    size = digits_at(at, end)
    if size < 1 or size > 2:
        return NO_STAMP
    day, year = number_at(at, size), NO_YEAR
    at += U(size)
    if at + U(6) < end and load_8(at) == signs.COMMA and load_8(at + U(1)) == signs.SPACE:
        year = year_at(at + U(2), end)
        if year == NO_YEAR:
            return NO_STAMP
        at += U(6)
        at += U(1 if load_8(at) == signs.COMMA else 0)
    if at >= end or load_8(at) != signs.SPACE:
        return NO_STAMP
    return with_clock(place, at + U(1), end, year, month, day, False)


@kernel
def is_between(byte):
    """Whether a sign parts day, month and year."""
    return byte == signs.SLASH or byte == signs.HYPHEN or byte == signs.DOT or byte == signs.SPACE


@inner
def stamp_of_digits(p, end):
    """`11/Mar/2026:20:57:47`, `11.03.2026 20:57:47`, `03-11 20:57:47`, `2026.3.11 20:57:47`, `20260311 20:57:47`."""
    size = digits_at(p, end)
    if size == 14 or size == 17:
        return stamp_of_run(p, size, end)
    at = p + U(size)
    if at + U(7) > end:
        return NO_STAMP
    number = number_at(p, size) if size <= 8 else np.int64(0)
    sign = load_8(at)
    if size == 8 and 19_000_000 <= number and number < 21_000_000 and (sign == signs.SPACE or sign == signs.UPPER_T):
        return with_clock(p, at + U(1), end, number // 10_000, number // 100 % 100, number % 100, False)
    if (size > 2 and size != 4) or not is_between(sign) or (size == 4 and sign == signs.SPACE):
        return NO_STAMP
    at += U(1)
    month = month_at(at, end)
    if month:
        if size == 4 or not is_between(load_8(at + U(3))):
            return NO_STAMP
        year = year_at(at + U(4), end)
        at += U(8)
        if year == NO_YEAR or at >= end or (load_8(at) != signs.SPACE and load_8(at) != signs.COLON):
            return NO_STAMP
        return with_clock(p, at + U(1), end, year, month, number, False)
    second_size = digits_at(at, end)
    if second_size < 1 or second_size > 2 or sign == signs.SPACE:
        return NO_STAMP
    second = number_at(at, second_size)
    at += U(second_size)
    if at + U(7) > end:
        return NO_STAMP
    if load_8(at) == signs.SPACE and size <= 2:  # no year: day and month in either order
        return with_clock(p, at + U(1), end, NO_YEAR, number, second, True)
    if load_8(at) != sign:
        return NO_STAMP
    at += U(1)
    if size == 4:
        third_size = digits_at(at, end)
        if number < 1900 or number >= 2100 or third_size < 1 or third_size > 2:
            return NO_STAMP
        third = number_at(at, third_size)
        at += U(third_size)
        if at >= end or (load_8(at) != signs.SPACE and load_8(at) != signs.UPPER_T):
            return NO_STAMP
        return with_clock(p, at + U(1), end, number, second, third, False)
    year = year_at(at, end)
    at += U(4)
    if year == NO_YEAR or at >= end or load_8(at) != signs.SPACE:
        return NO_STAMP
    return with_clock(p, at + U(1), end, year, second, number, True)


@inner
def stamp_of_run(p, size, end):
    """`20260311205747` and `20260311205747123`, of so many digits."""
    stop = p + U(size)
    year, month, day = number_at(p, 4), two_digits(p + U(4)), two_digits(p + U(6))
    hour, minute, second = two_digits(p + U(8)), two_digits(p + U(10)), two_digits(p + U(12))
    behind = load_8(stop) if stop < end else signs.SPACE
    if is_word(behind) or behind == signs.DOT or behind == signs.COMMA or behind >= signs.NOT_ASCII:
        return NO_STAMP
    stop, ahead = zone_at(stop, end)
    if stop == U(0) or load_8(p - U(1)) == signs.DOT or year < 1900 or year >= 2100:
        return NO_STAMP
    if month < 1 or month > 12 or day < 1 or hour > 23 or minute > 59 or second > 59:
        return NO_STAMP
    ms = hour * HOUR + minute * MINUTE + second * 1_000 + (number_at(p + U(14), 3) if size == 17 else np.int64(0))
    return Stamp(p, stop, year, month, day, ms, ahead, False)


@inner
def epoch_at(p, end):
    """An epoch of 10 digits, also with a fraction, or of 13, at p."""
    size = digits_at(p, end)
    if size != 10 and size != 13:
        return NO_STAMP
    ms = number_at(p, size)
    stop = p + U(size)
    if size == 10:
        ms *= 1_000
        if stop + U(1) < end and load_8(stop) == signs.DOT and is_digit(load_8(stop + U(1))):
            size = digits_at(stop + U(1), end)
            if size > 9:
                return NO_STAMP
            scale = 100
            for at in range(min(size, 3)):
                ms += scale * (np.int64(load_8(stop + U(1 + at))) - signs.ZERO)
                scale //= 10
            stop += U(1 + size)
    behind = load_8(stop) if stop < end else signs.SPACE
    if is_word(behind) or behind == signs.DOT or behind >= signs.NOT_ASCII or ms < FIRST or ms >= LAST:
        return NO_STAMP
    return Stamp(p, stop, NO_YEAR, np.int64(0), np.int64(0), ms, np.int64(0), False)


@inner
def is_free(p, begin):
    """Whether a stamp may begin at p: nothing in front of it may be part of it."""
    if p == begin:
        return True
    at = p - U(1)
    if is_word(load_8(at)):
        return False
    while at > begin and (is_between(load_8(at)) or load_8(at) == signs.COMMA):
        at -= U(1)
    return not is_digit(load_8(at)) and load_8(at) < signs.NOT_ASCII and load_8(at) != signs.PERCENT


@inner
def stamp_at(p, begin, end):
    """The stamp that begins at p, where nothing in front belongs to it."""
    byte = load_8(p)
    if is_digit(byte):
        stamp = epoch_at(p, end) if p == begin or load_8(p - U(1)) != signs.DOT else NO_STAMP
        return stamp if stamp.stop != U(0) else stamp_of_digits(p, end)
    for level in LEVELS:
        if byte == level and digits_at(p + U(1), end) == 4 and p + U(14) <= end and load_8(p + U(5)) == signs.SPACE:
            day = number_at(p + U(1), 4)
            return with_clock(p, p + U(6), end, NO_YEAR, day // 100, day % 100, False)
    stamp = stamp_of_name(p, p, end)
    if stamp.stop != U(0) or p + U(5) > end:
        return stamp
    three = three_at(p) | 0x202020
    for day in WEEKDAYS:
        if three == day:
            at = p + U(4 if load_8(p + U(3)) == signs.COMMA else 3)
            return stamp_of_name(p, at + U(1), end) if load_8(at) == signs.SPACE else NO_STAMP
    return stamp


@inner
def only_stamp(begin, end, elapsed):
    """The one time of a line that has no other, where a style of these has it. `elapsed`: as of `may_have_time`."""
    p, last = begin, min(end, begin + U(WITHIN))
    while p < last:
        byte = load_8(p)
        if (is_digit(byte) or is_letter(byte)) and is_free(p, begin):
            stamp = stamp_at(p, begin, end)
            if stamp.stop != U(0):
                is_named = stamp.ahead == NO_ZONE and may_have_zone_in_front(stamp.place, begin)
                if is_named or may_be_due(stamp.place, begin) or may_have_time(begin, stamp.place, elapsed):
                    return NO_STAMP
                return NO_STAMP if may_have_time(stamp.stop, end, elapsed) else stamp
            while p < last and is_word(load_8(p)):
                p += U(1)
        else:
            p += U(1)
    return NO_STAMP


@inner
def names_only_day(begin, end, elapsed):
    """Whether a line has a time, and names no year: it says nothing to lines that name their own day."""
    stamp = only_stamp(begin, end, elapsed)
    return stamp.stop != U(0) and stamp.month != 0 and stamp.year == NO_YEAR


@inner
def moment_of_day(month, day, ms, elapsed, now, calendar):
    """The moment of a day without a year in the latest year, where an id that counts one of `elapsed` proves it; -1."""
    past = (day - 1) * DAY + ms
    is_proved = False
    for one in elapsed:
        is_proved |= -PREFIX_EARLY <= past - one and past - one <= PREFIX_SOON
    if not is_proved or month < 1 or month > 12:
        return NOT_THERE
    row = np.int64(calendar.shape[0]) - 1
    while row >= 0:
        if (row + FIRST_MONTH) % 12 == month - 1 and day <= days_of(row + FIRST_MONTH):
            moment = moment_in(row, past, NO_ZONE, calendar)
            if moment <= now + SLACK:
                return moment
        row -= 1
    return NOT_THERE


@inner
def may_be_day_of(begin, end, elapsed):
    """Whether a text may have a day without a year that an id proves: never false where it has one."""
    if not may_have_time(begin, end, elapsed):
        return False
    stamp = only_stamp(begin, end, elapsed)
    if stamp.stop == U(0) or stamp.month == 0:
        return True
    for one in elapsed:
        if stamp.year == NO_YEAR and (stamp.ms - one - DAY_EARLY) % DAY <= DAY_LATE - DAY_EARLY:
            return True
    return False


@kernel
def opens_line(stamp, begin, end):
    """Whether a stamp with a year is the time of its line even if no id proves it: only `[` and blanks are in front, or
    what an access log has there (`- [`)."""
    if stamp.year == NO_YEAR or stamp.is_open or digits_at(stamp.place, end) > 8:
        return False
    if stamp.stop < end and load_8(stamp.stop) == OPEN_ROUND:
        return False  # `(Timestamp)`
    at = stamp.place
    if at >= begin + U(3) and load_8(at - U(1)) == signs.BRACKET and load_8(at - U(2)) == signs.SPACE:
        if load_8(at - U(3)) == signs.HYPHEN:
            return True
    while at > begin and (load_8(at - U(1)) == signs.SPACE or load_8(at - U(1)) == signs.BRACKET):
        at -= U(1)
    return at == begin


@inner
def moment_of_stamp(stamp, is_swapped, calendar):
    """The moment of a stamp with its year, or of an epoch; -1 where it is none of the calendar."""
    if stamp.month == 0:
        return stamp.ms
    month, day = (stamp.day, stamp.month) if is_swapped else (stamp.month, stamp.day)
    number = stamp.year * 12 + month - 1
    if month > 12 or day > days_of(number):
        return NOT_THERE
    return moment_in(number - FIRST_MONTH, (day - 1) * DAY + stamp.ms, stamp.ahead, calendar)
