"""Messages of queues in the order of their store time: where a time begins, several queues as one list. Asks nobody."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from idcore.answers.lookup.ways import MOST_BYTES, MOST_LISTED, QueueCount, Stop, Way
from idcore.base.errors import CoreError
from idcore.rocketmq.message import Record, flags
from idcore.rocketmq.message import properties as names
from idcore.rocketmq.remoting.requests import LONG_MAX

# Entries of a queue that are read together: as many records are on their way at once.
SLICE = 32
# A place without a readable record is dated by one near to it: so many first, then so many; or by one of so many parts.
_NEAR, _FAR, _PARTS = 8, 128, 32
_MOST_OF_A_BATCH = (1 << 15) - 1
# So many places without one are read for one instant.
_UNDATED_MOST = 1_024


def never() -> bool:
    """Nobody ends the list early."""
    return False


@dataclass(frozen=True, slots=True)
class Place:
    """The offsets of a queue from `offset` up to `after`, and their record; None where it cannot be read."""

    offset: int
    after: int
    record: Record | None


class Queue(Protocol):
    """One queue, wherever it is. A CoreError where it cannot be read."""

    @property
    def broker(self) -> str:
        """The broker's name; empty in a store folder."""

    @property
    def number(self) -> int:
        """Its number in the topic."""

    def ends(self) -> tuple[int, int]:
        """Its first offset and the one behind its last."""

    def near(self, at_ms: int) -> int:
        """An offset near to where an instant begins. It need not be exact: `first_since` checks it."""

    def read(self, first: int, most: int) -> list[Place]:
        """The places from an offset on, at most so many; none where the queue has none there."""


Q = TypeVar("Q", bound=Queue)


def place_of(expected: int, record: Record | None, topic: str, queue: int, end: int) -> Place:
    """The place of a record that was read for an offset. What belongs elsewhere is not its record.

    A batch queue of 5.x has one record for several offsets, a compacted one leaves offsets out.
    """
    if record is not None and (record.topic, record.queue_id) == (topic, queue):
        # An inner batch has several offsets. A broker refuses INNER_NUM in other records, and keeps a short.
        held = names.number(record.properties.get(names.INNER_NUM)) if record.sys_flag & flags.INNER_BATCH else None
        after = record.queue_offset + (held if held and held <= _MOST_OF_A_BATCH else 1)
        if record.queue_offset < end and after > expected:
            return Place(record.queue_offset, after, record)
    return Place(expected, expected + 1, None)


def first_since(queue: Queue, at_ms: int, low: int, high: int) -> tuple[int, int]:
    """Where from `low` up to `high` the records begin that were stored at an instant or later: the bounds of it.

    The first is behind the last record that is earlier, the second is the first record that is not: `high` without one.
    They differ where nothing between them can be read.

    Brokers of 4.9 give the nearest offset only, and any of several that were stored in one millisecond. So the records
    around what they say decide: steps that double lead away from it, halving ends the search.
    """
    if low >= high:
        return high, high
    left, right, at, step = low, high, min(max(queue.near(at_ms), low), high - 1), 1
    unread = _UNDATED_MOST
    while left < right and unread > 0:
        place, undated = _dated(queue, at, left, right)
        unread -= undated
        if place is None:
            break
        if (-1 if place.record is None else place.record.store_timestamp) < at_ms:
            left = min(place.after, right)
            at = left + step
        else:
            right = max(left, min(place.offset, right - 1))
            at = right - step
        step *= 2
        if not left <= at < right:
            at = (left + right) // 2
    return left, right


