"""The journey of a message: each source alone, all together, contradictions with their size, gaps, order, words."""

from __future__ import annotations

import random
import string
from dataclasses import replace
from datetime import UTC, timedelta, timezone, tzinfo
from typing import Any

import pytest

from idcore.answers.fate import Verdict
from idcore.answers.fate.model import Fact
from idcore.answers.journey import (
    Journey,
    Line,
    Sources,
    build,
    event_text,
    found_text,
    lines_of,
    oddities,
    row_of,
    short_text,
    source_of,
    steps,
    when_text,
)
from idcore.answers.journey.sentences import conflict_text, gap_text
from idcore.answers.lookup import Answer, Copy
from idcore.answers.lookup.copies import explain
from idcore.answers.lookup.model import TraceResult
from idcore.base import catalogue
from idcore.base.catalogue import words
from idcore.base.safe_text import json_text
from idcore.ids.clock import Clock, from_ms
from idcore.ids.identify import identify
from idcore.ids.model import UniqId
from idcore.ids.tokens import Token
from idcore.intake.intake import FoundId
from idcore.presentation.html import journeys
from idcore.presentation.message_sentence import of_journey
from idcore.presentation.reader import Reader
from idcore.rocketmq.message import Host, Record
from idcore.rocketmq.message.attempts import Attempt, MessageTrace, Send
from idcore.rocketmq.message.properties import encode
from idcore.rocketmq.message.trace import EndTransaction, Recall
from idcore.simulate.printed import message_ext, send_result

CHINA = timezone(timedelta(hours=8))
BASE = 1_795_139_400_000  # 2026-11-20T01:50:00Z, 09:50 in China
ELAPSED = 19 * 86_400_000 + 9 * 3_600_000 + 50 * 60_000  # since the month began in China
MSG_ID = str(UniqId.of("10.0.0.7", 3416, 0x18B4AAC2, ELAPSED, 77))
SHANGHAI = Clock(from_ms(BASE, CHINA) + timedelta(days=1), CHINA, "given")
ASSUMED = replace(SHANGHAI, zone_source="assumed")
PRODUCER, BROKER = Host(bytes((10, 0, 0, 7)), 50_122), Host(bytes((10, 0, 0, 1)), 10_911)


def record(
    topic: str = "Orders", stored: int = 9, offset: int = 0, tries: int = 0, born: int = 3, **more: str
) -> Record:
    """A record of the message, its times in ms after the id was generated."""
    made = Record.of(
        topic,
        b"{}",
        encode({"UNIQ_KEY": MSG_ID, **more}),
        queue_id=0,
        born_timestamp=BASE + born,
        born_host=PRODUCER,
        store_host=BROKER,
        reconsume_times=tries,
    )
    return made.placed(10, offset, BASE + stored)


def copies(*records: Record) -> tuple[Copy, ...]:
    return explain([(each, "10.0.0.1:10911") for each in records])


HOME = record()
RETRY = record("%RETRY%works", 10_200, 700, 1, RETRY_TOPIC="Orders")
WAITING = record("SCHEDULE_TOPIC_XXXX", 60, 600, 1, RETRY_TOPIC="Orders", REAL_TOPIC="%RETRY%works")


def attempt(began: int | None, ended: int | None, tries: int | None = 0, success: bool | None = True) -> Attempt:
    began, ended = (None if each is None else BASE + each for each in (began, ended))
    code = None if success is None else 0 if success else 2
    who = ("10.0.0.3", 4464, "18B4AAC2", 1, "10.0.0.3:5")
    return Attempt(MSG_ID, "works", f"R{began}", began, ended, success, code, tries, *who)


def send(began: int = 1, cost: int = 12, success: bool | None = True) -> Send:
    return Send(MSG_ID, "Orders", "senders", BASE + began, cost, success, str(BROKER), 0, None, "10.0.0.7:50122")


def verdict(code: str = "consumed", group: str = "works", asked: int = 600_000, **values: Any) -> Verdict:
    return Verdict(group, str(HOME.offset_id), code, "inferred", values, (), (Fact("queue", 1, BASE + asked),))


