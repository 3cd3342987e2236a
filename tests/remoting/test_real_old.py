"""A real cluster of the 4.9 line (4.9.7, ACL 1.0): its keys without quotes, its signatures, its error codes."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from idcore.answers.lookup import LookupService, Moment, Way
from idcore.ids import OffsetId
from idcore.rocketmq.remoting.acl import Credentials
from idcore.rocketmq.remoting.cluster import Cluster
from idcore.rocketmq.remoting.profile import Profile, name_servers
from tests.remoting.asking import texts
from tests.remoting.boot import READER, WRITER, OneBroker

pytestmark = [pytest.mark.java, pytest.mark.timeout(240)]


def desk_of(old: OneBroker, credentials: Credentials | None) -> LookupService:
    profile = Profile("old", name_servers(old.names), credentials)
    return LookupService(Cluster(profile), lambda: Moment(datetime.now(UTC), UTC))


@pytest.fixture(scope="module")
def ids(old: OneBroker) -> list[tuple[str, str]]:
    """Both ids of each message of Tiny.java."""
    return [(words[0], words[1]) for at in range(5) for words in [old.words("TINY", str(at))]]


@pytest.mark.parametrize("who", [READER, WRITER], ids=["reader", "admin"])
def test_every_message_is_found_by_either_id_and_by_its_key(
    old: OneBroker, ids: list[tuple[str, str]], who: Credentials
) -> None:
    assert len(ids) == 5
    service = desk_of(old, who)
    with service.cluster:
        for at, (msg_id, offset_msg_id) in enumerate(ids):
            for answer in service.look_up([msg_id, offset_msg_id, f"old-{at}"]):
                assert [copy.record.plain_body() for copy in answer.copies] == [f"old {at}".encode()], texts(answer)
                assert (answer.copies[0].record.uniq_id, str(answer.copies[0].record.offset_id)) == (
                    msg_id,
                    offset_msg_id,
                )


def test_a_topic_and_a_time_give_each_message_although_4_9_gives_the_nearest_offset(
    old: OneBroker, ids: list[tuple[str, str]]
) -> None:
    service = desk_of(old, READER)
    with service.cluster:
        whole = service.list_messages(Way("time", "OldTopic", begin_ms=0))
        assert {(copy.record.uniq_id, str(copy.record.offset_id)) for copy in whole.copies} == set(ids)
        stored = [copy.record.store_timestamp for copy in whole.copies]
        assert stored == sorted(stored) and (whole.cut, whole.left) == (None, 0)
        for begin in {at + step for at in stored for step in (-1, 0, 1)}:
            for end in (begin, stored[-1], stored[-1] - 1):
                found = service.list_messages(Way("time", "OldTopic", begin_ms=begin, end_ms=end))
                wanted = [at for at in stored if begin <= at <= end]
                assert [copy.record.store_timestamp for copy in found.copies] == wanted


def test_misses_have_their_reasons(old: OneBroker, ids: list[tuple[str, str]]) -> None:
    made = OffsetId.from_hex(ids[0][1])
    service = desk_of(old, READER)
    with service.cluster:
        for text, topic, reason in (
            (str(OffsetId.of(made.ip, made.port, 1)), None, "mid_record"),
            (str(OffsetId.of(made.ip, made.port, 1 << 40)), None, "beyond_end"),
            (str(OffsetId.of(made.ip, made.port - 2, 0)), None, "not_in_topology"),
            (ids[0][0][:-4] + "FFF0", "OldTopic", "unknown"),
            (ids[0][0], "TBW102", "wrong_topic"),
            (ids[0][0][:-4] + "FFF0", "Nowhere", "topic_unknown"),
        ):
            answer = service.one(text, topic)
            assert (answer.found, answer.reason) == (False, reason), texts(answer)


@pytest.mark.parametrize("who", [None, Credentials("reader-key", "wrong"), Credentials("nobody", "x")])
def test_who_may_not_ask_is_told_so(old: OneBroker, ids: list[tuple[str, str]], who: Credentials | None) -> None:
    service = desk_of(old, who)
    with service.cluster:
        for text in ids[0]:
            answer = service.one(text)
            assert (answer.found, answer.reason) == (False, "not_permitted") and "AclException" in texts(answer)
