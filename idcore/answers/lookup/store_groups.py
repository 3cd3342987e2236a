"""How far consumer groups are according to a store folder: its offsets against its consume queues. Judges nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from idcore.answers.lookup.copies import is_special, topics_of_group
from idcore.answers.lookup.groups import GroupAnswer
from idcore.answers.lookup.progress import BROADCAST, GroupRow, Progress, QueueState, SideTopic
from idcore.answers.lookup.store_fates import StoreEvidence
from idcore.rocketmq.message.model import DLQ_PREFIX, RETRY_PREFIX
from idcore.rocketmq.store.commitlog import Stored

MOST_DATED = 2_000  # queues with messages that wait


@dataclass(frozen=True, slots=True)
class OfTopic:
    """A group in a topic; the first of a group has what it has besides topics: retries that wait, and dead letters.

    `oldest_ms`: when the oldest message was stored that waits for it, where somebody looked.
    """

    topic: str
    row: GroupRow
    waiting: int | None
    dead: int
    first: bool = True
    oldest_ms: int | None = None


def rows_of(evidence: StoreEvidence) -> list[OfTopic]:
    """Every group with its topics, those furthest behind first. Which clients were connected is in no file.

    A group that has retries or dead letters alone has no topic.
    """
    topics = {topic: groups for topic, groups in evidence.config.groups_by_topic().items() if not is_special(topic)}
    known = set().union(*topics.values())
    of_known = set()
    for topic, groups in topics.items():
        of_known |= {name for group in groups for name in topics_of_group(group, [topic])}
    own = {
        name.removeprefix(start)
        for name in evidence.store.topics
        for start in (RETRY_PREFIX, DLQ_PREFIX)
        if name.startswith(start) and name not in of_known
    }
    sides = {group: list(_sides(evidence, group, dated=False)) for group in known | own}
    topics[""] = {group for group in own - known if sides[group]}
    rows = []
    for topic, groups in topics.items():
        for group in groups:
            retries = [side.waiting for side in sides[group] if side.kind == "retry"]
            waiting = None if None in retries else sum(filter(None, retries))
            dead = sum(side.held for side in sides[group] if side.kind == "dead")
            rows.append(OfTopic(topic, _row(evidence, topic, group), waiting, dead))
    most: dict[str, tuple[int, int]] = {}
    for each in rows:
        most[each.row.group] = max(most.get(each.row.group, (0, 0)), (each.row.lag or 0, each.row.unread))
    rows.sort(
        key=lambda each: (
            *(-count for count in most[each.row.group]),
            -(each.waiting or 0),
            each.row.group,
            -(each.row.lag or 0),
            each.topic,
        )
    )
    names = [each.row.group for each in rows]
    return [replace(each, first=at == 0 or names[at - 1] != names[at]) for at, each in enumerate(rows)]


def dated_rows_of(evidence: StoreEvidence) -> list[OfTopic]:
    """The same, with the time of the oldest message that waits: a record is read for each queue of these.

    None of them has it where these are more than MOST_DATED: which is the oldest of all would not be known.
    """
    rows = rows_of(evidence)
    behind = [each for each in rows if each.row.lag]
    if sum(len(list(_waiting(evidence, each))) for each in behind) > MOST_DATED:
        return rows
    oldest = {id(each): _oldest_ms(evidence, each) for each in behind}
    return [replace(each, oldest_ms=oldest.get(id(each))) for each in rows]


def _waiting(evidence: StoreEvidence, each: OfTopic) -> Iterator[tuple[int, int]]:
    """The queues in which messages wait for a group, with the offset of the next one."""
    for queue in _queues(evidence, each.topic, each.row.group):
        if queue.lag and queue.offset is not None:
            yield queue.queue, max(queue.offset, queue.begin or 0)


def _oldest_ms(evidence: StoreEvidence, each: OfTopic) -> int | None:
    """When the oldest message was stored that the group has not passed, by the queues whose records are there."""
    times = [_stored_ms(evidence, each.topic, *place) for place in _waiting(evidence, each)]
    return min(filter(None, times), default=None)


def _row(evidence: StoreEvidence, topic: str, group: str) -> GroupRow:
    queues = list(_queues(evidence, topic, group))
    is_broadcast = (topic, group) in evidence.config.broadcast
    known = evidence.config.offsets is not None and bool(queues) and all(queue.end is not None for queue in queues)
    unread = sum(queue.readable and queue.offset is None and bool(queue.end) for queue in queues)
    lag = sum(queue.lag or 0 for queue in queues) if known else None
    settings = (evidence.config.groups or {}).get(group)
    disabled = settings is not None and not settings.can_consume
    return GroupRow(group, lag, unread, None, message_model=BROADCAST if is_broadcast else "", disabled=disabled)


def progress_of(evidence: StoreEvidence, topic: str, group: str) -> GroupAnswer:
    """How far a group is in a topic, with its retries and dead letters, as the folder has it."""
    settings = (evidence.config.groups or {}).get(group)
    queues = tuple(_dated(evidence, topic, queue) for queue in _queues(evidence, topic, group))
    broker = queues[0].broker if queues else ""
    progress = Progress(
        group,
        topic,
        evidence.snapshot_ms,
        queues,
        side_topics=tuple(_sides(evidence, group)),
        disabled=(broker,) if settings is not None and not settings.can_consume else (),
        static=topic in evidence.config.static_topics,
        snapshot=True,
    )
    return GroupAnswer(
        progress, (), evidence.snapshot_ms, topic in evidence.store.topics, (), (str(evidence.store.root),)
    )


def _queues(evidence: StoreEvidence, topic: str, group: str) -> Iterator[QueueState]:
    store, config, key = evidence.store, evidence.config, (topic, group)
    last = store.last
    broker = str(last.record.store_host) if last is not None else ""
    offsets, handed_out = (config.offsets or {}).get(key, {}), config.handed_out.get(key, {})
    for queue in evidence.queues_of(topic):
        begin, _ = queue.span or (None, None)
        number = queue.queue_id
        yield QueueState(
            broker,
            number,
            begin,
            evidence.end_of(topic, number),
            offsets.get(number),
            known=config.offsets is not None,
            pulled=handed_out.get(number),
            readable=evidence.readable(topic, number) is not False,
        )


def _dated(evidence: StoreEvidence, topic: str, queue: QueueState) -> QueueState:
    """A queue with the time at which the last message was stored that the group has passed."""
    return (
        replace(queue, passed_ms=_stored_ms(evidence, topic, queue.queue, queue.offset - 1)) if queue.offset else queue
    )


def _stored_ms(evidence: StoreEvidence, topic: str, queue: int, offset: int) -> int | None:
    """When the message of a queue offset was stored; None where its record is not there any more."""
    unit = evidence.store.queues.unit(topic, queue, offset)
    found = evidence.store.log.look(unit.physical_offset) if unit is not None else None
    return found.record.store_timestamp if isinstance(found, Stored) else None


def _sides(evidence: StoreEvidence, group: str, dated: bool = True) -> Iterator[SideTopic]:
    """The topics that the group has for itself; `dated`: with the time of the last record, which is read for it."""
    for name, kind in topics_of_group(group, evidence.topics_by_group.get(group, ())).items():
        queues = [queue for queue in _queues(evidence, name, group) if queue.end]
        if queues:
            held = sum((queue.end or 0) - (queue.begin or 0) for queue in queues)
            waiting = sum((queue.end or 0) - max(queue.offset or 0, queue.begin or 0) for queue in queues)
            times = [_stored_ms(evidence, name, each.queue, (each.end or 0) - 1) for each in queues if dated]
            known = waiting if kind == "retry" and evidence.config.offsets is not None else None
            yield SideTopic(name, kind, held, known, max(filter(None, times), default=None))
