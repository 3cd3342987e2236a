"""Runs of many tasks to figures: equal keys are merged, equal ids counted once, and every table row is computed.

A key's ids are in memory together while they are merged, and no longer.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from idcore.ids.client_time import FUTURE_MS
from idcore.ids.clock import MINUTE_MS, NO_TIME
from idcore.kernels import inlined, inner, kernel

from .chains import PERIOD, counter_of, elapsed_of
from .clients import BIG, CLIENT_EPOCH, LITTLE, NO_AHEAD, RUST, way_of_key
from .encode import decode, get, merge_sorted
from .find import COUNTER_SHIFT, SEQUENCE_SHIFT, is_early, swap_32
from .unroll import (
    DISTINCT,
    FIRST,
    FIRST_ELAPSED,
    IDS,
    LAST,
    LAST_ELAPSED,
    LAST_POSSIBLE,
    LAST_TIME,
    WHOLE_SECONDS,
    analyse,
)
from .vector import borrowed

U = np.uint64
SEGMENT_SHIFT = U(30)  # a commit log file holds 1 GiB by default (MessageStoreConfig.mappedFileSizeCommitLog)
BINS = 128
NOT_SENT = np.int64(NO_TIME)
CLOCKS_APART = np.int64(FUTURE_MS)


class MonthsOfKeys(NamedTuple):
    """When the ids of processes were generated. `latest`: the last elapsed that any month holds, and for little-endian
    ids. `spans`: the months of a key, if `edges` cut some for it, by elapsed: last elapsed, start of the month, its
    length. `before`, `after`: as in `month_inference.Dated`."""

    latest: np.ndarray
    edges: np.ndarray
    spans: np.ndarray
    before: np.ndarray
    after: np.ndarray


class ProcessRows(NamedTuple):
    """What the merge of processes fills. `bases`: the start of the first month of a key that has several, from which
    its time counts. `figures`: one row a key. `points`: key, time, position, track, chain, missing below, elapsed,
    counter, possible. `minutes`: key, minute, ids."""

    bases: np.ndarray
    figures: np.ndarray
    points: np.ndarray
    minutes: np.ndarray


class TimeOfClients(NamedTuple):
    """`ahead`: by how many minutes lines say that the seconds of a key are ahead of UTC, NO_AHEAD where they do not;
    then seconds in the future are of a local zone, which is `zone` minutes ahead where that is enough. `until`: when a
    line last had an id of the client. `months`: of `rust_sent`."""

    ahead: np.ndarray
    until: np.ndarray
    months: np.ndarray
    now: int
    zone: int


class ClientRows(NamedTuple):
    """What the merge of 5.x msgIds fills.

    `figures`: ids, distinct, first and last time in ms, least and greatest sequence, how its seconds are meant, and by
    how many minutes they are ahead of UTC. `minutes`: key, minute, ids.
    """

    figures: np.ndarray
    minutes: np.ndarray


class BrokerRows(NamedTuple):
    """What the merge of brokers fills. `figures`: ids, distinct, least, greatest, segments. `segments`: key, file, ids,
    distinct, least, greatest. `bins`: key, start, end, ids, distinct: 128 equal bins from the least to the greatest
    offset, empty ones left out."""

    figures: np.ndarray
    segments: np.ndarray
    bins: np.ndarray


@inner
def merge_runs(values, counts, bounds, runs, spare_values, spare_counts):
    """Sorted runs values[bounds[r]:bounds[r+1]] to one sorted run without repeats, in place. Returns its length."""
    total = bounds[runs]
    apart = True
    for run in range(1, runs):
        apart &= values[bounds[run] - 1] < values[bounds[run]]
    if apart:  # as those of a commit log are; then nothing spare is touched, nor paid for
        return total
    merged, merged_counts = merge_sorted(values, counts, bounds, runs, spare_values, spare_counts)
    kept = 0
    for i in range(total):
        if kept and values[kept - 1] == merged[i] and i:
            counts[kept - 1] += merged_counts[i]
        else:
            values[kept] = merged[i]
            counts[kept] = merged_counts[i]
            kept += 1
    return kept


@kernel
def room_for(largest, runs):
    """What the runs of one key are merged in: values and counts, spare ones, where each run begins."""
    return (
        np.empty(largest, np.uint64),
        np.empty(largest, np.int64),
        np.empty(largest, np.uint64),
        np.empty(largest, np.int64),
        np.empty(runs + 2, np.int64),
    )


@inlined
def has_room(runs, key):
    """Whether all runs of a key together have no more than `runs.largest` values."""
    ids = np.int64(0)
    for r in range(runs.edges[key], runs.edges[key + 1]):
        ids += runs.distinct[runs.order[r]]
    return ids <= runs.largest


@kernel
def load(runs, start, stop, room):
    """All runs of one key, merged into the first two arrays of `room`. Returns how many different values they hold."""
    values, counts, spare_values, spare_counts, bounds = room
    order, places, data = runs.order, runs.places, runs.data
    k2 = runs.key2[order[start]]
    if stop - start == 1:
        return decode(data, places[order[start]], runs.distinct[order[start]], k2, values, counts, 0)
    first = np.empty(stop - start, np.uint64)
    for r in range(start, stop):
        first[r - start], _ = get(data, places[order[r]])
    by_first = np.argsort(first, kind="mergesort")  # runs of one log seldom overlap
    at = 0
    for r in range(stop - start):
        bounds[r] = at
        group = order[start + by_first[r]]
        at = decode(data, places[group], runs.distinct[group], k2, values, counts, at)
    bounds[stop - start] = at
    return merge_runs(values, counts, bounds, stop - start, spare_values, spare_counts)


@inner
def run_on(values, counts, own_elapsed, n, spans):
    """Ids of several months in the order of time, which counts from the first month; impossible ones come last.

    Puts the elapsed of each into `own_elapsed`: months overlap in part, and the time alone does not give it. Returns
    the start of the first month, and where the impossible ones begin to count.
    """
    base = spans[0, 1]
    beyond = np.int64(0)
    for month in range(spans.shape[0]):
        base = min(base, spans[month, 1])
    for month in range(spans.shape[0]):
        beyond = max(beyond, spans[month, 1] + spans[month, 2] - base)
    month = 0
    for i in range(n):
        elapsed = elapsed_of(values[i])
        while month < spans.shape[0] - 1 and elapsed > spans[month, 0]:
            month += 1
        time = elapsed + (spans[month, 1] - base if elapsed < spans[month, 2] else beyond)
        own_elapsed[i] = elapsed
        values[i] = (U(time) << COUNTER_SHIFT) | U(counter_of(values[i]))
    order = np.argsort(values[:n], kind="mergesort")
    values[:n] = values[:n][order]
    counts[:n] = counts[:n][order]
    own_elapsed[:n] = own_elapsed[:n][order]
    return base, beyond


@kernel
def goes_on(first, low, high):
    """Whether the first id of a key follows those that lines date, of which these are the first and the last: the
    counter rises less from the last one to it than from it to the first one."""
    up = (counter_of(first) - counter_of(high)) & (PERIOD - 1)
    return up < ((counter_of(low) - counter_of(first)) & (PERIOD - 1))


@kernel
def ends_of(values, after):
    """The first and the last of sorted ids with an elapsed from the least to the greatest that lines date."""
    low = np.searchsorted(values, U(after[3]) << COUNTER_SHIFT)
    high = np.searchsorted(values, U(after[4] + 1) << COUNTER_SHIFT) - 1
    return values[min(low, values.size - 1)], values[max(high, 0)]


@kernel
def months_of(key, last_elapsed, is_after, dates):
    """The months of a key; of one that has a single month the one before it as well, where later ids are in that, and
    the one after it, where `is_after`."""
    own = dates.spans[dates.edges[key] : dates.edges[key + 1]]
    is_before = own.shape[0] == 1 and last_elapsed > dates.before[key, 0]
    if not (is_before or is_after):
        return own
    months = np.empty((1 + is_before + is_after, 3), np.int64)
    at = np.int64(is_after)
    if is_after:
        months[0] = dates.after[key, :3]
    months[at, 0] = dates.before[key, 0] if is_before else np.int64(1) << 62
    months[at, 1:] = own[0, 1:]
    if is_before:
        months[at + 1, 0] = np.int64(1) << 62
        months[at + 1, 1:] = dates.before[key, 1:]
    return months


@kernel
def merge_processes(runs, dates, out, filled):
    """The msgIds, from the key `filled` on, up to one with more than `runs.largest`. Time counts from the first month
    of a key. Returns the keys that are done, and the rows of points and minutes."""
    runs, dates, out = borrowed(runs), borrowed(dates), borrowed(out)
    order, edges, figures, points, minutes = runs.order, runs.edges, out.figures, out.points, out.minutes
    largest = runs.largest
    room = room_for(largest, order.size)
    values, counts, own_elapsed = room[0], room[1], room[3]
    chain = np.empty(largest, np.int64)
    track = np.empty(largest, np.int64)
    positions = np.empty(largest, np.int64)
    gap = np.empty(largest, np.int64)
    keep = np.empty(largest, np.bool_)
    point = minute_row = 0
    for key in range(filled, edges.size - 1):
        if not has_room(runs, key):
            return key, point, minute_row
        n = load(runs, edges[key], edges[key + 1], room)
        if point + n > points.shape[0] or minute_row + n > minutes.shape[0]:
            return key, point, minute_row
        row = figures[key]
        is_after = False
        if elapsed_of(values[0]) <= dates.after[key, 0]:
            low, high = ends_of(values[:n], dates.after[key])
            is_after = goes_on(values[0], low, high)
        own = months_of(key, elapsed_of(values[n - 1]), is_after, dates)
        months = own.shape[0]
        base = beyond = np.int64(0)
        if months > 1:
            base, beyond = run_on(values, counts, own_elapsed, n, own)
            out.bases[key] = base
        analyse(values[:n], row, chain[:n], track, positions, gap, keep)
        little = is_early(runs.key2[order[edges[key]]])
        limit = dates.latest[1] if little else dates.latest[0]
        if months > 0:
            limit = own[0, 2] - 1
        ids = 0
        last_possible = last_time = elapsed = -1
        whole = 1
        minute_end = NO_TIME
        for i in range(n):
            ids += counts[i]
            time = elapsed_of(values[i])
            if months <= 1:
                elapsed = time
                possible = elapsed <= limit
            else:
                elapsed = own_elapsed[i]
                possible = time < beyond
            if i == 0:
                row[FIRST_ELAPSED] = elapsed
            if whole and elapsed % 1000 != 0:
                whole = 0
            if possible:
                last_possible = elapsed
                last_time = time
                if time >= minute_end:
                    minute_end = (time // MINUTE_MS + 1) * MINUTE_MS
                    minutes[minute_row, 0] = key
                    minutes[minute_row, 1] = time // MINUTE_MS
                    minutes[minute_row, 2] = 0
                    minute_row += 1
                minutes[minute_row - 1, 2] += counts[i]
            if keep[i]:
                points[point, 0] = key
                points[point, 1] = time
                points[point, 2] = positions[i]
                points[point, 3] = track[chain[i]]
                points[point, 4] = chain[i]
                points[point, 5] = gap[i]
                points[point, 6] = elapsed
                points[point, 7] = counter_of(values[i])
                points[point, 8] = possible
                point += 1
        row[DISTINCT] = n
        row[IDS] = ids
        row[FIRST] = np.int64(values[0])
        row[LAST] = np.int64(values[n - 1])
        row[LAST_POSSIBLE] = last_possible
        row[LAST_TIME] = last_time
        row[LAST_ELAPSED] = elapsed
        row[WHOLE_SECONDS] = whole
    return edges.size - 1, point, minute_row


@inner
def rust_sent(elapsed, until, months):
    """When an id with these milliseconds of a month in UTC was generated, not after `until`; months: start, longest
    elapsed, newest first."""
    for month in range(months.shape[0]):
        sent = months[month, 0] + elapsed
        if sent <= until and elapsed < months[month, 1]:
            return sent
    return NOT_SENT


@kernel
def merge_clients(runs, time, out, filled):
    """The 5.x msgIds, from the key `filled` on. Returns the keys that are done, and the rows of minutes."""
    runs, time, out = borrowed(runs), borrowed(time), borrowed(out)
    edges, minutes, largest = runs.edges, out.minutes, runs.largest
    room = room_for(largest, runs.order.size)
    values, counts = room[0], room[1]
    minute_row = 0
    mask = (U(1) << SEQUENCE_SHIFT) - U(1)
    for key in range(filled, edges.size - 1):
        if minute_row + largest > minutes.shape[0]:
            return key, minute_row
        start, stop = edges[key], edges[key + 1]
        way = way_of_key(runs, start, stop, values, counts)
        n = load(runs, start, stop, room)
        minutes_ahead = time.ahead[key] if way == BIG else np.int64(0)
        if minutes_ahead == NO_AHEAD:
            last = CLIENT_EPOCH + np.int64(values[n - 1] >> SEQUENCE_SHIFT) * 1_000
            minutes_ahead = local_ahead(last, time.now, time.zone)
        ids = 0
        minute = NOT_SENT
        row = out.figures[key]
        row[2] = row[4] = np.int64(1) << 62
        row[3] = row[5] = -(np.int64(1) << 62)
        for i in range(n):
            ids += counts[i]
            seconds, sequence = values[i] >> SEQUENCE_SHIFT, values[i] & mask
            if way == LITTLE:
                seconds = swap_32(seconds)
            row[4] = min(row[4], np.int64(sequence))
            row[5] = max(row[5], np.int64(sequence))
            if way == RUST:
                sent = rust_sent(np.int64(seconds), time.until[key], time.months)
            else:
                sent = CLIENT_EPOCH + np.int64(seconds) * 1_000 - minutes_ahead * MINUTE_MS
            if sent == NOT_SENT:
                continue
            row[2] = min(row[2], sent)
            row[3] = max(row[3], sent)
            if sent // MINUTE_MS != minute:
                minute = sent // MINUTE_MS
                minutes[minute_row, 0] = key
                minutes[minute_row, 1] = minute
                minutes[minute_row, 2] = 0
                minute_row += 1
            minutes[minute_row - 1, 2] += counts[i]
        row[0] = ids
        row[1] = n
        row[6] = way
        row[7] = minutes_ahead
    return edges.size - 1, minute_row


@kernel
def local_ahead(last, now, zone):
    """The minutes by which seconds that are in the future are ahead of UTC: `zone`, or as few hours as are enough."""
    over = last - now - CLOCKS_APART
    if over <= 0:
        return np.int64(0)
    minutes = zone if zone * MINUTE_MS >= over else -(-over // (60 * MINUTE_MS)) * 60
    return minutes if minutes <= 840 else np.int64(0)


@kernel
def merge_brokers(runs, out, filled):
    """The offsetMsgIds, from the key `filled` on. Returns the keys that are done, and the rows of segments and bins."""
    runs, out = borrowed(runs), borrowed(out)
    edges, figures, segments, bins = runs.edges, out.figures, out.segments, out.bins
    room = room_for(runs.largest, runs.order.size)
    values, counts = room[0], room[1]
    segment_row = bin_row = 0
    for key in range(filled, edges.size - 1):
        n = load(runs, edges[key], edges[key + 1], room)
        if segment_row + n > segments.shape[0] or bin_row + min(n, BINS) > bins.shape[0]:
            return key, segment_row, bin_row
        least = np.int64(values[0])
        width = (np.int64(values[n - 1]) - least) // BINS + 1
        ids = 0
        files = 0
        file_end = bin_end = least
        stop = 0
        while stop < n:
            start, offset = stop, np.int64(values[stop])
            if offset >= file_end:
                file = offset >> np.int64(SEGMENT_SHIFT)
                file_end = (file + 1) << np.int64(SEGMENT_SHIFT)
                files += 1
                segments[segment_row, 0] = key
                segments[segment_row, 1] = file
                segments[segment_row, 2] = 0
                segments[segment_row, 3] = 0
                segments[segment_row, 4] = offset
                segment_row += 1
            if offset >= bin_end:
                begin = least + (offset - least) // width * width
                bin_end = begin + width
                bins[bin_row, 0] = key
                bins[bin_row, 1] = begin
                bins[bin_row, 2] = bin_end
                bins[bin_row, 3] = 0
                bins[bin_row, 4] = 0
                bin_row += 1
            end = U(min(file_end, bin_end))
            together = np.int64(0)
            while stop < n and values[stop] < end:
                together += counts[stop]
                stop += 1
            segments[segment_row - 1, 2] += together
            segments[segment_row - 1, 3] += stop - start
            segments[segment_row - 1, 5] = np.int64(values[stop - 1])
            bins[bin_row - 1, 3] += together
            bins[bin_row - 1, 4] += stop - start
            ids += together
        figures[key, 0] = ids
        figures[key, 1] = n
        figures[key, 2] = least
        figures[key, 3] = np.int64(values[n - 1])
        figures[key, 4] = files
    return edges.size - 1, segment_row, bin_row
