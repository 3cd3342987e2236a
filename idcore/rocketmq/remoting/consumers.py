"""Typed questions about groups: offsets, connections, subscriptions, settings; and about producers. No sockets."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from idcore.base.safe_text import encodable
from idcore.rocketmq.remoting.errors import FrameError
from idcore.rocketmq.remoting.frame import Frame
from idcore.rocketmq.remoting.requests import (
    QUERY_NOT_FOUND,
    SUCCESS,
    SYSTEM_ERROR,
    TOPIC_NOT_EXIST,
    ClientCode,
    ReadCode,
    Request,
    as_object,
    json_object,
    list_in,
    object_in,
    text_in,
    texts_in,
    whole_number,
)

NOT_SUPPORTED, GROUP_NOT_EXIST, NOT_ONLINE = 3, 26, 206
_LONGEST_STATE = 2 << 20  # bytes: a queue takes some 400, and who connects says what it likes, for each verdict anew
_CHECK_POINT = 56  # seven longs, the first of which is the time that was read up to


@dataclass(frozen=True, slots=True)
class ConsumerOffset(Request["int | None"]):
    """The next offset that a group consumes of a queue; None where it has never committed one.

    4.9 answers 0 instead of None while the queue still has its first message: both mean that nothing was passed.
    """

    code: ClassVar[ReadCode] = ReadCode.QUERY_CONSUMER_OFFSET
    absent: ClassVar[tuple[int, ...]] = (QUERY_NOT_FOUND,)
    group: str
    topic: str
    queue: int

    def fields(self) -> dict[str, str]:
        named = {"consumerGroup": self.group, "topic": self.topic, "queueId": str(self.queue)}
        return named | {"setZeroIfNotFound": "false"}

    def read(self, answer: Frame) -> int | None:
        return whole_number(answer.fields or {}, "offset")


@dataclass(frozen=True, slots=True)
class GroupOffsets:
    """What one group has passed of one topic, by queue."""

    topic: str
    group: str
    offsets: Mapping[int, int]


@dataclass(frozen=True, slots=True)
class AllConsumerOffsets(Request["tuple[GroupOffsets, ...]"]):
    """The offsets of every group of a broker."""

    code: ClassVar[ReadCode] = ReadCode.GET_ALL_CONSUMER_OFFSET

    def read(self, answer: Frame) -> tuple[GroupOffsets, ...]:
        values = json_object(answer)
        held = {key: _numbers(as_object(each)) for key, each in object_in(values, "offsetTable").items()}
        if values.get("lmqOffsetTable"):  # of groups that are light topics themselves: these have one queue
            light = object_in(values, "lmqOffsetTable")
            held |= {key: {0: whole_number(light, key)} for key in light}
        pairs = ((*key.partition("@")[::2], offsets) for key, offsets in held.items())  # `T@G@broadcast` has two
        return tuple(GroupOffsets(encodable(topic), encodable(group), offsets) for topic, group, offsets in pairs)


@dataclass(frozen=True, slots=True)
class AllDelayOffsets(Request["Mapping[int, int]"]):
    """The next offset of SCHEDULE_TOPIC_XXXX that will be delivered, by delay level."""

    code: ClassVar[ReadCode] = ReadCode.GET_ALL_DELAY_OFFSET

    def read(self, answer: Frame) -> Mapping[int, int]:
        return _numbers(object_in(json_object(answer), "offsetTable"))


@dataclass(frozen=True, slots=True)
class PoppedTopics(Request["frozenset[tuple[str, str]]"]):
    """Topic and group of each that takes messages by POP although its clients connect as push clients (5.0 on).

    A broker that does not say so is no failure: the groups are then judged as push consumers.
    """

    code: ClassVar[ReadCode] = ReadCode.GET_ALL_MESSAGE_REQUEST_MODE

    def read(self, answer: Frame) -> frozenset[tuple[str, str]]:
        modes = object_in(json_object(answer), "messageRequestModeMap") if answer.body else {}
        return frozenset(
            (topic, group)
            for topic, groups in modes.items()
            for group, held in as_object(groups).items()
            if as_object(held).get("mode") == "POP"
        )

    def result(self, answer: Frame, address: str) -> frozenset[tuple[str, str]]:
        return Request.result(self, answer, address) if answer.code == SUCCESS else frozenset()


@dataclass(frozen=True, slots=True)
class TimerRead(Request["int | None"]):
    """Up to which instant (ms) the timer wheel has read; None where the broker has none, or is too old for one."""

    code: ClassVar[ReadCode] = ReadCode.GET_TIMER_CHECK_POINT
    absent: ClassVar[tuple[int, ...]] = (SYSTEM_ERROR, NOT_SUPPORTED)

    def read(self, answer: Frame) -> int | None:
        if len(answer.body) < _CHECK_POINT:
            raise FrameError.short("timerCheckpoint", 0, _CHECK_POINT, len(answer.body))
        return int.from_bytes(answer.body[:8], "big", signed=True)


@dataclass(frozen=True, slots=True)
class GroupConfig:
    """The settings of a group at one broker. Without `can_retry` the broker drops what a push client sends back.

    `orderly`: POP clients of it are handed messages in order, and a broker notes these elsewhere.
    """

    name: str
    can_consume: bool
    can_broadcast: bool
    can_retry: bool = True
    orderly: bool = False


@dataclass(frozen=True, slots=True)
class GroupConfigOf(Request["GroupConfig | None"]):
    """The settings of one group, from 5.0 on; None where the broker has no such group."""

    code: ClassVar[ReadCode] = ReadCode.GET_SUBSCRIPTIONGROUP_CONFIG
    absent: ClassVar[tuple[int, ...]] = (GROUP_NOT_EXIST,)
    group: str

    def fields(self) -> dict[str, str]:
        return {"group": self.group}

    def read(self, answer: Frame) -> GroupConfig | None:
        return _config(self.group, json_object(answer))


@dataclass(frozen=True, slots=True)
class AllGroupConfigs(Request["Mapping[str, GroupConfig]"]):
    """The settings of every group of a broker."""

    code: ClassVar[ReadCode] = ReadCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG

    def read(self, answer: Frame) -> Mapping[str, GroupConfig]:
        table = object_in(json_object(answer), "subscriptionGroupTable")
        return {encodable(name): _config(name, as_object(row)) for name, row in table.items()}


@dataclass(frozen=True, slots=True)
class QueueStats:
    """Both ends of one queue, and when its last message was stored."""

    broker: str
    topic: str
    queue: int
    min_offset: int
    max_offset: int
    last_ms: int


@dataclass(frozen=True, slots=True)
class TopicStats(Request["tuple[QueueStats, ...]"]):
    """The queues of a topic at one broker; with `or_none` a topic that it does not have has no queues."""

    code: ClassVar[ReadCode] = ReadCode.GET_TOPIC_STATS_INFO
    topic: str
    or_none: bool = False

    def fields(self) -> dict[str, str]:
        return {"topic": self.topic}

    def read(self, answer: Frame) -> tuple[QueueStats, ...]:
        rows = []
        for queue, row in _pairs(json_object(answer), "offsetTable"):
            ends = whole_number(row, "minOffset"), whole_number(row, "maxOffset")
            rows.append(QueueStats(*_queue(queue), *ends, whole_number(row, "lastUpdateTimestamp", 0)))
        return tuple(rows)

    def miss(self, answer: Frame) -> tuple[QueueStats, ...] | None:
        return () if self.or_none and answer.code == TOPIC_NOT_EXIST else None


@dataclass(frozen=True, slots=True)
class ConnectedClient:
    """A client as the broker has it; `address` is where its connection comes from, `version` a number of MQVersion."""

    client_id: str
    address: str
    language: str
    version: int
    heartbeat_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Subscription:
    """What a group wants of one topic; `version` is the client's clock (ms) when it subscribed."""

    topic: str
    kind: str
    expression: str
    tags: frozenset[str]
    version: int
    by_class: bool = False


