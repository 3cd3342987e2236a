"""Text to facts: what one task finds in its splits, packed losslessly and dealt to parts. No Spark, no tables.

A fact is (part, what, bytes). IDS: processes, clients and brokers of one part with all their ids as sorted runs.
PAIRS: broker, minute, least and greatest offset. REPORT: what happened to one split of one file, as JSON.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from idcore.ids.makers import known_loaders

from .inputs import BEFORE, READ_ERRORS, WINDOW, Split, Windows, walk
from .kernels import encode, find

IDS, PAIRS, REPORT = 0, 1, 2
MOST_IDS = 4 << 20  # ids that one task holds before it packs them: bounds its memory whatever the input
_SAMPLE = 56


@cache
def _loaders() -> np.ndarray:
    return known_loaders()


class Fact(NamedTuple):
    part: int
    what: int
    data: bytes


class Scanner:
    """State of one task: feed it splits, take the facts. `months`: rows of (start, last elapsed that fits), newest first."""

    def __init__(self, months: np.ndarray, any_case: bool = False, expected_bytes: int = WINDOW) -> None:
        self.months = np.ascontiguousarray(months, np.int64)
        self.any_case = any_case
        self.loaders = _loaders()
        self.expected = min(MOST_IDS, expected_bytes // 33) + 64
        self.refused = np.zeros((len(find.REASONS), 3), np.int64)
        self.samples = np.zeros((len(find.REASONS), _SAMPLE + 8), np.uint8)
        self.line_times = np.zeros(find.LINE_IDS, np.int64)
        self.line_offsets = np.zeros((find.LINE_IDS, 4), np.uint64)
        self.cache = np.zeros((256, 6), np.uint64)
        self.state = np.zeros(find.STATE_SIZE, np.int64)
        self._clear()

    def _clear(self) -> None:
        self.table = np.zeros((1 << 12, 8), np.uint64)
        self.values = np.empty(self.expected, np.uint64)
        self.slots = np.empty(self.expected, np.uint32)
        self.pairs = np.empty((1 << 14, 6), np.uint64)
        self.cache[:] = 0
        for place in (find.STATE_IDS, find.STATE_KEYS, find.STATE_PAIRS):
            self.state[place] = 0

    def _find(self, windows: Windows, stop: int, what: int) -> bool:
        """Takes the text up to `stop`. True when a line that is read on has ended."""
        more = (stop - windows.at) // 32 + 2
        state = self.state
        if state[find.STATE_IDS] + more > len(self.values):
            size = max(2 * len(self.values), int(state[find.STATE_IDS]) + more)
            self.values = np.concatenate([self.values, np.empty(size - len(self.values), np.uint64)])
            self.slots = np.concatenate([self.slots, np.empty(size - len(self.slots), np.uint32)])
        if state[find.STATE_PAIRS] + more > len(self.pairs):
            size = max(2 * len(self.pairs), int(state[find.STATE_PAIRS]) + more)
            self.pairs = np.concatenate([self.pairs, np.empty((size - len(self.pairs), 6), np.uint64)])
        while windows.at < stop:
            went_to = find.find(
                windows.buf, windows.at, stop, windows.origin, what, self.any_case, self.months, self.loaders, find.LABELS,
                self.table, self.values, self.slots, state, self.refused, self.samples,
                self.line_times, self.line_offsets, self.cache, self.pairs,
            )  # fmt: skip
            if went_to == find.LINE_ENDED:
                return True
            windows.at = int(went_to)
            if windows.at < stop:
                larger = np.zeros((4 * self.table.shape[0], 8), np.uint64)
                find.grow(self.table, larger)
                self.table = larger
        return False

    def _end_line(self, end: int) -> None:
        find.end_line(end, self.state, self.line_times, self.line_offsets, self.cache, self.pairs)

    def scan(self, split: Split, windows: Windows) -> Iterator[Fact]:
        """Everything whose first byte lies in the split; facts come early only when there are very many ids."""
        state = self.state
        self.refused[:] = 0
        state[find.STATE_COUNTS :] = 0
        state[find.LINE_TIMES] = state[find.LINE_OFFSETS] = 0
        state[find.LINE_START] = split.start
        error = ""
        at = split.start
        try:
            limit = windows.slide()
            state[find.LINE_OPEN] = split.start == 0 or windows.buf[BEFORE - 1] == 10
            while True:
                stop = min(limit, windows.stop - windows.origin)
                self._find(windows, stop, find.COUNT)
                at = windows.at + windows.origin
                if at >= windows.stop or (windows.ended and windows.at >= windows.filled):
                    break
                if state[find.STATE_IDS] > MOST_IDS:
                    yield from self.facts()
                limit = windows.slide()
            self._read_on(windows, at)
        except READ_ERRORS as problem:
            error = str(problem) or type(problem).__name__
        yield self._report(split, at - split.start, error)

    def _read_on(self, windows: Windows, stop: int) -> None:
        """The last line of a split is read to its end, for its pairs."""
        state = self.state
        if not state[find.LINE_OPEN] or state[find.LINE_START] >= stop:
            return
        while windows.at < windows.filled or not windows.ended:
            if windows.at + windows.origin - state[find.LINE_START] > find.LONGEST_LINE:
                state[find.LINE_OPEN] = 0
                break
            limit = windows.slide()
            if self._find(windows, limit, find.TAIL):
                return
        self._end_line(windows.at + windows.origin)

    def _report(self, split: Split, text_bytes: int, error: str) -> Fact:
        refused = []
        for reason, (count, place, size) in enumerate(self.refused):
            if count:
                sample = self.samples[reason, :size].tobytes().decode("ascii")
                refused.append([find.REASONS[reason], int(count), sample, int(place)])
        ids = self.state[find.STATE_COUNTS :].tolist()
        return Fact(0, REPORT, json.dumps([split.number, text_bytes, ids, refused, error]).encode())

    def facts(self) -> Iterator[Fact]:
        """The ids and pairs found so far, packed; the scanner is empty afterwards."""
        n, keys = int(self.state[find.STATE_IDS]), int(self.state[find.STATE_KEYS])
        if keys:
            yield from self._pack_ids(n, keys)
        rows = int(self.state[find.STATE_PAIRS])
        used = self.cache[self.cache[:, 2] != 0]
        pairs = np.concatenate([self.pairs[:rows], used])
        if len(pairs):
            yield from _pack_pairs(pairs)
        self._clear()

    def _pack_ids(self, n: int, keys: int) -> Iterator[Fact]:
        words = np.empty((keys, 3), np.uint64)
        sizes = np.empty(keys, np.int64)
        unsorted = np.empty(keys, np.bool_)
        parts = np.empty(keys, np.int64)
        encode.groups_of(self.table, keys, words, sizes, unsorted, parts)
        starts = np.zeros(keys + 1, np.int64)
        np.cumsum(sizes, out=starts[1:])
        grouped = np.empty(n, np.uint64)
        encode.scatter(self.values, self.slots, n, starts[:-1].copy(), grouped)
        order = np.argsort(parts, kind="stable")
        distinct = np.empty(keys, np.uint32)
        lengths = np.empty(keys, np.uint32)
        out = np.empty(20 * n + 32, np.uint8)
        encode.encode(grouped, order, starts, words, unsorted, distinct, lengths, out)
        words = words[order]
        ends = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
        edges = np.searchsorted(parts[order], np.arange(encode.PARTS + 1))
        for part in range(encode.PARTS):
            a, b = int(edges[part]), int(edges[part + 1])
            if a < b:
                head = np.array([b - a], np.uint64)
                pieces = (head, words[a:b], distinct[a:b], lengths[a:b], out[ends[a] : ends[b]])
                yield Fact(part, IDS, b"".join(piece.tobytes() for piece in pieces))


def ids_of(report: Fact) -> int:
    """How many ids the split of a REPORT held."""
    return sum(json.loads(report.data)[2])


def unpack_ids(data: bytes) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The words of the keys, different ids of each, bytes of each run, and all runs."""
    keys = int(np.frombuffer(data, np.uint64, 1)[0])
    words = np.frombuffer(data, np.uint64, 3 * keys, 8).reshape(keys, 3)
    distinct = np.frombuffer(data, np.uint32, keys, 8 + 24 * keys)
    lengths = np.frombuffer(data, np.uint32, keys, 8 + 28 * keys)
    return words, distinct, lengths, np.frombuffer(data, np.uint8, -1, 8 + 32 * keys)


