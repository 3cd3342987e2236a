"""What releases from 5.4.0 on answer otherwise: brokers of one listener that answer as they do."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from datetime import UTC, timedelta

import pytest

from idcore.answers.lookup import Answer, Listing, Way
from idcore.answers.lookup.copies import explain, group_of
from idcore.ids import OffsetId
from tests.remoting.asking import codes
from tests.remoting.fake import NOW, UNIQ, record
from tests.remoting.fake_queues import START, Queues
from tests.remoting.fake_releases import WAITING, DaysOnly, LightQueues, Tiered, TopicChecked

TOPICS = dict.fromkeys(("Orders", "Notices", *WAITING), 1)


@pytest.fixture
def checked() -> Iterator[TopicChecked]:
    made = TopicChecked(TOPICS)
    with made.server:
        yield made


def offset_id(fake: Queues, physical_offset: int) -> str:
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


# ---- transactions in RocksDB (transRocksDBEnable, 5.4.0)

HALF, OPERATIONS = "RMQ_SYS_ROCKSDB_TRANS_HALF_TOPIC", "RMQ_SYS_ROCKSDB_TRANS_OP_HALF_TOPIC"


def transaction(decided: bool, committed: bool = False) -> Answer:
    """The answer for a half message, as 5.5.1 leaves it, with its operation and its message where they are there."""
    queues = Queues({HALF: 1, OPERATIONS: 1, "Orders": 1})
    queues.refused = {204: (1, "the producer group not exist")}
    queues.put(HALF, 0, 4_000, "0A42333A0DC818B4AAC246C290FD0001", REAL_TOPIC="Orders", PGROUP="payers")
    half = queues.put(HALF, 0, 5_000, UNIQ, REAL_TOPIC="Orders", REAL_QID="0", PGROUP="payers")
    if committed:
        queues.put("Orders", 0, 5_500, UNIQ)
    if decided:
        own = "7F00000100011234567800000000000A"
        told = {"TAGS": "d", "TRANS_OFFSET": str(half.physical_offset), "REAL_TOPIC": "Orders"}
        queues.put(OPERATIONS, 0, 6_000, own, __transactionId__=UNIQ, **told)
    with queues.server, (service := queues.service()).cluster:
        return service.one(UNIQ)


def test_a_half_message_in_rocksdb_is_not_the_message() -> None:
    answer = transaction(decided=True)
    assert [copy.relation for copy in answer.copies] == ["half"] and "half_rolled_back" in codes(answer)


def test_without_a_decision_it_is_open_or_given_up() -> None:
    answer = transaction(decided=False)
    assert [copy.relation for copy in answer.copies] == ["half"]
    assert "half_open" in codes(answer) and not codes(answer) & {"half_undecided", "half_rolled_back"}


def test_a_committed_message_comes_before_its_half_in_rocksdb() -> None:
    assert [copy.relation for copy in transaction(decided=True, committed=True).copies] == ["message", "half"]


def test_an_operation_in_rocksdb_is_no_message() -> None:
    (copy,) = explain([(record(OPERATIONS, UNIQ, 0), "a")])
    assert copy.relation == "operation"


def test_what_a_timer_in_rocksdb_delivers_is_delivered() -> None:
    waiting = record(
        "rmq_sys_wheel_timer", UNIQ, 0, properties={"REAL_TOPIC": "Orders", "TIMER_OUT_MS": "1795000005000"}
    )
    there = record("Orders", UNIQ, 500, properties={"TIMER_DELAY_MS": "5000", "TIMER_OUT_MS": "1795000005000"})
    copies = explain([(waiting, "a"), (there, "a")])
    assert [copy.relation for copy in copies] == ["delivered", "timer"]


# ---- an index in RocksDB (indexRocksDBEnable, 5.4.0)

DAY_MS = 86_400_000


def kept_for(days: int, key: str) -> Answer:
    """The answer of a RocksDB index for a message that was stored so many days before the fake's now."""
    fake = DaysOnly({"Orders": 1})
    fake.now_ms = round(NOW.timestamp() * 1_000)
    fake.put("Orders", 0, fake.now_ms - START - days * DAY_MS, key, KEYS="order-1")
    with fake.server, (service := fake.service()).cluster:
        return service.one(key)


def generated(days: int) -> str:
    """A msgId of so many days before now, in UTC."""
    at = NOW - timedelta(days=days)
    begin = at.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    return f"0A42333A0DC818B4AAC2{round((at - begin).total_seconds() * 1_000):08X}0000"


def test_a_message_older_than_a_week_is_found_in_an_index_in_rocksdb() -> None:
    assert kept_for(12, generated(12)).found and kept_for(3, generated(3)).found


def test_a_key_is_looked_for_week_by_week() -> None:
    assert kept_for(40, "order-1").found
    missed = kept_for(200, "order-1")
    assert (missed.found, missed.reason) == (False, "window") and "index_days" in codes(missed)


def listed(days: list[int], **terms: str) -> Listing:
    """The list by key of such a broker, with messages that were stored so many days before the fake's now."""
    fake = DaysOnly({"Orders": 1})
    fake.now_ms = round(NOW.timestamp() * 1_000)
    for at in days:
        fake.put("Orders", 0, fake.now_ms - START - at * DAY_MS, KEYS="order-1")
    way = Way.of({"key": "order-1", **terms}, UTC)
    assert way is not None
    with fake.server, (service := fake.service()).cluster:
        return service.list_messages(way)


