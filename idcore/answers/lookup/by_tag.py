"""Messages of a topic with a tag, by the index that brokers have of tags since 5.4.0: 64 at a time, page by page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from idcore.answers.lookup.by_time import INDEX_DAYS_MS, version_of
from idcore.answers.lookup.listing import inside
from idcore.answers.lookup.notes import Notes
from idcore.answers.lookup.ways import MOST_BYTES, Stop, Way
from idcore.rocketmq.message import Record
from idcore.rocketmq.message import properties as names
from idcore.rocketmq.remoting.errors import RemotingError
from idcore.rocketmq.remoting.guard import Member
from idcore.rocketmq.remoting.requests import LONG_MAX, BrokerState, Query, Route

HAS_TAGS = (5, 4, 0)
# Why an index in files cannot be used: it counts in seconds, and one of them has more messages than a broker shows.
OVERFULL = "overfull"
_PAGE, _MOST_PAGES, _SECOND, _HOUR = 64, 2_000, 1_000, 3_600_000
Found = list[tuple[Record, Member]]


def have_index(route: Route, notes: Notes) -> bool:
    """Whether every broker of a topic has an index of tags; one that is older, or silent, is noted."""
    brokers = notes.cluster.topology().brokers()
    masters = [brokers[entry.name][0] for entry in route.brokers if entry.name in brokers]
    notes.learn_states(masters)
    known = {str(member): state for member, state in notes.states.values()}
    for member in masters:
        state = known.get(str(member))
        if state is None or version_of(state.version) < HAS_TAGS:
            notes.add("tag_no_index", broker=str(member), version="–" if state is None else state.version)
            return False
    return bool(masters)


def find(way: Way, route: Route, notes: Notes, stop: Stop) -> tuple[Found, str | None]:
    """The messages of all brokers, and what ended the search early."""
    brokers, records, cut = notes.cluster.topology().brokers(), Found(), None
    for entry in route.brokers:
        members = brokers.get(entry.name, ())
        state = next((state for member, state in notes.states.values() if member in members), None)
        if members and state is not None:
            more, ended = _of_broker(way, members, state, notes, stop)
            records += more
            cut = cut or ended
    return records, cut


def _of_broker(
    way: Way, members: Sequence[Member], state: BrokerState, notes: Notes, stop: Stop
) -> tuple[Found, str | None]:
    """Windows of seven days, the newest first: an index in RocksDB has no answer for a wider one."""
    records: dict[int, tuple[Record, Member]] = {}
    pages = 0
    for begin, end in windows(way, state):
        question = Query(way.topic or "", way.tag, False, begin, end, _PAGE, "T")
        is_by_time = False
        while True:
            if stop() or pages == _MOST_PAGES:
                return list(records.values()), "stopped" if pages < _MOST_PAGES else "failed"
            pages += 1
            try:
                member, (answer,) = notes.cluster.ask_any(members, [question])
            except RemotingError as problem:
                notes.fail(problem)
                return list(records.values()), "failed"
            notes.ask(member)
            page = list(notes.records(answer, member))
            fresh = [record for record in page if record.physical_offset not in records]
            for record in fresh:
                if (record.topic, record.properties.get(names.TAGS)) == (way.topic, way.tag) and inside(record, way):
                    records[record.physical_offset] = record, member
            if sum(record.size for record, _ in records.values()) >= MOST_BYTES:
                return list(records.values()), "bytes"
            if len(page) < _PAGE:
                break
            if is_by_time and not fresh:
                return list(records.values()), OVERFULL
            is_by_time = is_by_time or (not fresh and bool(question.last_key))
            question = _next(question, page, None if is_by_time else _last_key(page, way))
            if question.end_ms < begin:
                break
        if len(records) >= way.limit:
            break
    return list(records.values()), None


def _next(question: Query, page: Sequence[Record], last_key: str | None) -> Query:
    """What follows a page. RocksDB goes on behind its last key; index files show the newest, and take no key."""
    if last_key is not None:
        return replace(question, last_key=last_key)
    return replace(question, end_ms=min(record.store_timestamp for record in page), last_key="")


def _last_key(page: Sequence[Record], way: Way) -> str | None:
    """The place behind which a page goes on: MessageRocksDBStorage.lastKeyToBytes wants six parts, cut at `@`.

    None where a part has that sign itself.
    """
    keys = [
        (one.store_timestamp // _HOUR * _HOUR, f"@{way.topic}@T@{way.tag}@{one.uniq_id}@".encode(), one.physical_offset)
        for one in page
    ]
    hour, text, offset = max(keys)
    parts = text.decode().split("@")
    return f"{hour}{text.decode()}{offset}" if len(parts) == 6 else None


def windows(way: Way, state: BrokerState) -> Iterator[tuple[int, int]]:
    """From the newest: the index counts in seconds, and an end that is open is that of the last seven days."""
    newest = way.end_ms if way.end_ms is not None else state.clock_ms
    if newest is None:
        yield way.begin_ms or 0, LONG_MAX
        return
    end = newest + _SECOND if way.end_ms is not None else newest + _HOUR
    oldest = max(1, state.earliest_ms or end - INDEX_DAYS_MS, way.begin_ms or 0) - _SECOND
    while end >= oldest:
        begin = max(1, oldest, end - INDEX_DAYS_MS + _HOUR)
        yield begin, end
        end = begin - 1
