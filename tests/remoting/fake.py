"""A cluster of one listener on loopback, with records of a test's choice. Keeps no log and forgets nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from functools import cache
from typing import Any

from idcore.answers.lookup import LookupService, Moment
from idcore.rocketmq.message import Host, Record
from idcore.rocketmq.message.properties import encode
from idcore.rocketmq.remoting.client import Limits
from idcore.rocketmq.remoting.cluster import Cluster
from idcore.rocketmq.remoting.frame import Frame
from idcore.rocketmq.remoting.profile import Profile, name_servers
from tests.remoting.servers import Server, answer

NOW = datetime(2026, 11, 21, 7, 0, tzinfo=UTC)
UNIQ = "0A42333A0DC818B4AAC246C290FD0000"


def record(topic: str, uniq: str | None, offset: int, body: bytes = b"body", **more: Any) -> Record:
    properties = {**more.pop("properties", {})} | ({} if uniq is None else {"UNIQ_KEY": uniq})
    host = Host(b"\x7f\0\0\1", more.pop("port", 10911))
    at = 1_795_000_000_000
    made = Record.of(
        topic, body, encode(properties), queue_id=0, born_timestamp=at, born_host=host, store_host=host, **more
    )
    return made.placed(0, offset, at + offset)


def cluster_info(brokers: dict[str, dict[int, str]]) -> bytes:
    """As fastjson writes it: the ids of the brokers are keys without quotes."""
    rows = []
    for name, addresses in brokers.items():
        pairs = ",".join(f'{number}:"{address}"' for number, address in addresses.items())
        rows.append(f'"{name}":{{"brokerAddrs":{{{pairs}}},"brokerName":"{name}","cluster":"c"}}')
    return f'{{"brokerAddrTable":{{{",".join(rows)}}},"clusterAddrTable":{{}}}}'.encode()


Method = Callable[[Any, Frame], bytes]


def answers(*codes: int) -> Callable[[Method], Method]:
    """Marks a method of a fake as the answer to these request codes (RequestCode of RocketMQ)."""

    def marked(method: Method) -> Method:
        method.codes = codes  # type: ignore[attr-defined]
        return method

    return marked


@cache
def answers_of(fake: type) -> dict[int, Method]:
    """The table of a fake: by request code the method that answers it; that of a subclass comes before."""
    methods = [method for each in reversed(fake.__mro__) for method in vars(each).values()]
    return {code: method for method in methods for code in getattr(method, "codes", ())}


class Fake:
    """A name server and a broker in one listener, with records of a test's choice."""

    def __init__(self, topics: Iterable[str], records: Iterable[Record]) -> None:
        self.topics = list(topics)
        self.records = list(records)
        self.raw: dict[int, bytes] = {}
        self.silent: set[int] = set()  # codes that get no answer
        self.clock = NOW
        self.earliest = datetime.fromtimestamp(0.001, UTC)
        self.master: str | None = None
        self.server = Server(self.handle)

    def handle(self, frame: Frame) -> Iterable[bytes]:
        """One answer to a request; none to a code that has no row in the table."""
        if frame.code in self.silent:
            yield answer(frame, 1, b"", "no time for this")
        elif (method := answers_of(type(self)).get(frame.code)) is not None:  # type: ignore[arg-type]
            yield method(self, frame)

    def route(self, **queues: Any) -> bytes:
        """The route of a topic of this one broker."""
        brokers = [{"brokerAddrs": {"0": str(self.server.address)}, "brokerName": "a", "cluster": "c"}]
        return json.dumps({"brokerDatas": brokers, "queueDatas": [{"brokerName": "a", **queues}]}).encode()

    @answers(106)
    def _cluster(self, frame: Frame) -> bytes:
        number = 0 if self.master is None else 1
        dead = {} if self.master is None else {0: self.master}
        return answer(frame, 0, cluster_info({"a": dead | {number: str(self.server.address)}}))

    @answers(206)
    def _topics(self, frame: Frame) -> bytes:
        return answer(frame, 0, json.dumps({"topicList": self.topics}).encode())

    @answers(105)
    def _route(self, frame: Frame) -> bytes:
        known = frame.field("topic") in self.topics
        return answer(frame, 0, self.route(readQueueNums=1)) if known else answer(frame, 17, b"", "No topic route info")

    @answers(12)
    def _by_key(self, frame: Frame) -> bytes:
        found = [each for each in self.records if each.topic == frame.field("topic")]
        return answer(frame, 0, b"".join(map(bytes, found))) if found else answer(frame, 22, b"", "no")

    @answers(33)
    def _by_offset(self, frame: Frame) -> bytes:
        offset = int(frame.field("offset") or "-1")
        of_records = (bytes(each) for each in reversed(self.records) if each.physical_offset == offset)
        held = self.raw[offset] if offset in self.raw else next(of_records, None)
        if held is not None:
            return answer(frame, 0, held)
        return answer(frame, 1, b"", f"can not find message by the offset, {offset}")

    @answers(28)
    def _state(self, frame: Frame) -> bytes:
        table = {
            "commitLogMinOffset": "0",
            "commitLogMaxOffset": "100000",
            "earliestMessageTimeStamp": str(round(self.earliest.timestamp() * 1_000)),
            "bootTimestamp": str(int(self.clock.timestamp() * 1_000)),
            "runtime": "[ 0 days, 0 hours, 0 minutes, 0 seconds ]",
        }
        return answer(frame, 0, json.dumps({"table": table}).encode())

    @answers(29, 30, 31)
    def _queue_offset(self, frame: Frame) -> bytes:
        return answer(frame, 0, b"", None, offset="0")

    @answers(321)
    def _entries(self, frame: Frame) -> bytes:
        return answer(frame, 0, b"")

    def service(self, **more: Any) -> LookupService:
        options = {name: more.pop(name) for name in ("audit", "limit", "trace_topics", "pace") if name in more}
        limits = more.pop("limits", Limits(2, 2))
        profile = Profile("fake", name_servers(str(self.server.address)), limits=limits, **more)
        return LookupService(Cluster(profile), lambda: Moment(NOW, UTC), **options)
