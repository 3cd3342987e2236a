"""Look-ups against small servers on loopback: what a real cluster cannot be brought to do, and strangers' input."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from pathlib import Path

import pytest

from idcore.answers.lookup import (
    Answer,
    LookupService,
    Moment,
    advice_text,
    batches,
    cluster,
    evidence_text,
    notes,
    row_of,
)
from idcore.answers.lookup.cluster import IDS_AT_ONCE
from idcore.answers.lookup.copies import explain, home_topic, is_special, related_topics
from idcore.base import catalogue
from idcore.base.catalogue import words
from idcore.ids import OffsetId, UniqId
from idcore.rocketmq.message import Host, Record
from idcore.rocketmq.remoting.audit import AuditLog, RateLimit
from idcore.rocketmq.remoting.errors import TooManyLookups
from idcore.rocketmq.remoting.frame import Frame
from idcore.rocketmq.remoting.guard import Topology
from idcore.rocketmq.remoting.requests import BrokerEntry
from tests.remoting.fake import NOW, UNIQ, Fake, record
from tests.remoting.servers import answer
from tests.remoting.test_cluster import closed

CONTRACT = {
    "before_minimum",
    "beyond_end",
    "mid_record",
    "blank",
    "hole",
    "damaged",
    "expired",
    "wrong_topic",
    "topic_unknown",
    "index_lost",
    "window",
    "clock_behind",
    "not_in_topology",
    "unreachable",
    "not_permitted",
    "not_an_id",
    "unknown",
}


@pytest.fixture
def fake() -> Iterator[Fake]:
    made = Fake(["Orders", "Notices"], [])
    with made.server:
        yield made


def test_every_reason_of_the_contract_has_its_words_and_its_advice() -> None:
    assert set(words().table("lookup.reason.")) == set(words().table("lookup.advice.")) == CONTRACT
    own = words().table("store.advice.")
    assert set(own) <= set(words().table("store.reason.")) and "expired" not in own
    for reason in CONTRACT:
        missed = Answer("x", (), reason, (), (), source="store")
        assert advice_text(missed, words=catalogue.words()) == own.get(reason, words()(f"lookup.advice.{reason}"))


class TestCopies:
    def relations(self, *records: Record) -> list[str | None]:
        return [copy.relation for copy in explain([(each, "a") for each in records])]

    def test_another_body_under_one_id_is_said(self) -> None:
        one, two = record("Orders", UNIQ, 0, b"one"), record("Orders", UNIQ, 500, b"two")
        assert self.relations(one, two) == ["message", "differs"]

    def test_the_same_record_shown_twice_is_one_copy(self) -> None:
        one = record("Orders", UNIQ, 0)
        assert self.relations(one, one) == ["message"]

    def test_messages_without_an_id_of_their_own_are_not_copies_of_each_other(self) -> None:
        one, two = (record("Orders", None, at, properties={"KEYS": "order-1"}) for at in (0, 500))
        assert self.relations(one, two) == ["message", "message"]

    def test_the_message_comes_before_what_the_broker_made_of_it(self) -> None:
        half = record("RMQ_SYS_TRANS_HALF_TOPIC", UNIQ, 0, properties={"REAL_TOPIC": "Orders"})
        done = record("Orders", UNIQ, 500, prepared_transaction_offset=7)
        timer = record("rmq_sys_wheel_timer", UNIQ, 900, properties={"REAL_TOPIC": "Orders"})
        assert self.relations(half, done, timer) == ["committed", "half", "timer"]

    def test_where_a_copy_comes_from(self) -> None:
        assert home_topic(record("%RETRY%g", UNIQ, 0, properties={"RETRY_TOPIC": "Orders"})) == "Orders"
        assert (
            home_topic(record("SCHEDULE_TOPIC_XXXX", UNIQ, 0, properties={"REAL_TOPIC": "%RETRY%g"}))
            == "SCHEDULE_TOPIC_XXXX"
        )
        assert home_topic(record("Orders", UNIQ, 0, properties={"REAL_TOPIC": "Other"})) == "Orders"

    def test_which_topics_hold_copies(self) -> None:
        every = ["%DLQ%g", "Orders", "SCHEDULE_TOPIC_XXXX", "TBW102", "%RETRY%g", "RMQ_SYS_TRANS_HALF_TOPIC"]
        assert related_topics(every) == ["RMQ_SYS_TRANS_HALF_TOPIC", "SCHEDULE_TOPIC_XXXX", "%DLQ%g", "%RETRY%g"]
        assert [topic for topic in every if not is_special(topic)] == ["Orders"]


class TestAnswers:
    def test_records_of_other_keys_that_hash_alike_are_left_out(self, fake: Fake) -> None:
        fake.records = [record("Orders", "SOMEBODY-ELSE", 0), record("Orders", UNIQ, 500)]
        answer_ = fake.service().one(UNIQ)
        assert [copy.record.uniq_id for copy in answer_.copies] == [UNIQ]

    def test_rubbish_in_a_brokers_answer_is_said_and_kills_nothing(self, fake: Fake) -> None:
        fake.records = [record("Orders", "SOMEBODY-ELSE", 0)]
        whole = bytes(fake.records[0])
        usual = fake.server._handle
        shown = [b""]

        def handle(frame: Frame) -> Iterable[bytes]:
            yield from ([answer(frame, 0, shown[0])] if frame.code == 12 else usual(frame))

        fake.server._handle = handle
        for raw in (whole[:-1], whole[:30], b"\0" * 8, b"\xff" * 200, whole + b"x"):
            shown[0] = raw
            found = fake.service().one(UNIQ)
            assert not found.found and "bad_record" in {item.code for item in found.evidence}
            assert found.reason == "unreachable", "a miss is not claimed"

    def test_a_damaged_record_at_the_right_place(self, fake: Fake) -> None:
        one = record("Orders", UNIQ, 4_096)
        fake.raw = {4_096: bytes(one)[:-3]}
        host = fake.server.address
        answer_ = fake.service().one(str(OffsetId.of(host.ip, host.port, 4_096)))
        assert answer_.reason == "damaged"

    def test_another_record_than_asked_for_is_not_the_message(self, fake: Fake) -> None:
        fake.raw = {64: bytes(record("Orders", UNIQ, 4_096))}
        host = fake.server.address
        answer_ = fake.service().one(str(OffsetId.of(host.ip, host.port, 64)))
        assert answer_.reason == "mid_record"
        assert {"answered_other", "log_range"} <= {item.code for item in answer_.evidence}

    def test_the_clock_counts_in_its_own_zone(self, fake: Fake) -> None:
        behind = fake.service()
        fake.clock = NOW - timedelta(hours=1)
        seconds = int((NOW - timedelta(minutes=5) - datetime(2021, 1, 1, tzinfo=UTC)).total_seconds())
        answer_ = behind.one(f"0108719066FF9A489C{seconds:08X}00000003")
        assert answer_.reason == "clock_behind"
        fake.clock = NOW
        assert fake.service().one(f"0108719066FF9A489C{seconds:08X}00000003").reason == "unknown"

    def test_more_topics_than_allowed_are_counted_and_likely_ones_come_first(self, fake: Fake) -> None:
        fake.topics = [f"T{number:03d}" for number in range(100)]
        fake.records = [record("T099", UNIQ, 0)]
        service = fake.service(most_topics=10)
        left = service.one(UNIQ)
        assert not left.found and left.reason != "not_an_id"
        assert service.one("a-key").reason == "unknown"  # it may be in a topic that was not asked
        assert [item.values["count"] for item in left.evidence if item.code == "topics_left_out"] == [90]
        assert service.one(UNIQ, "T099").found  # and from now on this topic is a likely one
        assert service.one(UNIQ).found

    def test_progress_is_told_and_ends_with_all(self, fake: Fake) -> None:
        fake.topics = [f"T{number:03d}" for number in range(150)]
        seen: list[tuple[int, int, str]] = []
        fake.service().one(UNIQ, None, lambda done, total, topic: seen.append((done, total, topic)))
        assert (0, 150, "T000") in seen and (64, 150, "T064") in seen and (150, 150, "") in seen

    def test_answers_come_in_the_order_of_the_ids_each_asked_once(self, fake: Fake, tmp_path: Path) -> None:
        fake.records = [record("Orders", UNIQ, 0)]
        service = fake.service(audit=AuditLog(tmp_path / "audit"))
        ids = [UNIQ, "nothing", UNIQ, "order-1"]
        assert [each.id for each in service.look_up(ids)] == ids
        lines = [json.loads(line) for line in (tmp_path / "audit").read_text().splitlines()]
        assert sorted(line["id"] for line in lines) == sorted({*ids})
        by_id = {line["id"]: line for line in lines}
        assert by_id[UNIQ]["result"] == "found 1" and by_id["nothing"]["result"] == "not_an_id"
        assert by_id[UNIQ]["asked"] == [str(fake.server.address)] and "body" not in (tmp_path / "audit").read_text()

    def test_an_id_that_a_list_repeats_soon_is_asked_about_once(self, fake: Fake, tmp_path: Path) -> None:
        fake.records = [record("Orders", UNIQ, 0)]
        service = fake.service(audit=AuditLog(tmp_path / "audit"))
        part = ([UNIQ, "nothing", "order-1"] * IDS_AT_ONCE)[:IDS_AT_ONCE]
        answers = list(service.look_up(iter(part * 3)))  # the third part asks again: no answer gets old
        assert [each.id for each in answers] == part * 3 and all(each.found == (each.id == UNIQ) for each in answers)
        lines = [json.loads(line) for line in (tmp_path / "audit").read_text().splitlines()]
        assert sorted(line["id"] for line in lines) == sorted([*{*part}] * 2)

    def test_a_failure_is_not_the_answer_of_the_next_ids(self, fake: Fake) -> None:
        fake.records, fake.master = [record("Orders", "A1" * 16, 0)], closed()
        ids, found = [UNIQ] * (IDS_AT_ONCE + 1), list[bool]()
        for answer_ in fake.service().look_up(ids):
            if not found:
                assert answer_.reason == "unreachable"
                fake.records = [record("Orders", UNIQ, 0)]
            found.append(answer_.found)
        assert found == [False] * IDS_AT_ONCE + [True]

    def test_a_user_over_the_limit_asks_nobody(self, fake: Fake) -> None:
        service = fake.service(limit=RateLimit(2))
        assert len(list(service.look_up([UNIQ, "x"], user="ann"))) == 2
        asked = len(fake.server.seen)
        with pytest.raises(TooManyLookups):
            list(service.look_up([UNIQ], user="ann"))
        assert len(fake.server.seen) == asked
        assert len(list(service.look_up([UNIQ], user="bob"))) == 1

    def test_no_id_makes_a_name_service_be_asked(self, fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("socket.getaddrinfo", lambda *_, **__: pytest.fail("a name service was asked"))
        for text in (str(OffsetId.of("203.0.113.7", 80, 5)), "evil.example.com:80", "localhost"):
            assert not fake.service().one(text).found

    def test_what_a_slave_does_not_have_may_be_on_its_master_that_is_down(self, fake: Fake) -> None:
        fake.master = closed()
        answer_ = fake.service().one(UNIQ)
        assert answer_.reason == "unreachable" and fake.master in str(answer_.evidence)
        fake.records = [record("Orders", UNIQ, 0)]
        answer_ = fake.service().one(UNIQ)
        assert answer_.found and "replica" in {item.code for item in answer_.evidence}

    def test_a_message_that_was_found_stays_found_when_its_copies_cannot_be_asked_for(self, fake: Fake) -> None:
        address = fake.server.address
        fake.records = [record("Orders", UNIQ, 64, port=address.port)]
        usual = fake.server._handle
        fake.server._handle = lambda frame: [answer(frame, 1, b"", "broken")] if frame.code == 206 else usual(frame)
        answer_ = fake.service().one(str(OffsetId.of(address.ip, address.port, 64)))
        assert answer_.found and "error_answer" in {item.code for item in answer_.evidence}

    def test_the_zone_of_the_reader_does_not_hide_a_message(self, fake: Fake) -> None:
        fake.records = [record("Orders", UNIQ, 0)]
        for hours in (-12, 0, 14):
            zone = timezone(timedelta(hours=hours))
            service = fake.service()
            service._moment = lambda zone=zone: Moment(NOW, zone)  # type: ignore[misc]
            assert service.one(UNIQ).found


def test_records_that_were_tampered_with_kill_nothing(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    """What still reads as a record may hold anything: times, hosts, lengths, properties out of every order."""
    monkeypatch.setattr(batches, "MOST_AFTER", 1)  # a server in Python answers 500 a second
    chance = random.Random(11)
    whole = record(
        "Orders", UNIQ, 4_096, b"body" * 20, properties={"KEYS": "a b", "DELAY": "1", "REAL_TOPIC": "Orders"}
    )
    usual, shown = fake.server._handle, [b""]

    def handle(frame: Frame) -> Iterable[bytes]:
        yield from ([answer(frame, 0, shown[0])] if frame.code in (12, 33) else usual(frame))

    fake.server._handle = handle
    service, found = fake.service(), 0
    address = fake.server.address
    offset_id = str(OffsetId.of(address.ip, address.port, 4_096))
    for _ in range(300):
        raw = bytearray(bytes(whole))
        for _ in range(chance.randint(1, 3)):
            raw[chance.randrange(8, len(raw))] = chance.choice((0, 1, 2, 0x7F, 0x80, 0xFF, chance.randrange(256)))
        shown[0] = bytes(raw)
        for text in (UNIQ, offset_id):
            row = row_of(service.one(text, "Orders"))
            found += bool(row["found"])
            assert json.dumps(row) and (row["found"] or row["reason"] in CONTRACT)
    assert 100 < found < 600


def test_malformed_ids_kill_nothing(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "MOST_AFTER", 1)  # a server in Python answers 500 a second
    chance = random.Random(5)
    shapes = [UNIQ, str(OffsetId.of("127.0.0.1", 10911, 77)), "0108719066FF9A489C04DB99CA00000003", UNIQ + UNIQ[:24]]
    ids = []
    for _ in range(600):
        text = list(chance.choice(shapes))
        for _ in range(chance.randint(1, 4)):
            at = chance.randrange(len(text))
            text[at] = chance.choice("0123456789ABCDEFabcdefgZ \n\u0000é键\U0001f680:/%,")
        ids.append("".join(text)[: chance.choice([5, 31, 32, 34, 56, 99])])
    service = fake.service()
    reasons = [each.reason for each in service.look_up(ids, "Orders")]
    assert len(reasons) == 600 and None not in reasons
    assert {"not_an_id", "unknown", "not_in_topology"} <= set(reasons)
    assert fake.server.callers < 40


# ---- items of 5.x batches

# Java client 5.5.0 against broker 5.3.3: one of three, and the id under which the broker stored them.
REAL_ITEM, REAL_BATCH = (f"FD000000000000000000000000000002746230946E096E4839D4{n}" for n in ("002A", "002D"))


def batch(item_ids: Sequence[str], batch_id: str, topic: str = "Orders") -> list[Record]:
    """As a broker 5.0 to 5.3.3 stores it: each item with its own UNIQ_KEY and behind it that of the batch."""
    host = Host(b"\x7f\0\0\1", 10911)
    made = []
    for at, text in enumerate(item_ids):
        properties = f"UNIQ_KEY\1{text}\2WAIT\1true\2UNIQ_KEY\1{batch_id}\2WAIT\1true\2"
        one = Record.of(topic, b"body", properties, queue_id=0, born_timestamp=0, born_host=host, store_host=host)
        made.append(one.placed(0, 500 * at, 1_795_000_000_000))
    return made


def by_index(fake: Fake) -> None:
    """The broker answers by key, as one with an index does."""
    usual = fake.server._handle

    def handle(frame: Frame) -> Iterable[bytes]:
        if frame.code != 12:
            return usual(frame)
        wanted = (frame.field("topic"), frame.field("key"))
        found = [each for each in fake.records if (each.topic, each.uniq_id) == wanted][-32:]
        return [answer(frame, 0, b"".join(map(bytes, found))) if found else answer(frame, 22, b"", "no")]

    fake.server._handle = handle


def item(counter: int, elapsed: int = 0x6E4839D4, host: str = "10.0.0.7") -> str:
    return str(UniqId.of(host, 4711, 0x18B4AAC2, elapsed, counter % 65_536))


class TestBatches:
    def test_an_item_is_found_by_its_own_id(self, fake: Fake) -> None:
        ids = [REAL_ITEM[:-1] + digit for digit in "ABC"]
        fake.records = batch(ids, REAL_BATCH)
        by_index(fake)
        for topic in ("Orders", None):
            for place, text in enumerate(ids, 1):
                found = fake.service().one(text, topic)
                assert (found.found, found.reason) == (True, "index_lost")
                assert [copy.record.physical_offset for copy in found.copies] == [500 * (place - 1)]
                said = next(evidence_text(each) for each in found.evidence if each.code == "batch_item")
                assert f"item {place} of 3" in said and REAL_BATCH in said

    @pytest.mark.parametrize(
        ("own", "of_batch"),
        [
            (item(65_534), item(65_536)),  # the counter wraps between them
            (item(7), item(8, 0x6E4839D5)),  # the next millisecond
            (item(7), item(39)),
        ],
    )
    def test_the_batch_has_a_later_id(self, own: str, of_batch: str, fake: Fake) -> None:
        fake.records = batch([own], of_batch)
        by_index(fake)
        assert fake.service().one(own, "Orders").found

    @pytest.mark.parametrize(
        ("own", "of_batch"),
        [
            (item(7), item(6)),  # made before
            (item(7), item(40)),  # too far
            (item(7), item(8, host="10.0.0.8")),
            (item(9), item(10)),  # a batch, but of other items
        ],
    )
    def test_another_batch_is_not_taken_for_it(self, own: str, of_batch: str, fake: Fake) -> None:
        fake.records = batch([item(7)], of_batch)
        by_index(fake)
        asked = item(9) if own == item(9) else own
        fake.records += [] if asked != item(9) else batch([item(8)], item(10))
        found = fake.service().one(asked, "Orders")
        assert not found.found and not [each for each in found.evidence if each.code.startswith("batch")]

    def test_the_next_message_is_no_batch(self, fake: Fake) -> None:
        fake.records = [record("Orders", item(8), 0), record("Orders", item(9), 500)]
        by_index(fake)
        assert fake.service().one(item(7), "Orders").reason == "unknown"

    def test_few_questions_are_asked(self, fake: Fake) -> None:
        fake.topics = [f"T{number:03d}" for number in range(40)]
        by_index(fake)
        fake.service().one(item(7))
        keys = [frame.field("key") for frame in fake.server.seen if frame.code == 12]
        assert len([key for key in keys if key != item(7)]) == 8 * 64, "eight topics"
        before = len(fake.server.seen)
        fake.service().one(item(7)[:20] + item(7)[20:].lower())  # the Go client's batches have no id
        assert {str(frame.field("key")).upper() for frame in fake.server.seen[before:] if frame.code == 12} == {item(7)}

    def test_a_search_that_is_bounded_in_time_stays_so(self, fake: Fake) -> None:
        fake.records = batch([item(7)], item(8))
        by_index(fake)
        assert fake.service(search_whole_log=False).one(item(7), "Orders").found
        asked = [frame for frame in fake.server.seen if frame.code == 12 and frame.field("key") != item(7)]
        begins = {frame.field("beginTimestamp") for frame in asked}
        assert begins and "0" not in begins


# ---- the producer's zone is not known

HALF_AN_HOUR = timedelta(minutes=30)
SERVER_NOWS = {
    "in_the_month": datetime(2026, 11, 21, 7, 0, tzinfo=UTC),
    "on_the_first": datetime(2026, 11, 1, 0, 10, tzinfo=UTC),
    "before_the_first": datetime(2026, 10, 31, 20, 10, tzinfo=UTC),
}


def made_at(at: datetime, hours: float) -> str:
    """The id that a Java client in a zone makes at an instant."""
    local = at.astimezone(timezone(timedelta(hours=hours)))
    begin = local.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    return str(UniqId.of("10.0.0.7", 4711, 0x18B4AAC2, round((local - begin).total_seconds() * 1000), 9))


def desk_at(fake: Fake, now: datetime, kept: timedelta, known: tzinfo | None = None, **more: bool) -> LookupService:
    fake.clock, fake.earliest = now, now - kept
    service = fake.service(**more)
    service._moment = lambda: Moment(now, known or UTC, known is not None)  # type: ignore[method-assign]
    return service


@pytest.mark.parametrize("hours", [8, 13, 5.5, 0, -10, 14, -12])
@pytest.mark.parametrize("now", SERVER_NOWS.values(), ids=SERVER_NOWS)
class TestZones:
    def test_an_id_half_an_hour_old_is_not_called_expired(self, now: datetime, hours: float, fake: Fake) -> None:
        service = desk_at(fake, now, timedelta(days=3))
        for age in (HALF_AN_HOUR, timedelta(seconds=1), timedelta(seconds=-40), timedelta(days=2)):
            found = service.one(made_at(now - age, hours), "Orders")
            assert found.reason == "unknown", (age, found.evidence)
            codes = {item.code for item in found.evidence}
            assert "id_time_open" in codes and "id_time" not in codes and "earliest" in codes

    def test_an_id_a_week_older_than_the_log_is_expired_in_every_zone(
        self, now: datetime, hours: float, fake: Fake
    ) -> None:
        assert desk_at(fake, now, timedelta(days=3)).one(made_at(now - timedelta(days=10), hours)).reason == "expired"

    def test_a_message_half_an_hour_old_is_found_although_only_its_own_time_may_be_searched(
        self, now: datetime, hours: float, fake: Fake
    ) -> None:
        text = made_at(now - HALF_AN_HOUR, hours)
        stored = round((now - HALF_AN_HOUR).timestamp() * 1000)
        one = record("Orders", text, 0)
        fake.records = [replace(one, store_timestamp=stored)]
        begins = []
        usual = fake.server._handle

        def handle(frame: Frame) -> Iterable[bytes]:
            if frame.code == 12:
                begins.append(int(frame.field("beginTimestamp") or 0))
                if begins[-1] > stored:
                    return [answer(frame, 22, b"", "no")]
            return usual(frame)

        fake.server._handle = handle
        assert desk_at(fake, now, timedelta(days=3), search_whole_log=False).one(text).found and begins


@pytest.mark.parametrize(("days", "found"), [(5, True), (0, False)])
def test_a_broker_whose_clock_is_behind_is_asked_from_that_much_earlier(days: int, found: bool, fake: Fake) -> None:
    """Its index has store times: those of its own clock. One whose clock is right is not asked further back."""
    now = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
    text = made_at(now - HALF_AN_HOUR, 0)
    stored = round((now - HALF_AN_HOUR - timedelta(days=5)).timestamp() * 1000)
    fake.records = [replace(record("Orders", text, 0), store_timestamp=stored)]
    usual = fake.server._handle

    def handle(frame: Frame) -> Iterable[bytes]:
        if frame.code == 12 and int(frame.field("beginTimestamp") or 0) > stored:
            return [answer(frame, 22, b"", "no")]
        return usual(frame)

    fake.server._handle = handle
    service = desk_at(fake, now, timedelta(days=9), UTC, search_whole_log=False)
    fake.clock = now - timedelta(days=days)
    said = service.one(text, "Orders")
    assert (said.found is not None and bool(said.found)) == found
    assert ("clock" in {item.code for item in said.evidence}) == found


def test_what_is_open_is_said(fake: Fake) -> None:
    now = SERVER_NOWS["in_the_month"]
    # at 07:30 of its zone: half an hour ago at +01:00, a month ago in UTC
    found = desk_at(fake, now, timedelta(days=3)).one(made_at(now - HALF_AN_HOUR, 1))
    (open_,) = [item for item in found.evidence if item.code == "expired_open"]
    assert open_.values["first"].startswith("2026-10") and open_.values["sent"].startswith("2026-11-21T06:30")
    assert "depends on its producer's time zone" in evidence_text(open_)


def test_a_zone_that_is_known_decides(fake: Fake) -> None:
    now = SERVER_NOWS["in_the_month"]
    text = made_at(now - HALF_AN_HOUR, 8)
    assert desk_at(fake, now, timedelta(days=3), UTC).one(text).reason == "expired"
    found = desk_at(fake, now, timedelta(days=3), timezone(timedelta(hours=8))).one(text)
    assert found.reason == "unknown" and {"id_time"} == {i.code for i in found.evidence if i.code.startswith("id_time")}


def test_an_id_of_the_rust_client_is_of_its_month_and_not_of_2021(fake: Fake) -> None:
    now = datetime(2026, 11, 1, 1, 0, tzinfo=UTC)
    text = f"0108719066FF9A489C{1_800_000:08x}00000003".replace("ff9a", "FF9A")
    text = text[:18] + text[18:].lower()
    assert desk_at(fake, now, timedelta(days=3)).one(text).reason == "unknown"


def test_small_records_have_the_bound_of_what_they_take_in_memory() -> None:
    """Those of 256 MiB took 3 GB."""
    room = notes.RecordRoom(20_000)
    assert sum(room.takes(134) for _ in range(150)) == 17


def test_copies_of_ids_that_are_looked_up_together_have_a_bound(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stranger's broker has copies of any ID: those of 64 IDs filled the memory of the server."""
    room = notes.RecordRoom(20_000)
    monkeypatch.setattr(cluster, "RecordRoom", lambda **_: room)
    keys = {"KEYS": f"{UNIQ} {UNIQ[:-1]}1"}
    fake.records = [record("Orders", None, at, b"x" * 5_000, properties=keys) for at in range(3)]
    first, second = fake.service().look_up([UNIQ, f"{UNIQ[:-1]}1"], "Orders")
    assert len(first.copies) + len(second.copies) == 3, "six are there"
    assert {"no_answer"} == {item.code for each in (first, second) for item in each.evidence if "answer" in item.code}
    assert first.reason is None or second.reason is None


