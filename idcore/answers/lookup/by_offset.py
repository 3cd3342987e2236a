"""The look-up by offsetMsgId: who may be asked, what the bytes at the offset are, and why they are not a message."""

from __future__ import annotations

from dataclasses import dataclass

from idcore.answers.lookup.notes import Notes
from idcore.base.errors import CoreError
from idcore.ids.model import OffsetId
from idcore.rocketmq.message import Record, decode_record
from idcore.rocketmq.remoting.errors import AnswerError, NotInTopology, NotPermitted, RemotingError, TopicMismatch
from idcore.rocketmq.remoting.guard import Member
from idcore.rocketmq.remoting.requests import BrokerState, QueueEnd, QueueMax, QueueSlice, RuntimeInfo, View

_MAGICS = (b"\xda\xa3\x20\xa7", b"\xda\xa3\x20\xab")
_MAGIC_AT = 4
_PHYSICAL_OFFSET = slice(28, 36)
_LOOK_AHEAD = 1 << 20
_ZEROS = 128
_MOST_QUEUES = 16  # of a topic, asked for what is in tiered storage


@dataclass(frozen=True, slots=True)
class AtOffset:
    """The record at an offset and who showed it, or the reason why it was not found."""

    record: Record | None = None
    broker: str = ""
    reason: str | None = None


def look(offset_id: OffsetId, topic: str, notes: Notes) -> AtOffset:
    """Asks the broker of the id, then its replicas. Raises only when the topology itself cannot be read."""
    cluster = notes.cluster
    try:
        member = cluster.permit(offset_id.ip, offset_id.port)
    except NotInTopology:
        cluster.need_brokers()
        notes.add("refused", address=offset_id.address, cluster=cluster.name)
        for problem in cluster.topology().unresolved:
            notes.add("unresolved", problem=problem.coded())
        return AtOffset(reason="not_in_topology")
    best: AtOffset | None = None
    skipped = False
    for replica in cluster.topology().replicas(member):
        try:
            at_offset = _at(replica, offset_id, topic, notes)
        except NotPermitted as problem:
            notes.fail(problem)
            best = best or AtOffset(reason="not_permitted")
            continue
        except RemotingError as problem:
            notes.fail(problem)
            skipped = True
            continue
        if replica is not member:
            notes.add("replica", broker=str(replica), instead=str(member))
        if at_offset.record is not None:
            return at_offset
        best = at_offset
        if not (skipped and at_offset.reason == "beyond_end"):
            break
    if best is None or (skipped and best.reason == "beyond_end"):
        # a slave that lags behind does not have its master's last records
        return AtOffset(reason="unreachable")
    return best


def _at(member: Member, offset_id: OffsetId, topic: str, notes: Notes) -> AtOffset:
    wanted = offset_id.physical_offset
    notes.ask(member)
    problem: CoreError | None = None
    try:
        (answer,) = notes.cluster.view(member, [wanted], topic)
        if isinstance(answer, RemotingError):
            raise answer
        raw = answer
    except TopicMismatch:
        notes.add("other_topic", broker=str(member), asked=topic)
        return AtOffset(reason="wrong_topic")
    except NotPermitted:
        raise
    except AnswerError as error:
        # Where the four bytes taken for a size are negative, the broker runs into an exception of its own.
        raw, problem = None, error
    record: Record | None = None
    if raw:
        try:
            record = decode_record(raw)
        except CoreError as error:
            problem = error
    # The broker answers any offset inside its log with code 0 and any bytes there, and offset 0 with its first record:
    # only the record's own offset shows that it is the one.
    if record is not None and record.physical_offset == wanted:
        if (record.store_host.ip, record.store_host.port) != (offset_id.ip, offset_id.port):
            notes.add("store_host", store_host=str(record.store_host), address=offset_id.address)
        return AtOffset(record, member.registered)
    # Asked after the record, so that one that was appended meanwhile is before this end.
    state = notes.cluster.ask(member, RuntimeInfo())
    notes.states[member.registered] = member, state
    reason = _why(member, wanted, raw, record, problem, state, notes)
    if reason == "before_minimum" and topic:
        _say_tiered(member, topic, notes)
    return AtOffset(reason=reason)


def _say_tiered(member: Member, topic: str, notes: Notes) -> None:
    """Whether the broker has older messages of the topic in tiered storage, which no offsetMsgId leads to.

    Its queue begins where the tier begins (31, TieredMessageStore.getMinOffsetInQueue), the local one later (321).
    """
    route = notes.cluster.routes([topic])[topic]
    access = route.access.get(member.broker) if route is not None else None
    for queue in range(min(access.read_queues, _MOST_QUEUES) if access is not None else 0):
        try:
            first = notes.cluster.ask(member, QueueEnd(topic, queue))
            last = notes.cluster.ask(member, QueueMax(topic, queue)) - 1
            local = notes.cluster.ask(member, QueueSlice(topic, queue, max(0, last), 1)).min_offset
        except RemotingError as problem:
            notes.fail(problem)
            return
        if local is not None and first < local:
            notes.add("may_be_tiered", topic=topic, queue=queue, first=max(0, first), local=local)
            return


def _why(
    member: Member,
    wanted: int,
    raw: bytes | None,
    record: Record | None,
    problem: CoreError | None,
    state: BrokerState,
    notes: Notes,
) -> str:
    notes.add("log_range", broker=str(member), offset=wanted, min_offset=state.min_offset, max_offset=state.max_offset)
    if record is not None:
        notes.add("answered_other", broker=str(member), other=record.physical_offset)
    elif raw is None and problem is not None:
        notes.add("error_answer", problem=problem.coded())
    elif raw is None:
        notes.add("answered_nothing", broker=str(member), offset=wanted)
    elif not raw:
        notes.add("answered_empty", broker=str(member))
    elif problem is not None:
        notes.add("answered_rubbish", broker=str(member), size=len(raw), problem=problem.coded())
    if wanted < state.min_offset:
        return "before_minimum"
    if wanted >= state.max_offset:
        return "beyond_end"
    if problem is not None and raw:
        if problem.code == "blank":
            return "blank"
        if raw[_MAGIC_AT : _MAGIC_AT + 4] in _MAGICS and int.from_bytes(raw[_PHYSICAL_OFFSET], "big") == wanted:
            return "damaged"
        following = _next_record(raw, wanted)
        if following is not None:
            notes.add("next_record", next_offset=following)
    if raw == b"" and _only_zeros(member, wanted, state, notes):
        return "hole"
    return "mid_record"


def _only_zeros(member: Member, wanted: int, state: BrokerState, notes: Notes) -> bool:
    """Whether a stretch of zeros is there, longer than any that a record holds.

    The broker reads four bytes as the size and answers with so many: it sends no bytes where they are zero.
    """
    places = range(wanted, min(wanted + _ZEROS, state.max_offset), _MAGIC_AT)
    answers = notes.cluster.ask_all(member, [View(place) for place in places])
    if not answers or any(answer != b"" for answer in answers):
        return False
    notes.add("zeros", size=_MAGIC_AT * len(answers))
    return True


def _next_record(raw: bytes, wanted: int) -> int | None:
    """Where the next record begins in bytes that start inside one: proof that the offset is in the middle."""
    for magic in _MAGICS:
        at = raw.find(magic, 0, _LOOK_AHEAD)
        while at >= 0:
            start = at - _MAGIC_AT
            offset = int.from_bytes(raw[start:][_PHYSICAL_OFFSET], "big") if start >= 0 else -1
            if start > 0 and offset == wanted + start:
                return offset
            at = raw.find(magic, at + 1, _LOOK_AHEAD)
    return None
