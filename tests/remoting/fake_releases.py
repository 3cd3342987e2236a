"""Brokers of one listener that answer as releases from 5.4.0 on do, where these differ from 5.3.3."""

from __future__ import annotations

from typing import Any

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
