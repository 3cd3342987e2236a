"""Findings from copies of one id, with and without what the lines tell, and from the names in front of ids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pytest

from idcore.answers.findings import copies
from idcore.answers.findings.all_rules import Finding
from idcore.scan.lines import LineEvidence, Named, Record, look
from idcore.scan.local import scan_local
from idcore.scan.months import month_rows
from idcore.sources.inputs import list_files
from tests.findings.test_rules import DAY_20, uniq

pytestmark = pytest.mark.quick

ID = uniq(DAY_20, 5)
A, A2, B = (f"0A00000{host}00002A9F{offset:016X}" for host, offset in ((5, 1_000), (5, 2_000), (6, 77)))
PROCESS = "10.0.0.7 pid 4711 loader 18B4AAC2"
BORN = 1_795_000_000_000
PLAIN = Record("Paid", BORN, "10.0.0.7", BORN + 5, 300, 77, "order-1")


def judged(offsets: Sequence[str], *records: Record) -> list[tuple[str, str]]:
    table = pa.Table.from_pylist([{"msg_id": ID, "offset_msg_ids": ",".join(offsets), "lines": 2}])
    evidence = LineEvidence({ID: dict(zip(offsets, records, strict=True))}) if records else None
    return [(item.code, item.subject) for item in copies.explain_copies([table], len(table), [], evidence)]


def test_copies_on_one_broker_are_no_more_than_stored_copies() -> None:
    assert judged([A, A2]) == [("stored_copies", PROCESS)]


def test_copies_on_two_brokers_were_sent_twice() -> None:
    assert judged([A, B]) == [("duplicate_send", ID)]


def test_the_records_of_a_broker_that_moved_were_not_sent_twice() -> None:
    moved = Finding.of("broker_moved", "10.0.0.6:10911", 9, {"from_address": "10.0.0.5:10911", "ids": []})
    table = pa.Table.from_pylist([{"msg_id": ID, "offset_msg_ids": f"{A},{B}", "lines": 2}])
    assert [item.code for item in copies.explain_copies([table], len(table), [moved])] == ["stored_copies"]


@pytest.mark.parametrize(
    "other",
    [{"topic": "Shipped"}, {"born": BORN + 90_000}, {"born_host": "10.0.0.8"}, {"key": "order-2"}, {"crc": 78}],
)
def test_different_messages_under_one_id_collide(other: dict) -> None:
    assert judged([A, A2], PLAIN, replace(PLAIN, **other)) == [("collision", ID)]


def test_a_copy_that_the_broker_made_is_no_collision() -> None:
    later = replace(PLAIN, stored=BORN + 9_000)
    assert judged([A, A2], PLAIN, replace(later, topic="%RETRY%orders")) == [("stored_copies", PROCESS)]
    assert judged([A, A2], PLAIN, replace(later, again="retry", key="x")) == [("stored_copies", PROCESS)]
    assert judged([A, A2], PLAIN, later) == [("duplicate_send", ID)]


def test_the_records_of_a_batch_share_an_id_and_nothing_is_wrong() -> None:
    # One right behind the other, in the same millisecond; the messages of a batch differ.
    next_one = f"0A00000500002A9F{1_000 + 300:016X}"
    assert judged([A, next_one], PLAIN, replace(PLAIN, key="order-2", crc=9)) == [("stored_copies", PROCESS)]
    late = replace(PLAIN, stored=BORN + 3_005)
    assert judged([A, next_one], PLAIN, late) == [("duplicate_send", ID)]


@pytest.mark.parametrize(
    ("other", "how"),
    [
        ({"topic": "Shipped", "key": "order-2"}, "topics"),
        ({"born": BORN + 90_000}, "sent_again"),
        ({"born": BORN + 90_000, "key": "order-2"}, None),
        ({"born": BORN + 31 * 86_400_000, "crc": 5}, "another_month"),
        ({"born_host": "10.0.0.8", "key": "order-2"}, "hosts"),
    ],
)
def test_a_collision_says_how_it_came(other: dict, how: str | None) -> None:
    table = pa.Table.from_pylist([{"msg_id": ID, "offset_msg_ids": f"{A},{A2}", "lines": 2}])
    evidence = LineEvidence({ID: {A: PLAIN, A2: replace(PLAIN, **other)}})
    (finding,) = copies.explain_copies([table], len(table), [], evidence)
    assert (finding.code, finding.evidence.get("variant")) == ("collision", how)
    assert "{" not in finding.say("meaning") + finding.say("advice")


NEXT = f"0A00000500002A9F{1_000 + 300:016X}"


@pytest.mark.parametrize(
    ("second", "record", "how"),
    [
        (A2, replace(PLAIN, again="retry"), "retry"),
        (A2, replace(PLAIN, topic="%RETRY%orders"), "retry"),
        (A2, replace(PLAIN, topic="SCHEDULE_TOPIC_XXXX"), "delay"),
        (A2, replace(PLAIN, again="transaction"), "transaction"),
        (NEXT, replace(PLAIN, key="order-2", crc=9), "batch"),
        (A2, Record(), None),
    ],
)
def test_stored_copies_say_why(second: str, record: Record, how: str | None) -> None:
    table = pa.Table.from_pylist([{"msg_id": ID, "offset_msg_ids": f"{A},{second}", "lines": 2}])
    (finding,) = copies.explain_copies([table], len(table), [], LineEvidence({ID: {A: PLAIN, second: record}}))
    assert (finding.code, finding.evidence.get("variant")) == ("stored_copies", how)
    assert finding.since == datetime.fromtimestamp(BORN / 1000, UTC)


def test_stored_copies_of_several_kinds_count_each() -> None:
    other = uniq(DAY_20, 6)
    rows = [{"msg_id": one, "offset_msg_ids": f"{A},{A2}", "lines": 2} for one in (ID, other)]
    records = {ID: {A: PLAIN, A2: replace(PLAIN, again="retry")}, other: {A: PLAIN, A2: replace(PLAIN, again="delay")}}
    (finding,) = copies.explain_copies([pa.Table.from_pylist(rows)], len(rows), [], LineEvidence(records))
    assert (finding.count, finding.evidence["kinds"]) == (2, {"delay": 1, "retry": 1})


MESSAGE = (
    "2026-11-21 09:00:00 Receive New Messages: [MessageExt [brokerName=a, queueId=0, storeSize=300, queueOffset=7, "
    "sysFlag=0, bornTimestamp={born}, bornHost=/10.0.0.7:51000, storeTimestamp={born}, storeHost=/10.0.0.5:10911, "
    "msgId={offset}, commitLogOffset=1, bodyCRC=77, reconsumeTimes={times}, preparedTransactionOffset=0, "
    "toString()=Message{{topic='Paid', flag=0, properties={{KEYS=order-1, UNIQ_KEY={id}, WAIT=true}}, body=[72]}}]]"
)


def looked_at(text: str, tmp_path: Path) -> LineEvidence:
    path = tmp_path / "x.log"
    path.write_text(text)
    return look(list_files([str(path)]), [ID])


def test_lines_tell_the_records_of_an_id(tmp_path: Path) -> None:
    lines = [MESSAGE.format(born=BORN, offset=A, id=ID, times=0), MESSAGE.format(born=BORN, offset=A2, id=ID, times=2)]
    lines += [MESSAGE.format(born=BORN, offset=B, id=uniq(DAY_20, 6), times=0), f"consumed msgId={A}"]
    evidence = looked_at("\n".join(lines), tmp_path)
    record = Record("Paid", BORN, "10.0.0.7", BORN, 300, 77, "order-1")
    assert evidence.records == {ID: {A: record, A2: replace(record, again="retry")}}
    assert {(name.label, name.context): name.ids for name in evidence.names.values()} == {
        ("msgId", "message_ext"): 3,
        ("msgId", "other"): 1,
    }
    where = f"msgId ({tmp_path / 'x.log'})"
    found = [(item.severity, item.subject, item.count) for item in copies.confusion(list(evidence.names.values()))]
    assert found == [("info", where, 3), ("warning", where, 1)]


def test_a_batch_of_messages_in_one_line_is_read_one_by_one(tmp_path: Path) -> None:
    one, two = (MESSAGE.format(born=BORN, offset=offset, id=ID, times=0) for offset in (A, A2))
    inside = two[two.index("MessageExt") :]
    evidence = looked_at(one.replace("]]", f"], {inside}"), tmp_path)
    assert set(evidence.records[ID]) == {A, A2}


@pytest.mark.timeout(30)  # well under a second; looked at once for each id it would be minutes
@pytest.mark.parametrize("between", ["\n", ", "])
def test_lines_without_records_are_looked_at_once(between: str, tmp_path: Path) -> None:
    ids = [uniq(DAY_20 + n, n) for n in range(60_000)]
    path = tmp_path / "x.log"
    path.write_text(between.join(f"sent properties={{UNIQ_KEY={one}, CLUSTER=c}}" for one in ids))
    evidence = look(list_files([str(path)]), ids)
    assert (evidence.records, evidence.bytes, evidence.whole) == ({}, path.stat().st_size, True)


def test_a_line_without_a_feed_is_read_to_its_end(tmp_path: Path) -> None:
    one = MESSAGE.format(born=BORN, offset=A, id=ID, times=0)
    two = MESSAGE.format(born=BORN, offset=A2, id=ID, times=0)
    evidence = looked_at("[" + one + "x" * (3 << 20) + two, tmp_path)
    assert set(evidence.records[ID]) == {A, A2}


def test_names_of_offset_ids_are_no_confusion(tmp_path: Path) -> None:
    assert looked_at(f"offsetMsgId={A} ORIGIN_MESSAGE_ID={A} msgId={ID}", tmp_path).names == {}


def test_a_large_input_is_looked_at_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MOST_BYTES", "SAMPLED_BYTES"):
        monkeypatch.setattr(f"idcore.scan.lines.{name}", 1 << 20)
    line = MESSAGE.format(born=BORN, offset=A, id=ID, times=0) + "\n"
    evidence = looked_at(line * ((8 << 20) // len(line)), tmp_path)
    assert not evidence.whole
    assert evidence.bytes <= 2 << 20
    assert set(evidence.records[ID]) == {A}


# ---- a producer's own log

JAVA_SEND = (
    "2026-11-21 09:00:00 INFO [send-1] o.a.r.c.p.DefaultMQProducer - SendResult [sendStatus={status}, msgId={ids}, "
    "offsetMsgId={offsets}, messageQueue=MessageQueue [topic={topic}, brokerName=a, queueId=1], queueOffset=5, "
    "recallHandle=null]"
)
GO_SEND = (
    "SendResult [sendStatus={status}, msgIds={ids}, offsetMsgId={offsets}, queueOffset=364, "
    "messageQueue=MessageQueue [topic={topic}, brokerName=a, queueId=1]]"
)
CPP_SEND = (
    "SendResult: sendStatus:{status},msgId:{ids},offsetMsgId:{offsets},queueOffset:5,transactionId:,"
    "messageQueue:MessageQueue [topic={topic}, brokerName=a, queueId=1]"
)
JSON_SEND = (
    'sent {{"messageQueue":{{"brokerName":"a","queueId":2,"topic":"{topic}"}},"msgId":"{ids}",'
    '"offsetMsgId":"{offsets}","queueOffset":0,"regionId":"DefaultRegion","sendStatus":"{status}","traceOn":true}}'
)
SHAPES = {"java": JAVA_SEND, "go": GO_SEND, "cpp": CPP_SEND, "json": JSON_SEND}


def sent(shape: str = JAVA_SEND, ids: str = ID, offsets: str = A, topic: str = "Paid", status: str = "SEND_OK") -> str:
    return shape.format(ids=ids, offsets=offsets, topic=topic, status=status)


def findings_of(text: str, tmp_path: Path) -> list[Finding]:
    evidence = looked_at(text, tmp_path)
    table = pa.Table.from_pylist([{"msg_id": ID, "offset_msg_ids": f"{A},{A2}", "lines": 2}])
    return list(copies.explain_copies([table], 1, [], evidence))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("between", ["\n", " | "])
def test_two_send_results_of_one_id_are_a_send_repeated(shape: str, between: str, tmp_path: Path) -> None:
    status = "0" if shape in ("go", "cpp") else "SEND_OK"
    ids = ID[:-12] + ID[-12:].lower() if shape == "go" else ID
    if (shape, between) == ("json", " | "):
        between = "\n"
    lines = [sent(SHAPES[shape], ids=ids, offsets=offset, status=status) for offset in (A, A2)]
    (finding,) = findings_of(between.join(lines), tmp_path)
    assert (finding.code, finding.subject, finding.count) == ("duplicate_send", ID, 2)
    assert "2 successful SendResults" in finding.say("meaning") and "topic Paid" in finding.say("meaning")
    assert "2 个成功的 SendResult" in finding.say("meaning", "zh")
    assert "SEND_OK" not in finding.say("meaning")


@pytest.mark.parametrize(
    "lines",
    [
        [sent(), sent()],  # one result, printed by two loggers
        [sent(), sent(topic="%RETRY%orders", offsets=A2)],
        [sent(), sent(topic="SCHEDULE_TOPIC_XXXX", offsets=A2)],
        [sent(), sent(offsets="null")],  # a transaction's
        [sent(), sent(offsets=A2, status="SEND_FAILED")],
        [sent(), sent(GO_SEND, offsets=A2, status="7")],
        [sent(), f"resend msgId={ID}, offsetMsgId={A2}, topic=Paid"],  # no sendStatus: not a SendResult
        [sent(), sent(offsets=A2).replace("topic=", "")],  # the topic is not known
        [sent(), sent(ids=uniq(DAY_20, 6), offsets=A2)],
        [sent(), MESSAGE.format(born=BORN, offset=A, id=ID, times=0)],  # one record, told twice
        [sent(), MESSAGE.format(born=BORN, offset=A2, id=ID, times=1)],  # a consumer's retry
        [sent(ids=f"{ID},{uniq(DAY_20, 6)}", offsets=f"{A},{A2}")],  # a batch has an offset id for each item
        [sent(ids=f"{ID},{uniq(DAY_20, 6)}", offsets=A2), sent()],  # cut: which is whose is not known
    ],
)
def test_other_pairs_of_results_are_no_send_repeated(lines: list[str], tmp_path: Path) -> None:
    assert [finding.code for finding in findings_of("\n".join(lines), tmp_path)] == ["stored_copies"]


def test_a_batch_that_was_sent_again_is_a_send_repeated(tmp_path: Path) -> None:
    other = uniq(DAY_20, 6)
    first, again = (sent(ids=f"{ID},{other}", offsets=f"{one},{two}") for one, two in ((A, NEXT), (A2, B)))
    (finding,) = findings_of(f"{first}\n{again}\n", tmp_path)
    assert (finding.code, finding.count) == ("duplicate_send", 2)


@pytest.mark.parametrize("status", ["FLUSH_DISK_TIMEOUT", "FLUSH_SLAVE_TIMEOUT", "SLAVE_NOT_AVAILABLE"])
def test_a_status_that_is_not_ok_has_stored_the_message_and_is_said(status: str, tmp_path: Path) -> None:
    (finding,) = findings_of(f"{sent(status=status)}\n{sent(offsets=A2)}\n", tmp_path)
    assert finding.code == "duplicate_send"
    for tables in ("en", "zh"):
        assert status in (finding.say("meaning", tables))


def test_results_in_two_topics_are_two_messages(tmp_path: Path) -> None:
    (finding,) = findings_of(f"{sent()}\n{sent(offsets=A2, topic='Shipped')}\n", tmp_path)
    assert (finding.code, finding.evidence["differs"]) == ("collision", "topic")


def test_a_message_that_was_received_says_more_than_its_result(tmp_path: Path) -> None:
    received = MESSAGE.format(born=BORN, offset=A, id=ID, times=0)
    for lines in ([received, sent()], [sent(), received]):
        record = looked_at("\n".join(lines), tmp_path).records[ID][A]
        assert (record.born, record.status) == (BORN, None)


PUBLIC_ID = "7F00000100062D38EDFD5F81D311921A"


def test_a_public_log_shows_a_send_repeated(tmp_path: Path) -> None:
    # https://github.com/apache/rocketmq/issues/6919
    queue = "messageQueue=MessageQueue [topic=MG_MSB_30, brokerName=drp-production-broker, queueId=1]"
    path = tmp_path / "public.log"
    path.write_text(
        f"messageExt : SendResult [sendStatus=SEND_OK, msgId={PUBLIC_ID}, "
        f"offsetMsgId=AC12007A000078C10000003546B5126D, {queue}, queueOffset=71658659]\n"
        f"SendResult : [sendStatus=SEND_OK, msgId={PUBLIC_ID}, "
        f"offsetMsgId=AC12007A000078C10000003546B51568, {queue}, queueOffset=71658660]\n"
    )
    tables = scan_local([str(path)], month_rows(datetime(2023, 6, 1, tzinfo=UTC), UTC))
    evidence = look(list_files([str(path)]), tables["copies"]["msg_id"].to_pylist())
    (found,) = copies.explain_copies([tables["copies"]], 1, [], evidence)
    assert (found.code, found.subject, found.evidence["variant"]) == ("duplicate_send", PUBLIC_ID, "send_results")


@pytest.mark.timeout(30)  # well under a second; with a look at the whole line for each result it would be minutes
@pytest.mark.parametrize("word", ["offsetMsgId=", f"offsetMsgId={A}", sent(ids=uniq(DAY_20, 6)) + ", "])
def test_a_long_line_of_results_is_looked_at_once(word: str, tmp_path: Path) -> None:
    text = word * ((4 << 20) // len(word)) + sent()
    assert set(looked_at(text, tmp_path).records[ID]) == {A}


# ---- which application mixes them up


def confusions(lines: Sequence[str], tmp_path: Path, *names: str) -> dict[str, int]:
    paths = []
    for name in names or ("x.log",):
        paths.append(tmp_path / name)
        paths[-1].write_text("\n".join(lines))
    evidence = look(list_files([str(path) for path in paths]), [])
    return {
        item.subject.replace(str(tmp_path), ""): item.count for item in copies.confusion(list(evidence.names.values()))
    }


@pytest.mark.parametrize(
    ("head", "logger"),
    [
        ("2024-06-07 16:15:41.488  INFO 15748 --- [blicExecutor_11] c.yhy.SendOrderly    : sent ", "c.yhy.SendOrderly"),
        ("2024-06-07 16:15:41.488  INFO 7 --- [shop] [  main] c.e.Foo  : ", "c.e.Foo"),
        ("09:50:13.373 [main] INFO  c.a.b.OrderService - saved ", "c.a.b.OrderService"),
        ("2019-04-15 14:16:15.577 [scheduling-1] DEBUG c.s.JobProducerExecutor [100] - ", "c.s.JobProducerExecutor"),
        ("2026-11-21 09:00:00 INFO [OrderService] saved ", "OrderService"),
        ("INFO:orders.service:saved ", "orders.service"),
        ("2026-11-21 09:00:00,123 - orders.service - INFO - saved ", "orders.service"),
        ('{"@timestamp":"x","logger_name":"c.e.Foo","message":"saved ', "c.e.Foo"),
        ('{"message":"saved ', "c.e.Late"),
        ("level=info logger=orders msg=", "orders"),
        # a thread, a word of the message, a group: no logger
        ("2026-11-21 01:53:59.686 INFO  [ConsumeMessageThread_normal_group_1] consumed ", None),
        ("2026-11-21 09:00:00 INFO [order-3] saved order: ", None),
        ("2026-11-21 09:00:00 INFO sent: ", None),
    ],
)
def test_the_logger_of_a_line_is_the_application(head: str, logger: str | None, tmp_path: Path) -> None:
    tail = '","logger_name":"c.e.Late"}' if head.startswith("{") else ""
    assert confusions([f"{head}msgId={A}{tail}"], tmp_path) == {f"msgId ({logger or '/x.log'})": 1}


def test_two_applications_are_two_findings(tmp_path: Path) -> None:
    one, two = "INFO  c.e.OrderService - saved", "INFO  c.e.BillingService - saved"
    lines = [f"{one} msgId={A}", f"{two} msgId={A2}", f"{one} msgId={B}", f"saved msgId={A}", f"{two} UNIQ_KEY={A}"]
    assert confusions(lines, tmp_path, "a.log", "b.log") == {
        "msgId (c.e.OrderService)": 4,
        "msgId (c.e.BillingService)": 2,
        "UNIQ_KEY (c.e.BillingService)": 2,
        "msgId (/a.log)": 1,
        "msgId (/b.log)": 1,
    }


def test_applications_beyond_the_limit_are_counted_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("idcore.scan.lines.MOST_APPLICATIONS", 3)
    lines = [f"INFO  c.e.Service{n} - msgId={A}" for n in range(9)]
    found = confusions(lines, tmp_path)
    assert len(found) == 4 and sum(found.values()) == 9 and found["msgId (…)"] == 6


def test_the_words_name_clients_that_send_no_uniq_key() -> None:
    (finding,) = copies.confusion([Named("msgId", "other", 1, A, "a.log")])
    for tables, where in (("en", "see the advice"), ("zh", "见处理建议")):
        said = {part: finding.say(part, tables) for part in ("meaning", "advice", "disproof")}
        assert "UNIQ_KEY" in said["meaning"] and "ali-ons" in said["advice"] and where in said["disproof"]


# Printed by releases from 3.x to 5.x (public logs): in none of them msgId is a mistake.
PRINTED = (
    "[MessageExt [queueId=2, storeSize=186, queueOffset=0, sysFlag=0, bornTimestamp=1609938835416, "
    "bornHost=/192.168.62.1:8951, storeTimestamp=1609938835430, storeHost=/192.168.62.90:10911, msgId={offset}, "
    "commitLogOffset=0, bodyCRC=2131316890, reconsumeTimes=0, toString()=Message [topic=T, flag=0, body=14]]]",
    "[MessageExt [ queueId=1, storeSize=177,queueOffset=11, storeHost=/ip:端口, msgId={offset},commitLogOffset=8860]]",
    "MessageExt [brokerName=a, queueId=1, storeSize=177, msgId={offset}, bodyCRC=705268097, reconsumeTimes=0]",
)


@pytest.mark.parametrize("line", PRINTED)
def test_no_message_ext_is_a_mistake(line: str, tmp_path: Path) -> None:
    evidence = looked_at(line.format(offset=A), tmp_path)
    assert [item.severity for item in copies.confusion(list(evidence.names.values()))] == ["info"]


# ---- who, beside the id


def test_a_copy_says_in_plain_text_who_made_it(tmp_path: Path) -> None:
    for records in ([PLAIN, replace(PLAIN, key="x")], [PLAIN, replace(PLAIN, stored=BORN + 3_105)]):
        table = pa.Table.from_pylist([{"msg_id": ID, "offset_msg_ids": f"{A},{A2}", "lines": 2}])
        (finding,) = copies.explain_copies([table], 1, [], LineEvidence({ID: dict(zip((A, A2), records, strict=True))}))
        assert "contains its producer: 10.0.0.7 pid 4711" in finding.say("meaning")
        assert "bornHost" not in finding.say("meaning")
        assert "ID 中的生产者：10.0.0.7 pid 4711" in finding.say("meaning", "zh")
    assert ". They were stored 3.1 s apart. The ID" in finding.say("meaning")


def test_the_host_of_the_lines_is_named_where_the_id_has_another() -> None:
    behind = replace(PLAIN, born_host="192.168.9.9")
    table = pa.Table.from_pylist([{"msg_id": ID, "offset_msg_ids": f"{A},{B}", "lines": 2}])
    (finding,) = copies.explain_copies([table], 1, [], LineEvidence({ID: {A: behind, B: behind}}))
    assert "bornHost in the log: 192.168.9.9" in finding.say("meaning") and "10.0.0.7 pid 4711" in finding.say(
        "meaning"
    )


def test_a_loopback_born_host_tells_no_host() -> None:
    for host in ("127.0.0.1", "[::1]", "0:0:0:0:0:0:0:1"):
        near = replace(PLAIN, born_host=host)
        table = pa.Table.from_pylist([{"msg_id": ID, "offset_msg_ids": f"{A},{B}", "lines": 2}])
        (finding,) = copies.explain_copies([table], 1, [], LineEvidence({ID: {A: near, B: near}}))
        assert "bornHost" not in finding.say("meaning") and "10.0.0.7 pid 4711" in finding.say("meaning")


def test_an_id_of_a_5_x_client_names_its_hardware_address() -> None:
    one = "01A2B3C4D5E6F7123406E2D3C400000001"
    table = pa.Table.from_pylist(
        [
            {"msg_id": one, "offset_msg_ids": f"{A},{B}", "lines": 2},
            {"msg_id": one[:-1] + "2", "offset_msg_ids": f"{A},{A2}", "lines": 2},
        ]
    )
    sent, stored = copies.explain_copies([table], 2, [])
    assert "contains its producer: a2:b3:c4:d5:e6:f7 pid 4660" in sent.say("meaning")
    assert (stored.subject, stored.evidence["client"]["pid"]) == ("a2:b3:c4:d5:e6:f7 pid 4660", 4660)


@pytest.mark.parametrize(
    ("head", "group", "host"),
    [
        ("2026-11-21 09:00:00 INFO  [ConsumeMessageThread_pay_orders_12] ", "pay_orders", None),
        ("2026-11-21 09:00:00 INFO [ConsumeMessageThread_7] ", None, None),
        ("Nov 21 09:00:00 shop-3 java[71]: ", None, "shop-3"),
        ("<14>1 2026-11-21T09:00:00Z shop-3.example orders 71 - - ", None, "shop-3.example"),
        ("[pod/orders-7d9-x2/app] 2026-11-21 ConsumeMessageThread_orders_1 ", "orders", "orders-7d9-x2"),
        ('{"host":{"name":"shop-4"},"message":"', None, "shop-4"),
        ("hostname=shop-5 thread=ConsumeMessageThread_orders_20 ", "orders", "shop-5"),
        ("host=api.example remoteHost=10.1.1.1 ", None, None),
    ],
)
def test_the_line_of_a_retry_names_group_and_host(
    head: str, group: str | None, host: str | None, tmp_path: Path
) -> None:
    first, again = (MESSAGE.format(born=BORN, offset=offset, id=ID, times=n) for offset, n in ((A, 0), (A2, 1)))
    evidence = looked_at(f"{head}{first[20:]}\n{head}{again[20:]}\n", tmp_path)
    assert (evidence.records[ID][A2].group, evidence.records[ID][A2].host) == (group, host)
    assert (evidence.records[ID][A].group, evidence.records[ID][A].host) == (None, None), "the first copy is no retry"
    table = pa.Table.from_pylist([{"msg_id": ID, "offset_msg_ids": f"{A},{A2}", "lines": 2}])
    (finding,) = copies.explain_copies([table], 1, [], evidence)
    said = finding.say("meaning")
    assert (f"Consumer groups that retried: {group}" in said) == bool(group) and (
        f"according to the log: {host}" in said
    ) == bool(host)


def test_the_group_of_a_retry_is_in_its_topic() -> None:
    for topic in ("%RETRY%pay_orders", "%DLQ%pay_orders"):
        table = pa.Table.from_pylist([{"msg_id": ID, "offset_msg_ids": f"{A},{A2}", "lines": 2}])
        (finding,) = copies.explain_copies(
            [table], 1, [], LineEvidence({ID: {A: PLAIN, A2: replace(PLAIN, topic=topic)}})
        )
        assert finding.say("meaning").endswith(". Consumer groups that retried: pay_orders")