@dataclass(frozen=True, slots=True)
class Connection:
    """Who of a group is connected to one broker, and how the group consumes."""

    clients: tuple[ConnectedClient, ...]
    consume_type: str
    message_model: str
    from_where: str
    subscriptions: Mapping[str, Subscription] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ConsumerConnections(Request["Connection | None"]):
    """The connections of a group; None where nobody of it is connected to this broker."""

    code: ClassVar[ReadCode] = ReadCode.GET_CONSUMER_CONNECTION_LIST
    absent: ClassVar[tuple[int, ...]] = (NOT_ONLINE,)
    group: str

    def fields(self) -> dict[str, str]:
        return {"consumerGroup": self.group}

    def read(self, answer: Frame) -> Connection | None:
        # Whatever is missing here would read as a reason: no client, no subscription, another kind of consumer.
        values = json_object(answer)
        if not isinstance(values.get("connectionSet"), list):
            raise FrameError.wrong("frame_not_list", "connectionSet", name="connectionSet")
        return Connection(
            tuple(_client(as_object(row)) for row in list_in(values, "connectionSet")),
            _constant(values, "consumeType"),
            _constant(values, "messageModel"),
            text_in(values, "consumeFromWhere"),
            {
                encodable(topic): _subscription(topic, as_object(row))
                for topic, row in object_in(values, "subscriptionTable").items()
            },
        )


