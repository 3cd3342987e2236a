"""The page of one message: logs alone, a store alone, a fake cluster; who may ask it, and what leaves for a ticket."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import UTC
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from idcore.answers import journey as journeys
from idcore.base.catalogue import words
from idcore.presentation.html import journeys as html
from idcore.presentation.reports.markup import esc
from idcore.scan.local import scan_local
from idcore.scan.months import month_rows
from idcore.server import jobs
from pages.parts.messages import journey_report
from tests.journey.test_journey import CHINA, MSG_ID, SHANGHAI, copies, everything, journey, printed_line, sent_line
from tests.journey.test_lines_of_delivery import ID as LINES_ID
from tests.journey.test_lines_of_delivery import MQADMIN, RETRIES
from tests.journey.test_lines_of_delivery import OFFSET as LINES_OFFSET
from tests.pages.conftest import RUN
from tests.pages.test_findings import AT
from tests.pages.test_lines import indexed
from tests.pages.test_messages import labels
from tests.pages.test_pages import as_read, press, shown
from tests.remoting.fake import UNIQ
from tests.remoting.fake_groups import HOME, STORED, Cluster
from tests.remoting.test_traces import USUAL, after, before, pub, traces
from tests.store.unpacked import real_store

Open = Callable[..., AppTest]
SECOND = "CB0071156B7B4E0E2F2A691B8D7D0001"
RETRIED = "CB0071156B7B4E0E2F2A691BA5A307BD"


def buttons(app: AppTest) -> list[str]:
    return [button.label for button in app.button]


def table_of(app: AppTest, caption: str) -> str:
    """The HTML of the table with a caption."""
    return next(item.proto.body for item in app.get("html") if f">{caption}</caption>" in item.proto.body)


def test_without_an_id_the_page_says_what_it_is_for(open_page: Open) -> None:
    app = open_page("message")
    assert not app.exception and words()("message.lead") in shown(app)
    assert app.text_input(key="message_id").placeholder == words()("message.placeholder"), "one ID, not one a line"


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_an_id_alone_has_its_time_its_anatomy_and_says_what_is_not_known(open_page: Open, lang: str) -> None:
    app, said = open_page("message", id=MSG_ID, lang=lang, zone="Asia/Shanghai"), words(lang)
    assert not app.exception and not app.error
    text = shown(app)
    assert said("message.no_cluster") in text and "10.0.0.7 · 3416" in text
    assert said("message.none_records") in text and said("message.none_lines") in text
    assert "18B4AAC2" in text and said("card.anatomy") in labels(app)
    notes = " ".join(caption.value for caption in app.caption)
    assert said("message.scale") not in notes and said("message.scale_tries") not in notes, "it has no wait and no try"
    assert said("message.ask", cluster="default") not in buttons(app)


@pytest.mark.parametrize("text", ["order-42", "<b>x</b>", "0A"])
def test_what_is_not_an_id_is_said_and_escaped(open_page: Open, text: str) -> None:
    app = open_page("message", id=text)
    first = as_read(next(item.proto.body for item in app.get("html") if "mq-said" in item.proto.body))
    assert not app.exception and not app.info and words()("decode.no_id") in first
    assert "<b>x" not in "".join(item.proto.body for item in app.get("html"))


def test_the_lines_of_a_scan_are_the_journey_of_an_id(
    tmp_path: Path, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = f"2026-11-20 09:50:02.000 INFO <b>paid</b> {copies()}"
    lines = [sent_line(14).text, printed_line(48).text, other]
    indexed(tmp_path, "\n".join(lines) + "\n")
    app = open_page("message", id=MSG_ID, run=RUN, zone="Asia/Shanghai")
    assert not app.exception and not app.error
    events = table_of(app, "Journey")
    for wanted in (
        "logged its send: SEND_OK",
        "as a consumer that received it",
        "app.log:1",
        "app.log:2",
        "2026-11-20 09:50:00.048",
        "10.0.0.1:10911",
        f'href="lines?run={RUN}',
    ):
        assert wanted in events.replace("zone=Asia%2FShanghai&amp;", ""), wanted
    assert "2 lines" in shown(app) and words()("message.none_records") in shown(app)
    assert len(app.get("plotly_chart")) == 1
    monkeypatch.setattr("pages.parts.messages.journeys.MOST_LINES", 1)
    cut = words()("message.lines_cut", n="1", of="2")
    assert cut in shown(open_page("message", id=MSG_ID, run=RUN)), "a line with both IDs is one"


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_what_a_scan_of_a_bare_id_assumed_is_said_with_its_time(
    tmp_path: Path, open_page: Open, monkeypatch: pytest.MonkeyPatch, lang: str
) -> None:
    run = indexed(tmp_path, f"{MSG_ID}\n")
    tables = scan_local([str(run.path / "input" / "000-app.log")], month_rows(AT, UTC))
    pq.write_table(tables["processes"], run.path / "processes" / "part-00000.parquet")
    tickets: list[str] = []
    monkeypatch.setattr(
        "pages.parts.messages.journey_report.browser.copy_button", lambda text, *_: tickets.append(text)
    )
    app, said = open_page("message", id=MSG_ID, run=RUN, lang=lang), words(lang)
    mark = said.assumed(("month", "zone"))
    assert not app.exception and mark in table_of(app, said("message.journey")) and mark in tickets[0]
    assert said("month.source_assumed") in shown(app) and esc(said("zone.source_assumed", zone="+00:00")) in shown(app)


def test_a_store_alone_gives_records_and_the_gaps_between_them(
    tmp_path_factory: pytest.TempPathFactory, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = real_store(tmp_path_factory.mktemp("store"))
    monkeypatch.setenv("IDCORE_ALLOWED_PATHS", str(store.parent))
    app = open_page("message", id=RETRIED, store=str(store))
    assert not app.exception and not app.error
    events = table_of(app, "Journey")
    assert "retry copy for consumer group" in events and "waiting copy of retry" in events and "VectorTopic" in events
    assert "Gaps" in shown(app) and "2 consumer groups, no traces" in shown(app)
    assert "2 consumer groups consumed it (1 inferred, 1 uncertain)." in shown(app) and "store folder" in events
    app = open_page("message", id=SECOND[:-1] + "F", store=str(store))
    assert not app.exception and "no records" in shown(app)
    app = open_page("message", id=SECOND, store="/etc")
    assert not app.exception and str(store.parent) in app.error[0].value


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_record_dates_the_id_whatever_its_link_assumed(
    tmp_path_factory: pytest.TempPathFactory, open_page: Open, monkeypatch: pytest.MonkeyPatch, lang: str
) -> None:
    store = real_store(tmp_path_factory.mktemp("store"))
    monkeypatch.setenv("IDCORE_ALLOWED_PATHS", str(store.parent))
    link = {"sent_at": "2026-11-19T09:00:00.000+00:00", "assumed": "month,zone", "lang": lang}
    app, said = open_page("message", id=RETRIED, store=str(store), **link), words(lang)
    text = shown(app)
    assert said.assumed(("month", "zone")) not in text and "2026-11-19" not in text
    assert said("month.source_record") in text and said("month.source_assumed") not in text
    links = [
        element.proto.query_string for element in app.get("page_link") if element.proto.label == said("card.anatomy")
    ]
    assert len(links) == 1 and "sent_at=" in links[0] and "assumed" not in links[0], "it is dated there as here"


# ---- a cluster


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    """One that has the message, its groups and its trace; the console knows it as its only cluster."""
    made = Cluster(HOME, traces(5_000, pub() + before(20) + after(20), at=STORED + 60))
    made.topics.append(USUAL)
    made.offsets = {"Orders@works": 40}
    made.listed = ["works", "readers"]
    with made.server:
        monkeypatch.setenv("IDCORE_NAMESRV", str(made.server.address))
        yield made


def test_a_link_asks_nobody_and_one_click_says_whether_it_was_consumed(open_page: Open, cluster: Cluster) -> None:
    app = open_page("message", id=UNIQ, zone="UTC", cluster="default", topic="Orders")
    assert not app.exception and words()("message.ask_cluster_next") in shown(app)
    assert not cluster.server.seen
    press(app, words()("message.ask", cluster="default"))
    assert not app.exception and not app.error
    text = shown(app)
    assert "2 consumer groups consumed it" in text
    assert "the message trace shows success" in text.lower() and "10.0.0.3 · 4464" in table_of(app, "Journey")
    attempts = table_of(app, "Attempts of consumers in the message trace")
    assert "30 ms" in attempts and "success" in attempts and "10.0.0.3" in attempts and "4464" in attempts
    assert "body" in text and words()("message.none_lines") in text
    assert words()("lookup.asked", cluster="default", at="")[:13] in text


def test_a_click_on_an_id_asks_the_only_cluster_at_once(open_page: Open, cluster: Cluster) -> None:
    app = open_page("anatomy", id=UNIQ)
    assert words()("card.consumed") in buttons(app)
    app.session_state["message_clicked"] = UNIQ  # what the button leaves before it opens the page
    app.switch_page("pages/messages/message.py")
    app.query_params["id"] = UNIQ
    app.run()
    assert not app.exception and cluster.server.seen and "2 consumer groups consumed it" in shown(app)
    before_ = len(cluster.server.seen)
    app.query_params["id"] = UNIQ[:-1] + "9"
    app.run()
    assert not app.exception and len(cluster.server.seen) == before_, "another id of a link is not asked about"
    assert words()("message.ask_cluster_next") in shown(app)


@pytest.mark.parametrize(
    ("ids", "asks"), [([UNIQ, str(HOME.offset_id)], True), ([UNIQ], True), ([UNIQ, MSG_ID], False)]
)
def test_a_pasted_line_of_one_message_has_the_button_and_a_table_its_links(
    open_page: Open, cluster: Cluster, ids: list[str], asks: bool
) -> None:
    app = open_page("decode", ids=",".join(ids))
    assert not app.exception and (words()("card.consumed") in buttons(app)) == asks
    if len(ids) > 1:
        assert len(re.findall(r'href="message\?[^"]*\bid=', shown(app))) == len(ids)
    if asks:
        with pytest.raises(KeyError):
            app.session_state["message_clicked"]
    assert not cluster.server.seen


def test_of_two_clusters_none_is_asked_before_one_is_chosen(
    open_page: Open, cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "clusters.toml"
    servers = f'name_servers = ["{cluster.server.address}"]'
    file.write_text(f"[clusters.one]\n{servers}\n[clusters.two]\n{servers}\n")
    monkeypatch.setenv("IDCORE_CLUSTERS", str(file))
    monkeypatch.delenv("IDCORE_NAMESRV")
    app = open_page("anatomy", id=UNIQ)
    app.session_state["message_clicked"] = UNIQ
    app.switch_page("pages/messages/message.py")
    app.query_params["id"] = UNIQ
    app.run()
    assert not cluster.server.seen
    assert {words()("message.ask", cluster=name) for name in ("one", "two")} <= set(buttons(app))


def test_the_page_of_look_ups_reads_traces_where_that_is_asked_for(open_page: Open, cluster: Cluster) -> None:
    app = open_page("lookup", id=UNIQ, topic="Orders", fate="1", trace="1")
    assert [box.value for box in app.checkbox] == [True, True]
    press(app, "Look up")
    said = shown(app)
    assert not app.exception and "Attempts of consumers" in said and "the message trace shows success" in said.lower()
    app.checkbox[1].uncheck()
    press(app, "Look up")
    assert "Attempts of consumers" not in shown(app) and "trace" not in app.query_params


def test_a_trace_that_is_not_there_is_explained(open_page: Open, cluster: Cluster) -> None:
    cluster.records = [HOME]
    app = open_page("lookup", id=UNIQ, topic="Orders", trace="1")
    press(app, "Look up")
    text = shown(app)
    assert words()("trace.none") in text and "off by default" in text and "does not prove anything" in text


# ---- for a ticket


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_ticket_and_a_report_have_all_of_it_and_no_html_of_others(lang: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from idcore.answers.lookup import Answer
    from pages.parts.view import View

    view = View(words(lang), CHINA, "Asia/Shanghai", "chosen", "light")
    known = everything()
    evil = known["verdicts"][0]
    known["verdicts"] = [type(evil)("<g>&`x`", *(getattr(evil, name) for name in evil.__slots__[1:]))]
    made = journey(SHANGHAI, **known)
    answer = Answer(MSG_ID, known["copies"], None, (), (), fate=tuple(known["verdicts"]))
    text = html.markdown(made, [answer], "**1** of 1", view, "https://console/message?id=X")
    assert f"`{MSG_ID}`" in text and "2026-11-20 09:50:00.009 +08:00" in text and "https://console/message?id=X" in text
    assert text.count("\n1. ") == 1 and f"\n{len(made.events)}. " in text
    addresses = 'href="([^"]*)"'
    page = journey_report.html(made, [answer], "**1** of 1", view, "https://console/message?id=X")
    assert re.findall(addresses, page) == ["https://console/message?id=X"], "a file has no link that is relative"
    monkeypatch.setattr(type(st.context), "url", "https://console/ids/message")
    page = journey_report.html(made, [answer], "**1** of 1", view, "https://console/message?id=X")
    assert {each.partition("?")[0] for each in re.findall(addresses, page)} == {
        "https://console/message",
        "https://console/ids/groups",
    }
    assert "<svg" in page and "<script" not in page and "&lt;g&gt;" in page and "<g>&" not in page
    assert page.count("<circle") + page.count("<polygon") == len(made.events)
    for heading, found in journeys.oddities(made, words(lang)):
        assert heading in text and all(re.sub(r"[<>&]", "", one)[:20] in page for one in found)


def test_an_unfinished_scan_gives_no_lines(open_page: Open, run: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "locating", lambda *_, **__: None)
    app = open_page("message", id=MSG_ID, run=run)
    assert not app.exception and words()("message.none_lines") in shown(app)
    app = open_page("message", id=MSG_ID, run="20200101-000000-aaaaaa")
    assert not app.exception and app.error


@pytest.mark.parametrize(("lang", "consumed"), [("en", "CONSUMED has three meanings"), ("zh", "CONSUMED 有三种含义")])
def test_an_answer_of_mqadmin_in_a_scan_is_read_over_its_lines(
    tmp_path: Path, open_page: Open, lang: str, consumed: str
) -> None:
    indexed(tmp_path, f"$ sh mqadmin queryMsgById -i {LINES_OFFSET}\n{MQADMIN}\n")
    app = open_page("message", id=LINES_ID, run=RUN, zone="Asia/Shanghai", lang=lang)
    assert not app.exception and not app.error
    text = shown(app)
    assert words(lang)("delivery.heading") in text and consumed in text
    assert "NOT_CONSUME_YET" in text and words(lang)("message.lines_say") in text
    assert "2025-03-14 10:00:00.124" in table_of(app, words(lang)("message.journey"))


def test_retries_in_a_scan_are_tries_and_waits(tmp_path: Path, open_page: Open) -> None:
    indexed(tmp_path, "\n".join(RETRIES) + "\n")
    app = open_page("message", id=LINES_ID, run=RUN, zone="Asia/Shanghai")
    assert not app.exception and not app.error
    text = shown(app)
    assert "first attempt, retries 1 to 4" in text and "retry 5 comes 3 min later" in text
    assert text.count("The broker held it") == 1
    assert f"{words()('message.scale')} {words()('message.scale_tries')}" in [caption.value for caption in app.caption]
    assert "Retry 4 of group ship_group stored in %RETRY%ship_group" in table_of(app, "Journey")


FAILED_ONCE = """\
2026-11-20 10:05:33.118 INFO  [main] c.a.o.OrderProducer - send ok SendResult [sendStatus=SEND_OK, \
msgId=0A0000070B7E2A139A5561F8B2E40007, offsetMsgId=0A0000F100002A9F00000000000F4240, messageQueue=MessageQueue \
[topic=ORDER_TOPIC, brokerName=broker-a, queueId=2], queueOffset=1201]
2026-11-20 10:05:34.002 WARN  [ConsumeMessageThread_4] c.a.o.OrderConsumer - consume failed \
msgId=0A0000070B7E2A139A5561F8B2E40007 reconsumeTimes=0
2026-11-20 10:05:44.310 INFO  [ConsumeMessageThread_9] c.a.o.OrderConsumer - consume ok \
msgId=0A0000070B7E2A139A5561F8B2E40007 reconsumeTimes=1
"""
ONE_MESSAGE, ITS_RECORD = "0A0000070B7E2A139A5561F8B2E40007", "0A0000F100002A9F00000000000F4240"


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_line_of_a_failed_send_is_found_above_its_stack_trace(tmp_path: Path, open_page: Open, lang: str) -> None:
    head, failed = (
        "2026-11-20 10:05:36.118 WARN RocketmqClient - ",
        "sendKernelImpl exception, resend at once, RT: 3002ms",
    )
    stack = "\tat org.springframework.web.servlet.FrameworkServlet.service(FrameworkServlet.java:897)\n" * 90
    message = f"Message{{topic='T', flag=0, properties={{UNIQ_KEY={ONE_MESSAGE}}}, body=[1], transactionId='null'}}"
    indexed(tmp_path, f"{head}{failed}\n{stack}{head}{message}\n")
    app, said = open_page("message", id=ONE_MESSAGE, run=RUN, zone="Asia/Shanghai", lang=lang), words(lang)
    first = as_read(next(item.proto.body for item in app.get("html") if "mq-said" in item.proto.body))
    assert said.table("one.")["made"].split("**")[3] in first.replace("<b>", "**").replace("</b>", "**")
    assert "app.log:1" in first and said("journey.event.logged_unsent") in table_of(app, said("message.journey"))


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("asked", [ONE_MESSAGE, ITS_RECORD])
def test_who_sent_it_when_and_what_was_last_is_said_first_and_in_the_ticket(
    tmp_path: Path, open_page: Open, monkeypatch: pytest.MonkeyPatch, asked: str, lang: str
) -> None:
    indexed(tmp_path, FAILED_ONCE)
    tickets: list[str] = []
    monkeypatch.setattr(
        "pages.parts.messages.journey_report.browser.copy_button", lambda text, *_: tickets.append(text)
    )
    app, said = open_page("message", id=asked, run=RUN, zone="Asia/Shanghai", lang=lang), words(lang)
    assert not app.exception and not app.error
    first = as_read(next(item.proto.body for item in app.get("html") if "mq-said" in item.proto.body))
    first = first.replace("<b>", "").replace("</b>", "")
    last = said("one.last", what="**", at="2026-11-20 10:05:44.310 +08:00", place="app.log:3").split("**")[-2]
    for wanted in (said("one.process", pid="2942", host="10.0.0.7"), "broker-a", "ORDER_TOPIC", last, "app.log:3"):
        assert wanted.replace("**", "") in first, (wanted, first)
    numbered = said("journey.try", n="1", of="17") + said("journey.try_next", after=said.duration(10))
    for door in (tickets[0], table_of(app, said("message.journey"))):
        assert numbered in door, "the picture has it"
    assert "2942" in tickets[0].split("\n1. ")[0] and "10.3" in tickets[0] and said("message.scale_tries") in tickets[0]
