"""The built-in example: 2,000 log lines with wraps, gaps, a restart and a shared fingerprint. The same every time."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from ipaddress import ip_address
from random import Random

from idcore.ids import clock as clocks
from idcore.ids.model import OffsetId, UniqId
from idcore.ids.origins import BrokerAddress
from idcore.simulate import printed

NAME = "example.log"
ZONE = clocks.parse_zone("+08:00")
START = datetime(2026, 10, 20, 9, 50, 13, 373000, ZONE)
END = START + timedelta(minutes=22, seconds=30)
GIB = 1 << 30
TOPIC = "OrderPaid"
PLAIN_SIZE = 91  # of a record with neither body, topic nor properties


@dataclass(frozen=True, slots=True)
class Producer:
    """One process of the example: from when, how many ids a second, and which counters are skipped."""

    host: str
    pid: int
    loader: int
    counter: int
    begin: float
    ids: int
    pace: float
    gap_at: int = -1
    gap: int = 0
    go: bool = False
    others: int = 0  # ids that go to topics of other logs, between two of this one


PRODUCERS = (
    Producer("10.42.3.17", 27515, 0x18B4AAC2, 40_960, 0, 720, 1.8, others=360),
    Producer("10.42.3.18", 9077, 0x14DAD5DC, 11_800, 20, 290, 1.6, gap_at=120, gap=61),
    Producer("10.42.3.18", 9077, 0x14DAD5DC, 0, 560, 260, 1.9),  # restarted with the same pid: a container
    Producer("172.17.0.2", 1, 0x251A69D7, 2_000, 5, 240, 4.9),  # two containers with one fingerprint
    Producer("172.17.0.2", 1, 0x251A69D7, 31_400, 180, 200, 4.6, gap_at=90, gap=5),
    Producer("10.42.7.9", 8, 0, 1, 60, 110, 9.0, go=True),
    Producer("2001:db8:12::42", 611, 0x30946E09, 9_000, 300, 90, 8.5),
)
BROKERS = (
    ("broker-a", "10.42.9.1", 10911, 412 * GIB + 77_120_004, 6),
    ("broker-b", "10.42.9.2", 10911, 96 * GIB + 901_777, 3),
)


def _events() -> Iterator[tuple[float, str, int]]:
    """When each id was generated, its text, and bornTimestamp."""
    month = clocks.month_of(START.year, START.month, ZONE)
    for number, producer in enumerate(PRODUCERS):
        random = Random(number)
        seconds, counter = producer.begin, producer.counter
        for place in range(producer.ids):
            seconds += producer.pace * random.uniform(0.2, 1.8)
            counter += 1 + (producer.gap if place == producer.gap_at else 0) + random.randint(0, producer.others)
            born = clocks.to_ms(START) + round(seconds * 1000)
            elapsed = born - month.start_ms
            if producer.go:
                elapsed -= elapsed % 1000
            text = str(UniqId.of(producer.host, producer.pid, producer.loader, elapsed, (counter - 1) % 65_536))
            yield seconds, text[:-12] + text[-12:].lower() if producer.go else text, born


@dataclass(frozen=True, slots=True)
class Stored:
    """Where a message was stored."""

    broker: str
    address: BrokerAddress
    queue: int
    queue_offset: int
    offset: int

    @property
    def offset_id(self) -> str:
        """Its offsetMsgId."""
        return str(OffsetId.of(self.address.host, self.address.port, self.offset))


@dataclass(frozen=True, slots=True)
class Message:
    """One message of the example: when its SendResult was logged, its msgId, where it is, and where it is again."""

    at: datetime
    text: str
    born: int
    stored: Stored
    again: Stored | None = None


@cache
def messages() -> tuple[Message, ...]:
    """The messages of the example in order of time."""
    random = Random(42)
    offsets = [start for _, _, _, start, _ in BROKERS]
    queues: Counter[tuple[int, int]] = Counter()
    sent = []
    for rank, (seconds, text, born) in enumerate(sorted(_events())):
        at = START + timedelta(seconds=seconds, milliseconds=random.randint(1, 9))
        place = 0 if random.random() < 0.6 else 1
        broker, host, port, _, files = BROKERS[place]
        offsets[place] += random.randint(1, round(2 * files * GIB / 1150)) // 4 * 4
        queues[place, rank % 4] += 1
        stored = Stored(broker, BrokerAddress(host, port), rank % 4, 41_000 + queues[place, rank % 4], offsets[place])
        again = None
        if rank % 325 == 70:
            offsets[place] += 764
            queues[place, rank % 4] += 1
            again = replace(stored, queue_offset=stored.queue_offset + 1, offset=offsets[place])
        sent.append(Message(at, text, born, stored, again))
    return tuple(sent)


def _line(at: datetime, level: str, thread: str, text: str) -> str:
    return f"{at:%Y-%m-%d %H:%M:%S}.{at.microsecond // 1000:03d} +0800 {level:<5} [{thread}] {text}"


@cache
def lines() -> tuple[str, ...]:
    """The lines of the example in order of time."""
    texts = []
    for rank, message in enumerate(messages()):
        at, thread = message.at, f"order-{rank % 8}"
        if rank % 12 == 5:
            texts.append(_line(at, "INFO", f"consume-{rank % 4}", _received(message, rank)))
        else:
            texts.append(_line(at, "INFO", thread, f"send ok {_sent(message.text, message.stored)}"))
        if rank % 25 == 9:
            trace = hashlib.md5(str(rank).encode(), usedforsecurity=False).hexdigest()
            texts.append(_line(at, "INFO", thread, f"http 200 /pay traceId={trace}"))
        if message.again is not None:
            broker = message.stored.broker
            texts.append(_line(at, "WARN", thread, f"order not confirmed in time, sent again, broker {broker}"))
            texts.append(_line(at, "INFO", thread, f"send ok {_sent(message.text, message.again)}"))
    return tuple(texts)


def producers() -> str:
    """The producers' log of the example: a SendResult for each message."""
    sends = ((message.at, rank, _sent(message.text, message.stored)) for rank, message in enumerate(messages()))
    return "".join(_line(at, "INFO", f"order-{rank % 8}", f"send ok {sent}") + "\n" for at, rank, sent in sends)