def trace(*attempts: Attempt, sends: tuple[Send, ...] = (), **more: Any) -> MessageTrace:
    return MessageTrace(sends, attempts, **more)


def journey(clock: Clock = SHANGHAI, text: str = MSG_ID, **sources: Any) -> Journey:
    return build(text, Sources(**sources), clock, clock.zone)


def codes(made: Journey) -> list[str]:
    return [event.code for event in made.events]


def conflicts(made: Journey) -> list[tuple[str, int]]:
    return [(each.code, each.by_ms) for each in made.conflicts]


def logged(at: int, text: str, zone: tzinfo = CHINA, number: int = 1, suffix: str = "") -> Line:
    opened = f"{from_ms(BASE + at, zone):%Y-%m-%d %H:%M:%S}.{(BASE + at) % 1000:03d}{suffix}"
    return Line("app.log", number, f"{opened} INFO {text}")


FAILED = f"consumeMessage exception: Group: works Msgs: [{MSG_ID}]"


def sent_line(at: int, **more: Any) -> Line:
    return logged(at, send_result(MSG_ID, str(HOME.offset_id), "Orders", "broker-a", 0, 10), **more)


def printed_line(at: int, **more: Any) -> Line:
    text = message_ext(
        broker="broker-a",
        queue=0,
        size=200,
        queue_offset=10,
        born_ms=BASE + 3,
        born_host=str(PRODUCER),
        stored_ms=BASE + 9,
        store_host=str(BROKER),
        offset_id=str(HOME.offset_id),
        physical_offset=0,
        topic="Orders",
        properties={"UNIQ_KEY": MSG_ID},
    )
    return logged(at, text, **more)


# ---- each source alone


def test_an_id_alone_has_its_own_time_with_what_is_open() -> None:
    (event,) = journey().events
    assert (event.code, event.at_ms, event.who, event.is_open) == ("generated", BASE, "10.0.0.7 · 3416", False)
    (event,) = journey(ASSUMED).events
    assert event.is_open and event.earliest_ms is not None and event.latest_ms is not None
    assert event.earliest_ms == BASE - 6 * 3_600_000 and event.latest_ms > BASE + 15 * 3_600_000
    assert " – " not in when_text(event, words=catalogue.words()) and "between" in when_text(
        event, words=catalogue.words()
    )
    assert journey().found == {"lines": None, "records": None, "groups": None, "trace": None}


def test_each_event_says_which_clock_its_time_is_of() -> None:
    text = str(UniqId.of("2001:db8::7", 3416, 0x18B4AAC2, 1, 1))
    assert {event.clock for event in journey(text=text).events} == {"2001:db8::7"}
    assert {event.clock for event in journey(copies=copies(HOME)).events} == {"10.0.0.7", PRODUCER.host, BROKER.host}
    made = journey(lines=[printed_line(48, number=2), sent_line(14)])
    lines = ("app.log", "app.log")
    assert [event.clock for event in made.events] == ["10.0.0.7", PRODUCER.host, BROKER.host, *lines]


def test_a_text_without_a_time_has_no_event_of_its_own() -> None:
    for text in ("order-42", str(HOME.offset_id), ""):
        assert journey(text=text).events == ()
    made = journey(text=str(HOME.offset_id), copies=copies(HOME))
    assert codes(made) == ["generated", "born", "stored"], "its record has a msgId, which has a time"


def test_log_lines_alone_give_the_send_the_record_and_the_consumer() -> None:
    made = journey(lines=[printed_line(48, number=2), sent_line(14)])
    assert codes(made) == ["generated", "born", "stored", "logged_send", "logged_message"]
    assert [event.at_ms for event in made.events] == [BASE, BASE + 3, BASE + 9, BASE + 14, BASE + 48]
    assert [event.role for event in made.events] == ["producer", "producer", "broker", "producer", "consumer"]
    assert made.events[2].who == str(BROKER) and made.events[2].evidence == "app.log:2"
    assert made.conflicts == () and made.gaps == () and made.found["lines"] == 2


