"""Typed questions and how their answers are read: the read-only codes that look-ups need, and no other. No sockets."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, ClassVar, Generic, TypeVar, cast

from idcore.base import loose_json
from idcore.base.safe_text import encodable
from idcore.ids.clock import is_time
from idcore.rocketmq.remoting.errors import AnswerError, FrameError, NotPermitted, TopicMismatch
from idcore.rocketmq.remoting.frame import Frame

T = TypeVar("T", covariant=True)  # what an answer comes to

LONG_MAX = (1 << 63) - 1
# MQVersion.V4_9_3: with it every server leaves _UNIQUE_KEY_QUERY out of what is signed (acl.py).
VERSION = 399

SUCCESS, SYSTEM_ERROR, NO_PERMISSION, TOPIC_NOT_EXIST, QUERY_NOT_FOUND = 0, 1, 16, 17, 22
# The exceptions in the remark of an answer whose code alone does not decide (4.x answers SYSTEM_ERROR).
_DENIED = re.compile(r"\b(?:Acl|Authentication|Authorization)Exception\b")
_UPTIME = re.compile(r"\b(\d{1,9}) days?, (\d{1,9}) hours?, (\d{1,9}) minutes?, (\d{1,9}) seconds?", re.ASCII)
_MISSED = "can not find message by the offset"
_MISMATCH = "topic does not match the message"


class ReadCode(IntEnum):
    """Every code this package can send (RequestCode.java). None of them changes anything on a server.

    Some codes sound as harmless and are not: 308 removes offsets, 11 makes groups, 309, 222 and 323 act.
    """

    QUERY_MESSAGE = 12
    QUERY_CONSUMER_OFFSET = 14
    GET_BROKER_RUNTIME_INFO = 28
    SEARCH_OFFSET_BY_TIMESTAMP = 29
    GET_MAX_OFFSET = 30
    GET_MIN_OFFSET = 31
    VIEW_MESSAGE_BY_ID = 33
    GET_ALL_CONSUMER_OFFSET = 43
    GET_ALL_DELAY_OFFSET = 45
    GET_TIMER_CHECK_POINT = 60
    GET_ROUTEINFO_BY_TOPIC = 105
    GET_BROKER_CLUSTER_INFO = 106
    GET_ALL_SUBSCRIPTIONGROUP_CONFIG = 201
    GET_TOPIC_STATS_INFO = 202
    GET_CONSUMER_CONNECTION_LIST = 203
    GET_PRODUCER_CONNECTION_LIST = 204
    GET_ALL_TOPIC_LIST_FROM_NAMESERVER = 206
    GET_CONSUME_STATS = 208
    QUERY_TOPIC_CONSUME_BY_WHO = 300
    VIEW_BROKER_STATS_DATA = 315
    QUERY_CONSUME_QUEUE = 321
    GET_ALL_PRODUCER_INFO = 328
    QUERY_SUBSCRIPTION_BY_CONSUMER = 345
    GET_SUBSCRIPTIONGROUP_CONFIG = 352
    GET_ALL_MESSAGE_REQUEST_MODE = 402
    GET_BROKER_LITE_INFO = 200074
    GET_PARENT_TOPIC_INFO = 200075
    GET_LITE_TOPIC_INFO = 200076
    GET_LITE_CLIENT_INFO = 200077
    GET_LITE_GROUP_INFO = 200078


class ClientCode(IntEnum):
    """Codes that only read, but that a broker passes on to a client's machine. Sent only where a profile permits it."""

    GET_CONSUMER_RUNNING_INFO = 307


def sendable(code: int, reach_clients: bool) -> ReadCode | ClientCode:
    """The code, where it may be sent; ValueError for any other."""
    return ClientCode(code) if reach_clients and code in set(ClientCode) else ReadCode(code)


