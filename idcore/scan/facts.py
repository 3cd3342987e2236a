"""Text to facts: what one task finds in its splits, packed losslessly and dealt to parts. No Spark, no tables."""

from __future__ import annotations

import re
import sys
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import accumulate

import numpy as np

from idcore.base.errors import CoreError, coded, refuse
from idcore.ids import broken_lines, records
from idcore.ids.line_moments import LONGEST, NamedDay, StoredTime, born_marks, elapsed_of, line_time, named_day
from idcore.ids.line_time import latest_year, stored_day
from idcore.ids.pasted_logs import HEAD, begins_in
from idcore.ids.records_in_line import ID, hints_in
from idcore.kernels import around, codes, dates, encode, find, paired_offsets, pairs
from idcore.kernels.dates import YEAR
from idcore.scan import look_alikes
from idcore.scan.crossing import EVERY_PART, Block, Fact, Refused, Report, What, fact_of, text_number
from idcore.scan.finder import Finder
from idcore.scan.month_inference import NO_FIRST, NO_TEXT, as_signed, folded_summaries, moments_of, summary
from idcore.sources.inputs import OpenSplit, Split, open_split, walk
from idcore.sources.kinds import GROWING
from idcore.sources.unpack import READ_ERRORS
from idcore.sources.windows import BEFORE, WINDOW, Windows

from .months import Months, as_months, offsets_in_use

MOST_IDS = 4 << 20  # ids that one task holds before it packs them: bounds its memory for any input
MILLISECOND = timedelta(milliseconds=1)
NO_MONTH = -1 << 20  # of a line without a time
_MOMENTS = pairs.TEXT, pairs.TEXT_FIRST, pairs.TEXT_LAST, pairs.TEXT_IS_YEARLESS
_ID_BYTES = re.compile(ID.pattern.encode())
MOST_KEYS = 1 << 16  # and processes, clients and brokers: a table of 8 to 32 MiB


