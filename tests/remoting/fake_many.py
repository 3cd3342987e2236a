"""A cluster of one listener with thousands of messages and several groups; copies of some. Found by key, at once."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from idcore.rocketmq.message import Record
from idcore.rocketmq.remoting.frame import Frame
from tests.remoting.fake import UNIQ, answers, record
from tests.remoting.fake_groups import STORED, Cluster
from tests.remoting.servers import answer

QUEUES = 4


def id_of(place: int) -> str:
    """The msgId of a message; there are up to 65,536."""
    return f"{UNIQ[:-4]}{place:04X}"


class Many(Cluster):
    """Messages of one topic in four queues; in each, every group has the offset that `offsets` says."""

    def __init__(self, count: int, groups: Sequence[str]) -> None:
        super().__init__()
        self.ids = [id_of(at) for at in range(count)]
        self.by_key: dict[str, list[Record]] = defaultdict(list)
        self.waits: dict[str, tuple[int, int]] = {}  # topic: messages, latest store time
        for at, each in enumerate(self.ids):
            made = record("Orders", each, at * 200).placed(at // QUEUES, at * 200, STORED + at)
            self.add(replace(made, queue_id=at % QUEUES))
        self.listed = list(groups)
        self.connected = {group: self.connection() for group in groups}
        self.end = self.pulled = count

    def add(self, one: Record) -> None:
        self.by_key[one.uniq_id or ""].append(one)
        number, latest = self.waits.get(one.topic, (0, 0))
        self.waits[one.topic] = number + 1, max(latest, one.store_timestamp)
        if one.topic not in self.topics:
            self.topics.append(one.topic)

    @answers(12)
    def _by_key(self, frame: Frame) -> bytes:
        topic = frame.field("topic") or ""
        found = [each for each in self.by_key.get(frame.field("key") or "", ()) if each.topic == topic]
        return answer(frame, 0, b"".join(map(bytes, found))) if found else answer(frame, 22, b"", "no")

    @answers(202)
    def _stats(self, frame: Frame) -> bytes:
        topic = frame.field("topic") or ""
        if topic not in self.waits:
            return super()._stats(frame)
        number, latest = self.waits[topic]
        key = f'{{"brokerName":"a","queueId":0,"topic":{json.dumps(topic)}}}'
        stats = f'{{"minOffset":0,"maxOffset":{number},"lastUpdateTimestamp":{latest}}}'
        return answer(frame, 0, f'{{"offsetTable":{{{key}:{stats}}}}}'.encode())
