"""Lists of messages in a store folder: by its queues, its index, or record by record of its log. Reads only."""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from idcore.answers.lookup.copies import explain
from idcore.answers.lookup.index_walk import IndexWalk
from idcore.answers.lookup.listing import Place, collect, inside, place_of, why_none
from idcore.answers.lookup.model import Copy, Evidence
from idcore.answers.lookup.source import Progress, WrongTerms
from idcore.answers.lookup.ways import MOST_BYTES, Listing, Stop, Way
from idcore.rocketmq.message import Record, flags
from idcore.rocketmq.message import properties as names
from idcore.rocketmq.message.model import LIGHT_PREFIX
from idcore.rocketmq.message.row import has_key
from idcore.rocketmq.remoting.requests import LONG_MAX
from idcore.rocketmq.store.commitlog import Miss, Skipped, Stored
from idcore.rocketmq.store.files import File
from idcore.rocketmq.store.folder import StoreFolder
from idcore.rocketmq.store.index import GAP_MOST
from idcore.rocketmq.store.queue import ConsumeQueue

# Where nothing leads to the records of a log it is read itself, up to so many bytes.
WALKED_MOST = 4 << 30
_MOST_SHOWN = f"{WALKED_MOST >> 30} GiB"
_STEP_BYTES = 8 << 20
# Clocks are set back: a record may have been stored so much later than others behind it.
_SLACK_MS = 3_600_000


@dataclass(frozen=True, slots=True)
class _StoredQueue:
    """One queue of the folder."""

    store: StoreFolder
    queue: ConsumeQueue
    first: int  # the least place whose record the log can have

    @classmethod
    def of(cls, store: StoreFolder, queue: ConsumeQueue) -> _StoredQueue:
        """A queue without the places whose records were deleted with the files of the log."""
        low, high = queue.span or (0, 0)
        places = range(low, min(high, LONG_MAX))
        return cls(store, queue, low + bisect_left(places, True, key=partial(_is_in_log, store, queue)))

    @property
    def broker(self) -> str:
        return ""

    @property
    def number(self) -> int:
        return self.queue.queue_id

    def ends(self) -> tuple[int, int]:
        return self.first, self.queue.span[1] if self.queue.span else 0

    def near(self, at_ms: int) -> int:
        low, high = self.ends()
        return (low + high) // 2  # nobody knows better; halving goes on from here

    def read(self, first: int, most: int) -> list[Place]:
        end = min(first + most, self.ends()[1])
        places: list[Place] = []
        while (expected := places[-1].after if places else first) < end:
            unit = self.queue.unit(expected)
            stored = None if unit is None else self.store.log.look(unit.physical_offset)
            record = stored.record if isinstance(stored, Stored) else None
            if self.queue.topic.startswith(LIGHT_PREFIX):  # its entries are of records of other topics
                at = None if record is None else names.light_places(record.properties).get(self.queue.topic)
                places.append(Place(expected, expected + 1, record if at == expected else None))
            else:
                places.append(place_of(expected, record, self.queue.topic, self.number, end))
        return places


def _is_in_log(store: StoreFolder, queue: ConsumeQueue, place: int) -> bool:
    unit = queue.unit(place)
    return unit is None or unit.physical_offset >= (store.log.minimum or 0)


def find(way: Way, store: StoreFolder, progress: Progress, stop: Stop) -> Listing:
    """Lists the messages of a way, or gives the reason why the list is empty."""
    if way.broker is not None:
        raise WrongTerms("terms_broker")
    listing = _by_key(way, store, progress, stop) if way.kind == "key" else _of_queues(way, store, progress, stop)
    unreadable = (Evidence.figure("unreadable", store.unreadable),) if store.unreadable else ()
    return replace(listing, evidence=(*listing.evidence, *unreadable))


def _of_queues(way: Way, store: StoreFolder, progress: Progress, stop: Stop) -> Listing:
    topic, asked = way.listed_topic or "", (str(store.root),)
    queues = [_StoredQueue.of(store, queue) for queue in store.queues.of(topic)] if store.queues.is_whole else []
    if not queues:
        known = topic in store.topics
        none = "empty" if known else "no_dead_letters" if way.kind == "dead_letters" else "topic_unknown"
        if store.queues.topics and store.queues.is_whole:
            return Listing(way, (), reason=none, asked=asked)
        return _of_log(way, store, progress, stop)  # a commit log alone has records of topics that nothing names
    if way.kind == "queue":
        queues = [queue for queue in queues if queue.number == way.queue]
    if not queues:
        return Listing(way, (), reason="no_queue", asked=asked)
    listed = collect(queues, way, progress, stop, at_once=1)
    copies = _copies(record for record, _ in listed.records)
    evidence = tuple(
        Evidence.of("list_unreadable", broker=str(store.root), queue=part.queue.number, count=part.unreadable)
        for part in listed.parts
        if part.unreadable
    )
    reason = None if copies else why_none(way, listed)
    return Listing(way, copies, tuple(part.count() for part in listed.parts), listed.cut, reason, evidence, asked)