class Request(ABC, Generic[T]):
    """One question: its code, its fields, and how to read the answer."""

    __slots__ = ()
    code: ClassVar[ReadCode | ClientCode]
    absent: ClassVar[tuple[int, ...]] = ()  # codes of answers that mean None, of a question whose answer may be None

    def fields(self) -> dict[str, str]:
        """The extFields of the request."""
        return {}

    @abstractmethod
    def read(self, answer: Frame) -> T:
        """The answer of a frame whose code is SUCCESS."""

    def miss(self, answer: Frame) -> T | None:
        """What an answer with another code means, when it means something else than an error."""
        return None

    def result(self, answer: Frame, address: str) -> T:
        """The answer's meaning, or its error."""
        if answer.code == SUCCESS:
            return self.read(answer)
        if answer.code in self.absent:
            return cast(T, None)
        missed = self.miss(answer)
        if missed is not None:
            return missed
        denied = answer.code == NO_PERMISSION or _DENIED.search(answer.remark or "")
        raise (NotPermitted if denied else AnswerError).of(address, answer.code, answer.remark)


@dataclass(frozen=True, slots=True)
class View(Request["bytes | None"]):
    """The bytes at a physical offset; None where the broker finds no message there. They may be rubbish."""

    code: ClassVar[ReadCode] = ReadCode.VIEW_MESSAGE_BY_ID
    offset: int
    topic: str = ""

    def fields(self) -> dict[str, str]:
        # Brokers with ACL 2.0 look for the topic's permission, so it travels where it is known.
        return {"offset": str(self.offset)} | ({"topic": self.topic} if self.topic else {})

    def read(self, answer: Frame) -> bytes | None:
        return answer.body

    def result(self, answer: Frame, address: str) -> bytes | None:
        if answer.code == SYSTEM_ERROR and (answer.remark or "").startswith(_MISSED):
            return None
        # From 5.5.1 on the topic has to be the record's logical one (QueryMessageProcessor.matchesRequestTopic).
        if answer.code == NO_PERMISSION and _MISMATCH in (answer.remark or ""):
            raise TopicMismatch.of(address, answer.code, answer.remark)
        return Request.result(self, answer, address)


@dataclass(frozen=True, slots=True)
class Query(Request[bytes]):
    """Records whose key hashes alike in the index, one behind the other; the reader compares the keys.

    `index_type` and `last_key` are of 5.4.0: T is the index of tags, and a page of it begins behind the last key.
    """

    code: ClassVar[ReadCode] = ReadCode.QUERY_MESSAGE
    topic: str
    key: str
    unique: bool
    begin_ms: int = 0
    end_ms: int = LONG_MAX
    most: int = 64
    index_type: str = ""
    last_key: str = ""

    def fields(self) -> dict[str, str]:
        return {
            "topic": self.topic,
            "key": self.key,
            "maxNum": str(self.most),
            "beginTimestamp": str(self.begin_ms),
            "endTimestamp": str(self.end_ms),
            "_UNIQUE_KEY_QUERY": "true" if self.unique else "false",
            **({"indexType": self.index_type} if self.index_type else {}),
            **({"lastKey": self.last_key} if self.last_key else {}),
        }

    def read(self, answer: Frame) -> bytes:
        return answer.body

    def miss(self, answer: Frame) -> bytes | None:
        return b"" if answer.code == QUERY_NOT_FOUND else None


@dataclass(frozen=True, slots=True)
class BrokerState:
    """What a broker says of itself: the ends of its log, its oldest message, its clock, its version.

    `dispatch_behind` is how many bytes of the log have no entry in the queues and the index yet; `boot_ms` is when it
    started, by its own clock.
    """

    min_offset: int
    max_offset: int
    earliest_ms: int | None
    clock_ms: int | None
    version: str
    dispatch_behind: int | None = None
    boot_ms: int | None = None


@dataclass(frozen=True, slots=True)
class RuntimeInfo(Request[BrokerState]):
    code: ClassVar[ReadCode] = ReadCode.GET_BROKER_RUNTIME_INFO

    def read(self, answer: Frame) -> BrokerState:
        table = object_in(json_object(answer), "table")
        earliest, boot = whole_number(table, "earliestMessageTimeStamp", -1), whole_number(table, "bootTimestamp", 0)
        return BrokerState(
            whole_number(table, "commitLogMinOffset"),
            whole_number(table, "commitLogMaxOffset"),
            earliest if earliest > 0 and is_time(earliest) else None,
            _clock(table),
            text_in(table, "brokerVersionDesc"),
            whole_number(table, "dispatchBehindBytes") if "dispatchBehindBytes" in table else None,
            boot if boot > 0 and is_time(boot) else None,
        )


