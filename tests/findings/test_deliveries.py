"""What consumers' and producers' own lines say of deliveries: the table of a scan, its findings, their counts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from idcore.answers.findings import line_locations
from idcore.answers.findings.all_rules import Finding
from idcore.answers.findings.model import to_table
from idcore.base.catalogue import words
from idcore.ids.clock import to_ms
from idcore.ids.model import UniqId
from idcore.presentation.triage import finding_rows, finding_texts, run_notes
from idcore.scan import deliveries, lines
from idcore.scan.deliveries import MOST_LINES_OF_PIECES
from idcore.sources.inputs import list_files
from tests.findings.every_rule import find_in

pytestmark = pytest.mark.quick

CHINA = timezone(timedelta(hours=8))
NOW = datetime(2026, 11, 25, 12, tzinfo=CHINA)
SENT = datetime(2026, 11, 24, 9, tzinfo=CHINA)


def uniq(number: int) -> str:
    elapsed = to_ms(SENT) - to_ms(SENT.replace(day=1, hour=0)) + number * 400
    return str(UniqId.of("10.5.5.5", 777, 0x18B4AAC2, elapsed, number))


def at(seconds: float) -> str:
    return f"{SENT + timedelta(seconds=seconds):%Y-%m-%d %H:%M:%S}.010"


def read(text: str, folder: Path) -> tuple[list[Finding], list[dict[str, Any]]]:
    """The findings of a log, and the rows of the table `deliveries`."""
    found, told = find_in(text, folder, NOW, CHINA)
    return found, deliveries.table(told.deliveries, CHINA).to_pylist()


def only(found: list[Finding], code: str) -> Finding:
    (finding,) = (each for each in found if each.code == code)
    return finding


def consumed(number: int, seconds: float, thread: int, more: str = "") -> str:
    return f"{at(seconds)} INFO [ConsumeMessageThread_ship_{thread}] consumed msgId={uniq(number)}{more}"


def test_each_group_has_its_own_failures_and_its_own_end(tmp_path: Path) -> None:
    def failed(number: int, seconds: float, group: str) -> str:
        return consumed(number, seconds, 1, ", result=RECONSUME_LATER").replace("_ship_", f"_{group}_")

    text = [failed(1, 1, "ship"), failed(1, 2, "mail"), consumed(1, 3, 1, ", CONSUME_SUCCESS").replace("ship", "mail")]
    found, _ = read("\n".join(text), tmp_path)
    told = {each.subject: each.evidence for each in found if each.code == "consume_failed"}
    assert {group: (each["most_times"], each["unfinished"]) for group, each in told.items()} == {
        "ship": (1, 1),
        "mail": (1, 0),
    }


def test_a_line_of_several_messages_is_one_line(tmp_path: Path) -> None:
    text = f"{at(1)} ERROR [ConsumeMessageThread_ship_1] consume batch failed, msgIds=[{uniq(1)}, {uniq(2)}]"
    found, _ = read(text, tmp_path)
    failed = only(found, "consume_failed")
    assert (failed.count, failed.evidence["messages"]) == (1, 2)
    assert "1 line of ship says" in failed.say("meaning") and "messages: 2" in failed.say("meaning")


def test_a_message_that_several_groups_receive_is_not_received_twice(tmp_path: Path) -> None:
    text = [consumed(1, n, 1).replace("ship", group) for n, group in enumerate(("ship", "mail", "bill"))]
    found, _ = read("\n".join(text), tmp_path)
    assert [each.code for each in found if each.code == "received_twice"] == []


def test_messages_that_come_twice_are_named_with_lines_time_and_threads(tmp_path: Path) -> None:
    text = [consumed(n, 1 + n * 0.4, n % 4 + 1) for n in range(12)] + [consumed(3, 10, 1), consumed(8, 12, 2)]
    found, rows = read("\n".join(text), tmp_path)
    twice = only(found, "received_twice")
    assert (twice.subject, twice.count, twice.severity) == ("ship", 2, "info")
    assert list(twice.evidence.ids) == [uniq(3), uniq(8)]
    assert twice.evidence["lines"] == f"{tmp_path}/app.log:4, {tmp_path}/app.log:13"
    assert twice.evidence["threads"] == "ConsumeMessageThread_ship_4, ConsumeMessageThread_ship_1"
    assert twice.evidence["apart_seconds"] == 8
    assert "2 messages were received" in twice.say("meaning")
    assert len(rows) == 14 and {row["event"] for row in rows} == {"received"}
    assert (rows[12]["msg_id"], rows[12]["line"], rows[12]["consumer_group"]) == (uniq(3), 13, "ship")
    assert rows[12]["at"] == (SENT + timedelta(seconds=10, milliseconds=10)).astimezone(UTC)


def test_a_message_received_twice_from_two_records_is_a_warning(tmp_path: Path) -> None:
    offset = "0A09000200002A9F00000000000AAE{}"
    text = [
        consumed(0, 1, 1, f" offsetMsgId={offset.format('60')}"),
        consumed(0, 9, 2, f" offsetMsgId={offset.format('FF')}"),
    ]
    found, _ = read("\n".join(text), tmp_path)
    assert (only(found, "received_twice").severity, only(found, "received_twice").count) == ("warning", 1)
    again = [text[0], text[0].replace("01.010", "09.010")]
    found, _ = read("\n".join(again), tmp_path)
    one = only(found, "received_twice")
    assert (one.severity, one.evidence.variant) == ("info", "one_record")


def test_only_messages_whose_lines_name_the_record_are_counted_as_of_one_record(tmp_path: Path) -> None:
    """One that names it came first, so all were said to name the same record."""
    record = " offsetMsgId=0A09000200002A9F00000000000AAE60"
    named = [consumed(0, 1, 1, record), consumed(0, 9, 1, record)]
    bare = [consumed(number, 10 + number + again, 2) for number in (1, 2) for again in (0, 5)]
    found, _ = read("\n".join(named + bare), tmp_path)
    kinds = {each.evidence.variant: (each.count, list(each.evidence.ids)) for each in found if "twice" in each.code}
    assert kinds == {"one_record": (1, [uniq(0)]), "on_lines": (2, [uniq(1), uniq(2)])}


def test_the_lines_of_a_finding_are_those_that_say_it_and_not_the_send(tmp_path: Path) -> None:
    sent = f"{at(0)} SendResult [sendStatus=SEND_OK, msgId={uniq(0)}]"
    failed = f"{at(5)} {SPRING}messageId:{uniq(0)}, topic:t, reconsumeTimes:0"
    text = [sent, consumed(0, 1, 1), f"{at(2)} INFO something else", consumed(0, 3, 2), failed]
    found, _ = read("\n".join(text), tmp_path)
    for code, lines_of in (("received_twice", [2, 4]), ("consume_failed", [5])):
        places = only(found, code).evidence.places
        assert [(place["id"], place["line"]) for place in places if "byte" not in place] == [
            (uniq(0), line) for line in lines_of
        ]
        located = line_locations.place([only(found, code)], list_files([str(tmp_path / "app.log")]))
        (where,) = finding_rows.where_of(located[0].evidence).values()
        assert where.endswith(f":{lines_of[0]}"), "the table of IDs leads to it too"


def test_a_program_that_says_two_things_of_each_message_received_none_twice(tmp_path: Path) -> None:
    text = [
        line for n in range(6) for line in (consumed(n, n, 1), f"{at(n)} INFO [x] received order of msgId={uniq(n)}")
    ]
    found, _ = read("\n".join(text), tmp_path)
    assert not [each for each in found if each.code == "received_twice"]


def test_retries_are_not_received_twice(tmp_path: Path) -> None:
    text = [consumed(0, n, 1, f" reconsumeTimes={n}") for n in range(4)]
    found, rows = read("\n".join(text), tmp_path)
    assert not [each for each in found if each.code == "received_twice"]
    assert [row["try"] for row in rows] == [1, 2, 3, 4]


SPRING = "WARN 17592 --- [essageThread_1] a.r.s.s.DefaultRocketMQListenerContainer : consume message failed. "


def test_one_message_that_failed_four_times_is_one_message_everywhere(tmp_path: Path) -> None:
    old = "0A141E28126418B4AAC26531F659001F"
    text = [
        f"2025-05-20 15:{minute}.157  {SPRING}messageId:{old}, topic:order_paid, reconsumeTimes:{tries}\n\njava.X: no"
        for tries, minute in enumerate(("36:13", "36:23", "36:53", "37:53"))
    ]
    found, rows = read("\n".join(text), tmp_path)
    failed = only(found, "consume_failed")
    assert (failed.subject, failed.count, failed.evidence["messages"]) == ("order_paid", 4, 1)
    assert (failed.evidence["retries"], failed.evidence["unfinished"]) == (3, 1)
    assert failed.evidence["over_seconds"] == 100
    assert only(found, "expired").count == 1
    assert [(row["event"], row["try"], row["topic"]) for row in rows] == [
        ("failed", n, "order_paid") for n in (1, 2, 3, 4)
    ]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_lines_that_name_no_try_are_not_said_to_be_of_the_first(tmp_path: Path, lang: str) -> None:
    bare = f"{at(1)} INFO [x] c.e.Listener - consume {uniq(0)} RECONSUME_LATER"
    for text, retries in ((bare, None), (f"{at(1)} {SPRING}messageId:{uniq(0)}, topic:t, reconsumeTimes:0", 0)):
        failed = only(read(text, tmp_path)[0], "consume_failed")
        said = words(lang)("also.failed_retries", retries=0)
        assert failed.evidence.get("retries") == retries and (said in failed.say("meaning", lang)) == (retries == 0)


def test_a_failure_that_was_acknowledged_later_is_finished(tmp_path: Path) -> None:
    text = f"{at(1)} {SPRING}messageId:{uniq(0)}, topic:t, reconsumeTimes:0\n{at(11)} INFO {uniq(0)} CONSUME_SUCCESS"
    found, rows = read(text, tmp_path)
    assert only(found, "consume_failed").evidence["unfinished"] == 0
    assert [row["event"] for row in rows] == ["failed", "acked"]


def test_answers_that_are_not_send_ok_are_counted_by_broker(tmp_path: Path) -> None:
    answer = "SendResult [sendStatus=%s, msgId=%s, messageQueue=[topic=TopicOrder, brokerName=broker-a, queueId=1]]"
    text = [answer % ("SLAVE_NOT_AVAILABLE", uniq(n)) for n in range(4)] + [answer % ("SEND_OK", uniq(9))]
    found, rows = read("\n".join(text), tmp_path)
    odd = only(found, "send_not_ok")
    assert (odd.subject, odd.count, odd.evidence.variant) == ("broker-a", 4, "slave")
    assert odd.evidence["topics"] == "TopicOrder" and not rows


def test_receipts_and_tracks_of_mqadmin_are_rows(tmp_path: Path) -> None:
    client = "01B2F5ABE17438000106BA349200000000"
    receipt = "194 1722325671049 600000 0 0 broker-b 1 194 5228468"
    text = (
        f'{at(1)} DEBUG ackMessage request: group:{{name:"cg"}} topic:{{name:"t"}} entries:{{message_id:"{client}" '
        f'receipt_handle:"{receipt}"}}, response: status:{{code:OK}}\n'
        f"OffsetID:            0A3D000800002A9F0000001484913D15\nReconsume Times:     0\n"
        f"Properties:          {{UNIQ_KEY={uniq(0)}}}\n\n"
        "MessageTrack [consumerGroup=mail, trackType=CONSUMED_BUT_FILTERED, exceptionDesc=null]\n"
        "MessageTrack [consumerGroup=ship, trackType=NOT_CONSUME_YET, exceptionDesc=null]\n"
        "MessageTrack [consumerGroup=bill, trackType=CONSUMED, exceptionDesc=null]\n"
    )
    _, rows = read(text, tmp_path)
    keys = ("msg_id", "event", "consumer_group", "broker", "queue_id", "physical_offset", "line")
    assert [tuple(row[key] for key in keys) for row in rows] == [
        (client, "acked", "cg", "broker-b", 1, 5_228_468, 1),
        (uniq(0), "filtered", "mail", None, None, None, 6),
        (uniq(0), "track", "ship", None, None, None, 7),
        (uniq(0), "received", "bill", None, None, None, 8),
    ]
    assert rows[2]["status"] == "NOT_CONSUME_YET"


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_part_of_the_lines_is_called_a_sample(lang: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "\n".join(f"{at(1)} {SPRING}messageId:{uniq(n)}, topic:t, reconsumeTimes:0" for n in range(4_000))
    (tmp_path / "app.log").write_text(text)
    files = list_files([str(tmp_path / "app.log")])
    assert lines.look(files, []).summary(len(text)) == {}
    monkeypatch.setattr(lines, "MOST_BYTES_FOR_NAMES", 1 << 18)
    monkeypatch.setattr(lines, "SAMPLED_BYTES_FOR_NAMES", 1 << 17)
    seen = lines.look(files, []).summary(len(text))
    read = seen["deliveries_sampled"]
    assert read["lines"] == MOST_LINES_OF_PIECES and 0 < read["bytes"] < read["of"] == len(text)
    said = run_notes.deliveries_sampled(seen, words(lang))
    assert f"{read['lines']:,}" in said and words(lang).bytes(read["of"]) in said
    assert run_notes.deliveries_sampled({}, words(lang)) == ""


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_broker_whose_messages_consumers_received_is_reached(tmp_path: Path, lang: str) -> None:
    """The headline said that clients may not reach it, of an input in which a consumer received from it."""
    ids = [f"AC11000200002A9F{n:016X}" for n in range(6)]
    received = [consumed(n, n, 1, f" offsetMsgId={text}") for n, text in enumerate(ids)]
    printed = [
        f"{at(n)} [ConsumeMessageThread_1] got MessageExt [queueId=1, msgId={text}]" for n, text in enumerate(ids)
    ]
    stored = [f"{at(n)} stored offsetMsgId={text}, msgId={uniq(n)}" for n, text in enumerate(ids)]
    catalogue = words(lang)
    for text, is_reached in ((received, True), (printed, True), (stored, False)):
        found, _ = read("\n".join(text), tmp_path)
        one = only(found, "broker_address_internal")
        assert ("received_there" in one.evidence.also) == is_reached
        assert (catalogue("also.received_there") in one.say("meaning", lang)) == is_reached
        rows = finding_rows.kinds(to_table([one]).to_pandas())
        key = f"brief.broker_address_internal{'.reached' if is_reached else ''}"
        assert finding_texts.brief(rows[0], catalogue) == catalogue(key, who="172.17.0.2:10911")
        advice = "advice.broker_address_internal" + (".received_there" if is_reached else "")
        assert one.say("advice", lang) == catalogue(advice)