def _by_key(way: Way, store: StoreFolder, progress: Progress, stop: Stop) -> Listing:
    """Every message with a key, the newest first: by the index, and by the log where the index does not cover it."""
    topics = store.topics if way.topic is None else [way.topic]
    record_at: dict[int, Record] = {}
    broken: list[int] = []
    by_index = IndexWalk(store, stop)
    for done, topic in enumerate(topics):
        progress(done, len(topics), topic)
        for entry, outcome, is_one in () if stop() else by_index.outcomes(topic, way.key):
            if isinstance(outcome, Miss):
                broken += [] if outcome.reason == "before_minimum" else [entry.physical_offset]
            elif is_one:
                record_at[outcome.offset] = outcome.record
    evidence = [Evidence.of("list_index_broken", count=len(broken), offset=min(broken))] if broken else []
    evidence += [Evidence.of("index_cut", key=way.key)] if by_index.is_cut else []
    start = _not_indexed(store)
    files, walk = _stretch(way, store, start), _Walk(way)
    is_covered = _size(files, store, start) <= WALKED_MOST
    if is_covered:
        walk.run(files, store, start, progress, stop)
        evidence += walk.evidence("list_log_no_index")
    else:
        evidence += [Evidence.of("list_index_incomplete", most=_MOST_SHOWN), _searched(store)]
    record_at |= {record.physical_offset: record for record in walk.found}
    records = [record for record in record_at.values() if inside(record, way)]
    records.sort(key=lambda record: (record.store_timestamp, record.physical_offset), reverse=True)
    is_bounded = way.begin_ms is not None or way.end_ms is not None
    is_open = bool(broken) or bool(walk.damaged) or not is_covered or by_index.is_cut
    cut = "limit" if len(records) > way.limit else walk.cut or ("failed" if is_open else None)
    cut = "stopped" if stop() else cut
    none = "none_in_range" if record_at or (walk.read and is_bounded) else "key_unknown"
    none = cut if cut == "stopped" else "index_damaged" if is_open else none
    asked = (str(store.root),)
    return Listing(way, _copies(records[: way.limit]), (), cut, None if records else none, tuple(evidence), asked)


# ---- record by record of the log


def _of_log(way: Way, store: StoreFolder, progress: Progress, stop: Stop) -> Listing:
    """The messages of a way in a folder without queues."""
    files, walk = _stretch(way, store, 0), _Walk(way)
    asked = (str(store.root),)
    if _size(files, store, 0) > WALKED_MOST:
        evidence = (Evidence.of("list_log_too_large", most=_MOST_SHOWN),)
        return Listing(way, (), reason="store_no_queues", evidence=evidence, asked=asked)
    walk.run(files, store, 0, progress, stop)
    records = sorted(
        walk.found,
        key=lambda record: (record.store_timestamp, record.queue_id, record.queue_offset),
        reverse=way.newest_first,
    )
    cut = walk.cut or ("failed" if walk.damaged else None)
    reason = None if records else walk.why_none(files == _written(store, 0))
    return Listing(way, _copies(records), (), cut, reason, tuple(walk.evidence("list_log_no_queues")), asked)


def _not_indexed(store: StoreFolder) -> int:
    """The offset of the log from which on the index does not lead to all records: its first one where it is damaged."""
    index, minimum = store.index, store.log.minimum or 0
    if index.begin is None or index.end is None or not index.is_whole or index.begin - minimum >= GAP_MOST:
        return minimum
    last = store.log.look(index.end)
    return max(minimum, last.end if isinstance(last, Stored) else index.end)


def _searched(store: StoreFolder) -> Evidence:
    """What the index leads to, where the log itself is not read."""
    begin, end = store.index.begin, store.index.end
    if begin is None or end is None:
        return Evidence.of("list_index_none")
    return Evidence.of(
        "list_index_searched", begin=begin, end=end, first=store.log.minimum or 0, last=store.log.end or 0
    )


