"""What a line shows about time: the moment it opens with, and a bornTimestamp in it. Takes addresses, reads no ids.

The rules are those of `idcore.ids.find`, in machine words; `tests/scan/dates.py` is their slow twin.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from idcore.ids import line_moments, line_time
from idcore.ids.clock import DAY_MS, HOUR_MS, MINUTE_MS, NO_TIME, QUARTER_MS
from idcore.kernels import inlined, inner, kernel

from . import signs
from .clocks import digits_at, may_be_of_date, number_at
from .signs import is_digit, is_letter, is_quote_or_space, is_space, is_word
from .vector import bo_mask_64, load_8, load_64, separator_mask_64, trailing_zeros
from .zones import may_have_zone_in_front, may_name_zone

U = np.uint64
HINT_LINE = 1 << 16  # a longer line is dated by what it opens with, and by times of its messages
TS, ME, MP, IS, CH, ND = (ord(pair[0]) << 8 | ord(pair[1]) for pair in ("ts", "me", "mp", "is", "ch", "nd"))
# What is behind the hour of a Chinese, Japanese or Korean time, in UTF-8, and the least first byte of these letters.
SHI, JI, DIAN, SI, COLON = (int.from_bytes(sign.encode(), "big") for sign in "时時点시：")
HOUR_BYTES = 0xE6
NBSP = int.from_bytes(b"nbs", "big")  # of `&nbsp;`, a blank of HTML
# Halves of a day behind a moment, and the blanks of other widths that are in front of them.
HALVES = tuple(
    (int.from_bytes(half[0].encode(), "big"), int.from_bytes(half[1].encode(), "big"))
    for half in ("上午", "下午", "午前", "午後", "오전", "오후")
)
NBSP_0, NBSP_1 = tuple("\u00a0".encode())
NARROW_BLANK, WIDE_0, WIDE_9 = (int.from_bytes(sign.encode(), "big") for sign in "\u202f０９")
OPEN_ROUND, OPEN_CURLY, DOLLAR = b"({$"
UPPER_G, UPPER_U = b"GU"
UTC, GMT = (int.from_bytes(name, "big") for name in (b"UTC", b"GMT"))
BEHIND_NO_ZONE = tuple(b":.,/+-")  # hours alone in front of these are none
WIDE_COLON = "：".encode()[-1]
WIDE_BYTE = 0xEF  # the first of a digit of full width
# What is in the names of times that are to come (`line_moments.is_due`), how those in ASCII end (also with `at` or
# `ms`), and in how many bytes a name is looked for.
DUE = tuple(int.from_bytes(mark.encode()[:3], "big") for mark in line_moments.DUE)
DUE_ENDS = tuple(
    int.from_bytes(end, "big")
    for end in b"ime amp ate til lis ver ery lay yed ire res iry ion ule led ble due".split(b" ")
)
AT, MS, ON = (int.from_bytes(end, "big") for end in (b"at", b"ms", b"on"))
# How the names of times end that may be of what a message is about (`line_moments.is_of_body`), or a weekday behind
# them; and names that are always of the line.
BODY_ENDS = tuple(int.from_bytes(end, "big") for end in b"ime ate day amp ted ied".split(b" "))
BODY_LETTERS = tuple(int.from_bytes(end.encode(), "big") for end in "间期日")
WEEKDAYS = tuple(int.from_bytes(end, "big") for end in b"mon tue wed thu fri sat sun day".split(b" "))
LINE_NAMES = tuple(
    int.from_bytes(name, "big")
    for name in b"time timestamp ts t date datetime log message msg line content".split(b" ")
    if len(name) <= 8
)
# How words end behind which a time is of something else (also `of` and `by`), in English and in Chinese.
ABOUT_ENDS = tuple(
    int.from_bytes(end, "big")
    for end in b"for nce til ill rom ore ter han ned led due ild ilt ion ght ase sed ted".split(b" ")
)
ABOUT_LETTERS = tuple(int.from_bytes(end.encode(), "big") for end in "划自从至止计于期本线")
OF, BY = (int.from_bytes(end, "big") for end in (b"of", b"by"))
STAMP_OF_LINE = int.from_bytes(b"imestamp", "big")
RN, TIMESTAMP = tuple(b"rn"), tuple(b"timestamp")  # what is behind the `bo` of bornTimestamp
LONGEST_NAME = 3 * line_moments.LONGEST_NAME  # a Chinese letter has three bytes
WITHIN = 160  # a moment that opens a line ends within so many bytes of it
NO_MINUTE = np.int64(NO_TIME)  # nor any other time
NO_ZONE = np.int64(1 << 20)
NOT_THERE = np.int64(-1)
DIFFERENT = np.int64(-2)
CASE = U(0x2020202020202020)
BORN_TIME, TIME_STAMP = (U(int.from_bytes(text, "little")) for text in (b"borntime", b"imestamp"))
EIGHT_HIGH, EIGHT_THREES, EIGHT_SIXES = U(0xF0F0F0F0F0F0F0F0), U(0x3030303030303030), U(0x0606060606060606)
HIGH, THREES, SIXES = U(0x00F0F0F000F0F000), U(0x0030303000303000), U(0x0006060600060600)
FIRST_MONTH = 2010 * 12  # of the calendar
MINUTE, QUARTER, HOUR, DAY = MINUTE_MS, QUARTER_MS, HOUR_MS, DAY_MS
SLACK = 14 * HOUR  # a line may be written so much earlier than its own clock says, in another zone
ZONES_APART = 26 * HOUR  # those in use
BORN_TOLERANCE = 1_000
BORN_APART = line_moments.BORN_APART_MS
AHEAD = line_time.CLOCK_AHEAD_MS - SLACK  # behind the limit of a line
DAY_EARLY, DAY_LATE = line_time.DAY_EARLY_MS, line_time.DAY_LATE_MS
PREFIX_EARLY, PREFIX_LATE = 2_000, HOUR
PREFIX_SOON = (
    10_000  # so soon behind the id's time a line is believed about a zone that is neither its own nor the scan's
)
# What a vote rests on: the first two fix the zone; then only the month is known, then all of it but its year, then
# nothing: it is assumed.
# A vote begins with the minute in which its month begins and, in the lowest bits, its kind.
BORN, PREFIX, MONTH, YEAR, ASSUMED, NO_VOTE = range(6)
KIND_BITS, KIND = 3, 7
# Columns of `Months.calendar`:
START, LENGTH, LITTLE_START, LITTLE_LENGTH, UTC_START, CHANGE_AT, CHANGE_BY = range(7)
OLDEST = 3  # no line is of the first months of the calendar, nor of its last two: those near a moment are looked at
# What is kept of the last line: the 16 bytes of its moment, the month and the minute that they name; its month in the
# calendar, and from when to when that is; how many bytes of the line are in front of the moment; and whether it may be
# of what the message is about, so that an id has to prove it.
SEEN_0, SEEN_1, SEEN_MONTH, SEEN_MS, LAST_MONTH, LAST_START, LAST_END, SEEN_AT, SEEN_OF_BODY = range(9)
LONG_AGO_0, LONG_AGO_1 = (np.int64(int.from_bytes(text, "little")) for text in (b"1970-01-", b"01 00:00"))


def no_line_seen() -> np.ndarray:
    """As after a line of 1970, which is of no month in the calendar."""
    return np.array([LONG_AGO_0, LONG_AGO_1, 1970 * 12, 0, OLDEST, 0, 0, 0, 0], np.int64)


class Line(NamedTuple):
    """What a line says about time: -1 and NO_ZONE for what it does not say, or not of a month in the calendar."""

    born: np.int64
    moment: np.int64
    ahead: np.int64  # minutes of its zone
    limit: np.int64  # until when its ids were generated
    month: np.int64  # a row of the calendar, from `start` to before `end`
    start: np.int64
    end: np.int64


NO_LINE = Line(np.int64(-1), np.int64(-1), NO_ZONE, np.int64(0), np.int64(-1), np.int64(0), np.int64(0))


@inlined
def two_digits(p):
    a, b = np.int64(load_8(p)) - signs.ZERO, np.int64(load_8(p + U(1))) - signs.ZERO
    return 10 * a + b if 0 <= a and a <= 9 and 0 <= b and b <= 9 else np.int64(-1)


@inlined
def are_digits(word):
    return word & EIGHT_HIGH == EIGHT_THREES and (word + EIGHT_SIXES) & EIGHT_HIGH == EIGHT_THREES


@inlined
def number_of_8(word):
    """Eight decimal digits, the first one in the lowest byte."""
    word = (word & U(0x0F0F0F0F0F0F0F0F)) * U(2561) >> U(8) & U(0x00FF00FF00FF00FF)
    word = word * U(6553601) >> U(16) & U(0x0000FFFF0000FFFF)
    return np.int64(word * U(42949672960001) >> U(32))


@inner
def days_of(month):
    """Days of a month, counted from year 0."""
    year, number = month // 12, month % 12 + 1
    if number == 2:
        return 29 if (year % 4 == 0 and year % 100 != 0) or year % 400 == 0 else 28
    return 30 if number == 4 or number == 6 or number == 9 or number == 11 else 31


@inner
def minute_at(p, end):
    """`YYYY-MM-DD HH:MM:SS` at p: its month from year 0, and ms from there to the minute.

    The month is -2 without such a text, -1 where it is not a possible moment.
    """
    none = np.int64(-2), np.int64(0)
    if p + U(19) > end:
        return none
    century, year, month, day = two_digits(p), two_digits(p + U(2)), two_digits(p + U(5)), two_digits(p + U(8))
    hour, minute, second = two_digits(p + U(11)), two_digits(p + U(14)), two_digits(p + U(17))
    between = load_8(p + U(10))
    if century != 19 and century != 20:
        return none
    if year < 0 or month < 0 or day < 0 or hour < 0 or minute < 0 or second < 0:
        return none
    if between != signs.SPACE and between != signs.UPPER_T:
        return none
    if load_8(p + U(13)) != signs.COLON or load_8(p + U(16)) != signs.COLON:
        return none
    for place in (4, 7):
        sign = load_8(p + U(place))
        if sign != signs.HYPHEN and sign != signs.SLASH:
            return none
    number = (century * 100 + year) * 12 + month - 1
    if month < 1 or month > 12 or day < 1 or day > days_of(number) or hour > 23 or minute > 59:
        return np.int64(-1), np.int64(0)
    return number, (day - 1) * DAY + hour * HOUR + minute * MINUTE


@inner
def place_of_moment(p, end):
    """The address of the first `YYYY-MM-DD HH:MM:SS` of a line, or 0."""
    for base in range(0, WITHIN, 64):
        here = separator_mask_64(p + U(base + 4)) & separator_mask_64(p + U(base + 7))
        while here != U(0):
            place = p + U(base) + trailing_zeros(here)
            here &= here - U(1)
            if place + U(19) > end:
                return U(0)
            if (place == p or not is_digit(load_8(place - U(1)))) and minute_at(place, end)[0] != -2:
                return place
    return U(0)


@kernel
def in_front(p, begin):
    """The last byte in front of p that is neither a quote nor a blank, nor opens a bracket."""
    at = p - U(1)
    while at > begin and (is_quote_or_space(load_8(at)) or is_opening(load_8(at))):
        at -= U(1)
    return at


@inlined
def is_opening(byte):
    return byte == signs.BACKSLASH or byte == signs.BRACKET or byte == OPEN_ROUND or byte == OPEN_CURLY


@inner
def is_end_of_due(at):
    """Whether a name whose last byte is `at` ends as one of a time to come may."""
    if load_8(at) >= signs.NOT_ASCII:
        return True
    three = np.int64(load_8(at - U(2)) << 16 | load_8(at - U(1)) << 8 | load_8(at)) | 0x202020
    for end in DUE_ENDS:
        if three == end:
            return True
    return three & 0xFFFF == AT or three & 0xFFFF == MS


@kernel
def may_be_due(p, begin):
    """Whether the name of a value at p may say that it is of the future (`line_moments.is_due`)."""
    at = in_front(p, begin)
    sign = load_8(at)
    if at < begin + U(3) or (sign != signs.COLON and sign != signs.EQUALS and sign < signs.NOT_ASCII):
        return False
    at = in_front(at - U(2 if sign >= signs.NOT_ASCII else 0), begin)
    if at < begin + U(2) or not is_end_of_due(at):
        return False
    least = begin + U(2) if at < begin + U(LONGEST_NAME) else at - U(LONGEST_NAME)
    three = np.int64(0)
    while least <= at:
        three = np.int64(load_8(at - U(2)) << 16 | load_8(at - U(1)) << 8 | load_8(at))
        for mark in DUE:
            if three == mark or three | 0x202020 == mark:
                return True
        at -= U(1)
    return False


@inner
def is_end_of_timely(at, begin):
    """Whether a name whose last byte is `at` ends as one of times may."""
    first, second, last = load_8(at - U(2)), load_8(at - U(1)), load_8(at)
    three = np.int64(first << 16 | second << 8 | last)
    if last >= signs.NOT_ASCII:
        for end in BODY_LETTERS:
            if three == end:
                return True
        return False
    for end in BODY_ENDS:
        if three | 0x202020 == end:
            return True
    two = three & 0xFFFF | 0x2020
    return (two == AT or two == ON) and (at == begin + U(1) or not is_letter(first) or not second & 32)


@inner
def is_name_of_line(at, begin, is_quoted):
    """Whether a name whose last byte is `at` is always that of a line's own time; no other word is in front of it."""
    word = np.int64(0)
    size = 0
    while at >= begin and is_word(load_8(at)) and size < 10:
        if size < 8:
            word |= np.int64(load_8(at) | 32) << 8 * size
        size += 1
        at -= U(1)
    before = load_8(at) if at >= begin else signs.COLON
    if size == 10 or before == signs.HYPHEN or before == DOLLAR or before >= signs.NOT_ASCII:
        return False
    if before == signs.SPACE and not is_quoted:
        return False
    if size == 9:
        return word == STAMP_OF_LINE
    for name in LINE_NAMES:
        if word == name:
            return True
    return False


