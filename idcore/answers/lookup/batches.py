"""An item of a 5.x batch, looked for by its own msgId: through the batch's id, whose counter is a little later.

Brokers 5.0 to 5.3.3 append the batch's UNIQ_KEY to the properties of each item and
index that one alone. An item still holds its own: that is the proof. Without it nothing is found.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from idcore.answers.lookup.by_key import MOST_OF_A_UNIQUE_KEY, Found, Search
from idcore.answers.lookup.notes import Notes
from idcore.base.errors import CoreError
from idcore.base.layout import VALUE_DIGITS
from idcore.ids.model import UniqId
from idcore.ids.rules import COUNTER_WRAP, ELAPSED_WRAP
from idcore.rocketmq.message import Record
from idcore.rocketmq.message import properties as names
from idcore.rocketmq.message.row import inner_messages

# The client generates the ids of the items, then that of the batch: its counter is one to so many later. A broker
# shows no more records of one key.
MOST_AFTER = MOST_OF_A_UNIQUE_KEY
# The clock is read for each: the batch's id may be of the next millisecond. One that was held for longer has any later
# one (autoBatch; a message that is sent again keeps its id), and is found by its queue.
_LATER_MS = (0, 1)
# Two brokers' clocks may differ by so much.
_SKEW_MS = 3_600_000


@dataclass(frozen=True, slots=True)
class Item:
    """One message of a batch, who showed it, the id of its batch, and how many items of that were shown."""

    record: Record
    broker: str
    batch_id: str
    place: int
    count: int


def batch_ids(item: UniqId) -> Iterator[str]:
    """The ids that the batch of an item may have, the most likely first."""
    process = item.text[:-VALUE_DIGITS]
    for later in _LATER_MS:
        for after in range(1, MOST_AFTER + 1):
            yield f"{process}{(item.elapsed + later) % ELAPSED_WRAP:08X}{(item.counter + after) % COUNTER_WRAP:04X}"


def look(item: UniqId, topics: Sequence[str], begin_ms: int, notes: Notes) -> Item | None:
    """The item, where one of these topics has it. Asks each broker for all ids of one topic at once."""
    for topic in topics:
        records = Search(item.text, notes).run_keys([topic], list(batch_ids(item)), begin_ms)
        for record, broker in records:
            if is_own_id(record, item.text):
                return _placed(record, broker, records)
    return None


def item_of(record: Record, broker: str, notes: Notes) -> Item:
    """An item whose record is known already."""
    records = Search(record.uniq_id or "", notes).run([record.topic], max(0, record.store_timestamp - _SKEW_MS))
    return _placed(record, broker, records)


def _placed(record: Record, broker: str, records: Found) -> Item:
    batch = record.uniq_id or ""
    shown = {other.physical_offset for other, by in records if (other.uniq_id, by) == (batch, broker)}
    shown.add(record.physical_offset)
    return Item(record, broker, batch, sorted(shown).index(record.physical_offset) + 1, len(shown))


def shown_as(asked: str, record: Record) -> tuple[str, str] | None:
    """The msgId of the batch that a record is shown under, where an item of it was asked for; and how it is stored."""
    text, shown = asked.strip().upper(), record.uniq_id or ""
    if text == shown.upper():
        return None
    if is_own_id(record, text):
        return "of_batch", shown
    try:
        inner = any((each.properties.get(names.UNIQ_KEY) or "").upper() == text for each in inner_messages(record))
    except CoreError:  # its card says that the body is not a batch
        return None
    return ("of_inner_batch", shown) if inner else None


def is_own_id(record: Record, text: str) -> bool:
    """Whether a record is an item of a batch, and had this id of its own before the broker appended the other."""
    return (own_id(record) or "").upper() == text.upper()


def own_id(record: Record) -> str | None:
    """The msgId that an item had before the broker appended that of its batch; None for a record of no batch."""
    ids = [value for name, value in record.properties_raw if name == names.UNIQ_KEY]
    return ids[0] if len(ids) > 1 else None