def _clock(table: Mapping[str, Any]) -> int | None:
    # The broker's own time is not in the answer; its start and how long it has run are, the latter in whole seconds.
    boot, up = whole_number(table, "bootTimestamp", 0), _UPTIME.search(str(table.get("runtime", "")))
    if not boot or not up:
        return None
    days, hours, minutes, seconds = (int(part) for part in up.groups())
    clock = boot + 1_000 * (seconds + 60 * (minutes + 60 * (hours + 24 * days)))
    return clock if is_time(clock) else None


@dataclass(frozen=True, slots=True)
class QueueEnd(Request[int]):
    """The lowest queue offset that is still there, or the next one to be given out."""

    code: ClassVar[ReadCode] = ReadCode.GET_MIN_OFFSET
    topic: str
    queue: int

    def fields(self) -> dict[str, str]:
        return {"topic": self.topic, "queueId": str(self.queue)}

    def read(self, answer: Frame) -> int:
        return whole_number(answer.fields or {}, "offset")


@dataclass(frozen=True, slots=True)
class QueueMax(QueueEnd):
    """The next queue offset to be given out."""

    code: ClassVar[ReadCode] = ReadCode.GET_MAX_OFFSET


@dataclass(frozen=True, slots=True)
class QueueAt(Request[int]):
    """The queue offset of the first message stored at an instant or later."""

    code: ClassVar[ReadCode] = ReadCode.SEARCH_OFFSET_BY_TIMESTAMP
    topic: str
    queue: int
    at_ms: int

    def fields(self) -> dict[str, str]:
        return {"topic": self.topic, "queueId": str(self.queue), "timestamp": str(self.at_ms)}

    def read(self, answer: Frame) -> int:
        return whole_number(answer.fields or {}, "offset")


@dataclass(frozen=True, slots=True)
class QueueUnit:
    """One entry of a consume queue; `tags_code` is the hash of the tag, in SCHEDULE_TOPIC_XXXX the due time in ms."""

    physical_offset: int
    tags_code: int


@dataclass(frozen=True, slots=True)
class QueuePart:
    """Neighbouring entries of a consume queue, and its ends, where the broker said them."""

    units: tuple[QueueUnit, ...] = ()
    min_offset: int | None = None
    max_offset: int | None = None


@dataclass(frozen=True, slots=True)
class QueueSlice(Request[QueuePart]):
    """Some neighbouring entries of a consume queue."""

    code: ClassVar[ReadCode] = ReadCode.QUERY_CONSUME_QUEUE
    topic: str
    queue: int
    index: int
    count: int

    def fields(self) -> dict[str, str]:
        return {"topic": self.topic, "queueId": str(self.queue), "index": str(self.index), "count": str(self.count)}

    def read(self, answer: Frame) -> QueuePart:
        if not answer.body:  # an index outside the queue
            return QueuePart()
        values = json_object(answer)
        rows = [as_object(row) for row in list_in(values, "queueData")[: self.count]]  # whatever a broker sends
        units = (QueueUnit(whole_number(row, "physicOffset"), whole_number(row, "tagsCode", 0)) for row in rows)
        return QueuePart(
            tuple(units), whole_number(values, "minQueueIndex", 0), whole_number(values, "maxQueueIndex", 0)
        )


@dataclass(frozen=True, slots=True)
class BrokerEntry:
    """One broker name: its cluster and the registered `host:port` of each id, 0 being the master."""

    name: str
    cluster: str
    addresses: Mapping[int, str]


@dataclass(frozen=True, slots=True)
class ClusterInfo(Request["tuple[BrokerEntry, ...]"]):
    """Every broker of a name server."""

    code: ClassVar[ReadCode] = ReadCode.GET_BROKER_CLUSTER_INFO

    def read(self, answer: Frame) -> tuple[BrokerEntry, ...]:
        table = object_in(json_object(answer), "brokerAddrTable")
        return _once_each(_broker(name, entry) for name, entry in table.items())


@dataclass(frozen=True, slots=True)
class QueueAccess:
    """How many queues of a topic one broker reads and writes, and its permission bits: 4 to read, 2 to write."""

    read_queues: int
    write_queues: int
    permission: int

    def can_be_read(self, queue: int) -> bool:
        """Whether consumers are given this queue at all."""
        return bool(self.permission & 4) and queue < self.read_queues


