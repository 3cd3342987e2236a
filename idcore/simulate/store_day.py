"""Some hours of one broker with its consumer groups, from a seed: what it stores, and how far each group gets.

A group is in good health until a situation changes one of its fields. Nothing here decides what a reader should find.
"""

from __future__ import annotations

import heapq
import json
import random
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from pathlib import Path

from idcore.ids.clock import MINUTE_MS, to_ms
from idcore.rocketmq.message import Host, Message, Record
from idcore.rocketmq.message.model import RETRY_PREFIX
from idcore.simulate.broker import Broker
from idcore.simulate.generate import Generator
from idcore.simulate.writer import StoreWriter

_TOPICS = ("OrderPaid", "OrderShipped", "StockChanged", "UserSignedUp", "CouponIssued", "RefundDone")
_GROUPS = ("billing", "search_index", "risk_check", "mail", "warehouse", "reporting", "crm_sync")
_QUEUES = 4
_COMMIT_MS = 5_000  # between two writes of the offsets
_TRIES_MOST = 16


@dataclass(slots=True)
class Group:
    """A consumer group: which topics it reads, how far it lags, where it stopped, how often it fails.

    `stops` and `stuck` have the instants up to which messages are passed, in all queues and in single ones. `fails` has
    the chance that one attempt fails at an instant; `poison` are IDs that always fail. `offsets` are set by hand.
    """

    name: str
    topics: list[str]
    fails: Callable[[int], float]
    lag_ms: int = 0
    stops: int | None = None
    stuck: dict[tuple[str, int], int] = field(default_factory=dict)
    without: set[tuple[str, int]] = field(default_factory=set)  # queues that it has never read
    poison: set[str] = field(default_factory=set)
    poisons: list[int] = field(default_factory=list)  # instants after which the next message is such a one
    gives_up: Callable[[int], float] = lambda _: 0.0  # chance that a failed message becomes a dead letter at once
    offsets: dict[tuple[str, int], int] = field(default_factory=dict)
    may_consume: bool = True
    speed: int = 1  # so many times as fast as messages come it reads when it is behind
    retried: int = 0  # copies of its retry topic that it passed

    def reached(self, topic: str, queue: int, at: int) -> int:
        """Up to which instant this group has passed a queue at an instant."""
        ends = [at - self.lag_ms, self.stops, self.stuck.get((topic, queue))]
        return min(end for end in ends if end is not None)


