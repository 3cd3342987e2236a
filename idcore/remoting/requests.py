"""Typed questions and how their answers are read: the read-only codes that look-ups need, and no other. No sockets."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, ClassVar, Generic, TypeVar

from idcore.remoting import loose_json
from idcore.remoting.errors import AnswerError, FrameError, NotPermitted
from idcore.remoting.frame import Frame

T = TypeVar("T", covariant=True)  # what an answer comes to

LONG_MAX = (1 << 63) - 1
# MQVersion.V4_9_3: with it every server leaves _UNIQUE_KEY_QUERY out of what is signed (acl.py).
VERSION = 399

SUCCESS, SYSTEM_ERROR, NO_PERMISSION, TOPIC_NOT_EXIST, QUERY_NOT_FOUND = 0, 1, 16, 17, 22
# The exceptions in the remark of an answer whose code alone does not decide (4.x answers SYSTEM_ERROR).
_DENIED = re.compile(r"\b(?:Acl|Authentication|Authorization)Exception\b")
_UPTIME = re.compile(r"(\d+) days?, (\d+) hours?, (\d+) minutes?, (\d+) seconds?")
_MISSED = "can not find message by the offset"


class ReadCode(IntEnum):
    """Every code this package can send (RequestCode.java). None of them changes anything on a server."""

    QUERY_MESSAGE = 12
    GET_BROKER_RUNTIME_INFO = 28
    SEARCH_OFFSET_BY_TIMESTAMP = 29
    GET_MAX_OFFSET = 30
    GET_MIN_OFFSET = 31
    VIEW_MESSAGE_BY_ID = 33
    GET_ROUTEINFO_BY_TOPIC = 105
    GET_BROKER_CLUSTER_INFO = 106
    GET_ALL_TOPIC_LIST_FROM_NAMESERVER = 206
    QUERY_CONSUME_QUEUE = 321


class Request(ABC, Generic[T]):
    """One question: its code, its fields, and how to read the answer."""

    __slots__ = ()
    code: ClassVar[ReadCode]

    def fields(self) -> dict[str, str]:
        """The extFields."""
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
        return Request.result(self, answer, address)


@dataclass(frozen=True, slots=True)
class Query(Request[bytes]):
    """Records whose key hashes alike in the index, one behind the other; the reader compares the keys."""

    code: ClassVar[ReadCode] = ReadCode.QUERY_MESSAGE
    topic: str
    key: str
    unique: bool
    begin_ms: int = 0
    end_ms: int = LONG_MAX
    most: int = 64

    def fields(self) -> dict[str, str]:
        return {
            "topic": self.topic,
            "key": self.key,
            "maxNum": str(self.most),
            "beginTimestamp": str(self.begin_ms),
            "endTimestamp": str(self.end_ms),
            "_UNIQUE_KEY_QUERY": "true" if self.unique else "false",
        }

    def read(self, answer: Frame) -> bytes:
        return answer.body

    def miss(self, answer: Frame) -> bytes | None:
        return b"" if answer.code == QUERY_NOT_FOUND else None


@dataclass(frozen=True, slots=True)
class BrokerState:
    """What a broker says of itself: the ends of its log, its oldest message, its clock, its version."""

    min_offset: int
    max_offset: int
    earliest_ms: int | None
    clock_ms: int | None
    version: str


@dataclass(frozen=True, slots=True)
class RuntimeInfo(Request[BrokerState]):
    """The state of a broker."""

    code: ClassVar[ReadCode] = ReadCode.GET_BROKER_RUNTIME_INFO

    def read(self, answer: Frame) -> BrokerState:
        table = _object(_json(answer), "table")
        earliest = _whole(table, "earliestMessageTimeStamp", -1)
        return BrokerState(
            _whole(table, "commitLogMinOffset"),
            _whole(table, "commitLogMaxOffset"),
            earliest if earliest > 0 else None,
            _clock(table),
            str(table.get("brokerVersionDesc", "")),
        )


def _clock(table: Mapping[str, Any]) -> int | None:
    # The broker's own time is not in the answer; its start and how long it has run are, the latter in whole seconds.
    boot, up = _whole(table, "bootTimestamp", 0), _UPTIME.search(str(table.get("runtime", "")))
    if not boot or not up:
        return None
    days, hours, minutes, seconds = (int(part) for part in up.groups())
    return boot + 1_000 * (seconds + 60 * (minutes + 60 * (hours + 24 * days)))


@dataclass(frozen=True, slots=True)
class QueueEnd(Request[int]):
    """The lowest queue offset that is still there, or the next one to be given out."""

    code: ClassVar[ReadCode] = ReadCode.GET_MIN_OFFSET
    topic: str
    queue: int

    def fields(self) -> dict[str, str]:
        return {"topic": self.topic, "queueId": str(self.queue)}

    def read(self, answer: Frame) -> int:
        return _whole(answer.fields or {}, "offset")


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
        return _whole(answer.fields or {}, "offset")


@dataclass(frozen=True, slots=True)
class QueueSlice(Request["tuple[int, ...]"]):
    """The physical offsets of some neighbouring entries of a consume queue."""

    code: ClassVar[ReadCode] = ReadCode.QUERY_CONSUME_QUEUE
    topic: str
    queue: int
    index: int
    count: int

    def fields(self) -> dict[str, str]:
        return {"topic": self.topic, "queueId": str(self.queue), "index": str(self.index), "count": str(self.count)}

    def read(self, answer: Frame) -> tuple[int, ...]:
        # an index outside the queue is answered without a body
        rows = (_json(answer).get("queueData") or []) if answer.body else []
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise FrameError.wrong("frame_not_list", "queueData", name="queueData")
        return tuple(_whole(row, "physicOffset") for row in rows)


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
        table = _object(_json(answer), "brokerAddrTable")
        return tuple(_broker(name, entry) for name, entry in table.items())


@dataclass(frozen=True, slots=True)
class Route:
    """Where a topic lives: its brokers, and how many queues it has on each."""

    brokers: tuple[BrokerEntry, ...]
    queues: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class RouteInfo(Request["Route | None"]):
    """The route of a topic; None where the name server does not have the topic."""

    code: ClassVar[ReadCode] = ReadCode.GET_ROUTEINFO_BY_TOPIC
    topic: str

    def fields(self) -> dict[str, str]:
        return {"topic": self.topic}

    def read(self, answer: Frame) -> Route | None:
        values = _json(answer)
        brokers, queues = values.get("brokerDatas") or [], values.get("queueDatas") or []
        if not isinstance(brokers, list) or not isinstance(queues, list):
            raise FrameError.wrong("frame_not_list", "brokerDatas", name="brokerDatas or queueDatas")
        return Route(
            tuple(_broker(None, entry) for entry in brokers),
            {str(_row(row).get("brokerName", "")): _whole(_row(row), "readQueueNums", 0) for row in queues},
        )

    def result(self, answer: Frame, address: str) -> Route | None:
        return None if answer.code == TOPIC_NOT_EXIST else Request.result(self, answer, address)


@dataclass(frozen=True, slots=True)
class TopicList(Request["tuple[str, ...]"]):
    """The names of all topics, system topics among them."""

    code: ClassVar[ReadCode] = ReadCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER

    def read(self, answer: Frame) -> tuple[str, ...]:
        names = _json(answer).get("topicList") or []
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise FrameError.wrong("frame_not_list", "topicList", name="topicList")
        return tuple(sorted(names))


# ---- reading bodies


def _json(answer: Frame) -> dict[str, Any]:
    try:
        values = loose_json.loads(answer.body)
    except ValueError as problem:
        raise FrameError.wrong("frame_body_json", "body", why=str(problem)) from None
    return _row(values)


def _row(values: Any) -> dict[str, Any]:
    if not isinstance(values, dict):
        raise FrameError.wrong("frame_not_object", "body", name="body")
    return values


def _object(values: dict[str, Any], name: str) -> dict[str, Any]:
    found = values.get(name)
    if not isinstance(found, dict):
        raise FrameError.wrong("frame_not_object", name, name=name)
    return found


def _whole(values: Mapping[str, Any], name: str, default: int | None = None) -> int:
    value = values.get(name, default)
    text = str(value)
    if isinstance(value, bool) or not re.fullmatch(r"-?\d{1,19}", text, re.ASCII):
        raise FrameError.wrong("frame_not_number", name, name=name)
    return int(text)


def _broker(name: str | None, entry: Any) -> BrokerEntry:
    row = _row(entry)
    addresses = _object(row, "brokerAddrs")
    found = {_whole({"brokerId": number}, "brokerId"): str(address) for number, address in addresses.items()}
    return BrokerEntry(str(row.get("brokerName") or name or ""), str(row.get("cluster") or ""), found)