def test_a_line_that_only_has_the_offset_msg_id_belongs_to_the_message_where_another_line_pairs_both() -> None:
    other = logged(30, f"handled {HOME.offset_id}", number=9)
    assert "logged" in codes(journey(lines=[sent_line(14), other]))
    two = send_result(f"{MSG_ID},{MSG_ID[:-1]}E", f"{HOME.offset_id}", "Orders", "a", 0, 10)
    made = journey(lines=[logged(14, two), other])
    assert made.events[-1].at_ms is None, "of a batch it is not known which id is whose"


def test_lines_are_asked_for_again_by_each_id_that_a_line_adds() -> None:
    other = str(HOME.offset_id)
    every = {MSG_ID: [sent_line(14)], other: [sent_line(14), logged(30, other, number=9)]}
    asked: list[tuple[str, ...]] = []

    def select(ids: tuple[str, ...]) -> tuple[list[Line], int]:
        asked.append(ids)
        found = list(dict.fromkeys(line for each in ids for line in every[each]))
        return found, len(found)

    lines, total = lines_of(MSG_ID, (), select)
    assert asked == [(MSG_ID,), tuple(sorted((MSG_ID, other)))]
    assert [line.number for line in lines] == [sent_line(14).number, 9] and total == 2, "a line with both is one"
    assert lines_of("order-1", (), select) == ([], 0), "a key is not an id"


def test_a_line_without_a_time_is_last_and_says_so() -> None:
    made = journey(lines=[Line("x.log", 3, f"got {MSG_ID}")])
    assert (
        codes(made) == ["generated", "logged"] and when_text(made.events[-1], words=catalogue.words()) == "time unknown"
    )
    assert list(steps(made, words=catalogue.words())) == ["", ""]


@pytest.mark.parametrize(
    ("text", "code", "role"),
    [
        ("sendKernelImpl exception, resend at once, InvokeID: 1 {}", "logged_resend", "producer"),
        ("send failed, msgId={}", "logged_unsent", "producer"),
        ("消息发送失败 msgId={}", "logged_unsent", "producer"),
        ("send msg to DLQ %DLQ%works, owner=a, msgUniqKey={}", "logged_dead", "broker"),
        ("Check transaction. real_topic=Orders,uniqKey={},offset=1", "logged_check", "broker"),
        ("MsgExt:{} has been checked too many times", "logged_given_up", "broker"),
        (
            "MsgExt: {} Put checked-too-many-time half message to TRANS_CHECK_MAXTIME_TOPIC OK",
            "logged_given_up",
            "broker",
        ),
        ("Half message exceed file reserved time,so skip it.messageId {},bornTime 1", "logged_given_up", "broker"),
        (
            "Transaction request:EndTransactionRequestHeader{{commitOrRollback=8, msgId='{}'}}",
            "logged_committed",
            "producer",
        ),
        ("EndTransactionRequestHeader{{commitOrRollback=12, msgId='{}'}}", "logged_rolled_back", "producer"),
        ("EndTransactionRequestHeader{{commitOrRollback=0, msgId='{}'}}", "logged_undecided", "producer"),
        ("checkLocalTransaction msgId={} result=UNKNOW", "logged_undecided", "producer"),
        ("executeLocalTransaction {}, LocalTransactionState.ROLLBACK_MESSAGE", "logged_rolled_back", "producer"),
        ("RocketMQLocalTransactionState.COMMIT of {}", "logged_committed", "producer"),
        ("checkLocalTransaction {}", "logged_checked", "producer"),
        (
            "local transaction execute COMMIT_MESSAGE, but end broker transaction failed {}",
            "logged_unended",
            "producer",
        ),
        ("{}: COMMIT_MESSAGE or ROLLBACK_MESSAGE is to be returned", "logged", "log"),
        ("Transaction rolled back because it has been marked as rollback-only {}", "logged", "log"),
        ("consumeMessage exception: Group: works Msgs: [{}]", "logged_failed", "consumer"),
        ("send expire msg back. topic=Orders, msgId={}", "logged_expired", "consumer"),
        ("BROADCASTING, the message consume failed, drop it, {}", "logged_dropped", "consumer"),
        ("order of {} paid", "logged", "log"),
    ],
)
def test_what_rocketmqs_own_lines_say(text: str, code: str, role: str) -> None:
    event = journey(lines=[logged(100, text.format(MSG_ID))]).events[-1]
    assert (event.code, event.role) == (code, role)


