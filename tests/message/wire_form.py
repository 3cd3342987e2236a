"""A message as a client sends it inside a batch: what the product reads. Tests send with it."""

from __future__ import annotations

from idcore.base.errors import refuse
from idcore.base.layout import PROPERTIES_LENGTH, WIRE_HEAD
from idcore.rocketmq.message import properties as names
from idcore.rocketmq.message.javatext import to_bytes
from idcore.rocketmq.message.model import Message
from idcore.rocketmq.message.properties import Dialect
from idcore.rocketmq.message.validators import PROPERTIES_MOST

SMALLEST = WIRE_HEAD.size + PROPERTIES_LENGTH.size


def encode_message(message: Message, dialect: Dialect = "current") -> bytes:
    """MessageDecoder.encodeMessage: flag, body and properties; the topic travels once, with the request."""
    body = message.body
    if body is None:
        raise refuse("body_null", "body")
    raw = to_bytes(names.encode(message.properties, dialect))
    if len(raw) > PROPERTIES_MOST:  # Java lets the short wrap and writes what nobody can read
        raise refuse("properties_long", "properties_length", None, size=len(raw), most=PROPERTIES_MOST)
    size = SMALLEST + len(body) + len(raw)
    head = WIRE_HEAD.struct.pack(size, 0, 0, message.flag, len(body))
    return b"".join((head, body, PROPERTIES_LENGTH.struct.pack(len(raw)), raw))
