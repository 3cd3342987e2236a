"""What POP groups were handed and acknowledged, from the timer wheel of a running broker. Judges nothing.

The broker writes both there (`pop_log`), as far as it does not keep them in a folder or in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from idcore.answers.fate import Observation
from idcore.answers.fate.rule import LONG_POLLING_MS
from idcore.base.errors import CoreError
from idcore.rocketmq.message import Record, decode_record
from idcore.rocketmq.message import properties as names
from idcore.rocketmq.message.model import LIGHT_PREFIX
from idcore.rocketmq.message.validators import TIMER_TOPIC
from idcore.rocketmq.remoting.requests import QueueAt, QueueMax, QueueSlice, QueueUnit, Request, View
from idcore.rocketmq.store.pop_log import KINDS, REVIVE, Ack, Checkpoint, merged, parsed
from idcore.rocketmq.store.pop_records import PopRecord, PopRecords

# So many units of the wheel are read behind the time of a message: each of POP is one question more.
MOST_UNITS = 256
# A message that was put off for a second has a record behind the wheel, and its copy within so long.
_COPIED_WITHIN_MS = 60_000
# A broker takes the time of a pop before it reads the queues, so what it finds there may be younger.
_TAKEN_BEFORE_MS = 1_000
# How long a broker takes for a checkpoint that it does not keep in memory.
_WRITTEN_WITHIN_MS = 1_000
Ask = Callable[[Sequence[Request[Any]]], Sequence[Observation[Any]]]


@dataclass(frozen=True, slots=True)
class PopNotes:
    """What was read, by topic and group, queue and offset: each message of `checkpoints`, as far as it can be said.

    `until_ms`: up to then each pop has a checkpoint among them, by the broker's clock; 0 where one may have none.
    """

    records: PopRecords = field(default_factory=dict)
    checkpoints: Sequence[Checkpoint] = ()
    until_ms: int = 0

    def of(self, record: Record, group: str) -> PopRecord | None:
        """What the broker wrote of a message, or its copy, that a POP group was handed."""
        of_group = self.records.get((record.topic, group), {})
        return of_group.get(record.queue_id, {}).get(record.queue_offset)

    def lacks(self, record: Record, group: str, pops: bool = True) -> bool:
        """Whether a group that was handed a message within seconds would have a checkpoint, and has none.

        What is between the messages of a checkpoint was dropped by a filter. Lite topics are handed out without one.
        Of a group that may not take messages by POP (not `pops`) there has to be another.
        """
        place, offset = (record.topic, group, record.queue_id), record.queue_offset
        noted = (one for one in self.checkpoints if one.place == place and one.offsets)
        known = self.until_ms >= record.store_timestamp + LONG_POLLING_MS and not record.topic.startswith(LIGHT_PREFIX)
        known = known and (pops or any(one.place[1] == group for one in self.checkpoints))
        return known and not any(one.start <= offset <= max(one.offsets) for one in noted)


def read(ask: Ask, stored_ms: int, now_ms: int) -> PopNotes:
    """Of all that was popped since a message was stored, on the broker's clock.

    Where more than `MOST_UNITS` came since, or an answer is missing, only what was acknowledged among the first of
    them is said: whoever puts a message off is given a new record before the old one is acknowledged.
    """
    begin, end = ask([QueueAt(TIMER_TOPIC, 0, stored_ms), QueueMax(TIMER_TOPIC, 0)])
    if begin.value is None or end.value is None or begin.value >= end.value:
        return PopNotes()
    until = min(end.value, begin.value + MOST_UNITS)
    units = _units(ask, begin.value, until)
    of_pop = [unit for unit in units if unit.tags_code in KINDS]
    raws = ask([View(unit.physical_offset, TIMER_TOPIC) for unit in of_pop])
    written = [_one(KINDS[unit.tags_code], raw.value) for unit, raw in zip(of_pop, raws, strict=True)]
    all_read = all(each is not None for each in written)
    whole = all_read and until == end.value and len(units) == until - begin.value
    since = [each for each in written if each and each[1] and each[1].popped_ms >= stored_ms - _TAKEN_BEFORE_MS]
    records = {
        key: {
            queue: {at: record for at, record in of_queue.items() if whole or record.acked_ms is not None}
            for queue, of_queue in queues.items()
        }
        for key, queues in merged([one for _, one in since if one], now_ms, now_ms - _COPIED_WITHIN_MS).items()
    }
    checkpoints = [(each[0], each[1]) for each in written if each and isinstance(each[1], Checkpoint)]
    # what is in memory first is written later, or not at all
    at_once = bool(checkpoints) and all(at_ms - one.popped_ms < _WRITTEN_WITHIN_MS for at_ms, one in checkpoints)
    last_ms = now_ms if whole else max((each[0] for each in written if each), default=0)
    return PopNotes(records, [one for _, one in checkpoints], last_ms if all_read and at_once else 0)


def _units(ask: Ask, begin: int, until: int) -> list[QueueUnit]:
    """Those between two places, up to one that is not given. An answer ends where a file of the queue does."""
    units: list[QueueUnit] = []
    while (at := begin + len(units)) < until:
        (part,) = ask([QueueSlice(TIMER_TOPIC, 0, at, until - at)])
        if part.value is None or not part.value.units:
            break
        units += part.value.units
    return units


def _one(kind: str, raw: bytes | None) -> tuple[int, Checkpoint | Ack | None] | None:
    """When a record of the wheel was stored, and what it says of POP; None where it cannot be read.

    A message for later may have such a tag.
    """
    try:
        record = decode_record(raw or b"")
    except CoreError:
        return None
    if not record.properties.get(names.REAL_TOPIC, "").startswith(REVIVE):
        return record.store_timestamp, None
    one = parsed(kind, record.born_timestamp, record.store_timestamp, record.physical_offset, record.body or b"")
    return None if one is None else (record.store_timestamp, one)