def test_a_store_alone_has_records_and_what_they_are() -> None:
    made = journey(copies=copies(HOME, WAITING, RETRY, record("%DLQ%works", 30_000, 900, 2)))
    assert [event.values.get("relation") for event in made.events if event.code == "stored"] == [
        "message",
        "retry_waiting",
        "retry",
        "dead_letter",
    ]
    assert codes(made).count("born") == 1, "copies keep the born time"
    assert [(each.code, made.events[each.after].values["relation"]) for each in made.gaps] == [("open", "dead_letter")]


def test_a_timer_copy_says_when_it_is_due_and_a_trace_record_is_not_a_copy() -> None:
    timer = record("rmq_sys_wheel_timer", 9, 0, TIMER_OUT_MS=str(BASE + 90_000), REAL_TOPIC="Orders")
    traced = record("RMQ_SYS_TRACE_TOPIC", 500, 5_000)
    made = journey(copies=copies(timer, traced))
    assert codes(made) == ["generated", "born", "stored", "due"] and made.found["records"] == 1
    assert made.events[-1].at_ms == BASE + 90_000


def test_a_cluster_gives_records_groups_and_attempts() -> None:
    failed = attempt(20, 50, success=False)
    found = trace(failed, attempt(10_210, 10_260, 1), sends=(send(),))
    answer = Answer(
        MSG_ID,
        copies(HOME, RETRY),
        None,
        (),
        (),
        trace=TraceResult(found, (MSG_ID,), (), ()),
        fate=(verdict("retry_waiting", due=BASE + 40_000), verdict(group="audit")),
    )
    made = build(MSG_ID, Sources.of(answer), SHANGHAI, CHINA)
    assert codes(made) == [
        "generated",
        "sent",
        "born",
        "stored",
        "attempt",
        "stored",
        "attempt",
        "due",
        "judged",
        "judged",
    ]
    assert made.conflicts == () and made.found == {"lines": None, "records": 2, "groups": 2, "trace": 3}
    first = made.events[4]
    assert (first.who, first.until_ms, first.values["outcome"]) == ("10.0.0.3 · 4464", BASE + 50, "exception")
    assert [event.who for event in made.events[-2:]] == ["audit", "works"]


def test_a_decision_and_a_recall_are_events() -> None:
    decided = EndTransaction(
        BASE + 400, None, "senders", "T", MSG_ID, None, None, None, 2, None, "ROLLBACK_MESSAGE", True
    )
    made = journey(trace=trace(decisions=(decided,), recalls=(Recall(BASE + 500, None, "g", "T", MSG_ID, True),)))
    assert codes(made) == ["generated", "decided", "recalled"]
    assert "ROLLBACK_MESSAGE" in event_text(made.events[1])


def test_a_record_that_the_store_and_the_cluster_have_is_one() -> None:
    live = Answer(MSG_ID, copies(HOME), None, (), (), fate=(verdict(),))
    stored = Answer(MSG_ID, copies(HOME, RETRY), None, (), (), source="store")
    sources = Sources.of(live, stored)
    assert sources.copies is not None and len(sources.copies) == 2 and sources.verdicts == (verdict(),)
    assert Sources.of() == Sources() and Sources.of(stored).verdicts is None


def test_the_verdicts_of_a_store_folder_are_of_its_time_and_contradict_no_clock() -> None:
    """Its offsets may be older than its last records: a broker writes them every 5 s."""
    answer = Answer(MSG_ID, copies(HOME), None, (), (), source="store", fate=(verdict(asked=-3_000),))
    made = build(MSG_ID, Sources.of(answer), SHANGHAI, CHINA)
    judged = next(event for event in made.events if event.code == "judged")
    assert made.conflicts == () and source_of(judged) == "store" and short_text(judged) == "works: state in folder"
    said = event_text(judged), event_text(judged, words("zh"))
    assert [text[:10] for text in said] == ["As of then", "截至此时，消费组 w"], (
        "it was not consumed at the time of the copy"
    )
    assert made.found["groups"] == 1


# ---- contradictions


