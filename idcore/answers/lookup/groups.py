"""The questions about the groups of a topic: progress, clients, retries, a list. Judges nothing (progress.py)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from idcore.answers.fate import Observation
from idcore.answers.fate.sentences import utc
from idcore.answers.lookup.answer_cache import AnswerCache
from idcore.answers.lookup.by_time import version_of
from idcore.answers.lookup.client_states import states
from idcore.answers.lookup.clients import united
from idcore.answers.lookup.copies import topics_of_group
from idcore.answers.lookup.model import Evidence
from idcore.answers.lookup.notes import Notes
from idcore.answers.lookup.progress import BROADCAST, GroupClient, GroupRow, Progress, QueueState, SideTopic, owned
from idcore.answers.lookup.topic_brokers import Pace, TopicBrokers, has_no_client, is_active_behind_proxy
from idcore.rocketmq.remoting.consumers import (
    AllConsumerOffsets,
    AllGroupConfigs,
    Connection,
    ConsumerConnections,
    ConsumerOffset,
    ConsumeStats,
    GroupConfigOf,
    QueueProgress,
    QueueStats,
    TopicStats,
)
from idcore.rocketmq.remoting.lite import LightQueueCount, LiteClientOf, LiteGroupLag
from idcore.rocketmq.remoting.requests import Request, RuntimeInfo

MOST_LISTED, MOST_CLIENTS = 300, 64
_HAS_LITE, _LITE_NAMED = (5, 5, 0), 5
_MOST_QUEUES = 1_024  # of a broker: route and answer may have any number, and each group of a list has them all
CLIENTS_SECONDS = 15.0


@dataclass(frozen=True, slots=True)
class GroupAnswer:
    """A group's progress, or the groups of a topic; what says how complete it is, and who was asked."""

    progress: Progress | None
    rows: tuple[GroupRow, ...]
    at_ms: int
    routed: bool
    evidence: tuple[Evidence, ...]
    asked: tuple[str, ...]


def progress_of(topic: str, group: str, notes: Notes, pace: Pace, ask_clients: bool = False) -> GroupAnswer:
    """How far a group is in a topic. With `ask_clients` its clients are asked too, where the profile permits it."""
    asking = _Group(topic, group, notes, pace)
    progress = asking.run()
    if ask_clients:
        progress = asking.with_clients(progress)
    return GroupAnswer(progress, (), progress.at_ms, asking.routed, tuple(notes.evidence), tuple(notes.asked))


def groups_of(topic: str, notes: Notes, pace: Pace) -> GroupAnswer:
    """Every group of a topic, with how far it is and how many clients it has."""
    asking = _Groups(topic, notes, pace, AnswerCache())
    rows = asking.run()
    return GroupAnswer(None, rows, pace.now_ms(), asking.routed, tuple(notes.evidence), tuple(notes.asked))


class _Asking(TopicBrokers):
    @property
    def routed(self) -> bool:
        """Whether the name server has the topic."""
        return self.route is not None

    def _queues(self, broker: str, stats: Observation[tuple[QueueStats, ...]]) -> Iterator[QueueState]:
        """The queues of a broker as it lists them; those of the route where it does not answer."""
        access = self.route.access.get(broker) if self.route else None
        rows = sorted((row for row in stats.value or () if row.topic == self.topic), key=lambda row: row.queue)
        count = len(rows) if stats.answered else access.read_queues if access else 0
        if count > _MOST_QUEUES:
            self.notes.add("list_queues_left_out", broker=broker, count=count - _MOST_QUEUES, limit=_MOST_QUEUES)
        if not stats.answered:
            for queue in range(min(count, _MOST_QUEUES)):
                yield QueueState(broker, queue, known=False)
        for each in rows[:_MOST_QUEUES]:
            readable = access is None or access.can_be_read(each.queue)
            ends = each.min_offset, each.max_offset
            yield QueueState(broker, each.queue, *ends, stored_ms=each.last_ms or None, readable=readable)


