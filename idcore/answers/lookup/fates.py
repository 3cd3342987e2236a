"""What became of a message in each group: asks a live cluster, and has the rule judge (idcore/answers/fate)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from idcore.answers.fate import Blocker, Group, GroupCopy, JudgedRecord, Observation, Verdict, judge
from idcore.answers.fate.model import POP, PULL, PUSH, Consumers, Filter, Holder
from idcore.answers.fate.rule import rests_on_offset
from idcore.answers.lookup.answer_cache import AnswerCache
from idcore.answers.lookup.by_key import MOST_OF_A_UNIQUE_KEY, Search
from idcore.answers.lookup.by_time import INDEX_DAYS_MS, MOST_WINDOWS, ROCKSDB_INDEX, indexing_days, version_of
from idcore.answers.lookup.client_states import states
from idcore.answers.lookup.clients import is_grpc, newest_subscription, shared_client_ids, united
from idcore.answers.lookup.copies import TIMER_TOPIC, group_of, is_special, topics_of_group
from idcore.answers.lookup.group_evidence import (
    RecordsOfTopic,
    calls_of,
    group_copy,
    is_copy_of,
    is_past,
    records_by_topic,
)
from idcore.answers.lookup.handed import Counters, Reader, windows
from idcore.answers.lookup.model import Copy
from idcore.answers.lookup.notes import Notes
from idcore.answers.lookup.popped import PopNotes
from idcore.answers.lookup.popped import read as read_popped
from idcore.answers.lookup.topic_brokers import (
    CACHED_MS,
    Pace,
    TopicBrokers,
    filter_of,
    has_no_client,
    is_active_behind_proxy,
)
from idcore.base.errors import CoreError
from idcore.rocketmq.message import Record, decode_record, decode_records
from idcore.rocketmq.message import properties as names
from idcore.rocketmq.message.attempts import Attempt
from idcore.rocketmq.message.model import LIGHT_PREFIX, RETRY_PREFIX
from idcore.rocketmq.message.row import has_key
from idcore.rocketmq.message.validators import SCHEDULE_TOPIC
from idcore.rocketmq.remoting.consumers import (
    AllConsumerOffsets,
    AllDelayOffsets,
    AllGroupConfigs,
    ClientState,
    ConnectedClient,
    Connection,
    ConsumerConnections,
    ConsumerOffset,
    ConsumeStats,
    GroupConfigOf,
    PoppedTopics,
    QueueProgress,
    QueueStats,
    TimerRead,
    TopicStats,
)
from idcore.rocketmq.remoting.counters import HandedTo, Sums
from idcore.rocketmq.remoting.errors import RemotingError
from idcore.rocketmq.remoting.requests import (
    Query,
    QueueEnd,
    QueueMax,
    QueueSlice,
    Request,
    View,
)

# From so many groups on one answer with all offsets of a broker is less than one question for each.
_MANY_GROUPS = 64
# Clients commit their offsets at this interval; what is asked again sooner has not moved yet.
PAUSE_SECONDS = 5.0
# So many clients are asked themselves, and for so long.
MOST_REACHED, REACHED_SECONDS = 64, 5.0
_MAY_BE_IN_MEMORY = frozenset({"running", "handed_out", "stuck", "behind", "never_read"})
# So many times a broker is asked for the rest of the copies of one message: each answer has 32 at most.
_MOST_PAGES = 16
# How far the clocks of two brokers may differ: a retry copy may seem older than its message.
_CLOCK_SKEW_MS = 3_600_000


@dataclass(frozen=True, slots=True)
class _GroupRecord:
    """A retry copy or dead letter of a group, and its broker."""

    record: Record
    broker: str
    group: str


def judge_groups(
    copies: Sequence[Copy],
    notes: Notes,
    pace: Pace,
    cache: AnswerCache,
    attempts: Sequence[Attempt] = (),
    alone: bool = False,
) -> tuple[Verdict, ...]:
    """The verdict of every group on every record that consumers could get; `attempts` are those of the trace.

    `alone`: no other id is asked about. Then brokers are asked what they wrote of POP groups, and clients that may have
    a record in memory what they say themselves, where the profile permits it.
    """
    verdicts: list[Verdict] = []
    for message in records_by_topic(copies, notes.add, _siblings(copies, notes)):
        key = message.copies[0].record.uniq_id
        traced = [each for each in attempts if key is not None and each.msg_id.upper() == key.upper()]
        # a trace does not say which record of a msgId it is about, nor of which topic
        proved = traced if traced and _is_alone(message, notes, pace.now_ms()) else ()
        groups = {
            group
            for copy in copies
            if (group := group_of(copy.record, [message.topic]))
            and any(is_copy_of(copy.record, one.record, message.origins) for one in message.copies)
        }
        verdicts += _Fates(message, notes, pace, cache, proved, groups, alone).run()
    return tuple(verdicts)


def _siblings(copies: Sequence[Copy], notes: Notes) -> list[Record]:
    """The other items of a batch: their retries and dead letters have the same msgId, that of the batch."""
    batches = {
        (copy.record.uniq_id, copy.record.topic): copy.record.store_timestamp
        for copy in copies
        if copy.record.in_batch and not is_special(copy.record.topic)
    }
    siblings: list[Record] = []
    for (key, topic), stored_ms in batches.items():
        if key is not None:
            items = Search(key, notes).run([topic], max(0, stored_ms - _CLOCK_SKEW_MS))
            siblings += [record for record, _ in items if record.uniq_id == key and record.topic == topic]
    return siblings


def _is_alone(message: RecordsOfTopic, notes: Notes, now_ms: int) -> bool:
    """Whether there is one record of a message in all topics; False where somebody does not say.

    A message that is sent on, from one topic to another, keeps its UNIQ_KEY. A RocksDB index shows the last seven days.
    """
    record, asked = message.copies[0].record, Notes(notes.cluster)
    profile = notes.cluster.profile
    if len(message.of_message) > 1 or not profile.search_whole_log:
        return False
    if now_ms - record.store_timestamp > INDEX_DAYS_MS and indexing_days(notes):
        return False
    try:
        topics = [topic for topic in notes.cluster.topics() if not is_special(topic)]
        records = Search(record.uniq_id or "", asked).run(list(dict.fromkeys([message.topic, *topics])), 0)
    except RemotingError as problem:
        notes.fail(problem)
        return False
    notes.asked |= asked.asked
    places = {(broker, each.physical_offset) for each, broker in records if each.uniq_id == record.uniq_id}
    places.add((message.copies[0].broker, record.physical_offset))
    return len(places) == 1 and not asked.failed and len(topics) <= profile.most_topics


# One record, by its place among those of the message, and one group.
_Key = tuple[int, str]
_Known = dict[_Key, tuple[JudgedRecord, Group]]
# One queue of a retry topic: the broker, and the question for the group's offset there.
_Queue = tuple[str, ConsumerOffset]


class _Fates(TopicBrokers):
    """The groups of one topic, and the records of one message in it."""

    def __init__(
        self,
        message: RecordsOfTopic,
        notes: Notes,
        pace: Pace,
        cache: AnswerCache,
        attempts: Sequence[Attempt],
        groups: Collection[str],
        alone: bool,
    ) -> None:
        super().__init__(message.topic, notes, pace, cache, [copy.broker for copy in message.copies])
        self.message, self.attempts, self.alone = message, attempts, alone
        self.reach = alone and notes.cluster.profile.limits.reach_clients
        self.known_groups |= set(groups)
        self.readers: Sequence[str] = ()
        self.clients: dict[str, list[tuple[str, str, ConnectedClient]]] = {}
        self.records = [(copy.record, self.of_address.get(copy.broker, "")) for copy in message.copies]

    def run(self) -> list[Verdict]:
        """Who consumes the topic, what is known of each of them, and the verdicts."""
        groups = self.readers = self._groups()
        if not groups:
            self.notes.add("no_groups", topic=self.topic)
            return []
        if self.notes.room.verdicts is not None:
            self.notes.room.verdicts.take(len(groups) * len(self.records))
        known = self._collect(groups)
        first = {key: judge(*each, self.pace.now_ms()) for key, each in known.items()}
        known |= self._ask_again(known, first)
        known |= self._unfinished(known)
        known |= self._count_handed(known)
        if self.reach:
            known |= self._ask_clients(known)
        verdicts: list[Verdict] = []
        for group in groups:
            of_group = [judge(*known[place, group], self.pace.now_ms()) for place in range(len(self.records))]
            verdicts += self.message.marked(of_group)
        return verdicts

    # ---- what is known of a group

    def _collect(self, groups: Sequence[str]) -> _Known:
        """Everything for these groups and every record."""
        connections = self._connections(groups)
        configs = self._configs(groups)
        # Clients send a failed message back before they commit an offset behind it: offsets first, so none is missed.
        offsets = self._offsets(groups)
        known_ms = max((each.at_ms or 0 for each in offsets.values()), default=0)
        passed, wanted = self._retries(groups, known_ms)
        copies, complete = self._copies(groups, wanted)
        progress = self._progress(copies, passed)
        calls = calls_of(self.attempts, self.records[0][0].uniq_id, self.readers)
        popped = self._popped(connections)
        held = [popped.get(each.broker, PopNotes()).of(each.record, each.group) for each in copies]
        collected = {}
        for place, (record, broker) in enumerate(self.records):
            judged, notes = self._judged(record, broker), popped.get(broker, PopNotes())
            for group in groups:
                config = configs.get((broker, group), Observation())
                pops = (connections[group].value or Consumers()).surely_pops
                known = Group(
                    group,
                    offsets[place, group],
                    consumers=connections[group],
                    can_consume=Observation(config.value and config.value.can_consume, config.at_ms),
                    can_broadcast=Observation(config.value and config.value.can_broadcast, config.at_ms),
                    can_retry=Observation(config.value and config.value.can_retry, config.at_ms),
                    copies=tuple(
                        replace(progress[at], shared=self.message.is_shared(each.record), held=held[at])
                        for at, each in enumerate(copies)
                        if each.group == group and is_copy_of(each.record, record, self.message.origins)
                    ),
                    copies_complete=group in complete,
                    attempts=calls.get(group, ()),
                    held=notes.of(record, group),
                    no_checkpoint=bool(config.value and not config.value.orderly) and notes.lacks(record, group, pops),
                )
                collected[place, group] = judged, self._with_pull_offset(self._with_kind(known, broker), record, broker)
        return collected

    def _popped(self, connections: Mapping[str, Observation[Consumers]]) -> dict[str, PopNotes]:
        """What each broker wrote of its POP groups since it stored the message: many questions, so for one id alone."""
        popped: dict[str, PopNotes] = {}
        if not self.alone or not any(each.value is not None and each.value.pops for each in connections.values()):
            return popped
        for broker in dict.fromkeys(broker for _, broker in self.records):
            if self.versions.get(broker, "").startswith("V5"):
                stored_ms = min(record.store_timestamp for record, of in self.records if of == broker)
                now_ms = self.pace.now_ms() + self.ahead_ms.get(broker, 0)
                popped[broker] = read_popped(partial(self._ask, broker), stored_ms, now_ms)
        return popped

    def _with_kind(self, group: Group, broker: str) -> Group:
        """Whether it was one of push clients, where a trace of a client that has gone has to tell that from a poll."""
        if not group.attempts or (group.consumers.value is not None and group.consumers.value.clients):
            return group
        asked = ConsumerOffset(group.name, RETRY_PREFIX + group.name, 0)
        (offset,) = self._ask(broker, [asked], self.since_ms)
        # 4.9 may answer 0 for a group that has none
        least = 0 if self.versions.get(broker, "").startswith("V5") else 1
        return replace(group, pushed=Observation(offset.value is not None and offset.value >= least, offset.at_ms))

    def _judged(self, record: Record, broker: str) -> JudgedRecord:
        access = self.route.access.get(broker) if self.route else None
        (end,) = self._next_offsets(broker, [QueueMax(self.topic, record.queue_id)], record.queue_offset)
        (begin,) = self._ask(broker, [QueueEnd(self.topic, record.queue_id)], self.since_ms)
        return JudgedRecord(
            str(record.offset_id),
            broker or "?",
            self.topic,
            record.queue_id,
            record.queue_offset,
            record.store_timestamp,
            record.properties.get(names.TAGS),
            readable=access.can_be_read(record.queue_id) if access else None,
            static=self.route.static if self.route else False,
            from_slave=broker in self.slaves,
            end=end,
            begin=begin,
            properties=record.properties,
        )

    def _offsets(self, groups: Sequence[str]) -> dict[_Key, Observation[int]]:
        offsets: dict[_Key, Observation[int]] = {}
        for place, (record, broker) in enumerate(self.records):
            asked = [ConsumerOffset(group, self.topic, record.queue_id) for group in groups]
            if len(groups) > _MANY_GROUPS:
                (every,) = self._ask(broker, [AllConsumerOffsets()], self.since_ms)
                held = {each.group: each.offsets for each in every.value or () if each.topic == self.topic}
                known = {group: held.get(group, {}).get(record.queue_id) for group in groups}
                offsets |= {(place, group): Observation(offset, every.at_ms) for group, offset in known.items()}
                if every.at_ms is None or every.at_ms >= self.begun_ms:
                    continue
                asked = [each for each in asked if (known[each.group] or 0) <= record.queue_offset]
            heard = self._next_offsets(broker, asked, record.queue_offset)
            offsets |= {(place, each.group): one for each, one in zip(asked, heard, strict=True)}
        return offsets

    def _with_pull_offset(self, group: Group, record: Record, broker: str) -> Group:
        """How far messages were given to clients, where that matters: not passed yet, or broadcast."""
        consumers = group.consumers.value or Consumers()
        if consumers.broadcast:
            if not self.versions.get(broker, "").startswith("V5"):
                return group  # 4.9 notes none, and answers 0 for every group
            asked = ConsumerOffset(f"{group.name}@broadcast", self.topic, record.queue_id)
            (offset,) = self._next_offsets(broker, [asked], record.queue_offset)
            return replace(group, broadcast_offset=offset)
        if not group.offset.answered or is_past(group.offset.value, record.queue_offset):
            return group
        (stats,) = self._ask(broker, [ConsumeStats(group.name, self.topic)], self.begun_ms)
        return replace(group, pull_offset=_pulled(stats, self.topic, record.queue_id))

    def _connections(self, groups: Sequence[str]) -> dict[str, Observation[Consumers]]:
        answers = self._ask_all(
            {name: [ConsumerConnections(group) for group in groups] for name in self.brokers}, self.since_ms
        )
        silent = bool(
            self.silent & {*self.brokers, *(entry.name for entry in (self.route.brokers if self.route else ()))}
        )
        connections = {}
        for place, group in enumerate(groups):
            heard: list[Observation[Connection]] = [answers[name][place] for name in self.brokers]
            connections[group] = _merge_connections(heard, self.topic, silent)
            rows = zip(self.brokers, heard, strict=True)
            self.clients[group] = [(name, group, row) for name, one in rows if one.value for row in one.value.clients]
        unseen = {
            group: [name for name in self.brokers if has_no_client(answers[name][place])]
            for place, group in enumerate(groups)
            if not (connected := connections[group].value) or not connected.clients
        }
        self._mark_popped(connections)
        self._note_requests(connections)
        # who has gone from a proxy may be connected to a broker that was silent
        behind = self._proxied(unseen) | self._subscribers(groups)
        return connections | {
            group: each
            for group, each in behind.items()
            if is_active_behind_proxy(each)
            or connections[group].answered
            or (each.value is not None and each.value.clients)
        }

    def _mark_popped(self, connections: dict[str, Observation[Consumers]]) -> None:
        """Java push clients that take messages by POP connect as push clients; the brokers' settings name them."""
        pushing = [group for group, each in connections.items() if each.value and each.value.consume_type == PUSH]
        newer = [name for name in self.brokers if self.versions.get(name, "").startswith("V5")]
        if not pushing or not newer:
            return
        answers = self._ask_all({name: [PoppedTopics()] for name in newer}, self.since_ms)
        popped = {pair for (heard,) in answers.values() for pair in heard.value or ()}
        for group in pushing:
            held = connections[group]
            if held.value is not None and (self.topic, group) in popped:
                connections[group] = replace(held, value=replace(held.value, consume_type=POP))

    def _configs(self, groups: Sequence[str]) -> dict[tuple[str, str], Observation[Any]]:
        """The settings of each group at the brokers of the records; before 5.0 there is one question for all."""
        configs: dict[tuple[str, str], Observation[Any]] = {}
        for broker in dict.fromkeys(broker for _, broker in self.records):
            if self.versions.get(broker, "").startswith("V5"):
                heard = self._ask(broker, [GroupConfigOf(group) for group in groups], self.since_ms)
                configs |= {(broker, group): each for group, each in zip(groups, heard, strict=True)}
                continue
            (every,) = self._ask(broker, [AllGroupConfigs()], self.since_ms)
            configs |= {(broker, group): Observation((every.value or {}).get(group), every.at_ms) for group in groups}
        return configs

    # ---- copies

    def _retries(
        self, groups: Sequence[str], since_ms: int
    ) -> tuple[dict[_Queue, Observation[Any]], dict[str, list[str]]]:
        """How far the groups are in their retry topics, and which topics of copies have anything, by broker."""
        begin = self._begin_ms()
        topics = self._topics_of(groups)
        routes = self.cluster.routes(list(topics))
        routed = [entry.name for route in routes.values() if route for entry in route.brokers]
        asked = [*topics, SCHEDULE_TOPIC, TIMER_TOPIC]
        jobs = {name: [TopicStats(topic, True) for topic in asked] for name in dict.fromkeys([*self.brokers, *routed])}
        wanted: dict[str, list[str]] = {}
        queues: dict[str, list[ConsumerOffset]] = {}
        for broker, answers in self._ask_all(jobs, since_ms).items():
            stats = dict(zip(asked, answers, strict=True))
            wanted[broker] = [topic for topic in asked if _may_have(stats[topic], begin)]
            queues[broker] = [
                ConsumerOffset(topics[topic], topic, queue.queue)
                for topic in wanted[broker]
                if topic.startswith(RETRY_PREFIX)
                for queue in stats[topic].value or ()
            ]
        heard = self._ask_all(queues, self.begun_ms)
        pairs = ((broker, zip(queues[broker], answers, strict=True)) for broker, answers in heard.items())
        return {(broker, asked): each for broker, of_broker in pairs for asked, each in of_broker}, wanted

    def _begin_ms(self) -> int:
        """From when on copies of the message may have been stored."""
        return max(0, min(record.store_timestamp for record, _ in self.records) - _CLOCK_SKEW_MS)

    def _copies(
        self, groups: Sequence[str], wanted: Mapping[str, Sequence[str]]
    ) -> tuple[list[_GroupRecord], set[str]]:
        """The copies of these groups, and the groups of which every broker answered."""
        key, begin = self.records[0][0].uniq_id, self._begin_ms()
        if key is None:
            return [], set()
        topics = self._topics_of(groups)
        copies: dict[tuple[str, int], _GroupRecord] = {}
        incomplete: set[str] = set()
        jobs: dict[str, list[Query]] = {}
        for name, asked in wanted.items():
            for question in (Query(topic, key, True, begin) for topic in asked):
                windows = self._windows(name, question)
                jobs.setdefault(name, []).extend(windows or [question])
                if not windows:
                    incomplete |= {topics[question.topic]} if question.topic in topics else set(groups)
        for last in (False,) * _MOST_PAGES + (True,):
            following: dict[str, list[Query]] = {}
            for broker, answers in self._ask_all(jobs).items():
                if broker in self.slaves:
                    incomplete |= set(groups)
                for question, heard in zip(jobs[broker], answers, strict=True):
                    records, rest = self._records(heard, broker, question)
                    following.setdefault(broker, []).extend(rest or ())
                    if rest is None or (rest and last):
                        incomplete |= {topics[question.topic]} if question.topic in topics else set(groups)
                    for record in records:
                        group = topics.get(question.topic) or group_of(record, [self.topic])
                        if group is None or group not in groups:
                            continue
                        if not self.notes.room.takes(record.size):
                            incomplete.add(group)
                        else:
                            copies[broker, record.physical_offset] = _GroupRecord(record, broker, group)
            jobs = {broker: questions for broker, questions in following.items() if questions}
            if not jobs:
                break
        return list(copies.values()), set() if self.silent else set(groups) - incomplete

    def _windows(self, broker: str, question: Query) -> list[Query]:
        """The question; for a RocksDB index in windows of seven days, and none if these are too many."""
        if not self._may_index_days(broker):
            return [question]
        end = self.pace.now_ms() + self.ahead_ms.get(broker, 0) + _CLOCK_SKEW_MS
        begins = range(max(1, question.begin_ms), end, INDEX_DAYS_MS)
        if len(begins) > MOST_WINDOWS:
            return []
        return [replace(question, begin_ms=each, end_ms=min(each + INDEX_DAYS_MS, end)) for each in begins]

    def _may_index_days(self, broker: str) -> bool:
        return version_of(self.versions.get(broker, "")) >= ROCKSDB_INDEX

    def _topics_of(self, groups: Sequence[str]) -> dict[str, str]:
        """The topics that have copies of these groups, each with its group."""
        return {topic: group for group in groups for topic in topics_of_group(group, [self.topic])}

    def _records(
        self, heard: Observation[Any], broker: str, question: Query
    ) -> tuple[list[Record], list[Query] | None]:
        """The records of an answer, and what else is to be asked; None where no question gives the rest.

        A broker gives the newest records, or with a RocksDB index the oldest ones, and so many at most.
        """
        if heard.value is None:
            return [], None
        try:
            every = list(decode_records(heard.value))
        except CoreError as problem:
            self.notes.add("bad_record", broker=broker, problem=problem.coded())
            return [], None
        of_key = [record for record in every if record.topic == question.topic and has_key(record, question.key)]
        if len(every) < MOST_OF_A_UNIQUE_KEY:
            return of_key, []
        times = [record.store_timestamp for record in every]
        rest = [replace(question, end_ms=min(times))]
        if self._may_index_days(broker):
            rest.append(replace(question, begin_ms=max(times)))
        return of_key, None if question in rest else rest

    def _progress(self, copies: Sequence[_GroupRecord], passed: Mapping[_Queue, Observation[Any]]) -> list[GroupCopy]:
        """What the groups and the delays have done with each copy."""
        jobs: dict[str, list[Request[Any]]] = {}
        for each in copies:
            request = _progress_request(each)
            if request is not None and (each.broker, request) not in passed:
                jobs.setdefault(each.broker, []).append(request)
        waiting = {each.broker: [AllDelayOffsets()] for each in copies if each.record.topic == SCHEDULE_TOPIC}
        answers: dict[tuple[str, Any], Observation[Any]] = dict(passed)
        for broker, (levels,) in self._ask_all(waiting, self.pace.now_ms()).items():
            answers[broker, AllDelayOffsets()] = levels
        for broker, heard in self._ask_all(jobs).items():
            answers |= {(broker, question): one for question, one in zip(jobs[broker], heard, strict=True)}
        return [_with_progress(each, answers) for each in copies]

    # ---- asking again

    def _ask_again(self, known: _Known, before: Mapping[_Key, Verdict]) -> _Known:
        """The offsets that may have moved, and what blocks those that have not."""
        fresh: _Known = {}
        delivered = sorted(
            {group for (_, group), verdict in before.items() if "just_delivered" in {each.code for each in verdict.why}}
        )
        waiting = [key for key, verdict in before.items() if verdict.code == "behind"]
        earlier = {key: self._earlier(*key) for key in waiting}
        if delivered or not all(each.answered for each in earlier.values()):
            self.pace.pause(PAUSE_SECONDS)
            self.begun_ms = self.since_ms = self.pace.now_ms()
        if delivered:
            fresh |= {key: value for key, value in self._collect(delivered).items() if before[key].code == "no_verdict"}
        for place, group in waiting:
            judged, held = known[place, group]
            record, broker = self.records[place]
            if earlier[place, group].answered:  # somebody asked long enough ago
                held = replace(held, offset=earlier[place, group])
            (again,) = self._ask(broker, [ConsumerOffset(group, self.topic, record.queue_id)], self.begun_ms)
            still = again.answered and again.value == held.offset.value
            blocker = self._blocker(broker, record.queue_id, again.value) if still and again.value is not None else None
            fresh[place, group] = judged, replace(held, again=again, blocker=blocker)
        return fresh

    def _unfinished(self, known: _Known) -> _Known:
        """The oldest message that holds the group's offset back, where later ones were handed out behind it."""
        fresh, now = {}, self.pace.now_ms()
        for key, (judged, held) in known.items():
            offset = held.offset.value if held.again.value is None else held.again.value
            if offset is None or judge(judged, held, now).code != "handed_out":
                continue
            if offset == judged.offset:
                blocker: Blocker | None = Blocker(judged.record, None, offset, judged.stored_ms)
            else:
                blocker = self._blocker(self.records[key[0]][1], judged.queue, offset)
            fresh[key] = judged, replace(held, blocker=blocker)
        return fresh

    def _count_handed(self, known: _Known) -> _Known:
        """Groups whose offset moved over more messages than their broker handed them, where nothing else is known."""
        fresh, now = {}, self.pace.now_ms()
        if self.topic.startswith(LIGHT_PREFIX):  # of all light topics there is one counter
            return {}
        for place, (record, broker) in enumerate(self.records):
            if broker in self.slaves or broker not in self.boot_ms:
                continue
            covered = windows(self.boot_ms[broker], now + self.ahead_ms[broker], self.alone)
            of_record = [key for key in known if key[0] == place] if covered else []
            resting = [key for key in of_record if rests_on_offset(*known[key], now)]
            exact = self.versions[broker].startswith("V5")
            counters = Counters(partial(self._ask, broker), self.topic, covered, now - CACHED_MS, exact)
            fewer = counters.fewer([_reader(known[key][1]) for key in resting], record.store_timestamp)
            for group in fewer.keys() - self._read_from_slaves(broker, list(fewer)):
                judged, held = known[place, group]
                fresh[place, group] = judged, replace(held, fewer_handed=fewer[group])
        return fresh

    def _read_from_slaves(self, broker: str, groups: Sequence[str]) -> set[str]:
        """The groups that slaves of a broker handed messages, or may have: their master did not count those."""
        asked = [HandedTo(group, self.topic) for group in groups]
        read: set[str] = set()
        for slave in self.members[broker][1:] if groups else ():
            self.notes.ask(slave)
            try:
                heard = self.cluster.ask_all(slave, asked)
            except RemotingError:
                return set(groups)
            read |= {group for group, sums in zip(groups, heard, strict=True) if not isinstance(sums, Sums) or sums.any}
        return read

    def _ask_clients(self, known: _Known) -> _Known:
        """Who has a record in memory that its group did not pass, said by the clients themselves.

        A lite pull consumer that assigned itself the queue also says since when it has the filter of its requests.
        """
        now = self.pace.now_ms()
        ranks = {key: rank for key, each in known.items() if (rank := _rank(*each, now)) is not None}
        waiting = {key: known[key] for key in sorted(ranks, key=lambda key: ranks[key])}
        groups = dict.fromkeys(group for _, group in waiting)
        clients = {group: united(self.clients[group]) for group in groups}
        reachable = [(group, one) for group, some in clients.items() for one in some if not is_grpc(one.client_id)]
        if len(reachable) > MOST_REACHED:
            self.notes.add("clients_left_out", count=len(reachable) - MOST_REACHED, limit=MOST_REACHED)
        asked = reachable[:MOST_REACHED]
        answers = list(zip(asked, states(asked, self.members, self.notes, REACHED_SECONDS), strict=True))
        at_ms, of_clients = self.pace.now_ms(), {}
        for (place, group), (judged, held) in waiting.items():
            client_states = [(client.client_id, state) for (name, client), state in answers if name == group]
            home = (judged.broker, judged.topic, judged.queue)
            owned = [
                (client_id, state, queue)
                for client_id, state in client_states
                if state is not None
                for queue in state.queues
                if (queue.broker, queue.topic, queue.queue) == home
            ]
            holders = tuple(
                Holder(client_id, queue.oldest == judged.offset, queue.consumed_ms, not state.has_room, state.orderly)
                for client_id, state, queue in owned
                if queue.has(judged.offset)
            )
            own = [queue.reached for *_, queue in owned if queue.reached is not None and not queue.dropped]
            if own and _pushes(held):
                held = replace(held, own_offset=Observation(min(own), at_ms))
            whole = len(client_states) == len(clients[group]) and all(state for _, state in client_states)
            if _assigns(held) and whole and len(client_states) == 1:
                held = _since_begin(held, client_states[0][1], self.topic)
            held = _with_other_filter(held, [state for _, state in client_states if state is not None], self.topic)
            if holders or (whole and client_states and not is_past(held.offset.value, judged.offset)):
                held = replace(held, holders=Observation(holders, at_ms))
            of_clients[place, group] = judged, held
        return of_clients

    def _earlier(self, place: int, group: str) -> Observation[Any]:
        """The group's offset as it was heard for another id, long enough ago to show whether it moves."""
        record, broker = self.records[place]
        question = ConsumerOffset(group, self.topic, record.queue_id)
        reply = self.cache.before(broker, question, self.begun_ms - round(PAUSE_SECONDS * 1_000))
        return Observation() if reply is None or reply.at_ms < record.store_timestamp else self._heard(broker, reply)

    def _blocker(self, broker: str, queue: int, offset: int) -> Blocker | None:
        (part,) = self._ask(broker, [QueueSlice(self.topic, queue, offset, 1)], self.since_ms)
        if part.value is None or not part.value.units:
            return None
        (raw,) = self._ask(broker, [View(part.value.units[0].physical_offset, self.topic)], self.since_ms)
        try:
            record = decode_record(raw.value or b"")
        except CoreError as problem:
            self.notes.add("bad_record", broker=broker, problem=problem.coded())
            return None
        return Blocker(str(record.offset_id), record.uniq_id, record.queue_offset, record.store_timestamp)