@pytest.mark.parametrize(
    ("sources", "wanted"),
    [
        (
            {"copies": copies(record(stored=-2_000, born=3))},
            [("stored_before_born", 2_003), ("stored_before_generated", 2_000)],
        ),
        ({"copies": copies(record(born=3, stored=-90))}, []),
        ({"copies": copies(HOME), "trace": trace(sends=(send(900),))}, [("stored_before_sent", 891)]),
        ({"copies": copies(record(stored=5_000)), "trace": trace(sends=(send(),))}, [("stored_after_answer", 4_987)]),
        ({"copies": copies(HOME), "trace": trace(attempt(-3_000, -2_900))}, [("consumed_before_stored", 3_009)]),
        (
            {"copies": copies(HOME, RETRY), "trace": trace(attempt(9_000, 9_100, 1))},
            [("consumed_before_stored", 1_200)],
        ),
        ({"copies": copies(HOME), "trace": trace(attempt(5_000, 3_000))}, [("ended_before_began", 2_000)]),
        ({"copies": copies(HOME), "verdicts": [verdict(asked=-60_000)]}, [("asked_before_stored", 60_009)]),
        ({"copies": copies(record(stored=5_000)), "lines": [logged(900, FAILED)]}, [("logged_before_stored", 4_100)]),
        ({"lines": [logged(-5_000, f"got {MSG_ID}")]}, [("logged_before_generated", 5_000)]),
    ],
)
def test_who_disagrees_with_whom_by_how_much(sources: dict[str, Any], wanted: list[tuple[str, int]]) -> None:
    made = journey(**sources)
    assert sorted(conflicts(made)) == sorted(wanted)
    for each in made.conflicts:
        for lang in ("en", "zh"):
            text = conflict_text(each, made, words(lang))
            assert "?" not in text and "{" not in text


def test_clocks_are_named_once_with_their_widest_difference() -> None:
    tries = [attempt(at, at + 10) for at in (-3_000, -2_500, -200)]
    made = journey(copies=copies(HOME), trace=trace(*tries))
    assert conflicts(made) == [("consumed_before_stored", 3_009)]
    assert conflict_text(made.conflicts[0], made) == (
        "10.0.0.3 · 4464 began to consume it 3.009 s before 10.0.0.1:10911 stored it."
        " Their clocks differ by at least this much."
    )


def test_a_second_send_of_a_producer_contradicts_nothing() -> None:
    made = journey(copies=copies(HOME, record(stored=3_020, offset=300)), trace=trace(sends=(send(), send(3_010))))
    assert made.conflicts == ()


@pytest.mark.parametrize(
    ("late", "said"),
    [(9_000, False), (61_000, True), (83 * 60_000, True), (8 * 3_600_000, False), (40 * 3_600_000, True)],
)
def test_a_send_that_is_logged_longer_after_its_id_than_one_takes_is_named(late: int, said: bool) -> None:
    """Whole hours may be those of another zone, up to a day."""
    found = conflicts(journey(lines=[sent_line(late)]))
    assert [each for each in found if each[0] == "sent_later"] == ([("sent_later", late)] if said else [])


@pytest.mark.parametrize("clock", [SHANGHAI, ASSUMED])
def test_the_born_time_shows_the_zone_of_the_producer(clock: Clock) -> None:
    """An id of a producer in UTC, read in China's zone: eight hours off."""
    text = str(UniqId.of("10.0.0.7", 3416, 0x18B4AAC2, ELAPSED - 8 * 3_600_000, 77))
    own = replace(clock, zone=CHINA)
    made = build(text, Sources(copies=copies(HOME)), own, CHINA)
    assert made.events[0].code == "generated" and made.events[0].at_ms == BASE and not made.events[0].is_open
    if clock is ASSUMED:
        assert made.conflicts == (), "a browser's zone says nothing about a producer"
        return
    assert conflicts(made) == [("zone_given", 8 * 3_600_000)]
    said = conflict_text(made.conflicts[0], made)
    assert "+00:00" in said and "+08:00" in said and "8 h" in said


