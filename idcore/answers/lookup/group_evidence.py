"""What evidence of a cluster and of a store folder have in common: which records are judged, what a copy says."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass

from idcore.answers.fate import Copy as GroupCopy
from idcore.answers.fate import Heard, Verdict, mark_doubles
from idcore.answers.fate.later import is_off_the_wheel
from idcore.answers.lookup.copies import FIRST_POP_TIME, TIMER_TOPIC, is_special
from idcore.answers.lookup.model import Copy
from idcore.rocketmq.message import Record
from idcore.rocketmq.message import properties as names
from idcore.rocketmq.message.model import DLQ_PREFIX, RETRY_PREFIX
from idcore.rocketmq.message.validators import SCHEDULE_TOPIC

MOST_RECORDS = 8


@dataclass(frozen=True, slots=True)
class Homes:
    """The records of one topic that consumers could get of what was looked up; `origins` are those of every topic."""

    topic: str
    copies: tuple[Copy, ...]
    origins: Set[str]

    def marked(self, verdicts: Sequence[Verdict]) -> list[Verdict]:
        """Verdicts of one group on each of them; records of a batch share an id, and are messages of their own."""
        one_body = len({copy.record.body_crc for copy in self.copies}) == 1
        is_one = one_body and all(copy.relation != "batch" for copy in self.copies)
        return mark_doubles(verdicts) if is_one else list(verdicts)


def homes_of(copies: Sequence[Copy], note: Callable[..., None]) -> list[Homes]:
    """The records to judge, by topic; those beyond the limit are noted."""
    homes = [copy for copy in copies if copy.relation != "trace" and not is_special(copy.record.topic)]
    if len(homes) > MOST_RECORDS:
        note("records_left_out", count=len(homes) - MOST_RECORDS, limit=MOST_RECORDS)
    origins = frozenset(str(copy.record.offset_id) for copy in homes)
    topics: dict[str, list[Copy]] = {}
    for copy in homes[:MOST_RECORDS]:
        topics.setdefault(copy.record.topic, []).append(copy)
    return [Homes(topic, tuple(of_topic), origins) for topic, of_topic in topics.items()]


def is_copy_of(copy: Record, record: Record, origins: Set[str]) -> bool:
    """Whether a copy is of this record: a send-back names it; what came back by itself may be of any."""
    origin = copy.properties.get(names.ORIGIN_MESSAGE_ID)
    return origin not in origins or origin == str(record.offset_id)


def is_past(reached: int | None, offset: int) -> bool:
    """Whether a group's next offset, or that of a delay level, is behind a record."""
    return reached is not None and reached > offset


def group_copy(record: Record, reached: Heard[int], due_ms: int | None = None) -> GroupCopy:
    """How far a group's copy of a message is.

    `reached` is the group's offset in a retry queue, the next offset of a delay level, or the instant up to which the
    timer wheel was read. `due_ms` is when a delay level delivers it; one on the wheel says that itself.
    """
    goal = record.properties.get(names.REAL_TOPIC, "")
    tries, stored = record.reconsume_times, record.store_timestamp
    if record.topic.startswith(DLQ_PREFIX) or (record.topic == SCHEDULE_TOPIC and goal.startswith(DLQ_PREFIX)):
        return GroupCopy("dead", tries, stored)
    if record.topic.startswith(RETRY_PREFIX):
        popped = FIRST_POP_TIME in record.properties
        passed = Heard(is_past(reached.value, record.queue_offset), reached.at_ms) if reached.answered else Heard()
        return GroupCopy("queued", tries, stored, popped=popped, passed=passed)
    done = None if reached.value is None else is_past(reached.value, record.queue_offset)
    if record.topic == TIMER_TOPIC:
        due_ms = names.number(record.properties.get(names.TIMER_OUT))
        done = is_off_the_wheel(due_ms, reached.value)
    return GroupCopy(
        "waiting", tries, stored, due_ms, delivered=Heard() if done is None else Heard(done, reached.at_ms)
    )