class _Group(_Asking):
    """One group of the topic."""

    def __init__(self, topic: str, group: str, notes: Notes, pace: Pace) -> None:
        super().__init__(topic, notes, pace, AnswerCache())
        self.group = group
        self.sides = topics_of_group(group, [self.topic])

    def run(self) -> Progress:
        first: list[Request[Any]] = [RuntimeInfo(), TopicStats(self.topic), ConsumeStats(self.group, self.topic)]
        first += [ConsumerConnections(self.group), *(TopicStats(side, or_none=True) for side in self.sides)]
        heard = self._ask_all(dict.fromkeys(self.brokers, first))
        for name, answers in heard.items():
            self._note_version_and_clock(name, answers[0])
        connections = {name: answers[3].value for name, answers in heard.items() if answers[3].answered}
        connection = next((each for each in connections.values() if each is not None), None)
        broadcasts = connection is not None and connection.message_model == BROADCAST
        queues = [
            queue if broadcasts else _passed(queue, passed)
            for name, answers in heard.items()
            for passed in [{(each.broker, each.queue): each for each in reversed(answers[2].value or ())}]
            for queue in self._queues(name, answers[1])
        ]
        self._note_lite()
        sides = {
            name: [row for stats in answers[4:] for row in stats.value or () if row.topic in self.sides][:_MOST_QUEUES]
            for name, answers in heard.items()
        }
        queues, side_topics, disabled = self._second(queues, sides, broadcasts)
        rows = ((name, self.group, row) for name, each in connections.items() if each for row in each.clients)
        members = tuple(GroupClient(client) for client in united(rows))
        silent = {name for name, answers in heard.items() if not all(each.answered for each in answers[1:4])}
        return Progress(
            self.group,
            self.topic,
            self.pace.now_ms(),
            tuple(queues),
            members,
            connections,
            side_topics,
            disabled,
            tuple(sorted(silent | self.silent)),
            ahead_ms=self.ahead_ms,
            static=self.route is not None and self.route.static,
            proxied=connection is None and self._is_behind_a_proxy(list(connections)),
        )

    def _is_behind_a_proxy(self, brokers: Sequence[str]) -> bool:
        subscribes = self.group in self._subscribers([self.group])
        return subscribes or any(map(is_active_behind_proxy, self._proxied({self.group: brokers}).values()))

    def _note_lite(self) -> None:
        """How far a group of lite topics is: it never reads the queues of their parent. Of one topic, who reads it."""
        newer = [name for name in self.brokers if version_of(self.versions[name]) >= _HAS_LITE]
        if self.parent is not None:
            self._note_lite_clients(self.parent, newer)
            return
        heard = self._ask_all({name: [LiteGroupLag(self.group)] for name in newer})
        lags = [one.value for (one,) in heard.values() if one.value is not None and one.value.parent == self.topic]
        if lags:
            most = sorted((row for lag in lags for row in lag.most), key=lambda row: -row[1])[:_LITE_NAMED]
            named = ", ".join(f"{topic} {count:,}" for topic, count in most) or "–"
            self.notes.add("lite_lag", topic=self.topic, lag=sum(lag.total for lag in lags), most=named)

    def _note_lite_clients(self, parent: str, newer: Sequence[str]) -> None:
        clients = sorted(client for group, client in self.lite_clients.value or () if group == self.group)
        asked = [LightQueueCount(), *(LiteClientOf(parent, self.group, each) for each in clients[:_LITE_NAMED])]
        for broker, (queues, *known) in self._ask_all(dict.fromkeys(newer, asked)).items():
            if queues.value is not None and queues.value[0] >= queues.value[1]:
                self.notes.add("lite_full", broker=broker, most=queues.value[1])
            for client, held in zip(clients, known, strict=False):
                if held.value is not None and held.value.topics:
                    self.notes.add("lite_client", client=client, asked=utc(held.value.asked_ms), n=held.value.topics)

    def _second(
        self, queues: Sequence[QueueState], sides: Mapping[str, Sequence[QueueStats]], broadcasts: bool
    ) -> tuple[list[QueueState], tuple[SideTopic, ...], tuple[str, ...]]:
        """Offsets that 208 leaves open (it says 0 for a queue that was never read), of retries too, and settings."""
        new = [name for name in self.brokers if self.versions.get(name, "").startswith("V5")]
        group = f"{self.group}@broadcast" if broadcasts else self.group
        open_queues = {name: [each for each in queues if each.broker == name and not each.offset] for name in sides}
        retries = {name: [each for each in rows if self.sides[each.topic] == "retry"] for name, rows in sides.items()}
        jobs: dict[str, list[Request[Any]]] = {}
        for name in sides:
            jobs[name] = [GroupConfigOf(self.group) if name in new else AllGroupConfigs()]
            if not broadcasts or name in new:  # before, a broadcasting group has no offset at all
                jobs[name] += [ConsumerOffset(group, self.topic, each.queue) for each in open_queues[name]]
            else:
                open_queues[name] = []
            jobs[name] += [ConsumerOffset(self.group, each.topic, each.queue) for each in retries[name]]
        states = {(each.broker, each.queue): each for each in queues}
        waiting: dict[str, int | None] = {}
        disabled = []
        for name, (config, *offsets) in self._ask_all(jobs).items():
            settings = config.value.get(self.group) if isinstance(config.value, dict) else config.value
            if settings is not None and not (settings.can_broadcast if broadcasts else settings.can_consume):
                disabled.append(name)
            of_topic, of_retries = offsets[: len(open_queues[name])], offsets[len(open_queues[name]) :]
            for queue, offset in zip(open_queues[name], of_topic, strict=True):
                known = queue.known and offset.answered
                states[name, queue.queue] = (
                    replace(queue, known=known, pulled=offset.value)
                    if broadcasts
                    else replace(queue, known=known, offset=offset.value)
                )
            for stats, offset in zip(retries[name], of_retries, strict=True):
                left = stats.max_offset - max(offset.value or 0, stats.min_offset) if offset.answered else None
                held = waiting.get(stats.topic, 0)
                waiting[stats.topic] = None if left is None or held is None else held + max(0, left)
        return list(states.values()), tuple(self._side_topics(sides, waiting)), tuple(disabled)

    def _side_topics(
        self, sides: Mapping[str, Sequence[QueueStats]], waiting: Mapping[str, int | None]
    ) -> Iterator[SideTopic]:
        for topic, kind in self.sides.items():
            rows = [each for name in sides for each in sides[name] if each.topic == topic]
            if rows:
                held = sum(max(0, each.max_offset - each.min_offset) for each in rows)
                last = max(each.last_ms for each in rows) or None
                written = sum(each.max_offset for each in rows)
                yield SideTopic(topic, kind, held, waiting.get(topic), last, written)

    def with_clients(self, progress: Progress) -> Progress:
        """The same with what each client says of itself: a broker asks the client's machine for it."""
        if len(progress.members) > MOST_CLIENTS:
            self.notes.add("clients_left_out", count=len(progress.members) - MOST_CLIENTS, limit=MOST_CLIENTS)
        asked = progress.members[:MOST_CLIENTS]
        answers = states([(self.group, each.client) for each in asked], self.members, self.notes, CLIENTS_SECONDS)
        known = (replace(each, state=state, failed=state is None) for each, state in zip(asked, answers, strict=True))
        members = (*known, *progress.members[MOST_CLIENTS:])
        owners = owned(members, self.topic)
        complete = len(asked) == len(members) and not any(member.failed for member in members)
        queues = []
        for queue in progress.queues:
            named = owners.get((queue.broker, queue.queue), () if complete else None)
            queues.append(replace(queue, owners=named))
        return replace(progress, members=members, queues=tuple(queues), clients_asked=True)


