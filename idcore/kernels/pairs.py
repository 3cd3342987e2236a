"""What a line shows: when its ids were generated, which offsets a broker had reached when, which ids are paired."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from idcore.kernels import inlined, inner, kernel
from idcore.kernels.paired_offsets import MOST_SLOTS, OFFSET_BITS

from .around import TIMES, YEARS, may_have_day, may_have_record
from .clients import date_client
from .dates import (
    ASSUMED,
    DAY_EARLY,
    DAY_LATE,
    DIFFERENT,
    FIRST_MONTH,
    HINT_LINE,
    KIND_BITS,
    LENGTH,
    LITTLE_START,
    MINUTE,
    MONTH,
    NO_LINE,
    NO_MINUTE,
    NO_VOTE,
    NO_ZONE,
    NOT_THERE,
    SEEN_AT,
    SEEN_OF_BODY,
    SLACK,
    START,
    UTC_START,
    YEAR,
    ZONES_APART,
    date_line,
    is_proved,
    line_at,
    may_be_due,
    may_have_time,
    minute_at,
    moment_in,
    next_moment,
    rest_of_moment,
    start_of_uniq,
)
from .find import (
    BEGIN,
    COUNTER_SHIFT,
    END,
    END_ID,
    FIRST_ID,
    HAS_BO,
    LINE_IDS,
    STATE_LINES,
    STATE_LOOSE,
    STATE_PAIRED,
    STATE_RANGES,
    STATE_VOTES,
    V4_DIGITS,
    is_client,
    is_early,
    is_offset,
)
from .stamps import NO_YEAR, may_be_day_of, moment_of_day, moment_of_stamp, only_stamp, opens_line
from .vector import borrowed, load_8

U = np.uint64


# Columns of Dating.others; months count from FIRST_MONTH.
OTHER_ROW, OTHER_MONTH, OTHER_MS, OTHER_AHEAD, OTHER_BORN, OTHER_NAMES_DAY, OTHER_FROM, OTHER_COLUMNS = range(8)
A_DAY, STORED, UNPROVED = 1, 2, 3  # of OTHER_NAMES_DAY: a day without a year, a store time alone; a day of no id


LEFT, IS_SETTLED = range(2)  # of Dating.left
ENDS = tuple(b"]})<\\")  # of an object: a bracket, a tag, a line that is escaped


class Dating(NamedTuple):
    """What dates ids: `Months.newest`, `Months.calendar`, the UTC offsets in use, and what is kept of the last line.

    `others`: rows of lines that may have their moment elsewhere, in another style or in another line of their record,
    which Python looks for; then the month, the ms in it and the minutes ahead that it found, or a bornTimestamp,
    whether its year or month is assumed, and from which place in the text on it holds: a line of several messages has
    several.
    `left`: how many, and whether it has looked. `near`: what is kept of the lines around (`around`). `now`: in ms.
    """

    newest: np.ndarray
    calendar: np.ndarray
    in_use: np.ndarray
    seen: np.ndarray
    others: np.ndarray
    left: np.ndarray
    near: np.ndarray
    now: int


class Votes(NamedTuple):
    """What lines say of the months of processes: by slot, one of each kind at once; and what did not fit there.

    `text`: of the text at hand, the first and the last moment that lines with a year prove, whether lines name none,
    and its number.
    """

    by_slot: np.ndarray
    rows: np.ndarray
    text: np.ndarray


class Pairing(NamedTuple):
    """The offsetMsgIds paired with ids. `cache`, `ranges`: offsets of brokers in a minute, by slot and those sent.
    `steps`: how many ids further on in its line the offsetMsgId of an id is, 0 without one. `loose`: pairs that do not
    fit in there. `line`: scratch for the line at hand."""

    cache: np.ndarray
    ranges: np.ndarray
    steps: np.ndarray
    loose: np.ndarray
    line: np.ndarray


LINE_ROWS = 3
OWN, TIME, OFFSET = range(LINE_ROWS)  # of the line at hand: its ids, when they were generated, its offsetMsgIds


RANGE_COLUMNS = 6  # key of the broker, start of the minute in ms, least and greatest offset, each with its instant
# An offset and its instant are one word, so that one comparison judges both: offset * 60,000 and the ms of the minute,
# which count from its end where the greatest offset is asked for. Of equal offsets the earliest instant is kept. The
# greatest offset there is, 2**48, has room for it.
WITHIN_MINUTE = U(MINUTE)
LAST_OF_MINUTE = U(MINUTE - 1)


@inner
def begin_range(slot, sent, offset, cache, keys, ranges, row):
    """Sends the range that is cached in the place of `slot`, and begins another there. Returns the ranges sent."""
    place = slot & (cache.shape[0] - 1)
    row = send_range(cache, place, keys, ranges, row)
    cache[place, 0] = slot
    past = sent % MINUTE
    cache[place, 1] = sent - past
    cache[place, 2] = np.int64(U(offset) * WITHIN_MINUTE + U(past))
    cache[place, 3] = np.int64(U(offset) * WITHIN_MINUTE + U(MINUTE - 1 - past))
    return row


@inner
def send_range(cache, place, keys, ranges, row):
    slot = cache[place, 0]
    if slot < 0:
        return row
    for word in range(3):
        ranges[row, word] = keys[slot, word]
    for column in range(1, 4):
        ranges[row, 2 + column] = U(cache[place, column])
    return row + 1


@kernel
def send_ranges(cache, keys, ranges, row):
    """Empties the cache into `ranges`. Returns the ranges sent."""
    for place in range(cache.shape[0]):
        row = send_range(cache, place, keys, ranges, row)
        cache[place, 0] = -1
    return row


@inner
def put_loose(loose, row, found, own, offset, lines):
    for column in range(3):
        loose[row, column] = found.keys[found.slots[own], column]
        loose[row, 4 + column] = found.keys[found.slots[offset], column]
    loose[row, 3] = found.values[own]
    loose[row, 7] = found.values[offset]
    loose[row, 8] = U(lines)


# Times that were read in the zone of the scan, and not proved, are so much later, those that no line dates twice so
# much: the merge has what the whole input proves.
IN_SCAN_ZONE = np.int64(1_000_000_000 * MINUTE)
JANUARY_2021 = 2021 * 12 - FIRST_MONTH
VOTE = 4  # columns of a vote: start of the month and kind, ids, least and greatest elapsed
KINDS = 5
VOTES = KINDS * VOTE
VOTE_COLUMNS = 4 + VOTE  # as it travels: behind the words of its process, in front of the text where it names no year
TEXT_FIRST, TEXT_LAST, TEXT_IS_YEARLESS, TEXT = range(4)  # of Votes.text


@inner
def put_vote(votes, place, slot, keys, text, out, row):
    for word in range(3):
        out[row, word] = keys[slot, word]
    for column in range(VOTE):
        out[row, 3 + column] = U(votes[slot, place + column])
    out[row, 3 + VOTE] = U(text if place == VOTE * YEAR else 0)
    votes[slot, place + 1] = 0
    return row + 1


@kernel
def put_votes(votes, first, keys, text, out, row):
    """The votes of all processes, from the `first` kind on, to `out`, which has room for them. Returns its rows."""
    for slot in range(keys.shape[0]):
        for place in range(VOTE * first, VOTES, VOTE):
            if votes[slot, place + 1]:
                row = put_vote(votes, place, slot, keys, text, out, row)
    return row


@inlined
def vote(slot, kind, packed, elapsed, votes, found):
    """Counts an id for the month that its line gives it, and the moment for its text."""
    own, text = votes.by_slot, votes.text
    made = elapsed
    if kind == YEAR:
        text[TEXT_IS_YEARLESS] = 1
    elif kind != ASSUMED:
        if not is_client(found.keys[slot, 2]):
            made += (packed >> KIND_BITS) * MINUTE
            text[TEXT_FIRST] = min(text[TEXT_FIRST], made)
        text[TEXT_LAST] = max(text[TEXT_LAST], made)
    place = VOTE * kind
    if own[slot, place] == packed and own[slot, place + 1]:
        own[slot, place + 1] += 1
        if elapsed > own[slot, place + 3]:
            own[slot, place + 3] = elapsed
        elif elapsed < own[slot, place + 2]:
            own[slot, place + 2] = elapsed
    else:
        if own[slot, place + 1]:
            row = found.state[STATE_VOTES]
            found.state[STATE_VOTES] = put_vote(own, place, slot, found.keys, votes.text[TEXT], votes.rows, row)
        own[slot, place] = packed
        own[slot, place + 1] = 1
        own[slot, place + 2] = own[slot, place + 3] = elapsed


@inlined
def date_uniq(elapsed, little, line, dating):
    """When an id was generated; the start of its month and the kind, as a vote, where its line gives one."""
    start, kind = start_of_uniq(elapsed, little, line, dating.calendar, dating.in_use)
    if start != NO_MINUTE:
        sent = start + elapsed
        if kind >= MONTH and not little:
            sent += IN_SCAN_ZONE
        return sent, kind, (start // MINUTE) << KIND_BITS | kind
    column = LITTLE_START if little else START
    for month in range(dating.newest.shape[0]):
        if elapsed <= dating.newest[month, column + 1]:
            sent = dating.newest[month, column] + elapsed
            return sent if little else sent + 2 * IN_SCAN_ZONE, NO_VOTE, np.int64(0)
    return NO_MINUTE, NO_VOTE, np.int64(0)


@inner
def settled_line(other, dating):
    """What a line says about time that Python has read."""
    moment, ahead = NOT_THERE, NO_ZONE
    if other[OTHER_BORN] < 0:
        moment, ahead = (
            moment_in(other[OTHER_MONTH], other[OTHER_MS], other[OTHER_AHEAD], dating.calendar),
            other[OTHER_AHEAD],
        )
        if moment < 0:
            return NO_LINE
    return line_at(other[OTHER_BORN], moment, ahead, dating.calendar, dating.seen)


@inner
def date_doubtful(elapsed, little, line, names_day, dating):
    """As `date_uniq`, of a line that names no year, or the future: its month counts if the id proves it."""
    sent, kind, packed = date_uniq(elapsed, little, line, dating)
    if kind < MONTH and names_day == 0:
        return sent, kind, packed
    late = (line.born if line.born >= 0 else line.moment) - elapsed - (packed >> KIND_BITS) * MINUTE
    if kind == MONTH and DAY_EARLY <= late and late <= DAY_LATE:
        if names_day == 0:
            return sent, kind, packed
        if not little:
            assumed = YEAR if names_day == A_DAY else ASSUMED
            return sent, assumed, packed - kind + assumed
    return date_uniq(elapsed, little, NO_LINE, dating)


@inlined
def pair(own, i, sent, again, behind, found, pairing):
    """An id with its offsetMsgId, entry `i`: the range of the broker's minute has this offset, and the id its step."""
    slot = np.int64(found.slots[i])
    offset = found.values[i]
    cache = pairing.cache
    place = slot & (cache.shape[0] - 1)
    past = U(sent - cache[place, 1])
    if cache[place, 0] == slot and past < WITHIN_MINUTE:
        least = offset * WITHIN_MINUTE + past
        greatest = least + LAST_OF_MINUTE - (past << U(1))
        if greatest > U(cache[place, 3]):
            cache[place, 3] = np.int64(greatest)
        if least < U(cache[place, 2]):
            cache[place, 2] = np.int64(least)
    elif sent != NO_MINUTE:
        row = found.state[STATE_RANGES]
        found.state[STATE_RANGES] = begin_range(slot, sent, offset, cache, found.keys, pairing.ranges, row)
    if again or behind or slot >= MOST_SLOTS or offset >> OFFSET_BITS != U(0):
        put_loose(pairing.loose, found.state[STATE_LOOSE], found, own, i, 0 if again else 1)
        found.state[STATE_LOOSE] += 1
    else:
        pairing.steps[own] = i - own
        found.state[STATE_PAIRED] = 1