@kernel
def may_be_held(p, begin):
    """Whether a bracket with a name is in front of p, but not next to it: it may hold a body."""
    at = begin + U(2)
    while at + U(1) < p:
        if is_opening(load_8(at)) and load_8(at) != signs.BACKSLASH:
            front = at - U(1)
            while front > begin and (
                is_word(load_8(front)) or load_8(front) == signs.DOT or load_8(front) >= signs.NOT_ASCII
            ):
                front -= U(1)
            while front > begin and (is_quote_or_space(load_8(front)) or load_8(front) == signs.BACKSLASH):
                front -= U(1)
            if load_8(front) == signs.EQUALS or load_8(front) == signs.COLON:
                return True
        at += U(1)
    return False


@inner
def is_cast(p, end):
    """Whether a bracket opens directly behind a moment at p: `2019-05-01 10:00:00.0(Timestamp)`."""
    p += U(19)
    if p < end and (load_8(p) == signs.DOT or load_8(p) == signs.COMMA):
        p += U(1)
        while p < end and is_digit(load_8(p)):
            p += U(1)
    return p < end and load_8(p) == OPEN_ROUND


@inner
def may_be_about(at, begin):
    """Whether a word whose last byte is `at` may say that the time behind it is of something else: `since`, `计划`."""
    if at < begin + U(1):
        return False
    three = three_at(at - U(2))
    if load_8(at) >= signs.NOT_ASCII:
        for end in ABOUT_LETTERS:
            if three == end:
                return True
        return False
    for end in ABOUT_ENDS:
        if three | 0x202020 == end:
            return True
    two = three & 0xFFFF | 0x2020
    return two == OF or two == BY