def _passed(queue: QueueState, stats: Mapping[tuple[str, int], QueueProgress]) -> QueueState:
    """A queue with the group's place in it, as far as 208 lists it."""
    if (each := stats.get((queue.broker, queue.queue))) is None:
        return queue
    # lost when the broker restarts, and not there before 5.1.0
    pulled = each.pull_offset if each.pull_offset and each.pull_offset >= each.consumer_offset else None
    return replace(queue, offset=each.consumer_offset, pulled=pulled, passed_ms=each.last_ms or None)


class _Groups(_Asking):
    """All groups of the topic."""

    def run(self) -> tuple[GroupRow, ...]:
        heard = self._ask_all({name: [TopicStats(self.topic), AllConsumerOffsets()] for name in self.brokers})
        queues = {name: list(self._queues(name, stats)) for name, (stats, _) in heard.items()}
        offsets: dict[str, dict[str, Mapping[int, int]] | None] = {}
        for name, (_, every) in heard.items():
            held = [each for each in every.value or () if each.topic == self.topic and "@" not in each.group]
            offsets[name] = {each.group: each.offsets for each in held} if every.answered else None
            self.known_groups |= {each.group for each in held}
        groups = self._groups(MOST_LISTED)
        asked: list[Request[Any]] = [ConsumerConnections(group) for group in groups]
        connections = self._ask_all(dict.fromkeys(self.brokers, asked))
        by_group = {
            group: {name: answers[place] for name, answers in connections.items()} for place, group in enumerate(groups)
        }
        proxied = self._proxied(
            {
                group: [name for name, each in heard.items() if has_no_client(each)]
                for group, heard in by_group.items()
                if not any(each.value for each in heard.values())
            }
        )
        rows = (self._row(group, queues, offsets, heard) for group, heard in by_group.items())
        there = {group for group, each in proxied.items() if is_active_behind_proxy(each)}
        lite = {group: each.value.clients for group, each in self._subscribers(groups).items() if each.value}
        rows = (replace(row, clients=lite[row.group]) if row.group in lite else row for row in rows)
        return tuple(replace(row, clients=None) if row.group in there else row for row in rows)

    def _row(
        self,
        group: str,
        queues: Mapping[str, Sequence[QueueState]],
        offsets: Mapping[str, Mapping[str, Mapping[int, int]] | None],
        connections: Mapping[str, Observation[Connection]],
    ) -> GroupRow:
        lag: int | None = 0
        unread = 0
        for name, of_broker in queues.items():
            table = offsets[name]
            if table is None or any(not queue.known for queue in of_broker):
                lag = None
                continue
            for queue in of_broker:
                placed = replace(queue, offset=table.get(group, {}).get(queue.queue))
                lag = None if lag is None else lag + (placed.lag or 0)
                unread += placed.readable and placed.offset is None and bool(placed.end)
        seen = [heard.value for heard in connections.values() if heard.value is not None]
        silent = bool(self.silent) or any(not heard.answered for heard in connections.values())
        clients = {row.client_id for each in seen for row in each.clients}
        one = seen[0] if seen else None
        return GroupRow(
            group,
            None if self.silent else lag,
            unread,
            None if not seen and silent else len(clients),
            one.consume_type if one else "",
            one.message_model if one else "",
        )
