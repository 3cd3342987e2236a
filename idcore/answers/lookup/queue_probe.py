"""A message that the index does not have: looked for through the consume queues around its own time. Reads only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from idcore.answers.lookup.by_key import Search
from idcore.answers.lookup.notes import Notes
from idcore.base.errors import CoreError
from idcore.rocketmq.message import Record, decode_record
from idcore.rocketmq.message.row import has_key
from idcore.rocketmq.remoting.errors import RemotingError
from idcore.rocketmq.remoting.guard import Member
from idcore.rocketmq.remoting.requests import QueueAt, QueueEnd, QueueMax, QueueSlice

# How far around the id's own time, and how many records of each queue.
_BEFORE_MS, _MOST_OF_A_QUEUE = 1_000, 48
_MOST_QUEUES = 64
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
    """Walks a few entries of every queue of a topic from each of some instants on."""
    route = notes.cluster.routes([topic])[topic]
    brokers = notes.cluster.topology().brokers()
    seen: list[tuple[int, Record]] = []
    if route is None:
        return ProbeResult()
    left = _MOST_QUEUES
    for name, queues in route.queues.items():
        if name not in brokers:
            continue
        member = brokers[name][0]
        for queue in range(min(queues, left)):
            left -= 1
            for instant in sent_ms:
                try:
                    records = _records(member, topic, queue, instant - _BEFORE_MS, notes)
                except RemotingError as problem:
                    # a broker that cannot be probed leaves the answer as it was
                    notes.add("error_answer", problem=problem.coded())
                    return ProbeResult(neighbours=_nearest(seen))
                for record in records:
                    if has_key(record, key):
                        return ProbeResult(record, member.registered, queue)
                    seen.append((abs(record.store_timestamp - instant), record))
    return ProbeResult(neighbours=_nearest(seen))


def _nearest(seen: list[tuple[int, Record]]) -> tuple[Record, ...]:
    beside = sorted((pair for pair in seen if pair[0] <= _BESIDE_MS), key=lambda pair: pair[0])
    return tuple(record for _, record in beside[:_WITNESSES])


def _records(member: Member, topic: str, queue: int, instant: int, notes: Notes) -> list[Record]:
    cluster = notes.cluster
    index = cluster.ask(member, QueueAt(topic, queue, instant))
    units = cluster.ask(member, QueueSlice(topic, queue, index, _MOST_OF_A_QUEUE)).units
    offsets = [unit.physical_offset for unit in units]
    records = []
    for offset, raw in zip(offsets, cluster.view(member, offsets, topic), strict=True):
        if isinstance(raw, RemotingError) or not raw:
            continue
        try:
            record = decode_record(raw)
        except CoreError:
            continue
        if record.physical_offset == offset:
            records.append(record)
    return records


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