@dataclass(frozen=True, slots=True)
class Route:
    """Where a topic lives: its brokers, how many queues can be read on each, and what else its queues are.

    The queues of a static topic are logical ones: their offsets are not those of the records.
    """

    brokers: tuple[BrokerEntry, ...]
    queues: Mapping[str, int]
    access: Mapping[str, QueueAccess] = field(default_factory=dict)
    static: bool = False


@dataclass(frozen=True, slots=True)
class RouteInfo(Request["Route | None"]):
    """The route of a topic; None where the name server does not have the topic."""

    code: ClassVar[ReadCode] = ReadCode.GET_ROUTEINFO_BY_TOPIC
    absent: ClassVar[tuple[int, ...]] = (TOPIC_NOT_EXIST,)
    topic: str

    def fields(self) -> dict[str, str]:
        return {"topic": self.topic}

    def read(self, answer: Frame) -> Route | None:
        values = json_object(answer)
        access = {}
        for row in map(as_object, list_in(values, "queueDatas")):
            read = whole_number(row, "readQueueNums", 0)
            write, permission = whole_number(row, "writeQueueNums", read), whole_number(row, "perm", 6)
            access[text_in(row, "brokerName")] = QueueAccess(read, write, permission)
        return Route(
            _once_each(_broker(None, entry) for entry in list_in(values, "brokerDatas")),
            {name: each.read_queues for name, each in access.items()},
            access,
            bool(values.get("topicQueueMappingByBroker")),
        )


@dataclass(frozen=True, slots=True)
class TopicList(Request["tuple[str, ...]"]):
    """The names of all topics, system topics among them."""

    code: ClassVar[ReadCode] = ReadCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER

    def read(self, answer: Frame) -> tuple[str, ...]:
        return tuple(sorted(texts_in(json_object(answer), "topicList")))


# ---- reading bodies


def json_object(answer: Frame) -> dict[str, Any]:
    """The body of an answer as an object of JSON."""
    try:
        values = loose_json.loads(answer.body)
    except ValueError as problem:
        raise FrameError.wrong("frame_body_json", "body", why=str(problem)) from None
    return as_object(values)


def as_object(values: Any) -> dict[str, Any]:
    """A value that has to be an object."""
    if not isinstance(values, dict):
        raise FrameError.wrong("frame_not_object", "body", name="body")
    return values


def object_in(values: Mapping[str, Any], name: str) -> dict[str, Any]:
    """An object of an object."""
    value = values.get(name)
    if not isinstance(value, dict):
        raise FrameError.wrong("frame_not_object", name, name=name)
    return value


def whole_number(values: Mapping[str, Any], name: str, default: int | None = None) -> int:
    """A whole number of an object, also as text."""
    value = values.get(name, default)
    text = str(value)
    if isinstance(value, bool) or not re.fullmatch(r"-?\d{1,19}", text, re.ASCII):
        raise FrameError.wrong("frame_not_number", name, name=name)
    return int(text)


def list_in(values: Mapping[str, Any], name: str) -> list[Any]:
    """A list of an object; empty where it is missing or null."""
    value = values.get(name)
    if value is not None and not isinstance(value, list):
        raise FrameError.wrong("frame_not_list", name, name=name)
    return value or []


def texts_in(values: Mapping[str, Any], name: str) -> list[str]:
    """A list of texts of an object."""
    texts = list_in(values, name)
    if not all(isinstance(text, str) for text in texts):
        raise FrameError.wrong("frame_not_list", name, name=name)
    return [encodable(text) for text in texts]


def text_in(values: Mapping[str, Any], name: str) -> str:
    """A text of an object; empty where it is missing. What is half a character there could not be sent on."""
    value = values.get(name)
    return "" if value is None else encodable(str(value))


def _once_each(brokers: Iterable[BrokerEntry]) -> tuple[BrokerEntry, ...]:
    """One that is listed twice is asked once: whatever has its name counts as its replica."""
    return tuple({each.name: each for each in brokers}.values())


def _broker(name: str | None, entry: Any) -> BrokerEntry:
    row = as_object(entry)
    addresses = object_in(row, "brokerAddrs")
    numbered = {whole_number({"brokerId": number}, "brokerId"): text_in(addresses, number) for number in addresses}
    return BrokerEntry(text_in(row, "brokerName") or encodable(name or ""), text_in(row, "cluster"), numbered)
