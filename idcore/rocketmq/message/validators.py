"""What the client and the broker reject before they take a message (Validators, TopicValidator). Sends nothing."""

from __future__ import annotations

from idcore.base.errors import refuse
from idcore.rocketmq.message import javatext
from idcore.rocketmq.message.model import DLQ_PREFIX, RETRY_PREFIX

TOPIC_MOST, RETRY_TOPIC_MOST = 127, 255
PROPERTIES_MOST = 32_767
_TOPIC_LETTERS = frozenset("%|-_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")

SCHEDULE_TOPIC, HALF_TOPIC, OP_HALF_TOPIC = (
    "SCHEDULE_TOPIC_XXXX",
    "RMQ_SYS_TRANS_HALF_TOPIC",
    "RMQ_SYS_TRANS_OP_HALF_TOPIC",
)
# Where brokers from 5.4.0 on with transRocksDBEnable have them.
ROCKSDB_HALF_TOPIC, ROCKSDB_OP_HALF_TOPIC = "RMQ_SYS_ROCKSDB_TRANS_HALF_TOPIC", "RMQ_SYS_ROCKSDB_TRANS_OP_HALF_TOPIC"
TIMER_TOPIC = "rmq_sys_wheel_timer"
CHECK_MAX_TIME_TOPIC, TRACE_TOPIC = "TRANS_CHECK_MAX_TIME_TOPIC", "RMQ_SYS_TRACE_TOPIC"
_FORBIDDEN = frozenset(
    (SCHEDULE_TOPIC, HALF_TOPIC, OP_HALF_TOPIC, CHECK_MAX_TIME_TOPIC, "SELF_TEST_TOPIC", "OFFSET_MOVED_EVENT")
)
SYSTEM_TOPICS = _FORBIDDEN | {
    "TBW102",
    "BenchmarkTest",
    TRACE_TOPIC,
    "CHECKPOINT_TOPIC",
    ROCKSDB_HALF_TOPIC,
    ROCKSDB_OP_HALF_TOPIC,
}
_SYSTEM_PREFIX = "rmq_sys_"
# Where clients with AccessChannel.CLOUD write traces (TraceConstants.TRACE_TOPIC_PREFIX).
_CLOUD_TRACE_PREFIX = "rmq_sys_TRACE_DATA_"


def is_system_topic(topic: str) -> bool:
    """TopicValidator.isSystemTopic; retry and dead letter topics are not."""
    return topic in SYSTEM_TOPICS or topic.startswith(_SYSTEM_PREFIX)


def is_trace_topic(topic: str) -> bool:
    """Whether clients write traces here by its name; a client may be set to any other."""
    return topic == TRACE_TOPIC or topic.startswith(_CLOUD_TRACE_PREFIX)


def check_broker_topic(topic: str) -> None:
    """TopicValidator.validateTopic: what a broker may hold; %RETRY% and %DLQ% topics may be longer."""
    if javatext.is_blank(topic):
        raise refuse("topic_blank", "topic")
    _check_letters(topic)
    most = RETRY_TOPIC_MOST if topic.startswith((RETRY_PREFIX, DLQ_PREFIX)) else TOPIC_MOST
    if javatext.units(topic) > most:
        raise refuse("topic_length", "topic", None, most=most)


def _check_letters(topic: str) -> None:
    if not _TOPIC_LETTERS.issuperset(topic):
        raise refuse("topic_characters", "topic", None, topic=topic)
