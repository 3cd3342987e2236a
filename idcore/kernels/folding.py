"""Packed runs of many tasks, taken apart again: every id as often as it occurred, with its paired offset."""

from __future__ import annotations

import numpy as np

from idcore.kernels import kernel
from idcore.kernels.encode import decode, get
from idcore.kernels.paired_offsets import OFFSET_BITS, paired_of
from idcore.kernels.vector import borrowed

U = np.uint64


@kernel
def firsts_of(data, places):
    """The first value of each run."""
    firsts = np.empty(places.size, np.uint64)
    for run in range(places.size):
        firsts[run], _ = get(data, places[run])
    return firsts


@kernel
def sizes_of(runs, sizes):
    """How often the ids of each key occurred, into `sizes`. Returns the most of any run, and its most values."""
    runs = borrowed(runs)
    largest = max(np.int64(1), np.int64(runs.largest))
    values = np.empty(largest, np.uint64)
    counts = np.empty(largest, np.int64)
    most = np.int64(1)
    for key in range(sizes.size):
        for r in range(runs.edges[key], runs.edges[key + 1]):
            group = runs.order[r]
            size = runs.distinct[group]
            decode(runs.data, runs.places[group], size, runs.key2[group], values, counts, 0)
            ids = counts[:size].sum()
            sizes[key] += ids
            most = max(most, ids)
    return most, largest


@kernel
def spread(runs, packed, room, values, counts, grouped, unsorted):
    """Fills values, paired offsets and `has_paired` of `grouped`; `unsorted`: the keys whose ids are not in order."""
    runs, packed, room, grouped = borrowed(runs), borrowed(packed), borrowed(room), borrowed(grouped)
    for key in range(unsorted.size):
        place = grouped.starts[key]
        last = U(0)
        for r in range(runs.edges[key], runs.edges[key + 1]):
            group = runs.order[r]
            size = runs.distinct[group]
            decode(runs.data, runs.places[group], size, runs.key2[group], values, counts, 0)
            pairs = 0
            if packed.places[group] >= 0:
                grouped.has_paired[key] = True
                pairs = paired_of(group, values[:size], packed, room, 0)
            if values[0] < last:
                unsorted[key] = True
            last = values[size - 1]
            at = 0
            for i in range(size):
                left = counts[i]
                while at < pairs and room.ids[at] == values[i]:
                    word = (U(room.pairs[at, 0] + 1) << OFFSET_BITS) | U(room.pairs[at, 1])
                    for _ in range(room.pairs[at, 2]):
                        grouped.values[place] = values[i]
                        grouped.paired[place] = word
                        place += 1
                        left -= 1
                    at += 1
                for _ in range(left):
                    grouped.values[place] = values[i]
                    place += 1