def test_an_id_and_a_born_time_that_fit_in_no_zone_are_named() -> None:
    made = journey(copies=copies(record(born=7 * 60_000 + 2_000, stored=7 * 60_000 + 2_010)))
    assert conflicts(made) == [("born_elsewhere", 6 * 60_000 + 2_000)]
    assert journey(copies=copies(record(born=30_000, stored=30_010))).conflicts == (), "a send that was tried again"


@pytest.mark.parametrize(("hours", "early"), [(8, True), (-1, False)])
def test_a_log_of_another_zone_is_moved_and_named(hours: int, early: bool) -> None:
    zone = timezone(timedelta(hours=8 - hours))
    made = journey(copies=copies(HOME), lines=[sent_line(14, zone=zone), printed_line(48, zone=zone, number=2)])
    assert codes(made) == ["generated", "born", "stored", "logged_send", "logged_message"]
    assert made.events[-1].at_ms == BASE + 48 and made.events[-1].values["moved_ms"] == hours * 3_600_000
    assert conflicts(made) == [("zone_of_log", abs(hours) * 3_600_000)]
    said = conflict_text(made.conflicts[0], made)
    assert "app.log" in said and ("too early" in said) == early
    assert "corrected by" in event_text(made.events[-1])


@pytest.mark.parametrize("hours", [24, -24, -25, 7, -21])
def test_no_zone_is_a_day_from_another(hours: int) -> None:
    """A log of which the date is wrong, or the clock: +08:00 and a day more is no zone."""
    made = journey(copies=copies(HOME), lines=[sent_line(hours * 3_600_000 + 14)])
    assert not [event for event in made.events if "moved_ms" in event.values]
    assert "zone_of_log" not in dict(conflicts(made))


def test_the_sentence_of_a_journey_has_the_times_of_its_table() -> None:
    made = journey(copies=copies(HOME), lines=[sent_line(14), logged(48, FAILED, zone=UTC, number=2)])
    reader = Reader(catalogue.words("en"), CHINA)
    said = of_journey([], made, CHINA, SHANGHAI, reader)
    assert reader.full(from_ms(BASE + 48, CHINA)) in said and "failed" in said


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_journey_of_a_failed_send_says_that_the_id_was_made(lang: str) -> None:
    """The client logs the failure, and behind its stack trace the message on a line of its own."""
    head = "2026-11-20 09:50:03.010 WARN RocketmqClient - "
    failure = f"{head}sendKernelImpl exception, resend at once, InvokeID: 1, RT: 3002ms, Broker: MessageQueue [topic=T]"
    message = f"{head}Message{{topic='T', flag=0, properties={{UNIQ_KEY={MSG_ID}}}, body=[1]}}"
    line = Line("app.log", 3, message, (failure, "\tat o.a.r.client.impl.MQClientAPIImpl.sendMessageSync(X.java:1)"))
    reader = Reader(words(lang), CHINA)
    item, doubt = FoundId(Token(MSG_ID, 1, 1), identify(MSG_ID)), words(lang).table("one.")["made"].split("**")[3]
    made = journey(lines=[line])
    assert [(event.code, event.evidence) for event in made.events[1:]] == [("logged_unsent", "app.log:1")]
    said = of_journey([item], made, CHINA, SHANGHAI, reader)
    assert doubt in said and "app.log:1" in said
    for stored in ({"lines": [line, printed_line(48, number=9)]}, {"lines": [line], "copies": copies(HOME)}):
        assert doubt not in of_journey([item], journey(**stored), CHINA, SHANGHAI, reader)


def test_two_logs_in_one_file_are_moved_line_by_line() -> None:
    right, early = sent_line(14), logged(48, FAILED, zone=UTC, number=2)
    made = journey(copies=copies(HOME), lines=[right, early])
    assert [(event.at_ms, "moved_ms" in event.values) for event in made.events[3:]] == [
        (BASE + 14, False),
        (BASE + 48, True),
    ]
    assert conflicts(made) == [("zone_of_log", 8 * 3_600_000)] and made.doubtful == frozenset()


def test_a_line_that_names_its_zone_is_taken_at_its_word() -> None:
    line = sent_line(14, zone=UTC, suffix=" +00:00")
    assert [event.at_ms for event in journey(copies=copies(HOME), lines=[line]).events][-1] == BASE + 14
    wrong = sent_line(14, zone=UTC, suffix=" +08:00")
    assert conflicts(journey(copies=copies(HOME), lines=[wrong])) == [("logged_before_generated", 8 * 3_600_000 - 14)]


