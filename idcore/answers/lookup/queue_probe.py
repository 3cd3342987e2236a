"""A message that the index does not have: looked for through the consume queues around its own time. Reads only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from idcore.answers.lookup.batches import is_own_id, own_id
from idcore.answers.lookup.by_key import Search
from idcore.answers.lookup.notes import Notes
from idcore.base.errors import CoreError
from idcore.ids import identify
from idcore.ids.model import UniqId
from idcore.rocketmq.message import Record, decode_record
from idcore.rocketmq.message.row import has_key
from idcore.rocketmq.remoting.errors import RemotingError
from idcore.rocketmq.remoting.guard import Member
from idcore.rocketmq.remoting.requests import QueueAt, QueueEnd, QueueMax, QueueSlice

# How far around the id's own time, and how many records of each queue.
_BEFORE_MS, _MOST_OF_A_QUEUE = 1_000, 48
_MOST_QUEUES = 64
# Of a process that holds batches back, so many more of each queue, and this long for the way to the broker.
_MOST_BEHIND, _ON_THE_WAY_MS, _SAME_MONTH_MS = 256, 1_000, 86_400_000
# What was stored so near to the id's time shares its fate in the index.
_WITNESSES, _BESIDE_MS = 6, 2_000


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """The record itself, or those that were stored next to where it should be, the nearest first."""

    record: Record | None = None
    broker: str = ""
    queue: int = 0
    neighbours: tuple[Record, ...] = ()


def probe(key: str, topic: str, sent_ms: Sequence[int], notes: Notes) -> ProbeResult:
    """Walks a few entries of every queue of a topic from each of some instants on.

    An item of a batch is stored when its batch was sent. Other records of its process tell when that may have been.
    """
    seen: list[tuple[int, Record]] = []
    try:
        found = _walk(key, topic, sent_ms, notes, seen)
    except RemotingError as problem:
        # a broker that cannot be probed leaves the answer as it was
        notes.add("error_answer", problem=problem.coded())
        found = None
    return found or ProbeResult(neighbours=_nearest(seen))


def _walk(
    key: str, topic: str, sent_ms: Sequence[int], notes: Notes, seen: list[tuple[int, Record]]
) -> ProbeResult | None:
    full: dict[tuple[Member, int], int] = {}
    for member, queue in _queues(topic, notes):
        for instant in sent_ms:
            begin = notes.cluster.ask(member, QueueAt(topic, queue, instant - _BEFORE_MS))
            records = list(_records(member, topic, queue, (begin, begin + _MOST_OF_A_QUEUE), notes))
            for record in records:
                if _has(record, key):
                    return ProbeResult(record, member.registered, queue)
                seen.append((abs(record.store_timestamp - instant), record))
            if len(records) == _MOST_OF_A_QUEUE:
                full[member, queue] = max(full.get((member, queue), 0), records[-1].store_timestamp)
    span = _sent_between(key, [record for _, record in seen])
    for (member, queue), last_ms in full.items():
        if span is None or last_ms > span[1]:
            continue
        begin = notes.cluster.ask(member, QueueAt(topic, queue, span[0]))
        for record in _records(member, topic, queue, (begin, begin + _MOST_BEHIND), notes):
            if _has(record, key):
                return ProbeResult(record, member.registered, queue)
            if record.store_timestamp > span[1]:
                break
    return None


def _queues(topic: str, notes: Notes) -> Iterator[tuple[Member, int]]:
    route = notes.cluster.routes([topic])[topic]
    brokers = notes.cluster.topology().brokers()
    left = _MOST_QUEUES
    for name, queues in () if route is None else route.queues.items():
        if name in brokers:
            yield from ((brokers[name][0], queue) for queue in range(min(queues, left)))
            left -= min(queues, left)


def _has(record: Record, key: str) -> bool:
    return has_key(record, key) or is_own_id(record, key)


def _sent_between(key: str, records: Iterable[Record]) -> tuple[int, int] | None:
    """When a batch with this item was stored, by what else its process sent; None where nothing of it was seen.

    Two ids of a process tell how long after each other they were made, whatever its zone and its clock. So do the ids
    of a batch and of its items: for how long it holds them.
    """
    item, would_be_stored, held = _sender(key), [], 0
    if item is None:
        return None
    for record in records:
        sent = _sender(record.uniq_id)
        own = _sender(own_id(record)) or sent
        if sent is None or own is None or not _process(item) == _process(sent) == _process(own):
            continue
        if abs(sent.elapsed - item.elapsed) < _SAME_MONTH_MS:
            would_be_stored.append(record.store_timestamp - (sent.elapsed - item.elapsed))
            held = max(held, sent.elapsed - own.elapsed)
    if not would_be_stored:
        return None
    # it looks for what is due after each half of that time
    return min(would_be_stored), min(would_be_stored) + held + held // 2 + _ON_THE_WAY_MS


def _sender(text: str | None) -> UniqId | None:
    best = None if text is None else identify(text).best
    return best.id if best is not None and isinstance(best.id, UniqId) else None


def _process(sender: UniqId) -> tuple[bytes, int, int]:
    return sender.ip, sender.pid, sender.loader


def _nearest(seen: list[tuple[int, Record]]) -> tuple[Record, ...]:
    beside = sorted((pair for pair in seen if pair[0] <= _BESIDE_MS), key=lambda pair: pair[0])
    return tuple(record for _, record in beside[:_WITNESSES])


def _records(member: Member, topic: str, queue: int, places: tuple[int, int], notes: Notes) -> Iterator[Record]:
    """Those between two places that can be read. An answer ends where a file of the queue does."""
    cluster, (at, end) = notes.cluster, places
    while at < end:
        units = cluster.ask(member, QueueSlice(topic, queue, at, min(end - at, _MOST_OF_A_QUEUE))).units
        if not units:
            return
        at += len(units)
        offsets = [unit.physical_offset for unit in units]
        for offset, raw in zip(offsets, cluster.view(member, offsets, topic), strict=True):
            if isinstance(raw, RemotingError) or not raw:
                continue
            try:
                record = decode_record(raw)
            except CoreError:
                continue
            if record.physical_offset == offset:
                yield record


def count_messages(topic: str, notes: Notes) -> None:
    """How many messages a topic holds on each broker: none at all explains much."""
    route = notes.cluster.routes([topic])[topic]
    brokers = notes.cluster.topology().brokers()
    for name, queues in () if route is None else route.queues.items():
        asked = range(min(queues, _MOST_QUEUES))
        if name not in brokers or not asked:
            continue
        member = brokers[name][0]
        try:
            least = notes.cluster.ask_all(member, [QueueEnd(topic, queue) for queue in asked])
            most = notes.cluster.ask_all(member, [QueueMax(topic, queue) for queue in asked])
        except RemotingError as problem:
            notes.add("error_answer", problem=problem.coded())
            continue
        ends = [
            (low, high) for low, high in zip(least, most, strict=True) if isinstance(low, int) and isinstance(high, int)
        ]
        count = sum(max(0, high - low) for low, high in ends)
        notes.add("messages", topic=topic, broker=str(member), queues=len(ends), count=count)


def index_knows(record: Record, notes: Notes) -> bool:
    """Whether the index finds a record by its own UNIQ_KEY; True where it has no UNIQ_KEY to be found by."""
    if record.uniq_id is None:
        return True
    records = Search(record.uniq_id, notes).run([record.topic], 0)
    return any(other.physical_offset == record.physical_offset for other, _ in records) or bool(notes.failed)