def _reader(group: Group) -> Reader:
    consumers = group.consumers.value or Consumers()
    chosen = consumers.filter or Filter("TAG", "*", frozenset(), 0)
    return Reader(group.name, chosen.since_ms, chosen.is_narrow, consumers.from_last, consumers.pops)


def _rank(judged: JudgedRecord, group: Group, now_ms: int) -> int | None:
    """How soon the clients of a group are asked about a record, among others; None where they tell nothing."""
    asked = (
        _assigns(group) or judge(judged, group, now_ms).code in _MAY_BE_IN_MEMORY,
        group.fewer_handed is not None,
        _may_differ(group),
        _pushes(group) and rests_on_offset(judged, group, now_ms),
        _pushes(group),
    )
    return asked.index(True) if True in asked else None


def _assigns(group: Group) -> bool:
    """Whether its clients pull, and a broker has their filter from a request alone."""
    consumers = group.consumers.value
    chosen = None if consumers is None else consumers.filter
    return consumers is not None and consumers.consume_type == PULL and chosen is not None and chosen.of_last_request


def _pushes(group: Group) -> bool:
    """Whether its clients know better how far they are: of one that was reset a broker says the new offset at once."""
    consumers = group.consumers.value
    return consumers is not None and consumers.consume_type == PUSH and not consumers.broadcast and not consumers.pops


