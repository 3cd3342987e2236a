"""A cluster of one listener that also has groups: offsets, connections, settings, delays. Judges nothing."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from idcore.answers.fate import Verdict
from idcore.answers.lookup import Answer
from idcore.answers.lookup.fates import Pace
from idcore.rocketmq.message import Record
from idcore.rocketmq.remoting.frame import Frame
from tests.remoting.fake import UNIQ, Fake, record
from tests.remoting.servers import answer

STORED = 1_795_000_000_000
NOW_MS = STORED + 600_000
HOME = record("Orders", UNIQ, 0, properties={"TAGS": "TagA"}).placed(10, 0, STORED)
OTHER = record("Orders", "BLOCKER", 900).placed(8, 900, STORED)
SCHEDULE = "SCHEDULE_TOPIC_XXXX"


def copy(topic: str, queue_offset: int, tries: int, offset: int, **properties: str) -> Record:
    made = record(topic, UNIQ, offset, reconsume_times=tries, properties={"RETRY_TOPIC": "Orders", **properties})
    return made.placed(queue_offset, offset, STORED + offset)


class Cluster(Fake):
    """One that also has groups: offsets by `topic@group`, connections, settings; `silent` codes get no answer."""

    def __init__(self, *records: Record) -> None:
        super().__init__(["Orders", SCHEDULE], records)
        self.offsets: dict[str, int | list[int]] = {}
        self.listed = ["works"]
        self.connected: dict[str, dict[str, Any]] = {"works": self.connection()}
        self.version = "V5_3_2"
        self.ahead_ms = 0  # of the broker's clock
        self.delays = {3: 0}
        self.due = NOW_MS + 60_000
        self.end = 50
        self.pulled = 0
        self.silent: set[int] = set()
        self.permission = 6
        self.absent: list[str] = []  # brokers of the route that the cluster does not list
        self.pauses: list[float] = []
        self.proxied: dict[str, bytes] = {}  # 345 of groups whose clients no broker lists

    @staticmethod
    def connection(expression: str = "*", topic: str = "Orders", **more: Any) -> dict[str, Any]:
        tags = [] if expression == "*" else expression.split(" || ")
        subscription = {"topic": topic, "subString": expression, "tagsSet": tags, "subVersion": STORED - 9_000}
        return {
            "connectionSet": [{"clientId": "10.0.0.3@1", "clientAddr": "10.0.0.3:5", "language": "JAVA", "version": 1}],
            "consumeType": "CONSUME_PASSIVELY",
            "messageModel": "CLUSTERING",
            "consumeFromWhere": "CONSUME_FROM_LAST_OFFSET",
            "subscriptionTable": {topic: subscription},
            **more,
        }

    def offset(self, topic: str, group: str) -> int | None:
        held = self.offsets.get(f"{topic}@{group}")
        return held if not isinstance(held, list) else held.pop(0) if len(held) > 1 else held[0]

    def handle(self, frame: Frame) -> Iterable[bytes]:
        code, group, topic = frame.code, frame.field("consumerGroup") or "", frame.field("topic") or ""
        if code in self.silent:
            yield answer(frame, 1, b"", "no time for this")
        elif code == 300:
            yield answer(frame, 0, json.dumps({"groupList": self.listed}).encode())
        elif code == 14:
            found = self.offset(topic, group)
            yield answer(frame, 22, b"", "none") if found is None else answer(frame, 0, offset=str(found))
        elif code == 203:
            held = self.connected.get(group)
            yield answer(frame, 206, b"", "not online") if held is None else answer(frame, 0, json.dumps(held).encode())
        elif code == 345:
            yield answer(frame, 0, self.proxied.get(frame.field("group") or "", b'{"group":"g","topic":"Orders"}'))
        elif code == 352:
            yield answer(frame, 0, b'{"consumeEnable":true}')
        elif code == 201:
            yield answer(frame, 0, b'{"subscriptionGroupTable":{}}')
        elif code == 43:
            table = {name: {0: offset} for name, offset in self.offsets.items()}
            yield answer(frame, 0, json.dumps({"offsetTable": table}).encode())
        elif code == 45:
            yield answer(frame, 0, json.dumps({"offsetTable": self.delays}).encode())
        elif code == 208:
            key = '{"brokerName":"a","queueId":0,"topic":"Orders"}'
            stats = f'{{"brokerOffset":50,"consumerOffset":1,"lastTimestamp":0,"pullOffset":{self.pulled}}}'
            yield answer(frame, 0, f'{{"offsetTable":{{{key}:{stats}}}}}'.encode())
        elif code == 202:
            times = [each.store_timestamp for each in self.records if each.topic == topic]
            key = f'{{"brokerName":"a","queueId":0,"topic":{json.dumps(topic)}}}'
            stats = f'{{"minOffset":0,"maxOffset":{len(times)},"lastUpdateTimestamp":{max(times, default=0)}}}'
            yield answer(frame, 0, f'{{"offsetTable":{{{key}:{stats}}}}}'.encode()) if times else answer(frame, 17)
        elif code == 30:
            yield answer(frame, 0, offset=str(self.end))
        elif code == 321:
            row = {"physicOffset": 900, "tagsCode": self.due}
            yield answer(frame, 0, json.dumps({"queueData": [row], "minQueueIndex": 0, "maxQueueIndex": 9}).encode())
        elif code == 28:
            state = {"commitLogMinOffset": "0", "commitLogMaxOffset": "9", "brokerVersionDesc": self.version}
            boot = NOW_MS + 5_000 * len(self.pauses) + self.ahead_ms
            state |= {"bootTimestamp": str(boot), "runtime": "[ 0 days, 0 hours, 0 minutes, 0 seconds ]"}
            yield answer(frame, 0, json.dumps({"table": state}).encode())
        elif code == 105 and topic in self.topics:
            brokers = dict.fromkeys(self.absent, "127.0.0.1:1") | {"a": str(self.server.address)}
            route = {
                "brokerDatas": [{"brokerAddrs": {"0": to}, "brokerName": name} for name, to in brokers.items()],
                "queueDatas": [{"brokerName": "a", "readQueueNums": 1, "writeQueueNums": 4, "perm": self.permission}],
            }
            yield answer(frame, 0, json.dumps(route).encode())
        else:
            yield from super().handle(frame)

    def answer(self) -> Answer:
        service = self.service(pace=Pace(lambda: NOW_MS + 5_000 * len(self.pauses), self.pauses.append))
        with service.cluster:
            return service.one(UNIQ, "Orders", fate=True)

    def verdicts(self) -> dict[str, Verdict]:
        found = self.answer().fate
        assert found is not None
        return {verdict.group: verdict for verdict in found}