class StoreDay:
    """The traffic of one broker: topics with four queues, messages in every minute, groups that read them."""

    def __init__(self, writer: StoreWriter, seed: int, start: datetime, zone: tzinfo) -> None:
        self.random = random.Random(seed)
        self.start = self.now = to_ms(start)
        self.writer = writer
        self.broker = Broker(writer, Host(bytes((10, 20, 0, 5)), 10911))
        self.minutes = self.random.randrange(100, 150)
        self.end = self.start + self.minutes * MINUTE_MS
        self.topics = self.random.sample(_TOPICS, 4)
        self.weight = dict.fromkeys(self.topics, 1.0)
        self.rate = self.random.randrange(24, 36)  # messages in a minute
        self.busy: tuple[int, int, int] = (0, 0, 1)  # from minute to minute so many times as many
        self.begins: dict[str, int] = {}
        self.groups = [self._healthy(name) for name in self.random.sample(_GROUPS, 4)]
        self.stored: dict[tuple[str, int], list[int]] = {}
        self._waiting: list[tuple[int, int, Callable[[], None]]] = []
        self._order = 0
        self._host = Host(bytes((10, 20, 3, 11)), 40_001)
        pid = self.random.randrange(300, 32_000)
        self._ids = Generator(lambda: self.now, zone, "10.20.3.11", pid, 0x18B4AAC2)
        self.next_id: Callable[[], str] = self._ids.create_uniq_id
        for number, group in enumerate(self.groups):  # no topic is without a reader
            group.topics = sorted({*group.topics, self.topics[number]})

    def _healthy(self, name: str) -> Group:
        often = self.random.choice((0.0, 0.005, 0.02))
        given_up = self.random.choice((0.0, 0.1))
        lag = self.random.choice((500, 2_000, 5_000, 60_000, 8 * MINUTE_MS))
        topics = self.random.sample(self.topics, self.random.randrange(1, 4))
        return Group(name, topics, lambda _: often, lag, gives_up=lambda _: given_up)

    def minute(self, share: float) -> int:
        """The instant at which such a share of the time is over."""
        return self.start + int(share * self.minutes) * MINUTE_MS

    # ---- what happens

    def play(self) -> None:
        """All minutes, one after the other."""
        for minute in range(self.minutes):
            first, last, times = self.busy
            count = self.random.randrange(self.rate - 6, self.rate + 7) * (times if first <= minute < last else 1)
            begin = self.start + minute * MINUTE_MS
            for at in sorted(self.random.randrange(MINUTE_MS) for _ in range(count)):
                self._until(begin + at)
                self._send()
        self._until(self.end)

    def _until(self, instant: int) -> None:
        while self._waiting and self._waiting[0][0] <= instant:
            self.now, _, happen = heapq.heappop(self._waiting)
            happen()
        self.now = max(self.now, instant)

    def _send(self) -> None:
        known = [topic for topic in self.weight if self.now >= self.begins.get(topic, 0)]
        topic = self.random.choices(known, [self.weight[name] for name in known])[0]
        body = f'{{"order":{self.random.randrange(10**6)},"at":{self.now}}}'.encode()
        message = Message.of(topic, body, "created", [f"order-{self.random.randrange(10**6)}"])
        message = message.with_uniq_id(self.next_id())
        queue = self.random.randrange(_QUEUES)
        (record,) = self.broker.send(message, queue, self.now, self._host, self.now).records
        self.stored.setdefault((topic, queue), []).append(self.now)
        for group in self.groups:
            if topic in group.topics and self.now <= group.reached(topic, queue, self.end):
                if group.poisons and self.now >= group.poisons[0]:
                    group.poison.add(record.uniq_id or "")
                    del group.poisons[0]
                self._consume(group, record)

    def _consume(self, group: Group, record: Record) -> None:
        """One attempt. One that fails comes back after a while, or is a dead letter."""
        fails = record.uniq_id in group.poison or self.random.random() < group.fails(self.now)
        if not fails or (group.stops is not None and self.now > group.stops):
            return
        given_up = self.random.random() < group.gives_up(self.now) or record.reconsume_times >= _TRIES_MOST
        is_poison = record.uniq_id in group.poison and record.reconsume_times < _TRIES_MOST
        level = -1 if given_up and not is_poison else 0
        (copy,) = self.broker.send_back(record, group.name, self.now, level).records
        if level == 0:
            self._order += 1
            heapq.heappush(self._waiting, (self.broker.due(copy), self._order, lambda: self._again(group, copy)))

    def _again(self, group: Group, waiting: Record) -> None:
        (copy,) = self.broker.deliver(waiting, self.now).records
        if group.stops is None or self.now <= group.stops:
            group.retried = copy.queue_offset + 1
            self._consume(group, copy)

    # ---- what is left

    def _offsets(self, before_ms: int) -> dict[str, dict[int, int]]:
        offsets: dict[str, dict[int, int]] = {}
        for group in self.groups:
            own = self.end - group.speed * before_ms
            for (topic, queue), times in self.stored.items():
                if topic in group.topics and (topic, queue) not in group.without:
                    reached = bisect_right(times, group.reached(topic, queue, own))
                    offsets.setdefault(f"{topic}@{group.name}", {})[queue] = group.offsets.get((topic, queue), reached)
            if group.retried:
                offsets[f"{RETRY_PREFIX}{group.name}@{group.name}"] = {0: group.retried}
        return offsets

    def write(self, root: Path) -> None:
        """The offsets, those of the write before as .bak, and the settings of the groups."""
        self.broker.write_offsets(self._offsets(_COMMIT_MS))
        written = root / "config" / "consumerOffset.json"
        written.replace(written.with_name("consumerOffset.json.bak"))
        self.broker.write_offsets(self._offsets(0))
        table = {
            group.name: {"groupName": group.name, "consumeEnable": group.may_consume, "retryMaxTimes": _TRIES_MOST}
            for group in self.groups
        }
        text = json.dumps({"subscriptionGroupTable": table}, indent=1)
        (root / "config" / "subscriptionGroup.json").write_text(text + "\n", encoding="utf-8")
