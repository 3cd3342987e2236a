"""How a transaction or a delay ended whose message is not there: what a store folder has of it. Judges nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from idcore.answers.fate import Observation, Reason
from idcore.answers.fate.delayed import DelayedMessage
from idcore.answers.fate.delayed import decide as decide_later
from idcore.answers.fate.sentences import utc
from idcore.answers.fate.transaction import Transaction
from idcore.answers.fate.transaction import decide as decide_transaction
from idcore.answers.lookup.copies import TIMER_TOPIC, related
from idcore.answers.lookup.delayed import SLACK_MS
from idcore.answers.lookup.group_evidence import is_past
from idcore.answers.lookup.model import Copy
from idcore.answers.lookup.store_fates import StoreEvidence
from idcore.answers.lookup.transactions import SWEEPER, checks_of, noted_offsets
from idcore.rocketmq.message import Record
from idcore.rocketmq.message import properties as names
from idcore.rocketmq.message.validators import (
    CHECK_MAX_TIME_TOPIC,
    HALF_TOPIC,
    OP_HALF_TOPIC,
    ROCKSDB_HALF_TOPIC,
    ROCKSDB_OP_HALF_TOPIC,
)
from idcore.rocketmq.store import Stored

_MOST_NOTES = 100_000


def look(evidence: StoreEvidence, copies: Sequence[Copy], note: Callable[..., None]) -> bool:
    """Adds what became of the message that only waits; returns whether it is one."""
    copies = related([copy for copy in copies if copy.relation != "trace"])
    relations = {copy.relation for copy in copies}
    if {"half"} <= relations <= {"half", "undecided"}:
        reasons = list(_transaction(evidence, [copy.record for copy in copies if copy.relation == "half"]))
    elif relations & {"timer", "delayed"} and relations <= {"timer", "recall", "delayed"}:
        reasons = list(_later(evidence, copies))
    else:
        return False
    for reason in reasons:
        note(reason.code, **{name: utc(value) if name == "due" else value for name, value in reason.values.items()})
    return True


def _transaction(evidence: StoreEvidence, records: Sequence[Record]) -> Iterator[Reason]:
    """The newest half message; each check has stored it again."""
    config, at, key = evidence.config, evidence.snapshot_ms, records[0].uniq_id
    every, is_whole = evidence.records_of(key) if key is not None else ([], False)
    in_rocksdb = records[0].topic == ROCKSDB_HALF_TOPIC
    halves = {
        record.physical_offset if in_rocksdb else record.queue_offset: record
        for record in (*records, *every)
        if record.topic == records[0].topic
    }
    half = halves[max(halves)]
    topic, group = half.properties.get(names.REAL_TOPIC, ""), half.properties.get(names.PRODUCER_GROUP, "")
    given_up = [record for record in every if record.topic == CHECK_MAX_TIME_TOPIC]
    committed = next((str(record.offset_id) for record in every if record.topic == topic), None)
    swept = (config.offsets or {}).get((HALF_TOPIC, SWEEPER), {}).get(half.queue_id)
    is_swept = config.offsets is not None and not in_rocksdb
    return decide_transaction(
        Transaction(
            topic,
            group,
            half.queue_offset,
            max(checks_of(record) for record in (*halves.values(), *given_up)),
            bool(given_up),
            Observation(swept, at) if is_swept else Observation(),
            _noted(evidence, halves),
            Observation(committed, at) if is_whole or committed else Observation(),
            in_rocksdb=in_rocksdb,
            kept=_kept(evidence, half) if in_rocksdb else Observation(),
        )
    )


def _kept(evidence: StoreEvidence, half: Record) -> Observation[int]:
    """The checks so far of a half message, -1 where the broker has nothing to do for it."""
    kept = evidence.store.kept.transaction(half.physical_offset) if evidence.store.kept is not None else None
    return Observation() if kept is None else Observation(kept.checks if kept.waits else -1, evidence.snapshot_ms)


def _noted(evidence: StoreEvidence, halves: dict[int, Record]) -> Observation[bool]:
    """Whether a note of a decision names one of the half messages, as far as all notes after the first can be read.

    A folder whose consume queues are missing does not show where the notes are.
    """
    first, store = halves[min(halves)], evidence.store
    if not store.queues.topics or not store.queues.is_whole:
        return Observation()
    for queue in store.queues.of(ROCKSDB_OP_HALF_TOPIC if first.topic == ROCKSDB_HALF_TOPIC else OP_HALF_TOPIC):
        if queue.queue_id != first.queue_id:
            continue
        physical = queue.entries()[:, 1]
        later = physical[physical > first.physical_offset].tolist()
        if len(later) > _MOST_NOTES:
            return Observation()
        for offset in later:
            outcome = store.log.look(offset)
            if not isinstance(outcome, Stored):
                return Observation()
            if halves.keys() & noted_offsets(outcome.record):
                return Observation(True, evidence.snapshot_ms)
    return Observation(False, evidence.snapshot_ms)


def _later(evidence: StoreEvidence, copies: Sequence[Copy]) -> Iterator[Reason]:
    """The newest record: a delay that is too long for the wheel is stored again."""
    config, at = evidence.config, evidence.snapshot_ms
    waiting = [copy.record for copy in copies if copy.relation in ("timer", "delayed")]
    newest = max(waiting, key=lambda record: record.physical_offset)
    if newest.topic == TIMER_TOPIC:
        due = names.number(newest.properties.get(names.TIMER_OUT))
        done = evidence.is_off_the_wheel(newest)
    else:
        unit = evidence.store.queues.unit(newest.topic, newest.queue_id, newest.queue_offset)
        due = unit.tags_code if unit else None
        # a level that is not listed has delivered nothing yet
        reached = None if config.delays is None else config.delays.get(newest.queue_id + 1, 0)
        done = None if reached is None else is_past(reached, newest.queue_offset)
    passed: Observation[bool] = Observation() if done is None else Observation(done, at)
    recalled = any(copy.relation == "recall" for copy in copies)
    reason = decide_later(
        DelayedMessage(newest.properties.get(names.REAL_TOPIC, ""), due, recalled, passed), at - SLACK_MS
    )
    if reason is not None:
        yield reason