def _size(files: Sequence[File], store: StoreFolder, start: int) -> int:
    """The bytes of some files from an offset on, as far as they are written."""
    return sum(min(file.end, store.log.end or 0) - max(start, file.start) for file in files)


def _written(store: StoreFolder, start: int) -> list[File]:
    """The files of the log that have anything from an offset on."""
    return [file for file in store.log.files if file.end > start and file.start < (store.log.end or 0)]


def _stretch(way: Way, store: StoreFolder, start: int) -> list[File]:
    """The files of the log from an offset on that can have records of the way's time."""
    files = _written(store, start)
    if way.begin_ms is None and way.end_ms is None:
        return files
    begin, end = 0, len(files)
    for at, file in enumerate(files):
        first = next((step for step in store.log.walk(file.start, file.end) if isinstance(step, Stored)), None)
        if first is None:
            continue
        stored = first.record.store_timestamp
        if way.begin_ms is not None and stored < way.begin_ms - _SLACK_MS:
            begin = at
        if way.end_ms is not None and stored > way.end_ms + _SLACK_MS:
            end = min(end, at)
    return files[begin:end]


@dataclass(slots=True)
class _Walk:
    """The records of a way in a stretch of the log: at most its limit, the newest ones if the way wants those.

    `places` are the least and the greatest queue offset of the way's queue, or of its topic.
    """

    way: Way
    found: deque[Record] = field(default_factory=deque)
    cut: str | None = None
    files: int = 0
    read: int = 0
    held: int = 0
    damaged: int = 0
    places: tuple[int, int] | None = None

    def run(self, files: Sequence[File], store: StoreFolder, start: int, progress: Progress, stop: Stop) -> None:
        """Reads files of the log from an offset on."""
        if not files:
            return
        begin, end = max(start, files[0].start), min(files[-1].end, store.log.end or 0)
        self.files = len(files)
        for step in store.log.walk(begin, end):
            if stop():
                self.cut = "stopped"
                return
            if isinstance(step, Skipped):
                self.damaged += step.end - step.offset
            elif isinstance(step, Stored) and self._is_of_way(step.record) and not self._keep(step.record):
                return
            if self.read % _STEP_BYTES + step.end - step.offset >= _STEP_BYTES:
                progress(step.end - begin >> 20, end - begin >> 20, step.file)
            self.read += step.end - step.offset

    def _is_of_way(self, record: Record) -> bool:
        way = self.way
        if way.kind == "key":
            return way.topic in (None, record.topic) and has_key(record, way.key) and inside(record, way)
        if record.topic != way.listed_topic or not flags.in_queue(record.sys_flag):
            return False
        if way.kind == "queue" and record.queue_id != way.queue:
            return False
        least, greatest = self.places or (record.queue_offset, record.queue_offset)
        self.places = min(least, record.queue_offset), max(greatest, record.queue_offset)
        if way.kind != "queue":
            return inside(record, way)
        place = place_of(way.offset, record, record.topic, way.queue, way.offset + way.limit)
        return place.record is not None

    def _keep(self, record: Record) -> bool:
        """Whether further records are wanted."""
        is_full = len(self.found) >= self.way.limit
        if is_full or self.held + record.size > MOST_BYTES:
            self.cut = "bytes" if not is_full else None if self.way.kind == "queue" else "limit"
            if not self.way.newest_first or not self.found:
                return False
            self.held -= self.found.popleft().size
        self.found.append(record)
        self.held += record.size
        return True

    def why_none(self, is_whole_log: bool) -> str:
        """The reason of an empty list."""
        if self.cut is not None or self.damaged:
            return self.cut or "unreadable"
        if self.places is None and is_whole_log:
            return "none_in_log"
        if self.places is None or self.way.kind != "queue":
            return "none_in_range"
        return "before_first" if self.way.offset < self.places[0] else "behind_end"

    def evidence(self, why: str) -> Iterator[Evidence]:
        """That the log was read, and why; what of it is damaged."""
        if self.read:
            yield Evidence.of(why, bytes=self.read, files=self.files)
        if self.damaged:
            yield Evidence.of("list_log_damaged", bytes=self.damaged)


def _copies(records: Iterable[Record]) -> tuple[Copy, ...]:
    return tuple(explain([(record, "")])[0] for record in records)
