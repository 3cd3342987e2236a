"""What RocketMQ's own classes print of deliveries is read: receipts, POP_CK, recall handles, retries, tracks."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from idcore.ids.delivery import deliveries
from idcore.ids.receipts import Recall, Receipt
from tests.java import jars
from tests.java.referee import Referee

ID, OFFSET = "0A090104038518B4AAC24517FD780000", "0A09000200002A9F00000000000AB0C3"
pytestmark = pytest.mark.timeout(300)


@pytest.fixture(scope="module")
def java_prints(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Referee]:
    jars.need_server()
    classes = tmp_path_factory.mktemp("classes")
    jars.javac(jars.SERVER, classes, jars.HERE / "DeliveryReferee.java")
    referee = Referee(jars.SERVER, "UTC", tmp_path_factory.mktemp("home"), classes, "DeliveryReferee")
    yield referee
    referee.close()


def ask(referee: Referee, *questions: str) -> list[str]:
    return [" ".join(answer) for answer in referee.ask(list(questions))]


def test_receipts_are_read_to_the_field_and_end_when_java_says(java_prints: Referee) -> None:
    rng = random.Random(5)
    pick = rng.randrange
    made = [
        Receipt(
            pick(1 << 40),
            pick(1_300_000_000_000, 1 << 41),
            pick(1, 1 << 30),
            pick(8),
            pick(3),
            f"broker-{pick(9)}",
            pick(64),
            pick(1 << 50),
            pick(1 << 60),
        )
        for _ in range(100)
    ]
    printed = ask(java_prints, *(f"receipt {each}" for each in made))
    assert [Receipt.read(text) for text in printed] == made and printed == list(map(str, made))
    assert ask(java_prints, *(f"ends {each}" for each in made)) == [str(each.ends_ms) for each in made]


def test_a_pop_check_point_is_read(java_prints: Referee) -> None:
    (printed,) = ask(java_prints, "pop 7 1741917610144 60000 3 %RETRY%g_t broker-a 5 90")
    assert Receipt.read(printed) == Receipt(7, 1741917610144, 60000, 3, 1, "broker-a", 5, 90)


def test_a_recall_handle_in_a_result_is_read(java_prints: Referee) -> None:
    (handle,) = ask(java_prints, f"recall Timer broker-a 1741917610144 {ID}")
    (line,) = ask(java_prints, f"sent FLUSH_DISK_TIMEOUT {ID} {OFFSET} Timer {handle}")
    (found,) = deliveries([line])
    assert found.recall == Recall("Timer", "broker-a", 1741917610144, ID)
    assert (found.event, found.status, found.topic, found.broker) == ("sent", "FLUSH_DISK_TIMEOUT", "Timer", "broker-a")
    assert (found.msg_id, found.offset_id, found.queue_id, found.queue_offset) == (ID, OFFSET, 3, 77)


def test_a_retry_that_a_consumer_prints_is_read(java_prints: Referee) -> None:
    (line,) = ask(java_prints, f"message order_paid %RETRY%ship_group 1 {ID} {OFFSET} 3")
    (found,) = deliveries([line])
    assert (found.msg_id, found.offset_id, found.event, found.tries) == (ID, OFFSET, "received", 1)
    assert (found.topic, found.stored_topic, found.group) == ("order_paid", "%RETRY%ship_group", "ship_group")
    assert (found.delay_level, found.stored_ms, found.born_ms) == (3, 1741917610144, 1741917600120)


def test_every_track_type_of_mqadmin_is_read(java_prints: Referee) -> None:
    types = (
        "CONSUMED",
        "CONSUMED_BUT_FILTERED",
        "PULL",
        "NOT_CONSUME_YET",
        "NOT_ONLINE",
        "CONSUME_BROADCASTING",
        "UNKNOWN",
    )
    lines = ask(java_prints, *(f"track g{n} {name}" for n, name in enumerate(types)))
    found = list(deliveries([f"OffsetID:            {OFFSET}", "", *lines]))[1:]
    assert [(each.msg_id, each.group, each.status, each.reason) for each in found] == [
        (OFFSET, f"g{n}", name, None) for n, name in enumerate(types)
    ]
