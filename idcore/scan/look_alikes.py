"""Strings of a scan that only look like msgIds: counted by tasks, judged by the sums, taken out before the merge.

The rule is `idcore.ids.look_alikes`. A suspect is a row: the words of its key, its value, how often it is, the number
of its file and the byte where it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from idcore.ids.look_alikes import Rule, Suspects
from idcore.kernels import codes, encode, find

from .crossing import Block
from .settle import without

ROW = 7  # columns of a suspect
K1, K2, VALUE, COUNT, FILE, PLACE = range(1, ROW)
MOST_TIMES = 16  # that one string is in a task
_TAILS = 64  # of one task, the most frequent ones
_U = np.uint64


class LookAlike(NamedTuple):
    """Strings of one file that only look like msgIds: how many, and the first of them."""

    file: int
    ids: int
    sample: str
    byte: int


def suspects_of(found: find.Found, loaders: np.ndarray, sizes: np.ndarray, ids: int) -> np.ndarray:
    """The suspects of one task; `sizes`: how many ids each key has."""
    words = found.keys[: len(sizes)]
    wanted = codes.are(words, codes.CHANCE) & (sizes > 0) & (sizes <= MOST_TIMES) & (found.first[: len(sizes), 0] >= 0)
    if wanted.any():
        loader = words[:, K2] & find.WORD
        at = np.minimum(np.searchsorted(loaders, loader), len(loaders) - 1)
        wanted &= loaders[at] != loader
    if not wanted.any():
        return np.empty((0, ROW), np.uint64)
    mine = np.flatnonzero(wanted[found.slots[:ids]])
    slots, values = found.slots[mine], found.values[mine]
    order = np.lexsort((values, slots))
    slots, values = slots[order], values[order]
    begin = np.flatnonzero(np.diff(slots, prepend=-1))
    single = values[begin] == values[np.append(begin[1:], len(slots)) - 1]
    one = slots[begin[single]]
    first = found.first[one].astype(np.uint64)
    return np.column_stack([words[one], values[begin[single]], sizes[one].astype(np.uint64), first[:, 1], first[:, 0]])


def raw_of(row: np.ndarray) -> bytes:
    """The bytes of the msgId of a suspect."""
    wide, address, third, value = (int(word) for word in row[:COUNT])
    tail = (third & (1 << 48) - 1).to_bytes(6, "big") + value.to_bytes(6, "big")
    if third >> int(codes.CODE_SHIFT) == int(find.CODE_V6):
        return wide.to_bytes(8, "big") + address.to_bytes(8, "big") + tail
    return address.to_bytes(4, "big") + tail


def summary(rows: np.ndarray) -> np.ndarray:
    """What the suspects of one task have in common: numbers, then first bytes as bits, then the most frequent tails."""
    seen = Suspects()
    for row in rows:
        seen.see(raw_of(row))
    bits = sum(1 << byte for byte in seen.first_bytes)
    words = [bits >> shift & (1 << 64) - 1 for shift in range(0, 256, 64)]
    tails = [number for pair in seen.tails.most_common(_TAILS) for number in pair]
    return np.array([seen.number, seen.private, seen.uuids, *words, *tails], np.uint64)


def rule_of(summaries: Sequence[np.ndarray]) -> Rule:
    """The rule by the suspects of all tasks."""
    every = Suspects()
    for one in summaries:
        number, private, uuids, *rest = (int(word) for word in one)
        every.number, every.private, every.uuids = every.number + number, every.private + private, every.uuids + uuids
        bits = sum(word << 64 * at for at, word in enumerate(rest[:4]))
        every.first_bytes |= {byte for byte in range(256) if bits >> byte & 1}
        every.tails += Counter(dict(zip(rest[4::2], rest[5::2], strict=True)))
    return every.rule()


def taken_out(blocks: Sequence[Block], suspects: np.ndarray, rule: Rule) -> tuple[list[Block], list[LookAlike]]:
    """The blocks without the look-alikes of the part, and what was taken out, by file."""
    rows = [row for row in suspects if rule.holds(raw_of(row))] if rule else []
    if not rows:
        return list(blocks), []
    known: dict[tuple[int, ...], list[np.ndarray]] = {}
    for row in rows:
        known.setdefault(tuple(int(word) for word in row[:VALUE]), []).append(row)
    ids: Counter[tuple[int, ...]] = Counter()
    places: dict[tuple[int, ...], list[tuple[int, int]]] = {}
    for at, block in enumerate(blocks):
        begins = np.cumsum(block.lengths, dtype=np.int64) - block.lengths
        for key in np.flatnonzero(codes.are(block.keys, codes.CHANCE)).tolist():
            words = tuple(int(word) for word in block.keys[key])
            if words in known:
                values, counts = (
                    np.empty(int(block.distinct[key]), np.uint64),
                    np.empty(int(block.distinct[key]), np.int64),
                )
                encode.decode(block.runs, int(begins[key]), len(values), block.keys[key, K2], values, counts, 0)
                ids[words] += int(counts.sum())
                places.setdefault(words, []).append((at, key))
    gone: dict[int, set[int]] = {}
    out: dict[int, LookAlike] = {}
    for words, own in known.items():
        if ids[words] != sum(int(row[COUNT]) for row in own) or len({int(row[VALUE]) for row in own}) > 1:
            continue  # elsewhere it is labelled, or has other ids: a process
        for at, key in places[words]:
            gone.setdefault(at, set()).add(key)
        for row in own:
            file, one = int(row[FILE]), LookAlike(int(row[FILE]), 0, raw_of(row).hex().upper(), int(row[PLACE]))
            before = out.get(file, one)
            first = min(before, one, key=lambda each: each.byte)
            out[file] = first._replace(ids=before.ids + int(row[COUNT]))
    return [without(block, gone[at]) if at in gone else block for at, block in enumerate(blocks)], list(out.values())
