"""Typed questions about what a broker counted: messages stored in a topic, and handed to a group. No sockets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from idcore.rocketmq.remoting.frame import Frame
from idcore.rocketmq.remoting.requests import (
    SUCCESS,
    SYSTEM_ERROR,
    ReadCode,
    Request,
    json_object,
    object_in,
    whole_number,
)


@dataclass(frozen=True, slots=True)
class Sums:
    """How many messages a broker counted up to its last sample: in a minute, an hour and a day.

    Samples come every 10 seconds, 10 minutes and hour (StatsItemSet). `any`: it counted one since it started.
    """

    minute: int = 0
    hour: int = 0
    day: int = 0
    any: bool = False


class _SumsOf(Request["Sums | None"]):
    """The sums of one counter; None where the broker does not say, which is no failure of a look-up."""

    __slots__ = ()
    code: ClassVar[ReadCode] = ReadCode.VIEW_BROKER_STATS_DATA

    def read(self, answer: Frame) -> Sums:
        values = json_object(answer)
        minute, hour, day = (object_in(values, name) for name in ("statsMinute", "statsHour", "statsDay"))
        return Sums(whole_number(minute, "sum"), whole_number(hour, "sum"), whole_number(day, "sum"), True)

    def result(self, answer: Frame, address: str) -> Sums | None:
        if answer.code == SUCCESS:
            return self.read(answer)
        absent = answer.code == SYSTEM_ERROR and "not exist" in (answer.remark or "")
        return Sums() if absent else None


@dataclass(frozen=True, slots=True)
class HandedTo(_SumsOf):
    """The messages of a topic that this broker handed to a group, by POP too; what its filter dropped is not counted.

    Not those of POP with `popConsumerKVServiceEnable`.
    """

    group: str
    topic: str

    def fields(self) -> dict[str, str]:
        return {"statsName": "GROUP_GET_NUMS", "statsKey": f"{self.topic}@{self.group}"}


@dataclass(frozen=True, slots=True)
class StoredIn(_SumsOf):
    """The messages that this broker stored in a topic, not those that it copied from its master."""

    topic: str

    def fields(self) -> dict[str, str]:
        return {"statsName": "TOPIC_PUT_NUMS", "statsKey": self.topic}
