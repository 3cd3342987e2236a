"""The copies of one message side by side: which is the message, which a retry, a dead letter, a half. Asks nobody."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from dataclasses import replace

from idcore.lookup.model import Copy
from idcore.message import Record
from idcore.message import properties as names
from idcore.message.model import DLQ_PREFIX, RETRY_PREFIX
from idcore.message.validators import (
    CHECK_MAX_TIME_TOPIC,
    HALF_TOPIC,
    OP_HALF_TOPIC,
    SCHEDULE_TOPIC,
    is_system_topic,
    is_trace_topic,
)
from idcore.remoting.bodies import BodyPolicy

TIMER_TOPIC = "rmq_sys_wheel_timer"
_BY_TOPIC = {
    HALF_TOPIC: "half",
    OP_HALF_TOPIC: "operation",
    CHECK_MAX_TIME_TOPIC: "undecided",
    SCHEDULE_TOPIC: "delayed",
    TIMER_TOPIC: "timer",
}
# Where copies of a message go that was sent to another topic.
WAITING_ROOMS = (HALF_TOPIC, SCHEDULE_TOPIC, TIMER_TOPIC)


def is_special(topic: str) -> bool:
    """Whether the broker itself, not a producer, writes to this topic."""
    return is_system_topic(topic) or topic in _BY_TOPIC or topic.startswith((RETRY_PREFIX, DLQ_PREFIX))


def related_topics(topics: Iterable[str]) -> list[str]:
    """Of all topics those that may hold copies of any message: waiting rooms, then retries and dead letters."""
    every = list(topics)
    waiting = [topic for topic in WAITING_ROOMS if topic in every]
    return waiting + [topic for topic in every if topic.startswith((RETRY_PREFIX, DLQ_PREFIX))]


def home_topic(record: Record) -> str:
    """The topic that the producer named: a copy in a special topic carries it as a property."""
    properties = record.properties
    if not is_special(record.topic):
        return record.topic
    for name in (names.RETRY_TOPIC, names.REAL_TOPIC):
        value = properties.get(name)
        if value and not is_special(value):
            return value
    return record.topic


def explain(found: Sequence[tuple[Record, str]], bodies: BodyPolicy | None = None) -> tuple[Copy, ...]:
    """The copies in the order they were stored, each with its relation to the others; a record is listed once."""
    once = {(str(record.store_host), record.physical_offset): (record, broker) for record, broker in reversed(found)}
    ordered = sorted(once.values(), key=lambda pair: (pair[0].store_timestamp, pair[0].physical_offset))
    copies: list[Copy] = []
    bodies_of: dict[tuple[str, str | None], set[tuple[int, int]]] = {}
    for record, broker in ordered:
        earlier = bodies_of.setdefault((record.topic, record.uniq_id), set())
        relation, group = _relation(record, earlier)
        earlier.add((record.body_crc, len(record.body)))
        copies.append(Copy(record, broker, relation, group, bodies))
    # The message itself first, the broker's own copies behind it; both in the order they were stored.
    return tuple(sorted(copies, key=lambda copy: is_special(copy.record.topic)))


def related(copies: Sequence[Copy]) -> tuple[Copy, ...]:
    """The copies that one store has of a message, in their order, each with its relation to the others."""
    known = {copy.record.physical_offset: copy for copy in explain([(copy.record, "") for copy in copies])}
    relations = (known[copy.record.physical_offset] for copy in copies)
    return tuple(
        replace(copy, relation=other.relation, group=other.group) for copy, other in zip(copies, relations, strict=True)
    )


def _relation(record: Record, earlier: Set[tuple[int, int]]) -> tuple[str, str | None]:
    """What a record is; `earlier` are CRC and length of the bodies stored before it under its id in its topic."""
    for prefix, relation in ((RETRY_PREFIX, "retry"), (DLQ_PREFIX, "dead_letter")):
        if record.topic.startswith(prefix):
            return relation, record.topic[len(prefix) :]
    if record.topic in _BY_TOPIC:
        return _BY_TOPIC[record.topic], None
    if is_trace_topic(record.topic):
        return "trace", None
    if record.prepared_transaction_offset > 0:
        return "committed", None
    if record.in_batch:
        return "batch", None
    properties = record.properties
    delayed = names.DELAY in properties or any(name.startswith("TIMER_") for name in properties)
    if not earlier or record.uniq_id is None:
        return ("delivered" if delayed and names.REAL_TOPIC in properties else "message"), None
    return ("resent" if (record.body_crc, len(record.body)) in earlier else "differs"), None
