"""What lines say of deliveries at each door of a decode: command line, CSV, JSON, page, table of Lines."""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
import sys
from base64 import urlsafe_b64encode
from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from streamlit.testing.v1 import AppTest

from idcore.base.catalogue import words
from idcore.ids.clock import Clock
from idcore.ids.delivery import DeliveryText, deliveries
from idcore.ids.delivery_sentences import by_message, sentences, short_text, told
from idcore.intake import intake
from idcore.presentation import export
from idcore.presentation.html import deliveries as html
from tests.pages.conftest import reader
from tests.pages.test_pages import press, shown
from tests.source_code import ROOT

pytestmark = pytest.mark.quick

ID, OFFSET = "0A141E28126418B4AAC26531F659001F", "0A09000200002A9F00000000000AAE60"
CLIENT = "01B2F5ABE17438000106BA349200000000"
FAILED = "\n".join(
    f"2025-05-20 15:36:{second}.157  WARN 1 --- [essageThread_1] a.r.s.s.DefaultRocketMQListenerContainer : "
    f"consume message failed. messageId:{ID}, topic:order_paid, reconsumeTimes:{tries}\n\njava.lang.X: no stock"
    for tries, second in enumerate(("13", "23"))
)
MQADMIN = f"""OffsetID:            {OFFSET}
Topic:               order_paid
Reconsume Times:     0
Properties:          {{UNIQ_KEY={ID}, WAIT=true}}
Message Body Path:   /tmp/rocketmq/msgbodys/{ID}

MessageTrack [consumerGroup=order_ship, trackType=NOT_CONSUME_YET, exceptionDesc=null]
MessageTrack [consumerGroup=order_mail, trackType=CONSUMED, exceptionDesc=null]
"""


def receipt(popped: int, queue: int = 1, offset: int = 194, invisible: int = 600_000) -> str:
    handle = f"{offset} {popped} {invisible} 0 0 broker-b {queue} {offset} {5_000_000 + offset}"
    return f'INFO received message_id:"{CLIENT}" receipt_handle:"{handle}"'


def said(text: str, lang: str = "en") -> str:
    found = list(deliveries(text.split("\n")))
    return " ".join(
        sentence
        for some in by_message(found)
        for sentence in sentences(some, words(lang), lambda ms: f"{datetime.fromtimestamp(ms / 1000, UTC):%H:%M:%S}")
    )


def decode(*arguments: str, text: str) -> str:
    command = [sys.executable, "-m", "idcore", "decode", "-", *arguments]
    done = subprocess.run(command, cwd=ROOT, input=text.encode(), capture_output=True, timeout=60, check=True)
    return done.stdout.decode()


def test_a_table_has_a_column_of_it_and_the_sentences_behind_it() -> None:
    printed = decode("--format", "table", text=FAILED)
    assert "delivery" in printed.split("\n")[0]
    assert "failed, first attempt" in printed and "failed, retry 1" in printed
    assert f"\n\nWhat the lines say about delivery\n{ID}\n  2 lines say that a consumer failed" in printed
    assert "No line says that it was consumed after that." in printed


def test_a_card_has_it_too() -> None:
    printed = decode("--format", "table", text=FAILED.split("\n")[0])
    assert "  delivery    failed, first attempt\n" in printed and "1 line says that a consumer failed" in printed


def test_json_and_csv_have_it_for_each_id() -> None:
    rows = [json.loads(line) for line in decode("--format", "json", text=FAILED).splitlines()]
    assert [(row["delivery"]["event"], row["delivery"]["try"]) for row in rows] == [("failed", 1), ("failed", 2)]
    cells = list(csv.DictReader(io.StringIO(decode("--format", "csv", text=FAILED))))
    assert [cell["delivery"] for cell in cells] == ["failed, first attempt", "failed, retry 1"]
    (plain,) = map(json.loads, decode("--format", "json", text=f"msgId={ID}").splitlines())
    assert plain["delivery"] is None


def test_what_mqadmin_answered_is_told_with_its_meaning() -> None:
    printed = decode("--format", "table", text=MQADMIN)
    assert "mqadmin says of group order_ship: NOT_CONSUME_YET." in printed
    assert "CONSUMED has three meanings" in printed


def test_what_is_pasted_is_read_like_standard_input() -> None:
    made = intake.read([("", FAILED)])
    clock = Clock(datetime(2025, 5, 21, tzinfo=UTC), UTC, "given")
    rows = list(intake.rows_of(made, clock))
    assert [row["delivery"]["text"] for row in rows] == ["failed, first attempt", "failed, retry 1"]
    assert "failed, retry 1" in "".join(export.csv_of_ids(rows))
    for lang, text in (("en", "2 lines say that a consumer failed"), ("zh", "2 行写明消费失败")):
        assert text in (html.told(made.said, reader(lang=lang)) or "")
        part = words(lang)("delivery.part")  # a count of messages was said of a whole log, of which the head was read
        assert [part in (html.told(made.said, reader(lang=lang), cut) or "") for cut in (True, False)] == [True, False]
    assert html.told(intake.read([("", f"msgId={ID}")]).said, reader(), True) is None


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_what_is_said_of_many_messages_is_folded_behind_the_first(lang: str) -> None:
    texts = [FAILED.replace(ID, f"{ID[:-2]}{number:02X}") for number in range(30)]
    shown = html.told(intake.read([("", "\n".join(texts[:5]))]).said, reader(lang=lang)) or ""
    assert "<details" not in shown and shown.count("<ul") == 5
    shown = html.told(intake.read([("", "\n".join(texts))]).said, reader(lang=lang)) or ""
    first, _, rest = shown.partition("<details")
    assert first.count("<ul") == 5 and rest.count("<ul") == 15 and words(lang)("delivery.others", n="25") in rest
    assert words(lang)("delivery.more", n="10") in rest


