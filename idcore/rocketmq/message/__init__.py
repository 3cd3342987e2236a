"""Messages and stored records: values, properties, bodies, the wire form, bytes both ways. No files, no sockets."""

from idcore.rocketmq.message.bodies import compress, crc32, text_of, unpack
from idcore.rocketmq.message.javatext import hash_code
from idcore.rocketmq.message.model import Host, Message, MessageBatch, MessageExt
from idcore.rocketmq.message.record import (
    MAGIC_V1,
    MAGIC_V2,
    Record,
    blank_record,
    decode_record,
    decode_records,
    parts,
    record_size,
)
from idcore.rocketmq.message.validators import check_broker_topic, is_system_topic
from idcore.rocketmq.message.wire import decode_message, decode_messages, encode_message, unwrap

__all__ = [
    "MAGIC_V1",
    "MAGIC_V2",
    "Host",
    "Message",
    "MessageBatch",
    "MessageExt",
    "Record",
    "blank_record",
    "check_broker_topic",
    "compress",
    "crc32",
    "decode_message",
    "decode_messages",
    "decode_record",
    "decode_records",
    "encode_message",
    "hash_code",
    "is_system_topic",
    "parts",
    "record_size",
    "text_of",
    "unpack",
    "unwrap",
]