class Scanner:
    """State of one task: feed it splits, take the facts."""

    def __init__(self, months: Months | np.ndarray, case: str = "strict", expected_bytes: int = WINDOW) -> None:
        self.months = as_months(months)
        self.expected = min(MOST_IDS, expected_bytes // 33) + 64
        self.moved: Callable[[int, int], None] | None = None  # reported after each window: bytes and ids of the split
        self.finder = Finder(case)
        self.state = self.finder.state
        self.dating = pairs.Dating(
            self.months.newest,
            self.months.calendar,
            offsets_in_use(),
            dates.no_line_seen(),
            others=np.zeros((len(self.finder.found.lines), pairs.OTHER_COLUMNS), np.int64),
            left=np.zeros(2, np.int64),
            now=self.months.now,
            near=around.nothing_near(),
        )
        self.votes = pairs.Votes(
            np.zeros((len(self.finder.found.keys), pairs.VOTES), np.int64),
            _rows_of(pairs.VOTE_COLUMNS),
            np.array([NO_FIRST, 0, 0, 0]),
        )
        self.moments: list[np.ndarray] = []
        cache, line = np.full((1024, 4), -1, np.int64), np.empty((pairs.LINE_ROWS, find.LINE_IDS), np.int64)
        self.pairing = pairs.Pairing(cache, _rows_of(0), np.zeros(0, np.int8), _rows_of(0), line)
        self._clear()

    def _clear(self) -> None:
        self.finder.clear(self.expected)
        self.texts: list[tuple[int, int]] = []
        self.named: list[np.ndarray] = []
        self.named_rows = 0
        self.pairing = self.pairing._replace(
            ranges=_rows_of(pairs.RANGE_COLUMNS),
            steps=np.zeros(self.expected, np.int8),
            loose=_rows_of(paired_offsets.LOOSE_COLUMNS),
        )
        self.votes = self.votes._replace(rows=_rows_of(pairs.VOTE_COLUMNS))
        self.moments.clear()
        line_start, line_open = self.state[find.LINE_START], self.state[find.LINE_OPEN]
        self.state[:] = 0
        self.state[find.LINE_START], self.state[find.LINE_OPEN] = line_start, line_open

    def _make_room(self, more: int) -> None:
        """Room for so many more ids, and what their lines may say."""
        state = self.state.tolist()
        self.finder.make_room(state[find.STATE_IDS] + more)
        new = len(self.finder.found.values) - len(self.pairing.steps)
        if new:
            steps = np.concatenate([self.pairing.steps, np.zeros(new, np.int8)])
            self.pairing = self.pairing._replace(steps=steps)
        most = more + 2 * find.LINE_IDS
        used = state[find.STATE_RANGES]
        ranges = _roomier(self.pairing.ranges, used + most + len(self.pairing.cache), used)
        used = state[find.STATE_LOOSE]
        loose = _roomier(self.pairing.loose, used + most, used)
        if ranges is not self.pairing.ranges or loose is not self.pairing.loose:
            self.pairing = self.pairing._replace(ranges=ranges, loose=loose)
        used = state[find.STATE_VOTES]
        votes = _roomier(self.votes.rows, used + most, used)
        if votes is not self.votes.rows:
            self.votes = self.votes._replace(rows=votes)

    def _find(self, windows: Windows, stop: int, what: int) -> bool:
        """Finds ids up to `stop`. True once a line that goes on behind the split has ended."""
        self._make_room((stop - windows.at) // 32 + 2)
        ended = False
        while windows.at < stop and not ended:
            ended = self.finder.step(windows, stop, what)
        slots, known = len(self.finder.found.keys), len(self.votes.by_slot)
        if slots > known:
            by_slot = _roomier(self.votes.by_slot, slots, known)
            by_slot[known:] = 0
            self.votes = self.votes._replace(by_slot=by_slot)
        if named := int(self.state[find.STATE_NAMED]):
            self.named.append(look_alikes.named_rows(self.finder.found.named[:named], self.text))
            self.named_rows += named
            self.state[find.STATE_NAMED] = 0
        if self.state[find.STATE_LINES]:
            self._pair(windows, behind=what == find.TAIL)
        return ended

    def _pair(self, windows: Windows, behind: bool) -> None:
        ids, dating = self.finder.found, self.dating
        dating.near[:, around.STOP] = windows.filled + windows.origin
        pairs.pair_lines(windows.buf, windows.origin, ids, dating, self.votes, self.pairing, behind)
        if left := int(dating.left[pairs.LEFT]):
            said = _look_for_moments(windows, ids.lines, dating.others[:left, pairs.OTHER_ROW], self.months)
            dating.left[:] = len(said), 1
            pairs.pair_lines(
                windows.buf, windows.origin, ids, dating._replace(others=said), self.votes, self.pairing, behind
            )
            dating.left[:] = 0

    def scan(self, split: Split, windows: Windows) -> Iterator[Fact]:
        """Everything whose first byte is in the split; facts come early only when there are very many ids."""
        state = self.state
        self.ids = -int(state[find.STATE_IDS])
        self.finder.found.refused[:] = 0
        self.cut: Refused | None = None
        state[find.LINE_FIRST] = state[find.STATE_IDS]
        state[find.LINE_START] = split.start
        self.text = text_number(split.number, split.place)
        self.texts.append((int(state[find.STATE_IDS]), self.text))
        self.dating.near[:] = around.nothing_near()
        error: CoreError | None = None
        at = split.start
        is_whole = split.start == 0 and split.kind != GROWING  # no other task or batch has lines of its logs
        try:
            limit = windows.slide()
            self._begin_log(len(logs := _pasted_logs(split, windows, limit)))
            state[find.LINE_OPEN] = split.start == 0 or windows.buf[BEFORE - 1] == 10
            while True:
                # whole lines at a time: a line is dated by all of its text
                stop = windows.last_line(min(limit, windows.stop - windows.origin))
                if windows.origin + stop > broken_lines.MOST > windows.origin - broken_lines.SAMPLE:
                    self._look_for_cuts(windows, stop)
                while logs and logs[0] <= stop + windows.origin:
                    self._find(windows, logs.pop(0) - windows.origin, find.COUNT)
                    self._end_log(is_whole)
                    self._begin_log(len(logs))
                self._find(windows, stop, find.COUNT)
                at = windows.at + windows.origin
                if self.moved is not None:
                    self.moved(windows.taken(), self.ids + int(state[find.STATE_IDS]))
                if at >= windows.stop or (windows.ended and windows.at >= windows.filled):
                    break
                held = max(int(state[find.STATE_IDS]), self.named_rows)
                if (held > MOST_IDS or state[find.STATE_KEYS] > MOST_KEYS) and self._may_pack():
                    self.ids += int(state[find.STATE_IDS])
                    yield from self.facts()
                    self.texts.append((0, self.text))
                    is_whole = False
                limit = windows.slide()
            self._read_on(windows, at)
        except READ_ERRORS as problem:
            error = coded(problem)
        error = error or windows.error
        if not error and at < split.stop:
            error = refuse("shorter")
        self._end_log(is_whole and windows.ended)
        text_bytes = at - split.start if windows.counted is None else windows.counted()
        refused = [] if self.cut is None else [self.cut]
        for reason, (count, place, size) in enumerate(self.finder.found.refused):
            if count:
                sample = self.finder.found.samples[reason, :size].tobytes().decode("ascii")
                refused.append(Refused(find.REASONS[reason], int(count), sample, int(place)))
        ids = self.ids + int(self.state[find.STATE_IDS])
        yield fact_of([Report(split.number, text_bytes, ids, tuple(refused), error, split.member, split.place)])

    def _look_for_cuts(self, windows: Windows, stop: int) -> None:
        """A sample of a large text, whose IDs nobody joins: how many a line break cuts."""
        first = max(windows.at, broken_lines.MOST - windows.origin)
        last = min(stop, broken_lines.MOST + broken_lines.SAMPLE - windows.origin)
        low = max(0, first - broken_lines.NEAR)
        text = bytes(windows.view[low : last + 2 * broken_lines.NEAR]) if first < last else b""
        for place, digits in broken_lines.cut_ids(text, first - low, last - low):
            known = self.cut or Refused("broken_sample", 0, digits, place + low + windows.origin)
            self.cut = known._replace(ids=known.ids + 1)

    def _may_pack(self) -> bool:
        """Whether facts may be packed: not while an open line may still pair its ids. One with too many never does."""
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
            seen = windows.at + windows.origin - int(state[find.LINE_START])
            back = seen if seen < WINDOW and windows.at >= seen else 0
            windows.at -= back  # the start of the line stays in sight
            limit = windows.slide()
            windows.at += back
            ended = self._find(windows, limit, find.TAIL)
        if not ended and windows.ended:
            first, n = int(state[find.LINE_FIRST]), int(state[find.STATE_IDS])
            end = windows.at + windows.origin
            if find.may_pair(end - int(state[find.LINE_START]), 1, n - first):
                self.finder.found.lines[0] = first, n, state[find.LINE_START], end, 1
                state[find.STATE_LINES] = 1
                self._pair(windows, behind=True)
        state[find.STATE_IDS] = ids

    def facts(self) -> Iterator[Fact]:
        """The ids and pairs found so far, packed; the scanner is empty afterwards."""
        n, keys = int(self.state[find.STATE_IDS]), int(self.state[find.STATE_KEYS])
        if keys:
            yield from self._pack_ids(n, keys)
        ranges = self.pairing.ranges
        rows = pairs.send_ranges(self.pairing.cache, self.finder.found.keys, ranges, int(self.state[find.STATE_RANGES]))
        if rows:
            yield from _deal(What.RANGES, fold_ranges(ranges[:rows]))
        if self.state[find.STATE_LOOSE]:
            yield from _deal(What.LOOSE_PAIRS, self.pairing.loose[: self.state[find.STATE_LOOSE]])
        yield from self._pack_votes()
        if self.named:
            yield from _deal(What.NAMED, look_alikes.together(np.concatenate(self.named)))
        table = self.finder.found.table
        if len(lettered := table[table[:, find.TABLE_MARKS] & find.LETTER_CASES != 0]):
            lettered[:, find.TABLE_MARKS] &= find.LETTER_CASES
            yield from _deal(What.LETTERS, lettered[:, [0, 1, 2, find.TABLE_MARKS]])
        self._clear()

    def _begin_log(self, more: int) -> None:
        """Begins one of several pasted logs; `more` follow. The last has the number of the text, as further splits."""
        self.votes.text[pairs.TEXT] = as_signed(self.text ^ more)

    def _end_log(self, is_whole: bool = False) -> None:
        """Keeps between which moments lines with a year are in a log, and its votes of lines without one.

        Of a million small logs those without such lines have no moments of their own: nobody asks for them.
        """
        text = self.votes.text
        if text[pairs.TEXT_LAST]:
            number, first, last, is_yearless = text[list(_MOMENTS)].tolist()
            self.moments.append(moments_of(number if is_yearless or not is_whole else NO_TEXT, first, last))
        if text[pairs.TEXT_IS_YEARLESS]:
            self._put_votes(YEAR)
        text[: pairs.TEXT] = NO_FIRST, 0, 0

    def _put_votes(self, first: int) -> None:
        """Votes from the `first` kind on, to the rows of those that travel."""
        keys, used = int(self.state[find.STATE_KEYS]), int(self.state[find.STATE_VOTES])
        votes = _roomier(self.votes.rows, used + pairs.KINDS * keys, used)
        if votes is not self.votes.rows:
            self.votes = self.votes._replace(rows=votes)
        text = int(self.votes.text[pairs.TEXT])
        used = pairs.put_votes(self.votes.by_slot, first, self.finder.found.keys[:keys], text, votes, used)
        self.state[find.STATE_VOTES] = used

    def _pack_votes(self) -> Iterator[Fact]:
        self._end_log()
        self._put_votes(0)
        votes = self.votes.rows[: int(self.state[find.STATE_VOTES])]
        if len(votes):
            yield from _deal(What.VOTES, votes)
            rows = folded_summaries(np.vstack([summary(votes, self.months), *self.moments]))
            yield Fact(EVERY_PART, What.SUMMARY, rows.tobytes())

    def _pack_ids(self, n: int, keys: int) -> Iterator[Fact]:
        words = self.finder.found.keys[:keys]
        sizes = np.empty(keys, np.int64)
        unsorted = np.empty(keys, np.bool_)
        parts = np.empty(keys, np.uint8)  # bytes are sorted by counting
        encode.groups_of(self.finder.found.table, words, keys, sizes, unsorted, parts)
        rows = look_alikes.suspects_of(self.finder.found, n, self.texts)
        if len(rows):
            yield from _deal(What.SUSPECTS, rows)
            yield Fact(EVERY_PART, What.SUSPECTED, look_alikes.sample_of(rows).tobytes())
        starts = np.zeros(keys + 1, np.int64)
        np.cumsum(sizes, out=starts[1:])
        grouped = np.empty(n, np.uint64)
        offsets = _PairedOffsets(words, sizes, starts, grouped) if self.state[find.STATE_PAIRED] else None
        if offsets is None:
            encode.scatter(self.finder.found.values, self.finder.found.slots, n, starts[:-1].copy(), grouped)
        else:
            offsets.scatter(self.finder.found, self.pairing.steps, n, unsorted)
        order = np.argsort(parts, kind="stable")
        order = order[sizes[order] > 0]  # a key seen only behind a split has no ids
        distinct = np.empty(len(order), np.uint32)
        lengths = np.empty(len(order), np.uint32)
        out = np.empty(20 * n + 32, np.uint8)
        encode.encode(encode.Groups(grouped, starts, words, unsorted), order, distinct, lengths, out)
        ends = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
        edges = np.concatenate([[0], np.cumsum(np.bincount(parts[order], minlength=encode.PARTS))])
        nothing = np.empty(0, np.uint8)
        for part in range(encode.PARTS):
            a, b = int(edges[part]), int(edges[part + 1])
            if a < b:
                brokers, paired_lengths, paired, bits = np.empty(0, np.int64), np.empty(0, np.uint32), nothing, 0
                if offsets is not None:
                    brokers, paired_lengths, paired = offsets.pack(order[a:b])
                    bits = offsets.bits
                runs = out[ends[a] : ends[b]]
                block = Block(
                    words[order[a:b]], distinct[a:b], lengths[a:b], runs, words[brokers], paired_lengths, paired, bits
                )
                yield Fact(part, What.IDS, block.pack())


class _PairedOffsets:
    """The offsetMsgIds that are paired with the ids of one task, grouped like these."""

    def __init__(self, keys: np.ndarray, sizes: np.ndarray, starts: np.ndarray, grouped: np.ndarray) -> None:
        offset = codes.are(keys, codes.OFFSETS)
        has = ~offset & (sizes > 0)
        places = np.zeros(len(sizes) + 1, np.int64)
        np.cumsum(np.where(has, sizes, 0), out=places[1:])
        paired = np.zeros(places[-1], np.uint64)
        self.grouped = paired_offsets.Grouped(grouped, paired, starts, starts[:-1] - places[:-1], has)
        brokers = int(offset[: paired_offsets.MOST_SLOTS].sum())
        self.bits = brokers.bit_length()
        self.local = np.full(min(len(sizes), int(paired_offsets.MOST_SLOTS)), -1, np.int64)
        self.brokers = np.empty(brokers, np.int64)
        self.out = np.empty(0, np.uint8)

    def scatter(self, ids: find.FoundIds, steps: np.ndarray, n: int, unsorted: np.ndarray) -> None:
        paired_offsets.scatter(ids, steps, n, self.grouped.starts[:-1].copy(), self.grouped)
        paired_offsets.sort_groups(self.grouped, unsorted)

    def pack(self, order: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The slots of the brokers, bytes of each run's paired offsets, and all of these, of the keys in `order`."""
        lengths = np.empty(len(order), np.uint32)
        own = order[self.grouped.has_paired[order]]
        starts = self.grouped.starts
        most = paired_offsets.LONGEST_TOKEN * int((starts[own + 1] - starts[own]).sum()) + 8
        if most > len(self.out):
            self.out = np.empty(most, np.uint8)
        numbers = self.local, self.brokers
        size, used = paired_offsets.encode_paired(self.grouped, order, self.bits, numbers, lengths, self.out)
        return self.brokers[:used], lengths, self.out[:size]


def _pasted_logs(split: Split, windows: Windows, limit: int) -> list[int]:
    """Where further logs begin in a text; in none that grows, whose batches end anywhere."""
    if split.start or split.kind == GROWING:
        return []
    return begins_in(bytes(windows.view[BEFORE : min(limit, BEFORE + HEAD, windows.stop - windows.origin)]))


def _rows_of(columns: int) -> np.ndarray:
    return np.empty((1 << 14, columns), np.uint64)


def _roomier(rows: np.ndarray, most: int, used: int) -> np.ndarray:
    """The array with room for `most` rows. Only `used` rows are copied: pages nobody writes take no memory."""
    if most <= len(rows):
        return rows
    larger = np.empty((max(2 * len(rows), most), rows.shape[1]), rows.dtype)
    larger[:used] = rows[:used]
    return larger


def fold_ranges(rows: np.ndarray) -> np.ndarray:
    """Rows of one broker and minute as one: least of column 4, greatest of column 5.

    Sorted by a hash, one word instead of four: where keys share it, rows may stay apart, which the merge makes good.
    """
    folded = np.empty_like(rows)
    return folded[: encode.fold(rows, np.argsort(encode.hashes_of(rows)), folded)]


def _deal(what: What, rows: np.ndarray) -> Iterator[Fact]:
    """Rows that begin with the words of a key, to the parts of their keys."""
    parts = np.empty(len(rows), np.uint8)  # bytes are sorted by counting
    encode.parts_of(rows, parts)
    rows = rows[np.argsort(parts, kind="stable")]
    edges = np.concatenate([[0], np.cumsum(np.bincount(parts, minlength=encode.PARTS))])
    for part in range(encode.PARTS):
        if edges[part] < edges[part + 1]:
            yield Fact(part, what, rows[edges[part] : edges[part + 1]].tobytes())


def scan_task(
    splits: Sequence[Split],
    months: Months | np.ndarray,
    case: str = "strict",
    moved: Callable[[int, int], None] | None = None,
    with_copies: bool = False,
    opened: OpenSplit = open_split,
) -> Iterator[Fact]:
    """All facts of the splits of one task; each split ends with a REPORT of its own, in their order.

    `with_copies`: of commit logs also the copies that groups made. `opened` opens the file of a split.
    """
    scanner = Scanner(months, case, sum(split.size for split in splits))
    scanner.moved = moved
    for split, windows, error in walk(splits, opened):
        if windows is None:
            yield fact_of([Report(split.number, 0, 0, (), error, split.member, split.place)])
        else:
            yield from scanner.scan(split, windows)
            if windows.aside is not None:
                yield Fact(0, What.TOPICS, windows.aside())
            if windows.copied is not None and with_copies:
                part = (split.number + (split.start >> 25)) % encode.PARTS  # any: so that no task has them all
                yield Fact(part, What.COPIES, windows.copied(split.number))
    yield from scanner.facts()


def _look_for_moments(windows: Windows, lines: np.ndarray, rows: np.ndarray, months: Months) -> np.ndarray:
    """The time of each line that has it elsewhere, in another style, or in another line of its record; in Python.

    Those lines are few in most logs. Where all are such, this is most of the work of a scan. A line of several messages
    has several times, each from its place on.
    """
    near = _LinesAround(windows)
    found = list[tuple[int, ...]]()
    for row, (begin, end) in zip(rows.tolist(), lines[rows][:, [find.BEGIN, find.END]].tolist(), strict=True):
        for place, hint, elapsed in _hints_of(windows, near, begin, end):
            found.append((row, *_as_other(hint, elapsed, months), place))
    return np.array(found, np.int64)


def _as_other(hint: records.Hint | None, elapsed: int, months: Months) -> tuple[int, int, int, int, int]:
    """What a line says of time, as `pairs.Dating.others` has it."""
    month, ms, ahead, born, names_day = NO_MONTH, 0, int(dates.NO_ZONE), int(dates.NOT_THERE), 0
    if hint is None:
        return month, ms, ahead, born, names_day
    time = hint.time
    if isinstance(time, StoredTime):
        names_day = pairs.STORED
        time = stored_day(time, elapsed, months.now, months.zone)
    elif isinstance(time, NamedDay):
        names_day = pairs.A_DAY
        time = latest_year(time, months.now, months.zone)
    if hint.born_ms is not None:
        return month, ms, ahead, hint.born_ms, 0
    if time is None:
        return month, ms, ahead, born, 0
    wall, zone = time.replace(tzinfo=None), time.utcoffset()
    month = wall.year * 12 + wall.month - 1 - dates.FIRST_MONTH
    ms = (wall - datetime(wall.year, wall.month, 1)) // MILLISECOND
    return month, ms, ahead if zone is None else zone // timedelta(minutes=1), born, names_day


class _LinesAround:
    """The lines of a window around some of its own, asked for from its begin to its end: each is read once."""

    def __init__(self, windows: Windows) -> None:
        self._windows = windows
        self._lines: list[str] = []
        self._begins = [0]  # of each line, and of one behind the last
        self._from, self._to = 0, -1

    def of(self, begin: int, end: int) -> tuple[list[str], list[str], tuple[int | None, int | None]]:
        """Lines up to `records.REACH` in front of the one from `begin` to `end`, the nearest first, and behind it.

        Also how many bytes the nearest two have.
        """
        low, high = max(begin - records.REACH, self._windows.origin, 0), end + records.REACH
        if low < self._from or high >= self._to:
            self._read(low, high + 1)
        begins = self._begins
        own = bisect_right(begins, begin) - 1
        first, last = bisect_left(begins, low), bisect_right(begins, high + 1) - 1
        sizes = [begins[at + 1] - begins[at] - 1 if first <= at < last else None for at in (own - 1, own + 1)]
        return self._lines[first:own][::-1], self._lines[own + 1 : last], (sizes[0], sizes[1])

    def _read(self, low: int, high: int) -> None:
        """Reads from one place to another and more, for the next lines are asked for next."""
        origin, view, end = self._windows.origin, self._windows.view, self._windows.filled + self._windows.origin
        self._from, self._to = low, min(high + 2 * records.REACH, end)
        found = bytes(view[low - origin : self._to - origin]).split(b"\n")
        if low > origin and view[low - origin - 1] != 10:
            low += len(found.pop(0)) + 1
        if self._to < end:
            found.pop()  # it goes on
        else:
            self._to = sys.maxsize
        self._begins = list(accumulate((len(one) + 1 for one in found), initial=low))
        self._lines = [str(one, "utf-8", "replace") for one in found]


def _hints_of(
    windows: Windows, near: _LinesAround, begin: int, end: int
) -> Iterator[tuple[int, records.Hint | None, int]]:
    """What dates the ids of the line from `begin` to `end`, from which place on, and elapsed of the id there."""
    text = bytes(windows.view[begin - windows.origin : end - windows.origin])
    line = str(text, "utf-8", "replace")
    hints = hints_in(line)
    if hints is None:
        hint = _hint_of(line, near, begin, end)
        if hint is None or not isinstance(hint.time, StoredTime):
            yield begin, hint, 0
            return
        hints = [(one.start(), hint) for one in ID.finditer(line)] or [
            (0, hint)
        ]  # each its own, by its time of the month
    around = None if all(hint for _, hint in hints) else _hint_around(line, near, begin, end)
    starts = zip(ID.finditer(line), _ID_BYTES.finditer(text), strict=True)
    ids = {one.start(): (as_bytes.start(), sum(elapsed_of(one[0]))) for one, as_bytes in starts}
    for place, hint in hints:
        start, elapsed = ids.get(place, (0, 0))
        yield begin + start, around if hint is None else hint, elapsed


def _hint_of(line: str, near: _LinesAround, begin: int, end: int) -> records.Hint | None:
    """What a line says of when its ids were made, else what the lines around it do.

    A bornTimestamp comes here only if it is of no month in the calendar.
    """
    if born_marks(line):
        return None
    if (time := line_time(line)) is not None:
        return records.Hint(None, time)
    return _hint_around(line, near, begin, end)


def _hint_around(line: str, near: _LinesAround, begin: int, end: int) -> records.Hint | None:
    if len(line) > LONGEST:
        return None
    day, elapsed = named_day(line), elapsed_of(line)
    front, back, sizes = near.of(begin, end)
    is_cell = not records.is_field(line)
    if is_cell and not records.is_cell(end - begin, *sizes):
        return records.with_own_day(day, None, elapsed)
    if is_cell:
        hint = records.cell_hint(front, back, elapsed)
    else:
        hint = records.hint_of_line(line, front, back, elapsed)
    return records.with_own_day(day, hint, elapsed)