def test_a_consumer_that_logs_hours_later_is_not_in_another_zone() -> None:
    made = journey(copies=copies(HOME), lines=[printed_line(3_600_000 + 1_000)])
    assert made.conflicts == () and made.events[-1].at_ms == BASE + 3_601_000
    assert [each.code for each in made.gaps] == ["silence"]


# ---- gaps


def test_gaps_are_named_with_their_ends_and_the_broker_is_not_silent_while_it_waits() -> None:
    late = record("%RETRY%works", 600_060, 700, 1, RETRY_TOPIC="Orders")
    made = journey(copies=copies(HOME, WAITING, late), trace=trace(attempt(700_000, 760_000, 1)))
    found = [(each.code, short_text(made.events[each.after]), each.ms) for each in made.gaps]
    assert found == [("waiting", "waiting copy stored", 600_000), ("silence", "retry copy stored", 99_940)]
    assert gap_text(made.gaps[0], made) == (
        "The broker held it for 10 min, from “waiting copy stored” to “retry copy stored”."
    )


def test_a_long_attempt_is_not_a_gap() -> None:
    made = journey(copies=copies(HOME), trace=trace(attempt(20, 900_000), attempt(900_010, 900_020)))
    assert made.gaps == ()


def test_being_asked_today_is_not_a_gap_and_nobody_consuming_is_an_open_one() -> None:
    assert journey(copies=copies(HOME), verdicts=[verdict()]).gaps == ()
    (gap,) = journey(copies=copies(HOME)).gaps
    assert (gap.code, gap.after, gap.before, gap.ms) == ("open", 2, None, None)


# ---- order, words, rows


def everything() -> dict[str, Any]:
    return {
        "lines": [printed_line(48, number=2), sent_line(14)],
        "copies": copies(HOME, WAITING, RETRY),
        "verdicts": [verdict(), verdict("dead", "audit", tries=3, at=BASE + 9)],
        "trace": trace(
            attempt(20, 50, success=False), attempt(10_210, None, 1, None), attempt(None, 99, None), sends=(send(),)
        ),
    }


def test_the_order_of_the_sources_and_in_them_changes_nothing() -> None:
    known = everything()
    wanted = row_of(journey(**known))
    for seed in range(20):
        chance = random.Random(seed)
        mixed: dict[str, Any] = {
            name: chance.sample(list(known[name]), len(known[name])) for name in ("lines", "copies", "verdicts")
        }
        tries = chance.sample(list(known["trace"].attempts), 3)
        assert row_of(journey(**mixed, trace=replace(known["trace"], attempts=tuple(tries)))) == wanted


def test_every_subset_of_the_sources_makes_a_journey() -> None:
    known = everything()
    for bits in range(16):
        some = {name: value for place, (name, value) in enumerate(known.items()) if bits & 1 << place}
        made = journey(ASSUMED, **some)
        assert [name for name, count in made.found.items() if count is not None] == [
            {"copies": "records", "verdicts": "groups"}.get(name, name) for name in some
        ]
        dated = [event.at_ms for event in made.events if event.at_ms is not None and event.code != "generated"]
        assert dated == sorted(dated)
        for conflict in made.conflicts:
            assert conflict.by_ms > 0
        assert json_text(row_of(made))


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_event_has_words_and_no_value_is_missing(lang: str) -> None:
    made, said = journey(**everything()), words(lang)
    for event in made.events:
        if event.values.get("tries") is None and event.code == "attempt":
            continue
        text = event_text(event, said)
        assert text and not set("{}") & set(text) and "?" not in text, text
        assert short_text(event, said)
    assert {heading for heading, _ in oddities(made, said)} <= {said("message.conflicts"), said("message.gaps")}
    assert found_text(made, said).count(said("comma")) == 3


