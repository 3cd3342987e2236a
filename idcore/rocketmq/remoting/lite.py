"""Typed questions about lite topics (5.5.0 on): who reads them, and how far. No sockets.

A broker that is older, or whose topic or group has no lite topics, says so by a code of its own: that is None here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from idcore.rocketmq.remoting.consumers import GROUP_NOT_EXIST, NOT_SUPPORTED
from idcore.rocketmq.remoting.frame import Frame
from idcore.rocketmq.remoting.requests import (
    TOPIC_NOT_EXIST,
    ReadCode,
    Request,
    as_object,
    json_object,
    list_in,
    text_in,
    texts_in,
    whole_number,
)

# The last one is INVALID_PARAMETER: the topic or the group is not a lite one.
_ABSENT = (NOT_SUPPORTED, TOPIC_NOT_EXIST, GROUP_NOT_EXIST, 29)
_MOST_NAMED = 20


@dataclass(frozen=True, slots=True)
class ParentGroups(Request["tuple[str, ...] | None"]):
    """The groups that are bound to a parent topic."""

    code: ClassVar[ReadCode] = ReadCode.GET_PARENT_TOPIC_INFO
    absent: ClassVar[tuple[int, ...]] = _ABSENT
    topic: str

    def fields(self) -> dict[str, str]:
        return {"topic": self.topic}

    def read(self, answer: Frame) -> tuple[str, ...]:
        return tuple(texts_in(json_object(answer), "groups"))


@dataclass(frozen=True, slots=True)
class LiteSubscribers(Request["tuple[tuple[str, str], ...] | None"]):
    """Group and clientId of each client that subscribes a lite topic, as far as this broker takes care of it."""

    code: ClassVar[ReadCode] = ReadCode.GET_LITE_TOPIC_INFO
    absent: ClassVar[tuple[int, ...]] = _ABSENT
    parent: str
    lite: str

    def fields(self) -> dict[str, str]:
        return {"topic": self.parent, "parentTopic": self.parent, "liteTopic": self.lite}

    def read(self, answer: Frame) -> tuple[tuple[str, str], ...]:
        rows = map(as_object, list_in(json_object(answer), "subscriber"))
        return tuple((text_in(row, "group"), text_in(row, "clientId")) for row in rows)


@dataclass(frozen=True, slots=True)
class LiteLag:
    """How far a group is behind in all its lite topics of a broker, and in which of them most."""

    parent: str
    total: int
    most: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class LiteGroupLag(Request["LiteLag | None"]):
    """How far a lite group is behind."""

    code: ClassVar[ReadCode] = ReadCode.GET_LITE_GROUP_INFO
    absent: ClassVar[tuple[int, ...]] = _ABSENT
    group: str

    def fields(self) -> dict[str, str]:
        return {"group": self.group, "topK": str(_MOST_NAMED)}

    def read(self, answer: Frame) -> LiteLag:
        values = json_object(answer)
        rows = map(as_object, list_in(values, "lagCountTopK"))
        most = tuple((text_in(row, "liteTopic"), whole_number(row, "lagCount")) for row in rows)
        return LiteLag(text_in(values, "parentTopic"), whole_number(values, "totalLagCount"), most)


@dataclass(frozen=True, slots=True)
class LightQueueCount(Request["tuple[int, int] | None"]):
    """How many queues of light topics a broker has, and how many it makes at most."""

    code: ClassVar[ReadCode] = ReadCode.GET_BROKER_LITE_INFO
    absent: ClassVar[tuple[int, ...]] = _ABSENT

    def read(self, answer: Frame) -> tuple[int, int]:
        values = json_object(answer)
        return whole_number(values, "currentLmqNum"), whole_number(values, "maxLmqNum")


@dataclass(frozen=True, slots=True)
class LiteClient:
    """When a client of a lite group last asked for messages, and how many lite topics it subscribes."""

    asked_ms: int
    topics: int


@dataclass(frozen=True, slots=True)
class LiteClientOf(Request["LiteClient | None"]):
    """What a broker knows of a client that subscribes lite topics."""

    code: ClassVar[ReadCode] = ReadCode.GET_LITE_CLIENT_INFO
    absent: ClassVar[tuple[int, ...]] = _ABSENT
    parent: str
    group: str
    client: str

    def fields(self) -> dict[str, str]:
        named = {"topic": self.parent, "parentTopic": self.parent, "group": self.group, "clientId": self.client}
        return named | {"maxCount": "1"}

    def read(self, answer: Frame) -> LiteClient:
        values = json_object(answer)
        return LiteClient(whole_number(values, "lastAccessTime"), whole_number(values, "liteTopicCount"))
