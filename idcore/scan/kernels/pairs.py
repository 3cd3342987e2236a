"""What a line tells: when its ids were made, which offsets a broker had reached when, which ids stand side by side."""

from __future__ import annotations

import numba
import numpy as np

from idcore.scan.kernels.paired_offsets import MOST_SLOTS, OFFSET_BITS

from .clients import date_client
from .dates import (
    BORN,
    BORN_TOLERANCE,
    DAY,
    FIRST_MONTH,
    HINT_LINE,
    MINUTE,
    MONTH,
    NO_MINUTE,
    NO_ZONE,
    PREFIX,
    PREFIX_EARLY,
    PREFIX_LATE,
    PREFIX_SOON,
    SLACK,
    ZONES_APART,
    born_of,
    minute_at,
    place_of_moment,
    rest_of_moment,
    start_in_use,
    start_of_little,
    two_digits,
)
from .find import (
    CODE_CLIENT,
    CODE_LE,
    CODE_OFFSET_V4,
    CODE_OFFSET_V6,
    CODE_SHIFT,
    COUNTER_SHIFT,
    LINE_IDS,
    STATE_LINES,
    STATE_MATED,
    STATE_ODD,
    STATE_PAIRS,
    STATE_VOTES,
)
from .vector import load_8, load_64

U = np.uint64

PAIR_COLUMNS = 6  # words of the broker, start of the minute in ms, least and greatest offset, each with its instant
# An offset and its instant are one word, so that one comparison judges both: offset * 60,000 and the ms of the minute,
# which count from its end where the greatest offset is asked for. Of equal offsets the earliest instant is kept. The
# greatest offset there is, 2**48, has room for it.
WITHIN_MINUTE = U(MINUTE)
LAST_OF_MINUTE = U(MINUTE - 1)


@numba.njit(cache=True, nogil=True)
def put_pair(slot, sent, offset, cache, words, pairs, row):
    """Sends the range that is cached in the place of `slot`, and begins another there. Returns the pairs sent."""
    place = slot & (cache.shape[0] - 1)
    row = send_pair(cache, place, words, pairs, row)
    cache[place, 0] = slot
    past = sent % MINUTE
    cache[place, 1] = sent - past
    cache[place, 2] = np.int64(U(offset) * WITHIN_MINUTE + U(past))
    cache[place, 3] = np.int64(U(offset) * WITHIN_MINUTE + U(MINUTE - 1 - past))
    return row


@numba.njit(cache=True, nogil=True)
def send_pair(cache, place, words, pairs, row):
    slot = cache[place, 0]
    if slot < 0:
        return row
    for word in range(3):
        pairs[row, word] = words[slot, word]
    for column in range(1, 4):
        pairs[row, 2 + column] = U(cache[place, column])
    return row + 1


@numba.njit(cache=True, nogil=True)
def send_pairs(cache, words, pairs, row):
    """Empties the cache into `pairs`. Returns the pairs sent."""
    for place in range(cache.shape[0]):
        row = send_pair(cache, place, words, pairs, row)
        cache[place, 0] = -1
    return row


@numba.njit(cache=True, nogil=True)
def put_odd(odd, row, words, values, slots, own, offset, lines):
    for column in range(3):
        odd[row, column] = words[slots[own], column]
        odd[row, 4 + column] = words[slots[offset], column]
    odd[row, 3] = values[own]
    odd[row, 7] = values[offset]
    odd[row, 8] = U(lines)
    return row + 1


NO_VOTE = 3
# Times that were read in the zone of the scan, and not proved, are so much later, those that no line dates twice so
# much: the merge knows what the whole input proves.
IN_SCAN_ZONE = np.int64(1_000_000_000 * MINUTE)
JANUARY_2021 = 2021 * 12 - FIRST_MONTH
VOTE = 4  # columns of a vote: start of the month (minute << 2 | kind), ids, least and greatest elapsed
VOTES = 3 * VOTE
VOTE_COLUMNS = 3 + VOTE  # as it travels: behind the words of its process


@numba.njit(cache=True, nogil=True)
def put_vote(votes, place, slot, words, out, row):
    for word in range(3):
        out[row, word] = words[slot, word]
    for column in range(VOTE):
        out[row, 3 + column] = U(votes[slot, place + column])
    votes[slot, place + 1] = 0
    return row + 1


@numba.njit(cache=True, nogil=True)
def put_votes(votes, keys, words, out, row):
    """The votes of all processes to `out`, which has room for them. Returns its rows."""
    for slot in range(keys):
        for place in range(0, VOTES, VOTE):
            if votes[slot, place + 1]:
                row = put_vote(votes, place, slot, words, out, row)
    return row


