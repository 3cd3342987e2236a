"""What evidence of a cluster and of a store folder have in common: which records are judged, what a copy says."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence, Set
from dataclasses import dataclass, replace

from idcore.answers.fate import GroupCopy, Observation, Verdict, mark_doubles
from idcore.answers.fate.delayed import is_off_the_wheel
from idcore.answers.lookup.copies import FIRST_POP_TIME, TIMER_TOPIC, is_special, may_be_of, without_namespace
from idcore.answers.lookup.model import Copy
from idcore.rocketmq.message import Record
from idcore.rocketmq.message import properties as names
from idcore.rocketmq.message.attempts import Attempt
from idcore.rocketmq.message.model import DLQ_PREFIX, RETRY_PREFIX
from idcore.rocketmq.message.validators import SCHEDULE_TOPIC

MOST_RECORDS = 8


@dataclass(frozen=True, slots=True)
class RecordsOfTopic:
    """The records of one message in one topic that consumers could get, of what was looked up.

    `of_message` are the records of the message in every topic, and `origins` names all that were found.
    """

    topic: str
    copies: tuple[Copy, ...]
    of_message: tuple[Record, ...]
    origins: Set[str]

    def is_shared(self, copy: Record) -> bool:
        """Whether a group's copy may be of several of these records."""
        return fits_several(copy, self.of_message, self.origins)

    def marked(self, verdicts: Sequence[Verdict]) -> list[Verdict]:
        """Verdicts of one group on each of them; records of a batch share an id, and are messages of their own."""
        one_body = len({copy.record.body_crc for copy in self.copies}) == 1
        is_one = one_body and all(copy.relation != "batch" for copy in self.copies)
        return mark_doubles(verdicts) if is_one else list(verdicts)


def records_by_topic(
    copies: Sequence[Copy], note: Callable[..., None], siblings: Sequence[Record] = ()
) -> list[RecordsOfTopic]:
    """The records to judge, by topic; those beyond the limit are noted. `siblings`: other items of their batches."""
    judged = [copy for copy in copies if copy.relation != "trace" and not is_special(copy.record.topic)]
    if len(judged) > MOST_RECORDS:
        note("records_left_out", count=len(judged) - MOST_RECORDS, limit=MOST_RECORDS)
    known = {str(record.offset_id): record for record in (*(copy.record for copy in judged), *siblings)}
    messages: dict[tuple[str, str | None], list[Copy]] = {}
    for copy in [place for each in judged[:MOST_RECORDS] for place in _places(each)]:
        messages.setdefault((copy.record.topic, copy.record.uniq_id), []).append(copy)
    records: dict[str | None, list[Record]] = {}
    for record in known.values():
        records.setdefault(record.uniq_id, []).append(record)
    return [
        RecordsOfTopic(topic, tuple(own), tuple(records[key]), known.keys()) for (topic, key), own in messages.items()
    ]


def _places(copy: Copy) -> list[Copy]:
    """A record as each queue has it: groups of a light topic have their offsets in its own queue.

    A lite group never reads the queue of the parent topic.
    """
    record = copy.record
    light = list(names.light_places(record.properties).items())[:MOST_RECORDS]
    own = [] if light and names.LITE_TOPIC in record.properties else [copy]
    return own + [replace(copy, record=record.as_light(topic, at)) for topic, at in light]


def is_copy_of(copy: Record, record: Record, origins: Set[str]) -> bool:
    """Whether a copy may be of this record: a send-back names it and its topic; what came back by itself names none.

    A message that was sent on has the names of the first record, and hands them down to its own copies.
    """
    if not may_be_of(copy, record.topic, record.properties.get(names.RETRY_TOPIC)):
        return False
    if copy.store_host == record.store_host and copy.physical_offset < record.physical_offset:
        return False
    origin = copy.properties.get(names.ORIGIN_MESSAGE_ID)
    return origin not in origins or origin in (
        str(record.offset_id),
        record.properties.get(names.ORIGIN_MESSAGE_ID),
    )


def fits_several(copy: Record, records: Iterable[Record], origins: Set[str]) -> bool:
    """Whether a group's copy may be of more than one of these records."""
    fitting = (record for record in records if is_copy_of(copy, record, origins))
    return next(fitting, None) is not None and next(fitting, None) is not None


def calls_of(attempts: Iterable[Attempt], key: str | None, groups: Collection[str]) -> dict[str, tuple[Attempt, ...]]:
    """The attempts with a message by the groups that read its topic; a trace alone makes no group a reader.

    A trace names groups without their namespace: a name that fits two of these groups is of neither.
    """
    readers: dict[str, list[str]] = {}
    for group in groups:
        readers.setdefault(without_namespace(group), []).append(group)
    calls: dict[str, list[Attempt]] = {}
    for attempt in attempts:
        fitting = readers.get(without_namespace(attempt.group or ""), [])
        if len(fitting) == 1 and key is not None and attempt.msg_id.upper() == key.upper():
            calls.setdefault(fitting[0], []).append(attempt)
    return {group: tuple(own) for group, own in calls.items()}


def is_past(reached: int | None, offset: int) -> bool:
    """Whether a group's next offset, or that of a delay level, is behind a record."""
    return reached is not None and reached > offset


def group_copy(record: Record, reached: Observation[int], due_ms: int | None = None) -> GroupCopy:
    """How far a group's copy of a message is.

    `reached` is the group's offset in a retry queue, the next offset of a delay level, or the instant up to which the
    timer wheel was read. `due_ms` is when a delay level delivers it; one on the wheel says that itself.
    """
    goal = record.properties.get(names.REAL_TOPIC, "")
    tries, stored = record.reconsume_times, record.store_timestamp
    if record.topic.startswith(DLQ_PREFIX) or (record.topic == SCHEDULE_TOPIC and goal.startswith(DLQ_PREFIX)):
        return GroupCopy("dead", max(1, tries), stored)  # of attempts: what nobody counted failed once
    if record.topic.startswith(RETRY_PREFIX):
        popped = FIRST_POP_TIME in record.properties
        passed = (
            Observation(is_past(reached.value, record.queue_offset), reached.at_ms)
            if reached.answered
            else Observation()
        )
        return GroupCopy("queued", tries, stored, popped=popped, passed=passed)
    done = None if reached.value is None else is_past(reached.value, record.queue_offset)
    if record.topic == TIMER_TOPIC:
        due_ms = names.number(record.properties.get(names.TIMER_OUT))
        done = is_off_the_wheel(due_ms, reached.value)
    return GroupCopy(
        "waiting", tries, stored, due_ms, delivered=Observation() if done is None else Observation(done, reached.at_ms)
    )