def consumers() -> str:
    """The consumers' log of the same messages: one queue stands still for minutes, and a few others lack."""
    stands = START + timedelta(minutes=8), START + timedelta(minutes=13)
    texts = []
    for rank, message in enumerate(messages()):
        is_stuck = message.stored.broker == "broker-b" and message.stored.queue == 2
        if (is_stuck and stands[0] <= message.at < stands[1]) or rank % 480 == 111:
            continue
        thread, at = f"ConsumeMessageThread_orders_{rank % 4}", message.at + timedelta(milliseconds=4)
        texts.append(_line(at, "INFO", thread, _received(message, rank)))
    return "\n".join(texts) + "\n"


def _sent(text: str, stored: Stored) -> str:
    """The SendResult of a message, as its client prints it: the Go client has ids in lower case."""
    show = printed.java_send_result if text == text.upper() else printed.go_send_result
    return show(text, stored.offset_id, TOPIC, stored.broker, stored.queue, stored.queue_offset)


def _received(message: Message, rank: int) -> str:
    """The MessageExt of a message: its msgId is the offsetMsgId, the client's own is in UNIQ_KEY."""
    text, born, stored = message.text, message.born, message.stored
    key = f"o-{90_000 + rank}"
    properties = {"KEYS": key, "UNIQ_KEY": text, "CLUSTER": "DefaultCluster", "WAIT": "true"}
    kept = sum(len(name) + len(value) + 2 for name, value in properties.items())
    body = f'{{"order":"{key}","paid":true}}'.encode()
    local: dict[str, object] = {"MIN_OFFSET": 0, "MAX_OFFSET": stored.queue_offset + 1, "CONSUME_START_TIME": born + 6}
    return printed.message_ext(
        broker=stored.broker,
        queue=stored.queue,
        size=PLAIN_SIZE + len(body) + len(TOPIC) + kept,
        queue_offset=stored.queue_offset,
        born_ms=born,
        born_host=f"{_born_host(text)}:{51_000 + rank % 700}",
        stored_ms=born + 3,
        store_host=str(stored.address),
        offset_id=stored.offset_id,
        physical_offset=stored.offset,
        topic=TOPIC,
        properties=local | properties,
        body=body,
    )


