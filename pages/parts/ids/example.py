"""The built-in example: 2,000 log lines with wraps, gaps, a restart and a shared fingerprint. The same every time."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from random import Random

from idcore.ids import clock as clocks
from idcore.ids.model import OffsetId, UniqId

NAME = "example.log"
ZONE = clocks.parse_zone("+08:00")
START = datetime(2026, 10, 20, 9, 50, 13, 373000, ZONE)
END = START + timedelta(minutes=22, seconds=30)
MIB, GIB = 1 << 20, 1 << 30


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


def _events() -> Iterator[tuple[float, str, int | None]]:
    """When each id was made, its text, and bornTimestamp."""
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


@cache
def lines() -> tuple[str, ...]:
    """The lines of the example in order of time."""
    random = Random(42)
    offsets = [start for _, _, _, start, _ in BROKERS]
    made = []
    for rank, (seconds, text, born) in enumerate(sorted(_events())):
        at = START + timedelta(seconds=seconds, milliseconds=random.randint(1, 9))
        head = f"{at:%Y-%m-%d %H:%M:%S}.{at.microsecond // 1000:03d} +0800"
        thread = f"[order-{rank % 8}]"
        place = 0 if random.random() < 0.6 else 1
        broker, host, port, _, files = BROKERS[place]
        offsets[place] += random.randint(1, round(2 * files * GIB / 1150)) // 4 * 4
        offset = str(OffsetId.of(host, port, offsets[place]))
        queue = f"MessageQueue [topic=OrderPaid, brokerName={broker}, queueId={rank % 4}]"
        send = f"msgId={text}, offsetMsgId={offset}, messageQueue={queue}, queueOffset={41_000 + rank}"
        if rank % 12 == 5:
            record = message_ext(text, offset, born, broker, f"{host}:{port}", rank)
            made.append(f"{head} INFO  [consume-{rank % 4}] handled {record}")
        else:
            made.append(f"{head} INFO  {thread} send ok SendResult [sendStatus=SEND_OK, {send}]")
        if rank % 25 == 9:
            trace = hashlib.md5(str(rank).encode(), usedforsecurity=False).hexdigest()
            made.append(f"{head} INFO  {thread} http 200 /pay traceId={trace}")
        if rank % 130 == 70:
            made.append(f"{head} WARN  {thread} sendDefaultImpl exception, resend at once: timeout, broker {broker}")
            again = str(OffsetId.of(host, port, offsets[place] + 764))
            made.append(
                f"{head} INFO  {thread} send ok SendResult [sendStatus=SEND_OK, msgId={text}, offsetMsgId={again}, "
                f"messageQueue={queue}, queueOffset={41_001 + rank}]"
            )
    return tuple(made)


def message_ext(text: str, offset: str, born: int | None, broker: str, address: str, rank: int) -> str:
    """A record as MessageExt.toString prints it: its msgId is the offset id, the client's own stands in UNIQ_KEY."""
    return (
        f"MessageExt [brokerName={broker}, queueId={rank % 4}, storeSize=764, queueOffset={41_000 + rank}, sysFlag=0, "
        f"bornTimestamp={born}, bornHost=/10.42.3.17:51710, storeTimestamp={(born or 0) + 3}, storeHost=/{address}, "
        f"msgId={offset}, bodyCRC=613185359, reconsumeTimes=0, toString()=Message{{topic='OrderPaid', flag=0, "
        f"properties={{MIN_OFFSET=0, MAX_OFFSET={41_900 + rank}, KEYS=o-{90_000 + rank}, UNIQ_KEY={text}}}}}]"
    )


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
    """One MessageExt line, printed by a real consumer: `msgId` is the offset id, UNIQ_KEY the client's own."""
    return (
        "ConsumeMessageThread_2 Receive New Messages: [MessageExt [brokerName=centos, queueId=0, storeSize=192, "
        "queueOffset=145, sysFlag=0, bornTimestamp=1634734558909, bornHost=/192.168.146.128:33198, "
        "storeTimestamp=1634734558910, storeHost=/192.168.146.128:10911, msgId=C0A8928000002A9F000000000001B352, "
        "commitLogOffset=111442, bodyCRC=953417484, reconsumeTimes=0, preparedTransactionOffset=0, "
        "toString()=Message{topic='TopicTest', flag=0, properties={MIN_OFFSET=0, MAX_OFFSET=250, "
        "UNIQ_KEY=7F0000011BE34AA298B76656B6BD0245, CLUSTER=DefaultCluster, TAGS=TagA}}]]"
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


# One id of each kind, for the anatomy page.
SAMPLES = {
    "uniq": "AC110001473C7D4991AD336AEA5703E0",
    "offset": "AC11000100002A9F00000000000E8580",
    "client": "0108719066FF9A12670AC62EB100000007",
}