@kernel
def may_be_of_body(p, begin, end):
    """Whether what is around a time at p may say that it is of what a message is about (`line_moments.is_of_body`)."""
    at = in_front(p, begin)
    sign = load_8(at)
    if load_8(p - U(1)) == signs.APOSTROPHE and sign != signs.COLON and sign != signs.EQUALS:
        return True
    if is_cast(p, end):
        return True
    if at < begin + U(1) or is_digit(sign):
        return False
    if sign == signs.LESS or (sign == signs.GREATER and load_8(at - U(1)) == signs.SPACE) or may_be_about(at, begin):
        return True
    is_set = sign == signs.EQUALS
    if sign == signs.COLON or is_set or (sign == WIDE_COLON and at >= begin + U(3)):
        at -= U(3 if sign == WIDE_COLON else 1)
        if at > begin and load_8(at) == signs.SPACE:
            at -= U(1)
        if load_8(at) == signs.QUOTE or load_8(at) == signs.APOSTROPHE:
            is_set = True
            at = in_front(at, begin)
        if at < begin + U(2):
            return is_set
        if is_name_of_line(at, begin, is_set):
            return False
        return is_set or is_end_of_timely(at, begin)
    if sign == signs.GREATER or sign == signs.COMMA:
        at -= U(1)
    if at < begin + U(2):
        return False
    three = np.int64(load_8(at - U(2)) << 16 | load_8(at - U(1)) << 8 | load_8(at)) | 0x202020
    for day in WEEKDAYS:
        if three == day:
            return True
    return sign != signs.COMMA and is_end_of_timely(at, begin)


