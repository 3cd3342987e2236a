"""A cluster of one listener on loopback, with records of a test's choice. Keeps no log and forgets nothing."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime
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


class Fake:
    """A name server and a broker in one listener, with records of a test's choice."""

    def __init__(self, topics: Iterable[str], records: Iterable[Record]) -> None:
        self.topics = list(topics)
        self.records = list(records)
        self.raw: dict[int, bytes] = {}
        self.clock = NOW
        self.earliest = datetime.fromtimestamp(0.001, UTC)
        self.master: str | None = None
        self.server = Server(self.handle)

    def handle(self, frame: Frame) -> Iterable[bytes]:
        code = frame.code
        if code == 106:
            number = 0 if self.master is None else 1
            dead = {} if self.master is None else {0: self.master}
            yield answer(frame, 0, cluster_info({"a": dead | {number: str(self.server.address)}}))
        elif code == 206:
            yield answer(frame, 0, json.dumps({"topicList": self.topics}).encode())
        elif code == 105 and frame.field("topic") in self.topics:
            address = str(self.server.address)
            route = {
                "brokerDatas": [{"brokerAddrs": {"0": address}, "brokerName": "a", "cluster": "c"}],
                "queueDatas": [{"brokerName": "a", "readQueueNums": 1}],
            }
            yield answer(frame, 0, json.dumps(route).encode())
        elif code == 105:
            yield answer(frame, 17, b"", "No topic route info")
        elif code == 12:
            found = [each for each in self.records if each.topic == frame.field("topic")]
            yield answer(frame, 0, b"".join(map(bytes, found))) if found else answer(frame, 22, b"", "no")
        elif code == 33:
            offset = int(frame.field("offset") or "-1")
            held = {each.physical_offset: bytes(each) for each in self.records} | self.raw
            none = answer(frame, 1, b"", f"can not find message by the offset, {offset}")
            yield answer(frame, 0, held[offset]) if offset in held else none
        elif code == 28:
            clock = int(self.clock.timestamp() * 1_000)
            earliest = round(self.earliest.timestamp() * 1_000)
            table = {
                "commitLogMinOffset": "0",
                "commitLogMaxOffset": "100000",
                "earliestMessageTimeStamp": str(earliest),
                "bootTimestamp": str(clock),
                "runtime": "[ 0 days, 0 hours, 0 minutes, 0 seconds ]",
            }
            yield answer(frame, 0, json.dumps({"table": table}).encode())
        elif code in (29, 30, 31):
            yield answer(frame, 0, b"", None, offset="0")
        elif code == 321:
            yield answer(frame, 0, b"")

    def service(self, **more: Any) -> LookupService:
        options = {name: more.pop(name) for name in ("audit", "limit", "trace_topics", "pace") if name in more}
        profile = Profile("fake", name_servers(str(self.server.address)), limits=Limits(2, 2), **more)
        return LookupService(Cluster(profile), lambda: Moment(NOW, UTC), **options)
