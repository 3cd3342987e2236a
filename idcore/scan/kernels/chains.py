"""The counters of one process, unrolled: chains (a run of the process), tracks (processes alive at once), points to draw.

All functions take the distinct ids of one process as sorted words `elapsed << 16 | counter`. The rules stand in
docs/scan.md; `tests/scan/twin.py` is their slow twin.
"""

from __future__ import annotations

import numba
import numpy as np

from .find import COUNTER_SHIFT

U = np.uint64
PERIOD = 1 << int(COUNTER_SHIFT)
HALF = PERIOD // 2
DISORDER = 64  # threads read the clock before they take the counter: neighbours may stand this far back
REACH = 1024  # a counter this far ahead goes on with the same fragment
LOW = 1024  # a process that starts again is first seen with a counter below this
RECENT = 16  # so many fragments can be alive at once
GROWN = 3  # a fragment with fewer ids proves nothing
RETURNS = 4  # so many returns to a fragment left behind prove a second process
WRAP_SLACK = 1024  # a wrap may skip this many ids unseen,
RATE_SLACK = 4  # or this many times what the rate so far explains
LATE = 250  # ms that a thread may stand between its clock and its counter
FALL = 1000  # ms after which a lower counter is no late thread any more
RING = 128  # the last positions of a fragment: an honest process takes none of them twice
TAILS = 64  # chains that a later fragment may go on with
POINTS = 1500  # a process with no more ids than this is drawn whole
BUCKETS = 256
DRAWN_GAPS = 100
DRAWN_WRAPS = 256

(
    DISTINCT, IDS, FIRST, LAST, LAST_POSSIBLE, PRODUCED, POSITIONS, WRAPS, OUT_OF_ORDER, CHAINS, TRACKS, WIDEST_GAP, WHOLE_SECONDS,
) = range(13)  # fmt: skip
FIGURES = 13


@numba.njit(cache=True, nogil=True, inline="always")
def counter_of(value):
    return np.int64(value & U(PERIOD - 1))


@numba.njit(cache=True, nogil=True, inline="always")
def elapsed_of(value):
    return np.int64(value >> COUNTER_SHIFT)


@numba.njit(cache=True, nogil=True, inline="always")
def step(before, after):
    """From one counter to the next: the difference modulo 65,536 that is nearest to 0, -32,768 included."""
    return ((after - before + HALF) & (PERIOD - 1)) - HALF


@numba.njit(cache=True, nogil=True)
def is_plain(values):
    """One process without a doubt: every counter is a little above the one before."""
    before = counter_of(values[0])
    for i in range(1, values.size):
        after = counter_of(values[i])
        s = step(before, after)
        if s <= 0 or s > REACH:
            return False
        before = after
    return True


@numba.njit(cache=True, nogil=True)
def as_taken(values, order):
    """The order in which counters were taken: ids of one millisecond go on from the millisecond before, wraps included."""
    n = values.size
    start = 0
    while start < n:
        stop = start + 1
        while stop < n and elapsed_of(values[stop]) == elapsed_of(values[start]):
            stop += 1
        cut = start
        if start > 0:
            floor = (counter_of(values[order[start - 1]]) - DISORDER) & (PERIOD - 1)
            while cut < stop and counter_of(values[cut]) < floor:
                cut += 1
        for i in range(stop - start):
            order[start + i] = start + (cut - start + i) % (stop - start)
        start = stop


