"""Text to facts: what one task finds in its splits, packed losslessly and dealt to parts. No Spark, no tables.

A fact is (part, what, bytes). IDS: processes, clients and brokers of one part with all their ids as sorted runs.
PAIRS: broker, minute, least and greatest offset. REPORT: what happened to one split of one file, as JSON.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from idcore.ids.makers import known_loaders

from .inputs import Split, walk
from .kernels import encode, find, pairs
from .unpack import READ_ERRORS, reason_of
from .windows import AFTER, BEFORE, WINDOW, Windows

IDS, PAIRS, REPORT = 0, 1, 2
MOST_IDS = 4 << 20  # ids that one task holds before it packs them: bounds its memory whatever the input
MOST_KEYS = 1 << 16  # and processes, clients and brokers: a table of 8 to 32 MiB
_SAMPLE = 56


@cache
def _loaders() -> np.ndarray:
    return known_loaders()


class Fact(NamedTuple):
    part: int
    what: int
    data: bytes


class Scanner:
    """State of one task: feed it splits, take the facts. `months`: (start, last elapsed that fits), newest first."""

    def __init__(self, months: np.ndarray, any_case: bool = False, expected_bytes: int = WINDOW) -> None:
        self.months = np.ascontiguousarray(months, np.int64)
        self.any_case = any_case
        self.loaders = _loaders()
        self.expected = min(MOST_IDS, expected_bytes // 33) + 64
        self.refused = np.zeros((len(find.REASONS), 3), np.int64)
        self.samples = np.zeros((len(find.REASONS), _SAMPLE + 8), np.uint8)
        self.cache = np.full((1024, 4), -1, np.int64)
        self.lines = np.empty(((WINDOW + AFTER) // 66 + 2, 2), np.int64)
        self.state = np.zeros(find.STATE_SIZE, np.int64)
        self.moved: Callable[[int, int], None] | None = None  # told after each window: bytes and ids of the split
        self.table = np.zeros((1 << 12, 8), np.uint64)
        self.words = np.empty(((1 << 11) + 1, 3), np.uint64)
        self._clear()

    def _clear(self) -> None:
        self.table.fill(0)  # as large as it has grown: where there were many keys there will be more
        self.values = np.empty(self.expected, np.uint64)
        self.slots = np.empty(self.expected, np.uint32)
        self.pairs = np.empty((1 << 14, 6), np.uint64)
        for place in (find.STATE_IDS, find.STATE_KEYS, find.STATE_PAIRS, find.STATE_LINES, find.LINE_FIRST):
            self.state[place] = 0

    def _find(self, windows: Windows, stop: int, what: int) -> bool:
        """Takes the text up to `stop`. True when a line that is read on has ended."""
        more = (stop - windows.at) // 32 + 2
        state = self.state
        if state[find.STATE_IDS] + more > len(self.values):
            size = max(2 * len(self.values), int(state[find.STATE_IDS]) + more)
            self.values = np.concatenate([self.values, np.empty(size - len(self.values), np.uint64)])
            self.slots = np.concatenate([self.slots, np.empty(size - len(self.slots), np.uint32)])
        most = int(state[find.STATE_PAIRS]) + more + 2 * find.LINE_IDS + len(self.cache)
        if most > len(self.pairs):
            size = max(2 * len(self.pairs), most)
            self.pairs = np.concatenate([self.pairs, np.empty((size - len(self.pairs), 6), np.uint64)])
        went_to = windows.at
        while windows.at < stop and went_to != find.LINE_ENDED:
            went_to = find.find(
                windows.buf, windows.at, stop, windows.origin, what, self.any_case, self.loaders, find.LABELS,
                self.table, self.words, self.values, self.slots, self.lines, state, self.refused, self.samples,
            )  # fmt: skip
            if went_to != find.LINE_ENDED:
                windows.at = int(went_to)
                if windows.at < stop:
                    self._grow()
        self._pair()
        return bool(went_to == find.LINE_ENDED)

    def _grow(self) -> None:
        larger = np.zeros((4 * self.table.shape[0], 8), np.uint64)
        find.grow(self.table, larger)
        self.table = larger
        words = np.empty((larger.shape[0] // 2 + 1, 3), np.uint64)
        words[: len(self.words)] = self.words
        self.words = words

    def _pair(self) -> None:
        pairs.pair_lines(
            self.lines, self.state, self.values, self.slots, self.words, self.months, self.cache, self.pairs
        )

    def scan(self, split: Split, windows: Windows) -> Iterator[Fact]:
        """Everything whose first byte lies in the split; facts come early only when there are very many ids."""
        state = self.state
        self.found = -int(state[find.STATE_IDS])
        self.refused[:] = 0
        state[find.LINE_FIRST] = state[find.STATE_IDS]
        state[find.LINE_START] = split.start
        error = ""
        at = split.start
        try:
            limit = windows.slide()
            state[find.LINE_OPEN] = split.start == 0 or windows.buf[BEFORE - 1] == 10
            while True:
                stop = min(limit, windows.stop - windows.origin)
                if self._is_full():
                    stop = windows.last_line(stop)
                self._find(windows, stop, find.COUNT)
                at = windows.at + windows.origin
                if self.moved is not None:
                    self.moved(windows.taken(), self.found + int(state[find.STATE_IDS]))
                if at >= windows.stop or (windows.ended and windows.at >= windows.filled):
                    break
                if self._is_full() and self._may_pack():
                    self.found += int(state[find.STATE_IDS])
                    yield from self.facts()
                limit = windows.slide()
            self._read_on(windows, at)
        except READ_ERRORS as problem:
            error = reason_of(problem)
        error = error or windows.error
        if not error and at < split.stop:
            error = "shorter than when the scan began"
        yield self._report(split, at - split.start, error)

    def _is_full(self) -> bool:
        return bool(self.state[find.STATE_IDS] > MOST_IDS or self.state[find.STATE_KEYS] > MOST_KEYS)

    def _may_pack(self) -> bool:
        """Not while a line is open that may still become a pair; one with too many ids never will."""
        held = self.state[find.STATE_IDS] - self.state[find.LINE_FIRST]
        if held > 2 * find.LINE_IDS:
            self.state[find.LINE_OPEN] = 0
        return bool(held == 0 or held > 2 * find.LINE_IDS)

    def _read_on(self, windows: Windows, stop: int) -> None:
        """The last line of a split is read to its end, for its pairs; ids behind the split are forgotten again."""
        state = self.state
        if not state[find.LINE_OPEN] or state[find.LINE_START] >= stop:
            return
        ids = int(state[find.STATE_IDS])
        ended = False
        while not ended and (windows.at < windows.filled or not windows.ended):
            if windows.at + windows.origin - state[find.LINE_START] > find.LONGEST_LINE:
                break
            ended = self._find(windows, windows.slide(), find.TAIL)
        if not ended and windows.ended:
            first, n = int(state[find.LINE_FIRST]), int(state[find.STATE_IDS])
            end = windows.at + windows.origin
            if find.may_pair(end - int(state[find.LINE_START]), 1, n - first):
                self.lines[0] = first, n
                state[find.STATE_LINES] = 1
                self._pair()
        state[find.STATE_IDS] = ids

    def _report(self, split: Split, text_bytes: int, error: str) -> Fact:
        refused = []
        for reason, (count, place, size) in enumerate(self.refused):
            if count:
                sample = self.samples[reason, :size].tobytes().decode("ascii")
                refused.append([find.REASONS[reason], int(count), sample, int(place)])
        ids = self.found + int(self.state[find.STATE_IDS])
        return _report_of(split, text_bytes, ids, refused, error)

    def facts(self) -> Iterator[Fact]:
        """The ids and pairs found so far, packed; the scanner is empty afterwards."""
        n, keys = int(self.state[find.STATE_IDS]), int(self.state[find.STATE_KEYS])
        if keys:
            yield from self._pack_ids(n, keys)
        rows = pairs.send_pairs(self.cache, self.words, self.pairs, int(self.state[find.STATE_PAIRS]))
        if rows:
            yield from _pack_pairs(self.pairs[:rows])
        self._clear()

    def _pack_ids(self, n: int, keys: int) -> Iterator[Fact]:
        words = self.words[:keys]
        sizes = np.empty(keys, np.int64)
        unsorted = np.empty(keys, np.bool_)
        parts = np.empty(keys, np.uint8)  # bytes are sorted by counting
        encode.groups_of(self.table, words, keys, sizes, unsorted, parts)
        starts = np.zeros(keys + 1, np.int64)
        np.cumsum(sizes, out=starts[1:])
        grouped = np.empty(n, np.uint64)
        encode.scatter(self.values, self.slots, n, starts[:-1].copy(), grouped)
        order = np.argsort(parts, kind="stable")
        order = order[sizes[order] > 0]  # a key seen only behind a split has none
        distinct = np.empty(len(order), np.uint32)
        lengths = np.empty(len(order), np.uint32)
        out = np.empty(20 * n + 32, np.uint8)
        encode.encode(grouped, order, starts, words, unsorted, distinct, lengths, out)
        words = words[order]
        ends = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
        edges = np.concatenate([[0], np.cumsum(np.bincount(parts[order], minlength=encode.PARTS))])
        for part in range(encode.PARTS):
            a, b = int(edges[part]), int(edges[part + 1])
            if a < b:
                head = np.array([b - a], np.uint64)
                pieces = (head, words[a:b], distinct[a:b], lengths[a:b], out[ends[a] : ends[b]])
                yield Fact(part, IDS, b"".join(piece.tobytes() for piece in pieces))


def _report_of(split: Split, text_bytes: int, ids: int, refused: list[list], error: str) -> Fact:
    told = [split.number, text_bytes, ids, refused, error]
    return Fact(0, REPORT, json.dumps([*told, split.member, split.place] if split.place else told).encode())


def is_of_split(report: Fact) -> bool:
    """Whether a REPORT closes its split; those of members and of row groups come before it."""
    return len(json.loads(report.data)) == 5


def ids_of(report: Fact) -> int:
    """How many ids the split of a REPORT held."""
    return int(json.loads(report.data)[2])


def unpack_ids(data: bytes) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The words of the keys, different ids of each, bytes of each run, and all runs."""
    keys = int(np.frombuffer(data, np.uint64, 1)[0])
    words = np.frombuffer(data, np.uint64, 3 * keys, 8).reshape(keys, 3)
    distinct = np.frombuffer(data, np.uint32, keys, 8 + 24 * keys)
    lengths = np.frombuffer(data, np.uint32, keys, 8 + 28 * keys)
    return words, distinct, lengths, np.frombuffer(data, np.uint8, -1, 8 + 32 * keys)


