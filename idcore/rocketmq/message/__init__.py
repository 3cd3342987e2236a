"""Messages and stored records: values, properties, bodies, the wire form, bytes both ways. No files, no sockets."""

from idcore.rocketmq.message.bodies import compress
from idcore.rocketmq.message.javatext import hash_code
from idcore.rocketmq.message.model import Host, Message, MessageBatch
from idcore.rocketmq.message.record import Record, blank_record, decode_record, decode_records, parts
from idcore.rocketmq.message.validators import check_broker_topic, is_system_topic

__all__ = [
    "Host",
    "Message",
    "MessageBatch",
    "Record",
    "blank_record",
    "check_broker_topic",
    "compress",
    "decode_record",
    "decode_records",
    "hash_code",
    "is_system_topic",
    "parts",
]
