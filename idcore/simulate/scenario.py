"""Logs of a small cluster, line by line and from a seed, with the truth of what was put in. Writes no file."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, tzinfo
from typing import Any

from idcore.base.layout import CLIENT_V1
from idcore.ids import clock as clocks
from idcore.ids.model import ClientId, OffsetId, UniqId, host_bytes
from idcore.simulate import printed
from idcore.simulate.generate import Generator

_MEAN_STEP_MS = 20  # between two lines of the log
_REMEMBERED = 400  # messages that a consumer may still print
TOPICS = ("OrderPaid", "OrderShipped", "UserSignedUp", "StockChanged")
_HEX = "0123456789abcdef"


@dataclass(frozen=True, slots=True)
class Message:
    """One message as the log has it."""

    id: UniqId | ClientId
    born_ms: int
    topic: str
    queue: int
    broker: Broker
    stored: OffsetId
    queue_offset: int
    size: int
    key: str


@dataclass(slots=True)
class Broker:
    """A broker whose log grows with each message."""

    name: str
    host: str
    port: int
    offset: int
    queues: dict[tuple[str, int], int] = field(default_factory=dict)
    ids: int = 0
    distinct: int = 0
    first: int = -1
    last: int = -1

    def store(self, size: int, *, printed: bool = True) -> OffsetId:
        """Appends a record and gives its id; a 5.x client never prints it."""
        offset_id = OffsetId.of(self.host, self.port, self.offset)
        if printed:
            self.distinct += 1
            self.first = self.offset if self.first < 0 else self.first
            self.last = self.offset
        self.offset += size
        return offset_id


@dataclass(slots=True)
class Tally:
    """What the log holds of one process, counted as it is written."""

    ids: int = 0
    distinct: int = 0
    first_position: int = -1
    last_position: int = -1
    first_ms: int = 0
    last_ms: int = 0

    def made(self, position: int, now_ms: int) -> None:
        """Takes in one new id; `position` is its counter before it was cut to 16 bits."""
        if self.distinct == 0:
            self.first_position, self.first_ms = position, now_ms
        self.distinct += 1
        self.last_position, self.last_ms = position, now_ms

    def figures(self, zone: tzinfo) -> dict[str, Any]:
        """The figures as the scan's table names them."""
        produced = self.last_position - self.first_position + 1
        return {
            "ids": self.ids,
            "distinct": self.distinct,
            "first_counter": self.first_position % 65_536,
            "last_counter": self.last_position % 65_536,
            "produced": produced,
            "missing": produced - self.distinct,
            "wraps": self.last_position // 65_536 - self.first_position // 65_536,
            "first_sent_at": clocks.from_ms(self.first_ms, zone).isoformat(timespec="milliseconds"),
            "last_sent_at": clocks.from_ms(self.last_ms, zone).isoformat(timespec="milliseconds"),
        }


