"""Counters of one process cut into chains (one start of a process each) and tracks (processes alive at once).

All functions take the distinct ids of one process as sorted words `elapsed << 16 | counter`, all of them or the next
stretch. What they have to know of the ids before is an argument. The rules are in docs/explanation/counters.md;
`tests/scan/twin.py` is their slow twin.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from idcore.kernels import inlined, kernel

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

FIRST_AT, LAST_AT, SIZE, MOVED, FIRST_ID, LAST_ID = range(6)  # columns of a piece: places, ids, how far it has counted
PIECE_COLUMNS = 6
CHAIN, PIECE, BEGAN, BEFORE, POSITION, LOWEST, HIGHEST, PIECES, ALL_IDS = range(9)  # what breaks are judged by
BREAK_COLUMNS = 9


class OpenFragments(NamedTuple):
    """The pieces that the next id may go on with, by slot. `order`: slots, most recently touched first. `counts`:
    pieces so far, and how often one left behind was taken up with proof."""

    order: np.ndarray
    piece: np.ndarray
    counter_last: np.ndarray
    time_first: np.ndarray
    time_last: np.ndarray
    position: np.ndarray
    low: np.ndarray
    high: np.ndarray
    sizes: np.ndarray
    ring: np.ndarray
    counts: np.ndarray


@kernel
def nothing_living():
    """Before the first id."""
    return OpenFragments(
        np.full(RECENT, -1, np.int64),
        np.empty(RECENT, np.int64),
        np.empty(RECENT, np.int64),
        np.empty(RECENT, np.int64),
        np.empty(RECENT, np.int64),
        np.empty(RECENT, np.int64),
        np.empty(RECENT, np.int64),
        np.empty(RECENT, np.int64),
        np.empty(RECENT, np.int64),
        np.empty((RECENT, RING), np.int64),
        np.zeros(2, np.int64),
    )


@inlined
def counter_of(value):
    return np.int64(value & U(PERIOD - 1))


@inlined
def elapsed_of(value):
    return np.int64(value >> COUNTER_SHIFT)


@inlined
def step(before, after):
    """From one counter to the next: the difference modulo 65,536 that is nearest to 0, -32,768 included."""
    return ((after - before + HALF) & (PERIOD - 1)) - HALF


@kernel
def rises(values, before):
    """One process without a doubt: every counter is a little above the one before."""
    for i in range(values.size):
        after = counter_of(values[i])
        s = step(before, after)
        if s <= 0 or s > REACH:
            return False
        before = after
    return True


@kernel
def as_taken(values, order, before):
    """The order in which counters were taken: ids of one millisecond go on from the millisecond before.

    `before`: the counter taken in front of all, -1 where there is none.
    """
    n = values.size
    start = 0
    while start < n:
        stop = start + 1
        while stop < n and elapsed_of(values[stop]) == elapsed_of(values[start]):
            stop += 1
        cut = start
        if start > 0:
            before = counter_of(values[order[start - 1]])
        if before >= 0:
            floor = (before - DISORDER) & (PERIOD - 1)
            while cut < stop and counter_of(values[cut]) < floor:
                cut += 1
        for i in range(stop - start):
            order[start + i] = start + (cut - start + i) % (stop - start)
        start = stop


@kernel
def fragments_of(values, living, fragment, repeats):
    """Cuts the ids into rising pieces, numbered in the order of their first ids.

    repeats[i]: the id would have gone on with the piece touched last, had that not used its counter already.
    """
    order, piece_of, counter_last, time_first, time_last, position, low, high, sizes, ring, counts = living
    pieces, returns = counts[0], counts[1]
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
                for k in range(min(RING, sizes[slot])):
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
            sizes[slot] = 0
            pieces += 1
            time_first[slot] = elapsed
            position[slot] = low[slot] = high[slot] = 0
        else:
            slot = order[best]
            if best > 0 and not fits_last and sizes[slot] >= GROWN and sizes[order[0]] >= GROWN:
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
        counter_last[slot] = counter
        time_last[slot] = elapsed
        ring[slot, sizes[slot] % RING] = position[slot]
        sizes[slot] += 1
        fragment[i] = piece_of[slot]
    counts[0], counts[1] = pieces, returns


@kernel
def are_several(pieces, returns):
    """Whether returns to pieces left behind prove that processes were alive at once."""
    return returns >= RETURNS and returns >= pieces - 1


@kernel
def before_breaks(pieces, ids):
    """The state of `break_at_restarts` before the first id."""
    breaks = np.zeros(BREAK_COLUMNS, np.int64)
    breaks[PIECE] = breaks[BEFORE] = -1
    breaks[PIECES] = pieces
    breaks[ALL_IDS] = ids
    return breaks


@kernel
def break_at_restarts(values, fragment, repeats, breaks, chain):
    """One process at a time: a fall to a low counter that no wrap explains begins a new chain.

    Of `values` those are judged that have a fragment; one behind them, if there is one, is looked at.
    """
    number, piece, began, last = breaks[CHAIN], breaks[PIECE], breaks[BEGAN], breaks[BEFORE]
    position, low, high = breaks[POSITION], breaks[LOWEST], breaks[HIGHEST]
    few_pieces = 2 * (breaks[PIECES] - 1) <= breaks[ALL_IDS]
    for i in range(fragment.size):
        counter, elapsed = counter_of(values[i]), elapsed_of(values[i])
        is_first = fragment[i] > piece
        piece = max(piece, fragment[i])
        if last < 0:
            began = elapsed
            last = np.int64(values[i])
            chain[i] = number
            continue
        before, elapsed_before = counter_of(U(last)), elapsed_of(U(last))
        restart = False
        if is_first and counter <= before and counter < LOW and few_pieces:
            span = elapsed_before - began
            gap = elapsed - elapsed_before
            rate = (high - low) / span if span > 0 else 0.0
            restart = PERIOD - before + counter > WRAP_SLACK + RATE_SLACK * rate * (gap + LATE)
            if restart and not repeats[i] and gap <= FALL:
                restart = span > 0 and before - counter > DISORDER + rate * LATE
            if restart and i + 1 < values.size:
                after = counter_of(values[i + 1])
                restart = abs(step(counter, after)) <= abs(step(before, after))
        if restart:
            number += 1
            began = elapsed
            position = low = high = 0
        else:
            position += step(before, counter)
            low = min(low, position)
            high = max(high, position)
        last = np.int64(values[i])
        chain[i] = number
    breaks[CHAIN], breaks[PIECE], breaks[BEGAN], breaks[BEFORE] = number, piece, began, last
    breaks[POSITION], breaks[LOWEST], breaks[HIGHEST] = position, low, high


@kernel
def note_pieces(values, fragment, seen, pieces):
    """Adds ids to their pieces: rows of FIRST_AT and so on. `seen`: how many ids came before."""
    for i in range(fragment.size):
        row = pieces[fragment[i]]
        if row[SIZE] == 0:
            row[FIRST_AT] = seen + i
            row[FIRST_ID] = np.int64(values[i])
        else:
            row[MOVED] += step(counter_of(U(row[LAST_ID])), counter_of(values[i]))
        row[LAST_AT] = seen + i
        row[LAST_ID] = np.int64(values[i])
        row[SIZE] += 1


@kernel
def link_fragments(pieces, owner):
    """Several processes at once: grown fragments are linked into chains, others are not (-1). Returns the chains."""
    owner[:] = -1
    tail_piece = np.empty(TAILS, np.int64)  # the last fragment of a chain,
    tail_chain = np.empty(TAILS, np.int64)
    tail_moved = np.empty(TAILS, np.int64)  # how far the chain has counted,
    tail_start = np.empty(TAILS, np.int64)  # and since when
    tails = 0
    chains = 0
    for piece in range(owner.size):
        if pieces[piece, SIZE] < GROWN:
            continue
        first, first_id = pieces[piece, FIRST_AT], U(pieces[piece, FIRST_ID])
        best = -1
        nearest = PERIOD
        oldest = 0
        for k in range(tails):
            end, end_id = pieces[tail_piece[k], LAST_AT], U(pieces[tail_piece[k], LAST_ID])
            if end < pieces[tail_piece[oldest], LAST_AT]:
                oldest = k
            if end >= first:
                continue
            ahead = (counter_of(first_id) - counter_of(end_id)) & (PERIOD - 1)
            span = elapsed_of(end_id) - tail_start[k]
            rate = tail_moved[k] / span if span > 0 else 0.0
            explained = REACH + RATE_SLACK * rate * (elapsed_of(first_id) - elapsed_of(end_id))
            if ahead <= explained and ahead < nearest:
                nearest = ahead
                best = k
        if best >= 0:
            owner[piece] = tail_chain[best]
            tail_moved[best] += nearest + pieces[piece, MOVED]
        else:
            best = oldest if tails == TAILS else tails
            tails = min(tails + 1, TAILS)
            owner[piece] = chains
            tail_chain[best] = chains
            tail_moved[best] = pieces[piece, MOVED]
            tail_start[best] = elapsed_of(first_id)
            chains += 1
        tail_piece[best] = piece
    return chains


@kernel
def first_owner(owner):
    """The chain that ids join in front of all grown fragments."""
    for piece in range(owner.size):
        if owner[piece] >= 0:
            return owner[piece]
    return np.int64(-1)


@kernel
def join(fragment, owner, touched, chain):
    """The chain of each id; that of a small fragment is the one touched last, which is returned."""
    for i in range(fragment.size):
        if owner[fragment[i]] >= 0:
            touched = owner[fragment[i]]
        chain[i] = touched
    return touched


@kernel
def note_ends(chain, seen, ends):
    """Where chains begin and end; `ends` has rows of -1 before. `seen`: how many ids came before."""
    for i in range(chain.size):
        if ends[chain[i], 0] < 0:
            ends[chain[i], 0] = seen + i
        ends[chain[i], 1] = seen + i


@kernel
def tracks_of(ends, track):
    """Chains to tracks: the lowest track that is free when a chain begins. Returns how many tracks there are."""
    chains = ends.shape[0]
    order = np.argsort(ends[:, 0], kind="mergesort")
    busy_until = np.empty(chains, np.int64)
    tracks = 0
    for number in order:
        free = tracks
        for k in range(tracks):
            if busy_until[k] < ends[number, 0]:
                free = k
                break
        busy_until[free] = ends[number, 1]
        tracks = max(tracks, free + 1)
        track[number] = free
    return tracks
