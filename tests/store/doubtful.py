"""A store of messages whose msgId does not name one record: in two topics, in a batch, sent on, in a namespace."""

from __future__ import annotations

from pathlib import Path

from idcore.rocketmq.message import Host, Message, MessageBatch
from idcore.rocketmq.message import properties as names
from idcore.simulate.broker import Broker
from idcore.simulate.writer import PutResult, StoreWriter
from tests.remoting.fake import UNIQ
from tests.remoting.test_traces import AT, CONSUMER, USUAL, after, before, traces

STORE = Host(bytes([10, 20, 0, 5]), 10911)
TWO_TOPICS, IN_NAMESPACE, BATCH, SENT_ON = (f"{UNIQ[:-4]}{number:04X}" for number in range(1, 5))


def written(root: Path) -> Path:
    """Group `both` reads Orders and Paid, `NS%readers` reads NS%Orders, and `readers` reads Orders.

    Of each msgId the trace has a success of `readers`. `both` failed with the one in Paid, with the first item of the
    batch, and with the message that was sent on.
    """
    with StoreWriter(root) as writer:
        broker = Broker(writer, STORE)

        def send(topic: str, key: str, **more: str) -> PutResult:
            message = Message.of(topic, b"card", "paid").with_uniq_id(key)
            for name, value in more.items():
                message = message.with_property(name, value)
            return broker.send(message, 0, AT, CONSUMER, AT)

        send("Orders", TWO_TOPICS)
        failed = [send("Paid", TWO_TOPICS)]
        send("NS%Orders", IN_NAMESPACE)
        items = [Message.of("Orders", body, "paid").with_uniq_id(f"{UNIQ[:-4]}{body.hex()}") for body in (b"aa", b"bb")]
        failed.append(broker.send_batch(MessageBatch.of_messages(items), BATCH, 0, AT, CONSUMER, AT))
        first = send("Orders", SENT_ON)
        named = {names.RETRY_TOPIC: "Orders", names.ORIGIN_MESSAGE_ID: first.offset_msg_id}
        failed.append(send("Orders", SENT_ON, **named))
        for put in failed:
            broker.send_back(put.records[0], "both", AT + 1_000)
        for number, key in enumerate((TWO_TOPICS, IN_NAMESPACE, BATCH, SENT_ON)):
            writer.put(traces(number, before(number, key) + after(number, key), USUAL, key), AT + number)
        past = {0: 9}
        broker.write_offsets(
            {"Orders@both": past, "Paid@both": past, "NS%Orders@NS%readers": past, "Orders@readers": past}
            | {"%RETRY%NS%readers@NS%readers": {0: 0}}
        )
    return root