@dataclass(frozen=True, slots=True)
class SubscriptionOf(Request["Subscription | None"]):
    """What a group wants of a topic, from 5.0.0 on; None where the broker does not know.

    A broker notes it of clients that it has no connection of, too: those behind a proxy (ConsumerManager, the
    compensation table). It keeps that for ten minutes behind the last request of the group, also of clients that it
    listed and that have gone. Its version is then the time of that request.
    """

    code: ClassVar[ReadCode] = ReadCode.QUERY_SUBSCRIPTION_BY_CONSUMER
    group: str
    topic: str

    def fields(self) -> dict[str, str]:
        return {"group": self.group, "topic": self.topic}

    def read(self, answer: Frame) -> Subscription | None:
        row = json_object(answer).get("subscriptionData")
        return None if row is None else _subscription(self.topic, as_object(row))


@dataclass(frozen=True, slots=True)
class ProducerConnections(Request["tuple[ConnectedClient, ...]"]):
    """The connected producers of a group; none where the broker does not have the group."""

    code: ClassVar[ReadCode] = ReadCode.GET_PRODUCER_CONNECTION_LIST
    group: str

    def fields(self) -> dict[str, str]:
        return {"producerGroup": self.group}

    def read(self, answer: Frame) -> tuple[ConnectedClient, ...]:
        return tuple(_client(as_object(row)) for row in list_in(json_object(answer), "connectionSet"))

    def miss(self, answer: Frame) -> tuple[ConnectedClient, ...] | None:
        absent = answer.code == SYSTEM_ERROR and "not exist" in (answer.remark or "")
        return () if absent else None


@dataclass(frozen=True, slots=True)
class QueueProgress:
    """How far a group is in one queue; `last_ms` is when the last message was stored that it passed.

    `pull_offset` is how far it was handed messages: 0 before 5.1.0, and lost when the broker restarts.
    """

    broker: str
    topic: str
    queue: int
    consumer_offset: int
    pull_offset: int
    last_ms: int


@dataclass(frozen=True, slots=True)
class ConsumeStats(Request["tuple[QueueProgress, ...]"]):
    """How far a group is at one broker: in one topic, or with "" in every topic it has offsets for."""

    code: ClassVar[ReadCode] = ReadCode.GET_CONSUME_STATS
    group: str
    topic: str = ""

    def fields(self) -> dict[str, str]:
        return {"consumerGroup": self.group} | ({"topic": self.topic} if self.topic else {})

    def read(self, answer: Frame) -> tuple[QueueProgress, ...]:
        rows = []
        for queue, row in _pairs(json_object(answer), "offsetTable"):
            more = whole_number(row, "pullOffset", 0), whole_number(row, "lastTimestamp", 0)
            rows.append(QueueProgress(*_queue(queue), whole_number(row, "consumerOffset"), *more))
        return tuple(rows)


