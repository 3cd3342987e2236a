"""What no index has, looked for in its queues: items of batches that a client held back, and files of a queue."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from idcore.answers.lookup import Answer, Moment, batches
from idcore.ids import UniqId
from idcore.rocketmq.message import Host, Record
from idcore.rocketmq.remoting.frame import Frame
from tests.remoting.fake import answers
from tests.remoting.fake_queues import START, Queues
from tests.remoting.servers import answer

MONTH = round(datetime(2026, 11, 1, tzinfo=UTC).timestamp() * 1_000)
EIGHT_HOURS = 28_800_000
HOST = Host(b"\x7f\0\0\1", 10911)


class Producer:
    """A process: its next ids, whose counter goes on with each."""

    def __init__(self, pid: int = 4711, ahead_ms: int = 0) -> None:
        self.pid, self.ahead_ms, self.counter = pid, ahead_ms, 65_500

    def make(self, at: int) -> str:
        self.counter += 1
        elapsed = START + at + self.ahead_ms - MONTH
        return str(UniqId.of("10.0.0.7", self.pid, 0x18B4AAC2, elapsed, self.counter % 65_536))


class Shop(Queues):
    """A broker whose index has one key of each record, as that of 5.0 to 5.3.3 has only the batch's of an item."""

    def __init__(self, queues: int) -> None:
        super().__init__({"Orders": queues})
        self.by_key: dict[str, list[Record]] = {}

    def add(self, queue: int, stored: int, ids: Sequence[str]) -> Record:
        held = self.held.setdefault(("Orders", queue), [])
        number = sum(map(len, self.held.values()))
        properties = "".join(f"UNIQ_KEY\1{text}\2WAIT\1true\2" for text in ids)
        made = Record.of(
            "Orders", b"body", properties, queue_id=queue, born_timestamp=0, born_host=HOST, store_host=HOST
        )
        made = made.placed(len(held), number * 1_000, START + stored)
        held.append(made)
        self.raw[made.physical_offset] = bytes(made)
        self.by_key.setdefault(made.uniq_id or "", []).append(made)
        return made

    def batch(self, queue: int, sent: int, items: Sequence[str], producer: Producer) -> str:
        batch_id = producer.make(sent)
        for item in items:
            self.add(queue, sent + 2, [item, batch_id])
        return batch_id

    @answers(12)
    def _by_key(self, frame: Frame) -> bytes:
        found = self.by_key.get(frame.field("key") or "", [])
        return answer(frame, 0, b"".join(map(bytes, found))) if found else answer(frame, 22, b"", "no")

    def look(self, *texts: str, zone_known: bool = True) -> list[Answer]:
        service = self.service()
        service._moment = lambda: Moment(datetime(2026, 11, 21, tzinfo=UTC), UTC, zone_known)  # type: ignore[method-assign]
        with service.cluster:
            return [service.one(text, "Orders") for text in texts]


def test_an_item_of_a_batch_that_was_held_for_seconds_is_found_and_named() -> None:
    shop, producer = Shop(2), Producer()
    items = [producer.make(at) for at in (0, 900, 2_100)]
    batch_id = shop.batch(1, 5_000, items, producer)
    with shop.server:
        for place, found in enumerate(shop.look(*items), 1):
            assert (found.found, found.reason) == (True, "index_lost")
            assert [copy.record.uniq_id for copy in found.copies] == [batch_id]
            (said,) = [each.values for each in found.evidence if each.code == "batch_item"]
            assert (said["batch_id"], said["place"], said["count"]) == (batch_id, place, 3)
        assert shop.look(batch_id)[0].reason is None


@pytest.mark.parametrize("zone_ms", [0, EIGHT_HOURS])
@pytest.mark.parametrize(("queues", "hold", "step"), [(1, 60, 15), (4, 4_000, 40)])
def test_in_a_busy_topic_the_other_ids_of_its_process_lead_to_it(
    queues: int, hold: int, step: int, zone_ms: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "MOST_AFTER", 1)  # a server in Python answers 500 a second
    dice, shop = random.Random(hold), Shop(queues)
    producer, another = Producer(ahead_ms=zone_ms), Producer(99)
    held: list[tuple[int, str]] = []
    first_items: list[str] = []
    for at in range(-9_000, 16_000, step):
        shop.add(dice.randrange(queues), at, [another.make(at)])
        shop.add(dice.randrange(queues), at, [producer.make(at)])
        held.append((at, producer.make(at)))
        if at - held[0][0] >= hold:
            shop.batch(dice.randrange(queues), at, [item for _, item in held], producer)
            first_items += [held[0][1]] if held[0][0] > 0 else []
            held = []
    asked = first_items[:1]
    with shop.server:
        for found in shop.look(*asked, zone_known=not zone_ms):
            assert found.found and "batch_item_open" in {each.code for each in found.evidence}
        views = [frame for frame in shop.server.seen if frame.code == 33]
        assert len(views) < len(asked) * queues * (48 * 3 + 256)


def test_an_id_of_the_same_process_that_is_nowhere_is_not_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "MOST_AFTER", 1)
    shop, producer = Shop(1), Producer()
    lost = producer.make(0)
    for at in range(0, 3_000, 10):
        shop.batch(0, at + 500, [producer.make(at)], producer)
    with shop.server:
        (found,) = shop.look(lost)
        assert not found.found and not [each for each in found.evidence if each.code.startswith("batch_")]


def test_a_message_behind_a_file_of_its_queue_is_found() -> None:
    shop, producer = Shop(1), Producer()
    for at in range(30):
        shop.add(0, at, [producer.make(at)])
    wanted = producer.make(30)
    shop.add(0, 30, [wanted])
    del shop.by_key[wanted]
    shop.border = 20
    with shop.server:
        (found,) = shop.look(wanted)
        assert (found.found, found.reason) == (True, "index_lost")
        assert "found_without_index" in {each.code for each in found.evidence}
