"""Decode answers with a sentence first: of one ID, of a SendResult line; its input is one line below which it opens."""

from __future__ import annotations

from collections.abc import Callable
from html import unescape
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from idcore.base import catalogue
from idcore.intake.intake import PASTED
from tests.ids.test_mended import ID, RECEIVED, SENT
from tests.pages.conftest import make_run
from tests.pages.test_journey import FAILED_ONCE, ONE_MESSAGE
from tests.pages.test_pages import press, shown

Open = Callable[..., AppTest]


def decoded(open_page: Open, text: str, lang: str = "en") -> AppTest:
    app = open_page("decode", lang=lang, zone="Asia/Shanghai")
    app.text_area[0].set_value(text)
    app = press(app, catalogue.words(lang)("decode.button"))
    assert not app.exception
    return app


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_one_id_is_a_sentence_with_what_is_assumed_in_its_time(open_page: Open, lang: str) -> None:
    words = catalogue.words(lang)
    page = unescape(shown(decoded(open_page, ID, lang)).replace("<b>", "").replace("</b>", ""))
    who = words("one.process", pid="18236", host="172.17.0.1").replace("**", "")
    assert who in page and "23:37:24.823 +08:00" in page and words("one.docker") in page
    assert words.assumed(["month"]).strip() in page[: page.index("mq-card")], "the month is assumed in the sentence"


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_line_is_a_sentence_with_all_it_says(open_page: Open, lang: str) -> None:
    words = catalogue.words(lang)
    page = shown(decoded(open_page, SENT, lang)).replace("<b>", "").replace("</b>", "")
    broker = words("one.broker_named", name="itcast", address="172.17.0.1:10911").replace("**", "")
    for said in (broker, words("one.topic", value="TopicTest").replace("**", ""), words("one.queueId", value="3")):
        assert said in page
    assert words("one.queueOffset", value="1323") in page and "951,680" in page and "SEND_OK" in page
    received = shown(decoded(open_page, RECEIVED.replace("brokerName", f"UNIQ_KEY={ID}, brokerName"), lang))
    for value in ("10.42.35.17:41124", "order-7", "TagA", "2010220930", "1795139400601"):
        assert value in received, "each field of the line"


def test_who_opens_the_link_of_a_line_reads_what_its_sender_reads(open_page: Open, tmp_path: Path) -> None:
    folder = make_run(tmp_path / "runs", title="1 ID from 1 line")
    (folder / "input").mkdir()
    (folder / "input" / f"000-{PASTED}").write_text(SENT)
    app = open_page("decode", run=folder.name, zone="Asia/Shanghai")
    page = shown(app).replace("<b>", "").replace("</b>", "")
    for said in ("Stored on broker itcast (172.17.0.1:10911)", "topic TopicTest", "queue 3", "SEND_OK"):
        assert said in page
    assert app.expander[0].label.startswith("SendResult \\[sendStatus=SEND_OK") and app.text_area[0].value == SENT


def test_the_lines_of_an_answer_of_mqadmin_are_named_in_their_order(open_page: Open) -> None:
    states = (("billing", "CONSUMED"), ("mail", "NOT_ONLINE"), ("crm", "NOT_CONSUME_YET"))
    tracks = (f"MessageTrack [consumerGroup={group}, trackType={state}, exceptionDesc=null]" for group, state in states)
    page = shown(decoded(open_page, "\n".join((f"Properties: {{UNIQ_KEY={ID}}}", *tracks))))
    assert "(line 2, line 3, line 4)" in page and page.index("group mail") < page.index("group billing")