@dataclass(frozen=True, slots=True)
class TopicGroups(Request["tuple[str, ...]"]):
    """The groups that consume a topic at one broker, as far as it lists them."""

    code: ClassVar[ReadCode] = ReadCode.QUERY_TOPIC_CONSUME_BY_WHO
    topic: str

    def fields(self) -> dict[str, str]:
        return {"topic": self.topic}

    def read(self, answer: Frame) -> tuple[str, ...]:
        return tuple(sorted(texts_in(json_object(answer), "groupList")))


@dataclass(frozen=True, slots=True)
class AllProducers(Request["Mapping[str, tuple[ConnectedClient, ...]] | None"]):
    """Every connected producer by its group; None where the broker is too old to be asked (before 4.9.4)."""

    code: ClassVar[ReadCode] = ReadCode.GET_ALL_PRODUCER_INFO
    absent: ClassVar[tuple[int, ...]] = (NOT_SUPPORTED,)

    def read(self, answer: Frame) -> Mapping[str, tuple[ConnectedClient, ...]] | None:
        groups = object_in(json_object(answer), "data")
        return {encodable(group): tuple(_client(as_object(row)) for row in list_in(groups, group)) for group in groups}


@dataclass(frozen=True, slots=True)
class ClientQueue:
    """One queue as its client has it: the messages in its memory are from `cached_min` to `cached_max`.

    `committed` is None where the client has no offset of the queue yet. In order, a client takes messages out of that
    part of its memory before it gives them to its listener: those are from `taken_min` to `taken_max`.
    """

    broker: str
    topic: str
    queue: int
    committed: int | None
    cached: int
    cached_min: int
    cached_max: int
    dropped: bool
    consumed_ms: int
    taken: int = 0
    taken_min: int = 0
    taken_max: int = 0

    def has(self, offset: int) -> bool:
        """Whether a message of the queue is in the client's memory, and not finished."""
        waits = bool(self.cached) and self.cached_min <= offset <= self.cached_max
        runs = bool(self.taken) and self.taken_min <= offset <= self.taken_max
        return not self.dropped and (waits or runs)

    @property
    def oldest(self) -> int:
        """The message in memory that the client works on first."""
        return self.taken_min if self.taken else self.cached_min

    @property
    def reached(self) -> int | None:
        """The next offset of what it finished: never past what it has in memory. None where it says neither.

        Asked, a client without an offset of its own reads that of the broker, and says it (RemoteBrokerOffsetStore).
        """
        known = [] if self.committed is None else [self.committed]
        return min([*known, self.oldest] if self.cached or self.taken else known, default=None)


@dataclass(frozen=True, slots=True)
class ClientState:
    """What one consumer says of itself: when it began, what it wants, and the queues it was given.

    `lite_pull`: it is a DefaultLitePullConsumer. One that assigned itself queues has one filter for its life
    (setSubExpressionForAssign refuses once it runs), and says none here. `threads` process messages of all queues; 0
    where it has none of its own.
    """

    began_ms: int
    version: str
    orderly: bool
    queues: tuple[ClientQueue, ...] = ()
    subscriptions: Mapping[str, Subscription] = field(default_factory=dict)
    lite_pull: bool = False
    threads: int = 0

    @property
    def has_room(self) -> bool:
        """Whether it has a thread for every message in its memory: in order, for every queue with any."""
        held = [queue.cached + queue.taken for queue in self.queues]
        return (sum(map(bool, held)) if self.orderly else sum(held)) <= self.threads


