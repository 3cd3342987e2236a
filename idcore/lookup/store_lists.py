"""Lists of messages in a store folder: by its queues and its index. Reads only."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from idcore.lookup.copies import explain
from idcore.lookup.listing import Place, collect, inside, place_of, why_none
from idcore.lookup.model import Copy, Evidence
from idcore.lookup.source import Progress, WrongTerms
from idcore.lookup.ways import Listing, Stop, Way
from idcore.message import Record
from idcore.message.row import has_key
from idcore.store.commitlog import Stored
from idcore.store.folder import StoreFolder
from idcore.store.queue import ConsumeQueue


@dataclass(frozen=True, slots=True)
class _StoredQueue:
    """One queue of the folder."""

    store: StoreFolder
    queue: ConsumeQueue

    @property
    def broker(self) -> str:
        return ""

    @property
    def number(self) -> int:
        return self.queue.queue_id

    def ends(self) -> tuple[int, int]:
        return self.queue.span or (0, 0)

    def near(self, at_ms: int) -> int:
        low, high = self.ends()
        return (low + high) // 2  # nobody knows better; halving goes on from here

    def read(self, first: int, most: int) -> list[Place]:
        end = min(first + most, self.ends()[1])
        places: list[Place] = []
        while (expected := places[-1].after if places else first) < end:
            unit = self.queue.unit(expected)
            found = None if unit is None else self.store.log.look(unit.physical_offset)
            record = found.record if isinstance(found, Stored) else None
            places.append(place_of(expected, record, self.queue.topic, self.number, end))
        return places


def find(way: Way, store: StoreFolder, progress: Progress, stop: Stop) -> Listing:
    """Lists the messages of a way, or gives the reason why the list is empty."""
    if way.broker is not None:
        raise WrongTerms("terms_broker")
    listing = _by_key(way, store) if way.kind == "key" else _of_queues(way, store, progress, stop)
    unreadable = (Evidence.figure("unreadable", store.unreadable),) if store.unreadable else ()
    return replace(listing, evidence=(*listing.evidence, *unreadable))


def _of_queues(way: Way, store: StoreFolder, progress: Progress, stop: Stop) -> Listing:
    topic, asked = way.listed_topic or "", (str(store.root),)
    queues = [_StoredQueue(store, queue) for queue in store.queues.of(topic)]
    if not queues:
        known = topic in store.topics
        none = "empty" if known else "no_dead_letters" if way.kind == "dead_letters" else "topic_unknown"
        # a commit log alone has records of topics that nothing names
        return Listing(way, (), reason=none if store.queues.topics else "store_no_queues", asked=asked)
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


def _by_key(way: Way, store: StoreFolder) -> Listing:
    """Every message with a key that the index leads to, the newest first."""
    topics = store.topics if way.topic is None else [way.topic]
    found: dict[int, Record] = {}
    for topic in topics:
        for entry in store.index.look_up(topic, way.key):
            outcome = store.log.look(entry.physical_offset)
            if isinstance(outcome, Stored) and outcome.record.topic == topic and has_key(outcome.record, way.key):
                found[outcome.offset] = outcome.record
    records = [record for record in found.values() if inside(record, way)]
    records.sort(key=lambda record: (record.store_timestamp, record.physical_offset), reverse=True)
    cut = "limit" if len(records) > way.limit else None
    reason = None if records else "none_in_range" if found else "key_unknown"
    return Listing(way, _copies(records[: way.limit]), (), cut, reason, (), (str(store.root),))


def _copies(records: Iterable[Record]) -> tuple[Copy, ...]:
    return tuple(explain([(record, "")])[0] for record in records)