CHECKED = (  # of a Spring example: the SendResult has the queue of the topic, and the queue offset of the half message
    "2019-12-06 01:23:00.930 INFO [SendResult [sendStatus=SEND_OK, msgId=0AAB01730C8518B4AAC214E570BD0002, "
    "offsetMsgId=null, messageQueue=MessageQueue [topic=DEMO_07, brokerName=broker-a, queueId=3], queueOffset=38]]\n"
    "2019-12-06 01:23:35.155 INFO [checkLocalTransaction][GenericMessage [headers={rocketmq_QUEUE_ID=3, "
    "rocketmq_TOPIC=DEMO_07, rocketmq_MESSAGE_ID=0AAB017300002A9F0000000000132AC3, "
    "rocketmq_TRANSACTION_ID=0AAB01730C8518B4AAC214E570BD0002}]]"
)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_record_of_a_transaction_that_is_checked_is_a_half_message(open_page: Open, lang: str) -> None:
    words = catalogue.words(lang)
    page = shown(decoded(open_page, CHECKED, lang)).replace("<b>", "").replace("</b>", "")
    assert words("one.half_of", topic="DEMO_07").replace("**", "") in page and "1,256,131" in page
    assert words("one.queueOffset", value="38") not in page and words("one.queueId", value="3") not in page


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_digits_that_nothing_speaks_for_are_not_called_a_message_without_a_doubt(open_page: Open, lang: str) -> None:
    doubt = catalogue.words(lang)("one.possible")
    for digest in ("D41D8CD98F00B204E9800998ECF8427E", "9E107D9D372BB6826BD81D3542A419D6"):  # MD5 in capitals
        assert doubt in shown(decoded(open_page, digest, lang))
    assert doubt not in shown(decoded(open_page, ID, lang)) and doubt not in shown(decoded(open_page, SENT, lang))


def test_several_messages_have_no_sentence_of_one(open_page: Open) -> None:
    assert "Sent on" not in shown(decoded(open_page, f"{SENT}\n{SENT.replace('03E0', '03E1')}"))


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_letter_o_is_offered_as_a_zero(open_page: Open, lang: str) -> None:
    app = decoded(open_page, ID.replace("AC1100", "AC11OO"), lang)
    (link,) = [one for one in app.main.get("page_link") if ID in one.proto.label]
    assert f"ids={ID}" in link.proto.query_string and "5" in link.proto.label and app.error


def test_the_input_is_folded_below_an_answer_and_open_without_one(open_page: Open) -> None:
    app = decoded(open_page, ID)
    assert ID in app.expander[0].label and not app.expander[0].proto.expanded
    assert app.text_area[0].value == ID, "it opens again, with its text"
    assert decoded(open_page, "order 4711 has not arrived").expander[0].proto.expanded
    assert not open_page("decode").expander


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize(
    "parted", [f"{ID[:8]} {ID[8:16]} {ID[16:]}", f"msgId={ID[:20]} {ID[20:]}", f"msgId={ID[:20]}\n{ID[20:]}"]
)
def test_an_id_that_was_parted_is_read_and_leads_on(open_page: Open, parted: str, lang: str) -> None:
    words = catalogue.words(lang)
    app = open_page("decode", lang=lang)
    app.text_area[0].set_value(parted)
    app = press(app, words("decode.button"))
    assert not app.exception and not app.error
    links = [one.proto for one in app.get("page_link") if one.proto.label == words("card.anatomy")]
    assert any(link.page == "anatomy" and f"id={ID}" in link.query_string for link in links)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_several_lines_of_one_message_are_one_sentence(open_page: Open, lang: str) -> None:
    words = catalogue.words(lang)
    page = shown(decoded(open_page, FAILED_ONCE, lang)).replace("<b>", "").replace("</b>", "")
    head = page[: page.index(words("delivery.heading"))]
    for said in (
        words("one.process", pid="2942", host="10.0.0.7"),
        words("one.broker_named", name="broker-a", address="10.0.0.241:10911"),
        words("delivery.event.acked"),
        "2026-11-20 10:05:44.310 +08:00",
        words("delivery.line", line="3"),
    ):
        assert said.replace("**", "") in head, said


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_of_the_groups_of_mqadmin_those_that_have_not_consumed_it_come_first(open_page: Open, lang: str) -> None:
    """The last line alone was said: CONSUMED, of another group."""
    words = catalogue.words(lang)
    track = "MessageTrack [consumerGroup={}, trackType={}, exceptionDesc=null]\n"
    before = track.format("ship", "NOT_ONLINE")  # asked again later
    rows = before + track.format("ship", "NOT_CONSUME_YET") + track.format("mail", "CONSUMED")
    page = shown(decoded(open_page, f"Properties:          {{UNIQ_KEY={ONE_MESSAGE}}}\n\n{rows}", lang))
    head = page[: page.index(words("delivery.heading"))].replace("<b>", "").replace("</b>", "")
    assert "NOT_ONLINE" not in head
    places = [
        head.index(said) for said in ("NOT_CONSUME_YET", *(words("one.group", name=name) for name in ("ship", "mail")))
    ]
    assert places == sorted(places)


