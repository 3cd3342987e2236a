"""Strings of a scan that only look like msgIds: told by a sample of all tasks, taken out before the merge.

The rule is `idcore.ids.look_alikes`. A process is a row: the words of its key, its value, how often it is, the number
of its file and the byte where it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from idcore.ids import look_alikes
from idcore.ids.look_alikes import MOST_TIMES, Rule
from idcore.kernels import codes, encode, find

from .crossing import Block
from .settle import without

ROW = 7  # columns of a suspect
K1, K2, VALUE, COUNT, FILE, PLACE = range(1, ROW)
NO_SUSPECT = MOST_TIMES + 1  # times
_U = np.uint64


class LookAlike(NamedTuple):
    """Strings of one file that only look like msgIds: how many, and the first of them."""

    file: int
    ids: int
    sample: str
    byte: int


def suspects_of(found: find.Found, sizes: np.ndarray, ids: int) -> np.ndarray:
    """The processes of unknown clients of one task; `sizes`: how many ids each key has.

    The value of a process with several ids is one of them, and the count of one that is no suspect too high for one.
    """
    first = found.first[: len(sizes)]
    wanted = (sizes > 0) & (first[:, 0] != find.OF_KNOWN)
    if not wanted.any():
        return np.empty((0, ROW), np.uint64)
    mine = np.flatnonzero(wanted[found.slots[:ids]])
    slots, values = found.slots[mine], found.values[mine]
    order = np.lexsort((values, slots))
    slots, values = slots[order], values[order]
    begin = np.flatnonzero(np.diff(slots.astype(np.int64), prepend=-1))
    one = slots[begin]
    single = values[begin] == values[np.append(begin[1:], len(slots)) - 1]
    counts = np.where(single & (first[one, 0] >= 0), np.minimum(sizes[one], NO_SUSPECT), NO_SUSPECT)
    columns = (values[begin], counts, first[one, 1], np.maximum(first[one, 0], 0))
    return np.column_stack([found.keys[one], *(column.astype(np.uint64) for column in columns)])


def raw_of(row: np.ndarray) -> bytes:
    """The bytes of the msgId of a suspect."""
    wide, address, third, value = (int(word) for word in row[:COUNT])
    tail = (third & (1 << 48) - 1).to_bytes(6, "big") + value.to_bytes(6, "big")
    if third >> int(codes.CODE_SHIFT) == int(find.CODE_V6):
        return wide.to_bytes(8, "big") + address.to_bytes(8, "big") + tail
    return address.to_bytes(4, "big") + tail


def sample_of(rows: np.ndarray) -> np.ndarray:
    """The processes of one task that go to every part."""
    by_process = {raw_of(row)[: -look_alikes.TAIL]: row for row in rows}
    return np.array([by_process[one] for one in look_alikes.sample(by_process)], np.uint64)


def rule_of(samples: Sequence[np.ndarray]) -> Rule:
    """The rule by the samples of all tasks."""
    processes: dict[bytes, Counter[bytes]] = {}
    for row in (row for rows in samples for row in rows):
        raw = raw_of(row)
        processes.setdefault(raw[: -look_alikes.TAIL], Counter())[raw] += int(row[COUNT])
    return look_alikes.rule_of({one: look_alikes.only_of(ids) for one, ids in processes.items()})


def taken_out(blocks: Sequence[Block], suspects: np.ndarray, rule: Rule) -> tuple[list[Block], list[LookAlike]]:
    """The blocks without the look-alikes of the part, and what was taken out, by file."""
    rows = [row for row in suspects if row[COUNT] <= MOST_TIMES and rule.holds(raw_of(row))] if rule else []
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
        times = sum(int(row[COUNT]) for row in own)
        if ids[words] != times or times > MOST_TIMES or len({int(row[VALUE]) for row in own}) > 1:
            continue  # elsewhere it is labelled, or has other ids: a process
        for at, key in places[words]:
            gone.setdefault(at, set()).add(key)
        for row in own:
            file, one = int(row[FILE]), LookAlike(int(row[FILE]), 0, raw_of(row).hex().upper(), int(row[PLACE]))
            before = out.get(file, one)
            first = min(before, one, key=lambda each: each.byte)
            out[file] = first._replace(ids=before.ids + int(row[COUNT]))
    return [without(block, gone[at]) if at in gone else block for at, block in enumerate(blocks)], list(out.values())
