"""A cluster of one listener that also has groups: offsets, connections, settings, delays. Judges nothing."""

from __future__ import annotations

import json
from typing import Any

from idcore.answers.fate import Verdict
from idcore.answers.lookup import Answer
from idcore.answers.lookup.topic_brokers import Pace
from idcore.rocketmq.message import Record
from idcore.rocketmq.remoting.frame import Frame
from tests.remoting.fake import UNIQ, Fake, answers, record
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
        self.permission = 6
        self.absent: list[str] = []  # brokers of the route that the cluster does not list
        self.pauses: list[float] = []
        self.popped: list[tuple[str, str]] = []  # topic and group of each that a setting makes take messages by POP
        self.proxied: dict[str, bytes] = {}  # 345 of groups whose clients no broker lists
        self.up_minutes = 0  # since the broker began
        self.counted: dict[str, int] = {}  # by `topic@group` and topic: what 315 says of an hour

    @staticmethod
    def connection(expression: str = "*", topic: str = "Orders", **more: Any) -> dict[str, Any]:
        tags = [] if expression == "*" else expression.split(" || ")
        subscription = {"topic": topic, "subString": expression, "tagsSet": tags, "subVersion": STORED - 60_000}
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

    @answers(300)
    def _groups(self, frame: Frame) -> bytes:
        return answer(frame, 0, json.dumps({"groupList": self.listed}).encode())

    @answers(14)
    def _offset(self, frame: Frame) -> bytes:
        found = self.offset(frame.field("topic") or "", frame.field("consumerGroup") or "")
        return answer(frame, 22, b"", "none") if found is None else answer(frame, 0, offset=str(found))

    @answers(203)
    def _connections(self, frame: Frame) -> bytes:
        held = self.connected.get(frame.field("consumerGroup") or "")
        return answer(frame, 206, b"", "not online") if held is None else answer(frame, 0, json.dumps(held).encode())

    @answers(345)
    def _proxied(self, frame: Frame) -> bytes:
        return answer(frame, 0, self.proxied.get(frame.field("group") or "", b'{"group":"g","topic":"Orders"}'))

    @answers(352)
    def _settings(self, frame: Frame) -> bytes:
        return answer(frame, 0, b'{"consumeEnable":true}')

    @answers(402)
    def _modes(self, frame: Frame) -> bytes:
        modes = {topic: {group: {"mode": "POP", "popShareQueueNum": 8}} for topic, group in self.popped}
        return answer(frame, 0, json.dumps({"messageRequestModeMap": modes}).encode())

    @answers(201)
    def _all_settings(self, frame: Frame) -> bytes:
        return answer(frame, 0, b'{"subscriptionGroupTable":{}}')

    @answers(43)
    def _all_offsets(self, frame: Frame) -> bytes:
        table = {name: {0: offset} for name, offset in self.offsets.items()}
        return answer(frame, 0, json.dumps({"offsetTable": table}).encode())

    @answers(45)
    def _delays(self, frame: Frame) -> bytes:
        return answer(frame, 0, json.dumps({"offsetTable": self.delays}).encode())

    @answers(208)
    def _progress(self, frame: Frame) -> bytes:
        key = '{"brokerName":"a","queueId":0,"topic":"Orders"}'
        stats = f'{{"brokerOffset":50,"consumerOffset":1,"lastTimestamp":0,"pullOffset":{self.pulled}}}'
        return answer(frame, 0, f'{{"offsetTable":{{{key}:{stats}}}}}'.encode())

    @answers(202)
    def _stats(self, frame: Frame) -> bytes:
        topic = frame.field("topic") or ""
        times = [each.store_timestamp for each in self.records if each.topic == topic]
        key = f'{{"brokerName":"a","queueId":0,"topic":{json.dumps(topic)}}}'
        stats = f'{{"minOffset":0,"maxOffset":{len(times)},"lastUpdateTimestamp":{max(times, default=0)}}}'
        return answer(frame, 0, f'{{"offsetTable":{{{key}:{stats}}}}}'.encode()) if times else answer(frame, 17)

    @answers(315)
    def _sums(self, frame: Frame) -> bytes:
        hour = self.counted.get(frame.field("statsKey") or "")
        sums = {"statsMinute": {"sum": 0}, "statsHour": {"sum": hour}, "statsDay": {"sum": 0}}
        return answer(frame, 1, b"", "not exist") if hour is None else answer(frame, 0, json.dumps(sums).encode())

    @answers(30)
    def _end(self, frame: Frame) -> bytes:
        return answer(frame, 0, offset=str(self.end))

    @answers(321)
    def _entries(self, frame: Frame) -> bytes:
        row = {"physicOffset": 900, "tagsCode": self.due}
        return answer(frame, 0, json.dumps({"queueData": [row], "minQueueIndex": 0, "maxQueueIndex": 9}).encode())

    @answers(28)
    def _state(self, frame: Frame) -> bytes:
        state = {"commitLogMinOffset": "0", "commitLogMaxOffset": "9", "brokerVersionDesc": self.version}
        boot = NOW_MS + 5_000 * len(self.pauses) + self.ahead_ms - 60_000 * self.up_minutes
        state |= {"bootTimestamp": str(boot), "runtime": f"[ 0 days, 0 hours, {self.up_minutes} minutes, 0 seconds ]"}
        return answer(frame, 0, json.dumps({"table": state}).encode())

    def route(self, **queues: Any) -> bytes:
        brokers = dict.fromkeys(self.absent, "127.0.0.1:1") | {"a": str(self.server.address)}
        route = {
            "brokerDatas": [{"brokerAddrs": {"0": to}, "brokerName": name} for name, to in brokers.items()],
            "queueDatas": [{"brokerName": "a", "writeQueueNums": 4, "perm": self.permission, **queues}],
        }
        return json.dumps(route).encode()

    def answer(self) -> Answer:
        service = self.service(pace=Pace(lambda: NOW_MS + 5_000 * len(self.pauses), self.pauses.append))
        with service.cluster:
            return service.one(UNIQ, "Orders", fate=True)

    def verdicts(self) -> dict[str, Verdict]:
        found = self.answer().fate
        assert found is not None
        return {verdict.group: verdict for verdict in found}