def _dated(queue: Queue, at: int, left: int, right: int) -> tuple[Place | None, int]:
    """A place with a readable record between two offsets, and how many were read in vain.

    The nearest one behind `at`, or else before it; where there is none nearby, one of a few that are far away.
    """
    near = ((at, 1), (at + 1, _NEAR), (at - _NEAR, _NEAR), (at + 1 + _NEAR, _FAR), (at - _NEAR - _FAR, _FAR))
    spread = ((left + (right - left) * part // _PARTS, 1) for part in range(_PARTS))
    vain = 0
    for first, most in (*near, *spread):
        begin, end = max(first, left), min(first + most, right)
        while begin < end:
            places = queue.read(begin, min(end - begin, SLICE))
            found = [place for place in places if place.record is not None]
            if found:
                return found[0] if first >= at else found[-1], vain
            vain += end - begin
            begin = places[-1].after if places else end
    return None, vain


@dataclass(eq=False)
class ListedQueue(Generic[Q]):
    """One queue of a list on its way: its ends, the offsets of the list, what was read so far, why it ended early."""

    queue: Q
    minimum: int = 0
    maximum: int = 0
    first: int = 0
    end: int = 0
    listed: int = 0
    seen: int = 0
    unreadable: int = 0
    problem: CoreError | None = None
    ran_out: int | None = None
    missing: int = 0
    waiting: list[Place] = field(default_factory=list)

    def open(self, way: Way) -> None:
        """Finds the offsets of the list and reads the first of them."""
        try:
            self.minimum, self.maximum = self.queue.ends()
            low, high = self.minimum, max(self.minimum, self.maximum)
            if way.kind == "queue":
                low = min(max(way.offset, low), high)
                high = min(high, low + way.limit)
                low = high if way.offset < self.minimum else low
            if way.begin_ms is not None:
                low, _ = first_since(self.queue, way.begin_ms, low, high)  # what cannot be read may be of the time
            if way.end_ms is not None:
                _, high = first_since(self.queue, way.end_ms + 1, low, high)
            self.first, self.end = low, high
            self.waiting = self._slice(low, high, way.newest_first)
        except CoreError as problem:
            self.problem = problem.without_stack()

    def _slice(self, low: int, high: int, newest_first: bool) -> list[Place]:
        """The next places, those that come first at the end."""
        if low >= high:
            return []
        at = begin = max(low, high - SLICE) if newest_first else low
        upto = min(begin + SLICE, high)
        places: list[Place] = []
        while at < upto:  # a broker ends its answer where a file of the queue ends
            more = self.queue.read(at, upto - at)
            if not more:
                self.ran_out = at
                self.missing += upto - at if newest_first else 0
                break
            places += more
            at = more[-1].after
        return places if newest_first else places[::-1]

    def places(self, newest_first: bool) -> Iterator[tuple[int, ListedQueue[Q], Place]]:
        """The places in their order, each with the store time that it is sorted by."""
        low, high = self.first, self.end
        last = LONG_MAX if newest_first else 0  # what cannot be read is sorted by the one before it
        while self.waiting:
            low, high = (low, self.waiting[0].offset) if newest_first else (self.waiting[0].after, high)
            while self.waiting:
                place = self.waiting.pop()
                last = last if place.record is None else place.record.store_timestamp
                yield last, self, place
            try:
                self.waiting = self._slice(low, high, newest_first)
            except CoreError as problem:
                self.problem = problem.without_stack()

    def see(self, place: Place, newest_first: bool) -> None:
        """A place is part of the list, so everything before it in the list's order was read."""
        seen = self.end - place.offset if newest_first else place.after - self.first
        self.seen = min(seen, self.end - self.first) - self.missing

    def count(self) -> QueueCount:
        """The figures of this queue, for the list."""
        ends = self.minimum, self.maximum, self.first, self.end
        return QueueCount(self.queue.broker, self.queue.number, *ends, self.listed, self.seen, self.unreadable)


@dataclass(frozen=True, slots=True)
class ListedRecords(Generic[Q]):
    """The records of a list with their queues, what became of each queue, and what ended the list early."""

    records: tuple[tuple[Record, Q], ...]
    parts: tuple[ListedQueue[Q], ...]
    cut: str | None


def collect(
    queues: Sequence[Q],
    way: Way,
    progress: Callable[[int, int, str], None],
    stop: Stop = never,
    at_once: int = 8,
) -> ListedRecords[Q]:
    """The records of a way in some queues, so many of which are opened at once. One that fails ends, others go on."""
    parts = [ListedQueue(queue) for queue in queues]
    with ThreadPoolExecutor(min(at_once, len(parts)) or 1, "list") as pool:
        for _ in pool.map(lambda part: None if stop() else part.open(way), parts):
            pass
    most = way.limit * len(parts) if way.kind == "queue" else MOST_LISTED if way.kind == "tag" else way.limit
    total = min(most, sum(part.end - part.first for part in parts))
    streams = [part.places(way.newest_first) for part in parts]
    records: list[tuple[Record, Q]] = []
    size, cut = 0, "stopped" if stop() else None
    merged = heapq.merge(*streams, key=lambda item: item[0], reverse=way.newest_first)
    for done, (_, part, place) in enumerate(() if cut else merged):
        # what is read is bounded, whether it can be read or not
        is_full = done >= most or (way.kind == "tag" and len(records) >= way.limit)
        if is_full or size >= MOST_BYTES or stop():
            cut = "limit" if is_full else "bytes" if size >= MOST_BYTES else "stopped"
            break
        if done % SLICE == 0:
            progress(done, total, way.listed_topic or "")
        part.see(place, way.newest_first)
        record = place.record
        if record is None:
            part.unreadable += 1
        elif inside(record, way):
            part.listed += 1
            size += record.size
            records.append((record, part.queue))
    progress(total, total, "")
    if cut is None and any(part.problem is not None or part.ran_out is not None for part in parts):
        cut = "failed"
    return ListedRecords(tuple(records), tuple(parts), cut)


def inside(record: Record, way: Way) -> bool:
    """Whether a record is of the time asked for: where a clock was set back, those between two others may not be.

    And of the tag, where one was asked for.
    """
    if way.kind == "tag" and record.properties.get(names.TAGS) != way.tag:
        return False
    begin, end = way.begin_ms, way.end_ms
    at = record.store_timestamp
    return (begin is None or at >= begin) and (end is None or at <= end)


def why_none(way: Way, listed: ListedRecords[Q]) -> str:
    """The reason of an empty list whose queues all answered."""
    parts = listed.parts
    if listed.cut == "stopped":
        return "stopped"
    if any(part.unreadable for part in parts):
        return "unreadable"
    if all(part.maximum <= part.minimum for part in parts):
        return "empty"
    if way.kind == "queue":
        return "before_first" if any(way.offset < part.minimum for part in parts) else "behind_end"
    return "tag_unknown" if way.kind == "tag" else "none_in_range"