def test_a_list_by_key_goes_back_week_by_week_and_says_how_far() -> None:
    """As the look-up of one key: an open window is answered with the last seven days, a wider one with nothing."""
    assert len(listed([40, 12, 3]).copies) == 3 and listed([40, 12, 3]).cut is None
    begin, end = (f"{NOW - timedelta(days=each):%Y-%m-%dT%H:%M:%S+00:00}" for each in (45, 5))
    assert len(listed([50, 40, 12, 3], **{"from": begin, "to": end}).copies) == 2
    missed = listed([200])
    assert (missed.reason, missed.cut) == ("window", "failed"), "not all was searched"
    (said,) = (each.values for each in missed.evidence if each.code == "index_days")
    assert said["begin"] > said["oldest"]
    assert len(listed([200], topic="Orders").copies) == 1


def test_a_timer_whose_topic_has_no_route_is_asked_all_the_same() -> None:
    """5.1.4 does not register rmq_sys_wheel_timer with its name server."""
    queues = Queues({"Orders": 1})
    queues.refused = {60: (1, "no timer")}
    queues.put("rmq_sys_wheel_timer", 0, 5_000, UNIQ, REAL_TOPIC="Orders", TIMER_OUT_MS="1795009000000")
    with queues.server, (service := queues.service()).cluster:
        for topic in (None, "Orders"):
            assert [copy.relation for copy in service.one(UNIQ, topic).copies] == ["timer"]


# ---- groups, lite topics


def test_the_group_of_a_pop_copy_is_the_one_that_it_names() -> None:
    """PopReviveService of 5.4.0; the name of the topic fits a group `a` of `b_Orders` as well."""
    marks = {"1ST_POP_TIME": "1795000000000", "ORIGIN_GROUP": "a_b"}
    assert group_of(record("%RETRY%a_b_Orders", UNIQ, 0, properties=marks), ["b_Orders"]) == "a_b"


def test_a_lite_topic_is_looked_up_in_its_parent() -> None:
    queues = Queues({"Sessions": 1})
    made = queues.put(
        "Sessions", 0, 5_000, UNIQ, __LITE_TOPIC="session-0", INNER_MULTI_DISPATCH="%LMQ%$Sessions$session-0"
    )
    with queues.server, (service := queues.service()).cluster:
        answer = service.one(UNIQ, "%LMQ%$Sessions$session-0")
    assert [copy.record for copy in answer.copies] == [made] and "lite_topic" in codes(answer)


def test_a_recall_handle_leads_to_its_message() -> None:
    """RecallMessageHandle.HandleV1.buildHandle: base64url of the version, topic, broker, due time and msgId."""
    queues = Queues({"Orders": 1, "rmq_sys_wheel_timer": 1})
    queues.refused = {60: (1, "no timer")}
    due = {"REAL_TOPIC": "Orders", "TIMER_OUT_MS": "1795009000000"}
    made = queues.put("rmq_sys_wheel_timer", 0, 5_000, UNIQ, **due)
    handle = base64.urlsafe_b64encode(f"v1 Orders a 1795009000000 {UNIQ}".encode()).decode()
    with queues.server, (service := queues.service()).cluster:
        answer = service.one(handle)
    assert [copy.record for copy in answer.copies] == [made] and "recall_handle" in codes(answer)


def test_an_offset_below_the_local_log_may_be_in_tiered_storage() -> None:
    made = Tiered({"Orders": 1})
    made.first["Orders", 0] = 40
    made.put("Orders", 0, 5_000, UNIQ)
    with made.server, (service := made.service()).cluster:
        below = offset_id(made, 20_000)
        found = service.one(below, "Orders")
        assert found.reason == "before_minimum" and "may_be_tiered" in codes(found)
        made.tier = 40
        assert "may_be_tiered" not in codes(service.one(below, "Orders"))
        assert "may_be_tiered" not in codes(service.one(below)), "without a topic no queue is known"


def test_the_messages_of_a_light_topic_are_listed_by_its_own_queue() -> None:
    made, light = LightQueues({"Parent": 2}), "%LMQ%$Parent$session-0"
    sent = []
    for at in range(5):
        names = [light, "%LMQ%$Parent$other"] if at % 2 else [light]
        more = {
            "INNER_MULTI_DISPATCH": ",".join(names),
            "INNER_MULTI_QUEUE_OFFSET": ",".join([str(at), "7"][: len(names)]),
        }
        sent.append(made.put("Parent", at % 2, 1_000 * at, **more))
    strange = made.put("Parent", 0, 6_000)
    made.held[light, 0] = [*sent, strange]
    with made.server, (service := made.service()).cluster:
        for given, expected in (
            ({"from": "2020-01-01T00:00:00Z"}, sent),
            ({"queue": "a:0:3"}, sent[3:4]),
        ):
            way = Way.of({"topic": light, **given}, UTC)
            assert way is not None
            found = service.list_messages(way)
            assert [copy.record for copy in found.copies] == expected
            assert "lite_topic" in {item.code for item in found.evidence}
        none = Way.of({"topic": "%LMQ%$Parent$nobody", "from": "2020-01-01T00:00:00Z"}, UTC)
        assert none is not None and service.list_messages(none).reason == "no_queue"
        assert not [
            frame for frame in made.server.seen if frame.code == 31 and "nobody" in (frame.field("topic") or "")
        ]