@numba.njit(cache=True, nogil=True)
def fragments_of(values, fragment, first_index, last_index, sizes, repeats):
    """Cuts the ids into rising pieces. Returns pieces, and how often one left behind was taken up with proof.

    repeats[i]: the id would have gone on with the piece touched last, had that not used its counter already.
    """
    order = np.full(RECENT, -1, np.int64)  # slots, most recently touched first; a slot holds one living piece
    piece_of = np.empty(RECENT, np.int64)
    counter_last = np.empty(RECENT, np.int64)
    time_first = np.empty(RECENT, np.int64)
    time_last = np.empty(RECENT, np.int64)
    position = np.empty(RECENT, np.int64)
    low = np.empty(RECENT, np.int64)
    high = np.empty(RECENT, np.int64)
    ring = np.empty((RECENT, RING), np.int64)
    pieces = 0
    returns = 0
    for i in range(values.size):
        counter, elapsed = counter_of(values[i]), elapsed_of(values[i])
        best = -1
        nearest = PERIOD
        fits_last = False
        repeats[i] = False
        for place in range(RECENT):
            slot = order[place]
            if slot < 0:
                break
            s = step(counter_last[slot], counter)
            if s < -DISORDER or s > REACH or (s < 0 and elapsed - time_last[slot] > FALL):
                continue
            if position[slot] + s <= high[slot]:
                taken = False
                for k in range(min(RING, sizes[piece_of[slot]])):
                    if ring[slot, k] == position[slot] + s:
                        taken = True
                        break
                if taken:
                    if place == 0:
                        repeats[i] = True
                    continue
            if place == 0:
                fits_last = True
            if abs(s) < nearest:
                nearest = abs(s)
                best = place
        if best < 0:
            best = min(pieces, RECENT - 1)
            slot = best if pieces < RECENT else order[best]
            piece_of[slot] = pieces
            first_index[pieces] = i
            sizes[pieces] = 0
            pieces += 1
            time_first[slot] = elapsed
            position[slot] = low[slot] = high[slot] = 0
        else:
            slot = order[best]
            if best > 0 and not fits_last and sizes[piece_of[slot]] >= GROWN and sizes[piece_of[order[0]]] >= GROWN:
                away = abs(step(counter_last[order[0]], counter))
                too_far = away * (time_last[slot] - time_first[slot]) > LATE * (high[slot] - low[slot])
                if repeats[i] or too_far:
                    returns += 1
            position[slot] += step(counter_last[slot], counter)
            low[slot] = min(low[slot], position[slot])
            high[slot] = max(high[slot], position[slot])
        for place in range(best, 0, -1):
            order[place] = order[place - 1]
        order[0] = slot
        piece = piece_of[slot]
        counter_last[slot] = counter
        time_last[slot] = elapsed
        ring[slot, sizes[piece] % RING] = position[slot]
        last_index[piece] = i
        sizes[piece] += 1
        fragment[i] = piece
    return pieces, returns


@numba.njit(cache=True, nogil=True)
def break_at_restarts(values, fragment, first_index, repeats, pieces, chain):
    """One process at a time: a fall to a low counter that no wrap explains begins a new chain. Returns the chains."""
    n = values.size
    number = 0
    start = 0
    position = low = high = 0
    chain[0] = 0
    for i in range(1, n):
        before, counter = counter_of(values[i - 1]), counter_of(values[i])
        restart = False
        if first_index[fragment[i]] == i and counter <= before and counter < LOW and 2 * (pieces - 1) <= n:
            span = elapsed_of(values[i - 1]) - elapsed_of(values[start])
            gap = elapsed_of(values[i]) - elapsed_of(values[i - 1])
            rate = (high - low) / span if span > 0 else 0.0
            restart = PERIOD - before + counter > WRAP_SLACK + RATE_SLACK * rate * (gap + LATE)
            if restart and not repeats[i] and gap <= FALL:
                restart = span > 0 and before - counter > DISORDER + rate * LATE
            if restart and i + 1 < n:
                after = counter_of(values[i + 1])
                restart = abs(step(counter, after)) <= abs(step(before, after))
        if restart:
            number += 1
            start = i
            position = low = high = 0
        else:
            position += step(before, counter)
            low = min(low, position)
            high = max(high, position)
        chain[i] = number
    return number + 1