@inner
def next_moment(p, end):
    """The address of the first `YYYY-MM-DD HH:MM:SS` at p or behind it, without a digit in front; or 0."""
    while p + U(19) <= end:
        marks = separator_mask_64(p + U(4))
        here = marks & marks >> U(3)
        while here != U(0):
            place = p + trailing_zeros(here)
            here &= here - U(1)
            if place + U(19) <= end and not is_digit(load_8(place - U(1))) and minute_at(place, end)[0] != -2:
                return place
        p += U(61)
    return U(0)


@inlined
def is_proved(line, elapsed, calendar, in_use):
    """Whether the month of an id begins at a midnight by the moment of its line: never true where it does not."""
    begun = line.moment - elapsed + PREFIX_EARLY
    if line.ahead != NO_ZONE:
        begun -= PREFIX_EARLY
        return start_in_use(begun, PREFIX_EARLY, PREFIX_SOON, calendar, line.month, in_use) != NO_MINUTE
    late = begun - line.start
    if late < 0:
        late = begun - calendar[line.month - 1, START]
    return 0 <= late and late <= PREFIX_EARLY + PREFIX_SOON


@inner
def has_half_day(p, end):
    """Whether AM, PM or their like are behind a moment that ends at p: Python reads its hour."""
    if p + U(2) <= end and load_8(p) == NBSP_0 and load_8(p + U(1)) == NBSP_1:
        p += U(2)
    elif p + U(3) <= end and three_at(p) == NARROW_BLANK:
        p += U(3)
    elif p < end and load_8(p) == signs.SPACE:
        p += U(1)
    if p + U(6) <= end and load_8(p) >= signs.NOT_ASCII:
        first, second = three_at(p), three_at(p + U(3))
        for half in HALVES:
            if first == half[0] and second == half[1]:
                return True
        return False
    if p + U(2) > end or (load_8(p) | 32 != signs.LOWER_A and load_8(p) | 32 != signs.LOWER_P):
        return False
    p += U(1)
    if load_8(p) == signs.DOT:
        p += U(1)
    if p + U(1) < end and load_8(p) == signs.SPACE:
        p += U(1)
    elif p + U(2) < end and load_8(p) == NBSP_0 and load_8(p + U(1)) == NBSP_1:
        p += U(2)
    return p < end and load_8(p) | 32 == signs.LOWER_M and (p + U(1) == end or not is_word(load_8(p + U(1))))


@inlined
def three_at(p):
    """Three bytes as a number."""
    return np.int64(load_8(p)) << 16 | np.int64(load_8(p + U(1))) << 8 | np.int64(load_8(p + U(2)))


