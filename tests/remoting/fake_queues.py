"""A cluster of one listener that has queues: their ends, entries and times, as brokers of 4.9 and of 5.x give them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import replace

from idcore.rocketmq.message import Record
from idcore.rocketmq.remoting.frame import Frame
from tests.remoting.fake import Fake, answers, record
from tests.remoting.servers import answer

START = 1_795_000_000_000
Nearest = Callable[[list[Record], int], int]


def exact(held: list[Record], at_ms: int) -> int:
    """5.x: the first one stored then or later."""
    return next((at for at, each in enumerate(held) if each.store_timestamp >= at_ms), len(held))


def nearest(held: list[Record], at_ms: int) -> int:
    """4.9: the nearest one, of several with one time any: here the last."""
    distances = [(abs(each.store_timestamp - at_ms), -at) for at, each in enumerate(held)]
    return -min(distances)[1] if held else 0


class Queues(Fake):
    """One topic for each name, with so many queues; `put` adds a message behind the last of its queue."""

    def __init__(self, topics: dict[str, int], search: Nearest = exact) -> None:
        super().__init__(topics, [])
        self.numbers = topics
        self.search = search
        self.first: dict[tuple[str, int], int] = {}
        self.held: dict[tuple[str, int], list[Record]] = {}
        self.border = 1 << 30  # a file of a queue ends here, and so does an answer
        self.lost: set[int] = set()  # physical offsets that a broker has no record for
        self.ends: dict[str, int] = {}
        self.swept: int | None = None  # the offset of the group that checks half messages
        self.refused: dict[int, tuple[int, str]] = {}  # code of a question -> code and words of its answer

    def put(self, topic: str, queue: int, stored: int, uniq: str | None = None, **more: str) -> Record:
        held = self.held.setdefault((topic, queue), [])
        number = sum(map(len, self.held.values()))
        made = record(topic, uniq or f"{stored:016X}{number:016X}", 0, properties=more)
        place = self.first.get((topic, queue), 0) + len(held)
        made = replace(made, queue_id=queue).placed(place, number * 1_000, START + stored)
        held.append(made)
        self.records.append(made)
        return made

    def handle(self, frame: Frame) -> Iterable[bytes]:
        if frame.code in self.refused:
            code, words = self.refused[frame.code]
            yield answer(frame, code, b"", words)
        else:
            yield from super().handle(frame)

    def _queue(self, frame: Frame) -> tuple[int, list[Record]]:
        """The first offset of the queue that is asked for, and its records."""
        queue = frame.field("topic") or "", int(frame.field("queueId") or "0")
        return self.first.get(queue, 0), self.held.get(queue, [])

    @answers(105)
    def _route(self, frame: Frame) -> bytes:
        if (queues := self.numbers.get(frame.field("topic") or "")) is None:
            return super()._route(frame)
        return answer(frame, 0, self.route(readQueueNums=queues, writeQueueNums=queues, perm=6))

    @answers(14)
    def _swept(self, frame: Frame) -> bytes:
        return answer(frame, 22, b"", "none") if self.swept is None else answer(frame, 0, offset=str(self.swept))

    @answers(31)
    def _first(self, frame: Frame) -> bytes:
        return answer(frame, 0, offset=str(self._queue(frame)[0]))

    @answers(30)
    def _end(self, frame: Frame) -> bytes:
        first, held = self._queue(frame)
        return answer(frame, 0, offset=str(self.ends.get(frame.field("topic") or "", first + len(held))))

    @answers(29)
    def _by_time(self, frame: Frame) -> bytes:
        first, held = self._queue(frame)
        return answer(frame, 0, offset=str(first + self.search(held, int(frame.field("timestamp") or "0"))))

    @answers(321)
    def _entries(self, frame: Frame) -> bytes:
        first, held = self._queue(frame)
        index, count = int(frame.field("index") or "0"), int(frame.field("count") or "0")
        border = (index // self.border + 1) * self.border
        units = held[max(0, index - first) : min(index + count, border) - first] if index >= first else []
        rows = [{"physicOffset": each.physical_offset, "tagsCode": 0} for each in units]
        body = {"queueData": rows, "minQueueIndex": first, "maxQueueIndex": first + len(held)}
        return answer(frame, 0, json.dumps(body).encode() if rows else b"")

    @answers(33)
    def _by_offset(self, frame: Frame) -> bytes:
        if int(frame.field("offset") or "-1") in self.lost:
            return answer(frame, 1, b"", f"can not find message by the offset, {frame.field('offset')}")
        return super()._by_offset(frame)
