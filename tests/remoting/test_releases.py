"""What releases from 5.4.0 on answer otherwise: brokers of one listener that answer as they do."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC

import pytest

from idcore.answers.lookup import Way
from idcore.ids import OffsetId
from tests.remoting.asking import codes
from tests.remoting.fake import UNIQ
from tests.remoting.fake_releases import WAITING, TopicChecked

TOPICS = dict.fromkeys(("Orders", "Notices", *WAITING), 1)


@pytest.fixture
def checked() -> Iterator[TopicChecked]:
    made = TopicChecked(TOPICS)
    with made.server:
        yield made


def offset_id(fake: TopicChecked, physical_offset: int) -> str:
    return str(OffsetId.of(fake.server.address.ip, fake.server.address.port, physical_offset))


@pytest.mark.parametrize("room", WAITING)
def test_waiting_rooms_are_listed_where_the_topic_is_checked(checked: TopicChecked, room: str) -> None:
    waiting = checked.put(room, 0, 5_000, UNIQ, REAL_TOPIC="Orders")
    with (service := checked.service()).cluster:
        for given in ({"queue": "a:0:0"}, {"from": "2020-01-01T00:00:00Z"}):
            way = Way.of({"topic": room, **given}, UTC)
            assert way is not None
            found = service.list_messages(way)
            assert [copy.record for copy in found.copies] == [waiting] and found.reason is None and not found.cut


def test_another_topic_than_the_records_is_said_and_the_message_shown(checked: TopicChecked) -> None:
    made = checked.put("Orders", 0, 5_000, UNIQ)
    with (service := checked.service()).cluster:
        answer = service.one(offset_id(checked, made.physical_offset), "Notices")
    assert [copy.record for copy in answer.copies] == [made] and answer.reason is None
    assert "topic_differs" in codes(answer)


def test_where_a_topic_is_wanted_the_wrong_one_is_the_reason(checked: TopicChecked) -> None:
    checked.guarded = True
    made = checked.put("Orders", 0, 5_000, UNIQ)
    with (service := checked.service()).cluster:
        wrong = service.one(offset_id(checked, made.physical_offset), "Notices")
        right = service.one(offset_id(checked, made.physical_offset), "Orders")
    assert (wrong.reason, right.found) == ("wrong_topic", True) and "other_topic" in codes(wrong)