@inner
def lone_zone(p, end):
    """The minutes of a zone without minutes whose sign is at p, as PostgreSQL has them, or NO_ZONE."""
    if p + U(3) > end:
        return NO_ZONE
    is_behind = load_8(p) == signs.HYPHEN
    hours = two_digits(p + U(1))
    if hours < 0 or hours > (12 if is_behind else 14):
        return NO_ZONE
    if p + U(3) < end:
        behind = load_8(p + U(3))
        if is_word(behind) or behind >= signs.NOT_ASCII:
            return NO_ZONE
        for sign in BEHIND_NO_ZONE:
            if behind == sign:
                return NO_ZONE
    return -hours * 60 if is_behind else hours * 60


@inner
def zone_behind_name(p, end):
    """The minutes of the zone whose UTC or GMT ends at p: 0, or those of `+8`, `-08:00`, `+0800`; or NO_ZONE."""
    if p == end:
        return np.int64(0)
    sign = load_8(p)
    if sign != signs.PLUS and sign != signs.HYPHEN:
        return NO_ZONE if is_word(sign) else np.int64(0)
    p += U(1)
    size = U(digits_at(p, end))
    if size < U(1) or size > U(4) or (p + size < end and is_word(load_8(p + size))):
        return NO_ZONE
    ahead = number_at(p, size)
    if size > U(2):
        ahead = ahead // 100 * 60 + ahead % 100
    else:
        ahead *= 60
        p += size
        if p + U(3) <= end and load_8(p) == signs.COLON and digits_at(p + U(1), end) == 2:
            is_ended = p + U(3) == end or not is_word(load_8(p + U(3)))
            ahead += two_digits(p + U(1)) if is_ended else 0
    return -ahead if sign == signs.HYPHEN else ahead


@kernel
def rest_of_moment(p, end):
    """Of the moment at p: ms since its minute, and the minutes its zone is ahead (NO_ZONE).

    -1 ms where it names none, or half a day behind it: the hour is another one then.
    """
    if p + U(25) <= end:  # `:SS,mmm` and a space or sign, as most write it: 8 bytes at once
        word = load_64(p + U(16))
        sign = (word >> U(24)) & U(255)
        behind = np.int64(word >> U(56))
        if (
            (word & HIGH) == THREES
            and ((word + SIXES) & HIGH) == THREES
            and (sign == U(signs.COMMA) or sign == U(signs.DOT))
        ):
            if behind == signs.SPACE:
                behind = load_8(p + U(24))
            elif is_digit(behind) or is_space(behind):
                behind = np.int64(signs.UPPER_Z)
            may_go_on = behind == signs.UPPER_Z or behind == signs.PLUS or behind == signs.HYPHEN
            may_go_on = may_go_on or behind == UPPER_U or behind == UPPER_G or may_name_zone(p + U(23), end)
            if not (
                may_go_on or behind | 32 == signs.LOWER_A or behind | 32 == signs.LOWER_P or behind >= signs.NOT_ASCII
            ):
                second = np.int64((word >> U(8)) & U(15)) * 10 + np.int64((word >> U(16)) & U(15))
                part = np.int64((word >> U(32)) & U(15)) * 100 + np.int64((word >> U(40)) & U(15)) * 10
                ms = second * 1000 + part + np.int64((word >> U(48)) & U(15))
                return (ms if second < 60 else NOT_THERE), NO_ZONE
    second = two_digits(p + U(17))
    ms = second * 1000
    p += U(19)
    if p + U(1) < end and (load_8(p) == signs.DOT or load_8(p) == signs.COMMA) and is_digit(load_8(p + U(1))):
        p += U(1)
        scale = 100
        for _ in range(9):
            if p >= end or not is_digit(load_8(p)):
                break
            ms += scale * (np.int64(load_8(p)) - signs.ZERO)
            scale //= 10
            p += U(1)
    if second > 59 or has_half_day(p, end):
        return NOT_THERE, NO_ZONE
    named = p
    if p < end:
        byte = load_8(p)
        if is_space(byte):
            p += U(1)
        elif byte == signs.PLUS or byte == signs.HYPHEN:
            ahead = lone_zone(p, end)
            if ahead != NO_ZONE:
                return ms, ahead
    if p >= end:
        return ms, NO_ZONE
    ahead = zone_of_figures(p, end)
    if ahead == NO_ZONE and may_name_zone(named, end):
        return NOT_THERE, NO_ZONE
    return (NOT_THERE if ahead != NO_ZONE and abs(ahead) >= 1440 else ms), ahead


@inner
def zone_of_figures(p, end):
    """The minutes of the zone at p: `Z`, `UTC`, `UTC+8`, `+0800`, `+08:00`; or NO_ZONE."""
    sign = load_8(p)
    if (sign == UPPER_U or sign == UPPER_G) and p + U(3) <= end and (three_at(p) == UTC or three_at(p) == GMT):
        return zone_behind_name(p + U(3), end)
    if sign == signs.UPPER_Z and (p + U(1) == end or not is_word(load_8(p + U(1)))):
        return np.int64(0)
    if (sign == signs.PLUS or sign == signs.HYPHEN) and p + U(5) <= end:
        hours = two_digits(p + U(1))
        after = p + U(4 if load_8(p + U(3)) == signs.COLON else 3)
        if hours >= 0 and after + U(2) <= end:
            minutes = two_digits(after)
            if minutes >= 0 and (after + U(2) == end or not is_word(load_8(after + U(2)))):
                ahead = hours * 60 + minutes
                return -ahead if sign == signs.HYPHEN else ahead
    return NO_ZONE


