"""Lists of messages in a live cluster: which queues, by which replica, their entries and records. Never pulls."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from idcore.answers.fate.sentences import utc
from idcore.answers.lookup import by_tag
from idcore.answers.lookup.by_key import Search
from idcore.answers.lookup.by_time import MOST_WINDOWS, ROCKSDB_INDEX, version_of
from idcore.answers.lookup.copies import explain, is_special, related_topics
from idcore.answers.lookup.listing import SLICE, ListedQueue, Place, collect, inside, place_of, why_none
from idcore.answers.lookup.model import Copy
from idcore.answers.lookup.notes import Notes
from idcore.answers.lookup.source import Progress
from idcore.answers.lookup.ways import Listing, Stop, Way
from idcore.base.errors import CoreError, refuse
from idcore.rocketmq.message import Record, decode_record
from idcore.rocketmq.message import properties as names
from idcore.rocketmq.message.model import LIGHT_PREFIX, parent_of
from idcore.rocketmq.message.row import has_key
from idcore.rocketmq.remoting.cluster import Cluster
from idcore.rocketmq.remoting.errors import AnswerError, NotPermitted, RemotingError, TopicMismatch, Unreachable
from idcore.rocketmq.remoting.guard import Member
from idcore.rocketmq.remoting.requests import (
    LONG_MAX,
    BrokerState,
    Query,
    QueueAt,
    QueueEnd,
    QueueMax,
    QueueSlice,
    Route,
    RuntimeInfo,
)

_MOST_QUEUES = 1_024
# How often a broker is asked for older messages of one key, 64 at a time.
_MOST_PAGES, _PAGE, _SECOND = 32, 64, 1_000


@dataclass(frozen=True, slots=True)
class _LiveQueue:
    """One queue of a topic at one broker, asked of one of its replicas."""

    cluster: Cluster
    member: Member
    topic: str
    number: int

    @property
    def broker(self) -> str:
        return self.member.broker

    def ends(self) -> tuple[int, int]:
        low = self.cluster.ask(self.member, QueueEnd(self.topic, self.number))
        return max(0, low), self.cluster.ask(self.member, QueueMax(self.topic, self.number))

    def near(self, at_ms: int) -> int:
        return self.cluster.ask(self.member, QueueAt(self.topic, self.number, at_ms))

    def read(self, first: int, most: int) -> list[Place]:
        units = self.cluster.ask(self.member, QueueSlice(self.topic, self.number, first, most)).units[:most]
        answers = self.cluster.view(self.member, [unit.physical_offset for unit in units], self.topic)
        places: list[Place] = []
        for unit, raw in zip(units, answers, strict=True):
            expected = places[-1].after if places else first
            record = _record(raw, unit.physical_offset)
            places.append(place_of(expected, record, self.topic, self.number, first + most))
        return places


@dataclass(frozen=True, slots=True)
class _LightQueue(_LiveQueue):
    """The queue of a light topic (LMQ): its entries are of records of other topics, and each names its place there."""

    def read(self, first: int, most: int) -> list[Place]:
        units = self.cluster.ask(self.member, QueueSlice(self.topic, self.number, first, most)).units[:most]
        parent = parent_of(self.topic) or ""
        answers = self.cluster.view(self.member, [unit.physical_offset for unit in units], parent)
        places: list[Place] = []
        for at, (unit, raw) in enumerate(zip(units, answers, strict=True), first):
            record = _record(raw, unit.physical_offset)
            is_there = record is not None and names.light_places(record.properties).get(self.topic) == at
            places.append(Place(at, at + 1, record if is_there else None))
        return places


def _record(raw: bytes | RemotingError | None, offset: int) -> Record | None:
    if isinstance(raw, NotPermitted | TopicMismatch):
        raise raw
    if isinstance(raw, RemotingError) or not raw:
        return None
    try:
        record = decode_record(raw)
    except CoreError:
        return None
    # a broker answers any offset inside its log with the bytes there
    return record if record.physical_offset == offset else None


def find(way: Way, notes: Notes, progress: Progress, stop: Stop) -> Listing:
    """Lists the messages of a way; an empty list has its reason. Raises RemotingError if the cluster is silent."""
    notes.cluster.need_brokers()
    if way.kind == "key":
        return _by_key(way, notes, progress, stop)
    topic = way.listed_topic or ""
    if topic.startswith(LIGHT_PREFIX):
        return _of_queues(way, topic, list(_light_queues(way, topic, notes)), notes, progress, stop)
    route = notes.cluster.routes([topic])[topic]
    if route is None:
        notes.add("topic_route", topic=topic)
        return Listing(way, (), reason="no_dead_letters" if way.kind == "dead_letters" else "topic_unknown")
    if route.static:
        notes.add("list_static", topic=topic)
    if way.kind == "tag" and by_tag.have_index(route, notes):
        records, cut = by_tag.find(way, route, notes, stop)
        if cut != by_tag.OVERFULL:
            return _newest(way, records, cut, notes, "tag_unknown")
        notes.add("tag_overfull", tag=way.tag)
    return _of_queues(way, topic, list(_queues(way, topic, route, notes)), notes, progress, stop)


def _light_queues(way: Way, topic: str, notes: Notes) -> Iterator[_LightQueue]:
    """The queue of a light topic at each broker that has it; no name server has a route of it."""
    brokers, parent = notes.cluster.topology().brokers(), parent_of(topic)
    route = notes.cluster.routes([parent])[parent] if parent is not None else None
    if parent is not None:
        notes.add("lite_topic", topic=topic, parent=parent)
    for name in [entry.name for entry in route.brokers] if route is not None else brokers:
        members = brokers.get(name, ())
        if not members or way.broker not in (None, name, *(each.registered for each in members)):
            continue
        try:
            # asked first, because 31 makes a queue that is not there (QueryConsumeQueue does not)
            member, (answer,) = notes.cluster.ask_any(members, [QueueSlice(topic, way.queue, 0, 1)])
        except RemotingError as problem:
            notes.fail(problem)
            continue
        notes.ask(member)
        if not isinstance(answer, RemotingError):
            yield _LightQueue(notes.cluster, member, topic, way.queue)
        elif not isinstance(answer, AnswerError):
            notes.fail(answer)


def _of_queues(
    way: Way, topic: str, queues: Sequence[_LiveQueue], notes: Notes, progress: Progress, stop: Stop
) -> Listing:
    """The messages of some queues, or why there are none."""
    if not queues:
        return Listing(way, (), reason=notes.failure if notes.failed else "no_queue")
    listed = collect(queues, way, progress, stop)
    _note(listed.parts, topic, notes)
    copies = _copies(((record, queue.member) for record, queue in listed.records), notes)
    counts = tuple(part.count() for part in listed.parts)
    reason = None if copies else notes.failure if notes.failed else why_none(way, listed)
    return Listing(way, copies, counts, listed.cut, reason)


def _queues(way: Way, topic: str, route: Route, notes: Notes) -> Iterator[_LiveQueue]:
    """The queues to read, each by the first replica of its broker that answers."""
    brokers = notes.cluster.topology().brokers()
    left = _MOST_QUEUES
    for entry in route.brokers:
        names = {entry.name, *(each.registered for each in brokers.get(entry.name, ()))}
        if way.broker is not None and way.broker not in names:
            continue
        access = route.access.get(entry.name)
        count = 0 if access is None else max(access.read_queues, access.write_queues)
        numbers = range(min(count, left)) if way.kind != "queue" else range(way.queue, min(way.queue + 1, count))
        if count > left:
            notes.add("list_queues_left_out", broker=entry.name, count=count - left, limit=_MOST_QUEUES)
        left -= len(numbers)
        if entry.name not in brokers:
            notes.fail(Unreachable.at(entry.name, refuse("not_in_cluster", broker=entry.name)))
        elif numbers and (member := _replica(brokers[entry.name], topic, numbers[0], notes)) is not None:
            yield from (_LiveQueue(notes.cluster, member, topic, number) for number in numbers)
    if way.kind == "queue":
        held = ", ".join(f"{name} ({each.read_queues})" for name, each in route.access.items())
        notes.add("list_route", topic=topic, held=held)


def _replica(members: Sequence[Member], topic: str, queue: int, notes: Notes) -> Member | None:
    try:
        member, _ = notes.cluster.ask_any(members, [QueueEnd(topic, queue)])
    except RemotingError as problem:
        for each in members:
            notes.ask(each)
        notes.fail(problem)
        return None
    notes.ask(member)
    if member is not members[0]:
        notes.add("replica", broker=str(member), instead=str(members[0]))
    return member


def _note(parts: Iterable[ListedQueue[_LiveQueue]], topic: str, notes: Notes) -> None:
    """What went wrong in some queues."""
    for part in parts:
        place = {"broker": part.queue.broker, "queue": part.queue.number}
        if isinstance(part.problem, RemotingError):
            notes.fail(part.problem)
        if part.ran_out is not None:
            notes.add("list_ran_out", **place, offset=part.ran_out, end=part.end)
        if part.unreadable:
            notes.add("list_unreadable", **place, count=part.unreadable)


def _copies(records: Iterable[tuple[Record, Member]], notes: Notes) -> tuple[Copy, ...]:
    """Each record for itself: what the other records of its message are is not asked."""
    bodies = notes.cluster.profile.bodies
    return tuple(
        replace(explain([(record, member.registered)], bodies)[0], more={"broker_name": member.broker})
        for record, member in records
    )


# ---- by tag and by key


def _newest(way: Way, records: by_tag.Found, cut: str | None, notes: Notes, unknown: str) -> Listing:
    """The newest of the messages with a tag or a key, the newest first; `unknown` is the reason where there is none."""
    newest = sorted(records, key=lambda pair: pair[0].store_timestamp, reverse=True)
    copies = _copies(newest[: way.limit], notes)
    # Why there may be messages that no broker gave: one was not asked, or its answer has a record that is none.
    gap = notes.failure if notes.failed else "index_damaged" if notes.is_garbled else None
    cut = "limit" if len(newest) > way.limit else cut or ("failed" if gap else None)
    missed = "stopped" if cut == "stopped" else "window" if cut == "failed" else unknown
    return Listing(way, copies, (), cut, None if copies else gap or missed)


def _by_key(way: Way, notes: Notes, progress: Progress, stop: Stop) -> Listing:
    """Every message with a key, the newest first: a broker shows 64 of a topic at a time, and cuts off the oldest."""
    every = notes.cluster.topics()
    related = related_topics(every)
    system = [topic for topic in every if is_special(topic) and topic not in related]
    topics = [way.topic] if way.topic else [*(one for one in every if not is_special(one)), *related, *system]
    most = notes.cluster.profile.most_topics
    if len(topics) > most:
        notes.add("topics_left_out", count=len(topics) - most, limit=most)
        topics = topics[:most]
    search = Search(way.key, notes)
    records: dict[tuple[str, int], tuple[Record, Member]] = {}
    cut: str | None = None
    for at in range(0, len(topics), SLICE):
        if cut == "stopped":
            break
        progress(at, len(topics), topics[at])
        for members, wanted in search.by_broker(topics[at : at + SLICE]):
            if stop():
                cut = "stopped"
                break
            more, ended = _of_broker(way, members, wanted, notes, stop)
            records |= {(member.registered, record.physical_offset): (record, member) for record, member in more}
            cut = cut or ended
    progress(len(topics), len(topics), "")
    if way.topic and way.topic in search.unrouted:
        notes.add("topic_route", topic=way.topic)
    listing = _newest(way, list(records.values()), cut, notes, "key_unknown")
    is_unrouted = not listing.copies and way.topic in search.unrouted
    return replace(listing, reason="topic_unknown") if is_unrouted else listing


def _windows(way: Way, members: Sequence[Member], notes: Notes) -> tuple[list[tuple[int, int]], str | None]:
    """The times to ask a broker for, and `failed` where these are not all.

    An index in RocksDB (5.4.0) answers for seven days at most, and an open window is that of the last seven.
    """
    begin = 0 if way.begin_ms is None else max(0, way.begin_ms - _SECOND)
    # the index counts in seconds
    whole = (begin, LONG_MAX if way.end_ms is None else way.end_ms + _SECOND)
    state = _state(members[0], notes)
    if state is None or version_of(state.version) < ROCKSDB_INDEX:
        return [whole], None
    weeks = list(by_tag.windows(way, state))
    if len(weeks) == 1 and way.begin_ms is None and way.end_ms is None:
        return [whole], None
    asked = weeks if way.topic else weeks[:MOST_WINDOWS]
    if len(asked) < len(weeks):
        notes.add("index_days", begin=utc(asked[-1][0]), oldest=utc(weeks[-1][0]))
    return [whole, *asked], None if len(asked) == len(weeks) else "failed"


def _state(member: Member, notes: Notes) -> BrokerState | None:
    """The state of a broker, asked once; None where it gives none. Who is silent is noted with its other questions."""
    if member.registered not in notes.states:
        with suppress(RemotingError):
            notes.states[member.registered] = member, notes.cluster.ask(member, RuntimeInfo())
            notes.ask(member)
    known = notes.states.get(member.registered)
    return None if known is None else known[1]


def _of_broker(
    way: Way, members: Sequence[Member], topics: Sequence[str], notes: Notes, stop: Stop
) -> tuple[list[tuple[Record, Member]], str | None]:
    """The messages with a key in some topics of a broker, and what ended the search early."""
    page = _Pages(way, members, notes, stop, dict.fromkeys(topics, 0))
    windows, cut = _windows(way, members, notes)
    for begin, end in windows:
        wanted = [topic for topic, count in page.counts.items() if count <= way.limit]
        ended = page.read(wanted, begin, end) if wanted else None
        cut = ended or cut
        if ended == "stopped":
            break
    return list(page.records.values()), cut


@dataclass(frozen=True, slots=True)
class _Pages:
    """The messages of one broker with a key, 64 at a time, the newest first."""

    way: Way
    members: Sequence[Member]
    notes: Notes
    stop: Stop
    counts: dict[str, int]
    records: dict[int, tuple[Record, Member]] = field(default_factory=dict)

    def read(self, topics: Sequence[str], begin: int, last: int) -> str | None:
        """Those of some topics and a time; what ended the search early."""
        way, notes, records, counts = self.way, self.notes, self.records, self.counts
        asked, overfull, seen = dict.fromkeys(topics, last), False, set[int]()
        cut: str | None = "failed"  # more pages than are asked for
        for _ in range(_MOST_PAGES):
            try:
                questions = [Query(topic, way.key, False, begin, end, _PAGE) for topic, end in asked.items()]
                member, answers = notes.cluster.ask_any(self.members, questions)
            except RemotingError as problem:
                notes.fail(problem)
                return "failed"
            notes.ask(member)
            again: dict[str, int] = {}
            for question, answer in zip(questions, answers, strict=True):
                page = list(notes.records(answer, member))
                fresh = [record for record in page if record.physical_offset not in seen]
                seen |= {record.physical_offset for record in fresh}
                mine = [record for record in fresh if record.topic == question.topic and has_key(record, way.key)]
                mine = [each for each in mine if inside(each, way) and each.physical_offset not in records]
                records |= {record.physical_offset: (record, member) for record in mine}
                counts[question.topic] += len(mine)
                if len(page) >= _PAGE:
                    again[question.topic] = min(record.store_timestamp for record in page)
                    if not fresh:  # a second has more than a page
                        again[question.topic], overfull = question.end_ms - _SECOND, True
            asked = {topic: end for topic, end in again.items() if counts[topic] <= way.limit and end >= begin}
            if not asked or self.stop():
                cut = "stopped" if asked else "failed" if overfull else None
                break
        if overfull or cut == "failed":
            notes.add("more_copies", broker=str(self.members[0]), count=len(records))
        return cut
