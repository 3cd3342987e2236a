"""Which offsetMsgId is paired with which msgId or 5.x msgId: packed with a task's runs, looked up in all runs.

A paired offset is the offsetMsgId that a line pairs with an id of its own. It is a word: the broker's slot in the task,
plus one, above 48 bits of offset; 0 for none. Each value of a run has its different paired offsets as tokens:

    bits 0-3  bytes of the token; 0: this value has no token; 15: 8 bytes of token and 8 of offset follow one another
    bit  4    another one of the same value follows
    bit  5    the number of lines follows as a varint; otherwise it was one
    then      the broker, then what its offset differs from the one before in this run (zigzag)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from idcore.kernels import inlined, inner, kernel
from idcore.kernels.encode import AHEAD, decode, get, put, sort_nearly, sort_runs
from idcore.kernels.vector import borrowed, leading_zeros, load_64, store_64, will_write

U = np.uint64
OFFSET_BITS = U(48)
OFFSET_MASK = U((1 << 48) - 1)
MOST_SLOTS = 0xFFFF  # a broker with a higher slot, or an offset of 2**48, does not fit: the pair is loose
NOT_PAIRED = U(0)
NONE, RAW = U(0), U(15)
MORE, LINES = U(16), U(32)
HEAD_BITS = U(6)
FEW = 16  # sorted by putting each into its place
LONGEST_TOKEN = 28  # bytes: 16, the varint, and what a store of 8 bytes may touch behind it
LOOSE_COLUMNS = 9  # key and value of the id, key and value of its offsetMsgId, lines


class Grouped(NamedTuple):
    """The ids of one task by their keys, as in `encode.Groups`, and the paired offsets of those groups that have
    some: that of a value has its place less the shift of its group."""

    values: np.ndarray
    paired: np.ndarray
    starts: np.ndarray
    shifts: np.ndarray
    has_paired: np.ndarray


class PairedRuns(NamedTuple):
    """Packed paired offsets of many runs. Of each run: where its own are in `data` (-1: nowhere), the bits of a broker,
    and what is added to it; `brokers` has the number of each."""

    places: np.ndarray
    bits: np.ndarray
    bases: np.ndarray
    brokers: np.ndarray
    data: np.ndarray


class PairQuery(NamedTuple):
    """The keys whose ids are asked for; value, broker, offset, lines of the loose pairs, cut by
    `edges` into those of each key; and the most pairs of any key."""

    keys: np.ndarray
    edges: np.ndarray
    loose: np.ndarray
    most: int


class Pairs(NamedTuple):
    """Of one key: ids, and broker, offset, lines of each; scratch for the last offset of each broker, plus one."""

    ids: np.ndarray
    pairs: np.ndarray
    last: np.ndarray
    touched: np.ndarray


@kernel
def scatter(found, steps, n, positions, grouped):
    """Every value to its group, and its paired offset, if it has one, to the same place less the shift of the group."""
    found, grouped = borrowed(found), borrowed(grouped)
    values, slots, shifts, out, out_paired = found.values, found.slots, grouped.shifts, grouped.values, grouped.paired
    values_to, paired_to = U(out.ctypes.data), U(out_paired.ctypes.data)
    for i in range(n):
        slot = slots[i]
        place = positions[slot]
        positions[slot] = place + 1
        out[place] = values[i]
        will_write(values_to + U(8 * place + AHEAD))
        if steps[i] != 0:
            j = i + np.int64(steps[i])
            own = place - shifts[slot]
            out_paired[own] = (U(slots[j] + 1) << OFFSET_BITS) | values[j]
            will_write(paired_to + U(8 * own + AHEAD))


@inner
def sort_both(values, paired, start, stop, shift):
    """Values of one group in order, their paired offsets with them: insertion with a budget, then by their runs."""
    budget = 600 + 8 * (stop - start)
    for i in range(start + 1, stop):
        x = values[i]
        pair = paired[i - shift]
        j = i - 1
        while j >= start and values[j] > x:
            values[j + 1] = values[j]
            paired[j + 1 - shift] = paired[j - shift]
            j -= 1
        values[j + 1] = x
        paired[j + 1 - shift] = pair
        budget -= i - 1 - j
        if budget < 0:
            own, own_paired = values[start:stop], paired[start - shift : stop - shift]
            bounds = np.empty(own.size + 2, np.int64)
            own[:], own_paired[:] = sort_runs(own, own_paired, bounds, np.empty_like(own), np.empty_like(own_paired))
            return


@kernel
def sort_groups(grouped, unsorted):
    values, paired, starts, shifts, has_paired = grouped
    for group in range(has_paired.size):
        if has_paired[group] and unsorted[group]:
            sort_both(values, paired, starts[group], starts[group + 1], shifts[group])


@kernel
def encode_paired(grouped, order, bits, numbers, lengths, out):
    """The paired offsets of the groups in `order`, whose values are sorted.

    `numbers`: of the brokers of this part by slot, and the slots by number.

    Returns the bytes written and the brokers used.
    """
    grouped = borrowed(grouped)
    values, paired, starts, shifts, has_paired = grouped
    local, brokers = numbers
    base = U(out.ctypes.data)
    last = np.zeros(local.size, np.int64)
    touched = np.empty(local.size, np.int64)
    place = 0
    used = 0
    for index in range(order.size):
        group = order[index]
        if not has_paired[group]:
            lengths[index] = 0
            continue
        begin = place
        shift = shifts[group]
        stop = starts[group + 1]
        any_paired = False
        known = 0
        i = starts[group]
        while i < stop:
            same = i + 1
            while same < stop and values[same] == values[i]:
                same += 1
            if same - i > 1:
                sort_nearly(paired, i - shift, same - shift)  # those that are not paired come first
            at = i - shift
            end = same - shift
            i = same
            while at < end and paired[at] == NOT_PAIRED:
                at += 1
            if at == end:
                out[place] = 0
                place += 1
                continue
            any_paired = True
            while at < end:
                pair = paired[at]
                lines = U(1)
                at += 1
                while at < end and paired[at] == pair:
                    lines += U(1)
                    at += 1
                head = U(0)
                if at < end:
                    head |= MORE
                if lines > U(1):
                    head |= LINES
                number = np.int64(pair >> OFFSET_BITS) - 1
                broker = local[number]
                if broker < 0:
                    broker = used
                    local[number] = used
                    brokers[used] = number
                    used += 1
                offset = np.int64(pair & OFFSET_MASK)
                away = offset - last[broker]
                if last[broker] == 0:
                    touched[known] = broker
                    known += 1
                last[broker] = offset + 1
                zigzag = U((away << 1) ^ (away >> 63))
                size = HEAD_BITS + bits + U(64) - leading_zeros(zigzag) + U(7)
                size >>= U(3)
                if size <= U(7):
                    store_64(
                        base + U(place),
                        size | head | (U(broker) << HEAD_BITS) | (zigzag << (HEAD_BITS + bits)),
                    )
                    place += np.int64(size)
                else:
                    store_64(base + U(place), RAW | head | (U(broker) << HEAD_BITS))
                    store_64(base + U(place + 8), U(offset))
                    place += 16
                if lines > U(1):
                    place = put(out, place, lines)
        for k in range(known):
            last[touched[k]] = 0
        if not any_paired:
            place = begin
        lengths[index] = place - begin
    for broker in range(used):
        local[brokers[broker]] = -1
    return place, used


@kernel
def rows_of(words, wanted, rows):
    """The row of each wanted key among sorted words (third, first, second word), or -1."""
    for i in range(wanted.shape[0]):
        k0, k1, k2 = wanted[i, 0], wanted[i, 1], wanted[i, 2]
        low, high = 0, words.shape[0]
        while low < high:
            middle = (low + high) >> 1
            w0, w1, w2 = words[middle, 0], words[middle, 1], words[middle, 2]
            if w2 < k2 or (w2 == k2 and (w0 < k0 or (w0 == k0 and w1 < k1))):
                low = middle + 1
            else:
                high = middle
        there = low < words.shape[0] and words[low, 0] == k0 and words[low, 1] == k1 and words[low, 2] == k2
        rows[i] = low if there else -1


@inner
def _sort_few(own, pairs):
    """Rows in the order of broker and offset, in place."""
    for i in range(1, own.size):
        at = own[i]
        k = i
        while k > 0 and (
            pairs[own[k - 1], 0] > pairs[at, 0]
            or (pairs[own[k - 1], 0] == pairs[at, 0] and pairs[own[k - 1], 1] > pairs[at, 1])
        ):
            own[k] = own[k - 1]
            k -= 1
        own[k] = at


@inlined
def paired_of(group, values, packed, room, n):
    """The paired offsets of one run with their values, as rows of `room` from `n` on. Returns the rows then."""
    base = U(packed.data.ctypes.data)
    place = packed.places[group]
    bits = U(packed.bits[group])
    known = 0
    for i in range(values.size):
        more = True
        while more:
            token = load_64(base + U(place))
            size = token & U(15)
            if size == NONE:
                place += 1
                break
            more = token & MORE != NONE
            local = np.int64((token >> HEAD_BITS) & ((U(1) << bits) - U(1))) + packed.bases[group]
            if size == RAW:
                offset = np.int64(load_64(base + U(place + 8)))
                place += 16
            else:
                zigzag = (token & ((U(1) << (size << U(3))) - U(1))) >> (HEAD_BITS + bits)
                offset = room.last[local] + np.int64((zigzag >> U(1)) ^ (U(0) - (zigzag & U(1))))
                place += np.int64(size)
            if room.last[local] == 0:
                room.touched[known] = local
                known += 1
            room.last[local] = offset + 1
            lines = U(1)
            if token & LINES != NONE:
                lines, place = get(packed.data, place)
            room.ids[n] = values[i]
            room.pairs[n, 0] = packed.brokers[local]
            room.pairs[n, 1] = offset
            room.pairs[n, 2] = np.int64(lines)
            n += 1
    for k in range(known):
        room.last[room.touched[k]] = 0
    return n


@inner
def put_copies(key, own, room, out, rows):
    """One id with its different offsetMsgIds to `out`; `own`: its rows. Returns the rows of `out` then."""
    pairs = room.pairs
    if own.size <= FEW:
        _sort_few(own, pairs)
    else:
        own = own[np.argsort(pairs[own, 1], kind="mergesort")]
        own = own[np.argsort(pairs[own, 0], kind="mergesort")]
    began = rows
    lines = 0
    for at in own:
        lines += pairs[at, 2]
        if rows == began or out[rows - 1, 2] != pairs[at, 0] or out[rows - 1, 3] != pairs[at, 1]:
            out[rows, 0] = key
            out[rows, 1] = np.int64(room.ids[at])
            out[rows, 2] = pairs[at, 0]
            out[rows, 3] = pairs[at, 1]
            rows += 1
    for row in range(began, rows):
        out[row, 4] = lines
    return rows


@kernel
def copies_of(runs, packed, wanted, room, out, done):
    """Ids of the wanted keys, from `done` on, with several offsetMsgIds: key, value, broker, offset, lines.

    Returns the keys done and the rows. `out` has room for those of any key.
    """
    runs, packed, wanted, room = borrowed(runs), borrowed(packed), borrowed(wanted), borrowed(room)
    ids, pairs = room.ids, room.pairs
    values = np.empty(runs.largest, np.uint64)
    counts = np.empty(runs.largest, np.int64)
    in_order, order = np.empty((2, wanted.most), np.uint64), np.empty((2, wanted.most), np.int64)
    bounds = np.empty(wanted.most + 2, np.int64)
    rows = 0
    for index in range(done, wanted.keys.size):
        key = wanted.keys[index]
        if rows + wanted.most > out.shape[0]:
            return index, rows
        n = 0
        for r in range(runs.edges[key], runs.edges[key + 1]):
            group = runs.order[r]
            if packed.places[group] >= 0:
                size = runs.distinct[group]
                decode(runs.data, runs.places[group], size, runs.key2[group], values, counts, 0)
                n = paired_of(group, values[:size], packed, room, n)
        for r in range(wanted.edges[index], wanted.edges[index + 1]):
            ids[n] = U(wanted.loose[r, 0])
            pairs[n] = wanted.loose[r, 1:]
            n += 1
        for i in range(n):
            in_order[0, i] = ids[i]
            order[0, i] = i
        own, by_id = sort_runs(in_order[0, :n], order[0, :n], bounds, in_order[1], order[1])
        i = 0
        while i < n:
            same = i + 1
            differ = False
            first = by_id[i]
            while same < n and own[same] == own[i]:
                differ |= pairs[by_id[same], 0] != pairs[first, 0] or pairs[by_id[same], 1] != pairs[first, 1]
                same += 1
            if differ:
                rows = put_copies(key, by_id[i:same], room, out, rows)
            i = same
    return wanted.keys.size, rows
