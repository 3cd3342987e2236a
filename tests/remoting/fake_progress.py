"""A cluster of one listener whose topic has several queues, groups and clients, as brokers of 5.3 and 4.9 answer."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC
from typing import Any

from idcore.answers.lookup import LookupService, Moment
from idcore.answers.lookup.topic_brokers import Pace
from idcore.rocketmq.remoting.client import Limits
from idcore.rocketmq.remoting.cluster import Cluster
from idcore.rocketmq.remoting.frame import Frame
from idcore.rocketmq.remoting.profile import Profile, name_servers
from tests.remoting.fake import NOW, Fake, answers
from tests.remoting.fake_groups import HOME
from tests.remoting.servers import answer

NOW_MS = 1_795_000_600_000
PID = 0x0DC8  # of UNIQ, whose host is 10.66.51.58
HOST = "10.66.51.58"


def queue_key(queue: int, topic: str = "Orders") -> str:
    return f'{{"brokerName":"a","queueId":{queue},"topic":"{topic}"}}'


def client(
    client_id: str, address: str = "10.0.0.3:50122", language: str = "JAVA", version: int = 479
) -> dict[str, Any]:
    return {"clientId": client_id, "clientAddr": address, "language": language, "version": version}


def subscription(expression: str = "*", topic: str = "Orders", version: int = NOW_MS - 3_600_000) -> dict[str, Any]:
    tags = [] if expression == "*" else expression.split(" || ")
    return {"topic": topic, "subString": expression, "tagsSet": tags, "subVersion": version, "expressionType": "TAG"}


class Progressing(Fake):
    """`ends` are those of the queues, `offsets` of a group by queue; what is missing there was never read."""

    def __init__(self) -> None:
        super().__init__(["Orders"], [HOME])
        self.ends = [1_000, 1_000, 2_500, 0]
        self.offsets: dict[str, dict[int, int]] = {"billing": {0: 1_000, 1: 900, 2: 1_396}}
        self.pulled: dict[int, int] = {2: 1_410}
        self.connected: dict[str, dict[str, Any]] = {"billing": self.connection(client("10.0.0.3@7#1"))}
        self.states: dict[str, str] = {}
        self.producers: dict[str, list[dict[str, Any]]] = {}
        self.sides: dict[str, tuple[int, int]] = {}  # %RETRY% and %DLQ% topics: first offset and end
        self.version = "V5_3_2"
        self.read_queues = 4
        self.can_consume = True
        self.proxied: set[str] = set()  # groups whose clients no broker lists
        self.raw_answers: dict[int, bytes] = {}
        self.now_ms = NOW_MS

    @staticmethod
    def connection(
        *clients: dict[str, Any], expression: str = "*", topic: str = "Orders", **more: Any
    ) -> dict[str, Any]:
        return {
            "connectionSet": list(clients),
            "consumeType": "CONSUME_PASSIVELY",
            "messageModel": "CLUSTERING",
            "consumeFromWhere": "CONSUME_FROM_LAST_OFFSET",
            "subscriptionTable": {topic: subscription(expression, topic)},
            **more,
        }

    @staticmethod
    def state(queues: dict[int, tuple[int, int, int]], expression: str = "*") -> str:
        """307 of a client: of each queue its committed offset and the ends of what is in memory."""
        rows = []
        for queue, (committed, low, high) in queues.items():
            held = {"commitOffset": committed, "cachedMsgMinOffset": low, "cachedMsgMaxOffset": high, "locked": True}
            rows.append(f"{queue_key(queue)}:{json.dumps(held | {'cachedMsgCount': 1 + high - low, 'droped': False})}")
        own = {"PROP_CONSUMER_START_TIMESTAMP": str(NOW_MS - 7_200_000), "PROP_CLIENT_VERSION": "V5_3_3"}
        return (
            f'{{"mqPopTable":{{}},"mqTable":{{{",".join(rows)}}},"properties":{json.dumps(own)},'
            f'"statusTable":{{}},"subscriptionSet":[{json.dumps(subscription(expression))}],"userConsumerInfo":{{}}}}'
        )

    def handle(self, frame: Frame) -> Iterable[bytes]:
        if frame.code in self.raw_answers and frame.code not in self.silent:
            yield answer(frame, 0, self.raw_answers[frame.code])
        else:
            yield from super().handle(frame)

    @answers(202)
    def _topic_stats(self, frame: Frame) -> bytes:
        topic = frame.field("topic") or ""
        if topic == "Orders":
            return answer(frame, 0, self._stats(dict(enumerate((0, end) for end in self.ends)), topic))
        if topic in self.sides:
            return answer(frame, 0, self._stats({0: self.sides[topic]}, topic))
        return answer(frame, 17, b"", f"topic[{topic}] not exist")

    @answers(208)
    def _group_stats(self, frame: Frame) -> bytes:
        return answer(frame, 0, self._progress(frame.field("consumerGroup") or "", frame.field("topic") or ""))

    @answers(14)
    def _offset(self, frame: Frame) -> bytes:
        group, topic, queue = frame.field("consumerGroup"), frame.field("topic"), int(frame.field("queueId") or "0")
        held = self.offsets.get(str(group) if topic == "Orders" else f"{group}@{topic}", {})
        return answer(frame, 0, offset=str(held[queue])) if queue in held else answer(frame, 22, b"", "none")

    @answers(203)
    def _connections(self, frame: Frame) -> bytes:
        held = self.connected.get(frame.field("consumerGroup") or "")
        return answer(frame, 0, json.dumps(held).encode()) if held else answer(frame, 206, b"", "not online")

    @answers(345)
    def _proxied(self, frame: Frame) -> bytes:
        wanted = {"subscriptionData": subscription(version=NOW_MS)} if frame.field("group") in self.proxied else {}
        return answer(frame, 0, json.dumps({"topic": frame.field("topic") or "", **wanted}).encode())

    @answers(402)
    def _modes(self, frame: Frame) -> bytes:
        return answer(frame, 0, b"{}")

    @answers(352)
    def _settings(self, frame: Frame) -> bytes:
        return answer(frame, 0, json.dumps({"consumeEnable": self.can_consume}).encode())

    @answers(201)
    def _all_settings(self, frame: Frame) -> bytes:
        settings = {"subscriptionGroupTable": {"billing": {"consumeEnable": self.can_consume}}}
        return answer(frame, 0, json.dumps(settings).encode())

    @answers(43)
    def _all_offsets(self, frame: Frame) -> bytes:
        table = {f"Orders@{name}": own for name, own in self.offsets.items() if "%" not in name}
        return answer(frame, 0, json.dumps({"offsetTable": table}).encode())

    @answers(300)
    def _groups(self, frame: Frame) -> bytes:
        return answer(frame, 0, json.dumps({"groupList": sorted(self.connected)}).encode())

    @answers(30, 31)
    def _ends(self, frame: Frame) -> bytes:
        if frame.field("topic") != "Orders":
            return super()._queue_offset(frame)
        end = self.ends[int(frame.field("queueId") or "0")] if frame.code == 30 else 0
        return answer(frame, 0, offset=str(end))

    @answers(307)
    def _client_state(self, frame: Frame) -> bytes:
        told = self.states.get(frame.field("clientId") or "")
        if told is None:
            return answer(frame, 1, b"", f"The Consumer <{frame.field('consumerGroup') or ''}> <x> not online")
        return answer(frame, 0, told.encode(), "not set any response code")

    @answers(328)
    def _all_producers(self, frame: Frame) -> bytes:
        if self.version < "V4_9_4":
            return answer(frame, 3, b"", " request type 328 not supported")
        return answer(frame, 0, json.dumps({"data": self.producers}).encode())

    @answers(204)
    def _producers_of(self, frame: Frame) -> bytes:
        rows = self.producers.get(frame.field("producerGroup") or "")
        if rows is None:
            return answer(frame, 1, b"", "group[x] not exist")
        found_rows = [{**row, "clientAddr": str(row["remoteIP"]).removeprefix("/")} for row in rows]
        return answer(frame, 0, json.dumps({"connectionSet": found_rows}).encode())

    @answers(28)
    def _state(self, frame: Frame) -> bytes:
        state = {"commitLogMinOffset": "0", "commitLogMaxOffset": "9", "brokerVersionDesc": self.version}
        return answer(frame, 0, json.dumps({"table": state}).encode())

    def route(self, **queues: Any) -> bytes:
        return super().route(**(queues | {"readQueueNums": self.read_queues, "writeQueueNums": 4, "perm": 6}))

    def _stats(self, ends: dict[int, tuple[int, int]], topic: str) -> bytes:
        rows = (
            f'{queue_key(queue, topic)}:{{"lastUpdateTimestamp":{NOW_MS - 5_000},"maxOffset":{high},"minOffset":{low}}}'
            for queue, (low, high) in ends.items()
        )
        return f'{{"offsetTable":{{{",".join(rows)}}}}}'.encode()

    def _progress(self, group: str, topic: str) -> bytes:
        """208 writes 0 for a queue without an offset; before 5.1.0 it has no pullOffset."""
        rows = []
        for queue, end in enumerate(self.ends[: self.read_queues]):
            offset = self.offsets.get(group, {}).get(queue, 0)
            stats = {"brokerOffset": end, "consumerOffset": offset, "lastTimestamp": NOW_MS - 60_000 if offset else 0}
            if self.version >= "V5_1":
                stats["pullOffset"] = self.pulled.get(queue, offset)
            rows.append(f"{queue_key(queue, topic)}:{json.dumps(stats)}")
        return f'{{"consumeTps":0.1,"offsetTable":{{{",".join(rows)}}}}}'.encode()

    def asking(self, reach_clients: bool = False, who: bool = False) -> LookupService:
        limits = Limits(2, 2, reach_clients=reach_clients)
        profile = Profile("fake", name_servers(str(self.server.address)), limits=limits, show_clients=who)
        pace = Pace(lambda: self.now_ms, lambda seconds: None)
        return LookupService(Cluster(profile), lambda: Moment(NOW, UTC), pace=pace, who=who)