@inlined
def has_messages(found, first, last):
    """Whether ids from `first` to before `last` are of several messages."""
    one = first
    while one < last and is_offset(found.keys[found.slots[one], 2]):
        one += 1
    for i in range(one + 1, last):
        is_same = found.values[i] == found.values[one] and found.slots[i] == found.slots[one]
        if not is_same and not is_offset(found.keys[found.slots[i], 2]):
            return True
    return False


@inner
def may_be_list(text, origin, found, first, last):
    """Whether an object may end between two of the ids from `first` to before `last`."""
    for i in range(first, last - 1):
        p, q = text + U(found.places[i] - origin), text + U(found.places[i + 1] - origin)
        p += U(V4_DIGITS)
        while p < q:
            sign = load_8(p)
            for end in ENDS:
                if sign == end:
                    return True
            p += U(1)
    return False


@inlined
def settled_or_open(text, origin, row, line, found, dating, ids):
    """What a line says, that has no single bornTimestamp; whether it names only its day; and whether it may have its
    moments elsewhere, for Python."""
    values, first, last = found.values, found.lines[row, FIRST_ID], found.lines[row, END_ID]
    begin, end = found.lines[row, BEGIN], found.lines[row, END]
    p, q = text + U(begin - origin), text + U(end - origin)
    no_day = np.int64(0)
    if line.born == DIFFERENT:
        return line, no_day, True
    for i in range(min(last - first, LINE_IDS)):
        ids[TIME, i] = np.int64(values[first + i] >> COUNTER_SHIFT & U(0xFFFFFFFF))
    known = ids[TIME, : min(last - first, LINE_IDS)]
    is_long = end - begin > HINT_LINE  # dated by what it opens with, and by the times of its messages
    if line.moment < 0:
        if not may_have_time(p, q, known):
            return line, no_day, not is_long and may_have_record(text, origin, begin, end, dating.near[TIMES])
        if last - first > 1 and has_messages(found, first, last):
            return line, no_day, True
        if is_long:
            return line, no_day, False
        stamped, names_day = stamped_line(p, q, line, known, dating)
        if names_day == 0:
            return stamped, no_day, stamped.moment < 0
        is_open = may_have_record(text, origin, begin, end, dating.near[YEARS])
        if names_day == UNPROVED and not is_open:
            return stamped, no_day, may_have_day(text, origin, begin, end, known, dating.near[YEARS])
        return stamped, names_day, is_open
    behind = p + U(dating.seen[SEEN_AT] + 19)
    is_proved_first = is_any_proved(line, known, dating)
    is_open = not is_proved_first and (
        dating.seen[SEEN_OF_BODY] != 0 or may_be_day_of(p, p + U(dating.seen[SEEN_AT]), known)
    )
    if last - first > 1 and has_messages(found, first, last):
        is_list = may_be_list(text, origin, found, first, last)
        is_open |= next_moment(behind, q) != U(0) or (is_list and may_have_time(behind, q, known))
        return line, no_day, is_open
    if is_proved_first or is_long:  # as in most lines: not looked at again
        return line, no_day, False
    line, is_open = proved_line(p, behind, q, line, is_open, known, dating)
    return line, no_day, is_open