def test_brokers_that_a_route_names_often_or_that_nobody_has_cost_little(fake: Fake) -> None:
    """Anybody may register at a name server: each question was asked as often as a route named its broker."""
    names = ["a"] * 3_000 + [f"b{at}" for at in range(3_000)]
    held = {
        "brokerDatas": [{"brokerAddrs": {"0": "127.0.0.1:1"}, "brokerName": name} for name in names],
        "queueDatas": [{"brokerName": "a", "readQueueNums": 1}],
    }

    def handle(frame: Frame) -> Iterable[bytes]:
        yield from [answer(frame, 0, json.dumps(held).encode())] if frame.code == 105 else fake.handle(frame)

    fake.records = [record("Orders", UNIQ, 0)]
    fake.server._handle = handle
    found = fake.service().one(UNIQ, "Orders")
    assert found.found and sum(frame.code == 12 for frame in fake.server.seen) < 10
    assert sum(item.code == "no_answer" for item in found.evidence) == 1_000


def test_replicas_of_one_broker_are_few() -> None:
    many = BrokerEntry("a", "c", {number: f"127.0.0.1:{number + 1}" for number in range(50_000)})
    members = Topology.of("c", [many], {}, 1).brokers()["a"]
    assert [member.number for member in members] == [*range(32)]
