"""A small cluster's traffic from a seed, played to a broker: sends, retries, delays, transactions, batches."""

from __future__ import annotations

import heapq
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from typing import Any

from idcore.ids.clock import to_ms
from idcore.rocketmq.message import Host, Message, MessageBatch, Record, compress
from idcore.rocketmq.message.flags import Compression, compression_bits
from idcore.rocketmq.message.model import RETRY_PREFIX
from idcore.simulate.broker import Broker
from idcore.simulate.generate import Generator
from idcore.simulate.writer import PutResult

TOPICS = ("OrderPaid", "OrderShipped", "UserSignedUp", "StockChanged")
_TAGS = ("created", "paid", "shipped", "cancelled", "退款")
_QUEUES = 4
_GROUP = "order_consumer"
# Long enough that %RETRY% and this name take a record of version 2.
_LONG_GROUP = "settlement_consumer_" + "of_the_second_data_centre_" * 4
_LISTED_MOST = 20_000
_FIRST_MOST = 400
_COMPRESSIONS: tuple[Compression, ...] = ("zlib", "lz4", "zstd")
_ACTS = (
    ("plain", 70),
    ("packed", 6),
    ("producer_retry", 4),
    ("delay", 5),
    ("transaction", 5),
    ("batch", 4),
    ("batch_4x", 2),
    ("consumer_retry", 4),
)


@dataclass(slots=True)
class _Process:
    """A producing process: its ids, and the address its connection has."""

    generator: Generator
    host: Host