def fold_pairs(pairs: np.ndarray) -> np.ndarray:
    """One row for each broker and minute: least of column 4, greatest of column 5."""
    order = np.lexsort((pairs[:, 3], pairs[:, 2], pairs[:, 1], pairs[:, 0]))
    pairs = pairs[order]
    edge = np.flatnonzero(np.concatenate([[True], (pairs[1:, :4] != pairs[:-1, :4]).any(axis=1)]))
    folded = pairs[edge].copy()
    folded[:, 4] = np.minimum.reduceat(pairs[:, 4], edge)
    folded[:, 5] = np.maximum.reduceat(pairs[:, 5], edge)
    return folded


def _pack_pairs(pairs: np.ndarray) -> Iterator[Fact]:
    pairs = fold_pairs(pairs)
    parts = np.array([encode.part_of(k0, k1, k2) for k0, k1, k2 in pairs[:, :3]])
    for part in np.unique(parts):
        yield Fact(int(part), PAIRS, pairs[parts == part].tobytes())


def scan_task(splits: Sequence[Split], months: np.ndarray, any_case: bool = False) -> Iterator[Fact]:
    """All facts of the splits of one task."""
    scanner = Scanner(months, any_case, sum(split.size for split in splits))
    for split, windows, error in walk(splits):
        if windows is None:
            yield Fact(0, REPORT, json.dumps([split.number, 0, [], [], error]).encode())
        else:
            yield from scanner.scan(split, windows)
    yield from scanner.facts()
