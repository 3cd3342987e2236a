"""A journey from lines alone: tries, waits, retry topics, mqadmin's tracks, acknowledgements; each said as a claim."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from idcore.answers.journey import Journey, Line, Sources, build, event_text, oddities, row_of
from idcore.answers.journey.sentences import gap_text, numbered_try
from idcore.base.catalogue import words
from idcore.ids.clock import Clock
from idcore.presentation.headline import answers_text

CHINA = timezone(timedelta(hours=8))
CLOCK = Clock(datetime(2026, 11, 25, tzinfo=CHINA), CHINA, "given")
ID, OFFSET = "0A090104038518B4AAC24517FD780000", "0A09000200002A9F00000000000AAE60"
COPY = "0A09000200002A9F0000000000{:06X}"
STARTED = 1_741_917_600_120  # 2025-03-14 10:00:00.120 +08:00


def journey(*texts: str, text: str = ID) -> Journey:
    """As the page has it: of lines with the id, those around them where they are of one record."""
    lines = [
        Line("app.log", number, line, texts[max(0, number - 40) : number - 1], texts[number : number + 40])
        for number, line in enumerate(texts, 1)
        if text in line
    ]
    return build(text, Sources(lines=lines), CLOCK, CHINA)


def printed(tries: int, after: int) -> str:
    """A consumer's line about one delivery, so many seconds after the first."""
    at = datetime.fromtimestamp((STARTED + 30) / 1000 + after, CHINA)
    again = (
        f"REAL_TOPIC=%RETRY%ship_group, ORIGIN_MESSAGE_ID={OFFSET}, RETRY_TOPIC=order_paid, DELAY={tries + 2}, "
        if tries
        else ""
    )
    return (
        f"{at:%Y-%m-%dT%H:%M:%S}.{at.microsecond // 1000:03d} received [MessageExt [brokerName=broker-a, queueId=0, "
        f"bornTimestamp={STARTED}, bornHost=/10.9.1.4:55999, storeTimestamp={STARTED + 24 + after * 1000}, "
        f"storeHost=/10.9.0.2:10911, msgId={COPY.format(0xAAE60 + tries * 611)}, commitLogOffset=700000, "
        f"reconsumeTimes={tries}, toString()=Message{{topic='order_paid', flag=0, properties={{MIN_OFFSET=0, {again}"
        f"CONSUME_START_TIME={STARTED + 30 + after * 1000}, UNIQ_KEY={ID}}}, body=[72]}}]]"
    )


RETRIES = [printed(tries, after) for tries, after in enumerate((0, 10, 40, 100, 220))]


def said(made: Journey, lang: str = "en") -> str:
    return " ".join(text for name, some in oddities(made, words(lang)) for text in (name, *some))


def test_deliveries_of_a_retry_topic_are_tries_and_their_waits_are_no_gaps() -> None:
    made = journey(*RETRIES)
    assert [(gap.code, gap.ms) for gap in made.gaps] == [("waiting", 119_994)]  # a minute less 6 ms is none
    assert all("The broker held it" in gap_text(gap, made) for gap in made.gaps)
    stored = [event_text(event) for event in made.events if event.code == "stored"]
    assert stored[0] == "Stored in order_paid, as a log line shows"
    assert stored[4].startswith("Retry 4 of group ship_group stored in %RETRY%ship_group")
    assert stored[4].endswith("the message is of topic order_paid")
    assert "first attempt, retries 1 to 4" in said(made)
    assert "retry 5 comes 3 min later" in said(made) and "%RETRY%ship_group; its own topic is order_paid" in said(made)
    assert "How the last of these attempts ended, no line says" in said(made)


def test_a_time_that_no_retry_explains_stays_a_gap() -> None:
    made = journey(RETRIES[0], printed(1, 7_200))
    assert [gap.code for gap in made.gaps] == ["silence"]


FAILED = "WARN 17592 --- [essageThread_1] a.r.s.s.DefaultRocketMQListenerContainer : consume message failed. "


def spring(tries: int, at: str) -> str:
    return f"2025-03-14 {at} {FAILED}messageId:{ID}, topic:order_paid, reconsumeTimes:{tries}"


def test_a_consumers_own_lines_say_which_tries_failed() -> None:
    made = journey(spring(0, "10:00:00.157"), "", "java.lang.X", spring(1, "10:00:10.165"), spring(2, "10:02:10.165"))
    failed = [event for event in made.events if event.code == "logged_failed"]
    assert [event.values["tries"] for event in failed] == [0, 1, 2]
    assert {event.role for event in failed} == {"consumer"}
    assert event_text(failed[1]) == "A consumer logged that consuming failed: retry 1"
    assert [gap.code for gap in made.gaps] == ["silence"]  # a retry waits 30 s, not two minutes
    assert "3 lines say that a consumer failed: first attempt, retries 1 to 2" in said(made)
    assert "3 行写明消费失败" in said(made, "zh")
    assert "is below" in answers_text([], "", words(), made)
    assert row_of(made)["said"]


