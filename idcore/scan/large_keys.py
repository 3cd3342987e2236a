"""A process with very many ids: its figures, minutes and points, a stretch of its ids at a time. Makes no tables.

The ids are read several times from their packed runs: to count them, to cut them into pieces, to unroll their chains,
and to draw. In memory is a stretch of them, and a few rows for each piece, chain and gap.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from idcore.kernels import chains, encode, stretches, unroll
from idcore.kernels.find import COUNTER_SHIFT
from idcore.kernels.stretches import Stretch

from .batches import scratch

AT_ONCE = 1 << 22  # a key with more ids is one with very many: of others all are in memory, some 100 bytes each
STRETCH = 1 << 20  # ids of a stretch
HELD = 1 << 22  # intervals that are; further ones wait in files
_ONE_RANGE = np.array([[stretches.NEVER, 0]], np.uint64)


class Key(NamedTuple):
    """The runs of one key: those from `start` to `stop`."""

    runs: encode.PackedRuns
    start: int
    stop: int

    @classmethod
    def of(cls, runs: encode.PackedRuns, key: int) -> Key:
        return cls(runs, int(runs.edges[key]), int(runs.edges[key + 1]))

    @property
    def word(self) -> np.uint64:
        return self.runs.key2[self.runs.order[self.start]]  # type: ignore[no-any-return]

    def ends(self, after: np.ndarray) -> tuple[np.uint64, np.uint64, np.uint64, np.uint64]:
        """The least id, the first and the last that `after` of `merge.MonthsOfKeys` asks for, the greatest."""
        return stretches.ends(self.runs, self.start, self.stop, after)  # type: ignore[no-any-return]


class Stretches:
    """The ids of a key in the order of time, a stretch at a time."""

    def __init__(self, key: Key, ranges: np.ndarray = _ONE_RANGE) -> None:
        self.key, self.ranges = key, ranges

    def __iter__(self) -> Iterator[tuple[Stretch, int, int]]:
        """Each stretch, how many of its ids are to be judged, and how many were before. Those behind come again: a
        millisecond is judged as a whole, and sees what comes after it."""
        count = (self.key.stop - self.key.start) * len(self.ranges)
        streams = stretches.Streams(
            heap=np.empty(count, np.int64),
            alive=np.zeros(1, np.int64),
            state=np.empty((count, 3), np.int64),
            raw=np.empty(count, np.uint64),
            until=np.empty(count, np.uint64),
            shift=np.empty(count, np.uint64),
        )
        stretches.open_streams(self.key.runs, self.key.start, self.key.stop, self.ranges, streams)
        stretch = _room_for(STRETCH)
        kept = seen = 0
        while streams.alive[0] or kept:
            n = stretches.take(self.key.runs.data, self.key.word, streams, stretch, kept)
            own = stretches.last_millisecond(stretch.values[:n]) if streams.alive[0] else n
            if own:
                yield _cut(stretch, n), own, seen
                seen += own
            kept = n - own
            larger = _room_for(2 * len(stretch.values)) if not own else stretch
            for to, column in zip(larger, stretch, strict=True):
                to[:kept] = column[own:n].copy()
            stretch = larger


def _room_for(ids: int) -> Stretch:
    return Stretch(np.empty(ids, np.uint64), np.empty(ids, np.uint64), np.empty(ids, np.int64))


def _cut(stretch: Stretch, stop: int) -> Stretch:
    return Stretch(*(column[:stop] for column in stretch))


class Process:
    """One process. `spans`: its months, as in `merge.MonthsOfKeys`; `limit`: without months, the last possible elapsed.

    `base`: the start of the first month, if time counts from there.
    """

    def __init__(self, key: Key, spans: np.ndarray, limit: int) -> None:
        self.figures = np.zeros(unroll.FIGURES, np.int64)
        self.base: int | None = None
        self.beyond = limit + 1
        ranges = _ONE_RANGE
        if len(spans) > 1:
            self.base = int(spans[:, 1].min())
            self.beyond = int((spans[:, 1] + spans[:, 2]).max()) - self.base
            ranges = _ranges_of(spans, self.base, self.beyond)
        self._ids = Stretches(key, ranges)
        self._several = False
        self._owners = np.zeros(0, np.int64)
        self._pieces = 0

    def compute(self) -> tuple[np.ndarray, np.ndarray]:
        """Points and minutes (minute, ids) of the process; fills its figures."""
        minutes = []
        rising = True
        for stretch, own, _ in self._ids:
            rows = np.empty((own, 2), np.int64)
            count, rises = stretches.tally(_cut(stretch, own), self.beyond, self.figures, rows)
            minutes.append(rows[:count].copy())
            rising &= rises
        track = None if rising else self._judge()
        rows, bases, widest = self._unroll(rising)
        if track is None:
            track = np.zeros(len(rows), np.int64)
        self.figures[unroll.CHAINS], self.figures[unroll.TRACKS] = len(rows), track.max() + 1
        return self._draw(track, rows, bases, widest, rising), np.concatenate(minutes)

    def _fragments(self) -> Iterator[tuple[Stretch, np.ndarray, np.ndarray, np.ndarray, np.ndarray, int]]:
        """Each stretch with the order in which its counters were taken, the ids in it, pieces, repeats; ids before."""
        living = chains.nothing_living()
        before = -1
        for stretch, own, seen in self._ids:
            order = np.empty(len(stretch.values), np.int64)
            chains.as_taken(stretch.values, order, before)
            taken = stretch.values[order]
            fragment, repeats = np.empty(own, np.int64), np.empty(own, np.bool_)
            chains.fragments_of(taken[:own], living, fragment, repeats)
            before = int(taken[own - 1]) & (chains.PERIOD - 1)
            yield _cut(stretch, own), order[:own], taken, fragment, repeats, seen
        self._pieces, self._returns = living.counts.tolist()

    def _judge(self) -> np.ndarray | None:
        """The track of each chain, if several processes are alive at once."""
        for _ in self._fragments():
            continue
        self._several = bool(chains.are_several(self._pieces, self._returns))
        if not self._several:
            return None
        pieces = np.zeros((self._pieces, chains.PIECE_COLUMNS), np.int64)
        for _, _, taken, fragment, _, seen in self._fragments():
            chains.note_pieces(taken, fragment, seen, pieces)
        self._owners = np.empty(self._pieces, np.int64)
        ends = np.full((chains.link_fragments(pieces, self._owners), 2), -1, np.int64)
        for _, own, seen in self._chains(in_time=False):
            chains.note_ends(own, seen, ends)
        track = np.empty(len(ends), np.int64)
        chains.tracks_of(ends, track)
        return track

    def _chains(self, *, rising: bool = False, in_time: bool = True) -> Iterator[tuple[Stretch, np.ndarray, int]]:
        """Each stretch with the chains of its ids, in the order of time or as their counters were taken; ids before."""
        if rising:
            yield from ((_cut(stretch, own), np.zeros(own, np.int64), seen) for stretch, own, seen in self._ids)
            return
        breaks = chains.before_breaks(self._pieces, self.figures[unroll.DISTINCT])
        touched = chains.first_owner(self._owners)
        for stretch, order, taken, fragment, repeats, seen in self._fragments():
            own = np.empty(len(order), np.int64)
            if self._several:
                touched = chains.join(fragment, self._owners, touched, own)
            else:
                chains.break_at_restarts(taken, fragment, repeats, breaks, own)
            if in_time:
                taken_at = own.copy()
                own[order] = taken_at
            yield stretch, own, seen

    def _unroll(self, rising: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The rows of chains, what is added to their positions, and the widest gaps."""
        rows, count = np.zeros((1, stretches.CHAIN_COLUMNS), np.int64), 1
        with tempfile.TemporaryDirectory(prefix="idcore-gaps-", dir=scratch(), ignore_cleanup_errors=True) as folder:
            intervals = _Intervals(Path(folder))
            for stretch, chain, seen in self._chains(rising=rising):
                positions = np.empty(len(chain), np.int64)
                count = max(count, int(chain.max()) + 1)
                if count > len(rows):
                    more = np.zeros((2 * count - len(rows), stretches.CHAIN_COLUMNS), np.int64)
                    rows = np.concatenate([rows, more])
                stretches.unroll_stretch(stretch, chain, seen, rows, self.figures, positions)
                own = np.empty((4, len(chain)), np.int64)
                intervals.add(own[:, : stretches.intervals(chain, positions, seen, own)])
            rows, bases = rows[:count], np.empty(count, np.int64)
            stretches.sum_chains(rows, self.figures, bases)
            ids = int(self.figures[unroll.DISTINCT])
            drawn = ids if ids <= unroll.POINTS else unroll.DRAWN_GAPS
            self.figures[unroll.POSITIONS], widest = intervals.together(bases, drawn)
        return rows, bases, widest

    def _draw(
        self, track: np.ndarray, rows: np.ndarray, bases: np.ndarray, widest: np.ndarray, rising: bool
    ) -> np.ndarray:
        """The points of the process, each once."""
        ids, first, last = (int(self.figures[column]) for column in (unroll.DISTINCT, unroll.FIRST, unroll.LAST))
        begin, end = first >> int(COUNTER_SHIFT), last >> int(COUNTER_SHIFT)
        width, above, below = widest[:, 0], widest[:, 2], widest[:, 2] - widest[:, 0] - 1
        may = np.zeros(stretches.WANTED_BITS + 1, np.bool_)
        may[np.concatenate([above, below]) & stretches.WANTED_BITS] = True
        order = np.argsort(below)
        limits = [ids, begin, (end - begin) // unroll.BUCKETS + 1, self.figures[unroll.WRAPS], self.beyond]
        drawing = stretches.Drawing(
            chains=rows,
            tracks=track,
            bases=bases,
            drawn=np.sort(widest[:, 1]),
            wanted=np.stack([below[order], widest[order, 1]]),
            sides=np.full((len(order), 2, stretches.POINT_COLUMNS), -1, np.int64),
            filter=may,
            limits=np.array(limits, np.int64),
        )
        running = np.zeros_like(rows)
        drawn = []
        for stretch, chain, seen in self._chains(rising=rising):
            points = np.empty((2 * len(chain), stretches.POINT_COLUMNS), np.int64)
            count = stretches.points_of_stretch(stretch, chain, seen, running, drawing, points)
            drawn.append(points[:count].copy())
        at = drawing.sides[:, :, -1]
        away = np.where(at < 0, 1 << 62, np.abs(at - drawing.wanted[1][:, None]))
        drawn.append(drawing.sides[np.arange(len(at)), np.argmin(away, axis=1)])  # of two as near, the one in front
        points = np.concatenate(drawn)
        _, once = np.unique(points[:, -1], return_index=True)
        points = points[once]
        gaps = np.searchsorted(points[:, -1], widest[:, 1])
        points[gaps, 5] = width
        return points[:, :-1]


def _ranges_of(spans: np.ndarray, base: int, beyond: int) -> np.ndarray:
    """Ids with the same distance of elapsed and time, as `stretches.open_streams` has them: of each month those that
    it holds, and those behind its end, which are impossible."""
    ranges = []
    last = -1
    for number, (until, start, length) in enumerate(spans.tolist()):
        until = min(until, (1 << 47) - 1) if number < len(spans) - 1 else (1 << 47) - 1
        for end, shift in ((min(length - 1, until), start - base), (until, beyond)):
            if end > last:
                ranges.append([(end << 16) | 0xFFFF, shift << 16])
                last = end
    return np.array(ranges, np.uint64)


class _Intervals:
    """Intervals of positions of many stretches, each sorted; the later ones wait in files."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._tables, self._held = folder, list[np.ndarray](), 0

    def add(self, table: np.ndarray) -> None:
        """Chain, first and last position, first id: a column of each."""
        if self._held + table.shape[1] <= HELD:
            self._held += table.shape[1]
            self._tables.append(table.copy())
            return
        path = self._folder / f"{len(self._tables)}.npy"
        np.save(path, table)
        self._tables.append(np.load(path, mmap_mode="r+"))

    def together(self, bases: np.ndarray, drawn: int) -> tuple[int, np.ndarray]:
        """How many different positions all have, and the widest gaps: width, id above it, number of that."""
        step = max(1, STRETCH // len(self._tables))
        for table in self._tables:
            table[1:3] += bases[table[0]]
        samples = np.sort(np.concatenate([table[1, ::step] for table in self._tables]))
        borders = [*samples[len(self._tables) :: len(self._tables)].tolist(), np.iinfo(np.int64).max]
        state, widest = np.array([-1, 0, 0], np.int64), np.zeros((drawn, 3), np.int64)
        places = [0] * len(self._tables)
        for border in borders:
            stops = [int(np.searchsorted(table[1], border)) for table in self._tables]
            own = np.concatenate(
                [table[1:, a:b] for table, a, b in zip(self._tables, places, stops, strict=True)], axis=1
            )
            stretches.union(*own, np.lexsort((own[2], own[0])), state, widest)
            places = stops
        return int(state[stretches.DIFFERENT]), widest[: state[stretches.GAPS]]
