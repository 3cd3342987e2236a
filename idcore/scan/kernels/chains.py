"""Counters of one process cut into chains (one start of a process each) and tracks (processes alive at once).

All functions take the distinct ids of one process as sorted words `elapsed << 16 | counter`. The rules are in
docs/explanation/counters.md; `tests/scan/twin.py` is their slow twin.
"""

from __future__ import annotations

import numba
import numpy as np

from .find import COUNTER_SHIFT

U = np.uint64
PERIOD = 1 << int(COUNTER_SHIFT)
HALF = PERIOD // 2
DISORDER = 64  # threads read the clock before they take the counter: neighbours may be this far back
REACH = 1024  # a counter this far ahead goes on with the same fragment
LOW = 1024  # a process that starts again is first seen with a counter below this
RECENT = 16  # so many fragments can be alive at once
GROWN = 3  # a fragment with fewer ids proves nothing
RETURNS = 4  # so many returns to a fragment left behind prove a second process
WRAP_SLACK = 1024  # a wrap may skip this many ids unseen,
RATE_SLACK = 4  # or this many times what the rate so far explains
LATE = 250  # ms that a thread may pause between its clock and its counter
FALL = 1000  # ms after which a lower counter is not a late thread any more
RING = 128  # the last positions of a fragment: an honest process takes none of them twice
TAILS = 64  # chains that a later fragment may go on with


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
    """The order in which counters were taken: ids of one millisecond go on from the millisecond before."""
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
    order = np.argsort(begin, kind="mergesort")
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
