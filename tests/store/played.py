"""What clients do, asked of a real broker over its wire and of our own broker: the records have to be the same."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from idcore.rocketmq.message import Host, Message, MessageBatch, Record
from idcore.rocketmq.message import properties as names
from idcore.rocketmq.message.javatext import hash_map_order
from idcore.rocketmq.store import CommitLog, Stored
from idcore.simulate.broker import Broker
from idcore.simulate.writer import PutResult
from tests.message.wire_form import encode_message
from tests.store.real_broker import END_TRANSACTION, SEND, SEND_BACK, SEND_BATCH, RealBroker

GROUP, TOPIC = "order_consumer", "OrderPaid"
_BORN = 1_795_000_000_000
_HALF, _NOTE, _SCHEDULE = "RMQ_SYS_TRANS_HALF_TOPIC", "RMQ_SYS_TRANS_OP_HALF_TOPIC", "SCHEDULE_TOPIC_XXXX"
_LIMIT = 20.0


def _id(number: int) -> str:
    return f"0A000001000118B4AAC2000000{number:06X}"


def _message(number: int) -> Message:
    message = Message.of(TOPIC, f"number {number}".encode(), "paid", [f"order-{number}"], flag=number)
    message = message.with_uniq_id(_id(number))
    # a Java client hands its properties out as its HashMap does
    return replace(message, properties={name: message.properties[name] for name in hash_map_order(message.properties)})


PLAIN, DELAYED = _message(1), _message(2).with_delay_level(1)
COMMITTED, ROLLED_BACK = _message(3), _message(4)
BATCH, BATCH_ID = MessageBatch.of_messages([_message(number) for number in (5, 6, 7)]), _id(8)
OLD_BATCH = MessageBatch.of_messages([_message(number) for number in (9, 10)])  # of a 4.x client
RECORDS = 16
QUEUE = 1
_TRANSACTION = {names.PREPARED: "true", names.PRODUCER_GROUP: GROUP}


class Played:
    """The script, sent to a real broker; its records after `end` in the order of its log."""

    def __init__(self, real: RealBroker, root: Path, end: int) -> None:
        self._real, self._root, self._end = real, root, end
        self._until = time.monotonic() + _LIMIT
        self.sent = self._send(PLAIN)
        self._send(DELAYED)
        for notes, (message, flag) in enumerate(((COMMITTED, 8), (ROLLED_BACK, 12))):
            half = Message(message.topic, message.body, message.flag, {**message.properties, **_TRANSACTION})
            self._send(half, 4)
            (stored,) = [r for r in self.records() if (r.topic, r.uniq_id) == (_HALF, message.uniq_id)]
            self._ok(
                END_TRANSACTION,
                topic=TOPIC,
                producerGroup=GROUP,
                tranStateTableOffset=stored.queue_offset,
                commitLogOffset=stored.physical_offset,
                commitOrRollback=flag,
                fromTransactionCheck="false",
                msgId=message.uniq_id,
                transactionId=message.uniq_id,
            )
            while self._noted() <= notes:  # the newer line gathers notes for a while, and writes several as one
                self._wait()
        offset = int(self.sent["msgId"][16:], 16)
        for level in (1, -1):
            self._ok(
                SEND_BACK,
                offset=offset,
                group=GROUP,
                delayLevel=level,
                originMsgId=self.sent["msgId"],
                originTopic=TOPIC,
                unitMode="false",
                maxReconsumeTimes=16,
            )
        for batch, own in ((BATCH, {names.UNIQ_KEY: BATCH_ID}), (OLD_BATCH, {})):
            self._ok(
                SEND_BATCH,
                b"".join(map(encode_message, batch.messages)),
                a=GROUP,
                b=TOPIC,
                c="TBW102",
                d=4,
                e=QUEUE,
                f=0,
                g=_BORN,
                h=0,
                i=names.encode({**batch.properties, **own}),
                j=0,
                k="false",
                m="true",
            )
        while len(self.records()) < RECORDS:
            self._wait()

    def records(self) -> list[Record]:
        """What the real broker has appended by now; its files are only read."""
        log = CommitLog(self._root / "commitlog")
        try:
            return [found.record for found in log.walk(self._end) if isinstance(found, Stored)]
        finally:
            log.reading.close()

    def _send(self, message: Message, sys_flag: int = 0) -> dict[str, str]:
        return self._ok(
            SEND,
            message.body or b"",
            producerGroup=GROUP,
            topic=message.topic,
            defaultTopic="TBW102",
            defaultTopicQueueNums=4,
            queueId=QUEUE,
            sysFlag=sys_flag,
            bornTimestamp=_BORN,
            flag=message.flag,
            reconsumeTimes=0,
            unitMode="false",
            properties=names.encode(message.properties),
        )

    def _ok(self, code: int, body: bytes = b"", **fields: object) -> dict[str, str]:
        head, _ = self._real.ask(code, body, **fields)
        assert head["code"] == 0, head
        return dict(head.get("extFields", {}))

    def _noted(self) -> int:
        return sum(record.topic == _NOTE for record in self.records())

    def _wait(self) -> None:
        assert time.monotonic() < self._until, [(record.topic, record.uniq_id) for record in self.records()]
        time.sleep(0.05)


def replay(broker: Broker, client: Host, wanted: list[Record]) -> list[Record]:
    """The same done to our broker, in the order and at the times of the real one's records."""
    done: list[Record] = []

    def of(topic: str, message: Message) -> Record:
        return next(r for r in done if (r.topic, r.uniq_id) == (topic, message.uniq_id))

    def note(record: Record) -> PutResult:
        first = not any(r.topic == _NOTE for r in done)
        half = of(_HALF, COMMITTED if first else ROLLED_BACK)
        return broker.note(half, record.born_timestamp, record.store_timestamp)

    first = BATCH_ID if broker.line.adds_to_batches else _id(5)
    steps: dict[tuple[str, str | None], Callable[[int], PutResult]] = {
        (TOPIC, _id(1)): lambda now: broker.send(PLAIN, QUEUE, _BORN, client, now),
        (_SCHEDULE, _id(2)): lambda now: broker.send(DELAYED, QUEUE, _BORN, client, now),
        (TOPIC, _id(2)): lambda now: broker.deliver(of(_SCHEDULE, DELAYED), now),
        (_HALF, _id(3)): lambda now: broker.send_half(COMMITTED, GROUP, QUEUE, _BORN, client, now),
        (TOPIC, _id(3)): lambda now: broker.commit(of(_HALF, COMMITTED), now),
        (_HALF, _id(4)): lambda now: broker.send_half(ROLLED_BACK, GROUP, QUEUE, _BORN, client, now),
        (_SCHEDULE, _id(1)): lambda now: broker.send_back(of(TOPIC, PLAIN), GROUP, now, 1),
        (f"%RETRY%{GROUP}", _id(1)): lambda now: broker.deliver(of(_SCHEDULE, PLAIN), now),
        (f"%DLQ%{GROUP}", _id(1)): lambda now: broker.send_back(of(TOPIC, PLAIN), GROUP, now, -1),
        (TOPIC, first): lambda now: broker.send_batch(BATCH, BATCH_ID, QUEUE, _BORN, client, now),
        (TOPIC, _id(9)): lambda now: broker.send_batch(OLD_BATCH, None, QUEUE, _BORN, client, now),
    }
    while len(done) < len(wanted):
        record = wanted[len(done)]
        known = record.topic != _NOTE
        put = steps.pop((record.topic, record.uniq_id))(record.store_timestamp) if known else note(record)
        done += put.records
    assert not steps, list(steps)
    return done
