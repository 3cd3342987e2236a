"""A cluster of one listener whose topic has several queues, groups and clients, as brokers of 5.3 and 4.9 answer."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC
from typing import Any

from idcore.answers.lookup import LookupService, Moment
from idcore.answers.lookup.fates import Pace
from idcore.rocketmq.remoting.client import Limits
from idcore.rocketmq.remoting.cluster import Cluster
from idcore.rocketmq.remoting.frame import Frame
from idcore.rocketmq.remoting.profile import Profile, name_servers
from tests.remoting.fake import NOW, Fake
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
        self.silent: set[int] = set()
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
        code, group, topic = frame.code, frame.field("consumerGroup") or "", frame.field("topic") or ""
        queue = int(frame.field("queueId") or "0")
        if code in self.silent:
            yield answer(frame, 1, b"", "no time for this")
        elif code in self.raw_answers:
            yield answer(frame, 0, self.raw_answers[code])
        elif code == 202 and topic == "Orders":
            yield answer(frame, 0, self._stats(dict(enumerate((0, end) for end in self.ends)), topic))
        elif code == 202 and topic in self.sides:
            yield answer(frame, 0, self._stats({0: self.sides[topic]}, topic))
        elif code == 202:
            yield answer(frame, 17, b"", f"topic[{topic}] not exist")
        elif code == 208:
            yield answer(frame, 0, self._progress(group, topic))
        elif code == 14:
            held = self.offsets.get(group if topic == "Orders" else f"{group}@{topic}", {})
            yield answer(frame, 0, offset=str(held[queue])) if queue in held else answer(frame, 22, b"", "none")
        elif code == 203:
            one = self.connected.get(group)
            yield answer(frame, 0, json.dumps(one).encode()) if one else answer(frame, 206, b"", "not online")
        elif code == 345:
            wanted = {"subscriptionData": subscription(version=NOW_MS)} if frame.field("group") in self.proxied else {}
            yield answer(frame, 0, json.dumps({"topic": topic, **wanted}).encode())
        elif code == 352:
            yield answer(frame, 0, json.dumps({"consumeEnable": self.can_consume}).encode())
        elif code == 201:
            settings = {"subscriptionGroupTable": {"billing": {"consumeEnable": self.can_consume}}}
            yield answer(frame, 0, json.dumps(settings).encode())
        elif code == 43:
            table = {f"Orders@{name}": own for name, own in self.offsets.items() if "%" not in name}
            yield answer(frame, 0, json.dumps({"offsetTable": table}).encode())
        elif code == 300:
            yield answer(frame, 0, json.dumps({"groupList": sorted(self.connected)}).encode())
        elif code in (30, 31) and topic == "Orders":
            yield answer(frame, 0, offset=str(self.ends[queue] if code == 30 else 0))
        elif code == 307:
            told = self.states.get(frame.field("clientId") or "")
            nothing = answer(frame, 1, b"", f"The Consumer <{group}> <x> not online")
            yield nothing if told is None else answer(frame, 0, told.encode(), "not set any response code")
        elif code == 328 and self.version < "V4_9_4":
            yield answer(frame, 3, b"", " request type 328 not supported")
        elif code == 328:
            yield answer(frame, 0, json.dumps({"data": self.producers}).encode())
        elif code == 204:
            rows_of = self.producers.get(frame.field("producerGroup") or "")
            found_rows = [{**row, "clientAddr": str(row["remoteIP"]).removeprefix("/")} for row in rows_of or ()]
            listed = json.dumps({"connectionSet": found_rows}).encode()
            yield answer(frame, 1, b"", "group[x] not exist") if rows_of is None else answer(frame, 0, listed)
        elif code == 28:
            state = {"commitLogMinOffset": "0", "commitLogMaxOffset": "9", "brokerVersionDesc": self.version}
            yield answer(frame, 0, json.dumps({"table": state}).encode())
        elif code == 105 and topic in self.topics:
            route = {
                "brokerDatas": [{"brokerAddrs": {"0": str(self.server.address)}, "brokerName": "a"}],
                "queueDatas": [{"brokerName": "a", "readQueueNums": self.read_queues, "writeQueueNums": 4, "perm": 6}],
            }
            yield answer(frame, 0, json.dumps(route).encode())
        else:
            yield from super().handle(frame)

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