@inner
def born_at(p, end):
    """The value of a bornTimestamp whose `bo` is at p, or -1."""
    if p + U(13) <= end and load_64(p) | CASE == BORN_TIME and load_64(p + U(5)) | CASE == TIME_STAMP:
        p += U(13)
    else:
        p += U(2)
        for letter in RN:
            if p >= end or load_8(p) | 32 != letter:
                return NOT_THERE
            p += U(1)
        if p < end and load_8(p) == signs.UNDERSCORE:
            p += U(1)
        for letter in TIMESTAMP:
            if p >= end or load_8(p) | 32 != letter:
                return NOT_THERE
            p += U(1)
    between = 0
    while p < end and between < 13:
        byte = load_8(p)
        if is_digit(byte) or is_letter(byte):
            break
        between += 1
        p += U(1)
    if between < 1 or between > 12:
        return NOT_THERE
    value = np.int64(0)
    size = 0
    if p + U(8) <= end and are_digits(load_64(p)):
        value = number_of_8(load_64(p))
        size = 8
        p += U(8)
    while p < end and is_digit(load_8(p)) and size < 15:
        value = 10 * value + np.int64(load_8(p)) - signs.ZERO
        size += 1
        p += U(1)
    return value if 12 <= size and size <= 14 else NOT_THERE


@kernel
def born_of(p, end):
    """The bornTimestamp of a line: -1 where it has no bornTimestamp, -2 where it has several that differ."""
    found = NOT_THERE
    at = p
    while at < end:
        here = bo_mask_64(at)
        while here != U(0):
            place = at + trailing_zeros(here)
            here &= here - U(1)
            if place >= end:
                continue
            value = born_at(place, end)
            if value >= 0:
                if found >= 0 and value != found:
                    return DIFFERENT
                found = value
        at += U(64)
    return found