@numba.njit(cache=True, nogil=True)
def link_fragments(values, fragment, first_index, last_index, sizes, pieces, chain):
    """Several processes at once: grown fragments are linked into chains, small ones join the fragment touched last."""
    owner = np.full(pieces, -1, np.int64)
    tail_piece = np.empty(TAILS, np.int64)  # the last fragment of a chain,
    tail_chain = np.empty(TAILS, np.int64)
    tail_moved = np.empty(TAILS, np.int64)  # how far the chain has counted,
    tail_start = np.empty(TAILS, np.int64)  # and since when
    tails = 0
    chains = 0
    moved = np.zeros(pieces, np.int64)
    previous = np.full(pieces, -1, np.int64)
    for i in range(values.size):
        piece = fragment[i]
        if previous[piece] >= 0:
            moved[piece] += step(counter_of(values[previous[piece]]), counter_of(values[i]))
        previous[piece] = i
    for piece in range(pieces):
        if sizes[piece] < GROWN:
            continue
        first = first_index[piece]
        best = -1
        nearest = PERIOD
        oldest = 0
        for k in range(tails):
            end = last_index[tail_piece[k]]
            if end < last_index[tail_piece[oldest]]:
                oldest = k
            if end >= first:
                continue
            ahead = (counter_of(values[first]) - counter_of(values[end])) & (PERIOD - 1)
            span = elapsed_of(values[end]) - tail_start[k]
            rate = tail_moved[k] / span if span > 0 else 0.0
            explained = REACH + RATE_SLACK * rate * (elapsed_of(values[first]) - elapsed_of(values[end]))
            if ahead <= explained and ahead < nearest:
                nearest = ahead
                best = k
        if best >= 0:
            owner[piece] = tail_chain[best]
            tail_moved[best] += nearest + moved[piece]
        else:
            best = oldest if tails == TAILS else tails
            tails = min(tails + 1, TAILS)
            owner[piece] = chains
            tail_chain[best] = chains
            tail_moved[best] = moved[piece]
            tail_start[best] = elapsed_of(values[first])
            chains += 1
        tail_piece[best] = piece
    touched = -1
    for piece in range(pieces):
        if owner[piece] >= 0:
            touched = owner[piece]
            break
    for i in range(values.size):
        if owner[fragment[i]] >= 0:
            touched = owner[fragment[i]]
        chain[i] = touched
    return chains


@numba.njit(cache=True, nogil=True)
def tracks_of(chain, chains, track):
    """Chains to tracks: the lowest track that is free when a chain begins. Returns how many tracks there are."""
    begin = np.full(chains, -1, np.int64)
    end = np.empty(chains, np.int64)
    for i in range(chain.size):
        if begin[chain[i]] < 0:
            begin[chain[i]] = i
        end[chain[i]] = i
    order = np.argsort(begin)
    busy_until = np.empty(chains, np.int64)
    tracks = 0
    for number in order:
        free = tracks
        for k in range(tracks):
            if busy_until[k] < begin[number]:
                free = k
                break
        busy_until[free] = end[number]
        tracks = max(tracks, free + 1)
        track[number] = free
    return tracks


@numba.njit(cache=True, nogil=True)
def sort_positions(values):
    """Insertion sort with a budget, then an ordinary one."""
    budget = 600 + 8 * values.size
    for i in range(1, values.size):
        x = values[i]
        j = i - 1
        while j >= 0 and values[j] > x:
            values[j + 1] = values[j]
            j -= 1
        values[j + 1] = x
        budget -= i - 1 - j
        if budget < 0:
            values.sort()
            return


@numba.njit(cache=True, nogil=True)
def unroll(values, chain, chains, positions, before, figures):
    """Every chain alone: positions from 0, the id before each one in its chain (-1), and the sums over the chains."""
    n = values.size
    last = np.full(chains, -1, np.int64)
    first_counter = np.zeros(chains, np.int64)
    low = np.zeros(chains, np.int64)
    high = np.zeros(chains, np.int64)
    sizes = np.zeros(chains, np.int64)
    risen = np.ones(chains, np.bool_)
    back = 0
    widest = 0
    for i in range(n):
        k = chain[i]
        counter = counter_of(values[i])
        previous = last[k]
        before[i] = previous
        sizes[k] += 1
        last[k] = i
        if previous < 0:
            first_counter[k] = counter
            positions[i] = 0
            continue
        s = step(counter_of(values[previous]), counter)
        if s <= 0:
            risen[k] = False
            if s < 0:
                back += 1
        positions[i] = positions[previous] + s
        low[k] = min(low[k], positions[i])
        high[k] = max(high[k], positions[i])
        widest = max(widest, elapsed_of(values[i]) - elapsed_of(values[previous]))
    produced = 0
    different = 0
    wraps = 0
    for k in range(chains):
        produced += high[k] - low[k] + 1
        wraps += ((first_counter[k] + high[k]) >> np.int64(COUNTER_SHIFT)) - ((first_counter[k] + low[k]) >> np.int64(COUNTER_SHIFT))
        if risen[k]:
            different += sizes[k]
    if not risen.all():
        starts = np.zeros(chains + 1, np.int64)
        for k in range(chains):
            starts[k + 1] = starts[k] + sizes[k]
        place = starts[:-1].copy()
        grouped = np.empty(n, np.int64)
        for i in range(n):
            grouped[place[chain[i]]] = positions[i]
            place[chain[i]] += 1
        for k in range(chains):
            if not risen[k]:
                part = grouped[starts[k] : starts[k + 1]]
                sort_positions(part)
                different += 1
                for i in range(1, part.size):
                    if part[i] != part[i - 1]:
                        different += 1
    figures[PRODUCED] = produced
    figures[POSITIONS] = different
    figures[WRAPS] = wraps
    figures[OUT_OF_ORDER] = back
    figures[WIDEST_GAP] = widest