@numba.njit(cache=True, nogil=True)
def pair_lines(
    buf, origin, lines, state, values, slots, words, newest, calendar, in_use, cache, pairs, mates, odd, votes, voted,
    behind,
):  # fmt: skip
    """Dates the uniq ids of each line, and pairs them: the i-th offset id goes with the i-th of them, then the last.

    The rules stand in docs/scan.md. Votes are counted by slot, one of each kind at once; what does not fit goes to
    `voted`. `mates` says how many ids further on the mate of an id stands. A pair is odd, and written out, when its
    line ends `behind` the split, when its id has a mate in the same line already, or when the mate does not fit its
    word. Arrays are used here and not in functions: a call with one costs 40 ns.
    """
    times = np.empty(LINE_IDS, np.int64)
    own = np.empty(LINE_IDS, np.int64)
    others = np.empty(LINE_IDS, np.int64)
    places = cache.shape[0] - 1
    row = state[STATE_PAIRS]
    odd_row = state[STATE_ODD]
    mated = state[STATE_MATED]
    vote_row = state[STATE_VOTES]
    text = U(buf.ctypes.data)
    months = calendar.shape[0]
    seen_0 = seen_1 = U(0)  # the last `YYYY-MM-DD HH:MM` and what it means
    seen_month = seen_ms = np.int64(-2)
    local_2021 = (calendar[JANUARY_2021, 4] - calendar[JANUARY_2021, 0]) // MINUTE if months else np.int64(0)
    current = np.int64(1)  # the month of the last line, from `begun` to before `over`
    begun = over = np.int64(0)
    for line in range(state[STATE_LINES]):
        first, last = lines[line, 0], lines[line, 1]
        moment = born = np.int64(-1)
        ahead = NO_ZONE
        hinted = False
        limit = np.int64(0)
        if months and lines[line, 3] - lines[line, 2] <= HINT_LINE and lines[line, 2] >= origin:
            begin = text + U(lines[line, 2] - origin)
            end = text + U(lines[line, 3] - origin)
            if lines[line, 4]:
                born = born_of(begin, end)
            p = begin
            same = seen_month != -2 and begin + U(19) <= end and load_64(p) == seen_0 and load_64(p + U(8)) == seen_1
            if born >= 0:
                p = U(0)  # it says more than the moment at which the line was written
            elif not (same and load_8(p + U(16)) == 58 and two_digits(p + U(17)) >= 0):
                p = place_of_moment(begin, min(end, begin + U(160)))
                if p != U(0):
                    seen_month, seen_ms = minute_at(p, end)
                    seen_0, seen_1 = load_64(p), load_64(p + U(8))
            row_of_month = seen_month - FIRST_MONTH
            if p != U(0) and row_of_month >= 0 and row_of_month < months:
                rest, ahead = rest_of_moment(p, min(end, begin + U(160)))
                if rest >= 0:
                    if ahead == NO_ZONE:
                        moment = calendar[row_of_month, 0] + seen_ms + rest
                        moment += calendar[row_of_month, 6] * (seen_ms + rest >= calendar[row_of_month, 5])
                    else:
                        moment = calendar[row_of_month, 4] + seen_ms + rest - ahead * MINUTE
            limit = (born if born >= 0 else moment) + SLACK
            if begun <= limit and limit < over:
                hinted = True
            elif limit > SLACK and limit >= calendar[3, 0] and limit < calendar[months - 2, 0]:
                hinted = True
                while limit >= calendar[current + 1, 0]:
                    current += 1
                while limit < calendar[current, 0]:
                    current -= 1
                begun, over = calendar[current, 0], calendar[current + 1, 0]
        dated = offsets = 0
        for i in range(first, last):
            slot = np.int64(slots[i])
            k2 = words[slot, 2]
            code = k2 >> CODE_SHIFT
            if code == CODE_OFFSET_V4 or code == CODE_OFFSET_V6:
                if offsets < LINE_IDS:
                    others[offsets] = i
                offsets += 1
                continue
            sent = NO_MINUTE
            if code == CODE_CLIENT:
                said, written = (born, moment) if hinted else (np.int64(-1), np.int64(-1))
                sent, kind, packed = date_client(values[i], k2, said, written, ahead, local_2021, in_use)
                elapsed = said if said >= 0 else written  # until when it was made
                if elapsed < 0:
                    kind = NO_VOTE
                elif said < 0 and ahead == NO_ZONE:
                    elapsed += ZONES_APART
            else:
                elapsed = np.int64(values[i] >> COUNTER_SHIFT)
                column = 2 if code == CODE_LE else 0
                start = NO_MINUTE
                kind = MONTH
                if hinted and elapsed <= calendar[0, column + 1] + DAY:
                    if code == CODE_LE:
                        start, kind = start_of_little(elapsed, born, moment, ahead, calendar, current)
                    elif born >= 0:
                        start = start_in_use(born - elapsed, BORN_TOLERANCE, BORN_TOLERANCE, calendar, current, in_use)
                        kind = BORN
                    elif ahead == NO_ZONE:
                        if begun + elapsed <= limit and begun + elapsed < over:
                            start = begun
                    else:
                        for month in range(current - 2, current + 2):
                            late = moment - elapsed - calendar[month, column]
                            if -PREFIX_EARLY <= late and late <= PREFIX_LATE:
                                start, kind = calendar[month, column], PREFIX
                        if start == NO_MINUTE:
                            for month in range(current - 2, current + 2):
                                there = calendar[month, 4] - ahead * MINUTE
                                late = moment - elapsed - there
                                if -PREFIX_EARLY <= late and late <= PREFIX_LATE:
                                    start, kind = there, PREFIX
                        if start == NO_MINUTE:
                            start = start_in_use(moment - elapsed, PREFIX_EARLY, PREFIX_SOON, calendar, current, in_use)
                            kind = PREFIX
                    if start == NO_MINUTE:
                        kind = MONTH
                        for month in range(current, current - 3, -1):
                            if calendar[month, column] + elapsed <= limit and elapsed < calendar[month, column + 1]:
                                start = calendar[month, column]
                                break
                if start != NO_MINUTE:
                    sent = start + elapsed
                    packed = (start // MINUTE) << 2 | kind
                else:
                    kind = NO_VOTE
                    for month in range(newest.shape[0]):
                        if elapsed <= newest[month, column + 1]:
                            sent = newest[month, column] + elapsed
                            break
                if kind >= MONTH and sent != NO_MINUTE and code != CODE_LE:
                    sent += IN_SCAN_ZONE if kind == MONTH else 2 * IN_SCAN_ZONE
            if kind != NO_VOTE:
                place = VOTE * kind
                if votes[slot, place] == packed and votes[slot, place + 1]:
                    votes[slot, place + 1] += 1
                    if elapsed > votes[slot, place + 3]:
                        votes[slot, place + 3] = elapsed
                    elif elapsed < votes[slot, place + 2]:
                        votes[slot, place + 2] = elapsed
                else:
                    if votes[slot, place + 1]:
                        vote_row = put_vote(votes, place, slot, words, voted, vote_row)
                    votes[slot, place] = packed
                    votes[slot, place + 1] = 1
                    votes[slot, place + 2] = votes[slot, place + 3] = elapsed
            # The usual line, an id and its offset id. Its pairing stands twice: in a function, even one that is
            # inlined, it made the whole kernel a fifth slower.
            if last - first == 2 and i == first:
                i = first + 1
                slot = np.int64(slots[i])
                code = words[slot, 2] >> CODE_SHIFT
                offset = np.int64(values[i])
                if (
                    (code == CODE_OFFSET_V4 or code == CODE_OFFSET_V6)
                    and not behind
                    and slot < MOST_SLOTS
                    and U(offset) >> OFFSET_BITS == U(0)
                ):
                    place = slot & places
                    past = U(sent - cache[place, 1])
                    if cache[place, 0] == slot and past < WITHIN_MINUTE:
                        least = U(offset) * WITHIN_MINUTE + past
                        greatest = least + LAST_OF_MINUTE - (past << U(1))
                        if greatest > U(cache[place, 3]):
                            cache[place, 3] = np.int64(greatest)
                        if least < U(cache[place, 2]):
                            cache[place, 2] = np.int64(least)
                    elif sent != NO_MINUTE:
                        row = put_pair(slot, sent, offset, cache, words, pairs, row)
                    mates[first] = 1
                    mated += 1
                    break
                i = first
            if dated < LINE_IDS:
                own[dated] = i
                times[dated] = sent
            dated += 1
        if dated == 0 or dated > LINE_IDS or offsets == 0 or offsets > LINE_IDS:
            continue
        for at in range(offsets):
            i = others[at]
            slot = np.int64(slots[i])
            one = min(at, dated - 1)
            sent = times[one]
            offset = np.int64(values[i])
            place = slot & places
            past = U(sent - cache[place, 1])
            if cache[place, 0] == slot and past < WITHIN_MINUTE:
                least = U(offset) * WITHIN_MINUTE + past
                greatest = least + LAST_OF_MINUTE - (past << U(1))
                if greatest > U(cache[place, 3]):
                    cache[place, 3] = np.int64(greatest)
                if least < U(cache[place, 2]):
                    cache[place, 2] = np.int64(least)
            elif sent != NO_MINUTE:
                row = put_pair(slot, sent, offset, cache, words, pairs, row)
            again = at >= dated
            for other in range(one):
                again |= values[own[other]] == values[own[one]] and slots[own[other]] == slots[own[one]]
            if again or behind or slot >= MOST_SLOTS or U(offset) >> OFFSET_BITS != U(0):
                odd_row = put_odd(odd, odd_row, words, values, slots, own[one], i, 0 if again else 1)
            else:
                mates[own[one]] = i - own[one]
                mated += 1
    state[STATE_PAIRS], state[STATE_ODD], state[STATE_MATED], state[STATE_VOTES] = row, odd_row, mated, vote_row
    state[STATE_LINES] = 0