def test_every_message_of_the_catalogue_is_of_a_code() -> None:
    """None is left over: each event and each contradiction that has words can come out."""
    known = set(codes(journey(**everything()))) | {"decided", "recalled", "due"}
    known |= {
        "logged",
        "logged_unsent",
        "logged_resend",
        "logged_dead",
        "logged_check",
        "logged_given_up",
        "logged_failed",
    }
    known |= {"logged_expired", "logged_dropped", "logged_send_record", "stored_printed"}
    known |= {"attempt_first", "attempt_unknown"}
    known |= {f"logged_{each}" for each in ("acked", "unacked", "skipped", "received", "track", "filtered")}
    known |= {f"logged_{each}" for each in ("committed", "rolled_back", "undecided", "unended", "checked")}
    known |= {"stored_printed_retry", *(f"logged_{each}_try" for each in ("failed", "received", "message"))}
    assert set(words().table("journey.event.")) == known
    for key in words().table("journey.conflict."):
        assert {name for _, name, _, _ in string.Formatter().parse(words()(f"journey.conflict.{key}")) if name} <= {
            "first",
            "second",
            "by_seconds",
            "zone",
            "read_in",
            "file",
        }


def test_a_row_has_codes_values_and_english() -> None:
    row = row_of(journey(copies=copies(HOME), trace=trace(attempt(-3_000, -2_900))))
    assert row["events"][0]["at"] == "2026-11-20T01:49:57.000+00:00" and row["events"][0]["code"] == "attempt"
    assert [event["number"] for event in row["events"]] == [1, 2, 3, 4]
    (conflict,) = row["conflicts"]
    assert (conflict["first"], conflict["second"], conflict["by_ms"]) == (4, 1, 3_009)
    assert set(row) == {"events", "conflicts", "gaps", "found", "said"}


def test_a_link_or_a_scan_gives_the_id_its_time() -> None:
    token = Token(MSG_ID, 1, 1, born_ms=BASE, linked=True)
    (event,) = journey(ASSUMED, token=token).events
    assert event.at_ms == BASE and not event.is_open and not event.values["assumed"]


@pytest.mark.parametrize("codes", [("month",), ("zone",), ("month", "zone")])
def test_what_a_link_or_a_scan_assumed_is_assumed_in_the_journey(codes: tuple[str, ...]) -> None:
    token = Token(MSG_ID, 1, 1, born_ms=BASE, linked=True, assumed=codes)
    (event,) = journey(ASSUMED, token=token).events
    assert event.at_ms == BASE and event.values["assumed"] == [*codes]
    assert event.is_open == ("zone" in codes), "a producer in another zone generated it hours before or after"


def test_what_a_record_holds_in_place_of_times_is_no_time() -> None:
    broken = Record.of(
        "T", b"", encode({"UNIQ_KEY": MSG_ID}), queue_id=0, born_timestamp=-5, born_host=PRODUCER, store_host=BROKER
    ).placed(0, 0, -1)
    made = journey(copies=copies(broken))
    assert codes(made) == ["generated", "stored"] and made.events[1].at_ms is None and not made.conflicts


@pytest.mark.long
def test_ten_thousand_random_lines_kill_nothing() -> None:
    chance = random.Random(7)
    pieces = [
        MSG_ID,
        "MessageExt [",
        "storeTimestamp=99999999999999",
        "SendResult [sendStatus=",
        "2026-11-20 09:50:00",
        "bornTimestamp=1",
        "\x00",
        "reconsumeTimes=999999",
        "storeHost=/",
        "[]",
        str(HOME.offset_id),
    ]
    lines = [Line("x", at, " ".join(chance.choices(pieces, k=chance.randint(0, 8)))) for at in range(10_000)]
    made = journey(lines=lines)
    assert len(made.events) >= 10_000 and isinstance(json_text(row_of(made)), str)


@pytest.mark.parametrize(("codes", "is_open"), [(("zone",), True), ((), False)])
def test_a_time_between_two_instants_takes_several_lines_of_its_table(codes: tuple[str, ...], is_open: bool) -> None:
    made = journey(ASSUMED, token=Token(MSG_ID, 1, 1, born_ms=BASE, linked=True, assumed=codes))
    (row,) = journeys.events(made, Reader(words(), UTC)).rows
    assert ("mq-between" in str(row[0])) is is_open
