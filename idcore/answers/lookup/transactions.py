"""A message of which only half messages were found: what its broker is asked about the transaction. Judges nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from idcore.answers.fate import Observation, Reason
from idcore.answers.fate.transaction import Transaction, decide
from idcore.answers.lookup.model import Copy
from idcore.answers.lookup.notes import Notes
from idcore.base.errors import CoreError
from idcore.rocketmq.message import Record, decode_record, decode_records
from idcore.rocketmq.message import properties as names
from idcore.rocketmq.message.row import has_key
from idcore.rocketmq.message.validators import (
    HALF_TOPIC,
    OP_HALF_TOPIC,
    ROCKSDB_HALF_TOPIC,
    ROCKSDB_OP_HALF_TOPIC,
)
from idcore.rocketmq.remoting.consumers import ConsumerOffset, ProducerConnections
from idcore.rocketmq.remoting.requests import Query, QueueAt, QueueEnd, QueueSlice, Request, View

# The group under which a broker keeps how far it has looked half messages through again.
SWEEPER = "CID_RMQ_SYS_TRANS"
_CHECKS = "TRANSACTION_CHECK_TIMES"
# Notes are read from that of the half message on; 4.9 gives the nearest one to an instant, which may be the next.
_NOTES_BEFORE, _NOTES_AT_ONCE, _MOST_NOTES = 8, 64, 1_024
_EARLIER_MS = 60_000
# The index has a record a moment after the log.
_INDEXED_SECONDS, _CHECKS_MEANWHILE = 1.0, 2


def look(copies: Sequence[Copy], notes: Notes, pause: Callable[[float], None]) -> None:
    """Adds what became of the transaction.

    A check stores the half message again, and then moves on: who asks in between sees a half message that is passed,
    without an end. So its newer copies are asked for before it is called that.
    """
    halves = [copy for copy in copies if copy.relation == "half"]
    given_up = [copy.record for copy in copies if copy.relation == "undecided"]
    if not halves:
        notes.add("only_half")
        return
    newest = max(halves, key=lambda copy: copy.record.queue_offset)
    own = [copy.record for copy in halves if copy.broker == newest.broker]
    for again in range(_CHECKS_MEANWHILE + 1):
        asked = _Transaction(sorted(own, key=lambda record: record.queue_offset), newest.broker, notes)
        checks = max(checks_of(record) for record in (*own, *given_up))
        reasons = list(decide(asked.about(checks, bool(given_up))))
        if reasons[0].code != "half_swept" or again == _CHECKS_MEANWHILE:
            break
        pause(_INDEXED_SECONDS)
        stored = asked.halves()
        if stored is None:  # nobody says whether there is a newer one
            reasons = [Reason("only_half")]
            break
        known = {record.queue_offset for record in own}
        newer = [record for record in stored if record.queue_offset not in known]
        if not newer:
            break
        own += newer
    for reason in reasons:
        notes.add(reason.code, **reason.values)


def checks_of(record: Record) -> int:
    """How often the broker had checked the transaction when it stored this half message."""
    return names.number(record.properties.get(_CHECKS)) or 0


class _Transaction:
    """The half messages of one transaction, each check having stored it again, and their broker."""

    def __init__(self, halves: Sequence[Record], address: str, notes: Notes) -> None:
        self.first, self.half = halves[0], halves[-1]
        self.in_rocksdb = self.half.topic == ROCKSDB_HALF_TOPIC
        self.offsets = {record.physical_offset if self.in_rocksdb else record.queue_offset for record in halves}
        self.notes = notes
        self.broker = address

    def about(self, checks: int, given_up: bool) -> Transaction:
        """The answers. Who commits writes the message before the note, so the message is asked for last."""
        properties = self.half.properties
        topic, group = properties.get(names.REAL_TOPIC, ""), properties.get(names.PRODUCER_GROUP, "")
        swept: Observation[int] = Observation()
        if not self.in_rocksdb:
            swept = self._ask(ConsumerOffset(SWEEPER, HALF_TOPIC, self.half.queue_id))
        noted = self._noted()
        producers = self._ask(ProducerConnections(group))
        return Transaction(
            topic,
            group,
            self.half.queue_offset,
            checks,
            given_up,
            swept,
            noted,
            self._committed(topic),
            Observation(len(producers.value), producers.at_ms) if producers.value is not None else Observation(),
            self.in_rocksdb,
        )

    def _ask(self, request: Request[Any]) -> Observation[Any]:
        return self.notes.heard(self.broker, [request])[0]

    def halves(self) -> list[Record] | None:
        """All half messages of the transaction that the index has; None where nobody says."""
        return self._records(self.half.topic)

    def _committed(self, topic: str) -> Observation[str]:
        """The message itself, which a look-up in another topic does not find."""
        own = self._records(topic)
        return Observation() if own is None else Observation(str(own[0].offset_id) if own else None, 0)

    def _records(self, topic: str) -> list[Record] | None:
        key = self.half.uniq_id
        if not topic or key is None:
            return None
        answer = self._ask(Query(topic, key, True, max(0, self.first.store_timestamp - _EARLIER_MS)))
        if answer.value is None:
            return None
        try:
            return [one for one in decode_records(answer.value) if one.topic == topic and has_key(one, key)]
        except CoreError:
            return None

    def _noted(self) -> Observation[bool]:
        """Whether a decision was noted: each note has the queue offsets of half messages, and no key.

        A decision that came during a check names the half message from before it. With RocksDB it has the physical one.
        """
        topic = ROCKSDB_OP_HALF_TOPIC if self.in_rocksdb else OP_HALF_TOPIC
        place = topic, self.half.queue_id
        begin, start = self._ask(QueueEnd(*place)), self._ask(QueueAt(*place, self.first.store_timestamp))
        if begin.value is None or start.value is None:
            return Observation()
        # before its first offset a queue answers as it does behind its last one
        index, unread = max(0, begin.value, start.value - _NOTES_BEFORE), False
        for _ in range(_MOST_NOTES // _NOTES_AT_ONCE):
            part = self._ask(QueueSlice(*place, index, _NOTES_AT_ONCE))
            if part.value is None:
                return Observation()
            units = part.value.units
            if not units:
                return Observation() if unread else Observation(False, 0)
            for each in self.notes.heard(self.broker, [View(unit.physical_offset, topic) for unit in units]):
                if not each.answered:
                    return Observation()
                try:
                    noted = noted_offsets(decode_record(each.value or b""))
                except CoreError:  # it may be the one that is looked for
                    unread = True
                    continue
                if self.offsets & noted:
                    return Observation(True, 0)
            index += len(units)
        return Observation()


def noted_offsets(note: Record) -> set[int]:
    """The half messages of a note: `123` from 4.9, `123,124,` from 5.x; a property of the physical one from RocksDB."""
    try:
        text = note.plain_body().decode("ascii", "replace")
    except CoreError:
        return set()
    if note.topic == ROCKSDB_OP_HALF_TOPIC:
        text = note.properties.get(names.TRANSACTION_OFFSET, "")
    return {offset for part in text.split(",") if (offset := names.number(part)) is not None}
