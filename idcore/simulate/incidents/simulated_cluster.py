"""A healthy cluster on which a story can be played: its clock, brokers, producers and lines. Contains no story."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Any

from idcore.ids import clock as clocks
from idcore.ids.model import host_bytes
from idcore.ids.origins import Fingerprint
from idcore.simulate import printed
from idcore.simulate.generate import Generator
from idcore.simulate.scenario import TOPICS, Broker, born_host

# Loaders of common launches, by their place in HotSpot's stream: 15, 26, 8, 307.
LOADERS = (0x18B4AAC2, 0x070DEA4E, 0x251A69D7, 0x30946E09)
_MEAN_STEP_MS = 25


class Producer:
    """One process. `skew_ms` is what its clock is off by; `make` may be another client's way to generate ids."""

    def __init__(
        self,
        stage: Stage,
        host: str | None,
        pid: int,
        loader: int = LOADERS[0],
        counter: int = 0,
        *,
        clamp: bool = True,
        zone: tzinfo | None = None,
        make: Callable[[Producer], str] | None = None,
    ) -> None:
        self.stage, self.pid, self.loader, self.counter = stage, pid, loader, counter
        self.zone = zone or stage.zone
        self.skew_ms = 0
        self.began = stage.now
        self._make = make
        self._generator: Generator | None = None
        if make is None:
            clock = lambda: self.now  # noqa: E731
            self._generator = Generator(clock, self.zone, host, pid, loader, clamp=clamp, counter=counter)
        self.host = host or ".".join(str(byte) for byte in bytes.fromhex(self._generator.prefix[:8]))  # type: ignore[union-attr]
        self.born_host = self.host

    @property
    def now(self) -> int:
        """What its clock shows."""
        return self.stage.now + self.skew_ms

    @property
    def elapsed(self) -> int:
        """Milliseconds since its month began."""
        local = clocks.from_ms(self.now, self.zone)
        return self.now - clocks.month_start(local.year, local.month, self.zone)

    @property
    def name(self) -> str:
        """As findings call it."""
        return str(Fingerprint(self.host, self.pid % 65_536, f"{self.loader:08X}"))

    def next_id(self) -> str:
        """The next id."""
        text = str(self._generator.next_id()) if self._generator else self._make(self)  # type: ignore[misc]
        self.counter += 1
        return text

    def again(self) -> None:
        """Starts the process again: its counter begins at 0."""
        self._generator = Generator(lambda: self.now, self.zone, host_bytes(self.host), self.pid, self.loader)
        self.counter = 0


@dataclass(frozen=True, slots=True)
class Sent:
    """A message that was sent, with the record it was stored in."""

    id: str
    producer: Producer
    born_ms: int
    topic: str
    broker: Broker
    offset_id: str
    offset: int
    size: int
    queue: int
    queue_offset: int
    key: str


LISTENER = "c.e.orders.OrderListener"  # the logger of the consumers