@inner
def stamped_line(begin, end, line, known, dating):
    """The one time of a line in another style, if an id proves it or it opens the line; else `line`. Also whether it
    names only its day, and UNPROVED if that is of none of the ids."""
    stamp = only_stamp(begin, end, known)
    if stamp.stop == U(0):
        return line, np.int64(0)
    if stamp.year == NO_YEAR and stamp.month != 0 and not may_be_day_of(begin, end, known):
        return line, np.int64(UNPROVED)
    for is_swapped in range(2 if stamp.is_open else 1):
        if stamp.year == NO_YEAR and stamp.month != 0:
            month, day = (stamp.day, stamp.month) if is_swapped else (stamp.month, stamp.day)
            moment = moment_of_day(month, day, stamp.ms, known, dating.now, dating.calendar)
            if moment >= 0:
                return line_at(NOT_THERE, moment, NO_ZONE, dating.calendar, dating.seen), np.int64(A_DAY)
            continue
        moment = moment_of_stamp(stamp, is_swapped, dating.calendar)
        other = line_at(NOT_THERE, moment, stamp.ahead, dating.calendar, dating.seen) if moment >= 0 else line
        if other.moment >= 0 and (is_any_proved(other, known, dating) or opens_line(stamp, begin, end)):
            return other, np.int64(0)
    return line, np.int64(0)


