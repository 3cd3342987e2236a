"""What the lines of a scan say of deliveries: looked for in the texts that `lines` reads, and the table of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, tzinfo
from functools import lru_cache
from typing import NamedTuple

import pyarrow as pa

from idcore.base.encodings import text_of
from idcore.ids.clock import from_ms, to_ms, wall_ms
from idcore.ids.delivery import DEAD_PREFIX, EVENTS, Delivery, DeliveryReader
from idcore.ids.identify import identify
from idcore.scan.line_search import place_of
from idcore.scan.schemas import SCHEMAS

# Lines that are read: each takes some 100 microseconds. Of a large input, of which only pieces are seen, fewer.
MOST_LINES, MOST_LINES_OF_PIECES = 10_000, 500
# A text without one of these has no such line; bytes.find is a hundred times as fast as a pattern.
_WORDS = (
    *(
        b"onsum",
        b"eceiv",
        b"ckMessage",
        b"ck message",
        b"MessageTrack",
        b"POP_CK",
        b"eceipt",
        b"RetryTimes[",
        b"eliver",
    ),
    *(
        b"essageThread_",
        b"MessageListener",
        b"CONSUME",
        b"expire msg back",
        b"djEg",
        b"essage back",
        b"ailedMessage=",
        b"SubAfter",
        b"SubBefore",
        b"DLQ",
        b"dlq",
        b"ead letter",
        b"ead-letter",
        b"%RETRY%",
        b"kip",
        b"recv",
        b"\\u6d88",
    ),
    *(b"NOT_AVAILABLE", b"_TIMEOUT", b"sendStatus=1", b"sendStatus=2", b"sendStatus=3"),
    *(
        word.encode(name)
        for word in (
            "消费",
            "收到",
            "接收",
            "跳过",
            "重复",
            "忽略",
            "处理",
            "幂等",
            "丢弃",
            "死信",
            "听到",
            "取到",
            "接到",
            "ack成功",
            "ACK成功",
            "ack失败",
            "ACK失败",
        )
        for name in ("utf-8", "gbk")
    ),
    *(b"rocess", b"andl", b"uplicate", b"nack", b"nMessage", b"ommitMessage", b"gnor", b"iscard", b"een consumed"),
    *(b"ack suc", b"ACK suc", b"Ack suc", b"ack fail", b"ACK fail", b"Ack fail", b"ack ok", b"acked ", b"to ack"),
    *(b"SUSPEND_CURRENT", b"ulled ", b"olled ", b"etched ", b"got ", b"Got ", b"Get "),
)
# What mqadmin tells of a group that has passed a message. What it tells of others is no event: the status says it.
_TRACKED = {"CONSUMED": "received"}


class DeliveryClaim(NamedTuple):
    """What a line says, and where it is: its file, and its number if all of the file in front of it was read."""

    file: str
    line: int | None
    delivery: Delivery

    @property
    def place(self) -> str:
        """As findings and tables write it."""
        return place_of(self.file, self.line)


class DeliveryLook:
    """Takes in pieces of texts, each with the number of lines in front of it; -1 where that is not known."""

    def __init__(self, whole: bool) -> None:
        self.told: list[DeliveryClaim] = []
        self._left = MOST_LINES if whole else MOST_LINES_OF_PIECES
        self._reader = DeliveryReader(sends=False)
        self._next: tuple[str, int] = ("", -1)
        self.bytes = 0  # of the texts that were read for it

    @property
    def is_full(self) -> bool:
        """Whether lines may have been left out because so many were read."""
        return self._left <= 0

    def take(self, file: str, first: int, text: bytes) -> None:
        """Reads the lines of a piece, as long as so many are left."""
        if self._next != (file, first):
            self.end()
        self._next = (file, first + text.count(b"\n")) if first >= 0 else ("", -1)
        if self._left <= 0 or not any(word in text for word in _WORDS):
            self.end()
            self.bytes += len(text) if self._left > 0 else 0
            return
        self.bytes += len(text)
        for number, line in enumerate(text_of(text).split("\n"), max(first, 0) + 1):
            self._keep(file, first >= 0, self._reader.line(number, line))
            if self._left <= 0:
                break

    def end(self) -> None:
        """The end of a text: nothing behind it belongs to its last record."""
        self._keep(self._next[0], self._next[1] >= 0, self._reader.end())
        self._reader = DeliveryReader(sends=False)

    def _keep(self, file: str, is_numbered: bool, deliveries: Iterator[Delivery]) -> None:
        for one in deliveries:
            self._left -= 1
            if _is_id(one.msg_id):
                self.told.append(DeliveryClaim(file, one.line if is_numbered else None, one))


@lru_cache(maxsize=4_096)
def _is_id(text: str) -> bool:
    return identify(text, "msgId", "any").best is not None


def table(deliveries: Sequence[DeliveryClaim], zone: tzinfo) -> pa.Table:
    """The table `deliveries`: what consumers' lines say; a time without a zone is read in `zone`."""
    rows = []
    for one in deliveries:
        delivery = one.delivery
        event = _TRACKED.get(delivery.status or "", "track") if delivery.event == "track" else delivery.event
        if event not in (*EVENTS, "track"):
            continue
        at = instant(delivery.time, zone)
        rows.append(
            {
                "msg_id": delivery.msg_id.upper(),
                "broker": delivery.broker,
                "queue_id": delivery.queue_id,
                "queue_offset": delivery.queue_offset,
                "physical_offset": delivery.physical_offset,
                "consumer_group": delivery.group,
                "try": None if delivery.tries is None else delivery.tries + 1,
                "event": event,
                "at": None if at is None else from_ms(at),
                "file": one.file,
                "line": one.line,
                "topic": delivery.topic,
                "stored_topic": None if delivery.stored_topic == DEAD_PREFIX else delivery.stored_topic,
                "thread": delivery.thread,
                "status": delivery.status,
            }
        )
    return pa.Table.from_pylist(rows, schema=SCHEMAS["deliveries"])


def instant(time: datetime | None, zone: tzinfo) -> int | None:
    """The time of a line, which may name no zone, in ms since 1970."""
    if time is None:
        return None
    return to_ms(time) if time.tzinfo is not None else wall_ms(time, zone)