@dataclass(slots=True)
class Traffic:
    """Plays `count` messages; `truth()` returns afterwards what was put in. The same seed gives the same bytes."""

    broker: Broker
    seed: int
    start: datetime
    zone: tzinfo
    _now: int = 0
    _waiting: list[tuple[int, int, Callable[[], None]]] = field(default_factory=list)
    _listed: list[dict[str, Any]] = field(default_factory=list)
    first: list[Record] = field(default_factory=list)  # some that were simply sent, for consumers that fail
    _acts: Counter[str] = field(default_factory=Counter)
    _records: Counter[tuple[str, int]] = field(default_factory=Counter)
    _sent: int = 0
    _order: int = 0

    def play(self, count: int) -> None:
        """Sends so many messages, and lives on until every delayed copy is delivered."""
        rng = random.Random(self.seed)
        self._now = to_ms(self.start)
        processes = [
            _Process(
                Generator(lambda: self._now, self.zone, f"10.20.3.{11 + at}", rng.randrange(300, 32_000), loader),
                Host(bytes([10, 20, 3, 11 + at]), rng.randrange(32_768, 61_000)),
            )
            for at, loader in enumerate((0x18B4AAC2, 0x14DAD5DC, 0x764C12B6))
        ]
        names, weights = zip(*_ACTS, strict=True)
        while self._sent < count:
            self._pass(rng.randrange(1, 40))
            act = rng.choices(names, weights)[0]
            process = rng.choice(processes)
            left = count - self._sent
            if act in ("batch", "batch_4x"):
                self._batch(rng, process, act, min(left, rng.randrange(2, 6)))
            else:
                self._one(rng, process, act)
        while self._waiting:
            self._pass(max(1, self._waiting[0][0] - self._now))

    @property
    def now(self) -> int:
        """The instant of the last thing that happened."""
        return self._now

    def note(self, record: Record) -> None:
        """Counts a record that others have put into the store."""
        self._records[record.topic, record.queue_id] += 1

    def _pass(self, milliseconds: int) -> None:
        """Time goes on; what falls due meanwhile happens first."""
        until = self._now + milliseconds
        while self._waiting and self._waiting[0][0] <= until:
            self._now, _, happen = heapq.heappop(self._waiting)
            happen()
        self._now = until

    def _later(self, instant: int, happen: Callable[[], None]) -> None:
        self._order += 1
        heapq.heappush(self._waiting, (max(instant, self._now), self._order, happen))

    def _message(self, rng: random.Random, process: _Process) -> Message:
        self._sent += 1
        number = self._sent
        keys = [f"order-{100_000 + number}"] + ([f"user-{rng.randrange(500)}"] if rng.random() < 0.5 else [])
        body = f'{{"order":{100_000 + number},"amount":{rng.randrange(1, 99_999) / 100:.2f},"note":"第{number}单"}}'
        message = Message.of(rng.choice(TOPICS), body.encode(), rng.choice(_TAGS), keys, flag=rng.choice((0, 0, 0, 7)))
        return message.with_uniq_id(process.generator.create_uniq_id())

    def _one(self, rng: random.Random, process: _Process, act: str) -> None:
        message = self._message(rng, process)
        queue_id, born = rng.randrange(_QUEUES), self._now
        entry = self._entry(act, message)
        if act == "transaction":
            half = self._put(
                entry, self.broker.send_half(message, "order_producer", queue_id, born, process.host, born)
            )
            commit = rng.random() < 0.7
            entry["act"] = "transaction_commit" if commit else "transaction_rollback"
            self._later(born + rng.randrange(5, 3_000), lambda: self._end(entry, half[0], commit))
        elif act == "delay":
            message = message.with_delay_level(rng.randrange(1, 4))
            delayed = self._put(entry, self.broker.send(message, queue_id, born, process.host, born))
            self._deliver_later(entry, delayed[0])
        elif act == "packed":
            kind = rng.choice(_COMPRESSIONS)
            plain = (message.body or b"") * 60
            packed = Message(message.topic, compress(kind, plain), message.flag, message.properties)
            bits = compression_bits(kind)
            self._put(entry, self.broker.send(packed, queue_id, born, process.host, born, bits))
        else:
            put = self._put(entry, self.broker.send(message, queue_id, born, process.host, born))
            if act == "plain" and len(self.first) < _FIRST_MOST:
                self.first += put
            if act == "producer_retry":  # the answer was lost: the same message once more, to another queue
                again = born + 3_000
                self._later(again, lambda: self._retry(entry, message, (queue_id + 1) % _QUEUES, born, process.host))
            elif act == "consumer_retry":
                group = _LONG_GROUP if rng.random() < 0.3 else _GROUP
                if len(f"{RETRY_PREFIX}{group}") > self.broker.line.retry_topic_most:
                    group = _GROUP
                times = rng.choice((1, 1, 2))
                self._later(born + rng.randrange(50, 900), lambda: self._back(entry, put[0], group, times))

    def _batch(self, rng: random.Random, process: _Process, act: str, size: int) -> None:
        messages = [self._message(rng, process) for _ in range(size)]
        same = [Message(messages[0].topic, m.body, m.flag, m.properties) for m in messages]
        batch = MessageBatch.of_messages(same)
        batch_id = process.generator.create_uniq_id() if act == "batch" else None
        born = self._now
        entries = [self._entry(act, message) for message in same]
        put = self.broker.send_batch(batch, batch_id, rng.randrange(_QUEUES), born, process.host, born)
        for entry, record in zip(entries, put.records, strict=True):
            entry["batch_id"] = batch_id if self.broker.line.adds_to_batches else None
            self._note(entry, record)

    def _retry(self, entry: dict[str, Any], message: Message, queue_id: int, born: int, host: Host) -> None:
        self._put(entry, self.broker.send(message, queue_id, born, host, self._now))

    def _end(self, entry: dict[str, Any], half: Record, commit: bool) -> None:
        done, note = self.broker.end_transaction(half, commit, self._now)
        if done is not None:
            self._put(entry, done)
        for record in note.records:
            self._records[record.topic, record.queue_id] += 1

    def _deliver_later(
        self, entry: dict[str, Any], delayed: Record, then: Callable[[Record], None] | None = None
    ) -> None:
        def deliver() -> None:
            (record,) = self._put(entry, self.broker.deliver(delayed, self._now))
            if then:
                then(record)

        self._later(self.broker.due(delayed), deliver)

    def _back(self, entry: dict[str, Any], record: Record, group: str, times: int) -> None:
        (delayed,) = self._put(entry, self.broker.send_back(record, group, self._now, 1))
        if times > 1:
            self._deliver_later(entry, delayed, lambda copy: self._dead(entry, copy, group))
        else:
            self._deliver_later(entry, delayed)

    def _dead(self, entry: dict[str, Any], record: Record, group: str) -> None:
        if len(group) + len("%DLQ%") < 128:  # a broker rejects a longer dead letter topic
            self._put(entry, self.broker.send_back(record, group, self._now, -1))

    # the truth

    def _entry(self, act: str, message: Message) -> dict[str, Any]:
        self._acts[act] += 1
        entry: dict[str, Any] = {
            "msg_id": message.uniq_id,
            "act": act,
            "topic": message.topic,
            "tags": message.tags,
            "keys": message.keys,
            "copies": [],
        }
        if len(self._listed) < _LISTED_MOST:
            self._listed.append(entry)
        return entry

    def _put(self, entry: dict[str, Any], put: PutResult) -> tuple[Record, ...]:
        for record in put.records:
            self._note(entry, record)
        return put.records

    def _note(self, entry: dict[str, Any], record: Record) -> None:
        self._records[record.topic, record.queue_id] += 1
        entry["copies"].append(
            {
                "offset_msg_id": str(record.offset_id),
                "topic": record.topic,
                "queue_id": record.queue_id,
                "queue_offset": record.queue_offset,
                "commit_log_offset": record.physical_offset,
                "store_timestamp": record.store_timestamp,
            }
        )

    def truth(self) -> dict[str, Any]:
        """What was put in: counts by topic and queue, and the first messages with every copy."""
        return {
            "messages": self._sent,
            "records": sum(self._records.values()),
            "end": self.broker.writer.end,
            "acts": dict(sorted(self._acts.items())),
            "queues": [
                {"topic": topic, "queue_id": queue_id, "messages": count}
                for (topic, queue_id), count in sorted(self._records.items())
            ],
            "listed": len(self._listed),
            "sent": self._listed,
        }
