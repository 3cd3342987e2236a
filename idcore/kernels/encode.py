"""Ids of one task, grouped by process or broker, to sorted runs of deltas and back. Nothing is lost.

A run: its first value, then for each further value a step. Every value is followed by how often it occurred when that
is more than once. All numbers are varints (7 bits a byte, low bits first).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from idcore.kernels import inlined, inner, kernel

from .codes import CODE_SHIFT, IPV6, OFFSETS
from .find import (
    COUNTER_SHIFT,
    SEQUENCE_SHIFT,
    WORD,
    hash_of,
    is_client,
    is_offset,
    swap_32,
)
from .vector import borrowed, will_write

U = np.uint64
AHEAD = 128  # bytes that a group asks for before it writes them
IPV6_OFFSETS = IPV6 & OFFSETS
PARTS = 64  # groups are dealt to this many parts, by host or broker; a part is merged by one task


class Groups(NamedTuple):
    """The ids of one task by their keys: `starts` cut the values into groups; which of these are out of order."""

    values: np.ndarray
    starts: np.ndarray
    keys: np.ndarray
    unsorted: np.ndarray


class PackedRuns(NamedTuple):
    """Packed runs of many keys: `edges` cut `order` into the runs of each. Of each run its key's third word, its
    different values, its place in `data`. `largest`: the different values of the runs of any key, added up."""

    order: np.ndarray
    edges: np.ndarray
    key2: np.ndarray
    distinct: np.ndarray
    places: np.ndarray
    data: np.ndarray
    largest: int


@inlined
def low_bits(k2):
    """How many low bits of a value are its counter (uniq), its sequence (client), or none (offset)."""
    if is_offset(k2):
        return U(0)
    return SEQUENCE_SHIFT if is_client(k2) else COUNTER_SHIFT


@kernel
def part_of(k0, k1, k2):
    """All processes of a host, all ids of a broker, and little-endian ids that look like one, are in one part."""
    third = k2 if IPV6_OFFSETS >> (k2 >> CODE_SHIFT) & U(1) else U(0)
    first = min(k1, swap_32(k1)) if k0 == U(0) and k1 <= WORD else k1
    return np.int64(hash_of(k0, first, third) >> U(40)) % PARTS


@kernel
def groups_of(table, words, keys, sizes, unsorted, parts):
    """By slot: how many ids a key has, whether they came out of order, the part it belongs to."""
    for row in range(table.shape[0]):
        if table[row, 2] != U(0):
            slot = np.int64(table[row, 3])
            sizes[slot] = np.int64(table[row, 4])
            unsorted[slot] = table[row, 6] != U(0)
    for slot in range(keys):
        parts[slot] = part_of(words[slot, 0], words[slot, 1], words[slot, 2])


@kernel
def parts_of(words, parts):
    for row in range(words.shape[0]):
        parts[row] = part_of(words[row, 0], words[row, 1], words[row, 2])


@kernel
def hashes_of(rows):
    """One word for the four that a row begins with."""
    hashes = np.empty(rows.shape[0], np.uint64)
    for row in range(rows.shape[0]):
        hashes[row] = hash_of(rows[row, 0], rows[row, 1], rows[row, 2] ^ (rows[row, 3] * U(0x9FB21C651E98DF25)))
    return hashes


@kernel
def fold(rows, order, out):
    """Neighbours in `order` that begin with the same four words as one: the least fifth, the greatest sixth word."""
    count = 0
    for at in order:
        last = count - 1
        if count and (
            rows[at, 0] == out[last, 0]
            and rows[at, 1] == out[last, 1]
            and rows[at, 2] == out[last, 2]
            and rows[at, 3] == out[last, 3]
        ):
            out[last, 4] = min(out[last, 4], rows[at, 4])
            out[last, 5] = max(out[last, 5], rows[at, 5])
        else:
            for word in range(6):
                out[count, word] = rows[at, word]
            count += 1
    return count


@kernel
def scatter(values, slots, n, positions, out):
    """Every value to its group. There are more of them than streams a processor foresees, so each asks in advance."""
    to = U(out.ctypes.data)
    for i in range(n):
        slot = slots[i]
        place = positions[slot]
        positions[slot] = place + 1
        out[place] = values[i]
        will_write(to + U(8 * place + AHEAD))


@inner
def sort_nearly(values, start, stop):
    """Insertion sort with a budget, then an ordinary one: log lines are nearly in order."""
    budget = 600 + 8 * (stop - start)
    for i in range(start + 1, stop):
        x = values[i]
        j = i - 1
        while j >= start and values[j] > x:
            values[j + 1] = values[j]
            j -= 1
        values[j + 1] = x
        budget -= i - 1 - j
        if budget < 0:
            values[start:stop].sort()
            return


@inner
def merge_sorted(values, more, bounds, runs, spare_values, spare_more):
    """Sorted runs values[bounds[r]:bounds[r+1]] to one, with what else each value has; equal ones as they come.

    Returns the arrays that have them: these, or the spare ones.
    """
    a, am, b, bm = values, more, spare_values, spare_more
    while runs > 1:
        write = 0
        at = 0
        read = 0
        while read < runs:
            i, i_end = bounds[read], bounds[read + 1]
            if read + 1 < runs:
                j, j_end = bounds[read + 1], bounds[read + 2]
                if a[i_end - 1] > a[j]:
                    while i < i_end and j < j_end:
                        if a[i] <= a[j]:
                            b[at] = a[i]
                            bm[at] = am[i]
                            i += 1
                        else:
                            b[at] = a[j]
                            bm[at] = am[j]
                            j += 1
                        at += 1
                while i < i_end:
                    b[at] = a[i]
                    bm[at] = am[i]
                    i += 1
                    at += 1
                while j < j_end:
                    b[at] = a[j]
                    bm[at] = am[j]
                    j += 1
                    at += 1
            else:
                while i < i_end:
                    b[at] = a[i]
                    bm[at] = am[i]
                    i += 1
                    at += 1
            write += 1
            bounds[write] = at
            read += 2
        runs = write
        a, b = b, a
        am, bm = bm, am
    return a, am


@kernel
def sort_runs(values, more, bounds, spare_values, spare_more):
    """Values that rise in runs, as those of several tasks, to sorted ones, with what else each has. `bounds` has room
    for one run more than there are values. Returns the arrays that have them."""
    runs = 0
    bounds[0] = 0
    for i in range(1, values.size):
        if values[i - 1] > values[i]:
            runs += 1
            bounds[runs] = i
    bounds[runs + 1] = values.size
    return merge_sorted(values, more, bounds, runs + 1, spare_values, spare_more)


@inlined
def put(out, place, number):
    while number >= U(128):
        out[place] = np.uint8((number & U(127)) | U(128))
        number >>= U(7)
        place += 1
    out[place] = np.uint8(number)
    return place + 1


@inlined
def get(data, place):
    number = U(0)
    shift = U(0)
    while True:
        byte = U(data[place])
        place += 1
        number |= (byte & U(127)) << shift
        if byte < U(128):
            return number, place
        shift += U(7)


@kernel
def ends_in_00(data, place, distinct):
    """How many different offsets of a run end in 00."""
    value, place = get(data, place)
    _, place = get(data, place)
    count = np.int64(value & U(0xFF) == U(0))
    for _ in range(distinct - 1):
        step, place = get(data, place)
        value += step >> U(1)
        if step & U(1):
            _, place = get(data, place)
        count += np.int64(value & U(0xFF) == U(0))
    return count


@kernel
def encode(groups, order, distinct, lengths, out):
    """Groups in `order` to runs in `out`; sorts each group in place. Returns the bytes written."""
    groups = borrowed(groups)
    values = groups.values
    place = 0
    for index in range(order.size):
        group = order[index]
        start, stop = groups.starts[group], groups.starts[group + 1]
        if groups.unsorted[group]:
            sort_nearly(values, start, stop)
        shift = low_bits(groups.keys[group, 2])
        mask = (U(1) << shift) - U(1)
        begin = place
        last = U(0)
        count = 0
        i = start
        while i < stop:
            x = values[i]
            i += 1
            repeats = U(0)
            while i < stop and values[i] == x:
                repeats += U(1)
                i += 1
            again = U(1) if repeats else U(0)
            if count == 0:
                place = put(out, place, x)
                place = put(out, place, repeats)
            elif shift == U(0):
                place = put(out, place, ((x - last) << U(1)) | again)
                if again:
                    place = put(out, place, repeats)
            else:
                step = (x >> shift) - (last >> shift)
                jump = np.int64(x & mask) - np.int64(last & mask) - 1
                place = put(out, place, (step << U(2)) | (again << U(1)) | (U(1) if jump != 0 else U(0)))
                if jump != 0:
                    place = put(out, place, U((jump << 1) ^ (jump >> 63)))
                if again:
                    place = put(out, place, repeats)
            last = x
            count += 1
        distinct[index] = count
        lengths[index] = place - begin
    return place


@inlined
def next_of(data, place, value, shift, mask):
    """The value behind another of a run, how often it is repeated, and where its step ends."""
    step, place = get(data, place)
    repeats = U(0)
    if shift == U(0):
        value += step >> U(1)
        if step & U(1):
            repeats, place = get(data, place)
    else:
        low = (value & mask) + U(1)
        if step & U(1):
            jump, place = get(data, place)
            low += (jump >> U(1)) ^ (U(0) - (jump & U(1)))
        if step & U(2):
            repeats, place = get(data, place)
        value = (((value >> shift) + (step >> U(2))) << shift) | (low & mask)
    return value, repeats, place


@kernel
def decode(data, place, distinct, k2, values, counts, at):
    """`distinct` values of one run and how often each occurred, to values[at:], counts[at:]. Returns the end."""
    shift = low_bits(k2)
    mask = (U(1) << shift) - U(1)
    value, place = get(data, place)
    repeats, place = get(data, place)
    values[at] = value
    counts[at] = np.int64(repeats) + 1
    at += 1
    for _ in range(distinct - 1):
        value, repeats, place = next_of(data, place, value, shift, mask)
        values[at] = value
        counts[at] = np.int64(repeats) + 1
        at += 1
    return at
