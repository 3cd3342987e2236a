"""Whether a line without a time may have one in its record: in the lines around it, as `idcore.ids.records` asks.

Each line is looked at once in each direction, however many lines of IDs are near it.
"""

from __future__ import annotations

import numpy as np

from idcore.ids.records import REACH
from idcore.kernels import inner, kernel

from . import signs
from .dates import may_have_time
from .stamps import may_be_day_of, names_only_day
from .vector import load_8, newline_mask_64, trailing_zeros

U = np.uint64
BLANK, TIMED, NEITHER = range(3)
NO_IDS = np.empty(0, np.int64)  # an epoch in another line counts only by its name or place
# What is kept, as places in the text: up to where lines in front were looked at, and the nearest there that is not
# NEITHER; from where and how far lines behind were, and what the line there is; and where the text that is read ends.
# Two rows: in that of YEARS a line that names only its day counts as NEITHER.
CHECKED, LAST, LAST_IS, AHEAD_FROM, AHEAD_AT, AHEAD_IS, STOP, OF_YEARS = range(8)
TIMES, YEARS = range(2)


def nothing_near() -> np.ndarray:
    """As at the begin of a text."""
    return np.array([[0, -1, BLANK, 0, -1, NEITHER, 0, of] for of in (TIMES, YEARS)], np.int64)


@kernel
def is_field(p, end):
    """Whether a line is more than IDs: a letter that no hex digit is."""
    while p < end:
        letter = load_8(p) | 32
        if signs.LOWER_G <= letter and letter <= signs.LOWER_Z:
            return True
        p += U(1)
    return False


@kernel
def kind_of(p, end, of_years):
    """Of a line: whether it may have a time, or is blank next to another blank one: a single one ends nothing here."""
    if may_have_time(p, end, NO_IDS):
        return NEITHER if of_years and names_only_day(p, end, NO_IDS) else TIMED
    if load_8(p - U(2)) != signs.NEWLINE and load_8(end + U(1)) != signs.NEWLINE:
        return NEITHER
    while p < end:
        if load_8(p) > signs.SPACE:
            return NEITHER
        p += U(1)
    return BLANK


@inner
def begin_of_line(text, place, low):
    """Where the line that ends in front of `place` begins; below `low` where it begins there."""
    while place > low and load_8(text + U(place - 1)) != signs.NEWLINE:
        place -= 1
    return place if place > low or (low > 0 and load_8(text + U(low - 1)) == signs.NEWLINE) else low - 1


@inner
def end_of_line(text, place, stop):
    """Where the line that begins at `place` ends: at `stop` where no line feed is before it."""
    while place < stop:
        feeds = newline_mask_64(text + U(place))
        if feeds != U(0):
            return min(place + np.int64(trailing_zeros(feeds)), stop)
        place += 64
    return stop


@inner
def may_be_before(text, origin, begin, low, near):
    """Whether a line in front of `begin`, not before `low` and of its record, may have a time. Places are in the text;
    the byte at `text` is that of `origin`."""
    known = near[CHECKED]
    at = begin
    while at > low and at > known:
        line = begin_of_line(text, at - 1 - origin, low - origin) + origin
        if line < low:
            break
        kind = kind_of(text + U(line - origin), text + U(at - 1 - origin), near[OF_YEARS])
        if kind != NEITHER:
            near[CHECKED], near[LAST], near[LAST_IS] = begin, line, kind
            return kind == TIMED
        at = line
    if at > known:
        near[LAST] = -1  # what was known is out of reach
    near[CHECKED] = begin
    return near[LAST] >= low and near[LAST_IS] == TIMED


@inner
def may_be_behind(text, origin, begin, high, near):
    """Whether a line from `begin` on, that ends at `high` or before it and is of the record, may have a time."""
    at, stop = begin, near[STOP]
    if near[AHEAD_FROM] <= begin and begin <= near[AHEAD_AT]:
        at = near[AHEAD_AT]
    else:
        near[AHEAD_FROM], near[AHEAD_AT], near[AHEAD_IS] = begin, begin, NEITHER
    known = near[AHEAD_IS]
    near[AHEAD_FROM] = begin
    while at < stop:
        end = end_of_line(text, at - origin, min(stop, high + 1) - origin) + origin
        if end > high:
            return False
        if known == NEITHER:
            known = kind_of(text + U(at - origin), text + U(end - origin), near[OF_YEARS])
            near[AHEAD_AT], near[AHEAD_IS] = at, known
        if known != NEITHER:
            return known == TIMED
        at = end + 1
        near[AHEAD_AT] = at
    return False


@kernel
def is_of_list(text, begin, end, low, stop):
    """Whether the next line is as long as one of bare IDs, or the last one: then no other line dates it."""
    size = end - begin
    if end + 1 < stop and end_of_line(text, end + 1, min(stop, end + 2 + size)) == end + 1 + size:
        return True
    return begin > low and begin - 1 - begin_of_line(text, begin - 1, max(low, begin - 2 - size)) == size


@inner
def may_have_record(text, origin, begin, end, near):
    """Whether the line from `begin` to `end`, places in the text, may be dated by another one of its record.

    The byte at `text` is that of `origin`; `near` is what is kept from line to line, the row of TIMES or of YEARS.
    """
    low = max(begin - REACH, origin, 0)
    if not is_field(text + U(begin - origin), text + U(end - origin)):
        if is_of_list(text, begin - origin, end - origin, low - origin, near[STOP] - origin):
            return False
    before = may_be_before(text, origin, begin, low, near)
    near[CHECKED] = end + 1  # this line has no time, or names no year
    return before or may_be_behind(text, origin, end + 1, end + REACH, near)


@inner
def may_have_day(text, origin, begin, end, elapsed, near):
    """Whether a line around that from `begin` to `end` may name a day without a year that an id proves."""
    low = max(begin - REACH, origin, 0)
    at = begin
    while at > low:
        line = begin_of_line(text, at - 1 - origin, low - origin) + origin
        if line < low:
            break
        if may_be_day_of(text + U(line - origin), text + U(at - 1 - origin), elapsed):
            return True
        at = line
    at, high = end + 1, end + REACH
    while at < near[STOP]:
        stop = end_of_line(text, at - origin, min(near[STOP], high + 1) - origin) + origin
        if stop > high:
            return False
        if may_be_day_of(text + U(at - origin), text + U(stop - origin), elapsed):
            return True
        at = stop + 1
    return False