@inner
def start_in_use(begun, early, late, calendar, current, in_use):
    """The month that begins, in a zone in use, at a quarter of an hour `early` to `late` ms before `begun`."""
    start = (begun + early) // QUARTER * QUARTER
    if begun - start <= late:
        for month in range(current - 2, current + 2):
            away = calendar[month, UTC_START] - start
            if -12 * HOUR <= away and away <= 14 * HOUR and in_use[(away + 12 * HOUR) // QUARTER]:
                return start
    return NO_MINUTE


@inner
def start_of_little(elapsed, born, moment, ahead, calendar, current):
    """Where the month of a little-endian id begins by its line, whose hour says nothing of a zone; and by what kind."""
    early, late, kind = PREFIX_EARLY, PREFIX_SOON, MONTH if ahead == NO_ZONE else PREFIX
    if born >= 0:
        early, late, kind = BORN_TOLERANCE, BORN_TOLERANCE, BORN
    begun = (born if born >= 0 else moment) - elapsed
    start = (begun + early) // QUARTER * QUARTER
    if begun - start <= late:
        for month in range(current - 2, current + 2):
            away = calendar[month, UTC_START] - start - DAY
            if -13 * HOUR <= away and away <= 15 * HOUR:
                return start, kind
    return NO_MINUTE, kind


@inlined
def moment_in(number, elapsed, ahead, calendar):
    """The instant of a wall time: so many ms after the begin of a month of the calendar."""
    month = U(number)  # not a number below 0: numba would check that at every use
    if month >= U(calendar.shape[0]):
        return NOT_THERE
    if ahead != NO_ZONE:
        return calendar[month, UTC_START] + elapsed - ahead * MINUTE
    return calendar[month, START] + elapsed + calendar[month, CHANGE_BY] * (elapsed >= calendar[month, CHANGE_AT])


@inlined
def moment_of(begin, end, calendar, seen):
    """The moment that opens a line, in ms, and the minutes its zone is ahead; also one that may be of a body."""
    near = min(end, begin + U(WITHIN))
    p = begin
    seen[SEEN_AT] = seen[SEEN_OF_BODY] = 0
    if not (
        begin + U(19) <= end
        and load_64(begin) == U(seen[SEEN_0])
        and load_64(begin + U(8)) == U(seen[SEEN_1])
        and load_8(begin + U(16)) == signs.COLON
        and two_digits(begin + U(17)) >= 0
    ):
        p = place_of_moment(begin, near)
        if p == U(0) or (p != begin and may_be_due(p, begin)):
            return NOT_THERE, NO_ZONE
        seen[SEEN_AT] = np.int64(p - begin)
        seen[SEEN_OF_BODY] = p != begin and (may_be_of_body(p, begin, end) or may_be_held(p, begin))
        seen[SEEN_MONTH], seen[SEEN_MS] = minute_at(p, end)
        seen[SEEN_0], seen[SEEN_1] = load_64(p), load_64(p + U(8))
    rest, ahead = rest_of_moment(p, near)
    if rest < 0 or (ahead == NO_ZONE and p != begin and may_have_zone_in_front(p, begin)):
        return NOT_THERE, NO_ZONE
    return moment_in(seen[SEEN_MONTH] - FIRST_MONTH, seen[SEEN_MS] + rest, ahead, calendar), ahead


@inner
def start_at_noon(begun, calendar, current):
    """The month of a client up to 4.0.0-incubating that begins at noon of the scan's zone, about at `begun`."""
    for month in range(current - 2, current + 2):
        noon = moment_in(month, DAY // 2, NO_ZONE, calendar)
        if noon >= 0 and abs(begun - noon) <= BORN_TOLERANCE:
            return noon
    return NO_MINUTE


@inlined
def date_line(begin, end, may_be_born, calendar, seen):
    """What the line from `begin` to `end` says about time."""
    born = born_of(begin, end) if may_be_born else NOT_THERE
    moment, ahead = NOT_THERE, NO_ZONE
    if born < 0:  # else it says more than the moment at which the line was written
        moment, ahead = moment_of(begin, end, calendar, seen)
    return line_at(born, moment, ahead, calendar, seen)


@inlined
def line_at(born, moment, ahead, calendar, seen):
    """What a line says that has this bornTimestamp or was written at this moment."""
    limit = (born if born >= 0 else moment) + SLACK
    if limit < seen[LAST_START] or limit >= seen[LAST_END]:
        if limit < calendar[OLDEST, START] or limit >= calendar[calendar.shape[0] - 2, START]:
            return NO_LINE
        month = seen[LAST_MONTH]
        while limit >= calendar[month + 1, START]:
            month += 1
        while limit < calendar[month, START]:
            month -= 1
        seen[LAST_MONTH], seen[LAST_START], seen[LAST_END] = month, calendar[month, START], calendar[month + 1, START]
    return Line(born, moment, ahead, limit, seen[LAST_MONTH], seen[LAST_START], seen[LAST_END])


@inlined
def start_in_zone(elapsed, line, column, calendar, in_use):
    """Where the month of an id begins whose line has a zone: the scan's, the line's, or any other in use."""
    for month in range(line.month - 2, line.month + 2):
        late = line.moment - elapsed - calendar[month, column]
        if -PREFIX_EARLY <= late and late <= PREFIX_LATE:
            return calendar[month, column]
    for month in range(line.month - 2, line.month + 2):
        start = calendar[month, UTC_START] - line.ahead * MINUTE
        late = line.moment - elapsed - start
        if -PREFIX_EARLY <= late and late <= PREFIX_LATE:
            return start
    return start_in_use(line.moment - elapsed, PREFIX_EARLY, PREFIX_SOON, calendar, line.month, in_use)


@inlined
def start_of_uniq(elapsed, little, line, calendar, in_use):
    """Where the month of an id begins by its line (NO_MINUTE where that says nothing of it), and by what kind."""
    column = LITTLE_START if little else START
    if line.month < 0 or elapsed > calendar[0, column + 1] + DAY:
        return NO_MINUTE, NO_VOTE
    start, kind = NO_MINUTE, MONTH
    if little:
        start, kind = start_of_little(elapsed, line.born, line.moment, line.ahead, calendar, line.month)
    elif line.born >= 0:
        kind = BORN
        start = start_in_use(line.born - elapsed, BORN_TOLERANCE, BORN_TOLERANCE, calendar, line.month, in_use)
        if start == NO_MINUTE:
            start = start_at_noon(line.born - elapsed, calendar, line.month)
    elif line.ahead != NO_ZONE:
        kind = PREFIX
        start = start_in_zone(elapsed, line, column, calendar, in_use)
    elif line.limit + AHEAD - line.end < elapsed <= line.limit - line.start and elapsed < line.end - line.start:
        # as of most ids
        return line.start, MONTH
    if start != NO_MINUTE:
        return start, kind
    for month in range(line.month, line.month - 3, -1):
        start = calendar[month, column]
        if start + elapsed <= line.limit and elapsed < calendar[month, column + 1]:
            is_assumed = not little and (
                line.born - start - elapsed > BORN_APART or calendar[month + 1, START] + elapsed <= line.limit + AHEAD
            )
            return start, ASSUMED if is_assumed else MONTH
    return NO_MINUTE, NO_VOTE


@kernel
def may_have_time(begin, end, elapsed):
    """Whether a text may have a time that `idcore.ids.line_moments` reads: never false where it has one.

    Digits around a colon, fourteen that may be a date and a time, or a number that may be an epoch or bornTimestamp: by
    its name, its place in front, or because the month of an id begins by it (`elapsed`: ms of each).
    """
    digits, apart, opens = 0, False, True  # of a run; whether a sign is in front of it; whether nothing else is
    before = np.int64(signs.SPACE)
    p = begin
    while p <= end:
        byte = np.int64(load_8(p)) if p < end else np.int64(0)
        if byte == signs.AMPERSAND and p + U(4) <= end and three_at(p + U(1)) == NBSP:
            return True
        if is_digit(byte):
            if digits == 0:
                apart = (not is_word(before) or before == signs.UNDERSCORE) and before != signs.DOT
            digits += 1
        elif digits:
            escape = 0
            if digits > 2 and p >= begin + U(digits + 1) and load_8(p - U(digits + 1)) == signs.PERCENT:  # `%2010`
                escape = 4 if digits > 4 and two_digits(p - U(digits)) == 25 else 2
                digits -= escape
                if digits >= 10:
                    return True
            if byte >= HOUR_BYTES and p + U(2) < end and is_hour_sign(p):
                return True
            if p + U(2) < end and two_digits(p + U(1)) >= 0:
                if byte == signs.COLON and not (p + U(3) < end and is_digit(load_8(p + U(3)))):
                    if may_be_of_date(p, begin, end):
                        return True
                if byte | 32 == signs.LOWER_T and digits >= 8:
                    return True
                if (byte == signs.HYPHEN or byte == signs.UNDERSCORE) and digits == 8 and are_six(p + U(1), end):
                    return True
                if (
                    (byte == signs.DOT or byte == signs.HYPHEN)
                    and digits == 2
                    and load_8(p + U(3)) == byte
                    and (escape or is_behind_date(p - U(2), begin))
                ):
                    return True
            if byte == signs.PERCENT and is_escaped_colon(p, end):
                return True
            if apart and digits >= 10 and may_be_moment(p - U(digits), digits, begin, opens, elapsed):
                return True
            if not apart and digits >= 10 and is_behind_escape(p - U(digits), begin):
                return True
            digits = 0
            opens = False
        else:
            if byte == WIDE_BYTE and p + U(6) <= end and is_wide_digit(p) and is_wide_digit(p + U(3)):
                return True
            opens &= not is_word(byte) or byte == signs.UNDERSCORE
        before = byte
        p += U(1)
    return False


@inner
def is_behind_date(p, begin):
    """Whether a digit and what parts a time from it are in front of p: Oracle's `26-NOV-26 02.05.11.123000 PM`."""
    if p < begin + U(2) or not is_digit(load_8(p - U(2))):
        return False
    sign = load_8(p - U(1))
    return sign == signs.SPACE or sign | 32 == signs.LOWER_T or sign == signs.UNDERSCORE or sign == signs.HYPHEN


@inner
def are_six(p, end):
    """Whether six digits are at p."""
    return p + U(6) <= end and two_digits(p) >= 0 and two_digits(p + U(2)) >= 0 and two_digits(p + U(4)) >= 0


@inner
def is_escaped_colon(p, end):
    """Whether `%3A` or `%253A` and two digits are at p, as in links."""
    p += U(3 if p + U(3) < end and two_digits(p + U(1)) == 25 else 1)
    return (
        p + U(4) <= end
        and load_8(p) == signs.THREE
        and load_8(p + U(1)) | 32 == signs.LOWER_A
        and two_digits(p + U(2)) >= 0
    )


@inner
def is_behind_escape(p, begin):
    """Whether an escaped sign that ends with a letter is in front of p: `ts%3D1739278667` and `ts%253D1739278667`."""
    return (p >= begin + U(3) and load_8(p - U(3)) == signs.PERCENT) or (
        p >= begin + U(5) and load_8(p - U(5)) == signs.PERCENT and two_digits(p - U(4)) == 25
    )


@inner
def is_wide_digit(p):
    """Whether a digit of full width is at p."""
    return WIDE_0 <= three_at(p) and three_at(p) <= WIDE_9


@inner
def is_hour_sign(p):
    """Whether the letter at p, of three bytes, is behind the hour of a Chinese, Japanese or Korean time."""
    letter = three_at(p)
    return letter == SHI or letter == JI or letter == DIAN or letter == SI or letter == COLON


@inner
def may_be_moment(p, digits, begin, opens, elapsed):
    """Whether so many digits at p, in a text from `begin`, may be a date with its time, an epoch or a bornTimestamp."""
    if digits == 14 or digits == 17:
        century = two_digits(p)
        if century == 19 or century == 20:
            return True
    if digits > 19 or (digits > 14 and digits != 16 and digits != 19):
        return False
    if opens or may_be_named(p, begin):
        return True
    if digits != 10 and digits != 13 and digits != 16 and digits != 19:
        return False
    ms = np.int64(0)
    for at in range(min(digits, 13)):
        ms = 10 * ms + np.int64(load_8(p + U(at))) - signs.ZERO
    if digits == 10:
        ms *= 1000
    early = PREFIX_EARLY + 1_000  # without the rest of a second
    for one in elapsed:
        if (ms - one + early) % QUARTER <= early + PREFIX_SOON + 2_000:
            return True
    return False


@inner
def may_be_named(p, begin):
    """Whether the word in front of p may say that a number is a time: `ts`, `time`, `timestamp`, `timeMillis`, `epoch`,
    `epochSecond`."""
    at = p
    for _ in range(40):
        if at <= begin + U(1) or (is_word(load_8(at - U(1))) and load_8(at - U(1)) != signs.UNDERSCORE):
            break
        at -= U(1)
    if at < begin + U(2):
        return False
    pair = (load_8(at - U(2)) | 32) << 8 | (load_8(at - U(1)) | 32)
    return pair == TS or pair == ME or pair == MP or pair == IS or pair == CH or pair == ND