class Stage:
    """A cluster in good health. Time goes on with every line; the same seed gives the same lines."""

    def __init__(self, seed: int, start: datetime, zone: tzinfo) -> None:
        self.random = random.Random(seed)
        self.zone = zone
        self.now = clocks.to_ms(start)
        pick = self.random.randrange
        self.net = f"10.{pick(20, 200)}"
        # Logs far apart, so that no broker seems to go on where another stopped.
        self.brokers = [
            Broker(f"broker-{letter}", f"{self.net}.1.{place}", 10911, (place * 100 + pick(60)) * 1_073_741_824)
            for place, letter in enumerate("abc", 11)
        ]
        self.ahead_ms: dict[str, int] = {}  # of brokers with a wrong clock, by name
        self.healthy = [
            Producer(self, f"{self.net}.{place}.{pick(2, 250)}", pick(1_000, 60_000), loader, pick(3_000, 9_000))
            for place, loader in enumerate(LOADERS, 20)
        ]

    def step(self, mean_ms: float = _MEAN_STEP_MS) -> None:
        """Lets some time go by."""
        self.now += 1 + int(self.random.expovariate(1 / mean_ms))

    def prefix(self, thread: str, now: int | None = None, zone: tzinfo | None = None) -> str:
        """The start of a line, in the zone of who writes it."""
        instant = clocks.from_ms(self.now if now is None else now, zone or self.zone)
        return f"{instant.isoformat(' ', 'milliseconds')[:23]} INFO  [{thread}] "

    def send(
        self,
        producer: Producer,
        *,
        broker: Broker | None = None,
        topic: str | None = None,
        made: str | None = None,
        born_ms: int | None = None,
        key: str | None = None,
    ) -> Sent:
        """Generates an id (or takes one that exists) and stores a record."""
        pick = self.random
        born = producer.now if born_ms is None else born_ms
        text = made or producer.next_id()
        store = broker or pick.choice(self.brokers)
        name, queue, size = topic or pick.choice(TOPICS), pick.randrange(8), pick.randrange(190, 900)
        place = store.queues.setdefault((name, queue), pick.randrange(100_000))
        store.queues[name, queue] += 1
        offset = store.offset
        stored = store.store(size)
        return Sent(
            text,
            producer,
            born,
            name,
            store,
            stored.text,
            offset,
            size,
            queue,
            place,
            key or f"order-{pick.randrange(10**9):09d}",
        )

    def sent_line(self, sent: Sent) -> str:
        """The line in which a producer prints the SendResult."""
        head = self.prefix(f"send-{self.random.randrange(1, 9)}", sent.born_ms, sent.producer.zone)
        return head + printed.send_result(
            sent.id, sent.offset_id, sent.topic, sent.broker.name, sent.queue, sent.queue_offset
        )

    def received_line(self, sent: Sent, *, reconsumed: int = 0, prepared: int = 0, **properties: Any) -> str:
        """The line in which a consumer prints the MessageExt."""
        port = self.random.randrange(32_768, 61_000)
        named = {"MIN_OFFSET": 0, "MAX_OFFSET": sent.queue_offset + 1, "KEYS": sent.key, "CONSUME_START_TIME": self.now}
        named |= properties | {"UNIQ_KEY": sent.id, "CLUSTER": "DefaultCluster", "WAIT": "true"}
        head = self.prefix(f"ConsumeMessageThread_orders_{self.random.randrange(1, 21)}") + f"{LISTENER} - "
        return head + printed.message_ext(
            broker=sent.broker.name,
            queue=sent.queue,
            size=sent.size,
            queue_offset=sent.queue_offset,
            born_ms=sent.born_ms,
            born_host=f"{born_host(sent.producer.born_host)}:{port}",
            stored_ms=max(sent.born_ms, self.now - 2) + self.ahead_ms.get(sent.broker.name, 0),
            store_host=f"{sent.broker.host}:{sent.broker.port}",
            offset_id=sent.offset_id,
            physical_offset=sent.offset,
            body=sent.key.encode(),
            topic=sent.topic,
            properties=named,
            reconsumed=reconsumed,
            prepared=prepared,
        )

    def message(self, producer: Producer, consumed: float = 0.2, **send: Any) -> Iterator[str]:
        """A message that is sent, and often received."""
        sent = self.send(producer, **send)
        yield self.sent_line(sent)
        if self.random.random() < consumed:
            self.now += self.random.randrange(2, 8)
            yield self.received_line(sent)

    def background(self, lines: int, mean_ms: float = _MEAN_STEP_MS) -> Iterator[str]:
        """What goes on all the time: healthy producers, consumers, lines without ids, trace ids in lower case."""
        for _ in range(lines):
            self.step(mean_ms)
            dice = self.random.random()
            if dice < 0.04:
                trace = "".join(self.random.choices("0123456789abcdef", k=31)) + "f"
                yield self.prefix("http-nio-8080-exec-3") + f"traceId={trace} GET /orders 200"
            elif dice < 0.08:
                yield self.prefix("NettyClientSelector_1") + "closeChannel: close the connection to remote address[]"
            else:
                yield from self.message(self.random.choice(self.healthy))

    def between(self, producers: list[Producer], rounds: int, mean_ms: float = _MEAN_STEP_MS) -> Iterator[str]:
        """Some producers at work, one line of the background to each of theirs."""
        for _ in range(rounds):
            self.step(mean_ms)
            yield from self.message(self.random.choice(producers))
            yield from self.background(1, mean_ms)