@inner
def proved_line(begin, behind, end, line, is_open, known, dating):
    """The first moment `behind` the first one of a line that an id proves; else `line`, open where it has more."""
    place = next_moment(behind, end)
    is_open |= place != U(0)
    while place != U(0):
        month, ms = minute_at(place, end)
        rest, ahead = rest_of_moment(place, end)
        if rest >= 0 and not may_be_due(place, begin):
            moment = moment_in(month - FIRST_MONTH, ms + rest, ahead, dating.calendar)
            other = line_at(NOT_THERE, moment, ahead, dating.calendar, dating.seen)
            if other.moment >= 0 and is_any_proved(other, known, dating):
                return other, False
        place = next_moment(place + U(19), end)
    return line, is_open


@inlined
def is_any_proved(line, known, dating):
    """Whether an id that counts one of the `known` milliseconds proves the moment of its line."""
    for elapsed in known:
        if is_proved(line, elapsed, dating.calendar, dating.in_use):
            return True
    return False


@inner
def was_before(own, earlier, values, slots):
    """Whether one of the earlier ids of a line is the same."""
    for before in earlier:
        if values[before] == values[own] and slots[before] == slots[own]:
            return True
    return False


@kernel
def pair_lines(buf, origin, found, dating, votes, pairing, behind):
    """Dates the msgIds of each line, and pairs them: the i-th offsetMsgId goes with the i-th of them, then the last.

    Lines that may have their moment in another style are left for a second call. The rules are in
    docs/tables.md. A pair is loose when its line ends `behind` the split. It is also loose when its id already has an
    offsetMsgId in the same line, or when the offsetMsgId does not fit its word.
    """
    found, dating, votes, pairing = borrowed(found), borrowed(dating), borrowed(votes), borrowed(pairing)
    calendar, settled = dating.calendar, dating.left[IS_SETTLED] != 0
    lines, slots, values, ids = found.lines, found.slots, found.values, pairing.line
    text = U(buf.ctypes.data)
    months = calendar.shape[0]
    local_2021 = (
        (calendar[JANUARY_2021, UTC_START] - calendar[JANUARY_2021, START]) // MINUTE if months else np.int64(0)
    )
    future = dating.newest[0, START] + dating.newest[0, LENGTH] + 2 * SLACK  # as `Line.limit` is later
    for at_row in range(dating.left[LEFT] if settled else found.state[STATE_LINES]):
        row = dating.others[at_row, OTHER_ROW] if settled else np.int64(at_row)
        first, last = lines[row, FIRST_ID], lines[row, END_ID]
        begin, end = lines[row, BEGIN], lines[row, END]
        line, names_day = NO_LINE, np.int64(0)
        if settled and at_row > 0 and dating.others[at_row - 1, OTHER_ROW] == row:
            continue
        if settled:
            line = settled_line(dating.others[at_row], dating)
            names_day = dating.others[at_row, OTHER_NAMES_DAY]
        elif months and begin >= origin:
            p, q = text + U(begin - origin), text + U(end - origin)
            line = date_line(p, q, lines[row, HAS_BO], calendar, dating.seen)
            if line.born < 0:
                line, names_day, is_open = settled_or_open(text, origin, row, line, found, dating, ids)
                if is_open:
                    dating.others[dating.left[LEFT], OTHER_ROW] = row
                    dating.left[LEFT] += 1
                    continue
        dated = offsets = 0
        more = at_row + 1  # the next of its rows, of a line of several messages
        for i in range(first, last):
            while settled and more < dating.left[LEFT] and dating.others[more, OTHER_ROW] == row:
                if found.places[i] < dating.others[more, OTHER_FROM]:
                    break
                line = settled_line(dating.others[more], dating)
                names_day = dating.others[more, OTHER_NAMES_DAY]
                more += 1
            slot = np.int64(slots[i])
            k2 = found.keys[slot, 2]
            if is_offset(k2):
                if offsets < LINE_IDS:
                    ids[OFFSET, offsets] = i
                offsets += 1
                continue
            if is_client(k2):
                told = NO_LINE if names_day != 0 else line  # it has its year
                sent, kind, packed = date_client(
                    values[i], k2, told.born, told.moment, told.ahead, local_2021, dating.in_use
                )
                elapsed = told.born if told.born >= 0 else told.moment  # until when it was generated
                if elapsed < 0:
                    kind = NO_VOTE
                elif told.born < 0 and told.ahead == NO_ZONE:
                    elapsed += ZONES_APART
            elif names_day != 0 or line.limit > future:
                elapsed = np.int64(values[i] >> COUNTER_SHIFT)
                sent, kind, packed = date_doubtful(elapsed, is_early(k2), line, names_day, dating)
            else:
                elapsed = np.int64(values[i] >> COUNTER_SHIFT)
                sent, kind, packed = date_uniq(elapsed, is_early(k2), line, dating)
            if kind != NO_VOTE:
                vote(slot, kind, packed, elapsed, votes, found)
            if i == first and last - first == 2 and is_offset(found.keys[slots[i + 1], 2]):
                pair(i, i + 1, sent, False, behind, found, pairing)  # the usual line: a fifth of the time is saved
                break
            if dated < LINE_IDS:
                ids[OWN, dated] = i
                ids[TIME, dated] = sent
            dated += 1
        if dated == 0 or dated > LINE_IDS or offsets == 0 or offsets > LINE_IDS:
            continue
        largest, slot_of_largest = values[ids[OWN, 0]], slots[ids[OWN, 0]]
        for at in range(offsets):
            one = min(at, dated - 1)
            own = ids[OWN, one]
            again = at >= dated
            if slots[own] == slot_of_largest and values[own] > largest:  # as in nearly all lines
                largest = values[own]
            else:
                again |= was_before(own, ids[OWN, :one], values, slots)
            pair(own, ids[OFFSET, at], ids[TIME, one], again, behind, found, pairing)
    found.state[STATE_LINES] = 0
