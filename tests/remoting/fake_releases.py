"""Brokers of one listener that answer as releases from 5.4.0 on do, where these differ from 5.3.3."""

from __future__ import annotations

import json
from typing import Any

from idcore.rocketmq.message import Record
from idcore.rocketmq.remoting.frame import Frame
from tests.remoting.fake import answers
from tests.remoting.fake_queues import Queues
from tests.remoting.servers import answer

# QueryMessageProcessor.matchesRequestTopic of 5.5.1: the records of these are known by their REAL_TOPIC.
WAITING = ("SCHEDULE_TOPIC_XXXX", "rmq_sys_wheel_timer", "RMQ_SYS_TRANS_HALF_TOPIC", "TRANS_CHECK_MAX_TIME_TOPIC")


class TopicChecked(Queues):
    """5.5.1: a topic that travels with request 33 has to be the record's logical one. ACL 2.0 may want a topic."""

    def __init__(self, *arguments: Any, guarded: bool = False) -> None:
        super().__init__(*arguments)
        self.guarded = guarded

    @answers(33)
    def _by_offset(self, frame: Frame) -> bytes:
        topic, offset = frame.field("topic"), int(frame.field("offset") or "-1")
        found = {each.physical_offset: each for each in self.records}.get(offset)
        if topic is None and self.guarded:
            return answer(frame, 16, b"", "AuthorizationException: no topic")
        if found is not None and topic is not None:
            logical = found.properties["REAL_TOPIC"] if found.topic in WAITING else found.topic
            if topic != logical:
                return answer(frame, 16, b"", "The topic does not match the message")
        return super()._by_offset(frame)


class _Dated(Queues):
    """Says its version, and that it began five seconds before `now_ms`."""

    version = "V5_5_1"
    now_ms = 1_795_000_000_000

    @answers(28)
    def _state(self, frame: Frame) -> bytes:
        oldest = min((each.store_timestamp for each in self.records), default=self.now_ms)
        table = {
            "commitLogMinOffset": "0",
            "commitLogMaxOffset": "100000",
            "earliestMessageTimeStamp": str(oldest),
            "brokerVersionDesc": self.version,
            "bootTimestamp": str(self.now_ms - 5_000),
            "runtime": "[ 0 days, 0 hours, 0 minutes, 5 seconds ]",
        }
        return answer(frame, 0, json.dumps({"table": table}).encode())


class DaysOnly(_Dated):
    """5.4.0 with an index in RocksDB: seven days of it at most, the last ones where the window is open at its end."""

    @answers(12)
    def _by_key(self, frame: Frame) -> bytes:
        begin, end = (int(frame.field(name) or "0") for name in ("beginTimestamp", "endTimestamp"))
        week = 7 * 86_400_000
        if begin == 0 or end == (1 << 63) - 1:
            begin, end = self.now_ms - week, self.now_ms
        found = [each for each in self.records if each.topic == frame.field("topic")]
        found = [each for each in found if begin <= each.store_timestamp <= end and end - begin <= week]
        return answer(frame, 0, b"".join(map(bytes, found))) if found else answer(frame, 22, b"", "no")


class TagsInFiles(_Dated):
    """5.4.0 with index files, which count in seconds: the newest 64 of a tag in a window (IndexService.queryOffset).

    `lastKey` is not read.
    """

    version = "V5_4_0"

    @answers(12)
    def _by_key(self, frame: Frame) -> bytes:
        begin, end = (int(frame.field(name) or "0") for name in ("beginTimestamp", "endTimestamp"))
        found = [each for each in self.records if each.topic == frame.field("topic")]
        found = [each for each in found if each.properties.get("TAGS") == frame.field("key")]
        found = [each for each in found if begin <= self.time(each) <= end]
        found = self.page(found, frame) if frame.field("indexType") == "T" else []
        return answer(frame, 0, b"".join(map(bytes, found))) if found else answer(frame, 22, b"", "no")

    def time(self, each: Record) -> int:
        return each.store_timestamp // 1_000 * 1_000

    def page(self, found: list[Record], frame: Frame) -> list[Record]:
        return sorted(found, key=lambda each: each.store_timestamp)[-64:]


class TagsInRocksDB(TagsInFiles):
    """An index in RocksDB: the first 64 behind a key, of seven days (MessageRocksDBStorage.queryOffsetForIndex)."""

    def time(self, each: Record) -> int:
        return each.store_timestamp

    def page(self, found: list[Record], frame: Frame) -> list[Record]:
        begin, end = (int(frame.field(name) or "0") for name in ("beginTimestamp", "endTimestamp"))
        if end - begin > 7 * 86_400_000:
            return []
        keys = {self.key(each): each for each in found}
        if last := frame.field("lastKey"):
            hour, *words, offset = last.split("@")
            assert len(words) == 4, last
            after = (int(hour), ("@" + "@".join(words) + "@").encode(), int(offset))
            keys = {key: each for key, each in keys.items() if key > after}
        return sorted((keys[key] for key in sorted(keys)[:64]), key=lambda each: each.physical_offset)

    @staticmethod
    def key(each: Record) -> tuple[int, bytes, int]:
        text = f"@{each.topic}@T@{each.properties['TAGS']}@{each.uniq_id}@"
        return each.store_timestamp // 3_600_000 * 3_600_000, text.encode(), each.physical_offset


class Tiered(Queues):
    """With a tier behind the local log: 31 is of the tier (TieredMessageStore.getMinOffsetInQueue), 321 is local."""

    tier = 0

    @answers(28)
    def _state(self, frame: Frame) -> bytes:
        table = {"commitLogMinOffset": "50000", "commitLogMaxOffset": "100000", "brokerVersionDesc": "V5_5_0"}
        return answer(frame, 0, json.dumps({"table": table}).encode())

    @answers(31)
    def _first(self, frame: Frame) -> bytes:
        return answer(frame, 0, offset=str(self.tier))


class LightQueues(Queues):
    """The queue of a light topic is one that the broker has, or 321 is an error (QueryConsumeQueue makes none)."""

    @answers(321)
    def _entries(self, frame: Frame) -> bytes:
        if (frame.field("topic") or "", int(frame.field("queueId") or "0")) not in self.held:
            return answer(frame, 1, b"", f"{frame.field('queueId')}@{frame.field('topic')} is not exist!")
        return super()._entries(frame)