def _may_differ(group: Group) -> bool:
    """Whether it has several clients: a broker has the newest filter of them, and each client drops by its own."""
    consumers = group.consumers.value
    return consumers is not None and consumers.clients > 1 and consumers.filter is not None and not consumers.pops


def _wants(chosen: Filter) -> tuple[str, Collection[str]]:
    return chosen.kind, chosen.tags or chosen.expression


def _with_other_filter(group: Group, states: Sequence[ClientState], topic: str) -> Group:
    consumers = group.consumers.value
    if consumers is None or not _may_differ(group):
        return group
    kept = consumers.filter
    wanted = [filter_of(each) for state in states if (each := state.subscriptions.get(topic)) is not None]
    other = next((each for each in wanted if kept is not None and _wants(each) != _wants(kept)), None)
    if other is None:
        return group
    differing = replace(consumers, other_filter=other.expression or "*")
    return replace(group, consumers=replace(group.consumers, value=differing))


def _since_begin(group: Group, state: ClientState | None, topic: str) -> Group:
    """With the filter since the only client of the group began, where that client cannot change it."""
    consumers = group.consumers.value
    if consumers is None or consumers.filter is None or state is None:
        return group
    if not state.lite_pull or topic in state.subscriptions or not 0 < state.began_ms < consumers.filter.since_ms:
        return group
    fixed = replace(consumers.filter, since_ms=state.began_ms, of_last_request=False)
    return replace(group, consumers=replace(group.consumers, value=replace(consumers, filter=fixed)))


