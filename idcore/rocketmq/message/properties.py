"""Properties as text and back, as Java's MessageDecoder does it in three generations. Reads no message around them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from idcore.base.numbers import whole_number
from idcore.rocketmq.message.javatext import split

NAME_VALUE, PROPERTY = "\x01", "\x02"
# "split": up to 4.5.x. "bare": 4.9.x, which leaves out the last separator. "current": 5.x, which writes it again.
Dialect = Literal["split", "bare", "current"]

KEYS, TAGS, WAIT, DELAY, UNIQ_KEY = "KEYS", "TAGS", "WAIT", "DELAY", "UNIQ_KEY"
RETRY_TOPIC, REAL_TOPIC, REAL_QUEUE_ID = "RETRY_TOPIC", "REAL_TOPIC", "REAL_QID"
PREPARED, PRODUCER_GROUP, ORIGIN_MESSAGE_ID = "TRAN_MSG", "PGROUP", "ORIGIN_MESSAGE_ID"
RECONSUME_TIME, CLUSTER, INNER_NUM = "RECONSUME_TIME", "CLUSTER", "INNER_NUM"
TRANSACTION_ID, REGION, TRACE = "__transactionId__", "MSG_REGION", "TRACE_ON"
INNER_MULTI_DISPATCH, TIMER_OUT = "INNER_MULTI_DISPATCH", "TIMER_OUT_MS"
INNER_MULTI_OFFSET = "INNER_MULTI_QUEUE_OFFSET"
TRANSACTION_OFFSET = "TRANS_OFFSET"  # in an operation of RocksDB transactions, the physical offset of its half message
# From 5.4.0 on: the group of a POP retry copy; the priority that chose the queue. From 5.5.0 on: the lite topic.
ORIGIN_GROUP, PRIORITY, LITE_TOPIC = "ORIGIN_GROUP", "_SYS_MSG_PRIORITY_", "__LITE_TOPIC"
KEY_SEPARATOR = " "
_MOST_DIGITS = 18  # those of a Java long; int() refuses very long texts
# The last property of a record of a 5.x broker with enabledAppendPropCRC: ten digits, the lowest first.
RECORD_CRC, RECORD_CRC_DIGITS = "__CRC32#", 10


def encode(properties: Mapping[str, str], dialect: Dialect = "current") -> str:
    """messageProperties2String: in the order of the mapping, separators in values as they are."""
    text = "".join(f"{name}{NAME_VALUE}{value}{PROPERTY}" for name, value in properties.items())
    return text[:-1] if dialect == "bare" else text


def decode(text: str, dialect: Dialect = "current") -> dict[str, str]:
    """string2messageProperties: what a value with a separator, an empty one or a double one comes to in Java."""
    return _by_split(text) if dialect == "split" else _by_index(text)


def _by_split(text: str) -> dict[str, str]:
    properties: dict[str, str] = {}
    for item in split(text, PROPERTY):
        parts = split(item, NAME_VALUE)
        if len(parts) == 2:
            properties[parts[0]] = parts[1]
    return properties


def _by_index(text: str) -> dict[str, str]:
    properties: dict[str, str] = {}
    for item in text.split(PROPERTY):
        name, _, value = item.partition(NAME_VALUE)
        if name and value:
            properties[name] = value
    return properties


def pieces(text: str) -> list[tuple[str, str | None]]:
    """Every piece in order, those included that Java drops: a name without a value has None."""
    items = text.split(PROPERTY)
    if items and not items[-1]:
        items.pop()
    return [(name, value if mark else None) for name, mark, value in (item.partition(NAME_VALUE) for item in items)]


def indexed(properties: Mapping[str, str]) -> list[str]:
    """What the broker indexes a record under, in this order: UNIQ_KEY, then each of KEYS."""
    uniq_id = properties.get(UNIQ_KEY)
    return ([] if uniq_id is None else [uniq_id]) + keys_of(properties)


def keys_of(properties: Mapping[str, str]) -> list[str]:
    """The keys that the broker indexes apart from UNIQ_KEY: KEYS cut at spaces, without the empty ones."""
    return [key for key in properties.get(KEYS, "").split(KEY_SEPARATOR) if key]


def light_places(properties: Mapping[str, str]) -> dict[str, int]:
    """The queues of light topics (LMQ) that a record is also in, with its place in each."""
    topics, offsets = (properties.get(name, "").split(",") for name in (INNER_MULTI_DISPATCH, INNER_MULTI_OFFSET))
    places = ((topic, number(offset)) for topic, offset in zip(topics, offsets, strict=False) if topic)
    return {topic: place for topic, place in places if place is not None}


def number(text: str | None) -> int | None:
    """What a broker wrote as a whole number; None for any other text, which anybody may have sent."""
    return whole_number(text, _MOST_DIGITS)
