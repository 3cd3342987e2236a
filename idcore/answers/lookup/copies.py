"""The copies of one message side by side: which is the message, which a retry, a dead letter, a half. Asks nobody."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from dataclasses import replace

from idcore.answers.lookup.model import Copy
from idcore.rocketmq.message import Record
from idcore.rocketmq.message import properties as names
from idcore.rocketmq.message.model import DLQ_PREFIX, RETRY_PREFIX
from idcore.rocketmq.message.validators import (
    CHECK_MAX_TIME_TOPIC,
    HALF_TOPIC,
    OP_HALF_TOPIC,
    ROCKSDB_HALF_TOPIC,
    ROCKSDB_OP_HALF_TOPIC,
    SCHEDULE_TOPIC,
    TIMER_TOPIC,
    is_system_topic,
    is_trace_topic,
)
from idcore.rocketmq.remoting.bodies import BodyPolicy

# What a POP consumer did not acknowledge comes back with this property; a recall names the message that it takes back.
FIRST_POP_TIME, RECALLED = "1ST_POP_TIME", "TIMER_DEL_UNIQKEY"
_POP_SEPARATOR = "+"  # of %RETRY%group+topic, from 5.2 on where it is enabled; no name may contain it
_BY_TOPIC = {
    HALF_TOPIC: "half",
    OP_HALF_TOPIC: "operation",
    ROCKSDB_HALF_TOPIC: "half",
    ROCKSDB_OP_HALF_TOPIC: "operation",
    CHECK_MAX_TIME_TOPIC: "undecided",
    SCHEDULE_TOPIC: "delayed",
    TIMER_TOPIC: "timer",
}
# Where copies of a message go that was sent to another topic.
WAITING_ROOMS = (HALF_TOPIC, ROCKSDB_HALF_TOPIC, CHECK_MAX_TIME_TOPIC, SCHEDULE_TOPIC, TIMER_TOPIC)


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
    if record.topic.startswith(RETRY_PREFIX) and _POP_SEPARATOR in record.topic:
        return record.topic.partition(_POP_SEPARATOR)[2]
    return record.topic


def group_of(record: Record, homes: Iterable[str]) -> str | None:
    """The consumer group that a retry, a dead letter or what waits to become one belongs to; None of other records."""
    properties = record.properties
    # 5.4.0 writes the group of a POP retry copy down; the topic's name alone may be read in two ways
    if record.topic.startswith(RETRY_PREFIX) and (group := properties.get(names.ORIGIN_GROUP)):
        return group
    return group_in(record.topic, properties.get(names.REAL_TOPIC, ""), FIRST_POP_TIME in properties, homes)


def group_in(topic: str, real_topic: str, popped: bool, homes: Iterable[str]) -> str | None:
    """The same from what a record says of it.

    A POP retry topic ends with the home topic, either after `+` or after `_`, which names may contain too.
    """
    topic = real_topic if topic in (SCHEDULE_TOPIC, TIMER_TOPIC) else topic
    for prefix in (RETRY_PREFIX, DLQ_PREFIX):
        if topic.startswith(prefix):
            group = topic.removeprefix(prefix).partition(_POP_SEPARATOR)[0]
            tails = [f"_{home}" for home in homes if group.endswith(f"_{home}")]
            return group.removesuffix(tails[0]) if tails and popped else group
    return None


def may_be_of(copy: Record, topic: str, inherited: str | None = None) -> bool:
    """Whether a group's copy may be of a message in `topic`: it or the name of its own topic may say another one.

    `inherited` is RETRY_TOPIC of the message itself: who sends a message on that it got from a retry hands it down.
    """
    properties = copy.properties
    home = properties.get(names.RETRY_TOPIC, "")
    if not is_retry_of(copy.topic, properties.get(names.REAL_TOPIC, ""), FIRST_POP_TIME in properties, topic):
        return False
    return not home or home.startswith("%") or home in (topic, without_namespace(topic), inherited)


def topics_of_group(group: str, topics: Iterable[str]) -> dict[str, str]:
    """The topics where messages go that a group did not consume, each `retry` or `dead`.

    A retry topic of POP consumers ends with the message's own topic, behind `_` or, from 5.2 on, `+`.
    """
    of_pop = (f"{group}{sign}{topic}" for topic in topics for sign in ("_", _POP_SEPARATOR))
    return {RETRY_PREFIX + name: "retry" for name in (group, *of_pop)} | {DLQ_PREFIX + group: "dead"}


def is_retry_of(topic: str, real_topic: str, popped: bool, home: str) -> bool:
    """Whether the name of a topic of copies allows that they are of messages in `home`: that of POP ends with it."""
    goal = real_topic if topic in (SCHEDULE_TOPIC, TIMER_TOPIC) else topic
    if not goal.startswith(RETRY_PREFIX):
        return True
    if _POP_SEPARATOR in goal:
        return goal.partition(_POP_SEPARATOR)[2] == home
    return not popped or goal.endswith(f"_{home}")


def without_namespace(name: str) -> str:
    """A topic or group as the client's code and its traces have it (NamespaceUtil.withoutNamespace)."""
    space, _, rest = name.partition("%")
    return rest if space and rest else name


def explain(records: Sequence[tuple[Record, str]], bodies: BodyPolicy | None = None) -> tuple[Copy, ...]:
    """The copies in the order they were stored, each with its relation to the others; a record is listed once."""
    once = {(str(record.store_host), record.physical_offset): (record, broker) for record, broker in reversed(records)}
    ordered = sorted(once.values(), key=lambda pair: (pair[0].store_timestamp, pair[0].physical_offset))
    copies: list[Copy] = []
    homes = {home_topic(record) for record, _ in ordered}
    bodies_of: dict[tuple[str, str | None], set[tuple[int, int]]] = {}
    for record, broker in ordered:
        earlier = bodies_of.setdefault((record.topic, record.uniq_id), set())
        relation, group = _relation(record, earlier), group_of(record, homes)
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


def _relation(record: Record, earlier: Set[tuple[int, int]]) -> str:
    """What a record is; `earlier` are CRC and length of the bodies stored before it under its id in its topic."""
    properties = record.properties
    if record.topic == TIMER_TOPIC and RECALLED in properties:
        return "recall"
    for prefix, relation in ((RETRY_PREFIX, "retry"), (DLQ_PREFIX, "dead_letter")):
        if record.topic.startswith(prefix):
            return relation
        if record.topic in (SCHEDULE_TOPIC, TIMER_TOPIC) and properties.get(names.REAL_TOPIC, "").startswith(prefix):
            return f"{relation}_waiting"
    if record.topic in _BY_TOPIC:
        return _BY_TOPIC[record.topic]
    if is_trace_topic(record.topic):
        return "trace"
    if record.prepared_transaction_offset > 0:
        return "committed"
    if record.in_batch:
        return "batch"
    delayed = names.DELAY in properties or any(name.startswith("TIMER_") for name in properties)
    # A timer in RocksDB leaves the due time only (TimerMessageRocksDBStore.convert); a producer does not set it.
    delivered = (delayed and names.REAL_TOPIC in properties) or names.TIMER_OUT in properties
    if not earlier or record.uniq_id is None:
        return "delivered" if delivered else "message"
    return "resent" if (record.body_crc, len(record.body)) in earlier else "differs"