def _pulled(stats: Observation[Sequence[QueueProgress]], topic: str, queue: int) -> Observation[int]:
    """How far the group was handed messages of a queue."""
    offsets = [each.pull_offset for each in stats.value or () if each.topic == topic and each.queue == queue]
    return Observation(offsets[0] if offsets else None, stats.at_ms)


def _merge_connections(heard: Sequence[Observation[Connection]], topic: str, silent: bool) -> Observation[Consumers]:
    """What all brokers say of the clients of a group; nothing where nobody saw one and somebody was silent."""
    seen = [each.value for each in heard if each.value is not None]
    times = [each.at_ms for each in heard if each.at_ms is not None]
    if not seen:
        return Observation() if silent or not times or len(times) < len(heard) else Observation(Consumers(), min(times))
    newest = newest_subscription(seen, topic)
    clients = {client.client_id for each in seen for client in each.clients}
    grpc = any(map(is_grpc, clients))
    # of gRPC clients it is that of the proxy's last heartbeat for them
    chosen = None if newest is None else replace(filter_of(newest), of_last_request=grpc)
    first = seen[0]
    return Observation(
        Consumers(
            len(clients),
            first.consume_type,
            first.message_model == "BROADCASTING",
            first.from_where.startswith("CONSUME_FROM_LAST_OFFSET"),
            chosen,
            next((client_id for each in seen for client_id in shared_client_ids(each)), None),
            grpc=grpc,
        ),
        min(times),
    )


