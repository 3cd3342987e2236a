"""Ids that real clients made, with what is known of each, and the lines they would print. Judges none."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from idcore.ids.clock import from_ms

ROWS = Path(__file__).resolve().parent.parent / "vectors" / "real-clients.jsonl.gz"
Row = dict[str, Any]

# What may have made the ids of a client, as codes of idcore.ids.words; the first words of the client's name.
MAKERS = {
    "Java remoting": ("java",),
    "Java gRPC": ("grpc",),
    "Python remoting": ("java",),
    "C++": ("cpp",),
    "Go remoting": ("go",),
    "Go gRPC": ("grpc",),
    "Node.js gRPC": ("grpc",),
    "Node.js remoting": ("broker",),
    "Python gRPC": ("grpc",),
    "Rust gRPC": ("grpc_rust",),
    "Rust remoting": ("rust_mxsm",),
    "Broker": ("java",),
}


@cache
def rows() -> tuple[Row, ...]:
    """All rows that have a msgId."""
    with gzip.open(ROWS, "rt", encoding="utf-8") as lines:
        found = [json.loads(line) for line in lines]
    return tuple(row for row in found if row["msg_id"] and row["kind_expected"])


@cache
def processes() -> dict[tuple[str, str, int, str], list[Row]]:
    """The rows of each process."""
    found: dict[tuple[str, str, int, str], list[Row]] = defaultdict(list)
    for row in rows():
        found[row["client"], row["version"], row["process_pid"], row["at"]].append(row)
    return found


def makers(row: Row) -> tuple[str, ...]:
    """What the maker's code begins with."""
    return next(codes for name, codes in MAKERS.items() if row["client"].startswith(name))


def sent_ms(row: Row) -> int:
    """When it was made: as the client itself says, where it does, else right before the send."""
    born = row["born_ms"]
    return born if born is not None and abs(born - row["sent_at_ms"]) < 10_000 else row["sent_at_ms"]


def at(row: Row) -> datetime:
    return datetime.fromisoformat(row["at"])


def wall(milliseconds: int, zone: str) -> str:
    return f"{from_ms(milliseconds, ZoneInfo(zone)):%Y-%m-%d %H:%M:%S,%f}"[:-3]


def sent_line(row: Row) -> str:
    """As a producer's log has it, in its own time."""
    offset = row["offset_msg_id"] or "null"
    return (
        f"{wall(sent_ms(row) + 7, row['zone'])} INFO [main] o.a.r.c.p.DefaultMQProducer - SendResult "
        f"[sendStatus=SEND_OK, msgId={row['msg_id']}, offsetMsgId={offset}, messageQueue=MessageQueue "
        f"[topic=T, brokerName=b, queueId=1], queueOffset=1]"
    )


def received_line(row: Row, number: int) -> str:
    """As a consumer's log has it, in UTC."""
    born = sent_ms(row)
    offset = row["offset_msg_id"] or f"C0A8010A00002A9F{number * 512 + 77:016X}"
    return (
        f"{wall(born + 40, 'UTC')} INFO [ConsumeMessageThread_g_1] c.Listener - MessageExt [brokerName=b, queueId=1, "
        f"storeSize=300, queueOffset=1, sysFlag=0, bornTimestamp={born}, bornHost=/192.0.2.2:1000, "
        f"storeTimestamp={born + 1}, storeHost=/127.0.0.1:24848, msgId={offset}, commitLogOffset=1, bodyCRC=1, "
        f"reconsumeTimes=0, preparedTransactionOffset=0, toString()=Message{{topic='T', flag=0, "
        f"properties={{UNIQ_KEY={row['uniq_key'] or row['msg_id']}}}, body=[], transactionId='null'}}]"
    )


def singles(some: list[Row]) -> Iterator[Row]:
    """Rows that are no item of a batch."""
    return (row for row in some if not row["note"].startswith("batch"))


def near(text: str | None, row: Row, slack: timedelta = timedelta(seconds=3)) -> bool:
    """Whether a time is that of the row."""
    return text is not None and abs(datetime.fromisoformat(text) - from_ms(sent_ms(row))) <= slack
