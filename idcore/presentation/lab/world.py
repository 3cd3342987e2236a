"""The lab's world: a producing process, a consumer group, two brokers, and a clock that only steps move.

Every id comes from the client's generator, every record from the broker's own writer. Words are not made here.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from idcore.base.errors import CoreError
from idcore.ids import clock as clocks
from idcore.ids.model import host_bytes
from idcore.presentation.lab.played import PlayedStory, Row, read_logs
from idcore.presentation.lab.story import Story
from idcore.rocketmq.message import Host, Message, MessageBatch, Record
from idcore.rocketmq.message.validators import SCHEDULE_TOPIC
from idcore.simulate.append import Settings
from idcore.simulate.broker import Broker
from idcore.simulate.generate import CLAMP_MS, Generator
from idcore.simulate.writer import PutResult, StoreWriter

TOPIC, GROUP, PRODUCERS = "OrderPaid", "billing", "order_service"
# One file holds about ten messages, so that a reader sees it fill and roll.
SIZES = Settings(commit_log_file=4096, queue_file=4000, slots=100, entries=1000, message_most=4096)
BROKERS = {"broker-a": "10.20.1.5", "broker-b": "10.20.1.6"}
_PORT, _CLIENT_PORT, _QUEUES = 10_911, 50_312, 4
_PAUSE = 1_247
_BATCH, _DELAY_LEVEL, _WRAP = 3, 3, 65_535
# What a large message leaves of its file: less than the next one needs.
_LEFT, _HEAD = 200, 280
_BACK = {"back": 10_000, "far": 3_600_000}
# What a broker does by itself has the time of its own clock, all else that of the producer's.
_BROKERS_OWN = frozenset(("consume_waits", "consume_again", "dead", "delay_due", "commit", "op", "rollback", "blank"))


def play(story: Story, root: Path) -> PlayedStory:
    """Plays a story into a new folder, one store for each broker. The same story gives the same bytes."""
    story.check()
    world = _World(story, root)
    try:
        world.begin()
        for number, step in enumerate(story.steps, 1):
            world.take(number, step)
    finally:
        world.close()
    return PlayedStory(story, tuple(world.rows), tuple(read_logs(root, BROKERS, world.rows)))


class _World:
    """What does not change between two steps."""

    def __init__(self, story: Story, root: Path) -> None:
        self.rows: list[Row] = []
        self._story, self._now, self._back, self._step = story, story.start_ms, 0, 0
        self._client = Host(host_bytes(story.host), _CLIENT_PORT)
        self._brokers = {
            name: Broker(StoreWriter(root / name, SIZES, story.zone), Host(host_bytes(address), _PORT))
            for name, address in BROKERS.items()
        }
        self._process = self._new_process()
        self._twin: Generator | None = None
        self._queue = self._orders = 0
        self._order: Message | None = None
        self._visible: tuple[str, Record] | None = None

    def close(self) -> None:
        """A clean stop of both brokers."""
        for broker in self._brokers.values():
            broker.writer.close()

    def _producers_clock(self) -> int:
        """The producer's clock: the brokers' own, less what it was set back by."""
        return self._now - self._back

    def _new_process(self) -> Generator:
        story = self._story
        return Generator(self._producers_clock, story.zone, story.host, story.pid, story.loader)

    def begin(self) -> None:
        """The process starts: the first bytes of all its ids are settled."""
        self._row("start", prefix=self._process.prefix, month_start=self._process.month_start)

    def take(self, number: int, step: str) -> None:
        """One step of the story."""
        self._step = number
        if step != "month":
            self._now += _PAUSE
        if step in ("consume", "dead") and self._visible is None:
            self._send_one("sent")
        steps: dict[str, Callable[[], None]] = {
            "send": lambda: self._send_one("sent"),
            "busy": self._busy,
            "lost": self._lost,
            "again": self._again,
            "consume": self._consume,
            "dead": self._dead,
            "delay": self._delay,
            "commit": lambda: self._transact(True),
            "rollback": lambda: self._transact(False),
            "batch": self._batch,
            "roll": self._roll,
            "month": self._month,
            "back": lambda: self._set_back("back"),
            "far": lambda: self._set_back("far"),
            "wrap": self._wrap,
            "twin": self._second,
            "collide": self._collide,
        }
        steps[step]()

    # rows

    def _row(
        self,
        code: str,
        msg_id: str | None = None,
        broker: str | None = None,
        record: Record | None = None,
        copied_from: Record | None = None,
        **values: Any,
    ) -> None:
        now = self._now if code in _BROKERS_OWN else self._producers_clock()
        self.rows.append(Row(self._step, code, now, msg_id, broker, record, copied_from, values))

    def _stored(
        self,
        code: str,
        broker: str,
        put: PutResult,
        msg_id: str | None,
        copied_from: Record | None = None,
        **values: Any,
    ) -> Record:
        """The row of one record; the file's end in front of it where it no longer fitted."""
        if not put.records:
            raise CoreError("lab_refused", {"status": put.status.value})
        (record,) = put.records
        self._rolled(broker, put)
        self._row(code, msg_id, broker, record, copied_from, **values)
        self._see(broker, record)
        return record

    def _rolled(self, broker: str, put: PutResult) -> None:
        if put.rolled_at is None:
            return
        first = put.records[0]
        self._row(
            "blank",
            None,
            broker,
            None,
            None,
            offset=put.rolled_at,
            size=first.physical_offset - put.rolled_at,
            needed=sum(record.size for record in put.records),
            file=f"{first.physical_offset:020d}",
        )

    def _see(self, broker: str, record: Record) -> None:
        if record.topic in (TOPIC, f"%RETRY%{GROUP}"):
            self._visible = broker, record

    # a producer

    def _message(self, process: Generator | None = None, filler: int = 0) -> Message:
        self._orders += 1
        number = 1000 + self._orders
        body = f'{{"order":{number},"amount":{number % 97 + 3}.50}}'.encode()
        message = Message.of(TOPIC, body + b" " * filler, "paid", [f"order-{number}"])
        return message.with_uniq_id((process or self._process).create_uniq_id())

    def _next_queue(self, avoided: str | None = None) -> tuple[str, int]:
        """TopicPublishInfo.selectOneMessageQueue: in turn, but not the broker that just failed."""
        while True:
            name = list(BROKERS)[self._queue // _QUEUES % len(BROKERS)]
            queue_id = self._queue % _QUEUES
            self._queue += 1
            if name != avoided:
                return name, queue_id

    def _put(self, message: Message, name: str, queue_id: int) -> PutResult:
        """One request of the client; each has its own bornTimestamp (DefaultMQProducerImpl.sendKernelImpl)."""
        born = self._producers_clock() + 1
        self._now += 3
        return self._brokers[name].send(message, queue_id, born, self._client, self._now)

    def _send_one(self, code: str, process: Generator | None = None, **values: Any) -> None:
        self._send(code, self._message(process), order=self._orders, **values)

    def _send(self, code: str, message: Message, **values: Any) -> None:
        self._order = message
        name, queue_id = self._next_queue()
        put = self._put(message, name, queue_id)
        self._stored(code, name, put, message.uniq_id, **values)

    def _busy(self) -> None:
        """The first broker stores nothing, the client tries the next one."""
        message = self._order = self._message()
        name, _ = self._next_queue()
        self._now += 2
        self._row("busy_refused", message.uniq_id, name, order=self._orders)
        self._try_again("busy_stored", message, name)

    def _lost(self) -> None:
        """The first broker stores the message, but its answer never comes."""
        message = self._order = self._message()
        name, queue_id = self._next_queue()
        first = self._stored(
            "lost_stored", name, self._put(message, name, queue_id), message.uniq_id, order=self._orders
        )
        self._now += 412
        self._try_again("lost_again", message, name, first)

    def _try_again(self, code: str, message: Message, failed: str, first: Record | None = None) -> None:
        # The client keeps the Message object, and setUniqID fills only what is empty.
        message = message.with_uniq_id("")
        name, queue_id = self._next_queue(failed)
        put = self._put(message, name, queue_id)
        self._stored(code, name, put, message.uniq_id, first, order=self._orders)

    def _again(self) -> None:
        """The application sends its last order once more: a new Message, so a new id."""
        if self._order is None:
            self._send_one("sent")
        assert self._order is not None
        before = self._order.uniq_id
        again = Message.of(TOPIC, self._order.body, self._order.tags, self._order.keys)
        again = again.with_uniq_id(self._process.create_uniq_id())
        self._send("again", again, order=self._orders, before=before, order_key=again.keys)

    # a consumer

    def _consume(self) -> None:
        """The listener answers RECONSUME_LATER: a copy waits in the schedule, then is in %RETRY%group."""
        assert self._visible is not None
        name, record = self._visible
        broker = self._brokers[name]
        self._now += 96
        put = broker.send_back(record, GROUP, self._now)
        if put.records and put.records[0].topic != SCHEDULE_TOPIC:  # sixteen copies were enough
            self._buried(name, put, record)
            return
        waiting = self._stored(
            "consume_waits",
            name,
            put,
            record.uniq_id,
            record,
            level=int(put.records[0].properties["DELAY"]),
            seconds=(broker.due(put.records[0]) - self._now) // 1000,
            group=GROUP,
            reads=record.topic,
        )
        self._now = broker.due(waiting)
        self._stored(
            "consume_again",
            name,
            broker.deliver(waiting, self._now),
            waiting.uniq_id,
            record,
            times=waiting.reconsume_times,
            group=GROUP,
            origin=waiting.properties["ORIGIN_MESSAGE_ID"],
        )

    def _dead(self) -> None:
        """The listener gives up at once (delayLevelWhenNextConsume -1): a copy for %DLQ%group."""
        assert self._visible is not None
        name, record = self._visible
        self._now += 96
        self._buried(name, self._brokers[name].send_back(record, GROUP, self._now, -1), record)

    def _buried(self, name: str, put: PutResult, record: Record) -> None:
        self._stored("dead", name, put, record.uniq_id, record, times=record.reconsume_times, group=GROUP)
        self._visible = None

    # what a broker does by itself

    def _delay(self) -> None:
        message = self._order = self._message().with_delay_level(_DELAY_LEVEL)
        name, queue_id = self._next_queue()
        broker = self._brokers[name]
        seconds = SIZES.delay_seconds[_DELAY_LEVEL - 1]
        put = self._put(message, name, queue_id)
        waiting = self._stored(
            "delay_waits", name, put, message.uniq_id, order=self._orders, level=_DELAY_LEVEL, seconds=seconds
        )
        self._now = broker.due(waiting)
        self._stored(
            "delay_due",
            name,
            broker.deliver(waiting, self._now),
            message.uniq_id,
            waiting,
            order=self._orders,
            seconds=seconds,
        )

    def _transact(self, commit: bool) -> None:
        message = self._order = self._message()
        name, queue_id = self._next_queue()
        broker, born = self._brokers[name], self._producers_clock() + 1
        self._now += 3
        put = broker.send_half(message, PRODUCERS, queue_id, born, self._client, self._now)
        half = self._stored("half", name, put, message.uniq_id, order=self._orders)
        self._now += 640
        done, note = broker.end_transaction(half, commit, self._now)
        if done is not None:
            self._stored("commit", name, done, message.uniq_id, half, order=self._orders, half=half.physical_offset)
        self._stored("op" if commit else "rollback", name, note, None, half=half.queue_offset)

    def _batch(self) -> None:
        """DefaultMQProducer.batch: each item takes an id, then the batch takes one of its own."""
        first = self._orders + 1
        batch = MessageBatch.of_messages([self._message() for _ in range(_BATCH)])
        batch_id = self._process.create_uniq_id()
        name, queue_id = self._next_queue()
        born = self._producers_clock() + 1
        self._now += 3
        put = self._brokers[name].send_batch(batch, batch_id, queue_id, born, self._client, self._now)
        self._rolled(name, put)
        for number, (item, record) in enumerate(zip(batch.messages, put.records, strict=True)):
            self._row(
                "batch",
                item.uniq_id,
                name,
                record,
                None,
                order=first + number,
                batch_id=batch_id,
                number=number + 1,
                count=_BATCH,
            )
            self._see(name, record)

    def _roll(self) -> None:
        """Messages to one chosen queue, a large one first, until the broker begins its next file."""
        name = self._visible[0] if self._visible else next(iter(BROKERS))
        writer = self._brokers[name].writer
        while True:
            room = SIZES.commit_log_file - writer.end % SIZES.commit_log_file
            filler = max(0, room - _LEFT - _HEAD) if room > _LEFT + 2 * _HEAD else 0
            message = self._order = self._message(filler=filler)
            put = self._put(message, name, 0)
            code = "sent" if put.rolled_at is None else "roll"
            self._stored("roll_large" if filler else code, name, put, message.uniq_id, order=self._orders)
            if put.rolled_at is not None:
                return
            self._now += 40

    # clock and process

    def _month(self) -> None:
        local = self._story.at(self._producers_clock())
        year, month = (local.year + 1, 1) if local.month == 12 else (local.year, local.month + 1)
        self._now = clocks.month_start(year, month, self._story.zone) + 7 + self._back
        self._send_one("month", month=f"{year:04d}-{month:02d}")

    def _set_back(self, step: str) -> None:
        self._back += _BACK[step]
        start = self._process.month_start
        early = start - self._producers_clock()
        code = "back" if early <= 0 else "back_clamped" if early < CLAMP_MS else "back_below"
        self._send_one(code, by=_BACK[step], early=early, month_start=start)

    def _wrap(self) -> None:
        """The process goes on until its counter is at the last number that 16 bits hold."""
        count = (_WRAP - self._process.counter) % (_WRAP + 1)
        self._process.skip(count)
        self._now += 10 * count
        self._send_one("wrap_last", count=count)
        self._now += 2
        self._send_one("wrap_first")

    def _second(self) -> None:
        """A second container: its own counter behind the same prefix."""
        first = self._twin is None
        if self._twin is None:
            self._twin = self._new_process()
        self._send_one("twin_first" if first else "twin", self._twin, own=self._process.counter)

    def _collide(self) -> None:
        """Two containers that start together: in the same ms each generates its first id."""
        one, other = self._message(self._new_process()), self._message(self._new_process())
        self._send("collide_first", one, order=self._orders - 1, order_key=one.keys)
        self._send("collide", other, order=self._orders, order_key=other.keys, before=one.keys)
