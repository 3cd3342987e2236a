"""Made logs whose messages are printed over several lines, as mqadmin and programs do. Imports nothing it tests."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta, timezone

from tests.scan.logs import JAVA, Log, joined, offset, uniq
from tests.scan.logs_of_dates import elapsed_in

EAST = timezone(timedelta(hours=8))


def records(seed: int, count: int = 130, days: int = 5) -> Log:
    """Records with their time in front, behind, far away, or of another record; traces, lists and blanks between.

    Some are so many days older than those around them.
    """
    r = random.Random(seed)
    begun = datetime(2026, 1, 31, 12, tzinfo=UTC) + timedelta(hours=r.randrange(-3, 30))
    made: list[str] = []
    for number in range(count):
        sent = begun + timedelta(days=-r.choice((0, 0, 0, days)), seconds=number * 633, milliseconds=r.randrange(1000))
        pid = r.randrange(1, 9)
        one = uniq(0x0A000001 + pid % 2, pid, JAVA, elapsed_in(sent, (480, 0, 345)[pid % 3]), number)
        where = offset(0x0B000001 + pid % 2, 10911, number * 1000)
        born = int(sent.timestamp() * 1000) + r.choice((0, 0, 1, 999, 1001, 40_000_000))
        made += r.choice((mqadmin, message_ext, pretty, entry, bare, far, cells, flat))(r, one, where, born)
        made += r.choice(
            ([], [], [""], [" \t"], ["\x00"], ["    at com.acme.Order.send(Order.java:12)"] * r.randrange(60))
        )
    return Log(f"records {seed}", joined(made))


def wall(born: int, zone: timezone = EAST) -> str:
    at = datetime.fromtimestamp(born / 1000, zone)
    return f"{at:%Y-%m-%d %H:%M:%S},{at.microsecond // 1000:03d}"


def mqadmin(r: random.Random, one: str, where: str, born: int) -> list[str]:
    return [
        f"OffsetID:            {where}",
        "Topic:               order_paid",
        "CommitLog Offset:    88123456789",
        f"Born Timestamp:      {wall(born)}",
        f"Store Timestamp:     {wall(born + r.choice((3, 86_400_000 * 40)))}",
        "Born Host:           10.61.7.15:40122",
        f"Properties:          {{KEYS=o-7781, UNIQ_KEY={one}, WAIT=true}}",
        f"Message Body Path:   /tmp/rocketmq/msgbodys/{one}",
    ]


def message_ext(r: random.Random, one: str, where: str, born: int) -> list[str]:
    mark = r.choice(("bornTimestamp=", '"bornTimestamp" : ', "born_timestamp: ", "storeTimestamp=", "STORE_TIME: "))
    lines = [
        f"    {mark}{born}{r.choice((',', '', 'L', ' bornTimestamp=1769999999999'))}",
        f"    msgId={where},",
        f"    CONSUME_START_TIME={born + r.choice((40, 7_000, 9_000_000))},",
        f"    UNIQ_KEY={one},",
    ]
    if r.random() < 0.3:
        r.shuffle(lines)
    return [r.choice(("receive ->[MessageExt [", f"{wall(born)} receive")), *lines, "]]"]


def pretty(r: random.Random, one: str, where: str, born: int) -> list[str]:
    at = datetime.fromtimestamp(born / 1000, UTC)
    fields = [f'  "msgId": "{one}",', f'  "offsetMsgId": "{where}",', '  "body": "x"']
    styles = (
        f"{at:%Y-%m-%dT%H:%M:%S}.{at.microsecond // 1000:03d}Z",
        f"{at:%Y%m%dT%H%M%S}Z",
        f"{at:%d/%b/%Y:%H:%M:%S} +0000",
        f"{at:%d/%m/%Y %H:%M:%S}",
    )
    fields.insert(r.randrange(4), f'  "time": "{r.choice(styles)}",')
    return ["{", *fields, "}"]


def cells(r: random.Random, one: str, where: str, born: int) -> list[str]:
    """A row of a page, one cell a line."""
    row = [one, "TagA", f"order-{born % 1000}", r.choice((wall(born + 3)[:19], wall(born + 5_000_000)[:19])), "DETAIL"]
    if r.random() < 0.3:
        row.insert(0, r.choice((where, row[3], one, "Message ID")))
    return row


def flat(r: random.Random, one: str, where: str, born: int) -> list[str]:
    """A record of fields, its time behind the ID or in front of it; nothing ends it."""
    fields = [f"{r.choice(('msgId', 'Message ID'))}: {one}", "topic: order_paid"]
    name, late = (
        r.choice(("consumeTime", "time", "created", "sendTime")),
        r.choice((3, 7_000, 3_600_000, 90_000_000, 200_000_000)),
    )
    fields.insert(r.choice((0, 1, 2, 2, 2)), f"{name}: {wall(born + late)[:19]}")
    return fields


def entry(r: random.Random, one: str, where: str, born: int) -> list[str]:
    """An entry that goes on without a time."""
    filler = ["    at com.acme.Order.send(Order.java:12)"] * r.randrange(5)
    front = r.choice((wall(born + 5), wall(born + 5_000_000), f"[{wall(born, UTC)}Z]", "no time"))  # type: ignore[arg-type]
    return [f"{front} INFO sent", *filler, f"  result msgId={one}, offsetMsgId={where}", "  done"]


def bare(r: random.Random, one: str, where: str, born: int) -> list[str]:
    return [r.choice((one, f"{one},{where}", f"- {one}", f"id {one}", f"12:30 {one}"))] * r.randrange(1, 3)


def far(r: random.Random, one: str, where: str, born: int) -> list[str]:
    """A time at the edge of what is reached, in bytes or lines."""
    size = r.choice((8_140, 8_160, 8_170, 8_180, 8_186, 8_187, 8_188, 8_189, 8_190, 8_191, 8_192, 8_193, 8_200))
    between = ["x" * size] if r.random() < 0.7 else ["about 10:91"] * r.choice((14, 15, 16, 17))
    line, time = f"msgId={one}", f"{wall(born)} x"
    return [time, *between, line] if r.random() < 0.5 else [line, *between, time]