@pytest.mark.parametrize(
    ("ended", "has"), [("mail", True), ("bill", False), ("", False)], ids=["another group", "the same", "no group"]
)
def test_what_another_group_failed_is_said_beside_what_happened_last(open_page: Open, ended: str, has: bool) -> None:
    thread = f"[ConsumeMessageThread_{ended}_1]" if ended else "[pool-1-thread-1]"
    text = (
        f"2026-11-20 10:05:34.002 WARN [ConsumeMessageThread_bill_1] consume message failed. messageId:{ONE_MESSAGE}\n"
        f"2026-11-20 10:05:34.012 INFO {thread} consume success msgId={ONE_MESSAGE}\n"
    )
    page = shown(decoded(open_page, text)).replace("<b>", "").replace("</b>", "")
    assert "Last in the lines: acknowledged" in page
    assert ("Other groups: failed, group bill (line 1)" in page) is has


@pytest.mark.parametrize(
    "text",
    [
        FAILED_ONCE + FAILED_ONCE.replace(ONE_MESSAGE, f"{ONE_MESSAGE[:-1]}8"),  # two messages
        f"{ONE_MESSAGE}\n{ONE_MESSAGE}\n",  # a list
        f"2026-11-20 10:05:34.002 sent {ONE_MESSAGE}\n2026-11-20 10:05:34 stored 0A0000F100002A9F00000000000F4240\n",
    ],
)
def test_lines_that_may_be_of_several_messages_are_counted_alone(open_page: Open, text: str) -> None:
    page = shown(decoded(open_page, text))
    assert "by process" not in page and "Last in the lines" not in page


@pytest.mark.long(first=1)
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_what_is_being_loaded_is_named(open_page: Open, tmp_path: Path, lang: str) -> None:
    """The style shows it while the script runs: what was here before is grey meanwhile."""
    words = catalogue.words(lang)
    page = shown(press(open_page("decode", lang=lang), words("decode.example")))
    assert words("frame.reading", name="example.log", size="594 KiB") in page and 'role="status"' in page
    folder = make_run(tmp_path / "runs", title="orders.log")
    assert words("frame.loading", what="orders.log") in shown(open_page("producers", run=folder.name, lang=lang))
    assert words("frame.loading", what=words("page.store")) in shown(open_page("store", lang=lang))


_AT = "2026-11-26 23:37:27,830 WARN RocketmqClient - "
UNSENT = (  # as DefaultMQProducerImpl of 4.9 logs it: the message on a line of its own, behind the stack trace
    f"{_AT}sendKernelImpl exception, resend at once, InvokeID: -4321, RT: 3002ms, Broker: MessageQueue [topic=T]\n"
    "org.apache.rocketmq.remoting.exception.RemotingTimeoutException: wait response timeout, 3000(ms)\n"
    "\tat org.apache.rocketmq.remoting.netty.NettyRemotingAbstract.invokeSyncImpl(NettyRemotingAbstract.java:433)\n"
    f"{_AT}Message{{topic='T', flag=0, properties={{UNIQ_KEY={ID}, WAIT=true}}, body=[1], transactionId='null'}}\n"
)


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("text", [UNSENT, f"ERROR send failed, msgId={ID}", f"消息发送失败 msgId={ID}"])
def test_an_id_whose_send_failed_is_made_and_not_sent(open_page: Open, text: str, lang: str) -> None:
    words = catalogue.words(lang)
    page = unescape(shown(decoded(open_page, text, lang)).replace("<b>", "").replace("</b>", ""))
    head = page[: page.index("mq-card")] if "mq-card" in page else page
    place = words("delivery.line", line="1")
    doubt = words.table("one.")["made_undated"].partition("**")[2].replace("**", "").replace("{places}", place)
    assert doubt in head and {"en": "Sent on", "zh": "发送，时间为"}[lang] not in head
    assert words("delivery.said.unsent", places=place) in page


def test_an_id_whose_send_failed_once_is_sent_where_a_line_shows_it(open_page: Open) -> None:
    page = shown(decoded(open_page, f"{UNSENT}{SENT}\n")).replace("<b>", "").replace("</b>", "")
    assert "Sent on" in page and "ID made on" not in page and "sent all the same (line 5)" in page


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_an_example_that_somebody_made_up_is_told_as_one(open_page: Open, lang: str) -> None:
    doubt = catalogue.words(lang)("one.made_up")
    for text in ("0123456789ABCDEF0123456789ABCDEF", f"msgId={'C0A80101' * 4}"):
        assert doubt in shown(decoded(open_page, text, lang))
    assert doubt not in shown(decoded(open_page, f"msgId={ID}", lang))
