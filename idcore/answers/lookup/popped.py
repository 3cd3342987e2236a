"""What POP groups were handed and acknowledged, from the timer wheel of a running broker. Judges nothing.

The broker writes both there (`pop_log`), as far as it does not keep them in a folder or in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from idcore.answers.fate import Observation
from idcore.base.errors import CoreError
from idcore.rocketmq.message import decode_record
from idcore.rocketmq.message import properties as names
from idcore.rocketmq.message.validators import TIMER_TOPIC
from idcore.rocketmq.remoting.requests import QueueAt, QueueMax, QueueSlice, QueueUnit, Request, View
from idcore.rocketmq.store.pop_log import KINDS, REVIVE, Ack, Checkpoint, merged, parsed
from idcore.rocketmq.store.pop_records import PopRecords

# So many units of the wheel are read behind the time of a message: each of POP is one question more.
MOST_UNITS = 256
# A message that was put off for a second has a record behind the wheel, and its copy within so long.
_COPIED_WITHIN_MS = 60_000
Ask = Callable[[Sequence[Request[Any]]], Sequence[Observation[Any]]]


def read(ask: Ask, stored_ms: int, now_ms: int) -> PopRecords:
    """By topic and group, queue and offset: of all that was popped since a message was stored, on the broker's clock.

    Where more than `MOST_UNITS` came since, or an answer is missing, only what was acknowledged among the first of
    them is said: whoever puts a message off is given a new record before the old one is acknowledged.
    """
    begin, end = ask([QueueAt(TIMER_TOPIC, 0, stored_ms), QueueMax(TIMER_TOPIC, 0)])
    if begin.value is None or end.value is None or begin.value >= end.value:
        return {}
    until = min(end.value, begin.value + MOST_UNITS)
    units = _units(ask, begin.value, until)
    whole = until == end.value and len(units) == until - begin.value
    of_pop = [unit for unit in units if unit.tags_code in KINDS]
    found: list[Checkpoint | Ack] = []
    for unit, raw in zip(of_pop, ask([View(unit.physical_offset, TIMER_TOPIC) for unit in of_pop]), strict=True):
        is_read, one = _one(KINDS[unit.tags_code], raw.value)
        whole = whole and is_read
        found += [one] if one is not None and one.popped_ms >= stored_ms else []
    return {
        key: {
            queue: {at: record for at, record in of_queue.items() if whole or record.acked_ms is not None}
            for queue, of_queue in queues.items()
        }
        for key, queues in merged(found, now_ms, now_ms - _COPIED_WITHIN_MS).items()
    }


def _units(ask: Ask, begin: int, until: int) -> list[QueueUnit]:
    """Those between two places, up to one that the broker does not give. An answer ends where a file of the queue does."""
    units: list[QueueUnit] = []
    while (at := begin + len(units)) < until:
        (part,) = ask([QueueSlice(TIMER_TOPIC, 0, at, until - at)])
        if part.value is None or not part.value.units:
            break
        units += part.value.units
    return units


def _one(kind: str, raw: bytes | None) -> tuple[bool, Checkpoint | Ack | None]:
    """Whether a record of the wheel can be read, and what it says of POP: a message for later may have such a tag."""
    try:
        record = decode_record(raw or b"")
    except CoreError:
        return False, None
    if not record.properties.get(names.REAL_TOPIC, "").startswith(REVIVE):
        return True, None
    one = parsed(kind, record.born_timestamp, record.store_timestamp, record.physical_offset, record.body or b"")
    return one is not None, one