def test_the_page_says_it_below_the_ids(open_page: Callable[..., AppTest]) -> None:
    app = open_page("decode")
    app.text_area[0].set_value(FAILED.split("\n")[0])
    press(app, words()("decode.button"))
    assert not app.exception
    assert "What the lines say about delivery" in shown(app) and "1 line says that a consumer failed" in shown(app)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_line_that_says_when_it_was_consumed_says_so_first(open_page: Callable[..., AppTest], lang: str) -> None:
    app = open_page("decode", lang=lang, zone="Asia/Shanghai")
    app.text_area[0].set_value(f'{{"msgId":"{ID}","consumerGroup":"g-pay","consumeTime":"2025-05-20 15:36:14"}}')
    press(app, words(lang)("decode.button"))
    first = re.sub("<[^>]+>", "", next(one.proto.body for one in app.get("html") if "mq-said" in one.proto.body))
    told = words(lang)("delivery.event.received"), words(lang)("one.group", name="g-pay"), "2025-05-20 15:36:14.000"
    assert not app.exception and all(each in first for each in told), first


def test_a_line_of_a_scan_says_it_in_a_few_words() -> None:
    line = FAILED.split("\n")[3]
    assert html.of_line(line, [ID], reader()) == "failed, retry 1"
    assert html.of_line(line, [ID], reader(lang="zh")) == "消费失败、第 1 次重试"
    assert html.of_line(line, [CLIENT], reader()) == html.of_line(f"saved {ID}", [ID], reader()) == ""


FIRST = 1_722_325_671_049


def test_three_receipts_of_one_record_are_three_deliveries_that_nobody_acknowledged_in_time() -> None:
    text = said("\n".join(receipt(FIRST + n * 600_100) for n in range(3)))
    assert text.count("Popped at ") == 3 and "Popped at 07:47:51 from broker-b, queue 1" in text
    assert "nobody had acknowledged it in time" in text and "stored several times" not in text


def test_receipts_of_several_queues_are_of_several_records() -> None:
    text = said("\n".join(receipt(FIRST, queue, 100 + queue) for queue in range(3)))
    assert "The receipts are of 3 records: the message was stored several times." in text


def test_a_pop_within_the_invisible_time_has_another_cause() -> None:
    assert "popped again within its invisible time" in said(f"{receipt(FIRST)}\n{receipt(FIRST + 5)}")


def test_what_was_received_after_a_failure_is_said_to_be_open() -> None:
    again = f"2025-05-20 15:36:24.157 INFO Received message: {ID}"
    assert "No line says that it was consumed after that." in said(FAILED)
    text = said(f"{FAILED}\n{again}")
    assert "After that it was received (line 7), and no line says how that ended." in text
    assert "No line says that it was consumed" not in text
    assert "No line says that it was consumed after that." in said(f"{again}\n{FAILED}"), "it was before the failures"


def test_after_the_last_retry_comes_the_dead_letter() -> None:
    assert "it is a dead letter: by default a group has 16 retries" in said(FAILED.replace("Times:1", "Times:16"))
    assert "retry 16 comes 2 h later" in said(FAILED.replace("Times:1", "Times:15"))


@pytest.mark.parametrize("status", ["SLAVE_NOT_AVAILABLE", "FLUSH_DISK_TIMEOUT", "FLUSH_SLAVE_TIMEOUT"])
def test_a_status_that_is_not_send_ok_is_said_with_its_meaning(status: str) -> None:
    line = f"SendResult [sendStatus={status}, msgId={ID}, offsetMsgId={OFFSET}]"
    assert f"The producer's answer was {status}, not SEND_OK. The broker stored it, " in said(line)
    assert not said(line.replace(status, "SEND_OK"))
    (one,) = deliveries([line])
    assert short_text(one) == f"sent, {status}"


def test_of_many_messages_the_first_are_told_and_the_rest_counted() -> None:
    text = "\n".join(f"WARN consume message failed. messageId:{ID[:-4]}{n:04X}, reconsumeTimes:0" for n in range(50))
    every, more = told(deliveries(text.split("\n")))
    assert (len(every), more) == (20, 30)


def test_pieces_cut_anywhere_say_the_same_as_the_whole_text() -> None:
    whole = [short_text(one) for one in deliveries(f"{FAILED}\n{MQADMIN}".split("\n"))]
    for size in (1, 7, 100):
        text = DeliveryText()
        for at in range(0, len(f"{FAILED}\n{MQADMIN}"), size):
            text.feed(f"{FAILED}\n{MQADMIN}"[at : at + size])
        text.close()
        assert [short_text(one) for one in text.found] == whole


def test_a_recall_handle_without_an_id_is_told_all_the_same(open_page: Callable[..., AppTest]) -> None:
    handle = urlsafe_b64encode(f"v1 Timer broker-a 1741917610144 {ID}".encode()).decode()
    app = open_page("decode")
    app.text_area[0].set_value(f"recall {handle}")
    press(app, words()("decode.button"))
    assert not app.exception
    assert "Its recall handle names topic Timer, broker broker-a and the due time" in shown(app)
    assert "Timer, broker broker-a" in decode("--format", "table", text=f"recallHandle={handle}")
