"""The form in which a client sends a message inside a batch, and one message after another. Reads no stored record."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

from idcore.base.errors import refuse
from idcore.base.layout import PROPERTIES_LENGTH, WIRE_HEAD
from idcore.rocketmq.message import flags
from idcore.rocketmq.message import properties as names
from idcore.rocketmq.message.javatext import to_bytes, to_text
from idcore.rocketmq.message.model import Message, MessageExt
from idcore.rocketmq.message.properties import Dialect
from idcore.rocketmq.message.reader import Bytes, Reader

_SMALLEST = WIRE_HEAD.size + PROPERTIES_LENGTH.size


def wire_size(message: Message) -> int:
    """How many bytes MessageDecoder.encodeMessage makes, and of what is too long for it."""
    return _SMALLEST + len(message.body or b"") + len(to_bytes(names.encode(message.properties)))


def decode_message(raw: Bytes, start: int = 0, topic: str = "", dialect: Dialect = "current") -> tuple[Message, int]:
    """One message and the place behind it. The bytes carry no topic."""
    reader = Reader(raw, start)
    size, _magic, _crc, flag, body_length = reader.fixed(WIRE_HEAD)
    if size < _SMALLEST:
        raise refuse("total_size", "total_size", start, size=size, least=_SMALLEST)
    reader.stop = start + size
    length_at = start + WIRE_HEAD.span("body_length").start
    body = reader.counted("body", "body_length", body_length, length_at)
    length_at = reader.at
    (length,) = reader.fixed(PROPERTIES_LENGTH)
    text = to_text(reader.counted("properties", "properties_length", length, length_at))
    if reader.at != start + size:
        raise refuse("sum", "total_size", start, size=size, parts=reader.at - start)
    return Message(topic, body, flag, names.decode(text, dialect)), reader.at


def decode_messages(raw: Bytes, topic: str = "", dialect: Dialect = "current") -> Iterator[Message]:
    """Every message of a batch's body."""
    at = 0
    while at < len(raw):
        message, at = decode_message(raw, at, topic, dialect)
        yield message


def unwrap(outer: MessageExt, most: int | None = None) -> Sequence[MessageExt]:
    """The messages of an inner batch, all or the first so many. Each takes the stored values of the outer one, and its
    own place in the queue."""
    if not flags.holds_others(outer.sys_flag) or outer.body is None:
        return (outer,)
    inner = []
    for place, message in enumerate(islice(decode_messages(outer.body, outer.topic), most)):
        inner_message = replace(
            outer,
            body=message.body,
            flag=message.flag,
            properties=message.properties,
            queue_offset=outer.queue_offset + place,
            store_size=0,
            body_crc=0,
            reconsume_times=0,
            prepared_transaction_offset=0,
        ).with_property(names.WAIT, "true" if outer.wait_store_ok else "false")
        inner.append(inner_message)
    return inner
