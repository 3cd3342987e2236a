"""The trace of a message: its records in the trace topics of a cluster, page by page, or why there may be none."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from idcore.answers.lookup.by_key import Search
from idcore.answers.lookup.model import Copy, TraceResult
from idcore.answers.lookup.notes import Notes
from idcore.base.errors import CoreError
from idcore.ids import ClientId, identify
from idcore.rocketmq.message import Record
from idcore.rocketmq.message import properties as names
from idcore.rocketmq.message.attempts import MessageTrace, Written, paired
from idcore.rocketmq.message.row import has_key
from idcore.rocketmq.message.trace import read_trace
from idcore.rocketmq.message.validators import TRACE_TOPIC, is_trace_topic
from idcore.rocketmq.remoting.cluster import Cluster
from idcore.rocketmq.remoting.errors import RemotingError
from idcore.rocketmq.remoting.guard import Member
from idcore.rocketmq.remoting.requests import LONG_MAX, Query

_MOST_TOPICS, _MOST_IDS = 16, 8
# So many pages of so many records are read for one id from one broker; 64 is what a broker gives at most.
_PAGES, _PAGE = 16, 64


def look(
    cluster: Cluster, msg_ids: Sequence[str], named: Sequence[str], copies: Sequence[Copy], begin: int
) -> TraceResult:
    """The trace of these ids, stored after an instant: in the usual topics and in those that somebody named."""
    notes = Notes(cluster)
    wanted = list(dict.fromkeys(each for msg_id in msg_ids[:_MOST_IDS] for each in (msg_id, msg_id.upper())))
    topics: list[str] = []
    written: list[Written] = []
    try:
        every = cluster.topics()
        asked = list(dict.fromkeys([TRACE_TOPIC, *named, *filter(is_trace_topic, every)]))
        routes = cluster.routes(asked[:_MOST_TOPICS])
        topics = [topic for topic, route in routes.items() if route is not None]
        if missing := [topic for topic in named or [TRACE_TOPIC] if topic not in topics]:
            notes.add("trace_no_topic", names=", ".join(missing))
        others = [topic for topic in every if "TRACE" in topic.upper() and topic not in asked[:_MOST_TOPICS]]
        if others:
            notes.add("trace_other_topics", names=", ".join(others[:_MOST_TOPICS]))
        for key in wanted if topics else []:
            for record, _ in _records(key, topics, begin, notes):
                written += contexts(record, notes.add)
    except RemotingError as problem:
        notes.fail(problem)
    trace = paired(written, set(wanted))
    for code, values in silence(trace, msg_ids, copies):
        notes.add(code, **values)
    return TraceResult(trace, tuple(msg_ids), tuple(topics), tuple(notes.evidence), tuple(notes.asked))


def _records(key: str, topics: Sequence[str], begin: int, notes: Notes) -> Iterator[tuple[Record, str]]:
    search = Search(key, notes)
    for members, wanted in search.by_broker(topics):
        for topic in wanted:
            for record in _pages(members, topic, key, begin, notes):
                yield record, members[0].broker


def _pages(members: Sequence[Member], topic: str, key: str, begin: int, notes: Notes) -> Iterator[Record]:
    """The records of one broker, the newest page first: a broker cuts off the oldest."""
    seen: set[int] = set()
    end, cut = LONG_MAX, False
    for _ in range(_PAGES):
        try:
            member, (answer,) = notes.cluster.ask_any(members, [Query(topic, key, False, begin, end, _PAGE)])
        except RemotingError as problem:
            notes.fail(problem)
            return
        notes.ask(member)
        if isinstance(answer, RemotingError):
            notes.fail(answer)
            return
        page = list(notes.records(answer, member))
        fresh = [record for record in page if record.physical_offset not in seen]
        seen |= {record.physical_offset for record in fresh}
        yield from (record for record in fresh if record.topic == topic and has_key(record, key))
        if len(page) < _PAGE:
            break
        end = min(record.store_timestamp for record in page)
        if not fresh:  # a second has more than a page, and the index counts in seconds
            cut, end = True, end - 1_000
    else:
        cut = True
    if cut:
        notes.add("trace_cut", broker=str(members[0]), count=len(seen))


def contexts(record: Record, note: Callable[..., None]) -> Iterator[Written]:
    """The contexts of one record, each with the address of the client, which is where the record was born."""
    try:
        body = record.plain_body()
    except CoreError as problem:
        note("trace_bad", offset_msg_id=str(record.offset_id), problem=problem.coded())
        return
    for item in read_trace(body):
        if isinstance(item, CoreError):
            note("trace_bad", offset_msg_id=str(record.offset_id), problem=item.coded())
        else:
            yield item, str(record.born_host)


def silence(
    trace: MessageTrace, msg_ids: Sequence[str], copies: Sequence[Copy]
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Why something may not be traced. None of it is a proof."""
    if not msg_ids:
        yield "trace_no_id", {}
        return
    records = [copy.record for copy in copies]
    if trace.unknown:
        yield "trace_unknown", {"count": trace.unknown}
    if any(isinstance(reading.id, ClientId) for msg_id in msg_ids for reading in identify(msg_id).readings[:1]):
        yield "trace_grpc", {}
    if not trace.attempts:
        if any(record.properties.get(names.TRACE) == "false" for record in records):
            yield "trace_switched_off", {}
        elif records and all(names.REGION not in record.properties for record in records):
            yield "trace_no_region", {}
    if not trace.sends and not trace.attempts:
        yield "trace_off", {}
    if not trace.sends:
        yield "trace_no_send", {}
    if not trace.attempts:
        yield "trace_no_attempt", {}


def ids_of(text: str, copies: Iterable[Copy]) -> tuple[str, ...]:
    """The message ids to look for: the text where it is one, and those of the records that are not traces."""
    best = identify(text, case="any").best
    ids = [] if best is None or best.id.kind == "offset" else [text]
    ids += [copy.record.uniq_id for copy in copies if copy.relation != "trace" and copy.record.uniq_id]
    return tuple(dict.fromkeys(ids))