def fold_pairs(rows: np.ndarray) -> np.ndarray:
    """One row for each broker and minute: least of column 4, greatest of column 5."""
    order = np.lexsort((rows[:, 3], rows[:, 2], rows[:, 1], rows[:, 0]))
    rows = rows[order]
    edge = np.flatnonzero(np.concatenate([[True], (rows[1:, :4] != rows[:-1, :4]).any(axis=1)]))
    folded = rows[edge].copy()
    folded[:, 4] = np.minimum.reduceat(rows[:, 4], edge)
    folded[:, 5] = np.maximum.reduceat(rows[:, 5], edge)
    return folded


def _pack_pairs(rows: np.ndarray) -> Iterator[Fact]:
    rows = fold_pairs(rows)
    parts = np.empty(len(rows), np.int64)
    encode.parts_of(rows, parts)
    for part in np.unique(parts):
        yield Fact(int(part), PAIRS, rows[parts == part].tobytes())


def scan_task(
    splits: Sequence[Split],
    months: np.ndarray,
    any_case: bool = False,
    moved: Callable[[int, int], None] | None = None,
) -> Iterator[Fact]:
    """All facts of the splits of one task; each split ends with a REPORT of its own, in their order."""
    scanner = Scanner(months, any_case, sum(split.size for split in splits))
    scanner.moved = moved
    for split, windows, error in walk(splits):
        if windows is None:
            yield _report_of(split, 0, 0, [], error)
        else:
            yield from scanner.scan(split, windows)
    yield from scanner.facts()
