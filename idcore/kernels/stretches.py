"""One key with very many ids: its runs are read side by side, and judged in stretches of the order of time.

What a stretch has to know of those before is in small arrays, so memory does not grow with the ids. The results are
those of `merge` and `unroll`, which have all ids of a key at once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from idcore.ids.clock import MINUTE_MS, NO_TIME
from idcore.kernels import inlined, inner, kernel

from .chains import counter_of, elapsed_of, rises, step
from .encode import get, low_bits, next_of, sort_nearly
from .find import COUNTER_SHIFT
from .unroll import (
    DISTINCT,
    DRAWN_WRAPS,
    FIRST,
    FIRST_ELAPSED,
    IDS,
    LAST,
    LAST_ELAPSED,
    LAST_POSSIBLE,
    LAST_TIME,
    OUT_OF_ORDER,
    POINTS,
    PRODUCED,
    WHOLE_SECONDS,
    WIDEST_GAP,
    WRAPS,
)

U = np.uint64
NEVER = U(0xFFFFFFFFFFFFFFFF)
PLACE, LEFT, COUNT = range(3)  # of a stream: where its next step is, ids behind the next, how often the next occurs
# Of a chain: ids, the first counter, the last id in the order of time and as it is, its position and place; the lowest
# and highest position, and the places of these.
SIZE, FIRST_COUNTER, LAST_VALUE, LAST_RAW, POSITION, LAST_AT, LOW, HIGH, LOW_AT, HIGH_AT = range(10)
CHAIN_COLUMNS = 10
POINT_COLUMNS = 10  # those of `merge.ProcessRows.points`, and the place of the id
REACHED, DIFFERENT, GAPS = range(3)  # what `union` has to know of the intervals before
WANTED_BITS = 0xFFFF


class Streams(NamedTuple):
    """Sorted ids of one key, one stream for each run and range of ids. `heap`: streams with ids left, the one with the
    least next id first, of which there are `alive[0]`. Of each stream: `state` by column, the next id, the last one of
    the range, and what is added in the order of time."""

    heap: np.ndarray
    alive: np.ndarray
    state: np.ndarray
    raw: np.ndarray
    until: np.ndarray
    shift: np.ndarray


class Stretch(NamedTuple):
    """Ids in the order of time: words as they are ordered, words as they are, how often each occurs."""

    values: np.ndarray
    raws: np.ndarray
    counts: np.ndarray


class Drawing(NamedTuple):
    """What decides which ids a chart needs. `chains`: their rows at the end; `tracks` by chain; `bases`: what is added
    to a position of a chain, so that all chains have numbers of their own. `drawn`: numbers of ids above a drawn gap.
    `wanted`: sorted numbers below gaps, and the id above each; `sides`: the nearest ids with such a number, on both
    sides. `filter`: by their low bits, numbers on both sides of drawn gaps. `limits`: ids, first time, width of a
    bucket, wraps, the time from which ids are impossible."""

    chains: np.ndarray
    tracks: np.ndarray
    bases: np.ndarray
    drawn: np.ndarray
    wanted: np.ndarray
    sides: np.ndarray
    filter: np.ndarray
    limits: np.ndarray


@kernel
def ends(runs, start, stop, after):
    """Of one key the least id, what `merge.ends_of` has of `after`, and the greatest."""
    least = low = ~U(0)
    high = greatest = U(0)
    for r in range(start, stop):
        group = runs.order[r]
        shift = low_bits(runs.key2[group])
        mask = (U(1) << shift) - U(1)
        value, place = get(runs.data, runs.places[group])
        _, place = get(runs.data, place)
        least = min(least, value)
        for number in range(runs.distinct[group]):
            if number:
                value, _, place = next_of(runs.data, place, value, shift, mask)
            elapsed = elapsed_of(value)
            if elapsed >= after[3]:
                low = min(low, value)
            if elapsed <= after[4]:
                high = max(high, value)
        greatest = max(greatest, value)
    return least, min(low, greatest), max(high, least), greatest


@kernel
def open_streams(runs, start, stop, ranges, streams):
    """Fills `streams` with those of one key. `ranges`: the last id of each, rising, and what is added in the order of
    time; the last one has no end."""
    count = 0
    for r in range(start, stop):
        group = runs.order[r]
        shift = low_bits(runs.key2[group])
        mask = (U(1) << shift) - U(1)
        left = runs.distinct[group] - 1
        value, place = get(runs.data, runs.places[group])
        repeats, place = get(runs.data, place)
        current, opened = 0, -1
        while True:
            while value > ranges[current, 0]:
                current += 1
            if current != opened:
                opened = current
                streams.state[count, PLACE] = place
                streams.state[count, LEFT] = left
                streams.state[count, COUNT] = np.int64(repeats) + 1
                streams.raw[count] = value
                streams.until[count] = ranges[current, 0]
                streams.shift[count] = ranges[current, 1]
                streams.heap[count] = count
                count += 1
            if left == 0 or current == ranges.shape[0] - 1:
                break
            value, repeats, place = next_of(runs.data, place, value, shift, mask)
            left -= 1
    streams.alive[0] = count
    for place in range(count // 2 - 1, -1, -1):
        sink(streams, place)


@inlined
def is_before(streams, one, other):
    """Whether the next id of a stream comes before that of another."""
    a, b = streams.raw[one] + streams.shift[one], streams.raw[other] + streams.shift[other]
    return a < b or (a == b and streams.raw[one] < streams.raw[other])


@kernel
def sink(streams, place):
    """Moves a stream down the heap, to where it belongs."""
    heap, alive = streams.heap, streams.alive[0]
    while 2 * place + 1 < alive:
        child = 2 * place + 1
        if child + 1 < alive and is_before(streams, heap[child + 1], heap[child]):
            child += 1
        if not is_before(streams, heap[child], heap[place]):
            break
        heap[place], heap[child] = heap[child], heap[place]
        place = child


@kernel
def take(data, k2, streams, out, n):
    """The next ids, equal ones once, behind the first `n` of `out` while there is room. Returns how many it has."""
    values, raws, counts = out
    heap, alive, state = streams.heap, streams.alive, streams.state
    bits = low_bits(k2)
    mask = (U(1) << bits) - U(1)
    while alive[0] > 0:
        one = heap[0]
        next_key, next_raw = NEVER, NEVER  # of the other streams
        if alive[0] > 1:
            other = heap[1]
            if alive[0] > 2 and is_before(streams, heap[2], other):
                other = heap[2]
            next_raw = streams.raw[other]
            next_key = next_raw + streams.shift[other]
        raw, shift, until = streams.raw[one], streams.shift[one], streams.until[one]
        place, left, count = state[one, PLACE], state[one, LEFT], state[one, COUNT]
        ended = full = False
        while True:
            key = raw + shift
            if key > next_key or (key == next_key and raw > next_raw):
                break
            if n > 0 and values[n - 1] == key and raws[n - 1] == raw:
                counts[n - 1] += count
            elif n == values.size:
                full = True
                break
            else:
                values[n], raws[n], counts[n] = key, raw, count
                n += 1
            ended = left == 0
            if ended:
                break
            raw, repeats, place = next_of(data, place, raw, bits, mask)
            count = np.int64(repeats) + 1
            left -= 1
            ended = raw > until
            if ended:
                break
        streams.raw[one] = raw
        state[one, PLACE], state[one, LEFT], state[one, COUNT] = place, left, count
        if full:
            return n
        if ended:
            alive[0] -= 1
            heap[0] = heap[alive[0]]
        sink(streams, 0)
    return n


@kernel
def last_millisecond(values):
    """Where the ids of the last millisecond begin."""
    place = values.size
    while place > 0 and elapsed_of(values[place - 1]) == elapsed_of(values[values.size - 1]):
        place -= 1
    return place


@kernel
def tally(stretch, beyond, row, minutes):
    """Adds ids to the figures of their process that need no chain. From the time `beyond` on they are impossible.

    Returns the rows of minutes (minute, ids), and whether every counter is a little above the one before.
    """
    values, raws, counts = stretch
    first = 0
    if row[DISTINCT] == 0:
        row[FIRST], row[FIRST_ELAPSED] = np.int64(values[0]), elapsed_of(raws[0])
        row[LAST_POSSIBLE] = row[LAST_TIME] = -1
        row[WHOLE_SECONDS] = first = 1
    rising = rises(values[first:], counter_of(values[0] if first else U(row[LAST])))
    minute = np.int64(NO_TIME)
    rows = 0
    for i in range(values.size):
        time, elapsed = elapsed_of(values[i]), elapsed_of(raws[i])
        row[IDS] += counts[i]
        if elapsed % 1000 != 0:
            row[WHOLE_SECONDS] = 0
        if time < beyond:
            row[LAST_POSSIBLE] = elapsed
            row[LAST_TIME] = time
            this = time // MINUTE_MS
            if this != minute:
                minute = this
                minutes[rows, 0] = this
                minutes[rows, 1] = 0
                rows += 1
            minutes[rows - 1, 1] += counts[i]
    row[DISTINCT] += values.size
    row[LAST] = np.int64(values[values.size - 1])
    row[LAST_ELAPSED] = elapsed_of(raws[values.size - 1])
    return rows, rising


@kernel
def unroll_stretch(stretch, chain, seen, chains, row, positions):
    """Positions of the ids in their chains, the rows of chains, and what is out of order in all of them."""
    values, raws, _ = stretch
    for i in range(values.size):
        own = chains[chain[i]]
        counter = counter_of(values[i])
        if own[SIZE] == 0:
            own[FIRST_COUNTER] = counter
            own[LOW_AT] = own[HIGH_AT] = seen + i
        else:
            s = step(counter_of(U(own[LAST_VALUE])), counter)
            if s < 0:
                row[OUT_OF_ORDER] += 1
            own[POSITION] += s
            if own[POSITION] < own[LOW]:
                own[LOW] = own[POSITION]
                own[LOW_AT] = seen + i
            if own[POSITION] > own[HIGH]:
                own[HIGH] = own[POSITION]
                own[HIGH_AT] = seen + i
            row[WIDEST_GAP] = max(row[WIDEST_GAP], elapsed_of(values[i]) - elapsed_of(U(own[LAST_VALUE])))
        own[SIZE] += 1
        own[LAST_VALUE] = np.int64(values[i])
        own[LAST_RAW] = np.int64(raws[i])
        own[LAST_AT] = seen + i
        positions[i] = own[POSITION]


@kernel
def sum_chains(chains, row, bases):
    """The figures of all chains together. `bases`: see `Drawing`; the numbers of all chains follow one another."""
    produced = 0
    for k in range(chains.shape[0]):
        first, low, high = chains[k, FIRST_COUNTER], chains[k, LOW], chains[k, HIGH]
        bases[k] = produced - low
        produced += high - low + 1
        row[WRAPS] += ((first + high) >> np.int64(COUNTER_SHIFT)) - ((first + low) >> np.int64(COUNTER_SHIFT))
    row[PRODUCED] = produced


@kernel
def intervals(chain, positions, seen, out):
    """The positions of a stretch without their repeats, as intervals: chain, first and last position, the first id that
    has the first position. In order of chain and position. Returns how many there are."""
    n = chain.size
    low, high = chain[0], chain[0]
    for i in range(n):
        low, high = min(low, chain[i]), max(high, chain[i])
    starts = np.zeros(high - low + 2, np.int64)
    least = np.full(high - low + 1, np.int64(1) << 62)
    for i in range(n):
        starts[chain[i] - low + 1] += 1
        least[chain[i] - low] = min(least[chain[i] - low], positions[i])
    for k in range(1, starts.size):
        starts[k] += starts[k - 1]
    bits = U(1)
    while n >> bits:
        bits += U(1)
    place = starts[:-1].copy()
    grouped = np.empty(n, np.uint64)
    for i in range(n):
        k = chain[i] - low
        grouped[place[k]] = U(positions[i] - least[k]) << bits | U(i)
        place[k] += 1
    rows = 0
    for k in range(least.size):
        sort_nearly(grouped, starts[k], starts[k + 1])
        for at in range(starts[k], starts[k + 1]):
            position = np.int64(grouped[at] >> bits) + least[k]
            if at == starts[k] or position > out[2, rows - 1] + 1:
                out[0, rows] = low + k
                out[1, rows] = position
                out[3, rows] = seen + np.int64(grouped[at] & ((U(1) << bits) - U(1)))
                rows += 1
            out[2, rows - 1] = position
    return rows


@kernel
def union(firsts, lasts, ids, order, state, widest):
    """Adds intervals of numbers, in order, to those before: how many numbers they have, and the widest gaps between.

    `widest`: width, id above it, its number; the widest first, of equal ones the first in time.
    """
    for at in order:
        first, last = firsts[at], lasts[at]
        gap = first - state[REACHED] - 1
        if gap > 0:
            place = min(state[GAPS], widest.shape[0] - 1)
            if state[GAPS] <= place or is_wider(gap, ids[at], widest[place]):
                while place > 0 and is_wider(gap, ids[at], widest[place - 1]):
                    widest[place] = widest[place - 1]
                    place -= 1
                widest[place, 0], widest[place, 1], widest[place, 2] = gap, ids[at], first
                state[GAPS] = min(state[GAPS] + 1, widest.shape[0])
        if last > state[REACHED]:
            state[DIFFERENT] += last - max(first - 1, state[REACHED])
            state[REACHED] = last


@inlined
def is_wider(gap, above, other):
    return gap > other[0] or (gap == other[0] and above < other[1])


@inner
def put_point(value, raw, position, k, at, drawing, out):
    """One id as a row of points, without its gap."""
    time = elapsed_of(value)
    out[0] = 0
    out[1] = time
    out[2] = position
    out[3] = drawing.tracks[k]
    out[4] = k
    out[5] = 0
    out[6] = elapsed_of(raw)
    out[7] = counter_of(value)
    out[8] = time < drawing.limits[4]
    out[9] = at


@kernel
def points_of_stretch(stretch, chain, seen, running, drawing, out):
    """The ids that a chart needs, some of them twice. `running`: rows of chains up to here. Returns the rows."""
    values, raws, _ = stretch
    ids, begin, width, wraps = drawing.limits[0], drawing.limits[1], drawing.limits[2], drawing.limits[3]
    rows = 0
    for i in range(values.size):
        k = chain[i]
        own, ends = running[k], drawing.chains[k]
        at = seen + i
        counter = counter_of(values[i])
        keep = ids <= POINTS or own[SIZE] == 0 or at == ends[LOW_AT] or at == ends[HIGH_AT] or at == ends[LAST_AT]
        moved = 0
        if own[SIZE] > 0:
            last = U(own[LAST_VALUE])
            moved = step(counter_of(last), counter)
            turns = (elapsed_of(values[i]) - begin) // width != (elapsed_of(last) - begin) // width
            if turns or (wraps <= DRAWN_WRAPS and moved > 0 and counter < counter_of(last)):
                keep = True
                put_point(last, U(own[LAST_RAW]), own[POSITION], k, own[LAST_AT], drawing, out[rows])
                rows += 1
        own[SIZE] += 1
        own[POSITION] += moved
        own[LAST_VALUE], own[LAST_RAW], own[LAST_AT] = np.int64(values[i]), np.int64(raws[i]), at
        number = own[POSITION] + drawing.bases[k]
        if drawing.filter[number & WANTED_BITS]:
            place = np.searchsorted(drawing.wanted[0], number)
            if place < drawing.wanted.shape[1] and drawing.wanted[0, place] == number:
                side = np.int64(at > drawing.wanted[1, place])
                if side == 0 or drawing.sides[place, 1, 9] < 0:
                    put_point(values[i], raws[i], own[POSITION], k, at, drawing, drawing.sides[place, side])
            place = np.searchsorted(drawing.drawn, at)
            keep |= place < drawing.drawn.size and drawing.drawn[place] == at
        if keep:
            put_point(values[i], raws[i], own[POSITION], k, at, drawing, out[rows])
            rows += 1
    return rows