def test_an_orderly_consumer_waits_for_no_broker_and_no_last_try() -> None:
    lines = [spring(3, "10:00:00.157"), spring(4, "10:02:00.157")]
    assert [gap.code for gap in journey(*lines).gaps] == ["waiting"]
    made = journey(*(line.replace("ListenerContainer", "MessageListenerOrderly") for line in lines))
    assert [gap.code for gap in made.gaps] == ["silence"]
    failed = [event for event in made.events if event.code == "logged_failed"]
    assert [numbered_try(event, words()) for event in failed] == [", try 4", ", try 5"]


def test_an_acknowledgement_closes_what_failed() -> None:
    made = journey(spring(0, "10:00:00.157"), f"2025-03-14 10:00:10.200 INFO msgId={ID} CONSUME_SUCCESS")
    assert [event.code for event in made.events][-2:] == ["logged_failed", "logged_acked"]
    assert "Acknowledged by a consumer (app.log:2)" in said(made)
    assert "No line says that it was consumed" not in said(made)


MQADMIN = f"""OffsetID:            {OFFSET}
Topic:               order_paid
Queue ID:            3
Reconsume Times:     0
Born Timestamp:      2025-03-14 10:00:00,120
Store Timestamp:     2025-03-14 10:00:00,124
Born Host:           10.9.1.4:55999
Store Host:          10.9.0.2:10911
Properties:          {{KEYS=o-1, UNIQ_KEY={ID}, WAIT=true}}
Message Body Path:   /tmp/rocketmq/msgbodys/{ID}

MessageTrack [consumerGroup=order_ship, trackType=NOT_CONSUME_YET, exceptionDesc=null]
MessageTrack [consumerGroup=order_mail, trackType=CONSUMED, exceptionDesc=null]"""


@pytest.mark.parametrize("text", [ID, OFFSET])
def test_an_answer_of_mqadmin_is_read_as_one_record_and_its_tracks(text: str) -> None:
    made = journey(*MQADMIN.split("\n"), text=text)
    codes = [event.code for event in made.events]
    assert codes.count("logged") == 1 and codes.count("logged_track") == 2
    assert [event.at_ms for event in made.events if event.code in ("born", "stored")] == [STARTED, STARTED + 4]
    assert "mqadmin says of group order_ship: NOT_CONSUME_YET." in said(made)
    assert "CONSUMED has three meanings" in said(made)
    assert all(gap.code != "open" for gap in made.gaps)


def test_lines_of_other_messages_say_nothing_of_this_one() -> None:
    other = "0A090104038518B4AAC24517FD780001"
    made = journey(f"2025-03-14 10:00:00.500 INFO saved {ID}", f"{FAILED}messageId:{other}, reconsumeTimes:1")
    assert [event.code for event in made.events] == ["generated", "logged"]
    assert not row_of(made)["said"]


def sent(offset: int, after: int, topic: str = "order_paid") -> str:
    """A producer's line about one send that succeeded, so many seconds after the first."""
    at = datetime.fromtimestamp(STARTED / 1000 + after, CHINA)
    return (
        f"{at:%Y-%m-%dT%H:%M:%S}.{at.microsecond // 1000:03d} SendResult [sendStatus=SEND_OK, msgId={ID}, "
        f"offsetMsgId={COPY.format(0xAAE60 + offset)}, messageQueue=MessageQueue [topic={topic}, "
        f"brokerName=broker-a, queueId=2], queueOffset={41_000 + offset}]"
    )


def test_a_message_that_was_sent_twice_says_both_records() -> None:
    made = journey(sent(16, 0), sent(17, 3))
    texts = [event_text(event) for event in made.events if event.code == "logged_send"]
    assert texts == [
        f"The producer logged its send: SEND_OK, broker-a queue 2 offset {offset}" for offset in ("41,016", "41,017")
    ]
    assert "It was sent 2 times: each SendResult names a record of its own" in said(made)
    assert "broker-a queue 2 offset 41,016, broker-a queue 2 offset 41,017 (app.log:1, app.log:2)" in said(made)
    assert "They are 3 s apart" in said(made) and "它被发送了 2 次" in said(made, "zh")


@pytest.mark.parametrize("again", [sent(16, 3), sent(17, 3, "%RETRY%ship_group"), sent(17, 3, "order_copied")])
def test_one_record_printed_twice_a_retry_and_another_topic_are_not_sent_twice(again: str) -> None:
    assert "It was sent" not in said(journey(sent(16, 0), again))