def _born_host(text: str) -> str:
    """The address a broker sees: the producer's own, or the host's for a container and for IPv6."""
    host = str(ip_address(bytes.fromhex(text[:8]))) if len(text) == 32 else "10.42.12.42"
    return "10.42.5.6" if host.startswith("172.17.") else host


def log() -> str:
    """The whole example."""
    return "\n".join(lines()) + "\n"


def send_result() -> str:
    """One SendResult line, printed by a real client (RocketMQ 4.3.2 in a Docker bridge network)."""
    return (
        "SendResult [sendStatus=SEND_OK, msgId=AC110001473C7D4991AD336AEA5703E0, "
        "offsetMsgId=AC11000100002A9F00000000000E8580, messageQueue=MessageQueue [topic=TopicTest, brokerName=itcast, "
        "queueId=3], queueOffset=1323]"
    )


def consumed() -> str:
    """One MessageExt line, printed by a real consumer: `msgId` is the offsetMsgId, UNIQ_KEY the client's own."""
    return (
        "ConsumeMessageThread_2 Receive New Messages: [MessageExt [brokerName=centos, queueId=0, storeSize=192, "
        "queueOffset=145, sysFlag=0, bornTimestamp=1634734558909, bornHost=/192.168.146.128:33198, "
        "storeTimestamp=1634734558910, storeHost=/192.168.146.128:10911, msgId=C0A8928000002A9F000000000001B352, "
        "commitLogOffset=111442, bodyCRC=953417484, reconsumeTimes=0, preparedTransactionOffset=0, "
        "toString()=Message{topic='TopicTest', flag=0, properties={MIN_OFFSET=0, MAX_OFFSET=250, "
        "CONSUME_START_TIME=1634734753329, UNIQ_KEY=7F0000011BE34AA298B76656B6BD0245, CLUSTER=DefaultCluster, "
        "TAGS=TagA}, body=[72, 101, 108, 108, 111, 32, 82, 111, 99, 107, 101, 116, 77, 81, 32, 53, 56, 49], "
        "transactionId='null'}]]"
    )


def incident() -> str:
    """Some 90 lines around the wrap of the busiest process: trace ids, two containers under one fingerprint."""
    busiest = [place for place, line in enumerate(lines()) if "msgId=0A2A03116B7B" in line]
    counters = [int(lines()[place].split("msgId=")[1][28:32], 16) for place in busiest]
    middle = next(
        place for place, before, after in zip(busiest[1:], counters, counters[1:], strict=False) if after < before
    )
    return "\n".join(lines()[max(0, middle - 45) : middle + 45])


def now() -> datetime:
    """The example's own "now", so that its month stays the same whenever it is loaded."""
    return END.astimezone(UTC)


SHORT = {"send_result": send_result, "consumed": consumed, "incident": incident}  # what a box takes


COMPARED = {"producers.log": producers, "consumers.log": consumers}  # what Compare shows


def text_of(name: str) -> tuple[str, datetime | None]:
    """An example by its name, and the "now" of those that have one: the long one, unless it is a short one."""
    dated = name not in ("send_result", "consumed")
    return SHORT.get(name, log)(), now() if dated else None


# One id of each kind, for the anatomy page.
SAMPLES = {
    "uniq": "AC110001473C7D4991AD336AEA5703E0",
    "offset": "AC11000100002A9F00000000000E8580",
    "client": "0108719066FF9A12670AC62EB100000007",
}
