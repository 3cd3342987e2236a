"""The chains of one process unrolled: positions, the sums over all chains, and the points a chart needs."""

from __future__ import annotations

import numpy as np

from idcore.kernels import inlined, inner, kernel

from .chains import (
    CHAIN,
    PERIOD,
    PIECE_COLUMNS,
    REACH,
    are_several,
    as_taken,
    before_breaks,
    break_at_restarts,
    counter_of,
    elapsed_of,
    first_owner,
    fragments_of,
    join,
    link_fragments,
    note_ends,
    note_pieces,
    nothing_living,
    step,
    tracks_of,
)
from .encode import sort_nearly
from .find import COUNTER_SHIFT

U = np.uint64
POINTS = 1500  # a process with no more ids than this is drawn whole
BUCKETS = 256
DRAWN_GAPS = 100
DRAWN_WRAPS = 256
NEAR = 16  # so many places are tried one by one before a position is looked for by halves

FIGURES = 16  # columns of a process's figures:
DISTINCT, IDS, FIRST, LAST, LAST_POSSIBLE, PRODUCED, POSITIONS = range(7)
WRAPS, OUT_OF_ORDER, CHAINS, TRACKS, WIDEST_GAP, WHOLE_SECONDS = range(7, 13)
FIRST_ELAPSED, LAST_ELAPSED, LAST_TIME = range(13, FIGURES)


@inner
def unroll_rising(values, chain, positions, gap, figures):
    """The same of one process without a doubt: every counter is a little above the one before.

    False of another, which `unroll` has to do from its beginning.
    """
    before, earlier = counter_of(values[0]), elapsed_of(values[0])
    chain[0] = positions[0] = gap[0] = 0
    position = wraps = widest = 0
    for i in range(1, values.size):
        after, elapsed = counter_of(values[i]), elapsed_of(values[i])
        s = step(before, after)
        if s <= 0 or s > REACH:
            return False
        wraps += after < before
        widest = max(widest, elapsed - earlier)
        position += s
        chain[i] = 0
        positions[i] = position
        gap[i] = s - 1
        before, earlier = after, elapsed
    figures[PRODUCED] = position + 1
    figures[POSITIONS] = values.size
    figures[WRAPS] = wraps
    figures[OUT_OF_ORDER] = 0
    figures[WIDEST_GAP] = widest
    return True


@kernel
def unroll(values, chain, chains, positions, gap, figures):
    """Every chain alone: positions from 0, the ids missing right below each one in its chain, sums over the chains."""
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
        sizes[k] += 1
        last[k] = i
        if previous < 0:
            first_counter[k] = counter
            positions[i] = gap[i] = 0
            continue
        s = step(counter_of(values[previous]), counter)
        if s <= 0:
            risen[k] = False
            if s < 0:
                back += 1
        gap[i] = s - 1
        positions[i] = positions[previous] + s
        low[k] = min(low[k], positions[i])
        high[k] = max(high[k], positions[i])
        widest = max(widest, elapsed_of(values[i]) - elapsed_of(values[previous]))
    produced = 0
    different = 0
    wraps = 0
    for k in range(chains):
        produced += high[k] - low[k] + 1
        wraps += ((first_counter[k] + high[k]) >> np.int64(COUNTER_SHIFT)) - (
            (first_counter[k] + low[k]) >> np.int64(COUNTER_SHIFT)
        )
        if risen[k]:
            different += sizes[k]
    if not risen.all():
        different += gaps_of_unordered(chain, sizes, risen, positions, gap)
    figures[PRODUCED] = produced
    figures[POSITIONS] = different
    figures[WRAPS] = wraps
    figures[OUT_OF_ORDER] = back
    figures[WIDEST_GAP] = widest


@inner
def gaps_of_unordered(chain, sizes, risen, positions, gap):
    """The gaps of chains that have ids out of order, by position; of equal positions the first has it.

    Returns how many different positions these chains have.
    """
    n = chain.size
    chains = sizes.size
    starts = np.zeros(chains + 1, np.int64)
    for k in range(chains):
        starts[k + 1] = starts[k] + sizes[k]
    place = starts[:-1].copy()
    grouped = np.empty(n, np.int64)
    for i in range(n):
        grouped[place[chain[i]]] = positions[i]
        place[chain[i]] += 1
    different = 0
    whole = np.ones(chains, np.bool_)
    for k in range(chains):
        place[k] = starts[k]
        if risen[k]:
            continue
        part = grouped[starts[k] : starts[k + 1]]
        sort_nearly(part, 0, part.size)
        mine = 1
        for i in range(1, part.size):
            if part[i] != part[i - 1]:
                mine += 1
        whole[k] = mine == part[part.size - 1] - part[0] + 1
        different += mine
    told = np.zeros(n, np.bool_)
    for i in range(n):
        k = chain[i]
        if risen[k]:
            continue
        gap[i] = 0
        if whole[k]:
            continue
        at = place_of(grouped, starts[k], starts[k + 1], place[k], positions[i])
        place[k] = at
        if at > starts[k] and not told[at]:
            told[at] = True
            gap[i] = positions[i] - grouped[at - 1] - 1
    return different


@inlined
def place_of(ordered, start, stop, near, wanted):
    """The first place of a value that is there, looked for from a place where it may be."""
    at = near
    for _ in range(NEAR):
        if ordered[at] < wanted:
            at += 1
        elif at > start and ordered[at - 1] >= wanted:
            at -= 1
        else:
            return at
    return start + np.searchsorted(ordered[start:stop], wanted)