class Process(ABC):
    """A producing process of any client."""

    style = ""
    resolution_ms = 1  # what an id keeps of the time

    def __init__(
        self, now_ms: int, zone: tzinfo, host: str, pid: int, loader: int, weight: int, position: int = 0
    ) -> None:
        self.now_ms = now_ms
        self.host = host
        self.weight = weight
        self.position = position  # the counter before it is cut to 16 bits
        self.tally = Tally()
        self._zone = zone
        self._pid, self._loader = pid, loader

    def make(self, now_ms: int) -> UniqId | ClientId:
        """The next id."""
        self.now_ms = now_ms
        message_id = self._next()
        self.tally.made(self.position, now_ms // self.resolution_ms * self.resolution_ms)
        self.position += 1
        return message_id

    def lose(self, count: int) -> None:
        """Ids that are generated and never seen: failed sends, or another log."""
        self.position += count

    @abstractmethod
    def _next(self) -> UniqId | ClientId:
        """The id itself, of this very moment and position."""

    def has_made(self, message_id: UniqId | ClientId) -> bool:
        """Whether an id bears this process's fingerprint."""
        return isinstance(message_id, UniqId) and (message_id.pid, message_id.loader, message_id.host) == (
            self._pid,
            self._loader,
            self.host,
        )

    def truth(self) -> dict[str, Any]:
        """The process's fingerprint and figures."""
        layout = "uniq_v4" if len(host_bytes(self.host)) == 4 else "uniq_v6"
        named = {"layout": layout, "host": self.host, "pid": self._pid, "loader": f"{self._loader:08X}"}
        return named | self.tally.figures(self._zone)


class JavaProcess(Process):
    """A Java client."""

    style = "java"
    _generator: Generator | None = None

    def _next(self) -> UniqId:
        if self._generator is None:
            self._generator = Generator(
                lambda: self.now_ms, self._zone, self.host, self._pid, self._loader, counter=self.position
            )
        return self._generator.next_id()

    def lose(self, count: int) -> None:
        """Ids that are generated and never seen: failed sends, or another log."""
        for _ in range(count):
            self._next()
        super().lose(count)


class GoProcess(Process):
    """A Go client 2.x: loader 0, whole seconds, counter from 1, the last twelve digits in lower case."""

    style = "go"
    resolution_ms = 1000

    def _next(self) -> UniqId:
        local = clocks.from_ms(self.now_ms, self._zone)
        elapsed = (self.now_ms - clocks.month_start(local.year, local.month, self._zone)) // 1000 * 1000
        message_id = UniqId.of(self.host, self._pid, 0, elapsed, self.position % 65_536)
        text = message_id.text[:-12] + message_id.text[-12:].lower()
        return replace(message_id, text=text)


class GrpcProcess(Process):
    """A 5.x gRPC client: client_v1 ids."""

    style = "grpc"
    resolution_ms = 1000

    def _next(self) -> ClientId:
        seconds = self.now_ms // 1000 - clocks.CLIENT_EPOCH_S
        mac = bytes.fromhex(self.host.replace(":", ""))
        return ClientId.from_bytes(CLIENT_V1.struct.pack(1, mac, self._pid, seconds, self.position))

    def truth(self) -> dict[str, Any]:
        """The client's identity and figures."""
        figures = self.tally.figures(self._zone)
        return {
            "mac": self.host,
            "pid": self._pid,
            "ids": figures["ids"],
            "distinct": figures["distinct"],
            "min_sequence": self.tally.first_position,
            "max_sequence": self.tally.last_position,
            "first_sent_at": figures["first_sent_at"],
            "last_sent_at": figures["last_sent_at"],
        }


class Scenario:
    """The cluster and its clock. The same seed, start and zone give the same lines."""

    def __init__(self, seed: int, start: datetime, zone: tzinfo, lines: int) -> None:
        self._random = random.Random(seed)
        self._now = clocks.to_ms(start)
        self._zone = zone
        self._recent: deque[Message] = deque(maxlen=_REMEMBERED)
        self.lines = 0
        self.trace_ids = 0
        self._quiet = (lines * 55 // 100, lines * 60 // 100)
        self._brokers = [
            Broker(f"broker-{name}", f"10.42.1.{place}", 10911, self._random.randrange(3, 900) * 1_073_741_824 // 7)
            for name, place in (("a", 11), ("b", 12), ("c", 13))
        ]
        self.processes = self._start_processes(lines)
        self._weights = [process.weight for process in self.processes]

    def _start_processes(self, lines: int) -> list[Process]:
        pick = self._random.randrange
        now, zone = self._now, self._zone
        host = f"10.42.{pick(2, 250)}."
        ids = lines * 7 // 10

        def wrapping(share: int, at: int) -> int:
            # Old enough to pass 65,535 when that share of its ids, in percent, has been written.
            return max(0, 65_536 - ids * share // 100 * at // 100)

        processes: list[Process] = [
            JavaProcess(now, zone, host + "17", pick(2, 60_000), 0x18B4AAC2, 40, wrapping(40, 45)),
            JavaProcess(now, zone, host + "17", pick(2, 60_000), 0x18B4AAC2, 12, pick(40_000)),
            JavaProcess(now, zone, host + "23", 1, 0x5674CD4D, 20, wrapping(20, 80)),
            JavaProcess(now, zone, host + "24", 1, 0x251A69D7, 12, 0),
            JavaProcess(now, zone, f"fd00:42::{pick(1, 9999):x}", pick(2, 60_000), 0x30946E09, 6, pick(60_000)),
            GoProcess(now, zone, host + "31", pick(2, 60_000), 0, 6, 1),
        ]
        if 0 <= now // 1000 - clocks.CLIENT_EPOCH_S < 1 << 31:  # this client, and so its ids, did not exist before 2021
            processes.append(GrpcProcess(now, zone, f"08:71:90:66:ff:{pick(256):02x}", pick(2, 60_000), 0, 4, 0))
        return processes

    # ---- ids

    def ids(self, count: int) -> Iterator[str]:
        """Ids of the Java processes, one by one."""
        java = [process for process in self.processes if process.style == "java"]
        weights = [process.weight for process in java]
        for _ in range(count):
            self._step()
            process = self._random.choices(java, weights)[0]
            process.tally.ids += 1
            yield str(process.make(self._now))

    def _step(self) -> None:
        self._now += 1 + int(self._random.expovariate(1 / _MEAN_STEP_MS))

    # ---- lines

    def log(self, count: int) -> Iterator[str]:
        """Log lines, without their ends."""
        while self.lines < count:
            self._step()
            yield self._line()
            self.lines += 1

    def _line(self) -> str:
        dice = self._random.random()
        if dice < 0.05:
            return self._noise()
        if dice < 0.29 and self._recent:
            return self._consumed()
        process = self._random.choices(self.processes, self._weights)[0]
        if process is self.processes[0] and self._quiet[0] <= self.lines < self._quiet[1]:
            process.lose(1)  # it goes on sending, and its lines are not in this log
            process = self.processes[1]
        if self._random.random() < 0.004:
            return self._failed(process)
        if process.style == "java" and self._random.random() < 0.03:
            # A batch goes to one queue of one broker and comes back as two comma-joined lists.
            first = self._send(process)
            ids, offsets = [str(self._see(process, first))], [str(self._see_offset(first))]
            for _ in range(self._random.randrange(1, 6)):
                ids.append(str(process.make(self._now)))
                process.tally.ids += 1
                offsets.append(str(first.broker.store(first.size)))
                first.broker.ids += 1
                first.broker.queues[first.topic, first.queue] += 1
            return self._send_result(",".join(ids), ",".join(offsets), first)
        message = self._send(process)
        if process.style == "grpc":
            text = self._see(process, message)
            return self._prefix("producer-1") + f"send ok messageId={text}, topic={message.topic}"
        self._recent.append(message)
        if process.style == "go":
            seen, stored = str(self._see(process, message)), str(self._see_offset(message))
            return self._prefix("goroutine") + printed.go_send_result(
                seen, stored, message.topic, message.broker.name, message.queue, message.queue_offset
            )
        return self._send_result(str(self._see(process, message)), str(self._see_offset(message)), message)

    def _send(self, process: Process) -> Message:
        pick = self._random
        broker = pick.choice(self._brokers)
        topic, queue, size = pick.choice(TOPICS), pick.randrange(8), pick.randrange(190, 900)
        message_id = process.make(self._now)
        place = broker.queues.setdefault((topic, queue), pick.randrange(100_000))
        broker.queues[topic, queue] += 1
        key = f"order-{pick.randrange(10**9):09d}"
        stored = broker.store(size, printed=process.style != "grpc")
        return Message(message_id, self._now, topic, queue, broker, stored, place, size, key)

    def _see(self, process: Process, message: Message) -> UniqId | ClientId:
        process.tally.ids += 1
        return message.id

    def _see_offset(self, message: Message) -> OffsetId:
        message.broker.ids += 1
        return message.stored

    def _prefix(self, thread: str) -> str:
        text = clocks.from_ms(self._now, self._zone).isoformat(" ", "milliseconds")[:23]
        return f"{text} INFO  [{thread}] "

    def _send_result(self, ids: str, offsets: str, message: Message) -> str:
        thread = f"send-{self._random.randrange(1, 9)}"
        return self._prefix(thread) + printed.send_result(
            ids, offsets, message.topic, message.broker.name, message.queue, message.queue_offset
        )

    def _failed(self, process: Process) -> str:
        process.lose(self._random.randrange(1, 40))
        return self._prefix("send-1").replace("INFO ", "WARN ") + "sendDefaultImpl exception, RemotingTooMuchRequest"

    def _consumed(self) -> str:
        message = self._random.choice(self._recent)
        process = next(p for p in self.processes if p.has_made(message.id))
        thread = self._prefix(f"ConsumeMessageThread_orders_{self._random.randrange(1, 21)}")
        if self._random.random() < 0.3:
            return thread + f"consumed msgId={self._see(process, message)} keys={message.key}"
        broker, port = message.broker, self._random.randrange(32_768, 61_000)
        offset_id = str(self._see_offset(message))
        others = self._random.randrange(32)  # messages that were stored behind it meanwhile
        properties = {
            "MIN_OFFSET": 0,
            "MAX_OFFSET": message.queue_offset + 1 + others,
            "KEYS": message.key,
            "CONSUME_START_TIME": self._now,
            "UNIQ_KEY": self._see(process, message),
            "CLUSTER": "DefaultCluster",
            "WAIT": "true",
        }
        return thread + printed.message_ext(
            broker=broker.name,
            queue=message.queue,
            size=message.size,
            queue_offset=message.queue_offset,
            born_ms=message.born_ms,
            born_host=f"{born_host(process.host)}:{port}",
            stored_ms=message.born_ms + 1,
            store_host=f"{broker.host}:{broker.port}",
            offset_id=offset_id,
            physical_offset=message.stored.physical_offset,
            topic=message.topic,
            properties=properties,
        )

    def _noise(self) -> str:
        if self._random.random() < 0.5:
            return self._prefix("NettyClientSelector_1") + "closeChannel: close the connection to remote address[]"
        trace = "".join(self._random.choices(_HEX, k=31)) + "f"  # a letter for certain: it has to read as lower case
        self.trace_ids += 1
        return self._prefix("http-nio-8080-exec-3") + f"traceId={trace} GET /orders 200"

    # ---- truth

    def truth(self) -> dict[str, Any]:
        """What was put in, by the names of the scan's tables."""
        seen = [process for process in self.processes if process.tally.distinct]
        uniq = [process for process in seen if process.style != "grpc"]
        client = [process for process in seen if process.style == "grpc"]
        brokers = [broker for broker in self._brokers if broker.distinct]
        return {
            "uniq": sum(process.tally.ids for process in uniq),
            "offset": sum(broker.ids for broker in brokers),
            "client": sum(process.tally.ids for process in client),
            "distinct": sum(p.tally.distinct for p in seen) + sum(broker.distinct for broker in brokers),
            "trace_ids": self.trace_ids,
            "processes": [process.truth() for process in uniq],
            "clients": [process.truth() for process in client],
            "brokers": [
                {
                    "address": f"{b.host}:{b.port}",
                    "ids": b.ids,
                    "distinct": b.distinct,
                    "min_offset": b.first,
                    "max_offset": b.last,
                }
                for b in brokers
            ],
        }


def born_host(host: str) -> str:
    """An address as it is written in front of a port."""
    return f"[{host}]" if ":" in host else host