@dataclass(frozen=True, slots=True)
class RunningInfo(Request["ClientState | None"]):
    """The state of one connected consumer; None where the broker does not have it. It asks the client."""

    code: ClassVar[ClientCode] = ClientCode.GET_CONSUMER_RUNNING_INFO
    group: str
    client_id: str

    def fields(self) -> dict[str, str]:
        # with jstackEnable the client would dump its threads
        return {"consumerGroup": self.group, "clientId": self.client_id, "jstackEnable": "false"}

    def read(self, answer: Frame) -> ClientState | None:
        if len(answer.body) > _LONGEST_STATE:
            raise FrameError.wrong("frame_long", "body", length=len(answer.body), most=_LONGEST_STATE)
        values = json_object(answer)
        own = object_in(values, "properties")
        wanted = [as_object(row) for row in list_in(values, "subscriptionSet")]
        return ClientState(
            whole_number(own, "PROP_CONSUMER_START_TIMESTAMP", 0),
            text_in(own, "PROP_CLIENT_VERSION"),
            text_in(own, "PROP_CONSUMEORDERLY") == "true",
            tuple(_client_queue(queue, row) for queue, row in _pairs(values, "mqTable")),
            {text_in(row, "topic"): _subscription(text_in(row, "topic"), row) for row in wanted},
            "pullThreadNums" in own,
            whole_number(own, "consumeThreadMin", 0),
        )

    def result(self, answer: Frame, address: str) -> ClientState | None:
        gone = answer.code in (SYSTEM_ERROR, NOT_ONLINE) and "not online" in (answer.remark or "")
        return None if gone else Request.result(self, answer, address)


# ---- reading bodies


def _numbers(values: Mapping[str, Any]) -> dict[int, int]:
    return {whole_number({"key": key}, "key"): whole_number({"value": value}, "value") for key, value in values.items()}


def _pairs(values: Mapping[str, Any], name: str) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """A map whose keys are objects, as loose_json reads it; an empty map is one."""
    table = values.get(name)
    if table == {}:
        return []
    if not isinstance(table, list) or not all(isinstance(pair, list) and len(pair) == 2 for pair in table):
        raise FrameError.wrong("frame_not_object", name, name=name)
    return [(as_object(key), as_object(value)) for key, value in table]


def _queue(values: Mapping[str, Any]) -> tuple[str, str, int]:
    return text_in(values, "brokerName"), text_in(values, "topic"), whole_number(values, "queueId")


def _client(row: Mapping[str, Any]) -> ConnectedClient:
    address = text_in(row, "clientAddr") or text_in(row, "remoteIP").removeprefix("/")
    beat = whole_number(row, "lastUpdateTimestamp", 0) or None
    return ConnectedClient(
        text_in(row, "clientId"), address, text_in(row, "language"), whole_number(row, "version", 0), beat
    )


def _constant(values: Mapping[str, Any], name: str) -> str:
    """The name of a constant of Java; it cannot be missing."""
    text = text_in(values, name)
    if not re.fullmatch("[A-Z][A-Z_]*", text):
        raise FrameError.wrong("frame_not_constant", name, name=name, value=text[:40])
    return text


def _client_queue(queue: Mapping[str, Any], row: Mapping[str, Any]) -> ClientQueue:
    committed = whole_number(row, "commitOffset", -1)
    return ClientQueue(
        *_queue(queue),
        None if committed < 0 else committed,
        whole_number(row, "cachedMsgCount", 0),
        whole_number(row, "cachedMsgMinOffset", 0),
        whole_number(row, "cachedMsgMaxOffset", 0),
        row.get("droped") is True,
        whole_number(row, "lastConsumeTimestamp", 0),
        whole_number(row, "transactionMsgCount", 0),
        whole_number(row, "transactionMsgMinOffset", 0),
        whole_number(row, "transactionMsgMaxOffset", 0),
    )


def _subscription(topic: str, row: Mapping[str, Any]) -> Subscription:
    if not isinstance(row.get("subString"), str):
        kind = type(row.get("subString")).__name__
        raise FrameError.wrong("frame_not_text", "subString", name="subString", kind=kind)
    expression = text_in(row, "subString")
    tags = frozenset(texts_in(row, "tagsSet"))
    version = whole_number(row, "subVersion", 0)
    kind = text_in(row, "expressionType") or "TAG"
    return Subscription(encodable(topic), kind, expression, tags, version, row.get("classFilterMode") is True)


def _config(name: str, row: Mapping[str, Any]) -> GroupConfig:
    def allowed(setting: str) -> bool:
        return row.get(setting) is not False

    queues = row.get("retryQueueNums")
    can_retry = type(queues) is not int or queues > 0
    orderly = row.get("consumeMessageOrderly") is True
    return GroupConfig(encodable(name), allowed("consumeEnable"), allowed("consumeBroadcastEnable"), can_retry, orderly)
