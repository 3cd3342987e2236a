"""The brokers of one topic, questions to them, and which groups consume the topic. Judges nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import repeat
from typing import Any

from idcore.answers.fate import Observation
from idcore.answers.fate.model import POP, PULL, Consumers, Filter
from idcore.answers.lookup.answer_cache import AnswerCache, Reply
from idcore.answers.lookup.notes import Notes
from idcore.rocketmq.message.model import LIGHT_PREFIX, RETRY_PREFIX, lite_of, parent_of
from idcore.rocketmq.remoting.consumers import (
    AllConsumerOffsets,
    Connection,
    ConsumerConnections,
    Subscription,
    SubscriptionOf,
    TopicGroups,
)
from idcore.rocketmq.remoting.errors import RemotingError
from idcore.rocketmq.remoting.lite import LiteSubscribers, ParentGroups
from idcore.rocketmq.remoting.requests import (
    BrokerState,
    Request,
    Route,
    RuntimeInfo,
)

MOST_GROUPS = 200
LONGEST_GROUP = 1_000  # characters: a broker takes names of 255, and each message of a list has a row for each group
_BROKERS_AT_ONCE = 8
# A client that waits behind a proxy polls every 20 s. A group that has not polled for this long has gone.
PROXY_GONE_MS = 60_000
# How long an answer serves others who ask the same.
CACHED_MS = 2_000
# This version lists the topic's own name as a group, and not the groups that are connected but never committed.
_WRONG_GROUP_LIST_VERSION = "V5_3_3"


@dataclass(frozen=True, slots=True)
class Pace:
    """The time of answers, and how to wait; a test has its own."""

    now_ms: Callable[[], int]
    pause: Callable[[float], None]


class TopicBrokers:
    """The brokers of one topic, questions to them, and the groups that consume it; `more` are registered addresses."""

    def __init__(self, topic: str, notes: Notes, pace: Pace, cache: AnswerCache, more: Iterable[str] = ()) -> None:
        self.topic = topic
        self.known_groups: set[str] = set()
        self.notes = notes
        self.pace, self.cache = pace, cache  # answers of look-ups before this one
        self.begun_ms = self.pace.now_ms()
        self.since_ms = self.begun_ms - CACHED_MS
        self.cluster = notes.cluster
        self.members = self.cluster.topology().brokers()
        self.parent = parent_of(topic)
        routed = self.parent or topic  # no name server has a route of a light topic
        self.route: Route | None = self.cluster.routes([routed])[routed]
        self.of_address = {member.registered: member.broker for each in self.members.values() for member in each}
        anywhere = list(self.members) if topic.startswith(LIGHT_PREFIX) and not more else []
        listed = [entry.name for entry in self.route.brokers] if self.route else anywhere
        named = [self.of_address[address] for address in more if address in self.of_address]
        self.brokers = [name for name in dict.fromkeys([*listed, *named]) if name in self.members]
        for name in listed:
            if name not in self.members:
                self.notes.add("groups_incomplete", broker=name)
        self.slaves: set[str] = set()
        self.versions: dict[str, str] = {}
        self.ahead_ms: dict[str, int] = {}  # how far a broker's clock is ahead of ours
        self.boot_ms: dict[str, int] = {}  # by the broker's clock
        self.silent: set[str] = set(listed) - set(self.members)

    # ---- asking

    def _ask(
        self, broker: str, requests: Sequence[Request[Any]], since_ms: int | None = None
    ) -> list[Observation[Any]]:
        """Questions to a broker: its master, else a slave; each answer with its time.

        With `since_ms` an answer counts that came since then to whoever asked.
        """
        members = self.members.get(broker, ())
        if not members or not requests:
            return [Observation() for _ in requests]

        def send(asked: Sequence[Request[Any]]) -> list[Reply]:
            member, answers = self.cluster.ask_any(members, asked)
            now = self.pace.now_ms()
            return [Reply(member, answer, now) for answer in answers]

        try:
            if since_ms is None:
                replies = send(requests)
            else:
                replies = self.cache.ask(broker, requests, since_ms, send, self.pace.now_ms)
        except RemotingError as problem:
            for each in members:
                self.notes.ask(each)
            self.notes.fail(problem)
            self.silent.add(broker)
            return [Observation() for _ in requests]
        return [self._heard(broker, each) for each in replies]

    def _heard(self, broker: str, reply: Reply) -> Observation[Any]:
        self.notes.ask(reply.member)
        if reply.member.number:
            self.slaves.add(broker)
            self.notes.add("replica", broker=str(reply.member), instead=str(self.members[broker][0]))
        if isinstance(reply.answer, RemotingError):
            self.notes.fail(reply.answer)
            return Observation()
        return Observation(reply.answer, reply.at_ms)

    def _next_offsets(
        self, broker: str, requests: Sequence[Request[int | None]], offset: int
    ) -> list[Observation[Any]]:
        """Next offsets of queues: what was past an offset a moment ago still is, what was not is asked again."""
        heard = self._ask(broker, requests, self.since_ms)
        short = [at for at, each in enumerate(heard) if each.value is None or each.value <= offset]
        again = self._ask(broker, [requests[at] for at in short], self.begun_ms)
        for at, each in zip(short, again, strict=True):
            heard[at] = each
        return heard

    def _ask_all(
        self, jobs: Mapping[str, Sequence[Request[Any]]], since_ms: int | None = None
    ) -> dict[str, list[Observation[Any]]]:
        """The same of several brokers at once."""
        if len(jobs) < 2:
            return {broker: self._ask(broker, requests, since_ms) for broker, requests in jobs.items()}
        with ThreadPoolExecutor(min(_BROKERS_AT_ONCE, len(jobs)), "fate") as pool:
            return dict(zip(jobs, pool.map(self._ask, jobs, jobs.values(), repeat(since_ms)), strict=True))

    def _note_version_and_clock(self, broker: str, state: Observation[BrokerState]) -> None:
        self.versions[broker] = state.value.version if state.value else ""
        if state.value and state.value.clock_ms is not None and state.at_ms is not None:
            self.ahead_ms[broker] = state.value.clock_ms - state.at_ms
            self.boot_ms[broker] = state.value.boot_ms or state.value.clock_ms

    def _proxied(self, unseen: Mapping[str, Sequence[str]]) -> dict[str, Observation[Consumers]]:
        """Subscriptions of groups of which these brokers list no client: of clients behind a proxy.

        A broker keeps a subscription for ten minutes, so some of these clients have gone.
        """
        jobs: dict[str, list[Request[Any]]] = {}
        asked: dict[str, list[str]] = {}
        for group, brokers in unseen.items():
            for broker in brokers:
                if self.versions.get(broker, "").startswith("V5"):
                    jobs.setdefault(broker, []).append(SubscriptionOf(group, self.topic))
                    asked.setdefault(broker, []).append(group)
        consumers: dict[str, Observation[Consumers]] = {}
        for broker, heard in self._ask_all(jobs, self.since_ms).items():
            for group, each in zip(asked[broker], heard, strict=True):
                if (
                    each.value is None
                    or each.at_ms is None
                    or (group in consumers and is_active_behind_proxy(consumers[group]))
                ):
                    continue
                polled_ms = each.value.version  # of a proxy this is the time of its client's last poll
                lately = each.at_ms + self.ahead_ms.get(broker, 0) - polled_ms < PROXY_GONE_MS
                wanted = replace(filter_of(each.value), of_last_request=True)
                consumers[group] = Observation(
                    Consumers(filter=wanted, proxied=lately, proxied_before=True), each.at_ms
                )
        return consumers

    def _note_requests(self, connections: dict[str, Observation[Consumers]]) -> None:
        """What pull consumers asked for that assigned themselves queues: no heartbeat says it, their requests do."""
        groups = [
            group
            for group, each in connections.items()
            if each.value and each.value.consume_type == PULL and each.value.filter is None and each.value.clients
        ]
        newer = [name for name in self.brokers if self.versions.get(name, "").startswith("V5")]
        jobs = {name: [SubscriptionOf(group, self.topic) for group in groups] for name in newer if groups}
        for heard in self._ask_all(jobs, self.since_ms).values():
            for group, each in zip(groups, heard, strict=True):
                held = connections[group].value
                if each.value is not None and held is not None:
                    wanted = replace(filter_of(each.value), of_last_request=True)
                    if held.filter is None or held.filter.since_ms < wanted.since_ms:
                        connections[group] = replace(connections[group], value=replace(held, filter=wanted))

    @cached_property
    def lite_clients(self) -> Observation[frozenset[tuple[str, str]]]:
        """Group and clientId of those that subscribe a lite topic, if every broker says so."""
        if self.parent is None:
            return Observation()
        asked = LiteSubscribers(self.parent, lite_of(self.topic))
        heard = [one for (one,) in self._ask_all({name: [asked] for name in self.brokers}).values()]
        if not heard or not all(each.answered and each.value is not None for each in heard):
            return Observation()
        rows = frozenset(row for each in heard for row in each.value or ())
        return Observation(rows, min(each.at_ms or 0 for each in heard))

    def _subscribers(self, groups: Sequence[str]) -> dict[str, Observation[Consumers]]:
        """Who subscribes a lite topic: such clients are behind a proxy, and brokers list them by lite topic only."""
        heard = self.lite_clients
        if heard.value is None:
            return {}
        clients, at_ms = Counter(group for group, _ in heard.value), heard.at_ms
        return {
            group: Observation(Consumers(clients[group], POP, filter=Filter("TAG", "*", frozenset(), 0)), at_ms)
            for group in groups
            if group in clients
        }

    # ---- which groups

    def _groups(self, most: int = MOST_GROUPS) -> list[str]:
        answers = self._ask_all(
            {name: [RuntimeInfo(), TopicGroups(self.topic)] for name in self.brokers}, self.since_ms
        )
        every_group = set(self.known_groups)
        for name, (state, groups) in answers.items():
            self._note_version_and_clock(name, state)
            if not groups.answered:
                self.notes.add("groups_incomplete", broker=name)
            every_group |= set(groups.value or ())
        wrong = [name for name in self.brokers if self.versions[name].startswith(_WRONG_GROUP_LIST_VERSION)]
        if wrong:
            every_group.discard(self.topic)
            every_group |= self._unlisted(wrong, every_group)
        if self.parent is not None:
            for (bound,) in self._ask_all({name: [ParentGroups(self.parent)] for name in self.brokers}).values():
                every_group |= set(bound.value or ())
        every_group.discard("")
        named = sorted(group for group in every_group if len(group) <= LONGEST_GROUP)[:most]
        if len(every_group) > len(named):
            self.notes.add("groups_left_out", count=len(every_group) - len(named), limit=most)
        return named

    def _unlisted(self, brokers: Sequence[str], listed: set[str]) -> set[str]:
        """Groups that such a broker does not list: those with an offset, and those connected for this topic."""
        groups: set[str] = set()
        for (offsets,) in self._ask_all({name: [AllConsumerOffsets()] for name in brokers}, self.since_ms).values():
            groups |= {each.group for each in offsets.value or () if each.topic == self.topic and "@" not in each.group}
        retries = (topic for topic in self.cluster.topics() if topic.startswith(RETRY_PREFIX))
        named = {topic.removeprefix(RETRY_PREFIX) for topic in retries} - groups - listed
        asked = sorted(named)[:MOST_GROUPS]
        answers = self._ask_all(
            {name: [ConsumerConnections(group) for group in asked] for name in brokers}, self.since_ms
        )
        for heard in answers.values():
            for group, each in zip(asked, heard, strict=True):
                if each.value is not None and self.topic in each.value.subscriptions:
                    groups.add(group)
        return groups


def has_no_client(connection: Observation[Connection]) -> bool:
    """Whether a broker said that no client of a group is connected to it; its silence does not."""
    return connection.answered and connection.value is None


def is_active_behind_proxy(consumers: Observation[Consumers]) -> bool:
    """Whether clients behind a proxy have asked lately."""
    return consumers.value is not None and consumers.value.proxied


def filter_of(wanted: Subscription) -> Filter:
    return Filter(wanted.kind, wanted.expression, wanted.tags, wanted.version, wanted.by_class)