@numba.njit(cache=True, nogil=True)
def points_of(values, chain, chains, positions, before, wraps, keep):
    """Marks the ids that a chart needs: ends of buckets, of chains, of the largest gaps, of wraps; lowest and highest."""
    n = values.size
    if n <= POINTS:
        keep[:n] = True
        return
    keep[:n] = False
    first = elapsed_of(values[0])
    width = (elapsed_of(values[n - 1]) - first) // BUCKETS + 1
    low = np.full(chains, -1, np.int64)
    high = np.full(chains, -1, np.int64)
    last = np.full(chains, -1, np.int64)
    gaps = 0
    for i in range(n):
        k = chain[i]
        previous = before[i]
        last[k] = i
        if previous < 0:
            keep[i] = True
            low[k] = high[k] = i
            continue
        if (elapsed_of(values[i]) - first) // width != (elapsed_of(values[previous]) - first) // width:
            keep[i] = keep[previous] = True
        if positions[i] < positions[low[k]]:
            low[k] = i
        if positions[i] > positions[high[k]]:
            high[k] = i
        moved = positions[i] - positions[previous]
        if moved > 1:
            gaps += 1
        if wraps <= DRAWN_WRAPS and moved > 0 and counter_of(values[i]) < counter_of(values[previous]):
            keep[i] = keep[previous] = True
    for k in range(chains):
        keep[low[k]] = keep[high[k]] = keep[last[k]] = True
    if gaps:
        widths = np.empty(gaps, np.int64)
        at = 0
        for i in range(n):
            if before[i] >= 0 and positions[i] - positions[before[i]] > 1:
                widths[at] = positions[i] - positions[before[i]]
                at += 1
        widths.sort()
        enough = widths[max(0, gaps - DRAWN_GAPS)]
        drawn = 0
        for i in range(n):
            if before[i] >= 0 and drawn < DRAWN_GAPS and positions[i] - positions[before[i]] >= max(enough, 2):
                keep[i] = keep[before[i]] = True
                drawn += 1


@numba.njit(cache=True, nogil=True)
def analyse(values, figures, chain, track, positions, before, keep):
    """All figures of one process. `track` is by chain; the other scratch arrays hold one entry an id. Returns the chains."""
    n = values.size
    chains = 1
    tracks = 1
    track[0] = 0
    if is_plain(values):
        chain[:n] = 0
    else:
        order = np.empty(n, np.int64)
        as_taken(values, order)
        taken = values[order]
        fragment = np.empty(n, np.int64)
        first_index = np.empty(n, np.int64)
        last_index = np.empty(n, np.int64)
        sizes = np.empty(n, np.int64)
        owner = np.empty(n, np.int64)
        repeats = np.empty(n, np.bool_)
        pieces, returns = fragments_of(taken, fragment, first_index, last_index, sizes, repeats)
        if returns >= RETURNS and returns >= pieces - 1:
            chains = link_fragments(taken, fragment, first_index, last_index, sizes, pieces, owner)
            tracks = tracks_of(owner, chains, track)
        else:
            chains = break_at_restarts(taken, fragment, first_index, repeats, pieces, owner)
            track[:chains] = 0
        for i in range(n):
            chain[order[i]] = owner[i]
    unroll(values, chain, chains, positions, before, figures)
    points_of(values, chain, chains, positions, before, figures[WRAPS], keep)
    figures[CHAINS] = chains
    figures[TRACKS] = tracks
    return chains