def _may_have(stats: Observation[Sequence[QueueStats]], begin_ms: int) -> bool:
    """Whether a topic may have a record that was stored since then; without an answer it may."""
    if stats.value is None:
        return True
    return any(queue.max_offset > 0 and (queue.last_ms <= 0 or queue.last_ms >= begin_ms) for queue in stats.value)


def _progress_request(copy: _GroupRecord) -> ConsumerOffset | QueueSlice | TimerRead | None:
    """The question of how far a copy is: of a retry queue the group's offset, of a delay the due time, of the wheel."""
    record = copy.record
    if record.topic.startswith(RETRY_PREFIX):
        return ConsumerOffset(copy.group, record.topic, record.queue_id)
    if record.topic == SCHEDULE_TOPIC:
        return QueueSlice(record.topic, record.queue_id, record.queue_offset, 1)
    return TimerRead() if record.topic == TIMER_TOPIC else None


def _with_progress(copy: _GroupRecord, answers: Mapping[tuple[str, Any], Observation[Any]]) -> GroupCopy:
    """The copy with how far its group, its delay level or the timer wheel is."""
    record, broker = copy.record, copy.broker
    answer: Observation[Any] = answers.get((broker, _progress_request(copy)), Observation())
    if record.topic != SCHEDULE_TOPIC:
        return group_copy(record, answer)
    levels = answers.get((broker, AllDelayOffsets()), Observation())
    # a level that is not listed has delivered nothing yet
    following = Observation(None if levels.value is None else levels.value.get(record.queue_id + 1, 0), levels.at_ms)
    units = answer.value.units if answer.value is not None else ()
    return group_copy(record, following, units[0].tags_code if units else None)
