"""How RocketMQ's classes print what was sent and received: SendResult and MessageExt. Generates and reads no id."""

from __future__ import annotations

from collections.abc import Mapping
from zlib import crc32


def go_send_result(ids: str, offsets: str, topic: str, broker: str, queue: int, queue_offset: int) -> str:
    """SendResult.String of the Go client."""
    return (
        f"SendResult [sendStatus=0, msgIds={ids}, offsetMsgId={offsets}, queueOffset={queue_offset}, "
        f"messageQueue=MessageQueue [topic={topic}, brokerName={broker}, queueId={queue}]]"
    )


def send_result(ids: str, offsets: str, topic: str, broker: str, queue: int, queue_offset: int) -> str:
    """SendResult.toString behind a logger; a batch gives comma-joined ids."""
    return "o.a.r.c.p.DefaultMQProducer - " + java_send_result(ids, offsets, topic, broker, queue, queue_offset)


def java_send_result(ids: str, offsets: str, topic: str, broker: str, queue: int, queue_offset: int) -> str:
    """SendResult.toString alone."""
    return (
        f"SendResult [sendStatus=SEND_OK, msgId={ids}, offsetMsgId={offsets}, "
        f"messageQueue=MessageQueue [topic={topic}, brokerName={broker}, queueId={queue}], "
        f"queueOffset={queue_offset}]"
    )


def message_ext(
    *,
    broker: str,
    queue: int,
    size: int,
    queue_offset: int,
    born_ms: int,
    born_host: str,
    stored_ms: int,
    store_host: str,
    offset_id: str,
    physical_offset: int,
    topic: str,
    properties: Mapping[str, object],
    body: bytes = b"Hello",
    reconsumed: int = 0,
    prepared: int = 0,
) -> str:
    """MessageExt.toString as a consumer's listener prints it, in a list."""
    named = ", ".join(f"{name}={value}" for name, value in properties.items())
    return (
        f"Receive New Messages: [MessageExt [brokerName={broker}, queueId={queue}, storeSize={size}, "
        f"queueOffset={queue_offset}, sysFlag=0, bornTimestamp={born_ms}, bornHost=/{born_host}, "
        f"storeTimestamp={stored_ms}, storeHost=/{store_host}, msgId={offset_id}, commitLogOffset={physical_offset}, "
        f"bodyCRC={crc32(body) & 0x7FFFFFFF}, reconsumeTimes={reconsumed}, preparedTransactionOffset={prepared}, "
        f"toString()=Message{{topic='{topic}', flag=0, properties={{{named}}}, "
        f"body=[{', '.join(str(byte - 256 if byte > 127 else byte) for byte in body)}], transactionId='null'}}]]"
    )