@kernel
def points_of(values, chain, chains, positions, gap, wraps, keep):
    """Marks the ids a chart needs: ends of buckets, chains, largest gaps and wraps; lowest and highest.

    Where not all ids are kept, `gap` is cleared but for the widest.
    """
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
    bucket_of = np.empty(chains, np.int64)  # of the last id of each chain
    bucket = 0
    bucket_end = first + width
    for i in range(n):
        k = chain[i]
        elapsed = elapsed_of(values[i])
        if elapsed >= bucket_end:
            bucket = (elapsed - first) // width
            bucket_end = first + (bucket + 1) * width
        previous = last[k]
        last[k] = i
        if previous < 0:
            keep[i] = True
            low[k] = high[k] = i
            bucket_of[k] = bucket
            continue
        if bucket != bucket_of[k]:
            keep[i] = keep[previous] = True
            bucket_of[k] = bucket
        if positions[i] < positions[low[k]]:
            low[k] = i
        if positions[i] > positions[high[k]]:
            high[k] = i
        moved = positions[i] - positions[previous]
        if wraps <= DRAWN_WRAPS and moved > 0 and counter_of(values[i]) < counter_of(values[previous]):
            keep[i] = keep[previous] = True
    for k in range(chains):
        keep[low[k]] = keep[high[k]] = keep[last[k]] = True
    keep_widest(chain, positions, gap, keep)


@inner
def points_of_rising(values, chain, positions, gap, figures, keep):
    """The same of a process that `unroll_rising` has done: both sides of what is marked are looked for by halves."""
    n, wraps = values.size, figures[WRAPS]
    if n <= POINTS:
        keep[:n] = True
        return
    keep[:n] = False
    keep[0] = keep[n - 1] = True
    first = elapsed_of(values[0])
    width = (elapsed_of(values[n - 1]) - first) // BUCKETS + 1
    at = 0
    while True:
        bucket = (elapsed_of(values[at]) - first) // width
        at = np.searchsorted(values, U(first + (bucket + 1) * width) << COUNTER_SHIFT)
        if at == n:
            break
        keep[at] = keep[at - 1] = True
    if wraps <= DRAWN_WRAPS:
        begin = counter_of(values[0])
        for wrap in range(1, wraps + 1):
            at = np.searchsorted(positions[:n], wrap * PERIOD - begin)
            keep[at] = keep[at - 1] = True
    if figures[PRODUCED] > n:
        keep_widest(chain, positions, gap, keep)


@inner
def keep_widest(chain, positions, gap, keep):
    """Marks both sides of the widest gaps, of equal ones the first in time, and clears all others."""
    n = chain.size
    gaps = 0
    for i in range(n):
        gaps += gap[i] > 0
    if not gaps:
        return
    widths = np.empty(gaps, np.int64)
    at = 0
    for i in range(n):
        if gap[i] > 0:
            widths[at] = gap[i]
            at += 1
    widths.sort()
    enough = widths[max(0, gaps - DRAWN_GAPS)]
    equal = 0  # of those as wide as the narrowest so many are drawn
    for place in range(max(0, gaps - DRAWN_GAPS), gaps):
        equal += widths[place] == enough
    for i in range(n):
        if gap[i] <= 0:
            continue
        if gap[i] == enough:
            equal -= 1
        if gap[i] < enough or (gap[i] == enough and equal < 0):
            gap[i] = 0
            continue
        keep[i] = True
        below = below_of(chain, positions, i, positions[i] - gap[i] - 1)
        keep[below] = True


@inner
def below_of(chain, positions, i, wanted):
    """The id of the same chain at a position: mostly the one in front of `i`."""
    for far in range(1, chain.size):
        j = i - far
        if j >= 0 and chain[j] == chain[i] and positions[j] == wanted:
            return j
        j = i + far
        if j < chain.size and chain[j] == chain[i] and positions[j] == wanted:
            return j
    return i


@inner
def analyse(values, figures, chain, track, positions, gap, keep):
    """All figures of one process. `track` is by chain, the other scratch arrays by id. Returns the chains."""
    n = values.size
    chains = 1
    tracks = 1
    track[0] = 0
    if n == 1:  # as those of most processes of a sampled log
        chain[0] = positions[0] = gap[0] = 0
        keep[0] = True
        figures[PRODUCED] = figures[POSITIONS] = figures[CHAINS] = figures[TRACKS] = 1
        figures[WRAPS] = figures[OUT_OF_ORDER] = figures[WIDEST_GAP] = 0
        return chains
    if unroll_rising(values, chain, positions, gap, figures):
        figures[CHAINS] = figures[TRACKS] = 1
        points_of_rising(values, chain, positions, gap, figures, keep)
        return chains
    order = np.empty(n, np.int64)
    as_taken(values, order, -1)
    taken = values[order]
    fragment = np.empty(n, np.int64)
    owner = np.empty(n, np.int64)
    repeats = np.empty(n, np.bool_)
    living = nothing_living()
    fragments_of(taken, living, fragment, repeats)
    count, returns = living.counts[0], living.counts[1]
    if are_several(count, returns):
        pieces = np.zeros((count, PIECE_COLUMNS), np.int64)
        note_pieces(taken, fragment, 0, pieces)
        owners = np.empty(count, np.int64)
        chains = link_fragments(pieces, owners)
        join(fragment, owners, first_owner(owners), owner)
        ends = np.full((chains, 2), -1, np.int64)
        note_ends(owner, 0, ends)
        tracks = tracks_of(ends, track)
    else:
        breaks = before_breaks(count, n)
        break_at_restarts(taken, fragment, repeats, breaks, owner)
        chains = breaks[CHAIN] + 1
        track[:chains] = 0
    for i in range(n):
        chain[order[i]] = owner[i]
    unroll(values, chain, chains, positions, gap, figures)
    points_of(values, chain, chains, positions, gap, figures[WRAPS], keep)
    figures[CHAINS] = chains
    figures[TRACKS] = tracks
    return chains
