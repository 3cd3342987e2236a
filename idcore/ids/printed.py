"""How RocketMQ's classes print what was sent and received: SendResult and MessageExt. Makes no id and reads none."""

from __future__ import annotations

from collections.abc import Mapping


def send_result(ids: str, offsets: str, topic: str, broker: str, queue: int, queue_offset: int) -> str:
    """SendResult.toString; a batch gives comma-joined ids."""
    return (
        f"o.a.r.c.p.DefaultMQProducer - SendResult [sendStatus=SEND_OK, msgId={ids}, offsetMsgId={offsets}, "
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
    body_crc: int,
    topic: str,
    properties: Mapping[str, object],
    reconsumed: int = 0,
    prepared: int = 0,
    sys_flag: int = 0,
) -> str:
    """MessageExt.toString as a consumer's listener prints it."""
    named = ", ".join(f"{name}={value}" for name, value in properties.items())
    return (
        f"Receive New Messages: [MessageExt [brokerName={broker}, queueId={queue}, storeSize={size}, "
        f"queueOffset={queue_offset}, sysFlag={sys_flag}, bornTimestamp={born_ms}, bornHost=/{born_host}, "
        f"storeTimestamp={stored_ms}, storeHost=/{store_host}, msgId={offset_id}, commitLogOffset={physical_offset}, "
        f"bodyCRC={body_crc}, reconsumeTimes={reconsumed}, preparedTransactionOffset={prepared}, "
        f"toString()=Message{{topic='{topic}', flag=0, properties={{{named}}}, "
        f"body=[72, 101, 108, 108, 111], transactionId='null'}}]]"
    )
